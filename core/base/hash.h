/* SPDX-License-Identifier: BSD-3-Clause */
/* Keyed hashes: SipHash-2-4 for tables an attacker can feed, Toeplitz for what a NIC's RSS computes. */
#ifndef NONIC_BASE_HASH_H
#define NONIC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k0, k1;
};

/* SipHash-2-4 (Aumasson and Bernstein 2012) of n bytes, any alignment. */
uint64_t siphash(const struct siphash_key *key, const void *data, size_t n);

/* SipHash-1-3: the same construction with fewer rounds, for per-packet table look-ups. */
uint64_t siphash13(const struct siphash_key *key, const void *data, size_t n);

/*
 * Toeplitz hash of n bytes as RSS defines it (bits of data from the most significant, key_len >= n + 4
 * bytes; the caller guarantees it).
 */
uint32_t toeplitz(const uint8_t *key, size_t key_len, const uint8_t *data, size_t n);

extern const uint8_t toeplitz_default_key[40];   /* Microsoft's verification key, F-Stack's default */
extern const uint8_t toeplitz_symmetric_key[52]; /* 0x6d5a repeated: both directions hash alike */

#endif

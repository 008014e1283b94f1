/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum (RFC 1071, RFC 1624), over flat bytes and over buffer chains. */
#ifndef NONIC_BASE_CSUM_H
#define NONIC_BASE_CSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rte_mbuf;

typedef uint32_t csum_pair __attribute__((vector_size(8)));
typedef uint64_t csum_wide __attribute__((vector_size(16)));

/* Adds n bytes to a running 64-bit one's complement sum (native byte order; start with 0). */
uint64_t csum_add(uint64_t sum, const void *data, size_t n);
/* The same over len bytes of a chain from offset off; the chain is at least off + len long. */
uint64_t csum_add_chain(uint64_t sum, const struct rte_mbuf *m, uint32_t off, uint32_t len);
/*
 * The same for n >= 8 bytes, for headers and short packets: inline, the odd bytes at the end read together with
 * the ones before them.
 */
static inline __attribute__((always_inline)) uint64_t
csum_add_short(uint64_t sum, const uint8_t *p, size_t n)
{
	const uint8_t *last = p + n - 8;
	csum_pair v;
	csum_wide wide = { 0, 0 };
	uint64_t tail;

	if (n > 256)
		return csum_add(sum, p, n);
	for (; p <= last; p += 8) {
		memcpy(&v, p, sizeof(v));
		wide += __builtin_convertvector(v, csum_wide);
	}
	sum = (sum & 0xffffffff) + (sum >> 32) + wide[0] + wide[1]; /* nothing is carried out of 64 bits */
	n = (size_t)(p - last);
	if (n == 8)
		return sum;
	memcpy(&tail, last, sizeof(tail));
	tail >>= n * 8; /* a missing last byte counts as zero (RFC 1071) */
	return sum + (tail & 0xffffffff) + (tail >> 32);
}
/*
 * Is this sum, over data with its checksum in it, that of intact data? 2^16 - 1 divides the number exactly when its
 * 16-bit words add up to all ones. The sum is of something that is not all zero.
 */
static inline bool
csum_good(uint64_t sum)
{
	return sum % 0xffff == 0;
}
/* Folds the sum to the 16 bits as they stand in memory, not complemented. */
static inline uint16_t
csum_fold(uint64_t sum)
{
	uint32_t w;

	/* Both halves added to each other: the carry of the lower sum goes into the upper one, which is the result. */
	sum += sum << 32 | sum >> 32;
	w = (uint32_t)(sum >> 32);
	w += w << 16 | w >> 16;
	return (uint16_t)(w >> 16);
}
/* The value for a header's checksum field (as it stands in memory). */
static inline uint16_t
csum_finish(uint64_t sum)
{
	return (uint16_t)~csum_fold(sum);
}
/* Pseudo-header sums; addresses as they stand in memory, len the upper layer's length in host order. */
static inline uint64_t
csum_pseudo4(uint32_t src_be, uint32_t dst_be, uint8_t proto, uint16_t len)
{
	return (uint64_t)src_be + dst_be + ((uint32_t)proto << 8) + __builtin_bswap16(len);
}
static inline uint64_t
csum_pseudo6(const uint8_t src[16], const uint8_t dst[16], uint8_t proto, uint32_t len)
{
	uint64_t v[4], sum = 0;

	memcpy(&v[0], src, 16);
	memcpy(&v[2], dst, 16);
	for (int i = 0; i < 4; i++)
		sum += (v[i] & 0xffffffff) + (v[i] >> 32); /* halves: nothing is carried out of 64 bits */
	return sum + __builtin_bswap32(len) + ((uint32_t)proto << 24);
}

#endif

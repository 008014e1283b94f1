/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4, section 6.2): the digest of the device-side configuration (CFG-6). */
#ifndef NONIC_BASE_SHA256_H
#define NONIC_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

/* A running hash; start with sha256_init. */
struct sha256 {
	uint32_t h[8];
	uint64_t n;          /* bytes taken */
	uint8_t block[64];   /* those that do not fill a block yet: n % 64 */
};

void sha256_init(struct sha256 *c);
/* Adds n bytes, any alignment; any number of calls. */
void sha256_add(struct sha256 *c, const void *data, size_t n);
/* Pads and stores the digest; *c must be initialised again before another use. */
void sha256_finish(struct sha256 *c, uint8_t digest[SHA256_LEN]);

#endif

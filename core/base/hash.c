/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash with 2-4 and 1-3 rounds, and the Toeplitz hash of RSS. */
#include "hash.h"

#include <assert.h>

#include "bytes.h"
#include "sip.h"

const uint8_t toeplitz_default_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define SYM4 0x6d, 0x5a, 0x6d, 0x5a
#define SYM20 SYM4, SYM4, SYM4, SYM4, SYM4

const uint8_t toeplitz_symmetric_key[52] = { SYM20, SYM20, SYM4, SYM4, SYM4 };

uint64_t
siphash(const struct siphash_key *key, const void *data, size_t n)
{
	return sip_hash(key, data, n, 2, 4);
}

uint64_t
siphash13(const struct siphash_key *key, const void *data, size_t n)
{
	return sip_hash(key, data, n, 1, 3);
}

uint32_t
toeplitz(const uint8_t *key, size_t key_len, const uint8_t *data, size_t n)
{
	uint32_t hash = 0;

	assert(key_len >= n + 4);
	(void)key_len;
	for (size_t i = 0; i < n; i++) {
		/* The 40 key bits that byte i of the data selects from. */
		uint64_t window = (uint64_t)get_be32(key + i) << 8 | key[i + 4];

		for (int bit = 7; bit >= 0; bit--)
			hash ^= (uint32_t)(window >> (bit + 1)) & -(uint32_t)(data[i] >> bit & 1);
	}
	return hash;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash with 2-4 and 1-3 rounds, and the Toeplitz hash of RSS. */
#include "hash.h"

#include <assert.h>
#include <string.h>

#include "bytes.h"

const uint8_t toeplitz_default_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define SYM4 0x6d, 0x5a, 0x6d, 0x5a
#define SYM20 SYM4, SYM4, SYM4, SYM4, SYM4

const uint8_t toeplitz_symmetric_key[52] = { SYM20, SYM20, SYM4, SYM4, SYM4 };

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t
rotl(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static inline __attribute__((always_inline)) void
sip_rounds(struct sip *h, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		h->v0 += h->v1;
		h->v1 = rotl(h->v1, 13) ^ h->v0;
		h->v0 = rotl(h->v0, 32);
		h->v2 += h->v3;
		h->v3 = rotl(h->v3, 16) ^ h->v2;
		h->v0 += h->v3;
		h->v3 = rotl(h->v3, 21) ^ h->v0;
		h->v2 += h->v1;
		h->v1 = rotl(h->v1, 17) ^ h->v2;
		h->v2 = rotl(h->v2, 32);
	}
}

/* c rounds a word, d rounds at the end; both constants at every call, so that the rounds unroll. */
static inline __attribute__((always_inline)) uint64_t
sip_hash(const struct siphash_key *key, const uint8_t *p, size_t n, int c, int d)
{
	struct sip h = {
		.v0 = key->k0 ^ 0x736f6d6570736575ull,
		.v1 = key->k1 ^ 0x646f72616e646f6dull,
		.v2 = key->k0 ^ 0x6c7967656e657261ull,
		.v3 = key->k1 ^ 0x7465646279746573ull,
	};
	uint64_t last = (uint64_t)n << 56, w;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h.v3 ^= w;
		sip_rounds(&h, c);
		h.v0 ^= w;
	}
	if (n & 4) {
		uint32_t v;

		memcpy(&v, p, sizeof(v));
		last |= v;
	}
	if (n & 2) {
		uint16_t v;

		memcpy(&v, p + (n & 4), sizeof(v));
		last |= (uint64_t)v << 8 * (n & 4);
	}
	if (n & 1)
		last |= (uint64_t)p[n & 6] << 8 * (n & 6);
	h.v3 ^= last;
	sip_rounds(&h, c);
	h.v0 ^= last;
	h.v2 ^= 0xff;
	sip_rounds(&h, d);
	return h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
}

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

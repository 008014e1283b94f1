/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash itself, inline: a caller whose length is a constant gets straight code. Everybody else takes hash.h. */
#ifndef NONIC_BASE_SIP_H
#define NONIC_BASE_SIP_H

#include <string.h>

#include "hash.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t
sip_rotl(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static inline __attribute__((always_inline)) void
sip_rounds(struct sip *h, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		h->v0 += h->v1;
		h->v1 = sip_rotl(h->v1, 13) ^ h->v0;
		h->v0 = sip_rotl(h->v0, 32);
		h->v2 += h->v3;
		h->v3 = sip_rotl(h->v3, 16) ^ h->v2;
		h->v0 += h->v3;
		h->v3 = sip_rotl(h->v3, 21) ^ h->v0;
		h->v2 += h->v1;
		h->v1 = sip_rotl(h->v1, 17) ^ h->v2;
		h->v2 = sip_rotl(h->v2, 32);
	}
}

/* c rounds a word, d rounds at the end; both constants at every call, so that the rounds unroll. */
static inline __attribute__((always_inline)) struct sip
sip_begin(const struct siphash_key *key)
{
	return (struct sip){
		.v0 = key->k0 ^ 0x736f6d6570736575ull,
		.v1 = key->k1 ^ 0x646f72616e646f6dull,
		.v2 = key->k0 ^ 0x6c7967656e657261ull,
		.v3 = key->k1 ^ 0x7465646279746573ull,
	};
}

static inline __attribute__((always_inline)) void
sip_word(struct sip *h, uint64_t w, int c)
{
	h->v3 ^= w;
	sip_rounds(h, c);
	h->v0 ^= w;
}

static inline __attribute__((always_inline)) uint64_t
sip_end(struct sip *h, int d)
{
	h->v2 ^= 0xff;
	sip_rounds(h, d);
	return h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}

/* Of a message in n words, the last of which has the number of bytes in its highest byte. */
static inline __attribute__((always_inline)) uint64_t
sip_words(const struct siphash_key *key, const uint64_t *w, size_t n, int c, int d)
{
	struct sip h = sip_begin(key);

	for (size_t i = 0; i < n; i++)
		sip_word(&h, w[i], c);
	return sip_end(&h, d);
}

static inline __attribute__((always_inline)) uint64_t
sip_hash(const struct siphash_key *key, const uint8_t *p, size_t n, int c, int d)
{
	struct sip h = sip_begin(key);
	uint64_t last = (uint64_t)n << 56, w;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		sip_word(&h, w, c);
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
	sip_word(&h, last, c);
	return sip_end(&h, d);
}

#endif

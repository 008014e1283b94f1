/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow hash: SipHash-1-3 of the bytes that differ, one key at a time or eight side by side. The latter is one
 * text, compiled for what the processor has; all give the same values.
 */
#include "flow_hash.h"

#include <string.h>

#include "../base/sip.h"

#define WORDS4 2u        /* two addresses; ports, protocol, family and the length */
#define WORDS6 5u
#define LENGTH4 14ull    /* bytes hashed: SipHash has the length in its last word's highest byte */
#define LENGTH6 38ull

_Static_assert(sizeof(struct flow_key) == 40, "compared as bytes");
_Static_assert(offsetof(struct flow_key, local) == 16 && offsetof(struct flow_key, rport_be) == 32, "five words");
_Static_assert(offsetof(struct flow_key, zero) == 38, "hashed up to here: the last word's two highest bytes are zero");

static inline uint64_t
word(const struct flow_key *k, unsigned int i)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)k + 8 * i, sizeof(v));
	return v;
}

static inline uint64_t
addresses4(const struct flow_key *k)
{
	return (word(k, 0) & 0xffffffff) | word(k, 2) << 32;
}

/* 0 and 1 mean something else in the publish table. */
static inline uint64_t
no_mark(uint64_t h)
{
	return h + 2 * (uint64_t)(h < 2);
}

uint64_t
flow_hash(const struct siphash_key *secret, const struct flow_key *k)
{
	uint64_t w[WORDS6];

	if (__builtin_expect(k->family == ADDR_INET, 1)) {
		w[0] = addresses4(k);
		w[1] = word(k, 4) | LENGTH4 << 56;
		return no_mark(sip_words(secret, w, WORDS4, 1, 3));
	}
	memcpy(w, k, sizeof(w));
	w[4] |= LENGTH6 << 56;
	return no_mark(sip_words(secret, w, WORDS6, 1, 3));
}

/* ---- eight at a time -------------------------------------------------------------------------- */

typedef uint64_t lanes __attribute__((vector_size(8 * FLOW_LANES)));

#define ROTL(v, n) ((v) << (n) | (v) >> (64 - (n)))
#define ROUND(v0, v1, v2, v3) \
	do { \
		v0 += v1; \
		v1 = ROTL(v1, 13) ^ v0; \
		v0 = ROTL(v0, 32); \
		v2 += v3; \
		v3 = ROTL(v3, 16) ^ v2; \
		v0 += v3; \
		v3 = ROTL(v3, 21) ^ v0; \
		v2 += v1; \
		v1 = ROTL(v1, 17) ^ v2; \
		v2 = ROTL(v2, 32); \
	} while (0)

/* n words of each of eight messages; a constant at each call. */
static inline __attribute__((always_inline)) void
eight(const struct siphash_key *secret, const uint64_t (*w)[FLOW_LANES], unsigned int n, uint64_t *hash)
{
	struct sip one = sip_begin(secret);
	lanes v0 = (lanes){ 0 } + one.v0, v1 = (lanes){ 0 } + one.v1, v2 = (lanes){ 0 } + one.v2, v3 = (lanes){ 0 } + one.v3;

	for (unsigned int i = 0; i < n; i++) {
		lanes m;

		memcpy(&m, w[i], sizeof(m));
		v3 ^= m;
		ROUND(v0, v1, v2, v3);
		v0 ^= m;
	}
	v2 ^= 0xff;
	ROUND(v0, v1, v2, v3);
	ROUND(v0, v1, v2, v3);
	ROUND(v0, v1, v2, v3);
	v0 ^= v1 ^ v2 ^ v3;
	v0 -= (lanes)(v0 < 2) * 2; /* a comparison that holds is all ones: no_mark */
	memcpy(hash, &v0, sizeof(v0));
}

static void
eight_any(const struct siphash_key *secret, const uint64_t (*w)[FLOW_LANES], unsigned int n, uint64_t *hash)
{
	if (n == WORDS4)
		eight(secret, w, WORDS4, hash);
	else
		eight(secret, w, WORDS6, hash);
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) void
eight_avx2(const struct siphash_key *secret, const uint64_t (*w)[FLOW_LANES], unsigned int n, uint64_t *hash)
{
	if (n == WORDS4)
		eight(secret, w, WORDS4, hash);
	else
		eight(secret, w, WORDS6, hash);
}

static __attribute__((target("avx512f,avx512dq,avx512vl"))) void
eight_avx512(const struct siphash_key *secret, const uint64_t (*w)[FLOW_LANES], unsigned int n, uint64_t *hash)
{
	if (n == WORDS4)
		eight(secret, w, WORDS4, hash);
	else
		eight(secret, w, WORDS6, hash);
}
#endif

flow_eight_fn *
flow_eight(enum flow_simd level)
{
#ifdef __x86_64__
	if (level >= FLOW_AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
			__builtin_cpu_supports("avx512vl"))
		return eight_avx512;
	if (level >= FLOW_AVX2 && __builtin_cpu_supports("avx2"))
		return eight_avx2;
#endif
	(void)level;
	return eight_any;
}

/* ---- many ------------------------------------------------------------------------------------- */

struct group {
	uint64_t w[WORDS6][FLOW_LANES];
	uint64_t *to[FLOW_LANES];
	unsigned int n, words;
};

static void
group_end(const struct siphash_key *secret, struct group *g, flow_eight_fn *fn)
{
	uint64_t h[FLOW_LANES];

	fn(secret, (const uint64_t (*)[FLOW_LANES])g->w, g->words, h); /* lanes without a key: what was there before */
	for (unsigned int i = 0; i < g->n; i++)
		*g->to[i] = h[i];
	g->n = 0;
}

void
flow_hash_bulk(const struct siphash_key *secret, const struct flow_key *const *k, uint64_t *hash, unsigned int n)
{
	struct group g4 = { .words = WORDS4 }, g6 = { .words = WORDS6 };
	flow_eight_fn *fn;

	if (n < 3) {
		for (unsigned int i = 0; i < n; i++)
			hash[i] = flow_hash(secret, k[i]);
		return;
	}
	fn = flow_eight(FLOW_AVX512);
	for (unsigned int i = 0; i < n; i++) {
		struct group *g = k[i]->family == ADDR_INET ? &g4 : &g6;

		if (g == &g4) {
			g->w[0][g->n] = addresses4(k[i]);
			g->w[1][g->n] = word(k[i], 4) | LENGTH4 << 56;
		} else {
			for (unsigned int j = 0; j < WORDS6 - 1; j++)
				g->w[j][g->n] = word(k[i], j);
			g->w[4][g->n] = word(k[i], 4) | LENGTH6 << 56;
		}
		g->to[g->n++] = &hash[i];
		if (g->n == FLOW_LANES)
			group_end(secret, g, fn);
	}
	if (g4.n > 0)
		group_end(secret, &g4, fn);
	if (g6.n > 0)
		group_end(secret, &g6, fn);
}

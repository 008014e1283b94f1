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

/* n <= 8 keys of one family. */
static inline void
group(const struct siphash_key *secret, const struct flow_key *const *k, uint64_t *hash, unsigned int n, flow_eight_fn *fn)
{
	uint64_t w[WORDS6][FLOW_LANES], h[FLOW_LANES];
	bool v4 = k[0]->family == ADDR_INET;

	for (unsigned int i = 0; i < FLOW_LANES; i++) {
		const struct flow_key *key = k[i < n ? i : 0];

		if (v4) {
			w[0][i] = addresses4(key);
			w[1][i] = word(key, 4) | LENGTH4 << 56;
			continue;
		}
		for (unsigned int j = 0; j < WORDS6 - 1; j++)
			w[j][i] = word(key, j);
		w[4][i] = word(key, 4) | LENGTH6 << 56;
	}
	fn(secret, (const uint64_t (*)[FLOW_LANES])w, v4 ? WORDS4 : WORDS6, n == FLOW_LANES ? hash : h);
	if (n < FLOW_LANES)
		memcpy(hash, h, n * sizeof(h[0]));
}

void
flow_hash_bulk(const struct siphash_key *secret, const struct flow_key *const *k, uint64_t *hash, unsigned int n)
{
	flow_eight_fn *fn = flow_eight(FLOW_AVX512);

	while (n > 0) {
		unsigned int same = 1;

		while (same < n && same < FLOW_LANES && k[same]->family == k[0]->family)
			same++;
		if (same > 2)
			group(secret, k, hash, same, fn);
		for (unsigned int i = 0; same <= 2 && i < same; i++)
			hash[i] = flow_hash(secret, k[i]);
		k += same;
		hash += same;
		n -= same;
	}
}

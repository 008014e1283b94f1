/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's random numbers: xoshiro256** seeded by splitmix64 (Blackman and Vigna 2018). A stream is
 * named by (seed, tag), so that adding a consumer does not disturb the others. No state but the struct.
 */
#ifndef NONIC_SIM_PRNG_H
#define NONIC_SIM_PRNG_H

#include <stdbool.h>
#include <stdint.h>

struct prng {
	uint64_t s[4];
};

/* The next value of the splitmix64 sequence at *x. */
static inline uint64_t
splitmix64(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Starts the stream `tag` of `seed`. */
static inline void
prng_init(struct prng *p, uint64_t seed, uint64_t tag)
{
	uint64_t x = seed;
	uint64_t y = splitmix64(&x) ^ (tag * 0xd1342543de82ef95ull + 1);

	for (unsigned int i = 0; i < 4; i++)
		p->s[i] = splitmix64(&y);
}

static inline uint64_t
prng_next(struct prng *p)
{
	uint64_t *s = p->s;
	uint64_t r = s[1] * 5;
	uint64_t t = s[1] << 17;

	r = ((r << 7) | (r >> 57)) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return r;
}

/* Uniform in 0 .. n - 1; n > 0. */
static inline uint64_t
prng_below(struct prng *p, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)prng_next(p) * n) >> 64);
}

/* Uniform in lo .. hi, both included. */
static inline uint64_t
prng_range(struct prng *p, uint64_t lo, uint64_t hi)
{
	return hi - lo == UINT64_MAX ? prng_next(p) : lo + prng_below(p, hi - lo + 1);
}

/* True with probability ppm / 1000000. Draws nothing when ppm is 0, so that a fault that is off costs no number. */
static inline bool
prng_chance(struct prng *p, uint32_t ppm)
{
	return ppm != 0 && prng_below(p, 1000000) < ppm;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 as FIPS 180-4 defines it: one pass, no allocation. */
#include "sha256.h"

#include <string.h>

#include "bytes.h"

/* FIPS 180-4 section 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t
ror(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}

static void
take_block(uint32_t h[8], const uint8_t *p)
{
	uint32_t w[64], s[8], t1, t2;
	int i;

	for (i = 0; i < 16; i++)
		w[i] = get_be32(p + 4 * i);
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
			(ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
			(ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, h, sizeof(s));
	for (i = 0; i < 64; i++) {
		t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
			((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constant[i] + w[i];
		t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
			((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		h[i] += s[i];
}

void
sha256_init(struct sha256 *c)
{
	static const uint32_t initial[8] = { /* section 5.3.3 */
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
		0x1f83d9ab, 0x5be0cd19,
	};

	memset(c, 0, sizeof(*c));
	memcpy(c->h, initial, sizeof(c->h));
}

void
sha256_add(struct sha256 *c, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t have, room;

	while (n > 0) {
		have = c->n % 64;
		room = 64 - have < n ? 64 - have : n;
		memcpy(c->block + have, p, room);
		c->n += room;
		p += room;
		n -= room;
		if (have + room == 64)
			take_block(c->h, c->block);
	}
}

void
sha256_finish(struct sha256 *c, uint8_t digest[SHA256_LEN])
{
	static const uint8_t pad[64] = { 0x80 };
	uint64_t bits = c->n * 8;
	uint8_t len[8];
	int i;

	sha256_add(c, pad, c->n % 64 < 56 ? 56 - c->n % 64 : 120 - c->n % 64);
	put_be32(len, (uint32_t)(bits >> 32));
	put_be32(len + 4, (uint32_t)bits);
	sha256_add(c, len, sizeof(len));
	for (i = 0; i < 8; i++)
		put_be32(digest + 4 * i, c->h[i]);
}

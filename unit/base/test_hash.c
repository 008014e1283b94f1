/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash against its paper's and reference vectors, Toeplitz against Microsoft's verification suite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/base/hash.h"

/* Key 00 01 .. 0f, as in the paper's appendix. */
static const struct siphash_key key = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull };

static void
siphash24_vectors(void **state)
{
	uint8_t in[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)i;
	assert_true(siphash(&key, in, 15) == 0xa129ca6149be45e5ull); /* the paper's */
	assert_true(siphash(&key, in, 0) == 0x726fdb47dd0e0e31ull);
	assert_true(siphash(&key, in, 1) == 0x74f839c593dc67fdull);
	assert_true(siphash(&key, in, 2) == 0x0d6c8009d9a94f5aull);
	assert_true(siphash(&key, in, 3) == 0x85676696d7fb7e2dull);
	assert_true(siphash(&key, in, 7) == 0xab0200f58b01d137ull);
	assert_true(siphash(&key, in, 8) == 0x93f5f5799a932462ull);
	assert_true(siphash(&key, in, 63) == 0x958a324ceb064572ull);
}

static uint64_t
rotl(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

/* SipHash-c-d straight from the paper, a byte at a time. */
static uint64_t
sip_plain(const uint8_t *p, size_t n, int c, int d)
{
	uint64_t v[4] = { key.k0 ^ 0x736f6d6570736575ull, key.k1 ^ 0x646f72616e646f6dull,
		key.k0 ^ 0x6c7967656e657261ull, key.k1 ^ 0x7465646279746573ull };
	size_t words = n / 8 + 1;

	for (size_t w = 0; w <= words; w++) {
		uint64_t m = w == words - 1 ? (uint64_t)n << 56 : 0;
		int rounds = w == words ? d : c;

		for (size_t i = 8 * w; w < words && i < n && i < 8 * w + 8; i++)
			m |= (uint64_t)p[i] << (i % 8 * 8);
		if (w == words)
			v[2] ^= 0xff;
		v[3] ^= m;
		while (rounds-- > 0) {
			v[0] += v[1];
			v[2] += v[3];
			v[1] = rotl(v[1], 13) ^ v[0];
			v[3] = rotl(v[3], 16) ^ v[2];
			v[0] = rotl(v[0], 32);
			v[2] += v[1];
			v[0] += v[3];
			v[1] = rotl(v[1], 17) ^ v[2];
			v[3] = rotl(v[3], 21) ^ v[0];
			v[2] = rotl(v[2], 32);
		}
		v[0] ^= m;
	}
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void
every_length_and_alignment(void **state)
{
	uint8_t in[80];

	(void)state;
	for (unsigned int i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 37 + 5);
	for (size_t off = 0; off < 8; off++)
		for (size_t n = 0; n <= 64; n++) {
			assert_true(siphash(&key, in + off, n) == sip_plain(in + off, n, 2, 4));
			assert_true(siphash13(&key, in + off, n) == sip_plain(in + off, n, 1, 3));
		}
}

static void
toeplitz_vectors_ipv4(void **state)
{
	static const struct {
		const char *src, *dst;
		uint16_t sport, dport;
		uint32_t addresses, with_ports;
	} v[] = {
		{ "66.9.149.187", "161.142.100.80", 2794, 1766, 0x323e8fc2, 0x51ccc178 },
		{ "199.92.111.2", "65.69.140.83", 14230, 4739, 0xd718262a, 0xc626b0ea },
		{ "24.19.198.95", "12.22.207.184", 12898, 38024, 0xd2d0a5de, 0x5c2b394a },
		{ "38.27.205.30", "209.142.163.6", 48228, 2217, 0x82989176, 0xafc7327f },
		{ "153.39.163.191", "202.188.127.2", 44251, 1303, 0x5d1809c5, 0x10e828a2 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		uint8_t in[12];

		inet_pton(AF_INET, v[i].src, in);
		inet_pton(AF_INET, v[i].dst, in + 4);
		put_be16(in + 8, v[i].sport);
		put_be16(in + 10, v[i].dport);
		assert_int_equal(toeplitz(toeplitz_default_key, 40, in, 8), v[i].addresses);
		assert_int_equal(toeplitz(toeplitz_default_key, 40, in, 12), v[i].with_ports);
	}
}

static void
toeplitz_vectors_ipv6(void **state)
{
	static const struct {
		const char *src, *dst;
		uint16_t sport, dport;
		uint32_t addresses, with_ports;
	} v[] = {
		{ "3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x2cc18cd5,
			0x40207d3d },
		{ "3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0x0f0c461c,
			0xdde51bbf },
		{ "3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251,
			38024, 0x4b61e985, 0x02d1feef },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		uint8_t in[36];

		inet_pton(AF_INET6, v[i].src, in);
		inet_pton(AF_INET6, v[i].dst, in + 16);
		put_be16(in + 32, v[i].sport);
		put_be16(in + 34, v[i].dport);
		assert_int_equal(toeplitz(toeplitz_default_key, 40, in, 32), v[i].addresses);
		assert_int_equal(toeplitz(toeplitz_default_key, 40, in, 36), v[i].with_ports);
	}
}

static void
symmetric_key_hashes_both_directions_alike(void **state)
{
	static const uint8_t there[12] = { 10, 0, 0, 1, 192, 168, 7, 9, 0x12, 0x34, 0, 80 };
	static const uint8_t back[12] = { 192, 168, 7, 9, 10, 0, 0, 1, 0, 80, 0x12, 0x34 };

	(void)state;
	assert_int_equal(toeplitz(toeplitz_symmetric_key, 52, there, 12),
		toeplitz(toeplitz_symmetric_key, 52, back, 12));
	assert_int_not_equal(toeplitz(toeplitz_default_key, 40, there, 12),
		toeplitz(toeplitz_default_key, 40, back, 12));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siphash24_vectors),
		cmocka_unit_test(every_length_and_alignment),
		cmocka_unit_test(toeplitz_vectors_ipv4),
		cmocka_unit_test(toeplitz_vectors_ipv6),
		cmocka_unit_test(symmetric_key_hashes_both_directions_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

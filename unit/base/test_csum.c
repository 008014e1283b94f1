/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum against a plain 16-bit loop, over every alignment, length and cut of a chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/base/csum.h"
#include "shim/host/mock/mock.h"
#include "shim/shim.h"

static uint32_t
next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

static void
fill(uint8_t *b, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(next_random(&seed) >> 7);
}

/* RFC 1071's definition, word by word. */
static uint16_t
plain(const uint8_t *p, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i % 2 != 0 ? p[i] : (uint64_t)p[i] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return be16((uint16_t)sum);
}

/* 0 and 0xffff are the same number in one's complement. */
static uint16_t
canonical(uint16_t v)
{
	return v == 0xffff ? 0 : v;
}

static void
rfc1071_example(void **state)
{
	static const uint8_t data[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };

	(void)state;
	assert_int_equal(csum_fold(csum_add(0, data, sizeof(data))), be16(0xddf2));
	assert_int_equal(csum_finish(csum_add(0, data, sizeof(data))), be16((uint16_t)~0xddf2));
	assert_int_equal(csum_add(0, data, 0), 0);
}

/* STK-4 */
static void
every_length_and_alignment(void **state)
{
	uint8_t b[400];

	(void)state;
	fill(b, sizeof(b), 7);
	for (size_t off = 0; off < 16; off++)
		for (size_t n = 0; n <= sizeof(b) - 16; n++)
			assert_int_equal(canonical(csum_fold(csum_add(0, b + off, n))),
				canonical(plain(b + off, n)));
}

static void
carries_are_not_lost(void **state)
{
	static uint8_t b[65536];

	(void)state;
	memset(b, 0xff, sizeof(b));
	assert_int_equal(csum_fold(csum_add(0, b, sizeof(b))), 0xffff);
	assert_int_equal(csum_fold(csum_add(UINT64_MAX, b, 64)), 0xffff);
	assert_int_equal(csum_fold(csum_add(UINT64_MAX, b, 23)), plain(b, 23));
	b[4] = 0; /* ... ff ff 00 ff: one word is 0x00ff less 0xff00 */
	assert_int_equal(csum_fold(csum_add(UINT64_MAX, b, sizeof(b))), plain(b, sizeof(b)));
	assert_int_equal(csum_fold(csum_add(UINT64_MAX - 1, "\x03", 1)), be16(0x0200));
}

static struct rte_mbuf *
chain(struct shim *s, struct shim_pool *p, const uint8_t *b, uint32_t n, uint32_t *seed)
{
	struct rte_mbuf *head = NULL;

	for (uint32_t part; n > 0; b += part, n -= part) {
		struct rte_mbuf *m = shim_buf_alloc(s, p);

		part = next_random(seed) % 90;
		if (part > n)
			part = n;
		memcpy(shim_buf_append(m, (uint16_t)part), b, part);
		if (head == NULL)
			head = m;
		else
			assert_int_equal(shim_buf_chain(head, m), 0);
	}
	return head;
}

/* STK-4 */
static void
chains_with_odd_segments(void **state)
{
	struct shim *s = mock_shim_new();
	struct shim_pool *pool;
	uint32_t seed = 99;
	uint8_t b[700];

	(void)state;
	assert_int_equal(shim_pool_create(s, "p", 256, 256, &pool), 0);
	fill(b, sizeof(b), 3);
	for (int round = 0; round < 200; round++) {
		uint32_t n = 1 + next_random(&seed) % sizeof(b);
		struct rte_mbuf *m = chain(s, pool, b, n, &seed);

		for (int i = 0; i < 20; i++) {
			uint32_t off = next_random(&seed) % n;
			uint32_t len = next_random(&seed) % (n - off + 1);

			assert_int_equal(canonical(csum_fold(csum_add_chain(0, m, off, len))),
				canonical(plain(b + off, len)));
		}
		shim_buf_free(s, m);
	}
	assert_int_equal(csum_add_chain(5, NULL, 0, 10), 5);
	assert_int_equal(shim_pool_avail(s, pool), 256);
	shim_pool_free(s, pool);
	assert_int_equal(mock_shim_free(s), 0);
}

static void
pseudo_headers(void **state)
{
	static const uint8_t v4[12] = { 10, 0, 0, 1, 10, 0, 0, 255, 0, 17, 0xff, 0x01 };
	uint8_t v6[40];

	(void)state;
	fill(v6, 32, 11);
	memcpy(v6 + 32, "\x00\x01\x86\xa0\x00\x00\x00\x3a", 8); /* length 100000, ICMPv6 */
	assert_int_equal(csum_fold(csum_pseudo4(be32(0x0a000001), be32(0x0a0000ff), 17, 0xff01)),
		plain(v4, sizeof(v4)));
	assert_int_equal(csum_fold(csum_pseudo6(v6, v6 + 16, 58, 100000)), plain(v6, sizeof(v6)));
	memset(v6, 0xff, 32);
	assert_int_equal(csum_fold(csum_pseudo6(v6, v6 + 16, 58, 100000)), plain(v6, sizeof(v6)));
}

static void
short_data_sums_alike(void **state)
{
	uint8_t b[400];

	(void)state;
	for (unsigned int n = 8; n < sizeof(b) - 8; n++) {
		fill(b, sizeof(b), n);
		for (unsigned int at = 0; at < 8; at++) {
			uint16_t sum = csum_fold(csum_add_short(n * 0x100000001ull, b + at, n));

			assert_int_equal(canonical(sum), canonical(csum_fold(csum_add(n * 0x100000001ull, b + at, n))));
			assert_false(csum_good(csum_add_short(1, b + at, n)) != (csum_fold(csum_add(1, b + at, n)) == 0xffff));
		}
	}
	memset(b, 0xff, sizeof(b));
	assert_int_equal(csum_fold(csum_add_short(UINT64_MAX, b, 256)), 0xffff);
	assert_true(csum_good(csum_add_short(UINT64_MAX, b, 256)));
	assert_false(csum_good(csum_add_short(UINT64_MAX, b, 255)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1071_example),
		cmocka_unit_test(every_length_and_alignment),
		cmocka_unit_test(carries_are_not_lost),
		cmocka_unit_test(chains_with_odd_segments),
		cmocka_unit_test(pseudo_headers),
		cmocka_unit_test(short_data_sums_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

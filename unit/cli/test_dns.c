/* SPDX-License-Identifier: BSD-3-Clause */
/* The DNS-shaped responder: answers, refusals, silence; every cut of a query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/cli/dns.h"

#define QUERY "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x02nu\x00\x00\x01\x00\x01"
#define QUERY_LEN 24
#define TYPE 21

static uint8_t q[DNS_MAX + 64], a[DNS_MAX];

static size_t
ask(size_t n)
{
	/* of the exact size, so that a sanitizer sees one byte too many */
	uint8_t *exact = test_malloc(n + 1);
	size_t len;

	memcpy(exact, q, n);
	len = dns_answer(exact, n, a);
	test_free(exact);
	return len;
}

static int
setup(void **state)
{
	(void)state;
	memcpy(q, QUERY, QUERY_LEN);
	return 0;
}

static void
test_answers_the_three_types(void **state)
{
	(void)state;
	assert_int_equal(ask(QUERY_LEN), QUERY_LEN + 16);
	assert_memory_equal(a, "\x12\x34\x85\x00\x00\x01\x00\x01\x00\x00\x00\x00", 12);
	assert_memory_equal(a + 12, q + 12, QUERY_LEN - 12);
	assert_memory_equal(a + QUERY_LEN, "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x35", 16);
	q[TYPE] = 28;
	assert_int_equal(ask(QUERY_LEN), QUERY_LEN + 28);
	assert_memory_equal(a + QUERY_LEN + 10, "\x00\x10\x20\x01\x0d\xb8", 6);
	q[TYPE] = 16;
	assert_int_equal(ask(QUERY_LEN), QUERY_LEN + 18);
	assert_memory_equal(a + QUERY_LEN + 10, "\x00\x06\x05nonic", 8);
	q[TYPE + 2] = 255; /* class ANY; the record's class is IN */
	assert_int_equal(ask(QUERY_LEN), QUERY_LEN + 18);
	assert_int_equal(a[QUERY_LEN + 5], 1);
}

static void
test_other_types_and_classes_are_empty(void **state)
{
	(void)state;
	q[TYPE] = 15;
	assert_int_equal(ask(QUERY_LEN), QUERY_LEN);
	assert_memory_equal(a + 2, "\x85\x00\x00\x01\x00\x00", 6);
	q[TYPE] = 1;
	q[TYPE + 2] = 3;
	q[2] = 0; /* no recursion desired */
	assert_int_equal(ask(QUERY_LEN), QUERY_LEN);
	assert_int_equal(a[2], 0x84);
}

static void
test_silence_and_refusals(void **state)
{
	(void)state;
	for (size_t n = 0; n < 12; n++)
		assert_int_equal(ask(n), 0);
	for (size_t n = 12; n < QUERY_LEN; n++) {
		assert_int_equal(ask(n), 12);
		assert_memory_equal(a, "\x12\x34\x81\x01\x00\x00\x00\x00\x00\x00\x00\x00", 12);
	}
	q[2] = 0x81; /* a response is never answered */
	assert_int_equal(ask(QUERY_LEN), 0);
	q[2] = 0x29; /* opcode UPDATE, RD */
	assert_int_equal(ask(QUERY_LEN), 12);
	assert_memory_equal(a + 2, "\xa9\x04", 2);
	q[2] = 1;
	q[5] = 2; /* two questions */
	assert_int_equal(ask(QUERY_LEN), 12);
	q[5] = 1;
	q[7] = 1; /* an answer in a query */
	assert_int_equal(ask(QUERY_LEN), 12);
	q[7] = 0;
	q[12] = 0xc0; /* a pointer in the question */
	assert_int_equal(ask(QUERY_LEN), 12);
	assert_int_equal(a[3], 1);
}

static void
test_names_at_the_limit(void **state)
{
	size_t n = 12;

	(void)state;
	for (int i = 0; i < 3; i++, n += 64) {
		q[n] = 63;
		memset(q + n + 1, 'a', 63);
	}
	q[n] = 61;
	memset(q + n + 1, 'b', 61);
	memcpy(q + n + 62, "\0\0\1\0\1", 5); /* 3 * 64 + 62 + 1 = 255 bytes */
	assert_int_equal(ask(12 + 255 + 4), 12 + 255 + 4 + 16);
	q[n] = 62;
	memcpy(q + n + 63, "\0\0\1\0\1", 5); /* 256 */
	assert_int_equal(ask(12 + 256 + 4), 12);
	memcpy(q + 12, "\0\0\1\0\1", 5); /* the root */
	assert_int_equal(ask(17), 17 + 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_answers_the_three_types, setup),
		cmocka_unit_test_setup(test_other_types_and_classes_are_empty, setup),
		cmocka_unit_test_setup(test_silence_and_refusals, setup),
		cmocka_unit_test_setup(test_names_at_the_limit, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

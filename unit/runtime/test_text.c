/* SPDX-License-Identifier: BSD-3-Clause */
/* Text into a buffer of fixed size: never overruns, keeps whole pieces only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/runtime/text.h"

static void
test_adds_until_full(void **state)
{
	char buf[8];
	struct text t;

	(void)state;
	text_init(&t, buf, sizeof(buf));
	text_add(&t, "%s", "abc");
	text_add(&t, "%d", 123);
	assert_string_equal(buf, "abc123");
	assert_false(t.cut);
	text_add(&t, "xy"); /* 8 bytes and no room for the zero */
	assert_true(t.cut);
	assert_string_equal(buf, "abc123");
	text_add(&t, "z"); /* nothing more once something was cut */
	assert_string_equal(buf, "abc123");
	text_back(&t, 3);
	assert_false(t.cut);
	assert_string_equal(buf, "abc");
	text_back(&t, 7); /* not a way forward */
	assert_int_equal(t.len, 3);
}

static void
test_no_room_at_all(void **state)
{
	struct text t;

	(void)state;
	text_init(&t, NULL, 0);
	text_add(&t, "a");
	assert_true(t.cut);
	text_back(&t, 0);
	assert_int_equal(t.len, 0);
}

static void
test_json_escapes(void **state)
{
	char buf[64];
	struct text t;

	(void)state;
	text_init(&t, buf, sizeof(buf));
	text_json(&t, "a\"b\\c\n\x01 \xc3\xa9");
	assert_string_equal(buf, "\"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9\"");
}

/* CFG-7: bytes that are no UTF-8 go by their number, so that JSON stays JSON. */
static void
test_json_is_utf8_whatever_comes(void **state)
{
	static const struct { const char *in, *out; } t[] = {
		{ "\xe2\x82\xac", "\"\xe2\x82\xac\"" }, { "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xff", "\"\\u00ff\"" }, { "\xc3", "\"\\u00c3\"" }, { "\xc3(", "\"\\u00c3(\"" },
		{ "\xc0\x80", "\"\\u00c0\\u0080\"" }, { "\xe0\x80\x80", "\"\\u00e0\\u0080\\u0080\"" },
		{ "\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"" }, { "\xf0\x80\x80\x80", "\"\\u00f0\\u0080\\u0080\\u0080\"" },
		{ "\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"" },
	};
	char buf[64];
	struct text x;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		text_init(&x, buf, sizeof(buf));
		text_json(&x, t[i].in);
		assert_string_equal(buf, t[i].out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_until_full),
		cmocka_unit_test(test_no_room_at_all),
		cmocka_unit_test(test_json_escapes),
		cmocka_unit_test(test_json_is_utf8_whatever_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

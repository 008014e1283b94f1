/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrusive lists and byte order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/base/list.h"

struct item {
	int v;
	struct list link;
};

static void
keeps_order(void **state)
{
	struct item a = { .v = 1 }, b = { .v = 2 }, c = { .v = 3 };
	struct list head, *it, *tmp;
	int sum = 0;

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	assert_null(list_pop(&head));
	list_add_tail(&head, &b.link);
	list_add_tail(&head, &c.link);
	list_add_head(&head, &a.link);
	list_for_each(it, &head)
		sum = sum * 10 + list_entry(it, struct item, link)->v;
	assert_int_equal(sum, 123);
	list_for_each_safe(it, tmp, &head)
		if (list_entry(it, struct item, link)->v == 2)
			list_del(it);
	list_del(&b.link); /* harmless when it is in no list */
	assert_ptr_equal(list_pop(&head), &a.link);
	assert_ptr_equal(list_pop(&head), &c.link);
	assert_true(list_empty(&head));
}

static void
byte_order(void **state)
{
	uint8_t b[5] = { 0xff };

	(void)state;
	put_be16(b + 1, 0x1234);
	assert_int_equal(b[1], 0x12);
	assert_int_equal(get_be16(b + 1), 0x1234);
	put_be32(b + 1, 0x01020304);
	assert_int_equal(b[1], 1);
	assert_int_equal(get_be32(b + 1), 0x01020304);
	assert_int_equal(be16(0x0102), 0x0201);
	assert_int_equal(be32(0x01020304), 0x04030201);
	assert_int_equal(htobe16c(0xabcd), 0xcdab);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order),
		cmocka_unit_test(byte_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

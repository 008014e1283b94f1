/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of the loader fails in turn: -ENOMEM every time, and everything given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static long countdown = -1; /* allocations until one fails; -1: none does */

void *
__wrap_calloc(size_t n, size_t size)
{
	if (countdown == 0)
		return NULL;
	if (countdown > 0)
		countdown--;
	return __real_calloc(n, size);
}

static struct nonic_config cfg;

/* CFG-2 */
static void
loading_without_memory(void **state)
{
	static const char *const files[] = {
		FIXTURES "/config/good/fstack-stock.ini", FIXTURES "/config/good/virtio-user.ini",
		FIXTURES "/config/good/typo-section.ini", FIXTURES "/config/bad/several.ini",
	};
	struct config_messages ms;
	char text[16384];
	size_t i, n;
	FILE *f;
	long at;
	int rc;

	(void)state;
	countdown = 0; /* the room for the file itself, and its message */
	assert_int_equal(config_load(files[0], 0, &cfg, &ms), -ENOMEM);
	assert_int_equal(ms.n, 0);
	countdown = -1;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		f = fopen(files[i], "r");
		assert_non_null(f);
		n = fread(text, 1, sizeof(text), f);
		fclose(f);
		for (at = 0;; at++) {
			countdown = at;
			rc = config_load_mem(files[i], text, n, 0, &cfg, &ms);
			config_free(&cfg);
			config_messages_free(&ms);
			if (countdown > 0)
				break; /* more than it needs */
			countdown = -1;
			if (rc != -ENOMEM)
				break;
		}
		countdown = -1;
		assert_int_equal(rc, strstr(files[i], "/bad/") ? -EINVAL : 0);
		assert_true(at > 20);
	}
}

/* CFG-1 */
static void
command_line_without_memory(void **state)
{
	char *const argv[] = { (char *)(uintptr_t)"app", (char *)(uintptr_t)"--proc-id=x" };
	struct config_args a = { .proc_id = 9, .proc_type = PROC_AUTO };
	struct config_messages ms;
	long at;

	(void)state;
	for (at = 0; at < 2; at++) {
		countdown = at;
		assert_int_equal(config_args_parse(2, argv, &a, &ms), -ENOMEM);
		config_messages_free(&ms);
	}
	countdown = -1;
	assert_int_equal(config_load(FIXTURES "/config/good/fstack-stock.ini", 0, &cfg, &ms), 0);
	countdown = 0;
	a.proc_id = 9;
	assert_int_equal(config_apply_args(&cfg, &a, &ms), -ENOMEM);
	countdown = -1;
	config_messages_free(&ms);
	config_free(&cfg);
}

/* CFG-8 */
static void
eal_arguments_without_memory(void **state)
{
	struct config_messages ms;
	char **v;
	long at;
	int n, rc;

	(void)state;
	assert_int_equal(config_load(FIXTURES "/config/good/virtio-user.ini", 0, &cfg, &ms), 0);
	for (at = 0;; at++) {
		countdown = at;
		rc = config_eal_args(&cfg, "p", 0, CONFIG_EAL_PRIMARY, &v, &n);
		countdown = -1;
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(v);
	}
	assert_true(at > 5);
	config_eal_args_free(v);
	config_messages_free(&ms);
	config_free(&cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loading_without_memory),
		cmocka_unit_test(command_line_without_memory),
		cmocka_unit_test(eal_arguments_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

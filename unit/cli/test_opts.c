/* SPDX-License-Identifier: BSD-3-Clause */
/* Options: every form, and messages that name the argument and what was expected. */
#include "capture.h"

#include <sys/wait.h>

static struct {
	bool json, is_f;
	const char *conf, *pos[3];
	unsigned int npos;
} got;

static int
cmd_try(int argc, char **argv)
{
	static const struct cli_cmd cmd = { "try", "[-c FILE] [--json] [A [B]]", "Tries.\n" };
	const struct cli_opt opts[] = { { "conf", 'c', NULL, &got.conf }, { "json", 0, &got.json, NULL } };
	int rc;

	memset(&got, 0, sizeof(got));
	rc = cli_parse(&cmd, argc, argv, opts, 2, 2, &got.npos);
	got.is_f = got.conf != NULL && strcmp(got.conf, "F") == 0;
	for (unsigned int i = 0; i < got.npos; i++)
		got.pos[i] = argv[1 + i];
	return rc < 0 ? CLI_OK : rc;
}

static struct capture c;

static void
test_every_form_of_an_option(void **state)
{
	static const char *const same[] = { "try -c F a", "try -cF a", "try --conf F a", "try --conf=F a", "try a -c F",
		"try -c=F a" };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(capture_run(&c, cmd_try, same[i]), 0);
		assert_true(got.is_f);
		assert_int_equal(got.npos, 1);
		assert_false(got.json);
	}
	assert_int_equal(capture_run(&c, cmd_try, "try --json -- -c --json"), 0);
	assert_true(got.json);
	assert_null(got.conf);
	assert_int_equal(got.npos, 2);
	assert_int_equal(capture_run(&c, cmd_try, "try -"), 0);
	assert_int_equal(got.npos, 1);
}

static void
test_bad_arguments_are_named(void **state)
{
	static const struct { const char *line, *says; } bad[] = {
		{ "try -c", "option --conf needs a value" }, { "try --conf", "option --conf needs a value" },
		{ "try --json=1", "option --json takes no value, got '1'" }, { "try -x", "unknown option '-x'" },
		{ "try --jso", "unknown option '--jso'" }, { "try --jsonx", "unknown option '--jsonx'" },
		{ "try a b c", "unexpected argument 'c'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(capture_run(&c, cmd_try, bad[i].line), CLI_USAGE);
		assert_non_null(strstr(c.err, bad[i].says));
		assert_non_null(strstr(c.err, "'nonic try --help'"));
		assert_string_equal(c.out, "");
	}
}

static void
test_help(void **state)
{
	(void)state;
	assert_int_equal(capture_run(&c, cmd_try, "try --help"), CLI_OK);
	assert_string_equal(c.out, "usage: nonic try [-c FILE] [--json] [A [B]]\n\nTries.\n");
	assert_int_equal(capture_run(&c, cmd_try, "try a -h"), CLI_OK);
	assert_int_equal(capture_run(&c, cmd_config_reference, "config-reference -h"), CLI_OK);
	assert_non_null(strstr(c.out, "usage: nonic config-reference\n"));
}

static void
test_numbers(void **state)
{
	unsigned long v;

	(void)state;
	assert_true(cli_number("42", 0, 100, &v));
	assert_int_equal(v, 42);
	assert_false(cli_number("", 0, 100, &v));
	assert_false(cli_number("-1", 0, 100, &v));
	assert_false(cli_number("+1", 0, 100, &v));
	assert_false(cli_number("1x", 0, 100, &v));
	assert_false(cli_number("101", 0, 100, &v));
	assert_false(cli_number("9", 10, 100, &v));
	assert_false(cli_number("99999999999999999999999", 0, ~0ul, &v));
}

/* What the child of a fork returns after printing to path. */
static int
print_to(const char *path, int rc)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (freopen(path, "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
			_exit(99);
		printf("words\n");
		_exit(cli_end(rc));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* CFG-7: a report that nobody gets is a failure. */
static void
test_output_that_gets_nowhere(void **state)
{
	(void)state;
	assert_int_equal(print_to("/dev/null", CLI_OK), CLI_OK);
	assert_int_equal(print_to("/dev/null", CLI_USAGE), CLI_USAGE);
	assert_int_equal(print_to("/dev/full", CLI_OK), CLI_FAILED);
	assert_int_equal(print_to("/dev/full", CLI_USAGE), CLI_USAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_form_of_an_option), cmocka_unit_test(test_bad_arguments_are_named),
		cmocka_unit_test(test_help), cmocka_unit_test(test_numbers), cmocka_unit_test(test_output_that_gets_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

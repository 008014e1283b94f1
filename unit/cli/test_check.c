/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic check-config and config-reference. */
#include "capture.h"

#define GOOD "[dpdk]\nlcore_mask=1\nport_list=0\n[port0]\naddr=192.0.2.2\nnetmask=255.255.255.0\n" \
	"broadcast=192.0.2.255\ngateway=192.0.2.1\n"

static struct capture c;
static char path[] = "/tmp/nonic-unit-XXXXXX", line[256];

static const char *
with(const char *options, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	snprintf(line, sizeof(line), "check-config %s %s", options, path);
	return line;
}

/* CFG-7 */
static void
test_good_file_is_printed(void **state)
{
	(void)state;
	assert_int_equal(capture_run(&c, cmd_check_config, with("", GOOD)), 0);
	assert_non_null(strstr(c.out, "[dpdk]\n"));
	assert_non_null(strstr(c.out, "192.0.2.2"));
	assert_string_equal(c.err, "");
	assert_int_equal(capture_run(&c, cmd_check_config, with("--json", GOOD)), 0);
	assert_memory_equal(c.out, "{\"ok\":true,\"errors\":0,\"warnings\":0,\"messages\":[],\"effective\":[\"", 60);
}

/* CFG-2, CFG-7 */
static void
test_bad_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(capture_run(&c, cmd_check_config, with("", GOOD "mtu=abc\nmtx=1\n")), CLI_FAILED);
	assert_non_null(strstr(c.err, path));
	assert_non_null(strstr(c.err, ":9: [port0] mtu"));
	assert_non_null(strstr(c.err, "abc"));
	assert_non_null(strstr(c.err, "warning: "));
	assert_non_null(strstr(c.err, "1 error, 1 warning"));
	assert_string_equal(c.out, "");
	assert_int_equal(capture_run(&c, cmd_check_config, with("--json", GOOD "mtu=abc\n")), CLI_FAILED);
	assert_non_null(strstr(c.out, "{\"ok\":false,\"errors\":1,"));
	assert_non_null(strstr(c.out, "{\"error\":true,\"line\":9,\"text\":\""));
}

/* CFG-3 */
static void
test_strict_makes_unknown_keys_errors(void **state)
{
	(void)state;
	assert_int_equal(capture_run(&c, cmd_check_config, with("", GOOD "mtx=1\nmty=2\n")), 0);
	assert_int_equal(capture_run(&c, cmd_check_config, with("--strict", GOOD "mtx=1\nmty=2\n")), CLI_FAILED);
	assert_non_null(strstr(c.err, "2 errors, 0 warnings"));
	assert_int_equal(capture_run(&c, cmd_check_config, with("--json", GOOD "mtx=1\nmty=2\n")), 0);
	assert_non_null(strstr(c.out, "\"line\":10"));
}

static void
test_wrong_usage(void **state)
{
	(void)state;
	assert_int_equal(capture_run(&c, cmd_check_config, "check-config"), CLI_USAGE);
	assert_int_equal(capture_run(&c, cmd_check_config, "check-config --what x"), CLI_USAGE);
	assert_int_equal(capture_run(&c, cmd_check_config, "check-config /no/such/file"), CLI_FAILED);
	assert_non_null(strstr(c.err, "/no/such/file"));
	assert_int_equal(capture_run(&c, cmd_config_reference, "config-reference x"), CLI_USAGE);
}

static void
test_reference(void **state)
{
	static struct capture d;

	(void)state;
	assert_int_equal(capture_run(&c, cmd_config_reference, "config-reference"), 0);
	assert_non_null(strstr(c.out, "lcore_mask"));
	assert_int_equal(capture_run(&d, cmd_check_config, "check-config --reference"), 0);
	assert_string_equal(c.out, d.out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_file_is_printed), cmocka_unit_test(test_bad_file_is_refused),
		cmocka_unit_test(test_strict_makes_unknown_keys_errors), cmocka_unit_test(test_wrong_usage),
		cmocka_unit_test(test_reference),
	};
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A broken configuration keeps nobody from the test bed that runs, unless it is not certain which one that is. */
#include "capture.h"

#include <sys/stat.h>

#include "core/cli/lenient.h"
#include "core/runtime/layout.h"

#define GOOD "[dpdk]\nlcore_mask=1\nport_list=0\n"
#define PORT "[port0]\naddr=192.0.2.2\nnetmask=255.255.255.0\nbroadcast=192.0.2.255\ngateway=192.0.2.1\n"

static const struct cli_cmd cmd = { "ctl", "", "" };

static struct {
	const char *path;
	struct nonic_config cfg;
	bool faulty;
} run;

static int
load(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return lenient_config(&cmd, run.path, &run.cfg, &run.faulty) < 0 ? 0 : 1;
}

/* The exit code, 0 for "go on"; the configuration is in run.cfg. */
static int
read_it(struct capture *c, const char *text)
{
	char path[] = "/tmp/nonic-unit-XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	run.path = path;
	rc = capture_run(c, load, "ctl");
	unlink(path);
	return rc;
}

static void
goes_on(const char *text, const char *prefix, const char *warning)
{
	struct capture *c = test_calloc(1, sizeof(*c));
	char have[256];

	assert_int_equal(read_it(c, text), 0);
	layout_file_prefix(&run.cfg, have, sizeof(have));
	assert_string_equal(have, prefix);
	assert_int_equal(run.faulty, warning[0] != '\0');
	if (strstr(c->err, warning) == NULL || (warning[0] == '\0' && c->err[0] != '\0'))
		fail_msg("'%s' is not: %s", warning, c->err);
	/* one line, whatever there is to say */
	assert_true(c->err[0] == '\0' || strchr(c->err, '\n') == c->err + strlen(c->err) - 1);
	config_free(&run.cfg);
	test_free(c);
}

static void
refused(const char *text, const char *words)
{
	struct capture *c = test_calloc(1, sizeof(*c));

	assert_int_equal(read_it(c, text), 1);
	if (strstr(c->err, words) == NULL)
		fail_msg("'%s' is not in: %s", words, c->err);
	config_free(&run.cfg);
	test_free(c);
}

/* CFG-5, REL-8 */
static void
test_a_file_with_errors_still_names_its_test_bed(void **state)
{
	(void)state;
	goes_on(GOOD "file_prefix=bed7\n" PORT, "container-bed7", "");
	goes_on(GOOD "file_prefix=bed7\nidle_sleep=soon\n" PORT, "container-bed7", "1 error (the first: ");
	goes_on(GOOD "file_prefix=bed7\nidle_sleep=soon\ntso=perhaps\n[port0]\naddr=nowhere\n", "container-bed7",
		"idle_sleep = soon");
	goes_on("[dpdk]\nlcore_mask=none\nfile_prefix=bed7\n", "container-bed7", "going on with its file prefix container-bed7\n");
	/* no prefix is one too: F-Stack's file has it as a comment */
	goes_on(GOOD "#file_prefix=bed7\n ; file_prefix=bed7\ntso=perhaps\n" PORT, "rte", "file prefix rte");
}

/* CFG-5 */
static void
test_a_file_that_may_mean_another_test_bed_is_refused(void **state)
{
	(void)state;
	refused("", "what [dpdk] file_prefix it means can not be told");
	refused(GOOD "file_prefix=a/b\n" PORT, "can not be told");
	refused(GOOD "file_prefix=bed7\nfile_prefix=a/b\n" PORT, "can not be told");
	refused("[dpdk\nfile_prefix=bed7\n" GOOD "tso=perhaps\n", "can not be told");
}

/* CFG-5 */
static void
test_a_file_that_can_not_be_read_is_refused(void **state)
{
	struct capture *c = test_calloc(1, sizeof(*c));

	(void)state;
	run.path = "/tmp/nonic-unit-is-not-there";
	assert_int_equal(capture_run(c, load, "ctl"), 1);
	assert_non_null(strstr(c->err, "name the configuration with --conf FILE"));
	config_free(&run.cfg);
	run.path = "/tmp";
	assert_int_equal(capture_run(c, load, "ctl"), 1);
	assert_non_null(strstr(c->err, "/tmp"));
	config_free(&run.cfg);
	test_free(c);
}

/* CFG-5 */
static void
test_a_pipe_is_not_read_a_second_time(void **state)
{
	struct capture *c = test_calloc(1, sizeof(*c));
	static const char text[] = GOOD "tso=perhaps\n" PORT;
	char path[32];
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], text, strlen(text)), (int)strlen(text));
	close(fd[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	run.path = path;
	assert_int_equal(capture_run(c, load, "ctl"), 1);
	assert_non_null(strstr(c->err, "can not be told"));
	config_free(&run.cfg);
	close(fd[0]);
	test_free(c);
}

/* CFG-5 */
static void
test_a_command_finds_a_cpu_of_its_own(void **state)
{
	struct nonic_config *cfg = test_calloc(1, sizeof(*cfg));
	struct machine m = { .root = "" }, nothing = { .root = "/tmp/nonic-unit-is-not-there" };

	(void)state;
	lenient_cpu(&nothing, cfg);
	assert_int_equal(cfg->nb_lcores, 1);
	cfg->nb_lcores = 2;
	cfg->proc_lcore[0] = CONFIG_MAX_LCORES - 1;
	lenient_cpu(&nothing, cfg); /* where nothing is known the file is believed */
	assert_int_equal(cfg->proc_lcore[0], CONFIG_MAX_LCORES - 1);
	cfg->proc_lcore[0] = 60000;
	lenient_cpu(&m, cfg);
	assert_true(machine_cpu_online(&m, cfg->proc_lcore[0]));
	assert_int_equal(cfg->nb_lcores, 2);
	test_free(cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_with_errors_still_names_its_test_bed),
		cmocka_unit_test(test_a_file_that_may_mean_another_test_bed_is_refused),
		cmocka_unit_test(test_a_file_that_can_not_be_read_is_refused),
		cmocka_unit_test(test_a_pipe_is_not_read_a_second_time),
		cmocka_unit_test(test_a_command_finds_a_cpu_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

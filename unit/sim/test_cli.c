/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's command line, with scenarios made for the purpose: good, failing, undetermined, crashing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/shim.h"
#include "sim/cli.h"

static char dir[] = "/tmp/sim_cli_XXXXXX";
static char out[65536], err[65536];

static void
main_leaker(struct sim_proc *p, void *arg)
{
	struct shim *s = sim_proc_shim(p);
	struct shim_pool *pool;

	(void)arg;
	shim_pool_create(s, "p", 8, 2176, &pool);
	if (sim_seed(sim_proc_world(p)) % 2 == 0)
		shim_buf_alloc(s, pool);
	shim_log(s, SHIM_LOG_INFO, "good bye");
}

static void
run_canary(struct sim_world *w, void *state)
{
	const struct sim_proc_conf c = { .name = "leaker", .main = main_leaker };

	(void)state;
	sim_proc_start(sim_host_add(w, "h"), &c);
	sim_run(w, 1000);
	sim_finish(w);
}

static void
run_good(struct sim_world *w, void *state)
{
	(void)state;
	sim_run(w, 2000000000);
	sim_finish(w);
}

static void
run_undetermined(struct sim_world *w, void *state)
{
	static uint64_t n;
	const struct sim_proc_conf c = { .name = n++ % 2 == 0 ? "one" : "two", .main = main_leaker };

	(void)state;
	sim_proc_start(sim_host_add(w, "h"), &c);
	sim_run(w, 1000);
	sim_finish(w);
}

static void
run_crash(struct sim_world *w, void *state)
{
	(void)w;
	(void)state;
	abort();
}

/* Fails when its third and its fifth fault are both there. */
static void
run_faults(struct sim_world *w, void *state)
{
	unsigned int bad = 0;

	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		if (sim_may(w, "fault number %u", i))
			bad += i == 3 || i == 5;
	sim_run(w, 1000);
	sim_check(w, bad < 2, "both came together");
	sim_finish(w);
}

static void
main_add(struct sim_proc *p, void *arg)
{
	struct shim *s = sim_proc_shim(p);
	uint64_t v = shim_load64(s, arg, SHIM_ACQUIRE);

	shim_store64(s, arg, v + 1, SHIM_RELEASE);
}

static void
run_add(struct sim_world *w, void *state)
{
	const struct sim_proc_conf c = { .name = "adder", .main = main_add, .arg = state };
	struct sim_host *h = sim_host_add(w, "h");

	sim_proc_start(h, &c);
	sim_proc_start(h, &c);
	sim_run(w, 1000000);
	sim_check(w, *(uint64_t *)state == 2, "an update was lost");
	sim_finish(w);
}

static const struct sim_scenario faults = { .name = "faults", .description = "-", .state_size = 1, .run = run_faults },
	adders = { .name = "adders", .description = "-", .state_size = 8, .run = run_add };
static const struct sim_scenario good = { .name = "good", .description = "-", .soak = 2, .state_size = 1,
	.run = run_good },
	canary = { .name = "canary", .description = "-", .state_size = 1, .run = run_canary },
	undetermined = { .name = "undetermined", .description = "-", .state_size = 1, .run = run_undetermined },
	crash = { .name = "crash", .description = "-", .state_size = 1, .run = run_crash };
static const struct sim_scenario *const table[] = { &good, &canary, &undetermined, &crash, &faults, &adders, NULL },
	*const sour[] = { &good, &(const struct sim_scenario){ .name = "canary", .soak = 1, .state_size = 1, .run = run_canary }, NULL },
	*const sharp[] = { &(const struct sim_scenario){ .name = "crash", .soak = 1, .state_size = 1, .run = run_crash }, NULL },
	*const dry[] = { &crash, NULL };
static const struct sim_scenario *const *used = table;

static void
slurp(int fd, char *buf, size_t n)
{
	ssize_t k;

	lseek(fd, 0, SEEK_SET);
	k = read(fd, buf, n - 1);
	buf[k > 0 ? k : 0] = '\0';
	close(fd);
}

/* Runs words (separated by spaces) as a child with its output caught; the exit code, or 128 + signal. */
static int
call(const char *words)
{
	char text[512], *argv[20] = { 0 }, name[2][32] = { "/tmp/sim_out_XXXXXX", "/tmp/sim_err_XXXXXX" };
	int argc = 0, fd[2], status;
	pid_t pid;

	snprintf(text, sizeof(text), "%s", words);
	for (char *p = strtok(text, " "); p != NULL; p = strtok(NULL, " "))
		argv[argc++] = p;
	for (int i = 0; i < 2; i++) {
		fd[i] = mkstemp(name[i]);
		unlink(name[i]);
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(fd[0], 1);
		dup2(fd[1], 2);
		if (argc > 0 && strcmp(argv[0], "list") == 0)
			status = sim_cli_list(argc > 1);
		else if (argc > 0 && strcmp(argv[0], "explore") == 0)
			status = sim_cli_explore_table(used, argc, argv);
		else if (argc > 0 && strcmp(argv[0], "soak") == 0)
			status = sim_cli_soak_table(used, argc, argv);
		else
			status = sim_cli_run_table(used, argc, argv);
		fflush(NULL);
		exit(status);
	}
	waitpid(pid, &status, 0);
	slurp(fd[0], out, sizeof(out));
	slurp(fd[1], err, sizeof(err));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL;
}

static int
teardown(void **state)
{
	char cmd[64];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

/* SIM-6 */
static void
good_seeds_end_with_a_total_and_zero(void **state)
{
	(void)state;
	assert_int_equal(call("run good --seeds 3..12 --twice"), 0);
	assert_non_null(strstr(out, "good"));
	assert_non_null(strstr(out, "total"));
	assert_non_null(strstr(out, "10 seeds     0 failed"));
	assert_non_null(strstr(out, "20.0 s virtual"));
	assert_string_equal(err, "");
}

/* SIM-5, SIM-6: the canary: a violated invariant is caught, its seed and the command that replays it are printed, and the
 * packets and the event log are there */
static void
a_failing_seed_is_told_with_all_that_is_needed(void **state)
{
	char words[128], text[4096] = "";
	FILE *f;

	(void)state;
	snprintf(words, sizeof(words), "run canary --seeds 1..3 --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(err, "FAILED canary seed 2"));
	assert_null(strstr(err, "seed 1"));
	assert_null(strstr(err, "seed 3"));
	assert_non_null(strstr(err, "ended with 1 buffers"));
	assert_non_null(strstr(err, "replay:  nonic sim run canary --seed 2"));
	assert_null(strstr(err, "NOT DETERMINISTIC"));
	assert_non_null(strstr(out, "3 seeds     1 failed"));
	snprintf(words, sizeof(words), "%s/sim-canary-2.pcap", dir);
	assert_non_null(strstr(err, words));
	assert_int_equal(access(words, R_OK), 0);
	snprintf(words, sizeof(words), "%s/sim-canary-2.log", dir);
	f = fopen(words, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(text, "0.000000000 start leaker on h"));
	assert_non_null(strstr(text, "log leaker 7 good bye"));
	assert_non_null(strstr(text, "fail world"));
}

static void
files_of_ones_own_are_used(void **state)
{
	char words[256], name[128];

	(void)state;
	snprintf(words, sizeof(words), "run canary --seed=2 --pcap=%s/a.pcap --trace %s/a.log", dir, dir);
	assert_int_equal(call(words), 1);
	snprintf(name, sizeof(name), "%s/a.log", dir);
	assert_non_null(strstr(err, name));
	assert_int_equal(access(name, R_OK), 0);
	snprintf(name, sizeof(name), "%s/a.arrived.pcap", dir);
	assert_int_equal(access(name, R_OK), 0);
	assert_int_equal(call("run good --pcap /nonexistent/x.pcap"), 1);
	assert_non_null(strstr(err, "could not be made"));
}

/* SIM-1 */
static void
a_run_that_differs_from_its_repetition_fails(void **state)
{
	char words[128];

	(void)state;
	snprintf(words, sizeof(words), "run undetermined --seed 1 --twice --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(err, "two runs of this seed differ"));
	/* without --twice a failure is repeated for its bundle, and that tells */
	snprintf(words, sizeof(words), "run undetermined --seed 2 --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(err, "NOT DETERMINISTIC"));
}

/* SIM-6 */
static void
a_crash_names_its_seed(void **state)
{
	(void)state;
	assert_int_equal(call("run crash --seed 77"), 128 + 6);
	assert_non_null(strstr(err, "scenario crash crashed with seed 77"));
	assert_non_null(strstr(err, "nonic sim run crash --seed 77"));
}

static void
json_is_one_object(void **state)
{
	(void)state;
	assert_int_equal(call("run good --seeds 1..2 --json"), 0);
	assert_int_equal(strncmp(out, "{\"scenarios\":[{\"scenario\":\"good\",\"seeds\":2,\"failed\":0,", 52), 0);
	assert_non_null(strstr(out, "],\"total\":{\"scenario\":\"total\",\"seeds\":2"));
	assert_string_equal(out + strlen(out) - 3, "}}\n");
}

static void
what_makes_no_sense_is_refused_with_two(void **state)
{
	static const char *const bad[] = { "run", "run none", "run good --seed x", "run good --seed", "run good --seeds 5",
		"run good --seeds 5..4", "run good --seeds 5..x", "run good --seed 1..2", "run good more", "run good --what",
		"run good --seeds 1..2 --pcap x", "run all --trace x", "run good --seed 99999999999999999999",
		"run none --json", "run good --seeds 1..2 --schedule 1:1", "run good --schedule 1:y", "run good --without 1,x",
		"run good --without 5..4", "run good --without 4096", "run good --jobs x", "explore", "explore none", "explore adders --what",
		"explore adders --preemptions 7", "explore adders --pct 17", "explore adders --seeds 1..2", "soak good", "soak --minutes x",
		"soak --minutes 1000001" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(call(bad[i]), 2);
		assert_true(strlen(err) > 0);
	}
	assert_int_equal(call("run --help"), 0);
	assert_non_null(strstr(out, "usage: nonic sim run"));
	assert_int_equal(call("explore -h"), 0);
	assert_non_null(strstr(out, "usage: nonic sim explore"));
	assert_int_equal(call("soak --help"), 0);
	assert_non_null(strstr(out, "usage: nonic sim soak"));
}

/* SIM-6 */
static void
a_failing_seed_is_made_short(void **state)
{
	char words[160];

	(void)state;
	snprintf(words, sizeof(words), "run faults --seed 9 --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(err, "replay:  nonic sim run faults --seed 9 --without 0..2,4,6..19\n"));
	assert_non_null(strstr(err, "what had to happen:\n    3: fault number 3\n    5: fault number 5\n  packets"));
	assert_null(strstr(err, "NOT DETERMINISTIC"));
	snprintf(words, sizeof(words), "run faults --seed 9 --without 0..2,4,6..19 --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(err, "--without 0..2,4,6..19\n"));
	assert_int_equal(call("run faults --seed 9 --without 5"), 0);
}

static void
seeds_are_shared_out_to_jobs(void **state)
{
	char words[160];

	(void)state;
	assert_int_equal(call("run good --seeds 1..40 --jobs 3"), 0);
	assert_non_null(strstr(out, "40 seeds     0 failed"));
	snprintf(words, sizeof(words), "run canary --seeds 1..8 --jobs 2 --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(out, "8 seeds     4 failed"));
	for (unsigned int seed = 2; seed <= 8; seed += 2) {
		snprintf(words, sizeof(words), "nonic sim run canary --seed %u\n", seed);
		assert_non_null(strstr(err, words));
	}
	assert_int_equal(call("run crash --seeds 1..2 --jobs 2"), 1);
	assert_non_null(strstr(err, "crashed with seed"));
	assert_int_equal(call("run good --seeds 1..2 --pcap /nonexistent/x --jobs 2"), 2);
}

/* SIM-4, SIM-6 */
static void
an_explorer_prints_what_it_did_and_one_command(void **state)
{
	char words[256], *replay;

	(void)state;
	assert_int_equal(call("explore adders --preemptions 0"), 0);
	assert_non_null(strstr(out, "adders: seed 1, at most 0 decisions: 1 schedules explored"));
	assert_non_null(strstr(out, "no violation\n"));
	snprintf(words, sizeof(words), "explore adders --jobs 1 --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(out, "VIOLATED"));
	assert_non_null(strstr(err, "an update was lost"));
	replay = strstr(err, "replay:  nonic sim run adders --seed 1 --schedule ");
	assert_non_null(replay);
	*strchr(replay, '\n') = '\0';
	snprintf(words, sizeof(words), "%s --out %s", replay + strlen("replay:  nonic sim "), dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(err, "an update was lost"));
	snprintf(words, sizeof(words), "explore adders --pct 2 --seeds 1..50 --tso --crash --jobs 1 --json --out %s", dir);
	assert_int_equal(call(words), 1);
	assert_non_null(strstr(out, "\"pct\":2,\"tso\":true,\"crash\":true"));
	assert_non_null(strstr(out, "\"complete\":false,\"violations\":1}\n"));
	assert_int_equal(call("explore good --max 3 --no-stall"), 0);
	assert_int_equal(call("explore crash"), 128 + 6);
	assert_non_null(strstr(err, "replay: nonic sim run crash --seed 1"));
}

/* SIM-5, SIM-6 */
static void
a_soak_test_runs_until_its_time_is_over_and_tells(void **state)
{
	char words[128];

	(void)state;
	assert_int_equal(call("soak --seconds 1 --seed 7 --jobs 2"), 0);
	assert_non_null(strstr(out, "minutes from seed 7: 1 scenarios, "));
	assert_non_null(strstr(out, ", 0 violations\n"));
	used = sour;
	snprintf(words, sizeof(words), "soak --minutes 1 --seed 7 --jobs 1 --json --out %s", dir);
	assert_int_equal(call(words), 1); /* ten are enough: it does not take a minute */
	assert_non_null(strstr(out, "\"violations\":10}"));
	assert_non_null(strstr(err, "replay:  nonic sim run canary --seed "));
	used = dry;
	assert_int_equal(call("soak --seconds 1"), 1);
	used = sharp;
	assert_int_equal(call("soak --seconds 30 --jobs 2"), 1); /* ten crashes are enough too */
	assert_non_null(strstr(out, "violations\n"));
	assert_non_null(strstr(err, "nonic sim: scenario crash crashed with seed"));
	used = table;
}

static void
the_table_is_complete_and_can_be_listed(void **state)
{
	unsigned int n = 0, at = 0;
	long column;

	(void)state;
	for (; sim_scenarios[n] != NULL; n++) {
		assert_ptr_equal(sim_scenario_find(sim_scenarios[n]->name), sim_scenarios[n]);
		assert_true(strlen(sim_scenarios[n]->description) > 20);
		assert_null(strpbrk(sim_scenarios[n]->description, "\"\\"));
	}
	assert_true(n >= 9);
	assert_null(sim_scenario_find("none"));
	assert_int_equal(call("list --json"), 0);
	assert_memory_equal(out, "[{\"name\":\"", 10);
	/* every description begins in the same column, two blanks behind the longest name at least */
	assert_int_equal(call("list"), 0);
	column = strstr(out, sim_scenarios[0]->description) - out;
	for (const char *line = out; n-- > 0; line = strchr(line, '\n') + 1) {
		const char *d = strstr(line, sim_scenarios[(line == out ? 0 : ++at)]->description);

		assert_int_equal(d - line, column);
		assert_memory_equal(d - 2, "  ", 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_seeds_end_with_a_total_and_zero),
		cmocka_unit_test(a_failing_seed_is_told_with_all_that_is_needed),
		cmocka_unit_test(files_of_ones_own_are_used),
		cmocka_unit_test(a_run_that_differs_from_its_repetition_fails),
		cmocka_unit_test(a_crash_names_its_seed),
		cmocka_unit_test(json_is_one_object),
		cmocka_unit_test(what_makes_no_sense_is_refused_with_two),
		cmocka_unit_test(a_failing_seed_is_made_short),
		cmocka_unit_test(seeds_are_shared_out_to_jobs),
		cmocka_unit_test(an_explorer_prints_what_it_did_and_one_command),
		cmocka_unit_test(a_soak_test_runs_until_its_time_is_over_and_tells),
		cmocka_unit_test(the_table_is_complete_and_can_be_listed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Explorers, schedules and jobs, with small programs whose bugs are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/shim.h"
#include "sim/explore.h"
#include "sim/jobs.h"
#include "sim/shrink.h"

/* Two processes and what they share; who: 0, 1. */
struct shared {
	struct sim_world *w;
	uint64_t word[4];
	uint64_t seen[3];
	unsigned int ended;
	struct who {
		struct shared *sh;
		unsigned int i;
	} who[3];
};

static void
start(struct sim_world *w, struct shared *sh, sim_main_fn *fn, unsigned int n)
{
	static const char *const name[3] = { "zero", "one", "two" };
	struct sim_host *h = sim_host_add(w, "h");

	sh->w = w;
	for (unsigned int i = 0; i < n; i++) {
		const struct sim_proc_conf c = { .name = name[i], .main = fn, .arg = &sh->who[i] };

		sh->who[i].sh = sh;
		sh->who[i].i = i;
		sim_proc_start(h, &c);
	}
}

/* Each adds one with a load and a store: an update is lost when the other one comes between. */
static void
main_add(struct sim_proc *p, void *arg)
{
	struct who *me = arg;
	struct shim *s = sim_proc_shim(p);
	uint64_t v;

	for (unsigned int i = 0; i < 5; i++)
		shim_load64(s, &me->sh->word[1], SHIM_RELAXED); /* harmless company */
	v = shim_load64(s, &me->sh->word[0], SHIM_ACQUIRE);
	shim_store64(s, &me->sh->word[0], v + 1, SHIM_RELEASE);
}

static void
run_lost_update(struct sim_world *w, void *state)
{
	struct shared *sh = state;

	start(w, sh, main_add, 2);
	sim_run(w, 1000000);
	sim_check(w, sh->word[0] == 2, "an update was lost");
	sim_finish(w);
}

/* Dekker's entry: each raises its flag and looks at the other's. */
static void
main_dekker(struct sim_proc *p, void *arg)
{
	struct who *me = arg;
	struct shim *s = sim_proc_shim(p);
	enum shim_order o = sim_seed(me->sh->w) == 2 ? SHIM_SEQ_CST : SHIM_RELEASE;

	shim_store64(s, &me->sh->word[me->i], 1, o);
	me->sh->seen[me->i] = shim_load64(s, &me->sh->word[!me->i], SHIM_ACQUIRE);
	shim_load64(s, &me->sh->word[2], SHIM_ACQUIRE);
}

static void
run_dekker(struct sim_world *w, void *state)
{
	struct shared *sh = state;

	start(w, sh, main_dekker, 2);
	sim_run(w, 1000000);
	sim_check(w, sh->seen[0] + sh->seen[1] > 0, "both are in");
	sim_finish(w);
}

/* The first one takes a look at the clock and acts on it; 5 ms later that is wrong. */
static void
main_late(struct sim_proc *p, void *arg)
{
	struct who *me = arg;
	struct shim *s = sim_proc_shim(p);
	uint64_t was = shim_clock_sample(s);

	shim_load64(s, &me->sh->word[0], SHIM_ACQUIRE);
	shim_load64(s, &me->sh->word[0], SHIM_ACQUIRE);
	sim_check(me->sh->w, shim_clock_sample(s) - was < 5000000, "too late");
}

static void
run_late(struct sim_world *w, void *state)
{
	start(w, state, main_late, 1);
	sim_run(w, 1000000000);
	sim_finish(w);
}

/* Two words that must be equal when it is over; a death between the stores leaves them apart. */
static void
main_pair(struct sim_proc *p, void *arg)
{
	struct who *me = arg;
	struct shim *s = sim_proc_shim(p);

	shim_load64(s, &me->sh->word[2], SHIM_ACQUIRE);
	shim_store64(s, &me->sh->word[0], 1, SHIM_RELEASE);
	shim_load64(s, &me->sh->word[2], SHIM_ACQUIRE);
	shim_store64(s, &me->sh->word[1], 1, SHIM_RELEASE);
}

static void
run_pair(struct sim_world *w, void *state)
{
	struct shared *sh = state;

	start(w, sh, main_pair, 1);
	sim_run(w, 1000000);
	sim_check(w, sh->word[0] == sh->word[1], "half done");
	sim_finish(w);
}

static void
run_crash(struct sim_world *w, void *state)
{
	struct shared *sh = state;

	start(w, sh, main_add, 2);
	sim_run(w, 1000000);
	if (sh->word[0] != 2)
		abort();
	sim_finish(w);
}

/* Three processes with a few random accesses to three words; the outcome is all they saw and left. */
static uint64_t outcomes[65536];
static unsigned int nb_outcomes;

static void
main_random(struct sim_proc *p, void *arg)
{
	struct who *me = arg;
	struct shim *s = sim_proc_shim(p);
	struct prng r;

	prng_init(&r, sim_seed(me->sh->w), 100 + me->i);
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < 3; i++) {
			uint64_t *word = &me->sh->word[prng_below(&r, 3)], v = 0, dice = prng_below(&r, 4);

			if (dice < 2)
				v = shim_load64(s, word, SHIM_ACQUIRE);
			else if (dice == 2)
				shim_store64(s, word, me->sh->seen[me->i] + me->i + 1, SHIM_RELEASE);
			else
				v = shim_fetch_add64(s, word, 16, SHIM_ACQ_REL);
			me->sh->seen[me->i] = me->sh->seen[me->i] * 31 + v;
		}
		sim_yield(p);
	}
	me->sh->ended++;
}

static void
run_random(struct sim_world *w, void *state)
{
	struct shared *sh = state;
	uint64_t h = 1;

	start(w, sh, main_random, 3);
	sim_run(w, 1000000);
	for (unsigned int i = 0; i < 3; i++)
		h = (h * 1000003 ^ sh->word[i]) * 1000003 ^ sh->seen[i];
	for (unsigned int i = 0; i < nb_outcomes; i++)
		if (outcomes[i] == h)
			return;
	if (nb_outcomes < sizeof(outcomes) / sizeof(outcomes[0]))
		outcomes[nb_outcomes++] = h;
}

static const struct sim_scenario lost = { .name = "lost", .state_size = sizeof(struct shared), .run = run_lost_update },
	dekker = { .name = "dekker", .state_size = sizeof(struct shared), .run = run_dekker },
	late = { .name = "late", .state_size = sizeof(struct shared), .run = run_late },
	pair = { .name = "pair", .state_size = sizeof(struct shared), .run = run_pair },
	crash = { .name = "crash", .state_size = sizeof(struct shared), .run = run_crash },
	random_three = { .name = "random", .state_size = sizeof(struct shared), .run = run_random };

/* The schedule that was found fails when it is played, and nothing of it can be left out. */
static void
assert_minimal(const struct explore_conf *c, const struct explore_result *r, const char *why)
{
	struct explore_conf again = *c;
	struct schedule s;
	struct sim_result res;

	assert_int_equal(r->found, 1);
	assert_false(r->complete);
	assert_non_null(strstr(r->why, why));
	assert_int_equal(schedule_parse(&s, r->schedule), 0);
	again.seed = r->seed;
	assert_int_equal(explore_replay(&again, &s, &res), 0);
	assert_true(res.failed);
	assert_string_equal(res.why, r->why);
	assert_true(s.n >= 1);
	s.n--;
	assert_int_equal(explore_replay(&again, &s, &res), 0);
	assert_false(res.failed);
	schedule_free(&s);
}

/* SIM-4, SIM-6 */
static void
a_lost_update_needs_one_preemption(void **state)
{
	struct explore_conf c = { .sc = &lost, .seed = 1, .jobs = 1 };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.found, 0);
	assert_true(r.complete);
	assert_int_equal(r.schedules, 1);
	c.bound = 1;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "an update was lost");
	c.bound = 2;
	c.jobs = 2;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "an update was lost");
	assert_null(strchr(r.schedule, ',')); /* made short: one decision */
}

/* SIM-4 */
static void
both_are_in_only_with_store_buffers(void **state)
{
	struct explore_conf c = { .sc = &dekker, .seed = 1, .bound = 4, .jobs = 1 };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.found, 0);
	c.tso = true;
	c.bound = 1;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "both are in");
	assert_non_null(strchr(r.schedule, 'k'));
	c.seed = 2; /* sequentially consistent stores */
	c.bound = 4;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.found, 0);
}

/* SIM-4, SIM-3 */
static void
standing_still_is_a_decision(void **state)
{
	struct explore_conf c = { .sc = &late, .seed = 1, .bound = 2, .jobs = 1, .stall_ns = { 1000000 } };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.found, 0);
	c.stall_ns[1] = 6000000;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "too late");
}

/* SIM-4, REL-13's ground */
static void
deaths_are_tried_after_every_change(void **state)
{
	struct explore_conf c = { .sc = &pair, .seed = 1, .bound = 1, .jobs = 1 };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.found, 0);
	c.crash = true;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "half done");
	assert_non_null(strchr(r.schedule, 'x'));
}

/* SIM-4: what is left out because accesses commute has no outcome of its own */
static void
no_outcome_is_lost_by_leaving_out_what_commutes(void **state)
{
	static uint64_t whole[65536];
	uint64_t covered = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct explore_conf c = { .sc = &random_three, .seed = seed, .bound = 2, .jobs = 1, .tso = seed % 3 == 0, .all = true,
			.stall_ns = { seed % 2 != 0 ? 1500 : 0 } };
		struct explore_result r;
		unsigned int n;

		nb_outcomes = 0;
		assert_int_equal(explore(&c, &r), 0);
		assert_true(r.complete);
		n = nb_outcomes;
		memcpy(whole, outcomes, n * sizeof(whole[0]));
		c.all = false;
		nb_outcomes = 0;
		assert_int_equal(explore(&c, &r), 0);
		covered += r.covered;
		assert_int_equal(nb_outcomes, n);
		for (unsigned int i = 0; i < n; i++) {
			unsigned int k = 0;

			while (k < nb_outcomes && outcomes[k] != whole[i])
				k++;
			assert_true(k < nb_outcomes);
		}
	}
	assert_true(covered > 500);
}

/* SIM-4 */
static void
change_points_find_it_too_and_the_seed_replays_it(void **state)
{
	struct explore_conf c = { .sc = &dekker, .seed = 1, .last = 400, .pct = 2, .jobs = 1, .tso = true, .stall_ns = { 1000 } };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "both are in");
	c.tso = false;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.found, 0);
	assert_int_equal(r.schedules, 400);
	assert_true(r.complete);
	c.sc = &pair;
	c.crash = true;
	assert_int_equal(explore(&c, &r), 0);
	assert_minimal(&c, &r, "half done");
}

static void
a_limit_ends_the_search_and_that_is_said(void **state)
{
	struct explore_conf c = { .sc = &random_three, .seed = 1, .bound = 2, .jobs = 1, .max_schedules = 10 };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), 0);
	assert_int_equal(r.schedules, 10);
	assert_false(r.complete);
	assert_int_equal(r.found, 0);
}

static void
a_job_that_crashes_is_told(void **state)
{
	struct explore_conf c = { .sc = &crash, .seed = 1, .bound = 1, .jobs = 2 };
	struct explore_result r;

	(void)state;
	assert_int_equal(explore(&c, &r), -ECHILD);
	assert_false(r.complete);
}

static void
schedules_are_read_as_they_are_written(void **state)
{
	static const char *const good[] = { "", "12:2", "12:2,12:3,40:+100000,41:x", "7:1k3", "18446744073709551615:1" };
	static const char *const bad[] = { ",", "12", "12:", "x:1", "12:2,", "12:2,11:3", "12:+", "12:2k", "12:y", "12:2 13:2",
		"18446744073709551616:1", "1:4294967296", "-1:2", "1:+9999999999999999999" };
	struct schedule s;
	char text[128];

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(schedule_parse(&s, good[i]), 0);
		assert_int_equal(schedule_text(&s, text, sizeof(text)), strlen(good[i]));
		assert_string_equal(text, good[i]);
		if (s.n > 1) {
			assert_int_equal(schedule_text(&s, text, 8), strlen(good[i]));
			assert_int_equal(strlen(text), 7);
		}
		schedule_free(&s);
	}
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(schedule_parse(&s, bad[i]), -EINVAL);
		schedule_free(&s);
	}
}

struct needs {
	unsigned int a, b, calls;
};

static bool
fails(void *ctx, const uint8_t *skip)
{
	struct needs *n = ctx;

	n->calls++;
	return !shrink_skipped(skip, n->a) && !shrink_skipped(skip, n->b);
}

/* SIM-6 */
static void
only_what_is_needed_is_left(void **state)
{
	uint8_t skip[13] = { 0 };
	struct needs n = { 3, 97, 0 };

	(void)state;
	assert_int_equal(shrink_set(100, skip, fails, &n, 1000), 2);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(shrink_skipped(skip, i), i != 3 && i != 97);
	assert_true(n.calls < 80);
	memset(skip, 0, sizeof(skip));
	n.calls = 0;
	assert_true(shrink_set(100, skip, fails, &n, 5) > 2);
	assert_int_equal(n.calls, 5);
	assert_int_equal(shrink_set(0, skip, fails, &n, 5), 0);
}

struct count {
	uint64_t sum, stop_at;
};

static bool
count_task(void *ctx, uint64_t i, void *shared)
{
	const struct count *c = ctx;

	jobs_add(&((struct count *)shared)->sum, i + 1);
	if (i == 1000)
		raise(SIGKILL);
	return i != c->stop_at;
}

static void
tasks_are_done_once_on_any_number_of_jobs(void **state)
{
	struct count c = { .stop_at = UINT64_MAX };
	struct jobs j = { .tasks = 100, .task = count_task, .ctx = &c };
	struct count *sh = jobs_shared(sizeof(*sh));

	(void)state;
	assert_true(jobs_cpus() >= 1);
	for (j.n = 0; j.n <= 3; j.n++) {
		sh->sum = 0;
		assert_int_equal(jobs_run(&j, sh), 0);
		assert_int_equal(sh->sum, 5050);
	}
	c.stop_at = 2;
	j.n = 1;
	sh->sum = 0;
	assert_int_equal(jobs_run(&j, sh), 0);
	assert_int_equal(sh->sum, 6);
	c.stop_at = UINT64_MAX;
	j.tasks = 1001;
	j.n = 2;
	assert_int_equal(jobs_run(&j, sh), -ECHILD);
	jobs_shared_free(sh, sizeof(*sh));
}

static bool
stay(void *ctx, uint64_t i, void *shared)
{
	int *pids = shared;

	(void)ctx;
	__atomic_store_n(&pids[i], (int)getpid(), __ATOMIC_RELEASE);
	pause();
	return true;
}

/* SIM-6: whoever kills the command has killed its jobs. */
static void
jobs_end_with_the_process_that_began_them(void **state)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct jobs j = { .n = 2, .tasks = 2, .task = stay };
	int *pids = jobs_shared(2 * sizeof(*pids));
	pid_t first = fork();

	(void)state;
	if (first == 0)
		_exit(jobs_run(&j, pids) == 0);
	assert_true(first > 0);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 10000 && __atomic_load_n(&pids[i], __ATOMIC_ACQUIRE) == 0; k++)
			nanosleep(&step, NULL);
	assert_true(pids[0] != 0 && pids[1] != 0);
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int k = 0; k < 10000 && kill(pids[i], 0) == 0; k++)
			nanosleep(&step, NULL);
		assert_int_equal(kill(pids[i], 0), -1);
	}
	jobs_shared_free(pids, 2 * sizeof(*pids));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_update_needs_one_preemption),
		cmocka_unit_test(both_are_in_only_with_store_buffers),
		cmocka_unit_test(standing_still_is_a_decision),
		cmocka_unit_test(deaths_are_tried_after_every_change),
		cmocka_unit_test(no_outcome_is_lost_by_leaving_out_what_commutes),
		cmocka_unit_test(change_points_find_it_too_and_the_seed_replays_it),
		cmocka_unit_test(a_limit_ends_the_search_and_that_is_said),
		cmocka_unit_test(a_job_that_crashes_is_told),
		cmocka_unit_test(schedules_are_read_as_they_are_written),
		cmocka_unit_test(only_what_is_needed_is_left),
		cmocka_unit_test(tasks_are_done_once_on_any_number_of_jobs),
		cmocka_unit_test(jobs_end_with_the_process_that_began_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

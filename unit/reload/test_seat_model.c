/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats, leases and windows under every interleaving that a seed gives, with processes killed, stopped and continued. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

static struct world *w;

static int
setup(void **state)
{
	(void)state;
	w = aligned_alloc(64, sizeof(*w)); /* a multiple of 64, for it holds what is aligned so */
	return w == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(w);
	return 0;
}

/* Everybody who stands still goes on, a master is there: until all lanes are served again, at most ms. */
static bool
calm(uint64_t ms)
{
	uint64_t end = w->now_ns + ms * MODEL_MS;
	bool master = false;

	w->fault_ppm = 0;
	w->preempt_ppm = 0;
	w->reload_wanted = false;
	for (unsigned int i = 0; i < MODEL_PROCS; i++) {
		w->proc[i].stopped = false;
		master = master || (w->proc[i].used && !w->proc[i].worker && !w->proc[i].dying);
	}
	if (!master)
		world_master(w);
	while (w->now_ns < end && !w->two_owners && !w->bad_step && !world_settled(w))
		world_step(w);
	return world_settled(w);
}

static void
start(uint64_t seed)
{
	world_new(w, seed, 1 + seed % 3);
	world_master(w);
	world_run(w, 60);
	w->preempt_ppm = 150000;
	w->drain_ms = seed % 4 * 120;
}

static void
check(uint64_t seed, bool ok, const char *what)
{
	if (!ok)
		fail_msg("seed %llu: %s (window %016llx, lease %016llx)", (unsigned long long)seed, what,
			(unsigned long long)w->dir.window, (unsigned long long)w->dir.lane[0].lease);
}

/* REL-5, REL-13 */
static void
test_random_faults_never_two_owners_and_served_again(void **state)
{
	unsigned int commits = 0, rollbacks = 0, aborts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		start(seed);
		w->fault_ppm = 3000;
		w->faults = 1 + seed % 12;
		for (unsigned int i = 0; i < 3; i++) {
			w->reload_wanted = true;
			world_run(w, 250);
			if (prng_chance(&w->prng, 500000))
				world_master(w);
		}
		check(seed, !w->two_owners, "two owners");
		check(seed, !w->bad_step, "a step of the window that is not legal");
		check(seed, calm(5000), "a lane is not served");
		check(seed, !w->two_owners, "two owners in the calm");
		commits += w->commits;
		rollbacks += w->rollbacks;
		aborts += w->aborts;
		world_free(w);
	}
	/* the seeds reach what they are for */
	if (commits < 50 || rollbacks < 3 || aborts < 10)
		fail_msg("%u commits, %u roll-backs, %u aborts", commits, rollbacks, aborts);
}

/* REL-5, REL-12 */
static void
test_without_faults_every_reload_completes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		start(seed);
		for (unsigned int i = 0; i < 3; i++) {
			w->reload_wanted = true;
			world_run(w, 20);
			check(seed, calm(5000), "the reload did not end");
			w->preempt_ppm = 150000;
		}
		check(seed, w->commits == 3 && w->closes == 3 && w->aborts == 0 && w->rollbacks == 0, "not three reloads");
		check(seed, w->kills == 0, "somebody was killed");
		for (unsigned int l = 0; l < w->lanes; l++)
			if (w->gap_ns[l] >= MODEL_TIMEOUT_MS * MODEL_MS)
				fail_msg("seed %u: lane %u was nobody's for %u ms", (unsigned int)seed, l,
					(unsigned int)(w->gap_ns[l] / MODEL_MS));
		world_free(w);
	}
}

/* One process is killed or stopped for good, at any moment of a reload: after the time-out somebody takes over. */
static void
one_fault(uint64_t seed)
{
	start(seed);
	w->drain_ms = 150;
	w->reload_wanted = true;
	world_run(w, prng_below(&w->prng, 400));
	w->faults = 1;
	w->fault_ppm = 1000000;
	while (w->faults != 0)
		world_step(w);
	w->fault_ppm = 0;
	w->preempt_ppm = 50000;
	world_run(w, 1500);
	check(seed, !w->two_owners && !w->bad_step, "two owners");
	for (unsigned int l = 0; l < w->lanes; l++) {
		if (world_owner(w, l) == NULL || w->gap_ns[l] > (MODEL_TIMEOUT_MS + MODEL_RESPAWN_MS + 100) * MODEL_MS)
			fail_msg("seed %u: lane %u was nobody's for %u ms", (unsigned int)seed, l,
				(unsigned int)(w->gap_ns[l] / MODEL_MS));
	}
	world_free(w);
}

/* REL-13 */
static void
test_one_fault_leaves_no_lane_alone_for_longer_than_its_judgement(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++)
		one_fault(seed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_faults_every_reload_completes),
		cmocka_unit_test(test_one_fault_leaves_no_lane_alone_for_longer_than_its_judgement),
		cmocka_unit_test(test_random_faults_never_two_owners_and_served_again),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

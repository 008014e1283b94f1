/* SPDX-License-Identifier: BSD-3-Clause */
/* The master when something dies, stalls, lies or is late: every abort, every second stage, dead masters, a damaged directory. */
#include "masterbed.h"

static int
setup(void **state)
{
	*state = mbed_master(true);
	return 0;
}

static int
setup_bare(void **state)
{
	*state = mbed_new();
	return 0;
}

static int
teardown(void **state)
{
	mbed_free(*state);
	return 0;
}

static struct reload_status
status(struct mbed *b)
{
	struct reload_status st;

	reload_master_status(b->m, &st);
	return st;
}

/* The round has been aborted for this reason; its workers leave, the old ones have their lanes again: all is as before. */
static void
aborted(struct mbed *b, const char *reason)
{
	char line[200];

	snprintf(line, sizeof(line), "graceful reload aborted: %s (old generation untouched)\n", reason);
	assert_true(mbed_logged(b, line));
	assert_true(mbed_logged(b, "-> T_ERROR"));
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	assert_int_equal(mbed_window(b).state, WINDOW_ABORTED);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		struct lease l;

		if (b->child_gen[1][lane] == 3 && mbed_alive(b, 3, lane)) {
			assert_int_equal(gen_order(b->s, b->d, 3, lane), SEAT_ABORT);
			mbed_leave(b, 3, lane);
		}
		assert_int_equal(gen_lease(b->s, b->d, lane, &l), 0);
		if (l.state != LEASE_OWNED) {
			mbed_turn(b, 1);
			assert_int_equal(mbed_state(b), RELOAD_T_ERROR); /* not before every lane has its owner again */
			mbed_own(b, 2, lane);
		}
	}
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
	assert_int_equal(mbed_window(b).active, 2);
	assert_int_equal(status(b).aborts, 1);
	assert_false(status(b).last.complete);
	assert_string_equal(status(b).last.reason, reason);
	/* and the next reload is as good as any */
	for (unsigned int lane = 0; lane < LANES; lane++)
		if (!mbed_alive(b, 2, lane))
			mbed_turn(b, 2000);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_ready(b, 2, lane);
	mbed_log_clear(b);
	mbed_to(b, RELOAD_T0_IDLE);
	assert_int_equal(mbed_count(b, "graceful reload fsm:"), 6);
	assert_int_equal(mbed_window(b).active, 5);
}

/* REL-12, REL-13 (scenario 1) */
static void
test_new_worker_dies_before_ready(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_turn(b, 5);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN);
	mbed_die(b, 3, 1);
	mbed_turn(b, 5);
	assert_int_equal(mbed_window(b).active, 2);
	aborted(b, "a new worker exited before READY");
}

/* REL-4, REL-12 (scenario 2) */
static void
test_new_worker_dies_after_ready_before_the_flip(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_park(b, 2, 1);
	mbed_die(b, 3, 0);
	mbed_turn(b, 1);
	aborted(b, "a new worker exited right after READY");
}

/* The worker of lane 0 dies in the very turn that finds all of them READY, after it was looked at. */
static void
die_late(struct shim *s, enum mock_op op, void *arg)
{
	struct mbed *b = arg;
	struct window w;

	(void)s;
	(void)op;
	if (window_of(b->d->window, &w) == 0 && w.state == WINDOW_PARKING)
		mbed_die(b, 3, 0);
}

/* REL-4 */
static void
test_readiness_is_looked_at_again_after_the_order_to_park(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_ready(b, 3, 1);
	mock_hook(b->ms, MOCK_OP_proc_alive, die_late, b);
	mbed_turn(b, 0);
	mock_hook(b->ms, MOCK_OP_proc_alive, NULL, NULL);
	aborted(b, "a new worker exited right after READY");
}

/* REL-4 */
static void
test_ready_of_another_generation_or_process_does_not_count(void **state)
{
	struct mbed *b = *state;
	uint64_t pid0, pid1;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_sit(b, 3, 1);
	pid0 = b->child[1][0].pid;
	pid1 = b->child[1][1].pid;
	b->d->seat[1][1].ready = 5ull << 32 | pid1; /* scenario 19: of another round */
	mbed_turn(b, 5);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN);
	b->d->seat[1][1].ready = 3ull << 32; /* no process */
	b->d->seat[1][0].ready = 1ull << 32 | pid0;
	mbed_turn(b, 5);
	assert_int_not_equal(mbed_state(b), RELOAD_T2_HANDOVER);
}

/* REL-4 (scenario 21) */
static void
test_ready_of_this_generation_by_a_stranger_aborts(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_ready(b, 3, 1);
	b->d->seat[1][1].ready++;
	mbed_turn(b, 5);
	aborted(b, "a new worker exited before READY");
}

/* REL-4, REL-13 */
static void
test_a_stranger_in_a_new_seat_is_no_child(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_die(b, 3, 1);
	mbed_stranger(b, 3, 1);
	mbed_turn(b, 5);
	aborted(b, "a new worker exited before READY");
}

/* REL-4, REL-12 (scenario 20) */
static void
test_ready_never_arrives(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_turn(b, 999);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN);
	mbed_turn(b, 1);
	aborted(b, "READY wait timed out");
}

/* REL-12 (scenario 15) */
static void
test_a_new_worker_can_not_be_started(void **state)
{
	struct mbed *b = *state;

	b->fail_spawns = 1;
	b->fail_after = 1; /* the second one */
	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_turn(b, 1);
	aborted(b, "a new worker could not be started");
}

/* REL-5, REL-12 (scenario 17) */
static void
test_an_old_worker_never_parks(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_turn(b, 99);
	assert_int_equal(mbed_state(b), RELOAD_T2_HANDOVER);
	mbed_turn(b, 1);
	aborted(b, "G_old park confirmation timed out");
}

/* REL-5 */
static void
test_park_in_the_last_moment_is_a_flip(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_park(b, 2, 1);
	mbed_turn(b, 5000); /* the master itself stood still: what it finds is complete */
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	assert_int_equal(mbed_window(b).state, WINDOW_COMMITTED);
}

/* REL-5, REL-13 (scenarios 5, 6) */
static void
test_a_dead_old_worker_is_a_parked_one(void **state)
{
	struct mbed *b = *state;
	struct lease l;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_die(b, 2, 0);
	mbed_park(b, 2, 1);
	mbed_die(b, 2, 1);
	mbed_turn(b, 1);
	assert_true(mbed_logged(b, "T2_HANDOVER -> T3_DRAIN"));
	assert_int_equal(b->spawns, 2 * LANES); /* nobody is started again in the handover */
	/* its lane is free for the new worker: the lease is broken */
	assert_int_equal(gen_lease(b->s, b->d, 0, &l), 0);
	assert_int_equal(l.state, LEASE_PARKED);
	/* both are gone: nothing to wait for */
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).active, 3);
}

/* REL-13 */
static void
test_an_old_worker_that_dies_before_the_handover_is_started_again(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_die(b, 2, 1);
	mbed_turn(b, 1);
	assert_int_equal(b->spawns, 2 * LANES + 1);
	assert_int_equal(b->child_gen[0][1], 2);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN);
	mbed_ready(b, 3, 0);
	mbed_ready(b, 3, 1);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN); /* it could not park in time yet */
	mbed_ready(b, 2, 1);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T2_HANDOVER);
}

/* REL-12 */
static void
test_a_worker_ends_the_window_before_the_handover(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	mbed_window_set(b, WINDOW_ABORTED, 3, 2);
	mbed_turn(b, 5);
	aborted(b, "a worker ended the window");
}

/* REL-5, REL-12 (scenario 22) */
static void
test_a_worker_that_was_parked_for_too_long_ends_the_window(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_window_set(b, WINDOW_ABORTED, 3, 2);
	mbed_park(b, 2, 1);
	mbed_turn(b, 5);
	aborted(b, "rx ownership flip failed");
}

static void
abort_at_swap(struct shim *s, enum mock_op op, void *arg)
{
	struct mbed *b = arg;

	(void)op;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	mbed_window_set(b, WINDOW_ABORTED, 3, 2);
}

/* REL-5, REL-12 */
static void
test_the_flip_is_lost_by_a_hair(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_park(b, 2, 1);
	mock_hook(b->ms, MOCK_OP_cas, abort_at_swap, b);
	mbed_turn(b, 1);
	aborted(b, "rx ownership flip failed");
}

/* A worker rolls back while this state lasts: the new generation ends, the old one serves. */
static void
rolled_back(enum reload_state at)
{
	struct mbed *b = mbed_master(true);

	mbed_to(b, at);
	mbed_window_set(b, WINDOW_ROLLBACK, 3, 2);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	assert_true(mbed_logged(b, "graceful reload aborted: new generation stalled: old generation reclaimed rx (old generation "
		"serving again)"));
	assert_int_equal(gen_order(b->s, b->d, 3, 0), SEAT_ABORT);
	mbed_leave(b, 3, 0);
	mbed_leave(b, 3, 1);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	mbed_own(b, 2, 0);
	mbed_own(b, 2, 1);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).active, 2);
	assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
	assert_true(status(b).last.reclaimed);
	assert_int_equal(b->spawns, 2 * LANES);
	mbed_free(b);
}

/* REL-12, REL-13 (scenarios 4, 22) */
static void
test_an_old_worker_takes_its_lane_back(void **state)
{
	(void)state;
	rolled_back(RELOAD_T3_DRAIN);
	rolled_back(RELOAD_T5_GOLD_QUIT); /* impossible after RETIRING, and yet survived */
}

static void
roll_back_at_swap(struct shim *s, enum mock_op op, void *arg)
{
	struct mbed *b = arg;

	(void)op;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	mbed_window_set(b, WINDOW_ROLLBACK, 3, 2);
}

/* REL-13 */
static void
test_a_roll_back_that_beats_the_quit_order(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_report(b, 2, 0, 0, 0);
	mbed_report(b, 2, 1, 0, 0);
	mock_hook(b->ms, MOCK_OP_cas, roll_back_at_swap, b); /* COMMITTED -> RETIRING is lost */
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	assert_true(mbed_logged(b, "T5_GOLD_QUIT -> T_ERROR"));
	assert_int_equal(mbed_window(b).state, WINDOW_ROLLBACK);
	assert_int_equal(gen_order(b->s, b->d, 2, 0), SEAT_SERVE);
}

/* REL-13 */
static void
test_an_old_worker_retires_by_itself(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_window_set(b, WINDOW_RETIRING, 3, 2);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T5_GOLD_QUIT);
	mbed_leave(b, 2, 0);
	mbed_leave(b, 2, 1);
	mbed_window_set(b, WINDOW_CLOSED, 3, 3); /* and a new one closes by itself */
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_true(status(b).last.complete && status(b).last.forced);
	assert_int_equal(status(b).active, 3);
}

/* REL-13 */
static void
test_old_workers_that_do_not_leave_are_killed(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T5_GOLD_QUIT);
	mbed_turn(b, 299);
	assert_true(mbed_alive(b, 2, 0) && mbed_alive(b, 2, 1));
	mbed_turn(b, 1);
	assert_false(mbed_alive(b, 2, 0) || mbed_alive(b, 2, 1));
	assert_true(mbed_alive(b, 3, 0) && mbed_alive(b, 3, 1));
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).active, 3);
}

/* REL-13 */
static void
test_one_that_can_not_be_killed_is_tried_again(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T5_GOLD_QUIT);
	mock_fail_all(b->s, MOCK_OP_proc_kill, EPERM);
	mbed_turn(b, 300);
	assert_true(mbed_logged(b, "does not leave: Operation not permitted"));
	mock_fail_all(b->s, MOCK_OP_proc_kill, 0);
	mbed_turn(b, 299);
	assert_true(mbed_alive(b, 2, 0));
	mbed_turn(b, 1);
	assert_false(mbed_alive(b, 2, 0));
}

/* REL-12, REL-13 */
static void
test_new_workers_that_do_not_leave_are_killed(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_turn(b, 100);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	mbed_turn(b, 499);
	assert_true(mbed_alive(b, 3, 0) && mbed_alive(b, 3, 1));
	mbed_turn(b, 1);
	assert_false(mbed_alive(b, 3, 0) || mbed_alive(b, 3, 1));
	assert_true(mbed_alive(b, 2, 0) && mbed_alive(b, 2, 1));
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
}

/* REL-13 */
static void
test_a_parked_worker_that_beats_and_does_not_resume_is_killed(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_turn(b, 100);
	mbed_leave(b, 3, 0);
	mbed_leave(b, 3, 1);
	for (unsigned int i = 0; i < 499; i++) {
		b->d->seat[0][0].heartbeat++;
		mbed_turn(b, 1);
	}
	assert_true(mbed_alive(b, 2, 0));
	mbed_turn(b, 1);
	assert_false(mbed_alive(b, 2, 0));
	assert_true(mbed_alive(b, 2, 1));
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_true(mbed_alive(b, 2, 0)); /* started again: it lived long before */
	assert_int_equal(b->spawns, 2 * LANES + 1);
}

/* REL-7, REL-13 */
static void
test_a_parked_worker_that_stands_still_is_killed_after_the_heartbeat_time(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	for (unsigned int i = 0; i < 100; i++)
		mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	for (unsigned int i = 0; i < 310; i++) {
		b->d->seat[0][1].heartbeat++; /* the one of lane 1 has its lane, still or not */
		mbed_turn(b, 1);
	}
	assert_false(mbed_alive(b, 2, 0) && b->child[0][0].pid == 5000);
	assert_true(mbed_logged(b, "stands still: killed"));
	assert_true(mbed_alive(b, 2, 1));
}

/* REL-13 (scenario 24) */
static void
test_a_machine_that_was_suspended_kills_nobody(void **state)
{
	struct mbed *b = *state;

	b->c.limits.abort = 100000;
	reload_master_destroy(b->m);
	b->m = NULL;
	assert_int_equal(mbed_create(b), 0);
	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_turn(b, 100);
	for (unsigned int i = 0; i < 2; i++)
		mbed_turn(b, 10000); /* two looks are no proof, whatever they find */
	assert_true(mbed_alive(b, 2, 0));
	mbed_turn(b, 10000);
	assert_false(mbed_alive(b, 2, 0) && b->child[0][0].pid == 5000);
}

/* REL-13 (scenario 4) */
static void
test_new_worker_dead_after_the_flip_and_nobody_to_take_back(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_turn(b, 3000);
	mbed_die(b, 2, 0);
	mbed_die(b, 3, 0);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN); /* lane 1 has flows in the old generation */
	assert_int_equal(b->spawns, 2 * LANES + 1);
	assert_int_equal(b->child_gen[1][0], 3);
}

/* REL-13 (scenario 4) */
static void
test_new_worker_dead_after_the_flip_is_left_to_the_old_one_first(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_turn(b, 3000);
	mbed_die(b, 3, 0);
	mbed_turn(b, 1);
	mbed_turn(b, 398);
	assert_int_equal(b->spawns, 2 * LANES);
	mbed_turn(b, 2); /* the old one does nothing for the heartbeat time-out */
	assert_int_equal(b->spawns, 2 * LANES + 1);
	assert_int_equal(b->child_gen[1][0], 3);
}

/* REL-13 */
static void
test_new_worker_dead_while_the_old_ones_leave(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T5_GOLD_QUIT);
	mbed_turn(b, 200);
	mbed_turn(b, 1);
	mbed_die(b, 3, 1);
	mbed_turn(b, 1);
	mbed_turn(b, 100);
	assert_int_equal(b->child_gen[1][1], 3);
	assert_int_equal(b->spawns, 2 * LANES + 1);
	assert_int_equal(mbed_window(b).state, WINDOW_RETIRING);
}

/* REL-13: an error of the question is no death. */
static void
test_a_worker_that_can_not_be_asked_about_is_alive(void **state)
{
	struct mbed *b = *state;

	mock_fail_all(b->s, MOCK_OP_proc_alive, EMFILE);
	mbed_turn(b, 100);
	assert_int_equal(status(b).live[0], LANES);
	assert_int_equal(b->spawns, LANES);
	mock_fail_all(b->s, MOCK_OP_proc_alive, 0);
}

/* ---- a dead master ---- */

/* Two generations as a dead master left them; the new one sees the window. */
static struct mbed *
left_behind(enum window_state state, bool with_new)
{
	struct mbed *b = mbed_new();

	b->d->next_gen = 4;
	mbed_window_set(b, state, 3, state == WINDOW_CLOSED ? 3 : 2);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		uint32_t owner = state == WINDOW_COMMITTED || state == WINDOW_RETIRING || state == WINDOW_CLOSED ? 3 : 2;

		if (state != WINDOW_CLOSED)
			mbed_stranger(b, 2, lane);
		if (with_new || state == WINDOW_CLOSED)
			mbed_stranger(b, 3, lane);
		b->d->lane[lane].lease = lease_word((struct lease){ .state = LEASE_OWNED, .gen = owner, .fence = 9 });
	}
	mock_proc_set(b->s, (struct shim_proc){ .pid = 444, .start_time = 4 }, false);
	b->d->master[0].claim = ctl_proc_word(&(struct shim_proc){ .pid = 444, .start_time = 4 });
	assert_int_equal(mbed_create(b), 0);
	return b;
}

/* From here an ordinary reload replaces generation old by gen. */
static void
replaced(struct mbed *b, uint32_t old, uint32_t gen)
{
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN);
	assert_int_equal(b->checks, 1);
	assert_int_equal(mbed_window(b).wid, gen);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_ready(b, gen, lane);
	mbed_turn(b, 1);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_park(b, old, lane);
	mbed_turn(b, 1);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_report(b, old, lane, 0, 0);
	mbed_turn(b, 1);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_leave(b, old, lane);
	mbed_turn(b, 1);
	assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
	assert_int_equal(mbed_window(b).active, gen);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(b->spawns, LANES);
}

/* REL-13 (scenario 10: T0) */
static void
test_a_new_master_replaces_the_workers_of_a_dead_one(void **state)
{
	struct mbed *b = left_behind(WINDOW_CLOSED, false);

	(void)state;
	assert_int_equal(status(b).live[1], LANES);
	replaced(b, 3, 4);
	mbed_free(b);
}

/* REL-12, REL-13 (scenario 10: T1, T2, and both ways back) */
static void
test_a_new_master_ends_what_a_dead_one_did_not_flip(void **state)
{
	static const enum window_state at[] = { WINDOW_OPEN, WINDOW_PARKING, WINDOW_ABORTED, WINDOW_ROLLBACK };

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct mbed *b = left_behind(at[i % 4], i / 4);

		mbed_turn(b, 1);
		if (i / 4) {
			assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
			assert_int_equal(mbed_window(b).state, at[i % 4] == WINDOW_ROLLBACK ? WINDOW_ROLLBACK : WINDOW_ABORTED);
			assert_int_equal(gen_order(b->s, b->d, 3, 0), SEAT_ABORT);
			mbed_leave(b, 3, 0);
			mbed_leave(b, 3, 1);
			mbed_turn(b, 1);
		}
		assert_int_equal(mbed_window(b).active, 2);
		assert_int_equal(b->spawns, LANES); /* those of the round that replaces them, begun in the same turn */
		assert_int_equal(mbed_window(b).wid, 5);
		replaced(b, 2, 5);
		mbed_free(b);
	}
}

/* REL-13 (scenario 10: T3, T5) */
static void
test_a_new_master_completes_what_a_dead_one_flipped(void **state)
{
	static const enum window_state at[] = { WINDOW_COMMITTED, WINDOW_RETIRING };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mbed *b = left_behind(at[i], true);

		mbed_turn(b, 1);
		assert_int_equal(mbed_state(b), i == 0 ? RELOAD_T3_DRAIN : RELOAD_T5_GOLD_QUIT);
		for (unsigned int lane = 0; lane < LANES; lane++)
			mbed_leave(b, 2, lane);
		mbed_turn(b, 1);
		assert_int_equal(b->d->master[0].gen, 3);
		assert_int_equal(mbed_window(b).active, 3);
		replaced(b, 3, 4);
		mbed_free(b);
	}
}

/* REL-13: nobody at all is left, whatever the window says. */
static void
test_a_new_master_after_the_death_of_all(void **state)
{
	(void)state;
	for (unsigned int s = WINDOW_CLOSED; s < WINDOW_STATES; s++) {
		struct mbed *b = left_behind(s, true);
		uint32_t active;

		for (unsigned int lane = 0; lane < LANES; lane++) {
			if (s != WINDOW_CLOSED)
				mbed_die(b, 2, lane);
			mbed_die(b, 3, lane);
		}
		mbed_turn(b, 1);
		mbed_turn(b, 200);
		assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
		active = mbed_window(b).active;
		assert_int_equal(active, s == WINDOW_CLOSED || s == WINDOW_COMMITTED || s == WINDOW_RETIRING ? 3 : 2);
		assert_int_equal(b->spawns, LANES);
		assert_int_equal(b->child_gen[gen_side(active)][0], active);
		mbed_free(b);
	}
}

/* PAR-3, REL-13 */
static void
test_a_new_master_ends_a_generation_that_belongs_to_no_window(void **state)
{
	struct mbed *b = *state;

	b->d->next_gen = 4;
	mbed_window_set(b, WINDOW_CLOSED, 3, 2);
	mbed_stranger(b, 3, 0);
	assert_int_equal(mbed_create(b), 0);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	assert_int_equal(gen_order(b->s, b->d, 3, 0), SEAT_ABORT);
	mbed_turn(b, 500);
	assert_false(mbed_alive(b, 3, 0));
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).active, 2);
}

/* REL-1: what the check refuses stays as it is, and is not asked again and again. */
static void
test_a_replacement_that_the_check_refuses(void **state)
{
	struct mbed *b = left_behind(WINDOW_CLOSED, false);

	(void)state;
	b->check_rc = -EXDEV;
	mbed_turn(b, 1);
	mbed_turn(b, 1);
	assert_int_equal(b->checks, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).active, 3);
	assert_int_equal(b->spawns, 0);
	mbed_free(b);
}

/* ---- a damaged directory ---- */

/* REL-12 */
static void
test_an_impossible_window_word_is_put_back(void **state)
{
	static const enum reload_state at[] = { RELOAD_T1_GNEW_SPAWN, RELOAD_T2_HANDOVER, RELOAD_T3_DRAIN,
		RELOAD_T5_GOLD_QUIT };

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct mbed *b = mbed_master(true);
		struct window w;

		mbed_to(b, at[i]);
		w = mbed_window(b);
		b->d->window = 0xffffffffffffffffull;
		mbed_turn(b, 1);
		assert_true(mbed_logged(b, "window word ffffffffffffffff is impossible"));
		assert_int_equal(b->d->window, window_word(w));
		assert_int_equal(mbed_state(b), at[i]);
		mbed_free(b);
	}
}

static void
damage_at_swap(struct shim *s, enum mock_op op, void *arg)
{
	struct mbed *b = arg;

	(void)op;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	b->d->window = 9;
}

/* REL-5, REL-12 */
static void
test_a_window_that_is_damaged_at_the_flip_aborts(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	mbed_park(b, 2, 1);
	mock_hook(b->ms, MOCK_OP_cas, damage_at_swap, b);
	mbed_turn(b, 1);
	aborted(b, "rx ownership flip failed");
}

/* REL-5 */
static void
test_an_impossible_lease_is_not_a_parked_lane(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_park(b, 2, 0);
	b->d->lane[1].lease = 3;
	mbed_turn(b, 50);
	assert_int_equal(mbed_state(b), RELOAD_T2_HANDOVER);
	mbed_turn(b, 50);
	assert_int_equal(mbed_state(b), RELOAD_T_ERROR);
	assert_true(mbed_logged(b, "G_old park confirmation timed out"));
}

/* Any byte of the directory may be anything at any time; a turn ends, and only workers are ended. */
static void
fuzz(struct mbed *b, uint64_t seed)
{
	for (unsigned int i = 0; i < 3000; i++) {
		uint8_t *bytes = (uint8_t *)b->d;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		if (seed >> 60 < 6)
			bytes[(seed >> 20) % sizeof(*b->d)] = (uint8_t)(seed >> 40);
		if (seed >> 60 == 7)
			reload_master_hup(b->m, (char[200]){ 0 }, 200);
		if (seed >> 60 == 8)
			mbed_die(b, 2 + (seed >> 33) % 2, (seed >> 34) % LANES);
		if (seed >> 60 == 9) {
			unsigned int side = (seed >> 33) % 2, lane = (seed >> 34) % LANES;

			b->d->seat[side][lane].ready = (uint64_t)b->child_gen[side][lane] << 32 | b->child[side][lane].pid;
		}
		if (seed >> 60 == 10)
			b->d->lane[(seed >> 33) % LANES].lease = lease_word((struct lease){ .state = (seed >> 35) % 3,
				.gen = b->child_gen[(seed >> 37) % 2][0] });
		if (seed >> 60 == 11)
			mbed_window_set(b, (seed >> 33) % WINDOW_STATES, 3 + (seed >> 40) % 3, 2 + (seed >> 50) % 2);
		mbed_turn(b, (seed >> 55) % 64);
	}
}

/* REL-2, REL-13 */
static void
test_any_byte_of_the_directory_may_be_anything(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct mbed *b = mbed_master(true);

		fuzz(b, seed);
		/* and a stop still ends everything */
		reload_master_stop(b->m, false);
		for (unsigned int i = 0; i < 10000 && !reload_master_stopped(b->m); i++)
			mbed_turn(b, 100);
		assert_true(reload_master_stopped(b->m));
		mbed_free(b);
	}
}

int
main(void)
{
#define SERVING(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		SERVING(test_new_worker_dies_before_ready),
		SERVING(test_new_worker_dies_after_ready_before_the_flip),
		SERVING(test_readiness_is_looked_at_again_after_the_order_to_park),
		SERVING(test_ready_of_another_generation_or_process_does_not_count),
		SERVING(test_ready_of_this_generation_by_a_stranger_aborts),
		SERVING(test_a_stranger_in_a_new_seat_is_no_child),
		SERVING(test_ready_never_arrives),
		SERVING(test_a_new_worker_can_not_be_started),
		SERVING(test_an_old_worker_never_parks),
		SERVING(test_park_in_the_last_moment_is_a_flip),
		SERVING(test_a_dead_old_worker_is_a_parked_one),
		SERVING(test_an_old_worker_that_dies_before_the_handover_is_started_again),
		SERVING(test_a_worker_ends_the_window_before_the_handover),
		SERVING(test_a_worker_that_was_parked_for_too_long_ends_the_window),
		SERVING(test_the_flip_is_lost_by_a_hair),
		cmocka_unit_test(test_an_old_worker_takes_its_lane_back),
		SERVING(test_a_roll_back_that_beats_the_quit_order),
		SERVING(test_an_old_worker_retires_by_itself),
		SERVING(test_old_workers_that_do_not_leave_are_killed),
		SERVING(test_one_that_can_not_be_killed_is_tried_again),
		SERVING(test_new_workers_that_do_not_leave_are_killed),
		SERVING(test_a_parked_worker_that_beats_and_does_not_resume_is_killed),
		SERVING(test_a_parked_worker_that_stands_still_is_killed_after_the_heartbeat_time),
		SERVING(test_a_machine_that_was_suspended_kills_nobody),
		SERVING(test_new_worker_dead_after_the_flip_and_nobody_to_take_back),
		SERVING(test_new_worker_dead_after_the_flip_is_left_to_the_old_one_first),
		SERVING(test_new_worker_dead_while_the_old_ones_leave),
		SERVING(test_a_worker_that_can_not_be_asked_about_is_alive),
		cmocka_unit_test(test_a_new_master_replaces_the_workers_of_a_dead_one),
		cmocka_unit_test(test_a_new_master_ends_what_a_dead_one_did_not_flip),
		cmocka_unit_test(test_a_new_master_completes_what_a_dead_one_flipped),
		cmocka_unit_test(test_a_new_master_after_the_death_of_all),
		cmocka_unit_test_setup_teardown(test_a_new_master_ends_a_generation_that_belongs_to_no_window, setup_bare, teardown),
		cmocka_unit_test(test_a_replacement_that_the_check_refuses),
		cmocka_unit_test(test_an_impossible_window_word_is_put_back),
		SERVING(test_a_window_that_is_damaged_at_the_flip_aborts),
		SERVING(test_an_impossible_lease_is_not_a_parked_lane),
		cmocka_unit_test(test_any_byte_of_the_directory_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

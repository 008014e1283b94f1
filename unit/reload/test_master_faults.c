/* SPDX-License-Identifier: BSD-3-Clause */
/* The master when something dies, stalls, lies or is late: every abort, every second stage. */
#include "masterbed.h"

static int
setup(void **state)
{
	*state = mbed_master(true);
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
		SERVING(test_a_window_that_is_damaged_at_the_flip_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

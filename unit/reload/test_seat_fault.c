/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's seat when others die, stand still or come back, at every state of the window. */
#include "seat_fixture.h"

static void
park(void)
{
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	sf_run(3, NULL);
}

static void
commit(void)
{
	park();
	sf_step(WINDOW_COMMITTED);
	sf_run(3, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
}

/* ---- the master dies ---- */

/* REL-12, REL-13, REL-17 */
static void
test_without_a_master_an_open_window_is_aborted_and_closed(void **state)
{
	unsigned int old = 0, new;

	(void)state;
	/* section 8, line 10 at T1; line 11 */
	sf_run(30, NULL);
	sf_master_kill();
	new = sf_run(60, sf_new);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
	assert_true((new & SEAT_DO_EXIT) != 0);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	sf_new->off = true;
	seat_release(&sf_new->st);
	old |= sf_run(60, sf_old);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
	sf_new1->off = true;
	seat_release(&sf_new1->st);
	old |= sf_run(60, sf_old);
	assert_int_equal(sf_window().state, WINDOW_CLOSED);
	assert_int_equal(sf_window().active, 2);
	assert_true((old & SEAT_DO_PEER_GONE) != 0);
}

/* REL-12, REL-13, REL-17 */
static void
test_without_a_master_parked_lanes_are_taken_back(void **state)
{
	uint64_t parked;

	(void)state;
	/* section 8, line 10 at T2 */
	park();
	parked = sf.now_ns;
	sf_master_kill();
	while (sf_old->st.role != SEAT_ROLE_OWNER || sf_old1->st.role != SEAT_ROLE_OWNER)
		sf_run(1, NULL);
	assert_true(sf.now_ns - parked <= 60000000);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
}

/* REL-13 */
static void
test_a_master_that_left_its_slot_is_no_master(void **state)
{
	(void)state;
	park();
	gen_master_release(sf.master, sf.d, sf.slot);
	sf_run(60, NULL);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
}

/* REL-13, REL-17 */
static void
test_a_new_master_in_another_slot_takes_the_dead_ones_place(void **state)
{
	struct shim_proc p = shim_self(sf.s);

	(void)state;
	sf_run(30, NULL);
	sf_master_kill();
	sf.d->master[2].claim = ctl_proc_word(&p);
	sf_run(100, NULL);
	assert_int_equal(sf_window().state, WINDOW_OPEN);
	assert_int_equal(sf_old->st.master_slot, 2);
	mock_proc_set(sf.s, p, false);
	sf_run(100, NULL);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
	mock_proc_set(sf.s, p, true);
}

/* REL-12, REL-13 */
static void
test_who_has_to_go_ends_nobody_who_stays(void **state)
{
	(void)state;
	sf_run(30, NULL);
	sf_step(WINDOW_ABORTED);
	sf_master_kill();
	sf_old->off = true;
	sf_run(3 * SF_TIMEOUT_MS, NULL); /* the new one has not left, though it should have */
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 0);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
}

/* REL-5, REL-13, REL-17 */
static void
test_a_lane_parked_for_the_time_out_is_taken_back_whatever_the_master_does(void **state)
{
	(void)state;
	/* section 8, line 10: a master that stands still at T2 */
	park();
	sf.beats = false;
	sf_run(SF_TIMEOUT_MS - 20, NULL);
	assert_int_equal(sf_window().state, WINDOW_PARKING);
	/* a machine that was suspended: nobody waited */
	sf.now_ns += 30000000000ull;
	sf_run(1, NULL);
	assert_int_equal(sf_window().state, WINDOW_PARKING);
	sf_run(30, NULL);
	assert_int_equal(sf_window().state, WINDOW_ABORTED);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* The master commits between the worker's look at the window and its abort. */
static void
commits(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	sf_step(WINDOW_COMMITTED);
}

/* REL-5, REL-12 */
static void
test_of_commit_and_abort_one_wins_and_everybody_follows_it(void **state)
{
	(void)state;
	park();
	sf_run(SF_TIMEOUT_MS - 5, NULL);
	sf.beats = false;
	while (sf_window().state == WINDOW_PARKING) {
		sf.now_ns += 1000000;
		mock_hook(sf.s, MOCK_OP_cas, commits, NULL);
		sf_turn(sf_old);
	}
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	mock_hook(sf.s, MOCK_OP_cas, NULL, NULL);
	sf_turn(sf_new);
	sf_turn(sf_new1);
	sf_run(3, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
}

/* REL-8, REL-13, REL-17 */
static void
test_without_a_master_the_drain_ends_by_itself_and_the_window_too(void **state)
{
	uint64_t began;

	(void)state;
	/* section 8, lines 10 (T3 to T5) and 12 */
	commit();
	began = sf.now_ns;
	sf_master_kill();
	sf_run(SF_SHUTDOWN_MS - 100, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	sf_run(120, NULL);
	assert_int_equal(sf_window().state, WINDOW_RETIRING);
	assert_true(sf.now_ns - began < (SF_SHUTDOWN_MS + 100) * 1000000ull);
	assert_true(sf_old->st.handing && sf_old1->st.handing);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(seat_may_leave(&sf.w[i].st, sf.now_ns));
		sf.w[i].off = true;
		seat_release(&sf.w[i].st);
	}
	sf_run(60, NULL);
	assert_int_equal(sf_window().state, WINDOW_CLOSED);
	assert_int_equal(sf_window().active, 3);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
}

/* REL-8, REL-13 */
static void
test_a_master_that_beats_ends_the_drain_itself(void **state)
{
	(void)state;
	commit();
	sf_run(2 * SF_SHUTDOWN_MS, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	/* one that stands still does not */
	sf.beats = false;
	sf_run(SF_TIMEOUT_MS + 50, NULL);
	assert_int_equal(sf_window().state, WINDOW_RETIRING);
}

/* REL-13 */
static void
test_without_a_master_an_old_worker_that_stands_still_is_ended_by_the_new_one(void **state)
{
	(void)state;
	commit();
	sf_master_kill();
	sf_old->off = sf_old1->off = true; /* stopped, both: nobody of the old generation acts */
	sf_run(SF_SHUTDOWN_MS + 100, NULL);
	assert_int_equal(sf_window().state, WINDOW_CLOSED);
	assert_int_equal(sf_window().active, 3);
	assert_int_equal(gen_side_alive(sf.s, sf.d, 0), 0);
}

/* ---- the new owner dies or stands still ---- */

/* REL-13, REL-17 */
static void
test_a_dead_new_owner_is_rolled_back_by_its_old_worker(void **state)
{
	unsigned int old;
	uint64_t died;

	(void)state;
	/* section 8, line 4 */
	commit();
	sf_run(100, NULL);
	sf_kill(sf_new);
	died = sf.now_ns;
	old = 0;
	while (sf_old->st.role != SEAT_ROLE_OWNER)
		old |= sf_run(1, sf_old);
	assert_true(sf.now_ns - died <= 50000000);
	assert_true((old & (SEAT_DO_TOOK | SEAT_DO_CLOSE | SEAT_DO_PEER_GONE)) ==
		(SEAT_DO_TOOK | SEAT_DO_CLOSE | SEAT_DO_PEER_GONE));
	assert_int_equal(sf_window().state, WINDOW_ROLLBACK);
	/* the other lane goes back in good order */
	assert_true((sf_run(3, sf_new1) & SEAT_DO_EXIT) != 0);
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_new1->st.role, SEAT_ROLE_DRAIN);
	assert_false(seat_dispatching(&sf_old->st));
}

/* REL-13: the old worker looked when nobody sat there yet; by the flip there is somebody */
static void
test_a_look_from_before_the_flip_condemns_nobody(void **state)
{
	struct sf_worker *late;

	(void)state;
	seat_release(&sf_new->st);
	sf_new->off = true;
	sf_run(2 * SEAT_LOOK_NS / 1000000, NULL);
	while (sf_old->st.look_ns - sf.now_ns < SEAT_LOOK_NS - 2000000)
		sf_run(1, NULL);
	late = sf_sit(0, 3, NULL);
	seat_ready(&late->st);
	sf_step(WINDOW_PARKING);
	sf_run(1, NULL);
	sf_step(WINDOW_COMMITTED);
	sf_run(100, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	assert_int_equal(late->st.role, SEAT_ROLE_OWNER);
}

/* REL-7, REL-13, REL-17 */
static void
test_a_new_owner_that_stands_still_is_rolled_back_and_killed_before_its_lane_is_taken(void **state)
{
	(void)state;
	/* section 8, lines 16, 22 and 25: the heartbeat decides, not the pid */
	commit();
	sf_run(100, NULL);
	sf_new->off = true;
	sf_run(SF_TIMEOUT_MS - 50, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	mock_return(sf.s, MOCK_OP_proc_kill, 0); /* killed, and yet there for a while */
	sf_run(100, NULL);
	assert_int_equal(sf_window().state, WINDOW_ROLLBACK);
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 1);
	sf_run(2000, NULL);
	assert_int_not_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_lease(0).gen, 3);
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 1);
	sf_kill(sf_new);
	sf_run(30, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* REL-13 */
static void
test_a_new_owner_that_comes_back_in_time_lets_go_by_itself(void **state)
{
	(void)state;
	commit();
	sf_run(100, NULL);
	sf_new->off = true;
	while (sf_window().state == WINDOW_COMMITTED)
		sf_run(1, NULL);
	sf_new->off = false;
	sf_turn(sf_new);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
	sf_run(1, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 0);
}

/* REL-13 */
static void
test_one_that_can_not_be_killed_keeps_its_lane_and_is_told_of_once(void **state)
{
	(void)state;
	commit();
	sf_new->off = true;
	mock_fail_all(sf.s, MOCK_OP_proc_kill, EPERM);
	sf_run(3 * SF_TIMEOUT_MS, NULL);
	assert_int_equal(sf_window().state, WINDOW_ROLLBACK);
	assert_int_equal(sf_lease(0).gen, 3);
	assert_int_not_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(mock_messages(sf.s, SHIM_LOG_ALERT), 1);
	mock_fail_all(sf.s, MOCK_OP_proc_kill, 0);
}

/* REL-13, REL-17 */
static void
test_a_new_worker_that_never_takes_its_lane_is_rolled_back_in_time(void **state)
{
	(void)state;
	/* dies, or stands still, after the parks (section 8, line 3) and the window is committed all the same */
	park();
	sf_new->off = true;
	sf_step(WINDOW_COMMITTED);
	sf_run(SF_TIMEOUT_MS + 30, NULL);
	assert_int_equal(sf_window().state, WINDOW_ROLLBACK);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
}

/* REL-13 */
static void
test_a_new_worker_that_beats_but_does_not_take_its_lane_is_rolled_back_too(void **state)
{
	(void)state;
	park();
	sf_new->off = true;
	sf_step(WINDOW_COMMITTED);
	for (unsigned int i = 0; i < SF_TIMEOUT_MS + 30; i++) {
		seat_beat(&sf_new->st);
		sf_run(1, NULL);
	}
	assert_int_equal(sf_window().state, WINDOW_ROLLBACK);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* REL-13 */
static void
test_once_the_old_generation_retires_there_is_no_way_back(void **state)
{
	(void)state;
	commit();
	sf_step(WINDOW_RETIRING);
	sf_run(3, NULL);
	sf_kill(sf_new);
	sf_run(SF_TIMEOUT_MS + 100, NULL);
	assert_int_equal(sf_window().state, WINDOW_RETIRING);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
	/* the successor of the new one takes the lane as it was */
	sf_run(1, sf_sit(0, 3, NULL));
	assert_int_equal(sf.w[4].st.role, SEAT_ROLE_OWNER);
}

/* The master retires the old generation between the old worker's verdict and its swap. */
static void
retires(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	sf_step(WINDOW_RETIRING);
}

/* REL-13 */
static void
test_of_roll_back_and_retiring_one_wins(void **state)
{
	(void)state;
	commit();
	sf_run(50, NULL);
	sf_kill(sf_new);
	sf_new1->off = true;
	mock_hook(sf.s, MOCK_OP_cas, retires, NULL);
	sf_run(60, NULL);
	assert_int_equal(sf_window().state, WINDOW_RETIRING);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
	assert_true(sf_old->st.handing);
}

/* REL-13 */
static void
test_a_worker_that_was_told_to_quit_rolls_nothing_back(void **state)
{
	(void)state;
	commit();
	gen_order_set(sf.s, sf.d, 2, 0, SEAT_QUIT);
	sf_run(2, NULL);
	sf_kill(sf_new);
	sf_run(100, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
}

/* ---- the old one dies or stands still ---- */

/* REL-5, REL-13, REL-17 */
static void
test_an_old_worker_that_died_before_the_park_is_taken_over_from_after_the_flip(void **state)
{
	(void)state;
	/* section 8, lines 5 and 6 */
	sf_run(3, NULL);
	sf_kill(sf_old);
	park();
	sf_kill(sf_old1); /* after its acknowledgement */
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	assert_int_equal(sf_lease(1).state, LEASE_PARKED);
	sf_run(50, NULL);
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	sf_step(WINDOW_COMMITTED);
	sf_run(50, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_new1->st.role, SEAT_ROLE_OWNER);
	assert_false(seat_dispatching(&sf_new->st));
}

/* REL-13, REL-17 */
static void
test_an_old_worker_that_dies_in_the_drain_is_told_of_within_two_looks(void **state)
{
	unsigned int ms = 0;

	(void)state;
	/* section 8, line 7 */
	commit();
	sf_run(100, NULL);
	sf_kill(sf_old);
	while ((sf_run(1, sf_new) & SEAT_DO_PEER_GONE) == 0)
		ms++;
	assert_true(ms <= 45);
	assert_false(seat_dispatching(&sf_new->st));
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	/* its successor drains nothing, but it may be there; when it goes, that is told again */
	sf_sit(0, 2, NULL);
	sf_run(50, NULL);
	assert_int_equal(sf.w[4].st.role, SEAT_ROLE_WAIT);
	sf_kill(&sf.w[4]);
	assert_true((sf_run(50, sf_new) & SEAT_DO_PEER_GONE) != 0);
}

/* REL-13, REL-17 */
static void
test_a_slow_old_worker_is_never_killed_while_its_master_lives(void **state)
{
	(void)state;
	/* section 8, line 17: five seconds in one call, before the park and in the drain */
	sf_run(3, NULL);
	sf_old->off = true;
	sf_step(WINDOW_PARKING);
	sf_run(SF_TIMEOUT_MS - 50, NULL);
	sf_step(WINDOW_ABORTED);
	sf_run(5000, NULL);
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 0);
	sf_old->off = false;
	sf_run(2, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* REL-5, REL-13 */
static void
test_a_respawned_old_owner_that_stands_still_on_its_lane_is_killed_for_the_new_one(void **state)
{
	struct sf_worker *again;

	(void)state;
	sf_run(3, NULL);
	sf_kill(sf_old);
	again = sf_sit(0, 2, NULL);
	sf_run(3, NULL);
	assert_int_equal(again->st.role, SEAT_ROLE_OWNER);
	again->off = true;
	sf_step(WINDOW_PARKING);
	sf_step(WINDOW_COMMITTED); /* a master that judged it dead a moment ago */
	sf_run(SF_TIMEOUT_MS - 40, NULL);
	assert_int_equal(sf_lease(0).gen, 2);
	sf_run(100, NULL);
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 1);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
}

/* REL-13 */
static void
test_in_a_roll_back_a_lane_without_old_worker_stays_served_until_there_is_one(void **state)
{
	struct sf_worker *again;

	(void)state;
	commit();
	sf_kill(sf_old);
	sf_run(50, NULL);
	sf_step(WINDOW_ROLLBACK);
	sf_run(300, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_new->due & SEAT_DO_EXIT, 0);
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
	again = sf_sit(0, 2, NULL);
	sf_run(25, NULL);
	assert_int_equal(again->st.role, SEAT_ROLE_OWNER);
	assert_true((sf_new->due & SEAT_DO_EXIT) != 0);
}

/* REL-13: the new owner left with the lane in its hands, and the old worker's successor comes when all is over */
static void
test_a_lane_that_was_left_behind_is_taken_outside_of_windows_too(void **state)
{
	struct sf_worker *again;

	(void)state;
	commit();
	sf_kill(sf_old);
	sf_run(50, NULL);
	sf_step(WINDOW_ROLLBACK);
	seat_release(&sf_new->st);
	sf_new->off = true;
	sf_run(5, NULL);
	seat_release(&sf_new1->st);
	sf_new1->off = true;
	sf_step(WINDOW_CLOSED);
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	assert_int_equal(sf_lease(0).gen, 3);
	again = sf_sit(0, 2, NULL);
	sf_run(60, NULL);
	assert_int_equal(again->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_lease(0).gen, 2);
}

/* ---- races of successors ---- */

static struct sf_worker *next;

/* A successor of the old worker sits down, and takes the lane back, before the new one's swap. */
static void
sits_down(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	next = sf_sit(0, 2, NULL);
	next->off = true;
}

static void
takes_back(struct shim *s, enum mock_op op, void *arg)
{
	sits_down(s, op, arg);
	sf.d->window = window_word((struct window){ WINDOW_ABORTED, 3, 2 });
	sf_turn(next);
	assert_int_equal(next->st.role, SEAT_ROLE_OWNER);
}

static void
dead_old_owner_then(void (*fn)(struct shim *s, enum mock_op op, void *arg))
{
	sf_run(3, NULL);
	sf_kill(sf_old);
	sf_run(50, NULL);
	sf_step(WINDOW_PARKING);
	sf_step(WINDOW_COMMITTED);
	mock_hook(sf.s, MOCK_OP_cas, fn, NULL);
	sf.now_ns += 1000000;
	sf_turn(sf_new);
	assert_non_null(next);
}

/* REL-5 */
static void
test_a_take_over_fails_if_a_successor_has_sat_down_meanwhile(void **state)
{
	(void)state;
	dead_old_owner_then(sits_down);
	assert_int_not_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
	/* the same worker owns it in its next turn, by the successor's word */
	sf_turn(sf_new);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
}

/* REL-5 */
static void
test_a_take_over_fails_if_the_successor_polls_already(void **state)
{
	(void)state;
	dead_old_owner_then(takes_back);
	assert_int_not_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	sf_turn(next);
	assert_int_equal(next->st.role, SEAT_ROLE_OWNER);
}

/* REL-5 */
static void
test_an_old_verdict_of_death_is_not_used_against_a_successor(void **state)
{
	struct sf_worker *again;

	(void)state;
	sf_run(3, NULL);
	sf_kill(sf_old);
	sf_run(50, NULL);
	assert_true(sf_new->st.peer_watch.dead);
	/* between two looks: the successor sits down and polls, then the window goes on */
	again = sf_sit(0, 2, NULL);
	sf_turn(again);
	again->off = true;
	assert_int_equal(again->st.role, SEAT_ROLE_OWNER);
	sf_step(WINDOW_PARKING);
	sf_step(WINDOW_COMMITTED);
	sf_new->st.look_ns = UINT64_MAX;
	sf_turn(sf_new);
	assert_int_not_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_lease(0).gen, 2);
}

int
main(void)
{
#define PAIR(name) cmocka_unit_test_setup_teardown(name, sf_setup_pair, sf_teardown)
	const struct CMUnitTest tests[] = {
		PAIR(test_without_a_master_an_open_window_is_aborted_and_closed),
		PAIR(test_without_a_master_parked_lanes_are_taken_back),
		PAIR(test_a_master_that_left_its_slot_is_no_master),
		PAIR(test_a_new_master_in_another_slot_takes_the_dead_ones_place),
		PAIR(test_who_has_to_go_ends_nobody_who_stays),
		PAIR(test_a_lane_parked_for_the_time_out_is_taken_back_whatever_the_master_does),
		PAIR(test_of_commit_and_abort_one_wins_and_everybody_follows_it),
		PAIR(test_without_a_master_the_drain_ends_by_itself_and_the_window_too),
		PAIR(test_a_master_that_beats_ends_the_drain_itself),
		PAIR(test_without_a_master_an_old_worker_that_stands_still_is_ended_by_the_new_one),
		PAIR(test_a_dead_new_owner_is_rolled_back_by_its_old_worker),
		PAIR(test_a_look_from_before_the_flip_condemns_nobody),
		PAIR(test_a_new_owner_that_stands_still_is_rolled_back_and_killed_before_its_lane_is_taken),
		PAIR(test_a_new_owner_that_comes_back_in_time_lets_go_by_itself),
		PAIR(test_one_that_can_not_be_killed_keeps_its_lane_and_is_told_of_once),
		PAIR(test_a_new_worker_that_never_takes_its_lane_is_rolled_back_in_time),
		PAIR(test_a_new_worker_that_beats_but_does_not_take_its_lane_is_rolled_back_too),
		PAIR(test_once_the_old_generation_retires_there_is_no_way_back),
		PAIR(test_of_roll_back_and_retiring_one_wins),
		PAIR(test_a_worker_that_was_told_to_quit_rolls_nothing_back),
		PAIR(test_an_old_worker_that_died_before_the_park_is_taken_over_from_after_the_flip),
		PAIR(test_an_old_worker_that_dies_in_the_drain_is_told_of_within_two_looks),
		PAIR(test_a_slow_old_worker_is_never_killed_while_its_master_lives),
		PAIR(test_a_respawned_old_owner_that_stands_still_on_its_lane_is_killed_for_the_new_one),
		PAIR(test_in_a_roll_back_a_lane_without_old_worker_stays_served_until_there_is_one),
		PAIR(test_a_lane_that_was_left_behind_is_taken_outside_of_windows_too),
		PAIR(test_a_take_over_fails_if_a_successor_has_sat_down_meanwhile),
		PAIR(test_a_take_over_fails_if_the_successor_polls_already),
		PAIR(test_an_old_verdict_of_death_is_not_used_against_a_successor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

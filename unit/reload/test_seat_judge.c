/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's seat: whom it takes for dead and whom not, and what it does when the directory says impossible things. */
#include "seat_fixture.h"
#include "sim/prng.h"

static void
commit(void)
{
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	sf_run(3, NULL);
	sf_step(WINDOW_COMMITTED);
	sf_run(3, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
}

/* ---- judging ---- */

/* REL-7, REL-17 */
static void
test_a_suspended_machine_declares_nobody_dead(void **state)
{
	(void)state;
	/* section 8, line 24 */
	commit();
	sf_run(100, NULL);
	for (unsigned int i = 0; i < 20; i++) {
		sf.now_ns += 30000000000ull;
		sf_turn(sf_old); /* the first that goes on; the others a moment later */
		sf.now_ns += 30000000000ull;
		sf_turn(sf_old); /* and again, before anybody else did */
		sf_run(1, NULL);
	}
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	assert_int_equal(mock_calls(sf.s, MOCK_OP_proc_kill), 0);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
}

/* REL-7, REL-17 */
static void
test_who_beats_is_alive_whatever_the_system_says_of_its_pid(void **state)
{
	(void)state;
	/* section 8, line 34: another pid name space; and the beat wraps, line 23 */
	commit();
	sf_new->st.beat = UINT64_MAX - 50;
	mock_proc_set(sf.s, shim_self(sf_new->s), false);
	sf_run(SF_TIMEOUT_MS * 2, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_true(seat_dispatching(&sf_new->st));
}

/* REL-5, REL-7 */
static void
test_nobody_takes_the_lane_of_one_who_beats_even_if_its_pid_is_not_found(void **state)
{
	(void)state;
	commit();
	sf_run(50, NULL);
	sf_new->off = true; /* it is in one long turn, and beats from it */
	mock_proc_set(sf.s, shim_self(sf_new->s), false);
	sf_step(WINDOW_ROLLBACK);
	for (unsigned int i = 0; i < 200; i++) {
		seat_beat(&sf_new->st);
		sf_run(1, NULL);
	}
	assert_int_equal(sf_lease(0).gen, 3);
	assert_int_not_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* REL-13, REL-17 */
static void
test_a_process_that_may_not_be_asked_about_is_alive(void **state)
{
	(void)state;
	commit();
	sf_kill(sf_new);
	mock_fail_all(sf.s, MOCK_OP_proc_alive, EPERM);
	sf_run(200, NULL);
	assert_int_equal(sf_window().state, WINDOW_COMMITTED);
	mock_fail_all(sf.s, MOCK_OP_proc_alive, 0);
	sf_run(50, NULL);
	assert_int_equal(sf_window().state, WINDOW_ROLLBACK);
}

/* ---- a hostile directory ---- */

/* REL-2, REL-13 */
static void
test_an_impossible_lease_is_polled_by_nobody_told_once_and_mended_when_that_is_safe(void **state)
{
	unsigned int errors;

	(void)state;
	sf_run(30, NULL);
	errors = mock_messages(sf.s, SHIM_LOG_ERR);
	sf.d->lane[0].lease = UINT64_MAX;
	sf_run(200, NULL);
	/* the other seat's process lives: it might be polling, for all that the word says */
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_WAIT);
	assert_int_equal(sf.d->lane[0].lease, UINT64_MAX);
	assert_int_equal(mock_messages(sf.s, SHIM_LOG_ERR), errors + 2); /* once each */
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
	sf_kill(sf_new);
	sf_run(60, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_lease(0).gen, 2);
}

/* REL-2, REL-13 */
static void
test_an_impossible_window_changes_nothing(void **state)
{
	uint64_t good;

	(void)state;
	commit();
	good = sf.d->window;
	sf.d->window = UINT64_MAX - 1;
	sf_run(200, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
	assert_non_null(strstr(mock_last_message(sf.s), "window word fffffffffffffffe is impossible"));
	sf.d->window = good;
	sf_step(WINDOW_RETIRING);
	assert_true((sf_run(1, sf_old) & SEAT_DO_HAND) != 0);
}

/* REL-5, REL-13 */
static void
test_a_lease_of_the_own_generation_that_another_process_made_is_not_polled(void **state)
{
	struct lease l;

	(void)state;
	sf_run(3, NULL);
	l = sf_lease(0);
	l.fence++;
	sf.d->lane[0].lease = lease_word(l);
	/* it is taken anew, by a word of this process, for nobody else can sit here */
	assert_true((sf_run(1, sf_old) & SEAT_DO_TOOK) != 0);
	assert_int_equal(sf_lease(0).fence, l.fence + 1);
	assert_int_equal(sf.d->lane[0].taken, 1);
	sf_run(1000, NULL);
	assert_int_equal(sf.d->lane[0].taken, 1);
	assert_int_equal(sf.d->lane[1].taken, 0);
}

/* REL-13 */
static void
test_whoever_lost_its_seat_leaves_without_a_word(void **state)
{
	struct shim_proc p = shim_self(sf_new->s);
	uint64_t beat;

	(void)state;
	sf_run(3, NULL);
	sf.d->seat[0][0].claim = ctl_proc_word(&p);
	beat = sf.d->seat[0][0].heartbeat;
	assert_int_equal(sf_run(3, sf_old), SEAT_DO_EXIT);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	assert_int_equal(sf.d->lane[0].taken, 1); /* it owned the lane until then */
	assert_int_equal(sf.d->seat[0][0].heartbeat, beat);
	seat_report(&sf_old->st, &(struct drain_counts){ .udp = 1 }, 1);
	assert_int_equal(sf.d->seat[0][0].drain.udp, 0);
	seat_release(&sf_old->st);
	assert_true(sf.d->seat[0][0].claim != 0);
}

/* REL-13 */
static void
test_a_swap_that_is_lost_when_letting_go_leaves_no_owner_here(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	assert_true((seat_turn(&sf_old->st, sf.now_ns) & SEAT_DO_LET_GO) != 0);
	sf.d->lane[0].lease = lease_word((struct lease){ LEASE_OWNED, 3, 9 });
	seat_let_go(&sf_old->st, sf.now_ns);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	assert_int_equal(sf_lease(0).gen, 3);
}

/* REL-5, REL-13 */
static void
test_an_owner_that_was_taken_for_dead_counts_it_and_says_so_once(void **state)
{
	uint32_t fence = sf_lease(0).fence;
	unsigned int alerts;

	(void)state;
	sf_run(3, NULL);
	alerts = mock_messages(sf.s, SHIM_LOG_ALERT);
	for (unsigned int i = 1; i <= 3; i++) {
		sf.d->lane[0].lease = lease_word((struct lease){ LEASE_OWNED, 2, fence + 100 * i });
		sf_run(1, NULL);
		assert_int_equal(sf.d->lane[0].taken, i);
	}
	assert_int_equal(mock_messages(sf.s, SHIM_LOG_ALERT), alerts + 1);
	/* what nobody can have made is damage, not a second owner; whose it is is told as such */
	sf.d->lane[0].lease = UINT64_MAX;
	sf_run(1, NULL);
	assert_int_equal(sf.d->lane[0].taken, 3);
	/* letting go of what is another's already */
	sf_run(3 * SF_TIMEOUT_MS, NULL);
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
	sf_step(WINDOW_PARKING);
	assert_true((seat_turn(&sf_old1->st, sf.now_ns) & SEAT_DO_LET_GO) != 0);
	sf.d->lane[1].lease = lease_word((struct lease){ LEASE_OWNED, 3, 9 });
	seat_let_go(&sf_old1->st, sf.now_ns);
	assert_int_equal(sf.d->lane[1].taken, 1);
}

/* REL-2, REL-13 */
static void
test_any_bytes_at_any_time_never_crash_and_do_not_fill_the_log(void **state)
{
	struct prng r;
	unsigned char *bytes = (unsigned char *)sf.d;
	unsigned int errors;

	(void)state;
	prng_init(&r, 7, 1);
	sf_run(3, NULL);
	errors = mock_messages(sf.s, SHIM_LOG_ERR);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t at = prng_below(&r, 8) == 0 ? prng_below(&r, sizeof(*sf.d)) :
			offsetof(struct gen_dir, window) + prng_below(&r, offsetof(struct gen_dir, lane[2]) -
			offsetof(struct gen_dir, window));

		bytes[at] = (unsigned char)prng_next(&r);
		sf.now_ns += prng_below(&r, 40000000);
		sf_turn(&sf.w[prng_below(&r, 4)]);
	}
	assert_true(mock_messages(sf.s, SHIM_LOG_ERR) <= errors + 4);
}

int
main(void)
{
#define PAIR(name) cmocka_unit_test_setup_teardown(name, sf_setup_pair, sf_teardown)
	const struct CMUnitTest tests[] = {
		PAIR(test_a_suspended_machine_declares_nobody_dead),
		PAIR(test_an_owner_that_was_taken_for_dead_counts_it_and_says_so_once),
		PAIR(test_who_beats_is_alive_whatever_the_system_says_of_its_pid),
		PAIR(test_nobody_takes_the_lane_of_one_who_beats_even_if_its_pid_is_not_found),
		PAIR(test_a_process_that_may_not_be_asked_about_is_alive),
		PAIR(test_an_impossible_lease_is_polled_by_nobody_told_once_and_mended_when_that_is_safe),
		PAIR(test_an_impossible_window_changes_nothing),
		PAIR(test_a_lease_of_the_own_generation_that_another_process_made_is_not_polled),
		PAIR(test_whoever_lost_its_seat_leaves_without_a_word),
		PAIR(test_a_swap_that_is_lost_when_letting_go_leaves_no_owner_here),
		PAIR(test_any_bytes_at_any_time_never_crash_and_do_not_fill_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

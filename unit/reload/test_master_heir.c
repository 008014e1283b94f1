/* SPDX-License-Identifier: BSD-3-Clause */
/* A master after a dead one, and one whose directory is damaged. */
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
		cmocka_unit_test(test_a_new_master_replaces_the_workers_of_a_dead_one),
		cmocka_unit_test(test_a_new_master_ends_what_a_dead_one_did_not_flip),
		cmocka_unit_test(test_a_new_master_completes_what_a_dead_one_flipped),
		cmocka_unit_test(test_a_new_master_after_the_death_of_all),
		cmocka_unit_test_setup_teardown(test_a_new_master_ends_a_generation_that_belongs_to_no_window, setup_bare, teardown),
		cmocka_unit_test(test_a_replacement_that_the_check_refuses),
		cmocka_unit_test(test_an_impossible_window_word_is_put_back),
		SERVING(test_an_impossible_lease_is_not_a_parked_lane),
		cmocka_unit_test(test_any_byte_of_the_directory_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

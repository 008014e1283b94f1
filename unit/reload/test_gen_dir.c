/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation directory: words, steps of the window, attaching, hostile bytes, the swaps and their races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/reload/gen_dir.h"
#include "core/runtime/ctl.h"
#include "shim/host/mock/mock.h"

#define BOOT 42u

static struct shim *s, *other;
static struct gen_dir *d;

static int
setup(void **state)
{
	(void)state;
	s = mock_shim_new_bare();
	other = mock_shim_attach(s, SHIM_ROLE_WORKER, 1);
	return gen_dir_create(s, 2, BOOT, &d);
}

static int
teardown(void **state)
{
	(void)state;
	shim_zone_free(s, GEN_ZONE);
	mock_shim_free(other);
	return (int)mock_shim_free(s);
}

static uint64_t
word_of(const struct shim *door)
{
	struct shim_proc p = shim_self(door);

	return ctl_proc_word(&p);
}

static struct window
win(enum window_state state, uint32_t wid, uint32_t active)
{
	return (struct window){ .state = state, .wid = wid, .active = active };
}

/* REL-2 */
static void
test_lease_words_round_trip_and_impossible_ones_are_refused(void **state)
{
	struct lease in = { LEASE_OWNED, 7, 0x3fffffff }, out;

	(void)state;
	assert_int_equal(lease_of(lease_word(in), &out), 0);
	assert_int_equal(out.state, LEASE_OWNED);
	assert_int_equal(out.gen, 7);
	assert_int_equal(out.fence, 0x3fffffff);
	assert_int_equal(lease_of(0, &out), 0);
	assert_int_equal(out.state, LEASE_FREE);
	assert_int_equal(lease_of(3, &out), -EPROTO);
	assert_int_equal(lease_of((uint64_t)LEASE_OWNED, &out), -EPROTO);
	assert_int_equal(lease_of(1ull << 32, &out), -EPROTO);
	assert_int_equal(lease_of((uint64_t)(GEN_LAST + 1) << 32 | LEASE_PARKED, &out), -EPROTO);
	assert_int_equal(lease_of(UINT64_MAX, &out), -EPROTO);
}

/* REL-2 */
static void
test_window_words_round_trip_and_impossible_ones_are_refused(void **state)
{
	static const struct window bad[] = {
		{ WINDOW_STATES, 3, 2 }, { (enum window_state)15, 3, 2 }, { WINDOW_CLOSED, 3, 0 }, { WINDOW_OPEN, 3, 0 },
		{ WINDOW_OPEN, 4, 2 }, { WINDOW_CLOSED, 2, 3 }, { WINDOW_OPEN, GEN_LAST + 1, 2 },
	};
	struct window out;

	(void)state;
	for (unsigned int i = 0; i < WINDOW_STATES; i++) {
		assert_int_equal(window_of(window_word(win((enum window_state)i, GEN_LAST, GEN_LAST - 1)), &out), 0);
		assert_int_equal(out.state, i);
		assert_int_equal(out.wid, GEN_LAST);
		assert_int_equal(out.active, GEN_LAST - 1);
	}
	assert_int_equal(window_of(0, &out), 0);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(window_of(window_word(bad[i]), &out), -EPROTO);
	assert_string_equal(gen_window_name(WINDOW_RETIRING), "RETIRING");
	assert_string_equal(gen_window_name(WINDOW_STATES), "?");
}

/* REL-5 */
static void
test_the_lanes_are_the_new_ones_from_the_commit_on_and_never_of_two(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < WINDOW_STATES; i++)
		assert_int_equal(gen_rightful(win((enum window_state)i, 3, 2)),
			i == WINDOW_COMMITTED || i == WINDOW_RETIRING ? 3 : 2);
	assert_int_equal(gen_rightful(win(WINDOW_CLOSED, 0, 0)), 0);
}

/* REL-3, REL-12 */
static void
test_only_the_steps_of_the_table_are_legal(void **state)
{
	static const char *const table[WINDOW_STATES] = { /* to: CLOSED OPEN PARKING COMMITTED ABORTED ROLLBACK RETIRING */
		[WINDOW_CLOSED] = ".......", [WINDOW_OPEN] = "..x.x..", [WINDOW_PARKING] = "...xx..",
		[WINDOW_COMMITTED] = ".....xx", [WINDOW_ABORTED] = "x......", [WINDOW_ROLLBACK] = "x......",
		[WINDOW_RETIRING] = "x......",
	};

	(void)state;
	for (unsigned int f = 0; f < WINDOW_STATES; f++) {
		for (unsigned int t = 0; t < WINDOW_STATES; t++) {
			struct window from = win((enum window_state)f, 3, 2), to = win((enum window_state)t, 3, 2);

			if (t == WINDOW_CLOSED)
				to.active = gen_rightful(from);
			assert_int_equal(gen_window_step(from, to), table[f][t] == 'x');
			to.wid = 5;
			assert_int_equal(gen_window_step(from, to), f == WINDOW_CLOSED && t == WINDOW_OPEN);
		}
	}
	assert_true(gen_window_step(win(WINDOW_CLOSED, 0, 0), win(WINDOW_CLOSED, 2, 2)));
	assert_false(gen_window_step(win(WINDOW_CLOSED, 0, 0), win(WINDOW_OPEN, 3, 2)));
	assert_false(gen_window_step(win(WINDOW_CLOSED, 0, 0), win(WINDOW_CLOSED, 0, 0)));
	assert_false(gen_window_step(win(WINDOW_RETIRING, 3, 2), win(WINDOW_CLOSED, 3, 2)));
	assert_false(gen_window_step(win(WINDOW_ROLLBACK, 3, 2), win(WINDOW_CLOSED, 3, 3)));
	assert_false(gen_window_step(win(WINDOW_STATES, 3, 2), win(WINDOW_CLOSED, 3, 2)));
	assert_false(gen_window_step(win(WINDOW_CLOSED, 3, 2), win(WINDOW_OPEN, 1u << 31, 2)));
}

/* REL-2 */
static void
test_create_refuses_what_can_not_be_and_a_second_one(void **state)
{
	struct gen_dir *x;

	(void)state;
	assert_int_equal(gen_dir_create(s, 0, BOOT, &x), -EINVAL);
	assert_int_equal(gen_dir_create(s, GEN_MAX_LANES + 1, BOOT, &x), -EINVAL);
	assert_int_equal(gen_dir_create(s, 1, 0, &x), -EINVAL);
	assert_int_equal(gen_dir_create(s, 1, BOOT, &x), -EEXIST);
	mock_fail(s, MOCK_OP_zone_reserve, 1, ENOMEM);
	assert_int_equal(gen_dir_create(s, 1, BOOT, &x), -ENOMEM);
}

/* REL-2, REL-17 */
static void
test_attach_checks_the_head_and_names_both_versions(void **state)
{
	struct gen_dir *x = NULL;

	(void)state;
	/* section 8, lines 37 and 39 */
	assert_int_equal(gen_dir_attach(other, BOOT, &x), 0);
	assert_ptr_equal(x, d);
	assert_int_equal(gen_dir_attach(other, BOOT + 1, &x), -EPROTO);
	d->layout_version = 77;
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	assert_non_null(strstr(mock_last_message(s), "layout version 77"));
	assert_non_null(strstr(mock_last_message(s), "version 2:"));
	d->layout_version = GEN_LAYOUT_VERSION;
	d->len++;
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	d->len--;
	d->nb_lanes = 0;
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	d->nb_lanes = GEN_MAX_LANES + 1;
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	d->nb_lanes = 2;
	d->magic++;
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	d->magic--;
	assert_int_equal(gen_dir_attach(other, BOOT, &x), 0);
}

/* REL-2 */
static void
test_attach_refuses_a_zone_that_is_absent_or_too_small(void **state)
{
	struct gen_dir *x;
	void *addr;

	(void)state;
	shim_zone_free(s, GEN_ZONE);
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -ENOENT);
	shim_zone_reserve(s, GEN_ZONE, 8, &addr);
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	shim_zone_free(s, GEN_ZONE);
	/* an old layout: its head is there, the rest is shorter */
	shim_zone_reserve(s, GEN_ZONE, 256, &addr);
	memcpy(addr, &(struct { uint64_t magic; uint32_t version, len; }){ GEN_MAGIC, GEN_LAYOUT_VERSION, 256 }, 16);
	assert_int_equal(gen_dir_attach(other, BOOT, &x), -EPROTO);
	shim_zone_free(s, GEN_ZONE);
	assert_int_equal(gen_dir_create(s, 2, BOOT, &d), 0);
}

/* REL-2 */
static void
test_getters_catch_impossible_words_and_indices(void **state)
{
	struct drain_counts c;
	struct window w;
	struct lease l;

	(void)state;
	d->window = UINT64_MAX;
	d->lane[1].lease = 3;
	assert_int_equal(gen_window(s, d, &w), -EPROTO);
	assert_int_equal(gen_lease(s, d, 1, &l), -EPROTO);
	assert_int_equal(gen_lease(s, d, 0, &l), 0);
	assert_int_equal(gen_lease(s, d, GEN_MAX_LANES, &l), -EINVAL);
	assert_int_equal(gen_drain(s, d, 2, 0, &c), -EINVAL);
	assert_int_equal(gen_drain(s, d, 0, GEN_MAX_LANES, &c), -EINVAL);
	d->seat[0][0].drain.gen = UINT32_MAX;
	assert_int_equal(gen_drain(s, d, 0, 0, &c), -EPROTO);
	assert_int_equal(gen_seat_alive(s, d, 2, 0, NULL), 0);
	assert_int_equal(gen_seat_alive(s, d, 0, GEN_MAX_LANES, NULL), 0);
	assert_false(gen_lease_swap(s, d, GEN_MAX_LANES, (struct lease){ .gen = 0 }, LEASE_OWNED, 2));
	assert_false(gen_lease_swap(s, d, 0, (struct lease){ .gen = 0 }, LEASE_OWNED, 0));
	assert_int_equal(gen_order(s, d, 2, GEN_MAX_LANES), SEAT_SERVE);
	gen_order_set(s, d, 2, GEN_MAX_LANES, SEAT_QUIT);
	gen_master_release(s, d, GEN_MASTERS);
}

/* The sequence word is changed at the nth load of the reader. */
static void
tear(struct shim *door, enum mock_op op, void *arg)
{
	unsigned int *n = arg;

	(void)door;
	(void)op;
	if (++*n % 8 == 4)
		d->seat[0][0].drain_seq += 2;
}

/* REL-8 */
static void
test_a_drain_report_is_read_whole_or_not_at_all(void **state)
{
	unsigned int n = 0;
	struct drain_counts c;

	(void)state;
	d->seat[0][0].drain = (struct drain_counts){ .gen = 2, .tcp = 1, .half_open = 2, .udp = 3, .unsent = 1ull << 40,
		.stamp_ms = 9 };
	assert_int_equal(gen_drain(s, d, 0, 0, &c), 0);
	assert_memory_equal(&c, &d->seat[0][0].drain, sizeof(c));
	mock_hook(s, MOCK_OP_load, tear, &n);
	assert_int_equal(gen_drain(s, d, 0, 0, &c), -EAGAIN);
	mock_hook(s, MOCK_OP_load, NULL, NULL);
	d->seat[0][0].drain_seq |= 1;
	assert_int_equal(gen_drain(s, d, 0, 0, &c), -EAGAIN);
}

/* REL-13, REL-17 */
static void
test_a_seat_is_alive_by_pid_and_start_time(void **state)
{
	struct shim_proc who, p = shim_self(other);

	(void)state;
	/* section 8, lines 33 and 34: the same pid with another start time is another process */
	assert_int_equal(gen_seat_alive(s, d, 1, 0, &who), 0);
	d->seat[1][0].claim = word_of(other);
	assert_int_equal(gen_seat_alive(s, d, 1, 0, &who), 1);
	assert_int_equal(who.pid, p.pid);
	assert_int_equal(gen_side_alive(s, d, 1), 1);
	p.start_time++;
	d->seat[1][0].claim = ctl_proc_word(&p);
	assert_int_equal(gen_seat_alive(s, d, 1, 0, NULL), 0);
	d->seat[1][0].claim = word_of(other);
	mock_fail(s, MOCK_OP_proc_alive, 1, EPERM);
	assert_int_equal(gen_seat_alive(s, d, 1, 0, NULL), 1);
	mock_proc_set(s, shim_self(other), false);
	assert_int_equal(gen_side_alive(s, d, 1), 0);
}

/* REL-2, PAR-3, REL-17 */
static void
test_generations_only_grow_keep_their_side_and_end(void **state)
{
	uint32_t last = 0;

	(void)state;
	assert_int_equal(gen_next(s, d, 0), 2);
	assert_int_equal(gen_next(s, d, 1), 3);
	assert_int_equal(gen_next(s, d, 1), 5);
	for (unsigned int i = 0; i < 10; i++) {
		uint32_t g = gen_next(s, d, i & 1);

		assert_true(g > last);
		assert_int_equal(gen_side(g), i & 1);
		last = g;
	}
	/* damaged: no number is given twice */
	d->window = window_word(win(WINDOW_CLOSED, 100, 100));
	d->next_gen = 0;
	assert_int_equal(gen_next(s, d, 1), 101);
	d->window = UINT64_MAX;
	d->next_gen = 0;
	assert_int_equal(gen_next(s, d, 1), 1);
	assert_int_equal(gen_next(s, d, 2), 0);
	/* section 8, line 38: the numbers do not wrap */
	d->next_gen = GEN_LAST;
	assert_int_equal(gen_next(s, d, 1), 0);
	assert_int_equal(gen_next(s, d, 0), GEN_LAST);
	assert_int_equal(gen_next(s, d, 0), 0);
	d->next_gen = UINT32_MAX;
	assert_int_equal(gen_next(s, d, 0), 0);
	assert_non_null(strstr(mock_last_message(s), "restart the primary"));
	d->next_gen = 5;
	mock_fail_all(s, MOCK_OP_cas, 1);
	assert_int_equal(gen_next(s, d, 0), 0);
	mock_fail_all(s, MOCK_OP_cas, 0);
}

/* REL-18 */
static void
test_marks_are_never_nothing(void **state)
{
	(void)state;
	assert_int_equal(gen_mark_next(s, d), 1);
	d->next_mark = UINT32_MAX;
	assert_int_equal(gen_mark_next(s, d), SHIM_BUF_MARK_MAX); /* the bits above say whose hands a buffer passes through */
	assert_int_equal(gen_mark_next(s, d), 1);
	mock_return(s, MOCK_OP_fetch_add, 0);
	mock_return(s, MOCK_OP_fetch_add, 0);
	assert_int_equal(gen_mark_next(s, d), 1);
}

/* REL-10, REL-17 */
static void
test_an_order_reaches_only_the_generation_it_was_given_to(void **state)
{
	(void)state;
	/* section 8, line 19: what was said to an earlier generation is none of this one's */
	gen_order_set(s, d, 2, 0, SEAT_QUIT);
	assert_int_equal(gen_order(s, d, 2, 0), SEAT_QUIT);
	assert_int_equal(gen_order(s, d, 4, 0), SEAT_SERVE);
	assert_int_equal(gen_order(s, d, 3, 0), SEAT_SERVE);
	gen_order_set(s, d, GEN_LAST, 1, SEAT_ABORT);
	assert_int_equal(gen_order(s, d, GEN_LAST, 1), SEAT_ABORT);
	d->seat[0][0].order_word = 2 << 2 | 3;
	assert_int_equal(gen_order(s, d, 2, 0), SEAT_SERVE);
}

/* REL-5, REL-12 */
static void
test_of_two_swaps_from_one_word_exactly_one_wins(void **state)
{
	struct window open = win(WINDOW_COMMITTED, 3, 2), now;
	struct lease l = { LEASE_OWNED, 2, 5 }, got;

	(void)state;
	d->window = window_word(open);
	assert_true(gen_window_swap(s, d, open, win(WINDOW_RETIRING, 3, 2)));
	assert_false(gen_window_swap(other, d, open, win(WINDOW_ROLLBACK, 3, 2)));
	assert_int_equal(gen_window(s, d, &now), 0);
	assert_int_equal(now.state, WINDOW_RETIRING);
	assert_false(gen_window_swap(s, d, now, win(WINDOW_ROLLBACK, 3, 2)));
	assert_non_null(strstr(mock_last_message(s), "RETIRING(3, 2) -> ROLLBACK(3, 2)"));
	d->lane[0].lease = lease_word(l);
	assert_true(gen_lease_swap(s, d, 0, l, LEASE_PARKED, 2));
	assert_false(gen_lease_swap(other, d, 0, l, LEASE_PARKED, 2));
	assert_int_equal(gen_lease(s, d, 0, &got), 0);
	assert_int_equal(got.fence, 6);
	/* there and back: an old sight of the word never matches again */
	assert_true(gen_lease_swap(s, d, 0, got, LEASE_OWNED, 2));
	assert_false(gen_lease_swap(s, d, 0, l, LEASE_PARKED, 2));
}

/* The seat's successor sits down and takes the lease between the breaker's look at the claim and its swap. */
static void
successor(struct shim *door, enum mock_op op, void *arg)
{
	struct lease *l = arg;

	(void)op;
	mock_hook(door, MOCK_OP_cas, NULL, NULL);
	d->seat[0][0].claim = word_of(other);
	assert_true(gen_lease_swap(other, d, 0, *l, LEASE_OWNED, 2));
}

/* REL-5, REL-13 */
static void
test_a_lease_is_broken_only_when_nobody_holds_it(void **state)
{
	struct lease l = { LEASE_OWNED, 2, 5 }, got;

	(void)state;
	d->lane[0].lease = lease_word(l);
	d->seat[0][0].claim = word_of(other);
	assert_false(gen_lease_break(s, d, 0, l));
	mock_proc_set(s, shim_self(other), false);
	assert_false(gen_lease_break(s, d, 0, (struct lease){ LEASE_PARKED, 2, 5 }));
	assert_false(gen_lease_break(s, d, 0, (struct lease){ LEASE_OWNED, 2, 4 }));
	mock_hook(s, MOCK_OP_cas, successor, &l);
	assert_false(gen_lease_break(s, d, 0, l));
	assert_int_equal(gen_lease(s, d, 0, &got), 0);
	assert_int_equal(got.state, LEASE_OWNED);
	assert_int_equal(got.fence, 6);
	assert_true(gen_lease_break(s, d, 0, got));
	assert_int_equal(gen_lease(s, d, 0, &got), 0);
	assert_int_equal(got.state, LEASE_PARKED);
	assert_int_equal(got.gen, 2);
}

/* REL-2, REL-13, REL-17 */
static void
test_one_master_at_a_time_and_a_dead_ones_slot_is_taken_over(void **state)
{
	struct shim_proc who = { .pid = 0 };
	unsigned int slot = 9, mine = 9;

	(void)state;
	/* section 8, lines 11, 12 and 38 */
	assert_int_equal(gen_master_alive(s, d, NULL), 0);
	assert_int_equal(gen_master_claim(other, d, &slot, NULL), 0);
	assert_int_equal(slot, 0);
	assert_int_equal(gen_master_alive(s, d, &who), 1);
	assert_int_equal(who.pid, shim_self(other).pid);
	who.pid = 0;
	assert_int_equal(gen_master_claim(s, d, &mine, &who), -EBUSY);
	assert_int_equal(who.pid, shim_self(other).pid);
	mock_proc_set(s, shim_self(other), false);
	assert_int_equal(gen_master_claim(s, d, &mine, &who), 0);
	assert_int_equal(mine, 0);
	/* the dead one, if it came back, frees nothing of its successor's */
	gen_master_release(other, d, slot);
	assert_int_equal(gen_master_alive(s, d, NULL), 1);
	gen_master_release(s, d, mine);
	assert_int_equal(gen_master_alive(s, d, NULL), 0);
}

/* Another master takes a slot between the look at all of them and the own claim. */
static void
rival(struct shim *door, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_hook(door, MOCK_OP_cas, NULL, NULL);
	d->master[3].claim = word_of(other);
}

/* REL-2 */
static void
test_two_masters_at_once_are_never_both_let_in(void **state)
{
	struct shim_proc who;
	unsigned int slot = 9;

	(void)state;
	mock_hook(s, MOCK_OP_cas, rival, NULL);
	assert_int_equal(gen_master_claim(s, d, &slot, &who), -EBUSY);
	assert_int_equal(who.pid, shim_self(other).pid);
	assert_int_equal(slot, 9);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(d->master[i].claim, 0);
	d->master[3].claim = 0;
	mock_fail_all(s, MOCK_OP_cas, 1);
	assert_int_equal(gen_master_claim(s, d, &slot, &who), -ENOSPC);
	mock_fail_all(s, MOCK_OP_cas, 0);
	s->self.pid = 1u << 23;
	assert_int_equal(gen_master_claim(s, d, &slot, &who), -ERANGE);
	s->self.pid = 1000;
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_lease_words_round_trip_and_impossible_ones_are_refused),
		T(test_window_words_round_trip_and_impossible_ones_are_refused),
		T(test_the_lanes_are_the_new_ones_from_the_commit_on_and_never_of_two),
		T(test_only_the_steps_of_the_table_are_legal),
		T(test_create_refuses_what_can_not_be_and_a_second_one),
		T(test_attach_checks_the_head_and_names_both_versions),
		T(test_attach_refuses_a_zone_that_is_absent_or_too_small),
		T(test_getters_catch_impossible_words_and_indices),
		T(test_a_drain_report_is_read_whole_or_not_at_all),
		T(test_a_seat_is_alive_by_pid_and_start_time),
		T(test_generations_only_grow_keep_their_side_and_end),
		T(test_marks_are_never_nothing),
		T(test_an_order_reaches_only_the_generation_it_was_given_to),
		T(test_of_two_swaps_from_one_word_exactly_one_wins),
		T(test_a_lease_is_broken_only_when_nobody_holds_it),
		T(test_one_master_at_a_time_and_a_dead_ones_slot_is_taken_over),
		T(test_two_masters_at_once_are_never_both_let_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer wheel against a sorted list, and its promises one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/stack/timer.h"

#define TICK (1ull << TIMER_TICK_SHIFT)
#define SECOND 1000000000ull
#define YEAR (365 * 86400 * SECOND)

/* What fired, in order. */
static struct {
	int n;
	void *arg[64];
	uint64_t at[64];
} fired;

static struct timer_wheel w;

static void
note(struct timer *t, void *arg, uint64_t now)
{
	assert_false(timer_pending(t));
	assert_true(fired.n < 64);
	fired.arg[fired.n] = arg;
	fired.at[fired.n++] = now;
}

static int
setup(void **state)
{
	(void)state;
	fired.n = 0;
	timer_wheel_init(&w, 5 * SECOND + 17);
	return 0;
}

static void
never_early_and_within_a_tick(void **state)
{
	struct timer t;

	(void)state;
	timer_init(&t, note, &t);
	assert_false(timer_pending(&t));
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
	timer_set(&w, &t, 6 * SECOND + 1);
	assert_true(timer_pending(&t));
	assert_int_equal(timer_wheel_advance(&w, 6 * SECOND), 0);
	assert_int_equal(timer_wheel_advance(&w, 6 * SECOND + TICK + 1), 1);
	assert_int_equal(fired.n, 1);
	assert_true(fired.at[0] == 6 * SECOND + TICK + 1);
	assert_int_equal(w.pending, 0);
}

/* STK-1: equal deadlines fire in the order they were set, whichever level they were set at. */
static void
one_tick_fires_in_the_order_set(void **state)
{
	struct timer t[4];
	uint64_t at = 5000 * SECOND;

	(void)state;
	for (int i = 0; i < 4; i++)
		timer_init(&t[i], note, &t[i]);
	timer_set(&w, &t[2], at);
	timer_wheel_advance(&w, 4000 * SECOND);
	timer_set(&w, &t[0], at + 1 - TICK / 2); /* the same tick, set later */
	timer_wheel_advance(&w, at - 10 * TICK);
	timer_set(&w, &t[3], at);
	timer_set(&w, &t[1], at - 5 * TICK);
	timer_wheel_advance(&w, at + TICK);
	assert_int_equal(fired.n, 4);
	assert_ptr_equal(fired.arg[0], &t[1]);
	assert_ptr_equal(fired.arg[1], &t[2]);
	assert_ptr_equal(fired.arg[3], &t[3]);
}

static void
past_deadline_fires_at_the_next_advance(void **state)
{
	struct timer t, u;

	(void)state;
	timer_init(&t, note, &t);
	timer_init(&u, note, &u);
	timer_set(&w, &t, 0);
	timer_set(&w, &u, w.now_ns);
	assert_true(timer_wheel_next(&w) == w.now_ns);
	assert_int_equal(timer_wheel_advance(&w, w.now_ns), 2);
	assert_ptr_equal(fired.arg[0], &t);
	assert_int_equal(timer_wheel_advance(&w, w.now_ns), 0);
}

static void
cancel_and_move(void **state)
{
	struct timer t;

	(void)state;
	timer_init(&t, note, &t);
	timer_cancel(&w, &t);
	timer_set(&w, &t, 7 * SECOND);
	timer_set(&w, &t, 9 * SECOND);
	assert_int_equal(w.pending, 1);
	assert_int_equal(timer_wheel_advance(&w, 8 * SECOND), 0);
	timer_cancel(&w, &t);
	assert_int_equal(w.pending, 0);
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
	for (int l = 0; l < TIMER_LEVELS; l++)
		assert_true(w.occupied[l] == 0);
	timer_set(&w, &t, 9 * SECOND);
	timer_set(&w, &t, TIMER_NEVER);
	assert_false(timer_pending(&t));
	assert_int_equal(timer_wheel_advance(&w, 10 * SECOND), 0);
}

/* Callbacks that interfere: a cancels b of its own tick, c sets itself again for the same time, d sets e. */
static struct timer a, b, c, d, e;
static int again;

static void
cancel_b(struct timer *t, void *arg, uint64_t now)
{
	note(t, arg, now);
	timer_cancel(&w, &b);
}

static void
set_self(struct timer *t, void *arg, uint64_t now)
{
	note(t, arg, now);
	again++;
	timer_set(&w, t, now);
}

static void
set_e(struct timer *t, void *arg, uint64_t now)
{
	note(t, arg, now);
	timer_set(&w, &e, now + TICK);
}

static void
callbacks_may_set_and_cancel(void **state)
{
	uint64_t at = 6 * SECOND;

	(void)state;
	again = 0;
	timer_init(&a, cancel_b, &a);
	timer_init(&b, note, &b);
	timer_init(&c, set_self, &c);
	timer_init(&d, set_e, &d);
	timer_init(&e, note, &e);
	timer_set(&w, &a, at);
	timer_set(&w, &b, at);
	timer_set(&w, &c, at);
	timer_set(&w, &d, at);
	timer_set(&w, &e, at + SECOND);
	assert_int_equal(timer_wheel_advance(&w, at + TICK), 3);
	assert_false(timer_pending(&b));
	assert_int_equal(again, 1);
	assert_true(timer_pending(&c));
	assert_int_equal(timer_wheel_advance(&w, at + TICK), 1);
	assert_int_equal(again, 2);
	timer_cancel(&w, &c);
	assert_true(timer_pending(&e));
	assert_int_equal(timer_wheel_advance(&w, at + 3 * TICK), 1);
	assert_ptr_equal(fired.arg[fired.n - 1], &e);
}

static void
a_year_with_nothing_pending_is_quick(void **state)
{
	struct timer t;

	(void)state;
	timer_init(&t, note, &t);
	for (int i = 0; i < 400; i++)
		assert_int_equal(timer_wheel_advance(&w, w.now_ns + YEAR), 0);
	timer_set(&w, &t, w.now_ns + 100 * YEAR + 3);
	assert_int_equal(timer_wheel_advance(&w, w.now_ns + 100 * YEAR), 0);
	assert_int_equal(timer_wheel_advance(&w, w.now_ns + TICK + 3), 1);
	timer_set(&w, &t, UINT64_MAX - 1); /* past the last tick of 64-bit time */
	assert_true(timer_wheel_next(&w) > w.now_ns);
	timer_wheel_advance(&w, UINT64_MAX - 2);
	assert_true(timer_wheel_next(&w) == TIMER_NEVER);
	timer_cancel(&w, &t);
	assert_int_equal(fired.n, 1);
}

static void
next_always_makes_progress(void **state)
{
	uint64_t deadlines[] = { 1, TICK, 63 * TICK, 64 * TICK, 65 * TICK + 1, 4096 * TICK,
		262143 * TICK, 1ull << 45, YEAR, 30 * YEAR };
	struct timer t;

	(void)state;
	timer_init(&t, note, &t);
	for (unsigned int i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++) {
		uint64_t due = w.now_ns + deadlines[i];
		int polls = 0;

		timer_set(&w, &t, due);
		while (timer_pending(&t)) {
			uint64_t next = timer_wheel_next(&w);

			assert_true(next > w.now_ns);
			assert_true(next < due + TICK);
			timer_wheel_advance(&w, next);
			polls++;
		}
		assert_in_range(polls, 1, TIMER_LEVELS);
		assert_true(w.now_ns >= due);
	}
}

/* ---- the property test: a naive list says what must fire, and in which order ------------------ */

#define NB 200
#define OPS 100000

struct model {
	struct timer t;
	uint64_t tick; /* UINT64_MAX: not pending; 0: due at the next advance */
	uint64_t seq;
};

static struct model m[NB];
static uint64_t rng = 0x9e3779b97f4a7c15ull, seq;
static int model_fired;

static uint64_t
rnd(uint64_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng % n;
}

static void
model_set(struct model *x, uint64_t deadline)
{
	timer_set(&w, &x->t, deadline);
	x->tick = deadline <= w.now_ns ? 0 : (deadline + TICK - 1) / TICK;
	x->seq = ++seq;
}

static uint64_t
random_deadline(void)
{
	uint64_t span = 1ull << rnd(50);

	return rnd(20) == 0 ? w.now_ns - rnd(w.now_ns) : w.now_ns + rnd(span);
}

/* The pending one that must come first: lowest tick, then first set. */
static struct model *
first(void)
{
	struct model *best = NULL;

	for (int i = 0; i < NB; i++)
		if (m[i].tick != UINT64_MAX && (best == NULL || m[i].tick < best->tick ||
			(m[i].tick == best->tick && m[i].seq < best->seq)))
			best = &m[i];
	return best;
}

/* Set by callbacks with a deadline that is past: belongs to the next advance, and to no other order. */
static uint64_t fence;

static void
model_fire(struct timer *t, void *arg, uint64_t now)
{
	struct model *x = arg, *other = &m[rnd(NB)];

	assert_ptr_equal(t, &x->t);
	assert_true(now == w.now_ns);
	assert_true(x->tick <= now / TICK);
	for (int i = 0; i < NB; i++) /* nothing that was set before this advance comes before x */
		if (m[i].tick != UINT64_MAX && m[i].seq <= fence && &m[i] != x)
			assert_true(m[i].tick > x->tick ||
				(m[i].tick == x->tick && m[i].seq > x->seq));
	assert_true(x->seq <= fence);
	x->tick = UINT64_MAX;
	model_fired++;
	switch (rnd(4)) {
	case 0:
		model_set(x, random_deadline());
		break;
	case 1:
		model_set(other, random_deadline());
		break;
	case 2:
		timer_cancel(&w, &other->t);
		other->tick = UINT64_MAX;
		break;
	default:
		break;
	}
}

static void
advance_and_compare(uint64_t now)
{
	struct model *x;

	fence = seq;
	timer_wheel_advance(&w, now);
	x = first();
	if (x != NULL && x->seq <= fence)
		assert_true(x->tick > now / TICK);
	for (int i = 0; i < NB; i++) {
		assert_int_equal(timer_pending(&m[i].t), m[i].tick != UINT64_MAX);
		if (m[i].tick != UINT64_MAX && m[i].seq <= fence)
			assert_true(m[i].tick > now / TICK);
	}
}

static void
model_step(void)
{
	struct model *x = &m[rnd(NB)];
	uint64_t op = rnd(100), next;

	if (op < 70) {
		model_set(x, random_deadline());
	} else if (op < 85) {
		timer_cancel(&w, &x->t);
		x->tick = UINT64_MAX;
	} else if (op < 92) {
		advance_and_compare(w.now_ns + rnd(1ull << rnd(44)));
	} else {
		next = timer_wheel_next(&w);
		x = first();
		assert_int_equal(next == TIMER_NEVER, x == NULL);
		if (x == NULL)
			return;
		assert_true(next <= (x->tick == 0 ? w.now_ns : x->tick * TICK));
		assert_true(next >= w.now_ns);
		advance_and_compare(next);
	}
}

static void
same_as_a_sorted_list_in_100k_random_operations(void **state)
{
	(void)state;
	for (int i = 0; i < NB; i++) {
		timer_init(&m[i].t, model_fire, &m[i]);
		m[i].tick = UINT64_MAX;
	}
	for (int i = 0; i < OPS; i++)
		model_step();
	assert_true(model_fired > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(never_early_and_within_a_tick, setup),
		cmocka_unit_test_setup(one_tick_fires_in_the_order_set, setup),
		cmocka_unit_test_setup(past_deadline_fires_at_the_next_advance, setup),
		cmocka_unit_test_setup(cancel_and_move, setup),
		cmocka_unit_test_setup(callbacks_may_set_and_cancel, setup),
		cmocka_unit_test_setup(a_year_with_nothing_pending_is_quick, setup),
		cmocka_unit_test_setup(next_always_makes_progress, setup),
		cmocka_unit_test_setup(same_as_a_sorted_list_in_100k_random_operations, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

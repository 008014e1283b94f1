/* SPDX-License-Identifier: BSD-3-Clause */
/* The window's state machine: every pair of state and event, and every combination of facts in every state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/reload/fsm.h"

#define LANES 2u

/* What REL-3 allows: from, event, to, actions. */
static const struct allowed {
	enum reload_state from;
	enum reload_event event;
	enum reload_state to;
	unsigned int actions;
} allowed[] = {
	{ RELOAD_T0_IDLE, RELOAD_HUP, RELOAD_T1_GNEW_SPAWN, RELOAD_DO_OPEN | RELOAD_DO_SPAWN },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_ALL_READY, RELOAD_T2_HANDOVER, RELOAD_DO_PARK },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_READY_TIMEOUT, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_GNEW_DIED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_SPAWN_FAILED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_FLIP_FAILED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_ABORT, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T2_HANDOVER, RELOAD_ALL_PARKED, RELOAD_T2_HANDOVER, RELOAD_DO_COMMIT },
	{ RELOAD_T2_HANDOVER, RELOAD_HANDOVER_DONE, RELOAD_T3_DRAIN, 0 },
	{ RELOAD_T2_HANDOVER, RELOAD_GNEW_DIED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T2_HANDOVER, RELOAD_PARK_TIMEOUT, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T2_HANDOVER, RELOAD_FLIP_FAILED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T2_HANDOVER, RELOAD_ABORT, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T3_DRAIN, RELOAD_DRAIN_DONE, RELOAD_T4_DRAIN_DONE, 0 },
	{ RELOAD_T3_DRAIN, RELOAD_DRAIN_DEADLINE, RELOAD_T4_DRAIN_DONE, 0 },
	{ RELOAD_T3_DRAIN, RELOAD_RECLAIMED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T4_DRAIN_DONE, RELOAD_QUIT_GOLD, RELOAD_T5_GOLD_QUIT, RELOAD_DO_QUIT_OLD },
	{ RELOAD_T4_DRAIN_DONE, RELOAD_RECLAIMED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T5_GOLD_QUIT, RELOAD_QUIT_AGAIN, RELOAD_T5_GOLD_QUIT, RELOAD_DO_KILL_OLD },
	{ RELOAD_T5_GOLD_QUIT, RELOAD_GOLD_EXITED, RELOAD_T0_IDLE, RELOAD_DO_CLOSE },
	{ RELOAD_T5_GOLD_QUIT, RELOAD_RECLAIMED, RELOAD_T_ERROR, RELOAD_DO_ABORT },
	{ RELOAD_T_ERROR, RELOAD_ABORT_AGAIN, RELOAD_T_ERROR, RELOAD_DO_KILL_NEW },
	{ RELOAD_T_ERROR, RELOAD_RESET, RELOAD_T0_IDLE, RELOAD_DO_CLOSE_ABORTED },
};

static const struct allowed *
find(enum reload_state s, enum reload_event e)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (allowed[i].from == s && allowed[i].event == e)
			return &allowed[i];
	return NULL;
}

static struct reload_fsm
machine(enum reload_state s)
{
	struct reload_fsm f;

	reload_fsm_init(&f, NULL);
	f.state = s;
	f.since_ms = f.wait_ms = 1000;
	return f;
}

/* REL-3 */
static void
test_every_state_and_event(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < RELOAD_STATES; s++) {
		for (unsigned int e = 0; e < RELOAD_EVENTS; e++) {
			struct reload_fsm f = machine(s), before;
			const struct allowed *a = find(s, e);
			unsigned int actions = 77;

			before = f;
			if (a == NULL) {
				assert_int_equal(reload_fsm_event(&f, e, 1500, &actions), -EINVAL);
				assert_memory_equal(&f, &before, sizeof(f));
				assert_int_equal(actions, 77);
				continue;
			}
			assert_int_equal(reload_fsm_event(&f, e, 1500, &actions), 0);
			assert_int_equal(f.state, a->to);
			assert_int_equal(actions, a->actions);
			assert_int_equal(f.transition, a->to == a->from ? 0 : 1);
			assert_int_equal(f.since_ms, a->to == a->from ? 1000 : 1500);
			assert_int_equal((actions & RELOAD_DO_ABORT) != 0, a->to == RELOAD_T_ERROR && a->from != a->to);
			if (actions & RELOAD_DO_ABORT)
				assert_non_null(f.reason);
		}
	}
}

/* One point of the space of facts; counts 0 .. LANES in base 3, flags in base 2. */
static struct reload_facts
facts_of(unsigned int n)
{
	struct reload_facts x = { .lanes = LANES };
	unsigned int *const counts[] = { &x.new_ready, &x.new_dead, &x.old_live, &x.old_starting, &x.old_parked,
		&x.old_drained, &x.new_alive, &x.lanes_old };
	bool *const flags[] = { &x.stop, &x.committed, &x.retiring, &x.window_lost };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++, n /= LANES + 1)
		*counts[i] = n % (LANES + 1);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++, n /= 2)
		*flags[i] = n % 2;
	x.spawn_failed = n % 2;
	return x;
}

#define ALL_FACTS (6561u * 32)

/* Calls fn for every state, every combination of facts, before and at the deadline. */
static void
everywhere(void (*fn)(const struct reload_fsm *f, const struct reload_facts *x, bool late, enum reload_event e))
{
	for (unsigned int s = 0; s < RELOAD_STATES; s++) {
		struct reload_fsm f = machine(s);
		uint64_t deadline = reload_fsm_deadline(&f);

		for (unsigned int n = 0; n < ALL_FACTS; n++) {
			struct reload_facts x = facts_of(n);

			if (deadline > 1000)
				fn(&f, &x, false, reload_fsm_judge(&f, &x, deadline - 1));
			fn(&f, &x, true, reload_fsm_judge(&f, &x, deadline));
		}
	}
}

static void
expect_legal_and_bounded(const struct reload_fsm *f, const struct reload_facts *x, bool late, enum reload_event e)
{
	(void)x;
	if (f->state == RELOAD_T0_IDLE) {
		assert_int_equal(e, RELOAD_NOTHING); /* only a HUP leads out, and nobody judges one */
		return;
	}
	if (e != RELOAD_NOTHING)
		assert_non_null(find(f->state, e));
	if (late) /* a deadline always has an outcome, whatever the facts are */
		assert_int_not_equal(e, RELOAD_NOTHING);
	assert_int_not_equal(e, RELOAD_HUP);
}

/* REL-3, REL-13 */
static void
test_every_wait_has_a_deadline_and_every_deadline_an_outcome(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < RELOAD_STATES; s++) {
		struct reload_fsm f = machine(s);

		if (s == RELOAD_T0_IDLE)
			assert_true(reload_fsm_deadline(&f) == UINT64_MAX);
		else
			assert_true(reload_fsm_deadline(&f) <= 1000 + 90000);
	}
	everywhere(expect_legal_and_bounded);
}

static void
expect_safe_flip(const struct reload_fsm *f, const struct reload_facts *x, bool late, enum reload_event e)
{
	(void)late;
	if (e == RELOAD_ALL_PARKED) {
		assert_int_equal(f->state, RELOAD_T2_HANDOVER);
		assert_int_equal(x->new_ready, LANES);
		assert_int_equal(x->new_dead, 0);
		assert_true(x->old_parked >= x->old_live);
		assert_false(x->stop || x->window_lost || x->committed);
	}
	if (e == RELOAD_ALL_READY) {
		assert_int_equal(x->new_ready, LANES);
		assert_int_equal(x->new_dead + x->spawn_failed + x->old_starting, 0);
		assert_false(x->stop || x->window_lost);
	}
	if (e == RELOAD_HANDOVER_DONE)
		assert_true(x->committed);
	if (f->state == RELOAD_T2_HANDOVER && x->committed) /* decided: nothing aborts it in this state any more */
		assert_int_equal(e, RELOAD_HANDOVER_DONE);
}

/* REL-4, REL-5, REL-12 */
static void
test_no_flip_without_every_ready_and_every_park(void **state)
{
	(void)state;
	/* the swap of the window is the action of one step only, so what is true of that step is true of every path */
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (allowed[i].actions & RELOAD_DO_COMMIT)
			assert_int_equal(allowed[i].event, RELOAD_ALL_PARKED);
	everywhere(expect_safe_flip);
}

static void
expect_abort_where_named(const struct reload_fsm *f, const struct reload_facts *x, bool late, enum reload_event e)
{
	const struct allowed *a = e == RELOAD_NOTHING ? NULL : find(f->state, e);

	(void)late;
	if (a == NULL || !(a->actions & RELOAD_DO_ABORT))
		return;
	if (f->state == RELOAD_T1_GNEW_SPAWN || f->state == RELOAD_T2_HANDOVER)
		return;
	/* after the flip only an old worker's own swap brings the lanes back */
	assert_int_equal(e, RELOAD_RECLAIMED);
	assert_true(x->window_lost);
}

/* REL-3, REL-12 */
static void
test_abort_before_the_flip_and_by_reclaim_after_it(void **state)
{
	(void)state;
	everywhere(expect_abort_where_named);
}

static void
expect_leaving_is_earned(const struct reload_fsm *f, const struct reload_facts *x, bool late, enum reload_event e)
{
	if (f->state == RELOAD_T5_GOLD_QUIT && e == RELOAD_GOLD_EXITED)
		assert_int_equal(x->old_live, 0);
	if (f->state == RELOAD_T_ERROR && e == RELOAD_RESET)
		assert_true(x->new_alive == 0 && x->lanes_old == LANES);
	if (e == RELOAD_DRAIN_DONE)
		assert_true(x->old_drained >= x->old_live);
	if (e == RELOAD_DRAIN_DEADLINE)
		assert_true(late || x->stop || x->retiring);
	if (f->state != RELOAD_T0_IDLE && f->state != RELOAD_T3_DRAIN && !late && e == RELOAD_NOTHING && x->stop)
		assert_true(f->state == RELOAD_T5_GOLD_QUIT || f->state == RELOAD_T_ERROR);
}

/* PAR-3, REL-8, REL-12 */
static void
test_t0_is_reached_only_with_one_generation_left(void **state)
{
	(void)state;
	everywhere(expect_leaving_is_earned);
}

/* Judges, takes the event and says which; fails when it is not legal. */
static enum reload_event
go(struct reload_fsm *f, const struct reload_facts *x, uint64_t now)
{
	enum reload_event e = reload_fsm_judge(f, x, now);
	unsigned int actions;

	if (e != RELOAD_NOTHING)
		assert_int_equal(reload_fsm_event(f, e, now, &actions), 0);
	return e;
}

/* REL-3 */
static void
test_a_normal_round_is_six_transitions(void **state)
{
	struct reload_facts x = { .lanes = LANES, .old_live = LANES, .lanes_old = LANES };
	struct reload_fsm f;
	unsigned int actions;

	(void)state;
	reload_fsm_init(&f, NULL);
	assert_int_equal(reload_fsm_event(&f, RELOAD_HUP, 10, &actions), 0);
	assert_int_equal(go(&f, &x, 20), RELOAD_NOTHING);
	x.new_ready = x.new_alive = LANES;
	assert_int_equal(go(&f, &x, 110), RELOAD_ALL_READY);
	assert_int_equal(go(&f, &x, 111), RELOAD_NOTHING);
	x.old_parked = LANES;
	assert_int_equal(go(&f, &x, 112), RELOAD_ALL_PARKED);
	assert_int_equal(f.transition, 2);
	x.committed = true;
	assert_int_equal(go(&f, &x, 113), RELOAD_HANDOVER_DONE);
	assert_int_equal(f.handover_ms, 3);
	assert_int_equal(go(&f, &x, 114), RELOAD_NOTHING);
	x.old_drained = LANES;
	assert_int_equal(go(&f, &x, 1113), RELOAD_DRAIN_DONE);
	assert_int_equal(f.drain_ms, 1000);
	assert_int_equal(go(&f, &x, 1113), RELOAD_QUIT_GOLD);
	assert_int_equal(go(&f, &x, 1114), RELOAD_NOTHING);
	x.old_live = 0;
	assert_int_equal(go(&f, &x, 1200), RELOAD_GOLD_EXITED);
	assert_int_equal(f.transition, 6);
	assert_int_equal(f.state, RELOAD_T0_IDLE);
	assert_int_equal(f.began_ms, 10);
	assert_false(f.forced);
	assert_null(f.reason);
	/* and the next round counts from 1 again */
	assert_int_equal(reload_fsm_event(&f, RELOAD_HUP, 2000, &actions), 0);
	assert_int_equal(f.transition, 1);
	assert_int_equal(f.handover_ms + f.drain_ms, 0);
}

/* REL-8 */
static void
test_a_forced_drain_is_marked(void **state)
{
	struct reload_facts x = { .lanes = LANES, .old_live = LANES, .new_ready = LANES, .committed = true };
	struct reload_fsm f = machine(RELOAD_T3_DRAIN);

	(void)state;
	assert_int_equal(go(&f, &x, 1000 + 89999), RELOAD_NOTHING);
	assert_int_equal(go(&f, &x, 1000 + 90000), RELOAD_DRAIN_DEADLINE);
	assert_true(f.forced);
	f = machine(RELOAD_T3_DRAIN);
	x.stop = true; /* a stop order does not wait for the drain */
	assert_int_equal(go(&f, &x, 1001), RELOAD_DRAIN_DEADLINE);
	assert_true(f.forced);
}

/* REL-13 */
static void
test_second_stages_come_again_and_again(void **state)
{
	struct reload_facts x = { .lanes = LANES, .old_live = 1, .new_alive = 1, .lanes_old = LANES };
	struct reload_fsm f = machine(RELOAD_T5_GOLD_QUIT);

	(void)state;
	assert_int_equal(go(&f, &x, 10999), RELOAD_NOTHING);
	assert_int_equal(go(&f, &x, 11000), RELOAD_QUIT_AGAIN);
	assert_int_equal(go(&f, &x, 11001), RELOAD_NOTHING);
	assert_int_equal(go(&f, &x, 21000), RELOAD_QUIT_AGAIN);
	assert_int_equal(f.since_ms, 1000);
	f = machine(RELOAD_T_ERROR);
	assert_int_equal(go(&f, &x, 11000), RELOAD_ABORT_AGAIN);
	assert_int_equal(go(&f, &x, 20999), RELOAD_NOTHING);
	assert_int_equal(go(&f, &x, 21000), RELOAD_ABORT_AGAIN);
}

/* REL-5 */
static void
test_the_park_limit_does_not_begin_again_at_the_flip(void **state)
{
	struct reload_facts x = { .lanes = LANES, .old_live = LANES, .old_parked = LANES, .new_ready = LANES };
	struct reload_fsm f = machine(RELOAD_T2_HANDOVER);

	(void)state;
	assert_int_equal(go(&f, &x, 1090), RELOAD_ALL_PARKED);
	assert_int_equal(reload_fsm_deadline(&f), 1100);
}

/* REL-13 */
static void
test_a_round_left_by_a_dead_master_goes_on(void **state)
{
	struct reload_fsm f;

	(void)state;
	for (unsigned int s = 0; s < RELOAD_STATES; s++) {
		reload_fsm_init(&f, NULL);
		if (s == RELOAD_T3_DRAIN || s == RELOAD_T5_GOLD_QUIT || s == RELOAD_T_ERROR) {
			assert_int_equal(reload_fsm_resume(&f, s, 500), 0);
			assert_int_equal(f.state, s);
			assert_int_equal(f.since_ms, 500);
			assert_int_equal(reload_fsm_resume(&f, s, 500), -EINVAL);
		} else {
			assert_int_equal(reload_fsm_resume(&f, s, 500), -EINVAL);
			assert_int_equal(f.state, RELOAD_T0_IDLE);
		}
	}
}

/* REL-3 */
static void
test_limits_and_their_defaults(void **state)
{
	struct reload_limits l = { .ready = 5, .drain = 7 };
	struct reload_fsm f;

	(void)state;
	reload_fsm_init(&f, NULL);
	assert_int_equal(f.limits.ready, 60000);
	assert_int_equal(f.limits.park, 100);
	assert_int_equal(f.limits.drain, 90000);
	assert_int_equal(f.limits.quit_again, 10000);
	assert_int_equal(f.limits.abort, 10000);
	reload_fsm_init(&f, &l);
	assert_int_equal(f.limits.ready, 5);
	assert_int_equal(f.limits.park, 100);
	assert_int_equal(f.limits.drain, 7);
	/* a state that memory never should hold waits for nothing and does nothing */
	f.state = RELOAD_STATES;
	assert_true(reload_fsm_deadline(&f) == UINT64_MAX);
	assert_int_equal(reload_fsm_judge(&f, &(struct reload_facts){ .lanes = 1 }, 1), RELOAD_NOTHING);
}

/* REL-3 */
static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(reload_state_name(RELOAD_T0_IDLE), "T0_IDLE");
	assert_string_equal(reload_state_name(RELOAD_T5_GOLD_QUIT), "T5_GOLD_QUIT");
	assert_string_equal(reload_state_name(RELOAD_T_ERROR), "T_ERROR");
	assert_string_equal(reload_state_name(RELOAD_STATES), "?");
	assert_string_equal(reload_event_name(RELOAD_NOTHING), "NOTHING");
	assert_string_equal(reload_event_name(RELOAD_FLIP_FAILED), "FLIP_FAILED");
	assert_string_equal(reload_event_name(RELOAD_RESET), "RESET");
	assert_string_equal(reload_event_name(RELOAD_EVENTS), "?");
	for (unsigned int e = 0; e < RELOAD_EVENTS; e++)
		for (unsigned int o = 0; o < e; o++)
			assert_string_not_equal(reload_event_name(e), reload_event_name(o));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_state_and_event),
		cmocka_unit_test(test_every_wait_has_a_deadline_and_every_deadline_an_outcome),
		cmocka_unit_test(test_no_flip_without_every_ready_and_every_park),
		cmocka_unit_test(test_abort_before_the_flip_and_by_reclaim_after_it),
		cmocka_unit_test(test_t0_is_reached_only_with_one_generation_left),
		cmocka_unit_test(test_a_normal_round_is_six_transitions),
		cmocka_unit_test(test_a_forced_drain_is_marked),
		cmocka_unit_test(test_second_stages_come_again_and_again),
		cmocka_unit_test(test_the_park_limit_does_not_begin_again_at_the_flip),
		cmocka_unit_test(test_a_round_left_by_a_dead_master_goes_on),
		cmocka_unit_test(test_limits_and_their_defaults),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timer wheel: hierarchical, 2^20 ns (1.05 ms) per tick, O(1) set and cancel, no allocation.
 * A timer never fires early. Timers fire in order of their ticks, and within one tick in the order
 * they were set, so that equal deadlines are deterministic (DESIGN "Time"). One wheel, one thread.
 */
#ifndef NONIC_STACK_TIMER_H
#define NONIC_STACK_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/list.h"

#define TIMER_TICK_SHIFT 20
#define TIMER_NEVER UINT64_MAX
#define TIMER_LEVELS 8
#define TIMER_SLOTS 64 /* 8 levels of 64 slots are 48 bits of ticks: every 64-bit time has its slot */

struct timer;
typedef void timer_fn(struct timer *t, void *arg, uint64_t now_ns);

struct timer {
	struct list link;     /* unlinked when not pending */
	uint64_t deadline_ns; /* TIMER_NEVER when not pending */
	timer_fn *fn;
	void *arg;
};

/*
 * A tick's slot is at the level of the highest 6-bit digit in which it differs from the wheel's tick, so
 * that all timers of one tick are always in one list, in the order they were set, and stay in it when
 * the list moves down a level.
 */
struct timer_wheel {
	uint64_t now_ns;                             /* the last advance */
	uint64_t tick;                               /* the last tick that was fired */
	uint64_t pending;                            /* number of pending timers */
	uint64_t occupied[TIMER_LEVELS];             /* a bit for each slot that is not empty */
	struct list slot[TIMER_LEVELS][TIMER_SLOTS];
	struct list due;                             /* set for a time that was past: next advance */
};

void timer_wheel_init(struct timer_wheel *w, uint64_t now_ns);
/*
 * Fires everything due at now_ns; a callback may set and cancel any timer, its own included. What a callback
 * sets for now_ns or earlier fires at the next advance, never in this one, so that an advance always
 * ends. Asserts that now_ns is not before the last advance. Returns the number of timers fired.
 */
unsigned int timer_wheel_advance(struct timer_wheel *w, uint64_t now_ns);
/*
 * A lower bound of the next firing time that is later than now unless something is due; TIMER_NEVER when
 * nothing is pending. Exact (rounded up to a tick) within the current 64 ticks, else the time at which a
 * list moves down a level: advancing to the value returned always makes progress.
 */
uint64_t timer_wheel_next(const struct timer_wheel *w);

void timer_init(struct timer *t, timer_fn *fn, void *arg);
/* Sets or moves t; a deadline in the past fires at the next advance. TIMER_NEVER cancels. */
void timer_set(struct timer_wheel *w, struct timer *t, uint64_t deadline_ns);
/* Harmless when t is not pending. */
void timer_cancel(struct timer_wheel *w, struct timer *t);

static inline bool
timer_pending(const struct timer *t)
{
	return t->deadline_ns != TIMER_NEVER;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer wheel: eight levels of 64 slots, occupancy bits to jump over what is empty. */
#include "timer.h"

#include <assert.h>

#define DIGIT_BITS 6
#define TICK_NS (1ull << TIMER_TICK_SHIFT)

static inline unsigned int
digit(uint64_t tick, unsigned int level)
{
	return tick >> (level * DIGIT_BITS) & (TIMER_SLOTS - 1);
}

/* The first tick that is not before ns. */
static inline uint64_t
tick_after(uint64_t ns)
{
	return (ns >> TIMER_TICK_SHIFT) + ((ns & (TICK_NS - 1)) != 0);
}

static void
file(struct timer_wheel *w, struct timer *t)
{
	uint64_t tick = tick_after(t->deadline_ns);
	uint64_t differs = tick ^ w->tick;
	unsigned int level = 0, d;

	if (differs != 0)
		level = (63 - (unsigned int)__builtin_clzll(differs)) / DIGIT_BITS;
	d = digit(tick, level);
	list_add_tail(&w->slot[level][d], &t->link);
	w->occupied[level] |= 1ull << d;
}

void
timer_wheel_init(struct timer_wheel *w, uint64_t now_ns)
{
	w->now_ns = now_ns;
	w->tick = now_ns >> TIMER_TICK_SHIFT;
	w->pending = 0;
	list_init(&w->due);
	for (unsigned int l = 0; l < TIMER_LEVELS; l++) {
		w->occupied[l] = 0;
		for (unsigned int i = 0; i < TIMER_SLOTS; i++)
			list_init(&w->slot[l][i]);
	}
}

void
timer_init(struct timer *t, timer_fn *fn, void *arg)
{
	list_init(&t->link);
	t->deadline_ns = TIMER_NEVER;
	t->fn = fn;
	t->arg = arg;
}

void
timer_cancel(struct timer_wheel *w, struct timer *t)
{
	struct list *head = t->link.next;
	bool last = head == t->link.prev;

	if (!timer_pending(t))
		return;
	list_del(&t->link);
	t->deadline_ns = TIMER_NEVER;
	w->pending--;
	/* When t was alone, its neighbour is the list's head; is that one of the slots? */
	if (last && head >= &w->slot[0][0] && head < &w->slot[0][0] + TIMER_LEVELS * TIMER_SLOTS) {
		size_t i = (size_t)(head - &w->slot[0][0]);

		w->occupied[i / TIMER_SLOTS] &= ~(1ull << i % TIMER_SLOTS);
	}
}

void
timer_set(struct timer_wheel *w, struct timer *t, uint64_t deadline_ns)
{
	timer_cancel(w, t);
	if (deadline_ns == TIMER_NEVER)
		return;
	t->deadline_ns = deadline_ns;
	w->pending++;
	if (deadline_ns <= w->now_ns)
		list_add_tail(&w->due, &t->link);
	else
		file(w, t);
}

/* Moves everything of `from` to the empty list `to`. */
static void
take(struct list *from, struct list *to)
{
	list_init(to);
	if (list_empty(from))
		return;
	*to = *from;
	to->next->prev = to;
	to->prev->next = to;
	list_init(from);
}

static unsigned int
fire(struct timer_wheel *w, struct list *from)
{
	struct list batch, *n;
	unsigned int fired = 0;

	take(from, &batch);
	while ((n = list_pop(&batch)) != NULL) {
		struct timer *t = list_entry(n, struct timer, link);

		t->deadline_ns = TIMER_NEVER;
		w->pending--;
		fired++;
		t->fn(t, t->arg, w->now_ns);
	}
	return fired;
}

/*
 * The first tick after the current one at which a slot is to be fired (level 0) or moved down. A lower
 * level's slots all come before those of a higher one. UINT64_MAX: no slot is occupied.
 */
static uint64_t
next_slot(const struct timer_wheel *w, unsigned int *level, unsigned int *slot)
{
	for (unsigned int l = 0; l < TIMER_LEVELS; l++) {
		unsigned int d = digit(w->tick, l);
		uint64_t later = w->occupied[l] & ~(UINT64_MAX >> (63 - d));
		unsigned int shift = l * DIGIT_BITS;

		if (later == 0)
			continue;
		*level = l;
		*slot = (unsigned int)__builtin_ctzll(later);
		return (w->tick >> shift >> DIGIT_BITS << DIGIT_BITS | *slot) << shift;
	}
	return UINT64_MAX;
}

unsigned int
timer_wheel_advance(struct timer_wheel *w, uint64_t now_ns)
{
	uint64_t end = now_ns >> TIMER_TICK_SHIFT, tick;
	unsigned int fired, level = 0, slot = 0;

	assert(now_ns >= w->now_ns);
	w->now_ns = now_ns;
	fired = fire(w, &w->due);
	while ((tick = next_slot(w, &level, &slot)) <= end) {
		struct list moved, *n;

		w->tick = tick;
		w->occupied[level] &= ~(1ull << slot);
		if (level == 0) {
			fired += fire(w, &w->slot[0][slot]);
			continue;
		}
		take(&w->slot[level][slot], &moved);
		while ((n = list_pop(&moved)) != NULL)
			file(w, list_entry(n, struct timer, link));
		if (w->occupied[0] & 1) { /* the first tick of the block itself */
			w->occupied[0] &= ~1ull;
			fired += fire(w, &w->slot[0][0]);
		}
	}
	w->tick = end;
	return fired;
}

uint64_t
timer_wheel_next(const struct timer_wheel *w)
{
	unsigned int level, slot;
	uint64_t tick;

	if (!list_empty(&w->due))
		return w->now_ns;
	tick = next_slot(w, &level, &slot);
	if (tick > UINT64_MAX >> TIMER_TICK_SHIFT)
		return TIMER_NEVER; /* past the end of 64-bit time, or nothing */
	return tick << TIMER_TICK_SHIFT;
}

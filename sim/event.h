/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world's event queue: a binary heap by (time, insertion sequence), so that equal times fire in the order they
 * were set. Events are allocated by the queue; a handle is valid until the event fires or is cancelled.
 */
#ifndef NONIC_SIM_EVENT_H
#define NONIC_SIM_EVENT_H

#include <stddef.h>
#include <stdint.h>

typedef void sim_event_fn(void *arg, uint64_t now_ns);

struct sim_event {
	uint64_t at_ns;
	uint64_t seq;
	size_t index;        /* place in the heap */
	sim_event_fn *fn;
	sim_event_fn *drop;  /* called instead of fn when the queue ends before the event; may be NULL */
	void *arg;
};

struct sim_queue {
	struct sim_event **heap;
	size_t n, room;
	uint64_t seq;
};

void sim_queue_init(struct sim_queue *q);
/* Drops every event that is left. */
void sim_queue_release(struct sim_queue *q);
/* NULL when out of memory. */
struct sim_event *sim_queue_add(struct sim_queue *q, uint64_t at_ns, sim_event_fn *fn, sim_event_fn *drop, void *arg);
/* Takes ev out without calling anything and forgets it. */
void sim_queue_cancel(struct sim_queue *q, struct sim_event *ev);
/* Time of the first event, UINT64_MAX when empty. */
uint64_t sim_queue_next(const struct sim_queue *q);
/* Takes out the first event into *ev (a copy); 0 when empty, else 1. */
int sim_queue_pop(struct sim_queue *q, struct sim_event *ev);

#endif

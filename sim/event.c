/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of events; see event.h. */
#include "event.h"

#include <stdbool.h>
#include <stdlib.h>

void
sim_queue_init(struct sim_queue *q)
{
	*q = (struct sim_queue){ 0 };
}

void
sim_queue_release(struct sim_queue *q)
{
	struct sim_event ev;

	while (sim_queue_pop(q, &ev))
		if (ev.drop != NULL)
			ev.drop(ev.arg, ev.at_ns);
	free(q->heap);
	*q = (struct sim_queue){ 0 };
}

static bool
before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

static void
place(struct sim_queue *q, size_t i, struct sim_event *ev)
{
	q->heap[i] = ev;
	ev->index = i;
}

static void
sift_up(struct sim_queue *q, size_t i, struct sim_event *ev)
{
	while (i > 0 && before(ev, q->heap[(i - 1) / 2])) {
		place(q, i, q->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(q, i, ev);
}

static void
sift_down(struct sim_queue *q, size_t i, struct sim_event *ev)
{
	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= q->n)
			break;
		if (c + 1 < q->n && before(q->heap[c + 1], q->heap[c]))
			c++;
		if (!before(q->heap[c], ev))
			break;
		place(q, i, q->heap[c]);
		i = c;
	}
	place(q, i, ev);
}

struct sim_event *
sim_queue_add(struct sim_queue *q, uint64_t at_ns, sim_event_fn *fn, sim_event_fn *drop, void *arg)
{
	struct sim_event *ev;

	if (q->n == q->room) {
		size_t room = q->room == 0 ? 64 : q->room * 2;
		struct sim_event **heap = realloc(q->heap, room * sizeof(*heap));

		if (heap == NULL)
			return NULL;
		q->heap = heap;
		q->room = room;
	}
	ev = malloc(sizeof(*ev));
	if (ev == NULL)
		return NULL;
	*ev = (struct sim_event){ .at_ns = at_ns, .seq = q->seq++, .fn = fn, .drop = drop, .arg = arg };
	sift_up(q, q->n++, ev);
	return ev;
}

static void
take_out(struct sim_queue *q, size_t i)
{
	struct sim_event *last = q->heap[--q->n];

	if (i == q->n)
		return;
	if (i > 0 && before(last, q->heap[(i - 1) / 2]))
		sift_up(q, i, last);
	else
		sift_down(q, i, last);
}

void
sim_queue_cancel(struct sim_queue *q, struct sim_event *ev)
{
	take_out(q, ev->index);
	free(ev);
}

uint64_t
sim_queue_next(const struct sim_queue *q)
{
	return q->n == 0 ? UINT64_MAX : q->heap[0]->at_ns;
}

int
sim_queue_pop(struct sim_queue *q, struct sim_event *ev)
{
	struct sim_event *first;

	if (q->n == 0)
		return 0;
	first = q->heap[0];
	*ev = *first;
	take_out(q, 0);
	free(first);
	return 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One sender's recovery state without a stack: memory is counted and can fail; short words to send and acknowledge.
 */
#ifndef NONIC_UNIT_STACK_TCP_REC_WORLD_H
#define NONIC_UNIT_STACK_TCP_REC_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/stack/tcp/recovery_priv.h"

#define MS 1000000ull
#define SEC 1000000000ull
#define MSS 1000u
#define ISS 0xffffe000u /* the numbers wrap within the first segments */

struct rec_world {
	struct rec_pool pool;
	struct rec r;
	struct rec_out out;
	uint64_t now;
	int live;    /* chunks */
	int budget;  /* chunks that may still be had; -1: any number */
	uint32_t base; /* sequence number of the first data byte */
	uint32_t unsent;
};

static void *
world_alloc(void *ctx, size_t n)
{
	struct rec_world *w = ctx;

	if (w->budget == 0)
		return NULL;
	if (w->budget > 0)
		w->budget--;
	w->live++;
	return malloc(n);
}

static void
world_free(void *ctx, void *p)
{
	struct rec_world *w = ctx;

	w->live--;
	free(p);
}

enum world_opts { W_SACK = 1, W_TS = 2, W_CUBIC = 4, W_CLOSED = 8 };

static struct rec_world *
world_new(unsigned int opts)
{
	struct rec_world *w = calloc(1, sizeof(*w));
	const struct rec_mem mem = { world_alloc, world_free, w };
	struct rec_open o = { .now = SEC, .iss = ISS, .mss = MSS, .passive = true };

	assert_non_null(w);
	w->budget = -1;
	w->now = SEC;
	w->base = ISS + 1;
	rec_pool_init(&w->pool, NULL, &mem);
	rec_init(&w->r, &w->pool, (opts & W_CUBIC) != 0 ? &cc_cubic : &cc_newreno, ISS, MSS);
	if ((opts & W_CLOSED) != 0)
		return w;
	o.sack = (opts & W_SACK) != 0;
	o.ts = (opts & W_TS) != 0;
	rec_open(&w->r, &o);
	return w;
}

static void
world_end(struct rec_world *w)
{
	rec_release(&w->r);
	rec_release(&w->r); /* harmless twice */
	rec_pool_release(&w->pool);
	assert_int_equal(w->live, 0);
	free(w);
}

/* n new segments, one call each. */
static void
world_send(struct rec_world *w, unsigned int n)
{
	while (n-- > 0)
		assert_int_equal(rec_sent(&w->r, w->now, w->r.nxt, w->r.nxt + MSS), 0);
	assert_true(rec_check(&w->r));
}

/* n segments in one burst call. */
static void
world_burst(struct rec_world *w, unsigned int n)
{
	assert_int_equal(rec_sent(&w->r, w->now, w->r.nxt, w->r.nxt + n * MSS), 0);
	assert_true(rec_check(&w->r));
}

/* What the window allows now; how many whole segments went out. */
static unsigned int
world_fill(struct rec_world *w)
{
	unsigned int n = 0;

	while (rec_can_send(&w->r, w->now) >= MSS) {
		world_send(w, 1);
		n++;
	}
	return n;
}

static struct rec_in
world_in(const struct rec_world *w, uint32_t seg)
{
	struct rec_in in = { .now = w->now, .ack = w->base + seg * MSS, .unsent = w->unsent };

	return in;
}

static void
world_take(struct rec_world *w, const struct rec_in *in)
{
	rec_ack(&w->r, in, &w->out);
	assert_true(rec_check(&w->r));
}

/* An ACK of everything below segment number seg (0: the first). */
static void
world_ack(struct rec_world *w, uint32_t seg)
{
	struct rec_in in = world_in(w, seg);

	world_take(w, &in);
}

/* The same with one SACK block of segments a to b - 1. */
static void
world_sack(struct rec_world *w, uint32_t seg, uint32_t a, uint32_t b)
{
	struct rec_in in = world_in(w, seg);

	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base + a * MSS, w->base + b * MSS };
	world_take(w, &in);
}

/* Sends again what recovery wants; the number of segments, the first of which is *first (by number). */
static unsigned int
world_resend(struct rec_world *w, uint32_t *first)
{
	struct rec_range g;
	unsigned int n = 0;

	while (rec_next(&w->r, w->now, MSS, w->r.nxt + 1, &g)) {
		if (n++ == 0 && first != NULL)
			*first = (g.seq - w->base) / MSS;
		assert_true(n < 10000);
		assert_int_equal(rec_sent(&w->r, w->now, g.seq, g.end), 0);
		assert_true(rec_check(&w->r));
	}
	return n;
}

/* Lets the timer fire at its time. */
static unsigned int
world_timer(struct rec_world *w)
{
	unsigned int ev;

	assert_true(rec_deadline(&w->r) != REC_NEVER);
	if (rec_deadline(&w->r) > w->now)
		w->now = rec_deadline(&w->r);
	ev = rec_timer(&w->r, w->now, w->unsent);
	assert_true(rec_check(&w->r));
	return ev;
}

#endif

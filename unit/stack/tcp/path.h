/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network in a few lines, in virtual time: one bottleneck with a queue, delay, losses by number or chance,
 * receivers with SACK.
 */
#ifndef NONIC_UNIT_STACK_TCP_PATH_H
#define NONIC_UNIT_STACK_TCP_PATH_H

#include "rec_world.h"

#define PATH_EVENTS 16384
#define PATH_HOLES 4096

struct path_event {
	uint64_t at;
	struct path_flow *flow;
	bool is_ack;
	struct rec_range seg;   /* data */
	struct rec_in in;       /* acknowledgement */
	uint64_t ts;            /* when the data was sent */
};

struct path {
	uint64_t now, delay, busy;  /* ns */
	uint64_t ns_per_byte, queue; /* queue: bytes, 0: no limit */
	uint32_t loss_permille, reorder_permille;
	uint64_t seed;
	const uint32_t *drop;       /* numbers of data transmissions that get lost, ascending; 0 ends */
	uint32_t nb_sent, nb_lost;
	unsigned int nb_flows;
	struct path_flow *flows[4];
	unsigned int n;
	struct path_event ev[PATH_EVENTS]; /* a heap */
};

struct path_flow {
	struct rec_pool pool;
	struct rec r;
	struct rec_world mem;   /* its memory only */
	struct path *path;
	uint32_t rcv_nxt, end;  /* end: of the stream, by sequence number */
	struct rec_range got[PATH_HOLES], dup;
	unsigned int nb_got;
	bool sack, ts, started, done;
	uint64_t start, done_at, delivered;
	uint32_t rtos, recoveries, undos;
};

static uint64_t
path_random(struct path *p)
{
	p->seed ^= p->seed << 13;
	p->seed ^= p->seed >> 7;
	p->seed ^= p->seed << 17;
	return p->seed;
}

static void
path_push(struct path *p, const struct path_event *e)
{
	unsigned int i = p->n++;

	assert_true(p->n <= PATH_EVENTS);
	for (; i > 0 && e->at < p->ev[(i - 1) / 2].at; i = (i - 1) / 2)
		p->ev[i] = p->ev[(i - 1) / 2];
	p->ev[i] = *e;
}

static struct path_event
path_pop(struct path *p)
{
	struct path_event top = p->ev[0];
	struct path_event last = p->ev[--p->n];
	unsigned int i = 0;

	for (;;) {
		unsigned int c = 2 * i + 1;

		if (c >= p->n)
			break;
		if (c + 1 < p->n && p->ev[c + 1].at < p->ev[c].at)
			c++;
		if (last.at <= p->ev[c].at)
			break;
		p->ev[i] = p->ev[c];
		i = c;
	}
	p->ev[i] = last;
	return top;
}

static bool
path_loses(struct path *p, uint32_t len)
{
	uint64_t backlog = p->busy > p->now ? (p->busy - p->now) / (p->ns_per_byte != 0 ? p->ns_per_byte : 1) : 0;

	p->nb_sent++;
	if (p->drop != NULL && *p->drop == p->nb_sent) {
		p->drop++;
		return true;
	}
	if (p->loss_permille != 0 && path_random(p) % 1000 < p->loss_permille)
		return true;
	return p->queue != 0 && backlog + len > p->queue;
}

static void
path_transmit(struct path_flow *f, uint32_t seq, uint32_t end)
{
	struct path *p = f->path;
	struct path_event e = { .flow = f, .seg = { seq, end }, .ts = p->now };

	while (seq != end) { /* offloaded segments come out one by one */
		uint32_t len = end - seq > MSS ? MSS : end - seq;

		if (path_loses(p, len)) {
			p->nb_lost++;
		} else {
			p->busy = (p->busy > p->now ? p->busy : p->now) + len * p->ns_per_byte;
			e.at = p->busy + p->delay;
			if (p->reorder_permille != 0 && path_random(p) % 1000 < p->reorder_permille)
				e.at += 2 * MS;
			e.seg = (struct rec_range){ seq, seq + len };
			path_push(p, &e);
		}
		seq += len;
	}
}

static void
path_output(struct path_flow *f)
{
	struct path *p = f->path;
	struct rec_range g;
	uint32_t n;

	while (rec_next(&f->r, p->now, MSS, f->r.nxt, &g)) {
		assert_int_equal(rec_sent(&f->r, p->now, g.seq, g.end), 0);
		path_transmit(f, g.seq, g.end);
	}
	while (f->r.nxt != f->end && (n = rec_can_send(&f->r, p->now)) > 0) {
		uint32_t want = f->end - f->r.nxt < MSS ? f->end - f->r.nxt : MSS;
		uint32_t seq = f->r.nxt;

		if (n < want)
			break;
		assert_int_equal(rec_sent(&f->r, p->now, seq, seq + want), 0);
		path_transmit(f, seq, seq + want);
	}
}

/* seg joins what was received out of order; the joint block moves to the front (RFC 2018 4). */
static void
path_hold(struct path_flow *f, struct rec_range seg)
{
	unsigned int i, k;

	for (i = k = 0; i < f->nb_got; i++) {
		struct rec_range b = f->got[i];

		if (seq_le(b.seq, seg.end) && seq_le(seg.seq, b.end)) {
			if (seq_le(b.seq, seg.seq) && seq_le(seg.end, b.end))
				f->dup = seg;
			if (seq_lt(b.seq, seg.seq))
				seg.seq = b.seq;
			if (seq_lt(seg.end, b.end))
				seg.end = b.end;
		} else {
			f->got[k++] = b;
		}
	}
	assert_true(k < PATH_HOLES);
	memmove(f->got + 1, f->got, k * sizeof(f->got[0]));
	f->got[0] = seg;
	f->nb_got = k + 1;
	if (!seq_le(seg.seq, f->rcv_nxt))
		return;
	f->rcv_nxt = seg.end;
	memmove(f->got, f->got + 1, k * sizeof(f->got[0]));
	f->nb_got = k;
}

static void
path_receive(struct path_flow *f, const struct path_event *d)
{
	struct path *p = f->path;
	struct path_event e = { .at = p->now + p->delay, .flow = f, .is_ack = true };
	unsigned int i;

	f->dup = (struct rec_range){ 0, 0 };
	if (seq_le(d->seg.end, f->rcv_nxt)) {
		f->dup = d->seg;
	} else {
		uint32_t before = f->rcv_nxt;

		path_hold(f, d->seg);
		f->delivered += f->rcv_nxt - before;
	}
	e.in.ack = f->rcv_nxt;
	if (f->ts) {
		e.in.flags = REC_IN_TS;
		e.in.ecr_ns = d->ts - d->ts % MS;
	}
	if (f->sack && f->dup.seq != f->dup.end)
		e.in.sack[e.in.n_sack++] = f->dup;
	for (i = 0; f->sack && i < f->nb_got && e.in.n_sack < 3; i++)
		e.in.sack[e.in.n_sack++] = f->got[i];
	path_push(p, &e);
}

static void
path_acked(struct path_flow *f, struct rec_in *in)
{
	struct rec_out out;

	in->now = f->path->now;
	in->unsent = f->end - f->r.nxt;
	rec_ack(&f->r, in, &out);
	f->recoveries += (out.ev & REC_EV_RECOVERY) != 0;
	f->undos += (out.ev & REC_EV_UNDO) != 0;
	if (f->r.una == f->end && !f->done) {
		f->done = true;
		f->done_at = f->path->now;
	}
	path_output(f);
}

/* Runs until every flow is done or it is until; false: nothing could happen any more and not everything is done. */
static bool
path_run(struct path *p, uint64_t until)
{
	for (;;) {
		uint64_t at = p->n != 0 ? p->ev[0].at : REC_NEVER;
		struct path_flow *timer = NULL;
		bool done = true;
		unsigned int i;

		for (i = 0; i < p->nb_flows; i++) {
			struct path_flow *f = p->flows[i];
			uint64_t d = f->started ? rec_deadline(&f->r) : f->start;

			done &= f->done;
			if (d < at) {
				at = d;
				timer = f;
			}
		}
		if (done || at > until)
			return true;
		if (at == REC_NEVER)
			return false;
		if (at > p->now)
			p->now = at;
		if (timer != NULL) {
			unsigned int ev = rec_timer(&timer->r, p->now, timer->end - timer->r.nxt);

			timer->started = true;
			timer->rtos += (ev & REC_EV_RTO) != 0;
			timer->recoveries += (ev & REC_EV_RECOVERY) != 0;
			path_output(timer);
		} else {
			struct path_event e = path_pop(p);

			if (e.is_ack)
				path_acked(e.flow, &e.in);
			else
				path_receive(e.flow, &e);
		}
	}
}

/* A flow of bytes over p that begins at start. */
static struct path_flow *
path_flow_new(struct path *p, const struct cc_ops *ops, bool sack, bool ts, uint64_t start, uint32_t bytes)
{
	struct path_flow *f = calloc(1, sizeof(*f));
	const struct rec_mem mem = { world_alloc, world_free, &f->mem };
	struct rec_config cfg;
	struct rec_open o = { .now = start, .iss = ISS, .mss = MSS, .passive = true, .sack = sack, .ts = ts };

	assert_non_null(f);
	f->mem.budget = -1;
	rec_config_default(&cfg);
	rec_pool_init(&f->pool, &cfg, &mem);
	rec_init(&f->r, &f->pool, ops, ISS, MSS);
	o.rtt_us = (uint32_t)(2 * p->delay / 1000);
	rec_open(&f->r, &o);
	f->path = p;
	f->rcv_nxt = f->r.una;
	f->end = f->r.una + bytes;
	f->sack = sack;
	f->ts = ts;
	f->start = start;
	p->flows[p->nb_flows++] = f;
	return f;
}

static struct path *
path_new(uint64_t rtt_ms, uint64_t mbit, uint64_t queue)
{
	struct path *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->now = SEC;
	p->delay = rtt_ms * MS / 2;
	p->ns_per_byte = 8000 / mbit;
	p->queue = queue;
	p->seed = 0x9e3779b97f4a7c15ull;
	return p;
}

static void
path_end(struct path *p)
{
	unsigned int i;

	for (i = 0; i < p->nb_flows; i++) {
		rec_release(&p->flows[i]->r);
		rec_pool_release(&p->flows[i]->pool);
		assert_int_equal(p->flows[i]->mem.live, 0);
		free(p->flows[i]);
	}
	free(p);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUBIC (RFC 9438): after a reduction the window follows C * (t - K)^3 + W_max, flat around the window of the last
 * loss, and is never behind what NewReno would have. C = 0.4, beta = 0.7. Bytes and milliseconds, integers.
 */
#include "cc.h"

#include <string.h>

#define MS 1000000ull
#define D_MAX 300000ull /* ms from K: beyond it every window is at its bound */

/* The largest x with x^3 <= v, v < 2^63. */
static uint32_t
cube_root(uint64_t v)
{
	uint64_t x = 0;
	int b;

	for (b = 20; b >= 0; b--) {
		uint64_t y = x | 1ull << b;

		if (y * y * y <= v)
			x = y;
	}
	return (uint32_t)x;
}

static void
cubic_init(struct cc *c)
{
	memset(&c->cubic, 0, sizeof(c->cubic));
	c->acc = 0;
}

/* RFC 9438 4.2: the window t ms after the epoch began. */
static uint64_t
w_cubic(const struct cc *c, uint64_t t)
{
	const struct cc_cubic *q = &c->cubic;
	uint64_t d = t < q->k_ms ? q->k_ms - t : t - q->k_ms;
	uint64_t off;

	if (d > D_MAX)
		d = D_MAX;
	if (d < 20000) /* so that nothing overflows with the largest mss */
		off = d * d * d * 4 * c->mss / 10000000000ull;
	else
		off = d * d * d / 1000 * 4 * c->mss / 10000000ull;
	if (t < q->k_ms)
		return off > q->origin ? 0 : q->origin - off;
	return q->origin + off;
}

static void
epoch_begin(struct cc *c, uint64_t now)
{
	struct cc_cubic *q = &c->cubic;

	q->epoch = now;
	q->k_ms = 0;
	q->origin = c->cwnd;
	if (c->cwnd < q->w_max) {
		/* K = cbrt((W_max - cwnd) / C) s, in segments (4.2) */
		q->k_ms = cube_root((uint64_t)(q->w_max - c->cwnd) * 2500000000ull / c->mss);
		q->origin = q->w_max;
	}
	q->w_est = c->cwnd;
	q->est_acc = 0;
	c->acc = 0;
}

/*
 * RFC 9438 4.3: alpha = 3 * (1 - 0.7) / (1 + 0.7) = 9 / 17 segments a window, 1 once past the window before the loss.
 */
static void
reno_estimate(struct cc *c, uint32_t acked)
{
	struct cc_cubic *q = &c->cubic;
	uint64_t need = q->w_est < q->cwnd_prior ? (uint64_t)c->cwnd * 17 / 9 : c->cwnd;

	q->est_acc = acked > UINT32_MAX - q->est_acc ? UINT32_MAX : q->est_acc + acked;
	if (q->est_acc < need)
		return;
	q->est_acc -= (uint32_t)need;
	if (q->est_acc > c->cwnd)
		q->est_acc = c->cwnd;
	if (q->w_est <= CC_CWND_MAX - c->mss)
		q->w_est += c->mss;
}

/* The window moves towards target so that it is there when one window more is acknowledged (4.4, 4.5). */
static void
approach(struct cc *c, uint64_t target, uint32_t acked)
{
	uint64_t most = c->cwnd + c->cwnd / 2;
	uint64_t inc;

	if (target > most)
		target = most;
	if (target <= c->cwnd)
		return;
	if (acked > c->cwnd)
		acked = c->cwnd;
	inc = (target - c->cwnd) * acked + c->acc;
	c->acc = (uint32_t)(inc % c->cwnd);
	inc = c->cwnd + inc / c->cwnd;
	c->cwnd = inc > CC_CWND_MAX ? CC_CWND_MAX : (uint32_t)inc;
}

static void
cubic_ack(struct cc *c, const struct cc_ack *a)
{
	struct cc_cubic *q = &c->cubic;
	uint32_t acked = a->acked;
	uint64_t t;

	if (!a->limited) {
		q->epoch = 0; /* time in which the window was not used is no time of growth (5.8) */
		return;
	}
	if (c->cwnd < c->ssthresh) {
		q->epoch = 0; /* slow start is no part of an epoch, however it came about */
		acked = cc_slow_start(c, a);
	}
	if (acked == 0)
		return;
	if (q->epoch == 0)
		epoch_begin(c, a->now);
	t = (a->now - q->epoch) / MS;
	reno_estimate(c, acked);
	if (w_cubic(c, t) < q->w_est) {
		if (c->cwnd < q->w_est)
			c->cwnd = q->w_est;
		return;
	}
	approach(c, w_cubic(c, t + a->srtt_us / 1000), acked);
}

static void
cubic_reduce(struct cc *c, uint32_t flight, bool ecn)
{
	struct cc_cubic *q = &c->cubic;

	(void)ecn;
	q->epoch = 0;
	q->w_max_prior = q->w_max;
	q->cwnd_prior = c->cwnd;
	/* 4.7: whoever loses before it was back where it lost last gives way to newcomers */
	if (c->cwnd < q->w_max)
		q->w_max = (uint32_t)((uint64_t)c->cwnd * 17 / 20);
	else
		q->w_max = c->cwnd;
	c->ssthresh = cc_floor(c, (uint64_t)flight * 7 / 10);
	c->acc = 0;
	c->hs.done = true;
}

static void
cubic_timeout(struct cc *c)
{
	c->cubic.w_max = 0; /* 4.8: the next congestion avoidance has K = 0 and starts from its own window */
	c->cubic.epoch = 0;
	c->acc = 0;
}

static void
cubic_undo(struct cc *c)
{
	c->cubic.w_max = c->cubic.w_max_prior;
	c->cubic.epoch = 0;
	c->acc = 0;
}

static void
cubic_idle(struct cc *c)
{
	c->cubic.epoch = 0;
	c->acc = 0;
}

const struct cc_ops cc_cubic = {
	.name = "cubic",
	.init = cubic_init,
	.ack = cubic_ack,
	.reduce = cubic_reduce,
	.timeout = cubic_timeout,
	.undo = cubic_undo,
	.idle = cubic_idle,
};

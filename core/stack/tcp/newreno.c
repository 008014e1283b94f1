/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NewReno's law (RFC 5681) with appropriate byte counting (RFC 3465): one segment more a window, half after a loss.
 */
#include "cc.h"

static void
newreno_reset(struct cc *c)
{
	c->acc = 0;
}

static void
newreno_ack(struct cc *c, const struct cc_ack *a)
{
	uint32_t acked = a->acked;

	if (!a->limited)
		return;
	if (c->cwnd < c->ssthresh)
		acked = cc_slow_start(c, a);
	if (acked == 0)
		return;
	c->acc = acked > UINT32_MAX - c->acc ? UINT32_MAX : c->acc + acked;
	if (c->acc < c->cwnd)
		return;
	c->acc -= c->cwnd;
	if (c->acc > c->cwnd)
		c->acc = c->cwnd; /* at most one segment an ACK now and one at the next */
	if (c->cwnd <= CC_CWND_MAX - c->mss)
		c->cwnd += c->mss;
}

static void
newreno_reduce(struct cc *c, uint32_t flight, bool ecn)
{
	(void)ecn;
	c->ssthresh = cc_floor(c, flight / 2);
	c->acc = 0;
	c->hs.done = true;
}

const struct cc_ops cc_newreno = {
	.name = "newreno",
	.init = newreno_reset,
	.ack = newreno_ack,
	.reduce = newreno_reduce,
	.timeout = newreno_reset,
	.undo = newreno_reset,
	.idle = newreno_reset,
};

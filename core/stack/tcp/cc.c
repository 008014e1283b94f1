/* SPDX-License-Identifier: BSD-3-Clause */
/* What the laws of congestion control share: initial window, slow start, HyStart++. */
#include "cc.h"

#include <string.h>

/* RFC 9406 4.2 */
#define HS_MIN_THRESH_US 4000u
#define HS_MAX_THRESH_US 16000u
#define HS_DIVISOR 8
#define HS_SAMPLES 8
#define HS_CSS_DIVISOR 4
#define HS_CSS_ROUNDS 5

const struct cc_ops *
cc_find(const char *name)
{
	if (strcmp(name, cc_cubic.name) == 0)
		return &cc_cubic;
	if (strcmp(name, cc_newreno.name) == 0 || strcmp(name, "reno") == 0)
		return &cc_newreno;
	return NULL;
}

uint32_t
cc_initial_window(uint32_t mss, uint32_t segs)
{
	uint64_t w = (uint64_t)segs * mss;
	uint64_t cap = 1460ull * segs;

	if (cap < 2ull * mss)
		cap = 2ull * mss;
	if (w > cap)
		w = cap;
	if (w < mss)
		w = mss;
	return w > CC_CWND_MAX ? CC_CWND_MAX : (uint32_t)w;
}

uint32_t
cc_floor(const struct cc *c, uint64_t v)
{
	uint64_t low = 2ull * c->mss;

	if (v < low)
		v = low;
	return v > CC_CWND_MAX ? CC_CWND_MAX : (uint32_t)v;
}

static void
round_begin(struct cc_hystart *h, uint32_t nxt)
{
	h->started = true;
	h->round_end = nxt;
	h->last_rtt = h->curr_rtt;
	h->curr_rtt = UINT32_MAX;
	h->samples = 0;
}

static uint32_t
rise(uint32_t rtt)
{
	uint32_t t = rtt / HS_DIVISOR;

	if (t < HS_MIN_THRESH_US)
		return HS_MIN_THRESH_US;
	return t > HS_MAX_THRESH_US ? HS_MAX_THRESH_US : t;
}

bool
cc_hystart_ack(struct cc *c, const struct cc_ack *a)
{
	struct cc_hystart *h = &c->hs;

	if (h->done || c->ssthresh != CC_SSTHRESH_INF) {
		h->done = true; /* only the first slow start is without a goal */
		return false;
	}
	if (!h->started) {
		h->curr_rtt = UINT32_MAX;
		h->css_rtt = 0;
		round_begin(h, a->nxt);
	} else if ((int32_t)(a->una - h->round_end) >= 0) {
		round_begin(h, a->nxt);
		if (h->css_rtt != 0 && ++h->css_rounds >= HS_CSS_ROUNDS) {
			c->ssthresh = c->cwnd;
			h->done = true;
			return false;
		}
	}
	if (a->rtt_us != 0) {
		if (a->rtt_us < h->curr_rtt)
			h->curr_rtt = a->rtt_us;
		if (h->samples < HS_SAMPLES)
			h->samples++;
	}
	if (h->samples < HS_SAMPLES)
		return h->css_rtt != 0;
	if (h->css_rtt != 0) {
		if (h->curr_rtt < h->css_rtt)
			h->css_rtt = 0; /* the rise was no queue of ours */
	} else if (h->last_rtt != UINT32_MAX && h->curr_rtt >= h->last_rtt + rise(h->last_rtt)) {
		h->css_rtt = h->curr_rtt;
		h->css_rounds = 0;
	}
	return h->css_rtt != 0;
}

uint32_t
cc_slow_start(struct cc *c, const struct cc_ack *a)
{
	uint32_t step = a->acked;
	uint32_t room;

	if (step > (uint32_t)c->abc_l * c->mss)
		step = (uint32_t)c->abc_l * c->mss;
	if (cc_hystart_ack(c, a))
		step /= HS_CSS_DIVISOR;
	if (c->cwnd >= c->ssthresh)
		return a->acked; /* HyStart++ has just ended it */
	room = c->ssthresh - c->cwnd;
	if (step < room) {
		c->cwnd += step;
		if (c->cwnd > CC_CWND_MAX)
			c->cwnd = CC_CWND_MAX;
		return 0;
	}
	c->cwnd = c->ssthresh;
	return step - room;
}

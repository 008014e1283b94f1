/* SPDX-License-Identifier: BSD-3-Clause */
/* Round-trip time, retransmission timeout (RFC 6298) and what happens when a timer fires. */
#include <string.h>

#include "recovery_priv.h"

#define US 1000ull
#define SECOND 1000000000ull
#define RTT_MAX_US 100000000u /* a sample is taken for it at most: fits srtt's fixed point */
#define MIN_RTT_MS 300000u
#define RETRY_NS 10000000ull  /* memory is asked for again after it */

void
rec_config_default(struct rec_config *c)
{
	memset(c, 0, sizeof(*c));
	c->rto_initial_ns = SECOND;
	c->rto_min_ns = 30 * 1000 * US;
	c->rto_slop_ns = 200 * 1000 * US;
	c->rto_max_ns = 64 * SECOND;
	c->ack_delay_ns = 200 * 1000 * US;
	c->ts_tick_ns = 1000 * US;
	c->initcwnd = 10;
	c->abc_l = 8;
	c->max_segs = 8192;
	c->pool_segs = 262144;
}

uint32_t
rec_us(uint64_t ns)
{
	uint64_t us = ns / US;

	if (us == 0)
		return 1;
	return us > RTT_MAX_US ? RTT_MAX_US : (uint32_t)us;
}

/* The least of the last one to two spans of MIN_RTT_MS. */
static void
min_rtt(struct rec *r, uint64_t now, uint32_t rtt_us)
{
	uint32_t ms = (uint32_t)(now / 1000 / US);

	if (r->min_rtt_us == 0) {
		r->min_rtt_us = r->min_next_us = rtt_us;
		r->min_since_ms = ms;
		return;
	}
	if (rtt_us < r->min_next_us)
		r->min_next_us = rtt_us;
	if (rtt_us < r->min_rtt_us)
		r->min_rtt_us = rtt_us;
	if (ms - r->min_since_ms > MIN_RTT_MS) {
		r->min_rtt_us = r->min_next_us;
		r->min_next_us = rtt_us;
		r->min_since_ms = ms;
	}
}

/* v moved by d / n, to the nearest. */
static uint32_t
moved(uint32_t v, int64_t d, int64_t n)
{
	return (uint32_t)((int64_t)v + (d >= 0 ? d + n / 2 : d - n / 2) / n);
}

/* RFC 6298 2.2, 2.3; of per_rtt samples a round trip each weighs so much less (RFC 7323 appendix G). */
void
rec_rtt_sample(struct rec *r, uint64_t now, uint32_t rtt_us, uint32_t per_rtt)
{
	const struct rec_config *c = &r->pool->cfg;
	uint32_t x = rtt_us << REC_RTT_SHIFT;
	uint64_t rto;
	int64_t err;

	min_rtt(r, now, rtt_us);
	if (r->srtt == 0) {
		r->srtt = x;
		r->rttvar = x / 2;
	} else {
		err = (int64_t)x - r->srtt;
		r->rttvar = moved(r->rttvar, (err < 0 ? -err : err) - r->rttvar, 4 * (int64_t)per_rtt);
		r->srtt = moved(r->srtt, err, 8 * (int64_t)per_rtt);
		if (r->srtt == 0)
			r->srtt = 1;
	}
	rto = (4 * (uint64_t)r->rttvar) >> REC_RTT_SHIFT;
	if (rto < c->ts_tick_ns / US) /* G */
		rto = c->ts_tick_ns / US;
	if (rto < c->rto_var_min_ns / US)
		rto = c->rto_var_min_ns / US;
	rto += r->srtt >> REC_RTT_SHIFT;
	if (rto < c->rto_min_ns / US)
		rto = c->rto_min_ns / US;
	rto += c->rto_slop_ns / US;
	if (rto > c->rto_max_ns / US)
		rto = c->rto_max_ns / US;
	r->rto_us = (uint32_t)rto;
	r->backoff = 0;
}

uint64_t
rec_rto(const struct rec *r)
{
	return r->rto_us * US;
}

uint64_t
rec_rto_backed_off(const struct rec *r, unsigned int n)
{
	uint64_t max = r->pool->cfg.rto_max_ns;
	uint64_t rto = rec_rto(r);

	while (n-- > 0 && rto < max)
		rto *= 2;
	return rto < max ? rto : max;
}

void
rec_rearm(struct rec *r)
{
	const struct rec_flight *f = r->fl;

	if (r->starved)
		return; /* the deadline is that of the next attempt */
	r->deadline = REC_NEVER;
	if (f == NULL)
		return;
	r->deadline = f->rto_at;
	if (f->tlp_at < r->deadline)
		r->deadline = f->tlp_at;
	if (f->reo_at < r->deadline)
		r->deadline = f->reo_at;
}

void
rec_rto_restart(struct rec *r, uint64_t now)
{
	r->fl->rto_at = now + rec_rto_backed_off(r, r->backoff);
}

/* RFC 8985 7.2. */
void
rec_tlp_arm(struct rec *r, uint64_t now)
{
	const struct rec_config *c = &r->pool->cfg;
	struct rec_flight *f = r->fl;
	uint64_t pto = SECOND;

	f->tlp_at = REC_NEVER;
	if (!r->sack || !r->established || c->no_tlp || r->tlp_out || r->tlp_now)
		return;
	if (f->sacked != 0 || f->lost != 0 || r->ca == REC_RECOVERY || r->ca == REC_LOSS)
		return;
	if (r->srtt != 0) {
		pto = 2 * (uint64_t)(r->srtt >> REC_RTT_SHIFT) * US;
		if (f->n_segs == 1)
			pto += c->ack_delay_ns;
	}
	f->tlp_at = now + pto < f->rto_at ? now + pto : f->rto_at;
}

/* A SYN was lost: nothing is known of the path yet, so nothing but the timeout changes. */
static void
syn_timeout(struct rec_pass *k)
{
	struct rec *r = k->r;

	r->syn_lost = true;
	rec_mark_lost(k, rec_seg_at(r->fl->segs.next));
}

static void
on_rto(struct rec_pass *k)
{
	struct rec *r = k->r;

	if (r->timeouts < UINT16_MAX)
		r->timeouts++;
	if (r->backoff < UINT8_MAX)
		r->backoff++;
	if (r->established)
		rec_enter_loss(k);
	else
		syn_timeout(k);
	r->force = true;
	r->tlp_out = r->tlp_now = false;
	r->fl->tlp_at = r->fl->reo_at = REC_NEVER;
	rec_rto_restart(r, k->now);
	k->out->ev |= REC_EV_RTO | REC_EV_OUTPUT;
}

static void
on_reo(struct rec_pass *k)
{
	struct rec *r = k->r;

	r->fl->reo_at = REC_NEVER;
	rec_rack_detect(k);
	if (k->rack_lost == 0)
		return;
	if (r->ca < REC_RECOVERY)
		rec_enter_recovery(k);
	else if (r->ca == REC_RECOVERY)
		rec_prr(k, 1, false);
	r->force = true; /* no ACK may come that would make room */
	k->out->ev |= REC_EV_OUTPUT;
}

unsigned int
rec_timer(struct rec *r, uint64_t now, uint32_t unsent)
{
	struct rec_out out = { .ev = 0 };
	struct rec_pass k = { .r = r, .out = &out, .now = now, .prior_una = r->una };
	struct rec_flight *f = r->fl;

	if (now < r->deadline)
		return 0;
	if (r->starved) {
		r->starved = false;
		rec_rearm(r);
		return REC_EV_OUTPUT;
	}
	if (f->tlp_at <= now && f->tlp_at <= f->rto_at) {
		f->tlp_at = REC_NEVER;
		r->tlp_now = true;
		r->tlp_new = unsent > 0;
		rec_rto_restart(r, now);
		out.ev = REC_EV_TLP | REC_EV_OUTPUT;
	} else if (f->rto_at <= now) {
		on_rto(&k);
	} else {
		on_reo(&k);
	}
	rec_rearm(r);
	return out.ev;
}

void
rec_starve(struct rec *r, uint64_t now)
{
	r->starved = true;
	r->deadline = now + RETRY_NS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss recovery as the engine sees it: opening, what was sent, what to send. */
#include "recovery.h"

#include <errno.h>
#include <string.h>

#include "recovery_priv.h"

#define DATA_RTO_US 3000000u /* RFC 6298 5.7 */

void
rec_init(struct rec *r, struct rec_pool *p, const struct cc_ops *ops, uint32_t iss, uint32_t mss)
{
	memset(r, 0, sizeof(*r));
	r->pool = p;
	r->deadline = REC_NEVER;
	r->una = r->nxt = iss;
	r->limited_end = iss - 1;
	r->rto_us = (uint32_t)(p->cfg.rto_initial_ns / 1000);
	r->reo_mult = 1;
	r->cc.ops = ops;
	r->cc.mss = mss > UINT16_MAX ? UINT16_MAX : mss;
	r->cc.cwnd = r->cc.mss;
	r->cc.ssthresh = CC_SSTHRESH_INF;
	r->cc.abc_l = (uint8_t)p->cfg.abc_l;
	ops->init(&r->cc);
}

void
rec_release(struct rec *r)
{
	rec_flight_put(r);
	r->starved = false;
	r->deadline = REC_NEVER;
}

void
rec_open(struct rec *r, const struct rec_open *o)
{
	struct rec_pool *p = r->pool;

	if (o->passive) {
		r->una = r->nxt = o->iss + 1;
		r->limited_end = o->iss;
		r->syn_lost = o->syn_lost;
	}
	r->established = true;
	r->sack = o->sack;
	r->ts = o->ts;
	r->backoff = 0;
	rec_mtu_changed(r, o->mss, false);
	if (o->passive && o->rtt_us != 0)
		rec_rtt_sample(r, o->now, o->rtt_us, 1);
	r->cc.cwnd = cc_initial_window(r->cc.mss, p->cfg.initcwnd);
	if (r->syn_lost) {
		r->cc.cwnd = r->cc.mss;
		if (r->rto_us < DATA_RTO_US)
			r->rto_us = DATA_RTO_US;
	}
}

uint32_t
rec_pipe(const struct rec *r)
{
	const struct rec_flight *f = r->fl;
	uint32_t pipe, dups;

	if (f == NULL)
		return 0;
	pipe = r->nxt - r->una - f->sacked - f->lost;
	dups = r->dupacks;
	if (r->ca < REC_RECOVERY && dups > REC_DUPTHRESH - 1)
		dups = REC_DUPTHRESH - 1; /* RFC 3042: two segments */
	return (uint64_t)dups * r->cc.mss < pipe ? pipe - dups * r->cc.mss : 0;
}

/* s was sent again: what recovery and undo have to know. */
static void
note_resent(struct rec *r, const struct rec_seg *s, uint64_t now)
{
	struct rec_flight *f = r->fl;
	uint32_t n = rec_seg_count(s);

	r->total_retrans += n;
	f->prr_out += s->end - s->seq;
	if (!f->undo_on)
		return;
	if (!f->undo_any) {
		f->undo_any = f->eifel = true;
		f->retx_at = now;
	}
	f->undo_retrans += n;
}

static int
sent_again(struct rec *r, uint64_t now, uint32_t seq, uint32_t end)
{
	struct rec_flight *f = r->fl;
	struct rec_seg *s = NULL;
	bool any = false;

	if (f == NULL || !seq_lt(r->una, end) || seq_lt(r->nxt, end))
		return -EINVAL;
	if (!list_empty(&f->missing) && rec_seg_link(f->missing.next)->seq == seq)
		s = rec_seg_link(f->missing.next);
	else
		s = rec_seg_find(r, seq);
	while (s != NULL && seq_lt(s->seq, end)) {
		struct rec_seg *rest = NULL;

		/* without memory the whole record counts as sent: that ends, and a loss of the rest is noticed later */
		if (seq_lt(s->seq, seq))
			rest = rec_seg_split(r, s, seq);
		if (rest != NULL)
			s = rest;
		if (seq_lt(end, s->end))
			rec_seg_split(r, s, end);
		if (s->state != REC_SACKED) {
			rec_seg_resent(r, s, now);
			note_resent(r, s, now);
			any = true;
			if (s->seq == r->una)
				rec_rto_restart(r, now); /* RFC 6675 5.1 */
			s = rec_seg_merge(r, s);
		}
		s = s->on.next == &f->segs ? NULL : rec_seg_at(s->on.next);
	}
	return any ? 0 : -EINVAL;
}

static int
sent_new(struct rec *r, uint64_t now, uint32_t end)
{
	struct rec_flight *f = rec_flight_get(r);

	if (f == NULL || rec_seg_append(r, now, r->nxt, end) != 0) {
		if (f != NULL && list_empty(&f->segs))
			rec_flight_put(r);
		rec_starve(r, now);
		return -ENOMEM;
	}
	if (r->ca == REC_RECOVERY)
		f->prr_out += end - r->nxt;
	r->nxt = end;
	if (rec_room(r) < r->cc.mss)
		r->limited_end = end;
	return 0;
}

int
rec_sent(struct rec *r, uint64_t now, uint32_t seq, uint32_t end)
{
	bool again = seq != r->nxt;
	int ret;

	if (!seq_lt(seq, end) || seq_lt(r->nxt, seq))
		return -EINVAL;
	ret = again ? sent_again(r, now, seq, end) : sent_new(r, now, end);
	if (ret != 0)
		return ret;
	r->last_sent = now;
	r->force = false;
	if (r->fl->rto_at == REC_NEVER)
		rec_rto_restart(r, now);
	if (r->tlp_now) {
		r->tlp_now = false;
		r->tlp_out = true;
		r->tlp_retrans = again;
		r->tlp_end = r->nxt;
		r->fl->tlp_at = REC_NEVER;
	} else if (!again) {
		rec_tlp_arm(r, now);
	}
	rec_rearm(r);
	return 0;
}

/* The last segment, as a probe. */
static bool
tail_range(struct rec *r, uint32_t max, uint32_t edge, struct rec_range *out)
{
	const struct rec_seg *s = rec_seg_at(r->fl->segs.prev);

	if (s->state != REC_FLYING || seq_lt(edge, s->end)) {
		r->tlp_now = false;
		return false;
	}
	out->end = s->end;
	out->seq = s->seq + (s->end - s->seq - 1) / s->size * s->size;
	if (out->end - out->seq > max)
		out->seq = out->end - max;
	return true;
}

bool
rec_next(struct rec *r, uint64_t now, uint32_t max, uint32_t edge, struct rec_range *out)
{
	const struct rec_seg *s;
	uint32_t len, room;

	(void)now;
	if (r->fl == NULL)
		return false;
	if (r->tlp_now && !r->tlp_new)
		return tail_range(r, max, edge, out);
	if (list_empty(&r->fl->missing) || r->frto == 3)
		return false;
	s = rec_seg_link(r->fl->missing.next);
	len = s->end - s->seq;
	room = rec_room(r);
	if (r->force && room < s->size)
		room = s->size;
	if (room < len)
		len = room / s->size * s->size; /* whole segments */
	if (len > max)
		len = max;
	if (seq_lt(edge, s->seq + len))
		len = seq_lt(s->seq, edge) ? edge - s->seq : 0;
	out->seq = s->seq;
	out->end = s->seq + len;
	return len != 0;
}

uint32_t
rec_can_send(struct rec *r, uint64_t now)
{
	uint32_t room, rw;

	if (r->fl == NULL && r->established && r->last_sent != 0 && now - r->last_sent > rec_rto(r)) {
		rw = cc_initial_window(r->cc.mss, r->pool->cfg.initcwnd);
		if (r->cc.cwnd > rw)
			r->cc.cwnd = rw;
		r->cc.ops->idle(&r->cc);
		r->last_sent = now;
	}
	if (r->fl != NULL && !list_empty(&r->fl->missing) && r->frto != 3)
		return 0;
	room = rec_room(r);
	if (room < r->cc.mss)
		r->limited_end = r->nxt;
	if (r->tlp_now && r->tlp_new && room < r->cc.mss)
		return r->cc.mss;
	return room;
}

void
rec_mtu_changed(struct rec *r, uint32_t mss, bool resend)
{
	struct rec_out out = { .ev = 0 };
	struct rec_pass k = { .r = r, .out = &out };
	struct list *it;

	r->cc.mss = mss > UINT16_MAX ? UINT16_MAX : mss;
	if (r->cc.cwnd < r->cc.mss)
		r->cc.cwnd = r->cc.mss;
	if (!resend || r->fl == NULL)
		return;
	list_for_each(it, &r->fl->segs) {
		struct rec_seg *s = rec_seg_at(it);

		if (s->state == REC_SACKED || s->size <= r->cc.mss)
			continue;
		rec_mark_lost(&k, s);
		rec_seg_resize(r, s, r->cc.mss);
	}
	r->force = out.lost != 0;
	r->fl->tlp_at = REC_NEVER;
	rec_rearm(r);
}

void
rec_cc_set(struct rec *r, const struct cc_ops *ops)
{
	r->cc.ops = ops;
	ops->init(&r->cc);
}

void
rec_facts(const struct rec *r, struct rec_facts *out)
{
	const struct rec_flight *f = r->fl;

	memset(out, 0, sizeof(*out));
	out->srtt_us = r->srtt >> REC_RTT_SHIFT;
	out->rttvar_us = r->rttvar >> REC_RTT_SHIFT;
	out->min_rtt_us = r->min_rtt_us;
	out->rto_us = (uint32_t)(rec_rto_backed_off(r, r->backoff) / 1000);
	out->reo_wnd_us = rec_reo_wnd_us(r);
	if (f == NULL)
		return;
	out->segs_out = f->n_segs;
	out->segs_sacked = f->n_sacked;
	out->segs_lost = f->n_lost;
	out->segs_retrans = f->n_retx;
	out->bytes_sacked = f->sacked;
	out->bytes_lost = f->lost;
	out->pipe = rec_pipe(r);
	out->records = f->records;
	out->prr_delivered = f->prr_delivered;
	out->prr_out = f->prr_out;
}

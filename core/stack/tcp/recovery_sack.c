/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an ACK delivers, cumulatively (RFC 9293) and selectively (RFC 2018, 2883, 6675), and what RACK concludes (RFC
 * 8985 6).
 */
#include "recovery_priv.h"

#define US 1000ull
#define REO_MULT_MAX 64
#define REO_PERSIST 16

bool
rec_echo_before(const struct rec_pass *k, uint64_t t)
{
	uint64_t tick = k->r->pool->cfg.ts_tick_ns;

	return (k->in->flags & REC_IN_TS) != 0 && k->r->ts && k->in->ecr_ns < t - t % tick;
}

/* RFC 8985 6.2 steps 1 to 3 for s, which has just arrived. */
static void
rack_update(struct rec_pass *k, const struct rec_seg *s)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;
	uint32_t rtt = rec_us(k->now - s->sent);

	if (f->rack_rtt_us == 0 || seq_lt(f->rack_fack, s->end)) {
		f->rack_fack = s->end;
	} else if (!s->retx && seq_lt(s->end, f->rack_fack)) {
		if (r->reord_seen < UINT16_MAX)
			r->reord_seen++;
		r->reordering = true;
	}
	if (s->retx && (rec_echo_before(k, s->sent) || rtt < r->min_rtt_us))
		return; /* the one that arrived may be an earlier transmission */
	if (f->rack_rtt_us != 0 && (s->sent < f->rack_xmit || (s->sent == f->rack_xmit && seq_lt(s->end, f->rack_end))))
		return;
	f->rack_xmit = s->sent;
	f->rack_end = s->end;
	f->rack_rtt_us = rtt;
}

/* s arrived, and this is the first that is heard of it. */
static void
delivered(struct rec_pass *k, const struct rec_seg *s)
{
	k->delivered += s->end - s->seq;
	if (!s->retx && k->r->recover_on) {
		if (seq_le(s->end, k->r->recover))
			k->orig = true;
		else
			k->fresh = true;
	}
	rack_update(k, s);
}

/*
 * The part of s below ack is cut off into a record of its own, and the rest of the segment that ack lies in too, so
 * that the boundaries behind it stay known. false: no memory, s was trimmed.
 */
static bool
cut_at_ack(struct rec_pass *k, struct rec_seg *s, uint32_t ack)
{
	uint32_t in_seg = (ack - s->seq) % s->size;
	struct rec_seg *rest = rec_seg_split(k->r, s, ack);
	uint32_t edge;

	if (rest == NULL) {
		struct rec_seg part = *s;

		part.end = ack;
		if (s->state != REC_SACKED)
			delivered(k, &part);
		rec_seg_trim(k->r, s, ack);
		return false;
	}
	edge = ack + s->size - in_seg;
	if (in_seg != 0 && seq_lt(edge, rest->end))
		rec_seg_split(k->r, rest, edge);
	return true;
}

void
rec_deliver_cum(struct rec_pass *k)
{
	struct rec *r = k->r;
	uint32_t ack = k->in->ack;
	uint32_t segs = r->fl->n_segs;

	while (!list_empty(&r->fl->segs)) {
		struct rec_seg *s = rec_seg_at(r->fl->segs.next);

		if (!seq_lt(s->seq, ack))
			break;
		if (s->retx) {
			k->retx_acked = true;
			if (s->sent > k->retx_last)
				k->retx_last = s->sent;
		}
		if (seq_lt(ack, s->end) && !cut_at_ack(k, s, ack))
			break;
		if (s->state != REC_SACKED) {
			if (k->cum_rtt_us == 0 && !s->retx)
				k->cum_rtt_us = rec_us(k->now - s->sent);
			delivered(k, s);
		}
		rec_seg_free(r, s);
	}
	r->una = ack;
	k->acked_segs = segs > r->fl->n_segs ? segs - r->fl->n_segs : 0;
}

/* Marks what start..end covers of s; returns the record to go on from. */
static struct rec_seg *
sack_seg(struct rec_pass *k, struct rec_seg *s, uint32_t start, uint32_t end)
{
	struct rec *r = k->r;
	uint32_t lo = s->seq;
	uint32_t hi = s->end;

	/* only whole segments count: whoever cuts finer gains nothing */
	if (seq_lt(lo, start))
		lo = s->seq + (start - s->seq + s->size - 1) / s->size * s->size;
	if (seq_lt(end, hi))
		hi = s->seq + (end - s->seq) / s->size * s->size;
	if (s->state == REC_SACKED || !seq_lt(lo, hi))
		return s;
	if (lo != s->seq) {
		struct rec_seg *rest = rec_seg_split(r, s, lo);

		if (rest == NULL)
			return s;
		s = rest;
	}
	if (hi != s->end && rec_seg_split(r, s, hi) == NULL)
		return s;
	if (k->sack_rtt_us == 0 && !s->retx)
		k->sack_rtt_us = rec_us(k->now - s->sent);
	delivered(k, s);
	k->out->sacked += s->end - s->seq;
	rec_seg_set(r, s, REC_SACKED);
	return rec_seg_merge(r, s);
}

static void
sack_block(struct rec_pass *k, const struct rec_range *b)
{
	struct rec *r = k->r;
	struct rec_seg *s = rec_seg_find(r, b->seq);

	while (s != NULL && seq_lt(s->seq, b->end)) {
		uint32_t seq;

		s = sack_seg(k, s, b->seq, b->end);
		r->fl->hint = s;
		seq = s->end;
		/* a record that could not be divided is passed over */
		s = s->on.next == &r->fl->segs || !seq_lt(seq, b->end) ? NULL : rec_seg_at(s->on.next);
	}
}

/* RFC 8985 6.2 step 4: a round trip with a D-SACK widens the window by a quarter of the least round trip. */
static void
dsack(struct rec_pass *k, const struct rec_range *b)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;
	uint32_t segs = (b->end - b->seq + r->cc.mss - 1) / r->cc.mss;

	k->dsack = true;
	k->out->ev |= REC_EV_DSACK;
	if (r->dsacks < UINT16_MAX)
		r->dsacks++;
	k->dsack_tlp = r->tlp_out && r->tlp_retrans && seq_le(r->tlp_end, b->end);
	if (!r->dsack_on) {
		r->dsack_on = true;
		r->dsack_round = r->nxt;
		r->reo_persist = REO_PERSIST;
		if (r->reo_mult < REO_MULT_MAX)
			r->reo_mult++;
	}
	if (f == NULL || !f->undo_on || seq_lt(b->seq, f->undo_marker))
		return;
	f->undo_retrans -= segs < f->undo_retrans ? segs : f->undo_retrans;
}

/* RFC 2883 4: the first block tells of a duplicate if it is below the ACK or inside the second. */
static bool
is_dsack(const struct rec_pass *k)
{
	const struct rec_in *in = k->in;
	const struct rec_range *b = in->sack;

	if (in->n_sack == 0 || !seq_lt(b->seq, b->end))
		return false;
	if (seq_le(b->end, in->ack))
		return in->ack - b->seq <= CC_CWND_MAX;
	return in->n_sack > 1 && seq_le(b[1].seq, b->seq) && seq_le(b->end, b[1].end) && seq_le(b->end, k->r->nxt);
}

void
rec_deliver_sack(struct rec_pass *k)
{
	struct rec *r = k->r;
	const struct rec_in *in = k->in;
	struct rec_range v[REC_SACK_MAX];
	unsigned int n = 0;
	unsigned int i = 0;
	unsigned int j;

	if (r->dsack_on && seq_le(r->dsack_round, r->una))
		r->dsack_on = false;
	if (is_dsack(k))
		dsack(k, &in->sack[i++]);
	if (r->fl == NULL)
		return;
	for (; i < in->n_sack && i < REC_SACK_MAX; i++) {
		struct rec_range b = in->sack[i];

		if (!seq_lt(b.seq, b.end) || !seq_lt(r->una, b.seq) || seq_lt(r->nxt, b.end))
			continue; /* inverted, empty, old, or of what was never sent */
		for (j = n++; j > 0 && seq_lt(b.seq, v[j - 1].seq); j--)
			v[j] = v[j - 1];
		v[j] = b;
	}
	for (i = 0; i < n; i++)
		sack_block(k, &v[i]);
}

/* RFC 8985 6.2 step 4. */
uint32_t
rec_reo_wnd_us(const struct rec *r)
{
	uint64_t w;
	uint32_t srtt = r->srtt >> REC_RTT_SHIFT;

	if (!r->reordering && (r->ca >= REC_RECOVERY || (r->fl != NULL && r->fl->n_sacked >= REC_DUPTHRESH)))
		return 0;
	w = (uint64_t)r->reo_mult * r->min_rtt_us / 4;
	return w < srtt ? (uint32_t)w : srtt;
}

void
rec_mark_lost(struct rec_pass *k, struct rec_seg *s)
{
	if (s->state != REC_FLYING)
		return;
	k->out->lost += s->end - s->seq;
	rec_seg_set(k->r, s, REC_LOST);
}

/*
 * RFC 8985 6.2 step 5: what was sent before something that has arrived is lost when a round trip and the window have
 * gone by.
 */
void
rec_rack_detect(struct rec_pass *k)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;
	uint64_t wait = (f->rack_rtt_us + (uint64_t)rec_reo_wnd_us(r)) * US;
	uint64_t last = 0;
	struct list *it, *tmp;

	f->reo_at = REC_NEVER;
	if (!r->sack || f->rack_rtt_us == 0)
		return;
	list_for_each_safe(it, tmp, &f->flying) {
		struct rec_seg *s = rec_seg_link(it);

		if (s->sent > f->rack_xmit)
			break;
		if (s->sent == f->rack_xmit && !seq_lt(s->end, f->rack_end))
			continue;
		if (s->sent + wait <= k->now) {
			k->rack_lost += s->end - s->seq;
			rec_mark_lost(k, s);
		} else {
			last = s->sent + wait;
		}
	}
	if (last != 0)
		f->reo_at = last;
	if (k->rack_lost != 0)
		k->out->ev |= REC_EV_RACK_LOST;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from an ACK: entering and leaving episodes, PRR, undo, F-RTO, tail loss probes, growth. */
#include <string.h>

#include "recovery_priv.h"

uint32_t
rec_room(const struct rec *r)
{
	uint32_t pipe = rec_pipe(r);

	return r->cc.cwnd > pipe ? r->cc.cwnd - pipe : 0;
}

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The first segment is lost; without SACK nothing is known of the others. */
static void
head_lost(struct rec_pass *k)
{
	struct rec_seg *s = rec_seg_at(k->r->fl->segs.next);

	if (s->state == REC_FLYING && rec_seg_count(s) > 1)
		rec_seg_split(k->r, s, s->seq + s->size);
	rec_mark_lost(k, s);
}

/*
 * A reduction of the window: ssthresh from the flight size (RFC 5681 equation 4), without what limited transmit and
 * SACK let out beyond the window.
 */
static void
reduce(struct rec_pass *k, uint32_t flight, bool ecn)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;

	f->prior_cwnd = r->cc.cwnd;
	f->prior_ssthresh = r->cc.ssthresh;
	f->undo_marker = r->una;
	f->undo_retrans = 0;
	f->undo_any = f->eifel = false;
	f->undo_on = !ecn;
	r->cc.ops->reduce(&r->cc, least(flight, r->cc.cwnd), ecn);
	k->out->ev |= REC_EV_REDUCED;
}

static void
episode(struct rec *r, enum rec_ca ca)
{
	r->ca = (uint8_t)ca;
	r->recover = r->nxt;
	r->recover_on = true;
	r->tlp_out = r->tlp_now = false;
	r->fl->tlp_at = REC_NEVER;
}

/*
 * Congestion without a segment to send again: ECN (RFC 3168 6.1.2), or a loss that a probe repaired (RFC 8985 7.4.2).
 */
static void
enter_cwr(struct rec_pass *k)
{
	struct rec *r = k->r;

	reduce(k, k->prior_flight, true);
	r->cc.cwnd = r->cc.ssthresh;
	episode(r, REC_CWR);
}

/* RFC 6675 5, RFC 6582 3.2 step 2. A window that ECN has reduced is not reduced again. */
void
rec_enter_recovery(struct rec_pass *k)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;

	if (r->ca != REC_CWR)
		reduce(k, r->nxt - r->una, false);
	episode(r, REC_RECOVERY);
	f->prr_delivered = f->prr_out = 0;
	f->recover_fs = r->nxt - r->una;
	r->force = true;
	k->out->ev |= REC_EV_RECOVERY;
	rec_prr(k, k->delivered != 0 ? k->delivered : 1, false);
}

/* The peer threw away what it had reported (RFC 2018 8): nothing of that is believed any more. */
static void
renege(struct rec_pass *k)
{
	struct rec_flight *f = k->r->fl;
	struct list *it;

	list_for_each(it, &f->segs) {
		if (rec_seg_at(it)->state == REC_SACKED)
			rec_seg_set(k->r, rec_seg_at(it), REC_FLYING);
	}
	f->rack_rtt_us = 0;
	k->out->ev |= REC_EV_RENEGED;
}

/* RFC 5681 3.1, RFC 8985 6.3: what may still be on its way is not lost yet. */
void
rec_enter_loss(struct rec_pass *k)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;
	bool reneged = rec_seg_at(f->segs.next)->state == REC_SACKED;
	uint64_t wait;
	struct list *it;

	if (r->ca <= REC_DISORDER || seq_le(r->recover, r->una))
		reduce(k, r->nxt - r->una, false);
	if (reneged)
		renege(k);
	wait = (f->rack_rtt_us + (uint64_t)rec_reo_wnd_us(r)) * 1000;
	list_for_each(it, &f->segs) {
		struct rec_seg *s = rec_seg_at(it);

		if (s->seq == r->una || !r->sack || f->rack_rtt_us == 0 || s->sent + wait <= k->now)
			rec_mark_lost(k, s);
	}
	episode(r, REC_LOSS);
	r->frto = reneged ? 0 : 2;
	r->dupacks = 0;
	r->cc.cwnd = rec_pipe(r) + r->cc.mss;
	r->cc.abc_l = 1; /* RFC 3465 2.3 */
	r->cc.ops->timeout(&r->cc);
}

/*
 * RFC 9937: in proportion to what arrives while more than ssthresh is in the network, afterwards as much or one
 * segment more.
 */
void
rec_prr(struct rec_pass *k, uint32_t delivered, bool safe)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;
	uint32_t pipe = rec_pipe(r);
	int64_t snd;

	f->prr_delivered += delivered;
	if (pipe > r->cc.ssthresh) {
		snd = (int64_t)(((uint64_t)f->prr_delivered * r->cc.ssthresh + f->recover_fs - 1) / f->recover_fs) - f->prr_out;
	} else {
		snd = (int64_t)f->prr_delivered - f->prr_out;
		if (snd < delivered)
			snd = delivered;
		if (safe)
			snd += r->cc.mss;
		if (snd > (int64_t)r->cc.ssthresh - pipe)
			snd = (int64_t)r->cc.ssthresh - pipe;
	}
	if (snd < 0)
		snd = 0;
	if (f->prr_out == 0 && snd < r->cc.mss)
		snd = r->cc.mss; /* the fast retransmit itself */
	snd += pipe;
	r->cc.cwnd = snd < r->cc.mss ? r->cc.mss : snd > CC_CWND_MAX ? CC_CWND_MAX : (uint32_t)snd;
}

/* The episode was a mistake: the window is what it was before, and nothing is lost (RFC 4015; RFC 5682 3). */
static void
undo(struct rec_pass *k)
{
	struct rec *r = k->r;
	struct rec_flight *f = r->fl;

	while (!list_empty(&f->missing))
		rec_seg_set(r, rec_seg_link(f->missing.next), REC_FLYING);
	if (r->cc.cwnd < f->prior_cwnd)
		r->cc.cwnd = f->prior_cwnd;
	r->cc.ssthresh = f->prior_ssthresh;
	r->cc.ops->undo(&r->cc);
	r->cc.abc_l = (uint8_t)r->pool->cfg.abc_l;
	k->out->ev |= REC_EV_UNDO | (r->ca == REC_LOSS ? REC_EV_RTO_SPURIOUS : 0);
	r->ca = REC_OPEN;
	r->frto = 0;
	r->dupacks = 0;
	r->recover_on = r->force = false;
	f->undo_on = f->eifel = false;
	k->rack_lost = 0;
}

/*
 * RFC 3522 3.2: the first ACK that covers something sent again echoes a timestamp from before that: the original had
 * arrived.
 */
static bool
eifel_undo(struct rec_pass *k)
{
	struct rec_flight *f = k->r->fl;

	if (!f->eifel || !k->retx_acked)
		return false;
	f->eifel = false;
	if (!f->undo_on || !rec_echo_before(k, f->retx_at))
		return false;
	undo(k);
	return true;
}

/* Everything that was sent again has been reported as a duplicate (RFC 3708 with RFC 2883's reports). */
static bool
dsack_undo(struct rec_pass *k)
{
	struct rec_flight *f = k->r->fl;

	if (!k->dsack || !f->undo_on || !f->undo_any || f->undo_retrans != 0)
		return false;
	undo(k);
	return true;
}

/*
 * RFC 5682 2.1 and 3.1 step 3a: the new data brought forth a duplicate and no news of the old, so the timeout was
 * right: slow start from una. What went out may fill the window, and where SACK was agreed on but no block comes
 * nothing takes it out of pipe: hence force. The timeout was not too short, and something sent once since then has
 * arrived: the back-off has done its work.
 */
static void
frto_conventional(struct rec_pass *k)
{
	struct rec *r = k->r;
	bool shrinks = r->cc.cwnd > 3 * r->cc.mss;

	head_lost(k);
	r->cc.cwnd = 3 * r->cc.mss;
	if (shrinks)
		r->cc.ops->timeout(&r->cc); /* or growth went on from the window before */
	r->force = !list_empty(&r->fl->missing);
	r->backoff = 0;
}

/*
 * RFC 5682 2.1 and 3: after the first segment new data is sent; if originals arrive meanwhile, the timeout was
 * spurious.
 */
static void
frto_ack(struct rec_pass *k)
{
	struct rec *r = k->r;
	bool news = k->out->acked != 0 || k->out->sacked != 0;

	if (!news && !k->dup)
		return;
	if (r->frto == 2) {
		r->frto = k->out->acked != 0 && seq_lt(r->una, r->recover) && k->in->unsent > 0 ? 3 : 0;
	} else if (k->orig) {
		undo(k);
	} else {
		r->frto = 0;
		if (k->out->acked == 0)
			frto_conventional(k);
	}
}

static void
loss_ack(struct rec_pass *k)
{
	struct rec *r = k->r;

	if (eifel_undo(k))
		return;
	if (r->frto != 0)
		frto_ack(k);
	if (r->ca == REC_LOSS && seq_le(r->recover, r->una)) {
		r->ca = REC_OPEN;
		r->frto = 0;
		r->dupacks = 0;
		r->cc.abc_l = (uint8_t)r->pool->cfg.abc_l;
	}
}

static void
recovery_ack(struct rec_pass *k)
{
	struct rec *r = k->r;

	if (eifel_undo(k))
		return;
	if (seq_le(r->recover, r->una)) {
		r->ca = REC_OPEN;
		r->cc.cwnd = r->cc.ssthresh > r->cc.mss ? r->cc.ssthresh : r->cc.mss; /* segments may have grown since */
		r->dupacks = 0;
		if (r->reo_persist > 0 && --r->reo_persist == 0)
			r->reo_mult = 1;
	} else if (!r->sack && k->out->acked != 0) {
		head_lost(k); /* RFC 6582 3.2 step 3: a partial ACK, whose segment goes out whatever the window is */
		r->force = true;
	}
}

/* Without SACK a duplicate ACK stands for one segment that has arrived. */
static void
count_dupacks(struct rec_pass *k)
{
	struct rec *r = k->r;
	uint32_t gone = r->dupacks;

	if (r->sack)
		return;
	if (k->out->acked != 0) {
		if (r->ca == REC_RECOVERY)
			gone = least(gone, k->acked_segs > 0 ? k->acked_segs - 1 : 0);
		r->dupacks = (uint16_t)(r->dupacks - gone);
		k->delivered -= least(k->delivered, gone * r->cc.mss); /* were counted when they came */
	} else if (k->dup && r->dupacks < r->fl->n_segs && r->dupacks < UINT16_MAX) {
		r->dupacks++;
		k->delivered += r->cc.mss;
	}
}

/* RFC 5681 3.2, and RFC 6582 3.2 step 1: not for duplicates of what the last episode sent again. */
static bool
three_dupacks(const struct rec_pass *k)
{
	const struct rec *r = k->r;

	return !r->sack && k->dup && r->dupacks >= REC_DUPTHRESH && (!r->recover_on || seq_lt(r->recover, r->una));
}

/* RFC 8985 7.4.2. */
static void
tlp_ack(struct rec_pass *k)
{
	struct rec *r = k->r;

	if (!r->tlp_out || !seq_le(r->tlp_end, k->in->ack))
		return;
	if (!r->tlp_retrans || k->dsack_tlp) {
		r->tlp_out = false; /* new data, or the original arrived too */
	} else if (seq_lt(r->tlp_end, k->in->ack)) {
		r->tlp_out = false;
		k->out->ev |= REC_EV_TLP_RECOVERED;
		if (r->ca <= REC_DISORDER && r->fl != NULL)
			enter_cwr(k);
	} else if (k->dup && k->in->n_sack == 0) {
		r->tlp_out = false; /* both arrived, and the peer does not report duplicates */
	}
}

static void
episodes(struct rec_pass *k)
{
	struct rec *r = k->r;

	if (dsack_undo(k)) {
		/* back to normal */
	} else if (r->ca == REC_LOSS) {
		loss_ack(k);
	} else if (r->ca == REC_RECOVERY) {
		recovery_ack(k);
	} else if (r->ca == REC_CWR && seq_lt(r->recover, r->una)) {
		r->ca = REC_OPEN;
	}
	if (r->una == r->nxt) {
		if (r->ca == REC_DISORDER)
			r->ca = REC_OPEN;
	} else if (r->ca < REC_RECOVERY && three_dupacks(k)) {
		head_lost(k);
		rec_enter_recovery(k);
	} else if (r->ca < REC_RECOVERY && k->rack_lost != 0) {
		rec_enter_recovery(k);
	} else if (r->ca == REC_RECOVERY && k->delivered != 0) {
		rec_prr(k, k->delivered, k->out->acked != 0 && k->out->lost == 0);
	} else if (r->ca <= REC_DISORDER) {
		r->ca = r->fl->n_sacked != 0 || r->dupacks != 0 ? REC_DISORDER : REC_OPEN;
	}
	if (r->ca <= REC_DISORDER && (k->in->flags & REC_IN_ECE) != 0)
		enter_cwr(k);
	if (r->ca <= REC_DISORDER && r->recover_on && seq_lt(r->recover, r->una)) {
		r->recover_on = false;
		r->fl->undo_on = false; /* a D-SACK of that window would have come before */
	}
}

/* RFC 5681 3.1 by bytes; RFC 7661 4.3, RFC 9438 5.8: only what the window limited may open it. */
static void
grow(struct rec_pass *k)
{
	struct rec *r = k->r;
	struct cc_ack a = {
		.now = k->now, .acked = k->out->acked, .una = r->una, .nxt = r->nxt,
		.rtt_us = k->out->rtt_us, .srtt_us = r->srtt >> REC_RTT_SHIFT,
	};

	if (a.acked == 0)
		return;
	a.limited = seq_le(r->una, r->limited_end);
	if (!a.limited)
		r->limited_end = r->una - 1; /* stays close: never half the number space behind */
	if (r->cc.cwnd < r->cc.ssthresh && k->prior_flight >= r->cc.cwnd / 2)
		a.limited = true;
	if (r->ca == REC_LOSS)
		a.limited = true;
	if (r->ca == REC_RECOVERY || r->ca == REC_CWR || k->prior_ca == REC_RECOVERY || (k->out->ev & REC_EV_UNDO) != 0)
		return;
	r->cc.ops->ack(&r->cc, &a);
}

/*
 * Does the echoed timestamp tell the round-trip time (RFC 7323 4)? A receiver does not take the timestamp of a
 * duplicate for its own, so an ACK that a retransmission of something already received brought forth echoes an older
 * segment: then the time that passed is that of our timer, and taking it for a sample would make each timeout longer
 * than the one before.
 */
static bool
echo_tells(const struct rec_pass *k)
{
	const struct rec_flight *f = k->r->fl;

	if (!k->r->ts || (k->in->flags & REC_IN_TS) == 0 || k->in->ecr_ns > k->now || k->out->acked == 0 || k->dsack)
		return false;
	if (!k->retx_acked || !rec_echo_before(k, k->retx_last))
		return true;
	return f->eifel && rec_echo_before(k, f->retx_at); /* the original was late */
}

static void
sample(struct rec_pass *k)
{
	struct rec *r = k->r;
	uint32_t per_rtt = k->prior_flight / (2 * r->cc.mss);
	uint32_t rtt = k->retx_acked ? 0 : k->cum_rtt_us;

	if (rtt == 0)
		rtt = k->sack_rtt_us;
	if (rtt == 0 && echo_tells(k))
		rtt = rec_us(k->now - k->in->ecr_ns);
	if (rtt == 0 && k->fresh)
		r->backoff = 0;
	if (rtt == 0)
		return;
	k->out->rtt_us = rtt;
	rec_rtt_sample(r, k->now, rtt, per_rtt != 0 ? per_rtt : 1);
}

static void
finish(struct rec_pass *k)
{
	struct rec *r = k->r;

	if (r->una == r->nxt) {
		rec_flight_put(r);
		r->dupacks = 0;
		r->tlp_now = r->force = false;
	} else {
		if (k->out->acked != 0)
			rec_rto_restart(r, k->now);
		if (k->out->acked != 0 || k->out->sacked != 0 || k->out->lost != 0)
			rec_tlp_arm(r, k->now);
	}
	rec_rearm(r);
}

void
rec_ack(struct rec *r, const struct rec_in *in, struct rec_out *out)
{
	struct rec_pass k = {
		.r = r, .in = in, .out = out, .now = in->now,
		.prior_una = r->una, .prior_flight = r->nxt - r->una, .prior_ca = r->ca,
	};

	memset(out, 0, sizeof(*out));
	if (seq_lt(in->ack, r->una) || seq_lt(r->nxt, in->ack))
		return;
	k.dup = in->ack == r->una && (in->flags & (REC_IN_DATA | REC_IN_WINDOW)) == 0;
	if (r->fl == NULL) {
		rec_deliver_sack(&k); /* duplicates may still be reported */
		tlp_ack(&k);
		return;
	}
	if (in->ack != r->una) {
		rec_deliver_cum(&k);
		out->acked = in->ack - k.prior_una;
	}
	rec_deliver_sack(&k);
	sample(&k);
	if (out->sacked != 0 || (k.dup && !k.dsack && !r->sack))
		out->ev |= REC_EV_DUPACK;
	if (r->established) {
		count_dupacks(&k);
		rec_rack_detect(&k);
		tlp_ack(&k);
		episodes(&k);
		grow(&k);
	}
	finish(&k);
}

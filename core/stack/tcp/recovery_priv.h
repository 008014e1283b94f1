/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of loss recovery: records of what is in flight. Included by recovery*.c only, and by tests that look
 * inside.
 */
#ifndef NONIC_STACK_TCP_RECOVERY_PRIV_H
#define NONIC_STACK_TCP_RECOVERY_PRIV_H

#include "../../base/list.h"
#include "recovery.h"

#define REC_DUPTHRESH 3

enum rec_state {
	REC_FLYING, /* thought to be in the network: in flight.flying, by the time of its last transmission */
	REC_LOST,   /* lost and not sent again yet: in flight.missing, by sequence number */
	REC_SACKED, /* arrived */
};

/* seq..end, sent together in segments of size bytes (the last may be shorter). */
struct rec_seg {
	struct list on;    /* flight.segs: all of them, by sequence number */
	struct list link;  /* flying or missing */
	uint64_t sent;     /* ns: last transmission */
	uint32_t seq, end;
	uint16_t size;
	uint8_t state;     /* enum rec_state */
	bool retx;         /* sent more than once */
};

struct rec_flight {
	struct list segs, flying, missing;
	struct rec_seg *hint;   /* where the last SACK block ended, or NULL */
	uint64_t rto_at, tlp_at, reo_at; /* REC_NEVER: off */
	uint64_t rack_xmit;     /* RACK.xmit_ts; valid with rack_rtt_us */
	uint64_t retx_at;       /* first retransmission of the episode; valid with eifel */
	uint32_t rack_end, rack_fack; /* RACK.end_seq, RACK.fack */
	uint32_t rack_rtt_us;   /* RACK.rtt, at least 1; 0: nothing delivered yet */
	uint32_t records, n_segs, n_sacked, n_lost, n_retx; /* n: segments */
	uint32_t sacked, lost;  /* bytes */
	uint32_t prr_delivered, prr_out, recover_fs;
	uint32_t prior_cwnd, prior_ssthresh; /* before the episode; valid with undo_on */
	uint32_t undo_marker;   /* una when it began */
	uint32_t undo_retrans;  /* segments sent again since that no D-SACK has reported */
	bool undo_on, undo_any; /* any: something was sent again */
	bool eifel;             /* no ACK for a retransmission has come yet in the episode */
};

/* What one ACK or timer does on its way through. */
struct rec_pass {
	struct rec *r;
	const struct rec_in *in; /* NULL: a timer */
	struct rec_out *out;
	uint64_t now;
	uint32_t prior_una, prior_flight;
	uint8_t prior_ca;
	uint32_t delivered;      /* bytes that have arrived, newly known */
	uint32_t acked_segs;
	uint32_t cum_rtt_us, sack_rtt_us; /* samples of segments sent once; 0: none */
	uint32_t rack_lost;      /* bytes */
	bool retx_acked;         /* the cumulative ACK covered something sent twice */
	uint64_t retx_last;      /* when that was sent last */
	bool fresh;              /* something sent once, after the last reduction or timeout, arrived */
	bool orig;               /* something below recover arrived that was sent once (F-RTO) */
	bool dsack, dsack_tlp;   /* a duplicate was reported; of the probe */
	bool dup;                /* duplicate ACK (RFC 5681 2) */
};

/* ---- recovery_seg.c: records ---- */
struct rec_flight *rec_flight_get(struct rec *r); /* r->fl, made if there is none; NULL: no memory */
void rec_flight_put(struct rec *r);
/* A new record of seq..end at the end; -ENOMEM. */
int rec_seg_append(struct rec *r, uint64_t now, uint32_t seq, uint32_t end);
/* s becomes s->seq..at, the new record behind it (returned) at..s->end, with the same facts. NULL: no memory. */
struct rec_seg *rec_seg_split(struct rec *r, struct rec_seg *s, uint32_t at);
void rec_seg_free(struct rec *r, struct rec_seg *s);
void rec_seg_set(struct rec *r, struct rec_seg *s, enum rec_state st);
/* seq is cut off the front. */
void rec_seg_trim(struct rec *r, struct rec_seg *s, uint32_t seq);
void rec_seg_resize(struct rec *r, struct rec_seg *s, uint32_t size);
/* s was sent again now. */
void rec_seg_resent(struct rec *r, struct rec_seg *s, uint64_t now);
/* Joins s with its neighbours of the same facts; returns what s is part of then. */
struct rec_seg *rec_seg_merge(struct rec *r, struct rec_seg *s);
uint32_t rec_seg_count(const struct rec_seg *s);
/* The first record by sequence with end after seq, NULL: none. */
struct rec_seg *rec_seg_find(const struct rec *r, uint32_t seq);

static inline struct rec_seg *
rec_seg_at(const struct list *n)
{
	return list_entry(n, struct rec_seg, on);
}

static inline struct rec_seg *
rec_seg_link(const struct list *n)
{
	return list_entry(n, struct rec_seg, link);
}

/* ---- recovery_time.c: round-trip time and timers ---- */
void rec_rtt_sample(struct rec *r, uint64_t now, uint32_t rtt_us, uint32_t per_rtt);
uint32_t rec_us(uint64_t ns); /* at least 1, saturating */
void rec_rto_restart(struct rec *r, uint64_t now);
void rec_tlp_arm(struct rec *r, uint64_t now);
void rec_rearm(struct rec *r); /* r->deadline from the three timers */

void rec_starve(struct rec *r, uint64_t now); /* no memory: the timer tries again soon */

/* ---- recovery_sack.c: what an ACK delivers; RACK ---- */
void rec_deliver_cum(struct rec_pass *k);
void rec_deliver_sack(struct rec_pass *k);
/* Was the echoed timestamp taken before t? Timestamps of one tick can not be told apart. */
bool rec_echo_before(const struct rec_pass *k, uint64_t t);
uint32_t rec_reo_wnd_us(const struct rec *r);
/* Marks what RACK takes for lost; sets reo_at. */
void rec_rack_detect(struct rec_pass *k);
void rec_mark_lost(struct rec_pass *k, struct rec_seg *s);

/* ---- recovery_ack.c: episodes ---- */
void rec_enter_recovery(struct rec_pass *k);
void rec_enter_loss(struct rec_pass *k);
void rec_prr(struct rec_pass *k, uint32_t delivered, bool safe);
uint32_t rec_room(const struct rec *r);

#endif

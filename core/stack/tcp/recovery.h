/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loss recovery of one TCP connection: which bytes were sent when, what of them arrived or is lost, the round-trip
 * time, which timer is due, what to send again and how much may be in flight. Pure: no buffers, no sockets, no clock
 * (times are ns and passed in), one thread. Sequence numbers are of the wire (SYN and FIN count one), modulo 2^32.
 *
 * How a connection uses it:
 *   rec_init; for every segment that takes up sequence space, old or new: rec_sent, just before it is handed to IP;
 *   rec_ack for every acceptable ACK; rec_open when the handshake is over; then the output loop:
 *       while (rec_next(r, now, max, edge, &g)) send g and rec_sent it;
 *       while (unsent && (n = rec_can_send(r, now)) ...) send at most n new bytes and rec_sent them;
 *   arm one timer with rec_deadline after each of these; when it fires: rec_timer, then the output loop;
 *   rec_release.
 *
 * Records: bytes sent together at one time in segments of one size are one record, and it is divided only between
 * segments: SACK blocks are rounded inwards to whole segments, so however a peer cuts its blocks, there are never
 * more records than segments sent (and never more than rec_config.max_segs; beyond it blocks that would divide a
 * record are ignored). A connection with nothing in flight holds none (CVE-2019-11477 and its kin).
 */
#ifndef NONIC_STACK_TCP_RECOVERY_H
#define NONIC_STACK_TCP_RECOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cc.h"

#define REC_NEVER UINT64_MAX
#define REC_RTT_SHIFT 5
#define REC_SACK_MAX 4 /* blocks of one segment: more do not fit */

static inline bool
seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool
seq_le(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}

/* Of a stack; may be changed at any time, takes effect at the next event of each connection. */
struct rec_config {
	uint64_t rto_initial_ns; /* RFC 6298 2.1: 1 s */
	uint64_t rto_min_ns;     /* floor of srtt + 4 * rttvar; FreeBSD: 30 ms (RFC 6298 2.4: 1 s) */
	uint64_t rto_var_min_ns; /* floor of 4 * rttvar alone: 0; Linux: 200 ms, and no slop */
	uint64_t rto_slop_ns;    /* added after that, for peers that delay ACKs; FreeBSD: 200 ms */
	uint64_t rto_max_ns;     /* cap of back-off, 60 s or more (RFC 6298 2.5) */
	/* what a peer may delay the ACK of a lone segment: TLP.max_ack_delay, 200 ms (RFC 8985 7.2) */
	uint64_t ack_delay_ns;
	uint64_t ts_tick_ns;     /* of our timestamp clock, whose ticks begin at multiples of it; 1 ms */
	uint32_t initcwnd;       /* segments: 10 (RFC 6928) */
	uint32_t abc_l;          /* RFC 3465's L in slow start: 8 (RFC 9406 4.2) */
	uint32_t max_segs;       /* records of one connection: 8192 */
	uint32_t pool_segs;      /* records of the stack beyond one a connection: 262144 */
	bool no_tlp;             /* tail loss probes off (packet scripts of stacks without) */
};
/* The values named above. */
void rec_config_default(struct rec_config *c);

/* Where memory comes from, chunks of some KB: alloc gives NULL or n bytes of any content. */
struct rec_mem {
	void *(*alloc)(void *ctx, size_t n);
	void (*free)(void *ctx, void *p);
	void *ctx;
};

struct rec_chunk;
/* Memory of one stack's records: grows by chunks, is given back at the end. */
struct rec_pool {
	struct rec_config cfg;
	struct rec_mem mem;
	struct rec_chunk *chunks;
	void *free_seg, *free_flight;
	uint32_t segs_used, flights_used;
};
/* Takes no memory yet. c NULL: rec_config_default. */
void rec_pool_init(struct rec_pool *p, const struct rec_config *c, const struct rec_mem *mem);
/* Every connection has been released (asserted). */
void rec_pool_release(struct rec_pool *p);

struct rec_flight; /* what is known only while something is in flight */

/* Linux's numbers; tcp_facts.ca. */
enum rec_ca {
	REC_OPEN,     /* nothing special */
	REC_DISORDER, /* duplicate ACKs or SACKs, no loss concluded yet */
	REC_CWR,      /* reduced for ECN, until that window is acknowledged */
	REC_RECOVERY, /* fast recovery */
	REC_LOSS,     /* after a timeout */
};

/*
 * One connection's; the fields are this module's, but for reading una, nxt, ca, cc.cwnd, cc.ssthresh, cc.mss and
 * backoff.
 */
struct rec {
	struct rec_pool *pool;
	struct rec_flight *fl;     /* NULL: nothing in flight */
	uint64_t deadline;         /* ns of the timer; REC_NEVER */
	uint64_t last_sent;        /* ns; 0: never */
	uint32_t una, nxt;
	uint32_t srtt, rttvar;     /* us << REC_RTT_SHIFT; srtt 0: no sample */
	uint32_t rto_us;           /* without back-off */
	uint32_t min_rtt_us, min_next_us, min_since_ms; /* least sample of the last 5 to 10 minutes; 0: none */
	uint32_t recover;          /* RecoveryPoint (RFC 6675), recover (RFC 6582) */
	uint32_t limited_end;      /* up to here the window held the sender back */
	uint32_t tlp_end;          /* TLP.end_seq; valid with tlp_out */
	uint32_t dsack_round;      /* RACK.dsack_round; valid with dsack_on */
	uint32_t total_retrans;    /* segments */
	uint16_t timeouts, dsacks, reord_seen, dupacks;
	uint8_t ca;                /* enum rec_ca */
	uint8_t backoff;           /* doublings of the RTO; what ends them: rec_ack */
	uint8_t reo_mult, reo_persist; /* RACK.reo_wnd_mult, RACK.reo_wnd_persist */
	uint8_t frto;              /* step of F-RTO (RFC 5682 2.1) the next ACK is for: 2, 3; 0: not in it */
	bool sack : 1, ts : 1, established : 1, syn_lost : 1, reordering : 1;
	bool tlp_out : 1, tlp_retrans : 1, tlp_now : 1, tlp_new : 1, dsack_on : 1, recover_on : 1, starved : 1, force : 1;
	struct cc cc;
};
_Static_assert(sizeof(struct rec) <= 200, "an idle connection must be small");

/*
 * Nothing sent yet: una = nxt = iss. The window is one segment until rec_open; mss >= 1 (the engine clamps far above
 * that) may still change. The RTO is rto_initial_ns (RFC 6298 2.1).
 */
void rec_init(struct rec *r, struct rec_pool *p, const struct cc_ops *ops, uint32_t iss, uint32_t mss);
/* Forgets everything in flight and gives its memory back. Harmless twice. */
void rec_release(struct rec *r);

struct rec_open {
	uint64_t now;
	uint32_t iss;     /* passive open: una = nxt = iss + 1, since the half-open table sent our SYN; active: ignored */
	uint32_t mss;     /* data bytes of a full segment, options already taken off */
	uint32_t rtt_us;  /* passive: of SYN-ACK and ACK, 0: unknown (cookie, or SYN-ACK sent again without timestamps) */
	bool passive;
	bool syn_lost;    /* passive: SYN-ACK was sent more than once; active: known here */
	bool sack, ts;    /* both sides agreed */
};
/*
 * The handshake is over. cwnd becomes the initial window (RFC 6928), or one segment if a SYN was lost (RFC 5681 3.1),
 * and then the RTO starts with 3 s for data (RFC 6298 5.7).
 */
void rec_open(struct rec *r, const struct rec_open *o);

/*
 * seq..end leaves now: new bytes when seq = nxt, otherwise a retransmission (all of it below nxt; the part above una
 * that is recorded counts). More than mss is several segments of mss (segmentation offload). Arms the RTO or TLP
 * timer (RFC 6298 5.1, RFC 8985 7.2). 0; -ENOMEM: not recorded and must not be sent (nothing is in flight and there
 * is no memory at all: rec_deadline says when to try again); -EINVAL: empty, not from nxt, or not in flight.
 */
int rec_sent(struct rec *r, uint64_t now, uint32_t seq, uint32_t end);

struct rec_range {
	uint32_t seq, end;
};

enum rec_in_flags {
	REC_IN_DATA = 1 << 0,   /* the segment occupied sequence space: no duplicate ACK */
	REC_IN_WINDOW = 1 << 1, /* it changed the window: no duplicate ACK (RFC 5681 2) */
	REC_IN_TS = 1 << 2,     /* ecr_ns is valid */
	REC_IN_ECE = 1 << 3,    /* ECN was agreed on and ECE is set */
};

struct rec_in {
	uint64_t now;
	/*
	 * when the echoed timestamp was ours: (now / tick - (ts_now - ecr)) * tick; more than 2^31 ticks ago: no
	 * REC_IN_TS
	 */
	uint64_t ecr_ns;
	uint32_t ack;      /* una <= ack <= nxt, else the segment is ignored */
	/* new bytes that the peer's window (with this ACK) would let out: F-RTO needs to know (RFC 5682 2.1 step 2) */
	uint32_t unsent;
	uint8_t flags;
	uint8_t n_sack;    /* blocks in wire order; any values */
	struct rec_range sack[REC_SACK_MAX];
};

/* What happened, for counters and flags of the engine; bits of rec_out.ev and of what rec_timer returns. */
enum rec_ev {
	/* a duplicate ACK by RFC 5681's strict definition, or one that brought news by SACK */
	REC_EV_DUPACK = 1 << 0,
	REC_EV_RECOVERY = 1 << 1,    /* fast recovery began */
	REC_EV_REDUCED = 1 << 2,     /* the window was reduced: ECN: CWR on the next new segment (RFC 3168 6.1.2) */
	REC_EV_UNDO = 1 << 3,        /* a reduction was found spurious and taken back (Eifel, DSACK, F-RTO) */
	REC_EV_RTO_SPURIOUS = 1 << 4, /* ... that of a timeout */
	REC_EV_DSACK = 1 << 5,
	REC_EV_RENEGED = 1 << 6,
	REC_EV_TLP_RECOVERED = 1 << 7, /* the probe repaired a loss (RFC 8985 7.4.2) */
	REC_EV_RACK_LOST = 1 << 8,   /* segments were marked lost by time */
	REC_EV_RTO = 1 << 9,         /* the retransmission timer fired: the path is doubted; backoff tells how often */
	REC_EV_TLP = 1 << 10,        /* a probe is due: the output loop sends it */
	REC_EV_OUTPUT = 1 << 11,     /* run the output loop */
};

struct rec_out {
	uint32_t acked;    /* bytes newly acknowledged cumulatively: to be taken off the send buffer */
	uint32_t sacked;   /* bytes newly known to have arrived by SACK */
	uint32_t lost;     /* bytes newly marked lost */
	uint32_t rtt_us;   /* sample; 0: none */
	uint32_t ev;       /* enum rec_ev */
};

/*
 * An acceptable ACK (RFC 9293 3.10.7.4 fifth; the engine answers the others). In this order: RTT sample, from a
 * segment never sent twice (Karn; RFC 6298 3) or from the timestamp (RFC 7323 4), weighted when several come a round
 * trip; RTO restart (RFC 6298 5.2, 5.3); SACK blocks: D-SACK first (RFC 2883), inverted, outside una..nxt or
 * fractional ones ignored (RFC 2018, 6675); RACK (RFC 8985 6.2) marks what was sent earlier than something delivered
 * by more than the reordering window, which adapts to D-SACKs; without SACK three duplicate ACKs, partial ACKs (RFC
 * 6582); fast recovery once a window (6675 5), paced by PRR (RFC 9937); F-RTO (RFC 5682), Eifel (RFC 3522, 4015) and
 * D-SACK undo; TLP (8985 7.4); ECN once a window (RFC 3168); and the window opens by bytes acknowledged, unless the
 * application was the limit. *out is written always.
 *
 * The back-off ends with the next sample (Karn; RFC 6298 3 and the end of 5, which knows no other end: 5.7 is of the SYN
 * alone), or when something sent for the first time after the timeout has arrived (RFC 8961 4): acknowledged together
 * with what was sent again, which gives no sample, or by the duplicate ACK with which F-RTO finds the timeout right.
 * An ACK of nothing but what was sent again does not end it: it may be the original's, and the RTO too short.
 */
void rec_ack(struct rec *r, const struct rec_in *in, struct rec_out *out);

/*
 * What to send again now: at most max bytes (max >= 1; one or more mss), not beyond edge (una + the peer's window),
 * and not more than the window has room for, except the first after a loss and a tail probe. false: nothing. The
 * answer stays the same until rec_sent or rec_ack.
 */
bool rec_next(struct rec *r, uint64_t now, uint32_t max, uint32_t edge, struct rec_range *out);
/*
 * How many new bytes the window has room for: cwnd - pipe (RFC 6675 4, with limited transmit, RFC 3042), a probe's
 * segment, two segments in F-RTO; 0 while something lost waits to be sent again. After idleness of an RTO cwnd falls
 * to the restart window first (RFC 5681 4.1).
 */
uint32_t rec_can_send(struct rec *r, uint64_t now);

/* When rec_timer is to be called: ns, REC_NEVER. Changes with every call above; cheap. */
static inline uint64_t
rec_deadline(const struct rec *r)
{
	return r->deadline;
}
/*
 * The timer fired (calls before the deadline do nothing): RTO (RFC 6298 5.4 - 5.7: doubled, one segment, everything
 * that is old enough lost), TLP (RFC 8985 7.3: one probe, new data if unsent > 0), reordering timer (RFC 8985 6.2.5),
 * or memory to be tried again. unsent as in struct rec_in. Bits of enum rec_ev; the output loop follows.
 */
unsigned int rec_timer(struct rec *r, uint64_t now, uint32_t unsent);

/*
 * A full segment holds mss bytes now. resend: segments in flight that are larger are lost because of it, not of
 * congestion: they are sent again and the window is not reduced (RFC 1191 6.5, RFC 8899 4.4). cwnd stays the same in
 * bytes, at least one mss.
 */
void rec_mtu_changed(struct rec *r, uint32_t mss, bool resend);
/* Another law (TCP_CONGESTION): cwnd and ssthresh stay. */
void rec_cc_set(struct rec *r, const struct cc_ops *ops);
/* The retransmission timeout without back-off, ns: what persist and other timers start from. */
uint64_t rec_rto(const struct rec *r);
/* The same doubled n times and capped. */
uint64_t rec_rto_backed_off(const struct rec *r, unsigned int n);
/* Bytes thought to be in the network (RFC 6675's pipe). */
uint32_t rec_pipe(const struct rec *r);

struct rec_facts {
	uint32_t segs_out, segs_sacked, segs_lost, segs_retrans; /* in flight; retrans: of them sent more than once */
	uint32_t bytes_sacked, bytes_lost, pipe;
	uint32_t records;      /* memory in use */
	uint32_t srtt_us, rttvar_us, min_rtt_us, rto_us; /* 0: no sample; the RTO with back-off */
	uint32_t reo_wnd_us;
	uint32_t prr_delivered, prr_out;
};
void rec_facts(const struct rec *r, struct rec_facts *out);
/* Whether the records are exactly una..nxt in order and all sums are right (tests, debugging). */
bool rec_check(const struct rec *r);

#endif

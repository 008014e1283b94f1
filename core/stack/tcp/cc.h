/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control of one TCP connection: how large the window may be, NewReno (RFC 5681, 6582) or CUBIC (RFC
 * 9438). When losses are found and how the window is spent meanwhile is recovery.h's; this is only the law by which
 * it grows and shrinks. Pure: bytes and the times that are passed in, integers only.
 */
#ifndef NONIC_STACK_TCP_CC_H
#define NONIC_STACK_TCP_CC_H

#include <stdbool.h>
#include <stdint.h>

#define CC_CWND_MAX (1u << 30)       /* a window never grows past it */
#define CC_SSTHRESH_INF UINT32_MAX   /* no loss yet: slow start without end (RFC 5681 3.1) */

struct cc;

/* What an acknowledgement that may open the window brought. */
struct cc_ack {
	uint64_t now;      /* ns */
	uint32_t acked;    /* bytes cumulatively acknowledged by it, for the first time */
	uint32_t una, nxt; /* after it */
	uint32_t rtt_us;   /* its sample; 0: none */
	uint32_t srtt_us;  /* 0: none yet */
	bool limited;      /* the window, not the application, held the sender back (RFC 7661, RFC 9438 5.8) */
};

/* A law. Each function only changes c. All laws are below; there is no registration. */
struct cc_ops {
	const char *name;                                     /* of TCP_CONGESTION */
	void (*init)(struct cc *c);                           /* forget all history; cwnd, ssthresh and mss stay */
	/* open cwnd, if limited; not called in fast recovery */
	void (*ack)(struct cc *c, const struct cc_ack *a);
	/* congestion: ssthresh (>= 2 mss) from the flight size, not cwnd */
	void (*reduce)(struct cc *c, uint32_t flight, bool ecn);
	void (*timeout)(struct cc *c);                        /* after reduce and cwnd = 1 mss: a new slow start begins */
	/* the last reduce was for nothing; cwnd and ssthresh are restored already */
	void (*undo)(struct cc *c);
	/* nothing was in flight for a while: no growth for that time */
	void (*idle)(struct cc *c);
};

struct cc_cubic {
	uint64_t epoch;       /* ns; 0: no congestion avoidance going on */
	uint32_t w_max;       /* bytes: where the window was at the last reduction */
	uint32_t w_max_prior; /* for undo */
	uint32_t cwnd_prior;  /* RFC 9438 4.3: W_est grows faster from here on */
	uint32_t k_ms;        /* time from epoch to w_max */
	uint32_t w_est;       /* bytes: what NewReno would have (4.3) */
	uint32_t est_acc;     /* bytes acknowledged and not yet in w_est */
	uint32_t origin;      /* bytes: w_max or the window the epoch began with, whichever is larger */
};

/* HyStart++ (RFC 9406): leave slow start when the round-trip time rises, before there is loss. */
struct cc_hystart {
	uint32_t round_end;   /* sequence number that ends the round */
	uint32_t last_rtt, curr_rtt; /* us: least of the last and of this round; UINT32_MAX: none */
	uint32_t css_rtt;     /* us: what made conservative slow start begin; 0: it is not on */
	uint8_t samples, css_rounds;
	bool started, done;
};

struct cc {
	const struct cc_ops *ops;
	uint32_t cwnd;     /* bytes */
	uint32_t ssthresh; /* bytes */
	uint32_t mss;      /* bytes of data in a full segment */
	uint32_t acc;      /* bytes acknowledged and not yet turned into window (RFC 3465) */
	uint8_t abc_l;     /* RFC 3465: a slow start step is at most this many mss; 1 after a timeout */
	struct cc_cubic cubic;
	struct cc_hystart hs;
};

extern const struct cc_ops cc_newreno, cc_cubic;
/* "newreno" (also "reno") or "cubic"; NULL: no such law. */
const struct cc_ops *cc_find(const char *name);

/*
 * RFC 6928: min(segs * mss, max(2 * mss, 1460 * segs)) bytes; with 10 segments at most 14600 unless two segments are
 * more.
 */
uint32_t cc_initial_window(uint32_t mss, uint32_t segs);
/*
 * Opens cwnd in slow start by acked, at most abc_l * mss (RFC 5681 3.1, RFC 3465, RFC 9406); returns the bytes left
 * over when ssthresh was reached.
 */
uint32_t cc_slow_start(struct cc *c, const struct cc_ack *a);
/*
 * HyStart++'s part of cc_slow_start: sees the sample of a; true: in conservative slow start (grow by a quarter). May
 * set ssthresh.
 */
bool cc_hystart_ack(struct cc *c, const struct cc_ack *a);
/* max(v, 2 * mss): the floor of ssthresh (RFC 5681 equation 4). */
uint32_t cc_floor(const struct cc *c, uint64_t v);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a wire does to frames (SIM-2): delay, jitter, drop, bursts of loss, duplication, reordering, bit errors, rate
 * and MTU limits. One direction of one wire is one struct fault. Pure: no clock, no allocation, no I/O; the same seed,
 * frames and times give the same answers. Used by the simulator's wires and by the wire process that stands where a
 * NIC would be.
 */
#ifndef NONIC_SIM_FAULT_H
#define NONIC_SIM_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "prng.h"

/* Probabilities are parts per million of frames; 0 switches a fault off. A zeroed struct is a perfect wire. */
struct fault_params {
	uint64_t delay_ns;      /* fixed */
	uint64_t jitter_ns;     /* plus 0 .. jitter, order kept */
	uint32_t drop_ppm;
	uint32_t burst_ppm;     /* a frame starts a burst of losses ... */
	uint32_t burst_len;     /* ... that takes this many frames, itself included */
	uint32_t dup_ppm;       /* a second copy, 0 .. reorder_ns later than the first */
	uint32_t reorder_ppm;   /* the frame is held back by 1 .. reorder_ns, and others overtake it */
	uint64_t reorder_ns;
	uint32_t corrupt_ppm;   /* one bit is inverted */
	uint64_t rate_bps;      /* bits a second of frame, preamble, FCS and gap (24 bytes); 0: no limit */
	uint32_t queue_bytes;   /* what waits for the rate limit; more is dropped. 0: 256 KB */
	uint32_t mtu;           /* longest L3 packet (frame - 14, - 4 more with an 802.1Q tag); 0: no limit */
};

struct fault_stats {
	uint64_t frames, bytes;  /* that came in */
	uint64_t delivered;      /* copies that leave */
	uint64_t dropped, burst_dropped, queue_dropped, mtu_dropped;
	uint64_t duplicated, reordered, corrupted;
};

struct fault {
	struct fault_params p;   /* may be changed at any time */
	struct prng rng;
	uint64_t busy_until_ns;  /* the rate limiter sends until then */
	uint64_t last_ns;        /* latest in-order delivery so far */
	uint32_t burst_left;
	struct fault_stats st;
};

enum fault_verdict { FAULT_DELIVER, FAULT_DROP, FAULT_BURST, FAULT_QUEUE, FAULT_MTU };

#define FAULT_MAX_COPIES 2
#define FAULT_NO_FLIP UINT32_MAX

struct fault_delivery {
	uint64_t at_ns;          /* when this copy arrives; never before now */
	uint32_t flip_bit;       /* bit of the frame to invert (byte flip_bit / 8), or FAULT_NO_FLIP */
};

void fault_init(struct fault *f, const struct fault_params *p, uint64_t seed, uint64_t tag);

/*
 * A frame of len bytes enters at now_ns (ns; never backwards). Fills out[] with its copies and *n with their number;
 * returns FAULT_DELIVER, or why there is none. Reads at most the EtherType of the frame.
 */
enum fault_verdict fault_frame(struct fault *f, uint64_t now_ns, const uint8_t *frame, uint32_t len,
	struct fault_delivery out[FAULT_MAX_COPIES], unsigned int *n);

/* Inverts the bit; nothing for FAULT_NO_FLIP or a bit beyond len bytes. */
void fault_flip(uint8_t *frame, uint32_t len, uint32_t bit);

/* "deliver", "drop", ... */
const char *fault_verdict_name(enum fault_verdict v);

/* Draws a set of faults of moderate strength, each one off with probability 1/2 (swarm). */
void fault_swarm(struct fault_params *p, struct prng *rng);

/* One line of text, e.g. "delay 50us drop 1.2% dup 0.5%". */
void fault_describe(const struct fault_params *p, char *buf, size_t n);

#endif

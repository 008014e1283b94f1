/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker knows of its generation and the other one; included by core/runtime only (and by tests that look inside). */
#ifndef NONIC_RUNTIME_WORKER_RELOAD_H
#define NONIC_RUNTIME_WORKER_RELOAD_H

#include "../dispatch/dispatch.h"
#include "../reload/seat.h"
#include "worker_priv.h"

#define WORKER_FULL_LOG_NS 1000000000ull  /* a full ring is said at most so often */
#define WORKER_LEAVE_NS 1000000000ull     /* a worker that leaves waits for so long for room in its relay ring */
#define WORKER_SETTLE_NS 2000000000ull    /* READY waits for a router's answer at most so long */
#define WORKER_ADDR_NS 4000000000ull      /* and for an address: one probe. A second more for each further one (dad_count) */
#define WORKER_SWEEP_NS 1000000ull        /* aged flows: WORKER_SWEEP entries each time */
#define WORKER_SWEEP 64u
#define WORKER_RING_BURSTS 4u             /* of one ring in one turn */

/* Of the present window. */
struct worker_moved {
	uint64_t forwarded, relayed, cloned, bounced, drain_full, relay_full;
	uint32_t drain_peak, relay_peak;
	uint32_t neigh_told, neigh_untold; /* neighbours: on their way to the other generation; no room or no buffer for them */
	uint32_t neigh_learned, neigh_left; /* from there; known already, no room, nobody's */
	uint32_t neigh_bad;          /* frames with neighbours that can not be read */
};

struct worker_reload {
	struct gen_dir *dir;
	struct seat seat;
	struct pub pub;              /* the own table */
	void *peer_table;            /* the other side's zone, once found; peer_size bytes */
	size_t peer_size;
	struct dispatcher disp;
	bool dispatching;            /* the dispatcher is open */
	bool bouncing;               /* the owner is the other generation: what has no socket here goes back to it */
	bool drain_mine;             /* this worker is the consumer of its drain rings */
	bool rescuing;               /* and of the other side's, whose worker is gone */
	bool rings;                  /* the generations' rings are polled */
	bool ready, leaving;
	bool publishing;             /* the own table's state is not NONE */
	bool crowded;                /* much waits for the other generation: it wants the processor */
	bool taking;                 /* the lane was taken in this turn: all that waits in the drain ring comes first */
	bool waits_told;             /* what READY waits for has been said */
	bool retiring;               /* the window is over, the rings are emptied for the last time */
	unsigned int neigh_at;       /* entries of the neighbour table before this one were told about */
	uint64_t neigh_since_ns;     /* from then on */
	uint64_t born_ns, leaving_ns, full_ns, sweep_ns;
	struct worker_moved moved;
};

static inline unsigned int
worker_side(const struct worker *w)
{
	return w->rl->seat.side;
}

#endif

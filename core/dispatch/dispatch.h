/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher (DSP-1, DSP-4 .. DSP-6, DSP-8, DSP-9): in a window, the owner of a lane decides for every frame it
 * receives: its own stack, the other generation's worker of the lane, or both. Order of the questions: fragment
 * owner, flow map, (TCP) is it a SYN, (UDP) the peer's publish table, default. In steady state it is not called at
 * all.
 *
 * It decides and never moves a frame: the runtime does, so that this is one function of frames and tables, without
 * I/O.
 */
#ifndef NONIC_DISPATCH_DISPATCH_H
#define NONIC_DISPATCH_DISPATCH_H

#include "flow_map.h"
#include "frag_owner.h"
#include "pub_table.h"

enum dispatch_to {
	DISPATCH_LOCAL,
	DISPATCH_PEER,
	DISPATCH_BOTH,       /* the peer gets a copy */
	DISPATCH_HELD,       /* kept by the dispatcher: a fragment before its first */
};

/*
 * Names as in the worker's log line. Frames: forwarded (to the peer alone), without_peer_table (of these: it does not
 * publish), kept (UDP, to the owner's stack), cloned (to both), held (now or once; counted again as where they went).
 * Flows: taken_over (the peer once published them), learn_full (not learned, the map is full).
 */
struct dispatch_stats {
	uint64_t forwarded, kept, taken_over, without_peer_table, cloned, held, learn_full;
};

struct dispatcher {
	struct shim *shim;
	struct siphash_key secret;
	struct flow_map *map;        /* learned UDP flows and, later, TCP connections */
	struct frag_owners *frags;
	struct pub peer;             /* the other generation's table of this lane */
	uint32_t wid;                /* the window: generation number of the new one; 0: no window */
	bool peer_alive;             /* kept up to date by the runtime (PUB-5) */
	bool began;                  /* a burst was decided in this window: began_ms is right */
	uint32_t began_ms;
	struct dispatch_stats st;    /* of this window */
};

/* Makes map and fragment table. 0, -ENOMEM. secret: the one the generations share (struct stack_secrets.table). */
int dispatch_create(struct dispatcher *d, struct shim *s, const struct siphash_key *secret);
void dispatch_destroy(struct dispatcher *d);
/*
 * A window begins for the owner: peer is the other side's table, bound for reading (absent: nothing is forwarded),
 * wid the window's id. Counters and learned flows start anew.
 */
void dispatch_open(struct dispatcher *d, const struct pub *peer, uint32_t wid);
/*
 * The window is over, or the peer is gone: what is held comes out (at most FRAG_HELD), everything is local from here
 * on.
 */
unsigned int dispatch_close(struct dispatcher *d, struct rte_mbuf **held, unsigned int n);
/*
 * Decides for n <= 64 frames (0: only time passes, m and to may be NULL). to[i] is frame i's way. out_held receives
 * buffers that become free to go (their first fragment has come, or their time is up) with their ways in held_to,
 * DISPATCH_BOTH included; returns how many, at most FRAG_HELD. A held frame's slot in m is not to be touched any
 * more. now_ms and now_ns: the turn's sample.
 *
 * A fragment whose first one does not come belongs to a datagram that the peer may have begun to put together before
 * the lane changed hands: for FRAG_OWNER_MS from the window's first burst on it goes to both, then it is the owner's.
 */
unsigned int dispatch_burst(struct dispatcher *d, struct rte_mbuf *const *m, unsigned int n, uint32_t now_ms, uint64_t now_ns,
	uint8_t *to, struct rte_mbuf **out_held, uint8_t *held_to);

/* When a call is due even without frames, on the clock of now_ns: somebody waits. UINT64_MAX: nobody. */
uint64_t dispatch_next(const struct dispatcher *d);

/*
 * UDP by table alone, for one hash; what DSP-4 and PUB-3 say: not alive, HANDED or another window's id: local. NONE
 * of a live peer: peer. PUBLISHING: peer if active. Counts and learns nothing.
 */
enum dispatch_to dispatch_udp(const struct dispatcher *d, uint64_t hash, uint32_t now_ms);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's part in a reload (REL-4 .. REL-9, REL-12, REL-13): it sits in a seat, keeps or waits for the lease of its lane, parks when it is
 * told to, takes over, drains, and judges by itself when its master or its peer has died. One call a turn; nothing waits.
 *
 * Rules, from the lease and from whose the lanes rightfully are (gen_rightful); G is the worker's generation, X another one:
 *   OWNED(G)   rightful G, window PARKING for a newer one   let go: PARKED(G), after the last burst is processed
 *   OWNED(G)   rightful X                                   give: OWNED(X)
 *   PARKED(G)  rightful G, not PARKING any more             resume: OWNED(G)
 *   PARKED(G)  rightful X                                   give: OWNED(X)
 *   PARKED(X)  rightful G                                   take: OWNED(G)
 *   OWNED(X)   rightful G, X's worker of the lane dead      take: OWNED(G)
 *   FREE       rightful G                                   take: OWNED(G)
 * Master dead, or no step of it for the heartbeat time-out while parked: window OPEN or PARKING becomes ABORTED, by whoever sees it
 * first. New owner dead while the old generation drains: COMMITTED becomes ROLLBACK, by the old worker of that lane (only as long as
 * no quit order came). A process that stands still is killed before it counts as dead (shim_proc_kill), so that it can not come back.
 * Standing still is measured in the looker's own turns: a gap in these does not count (a machine that was suspended declares nobody dead).
 */
#ifndef NONIC_RELOAD_SEAT_H
#define NONIC_RELOAD_SEAT_H

#include "gen_dir.h"

#define SEAT_LOOK_NS 20000000ull     /* how often others are looked at */
#define SEAT_REPORT_NS 1000000000ull /* the drain report (REL-8) */

/* What the worker is for its lane in this turn. */
enum seat_role {
	SEAT_ROLE_WAIT,      /* never owned it yet: attached, READY or not */
	SEAT_ROLE_OWNER,     /* polls and sends */
	SEAT_ROLE_PARKED,    /* between: neither */
	SEAT_ROLE_DRAIN,     /* the other generation owns it: drain ring in, relay ring out */
};

/* What a call found besides; the worker does what they say in this order. */
#define SEAT_DO_LET_GO (1u << 0)     /* flush what is in hand, then call seat_let_go */
#define SEAT_DO_OPEN (1u << 1)       /* a window has opened (seat->window): publish, if the generation is the old one */
#define SEAT_DO_CLOSE (1u << 2)      /* it is over (closed, aborted or rolled back for the new one): stop publishing, dispatcher off */
#define SEAT_DO_TOOK (1u << 3)       /* the lane is this worker's since now: open the dispatcher */
#define SEAT_DO_GAVE (1u << 4)       /* it is no longer: back-log to the relay ring */
#define SEAT_DO_PEER_GONE (1u << 5)  /* the other seat's process is dead or has left: take what is in the rings, everything is local */
#define SEAT_DO_REPORT (1u << 6)     /* fill and store the drain report: seat_report */
#define SEAT_DO_HAND (1u << 7)       /* quit order: hand flows over (PUB_HANDED), then leave as seat_may_leave says */
#define SEAT_DO_EXIT (1u << 8)       /* leave now: the generation was aborted, or rolled back */

/* Watches one process's heartbeat word in the looker's own turns. */
struct seat_watch {
	uint64_t beat;
	uint64_t still_ns;           /* without progress, in looks */
	uint64_t looked_ns;
	bool dead, gone;             /* gone: the seat is free */
	bool killed;
};

struct seat {
	struct shim *shim;
	struct gen_dir *dir;
	unsigned int side, lane;
	uint32_t gen, owner_mark;
	uint32_t heartbeat_timeout_ms;
	uint64_t proc_word;
	struct gen_seat *mine, *peer;
	enum seat_role role;
	struct window window;        /* as last seen */
	uint32_t active;
	bool handing, claimed;
	uint64_t parked_ns;          /* since when; own clock */
	uint64_t look_ns, report_ns; /* when next */
	uint64_t handed_ns, peer_beat_at_hand;
	struct seat_watch peer_watch, master_watch;
};

struct seat_config {
	struct shim *shim;
	struct gen_dir *dir;
	unsigned int lane;
	uint32_t gen;                /* by the master's order; 0: the active one, or the first (a worker without a master) */
	uint32_t heartbeat_timeout_ms;
	uint64_t proc_word;          /* ctl_proc_word of this process */
};

/*
 * Sits down: claims the seat of (side of gen, lane). A dead holder's seat is taken over, its words are reset (READY, order, report, counters).
 * gen 0 with no generation there: makes the first one and becomes its owner. -EBUSY (a live process sits there: named in the log),
 * -EPROTO (hostile directory), -ESTALE (gen is neither the active generation nor the open window's), -EINVAL (lane).
 */
int seat_claim(struct seat *st, const struct seat_config *c);
/* Everything is set up: publishes the READY word (REL-4). */
void seat_ready(struct seat *st);
/* One turn: looks at the words, does the swaps that are the worker's own, returns SEAT_DO_x; st->role is right until the next call. */
unsigned int seat_turn(struct seat *st, uint64_t now_ns);
/* After SEAT_DO_LET_GO and the flush: the acknowledgement. */
void seat_let_go(struct seat *st, uint64_t now_ns);
/* +1, at the end of every turn (REL-7). */
void seat_beat(struct seat *st);
/* Stores the report (REL-8); c->gen and stamp are filled in here. */
void seat_report(struct seat *st, const struct drain_counts *c, uint32_t now_ms);
/*
 * While handing over: true when the peer has seen it for sure (two more of its turns), or is dead, or a second has passed. What is in
 * the drain ring after that is the last.
 */
bool seat_may_leave(const struct seat *st, uint64_t now_ns);
/* Stands up: the seat is free; an owned lease stays (OWNED(gen)) for a successor of the same generation. */
void seat_release(struct seat *st);

#endif

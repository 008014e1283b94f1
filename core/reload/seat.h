/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's part in a reload (REL-4 .. REL-9, REL-12, REL-13): it sits in a seat, keeps or waits for the lease of its lane,
 * parks when it is told to, takes over, drains, and judges by itself when its master or its peer has died. One call a turn;
 * nothing waits.
 *
 * What it does with the lease, G being its own generation, X another one; whose the lanes are: gen_rightful.
 *   OWNED(G)    made by this process: it polls. Let go (PARKED(G), after the last burst is processed) when the window is
 *               PARKING and G the active generation, or when the lane is not G's any more and the peer is there to take it
 *   PARKED(any), FREE   G's, and not PARKING: take (OWNED(G))
 *   OWNED(any)  G's, but made by a process that is dead or has left its seat: take. When it only stands still for the
 *               heartbeat time-out it is killed first
 *   impossible  nobody polls; reported once. G's, and the peer's seat empty or its process dead: take
 * What it does with the window by itself (every other step is the master's):
 *   OPEN, PARKING -> ABORTED   no live master; or parked for the heartbeat time-out
 *   COMMITTED -> ROLLBACK      old worker, not handing over: the lane's new worker is dead, has left or stands still for
 *                              the heartbeat time-out; or nobody has owned the lane for so long
 *   COMMITTED -> RETIRING      master dead or standing still: shutdown_ms have passed in COMMITTED
 *   RETIRING, ABORTED, ROLLBACK -> CLOSED   a worker of the side that stays, no live master: the side that goes is empty
 *                              (and its peer there is killed when it stands still for the heartbeat time-out)
 * Death is judged by the heartbeat first: only a process that does not beat from one look to the next is looked up by pid and
 * start time. Times are measured in the looker's own turns: a gap of more than SEAT_GAP_NS in these does not count (a machine
 * that was suspended declares nobody dead).
 */
#ifndef NONIC_RELOAD_SEAT_H
#define NONIC_RELOAD_SEAT_H

#include "gen_dir.h"

#define SEAT_LOOK_NS 20000000ull     /* how often others are looked at, in a window or without the lane */
#define SEAT_GAP_NS 100000000ull     /* a longer pause between two turns is this process's own: it does not count */
#define SEAT_SOON_NS 1000000ull      /* how often a worker turns at least that waits for others, or they for it */
#define SEAT_REPORT_NS 1000000000ull /* the drain report (REL-8) */
#define SEAT_HAND_NS 1000000000ull   /* a worker that hands over leaves after that, whatever the peer does */

/* What the worker is for its lane in this turn. */
enum seat_role {
	SEAT_ROLE_WAIT,      /* never owned it yet: attached, READY or not */
	SEAT_ROLE_OWNER,     /* polls and sends */
	SEAT_ROLE_PARKED,    /* between: neither */
	SEAT_ROLE_DRAIN,     /* owned it once; it is the other generation's: drain ring in, relay ring out */
};

/* What a call found besides; the worker does what they say in this order. Told once but for LET_GO and EXIT, which come every
 * turn until they are done. OPEN and CLOSE never come together. */
#define SEAT_DO_LET_GO (1u << 0)     /* flush what is in hand, then call seat_let_go; until then st->role is OWNER */
#define SEAT_DO_OPEN (1u << 1)       /* a window has opened (seat->window): publish, if the generation is the old one */
#define SEAT_DO_CLOSE (1u << 2)      /* it is over (closed, aborted or rolled back): stop publishing, dispatcher off */
#define SEAT_DO_TOOK (1u << 3)       /* the lane is this worker's since now; seat_dispatching: open the dispatcher */
#define SEAT_DO_GAVE (1u << 4)       /* it is no longer, and its new owner polls it or SEAT_SOON_NS have passed: time for reports */
#define SEAT_DO_PEER_GONE (1u << 5)  /* the other seat is empty or its process dead: empty the rings, all is local */
#define SEAT_DO_REPORT (1u << 6)     /* fill and store the drain report: seat_report */
#define SEAT_DO_HAND (1u << 7)       /* quit order or RETIRING: hand over (PUB_HANDED), then leave as seat_may_leave says */
#define SEAT_DO_EXIT (1u << 8)       /* leave now: order, the generation was aborted or rolled back, the seat is another's */

/* Watches one process's heartbeat word in the looker's own turns. */
struct seat_watch {
	uint64_t claim, beat;
	uint64_t still_ns;           /* without progress, in looks */
	uint64_t looked_ns;
	bool seen;                   /* looked at before */
	bool dead, gone;             /* gone: the seat is free */
	bool killed;                 /* by this process; it is not dead before the system says so */
};

struct seat {
	struct shim *shim;
	struct gen_dir *dir;
	unsigned int side, lane;
	uint32_t gen, owner_mark;
	uint32_t heartbeat_timeout_ms, shutdown_ms;
	uint64_t proc_word;
	struct gen_seat *mine, *peer;
	enum seat_role role;
	struct window window;        /* as last seen; an impossible one changes nothing */
	bool claimed, handing;
	bool stamp;                  /* the last turn took the lane: the next one is due at once */
	/* the rest is seat.c's own */
	bool took, gave, paired, had_peer, told_gone, owe_gone, hand_marked, reported, told_taken;
	uint32_t open_wid;           /* window that SEAT_DO_OPEN was told for and SEAT_DO_CLOSE was not */
	uint64_t held;               /* the lease word that this process made; 0: none */
	uint64_t beat, acted;        /* last heartbeat; window word that the last turn acted upon */
	uint64_t turn_ns;            /* sample of the last turn */
	uint64_t nobody_ns;          /* so long the lane has been nobody's, in own turns */
	uint64_t committed_ns, handed_ns; /* so long the window is COMMITTED, flows are handed over; in own turns */
	uint64_t look_ns, report_ns; /* when next */
	uint64_t peer_beat_at_hand;
	unsigned int master_slot;
	struct seat_watch peer_watch, master_watch;
};

struct seat_config {
	struct shim *shim;
	struct gen_dir *dir;
	unsigned int lane;
	uint32_t gen;                /* by the master's order; 0: the active one, or the first (a worker without a master) */
	uint32_t heartbeat_timeout_ms; /* 0: 1000 */
	uint32_t shutdown_ms;        /* worker_shutdown_timeout: how long to drain without a master; 0: 90000 */
	uint64_t proc_word;          /* ctl_proc_word of this process */
};

/*
 * Sits down: claims the seat of (side of gen, lane). A dead holder's seat is taken over, its words are reset (READY, report,
 * counters), a lease that it held becomes PARKED: the first turns decide anew. gen 0 with no generation there: makes
 * the first one. -EBUSY (a live process sits there: named in the log), -EPROTO (hostile directory), -ESTALE (gen is neither
 * the active generation nor the open window's: logged), -ENOSPC (no generation number is left), -EINVAL (lane, proc_word 0).
 */
int seat_claim(struct seat *st, const struct seat_config *c);
/* Everything is set up: publishes the READY word (REL-4). */
void seat_ready(struct seat *st);
/*
 * One turn, at its top: looks at the words, does the swaps that are the worker's own, returns SEAT_DO_x. st->role is right
 * until the next call: only OWNER touches the lane's queues. Call it when seat_next says at the latest.
 */
unsigned int seat_turn(struct seat *st, uint64_t now_ns);
/* After SEAT_DO_LET_GO and the flush: the acknowledgement. st->role is PARKED from here on. */
void seat_let_go(struct seat *st, uint64_t now_ns);
/* +1, at the end of every turn (REL-7); says which window word the turn acted upon. */
void seat_beat(struct seat *st);
/* When the next turn is due at the latest. */
uint64_t seat_next(const struct seat *st);
/* Is the other seat's process there, in a window? (From a look: it may be dead for SEAT_LOOK_NS or two.) */
bool seat_peer(const struct seat *st);
/* Has the other generation flows that must be asked for? Owner, of the new one, in COMMITTED or RETIRING, peer there. */
bool seat_dispatching(const struct seat *st);
/* Stores the report (REL-8); c->gen and stamp are filled in here. */
void seat_report(struct seat *st, const struct drain_counts *c, uint32_t now_ms);
/*
 * While handing over: true when the peer has seen it for sure (two more of its turns), or is dead or not there, or a second
 * has passed. What is in the drain ring after that is the last. False before SEAT_DO_HAND.
 */
bool seat_may_leave(const struct seat *st, uint64_t now_ns);
/* Stands up: the seat is free; an owned lease stays (OWNED(gen)) for a successor, or for the other generation to take. */
void seat_release(struct seat *st);

#endif

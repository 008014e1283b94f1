/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generation directory (REL-2): who may poll what, in one zone that every process of a test bed shares.
 *
 * Words. A generation is a number that only grows; its lowest bit is its side (0, 1), so two generations that follow one
 * another sit on different sides and a third finds no seat (PAR-3). A lane is the queue of one index on every port, polled
 * by the worker of that index. A seat is (side, lane): the place of one worker process. The window is the time in which
 * two generations coexist.
 *
 * Ownership of a lane is a lease, one word changed by compare-and-swap only:
 *     OWNED(g)   a worker of generation g polls it: the one process that made this very word, fence included
 *     PARKED(g)  nobody does; g's worker has let go, its last burst is processed: its swap is its acknowledgement (REL-5)
 * Whose the lanes rightfully are follows from one word, `window`, which names both generations (gen_rightful). One swap of
 * it, from PARKING to COMMITTED, decides a reload for all lanes at once; everybody who sees it carries out its part, so no
 * lane depends on the process that decided. Nobody but the holder turns OWNED into anything else, unless the holder's
 * process is known to be dead (it was killed first when it only stood still): two consumers of a queue can not exist
 * (README.md has the proof).
 *
 * One writer per word but where a compare-and-swap is named. A reader takes everything for hostile: gen_dir_attach checks
 * the head, the getters check every word and report an impossible one as -EPROTO; a process logs the first one it meets.
 */
#ifndef NONIC_RELOAD_GEN_DIR_H
#define NONIC_RELOAD_GEN_DIR_H

#include "../../shim/shim.h"

#define GEN_MAGIC 0x6e6f6e696367656eull /* "nonicgen" */
#define GEN_LAYOUT_VERSION 2
#define GEN_ZONE "nonic_gen"
#define GEN_SIDES 2u
#define GEN_MAX_LANES 16u
#define GEN_MASTERS 4u
#define GEN_LAST 0x3ffffff0u     /* 30 bits; no generation after it: restart the primary */

enum lease_state { LEASE_FREE, LEASE_OWNED, LEASE_PARKED };

/* gen << 32 | fence << 2 | state. The fence grows with every change, so that a swap never succeeds on an old sight. */
struct lease {
	enum lease_state state;
	uint32_t gen;
	uint32_t fence;              /* 30 bits, wraps */
};

/*
 * wid << 34 | active << 4 | state. wid is the number of the new generation (CLOSED: of the last one tried), active that of
 * the generation that owned the lanes when the window opened (CLOSED: that owns them). All in one word, so that whose the
 * lanes are is never read from two halves, and every step is one swap that exactly one process makes. The steps, and who
 * may make them (gen_window_step knows the legal ones):
 *     CLOSED(0, 0)  -> CLOSED(g, g)       the first generation: master, or a worker without one
 *     CLOSED        -> OPEN(new)          master
 *     OPEN          -> PARKING            master, when all new workers are READY
 *     PARKING       -> COMMITTED          master, when no live old worker holds a lane any more
 *     OPEN, PARKING -> ABORTED            master; a worker that finds no live master, or that has been parked for too long
 *     COMMITTED     -> ROLLBACK           master; an old worker whose lane's new owner is dead or stands still
 *     COMMITTED     -> RETIRING           master, before any quit order; a worker without a master at its own limit
 *     RETIRING      -> CLOSED(new)        master, when the old workers are gone; without a master a new worker
 *     ABORTED, ROLLBACK -> CLOSED(active) master, when the new workers are gone; without a master an old worker
 * ROLLBACK and RETIRING both leave COMMITTED: one of them wins. Once it is RETIRING, old workers may have left, and there
 * is no way back; before it none has, and there is. RETIRING is itself the quit order to every old worker. A master whose
 * swap fails reads who was faster: RETIRING or CLOSED(new) made by a worker is what it wanted, ABORTED and ROLLBACK (or
 * CLOSED(active) after them) are a lost window.
 */
enum window_state {
	WINDOW_CLOSED,               /* one generation */
	WINDOW_OPEN,                 /* T1: the new one starts, the old one publishes */
	WINDOW_PARKING,              /* T2: the old one shall let go */
	WINDOW_COMMITTED,            /* T3: the lanes are the new one's; the old one drains */
	WINDOW_ABORTED,              /* not committed: the lanes stay the old one's, the new one ends */
	WINDOW_ROLLBACK,             /* after COMMITTED: the lanes go back, the new one ends */
	WINDOW_RETIRING,             /* T5, after COMMITTED: the old one hands its flows over and leaves */
	WINDOW_STATES
};

struct window {
	enum window_state state;
	uint32_t wid;
	uint32_t active;             /* 0 with wid 0: no generation has been there */
};

enum seat_order { SEAT_SERVE, SEAT_QUIT /* hand everything over and leave */, SEAT_ABORT /* leave at once */ };

/* The drain report (REL-8); all of it under one sequence word, so that a reader never sees halves. */
struct drain_counts {
	uint32_t gen;
	uint32_t tcp, half_open, udp;  /* connections, half-open ones, active published flows */
	uint64_t unsent;               /* bytes in send buffers */
	uint32_t stamp_ms;             /* writer's clock */
	uint32_t zero;
};

struct gen_seat {                /* one per (side, lane); the worker writes but for `order` */
	uint64_t claim;              /* ctl_proc_word; by compare-and-swap; 0: nobody */
	uint64_t heartbeat;          /* +1 every turn of the main loop, whether it owns the lane or not (REL-7) */
	uint64_t ready;              /* REL-4: generation << 32 | pid */
	uint32_t gen;                /* of the present holder */
	uint32_t owner_mark;         /* what it stamps its buffers with (REL-18) */
	uint32_t cache_id;           /* shim_cache_id of its door */
	uint32_t order_word;         /* gen << 2 | enum seat_order; the master (gen_order_set); 0: by who sits down */
	uint64_t window_seen;        /* window word as last acted upon: what a master waits for where it must */
	uint32_t drain_seq;          /* odd: being written */
	uint32_t zero;
	struct drain_counts drain;
	/* totals of the present window; for the completion line and the tools */
	uint64_t forwarded, relayed, cloned, kept, taken_over, without_peer_table, bounced;
	uint64_t drain_full, relay_full;
	uint32_t drain_peak, relay_peak;
	/* monotonic: the turn that let go, the turn after the one that took and polled first: the handover gap, or more */
	uint64_t parked_at_ns, took_at_ns;
	uint64_t drain_claim;        /* ctl_proc_word of the one consumer of the seat's drain rings; by compare-and-swap */
	uint64_t pad[3];
} __attribute__((aligned(64)));

struct gen_master {
	uint64_t claim;              /* ctl_proc_word; by compare-and-swap */
	uint64_t heartbeat;
	uint32_t gen;                /* the generation it runs; 0: none yet */
	uint32_t zero;
	uint64_t pad[5];
} __attribute__((aligned(64)));

struct gen_lane {
	uint64_t lease;              /* by compare-and-swap */
	uint64_t taken;              /* times an owner found its lease another's; by fetch-add. More than 0: two may have polled at once */
	uint64_t pad[6];
} __attribute__((aligned(64)));

struct gen_dir {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t len;                /* sizeof(struct gen_dir) */
	uint64_t boot_id;
	uint32_t nb_lanes;
	uint32_t next_gen;           /* the smallest number not used yet; masters, by fetch-add and swap */
	uint32_t next_mark;          /* owner marks, never 0, by fetch-add; shared by every process that stamps */
	uint32_t zero;
	uint64_t pad0[3];
	/* one line of decisions */
	uint64_t window __attribute__((aligned(64))); /* by compare-and-swap */
	uint64_t parity;             /* PAR-1: the side whose ports are odd; fixed for the boot */
	struct gen_master master[GEN_MASTERS];
	struct gen_lane lane[GEN_MAX_LANES];
	struct gen_seat seat[GEN_SIDES][GEN_MAX_LANES];
};

static inline unsigned int
gen_side(uint32_t gen)
{
	return gen & 1;
}

/* ---- words (pure) ----------------------------------------------------------------------------- */

uint64_t lease_word(struct lease l);
/* 0, -EPROTO: no lease (state or generation impossible). */
int lease_of(uint64_t word, struct lease *out);
uint64_t window_word(struct window w);
int window_of(uint64_t word, struct window *out);
/* Whose the lanes are: wid's in COMMITTED and RETIRING, else active's. 0: nobody's yet. */
uint32_t gen_rightful(struct window w);
/* Is `to` a legal next step after `from`? (The table above, numbers included.) */
bool gen_window_step(struct window from, struct window to);
const char *gen_window_name(enum window_state state); /* "PARKING"; "?" out of range */

/* ---- making and attaching --------------------------------------------------------------------- */

/* The primary: makes the zone. Errors of shim_zone_reserve; -EINVAL (lanes 0 or over GEN_MAX_LANES, boot id 0). */
int gen_dir_create(struct shim *s, uint32_t nb_lanes, uint64_t boot_id, struct gen_dir **out);
/* Checks size, magic, layout version (both are named in the log when they differ), boot id, lanes. -ENOENT, -EPROTO. */
int gen_dir_attach(struct shim *s, uint64_t boot_id, struct gen_dir **out);

/* ---- reading, hostile words caught ------------------------------------------------------------ */

int gen_window(struct shim *s, const struct gen_dir *d, struct window *out); /* 0, -EPROTO */
/* 0, -EPROTO, -EINVAL (lane) */
int gen_lease(struct shim *s, const struct gen_dir *d, unsigned int lane, struct lease *out);
/* 0, -EPROTO, -EAGAIN (torn eight times in a row: it is being written, or its writer died there). */
int gen_drain(struct shim *s, const struct gen_dir *d, unsigned int side, unsigned int lane, struct drain_counts *out);
/* 1: a live process holds the seat, *who names it (may be NULL); 0: nobody or a dead one. */
int gen_seat_alive(struct shim *s, const struct gen_dir *d, unsigned int side, unsigned int lane, struct shim_proc *who);
/* Live workers on a side: a window opens only towards an empty one (PAR-3), and is closed when its losing side is empty. */
unsigned int gen_side_alive(struct shim *s, const struct gen_dir *d, unsigned int side);
/* The order for the worker of gen in its seat; SEAT_SERVE where there is none, or an impossible one. */
enum seat_order gen_order(struct shim *s, const struct gen_dir *d, uint32_t gen, unsigned int lane);

/* ---- changing --------------------------------------------------------------------------------- */

/* A new generation on the given side. 0: GEN_LAST is reached (logged). */
uint32_t gen_next(struct shim *s, struct gen_dir *d, unsigned int side);
uint32_t gen_mark_next(struct shim *s, struct gen_dir *d); /* never 0, under SHIM_BUF_UNSTAMPED */
void gen_order_set(struct shim *s, struct gen_dir *d, uint32_t gen, unsigned int lane, enum seat_order order);
/* Swaps the window from exactly `from` to `to`. True: this call did it. False, too, for a step that is not legal (logged). */
bool gen_window_swap(struct shim *s, struct gen_dir *d, struct window from, struct window to);
/*
 * Swaps the lease from exactly `from` (fence included) to (state, gen), fence one further. True: this call did it.
 * Whoever turns another one's OWNED into something else calls gen_lease_break.
 */
bool gen_lease_swap(struct shim *s, struct gen_dir *d, unsigned int lane, struct lease from, enum lease_state state,
	uint32_t gen);
/*
 * `from` is OWNED, as just read: if the seat of its generation has no live process now, swaps it to PARKED of the same
 * generation. In this order (lease, then claim, then life, then swap) it is safe against a successor that sits down
 * meanwhile. True: this call did it.
 */
bool gen_lease_break(struct shim *s, struct gen_dir *d, unsigned int lane, struct lease from);
/*
 * A master takes one of the four slots: *slot. A dead master's slot is taken over. -EBUSY: a live master runs (*other, which
 * may be NULL, names it; a second one only comes by an upgrade, REL-10; two that come at once may both get this), -ENOSPC,
 * -ERANGE (this process can not be named in a word).
 */
int gen_master_claim(struct shim *s, struct gen_dir *d, unsigned int *slot, struct shim_proc *other);
void gen_master_release(struct shim *s, struct gen_dir *d, unsigned int slot);
/* 1: some live master is there (*who, may be NULL); 0: none. */
int gen_master_alive(struct shim *s, const struct gen_dir *d, struct shim_proc *who);

#endif

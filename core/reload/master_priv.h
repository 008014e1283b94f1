/* SPDX-License-Identifier: BSD-3-Clause */
/* The master's inside, shared by its files: master.c (the turn), master_look.c (facts), master_act.c (deeds). */
#ifndef NONIC_RELOAD_MASTER_PRIV_H
#define NONIC_RELOAD_MASTER_PRIV_H

#include "master.h"

#define MASTER_RECHECK_NS 1000000ull /* in the handover a verdict "alive" is good for so long: asking costs more than parking */

/* One worker process, as the master knows it: its own child, or one that it found in the seat. */
struct master_worker {
	struct shim_proc proc;       /* pid 0: none yet */
	uint32_t gen;
	bool alive, child;
	uint64_t began_ms;           /* when it was started or found */
	uint64_t gone_ms;            /* when it was found dead */
	uint64_t retry_ms;           /* not started again before */
	uint32_t backoff_ms;
	uint64_t beat, still_ns;     /* heartbeat as last seen, and for how long it has not moved, in the master's own turns */
	/* of the old generation, when the window opened: what its seat says of an earlier round */
	uint64_t parked_before;
	uint32_t drain_before;
};

struct reload_master {
	struct shim *shim;
	struct gen_dir *dir;
	unsigned int nb_lanes, slot;
	struct reload_master_ops ops;
	uint32_t heartbeat_timeout_ms;
	struct reload_fsm fsm;
	uint64_t now_ns, turned_ns, checked_ns, beat;
	struct window window;        /* as last seen; an impossible word changes nothing */
	enum window_state expected;  /* what the driver last made of it, in T1 and T2 */
	bool damaged;                /* the word is impossible now */
	uint32_t active, gen;        /* gen: the new generation of the present round, 0: none */
	struct master_worker w[GEN_SIDES][GEN_MAX_LANES];
	unsigned int spawn_failed;   /* in this round */
	bool stop, graceful, stopped, replace;
	uint64_t stop_ms, kill_ms;   /* the stop's second stage is due at */
	uint64_t stall_ms;           /* the last line about the present drain */
	uint64_t reloads, aborts, respawns;
	uint64_t taken_before;       /* when the window opened */
	struct reload_report last;
	struct reload_trouble trouble;
	struct drain_counts left;
	unsigned int unreported;     /* live old workers without a report in this drain */
};

static inline uint64_t
master_ms(const struct reload_master *m)
{
	return m->now_ns / 1000000;
}

static inline struct master_worker *
master_old(struct reload_master *m, unsigned int lane)
{
	return &m->w[gen_side(m->active)][lane];
}

static inline struct master_worker *
master_new(struct reload_master *m, unsigned int lane)
{
	return &m->w[gen_side(m->active) ^ 1][lane];
}

/* ---- master_look.c ---- */

/* Who is alive, found in the seats too; asks the system unless that was done a moment ago in the handover. */
void master_look(struct reload_master *m);
void master_read_window(struct reload_master *m);
void master_facts(struct reload_master *m, struct reload_facts *f);
bool master_ready(struct reload_master *m, const struct master_worker *w, unsigned int lane);
/* The lane is polled by a live worker of the active generation. */
bool master_lane_kept(struct reload_master *m, unsigned int lane);
unsigned int master_alive(const struct reload_master *m, unsigned int side);

/* ---- master_act.c ---- */

void master_act(struct reload_master *m, unsigned int actions);
/* Starts again who should be there and is not; gives orders; the stop's second stage. */
void master_tend(struct reload_master *m);
/* When master_tend may start somebody again, in ms; UINT64_MAX. */
uint64_t master_retry(const struct reload_master *m);

/* ---- master_report.c ---- */

/* Sums of the round that ends now into m->last. */
void master_report(struct reload_master *m, bool complete);
/* Leases that were taken from live owners, over the lanes. */
uint64_t master_taken(const struct reload_master *m);
/* Keeps why a HUP was refused, or a round aborted, for nonic ctl status. */
void master_trouble(struct reload_master *m, bool aborted, const char *why);
/* REL-9: says what holds the drain, if it is time. */
void master_stalled(struct reload_master *m);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The master: starts workers, replaces the dead ones, and drives a reload through reload/fsm.h (REL-1, REL-3 .. REL-5, REL-8,
 * REL-9, REL-12, REL-13, PAR-3). It runs no stack and touches no buffer. Nothing in it waits: reload_master_turn looks at the
 * directory, judges, does what is due and says when to call again; the program (nonic serve) and the simulator call it in the
 * same way.
 */
#ifndef NONIC_RELOAD_MASTER_H
#define NONIC_RELOAD_MASTER_H

#include "fsm.h"
#include "gen_dir.h"

#define MASTER_RESPAWN_MS 100u       /* a worker that dies young is not started again faster than that; doubles ... */
#define MASTER_RESPAWN_MAX_MS 2000u  /* ... up to this; one that has lived longer than this is not young: at once */
#define MASTER_STALL_MS 10000u       /* a drain that goes on says so, and what holds it, that often (REL-9) */
#define MASTER_IDLE_NS 100000000ull  /* the longest time between two turns */

struct reload_master;

struct reload_master_ops {
	/* Starts the worker of lane for generation gen; its READY word comes later. 0 with *who, or -errno. */
	int (*spawn)(void *ctx, unsigned int lane, uint32_t gen, struct shim_proc *who);
	/*
	 * Before anything is touched: may a reload begin? Reads the configuration again, compares the device digest (CFG-6),
	 * looks whether memory for a second generation and the primary are there. 0, or -errno with a sentence in why.
	 * NULL: always.
	 */
	int (*check)(void *ctx, char *why, size_t n);
	void *ctx;
};

struct reload_master_config {
	struct shim *shim;
	struct gen_dir *dir;
	unsigned int nb_lanes;
	struct reload_limits limits;
	uint32_t heartbeat_timeout_ms; /* 0: 1000 */
	const struct reload_master_ops *ops;
};

/* How a reload went; the numbers of its completion line. */
struct reload_report {
	uint32_t gen;                /* active after it */
	bool complete, forced;
	bool reclaimed;              /* aborted after the flip, by an old worker */
	const char *reason;          /* of an abort; a literal */
	uint64_t total_ms, handover_ms, drain_ms;
	uint64_t gap_ns;             /* longest time that a lane was nobody's, from the workers' stamps; 0: not known */
	uint64_t forwarded, relayed, dropped;
	uint64_t taken;              /* leases that a live owner found taken in this round: two may have polled; should be 0 */
	uint32_t drain_peak, relay_peak;
};

/* The last HUP that was refused, or round that was aborted. */
struct reload_trouble {
	bool there, aborted;         /* there: there was one; aborted: else it was refused */
	uint64_t at_ms, ago_ms;
	char why[200];
};

struct reload_status {
	enum reload_state state;
	uint32_t active, wid;        /* wid: the new generation in a window, 0 else */
	unsigned int nb_lanes, live[GEN_SIDES];
	uint64_t reloads, aborts, respawns;
	uint64_t taken;              /* as in the report, since the primary's start */
	bool stopping, stopped;
	struct reload_report last;   /* gen 0: none yet */
	struct drain_counts left;    /* sums of the old generation's reports in T3 */
	struct reload_trouble trouble;
};

/*
 * Takes a master slot and starts the first generation; where one is there already its missing workers are started. Live
 * workers of a dead master are taken over: the round that it died in ends first (completed if it was committed, else aborted),
 * then the next generation replaces them by an ordinary reload. -EBUSY (a live master, named in the log), -ENOMEM, -EPROTO
 * (the directory is damaged), -ENOSPC (no slot, no generation number), -ERANGE (gen_master_claim), -EINVAL (lanes, ops).
 */
int reload_master_create(const struct reload_master_config *c, struct reload_master **out);
/* Gives the slot up. Does not end workers. m may be NULL. */
void reload_master_destroy(struct reload_master *m);
/*
 * HUP. 0: it has begun. -EBUSY: not now (a reload runs, an older generation or another master is still there, no generation
 * serves yet, a stop is under way), -ENOSPC (no generation number is left), or what ops->check said; why has the reason,
 * which is logged too ("graceful reload rejected: ..."). Nothing has been touched then.
 */
int reload_master_hup(struct reload_master *m, char *why, size_t n);
/* How long a drain may last from the next HUP or QUIT on, ms; for ops->check, which has just read the configuration anew. 0: limits' default. */
void reload_master_drain_limit(struct reload_master *m, uint32_t ms);
/*
 * QUIT (graceful: workers hand over and leave) or TERM (at once); TERM after QUIT hurries it. A reload that has not flipped
 * yet is aborted first; one that drains ends its drain now. Workers that do not leave are killed: after limits.abort (TERM), after
 * limits.drain + limits.quit_again (QUIT).
 */
void reload_master_stop(struct reload_master *m, bool graceful);
/* Does what is due. Returns ns until it wants to be called again (at most 100 ms; 0: at once). */
uint64_t reload_master_turn(struct reload_master *m);
bool reload_master_stopped(const struct reload_master *m); /* every worker has left after reload_master_stop */
void reload_master_status(const struct reload_master *m, struct reload_status *out);
/* The log line of REL-3 for r: "graceful reload complete: generation N now active (took ...)" or the abort's. */
void reload_report_text(const struct reload_report *r, char *buf, size_t n);

#endif

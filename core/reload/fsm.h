/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window's state machine (REL-3): events in, actions out. Pure: no I/O, no clock, no memory of its own; the master drives it, the
 * simulator enumerates it. Every state that waits has a deadline, every deadline an outcome.
 */
#ifndef NONIC_RELOAD_FSM_H
#define NONIC_RELOAD_FSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reload_state {
	RELOAD_T0_IDLE,
	RELOAD_T1_GNEW_SPAWN,
	RELOAD_T2_HANDOVER,
	RELOAD_T3_DRAIN,
	RELOAD_T4_DRAIN_DONE,
	RELOAD_T5_GOLD_QUIT,
	RELOAD_T_ERROR,
	RELOAD_STATES
};

enum reload_event {
	RELOAD_NOTHING,
	RELOAD_HUP,              /* T0 -> T1 */
	RELOAD_ALL_READY,        /* T1 -> T2 */
	RELOAD_READY_TIMEOUT,    /* T1 -> T_ERROR */
	RELOAD_GNEW_DIED,        /* T1, T2 -> T_ERROR */
	RELOAD_SPAWN_FAILED,     /* T1 -> T_ERROR */
	RELOAD_PARK_TIMEOUT,     /* T2 -> T_ERROR */
	RELOAD_FLIP_FAILED,      /* T2 -> T_ERROR: somebody aborted the window first */
	RELOAD_HANDOVER_DONE,    /* T2 -> T3 */
	RELOAD_RECLAIMED,        /* T3, T4 -> T_ERROR: an old worker took its lane back */
	RELOAD_DRAIN_DONE,       /* T3 -> T4 */
	RELOAD_DRAIN_DEADLINE,   /* T3 -> T4, forced */
	RELOAD_QUIT_GOLD,        /* T4 -> T5 */
	RELOAD_GOLD_EXITED,      /* T5 -> T0 */
	RELOAD_ABORT,            /* T1, T2, T3, T4 -> T_ERROR: stop order, or the master's own wish */
	RELOAD_RESET,            /* T_ERROR -> T0: the new generation is gone, the old one owns every lane */
	RELOAD_EVENTS
};

/* What the driver does on a transition, in the order of the bits. */
#define RELOAD_DO_OPEN (1u << 0)       /* window OPEN, new generation number */
#define RELOAD_DO_SPAWN (1u << 1)      /* start its workers */
#define RELOAD_DO_PARK (1u << 2)       /* window PARKING */
#define RELOAD_DO_COMMIT (1u << 3)     /* window COMMITTED: the one swap; lanes of dead holders are given by the master */
#define RELOAD_DO_QUIT_OLD (1u << 4)   /* window RETIRING: no way back any more, and the quit order to all old workers */
#define RELOAD_DO_CLOSE (1u << 5)      /* window CLOSED, active the new generation; report */
#define RELOAD_DO_ABORT (1u << 6)      /* window ABORTED (or ROLLBACK), the new workers are ended */
#define RELOAD_DO_CLOSE_ABORTED (1u << 7) /* window CLOSED, active stays */

struct reload_limits {               /* ms */
	uint32_t ready;              /* 60000 */
	uint32_t park;               /* 100 */
	uint32_t drain;              /* worker_shutdown_timeout: 90000 */
	uint32_t quit_again;         /* 10000: the quit order's second stage: kill */
	uint32_t abort;              /* 10000: then the new workers are killed */
};

struct reload_fsm {
	enum reload_state state;
	uint32_t transition;         /* of the present round, 1 .. */
	uint64_t since_ms, began_ms, handover_ms, drain_began_ms, drain_ms;
	const char *reason;          /* of the last abort; a literal */
	bool forced;                 /* the drain ended by its deadline */
	struct reload_limits limits;
};

/* What the driver sees before each judgement; counts over the lanes. */
struct reload_facts {
	bool stop;                   /* a stop order is there */
	unsigned int lanes;
	unsigned int new_ready;      /* live, READY word of this generation and of this very child */
	unsigned int new_dead;       /* spawned and dead, or its process is not the READY word's */
	unsigned int spawn_failed;
	unsigned int old_live, old_parked; /* of the old generation: live workers; live ones that have let go */
	unsigned int old_drained;    /* live ones whose report of this round shows nothing left */
	bool window_lost;            /* the window is not what the driver last made of it: aborted, or rolled back by a worker */
	unsigned int new_alive;
	unsigned int lanes_old;      /* lanes whose lease is OWNED by the old generation */
};

/* T0 with the given limits (a 0 is replaced by the default named above). */
void reload_fsm_init(struct reload_fsm *f, const struct reload_limits *limits);
/*
 * The next event, if the facts and the time make one; RELOAD_NOTHING else. Death is judged before readiness, readiness again before the flip
 * (a worker that died after READY is seen in T2); a dead old worker counts as parked and as drained.
 */
enum reload_event reload_fsm_judge(const struct reload_fsm *f, const struct reload_facts *facts, uint64_t now_ms);
/* Takes an event. 0 with *actions; -EINVAL: it is not legal in this state, nothing changes. A HUP anywhere but T0 is that. */
int reload_fsm_event(struct reload_fsm *f, enum reload_event e, uint64_t now_ms, unsigned int *actions);
/* Time at which reload_fsm_judge may say something new without new facts; UINT64_MAX. */
uint64_t reload_fsm_deadline(const struct reload_fsm *f);

const char *reload_state_name(enum reload_state s); /* "T1_GNEW_SPAWN"; "?" out of range */
const char *reload_event_name(enum reload_event e);

#endif

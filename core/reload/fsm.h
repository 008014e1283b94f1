/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window's state machine (REL-3): events in, actions out. Pure: no I/O, no clock, no memory of its own; the master
 * drives it, the simulator enumerates it. Every state that waits has a deadline, every deadline an outcome.
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
	RELOAD_ALL_PARKED,       /* T2 stays: the driver swaps the window now; its next facts say whether it did */
	RELOAD_FLIP_FAILED,      /* T1, T2 -> T_ERROR: somebody aborted the window first */
	RELOAD_HANDOVER_DONE,    /* T2 -> T3: the window is committed */
	RELOAD_RECLAIMED,        /* T3, T4, T5 -> T_ERROR: an old worker rolled back (in T5: before the driver's RETIRING) */
	RELOAD_DRAIN_DONE,       /* T3 -> T4 */
	RELOAD_DRAIN_DEADLINE,   /* T3 -> T4, forced: by time, by a stop order, or by a worker that retires on its own */
	RELOAD_QUIT_GOLD,        /* T4 -> T5 */
	RELOAD_QUIT_AGAIN,       /* T5 stays: the quit order's second stage */
	RELOAD_GOLD_EXITED,      /* T5 -> T0 */
	RELOAD_ABORT,            /* T1, T2 -> T_ERROR: stop order before the flip; after it the drain ends at once instead */
	RELOAD_ABORT_AGAIN,      /* T_ERROR stays: the abort's second stage */
	RELOAD_RESET,            /* T_ERROR -> T0: the new generation is gone, the old one has every lane */
	RELOAD_EVENTS
};

/* What the driver does on a transition, in the order of the bits. */
#define RELOAD_DO_OPEN (1u << 0)       /* window OPEN */
#define RELOAD_DO_SPAWN (1u << 1)      /* start the new generation's workers */
#define RELOAD_DO_PARK (1u << 2)       /* window PARKING */
#define RELOAD_DO_COMMIT (1u << 3)     /* window COMMITTED: the one swap */
#define RELOAD_DO_QUIT_OLD (1u << 4)   /* window RETIRING: no way back any more, and the quit order to all old workers */
#define RELOAD_DO_KILL_OLD (1u << 5)   /* end those that are still there */
#define RELOAD_DO_CLOSE (1u << 6)      /* window CLOSED, active the new generation; report */
#define RELOAD_DO_ABORT (1u << 7)      /* window ABORTED, unless it is over already; the new workers shall leave; report */
#define RELOAD_DO_KILL_NEW (1u << 8)   /* end those that are still there, and old ones that do not take their lane back */
#define RELOAD_DO_CLOSE_ABORTED (1u << 9) /* window CLOSED, active stays */

#define RELOAD_DRAIN_DEFAULT_MS 90000u

struct reload_limits {               /* ms */
	uint32_t ready;              /* 60000 */
	uint32_t park;               /* 100 */
	uint32_t drain;              /* worker_shutdown_timeout: 90000 */
	uint32_t quit_again;         /* 10000: the quit order's second stage: kill; again each time that passes */
	uint32_t abort;              /* 10000: then the new workers are killed; again each time that passes */
};

struct reload_fsm {
	enum reload_state state;
	uint32_t transition;         /* of the present round, 1 .. */
	uint64_t since_ms;           /* in this state since */
	uint64_t wait_ms;            /* the present wait began: as since_ms, or when the last second stage was */
	uint64_t began_ms, handover_ms, drain_began_ms, drain_ms;
	const char *reason;          /* of the last abort; a literal; NULL: none in this round */
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
	unsigned int old_live;       /* live workers of the old generation */
	unsigned int old_starting;   /* of these: not READY yet (started again a moment ago) */
	unsigned int old_parked;     /* of these: have let go of their lane */
	unsigned int old_drained;    /* of these: the report of this round shows nothing left */
	bool committed;              /* the window of this round is COMMITTED, RETIRING, or CLOSED with the new one active */
	bool retiring;               /* it is one of the latter two: old workers are leaving */
	bool window_lost;            /* it is neither committed nor what the driver last made of it: a worker ended it */
	unsigned int new_alive;
	unsigned int lanes_old;      /* lanes that the old generation owns, or whose old worker is being started again */
};

/* T0 with the given limits (a 0 is replaced by the default named above; limits NULL: all of them). */
void reload_fsm_init(struct reload_fsm *f, const struct reload_limits *limits);
/*
 * A new driver goes on with a round that a dead one left: in T3_DRAIN when the window was committed, in T5_GOLD_QUIT when it
 * was retiring, in T_ERROR otherwise (the caller has aborted the window). -EINVAL: another state, or this machine is not in T0.
 */
int reload_fsm_resume(struct reload_fsm *f, enum reload_state state, uint64_t now_ms);
/*
 * The next event, if the facts and the time make one; RELOAD_NOTHING else. Death is judged before readiness, readiness
 * again before the flip (a worker that died after READY is seen in T2), success before its deadline; a dead old worker counts
 * as parked and as drained.
 */
enum reload_event reload_fsm_judge(const struct reload_fsm *f, const struct reload_facts *facts, uint64_t now_ms);
/*
 * Takes an event. 0 with *actions; -EINVAL: it is not legal in this state, nothing changes. A HUP anywhere but T0 is that.
 * The driver acts, looks again and judges again until RELOAD_NOTHING. An event that stays in its state is no transition: not
 * counted, not logged.
 */
int reload_fsm_event(struct reload_fsm *f, enum reload_event e, uint64_t now_ms, unsigned int *actions);
/* Time at which reload_fsm_judge may say something new without new facts; UINT64_MAX: never (T0). */
uint64_t reload_fsm_deadline(const struct reload_fsm *f);

const char *reload_state_name(enum reload_state s); /* "T1_GNEW_SPAWN"; "?" out of range */
const char *reload_event_name(enum reload_event e); /* "HUP"; "?" out of range */

#endif

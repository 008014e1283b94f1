/* SPDX-License-Identifier: BSD-3-Clause */
/* The window's state machine: one table of what may follow what, and the judgement of what the driver saw. */
#include "fsm.h"

#include <errno.h>

struct step {
	enum reload_state from;
	enum reload_event event;
	enum reload_state to;
	unsigned int actions;
	const char *reason;          /* of an abort */
};

/* Everything that is legal; what is not in here is an illegal event. */
static const struct step steps[] = {
	{ RELOAD_T0_IDLE, RELOAD_HUP, RELOAD_T1_GNEW_SPAWN, RELOAD_DO_OPEN | RELOAD_DO_SPAWN, NULL },

	{ RELOAD_T1_GNEW_SPAWN, RELOAD_ALL_READY, RELOAD_T2_HANDOVER, RELOAD_DO_PARK, NULL },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_READY_TIMEOUT, RELOAD_T_ERROR, RELOAD_DO_ABORT, "READY wait timed out" },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_GNEW_DIED, RELOAD_T_ERROR, RELOAD_DO_ABORT, "a new worker exited before READY" },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_SPAWN_FAILED, RELOAD_T_ERROR, RELOAD_DO_ABORT, "a new worker could not be started" },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_FLIP_FAILED, RELOAD_T_ERROR, RELOAD_DO_ABORT, "a worker ended the window" },
	{ RELOAD_T1_GNEW_SPAWN, RELOAD_ABORT, RELOAD_T_ERROR, RELOAD_DO_ABORT, "stop order" },

	{ RELOAD_T2_HANDOVER, RELOAD_ALL_PARKED, RELOAD_T2_HANDOVER, RELOAD_DO_COMMIT, NULL },
	{ RELOAD_T2_HANDOVER, RELOAD_HANDOVER_DONE, RELOAD_T3_DRAIN, 0, NULL },
	{ RELOAD_T2_HANDOVER, RELOAD_GNEW_DIED, RELOAD_T_ERROR, RELOAD_DO_ABORT, "a new worker exited right after READY" },
	{ RELOAD_T2_HANDOVER, RELOAD_PARK_TIMEOUT, RELOAD_T_ERROR, RELOAD_DO_ABORT, "G_old park confirmation timed out" },
	{ RELOAD_T2_HANDOVER, RELOAD_FLIP_FAILED, RELOAD_T_ERROR, RELOAD_DO_ABORT, "rx ownership flip failed" },
	{ RELOAD_T2_HANDOVER, RELOAD_ABORT, RELOAD_T_ERROR, RELOAD_DO_ABORT, "stop order" },

	{ RELOAD_T3_DRAIN, RELOAD_DRAIN_DONE, RELOAD_T4_DRAIN_DONE, 0, NULL },
	{ RELOAD_T3_DRAIN, RELOAD_DRAIN_DEADLINE, RELOAD_T4_DRAIN_DONE, 0, NULL },
	{ RELOAD_T3_DRAIN, RELOAD_RECLAIMED, RELOAD_T_ERROR, RELOAD_DO_ABORT,
	  "new generation stalled: old generation reclaimed rx" },

	{ RELOAD_T4_DRAIN_DONE, RELOAD_QUIT_GOLD, RELOAD_T5_GOLD_QUIT, RELOAD_DO_QUIT_OLD, NULL },
	{ RELOAD_T4_DRAIN_DONE, RELOAD_RECLAIMED, RELOAD_T_ERROR, RELOAD_DO_ABORT,
	  "new generation stalled: old generation reclaimed rx" },

	{ RELOAD_T5_GOLD_QUIT, RELOAD_QUIT_AGAIN, RELOAD_T5_GOLD_QUIT, RELOAD_DO_KILL_OLD, NULL },
	{ RELOAD_T5_GOLD_QUIT, RELOAD_GOLD_EXITED, RELOAD_T0_IDLE, RELOAD_DO_CLOSE, NULL },
	{ RELOAD_T5_GOLD_QUIT, RELOAD_RECLAIMED, RELOAD_T_ERROR, RELOAD_DO_ABORT,
	  "new generation stalled: old generation reclaimed rx" },

	{ RELOAD_T_ERROR, RELOAD_ABORT_AGAIN, RELOAD_T_ERROR, RELOAD_DO_KILL_NEW, NULL },
	{ RELOAD_T_ERROR, RELOAD_RESET, RELOAD_T0_IDLE, RELOAD_DO_CLOSE_ABORTED, NULL },
};

static uint32_t
limit(uint32_t given, uint32_t otherwise)
{
	return given != 0 ? given : otherwise;
}

void
reload_fsm_init(struct reload_fsm *f, const struct reload_limits *limits)
{
	struct reload_limits l = { 0 };

	if (limits != NULL)
		l = *limits;
	*f = (struct reload_fsm){ .state = RELOAD_T0_IDLE, .limits = {
		.ready = limit(l.ready, 60000), .park = limit(l.park, 100), .drain = limit(l.drain, RELOAD_DRAIN_DEFAULT_MS),
		.quit_again = limit(l.quit_again, 10000), .abort = limit(l.abort, 10000) } };
}

int
reload_fsm_resume(struct reload_fsm *f, enum reload_state state, uint64_t now_ms)
{
	if (f->state != RELOAD_T0_IDLE ||
	    (state != RELOAD_T3_DRAIN && state != RELOAD_T5_GOLD_QUIT && state != RELOAD_T_ERROR))
		return -EINVAL;
	f->state = state;
	f->transition = 0;
	f->since_ms = f->wait_ms = f->began_ms = f->drain_began_ms = now_ms;
	f->handover_ms = f->drain_ms = 0;
	f->forced = false;
	f->reason = state == RELOAD_T_ERROR ? "the master of this round died" : NULL;
	return 0;
}

uint64_t
reload_fsm_deadline(const struct reload_fsm *f)
{
	switch (f->state) {
	case RELOAD_T1_GNEW_SPAWN:
		return f->wait_ms + f->limits.ready;
	case RELOAD_T2_HANDOVER:
		return f->wait_ms + f->limits.park;
	case RELOAD_T3_DRAIN:
		return f->wait_ms + f->limits.drain;
	case RELOAD_T4_DRAIN_DONE:
		return f->wait_ms;
	case RELOAD_T5_GOLD_QUIT:
		return f->wait_ms + f->limits.quit_again;
	case RELOAD_T_ERROR:
		return f->wait_ms + f->limits.abort;
	default:
		return UINT64_MAX;
	}
}

static enum reload_event
judge_spawn(const struct reload_facts *x, bool late)
{
	if (x->stop)
		return RELOAD_ABORT;
	if (x->spawn_failed > 0)
		return RELOAD_SPAWN_FAILED;
	if (x->new_dead > 0)
		return RELOAD_GNEW_DIED;
	if (x->window_lost)
		return RELOAD_FLIP_FAILED;
	/* an old worker that is being started again could not let go within the park limit: it is waited for here */
	if (x->new_ready >= x->lanes && x->old_starting == 0)
		return RELOAD_ALL_READY;
	return late ? RELOAD_READY_TIMEOUT : RELOAD_NOTHING;
}

static enum reload_event
judge_handover(const struct reload_facts *x, bool late)
{
	if (x->committed) /* decided: whatever else is true is the next state's */
		return RELOAD_HANDOVER_DONE;
	if (x->stop)
		return RELOAD_ABORT;
	if (x->new_dead > 0 || x->new_ready < x->lanes)
		return RELOAD_GNEW_DIED;
	if (x->window_lost)
		return RELOAD_FLIP_FAILED;
	if (x->old_parked >= x->old_live)
		return RELOAD_ALL_PARKED;
	return late ? RELOAD_PARK_TIMEOUT : RELOAD_NOTHING;
}

static enum reload_event
judge_drain(const struct reload_facts *x, bool late)
{
	if (x->window_lost)
		return RELOAD_RECLAIMED;
	if (x->old_drained >= x->old_live)
		return RELOAD_DRAIN_DONE;
	return late || x->stop || x->retiring ? RELOAD_DRAIN_DEADLINE : RELOAD_NOTHING;
}

static enum reload_event
judge_quit(const struct reload_facts *x, bool late)
{
	if (x->window_lost)
		return RELOAD_RECLAIMED;
	if (x->old_live == 0)
		return RELOAD_GOLD_EXITED;
	return late ? RELOAD_QUIT_AGAIN : RELOAD_NOTHING;
}

static enum reload_event
judge_error(const struct reload_facts *x, bool late)
{
	if (x->new_alive == 0 && x->lanes_old >= x->lanes)
		return RELOAD_RESET;
	return late ? RELOAD_ABORT_AGAIN : RELOAD_NOTHING;
}

enum reload_event
reload_fsm_judge(const struct reload_fsm *f, const struct reload_facts *facts, uint64_t now_ms)
{
	bool late = now_ms >= reload_fsm_deadline(f);

	switch (f->state) {
	case RELOAD_T1_GNEW_SPAWN:
		return judge_spawn(facts, late);
	case RELOAD_T2_HANDOVER:
		return judge_handover(facts, late);
	case RELOAD_T3_DRAIN:
		return judge_drain(facts, late);
	case RELOAD_T4_DRAIN_DONE:
		return facts->window_lost ? RELOAD_RECLAIMED : RELOAD_QUIT_GOLD;
	case RELOAD_T5_GOLD_QUIT:
		return judge_quit(facts, late);
	case RELOAD_T_ERROR:
		return judge_error(facts, late);
	default:
		return RELOAD_NOTHING;
	}
}

/* The times and marks of a round. */
static void
note(struct reload_fsm *f, const struct step *st, uint64_t now_ms)
{
	uint64_t spent = now_ms - f->since_ms;

	if (st->from == RELOAD_T0_IDLE) {
		f->transition = 0;
		f->began_ms = f->drain_began_ms = now_ms;
		f->handover_ms = f->drain_ms = 0;
		f->forced = false;
		f->reason = NULL;
	}
	if (st->from == RELOAD_T2_HANDOVER)
		f->handover_ms = spent;
	if (st->from == RELOAD_T3_DRAIN)
		f->drain_ms = spent;
	if (st->to == RELOAD_T3_DRAIN)
		f->drain_began_ms = now_ms;
	if (st->event == RELOAD_DRAIN_DEADLINE)
		f->forced = true;
	if (st->reason != NULL)
		f->reason = st->reason;
	f->transition++;
	f->state = st->to;
	f->since_ms = now_ms;
}

int
reload_fsm_event(struct reload_fsm *f, enum reload_event e, uint64_t now_ms, unsigned int *actions)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct step *st = &steps[i];

		if (st->from != f->state || st->event != e)
			continue;
		if (st->to != st->from)
			note(f, st, now_ms);
		/* the flip is no new wait: what it leaves undone counts from the park order */
		if (e != RELOAD_ALL_PARKED)
			f->wait_ms = now_ms;
		*actions = st->actions;
		return 0;
	}
	return -EINVAL;
}

const char *
reload_state_name(enum reload_state s)
{
	static const char *const names[RELOAD_STATES] = { "T0_IDLE", "T1_GNEW_SPAWN", "T2_HANDOVER", "T3_DRAIN",
		"T4_DRAIN_DONE", "T5_GOLD_QUIT", "T_ERROR" };

	return (unsigned int)s < RELOAD_STATES ? names[s] : "?";
}

const char *
reload_event_name(enum reload_event e)
{
	static const char *const names[RELOAD_EVENTS] = { "NOTHING", "HUP", "ALL_READY", "READY_TIMEOUT", "GNEW_DIED",
		"SPAWN_FAILED", "PARK_TIMEOUT", "ALL_PARKED", "FLIP_FAILED", "HANDOVER_DONE", "RECLAIMED", "DRAIN_DONE",
		"DRAIN_DEADLINE", "QUIT_GOLD", "QUIT_AGAIN", "GOLD_EXITED", "ABORT", "ABORT_AGAIN", "RESET" };

	return (unsigned int)e < RELOAD_EVENTS ? names[e] : "?";
}

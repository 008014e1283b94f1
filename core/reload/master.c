/* SPDX-License-Identifier: BSD-3-Clause */
/* The master: its life, HUP and stop, and the turn that looks, judges and acts. */
#include "master.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../runtime/ctl.h"
#include "master_priv.h"

#define MS 1000000ull
#define EVENTS_A_TURN 16 /* more than a round has */

/* Hands the event to the machine, logs the transition, does what it asks for. */
static bool
event(struct reload_master *m, enum reload_event e)
{
	enum reload_state from = m->fsm.state;
	uint64_t since = m->fsm.since_ms;
	unsigned int actions;

	if (reload_fsm_event(&m->fsm, e, master_ms(m), &actions) < 0) {
		shim_log(m->shim, SHIM_LOG_ALERT, "graceful reload fsm: illegal event %s in state %s", reload_event_name(e),
			reload_state_name(from));
		return false;
	}
	if (m->fsm.state != from)
		shim_log(m->shim, SHIM_LOG_NOTICE, "graceful reload fsm: %s -> %s (transition %u, elapsed %" PRIu64 " ms)",
			reload_state_name(from), reload_state_name(m->fsm.state), m->fsm.transition,
			e == RELOAD_HUP ? 0 : master_ms(m) - since);
	master_act(m, actions);
	return true;
}

static void
run(struct reload_master *m)
{
	struct reload_facts f;
	enum reload_event e;

	for (unsigned int i = 0; i < EVENTS_A_TURN && m->fsm.state != RELOAD_T0_IDLE; i++) {
		master_facts(m, &f);
		e = reload_fsm_judge(&m->fsm, &f, master_ms(m));
		if (e == RELOAD_NOTHING || !event(m, e))
			return;
		if (e == RELOAD_ALL_READY) /* the handover's first look comes after the order to park */
			master_look(m);
	}
}

/* ---- life ---- */

/* No generation has been there: the first one. */
static int
first_generation(struct reload_master *m)
{
	struct window first;
	uint32_t gen = gen_next(m->shim, m->dir, 0);

	if (gen == 0)
		return -ENOSPC;
	first = (struct window){ .state = WINDOW_CLOSED, .wid = gen, .active = gen };
	/* a worker without a master may be faster: then its generation is the first */
	gen_window_swap(m->shim, m->dir, m->window, first);
	return gen_window(m->shim, m->dir, &m->window);
}

/* What a dead master left half-done, or a generation on the wrong side, is ended as the state machine ends it. */
static void
resume(struct reload_master *m)
{
	unsigned int other = gen_side(m->active) ^ 1;
	struct window aborted = m->window;
	enum reload_state state;

	m->gen = m->window.wid;
	switch (m->window.state) {
	case WINDOW_COMMITTED:
		state = RELOAD_T3_DRAIN;
		break;
	case WINDOW_RETIRING:
		state = RELOAD_T5_GOLD_QUIT;
		break;
	case WINDOW_CLOSED:
		if (master_alive(m, other) == 0) {
			m->gen = 0;
			return;
		}
		state = RELOAD_T_ERROR;
		break;
	case WINDOW_OPEN:
	case WINDOW_PARKING:
		aborted.state = WINDOW_ABORTED;
		gen_window_swap(m->shim, m->dir, m->window, aborted);
		state = RELOAD_T_ERROR;
		break;
	default:
		state = RELOAD_T_ERROR;
	}
	reload_fsm_resume(&m->fsm, state, master_ms(m));
	shim_log(m->shim, SHIM_LOG_WARNING, "window %u was left %s by a master that is gone: going on from %s", m->gen,
		gen_window_name(m->window.state), reload_state_name(state));
}

static int
begin(struct reload_master *m)
{
	int rc = gen_window(m->shim, m->dir, &m->window);

	if (rc == 0 && m->window.active == 0)
		rc = first_generation(m);
	if (rc < 0) {
		shim_log(m->shim, SHIM_LOG_ERR, "no generation can be had from the directory");
		return rc;
	}
	m->active = m->window.active;
	m->now_ns = m->turned_ns = shim_clock_sample(m->shim);
	master_look(m);
	m->replace = master_alive(m, 0) + master_alive(m, 1) > 0;
	/* relaxed: for tools; nobody acts upon it */
	shim_store32(m->shim, &m->dir->master[m->slot].gen, m->active, SHIM_RELAXED);
	resume(m);
	return 0;
}

int
reload_master_create(const struct reload_master_config *c, struct reload_master **out)
{
	struct shim_proc other = { 0 };
	struct reload_master *m;
	int rc;

	/* relaxed: written once before anybody attached; read once because hostile */
	if (c->nb_lanes == 0 || c->nb_lanes > GEN_MAX_LANES || c->ops == NULL || c->ops->spawn == NULL ||
	    c->nb_lanes > shim_load32(c->shim, &c->dir->nb_lanes, SHIM_RELAXED))
		return -EINVAL;
	m = shim_malloc(c->shim, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	m->shim = c->shim;
	m->dir = c->dir;
	m->nb_lanes = c->nb_lanes;
	m->ops = *c->ops;
	m->heartbeat_timeout_ms = c->heartbeat_timeout_ms != 0 ? c->heartbeat_timeout_ms : 1000;
	reload_fsm_init(&m->fsm, &c->limits);
	rc = gen_master_claim(m->shim, m->dir, &m->slot, &other);
	if (rc < 0) {
		shim_log(m->shim, SHIM_LOG_ERR, "no master can start: %s (process %u)",
			rc == -EBUSY ? "another one runs" : strerror(-rc), other.pid);
		shim_free(c->shim, m);
		return rc;
	}
	rc = begin(m);
	if (rc < 0) {
		gen_master_release(m->shim, m->dir, m->slot);
		shim_free(c->shim, m);
		return rc;
	}
	*out = m;
	return 0;
}

void
reload_master_destroy(struct reload_master *m)
{
	if (m == NULL)
		return;
	gen_master_release(m->shim, m->dir, m->slot);
	shim_free(m->shim, m);
}

/* ---- HUP ---- */

/* PAR-3: a master that is not this one, an upgraded-away one too. */
static bool
other_master(struct reload_master *m, struct shim_proc *who)
{
	for (unsigned int i = 0; i < GEN_MASTERS; i++) {
		/* acquire: what it did before it took the slot is seen */
		*who = ctl_word_proc(shim_load64(m->shim, &m->dir->master[i].claim, SHIM_ACQUIRE));
		if (i != m->slot && who->pid != 0 && shim_proc_alive(m->shim, who) != 0)
			return true;
	}
	return false;
}

/* Some lane is polled, or will be in a moment; those whose workers are not READY yet are waited for in T1. */
static bool
serves(struct reload_master *m)
{
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
		if (master_lane_kept(m, lane) || master_ready(m, master_old(m, lane), lane))
			return true;
	return false;
}

/* May a reload begin, as far as the directory goes? */
static bool
possible(struct reload_master *m, char *why, size_t n)
{
	unsigned int other = gen_side(m->active) ^ 1, older;
	struct shim_proc who;

	if (m->stop) {
		snprintf(why, n, "a stop is under way");
		return false;
	}
	if (m->fsm.state != RELOAD_T0_IDLE) {
		snprintf(why, n, "a reload is under way (%s)", reload_state_name(m->fsm.state));
		return false;
	}
	master_read_window(m);
	if (m->damaged || m->window.state != WINDOW_CLOSED || m->window.active != m->active) {
		snprintf(why, n, "the window is %s, of generation %u", gen_window_name(m->window.state), m->window.wid);
		return false;
	}
	older = gen_side_alive(m->shim, m->dir, other);
	if (older > 0 || master_alive(m, other) > 0) {
		snprintf(why, n, "an older generation is still there (workers: %u)", older > 0 ? older : master_alive(m, other));
		return false;
	}
	if (other_master(m, &who)) {
		snprintf(why, n, "another master is there (process %u)", who.pid);
		return false;
	}
	if (!serves(m)) {
		snprintf(why, n, "generation %u does not serve yet: none of its workers has a lane", m->active);
		return false;
	}
	return true;
}

static int
reject(struct reload_master *m, int rc, const char *why)
{
	shim_log(m->shim, SHIM_LOG_ERR, "graceful reload rejected: %s", why);
	master_trouble(m, false, why);
	return rc;
}

int
reload_master_hup(struct reload_master *m, char *why, size_t n)
{
	uint32_t gen;
	int rc;

	if (n > 0)
		why[0] = '\0';
	m->now_ns = shim_clock_sample(m->shim);
	if (!possible(m, why, n))
		return reject(m, -EBUSY, why);
	rc = m->ops.check != NULL ? m->ops.check(m->ops.ctx, why, n) : 0;
	if (rc < 0)
		return reject(m, rc, why);
	gen = gen_next(m->shim, m->dir, gen_side(m->active) ^ 1);
	if (gen == 0) {
		snprintf(why, n, "no generation number is left: restart the primary");
		return reject(m, -ENOSPC, why);
	}
	m->gen = gen;
	m->replace = false;
	event(m, RELOAD_HUP);
	return 0;
}

void
reload_master_drain_limit(struct reload_master *m, uint32_t ms)
{
	m->fsm.limits.drain = ms != 0 ? ms : RELOAD_DRAIN_DEFAULT_MS;
}

/* ---- stop, turn, status ---- */

void
reload_master_stop(struct reload_master *m, bool graceful)
{
	const struct reload_limits *l = &m->fsm.limits;

	if (m->stop && (graceful || !m->graceful))
		return;
	m->now_ns = shim_clock_sample(m->shim);
	m->stop = true;
	m->graceful = graceful;
	m->kill_ms = master_ms(m) + (graceful ? l->drain + l->quit_again : l->abort);
	shim_log(m->shim, SHIM_LOG_NOTICE, "%s: the workers shall %s", graceful ? "quit" : "stop",
		graceful ? "hand over and leave" : "leave at once");
}

/* How soon the state wants to be looked at again. */
static uint64_t
pace(const struct reload_master *m)
{
	switch (m->fsm.state) {
	case RELOAD_T1_GNEW_SPAWN:
		return 5 * MS;
	case RELOAD_T2_HANDOVER: /* nobody polls a parked lane */
		return master_ms(m) - m->fsm.since_ms < 2 ? 0 : 20000;
	case RELOAD_T3_DRAIN:
		return 10 * MS;
	case RELOAD_T5_GOLD_QUIT:
	case RELOAD_T_ERROR:
		return 2 * MS;
	default:
		return m->stop && !m->stopped ? 5 * MS : MASTER_IDLE_NS;
	}
}

static uint64_t
next(const struct reload_master *m)
{
	uint64_t due = reload_fsm_deadline(&m->fsm), retry = master_retry(m), now = master_ms(m);
	uint64_t ns = pace(m), most = m->heartbeat_timeout_ms * MS / 4;

	due = retry < due ? retry : due;
	if (due <= now)
		due = now + 1;
	if (due - now < ns / MS)
		ns = (due - now) * MS;
	return ns < most ? ns : most;
}

uint64_t
reload_master_turn(struct reload_master *m)
{
	char why[200];

	m->now_ns = shim_clock_sample(m->shim);
	/* release: what the last turn did is seen by whoever sees this one counted */
	shim_store64(m->shim, &m->dir->master[m->slot].heartbeat, ++m->beat, SHIM_RELEASE);
	master_look(m);
	run(m);
	if (m->fsm.state == RELOAD_T2_HANDOVER)
		return next(m);
	master_tend(m);
	master_stalled(m);
	if (m->replace && m->fsm.state == RELOAD_T0_IDLE && possible(m, why, sizeof(why))) {
		m->replace = false; /* asked once: what the check refuses is for people */
		reload_master_hup(m, why, sizeof(why));
	}
	m->stopped = m->stop && m->fsm.state == RELOAD_T0_IDLE && master_alive(m, 0) + master_alive(m, 1) == 0;
	return next(m);
}

bool
reload_master_stopped(const struct reload_master *m)
{
	return m->stopped;
}

void
reload_master_status(const struct reload_master *m, struct reload_status *out)
{
	*out = (struct reload_status){ .state = m->fsm.state, .active = m->active, .wid = m->gen, .nb_lanes = m->nb_lanes,
		.live = { master_alive(m, 0), master_alive(m, 1) }, .reloads = m->reloads, .aborts = m->aborts,
		.respawns = m->respawns, .stopping = m->stop, .stopped = m->stopped, .last = m->last, .left = m->left,
		.trouble = m->trouble };
	out->taken = master_taken(m);
	out->trouble.ago_ms = m->trouble.there ? master_ms(m) - m->trouble.at_ms : 0;
}

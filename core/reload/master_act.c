/* SPDX-License-Identifier: BSD-3-Clause */
/* What the master does: steps of the window, starting workers, orders, ending those that do not obey. */
#include <inttypes.h>
#include <string.h>

#include "master_priv.h"

/* A step of this round's window. False: somebody was faster; the next look says who. */
static bool
step(struct reload_master *m, enum window_state state)
{
	struct window to = m->window;

	to.state = state;
	if (state == WINDOW_OPEN)
		to.wid = m->gen;
	if (state == WINDOW_CLOSED)
		to.active = gen_rightful(m->window);
	if (!gen_window_swap(m->shim, m->dir, m->window, to))
		return false;
	m->window = to;
	return true;
}

static bool
spawn(struct reload_master *m, uint32_t gen, unsigned int lane)
{
	struct master_worker *w = &m->w[gen_side(gen)][lane];
	struct shim_proc who = { 0 };
	int rc = m->ops.spawn(m->ops.ctx, lane, gen, &who);

	w->began_ms = master_ms(m);
	if (rc < 0) {
		w->backoff_ms = w->backoff_ms == 0 ? MASTER_RESPAWN_MS : w->backoff_ms * 2;
		if (w->backoff_ms > MASTER_RESPAWN_MAX_MS)
			w->backoff_ms = MASTER_RESPAWN_MAX_MS;
		w->retry_ms = master_ms(m) + w->backoff_ms;
		shim_log(m->shim, SHIM_LOG_ERR, "worker of lane %u, generation %u could not be started: %s", lane, gen,
			strerror(-rc));
		return false;
	}
	w->proc = who;
	w->gen = gen;
	w->alive = w->child = true;
	w->still_ns = 0;
	return true;
}

static void
forget(struct reload_master *m, unsigned int side)
{
	memset(m->w[side], 0, sizeof(m->w[side]));
}

/* The window opens: what the old workers' seats say now is of earlier rounds. */
static void
open_window(struct reload_master *m)
{
	unsigned int side = gen_side(m->active);

	m->spawn_failed = 0;
	m->expected = WINDOW_OPEN;
	m->stall_ms = 0;
	m->taken_before = master_taken(m);
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++) {
		/* relaxed, both: compared for equality later */
		m->w[side][lane].parked_before = shim_load64(m->shim, &m->dir->seat[side][lane].parked_at_ns, SHIM_RELAXED);
		m->w[side][lane].drain_before = shim_load32(m->shim, &m->dir->seat[side][lane].drain_seq, SHIM_RELAXED);
	}
	forget(m, side ^ 1);
	step(m, WINDOW_OPEN);
}

static void
spawn_all(struct reload_master *m)
{
	for (unsigned int lane = 0; lane < m->nb_lanes && m->spawn_failed == 0; lane++)
		if (!spawn(m, m->gen, lane))
			m->spawn_failed++;
}

/*
 * PARKING -> COMMITTED. No live old worker holds a lane (the judgement); a dead one's lease is broken, so that nobody has to
 * find out again.
 */
static void
commit(struct reload_master *m)
{
	struct lease l;

	for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
		if (gen_lease(m->shim, m->dir, lane, &l) == 0 && l.state == LEASE_OWNED)
			gen_lease_break(m->shim, m->dir, lane, l);
	if (!step(m, WINDOW_COMMITTED))
		m->expected = WINDOW_COMMITTED; /* anything else is a lost window now */
}

static void
tell_end(struct reload_master *m, bool complete)
{
	char text[400];

	master_report(m, complete);
	reload_report_text(&m->last, text, sizeof(text));
	shim_log(m->shim, complete ? SHIM_LOG_NOTICE : SHIM_LOG_ALERT, "%s", text);
	if (!complete)
		master_trouble(m, true, m->last.reason != NULL ? m->last.reason : "?");
}

static void
close_done(struct reload_master *m)
{
	if (m->window.state == WINDOW_RETIRING)
		step(m, WINDOW_CLOSED);
	m->reloads++;
	tell_end(m, true);
	forget(m, gen_side(m->active));
	m->active = m->gen;
	m->gen = 0;
	/* relaxed: for tools; nobody acts upon it */
	shim_store32(m->shim, &m->dir->master[m->slot].gen, m->active, SHIM_RELAXED);
}

static void
abort_round(struct reload_master *m)
{
	if (m->window.wid == m->gen && (m->window.state == WINDOW_OPEN || m->window.state == WINDOW_PARKING))
		step(m, WINDOW_ABORTED);
	m->aborts++;
	tell_end(m, false);
}

static void
close_aborted(struct reload_master *m)
{
	if (m->window.state == WINDOW_ABORTED || m->window.state == WINDOW_ROLLBACK)
		step(m, WINDOW_CLOSED);
	forget(m, gen_side(m->active) ^ 1);
	m->gen = 0;
}

static void
end(struct reload_master *m, unsigned int side, unsigned int lane, const char *why)
{
	const struct master_worker *w = &m->w[side][lane];
	int rc;

	if (!w->alive)
		return;
	rc = shim_proc_kill(m->shim, &w->proc);
	shim_log(m->shim, SHIM_LOG_WARNING, "worker of lane %u, generation %u (process %u) %s: %s", lane, w->gen, w->proc.pid,
		why, rc == 0 ? "killed" : strerror(-rc));
}

static void
end_side(struct reload_master *m, unsigned int side, const char *why)
{
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
		end(m, side, lane, why);
}

static void
kill_new(struct reload_master *m)
{
	unsigned int side = gen_side(m->active);

	end_side(m, side ^ 1, "does not leave");
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
		if (!master_lane_kept(m, lane) && master_ready(m, &m->w[side][lane], lane))
			end(m, side, lane, "does not take its lane back");
}

void
master_act(struct reload_master *m, unsigned int actions)
{
	if (actions & RELOAD_DO_OPEN)
		open_window(m);
	if (actions & RELOAD_DO_SPAWN)
		spawn_all(m);
	if (actions & RELOAD_DO_PARK) {
		m->expected = WINDOW_PARKING;
		step(m, WINDOW_PARKING);
		m->checked_ns = m->now_ns - MASTER_RECHECK_NS; /* who is alive is asked again after the order (REL-4) */
	}
	if (actions & RELOAD_DO_COMMIT)
		commit(m);
	if ((actions & RELOAD_DO_QUIT_OLD) && m->window.state == WINDOW_COMMITTED)
		step(m, WINDOW_RETIRING);
	if (actions & RELOAD_DO_KILL_OLD)
		end_side(m, gen_side(m->active), "does not leave");
	if (actions & RELOAD_DO_CLOSE)
		close_done(m);
	if (actions & RELOAD_DO_ABORT)
		abort_round(m);
	if (actions & RELOAD_DO_KILL_NEW)
		kill_new(m);
	if (actions & RELOAD_DO_CLOSE_ABORTED)
		close_aborted(m);
}

/* ---- between the steps ---- */

/* The generation whose dead workers are started again now; 0: none (in the handover a dead worker is a parked one). */
static uint32_t
tended(const struct reload_master *m)
{
	switch (m->fsm.state) {
	case RELOAD_T2_HANDOVER:
		return 0;
	case RELOAD_T3_DRAIN:
	case RELOAD_T4_DRAIN_DONE:
	case RELOAD_T5_GOLD_QUIT:
		return m->gen;
	default:
		return m->active;
	}
}

/*
 * After the flip a lane whose new worker died is taken back by its old one, at once. Where that one is gone, leaves already, or
 * does nothing for the heartbeat time-out, the new generation gets its worker again.
 */
static uint64_t
due_ms(const struct reload_master *m, unsigned int side, unsigned int lane)
{
	const struct master_worker *w = &m->w[side][lane];
	uint64_t taken_back = w->gone_ms + m->heartbeat_timeout_ms;

	if (m->fsm.state == RELOAD_T3_DRAIN && m->w[side ^ 1][lane].alive && w->proc.pid != 0 && taken_back > w->retry_ms)
		return taken_back;
	return w->retry_ms;
}

uint64_t
master_retry(const struct reload_master *m)
{
	uint32_t gen = tended(m);
	uint64_t first = UINT64_MAX, due;

	if (m->stop || gen == 0)
		return first;
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++) {
		if (m->w[gen_side(gen)][lane].alive)
			continue;
		due = due_ms(m, gen_side(gen), lane);
		first = due < first ? due : first;
	}
	return first;
}

static void
respawn(struct reload_master *m)
{
	uint32_t gen = tended(m);
	unsigned int side = gen_side(gen);

	for (unsigned int lane = 0; !m->stop && gen != 0 && lane < m->nb_lanes; lane++) {
		bool again = m->w[side][lane].proc.pid != 0;

		if (!m->w[side][lane].alive && master_ms(m) >= due_ms(m, side, lane) && spawn(m, gen, lane))
			m->respawns += again;
	}
}

static void
order(struct reload_master *m, unsigned int side, enum seat_order what)
{
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++) {
		const struct master_worker *w = &m->w[side][lane];

		if (w->alive && gen_order(m->shim, m->dir, w->gen, lane) != what)
			gen_order_set(m->shim, m->dir, w->gen, lane, what);
	}
}

static void
orders(struct reload_master *m)
{
	unsigned int losing = gen_side(m->active) ^ 1;

	for (unsigned int side = 0; m->stop && side < GEN_SIDES; side++)
		if (m->fsm.state != RELOAD_T_ERROR || side != losing)
			order(m, side, m->graceful ? SEAT_QUIT : SEAT_ABORT);
	if (m->fsm.state == RELOAD_T_ERROR)
		order(m, losing, SEAT_ABORT);
	if (!m->stop || m->stopped || master_ms(m) < m->kill_ms)
		return;
	m->kill_ms = master_ms(m) + m->fsm.limits.abort;
	for (unsigned int side = 0; side < GEN_SIDES; side++)
		end_side(m, side, "does not leave");
}

/* While a round is aborted, an old worker that has its lane to take back and stands still is dead (REL-13). */
static void
unblock(struct reload_master *m)
{
	unsigned int side = gen_side(m->active);

	for (unsigned int lane = 0; m->fsm.state == RELOAD_T_ERROR && lane < m->nb_lanes; lane++) {
		struct master_worker *w = &m->w[side][lane];

		if (w->still_ns < m->heartbeat_timeout_ms * 1000000ull || !master_ready(m, w, lane) ||
		    master_lane_kept(m, lane))
			continue;
		w->still_ns = 0;
		end(m, side, lane, "stands still");
	}
}

void
master_tend(struct reload_master *m)
{
	unblock(m);
	orders(m);
	respawn(m);
}

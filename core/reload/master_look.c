/* SPDX-License-Identifier: BSD-3-Clause */
/* What the master sees: who lives, whose the lanes are, what the drain reports say. It changes nothing but a damaged word. */
#include <inttypes.h>

#include "../runtime/ctl.h"
#include "master_priv.h"

void
master_read_window(struct reload_master *m)
{
	struct shim *s = m->shim;
	/* acquire: what the process that made the step did before it is seen */
	uint64_t word = shim_load64(s, &m->dir->window, SHIM_ACQUIRE);

	m->damaged = window_of(word, &m->window) < 0;
	if (!m->damaged)
		return;
	/*
	 * Nobody makes such a word: something wrote into the directory. Workers keep to what they saw last, and a window that
	 * nobody can read could never be closed; so the master puts back what it saw last. acq_rel as any step of the window.
	 */
	if (shim_cas64(s, &m->dir->window, &word, window_word(m->window), SHIM_ACQ_REL))
		shim_log(s, SHIM_LOG_ALERT, "window word %016" PRIx64 " is impossible: put back to %s %u, active %u", word,
			gen_window_name(m->window.state), m->window.wid, m->window.active);
}

static void
died(struct reload_master *m, struct master_worker *w, unsigned int lane)
{
	uint64_t lived = master_ms(m) - w->began_ms;

	w->alive = false;
	w->gone_ms = master_ms(m);
	if (lived >= MASTER_RESPAWN_MAX_MS)
		w->backoff_ms = 0;
	else
		w->backoff_ms = w->backoff_ms == 0 ? MASTER_RESPAWN_MS : w->backoff_ms * 2;
	if (w->backoff_ms > MASTER_RESPAWN_MAX_MS)
		w->backoff_ms = MASTER_RESPAWN_MAX_MS;
	w->retry_ms = master_ms(m) + w->backoff_ms;
	shim_log(m->shim, SHIM_LOG_NOTICE, "worker of lane %u, generation %u (process %u) is gone after %" PRIu64 " ms", lane,
		w->gen, w->proc.pid, lived);
}

/* A process sits in the seat that the master has not started: left by a dead master, or started by hand. */
static void
found(struct reload_master *m, struct master_worker *w, unsigned int side, unsigned int lane, uint64_t claim)
{
	struct shim_proc who = ctl_word_proc(claim);

	if (shim_proc_alive(m->shim, &who) == 0)
		return;
	w->proc = who;
	/* relaxed: the claim was read with acquire, and a number that is impossible is nobody's generation */
	w->gen = shim_load32(m->shim, &m->dir->seat[side][lane].gen, SHIM_RELAXED);
	w->alive = true;
	w->child = false;
	w->began_ms = master_ms(m);
	w->still_ns = 0;
	shim_log(m->shim, SHIM_LOG_NOTICE, "worker of lane %u, generation %u (process %u) was there already", lane, w->gen,
		who.pid);
}

static void
look_worker(struct reload_master *m, unsigned int side, unsigned int lane, bool ask, uint64_t elapsed)
{
	struct master_worker *w = &m->w[side][lane];
	const struct gen_seat *seat = &m->dir->seat[side][lane];
	uint64_t claim, beat;

	/* an error (no memory, no descriptor) says nothing about the worker: it stays what it was */
	if (w->alive && ask && shim_proc_alive(m->shim, &w->proc) == 0)
		died(m, w, lane);
	if (w->alive) {
		/* relaxed: progress is all that it says; equality, for it wraps */
		beat = shim_load64(m->shim, &seat->heartbeat, SHIM_RELAXED);
		w->still_ns = beat == w->beat ? w->still_ns + elapsed : 0;
		w->beat = beat;
		return;
	}
	/* acquire: what the process did before it sat down is seen */
	claim = shim_load64(m->shim, &seat->claim, SHIM_ACQUIRE);
	if (ask && claim != 0 && claim != ctl_proc_word(&w->proc))
		found(m, w, side, lane, claim);
}

void
master_look(struct reload_master *m)
{
	uint64_t elapsed = m->now_ns - m->turned_ns, most = m->heartbeat_timeout_ms * 1000000ull / 4;
	bool ask = m->fsm.state != RELOAD_T2_HANDOVER || m->now_ns - m->checked_ns >= MASTER_RECHECK_NS;

	/* a longer pause between two turns is this process's own, or the machine's: nobody stood still for it */
	if (elapsed > most)
		elapsed = most;
	m->turned_ns = m->now_ns;
	if (ask)
		m->checked_ns = m->now_ns;
	for (unsigned int side = 0; side < GEN_SIDES; side++)
		for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
			look_worker(m, side, lane, ask, elapsed);
}

unsigned int
master_alive(const struct reload_master *m, unsigned int side)
{
	unsigned int n = 0;

	for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
		n += m->w[side][lane].alive;
	return n;
}

/* REL-4: the word names this generation and this very process, which lives. */
bool
master_ready(struct reload_master *m, const struct master_worker *w, unsigned int lane)
{
	/* acquire: the worker was complete when it wrote it */
	return w->alive && shim_load64(m->shim, &m->dir->seat[gen_side(w->gen)][lane].ready, SHIM_ACQUIRE) ==
		((uint64_t)w->gen << 32 | w->proc.pid);
}

bool
master_lane_kept(struct reload_master *m, unsigned int lane)
{
	const struct master_worker *w = master_old(m, lane);
	struct lease l;

	/* acquire: as in look_worker. A child that does not sit there yet has only found what a dead one left behind */
	return w->alive && gen_lease(m->shim, m->dir, lane, &l) == 0 && l.state == LEASE_OWNED && l.gen == m->active &&
		shim_load64(m->shim, &m->dir->seat[gen_side(m->active)][lane].claim, SHIM_ACQUIRE) == ctl_proc_word(&w->proc);
}

static void
new_facts(struct reload_master *m, unsigned int lane, struct reload_facts *f)
{
	const struct master_worker *w = master_new(m, lane);
	uint64_t word;

	f->new_alive += w->alive;
	if (m->gen == 0 || w->proc.pid == 0)
		return;
	/* acquire: as in master_ready */
	word = shim_load64(m->shim, &m->dir->seat[gen_side(m->gen)][lane].ready, SHIM_ACQUIRE);
	if (!w->alive || !w->child || (word >> 32 == m->gen && (uint32_t)word != w->proc.pid))
		f->new_dead++;
	else if (w->gen == m->gen && word >> 32 == m->gen)
		f->new_ready++;
}

/* Does the old worker poll no more? Its own swap says so; one that is dead has its lease broken first. */
static bool
parked(struct reload_master *m, unsigned int lane)
{
	struct lease l;

	if (gen_lease(m->shim, m->dir, lane, &l) < 0)
		return false;
	return l.state == LEASE_PARKED || l.state == LEASE_FREE;
}

/* True: this worker's report of this round shows nothing left. */
static bool
drained(struct reload_master *m, unsigned int lane)
{
	unsigned int side = gen_side(m->active);
	struct drain_counts c;

	/* relaxed: only whether it is the number of before the window; reports are made in a drain only */
	if (shim_load32(m->shim, &m->dir->seat[side][lane].drain_seq, SHIM_RELAXED) == master_old(m, lane)->drain_before ||
	    gen_drain(m->shim, m->dir, side, lane, &c) < 0 || c.gen != m->active) {
		m->unreported++;
		return false;
	}
	m->left.gen = c.gen;
	m->left.tcp += c.tcp;
	m->left.half_open += c.half_open;
	m->left.udp += c.udp;
	m->left.unsent += c.unsent;
	return c.tcp == 0 && c.half_open == 0 && c.udp == 0 && c.unsent == 0;
}

static void
old_facts(struct reload_master *m, unsigned int lane, struct reload_facts *f)
{
	const struct master_worker *w = master_old(m, lane);
	enum reload_state state = m->fsm.state;
	bool starting = w->alive && !master_ready(m, w, lane);

	f->lanes_old += !w->alive || starting || master_lane_kept(m, lane);
	if (!w->alive)
		return;
	f->old_live++;
	f->old_starting += starting;
	if (state == RELOAD_T2_HANDOVER)
		f->old_parked += parked(m, lane);
	if (state == RELOAD_T3_DRAIN)
		f->old_drained += drained(m, lane);
}

void
master_facts(struct reload_master *m, struct reload_facts *f)
{
	const struct window *w = &m->window;

	*f = (struct reload_facts){ .stop = m->stop, .lanes = m->nb_lanes, .spawn_failed = m->spawn_failed };
	m->left = (struct drain_counts){ 0 };
	m->unreported = 0;
	for (unsigned int lane = 0; lane < m->nb_lanes; lane++) {
		new_facts(m, lane, f);
		old_facts(m, lane, f);
	}
	/* after the leases and lives: a window that still is COMMITTED when no old worker lives can not be rolled back any more */
	master_read_window(m);
	if (w->wid != m->gen || m->gen == 0) {
		f->window_lost = true;
		return;
	}
	f->retiring = w->state == WINDOW_RETIRING || (w->state == WINDOW_CLOSED && w->active == m->gen);
	f->committed = w->state == WINDOW_COMMITTED || f->retiring;
	f->window_lost = !f->committed && w->state != m->expected;
}

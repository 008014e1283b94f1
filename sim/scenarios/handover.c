/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One reload without a network: the real directory, seats and master, workers that do nothing but keep their lease and poll a queue that
 * is one word. Small enough to try every schedule (SIM-4).
 */
#include <errno.h>
#include <stdio.h>

#include "../../core/reload/master.h"
#include "../../core/reload/seat.h"
#include "../../core/runtime/ctl.h"
#include "../../shim/shim.h"
#include "all.h"

#define LANES_MAX 2u
#define WORKERS_MAX 48u
#define BOOT_ID 77u
#define TURN_NS (4 * MS)        /* a turn of a worker, and of the master at least */
#define TIMEOUT_MS 60u          /* heartbeat */
#define LIMIT_MS 200u           /* of the master: READY, drain, abort ... */
#define IDLE_MAX_NS (1500 * MS) /* no lane is polled by nobody for longer, whatever happens */
#define SETTLE_NS (5 * SEC)

struct handover;

struct hand_worker {
	struct handover *h;
	unsigned int lane;
	uint32_t gen;
};

/* Of a lane, as the scenario sees it: who is between the beginning and the end of a poll, and how many there were. */
struct hand_lane {
	struct sim_proc *poller;
	uint64_t polls, polled_ns;
};

struct handover {
	struct sim_world *w;
	struct sim_host *host;
	struct sim_proc *master_proc;
	struct reload_master *master;
	struct gen_dir *dir;
	uint64_t *count;           /* [lane]: the queue, in a zone */
	unsigned int nb_lanes, nb_workers, hups;
	bool orphan;               /* a dead master stays dead until everything heals */
	bool faults, settled;
	uint64_t master_died_ns, master_turn_ns, since_ns; /* since_ns: who has not moved since then stands still */
	uint32_t active, wid;      /* the largest seen so far */
	struct hand_lane lane[LANES_MAX];
	struct hand_worker worker[WORKERS_MAX];
};

/* REL-5: one burst. Nobody else is in one; what the last one left is there. */
static void
poll_queue(struct handover *h, struct sim_proc *p, unsigned int lane)
{
	struct hand_lane *l = &h->lane[lane];
	struct shim *s = sim_proc_shim(p);
	uint64_t v;

	sim_effect(p);
	sim_check(h->w, l->poller == NULL || l->poller == p || !sim_proc_alive(l->poller), "lane %u has two pollers", lane);
	l->poller = p;
	l->polled_ns = sim_now(h->w);
	v = shim_load64(s, &h->count[lane], SHIM_RELAXED);
	sim_check(h->w, v == l->polls, "lane %u: the queue's memory is stale: %llu of %llu", lane, (unsigned long long)v,
		(unsigned long long)l->polls);
	shim_store64(s, &h->count[lane], v + 1, SHIM_RELAXED);
	l->polls++;
	l->poller = NULL;
	sim_effect(p);
}

/* False: the worker leaves. */
static bool
worker_turn_of(struct handover *h, struct sim_proc *p, struct seat *st, unsigned int lane)
{
	static const struct drain_counts none;
	struct shim *s = sim_proc_shim(p);
	uint64_t now = shim_clock_sample(s);
	unsigned int due = seat_turn(st, now);

	if (st->role == SEAT_ROLE_OWNER)
		poll_queue(h, p, lane);
	if ((due & SEAT_DO_LET_GO) != 0)
		seat_let_go(st, now);
	if ((due & SEAT_DO_REPORT) != 0)
		seat_report(st, &none, shim_now_ms(s));
	if ((due & SEAT_DO_EXIT) != 0)
		return false;
	seat_beat(st);
	return !st->handing || !seat_may_leave(st, now);
}

static void
hand_worker_main(struct sim_proc *p, void *arg)
{
	struct hand_worker *hw = arg;
	struct shim_proc self = shim_self(sim_proc_shim(p));
	const struct seat_config c = { .shim = sim_proc_shim(p), .dir = hw->h->dir, .lane = hw->lane, .gen = hw->gen,
		.heartbeat_timeout_ms = TIMEOUT_MS, .shutdown_ms = LIMIT_MS, .proc_word = ctl_proc_word(&self) };
	struct seat st;

	shim_clock_sample(c.shim);
	if (seat_claim(&st, &c) != 0)
		return;
	seat_ready(&st);
	while (!sim_stopping(p) && worker_turn_of(hw->h, p, &st, hw->lane))
		sim_rest(p, TURN_NS);
	seat_release(&st);
}

static int
hand_spawn(void *ctx, unsigned int lane, uint32_t gen, struct shim_proc *who)
{
	struct handover *h = ctx;
	struct hand_worker *hw = &h->worker[h->nb_workers];
	const struct sim_proc_conf c = { .name = gen_side(gen) ? "worker1" : "worker0", .role = SHIM_ROLE_WORKER, .proc_id = 1 + lane,
		.main = hand_worker_main, .arg = hw };
	struct sim_proc *p;

	if (h->nb_workers == WORKERS_MAX)
		return -EAGAIN;
	*hw = (struct hand_worker){ .h = h, .lane = lane, .gen = gen };
	p = sim_proc_start(h->host, &c);
	if (p == NULL)
		return -ENOMEM;
	h->nb_workers++;
	*who = shim_self(sim_proc_shim(p));
	return 0;
}

/* The zones, as a primary makes them. */
static int
zones(struct handover *h, struct shim *s)
{
	void *zone;
	int rc;

	if (h->dir != NULL)
		return 0;
	rc = shim_zone_reserve(s, "queues", LANES_MAX * sizeof(uint64_t), &zone);
	if (rc != 0)
		return rc;
	h->count = zone;
	return gen_dir_create(s, h->nb_lanes, BOOT_ID, &h->dir);
}

static void
master_main(struct sim_proc *p, void *arg)
{
	struct handover *h = arg;
	struct shim *s = sim_proc_shim(p);
	const struct reload_master_ops ops = { .spawn = hand_spawn, .ctx = h };
	struct reload_master_config c = { .shim = s, .nb_lanes = h->nb_lanes, .heartbeat_timeout_ms = TIMEOUT_MS, .ops = &ops,
		.limits = { .ready = LIMIT_MS, .park = 100, .drain = LIMIT_MS, .quit_again = LIMIT_MS, .abort = LIMIT_MS } };
	struct reload_master *m = NULL;
	char why[200];
	int rc = zones(h, s);

	c.dir = h->dir;
	shim_clock_sample(s);
	if (rc == 0)
		rc = reload_master_create(&c, &m);
	if (!sim_check(h->w, rc == 0, "master: error %d", -rc))
		return;
	h->master = m;
	while (!sim_stopping(p)) {
		uint64_t ns;

		if (h->hups > 0 && reload_master_hup(m, why, sizeof(why)) == 0)
			h->hups--;
		ns = reload_master_turn(m);
		h->master_turn_ns = sim_now(h->w);
		sim_rest(p, ns > TURN_NS ? ns : TURN_NS);
	}
	h->master = NULL;
	reload_master_destroy(m);
}

/* ---- what must hold after every step ---- */

static int
check_words(struct sim_world *w, void *arg, char *why, size_t n)
{
	struct handover *h = arg;
	struct window win;

	if (h->dir == NULL)
		return 0;
	if (window_of(h->dir->window, &win) != 0)
		return snprintf(why, n, "impossible window word");
	if (win.active < h->active || win.wid < h->wid)
		return snprintf(why, n, "a generation went backwards: active %u after %u, window %u after %u", win.active,
			h->active, win.wid, h->wid);
	h->active = win.active;
	h->wid = win.wid;
	for (unsigned int i = 0; i < h->nb_lanes; i++)
		if (h->dir->lane[i].taken != 0)
			return snprintf(why, n, "lane %u: its lease was taken from a live owner", i);
	for (unsigned int i = 0; i < h->nb_lanes; i++)
		if (h->lane[i].polls > 0 && !h->settled && sim_now(w) - h->lane[i].polled_ns > IDLE_MAX_NS)
			return snprintf(why, n, "nobody polls lane %u since %llu ms (window %s %u, active %u, lease %llx)", i,
				(unsigned long long)((sim_now(w) - h->lane[i].polled_ns) / MS), gen_window_name(win.state),
				win.wid, win.active, (unsigned long long)h->dir->lane[i].lease);
	return 0;
}

/* Whoever runs the service starts a dead master again. */
static void
master_again(struct handover *h)
{
	if (sim_proc_alive(h->master_proc)) {
		h->master_died_ns = 0;
		return;
	}
	h->master = NULL;
	if (h->master_died_ns == 0)
		h->master_died_ns = sim_now(h->w);
	if ((!h->orphan || !h->faults) && sim_now(h->w) - h->master_died_ns >= 30 * MS)
		sim_proc_restart(h->master_proc);
}

/* One generation, T0, every lane owned by a live worker of it and polled lately. */
static bool
calm(void *arg)
{
	struct handover *h = arg;
	struct reload_status st;
	struct window win;

	master_again(h);
	if (h->master == NULL || h->dir == NULL || window_of(h->dir->window, &win) != 0 ||
		win.state != WINDOW_CLOSED || h->hups > 0 || h->master_turn_ns < h->since_ns)
		return false;
	reload_master_status(h->master, &st);
	if (st.state != RELOAD_T0_IDLE || st.live[gen_side(win.active)] != h->nb_lanes || st.live[gen_side(win.active) ^ 1] != 0)
		return false;
	for (unsigned int i = 0; i < h->nb_lanes; i++) {
		struct lease l;

		if (lease_of(h->dir->lane[i].lease, &l) != 0 || l.state != LEASE_OWNED || l.gen != win.active ||
			h->lane[i].polls == 0 ||
			h->lane[i].polled_ns < h->since_ns || sim_now(h->w) - h->lane[i].polled_ns > 3 * TURN_NS)
			return false;
	}
	return true;
}

static void
handover(struct sim_world *w, void *state)
{
	struct handover *h = state;
	const struct sim_proc_conf mc = { .name = "master", .role = SHIM_ROLE_OBSERVER, .main = master_main, .arg = h };
	uint32_t first;

	h->w = w;
	h->nb_lanes = sim_seed(w) % 2 == 0 ? 2 : 1;
	h->orphan = (sim_seed(w) >> 1) % 2 == 1;
	h->host = sim_host_add(w, "host");
	sim_explored(w, false);
	sim_invariant(w, "reload", check_words, h);
	h->master_proc = sim_proc_start(h->host, &mc);
	if (!sim_run_until(w, calm, h, SETTLE_NS)) {
		sim_fail(w, "the first generation does not serve");
		return;
	}
	h->faults = true;
	h->hups = 1;
	sim_explored(w, true);
	sim_run_until(w, calm, h, SEC);
	sim_explored(w, false);
	h->faults = false;
	h->since_ns = sim_now(w) + 1;
	/* healed: it ends in a defined state, and a further reload goes through */
	h->hups = 0;
	if (!sim_run_until(w, calm, h, SETTLE_NS)) {
		sim_fail(w, "no end: window %llx", (unsigned long long)h->dir->window);
		return;
	}
	first = h->active;
	h->hups = 1;
	if (!sim_run_until(w, calm, h, SETTLE_NS) || h->active <= first)
		sim_fail(w, "a further reload does not go through: generation %u after %u", h->active, first);
	h->settled = true;
	sim_finish(w);
}

const struct sim_scenario scenario_handover = {
	.name = "handover",
	.description = "one reload without a network, for explorers: leases, seats and the master, 1 lane (odd seeds) or 2",
	.soak = 1,
	.stall_ns = { 10 * MS, 150 * MS },
	.state_size = sizeof(struct handover),
	.run = handover,
};

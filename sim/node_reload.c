/* SPDX-License-Identifier: BSD-3-Clause */
/* A host with two generations: the master's process, the workers it starts, and what must hold of them after every step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/reload/master.h"
#include "../core/runtime/worker_reload.h"
#include "../shim/shim.h"
#include "node_priv.h"

#define MS 1000000ull

/* ---- the master ---- */

static void
server_told(void *ctx, uint8_t *buf, size_t n)
{
	struct node_worker *nw = ctx;

	if (nw->node->conf.served != NULL)
		nw->node->conf.served(nw->node->conf.ctx, nw, buf, n);
}

static int
spawn(void *ctx, unsigned int lane, uint32_t gen, struct shim_proc *who)
{
	struct node *n = ctx;
	struct node_worker *nw = &n->spawned[n->nb_spawned];
	struct sim_proc_conf pc = { .name = gen_side(gen) ? "worker1" : "worker0", .role = SHIM_ROLE_WORKER, .proc_id = 1 + lane,
		.main = node_worker_main, .arg = nw, .skew_ns = n->conf.skew_ns, .drift_ppm = n->conf.drift_ppm };
	int rc;

	if (n->nb_spawned == NODE_MAX_SPAWNED)
		return -EAGAIN;
	*nw = (struct node_worker){ .node = n, .generation = gen, .lane = lane,
		.server = { .served = server_told, .served_ctx = nw } };
	rc = n->conf.spawn != NULL ? n->conf.spawn(n->conf.ctx, nw, &pc) : 0;
	if (rc != 0)
		return rc;
	nw->proc = sim_proc_start(n->host, &pc);
	if (nw->proc == NULL)
		return -ENOMEM;
	n->nb_spawned++;
	*who = shim_self(sim_proc_shim(nw->proc));
	return 0;
}

/* Is the primary there? */
static int
check(void *ctx, char *why, size_t n)
{
	struct node *nd = ctx;

	if (sim_proc_alive(nd->primary_proc))
		return 0;
	snprintf(why, n, "the primary is gone");
	return -ENOENT;
}

/* Waits for the primary's memory. False: there is none. */
static bool
attached(struct node *n, struct sim_proc *p, struct gen_dir **dir)
{
	struct ctl_dir *cd;

	while (!sim_stopping(p)) {
		shim_clock_sample(sim_proc_shim(p));
		if (ctl_dir_attach(sim_proc_shim(p), &cd) == 0 && gen_dir_attach(sim_proc_shim(p), cd->boot_id, dir) == 0) {
			n->dir = *dir;
			return true;
		}
		shim_sleep_ns(sim_proc_shim(p), MS);
	}
	return false;
}

static struct reload_master_config
master_conf(struct node *n, struct sim_proc *p, struct gen_dir *dir, const struct reload_master_ops *ops)
{
	return (struct reload_master_config){ .shim = sim_proc_shim(p), .dir = dir, .nb_lanes = n->conf.nb_workers, .ops = ops,
		.heartbeat_timeout_ms = n->cfg.reload_heartbeat_timeout_ms,
		.limits = { .ready = 6000, .drain = n->cfg.worker_shutdown_timeout_ms, .quit_again = 2000, .abort = 1000 } };
}

/* What the last round's report says of drops. */
static void
tell(struct node *n, struct reload_master *m)
{
	struct reload_status st;

	reload_master_status(m, &st);
	if (st.reloads + st.aborts == n->rounds)
		return;
	n->rounds = st.reloads + st.aborts;
	n->dropped += st.last.dropped;
}

/* The first attempt comes at once, whatever goes on; the next ones when there is hope. */
static void
hup(struct node *n, struct reload_master *m)
{
	struct reload_status st;
	char why[200];

	reload_master_status(m, &st);
	if (n->hups == 0 || (n->hup_tried && st.state != RELOAD_T0_IDLE))
		return;
	if (reload_master_hup(m, why, sizeof(why)) == 0) {
		n->hups--;
		n->hups_done++;
		n->hup_tried = false;
	} else {
		n->hups_refused++;
		n->hup_tried = true;
	}
}

static void
master_main(struct sim_proc *p, void *arg)
{
	struct node *n = arg;
	const struct reload_master_ops ops = { .spawn = spawn, .check = check, .ctx = n };
	struct reload_master_config c;
	struct gen_dir *dir = NULL;
	struct reload_master *m = NULL;
	int rc;

	n->master = NULL;
	if (!attached(n, p, &dir))
		return;
	c = master_conf(n, p, dir, &ops);
	rc = reload_master_create(&c, &m);
	if (rc != 0) {
		if (!n->polls_unchecked)
			sim_fail(sim_proc_world(p), "%s: master: error %d", n->conf.name, -rc);
		return;
	}
	n->master = m;
	n->rounds = 0;
	while (!sim_stopping(p)) {
		uint64_t ns;

		hup(n, m);
		ns = reload_master_turn(m);
		tell(n, m);
		if (n->hups > 0 && ns > 20 * MS)
			ns = 20 * MS;
		shim_sleep_ns(c.shim, ns);
	}
	n->master = NULL;
	reload_master_destroy(m);
}

void
node_master_again(struct node *n)
{
	if (sim_proc_alive(n->master_proc))
		return;
	n->master = NULL;
	sim_proc_restart(n->master_proc);
}

/* ---- what must hold ---- */

struct node_worker *
node_worker_of(struct node *n, const struct sim_proc *p)
{
	for (unsigned int i = n->nb_spawned; i-- > 0;)
		if (n->spawned[i].proc == p)
			return &n->spawned[i];
	return NULL;
}

/* REL-5, DSP-1: whoever touches a queue holds the lane's lease, and the lease says so at this very moment. */
static bool
may_poll(void *ctx, struct sim_proc *p, struct sim_port *port, uint16_t queue)
{
	struct node *n = ctx;
	struct sim_world *w = sim_proc_world(p);
	const struct node_worker *nw = node_worker_of(n, p);
	uint64_t gap;

	if (port->machine != sim_host_machine(n->host))
		return true;
	if (n->polls_unchecked)
		return true;
	if (nw == NULL || nw->worker == NULL || nw->worker->rl == NULL || queue != nw->lane)
		return false;
	if (nw->worker->rl->seat.held == 0 || n->dir->lane[queue].lease != nw->worker->rl->seat.held)
		return false;
	gap = sim_now(w) - n->polled_ns[queue];
	if (n->polled_ns[queue] != 0 && gap > n->gap_ns[queue])
		n->gap_ns[queue] = gap;
	n->polled_ns[queue] = sim_now(w);
	return true;
}

/* REL-2, REL-5: generations and windows only grow; every word is a possible one; no owner found its lease taken. */
static int
words(struct sim_world *w, void *arg, char *why, size_t size)
{
	struct node *n = arg;
	struct window win;

	(void)w;
	if (n->dir == NULL || n->polls_unchecked)
		return 0;
	if (window_of(n->dir->window, &win) != 0)
		return snprintf(why, size, "impossible window word %llx", (unsigned long long)n->dir->window);
	if (win.active < n->active || win.wid < n->wid)
		return snprintf(why, size, "a generation went backwards: active %u after %u, window %u after %u", win.active,
			n->active, win.wid, n->wid);
	/* what the workers themselves have noticed, beside may_poll */
	for (unsigned int i = 0; i < n->conf.nb_workers; i++)
		if (n->dir->lane[i].taken != 0)
			return snprintf(why, size, "lane %u: its lease was taken from a live owner %llu time(s)", i,
				(unsigned long long)n->dir->lane[i].taken);
	n->active = win.active;
	n->wid = win.wid;
	if ((win.state == WINDOW_ABORTED || win.state == WINDOW_ROLLBACK) && n->rolled_wid != win.wid) {
		n->rolled_wid = win.wid;
		n->rollbacks++;
	}
	return 0;
}

bool
node_calm(const struct node *n)
{
	struct reload_status st;
	struct window win;

	if (n->master == NULL || n->dir == NULL || n->hups > 0 || window_of(n->dir->window, &win) != 0 ||
		win.state != WINDOW_CLOSED)
		return false;
	reload_master_status(n->master, &st);
	if (st.state != RELOAD_T0_IDLE || st.live[gen_side(win.active)] != n->conf.nb_workers || st.live[gen_side(win.active) ^ 1] != 0)
		return false;
	for (unsigned int i = 0; i < n->conf.nb_workers; i++) {
		struct lease l;

		if (lease_of(n->dir->lane[i].lease, &l) != 0 || l.state != LEASE_OWNED || l.gen != win.active ||
			n->dir->seat[gen_side(win.active)][i].ready >> 32 != win.active)
			return false;
	}
	return true;
}

int
node_reload_start(struct sim_world *w, struct node *n)
{
	struct sim_proc_conf mc = { .name = "master", .role = SHIM_ROLE_OBSERVER, .main = master_main, .arg = n,
		.skew_ns = n->conf.skew_ns, .drift_ppm = n->conf.drift_ppm };

	n->spawned = calloc(NODE_MAX_SPAWNED, sizeof(*n->spawned));
	if (n->spawned == NULL)
		return -ENOMEM;
	sim_on_poll(w, may_poll, n);
	sim_invariant(w, "generations", words, n);
	n->master_proc = sim_proc_start(n->host, &mc);
	return n->master_proc != NULL ? 0 : -ENOMEM;
}

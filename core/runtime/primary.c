/* SPDX-License-Identifier: BSD-3-Clause */
/* The slim primary: set-up with full undo, its turn, worker liveness, stopping. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../reload/gen_dir.h"
#include "primary_priv.h"

static int
pool_setup(struct primary *p)
{
	const struct nonic_config *cfg = p->cfg;
	uint32_t n = 0;
	int rc;

	rc = mtu_data_room(layout_mtu_mode(cfg), cfg->max_mtu, &p->data_room);
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "[dpdk] max_mtu %u does not fit a buffer: %u is the largest with "
			"mbuf_mode=large", cfg->max_mtu, MTU_LARGE_MAX);
		return rc;
	}
	/* both descriptor rings full, a back-log of the same size behind the transmit side, and the rings between queues */
	for (unsigned int i = 0; i < cfg->nb_ports; i++) {
		uint32_t q = cfg->port[cfg->port_list[i]].nb_lcores;

		n += q * (3 * PRIMARY_DESC + (q > 1 ? (q - 1) * primary_pair_size(q) : 0));
		/* the other generation's back-log, and drain and relay ring of each side */
		if (cfg->graceful_reload)
			n += q * (PRIMARY_DESC + 4 * cfg->drain_ring_size);
	}
	n += (p->nb_places + 1) * PRIMARY_CACHE + p->nb_places * PRIMARY_PER_WORKER;
	/* 2^k - 1 is what a pool's ring holds without waste */
	for (uint32_t full = 8191;; full = full * 2 + 1) {
		if (n <= full) {
			n = full;
			break;
		}
	}
	rc = shim_pool_create(p->shim, CTL_POOL, n, p->data_room, &p->pool);
	if (rc < 0) {
		p->pool = NULL;
		shim_log(p->shim, SHIM_LOG_ERR, "pool of %u buffers of %u bytes (%u MB): %s", n, p->data_room,
			(unsigned int)((uint64_t)n * (p->data_room + 256u) >> 20), strerror(-rc));
	}
	return rc;
}

static int
ports_setup(struct primary *p)
{
	unsigned int have = shim_port_count(p->shim);
	int rc;

	for (unsigned int i = 0; i < p->cfg->nb_ports; i++) {
		struct primary_port *pp = &p->port[p->nb_ports];

		pp->port = p->cfg->port_list[i];
		if (pp->port >= have) {
			shim_log(p->shim, SHIM_LOG_ERR, "[dpdk] port_list names port %u, but there %s %u port%s: bind a "
				"device to a DPDK driver, or add a [vdevN] section", pp->port, have == 1 ? "is" : "are",
				have, have == 1 ? "" : "s");
			return -ENODEV;
		}
		pp->nb_queues = p->cfg->port[pp->port].nb_lcores;
		p->nb_ports++;
		rc = primary_port_setup(p, pp);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
dir_setup(struct primary *p)
{
	struct ctl_dir *d;
	void *addr;
	int rc;

	rc = shim_zone_reserve(p->shim, CTL_DIR_ZONE, sizeof(*d), &addr);
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "zone %s: %s", CTL_DIR_ZONE, rc == -EEXIST ?
			"there is one already: a primary of this file_prefix is running" : strerror(-rc));
		return rc;
	}
	p->dir = d = addr;
	d->magic = CTL_MAGIC;
	d->layout_version = CTL_LAYOUT_VERSION;
	d->first_proc = p->first_proc;
	d->nb_workers = p->nb_workers;
	d->nb_ports = p->cfg->nb_ports;
	d->sides = layout_sides(p->cfg);
	d->primary = shim_self(p->shim);
	rc = shim_entropy(p->shim, &d->secrets, sizeof(d->secrets));
	if (rc == 0)
		rc = shim_entropy(p->shim, &d->boot_id, sizeof(d->boot_id));
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "no entropy for the secrets: %s", strerror(-rc));
		return rc;
	}
	if (d->boot_id == 0)
		d->boot_id = 1;
	config_device_digest(p->cfg, d->device_digest);
	return 0;
}

static int
block_setup(struct primary *p, unsigned int index, struct ctl_block **out)
{
	int rc = ctl_block_create(p->shim, index, p->dir->boot_id, out);

	if (rc < 0) {
		*out = NULL;
		shim_log(p->shim, SHIM_LOG_ERR, "control block %u: %s", index, strerror(-rc));
	}
	return rc;
}

static int
blocks_setup(struct primary *p)
{
	int rc = block_setup(p, CTL_PRIMARY, &p->block);

	for (unsigned int i = 0; rc == 0 && i < p->nb_places; i++)
		rc = block_setup(p, p->worker[i].index, &p->worker[i].block);
	if (rc == 0 && p->cfg->graceful_reload)
		rc = block_setup(p, CTL_MASTER, &p->master);
	if (rc < 0)
		return rc;
	rc = ctl_claim(p->shim, p->block);
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "control block of the primary: %s", strerror(-rc));
		return rc;
	}
	ctl_state_set(p->shim, p->block, CTL_RUNNING);
	/* release: a worker that sees it sees everything before it */
	shim_store64(p->shim, &p->dir->ready, 1, SHIM_RELEASE);
	return 0;
}

static void
places_name(struct primary *p)
{
	bool sides = layout_sides(p->cfg) > 1;

	p->nb_places = p->nb_workers * layout_sides(p->cfg);
	for (unsigned int i = 0; i < p->nb_places; i++) {
		unsigned int id = p->first_proc + i % p->nb_workers, side = i / p->nb_workers;

		p->worker[i].index = layout_ctl_index(id, side);
		if (sides)
			snprintf(p->worker[i].name, sizeof(p->worker[i].name), "worker %u of side %u", id, side);
		else
			snprintf(p->worker[i].name, sizeof(p->worker[i].name), "worker %u", id);
	}
}

int
primary_setup(struct shim *s, const struct nonic_config *cfg, struct primary **out)
{
	unsigned int workers = layout_nb_workers(cfg);
	struct primary *p;
	int rc;

	unsigned int most = cfg->graceful_reload ? GEN_MAX_LANES : CTL_MAX_PROCS - 1 - layout_first_proc(cfg);

	_Static_assert(CONFIG_MAX_LANES == GEN_MAX_LANES && 1 + GEN_MAX_LANES <= LAYOUT_SIDE, "every lane has a block on each side");
	if (workers == 0 || workers > most) {
		shim_log(s, SHIM_LOG_ERR, "[dpdk] lcore_mask leaves %u workers: 1 to %u are possible", workers, most);
		return -EINVAL;
	}
	p = shim_malloc(s, sizeof(*p));
	if (p == NULL) {
		shim_log(s, SHIM_LOG_ERR, "no memory for the primary");
		return -ENOMEM;
	}
	p->shim = s;
	p->cfg = cfg;
	p->first_proc = layout_first_proc(cfg);
	p->nb_workers = workers;
	places_name(p);
	shim_clock_sample(s);
	/* the directory first: it refuses to stand beside another primary's before anything is touched */
	rc = dir_setup(p);
	if (rc == 0)
		rc = pool_setup(p);
	if (rc == 0)
		rc = ports_setup(p);
	if (rc == 0)
		rc = primary_reload_setup(p);
	if (rc == 0)
		rc = blocks_setup(p);
	if (rc < 0) {
		primary_teardown(p);
		return rc;
	}
	*out = p;
	return 0;
}

void
primary_teardown(struct primary *p)
{
	char name[SHIM_NAME_MAX];
	struct shim *s;

	if (p == NULL)
		return;
	s = p->shim;
	if (p->dir != NULL)
		shim_store64(s, &p->dir->ready, 0, SHIM_RELEASE);
	for (unsigned int i = 0; i < p->nb_ports; i++)
		primary_port_undo(p, &p->port[i]);
	primary_reload_undo(p);
	for (unsigned int i = 0; i < p->nb_places; i++) {
		if (p->worker[i].block == NULL)
			continue;
		ctl_block_name(p->worker[i].index, name);
		shim_zone_free(s, name);
	}
	if (p->master != NULL) {
		ctl_block_name(CTL_MASTER, name);
		shim_zone_free(s, name);
	}
	if (p->block != NULL) {
		ctl_release(s, p->block);
		ctl_block_name(CTL_PRIMARY, name);
		shim_zone_free(s, name);
	}
	/* a port that was configured keeps buffers of its pool until the door closes it (net_tap does): then the pool
	 * goes with the door */
	if (p->pool != NULL && !p->pool_lent)
		shim_pool_free(s, p->pool);
	if (p->dir != NULL) {
		memset(&p->dir->secrets, 0, sizeof(p->dir->secrets));
		shim_zone_free(s, CTL_DIR_ZONE);
	}
	shim_free(s, p);
}

/* REL-18: what a dead worker had in its hands goes home, and its place is free. */
static void
worker_bury(struct primary *p, struct primary_worker *w)
{
	uint32_t pid = w->block->owner.pid;
	int n = ctl_sweep(p->shim, w->block, p->pool);

	if (n < 0 || !ctl_reap(p->shim, w->block))
		return; /* a successor is at it, or has been */
	w->stuck = false;
	shim_log(p->shim, SHIM_LOG_ERR, "%s (pid %u) died: its place is free, %d of its buffers came home", w->name, pid, n);
}

/* Looks at one worker: dead ones give their block back, stuck ones are named once. */
static void
worker_look(struct primary *p, struct primary_worker *w, uint64_t now)
{
	uint64_t beat = shim_load64(p->shim, &w->block->heartbeat, SHIM_RELAXED);
	uint64_t limit = (uint64_t)p->cfg->reload_heartbeat_timeout_ms * 1000000u;
	uint32_t pid = w->block->owner.pid;

	if (beat != w->heartbeat) {
		if (w->stuck)
			shim_log(p->shim, SHIM_LOG_NOTICE, "%s (pid %u) moves again", w->name, pid);
		w->heartbeat = beat;
		w->progress_ns = now;
		w->stuck = false;
	}
	if (shim_load64(p->shim, &w->block->claim, SHIM_ACQUIRE) != 0 && !ctl_owner_alive(p->shim, w->block)) {
		worker_bury(p, w);
		return;
	}
	if (shim_load32(p->shim, &w->block->state, SHIM_ACQUIRE) != CTL_RUNNING) {
		w->progress_ns = now;
		return;
	}
	if (!w->stuck && limit > 0 && now - w->progress_ns > limit) {
		w->stuck = true;
		shim_log(p->shim, SHIM_LOG_WARNING, "%s (pid %u) has not turned for %u ms", w->name, pid,
			(unsigned int)((now - w->progress_ns) / 1000000u));
	}
}

/* Does the process that owns the block, or owned it last, run? A worker inside this process has left with its block. */
static bool
worker_runs(struct primary *p, const struct ctl_block *b)
{
	struct shim_proc self = shim_self(p->shim), owner = b->owner;

	if (ctl_owner_alive(p->shim, b))
		return true;
	return owner.pid != 0 && owner.pid != self.pid && shim_proc_alive(p->shim, &owner) == 1;
}

/* It has left when its process has: until then it may still touch what it shares. */
static bool
has_left(struct primary *p, const struct ctl_block *b, const char *name, uint64_t now)
{
	if (!worker_runs(p, b))
		return true;
	if (now >= p->stop_deadline_ns)
		shim_log(p->shim, SHIM_LOG_WARNING, "%s (pid %u) did not leave within %u ms", name, b->owner.pid, PRIMARY_STOP_MS);
	return false;
}

/* True when every worker has left, and the master, or their time is up. */
static bool
workers_gone(struct primary *p, uint64_t now)
{
	bool gone = p->master == NULL || has_left(p, p->master, "the master", now);

	for (unsigned int i = 0; i < p->nb_places; i++)
		gone &= has_left(p, p->worker[i].block, p->worker[i].name, now);
	return gone || now >= p->stop_deadline_ns;
}

void
primary_stop(struct primary *p)
{
	if (p->stopping)
		return;
	p->stopping = true;
	p->stop_deadline_ns = shim_now_ns(p->shim) + PRIMARY_STOP_MS * 1000000ull;
	ctl_state_set(p->shim, p->block, CTL_STOPPING);
	/* the master first: it must not start workers again */
	if (p->master != NULL)
		shim_store32(p->shim, &p->master->quit, 1, SHIM_RELEASE);
	for (unsigned int i = 0; i < p->nb_places; i++)
		shim_store32(p->shim, &p->worker[i].block->quit, 1, SHIM_RELEASE);
}

unsigned int
primary_turn(struct primary *p)
{
	uint64_t now = shim_clock_sample(p->shim);
	struct ctl_request r;
	unsigned int did = 0;

	if (ctl_poll(p->shim, p->block, &r)) {
		primary_answer(p, &r);
		did++;
	}
	if (now >= p->liveness_ns) {
		p->liveness_ns = now + PRIMARY_LIVENESS_MS * 1000000ull;
		for (unsigned int i = 0; i < p->nb_places; i++)
			worker_look(p, &p->worker[i], now);
		if (p->master != NULL && ctl_reap(p->shim, p->master))
			shim_log(p->shim, SHIM_LOG_ERR, "the master (pid %u) died; its workers go on", p->master->owner.pid);
	}
	if (p->stopping && !p->stopped && workers_gone(p, now))
		p->stopped = true;
	p->block->pool_size = shim_pool_size(p->shim, p->pool);
	p->block->pool_avail = shim_pool_avail(p->shim, p->pool);
	p->block->turns++;
	p->block->idle_turns += did == 0;
	shim_store64(p->shim, &p->block->heartbeat, p->block->turns, SHIM_RELAXED);
	return did;
}

void
primary_run(struct primary *p, const volatile int *stop)
{
	uint64_t sleep_ns = p->cfg->primary_slim_idle_sleep_us * 1000ull;

	while (!p->stopped) {
		if (stop != NULL && *stop)
			primary_stop(p);
		if (primary_turn(p) == 0 && sleep_ns > 0)
			shim_sleep_ns(p->shim, sleep_ns);
	}
}

bool
primary_stopped(const struct primary *p)
{
	return p->stopped;
}

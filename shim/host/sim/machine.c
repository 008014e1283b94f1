/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines and doors: log, private memory, clocks, randomness, processes; and the table itself. */
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"

#define LOG_LINE 512

/* In front of each private allocation. */
struct sim_alloc {
	LIST_ENTRY(sim_alloc) link;
	size_t n;
} __attribute__((aligned(64)));

struct sim_machine *
sim_machine_create(const struct sim_env *env, uint32_t id, const char *name)
{
	struct sim_machine *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->env = env;
	m->id = id;
	snprintf(m->name, sizeof(m->name), "%s", name);
	TAILQ_INIT(&m->live);
	TAILQ_INIT(&m->quarantine);
	return m;
}

void
sim_machine_destroy(struct sim_machine *m)
{
	struct sim_door *d;

	if (m == NULL)
		return;
	while ((d = LIST_FIRST(&m->doors)) != NULL)
		sim_door_close(d, true);
	for (unsigned int i = 0; i < m->nb_ports; i++)
		sim_port_release(m->port[i]);
	sim_mem_release_all(m);
	sim_buf_release_all(m);
	free(m);
}

uint64_t
sim_machine_role_violations(const struct sim_machine *m)
{
	uint64_t n = m->role_violations;
	const struct sim_door *d;

	LIST_FOREACH(d, &m->doors, link)
		n += d->shim.role_violations;
	return n;
}

struct sim_door *
sim_door_open(struct sim_machine *m, const struct sim_door_conf *c)
{
	struct sim_door *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->shim.ops = &sim_ops;
	d->shim.ctx = d;
	d->shim.role = c->role;
	d->shim.self = (struct shim_proc){ .pid = c->pid, .proc_id = c->proc_id, .start_time = c->start_time };
	d->machine = m;
	d->id = c->id;
	d->rng = c->seed;
	d->owner = c->owner;
	d->store_buffer = c->store_buffer;
	sim_door_clock_set(d, c->skew_ns, c->drift_ppm);
	LIST_INSERT_HEAD(&m->doors, d, link);
	return d;
}

void
sim_door_close(struct sim_door *d, bool killed)
{
	struct sim_machine *m = d->machine;
	struct sim_alloc *a;
	char why[128];

	if (!killed && (d->bufs != 0 || d->nb_allocs != 0) && m->env->fail != NULL) {
		snprintf(why, sizeof(why), "a process of %s ended with %u buffers and %zu allocations in its hands",
			m->name, d->bufs, d->nb_allocs);
		m->env->fail(m->env->ctx, d, why);
	}
	sim_door_drain(d, d->nb_pending); /* what was stored is stored, whatever becomes of the process */
	sim_buf_disown(d);
	while ((a = LIST_FIRST(&d->allocs)) != NULL) {
		LIST_REMOVE(a, link);
		free(a);
	}
	for (uint16_t i = 0; i < m->nb_ports; i++)
		for (unsigned int q = 0; q < SHIM_MAX_QUEUES; q++) {
			if (m->port[i]->rxq[q].poller == d->id)
				m->port[i]->rxq[q].poller = 0;
			if (m->port[i]->tx_poller[q] == d->id)
				m->port[i]->tx_poller[q] = 0;
		}
	m->role_violations += d->shim.role_violations;
	LIST_REMOVE(d, link);
	free(d);
}

/* ---- time ---- */

static uint64_t
world_ns(const struct sim_door *d)
{
	return d->machine->env->now_ns(d->machine->env->ctx);
}

static uint64_t
clock_ns(struct shim *s)
{
	const struct sim_door *d = sim_door(s);
	__int128 gone = world_ns(d) - d->anchor_world_ns;

	return d->anchor_local_ns + (uint64_t)(gone + gone * d->drift_ppm / 1000000);
}

void
sim_door_clock_set(struct sim_door *d, int64_t skew_ns, int32_t drift_ppm)
{
	uint64_t now = world_ns(d);
	uint64_t was = d->anchor_local_ns == 0 ? 0 : clock_ns(&d->shim);
	int64_t to = (int64_t)(SIM_CLOCK_BASE_NS + now) + skew_ns;

	d->anchor_local_ns = to > 0 && (uint64_t)to > was ? (uint64_t)to : was;
	d->anchor_world_ns = now;
	d->drift_ppm = drift_ppm > -999999 ? drift_ppm : -999999;
}

uint64_t
sim_door_to_world_ns(const struct sim_door *d, uint64_t ns)
{
	unsigned __int128 t = (unsigned __int128)ns * 1000000u;
	uint64_t rate = (uint64_t)(1000000 + (int64_t)d->drift_ppm);

	t = (t + rate - 1) / rate;
	return t > UINT64_MAX / 2 ? UINT64_MAX / 2 : (uint64_t)t;
}

static uint64_t
cycles(struct shim *s)
{
	return clock_ns(s) * (SIM_CYCLES_HZ / 1000000000u);
}

static uint64_t
cycles_hz(struct shim *s)
{
	(void)s;
	return SIM_CYCLES_HZ;
}

static uint64_t
wall_ns(struct shim *s)
{
	return SIM_WALL_BASE_NS + clock_ns(s) + (uint64_t)sim_door(s)->wall_step_ns;
}

static void
sleep_ns(struct shim *s, uint64_t ns)
{
	struct sim_door *d = sim_door(s);

	if (d->machine->env->sleep != NULL)
		d->machine->env->sleep(d->machine->env->ctx, d, ns);
}

/* ---- log, memory, randomness, processes ---- */

static void
vlog(struct shim *s, int level, const char *fmt, va_list ap)
{
	struct sim_door *d = sim_door(s);
	char line[LOG_LINE];

	vsnprintf(line, sizeof(line), fmt, ap);
	if (d->machine->env->log != NULL)
		d->machine->env->log(d->machine->env->ctx, d, level, line);
}

static void *
private_malloc(struct shim *s, size_t n)
{
	struct sim_door *d = sim_door(s);
	size_t whole = (sizeof(struct sim_alloc) + n + 63) / 64 * 64;
	struct sim_alloc *a;

	if (n == 0 || sim_fails_now(&d->fail_malloc_in, d->fail_malloc_stays) || whole < n)
		return NULL;
	a = aligned_alloc(64, whole);
	if (a == NULL)
		return NULL;
	memset(a, 0, whole);
	a->n = n;
	LIST_INSERT_HEAD(&d->allocs, a, link);
	d->nb_allocs++;
	return a + 1;
}

static void
private_free(struct shim *s, void *p)
{
	struct sim_alloc *a = (struct sim_alloc *)p - 1;

	if (p == NULL)
		return;
	LIST_REMOVE(a, link);
	sim_door(s)->nb_allocs--;
	free(a);
}

static uint64_t
random64(struct shim *s)
{
	return host_random_next(&sim_door(s)->rng);
}

static int
entropy(struct shim *s, void *buf, size_t n)
{
	uint8_t *p = buf;

	while (n > 0) {
		uint64_t v = random64(s);
		size_t k = n < sizeof(v) ? n : sizeof(v);

		memcpy(p, &v, k);
		p += k;
		n -= k;
	}
	return 0;
}

static int
proc_alive(struct shim *s, const struct shim_proc *p)
{
	const struct sim_machine *m = sim_door(s)->machine;
	const struct sim_door *d;

	if (m->env->alive != NULL)
		return m->env->alive(m->env->ctx, p);
	LIST_FOREACH(d, &m->doors, link)
		if (d->shim.self.pid == p->pid)
			return d->shim.self.start_time == p->start_time;
	return 0;
}

static int
proc_spawn(struct shim *s, const char *const argv[], struct shim_proc *out)
{
	struct sim_door *d = sim_door(s);
	const struct sim_env *e = d->machine->env;

	return e->spawn != NULL ? e->spawn(e->ctx, d, argv, out) : -ENOENT;
}

static int
proc_kill(struct shim *s, const struct shim_proc *p)
{
	struct sim_machine *m = sim_door(s)->machine;
	struct sim_door *d;

	if (p->pid == s->self.pid)
		return -EINVAL;
	if (m->env->kill != NULL)
		return m->env->kill(m->env->ctx, sim_door(s), p);
	LIST_FOREACH(d, &m->doors, link)
		if (d->shim.self.pid == p->pid && d->shim.self.start_time == p->start_time) {
			sim_door_close(d, true);
			return 0;
		}
	return -ESRCH;
}

const struct shim_ops sim_ops = {
	.name = "sim",
	.vlog = vlog,
	.malloc = private_malloc,
	.free = private_free,
	.cycles = cycles,
	.cycles_hz = cycles_hz,
	.clock_ns = clock_ns,
	.wall_ns = wall_ns,
	.sleep_ns = sleep_ns,
	.random = random64,
	.entropy = entropy,
	.proc_alive = proc_alive,
	.proc_spawn = proc_spawn,
	.proc_kill = proc_kill,
	.zone_reserve = sim_zone_reserve,
	.zone_lookup = sim_zone_lookup,
	.zone_free = sim_zone_free,
	.ring_create = sim_ring_create,
	.ring_lookup = sim_ring_lookup,
	.ring_free = sim_ring_free,
	.ring_enqueue_burst = sim_ring_enqueue_burst,
	.ring_dequeue_burst = sim_ring_dequeue_burst,
	.ring_take = sim_ring_take,
	.ring_count = host_ring_count,
	.ring_capacity = host_ring_capacity,
	.ring_recover = host_ring_recover,
	.ring_put = sim_ring_put,
	.ring_get = sim_ring_get,
	.pool_create = sim_pool_create,
	.pool_lookup = sim_pool_lookup,
	.pool_free = sim_pool_free,
	.pool_size = sim_pool_size,
	.pool_avail = sim_pool_avail,
	.pool_data_room = sim_pool_data_room,
	.pool_owns = sim_pool_owns,
	.cache_id = sim_cache_id,
	.pool_sweep = sim_pool_sweep,
	.buf_alloc = sim_buf_alloc,
	.buf_release = sim_buf_release,
	.port_count = sim_port_op_count,
	.port_info = sim_port_op_info,
	.port_configure = sim_port_op_configure,
	.port_start = sim_port_op_start,
	.port_stop = sim_port_op_stop,
	.port_mtu_get = sim_port_op_mtu_get,
	.port_mtu_set = sim_port_op_mtu_set,
	.port_stats = sim_port_op_stats,
	.port_link = sim_port_op_link,
	.port_promiscuous_get = sim_port_op_promiscuous_get,
	.port_promiscuous_set = sim_port_op_promiscuous_set,
	.port_allmulticast_set = sim_port_op_allmulticast_set,
	.port_rss_key_get = sim_port_op_rss_key_get,
	.port_rss_key_set = sim_port_op_rss_key_set,
	.port_reta_get = sim_port_op_reta_get,
	.port_reta_set = sim_port_op_reta_set,
	.rx_burst = sim_port_op_rx_burst,
	.tx_burst = sim_port_op_tx_burst,
	.load = sim_word_load,
	.store = sim_word_store,
	.cas = sim_word_cas,
	.fetch_add = sim_word_fetch_add,
	.fence = sim_word_fence,
};

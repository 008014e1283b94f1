/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock's behaviour: memory, clocks, processes, zones, rings and pools in this process. */
#include "mock.h"

#include <errno.h>
#include <rte_ring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../buf.h"
#include "priv.h"

void *
mock_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL)
		abort();
	return p;
}

/* n zeroed bytes aligned to align, exactly n of them, so that a sanitizer sees the first byte past. */
static void *
aligned_zeroed(size_t align, size_t n)
{
	void *p;

	if (posix_memalign(&p, align, n) != 0)
		return NULL;
	memset(p, 0, n);
	return p;
}

/* ---- log, memory, time, random ---- */

static void
mock_vlog(struct shim *s, int level, const char *fmt, va_list ap)
{
	struct mock_state *st = mock_of(s);

	vsnprintf(st->message, sizeof(st->message), fmt, ap);
	st->messages[0]++;
	if (level >= SHIM_LOG_EMERG && level <= SHIM_LOG_DEBUG)
		st->messages[level]++;
}

static void *
mock_malloc(struct shim *s, size_t n)
{
	void *p = n > 0 ? aligned_zeroed(64, n) : NULL;

	if (p != NULL)
		mock_of(s)->mallocs++;
	return p;
}

static void
mock_free(struct shim *s, void *p)
{
	mock_of(s)->mallocs--;
	free(p);
}

static uint64_t
mock_cycles_hz(struct shim *s)
{
	(void)s;
	return 1000000000ull;
}

static uint64_t
mock_clock_ns(struct shim *s)
{
	return mock_of(s)->clock_ns;
}

static uint64_t
mock_wall_ns(struct shim *s)
{
	return mock_of(s)->clock_ns + mock_of(s)->wall_offset;
}

static void
mock_sleep_ns(struct shim *s, uint64_t ns)
{
	mock_of(s)->clock_ns += ns;
}

static uint64_t
mock_random(struct shim *s)
{
	return host_random_next(&mock_of(s)->random_state);
}

static int
mock_entropy(struct shim *s, void *buf, size_t n)
{
	uint8_t *p = buf;
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)mock_random(s);
	return 0;
}

/* ---- processes ---- */

static int
mock_proc_alive(struct shim *s, const struct shim_proc *p)
{
	struct mock_state *st = mock_of(s);
	unsigned int i;

	for (i = 0; i < st->n_procs; i++)
		if (st->procs[i].pid == p->pid && st->procs[i].start_time == p->start_time)
			return 1;
	return 0;
}

void
mock_proc_set(struct shim *s, struct shim_proc p, bool alive)
{
	struct mock_state *st = mock_of(s);
	unsigned int i;

	for (i = 0; i < st->n_procs && st->procs[i].pid != p.pid; i++)
		continue;
	if (i < st->n_procs)
		st->procs[i] = st->procs[--st->n_procs];
	if (!alive)
		return;
	if (st->n_procs == MOCK_PROCS)
		abort();
	st->procs[st->n_procs++] = p;
}

static int
mock_proc_spawn(struct shim *s, const char *const argv[], struct shim_proc *out)
{
	struct mock_state *st = mock_of(s);

	if (argv[0] == NULL || argv[0][0] == '\0')
		return -ENOENT;
	*out = (struct shim_proc){ .pid = st->next_pid++, .start_time = st->clock_ns / 10000000 };
	mock_proc_set(s, *out, true);
	return 0;
}

static int
mock_proc_kill(struct shim *s, const struct shim_proc *p)
{
	if (p->pid == s->self.pid)
		return -EINVAL;
	if (mock_proc_alive(s, p) == 0)
		return -ESRCH;
	mock_proc_set(s, *p, false);
	return 0;
}

/* ---- names ---- */

static struct mock_named **
named_find(struct mock_named **list, const char *name)
{
	while (*list != NULL && strcmp((*list)->name, name) != 0)
		list = &(*list)->next;
	return list;
}

static struct mock_named **
named_find_addr(struct mock_named **list, const void *addr)
{
	while (*list != NULL && (*list)->addr != addr)
		list = &(*list)->next;
	return list;
}

/* 0 and the place for a new name, or what is wrong with it. */
static int
named_new(struct mock_named **list, const char *name)
{
	int rc = sys_name_check(name);

	if (rc == 0 && *named_find(list, name) != NULL)
		rc = -EEXIST;
	return rc;
}

static void
named_add(struct mock_named **list, const char *name, void *addr, size_t size)
{
	struct mock_named *n = mock_xcalloc(1, sizeof(*n));

	snprintf(n->name, sizeof(n->name), "%s", name);
	n->addr = addr;
	n->size = size;
	n->next = *list;
	*list = n;
}

/* Forgets the name; its address, which is the caller's to free. */
static void *
named_remove(struct mock_named **place)
{
	struct mock_named *n = *place;
	void *addr;

	if (n == NULL) {
		fprintf(stderr, "mock: freed a ring or pool that is not there\n");
		abort();
	}
	addr = n->addr;
	*place = n->next;
	free(n);
	return addr;
}

/* ---- zones ---- */

static int
mock_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	struct mock_named **list = &mock_of(s)->zones;
	int rc = size == 0 ? -EINVAL : named_new(list, name);

	if (rc != 0)
		return rc;
	*addr = aligned_zeroed(64, size);
	if (*addr == NULL)
		return -ENOMEM;
	named_add(list, name, *addr, size);
	return 0;
}

static int
mock_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size)
{
	struct mock_named *n = *named_find(&mock_of(s)->zones, name);

	if (n == NULL)
		return -ENOENT;
	*addr = n->addr;
	if (size != NULL)
		*size = n->size;
	return 0;
}

static int
mock_zone_free(struct shim *s, const char *name)
{
	struct mock_named **place = named_find(&mock_of(s)->zones, name);

	if (*place == NULL)
		return -ENOENT;
	free(named_remove(place));
	return 0;
}

/* ---- rings ---- */

static int
mock_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out)
{
	struct mock_named **list = &mock_of(s)->rings;
	int rc = host_ring_check(count, flags);
	void *mem;

	if (rc == 0)
		rc = named_new(list, name);
	if (rc != 0)
		return rc;
	mem = aligned_zeroed(128, host_ring_size(count));
	if (mem == NULL)
		return -ENOMEM;
	rc = host_ring_init(mem, name, count, flags);
	if (rc != 0) {
		free(mem);
		return rc;
	}
	named_add(list, name, mem, count);
	*out = mem;
	return 0;
}

static int
mock_ring_lookup(struct shim *s, const char *name, struct rte_ring **out)
{
	struct mock_named *n = *named_find(&mock_of(s)->rings, name);

	if (n == NULL)
		return -ENOENT;
	*out = n->addr;
	return 0;
}

static void
mock_ring_free(struct shim *s, struct rte_ring *r)
{
	free(named_remove(named_find_addr(&mock_of(s)->rings, r)));
}

/* ---- pools ---- */

static int
mock_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out)
{
	struct mock_named **list = &mock_of(s)->pools;
	struct shim_pool *p;
	int rc = n == 0 || data_room < SHIM_HEADROOM ? -EINVAL : named_new(list, name);

	if (rc != 0)
		return rc;
	p = mock_xcalloc(1, sizeof(*p));
	p->owner = mock_of(s);
	p->size = n;
	p->data_room = data_room;
	p->bufs = mock_xcalloc(n, sizeof(*p->bufs));
	named_add(list, name, p, 0);
	*out = p;
	return 0;
}

static int
mock_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	struct mock_named *n = *named_find(&mock_of(s)->pools, name);

	if (n == NULL)
		return -ENOENT;
	*out = n->addr;
	return 0;
}

static void
mock_pool_free(struct shim *s, struct shim_pool *p)
{
	named_remove(named_find_addr(&mock_of(s)->pools, p));
	if (p->out > 0) {
		fprintf(stderr, "mock: pool freed with %u buffers out\n", p->out);
		abort();
	}
	free(p->bufs);
	free(p);
}

static unsigned int
mock_pool_size(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->size;
}

static unsigned int
mock_pool_avail(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->size - p->out;
}

static uint16_t
mock_pool_data_room(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->data_room;
}

static bool
mock_pool_owns(struct shim *s, const struct shim_pool *p, const void *m)
{
	unsigned int i = p->out;

	(void)s;
	while (i > 0 && p->bufs[i - 1] != m)
		i--;
	return i > 0;
}

static struct rte_mbuf *
mock_buf_alloc(struct shim *s, struct shim_pool *p)
{
	struct rte_mbuf *m;
	void *mem;

	if (p->out == p->size || posix_memalign(&mem, 64, host_buf_size(p->data_room)) != 0)
		return NULL;
	m = mem;
	host_buf_init(m, p, p->data_room);
	m->dynfield1[8] = SHIM_BUF_UNSTAMPED | s->self.pid;
	p->bufs[p->out++] = m;
	return m;
}

static void
mock_buf_release(struct shim *s, struct rte_mbuf *m)
{
	struct shim_pool *p = host_buf_pool(m);
	unsigned int i = p->owner == mock_of(s) ? p->out : 0;

	while (i > 0 && p->bufs[i - 1] != m) /* those that came last go first, as a rule */
		i--;
	if (i == 0) {
		fprintf(stderr, "mock: a buffer released that no pool misses\n");
		abort();
	}
	p->bufs[i - 1] = p->bufs[--p->out];
	rte_mbuf_refcnt_set(m, 0);
	free(m);
}

/* The door's process names its cache, of which the mock has none. */
static uint32_t
mock_cache_id(const struct shim *s)
{
	return s->self.pid;
}

static void
mock_rings(void *ctx, const struct sweep *w, bool *in_ring)
{
	const struct mock_named *n;

	for (n = ((struct mock_state *)ctx)->rings; n != NULL; n = n->next)
		sweep_ring(w, n->addr, (uint32_t)n->size, in_ring);
}

static unsigned int
mock_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	struct sweep w = { .mark = mark, .note = SHIM_BUF_UNSTAMPED | cache_id, .rings = mock_rings, .ctx = s->ctx };
	struct rte_mbuf **m = mock_xcalloc(p->out + 1, sizeof(*m));
	unsigned int done, i;

	memcpy(m, p->bufs, p->out * sizeof(*m));
	done = host_buf_sweep(p, p->data_room, m, p->out, &w);
	for (i = 0; i < done; i++)
		mock_buf_release(s, m[i]);
	free(m);
	return done;
}

const struct shim_ops mock_behaviour = {
	.name = "mock",
	.vlog = mock_vlog,
	.malloc = mock_malloc,
	.free = mock_free,
	.cycles = mock_clock_ns,
	.cycles_hz = mock_cycles_hz,
	.clock_ns = mock_clock_ns,
	.wall_ns = mock_wall_ns,
	.sleep_ns = mock_sleep_ns,
	.random = mock_random,
	.entropy = mock_entropy,
	.proc_alive = mock_proc_alive,
	.proc_spawn = mock_proc_spawn,
	.proc_kill = mock_proc_kill,
	.zone_reserve = mock_zone_reserve,
	.zone_lookup = mock_zone_lookup,
	.zone_free = mock_zone_free,
	.ring_create = mock_ring_create,
	.ring_lookup = mock_ring_lookup,
	.ring_free = mock_ring_free,
	.ring_enqueue_burst = host_ring_enqueue_burst,
	.ring_dequeue_burst = host_ring_dequeue_burst,
	.ring_take = host_ring_take,
	.ring_count = host_ring_count,
	.ring_capacity = host_ring_capacity,
	.ring_recover = host_ring_recover,
	.ring_put = host_ring_put,
	.ring_get = host_ring_get,
	.pool_create = mock_pool_create,
	.pool_lookup = mock_pool_lookup,
	.pool_free = mock_pool_free,
	.pool_size = mock_pool_size,
	.pool_avail = mock_pool_avail,
	.pool_data_room = mock_pool_data_room,
	.pool_owns = mock_pool_owns,
	.cache_id = mock_cache_id,
	.pool_sweep = mock_pool_sweep,
	.buf_alloc = mock_buf_alloc,
	.buf_release = mock_buf_release,
	.port_count = mock_port_count,
	.port_info = mock_port_info,
	.port_configure = mock_port_configure,
	.port_start = mock_port_start,
	.port_stop = mock_port_stop,
	.port_mtu_get = mock_port_mtu_get,
	.port_mtu_set = mock_port_mtu_set,
	.port_stats = mock_port_stats,
	.port_link = mock_port_link,
	.port_promiscuous_get = mock_port_promiscuous_get,
	.port_promiscuous_set = mock_port_promiscuous_set,
	.port_allmulticast_set = mock_port_allmulticast_set,
	.port_rss_key_get = mock_port_rss_key_get,
	.port_rss_key_set = mock_port_rss_key_set,
	.port_reta_get = mock_port_reta_get,
	.port_reta_set = mock_port_reta_set,
	.rx_burst = mock_rx_burst,
	.tx_burst = mock_tx_burst,
	.load = host_load,
	.store = host_store,
	.cas = host_cas,
	.fetch_add = host_fetch_add,
	.fence = host_fence,
};

/* ---- life ---- */

static struct shim *
door_new(struct mock_state *st, enum shim_role role, struct shim_proc self)
{
	struct mock_door *d = mock_xcalloc(1, sizeof(*d));

	d->ops = mock_recorder;
	d->shim.ops = &d->ops;
	d->shim.ctx = st;
	d->shim.role = role;
	d->shim.self = self;
	d->shim.now_ns = st->clock_ns;
	st->doors++;
	mock_proc_set(&d->shim, self, true);
	return &d->shim;
}

struct shim *
mock_shim_new_bare(void)
{
	struct mock_state *st = mock_xcalloc(1, sizeof(*st));

	st->clock_ns = 1000000000ull;
	st->wall_offset = 1700000000000000000ull - st->clock_ns;
	st->random_state = 1;
	st->next_pid = 1000;
	mock_script_init(st);
	return door_new(st, SHIM_ROLE_PRIMARY, (struct shim_proc){ .pid = st->next_pid++,
		.start_time = 100 });
}

struct shim *
mock_shim_new(void)
{
	struct shim *s = mock_shim_new_bare();

	mock_port_add(s, NULL);
	return s;
}

struct shim *
mock_shim_attach(struct shim *s, enum shim_role role, uint32_t proc_id)
{
	struct mock_state *st = mock_of(s);

	return door_new(st, role, (struct shim_proc){ .pid = st->next_pid++, .proc_id = proc_id,
		.start_time = st->clock_ns / 10000000 });
}

/* Frees the names of a list; with pools, one that has buffers out stays, as its buffers do. */
static void
named_free_all(struct mock_named **list)
{
	while (*list != NULL)
		free(named_remove(list));
}

unsigned int
mock_shim_free(struct shim *s)
{
	struct mock_state *st = mock_of(s);
	struct mock_named *n;
	unsigned int i, leaks;

	mock_proc_set(s, s->self, false);
	if (--st->doors > 0) {
		free(s);
		return 0;
	}
	mock_script_clear(s);
	for (i = 0; i < st->n_ports; i++)
		mock_port_destroy(s, st->ports[i]);
	st->n_ports = 0;
	leaks = st->mallocs + mock_bufs_out(s);
	if (st->mallocs > 0)
		fprintf(stderr, "mock: %u shim_malloc blocks not freed\n", st->mallocs);
	for (n = st->pools; n != NULL; n = n->next) {
		if (((struct shim_pool *)n->addr)->out > 0)
			fprintf(stderr, "mock: %u buffers of pool %s not freed\n",
				((struct shim_pool *)n->addr)->out, n->name);
		free(((struct shim_pool *)n->addr)->bufs);
	}
	named_free_all(&st->zones);
	named_free_all(&st->rings);
	named_free_all(&st->pools);
	free(st);
	free(s);
	return leaks;
}

unsigned int
mock_mallocs_out(const struct shim *s)
{
	return mock_of(s)->mallocs;
}

unsigned int
mock_bufs_out(const struct shim *s)
{
	const struct mock_named *n;
	unsigned int out = 0;

	for (n = mock_of(s)->pools; n != NULL; n = n->next)
		out += ((struct shim_pool *)n->addr)->out;
	return out;
}

unsigned int
mock_names_left(const struct shim *s)
{
	const struct mock_named *lists[] = { mock_of(s)->zones, mock_of(s)->rings,
		mock_of(s)->pools };
	const struct mock_named *n;
	unsigned int i, left = 0;

	for (i = 0; i < 3; i++)
		for (n = lists[i]; n != NULL; n = n->next)
			left++;
	return left;
}

/* ---- facts ---- */

void
mock_set_role(struct shim *s, enum shim_role role)
{
	s->role = role;
}

void
mock_set_clock_ns(struct shim *s, uint64_t ns)
{
	mock_of(s)->clock_ns = ns;
}

void
mock_advance_ns(struct shim *s, uint64_t ns)
{
	mock_of(s)->clock_ns += ns;
}

void
mock_set_wall_ns(struct shim *s, uint64_t ns)
{
	mock_of(s)->wall_offset = ns - mock_of(s)->clock_ns;
}

void
mock_seed(struct shim *s, uint64_t seed)
{
	mock_of(s)->random_state = seed;
}

const char *
mock_last_message(const struct shim *s)
{
	return mock_of(s)->message;
}

unsigned int
mock_messages(const struct shim *s, int level)
{
	return level >= 0 && level <= SHIM_LOG_DEBUG ? mock_of(s)->messages[level] : 0;
}

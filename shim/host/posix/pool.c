/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of buffers in the region, over shim/freelist.h, and the slots of the caches that processes have in them. */
#include <rte_ring.h>

#include "../../freelist.h"
#include "../../sweep.h"
#include "priv.h"

#define ALIGN64(n) (((n) + 63) & ~(uint64_t)63)
#define FRONT 64 /* before each buffer; holds its index */

/* A pool's piece of the region: this, the list, the buffers. */
struct shim_pool {
	uint32_t size;
	uint16_t data_room;
	uint64_t bufs_off, stride;
	struct freelist list __attribute__((aligned(64)));
};

static void
pool_sizes(struct shim_pool *p, uint32_t n, uint16_t data_room)
{
	p->size = n;
	p->data_room = data_room;
	p->bufs_off = ALIGN64(offsetof(struct shim_pool, list) + freelist_size(n));
	p->stride = FRONT + ALIGN64(host_buf_size(data_room));
}

static int
pool_init(void *piece, void *arg)
{
	struct shim_pool *p = piece;
	struct rte_mbuf *m;
	uint32_t i;

	*p = *(const struct shim_pool *)arg;
	freelist_init(&p->list, p->size, -FRONT);
	for (i = 0; i < p->size; i++) {
		m = (struct rte_mbuf *)((char *)p + p->bufs_off + i * p->stride + FRONT);
		host_buf_init(m, p, p->data_room);
		freelist_add(&p->list, m);
	}
	return 0;
}

int
posix_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out)
{
	struct shim_pool facts = { 0 };
	void *addr;
	int rc;

	if (n == 0 || n > FREELIST_MAX || data_room < SHIM_HEADROOM)
		return -EINVAL;
	pool_sizes(&facts, n, data_room);
	rc = posix_piece_make(s, POSIX_POOL, name, facts.bufs_off + n * facts.stride, pool_init, &facts, &addr);
	if (rc == 0)
		*out = addr;
	return rc;
}

int
posix_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	void *addr;
	int rc = posix_piece_lookup(s, POSIX_POOL, name, &addr, NULL);

	if (rc == 0)
		*out = addr;
	return rc;
}

void
posix_pool_free(struct shim *s, struct shim_pool *p)
{
	posix_piece_free(s, POSIX_POOL, p);
}

unsigned int
posix_pool_size(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->size;
}

unsigned int
posix_pool_avail(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return freelist_count(&p->list);
}

uint16_t
posix_pool_data_room(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->data_room;
}

bool
posix_pool_owns(struct shim *s, const struct shim_pool *p, const void *m)
{
	(void)s;
	return freelist_owns(&p->list, m);
}

uint32_t
posix_cache_id(const struct shim *s)
{
	return ((const struct posix_door *)s)->slot;
}

struct rte_mbuf *
posix_buf_alloc(struct shim *s, struct shim_pool *p)
{
	void *m;

	return freelist_get(&p->list, posix_cache_id(s), &m, 1, true) == 0 ? m : NULL;
}

void
posix_buf_release(struct shim *s, struct rte_mbuf *m)
{
	void *obj = m;

	freelist_put(&host_buf_pool(m)->list, posix_cache_id(s), &obj, 1);
}

/* ---- slots ---- */

/* A dead process's slot can be had again when it is swept: all its caches are empty. */
struct slot_look {
	unsigned int slot;
	bool empty;
};

static void
look_at_cache(void *piece, uint64_t size, void *arg)
{
	struct slot_look *l = arg;

	(void)size;
	if (!freelist_idle(&((struct shim_pool *)piece)->list, l->slot))
		l->empty = false;
}

static bool
slot_swept(struct posix_region *r, unsigned int slot)
{
	struct slot_look l = { .slot = slot, .empty = true };
	struct shim_proc owner = r->slot[slot];

	if (sys_proc_alive(&owner) != 0)
		return false;
	posix_pieces(r, POSIX_POOL, look_at_cache, &l);
	return l.empty;
}

/* Goes round, so that a number comes back late: a sweep may still be under way for its last owner. */
uint32_t
posix_slot_take(struct posix_region *r, const struct shim_proc *self)
{
	unsigned int i, slot;

	for (i = 0; i < FREELIST_OWNERS; i++) {
		slot = __atomic_fetch_add(&r->next_slot, 1, __ATOMIC_RELAXED) % FREELIST_OWNERS;
		if (r->slot[slot].pid != 0 && !slot_swept(r, slot))
			continue;
		posix_lock(r);
		if (r->slot[slot].pid == 0 || sys_proc_alive(&r->slot[slot]) == 0) {
			r->slot[slot] = *self;
			posix_unlock(r);
			return slot;
		}
		posix_unlock(r);
	}
	return FREELIST_ANON; /* no cache, then */
}

static void
empty_cache(void *piece, uint64_t size, void *arg)
{
	(void)size;
	freelist_recover(&((struct shim_pool *)piece)->list, *(uint32_t *)arg);
}

void
posix_slot_leave(struct posix_region *r, uint32_t slot)
{
	if (slot >= FREELIST_OWNERS)
		return;
	posix_pieces(r, POSIX_POOL, empty_cache, &slot);
	__atomic_store_n(&r->slot[slot].pid, 0, __ATOMIC_RELEASE);
}

/* ---- buffers of the dead ---- */

struct pool_sweep {
	struct shim *s;
	struct shim_pool *pool;
	const struct sweep *w;
	bool *in_ring;
};

static void
home(void *ctx, unsigned int i)
{
	struct pool_sweep *c = ctx;
	struct rte_mbuf *m = freelist_table(&c->pool->list)[i];

	host_buf_init(m, c->pool, c->pool->data_room);
	posix_buf_release(c->s, m);
}

static void
look_into_ring(void *piece, uint64_t size, void *arg)
{
	struct pool_sweep *c = arg;

	sweep_ring(c->w, piece, sweep_ring_size(size), c->in_ring);
}

static void
look_into_rings(void *ctx, const struct sweep *w, bool *in_ring)
{
	struct pool_sweep *c = ctx;

	c->w = w;
	c->in_ring = in_ring;
	posix_pieces(posix_region_of(c->s), POSIX_RING, look_into_ring, c);
}

unsigned int
posix_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	struct pool_sweep c = { .s = s, .pool = p };
	struct sweep w = { .m = freelist_table(&p->list), .n = p->size, .mark = mark, .home = home,
		.rings = look_into_rings, .ctx = &c };

	return freelist_sweep(&p->list, cache_id, &w);
}

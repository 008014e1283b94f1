/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools of the dpdk binding: mempools whose free buffers are kept by a handler of our own, over shim/freelist.h, so that the
 * death of a process inside it stops nobody and loses nothing (REL-18). The mempool's own cache is off: it writes its length
 * before its contents.
 */
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "../shim.h"
#include "../sweep.h"

#define HANDLER "nonic"

static int
handler_alloc(struct rte_mempool *mp)
{
	struct freelist *f;

	/* The index of a buffer lies before DPDK's own header of it, in what aligns that. */
	if (mp->header_size < sizeof(struct rte_mempool_objhdr) + sizeof(uint32_t) || mp->size > FREELIST_MAX)
		return -EINVAL;
	f = rte_malloc_socket("nonic_pool", freelist_size(mp->size), RTE_CACHE_LINE_SIZE, mp->socket_id);
	if (f == NULL)
		return -ENOMEM;
	freelist_init(f, mp->size, -(int32_t)mp->header_size);
	mp->pool_data = f;
	return 0;
}

static void
handler_free(struct rte_mempool *mp)
{
	rte_free(mp->pool_data);
}

/* Also how the mempool's memory is made known: one buffer after the other, once each. */
static int
handler_enqueue(struct rte_mempool *mp, void *const *m, unsigned int n)
{
	struct freelist *f = mp->pool_data;
	unsigned int i;

	if (likely(freelist_ready(f))) {
		freelist_put(f, rte_lcore_id(), m, n);
		return 0;
	}
	for (i = 0; i < n; i++)
		if (!freelist_add(f, m[i]))
			return -ENOBUFS;
	return 0;
}

/* For drivers and DPDK itself; the door's own allocations note who made them. */
static int
handler_dequeue(struct rte_mempool *mp, void **m, unsigned int n)
{
	return freelist_get(mp->pool_data, rte_lcore_id(), m, n, false);
}

static unsigned int
handler_get_count(const struct rte_mempool *mp)
{
	return freelist_count(mp->pool_data);
}

static const struct rte_mempool_ops handler = {
	.name = HANDLER,
	.alloc = handler_alloc,
	.free = handler_free,
	.enqueue = handler_enqueue,
	.dequeue = handler_dequeue,
	.get_count = handler_get_count,
};

RTE_MEMPOOL_REGISTER_OPS(handler)

/* The name of the handler that this program has at a place of its table; places follow the order of linking. */
static const char *
handler_at(int index)
{
	if (index < 0 || (uint32_t)index >= rte_mempool_ops_table.num_ops)
		return "(none)";
	return rte_mempool_ops_table.ops[index].name;
}

/* The handler's place in this program, or -1. */
static int
handler_index(void)
{
	uint32_t i;

	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, HANDLER) == 0)
			return (int)i;
	return -1;
}

int
dpdk_pool_check(struct shim *s, const char *name, int index)
{
	if (strcmp(handler_at(index), HANDLER) == 0)
		return 0;
	shim_log(s, SHIM_LOG_ERR, "%s: its mempool handler is number %d, which in this program is \"%s\" and not \"" HANDLER
		"\" (here number %d): link both programs alike", name, index, handler_at(index), handler_index());
	return -EPROTO;
}

int
dpdk_pools_attach(struct shim *s, bool first)
{
	static const struct rte_mbuf_dynfield mark = { .name = "nonic_mark", .size = sizeof(uint32_t),
		.align = __alignof__(uint32_t) };
	const size_t offset = offsetof(struct rte_mbuf, dynfield1[8]);

	if (rte_mbuf_dynfield_register_offset(&mark, offset) != (int)offset) {
		shim_log(s, SHIM_LOG_ERR, "the buffers' owner mark needs the last dynamic field, which is not free: %s",
			rte_strerror(rte_errno));
		return rte_errno != 0 ? -rte_errno : -EBUSY;
	}
	if (first)
		s->shared->handler_index = handler_index();
	return dpdk_pool_check(s, "the bed", s->shared->handler_index);
}

int
dpdk_pool_create(const char *name, unsigned int n, uint16_t data_room, struct shim_pool **out)
{
	int rc = n == 0 || n > FREELIST_MAX || data_room < SHIM_HEADROOM ? -EINVAL : sys_name_check(name);
	struct rte_mempool *mp;

	if (rc != 0)
		return rc;
	mp = rte_pktmbuf_pool_create_by_ops(name, n, 0, 0, data_room, SOCKET_ID_ANY, HANDLER);
	*out = (struct shim_pool *)mp;
	return mp != NULL ? 0 : dpdk_err();
}

int
dpdk_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	struct rte_mempool *mp = rte_mempool_lookup(name);
	int rc;

	if (mp == NULL)
		return -ENOENT;
	rc = dpdk_pool_check(s, name, mp->ops_index);
	if (rc == 0)
		*out = (struct shim_pool *)mp;
	return rc;
}

/* ---- buffers of the dead ---- */

/* Of one door, for a sweep. */
struct pool_sweep {
	struct rte_mempool *mp;
	struct dpdk_shared *shared;
};

static void
sweep_home(void *ctx, unsigned int i)
{
	struct rte_mempool *mp = ((struct pool_sweep *)ctx)->mp;
	struct freelist *f = mp->pool_data;
	void *m = freelist_table(f)[i];

	rte_pktmbuf_init(mp, NULL, m, i);
	freelist_put(f, rte_lcore_id(), &m, 1);
}

static void
sweep_rings(void *ctx, const struct sweep *w, bool *in_ring)
{
	const struct dpdk_shared *shared = ((struct pool_sweep *)ctx)->shared;
	const struct rte_memzone *z;
	const struct rte_ring *r;
	unsigned int i;

	for (i = 0; i < DPDK_RINGS; i++) {
		r = __atomic_load_n(&shared->ring[i], __ATOMIC_ACQUIRE);
		z = __atomic_load_n(&shared->ring_zone[i], __ATOMIC_ACQUIRE);
		if (r != NULL && z != NULL)
			sweep_ring(w, r, sweep_ring_size(z->len), in_ring);
	}
}

unsigned int
dpdk_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	struct rte_mempool *mp = shim_dpdk_mempool(p);
	struct freelist *f = mp->pool_data;
	struct pool_sweep ctx = { .mp = mp, .shared = s->shared };
	struct sweep w = { .m = freelist_table(f), .n = f->n, .mark = mark, .home = sweep_home, .rings = sweep_rings,
		.ctx = &ctx };

	return freelist_sweep(f, cache_id, &w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts that host backends share. */
#include "common.h"

#include <errno.h>
#include <rte_ring.h>

#include "../ring.h"

int
host_ring_check(unsigned int count, unsigned int flags)
{
	if (count == 0 || (count & (count - 1)) != 0 || count > RTE_RING_SZ_MASK)
		return -EINVAL;
	return flags == SHIM_RING_SP_SC || flags == SHIM_RING_MP_SC ? 0 : -EINVAL;
}

size_t
host_ring_size(unsigned int count)
{
	return (size_t)rte_ring_get_memsize(count);
}

int
host_ring_init(void *mem, const char *name, unsigned int count, unsigned int flags)
{
	unsigned int f = RING_F_SC_DEQ;

	if (flags == SHIM_RING_SP_SC)
		f |= RING_F_SP_ENQ;
	return rte_ring_init(mem, name, count, f);
}

unsigned int
host_ring_enqueue_burst(struct shim *s, struct rte_ring *r, void *const *objs, unsigned int n)
{
	(void)s;
	return rte_ring_enqueue_burst(r, objs, n, NULL);
}

unsigned int
host_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs, unsigned int n)
{
	(void)s;
	return rte_ring_dequeue_burst(r, objs, n, NULL);
}

unsigned int
host_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	(void)s;
	return ring_take(r, m, n, mark);
}

unsigned int
host_ring_count(struct shim *s, const struct rte_ring *r)
{
	(void)s;
	return rte_ring_count(r);
}

unsigned int
host_ring_capacity(struct shim *s, const struct rte_ring *r)
{
	(void)s;
	return rte_ring_get_capacity(r);
}

int
host_ring_recover(struct shim *s, struct rte_ring *r, enum shim_ring_side side)
{
	(void)s;
	return ring_recover(r, side);
}

unsigned int
host_ring_put(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n)
{
	(void)s;
	return ring_put(e, m, n);
}

unsigned int
host_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m, unsigned int n,
	uint32_t mark)
{
	const struct ring_taker t = { .s = s, .pool = p, .owns = s->ops->pool_owns, .room = s->ops->pool_data_room(s, p),
		.mark = mark };

	return ring_get(e, &t, m, n);
}

uint64_t
host_load(struct shim *s, const void *w, int size, enum shim_order o)
{
	(void)s;
	(void)o;
	if (size == 4)
		return __atomic_load_n((const uint32_t *)w, __ATOMIC_SEQ_CST);
	return __atomic_load_n((const uint64_t *)w, __ATOMIC_SEQ_CST);
}

void
host_store(struct shim *s, void *w, int size, uint64_t v, enum shim_order o)
{
	(void)s;
	(void)o;
	if (size == 4)
		__atomic_store_n((uint32_t *)w, (uint32_t)v, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n((uint64_t *)w, v, __ATOMIC_SEQ_CST);
}

bool
host_cas(struct shim *s, void *w, int size, uint64_t *expect, uint64_t v, enum shim_order o)
{
	uint32_t seen = (uint32_t)*expect;
	bool done;

	(void)s;
	(void)o;
	if (size == 8)
		return __atomic_compare_exchange_n((uint64_t *)w, expect, v, false,
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	done = __atomic_compare_exchange_n((uint32_t *)w, &seen, (uint32_t)v, false,
		__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	*expect = seen;
	return done;
}

uint64_t
host_fetch_add(struct shim *s, void *w, int size, uint64_t v, enum shim_order o)
{
	(void)s;
	(void)o;
	if (size == 4)
		return __atomic_fetch_add((uint32_t *)w, (uint32_t)v, __ATOMIC_SEQ_CST);
	return __atomic_fetch_add((uint64_t *)w, v, __ATOMIC_SEQ_CST);
}

void
host_fence(struct shim *s, enum shim_order o)
{
	(void)s;
	(void)o;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

uint64_t
host_random_next(uint64_t *state)
{
	uint64_t z;

	*state += 0x9e3779b97f4a7c15ull;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

int
host_proc_kill(struct shim *s, const struct shim_proc *p)
{
	(void)s;
	return sys_proc_kill(p);
}

uint64_t
host_clock_ns(struct shim *s)
{
	(void)s;
	return sys_clock_ns();
}

uint64_t
host_wall_ns(struct shim *s)
{
	(void)s;
	return sys_wall_ns();
}

void
host_sleep_ns(struct shim *s, uint64_t ns)
{
	(void)s;
	sys_sleep_ns(ns);
}

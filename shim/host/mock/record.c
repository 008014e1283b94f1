/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock's recording table: each entry counts, logs, answers from the script, or does the work. */
#include <stdio.h>

#include "priv.h"

/* One entry with a result. text: NULL, or an expression that is the logged text. */
#define RECORD(ret, op, params, args, text) \
	static ret \
	record_##op params \
	{ \
		char buf[80]; \
		int64_t v; \
	\
		(void)buf; \
		if (mock_enter(s, MOCK_OP_##op, text, &v)) \
			return (ret)v; \
		return mock_behaviour.op args; \
	}

#define RECORD_VOID(op, params, args, text) \
	static void \
	record_##op params \
	{ \
		char buf[80]; \
		int64_t v; \
	\
		(void)buf; \
		if (!mock_enter(s, MOCK_OP_##op, text, &v)) \
			mock_behaviour.op args; \
	}

static const char *
num(char *buf, uint64_t a)
{
	snprintf(buf, 80, "%llu", (unsigned long long)a);
	return buf;
}

static const char *
num2(char *buf, uint64_t a, uint64_t b)
{
	snprintf(buf, 80, "%llu,%llu", (unsigned long long)a, (unsigned long long)b);
	return buf;
}

RECORD_VOID(vlog, (struct shim *s, int level, const char *fmt, va_list ap), (s, level, fmt, ap),
	num(buf, (uint64_t)level))
RECORD(void *, malloc, (struct shim *s, size_t n), (s, n), num(buf, n))
RECORD_VOID(free, (struct shim *s, void *p), (s, p), NULL)
RECORD(uint64_t, cycles, (struct shim *s), (s), NULL)
RECORD(uint64_t, cycles_hz, (struct shim *s), (s), NULL)
RECORD(uint64_t, clock_ns, (struct shim *s), (s), NULL)
RECORD(uint64_t, wall_ns, (struct shim *s), (s), NULL)
RECORD_VOID(sleep_ns, (struct shim *s, uint64_t ns), (s, ns), num(buf, ns))
RECORD(uint64_t, random, (struct shim *s), (s), NULL)
RECORD(int, entropy, (struct shim *s, void *p, size_t n), (s, p, n), num(buf, n))
RECORD(int, proc_alive, (struct shim *s, const struct shim_proc *p), (s, p), num(buf, p->pid))
RECORD(int, proc_spawn, (struct shim *s, const char *const argv[], struct shim_proc *out),
	(s, argv, out), argv[0])
RECORD(int, proc_kill, (struct shim *s, const struct shim_proc *p), (s, p), num(buf, p->pid))
RECORD(int, zone_reserve, (struct shim *s, const char *name, size_t size, void **addr),
	(s, name, size, addr), name)
RECORD(int, zone_lookup, (struct shim *s, const char *name, void **addr, size_t *size),
	(s, name, addr, size), name)
RECORD(int, zone_free, (struct shim *s, const char *name), (s, name), name)
RECORD(int, ring_create, (struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out), (s, name, count, flags, out), name)
RECORD(int, ring_lookup, (struct shim *s, const char *name, struct rte_ring **out),
	(s, name, out), name)
RECORD_VOID(ring_free, (struct shim *s, struct rte_ring *r), (s, r), NULL)
RECORD(unsigned int, ring_enqueue_burst, (struct shim *s, struct rte_ring *r, void *const *objs,
	unsigned int n), (s, r, objs, n), num(buf, n))
RECORD(unsigned int, ring_dequeue_burst, (struct shim *s, struct rte_ring *r, void **objs,
	unsigned int n), (s, r, objs, n), num(buf, n))
RECORD(unsigned int, ring_take, (struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n,
	uint32_t mark), (s, r, m, n, mark), num(buf, n))
RECORD(unsigned int, ring_count, (struct shim *s, const struct rte_ring *r), (s, r), NULL)
RECORD(unsigned int, ring_capacity, (struct shim *s, const struct rte_ring *r), (s, r), NULL)
RECORD(int, ring_recover, (struct shim *s, struct rte_ring *r, enum shim_ring_side side), (s, r, side),
	num(buf, side))
RECORD(unsigned int, ring_put, (struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n),
	(s, e, m, n), num(buf, n))
RECORD(unsigned int, ring_get, (struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m,
	unsigned int n, uint32_t mark), (s, e, p, m, n, mark), num(buf, n))
RECORD(int, pool_create, (struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out), (s, name, n, data_room, out), name)
RECORD(int, pool_lookup, (struct shim *s, const char *name, struct shim_pool **out),
	(s, name, out), name)
RECORD_VOID(pool_free, (struct shim *s, struct shim_pool *p), (s, p), NULL)
RECORD(unsigned int, pool_size, (struct shim *s, const struct shim_pool *p), (s, p), NULL)
RECORD(unsigned int, pool_avail, (struct shim *s, const struct shim_pool *p), (s, p), NULL)
RECORD(uint16_t, pool_data_room, (struct shim *s, const struct shim_pool *p), (s, p), NULL)
RECORD(bool, pool_owns, (struct shim *s, const struct shim_pool *p, const void *m), (s, p, m), NULL)

static uint32_t
record_cache_id(const struct shim *s)
{
	int64_t v;

	/* The door itself is not changed, its record of calls is. */
	if (mock_enter((struct shim *)(uintptr_t)s, MOCK_OP_cache_id, NULL, &v))
		return (uint32_t)v;
	return mock_behaviour.cache_id(s);
}

RECORD(unsigned int, pool_sweep, (struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id),
	(s, p, mark, cache_id), num2(buf, mark, cache_id))
RECORD(struct rte_mbuf *, buf_alloc, (struct shim *s, struct shim_pool *p), (s, p), NULL)
RECORD_VOID(buf_release, (struct shim *s, struct rte_mbuf *m), (s, m), NULL)
RECORD(unsigned int, port_count, (struct shim *s), (s), NULL)
RECORD(int, port_info, (struct shim *s, uint16_t port, struct shim_port_info *info),
	(s, port, info), num(buf, port))
RECORD(int, port_configure, (struct shim *s, uint16_t port, const struct shim_port_conf *c),
	(s, port, c), num(buf, port))
RECORD(int, port_start, (struct shim *s, uint16_t port), (s, port), num(buf, port))
RECORD(int, port_stop, (struct shim *s, uint16_t port), (s, port), num(buf, port))
RECORD(int, port_mtu_get, (struct shim *s, uint16_t port, uint16_t *mtu), (s, port, mtu),
	num(buf, port))
RECORD(int, port_mtu_set, (struct shim *s, uint16_t port, uint16_t mtu), (s, port, mtu),
	num2(buf, port, mtu))
RECORD(int, port_stats, (struct shim *s, uint16_t port, struct shim_port_stats *st),
	(s, port, st), num(buf, port))
RECORD(int, port_link, (struct shim *s, uint16_t port, struct shim_port_link *l), (s, port, l),
	num(buf, port))
RECORD(int, port_promiscuous_get, (struct shim *s, uint16_t port), (s, port), num(buf, port))
RECORD(int, port_promiscuous_set, (struct shim *s, uint16_t port, bool on), (s, port, on),
	num2(buf, port, on))
RECORD(int, port_allmulticast_set, (struct shim *s, uint16_t port, bool on), (s, port, on),
	num2(buf, port, on))
RECORD(int, port_rss_key_get, (struct shim *s, uint16_t port, uint8_t *key, uint8_t *len),
	(s, port, key, len), num(buf, port))
RECORD(int, port_rss_key_set, (struct shim *s, uint16_t port, const uint8_t *key, uint8_t len),
	(s, port, key, len), num2(buf, port, len))
RECORD(int, port_reta_get, (struct shim *s, uint16_t port, uint16_t *queues, uint16_t n),
	(s, port, queues, n), num2(buf, port, n))
RECORD(int, port_reta_set, (struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n),
	(s, port, queues, n), num2(buf, port, n))
RECORD(uint16_t, rx_burst, (struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
	uint16_t n), (s, port, queue, m, n), num2(buf, port, queue))
RECORD(uint16_t, tx_burst, (struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
	uint16_t n), (s, port, queue, m, n), num2(buf, port, queue))
RECORD(uint64_t, load, (struct shim *s, const void *w, int size, enum shim_order o),
	(s, w, size, o), num2(buf, (uint64_t)size, o))
RECORD_VOID(store, (struct shim *s, void *w, int size, uint64_t v0, enum shim_order o),
	(s, w, size, v0, o), num2(buf, v0, o))
RECORD(bool, cas, (struct shim *s, void *w, int size, uint64_t *expect, uint64_t v0,
	enum shim_order o), (s, w, size, expect, v0, o), num2(buf, v0, o))
RECORD(uint64_t, fetch_add, (struct shim *s, void *w, int size, uint64_t v0, enum shim_order o),
	(s, w, size, v0, o), num2(buf, v0, o))
RECORD_VOID(fence, (struct shim *s, enum shim_order o), (s, o), num(buf, o))

const struct shim_ops mock_recorder = {
	.name = "mock",
#define MOCK_OP_ENTRY(op, kind, logged) .op = record_##op,
	MOCK_OPS(MOCK_OP_ENTRY)
#undef MOCK_OP_ENTRY
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The host binding: every call of shim.h through the backend's struct shim_ops (SHM-2). */
#ifndef NONIC_SHIM_HOST_INLINE_H
#define NONIC_SHIM_HOST_INLINE_H

#include <assert.h>
#include <errno.h>
#include <stdarg.h>

#include "../ring.h"
#include "buf.h"
#include "ops.h"

/* The backend's function; one that it did not fill is a programming error. */
#define SHIM_OP(s, op) (assert((s)->ops->op != NULL), (s)->ops->op)

/* How often a process called a device function that its role forbids (host binding only). */
static inline uint64_t
shim_role_violations(const struct shim *s)
{
	return s->role_violations;
}

/* 0 when the caller may change the device; else counts the violation and returns -EPERM. */
static inline int
shim_host_device_check(struct shim *s)
{
	if (s->role == SHIM_ROLE_PRIMARY)
		return 0;
	s->role_violations++;
	return -EPERM;
}

/* ---- log and memory ---- */

static inline void
shim_log(struct shim *s, int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	SHIM_OP(s, vlog)(s, level, fmt, ap);
	va_end(ap);
}

static inline void *
shim_malloc(struct shim *s, size_t n)
{
	return SHIM_OP(s, malloc)(s, n);
}

static inline void
shim_free(struct shim *s, void *p)
{
	if (p != NULL)
		SHIM_OP(s, free)(s, p);
}

/* ---- time ---- */

static inline uint64_t
shim_cycles(struct shim *s)
{
	return SHIM_OP(s, cycles)(s);
}

static inline uint64_t
shim_cycles_hz(struct shim *s)
{
	return SHIM_OP(s, cycles_hz)(s);
}

static inline uint64_t
shim_clock_ns(struct shim *s)
{
	return SHIM_OP(s, clock_ns)(s);
}

static inline uint64_t
shim_clock_sample(struct shim *s)
{
	s->now_ns = SHIM_OP(s, clock_ns)(s);
	return s->now_ns;
}

static inline uint64_t
shim_now_ns(const struct shim *s)
{
	return s->now_ns;
}

static inline uint32_t
shim_now_ms(const struct shim *s)
{
	return (uint32_t)(s->now_ns / 1000000);
}

static inline uint64_t
shim_wall_ns(struct shim *s)
{
	return SHIM_OP(s, wall_ns)(s);
}

static inline void
shim_sleep_ns(struct shim *s, uint64_t ns)
{
	SHIM_OP(s, sleep_ns)(s, ns);
}

/* ---- randomness ---- */

static inline uint64_t
shim_random(struct shim *s)
{
	return SHIM_OP(s, random)(s);
}

static inline int
shim_entropy(struct shim *s, void *buf, size_t n)
{
	return SHIM_OP(s, entropy)(s, buf, n);
}

/* ---- processes ---- */

static inline enum shim_role
shim_role(const struct shim *s)
{
	return s->role;
}

static inline struct shim_proc
shim_self(const struct shim *s)
{
	return s->self;
}

static inline int
shim_proc_alive(struct shim *s, const struct shim_proc *p)
{
	return SHIM_OP(s, proc_alive)(s, p);
}

static inline int
shim_proc_spawn(struct shim *s, const char *const argv[], struct shim_proc *out)
{
	return SHIM_OP(s, proc_spawn)(s, argv, out);
}

static inline int
shim_proc_kill(struct shim *s, const struct shim_proc *p)
{
	return SHIM_OP(s, proc_kill)(s, p);
}

/* ---- zones ---- */

static inline int
shim_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	return SHIM_OP(s, zone_reserve)(s, name, size, addr);
}

static inline int
shim_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size)
{
	return SHIM_OP(s, zone_lookup)(s, name, addr, size);
}

static inline int
shim_zone_free(struct shim *s, const char *name)
{
	return SHIM_OP(s, zone_free)(s, name);
}

/* ---- rings ---- */

static inline int
shim_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out)
{
	return SHIM_OP(s, ring_create)(s, name, count, flags, out);
}

static inline int
shim_ring_lookup(struct shim *s, const char *name, struct rte_ring **out)
{
	return SHIM_OP(s, ring_lookup)(s, name, out);
}

static inline void
shim_ring_free(struct shim *s, struct rte_ring *r)
{
	if (r != NULL)
		SHIM_OP(s, ring_free)(s, r);
}

static inline unsigned int
shim_ring_enqueue_burst(struct shim *s, struct rte_ring *r, void *const *objs, unsigned int n)
{
	return SHIM_OP(s, ring_enqueue_burst)(s, r, objs, n);
}

static inline unsigned int
shim_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs, unsigned int n)
{
	return SHIM_OP(s, ring_dequeue_burst)(s, r, objs, n);
}

static inline unsigned int
shim_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	return SHIM_OP(s, ring_take)(s, r, m, n, mark);
}

static inline unsigned int
shim_ring_count(struct shim *s, const struct rte_ring *r)
{
	return SHIM_OP(s, ring_count)(s, r);
}

static inline unsigned int
shim_ring_capacity(struct shim *s, const struct rte_ring *r)
{
	return SHIM_OP(s, ring_capacity)(s, r);
}

static inline int
shim_ring_recover(struct shim *s, struct rte_ring *r, enum shim_ring_side side)
{
	return SHIM_OP(s, ring_recover)(s, r, side);
}

static inline int
shim_ring_attach(struct shim *s, struct shim_ring_end *e, struct rte_ring *r, const char *name, uint32_t count)
{
	(void)s;
	return ring_attach(e, r, name, count);
}

static inline int
shim_ring_succeed(struct shim *s, struct shim_ring_end *e, enum shim_ring_side side)
{
	(void)s;
	return ring_succeed(e, side);
}

static inline unsigned int
shim_ring_fill(struct shim *s, const struct shim_ring_end *e)
{
	(void)s;
	return ring_fill(e);
}

static inline unsigned int
shim_ring_put(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n)
{
	return SHIM_OP(s, ring_put)(s, e, m, n);
}

static inline unsigned int
shim_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	return SHIM_OP(s, ring_get)(s, e, p, m, n, mark);
}

/* ---- pools and buffers ---- */

static inline int
shim_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out)
{
	return SHIM_OP(s, pool_create)(s, name, n, data_room, out);
}

static inline int
shim_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	return SHIM_OP(s, pool_lookup)(s, name, out);
}

static inline void
shim_pool_free(struct shim *s, struct shim_pool *p)
{
	if (p != NULL)
		SHIM_OP(s, pool_free)(s, p);
}

static inline unsigned int
shim_pool_size(struct shim *s, const struct shim_pool *p)
{
	return SHIM_OP(s, pool_size)(s, p);
}

static inline unsigned int
shim_pool_avail(struct shim *s, const struct shim_pool *p)
{
	return SHIM_OP(s, pool_avail)(s, p);
}

static inline uint16_t
shim_pool_data_room(struct shim *s, const struct shim_pool *p)
{
	return SHIM_OP(s, pool_data_room)(s, p);
}

static inline bool
shim_pool_owns(struct shim *s, const struct shim_pool *p, const void *m)
{
	return SHIM_OP(s, pool_owns)(s, p, m);
}

static inline uint32_t
shim_cache_id(const struct shim *s)
{
	return SHIM_OP(s, cache_id)(s);
}

static inline unsigned int
shim_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	return SHIM_OP(s, pool_sweep)(s, p, mark, cache_id);
}

static inline struct rte_mbuf *
shim_buf_alloc(struct shim *s, struct shim_pool *p)
{
	return host_buf_alloc(s, p);
}

static inline int
shim_buf_alloc_bulk(struct shim *s, struct shim_pool *p, struct rte_mbuf **m, unsigned int n)
{
	return host_buf_alloc_bulk(s, p, m, n);
}

static inline void
shim_buf_free(struct shim *s, struct rte_mbuf *m)
{
	host_buf_free(s, m);
}

static inline void
shim_buf_free_bulk(struct shim *s, struct rte_mbuf **m, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		host_buf_free(s, m[i]);
}

static inline void
shim_buf_ref(struct shim *s, struct rte_mbuf *m, int16_t v)
{
	(void)s;
	rte_pktmbuf_refcnt_update(m, v);
}

static inline struct rte_mbuf *
shim_buf_clone(struct shim *s, struct rte_mbuf *m, struct shim_pool *p)
{
	return host_buf_clone(s, m, p);
}

static inline struct rte_mbuf *
shim_buf_copy(struct shim *s, const struct rte_mbuf *m, struct shim_pool *p, uint32_t off,
	uint32_t len)
{
	return host_buf_copy(s, m, p, off, len);
}

static inline int
shim_buf_attach_ext(struct shim *s, struct rte_mbuf *m, void *addr, uint16_t len,
	void (*free_cb)(void *addr, void *opaque), void *opaque)
{
	(void)s;
	return host_buf_attach_ext(m, addr, len, free_cb, opaque);
}

static inline int
shim_buf_linearize(struct shim *s, struct rte_mbuf *m)
{
	return host_buf_linearize(s, m);
}

/* ---- ports ---- */

static inline unsigned int
shim_port_count(struct shim *s)
{
	return SHIM_OP(s, port_count)(s);
}

static inline int
shim_port_info(struct shim *s, uint16_t port, struct shim_port_info *info)
{
	return SHIM_OP(s, port_info)(s, port, info);
}

static inline int
shim_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_configure)(s, port, c);
}

static inline int
shim_port_start(struct shim *s, uint16_t port)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_start)(s, port);
}

static inline int
shim_port_stop(struct shim *s, uint16_t port)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_stop)(s, port);
}

static inline int
shim_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu)
{
	return SHIM_OP(s, port_mtu_get)(s, port, mtu);
}

static inline int
shim_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_mtu_set)(s, port, mtu);
}

static inline int
shim_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st)
{
	return SHIM_OP(s, port_stats)(s, port, st);
}

static inline int
shim_port_link(struct shim *s, uint16_t port, struct shim_port_link *l)
{
	return SHIM_OP(s, port_link)(s, port, l);
}

static inline int
shim_port_promiscuous_get(struct shim *s, uint16_t port)
{
	return SHIM_OP(s, port_promiscuous_get)(s, port);
}

static inline int
shim_port_promiscuous_set(struct shim *s, uint16_t port, bool on)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_promiscuous_set)(s, port, on);
}

static inline int
shim_port_allmulticast_set(struct shim *s, uint16_t port, bool on)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_allmulticast_set)(s, port, on);
}

static inline int
shim_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len)
{
	return SHIM_OP(s, port_rss_key_get)(s, port, key, len);
}

static inline int
shim_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_rss_key_set)(s, port, key, len);
}

static inline int
shim_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n)
{
	return SHIM_OP(s, port_reta_get)(s, port, queues, n);
}

static inline int
shim_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n)
{
	int rc = shim_host_device_check(s);

	return rc != 0 ? rc : SHIM_OP(s, port_reta_set)(s, port, queues, n);
}

static inline uint16_t
shim_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	return SHIM_OP(s, rx_burst)(s, port, queue, m, n);
}

static inline uint16_t
shim_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	return SHIM_OP(s, tx_burst)(s, port, queue, m, n);
}

/* ---- shared words ---- */

static inline uint32_t
shim_load32(struct shim *s, const uint32_t *w, enum shim_order o)
{
	return (uint32_t)SHIM_OP(s, load)(s, w, 4, o);
}

static inline void
shim_store32(struct shim *s, uint32_t *w, uint32_t v, enum shim_order o)
{
	SHIM_OP(s, store)(s, w, 4, v, o);
}

static inline bool
shim_cas32(struct shim *s, uint32_t *w, uint32_t *expect, uint32_t v, enum shim_order o)
{
	uint64_t seen = *expect;
	bool done = SHIM_OP(s, cas)(s, w, 4, &seen, v, o);

	if (!done)
		*expect = (uint32_t)seen;
	return done;
}

static inline uint32_t
shim_fetch_add32(struct shim *s, uint32_t *w, uint32_t v, enum shim_order o)
{
	return (uint32_t)SHIM_OP(s, fetch_add)(s, w, 4, v, o);
}

static inline uint64_t
shim_load64(struct shim *s, const uint64_t *w, enum shim_order o)
{
	return SHIM_OP(s, load)(s, w, 8, o);
}

static inline void
shim_store64(struct shim *s, uint64_t *w, uint64_t v, enum shim_order o)
{
	SHIM_OP(s, store)(s, w, 8, v, o);
}

static inline bool
shim_cas64(struct shim *s, uint64_t *w, uint64_t *expect, uint64_t v, enum shim_order o)
{
	uint64_t seen = *expect;
	bool done = SHIM_OP(s, cas)(s, w, 8, &seen, v, o);

	if (!done)
		*expect = seen;
	return done;
}

static inline uint64_t
shim_fetch_add64(struct shim *s, uint64_t *w, uint64_t v, enum shim_order o)
{
	return SHIM_OP(s, fetch_add)(s, w, 8, v, o);
}

static inline void
shim_fence(struct shim *s, enum shim_order o)
{
	SHIM_OP(s, fence)(s, o);
}

#endif

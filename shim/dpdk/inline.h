/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dpdk binding: static inline over rte_*, nothing added on the way of a packet (SHM-3; always
 * inline there, because a compiler that inlines in two steps lost nine instructions a ring dequeue).
 * Calls that are rare and long are in shim/dpdk/dpdk.h.
 */
#ifndef NONIC_SHIM_DPDK_INLINE_H
#define NONIC_SHIM_DPDK_INLINE_H

#include <errno.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_random.h>
#include <rte_ring.h>
#include <stdarg.h>
#include <stdlib.h>

#include "../copy.h"
#include "../freelist.h"
#include "../ring.h"
#include "../sys.h"
#include "dpdk.h"

/* One thread's door. */
struct shim {
	enum shim_role role;
	struct shim_proc self;
	uint64_t now_ns;
	bool owns_eal; /* made by shim_dpdk_open: its close ends the EAL */
	struct dpdk_shared *shared;
};

/* A pool is the mempool itself. */
static inline struct rte_mempool *
shim_dpdk_mempool(const struct shim_pool *p)
{
	return (struct rte_mempool *)(uintptr_t)p;
}

/* ---- log and memory ---- */

static inline void
shim_log(struct shim *s, int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dpdk_vlog(s, level, fmt, ap);
	va_end(ap);
}

/* Not rte_malloc: that heap is shared by all processes, and what a killed one held would stay held. */
static inline void *
shim_malloc(struct shim *s, size_t n)
{
	(void)s;
	return sys_malloc(n);
}

static inline void
shim_free(struct shim *s, void *p)
{
	(void)s;
	free(p);
}

/* ---- time ---- */

static inline uint64_t
shim_cycles(struct shim *s)
{
	(void)s;
	return rte_rdtsc();
}

static inline uint64_t
shim_cycles_hz(struct shim *s)
{
	(void)s;
	return rte_get_tsc_hz();
}

static inline uint64_t
shim_clock_ns(struct shim *s)
{
	(void)s;
	return sys_clock_ns();
}

static __rte_always_inline uint64_t
shim_clock_sample(struct shim *s)
{
	s->now_ns = sys_clock_ns();
	return s->now_ns;
}

static __rte_always_inline uint64_t
shim_now_ns(const struct shim *s)
{
	return s->now_ns;
}

static __rte_always_inline uint32_t
shim_now_ms(const struct shim *s)
{
	return (uint32_t)(s->now_ns / 1000000);
}

static inline uint64_t
shim_wall_ns(struct shim *s)
{
	(void)s;
	return sys_wall_ns();
}

static inline void
shim_sleep_ns(struct shim *s, uint64_t ns)
{
	(void)s;
	sys_sleep_ns(ns);
}

/* ---- randomness ---- */

static inline uint64_t
shim_random(struct shim *s)
{
	(void)s;
	return rte_rand();
}

static inline int
shim_entropy(struct shim *s, void *buf, size_t n)
{
	(void)s;
	return sys_entropy(buf, n);
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
	(void)s;
	return sys_proc_alive(p);
}

static inline int
shim_proc_spawn(struct shim *s, const char *const argv[], struct shim_proc *out)
{
	(void)s;
	return sys_proc_spawn(argv, out);
}

static inline int
shim_proc_kill(struct shim *s, const struct shim_proc *p)
{
	(void)s;
	return sys_proc_kill(p);
}

/* ---- zones ---- */

static inline int
shim_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	(void)s;
	return dpdk_zone_reserve(name, size, addr);
}

static inline int
shim_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size)
{
	(void)s;
	return dpdk_zone_lookup(name, addr, size);
}

static inline int
shim_zone_free(struct shim *s, const char *name)
{
	(void)s;
	return dpdk_zone_free(name);
}

/* ---- rings ---- */

static inline int
shim_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out)
{
	return dpdk_ring_create(s, name, count, flags, out);
}

static inline int
shim_ring_lookup(struct shim *s, const char *name, struct rte_ring **out)
{
	(void)s;
	*out = rte_ring_lookup(name);
	return *out != NULL ? 0 : -ENOENT;
}

static inline void
shim_ring_free(struct shim *s, struct rte_ring *r)
{
	dpdk_ring_free(s, r);
}

static __rte_always_inline unsigned int
shim_ring_enqueue_burst(struct shim *s, struct rte_ring *r, void *const *objs, unsigned int n)
{
	(void)s;
	return rte_ring_enqueue_burst(r, objs, n, NULL);
}

static __rte_always_inline unsigned int
shim_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs, unsigned int n)
{
	(void)s;
	return rte_ring_dequeue_burst(r, objs, n, NULL);
}

static __rte_always_inline unsigned int
shim_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	(void)s;
	return ring_take(r, m, n, mark);
}

static __rte_always_inline unsigned int
shim_ring_count(struct shim *s, const struct rte_ring *r)
{
	(void)s;
	return rte_ring_count(r);
}

static inline unsigned int
shim_ring_capacity(struct shim *s, const struct rte_ring *r)
{
	(void)s;
	return rte_ring_get_capacity(r);
}

static inline int
shim_ring_recover(struct shim *s, struct rte_ring *r, enum shim_ring_side side)
{
	(void)s;
	return ring_recover(r, side);
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
	(void)s;
	return ring_put(e, m, n);
}

static inline unsigned int
shim_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	const struct ring_taker t = { .s = s, .pool = p, .owns = shim_pool_owns, .room = shim_pool_data_room(s, p), .mark = mark };

	return ring_get(e, &t, m, n);
}

/* ---- pools and buffers ---- */

static inline int
shim_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out)
{
	(void)s;
	return dpdk_pool_create(name, n, data_room, out);
}

static inline int
shim_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	return dpdk_pool_lookup(s, name, out);
}

static inline void
shim_pool_free(struct shim *s, struct shim_pool *p)
{
	(void)s;
	rte_mempool_free(shim_dpdk_mempool(p));
}

static inline unsigned int
shim_pool_size(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return shim_dpdk_mempool(p)->size;
}

static inline unsigned int
shim_pool_avail(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return rte_mempool_avail_count(shim_dpdk_mempool(p));
}

static inline uint16_t
shim_pool_data_room(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return rte_pktmbuf_data_room_size(shim_dpdk_mempool(p));
}

static inline bool
shim_pool_owns(struct shim *s, const struct shim_pool *p, const void *m)
{
	(void)s;
	return freelist_owns(((const struct rte_mempool *)p)->pool_data, m);
}

static inline uint32_t
shim_cache_id(const struct shim *s)
{
	(void)s;
	return rte_lcore_id();
}

static inline unsigned int
shim_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	return dpdk_pool_sweep(s, p, mark, cache_id);
}

/* rte_pktmbuf_alloc, past the mempool's table of handlers: with the note of who has the buffer until it is stamped. */
static __rte_always_inline struct rte_mbuf *
shim_buf_alloc(struct shim *s, struct shim_pool *p)
{
	void *m;

	(void)s;
	if (freelist_get(shim_dpdk_mempool(p)->pool_data, rte_lcore_id(), &m, 1, true) != 0)
		return NULL;
	rte_pktmbuf_reset(m);
	return m;
}

static __rte_always_inline int
shim_buf_alloc_bulk(struct shim *s, struct shim_pool *p, struct rte_mbuf **m, unsigned int n)
{
	unsigned int i;

	(void)s;
	if (freelist_get(shim_dpdk_mempool(p)->pool_data, rte_lcore_id(), (void **)m, n, true) != 0)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		rte_pktmbuf_reset(m[i]);
	return 0;
}

static __rte_always_inline void
shim_buf_free(struct shim *s, struct rte_mbuf *m)
{
	(void)s;
	rte_pktmbuf_free(m);
}

static __rte_always_inline void
shim_buf_free_bulk(struct shim *s, struct rte_mbuf **m, unsigned int n)
{
	(void)s;
	rte_pktmbuf_free_bulk(m, n);
}

static __rte_always_inline void
shim_buf_ref(struct shim *s, struct rte_mbuf *m, int16_t v)
{
	(void)s;
	rte_pktmbuf_refcnt_update(m, v);
}

static inline struct rte_mbuf *
shim_buf_clone(struct shim *s, struct rte_mbuf *m, struct shim_pool *p)
{
	return copy_clone(s, m, p, shim_buf_alloc, shim_buf_free);
}

static inline struct rte_mbuf *
shim_buf_copy(struct shim *s, const struct rte_mbuf *m, struct shim_pool *p, uint32_t off,
	uint32_t len)
{
	return copy_deep(s, m, p, off, len, shim_buf_alloc, shim_buf_free);
}

static inline int
shim_buf_attach_ext(struct shim *s, struct rte_mbuf *m, void *addr, uint16_t len,
	void (*free_cb)(void *addr, void *opaque), void *opaque)
{
	struct rte_mbuf_ext_shared_info *info;

	(void)s;
	/* The helper's own check subtracts first; a length below the record would wrap under addr. */
	if (len < sizeof(*info) + sizeof(uintptr_t))
		return -EINVAL;
	info = rte_pktmbuf_ext_shinfo_init_helper(addr, &len, free_cb, opaque);
	if (info == NULL)
		return -EINVAL;
	rte_pktmbuf_attach_extbuf(m, addr, rte_mem_virt2iova(addr), len, info);
	return 0;
}

static inline int
shim_buf_linearize(struct shim *s, struct rte_mbuf *m)
{
	(void)s;
	return rte_pktmbuf_linearize(m);
}

/* ---- ports ---- */

static inline unsigned int
shim_port_count(struct shim *s)
{
	(void)s;
	return rte_eth_dev_count_avail();
}

static inline int
shim_port_info(struct shim *s, uint16_t port, struct shim_port_info *info)
{
	return dpdk_port_info(s, port, info);
}

static inline int
shim_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c)
{
	return dpdk_port_configure(s, port, c);
}

static inline int
shim_port_start(struct shim *s, uint16_t port)
{
	return dpdk_port_start(s, port);
}

static inline int
shim_port_stop(struct shim *s, uint16_t port)
{
	return dpdk_port_stop(s, port);
}

static inline int
shim_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu)
{
	(void)s;
	return rte_eth_dev_get_mtu(port, mtu);
}

static inline int
shim_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu)
{
	return s->role == SHIM_ROLE_PRIMARY ? rte_eth_dev_set_mtu(port, mtu) : -EPERM;
}

static inline int
shim_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st)
{
	(void)s;
	return dpdk_port_stats(port, st);
}

static inline int
shim_port_link(struct shim *s, uint16_t port, struct shim_port_link *l)
{
	(void)s;
	return dpdk_port_link(port, l);
}

static inline int
shim_port_promiscuous_get(struct shim *s, uint16_t port)
{
	(void)s;
	return rte_eth_dev_is_valid_port(port) ? rte_eth_promiscuous_get(port) : -ENODEV;
}

static inline int
shim_port_promiscuous_set(struct shim *s, uint16_t port, bool on)
{
	if (s->role != SHIM_ROLE_PRIMARY)
		return -EPERM;
	return on ? rte_eth_promiscuous_enable(port) : rte_eth_promiscuous_disable(port);
}

static inline int
shim_port_allmulticast_set(struct shim *s, uint16_t port, bool on)
{
	if (s->role != SHIM_ROLE_PRIMARY)
		return -EPERM;
	return on ? rte_eth_allmulticast_enable(port) : rte_eth_allmulticast_disable(port);
}

static inline int
shim_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len)
{
	(void)s;
	return dpdk_port_rss_key_get(port, key, len);
}

static inline int
shim_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len)
{
	return s->role == SHIM_ROLE_PRIMARY ? dpdk_port_rss_key_set(port, key, len) : -EPERM;
}

static inline int
shim_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n)
{
	(void)s;
	return dpdk_port_reta_get(port, queues, n);
}

static inline int
shim_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n)
{
	return s->role == SHIM_ROLE_PRIMARY ? dpdk_port_reta_set(port, queues, n) : -EPERM;
}

static __rte_always_inline uint16_t
shim_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	(void)s;
	return rte_eth_rx_burst(port, queue, m, n);
}

static __rte_always_inline uint16_t
shim_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	(void)s;
	return rte_eth_tx_burst(port, queue, m, n);
}

/* ---- shared words ---- */

/* The order of a failed compare-and-swap, which only reads: o without its release half. */
#define SHIM_DPDK_CAS_FAIL(o) \
	((o) == SHIM_SEQ_CST ? __ATOMIC_SEQ_CST : \
	(o) == SHIM_ACQUIRE || (o) == SHIM_ACQ_REL ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED)

static __rte_always_inline uint32_t
shim_load32(struct shim *s, const uint32_t *w, enum shim_order o)
{
	(void)s;
	return __atomic_load_n(w, (int)o);
}

static __rte_always_inline void
shim_store32(struct shim *s, uint32_t *w, uint32_t v, enum shim_order o)
{
	(void)s;
	__atomic_store_n(w, v, (int)o);
}

static __rte_always_inline bool
shim_cas32(struct shim *s, uint32_t *w, uint32_t *expect, uint32_t v, enum shim_order o)
{
	(void)s;
	return __atomic_compare_exchange_n(w, expect, v, false, (int)o, SHIM_DPDK_CAS_FAIL(o));
}

static __rte_always_inline uint32_t
shim_fetch_add32(struct shim *s, uint32_t *w, uint32_t v, enum shim_order o)
{
	(void)s;
	return __atomic_fetch_add(w, v, (int)o);
}

static __rte_always_inline uint64_t
shim_load64(struct shim *s, const uint64_t *w, enum shim_order o)
{
	(void)s;
	return __atomic_load_n(w, (int)o);
}

static __rte_always_inline void
shim_store64(struct shim *s, uint64_t *w, uint64_t v, enum shim_order o)
{
	(void)s;
	__atomic_store_n(w, v, (int)o);
}

static __rte_always_inline bool
shim_cas64(struct shim *s, uint64_t *w, uint64_t *expect, uint64_t v, enum shim_order o)
{
	(void)s;
	return __atomic_compare_exchange_n(w, expect, v, false, (int)o, SHIM_DPDK_CAS_FAIL(o));
}

static __rte_always_inline uint64_t
shim_fetch_add64(struct shim *s, uint64_t *w, uint64_t v, enum shim_order o)
{
	(void)s;
	return __atomic_fetch_add(w, v, (int)o);
}

static __rte_always_inline void
shim_fence(struct shim *s, enum shim_order o)
{
	(void)s;
	__atomic_thread_fence((int)o);
}

#endif

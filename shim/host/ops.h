/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host binding's table: one function for each call of shim.h, same arguments, same contract.
 * A backend (mock, sim, posix) fills a struct shim_ops and embeds struct shim as its first member or
 * points ctx at its own state. An op that is NULL is a programming error: host/inline.h asserts.
 */
#ifndef NONIC_SHIM_HOST_OPS_H
#define NONIC_SHIM_HOST_OPS_H

#include <stdarg.h>

#include "../types.h"

struct shim_ops {
	const char *name; /* "mock", "sim", "posix" */

	void (*vlog)(struct shim *s, int level, const char *fmt, va_list ap);
	void *(*malloc)(struct shim *s, size_t n);
	void (*free)(struct shim *s, void *p);

	uint64_t (*cycles)(struct shim *s);
	uint64_t (*cycles_hz)(struct shim *s);
	uint64_t (*clock_ns)(struct shim *s);
	uint64_t (*wall_ns)(struct shim *s);
	void (*sleep_ns)(struct shim *s, uint64_t ns);

	uint64_t (*random)(struct shim *s);
	int (*entropy)(struct shim *s, void *buf, size_t n);

	int (*proc_alive)(struct shim *s, const struct shim_proc *p);
	int (*proc_spawn)(struct shim *s, const char *const argv[], struct shim_proc *out);
	int (*proc_kill)(struct shim *s, const struct shim_proc *p);

	int (*zone_reserve)(struct shim *s, const char *name, size_t size, void **addr);
	int (*zone_lookup)(struct shim *s, const char *name, void **addr, size_t *size);
	int (*zone_free)(struct shim *s, const char *name);

	int (*ring_create)(struct shim *s, const char *name, unsigned int count, unsigned int flags,
		struct rte_ring **out);
	int (*ring_lookup)(struct shim *s, const char *name, struct rte_ring **out);
	void (*ring_free)(struct shim *s, struct rte_ring *r);
	unsigned int (*ring_enqueue_burst)(struct shim *s, struct rte_ring *r, void *const *objs,
		unsigned int n);
	unsigned int (*ring_dequeue_burst)(struct shim *s, struct rte_ring *r, void **objs,
		unsigned int n);
	unsigned int (*ring_take)(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n,
		uint32_t mark);
	unsigned int (*ring_count)(struct shim *s, const struct rte_ring *r);
	unsigned int (*ring_capacity)(struct shim *s, const struct rte_ring *r);
	int (*ring_recover)(struct shim *s, struct rte_ring *r, enum shim_ring_side side);

	unsigned int (*ring_put)(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n);
	unsigned int (*ring_get)(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m,
		unsigned int n, uint32_t mark);

	int (*pool_create)(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
		struct shim_pool **out);
	int (*pool_lookup)(struct shim *s, const char *name, struct shim_pool **out);
	void (*pool_free)(struct shim *s, struct shim_pool *p);
	unsigned int (*pool_size)(struct shim *s, const struct shim_pool *p);
	unsigned int (*pool_avail)(struct shim *s, const struct shim_pool *p);
	uint16_t (*pool_data_room)(struct shim *s, const struct shim_pool *p);
	bool (*pool_owns)(struct shim *s, const struct shim_pool *p, const void *m);
	uint32_t (*cache_id)(const struct shim *s);
	unsigned int (*pool_sweep)(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id);
	struct rte_mbuf *(*buf_alloc)(struct shim *s, struct shim_pool *p);
	/* One segment whose reference count reached zero, detached from what it pointed at. */
	void (*buf_release)(struct shim *s, struct rte_mbuf *m);

	unsigned int (*port_count)(struct shim *s);
	int (*port_info)(struct shim *s, uint16_t port, struct shim_port_info *info);
	int (*port_configure)(struct shim *s, uint16_t port, const struct shim_port_conf *c);
	int (*port_start)(struct shim *s, uint16_t port);
	int (*port_stop)(struct shim *s, uint16_t port);
	int (*port_mtu_get)(struct shim *s, uint16_t port, uint16_t *mtu);
	int (*port_mtu_set)(struct shim *s, uint16_t port, uint16_t mtu);
	int (*port_stats)(struct shim *s, uint16_t port, struct shim_port_stats *st);
	int (*port_link)(struct shim *s, uint16_t port, struct shim_port_link *l);
	int (*port_promiscuous_get)(struct shim *s, uint16_t port);
	int (*port_promiscuous_set)(struct shim *s, uint16_t port, bool on);
	int (*port_allmulticast_set)(struct shim *s, uint16_t port, bool on);
	int (*port_rss_key_get)(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len);
	int (*port_rss_key_set)(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len);
	int (*port_reta_get)(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n);
	int (*port_reta_set)(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n);
	uint16_t (*rx_burst)(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
		uint16_t n);
	uint16_t (*tx_burst)(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
		uint16_t n);

	/* Shared words; size is 4 or 8, values are zero-extended. */
	uint64_t (*load)(struct shim *s, const void *w, int size, enum shim_order o);
	void (*store)(struct shim *s, void *w, int size, uint64_t v, enum shim_order o);
	bool (*cas)(struct shim *s, void *w, int size, uint64_t *expect, uint64_t v,
		enum shim_order o);
	uint64_t (*fetch_add)(struct shim *s, void *w, int size, uint64_t v, enum shim_order o);
	void (*fence)(struct shim *s, enum shim_order o);
};

/* One process's door in the host binding. Made by the backend, never by core/. */
struct shim {
	const struct shim_ops *ops;
	void *ctx;              /* the backend's own */
	enum shim_role role;
	struct shim_proc self;
	uint64_t now_ns;        /* the last shim_clock_sample */
	uint64_t role_violations;
};

#endif

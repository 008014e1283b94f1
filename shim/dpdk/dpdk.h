/* SPDX-License-Identifier: BSD-3-Clause */
/* The dpdk binding's rare calls, out of line; each is the shim_* function of its name in shim.h. */
#ifndef NONIC_SHIM_DPDK_DPDK_H
#define NONIC_SHIM_DPDK_DPDK_H

#include <stdarg.h>

#include "../types.h"

#define DPDK_RINGS 8192u

/*
 * What the processes of one bed must know of ports, rings and pools and DPDK has no call for. In a memzone of the
 * primary's; written by the primary only, but for rings, which whoever makes one notes here.
 */
struct dpdk_shared {
	uint32_t started[SHIM_MAX_PORTS];
	uint16_t nb_rx_queues[SHIM_MAX_PORTS], nb_tx_queues[SHIM_MAX_PORTS];
	uint64_t rx_enabled[SHIM_MAX_PORTS], tx_enabled[SHIM_MAX_PORTS];
	int32_t handler_index; /* of the pools, in the primary's program */
	struct rte_ring *ring[DPDK_RINGS]; /* NULL: none; what a sweep must look into */
	const struct rte_memzone *ring_zone[DPDK_RINGS]; /* and its memory, whatever the ring says; NULL: not yet noted */
};

/* DPDK's rte_errno as our negative errno: a shortage has one name. */
int dpdk_err(void);

void dpdk_vlog(struct shim *s, int level, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

int dpdk_zone_reserve(const char *name, size_t size, void **addr);
int dpdk_zone_lookup(const char *name, void **addr, size_t *size);
int dpdk_zone_free(const char *name);
int dpdk_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out);
void dpdk_ring_free(struct shim *s, struct rte_ring *r);

/* When a door opens: the field of the marks, the pools' handler. first: the bed begins. -EPROTO and others, logged. */
int dpdk_pools_attach(struct shim *s, bool first);
/* 0 if the handler of that number is ours; else -EPROTO, with a log line that names both. */
int dpdk_pool_check(struct shim *s, const char *name, int index);
int dpdk_pool_create(const char *name, unsigned int n, uint16_t data_room, struct shim_pool **out);
int dpdk_pool_lookup(struct shim *s, const char *name, struct shim_pool **out);
unsigned int dpdk_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id);

int dpdk_port_info(struct shim *s, uint16_t port, struct shim_port_info *info);
int dpdk_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c);
int dpdk_port_start(struct shim *s, uint16_t port);
int dpdk_port_stop(struct shim *s, uint16_t port);
int dpdk_port_stats(uint16_t port, struct shim_port_stats *st);
int dpdk_port_link(uint16_t port, struct shim_port_link *l);
int dpdk_port_rss_key_get(uint16_t port, uint8_t *key, uint8_t *len);
int dpdk_port_rss_key_set(uint16_t port, const uint8_t *key, uint8_t len);
int dpdk_port_reta_get(uint16_t port, uint16_t *queues, uint16_t n);
int dpdk_port_reta_set(uint16_t port, const uint16_t *queues, uint16_t n);

#endif

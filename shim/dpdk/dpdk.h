/* SPDX-License-Identifier: BSD-3-Clause */
/* The dpdk binding's rare calls, out of line; each is the shim_* function of its name in shim.h. */
#ifndef NONIC_SHIM_DPDK_DPDK_H
#define NONIC_SHIM_DPDK_DPDK_H

#include <stdarg.h>

#include "../types.h"

/*
 * What the processes of one bed must know of a port and DPDK has no call for. In a memzone of the
 * primary's; written by the primary only.
 */
struct dpdk_shared {
	uint32_t started[SHIM_MAX_PORTS];
	uint16_t nb_rx_queues[SHIM_MAX_PORTS], nb_tx_queues[SHIM_MAX_PORTS];
	uint64_t rx_enabled[SHIM_MAX_PORTS], tx_enabled[SHIM_MAX_PORTS];
};

void dpdk_vlog(struct shim *s, int level, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

int dpdk_zone_reserve(const char *name, size_t size, void **addr);
int dpdk_zone_lookup(const char *name, void **addr, size_t *size);
int dpdk_zone_free(const char *name);
int dpdk_ring_create(const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out);
int dpdk_pool_create(const char *name, unsigned int n, uint16_t data_room, struct shim_pool **out);
unsigned int dpdk_pool_sweep(struct shim_pool *p, uint32_t mark, uint32_t cache_id);

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Routing table: longest prefix wins; connected prefixes, static routes and RA default routers in one table. */
#ifndef NONIC_STACK_IP_ROUTE_H
#define NONIC_STACK_IP_ROUTE_H

#include "ip.h"

#define ROUTE_MAX 1024

enum route_origin { ROUTE_CONNECTED, ROUTE_STATIC, ROUTE_RA };

struct route {
	union ip_addr dst, gateway; /* gateway any: on link */
	struct netif *nif;
	uint8_t family, prefix_len, origin;
	bool has_gateway;
	uint16_t mtu;               /* follows the interface (MTU-6) */
	uint64_t expires_ns;        /* RA; UINT64_MAX otherwise */
};

struct route_table {
	struct route *routes;       /* sorted: family, longest prefix first; ROUTE_MAX */
	unsigned int count;
	uint32_t gen;               /* grows with every change of routes, addresses, MTUs */
};

int route_table_init(struct stack *s);
void route_table_release(struct stack *s);
/*
 * 0, -EEXIST, -ENOSPC. Routers: ROUTE_RA routes to one destination that differ in gateway or interface stand side by side.
 */
int route_insert(struct stack *s, const struct route *r);
int route_remove(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len, enum route_origin o);
/* Removes the one route with r's family, dst, prefix_len, origin, gateway and nif: one of several routers. -ENOENT. */
int route_withdraw(struct stack *s, const struct route *r);
/* Best route; nif restricts. RA routers that are unreachable come last. NULL: none. */
const struct route *route_lookup(const struct stack *s, int family, const union ip_addr *dst, const struct netif *nif);
void route_remove_netif(struct stack *s, const struct netif *nif);
/* The interface's MTU changed: its routes follow, the generation grows. */
void route_netif_mtu(struct stack *s, const struct netif *nif);
void route_touch(struct stack *s); /* something cached paths depend on has changed */
/* Walks: the i-th route or NULL. */
const struct route *route_at(const struct stack *s, unsigned int i);

#endif

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
	uint16_t failed;            /* times the gateway did not answer: RA routers take turns by it */
	uint64_t expires_ns;        /* RA; UINT64_MAX otherwise */
};

/* Routes of one family and prefix length: a stretch of the sorted array. */
struct route_group {
	uint16_t start, count;
	uint8_t family, prefix_len;
};

#define ROUTE_GROUPS (33 + 129)

struct route_table {
	struct route *routes;       /* sorted: family, longest prefix first, destination, origin; ROUTE_MAX */
	unsigned int count;
	struct route_group group[ROUTE_GROUPS];
	unsigned int nb_groups;
	uint32_t gen;               /* grows with every change of routes, addresses, MTUs */
};

int route_table_init(struct stack *s); /* 0 or -ENOMEM */
void route_table_release(struct stack *s);
/*
 * Adds a copy of r; bits of dst past the prefix are cleared, mtu 0 becomes the interface's, gateway is looked at
 * with has_gateway only. Static routes are one to a prefix; connected prefixes one to a prefix and interface; RA routes
 * one to a prefix, interface and gateway. -EEXIST, -ENOSPC, -EINVAL (no interface, prefix too long).
 */
int route_insert(struct stack *s, const struct route *r);
/* Every route of that origin to the prefix. -ENOENT. */
int route_remove(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len, enum route_origin o);
/* Removes the one route with r's family, dst, prefix_len, origin, gateway and nif: one of several routers. -ENOENT. */
int route_withdraw(struct stack *s, const struct route *r);
/*
 * Best route; nif restricts. Of one prefix connected routes come before static ones before RA's; of RA routers those
 * that are known to be reachable first (RFC 4861 6.3.6), then the one that failed least. Expired routes and interfaces
 * that are down do not count. NULL: none. Valid until the table's next change.
 */
const struct route *route_lookup(const struct stack *s, int family, const union ip_addr *dst, const struct netif *nif);
void route_remove_netif(struct stack *s, const struct netif *nif);
/* The interface's MTU changed: its routes follow, the generation grows. */
void route_netif_mtu(struct stack *s, const struct netif *nif);
void route_touch(struct stack *s); /* something cached paths depend on has changed */
/* A gateway did not answer (RFC 4861 6.3.6): its RA routes step back, and then cached paths look up again. */
void route_gateway_failed(struct stack *s, const struct netif *nif, int family, const union ip_addr *gateway);
/* addr without its bits past the first n. */
union ip_addr route_mask(const union ip_addr *addr, unsigned int n);
/* Walks: the i-th route or NULL. */
const struct route *route_at(const struct stack *s, unsigned int i);

#endif

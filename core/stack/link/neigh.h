/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour cache, one table for ARP (RFC 826) and neighbour discovery (RFC 4861 7.3): states, timers,
 * and a bounded queue of packets that wait for an answer. The protocols supply the packets: arp.c and nd.c.
 * Owned by the stack; bounded (NEIGH_MAX entries, NEIGH_QUEUE packets each); the oldest stale entry makes room.
 */
#ifndef NONIC_STACK_LINK_NEIGH_H
#define NONIC_STACK_LINK_NEIGH_H

#include "eth.h"

#define NEIGH_MAX 4096
#define NEIGH_QUEUE 16         /* packets that wait for one neighbour; the oldest is dropped */
#define NEIGH_BUCKETS 1024

enum neigh_state {
	NEIGH_FREE = 0,
	NEIGH_INCOMPLETE, /* asked, no answer yet; packets wait */
	NEIGH_REACHABLE,
	NEIGH_STALE,
	NEIGH_DELAY,
	NEIGH_PROBE,
	NEIGH_PERMANENT,
};

struct neigh {
	struct list bucket;       /* hash chain */
	struct list age;          /* least recently used first */
	struct netif *nif;
	union ip_addr addr;
	uint8_t family;           /* ADDR_INET, ADDR_INET6 */
	uint8_t state;            /* enum neigh_state */
	uint8_t is_router;        /* ND */
	uint8_t probes;           /* sent in this state */
	uint8_t mac[ETH_ALEN];
	uint16_t queued;
	uint32_t gen;             /* changes whenever mac or state stops being usable: cached pointers check it */
	uint64_t confirmed_ns;
	struct rte_mbuf *queue[NEIGH_QUEUE]; /* network header first */
	struct timer timer;
};

struct neigh_table {
	struct list bucket[NEIGH_BUCKETS];
	struct list lru, free;
	struct neigh *entries;    /* NEIGH_MAX, allocated at create */
	unsigned int count;
};

int neigh_table_init(struct stack *s);
void neigh_table_release(struct stack *s);

struct neigh *neigh_lookup(struct stack *s, struct netif *nif, int family, const union ip_addr *addr);
/* Finds or makes (INCOMPLETE, nothing sent yet). NULL when the table is full of busy entries. */
struct neigh *neigh_get(struct stack *s, struct netif *nif, int family, const union ip_addr *addr);
/* Sends m (network header first) to the neighbour, or queues it and asks. Takes m. */
void neigh_output(struct stack *s, struct neigh *n, struct rte_mbuf *m);
/* A link-layer address was learned (answer: solicited; override: may replace another one). Drains the queue.
 * The whole of RFC 4861 7.2.5's table lives here. */
void neigh_update(struct stack *s, struct neigh *n, const uint8_t mac[ETH_ALEN], bool solicited, bool override);
/* Forward progress seen by an upper layer (RFC 4861 7.3.1). */
void neigh_confirm(struct stack *s, struct neigh *n);
void neigh_delete(struct stack *s, struct neigh *n);
void neigh_flush_netif(struct stack *s, struct netif *nif);

/* Supplied by arp.c and nd.c: send one request; unicast when n->mac is to be probed. */
void arp_solicit(struct stack *s, struct neigh *n, bool unicast);
void nd_solicit(struct stack *s, struct neigh *n, bool unicast);
/* Supplied by ip4/icmp4 and ip6/icmp6: the queued packet could not be delivered (host unreachable). Takes m. */
void ip4_unreachable_neigh(struct stack *s, struct netif *nif, struct rte_mbuf *m);
void ip6_unreachable_neigh(struct stack *s, struct netif *nif, struct rte_mbuf *m);

/* arp.c. Takes m, at the ARP header. */
void arp_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);
/* Announces addr (gratuitous ARP), as on interface up and address add. */
void arp_announce(struct stack *s, struct netif *nif, uint32_t addr_be);

#endif

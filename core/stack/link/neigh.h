/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour cache, one table for ARP (RFC 826) and neighbour discovery (RFC 4861 7.3): states, timers,
 * and a bounded queue of packets that wait for an answer. The protocols supply the packets: arp.c and nd.c.
 * Owned by the stack; bounded (stack_config.max_neighbours or NEIGH_MAX entries, NEIGH_QUEUE packets each). When it is full the oldest stale
 * entry makes room, else the one that has been waiting longest for an answer.
 */
#ifndef NONIC_STACK_LINK_NEIGH_H
#define NONIC_STACK_LINK_NEIGH_H

#include "eth.h"

#define NEIGH_MAX 4096
#define NEIGH_QUEUE 16         /* packets that wait for one neighbour; the oldest is dropped */
#define NEIGH_BUCKETS 1024
/* RFC 4861 10, for both families. */
#define NEIGH_MAX_PROBES 3                    /* multicast or unicast, then the neighbour is unreachable */
#define NEIGH_RETRANS_NS 1000000000ull        /* between requests; IPv6: the interface's retrans_ms */
#define NEIGH_DELAY_NS 5000000000ull          /* DELAY_FIRST_PROBE_TIME */

enum neigh_state {
	NEIGH_FREE = 0,
	NEIGH_INCOMPLETE, /* asked, no answer yet; packets wait */
	NEIGH_STALE,
	NEIGH_REACHABLE,  /* from here on a packet just goes (neigh_ready) */
	NEIGH_DELAY,
	NEIGH_PROBE,
	NEIGH_PERMANENT,
};

struct neigh {
	struct list bucket;       /* hash chain */
	struct list age;          /* in the table's free, stale, waiting or busy list; oldest first */
	struct netif *nif;
	union ip_addr addr;
	uint8_t family;           /* ADDR_INET, ADDR_INET6 */
	uint8_t state;            /* enum neigh_state */
	uint8_t is_router;        /* ND */
	uint8_t probes;           /* sent in this state */
	uint8_t mac[ETH_ALEN];
	uint16_t queued;
	uint32_t gen;             /* changes whenever the entry goes: cached pointers check it */
	uint64_t confirmed_ns;
	uint64_t changed_ns;      /* when neigh_update last learned something: made, another MAC, reachable */
	struct rte_mbuf *queue[NEIGH_QUEUE]; /* network header first */
	struct timer timer;
};

struct neigh_table {
	struct list bucket[NEIGH_BUCKETS];
	struct list free, stale, waiting, busy; /* every entry by what may become of it: waiting is INCOMPLETE */
	struct neigh *entries;    /* `size` of them, allocated at create */
	unsigned int size, touched; /* entries from `touched` on were never used and are zero */
	unsigned int count;       /* entries in use */
};

/* 0 or -ENOMEM. */
int neigh_table_init(struct stack *s);
/* Frees every queued packet. Harmless on a table that was never made. */
void neigh_table_release(struct stack *s);

/* NULL: unknown. */
struct neigh *neigh_lookup(struct stack *s, struct netif *nif, int family, const union ip_addr *addr);
/* Finds or makes (INCOMPLETE, nothing sent yet). NULL (counted) when the table is full of reachable entries. */
struct neigh *neigh_get(struct stack *s, struct netif *nif, int family, const union ip_addr *addr);
/* Sends m (network header first) to the neighbour, or queues it and asks. Takes m. */
void neigh_output(struct stack *s, struct neigh *n, struct rte_mbuf *m);
/* May a packet go at once, without a change of state or a timer? STALE wants to be looked at, INCOMPLETE has no address. */
static inline bool
neigh_ready(const struct neigh *n)
{
	return n->state >= NEIGH_REACHABLE;
}
/*
 * A link-layer address was learned (answer: solicited; override: may replace another one). Drains the queue.
 * The whole of RFC 4861 7.2.5's table lives here, but for the router flag, which is nd's. mac NULL: the message
 * had none, which confirms what is known and says nothing to an INCOMPLETE entry.
 */
void neigh_update(struct stack *s, struct neigh *n, const uint8_t mac[ETH_ALEN], bool solicited, bool override);
/* Has it an address that was learned, not set by hand? What may be told to another process of this station (neigh_import). */
static inline bool
neigh_learned(const struct neigh *n)
{
	return n->state >= NEIGH_STALE && n->state != NEIGH_PERMANENT;
}
/*
 * What another process of this station knew: STALE, so that it is used at once and asked about when it is (RFC 4861 7.3.3). Who is being
 * asked already gets its packets. 0; -EEXIST (known here: stays as it is); -ENOSPC (the table is full: nobody makes room for
 * hearsay); -EINVAL (no station has such an address or MAC, it is our own, or IPv6 is off on nif).
 */
int neigh_import(struct stack *s, struct netif *nif, int family, const union ip_addr *addr, const uint8_t mac[ETH_ALEN],
	bool router);
/* Forward progress seen by an upper layer (RFC 4861 7.3.1). */
void neigh_confirm(struct stack *s, struct neigh *n);
/* Forgets the neighbour; packets that wait are dropped (NEIGH_UNREACHABLE). */
void neigh_delete(struct stack *s, struct neigh *n);
/* An entry by hand, that never ages: 0, -ENOBUFS, -EINVAL (multicast MAC). */
int neigh_set_permanent(struct stack *s, struct netif *nif, int family, const union ip_addr *addr,
	const uint8_t mac[ETH_ALEN]);
void neigh_flush_netif(struct stack *s, struct netif *nif);

/* Supplied by arp.c and nd.c: send one request; unicast when n->mac is to be probed. */
void arp_solicit(struct stack *s, struct neigh *n, bool unicast);
void nd_solicit(struct stack *s, struct neigh *n, bool unicast);
/* Supplied by ip4/icmp4 and ip6/icmp6: the queued packet could not be delivered (host unreachable). Takes m. */
void ip4_unreachable_neigh(struct stack *s, struct netif *nif, struct rte_mbuf *m);
void ip6_unreachable_neigh(struct stack *s, struct netif *nif, struct rte_mbuf *m);

/*
 * arp.c (RFC 826, RFC 5227). Takes m, at the ARP header. Makes an entry only from a request for one of nif's
 * addresses by a sender on the same prefix; everything else updates what is known already. Another station that uses one
 * of our addresses is counted and answered by an announcement, at most once in ARP_DEFEND_NS for an address.
 */
#define ARP_DEFEND_NS 10000000000ull
void arp_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);
/* Announces addr (gratuitous ARP), as on interface up and address add. */
void arp_announce(struct stack *s, struct netif *nif, uint32_t addr_be);

#endif

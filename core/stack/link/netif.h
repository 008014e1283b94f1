/* SPDX-License-Identifier: BSD-3-Clause */
/* Network interfaces: one per port, plus one per VLAN on it. Owned by the stack. */
#ifndef NONIC_STACK_LINK_NETIF_H
#define NONIC_STACK_LINK_NETIF_H

#include "../stack.h"
#include "../timer.h"

enum netif_flags {
	NETIF_UP = 1 << 0,
	NETIF_PROMISC = 1 << 1,
};

struct netif_addr4 {
	uint32_t addr, mask, broadcast; /* network order */
	uint8_t prefix_len;
	uint8_t conflict;               /* another station answered ARP for it */
	uint64_t defend_ns;             /* RFC 5227 2.4: not defended again before */
};

enum addr6_state {
	ADDR6_FREE = 0,
	ADDR6_TENTATIVE,  /* duplicate address detection runs (RFC 4862 5.4) */
	ADDR6_PREFERRED,
	ADDR6_DEPRECATED,
	ADDR6_DUPLICATE,  /* conflict: must not be used */
};

struct netif_addr6 {
	union ip_addr addr;
	uint8_t prefix_len;
	uint8_t state;        /* enum addr6_state */
	uint8_t autoconf;     /* from a router advertisement */
	uint8_t dad_left;     /* probes still to send */
	uint64_t preferred_until_ns, valid_until_ns; /* UINT64_MAX: for ever */
	struct timer timer;   /* DAD, then lifetimes */
	struct netif *nif;
};

struct netif_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, rx_dropped, tx_dropped;
};

struct netif {
	struct stack *stack;
	struct netif_config cfg;
	unsigned int index;       /* 1 .. */
	uint32_t flags;           /* enum netif_flags */
	uint16_t mtu;             /* link MTU, as set in software */
	uint16_t mtu6;            /* IPv6 link MTU: min(mtu, router's MTU option); 0: IPv6 off (mtu < 1280) */
	uint8_t cur_hop_limit;    /* from router advertisements; 64 */
	uint32_t reachable_ms, retrans_ms; /* ND: 30000, 1000; from router advertisements */
	unsigned int nb_addr4, nb_addr6; /* used prefix of the arrays */
	struct netif_addr4 addr4[NETIF_MAX_ADDR4];
	struct netif_addr6 addr6[NETIF_MAX_ADDR6];
	struct netif *vlans;      /* VLAN interfaces over this one, linked by vlan_next */
	struct netif *vlan_next;
	struct netif_stats stats;
	/* router discovery (ip/nd) */
	struct timer rs_timer;
	uint8_t rs_sent;
	uint64_t rs_interval_ns;
	/* frames waiting for the tx hook */
	unsigned int tx_n;
	struct rte_mbuf *tx[NETIF_TX_BATCH];
};

/* Appends a finished frame to the batch (flushes a full one); always takes m. Counts. */
void netif_transmit(struct netif *nif, struct rte_mbuf *m);
void netif_flush(struct netif *nif);
/*
 * netif_transmit for an interface that is up and has no parent: what the callers of short ways have looked at.
 * out is nif itself.
 */
static inline void
netif_enqueue(struct netif *nif, struct rte_mbuf *m)
{
	nif->stats.tx_packets++;
	nif->stats.tx_bytes += shim_buf_len(m);
	nif->tx[nif->tx_n++] = m;
	if (nif->tx_n == NETIF_TX_BATCH)
		netif_flush(nif);
}
/* Called by stack_destroy and when the interface goes. Frees the batch, cancels timers; not the memory. */
void netif_release(struct netif *nif);

/* The address entry of nif, or NULL. */
struct netif_addr4 *netif_find4(struct netif *nif, uint32_t addr_be);
struct netif_addr6 *netif_find6(struct netif *nif, const union ip_addr *addr);
/* Is it an address of any interface of the stack, usable (not tentative or duplicate)? */
bool stack_owns4(const struct stack *s, uint32_t addr_be);
bool stack_owns6(const struct stack *s, const union ip_addr *addr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 internals: extension headers, reassembly, neighbour discovery, autoconfiguration. */
#ifndef NONIC_STACK_IP_IP6_H
#define NONIC_STACK_IP_IP6_H

#include "ip.h"

struct ip6_state;

int ip6_init(struct stack *s);     /* allocates s->ip6 */
void ip6_release(struct stack *s);
int ip6_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m);
int ip6_path(struct stack *s, const union ip_addr *dst, const union ip_addr *src, struct netif *nif,
	struct ip_path *path);
void ip6_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what, const struct rte_mbuf *m);
/* Interface came up: link-local address, DAD, router solicitation. MTU changed: mtu6, routes, ND. */
void ip6_netif_up(struct stack *s, struct netif *nif);
void ip6_netif_mtu(struct stack *s, struct netif *nif);
void ip6_netif_down(struct stack *s, struct netif *nif);
/* New entry (state TENTATIVE or PREFERRED according to dad_transmits): joins its solicited-node group, starts DAD. */
void ip6_addr_start(struct stack *s, struct netif_addr6 *a);
void ip6_addr_stop(struct stack *s, struct netif_addr6 *a);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 internals: reassembly state, identification, ICMP rate limit. */
#ifndef NONIC_STACK_IP_IP4_H
#define NONIC_STACK_IP_IP4_H

#include "ip.h"

struct ip4_state;

int ip4_init(struct stack *s);     /* allocates s->ip4 */
void ip4_release(struct stack *s);
int ip4_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m);
int ip4_path(struct stack *s, const union ip_addr *dst, const union ip_addr *src, struct netif *nif,
	struct ip_path *path);
void ip4_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what, const struct rte_mbuf *m);
/* Address added or about to go: connected route, announcement. */
void ip4_addr_changed(struct stack *s, struct netif *nif, const struct netif_addr4 *a, bool added);

#endif

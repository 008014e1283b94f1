/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet II and 802.1Q (one tag, or one inside a stripped one). */
#ifndef NONIC_STACK_LINK_ETH_H
#define NONIC_STACK_LINK_ETH_H

#include "netif.h"

#define ETH_ALEN 6
#define ETH_HLEN 14
#define ETHERTYPE_IP4 0x0800
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IP6 0x86dd
/* In ol_flags of a received packet: its frame was for a group or everybody, so no ICMP error may answer it
 * (RFC 1122 3.2.2, RFC 4443 2.4 e.4, e.5). The highest bit that DPDK leaves to applications. */
#define ETH_RX_GROUP RTE_MBUF_F_LAST_FREE

/* One received frame, Ethernet header first. Takes m. Strips the header and hands on to
 * arp_input, ip4_input or ip6_input with m at the network header. */
void eth_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);
/* What eth_input does with every frame but the plain ones (flat/flat.h), after counting it. Takes m. */
void eth_input_any(struct stack *s, struct netif *nif, struct rte_mbuf *m);
static inline bool
eth_addr_eq(const uint8_t a[ETH_ALEN], const uint8_t b[ETH_ALEN])
{
	uint32_t a4, b4;
	uint16_t a2, b2;

	memcpy(&a4, a, 4);
	memcpy(&b4, b, 4);
	memcpy(&a2, a + 4, 2);
	memcpy(&b2, b + 4, 2);
	return ((a4 ^ b4) | (uint32_t)(a2 ^ b2)) == 0;
}
/* Writes an untagged header; type as it stands in memory. */
static inline void
eth_header_put(uint8_t *p, const uint8_t dst[ETH_ALEN], const uint8_t src[ETH_ALEN], uint16_t type_be)
{
	memcpy(p, dst, ETH_ALEN);
	memcpy(p + ETH_ALEN, src, ETH_ALEN);
	memcpy(p + 2 * ETH_ALEN, &type_be, sizeof(type_be));
}
/* Prepends the header (and the tag of a VLAN interface, in software or by offload) and transmits. type in host order. Takes m. */
void eth_output(struct stack *s, struct netif *nif, struct rte_mbuf *m, const uint8_t dst[ETH_ALEN], uint16_t type);

#endif

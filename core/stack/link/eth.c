/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet II and 802.1Q: finds the interface and the protocol of a frame, and puts headers before packets. */
#include "eth.h"

#include "../flat/flat.h"
#include "../priv.h"

#define VLAN_LEN 4
#define VID(tci) ((tci) & 0xfff)

/* The interface for a tag: vid 0 is a priority tag on the untagged one (802.1Q 6.9). */
static struct netif *
vlan_find(struct netif *nif, uint16_t vid)
{
	struct netif *v;

	if (vid == 0)
		return nif;
	for (v = nif->vlans; v != NULL; v = v->vlan_next)
		if (v->cfg.vlan == vid)
			break;
	return v;
}

/*
 * Looks at the tags of a frame: *hlen becomes the length of the link header, *type the EtherType behind it. With
 * one tag stripped by the port, a tag in the frame is the inner one, and only a priority tag makes sense there.
 */
static struct netif *
untag(struct netif *port, const struct rte_mbuf *m, const uint8_t *p, uint16_t *hlen, uint16_t *type,
	enum stack_drop *why)
{
	struct netif *nif = port;

	*why = STACK_DROP_VLAN_UNKNOWN;
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		nif = vlan_find(nif, VID(m->vlan_tci));
	if (*type == ETHERTYPE_VLAN && nif != NULL) {
		uint16_t vid;

		if (shim_buf_seg_len(m) < ETH_HLEN + VLAN_LEN) {
			*why = STACK_DROP_VLAN_SHORT;
			return NULL;
		}
		vid = VID(get_be16(p + ETH_HLEN));
		if (nif == port)
			nif = vlan_find(port, vid);
		else if (vid != 0)
			nif = NULL;
		*type = get_be16(p + ETH_HLEN + 2);
		*hlen = ETH_HLEN + VLAN_LEN;
	}
	return nif;
}

/*
 * Makes the link header contiguous, as drivers deliver it anyway. NULL: dropped; *m is the frame, perhaps in
 * another buffer.
 */
static const uint8_t *
link_header(struct stack *s, struct netif *port, struct rte_mbuf **m)
{
	const uint32_t want = ETH_HLEN + VLAN_LEN, len = shim_buf_len(*m);

	if (len < ETH_HLEN) {
		stack_drop(s, port, STACK_DROP_ETH_SHORT, *m);
		return NULL;
	}
	if (shim_buf_seg_len(*m) < want && (*m)->nb_segs > 1)
		*m = ip_pullup(s, *m, len < want ? len : want, false);
	return *m != NULL ? shim_buf_data(*m) : NULL;
}

void
eth_input(struct stack *s, struct netif *port, struct rte_mbuf *m)
{
	port->stats.rx_packets++;
	port->stats.rx_bytes += shim_buf_len(m);
	flat_input(s, port, m);
}

void
eth_input_any(struct stack *s, struct netif *port, struct rte_mbuf *m)
{
	struct netif *nif = port;
	enum stack_drop why;
	uint16_t hlen = ETH_HLEN, type;
	const uint8_t *p;

	if ((port->flags & NETIF_UP) == 0) {
		stack_drop(s, port, STACK_DROP_IF_DOWN, m);
		return;
	}
	p = link_header(s, port, &m);
	if (p == NULL)
		return;
	type = get_be16(p + 12);
	if (type == ETHERTYPE_VLAN || (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)) {
		nif = untag(port, m, p, &hlen, &type, &why);
		if (nif == NULL) {
			stack_drop(s, port, why, m);
			return;
		}
		if (nif != port) {
			nif->stats.rx_packets++;
			nif->stats.rx_bytes += shim_buf_len(m);
		}
	}
	/* Which multicast groups are ours is for the network layer to say. */
	if ((p[0] & 1) != 0) {
		m->ol_flags |= ETH_RX_GROUP;
	} else if (memcmp(p, nif->cfg.mac, ETH_ALEN) != 0 &&
		((nif->flags | port->flags) & NETIF_PROMISC) == 0) {
		stack_drop(s, nif, STACK_DROP_ETH_NOT_FOR_US, m);
		return;
	}
	shim_buf_adj(m, hlen);
	if (type == ETHERTYPE_IP4)
		ip4_input(s, nif, m);
	else if (type == ETHERTYPE_IP6)
		ip6_input(s, nif, m);
	else if (type == ETHERTYPE_ARP)
		arp_input(s, nif, m);
	else
		stack_drop(s, nif, STACK_DROP_ETH_TYPE_UNKNOWN, m);
}

/* Data that others see too, or that has no room before it: the header goes into a buffer of its own. */
static uint8_t *
prepend_slow(struct stack *s, const struct netif *out, struct rte_mbuf **m, uint16_t n)
{
	*m = ip_prepend(s, *m, n);
	if (*m != NULL)
		*m = ip_flatten(s, out, *m);
	return *m != NULL ? shim_buf_data(*m) : NULL;
}

void
eth_output(struct stack *s, struct netif *nif, struct rte_mbuf *m, const uint8_t dst[ETH_ALEN],
	uint16_t type)
{
	const struct netif *out = nif->cfg.parent != NULL ? nif->cfg.parent : nif;
	uint16_t vid = nif->cfg.vlan, hlen = ETH_HLEN;
	uint8_t *p;

	if (vid != 0 && (out->cfg.tx_offloads & SHIM_TX_VLAN_INSERT) == 0)
		hlen += VLAN_LEN;
	if (shim_buf_headroom(m) >= hlen && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1)
		p = shim_buf_prepend(m, hlen);
	else
		p = prepend_slow(s, out, &m, hlen);
	if (p == NULL)
		return;
	if (vid != 0 && hlen == ETH_HLEN) {
		m->vlan_tci = vid;
		m->ol_flags |= RTE_MBUF_F_TX_VLAN;
	}
	memcpy(p, dst, ETH_ALEN);
	memcpy(p + ETH_ALEN, nif->cfg.mac, ETH_ALEN);
	if (hlen != ETH_HLEN) {
		put_be16(p + 12, ETHERTYPE_VLAN);
		put_be16(p + 14, vid);
	}
	put_be16(p + hlen - 2, type);
	m->l2_len = hlen;
	netif_transmit(nif, m);
}

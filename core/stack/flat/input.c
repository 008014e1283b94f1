/* SPDX-License-Identifier: BSD-3-Clause */
/* From the frame to the socket in one go: plain UDP over IPv4 and IPv6. */
#include "../udp/udp_priv.h"
#include "flat.h"

/* What the port may have said without making a frame unusual: nothing, or that its checksums are good. */
#define PORT_SAID (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK | \
	RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)
#define PORT_GOOD (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)
#define PORT_GOOD6 RTE_MBUF_F_RX_L4_CKSUM_GOOD

/* The facts of a datagram that the socket keeps. */
struct facts {
	struct netif *nif;
	union ip_addr src, dst;
	uint8_t family, ttl, tos;
};

/* Connected sockets, bound addresses, several sockets on one: the tables say which. */
static __attribute__((noinline)) struct udp_pcb *
ask_tables(struct stack *s, const struct facts *f, uint16_t sport_be, uint16_t dport_be)
{
	struct ip_rx rx = { .nif = f->nif, .src = f->src, .dst = f->dst, .family = f->family };

	return udp_lookup(s, &rx, sport_be, dport_be);
}

/*
 * The socket's own part, as socket_udp_deliver does it. u: the UDP header, whose length is ulen and whose checksum
 * is good. false: nobody there, or no room in front of the payload for the facts.
 */
static __rte_always_inline bool
to_socket(struct stack *s, const struct facts *f, const uint8_t *u, uint16_t ulen, struct rte_mbuf *m)
{
	uint16_t sport, dport, off = (uint16_t)(u + UDP_HLEN - (const uint8_t *)m->buf_addr);
	const struct udp_port *pt;
	const struct udp_pcb *p;
	const struct udp_ep *e;
	struct socket *so;
	struct dgram *d;

	memcpy(&sport, u, 2);
	memcpy(&dport, u + 2, 2);
	pt = udp_port_find(s->udp, dport);
	if (unlikely(pt == NULL))
		return false;
	e = f->family == ADDR_INET ? pt->wild4 : pt->wild6;
	if (likely((pt->nb_conn | pt->nb_specific) == 0 && e != NULL && e->n == 1))
		p = e->v[0];
	else
		p = ask_tables(s, f, sport, dport);
	if (unlikely(p == NULL || off < DGRAM_OFF + sizeof(struct dgram)))
		return false;
	stack_udp_flow(s, f->family, &f->src, sport, &f->dst, dport);
	so = p->so;
	if (unlikely(so->rx_mem > so->rcvbuf)) {
		stack_drop(s, f->nif, STACK_DROP_UDP_RCVBUF, m);
		return true;
	}
	m->data_off = off;
	m->data_len = ulen - UDP_HLEN;
	m->pkt_len = m->data_len;
	d = dgram_of(m);
	d->src = f->src;
	d->dst = f->dst;
	d->sport_be = sport;
	d->ifindex = (uint16_t)f->nif->index;
	d->family = f->family;
	d->ttl = f->ttl;
	d->tos = f->tos;
	socket_append(s, so, m, m->buf_len + (uint32_t)sizeof(*m));
	return true;
}

/* p: an IPv4 header and whatever follows it in the n bytes there are. */
static __rte_always_inline bool
input4(struct stack *s, struct netif *nif, const uint8_t *p, uint32_t n, struct rte_mbuf *m)
{
	const uint64_t fixed = 0xffull | (uint64_t)htobe16c(IP4_MF | IP4_OFFMASK) << 48;
	uint64_t a, b, said = m->ol_flags & PORT_SAID;
	uint32_t src, dst, total, ulen;
	struct facts f;
	uint8_t first;

	if (n < IP4_HLEN + UDP_HLEN || (said != 0 && said != PORT_GOOD))
		return false;
	memcpy(&a, p, 8);
	memcpy(&b, p + 8, 8);
	memcpy(&dst, p + 16, 4);
	src = (uint32_t)(b >> 32);
	total = get_be16(p + 2);
	ulen = get_be16(p + IP4_HLEN + 4);
	/* no options, no fragment, UDP, lengths that agree and are there, a UDP checksum */
	if ((a & fixed) != 0x45 || (uint8_t)(b >> 8) != IP_PROTO_UDP || total > n || ulen + IP4_HLEN != total ||
	    ulen < UDP_HLEN || (p[IP4_HLEN + 6] | p[IP4_HLEN + 7]) == 0)
		return false;
	/* to our first address, from a source that is neither special nor ours */
	first = (uint8_t)src;
	if (nif->nb_addr4 == 0 || dst != nif->addr4[0].addr || (uint8_t)(first - 1) >= 223 || first == 127 ||
	    ip4_may_own(s->ip4, src) || ip4_is_broadcast(nif, src))
		return false;
	if (said == 0 && !(csum_good((a & UINT32_MAX) + (a >> 32) + (b & UINT32_MAX) + src + dst) &&
	    csum_good(csum_add_short(csum_pseudo4(src, dst, IP_PROTO_UDP, (uint16_t)ulen), p + IP4_HLEN, ulen))))
		return false;
	f = (struct facts){ nif, ip_addr_v4(src), ip_addr_v4(dst), ADDR_INET, (uint8_t)b, (uint8_t)(a >> 8) };
	return to_socket(s, &f, p + IP4_HLEN, (uint16_t)ulen, m);
}

/* A usable address of the interface itself. */
static inline bool
is_own6(const struct netif *nif, const union ip_addr *a)
{
	unsigned int i;

	for (i = 0; i < nif->nb_addr6; i++) {
		if (ip_addr_eq(&nif->addr6[i].addr, a))
			return ip6_addr_usable(&nif->addr6[i]);
	}
	return false;
}

/* The same for IPv6: no extension headers. */
static __rte_always_inline bool
input6(struct stack *s, struct netif *nif, const uint8_t *p, uint32_t n, struct rte_mbuf *m)
{
	uint64_t said = m->ol_flags & PORT_SAID;
	const struct ipv6_hdr *h = (const struct ipv6_hdr *)p;
	uint32_t vtf, ulen;
	struct facts f;

	if (n < IP6_HLEN + UDP_HLEN || (said != 0 && said != PORT_GOOD6) || nif->mtu6 == 0)
		return false;
	vtf = be32(h->vtf_be);
	ulen = be16(h->plen_be);
	/* UDP at once, lengths that agree and are there, a checksum */
	if (vtf >> 28 != 6 || h->next != IP_PROTO_UDP || IP6_HLEN + ulen > n || ulen < UDP_HLEN ||
	    get_be16(p + IP6_HLEN + 4) != ulen || (p[IP6_HLEN + 6] | p[IP6_HLEN + 7]) == 0)
		return false;
	f = (struct facts){ nif, h->src, h->dst, ADDR_INET6, h->hop, (uint8_t)(vtf >> 20) };
	/* first half zero: unspecified, loopback, v4-mapped; such a destination is no address of an interface */
	if (f.src.q[0] == 0 || f.dst.q[0] == 0 || ip6_multicast(&f.src) || ip6_may_own(s->ip6, &f.src) ||
	    !is_own6(nif, &f.dst))
		return false;
	if (said == 0 && !csum_good(csum_add_short(csum_pseudo6(f.src.v6, f.dst.v6, IP_PROTO_UDP, ulen), p + IP6_HLEN,
	    ulen)))
		return false;
	return to_socket(s, &f, p + IP6_HLEN, (uint16_t)ulen, m);
}

void
flat_input(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	const uint8_t *p = shim_buf_data(m);
	uint32_t n = m->data_len - (uint32_t)ETH_HLEN;
	uint16_t type;
	bool done = false;

	/* One piece that is ours alone, to our own station: tags, chains and groups are for the layers. */
	if (likely(flat_alone(m) && m->data_len >= ETH_HLEN && (nif->flags & NETIF_UP) != 0 &&
		eth_addr_eq(p, nif->cfg.mac))) {
		memcpy(&type, p + 2 * ETH_ALEN, sizeof(type));
		if (type == htobe16c(ETHERTYPE_IP4))
			done = input4(s, nif, p + ETH_HLEN, n, m);
		else if (type == htobe16c(ETHERTYPE_IP6))
			done = input6(s, nif, p + ETH_HLEN, n, m);
	}
	if (unlikely(!done))
		eth_input_any(s, nif, m);
}

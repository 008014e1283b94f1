/* SPDX-License-Identifier: BSD-3-Clause */
/* From the payload to the frame in one go: UDP over IPv4 and IPv6 along a path that is known. */
#include <netinet/in.h>

#include "../udp/udp_priv.h"
#include "flat.h"

/* What goes into the headers. */
struct fields {
	const struct ip_path *path;
	uint16_t sport_be, dport_be, ulen;
	uint8_t ttl, tos;
};

static __rte_always_inline bool
same(const union ip_addr *a, const union ip_addr *b, bool v4)
{
	return v4 ? a->v4 == b->v4 : ip_addr_eq(a, b); /* the rest of an IPv4 address is zero */
}

/*
 * The path kept for the socket's peer, or for dst, if it is there and was looked up for this source; else NULL.
 * Here and below v4 is a constant of the caller's.
 */
static __rte_always_inline const struct ip_path *
path_kept(const struct stack *s, const struct udp_pcb *p, const union ip_addr *dst, bool v4)
{
	const struct ip_path *path = &p->path;
	const union ip_addr *src = &p->path_src;

	if (!p->connected) {
		const struct udp_path *c = &s->udp->paths[udp_path_slot(dst)];

		if (c->want_nif != p->nif)
			return NULL;
		path = &c->path;
		src = &c->want_src;
	}
	return path->family == (v4 ? ADDR_INET : ADDR_INET6) && same(&path->dst, dst, v4) && same(src, &p->local, v4) &&
		ip_path_valid(s, path) ? path : NULL;
}

/* Does a frame along path take nothing but headers? A neighbour with an address, an untagged interface, our checksums. */
static inline bool
is_plain(const struct ip_path *path)
{
	const struct netif *nif = path->nif;

	return path->flags == 0 && path->neigh != NULL && neigh_ready(path->neigh) && (nif->flags & NETIF_UP) != 0 &&
		nif->cfg.parent == NULL && (nif->cfg.tx_offloads & (SHIM_TX_IPV4_CKSUM | SHIM_TX_UDP_CKSUM)) == 0;
}

/* As ip4_output's, with don't-fragment and therefore no identification (RFC 6864). */
static inline uint64_t
put_ip4(uint8_t *p, const struct fields *f)
{
	uint32_t src = f->path->src.v4, dst = f->path->dst.v4;
	uint64_t a, b;

	a = 0x45u | (uint32_t)f->tos << 8 | (uint32_t)be16(f->ulen + IP4_HLEN) << 16 | (uint64_t)htobe16c(IP4_DF) << 48;
	b = (f->ttl != 0 ? f->ttl : IP4_TTL_DEFAULT) | IP_PROTO_UDP << 8;
	b |= (uint32_t)csum_finish((a & UINT32_MAX) + (a >> 32) + b + src + dst) << 16;
	b |= (uint64_t)src << 32;
	memcpy(p, &a, 8);
	memcpy(p + 8, &b, 8);
	memcpy(p + 16, &dst, 4);
	return csum_pseudo4(src, dst, IP_PROTO_UDP, f->ulen);
}

/* As ip6_output's. */
static inline uint64_t
put_ip6(uint8_t *p, const struct fields *f)
{
	const struct ip_path *path = f->path;
	struct ipv6_hdr *h = (struct ipv6_hdr *)p;

	h->vtf_be = be32(6u << 28 | (uint32_t)f->tos << 20);
	h->plen_be = be16(f->ulen);
	h->next = IP_PROTO_UDP;
	h->hop = f->ttl != 0 ? f->ttl : path->nif->cur_hop_limit;
	h->src = path->src;
	h->dst = path->dst;
	return csum_pseudo6(path->src.v6, path->dst.v6, IP_PROTO_UDP, f->ulen);
}

/* Headers in front of m's payload, and out. */
static __rte_always_inline void
send_plain(struct stack *s, const struct fields *f, bool v4, struct rte_mbuf *m)
{
	const uint16_t ip = v4 ? IP4_HLEN : IP6_HLEN, hlen = ETH_HLEN + ip + UDP_HLEN;
	uint8_t *b = (uint8_t *)m->buf_addr + m->data_off - hlen, *u = b + ETH_HLEN + ip;
	uint64_t h = f->sport_be | (uint32_t)f->dport_be << 16 | (uint64_t)be16(f->ulen) << 32, sum;
	uint16_t csum;

	memcpy(u, &h, UDP_HLEN);
	eth_header_put(b, f->path->neigh->mac, f->path->nif->cfg.mac, be16(v4 ? ETHERTYPE_IP4 : ETHERTYPE_IP6));
	sum = v4 ? put_ip4(b + ETH_HLEN, f) : put_ip6(b + ETH_HLEN, f);
	csum = csum_finish(csum_add_short(sum, u, f->ulen));
	csum = csum != 0 ? csum : 0xffff; /* RFC 768: 0 is "none" */
	memcpy(u + 6, &csum, sizeof(csum));
	m->data_off -= hlen;
	m->data_len += hlen;
	m->pkt_len = m->data_len;
	m->ol_flags = 0; /* a direct buffer has no flags about its memory */
	m->vlan_tci = 0;
	m->packet_type = 0;
	m->tx_offload = 0;
	m->l2_len = ETH_HLEN;
	stack_udp_flow(s, v4 ? ADDR_INET : ADDR_INET6, &f->path->dst, f->dport_be, &f->path->src, f->sport_be);
	netif_enqueue(f->path->nif, m);
}

/* The path of a plain datagram of so's to dst, or NULL: the layers look at it. */
static __rte_always_inline const struct ip_path *
plain_path(const struct stack *s, const struct socket *so, const struct sock_addr *dst, const struct rte_mbuf *m,
	bool v4)
{
	const struct udp_pcb *p = &so->pcb;
	const union ip_addr *to = dst != NULL ? &dst->addr : &p->remote;
	const uint32_t hlen = UDP_HLEN + (v4 ? IP4_HLEN : IP6_HLEN);
	const struct ip_path *path;

	/* One buffer that is ours alone, with room. */
	if (!flat_alone(m) || !RTE_MBUF_DIRECT(m) || m->data_off < ETH_HLEN + hlen)
		return NULL;
	path = path_kept(s, p, to, v4);
	if (path == NULL || !is_plain(path) || m->data_len + hlen > path->mtu)
		return NULL;
	/* Without don't-fragment there is an identification; the scope of a link-local address wants looking at. */
	if (v4)
		return so->mtu_discover >= IP_PMTUDISC_WANT ? path : NULL;
	return !ip6_link_local(to) && path->nif->mtu6 != 0 ? path : NULL;
}

static __rte_always_inline int
output(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos, struct rte_mbuf *m, bool v4)
{
	struct fields f;

	f.path = plain_path(s, so, dst, m, v4);
	if (unlikely(f.path == NULL))
		return socket_output_any(s, so, dst, tos, m);
	f.sport_be = so->pcb.lport_be;
	f.dport_be = dst != NULL ? dst->port_be : so->pcb.rport_be;
	f.ulen = m->data_len + UDP_HLEN;
	f.tos = tos;
	f.ttl = v4 ? so->ttl : so->hops;
	send_plain(s, &f, v4, m);
	return 0;
}

int
flat_output(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos, struct rte_mbuf *m)
{
	const struct udp_pcb *p = &so->pcb;

	/* A socket that has its port, a destination that has one too, of the same family. */
	if (unlikely(!p->bound || (dst != NULL ? dst->family != p->family || dst->port_be == 0 :
		!p->connected || p->rport_be == 0)))
		return socket_output_any(s, so, dst, tos, m);
	if (likely(p->family == ADDR_INET))
		return output(s, so, dst, tos, m, true);
	return output(s, so, dst, tos, m, false);
}

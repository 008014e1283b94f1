/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP sent: path (cached), header, checksum. */
#include <errno.h>

#include "udp_priv.h"

#define UDP_MAX4 (65535 - 20 - UDP_HLEN)
#define UDP_MAX6 (65535 - UDP_HLEN)
#define UDP_CSUM_OFF 6

/*
 * The path to dst. A connected socket keeps its own; the others share a direct-mapped cache, so that a server
 * with many clients does not look the route up for each answer. No look-up in steady state.
 */
static int
path_get(struct stack *s, struct udp_pcb *p, int family, const union ip_addr *dst, const union ip_addr *src,
	struct netif *nif, const struct ip_path **out)
{
	struct udp_path *c;
	int err;

	if (p->path.nif != NULL && p->path.family == family && ip_addr_eq(&p->path.dst, dst) &&
	    ip_addr_eq(&p->path_src, src) && (nif == NULL || p->path.nif == nif) &&
	    ip_path_valid(s, &p->path)) {
		*out = &p->path;
		return 0;
	}
	if (p->connected && ip_addr_eq(dst, &p->remote)) {
		err = ip_path_lookup(s, family, dst, src, nif, &p->path);
		if (err != 0)
			p->path.nif = NULL;
		p->path_src = *src;
		*out = &p->path;
		return err;
	}
	c = &s->udp->paths[udp_path_slot(dst)];
	if (c->path.nif == NULL || c->path.family != family || !ip_addr_eq(&c->path.dst, dst) ||
	    !ip_addr_eq(&c->want_src, src) || c->want_nif != nif || !ip_path_valid(s, &c->path)) {
		err = ip_path_lookup(s, family, dst, src, nif, &c->path);
		if (err != 0) {
			c->path.nif = NULL;
			return err;
		}
		c->want_src = *src;
		c->want_nif = nif;
	}
	*out = &c->path;
	return 0;
}

/* Where to and from: fills what o leaves open. */
static int
resolve(struct stack *s, const struct udp_pcb *p, const struct udp_send_opts *o, struct udp_send_opts *r,
	union ip_addr *dst, union ip_addr *src)
{
	static const union ip_addr none;
	bool group;
	int err;

	*r = *o;
	if (o->dst == NULL) {
		if (!p->connected)
			return -EDESTADDRREQ;
		*dst = p->remote;
		r->port_be = p->rport_be;
		r->family = p->family;
	} else {
		*dst = *o->dst;
	}
	if (r->port_be == 0)
		return -EINVAL;
	if (ip_addr_any(dst)) {
		err = udp_this_host(s, r->family, dst);
		if (err != 0)
			return err;
	}
	if (o->src != NULL && !ip_addr_any(o->src)) {
		*src = *o->src;
	} else if (ip_addr_any(&p->local)) {
		*src = none;
	} else {
		if (p->family != r->family)
			return -ENETUNREACH;
		group = p->family == ADDR_INET ? ip4_multicast(p->local.v4) : ip6_multicast(&p->local);
		*src = group ? none : p->local;
	}
	if (r->nif == NULL && p->nif != NULL && p->family == r->family)
		r->nif = p->nif;
	return 0;
}

static void
fill_tx(struct ip_tx *tx, const struct ip_path *path, const struct udp_send_opts *r, uint32_t ulen)
{
	uint32_t hlen = path->family == ADDR_INET ? 20 : 40;

	memset(tx, 0, sizeof(*tx));
	tx->proto = IP_PROTO_UDP;
	tx->tos = r->tos;
	tx->ttl = r->ttl;
	if (path->flags & IP_PATH_MULTICAST)
		tx->ttl = r->mcast_ttl != 0 ? r->mcast_ttl : 1;
	tx->df = r->df || (r->want_df && path->family == ADDR_INET && ulen + hlen <= path->mtu);
}

/*
 * The header before m's payload, with its checksum. In software and with the payload in one piece it is summed in a
 * register and stored once; chains and ports that do it go the general way.
 */
static void
fill_header(struct stack *s, const struct ip_path *path, uint16_t sport_be, uint16_t dport_be, struct rte_mbuf *m)
{
	uint32_t ulen = shim_buf_len(m);
	uint64_t h = sport_be | (uint64_t)dport_be << 16 | (uint64_t)be16((uint16_t)ulen) << 32, sum;
	uint16_t csum;

	if (unlikely(m->next != NULL || (path->nif->cfg.tx_offloads & SHIM_TX_UDP_CKSUM))) {
		memcpy(shim_buf_data(m), &h, sizeof(h));
		ip_l4_csum(s, path, IP_PROTO_UDP, UDP_CSUM_OFF, m);
		return;
	}
	if (path->family == ADDR_INET)
		sum = csum_pseudo4(path->src.v4, path->dst.v4, IP_PROTO_UDP, (uint16_t)ulen);
	else
		sum = csum_pseudo6(path->src.v6, path->dst.v6, IP_PROTO_UDP, ulen);
	sum = (sum & 0xffffffff) + (sum >> 32) + (h & 0xffffffff) + (h >> 32); /* no carry is lost */
	csum = csum_finish(csum_add(sum, shim_buf_data_off(m, uint8_t *, UDP_HLEN), ulen - UDP_HLEN));
	h |= (uint64_t)(csum == 0 ? 0xffff : csum) << 48;
	memcpy(shim_buf_data(m), &h, sizeof(h));
}

int
udp_output(struct stack *s, struct udp_pcb *p, const struct udp_send_opts *o, struct rte_mbuf *m)
{
	struct udp_send_opts r;
	union ip_addr dst, src;
	const struct ip_path *path;
	struct ip_tx tx;
	uint32_t len = shim_buf_len(m);
	int err;

	err = resolve(s, p, o, &r, &dst, &src);
	if (err == 0 && len > (r.family == ADDR_INET ? UDP_MAX4 : UDP_MAX6))
		err = -EMSGSIZE;
	if (err == 0 && !p->bound)
		err = udp_autobind(s, p, &dst, r.port_be);
	if (err == 0)
		err = path_get(s, p, r.family, &dst, &src, r.nif, &path);
	if (err == 0 && (path->flags & IP_PATH_BROADCAST) && !p->broadcast)
		err = -EACCES;
	if (err == 0 && r.df && len + UDP_HLEN + (r.family == ADDR_INET ? 20 : 40) > path->mtu)
		err = -EMSGSIZE;
	if (err != 0) {
		shim_buf_free(s->shim, m);
		return err;
	}
	m = ip_prepend(s, m, UDP_HLEN);
	if (m == NULL)
		return -ENOBUFS;
	ip_clear_offloads(m); /* a datagram that is forwarded or echoed still has what its port said */
	fill_tx(&tx, path, &r, len + UDP_HLEN);
	fill_header(s, path, p->lport_be, r.port_be, m);
	if ((path->flags & (IP_PATH_MULTICAST | IP_PATH_BROADCAST)) == 0)
		stack_udp_flow(s, path->family, &dst, r.port_be, &path->src, p->lport_be);
	return ip_output(s, path, &tx, m);
}

int
udp_path_mtu(struct stack *s, struct udp_pcb *p)
{
	const struct ip_path *path;
	union ip_addr dst = p->remote, src = p->local;
	int err;

	if (!p->connected)
		return -ENOTCONN;
	err = path_get(s, p, p->family, &dst, &src, p->nif, &path);
	return err == 0 ? path->mtu : err;
}

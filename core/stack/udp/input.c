/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP received: header, checksum, demultiplexing, errors from the network. */
#include <errno.h>

#include "udp_priv.h"

#define UDP_OFF_SPORT 0
#define UDP_OFF_DPORT 2
#define UDP_OFF_LEN 4
#define UDP_OFF_CSUM 6

static void
udp_drop(struct stack *s, const struct ip_rx *rx, enum stack_drop r, struct rte_mbuf *m)
{
	stack_drop(s, rx->nif, r, m);
}

/*
 * Is the datagram's checksum good? The port's verdict counts for whole packets only: pieces of a reassembled
 * one were judged one by one. "None" is a port's (virtio's) word for data that is known to be good
 * although the field is not complete. Returns the reason for a drop, or STACK_DROP_COUNT.
 */
static inline enum stack_drop
udp_csum_check(const struct ip_rx *rx, const struct rte_mbuf *m, uint16_t csum, uint16_t ulen)
{
	uint64_t sum;

	if (csum == 0)
		return rx->family == ADDR_INET6 ? STACK_DROP_UDP_ZERO_CSUM6 : STACK_DROP_COUNT;
	if (rx->flags & IP_RX_L4_CSUM_OK)
		return STACK_DROP_COUNT;
	if (!(rx->flags & IP_RX_REASSEMBLED)) {
		switch (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) {
		case RTE_MBUF_F_RX_L4_CKSUM_GOOD:
		case RTE_MBUF_F_RX_L4_CKSUM_NONE:
			return STACK_DROP_COUNT;
		case RTE_MBUF_F_RX_L4_CKSUM_BAD:
			return STACK_DROP_L4_CSUM_HW;
		}
	}
	if (rx->family == ADDR_INET)
		sum = csum_pseudo4(rx->src.v4, rx->dst.v4, IP_PROTO_UDP, ulen);
	else
		sum = csum_pseudo6(rx->src.v6, rx->dst.v6, IP_PROTO_UDP, ulen);
	if (likely(m->nb_segs == 1))
		sum = csum_add_short(sum, shim_buf_data_off(m, const uint8_t *, rx->l4_off), ulen);
	else
		sum = csum_add_chain(sum, m, rx->l4_off, ulen);
	return csum_good(sum) ? STACK_DROP_COUNT : STACK_DROP_UDP_CSUM;
}

/* Does a pcb of the port want a datagram that is addressed to many? */
static bool
wants_group(const struct udp_pcb *p, const struct ip_rx *rx, uint16_t sport_be)
{
	if (p->nif != NULL && p->nif != rx->nif)
		return false;
	if (p->connected)
		return p->family == rx->family && p->rport_be == sport_be &&
			ip_addr_eq(&p->remote, &rx->src);
	if (p->family != rx->family)
		return p->family == ADDR_INET6 && !p->v6only && ip_addr_any(&p->local);
	return ip_addr_any(&p->local) || ip_addr_eq(&p->local, &rx->dst);
}

/* Multicast and broadcast: every socket that matches gets one (a deep copy each, but for the last). */
static void
deliver_group(struct stack *s, const struct ip_rx *rx, uint16_t sport_be, uint16_t dport_be, struct rte_mbuf *m)
{
	struct udp_port *pt = udp_port_find(s->udp, dport_be);
	struct udp_pcb *last = NULL;
	struct list *it;

	if (pt != NULL) {
		list_for_each(it, &pt->pcbs) {
			struct udp_pcb *p = list_entry(it, struct udp_pcb, on_port);
			struct rte_mbuf *c;

			if (!wants_group(p, rx, sport_be))
				continue;
			if (last != NULL) {
				c = stack_copy(s, m, 0, UINT32_MAX);
				if (c != NULL)
					socket_udp_deliver(s, last->so, rx, sport_be, c);
				else
					stack_count(s, STACK_DROP_NO_BUFFER);
			}
			last = p;
		}
	}
	if (last == NULL)
		udp_drop(s, rx, STACK_DROP_UDP_NO_PORT, m);
	else
		socket_udp_deliver(s, last->so, rx, sport_be, m);
}

/* Nobody listens: an ICMP error to a sender that is one host, unless buffers are short (STK-9). */
static void
no_port(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	if (stack_shed(s)) {
		udp_drop(s, rx, STACK_DROP_BACKPRESSURE, m);
		return;
	}
	ip_send_unreach(s, rx, IP_UNREACH_PORT, m);
	udp_drop(s, rx, STACK_DROP_UDP_NO_PORT, m);
}

void
udp_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	const uint8_t *h;
	uint8_t copy[UDP_HLEN];
	uint16_t sport, dport, ulen, csum;
	enum stack_drop why;
	struct udp_pcb *p;

	if (rx->l4_len < UDP_HLEN || shim_buf_len(m) < rx->l4_off + rx->l4_len) {
		udp_drop(s, rx, STACK_DROP_UDP_SHORT, m);
		return;
	}
	h = shim_buf_read(m, rx->l4_off, UDP_HLEN, copy);
	memcpy(&sport, h + UDP_OFF_SPORT, 2);
	memcpy(&dport, h + UDP_OFF_DPORT, 2);
	memcpy(&csum, h + UDP_OFF_CSUM, 2);
	ulen = get_be16(h + UDP_OFF_LEN);
	if (ulen < UDP_HLEN || ulen > rx->l4_len) {
		udp_drop(s, rx, STACK_DROP_UDP_LENGTH, m);
		return;
	}
	why = udp_csum_check(rx, m, csum, ulen);
	if (why != STACK_DROP_COUNT) {
		udp_drop(s, rx, why, m);
		return;
	}
	if (dport == 0) {
		udp_drop(s, rx, STACK_DROP_UDP_PORT_ZERO, m);
		return;
	}
	if (rx->flags & (IP_RX_MULTICAST | IP_RX_BROADCAST)) {
		p = NULL;
	} else {
		p = udp_lookup(s, rx, sport, dport);
		if (p == NULL) {
			no_port(s, rx, m);
			return;
		}
	}
	if (shim_buf_len(m) > (uint32_t)rx->l4_off + ulen) /* bytes past the stated length are not data */
		ip_trim(s, m, (uint32_t)rx->l4_off + ulen);
	if (shim_buf_adj(m, (uint16_t)(rx->l4_off + UDP_HLEN)) == NULL)
		ip_cut_head(m, (uint32_t)rx->l4_off + UDP_HLEN);
	if (p == NULL) {
		deliver_group(s, rx, sport, dport, m);
		return;
	}
	stack_udp_flow(s, rx->family, &rx->src, sport, &rx->dst, dport);
	socket_udp_deliver(s, p->so, rx, sport, m);
}

void
udp_error(struct stack *s, const struct ip_error *e)
{
	struct udp_state *u = s->udp;
	uint16_t sport, dport;
	struct udp_pcb *p;
	unsigned int i;

	if (e->l4_len < UDP_HLEN)
		return;
	memcpy(&sport, e->l4 + UDP_OFF_SPORT, 2);
	memcpy(&dport, e->l4 + UDP_OFF_DPORT, 2);
	p = udp_conn_find(u, e->family, &e->src, sport, &e->dst, dport, NULL);
	if (e->err == EMSGSIZE) { /* the path MTU fell: cached paths to it are out of date */
		for (i = 0; i < UDP_PATHS; i++) {
			if (u->paths[i].path.nif != NULL && ip_addr_eq(&u->paths[i].path.dst, &e->dst))
				u->paths[i].path.nif = NULL;
		}
		if (p != NULL)
			p->path.nif = NULL;
	}
	/* Only the peer's word that it does not listen ends anything (RFC 1122 4.1.3.3); others are soft. */
	if (p != NULL && (e->err == ECONNREFUSED || e->err == ENOPROTOOPT || e->err == EMSGSIZE))
		socket_error(s, p->so, e->err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 reassembly: the header's side of it; ip_reass.c keeps the pieces. */
#include <errno.h>

#include "../priv.h"
#include "ip_reass.h"

/* RFC 1122 3.3.2: time exceeded, code 1, only when the first fragment is there to be quoted. */
static void
expired(struct stack *s, struct netif *nif, const struct rte_mbuf *first)
{
	if (first != NULL)
		icmp4_send_error(s, nif, first, ICMP4_TIME_EXCEEDED, 1);
}

int
ip4_reass_init(struct stack *s)
{
	struct ip_reass_config cfg = { .timeout_ns = IP4_REASS_TIMEOUT_NS, .overlap = STACK_DROP_IP4_FRAG_OVERLAP,
		.timeout = STACK_DROP_IP4_FRAG_TIMEOUT, .limit = STACK_DROP_IP4_FRAG_LIMIT, .expired = expired };

	return ip_reass_create(s, &cfg, &s->ip4->reass);
}

void
ip4_reass_release(struct stack *s)
{
	ip_reass_destroy(s->ip4->reass);
	s->ip4->reass = NULL;
}

/* The whole datagram gets the header of one that was never cut. */
static struct rte_mbuf *
finish(struct stack *s, struct netif *nif, struct ip_reass_piece *p)
{
	struct ip4_hdr *h;
	struct rte_mbuf *m;

	/* The first fragment's header may be longer than the one its end was checked with. */
	if (p->hlen + p->len > UINT16_MAX) {
		stack_drop(s, nif, STACK_DROP_IP4_FRAG_TOO_BIG, p->m);
		return NULL;
	}
	m = ip_pullup(s, p->m, p->hlen, true);
	if (m == NULL)
		return NULL;
	h = shim_buf_data(m);
	h->total_len = be16((uint16_t)(p->hlen + p->len));
	h->frag = 0;
	h->csum = 0;
	h->csum = ip4_header_csum(h, p->hlen);
	return m;
}

struct rte_mbuf *
ip4_reass_input(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	const struct ip4_hdr *h = shim_buf_data(m);
	uint16_t frag = be16(h->frag);
	struct ip_reass_piece p;
	enum stack_drop why;

	memset(&p, 0, sizeof(p));
	p.key.src = ip_addr_v4(h->src);
	p.key.dst = ip_addr_v4(h->dst);
	p.key.id = h->id;
	p.key.proto = h->proto;
	p.nif = nif;
	p.m = m;
	p.hlen = (h->ver_ihl & 15) * 4;
	p.off = (frag & IP4_OFFMASK) * 8u;
	p.len = shim_buf_len(m) - p.hlen;
	p.more = (frag & IP4_MF) != 0;
	if (p.len == 0 || (p.more && p.len % 8 != 0)) {
		stack_drop(s, nif, STACK_DROP_IP4_FRAG_MALFORMED, m);
		return NULL;
	}
	if (p.hlen + p.off + p.len > UINT16_MAX) {
		stack_drop(s, nif, STACK_DROP_IP4_FRAG_TOO_BIG, m);
		return NULL;
	}
	if (stack_shed(s)) {
		stack_drop(s, nif, STACK_DROP_BACKPRESSURE, m);
		return NULL;
	}
	switch (ip_reass_add(s->ip4->reass, &p)) {
	case IP_REASS_DONE:
		return finish(s, nif, &p);
	case IP_REASS_KEPT:
		return NULL;
	case IP_REASS_DUPLICATE:
		why = STACK_DROP_IP4_FRAG_DUPLICATE;
		break;
	case IP_REASS_OVERLAP:
		why = STACK_DROP_IP4_FRAG_OVERLAP;
		break;
	default:
		why = STACK_DROP_IP4_FRAG_LIMIT;
		break;
	}
	stack_drop(s, nif, why, m);
	return NULL;
}

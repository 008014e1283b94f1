/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of IPv6 (RFC 8200 4.5, 5722, 6946, 7112): what is theirs alone; the pieces are kept by
 * ip_reass. */
#include "../priv.h"
#include "ip_reass.h"

#define FRAG_HLEN 8u
#define TIMEOUT_NS 60000000000ull
#define CHAIN_BYTES (IP6_HLEN + 2 * IP6_MAX_EXT_BYTES) /* of a first fragment that are looked at */

/* Only the first fragment lets an error be sent, and only it may be quoted (RFC 8200 4.5). */
static void
expired(struct stack *s, struct netif *nif, const struct rte_mbuf *first)
{
	const struct ipv6_hdr *h;
	struct ip_rx rx = { .nif = nif, .family = ADDR_INET6 };

	if (first == NULL)
		return;
	h = shim_buf_data(first);
	rx.src = h->src;
	rx.dst = h->dst;
	if (ip6_multicast(&rx.dst))
		rx.flags |= IP_RX_MULTICAST;
	icmp6_error(s, &rx, ICMP6_TIME, 1, 0, first, false);
}

int
ip6_reass_init(struct stack *s)
{
	static const struct ip_reass_config cfg = {
		.timeout_ns = TIMEOUT_NS,
		.overlap = STACK_DROP_IP6_FRAG_OVERLAP,
		.timeout = STACK_DROP_IP6_FRAG_TIMEOUT,
		.limit = STACK_DROP_IP6_FRAG_LIMIT,
		.expired = expired,
	};

	return ip_reass_create(s, &cfg, &s->ip6->reass);
}

void
ip6_reass_release(struct stack *s)
{
	ip_reass_destroy(s->ip6->reass);
	s->ip6->reass = NULL;
}

static bool
refuse(struct stack *s, struct ip6_pkt *p, uint8_t code, uint32_t at, enum stack_drop why)
{
	icmp6_error(s, &p->rx, ICMP6_PARAM, code, at, p->m, true);
	ip6_drop(s, p, why);
	return false;
}

/* RFC 7112: a first fragment has all headers up to the upper layer's. */
static bool
chain_in_first(const struct rte_mbuf *m)
{
	uint8_t copy[CHAIN_BYTES];
	uint32_t n = shim_buf_len(m) < CHAIN_BYTES ? shim_buf_len(m) : CHAIN_BYTES;
	const uint8_t *b = shim_buf_read(m, 0, n, copy);

	return ip6_chain_whole(b, n);
}

/* Takes the fragment header out of the whole packet w, whose first hlen bytes end with it. */
static bool
finish(struct stack *s, struct ip6_pkt *p, struct ip_reass_piece *w)
{
	uint32_t at = offsetof(struct ipv6_hdr, next), off = IP6_HLEN;
	uint8_t *b;

	p->m = ip_pullup(s, w->m, w->hlen, true);
	if (p->m == NULL)
		return false;
	b = shim_buf_data(p->m);
	while (off + FRAG_HLEN < w->hlen) {
		at = off;
		off += (b[off + 1] + 1u) * 8;
	}
	b[at] = b[off];
	p->next = b[off];
	memmove(b + FRAG_HLEN, b, off);
	put_be16(b + FRAG_HLEN + offsetof(struct ipv6_hdr, plen_be),
			(uint16_t)(off - IP6_HLEN + w->len));
	shim_buf_adj(p->m, FRAG_HLEN);
	p->next_at = (uint16_t)at;
	p->off = (uint16_t)off;
	p->m->ol_flags &= ~RTE_MBUF_F_RX_L4_CKSUM_MASK; /* was about the first piece */
	p->fragment = true;
	return true;
}

static bool
keep(struct stack *s, struct ip6_pkt *p, const uint8_t *h, uint32_t off, uint32_t len)
{
	struct ip_reass_piece piece = {
			.key = {.src = p->rx.src, .dst = p->rx.dst, .id = get_be32(h + 4)},
			.nif = p->rx.nif,
			.m = p->m,
			.off = off,
			.len = len,
			.hlen = (uint16_t)(p->off + FRAG_HLEN),
			.more = (h[3] & 1) != 0,
	};

	if (ip6_link_local(&p->rx.src) || ip6_link_local(&p->rx.dst) || ip6_multicast(&p->rx.dst))
		piece.key.ifindex = (uint16_t)p->rx.nif->index;
	switch (ip_reass_add(s->ip6->reass, &piece)) {
	case IP_REASS_DONE:
		return finish(s, p, &piece);
	case IP_REASS_KEPT:
		p->m = NULL;
		return false;
	case IP_REASS_DUPLICATE:
		ip6_drop(s, p, STACK_DROP_IP6_FRAG_DUPLICATE);
		return false;
	case IP_REASS_OVERLAP:
		ip6_drop(s, p, STACK_DROP_IP6_FRAG_OVERLAP);
		return false;
	default:
		ip6_drop(s, p, STACK_DROP_IP6_FRAG_LIMIT);
		return false;
	}
}

bool
ip6_reass_input(struct stack *s, struct ip6_pkt *p)
{
	const uint8_t *h;
	uint32_t off, len;
	bool more;

	if (p->fragment || p->off + FRAG_HLEN > shim_buf_len(p->m)) {
		ip6_drop(s, p, STACK_DROP_IP6_FRAG_MALFORMED);
		return false;
	}
	p->m = ip_pullup(s, p->m, p->off + FRAG_HLEN, false);
	if (p->m == NULL)
		return false;
	h = shim_buf_data_off(p->m, const uint8_t *, p->off);
	off = get_be16(h + 2) & 0xfff8u;
	more = (h[3] & 1) != 0;
	len = shim_buf_len(p->m) - p->off - FRAG_HLEN;
	/* atomic (RFC 6946): alone, whatever else has its identification */
	if (off == 0 && !more) {
		p->fragment = true;
		p->next = h[0];
		p->next_at = p->off;
		p->off = (uint16_t)(p->off + FRAG_HLEN);
		return true;
	}
	if (more && len % 8 != 0)
		return refuse(s, p, 0, offsetof(struct ipv6_hdr, plen_be),
				STACK_DROP_IP6_FRAG_MALFORMED);
	if (p->off + off + len > IP6_HLEN + (uint32_t)IP_REASS_MAX)
		return refuse(s, p, 0, p->off + 2u, STACK_DROP_IP6_FRAG_TOO_BIG);
	if (len == 0) {
		ip6_drop(s, p, STACK_DROP_IP6_FRAG_MALFORMED);
		return false;
	}
	if (off == 0 && !chain_in_first(p->m))
		return refuse(s, p, 3, 0, STACK_DROP_IP6_FRAG_HEADER_CHAIN);
	if (stack_shed(s)) {
		ip6_drop(s, p, STACK_DROP_BACKPRESSURE);
		return false;
	}
	return keep(s, p, h, off, len);
}

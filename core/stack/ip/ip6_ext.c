/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 extension headers (RFC 8200 4): any order, hop-by-hop only first, bounded in number and
 * bytes. */
#include "../priv.h"

#define OPT_PAD1 0
#define OPT_PADN 1
#define OPT_ROUTER_ALERT 5
#define OPT_JUMBO 0xc2

/* Makes the first off + n bytes contiguous; NULL: p is gone (too short for them, or no buffer). */
static const uint8_t *
need(struct stack *s, struct ip6_pkt *p, uint32_t n)
{
	if (p->off + n > shim_buf_len(p->m)) {
		ip6_drop(s, p, STACK_DROP_IP6_EXT_MALFORMED);
		return NULL;
	}
	p->m = ip_pullup(s, p->m, p->off + n, false);
	if (p->m == NULL)
		return NULL;
	return shim_buf_data_off(p->m, const uint8_t *, p->off);
}

/* Drops p for `why` after a parameter problem at byte `at` of the packet. */
static bool
refuse(struct stack *s, struct ip6_pkt *p, uint8_t code, uint32_t at, enum stack_drop why)
{
	icmp6_error(s, &p->rx, ICMP6_PARAM, code, at, p->m, false);
	ip6_drop(s, p, why);
	return false;
}

/* An option we do not know: its two highest bits say what to do (RFC 8200 4.2). */
static bool
unknown_option(struct stack *s, struct ip6_pkt *p, uint8_t type, uint32_t at)
{
	enum stack_drop why = type == OPT_JUMBO ? STACK_DROP_IP6_JUMBO : STACK_DROP_IP6_OPTION;

	switch (type >> 6) {
	case 0:
		return true;
	case 1:
		ip6_drop(s, p, why);
		return false;
	case 3:
		if ((p->rx.flags & IP_RX_MULTICAST) != 0) {
			ip6_drop(s, p, why);
			return false;
		}
		break;
	}
	return refuse(s, p, 2, at, why);
}

/* A hop-by-hop or destination options header of len bytes at h. */
static bool
options(struct stack *s, struct ip6_pkt *p, const uint8_t *h, uint32_t len)
{
	uint32_t i = 2;

	while (i < len) {
		uint8_t type = h[i];
		uint32_t n;

		if (type == OPT_PAD1) {
			i++;
			continue;
		}
		if (i + 2 > len || i + 2 + h[i + 1] > len)
			return refuse(s, p, 0, p->off + i, STACK_DROP_IP6_EXT_MALFORMED);
		n = 2u + h[i + 1];
		if (type != OPT_PADN && type != OPT_ROUTER_ALERT &&
				!unknown_option(s, p, type, p->off + i))
			return false;
		i += n;
	}
	return true;
}

/* No routing type is known; type 0 is dead (RFC 5095), others pass when no segment is left (RFC
 * 8200 4.4). */
static bool
routing(struct stack *s, struct ip6_pkt *p, const uint8_t *h)
{
	if (h[3] == 0)
		return true;
	return refuse(s, p, 0, p->off + 2, h[2] == 0 ? STACK_DROP_IP6_RH0 : STACK_DROP_IP6_ROUTING);
}

/* One header other than the fragment header; steps over it. */
static bool
one_header(struct stack *s, struct ip6_pkt *p)
{
	const uint8_t *h = need(s, p, 8);
	uint32_t len;
	bool ok;

	if (h == NULL)
		return false;
	len = (h[1] + 1u) * 8;
	if (p->off + len - IP6_HLEN > IP6_MAX_EXT_BYTES) {
		ip6_drop(s, p, STACK_DROP_IP6_EXT_LIMIT);
		return false;
	}
	h = need(s, p, len);
	if (h == NULL)
		return false;
	ok = p->next == IP6_NEXT_ROUTING ? routing(s, p, h) : options(s, p, h, len);
	if (!ok)
		return false;
	p->next = h[0];
	p->next_at = p->off;
	p->off = (uint16_t)(p->off + len);
	return true;
}

bool
ip6_ext_walk(struct stack *s, struct ip6_pkt *p)
{
	bool more = true;

	while (more) {
		switch (p->next) {
		case IP6_NEXT_HOPOPTS:
			if (p->count != 0)
				return refuse(s, p, 1, p->next_at, STACK_DROP_IP6_EXT_ORDER);
			break;
		case IP6_NEXT_DSTOPTS:
		case IP6_NEXT_ROUTING:
		case IP6_NEXT_FRAGMENT:
			break;
		default:
			more = false;
			continue;
		}
		if (++p->count > IP6_MAX_EXT) {
			ip6_drop(s, p, STACK_DROP_IP6_EXT_LIMIT);
			return false;
		}
		if (p->next == IP6_NEXT_FRAGMENT ? !ip6_reass_input(s, p) : !one_header(s, p))
			return false;
	}
	p->rx.l4_off = p->off;
	p->rx.l4_len = shim_buf_len(p->m) - p->off;
	if (p->fragment)
		p->rx.flags |= IP_RX_REASSEMBLED;
	return need(s, p, p->rx.l4_len < 20 ? p->rx.l4_len : 20) != NULL;
}

/* Is h the header of an upper layer that has to be looked into, and how many bytes of it make it
 * whole? */
static uint32_t
l4_header(uint8_t proto)
{
	switch (proto) {
	case IP_PROTO_TCP:
		return 20;
	case IP_PROTO_UDP:
	case IP_PROTO_ICMP6:
		return 8;
	default:
		return 0;
	}
}

bool
ip6_find_l4(const uint8_t *p, uint32_t n, uint8_t *proto, uint32_t *off, uint32_t *frag_off)
{
	uint32_t at = IP6_HLEN;

	*frag_off = 0;
	*off = 0;
	if (n < IP6_HLEN)
		return false;
	*proto = p[6];
	for (unsigned int i = 0; i <= IP6_MAX_EXT; i++) {
		uint32_t len;

		*off = at;
		if (*proto != IP6_NEXT_HOPOPTS && *proto != IP6_NEXT_DSTOPTS &&
				*proto != IP6_NEXT_ROUTING && *proto != IP6_NEXT_FRAGMENT)
			return *frag_off == 0 && at <= n;
		if (at + 8 > n)
			return false;
		len = (p[at + 1] + 1u) * 8;
		if (*proto == IP6_NEXT_FRAGMENT) {
			len = 8;
			*frag_off = get_be16(p + at + 2) & 0xfff8u;
		}
		*proto = p[at];
		at += len;
	}
	return false;
}

bool
ip6_chain_whole(const uint8_t *p, uint32_t n)
{
	uint32_t off, frag_off;
	uint8_t proto;

	return ip6_find_l4(p, n, &proto, &off, &frag_off) && off + l4_header(proto) <= n;
}

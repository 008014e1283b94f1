/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 input (RFC 8200): the fixed header, who it is for, delivery; life of the protocol's state.
 */
#include <errno.h>

#include "../priv.h"

const union ip_addr ip6_any;
const union ip_addr ip6_all_nodes = { .v6 = { 0xff, 2, [15] = 1 } };
const union ip_addr ip6_all_routers = { .v6 = { 0xff, 2, [15] = 2 } };
const union ip_addr ip6_all_mld2 = { .v6 = { 0xff, 2, [15] = 0x16 } };

int
ip6_init(struct stack *s)
{
	struct ip6_state *st = shim_malloc(s->shim, sizeof(*st));
	int rc;

	if (st == NULL)
		return -ENOMEM;
	s->ip6 = st;
	st->id_seed = shim_random(s->shim);
	for (unsigned int i = 0; i <= STACK_MAX_IFS; i++) {
		list_init(&st->ifs[i].groups);
		timer_init(&st->ifs[i].mld_timer, mld_timer, &st->ifs[i]);
		timer_init(&st->ifs[i].ra_timer, slaac_timer, &st->ifs[i]);
	}
	rc = ip6_reass_init(s);
	if (rc != 0) {
		shim_free(s->shim, st);
		s->ip6 = NULL;
	}
	return rc;
}

void
ip6_release(struct stack *s)
{
	if (s->ip6 == NULL)
		return;
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		ip6_netif_down(s, s->ifs[i]);
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		mld_release(s, s->ifs[i]);
	ip6_reass_release(s);
	shim_free(s->shim, s->ip6);
	s->ip6 = NULL;
}

struct ip6_if *
ip6_if(struct stack *s, const struct netif *nif)
{
	struct ip6_if *i6 = &s->ip6->ifs[nif->index];

	if (i6->nif == NULL)
		i6->nif = stack_if_by_index(s, nif->index);
	return i6;
}

void
ip6_drop(struct stack *s, struct ip6_pkt *p, enum stack_drop r)
{
	stack_drop(s, p->rx.nif, r, p->m);
	p->m = NULL;
}

static bool
is_loopback_or_mapped(const union ip_addr *a)
{
	return ip6_loopback(a) || ip6_v4_mapped(a);
}

/* Sources no other station can have (RFC 4291 2.5.2, 2.5.3, 2.7; RFC 4942 2.2). */
static bool
source_martian(struct stack *s, struct ip6_pkt *p, bool looped)
{
	const union ip_addr *src = &p->rx.src;

	if (ip6_multicast(src))
		return true;
	if (looped)
		return false;
	if (is_loopback_or_mapped(src) || is_loopback_or_mapped(&p->rx.dst))
		return true;
	if (ip_addr_any(src) && !ip6_multicast(&p->rx.dst))
		return true;
	/* a tentative address of ours is no proof: it may be the other station's */
	return ip6_may_own(s->ip6, src) && stack_owns6(s, src);
}

/* Is the packet for us? Sets the flags of what kind of destination it is. */
static bool
dest_ours(struct stack *s, struct ip6_pkt *p, bool looped)
{
	const union ip_addr *dst = &p->rx.dst;
	const struct netif_addr6 *a;

	if (ip6_multicast(dst)) {
		p->rx.flags |= IP_RX_MULTICAST;
		/* scope 0 is reserved, scope 1 never leaves an interface (RFC 4291 2.7) */
		if ((dst->v6[1] & 0x0f) == 0 || ((dst->v6[1] & 0x0f) == 1 && !looped))
			return false;
		return ip_addr_eq(dst, &ip6_all_nodes) || mld_joined(s, p->rx.nif, dst);
	}
	if (looped && ip6_loopback(dst))
		return true;
	if (!ip6_may_own(s->ip6, dst))
		return false;
	a = netif_find6(p->rx.nif, dst);
	if (a != NULL) {
		p->tentative = a->state == ADDR6_TENTATIVE;
		return p->tentative || ip6_addr_usable(a);
	}
	return !ip6_link_local(dst) && stack_owns6(s, dst);
}

/* The fixed header. false: dropped. */
static bool
read_header(struct stack *s, struct ip6_pkt *p)
{
	const struct ipv6_hdr *h;
	uint32_t vtf, plen;
	bool looped = s->loop.running;

	if (shim_buf_len(p->m) < IP6_HLEN)
		return ip6_drop(s, p, STACK_DROP_IP6_SHORT), false;
	p->m = ip_pullup(s, p->m, IP6_HLEN, false);
	if (p->m == NULL)
		return false;
	h = shim_buf_data(p->m);
	vtf = be32(h->vtf_be);
	if (vtf >> 28 != 6)
		return ip6_drop(s, p, STACK_DROP_IP6_VERSION), false;
	plen = be16(h->plen_be);
	if (plen == 0 && h->next == IP6_NEXT_HOPOPTS) /* RFC 2675 3; nothing else looks so */
		return ip6_drop(s, p, STACK_DROP_IP6_JUMBO), false;
	if (IP6_HLEN + plen > shim_buf_len(p->m))
		return ip6_drop(s, p, STACK_DROP_IP6_LENGTH), false;
	p->rx.src = h->src;
	p->rx.dst = h->dst;
	p->rx.family = ADDR_INET6;
	p->rx.ttl = h->hop;
	p->rx.tos = (uint8_t)(vtf >> 20);
	p->next = h->next;
	p->next_at = offsetof(struct ipv6_hdr, next);
	p->off = IP6_HLEN;
	if (IP6_HLEN + plen < shim_buf_len(p->m))
		ip_trim(s, p->m, IP6_HLEN + plen); /* the link's padding */
	if (source_martian(s, p, looped))
		return ip6_drop(s, p, STACK_DROP_IP6_MARTIAN), false;
	if (!dest_ours(s, p, looped))
		return ip6_drop(s, p, STACK_DROP_IP6_NOT_FOR_US), false;
	return true;
}

/* What the port said about the L4 checksum. false: it is bad, dropped. */
static bool
port_csum(struct stack *s, struct ip6_pkt *p)
{
	uint64_t said = p->m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	if (p->fragment || said == RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
		return true;
	if (said == RTE_MBUF_F_RX_L4_CKSUM_BAD)
		return ip6_drop(s, p, STACK_DROP_L4_CSUM_HW), false;
	p->rx.flags |= IP_RX_L4_CSUM_OK; /* GOOD, or NONE: never on a wire (virtio) */
	return true;
}

/* Of a tentative address only duplicate address detection may learn something (RFC 4862 5.4). */
static bool
is_dad(const struct ip6_pkt *p)
{
	uint8_t type;

	if (p->next != IP_PROTO_ICMP6 || p->rx.l4_len < 1)
		return false;
	type = *shim_buf_data_off(p->m, const uint8_t *, p->off);
	return type == ICMP6_NS || type == ICMP6_NA;
}

static void
deliver(struct stack *s, struct ip6_pkt *p)
{
	p->rx.proto = p->next;
	if (p->tentative && !is_dad(p)) {
		ip6_drop(s, p, STACK_DROP_IP6_NOT_FOR_US);
		return;
	}
	switch (p->next) {
	case IP_PROTO_UDP:
		if (port_csum(s, p))
			udp_input(s, &p->rx, p->m);
		return;
	case IP_PROTO_TCP:
		if (port_csum(s, p))
			tcp_input(s, &p->rx, p->m);
		return;
	case IP_PROTO_ICMP6:
		icmp6_input(s, &p->rx, p->m);
		return;
	case IP6_NEXT_NONE:
		ip6_drop(s, p, STACK_DROP_IP6_NO_NEXT);
		return;
	default:
		icmp6_error(s, &p->rx, ICMP6_PARAM, 1, p->next_at, p->m, false);
		ip6_drop(s, p, STACK_DROP_IP6_NEXT_UNKNOWN);
	}
}

void
ip6_input(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	struct ip6_pkt p = { .rx = { .nif = nif }, .m = m };

	if (nif->mtu6 == 0)
		ip6_drop(s, &p, STACK_DROP_IP6_OFF);
	else if (read_header(s, &p) && ip6_ext_walk(s, &p))
		deliver(s, &p);
}

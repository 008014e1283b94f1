/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery messages (RFC 4861): their checks, solicitations and advertisements both
 * ways. */
#include "../priv.h"

#define NS_HLEN 24 /* and of an advertisement: with the target */
#define RA_HLEN 16
#define REDIRECT_HLEN 40
#define OPT_SLLA 1
#define OPT_TLLA 2
#define OPT_PREFIX 3
#define OPT_MTU 5
#define NA_ROUTER 0x80
#define NA_SOLICITED 0x40
#define NA_OVERRIDE 0x20
#define HOPS 255

void
nd_solicited_node(const union ip_addr *a, union ip_addr *group)
{
	static const uint8_t prefix[13] = { 0xff, 2, [11] = 1, [12] = 0xff };

	memcpy(group->v6, prefix, sizeof(prefix));
	memcpy(group->v6 + 13, a->v6 + 13, 3);
}

bool
nd_options(const uint8_t *p, uint32_t n, struct nd_opts *o)
{
	*o = (struct nd_opts){ 0 };
	while (n > 0) {
		uint32_t len;

		if (n < 8 || p[1] == 0)
			return false;
		len = p[1] * 8u;
		if (len > n)
			return false;
		switch (p[0]) {
		case OPT_SLLA:
		case OPT_TLLA:
			if (len != 8 || (p[2] & 1) != 0) /* Ethernet's (RFC 2464 6); a group's is no
							    station's */
				return false;
			*(p[0] == OPT_SLLA ? &o->slla : &o->tlla) = p;
			break;
		case OPT_PREFIX:
			if (len != 32)
				return false;
			if (o->nb_prefix < ND_MAX_PREFIXES)
				o->prefix[o->nb_prefix++] = p;
			break;
		case OPT_MTU:
			if (len != 8)
				return false;
			o->mtu = p;
			break;
		}
		p += len;
		n -= len;
	}
	return true;
}

/* ---- out ------------------------------------------------------------------------------------- */

/* A solicitation or advertisement of NS_HLEN + 8 bytes at most. */
static void
send_message(struct stack *s, const struct ip_path *path, uint8_t type, uint8_t flags,
	const union ip_addr *target, uint8_t opt)
{
	uint8_t msg[NS_HLEN + 8] = { type, 0, 0, 0, flags };

	memcpy(msg + 8, target->v6, 16);
	msg[NS_HLEN] = opt;
	msg[NS_HLEN + 1] = 1;
	memcpy(msg + NS_HLEN + 2, path->nif->cfg.mac, ETH_ALEN);
	icmp6_send(s, path, HOPS, false, msg, opt != 0 ? sizeof(msg) : NS_HLEN);
}

void
nd_probe(struct stack *s, struct netif *nif, const union ip_addr *target)
{
	union ip_addr group;
	struct ip_path path;

	nd_solicited_node(target, &group);
	ip6_path_direct(&path, nif, &group, &ip6_any, NULL);
	send_message(s, &path, ICMP6_NS, 0, target, 0);
}

/* The source of the packet that waits, if it is ours, else the best (RFC 4861 7.2.2). NULL: none
 * may be used yet. */
static const struct netif_addr6 *
solicit_source(struct stack *s, struct neigh *n)
{
	const struct netif_addr6 *a;

	if (n->queued > 0 && n->queue[0]->data_len >= IP6_HLEN) {
		union ip_addr src = ((const struct ipv6_hdr *)shim_buf_data(n->queue[0]))->src;

		a = netif_find6(n->nif, &src);
		if (a != NULL && ip6_addr_usable(a))
			return a;
	}
	return ip6_src_select(s, n->nif, &n->addr);
}

void
nd_solicit(struct stack *s, struct neigh *n, bool unicast)
{
	const struct netif_addr6 *a = solicit_source(s, n);
	union ip_addr group;
	struct ip_path path;

	if (a == NULL || n->nif->mtu6 == 0)
		return;
	if (unicast) {
		ip6_path_direct(&path, n->nif, &n->addr, &a->addr, n->mac);
	} else {
		nd_solicited_node(&n->addr, &group);
		ip6_path_direct(&path, n->nif, &group, &a->addr, NULL);
	}
	send_message(s, &path, ICMP6_NS, 0, &n->addr, OPT_SLLA);
}

void
nd_advertise(struct stack *s, const struct netif_addr6 *a, const union ip_addr *dst)
{
	struct ip_path path;

	ip6_path_direct(&path, a->nif, dst != NULL ? dst : &ip6_all_nodes, &a->addr, NULL);
	if (dst != NULL) {
		path.flags = 0;
		path.neigh = neigh_get(s, a->nif, ADDR_INET6, dst);
		if (path.neigh == NULL)
			return;
	}
	send_message(s, &path, ICMP6_NA, dst != NULL ? NA_SOLICITED | NA_OVERRIDE : NA_OVERRIDE,
			&a->addr, OPT_TLLA);
}

/* ---- in -------------------------------------------------------------------------------------- */

static bool
refuse(enum stack_drop *why, enum stack_drop r)
{
	*why = r;
	return false;
}

/* RFC 4861 7.1.1, 7.2.3, RFC 4862 5.4.3. */
static bool
solicitation(struct stack *s, const struct ip_rx *rx, const uint8_t *p, const struct nd_opts *o,
	enum stack_drop *why)
{
	union ip_addr target = ip_addr_v6(p + 8), group;
	bool dad = ip_addr_any(&rx->src);
	struct netif_addr6 *a;

	if (ip6_multicast(&target))
		return refuse(why, STACK_DROP_ND_TARGET);
	nd_solicited_node(&target, &group);
	if (dad && (!ip_addr_eq(&rx->dst, &group) || o->slla != NULL))
		return refuse(why, STACK_DROP_ND_MALFORMED);
	a = netif_find6(rx->nif, &target);
	if (a == NULL || a->state == ADDR6_DUPLICATE)
		return refuse(why, STACK_DROP_ND_TARGET);
	if (a->state == ADDR6_TENTATIVE) {
		if (!dad)
			return refuse(why, STACK_DROP_ND_TARGET);
		slaac_conflict(s, a);
		return true;
	}
	if (!dad && o->slla != NULL) {
		struct neigh *n = neigh_get(s, rx->nif, ADDR_INET6, &rx->src);

		if (n != NULL)
			neigh_update(s, n, o->slla + 2, false, true);
	}
	nd_advertise(s, a, dad ? NULL : &rx->src);
	return true;
}

/* RFC 4861 7.1.2, 7.2.5; the table of states is neigh_update's. */
static bool
advertisement(struct stack *s, const struct ip_rx *rx, const uint8_t *p, const struct nd_opts *o,
	enum stack_drop *why)
{
	union ip_addr target = ip_addr_v6(p + 8);
	bool solicited = (p[4] & NA_SOLICITED) != 0, router = (p[4] & NA_ROUTER) != 0;
	struct netif_addr6 *a;
	struct neigh *n;

	if (ip6_multicast(&target))
		return refuse(why, STACK_DROP_ND_TARGET);
	if ((rx->flags & IP_RX_MULTICAST) != 0 && solicited)
		return refuse(why, STACK_DROP_ND_MALFORMED);
	a = netif_find6(rx->nif, &target);
	if (a != NULL) {
		if (a->state == ADDR6_TENTATIVE) {
			slaac_conflict(s, a);
			return true;
		}
		s->ip6->dad_conflicts++; /* too late: it is in use (RFC 4862 5.4.4); said, not acted
					    upon */
		return refuse(why, STACK_DROP_ND_TARGET);
	}
	n = neigh_lookup(s, rx->nif, ADDR_INET6, &target);
	if (n == NULL || (n->state == NEIGH_INCOMPLETE && o->tlla == NULL))
		return refuse(why, STACK_DROP_ND_TARGET);
	if (n->is_router && !router)
		slaac_router_gone(s, rx->nif, &target);
	n->is_router = router;
	neigh_update(s, n, o->tlla != NULL ? o->tlla + 2 : NULL, solicited,
			(p[4] & NA_OVERRIDE) != 0);
	return true;
}

/* RFC 4861 6.1.2. */
static bool
router_advertisement(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
	const struct nd_opts *o, enum stack_drop *why)
{
	if (!ip6_link_local(&rx->src))
		return refuse(why, STACK_DROP_ND_MALFORMED);
	if (rx->nif->cfg.accept_ra)
		slaac_ra(s, rx, p, n, o);
	return true;
}

/* RFC 4861 8.1: a host may leave redirects alone, and we do. */
static bool
redirect(const struct ip_rx *rx, const uint8_t *p, enum stack_drop *why)
{
	union ip_addr target = ip_addr_v6(p + 8), dst = ip_addr_v6(p + 24);

	if (!ip6_link_local(&rx->src) || ip6_multicast(&dst) || (!ip6_link_local(&target) &&
	    !ip_addr_eq(&target, &dst)))
		return refuse(why, STACK_DROP_ND_MALFORMED);
	return refuse(why, STACK_DROP_ND_REDIRECT);
}

bool
nd_input(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
		enum stack_drop *why)
{
	uint32_t hlen = p[0] == ICMP6_RA         ? RA_HLEN
			: p[0] == ICMP6_REDIRECT ? REDIRECT_HLEN
						 : NS_HLEN;
	struct nd_opts o;

	if (rx->ttl != HOPS)
		return refuse(why, STACK_DROP_ND_HOP_LIMIT);
	/* in a fragment: RFC 6980 5 */
	if (p[1] != 0 || n < hlen || (rx->flags & IP_RX_REASSEMBLED) != 0)
		return refuse(why, STACK_DROP_ND_MALFORMED);
	if (!nd_options(p + hlen, n - hlen, &o))
		return refuse(why, STACK_DROP_ND_OPTION);
	switch (p[0]) {
	case ICMP6_NS:
		return solicitation(s, rx, p, &o, why);
	case ICMP6_NA:
		return advertisement(s, rx, p, &o, why);
	case ICMP6_RA:
		return router_advertisement(s, rx, p, n, &o, why);
	default:
		return redirect(rx, p, why);
	}
}

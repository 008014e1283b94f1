/* SPDX-License-Identifier: BSD-3-Clause */
/* Router advertisements (RFC 4861 6.3.4, RFC 4862 5.5.3): routers, prefixes, parameters; all of
 * them bounded. */
#include <errno.h>

#include "../priv.h"

#define MS 1000000ull
#define S (1000 * MS)
#define TWO_HOURS_NS (7200 * S)
#define REACHABLE_MAX_MS 3600000u
#define RETRANS_MIN_MS 100u /* a router can not make us flood the link */
#define RETRANS_MAX_MS 60000u
#define PREFIX_ON_LINK 0x80
#define PREFIX_AUTO 0x40

/* When a lifetime in seconds ends. */
static uint64_t
until(const struct stack *s, uint32_t lifetime)
{
	return lifetime == UINT32_MAX ? UINT64_MAX : s->now_ns + lifetime * S;
}

static void
set_timer(struct stack *s, struct ip6_if *i6)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < ND_MAX_ROUTERS; i++)
		if (i6->routers[i].expires_ns != 0 && i6->routers[i].expires_ns < next)
			next = i6->routers[i].expires_ns;
	for (unsigned int i = 0; i < ND_MAX_PREFIXES; i++)
		if (i6->prefixes[i].expires_ns != 0 && i6->prefixes[i].expires_ns < next)
			next = i6->prefixes[i].expires_ns;
	if (next == UINT64_MAX)
		timer_cancel(&s->wheel, &i6->ra_timer);
	else
		timer_set(&s->wheel, &i6->ra_timer, next);
}

/* ---- routers --------------------------------------------------------------------------------- */

static struct route
router_route(const struct ip6_if *i6, const union ip_addr *router)
{
	return (struct route){.gateway = *router,
			.nif = i6->nif,
			.family = ADDR_INET6,
			.origin = ROUTE_RA,
			.has_gateway = true,
			.expires_ns = UINT64_MAX};
}

static void
router_drop(struct stack *s, struct ip6_if *i6, struct nd_router *r)
{
	struct route route = router_route(i6, &r->addr);

	r->expires_ns = 0;
	route_withdraw(s, &route);
}

static struct nd_router *
router_find(struct ip6_if *i6, const union ip_addr *addr)
{
	for (unsigned int i = 0; i < ND_MAX_ROUTERS; i++)
		if (i6->routers[i].expires_ns != 0 && ip_addr_eq(&i6->routers[i].addr, addr))
			return &i6->routers[i];
	return NULL;
}

static void
router_set(struct stack *s, struct ip6_if *i6, const union ip_addr *addr, uint16_t lifetime)
{
	struct nd_router *r = router_find(i6, addr);
	struct route route = router_route(i6, addr);

	if (lifetime == 0) {
		if (r != NULL)
			router_drop(s, i6, r);
		return;
	}
	for (unsigned int i = 0; r == NULL && i < ND_MAX_ROUTERS; i++) {
		if (i6->routers[i].expires_ns != 0)
			continue;
		if (route_insert(s, &route) != 0)
			break;
		r = &i6->routers[i];
		r->addr = *addr;
	}
	if (r == NULL)
		s->ip6->routers_refused++;
	else
		r->expires_ns = until(s, lifetime);
}

void
slaac_router_gone(struct stack *s, struct netif *nif, const union ip_addr *router)
{
	struct ip6_if *i6 = ip6_if(s, nif);
	struct nd_router *r = router_find(i6, router);

	if (r == NULL)
		return;
	router_drop(s, i6, r);
	set_timer(s, i6);
}

/* ---- prefixes -------------------------------------------------------------------------------- */

static struct route
prefix_route(const struct ip6_if *i6, const struct nd_prefix *p)
{
	return (struct route){.dst = p->prefix,
			.nif = i6->nif,
			.family = ADDR_INET6,
			.prefix_len = p->len,
			.origin = ROUTE_RA,
			.expires_ns = UINT64_MAX};
}

static void
prefix_drop(struct stack *s, struct ip6_if *i6, struct nd_prefix *p)
{
	struct route route = prefix_route(i6, p);

	p->expires_ns = 0;
	route_withdraw(s, &route);
}

/* The prefix is on link for valid seconds. */
static void
on_link(struct stack *s, struct ip6_if *i6, const union ip_addr *prefix, uint8_t len,
		uint32_t valid)
{
	struct nd_prefix want = { .prefix = *prefix, .len = len }, *p = NULL, *empty = NULL;
	struct route route = prefix_route(i6, &want);

	for (unsigned int i = 0; i < ND_MAX_PREFIXES; i++) {
		struct nd_prefix *q = &i6->prefixes[i];

		if (q->expires_ns == 0)
			empty = q;
		else if (q->len == len && ip_addr_eq(&q->prefix, prefix))
			p = q;
	}
	if (valid == 0) {
		if (p != NULL)
			prefix_drop(s, i6, p);
		return;
	}
	if (p == NULL && empty != NULL && route_insert(s, &route) == 0) {
		p = empty;
		*p = want;
	}
	if (p == NULL)
		s->ip6->prefixes_refused++;
	else
		p->expires_ns = until(s, valid);
}

/* The autoconfigured address of prefix, or NULL; *count: how many of them nif has. */
static struct netif_addr6 *
auto_find(struct netif *nif, const union ip_addr *prefix, unsigned int *count)
{
	struct netif_addr6 *found = NULL;

	*count = 0;
	for (unsigned int i = 0; i < nif->nb_addr6; i++) {
		struct netif_addr6 *a = &nif->addr6[i];

		if (a->state == ADDR6_FREE || !a->autoconf)
			continue;
		(*count)++;
		if (a->addr.q[0] == prefix->q[0])
			found = a;
	}
	return found;
}

/* RFC 4862 5.5.3 (e): nobody can end an address's life sooner than in two hours, unless it was to
 * end. */
static void
refresh(struct stack *s, struct netif_addr6 *a, uint32_t preferred, uint32_t valid)
{
	uint64_t want = until(s, valid), least = s->now_ns + TWO_HOURS_NS;

	if (want > least || want > a->valid_until_ns)
		a->valid_until_ns = want;
	else if (a->valid_until_ns > least)
		a->valid_until_ns = least;
	a->preferred_until_ns = until(s, preferred);
	slaac_lifetimes(s, a);
}

static void
autoconf(struct stack *s, struct ip6_if *i6, const union ip_addr *prefix, uint32_t preferred,
		uint32_t valid)
{
	struct netif *nif = i6->nif;
	union ip_addr addr = *prefix;
	unsigned int count;
	struct netif_addr6 *a = auto_find(nif, prefix, &count);
	int rc;

	if (a != NULL) {
		refresh(s, a, preferred, valid);
		return;
	}
	if (valid == 0)
		return;
	if (count == ND_MAX_PREFIXES) {
		s->ip6->prefixes_refused++;
		return;
	}
	slaac_eui64(nif->cfg.mac, &addr);
	i6->adding = true;
	rc = stack_addr6_add(s, nif, &addr, 64);
	i6->adding = false;
	if (rc != 0) /* configured by hand already, or no room */
		return;
	a = netif_find6(nif, &addr);
	a->preferred_until_ns = until(s, preferred);
	a->valid_until_ns = until(s, valid);
	slaac_lifetimes(s, a);
}

/* One prefix information option. */
static void
prefix_option(struct stack *s, struct ip6_if *i6, const uint8_t *p)
{
	union ip_addr prefix = ip_addr_v6(p + 16);
	uint32_t valid = get_be32(p + 4), preferred = get_be32(p + 8);
	uint8_t len = p[2], flags = p[3];

	if (len > 128)
		return;
	prefix = route_mask(&prefix, len);
	if (ip6_link_local(&prefix) || ip6_multicast(&prefix) || ip_addr_any(&prefix))
		return;
	if ((flags & PREFIX_ON_LINK) != 0)
		on_link(s, i6, &prefix, len, valid);
	if ((flags & PREFIX_AUTO) != 0 && len == 64 && preferred <= valid)
		autoconf(s, i6, &prefix, preferred, valid);
}

/* ---- the message ----------------------------------------------------------------------------- */

static uint32_t
clamp(uint32_t v, uint32_t lo, uint32_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static void
parameters(struct stack *s, struct ip6_if *i6, const uint8_t *p, const struct nd_opts *o)
{
	struct netif *nif = i6->nif;
	uint32_t reachable = get_be32(p + 8), retrans = get_be32(p + 12), mtu;

	/* only upwards: a forged low one would cut us off (CVE-2015-2922) */
	if (p[4] > nif->cur_hop_limit)
		nif->cur_hop_limit = p[4];
	if (reachable != 0 && reachable <= REACHABLE_MAX_MS && reachable != i6->base_reachable_ms) {
		i6->base_reachable_ms = reachable;
		/* between a half and one and a half of it (RFC 4861 6.3.2) */
		nif->reachable_ms =
				reachable / 2 + (uint32_t)(shim_random(s->shim) % (reachable + 1));
	}
	if (retrans != 0)
		nif->retrans_ms = clamp(retrans, RETRANS_MIN_MS, RETRANS_MAX_MS);
	if (o->mtu != NULL) {
		mtu = get_be32(o->mtu + 4);
		if (mtu >= IP6_MIN_MTU && mtu != i6->ra_mtu) {
			i6->ra_mtu = (uint16_t)clamp(mtu, IP6_MIN_MTU, UINT16_MAX);
			ip6_netif_mtu(s, nif); /* never above the link's own */
		}
	}
}

void
slaac_ra(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
		const struct nd_opts *o)
{
	struct netif *nif = rx->nif;
	struct ip6_if *i6 = ip6_if(s, nif);
	uint16_t lifetime = get_be16(p + 6);
	struct neigh *nb;

	(void)n;
	nb = o->slla != NULL ? neigh_get(s, nif, ADDR_INET6, &rx->src)
			     : neigh_lookup(s, nif, ADDR_INET6, &rx->src);
	if (nb != NULL) {
		if (o->slla != NULL)
			neigh_update(s, nb, o->slla + 2, false, true);
		nb->is_router = 1;
	}
	parameters(s, i6, p, o);
	router_set(s, i6, &rx->src, lifetime);
	for (unsigned int i = 0; i < o->nb_prefix; i++)
		prefix_option(s, i6, o->prefix[i]);
	set_timer(s, i6);
	if (lifetime != 0)
		timer_cancel(&s->wheel,
				&nif->rs_timer); /* RFC 7559 2.1: until then we go on asking */
}

void
slaac_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct ip6_if *i6 = arg;
	struct stack *s = i6->nif->stack;

	(void)t;
	for (unsigned int i = 0; i < ND_MAX_ROUTERS; i++)
		if (i6->routers[i].expires_ns != 0 && i6->routers[i].expires_ns <= now_ns)
			router_drop(s, i6, &i6->routers[i]);
	for (unsigned int i = 0; i < ND_MAX_PREFIXES; i++)
		if (i6->prefixes[i].expires_ns != 0 && i6->prefixes[i].expires_ns <= now_ns)
			prefix_drop(s, i6, &i6->prefixes[i]);
	set_timer(s, i6);
}

void
slaac_forget(struct stack *s, struct netif *nif)
{
	struct ip6_if *i6 = ip6_if(s, nif);

	for (unsigned int i = 0; i < ND_MAX_ROUTERS; i++)
		if (i6->routers[i].expires_ns != 0)
			router_drop(s, i6, &i6->routers[i]);
	for (unsigned int i = 0; i < ND_MAX_PREFIXES; i++)
		if (i6->prefixes[i].expires_ns != 0)
			prefix_drop(s, i6, &i6->prefixes[i]);
	for (unsigned int i = 0; i < NETIF_MAX_ADDR6; i++) {
		struct netif_addr6 *a = &nif->addr6[i];
		union ip_addr addr = a->addr;

		if (a->state != ADDR6_FREE && a->autoconf)
			stack_addr6_del(s, nif, &addr);
	}
	timer_cancel(&s->wheel, &i6->ra_timer);
	i6->ra_mtu = 0;
}

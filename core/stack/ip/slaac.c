/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of an interface: link-local, duplicate detection and lifetimes (RFC 4862), and when it
 * is up or down. */
#include "../priv.h"

#define MS 1000000ull
#define S (1000 * MS)
#define RS_DELAY_NS S          /* RFC 4861 10 */
#define RS_FIRST_NS (4 * S)    /* RFC 7559 2 */
#define RS_MOST_NS (3600 * S)

static void addr_timer(struct timer *t, void *arg, uint64_t now_ns);

void
slaac_eui64(const uint8_t mac[ETH_ALEN], union ip_addr *a)
{
	uint8_t *p = a->v6 + 8;

	p[0] = mac[0] ^ 2;
	p[1] = mac[1];
	p[2] = mac[2];
	p[3] = 0xff;
	p[4] = 0xfe;
	p[5] = mac[3];
	p[6] = mac[4];
	p[7] = mac[5];
}

static union ip_addr
link_local(const struct netif *nif)
{
	union ip_addr a = { .v6 = { 0xfe, 0x80 } };

	slaac_eui64(nif->cfg.mac, &a);
	return a;
}

/* ---- router solicitation (RFC 7559) ---------------------------------------------------------- */

/* v plus or minus a tenth. */
static uint64_t
jitter(struct stack *s, uint64_t v)
{
	return v - v / 10 + shim_random(s->shim) % (v / 5 + 1);
}

static void
rs_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct netif *nif = arg;
	struct stack *s = nif->stack;
	union ip_addr ll = link_local(nif);
	const struct netif_addr6 *a = netif_find6(nif, &ll);
	bool have = a != NULL && ip6_addr_usable(a);
	uint8_t msg[16] = { ICMP6_RS };
	struct ip_path path;

	ip6_path_direct(&path, nif, &ip6_all_routers, have ? &ll : &ip6_any, NULL);
	if (have) { /* source link-layer address option */
		msg[8] = 1;
		msg[9] = 1;
		memcpy(msg + 10, nif->cfg.mac, ETH_ALEN);
	}
	icmp6_send(s, &path, 255, false, msg, have ? 16 : 8);
	if (nif->rs_sent < UINT8_MAX)
		nif->rs_sent++;
	if (nif->rs_interval_ns == 0)
		nif->rs_interval_ns = jitter(s, RS_FIRST_NS);
	else
		nif->rs_interval_ns += jitter(s, nif->rs_interval_ns);
	if (nif->rs_interval_ns > RS_MOST_NS)
		nif->rs_interval_ns = jitter(s, RS_MOST_NS);
	timer_set(&s->wheel, t, now_ns + nif->rs_interval_ns);
}

static void
rs_start(struct stack *s, struct netif *nif)
{
	if (!nif->cfg.accept_ra || timer_pending(&nif->rs_timer))
		return;
	nif->rs_timer.fn = rs_timer;
	nif->rs_timer.arg = nif;
	nif->rs_sent = 0;
	nif->rs_interval_ns = 0;
	timer_set(&s->wheel, &nif->rs_timer, s->now_ns + shim_random(s->shim) % RS_DELAY_NS);
}

/* ---- one address ----------------------------------------------------------------------------- */

void
slaac_lifetimes(struct stack *s, struct netif_addr6 *a)
{
	uint64_t next = a->valid_until_ns;
	uint8_t state;

	if (!ip6_addr_usable(a))
		return;
	state = a->preferred_until_ns > s->now_ns ? ADDR6_PREFERRED : ADDR6_DEPRECATED;
	if (state != a->state) {
		a->state = state;
		route_touch(s);
	}
	if (state == ADDR6_PREFERRED && a->preferred_until_ns < next)
		next = a->preferred_until_ns;
	if (next == UINT64_MAX)
		timer_cancel(&s->wheel, &a->timer);
	else
		timer_set(&s->wheel, &a->timer, next);
}

static void
dad_done(struct stack *s, struct netif_addr6 *a)
{
	a->state = ADDR6_PREFERRED;
	route_touch(s);
	slaac_lifetimes(s, a);
	nd_advertise(s, a, NULL);
	if (ip6_link_local(&a->addr)) {
		mld_refresh(s, a->nif);
		rs_start(s, a->nif);
	}
}

static void
dad_start(struct stack *s, struct netif_addr6 *a)
{
	a->state = ADDR6_TENTATIVE;
	a->dad_left = a->nif->cfg.dad_transmits;
	addr_timer(&a->timer, a, s->now_ns);
}

static void
addr_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct netif_addr6 *a = arg;
	struct netif *nif = a->nif;
	struct stack *s = nif->stack;

	if (a->state == ADDR6_TENTATIVE) {
		if (a->dad_left == 0) {
			dad_done(s, a);
			return;
		}
		a->dad_left--;
		nd_probe(s, nif, &a->addr);
		timer_set(&s->wheel, t, now_ns + nif->retrans_ms * MS);
	} else if (a->valid_until_ns <= now_ns) {
		union ip_addr gone = a->addr;

		stack_addr6_del(s, nif, &gone);
	} else {
		slaac_lifetimes(s, a);
	}
}

/* Is the prefix of a on link only because of a? */
static bool
last_of_prefix(const struct netif_addr6 *a)
{
	const struct netif *nif = a->nif;

	for (unsigned int i = 0; i < nif->nb_addr6; i++) {
		const struct netif_addr6 *b = &nif->addr6[i];

		if (b != a && b->state != ADDR6_FREE && !b->autoconf &&
				b->prefix_len == a->prefix_len &&
				ip6_common_bits(&a->addr, &b->addr) >= a->prefix_len)
			return false;
	}
	return true;
}

static struct route
connected(const struct netif_addr6 *a)
{
	return (struct route){.dst = a->addr,
			.nif = a->nif,
			.family = ADDR_INET6,
			.prefix_len = a->prefix_len,
			.origin = ROUTE_CONNECTED,
			.expires_ns = UINT64_MAX};
}

/* Link-local destinations are reached without a route, a prefix of one address has no other station
 * in it. */
static bool
has_route(const struct netif_addr6 *a)
{
	return !a->autoconf && !ip6_link_local(&a->addr) && a->prefix_len < 128;
}

void
ip6_addr_start(struct stack *s, struct netif_addr6 *a)
{
	struct ip6_if *i6 = ip6_if(s, a->nif);
	unsigned int bit = ip6_own_bit(&a->addr);
	union ip_addr group;

	s->ip6->own[bit / 64] |= 1ull << (bit % 64);
	a->autoconf = i6->adding;
	a->preferred_until_ns = a->valid_until_ns = UINT64_MAX;
	a->timer.fn = addr_timer;
	a->timer.arg = a;
	a->state = ADDR6_TENTATIVE;
	if (has_route(a)) {
		struct route r = connected(a);

		route_insert(s, &r); /* another address may have made it */
	}
	nd_solicited_node(&a->addr, &group);
	if (mld_join(s, a->nif, &group) != 0)
		shim_log(s->shim, SHIM_LOG_ERR, "%s: no memory for an address's group",
				a->nif->cfg.name);
	if (i6->up)
		dad_start(s, a);
}

void
ip6_addr_stop(struct stack *s, struct netif_addr6 *a)
{
	union ip_addr group;

	timer_cancel(&s->wheel, &a->timer);
	if (has_route(a) && last_of_prefix(a)) {
		struct route r = connected(a);

		route_withdraw(s, &r);
	}
	nd_solicited_node(&a->addr, &group);
	if (a->state != ADDR6_DUPLICATE)
		mld_leave(s, a->nif, &group);
}

void
slaac_conflict(struct stack *s, struct netif_addr6 *a)
{
	struct netif *nif = a->nif;
	union ip_addr ll = link_local(nif), group;
	const uint8_t *v = a->addr.v6;

	timer_cancel(&s->wheel, &a->timer);
	nd_solicited_node(&a->addr, &group);
	mld_leave(s, nif, &group);
	a->state = ADDR6_DUPLICATE;
	s->ip6->dad_conflicts++;
	route_touch(s);
	shim_log(s->shim, SHIM_LOG_ERR,
			"%s: "
			"%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x "
			"is another station's address",
			nif->cfg.name, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
			v[10], v[11], v[12], v[13], v[14], v[15]);
	if (!ip_addr_eq(&a->addr, &ll))
		return;
	/* it comes from the MAC: two stations with one MAC can not both speak (RFC 4862 5.4.5) */
	shim_log(s->shim, SHIM_LOG_ERR, "%s: the MAC is not unique on the link: IPv6 is off",
			nif->cfg.name);
	ip6_if(s, nif)->disabled = true;
	ip6_netif_mtu(s, nif);
}

/* ---- the interface --------------------------------------------------------------------------- */

void
ip6_netif_up(struct stack *s, struct netif *nif)
{
	struct ip6_if *i6 = ip6_if(s, nif);
	union ip_addr ll = link_local(nif);

	if (i6->disabled || i6->up)
		return;
	if (nif->mtu6 == 0) {
		shim_log(s->shim, SHIM_LOG_WARNING, "%s: MTU %u is below 1280: IPv6 is off",
				nif->cfg.name, nif->mtu);
		return;
	}
	i6->up = true;
	for (unsigned int i = 0; i < nif->nb_addr6; i++)
		if (nif->addr6[i].state != ADDR6_FREE && nif->addr6[i].state != ADDR6_DUPLICATE)
			dad_start(s, &nif->addr6[i]);
	if (!nif->cfg.no_link_local && netif_find6(nif, &ll) == NULL)
		stack_addr6_add(s, nif, &ll, 64);
	mld_refresh(s, nif);
	if (nif->cfg.no_link_local)
		rs_start(s, nif);
}

void
ip6_netif_down(struct stack *s, struct netif *nif)
{
	struct ip6_if *i6;

	if (s->ip6 == NULL)
		return;
	i6 = ip6_if(s, nif);
	i6->up = false;
	slaac_forget(s, nif);
	timer_cancel(&s->wheel, &nif->rs_timer);
	timer_cancel(&s->wheel, &i6->mld_timer);
	for (unsigned int i = 0; i < nif->nb_addr6; i++)
		timer_cancel(&s->wheel, &nif->addr6[i].timer);
}

void
ip6_netif_mtu(struct stack *s, struct netif *nif)
{
	struct ip6_if *i6 = ip6_if(s, nif);
	uint16_t old = nif->mtu6, mtu = nif->mtu;

	if (i6->ra_mtu != 0 && i6->ra_mtu < mtu)
		mtu = i6->ra_mtu;
	if (mtu < IP6_MIN_MTU || i6->disabled)
		mtu = 0;
	if (mtu == 0 && old != 0) {
		if (!i6->disabled)
			shim_log(s->shim, SHIM_LOG_WARNING, "%s: MTU %u is below 1280: IPv6 is off",
					nif->cfg.name, nif->mtu);
		ip6_netif_down(s, nif);
	}
	nif->mtu6 = mtu;
	route_netif_mtu(s, nif);
	if (mtu != 0 && old == 0)
		ip6_netif_up(s, nif);
}

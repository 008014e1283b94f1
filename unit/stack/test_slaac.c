/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses: duplicate detection, router discovery, prefixes, lifetimes, parameters. */
#include <errno.h>
#include <stdio.h>

#include "ip6_util.h"

#define ROUTER "fe80::fe"
#define ROUTER_MAC "\x02\x00\x00\x00\x00\xfe"
#define AUTO "2001:db8:a::ff:fe00:1" /* of FX_MAC in the prefix that is advertised */
#define L 0x80
#define A 0x40

/* ---- advertisements -------------------------------------------------------------------------- */

struct ra {
	uint8_t b[512]; /* behind the first 8 bytes of the message */
	uint32_t n;
	uint32_t head;  /* hop limit, flags, lifetime */
};

static struct ra
ra_new(uint8_t hop, uint16_t lifetime, uint32_t reachable, uint32_t retrans)
{
	struct ra r = { .n = 8, .head = (uint32_t)hop << 24 | lifetime };

	put_be32(r.b, reachable);
	put_be32(r.b + 4, retrans);
	return r;
}

static void
ra_mtu(struct ra *r, uint32_t mtu)
{
	uint8_t *p = r->b + r->n;

	p[0] = 5;
	p[1] = 1;
	put_be32(p + 4, mtu);
	r->n += 8;
}

static void
ra_slla(struct ra *r)
{
	memcpy(r->b + r->n, "\x01\x01" ROUTER_MAC, 8);
	r->n += 8;
}

static void
ra_prefix(struct ra *r, const char *prefix, uint8_t len, uint8_t flags, uint32_t valid,
		uint32_t preferred)
{
	uint8_t *p = r->b + r->n;
	union ip_addr a = fx_a6(prefix);

	p[0] = 3;
	p[1] = 4;
	p[2] = len;
	p[3] = flags;
	put_be32(p + 4, valid);
	put_be32(p + 8, preferred);
	memcpy(p + 16, a.v6, 16);
	r->n += 32;
}

static void
ra_from(struct fx *f, const char *router, const struct ra *r)
{
	u6_icmp(f, router, "ff02::1", 255, 134, 0, r->head, r->b, r->n);
}

static void
rx_prefix(struct fx *f, uint8_t flags, uint32_t valid, uint32_t preferred)
{
	struct ra r = ra_new(0, 0, 0, 0);

	ra_prefix(&r, "2001:db8:a::", 64, flags, valid, preferred);
	ra_from(f, ROUTER, &r);
}

static struct fx *
listening(uint8_t dad)
{
	struct fx_opts o = { .accept_ra = true, .dad_transmits = dad };
	struct fx *f = fx_new(&o);

	fx_advance(f, 5 * FX_NS);
	fx_tx_clear(f);
	return f;
}

static int
setup_ra(void **state)
{
	*state = listening(0);
	return 0;
}

static struct netif_addr6 *
address(struct fx *f, const char *text)
{
	union ip_addr a = fx_a6(text);

	return netif_find6(f->nif, &a);
}

static const struct route *
route_to(struct fx *f, const char *text)
{
	union ip_addr a = fx_a6(text);

	return route_lookup(f->s, ADDR_INET6, &a, NULL);
}

static unsigned int
count_routes(struct fx *f, enum route_origin origin)
{
	unsigned int n = 0;

	for (unsigned int i = 0; route_at(f->s, i) != NULL; i++)
		n += route_at(f->s, i)->origin == origin;
	return n;
}

/* Pops frames until an ICMPv6 message of this type comes; false: none did. */
static bool
find_message(struct fx *f, struct fx_pkt *p, uint8_t type)
{
	while (fx_pop(f, p))
		if (p->family == ADDR_INET6 && p->proto == 58 && p->l4[0] == type)
			return true;
	return false;
}

/* ---- duplicate address detection ------------------------------------------------------------- */

static void
rx_dad_probe(struct fx *f, const char *target)
{
	union ip_addr t = fx_a6(target), group;
	struct fx_ip6 h = { .unspec_src = true, .next = 58, .hop = 255 };
	uint8_t b[64];

	nd_solicited_node(&t, &group);
	h.dst = group;
	fx_rx_ip6(f, &h, b, fx_put_icmp6(b, &h.src, &h.dst, 135, 0, 0, t.v6, 16));
}

static void
rx_claim(struct fx *f, const char *src, const char *target)
{
	uint8_t b[24] = { 0 };
	union ip_addr t = fx_a6(target);

	memcpy(b, t.v6, 16);
	memcpy(b + 16, "\x02\x01" FX_PEER_MAC, 8);
	u6_icmp(f, src, "ff02::1", 255, 136, 0, 0x20000000, b, 24);
}

/* STK-2 */
static void
dad_before_use_and_conflict_disables(void **state)
{
	struct fx_opts o = { .dad_transmits = 2, .no_addr6 = true };
	struct fx *f = fx_new(&o);
	union ip_addr a = fx_a6("2001:db8::5:1"), peer = fx_a6(U6_PEER);
	struct ip_path path;
	struct fx_pkt p;

	(void)state;
	fx_advance(f, 5 * FX_NS);
	fx_tx_clear(f);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), 0);
	assert_int_equal(address(f, "2001:db8::5:1")->state, ADDR6_TENTATIVE);
	assert_int_equal(ip6_path(f->s, &peer, &a, NULL, &path), -EADDRNOTAVAIL);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(find_message(f, &p, 135));
		assert_true(ip_addr_any(&p.src));
		assert_true(u6_eq(&p.dst, "ff02::1:ff05:1"));
		assert_memory_equal(p.dst_mac, "\x33\x33\xff\x05\x00\x01", 6);
		assert_memory_equal(p.l4 + 8, a.v6, 16);
		assert_int_equal(p.l4_len, 24); /* no link-layer address */
		assert_int_equal(p.ttl, 255);
		assert_int_equal(address(f, "2001:db8::5:1")->state, ADDR6_TENTATIVE);
		fx_advance(f, 1010 * FX_MS);
	}
	assert_int_equal(address(f, "2001:db8::5:1")->state, ADDR6_PREFERRED);
	assert_true(find_message(f, &p, 136)); /* told to all */
	assert_true(u6_eq(&p.dst, "ff02::1"));
	assert_int_equal(ip6_path(f->s, &peer, &a, NULL, &path), 0);
	/* a second one, which another station probes for at the same time */
	a = fx_a6("2001:db8::6:1");
	stack_addr6_add(f->s, f->nif, &a, 64);
	rx_dad_probe(f, "2001:db8::6:1");
	assert_int_equal(address(f, "2001:db8::6:1")->state, ADDR6_DUPLICATE);
	assert_int_equal(f->s->ip6->dad_conflicts, 1);
	/* and a third, which another has */
	a = fx_a6("2001:db8::7:1");
	stack_addr6_add(f->s, f->nif, &a, 64);
	rx_claim(f, "2001:db8::7:1", "2001:db8::7:1");
	assert_int_equal(address(f, "2001:db8::7:1")->state, ADDR6_DUPLICATE);
	fx_advance(f, 10 * FX_NS);
	assert_int_equal(address(f, "2001:db8::7:1")->state, ADDR6_DUPLICATE);
	assert_int_equal(ip6_path(f->s, &peer, &a, NULL, &path), -EADDRNOTAVAIL);
	assert_non_null(strstr(mock_last_message(f->shim), "2001:0db8"));
	assert_int_equal(stack_addr6_del(f->s, f->nif, &a), 0);
	assert_int_equal(f->nif->mtu6, 1500); /* only the address is lost */
	fx_free(f);
}

/* STK-2 */
static void
conflict_of_the_macs_own_address_turns_ipv6_off(void **state)
{
	struct fx_opts o = { .dad_transmits = 1, .accept_ra = true };
	struct fx *f = fx_new(&o);
	struct u6_count c;

	(void)state;
	rx_dad_probe(f, U6_LL);
	assert_int_equal(f->nif->mtu6, 0);
	assert_int_equal(address(f, U6_LL)->state, ADDR6_DUPLICATE);
	fx_tx_clear(f);
	fx_advance(f, 20 * FX_NS);
	fx_expect_none(f);
	u6_count_start(f, &c);
	u6_ping(f, U6_PEER, U6_US, NULL, 0);
	u6_dropped(f, &c, STACK_DROP_IP6_OFF);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 9000), 0);
	assert_int_equal(f->nif->mtu6, 0);
	ip6_netif_up(f->s, f->nif);
	assert_int_equal(f->nif->mtu6, 0);
	fx_free(f);
}

/* STK-2 */
static void
solicitation_of_a_tentative_address_is_not_answered(void **state)
{
	struct fx_opts o = { .dad_transmits = 1 };
	struct fx *f = fx_new(&o);
	union ip_addr us = fx_a6(U6_US);
	uint8_t b[24];
	struct u6_count c;

	(void)state;
	memcpy(b, us.v6, 16);
	memcpy(b + 16, "\x01\x01" FX_PEER_MAC, 8);
	u6_count_start(f, &c);
	u6_icmp(f, U6_PEER, U6_US_GROUP, 255, 135, 0, 0, b, 24);
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	assert_int_equal(address(f, U6_US)->state, ADDR6_TENTATIVE);
	fx_expect_none(f);
	fx_free(f);
}

/* STK-2 */
static void
no_transmits_and_addresses_are_usable_at_once(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8::5:1");
	struct fx_pkt p;

	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), 0);
	assert_int_equal(address(f, "2001:db8::5:1")->state, ADDR6_PREFERRED);
	assert_true(find_message(f, &p, 136));
	assert_true(ip_addr_eq(&p.src, &a));
	assert_int_equal(address(f, U6_LL)->state, ADDR6_PREFERRED);
	assert_int_equal(address(f, U6_LL)->prefix_len, 64);
}

/* STK-2 */
static void
connected_prefix_lives_as_long_as_its_last_address(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8:b::1"), b = fx_a6("2001:db8:b::2"),
		      host = fx_a6("2001:db8:c::1");

	assert_null(route_to(f, "2001:db8:b::9"));
	stack_addr6_add(f->s, f->nif, &a, 64);
	stack_addr6_add(f->s, f->nif, &b, 64);
	assert_non_null(route_to(f, "2001:db8:b::9"));
	assert_int_equal(stack_addr6_del(f->s, f->nif, &a), 0);
	assert_non_null(route_to(f, "2001:db8:b::9"));
	assert_int_equal(stack_addr6_del(f->s, f->nif, &b), 0);
	assert_null(route_to(f, "2001:db8:b::9"));
	stack_addr6_add(f->s, f->nif, &host, 128);
	assert_null(route_to(f, "2001:db8:c::1"));
}

/* ---- router solicitation --------------------------------------------------------------------- */

/* STK-2 */
static void
rs_retries_with_backoff(void **state)
{
	struct fx_opts o = { .accept_ra = true };
	struct fx *f = fx_new(&o);
	uint64_t last = 0, gap = 0, start = f->now;
	struct ra r = ra_new(64, 1800, 0, 0);
	unsigned int sent = 0;
	struct fx_pkt p;

	(void)state;
	while (sent < 14) {
		uint64_t before = f->now, at = stack_next_deadline(f->s);

		assert_true(at != TIMER_NEVER);
		fx_advance(f, at > before ? at - before : 0);
		if (!find_message(f, &p, 133))
			continue;
		assert_true(u6_eq(&p.dst, "ff02::2") && u6_eq(&p.src, U6_LL));
		assert_int_equal(p.ttl, 255);
		assert_int_equal(p.l4_len, 16);
		assert_memory_equal(p.l4 + 8, "\x01\x01" FX_MAC, 8);
		if (sent == 0)
			assert_true(f->now - start <= FX_NS + 2 * FX_MS);
		else if (sent == 1)
			assert_in_range((f->now - last) / FX_MS, 3600, 4402);
		else if (f->now - last < 3000 * FX_NS)
			assert_in_range((f->now - last) * 10 / gap, 18, 22);
		else
			assert_in_range((f->now - last) / FX_NS, 3000, 3961);
		gap = f->now - last;
		last = f->now;
		sent++;
	}
	assert_true(gap > 3000 * FX_NS); /* and it goes on so for ever */
	/* a router that is none does not end it, a router does */
	r.head = 0;
	ra_from(f, ROUTER, &r);
	assert_true(timer_pending(&f->nif->rs_timer));
	r = ra_new(64, 1800, 0, 0);
	ra_from(f, ROUTER, &r);
	assert_false(timer_pending(&f->nif->rs_timer));
	fx_free(f);
}

/* STK-2 */
static void
solicitation_without_a_link_local_address(void **state)
{
	struct fx_opts o = { .accept_ra = true, .no_link_local = true, .no_addr6 = true };
	struct fx *f = fx_new(&o);
	struct fx_pkt p;

	(void)state;
	fx_advance(f, 2 * FX_NS);
	assert_true(find_message(f, &p, 133));
	assert_true(ip_addr_any(&p.src));
	assert_int_equal(p.l4_len, 8);
	fx_free(f);
}

/* STK-2 */
static void
without_accept_ra_nothing_is_asked_or_believed(void **state)
{
	struct fx *f = fx_new(NULL);
	struct ra r = ra_new(99, 1800, 0, 0);

	(void)state;
	ra_prefix(&r, "2001:db8:a::", 64, L | A, 7200, 3600);
	ra_from(f, ROUTER, &r);
	assert_int_equal(f->nif->cur_hop_limit, 64);
	assert_null(address(f, AUTO));
	assert_int_equal(count_routes(f, ROUTE_RA), 0);
	fx_advance(f, 20 * FX_NS);
	fx_expect_none(f);
	fx_free(f);
}

/* ---- routers --------------------------------------------------------------------------------- */

/* STK-2 */
static void
default_router_comes_and_goes(void **state)
{
	struct fx *f = *state;
	struct ra r = ra_new(64, 1800, 0, 0);
	union ip_addr router = fx_a6(ROUTER);
	struct u6_count c;
	struct neigh *n;

	u6_count_start(f, &c);
	ra_from(f, "2001:db8::fe", &r); /* only link-local ones are routers */
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	ra_slla(&r);
	ra_from(f, ROUTER, &r);
	assert_non_null(route_to(f, "2001:db8:ff::1"));
	assert_true(ip_addr_eq(&route_to(f, "2001:db8:ff::1")->gateway, &router));
	n = neigh_lookup(f->s, f->nif, ADDR_INET6, &router);
	assert_int_equal(n->state, NEIGH_STALE);
	assert_memory_equal(n->mac, ROUTER_MAC, 6);
	assert_int_equal(n->is_router, 1);
	/* its lifetime, made longer once */
	fx_advance(f, 1700 * FX_NS);
	ra_from(f, ROUTER, &r);
	fx_advance(f, 1700 * FX_NS);
	assert_non_null(route_to(f, "2001:db8:ff::1"));
	fx_advance(f, 101 * FX_NS);
	assert_null(route_to(f, "2001:db8:ff::1"));
	ra_from(f, ROUTER, &r);
	assert_non_null(route_to(f, "2001:db8:ff::1"));
	r = ra_new(64, 0, 0, 0);
	ra_from(f, ROUTER, &r);
	assert_null(route_to(f, "2001:db8:ff::1"));
	ra_from(f, ROUTER, &r); /* again: nothing to remove */
	assert_int_equal(count_routes(f, ROUTE_RA), 0);
}

/* STK-2 */
static void
router_that_says_it_is_none_is_not_used(void **state)
{
	struct fx *f = *state;
	struct ra r = ra_new(64, 1800, 0, 0);
	union ip_addr t = fx_a6(ROUTER);
	uint8_t b[24];

	ra_slla(&r);
	ra_from(f, ROUTER, &r);
	ra_from(f, "fe80::fd", &r);
	assert_int_equal(count_routes(f, ROUTE_RA), 2);
	memcpy(b, t.v6, 16);
	memcpy(b + 16, "\x02\x01" ROUTER_MAC, 8);
	u6_icmp(f, ROUTER, "ff02::1", 255, 136, 0, 0x20000000, b, 24);
	assert_int_equal(count_routes(f, ROUTE_RA), 1);
	t = fx_a6("fe80::fd");
	assert_true(ip_addr_eq(&route_to(f, "2001:db8:ff::1")->gateway, &t));
	u6_icmp(f, ROUTER, "ff02::1", 255, 136, 0, 0xa0000000, b,
			24); /* a router again: by its RA only */
	u6_icmp(f, ROUTER, "ff02::1", 255, 136, 0, 0x20000000, b, 24);
	assert_int_equal(count_routes(f, ROUTE_RA), 1);
}

/* STK-2, STK-8 */
static void
routers_and_prefixes_are_bounded(void **state)
{
	struct fx *f = *state;
	char text[64];

	for (unsigned int i = 0; i < 40; i++) {
		struct ra r = ra_new(64, 1800, 0, 0);

		snprintf(text, sizeof(text), "2001:db8:%x::", 0x100 + i);
		ra_prefix(&r, text, 64, L | A, 7200, 3600);
		snprintf(text, sizeof(text), "fe80::%x", 0x100 + i);
		ra_from(f, text, &r);
	}
	assert_int_equal(count_routes(f, ROUTE_RA), ND_MAX_ROUTERS + ND_MAX_PREFIXES);
	assert_int_equal(f->s->ip6->routers_refused, 40 - ND_MAX_ROUTERS);
	assert_int_equal(f->s->ip6->prefixes_refused, 2 * (40 - ND_MAX_PREFIXES));
	assert_int_equal(f->nif->nb_addr6, 2 + ND_MAX_PREFIXES);
	fx_advance(f, 7201 * FX_NS);
	assert_int_equal(count_routes(f, ROUTE_RA), 0);
	assert_int_equal(f->nif->nb_addr6, 2);
}

/* STK-2 */
static void
full_routing_table_refuses_routers_and_prefixes(void **state)
{
	struct fx *f = *state;
	struct ra r = ra_new(64, 1800, 0, 0);
	union ip_addr dst = fx_a6("2001:db8:f::");

	for (unsigned int i = 0; i < ROUTE_MAX; i++) {
		put_be16(dst.v6 + 8, (uint16_t)i);
		(void)stack_route_add(f->s, ADDR_INET6, &dst, 80, NULL, f->nif);
	}
	ra_prefix(&r, "2001:db8:a::", 64, L, 7200, 3600);
	ra_from(f, ROUTER, &r);
	assert_int_equal(f->s->ip6->routers_refused, 1);
	assert_int_equal(f->s->ip6->prefixes_refused, 1);
	assert_int_equal(count_routes(f, ROUTE_RA), 0);
}

/* ---- prefixes -------------------------------------------------------------------------------- */

/* STK-2 */
static void
on_link_and_autonomous_flags(void **state)
{
	struct fx *f = *state;

	rx_prefix(f, L, 7200, 3600);
	assert_null(address(f, AUTO));
	assert_non_null(route_to(f, "2001:db8:a::9"));
	assert_false(route_to(f, "2001:db8:a::9")->has_gateway);
	rx_prefix(f, L, 0, 0);
	assert_null(route_to(f, "2001:db8:a::9"));
	rx_prefix(f, A, 7200, 3600);
	assert_int_equal(address(f, AUTO)->state, ADDR6_PREFERRED);
	assert_int_equal(address(f, AUTO)->prefix_len, 64);
	assert_null(route_to(f, "2001:db8:a::9")); /* an address is no statement about the link */
	rx_prefix(f, L | A, UINT32_MAX, UINT32_MAX);
	assert_true(address(f, AUTO)->valid_until_ns == UINT64_MAX);
	fx_advance(f, 100000 * FX_NS);
	assert_int_equal(address(f, AUTO)->state, ADDR6_PREFERRED);
	assert_non_null(route_to(f, "2001:db8:a::9"));
}

/* STK-2 */
static void
prefixes_that_are_not_for_us(void **state)
{
	struct fx *f = *state;
	struct ra r = ra_new(0, 0, 0, 0);

	ra_prefix(&r, "fe80::", 64, L | A, 7200, 3600);
	ra_prefix(&r, "ff02::", 64, L | A, 7200, 3600);
	ra_prefix(&r, "2001:db8:b::", 48, A, 7200, 3600);
	ra_prefix(&r, "2001:db8:c::", 64, A, 3600, 7200); /* preferred for longer than valid */
	ra_prefix(&r, "2001:db8:d::", 129, L | A, 7200, 3600);
	ra_prefix(&r, "2001:db8:e::", 64, A, 0, 0);
	ra_prefix(&r, "2001:db8::", 64, A, 7200, 3600);
	ra_from(f, ROUTER, &r);
	assert_int_equal(count_routes(f, ROUTE_RA), 0);
	assert_int_equal(f->nif->nb_addr6, 3); /* ours, link-local, 2001:db8::ff:fe00:1 */
	assert_int_equal(address(f, "2001:db8::ff:fe00:1")->autoconf, 1);
}

/* STK-2 */
static void
address_made_by_hand_stays_as_it_is(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6(AUTO);

	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), 0);
	rx_prefix(f, A, 100, 50);
	fx_advance(f, 200 * FX_NS);
	assert_int_equal(address(f, AUTO)->state, ADDR6_PREFERRED);
	assert_int_equal(address(f, AUTO)->autoconf, 0);
}

/* STK-2 */
static void
lifetimes_deprecate_then_remove(void **state)
{
	struct fx *f = listening(1);

	(void)state;
	rx_prefix(f, L | A, 7200, 3600);
	assert_int_equal(address(f, AUTO)->state, ADDR6_TENTATIVE);
	fx_advance(f, 2 * FX_NS);
	assert_int_equal(address(f, AUTO)->state, ADDR6_PREFERRED);
	fx_advance(f, 3599 * FX_NS);
	assert_int_equal(address(f, AUTO)->state, ADDR6_DEPRECATED);
	rx_prefix(f, L | A, 7200, 3600); /* preferred anew */
	assert_int_equal(address(f, AUTO)->state, ADDR6_PREFERRED);
	rx_prefix(f, A, 7200, 0);
	assert_int_equal(address(f, AUTO)->state, ADDR6_DEPRECATED);
	fx_advance(f, 7201 * FX_NS);
	assert_null(address(f, AUTO));
	assert_null(route_to(f, "2001:db8:a::9"));
	fx_free(f);
}

/* STK-2 */
static void
ra_prefix_lifetime_two_hour_rule(void **state)
{
	struct fx *f = *state;
	const uint64_t hour = 3600 * FX_NS;

	rx_prefix(f, A, 86400, 86400);
	assert_true(address(f, AUTO)->valid_until_ns == f->now + 24 * hour);
	rx_prefix(f, A, 60, 60); /* a forged short one: two hours are left */
	assert_true(address(f, AUTO)->valid_until_ns == f->now + 2 * hour);
	fx_advance(f, hour);
	rx_prefix(f, A, 60, 60); /* less than two are left: ignored */
	assert_true(address(f, AUTO)->valid_until_ns == f->now + hour);
	rx_prefix(f, A, 0, 0);
	assert_true(address(f, AUTO)->valid_until_ns == f->now + hour);
	rx_prefix(f, A, 5400, 60); /* more than what is left */
	assert_true(address(f, AUTO)->valid_until_ns == f->now + hour + hour / 2);
	rx_prefix(f, A, 7201, 60); /* more than two hours */
	assert_true(address(f, AUTO)->valid_until_ns == f->now + 7201 * FX_NS);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void
rx_mtu(struct fx *f, uint32_t mtu)
{
	struct ra r = ra_new(0, 0, 0, 0);

	ra_mtu(&r, mtu);
	ra_from(f, ROUTER, &r);
}

/* STK-2, MTU-6 */
static void
mtu_option_clamped(void **state)
{
	struct fx *f = *state;

	rx_mtu(f, 1400);
	assert_int_equal(f->nif->mtu6, 1400);
	assert_int_equal(f->nif->mtu, 1500);
	assert_int_equal(route_to(f, U6_PEER)->mtu, 1400);
	rx_mtu(f, 1279);
	assert_int_equal(f->nif->mtu6, 1400);
	rx_mtu(f, 0);
	assert_int_equal(f->nif->mtu6, 1400);
	rx_mtu(f, 1280);
	assert_int_equal(f->nif->mtu6, 1280);
	rx_mtu(f, 1501);
	assert_int_equal(f->nif->mtu6, 1500);
	rx_mtu(f, UINT32_MAX);
	assert_int_equal(f->nif->mtu6, 1500);
	rx_mtu(f, 1300);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 9000), 0);
	assert_int_equal(f->nif->mtu6, 1300); /* the link's is larger, the router's word stands */
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1290), 0);
	assert_int_equal(f->nif->mtu6, 1290);
}

/* STK-2 */
static void
hop_limit_only_rises_and_timers_are_bounded(void **state)
{
	struct fx *f = *state;
	struct ra r = ra_new(1, 0, 0, 0);

	ra_from(f, ROUTER, &r);
	assert_int_equal(f->nif->cur_hop_limit, 64);
	assert_int_equal(f->nif->reachable_ms, 30000);
	assert_int_equal(f->nif->retrans_ms, 1000);
	r = ra_new(128, 0, 10000, 1);
	ra_from(f, ROUTER, &r);
	assert_int_equal(f->nif->cur_hop_limit, 128);
	assert_in_range(f->nif->reachable_ms, 5000, 15000);
	assert_int_equal(f->nif->retrans_ms, 100);
	r = ra_new(0, 0, 3600001, UINT32_MAX);
	ra_from(f, ROUTER, &r);
	assert_int_equal(f->nif->cur_hop_limit, 128);
	assert_in_range(f->nif->reachable_ms, 5000, 15000);
	assert_int_equal(f->nif->retrans_ms, 60000);
}

/* ---- up and down ----------------------------------------------------------------------------- */

/* STK-2 */
static void
down_forgets_and_up_begins_again(void **state)
{
	struct fx *f = *state;
	struct ra r = ra_new(64, 1800, 0, 0);
	struct fx_pkt p;

	ra_prefix(&r, "2001:db8:a::", 64, L | A, 7200, 3600);
	ra_mtu(&r, 1400);
	ra_from(f, ROUTER, &r);
	assert_non_null(address(f, AUTO));
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1000), 0);
	assert_null(address(f, AUTO));
	assert_int_equal(count_routes(f, ROUTE_RA), 0);
	fx_tx_clear(f);
	fx_advance(f, 30 * FX_NS);
	fx_expect_none(f);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1500), 0);
	assert_int_equal(f->nif->mtu6, 1500);
	fx_advance(f, 2 * FX_NS);
	assert_true(find_message(f, &p, 133));
	ip6_netif_up(f->s, f->nif); /* twice is once */
	ip6_netif_down(f->s, f->nif);
	ip6_netif_up(f->s, f->nif);
	assert_int_equal(address(f, U6_US)->state, ADDR6_PREFERRED);
}

/* STK-8 */
static void
no_memory_for_a_group(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8::5:1");

	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), 0);
	mock_fail_malloc_at(f->shim, 0);
	assert_non_null(strstr(mock_last_message(f->shim), "no memory"));
	assert_int_equal(stack_addr6_del(f->s, f->nif, &a), 0);
}

#define T(t) cmocka_unit_test_setup_teardown(t, setup_ra, fx_teardown)
#define T0(t) cmocka_unit_test(t)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T0(dad_before_use_and_conflict_disables),
		T0(conflict_of_the_macs_own_address_turns_ipv6_off),
		T0(solicitation_of_a_tentative_address_is_not_answered),
		T(no_transmits_and_addresses_are_usable_at_once),
		T(connected_prefix_lives_as_long_as_its_last_address),
		T0(rs_retries_with_backoff),
		T0(solicitation_without_a_link_local_address),
		T0(without_accept_ra_nothing_is_asked_or_believed),
		T(default_router_comes_and_goes),
		T(router_that_says_it_is_none_is_not_used),
		T(routers_and_prefixes_are_bounded),
		T(full_routing_table_refuses_routers_and_prefixes),
		T(on_link_and_autonomous_flags),
		T(prefixes_that_are_not_for_us),
		T(address_made_by_hand_stays_as_it_is),
		T0(lifetimes_deprecate_then_remove),
		T(ra_prefix_lifetime_two_hour_rule),
		T(mtu_option_clamped),
		T(hop_limit_only_rises_and_timers_are_bounded),
		T(down_forgets_and_up_begins_again),
		T(no_memory_for_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

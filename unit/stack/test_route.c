/* SPDX-License-Identifier: BSD-3-Clause */
/* The routing table: longest prefix, origins side by side, gateways, routers that fail, MTUs. */
#include "fixture.h"

static struct fx *f;
static struct netif *nif2;

static int
setup(void **state)
{
	struct fx_opts o = { .no_link_local = true, .no_addr6 = true, .no_addr4 = true };

	(void)state;
	f = fx_new(&o);
	nif2 = fx_add_if(f, "f-stack-1", "\x02\x00\x00\x00\x01\x01", 0, NULL);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	fx_free(f);
	return 0;
}

static union ip_addr
addr(const char *text)
{
	return strchr(text, ':') != NULL ? fx_a6(text) : fx_a4(text);
}

static struct route
make(const char *dst, uint8_t len, const char *gw, struct netif *nif, enum route_origin o)
{
	struct route r = { .dst = addr(dst), .nif = nif, .prefix_len = len, .origin = (uint8_t)o,
		.family = strchr(dst, ':') != NULL ? ADDR_INET6 : ADDR_INET,
		.expires_ns = UINT64_MAX };

	if (gw != NULL) {
		r.gateway = addr(gw);
		r.has_gateway = true;
	}
	return r;
}

static int
add(const char *dst, uint8_t len, const char *gw, struct netif *nif, enum route_origin o)
{
	struct route r = make(dst, len, gw, nif, o);

	return route_insert(f->s, &r);
}

static const struct route *
look(const char *dst, const struct netif *nif)
{
	union ip_addr a = addr(dst);

	return route_lookup(f->s, strchr(dst, ':') != NULL ? ADDR_INET6 : ADDR_INET, &a, nif);
}

static void
assert_via(const char *dst, const char *gw)
{
	const struct route *r = look(dst, NULL);
	union ip_addr a = addr(gw);

	assert_non_null(r);
	assert_true(r->has_gateway);
	assert_true(ip_addr_eq(&r->gateway, &a));
}

/* STK-2 */
static void
longest_prefix_wins(void **state)
{
	(void)state;
	assert_int_equal(add("0.0.0.0", 0, "10.0.0.254", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("10.0.0.0", 8, "10.0.0.8", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("10.1.2.3", 32, "10.0.0.32", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("10.1.2.0", 24, "10.0.0.24", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("10.1.2.128", 25, "10.0.0.25", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("::", 0, "2001:db8::fe", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("2001:db8:1::", 48, "2001:db8::48", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(add("2001:db8:1::7", 128, "2001:db8::7", f->nif, ROUTE_STATIC), 0);
	assert_via("8.8.8.8", "10.0.0.254");
	assert_via("10.200.0.1", "10.0.0.8");
	assert_via("10.1.2.3", "10.0.0.32");
	assert_via("10.1.2.4", "10.0.0.24");
	assert_via("10.1.2.200", "10.0.0.25");
	assert_via("2001:4860::1", "2001:db8::fe");
	assert_via("2001:db8:1:ffff::1", "2001:db8::48");
	assert_via("2001:db8:1::7", "2001:db8::7");
	assert_null(route_at(f->s, f->s->routes.count));
	assert_non_null(route_at(f->s, 0));
}

static void
nothing_without_a_route(void **state)
{
	(void)state;
	assert_null(look("10.0.0.1", NULL));
	assert_int_equal(add("10.0.0.0", 24, NULL, f->nif, ROUTE_STATIC), 0);
	assert_null(look("10.0.1.1", NULL));
	assert_null(look("::1", NULL));
	assert_null(look("10.0.0.1", nif2));
	assert_ptr_equal(look("10.0.0.1", f->nif)->nif, f->nif);
	f->nif->flags = 0;
	assert_null(look("10.0.0.1", NULL));
	f->nif->flags = NETIF_UP;
}

static void
connected_before_static_before_advertised(void **state)
{
	(void)state;
	assert_int_equal(add("10.0.0.0", 24, "10.0.0.1", f->nif, ROUTE_RA), 0);
	assert_int_equal(look("10.0.0.9", NULL)->origin, ROUTE_RA);
	assert_int_equal(add("10.0.0.0", 24, NULL, f->nif, ROUTE_CONNECTED), 0);
	assert_int_equal(add("10.0.0.0", 24, "10.0.0.1", f->nif, ROUTE_STATIC), 0);
	assert_int_equal(look("10.0.0.9", NULL)->origin, ROUTE_CONNECTED);
	assert_int_equal(route_remove(f->s, ADDR_INET, &look("10.0.0.9", NULL)->dst, 24,
		ROUTE_CONNECTED), 0);
	assert_int_equal(look("10.0.0.9", NULL)->origin, ROUTE_STATIC);
}

static void
duplicates_and_bad_routes(void **state)
{
	struct route r = make("10.0.0.0", 24, NULL, NULL, ROUTE_STATIC);
	uint32_t gen = f->s->routes.gen;

	(void)state;
	assert_int_equal(route_insert(f->s, &r), -EINVAL);
	assert_int_equal(add("10.0.0.0", 33, NULL, f->nif, ROUTE_STATIC), -EINVAL);
	assert_int_equal(add("::", 129, NULL, f->nif, ROUTE_STATIC), -EINVAL);
	r = make("10.0.0.0", 24, NULL, f->nif, ROUTE_STATIC);
	r.family = 5;
	assert_int_equal(route_insert(f->s, &r), -EINVAL);
	assert_int_equal(f->s->routes.gen, gen);
	assert_int_equal(add("10.0.0.0", 24, NULL, f->nif, ROUTE_STATIC), 0);
	assert_int_not_equal(f->s->routes.gen, gen);
	assert_int_equal(add("10.0.0.77", 24, "10.0.0.1", nif2, ROUTE_STATIC), -EEXIST);
	assert_int_equal(add("10.0.0.0", 24, NULL, f->nif, ROUTE_CONNECTED), 0);
	assert_int_equal(add("10.0.0.0", 24, NULL, f->nif, ROUTE_CONNECTED), -EEXIST);
	assert_int_equal(add("10.0.0.0", 24, NULL, nif2, ROUTE_CONNECTED), 0);
	assert_int_equal(add("::", 0, "fe80::1", f->nif, ROUTE_RA), 0);
	assert_int_equal(add("::", 0, "fe80::1", f->nif, ROUTE_RA), -EEXIST);
	assert_int_equal(add("::", 0, "fe80::1", nif2, ROUTE_RA), 0);
	assert_int_equal(add("::", 0, "fe80::2", f->nif, ROUTE_RA), 0);
}

static void
one_of_several_routers_is_withdrawn(void **state)
{
	struct route r = make("::", 0, "fe80::1", f->nif, ROUTE_RA);
	union ip_addr any = fx_a6("::"), ten = fx_a4("10.0.0.0");

	(void)state;
	assert_int_equal(route_withdraw(f->s, &r), -ENOENT);
	assert_int_equal(add("::", 0, "fe80::1", f->nif, ROUTE_RA), 0);
	assert_int_equal(add("::", 0, "fe80::2", f->nif, ROUTE_RA), 0);
	assert_int_equal(add("::", 0, "fe80::3", nif2, ROUTE_RA), 0);
	assert_int_equal(route_withdraw(f->s, &r), 0);
	assert_int_equal(f->s->routes.count, 2);
	assert_via("2001::1", "fe80::2");
	assert_int_equal(route_remove(f->s, ADDR_INET6, &any, 0, ROUTE_STATIC), -ENOENT);
	assert_int_equal(route_remove(f->s, ADDR_INET6, &any, 200, ROUTE_RA), -ENOENT);
	assert_int_equal(route_remove(f->s, ADDR_INET, &ten, 8, ROUTE_RA), -ENOENT);
	route_remove_netif(f->s, f->nif);
	assert_via("2001::1", "fe80::3");
	assert_int_equal(route_remove(f->s, ADDR_INET6, &any, 0, ROUTE_RA), 0);
	assert_int_equal(f->s->routes.count, 0);
}

/* RFC 4861 6.3.6 */
static void
routers_that_do_not_answer_come_last(void **state)
{
	union ip_addr r1 = fx_a6("fe80::1"), r2 = fx_a6("fe80::2");
	struct neigh *n;
	uint32_t gen;

	(void)state;
	assert_int_equal(add("::", 0, "fe80::1", f->nif, ROUTE_RA), 0);
	assert_int_equal(add("::", 0, "fe80::2", f->nif, ROUTE_RA), 0);
	assert_via("2001::1", "fe80::1");
	n = neigh_get(f->s, f->nif, ADDR_INET6, &r2);
	assert_via("2001::1", "fe80::1"); /* asked, but unknown */
	neigh_update(f->s, n, (const uint8_t *)FX_PEER_MAC, true, true);
	assert_via("2001::1", "fe80::2"); /* known to be there */
	neigh_update(f->s, neigh_get(f->s, f->nif, ADDR_INET6, &r1),
		(const uint8_t *)FX_PEER_MAC, true, true);
	assert_via("2001::1", "fe80::1");
	neigh_flush_netif(f->s, f->nif);
	gen = f->s->routes.gen;
	route_gateway_failed(f->s, f->nif, ADDR_INET6, &r1);
	assert_int_not_equal(f->s->routes.gen, gen);
	assert_via("2001::1", "fe80::2"); /* they take turns */
	route_gateway_failed(f->s, f->nif, ADDR_INET6, &r2);
	assert_via("2001::1", "fe80::1");
	route_gateway_failed(f->s, nif2, ADDR_INET6, &r1); /* another link's */
	assert_via("2001::1", "fe80::1");
}

static void
advertised_routes_expire(void **state)
{
	struct route r = make("::", 0, "fe80::1", f->nif, ROUTE_RA);

	(void)state;
	r.expires_ns = f->now + 5 * FX_NS;
	assert_int_equal(route_insert(f->s, &r), 0);
	assert_int_equal(add("::", 0, "fe80::9", f->nif, ROUTE_RA), 0);
	assert_via("2001::1", "fe80::1");
	fx_advance(f, 5 * FX_NS);
	assert_via("2001::1", "fe80::9");
	r = make("10.0.0.0", 8, NULL, f->nif, ROUTE_STATIC);
	r.expires_ns = 0; /* only RA's do */
	assert_int_equal(route_insert(f->s, &r), 0);
	assert_non_null(look("10.0.0.1", NULL));
}

/* MTU-6 */
static void
route_mtus_follow_the_interface(void **state)
{
	uint32_t gen;

	(void)state;
	assert_int_equal(add("10.0.0.0", 24, NULL, f->nif, ROUTE_CONNECTED), 0);
	assert_int_equal(add("2001:db8::", 64, NULL, f->nif, ROUTE_CONNECTED), 0);
	assert_int_equal(add("10.1.0.0", 24, NULL, nif2, ROUTE_CONNECTED), 0);
	assert_int_equal(look("10.0.0.5", NULL)->mtu, 1500);
	gen = f->s->routes.gen;
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 9000), 0);
	assert_int_not_equal(f->s->routes.gen, gen);
	assert_int_equal(f->nif->mtu, 9000);
	assert_int_equal(f->nif->mtu6, 9000);
	assert_int_equal(look("10.0.0.5", NULL)->mtu, 9000);
	assert_int_equal(look("2001:db8::5", NULL)->mtu, 9000);
	assert_int_equal(look("10.1.0.5", NULL)->mtu, 1500);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 67), -EINVAL);
	assert_int_equal(f->nif->mtu, 9000);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1000), 0);
	assert_int_equal(f->nif->mtu6, 0); /* too small for IPv6 */
}

static void
static_routes_by_the_public_calls(void **state)
{
	union ip_addr any = fx_a4("0.0.0.0"), gw = fx_a4("10.0.0.254"), far = fx_a4("10.9.9.9");
	union ip_addr own = fx_a4("10.0.0.1"), net = fx_a4("192.168.0.0"), any6 = fx_a6("::");
	union ip_addr ll = fx_a6("fe80::1"), gw6 = fx_a6("2001:db8::fe"), own6 = fx_a6("2001:db8::1");
	union ip_addr mc = fx_a4("224.0.0.5"), mc6 = fx_a6("ff02::1");

	(void)state;
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &any, 0, &gw, NULL), -EHOSTUNREACH);
	assert_int_equal(stack_addr4_add(f->s, f->nif, own.v4, 24, 0), 0);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &own6, 64), 0);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &any, 0, &gw, NULL), 0);
	assert_ptr_equal(look("8.8.8.8", NULL)->nif, f->nif);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &any, 0, &gw, NULL), -EEXIST);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, &far, NULL), -EHOSTUNREACH);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, &gw, nif2), -EHOSTUNREACH);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, &own, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, &mc, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, &any, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, NULL, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, 7, &net, 16, NULL, f->nif), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, NULL, nif2), 0);
	assert_ptr_equal(look("192.168.3.4", NULL)->nif, nif2);
	assert_int_equal(stack_route_add(f->s, ADDR_INET6, &any6, 0, &ll, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET6, &any6, 0, &mc6, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET6, &any6, 0, &own6, NULL), -EINVAL);
	assert_int_equal(stack_route_add(f->s, ADDR_INET6, &any6, 0, &ll, f->nif), 0);
	assert_int_equal(stack_route_del(f->s, ADDR_INET6, &any6, 0), 0);
	assert_int_equal(stack_route_del(f->s, ADDR_INET6, &any6, 0), -ENOENT);
	assert_int_equal(stack_route_add(f->s, ADDR_INET6, &any6, 0, &gw6, NULL), 0);
	assert_via("2001:4860::1", "2001:db8::fe");
	assert_int_equal(stack_route_del(f->s, ADDR_INET, &net, 16), 0);
	assert_null(look("192.168.3.4", nif2));
}

static void
connected_prefixes_follow_addresses(void **state)
{
	(void)state;
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.1"), 24, 0), 0);
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.2"), 24, 0), 0);
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.3"), 32, 0), 0);
	assert_int_equal(stack_addr4_add(f->s, nif2, fx_ip4("10.0.0.4"), 24, 0), 0);
	assert_ptr_equal(look("10.0.0.9", NULL)->nif, f->nif);
	assert_ptr_equal(look("10.0.0.9", nif2)->nif, nif2);
	assert_int_equal(stack_addr4_del(f->s, f->nif, fx_ip4("10.0.0.1")), 0);
	assert_ptr_equal(look("10.0.0.9", NULL)->nif, f->nif);
	assert_ptr_equal(look("10.0.0.9", nif2)->nif, nif2);
	assert_int_equal(stack_addr4_del(f->s, f->nif, fx_ip4("10.0.0.2")), 0);
	assert_ptr_equal(look("10.0.0.9", NULL)->nif, nif2);
	assert_int_equal(stack_addr4_del(f->s, nif2, fx_ip4("10.0.0.4")), 0);
	assert_null(look("10.0.0.9", NULL));
}

/* The table holds ROUTE_MAX, and finds each of them. */
static void
a_full_table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ROUTE_MAX; i++) {
		struct route r = make("10.0.0.0", 28, NULL, f->nif, ROUTE_STATIC);

		r.dst.v4 = be32(0x0a000000 + (i * 37 % ROUTE_MAX) * 16);
		assert_int_equal(route_insert(f->s, &r), 0);
	}
	assert_int_equal(add("11.0.0.0", 8, NULL, f->nif, ROUTE_STATIC), -ENOSPC);
	for (unsigned int i = 0; i < ROUTE_MAX; i++) {
		union ip_addr a = ip_addr_v4(be32(0x0a000000 + i * 16 + 5));
		const struct route *r = route_lookup(f->s, ADDR_INET, &a, NULL);

		assert_non_null(r);
		assert_int_equal(be32(r->dst.v4), 0x0a000000 + i * 16);
	}
	assert_null(look("10.0.64.0", NULL));
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("12.0.0.1"), 24, 0), -ENOSPC);
	assert_null(netif_find4(f->nif, fx_ip4("12.0.0.1")));
}

/* Random prefixes against the slowest correct look-up. */
static void
same_as_a_linear_search(void **state)
{
	uint32_t x = 1;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct route r = make("10.0.0.0", 0, NULL, f->nif, ROUTE_STATIC);

		x = x * 1664525 + 1013904223;
		r.prefix_len = (uint8_t)(x >> 27);
		r.dst.v4 = be32(0x0a000000 | (x >> 8 & 0xff0f0f));
		r.nif = (x & 64) != 0 ? nif2 : f->nif;
		route_insert(f->s, &r); /* some are there already */
	}
	for (int i = 0; i < 2000; i++) {
		const struct route *best = NULL, *r;
		union ip_addr a;

		x = x * 1664525 + 1013904223;
		a = ip_addr_v4(be32(0x0a000000 | (x >> 8 & 0xff0f0f)));
		for (unsigned int k = 0; (r = route_at(f->s, k)) != NULL; k++) {
			union ip_addr m = route_mask(&a, r->prefix_len);

			if (ip_addr_eq(&m, &r->dst) &&
				(best == NULL || r->prefix_len > best->prefix_len))
				best = r;
		}
		assert_ptr_equal(route_lookup(f->s, ADDR_INET, &a, NULL), best);
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(longest_prefix_wins),
		T(nothing_without_a_route),
		T(connected_before_static_before_advertised),
		T(duplicates_and_bad_routes),
		T(one_of_several_routers_is_withdrawn),
		T(routers_that_do_not_answer_come_last),
		T(advertised_routes_expire),
		T(route_mtus_follow_the_interface),
		T(static_routes_by_the_public_calls),
		T(connected_prefixes_follow_addresses),
		T(a_full_table),
		T(same_as_a_linear_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 output: paths, source addresses, the header, fragments, the way back to ourselves. */
#include "ip6_util.h"

static uint8_t data[9000];

static int
setup(void **state)
{
	*state = fx_new(NULL);
	fx_know_peer(*state);
	u6_pattern(data, sizeof(data));
	return 0;
}

static struct ip_path
path_to(struct fx *f, const char *dst)
{
	union ip_addr a = fx_a6(dst);
	struct ip_path p;

	assert_int_equal(ip_path_lookup(f->s, ADDR_INET6, &a, NULL, NULL, &p), 0);
	assert_true(ip_path_valid(f->s, &p));
	return p;
}

static int
path_error(struct fx *f, const char *dst, const char *src, struct netif *nif)
{
	union ip_addr a = fx_a6(dst), b = fx_a6(src != NULL ? src : "::");
	struct ip_path p;

	return ip6_path(f->s, &a, src != NULL ? &b : NULL, nif, &p);
}

static int
send_data(struct fx *f, const struct ip_path *p, const struct ip_tx *tx, uint32_t n)
{
	return ip_output(f->s, p, tx, fx_buf(f, data, n, 0));
}

/* STK-2 */
static void
header_fields(void **state)
{
	struct fx *f = *state;
	struct ip_path path = path_to(f, U6_PEER);
	struct ip_tx tx = { .proto = 200, .tos = 0xb8, .flow_label = 0xfabcde };
	struct fx_pkt p;

	assert_int_equal(path.mtu, 1500);
	assert_true(u6_eq(&path.src, U6_US));
	assert_int_equal(send_data(f, &path, &tx, 100), 0);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_int_equal(get_be32(p.l3), 0x6b8abcde);
	assert_int_equal(p.l4_len, 100);
	assert_int_equal(p.proto, 200);
	assert_int_equal(p.ttl, 64);
	assert_true(u6_eq(&p.src, U6_US) && u6_eq(&p.dst, U6_PEER));
	assert_memory_equal(p.dst_mac, FX_PEER_MAC, 6);
	assert_memory_equal(p.l4, data, 100);
	tx.ttl = 7;
	f->nif->cur_hop_limit = 99;
	send_data(f, &path, &tx, 0);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_int_equal(p.ttl, 7);
	tx.ttl = 0;
	send_data(f, &path, &tx, 0);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_int_equal(p.ttl, 99);
}

/* Pops fragments of n bytes of data made for mtu; returns their identification. */
static uint32_t
expect_fragments(struct fx *f, uint32_t n, uint32_t mtu)
{
	uint32_t off = 0, id = 0, room = (mtu - 48) & ~7u;
	struct fx_pkt p;

	while (off < n) {
		uint32_t len = n - off < room ? n - off : room;

		fx_expect(f, ETHERTYPE_IP6, &p);
		assert_int_equal(p.proto, 44);
		assert_true(p.l3_len <= mtu);
		assert_int_equal(p.l4[0], 200);
		assert_int_equal(get_be16(p.l4 + 2), off | (off + len < n));
		assert_int_equal(p.l4_len, 8 + len);
		if (off == 0)
			id = get_be32(p.l4 + 4);
		assert_int_equal(get_be32(p.l4 + 4), id);
		assert_memory_equal(p.l4 + 8, data + off, len);
		off += len;
	}
	fx_expect_none(f);
	return id;
}

/* STK-2 */
static void
source_fragments_over_the_path_mtu(void **state)
{
	struct fx *f = *state;
	struct ip_path path = path_to(f, U6_PEER);
	struct ip_tx tx = { .proto = 200 };
	uint32_t id[4];
	struct fx_pkt p;

	assert_int_equal(send_data(f, &path, &tx, 1460), 0);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_int_equal(p.l4_len, 1460);
	assert_int_equal(p.proto, 200);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(send_data(f, &path, &tx, 1461 + 2000 * i), 0);
		id[i] = expect_fragments(f, 1461 + 2000 * i, 1500);
		for (unsigned int k = 0; k < i; k++) {
			assert_int_not_equal(id[i], id[k]);
			assert_true(id[i] - id[k] > 64); /* no counter to guess by */
		}
	}
	path.mtu = 1280;
	assert_int_equal(send_data(f, &path, &tx, 5000), 0);
	expect_fragments(f, 5000, 1280);
}

/* STK-2 */
static void
too_big_or_not_to_be_fragmented(void **state)
{
	struct fx *f = *state;
	struct ip_path path = path_to(f, U6_PEER);
	struct ip_tx tx = { .proto = 200, .df = true };
	struct u6_count c;

	u6_count_start(f, &c);
	assert_int_equal(send_data(f, &path, &tx, 1461), -EMSGSIZE);
	u6_dropped(f, &c, STACK_DROP_IP6_TOO_BIG);
	tx = (struct ip_tx){ .proto = 58, .router_alert = true };
	assert_int_equal(send_data(f, &path, &tx, 1453), -EMSGSIZE);
	u6_dropped(f, &c, STACK_DROP_IP6_TOO_BIG);
	fx_expect_none(f);
	f->nif->flags &= ~(uint32_t)NETIF_UP;
	assert_int_equal(send_data(f, &path, &tx, 10), -ENETDOWN);
	u6_dropped(f, &c, STACK_DROP_IF_DOWN);
}

/* STK-2 */
static void
more_than_65535_refused(void **state)
{
	struct fx *f = *state;
	struct ip_path path = path_to(f, U6_PEER);
	struct ip_tx tx = { .proto = 200 };
	struct rte_mbuf *m = fx_buf(f, data, 9000, 0);

	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(shim_buf_chain(m, fx_buf(f, data, 8000, 0)), 0);
	assert_int_equal(shim_buf_chain(m, fx_buf(f, data, 536, 0)), 0);
	assert_int_equal(shim_buf_len(m), 65536);
	assert_int_equal(ip6_output(f->s, &path, &tx, m), -EMSGSIZE);
	fx_expect_none(f);
}

/* STK-2, STK-8 */
static void
no_buffer_at_every_step(void **state)
{
	struct fx *f = *state;
	struct ip_path path = path_to(f, U6_PEER);
	struct ip_tx tx = { .proto = 200 };
	struct rte_mbuf *m;
	unsigned int k = 0;
	int rc;

	do {
		m = fx_buf(f, data, 4000, 0);
		mock_fail_buf_at(f->shim, ++k);
		rc = ip6_output(f->s, &path, &tx, m);
		mock_fail_buf_at(f->shim, 0);
		assert_true(rc == 0 || rc == -ENOBUFS);
		fx_tx_clear(f);
		assert_true(k < 50);
	} while (rc != 0);
	/* a header before bytes that are another's too */
	m = fx_buf(f, data, 100, 0);
	rte_mbuf_refcnt_update(m, 1);
	mock_fail_buf_at(f->shim, 1);
	assert_int_equal(ip6_output(f->s, &path, &tx, m), -ENOBUFS);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_memory_equal(shim_buf_data(m), data, 100);
	shim_buf_free(f->shim, m);
	/* a chain for a port that takes none */
	m = fx_buf(f, data, 100, 40);
	mock_fail_buf_at(f->shim, 1);
	assert_int_equal(ip6_output(f->s, &path, &tx, m), -ENOBUFS);
	fx_expect_none(f);
}

/* STK-2 */
static void
link_local_and_multicast_need_the_interface(void **state)
{
	struct fx *f = *state;
	union ip_addr dst = fx_a6("fe80::9"), group = fx_a6("ff02::fb");
	struct ip_path p;

	assert_int_equal(path_error(f, "fe80::9", NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(path_error(f, "ff02::fb", NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(path_error(f, "ff0e::fb", NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(ip6_path(f->s, &dst, NULL, f->nif, &p), 0);
	assert_true(u6_eq(&p.src, U6_LL));
	assert_true(ip_addr_eq(&p.neigh->addr, &dst));
	assert_int_equal(ip6_path(f->s, &group, NULL, f->nif, &p), 0);
	assert_int_equal(p.flags, IP_PATH_MULTICAST);
	assert_null(p.neigh);
	assert_memory_equal(p.dst_mac, "\x33\x33\x00\x00\x00\xfb", 6);
	group = fx_a6("ff0e::1234:5678");
	assert_int_equal(ip6_path(f->s, &group, NULL, f->nif, &p), 0);
	assert_true(u6_eq(&p.src, U6_US));
	assert_memory_equal(p.dst_mac, "\x33\x33\x12\x34\x56\x78", 6);
}

/* STK-2 */
static void
no_route_and_no_source(void **state)
{
	struct fx *f = *state;
	union ip_addr gw = fx_a6("2001:db8::fe"), any = fx_a6("::"), far = fx_a6("2001:db8:ff::1");
	struct ip_path p;

	assert_int_equal(path_error(f, "2001:db8:ff::1", NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(path_error(f, "::", NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(path_error(f, "::ffff:10.0.0.2", NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(stack_route_add(f->s, ADDR_INET6, &any, 0, &gw, NULL), 0);
	assert_int_equal(ip6_path(f->s, &far, NULL, NULL, &p), 0);
	assert_true(ip_addr_eq(&p.neigh->addr, &gw));
	assert_true(ip_addr_eq(&p.dst, &far));
	assert_int_equal(path_error(f, U6_PEER, "2001:db8::77", NULL), -EADDRNOTAVAIL);
	assert_int_equal(path_error(f, U6_PEER, "fe80::77", NULL), -EADDRNOTAVAIL);
	assert_int_equal(path_error(f, U6_PEER, "::1", NULL), -EADDRNOTAVAIL);
	assert_int_equal(path_error(f, U6_PEER, U6_US, NULL), 0);
	assert_int_equal(path_error(f, U6_PEER, U6_LL, NULL), 0);
	for (unsigned int i = 0; i < f->nif->nb_addr6; i++)
		f->nif->addr6[i].state = ADDR6_TENTATIVE;
	assert_int_equal(path_error(f, U6_PEER, NULL, NULL), -EADDRNOTAVAIL);
	assert_int_equal(path_error(f, U6_PEER, U6_US, NULL), -EADDRNOTAVAIL);
	assert_true(fx_drops(f, STACK_DROP_IP6_NO_ROUTE) >= 3);
	assert_true(fx_drops(f, STACK_DROP_IP6_NO_SOURCE) >= 5);
}

/* STK-2 */
static void
source_of_another_interface_is_ours(void **state)
{
	struct fx *f = *state;
	struct netif *other = fx_add_if(f, "f-stack-1", "\x02\x00\x00\x00\x00\x11", 0, NULL);
	union ip_addr a = fx_a6("2001:db8:1::1");

	assert_int_equal(stack_addr6_add(f->s, other, &a, 64), 0);
	assert_int_equal(path_error(f, U6_PEER, "2001:db8:1::1", NULL), 0);
	assert_int_equal(path_error(f, U6_PEER, "fe80::ff:fe00:11", NULL), -EADDRNOTAVAIL);
	assert_int_equal(path_error(f, "2001:db8:1::2", NULL, f->nif), -EHOSTUNREACH);
}

/* STK-2 */
static void
neighbour_table_full(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8::1:0");

	for (unsigned int i = 0; i < NEIGH_MAX; i++) {
		a.v6[14] = (uint8_t)(i >> 8);
		a.v6[15] = (uint8_t)i;
		(void)neigh_set_permanent(
				f->s, f->nif, ADDR_INET6, &a, (const uint8_t *)FX_PEER_MAC);
	}
	assert_int_equal(path_error(f, "2001:db8::9:9", NULL, NULL), -ENOBUFS);
}

/* The source that is chosen among these addresses of the interface for dst. */
static void
check_choice(const char *const *addrs, const char *dst, const char *want)
{
	struct fx_opts o = { .no_addr6 = true };
	struct fx *f = fx_new(&o);
	union ip_addr d = fx_a6(dst);
	const struct netif_addr6 *a;

	for (; *addrs != NULL; addrs++) {
		union ip_addr x = fx_a6(*addrs + (**addrs == '-'));

		assert_int_equal(stack_addr6_add(f->s, f->nif, &x, 64), 0);
		if (**addrs == '-')
			netif_find6(f->nif, &x)->state = ADDR6_DEPRECATED;
	}
	a = ip6_src_select(f->s, f->nif, &d);
	assert_non_null(a);
	if (!u6_eq(&a->addr, want))
		fail_msg("for %s not %s", dst, want);
	fx_free(f);
}

/* STK-2 */
static void
source_selection_rules_of_rfc_6724(void **state)
{
	(void)state;
	/* the examples of RFC 6724 10.1, as far as the rules are here ("-": deprecated) */
	check_choice((const char *const[]){"2001:db8:3::1", NULL}, "2001:db8:1::1",
			"2001:db8:3::1");
	check_choice((const char *const[]){ "2001:db8:3::1", NULL }, "ff05::1", "2001:db8:3::1");
	check_choice((const char *const[]){ "2001:db8:3::1", NULL }, "fe80::1", U6_LL);
	check_choice((const char *const[]){"2001:db8:1::1", "2001:db8:3::1", NULL}, "2001:db8:1::1",
			"2001:db8:1::1");
	check_choice((const char *const[]){"-2001:db8:1::1", "2001:db8:3::1", NULL},
			"2001:db8:1::1", "2001:db8:1::1");
	check_choice((const char *const[]){"-2001:db8:1::2", "2001:db8:3::1", NULL},
			"2001:db8:1::1", "2001:db8:3::1");
	check_choice((const char *const[]){"-2001:db8:1::2", NULL}, "2001:db8:1::1",
			"2001:db8:1::2");
	check_choice((const char *const[]){"2001:db8:1::2", "2001:db8:3::2", NULL}, "2001:db8:1::1",
			"2001:db8:1::2");
	check_choice((const char *const[]){"2001:db8:3::2", "2001:db8:1::2", NULL}, "2001:db8:1::1",
			"2001:db8:1::2");
	check_choice((const char *const[]){"2002:c633:6401::1", "2001:db8:1::2", NULL},
			"2002:c633:6401::2", "2002:c633:6401::1");
	check_choice((const char *const[]){"2001:db8:1::2", "2002:c633:6401::1", NULL},
			"2002:c633:6402::2", "2002:c633:6401::1");
	check_choice((const char *const[]){"fd00::1", "2001:db8:1::2", NULL}, "2001:db8:9::1",
			"2001:db8:1::2");
	check_choice((const char *const[]){"2001:db8:1::2", "fd00::1", NULL}, "fd00:1::9",
			"fd00::1");
	check_choice((const char *const[]){ "2001:db8:1::2", NULL }, "ff02::1", U6_LL);
	check_choice((const char *const[]){"fec0::1", "2001:db8:1::2", NULL}, "fec0::2", "fec0::1");
	check_choice((const char *const[]){"2001:db8:1::2", "fec0::1", NULL}, "ff05::2", "fec0::1");
}

/* STK-2 */
static void
interface_without_global_address_uses_another_ones(void **state)
{
	struct fx *f = *state;
	struct netif *other = fx_add_if(f, "f-stack-1", "\x02\x00\x00\x00\x00\x11", 0, NULL);
	union ip_addr d = fx_a6("2001:db8:9::1"), ll = fx_a6("fe80::5");

	assert_true(u6_eq(&ip6_src_select(f->s, other, &d)->addr, U6_US));
	assert_true(u6_eq(&ip6_src_select(f->s, other, &ll)->addr, "fe80::ff:fe00:11"));
	assert_int_equal(ip6_scope(&ll), 2);
}

/* STK-2 */
static void
own_addresses_loop_back(void **state)
{
	struct fx *f = *state;
	static const char *const own[] = { U6_US, "::1" };
	struct ip_tx tx = { .proto = 59 };
	struct u6_count c;

	for (unsigned int i = 0; i < 2; i++) {
		struct ip_path path = path_to(f, own[i]);

		assert_int_equal(path.flags, IP_PATH_LOCAL);
		assert_true(u6_eq(&path.src, own[i]));
		u6_count_start(f, &c);
		assert_int_equal(send_data(f, &path, &tx, 9000), 0);
		fx_poll(f);
		u6_dropped(f, &c, STACK_DROP_IP6_NO_NEXT);
		fx_expect_none(f);
	}
	assert_int_equal(path_error(f, U6_LL, NULL, f->nif), 0);
	assert_int_equal(path_error(f, U6_LL, NULL, NULL), -EHOSTUNREACH);
	assert_int_equal(path_error(f, "::1", "::1", NULL), 0);
	assert_int_equal(path_error(f, U6_US, "2001:db8::55", NULL), -EADDRNOTAVAIL);
}

/* MTU-6 */
static void
paths_follow_a_changed_mtu(void **state)
{
	struct fx *f = *state;
	struct ip_path path = path_to(f, U6_PEER);

	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 9000), 0);
	assert_false(ip_path_valid(f->s, &path));
	path = path_to(f, U6_PEER);
	assert_int_equal(path.mtu, 9000);
	assert_int_equal(f->nif->mtu6, 9000);
	for (unsigned int i = 0; route_at(f->s, i) != NULL; i++)
		assert_int_equal(route_at(f->s, i)->mtu, 9000);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1400), 0);
	path = path_to(f, U6_PEER);
	assert_int_equal(path.mtu, 1400);
}

#define T(t) cmocka_unit_test_setup_teardown(t, setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(header_fields),
		T(source_fragments_over_the_path_mtu),
		T(too_big_or_not_to_be_fragmented),
		T(more_than_65535_refused),
		T(no_buffer_at_every_step),
		T(link_local_and_multicast_need_the_interface),
		T(no_route_and_no_source),
		T(source_of_another_interface_is_ours),
		T(neighbour_table_full),
		cmocka_unit_test(source_selection_rules_of_rfc_6724),
		T(interface_without_global_address_uses_another_ones),
		T(own_addresses_loop_back),
		T(paths_follow_a_changed_mtu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

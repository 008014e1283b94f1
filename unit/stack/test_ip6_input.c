/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 input: the fixed header, addresses, delivery. */
#include "ip6_util.h"

/* An echo request from the peer to us in b, Ethernet header first; returns its length. */
static uint32_t
build_ping(uint8_t *b, const struct fx_ip6 *over, uint32_t data)
{
	struct fx_ip6 h = *over;
	uint8_t d[256] = { 1, 2, 3 };
	uint32_t at;

	h.next = 58;
	if (ip_addr_any(&h.src) && !h.unspec_src)
		h.src = fx_a6(U6_PEER);
	if (ip_addr_any(&h.dst))
		h.dst = fx_a6(U6_US);
	at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP6);
	at += fx_put_ip6(b + at, &h, 8 + data);
	return at + fx_put_icmp6(b + at, &h.src, &h.dst, 128, 0, 7, d, data);
}

/* STK-2 */
static void
header_version_length_validated_padding_trimmed(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { 0 };
	uint8_t b[512] = { 0 };
	struct u6_count c;
	struct fx_pkt p;
	uint32_t n;

	fx_know_peer(f);
	u6_count_start(f, &c);
	n = build_ping(b, &h, 3);
	fx_inject(f, b, 14 + 39);
	u6_dropped(f, &c, STACK_DROP_IP6_SHORT);
	fx_inject(f, b, n - 1);
	u6_dropped(f, &c, STACK_DROP_IP6_LENGTH);
	b[14] = 0x50;
	fx_inject(f, b, n);
	u6_dropped(f, &c, STACK_DROP_IP6_VERSION);
	fx_expect_none(f);
	n = build_ping(b, &h, 3);
	memset(b + n, 0xee, 40);
	fx_inject(f, b, n + 40);
	u6_expect(f, &p, 129, 0);
	assert_int_equal(p.l4_len, 11);
	assert_int_equal(p.n, 14 + 40 + 11);
	assert_memory_equal(p.l4 + 8, "\x01\x02\x03", 3);
	/* padding that fills segments of its own goes with them */
	fx_inject_segs(f, b, n + 40, n + 5);
	u6_expect(f, &p, 129, 0);
	assert_int_equal(p.n, 14 + 40 + 11);
}

/* STK-2 */
static void
source_multicast_own_loopback_mapped_dropped(void **state)
{
	static const char *const bad[] = {
			"ff02::1", "ff05::2", U6_US, U6_LL, "::1", "::ffff:10.0.0.2"};
	struct fx *f = *state;
	struct fx_ip6 h;
	uint8_t b[512];
	struct u6_count c;

	fx_know_peer(f);
	u6_count_start(f, &c);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		h = (struct fx_ip6){ .src = fx_a6(bad[i]) };
		fx_inject(f, b, build_ping(b, &h, 0));
		u6_dropped(f, &c, STACK_DROP_IP6_MARTIAN);
	}
	h = (struct fx_ip6){
			.unspec_src = true}; /* only DAD has no source, and it speaks to groups */
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_MARTIAN);
	h = (struct fx_ip6){ .dst = fx_a6("::1") };
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_MARTIAN);
	h = (struct fx_ip6){ .dst = fx_a6("::ffff:10.0.0.1") };
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_MARTIAN);
	fx_expect_none(f);
}

/* STK-2 */
static void
destination_own_and_joined_groups_only(void **state)
{
	static const char *const not_ours[] = {"2001:db8::9", "2001:db8::401", "fe80::1", "ff02::2",
			"ff01::1", "ff00::1", "ff02::1:ff00:9"};
	static const char *const ours[] = { U6_US, U6_LL, "ff02::1", U6_US_GROUP };
	struct fx *f = *state;
	union ip_addr us = fx_a6(U6_US);
	struct fx_ip6 h;
	uint8_t b[512];
	struct u6_count c;
	struct fx_pkt p;

	fx_know_peer(f);
	u6_count_start(f, &c);
	for (unsigned int i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++) {
		h = (struct fx_ip6){ .dst = fx_a6(not_ours[i]) };
		fx_inject(f, b, build_ping(b, &h, 0));
		u6_dropped(f, &c, STACK_DROP_IP6_NOT_FOR_US);
	}
	for (unsigned int i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		h = (struct fx_ip6){ .dst = fx_a6(ours[i]) };
		fx_inject(f, b, build_ping(b, &h, 0));
		u6_expect(f, &p, 129, 0);
		/* the answer to a group comes from an address of ours */
		assert_true(ip6_multicast(&h.dst) ? u6_eq(&p.src, U6_US)
						  : ip_addr_eq(&p.src, &h.dst));
	}
	netif_find6(f->nif, &us)->state = ADDR6_DEPRECATED;
	h = (struct fx_ip6){ 0 };
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_expect(f, &p, 129, 0);
	netif_find6(f->nif, &us)->state = ADDR6_DUPLICATE;
	u6_count_start(f, &c);
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_NOT_FOR_US);
}

/* STK-2 */
static void
global_address_of_another_interface_is_ours_link_local_is_not(void **state)
{
	struct fx *f = *state;
	struct netif *other = fx_add_if(f, "f-stack-1", "\x02\x00\x00\x00\x00\x11", 0, NULL);
	union ip_addr a = fx_a6("2001:db8:1::1");
	struct fx_ip6 h = { .dst = a };
	uint8_t b[512];
	struct u6_count c;
	struct fx_pkt p;

	fx_know_peer(f);
	assert_int_equal(stack_addr6_add(f->s, other, &a, 64), 0);
	fx_advance(f, 2 * FX_NS);
	fx_tx_clear(f);
	u6_count_start(f, &c);
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_expect(f, &p, 129, 0);
	assert_true(ip_addr_eq(&p.src, &a));
	h.dst = fx_a6("fe80::ff:fe00:11");
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_NOT_FOR_US);
}

/* STK-2 */
static void
tentative_destination_is_for_nd_only(void **state)
{
	struct fx_opts o = { .dad_transmits = 1 };
	struct fx *f = fx_new(&o);
	struct fx_ip6 h = { 0 };
	uint8_t b[512];
	struct u6_count c;

	(void)state;
	fx_know_peer(f);
	u6_count_start(f, &c);
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_NOT_FOR_US);
	fx_rx_udp6(f, 1, 2, "x", 1);
	u6_dropped(f, &c, STACK_DROP_IP6_NOT_FOR_US);
	fx_expect_none(f);
	fx_free(f);
}

/* STK-2 */
static void
jumbo_refused(void **state)
{
	struct fx *f = *state;
	/* hop-by-hop with a jumbo payload option */
	static const uint8_t hbh[16] = { 59, 0, 0xc2, 4, 0, 1, 0, 0 };
	struct fx_ip6 h = { .next = 0 };
	struct u6_count c;
	uint8_t b[128];
	uint32_t at;

	fx_know_peer(f);
	u6_count_start(f, &c);
	at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP6);
	at += fx_put_ip6(b + at, &h, 0);
	memcpy(b + at, hbh, sizeof(hbh));
	fx_inject(f, b, at + 16);
	u6_dropped(f, &c, STACK_DROP_IP6_JUMBO);
	fx_expect_none(f);
	fx_rx_ip6(f, &h, hbh, 8); /* with a payload length too: an option we do not know */
	u6_dropped(f, &c, STACK_DROP_IP6_JUMBO);
	u6_expect_error(f, 4, 2, 42);
	fx_expect_none(f);
}

/* STK-2 */
static void
next_header_none_and_unknown(void **state)
{
	static const uint8_t unknown[] = { 50, 51, 103, 41, 132, 255 };
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 59 };
	struct u6_count c;
	uint8_t d[32] = { 0 };

	fx_know_peer(f);
	u6_count_start(f, &c);
	fx_rx_ip6(f, &h, d, 0);
	u6_dropped(f, &c, STACK_DROP_IP6_NO_NEXT);
	fx_rx_ip6(f, &h, d, 30);
	u6_dropped(f, &c, STACK_DROP_IP6_NO_NEXT);
	fx_expect_none(f);
	for (unsigned int i = 0; i < sizeof(unknown); i++) {
		h.next = unknown[i];
		fx_rx_ip6(f, &h, d, 32);
		u6_dropped(f, &c, STACK_DROP_IP6_NEXT_UNKNOWN);
		u6_expect_error(f, 4, 1, 6);
	}
	h.dst = fx_a6("ff02::1");
	fx_rx_ip6(f, &h, d, 32);
	u6_dropped(f, &c, STACK_DROP_IP6_NEXT_UNKNOWN);
	fx_expect_none(f);
}

/* STK-2 */
static void
udp6_zero_checksum_refused(void **state)
{
	struct fx *f = *state;
	union ip_addr src = fx_a6(U6_PEER), dst = fx_a6(U6_US);
	struct fx_ip6 h = { .next = 17 };
	struct u6_count c;
	uint8_t b[64];
	uint32_t n = fx_put_udp(b, ADDR_INET6, &src, &dst, 1000, 53, "abc", 3);

	u6_count_start(f, &c);
	put_be16(b + 6, 0);
	fx_rx_ip6(f, &h, b, n);
	u6_dropped(f, &c, STACK_DROP_UDP_ZERO_CSUM6);
	fx_expect_none(f);
}

/* STK-2, STK-4 */
static void
tcp_udp_icmp6_pseudo_header(void **state)
{
	struct fx *f = *state;
	union ip_addr src = fx_a6(U6_PEER), dst = fx_a6(U6_US), other = fx_a6("2001:db8::3");
	struct fx_ip6 h = { .next = 58 };
	struct u6_count c;
	uint8_t b[64];
	uint32_t n;

	fx_know_peer(f);
	u6_count_start(f, &c);
	/* right but for the addresses */
	n = fx_put_icmp6(b, &other, &dst, 128, 0, 1, "abc", 3);
	fx_rx_ip6(f, &h, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_CSUM);
	h.next = 17;
	n = fx_put_udp(b, ADDR_INET6, &src, &other, 1000, 53, "abc", 3);
	fx_rx_ip6(f, &h, b, n);
	u6_dropped(f, &c, STACK_DROP_UDP_CSUM);
	/* right as a sum over the message alone, as ICMPv4's would be */
	n = fx_put_icmp4(b, 128, 0, 1, "abc", 3);
	h.next = 58;
	fx_rx_ip6(f, &h, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_CSUM);
	fx_expect_none(f);
}

/* STK-2, MTU-6 */
static void
link_mtu_1280_min(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { 0 };
	uint8_t b[512];
	struct u6_count c;
	struct ip_path path;
	union ip_addr dst = fx_a6(U6_PEER);
	struct fx_pkt p;

	fx_know_peer(f);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1279), 0);
	assert_int_equal(f->nif->mtu6, 0);
	assert_non_null(strstr(mock_last_message(f->shim), "IPv6 is off"));
	u6_count_start(f, &c);
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_dropped(f, &c, STACK_DROP_IP6_OFF);
	assert_int_equal(ip6_path(f->s, &dst, NULL, NULL, &path), -EHOSTUNREACH);
	fx_expect_none(f);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1280), 0);
	assert_int_equal(f->nif->mtu6, 1280);
	fx_advance(f, 2 * FX_NS);
	fx_tx_clear(f);
	fx_inject(f, b, build_ping(b, &h, 0));
	u6_expect(f, &p, 129, 0);
	assert_true(u6_eq(&p.src, U6_US));
}

/* STK-2 */
static void
interface_that_starts_below_1280_has_no_ipv6(void **state)
{
	struct fx_opts o = { .mtu = 1000 };
	struct fx *f = fx_new(&o);
	union ip_addr us = fx_a6(U6_US);

	(void)state;
	assert_int_equal(f->nif->mtu6, 0);
	assert_true(mock_messages(f->shim, SHIM_LOG_WARNING) > 0);
	assert_int_equal(netif_find6(f->nif, &us)->state, ADDR6_TENTATIVE);
	fx_advance(f, 10 * FX_NS);
	fx_expect_none(f);
	stack_if_mtu_set(f->s, f->nif, 1500);
	assert_int_equal(netif_find6(f->nif, &us)->state, ADDR6_PREFERRED);
	fx_free(f);
}

/* STK-2, STK-8 */
static void
chains_of_small_segments_are_handled(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { 0 };
	uint8_t b[512];
	uint32_t n = build_ping(b, &h, 200);
	struct fx_pkt p;

	fx_know_peer(f);
	for (uint32_t seg = 18; seg < 80; seg++) {
		fx_inject_segs(f, b, n, seg);
		u6_expect(f, &p, 129, 0);
		assert_memory_equal(p.l4 + 4, b + 14 + 44, 204);
	}
}

/* STK-4 */
static void
checksum_said_bad_by_the_port_is_dropped(void **state)
{
	struct fx *f = *state;
	union ip_addr src = fx_a6(U6_PEER), dst = fx_a6(U6_US);
	struct fx_ip6 h = { .next = 17 };
	uint8_t b[128];
	uint32_t n = fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP6);
	struct u6_count c;
	struct rte_mbuf *m;

	fx_know_peer(f);
	n += fx_put_ip6(b + n, &h, 11);
	n += fx_put_udp(b + n, ADDR_INET6, &src, &dst, 1000, 53, "abc", 3);
	u6_count_start(f, &c);
	m = fx_buf(f, b, n, 0);
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	stack_input(f->s, f->nif, &m, 1);
	u6_dropped(f, &c, STACK_DROP_L4_CSUM_HW);
	/* never computed, as a local virtio sender leaves it: accepted, and no socket is there */
	b[n - 11 + 6] ^= 0x55;
	m = fx_buf(f, b, n, 0);
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	stack_input(f->s, f->nif, &m, 1);
	u6_dropped(f, &c, STACK_DROP_UDP_NO_PORT);
	fx_tx_clear(f);
	m = fx_buf(f, b, n, 0);
	stack_input(f->s, f->nif, &m, 1);
	u6_dropped(f, &c, STACK_DROP_UDP_CSUM);
	fx_expect_none(f);
}

/* STK-8 */
static void
no_buffer_for_a_contiguous_header(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { 0 };
	uint8_t b[512];
	struct u6_count c;
	struct rte_mbuf *m;

	build_ping(b, &h, 200);
	m = fx_buf(f, b, 254, 30);
	rte_mbuf_refcnt_update(m, 1); /* shared: has to be copied */
	u6_count_start(f, &c);
	mock_fail_buf_at(f->shim, 1);
	stack_input(f->s, f->nif, &m, 1);
	u6_dropped(f, &c, STACK_DROP_NO_BUFFER);
	rte_mbuf_refcnt_set(m, 1);
	m->next = NULL;
	m->nb_segs = 1;
	shim_buf_free(f->shim, m);
}

/* STK-1, STK-8 */
static void
out_of_memory_at_every_step_of_making_a_stack(void **state)
{
	struct shim *shim = mock_shim_new();
	struct stack_config c = { .shim = shim };
	struct stack *s;
	unsigned int k = 0;
	int rc;

	(void)state;
	assert_int_equal(shim_pool_create(shim, "p", 64, 2176, &c.pool), 0);
	do {
		unsigned int before = mock_mallocs_out(shim);

		mock_fail_malloc_at(shim, ++k);
		rc = stack_create(&c, &s);
		mock_fail_malloc_at(shim, 0);
		if (rc != 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_int_equal(mock_mallocs_out(shim), before);
		}
		assert_true(k < 100);
	} while (rc != 0);
	assert_true(k > 5);
	stack_destroy(s);
	shim_pool_free(shim, c.pool);
	assert_int_equal(mock_shim_free(shim), 0);
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(header_version_length_validated_padding_trimmed),
		T(source_multicast_own_loopback_mapped_dropped),
		T(destination_own_and_joined_groups_only),
		T(global_address_of_another_interface_is_ours_link_local_is_not),
		cmocka_unit_test(tentative_destination_is_for_nd_only),
		T(jumbo_refused),
		T(next_header_none_and_unknown),
		T(udp6_zero_checksum_refused),
		T(tcp_udp_icmp6_pseudo_header),
		T(link_mtu_1280_min),
		cmocka_unit_test(interface_that_starts_below_1280_has_no_ipv6),
		T(chains_of_small_segments_are_handled),
		T(checksum_said_bad_by_the_port_is_dropped),
		T(no_buffer_for_a_contiguous_header),
		cmocka_unit_test(out_of_memory_at_every_step_of_making_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

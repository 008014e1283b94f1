/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery: message checks, solicitations, advertisements, the states they lead to. */
#include "ip6_util.h"

#define MAC_A "\x02\x00\x00\x00\x00\xaa"
#define MAC_B "\x02\x00\x00\x00\x00\xbb"
#define R 0x80000000u
#define SOL 0x40000000u
#define OVR 0x20000000u

/* A solicitation or advertisement: target and, with mac, an option of this type. */
static uint32_t
put_target(uint8_t *b, const char *target, uint8_t opt, const char *mac)
{
	union ip_addr t = fx_a6(target);

	memcpy(b, t.v6, 16);
	if (mac == NULL)
		return 16;
	b[16] = opt;
	b[17] = 1;
	memcpy(b + 18, mac, 6);
	return 24;
}

static void
rx_ns(struct fx *f, const char *src, const char *dst, const char *target, const char *slla)
{
	uint8_t b[64];

	u6_icmp(f, src, dst, 255, 135, 0, 0, b, put_target(b, target, 1, slla));
}

static void
rx_na(struct fx *f, const char *src, const char *dst, const char *target, uint32_t flags,
		const char *tlla)
{
	uint8_t b[64];

	u6_icmp(f, src, dst, 255, 136, 0, flags, b, put_target(b, target, 2, tlla));
}

static struct neigh *
entry(struct fx *f, const char *addr)
{
	union ip_addr a = fx_a6(addr);

	return neigh_lookup(f->s, f->nif, ADDR_INET6, &a);
}

static void
expect_na(struct fx *f, const char *dst, const char *target, uint32_t flags, const char *to_mac)
{
	struct fx_pkt p;
	union ip_addr t = fx_a6(target);

	u6_expect(f, &p, 136, 0);
	assert_int_equal(p.ttl, 255);
	assert_true(u6_eq(&p.dst, dst));
	assert_true(ip_addr_eq(&p.src, &t));
	assert_int_equal(get_be32(p.l4 + 4), flags);
	assert_memory_equal(p.l4 + 8, t.v6, 16);
	assert_int_equal(p.l4_len, 32);
	assert_memory_equal(p.l4 + 24, "\x02\x01" FX_MAC, 8);
	assert_memory_equal(p.dst_mac, to_mac, 6);
}

static void
expect_ns(struct fx *f, const char *src, const char *dst, const char *target, const char *to_mac)
{
	struct fx_pkt p;
	union ip_addr t = fx_a6(target);

	u6_expect(f, &p, 135, 0);
	assert_int_equal(p.ttl, 255);
	assert_true(u6_eq(&p.dst, dst) && u6_eq(&p.src, src));
	assert_memory_equal(p.l4 + 8, t.v6, 16);
	assert_int_equal(p.l4_len, 32);
	assert_memory_equal(p.l4 + 24, "\x01\x01" FX_MAC, 8);
	assert_memory_equal(p.dst_mac, to_mac, 6);
}

/* STK-2 */
static void
solicitation_answered_and_learned_from(void **state)
{
	struct fx *f = *state;
	struct neigh *n;

	rx_ns(f, U6_PEER, U6_US_GROUP, U6_US, FX_PEER_MAC);
	expect_na(f, U6_PEER, U6_US, SOL | OVR, FX_PEER_MAC);
	n = entry(f, U6_PEER);
	assert_int_equal(n->state, NEIGH_DELAY); /* stale, and used for the answer */
	assert_memory_equal(n->mac, FX_PEER_MAC, 6);
	/* a probe to our unicast address, without an option */
	rx_ns(f, U6_PEER, U6_US, U6_US, NULL);
	expect_na(f, U6_PEER, U6_US, SOL | OVR, FX_PEER_MAC);
	rx_ns(f, U6_PEER_LL, U6_US_GROUP, U6_LL, MAC_A);
	expect_na(f, U6_PEER_LL, U6_LL, SOL | OVR, MAC_A);
	/* another MAC is learned */
	rx_ns(f, U6_PEER, U6_US_GROUP, U6_US, MAC_B);
	expect_na(f, U6_PEER, U6_US, SOL | OVR, MAC_B);
	/* DAD of another station for an address in use: defended before all */
	rx_ns(f, "::", U6_US_GROUP, U6_US, NULL);
	expect_na(f, "ff02::1", U6_US, OVR, "\x33\x33\x00\x00\x00\x01");
	fx_expect_none(f);
}

/* STK-2 */
static void
nd_hop_limit_255_code_0_checksum_target_not_multicast_options_length_zero_dropped(void **state)
{
	static const uint8_t types[] = { 134, 135, 136, 137 };
	struct fx *f = *state;
	struct fx_ip6 h = { .src = fx_a6(U6_PEER), .dst = fx_a6(U6_US), .next = 58, .hop = 255 };
	uint8_t b[128], m[128];
	struct u6_count c;
	uint32_t n;

	u6_count_start(f, &c);
	for (unsigned int i = 0; i < 4; i++) {
		memset(b, 0, sizeof(b));
		n = put_target(b, U6_US, 1, FX_PEER_MAC);
		u6_icmp(f, U6_PEER, U6_US, 254, types[i], 0, 0, b, 64);
		u6_dropped(f, &c, STACK_DROP_ND_HOP_LIMIT);
		u6_icmp(f, U6_PEER, U6_US, 255, types[i], 1, 0, b, 64);
		u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
		for (n = 0; n < (types[i] == 134 ? 8u : types[i] == 137 ? 32u : 16u); n++) {
			u6_icmp(f, U6_PEER, U6_US, 255, types[i], 0, 0, b, n);
			u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
		}
		n = fx_put_icmp6(m, &h.src, &h.dst, types[i], 0, 0, b, 24);
		m[3] ^= 1;
		fx_rx_ip6(f, &h, m, n);
		u6_dropped(f, &c, STACK_DROP_ICMP6_CSUM);
	}
	rx_ns(f, U6_PEER, U6_US, "ff02::1", FX_PEER_MAC);
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	rx_na(f, U6_PEER, U6_US, "ff02::1", SOL, FX_PEER_MAC);
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	/* options: length zero, cut short, wrong lengths, a group's MAC */
	n = put_target(b, U6_US, 1, FX_PEER_MAC);
	b[17] = 0;
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n);
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	b[17] = 2;
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n);
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	b[17] = 1;
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n - 1);
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	b[17] = 2;
	memset(b + 24, 0, 16);
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n + 8);
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	b[16] = 3;
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n + 8);
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	b[16] = 5;
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n + 8);
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	rx_ns(f, U6_PEER, U6_US, U6_US, "\x33\x33\x00\x00\x00\x01");
	u6_dropped(f, &c, STACK_DROP_ND_OPTION);
	assert_null(entry(f, U6_PEER));
	fx_expect_none(f);
	/* an option nobody knows is skipped */
	b[16] = 99;
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, n + 8);
	assert_int_not_equal(fx_tx_count(f), 0);
}

/* STK-2 */
static void
solicitations_from_nobody_are_for_dad_only(void **state)
{
	struct fx *f = *state;
	struct u6_count c;

	u6_count_start(f, &c);
	rx_ns(f, "::", "ff02::1", U6_US, NULL); /* not to the solicited-node group */
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	rx_ns(f, "::", U6_US_GROUP, U6_US, FX_PEER_MAC); /* with a link-layer address */
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	rx_ns(f, U6_PEER, U6_US_GROUP, "2001:db8::ff00:1",
			FX_PEER_MAC); /* the same group, not us */
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	rx_na(f, U6_PEER, "ff02::1", U6_PEER, SOL, FX_PEER_MAC); /* solicited, to a group */
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	rx_na(f, U6_PEER, U6_US, U6_PEER, SOL, FX_PEER_MAC); /* nobody asked */
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	rx_na(f, U6_PEER, "ff02::1", U6_US, OVR, FX_PEER_MAC); /* says that he is us */
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	assert_int_equal(f->s->ip6->dad_conflicts, 1);
	fx_expect_none(f);
}

/* STK-2 */
static void
in_fragments_is_ignored(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .src = fx_a6(U6_PEER), .dst = fx_a6(U6_US), .next = 44, .hop = 255 };
	uint8_t t[64], b[128];
	uint32_t n = put_target(t, U6_US, 1, FX_PEER_MAC);
	struct u6_count c;

	u6_count_start(f, &c);
	u6_put_frag(b, 58, 0, false, 1); /* an atomic one too (RFC 6980) */
	fx_rx_ip6(f, &h, b, 8 + fx_put_icmp6(b + 8, &h.src, &h.dst, 135, 0, 0, t, n));
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	fx_expect_none(f);
}

/* STK-2 */
static void
message_over_1500_bytes_is_nobodys(void **state)
{
	struct fx *f = *state;
	static uint8_t b[2000];
	struct u6_count c;

	u6_count_start(f, &c);
	put_target(b, U6_US, 1, FX_PEER_MAC);
	u6_icmp(f, U6_PEER, U6_US, 255, 135, 0, 0, b, 1600);
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
}

/* Sends n bytes of payload to the peer, which may be unknown. */
static void
send_to_peer(struct fx *f)
{
	union ip_addr dst = fx_a6(U6_PEER);
	struct ip_tx tx = { .proto = 200 };
	struct ip_path p;

	assert_int_equal(ip6_path(f->s, &dst, NULL, NULL, &p), 0);
	ip6_output(f->s, &p, &tx, fx_buf(f, "payload", 7, 0));
}

/* STK-2 */
static void
override_and_solicited_flag_state_table(void **state)
{
	/* RFC 4861 7.2.5 and its appendix C */
	static const struct {
		uint8_t before;
		bool other_mac;
		uint32_t flags;
		uint8_t after;
		bool taken;
	} rows[] = {
		{ NEIGH_INCOMPLETE, true, 0, NEIGH_STALE, true },
		{ NEIGH_INCOMPLETE, true, SOL, NEIGH_REACHABLE, true },
		{ NEIGH_INCOMPLETE, true, SOL | OVR, NEIGH_REACHABLE, true },
		{ NEIGH_REACHABLE, false, 0, NEIGH_REACHABLE, false },
		{ NEIGH_REACHABLE, false, SOL, NEIGH_REACHABLE, false },
		{ NEIGH_REACHABLE, true, 0, NEIGH_STALE, false },
		{ NEIGH_REACHABLE, true, SOL, NEIGH_STALE, false },
		{ NEIGH_REACHABLE, true, OVR, NEIGH_STALE, true },
		{ NEIGH_REACHABLE, true, SOL | OVR, NEIGH_REACHABLE, true },
		{ NEIGH_STALE, false, 0, NEIGH_STALE, false },
		{ NEIGH_STALE, false, SOL, NEIGH_REACHABLE, false },
		{ NEIGH_STALE, false, SOL | OVR, NEIGH_REACHABLE, false },
		{ NEIGH_STALE, true, 0, NEIGH_STALE, false },
		{ NEIGH_STALE, true, SOL, NEIGH_STALE, false },
		{ NEIGH_STALE, true, OVR, NEIGH_STALE, true },
		{ NEIGH_STALE, true, SOL | OVR, NEIGH_REACHABLE, true },
	};
	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fx *f = fx_new(NULL);
		struct neigh *n;

		send_to_peer(f);
		if (rows[i].before != NEIGH_INCOMPLETE)
			rx_na(f, U6_PEER, U6_US, U6_PEER,
					rows[i].before == NEIGH_REACHABLE ? SOL : 0, MAC_A);
		n = entry(f, U6_PEER);
		if (rows[i].before == NEIGH_STALE) { /* the packet that waited put it to DELAY */
			neigh_delete(f->s, n);
			rx_ns(f, U6_PEER, "ff02::1", U6_US, MAC_A);
			n = entry(f, U6_PEER);
			n->state = NEIGH_STALE;
			timer_cancel(&f->s->wheel, &n->timer);
		}
		assert_int_equal(n->state, rows[i].before);
		fx_tx_clear(f);
		rx_na(f, U6_PEER, U6_US, U6_PEER, rows[i].flags, rows[i].other_mac ? MAC_B : MAC_A);
		if (n->state != rows[i].after &&
				!(rows[i].after == NEIGH_STALE && n->state == NEIGH_DELAY))
			fail_msg("row %u: state %u", i, n->state);
		assert_memory_equal(n->mac, rows[i].taken ? MAC_B : MAC_A, 6);
		fx_free(f);
	}
}

/* STK-2 */
static void
nud_reachable_stale_delay_probe_incomplete_timers(void **state)
{
	struct fx *f = *state;
	struct fx_pkt p;
	struct neigh *n;

	send_to_peer(f);
	expect_ns(f, U6_US, "ff02::1:ff00:2", U6_PEER, "\x33\x33\xff\x00\x00\x02");
	n = entry(f, U6_PEER);
	assert_int_equal(n->state, NEIGH_INCOMPLETE);
	rx_na(f, U6_PEER, U6_US, U6_PEER, SOL, MAC_A);
	fx_expect(f, ETHERTYPE_IP6, &p); /* what waited */
	assert_int_equal(p.proto, 200);
	assert_memory_equal(p.dst_mac, MAC_A, 6);
	fx_advance(f, 29 * FX_NS);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_advance(f, 2 * FX_NS);
	assert_int_equal(n->state, NEIGH_STALE);
	send_to_peer(f);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_int_equal(n->state, NEIGH_DELAY);
	fx_advance(f, 4900 * FX_MS);
	fx_expect_none(f);
	fx_advance(f, 200 * FX_MS);
	assert_int_equal(n->state, NEIGH_PROBE);
	expect_ns(f, U6_US, U6_PEER, U6_PEER, MAC_A); /* unicast */
	fx_advance(f, FX_NS);
	expect_ns(f, U6_US, U6_PEER, U6_PEER, MAC_A);
	rx_na(f, U6_PEER, U6_US, U6_PEER, SOL, NULL); /* an answer to unicast needs no option */
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_expect_none(f);
}

/* STK-2 */
static void
unreachable_reported_after_3(void **state)
{
	struct fx *f = *state;
	struct fx_pkt p;

	send_to_peer(f);
	for (unsigned int i = 0; i < 3; i++) {
		u6_expect(f, &p, 135, 0);
		fx_expect_none(f);
		assert_non_null(entry(f, U6_PEER));
		fx_advance(f, 1010 * FX_MS);
	}
	assert_null(entry(f, U6_PEER));
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_UNREACHABLE), 1);
	fx_expect_none(f);
}

/* STK-2 */
static void
queue_bounded(void **state)
{
	struct fx *f = *state;
	struct fx_pkt p;
	unsigned int n = 0;

	for (unsigned int i = 0; i < NEIGH_QUEUE + 5; i++)
		send_to_peer(f);
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_QUEUE_FULL), 5);
	u6_expect(f, &p, 135, 0); /* asked once */
	fx_expect_none(f);
	rx_na(f, U6_PEER, U6_US, U6_PEER, SOL, MAC_A);
	while (fx_pop(f, &p))
		n++;
	assert_int_equal(n, NEIGH_QUEUE);
}

/* STK-2 */
static void
incomplete_needs_a_link_layer_address(void **state)
{
	struct fx *f = *state;
	struct u6_count c;

	send_to_peer(f);
	fx_tx_clear(f);
	u6_count_start(f, &c);
	rx_na(f, U6_PEER, U6_US, U6_PEER, SOL, NULL);
	u6_dropped(f, &c, STACK_DROP_ND_TARGET);
	assert_int_equal(entry(f, U6_PEER)->state, NEIGH_INCOMPLETE);
}

/* STK-2 */
static void
source_of_a_solicitation(void **state)
{
	struct fx *f = *state;
	union ip_addr dst = fx_a6(U6_PEER), ll = fx_a6(U6_LL), far = fx_a6("fe80::9");
	struct ip_tx tx = { .proto = 200 };
	struct ip_path p;
	struct neigh *n;

	/* that of the packet that waits */
	assert_int_equal(ip6_path(f->s, &dst, &ll, NULL, &p), 0);
	ip6_output(f->s, &p, &tx, fx_buf(f, "x", 1, 0));
	expect_ns(f, U6_LL, "ff02::1:ff00:2", U6_PEER, "\x33\x33\xff\x00\x00\x02");
	/* else the best */
	n = neigh_get(f->s, f->nif, ADDR_INET6, &far);
	nd_solicit(f->s, n, false);
	expect_ns(f, U6_LL, "ff02::1:ff00:9", "fe80::9", "\x33\x33\xff\x00\x00\x09");
	/* with no usable address nothing is asked */
	for (unsigned int i = 0; i < f->nif->nb_addr6; i++)
		f->nif->addr6[i].state = ADDR6_TENTATIVE;
	nd_solicit(f->s, n, false);
	fx_expect_none(f);
}

/* STK-2 */
static void
redirects_are_counted_not_followed(void **state)
{
	struct fx *f = *state;
	uint8_t b[32];
	union ip_addr t = fx_a6("fe80::1"), d = fx_a6("2001:db8:5::1");
	struct u6_count c;

	memcpy(b, t.v6, 16);
	memcpy(b + 16, d.v6, 16);
	u6_count_start(f, &c);
	u6_icmp(f, "fe80::1", U6_US, 255, 137, 0, 0, b, 32);
	u6_dropped(f, &c, STACK_DROP_ND_REDIRECT);
	u6_icmp(f, U6_PEER, U6_US, 255, 137, 0, 0, b, 32);
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	t = fx_a6("2001:db8::fe"); /* neither a router's address nor the destination itself */
	memcpy(b, t.v6, 16);
	u6_icmp(f, "fe80::1", U6_US, 255, 137, 0, 0, b, 32);
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	memcpy(b, d.v6, 16);
	u6_icmp(f, "fe80::1", U6_US, 255, 137, 0, 0, b, 32);
	u6_dropped(f, &c, STACK_DROP_ND_REDIRECT);
	memset(b + 16, 0xff, 16);
	u6_icmp(f, "fe80::1", U6_US, 255, 137, 0, 0, b, 32);
	u6_dropped(f, &c, STACK_DROP_ND_MALFORMED);
	fx_expect_none(f);
}

/* STK-8 */
static void
no_buffer_and_no_room_for_the_asker(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8::1:0"), us = fx_a6(U6_US);

	mock_fail_buf_at(f->shim, 1);
	nd_advertise(f->s, netif_find6(f->nif, &us), NULL);
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_NO_BUFFER), 1);
	for (unsigned int i = 0; i < NEIGH_MAX; i++) {
		a.v6[14] = (uint8_t)(i >> 8);
		a.v6[15] = (uint8_t)i;
		(void)neigh_set_permanent(
				f->s, f->nif, ADDR_INET6, &a, (const uint8_t *)FX_PEER_MAC);
	}
	rx_ns(f, U6_PEER, U6_US_GROUP, U6_US, FX_PEER_MAC);
	fx_expect_none(f);
	assert_true(fx_drops(f, STACK_DROP_NEIGH_TABLE_FULL) > 0);
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
			T(solicitation_answered_and_learned_from),
			T(nd_hop_limit_255_code_0_checksum_target_not_multicast_options_length_zero_dropped),
			T(solicitations_from_nobody_are_for_dad_only),
			T(in_fragments_is_ignored),
			T(message_over_1500_bytes_is_nobodys),
			cmocka_unit_test(override_and_solicited_flag_state_table),
			T(nud_reachable_stale_delay_probe_incomplete_timers),
			T(unreachable_reported_after_3),
			T(queue_bounded),
			T(incomplete_needs_a_link_layer_address),
			T(source_of_a_solicitation),
			T(redirects_are_counted_not_followed),
			T(no_buffer_and_no_room_for_the_asker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

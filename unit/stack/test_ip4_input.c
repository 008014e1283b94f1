/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 input: what is taken, what is dropped, and that each drop is counted by its reason. */
#include "ip4_world.h"

static struct pkt P, Q;

static void
udp_packet(uint32_t src, uint32_t dst)
{
	pkt_init(&P, src, dst, IP_PROTO_UDP, 40, NULL, 0);
	pkt_udp(&P, 1000, 2000);
}

/* P goes in and is dropped for r, and for nothing else. */
static void
expect_drop(enum stack_drop r)
{
	uint64_t before = drops(r), all = all_drops();

	pkt_in(&P);
	assert_int_equal(drops(r), before + 1);
	assert_int_equal(all_drops(), all + 1);
	assert_int_equal(W.nup, 0);
}

/* STK-2, STK-8 */
static void
header_checksum_ihl_total_length_validated(void **state)
{
	(void)state;
	udp_packet(PEER, US);
	pkt_hdr(&P)->csum ^= 0x0100;
	expect_drop(STACK_DROP_IP4_CSUM);
	udp_packet(PEER, US);
	P.b[0] = 0x65;
	pkt_seal(&P);
	expect_drop(STACK_DROP_IP4_VERSION);
	udp_packet(PEER, US);
	P.b[0] = 0x44;
	expect_drop(STACK_DROP_IP4_IHL);
	udp_packet(PEER, US);
	P.b[0] = 0x4f; /* 60 bytes of header, and exactly that many bytes: no payload */
	expect_drop(STACK_DROP_IP4_CSUM);
	udp_packet(PEER, US);
	P.b[0] = 0x4f;
	P.len = 59;
	expect_drop(STACK_DROP_IP4_SHORT);
	for (uint32_t n = 1; n < 20; n++) {
		udp_packet(PEER, US);
		P.len = n;
		expect_drop(STACK_DROP_IP4_SHORT);
	}
	udp_packet(PEER, US);
	pkt_hdr(&P)->total_len = be16(19);
	pkt_seal(&P);
	expect_drop(STACK_DROP_IP4_TOTAL_LENGTH);
	udp_packet(PEER, US);
	P.len--; /* shorter than it says */
	expect_drop(STACK_DROP_IP4_TOTAL_LENGTH);
	udp_packet(PEER, US);
	pkt_in(&P);
	assert_int_equal(W.nup, 1);
}

/* STK-2 */
static void
source_martian_and_own_address_dropped(void **state)
{
	static const uint32_t bad[] = { A(0, 0, 0, 0), A(0, 1, 2, 3), A(127, 0, 0, 1), A(224, 0, 0, 1),
		A(240, 0, 0, 1), A(255, 255, 255, 255), A(10, 0, 0, 255), US };

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		udp_packet(bad[i], US);
		expect_drop(STACK_DROP_IP4_MARTIAN);
	}
	/* the second address is as much ours as the first */
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(10, 0, 0, 9), 24, 0), 0);
	udp_packet(A(10, 0, 0, 9), US);
	expect_drop(STACK_DROP_IP4_MARTIAN);
	/* one that only shares its last bits with ours is not */
	udp_packet(A(172, 16, 0, 1), US);
	pkt_in(&P);
	assert_int_equal(W.nup, 1);
}

/* STK-2 */
static void
options_skipped_source_route_refused(void **state)
{
	static const uint8_t fine[] = { 1, 7, 7, 4, 0, 0, 0, 0, 68, 4, 5, 0, 148, 4, 0, 0, 1, 0, 131, 3 };
	static const uint8_t lsrr[] = { 1, 131, 7, 4, 10, 0, 0, 9 };
	static const uint8_t ssrr[] = { 137, 7, 4, 10, 0, 0, 9, 0 };
	static const uint8_t zero_len[] = { 7, 0, 0, 0 };
	static const uint8_t one_len[] = { 7, 1, 0, 0 };
	static const uint8_t too_long[] = { 1, 7, 4, 0 };
	static const uint8_t no_len[] = { 1, 1, 1, 7 };

	(void)state;
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, fine, sizeof(fine));
	pkt_udp(&P, 1, 2);
	pkt_in(&P);
	assert_int_equal(W.nup, 1);
	assert_int_equal(W.rx[0].l4_off, 40);
	assert_int_equal(W.rx[0].l4_len, 40);
	world_clear();
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, lsrr, sizeof(lsrr));
	expect_drop(STACK_DROP_IP4_SOURCE_ROUTE);
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, ssrr, sizeof(ssrr));
	expect_drop(STACK_DROP_IP4_SOURCE_ROUTE);
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, zero_len, 4);
	expect_drop(STACK_DROP_IP4_OPTIONS);
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, one_len, 4);
	expect_drop(STACK_DROP_IP4_OPTIONS);
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, too_long, 4);
	expect_drop(STACK_DROP_IP4_OPTIONS);
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 40, no_len, 4);
	expect_drop(STACK_DROP_IP4_OPTIONS);
}

static void
in_flags(uint64_t ol_flags)
{
	struct rte_mbuf *m = pkt_buf_seg(P.b, P.len, 0);

	m->ol_flags |= ol_flags;
	ip4_input(W.s, W.nif, m);
}

/* STK-4 */
static void
checksum_offload_flags_bad_csum_counted_and_dropped(void **state)
{
	(void)state;
	udp_packet(PEER, US);
	in_flags(RTE_MBUF_F_RX_IP_CKSUM_BAD);
	assert_int_equal(drops(STACK_DROP_IP4_CSUM), 1);
	in_flags(RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD);
	assert_int_equal(drops(STACK_DROP_L4_CSUM_HW), 1);
	assert_int_equal(W.nup, 0);
	/* the port's word is taken: no second look */
	pkt_hdr(&P)->csum ^= 1;
	in_flags(RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	assert_int_equal(W.nup, 1);
	assert_true(W.rx[0].flags & IP_RX_L4_CSUM_OK);
	/* without its word, both are looked at here */
	in_flags(0);
	assert_int_equal(drops(STACK_DROP_IP4_CSUM), 2);
	pkt_hdr(&P)->csum ^= 1;
	in_flags(0);
	assert_int_equal(W.nup, 2);
	assert_false(W.rx[1].flags & IP_RX_L4_CSUM_OK);
	/* what is said of ICMP's checksum is of no account */
	pkt_init(&P, PEER, US, IPPROTO_ICMP4, 8, NULL, 0);
	in_flags(RTE_MBUF_F_RX_L4_CKSUM_BAD);
	assert_int_equal(drops(STACK_DROP_L4_CSUM_HW), 1);
	assert_int_equal(drops(STACK_DROP_ICMP4_CSUM), 1);
}

/* STK-4 */
static void
partial_checksum_from_virtio_tap_accepted(void **state)
{
	(void)state;
	udp_packet(PEER, US);
	pkt_hdr(&P)->csum ^= 1;
	in_flags(RTE_MBUF_F_RX_IP_CKSUM_NONE | RTE_MBUF_F_RX_L4_CKSUM_NONE);
	assert_int_equal(W.nup, 1);
	assert_true(W.rx[0].flags & IP_RX_L4_CSUM_OK);
}

/* STK-2: the padding of short Ethernet frames is not payload */
static void
padding_is_trimmed_over_segments(void **state)
{
	static uint8_t out[66000];

	(void)state;
	for (uint32_t seg = 1; seg <= 64; seg++) {
		udp_packet(PEER, US);
		memset(P.b + P.len, 0xee, 37);
		ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len + 37, seg));
		assert_int_equal(W.nup, 1);
		assert_int_equal(buf_bytes(W.up[0], out), P.len);
		assert_memory_equal(out, P.b, P.len);
		world_clear();
	}
	assert_int_equal(all_drops(), 0);
}

/* STK-2 */
static void
header_split_over_segments_is_read(void **state)
{
	static const uint8_t opts[40] = { 1, 7, 39, 4 };
	static uint8_t out[66000];

	(void)state;
	for (uint32_t seg = 1; seg <= 90; seg++) {
		pkt_init(&P, PEER, US, IP_PROTO_UDP, 100, opts, 40);
		pkt_udp(&P, 5, 6);
		ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len, seg));
		assert_int_equal(W.nup, 1);
		assert_int_equal(buf_bytes(W.up[0], out), P.len);
		assert_memory_equal(out, P.b, P.len);
		world_clear();
	}
}

/* STK-2: a chain whose bytes others hold too is not written to, and needs a buffer; there may be none */
static void
no_buffer_for_a_split_header_is_counted(void **state)
{
	static const uint32_t at[] = { 10, 30, 62 };
	static const uint8_t opts[40] = { 1, 7, 39, 4 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct rte_mbuf *m, *c;

		pkt_init(&P, PEER, US, IP_PROTO_UDP, 100, opts, 40);
		m = pkt_buf_seg(P.b, P.len, at[i]);
		c = shim_buf_clone(W.shim, m, W.pool);
		assert_non_null(c);
		mock_fail_all(W.shim, MOCK_OP_buf_alloc, ENOMEM);
		ip4_input(W.s, W.nif, c);
		mock_fail_all(W.shim, MOCK_OP_buf_alloc, 0);
		assert_int_equal(drops(STACK_DROP_NO_BUFFER), i + 1);
		c = shim_buf_clone(W.shim, m, W.pool);
		ip4_input(W.s, W.nif, c);
		assert_int_equal(W.nup, i + 1);
		assert_int_equal(m->data_len, at[i]);
		shim_buf_free(W.shim, m);
	}
}

/* STK-2 */
static void
destination_is_ours_broadcast_or_a_joined_group(void **state)
{
	const uint32_t group = A(239, 1, 2, 3);

	(void)state;
	udp_packet(PEER, A(10, 0, 0, 3));
	expect_drop(STACK_DROP_IP4_NOT_FOR_US);
	udp_packet(PEER, A(127, 0, 0, 1));
	expect_drop(STACK_DROP_IP4_MARTIAN);
	udp_packet(PEER, group);
	expect_drop(STACK_DROP_IP4_NOT_FOR_US);
	udp_packet(PEER, 0);
	expect_drop(STACK_DROP_IP4_NOT_FOR_US);
	udp_packet(PEER, A(255, 255, 255, 255));
	pkt_in(&P);
	udp_packet(PEER, A(10, 0, 0, 255));
	pkt_in(&P);
	udp_packet(PEER, A(224, 0, 0, 1));
	pkt_in(&P);
	assert_int_equal(W.nup, 3);
	assert_int_equal(W.rx[0].flags, IP_RX_BROADCAST);
	assert_int_equal(W.rx[1].flags, IP_RX_BROADCAST);
	assert_int_equal(W.rx[2].flags, IP_RX_MULTICAST);
	world_clear();
	assert_int_equal(ip4_mcast_join(W.s, W.nif, group), 0);
	assert_int_equal(ip4_mcast_join(W.s, NULL, group), 0);
	udp_packet(PEER, group);
	pkt_in(&P);
	assert_int_equal(ip4_mcast_leave(W.s, W.nif, group), 0);
	pkt_in(&P);
	assert_int_equal(W.nup, 2);
	world_clear();
	assert_int_equal(ip4_mcast_leave(W.s, NULL, group), 0);
	expect_drop(STACK_DROP_IP4_NOT_FOR_US);
}

/* STK-2 */
static void
memberships_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(ip4_mcast_join(W.s, W.nif, US), -EINVAL);
	assert_int_equal(ip4_mcast_leave(W.s, W.nif, US), -EINVAL);
	assert_int_equal(ip4_mcast_leave(W.s, W.nif, A(239, 0, 0, 1)), -EADDRNOTAVAIL);
	for (unsigned int i = 0; i < IP4_MCAST_MAX; i++)
		assert_int_equal(ip4_mcast_join(W.s, W.nif, A(239, 0, 1, i)), 0);
	assert_int_equal(ip4_mcast_join(W.s, W.nif, A(239, 0, 2, 0)), -ENOBUFS);
	assert_int_equal(ip4_mcast_join(W.s, W.nif, A(239, 0, 1, 0)), 0);
	assert_int_equal(ip4_mcast_leave(W.s, W.nif, A(239, 0, 1, 5)), 0);
	assert_int_equal(ip4_mcast_join(W.s, W.nif, A(239, 0, 2, 0)), 0);
	/* no interface has an address: there is none to join on */
	assert_int_equal(stack_addr4_del(W.s, W.nif, US), 0);
	assert_int_equal(ip4_mcast_join(W.s, NULL, A(239, 0, 3, 0)), -ENODEV);
	assert_int_equal(ip4_mcast_leave(W.s, NULL, A(239, 0, 3, 0)), -EADDRNOTAVAIL);
}

/* STK-2: RFC 1122 3.2.2.1 */
static void
unknown_protocol_is_answered_and_counted(void **state)
{
	static struct pkt r;

	(void)state;
	pkt_init(&P, PEER, US, 200, 40, NULL, 0);
	expect_drop(STACK_DROP_IP4_PROTO_UNKNOWN);
	assert_int_equal(tx_count(), 1);
	tx_packet(0, &r);
	assert_int_equal(r.b[20], 3);
	assert_int_equal(r.b[21], 2);
	assert_memory_equal(r.b + 28, P.b, P.len);
	world_clear();
	pkt_init(&P, PEER, A(10, 0, 0, 255), 200, 40, NULL, 0);
	expect_drop(STACK_DROP_IP4_PROTO_UNKNOWN);
	assert_int_equal(tx_count(), 0);
	pkt_init(&P, PEER, US, IP_PROTO_TCP, 19, NULL, 0);
	expect_drop(STACK_DROP_TCP_SHORT);
}

/* STK-1: what cannot be allocated at creation is an error, and nothing stays behind */
static void
init_without_memory_fails_cleanly(void **state)
{
	struct stack s;

	(void)state;
	memset(&s, 0, sizeof(s));
	s.shim = W.shim;
	s.pool = W.pool;
	for (unsigned int k = 1; k <= 2; k++) {
		mock_fail_malloc_at(W.shim, k);
		assert_int_equal(ip4_init(&s), -ENOMEM);
		assert_null(s.ip4);
	}
	ip4_release(&s);
}

/* STK-8: bytes turned at random in packets of every kind; nothing breaks, and every buffer comes back */
static void
damaged_packets_leave_no_trace(void **state)
{
	static const uint8_t opts[12] = { 1, 7, 7, 4, 0, 0, 0, 0, 148, 4, 0, 0 };
	static const uint8_t protos[] = { IPPROTO_ICMP4, IP_PROTO_UDP, IP_PROTO_TCP, 200 };
	static const uint8_t types[] = { 0, 3, 4, 5, 8, 11, 12, 13 };
	uint64_t x = 0x9e3779b97f4a7c15ull;

	(void)state;
	for (unsigned int i = 0; i < 30000; i++) {
		unsigned int n = 28 + i % 90, hlen = i % 5 == 0 ? 32 : 20;
		uint16_t sum;

		pkt_init(&P, i % 11 == 0 ? A(10, 0, 0, 3 + i % 7) : PEER, US, protos[i % 4], n, opts, hlen - 20);
		P.b[hlen] = types[i / 4 % 8];
		P.b[hlen + 1] = (uint8_t)(i % 6);
		pkt_init(&Q, US, PEER, IP_PROTO_UDP, 0, NULL, 0);
		memcpy(P.b + hlen + 8, Q.b, 20);
		for (unsigned int k = 0; k < 1 + i % 3; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			P.b[(x >> 8) % P.len] = (uint8_t)x;
		}
		if (i % 2 == 0)
			P.b[0] = (uint8_t)(0x40 | hlen / 4);
		if (i % 3 == 0) { /* good checksums, so that the damage is seen further in */
			memset(P.b + hlen + 2, 0, 2);
			sum = csum_finish(csum_add(0, P.b + hlen, n));
			memcpy(P.b + hlen + 2, &sum, 2);
		}
		if ((P.b[0] & 15) * 4u <= P.len && (P.b[0] & 15) >= 5)
			pkt_seal(&P);
		ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len - (i % 13 == 0), i % 17 == 0 ? 9 : 0));
		if (i % 64 == 63) {
			stack_poll(W.s, W.s->now_ns + 100000000);
			world_clear();
		}
	}
	stack_poll(W.s, W.s->now_ns + IP4_REASS_TIMEOUT_NS + 10000000);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(header_checksum_ihl_total_length_validated),
		world_test(source_martian_and_own_address_dropped),
		world_test(options_skipped_source_route_refused),
		world_test(checksum_offload_flags_bad_csum_counted_and_dropped),
		world_test(partial_checksum_from_virtio_tap_accepted),
		world_test(padding_is_trimmed_over_segments),
		world_test(header_split_over_segments_is_read),
		world_test(no_buffer_for_a_split_header_is_counted),
		world_test(destination_is_ours_broadcast_or_a_joined_group),
		world_test(memberships_are_bounded),
		world_test(unknown_protocol_is_answered_and_counted),
		world_test(damaged_packets_leave_no_trace),
		world_test_offload(damaged_packets_leave_no_trace),
		world_test(init_without_memory_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

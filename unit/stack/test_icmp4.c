/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP: echo, errors sent and when not, errors received and what they mean to a socket. */
#include "ip4_world.h"

static struct pkt P, R;

/* An ICMP message of n bytes (header included) that counts up; checksum right. */
static void
icmp_packet(uint32_t src, uint32_t dst, uint8_t type, uint8_t code, uint32_t n)
{
	uint8_t *p = P.b + 20;
	uint16_t sum;

	pkt_init(&P, src, dst, IPPROTO_ICMP4, n, NULL, 0);
	p[0] = type;
	p[1] = code;
	memset(p + 2, 0, 2);
	sum = csum_finish(csum_add(0, p, n));
	memcpy(p + 2, &sum, 2);
}

/* An error that quotes header q and l4 bytes behind it; arg: the last four bytes of its header. */
static void
icmp_error_packet(uint8_t type, uint8_t code, uint32_t arg, const struct ip4_hdr *q, uint32_t l4)
{
	uint8_t *p = P.b + 20;
	uint16_t sum;

	pkt_init(&P, FAR, US, IPPROTO_ICMP4, 8 + 20 + l4, NULL, 0);
	p[0] = type;
	p[1] = code;
	put_be32(p + 4, arg);
	memcpy(p + 8, q, 20);
	memset(p + 2, 0, 2);
	sum = csum_finish(csum_add(0, p, 28 + l4));
	memcpy(p + 2, &sum, 2);
}

static struct ip4_hdr
sent_header(uint32_t src, uint32_t dst, uint8_t proto, uint16_t len)
{
	struct ip4_hdr h = { .ver_ihl = 0x45, .total_len = be16(len), .ttl = 60, .proto = proto, .src = src, .dst = dst };

	return h;
}

static void
route_far(void)
{
	union ip_addr any = ip_addr_v4(0), gw = ip_addr_v4(PEER);

	assert_int_equal(stack_route_add(W.s, ADDR_INET, &any, 0, &gw, NULL), 0);
}

/* STK-2 */
static void
echo_is_answered_byte_for_byte(void **state)
{
	static const uint8_t opts[8] = { 7, 7, 4, 0, 0, 0, 0, 0 };
	static struct pkt with;

	(void)state;
	for (uint32_t seg = 0; seg <= 64; seg += 4) {
		icmp_packet(PEER, US, ICMP4_ECHO, 0, 64);
		P.b[1] = 0x10;
		pkt_seal(&P);
		ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len, seg));
		assert_int_equal(tx_count(), 1);
		tx_packet(0, &R);
		assert_int_equal(R.len, P.len);
		assert_int_equal(R.b[1], 0x10);
		assert_true(pkt_hdr(&R)->src == US && pkt_hdr(&R)->dst == PEER);
		assert_int_equal(R.b[20], ICMP4_ECHO_REPLY);
		assert_memory_equal(R.b + 24, P.b + 24, 60);
		assert_int_equal(csum_finish(csum_add(0, R.b + 20, 64)), 0);
		world_clear();
	}
	/* options stay behind */
	icmp_packet(PEER, US, ICMP4_ECHO, 0, 64);
	pkt_init(&with, PEER, US, IPPROTO_ICMP4, 64, opts, 8);
	memcpy(with.b + 28, P.b + 20, 64);
	pkt_in(&with);
	tx_packet(0, &R);
	assert_int_equal(R.len, 84);
	assert_int_equal(R.b[0], 0x45);
	assert_int_equal(all_drops(), 0);
}

/* STK-2 */
static void
echo_of_8000_bytes_in_fragments_is_answered_in_fragments(void **state)
{
	static struct pkt f, whole;
	uint32_t off, n = 8008, got = 0;

	(void)state;
	icmp_packet(PEER, US, ICMP4_ECHO, 0, n);
	for (off = 0; off < n; off += 1480) {
		uint32_t len = n - off < 1480 ? n - off : 1480;

		pkt_init(&f, PEER, US, IPPROTO_ICMP4, len, NULL, 0);
		memcpy(f.b + 20, P.b + 20 + off, len);
		pkt_hdr(&f)->frag = be16((uint16_t)(off / 8 | (off + len < n ? IP4_MF : 0)));
		pkt_seal(&f);
		pkt_in(&f);
	}
	assert_int_equal(tx_count(), 6);
	for (unsigned int i = 0; i < 6; i++) {
		tx_packet(i, &R);
		memcpy(whole.b + got, R.b + 20, R.len - 20);
		got += R.len - 20;
	}
	assert_int_equal(got, n);
	assert_int_equal(whole.b[0], ICMP4_ECHO_REPLY);
	assert_memory_equal(whole.b + 4, P.b + 24, n - 4);
	assert_int_equal(csum_finish(csum_add(0, whole.b, n)), 0);
}

/* STK-2, STK-9 */
static void
echo_that_is_not_answered(void **state)
{
	(void)state;
	icmp_packet(PEER, A(10, 0, 0, 255), ICMP4_ECHO, 0, 64);
	pkt_in(&P);
	icmp_packet(PEER, A(224, 0, 0, 1), ICMP4_ECHO, 0, 64);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_BROADCAST), 2);
	icmp_packet(FAR, US, ICMP4_ECHO, 0, 64); /* no way back */
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_IP4_NO_ROUTE), 2); /* the look-up's, and the packet's */
	icmp_packet(PEER, US, ICMP4_ECHO, 0, 64);
	P.b[30] ^= 1;
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_CSUM), 1);
	icmp_packet(PEER, US, ICMP4_ECHO, 0, 7);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_SHORT), 1);
	W.s->cfg.buf_low_watermark = POOL_BUFS + 1;
	stack_poll(W.s, W.s->now_ns);
	icmp_packet(PEER, US, ICMP4_ECHO, 0, 64);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_BACKPRESSURE), 1);
	pkt_init(&P, PEER, US, 200, 40, NULL, 0); /* nor is an error sent then */
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_BACKPRESSURE), 2);
	assert_int_equal(tx_count(), 0);
}

/* STK-8 */
static void
echo_without_buffers(void **state)
{
	struct rte_mbuf *m, *c;

	(void)state;
	icmp_packet(PEER, US, ICMP4_ECHO, 0, 64);
	m = pkt_buf_seg(P.b, P.len, 0);
	c = shim_buf_clone(W.shim, m, W.pool);
	mock_fail_all(W.shim, MOCK_OP_buf_alloc, ENOMEM);
	ip4_input(W.s, W.nif, c);
	mock_fail_all(W.shim, MOCK_OP_buf_alloc, 0);
	assert_int_equal(drops(STACK_DROP_NO_BUFFER), 1);
	shim_buf_free(W.shim, m);
}

static void
unreach_about(uint32_t src, uint32_t dst, uint8_t proto, uint16_t frag, uint8_t icmp_type)
{
	struct ip_rx rx = { .nif = W.nif, .family = ADDR_INET, .proto = proto };
	struct rte_mbuf *m;

	pkt_init(&P, src, dst, proto, 40, NULL, 0);
	P.b[20] = icmp_type;
	pkt_hdr(&P)->frag = be16(frag);
	pkt_seal(&P);
	rx.src = ip_addr_v4(src);
	rx.dst = ip_addr_v4(dst);
	if (dst == A(10, 0, 0, 255))
		rx.flags = IP_RX_BROADCAST;
	m = pkt_buf_seg(P.b, P.len, 0);
	ip_send_unreach(W.s, &rx, IP_UNREACH_ADMIN, m);
	shim_buf_free(W.shim, m);
}

/* STK-2: RFC 1122 3.2.2 */
static void
no_icmp_error_about_icmp_error_multicast_broadcast_non_first_fragment(void **state)
{
	static const uint8_t errors[] = { 3, 4, 5, 11, 12, 30, 255 };
	static const uint8_t queries[] = { 0, 8, 9, 10, 13, 14, 15, 16, 17, 18 };
	static const uint32_t no_host[] = { A(0, 0, 0, 0), A(224, 0, 0, 9), A(255, 255, 255, 255), A(10, 0, 0, 255) };

	(void)state;
	for (unsigned int i = 0; i < sizeof(errors); i++)
		unreach_about(PEER, US, IPPROTO_ICMP4, 0, errors[i]);
	for (unsigned int i = 0; i < 4; i++)
		unreach_about(no_host[i], US, IP_PROTO_UDP, 0, 0);
	unreach_about(PEER, A(10, 0, 0, 255), IP_PROTO_UDP, 0, 0);
	unreach_about(PEER, A(224, 0, 0, 1), IP_PROTO_UDP, 0, 0);
	unreach_about(PEER, A(10, 0, 0, 99), IP_PROTO_UDP, 0, 0);
	unreach_about(PEER, US, IP_PROTO_UDP, 10, 0);
	assert_int_equal(tx_count(), 0);
	for (unsigned int i = 0; i < sizeof(queries); i++)
		unreach_about(PEER, US, IPPROTO_ICMP4, 0, queries[i]);
	unreach_about(PEER, US, IP_PROTO_UDP, IP4_MF, 0);
	assert_int_equal(tx_count(), sizeof(queries) + 1);
	tx_packet(0, &R);
	assert_int_equal(R.b[21], 13);
}

/* STK-8: RFC 1812 4.3.2.8 */
static void
icmp_errors_rate_limited(void **state)
{
	unsigned int sent;

	(void)state;
	for (unsigned int i = 0; i < 200; i++)
		unreach_about(PEER, US, IP_PROTO_UDP, 0, 0);
	sent = tx_count();
	assert_in_range(sent, IP_LIMIT_BURST - 8, IP_LIMIT_BURST + 1);
	assert_int_equal(drops(STACK_DROP_ICMP4_LIMIT), 200 - sent);
	/* echo is not held back by it */
	icmp_packet(PEER, US, ICMP4_ECHO, 0, 64);
	pkt_in(&P);
	assert_int_equal(tx_count(), sent + 1);
	world_clear();
	for (unsigned int i = 0; i < 100; i++) {
		stack_poll(W.s, W.s->now_ns + IP_LIMIT_INTERVAL_NS);
		unreach_about(PEER, US, IP_PROTO_UDP, 0, 0);
	}
	assert_in_range(tx_count(), 90, 108);
}

/* STK-2: as much of the datagram as 576 bytes take */
static void
closed_port_unreachable_quotes_enough(void **state)
{
	(void)state;
	W.answer_unreachable = true;
	for (uint32_t n = 8; n < 1400; n += 300) {
		uint32_t quoted = n + 20 < 548 ? n + 20 : 548;

		pkt_init(&P, PEER, US, IP_PROTO_UDP, n, NULL, 0);
		pkt_udp(&P, 1000, 2000);
		ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len, 33));
		assert_int_equal(tx_count(), 1);
		tx_packet(0, &R);
		assert_int_equal(R.len, 28 + quoted);
		assert_int_equal(R.b[20], ICMP4_UNREACH);
		assert_int_equal(R.b[21], 3);
		assert_memory_equal(R.b + 28, P.b, quoted);
		assert_int_equal(csum_finish(csum_add(0, R.b + 20, R.len - 20)), 0);
		world_clear();
	}
	mock_fail_all(W.shim, MOCK_OP_buf_alloc, 0);
}

static int
setup_tiny(void **state)
{
	(void)state;
	world_up(64, 128 + 100, 0, 1500, 0);
	return 0;
}

/* STK-8 */
static void
error_without_a_fitting_buffer(void **state)
{
	(void)state;
	unreach_about(PEER, US, IP_PROTO_UDP, 0, 0); /* 28 + 60 bytes fit */
	assert_int_equal(tx_count(), 1);
	pkt_init(&P, PEER, US, 200, 200, NULL, 0);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_NO_BUFFER), 1);
	pkt_init(&P, PEER, US, 200, 60, NULL, 0);
	struct rte_mbuf *m = pkt_buf_seg(P.b, P.len, 0);

	mock_fail_all(W.shim, MOCK_OP_buf_alloc, ENOMEM);
	ip4_input(W.s, W.nif, m);
	mock_fail_all(W.shim, MOCK_OP_buf_alloc, 0);
	assert_int_equal(drops(STACK_DROP_NO_BUFFER), 2);
	pkt_init(&P, FAR, US, 200, 20, NULL, 0); /* no way back: nothing is sent */
	pkt_in(&P);
	assert_int_equal(tx_count(), 1);
}

/* STK-2 */
static void
error_means_to_a_socket_what_it_means_on_linux(void **state)
{
	static const struct {
		uint8_t type, code;
		int err;
		bool hard;
	} want[] = { { 3, 0, ENETUNREACH, false }, { 3, 1, EHOSTUNREACH, false }, { 3, 2, ENOPROTOOPT, true },
		{ 3, 3, ECONNREFUSED, true }, { 3, 5, EOPNOTSUPP, false }, { 3, 6, ENETUNREACH, true },
		{ 3, 7, EHOSTDOWN, true }, { 3, 8, ENONET, true }, { 3, 9, ENETUNREACH, true },
		{ 3, 10, EHOSTUNREACH, true }, { 3, 11, ENETUNREACH, false }, { 3, 12, EHOSTUNREACH, false },
		{ 3, 13, EHOSTUNREACH, true }, { 3, 14, EHOSTUNREACH, true }, { 3, 15, EHOSTUNREACH, true },
		{ 11, 0, EHOSTUNREACH, false }, { 11, 1, EHOSTUNREACH, false }, { 12, 0, EPROTO, true } };
	struct ip4_hdr q = sent_header(US, FAR, IP_PROTO_UDP, 100);

	(void)state;
	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		icmp_error_packet(want[i].type, want[i].code, 0, &q, 8);
		ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len, 1 + i * 3));
		assert_int_equal(W.nerr, i + 1);
		assert_int_equal(W.err.err, want[i].err);
		assert_int_equal(W.err.hard, want[i].hard);
		assert_int_equal(W.err.type, want[i].type);
		assert_int_equal(W.err.code, want[i].code);
		assert_true(W.err.src.v4 == US && W.err.dst.v4 == FAR);
		assert_memory_equal(W.err_l4, P.b + 48, 8);
	}
	assert_int_equal(all_drops(), 0);
	icmp_error_packet(3, 16, 0, &q, 8);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_TYPE), 1);
}

/* STK-8: the part of "checked before action" that needs no connection */
static void
icmp_error_checked_against_what_we_could_have_sent(void **state)
{
	struct ip4_hdr q = sent_header(US, FAR, IP_PROTO_UDP, 100), b;
	unsigned int n = 0;

	(void)state;
	for (uint32_t l4 = 0; l4 < 8; l4++) { /* ports cut off */
		icmp_error_packet(3, 3, 0, &q, l4);
		pkt_in(&P);
		assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), ++n);
	}
	for (unsigned int i = 0; i < 6; i++) {
		b = q;
		if (i == 0)
			b.src = A(10, 0, 0, 99); /* not ours */
		else if (i == 1)
			b.ver_ihl = 0x65;
		else if (i == 2)
			b.ver_ihl = 0x44;
		else if (i == 3)
			b.ver_ihl = 0x4f; /* more header than there is */
		else if (i == 4)
			b.frag = be16(5);
		else
			b.proto = 132;
		icmp_error_packet(3, 3, 0, &b, 8);
		pkt_in(&P);
		assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), ++n);
	}
	/* sent to one of our addresses about another */
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(10, 0, 0, 9), 24, 0), 0);
	b = q;
	b.src = A(10, 0, 0, 9);
	icmp_error_packet(3, 3, 0, &b, 8);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), ++n);
	/* no header at all */
	icmp_packet(PEER, US, 3, 3, 20);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), ++n);
	assert_int_equal(W.nerr, 0);
	/* about TCP: good, and nobody to tell */
	b = q;
	b.proto = IP_PROTO_TCP;
	icmp_error_packet(3, 3, 0, &b, 8);
	pkt_in(&P);
	assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), n);
	assert_int_equal(W.nerr, 0);
}

static void
frag_needed(uint16_t mtu, uint16_t sent_len)
{
	struct ip4_hdr q = sent_header(US, FAR, IP_PROTO_UDP, sent_len);

	icmp_error_packet(3, 4, mtu, &q, 8);
	pkt_in(&P);
}

/* STK-2: RFC 1191 */
static void
frag_needed_lowers_the_path_and_invalidates_kept_ones(void **state)
{
	struct ip_path path;

	(void)state;
	route_far();
	path = path_to(FAR);
	assert_int_equal(path.mtu, 1500);
	frag_needed(1400, 1500);
	assert_int_equal(W.nerr, 1);
	assert_int_equal(W.err.err, EMSGSIZE);
	assert_int_equal(W.err.mtu, 1400);
	assert_false(W.err.hard);
	assert_false(ip_path_valid(W.s, &path));
	path = path_to(FAR);
	assert_int_equal(path.mtu, 1400);
	assert_int_equal(path_to(PEER).mtu, 1500);
	/* an MTU that the packet would have fitted, or that is not smaller than what is known, is not news */
	frag_needed(1500, 1500);
	frag_needed(1450, 1500);
	assert_int_equal(W.nerr, 1);
	assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), 2);
	assert_int_equal(path_to(FAR).mtu, 1400);
}

/* STK-8 */
static void
mtu_below_576_v4_or_1280_v6_ignored(void **state)
{
	const union ip_addr far6 = { .v6 = { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 } };

	(void)state;
	route_far();
	frag_needed(575, 1500);
	frag_needed(68, 1500);
	frag_needed(1, 1500);
	assert_int_equal(W.nerr, 0);
	assert_int_equal(drops(STACK_DROP_ICMP4_QUOTE), 3);
	assert_int_equal(path_to(FAR).mtu, 1500);
	frag_needed(576, 1500);
	assert_int_equal(path_to(FAR).mtu, 576);
	assert_false(pmtu_learn(W.s, ADDR_INET6, &far6, 1279));
	assert_int_equal(pmtu_get(W.s, ADDR_INET6, &far6, 1500), 1500);
}

/* STK-2: RFC 1191 6.3; a kept path does not outlive what it was made from */
static void
pmtu_aged_out(void **state)
{
	struct ip_path p;

	(void)state;
	route_far();
	frag_needed(1000, 1500);
	p = path_to(FAR);
	assert_int_equal(p.mtu, 1000);
	for (unsigned int i = 0; i < 9; i++)
		stack_poll(W.s, W.s->now_ns + 60000000000ull);
	assert_int_equal(path_to(FAR).mtu, 1000);
	for (unsigned int i = 0; i < 3; i++)
		stack_poll(W.s, W.s->now_ns + 60000000000ull);
	assert_false(ip_path_valid(W.s, &p));
	assert_int_equal(path_to(FAR).mtu, 1500);
}

/* STK-2: RFC 1191 7.1 */
static void
mtu_zero_uses_plateau(void **state)
{
	static const uint16_t step[][2] = { { 1500, 1492 }, { 1492, 1006 }, { 1006, 576 } };

	(void)state;
	route_far();
	for (unsigned int i = 0; i < 3; i++) {
		frag_needed(0, step[i][0]);
		assert_int_equal(W.err.mtu, step[i][1]);
		assert_int_equal(path_to(FAR).mtu, step[i][1]);
	}
	frag_needed(0, 68); /* nothing smaller there is, and it is below the floor */
	frag_needed(0, 40);
	assert_int_equal(W.nerr, 3);
	assert_int_equal(path_to(FAR).mtu, 576);
}

/* STK-2: RFC 6633, and the others a host need not hear */
static void
source_quench_ignored(void **state)
{
	static const uint8_t types[] = { 0, 4, 5, 9, 10, 13, 14, 17, 18, 42 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(types); i++) {
		icmp_packet(PEER, US, types[i], 0, 40);
		pkt_in(&P);
		assert_int_equal(drops(STACK_DROP_ICMP4_TYPE), i + 1);
	}
	assert_int_equal(W.nerr, 0);
	assert_int_equal(tx_count(), 0);
}

/* STK-2 */
static void
neighbour_that_does_not_answer_is_told_to_the_socket(void **state)
{
	const struct ip_tx tx = { .proto = IP_PROTO_UDP };
	struct ip_path path = path_to(A(10, 0, 0, 77));

	(void)state;
	assert_int_equal(ip_output(W.s, &path, &tx, payload(30, 0)), 0);
	for (unsigned int i = 0; i < 10; i++)
		stack_poll(W.s, W.s->now_ns + 1000000000);
	assert_int_equal(drops(STACK_DROP_NEIGH_UNREACHABLE), 1);
	assert_int_equal(W.nerr, 1);
	assert_int_equal(W.err.err, EHOSTUNREACH);
	assert_false(W.err.hard);
	assert_true(W.err.src.v4 == US && W.err.dst.v4 == A(10, 0, 0, 77));
	/* what is not UDP's is only counted, however short or cut it is */
	pkt_init(&P, US, A(10, 0, 0, 77), IPPROTO_ICMP4, 40, NULL, 0);
	ip4_unreachable_neigh(W.s, W.nif, pkt_buf_seg(P.b, P.len, 3));
	ip4_unreachable_neigh(W.s, W.nif, pkt_buf_seg(P.b, 27, 3));
	pkt_init(&P, US, A(10, 0, 0, 77), IP_PROTO_UDP, 40, NULL, 0);
	pkt_hdr(&P)->frag = be16(3);
	ip4_unreachable_neigh(W.s, W.nif, pkt_buf_seg(P.b, P.len, 3));
	P.b[0] = 0x46;
	ip4_unreachable_neigh(W.s, W.nif, pkt_buf_seg(P.b, P.len, 3));
	assert_int_equal(drops(STACK_DROP_NEIGH_UNREACHABLE), 5);
	assert_int_equal(W.nerr, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(echo_is_answered_byte_for_byte),
		world_test_offload(echo_is_answered_byte_for_byte),
		world_test(echo_of_8000_bytes_in_fragments_is_answered_in_fragments),
		world_test(echo_that_is_not_answered),
		world_test(echo_without_buffers),
		world_test(no_icmp_error_about_icmp_error_multicast_broadcast_non_first_fragment),
		world_test(icmp_errors_rate_limited),
		world_test(closed_port_unreachable_quotes_enough),
		cmocka_unit_test_setup_teardown(error_without_a_fitting_buffer, setup_tiny, world_teardown),
		world_test(error_means_to_a_socket_what_it_means_on_linux),
		world_test(icmp_error_checked_against_what_we_could_have_sent),
		world_test(frag_needed_lowers_the_path_and_invalidates_kept_ones),
		world_test(mtu_below_576_v4_or_1280_v6_ignored),
		world_test(pmtu_aged_out),
		world_test(mtu_zero_uses_plateau),
		world_test(source_quench_ignored),
		world_test(neighbour_that_does_not_answer_is_told_to_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

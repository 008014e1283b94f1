/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6, its extension headers and ICMPv6 by RFC 8200, 4443, 5095, 2675, 8201. Lines 50, 52, 58, 62 of the checklist. */
#include "pkt.h"

#define ECHO_ID 0x12340007u

/* An echo request behind `n` bytes of extension headers whose first is `first`. */
static uint32_t
echo_behind(uint8_t *f, uint8_t first, const void *ext, uint32_t n)
{
	uint8_t b[2048];
	uint32_t len;

	if (n != 0)
		memcpy(b, ext, n);
	len = icmp(b + n, 6, PEER6, ME6, 128, 0, ECHO_ID, "data", 4);
	return ip6(f, first, b, n + len);
}

static void
expect_reply(struct fx *fx)
{
	struct fx_pkt p;

	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.proto, 58);
	assert_int_equal(p.l4[0], 129);
	assert_int_equal(r32(p.l4 + 4), ECHO_ID);
	assert_memory_equal(p.l4 + 8, "data", 4);
	assert_memory_equal(p.l3 + 8, ME6, 16);
	assert_memory_equal(p.l3 + 24, PEER6, 16);
}

/* A parameter problem with this code and pointer (from the IPv6 header on). */
static void
expect_param(struct fx *fx, uint8_t code, uint32_t pointer)
{
	struct fx_pkt p;

	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.l4[0], 4);
	assert_int_equal(p.l4[1], code);
	assert_int_equal(r32(p.l4 + 4), pointer);
}

/* RFC 4443 4.1; sizes odd and even. STK-2 */
static void
echo_of_every_size_is_answered(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 7, 1231, 1232, 1451, 1452 };
	struct fx *fx = *state;
	uint8_t f[2048], l4[2048], d[1500];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct fx_pkt p;

		fill(d, sizes[i], i);
		fx_inject(fx, f, ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 128, 0, ECHO_ID, d, sizes[i])));
		fx_expect(fx, 0x86dd, &p);
		assert_int_equal(p.l4[0], 129);
		assert_int_equal(p.l4_len, 8 + sizes[i]);
		assert_memory_equal(p.l4 + 8, d, sizes[i]);
	}
}

/* RFC 8200 3. STK-8 */
static void
version_and_payload_length_are_validated(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256];
	uint32_t n;

	fx_know_peer(fx);
	n = echo_behind(f, 58, NULL, 0);
	f[L2] = 0x40;
	fx_inject(fx, f, n);
	f[L2] = 0x70;
	fx_inject(fx, f, n);
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_VERSION), 2);
	f[L2] = 0x60;
	w16(f + L2 + 4, 13); /* the frame has 12 */
	fx_inject(fx, f, n);
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_LENGTH), 1);
	w16(f + L2 + 4, 12);
	for (uint32_t k = L2; k < L2 + H6; k += 3)
		fx_inject(fx, f, k);
	fx_expect_none(fx);
	memset(f + n, 0xee, 20); /* surplus is padding */
	fx_inject(fx, f, n + 20);
	expect_reply(fx);
	f[L2] = 0x6f; /* traffic class and flow label are anything */
	w16(f + L2 + 2, 0xffff);
	fx_inject(fx, f, n);
	expect_reply(fx);
}

/* RFC 4291 2.5.3, 2.7, RFC 8200. STK-8 */
static void
martian_sources_and_others_packets_are_dropped(void **state)
{
	static const uint8_t src[][16] = { { 0xff, 2, [15] = 1 }, { [15] = 1 }, { 0x20, 1, 0xd, 0xb8, [15] = 1 }, { 0 } };
	static const uint8_t dst[][16] = { { [15] = 1 }, { 0x20, 1, 0xd, 0xb8, [15] = 9 }, { 0 }, { 0xff, 5, [15] = 1 },
		{ 0xff, 2, [11] = 1, [12] = 0xff, [15] = 9 } };
	struct fx *fx = *state;
	uint8_t f[256], l4[64];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t n = icmp(l4, 6, src[i], ME6, 128, 0, ECHO_ID, "data", 4);

		fx_inject(fx, f, ip6x(f, src[i], ME6, 58, 64, l4, n));
		fx_expect_none(fx);
	}
	for (unsigned int i = 0; i < 5; i++) {
		uint32_t n = icmp(l4, 6, PEER6, dst[i], 128, 0, ECHO_ID, "data", 4);

		fx_inject(fx, f, ip6x(f, PEER6, dst[i], 58, 64, l4, n));
		fx_expect_none(fx);
	}
	assert_int_equal(fx_all_drops(fx), 9);
}

/* Line 58: ext_header_order_tolerant: destination options, routing with nothing left, in any order. STK-2 */
static void
ext_header_order_tolerant(void **state)
{
	static const uint8_t hbh[] = { 0, 0, 1, 4, 0, 0, 0, 0 }, dst[] = { 60, 0, 1, 4, 0, 0, 0, 0 },
		rt[] = { 43, 0, 3, 0, 0, 0, 0, 0 }; /* the first byte says what it is; rewritten */
	static const char *const orders[] = { "h", "d", "r", "hd", "hr", "hdr", "dr", "rd", "hrd", "drd", "dd" };
	struct fx *fx = *state;
	uint8_t f[512];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const char *o = orders[i];
		uint8_t b[64];
		uint8_t first = o[0] == 'h' ? 0 : o[0] == 'd' ? 60 : 43;
		uint32_t n = 0;

		for (; *o; o++, n += 8) {
			memcpy(b + n, *o == 'h' ? hbh : *o == 'd' ? dst : rt, 8);
			b[n] = o[1] == '\0' ? 58 : o[1] == 'd' ? 60 : 43;
		}
		fx_inject(fx, f, echo_behind(f, first, b, n));
		expect_reply(fx);
	}
	assert_int_equal(fx_all_drops(fx), 0);
}

/* Line 58: but_bounded */
static void
ext_headers_are_bounded(void **state)
{
	struct fx *fx = *state;
	uint8_t f[2048], b[1400];

	fx_know_peer(fx);
	for (uint32_t i = 0; i < 100; i++)
		memcpy(b + i * 8, "\x3c\x00\x01\x04\x00\x00\x00\x00", 8);
	b[99 * 8] = 58;
	fx_inject(fx, f, echo_behind(f, 60, b, 800));
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_EXT_LIMIT), 1);
	while (fx_tx_count(fx) > 0) {
		struct fx_pkt p;

		assert_true(fx_pop(fx, &p));
		assert_int_not_equal(p.l4[0], 129);
	}
}

/* Line 58: unknown_option_action_bits_00_01_10_11 (RFC 8200 4.2), in both kinds of options header. STK-2 */
static void
unknown_option_action_bits_00_01_10_11(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], ext[8] = { 58, 0, 0, 1, 0, 1, 1, 0 };

	fx_know_peer(fx);
	for (unsigned int k = 0; k < 2; k++) {
		uint8_t first = k == 0 ? 0 : 60;

		ext[2] = 0x1e; /* 00: skip */
		fx_inject(fx, f, echo_behind(f, first, ext, 8));
		expect_reply(fx);
		ext[2] = 0x5e; /* 01: discard silently */
		fx_inject(fx, f, echo_behind(f, first, ext, 8));
		fx_expect_none(fx);
		ext[2] = 0x9e; /* 10: discard and tell */
		fx_inject(fx, f, echo_behind(f, first, ext, 8));
		expect_param(fx, 2, H6 + 2);
		ext[2] = 0xde; /* 11: tell unless it was sent to many */
		fx_inject(fx, f, echo_behind(f, first, ext, 8));
		expect_param(fx, 2, H6 + 2);
	}
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_OPTION), 6);
}

/* The same for multicast: 10 is told (RFC 4443 2.4 e.3), 11 is not. */
static void
option_errors_about_multicast(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], b[64] = { 58, 0, 0x9e, 1, 0, 1, 1, 0 };
	uint32_t n = 8 + icmp(b + 8, 6, PEER6, ALL_NODES, 128, 0, ECHO_ID, "data", 4);
	struct fx_pkt p;

	fx_know_peer(fx);
	fx_inject(fx, f, ip6x(f, PEER6, ALL_NODES, 60, 64, b, n));
	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.l4[0], 4);
	assert_int_equal(p.l4[1], 2);
	b[2] = 0xde;
	fx_inject(fx, f, ip6x(f, PEER6, ALL_NODES, 60, 64, b, n));
	fx_expect_none(fx);
}

/* STK-8 */
static void
malformed_extension_headers_are_dropped(void **state)
{
	static const struct { const char *b; uint8_t first; } t[] = {
		{ "\x3a\x00\x01\x05\x00\x00\x00\x00", 60 },   /* PadN past the header */
		{ "\x3a\x00\x1e\x00\x1e\x00\x1e\x03", 60 },   /* an option whose data are past it */
		{ "\x3a\x00\x00\x00\x00\x00\x00\x1e", 60 },   /* an option without a length byte */
		{ "\x3a\xff\x01\x04\x00\x00\x00\x00", 60 },   /* header longer than the packet */
		{ "\x3a\xff\x01\x04\x00\x00\x00\x00", 0 },
		{ "\x3a\xff\x03\x00\x00\x00\x00\x00", 43 },
	};
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct fx_pkt p;

		fx_inject(fx, f, echo_behind(f, t[i].first, t[i].b, 8));
		while (fx_pop(fx, &p))
			assert_int_not_equal(p.l4[0], 129);
		if (fx_all_drops(fx) != i + 1)
			fail_msg("case %u", i);
	}
}

/* Line 58: hop_by_hop_only_first: code 1 at the byte that named it (RFC 8200 4). */
static void
hop_by_hop_only_first(void **state)
{
	static const uint8_t b[] = { 0, 0, 1, 4, 0, 0, 0, 0, 58, 0, 1, 4, 0, 0, 0, 0 };
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	fx_inject(fx, f, echo_behind(f, 60, b, 16));
	expect_param(fx, 1, H6);
	fx_inject(fx, f, echo_behind(f, 0, b, 16)); /* twice */
	expect_param(fx, 1, H6);
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_EXT_ORDER), 2);
}

/* Line 58: rh0_dropped (5095); an unknown routing type with segments left is told at its type field (RFC 8200 4.4). */
static void
routing_headers_with_segments_left_are_refused(void **state)
{
	uint8_t rh[24] = { 58, 2, 0, 1, [8] = 0x20, 1, 0xd, 0xb8, [23] = 9 };
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	fx_inject(fx, f, echo_behind(f, 43, rh, 24));
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_RH0), 1);
	expect_param(fx, 0, H6 + 2); /* RFC 5095 3: as an unrecognised routing type */
	rh[2] = 77;
	fx_inject(fx, f, echo_behind(f, 43, rh, 24));
	expect_param(fx, 0, H6 + 2);
	rh[3] = 0; /* nothing left: skipped */
	fx_inject(fx, f, echo_behind(f, 43, rh, 24));
	expect_reply(fx);
}

/* RFC 8200 4: next header unknown: code 1, pointing at the byte that named it. RFC 8200 4.7: 59 means nothing follows. */
static void
unknown_next_header_is_told_and_59_is_silent(void **state)
{
	static const uint8_t dst[8] = { 201, 0, 1, 4, 0, 0, 0, 0 };
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	fx_inject(fx, f, ip6(f, 201, "12345678", 8));
	expect_param(fx, 1, 6);
	fx_inject(fx, f, echo_behind(f, 60, dst, 8));
	expect_param(fx, 1, H6);
	fx_inject(fx, f, ip6(f, 59, "whatever", 8));
	fx_expect_none(fx);
	fx_inject(fx, f, ip6(f, 59, NULL, 0));
	fx_expect_none(fx);
}

/* Line 52, RFC 4443 2.4 (e). */
static void
no_icmp_error_about_icmp_error_multicast_or_many(void **state)
{
	struct fx *fx = *state;
	uint8_t f[512], l4[256], q[128];
	uint32_t n, qn;

	fx_know_peer(fx);
	/* a closed port, by multicast */
	n = udp(l4, 6, 1000, 53, "x", 1);
	l4_sum(l4, n, 6, pseudo(6, PEER6, ALL_NODES, 17, n));
	fx_inject(fx, f, ip6x(f, PEER6, ALL_NODES, 17, 64, l4, n));
	fx_expect_none(fx);
	/* an error whose options header asks for an error */
	qn = ip6(q, 201, "12345678", 8) - L2;
	for (uint8_t type = 1; type <= 4; type++) {
		n = icmp(l4, 6, PEER6, ME6, type, 0, 0, q + L2, qn);
		fx_inject(fx, f, ip6(f, 58, l4, n));
		fx_expect_none(fx);
	}
	/* an unknown error type is an error too; an unknown informational one is silent (RFC 4443 2.4 b) */
	fx_inject(fx, f, ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 100, 0, 0, "x", 1)));
	fx_inject(fx, f, ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 200, 0, 0, "x", 1)));
	fx_inject(fx, f, ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 255, 0, 0, "x", 1)));
	fx_expect_none(fx);
	/* sent to everybody on the link, although the destination is ours alone (e.4) */
	n = ip6(f, 17, l4, udp(l4, 6, 1000, 53, "x", 1));
	memcpy(f, FX_BCAST_MAC, 6);
	fx_inject(fx, f, n);
	fx_expect_none(fx);
	memcpy(f, "\x33\x33\x00\x00\x00\x01", 6);
	fx_inject(fx, f, n);
	fx_expect_none(fx);
}

/* RFC 4443 2.4 (c): as much as fits 1280 bytes, all in all. Line 63. */
static void
closed_port_unreachable_quotes_up_to_1280(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 1000, 1184, 1185, 1452 };
	struct fx *fx = *state;
	uint8_t f[2048], l4[2048], d[1500];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 6; i++) {
		struct fx_pkt p;
		uint32_t n = sizes[i], whole = H6 + 8 + n;

		fx_inject(fx, f, ip6(f, 17, l4, udp(l4, 6, 1000, 53, fill(d, n, i), n)));
		fx_expect(fx, 0x86dd, &p);
		assert_int_equal(p.l4[0], 1);
		assert_int_equal(p.l4[1], 4);
		assert_int_equal(p.l4_len, 8 + (whole > 1232 ? 1232 : whole));
		assert_memory_equal(p.l4 + 8, f + L2, p.l4_len - 8);
	}
}

/* Line 52. */
static void
icmpv6_errors_are_rate_limited(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[64];
	unsigned int n;

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 400; i++)
		fx_inject(fx, f, ip6(f, 17, l4, udp(l4, 6, 1000, 53, "x", 1)));
	n = fx_tx_count(fx);
	assert_in_range(n, 1, 200);
	assert_int_equal(fx_drops(fx, STACK_DROP_ICMP6_LIMIT), 400 - n);
	fx_tx_clear(fx);
	fx_advance(fx, FX_NS);
	fx_inject(fx, f, ip6(f, 17, l4, udp(l4, 6, 1000, 53, "x", 1)));
	expect_error(fx, 6, 1, 4, f, H6 + 8);
}

/* Line 62: the pseudo header counts: a checksum without it, or for another destination, is wrong. */
static void
icmp6_pseudo_header(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[64];
	uint32_t n;

	fx_know_peer(fx);
	n = icmp(l4, 4, NULL, NULL, 128, 0, ECHO_ID, "data", 4);
	fx_inject(fx, f, ip6(f, 58, l4, n));
	n = icmp(l4, 6, PEER6, PEER6, 128, 0, ECHO_ID, "data", 4);
	fx_inject(fx, f, ip6(f, 58, l4, n));
	n = icmp(l4, 6, PEER6, ME6, 128, 0, ECHO_ID, "data", 4);
	w16(l4 + 2, 0);
	fx_inject(fx, f, ip6(f, 58, l4, n));
	fx_expect_none(fx);
	assert_int_equal(fx_drops(fx, STACK_DROP_ICMP6_CSUM), 3);
	for (n = 0; n < 4; n++)
		fx_inject(fx, f, ip6(f, 58, l4, n));
	assert_int_equal(fx_drops(fx, STACK_DROP_ICMP6_SHORT), 4);
}

/* Line 62: jumbo_refused. */
static void
jumbo_refused(void **state)
{
	static const uint8_t hbh[8] = { 17, 0, 0xc2, 4, 0, 1, 0, 0 };
	struct fx *fx = *state;
	uint8_t f[256];
	uint32_t n;
	struct fx_pkt p;

	fx_know_peer(fx);
	n = ip6(f, 0, hbh, 8);
	w16(f + L2 + 4, 0);
	fx_inject(fx, f, n);
	while (fx_pop(fx, &p))
		assert_int_equal(p.l4[0], 4);
	assert_int_equal(fx_all_drops(fx), 1);
	fx_inject(fx, f, ip6(f, 0, hbh, 8)); /* the option with a payload length that is not 0 (RFC 2675 3) */
	while (fx_pop(fx, &p))
		assert_int_equal(p.l4[0], 4);
	assert_int_equal(fx_all_drops(fx), 2);
}

/* ---- path MTU ------------------------------------------------------------------------------------ */

static uint32_t
longest(struct fx *fx, int fd, struct fx_pkt *first)
{
	static const uint8_t d[1452];
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(7777) };
	struct fx_pkt p;
	uint32_t max = 0;

	memcpy(&a.sin6_addr, PEER6, 16);
	assert_int_equal(sock_sendto(fx->s, fd, d, sizeof(d), 0, (void *)&a, sizeof(a)), sizeof(d));
	while (fx_pop(fx, &p)) {
		if (max == 0) {
			*first = p;
			first->l3 = first->b + (p.l3 - p.b); /* its own bytes, not p's */
			first->l4 = first->b + (p.l4 - p.b);
		}
		if (p.l3_len > max)
			max = p.l3_len;
	}
	return max;
}

static void
too_big(struct fx *fx, const uint8_t *q, uint32_t n, uint32_t mtu)
{
	uint8_t f[2048], l4[1400];

	fx_inject(fx, f, ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 2, 0, mtu, q, n > 1232 ? 1232 : n)));
}

/* Line 50: 1280_v6_ignored; RFC 8201 4. STK-2 */
static void
packet_too_big_lowers_the_path_mtu_within_reason(void **state)
{
	struct fx *fx = *state;
	struct fx_pkt q;
	int fd = sock_at(fx, 6, 5000);

	fx_know_peer(fx);
	assert_int_equal(longest(fx, fd, &q), 1500);
	too_big(fx, q.l3, q.l3_len, 1279);
	assert_int_equal(longest(fx, fd, &q), 1500);
	too_big(fx, q.l3, q.l3_len, 0);
	assert_int_equal(longest(fx, fd, &q), 1500);
	too_big(fx, q.l3, q.l3_len, 1501);
	assert_int_equal(longest(fx, fd, &q), 1500);
	too_big(fx, q.l3, q.l3_len, 0x10000 + 1300); /* 32 bits are read */
	assert_int_equal(longest(fx, fd, &q), 1500);
	too_big(fx, q.l3, q.l3_len, 1400);
	assert_in_range(longest(fx, fd, &q), 1393, 1400);
	too_big(fx, q.l3, q.l3_len, 1450);
	assert_in_range(longest(fx, fd, &q), 1393, 1400);
	too_big(fx, q.l3, q.l3_len, 1280);
	assert_in_range(longest(fx, fd, &q), 1273, 1280);
	fx_advance(fx, 590 * FX_NS);
	assert_in_range(longest(fx, fd, &q), 1273, 1280);
	fx_advance(fx, 20 * FX_NS);
	assert_int_equal(longest(fx, fd, &q), 1500);
}

/* RFC 4443 5.1, line 49: the quote must be of a packet from us. */
static void
packet_too_big_that_quotes_nothing_of_ours_is_ignored(void **state)
{
	struct fx *fx = *state;
	struct fx_pkt q;
	int fd = sock_at(fx, 6, 5000);

	fx_know_peer(fx);
	assert_int_equal(longest(fx, fd, &q), 1500);
	q.l3[23] = 9;
	too_big(fx, q.l3, q.l3_len, 1300);
	assert_int_equal(longest(fx, fd, &q), 1500);
	too_big(fx, q.l3, 39, 1300);
	too_big(fx, q.l3, 0, 1300);
	assert_int_equal(longest(fx, fd, &q), 1500);
}

/* Line 62: link_mtu_1280_min: below it IPv6 is off on the link, IPv4 is not. MTU-6 */
static void
link_mtu_1280_min(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[64];
	struct fx_pkt p;

	fx_know_peer(fx);
	assert_int_equal(stack_if_mtu_set(fx->s, fx->nif, 1279), 0);
	fx_tx_clear(fx);
	fx_inject(fx, f, echo_behind(f, 58, NULL, 0));
	fx_expect_none(fx);
	fx_inject(fx, f, ip4(f, 1, 1, 0, l4, icmp(l4, 4, NULL, NULL, 8, 0, 1, "x", 1)));
	fx_expect(fx, 0x0800, &p);
	assert_int_equal(stack_if_mtu_set(fx->s, fx->nif, 1280), 0);
	fx_advance(fx, 3 * FX_NS);
	fx_tx_clear(fx);
	fx_know_peer(fx);
	fx_inject(fx, f, echo_behind(f, 58, NULL, 0));
	expect_reply(fx);
}

/* MTU-6: an 8500-byte echo is answered in one piece at MTU 9000, and in pieces of (mtu - 48) rounded down to 8 before. */
static void
a_change_of_the_mtu_reaches_ipv6(void **state)
{
	struct fx *fx = fx_new(&(struct fx_opts){ .data_room = 9216 });
	static uint8_t f[16384], l4[9000], d[8500];
	uint32_t n = 0;
	struct fx_pkt p;

	(void)state;
	fx_know_peer(fx);
	n = ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 128, 0, ECHO_ID, fill(d, sizeof(d), 1), sizeof(d)));
	fx_inject(fx, f, n);
	for (uint32_t at = 0; at < sizeof(d) + 8;) {
		assert_true(fx_pop(fx, &p));
		assert_int_equal(p.proto, 44);
		assert_int_equal(p.l4_len - 8, at + 1448 < sizeof(d) + 8 ? 1448 : sizeof(d) + 8 - at);
		at += p.l4_len - 8;
	}
	fx_expect_none(fx);
	assert_int_equal(stack_if_mtu_set(fx->s, fx->nif, 9000), 0);
	fx_inject(fx, f, n);
	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.proto, 58);
	assert_int_equal(p.l4_len, sizeof(d) + 8);
	fx_expect_none(fx);
	fx_free(fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(echo_of_every_size_is_answered),
		T(version_and_payload_length_are_validated),
		T(martian_sources_and_others_packets_are_dropped),
		T(ext_header_order_tolerant),
		T(ext_headers_are_bounded),
		T(unknown_option_action_bits_00_01_10_11),
		T(option_errors_about_multicast),
		T(malformed_extension_headers_are_dropped),
		T(hop_by_hop_only_first),
		T(routing_headers_with_segments_left_are_refused),
		T(unknown_next_header_is_told_and_59_is_silent),
		T(no_icmp_error_about_icmp_error_multicast_or_many),
		T(closed_port_unreachable_quotes_up_to_1280),
		T(icmpv6_errors_are_rate_limited),
		T(icmp6_pseudo_header),
		T(jumbo_refused),
		T(packet_too_big_lowers_the_path_mtu_within_reason),
		T(packet_too_big_that_quotes_nothing_of_ours_is_ignored),
		T(link_mtu_1280_min),
		cmocka_unit_test(a_change_of_the_mtu_reaches_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

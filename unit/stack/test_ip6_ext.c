/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 extension headers: order, options, routing, bounds. */
#include "ip6_util.h"

#define ECHO_LEN 12

/* Sends chain (n bytes that end with next header 58 named), then an echo request, to dst. */
static void
send_chain(struct fx *f, uint8_t next, const void *chain, uint32_t n, const char *dst)
{
	struct fx_ip6 h = { .src = fx_a6(U6_PEER), .dst = fx_a6(dst), .next = next };
	uint8_t b[4096];

	memcpy(b, chain, n);
	fx_put_icmp6(b + n, &h.src, &h.dst, 128, 0, 7, "data", 4);
	fx_rx_ip6(f, &h, b, n + ECHO_LEN);
}

/* An empty destination options header (or hop-by-hop) of 8 bytes. */
static uint32_t
put_empty(uint8_t *b, uint8_t next)
{
	const uint8_t e[8] = { next, 0, 1, 4, 0, 0, 0, 0 };

	memcpy(b, e, 8);
	return 8;
}

/* STK-2 */
static void
ext_header_order_tolerant_but_bounded(void **state)
{
	static const uint8_t order[][3] = {{60, 43, 60}, {43, 60, 43}, {60, 60, 60}, {43, 43, 60}};
	struct fx *f = *state;
	struct u6_count c;
	uint8_t b[1024];
	struct fx_pkt p;
	uint32_t n;

	fx_know_peer(f);
	for (unsigned int i = 0; i < 4; i++) {
		for (n = 0; n < 24; n += 8) {
			put_empty(b + n, n < 16 ? order[i][n / 8 + 1] : 58);
			if (order[i][n / 8] == 43) {
				b[n + 2] = 200; /* a routing type nobody knows, no segments left */
				b[n + 3] = 0;
			}
		}
		send_chain(f, order[i][0], b, n, U6_US);
		u6_expect(f, &p, 129, 0);
		assert_int_equal(p.l4_len, ECHO_LEN);
	}
	for (n = 0; n < 8 * 8; n += 8)
		put_empty(b + n, n < 56 ? 60 : 58);
	send_chain(f, 60, b, n, U6_US);
	u6_expect(f, &p, 129, 0);
	u6_count_start(f, &c);
	for (n = 0; n < 9 * 8; n += 8)
		put_empty(b + n, n < 64 ? 60 : 58);
	send_chain(f, 60, b, n, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_EXT_LIMIT);
	/* bytes: 512 pass, 520 do not */
	memset(b, 0, sizeof(b));
	b[0] = 58;
	b[1] = 63;
	send_chain(f, 60, b, 512, U6_US);
	u6_expect(f, &p, 129, 0);
	b[1] = 64;
	send_chain(f, 60, b, 520, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_EXT_LIMIT);
	fx_expect_none(f);
}

/* STK-2 */
static void
hop_by_hop_only_first(void **state)
{
	struct fx *f = *state;
	struct u6_count c;
	uint8_t b[64];
	struct fx_pkt p;

	fx_know_peer(f);
	put_empty(b, 58);
	send_chain(f, 0, b, 8, U6_US);
	u6_expect(f, &p, 129, 0);
	u6_count_start(f, &c);
	put_empty(b, 0);
	put_empty(b + 8, 58);
	send_chain(f, 60, b, 16, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_EXT_ORDER);
	u6_expect_error(f, 4, 1, 40); /* points at the next header field that said so */
	send_chain(f, 0, b, 16, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_EXT_ORDER);
	u6_expect_error(f, 4, 1, 40);
	fx_expect_none(f);
}

/* STK-2 */
static void
unknown_option_action_bits_00_01_10_11(void **state)
{
	struct fx *f = *state;
	struct u6_count c;
	struct fx_pkt p;

	fx_know_peer(f);
	for (unsigned int next = 0; next <= 60; next += 60) {
		/* Pad1, then option x without data, then padding */
		uint8_t b[8] = { 58, 0, 0, 0x1e, 0, 1, 1, 0 };

		u6_count_start(f, &c);
		send_chain(f, (uint8_t)next, b, 8, U6_US);
		u6_expect(f, &p, 129, 0);
		b[3] = 0x5e;
		send_chain(f, (uint8_t)next, b, 8, U6_US);
		u6_dropped(f, &c, STACK_DROP_IP6_OPTION);
		fx_expect_none(f);
		b[3] = 0x9e;
		send_chain(f, (uint8_t)next, b, 8, U6_US);
		u6_dropped(f, &c, STACK_DROP_IP6_OPTION);
		u6_expect_error(f, 4, 2, 43);
		b[3] = 0xde;
		send_chain(f, (uint8_t)next, b, 8, U6_US);
		u6_dropped(f, &c, STACK_DROP_IP6_OPTION);
		u6_expect_error(f, 4, 2, 43);
		/* to a group: 10 is answered all the same, 11 is not */
		b[3] = 0x9e;
		send_chain(f, (uint8_t)next, b, 8, "ff02::1");
		u6_dropped(f, &c, STACK_DROP_IP6_OPTION);
		u6_expect_error(f, 4, 2, 43);
		b[3] = 0xde;
		send_chain(f, (uint8_t)next, b, 8, "ff02::1");
		u6_dropped(f, &c, STACK_DROP_IP6_OPTION);
		fx_expect_none(f);
	}
}

/* STK-2 */
static void
pointer_is_right_in_a_later_header(void **state)
{
	struct fx *f = *state;
	struct u6_count c;
	uint8_t b[24];

	fx_know_peer(f);
	u6_count_start(f, &c);
	put_empty(b, 60);
	put_empty(b + 8, 60);
	put_empty(b + 16, 58);
	b[16 + 4] = 0x9e; /* PadN of 0 bytes, then it */
	b[16 + 3] = 0;
	b[16 + 5] = 2;
	send_chain(f, 60, b, 24, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_OPTION);
	u6_expect_error(f, 4, 2, 40 + 16 + 4);
}

/* STK-2 */
static void
rh0_dropped(void **state)
{
	struct fx *f = *state;
	uint8_t b[24] = { 58, 2, 0, 1 };
	struct u6_count c;
	struct fx_pkt p;

	fx_know_peer(f);
	u6_count_start(f, &c);
	send_chain(f, 43, b, 24, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_RH0);
	u6_expect_error(f, 4, 0, 42);
	b[2] = 77; /* another type nobody knows: the same as long as it is not at its end */
	send_chain(f, 43, b, 24, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_ROUTING);
	u6_expect_error(f, 4, 0, 42);
	b[3] = 0;
	send_chain(f, 43, b, 24, U6_US);
	u6_expect(f, &p, 129, 0);
	fx_expect_none(f);
}

/* STK-2, STK-8 */
static void
headers_cut_short_or_with_broken_options(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 60 };
	uint8_t b[16] = { 58, 1 };
	struct u6_count c;

	fx_know_peer(f);
	u6_count_start(f, &c);
	for (uint32_t n = 0; n < 16; n++) {
		fx_rx_ip6(f, &h, b, n);
		u6_dropped(f, &c, STACK_DROP_IP6_EXT_MALFORMED);
	}
	fx_expect_none(f);
	/* an option whose length leads out of the header, and one without a length byte */
	memcpy(b, "\x3a\x00\x01\x05\x00\x00\x00\x00", 8);
	send_chain(f, 60, b, 8, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_EXT_MALFORMED);
	u6_expect_error(f, 4, 0, 42);
	memcpy(b, "\x3a\x00\x01\x03\x00\x00\x00\x01", 8);
	send_chain(f, 60, b, 8, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_EXT_MALFORMED);
	u6_expect_error(f, 4, 0, 47);
	fx_expect_none(f);
}

/* STK-2 */
static void
known_options_pass(void **state)
{
	struct fx *f = *state;
	static const uint8_t b[16] = { 58, 1, 5, 2, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct fx_pkt p;

	fx_know_peer(f);
	send_chain(f, 0, b, 16, U6_US);
	u6_expect(f, &p, 129, 0);
}

/* STK-2 */
static void
fragment_header_twice_is_refused(void **state)
{
	struct fx *f = *state;
	uint8_t b[16];
	struct u6_count c;

	fx_know_peer(f);
	u6_count_start(f, &c);
	u6_put_frag(b, 44, 0, false, 1);
	u6_put_frag(b + 8, 58, 0, false, 1);
	send_chain(f, 44, b, 16, U6_US);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_MALFORMED);
	fx_expect_none(f);
}

/* STK-2, STK-8 */
static void
every_chain_of_random_bytes_is_survived(void **state)
{
	struct fx *f = *state;
	static const uint8_t nexts[] = { 0, 43, 44, 60, 58, 17, 59, 6 };
	uint64_t x = 88172645463325252ull;
	struct fx_ip6 h = { 0 };
	uint8_t b[256];

	fx_know_peer(f);
	for (unsigned int i = 0; i < 4000; i++) {
		for (unsigned int k = 0; k < sizeof(b); k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			b[k] = (uint8_t)x;
			if (k % 8 == 0)
				b[k] = nexts[b[k] % 8];
			else if (k % 8 == 1)
				b[k] = b[k] % 4;
		}
		h.next = nexts[x >> 8 & 7];
		fx_rx_ip6(f, &h, b, (uint32_t)(x >> 16) % 256);
		fx_tx_clear(f);
	}
	assert_true(fx_all_drops(f) > 1000);
}

/* STK-2 */
static void
find_l4_in_quotes(void **state)
{
	uint8_t b[256] = { 0x60, [6] = 0 }, proto;
	uint32_t off, frag;

	(void)state;
	assert_false(ip6_find_l4(b, 39, &proto, &off, &frag));
	put_empty(b + 40, 44);
	u6_put_frag(b + 48, 60, 0, true, 9);
	put_empty(b + 56, 17);
	for (uint32_t n = 40; n < 64; n++)
		assert_false(ip6_find_l4(b, n, &proto, &off, &frag));
	assert_true(ip6_find_l4(b, 64, &proto, &off, &frag));
	assert_int_equal(proto, 17);
	assert_int_equal(off, 64);
	assert_false(ip6_chain_whole(b, 71));
	assert_true(ip6_chain_whole(b, 72));
	b[56] = 6;
	assert_false(ip6_chain_whole(b, 83));
	assert_true(ip6_chain_whole(b, 84));
	b[56] = 50; /* encrypted: nothing more is to be seen */
	assert_true(ip6_chain_whole(b, 64));
	u6_put_frag(b + 48, 17, 8, true, 9);
	assert_false(ip6_find_l4(b, 200, &proto, &off, &frag));
	assert_int_equal(frag, 8);
	b[6] = 60;
	for (unsigned int i = 0; i < 10; i++)
		put_empty(b + 40 + 8 * i, 60);
	assert_false(ip6_find_l4(b, 200, &proto, &off, &frag));
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(ext_header_order_tolerant_but_bounded),
		T(hop_by_hop_only_first),
		T(unknown_option_action_bits_00_01_10_11),
		T(pointer_is_right_in_a_later_header),
		T(rh0_dropped),
		T(headers_cut_short_or_with_broken_options),
		T(known_options_pass),
		T(fragment_header_twice_is_refused),
		T(every_chain_of_random_bytes_is_survived),
		cmocka_unit_test(find_l4_in_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

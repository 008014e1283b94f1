/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast listener discovery: reports when groups are joined and left, and when they are asked
 * for. */
#include <errno.h>
#include <stdio.h>

#include "ip6_util.h"

#define QUERIER "fe80::fe"

/* The next frame is a version 2 report with these n records (all of one type) from src. */
static void
expect_report(struct fx *f, const char *src, uint8_t type, unsigned int n, const char *group)
{
	struct fx_pkt p;
	uint8_t sum[512];
	union ip_addr g = fx_a6(group);
	uint32_t len;

	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_true(u6_eq(&p.dst, "ff02::16") && u6_eq(&p.src, src));
	assert_memory_equal(p.dst_mac, "\x33\x33\x00\x00\x00\x16", 6);
	assert_int_equal(p.ttl, 1);
	assert_int_equal(p.proto, 0); /* hop-by-hop with router alert */
	assert_memory_equal(p.l4, "\x3a\x00\x05\x02\x00\x00\x01\x00", 8);
	assert_int_equal(p.l4[8], 143);
	assert_int_equal(get_be16(p.l4 + 8 + 6), n);
	len = p.l4_len - 8;
	assert_int_equal(len, 8 + 20 * n);
	assert_int_equal(p.l4[16], type);
	assert_int_equal(get_be16(p.l4 + 18), 0);
	assert_memory_equal(p.l4 + 20, g.v6, 16);
	/* pseudo-header checksum */
	memcpy(sum, p.src.v6, 16);
	memcpy(sum + 16, p.dst.v6, 16);
	put_be32(sum + 32, len);
	put_be32(sum + 36, 58);
	if (len <= 400) {
		memcpy(sum + 40, p.l4 + 8, len);
		assert_int_equal(fx_sum(0, sum, 40 + len), 0xffff);
	}
}

/* A query of version 2 (n 20) or 1 (n 16) behind its router alert. */
static void
rx_query(struct fx *f, const char *src, uint8_t hop, bool alert, uint16_t code, const char *group,
		uint32_t n)
{
	struct fx_ip6 h = {.src = fx_a6(src),
			.dst = fx_a6("ff02::1"),
			.next = alert ? 0 : 58,
			.hop = hop};
	uint8_t b[128] = { 58, 0, 5, 2, 0, 0, 1, 0 }, d[64] = { 0 };
	union ip_addr g = fx_a6(group);
	uint32_t at = alert ? 8 : 0;

	memcpy(d, g.v6, 16);
	fx_rx_ip6(f, &h, b,
			at + fx_put_icmp6(b + at, &h.src, &h.dst, 130, 0, (uint32_t)code << 16, d,
					     n));
}

/* STK-2 */
static void
join_reports_twice_and_leave_once(void **state)
{
	struct fx *f = *state;
	union ip_addr g = fx_a6("ff02::1234");

	assert_int_equal(mld_join(f->s, f->nif, &g), 0);
	assert_true(mld_joined(f->s, f->nif, &g));
	expect_report(f, U6_LL, 4, 1, "ff02::1234");
	fx_expect_none(f);
	fx_advance(f, 1010 * FX_MS);
	expect_report(f, U6_LL, 4, 1, "ff02::1234");
	fx_advance(f, 10 * FX_NS);
	fx_expect_none(f);
	assert_int_equal(mld_join(f->s, f->nif, &g), 0); /* counted */
	assert_int_equal(mld_leave(f->s, f->nif, &g), 0);
	fx_expect_none(f);
	assert_int_equal(mld_leave(f->s, f->nif, &g), 0);
	expect_report(f, U6_LL, 3, 1, "ff02::1234");
	assert_false(mld_joined(f->s, f->nif, &g));
	assert_int_equal(mld_leave(f->s, f->nif, &g), -ENOENT);
	fx_advance(f, 10 * FX_NS);
	fx_expect_none(f);
}

/* STK-2 */
static void
what_can_not_be_joined_or_is_never_reported(void **state)
{
	struct fx *f = *state;
	union ip_addr g = fx_a6("2001:db8::1");

	assert_int_equal(mld_join(f->s, f->nif, &g), -EINVAL);
	g = fx_a6("ff02::1");
	assert_int_equal(mld_join(f->s, f->nif, &g), 0);
	g = fx_a6("ff01::5");
	assert_int_equal(mld_join(f->s, f->nif, &g), 0);
	fx_expect_none(f);
	mld_refresh(f->s, f->nif);
	rx_query(f, QUERIER, 1, true, 0, "::", 20);
	fx_advance(f, FX_MS * 3);
	expect_report(f, U6_LL, 4, 1, U6_US_GROUP);
	assert_int_equal(mld_leave(f->s, f->nif, &g), 0);
	mock_fail_malloc_at(f->shim, 1);
	g = fx_a6("ff02::99");
	assert_int_equal(mld_join(f->s, f->nif, &g), -ENOMEM);
	mock_fail_malloc_at(f->shim, 0);
	for (unsigned int i = 0; i < MLD_MAX_GROUPS + 10; i++) {
		g.v6[13] = (uint8_t)(1 + (i >> 8));
		g.v6[14] = (uint8_t)i;
		(void)mld_join(f->s, f->nif, &g);
		fx_tx_clear(f);
	}
	assert_int_equal(mld_join(f->s, f->nif, &g), -ENOSPC);
}

/* STK-2 */
static void
queries_answered_within_their_time(void **state)
{
	struct fx *f = *state;
	union ip_addr g = fx_a6("ff02::1234");

	mld_join(f->s, f->nif, &g);
	fx_advance(f, 2 * FX_NS);
	fx_tx_clear(f);
	rx_query(f, QUERIER, 1, true, 5000, "::", 20);
	fx_expect_none(f);
	fx_advance(f, 5010 * FX_MS);
	expect_report(f, U6_LL, 2, 2, U6_US_GROUP);
	fx_expect_none(f);
	rx_query(f, QUERIER, 1, true, 100, "ff02::1234", 20);
	fx_advance(f, 110 * FX_MS);
	expect_report(f, U6_LL, 2, 1, "ff02::1234");
	rx_query(f, QUERIER, 1, true, 100, "ff02::77", 20); /* not ours */
	fx_advance(f, 110 * FX_MS);
	fx_expect_none(f);
	/* a sooner one wins; a code with exponent: (0x1000 | 0x000) << 3 = 32768 ms */
	rx_query(f, QUERIER, 1, true, 0x8000, "::", 20);
	rx_query(f, QUERIER, 1, true, 0, "::", 20);
	fx_advance(f, 3 * FX_MS);
	expect_report(f, U6_LL, 2, 2, U6_US_GROUP);
	fx_expect_none(f);
	fx_advance(f, 40 * FX_NS);
	fx_expect_none(f);
	rx_query(f, QUERIER, 1, true, 0x8000, "::", 20);
	fx_advance(f, 32780 * FX_MS);
	expect_report(f, U6_LL, 2, 2, U6_US_GROUP);
}

/* STK-2 */
static void
version_1_querier_gets_version_1_reports(void **state)
{
	struct fx *f = *state;
	union ip_addr g = fx_a6(U6_US_GROUP);
	struct fx_pkt p;

	rx_query(f, QUERIER, 1, true, 1000, "::", 16);
	fx_advance(f, 1010 * FX_MS);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_true(ip_addr_eq(&p.dst, &g));
	assert_int_equal(p.ttl, 1);
	assert_int_equal(p.l4[8], 131);
	assert_memory_equal(p.l4 + 16, g.v6, 16);
	assert_int_equal(p.l4_len, 8 + 24);
	fx_expect_none(f);
}

/* STK-2, STK-8 */
static void
queries_that_do_not_come_from_the_link_ignored(void **state)
{
	struct fx *f = *state;
	struct u6_count c;

	u6_count_start(f, &c);
	rx_query(f, U6_PEER, 1, true, 0, "::", 20);
	u6_dropped(f, &c, STACK_DROP_ICMP6_TYPE);
	rx_query(f, QUERIER, 2, true, 0, "::", 20);
	u6_dropped(f, &c, STACK_DROP_ICMP6_TYPE);
	rx_query(f, QUERIER, 1, false, 0, "::", 20);
	u6_dropped(f, &c, STACK_DROP_ICMP6_TYPE);
	for (uint32_t n = 0; n < 20; n++) {
		if (n == 16)
			continue;
		rx_query(f, QUERIER, 1, true, 0, "::", n);
		u6_dropped(f, &c, STACK_DROP_ICMP6_TYPE);
	}
	fx_advance(f, 2 * FX_NS);
	fx_expect_none(f);
}

/* STK-2 */
static void
many_groups_fill_several_reports(void **state)
{
	struct fx *f = *state;
	union ip_addr g = fx_a6("ff05::1");
	unsigned int reports = 0, records = 0;
	struct fx_pkt p;

	for (unsigned int i = 0; i < 129; i++) {
		put_be16(g.v6 + 14, (uint16_t)(1 + i));
		assert_int_equal(mld_join(f->s, f->nif, &g), 0);
		fx_tx_clear(f);
	}
	fx_advance(f, 2 * FX_NS);
	fx_tx_clear(f);
	rx_query(f, QUERIER, 1, true, 10, "::", 20);
	fx_advance(f, 20 * FX_MS);
	while (fx_pop(f, &p)) {
		assert_int_equal(p.l4[8], 143);
		assert_true(p.l3_len <= 1280);
		records += get_be16(p.l4 + 14);
		reports++;
	}
	assert_int_equal(records, 130); /* and the solicited-node one */
	assert_int_equal(reports, 3);
}

/* STK-2 */
static void
reports_come_from_nobody_until_there_is_an_address(void **state)
{
	struct fx_opts o = { .dad_transmits = 1, .no_addr6 = true };
	struct fx *f = fx_new(&o);
	union ip_addr g = fx_a6("ff02::1234");
	struct fx_pkt p;
	bool seen = false;

	(void)state;
	mld_join(f->s, f->nif, &g);
	expect_report(f, "::", 4, 1, "ff02::1234");
	fx_advance(f, 3 * FX_NS);
	while (fx_pop(f, &p)) /* said again with the address, once it may be used */
		if (p.family == ADDR_INET6 && p.l4[8] == 143 && u6_eq(&p.src, U6_LL))
			seen = true;
	assert_true(seen);
	fx_free(f);
}

/* STK-2 */
static void
addresses_join_their_solicited_node_groups(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8::77"), b = fx_a6("2001:db8:1::77"),
		      g = fx_a6("ff02::1:ff00:77");

	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), 0);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &b, 64), 0);
	assert_true(mld_joined(f->s, f->nif, &g));
	stack_addr6_del(f->s, f->nif, &a);
	assert_true(mld_joined(f->s, f->nif, &g));
	stack_addr6_del(f->s, f->nif, &b);
	assert_false(mld_joined(f->s, f->nif, &g));
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(join_reports_twice_and_leave_once),
		T(what_can_not_be_joined_or_is_never_reported),
		T(queries_answered_within_their_time),
		T(version_1_querier_gets_version_1_reports),
		T(queries_that_do_not_come_from_the_link_ignored),
		T(many_groups_fill_several_reports),
		cmocka_unit_test(reports_come_from_nobody_until_there_is_an_address),
		T(addresses_join_their_solicited_node_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

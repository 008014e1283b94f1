/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 fragments, and the pieces ip_reass keeps for both families. */
#include "ip6_util.h"
#include "core/stack/ip/ip_reass.h"

#define DATA 3000

/* The fragmentable part: an echo request with DATA bytes. */
static uint8_t whole[8 + DATA];

static void
build_whole(void)
{
	union ip_addr src = fx_a6(U6_PEER), dst = fx_a6(U6_US);
	static uint8_t d[DATA];

	u6_pattern(d, DATA);
	fx_put_icmp6(whole, &src, &dst, 128, 0, 0x01020304, d, DATA);
}

/* A fragment of whole: bytes [off, off + n). */
static void
piece(struct fx *f, uint32_t id, uint32_t off, uint32_t n, bool more)
{
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[4096];

	u6_put_frag(b, 58, off, more, id);
	memcpy(b + 8, whole + off, n);
	fx_rx_ip6(f, &h, b, 8 + n);
}

/* Fragment k of three of 1000, 1000 and 1008 bytes. */
static void
third(struct fx *f, uint32_t id, unsigned int k)
{
	piece(f, id, k * 1000, k == 2 ? sizeof(whole) - 2000 : 1000, k != 2);
}

/* The answer's three fragments show that everything came, in order. */
static void
expect_answer(struct fx *f)
{
	static uint8_t got[8 + DATA];
	uint32_t n = 0;
	struct fx_pkt p;

	while (n < sizeof(got)) {
		fx_expect(f, ETHERTYPE_IP6, &p);
		assert_int_equal(p.proto, 44);
		assert_int_equal(p.l4[0], 58);
		assert_int_equal(get_be16(p.l4 + 2) & 0xfff8, n);
		assert_true(n + p.l4_len - 8 <= sizeof(got));
		memcpy(got + n, p.l4 + 8, p.l4_len - 8);
		n += p.l4_len - 8;
		assert_int_equal(get_be16(p.l4 + 2) & 1, n < sizeof(got));
	}
	assert_int_equal(got[0], 129);
	assert_memory_equal(got + 4, whole + 4, 4 + DATA);
	fx_expect_none(f);
}

static int
setup(void **state)
{
	*state = fx_new(NULL);
	fx_know_peer(*state);
	build_whole();
	return 0;
}

/* STK-2 */
static void
reassembly_any_order_duplicates_exact_ok(void **state)
{
	static const uint8_t orders[6][3] = {
			{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct fx *f = *state;
	struct u6_count c;

	for (uint32_t i = 0; i < 6; i++) {
		third(f, i, orders[i][0]);
		third(f, i, orders[i][1]);
		u6_count_start(f, &c);
		third(f, i, orders[i][0]);
		u6_dropped(f, &c, STACK_DROP_IP6_FRAG_DUPLICATE);
		third(f, i, orders[i][1]);
		u6_dropped(f, &c, STACK_DROP_IP6_FRAG_DUPLICATE);
		fx_expect_none(f);
		third(f, i, orders[i][2]);
		expect_answer(f);
	}
	assert_int_equal(ip_reass_held(f->s->ip6->reass), 0);
}

/* STK-2 */
static void
any_overlap_discards_whole_datagram(void **state)
{
	/* what comes after [1000, 2000): more fragments follow or not */
	static const struct {
		uint32_t off, n;
		bool more;
	} bad[] = {{992, 16, true}, {1992, 16, true}, {1000, 1008, true}, {1008, 8, true},
			{0, 1008, true}, {0, 2008, true}, {1000, 1000, false}, {1000, 992, false}};
	struct fx *f = *state;
	struct u6_count c;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		third(f, 100 + i, 1);
		u6_count_start(f, &c);
		piece(f, 100 + i, bad[i].off, bad[i].n, bad[i].more);
		/* itself and the one that was kept */
		assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_OVERLAP),
				c.one[STACK_DROP_IP6_FRAG_OVERLAP] + 2);
		assert_int_equal(ip_reass_held(f->s->ip6->reass), 0);
		/* and later ones, until its time is over */
		u6_count_start(f, &c);
		for (unsigned int k = 0; k < 3; k++) {
			third(f, 100 + i, k);
			u6_dropped(f, &c, STACK_DROP_IP6_FRAG_OVERLAP);
		}
		fx_expect_none(f);
	}
	fx_advance(f, 61 * FX_NS);
	fx_expect_none(f);
	third(f, 100, 0);
	third(f, 100, 1);
	third(f, 100, 2);
	expect_answer(f);
}

/* STK-2 */
static void
two_ends_that_disagree_discard(void **state)
{
	struct fx *f = *state;
	struct u6_count c;

	piece(f, 1, 2000, 8, false);
	u6_count_start(f, &c);
	piece(f, 1, 2008, 8, true);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_OVERLAP),
			c.one[STACK_DROP_IP6_FRAG_OVERLAP] + 2);
	piece(f, 2, 2000, 8, false);
	u6_count_start(f, &c);
	piece(f, 2, 1000, 8, false);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_OVERLAP),
			c.one[STACK_DROP_IP6_FRAG_OVERLAP] + 2);
}

/* STK-2 */
static void
atomic_fragment_processed_alone(void **state)
{
	struct fx *f = *state;
	union ip_addr src = fx_a6(U6_PEER), dst = fx_a6(U6_US);
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[64];
	struct fx_pkt p;

	third(f, 7, 1);
	u6_put_frag(b, 58, 0, false, 7); /* the same identification */
	fx_put_icmp6(b + 8, &src, &dst, 128, 0, 9, "abc", 3);
	fx_rx_ip6(f, &h, b, 8 + 11);
	u6_expect(f, &p, 129, 0);
	assert_int_equal(p.l4_len, 11);
	third(f, 7, 2);
	third(f, 7, 0);
	expect_answer(f);
}

/* STK-2 */
static void
header_chain_must_fit_first_fragment(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[64] = { 0 };
	struct u6_count c;

	u6_count_start(f, &c);
	u6_put_frag(b, 60, 0, true,
			1); /* a destination options header of 16 bytes, 8 of them here */
	b[8] = 58;
	b[9] = 1;
	fx_rx_ip6(f, &h, b, 16);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_HEADER_CHAIN);
	u6_expect_error(f, 4, 3, 0);
	u6_put_frag(b, 6, 0, true, 2); /* TCP: 16 of 20 bytes */
	fx_rx_ip6(f, &h, b, 8 + 16);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_HEADER_CHAIN);
	u6_expect_error(f, 4, 3, 0);
	fx_expect_none(f);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), 0);
}

/* STK-2 */
static void
unfragmentable_multiple_of_8_error(void **state)
{
	struct fx *f = *state;
	struct u6_count c;

	u6_count_start(f, &c);
	piece(f, 1, 0, 1001, true);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_MALFORMED);
	u6_expect_error(f, 4, 0, 4); /* the payload length field */
	piece(f, 1, 1000, 15, true); /* a later one too */
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_MALFORMED);
	u6_expect_error(f, 4, 0, 4);
	fx_expect_none(f);
}

/* STK-2 */
static void
over_65535_refused(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[64] = { 0 };
	struct u6_count c;

	u6_count_start(f, &c);
	u6_put_frag(b, 58, 65528, false, 1);
	fx_rx_ip6(f, &h, b, 8 + 8);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_TOO_BIG);
	u6_expect_error(f, 4, 0, 42); /* the offset field */
	fx_rx_ip6(f, &h, b, 8 + 7);
	u6_count_start(f, &c);
	/* with 8 bytes of headers in front the same piece is too far */
	h.next = 60;
	memcpy(b, "\x2c\x00\x01\x04\x00\x00\x00\x00", 8);
	u6_put_frag(b + 8, 58, 65528, false, 2);
	fx_rx_ip6(f, &h, b, 8 + 8 + 7);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_TOO_BIG);
	u6_expect_error(f, 4, 0, 50);
	fx_expect_none(f);
}

/* STK-2, STK-8 */
static void
empty_and_short_fragments_refused(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[64] = { 0 };
	struct u6_count c;

	u6_count_start(f, &c);
	u6_put_frag(b, 58, 8, false, 1);
	for (uint32_t n = 0; n < 8; n++) {
		fx_rx_ip6(f, &h, b, n);
		u6_dropped(f, &c, STACK_DROP_IP6_FRAG_MALFORMED);
	}
	fx_rx_ip6(f, &h, b, 8);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_MALFORMED);
	u6_put_frag(b, 58, 0, true, 1);
	fx_rx_ip6(f, &h, b, 8);
	u6_dropped(f, &c, STACK_DROP_IP6_FRAG_MALFORMED);
	fx_expect_none(f);
}

/* STK-2 */
static void
timeout_60s_sends_time_exceeded_only_with_first_fragment(void **state)
{
	struct fx *f = *state;
	struct u6_count c;
	struct fx_pkt p;

	third(f, 1, 0);
	fx_advance(f, 30 * FX_NS);
	third(f, 1, 2); /* does not begin the time anew */
	third(f, 2, 1);
	fx_advance(f, 29900 * FX_MS);
	fx_expect_none(f);
	u6_count_start(f, &c);
	fx_advance(f, 200 * FX_MS);
	u6_expect(f, &p, 3, 1);
	assert_int_equal(p.l4_len, 8 + 1232 - 8 > 8 + 40 + 8 + 1000 ? 8 + 40 + 8 + 1000 : 1240);
	assert_memory_equal(p.l4 + 8 + 40 + 8, whole, 1000);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_TIMEOUT),
			c.one[STACK_DROP_IP6_FRAG_TIMEOUT] + 2);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), 1);
	fx_advance(f, 31 * FX_NS);
	fx_expect_none(f);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), 0);
}

/* STK-2 */
static void
unfragmentable_part_is_kept(void **state)
{
	struct fx *f = *state;
	static const uint8_t dst[8] = { 44, 0, 1, 4, 0, 0, 0, 0 };
	struct fx_ip6 h = { .next = 60 };
	uint8_t b[4096];

	for (uint32_t off = 0; off < sizeof(whole); off += 1000) {
		uint32_t n = sizeof(whole) - off < 1000 ? (uint32_t)sizeof(whole) - off : 1000;

		memcpy(b, dst, 8);
		u6_put_frag(b + 8, 58, off, off + n < sizeof(whole), 5);
		memcpy(b + 16, whole + off, n);
		fx_rx_ip6(f, &h, b, 16 + n);
	}
	expect_answer(f);
}

/* STK-2 */
static void
unknown_next_header_of_the_whole_points_into_it(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[64] = { 0 };

	u6_put_frag(b, 200, 0, true, 5);
	fx_rx_ip6(f, &h, b, 24);
	u6_put_frag(b, 200, 16, false, 5);
	fx_rx_ip6(f, &h, b, 24);
	u6_expect_error(f, 4, 1, 6);
}

/* STK-2, STK-8 */
static void
per_source_and_total_memory_cap(void **state)
{
	struct fx *f = *state;
	uint32_t cap = shim_pool_size(f->shim, f->pool) / 4;
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[32] = { 0 };
	union ip_addr src = fx_a6("2001:db8::100");

	for (uint32_t id = 0; id < cap; id++)
		third(f, id, 1);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), cap / 2);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_LIMIT), cap - cap / 2);
	/* the oldest went: the newest can still be finished */
	third(f, cap - 1, 0);
	third(f, cap - 1, 2);
	expect_answer(f);
	third(f, 0, 0);
	third(f, 0, 2);
	fx_expect_none(f);
	for (uint32_t id = 0; id < 2 * cap; id++) {
		src.v6[15] = (uint8_t)id;
		src.v6[14] = (uint8_t)(1 + id % 7);
		h.src = src;
		u6_put_frag(b, 58, 8, true, id);
		fx_rx_ip6(f, &h, b, 16);
		assert_true(ip_reass_held(f->s->ip6->reass) <= cap);
	}
	assert_int_equal(ip_reass_held(f->s->ip6->reass), cap);
	fx_advance(f, 61 * FX_NS);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), 0);
}

/* STK-2, STK-8 */
static void
pieces_of_one_datagram_are_bounded(void **state)
{
	struct fx_opts o = { .bufs = 4096 };
	struct fx *f = fx_new(&o);

	(void)state;
	for (uint32_t i = 0; i < IP_REASS_PER_DATAGRAM + 10; i++)
		piece(f, 1, 8 + 8 * i, 8, true);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), IP_REASS_PER_DATAGRAM);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_LIMIT), 10);
	fx_free(f); /* with fragments waiting */
}

/* STK-2 */
static void
all_datagrams_taken_the_oldest_makes_room(void **state)
{
	struct fx_opts o = { .bufs = 4096 };
	struct fx *f = fx_new(&o);

	(void)state;
	fx_know_peer(f);
	for (uint32_t id = 0; id < IP_REASS_DATAGRAMS + 3; id++)
		third(f, id, 1);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_LIMIT), 3);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), IP_REASS_DATAGRAMS);
	fx_free(f);
}

/* STK-2 */
static void
a_source_over_its_share_with_one_datagram(void **state)
{
	struct fx_opts o = { .bufs = 80 }; /* 20 in all, 10 for a source */
	struct fx *f = fx_new(&o);

	(void)state;
	for (uint32_t i = 0; i < 14; i++)
		piece(f, 1, 8 + 8 * i, 8, true);
	assert_int_equal(ip_reass_held(f->s->ip6->reass), 10);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_FRAG_LIMIT), 4);
	fx_free(f);
}

/* STK-9 */
static void
fragments_are_shed_when_buffers_run_low(void **state)
{
	struct fx_opts o = { .bufs = 256, .buf_low_watermark = 300 };
	struct fx *f = fx_new(&o);
	struct u6_count c;

	(void)state;
	u6_count_start(f, &c);
	third(f, 1, 0);
	u6_dropped(f, &c, STACK_DROP_BACKPRESSURE);
	fx_free(f);
}

/* STK-2, STK-8 */
static void
no_buffer_when_the_whole_is_put_together(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 44 };
	uint8_t b[64] = { 0 };
	struct rte_mbuf *m, *tail;
	struct u6_count c;

	/* the first piece's headers are in a buffer that others see: they have to be copied */
	u6_put_frag(b, 58, 8, false, 5);
	fx_rx_ip6(f, &h, b, 16);
	u6_put_frag(b, 58, 0, true, 5);
	memmove(b + 54, b, 8);
	fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP6);
	fx_put_ip6(b + 14, &h, 16);
	memset(b + 62, 0, 2);
	m = fx_buf(f, b, 64, 0);
	tail = fx_buf(f, b, 6, 0);
	assert_int_equal(shim_buf_chain(m, tail), 0);
	rte_mbuf_refcnt_update(m, 1);
	mock_return_real(f->shim, MOCK_OP_buf_alloc, 4); /* one each for the looks at the headers */
	u6_count_start(f, &c);
	mock_fail_all(f->shim, MOCK_OP_buf_alloc, ENOMEM);
	stack_input(f->s, f->nif, &m, 1);
	mock_script_clear(f->shim);
	assert_true(fx_all_drops(f) > c.all);
	rte_mbuf_refcnt_set(m, 1);
	m->next = NULL;
	m->nb_segs = 1;
	shim_buf_free(f->shim, m);
}

#define T(t) cmocka_unit_test_setup_teardown(t, setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(reassembly_any_order_duplicates_exact_ok),
		T(any_overlap_discards_whole_datagram),
		T(two_ends_that_disagree_discard),
		T(atomic_fragment_processed_alone),
		T(header_chain_must_fit_first_fragment),
		T(unfragmentable_multiple_of_8_error),
		T(over_65535_refused),
		T(empty_and_short_fragments_refused),
		T(timeout_60s_sends_time_exceeded_only_with_first_fragment),
		T(unfragmentable_part_is_kept),
		T(unknown_next_header_of_the_whole_points_into_it),
		T(per_source_and_total_memory_cap),
		cmocka_unit_test(pieces_of_one_datagram_are_bounded),
		cmocka_unit_test(all_datagrams_taken_the_oldest_makes_room),
		cmocka_unit_test(a_source_over_its_share_with_one_datagram),
		cmocka_unit_test(fragments_are_shed_when_buffers_run_low),
		T(no_buffer_when_the_whole_is_put_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

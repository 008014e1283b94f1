/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 reassembly: order, duplicates, overlaps, limits, time; a random walk against a model that keeps bytes. */
#include "ip4_world.h"

static struct pkt P;
static uint8_t OUT[66000];

/* The byte that stands at offset i of datagram number id. */
static uint8_t
byte_at(uint32_t id, uint32_t i)
{
	return (uint8_t)(i * 31 + i / 256 + id * 5);
}

/* One fragment: len bytes at off. It goes in seg bytes a segment. */
static void
frag_in_seg(uint32_t src, uint16_t id, uint32_t off, uint32_t len, bool more, uint32_t seg)
{
	pkt_init(&P, src, US, IP_PROTO_UDP, len, NULL, 0);
	pkt_hdr(&P)->id = be16(id);
	pkt_hdr(&P)->frag = be16((uint16_t)(off / 8 | (more ? IP4_MF : 0)));
	pkt_seal(&P);
	for (uint32_t i = 0; i < len; i++)
		P.b[20 + i] = byte_at(id, off + i);
	ip4_input(W.s, W.nif, pkt_buf_seg(P.b, P.len, seg));
}

static void
frag_in(uint16_t id, uint32_t off, uint32_t len, bool more)
{
	frag_in_seg(PEER, id, off, len, more, 0);
}

/* The one datagram handed up is len bytes of datagram id, behind a header that says so. */
static void
expect_whole(uint16_t id, uint32_t len)
{
	const struct ip4_hdr *h = (const struct ip4_hdr *)OUT;

	assert_int_equal(W.nup, 1);
	assert_int_equal(buf_bytes(W.up[0], OUT), 20 + len);
	assert_int_equal(W.rx[0].l4_len, len);
	assert_int_equal(W.rx[0].flags, IP_RX_REASSEMBLED);
	assert_int_equal(be16(h->total_len), 20 + len);
	assert_int_equal(h->frag, 0);
	assert_int_equal(ip4_header_csum(h, 20), 0);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(OUT[20 + i], byte_at(id, i));
	world_clear();
}

/* STK-2 */
static void
reassembly_any_order_duplicates_exact_ok_overlap_dropped_or_deterministic(void **state)
{
	static const uint8_t order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
		{ 2, 1, 0 } };
	static const uint32_t off[] = { 0, 80, 160 }, len[] = { 80, 80, 33 };

	(void)state;
	for (uint16_t i = 0; i < 6; i++) {
		for (unsigned int k = 0; k < 3; k++) {
			unsigned int f = order[i][k];

			frag_in_seg(PEER, i, off[f], len[f], f != 2, 7 + i * 13);
		}
		expect_whole(i, 193);
	}
	assert_int_equal(all_drops(), 0);
	/* exact duplicates, of every kind of fragment */
	frag_in(50, 160, 33, false);
	frag_in(50, 160, 33, false);
	frag_in(50, 0, 80, true);
	frag_in(50, 0, 80, true);
	frag_in(50, 80, 80, true);
	expect_whole(50, 193);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_DUPLICATE), 2);
	/* any other overlap ends it: before, within, around, behind; and its later fragments come to nothing */
	static const struct {
		uint32_t off, len;
		bool more;
	} bad[] = { { 72, 16, true }, { 88, 8, true }, { 72, 96, true }, { 152, 16, true }, { 80, 72, true },
		{ 80, 88, true }, { 72, 168, false } };

	for (uint16_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t before = drops(STACK_DROP_IP4_FRAG_OVERLAP);

		frag_in(100 + i, 80, 80, true);
		frag_in(100 + i, bad[i].off, bad[i].len, bad[i].more);
		frag_in(100 + i, 0, 80, true);
		frag_in(100 + i, 160, 33, false);
		assert_int_equal(W.nup, 0);
		assert_int_equal(drops(STACK_DROP_IP4_FRAG_OVERLAP), before + 4);
	}
}

/* STK-2 */
static void
ends_that_disagree_end_the_datagram(void **state)
{
	(void)state;
	frag_in(1, 160, 40, false);
	frag_in(1, 200, 8, true); /* behind the end */
	frag_in(1, 0, 160, true);
	frag_in(2, 160, 40, false);
	frag_in(2, 80, 40, false); /* another end */
	frag_in(3, 160, 40, true);
	frag_in(3, 80, 8, false); /* an end before what is there */
	assert_int_equal(W.nup, 0);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_OVERLAP), 3 + 2 + 2);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 0);
}

/* STK-2 */
static void
total_gt_65535_dropped(void **state)
{
	static const uint8_t opts[40] = { 1 };
	uint32_t off;

	(void)state;
	/* a fragment that ends beyond 65535 with its own header: the ping of death */
	frag_in(1, 65528, 100, false);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_TOO_BIG), 1);
	/* the largest one there is */
	for (off = 0; off + 1480 < 65515; off += 1480)
		frag_in(2, off, 1480, true);
	frag_in(2, off, 65515 - off, false);
	expect_whole(2, 65515);
	/* fits by its last header, not by its first */
	pkt_init(&P, PEER, US, IP_PROTO_UDP, 1480, opts, 40);
	pkt_hdr(&P)->id = be16(3);
	pkt_hdr(&P)->frag = be16(IP4_MF);
	pkt_seal(&P);
	pkt_in(&P);
	for (off = 1480; off + 1480 < 65515; off += 1480)
		frag_in(3, off, 1480, true);
	frag_in(3, off, 65515 - off, false);
	assert_int_equal(W.nup, 0);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_TOO_BIG), 2);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 0);
}

/* STK-2 */
static void
zero_length_or_not_multiple_of_8_dropped(void **state)
{
	(void)state;
	frag_in(1, 80, 0, false);
	frag_in(1, 80, 0, true);
	frag_in(1, 0, 79, true);
	frag_in(1, 0, 81, true);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_MALFORMED), 4);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 0);
}

/* STK-2 */
static void
_30s_timeout_sends_time_exceeded_only_with_first_fragment(void **state)
{
	static struct pkt r;

	(void)state;
	frag_in(1, 0, 80, true);
	frag_in(2, 80, 80, true);
	stack_poll(W.s, W.s->now_ns + IP4_REASS_TIMEOUT_NS - 1000000);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_TIMEOUT), 0);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 2);
	stack_poll(W.s, W.s->now_ns + 10000000);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_TIMEOUT), 2);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 0);
	assert_int_equal(tx_count(), 1);
	tx_packet(0, &r);
	assert_int_equal(r.b[20], ICMP4_TIME_EXCEEDED);
	assert_int_equal(r.b[21], 1);
	assert_int_equal(get_be16(r.b + 28 + 4), 1); /* the identification in the quote */
	assert_int_equal(r.len, 20 + 8 + 100);
	world_clear();
	/* what was cut off by an overlap says nothing, and is forgotten with its time */
	frag_in(3, 0, 80, true);
	frag_in(3, 8, 80, true);
	frag_in(3, 160, 8, false);
	stack_poll(W.s, W.s->now_ns + IP4_REASS_TIMEOUT_NS + 10000000);
	assert_int_equal(tx_count(), 0);
	frag_in(3, 0, 80, true);
	frag_in(3, 80, 8, false);
	expect_whole(3, 88);
}

static int
setup_small(void **state)
{
	(void)state;
	world_up(64, 2176, 0, 1500, 8); /* a quarter of 64 buffers, half of these for one source */
	return 0;
}

/* STK-2, STK-8 */
static void
per_source_and_total_memory_cap(void **state)
{
	(void)state;
	/* 9 buffers of one source: the oldest makes room */
	for (uint16_t id = 0; id < 9; id++)
		frag_in_seg(PEER, id, 8, 8, true, 0);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 8);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_LIMIT), 1);
	/* the others have the rest, and then each makes room for the next */
	for (uint16_t id = 0; id < 20; id++)
		frag_in_seg(A(10, 0, 0, 10 + id), id, 8, 8, true, 0);
	assert_int_equal(ip_reass_held(W.s->ip4->reass), 16);
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_LIMIT), 1 + 12);
	/* one datagram of more buffers than one source may have */
	for (uint32_t i = 0; i < 12; i++)
		frag_in_seg(PEER, 99, i * 8, 8, true, 0);
	assert_true(ip_reass_held(W.s->ip4->reass) <= 16);
	assert_int_equal(W.nup, 0);
	/* the newest of the others was not the one to go: its second half completes it */
	frag_in_seg(A(10, 0, 0, 29), 19, 16, 8, false, 0);
	frag_in_seg(A(10, 0, 0, 29), 19, 0, 8, true, 0);
	assert_int_equal(W.nup, 1);
}

/* STK-9 */
static void
fragments_are_shed_below_the_low_water_mark(void **state)
{
	struct rte_mbuf *hold[60];
	unsigned int n = 0;

	(void)state;
	while (shim_pool_avail(W.shim, W.pool) > 6)
		hold[n++] = shim_buf_alloc(W.shim, W.pool);
	stack_poll(W.s, W.s->now_ns);
	frag_in(1, 0, 80, true);
	assert_int_equal(drops(STACK_DROP_BACKPRESSURE), 1);
	while (n > 0)
		shim_buf_free(W.shim, hold[--n]);
}

/* STK-2: a datagram has only so many pieces */
static void
too_many_pieces_are_refused(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < IP_REASS_PER_DATAGRAM + 3; i++)
		frag_in(1, 8 + i * 8, 8, true);
	assert_true(drops(STACK_DROP_IP4_FRAG_LIMIT) > 0);
	assert_true(ip_reass_held(W.s->ip4->reass) <= IP_REASS_PER_DATAGRAM);
}

/* STK-2: the whole's header is rewritten, never in bytes that others hold */
static void
shared_first_fragment_is_copied_not_changed(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	for (unsigned int fail = 0; fail < 2; fail++) {
		pkt_init(&P, PEER, US, IP_PROTO_UDP, 80, NULL, 0);
		pkt_hdr(&P)->frag = be16(IP4_MF);
		pkt_seal(&P);
		m = pkt_buf_seg(P.b, P.len, 0);
		ip4_input(W.s, W.nif, shim_buf_clone(W.shim, m, W.pool));
		pkt_init(&P, PEER, US, IP_PROTO_UDP, 8, NULL, 0);
		pkt_hdr(&P)->frag = be16(10);
		pkt_seal(&P);
		if (fail)
			mock_fail_buf_at(W.shim, 2); /* the first is the fragment's own */
		pkt_in(&P);
		assert_int_equal(get_be16(shim_buf_data_off(m, uint8_t *, 6)), IP4_MF);
		assert_int_equal(W.nup, 1);
		assert_int_equal(drops(STACK_DROP_NO_BUFFER), fail);
		shim_buf_free(W.shim, m);
	}
}

/* ---- the model: bytes and who owns them ---- */

#define M_MAX 512

struct model {
	bool have[M_MAX];
	uint16_t start[M_MAX], end[M_MAX]; /* the fragment a byte belongs to */
	uint32_t total;
	bool dead;
};

enum verdict { KEEP, DUP, OVERLAP, DONE };

static enum verdict
model_add(struct model *m, uint32_t off, uint32_t len, bool more)
{
	uint32_t end = off + len, n = 0;
	bool dup = true;

	if (m->dead)
		return OVERLAP;
	for (uint32_t i = off; i < end; i++)
		dup = dup && m->have[i] && m->start[i] == off && m->end[i] == end;
	if (dup && (more ? m->total != end : m->total == end))
		return DUP;
	for (uint32_t i = off; i < end; i++)
		m->dead = m->dead || m->have[i];
	m->dead = m->dead || (m->total != 0 && (end > m->total || !more));
	for (uint32_t i = end; !more && i < M_MAX; i++)
		m->dead = m->dead || m->have[i];
	if (m->dead)
		return OVERLAP;
	for (uint32_t i = off; i < end; i++) {
		m->have[i] = true;
		m->start[i] = (uint16_t)off;
		m->end[i] = (uint16_t)end;
	}
	if (!more)
		m->total = end;
	for (uint32_t i = 0; i < M_MAX; i++)
		n += m->have[i];
	return m->total != 0 && n == m->total ? DONE : KEEP;
}

/* STK-2, STK-8 */
static void
random_fragments_agree_with_a_naive_model(void **state)
{
	static struct model m;
	uint64_t x = 88172645463325252ull;
	unsigned int done = 0, dead = 0;

	(void)state;
	for (uint16_t id = 0; id < 600; id++) {
		uint32_t units = 2 + id % 7;

		memset(&m, 0, sizeof(m));
		for (unsigned int k = 0; k < 24; k++) {
			uint64_t ov = drops(STACK_DROP_IP4_FRAG_OVERLAP), du = drops(STACK_DROP_IP4_FRAG_DUPLICATE);
			uint32_t at, len;
			bool more;
			enum verdict v;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			at = (uint32_t)(x >> 8) % units;
			/* mostly the pieces of one even cut, sometimes another one */
			len = (x & 31) == 0 ? 16 : 8;
			more = at + len / 8 < units;
			if ((x >> 32 & 63) == 0)
				more = !more;
			more = more || at == 0; /* offset 0 without more is no fragment */
			if (!more && (x & 1))
				len -= 3;
			if (id % 3 != 0 && !more)
				len = 8;
			v = model_add(&m, at * 8, len, more);
			frag_in_seg(PEER, id, at * 8, len, more, 7 + (uint32_t)(x >> 40) % 60);
			if (v == DONE) {
				done++;
				expect_whole(id, m.total);
				break;
			}
			assert_int_equal(W.nup, 0);
			assert_int_equal(drops(STACK_DROP_IP4_FRAG_OVERLAP) != ov, v == OVERLAP);
			assert_int_equal(drops(STACK_DROP_IP4_FRAG_DUPLICATE) - du, v == DUP);
			dead += v == OVERLAP;
		}
		if (id % 16 == 15) /* before limits play a part */
			stack_poll(W.s, W.s->now_ns + IP4_REASS_TIMEOUT_NS + 10000000);
		world_clear();
	}
	assert_int_equal(drops(STACK_DROP_IP4_FRAG_LIMIT), 0);
	assert_true(done > 100 && dead > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(reassembly_any_order_duplicates_exact_ok_overlap_dropped_or_deterministic),
		world_test(ends_that_disagree_end_the_datagram),
		world_test(total_gt_65535_dropped),
		world_test(zero_length_or_not_multiple_of_8_dropped),
		world_test(_30s_timeout_sends_time_exceeded_only_with_first_fragment),
		cmocka_unit_test_setup_teardown(per_source_and_total_memory_cap, setup_small, world_teardown),
		cmocka_unit_test_setup_teardown(fragments_are_shed_below_the_low_water_mark, setup_small,
			world_teardown),
		world_test(too_many_pieces_are_refused),
		world_test(shared_first_fragment_is_copied_not_changed),
		world_test(random_fragments_agree_with_a_naive_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

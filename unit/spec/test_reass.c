/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembly by RFC 791, 815, 1858, 5722, 6946, 7112, 8200: each rule over both families. Lines 53 and 57 of the checklist.
 */
#include "pkt.h"

#define MF 1u

/* One fragment of whole (the datagram behind the IP header): bytes off .. off + n. id names the datagram. */
static uint32_t
frag(uint8_t *f, int v, uint32_t id, const uint8_t *whole, uint32_t off, uint32_t n, unsigned int more)
{
	uint8_t x[P_MAX];

	if (v == 4)
		return ip4(f, 17, id, (more ? 0x2000u : 0) | off / 8, whole + off, n);
	memset(x, 0, 8);
	x[0] = 17;
	w16(x + 2, (off & 0xfff8) | more);
	w32(x + 4, id);
	memcpy(x + 8, whole + off, n);
	return ip6(f, 44, x, 8 + n);
}

static void
rx_frag(struct fx *fx, int v, uint32_t id, const uint8_t *whole, uint32_t off, uint32_t n, unsigned int more)
{
	static uint8_t f[P_MAX];

	fx_inject(fx, f, frag(f, v, id, whole, off, n, more));
}

static uint32_t
datagram(uint8_t *w, int v, uint32_t n, uint32_t seed)
{
	static uint8_t d[P_MAX];

	return udp(w, v, 1000, 5000, fill(d, n, seed), n);
}

static void
expect_datagram(struct fx *fx, int fd, const uint8_t *whole, uint32_t len)
{
	static uint8_t b[P_MAX];

	assert_int_equal(got(fx, fd, b, sizeof(b)), len - 8);
	assert_memory_equal(b, whole + 8, len - 8);
	assert_int_equal(got(fx, fd, b, sizeof(b)), -EAGAIN);
}

static void
expect_nothing(struct fx *fx, int fd)
{
	uint8_t b[8];

	assert_int_equal(got(fx, fd, b, sizeof(b)), -EAGAIN);
}

static int
both(void **state, void (*test)(struct fx *fx, int v, int fd))
{
	struct fx *fx = *state;

	for (int v = 4; v <= 6; v += 2) {
		int fd = sock_at(fx, v, 5000);

		fx_know_peer(fx);
		test(fx, v, fd);
		assert_int_equal(sock_close(fx->s, fd), 0);
		fx_advance(fx, 61 * FX_NS);
		fx_tx_clear(fx);
	}
	return 0;
}

static void
any_order(struct fx *fx, int v, int fd)
{
	static const uint8_t perm[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	uint8_t w[4096];

	for (unsigned int last = 1; last <= 9; last += 4) {
		uint32_t len = datagram(w, v, 16 + 24 + last - 8, last);
		const uint32_t off[4] = { 0, 16, 40, len };

		for (unsigned int i = 0; i < 6; i++) {
			for (unsigned int j = 0; j < 3; j++) {
				unsigned int k = perm[i][j];

				expect_nothing(fx, fd);
				rx_frag(fx, v, 100 + i + last * 10, w, off[k], off[k + 1] - off[k], k < 2);
			}
			expect_datagram(fx, fd, w, len);
		}
	}
}

/* Line 53: reassembly_any_order; the last piece may be one byte. STK-2 */
static void
fragments_arrive_in_any_order(void **state)
{
	both(state, any_order);
}

static void
eight_bytes_each(struct fx *fx, int v, int fd)
{
	uint8_t w[4096];
	uint32_t len = datagram(w, v, 801, 1);

	/* backwards: 101 pieces of 8 bytes, the last of 1. RFC 7112 wants the whole UDP header in the first: it is. */
	for (uint32_t off = len / 8 * 8 + 8; off-- > 0 && off != UINT32_MAX;)
		if (off % 8 == 0 && off < len)
			rx_frag(fx, v, 7, w, off, len - off < 8 ? len - off : 8, off + 8 < len);
	expect_datagram(fx, fd, w, len);
}

/* The smallest fragments there are. STK-2 */
static void
a_hundred_fragments_of_eight_bytes_backwards(void **state)
{
	both(state, eight_bytes_each);
}

static void
largest(struct fx *fx, int v, int fd)
{
	static uint8_t w[P_MAX];
	uint32_t len = datagram(w, v, v == 4 ? 65507 : 65527, 9);

	assert_int_equal(sock_setsockopt(fx->s, fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4 << 20 }, sizeof(int)), 0);
	for (uint32_t off = 0; off < len; off += 1448)
		rx_frag(fx, v, 8, w, off, len - off < 1448 ? len - off : 1448, off + 1448 < len);
	expect_datagram(fx, fd, w, len);
}

/* The largest datagram: 65507 bytes over IPv4, 65527 over IPv6. STK-2 */
static void
the_largest_datagram_is_put_together(void **state)
{
	both(state, largest);
}

static void
too_large(struct fx *fx, int v, int fd)
{
	static uint8_t w[P_MAX];
	uint64_t before;

	memset(w, 0, sizeof(w));
	before = fx_all_drops(fx);
	/* ends at 65528 + 8 and more: cannot be (RFC 791: total length is 16 bits; with the header it is over already) */
	rx_frag(fx, v, 9, w, 65528, 8, 0);
	assert_true(fx_all_drops(fx) > before);
	before = fx_all_drops(fx);
	rx_frag(fx, v, 10, w, 65520, 64, MF);
	assert_true(fx_all_drops(fx) > before);
	expect_nothing(fx, fd);
	if (v == 4) {
		/* 65520 bytes of payload fit the offset, but not with a header of 20 bytes before them */
		for (uint32_t off = 0; off < 65520; off += 1456)
			rx_frag(fx, v, 11, w, off, 1456, off + 1456 < 65520);
		assert_true(fx_drops(fx, STACK_DROP_IP4_FRAG_TOO_BIG) > 0);
		expect_nothing(fx, fd);
	}
}

/* Line 53: total_gt_65535_dropped. STK-8 */
static void
total_gt_65535_dropped(void **state)
{
	both(state, too_large);
}

static void
duplicates(struct fx *fx, int v, int fd)
{
	uint8_t w[4096];
	uint32_t len = datagram(w, v, 92, 1);

	rx_frag(fx, v, 20, w, 0, 40, MF);
	rx_frag(fx, v, 20, w, 0, 40, MF);
	rx_frag(fx, v, 20, w, 40, 40, MF);
	rx_frag(fx, v, 20, w, 0, 40, MF);
	rx_frag(fx, v, 20, w, 40, 40, MF);
	expect_nothing(fx, fd);
	rx_frag(fx, v, 20, w, 80, len - 80, 0);
	expect_datagram(fx, fd, w, len);
	assert_int_equal(fx_drops(fx, v == 4 ? STACK_DROP_IP4_FRAG_DUPLICATE : STACK_DROP_IP6_FRAG_DUPLICATE), 3);
	/* a late duplicate of a finished datagram makes no second one */
	rx_frag(fx, v, 20, w, 80, len - 80, 0);
	expect_nothing(fx, fd);
}

/* Line 53: duplicates_exact_ok. STK-2 */
static void
duplicates_exact_ok(void **state)
{
	both(state, duplicates);
}

static void
overlaps(struct fx *fx, int v, int fd)
{
	static const struct { uint16_t a, an, b, bn; } t[] = { { 0, 48, 40, 40 }, { 40, 40, 0, 48 }, { 0, 80, 40, 16 },
		{ 40, 16, 0, 80 }, { 0, 40, 0, 48 }, { 0, 48, 0, 40 }, { 8, 40, 40, 40 } };
	uint8_t w[4096];

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t len = datagram(w, v, 92, i);
		enum stack_drop why = v == 4 ? STACK_DROP_IP4_FRAG_OVERLAP : STACK_DROP_IP6_FRAG_OVERLAP;
		uint64_t before = fx_drops(fx, why);

		rx_frag(fx, v, 30 + i, w, t[i].a, t[i].an, MF);
		rx_frag(fx, v, 30 + i, w, t[i].b, t[i].bn, MF);
		assert_true(fx_drops(fx, why) > before);
		/* RFC 5722: the whole datagram, those fragments not yet received included, is dropped */
		for (uint32_t off = 0; off < len; off += 8)
			rx_frag(fx, v, 30 + i, w, off, len - off < 8 ? len - off : 8, off + 8 < len);
		if (sock_ready(fx->s, fd) & EPOLLIN)
			fail_msg("v%d: overlap %u was delivered", v, i);
	}
}

/* Lines 53, 57: any_overlap_discards_whole_datagram. STK-2, STK-8 */
static void
any_overlap_discards_whole_datagram(void **state)
{
	both(state, overlaps);
}

static void
two_ends(struct fx *fx, int v, int fd)
{
	uint8_t w[4096];
	uint32_t len = datagram(w, v, 92, 3);

	/* the end is at 100, and then at 92 */
	rx_frag(fx, v, 40, w, 80, len - 80, 0);
	rx_frag(fx, v, 40, w, 40, 32, 0);
	rx_frag(fx, v, 40, w, 0, 40, MF);
	rx_frag(fx, v, 40, w, 40, 40, MF);
	expect_nothing(fx, fd);
	/* bytes behind the end */
	rx_frag(fx, v, 41, w, 40, 8, 0);
	rx_frag(fx, v, 41, w, 48, 16, MF);
	rx_frag(fx, v, 41, w, 0, 40, MF);
	expect_nothing(fx, fd);
}

/* Ends that disagree are an attack, whichever comes first. STK-8 */
static void
ends_that_disagree_discard_the_datagram(void **state)
{
	both(state, two_ends);
}

static void
odd_sizes(struct fx *fx, int v, int fd)
{
	enum stack_drop why = v == 4 ? STACK_DROP_IP4_FRAG_MALFORMED : STACK_DROP_IP6_FRAG_MALFORMED;
	uint8_t w[4096];

	datagram(w, v, 92, 3);
	for (uint32_t n = 0; n < 24; n++) {
		uint64_t before = fx_drops(fx, why);

		if (n != 0 && n % 8 == 0)
			continue;
		rx_frag(fx, v, 50 + n, w, 40, n, MF);
		if (fx_drops(fx, why) != before + 1)
			fail_msg("v%d: a middle fragment of %u bytes was taken", v, n);
	}
	expect_nothing(fx, fd);
}

/* Line 57: all but the last are multiples of 8, and none is empty. RFC 8200 4.5: parameter problem code 0 at the payload length */
static void
fragments_of_odd_sizes_are_malformed(void **state)
{
	both(state, odd_sizes);
}

/* Line 57: unfragmentable_multiple_of_8_error. */
static void
ipv6_tells_of_an_odd_fragment(void **state)
{
	struct fx *fx = *state;
	static uint8_t f[512], w[P_MAX];
	struct fx_pkt p;

	fx_know_peer(fx);
	datagram(w, 6, 92, 3);
	fx_inject(fx, f, frag(f, 6, 1, w, 0, 41, MF));
	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.l4[0], 4);
	assert_int_equal(p.l4[1], 0);
	assert_int_equal(r32(p.l4 + 4), 4); /* the payload length field */
	fx_inject(fx, f, frag(f, 6, 2, w, 65528, 40, 0));
	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.l4[0], 4);
	assert_int_equal(p.l4[1], 0);
	assert_int_equal(r32(p.l4 + 4), H6 + 2); /* the fragment offset field */
}

static void
timeouts(struct fx *fx, int v, int fd)
{
	uint64_t limit = v == 4 ? 30 : 60;
	uint8_t w[4096], f[4096];
	uint32_t len = datagram(w, v, 92, 3);

	/* just in time */
	rx_frag(fx, v, 60, w, 0, 40, MF);
	fx_advance(fx, limit * FX_NS - 50 * FX_MS);
	fx_expect_none(fx);
	rx_frag(fx, v, 60, w, 40, len - 40, 0);
	expect_datagram(fx, fd, w, len);
	/* with the first fragment: time exceeded, code 1, about it */
	frag(f, v, 61, w, 0, 40, MF);
	rx_frag(fx, v, 61, w, 0, 40, MF);
	fx_advance(fx, 20 * FX_NS);
	rx_frag(fx, v, 61, w, 40, 8, MF); /* does not make its time longer (RFC 1122 3.3.2) */
	fx_advance(fx, limit * FX_NS - 20 * FX_NS - 50 * FX_MS);
	fx_expect_none(fx);
	fx_advance(fx, 100 * FX_MS);
	expect_error(fx, v, v == 4 ? 11 : 3, 1, f, (v == 4 ? H4 : H6) + 8);
	rx_frag(fx, v, 61, w, 48, len - 48, 0);
	expect_nothing(fx, fd);
	/* without it: silence */
	rx_frag(fx, v, 62, w, 40, 8, MF);
	fx_advance(fx, 2 * limit * FX_NS);
	fx_expect_none(fx);
	assert_int_equal(fx_drops(fx, v == 4 ? STACK_DROP_IP4_FRAG_TIMEOUT : STACK_DROP_IP6_FRAG_TIMEOUT), 4);
}

/* Line 53: 30s_timeout_sends_time_exceeded_only_with_first_fragment; RFC 8200 4.5: 60 s. STK-2 */
static void
timeout_sends_time_exceeded_only_with_first_fragment(void **state)
{
	both(state, timeouts);
}

static void
keys(struct fx *fx, int v, int fd)
{
	static const struct { uint32_t at; uint8_t v; } other4[] = { { L2 + 5, 0xff }, { L2 + 9, 0x11 ^ 0x84 }, { L2 + 15, 3 } },
		other6[] = { { L2 + H6 + 7, 0xff }, { L2 + 23, 3 } };
	uint8_t w[4096], f[4096];
	uint32_t len = datagram(w, v, 92, 3), n;

	for (unsigned int i = 0; i < (v == 4 ? 3u : 2u); i++) {
		rx_frag(fx, v, 70 + i, w, 0, 40, MF);
		n = frag(f, v, 70 + i, w, 40, len - 40, 0);
		f[v == 4 ? other4[i].at : other6[i].at] ^= v == 4 ? other4[i].v : other6[i].v;
		if (v == 4)
			fix4(f);
		fx_inject(fx, f, n);
		expect_nothing(fx, fd);
		rx_frag(fx, v, 70 + i, w, 40, len - 40, 0);
		expect_datagram(fx, fd, w, len);
	}
}

/* RFC 791: source, destination, protocol and identification together name a datagram (RFC 8200: without protocol). */
static void
pieces_of_different_datagrams_are_not_mixed(void **state)
{
	both(state, keys);
}

static void
flood(struct fx *fx, int v, int fd)
{
	uint8_t w[4096], f[4096];
	uint32_t len = datagram(w, v, 92, 3), n;
	unsigned int size = shim_pool_size(fx->shim, fx->pool);

	/* one source opens 5000 datagrams and finishes none */
	for (unsigned int i = 0; i < 5000; i++) {
		n = frag(f, v, 1000 + i, w, 40, 40, MF);
		f[v == 4 ? L2 + 15 : L2 + 23] = 9;
		if (v == 4)
			fix4(f);
		fx_inject(fx, f, n);
	}
	assert_true(shim_pool_avail(fx->shim, fx->pool) > size / 2);
	assert_true(fx_drops(fx, v == 4 ? STACK_DROP_IP4_FRAG_LIMIT : STACK_DROP_IP6_FRAG_LIMIT) > 0);
	/* another one is served */
	rx_frag(fx, v, 80, w, 0, 40, MF);
	rx_frag(fx, v, 80, w, 40, len - 40, 0);
	expect_datagram(fx, fd, w, len);
}

/* Line 53: per_source_and_total_memory_cap. STK-8 */
static void
per_source_and_total_memory_cap(void **state)
{
	both(state, flood);
}

static void
padded(struct fx *fx, int v, int fd)
{
	uint8_t w[4096], f[4096];
	uint32_t len = datagram(w, v, 33, 3); /* the last piece has 1 byte */

	memset(f, 0xee, sizeof(f));
	rx_frag(fx, v, 90, w, 0, 40, MF);
	frag(f, v, 90, w, 40, 1, 0);
	fx_inject(fx, f, v == 4 ? 60 : 70);
	expect_datagram(fx, fd, w, len);
}

/* A fragment of one byte travels with Ethernet's padding. */
static void
padding_is_no_part_of_a_fragment(void **state)
{
	both(state, padded);
}

/* Line 57, RFC 6946: an atomic fragment is processed alone, whatever waits under its key. */
static void
atomic_fragment_processed_alone(void **state)
{
	struct fx *fx = *state;
	uint8_t w[256], w2[256];
	int fd = sock_at(fx, 6, 5000);
	uint32_t len = datagram(w, 6, 92, 3), len2 = datagram(w2, 6, 10, 4);

	rx_frag(fx, 6, 5, w, 0, 40, MF);
	rx_frag(fx, 6, 5, w2, 0, len2, 0);
	expect_datagram(fx, fd, w2, len2);
	rx_frag(fx, 6, 5, w, 40, len - 40, 0);
	expect_datagram(fx, fd, w, len);
}

/* Line 57, RFC 7112: header_chain_must_fit_first_fragment: parameter problem, code 3. */
static void
header_chain_must_fit_first_fragment(void **state)
{
	struct fx *fx = *state;
	uint8_t x[256] = { 0 }, f[512];
	struct fx_pkt p;

	fx_know_peer(fx);
	/* fragment header, then a destination options header whose second half is in the next fragment */
	x[0] = 60;
	w16(x + 2, MF);
	w32(x + 4, 6);
	x[8] = 17;
	x[9] = 1; /* 16 bytes */
	x[10] = 1;
	x[11] = 12;
	fx_inject(fx, f, ip6(f, 44, x, 16));
	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.l4[0], 4);
	assert_int_equal(p.l4[1], 3);
	assert_int_equal(fx_drops(fx, STACK_DROP_IP6_FRAG_HEADER_CHAIN), 1);
}

/* An IPv4 fragment with the don't-fragment bit, or the reserved one, is still a fragment: no crash, one answer at most. */
static void
odd_flag_combinations_do_no_harm(void **state)
{
	struct fx *fx = *state;
	uint8_t w[256], f[256];
	int fd = sock_at(fx, 4, 5000);
	uint32_t len = datagram(w, 4, 92, 3);

	for (unsigned int bits = 0; bits < 8; bits++) {
		uint8_t b[256];

		fx_inject(fx, f, ip4(f, 17, 300 + bits, bits << 13, w, len));
		fx_inject(fx, f, ip4(f, 17, 300 + bits, bits << 13 | 0x1fff, w, 8));
		while (got(fx, fd, b, sizeof(b)) != -EAGAIN)
			assert_memory_equal(b, w + 8, len - 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(fragments_arrive_in_any_order),
		T(a_hundred_fragments_of_eight_bytes_backwards),
		T(the_largest_datagram_is_put_together),
		T(total_gt_65535_dropped),
		T(duplicates_exact_ok),
		T(any_overlap_discards_whole_datagram),
		T(ends_that_disagree_discard_the_datagram),
		T(fragments_of_odd_sizes_are_malformed),
		T(ipv6_tells_of_an_odd_fragment),
		T(timeout_sends_time_exceeded_only_with_first_fragment),
		T(pieces_of_different_datagrams_are_not_mixed),
		T(per_source_and_total_memory_cap),
		T(padding_is_no_part_of_a_fragment),
		T(atomic_fragment_processed_alone),
		T(header_chain_must_fit_first_fragment),
		T(odd_flag_combinations_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

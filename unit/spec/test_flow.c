/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow keys from frames made byte by byte, each of which ends at a forbidden page. */
#include "guard.h"
#include "pkt.h"

#include "core/dispatch/flow.h"

static struct guard G;
static uint8_t F[P_MAX], L4[P_MAX];

static int
group_setup(void **state)
{
	(void)state;
	G = guard_new(4096);
	return 0;
}

static int
group_teardown(void **state)
{
	(void)state;
	guard_free(&G);
	return 0;
}

/* Classifies n bytes whose last one is the page's last; nothing of them changes, twice gives the same. */
static struct flow_info
classify(const uint8_t *f, uint32_t n)
{
	struct rte_mbuf m;
	struct flow_info a, b;

	memset(&m, 0, sizeof(m));
	memcpy(G.p + G.n - n, f, n);
	m.buf_addr = G.p + G.n - n;
	m.data_len = (uint16_t)n;
	m.pkt_len = n;
	m.buf_len = (uint16_t)n;
	m.nb_segs = 1;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	flow_classify(&m, &a);
	assert_memory_equal(G.p + G.n - n, f, n);
	flow_classify(&m, &b);
	assert_int_equal(a.kind, b.kind);
	assert_int_equal(a.key_valid, b.key_valid);
	return a;
}

static struct flow_key
want(int v, uint8_t proto, uint32_t rport, uint32_t lport)
{
	struct flow_key k;
	union ip_addr r = v == 4 ? ip_addr_v4(0) : ip_addr_v6(PEER6), l = v == 4 ? ip_addr_v4(0) : ip_addr_v6(ME6);

	if (v == 4) {
		memcpy(&r.v4, PEER4, 4);
		memcpy(&l.v4, ME4, 4);
	}
	memset(&k, 0xee, sizeof(k));
	flow_key_make(&k, v == 4 ? ADDR_INET : ADDR_INET6, proto, &r, htons((uint16_t)rport), &l, htons((uint16_t)lport));
	return k;
}

static void
expect_key(const struct flow_info *i, enum flow_kind kind, int v, uint8_t proto, uint32_t rport, uint32_t lport)
{
	struct flow_key k = want(v, proto, rport, lport);

	assert_int_equal(i->kind, kind);
	assert_true(i->key_valid);
	assert_memory_equal(&i->key, &k, sizeof(k));
}

/* 20 bytes that are a UDP or a TCP header, from 1234 to 53; flags 0x18. */
static uint32_t
l4(uint8_t *p)
{
	memset(p, 0, 20);
	w16(p, 1234);
	w16(p + 2, 53);
	w16(p + 4, 20);
	p[12] = 0x50;
	p[13] = 0x18;
	return 20;
}

/* ---- packets -------------------------------------------------------------------------------------------- */

/* DSP-5: 40 bytes without holes, made alike from a frame and from addresses */
static void
a_key_has_no_holes(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct flow_key), 40);
	assert_int_equal(sizeof(struct flow_frag), 40);
	for (int v = 4; v <= 6; v += 2)
		for (unsigned int proto = 6; proto <= 17; proto += 11) {
			struct flow_info i;
			uint32_t n = l4(L4);

			n = v == 4 ? ip4(F, (uint8_t)proto, 1, 0, L4, n) : ip6(F, (uint8_t)proto, L4, n);
			i = classify(F, n);
			expect_key(&i, FLOW_PACKET, v, (uint8_t)proto, 1234, 53);
			assert_int_equal(i.tcp_flags, proto == 6 ? 0x18 : 0);
			assert_int_equal(i.key.zero, 0);
		}
}

/* DSP-6: cut anywhere, nothing behind the cut is believed */
static void
a_cut_frame_is_nobodys_packet(void **state)
{
	(void)state;
	for (int v = 4; v <= 6; v += 2)
		for (unsigned int proto = 6; proto <= 17; proto += 11) {
			uint32_t n = l4(L4), hdr = L2 + (v == 4 ? H4 : H6);

			n = v == 4 ? ip4(F, (uint8_t)proto, 1, 0, L4, n) : ip6(F, (uint8_t)proto, L4, n);
			for (uint32_t cut = 0; cut < n; cut++) {
				struct flow_info i = classify(F, cut);

				if (cut < hdr + (proto == 6 ? 14 : 4)) {
					assert_int_equal(i.kind, FLOW_OTHER);
					assert_false(i.key_valid);
				} else if (i.kind == FLOW_PACKET) {
					expect_key(&i, FLOW_PACKET, v, (uint8_t)proto, 1234, 53);
				}
			}
		}
}

/* DSP-6 */
static void
ip4_options_are_stepped_over(void **state)
{
	uint8_t opts[40];

	(void)state;
	memset(opts, 1, sizeof(opts));
	for (uint32_t on = 0; on <= 40; on += 4) {
		struct flow_info i = classify(F, ip4_opts(F, 17, opts, on, L4, l4(L4)));

		expect_key(&i, FLOW_PACKET, 4, 17, 1234, 53);
	}
}

/* DSP-6 */
static void
malformed_headers_are_the_owners(void **state)
{
	uint32_t n;

	(void)state;
	for (unsigned int first = 0; first < 256; first++) { /* every version and header length */
		n = ip4(F, 17, 1, 0, L4, l4(L4));
		F[L2] = (uint8_t)first;
		if (first == 0x45)
			continue;
		if (first >> 4 == 4 && (first & 15) > 5 && n - L2 >= (first & 15) * 4u + 8)
			continue; /* possible: the header is just longer */
		assert_int_equal(classify(F, n).kind, FLOW_OTHER);
	}
	for (unsigned int ver = 0; ver < 16; ver++) {
		n = ip6(F, 17, L4, l4(L4));
		F[L2] = (uint8_t)(ver << 4);
		assert_int_equal(classify(F, n).kind == FLOW_PACKET, ver == 6);
	}
	/* its length says that there are no ports: what follows is the frame's padding */
	for (uint32_t len = 0; len < H4 + 4; len++) {
		n = ip4(F, 17, 1, 0, L4, l4(L4));
		w16(F + L2 + 2, len);
		fix4(F);
		assert_int_equal(classify(F, n).kind, FLOW_OTHER);
	}
	for (uint32_t len = 1; len < 4; len++) {
		n = ip6(F, 17, L4, l4(L4));
		w16(F + L2 + 4, len);
		assert_int_equal(classify(F, n).kind, FLOW_OTHER);
	}
	for (unsigned int proto = 0; proto < 256; proto++) { /* other protocols have no ports of ours */
		if (proto == 6 || proto == 17)
			continue;
		memset(L4, 0, 20);
		n = ip4(F, (uint8_t)proto, 1, 0, L4, 20);
		assert_false(classify(F, n).kind == FLOW_PACKET);
	}
}

/* The Ethernet type becomes a tag in front of what it was. */
static uint32_t
tagged(uint8_t *f, uint32_t n)
{
	memmove(f + 16, f + 12, n - 12);
	w16(f + 12, 0x8100);
	w16(f + 14, 0xe064);
	return n + 4;
}

/* DSP-6 */
static void
one_tag_is_stepped_over_and_not_two(void **state)
{
	(void)state;
	for (int v = 4; v <= 6; v += 2) {
		uint32_t n = v == 4 ? ip4(F, 17, 1, 0, L4, l4(L4)) : ip6(F, 17, L4, l4(L4));
		struct flow_info i;

		n = tagged(F, n);
		for (uint32_t cut = 0; cut < n - 16; cut++)
			assert_int_equal(classify(F, cut).kind, FLOW_OTHER);
		i = classify(F, n);
		expect_key(&i, FLOW_PACKET, v, 17, 1234, 53);
		n = tagged(F, n);
		assert_int_equal(classify(F, n).kind, FLOW_OTHER);
	}
}

/* DSP-6 */
static void
groups_are_told_by_either_address(void **state)
{
	static const uint8_t g4[4][4] = { { 224, 0, 0, 1 }, { 239, 255, 255, 255 }, { 255, 255, 255, 255 },
		{ 232, 1, 2, 3 } };
	uint32_t n;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int frag = 0; frag < 2; frag++) {
			n = ip4(F, 17, 1, frag ? 0x2000 : 0, L4, l4(L4));
			memcpy(F + L2 + 16, g4[i], 4);
			fix4(F);
			assert_int_equal(classify(F, n).kind, FLOW_GROUP);
		}
	n = ip4(F, 17, 1, 0, L4, l4(L4));
	memset(F, 0xff, 6);
	assert_int_equal(classify(F, n).kind, FLOW_GROUP);
	memcpy(F, "\x01\x00\x5e\x00\x00\x01", 6);
	assert_int_equal(classify(F, n).kind, FLOW_GROUP);
	assert_int_equal(classify(F, tagged(F, n)).kind, FLOW_GROUP);
	n = ip6x(F, PEER6, ALL_NODES, 17, 64, L4, l4(L4));
	assert_int_equal(classify(F, n).kind, FLOW_GROUP);
	memcpy(F, FX_MAC, 6); /* of IP alone is enough */
	assert_int_equal(classify(F, n).kind, FLOW_GROUP);
}

/* DSP-8: also those that are sent to groups */
static void
arp_and_neighbour_discovery_are_for_both(void **state)
{
	uint32_t n;

	(void)state;
	for (unsigned int bcast = 0; bcast < 2; bcast++) {
		memset(F, 0, 60);
		eth(F, bcast ? FX_BCAST_MAC : FX_MAC, 0x0806);
		w16(F + 14, 1);
		w16(F + 16, 0x0800);
		w16(F + 18, 0x0604);
		w16(F + 20, bcast ? 1 : 2);
		assert_int_equal(classify(F, 60).kind, FLOW_NEIGHBOUR);
		assert_int_equal(classify(F, tagged(F, 60)).kind, FLOW_NEIGHBOUR);
	}
	for (unsigned int type = 0; type < 256; type++)
		for (unsigned int group = 0; group < 2; group++) {
			const uint8_t *dst = group ? ALL_NODES : ME6;
			enum flow_kind k;

			memset(F, 0, 200);
			n = ip6x(F, PEER6, dst, 58, 255, L4, icmp(L4, 6, PEER6, dst, (uint8_t)type, 0, 0, F + 100, 24));
			k = classify(F, n).kind;
			assert_int_equal(k == FLOW_NEIGHBOUR, type >= 133 && type <= 137);
			if (type >= 128 && k != FLOW_NEIGHBOUR)
				assert_int_equal(k, group ? FLOW_GROUP : FLOW_OTHER);
		}
}

/* ---- IPv6 extension headers ------------------------------------------------------------------------------- */

struct ext {
	uint8_t type;
	uint32_t words;   /* of 8 bytes */
};

/* A packet with these headers before a UDP header, or the given one. */
static uint32_t
chain6(uint8_t *f, const struct ext *e, unsigned int n, uint8_t last, const uint8_t *l, uint32_t ln)
{
	static uint8_t b[P_MAX];
	uint32_t at = 0;

	for (unsigned int i = 0; i < n; i++) {
		memset(b + at, 0, e[i].words * 8);
		b[at] = i + 1 < n ? e[i + 1].type : last;
		if (e[i].type != 44)
			b[at + 1] = (uint8_t)(e[i].words - 1);
		at += e[i].words * 8;
	}
	memcpy(b + at, l, ln);
	return ip6(f, n > 0 ? e[0].type : last, b, at + ln);
}

/* DSP-6 */
static void
extension_headers_are_walked_up_to_eight(void **state)
{
	struct ext e[9];
	uint32_t n;

	(void)state;
	for (unsigned int k = 1; k <= 9; k++)
		for (unsigned int seed = 0; seed < 6; seed++) {
			struct flow_info i;

			for (unsigned int j = 0; j < k; j++)
				e[j] = (struct ext){ j == 0 && seed < 3 ? 0 : seed & 1 && j == 1 ? 43 : 60,
					1 + (j * seed) % 4 };
			n = chain6(F, e, k, 17, L4, l4(L4));
			i = classify(F, n);
			if (k <= 8)
				expect_key(&i, FLOW_PACKET, 6, 17, 1234, 53);
			else
				assert_int_equal(i.kind, FLOW_OTHER);
			for (uint32_t cut = 0; cut < n - 16; cut += 3)
				assert_int_equal(classify(F, cut).kind, FLOW_OTHER);
		}
	for (unsigned int cut = 0; cut < 2; cut++) { /* the longest one; and a longer one than the frame */
		struct flow_info i;

		e[0] = (struct ext){ 60, 256 };
		n = chain6(F, e, 1, 17, L4, l4(L4));
		i = classify(F, n - cut * 200);
		if (cut == 0)
			expect_key(&i, FLOW_PACKET, 6, 17, 1234, 53);
		else
			assert_int_equal(i.kind, FLOW_OTHER);
	}
}

/* DSP-6: the payload ends before the chain does: what follows is padding */
static void
a_chain_that_leaves_its_packet_is_cut(void **state)
{
	struct ext e[2] = { { 60, 2 }, { 60, 1 } };

	(void)state;
	for (uint32_t len = 1; len < 24 + 4; len++) {
		uint32_t n = chain6(F, e, 2, 17, L4, l4(L4));

		w16(F + L2 + 4, len);
		assert_int_equal(classify(F, n).kind, FLOW_OTHER);
	}
}

/* DSP-6: no key is made of an encrypted, absent or unknown header */
static void
what_is_not_walked_has_no_key(void **state)
{
	(void)state;
	for (unsigned int next = 0; next < 256; next++) {
		struct ext e = { 60, 1 };
		struct flow_info i;
		uint32_t n = l4(L4);

		if (next == 17 || next == 6)
			continue;
		memset(L4, 0, 40); /* a length of 0: 8 bytes, and then next header 0 for ever */
		n = chain6(F, &e, 1, (uint8_t)next, L4, 40);
		i = classify(F, n);
		assert_true(i.kind != FLOW_PACKET);
		assert_false(i.key_valid);
	}
}

/* ---- fragments ---------------------------------------------------------------------------------------------- */

/* DSP-6 */
static void
ip4_fragments(void **state)
{
	struct flow_info a, b;
	uint32_t n;

	(void)state;
	n = ip4(F, 17, 0xabcd, 0x2000, L4, l4(L4));
	a = classify(F, n);
	expect_key(&a, FLOW_FIRST_FRAG, 4, 17, 1234, 53);
	for (uint32_t off = 1; off < 0x2000; off = off * 2 + 1)
		for (unsigned int mf = 0; mf < 2; mf++) {
			n = ip4(F, 17, 0xabcd, (mf ? 0x2000 : 0) | off, L4, l4(L4)); /* the same bytes: no ports here */
			b = classify(F, n);
			assert_int_equal(b.kind, FLOW_LATER_FRAG);
			assert_false(b.key_valid);
			assert_memory_equal(&a.frag, &b.frag, sizeof(a.frag));
		}
	for (uint32_t flag = 0x4000; flag <= 0xc000; flag += 0x4000) { /* DF, and the bit that is always 0 */
		a = classify(F, ip4(F, 17, 1, flag, L4, l4(L4)));
		if (flag == 0x4000 || a.kind != FLOW_OTHER)
			expect_key(&a, FLOW_PACKET, 4, 17, 1234, 53);
	}
}

/* DSP-6: overlapping ids: of two protocols, two senders, two receivers, two families, and of the id's every bit */
static void
each_datagram_has_its_own_name(void **state)
{
	struct flow_info a, b;

	(void)state;
	l4(L4);
	a = classify(F, ip4(F, 17, 7, 0x2000, L4, 16));
	b = classify(F, ip4(F, 1, 7, 2, L4, 16));
	assert_int_equal(b.kind, FLOW_LATER_FRAG);
	assert_memory_not_equal(&a.frag, &b.frag, sizeof(a.frag));
	for (unsigned int bit = 0; bit < 16; bit++) {
		b = classify(F, ip4(F, 17, 7 ^ 1u << bit, 2, L4, 16));
		assert_memory_not_equal(&a.frag, &b.frag, sizeof(a.frag));
	}
	for (unsigned int at = 12; at < 20; at++) {
		uint32_t n = ip4(F, 17, 7, 2, L4, 16);

		F[L2 + at] ^= 1;
		fix4(F);
		b = classify(F, n);
		assert_int_equal(b.kind, FLOW_LATER_FRAG);
		assert_memory_not_equal(&a.frag, &b.frag, sizeof(a.frag));
	}
}

/* A fragment header (offset in bytes) before n bytes of next. */
static uint32_t
frag6(uint8_t *f, uint32_t id, uint32_t offlg, uint8_t next, const uint8_t *p, uint32_t n)
{
	static uint8_t b[P_MAX];

	memset(b, 0, 8);
	b[0] = next;
	w16(b + 2, offlg);
	w32(b + 4, id);
	memcpy(b + 8, p, n);
	return ip6(f, 44, b, 8 + n);
}

/* DSP-6: two reserved bits stand between the offset and the flag */
static void
ip6_fragments(void **state)
{
	struct flow_info a, b;
	uint8_t opt[28] = { 17, 0, 1, 4 };

	(void)state;
	l4(L4);
	a = classify(F, frag6(F, 0x12345678, 1, 17, L4, 20));
	expect_key(&a, FLOW_FIRST_FRAG, 6, 17, 1234, 53);
	assert_int_equal(a.frag.proto, 0);
	b = classify(F, frag6(F, 0x12345678, 7, 17, L4, 20));
	expect_key(&b, FLOW_FIRST_FRAG, 6, 17, 1234, 53);
	assert_memory_equal(&a.frag, &b.frag, sizeof(a.frag));
	for (uint32_t off = 8; off < 0x10000; off *= 2)
		for (uint32_t low = 0; low < 8; low++) { /* another next header is the same datagram: RFC 8200 4.5 */
			b = classify(F, frag6(F, 0x12345678, off | low, low & 2 ? 60 : 17, L4, 20));
			assert_int_equal(b.kind, FLOW_LATER_FRAG);
			assert_false(b.key_valid);
			assert_memory_equal(&a.frag, &b.frag, sizeof(a.frag));
		}
	for (unsigned int bit = 0; bit < 32; bit++) {
		b = classify(F, frag6(F, 0x12345678 ^ 1u << bit, 8, 17, L4, 20));
		assert_memory_not_equal(&a.frag, &b.frag, sizeof(a.frag));
	}
	memcpy(opt + 8, L4, 20);
	a = classify(F, frag6(F, 1, 1, 60, opt, 28)); /* options behind the fragment header */
	expect_key(&a, FLOW_FIRST_FRAG, 6, 17, 1234, 53);
	a = classify(F, frag6(F, 1, 0, 17, L4, 20)); /* whole in one fragment: RFC 6946 */
	assert_true(a.kind == FLOW_PACKET || a.kind == FLOW_FIRST_FRAG);
	expect_key(&a, a.kind, 6, 17, 1234, 53);
}

/* DSP-6: a first fragment that is too short for its ports has none */
static void
tiny_first_fragments(void **state)
{
	(void)state;
	for (int v = 4; v <= 6; v += 2)
		for (uint32_t len = 0; len <= 24; len++) {
			uint32_t n;
			struct flow_info i;

			l4(L4);
			memset(L4 + 20, 0, 4);
			n = v == 4 ? ip4(F, 6, 9, 0x2000, L4, len) : frag6(F, 9, 1, 6, L4, len);
			i = classify(F, n);
			if (len >= 8)
				expect_key(&i, FLOW_FIRST_FRAG, v, 6, 1234, 53);
			else
				assert_false(i.key_valid);
			memset(F + n, 0x35, 40); /* padding is not the packet */
			assert_int_equal(classify(F, n + 40).key_valid, len >= 8);
		}
}

/* DSP-6: the ports of a fragmented ICMP packet are none */
static void
fragments_of_other_protocols_have_no_key(void **state)
{
	struct flow_info i;

	(void)state;
	l4(L4);
	i = classify(F, ip4(F, 1, 9, 0x2000, L4, 20));
	assert_int_equal(i.kind, FLOW_FIRST_FRAG);
	assert_false(i.key_valid);
	L4[0] = 3; /* an ICMP error too */
	L4[1] = 4;
	i = classify(F, ip4(F, 1, 9, 0x2000, L4, 20));
	assert_int_equal(i.kind, FLOW_FIRST_FRAG);
	assert_false(i.key_valid);
	i = classify(F, frag6(F, 9, 1, 58, L4, 20));
	assert_int_equal(i.kind, FLOW_FIRST_FRAG);
	assert_false(i.key_valid);
}

/* ---- ICMP errors ------------------------------------------------------------------------------------------------ */

/* An ICMPv4 error from a router about a packet of ours to the peer: on bytes of options and n of the inner layer. */
static uint32_t
error4(uint8_t *f, uint8_t type, uint8_t code, uint8_t proto, uint32_t on, uint32_t frag, uint32_t n, uint32_t outer)
{
	static const uint8_t router[4] = { 10, 0, 0, 254 };
	uint8_t q[128], opts[40], m[256];
	uint32_t len;

	memset(q, 0, sizeof(q));
	memset(opts, 1, sizeof(opts));
	q[0] = (uint8_t)(0x45 + on / 4);
	w16(q + 2, 1400);
	w16(q + 6, frag);
	q[8] = 60;
	q[9] = proto;
	memcpy(q + 12, ME4, 4);
	memcpy(q + 16, PEER4, 4);
	memcpy(q + 20, opts, on);
	w16(q + 20 + on, 53);
	w16(q + 22 + on, 1234);
	len = icmp(m, 4, ME4, ME4, type, code, 0x05dc, q, 20 + on + n);
	len = ip4_opts(f, 1, opts, outer, m, len);
	memcpy(f + L2 + 12, router, 4);
	fix4(f);
	return len;
}

/* DSP-6, DSP-8: by the quoted packet, whose source we are, behind options outside and inside */
static void
icmp4_errors_are_about_the_quoted_flow(void **state)
{
	static const struct { uint8_t type, code; } t[] = { { 3, 0 }, { 3, 1 }, { 3, 3 }, { 3, 4 }, { 3, 13 }, { 11, 0 },
		{ 11, 1 }, { 12, 0 } };

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		for (unsigned int proto = 6; proto <= 17; proto += 11)
			for (uint32_t on = 0; on <= 40; on += 4)
				for (uint32_t outer = 0; outer <= 40; outer += 20) {
					uint32_t n = error4(F, t[i].type, t[i].code, (uint8_t)proto, on, 0, 8, outer);
					bool big = t[i].type == 3 && t[i].code == 4;
					struct flow_info x = classify(F, n);

					expect_key(&x, big ? FLOW_TOO_BIG : FLOW_ERROR, 4, (uint8_t)proto, 1234, 53);
					assert_int_equal(x.tcp_flags, 0);
				}
}

/* DSP-6: eight bytes are enough and seven are not; a quoted later fragment has no ports; nor has another protocol */
static void
a_quote_without_ports_has_no_key(void **state)
{
	uint32_t n;

	(void)state;
	for (uint32_t len = 0; len <= 9; len++)
		for (uint32_t on = 0; on <= 40; on += 40)
			assert_int_equal(classify(F, error4(F, 3, 1, 17, on, 0, len, 0)).key_valid, len >= 8);
	assert_false(classify(F, error4(F, 3, 4, 17, 0, 1, 8, 0)).key_valid);
	assert_false(classify(F, error4(F, 3, 4, 17, 0, 0x3fff, 8, 0)).key_valid);
	assert_true(classify(F, error4(F, 3, 4, 17, 0, 0x2000, 8, 0)).key_valid); /* the first one has */
	assert_true(classify(F, error4(F, 3, 4, 17, 0, 0x4000, 8, 0)).key_valid); /* don't fragment */
	assert_false(classify(F, error4(F, 3, 4, 1, 0, 0, 8, 0)).key_valid);
	assert_false(classify(F, error4(F, 3, 4, 50, 0, 0, 8, 0)).key_valid);
	for (unsigned int first = 0; first < 256; first++) {
		n = error4(F, 3, 1, 17, 0, 0, 8, 0);
		F[L2 + H4 + 8] = (uint8_t)first;
		if (first != 0x45)
			assert_false(classify(F, n).key_valid);
	}
	n = error4(F, 3, 1, 17, 40, 0, 8, 40);
	for (uint32_t cut = 0; cut < n; cut++)
		assert_false(classify(F, cut).key_valid);
}

/* DSP-6 */
static void
icmp4_queries_are_no_errors(void **state)
{
	static const uint8_t t[] = { 0, 8, 9, 10, 13, 14, 15, 16, 17, 18 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(t); i++) {
		struct flow_info x = classify(F, error4(F, t[i], 0, 17, 0, 0, 8, 0));

		assert_int_equal(x.kind, FLOW_OTHER);
		assert_false(x.key_valid);
	}
}

/* An ICMPv6 error that quotes what f holds behind its Ethernet header, n bytes of it, addresses exchanged. */
static uint32_t
error6(uint8_t *f, uint8_t type, uint8_t code, uint32_t n, unsigned int outer_ext)
{
	static const uint8_t router[16] = { 0x20, 1, 0xd, 0xb8, [15] = 0xfe };
	uint8_t q[512], m[600], opt[8] = { 58, 0, 1, 4 };
	uint32_t len;

	memcpy(q, f + L2, n);
	memcpy(q + 8, ME6, 16);
	memcpy(q + 24, PEER6, 16);
	len = icmp(m, 6, router, ME6, type, code, 1280, q, n);
	if (outer_ext) {
		memmove(m + 8, m, len);
		memcpy(m, opt, 8);
		len += 8;
	}
	return ip6x(f, router, ME6, outer_ext ? 60 : 58, 64, m, len);
}

/* DSP-6, DSP-8: chains of extension headers in the quote, a fragment header among them */
static void
icmp6_errors_are_about_the_quoted_flow(void **state)
{
	struct ext e[3] = { { 0, 1 }, { 43, 3 }, { 60, 2 } };

	(void)state;
	w16(L4, 53);
	w16(L4 + 2, 1234);
	for (uint8_t type = 1; type <= 4; type++)
		for (unsigned int k = 0; k <= 3; k++)
			for (unsigned int outer = 0; outer < 2; outer++) {
				uint32_t n = chain6(F, e, k, 17, L4, 8);
				struct flow_info x = classify(F, error6(F, type, 0, n - L2, outer));

				expect_key(&x, type == 2 ? FLOW_TOO_BIG : FLOW_ERROR, 6, 17, 1234, 53);
				n = chain6(F, e, k, 17, L4, 7);
				assert_false(classify(F, error6(F, type, 0, n - L2, outer)).key_valid);
			}
	for (uint32_t off = 0; off <= 8; off += 8)
		for (uint32_t m = 0; m < 2; m++) {
			uint32_t n = frag6(F, 3, off | m, 17, L4, 8);
			struct flow_info x = classify(F, error6(F, 2, 0, n - L2, 0));

			assert_int_equal(x.kind, FLOW_TOO_BIG);
			assert_int_equal(x.key_valid, off == 0);
		}
}

/* DSP-6: any bytes at all */
static void
rubbish_is_survived(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 60000; round++) {
		uint32_t n;
		struct flow_info i;

		l4(L4);
		switch (round % 5) {
		case 0: n = error4(F, 3, 4, 17, 8, 0, 8, 4); break;
		case 1: n = frag6(F, 1, 1, 17, L4, 20); n = error6(F, 2, 0, n - L2, 1); break;
		case 2: n = chain6(F, (struct ext[]){ { 0, 1 }, { 43, 2 }, { 60, 1 } }, 3, 17, L4, 20); break;
		case 3: n = ip4(F, 17, 1, 0x2000, L4, 20); break;
		default: n = ip6(F, 6, L4, 20); break;
		}
		for (unsigned int k = 0; k < 1 + round % 4; k++)
			F[draw(&seed) % n] = (uint8_t)draw(&seed);
		i = classify(F, (uint32_t)(draw(&seed) % (n + 1)));
		assert_true(i.kind <= FLOW_TOO_BIG);
		if (i.kind == FLOW_PACKET)
			assert_true(i.key_valid);
		if (i.key_valid) {
			assert_true(i.key.proto == 6 || i.key.proto == 17);
			assert_true(i.key.family == ADDR_INET || i.key.family == ADDR_INET6);
			assert_int_equal(i.key.zero, 0);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_no_holes),
		cmocka_unit_test(a_cut_frame_is_nobodys_packet),
		cmocka_unit_test(ip4_options_are_stepped_over),
		cmocka_unit_test(malformed_headers_are_the_owners),
		cmocka_unit_test(one_tag_is_stepped_over_and_not_two),
		cmocka_unit_test(groups_are_told_by_either_address),
		cmocka_unit_test(arp_and_neighbour_discovery_are_for_both),
		cmocka_unit_test(extension_headers_are_walked_up_to_eight),
		cmocka_unit_test(a_chain_that_leaves_its_packet_is_cut),
		cmocka_unit_test(what_is_not_walked_has_no_key),
		cmocka_unit_test(ip4_fragments),
		cmocka_unit_test(each_datagram_has_its_own_name),
		cmocka_unit_test(ip6_fragments),
		cmocka_unit_test(tiny_first_fragments),
		cmocka_unit_test(fragments_of_other_protocols_have_no_key),
		cmocka_unit_test(icmp4_errors_are_about_the_quoted_flow),
		cmocka_unit_test(a_quote_without_ports_has_no_key),
		cmocka_unit_test(icmp4_queries_are_no_errors),
		cmocka_unit_test(icmp6_errors_are_about_the_quoted_flow),
		cmocka_unit_test(rubbish_is_survived),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

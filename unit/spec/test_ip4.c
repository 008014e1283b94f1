/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 and ICMP by RFC 791, 792, 815, 1122, 1191, 1812, 6864: frames made byte by byte. Lines 49-54, 56 of the checklist. */
#include "pkt.h"

#define ECHO_ID 0x12340007u

static uint32_t
echo(uint8_t *f, const void *data, uint32_t n)
{
	uint8_t l4[P_MAX];

	return ip4(f, 1, 0x77, 0, l4, icmp(l4, 4, NULL, NULL, 8, 0, ECHO_ID, data, n));
}

static void
expect_echo_reply(struct fx *fx, const void *data, uint32_t n)
{
	struct fx_pkt p;

	fx_expect(fx, 0x0800, &p);
	assert_int_equal(p.proto, 1);
	assert_memory_equal(p.l3 + 12, ME4, 4);
	assert_memory_equal(p.l3 + 16, PEER4, 4);
	assert_int_equal(p.l4[0], 0);
	assert_int_equal(p.l4[1], 0);
	assert_int_equal(r32(p.l4 + 4), ECHO_ID);
	assert_int_equal(p.l4_len, 8 + n);
	assert_memory_equal(p.l4 + 8, data, n);
	assert_int_equal(p.l3[0], 0x45); /* no options come back */
}

/* RFC 792: what came in goes back, whatever its size. STK-2 */
static void
echo_of_every_size_is_answered_with_the_same_bytes(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 17, 18, 19, 55, 56, 57, 1471, 1472 };
	struct fx *fx = *state;
	uint8_t f[2048], d[1500];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fx_inject(fx, f, echo(f, fill(d, sizes[i], i), sizes[i]));
		expect_echo_reply(fx, d, sizes[i]);
	}
	fx_expect_none(fx);
}

/* Line 54: every single wrong bit of the header is noticed. STK-2, STK-8 */
static void
header_checksum_finds_every_single_bit_error(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[64], b[64];
	int fd = sock_at(fx, 4, 5000);
	uint32_t n = ip4(f, 17, 1, 0, l4, udp(l4, 4, 9, 5000, "abc", 3));

	w16(f + L2 + H4 + 6, 0); /* no UDP checksum that could notice it too */
	for (unsigned int bit = 0; bit < H4 * 8; bit++) {
		f[L2 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		fx_inject(fx, f, n);
		f[L2 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (got(fx, fd, b, sizeof(b)) != -EAGAIN)
			fail_msg("bit %u", bit);
	}
	assert_int_equal(fx_all_drops(fx), H4 * 8);
	fx_expect_none(fx);
	fx_inject(fx, f, n);
	assert_int_equal(got(fx, fd, b, sizeof(b)), 3);
}

/* Line 54: fields with a right checksum. STK-8 */
static void
version_ihl_and_total_length_are_validated(void **state)
{
	static const struct { uint8_t vihl; uint16_t total; enum stack_drop why; } t[] = {
		{ 0x44, 28, STACK_DROP_IP4_IHL }, { 0x40, 28, STACK_DROP_IP4_IHL }, { 0x55, 28, STACK_DROP_IP4_VERSION },
		{ 0x65, 28, STACK_DROP_IP4_VERSION }, { 0x05, 28, STACK_DROP_IP4_VERSION },
		{ 0x45, 19, STACK_DROP_IP4_TOTAL_LENGTH }, { 0x45, 0, STACK_DROP_IP4_TOTAL_LENGTH },
		{ 0x45, 65535, STACK_DROP_IP4_TOTAL_LENGTH }, { 0x45, 47, STACK_DROP_IP4_TOTAL_LENGTH },
		{ 0x46, 20, STACK_DROP_IP4_TOTAL_LENGTH }, { 0x46, 23, STACK_DROP_IP4_TOTAL_LENGTH },
	};
	struct fx *fx = *state;
	uint8_t f[256], l4[64], zero[26] = { 0 };

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t before = fx_drops(fx, t[i].why);
		uint32_t n;

		memset(f, 0, sizeof(f));
		n = ip4(f, 1, 1, 0, l4, icmp(l4, 4, NULL, NULL, 8, 0, 1, zero, 18)); /* 46 bytes: no padding */
		f[L2] = t[i].vihl;
		w16(f + L2 + 2, t[i].total);
		fix4(f);
		fx_inject(fx, f, n);
		if (fx_drops(fx, t[i].why) != before + 1)
			fail_msg("case %u was not dropped for its reason", i);
		fx_expect_none(fx);
	}
}

/* Line 54: bytes behind the total length are padding and belong to nobody. STK-2 */
static void
ethernet_padding_is_cut_off(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], d[64];

	fx_know_peer(fx);
	for (uint32_t n = 0; n < 18; n++) {
		memset(f, 0xa5, sizeof(f));
		echo(f, fill(d, n, 3), n);
		fx_inject(fx, f, 60);
		expect_echo_reply(fx, d, n);
	}
}

/* RFC 1122 3.2.1.3, line 54. STK-8 */
static void
source_martian_and_own_address_dropped(void **state)
{
	static const uint8_t src[][4] = { { 127, 0, 0, 1 }, { 127, 255, 255, 255 }, { 224, 0, 0, 1 }, { 239, 255, 255, 255 },
		{ 240, 0, 0, 1 }, { 255, 255, 255, 255 }, { 10, 0, 0, 255 }, { 10, 0, 0, 1 }, { 0, 0, 0, 0 }, { 0, 0, 0, 5 } };
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(src) / 4; i++) {
		uint32_t n = echo(f, "x", 1);

		memcpy(f + L2 + 12, src[i], 4);
		fix4(f);
		fx_inject(fx, f, n);
		fx_expect_none(fx);
		assert_int_equal(fx_drops(fx, STACK_DROP_IP4_MARTIAN), i + 1);
	}
}

/* RFC 1122 3.2.1.3 (g): loopback addresses do not come over a wire; others' packets are not ours. */
static void
packets_to_others_and_to_loopback_are_not_taken(void **state)
{
	static const uint8_t dst[][4] = { { 127, 0, 0, 1 }, { 10, 0, 0, 3 }, { 8, 8, 8, 8 }, { 0, 0, 0, 0 }, { 240, 0, 0, 1 } };
	struct fx *fx = *state;
	uint8_t f[256], l4[64], b[8];
	int fd = sock_at(fx, 4, 5000);

	for (unsigned int i = 0; i < sizeof(dst) / 4; i++) {
		uint32_t n = ip4(f, 17, 1, 0, l4, udp(l4, 4, 9, 5000, "abc", 3));

		w16(f + L2 + H4 + 6, 0);
		memcpy(f + L2 + 16, dst[i], 4);
		fix4(f);
		fx_inject(fx, f, n);
		assert_int_equal(got(fx, fd, b, sizeof(b)), -EAGAIN);
	}
	fx_expect_none(fx);
	assert_int_equal(fx_all_drops(fx), sizeof(dst) / 4);
}

/* Line 54: options are skipped by their length, and none of them comes back. STK-2 */
static void
harmless_options_are_skipped(void **state)
{
	static const struct { const char *o; uint32_t n; } t[] = {
		{ "\x01\x01\x01\x01", 4 }, { "\x00\xff\xff\xff", 4 }, { "\x01\x01\x01\x00", 4 },
		{ "\x07\x07\x04\x00\x00\x00\x00\x00", 8 },              /* record route */
		{ "\x44\x08\x05\x00\x00\x00\x00\x00", 8 },              /* timestamp */
		{ "\x94\x04\x00\x00", 4 },                              /* router alert */
		{ "\x99\x02\x99\x02", 4 },                              /* unknown, twice */
		{ "\x99\x04zz\x01\x01\x01\x00", 8 },
		{ "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
		  "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", 40 },
	};
	struct fx *fx = *state;
	uint8_t f[256], l4[64];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t n = icmp(l4, 4, NULL, NULL, 8, 0, ECHO_ID, "data", 4);

		fx_inject(fx, f, ip4_opts(f, 1, t[i].o, t[i].n, l4, n));
		expect_echo_reply(fx, "data", 4);
	}
}

/* Lines 21, 54: lengths of options that lie. STK-8 */
static void
malformed_options_are_dropped(void **state)
{
	static const struct { const char *o; uint32_t n; } t[] = {
		{ "\x07\x00\x00\x00", 4 }, { "\x07\x01\x00\x00", 4 }, { "\x07\x05\x04\x00", 4 }, { "\x01\x01\x01\x07", 4 },
		{ "\x99\xff\x00\x00", 4 }, { "\x44\x00\x05\x00", 4 }, { "\x01\x01\x07\x03", 4 }, { "\x99\x00\x00\x00", 4 },
	};
	struct fx *fx = *state;
	uint8_t f[256], l4[64];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct fx_pkt p;
		uint32_t n = icmp(l4, 4, NULL, NULL, 8, 0, ECHO_ID, "data", 4);

		fx_inject(fx, f, ip4_opts(f, 1, t[i].o, t[i].n, l4, n));
		assert_int_equal(fx_drops(fx, STACK_DROP_IP4_OPTIONS), i + 1);
		/* RFC 1122 3.2.2.5 lets a parameter problem say so; an echo reply may not come. */
		while (fx_pop(fx, &p))
			assert_int_equal(p.l4[0], 12);
	}
}

/* Line 54. STK-8 */
static void
source_routes_are_refused(void **state)
{
	static const char lsrr[] = "\x83\x07\x04\x0a\x00\x00\x02\x00", ssrr[] = "\x89\x07\x04\x0a\x00\x00\x02\x00",
		used[] = "\x83\x07\x08\x0a\x00\x00\x02\x00", late[] = "\x01\x89\x07\x08\x0a\x00\x00\x02";
	static const char *const t[] = { lsrr, ssrr, used, late };
	struct fx *fx = *state;
	uint8_t f[256], l4[64];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 4; i++) {
		struct fx_pkt p;
		uint32_t n = icmp(l4, 4, NULL, NULL, 8, 0, ECHO_ID, "data", 4);

		fx_inject(fx, f, ip4_opts(f, 1, t[i], 8, l4, n));
		assert_int_equal(fx_drops(fx, STACK_DROP_IP4_SOURCE_ROUTE), i + 1);
		while (fx_pop(fx, &p))
			assert_int_not_equal(p.l4[0], 0);
	}
}

/* RFC 1122 3.2.2.6: echo to a broadcast or multicast address MAY be discarded; a smurf must not be answered. */
static void
echo_to_many_is_not_answered(void **state)
{
	static const uint8_t dst[][4] = { { 10, 0, 0, 255 }, { 255, 255, 255, 255 }, { 224, 0, 0, 1 } };
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t n = echo(f, "x", 1);

		memcpy(f, i < 2 ? FX_BCAST_MAC : "\x01\x00\x5e\x00\x00\x01", 6);
		memcpy(f + L2 + 16, dst[i], 4);
		fix4(f);
		fx_inject(fx, f, n);
		fx_expect_none(fx);
	}
	assert_int_equal(fx_all_drops(fx), 3);
}

/* RFC 1122 3.2.2: an unknown type is silently discarded; so is what is cut short or summed wrongly. */
static void
bad_icmp_is_silently_discarded(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[64];
	uint32_t n;

	fx_know_peer(fx);
	for (unsigned int type = 19; type < 256; type++)
		fx_inject(fx, f, ip4(f, 1, 1, 0, l4, icmp(l4, 4, NULL, NULL, (uint8_t)type, 0, 0, "x", 1)));
	fx_expect_none(fx);
	assert_int_equal(fx_all_drops(fx), 256 - 19);
	for (n = 0; n < 8; n++)
		fx_inject(fx, f, ip4(f, 1, 1, 0, "\x08\x00\xf7\xff\x00\x00\x00\x00", n));
	fx_expect_none(fx);
	n = echo(f, "abcdef", 6);
	for (unsigned int bit = 0; bit < 14 * 8; bit++) {
		f[L2 + H4 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		fx_inject(fx, f, n);
		f[L2 + H4 + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	fx_expect_none(fx);
	assert_int_equal(fx_drops(fx, STACK_DROP_ICMP4_CSUM), 14 * 8);
}

/* RFC 1122 3.2.2.1: protocol unreachable, with header and at least 8 bytes. */
static void
unknown_protocol_is_told(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256];

	fx_know_peer(fx);
	fx_inject(fx, f, ip4(f, 132, 9, 0, "sctp or so", 10));
	expect_error(fx, 4, 3, 2, f, H4 + 8);
	fx_expect_none(fx);
}

/* Line 63: closed_port_unreachable_quotes_enough, and no more than 576 bytes (RFC 1812 4.3.2.3). */
static void
closed_port_unreachable_quotes_enough(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 100, 1000, 1472 };
	struct fx *fx = *state;
	uint8_t f[2048], l4[2048], d[1500];

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 5; i++) {
		struct fx_pkt p;
		uint32_t n = sizes[i];

		fx_inject(fx, f, ip4(f, 17, 1, 0, l4, udp(l4, 4, 1000, 53, fill(d, n, i), n)));
		assert_int_equal(fx_tx_count(fx), 1);
		fx_expect(fx, 0x0800, &p);
		assert_int_equal(p.l4[0], 3);
		assert_int_equal(p.l4[1], 3);
		assert_int_equal(r32(p.l4 + 4), 0);
		assert_true(p.l3_len <= 576);
		assert_true(p.l4_len >= 8 + H4 + 8);
		assert_memory_equal(p.l4 + 8, f + L2, p.l4_len - 8);
		assert_memory_equal(p.l3 + 16, PEER4, 4);
	}
}

/* Line 52. */
static void
no_icmp_error_about_icmp_error_multicast_broadcast_non_first_fragment(void **state)
{
	static const uint8_t many[][4] = { { 10, 0, 0, 255 }, { 255, 255, 255, 255 }, { 224, 0, 0, 1 } };
	static const uint8_t errors[] = { 3, 4, 5, 11, 12 };
	struct fx *fx = *state;
	uint8_t f[256], l4[128], q[128];
	uint32_t n;

	fx_know_peer(fx);
	/* to many */
	for (unsigned int i = 0; i < 3; i++) {
		n = ip4(f, 17, 1, 0, l4, udp(l4, 4, 1000, 53, "x", 1));
		w16(f + L2 + H4 + 6, 0);
		memcpy(f + L2 + 16, many[i], 4);
		memcpy(f, i < 2 ? FX_BCAST_MAC : "\x01\x00\x5e\x00\x00\x01", 6);
		fix4(f);
		fx_inject(fx, f, n);
		f[L2 + 9] = 132;
		fix4(f);
		fx_inject(fx, f, n);
		fx_expect_none(fx);
	}
	/* sent to everybody on the link, whatever the IP header says */
	n = ip4(f, 17, 1, 0, l4, udp(l4, 4, 1000, 53, "x", 1));
	memcpy(f, FX_BCAST_MAC, 6);
	fx_inject(fx, f, n);
	fx_expect_none(fx);
	/* errors about us that quote nothing of ours: no answer to any of them */
	for (unsigned int i = 0; i < sizeof(errors); i++) {
		n = ip4(q, 132, 1, 0, "12345678", 8) - L2;
		fx_inject(fx, f, ip4(f, 1, 1, 0, l4, icmp(l4, 4, NULL, NULL, errors[i], 1, 0, q + L2, n)));
	}
	fx_expect_none(fx);
	/* a later fragment of a protocol we do not know */
	fx_inject(fx, f, ip4(f, 132, 1, 1, "12345678", 8));
	fx_expect_none(fx);
	fx_advance(fx, 40 * FX_NS);
	fx_expect_none(fx);
}

/* Line 52. */
static void
icmp_errors_are_rate_limited_and_echo_is_not(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[64];
	unsigned int n;

	fx_know_peer(fx);
	for (unsigned int i = 0; i < 400; i++)
		fx_inject(fx, f, ip4(f, 17, 1, 0, l4, udp(l4, 4, 1000, 53, "x", 1)));
	n = fx_tx_count(fx);
	assert_in_range(n, 1, 200);
	assert_int_equal(fx_drops(fx, STACK_DROP_ICMP4_LIMIT), 400 - n);
	fx_tx_clear(fx);
	for (unsigned int i = 0; i < 400; i++)
		fx_inject(fx, f, echo(f, "x", 1));
	assert_int_equal(fx_tx_count(fx), 400);
	fx_tx_clear(fx);
	fx_advance(fx, FX_NS);
	fx_inject(fx, f, ip4(f, 17, 1, 0, l4, udp(l4, 4, 1000, 53, "x", 1)));
	expect_error(fx, 4, 3, 3, f, H4 + 8);
}

/* ---- sending ------------------------------------------------------------------------------------- */

static int
send_to_peer(struct fx *fx, int fd, const void *d, uint32_t n)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7777) };

	memcpy(&a.sin_addr, PEER4, 4);
	return (int)sock_sendto(fx->s, fd, d, n, 0, (void *)&a, sizeof(a));
}

/* RFC 791: pieces of a multiple of 8, in all but the last, one identification, and every byte once. */
static void
fragments_sent_are_whole_and_add_up(void **state)
{
	static const uint32_t sizes[] = { 1473, 1480, 2952, 2953, 8000, 65507 };
	struct fx *fx = *state;
	static uint8_t d[P_MAX], all[P_MAX];
	int fd = sock_at(fx, 4, 5000);

	fx_know_peer(fx);
	fill(d, sizeof(d), 5);
	for (unsigned int i = 0; i < 6; i++) {
		uint32_t n = sizes[i], at = 0;
		struct fx_pkt p;
		int id = -1;
		bool last = false;

		assert_int_equal(send_to_peer(fx, fd, d, n), (int)n);
		while (fx_pop(fx, &p)) {
			assert_false(last);
			assert_true(p.l3_len <= 1500);
			assert_int_equal(r16(p.l3 + 2), p.l3_len);
			assert_true(id < 0 || id == p.id);
			id = p.id;
			assert_int_equal((p.frag & 0x1fff) * 8, at);
			assert_int_equal(p.frag & 0xc000, 0);
			last = !(p.frag & 0x2000);
			if (!last)
				assert_int_equal(p.l4_len % 8, 0);
			memcpy(all + at, p.l4, p.l4_len);
			at += p.l4_len;
		}
		assert_true(last);
		assert_int_equal(at, 8 + n);
		assert_memory_equal(all + 8, d, n);
		assert_int_equal(r16(all + 4), 8 + n);
		w16(d + sizeof(d) - 2, 0);
		if (r16(all + 6) != 0)
			assert_int_equal(sum16(all, 8 + n, pseudo(4, ME4, PEER4, 17, 8 + n)), 0xffff);
	}
	assert_int_equal(send_to_peer(fx, fd, d, 65508), -EMSGSIZE);
	fx_expect_none(fx);
}

/* Line 56, RFC 6864: identifications of what may be fragmented do not come again soon. */
static void
non_atomic_identifications_are_unique(void **state)
{
	struct fx *fx = *state;
	static bool seen[65536];
	uint8_t d[1600] = { 0 };
	int fd = sock_at(fx, 4, 5000);

	fx_know_peer(fx);
	memset(seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < 2000; i++) {
		struct fx_pkt p;

		assert_int_equal(send_to_peer(fx, fd, d, sizeof(d)), sizeof(d));
		assert_true(fx_pop(fx, &p));
		if (seen[p.id])
			fail_msg("identification %u of datagram %u was used before", p.id, i);
		seen[p.id] = true;
		assert_true(fx_pop(fx, &p));
		assert_true(seen[p.id]);
	}
}

/* ---- path MTU ------------------------------------------------------------------------------------ */

/* Frag-needed about the frame that is in q (n bytes of it from the IP header). */
static void
frag_needed(struct fx *fx, const uint8_t *q, uint32_t n, uint32_t mtu)
{
	uint8_t f[2048], l4[1024];

	fx_inject(fx, f, ip4(f, 1, 1, 0, l4, icmp(l4, 4, NULL, NULL, 3, 4, mtu, q, n > 500 ? 500 : n)));
}

static uint32_t
first_length(struct fx *fx, int fd, struct fx_pkt *p)
{
	static const uint8_t d[1472];
	struct fx_pkt rest;

	assert_int_equal(send_to_peer(fx, fd, d, sizeof(d)), sizeof(d));
	assert_true(fx_pop(fx, p));
	while (fx_pop(fx, &rest))
		assert_true(rest.l3_len <= p->l3_len);
	return p->l3_len;
}

/* Line 50: mtu_below_576_v4_ignored; mtu_zero_uses_plateau; pmtu_aged_out. STK-2 */
static void
frag_needed_lowers_the_path_mtu_within_reason(void **state)
{
	struct fx *fx = *state;
	struct fx_pkt p;
	int fd = sock_at(fx, 4, 5000);

	fx_know_peer(fx);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, p.l3_len, 575);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, p.l3_len, 68);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, p.l3_len, 1501);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, p.l3_len, 65535);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, p.l3_len, 1000);
	assert_in_range(first_length(fx, fd, &p), 989, 1000);
	frag_needed(fx, p.l3, p.l3_len, 1400); /* never up again by a message */
	assert_in_range(first_length(fx, fd, &p), 989, 1000);
	frag_needed(fx, p.l3, p.l3_len, 576);
	assert_in_range(first_length(fx, fd, &p), 565, 576);
	fx_advance(fx, 590 * FX_NS);
	assert_in_range(first_length(fx, fd, &p), 565, 576);
	fx_advance(fx, 20 * FX_NS);
	assert_int_equal(first_length(fx, fd, &p), 1500);
}

/* RFC 1191 7: no MTU given: the next plateau below the packet that was too big (1492 below 1500). */
static void
frag_needed_without_mtu_uses_a_plateau(void **state)
{
	struct fx *fx = *state;
	struct fx_pkt p;
	int fd = sock_at(fx, 4, 5000);

	fx_know_peer(fx);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, p.l3_len, 0);
	assert_in_range(first_length(fx, fd, &p), 1481, 1492);
}

/* Line 49 for UDP: the quote must be of a packet from us. */
static void
frag_needed_that_quotes_nothing_of_ours_is_ignored(void **state)
{
	struct fx *fx = *state;
	struct fx_pkt p;
	int fd = sock_at(fx, 4, 5000);

	fx_know_peer(fx);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	memcpy(p.l3 + 12, "\x0a\x00\x00\x09", 4); /* another source */
	frag_needed(fx, p.l3, p.l3_len, 1000);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, 19, 1000);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, 0, 1000);
	assert_int_equal(first_length(fx, fd, &p), 1500);
	frag_needed(fx, p.l3, 27, 1000); /* less than 8 bytes of UDP */
	assert_int_equal(first_length(fx, fd, &p), 1500);
}

int
main(void)
{

	const struct CMUnitTest tests[] = {
		T(echo_of_every_size_is_answered_with_the_same_bytes),
		T(header_checksum_finds_every_single_bit_error),
		T(version_ihl_and_total_length_are_validated),
		T(ethernet_padding_is_cut_off),
		T(source_martian_and_own_address_dropped),
		T(packets_to_others_and_to_loopback_are_not_taken),
		T(harmless_options_are_skipped),
		T(malformed_options_are_dropped),
		T(source_routes_are_refused),
		T(echo_to_many_is_not_answered),
		T(bad_icmp_is_silently_discarded),
		T(unknown_protocol_is_told),
		T(closed_port_unreachable_quotes_enough),
		T(no_icmp_error_about_icmp_error_multicast_broadcast_non_first_fragment),
		T(icmp_errors_are_rate_limited_and_echo_is_not),
		T(fragments_sent_are_whole_and_add_up),
		T(non_atomic_identifications_are_unique),
		T(frag_needed_lowers_the_path_mtu_within_reason),
		T(frag_needed_without_mtu_uses_a_plateau),
		T(frag_needed_that_quotes_nothing_of_ours_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow keys: both ways to make one agree, frames of every kind, frames cut at every length and spoilt in every byte. */
#include "frames.h"

#include "core/base/hash.h"
#include "core/dispatch/flow_hash.h"

#define R4 "10.0.0.2"
#define L4 "10.0.0.1"
#define R6 "2001:db8::2"
#define L6 "2001:db8::1"
#define UDP 17
#define TCP 6

enum { SAMPLE_KINDS = 29 };

struct sample {
	struct frame f;
	enum flow_kind kind;
	bool has_key;
	struct flow_key key;
	unsigned int flags;
};

static const struct siphash_key secret = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull };

static void
expect_key(struct sample *s, enum flow_kind kind, struct flow_key key)
{
	s->kind = kind;
	s->has_key = true;
	s->key = key;
}

static void
sample4(struct sample *s, unsigned int proto, bool vlan, unsigned int options, unsigned int frag)
{
	uint32_t at;

	if (vlan)
		put_vlan(&s->f, 0x800);
	else
		put_eth(&s->f, 2, 0x800);
	at = put_ip4(&s->f, R4, L4, proto, frag, options);
	if (proto == TCP)
		put_tcp(&s->f, 4000, 80, 0x12);
	else
		put_udp(&s->f, 4000, 80);
	put_len4(&s->f, at);
	expect_key(s, FLOW_PACKET, key_of(proto, R4, 4000, L4, 80));
	if (proto == TCP && frag == 0)
		s->flags = 0x12;
	if (frag & MORE)
		s->kind = FLOW_FIRST_FRAG;
}

/* Extension headers of the given types, zero-terminated; a fragment header is an atomic one, or the given one. */
static void
sample6(struct sample *s, unsigned int proto, const uint8_t *ext, unsigned int frag)
{
	uint32_t at;

	put_eth(&s->f, 2, 0x86dd);
	at = put_ip6(&s->f, R6, L6, *ext ? *ext : proto);
	for (; *ext; ext++) {
		unsigned int next = ext[1] ? ext[1] : proto;

		if (*ext == 44)
			put_frag6(&s->f, next, frag, 0xdeadbeef);
		else
			put_ext(&s->f, next, *ext == 60 ? 2 : 0);
	}
	if (proto == TCP)
		put_tcp(&s->f, 4000, 80, 2);
	else
		put_udp(&s->f, 4000, 80);
	put_len6(&s->f, at);
	expect_key(s, frag & 1 ? FLOW_FIRST_FRAG : FLOW_PACKET, key_of(proto, R6, 4000, L6, 80));
	if (proto == TCP && !(frag & 1))
		s->flags = 2;
}

/* An error about a packet from L4:80 to R4:4000; `options` words in the quoted header, 8 bytes behind it. */
static void
error4(struct sample *s, unsigned int type, unsigned int code, unsigned int proto, unsigned int options)
{
	uint32_t at, inner;

	put_eth(&s->f, 2, 0x800);
	at = put_ip4(&s->f, "192.0.2.1", L4, 1, 0, 0);
	put_icmp(&s->f, type, code);
	inner = put_ip4(&s->f, L4, R4, proto, 0x4000, options);
	put16(&s->f, 80);
	put16(&s->f, 4000);
	put32(&s->f, 0x00640000);
	put_len4(&s->f, inner);
	s->f.b[inner + 3] += 100; /* it was longer */
	put_len4(&s->f, at);
	expect_key(s, type == 3 && code == 4 ? FLOW_TOO_BIG : FLOW_ERROR, key_of(proto, R4, 4000, L4, 80));
}

static void
error6(struct sample *s, unsigned int type, unsigned int proto, bool ext, unsigned int frag)
{
	uint32_t at, inner;

	put_eth(&s->f, 2, 0x86dd);
	at = put_ip6(&s->f, "2001:db8:1::1", L6, 58);
	put_icmp(&s->f, type, 0);
	inner = put_ip6(&s->f, L6, R6, ext ? 60 : proto);
	if (ext) {
		put_ext(&s->f, 44, 1);
		put_frag6(&s->f, proto, frag, 9);
	}
	put16(&s->f, 80);
	put16(&s->f, 4000);
	put32(&s->f, 0x00640000);
	put_len6(&s->f, inner);
	put_len6(&s->f, at);
	expect_key(s, type == 2 ? FLOW_TOO_BIG : FLOW_ERROR, key_of(proto, R6, 4000, L6, 80));
}

/* One frame of each kind that carries a key. */
static unsigned int
make_samples(struct sample *s)
{
	struct sample *first = s;

	memset(s, 0, SAMPLE_KINDS * sizeof(*s));
	sample4(s++, UDP, false, 0, 0);
	sample4(s++, TCP, false, 0, 0x4000); /* don't fragment */
	s[-1].flags = 0x12;
	sample4(s++, UDP, true, 0, 0);
	sample4(s++, TCP, true, 3, 0);
	sample4(s++, UDP, false, 10, 0);
	sample4(s++, UDP, false, 0, MORE);
	sample4(s++, TCP, false, 1, MORE);
	sample6(s++, UDP, (const uint8_t[]){ 0 }, 0);
	sample6(s++, TCP, (const uint8_t[]){ 0 }, 0);
	sample6(s++, UDP, (const uint8_t[]){ 60, 0 }, 0);
	sample6(s++, UDP, (const uint8_t[]){ 43, 60, 0 }, 0);
	sample6(s++, TCP, (const uint8_t[]){ 60, 43, 60, 43, 60, 43, 60, 43, 0 }, 0);
	sample6(s++, UDP, (const uint8_t[]){ 44, 0 }, 0); /* atomic: a whole packet */
	sample6(s++, UDP, (const uint8_t[]){ 44, 0 }, 1);
	sample6(s++, TCP, (const uint8_t[]){ 60, 44, 60, 0 }, 1);
	put_eth(&s->f, 2, 0x86dd); /* hop-by-hop: its number is 0 */
	put_ip6(&s->f, R6, L6, 0);
	put_ext(&s->f, UDP, 0);
	put_udp(&s->f, 4000, 80);
	put_len6(&s->f, 14);
	expect_key(s++, FLOW_PACKET, key_of(UDP, R6, 4000, L6, 80));
	error4(s++, 3, 3, UDP, 0);
	error4(s++, 3, 4, UDP, 0);
	error4(s++, 3, 1, TCP, 0);
	error4(s++, 4, 0, TCP, 4);
	error4(s++, 5, 1, UDP, 1);
	error4(s++, 11, 0, UDP, 10);
	error4(s++, 12, 0, TCP, 0);
	error6(s++, 1, UDP, false, 0);
	error6(s++, 2, UDP, false, 0);
	error6(s++, 2, TCP, true, 1);
	error6(s++, 3, TCP, true, 0);
	error6(s++, 4, UDP, true, 1);
	put_eth(&s->f, 2, 0x800); /* padded to Ethernet's least */
	put_ip4(&s->f, R4, L4, UDP, 0, 0);
	put_udp(&s->f, 4000, 80);
	put_len4(&s->f, 14);
	put_fill(&s->f, 60 - s->f.n);
	expect_key(s++, FLOW_PACKET, key_of(UDP, R4, 4000, L4, 80));
	return (unsigned int)(s - first);
}

/* DSP-5, DSP-6 */
static void
key_from_a_frame_and_from_addresses_is_the_same_bytes(void **state)
{
	struct sample *s = test_calloc(SAMPLE_KINDS, sizeof(*s));
	const struct flow_key *keys[SAMPLE_KINDS];
	struct flow_info *out = test_calloc(SAMPLE_KINDS, sizeof(*out));
	uint64_t bulk[SAMPLE_KINDS];
	unsigned int n = make_samples(s);

	(void)state;
	assert_int_equal(n, SAMPLE_KINDS);
	for (unsigned int i = 0; i < n; i++) {
		out[i] = classify(&s[i].f);
		assert_int_equal(out[i].kind, s[i].kind);
		assert_true(out[i].key_valid);
		assert_memory_equal(&out[i].key, &s[i].key, sizeof(s[i].key));
		assert_int_equal(out[i].tcp_flags, s[i].flags);
		assert_true(flow_hash(&secret, &out[i].key) == flow_hash(&secret, &s[i].key));
		keys[i] = &out[i].key;
	}
	flow_hash_bulk(&secret, keys, bulk, n);
	for (unsigned int i = 0; i < n; i++)
		assert_true(bulk[i] == flow_hash(&secret, &s[i].key));
	test_free(out);
	test_free(s);
}

/* PUB-1, DSP-5 */
static void
hash_is_siphash_over_what_differs(void **state)
{
	struct flow_key k4 = key_of(UDP, R4, 4000, L4, 80), k6 = key_of(TCP, R6, 4000, L6, 80);
	struct siphash_key other = { secret.k0, secret.k1 ^ 1 };
	uint8_t b[14];

	(void)state;
	memcpy(b, k4.remote, 4);
	memcpy(b + 4, k4.local, 4);
	memcpy(b + 8, &k4.rport_be, 2);
	memcpy(b + 10, &k4.lport_be, 2);
	b[12] = UDP;
	b[13] = ADDR_INET;
	assert_true(flow_hash(&secret, &k4) == siphash13(&secret, b, 14));
	assert_true(flow_hash(&secret, &k6) == siphash13(&secret, &k6, 38));
	assert_true(flow_hash(&secret, &k4) != flow_hash(&other, &k4));
	/* every byte that may differ counts */
	for (unsigned int i = 0; i < 38; i++) {
		struct flow_key c4 = k4, c6 = k6;

		((uint8_t *)&c6)[i] ^= 1;
		assert_true(i == 37 || flow_hash(&secret, &c6) != flow_hash(&secret, &k6));
		if ((i >= 4 && i < 16) || (i >= 20 && i < 32))
			continue; /* zero in every IPv4 key */
		((uint8_t *)&c4)[i] ^= 1;
		assert_true(flow_hash(&secret, &c4) != flow_hash(&secret, &k4));
	}
}

/* PUB-1 */
static void
many_at_once_hash_like_one(void **state)
{
	struct flow_key k[64];
	const struct flow_key *p[64];
	uint64_t h[65];

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		k[i] = i % 5 == 2 ? key_of(UDP, R6, i, L6, 80) : key_of(i & 1 ? UDP : TCP, R4, i, L4, 80);
		p[i] = &k[i];
	}
	for (unsigned int n = 0; n <= 64; n++) {
		memset(h, 0xab, sizeof(h));
		flow_hash_bulk(&secret, p, h, n);
		for (unsigned int i = 0; i < n; i++)
			assert_true(h[i] == flow_hash(&secret, &k[i]));
		assert_true(h[n] == 0xababababababababull);
	}
}

/* PUB-1 */
static void
every_way_to_hash_eight_gives_the_same(void **state)
{
	uint64_t w[5][FLOW_LANES], h[FLOW_LANES];

	(void)state;
	for (int level = FLOW_BASE; level <= FLOW_AVX512; level++)
		for (unsigned int n = 2; n <= 5; n += 3) {
			for (unsigned int i = 0; i < 5 * FLOW_LANES; i++)
				w[i / FLOW_LANES][i % FLOW_LANES] = i * 0x9e3779b97f4a7c15ull;
			for (unsigned int i = 0; i < FLOW_LANES; i++) /* the length stands in the last word */
				w[n - 1][i] = w[n - 1][i] >> 8 | (uint64_t)(8 * n - 1) << 56;
			flow_eight((enum flow_simd)level)(&secret, (const uint64_t (*)[FLOW_LANES])w, n, h);
			for (unsigned int i = 0; i < FLOW_LANES; i++) {
				uint64_t one[5];

				for (unsigned int j = 0; j < n; j++)
					one[j] = w[j][i];
				assert_true(h[i] == siphash13(&secret, one, 8 * n - 1));
			}
		}
}

/* DSP-5 */
static void
protocols_families_and_directions_are_different_flows(void **state)
{
	struct flow_key k[] = {
		key_of(UDP, R4, 53, L4, 53), key_of(TCP, R4, 53, L4, 53), key_of(UDP, L4, 53, R4, 53),
		key_of(UDP, R4, 53, L4, 54), key_of(UDP, R4, 54, L4, 53),
		key_of(UDP, "::ffff:10.0.0.2", 53, "::ffff:10.0.0.1", 53),
		key_of(UDP, "a00:2::", 53, "a00:1::", 53), key_of(TCP, "a00:2::", 53, "a00:1::", 53),
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(k) / sizeof(k[0]); i++)
		for (unsigned int j = 0; j < i; j++) {
			assert_memory_not_equal(&k[i], &k[j], sizeof(k[i]));
			assert_true(flow_hash(&secret, &k[i]) != flow_hash(&secret, &k[j]));
		}
}

static enum flow_kind
kind_of(const struct frame *f)
{
	struct flow_info out = classify(f);

	assert_false(out.key_valid);
	assert_int_equal(out.tcp_flags, 0);
	return out.kind;
}

/* DSP-6, DSP-8 */
static void
neighbours_and_groups(void **state)
{
	struct frame f;

	(void)state;
	put_eth(&f, 0xff, 0x806);
	put_fill(&f, 28);
	assert_int_equal(kind_of(&f), FLOW_NEIGHBOUR);
	put_vlan(&f, 0x806);
	assert_int_equal(kind_of(&f), FLOW_NEIGHBOUR);
	for (unsigned int type = 130; type <= 140; type++) { /* to a group, as most of them are */
		put_eth(&f, 0x33, 0x86dd);
		put_ip6(&f, R6, "ff02::1:ff00:1", 58);
		put_icmp(&f, type, 0);
		put_len6(&f, 14);
		assert_int_equal(kind_of(&f), type >= 133 && type <= 137 ? FLOW_NEIGHBOUR : FLOW_GROUP);
	}
	put_eth(&f, 2, 0x86dd); /* an answer behind an extension header */
	put_ip6(&f, R6, L6, 60);
	put_ext(&f, 58, 0);
	put_icmp(&f, 136, 0);
	put_len6(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_NEIGHBOUR);
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, "224.0.0.251", UDP, 0, 0);
	put_udp(&f, 5353, 5353);
	put_len4(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_GROUP);
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, "255.255.255.255", UDP, 0, 0);
	put_udp(&f, 68, 67);
	put_len4(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_GROUP);
	put_eth(&f, 0xff, 0x800); /* the subnet's broadcast address, which only Ethernet tells */
	put_ip4(&f, R4, "10.0.0.255", UDP, MORE, 0);
	put_udp(&f, 137, 137);
	put_len4(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_GROUP);
	put_eth(&f, 0x33, 0x86dd);
	put_ip6(&f, R6, L6, UDP);
	put_udp(&f, 137, 137);
	put_len6(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_GROUP);
}

/* DSP-6 */
static void
fragments_name_their_datagram(void **state)
{
	struct flow_info first, later, other;
	struct frame f;

	(void)state;
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, L4, UDP, MORE, 0);
	put_udp(&f, 1, 2);
	put_len4(&f, 14);
	first = classify(&f);
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, L4, UDP, 100, 0);
	put_udp(&f, 3, 4); /* data */
	put_len4(&f, 14);
	later = classify(&f);
	assert_int_equal(later.kind, FLOW_LATER_FRAG);
	assert_false(later.key_valid);
	assert_memory_equal(&first.frag, &later.frag, sizeof(first.frag));
	assert_int_equal(later.frag.id, 0x1234);
	f.b[14 + 9] = 1; /* another protocol is another datagram */
	other = classify(&f);
	assert_int_equal(other.kind, FLOW_LATER_FRAG);
	assert_memory_not_equal(&other.frag, &later.frag, sizeof(later.frag));
	put_eth(&f, 2, 0x86dd);
	put_ip6(&f, R6, L6, 44);
	put_frag6(&f, 60, 1, 77);
	put_ext(&f, UDP, 0);
	put_udp(&f, 1, 2);
	put_len6(&f, 14);
	first = classify(&f);
	assert_int_equal(first.kind, FLOW_FIRST_FRAG);
	put_eth(&f, 2, 0x86dd);
	put_ip6(&f, R6, L6, 44);
	put_frag6(&f, 60, 8, 77); /* the last one: no more */
	put_fill(&f, 3);
	put_len6(&f, 14);
	later = classify(&f);
	assert_int_equal(later.kind, FLOW_LATER_FRAG);
	assert_memory_equal(&first.frag, &later.frag, sizeof(first.frag));
	assert_int_equal(later.frag.id, 77);
	assert_int_equal(later.frag.family, ADDR_INET6);
}

/* DSP-6 */
static void
first_fragments_without_ports_are_first_fragments(void **state)
{
	struct frame f;

	(void)state;
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, L4, 1, MORE, 0);
	put_icmp(&f, 8, 0);
	put_len4(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_FIRST_FRAG);
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, L4, UDP, MORE, 0);
	put32(&f, 0x00010002); /* cut behind the ports */
	put_len4(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_FIRST_FRAG);
	put_eth(&f, 2, 0x86dd);
	put_ip6(&f, R6, L6, 44);
	put_frag6(&f, 58, 1, 5);
	put_icmp(&f, 136, 0); /* in fragments: no neighbour discovery (RFC 6980) */
	put_len6(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_FIRST_FRAG);
	put_eth(&f, 2, 0x86dd); /* two fragment headers: the outer one names the datagram, the inner one has no ports */
	put_ip6(&f, R6, L6, 44);
	put_frag6(&f, 44, 1, 5);
	put_frag6(&f, UDP, 16, 6);
	put_udp(&f, 1, 2);
	put_len6(&f, 14);
	assert_int_equal(classify(&f).frag.id, 5);
	assert_false(classify(&f).key_valid);
}

/* A v4 packet whose byte `at` of the IP header is spoilt. */
static enum flow_kind
spoilt4(unsigned int at, unsigned int v)
{
	struct frame f;

	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, L4, UDP, 0, 0);
	put_udp(&f, 1, 2);
	put_len4(&f, 14);
	f.b[14 + at] = (uint8_t)v;
	return kind_of(&f);
}

/* DSP-6 */
static void
what_can_not_be_read_is_other(void **state)
{
	struct frame f;

	(void)state;
	assert_int_equal(spoilt4(0, 0x65), FLOW_OTHER);  /* version */
	assert_int_equal(spoilt4(0, 0x44), FLOW_OTHER);  /* header of 16 bytes */
	assert_int_equal(spoilt4(0, 0x4f), FLOW_OTHER);  /* longer than the packet */
	assert_int_equal(spoilt4(3, 19), FLOW_OTHER);    /* the packet is shorter than its header */
	assert_int_equal(spoilt4(3, 27), FLOW_OTHER);    /* it ends in the UDP header: what follows is padding */
	assert_int_equal(spoilt4(9, 132), FLOW_OTHER);   /* SCTP */
	put_eth(&f, 2, 0x800);
	put_ip4(&f, R4, L4, TCP, 0, 0);
	put_udp(&f, 1, 2); /* not a whole TCP header */
	put_len4(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_OTHER);
	put_eth(&f, 2, 0x88cc);
	put_fill(&f, 60);
	assert_int_equal(kind_of(&f), FLOW_OTHER);
	put_vlan(&f, 0x8100); /* two tags */
	put_fill(&f, 60);
	assert_int_equal(kind_of(&f), FLOW_OTHER);
	put_eth(&f, 2, 0x86dd);
	put_ip6(&f, R6, L6, UDP);
	put_udp(&f, 1, 2); /* payload length 0: a jumbogram, or nothing */
	assert_int_equal(kind_of(&f), FLOW_OTHER);
	put_len6(&f, 14);
	f.b[14] = 0x40;
	assert_int_equal(kind_of(&f), FLOW_OTHER);
	put_eth(&f, 2, 0x86dd);
	put_ip6(&f, R6, L6, 60);
	for (int i = 0; i < 9; i++)
		put_ext(&f, i < 8 ? 60 : UDP, 0);
	put_udp(&f, 1, 2);
	put_len6(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_OTHER); /* nine headers */
	put_eth(&f, 2, 0x86dd);
	put_ip6(&f, R6, L6, 59);
	put_udp(&f, 1, 2);
	put_len6(&f, 14);
	assert_int_equal(kind_of(&f), FLOW_OTHER); /* no next header */
}

/* DSP-6 */
static void
errors_without_a_flow_have_no_key(void **state)
{
	struct sample s;

	(void)state;
	memset(&s, 0, sizeof(s));
	error4(&s, 8, 0, UDP, 0); /* an echo request with such data */
	assert_int_equal(kind_of(&s.f), FLOW_OTHER);
	error4(&s, 3, 3, 1, 0);
	assert_int_equal(kind_of(&s.f), FLOW_ERROR);
	error4(&s, 3, 4, UDP, 0);
	s.f.b[14 + 20 + 8 + 7] = 1; /* about a later fragment */
	assert_int_equal(kind_of(&s.f), FLOW_TOO_BIG);
	error4(&s, 3, 3, UDP, 0);
	s.f.b[14 + 20 + 8] = 0x44;
	assert_int_equal(kind_of(&s.f), FLOW_ERROR);
	s.f.b[14 + 20 + 8] = 0x65;
	assert_int_equal(kind_of(&s.f), FLOW_ERROR);
	s.f.b[14 + 20 + 8] = 0x46; /* options where the ports are: eight bytes are not there any more */
	assert_int_equal(kind_of(&s.f), FLOW_ERROR);
	error6(&s, 128, UDP, false, 0);
	assert_int_equal(kind_of(&s.f), FLOW_OTHER);
	error6(&s, 100, UDP, false, 0);
	assert_int_equal(kind_of(&s.f), FLOW_OTHER);
	error6(&s, 2, UDP, true, 9); /* about a later fragment */
	assert_int_equal(kind_of(&s.f), FLOW_TOO_BIG);
	error6(&s, 1, UDP, false, 0);
	s.f.b[14 + 40 + 8] = 0x45;
	assert_int_equal(kind_of(&s.f), FLOW_ERROR);
	error6(&s, 1, 58, false, 0);
	assert_int_equal(kind_of(&s.f), FLOW_ERROR);
}

/* DSP-6, STK-8 */
static void
frames_cut_at_every_length_are_not_read_past_their_end(void **state)
{
	struct sample *s = test_calloc(SAMPLE_KINDS, sizeof(*s));
	unsigned int n = make_samples(s);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		for (uint32_t len = 0; len < s[i].f.n; len++) {
			struct flow_info out;

			classify_bytes(s[i].f.b, len, &out); /* exact memory: a read past it is found by the sanitizers */
			if (out.key_valid) {
				assert_memory_equal(&out.key, &s[i].key, sizeof(out.key));
				assert_int_equal(out.kind, s[i].kind);
			} else {
				assert_int_not_equal(out.kind, FLOW_PACKET);
			}
		}
	test_free(s);
}

/* DSP-6, STK-8 */
static void
frames_spoilt_in_every_byte_are_survived(void **state)
{
	static const uint8_t v[] = { 0, 1, 0x3c, 0x2c, 0x7f, 0x80, 0xff };
	struct sample *s = test_calloc(SAMPLE_KINDS, sizeof(*s));
	unsigned int n = make_samples(s);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		for (uint32_t at = 0; at < s[i].f.n; at++)
			for (unsigned int j = 0; j < sizeof(v); j++) {
				struct frame f = s[i].f;
				struct flow_info out;

				f.b[at] = v[j];
				classify_bytes(f.b, f.n, &out);
				assert_in_range(out.kind, FLOW_OTHER, FLOW_TOO_BIG);
				assert_true(out.kind != FLOW_PACKET || out.key_valid);
				assert_true(!out.key_valid || out.key.zero == 0);
			}
	test_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_from_a_frame_and_from_addresses_is_the_same_bytes),
		cmocka_unit_test(hash_is_siphash_over_what_differs),
		cmocka_unit_test(many_at_once_hash_like_one),
		cmocka_unit_test(every_way_to_hash_eight_gives_the_same),
		cmocka_unit_test(protocols_families_and_directions_are_different_flows),
		cmocka_unit_test(neighbours_and_groups),
		cmocka_unit_test(fragments_name_their_datagram),
		cmocka_unit_test(first_fragments_without_ports_are_first_fragments),
		cmocka_unit_test(what_can_not_be_read_is_other),
		cmocka_unit_test(errors_without_a_flow_have_no_key),
		cmocka_unit_test(frames_cut_at_every_length_are_not_read_past_their_end),
		cmocka_unit_test(frames_spoilt_in_every_byte_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

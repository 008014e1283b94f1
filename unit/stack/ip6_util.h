/* SPDX-License-Identifier: BSD-3-Clause */
/* What the IPv6 tests share: ICMPv6 in and out, extension headers, patterns. */
#ifndef NONIC_UNIT_STACK_IP6_UTIL_H
#define NONIC_UNIT_STACK_IP6_UTIL_H

#include "fixture.h"

#define U6_PEER "2001:db8::2"
#define U6_US "2001:db8::1"
#define U6_LL "fe80::ff:fe00:1"        /* of FX_MAC */
#define U6_PEER_LL "fe80::ff:fe00:2"   /* of FX_PEER_MAC */
#define U6_US_GROUP "ff02::1:ff00:1"   /* solicited-node group of both U6_US and U6_LL */

/*
 * One ICMPv6 message with right checksum; hop 0: 64. rest: the second word; n bytes of data follow.
 */
static inline void
u6_icmp(struct fx *f, const char *src, const char *dst, uint8_t hop, uint8_t type, uint8_t code,
	uint32_t rest, const void *data, uint32_t n)
{
	struct fx_ip6 h = { .src = fx_a6(src), .dst = fx_a6(dst), .next = 58, .hop = hop,
		.unspec_src = strcmp(src, "::") == 0 };
	static uint8_t b[FX_FRAME_MAX];

	fx_rx_ip6(f, &h, b, fx_put_icmp6(b, &h.src, &h.dst, type, code, rest, data, n));
}

static inline void
u6_ping(struct fx *f, const char *src, const char *dst, const void *data, uint32_t n)
{
	u6_icmp(f, src, dst, 64, 128, 0, 0x12345678, data, n);
}

/* The next frame is an ICMPv6 message of this type and code. */
static inline void
u6_expect(struct fx *f, struct fx_pkt *p, uint8_t type, uint8_t code)
{
	fx_expect(f, ETHERTYPE_IP6, p);
	assert_int_equal(p->proto, 58);
	assert_true(p->l4_len >= 8);
	assert_int_equal(p->l4[0], type);
	assert_int_equal(p->l4[1], code);
}

/* An error with this pointer (or MTU) comes to the peer. */
static inline void
u6_expect_error(struct fx *f, uint8_t type, uint8_t code, uint32_t arg)
{
	union ip_addr peer = fx_a6(U6_PEER);
	struct fx_pkt p;

	u6_expect(f, &p, type, code);
	assert_int_equal(get_be32(p.l4 + 4), arg);
	assert_true(ip_addr_eq(&p.dst, &peer));
}

static inline void
u6_pattern(uint8_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)(i * 7 + (i >> 8));
}

/* A fragment header. */
static inline void
u6_put_frag(uint8_t *b, uint8_t next, uint32_t off, bool more, uint32_t id)
{
	b[0] = next;
	b[1] = 0;
	put_be16(b + 2, (uint16_t)(off | more));
	put_be32(b + 4, id);
}

static inline bool
u6_eq(const union ip_addr *a, const char *text)
{
	union ip_addr b = fx_a6(text);

	return ip_addr_eq(a, &b);
}

/* The drops of one reason grew by one, and no other reason counted; remembers for the next time. */
struct u6_count {
	uint64_t all, one[STACK_DROP_COUNT];
};

static inline void
u6_count_start(struct fx *f, struct u6_count *c)
{
	c->all = fx_all_drops(f);
	for (unsigned int i = 0; i < STACK_DROP_COUNT; i++)
		c->one[i] = stack_drops(f->s, (enum stack_drop)i);
}

static inline void
u6_dropped(struct fx *f, struct u6_count *c, enum stack_drop r)
{
	if (fx_drops(f, r) != c->one[r] + 1 || fx_all_drops(f) != c->all + 1) {
		for (unsigned int i = 0; i < STACK_DROP_COUNT; i++)
			if (stack_drops(f->s, (enum stack_drop)i) != c->one[i])
				print_error("counted: %s\n", stack_drop_name((enum stack_drop)i));
		fail_msg("expected one drop: %s", stack_drop_name(r));
	}
	u6_count_start(f, c);
}

#endif

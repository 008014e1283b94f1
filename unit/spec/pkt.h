/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames made byte by byte, with arithmetic of their own, for the tests written from the RFCs. The stack is the
 * fixture's: we are 10.0.0.1 and 2001:db8::1 at 02:00:00:00:00:01, the peer ends in 2.
 */
#ifndef NONIC_UNIT_SPEC_PKT_H
#define NONIC_UNIT_SPEC_PKT_H

#include "../stack/fixture.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <stdlib.h>

#define P_MAX 70000
#define L2 14
#define H4 20
#define H6 40

static const uint8_t ME4[4] = { 10, 0, 0, 1 }, PEER4[4] = { 10, 0, 0, 2 };
static const uint8_t ME6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 }, PEER6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 2 };
static const uint8_t ME6L[16] = { 0xfe, 0x80, [11] = 0xff, [12] = 0xfe, [15] = 1 };
static const uint8_t PEER6L[16] = { 0xfe, 0x80, [11] = 0xff, [12] = 0xfe, [15] = 2 };
static const uint8_t SOL_ME[16] = { 0xff, 2, [11] = 1, [12] = 0xff, [15] = 1 };
static const uint8_t ALL_NODES[16] = { 0xff, 2, [15] = 1 };

static inline void
w16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
w32(uint8_t *p, uint32_t v)
{
	w16(p, v >> 16);
	w16(p + 2, v & 0xffff);
}

static inline uint32_t
r16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t
r32(const uint8_t *p)
{
	return r16(p) << 16 | r16(p + 2);
}

static inline uint32_t
sum16(const uint8_t *p, uint32_t n, uint32_t s)
{
	for (uint32_t i = 0; i < n; i++)
		s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

static inline uint32_t
pseudo(int v, const uint8_t *src, const uint8_t *dst, uint8_t proto, uint32_t n)
{
	uint32_t al = v == 4 ? 4 : 16;

	return sum16(src, al, 0) + sum16(dst, al, 0) + proto + (n & 0xffff) + (n >> 16);
}

/* Fills a checksum field of n bytes at l4. */
static inline void
l4_sum(uint8_t *l4, uint32_t n, uint32_t at, uint32_t start)
{
	w16(l4 + at, 0);
	w16(l4 + at, ~sum16(l4, n, start) & 0xffff);
}

static inline void
fix4(uint8_t *frame)
{
	uint8_t *h = frame + L2;

	w16(h + 10, 0);
	w16(h + 10, ~sum16(h, (uint32_t)(h[0] & 15) * 4, 0) & 0xffff);
}

static inline void
eth(uint8_t *f, const char *dst, uint32_t type)
{
	memcpy(f, dst, 6);
	memcpy(f + 6, FX_PEER_MAC, 6);
	w16(f + 12, type);
}

/* A whole frame around n bytes of payload; frag with its flags, host order. Returns its length. */
static inline uint32_t
ip4(uint8_t *f, uint8_t proto, uint32_t id, uint32_t frag, const void *pl, uint32_t n)
{
	uint8_t *h = f + L2;

	eth(f, FX_MAC, 0x0800);
	memset(h, 0, H4);
	h[0] = 0x45;
	w16(h + 2, H4 + n);
	w16(h + 4, id);
	w16(h + 6, frag);
	h[8] = 64;
	h[9] = proto;
	memcpy(h + 12, PEER4, 4);
	memcpy(h + 16, ME4, 4);
	if (n != 0)
		memmove(h + H4, pl, n);
	fix4(f);
	return L2 + H4 + n;
}

/* The same with options (a multiple of 4) between header and payload. */
static inline uint32_t
ip4_opts(uint8_t *f, uint8_t proto, const void *opts, uint32_t on, const void *pl, uint32_t n)
{
	uint32_t len = ip4(f, proto, 1, 0, NULL, 0);

	f[L2] = (uint8_t)(0x40 | (5 + on / 4));
	w16(f + L2 + 2, H4 + on + n);
	memcpy(f + len, opts, on);
	memcpy(f + len + on, pl, n);
	fix4(f);
	return len + on + n;
}

static inline uint32_t
ip6x(uint8_t *f, const uint8_t *src, const uint8_t *dst, uint8_t next, uint8_t hop, const void *pl, uint32_t n)
{
	uint8_t *h = f + L2;

	eth(f, FX_MAC, 0x86dd);
	if (dst[0] == 0xff) {
		memcpy(f, "\x33\x33", 2);
		memcpy(f + 2, dst + 12, 4);
	}
	w32(h, 0x60000000);
	w16(h + 4, n);
	h[6] = next;
	h[7] = hop;
	memcpy(h + 8, src, 16);
	memcpy(h + 24, dst, 16);
	if (n != 0)
		memmove(h + H6, pl, n);
	return L2 + H6 + n;
}

static inline uint32_t
ip6(uint8_t *f, uint8_t next, const void *pl, uint32_t n)
{
	return ip6x(f, PEER6, ME6, next, 64, pl, n);
}

/* UDP header, payload and checksum at l4. */
static inline uint32_t
udp(uint8_t *l4, int v, uint32_t sport, uint32_t dport, const void *data, uint32_t n)
{
	const uint8_t *s = v == 4 ? PEER4 : PEER6, *d = v == 4 ? ME4 : ME6;

	w16(l4, sport);
	w16(l4 + 2, dport);
	w16(l4 + 4, 8 + n);
	if (n != 0)
		memcpy(l4 + 8, data, n);
	l4_sum(l4, 8 + n, 6, pseudo(v, s, d, 17, 8 + n));
	if (r16(l4 + 6) == 0)
		w16(l4 + 6, 0xffff);
	return 8 + n;
}

/* ICMP; v 6: ICMPv6 between src and dst. rest is the second word. */
static inline uint32_t
icmp(uint8_t *l4, int v, const uint8_t *src, const uint8_t *dst, uint8_t type, uint8_t code, uint32_t rest,
	const void *data, uint32_t n)
{
	l4[0] = type;
	l4[1] = code;
	w32(l4 + 4, rest);
	if (n != 0)
		memmove(l4 + 8, data, n);
	l4_sum(l4, 8 + n, 2, v == 4 ? 0 : pseudo(6, src, dst, 58, 8 + n));
	return 8 + n;
}

static inline uint8_t *
fill(uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)((i * 7 + seed) ^ (i >> 8));
	return b;
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

/* A bound datagram socket: wildcard address, this port. */
static inline int
sock_at(struct fx *f, int v, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 b = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = sock_socket(f->s, v == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(v == 4 ? sock_bind(f->s, fd, (void *)&a, sizeof(a)) : sock_bind(f->s, fd, (void *)&b, sizeof(b)), 0);
	return fd;
}

/* What waits in the socket: its length, or -EAGAIN. */
static inline ssize_t
got(struct fx *f, int fd, void *buf, size_t n)
{
	return sock_recvfrom(f->s, fd, buf, n, 0, NULL, NULL);
}

/* An error of the stack about a frame of ours: pops it, checks type and code and that the quote is our packet. */
static inline void
expect_error(struct fx *f, int v, uint8_t type, uint8_t code, const uint8_t *frame, uint32_t min_quote)
{
	struct fx_pkt *p = malloc(sizeof(*p));

	assert_non_null(p);
	fx_expect(f, v == 4 ? 0x0800 : 0x86dd, p);
	assert_int_equal(p->proto, v == 4 ? 1 : 58);
	assert_int_equal(p->l4[0], type);
	assert_int_equal(p->l4[1], code);
	assert_true(p->l4_len >= 8 + min_quote);
	assert_memory_equal(p->l4 + 8, frame + L2, v == 4 ? 10 : 7); /* to the checksum, to the hop limit */
	assert_memory_equal(p->l4 + 8 + (v == 4 ? 12 : 8), frame + L2 + (v == 4 ? 12 : 8), min_quote - (v == 4 ? 12 : 8));
	free(p);
}

#endif

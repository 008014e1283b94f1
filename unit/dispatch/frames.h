/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames built byte by byte with arithmetic of their own, and flow keys to compare with. */
#ifndef NONIC_UNIT_DISPATCH_FRAMES_H
#define NONIC_UNIT_DISPATCH_FRAMES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "core/dispatch/flow.h"
#include "shim/host/mock/mock.h"

struct frame {
	uint8_t b[1024];
	uint32_t n;
};

#define MORE 0x2000u /* IPv4's bit */

static inline void
put8(struct frame *f, unsigned int v)
{
	f->b[f->n++] = (uint8_t)v;
}

static inline void
put16(struct frame *f, unsigned int v)
{
	put8(f, v >> 8);
	put8(f, v);
}

static inline void
put32(struct frame *f, uint32_t v)
{
	put16(f, v >> 16);
	put16(f, v);
}

static inline void
put_addr(struct frame *f, int af, const char *text)
{
	assert_int_equal(inet_pton(af, text, f->b + f->n), 1);
	f->n += af == AF_INET ? 4 : 16;
}

static inline void
put_fill(struct frame *f, unsigned int n)
{
	while (n-- > 0)
		put8(f, 0xa5);
}

static inline void
put_eth(struct frame *f, unsigned int first_byte, unsigned int type)
{
	memset(f, 0, sizeof(*f));
	put8(f, first_byte);
	put32(f, 0x00000002);
	put8(f, 1);
	put_fill(f, 6);
	put16(f, type);
}

/* An Ethernet header with a tag. */
static inline void
put_vlan(struct frame *f, unsigned int type)
{
	put_eth(f, 2, 0x8100);
	put16(f, 7);
	put16(f, type);
}

/* Returns where it is, for put_len4. options: words. */
static inline uint32_t
put_ip4(struct frame *f, const char *src, const char *dst, unsigned int proto, unsigned int frag, unsigned int options)
{
	uint32_t at = f->n;

	put8(f, 0x45 + options);
	put8(f, 0);
	put16(f, 0);
	put16(f, 0x1234);
	put16(f, frag);
	put8(f, 64);
	put8(f, proto);
	put16(f, 0);
	put_addr(f, AF_INET, src);
	put_addr(f, AF_INET, dst);
	while (options-- > 0)
		put32(f, 0x01010101);
	return at;
}

static inline void
put_len4(struct frame *f, uint32_t at)
{
	f->b[at + 2] = (uint8_t)((f->n - at) >> 8);
	f->b[at + 3] = (uint8_t)(f->n - at);
}

static inline uint32_t
put_ip6(struct frame *f, const char *src, const char *dst, unsigned int next)
{
	uint32_t at = f->n;

	put32(f, 0x60000000);
	put16(f, 0);
	put8(f, next);
	put8(f, 64);
	put_addr(f, AF_INET6, src);
	put_addr(f, AF_INET6, dst);
	return at;
}

static inline void
put_len6(struct frame *f, uint32_t at)
{
	f->b[at + 4] = (uint8_t)((f->n - at - 40) >> 8);
	f->b[at + 5] = (uint8_t)(f->n - at - 40);
}

/* An options or routing header of 8 * (1 + words) bytes. */
static inline void
put_ext(struct frame *f, unsigned int next, unsigned int words)
{
	put8(f, next);
	put8(f, words);
	put_fill(f, 6 + 8 * words);
}

static inline void
put_frag6(struct frame *f, unsigned int next, unsigned int off_and_more, uint32_t id)
{
	put8(f, next);
	put8(f, 0);
	put16(f, off_and_more);
	put32(f, id);
}

static inline void
put_udp(struct frame *f, unsigned int sport, unsigned int dport)
{
	put16(f, sport);
	put16(f, dport);
	put16(f, 12);
	put16(f, 0);
	put32(f, 0x64617461);
}

static inline void
put_tcp(struct frame *f, unsigned int sport, unsigned int dport, unsigned int flags)
{
	put16(f, sport);
	put16(f, dport);
	put32(f, 1);
	put32(f, 2);
	put8(f, 0x50);
	put8(f, flags);
	put16(f, 1000);
	put32(f, 0);
}

/* Type, code, checksum, four bytes. */
static inline void
put_icmp(struct frame *f, unsigned int type, unsigned int code)
{
	put8(f, type);
	put8(f, code);
	put16(f, 0);
	put32(f, 1280);
}

static inline union ip_addr
addr_of(const char *text)
{
	union ip_addr a = { .q = { 0, 0 } };

	assert_int_equal(inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, &a), 1);
	return a;
}

static inline struct flow_key
key_of(unsigned int proto, const char *remote, unsigned int rport, const char *local, unsigned int lport)
{
	union ip_addr r = addr_of(remote), l = addr_of(local);
	struct flow_key k;

	memset(&k, 0xee, sizeof(k));
	flow_key_make(&k, strchr(remote, ':') ? ADDR_INET6 : ADDR_INET, (uint8_t)proto, &r, htons((uint16_t)rport), &l,
		htons((uint16_t)lport));
	return k;
}

/* Classifies n bytes of the frame that stand alone at the end of their memory. */
static inline void
classify_bytes(const uint8_t *b, uint32_t n, struct flow_info *out)
{
	uint8_t *exact = test_malloc(n > 0 ? n : 1);
	struct rte_mbuf m;

	memset(&m, 0, sizeof(m));
	memset(out, 0xee, sizeof(*out));
	memcpy(exact, b, n);
	m.buf_addr = exact;
	m.data_len = (uint16_t)n;
	m.pkt_len = n + 1000; /* more segments: not looked at */
	m.nb_segs = 2;
	flow_classify(&m, out);
	assert_memory_equal(exact, b, n);
	test_free(exact);
}

static inline struct flow_info
classify(const struct frame *f)
{
	struct flow_info out;

	classify_bytes(f->b, f->n, &out);
	return out;
}

#endif

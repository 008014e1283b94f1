/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets as bytes; see wire.h. */
#include "wire.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IP4_LEN 20
#define IP6_LEN 40

static void
put16(uint8_t *b, uint32_t v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

static void
put32(uint8_t *b, uint32_t v)
{
	put16(b, v >> 16);
	put16(b + 2, v & 0xffff);
}

static uint32_t
get16(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

static uint32_t
get32(const uint8_t *b)
{
	return get16(b) << 16 | get16(b + 2);
}

static uint64_t
sum(uint64_t s, const uint8_t *b, uint32_t n)
{
	for (; n > 1; b += 2, n -= 2)
		s += get16(b);
	return n > 0 ? s + ((uint32_t)b[0] << 8) : s;
}

static uint16_t
folded(uint64_t s)
{
	while (s >> 16 != 0)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

/* Over pseudo header and segment; 0 over one with a good checksum in it. */
static uint16_t
l4_sum(const struct pd_ends *e, uint8_t proto, const uint8_t *l4, uint32_t n)
{
	uint32_t alen = e->family == ADDR_INET ? 4 : 16;

	if (e->family == ADDR_INET && proto == 1)
		return folded(sum(0, l4, n));
	return folded(sum(sum(sum(proto + (uint64_t)n, e->src.v6, alen), e->dst.v6, alen), l4, n));
}

static uint32_t
build_opts(const struct pd_packet *p, uint8_t *b)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < p->nopts; i++) {
		const struct pd_opt *o = &p->opt[i];
		uint32_t at = n;

		b[n++] = o->kind;
		if (o->kind <= PD_O_NOP)
			continue;
		n++; /* length */
		switch (o->kind) {
		case PD_O_MSS:
			put16(b + n, o->a);
			n += 2;
			break;
		case PD_O_WSCALE:
			b[n++] = (uint8_t)o->a;
			break;
		case PD_O_TS:
			put32(b + n, o->a);
			put32(b + n + 4, o->b);
			n += 8;
			break;
		case PD_O_SACK:
			for (unsigned int k = 0; k < o->nsack; k++, n += 8) {
				put32(b + n, o->sack[k][0]);
				put32(b + n + 4, o->sack[k][1]);
			}
			break;
		default:
			memcpy(b + n, o->raw, o->nraw);
			n += o->nraw;
			break;
		}
		b[at + 1] = (uint8_t)(n - at);
	}
	while (n % 4 != 0)
		b[n++] = PD_O_EOL;
	return n;
}

static uint32_t
build_tcp(const struct pd_packet *p, uint8_t *b)
{
	uint32_t hlen;

	memset(b, 0, 20);
	put16(b, p->sport);
	put16(b + 2, p->dport);
	put32(b + 4, p->seq);
	put32(b + 8, p->ack);
	hlen = 20 + build_opts(p, b + 20);
	put16(b + 12, (hlen / 4) << 12 | (p->flags & 0x1ff));
	put16(b + 14, p->win >= 0 ? (uint32_t)p->win : 0);
	put16(b + 18, p->urg >= 0 ? (uint32_t)p->urg : 0);
	memset(b + hlen, 0, p->len);
	return hlen + p->len;
}

static uint8_t
traffic_class(const struct pd_packet *p)
{
	static const uint8_t ecn[] = { [PD_ECN_ANY] = 0, [PD_ECN_NOECN] = 0, [PD_ECN_ECT0] = 2, [PD_ECN_ECT1] = 1,
		[PD_ECN_CE] = 3,
		[PD_ECN_ECT01] = 2 };

	return (uint8_t)((p->tos >= 0 ? (unsigned int)p->tos : 0) | ecn[p->ecn]);
}

static void
build_ip(const struct pd_packet *p, const struct pd_ends *e, uint8_t proto, uint32_t n, uint8_t *b)
{
	uint8_t ttl = p->ttl >= 0 ? (uint8_t)p->ttl : 255;

	if (e->family == ADDR_INET) {
		memset(b, 0, IP4_LEN);
		b[0] = 0x45;
		b[1] = traffic_class(p);
		put16(b + 2, IP4_LEN + n);
		b[8] = ttl;
		b[9] = proto;
		memcpy(b + 12, e->src.v6, 4);
		memcpy(b + 16, e->dst.v6, 4);
		put16(b + 10, folded(sum(0, b, IP4_LEN)));
		return;
	}
	memset(b, 0, IP6_LEN);
	put32(b, 6u << 28 | (uint32_t)traffic_class(p) << 20);
	put16(b + 4, n);
	b[6] = proto;
	b[7] = ttl;
	memcpy(b + 8, e->src.v6, 16);
	memcpy(b + 24, e->dst.v6, 16);
}

uint32_t
wire_build(const struct pd_packet *p, const struct pd_ends *e, const uint8_t *quote, uint32_t nquote, uint8_t *out)
{
	uint32_t hlen = e->family == ADDR_INET ? IP4_LEN : IP6_LEN, n, at = 16;
	uint8_t *b = out + hlen, proto = 6;

	if (hlen + 60 + p->len > 65535)
		return 0;
	if (p->proto == PD_TCP) {
		n = build_tcp(p, b);
	} else if (p->proto == PD_UDP) {
		proto = 17;
		at = 6;
		n = 8 + p->len;
		memset(b, 0, n);
		put16(b, p->sport);
		put16(b + 2, p->dport);
		put16(b + 4, n);
	} else {
		proto = e->family == ADDR_INET ? 1 : 58;
		at = 2;
		memset(b, 0, 8);
		b[0] = p->icmp_type;
		b[1] = p->icmp_code;
		put32(b + 4, p->mtu > 0 ? (uint32_t)p->mtu : 0); /* RFC 1191: the low half of it */
		memcpy(b + 8, quote, nquote);
		n = 8 + nquote;
	}
	build_ip(p, e, proto, n, out);
	put16(b + at, l4_sum(e, proto, b, n));
	if (proto == 17 && get16(b + at) == 0)
		put16(b + at, 0xffff);
	return hlen + n;
}

/* ---- reading ---- */

static bool
read_opts(const uint8_t *b, uint32_t n, struct pd_packet *p)
{
	p->opts_kind = PD_OPTS_LIST;
	for (uint32_t i = 0, size; i < n; i += size) {
		struct pd_opt *o = &p->opt[p->nopts];

		if (p->nopts == PD_OPTS_MAX)
			return false;
		memset(o, 0, sizeof(*o));
		o->kind = b[i];
		size = o->kind <= PD_O_NOP ? 1 : i + 1 < n ? b[i + 1] : 0;
		if (size == 0 || i + size > n || (o->kind > PD_O_NOP && size < 2))
			return false;
		p->nopts++;
		if (o->kind == PD_O_EOL) {
			for (i++; i < n; i++) /* padding */
				if (b[i] != 0)
					return false;
			return true;
		}
		if (o->kind == PD_O_MSS && size == 4)
			o->a = get16(b + i + 2);
		else if (o->kind == PD_O_WSCALE && size == 3)
			o->a = b[i + 2];
		else if (o->kind == PD_O_TS && size == 10) {
			o->a = get32(b + i + 2);
			o->b = get32(b + i + 6);
		} else if (o->kind == PD_O_SACK && size % 8 == 2 && size > 2) {
			for (o->nsack = 0; o->nsack < (size - 2) / 8; o->nsack++) {
				o->sack[o->nsack][0] = get32(b + i + 2 + 8u * o->nsack);
				o->sack[o->nsack][1] = get32(b + i + 6 + 8u * o->nsack);
			}
		} else if (o->kind > PD_O_NOP) {
			o->nraw = (uint8_t)(size - 2);
			memcpy(o->raw, b + i + 2, o->nraw);
		}
	}
	return true;
}

static const char *
read_tcp(const uint8_t *b, uint32_t n, struct pd_packet *p)
{
	uint32_t hlen = n >= 20 ? (b[12] >> 4) * 4u : 0;

	p->proto = PD_TCP;
	if (hlen < 20 || hlen > n)
		return "a TCP header of wrong length";
	p->sport = (uint16_t)get16(b);
	p->dport = (uint16_t)get16(b + 2);
	p->seq = get32(b + 4);
	p->ack = get32(b + 8);
	p->flags = (uint16_t)(get16(b + 12) & 0x1ff);
	p->has_ack = (p->flags & PD_ACK) != 0;
	p->win = (int)get16(b + 14);
	if (get16(b + 18) != 0 || (p->flags & PD_URG) != 0)
		p->urg = (int)get16(b + 18);
	p->len = n - hlen;
	return read_opts(b + 20, hlen - 20, p) ? NULL : "damaged TCP options";
}

static const char *
read_icmp(const uint8_t *b, uint32_t n, struct pd_packet *p)
{
	p->proto = PD_ICMP;
	if (n < 8)
		return "a short ICMP message";
	p->icmp_type = b[0];
	p->icmp_code = b[1];
	p->icmp_version = p->ip_version;
	if (p->ip_version == 4 ? p->icmp_type == 3 && p->icmp_code == 4 : p->icmp_type == 2)
		p->mtu = get32(b + 4);
	p->len = n - 8;
	return NULL;
}

static const char *
read_l4(const uint8_t *b, uint32_t n, uint8_t proto, const struct pd_ends *e, struct pd_packet *p)
{
	if (proto != 6 && proto != 17 && proto != (e->family == ADDR_INET ? 1 : 58))
		return "no TCP, UDP or ICMP packet";
	if ((proto != 17 || (n >= 8 && (get16(b + 6) != 0 || e->family == ADDR_INET6))) && l4_sum(e, proto, b, n) != 0)
		return "a wrong checksum";
	if (proto == 6)
		return read_tcp(b, n, p);
	if (proto != 17)
		return read_icmp(b, n, p);
	p->proto = PD_UDP;
	if (n < 8 || get16(b + 4) != n)
		return "a UDP header of wrong length";
	p->sport = (uint16_t)get16(b);
	p->dport = (uint16_t)get16(b + 2);
	p->len = n - 8;
	return NULL;
}

static const char *
read_ip(const uint8_t *ip, uint32_t len, struct pd_packet *p, struct pd_ends *e)
{
	uint32_t hlen, total;
	uint8_t tc;

	if (len >= IP4_LEN && ip[0] >> 4 == 4) {
		hlen = (ip[0] & 15) * 4u;
		total = get16(ip + 2);
		e->family = ADDR_INET;
		if (hlen < IP4_LEN || hlen > total || total > len)
			return "an IPv4 header of wrong length";
		if (folded(sum(0, ip, hlen)) != 0)
			return "a wrong IPv4 header checksum";
		if ((get16(ip + 6) & 0x3fff) != 0)
			return "a fragment";
		e->src = ip_addr_v4(0);
		e->dst = ip_addr_v4(0);
		memcpy(&e->src, ip + 12, 4);
		memcpy(&e->dst, ip + 16, 4);
		tc = ip[1];
		p->ttl = ip[8];
		p->ip_version = 4;
	} else if (len >= IP6_LEN && ip[0] >> 4 == 6) {
		hlen = IP6_LEN;
		total = IP6_LEN + get16(ip + 4);
		e->family = ADDR_INET6;
		if (total > len)
			return "an IPv6 header of wrong length";
		memcpy(e->src.v6, ip + 8, 16);
		memcpy(e->dst.v6, ip + 24, 16);
		tc = (uint8_t)(get32(ip) >> 20);
		p->ttl = ip[7];
		p->ip_version = 6;
		if (ip[6] == 44)
			return "a fragment";
	} else {
		return "no IP packet";
	}
	p->tos = tc;
	p->ecn = (tc & 3) == 0 ? PD_ECN_NOECN : (tc & 3) == 1 ? PD_ECN_ECT1 : (tc & 3) == 2 ? PD_ECN_ECT0 : PD_ECN_CE;
	return read_l4(ip + hlen, total - hlen, p->ip_version == 4 ? ip[9] : ip[6], e, p);
}

bool
wire_read(const uint8_t *ip, uint32_t len, struct pd_packet *p, struct pd_ends *e, char *why, size_t nwhy)
{
	const char *wrong;

	memset(p, 0, sizeof(*p));
	memset(e, 0, sizeof(*e));
	p->win = p->urg = -1;
	p->mtu = -1;
	wrong = read_ip(ip, len, p, e);
	if (wrong != NULL)
		snprintf(why, nwhy, "%s", wrong);
	return wrong == NULL;
}

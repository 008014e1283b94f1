/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack tests' fixture: packets as bytes, written and read without the stack's own code. */
#include "fixture.h"

uint16_t
fx_sum(uint32_t start, const void *b, uint32_t n)
{
	const uint8_t *p = b;
	uint64_t sum = start;

	for (uint32_t i = 0; i < n; i++)
		sum += (i & 1) != 0 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static uint32_t
pseudo(int family, const union ip_addr *src, const union ip_addr *dst, uint8_t proto, uint32_t n)
{
	uint32_t bytes = family == ADDR_INET ? 4 : 16;

	return (uint32_t)fx_sum(0, src->v6, bytes) + fx_sum(0, dst->v6, bytes) + proto +
		(n & 0xffff) + (n >> 16);
}

uint32_t
fx_put_eth(uint8_t *b, const char *dst, const char *src, uint16_t type)
{
	memcpy(b, dst, 6);
	memcpy(b + 6, src, 6);
	put_be16(b + 12, type);
	return 14;
}

uint32_t
fx_put_vlan(uint8_t *b, uint16_t tci, uint16_t type)
{
	put_be16(b, tci);
	put_be16(b + 2, type);
	return 4;
}

uint32_t
fx_put_arp(uint8_t *b, uint16_t op, const char *smac, uint32_t sip, const char *tmac, uint32_t tip)
{
	memcpy(b, "\x00\x01\x08\x00\x06\x04", 6);
	put_be16(b + 6, op);
	memcpy(b + 8, smac, 6);
	memcpy(b + 14, &sip, 4);
	memcpy(b + 18, tmac, 6);
	memcpy(b + 24, &tip, 4);
	return 28;
}

uint32_t
fx_put_ip4(uint8_t *b, const struct fx_ip4 *h, uint32_t len)
{
	uint32_t hlen = 20 + h->opts_len;
	uint32_t src = h->src != 0 ? h->src : fx_ip4("10.0.0.2");
	uint32_t dst = h->dst != 0 ? h->dst : fx_ip4("10.0.0.1");

	assert_true(h->opts_len % 4 == 0 && h->opts_len <= 40);
	b[0] = (uint8_t)(0x40 | hlen / 4);
	b[1] = h->tos;
	put_be16(b + 2, (uint16_t)(hlen + len));
	put_be16(b + 4, h->id);
	put_be16(b + 6, h->frag);
	b[8] = h->ttl != 0 ? h->ttl : 64;
	b[9] = h->proto;
	put_be16(b + 10, 0);
	memcpy(b + 12, &src, 4);
	memcpy(b + 16, &dst, 4);
	if (h->opts_len != 0)
		memcpy(b + 20, h->opts, h->opts_len);
	put_be16(b + 10, (uint16_t)~fx_sum(0, b, hlen));
	return hlen;
}

uint32_t
fx_put_ip6(uint8_t *b, const struct fx_ip6 *h, uint32_t len)
{
	union ip_addr src = h->src, dst = h->dst;

	if (ip_addr_any(&src) && !h->unspec_src)
		src = fx_a6("2001:db8::2");
	if (ip_addr_any(&dst))
		dst = fx_a6("2001:db8::1");
	put_be32(b, 6u << 28 | (uint32_t)h->tc << 20);
	put_be16(b + 4, (uint16_t)len);
	b[6] = h->next;
	b[7] = h->hop != 0 || h->hop_zero ? h->hop : 64;
	memcpy(b + 8, src.v6, 16);
	memcpy(b + 24, dst.v6, 16);
	return 40;
}

uint32_t
fx_put_udp(uint8_t *b, int family, const union ip_addr *src, const union ip_addr *dst,
	uint16_t sport, uint16_t dport, const void *data, uint32_t n)
{
	uint16_t sum;

	put_be16(b, sport);
	put_be16(b + 2, dport);
	put_be16(b + 4, (uint16_t)(8 + n));
	put_be16(b + 6, 0);
	if (n > 0)
		memcpy(b + 8, data, n);
	sum = (uint16_t)~fx_sum(pseudo(family, src, dst, 17, 8 + n), b, 8 + n);
	put_be16(b + 6, sum != 0 ? sum : 0xffff);
	return 8 + n;
}

static void
put_icmp(uint8_t *b, uint8_t type, uint8_t code, uint32_t rest, const void *data, uint32_t n)
{
	b[0] = type;
	b[1] = code;
	put_be16(b + 2, 0);
	put_be32(b + 4, rest);
	if (n > 0)
		memcpy(b + 8, data, n);
}

uint32_t
fx_put_icmp4(uint8_t *b, uint8_t type, uint8_t code, uint32_t rest, const void *data, uint32_t n)
{
	put_icmp(b, type, code, rest, data, n);
	put_be16(b + 2, (uint16_t)~fx_sum(0, b, 8 + n));
	return 8 + n;
}

uint32_t
fx_put_icmp6(uint8_t *b, const union ip_addr *src, const union ip_addr *dst, uint8_t type,
	uint8_t code, uint32_t rest, const void *data, uint32_t n)
{
	put_icmp(b, type, code, rest, data, n);
	put_be16(b + 2, (uint16_t)~fx_sum(pseudo(ADDR_INET6, src, dst, 58, 8 + n), b, 8 + n));
	return 8 + n;
}

static void
read_ip(struct fx_pkt *p)
{
	uint8_t *h = p->l3;

	if (p->type == ETHERTYPE_IP4 && p->l3_len >= 20) {
		p->family = ADDR_INET;
		p->tos = h[1];
		p->id = get_be16(h + 4);
		p->frag = get_be16(h + 6);
		p->ttl = h[8];
		p->proto = h[9];
		memcpy(&p->src.v4, h + 12, 4);
		memcpy(&p->dst.v4, h + 16, 4);
		p->l4 = h + (h[0] & 15) * 4;
		p->l4_len = get_be16(h + 2) - (h[0] & 15u) * 4;
	} else if (p->type == ETHERTYPE_IP6 && p->l3_len >= 40) {
		p->family = ADDR_INET6;
		p->tos = (uint8_t)(get_be16(h) >> 4);
		p->proto = h[6];
		p->ttl = h[7];
		p->src = ip_addr_v6(h + 8);
		p->dst = ip_addr_v6(h + 24);
		p->l4 = h + 40;
		p->l4_len = get_be16(h + 4);
	}
}

bool
fx_pop(struct fx *f, struct fx_pkt *p)
{
	struct rte_mbuf *head, *m;
	uint32_t at = 14;

	if (fx_tx_count(f) == 0)
		return false;
	head = m = f->tx[0];
	f->tx_n--;
	memmove(f->tx, f->tx + 1, f->tx_n * sizeof(f->tx[0]));
	memset(p, 0, sizeof(*p));
	p->n = shim_buf_len(m);
	p->ol_flags = m->ol_flags;
	p->vlan_tci = m->vlan_tci;
	p->nb_segs = m->nb_segs;
	assert_in_range(p->n, 14, FX_FRAME_MAX);
	for (uint32_t off = 0; m != NULL && off < p->n; off += shim_buf_seg_len(m), m = m->next)
		memcpy(p->b + off, shim_buf_data(m), shim_buf_seg_len(m));
	shim_buf_free(f->shim, head);
	p->dst_mac = p->b;
	p->src_mac = p->b + 6;
	p->type = get_be16(p->b + 12);
	if (p->type == ETHERTYPE_VLAN) {
		p->vlan = get_be16(p->b + 14) & 0xfff;
		p->type = get_be16(p->b + 16);
		at = 18;
	}
	p->l3 = p->b + at;
	p->l3_len = p->n - at;
	read_ip(p);
	return true;
}

static void
check_sums(const struct fx_pkt *p)
{
	bool fragment = p->family == ADDR_INET && (p->frag & 0x3fff) != 0;

	assert_true(p->l4 + p->l4_len <= p->b + p->n);
	if (p->family == ADDR_INET && (p->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) == 0)
		assert_int_equal(fx_sum(0, p->l3, (p->l3[0] & 15u) * 4), 0xffff);
	if (fragment || (p->ol_flags & RTE_MBUF_F_TX_L4_MASK) != 0)
		return;
	if (p->proto == 1 && p->family == ADDR_INET)
		assert_int_equal(fx_sum(0, p->l4, p->l4_len), 0xffff);
	else if (p->proto == 17 || (p->proto == 58 && p->family == ADDR_INET6))
		assert_int_equal(fx_sum(pseudo(p->family, &p->src, &p->dst, p->proto, p->l4_len),
			p->l4, p->l4_len), 0xffff);
}

void
fx_expect(struct fx *f, uint16_t type, struct fx_pkt *p)
{
	assert_true(fx_pop(f, p));
	assert_int_equal(p->type, type);
	if (p->family != 0)
		check_sums(p);
}

void
fx_expect_arp(struct fx *f, const char *to, uint16_t op, uint32_t sip, const char *tmac, uint32_t tip)
{
	struct fx_pkt p;

	fx_expect(f, ETHERTYPE_ARP, &p);
	assert_memory_equal(p.dst_mac, to, 6);
	assert_true(p.l3_len >= 28);
	assert_memory_equal(p.l3, "\x00\x01\x08\x00\x06\x04", 6);
	assert_int_equal(get_be16(p.l3 + 6), op);
	assert_memory_equal(p.l3 + 8, p.src_mac, 6);
	assert_memory_equal(p.l3 + 14, &sip, 4);
	if (tmac != NULL)
		assert_memory_equal(p.l3 + 18, tmac, 6);
	assert_memory_equal(p.l3 + 24, &tip, 4);
}

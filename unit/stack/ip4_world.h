/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the IPv4 tests share: one stack with one interface (10.0.0.1/24) over the mock door, a neighbour 10.0.0.2 that
 * is known, frames the stack sent, and what it handed to UDP (udp_input and udp_error are wrapped by the linker).
 */
#ifndef NONIC_UNIT_STACK_IP4_WORLD_H
#define NONIC_UNIT_STACK_IP4_WORLD_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/stack/ip/ip_reass.h"
#include "core/stack/priv.h"
#include "shim/host/mock/mock.h"

#define A(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define US A(10, 0, 0, 1)
#define PEER A(10, 0, 0, 2)
#define FAR A(192, 0, 2, 7)
#define POOL_BUFS 1024
#define TX_MAX 1024
#define UP_MAX 512

struct world {
	struct shim *shim;
	struct shim_pool *pool;
	struct stack *s;
	struct netif *nif;
	unsigned int ntx;             /* frames sent */
	struct rte_mbuf *tx[TX_MAX];
	unsigned int nup;             /* datagrams handed to UDP */
	struct rte_mbuf *up[UP_MAX];
	struct ip_rx rx[UP_MAX];
	unsigned int nerr;            /* errors handed to UDP */
	struct ip_error err;          /* the last one */
	uint8_t err_l4[20];
	bool answer_unreachable;      /* UDP says that no port is open */
	bool reply_once;              /* UDP sends one datagram back to itself */
};

static struct world W;

void __wrap_udp_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m);
void __wrap_udp_error(struct stack *s, const struct ip_error *e);

void
__wrap_udp_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	assert_true(s == W.s);
	assert_true(W.nup < UP_MAX);
	assert_int_equal(shim_buf_len(m), rx->l4_off + rx->l4_len);
	assert_true(m->data_len >= rx->l4_off + (rx->l4_len < 20 ? rx->l4_len : 20));
	if (W.answer_unreachable)
		ip_send_unreach(s, rx, IP_UNREACH_PORT, m);
	W.rx[W.nup] = *rx;
	W.up[W.nup++] = m;
}

void
__wrap_udp_error(struct stack *s, const struct ip_error *e)
{
	assert_true(s == W.s);
	assert_true(e->l4_len >= 8);
	W.nerr++;
	W.err = *e;
	memcpy(W.err_l4, e->l4, e->l4_len < sizeof(W.err_l4) ? e->l4_len : sizeof(W.err_l4));
}

static unsigned int
take_frames(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	(void)ctx;
	assert_true(W.ntx + n <= TX_MAX);
	memcpy(&W.tx[W.ntx], m, n * sizeof(*m));
	W.ntx += n;
	return n;
}

/* Forgets what was sent and handed up. */
static void
world_clear(void)
{
	stack_flush(W.s);
	while (W.ntx > 0)
		shim_buf_free(W.shim, W.tx[--W.ntx]);
	while (W.nup > 0)
		shim_buf_free(W.shim, W.up[--W.nup]);
	W.nerr = 0;
}

static void
world_know(uint32_t addr)
{
	static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
	union ip_addr a = ip_addr_v4(addr);

	assert_int_equal(neigh_set_permanent(W.s, W.nif, ADDR_INET, &a, mac), 0);
}

/* bufs of data_room bytes; the interface takes these offloads and has this MTU. */
static void
world_up(unsigned int bufs, uint16_t data_room, uint64_t offloads, uint16_t mtu, uint32_t watermark)
{
	struct stack_config cfg = { .secrets = { .table = { 1, 2 }, .ip_id = { 3, 4 } }, .max_sockets = 16,
		.buf_low_watermark = watermark };
	struct netif_config nc = { .name = "f-stack-0", .mac = { 2, 0, 0, 0, 0, 1 }, .mtu = mtu,
		.tx_offloads = offloads, .tx = take_frames, .no_link_local = true };

	memset(&W, 0, sizeof(W));
	W.shim = mock_shim_new_bare();
	assert_int_equal(shim_pool_create(W.shim, "bufs", bufs, data_room, &W.pool), 0);
	cfg.shim = W.shim;
	cfg.pool = W.pool;
	assert_int_equal(stack_create(&cfg, &W.s), 0);
	stack_poll(W.s, 1000000000);
	assert_int_equal(stack_if_add(W.s, &nc, &W.nif), 0);
	assert_int_equal(stack_addr4_add(W.s, W.nif, US, 24, 0), 0);
	world_know(PEER);
	world_clear();
}

static int
world_setup(void **state)
{
	(void)state;
	world_up(POOL_BUFS, 2176, 0, 1500, 0);
	return 0;
}

static int
world_setup_offload(void **state)
{
	(void)state;
	world_up(POOL_BUFS, 2176, SHIM_TX_IPV4_CKSUM | SHIM_TX_UDP_CKSUM | SHIM_TX_TCP_CKSUM | SHIM_TX_MULTI_SEGS,
		1500, 0);
	return 0;
}

/* Every buffer and every block of memory is back, or the test fails. */
static int
world_teardown(void **state)
{
	(void)state;
	world_clear();
	stack_destroy(W.s);
	if (shim_pool_avail(W.shim, W.pool) != shim_pool_size(W.shim, W.pool))
		return -1;
	return mock_shim_free(W.shim) == 0 ? 0 : -1;
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
#define world_test_offload(f) cmocka_unit_test_setup_teardown(f, world_setup_offload, world_teardown)

static uint64_t
drops(enum stack_drop r)
{
	return stack_drops(W.s, r);
}

static uint64_t
all_drops(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < STACK_DROP_COUNT; i++)
		n += stack_drops(W.s, i);
	return n;
}

/* ---- packets as bytes ---- */

struct pkt {
	uint32_t len;
	uint8_t b[66000];
};

/* A header (with noptions bytes of options) and n payload bytes that count up; checksum right. */
static void
pkt_init(struct pkt *p, uint32_t src, uint32_t dst, uint8_t proto, uint32_t n, const uint8_t *options,
	unsigned int noptions)
{
	struct ip4_hdr *h = (struct ip4_hdr *)p->b;
	unsigned int hlen = 20 + noptions;

	memset(p->b, 0, hlen);
	p->len = hlen + n;
	h->ver_ihl = (uint8_t)(0x40 | hlen / 4);
	h->total_len = be16((uint16_t)p->len);
	h->id = be16(77);
	h->ttl = 64;
	h->proto = proto;
	h->src = src;
	h->dst = dst;
	if (noptions != 0)
		memcpy(p->b + 20, options, noptions);
	for (uint32_t i = 0; i < n; i++)
		p->b[hlen + i] = (uint8_t)(i * 7 + i / 256);
	h->csum = ip4_header_csum(h, hlen);
}

static struct ip4_hdr *
pkt_hdr(struct pkt *p)
{
	return (struct ip4_hdr *)p->b;
}

/* The header was changed: its checksum again. */
static void
pkt_seal(struct pkt *p)
{
	struct ip4_hdr *h = pkt_hdr(p);

	h->csum = 0;
	h->csum = ip4_header_csum(h, (h->ver_ihl & 15) * 4);
}

/* UDP header in the payload's first 8 bytes (checksum 0). */
static void
pkt_udp(struct pkt *p, uint16_t sport, uint16_t dport)
{
	uint8_t *u = p->b + (p->b[0] & 15) * 4;

	put_be16(u, sport);
	put_be16(u + 2, dport);
	put_be16(u + 4, (uint16_t)(p->len - (p->b[0] & 15) * 4));
	put_be16(u + 6, 0);
}

/* A buffer chain of the bytes, seg bytes a segment (0: as few as can be). */
static struct rte_mbuf *
pkt_buf_seg(const void *bytes, uint32_t len, uint32_t seg)
{
	struct rte_mbuf *head = NULL, *m;
	uint32_t off = 0, room = shim_pool_data_room(W.shim, W.pool) - 128u, n;

	if (seg == 0 || seg > room)
		seg = room;
	do {
		m = shim_buf_alloc(W.shim, W.pool);
		assert_non_null(m);
		n = len - off < seg ? len - off : seg;
		memcpy(shim_buf_append(m, (uint16_t)n), (const uint8_t *)bytes + off, n);
		if (head == NULL)
			head = m;
		else
			assert_int_equal(shim_buf_chain(head, m), 0);
		off += n;
	} while (off < len);
	return head;
}

static void
pkt_in(const struct pkt *p)
{
	ip4_input(W.s, W.nif, pkt_buf_seg(p->b, p->len, 0));
}

/* The bytes of a buffer, and their number. */
static uint32_t
buf_bytes(const struct rte_mbuf *m, uint8_t *out)
{
	uint32_t n = 0;
	unsigned int segs = 0;
	uint32_t all = shim_buf_len(m);

	assert_true(all <= 66000);
	for (const struct rte_mbuf *q = m; q != NULL; q = q->next) {
		memcpy(out + n, rte_pktmbuf_mtod(q, const uint8_t *), q->data_len);
		n += q->data_len;
		segs++;
	}
	assert_int_equal(n, all);
	assert_int_equal(segs, m->nb_segs);
	return n;
}

/* The i-th frame sent, without its Ethernet header; its MAC and EtherType checked; IP header checksum too. */
static void
tx_packet(unsigned int i, struct pkt *p)
{
	static uint8_t frame[66000];
	uint32_t n;

	stack_flush(W.s);
	assert_true(i < W.ntx);
	n = buf_bytes(W.tx[i], frame);
	assert_true(n >= 34);
	assert_int_equal(get_be16(frame + 12), ETHERTYPE_IP4);
	assert_int_equal(frame[6 + 5], 1);
	p->len = n - 14;
	memcpy(p->b, frame + 14, p->len);
	assert_int_equal(be16(pkt_hdr(p)->total_len), p->len);
	if ((W.tx[i]->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) == 0)
		assert_int_equal(ip4_header_csum(pkt_hdr(p), 20), 0);
}

static unsigned int
tx_count(void)
{
	stack_flush(W.s);
	return W.ntx;
}

/* The path to dst; must exist. */
static struct ip_path
path_to(uint32_t dst)
{
	union ip_addr d = ip_addr_v4(dst);
	struct ip_path p;

	assert_int_equal(ip_path_lookup(W.s, ADDR_INET, &d, NULL, NULL, &p), 0);
	assert_true(ip_path_valid(W.s, &p));
	return p;
}

/* A buffer with n payload bytes that count as pkt_init's do, seg bytes a segment. */
static struct rte_mbuf *
payload(uint32_t n, uint32_t seg)
{
	static struct pkt p;

	pkt_init(&p, US, PEER, IP_PROTO_UDP, n, NULL, 0);
	return pkt_buf_seg(p.b + 20, n, seg);
}

#endif

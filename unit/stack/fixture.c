/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack tests' fixture: one stack, one interface, frames in and out. */
#include "fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>

uint32_t
fx_ip4(const char *text)
{
	uint32_t be;

	assert_int_equal(inet_pton(AF_INET, text, &be), 1);
	return be;
}

union ip_addr
fx_a4(const char *text)
{
	return ip_addr_v4(fx_ip4(text));
}

union ip_addr
fx_a6(const char *text)
{
	union ip_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, a.v6), 1);
	return a;
}

static unsigned int
collect(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct fx *f = ctx;
	unsigned int i;

	f->tx_calls++;
	for (i = 0; i < n && f->tx_room > 0; i++) {
		assert_true(f->tx_n < FX_TX_MAX);
		f->tx[f->tx_n++] = m[i];
		if (f->tx_room != UINT32_MAX)
			f->tx_room--;
	}
	return i;
}

struct netif *
fx_add_if(struct fx *f, const char *name, const char *mac, uint16_t vlan, struct netif *parent)
{
	struct netif_config c = { .mtu = 1500, .vlan = vlan, .parent = parent, .tx = collect,
		.tx_ctx = f };
	struct netif *nif;

	strncpy(c.name, name, sizeof(c.name) - 1);
	memcpy(c.mac, mac, 6);
	assert_int_equal(stack_if_add(f->s, &c, &nif), 0);
	return nif;
}

static void
add_first_if(struct fx *f, const struct fx_opts *o)
{
	struct netif_config c = {
		.name = "f-stack-0", .mac = FX_MAC, .mtu = o->mtu != 0 ? o->mtu : 1500,
		.tx_offloads = o->tx_offloads, .tx = collect, .tx_ctx = f,
		.accept_ra = o->accept_ra, .no_link_local = o->no_link_local,
		.dad_transmits = o->dad_transmits,
	};
	union ip_addr a6 = fx_a6("2001:db8::1");

	assert_int_equal(stack_if_add(f->s, &c, &f->nif), 0);
	if (!o->no_addr4)
		assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.1"), 24, 0), 0);
	if (!o->no_addr6)
		assert_int_equal(stack_addr6_add(f->s, f->nif, &a6, 64), 0);
}

struct fx *
fx_new(const struct fx_opts *opts)
{
	struct fx_opts o = { 0 };
	struct stack_config c = {
		.secrets = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 }, { 9, 10 }, { 11, 12 } },
	};
	struct fx *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	if (opts != NULL)
		o = *opts;
	f->tx_room = UINT32_MAX;
	f->shim = mock_shim_new();
	f->now = shim_clock_sample(f->shim);
	assert_int_equal(shim_pool_create(f->shim, "fx", o.bufs != 0 ? o.bufs : 1024,
		o.data_room != 0 ? o.data_room : 2176, &f->pool), 0);
	c.shim = f->shim;
	c.pool = f->pool;
	c.buf_low_watermark = o.buf_low_watermark;
	c.max_sockets = o.max_sockets;
	c.max_neighbours = o.max_neighbours;
	assert_int_equal(stack_create(&c, &f->s), 0);
	add_first_if(f, &o);
	if (o.dad_transmits == 0 && !o.accept_ra)
		fx_advance(f, 2 * FX_NS); /* group reports are repeated within a second */
	fx_poll(f);
	fx_tx_clear(f);
	return f;
}

void
fx_free(struct fx *f)
{
	fx_tx_clear(f);
	stack_destroy(f->s);
	assert_int_equal(shim_pool_avail(f->shim, f->pool), shim_pool_size(f->shim, f->pool));
	shim_pool_free(f->shim, f->pool);
	assert_int_equal(mock_shim_free(f->shim), 0);
	free(f);
}

int
fx_setup(void **state)
{
	*state = fx_new(NULL);
	return 0;
}

int
fx_teardown(void **state)
{
	fx_free(*state);
	return 0;
}

void
fx_know_peer(struct fx *f)
{
	union ip_addr a4 = fx_a4("10.0.0.2"), a6 = fx_a6("2001:db8::2");
	const uint8_t *mac = (const uint8_t *)FX_PEER_MAC;

	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &a4, mac), 0);
	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET6, &a6, mac), 0);
}

void
fx_poll(struct fx *f)
{
	mock_set_clock_ns(f->shim, f->now);
	shim_clock_sample(f->shim);
	stack_poll(f->s, f->now);
	stack_flush(f->s);
}

void
fx_advance(struct fx *f, uint64_t ns)
{
	uint64_t end = f->now + ns, at;
	unsigned int same = 0;

	while ((at = stack_next_deadline(f->s)) <= end) {
		assert_true(at >= f->now);
		same = at == f->now ? same + 1 : 0;
		assert_true(same < 1000); /* a deadline that does not go away */
		f->now = at;
		fx_poll(f);
	}
	f->now = end;
	fx_poll(f);
}

struct rte_mbuf *
fx_buf(struct fx *f, const void *b, uint32_t n, uint32_t seg)
{
	const uint8_t *p = b;
	struct rte_mbuf *head = NULL;

	do {
		struct rte_mbuf *m = shim_buf_alloc(f->shim, f->pool);
		uint32_t part = n;

		assert_non_null(m);
		if (part > shim_buf_tailroom(m))
			part = shim_buf_tailroom(m);
		if (seg != 0 && part > seg)
			part = seg;
		memcpy(shim_buf_append(m, (uint16_t)part), p, part);
		p += part;
		n -= part;
		if (head == NULL)
			head = m;
		else
			assert_int_equal(shim_buf_chain(head, m), 0);
	} while (n > 0);
	return head;
}

void
fx_inject_segs(struct fx *f, const void *b, uint32_t n, uint32_t seg)
{
	struct rte_mbuf *m = fx_buf(f, b, n, seg);

	stack_input(f->s, f->nif, &m, 1);
}

void
fx_inject(struct fx *f, const void *b, uint32_t n)
{
	fx_inject_segs(f, b, n, 0);
}

void
fx_rx_ip4(struct fx *f, const struct fx_ip4 *h, const void *data, uint32_t n)
{
	uint8_t b[FX_FRAME_MAX];
	uint32_t at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP4);

	at += fx_put_ip4(b + at, h, n);
	memcpy(b + at, data, n);
	fx_inject(f, b, at + n);
}

void
fx_rx_ip6(struct fx *f, const struct fx_ip6 *h, const void *data, uint32_t n)
{
	uint8_t b[FX_FRAME_MAX];
	uint32_t at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP6);

	at += fx_put_ip6(b + at, h, n);
	memcpy(b + at, data, n);
	fx_inject(f, b, at + n);
}

void
fx_rx_arp(struct fx *f, uint16_t op, const char *smac, uint32_t sip, const char *tmac, uint32_t tip)
{
	uint8_t b[64] = { 0 };
	uint32_t at = fx_put_eth(b, op == 1 ? FX_BCAST_MAC : FX_MAC, smac, ETHERTYPE_ARP);

	fx_put_arp(b + at, op, smac, sip, tmac, tip);
	fx_inject(f, b, 60); /* padded as on the wire */
}

void
fx_rx_udp4(struct fx *f, uint16_t sport, uint16_t dport, const void *data, uint32_t n)
{
	union ip_addr src = fx_a4("10.0.0.2"), dst = fx_a4("10.0.0.1");
	struct fx_ip4 h = { .proto = 17 };
	uint8_t b[FX_FRAME_MAX];

	fx_rx_ip4(f, &h, b, fx_put_udp(b, ADDR_INET, &src, &dst, sport, dport, data, n));
}

void
fx_rx_udp6(struct fx *f, uint16_t sport, uint16_t dport, const void *data, uint32_t n)
{
	union ip_addr src = fx_a6("2001:db8::2"), dst = fx_a6("2001:db8::1");
	struct fx_ip6 h = { .next = 17 };
	uint8_t b[FX_FRAME_MAX];

	fx_rx_ip6(f, &h, b, fx_put_udp(b, ADDR_INET6, &src, &dst, sport, dport, data, n));
}

unsigned int
fx_tx_count(struct fx *f)
{
	stack_flush(f->s);
	return f->tx_n;
}

void
fx_tx_clear(struct fx *f)
{
	stack_flush(f->s);
	for (unsigned int i = 0; i < f->tx_n; i++)
		shim_buf_free(f->shim, f->tx[i]);
	f->tx_n = 0;
}

void
fx_expect_none(struct fx *f)
{
	assert_int_equal(fx_tx_count(f), 0);
}

uint64_t
fx_drops(const struct fx *f, enum stack_drop r)
{
	return stack_drops(f->s, r);
}

uint64_t
fx_all_drops(const struct fx *f)
{
	uint64_t n = 0;

	for (unsigned int r = 0; r < STACK_DROP_COUNT; r++)
		n += stack_drops(f->s, (enum stack_drop)r);
	return n;
}

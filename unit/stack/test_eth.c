/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet in and out: who takes a frame, what is dropped, what a sent frame looks like. */
#include "fixture.h"

/* An ARP request for us, as a probe that the frame came through: it is always answered. */
static uint32_t
arp_for_us(uint8_t *b, const char *dst)
{
	uint32_t n = fx_put_eth(b, dst, FX_PEER_MAC, ETHERTYPE_ARP);

	return n + fx_put_arp(b + n, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), FX_MAC, fx_ip4("10.0.0.1"));
}

static void
takes_unicast_broadcast_and_multicast(void **state)
{
	struct fx *f = *state;
	uint8_t b[64];

	fx_inject(f, b, arp_for_us(b, FX_MAC));
	fx_inject(f, b, arp_for_us(b, FX_BCAST_MAC));
	fx_inject(f, b, arp_for_us(b, "\x01\x00\x5e\x00\x00\x01"));
	assert_int_equal(fx_tx_count(f), 3);
	assert_int_equal(f->nif->stats.rx_packets, 3);
	assert_int_equal(f->nif->stats.rx_bytes, 3 * 42);
	assert_int_equal(fx_all_drops(f), 0);
}

/* STK-2 */
static void
frame_for_another_station_is_dropped_unless_promiscuous(void **state)
{
	struct fx *f = *state;
	uint8_t b[64];

	fx_inject(f, b, arp_for_us(b, "\x02\x00\x00\x00\x00\x77"));
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_ETH_NOT_FOR_US), 1);
	assert_int_equal(f->nif->stats.rx_dropped, 1);
	f->nif->flags |= NETIF_PROMISC;
	fx_inject(f, b, arp_for_us(b, "\x02\x00\x00\x00\x00\x77"));
	assert_int_equal(fx_tx_count(f), 1);
}

/* STK-8 */
static void
short_and_unknown_frames_are_counted(void **state)
{
	struct fx *f = *state;
	uint8_t b[64] = { 0 };
	uint32_t n;

	for (n = 1; n < 14; n++)
		fx_inject(f, b, n);
	assert_int_equal(fx_drops(f, STACK_DROP_ETH_SHORT), 13);
	n = fx_put_eth(b, FX_MAC, FX_PEER_MAC, 0x88cc);
	fx_inject(f, b, n + 20);
	fx_put_eth(b, FX_MAC, FX_PEER_MAC, 40); /* an 802.3 length */
	fx_inject(f, b, n + 40);
	assert_int_equal(fx_drops(f, STACK_DROP_ETH_TYPE_UNKNOWN), 2);
	assert_int_equal(fx_all_drops(f), 15);
}

static void
header_over_several_segments(void **state)
{
	struct fx *f = *state;
	uint8_t b[64];
	uint32_t n = arp_for_us(b, FX_MAC);

	for (uint32_t seg = 1; seg < 20; seg++)
		fx_inject_segs(f, b, n, seg);
	assert_int_equal(fx_tx_count(f), 19);
	fx_inject_segs(f, b, 13, 5);
	assert_int_equal(fx_drops(f, STACK_DROP_ETH_SHORT), 1);
}

static void
header_in_pieces_without_a_buffer_to_join_them(void **state)
{
	struct fx *f = *state;
	struct rte_mbuf *m;
	uint8_t b[64];

	m = fx_buf(f, b, arp_for_us(b, FX_MAC), 10);
	mock_fail_all(f->shim, MOCK_OP_buf_alloc, ENOMEM);
	stack_input(f->s, f->nif, &m, 1);
	fx_expect_none(f);
	assert_true(fx_drops(f, STACK_DROP_NO_BUFFER) > 0);
}

static void
interface_that_is_down_receives_nothing(void **state)
{
	struct fx *f = *state;
	uint8_t b[64];

	f->nif->flags &= ~(uint32_t)NETIF_UP;
	fx_inject(f, b, arp_for_us(b, FX_MAC));
	arp_announce(f->s, f->nif, fx_ip4("10.0.0.1"));
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_IF_DOWN), 2);
	f->nif->flags |= NETIF_UP;
}

static void
output_prepends_the_header(void **state)
{
	static const char payload[] = "some payload of some length";
	struct fx *f = *state;
	struct rte_mbuf *m = fx_buf(f, payload, sizeof(payload), 0);
	uint64_t before = f->nif->stats.tx_packets, bytes = f->nif->stats.tx_bytes;
	struct fx_pkt p;

	eth_output(f->s, f->nif, m, (const uint8_t *)FX_PEER_MAC, 0x1234);
	assert_int_equal(m->l2_len, 14);
	assert_true(fx_pop(f, &p));
	assert_int_equal(p.n, 14 + sizeof(payload));
	assert_memory_equal(p.dst_mac, FX_PEER_MAC, 6);
	assert_memory_equal(p.src_mac, FX_MAC, 6);
	assert_int_equal(p.type, 0x1234);
	assert_memory_equal(p.l3, payload, sizeof(payload));
	assert_int_equal(f->nif->stats.tx_packets, before + 1);
	assert_int_equal(f->nif->stats.tx_bytes, bytes + p.n);
}

/* Data that is shared keeps what is before it. */
static void
output_of_shared_or_tight_data_uses_another_buffer(void **state)
{
	struct fx *f = *state;
	struct rte_mbuf *m = fx_buf(f, "abcdefgh", 8, 0), *c;
	struct fx_pkt p;

	f->nif->cfg.tx_offloads |= SHIM_TX_MULTI_SEGS;
	c = shim_buf_clone(f->shim, m, f->pool);
	memset((uint8_t *)shim_buf_data(m) - 14, 0xee, 14);
	eth_output(f->s, f->nif, c, (const uint8_t *)FX_PEER_MAC, 0x1234);
	eth_output(f->s, f->nif, m, (const uint8_t *)FX_PEER_MAC, 0x1235);
	assert_int_equal(((uint8_t *)shim_buf_data(m))[-1], 0xee);
	for (uint16_t type = 0x1234; type <= 0x1235; type++) {
		assert_true(fx_pop(f, &p));
		assert_int_equal(p.type, type);
		assert_int_equal(p.n, 22);
		assert_int_equal(p.nb_segs, 2);
		assert_memory_equal(p.l3, "abcdefgh", 8);
	}
	f->nif->cfg.tx_offloads = 0; /* a port that takes no chains gets a copy */
	m = fx_buf(f, "abcdefgh", 8, 0);
	assert_non_null(shim_buf_prepend(m, shim_buf_headroom(m)));
	eth_output(f->s, f->nif, m, (const uint8_t *)FX_PEER_MAC, 0x1236);
	assert_true(fx_pop(f, &p));
	assert_int_equal(p.nb_segs, 1);
	assert_int_equal(p.n, 14 + 128 + 8);
}

static void
output_without_a_buffer_for_the_header(void **state)
{
	struct fx *f = *state;
	struct rte_mbuf *m = fx_buf(f, "abcdefgh", 8, 0);

	assert_non_null(shim_buf_prepend(m, shim_buf_headroom(m)));
	mock_fail_buf_at(f->shim, 1);
	eth_output(f->s, f->nif, m, (const uint8_t *)FX_PEER_MAC, 0x1236);
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_NO_BUFFER), 1);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(takes_unicast_broadcast_and_multicast),
		T(frame_for_another_station_is_dropped_unless_promiscuous),
		T(short_and_unknown_frames_are_counted),
		T(header_over_several_segments),
		T(header_in_pieces_without_a_buffer_to_join_them),
		T(interface_that_is_down_receives_nothing),
		T(output_prepends_the_header),
		T(output_of_shared_or_tight_data_uses_another_buffer),
		T(output_without_a_buffer_for_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

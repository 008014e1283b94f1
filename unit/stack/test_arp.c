/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP: questions for us, what is learned from whom, conflicts, what is dropped. */
#include "fixture.h"

#define OTHER_MAC "\x02\x00\x00\x00\x00\x03"
#define NO_MAC "\0\0\0\0\0\0"

static struct neigh *
known(struct fx *f, const char *ip)
{
	union ip_addr a = fx_a4(ip);

	return neigh_lookup(f->s, f->nif, ADDR_INET, &a);
}

static int
setup(void **state)
{
	struct fx_opts o = { .no_link_local = true, .no_addr6 = true };

	*state = fx_new(&o);
	return 0;
}

/* STK-2 */
static void
request_for_our_address_is_answered_and_learned(void **state)
{
	struct fx *f = *state;

	fx_rx_arp(f, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.1"));
	fx_expect_arp(f, FX_PEER_MAC, 2, fx_ip4("10.0.0.1"), FX_PEER_MAC, fx_ip4("10.0.0.2"));
	assert_non_null(known(f, "10.0.0.2"));
	assert_int_equal(known(f, "10.0.0.2")->state, NEIGH_STALE);
	assert_memory_equal(known(f, "10.0.0.2")->mac, FX_PEER_MAC, 6);
	assert_int_equal(fx_all_drops(f), 0);
}

static void
request_for_others_is_ignored_and_teaches_nothing(void **state)
{
	struct fx *f = *state;

	fx_rx_arp(f, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.9"));
	fx_expect_none(f);
	assert_null(known(f, "10.0.0.2"));
	fx_rx_arp(f, 2, FX_PEER_MAC, fx_ip4("10.0.0.2"), FX_MAC, fx_ip4("10.0.0.1"));
	assert_null(known(f, "10.0.0.2")); /* an answer that nobody asked for */
}

static void
sender_of_another_prefix_is_answered_but_not_learned(void **state)
{
	struct fx *f = *state;

	fx_rx_arp(f, 1, FX_PEER_MAC, fx_ip4("192.168.1.2"), NO_MAC, fx_ip4("10.0.0.1"));
	fx_expect_arp(f, FX_PEER_MAC, 2, fx_ip4("10.0.0.1"), FX_PEER_MAC, fx_ip4("192.168.1.2"));
	assert_null(known(f, "192.168.1.2"));
}

/* RFC 5227 2.1.1: a probe has no sender address. */
static void
probe_is_answered(void **state)
{
	struct fx *f = *state;

	fx_rx_arp(f, 1, FX_PEER_MAC, 0, NO_MAC, fx_ip4("10.0.0.1"));
	fx_expect_arp(f, FX_PEER_MAC, 2, fx_ip4("10.0.0.1"), FX_PEER_MAC, 0);
	assert_int_equal(f->s->neigh.count, 0);
}

/* STK-2: checklist 55 */
static void
arp_request_rate_1_per_s_queue_bounded_entry_updated_only_if_existing(void **state)
{
	struct fx *f = *state;
	union ip_addr peer = fx_a4("10.0.0.2");
	struct neigh *n = neigh_get(f->s, f->nif, ADDR_INET, &peer);

	for (int i = 0; i < NEIGH_QUEUE + 5; i++)
		neigh_output(f->s, n, fx_buf(f, "0123456789012345678901234567890123456789", 40, 0));
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NO_MAC, fx_ip4("10.0.0.2"));
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_QUEUE_FULL), 5);
	fx_advance(f, FX_NS - 2 * FX_MS);
	neigh_output(f->s, n, fx_buf(f, "0123456789012345678901234567890123456789", 40, 0));
	fx_expect_none(f);
	fx_advance(f, 5 * FX_MS);
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NO_MAC, fx_ip4("10.0.0.2"));
	fx_expect_none(f);

	/* A stranger's gratuitous ARP makes no entry; the one we wait for updates ours. */
	fx_rx_arp(f, 1, OTHER_MAC, fx_ip4("10.0.0.3"), NO_MAC, fx_ip4("10.0.0.3"));
	assert_null(known(f, "10.0.0.3"));
	fx_rx_arp(f, 2, FX_PEER_MAC, fx_ip4("10.0.0.2"), FX_MAC, fx_ip4("10.0.0.1"));
	assert_int_equal(known(f, "10.0.0.2")->state, NEIGH_REACHABLE);
	assert_int_equal(fx_tx_count(f), NEIGH_QUEUE);
}

/* STK-2: checklist 55 */
static void
gratuitous_and_dup_address_handled(void **state)
{
	struct fx *f = *state;

	/* The peer moves to another MAC and says so. */
	fx_rx_arp(f, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.1"));
	fx_tx_clear(f);
	fx_rx_arp(f, 1, OTHER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.2"));
	assert_memory_equal(known(f, "10.0.0.2")->mac, OTHER_MAC, 6);
	assert_int_equal(known(f, "10.0.0.2")->state, NEIGH_STALE);
	fx_expect_none(f);

	/* Somebody claims our address: counted, defended, but not more often than every 10 s. */
	fx_rx_arp(f, 1, OTHER_MAC, fx_ip4("10.0.0.1"), NO_MAC, fx_ip4("10.0.0.1"));
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NO_MAC, fx_ip4("10.0.0.1"));
	assert_int_equal(mock_messages(f->shim, SHIM_LOG_WARNING), 1);
	for (int i = 0; i < 300; i++)
		fx_rx_arp(f, 2, OTHER_MAC, fx_ip4("10.0.0.1"), FX_MAC, fx_ip4("10.0.0.1"));
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_ARP_SPOOF), 301);
	assert_int_equal(f->nif->addr4[0].conflict, UINT8_MAX);
	assert_null(known(f, "10.0.0.1"));
	fx_advance(f, 10 * FX_NS);
	fx_rx_arp(f, 1, OTHER_MAC, fx_ip4("10.0.0.1"), NO_MAC, fx_ip4("10.0.0.7"));
	assert_int_equal(fx_tx_count(f), 1);
}

static void
address_is_announced_when_added(void **state)
{
	struct fx *f = *state;

	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.50"), 32, 0), 0);
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.50"), NO_MAC, fx_ip4("10.0.0.50"));
	fx_rx_arp(f, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.50"));
	fx_expect_arp(f, FX_PEER_MAC, 2, fx_ip4("10.0.0.50"), FX_PEER_MAC, fx_ip4("10.0.0.2"));
}

static void
reject(struct fx *f, uint32_t at, const char *bytes, uint32_t n, uint32_t len)
{
	uint8_t b[64] = { 0 };

	fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_ARP);
	fx_put_arp(b + 14, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.1"));
	memcpy(b + 14 + at, bytes, n);
	fx_inject(f, b, len);
	fx_expect_none(f);
	assert_null(known(f, "10.0.0.2"));
}

/* STK-8 */
static void
malformed_packets_are_dropped_and_counted(void **state)
{
	struct fx *f = *state;

	reject(f, 0, "\x00\x06", 2, 60);         /* hardware type */
	reject(f, 2, "\x86\xdd", 2, 60);         /* protocol type */
	reject(f, 4, "\x08", 1, 60);             /* hardware length */
	reject(f, 5, "\x10", 1, 60);             /* protocol length */
	reject(f, 6, "\x00\x00", 2, 60);         /* operation */
	reject(f, 6, "\x00\x03", 2, 60);
	for (uint32_t len = 14; len < 42; len++) /* cut short */
		reject(f, 0, "\x00", 1, len);
	assert_int_equal(fx_drops(f, STACK_DROP_ARP_MALFORMED), 6 + 28);
}

/* STK-8 */
static void
impossible_senders_are_dropped_and_counted(void **state)
{
	struct fx *f = *state;

	reject(f, 8, "\x03", 1, 60);                     /* a group's MAC */
	reject(f, 8, "\xff\xff\xff\xff\xff\xff", 6, 60);
	reject(f, 8, NO_MAC, 6, 60);
	reject(f, 8, FX_MAC, 6, 60);                     /* our own */
	reject(f, 14, "\xe0\x00\x00\x01", 4, 60);        /* multicast */
	reject(f, 14, "\x7f\x00\x00\x01", 4, 60);        /* loopback */
	reject(f, 14, "\xff\xff\xff\xff", 4, 60);
	reject(f, 14, "\x00\x00\x00\x05", 4, 60);        /* this network */
	assert_int_equal(fx_drops(f, STACK_DROP_ARP_SPOOF), 8);
}

static void
packet_over_several_segments(void **state)
{
	struct fx *f = *state;
	uint8_t b[64];

	fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_ARP);
	fx_put_arp(b + 14, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.1"));
	fx_inject_segs(f, b, 42, 19);
	fx_expect_arp(f, FX_PEER_MAC, 2, fx_ip4("10.0.0.1"), FX_PEER_MAC, fx_ip4("10.0.0.2"));
}

static void
no_buffer_for_an_answer(void **state)
{
	struct fx *f = *state;
	struct rte_mbuf *m;
	uint8_t b[64];

	fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_ARP);
	fx_put_arp(b + 14, 1, FX_PEER_MAC, fx_ip4("10.0.0.2"), NO_MAC, fx_ip4("10.0.0.1"));
	m = fx_buf(f, b, 42, 0);
	mock_fail_buf_at(f->shim, 1);
	stack_input(f->s, f->nif, &m, 1);
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_NO_BUFFER), 1);
}

static void
buffers_too_small_for_a_packet(void **state)
{
	struct fx_opts o = { .no_link_local = true, .no_addr6 = true, .data_room = 128 + 20,
		.no_addr4 = true };
	struct fx *f = fx_new(&o);

	(void)state;
	arp_announce(f->s, f->nif, fx_ip4("10.0.0.1"));
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_NO_BUFFER), 1);
	fx_free(f);
}

static void
question_uses_the_address_of_the_same_prefix(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a4("10.1.0.7"), off = fx_a4("172.16.0.1");
	struct neigh *n;

	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.1.0.1"), 24, 0), 0);
	fx_tx_clear(f);
	n = neigh_get(f->s, f->nif, ADDR_INET, &a);
	arp_solicit(f->s, n, false);
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.1.0.1"), NO_MAC, fx_ip4("10.1.0.7"));
	memcpy(n->mac, FX_PEER_MAC, 6);
	arp_solicit(f->s, n, true);
	fx_expect_arp(f, FX_PEER_MAC, 1, fx_ip4("10.1.0.1"), FX_PEER_MAC, fx_ip4("10.1.0.7"));
	n = neigh_get(f->s, f->nif, ADDR_INET, &off);
	arp_solicit(f->s, n, false);
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NO_MAC, fx_ip4("172.16.0.1"));
	stack_addr4_del(f->s, f->nif, fx_ip4("10.0.0.1"));
	stack_addr4_del(f->s, f->nif, fx_ip4("10.1.0.1"));
	arp_solicit(f->s, n, false);
	fx_expect_none(f);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(request_for_our_address_is_answered_and_learned),
		T(request_for_others_is_ignored_and_teaches_nothing),
		T(sender_of_another_prefix_is_answered_but_not_learned),
		T(probe_is_answered),
		T(arp_request_rate_1_per_s_queue_bounded_entry_updated_only_if_existing),
		T(gratuitous_and_dup_address_handled),
		T(address_is_announced_when_added),
		T(malformed_packets_are_dropped_and_counted),
		T(impossible_senders_are_dropped_and_counted),
		T(packet_over_several_segments),
		T(no_buffer_for_an_answer),
		cmocka_unit_test(buffers_too_small_for_a_packet),
		T(question_uses_the_address_of_the_same_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

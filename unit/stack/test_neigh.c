/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbour cache: states, timers, the table of RFC 4861 7.2.5, the queue, the bound. */
#include "fixture.h"

#define OTHER_MAC "\x02\x00\x00\x00\x00\x03"
#define U8(s) ((const uint8_t *)(s))

static struct neigh *
get(struct fx *f)
{
	union ip_addr a = fx_a4("10.0.0.2");

	return neigh_get(f->s, f->nif, ADDR_INET, &a);
}

static void
send_to(struct fx *f, struct neigh *n)
{
	struct fx_ip4 h = { .src = fx_ip4("10.0.0.1"), .dst = fx_ip4("10.0.0.2"), .proto = 17 };
	union ip_addr src = fx_a4("10.0.0.1"), dst = fx_a4("10.0.0.2");
	uint8_t b[64];
	uint32_t at = fx_put_ip4(b, &h, 12);

	at += fx_put_udp(b + at, ADDR_INET, &src, &dst, 1, 2, "data", 4);
	neigh_output(f->s, n, fx_buf(f, b, at, 0));
}

/* Asserts that what was sent is one IPv4 packet to mac, and nothing else. */
static void
expect_packet(struct fx *f, const char *mac)
{
	struct fx_pkt p;

	fx_expect(f, ETHERTYPE_IP4, &p);
	assert_memory_equal(p.dst_mac, mac, 6);
}

static int
setup(void **state)
{
	struct fx_opts o = { .no_link_local = true, .no_addr6 = true };

	*state = fx_new(&o);
	return 0;
}

static struct neigh *
reachable(struct fx *f)
{
	struct neigh *n = get(f);

	neigh_update(f->s, n, U8(FX_PEER_MAC), true, true);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	return n;
}

/* STK-2: checklist 60 */
static void
nud_reachable_stale_delay_probe_incomplete_timers(void **state)
{
	struct fx *f = *state;
	struct neigh *n = get(f);

	assert_int_equal(n->state, NEIGH_INCOMPLETE);
	send_to(f, n);
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
	fx_rx_arp(f, 2, FX_PEER_MAC, fx_ip4("10.0.0.2"), FX_MAC, fx_ip4("10.0.0.1"));
	assert_int_equal(n->state, NEIGH_REACHABLE);
	expect_packet(f, FX_PEER_MAC);

	fx_advance(f, 29 * FX_NS);
	send_to(f, n);
	expect_packet(f, FX_PEER_MAC);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_advance(f, 2 * FX_NS); /* ReachableTime is 30 s */
	assert_int_equal(n->state, NEIGH_STALE);
	fx_advance(f, 3600 * FX_NS);
	assert_int_equal(n->state, NEIGH_STALE); /* until it is used */
	fx_expect_none(f);

	send_to(f, n);
	expect_packet(f, FX_PEER_MAC);
	assert_int_equal(n->state, NEIGH_DELAY);
	fx_advance(f, 4900 * FX_MS);
	fx_expect_none(f);
	fx_advance(f, 200 * FX_MS);
	assert_int_equal(n->state, NEIGH_PROBE);
	fx_expect_arp(f, FX_PEER_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
	send_to(f, n); /* goes out meanwhile */
	expect_packet(f, FX_PEER_MAC);
	fx_advance(f, 1005 * FX_MS);
	fx_expect_arp(f, FX_PEER_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
	fx_rx_arp(f, 2, FX_PEER_MAC, fx_ip4("10.0.0.2"), FX_MAC, fx_ip4("10.0.0.1"));
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_advance(f, 5 * FX_NS);
	fx_expect_none(f);
}

/* STK-2: checklist 60 */
static void
unreachable_reported_after_3(void **state)
{
	struct fx *f = *state;
	struct neigh *n = get(f);
	uint32_t gen = n->gen, routes = f->s->routes.gen;
	union ip_addr a = fx_a4("10.0.0.2");

	send_to(f, n);
	send_to(f, n);
	for (int i = 0; i < 3; i++) {
		fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
		fx_expect_none(f);
		assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_UNREACHABLE), 0);
		fx_advance(f, 1002 * FX_MS);
	}
	assert_null(neigh_lookup(f->s, f->nif, ADDR_INET, &a));
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_UNREACHABLE), 2);
	assert_int_not_equal(n->gen, gen);
	assert_int_equal(f->s->routes.gen, routes); /* it was nobody's gateway */
	assert_int_equal(f->s->neigh.count, 0);

	/* The next packet asks again. */
	send_to(f, get(f));
	fx_expect_arp(f, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
}

static void
probes_without_an_answer_end_the_entry(void **state)
{
	struct fx *f = *state;
	struct neigh *n = reachable(f);
	uint32_t gen = n->gen;

	fx_advance(f, 31 * FX_NS);
	send_to(f, n);
	expect_packet(f, FX_PEER_MAC);
	fx_advance(f, 5010 * FX_MS + 3010 * FX_MS);
	for (int i = 0; i < 3; i++)
		fx_expect_arp(f, FX_PEER_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
	fx_expect_none(f);
	assert_int_equal(n->state, NEIGH_FREE);
	assert_int_not_equal(n->gen, gen);
}

/* STK-2: checklist 60 */
static void
queue_bounded(void **state)
{
	struct fx *f = *state;
	struct neigh *n = get(f);
	struct fx_pkt p;

	for (uint8_t i = 0; i < NEIGH_QUEUE + 3; i++)
		neigh_output(f->s, n, fx_buf(f, &i, 1, 0));
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_QUEUE_FULL), 3);
	fx_tx_clear(f);
	neigh_update(f->s, n, U8(FX_PEER_MAC), true, true);
	for (uint8_t i = 3; i < NEIGH_QUEUE + 3; i++) { /* the oldest are gone, the others in order */
		assert_true(fx_pop(f, &p));
		assert_int_equal(p.l3[0], i);
	}
	fx_expect_none(f);
}

/* STK-2: checklist 59; RFC 4861 7.2.5 and appendix C, every row. */
static void
override_and_solicited_flag_state_table(void **state)
{
	static const struct {
		uint8_t from;
		bool mac, same, solicited, override;
		uint8_t to;
		bool taken;
	} row[] = {
		{ NEIGH_INCOMPLETE, true, false, true, false, NEIGH_REACHABLE, true },
		{ NEIGH_INCOMPLETE, true, false, true, true, NEIGH_REACHABLE, true },
		{ NEIGH_INCOMPLETE, true, false, false, false, NEIGH_STALE, true },
		{ NEIGH_INCOMPLETE, true, false, false, true, NEIGH_STALE, true },
		{ NEIGH_INCOMPLETE, false, false, true, true, NEIGH_INCOMPLETE, false },
		{ NEIGH_REACHABLE, true, true, true, false, NEIGH_REACHABLE, true },
		{ NEIGH_REACHABLE, true, true, false, true, NEIGH_REACHABLE, true },
		{ NEIGH_REACHABLE, true, false, true, false, NEIGH_STALE, false },
		{ NEIGH_REACHABLE, true, false, false, false, NEIGH_STALE, false },
		{ NEIGH_REACHABLE, true, false, true, true, NEIGH_REACHABLE, true },
		{ NEIGH_REACHABLE, true, false, false, true, NEIGH_STALE, true },
		{ NEIGH_STALE, true, true, true, false, NEIGH_REACHABLE, true },
		{ NEIGH_STALE, true, true, false, true, NEIGH_STALE, true },
		{ NEIGH_STALE, true, false, true, false, NEIGH_STALE, false },
		{ NEIGH_STALE, true, false, true, true, NEIGH_REACHABLE, true },
		{ NEIGH_STALE, true, false, false, true, NEIGH_STALE, true },
		{ NEIGH_DELAY, true, true, true, true, NEIGH_REACHABLE, true },
		{ NEIGH_DELAY, true, true, false, true, NEIGH_DELAY, true },
		{ NEIGH_DELAY, true, false, false, false, NEIGH_DELAY, false },
		{ NEIGH_DELAY, true, false, false, true, NEIGH_STALE, true },
		{ NEIGH_PROBE, false, false, true, false, NEIGH_REACHABLE, false },
		{ NEIGH_PROBE, true, true, true, false, NEIGH_REACHABLE, true },
		{ NEIGH_PROBE, true, false, true, false, NEIGH_PROBE, false },
		{ NEIGH_PROBE, true, false, true, true, NEIGH_REACHABLE, true },
		{ NEIGH_PERMANENT, true, false, true, true, NEIGH_PERMANENT, false },
	};
	struct fx *f = *state;

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct neigh *n = get(f);
		const uint8_t *mac = row[i].same ? U8(FX_PEER_MAC) : U8(OTHER_MAC);

		if (row[i].from != NEIGH_INCOMPLETE)
			neigh_update(f->s, n, U8(FX_PEER_MAC), row[i].from == NEIGH_REACHABLE,
				true);
		if (row[i].from >= NEIGH_DELAY && row[i].from != NEIGH_PERMANENT)
			send_to(f, n);
		if (row[i].from == NEIGH_PROBE)
			fx_advance(f, 5010 * FX_MS);
		if (row[i].from == NEIGH_PERMANENT)
			assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &n->addr,
				U8(FX_PEER_MAC)), 0);
		assert_int_equal(n->state, row[i].from);
		neigh_update(f->s, n, row[i].mac ? mac : NULL, row[i].solicited, row[i].override);
		assert_int_equal(n->state, row[i].to);
		if (row[i].taken)
			assert_memory_equal(n->mac, mac, 6);
		else if (row[i].from != NEIGH_INCOMPLETE)
			assert_memory_equal(n->mac, FX_PEER_MAC, 6);
		neigh_delete(f->s, n);
		neigh_update(f->s, n, mac, true, true); /* too late: nothing happens */
		assert_int_equal(n->state, NEIGH_FREE);
	}
}

static void
upper_layers_confirm(void **state)
{
	struct fx *f = *state;
	struct neigh *n = reachable(f);

	fx_advance(f, 20 * FX_NS);
	neigh_confirm(f->s, n);
	fx_advance(f, 20 * FX_NS);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_advance(f, 11 * FX_NS);
	assert_int_equal(n->state, NEIGH_STALE);
	send_to(f, n);
	assert_int_equal(n->state, NEIGH_DELAY);
	neigh_confirm(f->s, n);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_tx_clear(f);
	fx_advance(f, 10 * FX_NS);
	fx_expect_none(f); /* no probe */
	neigh_delete(f->s, n);
	n = get(f);
	neigh_confirm(f->s, n); /* nothing is known yet that could be confirmed */
	assert_int_equal(n->state, NEIGH_INCOMPLETE);
}

static void
unsolicited_address_sends_what_waits_and_then_probes(void **state)
{
	struct fx *f = *state;
	struct neigh *n = get(f);

	send_to(f, n);
	fx_tx_clear(f);
	neigh_update(f->s, n, U8(FX_PEER_MAC), false, true);
	expect_packet(f, FX_PEER_MAC);
	assert_int_equal(n->state, NEIGH_DELAY);
	fx_advance(f, 5010 * FX_MS);
	assert_int_equal(n->state, NEIGH_PROBE);
}

static void
fill_table(struct fx *f, uint8_t state, unsigned int from, unsigned int count)
{
	for (unsigned int i = from; i < from + count; i++) {
		union ip_addr a = ip_addr_v4(be32(0x0a010000 + i));
		struct neigh *n = neigh_get(f->s, f->nif, ADDR_INET, &a);

		assert_non_null(n);
		if (state != NEIGH_INCOMPLETE)
			neigh_update(f->s, n, U8(OTHER_MAC), state == NEIGH_REACHABLE, true);
	}
}

/* STK-8: the table is bounded; who makes room, and for whom there is none. */
static void
full_table_recycles_stale_then_waiting_entries(void **state)
{
	struct fx *f = *state;
	union ip_addr first = ip_addr_v4(be32(0x0a010000)), second = ip_addr_v4(be32(0x0a010000 + 10));
	struct neigh *n;

	fill_table(f, NEIGH_INCOMPLETE, 0, 10);
	fill_table(f, NEIGH_STALE, 10, 10);
	fill_table(f, NEIGH_REACHABLE, 20, NEIGH_MAX - 20);
	assert_int_equal(f->s->neigh.count, NEIGH_MAX);
	n = neigh_lookup(f->s, f->nif, ADDR_INET, &first);
	send_to(f, n);
	fill_table(f, NEIGH_REACHABLE, 5000, 1);
	assert_null(neigh_lookup(f->s, f->nif, ADDR_INET, &second)); /* the oldest stale one */
	assert_non_null(neigh_lookup(f->s, f->nif, ADDR_INET, &first));
	fill_table(f, NEIGH_REACHABLE, 5001, 9);
	fill_table(f, NEIGH_REACHABLE, 5010, 10); /* now those that wait: `first` has moved to the end */
	assert_null(neigh_lookup(f->s, f->nif, ADDR_INET, &first));
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_TABLE_FULL), 1); /* its packet */
	assert_int_equal(f->s->neigh.count, NEIGH_MAX);
	assert_null(get(f));
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_TABLE_FULL), 2);
	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &first, U8(OTHER_MAC)),
		-ENOBUFS);
}

static void
permanent_entries_stay(void **state)
{
	struct fx *f = *state;
	struct neigh *n = get(f);

	send_to(f, n);
	fx_tx_clear(f);
	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &n->addr,
		U8("\x01\x00\x5e\x00\x00\x01")), -EINVAL);
	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &n->addr, U8(OTHER_MAC)), 0);
	expect_packet(f, OTHER_MAC); /* what had waited */
	fx_advance(f, 3600 * FX_NS);
	send_to(f, n);
	expect_packet(f, OTHER_MAC);
	fx_expect_none(f);
}

static void
interface_that_goes_takes_its_neighbours(void **state)
{
	struct fx *f = *state;
	struct netif *other = fx_add_if(f, "f-stack-1", "\x02\x00\x00\x00\x01\x01", 0, NULL);
	union ip_addr a = fx_a4("10.0.0.2");
	struct neigh *mine = get(f), *n = neigh_get(f->s, other, ADDR_INET, &a);

	assert_ptr_not_equal(mine, n); /* the same address on another link is another station */
	send_to(f, mine);
	neigh_flush_netif(f->s, f->nif);
	assert_int_equal(mine->state, NEIGH_FREE);
	assert_int_equal(n->state, NEIGH_INCOMPLETE);
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_UNREACHABLE), 1);
}

/* IPv6 uses the interface's timers, as a router may set them. */
static void
ipv6_retransmits_as_the_interface_says(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a6("2001:db8::2");
	struct neigh *n;
	uint8_t b[64];
	uint32_t at;
	struct fx_ip6 h = { .src = fx_a6("2001:db8::1"), .dst = a, .next = 59 };

	assert_int_equal(stack_addr6_add(f->s, f->nif, &h.src, 64), 0);
	fx_advance(f, 20 * FX_NS);
	fx_tx_clear(f);
	f->nif->retrans_ms = 200;
	n = neigh_get(f->s, f->nif, ADDR_INET6, &a);
	at = fx_put_ip6(b, &h, 0);
	neigh_output(f->s, n, fx_buf(f, b, at, 0));
	assert_int_equal(fx_tx_count(f), 1);
	fx_advance(f, 210 * FX_MS);
	assert_int_equal(fx_tx_count(f), 2);
	f->nif->retrans_ms = 0; /* unspecified: 1 s */
	fx_advance(f, 210 * FX_MS);
	assert_int_equal(fx_tx_count(f), 3);
	fx_advance(f, 960 * FX_MS);
	assert_int_equal(n->state, NEIGH_INCOMPLETE);
	fx_advance(f, 50 * FX_MS);
	assert_int_equal(n->state, NEIGH_FREE);
}

static int
setup_small(void **state)
{
	*state = fx_new(&(struct fx_opts){ .max_neighbours = 8 });
	return 0;
}

/* STK-8: the table may be made smaller; entries come from the part never used before anything is recycled. */
static void
configured_bound_is_kept(void **state)
{
	struct fx *f = *state;
	union ip_addr first = ip_addr_v4(be32(0x0a010000)), last = ip_addr_v4(be32(0x0a010007));
	unsigned int had = f->s->neigh.count;

	assert_int_equal(f->s->neigh.size, 8);
	assert_int_equal(f->s->neigh.touched, had);
	fill_table(f, NEIGH_STALE, 0, 8 - had);
	assert_int_equal(f->s->neigh.count, 8);
	assert_non_null(neigh_lookup(f->s, f->nif, ADDR_INET, &first));
	fill_table(f, NEIGH_STALE, 7, 1);
	assert_int_equal(f->s->neigh.count, 8);
	assert_int_equal(f->s->neigh.touched, 8);
	if (had == 0)
		assert_non_null(neigh_lookup(f->s, f->nif, ADDR_INET, &first));
	assert_non_null(neigh_lookup(f->s, f->nif, ADDR_INET, &last));
	neigh_flush_netif(f->s, f->nif);
	assert_int_equal(f->s->neigh.count, 0);
	fill_table(f, NEIGH_STALE, 0, 3);
	assert_int_equal(f->s->neigh.count, 3);
	assert_int_equal(f->s->neigh.touched, 8); /* what was freed is used again */
}

/* ---- what another process of this station knew ---- */

static int
import4(struct fx *f, const char *addr, const char *mac)
{
	union ip_addr a = fx_a4(addr);

	return neigh_import(f->s, f->nif, ADDR_INET, &a, U8(mac), false);
}

/* STK-2, REL-14: used at once, asked about when used, and forgotten when nobody answers */
static void
imported_neighbour_is_used_at_once_and_asked_about(void **state)
{
	struct fx *f = *state;
	struct neigh *n;

	assert_int_equal(import4(f, "10.0.0.2", FX_PEER_MAC), 0);
	n = get(f);
	assert_int_equal(n->state, NEIGH_STALE);
	fx_advance(f, 3600 * FX_NS);
	fx_expect_none(f); /* nobody asks about what nobody uses */
	for (int i = 0; i < 3 * NEIGH_QUEUE; i++) {
		send_to(f, n);
		expect_packet(f, FX_PEER_MAC);
	}
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_QUEUE_FULL), 0);
	assert_int_equal(n->state, NEIGH_DELAY);
	fx_advance(f, 5010 * FX_MS);
	fx_expect_arp(f, FX_PEER_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.2"));
	fx_advance(f, 3010 * FX_MS);
	assert_int_equal(n->state, NEIGH_FREE);
}

/* REL-14 */
static void
imported_neighbour_never_replaces_what_is_known(void **state)
{
	struct fx *f = *state;
	struct neigh *n = get(f);

	send_to(f, n);
	send_to(f, n);
	fx_tx_clear(f);
	assert_int_equal(import4(f, "10.0.0.2", FX_PEER_MAC), 0); /* was being asked: what waits goes */
	expect_packet(f, FX_PEER_MAC);
	expect_packet(f, FX_PEER_MAC);
	assert_int_equal(n->state, NEIGH_DELAY);
	assert_int_equal(import4(f, "10.0.0.2", OTHER_MAC), -EEXIST);
	neigh_update(f->s, n, U8(FX_PEER_MAC), true, true);
	assert_int_equal(import4(f, "10.0.0.2", OTHER_MAC), -EEXIST);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	fx_advance(f, 31 * FX_NS);
	assert_int_equal(n->state, NEIGH_STALE);
	assert_int_equal(import4(f, "10.0.0.2", OTHER_MAC), -EEXIST);
	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &n->addr, U8(FX_PEER_MAC)), 0);
	assert_int_equal(import4(f, "10.0.0.2", OTHER_MAC), -EEXIST);
	assert_int_equal(n->state, NEIGH_PERMANENT);
	assert_memory_equal(n->mac, FX_PEER_MAC, 6);
}

/* REL-14: the words of another process are hostile */
static void
imported_neighbour_must_be_a_station(void **state)
{
	static const char *const bad4[] = { "0.0.0.0", "255.255.255.255", "224.0.0.1", "127.0.0.1", "10.0.0.1" };
	static const char *const bad6[] = { "::", "ff02::1", "2001:db8::1" };
	struct fx *f = *state;
	union ip_addr a, own = fx_a6("2001:db8::1");

	assert_int_equal(stack_addr6_add(f->s, f->nif, &own, 64), 0);
	fx_advance(f, 20 * FX_NS);
	for (unsigned int i = 0; i < sizeof(bad4) / sizeof(bad4[0]); i++)
		assert_int_equal(import4(f, bad4[i], FX_PEER_MAC), -EINVAL);
	for (unsigned int i = 0; i < sizeof(bad6) / sizeof(bad6[0]); i++) {
		a = fx_a6(bad6[i]);
		assert_int_equal(neigh_import(f->s, f->nif, ADDR_INET6, &a, U8(FX_PEER_MAC), false), -EINVAL);
	}
	assert_int_equal(import4(f, "10.0.0.2", "\x01\x00\x5e\x00\x00\x01"), -EINVAL);
	assert_int_equal(import4(f, "10.0.0.2", "\0\0\0\0\0\0"), -EINVAL);
	assert_int_equal(import4(f, "10.0.0.2", FX_MAC), -EINVAL);
	assert_int_equal(f->s->neigh.count, 0);
	a = fx_a6("2001:db8::2");
	assert_int_equal(neigh_import(f->s, f->nif, ADDR_INET6, &a, U8(FX_PEER_MAC), true), 0);
	assert_true(neigh_lookup(f->s, f->nif, ADDR_INET6, &a)->is_router);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1279), 0); /* IPv6 is off */
	a = fx_a6("2001:db8::3");
	assert_int_equal(neigh_import(f->s, f->nif, ADDR_INET6, &a, U8(FX_PEER_MAC), false), -EINVAL);
}

/* STK-8, REL-14: a full table gives up nothing for it */
static void
imported_neighbour_finds_no_room_in_a_full_table(void **state)
{
	struct fx *f = *state;
	union ip_addr first = ip_addr_v4(be32(0x0a010000));

	fill_table(f, NEIGH_STALE, 0, 8 - f->s->neigh.count);
	assert_int_equal(import4(f, "10.0.0.2", FX_PEER_MAC), -ENOSPC);
	assert_int_equal(f->s->neigh.count, 8);
	neigh_delete(f->s, neigh_lookup(f->s, f->nif, ADDR_INET, &first));
	assert_int_equal(import4(f, "10.0.0.2", FX_PEER_MAC), 0);
	assert_int_equal(fx_drops(f, STACK_DROP_NEIGH_TABLE_FULL), 0);
}

/* REL-14: what has changed since is told apart from what was only confirmed */
static void
time_of_the_last_change_is_known(void **state)
{
	struct fx *f = *state;
	struct neigh *n = reachable(f);
	uint64_t at = n->changed_ns;

	assert_true(neigh_learned(n) && at == f->now);
	fx_advance(f, FX_NS);
	neigh_confirm(f->s, n);
	assert_true(n->changed_ns == at);
	neigh_update(f->s, n, U8(OTHER_MAC), false, true);
	assert_true(n->changed_ns == at + FX_NS);
	fx_advance(f, FX_NS);
	neigh_update(f->s, n, U8(OTHER_MAC), true, true);
	assert_true(n->changed_ns == at + 2 * FX_NS);
	neigh_delete(f->s, n);
	assert_false(neigh_learned(n));
	assert_false(neigh_learned(get(f)));
	assert_int_equal(neigh_set_permanent(f->s, f->nif, ADDR_INET, &n->addr, U8(OTHER_MAC)), 0);
	assert_false(neigh_learned(n));
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(nud_reachable_stale_delay_probe_incomplete_timers),
		T(unreachable_reported_after_3),
		T(probes_without_an_answer_end_the_entry),
		T(queue_bounded),
		T(override_and_solicited_flag_state_table),
		T(upper_layers_confirm),
		T(unsolicited_address_sends_what_waits_and_then_probes),
		T(full_table_recycles_stale_then_waiting_entries),
		T(imported_neighbour_is_used_at_once_and_asked_about),
		T(imported_neighbour_never_replaces_what_is_known),
		T(imported_neighbour_must_be_a_station),
		cmocka_unit_test_setup_teardown(imported_neighbour_finds_no_room_in_a_full_table, setup_small, fx_teardown),
		T(time_of_the_last_change_is_known),
		T(permanent_entries_stay),
		cmocka_unit_test_setup_teardown(configured_bound_is_kept, setup_small, fx_teardown),
		T(interface_that_goes_takes_its_neighbours),
		T(ipv6_retransmits_as_the_interface_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

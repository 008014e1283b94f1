/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane's neighbours go from its owner to the generation that follows. */
#include "genbed.h"

#include <arpa/inet.h>

#include "core/stack/priv.h"

#define GEN_BIG "[dpdk]\nlcore_mask=3\nport_list=0\nprimary_slim=1\ngraceful_reload=1\nidle_sleep=10\npkt_tx_delay=0\n" \
	"drain_ring_size=1024\npublish_entries=64\n"
#define HEAD 26
#define ENTRY 28

static union ip_addr
a4(const char *text)
{
	return ip_addr_v4(inet_addr(text));
}

static struct neigh *
known(struct worker *w, const char *text)
{
	union ip_addr a = a4(text);

	return neigh_lookup(worker_stack(w), worker_netif(w, 0), ADDR_INET, &a);
}

static struct neigh *
knows(struct worker *w, struct netif *nif, int family, const union ip_addr *a, uint8_t last)
{
	struct neigh *n = neigh_get(worker_stack(w), nif, family, a);

	neigh_update(worker_stack(w), n, (uint8_t[6]){ 2, 0, 0, 0, 7, last }, true, true);
	return n;
}

static void
learn(struct worker *w, const char *text)
{
	union ip_addr a = a4(text);

	knows(w, worker_netif(w, 0), ADDR_INET, &a, 7);
}

static struct rte_ring *
ring_to(struct gb *b, unsigned int to)
{
	struct worker *w = b->rt->w[to];

	return w->port[0]->drain[worker_side(w)].r;
}

/* n frames that nobody minds wait in the ring to the new worker. */
static void
fill(struct gb *b, unsigned int n)
{
	struct worker *old = b->rt->w[0];

	while (n-- > 0) {
		struct rte_mbuf *m = shim_buf_alloc(old->shim, old->pool);

		memset(shim_buf_append(m, 60), 0, 60);
		shim_buf_mark_set(m, old->mark);
		assert_int_equal(worker_to_peer(old->port[0], &m, 1), 1);
	}
}

/* DSP-8, REL-14 */
static void
the_first_burst_of_the_new_owner_finds_its_neighbour(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *new;
	uint16_t port[32];

	(void)state;
	gb_open(b);
	new = b->rt->w[1];
	assert_non_null(known(new, "192.0.2.9"));
	assert_int_equal(known(new, "192.0.2.9")->state, NEIGH_STALE);
	assert_memory_equal(known(new, "192.0.2.9")->mac, known(b->rt->w[0], "192.0.2.9")->mac, 6);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	for (uint16_t i = 0; i < 30; i++)
		gb_udp(b, 0, 2000 + i, "new flows");
	gb_turns(b, 2);
	assert_int_equal(b->app[1].got, 30);
	assert_int_equal(gb_sent(b, 0, port, 32), 30);
	for (uint16_t i = 0; i < 30; i++)
		assert_int_equal(port[i], 2000 + i);
	assert_int_equal(stack_drops(new->stack, STACK_DROP_NEIGH_QUEUE_FULL), 0);
	assert_true(gb_logged(b, "reload: 1 neighbours handed over, 0 not"));
	gb_step(b, WINDOW_RETIRING);
	gb_turns(b, 2);
	gb_step(b, WINDOW_CLOSED);
	gb_turns(b, 2);
	assert_true(gb_logged(b, "reload: 1 neighbours learned from the other generation, 0 left alone, 0 frames"));
	gb_free(b);
}

/* DSP-8, REL-14 */
static void
what_changes_between_the_snapshot_and_the_flip_goes_along(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	unsigned int told;

	(void)state;
	learn(old, "192.0.2.8");
	learn(old, "192.0.2.7");
	gb_open(b);
	new = b->rt->w[1];
	told = old->rl->moved.neigh_told;
	assert_int_equal(told, 3);
	assert_int_equal(old->rl->neigh_at, old->stack->neigh.touched);
	gb_turn(b, 1000);
	neigh_delete(old->stack, known(old, "192.0.2.8"));
	learn(old, "192.0.2.10"); /* in its place */
	gb_step(b, WINDOW_PARKING);
	gb_turn(b, 100);
	assert_false(gb_owns(b, 0));
	assert_int_equal(old->rl->moved.neigh_told, told + 1); /* and no other */
	assert_non_null(known(new, "192.0.2.10"));
	gb_free(b);
}

/* An answer to the old one's own question makes no entry where nobody asked: it goes by the ring. */
/* DSP-8 */
static void
an_answer_to_the_old_ones_question_is_known_to_the_new_one(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	union ip_addr a = a4("192.0.2.20");
	struct neigh *n;
	uint8_t f[128];

	(void)state;
	gb_open(b);
	new = b->rt->w[1];
	n = neigh_get(old->stack, worker_netif(old, 0), ADDR_INET, &a);
	arp_solicit(old->stack, n, false);
	rt_arp_request(f, "192.0.2.2", "192.0.2.20");
	f[21] = 2;
	assert_int_equal(mock_inject(b->rt->s, 0, 0, f, 60), 0);
	gb_turn(b, 100);
	assert_int_equal(n->state, NEIGH_REACHABLE);
	gb_commit(b);
	assert_int_equal(known(new, "192.0.2.20")->state, NEIGH_STALE);
	/* a question to us makes one in both, and what is heard of another MAC changes it in both */
	rt_arp_request(f, "192.0.2.2", "192.0.2.21");
	assert_int_equal(mock_inject(b->rt->s, 0, 0, f, 60), 0);
	rt_arp_request(f, "192.0.2.2", "192.0.2.20");
	f[11] = f[27] = 0x77;
	assert_int_equal(mock_inject(b->rt->s, 0, 0, f, 60), 0);
	gb_turns(b, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_non_null(known(b->rt->w[i], "192.0.2.21"));
		assert_int_equal(known(b->rt->w[i], "192.0.2.20")->mac[5], 0x77);
	}
	gb_free(b);
}

/* DSP-8, REL-14 */
static void
many_neighbours_take_several_frames_and_turns(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	char text[32];

	(void)state;
	for (unsigned int i = 0; i < 600; i++) {
		snprintf(text, sizeof(text), "192.0.3.%u", i % 250 + 1);
		text[6] = (char)('3' + i / 250);
		learn(old, text);
	}
	gb_open(b);
	new = b->rt->w[1];
	assert_int_equal(old->rl->moved.neigh_told, 601);
	assert_int_equal(new->rl->moved.neigh_learned, 601);
	assert_int_equal(new->stack->neigh.count, old->stack->neigh.count);
	assert_in_range(old->rl->moved.drain_peak, 6, 7); /* of one turn */
	gb_commit(b);
	assert_int_equal(new->rl->moved.neigh_learned + new->rl->moved.neigh_left, old->rl->moved.neigh_told);
	gb_free(b);
}

/* DSP-8 */
static void
each_neighbour_arrives_at_its_own_interface(void **state)
{
	struct gb *b = test_calloc(1, sizeof(*b));
	union ip_addr v4 = a4("10.5.0.9"), v6 = { .v6 = { 0xfe, 0x80, [15] = 9 } }, other = a4("198.51.100.9");
	struct worker *w;
	struct netif *vlan;
	struct neigh *n;

	(void)state;
	b->rt = rt_new("[dpdk]\nlcore_mask=3\nport_list=0-1\nprimary_slim=1\ngraceful_reload=1\npkt_tx_delay=0\n"
		"drain_ring_size=64\npublish_entries=64\nvlan_filter=5,6\n" RT_PORT "[port1]\naddr=198.51.100.2\nnetmask=255.255.255.0\n"
		"broadcast=198.51.100.255\ngateway=198.51.100.1\n[vlan5]\nportid=0\naddr=10.5.0.2\nnetmask=255.255.0.0\n"
		"broadcast=10.5.255.255\ngateway=10.5.0.1\n[vlan6]\nportid=0\naddr=10.6.0.2\nnetmask=255.255.0.0\n"
		"broadcast=10.6.255.255\ngateway=10.6.0.1\n");
	mock_port_add(b->rt->s, NULL);
	gb_start(b, 1);
	w = b->rt->w[0];
	vlan = stack_if_by_name(worker_stack(w), "f-stack-0.5");
	knows(w, vlan, ADDR_INET, &v4, 1);
	knows(w, vlan, ADDR_INET6, &v6, 2)->is_router = 1;
	knows(w, worker_netif(w, 1), ADDR_INET, &other, 3);
	gb_open(b);
	w = b->rt->w[1];
	vlan = stack_if_by_name(worker_stack(w), "f-stack-0.5");
	assert_int_equal(neigh_lookup(worker_stack(w), vlan, ADDR_INET, &v4)->mac[5], 1);
	n = neigh_lookup(worker_stack(w), vlan, ADDR_INET6, &v6);
	assert_int_equal(n->mac[5], 2);
	assert_true(n->is_router);
	n = neigh_lookup(worker_stack(w), worker_netif(w, 1), ADDR_INET, &other);
	assert_int_equal(n->mac[5], 3);
	assert_false(n->is_router);
	assert_int_equal(w->rl->moved.neigh_left, 0);
	for (uint16_t p = 0; p < 2; p++)
		while (mock_tx_waiting(b->rt->s, p, 0) > 0)
			mock_collect_bytes(b->rt->s, p, 0, &(uint8_t[4]){ 0 }, 4);
	gb_free(b);
}

/* Who asks, who is set by hand, and who is gone is not told of. */
/* DSP-8 */
static void
only_what_was_learned_is_told(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	union ip_addr asked = a4("192.0.2.40"), byhand = a4("192.0.2.41");

	(void)state;
	neigh_get(old->stack, worker_netif(old, 0), ADDR_INET, &asked);
	assert_int_equal(neigh_set_permanent(old->stack, worker_netif(old, 0), ADDR_INET, &byhand, (uint8_t[6]){ 2, 1 }), 0);
	learn(old, "192.0.2.42");
	neigh_delete(old->stack, known(old, "192.0.2.42"));
	gb_open(b);
	assert_int_equal(old->rl->moved.neigh_told, 1);
	assert_null(known(b->rt->w[1], "192.0.2.40"));
	assert_null(known(b->rt->w[1], "192.0.2.41"));
	gb_free(b);
}

/* DSP-9 */
static void
neighbours_wait_for_room_and_are_counted_when_there_is_none(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	unsigned int told;

	(void)state;
	gb_open(b);
	told = old->rl->moved.neigh_told;
	learn(old, "192.0.2.10");
	fill(b, 20);
	worker_turn(old);
	assert_int_equal(old->rl->moved.neigh_told, told); /* there is time */
	gb_turns(b, 2);
	assert_int_equal(old->rl->moved.neigh_told, told + 1);
	learn(old, "192.0.2.11");
	fill(b, 63);
	gb_step(b, WINDOW_PARKING);
	worker_turn(old);
	assert_false(gb_owns(b, 0)); /* nobody waits */
	assert_int_equal(old->rl->moved.neigh_untold, 2); /* 192.0.2.10 changed after the first look, too */
	assert_int_equal(old->rl->moved.drain_full, 1);
	assert_true(gb_logged(b, "graceful reload drain: ring full (63/63 entries, 1 dropped)"));
	gb_turns(b, 2);
	gb_step(b, WINDOW_COMMITTED);
	gb_turns(b, 2);
	assert_null(known(b->rt->w[1], "192.0.2.11"));
	assert_true(gb_logged(b, "neighbours handed over, 2 not (no buffer, or a full ring)"));
	gb_free(b);
}

/* REL-14, STK-9 */
static void
without_a_buffer_it_is_tried_again_and_the_flip_does_not_wait(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	unsigned int told;

	(void)state;
	gb_open(b);
	told = old->rl->moved.neigh_told;
	learn(old, "192.0.2.10");
	mock_fail_all(b->rt->s, MOCK_OP_buf_alloc, ENOMEM);
	worker_turn(old);
	assert_int_equal(old->rl->moved.neigh_told, told);
	mock_fail_all(b->rt->s, MOCK_OP_buf_alloc, 0);
	worker_turn(old);
	assert_int_equal(old->rl->moved.neigh_told, told + 1);
	gb_turn(b, 100);
	learn(old, "192.0.2.11");
	learn(old, "192.0.2.12");
	neigh_update(old->stack, known(old, "192.0.2.10"), (uint8_t[6]){ 2, 9 }, true, true);
	mock_fail_all(b->rt->s, MOCK_OP_buf_alloc, ENOMEM);
	gb_step(b, WINDOW_PARKING);
	worker_turn(old);
	mock_fail_all(b->rt->s, MOCK_OP_buf_alloc, 0);
	assert_false(gb_owns(b, 0));
	assert_int_equal(old->rl->moved.neigh_untold, 3);
	gb_free(b);
}

/* ---- what comes out of the ring is hostile ---- */

struct forged {
	uint8_t f[HEAD + 4 * ENTRY];
	uint32_t len;
};

/* One good neighbour, 192.0.2.50. */
static struct forged
forge(const struct gb *b)
{
	struct forged x = { .len = HEAD + ENTRY };
	uint32_t addr = inet_addr("192.0.2.50");

	x.f[12] = 0x88;
	x.f[13] = 0xb5;
	memcpy(x.f + 14, "nonb", 4);
	x.f[19] = 1;
	x.f[21] = 1;
	put_be32(x.f + 22, b->window.wid);
	x.f[HEAD] = 4;
	memcpy(x.f + HEAD + 4, (uint8_t[6]){ 2, 0, 0, 0, 7, 50 }, 6);
	memcpy(x.f + HEAD + 12, &addr, 4);
	return x;
}

static void
put(struct gb *b, const struct forged *x, unsigned int segs)
{
	struct worker *old = b->rt->w[0];
	struct rte_mbuf *m = shim_buf_alloc(old->shim, old->pool), *n;

	memcpy(shim_buf_append(m, x->len), x->f, x->len);
	if (segs > 1) {
		n = shim_buf_alloc(old->shim, old->pool);
		memset(shim_buf_append(n, ENTRY), 0, ENTRY);
		assert_int_equal(shim_buf_chain(m, n), 0);
	}
	shim_buf_mark_set(m, old->mark);
	assert_int_equal(shim_ring_put(old->shim, &old->port[0]->drain[worker_side(b->rt->w[1])], &m, 1), 1);
	gb_turn(b, 100);
}

/* DSP-8, REL-13 */
static void
frames_that_can_not_be_read_are_dropped_and_counted(void **state)
{
	static const struct { uint32_t at; uint8_t v; } bytes[] = {
		{ 14, 0 }, { 17, 0 }, { 18, 1 }, { 19, 0 }, { 19, 2 }, { 20, 1 }, { 21, 0 }, { 21, 2 }, { 20, 0xff }
	};
	static const uint32_t lens[] = { 14, 15, HEAD - 1, HEAD, HEAD + 1, HEAD + ENTRY - 1, HEAD + ENTRY + 1, HEAD + 2 * ENTRY };
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *new;
	unsigned int bad = 0;
	uint64_t dropped;

	(void)state;
	gb_open(b);
	new = b->rt->w[1];
	dropped = new->rx_dropped;
	for (unsigned int i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct forged x = forge(b);

		x.f[bytes[i].at] = bytes[i].v;
		put(b, &x, 1);
		assert_int_equal(new->rl->moved.neigh_bad, ++bad);
	}
	for (unsigned int i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct forged x = forge(b);

		x.len = lens[i];
		put(b, &x, 1);
		assert_int_equal(new->rl->moved.neigh_bad, ++bad);
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct forged x = forge(b);

		x.f[21] = 1 + i;
		put(b, &x, 2);
		assert_int_equal(new->rl->moved.neigh_bad, ++bad);
	}
	assert_int_equal(new->rx_dropped - dropped, bad);
	assert_null(known(new, "192.0.2.50"));
	gb_free(b);
}

/* DSP-8, REL-13 */
static void
entries_that_are_nobodys_are_left_out_and_the_others_taken(void **state)
{
	static const struct { uint32_t at; uint8_t v; } bytes[] = {
		{ 0, 0 }, { 0, 5 }, { 0, 6 } /* 192.0.2.50's bytes as IPv6: no own prefix, but a station */,
		{ 2, 0xff }, { 3, 5 }, { 4, 3 }, { 12, 127 }, { 12, 224 }, { 15, 2 } /* our own address */
	};
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *new;
	struct forged x;
	unsigned int left, learned;

	(void)state;
	gb_open(b);
	new = b->rt->w[1];
	for (unsigned int i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		x = forge(b);
		x.f[HEAD + bytes[i].at] = bytes[i].v;
		left = new->rl->moved.neigh_left;
		learned = new->rl->moved.neigh_learned;
		put(b, &x, 1);
		assert_int_equal(new->rl->moved.neigh_left - left, i != 2);
		assert_int_equal(new->rl->moved.neigh_learned - learned, i == 2);
		assert_null(known(new, "192.0.2.50"));
	}
	/* of another window: nobody's fault */
	x = forge(b);
	x.f[25] ^= 1;
	put(b, &x, 1);
	assert_null(known(new, "192.0.2.50"));
	assert_int_equal(new->rl->moved.neigh_bad, 0);
	/* the second of three is bad */
	x = forge(b);
	x.f[21] = 3;
	x.len = HEAD + 3 * ENTRY;
	for (unsigned int i = 1; i < 3; i++) {
		memcpy(x.f + HEAD + i * ENTRY, x.f + HEAD, ENTRY);
		x.f[HEAD + i * ENTRY + 15] = (uint8_t)(50 + i);
	}
	x.f[HEAD + ENTRY + 4] |= 1;
	put(b, &x, 1);
	assert_non_null(known(new, "192.0.2.50"));
	assert_null(known(new, "192.0.2.51"));
	assert_non_null(known(new, "192.0.2.52"));
	gb_free(b);
}

/* DSP-8, REL-13 */
static void
such_a_frame_from_the_port_is_of_no_known_type(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *w[2];
	struct forged x;

	(void)state;
	gb_open(b);
	w[0] = b->rt->w[0];
	w[1] = b->rt->w[1];
	x = forge(b);
	memcpy(x.f, worker_netif(w[0], 0)->cfg.mac, 6);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t cloned = w[i]->rl->moved.cloned + w[i]->rl->moved.forwarded;

		if (i == 1)
			gb_commit(b);
		assert_int_equal(mock_inject(b->rt->s, 0, 0, x.f, x.len), 0);
		gb_turns(b, 2);
		assert_int_equal(stack_drops(w[i]->stack, STACK_DROP_ETH_TYPE_UNKNOWN), 1);
		assert_int_equal(stack_drops(w[!i]->stack, STACK_DROP_ETH_TYPE_UNKNOWN), i);
		assert_int_equal(w[i]->rl->moved.cloned + w[i]->rl->moved.forwarded, cloned);
		assert_null(known(w[0], "192.0.2.50"));
		assert_null(known(w[1], "192.0.2.50"));
	}
	gb_free(b);
}

/* ---- who is there to take them ---- */

/* DSP-8, REL-14 */
static void
all_that_waits_in_the_ring_comes_before_the_ports_first_burst(void **state)
{
	struct gb *b = gb_new(GEN_BIG RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	uint16_t port[32];

	(void)state;
	gb_open(b);
	new = b->rt->w[1];
	fill(b, 10 * WORKER_BURST); /* the new one stands still */
	neigh_delete(new->stack, known(new, "192.0.2.9"));
	gb_turn(b, 0);
	fill(b, 10 * WORKER_BURST);
	neigh_update(old->stack, known(old, "192.0.2.9"), known(old, "192.0.2.9")->mac, true, true);
	gb_step(b, WINDOW_PARKING);
	worker_turn(old);
	assert_false(gb_owns(b, 0));
	gb_step(b, WINDOW_COMMITTED);
	gb_sent(b, 0, NULL, 0);
	for (uint16_t i = 0; i < 30; i++)
		gb_udp(b, 0, 2000 + i, "in the first turn");
	worker_turn(new);
	assert_true(gb_owns(b, 1));
	assert_int_equal(b->app[1].got, 30);
	assert_int_equal(gb_sent(b, 0, port, 32), 30);
	assert_int_equal(stack_drops(new->stack, STACK_DROP_NEIGH_QUEUE_FULL), 0);
	gb_free(b);
}

/* REL-13 */
static void
what_a_dead_new_worker_left_in_its_ring_tells_the_old_one_nothing(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];

	(void)state;
	gb_open(b);
	learn(old, "192.0.2.10");
	worker_turn(old);
	assert_int_equal(shim_ring_count(old->shim, ring_to(b, 1)), 1);
	gb_kill(b, 1);
	gb_step(b, WINDOW_ABORTED);
	gb_turns(b, 2);
	gb_step(b, WINDOW_CLOSED);
	for (int i = 0; i < 3; i++)
		gb_turn(b, SEAT_LOOK_NS / 1000);
	assert_int_equal(shim_ring_count(old->shim, old->port[0]->drain[!worker_side(old)].r), 0);
	assert_int_equal(stack_drops(old->stack, STACK_DROP_ETH_TYPE_UNKNOWN), 0);
	gb_free(b);
}

/* REL-6, REL-14 */
static void
what_is_rolled_back_tells_its_neighbours_too(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);

	(void)state;
	gb_open(b);
	gb_commit(b);
	learn(b->rt->w[1], "192.0.2.30");
	gb_step(b, WINDOW_ROLLBACK);
	gb_turns(b, 3);
	assert_true(gb_owns(b, 0));
	assert_int_equal(known(b->rt->w[0], "192.0.2.30")->state, NEIGH_STALE);
	assert_int_equal(known(b->rt->w[0], "192.0.2.9")->state, NEIGH_STALE);
	gb_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_burst_of_the_new_owner_finds_its_neighbour),
		cmocka_unit_test(what_changes_between_the_snapshot_and_the_flip_goes_along),
		cmocka_unit_test(an_answer_to_the_old_ones_question_is_known_to_the_new_one),
		cmocka_unit_test(many_neighbours_take_several_frames_and_turns),
		cmocka_unit_test(each_neighbour_arrives_at_its_own_interface),
		cmocka_unit_test(only_what_was_learned_is_told),
		cmocka_unit_test(neighbours_wait_for_room_and_are_counted_when_there_is_none),
		cmocka_unit_test(without_a_buffer_it_is_tried_again_and_the_flip_does_not_wait),
		cmocka_unit_test(frames_that_can_not_be_read_are_dropped_and_counted),
		cmocka_unit_test(entries_that_are_nobodys_are_left_out_and_the_others_taken),
		cmocka_unit_test(such_a_frame_from_the_port_is_of_no_known_type),
		cmocka_unit_test(all_that_waits_in_the_ring_comes_before_the_ports_first_burst),
		cmocka_unit_test(what_a_dead_new_worker_left_in_its_ring_tells_the_old_one_nothing),
		cmocka_unit_test(what_is_rolled_back_tells_its_neighbours_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

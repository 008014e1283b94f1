/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers whose rings somebody writes into: said once, counted, treated as absent, and brought back by a successor. */
#include "genbed.h"

#include <rte_ring.h>

/* A window in which worker 1 has the lane and gives worker 0 the frames of one flow. */
static struct gb *
draining(void)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);

	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	gb_arp(b, 0);
	gb_turns(b, 2);
	gb_sent(b, 0, NULL, 0);
	gb_commit(b);
	gb_udp(b, 0, 1001, "forwarded");
	gb_turns(b, 3);
	assert_int_equal(b->app[0].got, 2);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 1);
	return b;
}

static unsigned int
times_logged(const struct gb *b, const char *text)
{
	const char *at = b->log;
	unsigned int n = strstr(mock_last_message(b->rt->s), text) != NULL; /* not yet in the log */

	for (; (at = strstr(at, text)) != NULL; at++)
		n++;
	return n;
}

/* PUB-2, DSP-9 */
static void
a_damaged_drain_ring_drops_and_the_new_worker_serves_on(void **state)
{
	struct gb *b = draining();
	struct worker *new = b->rt->w[1];
	struct shim_ring_end *e = &new->port[0]->drain[!worker_side(new)];
	uint64_t dropped = new->rx_dropped;

	(void)state;
	e->r->mask = 0xffffff;
	for (unsigned int i = 0; i < 3; i++) {
		gb_udp(b, 0, 1001, "lost");
		gb_udp(b, 0, 1002, "mine");
		gb_turns(b, 3);
	}
	assert_int_equal(b->app[0].got, 2);
	assert_int_equal(b->app[1].got, 3);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 3);
	assert_int_equal(new->rx_dropped - dropped, 3);
	assert_int_equal(new->rl->moved.drain_full, 2); /* the first was on its way when the damage showed */
	assert_non_null(e->wrong);
	assert_int_equal(times_logged(b, "is damaged: its mask is another; it is not used any more"), 2); /* each worker's own */
	assert_false(gb_logged(b, "ring full"));
	assert_true(worker_ring_empty(new));
	assert_false(worker_ring_crowded(new));
	gb_free(b);
}

/* DSP-9 */
static void
a_damaged_relay_ring_drops_at_once(void **state)
{
	struct gb *b = draining();
	struct worker *old = b->rt->w[0];
	struct shim_ring_end *e = &old->port[0]->relay[worker_side(old)];

	(void)state;
	e->r->prod.tail += 1000;
	gb_udp(b, 0, 1001, "heard, and not answered");
	gb_turns(b, 3);
	gb_udp(b, 0, 1001, "heard, and not answered");
	gb_turns(b, 3);
	assert_int_equal(b->app[0].got, 4);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 0);
	assert_int_equal(old->port[0]->count, 0); /* nothing waits for what will not come */
	assert_int_equal(old->rl->moved.relay_full, 2);
	assert_int_equal(old->tx_dropped, 2);
	assert_true(gb_logged(b, "is damaged: its own side is not where it was left"));
	assert_true(gb_logged(b, "is damaged: it has more entries than room"));
	gb_free(b);
}

/* DSP-9, REL-18 */
static void
a_slot_that_holds_no_frame_is_left_out(void **state)
{
	struct gb *b = draining();
	struct worker *new = b->rt->w[1], *old = b->rt->w[0];
	struct shim_ring_end *e = &new->port[0]->drain[!worker_side(new)];
	struct rte_mbuf *lost;
	uint64_t dropped = old->rx_dropped;
	void **slot;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		gb_udp(b, 0, 1001, "out");
		gb_udp(b, 0, 1001, "in");
		worker_turn(new);
		slot = (void **)(e->r + 1) + (e->r->cons.tail & (e->count - 1));
		lost = *slot;
		*slot = (void *)(uintptr_t)0x1234567;
		gb_turns(b, 2);
		shim_buf_free(b->rt->ws[0], lost);
	}
	assert_int_equal(b->app[0].got, 4);
	assert_int_equal(old->rx_dropped - dropped, 2);
	assert_int_equal(times_logged(b, "held no buffer of the pool; left out"), 1);
	assert_null(e->wrong);
	gb_free(b);
}

/* DSP-9 */
static void
what_comes_back_from_a_relay_ring_comes_once(void **state)
{
	struct gb *b = draining();
	struct worker *old = b->rt->w[0];
	struct shim_ring_end *e = &old->port[0]->relay[worker_side(old)];
	void **slot = (void **)(e->r + 1);
	uint32_t at = e->r->prod.tail;
	struct rte_mbuf *lost;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		gb_udp(b, 0, 1001, "answered");
	worker_turn(b->rt->w[1]);
	worker_turn(old);
	assert_int_equal(e->r->prod.tail - at, 3);
	lost = slot[(at + 1) & (e->count - 1)];
	slot[(at + 1) & (e->count - 1)] = slot[at & (e->count - 1)]; /* the same buffer twice */
	gb_kill(b, 1);
	for (unsigned int i = 0; !gb_owns(b, 0) && i < 300; i++)
		gb_turn(b, 10000);
	gb_turns(b, 3);
	assert_true(gb_owns(b, 0));
	assert_int_equal(gb_sent(b, 0, NULL, 0), 2);
	assert_int_equal(times_logged(b, "a buffer that is in no ring; left out"), 1);
	shim_buf_free(b->rt->ws[0], lost); /* its slot was overwritten: it is in no ring and nobody else's */
	gb_free(b);
}

/* DSP-9, REL-13 */
static void
a_ring_between_queues_is_brought_back_by_a_successor(void **state)
{
	struct gb *b = gb_new(GEN_TWO RT_PORT, 2);
	struct worker *w = b->rt->w[0];
	struct shim_ring_end *e = &w->port[0]->to[1];
	uint64_t dropped;

	(void)state;
	gb_turns(b, 2);
	dropped = w->rx_dropped;
	e->r->capacity = 7;
	gb_arp(b, 0);
	gb_turns(b, 2);
	assert_int_equal(w->rx_dropped - dropped, 1);
	assert_int_equal(times_logged(b, "its capacity is another"), 2);
	gb_kill(b, 0);
	assert_int_equal(gb_worker(b, 1, 0, 0), 0);
	gb_turns(b, 2);
	assert_true(gb_owns(b, 1));
	assert_true(gb_logged(b, "was damaged: mended"));
	assert_int_equal(b->rt->w[1]->port[0]->to[1].r->capacity, b->rt->w[1]->port[0]->to[1].count - 1);
	dropped = b->rt->w[1]->rx_dropped;
	gb_arp(b, 0);
	gb_turns(b, 2);
	assert_int_equal(b->rt->w[1]->rx_dropped, dropped);
	gb_free(b);
}

/* PUB-2, DSP-9 */
static void
no_byte_of_a_drain_rings_header_stops_a_worker(void **state)
{
	struct gb *b = draining();
	struct worker *new = b->rt->w[1], *old = b->rt->w[0];
	unsigned int side = worker_side(old);
	struct rte_ring *r = new->port[0]->drain[side].r;
	uint8_t was, *byte = (uint8_t *)r;

	(void)state;
	for (size_t at = 0; at < sizeof(*r); at++)
		for (unsigned int v = 0; v < 3; v++) {
			unsigned int got = b->app[1].got;

			was = byte[at];
			byte[at] = v == 0 ? 0 : v == 1 ? 0xff : was ^ 1;
			gb_udp(b, 0, 1001, "it depends");
			gb_udp(b, 0, 1002, "mine");
			worker_turn(new);
			worker_turn(old);
			worker_turn(new);
			assert_int_equal(b->app[1].got, got + 1);
			worker_ring_succeed(new, &new->port[0]->drain[side], SHIM_RING_PRODUCER);
			worker_ring_succeed(old, &old->port[0]->drain[side], SHIM_RING_CONSUMER);
			worker_ring_succeed(new, &new->port[0]->drain[side], SHIM_RING_PRODUCER);
			worker_turn(old);
			worker_turn(new);
			gb_sent(b, 0, NULL, 0);
		}
	gb_udp(b, 0, 1001, "as ever");
	gb_turns(b, 3);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 1);
	gb_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_damaged_drain_ring_drops_and_the_new_worker_serves_on),
		cmocka_unit_test(a_damaged_relay_ring_drops_at_once),
		cmocka_unit_test(a_slot_that_holds_no_frame_is_left_out),
		cmocka_unit_test(what_comes_back_from_a_relay_ring_comes_once),
		cmocka_unit_test(a_ring_between_queues_is_brought_back_by_a_successor),
		cmocka_unit_test(no_byte_of_a_drain_rings_header_stops_a_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Two generations of a worker: the window from its opening to its end, what is forwarded, relayed, bounced, copied. */
#include "genbed.h"

#include "core/stack/socket/socket.h"

static uint32_t
window_id(const struct pub *p, enum pub_state *state)
{
	uint32_t wid = 0;

	*state = pub_state_get(p, &wid);
	return wid;
}

/* REL-5, DSP-1, PUB-2 */
static void
a_flow_of_the_old_generation_stays_there_and_a_new_one_does_not(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	struct gen_seat *seat;
	enum pub_state st;
	uint16_t port[4];

	(void)state;
	gb_udp(b, 0, 1001, "before any window");
	gb_turn(b, 100);
	assert_int_equal(gb_sent(b, 0, port, 4), 1);
	assert_int_equal(port[0], 1001);
	assert_int_equal(pub_active(&old->rl->pub, shim_now_ms(old->shim)), 1);
	assert_false(old->window);
	assert_int_equal(window_id(&old->rl->pub, &st), 0);
	assert_int_equal(st, PUB_NONE);
	gb_open(b);
	new = b->rt->w[1];
	assert_int_equal(window_id(&old->rl->pub, &st), b->window.wid);
	assert_int_equal(st, PUB_PUBLISHING);
	assert_true(gb_logged(b, "reload: publishing UDP flows (HUP), 1 in the snapshot"));
	gb_arp(b, 0); /* both learn the neighbour */
	gb_turns(b, 2);
	gb_sent(b, 0, NULL, 0);
	gb_commit(b);
	gb_udp(b, 0, 1001, "old");
	gb_udp(b, 0, 1002, "new");
	gb_turns(b, 3);
	assert_int_equal(b->app[0].got, 2);
	assert_int_equal(b->app[1].got, 1);
	assert_int_equal(gb_sent(b, 0, port, 4), 2);
	assert_int_equal(port[0] + port[1], 1001 + 1002);
	worker_publish(old);
	worker_publish(new);
	seat = old->rl->seat.mine;
	assert_int_equal(seat->relayed, 1);
	assert_int_equal(seat->relay_peak, 1);
	seat = new->rl->seat.mine;
	assert_int_equal(seat->forwarded, 1);
	assert_int_equal(seat->drain_peak, 1);
	assert_int_equal(seat->kept, 1);
	gb_free(b);
}

/* REL-8, PUB-3, REL-5 */
static void
the_old_generation_hands_over_leaves_and_the_rings_are_done_with(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	struct drain_counts c;
	enum pub_state st;
	uint16_t port[4];
	unsigned int turns = 0;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_arp(b, 0);
	gb_turns(b, 2);
	gb_commit(b);
	for (int i = 0; i < 15; i++)
		gb_turn(b, 90000);
	assert_int_equal(gen_drain(b->master, b->dir, worker_side(old), 0, &c), 0);
	assert_int_equal(c.gen, worker_generation(old));
	assert_int_equal(c.udp, 1);
	assert_int_equal(c.tcp + c.half_open, 0);
	gb_sent(b, 0, NULL, 0);
	gb_step(b, WINDOW_RETIRING);
	gb_turn(b, 100);
	assert_int_equal(window_id(&old->rl->pub, &st), b->window.wid);
	assert_int_equal(st, PUB_HANDED);
	gb_udp(b, 0, 1001, "now the new one's");
	while (!worker_stopped(old) && turns++ < 100)
		gb_turn(b, 100);
	assert_in_range(turns, 1, 20);
	assert_int_equal(b->app[1].got, 1);
	assert_int_equal(gb_sent(b, 0, port, 4), 1);
	worker_destroy(old);
	b->rt->w[0] = NULL;
	gb_step(b, WINDOW_CLOSED);
	gb_turns(b, 3);
	assert_true(gb_logged(b, "reload: UDP dispatch: 0 forwarded, 1 kept, 1 taken over, 0 without a peer table"));
	assert_true(gb_logged(b, "reload data plane retired (steady state, generation"));
	assert_false(new->window || new->rl->rings || new->rl->dispatching);
	gb_udp(b, 0, 1003, "steady");
	gb_turn(b, 100);
	assert_int_equal(gb_sent(b, 0, port, 4), 1);
	assert_int_equal(port[0], 1003);
	gb_free(b);
}

/* DSP-8 */
static void
neighbours_are_learned_by_both_generations_whoever_owns_the_lane(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	unsigned int before;

	(void)state;
	gb_open(b);
	gb_sent(b, 0, NULL, 0);
	gb_arp(b, 0);
	gb_turns(b, 2);
	/* both answer: the new one's answer goes out by way of the owner */
	assert_int_equal(gb_sent(b, 0, NULL, 0), 2);
	assert_int_equal(b->rt->w[0]->rl->moved.cloned, 1);
	gb_commit(b);
	before = b->rt->w[1]->rl->moved.cloned;
	gb_arp(b, 0);
	gb_turns(b, 2);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 2);
	assert_int_equal(b->rt->w[1]->rl->moved.cloned - before, 1);
	/* no buffer for the copy: the owner's own is not touched */
	mock_inject(b->rt->s, 0, 0, (uint8_t[60]){ 0 }, 60);
	gb_turn(b, 100);
	gb_arp(b, 0);
	mock_fail_buf_at(b->rt->s, 1);
	worker_turn(b->rt->w[1]);
	mock_fail_buf_at(b->rt->s, 0);
	gb_turns(b, 2);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 1);
	gb_free(b);
}

/* DSP-8 */
static void
what_the_old_worker_has_no_socket_for_goes_back_once(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;
	uint16_t port[4];

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_arp(b, 0);
	gb_turns(b, 2);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	assert_int_equal(sock_close(worker_stack(old), b->app[0].fd), 0);
	b->app[0].fd = -1;
	gb_udp(b, 0, 1001, "its socket is closed");
	gb_turns(b, 4);
	assert_int_equal(old->rl->moved.bounced, 1);
	assert_int_equal(new->rl->moved.forwarded, 1);
	assert_int_equal(b->app[1].got, 1); /* the new one has a socket */
	assert_int_equal(gb_sent(b, 0, port, 4), 1);
	assert_int_equal(sock_close(worker_stack(new), b->app[1].fd), 0);
	b->app[1].fd = -1;
	gb_udp(b, 0, 1001, "nobody has a socket");
	gb_turns(b, 4);
	assert_int_equal(old->rl->moved.bounced, 2);
	assert_int_equal(stack_drops(new->stack, STACK_DROP_UDP_NO_PORT), 1);
	assert_int_equal(stack_drops(old->stack, STACK_DROP_UDP_NO_PORT), 0);
	assert_int_equal(gb_sent(b, 0, port, 4), 1); /* the ICMP error */
	gb_free(b);
}

/* DSP-9 */
static void
a_full_drain_ring_drops_counts_and_says_so(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *new;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_commit(b);
	for (int i = 0; i < 100; i++)
		gb_udp(b, 0, 1001, "more than fits");
	worker_turn(new); /* the old one stands still */
	assert_true(new->rl->crowded);
	for (int i = 0; i < 4; i++)
		worker_turn(new);
	assert_int_equal(new->rl->moved.forwarded, 63);
	assert_int_equal(new->rl->moved.drain_full, 37);
	assert_int_equal(new->rl->moved.drain_peak, 63);
	assert_true(gb_logged(b, "graceful reload drain: ring full (63/63 entries, 1 dropped)"));
	gb_turns(b, 3);
	assert_int_equal(b->app[0].got, 1 + 63);
	gb_free(b);
}

/* DSP-9 */
static void
output_for_a_full_relay_ring_waits_in_order_and_then_is_dropped(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	unsigned int cap = old->port[0]->cap, n = 63 + cap + 9;
	uint8_t f[64] = { 0 };

	(void)state;
	gb_open(b);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	for (unsigned int i = 0; i < n; i++) {
		f[20] = i >> 8;
		f[21] = i & 0xff;
		worker_raw_send(old, 0, f, sizeof(f));
	}
	assert_int_equal(old->rl->moved.relayed, 63);
	assert_int_equal(old->rl->moved.relay_full, 9);
	assert_int_equal(old->rl->moved.relay_peak, 63);
	assert_int_equal(old->port[0]->count, cap);
	assert_true(gb_logged(b, "graceful reload drain: ring full"));
	for (unsigned int i = 0; i < 63 + cap;) {
		gb_turn(b, 100);
		while (mock_collect_bytes(b->rt->s, 0, 0, f, sizeof(f)) > 0) {
			assert_int_equal(f[20] << 8 | f[21], i);
			i++;
		}
	}
	gb_free(b);
}

/* REL-13, PUB-5 */
static void
the_old_worker_dies_while_it_drains(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *new;
	unsigned int i;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_arp(b, 0);
	gb_turns(b, 2);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	gb_udp(b, 0, 1001, "forwarded, never read");
	worker_turn(new);
	assert_int_equal(new->rl->moved.forwarded, 1);
	gb_kill(b, 0);
	for (i = 0; new->rl->dispatching && i < 100; i++)
		gb_turn(b, 10000);
	assert_in_range(i, 1, 50); /* half a second */
	gb_turns(b, 3);
	assert_int_equal(b->app[1].got, 1); /* what waited for it is served */
	gb_udp(b, 0, 1001, "local now");
	gb_turns(b, 2);
	assert_int_equal(b->app[1].got, 2);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 2);
	assert_false(new->rl->rescuing);
	assert_true(new->rl->seat.peer->drain_claim == 0);
	gb_free(b);
}

/* REL-13, REL-5 */
static void
the_new_worker_dies_and_the_old_one_takes_its_lane_back(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	uint16_t port[8];
	unsigned int i;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	gb_arp(b, 0);
	gb_turns(b, 2);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	gb_udp(b, 0, 1001, "forwarded");
	worker_turn(b->rt->w[1]);
	gb_kill(b, 1);
	worker_turn(old); /* its answer is in the relay ring, and nobody takes it out */
	assert_int_equal(old->rl->moved.relayed, 1);
	assert_int_equal(gb_sent(b, 0, port, 8), 0);
	for (i = 0; !gb_owns(b, 0) && i < 300; i++)
		gb_turn(b, 10000);
	assert_in_range(i, 1, 200);
	gb_udp(b, 0, 1002, "after it");
	gb_turns(b, 2);
	assert_int_equal(gb_sent(b, 0, port, 8), 2);
	assert_int_equal(port[0], 1001); /* in order */
	assert_int_equal(port[1], 1002);
	gb_free(b);
}

/* REL-5, REL-6 */
static void
an_aborted_window_changes_nothing_for_the_old_generation(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	uint16_t port[4];
	enum pub_state st;

	(void)state;
	gb_open(b);
	gb_sent(b, 0, NULL, 0);
	gb_step(b, WINDOW_PARKING);
	gb_turn(b, 100);
	assert_false(gb_owns(b, 0));
	assert_int_equal(old->port[0]->route, ROUTE_HOLD);
	gb_udp(b, 0, 1001, "waits in the port");
	gb_turn(b, 100);
	assert_int_equal(mock_rx_waiting(b->rt->s, 0, 0), 1);
	assert_int_equal(worker_raw_send(old, 0, "abcdefabcdefgh", 14), 0);
	gb_step(b, WINDOW_ABORTED);
	gb_turns(b, 2);
	assert_true(gb_owns(b, 0));
	assert_true(worker_stopped(b->rt->w[1]));
	assert_int_equal(window_id(&old->rl->pub, &st), 0);
	assert_int_equal(st, PUB_NONE);
	assert_int_equal(b->app[0].got, 1);
	assert_int_equal(gb_sent(b, 0, port, 4), 2);
	assert_int_equal(port[0], 0); /* what was held came first */
	assert_int_equal(port[1], 1001);
	worker_destroy(b->rt->w[1]);
	b->rt->w[1] = NULL;
	gb_step(b, WINDOW_CLOSED);
	gb_turns(b, 2);
	assert_false(old->rl->rings);
	gb_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_of_the_old_generation_stays_there_and_a_new_one_does_not),
		cmocka_unit_test(the_old_generation_hands_over_leaves_and_the_rings_are_done_with),
		cmocka_unit_test(neighbours_are_learned_by_both_generations_whoever_owns_the_lane),
		cmocka_unit_test(what_the_old_worker_has_no_socket_for_goes_back_once),
		cmocka_unit_test(a_full_drain_ring_drops_counts_and_says_so),
		cmocka_unit_test(output_for_a_full_relay_ring_waits_in_order_and_then_is_dropped),
		cmocka_unit_test(the_old_worker_dies_while_it_drains),
		cmocka_unit_test(the_new_worker_dies_and_the_old_one_takes_its_lane_back),
		cmocka_unit_test(an_aborted_window_changes_nothing_for_the_old_generation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

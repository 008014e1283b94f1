/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of generations that start, fail to start and die: READY, undoing, rings and buffers of the dead. */
#include "genbed.h"

#include "core/stack/socket/socket.h"

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

/* REL-4 */
static void
ready_is_said_when_the_addresses_are_usable(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT RT_PORT6, 1);
	struct gen_seat *seat = b->rt->w[0]->rl->seat.mine;
	struct shim_proc self = shim_self(b->rt->ws[0]);

	(void)state;
	assert_true(seat->ready == 0); /* duplicate address detection takes a second */
	for (int i = 0; i < 25 && seat->ready == 0; i++)
		gb_turn(b, 100000);
	assert_true(seat->ready == ((uint64_t)worker_generation(b->rt->w[0]) << 32 | self.pid));
	gb_sent(b, 0, NULL, 0);
	gb_free(b);
	/* no router: it does not wait for one for ever */
	b = gb_new(GEN_DPDK RT_PORT, 1);
	seat = b->rt->w[0]->rl->seat.mine;
	for (int i = 0; i < 15; i++)
		gb_turn(b, 100000);
	assert_true(seat->ready == 0);
	for (int i = 0; i < 15; i++)
		gb_turn(b, 100000);
	assert_true(seat->ready != 0);
	gb_sent(b, 0, NULL, 0);
	gb_free(b);
}

/* REL-18, REL-13 */
static void
buffers_of_a_dead_worker_come_home(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	unsigned int before, i;

	(void)state;
	gb_turns(b, 3);
	gb_sent(b, 0, NULL, 0);
	before = mock_bufs_out(b->rt->s);
	b->app[0].deaf = true;
	for (i = 0; i < 20; i++)
		gb_udp(b, 0, 1001 + i, "unread");
	gb_turns(b, 2);
	mock_tx_room(b->rt->s, 0, 0, 0);
	for (i = 0; i < 5; i++)
		worker_raw_send(b->rt->w[0], 0, "abcdefabcdefgh", 14);
	assert_int_equal(mock_bufs_out(b->rt->s) - before, 25);
	gb_kill(b, 0);
	mock_tx_room(b->rt->s, 0, 0, UINT32_MAX);
	for (i = 0; i < 3; i++)
		gb_turn(b, 100000);
	assert_true(gb_logged(b, "worker 1 of side 0"));
	assert_true(gb_logged(b, "25 of its buffers came home"));
	assert_int_equal(mock_bufs_out(b->rt->s), before);
	/* a successor of the same generation has the lane, and a table without the dead one's flows */
	assert_int_equal(gb_worker(b, 2, 0, 0), 0);
	assert_int_equal(pub_active(&b->rt->w[2]->rl->pub, shim_now_ms(b->rt->s)), 0);
	gb_turns(b, 2);
	assert_true(gb_owns(b, 2));
	gb_free(b);
}

/* REL-18 */
static void
a_successor_that_is_faster_than_the_primary_sweeps_itself(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	unsigned int before = mock_bufs_out(b->rt->s);
	struct ctl_block *block = b->rt->w[0]->block;
	struct shim_proc self = shim_self(b->rt->s);
	uint32_t mark = b->rt->w[0]->mark;

	(void)state;
	b->app[0].deaf = true;
	for (unsigned int i = 0; i < 9; i++)
		gb_udp(b, 0, 1001, "unread");
	worker_turn(b->rt->w[0]);
	gb_kill(b, 0);
	/* the primary is at it for longer than the successor waits */
	block->sweeper = ctl_proc_word(&self);
	assert_int_equal(gb_worker(b, 2, 0, 0), -EBUSY);
	assert_true(gb_logged(b, "being swept all the time"));
	block->sweeper = 0;
	assert_int_equal(gb_worker(b, 2, 0, 0), 0);
	assert_true(gb_logged(b, "9 buffers of its dead predecessor came home"));
	assert_true(b->rt->w[2]->mark != mark);
	gb_turns(b, 2);
	gb_sent(b, 0, NULL, 0);
	assert_int_equal(mock_bufs_out(b->rt->s), before);
	gb_free(b);
}

/* REL-4, REL-2 */
static void
each_failure_of_the_start_undoes_everything(void **state)
{
	static const struct { enum mock_op op; unsigned int nth; int err; } fail[] = {
		{ MOCK_OP_zone_lookup, 3, ENOENT }, { MOCK_OP_zone_lookup, 4, ENOENT }, { MOCK_OP_zone_lookup, 5, ENOENT },
		{ MOCK_OP_zone_lookup, 6, ENOENT }, { MOCK_OP_pool_lookup, 1, ENOENT }, { MOCK_OP_ring_lookup, 1, ENOENT },
		{ MOCK_OP_ring_lookup, 2, ENOENT }, { MOCK_OP_ring_lookup, 4, ENOENT },
	};
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 0);
	unsigned int before = mock_mallocs_out(b->rt->s), k;

	(void)state;
	for (size_t i = 0; i < sizeof(fail) / sizeof(fail[0]); i++) {
		mock_fail(b->rt->s, fail[i].op, fail[i].nth, fail[i].err);
		if (gb_worker(b, 0, 0, 0) >= 0)
			fail_msg("%s number %u failed, and the worker started", mock_op_name(fail[i].op), fail[i].nth);
		assert_int_equal(mock_mallocs_out(b->rt->s), before);
		assert_true(b->dir->seat[0][0].claim == 0 && b->dir->seat[1][0].claim == 0);
	}
	for (k = 1; k < 300; k++) {
		mock_fail_malloc_at(b->rt->s, k);
		if (gb_worker(b, 0, 0, 0) == 0)
			break;
		assert_int_equal(mock_mallocs_out(b->rt->s), before);
	}
	mock_fail_malloc_at(b->rt->s, 0);
	assert_in_range(k, 10, 299);
	assert_int_equal(gb_worker(b, 1, 0, 0), -EBUSY); /* the seat is taken */
	assert_int_equal(gb_worker(b, 1, 0, 77), -ESTALE);
	gb_free(b);
}

/* REL-13 */
static void
a_successor_takes_the_ends_of_the_rings_between_queues(void **state)
{
	struct gb *b = gb_new(GEN_TWO RT_PORT, 2);
	struct rte_ring *r = b->rt->w[0]->port[0]->to[1].r, *back = b->rt->w[0]->port[0]->from[1].r;
	uint16_t port[8];

	(void)state;
	gb_turns(b, 2);
	/* what its peer gave it waits in the ring when it dies */
	gb_arp(b, 1);
	worker_turn(b->rt->w[2]);
	assert_int_equal(shim_ring_count(b->rt->s, back), 1);
	gb_kill(b, 0);
	r->prod.head += 3; /* it died while it put three frames in */
	assert_int_equal(gb_worker(b, 1, 0, 0), 0);
	gb_turns(b, 2);
	assert_true(gb_owns(b, 1));
	assert_int_equal(r->prod.head, r->prod.tail);
	assert_int_equal(shim_ring_count(b->rt->s, back), 0);
	gb_sent(b, 0, NULL, 0);
	gb_udp(b, 0, 1001, "its neighbour was learned from the ring");
	gb_turns(b, 2);
	assert_int_equal(gb_sent(b, 0, port, 8), 1);
	assert_int_equal(port[0], 1001);
	gb_free(b);
}

/* DSP-9 */
static void
what_is_left_in_the_relay_ring_goes_before_the_backlog(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	unsigned int n = 63 + WORKER_BACKLOG;
	uint8_t f[64] = { 0 };

	(void)state;
	gb_open(b);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	gb_kill(b, 1);
	for (unsigned int i = 0; i < n; i++) {
		f[20] = i >> 8;
		f[21] = i & 0xff;
		worker_raw_send(old, 0, f, sizeof(f));
	}
	assert_int_equal(old->rl->moved.relay_full, 0);
	assert_true(worker_next_wake(old) <= WORKER_NAP_NS);
	for (unsigned int i = 0; !gb_owns(b, 0) && i < 300; i++)
		gb_turn(b, 10000);
	gb_turns(b, 30);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(mock_collect_bytes(b->rt->s, 0, 0, f, sizeof(f)), 64);
		assert_int_equal(f[20] << 8 | f[21], i);
	}
	gb_free(b);
}

/* REL-13, DSP-8 */
static void
what_went_back_to_an_owner_that_is_dead_is_answered_by_the_old_one(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	struct rte_ring *r = old->port[0]->drain[!worker_side(old)].r;
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
	assert_int_equal(sock_close(worker_stack(old), b->app[0].fd), 0);
	b->app[0].fd = -1;
	worker_turn(old);
	assert_int_equal(old->rl->moved.bounced, 1);
	assert_int_equal(shim_ring_count(b->rt->s, r), 1);
	for (i = 0; !gb_owns(b, 0) && i < 300; i++)
		gb_turn(b, 10000);
	gb_turns(b, 3);
	assert_int_equal(stack_drops(old->stack, STACK_DROP_UDP_NO_PORT), 1);
	assert_int_equal(shim_ring_count(b->rt->s, r), 0);
	assert_false(old->rl->rescuing);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 1); /* port unreachable */
	gb_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_old_worker_dies_while_it_drains),
		cmocka_unit_test(the_new_worker_dies_and_the_old_one_takes_its_lane_back),
		cmocka_unit_test(ready_is_said_when_the_addresses_are_usable),
		cmocka_unit_test(buffers_of_a_dead_worker_come_home),
		cmocka_unit_test(a_successor_that_is_faster_than_the_primary_sweeps_itself),
		cmocka_unit_test(each_failure_of_the_start_undoes_everything),
		cmocka_unit_test(a_successor_takes_the_ends_of_the_rings_between_queues),
		cmocka_unit_test(what_is_left_in_the_relay_ring_goes_before_the_backlog),
		cmocka_unit_test(what_went_back_to_an_owner_that_is_dead_is_answered_by_the_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

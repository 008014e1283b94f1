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
	uint64_t begin;

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
	begin = shim_clock_ns(b->rt->s);
	worker_rest(new, 1); /* it gets the processor, whatever there is to do */
	assert_true(shim_clock_ns(b->rt->s) - begin == WORKER_NAP_NS);
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
	unsigned int cap = WORKER_BACKLOG, n = 63 + cap + 9;
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

/* STK-9 */
static void
an_idle_worker_naps_while_two_generations_share_its_lane(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	uint64_t begin;

	(void)state;
	gb_turns(b, 2);
	b->rt->cfg.idle_sleep_us = 0;
	assert_true(worker_next_wake(b->rt->w[0]) <= SEAT_LOOK_NS); /* it beats, whatever else is to do */
	begin = shim_clock_ns(b->rt->s);
	worker_rest(b->rt->w[0], 0);
	assert_true(shim_clock_ns(b->rt->s) == begin); /* idle_sleep=0: never */
	gb_open(b);
	for (unsigned int i = 0; i < 2; i++) {
		begin = shim_clock_ns(b->rt->s);
		worker_turn(b->rt->w[i]);
		worker_rest(b->rt->w[i], 0);
		assert_in_range(shim_clock_ns(b->rt->s) - begin, 1, WORKER_NAP_NS);
		begin = shim_clock_ns(b->rt->s);
		worker_rest(b->rt->w[i], 1);
		assert_true(shim_clock_ns(b->rt->s) == begin);
	}
	gb_free(b);
}

/* A chain of two segments that somebody else refers to, and one of memory that is not the pool's. */
static struct rte_mbuf *
lent(struct worker *w, bool chain)
{
	struct rte_mbuf *m = shim_buf_alloc(w->shim, w->pool), *n, *c;

	memset(shim_buf_append(m, 100), 'a', 100);
	m->vlan_tci = 5;
	m->packet_type = 0x11;
	m->ol_flags = RTE_MBUF_F_TX_VLAN;
	if (chain) {
		n = shim_buf_alloc(w->shim, w->pool);
		memset(shim_buf_append(n, 50), 'b', 50);
		shim_buf_chain(m, n);
		return m;
	}
	c = shim_buf_clone(w->shim, m, w->pool);
	c->ol_flags |= RTE_MBUF_F_TX_VLAN;
	shim_buf_free(w->shim, m);
	return c;
}

/* DSP-9, REL-13 */
static void
what_crosses_to_another_process_is_referred_to_once(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0];
	struct rte_mbuf *m[3], *out;

	(void)state;
	gb_open(b);
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	m[0] = lent(old, false); /* indirect */
	m[1] = lent(old, true);
	m[2] = lent(old, true);
	shim_buf_ref(old->shim, m[2], 1);
	out = m[2];
	assert_int_equal(worker_tx(old->port[0], m, 3), 3);
	shim_buf_free(old->shim, out);
	gb_turn(b, 100);
	for (unsigned int i = 0; i < 3; i++) {
		out = mock_collect(b->rt->s, 0, 0);
		assert_non_null(out);
		assert_int_equal(out->vlan_tci, 5);
		assert_true(out->ol_flags & RTE_MBUF_F_TX_VLAN);
		assert_int_equal(shim_buf_len(out), i == 0 ? 100 : 150);
		assert_int_equal(shim_buf_mark(out), 0);
		for (const struct rte_mbuf *s = out; s != NULL; s = s->next) {
			assert_int_equal(rte_mbuf_refcnt_read(s), 1);
			assert_true(RTE_MBUF_DIRECT(s));
		}
		shim_buf_free(b->rt->s, out);
	}
	/* no buffer for the copy: dropped and counted, what follows goes */
	m[0] = lent(old, false);
	m[1] = lent(old, true);
	mock_fail_buf_at(b->rt->s, 1);
	assert_int_equal(worker_tx(old->port[0], m, 2), 2);
	mock_fail_buf_at(b->rt->s, 0);
	assert_int_equal(old->tx_dropped, 1);
	gb_turn(b, 100);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 1);
	gb_free(b);
}

/* DSP-9 */
static void
what_the_port_said_of_a_frame_survives_the_ring(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *new;
	struct rte_mbuf *m, *same;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_commit(b);
	gb_udp(b, 0, 1001, "with flags");
	assert_int_equal(shim_rx_burst(b->rt->ws[1], 0, 0, &m, 1), 1);
	m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_RSS_HASH;
	m->hash.rss = 0x12345678;
	m->packet_type = RTE_PTYPE_L3_IPV4;
	m->vlan_tci = 9;
	shim_buf_mark_set(m, new->mark);
	worker_window_input(new->port[0], &m, 1);
	assert_int_equal(shim_ring_take(b->rt->ws[0], new->port[0]->drain[!worker_side(new)].r, &same, 1, 7), 1);
	assert_ptr_equal(same, m);
	assert_true(m->ol_flags == (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_RSS_HASH));
	assert_int_equal(m->hash.rss, 0x12345678);
	assert_int_equal(m->packet_type, RTE_PTYPE_L3_IPV4);
	assert_int_equal(m->vlan_tci, 9);
	assert_int_equal(shim_buf_mark(m), 7);
	shim_buf_free(b->rt->ws[0], m);
	gb_free(b);
}

/* A table that is not what it should be: nothing is forwarded, and the window goes on. */
/* PUB-3, DSP-4 */
static void
a_peers_table_that_can_not_be_trusted_is_absent(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	b->rt->w[0]->rl->pub.t->layout_version = 99;
	gb_commit(b);
	assert_true(b->rt->w[1]->rl->dispatching);
	gb_udp(b, 0, 1001, "local");
	gb_turns(b, 2);
	assert_int_equal(b->app[1].got, 1);
	gb_free(b);
}

/* ---- two lanes ---- */

/* DSP-1, DSP-8 */
static void
lanes_change_hands_one_by_one_and_share_what_both_need(void **state)
{
	struct gb *b = gb_new(GEN_TWO RT_PORT, 2);
	uint16_t port[8];

	(void)state;
	gb_udp(b, 0, 1001, "lane 0");
	gb_udp(b, 1, 1002, "lane 1");
	gb_turn(b, 100);
	gb_sent(b, 0, NULL, 0);
	gb_sent(b, 1, NULL, 0);
	gb_open(b);
	assert_int_equal(gb_worker(b, 3, 1, b->window.wid), 0);
	for (int i = 0; i < 3; i++)
		gb_turn(b, SEAT_LOOK_NS / 1000);
	gb_sent(b, 0, NULL, 0);
	gb_sent(b, 1, NULL, 0);
	/* one request, four neighbour tables: two lanes, two generations; the answers leave by both queues */
	gb_arp(b, 0);
	gb_turns(b, 4);
	assert_int_equal(gb_sent(b, 0, NULL, 0), 2);
	assert_int_equal(gb_sent(b, 1, NULL, 0), 2);
	gb_step(b, WINDOW_PARKING);
	/* handed from queue to queue just before the lanes change hands: the new owner finds it */
	gb_arp(b, 0);
	worker_turn(b->rt->w[0]);
	assert_true(gb_owns(b, 2));
	gb_turns(b, 2);
	gb_step(b, WINDOW_COMMITTED);
	gb_turns(b, 2);
	assert_true(gb_owns(b, 1) && gb_owns(b, 3));
	gb_sent(b, 0, NULL, 0);
	gb_sent(b, 1, NULL, 0);
	gb_udp(b, 0, 1001, "still lane 0's old one");
	gb_udp(b, 1, 1002, "still lane 1's old one");
	gb_udp(b, 1, 1003, "the new one");
	gb_turns(b, 3);
	assert_int_equal(b->app[0].got, 2);
	assert_int_equal(b->app[2].got, 2);
	assert_int_equal(b->app[3].got, 1);
	assert_int_equal(gb_sent(b, 0, port, 8), 1);
	assert_int_equal(port[0], 1001);
	assert_int_equal(gb_sent(b, 1, port, 8), 2);
	assert_int_equal(port[0] + port[1], 1002 + 1003);
	gb_free(b);
}

/* ---- fragments ---- */

/* DSP-1, DSP-8 */
static void
fragments_follow_their_first_one_and_are_not_sent_back(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT, 1);
	struct worker *old = b->rt->w[0], *new;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_commit(b);
	gb_frag(b, 0, 1001, 5, false); /* waits for the first one */
	gb_turns(b, 2);
	assert_int_equal(new->rl->moved.forwarded, 0);
	gb_frag(b, 0, 1001, 5, true);
	gb_turns(b, 3);
	assert_int_equal(new->rl->moved.forwarded, 2);
	assert_int_equal(b->app[0].got, 2);
	assert_int_equal(sock_close(worker_stack(old), b->app[0].fd), 0);
	b->app[0].fd = -1;
	gb_frag(b, 0, 1001, 6, true);
	gb_frag(b, 0, 1001, 6, false);
	gb_turns(b, 3);
	assert_int_equal(old->rl->moved.bounced, 0);
	assert_int_equal(stack_drops(old->stack, STACK_DROP_UDP_NO_PORT), 1);
	/* a new flow's are local */
	gb_frag(b, 0, 1009, 7, true);
	gb_frag(b, 0, 1009, 7, false);
	gb_turns(b, 2);
	assert_int_equal(b->app[1].got, 1);
	gb_free(b);
}

/* DSP-1 */
static void
fragments_whose_first_one_is_late_go_on_by_time_and_by_the_windows_end(void **state)
{
	struct gb *b = gb_new("[dpdk]\nlcore_mask=3\nport_list=0\nprimary_slim=1\ngraceful_reload=1\npkt_tx_delay=0\n"
		"drain_ring_size=64\npublish_entries=64\n" RT_PORT, 1);
	struct worker *new;
	unsigned int out;
	uint64_t seen;

	(void)state;
	gb_udp(b, 0, 1001, "a flow");
	gb_turn(b, 100);
	gb_open(b);
	new = b->rt->w[1];
	gb_commit(b);
	gb_sent(b, 0, NULL, 0);
	gb_udp(b, 0, 1002, "the window's first burst");
	gb_turns(b, 2);
	gb_sent(b, 0, NULL, 0);
	out = mock_bufs_out(b->rt->s);
	gb_frag(b, 0, 1001, 5, false);
	gb_turns(b, 2);
	assert_int_equal(new->rl->moved.cloned, 0); /* held */
	gb_turn(b, FRAG_HELD_MS * 1000);
	gb_turn(b, 100);
	assert_int_equal(new->rl->moved.cloned, 1); /* nobody knows whose it is: both get it */
	assert_int_equal(mock_bufs_out(b->rt->s), out + 2);
	seen = worker_netif(new, 0)->stats.rx_packets;
	gb_frag(b, 0, 1001, 6, false);
	worker_turn(new);
	assert_int_equal(worker_netif(new, 0)->stats.rx_packets, seen);
	gb_step(b, WINDOW_ROLLBACK);
	gb_turn(b, 100);
	assert_false(new->rl->dispatching);
	assert_int_equal(worker_netif(new, 0)->stats.rx_packets, seen + 1);
	assert_false(gb_owns(b, 1));
	gb_free(b);
}

/* DSP-1 */
static void
what_is_held_comes_out_at_its_own_port(void **state)
{
	struct gb *b;
	struct worker *new;
	struct netif *other;
	uint64_t seen;

	(void)state;
	b = test_calloc(1, sizeof(*b));
	b->rt = rt_new("[dpdk]\nlcore_mask=3\nport_list=0-1\nprimary_slim=1\ngraceful_reload=1\npkt_tx_delay=0\n"
		"drain_ring_size=64\npublish_entries=64\n" RT_PORT "[port1]\naddr=198.51.100.2\nnetmask=255.255.255.0\n"
		"broadcast=198.51.100.255\ngateway=198.51.100.1\n");
	mock_port_add(b->rt->s, NULL);
	gb_start(b, 1);
	gb_open(b);
	new = b->rt->w[1];
	gb_commit(b);
	other = worker_netif(new, 1);
	seen = other->stats.rx_packets;
	gb_frag(b, 1, 1001, 5, false);
	gb_turns(b, 2);
	assert_int_equal(other->stats.rx_packets, seen);
	gb_udp(b, 0, 1002, "another port's burst");
	gb_turn(b, FRAG_HELD_MS * 1000);
	gb_udp(b, 0, 1002, "another port's burst");
	gb_turns(b, 2);
	assert_int_equal(other->stats.rx_packets, seen + 1);
	gb_sent(b, 0, NULL, 0);
	while (mock_tx_waiting(b->rt->s, 1, 0) > 0)
		mock_collect_bytes(b->rt->s, 1, 0, &(uint8_t[4]){ 0 }, 4);
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
		cmocka_unit_test(an_aborted_window_changes_nothing_for_the_old_generation),
		cmocka_unit_test(an_idle_worker_naps_while_two_generations_share_its_lane),
		cmocka_unit_test(what_crosses_to_another_process_is_referred_to_once),
		cmocka_unit_test(what_the_port_said_of_a_frame_survives_the_ring),
		cmocka_unit_test(a_peers_table_that_can_not_be_trusted_is_absent),
		cmocka_unit_test(fragments_follow_their_first_one_and_are_not_sent_back),
		cmocka_unit_test(fragments_whose_first_one_is_late_go_on_by_time_and_by_the_windows_end),
		cmocka_unit_test(what_is_held_comes_out_at_its_own_port),
		cmocka_unit_test(lanes_change_hands_one_by_one_and_share_what_both_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

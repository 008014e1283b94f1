/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker: what it refuses, its turn, sending under pressure, control words, several queues, the packet dispatcher. */
#include "fixture.h"

#include <arpa/inet.h>

#define TWO "[dpdk]\nlcore_mask=3\nport_list=0\nidle_sleep=10\npkt_tx_delay=0\n"

static void
drain_tx(struct rt *rt, uint16_t queue)
{
	uint8_t f[2048];

	while (mock_collect_bytes(rt->s, 0, queue, f, sizeof(f)) > 0)
		;
}

static void
give(struct rt *rt, uint16_t queue, const uint8_t *f, size_t n)
{
	assert_int_equal(mock_inject(rt->s, 0, queue, f, n), 0);
}

/* The bed's neighbour is known after this: what is sent to it leaves at once. */
static void
meet(struct rt *rt, uint16_t queue)
{
	uint8_t f[128];

	rt_turn(rt, 1);
	give(rt, queue, f, rt_arp_request(f, "192.0.2.2", "192.0.2.9"));
	rt_turn(rt, 1);
	rt_turn(rt, 1);
	drain_tx(rt, queue);
}

static void
ping(struct rt *rt, uint16_t queue, uint16_t seq)
{
	uint8_t f[128];

	give(rt, queue, f, rt_ping(f, "192.0.2.2", "192.0.2.9", seq));
}

/* STK-2 */
static void
test_answers_arp_and_ping(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT RT_PORT6 RT_NO_DAD, 1);
	uint8_t f[2048];
	uint64_t traffic[6];

	(void)state;
	meet(rt, 0);
	ping(rt, 0, 5);
	assert_int_equal(worker_turn(rt->w[0]), 2);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 60);
	assert_int_equal(f[34], 0); /* echo reply */
	assert_int_equal(f[41], 5);
	assert_int_equal(worker_turn(rt->w[0]), 0);
	assert_in_range(rt->loops, 5, 6);
	worker_traffic(rt->w[0], traffic);
	assert_int_equal(traffic[0], 2);
	assert_int_equal(traffic[1], 120);
	assert_true(traffic[2] >= 2 && traffic[3] >= 120);
	assert_int_equal(traffic[4] + traffic[5], 0);
	rt_free(rt);
}

static void
test_counters_reach_the_block(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct ctl_block *b = rt->w[0]->block;
	uint8_t f[64] = { 0x02, 0, 0, 0, 0, 0x55, 0x02, 0, 0, 0, 0, 0x99, 0x08 };

	(void)state;
	meet(rt, 0);
	give(rt, 0, f, 60);
	rt_turn(rt, 2);
	rt_turn(rt, 2);
	assert_int_equal(b->rx_packets, 2);
	assert_int_equal(b->drops[STACK_DROP_ETH_NOT_FOR_US], 1);
	assert_int_equal(b->pool_size, 8191);
	assert_true(b->heartbeat == b->turns || b->heartbeat == rt->w[0]->turns);
	assert_true(b->idle_turns > 0 && b->cycles_idle > 0);
	/* once published, the worker has nothing to do of itself but its timers */
	assert_false(rt->w[0]->dirty);
	rt_free(rt);
}

/* CFG-6 */
static void
test_refusals(void **state)
{
	struct rt *rt = rt_new(RT_DPDK RT_PORT);

	(void)state;
	assert_int_equal(rt_worker(rt, 0, 0), -ENOENT);
	assert_non_null(strstr(mock_last_message(rt->s), "nonic primary --conf test.ini"));
	rt->w[0] = NULL;
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	assert_int_equal(rt_worker(rt, 0, 1), -EINVAL);
	assert_non_null(strstr(mock_last_message(rt->s), "no worker's"));
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	assert_int_equal(rt_worker(rt, 1, 0), -EBUSY);
	assert_non_null(strstr(mock_last_message(rt->s), "running already"));
	worker_destroy(rt->w[0]);
	rt->w[0] = rt->w[1] = NULL;
	rt->cfg.max_mtu = 5000; /* a device-side key */
	assert_int_equal(rt_worker(rt, 0, 0), -EINVAL);
	assert_non_null(strstr(mock_last_message(rt->s), "device-side"));
	rt->w[0] = NULL;
	rt_free(rt);
}

/* MTU-1 */
static void
test_three_views_of_the_mtu_must_agree(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 0);

	(void)state;
	assert_int_equal(shim_port_mtu_set(rt->s, 0, 1400), 0); /* behind the worker's back */
	assert_true(rt_worker(rt, 0, 0) < 0);
	rt->w[0] = NULL;
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1);
	rt_free(rt);
}

static void
test_each_failure_undoes_everything(void **state)
{
	static const struct { enum mock_op op; unsigned int nth; int err; } fail[] = {
		{ MOCK_OP_zone_lookup, 1, ENOENT }, { MOCK_OP_zone_lookup, 2, ENOENT }, { MOCK_OP_zone_lookup, 4, ENOENT },
		{ MOCK_OP_pool_lookup, 1, ENOENT }, { MOCK_OP_ring_lookup, 1, ENOENT }, { MOCK_OP_ring_lookup, 2, ENOENT },
		{ MOCK_OP_port_info, 1, EIO }, { MOCK_OP_port_mtu_get, 1, EIO }, { MOCK_OP_cas, 1, EAGAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fail) / sizeof(fail[0]); i++) {
		struct rt *rt = rt_bed(TWO RT_PORT, 0);
		unsigned int before = mock_mallocs_out(rt->s);
		struct ctl_block *b;

		mock_fail(rt->s, fail[i].op, fail[i].nth, fail[i].err);
		if (rt_worker(rt, 0, 0) >= 0)
			fail_msg("%s number %u failed, and the worker started", mock_op_name(fail[i].op), fail[i].nth);
		rt->w[0] = NULL;
		assert_int_equal(mock_mallocs_out(rt->s), before);
		assert_int_equal(ctl_attach(rt->tool, 1, &b), 0);
		assert_int_equal(b->state, CTL_FREE);
		assert_true(b->claim == 0);
		assert_int_equal(rt_worker(rt, 0, 0), 0);
		rt_free(rt);
	}
}

static void
test_every_allocation_may_fail(void **state)
{
	struct rt *rt = rt_bed(TWO "vlan_filter=5\n" RT_PORT RT_PORT6 "[vlan5]\nportid=0\naddr=10.5.0.2\nnetmask=255.255.0.0\n"
		"broadcast=10.5.255.255\ngateway=10.5.0.1\n", 0);
	unsigned int before = mock_mallocs_out(rt->s), k;

	(void)state;
	for (k = 1; k < 200; k++) {
		mock_fail_malloc_at(rt->s, k);
		if (rt_worker(rt, 0, 0) == 0)
			break;
		rt->w[0] = NULL;
		assert_int_equal(mock_mallocs_out(rt->s), before);
		assert_int_equal(mock_bufs_out(rt->s), 0);
	}
	mock_fail_malloc_at(rt->s, 0);
	assert_in_range(k, 5, 199);
	rt_free(rt);
}

/* As F-Stack does it: a port with VLANs has no addresses of its own. */
static void
test_addresses_vips_vlans_routes(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\nvlan_filter=5\n" RT_PORT
		"[vlan5]\nportid=0\naddr=10.5.0.2\nnetmask=255.255.0.0\nbroadcast=10.5.255.255\ngateway=10.5.0.1\n"
		"vip_addr=10.5.0.7;10.5.0.8\naddr6=2001:db8:5::2\nprefix_len=64\ngateway6=2001:db8:5::1\n"
		"vip_addr6=2001:db8:5::7\nvip_prefix_len=64\n", 1);
	struct stack *s = worker_stack(rt->w[0]);
	struct netif *port = worker_netif(rt->w[0], 0), *vlan = stack_if_by_name(s, "f-stack-0.5");

	(void)state;
	assert_non_null(port);
	assert_null(worker_netif(rt->w[0], 1));
	assert_int_equal(port->nb_addr4, 0);
	assert_non_null(vlan);
	assert_int_equal(vlan->cfg.vlan, 5);
	assert_non_null(netif_find4(vlan, inet_addr("10.5.0.2")));
	assert_non_null(netif_find4(vlan, inet_addr("10.5.0.8")));
	assert_int_equal(vlan->nb_addr4, 3);
	assert_false(vlan->cfg.accept_ra);
	assert_true(port->cfg.accept_ra); /* no IPv6 address of its own: autoconfiguration */
	rt_free(rt);
}

static void
test_second_default_gateway_is_not_used(void **state)
{
	struct rt *rt = rt_new("[dpdk]\nlcore_mask=1\nport_list=0-1\n" RT_PORT RT_PORT6 "[port1]\naddr=198.51.100.2\n"
		"netmask=255.255.255.0\nbroadcast=198.51.100.255\ngateway=198.51.100.1\naddr6=2001:db8:1::2\n"
		"gateway6=2001:db8:1::1\n");

	(void)state;
	mock_port_add(rt->s, NULL);
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 0);
	assert_non_null(worker_netif(rt->w[0], 1));
	rt_free(rt);
}

static void
test_bad_addresses_stop_it(void **state)
{
	static const char *const more[] = {
		"vip_addr=192.0.2.2\n", "addr6=2001:db8::2\nvip_addr6=2001:db8::2\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[512];
		struct rt *rt;

		snprintf(text, sizeof(text), "%s%s%s", RT_DPDK, RT_PORT, more[i]);
		rt = rt_bed(text, 0);
		assert_int_equal(rt_worker(rt, 0, 0), -EEXIST);
		rt->w[0] = NULL;
		assert_non_null(strstr(mock_last_message(rt->s), "vip_addr"));
		rt_free(rt);
	}
}

static void
test_port_without_mac_gets_one(void **state)
{
	struct rt *rt = rt_bed(TWO RT_PORT, 0);

	(void)state;
	memset(mock_port(rt->s, 0)->mac, 0, 6);
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	assert_int_equal(rt_worker(rt, 1, 1), 0);
	assert_int_equal(worker_netif(rt->w[0], 0)->cfg.mac[0], 0x02);
	assert_memory_equal(worker_netif(rt->w[0], 0)->cfg.mac, worker_netif(rt->w[1], 0)->cfg.mac, 6);
	rt_free(rt);
}

/* ---- sending ---- */

static void
test_full_queue_keeps_frames_in_order(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	uint8_t f[2048];

	(void)state;
	meet(rt, 0);
	mock_tx_room(rt->s, 0, 0, 3);
	for (uint16_t i = 0; i < 20; i++)
		ping(rt, 0, i);
	assert_int_equal(worker_turn(rt->w[0]), 23);
	assert_int_equal(rt->w[0]->port[0]->count, 17);
	mock_tx_room(rt->s, 0, 0, UINT32_MAX);
	worker_turn(rt->w[0]);
	assert_int_equal(rt->w[0]->port[0]->count, 0);
	for (uint16_t i = 0; i < 20; i++) {
		assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 60);
		assert_int_equal(f[41], i);
	}
	rt_free(rt);
}

static void
test_only_a_full_backlog_drops(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct worker *w = rt->w[0];

	(void)state;
	meet(rt, 0);
	mock_tx_room(rt->s, 0, 0, 0);
	for (unsigned int i = 0; i < WORKER_BACKLOG + 50; i++) {
		ping(rt, 0, i);
		worker_turn(w);
	}
	assert_int_equal(w->port[0]->count, WORKER_BACKLOG);
	assert_int_equal(w->tx_dropped, 50);
	assert_int_equal(stack_drops(w->stack, STACK_DROP_TX_FULL), 50);
	mock_tx_room(rt->s, 0, 0, UINT32_MAX);
	assert_int_equal(worker_turn(w), WORKER_BACKLOG);
	drain_tx(rt, 0);
	rt_free(rt);
}

static void
test_tx_delay_waits_for_company(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\npkt_tx_delay=100\n" RT_PORT, 1);
	struct worker *w = rt->w[0];

	(void)state;
	meet(rt, 0);
	rt_turn(rt, 1);
	drain_tx(rt, 0);
	ping(rt, 0, 1);
	worker_turn(w);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 0);
	assert_in_range(worker_next_wake(w), 1, 100000);
	mock_advance_ns(rt->s, 99000);
	worker_turn(w);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 0);
	mock_advance_ns(rt->s, 1000);
	worker_turn(w);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 1);
	/* a burst's worth does not wait */
	for (uint16_t i = 0; i < 32; i++)
		ping(rt, 0, i);
	worker_turn(w);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 33);
	rt_free(rt);
}

static void
test_port_without_gather_gets_single_buffers(void **state)
{
	struct rt *rt = rt_new(RT_DPDK RT_PORT);
	struct rte_mbuf *m, *big[3];
	struct worker *w;

	(void)state;
	mock_port(rt->s, 0)->tx_offloads &= ~SHIM_TX_MULTI_SEGS;
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	w = rt->w[0];
	worker_turn(w);
	drain_tx(rt, 0);
	for (int i = 0; i < 3; i++) {
		big[i] = shim_buf_alloc(w->shim, w->pool);
		m = shim_buf_alloc(w->shim, w->pool);
		memset(shim_buf_append(big[i], 700), 'a', 700);
		memset(shim_buf_append(m, i == 1 ? 2000 : 100), 'b', 100); /* the second does not fit one buffer */
		assert_int_equal(shim_buf_chain(big[i], m), 0);
	}
	mock_fail_buf_at(rt->s, 2); /* and for the third there is none */
	assert_int_equal(worker_tx(w->port[0], big, 3), 3);
	mock_fail_buf_at(rt->s, 0);
	assert_int_equal(w->tx_dropped, 2);
	m = mock_collect(rt->s, 0, 0);
	assert_non_null(m);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, 800);
	shim_buf_free(rt->s, m);
	assert_null(mock_collect(rt->s, 0, 0));
	/* single buffers pass as they are, and a full back-log drops here too */
	mock_tx_room(rt->s, 0, 0, 0);
	for (unsigned int i = 0; i <= WORKER_BACKLOG; i++) {
		m = shim_buf_alloc(w->shim, w->pool);
		shim_buf_append(m, 60);
		assert_int_equal(worker_tx(w->port[0], &m, 1), 1);
	}
	assert_int_equal(w->tx_dropped, 3);
	rt_free(rt);
}

static void
test_raw_send(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\npkt_tx_delay=0\nmtu_enable=1\nmbuf_mode=scatter\n" RT_PORT "mtu=9000\n", 1);
	static uint8_t frame[9100], back[9100];

	(void)state;
	worker_turn(rt->w[0]);
	drain_tx(rt, 0);
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = i;
	assert_int_equal(worker_raw_send(rt->w[0], 3, frame, 60), -ENODEV);
	assert_int_equal(worker_raw_send(rt->w[0], 0, frame, 13), -EINVAL);
	assert_int_equal(worker_raw_send(rt->w[0], 0, frame, 9027), -EMSGSIZE);
	assert_int_equal(worker_raw_send(rt->w[0], 0, frame, 9014), 0);
	worker_turn(rt->w[0]);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, back, sizeof(back)), 9014);
	assert_memory_equal(frame, back, 9014);
	mock_fail_buf_at(rt->s, 3);
	assert_int_equal(worker_raw_send(rt->w[0], 0, frame, 9014), -ENOBUFS);
	mock_fail_buf_at(rt->s, 0);
	rt_free(rt);
}

/* ---- control words ---- */

/* MTU-1, STK-9: net_tap takes no frame longer than its MTU; what stands behind one must leave all the same. */
static void
test_frames_the_port_never_takes_do_not_block(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct worker *w = rt->w[0];
	static uint8_t f[1514];

	(void)state;
	meet(rt, 0);
	mock_tx_room(rt->s, 0, 0, 0);
	assert_int_equal(worker_raw_send(w, 0, f, sizeof(f)), 0);
	assert_int_equal(worker_raw_send(w, 0, f, 60), 0);
	assert_int_equal(worker_raw_send(w, 0, f, 61), 0);
	worker_turn(w);
	assert_int_equal(w->port[0]->count, 3); /* full, no more than that */
	assert_int_equal(shim_port_mtu_set(rt->s, 0, 1400), 0);
	worker_turn(w);
	assert_int_equal(w->port[0]->count, 2); /* the long one went */
	assert_int_equal(w->tx_dropped, 1);
	mock_advance_ns(rt->s, WORKER_TX_STUCK_NS - 1);
	worker_turn(w);
	assert_int_equal(w->port[0]->count, 2);
	mock_advance_ns(rt->s, 2);
	worker_turn(w);
	assert_int_equal(w->port[0]->count, 1); /* whatever its fault is */
	assert_int_equal(w->tx_dropped, 2);
	mock_tx_room(rt->s, 0, 0, UINT32_MAX);
	worker_turn(w);
	assert_int_equal(w->port[0]->count, 0);
	assert_int_equal(w->port[0]->stuck_ns, 0);
	drain_tx(rt, 0);
	rt_free(rt);
}

/* MTU-1, MTU-5: the port's MTU was lowered, and nobody told the worker. */
static void
test_views_follow_a_port_that_shrank(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct worker *w = rt->w[0];

	(void)state;
	w->block->park_order = 7;
	rt_turn(rt, 1);
	assert_int_equal(shim_port_mtu_set(rt->s, 0, 1400), 0);
	assert_int_equal(worker_netif(w, 0)->mtu, 1500);
	w->block->park_order = 0;
	rt_turn(rt, 1);
	assert_int_equal(worker_netif(w, 0)->mtu, 1400);
	assert_int_equal(shim_port_mtu_set(rt->s, 0, 1500), 0);
	w->block->park_order = 8;
	rt_turn(rt, 1);
	w->block->park_order = 0;
	rt_turn(rt, 1);
	assert_int_equal(worker_netif(w, 0)->mtu, 1400); /* a larger one is for the administrator to say */
	rt_free(rt);
}

/* MTU-5 */
static void
test_parked_worker_touches_no_queue(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct worker *w = rt->w[0];
	unsigned int rx;

	(void)state;
	meet(rt, 0);
	w->block->park_order = 7;
	worker_turn(w);
	assert_int_equal(w->block->park_ack, 7);
	ping(rt, 0, 1);
	rx = mock_calls(rt->s, MOCK_OP_rx_burst) + mock_calls(rt->s, MOCK_OP_tx_burst);
	assert_int_equal(worker_raw_send(w, 0, "abcdefabcdefgh", 14), 0);
	rt_turn(rt, 1);
	w->block->park_order = 8; /* another one while parked */
	rt_turn(rt, 1);
	assert_int_equal(w->block->park_ack, 8);
	assert_int_equal(mock_calls(rt->s, MOCK_OP_rx_burst) + mock_calls(rt->s, MOCK_OP_tx_burst), rx);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 0);
	w->block->park_order = 0;
	rt_turn(rt, 1);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 2); /* the raw frame and the answer, both kept */
	rt_free(rt);
}

static void
test_run_ends_by_word_by_flag_and_by_call(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	volatile int stop = 1;

	(void)state;
	worker_run(rt->w[0], &stop);
	assert_false(worker_stopped(rt->w[0]));
	rt->w[0]->block->quit = 1;
	worker_run(rt->w[0], NULL);
	assert_true(worker_stopped(rt->w[0]));
	rt->w[0]->stop = false;
	rt->w[0]->block->quit = 0;
	worker_stop(rt->w[0]);
	worker_run(rt->w[0], NULL);
	rt_free(rt);
}

static void
stop_later(struct shim *s, enum mock_op op, void *arg)
{
	(void)s;
	(void)op;
	*(volatile int *)arg += 1;
}

static void
test_idle_turns_sleep(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	volatile int stop = 0;
	uint64_t begin;

	(void)state;
	for (int i = 0; i < 5; i++)
		rt_turn(rt, 100);
	begin = shim_clock_ns(rt->s);
	mock_hook(rt->s, MOCK_OP_sleep_ns, stop_later, (void *)(uintptr_t)&stop);
	worker_run(rt->w[0], &stop);
	assert_int_equal(stop, 1);
	assert_in_range(shim_clock_ns(rt->s) - begin, 1, 10000); /* idle_sleep=10 */
	rt_free(rt);
}

static void
test_primary_that_is_gone_is_said_once(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);

	(void)state;
	mock_proc_set(rt->s, shim_self(rt->s), false);
	for (int i = 0; i < 5; i++) {
		mock_advance_ns(rt->s, 600000000);
		worker_turn(rt->w[0]);
	}
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1);
	assert_non_null(strstr(mock_last_message(rt->s), "primary is gone"));
	mock_proc_set(rt->s, shim_self(rt->s), true);
	rt_free(rt);
}

/* ---- several queues ---- */

static void
test_arp_reaches_every_worker(void **state)
{
	struct rt *rt = rt_bed(TWO RT_PORT, 2);
	uint8_t f[128];

	(void)state;
	rt_turn(rt, 1);
	give(rt, 0, f, rt_arp_request(f, "192.0.2.2", "192.0.2.9"));
	worker_turn(rt->w[0]);
	worker_turn(rt->w[1]);
	drain_tx(rt, 0);
	drain_tx(rt, 1);
	/* the second worker has learned the neighbour: its answer needs no question */
	ping(rt, 1, 9);
	worker_turn(rt->w[1]);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 1, f, sizeof(f)), 60);
	assert_int_equal(f[12] << 8 | f[13], 0x0800);
	rt_free(rt);
}

static void
test_sharing_survives_no_buffer_and_full_ring(void **state)
{
	struct rt *rt = rt_bed(TWO RT_PORT, 2);
	uint8_t f[128] = { 0 };

	(void)state;
	rt_turn(rt, 1);
	give(rt, 0, f, rt_arp_request(f, "192.0.2.77", "192.0.2.9"));
	mock_fail_buf_at(rt->s, 1);
	worker_turn(rt->w[0]);
	mock_fail_buf_at(rt->s, 0);
	assert_int_equal(rt->w[0]->rx_dropped, 1);
	give(rt, 0, f, rt_arp_request(f, "192.0.2.77", "192.0.2.9"));
	mock_fail(rt->s, MOCK_OP_ring_put, 1, ENOBUFS);
	worker_turn(rt->w[0]);
	assert_int_equal(rt->w[0]->rx_dropped, 2);
	/* frames too short to say what they are, and a tagged ARP request */
	give(rt, 0, f, 10);
	f[12] = 0x81;
	f[13] = 0;
	give(rt, 0, f, 16);
	f[16] = 0x08;
	f[17] = 0x06;
	give(rt, 0, f, 60);
	worker_turn(rt->w[0]);
	assert_int_equal(shim_ring_count(rt->s, rt->w[0]->port[0]->to[1].r), 1);
	rt_free(rt);
}

static void
test_neighbour_discovery_is_shared(void **state)
{
	struct rt *rt = rt_bed(TWO RT_PORT, 2);
	uint8_t f[128] = { 0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0x99, 0x86, 0xdd, 0x60 };

	(void)state;
	rt_turn(rt, 1);
	f[20] = 58;
	f[54] = 135;
	give(rt, 0, f, 78);
	f[54] = 128; /* echo is not */
	give(rt, 0, f, 78);
	f[54] = 138;
	give(rt, 0, f, 78);
	worker_turn(rt->w[0]);
	assert_int_equal(shim_ring_count(rt->s, rt->w[0]->port[0]->to[1].r), 1);
	rt_free(rt);
}

/* ---- the dispatcher ---- */

struct disp {
	int answer;
	uint16_t set_len;
	unsigned int calls;
	struct worker_dispatch_vlan vlan;
};

static int
dispatch(void *arg, void *data, uint16_t *len, uint16_t queue, uint16_t nb_queues,
	const struct worker_dispatch_vlan *vlan)
{
	struct disp *d = arg;

	(void)queue;
	(void)data;
	assert_int_equal(nb_queues, 2);
	d->calls++;
	d->vlan = *vlan;
	if (d->set_len != 0)
		*len = d->set_len;
	return d->answer;
}

static void
test_dispatcher_decides(void **state)
{
	struct rt *rt = rt_bed(TWO RT_PORT, 2);
	struct worker *w = rt->w[0];
	struct disp d = { .answer = 0 };

	(void)state;
	meet(rt, 0);
	drain_tx(rt, 1);
	worker_dispatcher_set(w, dispatch, &d);
	ping(rt, 0, 1);
	worker_turn(w);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 1); /* its own queue: answered here */
	d.answer = 1;
	ping(rt, 0, 2);
	worker_turn(w);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 1);
	worker_turn(rt->w[1]);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 1), 1); /* the other worker's: answered there */
	for (int i = 0; i < 3; i++) {
		d.answer = (int[]){ WORKER_DISPATCH_ERROR, 2, -7 }[i];
		ping(rt, 0, 3);
		worker_turn(w);
		assert_int_equal(w->rx_dropped, i + 1);
	}
	worker_dispatcher_set(w, NULL, NULL);
	ping(rt, 0, 4);
	worker_turn(w);
	assert_int_equal(d.calls, 5);
	assert_int_equal(mock_tx_waiting(rt->s, 0, 0), 2);
	rt_free(rt);
}

static struct rte_mbuf *
tagged(struct rt *rt, unsigned int segs)
{
	struct rte_mbuf *m = shim_buf_alloc(rt->s, rt->w[0]->pool);

	memset(shim_buf_append(m, 100), 'x', 100);
	if (segs > 1) {
		struct rte_mbuf *n = shim_buf_alloc(rt->s, rt->w[0]->pool);

		shim_buf_append(n, 50);
		shim_buf_chain(m, n);
	}
	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 0x2005;
	return m;
}

static void
test_dispatcher_responds(void **state)
{
	struct rt *rt = rt_bed(TWO RT_PORT, 2);
	struct worker *w = rt->w[0];
	struct disp d = { .answer = WORKER_DISPATCH_RESPONSE, .set_len = 80 };
	uint8_t f[256];
	struct rte_mbuf *m;

	(void)state;
	rt_turn(rt, 1);
	drain_tx(rt, 0);
	worker_dispatcher_set(w, dispatch, &d);
	assert_int_equal(mock_inject_buf(rt->s, 0, 0, tagged(rt, 2)), 0);
	worker_turn(w);
	assert_true(d.vlan.stripped);
	assert_int_equal(d.vlan.tci, 0x2005);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 84);
	assert_memory_equal(f + 12, "\x81\x00\x20\x05xx", 6);
	d.set_len = 300; /* longer than it was: there is tailroom */
	ping(rt, 0, 1);
	worker_turn(w);
	assert_false(d.vlan.stripped);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 300);
	d.set_len = 5000; /* longer than the buffer */
	ping(rt, 0, 1);
	worker_turn(w);
	d.set_len = 5;
	ping(rt, 0, 1);
	worker_turn(w);
	assert_int_equal(w->rx_dropped, 2);
	m = tagged(rt, 1);
	shim_buf_prepend(m, shim_buf_headroom(m)); /* no room for the tag */
	assert_int_equal(mock_inject_buf(rt->s, 0, 0, m), 0);
	d.set_len = 60;
	worker_turn(w);
	assert_int_equal(w->rx_dropped, 3);
	mock_tx_room(rt->s, 0, 0, 0);
	for (unsigned int i = 0; i < WORKER_BACKLOG + 5; i++) {
		ping(rt, 0, 1);
		worker_turn(w);
	}
	assert_int_equal(w->tx_dropped, 5);
	rt_free(rt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_arp_and_ping), cmocka_unit_test(test_counters_reach_the_block),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_three_views_of_the_mtu_must_agree),
		cmocka_unit_test(test_each_failure_undoes_everything), cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_addresses_vips_vlans_routes), cmocka_unit_test(test_second_default_gateway_is_not_used),
		cmocka_unit_test(test_bad_addresses_stop_it), cmocka_unit_test(test_port_without_mac_gets_one),
		cmocka_unit_test(test_full_queue_keeps_frames_in_order), cmocka_unit_test(test_only_a_full_backlog_drops),
		cmocka_unit_test(test_tx_delay_waits_for_company),
		cmocka_unit_test(test_port_without_gather_gets_single_buffers), cmocka_unit_test(test_raw_send),
		cmocka_unit_test(test_parked_worker_touches_no_queue), cmocka_unit_test(test_frames_the_port_never_takes_do_not_block),
		cmocka_unit_test(test_views_follow_a_port_that_shrank),
		cmocka_unit_test(test_run_ends_by_word_by_flag_and_by_call), cmocka_unit_test(test_idle_turns_sleep),
		cmocka_unit_test(test_primary_that_is_gone_is_said_once), cmocka_unit_test(test_arp_reaches_every_worker),
		cmocka_unit_test(test_sharing_survives_no_buffer_and_full_ring),
		cmocka_unit_test(test_neighbour_discovery_is_shared), cmocka_unit_test(test_dispatcher_decides),
		cmocka_unit_test(test_dispatcher_responds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

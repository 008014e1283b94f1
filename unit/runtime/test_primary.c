/* SPDX-License-Identifier: BSD-3-Clause */
/* The primary: what it makes, that each failure undoes all of it, runtime MTU, liveness of workers, stopping. */
#include "fixture.h"

#include "core/dispatch/pub_table.h"
#include "core/reload/gen_dir.h"
#include "core/runtime/layout.h"
#include "core/runtime/primary_priv.h"

static unsigned int
names_left_but_pool(struct rt *rt)
{
	struct shim_pool *pool;

	return mock_names_left(rt->s) - (shim_pool_lookup(rt->s, CTL_POOL, &pool) == 0);
}

/* MTU-1, MTU-3 */
static void
test_setup_makes_everything_in_order(void **state)
{
	struct rt *rt = rt_new(RT_DPDK RT_PORT);
	struct shim_port_info info;
	struct ctl_block *b;
	struct shim_pool *pool;
	uint16_t mtu;

	(void)state;
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	assert_int_equal(shim_pool_lookup(rt->tool, CTL_POOL, &pool), 0);
	assert_int_equal(shim_pool_data_room(rt->tool, pool), MTU_DATA_ROOM_DEFAULT);
	assert_int_equal(shim_pool_size(rt->tool, pool), 8191);
	assert_int_equal(ctl_attach(rt->tool, CTL_PRIMARY, &b), 0);
	assert_int_equal(b->state, CTL_RUNNING);
	assert_int_equal(ctl_attach(rt->tool, 1, &b), 0);
	assert_int_equal(b->state, CTL_FREE);
	assert_int_equal(ctl_attach(rt->tool, 2, &b), -ENOENT);
	assert_int_equal(shim_port_info(rt->s, 0, &info), 0);
	assert_true(info.started);
	assert_int_equal(info.nb_rx_queues, 1);
	assert_true(info.tx_enabled & SHIM_TX_MULTI_SEGS);
	assert_false(info.tx_enabled & SHIM_TX_TCP_TSO);
	assert_int_equal(shim_port_mtu_get(rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1500);
	assert_int_equal(shim_port_promiscuous_get(rt->s, 0), 1);
	assert_true(mock_port_allmulticast(rt->s, 0));
	/* the MTU is in force before the port starts */
	assert_true(strstr(mock_log(rt->s), "port_configure") < strstr(mock_log(rt->s), "port_start"));
	rt_free(rt);
}

/* MTU-2 */
static void
test_jumbo_buffers_and_offload_keys(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\nmtu_enable=1\nmax_mtu=9000\ntso=1\nvlan_strip=1\nlro=1\n"
		"tx_csum_l4_skip=1\npromiscuous=0\n" RT_PORT "mtu=9000\n", 0);
	struct shim_port_info info;
	struct shim_pool *pool;

	(void)state;
	assert_int_equal(shim_pool_lookup(rt->s, CTL_POOL, &pool), 0);
	assert_int_equal(shim_pool_data_room(rt->s, pool), 9216);
	assert_int_equal(shim_port_info(rt->s, 0, &info), 0);
	assert_true(info.tx_enabled & SHIM_TX_TCP_TSO);
	assert_true(info.tx_enabled & SHIM_TX_IPV4_CKSUM);
	assert_false(info.tx_enabled & SHIM_TX_UDP_CKSUM);
	assert_true(info.rx_enabled & SHIM_RX_VLAN_STRIP);
	assert_true(info.rx_enabled & SHIM_RX_LRO);
	assert_int_equal(shim_port_promiscuous_get(rt->s, 0), 0);
	rt_free(rt);
}

static void
test_several_queues_use_rss(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=7\nport_list=0\nsymmetric_rss=1\n" RT_PORT, 0);
	uint16_t reta[128];
	uint8_t key[52], len = sizeof(key);
	struct rte_ring *r;

	(void)state;
	assert_int_equal(shim_port_reta_get(rt->s, 0, reta, 128), 0);
	for (int i = 0; i < 128; i++)
		assert_int_equal(reta[i], i % 3);
	assert_int_equal(shim_port_rss_key_get(rt->s, 0, key, &len), 0);
	assert_int_equal(len, 40);
	for (int i = 0; i < 40; i++)
		assert_int_equal(key[i], i & 1 ? 0x5a : 0x6d);
	assert_int_equal(shim_ring_lookup(rt->s, "nonic_dq_0_1_2", &r), 0);
	rt_free(rt);
}

static void
test_port_without_rss_is_named(void **state)
{
	struct rt *rt = rt_new("[dpdk]\nlcore_mask=3\nport_list=0\n" RT_PORT);

	(void)state;
	mock_port(rt->s, 0)->reta_size = 0;
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_WARNING), 1);
	rt_free(rt);
}

static void
expect_refusal(struct rt *rt, int rc, const char *words)
{
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), rc);
	rt->p = NULL;
	assert_non_null(strstr(mock_last_message(rt->s), words));
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1); /* said once */
	assert_int_equal(names_left_but_pool(rt), 0);
	assert_int_equal(mock_mallocs_out(rt->s), 0);
	rt_free(rt);
}

/* MTU-1 */
static void
test_refusals_name_both_sides(void **state)
{
	struct rt *rt = rt_new("[dpdk]\nlcore_mask=1\nport_list=0-1\n" RT_PORT "[port1]\n" "addr=198.51.100.2\n"
		"netmask=255.255.255.0\nbroadcast=198.51.100.255\ngateway=198.51.100.1\n");

	(void)state;
	expect_refusal(rt, -ENODEV, "there is 1 port");
	rt = rt_new("[dpdk]\nlcore_mask=7\nport_list=0\n" RT_PORT);
	mock_port(rt->s, 0)->max_rx_queues = 2;
	expect_refusal(rt, -EINVAL, "3 workers poll it, but it has 2 receive");
	rt = rt_new("[dpdk]\nlcore_mask=1\nport_list=0\nmtu_enable=1\n" RT_PORT "mtu=9000\n");
	mock_port(rt->s, 0)->max_mtu = 4000;
	expect_refusal(rt, -ERANGE, "4000");
}

/* Every door call that can fail, in turn: one message, nothing left. */
static void
test_each_failure_undoes_everything(void **state)
{
	static const struct { enum mock_op op; unsigned int nth; int err; } fail[] = {
		{ MOCK_OP_malloc, 1, ENOMEM }, { MOCK_OP_entropy, 1, EIO }, { MOCK_OP_entropy, 2, EIO },
		{ MOCK_OP_zone_reserve, 1, ENOMEM }, { MOCK_OP_zone_reserve, 2, ENOMEM },
		{ MOCK_OP_zone_reserve, 3, ENOMEM }, { MOCK_OP_pool_create, 1, ENOMEM },
		{ MOCK_OP_port_info, 1, EIO }, { MOCK_OP_ring_create, 1, ENOMEM }, { MOCK_OP_ring_create, 2, ENOMEM },
		{ MOCK_OP_port_configure, 1, EINVAL }, { MOCK_OP_port_mtu_get, 1, EIO },
		{ MOCK_OP_port_start, 1, EIO }, { MOCK_OP_port_reta_set, 1, EIO },
		{ MOCK_OP_port_allmulticast_set, 1, EIO }, { MOCK_OP_port_promiscuous_set, 1, EIO },
		{ MOCK_OP_cas, 1, EAGAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fail) / sizeof(fail[0]); i++) {
		struct rt *rt = rt_new("[dpdk]\nlcore_mask=3\nport_list=0\n" RT_PORT);
		struct shim_port_info info;

		mock_fail(rt->s, fail[i].op, fail[i].nth, fail[i].err);
		if (primary_setup(rt->s, &rt->cfg, &rt->p) >= 0)
			fail_msg("%s number %u failed, and the primary started", mock_op_name(fail[i].op), fail[i].nth);
		rt->p = NULL;
		assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1);
		assert_int_equal(names_left_but_pool(rt), 0);
		assert_int_equal(mock_mallocs_out(rt->s), 0);
		assert_int_equal(shim_port_info(rt->s, 0, &info), 0);
		assert_false(info.started);
		rt_free(rt);
	}
}

static void
test_what_a_port_does_not_have_is_tolerated(void **state)
{
	struct rt *rt = rt_new("[dpdk]\nlcore_mask=3\nport_list=0\n" RT_PORT);

	(void)state;
	mock_fail(rt->s, MOCK_OP_port_reta_set, 1, ENOTSUP);
	mock_fail(rt->s, MOCK_OP_port_allmulticast_set, 1, ENOTSUP);
	mock_fail(rt->s, MOCK_OP_port_promiscuous_set, 1, ENOTSUP);
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &rt->p), 0);
	mock_fail(rt->s, MOCK_OP_port_stop, 1, EIO); /* the tear-down goes on all the same */
	primary_teardown(rt->p);
	rt->p = NULL;
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_WARNING), 1);
	rt_free(rt);
}

/* MTU-1: a port whose MTU is not what was set does not start. */
static void
test_mtu_is_read_back(void **state)
{
	struct rt *rt = rt_new(RT_DPDK RT_PORT "mtu=1400\n");

	(void)state;
	mock_return(rt->s, MOCK_OP_port_mtu_get, 0); /* answers 0 without writing: not the 1400 asked for */
	mock_return(rt->s, MOCK_OP_port_mtu_set, 0);
	mock_return(rt->s, MOCK_OP_port_mtu_get, 0);
	expect_refusal(rt, -EIO, "MTU 1400 was set, but the port says");
	rt = rt_new(RT_DPDK RT_PORT "mtu=1400\n");
	mock_return(rt->s, MOCK_OP_port_mtu_get, 0);
	mock_fail(rt->s, MOCK_OP_port_mtu_set, 1, ENOTSUP);
	expect_refusal(rt, -ENOTSUP, "MTU 1400 could not be set");
}

static void
test_no_workers_no_primary(void **state)
{
	struct rt *rt = rt_new(RT_DPDK RT_PORT);

	(void)state;
	rt->cfg.nb_lcores = 0;
	expect_refusal(rt, -EINVAL, "leaves 0 workers");
	rt = rt_new(RT_DPDK RT_PORT);
	rt->cfg.port[0].nb_lcores = 0;
	expect_refusal(rt, -EINVAL, "no worker polls it");
	rt = rt_new(RT_DPDK RT_PORT);
	rt->cfg.mtu_enable = true;
	rt->cfg.max_mtu = 65535;
	expect_refusal(rt, -ERANGE, "max_mtu 65535");
}

static void
test_second_primary_is_refused(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 0);
	struct primary *second;

	(void)state;
	assert_int_equal(primary_setup(rt->s, &rt->cfg, &second), -EEXIST);
	assert_non_null(strstr(mock_last_message(rt->s), "a primary of this file_prefix is running"));
	rt_turn(rt, 1); /* the first one is as it was */
	rt_free(rt);
}

/* CFG-4: with primary_slim the first lcore is the primary's. */
static void
test_slim_primary_leaves_proc_0_out(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=7\nport_list=0\nprimary_slim=1\n" RT_PORT "lcore_list=1,2\n", 2);
	struct ctl_dir *d;

	(void)state;
	assert_int_equal(ctl_dir_attach(rt->tool, &d), 0);
	assert_int_equal(d->first_proc, 1);
	assert_int_equal(d->nb_workers, 2);
	assert_int_equal(rt_worker(rt, 2, 0), -EINVAL);
	assert_int_equal(rt_worker(rt, 2, 3), -EINVAL);
	rt_free(rt);
}

/* ---- MTU at run time ---- */

static void
worker_turns(struct shim *s, enum mock_op op, void *arg)
{
	struct rt *rt = arg;

	(void)s;
	(void)op;
	for (unsigned int i = 0; i < 4; i++)
		if (rt->w[i] != NULL)
			worker_turn(rt->w[i]);
}

/* MTU-4, MTU-5 */
static void
test_mtu_change_parks_the_pollers(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=3\nport_list=0\nmtu_enable=1\n" RT_PORT, 2);
	uint16_t mtu;
	char why[256];
	int err;

	(void)state;
	mock_port_mtu_busy(rt->s, 0, true);
	mock_hook(rt->s, MOCK_OP_sleep_ns, worker_turns, rt);
	assert_int_equal(primary_mtu_set(rt->p, 0, 9000, &err, why, sizeof(why)), MTU_CHANGED);
	mock_hook(rt->s, MOCK_OP_sleep_ns, NULL, NULL);
	assert_int_equal(shim_port_mtu_get(rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 9000);
	assert_true(rt->w[0]->parked && rt->w[1]->parked);
	rt_turn(rt, 1);
	assert_false(rt->w[0]->parked || rt->w[1]->parked);
	rt_free(rt);
}

/* MTU-5 */
static void
test_mtu_change_gives_up_on_a_stuck_worker(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\nmtu_enable=1\n" RT_PORT, 1);
	uint64_t begin = shim_clock_ns(rt->s);
	uint16_t mtu;
	char why[256];
	int err;

	(void)state;
	mock_port_mtu_busy(rt->s, 0, true);
	assert_int_equal(primary_mtu_set(rt->p, 0, 9000, &err, why, sizeof(why)), MTU_UNCHANGED);
	assert_int_equal(err, -ETIMEDOUT);
	assert_in_range(shim_clock_ns(rt->s) - begin, PRIMARY_PARK_MS * 1000000ull, 2 * PRIMARY_PARK_MS * 1000000ull);
	assert_non_null(strstr(why, "keeps its MTU"));
	assert_int_equal(shim_port_mtu_get(rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1500);
	/* a dead one is not waited for */
	mock_proc_set(rt->s, shim_self(rt->ws[0]), false);
	assert_int_equal(primary_mtu_set(rt->p, 0, 9000, &err, why, sizeof(why)), MTU_CHANGED);
	mock_proc_set(rt->s, shim_self(rt->ws[0]), true);
	rt_free(rt);
}

/* MTU-5 */
static void
test_mtu_change_reports_a_port_that_failed(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\nmtu_enable=1\n" RT_PORT, 0);
	char why[256];
	int err;

	(void)state;
	mock_port_mtu_busy(rt->s, 0, true);
	mock_fail_all(rt->s, MOCK_OP_port_start, EIO);
	assert_int_equal(primary_mtu_set(rt->p, 0, 9000, &err, why, sizeof(why)), MTU_PORT_FAILED);
	assert_non_null(strstr(why, "port 0 has failed"));
	mock_fail_all(rt->s, MOCK_OP_port_start, 0);
	assert_int_equal(primary_mtu_set(rt->p, 7, 1500, &err, why, sizeof(why)), MTU_UNCHANGED);
	assert_int_equal(err, -ENODEV);
	assert_int_equal(primary_mtu_set(rt->p, 0, 9217, &err, why, sizeof(why)), MTU_UNCHANGED);
	rt_free(rt);
}

/* MTU-5 */
static void
test_drain_waits_for_the_counter(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\nmtu_enable=1\n" RT_PORT, 0);
	char why[256];
	int err;

	(void)state;
	mock_port_mtu_busy(rt->s, 0, true);
	mock_fail(rt->s, MOCK_OP_port_stats, 1, ENOTSUP); /* a port that does not count is taken as empty */
	assert_int_equal(primary_mtu_set(rt->p, 0, 2000, &err, why, sizeof(why)), MTU_CHANGED);
	mock_fail(rt->s, MOCK_OP_port_stats, 1, EIO);
	assert_int_equal(primary_mtu_set(rt->p, 0, 3000, &err, why, sizeof(why)), MTU_UNCHANGED);
	assert_int_equal(err, -EIO);
	rt_free(rt);
}

/* A port that keeps on sending although everybody is parked. */
static void
sends_on(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_port_counters(s, 0)->tx_packets++;
}

/* MTU-5 */
static void
test_drain_has_a_deadline(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=1\nport_list=0\nmtu_enable=1\n" RT_PORT, 0);
	char why[256];
	int err;

	(void)state;
	mock_port_mtu_busy(rt->s, 0, true);
	mock_hook(rt->s, MOCK_OP_sleep_ns, sends_on, NULL);
	assert_int_equal(primary_mtu_set(rt->p, 0, 2000, &err, why, sizeof(why)), MTU_UNCHANGED);
	assert_int_equal(err, -ETIMEDOUT);
	rt_free(rt);
}

/* ---- its turn ---- */

static void
test_dead_workers_place_is_freed(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct ctl_block *b;

	(void)state;
	assert_int_equal(ctl_attach(rt->tool, 1, &b), 0);
	rt_turn(rt, 200);
	assert_int_equal(b->state, CTL_RUNNING);
	mock_proc_set(rt->s, shim_self(rt->ws[0]), false);
	mock_advance_ns(rt->s, 200000000);
	primary_turn(rt->p);
	assert_int_equal(b->state, CTL_FREE);
	assert_non_null(strstr(mock_last_message(rt->s), "worker 0"));
	mock_proc_set(rt->s, shim_self(rt->ws[0]), true);
	rt_free(rt);
}

static void
test_stuck_worker_is_named_once(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK "reload_heartbeat_timeout_ms=1000\n" RT_PORT, 1);

	(void)state;
	rt_turn(rt, 200);
	primary_turn(rt->p);
	for (int i = 0; i < 30; i++) {
		mock_advance_ns(rt->s, 200000000);
		primary_turn(rt->p);
	}
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_WARNING), 1);
	assert_non_null(strstr(mock_last_message(rt->s), "has not turned for"));
	rt_turn(rt, 200);
	rt_turn(rt, 200);
	assert_non_null(strstr(mock_last_message(rt->s), "moves again"));
	rt_free(rt);
}

static void
test_stop_waits_for_the_workers(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);

	(void)state;
	primary_stop(rt->p);
	primary_stop(rt->p);
	primary_turn(rt->p);
	assert_false(primary_stopped(rt->p));
	worker_turn(rt->w[0]);
	assert_true(worker_stopped(rt->w[0]));
	worker_destroy(rt->w[0]);
	rt->w[0] = NULL;
	primary_turn(rt->p);
	assert_false(primary_stopped(rt->p)); /* its process is still there */
	mock_proc_set(rt->s, shim_self(rt->ws[0]), false);
	primary_turn(rt->p);
	assert_true(primary_stopped(rt->p));
	mock_proc_set(rt->s, shim_self(rt->ws[0]), true);
	rt_free(rt);
}

static void
test_run_ends_in_time_without_the_workers_consent(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	volatile int stop = 1;

	(void)state;
	primary_run(rt->p, &stop); /* the worker never turns */
	assert_true(primary_stopped(rt->p));
	assert_non_null(strstr(mock_last_message(rt->s), "did not leave within"));
	rt_free(rt);
}

static void
test_layout(void **state)
{
	struct nonic_config cfg;
	char buf[64];

	(void)state;
	rt_config(&cfg, RT_DPDK RT_PORT);
	assert_int_equal(layout_nb_workers(&cfg), 1);
	assert_int_equal(layout_mtu_mode(&cfg), MTU_MODE_OFF);
	layout_file_prefix(&cfg, buf, sizeof(buf));
	assert_string_equal(buf, "rte");
	config_free(&cfg);
	rt_config(&cfg, "[dpdk]\nlcore_mask=1\nport_list=0\nfile_prefix=a\nmtu_enable=1\nmbuf_mode=scatter\n" RT_PORT);
	layout_file_prefix(&cfg, buf, sizeof(buf));
	assert_string_equal(buf, "container-a");
	assert_int_equal(layout_mtu_mode(&cfg), MTU_MODE_SCATTER);
	cfg.primary_slim = true;
	assert_int_equal(layout_nb_workers(&cfg), 0);
	config_free(&cfg);
}

/* ---- two generations ---- */

#define RELOAD "[dpdk]\nlcore_mask=7\nport_list=0\nprimary_slim=1\ngraceful_reload=1\ndrain_ring_size=64\npublish_entries=128\n"

/* REL-2, PUB-1 */
static void
test_generations_share_zones_rings_and_a_larger_pool(void **state)
{
	struct rt *rt = rt_bed("[dpdk]\nlcore_mask=7\nport_list=0\nprimary_slim=1\n" RT_PORT, 0);
	unsigned int size, names;
	struct shim_pool *pool;
	struct ctl_dir *d;
	struct ctl_block *b;
	struct rte_ring *r;
	char name[SHIM_NAME_MAX];
	size_t bytes;
	void *zone;

	(void)state;
	/* without graceful_reload nothing of it is there */
	assert_int_equal(shim_zone_lookup(rt->tool, GEN_ZONE, &zone, NULL), -ENOENT);
	assert_int_equal(shim_zone_lookup(rt->tool, "nonic_pub_0_0", &zone, NULL), -ENOENT);
	assert_int_equal(shim_ring_lookup(rt->tool, "nonic_dr_0_0_0", &r), -ENOENT);
	assert_int_equal(ctl_attach(rt->tool, CTL_MASTER, &b), -ENOENT);
	assert_int_equal(shim_pool_lookup(rt->tool, CTL_POOL, &pool), 0);
	size = shim_pool_size(rt->tool, pool);
	names = mock_names_left(rt->s);
	assert_int_equal(ctl_dir_attach(rt->tool, &d), 0);
	assert_int_equal(d->sides, 1);
	rt_free(rt);
	rt = rt_bed(RELOAD "drain_ring_size=4096\n" RT_PORT, 0);
	assert_int_equal(ctl_dir_attach(rt->tool, &d), 0);
	assert_int_equal(d->sides, 2);
	assert_int_equal(shim_zone_lookup(rt->tool, GEN_ZONE, &zone, NULL), 0);
	for (unsigned int lane = 0; lane < 2; lane++) {
		for (unsigned int side = 0; side < 2; side++) {
			layout_pub_name(lane, side, name);
			assert_int_equal(shim_zone_lookup(rt->tool, name, &zone, &bytes), 0);
			assert_true(bytes >= pub_table_size(128));
			layout_drain_name(0, lane, side, name);
			assert_int_equal(shim_ring_lookup(rt->tool, name, &r), 0);
			assert_int_equal(shim_ring_capacity(rt->tool, r), 4095);
			layout_relay_name(0, lane, side, name);
			assert_int_equal(shim_ring_lookup(rt->tool, name, &r), 0);
			assert_int_equal(ctl_attach(rt->tool, layout_ctl_index(1 + lane, side), &b), 0);
		}
	}
	assert_int_equal(ctl_attach(rt->tool, CTL_MASTER, &b), 0);
	assert_int_equal(shim_pool_lookup(rt->tool, CTL_POOL, &pool), 0);
	assert_true(shim_pool_size(rt->tool, pool) > size);
	assert_int_equal(mock_names_left(rt->s), names + 1 + 4 + 8 + 2 + 1);
	rt_free(rt);
}

/* REL-2 */
static void
test_each_failure_of_the_generations_memory_undoes_everything(void **state)
{
	static const struct { enum mock_op op; unsigned int nth; int err; const char *words; } fail[] = {
		{ MOCK_OP_zone_reserve, 2, ENOMEM, "zone nonic_gen" },
		{ MOCK_OP_zone_reserve, 3, ENOMEM, "publish table nonic_pub_0_0 of 128 flows (2 KB)" },
		{ MOCK_OP_zone_reserve, 6, ENOMEM, "publish table nonic_pub_1_1" },
		{ MOCK_OP_zone_reserve, 7, ENOMEM, "control block 0" },
		{ MOCK_OP_zone_reserve, 12, ENOMEM, "control block 63" },
		{ MOCK_OP_ring_create, 3, ENOMEM, "ring nonic_dr_0_0_0 of 64 frames" },
		{ MOCK_OP_ring_create, 4, ENOMEM, "ring nonic_rl_0_0_0 of 64 frames" },
		{ MOCK_OP_ring_create, 10, ENOMEM, "ring nonic_rl_0_1_1" },
		{ MOCK_OP_malloc, 2, ENOMEM, "no memory" }, { MOCK_OP_malloc, 3, ENOMEM, "no memory" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fail) / sizeof(fail[0]); i++) {
		struct rt *rt = rt_new(RELOAD RT_PORT);

		mock_fail(rt->s, fail[i].op, fail[i].nth, fail[i].err);
		if (primary_setup(rt->s, &rt->cfg, &rt->p) >= 0)
			fail_msg("%s number %u failed, and the primary started", mock_op_name(fail[i].op), fail[i].nth);
		rt->p = NULL;
		if (strstr(mock_last_message(rt->s), fail[i].words) == NULL)
			fail_msg("'%s', not '%s'", mock_last_message(rt->s), fail[i].words);
		assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1);
		assert_int_equal(names_left_but_pool(rt), 0);
		assert_int_equal(mock_mallocs_out(rt->s), 0);
		rt_free(rt);
	}
}

/* REL-1 */
static void
test_stop_reaches_the_master_and_both_generations(void **state)
{
	struct rt *rt = rt_bed(RELOAD RT_PORT, 0);
	struct shim *door = mock_shim_attach(rt->s, SHIM_ROLE_OBSERVER, 70);
	struct ctl_block *master, *worker;

	(void)state;
	assert_int_equal(ctl_attach(door, CTL_MASTER, &master), 0);
	assert_int_equal(ctl_attach(door, layout_ctl_index(2, 1), &worker), 0);
	assert_int_equal(ctl_claim(door, master), 0);
	primary_stop(rt->p);
	assert_int_equal(master->quit, 1);
	assert_int_equal(worker->quit, 1);
	primary_turn(rt->p);
	assert_false(primary_stopped(rt->p)); /* the master is still there */
	ctl_release(door, master);
	mock_proc_set(rt->s, shim_self(door), false);
	primary_turn(rt->p);
	assert_true(primary_stopped(rt->p));
	mock_shim_free(door);
	rt_free(rt);
	/* one that died is said, once, and its block is free */
	rt = rt_bed(RELOAD RT_PORT, 0);
	door = mock_shim_attach(rt->s, SHIM_ROLE_OBSERVER, 70);
	assert_int_equal(ctl_attach(door, CTL_MASTER, &master), 0);
	assert_int_equal(ctl_claim(door, master), 0);
	mock_proc_set(rt->s, shim_self(door), false);
	for (int i = 0; i < 5; i++)
		rt_turn(rt, PRIMARY_LIVENESS_MS);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1);
	assert_non_null(strstr(mock_last_message(rt->s), "the master (pid"));
	assert_true(master->claim == 0);
	mock_shim_free(door);
	rt_free(rt);
}

static void
test_pairs_of_queues_share_what_one_queue_had(void **state)
{
	(void)state;
	assert_int_equal(primary_pair_size(2), 2048);
	assert_int_equal(primary_pair_size(3), 1024);
	assert_int_equal(primary_pair_size(5), 512);
	assert_int_equal(primary_pair_size(64), 64);
}

/* REL-18 */
static void
test_buffers_of_a_dead_worker_come_home_without_graceful_reload_too(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct worker *w = rt->w[0];
	struct ctl_block *block;
	unsigned int before;
	struct rte_mbuf *m;
	uint32_t mark;

	(void)state;
	rt_turn(rt, 1); /* what the stack said when it came up is in the port */
	before = mock_bufs_out(rt->s);
	assert_true(w->mark != 0 && w->block->owner_mark == w->mark);
	for (int i = 0; i < 7; i++) {
		m = shim_buf_alloc(w->shim, w->pool);
		shim_buf_mark_set(m, w->mark);
	}
	mark = w->mark;
	block = w->block;
	rt_kill(rt, 0);
	mock_fail(rt->s, MOCK_OP_cas, 1, EBUSY); /* another one sweeps: the next look does it */
	rt_turn(rt, PRIMARY_LIVENESS_MS);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 0);
	rt_turn(rt, PRIMARY_LIVENESS_MS);
	assert_non_null(strstr(mock_last_message(rt->s), "its place is free, 7 of its buffers came home"));
	assert_int_equal(mock_bufs_out(rt->s), before);
	assert_int_equal(block->owner_mark, 0);
	assert_int_equal(rt_worker(rt, 1, 0), 0);
	assert_true(rt->w[1]->mark != mark);
	rt_free(rt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_setup_makes_everything_in_order), cmocka_unit_test(test_jumbo_buffers_and_offload_keys),
		cmocka_unit_test(test_several_queues_use_rss), cmocka_unit_test(test_port_without_rss_is_named),
		cmocka_unit_test(test_refusals_name_both_sides), cmocka_unit_test(test_each_failure_undoes_everything),
		cmocka_unit_test(test_what_a_port_does_not_have_is_tolerated), cmocka_unit_test(test_mtu_is_read_back),
		cmocka_unit_test(test_no_workers_no_primary), cmocka_unit_test(test_second_primary_is_refused),
		cmocka_unit_test(test_slim_primary_leaves_proc_0_out), cmocka_unit_test(test_mtu_change_parks_the_pollers),
		cmocka_unit_test(test_mtu_change_gives_up_on_a_stuck_worker),
		cmocka_unit_test(test_mtu_change_reports_a_port_that_failed),
		cmocka_unit_test(test_drain_waits_for_the_counter), cmocka_unit_test(test_drain_has_a_deadline),
		cmocka_unit_test(test_dead_workers_place_is_freed), cmocka_unit_test(test_stuck_worker_is_named_once),
		cmocka_unit_test(test_stop_waits_for_the_workers),
		cmocka_unit_test(test_run_ends_in_time_without_the_workers_consent), cmocka_unit_test(test_layout),
		cmocka_unit_test(test_generations_share_zones_rings_and_a_larger_pool),
		cmocka_unit_test(test_each_failure_of_the_generations_memory_undoes_everything),
		cmocka_unit_test(test_stop_reaches_the_master_and_both_generations),
		cmocka_unit_test(test_pairs_of_queues_share_what_one_queue_had),
		cmocka_unit_test(test_buffers_of_a_dead_worker_come_home_without_graceful_reload_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

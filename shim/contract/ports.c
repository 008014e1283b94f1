/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ports: life, frames, MTU, RSS, and who may change them. */
#include <stdio.h>
#include <string.h>

#include "contract.h"

static struct shim_port_info
info_of(uint16_t port)
{
	struct shim_port_info info;

	assert_int_equal(shim_port_info(contract.s, port, &info), 0);
	return info;
}

static struct shim_port_conf
plain_conf(void)
{
	return (struct shim_port_conf){ .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500,
		.pool = contract.pool };
}

/* SHM-2, SHM-7 */
static void
test_port_before_it_is_configured(void **state)
{
	struct shim_port_info info = info_of(0);

	(void)state;
	assert_true(shim_port_count(contract.s) >= 1);
	assert_true(info.driver[0] != '\0');
	assert_false(info.started);
	assert_true(info.max_rx_queues >= CONTRACT_QUEUES);
	assert_true(info.max_tx_queues >= CONTRACT_QUEUES);
	assert_int_equal(info.nb_rx_queues, 0);
	assert_int_equal(info.nb_tx_queues, 0);
	assert_true(info.min_mtu <= 1500 && info.max_mtu >= 1500);
	assert_int_equal(info.mac[0] & 1, 0); /* not a group's */
	assert_int_equal(shim_port_start(contract.s, 0), -EINVAL);
}

/* SHM-2, SHM-7 */
static void
test_port_that_is_not_there(void **state)
{
	struct shim *s = contract.s;
	uint16_t none = (uint16_t)shim_port_count(s), mtu, queues[128];
	struct shim_port_conf c = plain_conf();
	struct shim_port_stats st;
	struct shim_port_link l;
	struct shim_port_info info;
	uint8_t key[SHIM_RSS_KEY_MAX], len = sizeof(key);

	(void)state;
	assert_int_equal(shim_port_info(s, none, &info), -ENODEV);
	assert_int_equal(shim_port_configure(s, none, &c), -ENODEV);
	assert_int_equal(shim_port_start(s, none), -ENODEV);
	assert_int_equal(shim_port_stop(s, none), -ENODEV);
	assert_int_equal(shim_port_mtu_get(s, none, &mtu), -ENODEV);
	assert_int_equal(shim_port_mtu_set(s, none, 1500), -ENODEV);
	assert_int_equal(shim_port_stats(s, none, &st), -ENODEV);
	assert_int_equal(shim_port_link(s, none, &l), -ENODEV);
	assert_int_equal(shim_port_promiscuous_get(s, none), -ENODEV);
	assert_int_equal(shim_port_promiscuous_set(s, none, true), -ENODEV);
	assert_int_equal(shim_port_allmulticast_set(s, none, true), -ENODEV);
	assert_int_equal(shim_port_rss_key_get(s, none, key, &len), -ENODEV);
	assert_int_equal(shim_port_rss_key_set(s, none, key, 40), -ENODEV);
	assert_int_equal(shim_port_reta_get(s, none, queues, 128), -ENODEV);
	assert_int_equal(shim_port_reta_set(s, none, queues, 128), -ENODEV);
}

static void
refused(uint16_t port, const struct shim_port_conf *c)
{
	assert_int_equal(shim_port_configure(contract.s, port, c), -EINVAL);
}

/* SHM-2, SHM-7 */
static void
test_configurations_that_are_refused(void **state)
{
	struct shim_port_conf c;
	struct shim_port_info info;
	uint16_t port;
	uint8_t key[SHIM_RSS_KEY_MAX] = { 0 };

	(void)state;
	for (port = 0; port < shim_port_count(contract.s); port++) {
		info = info_of(port);
		c = plain_conf();
		c.nb_rx_queues = 0;
		refused(port, &c);
		c = plain_conf();
		c.nb_tx_queues = 0;
		refused(port, &c);
		c = plain_conf();
		c.nb_rx_queues = info.max_rx_queues + 1;
		refused(port, &c);
		c = plain_conf();
		c.nb_tx_queues = info.max_tx_queues + 1;
		refused(port, &c);
		c = plain_conf();
		c.pool = NULL;
		refused(port, &c);
		c = plain_conf();
		c.mtu = info.min_mtu - 1;
		refused(port, &c);
		c = plain_conf();
		c.rx_offloads = 1ull << 63;
		refused(port, &c);
		c = plain_conf();
		c.tx_offloads = 1ull << 63;
		refused(port, &c);
		c = plain_conf();
		c.rss = true;
		c.rss_key = key;
		c.rss_key_len = info.rss_key_size + 1;
		refused(port, &c);
	}
}

/* SHM-2, SHM-7 */
static void
test_port_starts_and_stops(void **state)
{
	struct shim *s = contract.s;
	struct shim_port_conf c = plain_conf();
	struct shim_port_link l;
	struct shim_port_info info;
	uint16_t port;

	(void)state;
	for (port = 0; port < shim_port_count(s); port++) {
		assert_int_equal(shim_port_configure(s, port, &c), 0);
		info = info_of(port);
		assert_int_equal(info.nb_rx_queues, 1);
		assert_int_equal(info.nb_tx_queues, 1);
		assert_false(info.started);
		assert_int_equal(shim_port_start(s, port), 0);
		assert_int_equal(shim_port_start(s, port), 0); /* again: nothing happens */
		assert_true(info_of(port).started);
		assert_int_equal(shim_port_configure(s, port, &c), -EBUSY);
		assert_int_equal(shim_port_link(s, port, &l), 0);
		assert_true(l.up);
		assert_int_equal(shim_port_stop(s, port), 0);
		assert_int_equal(shim_port_stop(s, port), 0);
		assert_false(info_of(port).started);
		/* Other offloads, other queues: what is enabled follows. */
		c.nb_rx_queues = c.nb_tx_queues = RTE_MIN(info.max_rx_queues, 2);
		c.tx_offloads = info.tx_offloads & SHIM_TX_MULTI_SEGS;
		c.rx_offloads = info.rx_offloads & SHIM_RX_SCATTER;
		assert_int_equal(shim_port_configure(s, port, &c), 0);
		info = info_of(port);
		assert_int_equal(info.nb_rx_queues, c.nb_rx_queues);
		assert_true(info.tx_enabled == c.tx_offloads);
		assert_true(info.rx_enabled == c.rx_offloads);
		c = plain_conf();
	}
}

static void
inject_number(uint16_t queue, uint32_t n)
{
	uint32_t frame[16];
	int i;

	for (i = 0; i < 16; i++)
		frame[i] = n + (uint32_t)i;
	assert_int_equal(contract_backend.inject(contract.bed, queue, frame, sizeof(frame)), 0);
}

/* Takes one frame from the queue: the number it was made from. */
static uint32_t
receive_number(uint16_t queue)
{
	struct rte_mbuf *m;
	uint32_t n;

	assert_int_equal(shim_rx_burst(contract.s, 0, queue, &m, 1), 1);
	assert_int_equal(shim_buf_len(m), 64);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	n = *shim_buf_data_off(m, uint32_t *, 0);
	assert_int_equal(*shim_buf_data_off(m, uint32_t *, 60), n + 15);
	shim_buf_free(contract.s, m);
	return n;
}

/* SHM-2, SHM-7 */
static void
test_frames_come_in_order_to_their_queue(void **state)
{
	struct shim *s = contract.s;
	struct shim_port_stats before, after;
	struct rte_mbuf *m[8];
	uint32_t i;

	(void)state;
	contract_port_up();
	assert_int_equal(shim_rx_burst(s, 0, 0, m, 8), 0);
	assert_int_equal(shim_port_stats(s, 0, &before), 0);
	for (i = 0; i < 5; i++)
		inject_number(0, i * 100);
	inject_number(1, 7000);
	assert_int_equal(receive_number(1), 7000);
	assert_int_equal(shim_rx_burst(s, 0, 1, m, 8), 0);
	assert_int_equal(shim_rx_burst(s, 0, 0, m, 2), 2); /* no more than asked for */
	for (i = 0; i < 2; i++) {
		assert_int_equal(*shim_buf_data_off(m[i], uint32_t *, 0), i * 100);
		assert_int_equal(m[i]->nb_segs, 1);
		shim_buf_free(s, m[i]);
	}
	for (i = 2; i < 5; i++)
		assert_int_equal(receive_number(0), i * 100);
	assert_int_equal(shim_rx_burst(s, 0, 0, m, 8), 0);
	assert_int_equal(shim_port_stats(s, 0, &after), 0);
	assert_int_equal(after.rx_packets - before.rx_packets, 6);
	assert_int_equal(after.rx_missed - before.rx_missed, 0);
}

static struct rte_mbuf *
frame_of(uint32_t n)
{
	struct rte_mbuf *m = shim_buf_alloc(contract.s, contract.pool);
	uint32_t *d;
	int i;

	assert_non_null(m);
	d = shim_buf_append(m, 64);
	for (i = 0; i < 16; i++)
		d[i] = n;
	return m;
}

/* SHM-2, SHM-7 */
static void
test_frames_go_out_in_order(void **state)
{
	struct shim *s = contract.s;
	struct shim_port_stats before, after;
	struct rte_mbuf *m[3];
	uint32_t got[16], i;

	(void)state;
	contract_port_up();
	assert_int_equal(shim_port_stats(s, 0, &before), 0);
	assert_int_equal(contract_backend.collect(contract.bed, 0, got, sizeof(got)), 0);
	for (i = 0; i < 3; i++)
		m[i] = frame_of(500 + i);
	assert_int_equal(shim_tx_burst(s, 0, 0, m, 0), 0);
	assert_int_equal(shim_tx_burst(s, 0, 0, m, 2), 2);
	assert_int_equal(shim_tx_burst(s, 0, 1, m + 2, 1), 1);
	assert_int_equal(contract_backend.collect(contract.bed, 1, got, sizeof(got)), 64);
	assert_int_equal(got[15], 502);
	for (i = 0; i < 2; i++) {
		assert_int_equal(contract_backend.collect(contract.bed, 0, got, sizeof(got)), 64);
		assert_int_equal(got[0], 500 + i);
	}
	assert_int_equal(contract_backend.collect(contract.bed, 0, got, sizeof(got)), 0);
	assert_int_equal(shim_port_stats(s, 0, &after), 0);
	assert_int_equal(after.tx_packets - before.tx_packets, 3);
}

/* SHM-2, SHM-7 */
static void
test_a_chain_goes_out_whole(void **state)
{
	struct shim *s = contract.s;
	struct rte_mbuf *m, *tail;
	uint32_t got[64];

	(void)state;
	contract_port_up();
	if ((info_of(0).tx_enabled & SHIM_TX_MULTI_SEGS) == 0)
		skip();
	m = frame_of(1);
	tail = frame_of(2);
	assert_int_equal(shim_buf_chain(m, tail), 0);
	shim_buf_ref(s, m, 1); /* kept, as a retransmission queue does */
	assert_int_equal(shim_tx_burst(s, 0, 0, &m, 1), 1);
	assert_int_equal(contract_backend.collect(contract.bed, 0, got, sizeof(got)), 128);
	assert_int_equal(got[0], 1);
	assert_int_equal(got[16], 2);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(rte_mbuf_refcnt_read(tail), 1);
	shim_buf_free(s, m);
}

/* SHM-2, SHM-7 */
static void
test_a_full_queue_takes_what_fits(void **state)
{
	struct shim *s = contract.s;
	unsigned int room = contract_backend.tx_room, i;
	struct rte_mbuf *m[1024 + 8];
	uint32_t got[16];

	(void)state;
	contract_port_up();
	for (i = 0; i < room + 8; i++)
		m[i] = frame_of(i);
	assert_int_equal(shim_tx_burst(s, 0, 0, m, (uint16_t)(room - 3)), room - 3);
	assert_int_equal(shim_tx_burst(s, 0, 0, m + room - 3, 11), 3);
	assert_int_equal(shim_tx_burst(s, 0, 0, m + room, 8), 0);
	/* The rest is still the caller's. */
	shim_buf_free_bulk(s, m + room, 8);
	for (i = 0; i < room; i++) {
		assert_int_equal(contract_backend.collect(contract.bed, 0, got, sizeof(got)), 64);
		assert_int_equal(got[3], i);
	}
	m[0] = frame_of(1);
	assert_int_equal(shim_tx_burst(s, 0, 0, m, 1), 1);
	assert_int_equal(contract_backend.collect(contract.bed, 0, got, sizeof(got)), 64);
}

/* SHM-2, SHM-7 */
static void
test_mtu_of_a_port(void **state)
{
	struct shim *s = contract.s;
	struct shim_port_info info;
	uint16_t port, mtu = 0;
	int rc;

	(void)state;
	contract_port_up();
	for (port = 0; port < shim_port_count(s); port++) {
		info = info_of(port);
		assert_int_equal(shim_port_mtu_get(s, port, &mtu), 0);
		assert_int_equal(mtu, 1500);
		rc = shim_port_mtu_set(s, port, 1400);
		assert_true(rc == 0 || rc == -ENOTSUP || rc == -EBUSY);
		assert_int_equal(shim_port_mtu_get(s, port, &mtu), 0);
		assert_int_equal(mtu, rc == 0 ? 1400 : 1500);
		if (rc != 0)
			continue;
		assert_int_equal(shim_port_mtu_set(s, port, (uint16_t)(info.min_mtu - 1)), -EINVAL);
		if (info.max_mtu < UINT16_MAX)
			assert_int_equal(shim_port_mtu_set(s, port, (uint16_t)(info.max_mtu + 1)),
				-EINVAL);
		assert_int_equal(shim_port_mtu_get(s, port, &mtu), 0);
		assert_int_equal(mtu, 1400);
		assert_int_equal(shim_port_mtu_set(s, port, 1500), 0);
	}
}

/* SHM-2, SHM-7 */
static void
test_filters_of_a_port(void **state)
{
	struct shim *s = contract.s;
	uint16_t port;
	int rc, on, was;

	(void)state;
	for (port = 0; port < shim_port_count(s); port++) {
		for (on = 1; on >= 0; on--) {
			was = shim_port_promiscuous_get(s, port);
			assert_in_range(was, 0, 1);
			rc = shim_port_promiscuous_set(s, port, on);
			assert_true(rc == 0 || rc == -ENOTSUP);
			assert_int_equal(shim_port_promiscuous_get(s, port), rc == 0 ? on : was);
		}
		rc = shim_port_allmulticast_set(s, port, true);
		assert_true(rc == 0 || rc == -ENOTSUP);
		rc = shim_port_allmulticast_set(s, port, false);
		assert_true(rc == 0 || rc == -ENOTSUP);
	}
}

static void
rss_key_of(uint16_t port, uint8_t size)
{
	struct shim *s = contract.s;
	uint8_t key[SHIM_RSS_KEY_MAX], back[SHIM_RSS_KEY_MAX], len = sizeof(back);
	int i;

	for (i = 0; i < SHIM_RSS_KEY_MAX; i++)
		key[i] = (uint8_t)(i * 7 + 1);
	if (size == 0) {
		assert_int_equal(shim_port_rss_key_get(s, port, back, &len), -ENOTSUP);
		assert_int_equal(shim_port_rss_key_set(s, port, key, 40), -ENOTSUP);
		return;
	}
	len = size - 1;
	assert_int_equal(shim_port_rss_key_get(s, port, back, &len), -ENOSPC);
	assert_int_equal(shim_port_rss_key_set(s, port, key, size - 1), -EINVAL);
	assert_int_equal(shim_port_rss_key_set(s, port, key, size), 0);
	len = sizeof(back);
	assert_int_equal(shim_port_rss_key_get(s, port, back, &len), 0);
	assert_int_equal(len, size);
	assert_memory_equal(key, back, size);
}

static void
reta_of(uint16_t port, uint16_t size, uint16_t nb_queues)
{
	struct shim *s = contract.s;
	uint16_t set[SHIM_RETA_MAX], back[SHIM_RETA_MAX], i;

	for (i = 0; i < size; i++)
		set[i] = (uint16_t)((i / 3) % nb_queues);
	if (size == 0) {
		assert_int_equal(shim_port_reta_get(s, port, back, 128), -ENOTSUP);
		assert_int_equal(shim_port_reta_set(s, port, back, 128), -ENOTSUP);
		return;
	}
	assert_int_equal(shim_port_reta_get(s, port, back, size - 1), -EINVAL);
	assert_int_equal(shim_port_reta_set(s, port, set, size - 1), -EINVAL);
	assert_int_equal(shim_port_reta_set(s, port, set, size), 0);
	assert_int_equal(shim_port_reta_get(s, port, back, size), 0);
	assert_memory_equal(set, back, size * sizeof(*set));
	set[0] = nb_queues; /* a queue that is not there */
	assert_int_equal(shim_port_reta_set(s, port, set, size), -EINVAL);
}

/* SHM-2, SHM-7 */
static void
test_rss_of_a_port(void **state)
{
	struct shim_port_conf c = plain_conf();
	struct shim_port_info info;
	uint16_t port;

	(void)state;
	contract_port_down();
	for (port = 0; port < shim_port_count(contract.s); port++) {
		info = info_of(port);
		c.nb_rx_queues = c.nb_tx_queues = RTE_MIN(info.max_rx_queues, 2);
		c.rss = true;
		assert_int_equal(shim_port_configure(contract.s, port, &c), 0);
		rss_key_of(port, info.rss_key_size);
		reta_of(port, info.reta_size, c.nb_rx_queues);
	}
	contract_port_up();
}

/* SHM-2, SHM-7 */
static void
test_only_the_primary_changes_a_port(void **state)
{
	static const enum shim_role roles[] = { SHIM_ROLE_WORKER, SHIM_ROLE_OBSERVER };
	struct shim_port_conf c = plain_conf();
	struct shim_port_info info;
	uint8_t key[40] = { 0 };
	uint16_t reta[128] = { 0 }, mtu;
	struct rte_mbuf *m;
	struct shim *w;
	int i;

	(void)state;
	contract_port_up();
	for (i = 0; i < 2; i++) {
		w = contract_backend.door(contract.bed, roles[i], (uint32_t)i);
		assert_non_null(w);
		assert_int_equal(shim_port_configure(w, 0, &c), -EPERM);
		assert_int_equal(shim_port_start(w, 0), -EPERM);
		assert_int_equal(shim_port_stop(w, 0), -EPERM);
		assert_int_equal(shim_port_mtu_set(w, 0, 1400), -EPERM);
		assert_int_equal(shim_port_promiscuous_set(w, 0, true), -EPERM);
		assert_int_equal(shim_port_allmulticast_set(w, 0, true), -EPERM);
		assert_int_equal(shim_port_rss_key_set(w, 0, key, 40), -EPERM);
		assert_int_equal(shim_port_reta_set(w, 0, reta, 128), -EPERM);
#ifdef NONIC_SHIM_HOST
		assert_int_equal(shim_role_violations(w), 8);
#endif
		/* It may look, and it may poll. */
		assert_int_equal(shim_port_info(w, 0, &info), 0);
		assert_true(info.started);
		assert_int_equal(info.nb_rx_queues, CONTRACT_QUEUES);
		assert_int_equal(shim_port_mtu_get(w, 0, &mtu), 0);
		assert_int_equal(mtu, 1500);
		assert_int_equal(shim_rx_burst(w, 0, 1, &m, 1), 0);
		contract_backend.door_close(contract.bed, w);
	}
#ifdef NONIC_SHIM_HOST
	assert_int_equal(shim_role_violations(contract.s), 0);
#endif
}

/* SHM-2, SHM-7 */
static void
test_a_worker_polls_what_the_primary_configured(void **state)
{
	struct shim *w = contract_backend.door(contract.bed, SHIM_ROLE_WORKER, 1);
	struct rte_mbuf *m;
	uint32_t got[16];

	(void)state;
	assert_non_null(w);
	contract_port_up();
	inject_number(1, 42);
	assert_int_equal(shim_rx_burst(w, 0, 1, &m, 1), 1);
	assert_int_equal(shim_buf_len(m), 64);
	assert_int_equal(shim_tx_burst(w, 0, 1, &m, 1), 1);
	assert_int_equal(contract_backend.collect(contract.bed, 1, got, sizeof(got)), 64);
	assert_int_equal(got[0], 42);
	contract_backend.door_close(contract.bed, w);
	contract_port_down();
}

int
contract_run_ports(void)
{
	const struct CMUnitTest tests[] = {
		CONTRACT_TEST(test_port_before_it_is_configured),
		CONTRACT_TEST(test_port_that_is_not_there),
		CONTRACT_TEST(test_configurations_that_are_refused),
		CONTRACT_TEST(test_port_starts_and_stops),
		CONTRACT_TEST(test_frames_come_in_order_to_their_queue),
		CONTRACT_TEST(test_frames_go_out_in_order),
		CONTRACT_TEST(test_a_chain_goes_out_whole),
		CONTRACT_TEST(test_a_full_queue_takes_what_fits),
		CONTRACT_TEST(test_mtu_of_a_port),
		CONTRACT_TEST(test_filters_of_a_port),
		CONTRACT_TEST(test_rss_of_a_port),
		CONTRACT_TEST(test_only_the_primary_changes_a_port),
		CONTRACT_TEST(test_a_worker_polls_what_the_primary_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

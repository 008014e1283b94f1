/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock does what a test tells it to (SHM-4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shim/host/mock/mock.h"
#include "shim/shim.h"

static int
setup(void **state)
{
	*state = mock_shim_new();
	return 0;
}

static int
teardown(void **state)
{
	return (int)mock_shim_free(*state);
}

/* The port 0 configured and started over a pool of n buffers. */
static struct shim_pool *
start_port(struct shim *s, unsigned int n)
{
	struct shim_port_conf c = { .nb_rx_queues = 2, .nb_tx_queues = 2, .mtu = 1500 };

	assert_int_equal(shim_pool_create(s, "pool", n, 256, &c.pool), 0);
	assert_int_equal(shim_port_configure(s, 0, &c), 0);
	assert_int_equal(shim_port_start(s, 0), 0);
	return c.pool;
}

/* SHM-4 */
static void
test_the_nth_call_fails(void **state)
{
	struct shim *s = *state;
	struct shim_pool *p;
	void *a;

	mock_fail(s, MOCK_OP_zone_reserve, 2, ENOMEM);
	assert_int_equal(shim_zone_reserve(s, "a", 8, &a), 0);
	assert_int_equal(shim_zone_reserve(s, "b", 8, &a), -ENOMEM);
	assert_int_equal(shim_zone_lookup(s, "b", &a, NULL), -ENOENT); /* no effect */
	assert_int_equal(shim_zone_reserve(s, "b", 8, &a), 0);
	assert_int_equal(mock_names_left(s), 2);

	mock_fail_malloc_at(s, 2);
	a = shim_malloc(s, 8);
	assert_non_null(a);
	assert_null(shim_malloc(s, 8));
	assert_int_equal(mock_mallocs_out(s), 1);
	shim_free(s, a);

	assert_int_equal(shim_pool_create(s, "p", 4, 256, &p), 0);
	mock_fail_buf_at(s, 1);
	assert_null(shim_buf_alloc(s, p));
	assert_int_equal(shim_pool_avail(s, p), 4);

	mock_fail_all(s, MOCK_OP_pool_create, EEXIST);
	assert_int_equal(shim_pool_create(s, "q", 4, 256, &p), -EEXIST);
	assert_int_equal(shim_pool_create(s, "q", 4, 256, &p), -EEXIST);
	mock_fail_all(s, MOCK_OP_pool_create, 0);
	assert_int_equal(shim_pool_create(s, "q", 4, 256, &p), 0);
}

/* SHM-4 */
static void
test_bulk_allocation_undoes_itself(void **state)
{
	struct shim *s = *state;
	struct rte_mbuf *m[4];
	struct shim_pool *p;
	unsigned int k;

	assert_int_equal(shim_pool_create(s, "p", 4, 256, &p), 0);
	for (k = 1; k <= 4; k++) {
		mock_fail_buf_at(s, k);
		assert_int_equal(shim_buf_alloc_bulk(s, p, m, 4), -ENOMEM);
		assert_int_equal(mock_bufs_out(s), 0);
	}
	assert_int_equal(shim_buf_alloc_bulk(s, p, m, 4), 0);
	assert_int_equal(mock_bufs_out(s), 4);
	shim_buf_free_bulk(s, m, 4);
}

/* SHM-4 */
static void
test_answers_come_from_a_queue(void **state)
{
	struct shim *s = *state;
	char token;

	mock_return(s, MOCK_OP_random, 7);
	mock_return_real(s, MOCK_OP_random, 1);
	mock_return(s, MOCK_OP_random, 9);
	assert_int_equal(shim_random(s), 7);
	assert_int_not_equal(shim_random(s), 9);
	assert_int_equal(shim_random(s), 9);
	mock_return(s, MOCK_OP_port_mtu_set, -EBUSY);
	assert_int_equal(shim_port_mtu_set(s, 0, 1400), -EBUSY);
	mock_return(s, MOCK_OP_malloc, (int64_t)(intptr_t)&token);
	assert_ptr_equal(shim_malloc(s, 1), &token);
	mock_return(s, MOCK_OP_cas, true);
	assert_true(shim_cas32(s, &(uint32_t){ 1 }, &(uint32_t){ 5 }, 6, SHIM_ACQ_REL));
	mock_return(s, MOCK_OP_clock_ns, 5);
	assert_int_equal(shim_clock_sample(s), 5);
	mock_return(s, MOCK_OP_random, 1);
	mock_fail(s, MOCK_OP_random, 1, 1);
	mock_script_clear(s);
	assert_int_not_equal(shim_random(s), 0);
}

/* SHM-4: call order, with arguments */
static void
test_the_log_shows_order_and_arguments(void **state)
{
	struct shim *s = *state;
	uint16_t mtu;
	void *a;

	start_port(s, 4);
	mock_log_clear(s);
	shim_port_stop(s, 0);
	shim_port_mtu_set(s, 0, 9000);
	shim_port_mtu_get(s, 0, &mtu);
	shim_port_start(s, 0);
	shim_zone_reserve(s, "z", 1, &a);
	assert_string_equal(mock_log(s), "port_stop(0) port_mtu_set(0,9000) port_mtu_get(0) "
		"port_start(0) zone_reserve(z)");
	assert_int_equal(mock_calls(s, MOCK_OP_port_mtu_set), 1);
	assert_int_equal(mock_calls(s, MOCK_OP_rx_burst), 0);
	mock_log_clear(s);
	mock_log_op(s, MOCK_OP_clock_ns, true);
	mock_log_op(s, MOCK_OP_zone_free, false);
	shim_zone_free(s, "z");
	shim_clock_ns(s);
	assert_string_equal(mock_log(s), "clock_ns()");
	assert_string_equal(mock_op_name(MOCK_OP_port_start), "port_start");
	for (int i = 0; i < 1000; i++) /* the log is cut, never overrun */
		shim_clock_ns(s);
	assert_int_equal(strlen(mock_log(s)), 4095);
	shim_log(s, SHIM_LOG_ERR, "port %d is gone", 3);
	assert_string_equal(mock_last_message(s), "port 3 is gone");
	assert_int_equal(mock_messages(s, SHIM_LOG_ERR), 1);
	assert_int_equal(mock_messages(s, SHIM_LOG_INFO), 0);
	assert_int_equal(mock_messages(s, 0), 1);
	assert_int_equal(mock_messages(s, 99), 0);
}

static void
other_process_stops_port(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	++*(int *)arg;
	mock_port(s, 0)->started = false;
}

/* SHM-4: side effects */
static void
test_a_hook_runs_before_the_call(void **state)
{
	struct shim *s = *state;
	struct rte_mbuf *m;
	int ran = 0;

	start_port(s, 4);
	assert_int_equal(mock_inject(s, 0, 0, "abc", 3), 0);
	mock_hook(s, MOCK_OP_rx_burst, other_process_stops_port, &ran);
	assert_int_equal(shim_rx_burst(s, 0, 0, &m, 1), 0);
	mock_hook(s, MOCK_OP_rx_burst, NULL, NULL);
	mock_port(s, 0)->started = true;
	assert_int_equal(shim_rx_burst(s, 0, 0, &m, 1), 1);
	assert_int_equal(ran, 1);
	shim_buf_free(s, m);
}

static int
own_entropy(struct shim *s, void *buf, size_t n)
{
	(void)s;
	check_expected(n);
	memset(buf, 0xab, n);
	return mock_type(int);
}

/* SHM-4: CMocka's own expectations */
static void
test_an_entry_can_be_replaced(void **state)
{
	struct shim *s = *state;
	uint8_t b[4];

	mock_ops(s)->entropy = own_entropy;
	expect_value(own_entropy, n, 4);
	will_return(own_entropy, -EIO);
	assert_int_equal(shim_entropy(s, b, 4), -EIO);
	assert_int_equal(b[3], 0xab);
	mock_ops(s)->entropy = mock_behaviour.entropy;
	assert_int_equal(shim_entropy(s, b, 4), 0);
}

/* SHM-4 */
static void
test_clocks_and_processes_are_the_tests(void **state)
{
	struct shim *s = *state;
	const char *const argv[] = { "/bin/worker", "-x", NULL };
	struct shim_proc p = { .pid = 5, .start_time = 50 };
	uint64_t r;

	mock_set_clock_ns(s, 5000000);
	mock_advance_ns(s, 1000000);
	assert_int_equal(shim_clock_sample(s), 6000000);
	assert_int_equal(shim_now_ms(s), 6);
	mock_set_wall_ns(s, 100);
	shim_sleep_ns(s, 50);
	assert_int_equal(shim_wall_ns(s), 150);
	mock_seed(s, 3);
	r = shim_random(s);
	mock_seed(s, 3);
	assert_true(shim_random(s) == r);
	assert_int_equal(shim_proc_alive(s, &p), 0);
	mock_proc_set(s, p, true);
	assert_int_equal(shim_proc_alive(s, &p), 1);
	p.start_time = 51;
	mock_proc_set(s, p, true); /* the pid again, another program */
	assert_int_equal(shim_proc_alive(s, &(struct shim_proc){ .pid = 5, .start_time = 50 }), 0);
	mock_proc_set(s, p, false);
	assert_int_equal(shim_proc_alive(s, &p), 0);
	assert_int_equal(shim_proc_spawn(s, argv, &p), 0);
	assert_int_equal(shim_proc_alive(s, &p), 1);
	mock_set_role(s, SHIM_ROLE_OBSERVER);
	assert_int_equal(shim_port_start(s, 0), -EPERM);
	assert_int_equal(shim_role_violations(s), 1);
}

/* SHM-4 */
static void
test_ports_are_the_tests(void **state)
{
	struct shim *s = *state;
	struct shim_port_link l;
	struct shim_pool *p;
	uint8_t big[300] = { 1 }, back[300];
	struct rte_mbuf *m[4];
	uint16_t port;

	assert_int_equal(mock_inject(s, 0, 0, big, 3), -ENETDOWN);
	assert_int_equal(mock_inject(s, 9, 0, big, 3), -ENODEV);
	p = start_port(s, 4);
	assert_int_equal(mock_inject(s, 0, 5, big, 3), -ENETDOWN);
	assert_int_equal(mock_inject(s, 0, 1, big, 300), 0); /* 128 a buffer: three */
	assert_int_equal(mock_rx_waiting(s, 0, 1), 1);
	assert_int_equal(mock_inject(s, 0, 1, big, 300), -ENOBUFS);
	assert_int_equal(mock_port_counters(s, 0)->rx_nombuf, 1);
	assert_int_equal(shim_rx_burst(s, 0, 1, m, 4), 1);
	assert_int_equal(m[0]->nb_segs, 3);
	mock_tx_room(s, 0, 0, 0);
	assert_int_equal(shim_tx_burst(s, 0, 0, m, 1), 0);
	mock_tx_room(s, 0, 0, 1);
	assert_int_equal(shim_tx_burst(s, 0, 0, m, 1), 1);
	assert_int_equal(mock_tx_waiting(s, 0, 0), 1);
	assert_int_equal(mock_collect_bytes(s, 0, 0, back, sizeof(back)), 300);
	assert_memory_equal(big, back, 300);
	assert_int_equal(mock_collect_bytes(s, 0, 0, back, sizeof(back)), 0);
	assert_int_equal(shim_pool_avail(s, p), 4);
	mock_port_link_set(s, 0, false);
	assert_int_equal(shim_port_link(s, 0, &l), 0);
	assert_false(l.up);
	mock_port_mtu_busy(s, 0, true);
	assert_int_equal(shim_port_mtu_set(s, 0, 1400), -EBUSY);
	assert_int_equal(shim_port_allmulticast_set(s, 0, true), 0);
	assert_true(mock_port_allmulticast(s, 0));
	port = mock_port_add(s, NULL);
	assert_int_equal(mock_port(s, port)->mac[5], 2);
	m[0] = shim_buf_alloc(s, p);
	assert_int_equal(mock_inject_buf(s, 0, 0, m[0]), 0); /* left there: the port's to free */
}

/* SHM-4 */
static void
test_leaks_are_counted(void **state)
{
	struct shim *s = mock_shim_new_bare(), *w;
	struct rte_mbuf *m;
	struct shim_pool *p;
	void *block;

	(void)state;
	assert_int_equal(shim_port_count(s), 0);
	w = mock_shim_attach(s, SHIM_ROLE_WORKER, 4);
	assert_int_equal(shim_self(w).proc_id, 4);
	assert_int_equal(mock_shim_free(w), 0);
	assert_int_equal(shim_pool_create(s, "p", 2, 256, &p), 0);
	m = shim_buf_alloc(s, p);
	block = shim_malloc(s, 10);
	assert_int_equal(mock_mallocs_out(s), 1);
	assert_int_equal(mock_bufs_out(s), 1);
	assert_int_equal(mock_shim_free(s), 2);
	free(m); /* each its own malloc */
	free(block);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_nth_call_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bulk_allocation_undoes_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers_come_from_a_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_log_shows_order_and_arguments, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_a_hook_runs_before_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_entry_can_be_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clocks_and_processes_are_the_tests, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_ports_are_the_tests, setup, teardown),
		cmocka_unit_test(test_leaks_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

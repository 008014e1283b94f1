/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door as a reader of shim.h understands it, on the mock (SHM-4) and on the posix backend (SHM-6), and the mock's own
 * promises. SHM-2
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/shim.h"
#include "shim/host/mock/mock.h"
#include "shim/host/posix/posix.h"

/* ---- both backends ----------------------------------------------------------------------------------- */

static void
on_each(void (*test)(struct shim *primary, struct shim *worker))
{
	struct shim *p, *w;
	char bed[32];

	p = mock_shim_new();
	w = mock_shim_attach(p, SHIM_ROLE_WORKER, 1);
	test(p, w);
	mock_shim_free(w);
	assert_int_equal(mock_shim_free(p), 0);
	snprintf(bed, sizeof(bed), "spec-%d", (int)getpid());
	assert_int_equal(posix_shim_create(&(struct posix_opts){ .bed = bed, .pairs = 1 }, 0, &p), 0);
	assert_int_equal(posix_shim_door(p, SHIM_ROLE_WORKER, 1, &w), 0);
	test(p, w);
	posix_shim_close(w);
	posix_shim_close(p);
}

static void
zones(struct shim *p, struct shim *w)
{
	char name[64];
	uint8_t *a, *b;
	void *v;
	size_t n = 0;

	assert_int_equal(shim_zone_lookup(p, "z", &v, NULL), -ENOENT);
	assert_int_equal(shim_zone_reserve(p, "z", 100, &v), 0);
	a = v;
	assert_int_equal((uintptr_t)a % 64, 0);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(a[i], 0);
	assert_int_equal(shim_zone_reserve(w, "z", 100, &v), -EEXIST);
	assert_int_equal(shim_zone_lookup(w, "z", &v, &n), 0);
	b = v;
	assert_true(n == 100 || n == 128);
	a[99] = 7;
	assert_int_equal(b[99], 7);
	assert_int_equal(shim_zone_reserve(p, "empty", 0, &v), -EINVAL);
	memset(name, 'x', sizeof(name));
	name[SHIM_NAME_MAX] = '\0';
	assert_int_equal(shim_zone_reserve(p, name, 8, &v), -ENAMETOOLONG);
	name[SHIM_NAME_MAX - 1] = '\0';
	assert_int_equal(shim_zone_reserve(p, name, 8, &v), 0);
	assert_int_equal(shim_zone_free(p, name), 0);
	assert_int_equal(shim_zone_free(p, "z"), 0);
	assert_int_equal(shim_zone_free(p, "z"), -ENOENT);
	assert_int_equal(shim_zone_lookup(p, "z", &v, NULL), -ENOENT);
	assert_int_equal(shim_zone_reserve(p, "z", 8, &v), 0); /* zeroed again */
	assert_int_equal(*(uint8_t *)v, 0);
	assert_int_equal(shim_zone_free(p, "z"), 0);
}

/* SHM-2, SHM-4, SHM-6 */
static void
zones_are_zeroed_aligned_and_shared(void **state)
{
	(void)state;
	on_each(zones);
}

static void
rings(struct shim *p, struct shim *w)
{
	struct rte_ring *r, *q;
	void *in[16], *out[16];

	assert_int_equal(shim_ring_create(p, "r", 0, SHIM_RING_SP_SC, &r), -EINVAL);
	assert_int_equal(shim_ring_create(p, "r", 7, SHIM_RING_SP_SC, &r), -EINVAL);
	assert_int_equal(shim_ring_lookup(p, "r", &r), -ENOENT);
	assert_int_equal(shim_ring_create(p, "r", 8, SHIM_RING_SP_SC, &r), 0);
	assert_int_equal(shim_ring_create(p, "r", 8, SHIM_RING_MP_SC, &q), -EEXIST);
	assert_int_equal(shim_ring_lookup(w, "r", &q), 0);
	assert_int_equal(shim_ring_capacity(p, r), 7);
	for (uintptr_t i = 0; i < 16; i++)
		in[i] = (void *)(i + 1);
	/* as many as fit, in order, and round the end many times */
	for (unsigned int turn = 0; turn < 100; turn++) {
		assert_int_equal(shim_ring_enqueue_burst(p, r, in, 5), 5);
		assert_int_equal(shim_ring_enqueue_burst(p, r, in + 5, 5), 2);
		assert_int_equal(shim_ring_enqueue_burst(p, r, in, 1), 0);
		assert_int_equal(shim_ring_count(w, q), 7);
		assert_int_equal(shim_ring_dequeue_burst(w, q, out, 3), 3);
		assert_int_equal(shim_ring_dequeue_burst(w, q, out + 3, 16), 4);
		assert_memory_equal(out, in, 7 * sizeof(in[0]));
		assert_int_equal(shim_ring_dequeue_burst(w, q, out, 16), 0);
		assert_int_equal(shim_ring_count(p, r), 0);
	}
	shim_ring_free(p, r);
	assert_int_equal(shim_ring_lookup(p, "r", &r), -ENOENT);
}

/* SHM-2, SHM-4, SHM-6: a ring holds exactly count - 1 */
static void
rings_hold_count_minus_one(void **state)
{
	(void)state;
	on_each(rings);
}

static void
buffers(struct shim *p, struct shim *w)
{
	struct shim_pool *pool, *same;
	struct rte_mbuf *m[64], *c;

	assert_int_equal(shim_pool_create(p, "b", 40, 2176, &pool), 0);
	assert_int_equal(shim_pool_create(p, "b", 40, 2176, &same), -EEXIST);
	assert_int_equal(shim_pool_lookup(w, "b", &same), 0);
	assert_int_equal(shim_pool_size(w, same), 40);
	assert_int_equal(shim_pool_data_room(w, same), 2176);
	assert_int_equal(shim_buf_alloc_bulk(w, same, m, 41), -ENOMEM); /* all or none */
	assert_int_equal(shim_pool_avail(p, pool), 40);
	assert_int_equal(shim_buf_alloc_bulk(p, pool, m, 40), 0);
	assert_null(shim_buf_alloc(p, pool));
	assert_int_equal(shim_pool_avail(p, pool), 0);
	shim_buf_free_bulk(p, m + 3, 37);
	assert_int_equal(shim_buf_headroom(m[0]), SHIM_HEADROOM);
	assert_int_equal(shim_buf_len(m[0]), 0);
	assert_non_null(shim_buf_append(m[0], 2048)); /* what the room leaves */
	assert_null(shim_buf_append(m[0], 1));
	assert_null(shim_buf_prepend(m[0], 129));
	assert_non_null(shim_buf_prepend(m[0], 128));
	assert_null(shim_buf_adj(m[0], 2177));
	assert_int_equal(shim_buf_trim(m[0], 2177), -1);
	assert_int_equal(shim_buf_len(m[0]), 2176);
	/* a clone keeps the data alive */
	memset(shim_buf_data(m[0]), 0x5a, 10);
	c = shim_buf_clone(p, m[0], pool);
	assert_non_null(c);
	shim_buf_free(p, m[0]);
	assert_int_equal(*(uint8_t *)shim_buf_data(c), 0x5a);
	assert_int_equal(shim_pool_avail(p, pool), 36);
	shim_buf_free(p, c);
	assert_int_equal(shim_pool_avail(p, pool), 38);
	/* references: as many frees as references */
	shim_buf_ref(p, m[1], 2);
	shim_buf_free(p, m[1]);
	shim_buf_free(p, m[1]);
	assert_int_equal(shim_pool_avail(p, pool), 38);
	shim_buf_free(p, m[1]);
	assert_int_equal(shim_pool_avail(p, pool), 39);
	shim_buf_free(p, m[2]);
	shim_buf_free(p, NULL);
	assert_int_equal(shim_pool_avail(p, pool), 40);
	shim_pool_free(p, pool);
}

/* SHM-2, SHM-4, SHM-6 */
static void
buffers_are_counted_and_bounded(void **state)
{
	(void)state;
	on_each(buffers);
}

static void
chains(struct shim *p, struct shim *w)
{
	struct shim_pool *pool;
	struct rte_mbuf *a, *b, *c;
	uint8_t flat[300];

	(void)w;
	assert_int_equal(shim_pool_create(p, "c", 16, 128 + 100, &pool), 0);
	a = shim_buf_alloc(p, pool);
	b = shim_buf_alloc(p, pool);
	memset(shim_buf_append(a, 90), 1, 90);
	memset(shim_buf_append(b, 60), 2, 60);
	assert_int_equal(shim_buf_chain(a, b), 0);
	assert_int_equal(shim_buf_len(a), 150);
	assert_int_equal(shim_buf_seg_len(a), 90);
	assert_null(shim_buf_read(a, 100, 51, flat));
	assert_non_null(shim_buf_read(a, 80, 20, flat));
	assert_int_equal(flat[9], 1);
	assert_int_equal(flat[10], 2);
	assert_int_equal(shim_buf_linearize(p, a), -1); /* 100 bytes hold no 150 */
	assert_int_equal(shim_buf_len(a), 150);
	c = shim_buf_copy(p, a, pool, 85, UINT32_MAX);
	assert_non_null(c);
	assert_int_equal(shim_buf_len(c), 65);
	assert_int_equal(((uint8_t *)shim_buf_data(c))[4], 1);
	assert_int_equal(((uint8_t *)shim_buf_data(c))[5], 2);
	assert_null(shim_buf_copy(p, a, pool, 151, 1));
	shim_buf_free(p, c);
	assert_int_equal(shim_buf_trim(a, 55), 0); /* of the last segment */
	assert_int_equal(shim_buf_linearize(p, a), 0);
	assert_int_equal(shim_buf_seg_len(a), 95);
	shim_buf_free(p, a);
	assert_int_equal(shim_pool_avail(p, pool), 16);
	shim_pool_free(p, pool);
}

/* SHM-2, SHM-4, SHM-6 */
static void
chains_are_read_copied_and_made_one(void **state)
{
	(void)state;
	on_each(chains);
}

static void
roles(struct shim *p, struct shim *w)
{
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	uint16_t mtu = 0;

	assert_int_equal(shim_role(p), SHIM_ROLE_PRIMARY);
	assert_int_equal(shim_role(w), SHIM_ROLE_WORKER);
	assert_int_equal(shim_pool_create(p, "d", 512, 2176, &c.pool), 0);
	assert_int_equal(shim_port_configure(w, 0, &c), -EPERM);
	assert_int_equal(shim_port_configure(p, 0, &c), 0);
	assert_int_equal(shim_port_start(w, 0), -EPERM);
	assert_int_equal(shim_port_start(p, 0), 0);
	assert_int_equal(shim_port_stop(w, 0), -EPERM);
	assert_int_equal(shim_port_mtu_set(w, 0, 1400), -EPERM);
	assert_int_equal(shim_port_promiscuous_set(w, 0, true), -EPERM);
	assert_int_equal(shim_port_mtu_get(w, 0, &mtu), 0); /* reading is everybody's; nothing has changed */
	assert_int_equal(mtu, 1500);
	assert_int_equal(shim_role_violations(w), 5);
	assert_int_equal(shim_port_configure(p, 0, &c), -EBUSY); /* it runs */
	assert_int_equal(shim_port_start(p, 99), -ENODEV);
	assert_int_equal(shim_port_mtu_get(p, 99, &mtu), -ENODEV);
	assert_int_equal(shim_port_stop(p, 0), 0);
}

/* SHM-2: device calls belong to the primary */
static void
device_calls_of_others_are_eperm_and_change_nothing(void **state)
{
	(void)state;
	on_each(roles);
}

static void
words(struct shim *p, struct shim *w)
{
	void *v;
	uint32_t *a, e = 5;
	uint64_t *b, e64 = 1;

	assert_int_equal(shim_zone_reserve(p, "w", 64, &v), 0);
	a = v;
	b = (uint64_t *)v + 1;
	shim_store32(p, a, 6, SHIM_RELEASE);
	assert_int_equal(shim_load32(w, a, SHIM_ACQUIRE), 6);
	assert_false(shim_cas32(w, a, &e, 9, SHIM_ACQ_REL));
	assert_int_equal(e, 6); /* what it saw */
	assert_true(shim_cas32(w, a, &e, 9, SHIM_ACQ_REL));
	assert_int_equal(shim_fetch_add32(p, a, 0xffffffff, SHIM_SEQ_CST), 9);
	assert_int_equal(*a, 8);
	shim_store64(p, b, UINT64_MAX, SHIM_RELAXED);
	assert_int_equal(shim_fetch_add64(w, b, 2, SHIM_ACQ_REL), UINT64_MAX);
	assert_true(shim_cas64(p, b, &e64, 1ull << 40, SHIM_SEQ_CST));
	assert_true(shim_load64(w, b, SHIM_RELAXED) == 1ull << 40);
	shim_fence(p, SHIM_SEQ_CST);
	assert_int_equal(shim_zone_free(p, "w"), 0);
}

/* SHM-2 */
static void
shared_words(void **state)
{
	(void)state;
	on_each(words);
}

static void
memory_and_time(struct shim *p, struct shim *w)
{
	uint64_t t, n;
	uint8_t *m;

	assert_null(shim_malloc(p, 0));
	m = shim_malloc(p, 1000);
	assert_non_null(m);
	assert_int_equal((uintptr_t)m % 64, 0);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(m[i], 0);
	shim_free(p, m);
	shim_free(p, NULL);
	t = shim_clock_sample(p);
	assert_true(shim_now_ns(p) == t);
	assert_true(shim_now_ms(p) == (uint32_t)(t / 1000000));
	shim_sleep_ns(p, 2000000);
	assert_true(shim_now_ns(p) == t); /* until the next sample */
	n = shim_clock_ns(p);
	assert_true(n >= t + 2000000);
	assert_true(shim_now_ns(p) == t);
	assert_true(shim_clock_sample(p) >= n);
	assert_true(shim_cycles_hz(w) > 0);
}

/* SHM-2: memory is zeroed, a sample stays until the next */
static void
memory_is_zeroed_and_a_sample_stays(void **state)
{
	(void)state;
	on_each(memory_and_time);
}

static void
processes(struct shim *p, struct shim *w)
{
	struct shim_proc me = shim_self(p), gone;

	(void)w;
	assert_int_equal(shim_proc_alive(p, &me), 1);
	gone = me;
	gone.start_time++; /* the same number, another program */
	assert_int_equal(shim_proc_alive(p, &gone), 0);
}

/* SHM-2: is the pid alive and still the same program? */
static void
a_reused_pid_is_another_program(void **state)
{
	(void)state;
	on_each(processes);
}

/* ---- the mock's own promises ---------------------------------------------------------------------------- */

/* SHM-4: return values and errno */
static void
every_call_can_be_made_to_fail(void **state)
{
	struct shim *s = mock_shim_new();
	void *v;
	uint16_t mtu;

	(void)state;
	mock_fail(s, MOCK_OP_zone_reserve, 2, ENOMEM);
	assert_int_equal(shim_zone_reserve(s, "a", 8, &v), 0);
	assert_int_equal(shim_zone_reserve(s, "b", 8, &v), -ENOMEM);
	assert_int_equal(shim_zone_lookup(s, "b", &v, NULL), -ENOENT); /* without any effect */
	assert_int_equal(shim_zone_reserve(s, "b", 8, &v), 0);         /* once */
	mock_fail_all(s, MOCK_OP_port_mtu_get, EIO);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(shim_port_mtu_get(s, 0, &mtu), -EIO);
	mock_fail_all(s, MOCK_OP_port_mtu_get, 0);
	assert_int_equal(shim_port_mtu_get(s, 0, &mtu), 0);
	mock_fail_malloc_at(s, 1);
	assert_null(shim_malloc(s, 8));
	v = shim_malloc(s, 8);
	assert_non_null(v);
	assert_int_equal(mock_mallocs_out(s), 1);
	shim_free(s, v);
	mock_return(s, MOCK_OP_port_count, 17);
	mock_return_real(s, MOCK_OP_port_count, 1);
	mock_return(s, MOCK_OP_port_count, 18);
	assert_int_equal(shim_port_count(s), 17);
	assert_int_equal(shim_port_count(s), 1);
	assert_int_equal(shim_port_count(s), 18);
	assert_int_equal(shim_port_count(s), 1);
	mock_fail(s, MOCK_OP_port_start, 1, EBUSY);
	mock_script_clear(s);
	assert_int_equal(shim_zone_free(s, "a"), 0);
	assert_int_equal(shim_zone_free(s, "b"), 0);
	assert_int_equal(mock_shim_free(s), 0);
}

static void
count_hook(struct shim *s, enum mock_op op, void *arg)
{
	assert_int_equal(op, MOCK_OP_port_mtu_set);
	assert_int_equal(shim_port_count(s), 1); /* it may call the door */
	++*(unsigned int *)arg;
}

/* SHM-4: call order and side effects */
static void
calls_are_logged_in_order_and_hooked(void **state)
{
	struct shim *s = mock_shim_new();
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	unsigned int n = 0;

	(void)state;
	assert_int_equal(shim_pool_create(s, "p", 512, 2176, &c.pool), 0);
	assert_int_equal(shim_port_configure(s, 0, &c), 0);
	assert_int_equal(shim_port_start(s, 0), 0);
	mock_log_clear(s);
	mock_hook(s, MOCK_OP_port_mtu_set, count_hook, &n);
	mock_port_mtu_busy(s, 0, true);
	assert_int_equal(shim_port_mtu_set(s, 0, 9000), -EBUSY);
	assert_int_equal(shim_port_stop(s, 0), 0);
	assert_int_equal(shim_port_mtu_set(s, 0, 9000), 0);
	assert_int_equal(shim_port_start(s, 0), 0);
	assert_string_equal(mock_log(s), "port_mtu_set(0,9000) port_stop(0) port_mtu_set(0,9000) port_start(0)");
	assert_int_equal(mock_calls(s, MOCK_OP_port_mtu_set), 2);
	assert_int_equal(n, 2);
	mock_hook(s, MOCK_OP_port_mtu_set, NULL, NULL);
	assert_int_equal(shim_port_mtu_set(s, 0, 67), -EINVAL);
	assert_int_equal(shim_port_stop(s, 0), 0);
	assert_int_equal(n, 2);
	assert_int_equal(mock_shim_free(s), 0);
}

/* SHM-4: partial bursts, frames in and out */
static void
frames_come_and_go_and_a_queue_may_be_full(void **state)
{
	struct shim *s = mock_shim_new();
	struct shim_port_conf c = { .nb_rx_queues = 2, .nb_tx_queues = 2, .mtu = 1500 };
	struct rte_mbuf *m[8];
	uint8_t b[64];

	(void)state;
	assert_int_equal(mock_inject(s, 0, 0, "frame", 5), -ENETDOWN);
	assert_int_equal(shim_pool_create(s, "p", 64, 2176, &c.pool), 0);
	assert_int_equal(shim_port_configure(s, 0, &c), 0);
	assert_int_equal(shim_port_start(s, 0), 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(mock_inject(s, 0, 1, "frame", 5), 0);
	assert_int_equal(shim_rx_burst(s, 0, 0, m, 8), 0);
	assert_int_equal(shim_rx_burst(s, 0, 1, m, 3), 3);
	assert_int_equal(shim_rx_burst(s, 0, 1, m + 3, 5), 2);
	mock_tx_room(s, 0, 1, 2);
	assert_int_equal(shim_tx_burst(s, 0, 1, m, 5), 2);
	assert_int_equal(shim_tx_burst(s, 0, 1, m + 2, 3), 0);
	assert_int_equal(mock_tx_waiting(s, 0, 1), 2);
	assert_int_equal(mock_collect_bytes(s, 0, 1, b, sizeof(b)), 5);
	assert_memory_equal(b, "frame", 5);
	assert_int_equal(mock_collect_bytes(s, 0, 1, b, sizeof(b)), 5);
	assert_int_equal(mock_collect_bytes(s, 0, 1, b, sizeof(b)), 0);
	shim_buf_free_bulk(s, m + 2, 3); /* the rest stayed ours */
	assert_int_equal(mock_bufs_out(s), 0);
	assert_int_equal(shim_port_stop(s, 0), 0);
	assert_int_equal(mock_shim_free(s), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_are_zeroed_aligned_and_shared),
		cmocka_unit_test(rings_hold_count_minus_one),
		cmocka_unit_test(buffers_are_counted_and_bounded),
		cmocka_unit_test(chains_are_read_copied_and_made_one),
		cmocka_unit_test(device_calls_of_others_are_eperm_and_change_nothing),
		cmocka_unit_test(shared_words),
		cmocka_unit_test(memory_is_zeroed_and_a_sample_stays),
		cmocka_unit_test(a_reused_pid_is_another_program),
		cmocka_unit_test(every_call_can_be_made_to_fail),
		cmocka_unit_test(calls_are_logged_in_order_and_hooked),
		cmocka_unit_test(frames_come_and_go_and_a_queue_may_be_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Zones, rings, pools, buffers and doors of a simulated machine. */
#include "bed.h"

/* SHM-5 */
static void
private_memory_is_zeroed_aligned_and_can_be_made_to_fail(void **state)
{
	struct sim_door *d;
	struct bed b;
	uint8_t *p;

	(void)state;
	bed_open(&b);
	d = sim_door(b.s);
	p = shim_malloc(b.s, 1000);
	assert_int_equal((uintptr_t)p % 64, 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(p[i], 0);
	shim_free(b.s, p);
	d->fail_malloc_in = 2;
	p = shim_malloc(b.s, 1);
	assert_non_null(p);
	assert_null(shim_malloc(b.s, 1));
	shim_free(b.s, p);
	p = shim_malloc(b.s, 1);
	assert_non_null(p);
	shim_free(b.s, p);
	d->fail_malloc_in = 1;
	d->fail_malloc_stays = true;
	assert_null(shim_malloc(b.s, 1));
	assert_null(shim_malloc(b.s, 1));
	d->fail_malloc_in = 0;
	assert_null(shim_malloc(b.s, SIZE_MAX - 70));
	d->fail_buf_in = 2;
	struct rte_mbuf *m = shim_buf_alloc(b.s, b.pool);
	assert_non_null(m);
	assert_null(shim_buf_alloc(b.s, b.pool));
	shim_buf_free(b.s, m);
	bed_close(&b);
}

static void
a_process_that_ends_with_something_in_its_hands_is_reported(void **state)
{
	struct bed b;
	struct shim *w;

	(void)state;
	bed_open(&b);
	w = bed_door(&b, SHIM_ROLE_WORKER, 2);
	assert_non_null(shim_malloc(w, 8));
	assert_non_null(shim_buf_alloc(w, b.pool));
	sim_door_close(sim_door(w), false);
	assert_int_equal(b.fails, 1);
	assert_non_null(strstr(b.why, "1 buffers and 1 allocations"));
	assert_int_equal(b.m->nb_lost, 1);
	b.fails = 0;
	bed_close(&b);
}

/* SIM-5 */
static void
buffers_are_followed_from_hand_to_hand(void **state)
{
	struct rte_mbuf *m, *tail;
	struct rte_ring *r;
	struct shim *w;
	struct bed b;
	char why[256];
	void *o, *five = (void *)(uintptr_t)5;

	(void)state;
	bed_open(&b);
	w = bed_door(&b, SHIM_ROLE_WORKER, 2);
	assert_int_equal(shim_ring_create(b.s, "ring", 8, SHIM_RING_SP_SC, &r), 0);
	m = shim_buf_alloc(b.s, b.pool);
	tail = shim_buf_alloc(b.s, b.pool);
	shim_buf_append(m, 10);
	shim_buf_append(tail, 10);
	assert_int_equal(shim_buf_chain(m, tail), 0);
	assert_int_equal(sim_door(b.s)->bufs, 2);
	o = m;
	assert_int_equal(shim_ring_enqueue_burst(b.s, r, &o, 1), 1);
	assert_int_equal(shim_ring_enqueue_burst(b.s, r, &five, 1), 1); /* no buffer at all: not followed */
	assert_int_equal(sim_door(b.s)->bufs, 0);
	assert_int_equal(sim_rings_count(b.m), 2);
	assert_int_equal(sim_machine_audit(b.m, why, sizeof(why)), 0);
	assert_int_equal(shim_ring_dequeue_burst(w, r, &o, 1), 1);
	assert_int_equal(sim_door(w)->bufs, 2);
	assert_int_equal(sim_machine_home(b.m, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "2 buffers are not home"));

	/* its owner dies; a clone of the first lives on elsewhere */
	struct rte_mbuf *c = shim_buf_clone(b.s, m, b.pool);
	sim_door_close(sim_door(w), true);
	assert_int_equal(b.m->nb_lost, 2);
	assert_int_equal(sim_machine_home(b.m, why, sizeof(why)), -EINVAL);
	shim_buf_free(b.s, c);
	assert_int_equal(b.m->nb_lost, 2);
	assert_int_equal(sim_machine_home(b.m, why, sizeof(why)), 0);
	assert_int_equal(shim_pool_avail(b.s, b.pool), 1022);
	assert_int_equal(shim_ring_dequeue_burst(b.s, r, &o, 1), 1);
	assert_ptr_equal(o, five);
	shim_ring_free(b.s, r);
	/* what was lost goes with its pool */
	shim_pool_free(b.s, b.pool);
	assert_int_equal(b.m->nb_live, 0);
	bed_close(&b);
}

static void
a_pool_freed_too_early_is_reported(void **state)
{
	struct rte_mbuf *m;
	struct bed b;

	(void)state;
	bed_open(&b);
	m = shim_buf_alloc(b.s, b.pool);
	shim_pool_free(b.s, b.pool);
	assert_int_equal(b.fails, 1);
	assert_non_null(strstr(b.why, "freed with 1 buffers out"));
	b.fails = 0;
	shim_buf_free(b.s, m);
	bed_close(&b);
}

#ifndef SIM_WITH_ASAN
static void
a_second_free_is_reported_not_done(void **state)
{
	struct rte_mbuf *m;
	struct bed b;

	(void)state;
	bed_open(&b);
	m = shim_buf_alloc(b.s, b.pool);
	shim_buf_free(b.s, m);
	sim_buf_release(b.s, m);
	assert_int_equal(b.fails, 1);
	assert_non_null(strstr(b.why, "freed twice"));
	b.fails = 0;
	bed_close(&b);
}
#endif

/* Many in and out: the set of live buffers keeps its chains whole. */
static void
the_set_of_live_buffers_survives_any_order(void **state)
{
	struct rte_mbuf *m[1000];
	unsigned int n = 0;
	uint64_t x = 1;
	struct bed b;

	(void)state;
	bed_open(&b);
	for (int i = 0; i < 20000; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		if (n < 1000 && (n == 0 || x >> 63)) {
			m[n++] = shim_buf_alloc(b.s, b.pool);
			assert_true(sim_buf_is_live(b.m, m[n - 1]));
		} else {
			unsigned int k = (unsigned int)((x >> 32) % n);

			shim_buf_free(b.s, m[k]);
			m[k] = m[--n];
		}
		if (i % 1000 == 0)
			for (unsigned int k = 0; k < n; k++)
				assert_true(sim_buf_is_live(b.m, m[k]));
	}
	shim_buf_free_bulk(b.s, m, n);
	assert_int_equal(b.m->nb_live, 0);
	bed_close(&b);
}

static void
conservation_notices_a_wrong_count(void **state)
{
	struct rte_mbuf *m;
	struct bed b;
	char why[256];

	(void)state;
	bed_open(&b);
	m = shim_buf_alloc(b.s, b.pool);
	sim_door(b.s)->bufs++;
	assert_int_equal(sim_machine_check(b.m, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "1 buffers out"));
	assert_int_equal(sim_machine_audit(b.m, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "at processes 2 (marked 1)"));
	sim_door(b.s)->bufs--;
	rte_mbuf_refcnt_set(m, 0);
	assert_int_equal(sim_machine_audit(b.m, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "without a reference"));
	rte_mbuf_refcnt_set(m, 1);
	shim_buf_free(b.s, m);
	bed_close(&b);
}

/* What a door does when nobody listens: no sleeping, no log, no world. */
static void
an_environment_may_be_empty(void **state)
{
	const struct sim_door_conf c = { .role = SHIM_ROLE_PRIMARY, .id = 1, .pid = 5, .start_time = 9 };
	const struct shim_proc self = { .pid = 5, .start_time = 9 }, other = { .pid = 6, .start_time = 9 };
	const char *const argv[] = { "x", NULL };
	struct bed b = { .now = 0 };
	struct sim_env env = { .ctx = &b, .now_ns = bed_now };
	struct sim_machine *m = sim_machine_create(&env, 1, "m");
	struct shim *s = &sim_door_open(m, &c)->shim;
	struct shim_proc p;
	uint32_t word = 1, seen = 1;
	uint64_t word8 = 5;
	uint8_t secret[13], other_secret[13];

	(void)state;
	shim_sleep_ns(s, 5);
	shim_log(s, SHIM_LOG_ERR, "nobody hears this");
	assert_int_equal(shim_proc_alive(s, &self), 1);
	assert_int_equal(shim_proc_alive(s, &other), 0);
	assert_int_equal(shim_proc_spawn(s, argv, &p), -ENOENT);
	assert_true(shim_cas32(s, &word, &seen, 2, SHIM_ACQ_REL));
	assert_false(shim_cas32(s, &word, &seen, 3, SHIM_ACQ_REL));
	assert_int_equal(seen, 2);
	assert_int_equal(shim_fetch_add64(s, &word8, 3, SHIM_RELAXED), 5);
	shim_fence(s, SHIM_SEQ_CST);
	shim_entropy(s, secret, sizeof(secret));
	shim_entropy(s, other_secret, sizeof(other_secret));
	assert_memory_not_equal(secret, other_secret, sizeof(secret));
	sim_machine_destroy(m); /* closes the door */
	sim_machine_destroy(NULL);
}

/* SIM-1 */
static void
doors_of_one_seed_draw_the_same_numbers(void **state)
{
	struct bed a, b;

	(void)state;
	bed_open(&a);
	bed_open(&b);
	for (int i = 0; i < 10; i++)
		assert_int_equal(shim_random(a.s), shim_random(b.s));
	bed_close(&a);
	bed_close(&b);
}

static void
names_are_checked_everywhere(void **state)
{
	const char *const longest = "123456789012345678901234567890123";
	struct shim_pool *p;
	struct rte_ring *r;
	struct bed b;
	void *a;

	(void)state;
	bed_open(&b);
	assert_int_equal(shim_zone_reserve(b.s, longest, 8, &a), -ENAMETOOLONG);
	assert_int_equal(shim_zone_lookup(b.s, "", &a, NULL), -EINVAL);
	assert_int_equal(shim_zone_free(b.s, longest), -ENAMETOOLONG);
	assert_int_equal(shim_zone_free(b.s, "none"), -ENOENT);
	assert_int_equal(shim_zone_reserve(b.s, "z", 0, &a), -EINVAL);
	assert_int_equal(shim_zone_reserve(b.s, "z", SIZE_MAX - 3, &a), -ENOMEM);
	assert_int_equal(shim_ring_create(b.s, longest, 8, 0, &r), -ENAMETOOLONG);
	assert_int_equal(shim_ring_lookup(b.s, longest, &r), -ENAMETOOLONG);
	assert_int_equal(shim_ring_lookup(b.s, "none", &r), -ENOENT);
	assert_int_equal(shim_pool_create(b.s, longest, 8, 2176, &p), -ENAMETOOLONG);
	assert_int_equal(shim_pool_lookup(b.s, longest, &p), -ENAMETOOLONG);
	assert_int_equal(shim_pool_lookup(b.s, "none", &p), -ENOENT);
	assert_int_equal(shim_ring_create(b.s, "left behind", 8, 0, &r), 0);
	assert_int_equal(shim_zone_reserve(b.s, "left behind", 8, &a), 0);
	bed_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_memory_is_zeroed_aligned_and_can_be_made_to_fail),
		cmocka_unit_test(a_process_that_ends_with_something_in_its_hands_is_reported),
		cmocka_unit_test(buffers_are_followed_from_hand_to_hand),
		cmocka_unit_test(a_pool_freed_too_early_is_reported),
#ifndef SIM_WITH_ASAN
		cmocka_unit_test(a_second_free_is_reported_not_done),
#endif
		cmocka_unit_test(the_set_of_live_buffers_survives_any_order),
		cmocka_unit_test(conservation_notices_a_wrong_count),
		cmocka_unit_test(an_environment_may_be_empty),
		cmocka_unit_test(doors_of_one_seed_draw_the_same_numbers),
		cmocka_unit_test(names_are_checked_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

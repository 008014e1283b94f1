/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of memory, clocks, randomness, processes, zones, rings and shared words. */
#include <string.h>

#include "contract.h"

#define NAME_25 "n234567890123456789012345"

/* SHM-2, SHM-7 */
static void
test_malloc_is_zeroed_and_aligned(void **state)
{
	static const size_t sizes[] = { 1, 63, 64, 4096, 5u << 20 };
	unsigned char *p;
	size_t i, k;

	(void)state;
	for (i = 0; i < 5; i++) {
		p = shim_malloc(contract.s, sizes[i]);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 64, 0);
		for (k = 0; k < sizes[i]; k++)
			if (p[k] != 0)
				fail_msg("byte %zu of %zu is %u", k, sizes[i], p[k]);
		memset(p, 0xff, sizes[i]);
		shim_free(contract.s, p);
	}
	assert_null(shim_malloc(contract.s, 0));
	shim_free(contract.s, NULL);
	shim_log(contract.s, SHIM_LOG_DEBUG, "contract: %s %d", contract_backend.name, 1);
}

/* SHM-2, SHM-7 */
static void
test_clocks_do_not_go_back(void **state)
{
	struct shim *s = contract.s;
	uint64_t a = shim_clock_ns(s), c = shim_cycles(s), now, w = shim_wall_ns(s);

	(void)state;
	assert_true(shim_cycles_hz(s) > 0);
	assert_true(w > 1000000000000000000ull); /* later than 2001 */
	now = shim_clock_sample(s);
	assert_true(now >= a);
	assert_true(shim_now_ns(s) == now);
	assert_int_equal(shim_now_ms(s), (uint32_t)(now / 1000000));
	shim_sleep_ns(s, 2000000);
	/* The sample stands still while the clock goes on. */
	assert_true(shim_now_ns(s) == now);
	assert_true(shim_clock_ns(s) >= now + 2000000);
	assert_true(shim_cycles(s) > c);
	assert_true(shim_clock_sample(s) >= now + 2000000);
}

/* SHM-2, SHM-7 */
static void
test_random_numbers_differ(void **state)
{
	uint64_t r[8], e[2][4];
	int i, k;

	(void)state;
	for (i = 0; i < 8; i++)
		r[i] = shim_random(contract.s);
	for (i = 0; i < 8; i++)
		for (k = 0; k < i; k++)
			assert_true(r[i] != r[k]);
	memset(e, 0, sizeof(e));
	assert_int_equal(shim_entropy(contract.s, e[0], sizeof(e[0])), 0);
	assert_int_equal(shim_entropy(contract.s, e[1], 31), 0);
	assert_int_equal(((uint8_t *)e[1])[31], 0);
	for (i = 0; i < 3; i++)
		assert_true(e[0][i] != 0 && e[0][i] != e[1][i]);
}

/* SHM-2, SHM-7 */
static void
test_process_facts(void **state)
{
	const char *const argv[] = { contract_backend.program, NULL };
	const char *const none[] = { NULL };
	const char *const missing[] = { contract_backend.missing_program, NULL };
	struct shim_proc self = shim_self(contract.s), p;

	(void)state;
	assert_int_equal(shim_role(contract.s), SHIM_ROLE_PRIMARY);
	assert_true(self.pid != 0 && self.start_time != 0);
	assert_int_equal(shim_proc_alive(contract.s, &self), 1);
	p = self;
	p.start_time++; /* the pid in another program's hands */
	assert_int_equal(shim_proc_alive(contract.s, &p), 0);
	p = (struct shim_proc){ .pid = 0x7ffffff0, .start_time = 1 };
	assert_int_equal(shim_proc_alive(contract.s, &p), 0);
	p.pid = 0; /* a damaged word: nobody, so that nothing waits for it for ever */
	assert_int_equal(shim_proc_alive(contract.s, &p), 0);
	assert_int_equal(shim_proc_spawn(contract.s, none, &p), -ENOENT);
	if (missing[0] != NULL)
		assert_int_equal(shim_proc_spawn(contract.s, missing, &p), -ENOENT);
	if (argv[0] != NULL) {
		assert_int_equal(shim_proc_spawn(contract.s, argv, &p), 0);
		assert_true(p.pid != 0 && p.pid != self.pid);
	}
}

/* SHM-2, SHM-7 */
static void
test_zones_have_names(void **state)
{
	struct shim *s = contract.s;
	void *a, *b;
	size_t size, i;

	(void)state;
	assert_int_equal(shim_zone_lookup(s, "z1", &b, &size), -ENOENT);
	assert_int_equal(shim_zone_free(s, "z1"), -ENOENT);
	assert_int_equal(shim_zone_reserve(s, "z1", 0, &a), -EINVAL);
	assert_int_equal(shim_zone_reserve(s, "", 64, &a), -EINVAL);
	assert_int_equal(shim_zone_reserve(s, NAME_25 "6", 64, &a), -ENAMETOOLONG);
	assert_int_equal(shim_zone_reserve(s, NAME_25, 1, &a), 0);
	assert_int_equal(shim_zone_free(s, NAME_25), 0);

	assert_int_equal(shim_zone_reserve(s, "z1", 1000, &a), 0);
	assert_int_equal((uintptr_t)a % 64, 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(((uint8_t *)a)[i], 0);
	memset(a, 0x5a, 1000);
	assert_int_equal(shim_zone_reserve(s, "z1", 1000, &b), -EEXIST);
	assert_int_equal(shim_zone_lookup(s, "z1", &b, &size), 0);
	assert_ptr_equal(a, b);
	assert_true(size >= 1000 && size <= 1024);
	assert_int_equal(shim_zone_lookup(s, "z1", &b, NULL), 0);
	assert_int_equal(shim_zone_free(s, "z1"), 0);
	assert_int_equal(shim_zone_lookup(s, "z1", &b, &size), -ENOENT);
	/* The next one of that name does not see the last one's bytes. */
	assert_int_equal(shim_zone_reserve(s, "z1", 1000, &a), 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(((uint8_t *)a)[i], 0);
	assert_int_equal(shim_zone_free(s, "z1"), 0);
}

/* SHM-2, SHM-7 */
static void
test_every_door_sees_the_same_names(void **state)
{
	struct shim *s = contract.s, *w;
	struct rte_ring *r, *r2;
	struct shim_pool *p2;
	void *a, *b;
	size_t size;

	(void)state;
	w = contract_backend.door(contract.bed, SHIM_ROLE_WORKER, 3);
	assert_non_null(w);
	assert_int_equal(shim_role(w), SHIM_ROLE_WORKER);
	assert_int_equal(shim_self(w).proc_id, 3);
	assert_int_equal(shim_zone_reserve(w, "made_by_worker", 64, &a), 0);
	assert_int_equal(shim_zone_lookup(s, "made_by_worker", &b, &size), 0);
	*(uint32_t *)a = 77;
	assert_int_equal(*(uint32_t *)b, 77);
	assert_int_equal(shim_ring_create(s, "shared", 8, SHIM_RING_SP_SC, &r), 0);
	assert_int_equal(shim_ring_lookup(w, "shared", &r2), 0);
	assert_int_equal(shim_ring_enqueue_burst(s, r, &a, 1), 1);
	assert_int_equal(shim_ring_dequeue_burst(w, r2, &b, 1), 1);
	assert_ptr_equal(a, b);
	assert_int_equal(shim_pool_lookup(w, "contract", &p2), 0);
	assert_int_equal(shim_pool_size(w, p2), CONTRACT_BUFS);
	shim_ring_free(s, r);
	assert_int_equal(shim_zone_free(s, "made_by_worker"), 0);
	contract_backend.door_close(contract.bed, w);
}

/* SHM-2, SHM-7 */
static void
test_ring_arguments(void **state)
{
	struct shim *s = contract.s;
	struct rte_ring *r, *r2;

	(void)state;
	assert_int_equal(shim_ring_create(s, "r", 0, SHIM_RING_SP_SC, &r), -EINVAL);
	assert_int_equal(shim_ring_create(s, "r", 100, SHIM_RING_SP_SC, &r), -EINVAL);
	assert_int_equal(shim_ring_create(s, "r", 0x80000000u, SHIM_RING_SP_SC, &r), -EINVAL);
	assert_int_equal(shim_ring_create(s, "r", 8, 7, &r), -EINVAL);
	assert_int_equal(shim_ring_create(s, NAME_25 "6", 8, 0, &r), -ENAMETOOLONG);
	assert_int_equal(shim_ring_create(s, "", 8, 0, &r), -EINVAL);
	assert_int_equal(shim_ring_lookup(s, "r", &r2), -ENOENT);
	assert_int_equal(shim_ring_create(s, "r", 8, SHIM_RING_MP_SC, &r), 0);
	assert_int_equal(shim_ring_create(s, "r", 8, SHIM_RING_MP_SC, &r2), -EEXIST);
	assert_int_equal(shim_ring_lookup(s, "r", &r2), 0);
	assert_ptr_equal(r, r2);
	shim_ring_free(s, r);
	assert_int_equal(shim_ring_lookup(s, "r", &r2), -ENOENT);
	assert_int_equal(shim_ring_create(s, NAME_25, 1, SHIM_RING_SP_SC, &r), 0);
	assert_int_equal(shim_ring_capacity(s, r), 0);
	assert_int_equal(shim_ring_enqueue_burst(s, r, (void *[]){ s }, 1), 0);
	shim_ring_free(s, r);
}

static void
ring_behaviour(unsigned int flags)
{
	struct shim *s = contract.s;
	char token[64];
	void *in[16], *out[16];
	struct rte_ring *r;
	unsigned int i, round;

	assert_int_equal(shim_ring_create(s, "fifo", 8, flags, &r), 0);
	assert_int_equal(shim_ring_capacity(s, r), 7); /* count - 1: DPDK's rule */
	assert_int_equal(shim_ring_dequeue_burst(s, r, out, 16), 0);
	for (i = 0; i < 16; i++)
		in[i] = &token[i];
	assert_int_equal(shim_ring_enqueue_burst(s, r, in, 16), 7);
	assert_int_equal(shim_ring_count(s, r), 7);
	assert_int_equal(shim_ring_enqueue_burst(s, r, in, 1), 0);
	assert_int_equal(shim_ring_dequeue_burst(s, r, out, 3), 3);
	assert_int_equal(shim_ring_enqueue_burst(s, r, in + 7, 4), 3);
	assert_int_equal(shim_ring_dequeue_burst(s, r, out + 3, 16 - 3), 7);
	for (i = 0; i < 10; i++)
		assert_ptr_equal(out[i], in[i]);
	for (round = 0; round < 1000; round++) { /* over the end of the ring, many times */
		assert_int_equal(shim_ring_enqueue_burst(s, r, in + round % 8, 5), 5);
		assert_int_equal(shim_ring_dequeue_burst(s, r, out, 16), 5);
		for (i = 0; i < 5; i++)
			assert_ptr_equal(out[i], in[round % 8 + i]);
	}
	assert_int_equal(shim_ring_enqueue_burst(s, r, in, 0), 0);
	assert_int_equal(shim_ring_count(s, r), 0);
	shim_ring_free(s, r);
}

/* SHM-2, SHM-7 */
static void
test_ring_sp_sc_is_a_fifo_of_count_minus_one(void **state)
{
	(void)state;
	ring_behaviour(SHIM_RING_SP_SC);
}

/* SHM-2, SHM-7 */
static void
test_ring_mp_sc_is_a_fifo_of_count_minus_one(void **state)
{
	(void)state;
	ring_behaviour(SHIM_RING_MP_SC);
}

/* SHM-2, SHM-7 */
static void
test_words_of_32_bits(void **state)
{
	struct shim *s = contract.s;
	uint32_t around[3] = { 0x11111111, 5, 0x33333333 }, *w = &around[1], expect;

	(void)state;
	assert_int_equal(shim_load32(s, w, SHIM_ACQUIRE), 5);
	shim_store32(s, w, 0xffffffff, SHIM_RELEASE);
	assert_int_equal(shim_load32(s, w, SHIM_RELAXED), 0xffffffff);
	assert_int_equal(shim_fetch_add32(s, w, 2, SHIM_ACQ_REL), 0xffffffff);
	assert_int_equal(*w, 1);
	expect = 7;
	assert_false(shim_cas32(s, w, &expect, 9, SHIM_ACQ_REL));
	assert_int_equal(expect, 1);
	assert_int_equal(*w, 1);
	assert_true(shim_cas32(s, w, &expect, 9, SHIM_SEQ_CST));
	assert_int_equal(*w, 9);
	assert_int_equal(expect, 1);
	expect = 0;
	assert_false(shim_cas32(s, w, &expect, 1, SHIM_RELEASE));
	assert_false(shim_cas32(s, w, &(uint32_t){ 0 }, 1, SHIM_ACQUIRE));
	assert_true(shim_cas32(s, w, &expect, 0xfffffffe, SHIM_RELAXED));
	assert_int_equal(*w, 0xfffffffe);
	shim_fence(s, SHIM_SEQ_CST);
	assert_int_equal(around[0], 0x11111111);
	assert_int_equal(around[2], 0x33333333);
}

/* SHM-2, SHM-7 */
static void
test_words_of_64_bits(void **state)
{
	struct shim *s = contract.s;
	uint64_t w = 1, expect;

	(void)state;
	shim_store64(s, &w, 0x1234567800000001ull, SHIM_RELEASE);
	assert_true(shim_load64(s, &w, SHIM_ACQUIRE) == 0x1234567800000001ull);
	assert_true(shim_fetch_add64(s, &w, 0xffffffffull, SHIM_RELAXED) == 0x1234567800000001ull);
	assert_true(w == 0x1234567900000000ull); /* the carry went up */
	expect = 0;
	assert_false(shim_cas64(s, &w, &expect, 1, SHIM_ACQ_REL));
	assert_true(expect == 0x1234567900000000ull);
	assert_true(shim_cas64(s, &w, &expect, 1ull << 63, SHIM_ACQ_REL));
	assert_true(w == 1ull << 63);
}

int
contract_run_base(void)
{
	const struct CMUnitTest tests[] = {
		CONTRACT_TEST(test_malloc_is_zeroed_and_aligned),
		CONTRACT_TEST(test_clocks_do_not_go_back),
		CONTRACT_TEST(test_random_numbers_differ),
		CONTRACT_TEST(test_process_facts),
		CONTRACT_TEST(test_zones_have_names),
		CONTRACT_TEST(test_every_door_sees_the_same_names),
		CONTRACT_TEST(test_ring_arguments),
		CONTRACT_TEST(test_ring_sp_sc_is_a_fifo_of_count_minus_one),
		CONTRACT_TEST(test_ring_mp_sc_is_a_fifo_of_count_minus_one),
		CONTRACT_TEST(test_words_of_32_bits),
		CONTRACT_TEST(test_words_of_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ending processes, and of what dead ones leave: rings, caches, buffers. */
#include "contract.h"

#define MARK 77u
#define BUFS 200u

/* SHM-2, SHM-7 */
static void
test_exactly_one_process_is_killed(void **state)
{
	struct shim *s = contract.s;
	struct shim_proc p, other, self = shim_self(s);
	uint64_t end;

	(void)state;
	assert_int_equal(shim_proc_kill(s, &self), -EINVAL);
	assert_int_equal(shim_proc_spawn(s, contract_backend.sleeper, &p), 0);
	other = p;
	other.start_time++; /* the pid in another program's hands */
	assert_int_equal(shim_proc_kill(s, &other), -ESRCH);
	assert_int_equal(shim_proc_alive(s, &p), 1);
	assert_int_equal(shim_proc_kill(s, &p), 0);
	end = shim_clock_ns(s) + 10000000000ull;
	while (shim_proc_alive(s, &p) == 1 && shim_clock_ns(s) < end)
		shim_sleep_ns(s, 1000000);
	assert_int_equal(shim_proc_alive(s, &p), 0);
	assert_int_equal(shim_proc_kill(s, &p), -ESRCH);
}

static struct rte_ring *
ring_of(unsigned int flags, char *tokens, unsigned int n)
{
	struct rte_ring *r;
	void *obj;
	unsigned int i;

	assert_int_equal(shim_ring_create(contract.s, "half", 8, flags, &r), 0);
	for (i = 0; i < n; i++) {
		obj = &tokens[i];
		assert_int_equal(shim_ring_enqueue_burst(contract.s, r, &obj, 1), 1);
	}
	return r;
}

/* REL-18, SHM-7 */
static void
test_a_dead_producers_ring_is_taken_over(void **state)
{
	char tokens[8];
	struct rte_ring *r = ring_of(SHIM_RING_SP_SC, tokens, 3);
	void *obj = &tokens[3], *out[8];
	unsigned int i;

	(void)state;
	assert_int_equal(shim_ring_recover(contract.s, r, SHIM_RING_PRODUCER), 0); /* nothing was half done */
	r->prod.head += 2; /* it had begun two more */
	assert_int_equal(shim_ring_recover(contract.s, r, SHIM_RING_PRODUCER), 0);
	assert_int_equal(shim_ring_count(contract.s, r), 3);
	assert_int_equal(shim_ring_enqueue_burst(contract.s, r, &obj, 1), 1);
	assert_int_equal(shim_ring_dequeue_burst(contract.s, r, out, 8), 4);
	for (i = 0; i < 4; i++)
		assert_ptr_equal(out[i], &tokens[i]);
	shim_ring_free(contract.s, r);
}

/* REL-18, SHM-7 */
static void
test_a_dead_consumers_ring_is_taken_over(void **state)
{
	static const unsigned int kinds[] = { SHIM_RING_SP_SC, SHIM_RING_MP_SC };
	char tokens[8];
	struct rte_ring *r;
	void *out[8];
	unsigned int k, i;

	(void)state;
	for (k = 0; k < 2; k++) {
		r = ring_of(kinds[k], tokens, 5);
		assert_int_equal(shim_ring_dequeue_burst(contract.s, r, out, 1), 1);
		r->cons.head += 3; /* it was just taking three */
		assert_int_equal(shim_ring_recover(contract.s, r, SHIM_RING_CONSUMER), 0);
		assert_int_equal(shim_ring_dequeue_burst(contract.s, r, out, 8), 4);
		for (i = 0; i < 4; i++)
			assert_ptr_equal(out[i], &tokens[i + 1]);
		shim_ring_free(contract.s, r);
	}
	r = ring_of(SHIM_RING_MP_SC, tokens, 0);
	assert_int_equal(shim_ring_recover(contract.s, r, SHIM_RING_PRODUCER), -EINVAL); /* others are in it */
	shim_ring_free(contract.s, r);
}

static struct shim_pool *
pool_of(unsigned int n)
{
	struct shim_pool *p;

	assert_int_equal(shim_pool_create(contract.s, "mortal", n, 256, &p), 0);
	return p;
}

static void
pool_done(struct shim_pool *p)
{
	struct rte_mbuf *m[BUFS];
	unsigned int n = shim_pool_size(contract.s, p), i;

	assert_int_equal(shim_pool_avail(contract.s, p), n);
	/* And each of them is as it was made. */
	assert_int_equal(shim_buf_alloc_bulk(contract.s, p, m, n), 0);
	for (i = 0; i < n; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
		assert_int_equal(shim_buf_mark(m[i]), 0);
		assert_true(RTE_MBUF_DIRECT(m[i]));
		assert_null(m[i]->next);
		assert_int_equal(shim_buf_tailroom(m[i]), 256 - SHIM_HEADROOM);
		assert_ptr_equal(shim_buf_data_off(m[i], char *, 0), (char *)(m[i] + 1) + SHIM_HEADROOM);
	}
	shim_buf_free_bulk(contract.s, m, n);
	shim_pool_free(contract.s, p);
}

static struct rte_mbuf *
buf_of(struct shim *s, struct shim_pool *p, uint32_t mark)
{
	struct rte_mbuf *m = shim_buf_alloc(s, p);

	assert_non_null(m);
	shim_buf_append(m, 10);
	if (mark != 0)
		shim_buf_mark_set(m, mark);
	return m;
}

/* REL-18, SHM-7 */
static void
test_who_has_a_new_buffer_is_not_stamped(void **state)
{
	struct shim_pool *p = pool_of(4);
	struct rte_mbuf *m = buf_of(contract.s, p, MARK), *c;

	(void)state;
	assert_int_equal(shim_buf_mark(m), MARK);
	c = shim_buf_clone(contract.s, m, p);
	assert_non_null(c);
	assert_int_equal(shim_buf_mark(c), 0);
	shim_buf_free(contract.s, c);
	c = shim_buf_copy(contract.s, m, p, 0, UINT32_MAX);
	assert_non_null(c);
	assert_int_equal(shim_buf_mark(c), 0);
	shim_buf_free(contract.s, c);
	shim_buf_free(contract.s, m);
	m = shim_buf_alloc(contract.s, p);
	assert_int_equal(shim_buf_mark(m), 0);
	shim_buf_free(contract.s, m);
	pool_done(p);
}

/* REL-18, SHM-7 */
static void
test_what_is_taken_from_a_ring_is_stamped(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = pool_of(16);
	struct rte_mbuf *in[6], *out[8];
	struct rte_ring *r;
	unsigned int i, round;

	(void)state;
	assert_int_equal(shim_ring_create(s, "given", 8, SHIM_RING_SP_SC, &r), 0);
	assert_int_equal(shim_ring_take(s, r, out, 8, MARK), 0);
	for (round = 0; round < 5; round++) { /* over the end of the ring */
		for (i = 0; i < 6; i++)
			in[i] = buf_of(s, p, 5);
		assert_int_equal(shim_buf_chain(in[5], buf_of(s, p, 5)), 0);
		assert_int_equal(shim_ring_enqueue_burst(s, r, (void **)in, 6), 6);
		assert_int_equal(shim_ring_take(s, r, out, 0, MARK), 0);
		assert_int_equal(shim_ring_take(s, r, out, 4, MARK), 4);
		assert_int_equal(shim_buf_mark(in[4]), 5);
		assert_int_equal(shim_ring_take(s, r, out + 4, 4, MARK), 2);
		for (i = 0; i < 6; i++) {
			assert_ptr_equal(out[i], in[i]);
			assert_int_equal(shim_buf_mark(out[i]), MARK);
		}
		assert_int_equal(shim_buf_mark(out[5]->next), MARK);
		assert_int_equal(shim_ring_count(s, r), 0);
		shim_buf_free_bulk(s, out, 6);
	}
	r->prod.tail += 100; /* no ring looks so */
	assert_int_equal(shim_ring_take(s, r, out, 8, MARK), 0);
	r->prod.tail -= 100;
	shim_ring_free(s, r);
	pool_done(p);
}

/* A process of its own to pools. */
static struct shim *
victim(uint32_t *cache_id)
{
	struct shim *v = contract_backend.door(contract.bed, SHIM_ROLE_WORKER, 4);

	assert_non_null(v);
	contract_as(v);
	*cache_id = shim_cache_id(v);
	return v;
}

static void
dies(struct shim *v)
{
	contract_backend.door_dies(contract.bed, v);
	contract_as(contract.s);
}

/* REL-18, SHM-7 */
static void
test_what_a_dead_process_held_comes_home(void **state)
{
	struct shim *s = contract.s, *v;
	struct shim_pool *p = pool_of(BUFS);
	struct rte_mbuf *m[64], *mine = buf_of(s, p, MARK + 1), *new = buf_of(s, p, 0);
	uint32_t id, own = shim_cache_id(s);
	unsigned int i, n;

	(void)state;
	v = victim(&id);
	assert_int_not_equal(id, own);
	assert_int_equal(shim_buf_alloc_bulk(v, p, m, 64), 0);
	for (i = 0; i < 20; i++)
		shim_buf_mark_set(m[i], MARK);
	assert_int_equal(shim_buf_chain(m[0], m[1]), 0); /* one of them a chain */
	shim_buf_ref(v, m[2], 3);                         /* one with several references */
	shim_buf_free_bulk(v, m + 50, 14);                /* some in its cache, marked or not */
	shim_buf_free(v, m[3]);
	assert_int_equal(shim_pool_avail(v, p), BUFS - 2 - 49);
	dies(v);
	assert_int_equal(shim_pool_avail(s, p), BUFS - 2 - 49);
	n = shim_pool_sweep(s, p, MARK, id);
	assert_in_range(n, 49, BUFS - 2);
	assert_int_equal(shim_pool_avail(s, p), BUFS - 2);
	assert_int_equal(shim_pool_sweep(s, p, MARK, id), 0); /* each once */
	assert_int_equal(shim_pool_sweep(s, p, 0, UINT32_MAX), 0);
	/* The living keep theirs. */
	assert_int_equal(shim_buf_mark(mine), MARK + 1);
	assert_int_equal(rte_mbuf_refcnt_read(new), 1);
	shim_buf_free(s, mine);
	shim_buf_free(s, new);
	pool_done(p);
}

/* REL-18, SHM-7 */
static void
test_what_is_in_a_ring_is_not_swept(void **state)
{
	struct shim *s = contract.s, *v;
	struct shim_pool *p = pool_of(16);
	struct rte_mbuf *m[3], *out[8];
	struct rte_ring *r;
	uint32_t id;

	(void)state;
	assert_int_equal(shim_ring_create(s, "given", 8, SHIM_RING_SP_SC, &r), 0);
	v = victim(&id);
	m[0] = buf_of(v, p, MARK);
	assert_int_equal(shim_buf_chain(m[0], buf_of(v, p, MARK)), 0);
	m[1] = buf_of(v, p, 0);
	m[2] = buf_of(v, p, MARK); /* this one it had not given yet */
	assert_int_equal(shim_ring_enqueue_burst(v, r, (void **)m, 2), 2);
	dies(v);
	shim_pool_sweep(s, p, MARK, id);
	assert_int_equal(shim_pool_avail(s, p), 16 - 3);
	assert_int_equal(shim_ring_take(s, r, out, 8, MARK + 1), 2);
	assert_ptr_equal(out[0], m[0]);
	assert_ptr_equal(out[1], m[1]);
	assert_int_equal(shim_buf_len(out[0]), 20);
	assert_int_equal(shim_pool_sweep(s, p, MARK, id), 0);
	shim_buf_free_bulk(s, out, 2);
	shim_ring_free(s, r);
	pool_done(p);
}

/* A clone on its way (in a ring, as in a port) whose original the victim has, or has had. */
static void
clone_in_flight(bool freed_before)
{
	struct shim *s = contract.s, *v;
	struct shim_pool *p = pool_of(16);
	struct rte_mbuf *m, *c, *out[8];
	struct rte_ring *r;
	uint32_t id;

	assert_int_equal(shim_ring_create(s, "given", 8, SHIM_RING_SP_SC, &r), 0);
	v = victim(&id);
	m = buf_of(v, p, MARK);
	c = shim_buf_clone(v, m, p);
	assert_non_null(c);
	shim_buf_mark_set(c, 0);
	assert_int_equal(shim_ring_enqueue_burst(v, r, (void **)&c, 1), 1);
	if (freed_before)
		shim_buf_free(v, m);
	dies(v);
	shim_pool_sweep(s, p, MARK, id);
	shim_pool_sweep(s, p, MARK, id);
	assert_int_equal(shim_pool_avail(s, p), 14);
	assert_int_equal(shim_ring_take(s, r, out, 8, 0), 1);
	assert_int_equal(shim_buf_len(out[0]), 10);
	shim_buf_free(s, out[0]);
	shim_ring_free(s, r);
	pool_done(p);
}

/* REL-18, SHM-7 */
static void
test_an_original_goes_home_with_its_last_clone(void **state)
{
	(void)state;
	clone_in_flight(false);
	clone_in_flight(true);
}

/* REL-18, SHM-7 */
static void
test_a_dead_processs_clones_let_go_of_their_originals(void **state)
{
	struct shim *s = contract.s, *v;
	struct shim_pool *p = pool_of(16);
	struct rte_mbuf *given, *kept, *out[8];
	struct rte_ring *r;
	uint32_t id;

	(void)state;
	assert_int_equal(shim_ring_create(s, "given", 8, SHIM_RING_SP_SC, &r), 0);
	v = victim(&id);
	given = buf_of(v, p, MARK);
	assert_non_null(shim_buf_clone(v, given, p)); /* kept, not stamped yet */
	kept = shim_buf_clone(v, given, p);
	shim_buf_mark_set(kept, MARK);
	assert_int_equal(shim_ring_enqueue_burst(v, r, (void **)&given, 1), 1);
	kept = buf_of(v, p, MARK); /* and both of another */
	shim_buf_mark_set(shim_buf_clone(v, kept, p), MARK);
	dies(v);
	shim_pool_sweep(s, p, MARK, id);
	assert_int_equal(shim_pool_avail(s, p), 15);
	assert_int_equal(shim_ring_take(s, r, out, 8, 0), 1);
	assert_int_equal(rte_mbuf_refcnt_read(out[0]), 1);
	shim_buf_free(s, out[0]);
	shim_ring_free(s, r);
	pool_done(p);
}

static void
not_called(void *addr, void *opaque)
{
	(void)addr;
	++*(unsigned int *)opaque;
}

/* REL-18, SHM-7 */
static void
test_a_dead_processs_own_memory_is_left_alone(void **state)
{
	struct shim *s = contract.s, *v;
	struct shim_pool *p = pool_of(8);
	static uint64_t bytes[64];
	unsigned int calls = 0;
	struct rte_mbuf *m;
	uint32_t id;

	(void)state;
	v = victim(&id);
	m = shim_buf_alloc(v, p);
	assert_int_equal(shim_buf_attach_ext(v, m, bytes, sizeof(bytes), not_called, &calls), 0);
	shim_buf_mark_set(m, MARK);
	dies(v);
	shim_pool_sweep(s, p, MARK, id);
	assert_int_equal(calls, 0);
	pool_done(p);
}

int
contract_run_deaths(void)
{
	const struct CMUnitTest tests[] = {
		CONTRACT_TEST(test_exactly_one_process_is_killed),
		CONTRACT_TEST(test_a_dead_producers_ring_is_taken_over),
		CONTRACT_TEST(test_a_dead_consumers_ring_is_taken_over),
		CONTRACT_TEST(test_who_has_a_new_buffer_is_not_stamped),
		CONTRACT_TEST(test_what_is_taken_from_a_ring_is_stamped),
		CONTRACT_TEST(test_what_a_dead_process_held_comes_home),
		CONTRACT_TEST(test_what_is_in_a_ring_is_not_swept),
		CONTRACT_TEST(test_an_original_goes_home_with_its_last_clone),
		CONTRACT_TEST(test_a_dead_processs_clones_let_go_of_their_originals),
		CONTRACT_TEST(test_a_dead_processs_own_memory_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

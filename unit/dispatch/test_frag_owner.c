/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragment owners: who goes first stays, what is old is forgotten, what waits comes out in order and in time. */
#include "frames.h"

#include <errno.h>

#include "core/dispatch/frag_owner.h"

#define MS 1000000ull

static const struct siphash_key secret = { 3, 5 };

struct env {
	struct shim *s;
	struct shim_pool *pool;
	struct frag_owners *f;
};

static int
setup(void **state)
{
	struct env *e = test_calloc(1, sizeof(*e));

	e->s = mock_shim_new();
	assert_int_equal(shim_pool_create(e->s, "pool", 128, 256, &e->pool), 0);
	assert_int_equal(frag_owners_create(e->s, &secret, &e->f), 0);
	*state = e;
	return 0;
}

static int
teardown(void **state)
{
	struct env *e = *state;
	unsigned int leaks;

	frag_owners_destroy(e->f);
	leaks = mock_bufs_out(e->s) + mock_shim_free(e->s);
	test_free(e);
	return leaks == 0 ? 0 : -1;
}

static struct flow_frag
datagram(uint32_t id)
{
	struct flow_frag k;

	memset(&k, 0, sizeof(k));
	k.src[0] = 10;
	k.dst[0] = 11;
	k.id = id;
	k.proto = 17;
	k.family = ADDR_INET;
	return k;
}

static struct rte_mbuf *
hold(struct env *e, uint32_t id, uint64_t now_ns)
{
	struct rte_mbuf *m = shim_buf_alloc(e->s, e->pool);
	struct flow_frag k = datagram(id);

	assert_non_null(m);
	if (frag_owner_hold(e->f, &k, m, now_ns))
		return m;
	shim_buf_free(e->s, m);
	return NULL;
}

static enum frag_owner_to
set(struct env *e, uint32_t id, enum frag_owner_to to, uint32_t now_ms)
{
	struct flow_frag k = datagram(id);

	return frag_owner_set(e->f, &k, to, now_ms);
}

static enum frag_owner_to
get(struct env *e, uint32_t id, uint32_t now_ms)
{
	struct flow_frag k = datagram(id);

	return frag_owner_get(e->f, &k, now_ms);
}

/* DSP-6 */
static void
the_first_owner_stays(void **state)
{
	struct env *e = *state;

	assert_int_equal(get(e, 1, 100), FRAG_UNKNOWN);
	assert_int_equal(set(e, 1, FRAG_PEER, 100), FRAG_PEER);
	assert_int_equal(set(e, 1, FRAG_LOCAL, 101), FRAG_PEER); /* a forged second first fragment */
	assert_int_equal(get(e, 1, 101), FRAG_PEER);
	assert_int_equal(set(e, 2, FRAG_LOCAL, 101), FRAG_LOCAL);
	assert_int_equal(get(e, 2, 101), FRAG_LOCAL);
	frag_owners_forget(e->f);
	assert_int_equal(get(e, 1, 101), FRAG_UNKNOWN);
	assert_int_equal(get(e, 2, 101), FRAG_UNKNOWN);
}

/* DSP-6 */
static void
every_part_of_the_name_counts(void **state)
{
	struct env *e = *state;
	struct flow_frag k = datagram(7);

	assert_int_equal(frag_owner_set(e->f, &k, FRAG_PEER, 100), FRAG_PEER);
	for (unsigned int i = 0; i < sizeof(k); i++) {
		((uint8_t *)&k)[i] ^= 1;
		assert_int_equal(frag_owner_get(e->f, &k, 100), FRAG_UNKNOWN);
		((uint8_t *)&k)[i] ^= 1;
	}
}

/* DSP-6 */
static void
owners_are_forgotten_in_time(void **state)
{
	static const uint32_t at[] = { 100, UINT32_MAX - 100, UINT32_MAX - FRAG_OWNER_MS };
	struct env *e = *state;

	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		assert_int_equal(set(e, 1, FRAG_PEER, at[i]), FRAG_PEER);
		assert_int_equal(get(e, 1, at[i] + FRAG_OWNER_MS), FRAG_PEER);
		assert_int_equal(get(e, 1, at[i] + FRAG_OWNER_MS + 1), FRAG_UNKNOWN);
		assert_int_equal(set(e, 1, FRAG_LOCAL, at[i] + FRAG_OWNER_MS + 1), FRAG_LOCAL); /* the number is used again */
		frag_owners_forget(e->f);
	}
}

/* DSP-6 */
static void
the_oldest_of_a_bucket_goes_first(void **state)
{
	struct env *e = *state;
	unsigned int known = 0, newest = 0;

	for (uint32_t id = 0; id < 4 * FRAG_OWNERS; id++)
		assert_int_equal(set(e, id, FRAG_PEER, 100 + id), FRAG_PEER);
	for (uint32_t id = 0; id < 4 * FRAG_OWNERS; id++) {
		bool is = get(e, id, 100 + 4 * FRAG_OWNERS) == FRAG_PEER;

		known += is;
		newest += is && id >= 3 * FRAG_OWNERS - FRAG_OWNERS / 2;
	}
	assert_in_range(known, FRAG_OWNERS * 9 / 10, FRAG_OWNERS);
	assert_in_range(newest, known * 8 / 10, known);
	assert_int_equal(get(e, 4 * FRAG_OWNERS - 1, 100 + 4 * FRAG_OWNERS), FRAG_PEER);
}

/* DSP-6, DSP-9 */
static void
what_waits_comes_out_in_its_order(void **state)
{
	struct env *e = *state;
	struct rte_mbuf *in[9], *out[FRAG_HELD];
	struct flow_frag k1 = datagram(1), k2 = datagram(2);

	for (unsigned int i = 0; i < 9; i++)
		in[i] = hold(e, 1 + i % 3, 100);
	assert_int_equal(frag_owner_release(e->f, &k2, out, 2), 2); /* no room for the third */
	assert_ptr_equal(out[0], in[1]);
	assert_ptr_equal(out[1], in[4]);
	assert_int_equal(frag_owner_release(e->f, &k2, out + 2, 1), 1);
	assert_ptr_equal(out[2], in[7]);
	assert_int_equal(frag_owner_release(e->f, &k2, out + 3, 8), 0);
	assert_int_equal(frag_owner_release(e->f, &k1, out + 3, 8), 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(out[3 + i], in[3 * i]);
	assert_int_equal(frag_owner_expire(e->f, 0, true, out + 6, 8), 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(out[6 + i], in[3 * i + 2]);
	shim_buf_free_bulk(e->s, out, 9);
	assert_true(frag_owner_next(e->f) == UINT64_MAX);
}

/* DSP-6 */
static void
waiting_is_bounded_in_number_and_time(void **state)
{
	struct env *e = *state;
	struct rte_mbuf *in[FRAG_HELD], *out[FRAG_HELD];
	uint64_t end = FRAG_HELD_MS * MS;

	for (unsigned int i = 0; i < FRAG_HELD; i++)
		in[i] = hold(e, i, 1000 + i);
	assert_null(hold(e, 1, 2000));
	assert_true(frag_owner_next(e->f) == 1000 + end);
	assert_int_equal(frag_owner_expire(e->f, 999 + end, false, out, FRAG_HELD), 0);
	assert_int_equal(frag_owner_expire(e->f, 1001 + end, false, out, FRAG_HELD), 2);
	assert_ptr_equal(out[0], in[0]);
	assert_ptr_equal(out[1], in[1]);
	assert_true(frag_owner_next(e->f) == 1002 + end);
	assert_int_equal(frag_owner_expire(e->f, 5000 + end, false, out + 2, 3), 3);
	assert_ptr_equal(out[4], in[4]);
	shim_buf_free_bulk(e->s, out, 5);
	assert_non_null(hold(e, 1, 3000));
	/* the rest goes home with the table */
}

/* DSP-6 */
static void
without_memory_there_is_none(void **state)
{
	struct env *e = *state;
	struct frag_owners *f;

	mock_fail_malloc_at(e->s, 1);
	assert_int_equal(frag_owners_create(e->s, &secret, &f), -ENOMEM);
	frag_owners_destroy(NULL);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_first_owner_stays),
		T(every_part_of_the_name_counts),
		T(owners_are_forgotten_in_time),
		T(the_oldest_of_a_bucket_goes_first),
		T(what_waits_comes_out_in_its_order),
		T(waiting_is_bounded_in_number_and_time),
		T(without_memory_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

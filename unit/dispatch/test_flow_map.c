/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow map beside a plain array: exact answers while it fills, grows, runs out of memory, empties and starts anew. */
#include "frames.h"

#include <errno.h>

#include "core/dispatch/flow_map.h"

static const struct siphash_key secret = { 3, 5 };

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

/* Cheap keys: IPv4, numbered. */
static struct flow_key
flow(uint32_t n)
{
	struct flow_key k;

	memset(&k, 0, sizeof(k));
	memcpy(k.remote, &n, 4);
	k.local[0] = 10;
	k.rport_be = 7;
	k.lport_be = 8;
	k.proto = 17;
	k.family = ADDR_INET;
	return k;
}

static int
insert(struct flow_map *m, uint32_t n)
{
	struct flow_key k = flow(n);

	return flow_map_insert(m, &k, flow_hash(&secret, &k));
}

static bool
there(const struct flow_map *m, uint32_t n)
{
	struct flow_key k = flow(n);

	return flow_map_lookup(m, &k, flow_hash(&secret, &k));
}

static int
take(struct flow_map *m, uint32_t n)
{
	struct flow_key k = flow(n);

	return flow_map_remove(m, &k, flow_hash(&secret, &k));
}

static struct flow_map_stats
stats(const struct flow_map *m)
{
	struct flow_map_stats st;

	flow_map_stats(m, &st);
	return st;
}

static uint64_t
bulk(const struct flow_map *m, uint32_t from, unsigned int n)
{
	struct flow_key k[64];
	const struct flow_key *p[64];
	uint64_t h[64];

	for (unsigned int i = 0; i < n; i++) {
		k[i] = flow(from + i);
		p[i] = &k[i];
		h[i] = flow_hash(&secret, &k[i]);
	}
	return flow_map_lookup_bulk(m, p, h, n);
}

/* DSP-4, DSP-5 */
static void
flows_are_found_exactly(void **state)
{
	struct flow_map *m;
	struct flow_key k = flow(1), other = flow(1);
	uint64_t h = flow_hash(&secret, &k);

	assert_int_equal(flow_map_create(*state, 1, 1, &secret, &m), 0);
	assert_int_equal(flow_map_insert(m, &k, h), 0);
	assert_int_equal(flow_map_insert(m, &k, h), 1);
	assert_true(flow_map_lookup(m, &k, h));
	for (unsigned int i = 0; i < sizeof(k); i++) { /* the same hash, as by a collision: not the same flow */
		other = k;
		((uint8_t *)&other)[i] ^= 0x10;
		assert_false(flow_map_lookup(m, &other, h));
	}
	assert_int_equal(flow_map_insert(m, &other, h), 0);
	assert_true(flow_map_lookup(m, &k, h));
	assert_true(flow_map_lookup(m, &other, h));
	assert_int_equal(flow_map_remove(m, &k, h), 0);
	assert_int_equal(flow_map_remove(m, &k, h), -ENOENT);
	assert_false(flow_map_lookup(m, &k, h));
	assert_true(flow_map_lookup(m, &other, h));
	assert_int_equal(stats(m).used, 1);
	assert_int_equal(stats(m).inserted, 2);
	assert_int_equal(stats(m).present, 1);
	assert_int_equal(stats(m).removed, 1);
	flow_map_destroy(m);
	flow_map_destroy(NULL);
}

/* DSP-4 */
static void
sizes_are_checked_and_rounded(void **state)
{
	struct flow_map *m = NULL;

	assert_int_equal(flow_map_create(*state, 0, 5, &secret, &m), -EINVAL);
	assert_int_equal(flow_map_create(*state, 6, 5, &secret, &m), -EINVAL);
	assert_int_equal(flow_map_create(*state, 6, (1u << 28) + 1, &secret, &m), -EINVAL);
	assert_null(m);
	assert_int_equal(flow_map_create(*state, 5000, 5000, &secret, &m), 0);
	assert_int_equal(stats(m).room, 8192);
	flow_map_destroy(m);
}

/* DSP-4 */
static void
a_full_map_says_so_and_keeps_what_it_has(void **state)
{
	struct flow_map *m;
	uint32_t n;

	assert_int_equal(flow_map_create(*state, 1024, 1024, &secret, &m), 0);
	for (n = 0; n < 1024; n++)
		assert_int_equal(insert(m, n), 0);
	assert_int_equal(insert(m, 5000), -ENOSPC);
	assert_int_equal(insert(m, 5000), -ENOSPC);
	assert_int_equal(insert(m, 3), 1);
	assert_int_equal(stats(m).full, 2);
	assert_int_equal(stats(m).room, 1024);
	for (n = 0; n < 1024; n++)
		assert_true(there(m, n));
	assert_false(there(m, 5000));
	assert_int_equal(take(m, 77), 0);
	assert_int_equal(insert(m, 5000), 0);
	assert_int_equal(insert(m, 5001), -ENOSPC);
	for (n = 0; n < 1024; n++)
		assert_int_equal(take(m, n), n == 77 ? -ENOENT : 0);
	assert_true(there(m, 5000));
	assert_int_equal(stats(m).used, 1);
	flow_map_destroy(m);
}

/* DSP-4 */
static void
grows_to_its_end_and_every_flow_is_there_at_every_step(void **state)
{
	struct flow_map *m;
	uint32_t n;

	assert_int_equal(flow_map_create(*state, 1024, 32768, &secret, &m), 0);
	for (n = 0; n < 32768; n++) {
		assert_int_equal(insert(m, n), 0);
		assert_true(there(m, n));
		assert_true(there(m, n / 2)); /* old ones, wherever they are */
		assert_false(there(m, 1000000 + n));
		if (n % 64 == 63)
			assert_true(bulk(m, n - 47, 64) == 0x0000ffffffffffffull);
	}
	assert_int_equal(stats(m).room, 32768);
	assert_int_equal(stats(m).grown, 5);
	assert_int_equal(stats(m).grow_failed, 0);
	assert_int_equal(insert(m, n), -ENOSPC);
	for (n = 0; n < 32768; n += 64)
		assert_true(bulk(m, n, 64) == UINT64_MAX);
	flow_map_destroy(m);
}

static unsigned int most; /* allocations of one insert */

/* DSP-4 */
static void
growing_is_never_done_at_once(void **state)
{
	struct flow_map *m;

	assert_int_equal(flow_map_create(*state, 1024, 1u << 17, &secret, &m), 0);
	most = 0;
	for (uint32_t n = 0; n < 100000; n++) {
		unsigned int before = mock_calls(*state, MOCK_OP_malloc), now;

		assert_int_equal(insert(m, n), 0);
		now = mock_calls(*state, MOCK_OP_malloc) - before;
		most = now > most ? now : most;
	}
	assert_in_range(most, 1, 2); /* one piece of buckets, one of entries: 64 KB each */
	assert_int_equal(stats(m).room, 1u << 17);
	flow_map_destroy(m);
}

/* DSP-4 */
static void
flows_come_and_go_while_it_grows(void **state)
{
	static uint8_t in[6000];
	struct flow_map *m;
	uint64_t seed = 1;
	uint32_t used = 0;

	memset(in, 0, sizeof(in));
	assert_int_equal(flow_map_create(*state, 1024, 8192, &secret, &m), 0);
	for (unsigned int step = 0; step < 60000; step++) {
		uint32_t n;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		n = (uint32_t)(seed >> 33) % 6000;
		if ((seed >> 20) % 8 < (step < 40000 ? 5 : 1)) {
			assert_int_equal(insert(m, n), in[n]);
			used += !in[n];
			in[n] = 1;
		} else {
			assert_int_equal(take(m, n), in[n] ? 0 : -ENOENT);
			used -= in[n];
			in[n] = 0;
		}
		assert_int_equal(there(m, n), in[n]);
		assert_int_equal(stats(m).used, used);
	}
	for (uint32_t n = 0; n < 6000; n++)
		assert_int_equal(there(m, n), in[n]);
	assert_true(stats(m).grown > 0);
	flow_map_destroy(m);
}

/* DSP-4 */
static void
removal_leaves_no_mark(void **state)
{
	struct flow_map *m;
	uint64_t h = 0x1234567890abcdefull; /* all in one bucket, and on from there by the same stride */

	assert_int_equal(flow_map_create(*state, 1024, 1024, &secret, &m), 0);
	for (unsigned int round = 0; round < 50; round++) {
		for (uint32_t n = 0; n < 300; n++) {
			struct flow_key k = flow(n);

			assert_int_equal(flow_map_insert(m, &k, h), 0);
		}
		for (uint32_t n = 0; n < 300; n++) {
			struct flow_key k = flow((n * 7) % 300);

			assert_true(flow_map_lookup(m, &k, h));
			assert_int_equal(flow_map_remove(m, &k, h), 0);
			assert_false(flow_map_lookup(m, &k, h));
		}
	}
	assert_int_equal(stats(m).used, 0);
	for (uint32_t n = 0; n < 1024; n++)
		assert_int_equal(insert(m, n), 0);
	flow_map_destroy(m);
}

/* DSP-4 */
static void
a_map_without_memory_is_not_made(void **state)
{
	struct flow_map *m;
	unsigned int k;
	int rc;

	for (k = 1;; k++) {
		m = NULL;
		mock_fail_malloc_at(*state, k);
		rc = flow_map_create(*state, 16384, 16384, &secret, &m);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(m);
		assert_int_equal(mock_mallocs_out(*state), 0);
	}
	assert_in_range(k, 5, 30);
	mock_fail_malloc_at(*state, 0);
	flow_map_destroy(m);
}

/* DSP-4 */
static void
growing_without_memory_is_counted_and_tried_again(void **state)
{
	struct flow_map *m;
	uint32_t n, done, asked;

	assert_int_equal(flow_map_create(*state, 1024, 65536, &secret, &m), 0);
	mock_fail_all(*state, MOCK_OP_malloc, ENOMEM);
	for (done = 0; insert(m, done) == 0; done++)
		assert_true(there(m, done));
	assert_int_equal(done, 1024); /* what it has is used to the end */
	assert_true(stats(m).grow_failed > 0);
	asked = mock_calls(*state, MOCK_OP_malloc);
	for (n = 0; n < 5000; n++)
		assert_int_equal(insert(m, 100000 + n), -ENOSPC);
	assert_in_range(mock_calls(*state, MOCK_OP_malloc) - asked, 2, 10); /* not at every packet */
	mock_fail_all(*state, MOCK_OP_malloc, 0);
	for (n = 0; n < 2000; n++)
		(void)insert(m, 200000 + n);
	assert_true(stats(m).room > 1024);
	for (; done < 40000; done++) { /* memory goes and comes: every allocation of growing fails once */
		mock_fail_malloc_at(*state, done % 3000 == 0 ? 1 + done / 3000 % 4 : 0);
		(void)insert(m, done);
	}
	mock_fail_malloc_at(*state, 0);
	for (n = 0; n < 1024; n++)
		assert_true(there(m, n));
	flow_map_destroy(m);
}

/* DSP-4 */
static void
clearing_gives_back_what_growing_took(void **state)
{
	struct flow_map *m;
	unsigned int first;
	/* empty, before, in the middle of, and after growing */
	static const uint32_t fill[] = { 0, 100, 770, 772, 800, 2000, 3080, 3100, 12290, 12293, 12300, 13000, 20000 };

	assert_int_equal(flow_map_create(*state, 1024, 65536, &secret, &m), 0);
	first = mock_mallocs_out(*state);
	for (unsigned int i = 0; i < sizeof(fill) / sizeof(fill[0]); i++) {
		uint32_t n;

		for (n = 0; n < fill[i]; n++)
			assert_int_equal(insert(m, n), 0);
		flow_map_clear(m);
		assert_int_equal(mock_mallocs_out(*state), first);
		assert_int_equal(stats(m).used, 0);
		assert_int_equal(stats(m).room, 1024);
		for (n = 0; n < fill[i]; n++)
			assert_false(there(m, n));
	}
	flow_map_clear(m);
	for (uint32_t n = 0; n < 20000; n++)
		assert_int_equal(insert(m, n), 0);
	flow_map_destroy(m); /* whatever stage it is in */
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(flows_are_found_exactly),
		T(sizes_are_checked_and_rounded),
		T(a_full_map_says_so_and_keeps_what_it_has),
		T(grows_to_its_end_and_every_flow_is_there_at_every_step),
		T(growing_is_never_done_at_once),
		T(flows_come_and_go_while_it_grows),
		T(removal_leaves_no_mark),
		T(a_map_without_memory_is_not_made),
		T(growing_without_memory_is_counted_and_tried_again),
		T(clearing_gives_back_what_growing_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

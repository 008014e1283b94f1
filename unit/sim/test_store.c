/* SPDX-License-Identifier: BSD-3-Clause */
/* Store buffers of the sim backend: who sees what, and what drains them (SIM-4). */
#include "bed.h"

struct buffered {
	struct bed b;
	struct shim *s, *other;
	struct sim_door *d;
	uint64_t word[4];
};

static int
setup(void **state)
{
	static struct buffered t;
	const struct sim_door_conf c = { .role = SHIM_ROLE_WORKER, .id = 2, .pid = 102, .start_time = 2, .store_buffer = true };

	memset(&t, 0, sizeof(t));
	bed_open(&t.b);
	t.d = sim_door_open(t.b.m, &c);
	t.s = &t.d->shim;
	t.other = t.b.s;
	*state = &t;
	return 0;
}

static int
teardown(void **state)
{
	bed_close(&((struct buffered *)*state)->b);
	return 0;
}

static uint64_t
seen(struct buffered *t, unsigned int i)
{
	return shim_load64(t->other, &t->word[i], SHIM_ACQUIRE);
}

/* SIM-4 */
static void
a_store_is_seen_by_its_process_only_until_it_drains_in_order(void **state)
{
	struct buffered *t = *state;

	shim_store64(t->s, &t->word[0], 1, SHIM_RELAXED);
	shim_store64(t->s, &t->word[1], 2, SHIM_RELEASE);
	shim_store64(t->s, &t->word[0], 3, SHIM_RELEASE);
	assert_int_equal(sim_door_pending(t->d), 3);
	assert_int_equal(shim_load64(t->s, &t->word[0], SHIM_ACQUIRE), 3);
	assert_int_equal(shim_load64(t->s, &t->word[1], SHIM_ACQUIRE), 2);
	assert_int_equal(seen(t, 0), 0);
	sim_door_drain(t->d, 1);
	assert_int_equal(seen(t, 0), 1);
	assert_int_equal(seen(t, 1), 0);
	sim_door_drain(t->d, 1);
	assert_int_equal(seen(t, 1), 2);
	assert_int_equal(seen(t, 0), 1);
	sim_door_drain(t->d, 9);
	assert_int_equal(seen(t, 0), 3);
	assert_int_equal(sim_door_pending(t->d), 0);
}

/* SIM-4 */
static void
what_serialises_drains_first(void **state)
{
	struct buffered *t = *state;
	struct rte_ring *r;
	void *p = t, *out = NULL;
	uint64_t expect = 0;

	assert_int_equal(shim_ring_create(t->other, "r", 8, SHIM_RING_SP_SC, &r), 0);
	for (unsigned int how = 0; how < 6; how++) {
		t->word[0] = t->word[1] = expect = 0;
		shim_store64(t->s, &t->word[0], 7, SHIM_RELEASE);
		shim_fence(t->s, SHIM_ACQ_REL);
		assert_int_equal(seen(t, 0), 0);
		switch (how) {
		case 0:
			assert_true(shim_cas64(t->s, &t->word[1], &expect, 1, SHIM_ACQ_REL));
			break;
		case 1:
			shim_fetch_add64(t->s, &t->word[1], 1, SHIM_ACQ_REL);
			break;
		case 2:
			shim_store64(t->s, &t->word[1], 1, SHIM_SEQ_CST);
			break;
		case 3:
			shim_fence(t->s, SHIM_SEQ_CST);
			break;
		case 4:
			assert_int_equal(shim_ring_enqueue_burst(t->s, r, &p, 1), 1);
			break;
		default:
			assert_int_equal(shim_ring_dequeue_burst(t->s, r, &out, 1), 1);
			assert_ptr_equal(out, p);
		}
		assert_int_equal(seen(t, 0), 7);
		assert_int_equal(seen(t, 1), how < 3);
	}
}

static void
a_load_that_overlaps_a_pending_store_in_part_waits_for_it(void **state)
{
	struct buffered *t = *state;
	uint32_t *half = (uint32_t *)&t->word[2];

	shim_store32(t->s, &half[1], 5, SHIM_RELEASE);
	assert_int_equal(shim_load32(t->s, &half[1], SHIM_ACQUIRE), 5);
	assert_int_equal(shim_load32(t->s, &half[0], SHIM_ACQUIRE), 0);
	assert_int_equal(sim_door_pending(t->d), 1);
	assert_int_equal(shim_load64(t->s, &t->word[2], SHIM_ACQUIRE), 5ull << 32);
	assert_int_equal(sim_door_pending(t->d), 0);
}

static void
a_full_buffer_lets_the_oldest_go_and_a_death_lets_all_go(void **state)
{
	struct buffered *t = *state;

	for (uint64_t i = 1; i <= SIM_PENDING_MAX + 2; i++)
		shim_store64(t->s, &t->word[3], i, SHIM_RELEASE);
	assert_int_equal(sim_door_pending(t->d), SIM_PENDING_MAX);
	assert_int_equal(seen(t, 3), 2);
	sim_door_close(t->d, true);
	assert_int_equal(seen(t, 3), SIM_PENDING_MAX + 2);
}

static void
a_zone_that_is_freed_gets_its_stores_before(void **state)
{
	struct buffered *t = *state;
	void *zone;

	assert_int_equal(shim_zone_reserve(t->s, "z", 64, &zone), 0);
	shim_store64(t->s, zone, 1, SHIM_RELEASE);
	assert_int_equal(shim_zone_free(t->other, "z"), 0);
	assert_int_equal(sim_door_pending(t->d), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_store_is_seen_by_its_process_only_until_it_drains_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(what_serialises_drains_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_load_that_overlaps_a_pending_store_in_part_waits_for_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_buffer_lets_the_oldest_go_and_a_death_lets_all_go, setup, teardown),
		cmocka_unit_test_setup_teardown(a_zone_that_is_freed_gets_its_stores_before, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

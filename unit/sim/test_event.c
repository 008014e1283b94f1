/* SPDX-License-Identifier: BSD-3-Clause */
/* The event queue of the world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/event.h"
#include "sim/prng.h"

static void
nothing(void *arg, uint64_t now_ns)
{
	(void)arg;
	(void)now_ns;
}

static void
count(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	++*(int *)arg;
}

/* SIM-1 */
static void
events_come_by_time_and_equal_times_in_the_order_they_were_set(void **state)
{
	struct sim_queue q;
	struct sim_event ev;
	struct prng r;
	uint64_t last = 0, seq = 0;
	int n = 0;

	(void)state;
	prng_init(&r, 5, 0);
	sim_queue_init(&q);
	for (int i = 0; i < 5000; i++)
		assert_non_null(sim_queue_add(&q, prng_below(&r, 100), nothing, NULL, NULL));
	while (sim_queue_pop(&q, &ev)) {
		assert_true(ev.at_ns > last || (ev.at_ns == last && (n == 0 || ev.seq > seq)));
		last = ev.at_ns;
		seq = ev.seq;
		n++;
	}
	assert_int_equal(n, 5000);
	sim_queue_release(&q);
}

static void
a_cancelled_event_does_not_come_and_the_others_keep_their_order(void **state)
{
	struct sim_event *handle[1000], ev;
	struct sim_queue q;
	struct prng r;
	uint64_t last = 0;
	int n = 0;

	(void)state;
	prng_init(&r, 6, 0);
	sim_queue_init(&q);
	for (int i = 0; i < 1000; i++)
		handle[i] = sim_queue_add(&q, prng_below(&r, 1000), nothing, NULL, handle + i);
	for (int i = 0; i < 1000; i += 3)
		sim_queue_cancel(&q, handle[i]);
	while (sim_queue_pop(&q, &ev)) {
		assert_true(((struct sim_event **)ev.arg - handle) % 3 != 0);
		assert_true(ev.at_ns >= last);
		last = ev.at_ns;
		n++;
	}
	assert_int_equal(n, 1000 - 334);
	sim_queue_release(&q);
}

static void
next_is_the_earliest_time_or_never(void **state)
{
	struct sim_queue q;

	(void)state;
	sim_queue_init(&q);
	assert_true(sim_queue_next(&q) == UINT64_MAX);
	sim_queue_add(&q, 9, nothing, NULL, NULL);
	sim_queue_add(&q, 3, nothing, NULL, NULL);
	assert_int_equal(sim_queue_next(&q), 3);
	sim_queue_release(&q);
	assert_int_equal(q.n, 0);
}

static void
the_end_of_the_queue_drops_what_is_left(void **state)
{
	struct sim_queue q;
	int fired = 0, dropped = 0;

	(void)state;
	sim_queue_init(&q);
	sim_queue_add(&q, 1, count, NULL, &fired);
	sim_queue_add(&q, 2, count, count, &dropped);
	sim_queue_release(&q);
	assert_int_equal(fired, 0);
	assert_int_equal(dropped, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_by_time_and_equal_times_in_the_order_they_were_set),
		cmocka_unit_test(a_cancelled_event_does_not_come_and_the_others_keep_their_order),
		cmocka_unit_test(next_is_the_earliest_time_or_never),
		cmocka_unit_test(the_end_of_the_queue_drops_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's random numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/prng.h"

/* SIM-1 */
static void
splitmix64_gives_the_published_sequence(void **state)
{
	uint64_t x = 1234567;

	(void)state;
	assert_int_equal(splitmix64(&x), 6457827717110365317ull);
	assert_int_equal(splitmix64(&x), 3203168211198807973ull);
	assert_int_equal(splitmix64(&x), 9817491932198370423ull);
}

static void
xoshiro_gives_the_reference_sequence(void **state)
{
	struct prng p = { { 1, 2, 3, 4 } };

	(void)state;
	assert_int_equal(prng_next(&p), 11520ull);
	assert_int_equal(prng_next(&p), 0ull);
	assert_int_equal(prng_next(&p), 1509978240ull);
	assert_int_equal(prng_next(&p), 1215971899390074240ull);
}

static void
streams_of_one_seed_differ_and_repeat(void **state)
{
	struct prng a, b, c, d;

	(void)state;
	prng_init(&a, 7, 1);
	prng_init(&b, 7, 1);
	prng_init(&c, 7, 2);
	prng_init(&d, 8, 1);
	for (int i = 0; i < 100; i++) {
		uint64_t v = prng_next(&a);

		assert_int_equal(v, prng_next(&b));
		assert_true(v != prng_next(&c));
		assert_true(v != prng_next(&d));
	}
}

static void
ranges_keep_their_bounds_and_are_even(void **state)
{
	unsigned int seen[10] = { 0 };
	struct prng p;

	(void)state;
	prng_init(&p, 1, 1);
	for (int i = 0; i < 100000; i++)
		seen[prng_range(&p, 5, 14) - 5]++;
	for (int i = 0; i < 10; i++)
		assert_in_range(seen[i], 9500, 10500);
	assert_int_equal(prng_range(&p, 9, 9), 9);
	assert_int_equal(prng_below(&p, 1), 0);
	prng_range(&p, 0, UINT64_MAX);
}

static void
chance_follows_its_ppm_and_zero_draws_nothing(void **state)
{
	struct prng p, q;
	unsigned int n = 0;

	(void)state;
	prng_init(&p, 3, 1);
	q = p;
	assert_false(prng_chance(&p, 0));
	assert_int_equal(prng_next(&p), prng_next(&q));
	for (int i = 0; i < 100000; i++)
		n += prng_chance(&p, 250000);
	assert_in_range(n, 24500, 25500);
	assert_true(prng_chance(&p, 1000000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix64_gives_the_published_sequence),
		cmocka_unit_test(xoshiro_gives_the_reference_sequence),
		cmocka_unit_test(streams_of_one_seed_differ_and_repeat),
		cmocka_unit_test(ranges_keep_their_bounds_and_are_even),
		cmocka_unit_test(chance_follows_its_ppm_and_zero_draws_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

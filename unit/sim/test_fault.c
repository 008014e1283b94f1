/* SPDX-License-Identifier: BSD-3-Clause */
/* The fault model of wires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sim/fault.h"

#define N 100000u
#define GAP 10000u /* ns between frames */

static uint8_t frame[1514];

struct seen {
	unsigned int none, one, two, flips, late;
	uint64_t first, last;
};

/* Sends N frames and counts what comes of them. */
static struct seen
pour(struct fault *f, uint32_t len)
{
	struct fault_delivery d[FAULT_MAX_COPIES];
	struct seen s = { .first = UINT64_MAX };
	uint64_t high = 0;
	unsigned int n;

	for (uint64_t i = 0; i < N; i++) {
		fault_frame(f, i * GAP, frame, len, d, &n);
		s.none += n == 0;
		s.one += n == 1;
		s.two += n == 2;
		for (unsigned int k = 0; k < n; k++) {
			assert_true(d[k].at_ns >= i * GAP);
			s.flips += d[k].flip_bit != FAULT_NO_FLIP;
			if (d[k].flip_bit != FAULT_NO_FLIP)
				assert_true(d[k].flip_bit < len * 8);
		}
		if (n == 0)
			continue;
		s.late += d[0].at_ns < high;
		high = d[0].at_ns > high ? d[0].at_ns : high;
		s.first = d[0].at_ns < s.first ? d[0].at_ns : s.first;
		s.last = high;
	}
	return s;
}

/* SIM-2 */
static void
a_zeroed_wire_is_perfect(void **state)
{
	struct fault_params p = { 0 };
	struct fault_delivery d[FAULT_MAX_COPIES];
	struct fault f;
	unsigned int n;

	(void)state;
	fault_init(&f, &p, 1, 1);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(fault_frame(&f, i, frame, 60, d, &n), FAULT_DELIVER);
		assert_int_equal(n, 1);
		assert_int_equal(d[0].at_ns, i);
		assert_int_equal(d[0].flip_bit, FAULT_NO_FLIP);
	}
}

/* SIM-2 */
static void
each_probability_is_within_its_bounds(void **state)
{
	struct fault_params p = { .drop_ppm = 100000 };
	struct fault f;
	struct seen s;

	(void)state;
	fault_init(&f, &p, 2, 1);
	s = pour(&f, 60);
	assert_in_range(s.none, 9500, 10500);
	assert_int_equal(f.st.dropped, s.none);

	p = (struct fault_params){ .dup_ppm = 200000, .reorder_ns = 1000 };
	fault_init(&f, &p, 3, 1);
	s = pour(&f, 60);
	assert_in_range(s.two, 19500, 20500);
	assert_int_equal(s.none, 0);
	assert_int_equal(f.st.duplicated, s.two);

	p = (struct fault_params){ .corrupt_ppm = 50000 };
	fault_init(&f, &p, 4, 1);
	s = pour(&f, 60);
	assert_in_range(s.flips, 4700, 5300);
	assert_int_equal(f.st.corrupted, s.flips);
}

/* SIM-2 */
static void
bursts_take_whole_runs_of_frames(void **state)
{
	struct fault_params p = { .burst_ppm = 1000, .burst_len = 10 };
	struct fault_delivery d[FAULT_MAX_COPIES];
	unsigned int n, run = 0;
	struct fault f;

	(void)state;
	fault_init(&f, &p, 5, 1);
	for (uint64_t i = 0; i < N; i++) {
		if (fault_frame(&f, i, frame, 60, d, &n) == FAULT_BURST) {
			run++;
			continue;
		}
		assert_int_equal(run % 10, 0);
		run = 0;
	}
	assert_in_range(f.st.burst_dropped, 700, 1300);
}

/* SIM-2 */
static void
jitter_keeps_the_order_and_reordering_breaks_it(void **state)
{
	struct fault_params p = { .delay_ns = 1000, .jitter_ns = 500000 };
	struct fault f;
	struct seen s;

	(void)state;
	fault_init(&f, &p, 6, 1);
	s = pour(&f, 60);
	assert_int_equal(s.late, 0);
	assert_true(s.first >= 1000);

	p = (struct fault_params){ .delay_ns = 1000, .reorder_ppm = 100000, .reorder_ns = 100 * GAP };
	fault_init(&f, &p, 7, 1);
	s = pour(&f, 60);
	assert_in_range(f.st.reordered, 9500, 10500);
	assert_true(s.late > 50000); /* what overtakes the frames held back, as the first to arrive counts */
}

/* SIM-2 */
static void
the_rate_limit_holds_and_its_queue_drops(void **state)
{
	/* a frame each 10 us of 1000 + 24 bytes needs 819 Mbit/s; the wire has 100 */
	struct fault_params p = { .rate_bps = 100000000, .queue_bytes = 20000 };
	struct fault f;
	struct seen s;
	double bps;

	(void)state;
	fault_init(&f, &p, 8, 1);
	s = pour(&f, 1000);
	bps = (double)s.one * 1024 * 8 * 1e9 / (double)(s.last - 0);
	assert_true(bps > 99e6 && bps < 101e6);
	assert_int_equal(f.st.queue_dropped, s.none);
	/* nothing waits for longer than the queue and itself */
	assert_true(s.last <= (uint64_t)(N - 1) * GAP + (20000 + 1024) * 8 * 10 + 1);

	p.rate_bps = 1000000000; /* enough */
	fault_init(&f, &p, 8, 1);
	s = pour(&f, 1000);
	assert_int_equal(s.none, 0);
}

/* SIM-2 */
static void
the_mtu_limit_counts_the_packet_not_the_header(void **state)
{
	struct fault_params p = { .mtu = 1400 };
	struct fault_delivery d[FAULT_MAX_COPIES];
	struct fault f;
	unsigned int n;

	(void)state;
	fault_init(&f, &p, 9, 1);
	assert_int_equal(fault_frame(&f, 0, frame, 1414, d, &n), FAULT_DELIVER);
	assert_int_equal(fault_frame(&f, 0, frame, 1415, d, &n), FAULT_MTU);
	frame[12] = 0x81; /* a tag is not part of it */
	assert_int_equal(fault_frame(&f, 0, frame, 1418, d, &n), FAULT_DELIVER);
	assert_int_equal(fault_frame(&f, 0, frame, 1419, d, &n), FAULT_MTU);
	frame[12] = 0;
	assert_int_equal(fault_frame(&f, 0, frame, 10, d, &n), FAULT_DELIVER);
	assert_int_equal(f.st.mtu_dropped, 2);
}

/* SIM-1, SIM-2 */
static void
the_same_seed_gives_the_same_faults(void **state)
{
	struct fault_delivery a[FAULT_MAX_COPIES], b[FAULT_MAX_COPIES];
	struct fault_params p;
	struct fault f, g;
	struct prng r;
	unsigned int n, m;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		prng_init(&r, seed, 0);
		fault_swarm(&p, &r);
		fault_init(&f, &p, seed, 1);
		fault_init(&g, &p, seed, 1);
		for (uint64_t i = 0; i < 200; i++) {
			memset(a, 0, sizeof(a));
			memset(b, 0, sizeof(b));
			assert_int_equal(fault_frame(&f, i * 1000, frame, 100, a, &n),
				fault_frame(&g, i * 1000, frame, 100, b, &m));
			assert_int_equal(n, m);
			for (unsigned int k = 0; k < n; k++) {
				assert_int_equal(a[k].at_ns, b[k].at_ns);
				assert_int_equal(a[k].flip_bit, b[k].flip_bit);
			}
		}
		assert_memory_equal(&f, &g, sizeof(f));
	}
}

/* SIM-2 */
static void
swarm_switches_each_fault_off_for_half_of_the_seeds(void **state)
{
	unsigned int drop = 0, dup = 0, all = 1000;
	struct fault_params p;
	struct prng r;

	(void)state;
	prng_init(&r, 1, 0);
	for (unsigned int i = 0; i < all; i++) {
		fault_swarm(&p, &r);
		drop += p.drop_ppm != 0;
		dup += p.dup_ppm != 0;
		assert_true(p.drop_ppm <= 200000 && p.corrupt_ppm <= 100000);
	}
	assert_in_range(drop, 430, 570);
	assert_in_range(dup, 430, 570);
}

static void
a_flip_inverts_one_bit_and_keeps_to_the_frame(void **state)
{
	uint8_t f[4] = { 0, 0, 0, 0 };

	(void)state;
	fault_flip(f, 3, 9);
	assert_int_equal(f[1], 2);
	fault_flip(f, 3, 24); /* beyond */
	fault_flip(f, 3, FAULT_NO_FLIP);
	assert_int_equal(f[3], 0);
	assert_int_equal(f[0] | f[2], 0);
}

static void
descriptions_name_what_is_on(void **state)
{
	struct fault_params p = { .delay_ns = 50000, .jitter_ns = 2000, .drop_ppm = 12500, .burst_ppm = 100, .burst_len = 4,
		.dup_ppm = 1, .reorder_ppm = 10000, .reorder_ns = 9000, .corrupt_ppm = 10000, .rate_bps = 1000000, .mtu = 1400 };
	char text[256], small[12];

	(void)state;
	fault_describe(&p, text, sizeof(text));
	assert_string_equal(text, "delay 50us jitter 2us drop 1.25% burst 0.01% of 4 dup 0.00% reorder 1.00% by 9us "
		"corrupt 1.00% rate 1000kbit mtu 1400");
	fault_describe(&p, small, sizeof(small));
	assert_string_equal(small, "delay 50us ");
	fault_describe(&p, small, 0);
	assert_string_equal(fault_verdict_name(FAULT_DELIVER), "deliver");
	assert_string_equal(fault_verdict_name(FAULT_DROP), "drop");
	assert_string_equal(fault_verdict_name(FAULT_BURST), "drop-burst");
	assert_string_equal(fault_verdict_name(FAULT_QUEUE), "drop-queue");
	assert_string_equal(fault_verdict_name(FAULT_MTU), "drop-mtu");
	assert_string_equal(fault_verdict_name((enum fault_verdict)99), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zeroed_wire_is_perfect),
		cmocka_unit_test(each_probability_is_within_its_bounds),
		cmocka_unit_test(bursts_take_whole_runs_of_frames),
		cmocka_unit_test(jitter_keeps_the_order_and_reordering_breaks_it),
		cmocka_unit_test(the_rate_limit_holds_and_its_queue_drops),
		cmocka_unit_test(the_mtu_limit_counts_the_packet_not_the_header),
		cmocka_unit_test(the_same_seed_gives_the_same_faults),
		cmocka_unit_test(swarm_switches_each_fault_off_for_half_of_the_seeds),
		cmocka_unit_test(a_flip_inverts_one_bit_and_keeps_to_the_frame),
		cmocka_unit_test(descriptions_name_what_is_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The laws of congestion control: NewReno's, CUBIC's against its formula in doubles, slow start, HyStart++. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/stack/tcp/cc.h"

#define MS 1000000ull

static struct cc
fresh(const struct cc_ops *ops, uint32_t mss, uint32_t segs)
{
	struct cc c = { .ops = ops, .mss = mss, .cwnd = segs * mss, .ssthresh = CC_SSTHRESH_INF, .abc_l = 8 };

	ops->init(&c);
	return c;
}

static void
ack(struct cc *c, uint64_t now, uint32_t bytes, uint32_t rtt_us)
{
	struct cc_ack a = { .now = now, .acked = bytes, .rtt_us = rtt_us, .srtt_us = rtt_us, .limited = true };

	c->ops->ack(c, &a);
}

/* STK-3 */
static void
test_iw10_max_14600(void **state)
{
	(void)state;
	assert_int_equal(cc_initial_window(1460, 10), 14600);
	assert_int_equal(cc_initial_window(1448, 10), 14480);
	assert_int_equal(cc_initial_window(536, 10), 5360);
	assert_int_equal(cc_initial_window(8960, 10), 17920); /* two segments */
	assert_int_equal(cc_initial_window(4000, 10), 14600);
	assert_int_equal(cc_initial_window(1460, 1), 1460);
	assert_int_equal(cc_initial_window(1460, 0), 1460);
	assert_int_equal(cc_initial_window(65535, UINT32_MAX), CC_CWND_MAX);
}

/* STK-3 */
static void
test_laws_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(cc_find("cubic"), &cc_cubic);
	assert_ptr_equal(cc_find("newreno"), &cc_newreno);
	assert_ptr_equal(cc_find("reno"), &cc_newreno);
	assert_null(cc_find("vegas"));
	assert_null(cc_find(""));
}

/* STK-3 */
static void
test_slow_start_counts_bytes_up_to_l_segments(void **state)
{
	struct cc c = fresh(&cc_newreno, 1000, 10);

	(void)state;
	ack(&c, 1, 300, 0);
	assert_int_equal(c.cwnd, 10300);
	ack(&c, 1, 50000, 0);
	assert_int_equal(c.cwnd, 18300);
	c.ssthresh = 20000;
	ack(&c, 1, 5000, 0); /* the rest counts for congestion avoidance */
	assert_int_equal(c.cwnd, 20000);
	assert_int_equal(c.acc, 3300);
	c.abc_l = 1;
	c.cwnd = 1000;
	ack(&c, 1, 5000, 0);
	assert_int_equal(c.cwnd, 2000);
}

/* STK-3 */
static void
test_newreno_one_segment_a_window_and_half_after_loss(void **state)
{
	struct cc c = fresh(&cc_newreno, 1000, 20);
	struct cc_ack idle = { .now = 1, .acked = 100000, .limited = false };
	int i;

	(void)state;
	c.ssthresh = 20000;
	for (i = 0; i < 19; i++)
		ack(&c, 1, 1000, 0);
	assert_int_equal(c.cwnd, 20000);
	ack(&c, 1, 1000, 0);
	assert_int_equal(c.cwnd, 21000);
	ack(&c, 1, UINT32_MAX, 0); /* one ACK, one segment */
	assert_int_equal(c.cwnd, 22000);
	ack(&c, 1, UINT32_MAX, 0);
	assert_int_equal(c.cwnd, 23000);
	c.ops->ack(&c, &idle);
	assert_int_equal(c.cwnd, 23000);
	c.ops->reduce(&c, 18000, false);
	assert_int_equal(c.ssthresh, 9000);
	c.ops->reduce(&c, 1000, true);
	assert_int_equal(c.ssthresh, 2000);
	c.cwnd = CC_CWND_MAX;
	ack(&c, 1, CC_CWND_MAX, 0);
	assert_int_equal(c.cwnd, CC_CWND_MAX);
	c.ssthresh = CC_SSTHRESH_INF;
	c.hs.done = true;
	ack(&c, 1, 5000, 0);
	assert_int_equal(c.cwnd, CC_CWND_MAX);
	c.ops->timeout(&c);
	c.ops->undo(&c);
	c.ops->idle(&c);
	assert_int_equal(c.acc, 0);
}

/*
 * A window's worth of ACKs a round trip for secs seconds; the largest difference from RFC 9438's equation 1, in
 * segments.
 */
static double
follow(struct cc *c, uint32_t rtt_ms, double secs, double w_max, double k)
{
	uint64_t now = 1000 * MS;
	uint64_t end = now + (uint64_t)(secs * 1000) * MS;
	double worst = 0;

	while (now < end) {
		uint32_t n = c->cwnd / c->mss;
		uint32_t i;

		for (i = 0; i < n; i++)
			ack(c, now + rtt_ms * MS * i / n, c->mss, rtt_ms * 1000);
		now += rtt_ms * MS;
		{
			double t = (double)(now - 1000 * MS) / 1e9;
			double want = 0.4 * pow(t - k, 3) + w_max;
			double got = (double)c->cwnd / c->mss;

			if (fabs(got - want) > worst)
				worst = fabs(got - want);
		}
	}
	return worst;
}

/* STK-3 */
static void
test_cubic_beta_0_7_c_0_4_fast_convergence_tcp_friendly_region_curve_matches_reference(void **state)
{
	struct cc c = fresh(&cc_cubic, 1448, 1000);
	double k = cbrt((1000 - 700) / 0.4);
	uint32_t rtt;

	(void)state;
	for (rtt = 50; rtt <= 200; rtt *= 2) {
		c = fresh(&cc_cubic, 1448, 1000);
		c.ops->reduce(&c, c.cwnd, false);
		assert_int_equal(c.ssthresh / 1448, 700); /* beta */
		assert_int_equal(c.cubic.w_max, 1000 * 1448);
		c.cwnd = c.ssthresh;
		/* to W_max after K = 9.08 s, and beyond */
		assert_true(follow(&c, rtt, k, 1000, k) < 10);
		assert_in_range(c.cwnd / 1448, 990, 1003);
		assert_in_range(c.cubic.k_ms, (uint32_t)(k * 1000) - 2, (uint32_t)(k * 1000) + 2);
	}
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.ssthresh;
	k = cbrt((double)(c.cubic.w_max - c.cwnd) / 1448 / 0.4);
	assert_true(follow(&c, 100, 15, (double)c.cubic.w_max / 1448, k) < 25);
	assert_true(c.cwnd > c.cubic.w_max);
	/* 4.7: a loss before the old window is reached lowers W_max more */
	c = fresh(&cc_cubic, 1000, 100);
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.ssthresh;
	c.ops->reduce(&c, c.cwnd, true);
	assert_int_equal(c.cubic.w_max, 70000 * 17 / 20);
	c.ops->undo(&c);
	assert_int_equal(c.cubic.w_max, 100000);
}

/* STK-3 */
static void
test_cubic_is_never_slower_than_reno_on_short_paths(void **state)
{
	struct cc c = fresh(&cc_cubic, 1000, 20);
	double reno;
	uint64_t now = 1000 * MS;
	int round, i, n;

	(void)state;
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.ssthresh;
	reno = c.cwnd / 1000.0;
	for (round = 0; round < 40; round++, now += MS) { /* 1 ms: the cube has hardly moved */
		n = c.cwnd / 1000;
		for (i = 0; i < n; i++)
			ack(&c, now, 1000, 1000);
		reno += reno < 20 ? 9.0 / 17 : 1;
		assert_true(fabs(c.cwnd / 1000.0 - reno) < 2.5);
	}
	assert_true(c.cwnd > 40000);
}

/* STK-3 */
static void
test_cubic_time_without_use_is_no_time_of_growth(void **state)
{
	struct cc c = fresh(&cc_cubic, 1000, 100);
	struct cc_ack a = { .now = 3600000 * MS, .acked = 1000, .limited = false };

	(void)state;
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.ssthresh;
	ack(&c, MS, 1000, 10000);
	assert_true(c.cubic.epoch != 0);
	c.ops->ack(&c, &a); /* an hour later, not limited by the window */
	assert_int_equal(c.cubic.epoch, 0);
	ack(&c, a.now, 1000, 10000);
	assert_in_range(c.cwnd, 70000, 70100);
	c.ops->idle(&c);
	assert_int_equal(c.cubic.epoch, 0);
	/* in use all the time and huge: bounds hold, nothing overflows */
	c = fresh(&cc_cubic, 65535, 10);
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.ssthresh;
	ack(&c, MS, 65535, 10000);
	for (a.now = MS; a.now < 4000000 * MS; a.now += 40000 * MS)
		ack(&c, a.now, UINT32_MAX, 100000000);
	assert_int_equal(c.cwnd, CC_CWND_MAX);
}

/* STK-3 */
static void
test_cubic_after_a_timeout_starts_from_its_own_window(void **state)
{
	struct cc c = fresh(&cc_cubic, 1000, 100);

	(void)state;
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.mss;
	c.ops->timeout(&c);
	assert_int_equal(c.cubic.w_max, 0);
	c.cwnd = c.ssthresh;
	ack(&c, MS, 1000, 10000);
	assert_int_equal(c.cubic.k_ms, 0);
	assert_int_equal(c.cubic.origin, 70000);
	c.ops->undo(&c);
	assert_int_equal(c.cubic.w_max, 0);
	assert_int_equal(c.cubic.epoch, 0);
}

/* STK-3 */
static void
test_cubic_slow_start_ends_an_epoch(void **state)
{
	struct cc c = fresh(&cc_cubic, 1000, 100);

	(void)state;
	c.ops->reduce(&c, c.cwnd, false);
	c.cwnd = c.ssthresh;
	ack(&c, MS, 1000, 10000);
	assert_true(c.cubic.w_est >= 70000);
	c.cwnd = 3000; /* cut by F-RTO: what the epoch had reached counts no more */
	c.ssthresh = 4000;
	ack(&c, 2 * MS, 2000, 10000);
	assert_in_range(c.cwnd, 4000, 6000);
}

static void
round_of(struct cc *c, uint32_t *seq, uint32_t rtt_us)
{
	struct cc_ack a = { .now = MS, .acked = c->mss, .rtt_us = rtt_us, .srtt_us = rtt_us, .limited = true };
	uint32_t n = c->cwnd / c->mss;
	uint32_t end = *seq + c->cwnd;

	while (n-- > 0) {
		*seq += c->mss;
		a.una = *seq;
		a.nxt = end;
		c->ops->ack(c, &a);
	}
}

/* STK-3 */
static void
test_hystart_leaves_slow_start_when_the_round_trip_grows(void **state)
{
	struct cc c = fresh(&cc_cubic, 1000, 10);
	uint32_t seq = 0xffff0000u;
	uint32_t before;
	int i;

	(void)state;
	round_of(&c, &seq, 50000);
	round_of(&c, &seq, 50000);
	assert_int_equal(c.hs.css_rtt, 0);
	before = c.cwnd;
	round_of(&c, &seq, 54000); /* less than an eighth */
	assert_int_equal(c.hs.css_rtt, 0);
	assert_in_range(c.cwnd, before * 2 - 2000, before * 2);
	round_of(&c, &seq, 65000);
	assert_true(c.hs.css_rtt != 0);
	round_of(&c, &seq, 50000); /* it was nothing */
	assert_int_equal(c.hs.css_rtt, 0);
	round_of(&c, &seq, 65000);
	for (i = 0; i < 8 && c.ssthresh == CC_SSTHRESH_INF; i++) {
		before = c.cwnd;
		round_of(&c, &seq, 65000);
		assert_true(c.cwnd < before * 14 / 10);
	}
	assert_in_range(i, 4, 6);
	assert_true(c.hs.done);
	/* a later slow start has a goal and needs no guess */
	c.cwnd = 1000;
	before = c.ssthresh;
	round_of(&c, &seq, 900000);
	assert_int_equal(c.ssthresh, before);
	assert_int_equal(c.cwnd, 2000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iw10_max_14600),
		cmocka_unit_test(test_laws_are_found_by_name),
		cmocka_unit_test(test_slow_start_counts_bytes_up_to_l_segments),
		cmocka_unit_test(test_newreno_one_segment_a_window_and_half_after_loss),
		cmocka_unit_test(test_cubic_beta_0_7_c_0_4_fast_convergence_tcp_friendly_region_curve_matches_reference),
		cmocka_unit_test(test_cubic_is_never_slower_than_reno_on_short_paths),
		cmocka_unit_test(test_cubic_time_without_use_is_no_time_of_growth),
		cmocka_unit_test(test_cubic_after_a_timeout_starts_from_its_own_window),
		cmocka_unit_test(test_cubic_slow_start_ends_an_epoch),
		cmocka_unit_test(test_hystart_leaves_slow_start_when_the_round_trip_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recovery and congestion control over a modelled path: how long a loss takes to repair, fairness, and that nothing
 * ever stalls.
 */
#include "path.h"

#include <stdio.h>

struct golden {
	const char *what;
	const struct cc_ops *ops;
	bool sack, ts;
	uint32_t drop[7]; /* numbers of transmissions */
	uint32_t ms;      /* until everything is acknowledged */
	uint32_t rtos, recoveries;
};

static uint32_t
run_golden(const struct golden *g, uint32_t *rtos, uint32_t *recoveries)
{
	struct path *p = path_new(100, 80, 0);
	struct path_flow *f;
	uint32_t ms;

	p->drop = g->drop;
	f = path_flow_new(p, g->ops, g->sack, g->ts, p->now, 100 * MSS);
	assert_true(path_run(p, p->now + 100 * SEC));
	assert_true(f->done);
	assert_int_equal(f->delivered, 100 * MSS);
	ms = (uint32_t)((f->done_at - SEC) / MS);
	*rtos = f->rtos;
	*recoveries = f->recoveries;
	path_end(p);
	return ms;
}

/* STK-3 */
static void
test_golden_recovery_times(void **state)
{
	/*
	 * 100 segments, 100 ms, 10 ms to send 100: windows of 10, 20, 40 and 30; number 40 is in the third and what
	 * follows it hides its repair. A lone tail loss waits for a probe that allows for a delayed ACK, but not longer
	 * than the RTO.
	 */
	static const struct golden t[] = {
		{ "no loss", &cc_newreno, true, true, { 0 }, 403, 0, 0 },
		{ "one loss", &cc_newreno, true, true, { 40 }, 403, 0, 1 },
		{ "two losses", &cc_newreno, true, true, { 40, 45 }, 403, 0, 1 },
		{ "five losses", &cc_newreno, true, true, { 40, 42, 44, 46, 48 }, 501, 0, 1 },
		{ "tail loss", &cc_newreno, true, true, { 100 }, 817, 0, 0 },
		{ "three at the tail", &cc_newreno, true, true, { 98, 99, 100 }, 904, 0, 1 },
		{ "one loss and its retransmission", &cc_newreno, true, true, { 40, 78 }, 501, 0, 1 },
		{ "one loss, cubic", &cc_cubic, true, true, { 40 }, 403, 0, 1 },
		{ "five losses, cubic", &cc_cubic, true, true, { 40, 42, 44, 46, 48 }, 403, 0, 1 },
		{ "one loss, no SACK", &cc_newreno, false, false, { 40 }, 403, 0, 1 },
		{ "two losses, no SACK", &cc_newreno, false, false, { 40, 45 }, 502, 0, 1 },
		{ "five losses, no SACK", &cc_newreno, false, false, { 40, 42, 44, 46, 48 }, 802, 0, 1 },
		{ "tail loss, no SACK", &cc_newreno, false, false, { 100 }, 817, 1, 0 },
	};
	uint32_t rtos, recoveries;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t ms = run_golden(&t[i], &rtos, &recoveries);

		if (ms != t[i].ms || rtos != t[i].rtos || recoveries != t[i].recoveries)
			print_error("%s: %u ms, %u timeouts, %u recoveries\n", t[i].what, ms, rtos, recoveries);
		assert_int_equal(ms, t[i].ms);
		assert_int_equal(rtos, t[i].rtos);
		assert_int_equal(recoveries, t[i].recoveries);
	}
}

struct load {
	const struct cc_ops *ops;
	bool sack, ts;
	uint32_t loss, reorder; /* per mille */
	uint32_t most_s;        /* 1 % on 10 ms allows about 1.2 MB/s (Mathis et al.) */
};

static void
large(const struct load *l)
{
	struct path *p = path_new(10, 800, 2000000);
	struct path_flow *f;

	p->loss_permille = l->loss;
	p->reorder_permille = l->reorder;
	f = path_flow_new(p, l->ops, l->sack, l->ts, p->now, 100000000);
	assert_true(path_run(p, p->now + 1000 * SEC));
	assert_true(f->done);
	assert_int_equal(f->delivered, 100000000);
	assert_in_range((f->done_at - SEC) / SEC, 1, l->most_s);
	/* what was lost is sent again, and hardly more */
	assert_in_range(f->r.total_retrans, p->nb_lost, p->nb_lost + p->nb_lost / 8 + 50);
	assert_true(rec_check(&f->r));
	path_end(p);
}

/* STK-3, STK-9 */
static void
test_100_mb_arrive_under_each_law(void **state)
{
	static const struct load t[] = {
		{ &cc_newreno, true, true, 0, 0, 2 },
		{ &cc_cubic, true, true, 0, 0, 2 },
		{ &cc_newreno, true, true, 10, 0, 100 },
		{ &cc_cubic, true, true, 10, 0, 100 },
		{ &cc_newreno, false, false, 10, 0, 120 },
		{ &cc_cubic, true, false, 0, 10, 10 },
		{ &cc_cubic, true, true, 50, 5, 280 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		large(&t[i]);
}

/* STK-3 */
static void
test_two_cubic_flows_share_fairly(void **state)
{
	struct path *p = path_new(20, 20, 60000);
	struct path_flow *a, *b;
	uint64_t a0, b0;
	double x, y, jain;

	(void)state;
	a = path_flow_new(p, &cc_cubic, true, true, p->now, 2000000000);
	b = path_flow_new(p, &cc_cubic, true, true, p->now + 2 * SEC, 2000000000);
	assert_true(path_run(p, p->now + 15 * SEC));
	a0 = a->delivered;
	b0 = b->delivered;
	assert_true(path_run(p, p->now + 45 * SEC));
	x = (double)(a->delivered - a0);
	y = (double)(b->delivered - b0);
	jain = (x + y) * (x + y) / (2 * (x * x + y * y));
	assert_true(jain >= 0.95);
	assert_true((x + y) * 8 / 45 > 0.85 * 20e6);
	assert_int_equal(a->rtos, 0);
	path_end(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_recovery_times),
		cmocka_unit_test(test_100_mb_arrive_under_each_law),
		cmocka_unit_test(test_two_cubic_flows_share_fairly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

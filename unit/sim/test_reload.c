/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of the reload scenarios: that it reloads, and that what it watches over is caught when it is broken on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "shim/shim.h"
#include "core/reload/gen_dir.h"
#include "sim/scenarios/reload.h"

static void (*breaks)(struct reload_bed *b);
static uint64_t done, refused, gap_ns;
static uint32_t generation;

/* Two lanes, clean wires, one reload under 12 flows. */
static void
run(struct sim_world *w, void *state)
{
	struct reload_bed *b = state;

	b->w = w;
	b->lanes = 2;
	b->idle_ms = 500;
	b->heartbeat_ms = 300;
	b->shutdown_ms = 600;
	b->drain_ring = 1024;
	b->owners = true;
	if (!reload_build(b, 12, 2 * SEC) || !reload_up(b))
		return;
	b->node.hups = 1;
	sim_run(w, sim_now(w) + 3 * SEC + 500 * MS);
	if (breaks != NULL)
		breaks(b);
	reload_heal(b);
	done = b->node.hups_done;
	refused = b->node.hups_refused;
	generation = b->node.active;
	gap_ns = b->node.gap_ns[0] > b->node.gap_ns[1] ? b->node.gap_ns[0] : b->node.gap_ns[1];
}

static struct sim_result
go(void (*fn)(struct reload_bed *b))
{
	static const struct sim_scenario sc = { .name = "bed", .state_size = sizeof(struct reload_bed), .run = run,
		.release = reload_release };
	const struct sim_options o = { .seed = 5 };
	struct sim_result r;

	breaks = fn;
	done = refused = gap_ns = generation = 0;
	assert_int_equal(sim_scenario_run(&sc, &o, &r), 0);
	return r;
}

/* REL-3, REL-14 */
static void
generations_follow_one_another(void **state)
{
	struct sim_result r = go(NULL);

	(void)state;
	assert_string_equal(r.why, "");
	assert_int_equal(done, 2);
	assert_int_equal(generation, 4); /* 2, 3, 4 */
	assert_in_range(gap_ns, 1, 50 * MS);
}

static void
newer_answered(struct reload_bed *b)
{
	for (unsigned int i = 0; i < FLOW_MAX; i++)
		for (unsigned int lane = 0; lane < NODE_MAX_WORKERS; lane++)
			b->flow[i][lane] = (struct reload_flow){ .seen = true, .gen = 99, .rollbacks = b->node.rollbacks };
}

/* SIM-5, DSP-4 */
static void
an_answer_by_the_older_generation_is_caught(void **state)
{
	struct sim_result r = go(newer_answered);

	(void)state;
	assert_true(r.failed);
	assert_non_null(strstr(r.why, "answers after generation 99"));
}

static void
lease_taken_away(struct reload_bed *b)
{
	struct gen_dir *d = (struct gen_dir *)(uintptr_t)b->node.dir;

	d->lane[0].lease += 1 << 2; /* another fence */
}

static void
lease_of_another(void *arg)
{
	struct reload_bed *b = arg;
	struct node_worker *nw = &b->node.spawned[b->node.nb_spawned - 1];

	/* the lane is its, and it looks at another one's queue */
	nw->lane ^= 1;
}

static void
other_queue(struct reload_bed *b)
{
	lease_of_another(b);
}

/* SIM-5, REL-5 */
static void
a_poll_without_the_lease_is_caught(void **state)
{
	struct sim_result r = go(other_queue);

	(void)state;
	assert_true(r.failed);
	assert_non_null(strstr(r.why, "a process that has no right to"));
	/* the worker itself sees that its lease is another one, does not poll, and counts it */
	r = go(lease_taken_away);
	assert_true(r.failed);
	assert_non_null(strstr(r.why, "lane 0: its lease was taken from a live owner 1 time"));
}

static void
window_back(struct reload_bed *b)
{
	((struct gen_dir *)(uintptr_t)b->node.dir)->window = window_word((struct window){ WINDOW_CLOSED, 1, 1 });
}

static void
window_wrong(struct reload_bed *b)
{
	((struct gen_dir *)(uintptr_t)b->node.dir)->window = 15;
}

/* SIM-5, REL-2 */
static void
a_generation_that_goes_backwards_is_caught(void **state)
{
	struct sim_result r = go(window_back);

	(void)state;
	assert_non_null(strstr(r.why, "a generation went backwards"));
	r = go(window_wrong);
	assert_non_null(strstr(r.why, "impossible window word"));
}

static void
cut(struct reload_bed *b)
{
	sim_wire_cut(b->wire, true);
}

/* SIM-5, REL-14 */
static void
a_flow_without_an_answer_is_caught(void **state)
{
	struct sim_result r = go(cut);

	(void)state;
	assert_non_null(strstr(r.why, "flows without an answer"));
}

static void
no_primary(struct reload_bed *b)
{
	sim_proc_kill(b->node.primary_proc);
}

/* REL-1 */
static void
without_a_primary_a_reload_is_refused(void **state)
{
	struct sim_result r = go(no_primary);

	(void)state;
	assert_non_null(strstr(r.why, "a further reload does not end"));
}

static int
first_one_fails(struct reload_bed *b, struct node_worker *nw)
{
	if (nw->generation != 3)
		return 0;
	nw->fault = b->fault;
	return 0;
}

static void
sick_run(struct sim_world *w, void *state)
{
	struct reload_bed *b = state;

	b->fault = NODE_EXITS;
	b->spawned = first_one_fails;
	run(w, state);
}

/* REL-12 */
static void
a_generation_that_does_not_come_up_is_given_up(void **state)
{
	static const struct sim_scenario sc = { .name = "sick", .state_size = sizeof(struct reload_bed), .run = sick_run,
		.release = reload_release };
	const struct sim_options o = { .seed = 6 };
	struct sim_result r;

	(void)state;
	breaks = NULL;
	assert_int_equal(sim_scenario_run(&sc, &o, &r), 0);
	assert_string_equal(r.why, "");
	assert_int_equal(done, 2);
	assert_int_equal(generation, 5); /* 3 is gone for good */
}

static void
a_datagram_says_whose_it_is(void **state)
{
	uint8_t buf[FLOW_HEAD] = { 0, 0, 0, 7, 0, 0, 1, 0 };
	uint32_t flow, seq;

	(void)state;
	assert_true(flow_of(buf, sizeof(buf), &flow, &seq));
	assert_int_equal(flow, 7);
	assert_int_equal(seq, 256);
	flow_stamp(buf, sizeof(buf), 0x01020304);
	assert_int_equal(buf[8], 1);
	assert_int_equal(buf[11], 4);
	assert_false(flow_of(buf, FLOW_HEAD - 1, &flow, &seq));
	flow_stamp(buf, FLOW_HEAD - 1, 0);
	assert_int_equal(buf[11], 4);
	buf[0] = 1;
	assert_false(flow_of(buf, sizeof(buf), &flow, &seq));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generations_follow_one_another),
		cmocka_unit_test(an_answer_by_the_older_generation_is_caught),
		cmocka_unit_test(a_poll_without_the_lease_is_caught),
		cmocka_unit_test(a_generation_that_goes_backwards_is_caught),
		cmocka_unit_test(a_flow_without_an_answer_is_caught),
		cmocka_unit_test(without_a_primary_a_reload_is_refused),
		cmocka_unit_test(a_generation_that_does_not_come_up_is_given_up),
		cmocka_unit_test(a_datagram_says_whose_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

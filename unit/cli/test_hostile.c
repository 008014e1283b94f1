/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory that somebody wrote over: primary, worker and tools go on, end, or say so; none crashes, none runs forever. */
#include "unit/runtime/fixture.h"

#include "core/cli/tools.h"
#include "core/runtime/primary_priv.h"
#include "core/stack/priv.h"

#define ROUNDS 2000

static const struct cli_cmd cmd = { "tool", "", "" };

struct env {
	struct rt *rt;
	unsigned int sleeps;     /* of a tool, since it was called */
};

static uint64_t
draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A tool waits 2 s at most, 50 us at a time. */
static void
turns(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;

	(void)s;
	(void)op;
	assert_true(e->sleeps++ < 4 * 41000);
	if (e->sleeps < 100) {
		worker_turn(e->rt->w[0]);
		primary_turn(e->rt->p);
	}
}

/* Overwrites some words of n bytes; small values are as likely as any. */
static void
scribble(void *p, size_t n, uint64_t *seed)
{
	uint8_t *b = p;

	for (unsigned int k = draw(seed) % 8; k > 0; k--) {
		/* the head of a block is what decides: half of the time there */
		size_t at = draw(seed) % ((draw(seed) & 1) && n > 256 ? 256 : n - 8);
		uint64_t v = draw(seed);

		if (v & 1)
			v = (v >> 8) & 7;
		else if (v & 2)
			v = UINT64_MAX;
		memcpy(b + at / 4 * 4, &v, v & 4 ? 4 : 8);
	}
}

static void
use_tools(struct env *e, FILE *out, uint64_t *seed)
{
	static const char *const words[] = { "10.9.0.0/16", "192.0.2.9", "-" };
	struct tools t;

	e->sleeps = 0;
	if (tools_attach(&t, &cmd, e->rt->tool, out, draw(seed) & 1) != -1)
		return;
	switch (draw(seed) % 5) {
	case 0: (void)tools_status(&t); break;
	case 1: (void)tools_list(&t, 0, "neighbours", CTL_ARP_LIST, CTL_NDP_LIST, NULL); break;
	case 2: (void)tools_list(&t, -1, "interfaces", CTL_IFCONFIG, CTL_NONE, "f-stack-0"); break;
	case 3: (void)tools_order(&t, -1, CTL_ROUTE_ADD, words, 3); break;
	default: (void)tools_mtu(&t, -1, "f-stack-0", 0, 1400 + draw(seed) % 200); break;
	}
}

/* STK-9, MTU-5: whatever stands in the directory and in the blocks. */
static void
test_scribbled_blocks_crash_nobody(void **state)
{
	struct env e = { .rt = rt_bed(RT_DPDK RT_PORT, 1) };
	struct ctl_block *wb = e.rt->w[0]->block, *pb = e.rt->w[0]->primary;
	struct ctl_block *saved = malloc(2 * sizeof(*saved));
	struct ctl_dir *d = e.rt->w[0]->dir, dir = *d;
	FILE *out = fopen("/dev/null", "w");
	uint64_t seed = 88172645463325252ull;

	(void)state;
	assert_non_null(saved);
	assert_non_null(out);
	mock_hook(e.rt->s, MOCK_OP_sleep_ns, turns, &e);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		saved[0] = *wb;
		saved[1] = *pb;
		scribble(wb, sizeof(*wb), &seed);
		scribble(pb, sizeof(*pb), &seed);
		if (i % 4 == 0)
			scribble(d, sizeof(*d), &seed);
		rt_turn(e.rt, 1);
		use_tools(&e, out, &seed);
		rt_turn(e.rt, 200);
		*wb = saved[0];
		*pb = saved[1];
		*d = dir;
		wb->lock = pb->lock = 0;
		e.rt->w[0]->stop = false;
		e.rt->p->stopping = e.rt->p->stopped = false;
		rt_turn(e.rt, 1);
	}
	fclose(out);
	free(saved);
	mock_hook(e.rt->s, MOCK_OP_sleep_ns, NULL, NULL);
	rt_free(e.rt);
}

/* STK-9: the number of workers grows without bound after the tool has looked at it. */
static void
test_number_of_workers_is_read_once(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 1);
	struct ctl_dir *d = rt->w[0]->dir;
	FILE *out = fopen("/dev/null", "w");
	struct tools t;

	(void)state;
	assert_non_null(out);
	assert_int_equal(tools_attach(&t, &cmd, rt->tool, out, true), -1);
	d->nb_workers = UINT32_MAX;
	assert_int_not_equal(tools_status(&t), CLI_OK); /* the directory is no longer believed */
	assert_int_not_equal(tools_order(&t, -1, CTL_PING, NULL, 0), CLI_OK);
	assert_int_not_equal(tools_list(&t, 70, "x", CTL_ARP_LIST, CTL_NONE, NULL), CLI_OK);
	d->nb_workers = 1;
	fclose(out);
	rt_free(rt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scribbled_blocks_crash_nobody), cmocka_unit_test(test_number_of_workers_is_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

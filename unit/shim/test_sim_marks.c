/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of owner marks in the sim backend: what the audit says of them, and of sweeps that would take from others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "shim/host/sim/machine.h"
#include "shim/shim.h"

struct bed {
	struct sim_env env;
	struct sim_machine *m;
	struct sim_door *d[2];
	struct shim_pool *pool;
	char why[256], failure[256];
};

static uint64_t
env_now(void *ctx)
{
	(void)ctx;
	return 1;
}

static void
env_fail(void *ctx, const struct sim_door *d, const char *text)
{
	(void)d;
	snprintf(((struct bed *)ctx)->failure, 256, "%s", text);
}

static void
bed_open(struct bed *b)
{
	struct sim_door_conf c = { .role = SHIM_ROLE_WORKER, .start_time = 1 };
	unsigned int i;

	memset(b, 0, sizeof(*b));
	b->env = (struct sim_env){ .ctx = b, .now_ns = env_now, .fail = env_fail };
	b->m = sim_machine_create(&b->env, 1, "host");
	assert_non_null(b->m);
	for (i = 0; i < 2; i++) {
		c.id = c.pid = i + 1;
		b->d[i] = sim_door_open(b->m, &c);
		assert_non_null(b->d[i]);
	}
	assert_int_equal(shim_pool_create(&b->d[0]->shim, "p", 16, 256, &b->pool), 0);
	b->m->marks = true;
}

static void
bed_close(struct bed *b)
{
	assert_int_equal(sim_machine_audit(b->m, b->why, sizeof(b->why)), 0);
	assert_int_equal(sim_machine_home(b->m, b->why, sizeof(b->why)), 0);
	sim_machine_destroy(b->m);
}

static void
assert_wrong(struct bed *b, const char *what)
{
	assert_int_equal(sim_machine_audit(b->m, b->why, sizeof(b->why)), -EINVAL);
	if (strstr(b->why, what) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", b->why, what);
	b->m->marks = false; /* and it is looked at on demand only */
	assert_int_equal(sim_machine_audit(b->m, b->why, sizeof(b->why)), 0);
	b->m->marks = true;
}

/* SIM-5, REL-18 */
static void
test_every_held_buffer_can_be_found(void **state)
{
	struct rte_mbuf *m[3], *out;
	struct rte_ring *r;
	struct bed b;

	(void)state;
	bed_open(&b);
	assert_int_equal(shim_ring_create(&b.d[0]->shim, "r", 4, SHIM_RING_SP_SC, &r), 0);
	assert_int_equal(shim_buf_alloc_bulk(&b.d[0]->shim, b.pool, m, 2), 0);
	assert_int_equal(sim_machine_audit(b.m, b.why, sizeof(b.why)), 0); /* noted, not stamped */
	shim_buf_mark_set(m[0], 5);
	assert_int_equal(sim_machine_audit(b.m, b.why, sizeof(b.why)), 0);
	shim_buf_mark_set(m[1], 6);
	assert_wrong(&b, "another mark than the process's others");
	shim_buf_mark_set(m[1], 0);
	assert_wrong(&b, "has no mark");
	shim_buf_mark_set(m[1], 5);
	m[2] = shim_buf_alloc(&b.d[1]->shim, b.pool);
	shim_buf_mark_set(m[2], 5);
	assert_wrong(&b, "the mark of another process");
	shim_buf_free(&b.d[1]->shim, m[2]);
	/* In a ring any is right; taken without a stamp it is not. */
	assert_int_equal(shim_ring_enqueue_burst(&b.d[0]->shim, r, (void **)m, 1), 1);
	assert_int_equal(sim_machine_audit(b.m, b.why, sizeof(b.why)), 0);
	assert_int_equal(shim_ring_dequeue_burst(&b.d[1]->shim, r, (void **)&out, 1), 1);
	assert_wrong(&b, "the mark of another process");
	shim_buf_free(&b.d[1]->shim, out);
	out = shim_buf_alloc(&b.d[0]->shim, b.pool);
	assert_int_equal(shim_ring_enqueue_burst(&b.d[0]->shim, r, (void **)&out, 1), 1);
	assert_int_equal(shim_ring_dequeue_burst(&b.d[1]->shim, r, (void **)&out, 1), 1);
	assert_wrong(&b, "allocated by another process");
	shim_buf_free(&b.d[1]->shim, out);
	shim_buf_free(&b.d[0]->shim, m[1]);
	bed_close(&b);
}

/* SIM-5, REL-18 */
static void
test_a_sweep_that_takes_from_the_living_is_reported(void **state)
{
	struct bed b;
	struct rte_mbuf *m;
	uint32_t id;

	(void)state;
	bed_open(&b);
	id = shim_cache_id(&b.d[0]->shim);
	m = shim_buf_alloc(&b.d[1]->shim, b.pool);
	shim_buf_mark_set(m, 5);
	sim_door_close(b.d[0], true);
	assert_string_equal(b.failure, "");
	assert_int_equal(shim_pool_sweep(&b.d[1]->shim, b.pool, 4, id), 0);
	assert_string_equal(b.failure, "");
	shim_pool_sweep(&b.d[1]->shim, b.pool, 5, id);
	assert_non_null(strstr(b.failure, "that did not hold it"));
	bed_close(&b);
}

/* SIM-5 */
static void
test_a_process_of_a_machine_without_a_world_is_killed(void **state)
{
	struct shim_proc p, self;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = shim_self(&b.d[1]->shim);
	self = shim_self(&b.d[0]->shim);
	assert_int_equal(shim_proc_kill(&b.d[0]->shim, &self), -EINVAL);
	assert_non_null(shim_buf_alloc(&b.d[1]->shim, b.pool));
	assert_int_equal(shim_proc_kill(&b.d[0]->shim, &p), 0);
	assert_int_equal(shim_proc_alive(&b.d[0]->shim, &p), 0);
	assert_int_equal(shim_proc_kill(&b.d[0]->shim, &p), -ESRCH);
	assert_int_equal(shim_pool_sweep(&b.d[0]->shim, b.pool, 0, p.pid), 1);
	bed_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_held_buffer_can_be_found),
		cmocka_unit_test(test_a_sweep_that_takes_from_the_living_is_reported),
		cmocka_unit_test(test_a_process_of_a_machine_without_a_world_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

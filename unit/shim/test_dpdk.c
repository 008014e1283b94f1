/* SPDX-License-Identifier: BSD-3-Clause */
/* The dpdk binding's pools and doors where they must refuse; each case in a process of its own, since an EAL starts once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf_dyn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/dpdk/eal.h"
#include "shim/shim.h"

static char *const args[] = { (char *)(uintptr_t)"test", (char *)(uintptr_t)"--no-huge", (char *)(uintptr_t)"--no-shconf",
	(char *)(uintptr_t)"--no-pci", (char *)(uintptr_t)"-m", (char *)(uintptr_t)"64", (char *)(uintptr_t)"--lcores=0",
	(char *)(uintptr_t)"--no-telemetry", (char *)(uintptr_t)"--log-level=*:error", NULL };

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "line %d: %s\n", __LINE__, #cond); \
			_exit(1); \
		} \
	} while (0)

/* What was logged meanwhile. */
static char *log_text;
static size_t log_len;
static FILE *log_file;

static void
log_begin(void)
{
	log_file = open_memstream(&log_text, &log_len);
	CHECK(log_file != NULL && rte_openlog_stream(log_file) == 0);
}

static bool
logged(const char *what)
{
	fflush(log_file);
	return strstr(log_text, what) != NULL;
}

static struct shim *
door(void)
{
	char *argv[RTE_DIM(args)];
	struct shim *s;
	int rc;

	memcpy(argv, args, sizeof(args));
	rc = shim_dpdk_open((int)RTE_DIM(args) - 1, argv, SHIM_ROLE_PRIMARY, 0, &s);
	if (rc != 0) {
		fprintf(stderr, "the EAL does not start here: %d\n", rc);
		_exit(77);
	}
	log_begin();
	return s;
}

static void
in_a_process(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fn();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static void
field_is_taken(void)
{
	static const struct rte_mbuf_dynfield other = { .name = "other", .size = 4, .align = 4 };
	char *argv[RTE_DIM(args)];
	struct shim *s;

	memcpy(argv, args, sizeof(args));
	if (rte_eal_init((int)RTE_DIM(args) - 1, argv) < 0)
		_exit(77);
	log_begin();
	CHECK(rte_mbuf_dynfield_register_offset(&other, offsetof(struct rte_mbuf, dynfield1[8])) >= 0);
	CHECK(shim_dpdk_door(SHIM_ROLE_PRIMARY, 0, &s) == -EBUSY);
	CHECK(logged("owner mark needs the last dynamic field"));
}

/* SHM-2, REL-18 */
static void
test_a_door_needs_the_field_of_the_marks(void **state)
{
	(void)state;
	in_a_process(field_is_taken);
}

static void
handler_differs(void)
{
	struct shim *s = door(), *t;
	struct shim_pool *p, *q;
	int ours;

	CHECK(shim_pool_create(s, "pool", 64, 256, &p) == 0);
	ours = shim_dpdk_mempool(p)->ops_index;
	CHECK(s->shared->handler_index == ours);
	s->shared->handler_index = ours == 0 ? 1 : 0;
	CHECK(shim_dpdk_door(SHIM_ROLE_WORKER, 1, &t) == -EPROTO);
	CHECK(logged("the bed") && logged("not \"nonic\"") && logged("link both programs alike"));
	s->shared->handler_index = 99;
	CHECK(shim_dpdk_door(SHIM_ROLE_WORKER, 1, &t) == -EPROTO);
	CHECK(logged("\"(none)\""));
	s->shared->handler_index = ours;
	CHECK(shim_dpdk_door(SHIM_ROLE_WORKER, 1, &t) == 0);
	shim_dpdk_mempool(p)->ops_index = -1;
	CHECK(shim_pool_lookup(t, "pool", &q) == -EPROTO);
	CHECK(logged("pool: its mempool handler is number -1"));
	shim_dpdk_mempool(p)->ops_index = ours;
	CHECK(shim_pool_lookup(t, "pool", &q) == 0 && q == p);
	shim_dpdk_close(t);
	shim_dpdk_close(s);
}

/* SHM-2, REL-18 */
static void
test_programs_must_have_the_handler_at_one_place(void **state)
{
	(void)state;
	in_a_process(handler_differs);
}

static void
limits(void)
{
	struct shim *s = door();
	struct shim_pool *p;
	struct rte_ring *r;
	unsigned int i;

	CHECK(shim_pool_create(s, "pool", FREELIST_MAX + 1, 256, &p) == -EINVAL);
	CHECK(shim_pool_create(s, "pool", 1u << 20, 256, &p) == -ENOMEM); /* 64 MB are all there is */
	CHECK(shim_pool_create(s, "pool", 1u << 17, 2048, &p) == -ENOMEM);
	CHECK(shim_pool_create(s, "pool", 64, 256, &p) == 0);
	for (i = 0; i < DPDK_RINGS; i++)
		s->shared->ring[i] = (struct rte_ring *)(uintptr_t)64;
	CHECK(shim_ring_create(s, "ring", 8, SHIM_RING_SP_SC, &r) == -ENOMEM);
	memset(s->shared->ring, 0, sizeof(s->shared->ring));
	CHECK(shim_ring_create(s, "ring", 8, SHIM_RING_SP_SC, &r) == 0); /* and its name is free */
	CHECK(s->shared->ring[0] == r);
	shim_ring_free(s, r);
	CHECK(s->shared->ring[0] == NULL);
	shim_dpdk_close(s);
}

/* SHM-2 */
static void
test_limits_of_pools_and_rings(void **state)
{
	(void)state;
	in_a_process(limits);
}

static void
drivers_way(void)
{
	struct shim *s = door();
	struct shim_pool *p;
	struct rte_mbuf *m, *n;
	void *obj[2];

	CHECK(shim_pool_create(s, "pool", 64, 256, &p) == 0);
	m = rte_pktmbuf_alloc(shim_dpdk_mempool(p)); /* as a driver does */
	CHECK(m != NULL && m->dynfield1[8] == 0);
	n = shim_buf_alloc(s, p);
	CHECK(n != NULL && n->dynfield1[8] == (SHIM_BUF_UNSTAMPED | shim_cache_id(s)));
	CHECK(rte_mempool_avail_count(shim_dpdk_mempool(p)) == 62);
	/* A successor with the dead one's lcore id finds what that left, but what a driver took. */
	CHECK(shim_pool_sweep(s, p, 3, shim_cache_id(s)) > 0);
	CHECK(n->dynfield1[8] == 0 && shim_pool_avail(s, p) == 63);
	n = shim_buf_alloc(s, p);
	rte_pktmbuf_free(n);
	CHECK(n->dynfield1[8] == 0);
	/* A thread without an lcore id. */
	RTE_PER_LCORE(_lcore_id) = LCORE_ID_ANY;
	CHECK(rte_mempool_get_bulk(shim_dpdk_mempool(p), obj, 2) == 0);
	n = shim_buf_alloc(s, p);
	CHECK(n != NULL && n->dynfield1[8] == 0);
	shim_buf_free(s, n);
	rte_mempool_put_bulk(shim_dpdk_mempool(p), obj, 2);
	RTE_PER_LCORE(_lcore_id) = 0;
	rte_pktmbuf_free(m);
	CHECK(shim_pool_avail(s, p) == 64);
	shim_pool_free(s, p);
	shim_dpdk_close(s);
}

/* SHM-2, REL-18 */
static void
test_drivers_and_other_threads_use_the_pool(void **state)
{
	(void)state;
	in_a_process(drivers_way);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_door_needs_the_field_of_the_marks),
		cmocka_unit_test(test_programs_must_have_the_handler_at_one_place),
		cmocka_unit_test(test_limits_of_pools_and_rings),
		cmocka_unit_test(test_drivers_and_other_threads_use_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Death at every instruction (REL-18): each operation on buffers and rings is run by a process that is killed before its first
 * instruction, its second, and so on to its end. After each death the ring is recovered, the process swept, and every buffer is
 * there, each once. The processor's single step counts: no instruction is passed over.
 *
 * usage: steps_BACKEND [stride [first [operation]]]
 * Only each stride-th instruction, from the first-th on (without: from any of the first stride, another in each run); only one
 * operation.
 */
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFS 64u /* caches of 8 and 4 more */
#define RING 16u
#define MARK 7u
#define TAKER 9u
#define MOST 60u

struct bed {
	struct shim *s;
	struct shim_pool *pool;
	struct rte_ring *ring;
	struct shim_ring_end in, out; /* of the ring, for those operations that take it for hostile */
	struct rte_mbuf *m[MOST];
	unsigned int n;
};

static struct bed bed;
static uint32_t *cache_id; /* in a zone */

/* ---- operations; each begins with ten buffers in bed.m, every second one stamped ---- */

static void
do_alloc(struct bed *b)
{
	unsigned int i;

	for (i = 0; i < 12; i++) /* the cache runs empty on the way */
		b->m[b->n++] = shim_buf_alloc(b->s, b->pool);
}

static void
do_alloc_bulk(struct bed *b)
{
	if (shim_buf_alloc_bulk(b->s, b->pool, b->m + b->n, 25) == 0)
		b->n += 25;
}

static void
do_alloc_too_many(struct bed *b)
{
	if (shim_buf_alloc_bulk(b->s, b->pool, b->m + b->n, 55) == 0)
		_exit(1);
}

static void
do_free(struct bed *b)
{
	while (b->n > 0)
		shim_buf_free(b->s, b->m[--b->n]);
}

static void
do_free_bulk(struct bed *b)
{
	shim_buf_free_bulk(b->s, b->m, b->n);
	b->n = 0;
}

static void
do_free_chain(struct bed *b)
{
	shim_buf_chain(b->m[0], b->m[1]);
	shim_buf_chain(b->m[0], b->m[2]);
	shim_buf_free(b->s, b->m[0]);
}

static void
do_stamp(struct bed *b)
{
	unsigned int i;

	for (i = 0; i < b->n; i++)
		shim_buf_mark_set(b->m[i], MARK);
}

/* The clone goes first, then the original; and the other way round. */
static void
do_clone(struct bed *b)
{
	struct rte_mbuf *c = shim_buf_clone(b->s, b->m[0], b->pool), *d = shim_buf_clone(b->s, b->m[1], b->pool);

	shim_buf_free(b->s, c);
	shim_buf_free(b->s, b->m[0]);
	shim_buf_free(b->s, b->m[1]);
	shim_buf_free(b->s, d);
}

static void
do_copy(struct bed *b)
{
	shim_buf_free(b->s, shim_buf_copy(b->s, b->m[0], b->pool, 0, UINT32_MAX));
}

static void
do_give(struct bed *b)
{
	shim_ring_enqueue_burst(b->s, b->ring, (void **)b->m, 5);
	shim_ring_enqueue_burst(b->s, b->ring, (void **)(b->m + 5), 1);
}

static void
do_take(struct bed *b)
{
	b->n += shim_ring_take(b->s, b->ring, b->m + b->n, 3, MARK);
	b->n += shim_ring_take(b->s, b->ring, b->m + b->n, 3, MARK);
}

static void
do_put(struct bed *b)
{
	shim_ring_put(b->s, &b->in, b->m, 5);
	shim_ring_put(b->s, &b->in, b->m + 5, 1);
}

static void
do_get(struct bed *b)
{
	b->n += shim_ring_get(b->s, &b->out, b->pool, b->m + b->n, 3, MARK);
	b->n += shim_ring_get(b->s, &b->out, b->pool, b->m + b->n, 3, MARK);
}

static const struct operation {
	const char *name;
	void (*fn)(struct bed *b);
	bool given; /* four of the parent's buffers wait in the ring */
	bool fresh; /* the process has not allocated before */
	bool hostile; /* the ring is one of shim_ring_put and shim_ring_get */
} operations[] = {
	{ "alloc_first", do_alloc_bulk, false, true, false },
	{ "alloc", do_alloc, false, false, false },
	{ "alloc_bulk", do_alloc_bulk, false, false, false },
	{ "alloc_too_many", do_alloc_too_many, false, false, false },
	{ "free", do_free, false, false, false },
	{ "free_bulk", do_free_bulk, false, false, false },
	{ "free_chain", do_free_chain, false, false, false },
	{ "stamp", do_stamp, false, false, false },
	{ "clone", do_clone, false, false, false },
	{ "copy", do_copy, false, false, false },
	{ "give", do_give, false, false, false },
	{ "take", do_take, true, false, false },
	{ "put", do_put, false, false, true },
	{ "get", do_get, true, false, true },
};

/* ---- the process that dies ---- */

static volatile unsigned long steps_left;

static void
on_step(int sig)
{
	(void)sig;
	if (steps_left-- == 0)
		kill(getpid(), SIGKILL);
}

/* The processor's trap flag: from the next instruction on, SIGTRAP after each. */
static inline void
single_step(bool on)
{
	if (on)
		__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc");
	else
		__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static void __attribute__((noreturn))
victim(const struct operation *op, unsigned long steps)
{
	struct sigaction sa = { .sa_handler = on_step };
	unsigned int i;

	bed.s = crash_backend.door(bed.s, 1);
	if (bed.s == NULL || sigaction(SIGTRAP, &sa, NULL) != 0)
		_exit(1);
	*cache_id = shim_cache_id(bed.s);
	if (!op->fresh && shim_buf_alloc_bulk(bed.s, bed.pool, bed.m, 10) != 0)
		_exit(1);
	bed.n = op->fresh ? 0 : 10;
	for (i = 0; i < bed.n; i++) {
		shim_buf_append(bed.m[i], 20);
		if (i % 2 == 0)
			shim_buf_mark_set(bed.m[i], MARK);
	}
	steps_left = steps;
	single_step(true);
	op->fn(&bed);
	single_step(false);
	_exit(0);
}

/* ---- the parent ---- */

static void __attribute__((noreturn))
failed(const struct operation *op, unsigned long step, const char *what, unsigned int n)
{
	fprintf(stderr, "steps: %s, killed at instruction %lu: %s (%u)\n", op->name, step, what, n);
	exit(1);
}

static void
check_all(const struct operation *op, unsigned long step)
{
	struct rte_mbuf *m[BUFS];
	unsigned int i, n;

	if (op->hostile)
		n = shim_ring_get(bed.s, &bed.out, bed.pool, m, RING, TAKER);
	else
		n = shim_ring_take(bed.s, bed.ring, m, RING, TAKER);
	if (bed.out.wrong != NULL || bed.out.bad != 0)
		failed(op, step, "the ring is taken for damaged", (unsigned int)bed.out.bad);
	for (i = 0; i < n; i++)
		if (rte_mbuf_refcnt_read(m[i]) != 1 || shim_buf_mark(m[i]) != TAKER)
			failed(op, step, "a buffer of the ring is not as given", i);
	shim_buf_free_bulk(bed.s, m, n);
	n = shim_pool_avail(bed.s, bed.pool);
	if (n != BUFS)
		failed(op, step, "buffers are there", n);
	if (shim_buf_alloc_bulk(bed.s, bed.pool, m, BUFS) != 0)
		failed(op, step, "not all can be had", n);
	for (i = 0; i < BUFS; i++)
		*shim_buf_data_off(m[i], uint32_t *, 0) = i;
	for (i = 0; i < BUFS; i++)
		if (*shim_buf_data_off(m[i], uint32_t *, 0) != i || !RTE_MBUF_DIRECT(m[i]) || m[i]->next != NULL)
			failed(op, step, "a buffer is there twice, or not as made", i);
	shim_buf_free_bulk(bed.s, m, BUFS);
}

/* One death (or none, when the operation is shorter). True: it died. */
static bool
one(const struct operation *op, unsigned long step)
{
	struct rte_mbuf *m[4];
	int status = 0;
	pid_t pid;

	*cache_id = UINT32_MAX;
	shim_ring_attach(bed.s, &bed.in, bed.ring, "steps", RING);
	shim_ring_attach(bed.s, &bed.out, bed.ring, "steps", RING);
	if (shim_ring_succeed(bed.s, &bed.in, SHIM_RING_PRODUCER) != 0 ||
	    shim_ring_succeed(bed.s, &bed.out, SHIM_RING_CONSUMER) != 0)
		failed(op, step, "the ring is damaged", 0);
	if (op->given) {
		if (shim_buf_alloc_bulk(bed.s, bed.pool, m, 4) != 0 || (op->hostile ?
		    shim_ring_put(bed.s, &bed.in, m, 4) : shim_ring_enqueue_burst(bed.s, bed.ring, (void **)m, 4)) != 4)
			failed(op, step, "no buffers to give", 0);
	}
	pid = fork();
	if (pid == 0)
		victim(op, step);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		failed(op, step, "no process", 0);
	if (!WIFSIGNALED(status) && status != 0)
		failed(op, step, "it did not do its work", (unsigned int)WEXITSTATUS(status));
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		failed(op, step, "it ended by signal", (unsigned int)WTERMSIG(status));
	if (shim_ring_recover(bed.s, bed.ring, op->given ? SHIM_RING_CONSUMER : SHIM_RING_PRODUCER) != 0)
		failed(op, step, "the ring is not recovered", 0);
	if (shim_ring_succeed(bed.s, op->given ? &bed.out : &bed.in, op->given ? SHIM_RING_CONSUMER : SHIM_RING_PRODUCER) != 0)
		failed(op, step, "the ring is not succeeded to", 0);
	shim_pool_sweep(bed.s, bed.pool, MARK, *cache_id);
	check_all(op, step);
	return WIFSIGNALED(status);
}

int
main(int argc, char **argv)
{
	unsigned long stride = argc > 1 ? strtoul(argv[1], NULL, 0) : 1, first, step, deaths = 0;
	unsigned int i;
	void *zone;
	int rc;

#ifndef __x86_64__
	fprintf(stderr, "steps: single steps are done for x86-64 only\n");
	return 77;
#endif
	if (stride == 0)
		stride = 1;
	first = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)getpid() % stride;
	rc = crash_backend.open(&bed.s);
	if (rc != 0)
		return rc;
	if (shim_pool_create(bed.s, "steps", BUFS, 256, &bed.pool) != 0 ||
	    shim_zone_reserve(bed.s, "steps_id", sizeof(*cache_id), &zone) != 0 ||
	    shim_ring_create(bed.s, "steps", RING, SHIM_RING_SP_SC, &bed.ring) != 0)
		return 1;
	cache_id = zone;
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (argc > 3 && strcmp(operations[i].name, argv[3]) != 0)
			continue;
		for (step = first; one(&operations[i], step); step += stride)
			deaths++;
		if (getenv("STEPS_VERBOSE") != NULL)
			fprintf(stderr, "steps: %s: %lu instructions\n", operations[i].name, step);
		if (step < first + 20 && stride == 1)
			failed(&operations[i], step, "it took too few instructions to be true", 0);
	}
	if (deaths == 0) { /* a memory checker's processor, for one */
		fprintf(stderr, "steps: this processor does no single steps\n");
		return 77;
	}
	fprintf(stderr, "steps: %lu deaths (every %lu instructions from %lu), every buffer there after each\n",
		deaths, stride, first);
	crash_backend.close(bed.s);
	return 0;
}

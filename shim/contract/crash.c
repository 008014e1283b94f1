/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real processes that allocate, free, clone and hand over buffers as fast as they can, and are killed at any instant (REL-18).
 * After each death the dead one's ring sides are recovered and it is swept; the others go on; and again and again, with all of
 * them dead, every buffer is there. Each buffer says in its bytes who has it, so that one given to two is found out.
 *
 * usage: crash_BACKEND [kills [seed]]
 */
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 3u
#define BUFS 1000u /* caches of 125 and 62 more: lists are filled and emptied all the time */
#define RING 64u
#define HOLD 96u
#define BURST 40u
#define WAIT_NS 20000000000ull

/* In a zone: what a child tells. */
struct told {
	uint64_t turns;
	uint32_t cache_id;
	uint32_t wrong; /* line of the check that failed */
};

struct child {
	struct shim_proc proc;
	uint32_t life;
};

static struct shim *primary;
static struct shim_pool *pool;
static struct rte_ring *ring[CHILDREN]; /* from child i to child i + 1 */
static struct told *told;
static struct child child[CHILDREN];

static uint64_t
rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* ---- a child ---- */

struct life {
	struct shim *s;
	unsigned int me;
	uint32_t mark;
	uint64_t rng;
	struct shim_ring_end in, out; /* of the ring to the next child, and from the one before */
	struct rte_mbuf *held[HOLD];
	unsigned int n;
};

static void
expect(struct life *l, bool ok, uint32_t line)
{
	if (ok)
		return;
	told[l->me].wrong = line;
	_exit(1);
}

static uint64_t *
owner_of(struct rte_mbuf *m)
{
	return shim_buf_data_off(m, uint64_t *, 0);
}

static void
hold(struct life *l, struct rte_mbuf *m)
{
	*owner_of(m) = l->mark;
	l->held[l->n++] = m;
}

static struct rte_mbuf *
let_go(struct life *l)
{
	struct rte_mbuf *m;
	unsigned int i = (unsigned int)(rnd(&l->rng) % l->n);

	m = l->held[i];
	l->held[i] = l->held[--l->n];
	expect(l, *owner_of(m) == l->mark, __LINE__);
	expect(l, rte_mbuf_refcnt_read(m) == 1, __LINE__);
	return m;
}

static void
take_some(struct life *l)
{
	struct rte_mbuf *m[BURST];
	unsigned int i, n = 1 + (unsigned int)(rnd(&l->rng) % BURST);
	bool stamp = (rnd(&l->rng) & 1) != 0;

	if (l->n + n > HOLD)
		return;
	if (n == 1) {
		m[0] = shim_buf_alloc(l->s, pool);
		if (m[0] == NULL)
			return;
	} else if (shim_buf_alloc_bulk(l->s, pool, m, n) != 0) {
		return;
	}
	for (i = 0; i < n; i++) {
		shim_buf_append(m[i], 64);
		if (stamp)
			shim_buf_mark_set(m[i], l->mark);
		hold(l, m[i]);
	}
}

static void
free_some(struct life *l)
{
	struct rte_mbuf *m[BURST];
	unsigned int i, n = (unsigned int)(rnd(&l->rng) % BURST);

	for (i = 0; i < n && l->n > 0; i++)
		m[i] = let_go(l);
	if (i == 1)
		shim_buf_free(l->s, m[0]);
	else
		shim_buf_free_bulk(l->s, m, i);
}

/* A clone or a copy that lives shortly; the original goes first now and then. */
static void
copy_one(struct life *l)
{
	struct rte_mbuf *m, *c;

	if (l->n == 0)
		return;
	m = let_go(l);
	c = (rnd(&l->rng) & 1) != 0 ? shim_buf_clone(l->s, m, pool) : shim_buf_copy(l->s, m, pool, 0, UINT32_MAX);
	if (c != NULL && (rnd(&l->rng) & 1) != 0)
		shim_buf_mark_set(c, l->mark);
	if ((rnd(&l->rng) & 1) != 0) {
		shim_buf_free(l->s, m);
		m = NULL;
	}
	shim_buf_free(l->s, c);
	shim_buf_free(l->s, m);
}

static void
give_some(struct life *l)
{
	struct rte_mbuf *m[BURST];
	unsigned int i, k, n = (unsigned int)(rnd(&l->rng) % BURST);

	for (i = 0; i < n && l->n > 0; i++) {
		m[i] = let_go(l);
		shim_buf_mark_set(m[i], l->mark);
	}
	k = shim_ring_put(l->s, &l->in, m, i);
	for (; k < i; k++)
		l->held[l->n++] = m[k];
}

static void
take_from_ring(struct life *l)
{
	struct rte_mbuf *m[BURST];
	unsigned int i, n = (unsigned int)(rnd(&l->rng) % BURST);

	if (n > HOLD - l->n)
		n = HOLD - l->n;
	n = shim_ring_get(l->s, &l->out, pool, m, n, l->mark);
	expect(l, l->in.wrong == NULL && l->out.wrong == NULL && l->out.bad == 0, __LINE__);
	for (i = 0; i < n; i++)
		hold(l, m[i]);
}

static void
live(unsigned int me, uint32_t mark, uint64_t seed)
{
	struct life l = { .me = me, .mark = mark, .rng = seed | 1 };

	l.s = crash_backend.door(primary, me + 1);
	expect(&l, l.s != NULL, __LINE__);
	told[me].cache_id = shim_cache_id(l.s);
	shim_ring_attach(l.s, &l.in, ring[me], "to the next", RING);
	shim_ring_attach(l.s, &l.out, ring[(me + CHILDREN - 1) % CHILDREN], "from the last", RING);
	expect(&l, shim_ring_succeed(l.s, &l.in, SHIM_RING_PRODUCER) == 0, __LINE__);
	expect(&l, shim_ring_succeed(l.s, &l.out, SHIM_RING_CONSUMER) == 0, __LINE__);
	for (;;) {
		switch (rnd(&l.rng) % 5) {
		case 0: take_some(&l); break;
		case 1: free_some(&l); break;
		case 2: copy_one(&l); break;
		case 3: give_some(&l); break;
		default: take_from_ring(&l); break;
		}
		shim_store64(l.s, &told[me].turns, told[me].turns + 1, SHIM_RELEASE);
	}
}

/* ---- the parent ---- */

static void __attribute__((noreturn))
die(const char *what, unsigned int i)
{
	fprintf(stderr, "crash: child %u: %s\n", i, what);
	for (i = 0; i < CHILDREN; i++)
		if (child[i].proc.pid != 0)
			kill((pid_t)child[i].proc.pid, SIGKILL);
	exit(1);
}

/* The names of a child that nobody has waited for. */
static struct shim_proc
proc_of(pid_t pid, unsigned int i)
{
	struct shim_proc p = { .pid = (uint32_t)pid };
	char path[32], line[512];
	unsigned long long start;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL || fgets(line, sizeof(line), f) == NULL || sscanf(line, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u "
	    "%*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start) != 1)
		die("not in /proc", i);
	fclose(f);
	p.start_time = start;
	return p;
}

static uint32_t
mark_of(unsigned int i)
{
	return 1 + i + CHILDREN * (child[i].life % 1000);
}

static void
start(unsigned int i, uint64_t seed)
{
	pid_t parent = getpid(), pid;

	child[i].life++;
	told[i].cache_id = UINT32_MAX; /* until it says so it has allocated nothing */
	pid = fork();
	if (pid < 0)
		die("no fork", i);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			live(i, mark_of(i), seed);
		_exit(1);
	}
	child[i].proc = proc_of(pid, i);
}

static void
end(unsigned int i)
{
	int status, rc = shim_proc_kill(primary, &child[i].proc);

	if (waitpid((pid_t)child[i].proc.pid, &status, 0) < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || rc != 0) {
		fprintf(stderr, "crash: kill %d, status %#x, check in line %u\n", rc, (unsigned int)status, told[i].wrong);
		die("ended by itself", i);
	}
	child[i].proc.pid = 0;
	if (shim_ring_recover(primary, ring[i], SHIM_RING_PRODUCER) != 0 ||
	    shim_ring_recover(primary, ring[(i + CHILDREN - 1) % CHILDREN], SHIM_RING_CONSUMER) != 0)
		die("its ring is not recovered", i);
	shim_pool_sweep(primary, pool, mark_of(i), told[i].cache_id);
}

/* Every living child goes on. */
static void
see_progress(void)
{
	uint64_t was, give_up = shim_clock_ns(primary) + WAIT_NS;
	unsigned int i;

	for (i = 0; i < CHILDREN; i++) {
		was = shim_load64(primary, &told[i].turns, SHIM_ACQUIRE);
		while (child[i].proc.pid != 0 && shim_load64(primary, &told[i].turns, SHIM_ACQUIRE) == was) {
			if (shim_clock_ns(primary) > give_up)
				die("stands still", i);
			shim_sleep_ns(primary, 20000);
		}
	}
}

/* With everybody dead and the rings emptied, the pool has all it had. */
static void
count_all(unsigned int kills)
{
	struct rte_mbuf *m[RING];
	struct shim_ring_end e;
	unsigned int i, n;

	for (i = 0; i < CHILDREN; i++) {
		shim_ring_attach(primary, &e, ring[i], "left", RING);
		shim_ring_succeed(primary, &e, SHIM_RING_CONSUMER);
		n = shim_ring_get(primary, &e, pool, m, RING, 900000);
		shim_buf_free_bulk(primary, m, n);
	}
	n = shim_pool_avail(primary, pool);
	if (n != BUFS) {
		fprintf(stderr, "crash: %u of %u buffers after %u kills\n", n, BUFS, kills);
		exit(1);
	}
	/* And they are there indeed, each once. */
	{
		struct rte_mbuf *all[BUFS];

		if (shim_buf_alloc_bulk(primary, pool, all, BUFS) != 0) {
			fprintf(stderr, "crash: not all of the pool's buffers can be had after %u kills\n", kills);
			exit(1);
		}
		for (i = 0; i < BUFS; i++)
			*owner_of(all[i]) = i;
		for (i = 0; i < BUFS; i++)
			if (*owner_of(all[i]) != i || shim_buf_mark(all[i]) != 0 || !RTE_MBUF_DIRECT(all[i])) {
				fprintf(stderr, "crash: a buffer is there twice, or not as made, after %u kills\n", kills);
				exit(1);
			}
		shim_buf_free_bulk(primary, all, BUFS);
	}
}

static void
make_bed(void)
{
	char name[SHIM_NAME_MAX];
	unsigned int i;
	void *zone;

	if (shim_pool_create(primary, "crash", BUFS, 512, &pool) != 0 ||
	    shim_zone_reserve(primary, "crash_told", CHILDREN * sizeof(*told), &zone) != 0)
		die("no bed", 0);
	told = zone;
	for (i = 0; i < CHILDREN; i++) {
		snprintf(name, sizeof(name), "crash%u", i);
		if (shim_ring_create(primary, name, RING, SHIM_RING_SP_SC, &ring[i]) != 0)
			die("no ring", i);
	}
}

int
main(int argc, char **argv)
{
	unsigned int kills = argc > 1 ? (unsigned int)atoi(argv[1]) : 240, done = 0, i;
	uint64_t rng = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)getpid() * 2654435761u;
	int rc = crash_backend.open(&primary);

	if (rc != 0)
		return rc;
	fprintf(stderr, "crash: seed %llu\n", (unsigned long long)rng);
	rng |= 1;
	make_bed();
	while (done < kills) {
		for (i = 0; i < CHILDREN; i++)
			if (child[i].proc.pid == 0)
				start(i, rnd(&rng));
		see_progress();
		shim_sleep_ns(primary, rnd(&rng) % 1000000);
		end((unsigned int)(rnd(&rng) % CHILDREN));
		done++;
		see_progress();
		if (done % 12 != 0)
			continue;
		for (i = 0; i < CHILDREN; i++)
			if (child[i].proc.pid != 0) {
				end(i);
				done++;
			}
		count_all(done);
	}
	for (i = 0; i < CHILDREN; i++)
		if (child[i].proc.pid != 0)
			end(i);
	count_all(done);
	fprintf(stderr, "crash: %u kills, every buffer there\n", done);
	crash_backend.close(primary);
	return 0;
}

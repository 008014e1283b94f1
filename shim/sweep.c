/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking back the buffers that a dead process held. What is read here may be in the hands of living processes, and what the
 * dead one left may be anything: an address is followed only after it was found in the pool's list.
 */
#include "sweep.h"

#include <stdlib.h>

#include "buf.h"

#define PASSES 3 /* a clone that another process was just freeing is gone in the next */

/* Of one buffer: references it had, then how many clones of it were found. Clones vanish and do not come, so that refs less
 * clones is never too much, and refs that have not grown since are not too few. */
struct tally {
	uint16_t refs, clones;
};

unsigned int
sweep_find(struct rte_mbuf *const *m, unsigned int n, const void *p)
{
	unsigned int lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if ((uintptr_t)m[mid] < (uintptr_t)p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && m[lo] == p ? lo : n;
}

/* The place of the buffer whose bytes the clone c looks at; n: it is not in this pool. */
static unsigned int
original_of(struct rte_mbuf *const *m, unsigned int n, const struct rte_mbuf *c)
{
	return sweep_find(m, n, (const char *)c->buf_addr - sizeof(*c) - c->priv_size);
}

static void
count(struct rte_mbuf *const *m, unsigned int n, struct tally *t)
{
	unsigned int i, o;

	for (i = 0; i < n; i++)
		t[i] = (struct tally){ .refs = rte_mbuf_refcnt_read(m[i]) };
	for (i = 0; i < n; i++) {
		if ((m[i]->ol_flags & RTE_MBUF_F_INDIRECT) == 0)
			continue;
		o = original_of(m, n, m[i]);
		if (o < n)
			t[o].clones++;
	}
}

/*
 * A clone of the dead process's. An original with the same mark is counted afterwards; of another's, one reference is dropped if
 * it has more than clones: else the process may have died just after it dropped that itself, and the original stays out.
 */
static void
clone_home(struct rte_mbuf *const *m, unsigned int n, struct tally *t, uint32_t mark, unsigned int i,
	void (*home)(void *ctx, unsigned int i), void *ctx)
{
	unsigned int o = original_of(m, n, m[i]);

	home(ctx, i);
	if (o == n || shim_buf_mark(m[o]) == mark || t[o].refs <= t[o].clones)
		return;
	t[o].refs--;
	t[o].clones--;
	rte_mbuf_refcnt_update(m[o], -1); /* the others' are left */
}

/* A buffer with bytes of its own (or of the dead process's own memory, which is gone). True if it went home. */
static bool
original_home(struct rte_mbuf *b, const struct tally *t, unsigned int i, void (*home)(void *ctx, unsigned int i),
	void *ctx)
{
	int own = t->refs - t->clones;

	if (t->clones == 0) {
		home(ctx, i);
		return true;
	}
	/* The process's own references are gone already, or a clone is going just now: it goes home with its last clone. */
	if (own <= 0 || rte_mbuf_refcnt_read(b) != t->refs)
		return false;
	b->dynfield1[8] = 0; /* this segment only: its chain may lead anywhere */
	if (rte_mbuf_refcnt_update(b, (int16_t)-own) != 0)
		return false;
	home(ctx, i);
	return true;
}

static unsigned int
pass(struct rte_mbuf *const *m, unsigned int n, struct tally *t, uint32_t mark,
	void (*home)(void *ctx, unsigned int i), void *ctx)
{
	unsigned int i, done = 0;

	count(m, n, t);
	for (i = 0; i < n; i++)
		if (shim_buf_mark(m[i]) == mark && (m[i]->ol_flags & RTE_MBUF_F_INDIRECT) != 0) {
			clone_home(m, n, t, mark, i, home, ctx);
			done++;
		}
	if (done > 0)
		count(m, n, t);
	for (i = 0; i < n; i++)
		if (shim_buf_mark(m[i]) == mark && original_home(m[i], &t[i], i, home, ctx))
			done++;
	return done;
}

unsigned int
sweep_marked(struct rte_mbuf *const *m, unsigned int n, uint32_t mark, void (*home)(void *ctx, unsigned int i),
	void *ctx)
{
	struct tally *t = malloc(n * sizeof(*t) + 1);
	unsigned int i, done = 0;

	if (t == NULL || mark == 0) {
		free(t);
		return 0;
	}
	for (i = 0; i < PASSES; i++)
		done += pass(m, n, t, mark, home, ctx);
	free(t);
	return done;
}

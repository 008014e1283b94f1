/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking back the buffers that a dead process held. What is read here may be in the hands of living processes, and what the
 * dead one left may be anything: an address is followed only after it was found in the pool's list.
 *
 * Why it takes nothing that somebody else has. A buffer's word is changed by who has it, and the dead one does not change any
 * more: only a ring's consumer can have taken a buffer over from it. shim_ring_take stamps before the ring's tail passes the
 * buffer. So rings are looked at first and words afterwards: a buffer that was no more in its ring has its new word by then.
 */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"

#define PASSES 3 /* a clone that another process was just freeing is gone in the next */

/*
 * Of one buffer: references it had, then how many clones of it were found. Clones of what only the dead process had vanish and do
 * not come: refs less clones is not too much, and not too little but when one vanishes between.
 */
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

void
sweep_ring(const struct sweep *w, const struct rte_ring *r, uint32_t size, bool *in_ring)
{
	uint32_t at = __atomic_load_n(&r->cons.tail, __ATOMIC_ACQUIRE);
	uint32_t end = __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE);
	void *const *slot = (void *const *)(r + 1);
	const struct rte_mbuf *seg;
	unsigned int i, left;

	if (end - at > size) /* moved on in between, or no ring looks so: every slot */
		at = end - size;
	for (; at != end; at++)
		for (seg = slot[at & (size - 1)], left = w->n; seg != NULL && left > 0; seg = seg->next, left--) {
			i = sweep_find(w->m, w->n, seg);
			if (i == w->n)
				break;
			in_ring[i] = true;
		}
}

/* The place of the buffer whose bytes the clone c looks at; n: it is not in this pool. */
static unsigned int
original_of(const struct sweep *w, const struct rte_mbuf *c)
{
	return sweep_find(w->m, w->n, (const char *)c->buf_addr - sizeof(*c) - c->priv_size);
}

static bool
is_clone(const struct rte_mbuf *b)
{
	return (b->ol_flags & RTE_MBUF_F_INDIRECT) != 0;
}

static bool
wanted(const struct sweep *w, unsigned int i)
{
	uint32_t word = __atomic_load_n(&w->m[i]->dynfield1[8], __ATOMIC_ACQUIRE);

	word = shim_buf_word(word); /* it may have died on the way into a ring, or out of it */
	return word != 0 && (word == w->mark || word == w->note);
}

static void
count(const struct sweep *w, struct tally *t)
{
	unsigned int i, o;

	for (i = 0; i < w->n; i++)
		t[i] = (struct tally){ .refs = rte_mbuf_refcnt_read(w->m[i]) };
	for (i = 0; i < w->n; i++) {
		if (!is_clone(w->m[i]))
			continue;
		o = original_of(w, w->m[i]);
		if (o < w->n)
			t[o].clones++;
	}
}

/*
 * A clone of the dead process's. An original that was its too is looked at afterwards; another's, or a ring's, loses one reference if it has
 * more of them than clones: else the process may have died just after it dropped that itself, and the original stays out.
 */
static void
clone_home(const struct sweep *w, struct tally *t, const bool *in_ring, unsigned int i)
{
	unsigned int o = original_of(w, w->m[i]);

	w->home(w->ctx, i);
	if (o == w->n || o == i || (wanted(w, o) && !in_ring[o]) || t[o].refs <= t[o].clones)
		return;
	t[o].refs--;
	t[o].clones--;
	rte_mbuf_refcnt_update(w->m[o], -1); /* the others' are left */
}

/* A buffer with bytes of its own, or of the dead process's own memory, which is gone with it. True if it went home. */
static bool
original_home(const struct sweep *w, const struct tally *t, unsigned int i)
{
	struct rte_mbuf *b = w->m[i];
	int own = t->refs - t->clones;

	if (t->clones == 0) {
		w->home(w->ctx, i);
		return true;
	}
	/* The process's own references are gone already, or a clone is going just now: it goes home with its last clone. */
	if (own <= 0 || rte_mbuf_refcnt_read(b) != t->refs)
		return false;
	b->dynfield1[8] = 0; /* this segment only: its chain may lead anywhere */
	if (rte_mbuf_refcnt_update(b, (int16_t)-own) != 0)
		return false;
	w->home(w->ctx, i);
	return true;
}

static unsigned int
pass(const struct sweep *w, struct tally *t, bool *in_ring)
{
	unsigned int i, done = 0;

	memset(in_ring, 0, w->n * sizeof(*in_ring));
	if (w->rings != NULL)
		w->rings(w->ctx, w, in_ring);
	count(w, t);
	for (i = 0; i < w->n; i++)
		if (!in_ring[i] && wanted(w, i) && is_clone(w->m[i])) {
			clone_home(w, t, in_ring, i);
			done++;
		}
	if (done > 0)
		count(w, t);
	for (i = 0; i < w->n; i++)
		if (!in_ring[i] && wanted(w, i) && !is_clone(w->m[i]) && original_home(w, &t[i], i))
			done++;
	return done;
}

unsigned int
sweep_run(const struct sweep *w)
{
	struct tally *t = malloc(w->n * sizeof(*t) + 1);
	bool *in_ring = malloc(w->n * sizeof(*in_ring) + 1);
	unsigned int i, done = 0;

	for (i = 0; i < PASSES && t != NULL && in_ring != NULL; i++)
		done += pass(w, t, in_ring);
	free(t);
	free(in_ring);
	return done;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The free buffers of a pool, safe against the death of any process at any instruction.
 *
 * What a dead process wrote is a beginning of what it was going to write, in program order: stores here are ordered for the
 * compiler, and instructions that were executed take effect whatever becomes of the process. So each step below leaves what a
 * sweeper can finish or undo, and the steps of a living process never wait for a dead one's.
 *
 * The cache. Three words tell of it: the buffers obj[], their number (in level) and the number it is going to be (target).
 *   get   (1) notes in the buffers  (2) target lower  (3) level lower.
 *         Died before (3): they are in the cache still, whatever their notes. After: they are out, with a note, or with 0 when
 *         a driver took them, who alone knows then (README).
 *   put   (1) buffers above the level  (2) target higher  (3) words 0  (4) level higher.
 *         Died before (2): they are out still, with the word they had. Between (2) and (4): target is above the level, and the
 *         cache ends at target. After (4): done. A word is never 0 before the cache has the buffer for sure, so that
 *         what bears a dead process's mark is never in the pool.
 *
 * The common list. A stack of indexes: the head word names the first, next[] the following. Taking k walks k links from the
 * head it read and swaps the head for the one after; giving k links them among themselves and swaps the head for the first. The tag
 * in the head grows with each swap: if a swap succeeds, nothing has changed since the head was read, so that the links that
 * were walked belonged together. Links of buffers in the list do not change: only who has taken a buffer writes its link.
 *   Whoever dies before its swap has changed nothing that others see. Whoever dies after it, but before its level says so,
 *   leaves a cache with buffers that are in the list already (push), or buffers that are in no list at all (pop). The sweeper must
 *   know whether the last swap that the dead one tried was made. Each try has a tag of its own, which the dead one
 *   wrote down with what it was going to move (op last). The head names the owner of the last swap; and before anybody swaps
 *   such a head away, it writes that owner's tag into won[]. So: the swap was made if the head has the tag and the
 *   owner, or else won[] of the owner has the tag. Before a try the owner puts the tag it read into its won[] itself: the next one
 *   is never there already, and a helper that comes late finds a newer tag and leaves it.
 *   The level holds the cache's number and the owner's balance with the list in one word: the sum that freelist_count makes is the
 *   same before and after a move, and a death between swap and level is put right with it.
 *
 * The sweeper works in the dead owner's place and by the same steps: a sweeper that dies can be swept after in turn.
 *
 * Every index and length that is read is checked; a list that somebody overwrote gives fewer buffers, and no wrong address.
 */
#include "freelist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

#define MAGIC 0x6e6f6e6963667265ull
#define NIL 0xffffffu
#define ANON_ID 0xffu  /* in a head */
#define CHUNK 64u      /* a long put or get goes in steps of this */
#define UNUSED 0xffffffffu /* the level of a cache that was never used: too much for a put, nothing for a get */

static uint32_t *
next_of(const struct freelist *f)
{
	return (uint32_t *)((char *)(uintptr_t)f + f->next_off);
}

static uint64_t
head_make(uint32_t tag, unsigned int owner, uint32_t first)
{
	return (uint64_t)tag << 32 | (uint64_t)(owner < FREELIST_OWNERS ? owner : ANON_ID) << 24 | first;
}

static uint32_t
head_tag(uint64_t h)
{
	return (uint32_t)(h >> 32);
}

static unsigned int
head_owner(uint64_t h)
{
	return (unsigned int)(h >> 24) & 0xff;
}

static uint32_t
head_first(uint64_t h)
{
	return (uint32_t)h & NIL;
}

/* ---- making ---- */

static void
sizes(struct freelist *f, uint32_t n)
{
	/* A cache may hold half as much again as it is filled to: a small pool must not end up in caches. */
	f->n = n;
	f->cache = RTE_MIN(FREELIST_CACHE, n / 8);
	f->limit = f->cache + f->cache / 2;
	f->room = f->limit + CHUNK;
	f->own_size = sizeof(struct freelist_own) + RTE_ALIGN_CEIL((uint64_t)f->room, 8u) * sizeof(void *);
	f->next_off = sizeof(*f) + FREELIST_OWNERS * f->own_size;
	f->table_off = f->next_off + RTE_ALIGN_CEIL((uint64_t)n * sizeof(uint32_t), 64u);
}

size_t
freelist_size(uint32_t n)
{
	struct freelist f;

	sizes(&f, n);
	return RTE_ALIGN_CEIL(f.table_off + (uint64_t)n * sizeof(void *), 64u);
}

void
freelist_init(struct freelist *f, uint32_t n, int32_t index_off)
{
	unsigned int i;

	memset(f, 0, freelist_size(n));
	sizes(f, n);
	f->magic = MAGIC;
	f->index_off = index_off;
	f->head = head_make(0, ANON_ID, NIL);
	for (i = 0; i < FREELIST_OWNERS; i++) {
		freelist_own(f, i)->note = SHIM_BUF_UNSTAMPED | i;
		freelist_own(f, i)->level = UNUSED;
	}
}

static uint32_t *
index_at(const struct freelist *f, void *m)
{
	return (uint32_t *)((char *)m + f->index_off);
}

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

bool
freelist_add(struct freelist *f, struct rte_mbuf *m)
{
	struct rte_mbuf **table = freelist_table(f);
	uint32_t i, *next = next_of(f);

	if (freelist_ready(f))
		return false;
	table[f->made] = m;
	if (f->made + 1 < f->n) {
		f->made++;
		return true;
	}
	qsort(table, f->n, sizeof(*table), by_address);
	for (i = 0; i < f->n; i++) {
		*index_at(f, table[i]) = i;
		next[i] = i + 1 < f->n ? i + 1 : NIL;
	}
	f->stride = ((uintptr_t)table[f->n - 1] - (uintptr_t)table[0]) / RTE_MAX(f->n - 1, 1u);
	f->anon_net = f->n;
	f->head = head_make(1, ANON_ID, 0);
	__atomic_store_n(&f->made, f->n, __ATOMIC_RELEASE);
	return true;
}

/* The buffer's index, or n: it is none of the list's. What is noted in its memory is a hint. */
static uint32_t
index_of(const struct freelist *f, void *m)
{
	uint32_t i = *index_at(f, m);

	if (i < f->n && freelist_table(f)[i] == m)
		return i;
	return sweep_find(freelist_table(f), f->n, m);
}

bool
freelist_owns(const struct freelist *f, const void *p)
{
	struct rte_mbuf *const *table = freelist_table(f);
	uintptr_t a = (uintptr_t)p, first;
	uint64_t i;

	if (!freelist_ready(f))
		return false;
	first = (uintptr_t)table[0];
	if (a < first || a > (uintptr_t)table[f->n - 1])
		return false;
	i = f->stride > 0 ? (a - first) / f->stride : 0;
	return (i < f->n && table[i] == p) || sweep_find(table, f->n, p) < f->n;
}

/* ---- the common list ---- */

static uint32_t
cached(const struct freelist *f, const struct freelist_own *o)
{
	uint32_t len = (uint32_t)o->level;

	return len <= f->room ? len : 0;
}

/* Before the head is swapped away: its owner is told that its swap was made. */
static void
acknowledge(struct freelist *f, uint64_t h)
{
	uint32_t *won, seen;

	if (head_owner(h) >= FREELIST_OWNERS)
		return;
	won = &f->won[head_owner(h)];
	seen = __atomic_load_n(won, __ATOMIC_RELAXED);
	while ((int32_t)(head_tag(h) - seen) > 0)
		if (__atomic_compare_exchange_n(won, &seen, head_tag(h), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			break;
}

/* One try. The journal of the owner (NULL: none) is ready but for its tag and op, which is `op`. */
static bool
swap(struct freelist *f, struct freelist_own *o, unsigned int owner, enum freelist_op op, uint64_t *h, uint32_t first)
{
	acknowledge(f, *h);
	if (o != NULL) {
		__atomic_store_n(&f->won[owner], head_tag(*h), __ATOMIC_RELAXED);
		o->tag = head_tag(*h) + 1;
		__atomic_store_n(&o->op, op, __ATOMIC_RELEASE);
	}
	if (__atomic_compare_exchange_n(&f->head, h, head_make(head_tag(*h) + 1, owner, first), false, __ATOMIC_ACQ_REL,
	    __ATOMIC_ACQUIRE))
		return true;
	if (o != NULL)
		__atomic_store_n(&o->op, FREELIST_NONE, __ATOMIC_RELEASE);
	return false;
}

/* Takes up to `most` buffers, at least `least`, or none: returns how many, *first the first of the chain. */
static uint32_t
pop(struct freelist *f, struct freelist_own *o, unsigned int owner, uint32_t most, uint32_t least, uint32_t *first)
{
	uint64_t h = __atomic_load_n(&f->head, __ATOMIC_ACQUIRE);
	const uint32_t *next = next_of(f);
	uint32_t i, k;

	for (;;) {
		i = head_first(h);
		for (k = 0; k < most && i < f->n; k++)
			i = __atomic_load_n(&next[i], __ATOMIC_RELAXED);
		if (k < least || k == 0) {
			uint64_t again = __atomic_load_n(&f->head, __ATOMIC_ACQUIRE);

			if (again == h)
				return 0;
			h = again;
			continue;
		}
		*first = head_first(h);
		if (o != NULL) {
			o->before = cached(f, o);
			o->first = *first;
			o->moved = k;
		}
		if (swap(f, o, owner, FREELIST_POP, &h, i < f->n ? i : NIL))
			return k;
	}
}

/* A chain of k buffers becomes the list's beginning; its links are made but for the last. */
static void
push(struct freelist *f, struct freelist_own *o, unsigned int owner, uint32_t first, uint32_t last)
{
	uint64_t h = __atomic_load_n(&f->head, __ATOMIC_ACQUIRE);

	do
		__atomic_store_n(&next_of(f)[last], head_first(h), __ATOMIC_RELAXED);
	while (!swap(f, o, owner, FREELIST_PUSH, &h, first));
}

/* Links m[0 .. n), the last one first, leaving out what is not of the list. Returns how many, *first and *last of them. */
static uint32_t
chain(struct freelist *f, void *const *m, uint32_t n, uint32_t *first, uint32_t *last)
{
	uint32_t *next = next_of(f), i, idx, k = 0;

	for (i = n; i > 0; i--) {
		idx = index_of(f, m[i - 1]);
		if (idx == f->n)
			continue;
		if (k == 0)
			*first = idx;
		else
			__atomic_store_n(&next[*last], idx, __ATOMIC_RELAXED);
		*last = idx;
		k++;
	}
	return k;
}

/* ---- between cache and list ---- */

static uint64_t
level_make(uint32_t len, uint32_t net)
{
	return (uint64_t)net << 32 | len;
}

/* k buffers of a popped chain are put above the first `len` of the cache, the list's first one on top. */
static void
unchain(struct freelist *f, struct freelist_own *o, uint32_t len, uint32_t first, uint32_t k)
{
	const uint32_t *next = next_of(f);
	uint32_t i = first, j;

	for (j = 0; j < k && i < f->n; j++) {
		o->obj[len + k - 1 - j] = freelist_table(f)[i];
		i = next[i];
	}
	for (; j < k; j++)
		o->obj[len + k - 1 - j] = NULL; /* the links were overwritten: recovery finds no buffer there */
}

static void
level_set(struct freelist_own *o, uint32_t len, uint32_t net)
{
	__atomic_store_n(&o->target, len, __ATOMIC_RELEASE);
	freelist_level(o, level_make(len, net));
	__atomic_store_n(&o->op, FREELIST_NONE, __ATOMIC_RELEASE);
}

/* From the first use on the level of an owner counts. */
static void
mark_used(struct freelist *f, unsigned int owner)
{
	uint64_t bit = 1ull << (owner % 64), *w = &f->used[owner / 64];

	if ((__atomic_load_n(w, __ATOMIC_RELAXED) & bit) != 0)
		return;
	if (freelist_own(f, owner)->level == UNUSED)
		freelist_level(freelist_own(f, owner), 0);
	__atomic_fetch_or(w, bit, __ATOMIC_RELAXED);
}

/* The top k of the cache go into the list. */
static void
flush(struct freelist *f, unsigned int owner, uint32_t k)
{
	struct freelist_own *o = freelist_own(f, owner);
	uint32_t len = cached(f, o), net = (uint32_t)(o->level >> 32), first = NIL, last = NIL, stored;

	stored = chain(f, o->obj + len - k, k, &first, &last);
	if (stored > 0) {
		o->before = len;
		o->moved = k;
		o->stored = stored;
		push(f, o, owner, first, last);
	}
	level_set(o, len - k, net + stored);
}

/* Fills the cache from the list so that it has at least `need`. */
static bool
refill(struct freelist *f, unsigned int owner, uint32_t need)
{
	struct freelist_own *o = freelist_own(f, owner);
	uint32_t len = cached(f, o), first, k;

	mark_used(f, owner);
	k = pop(f, o, owner, RTE_MIN(need - len + f->cache, f->room - len), need - len, &first);
	if (k == 0)
		return false;
	unchain(f, o, len, first, k);
	level_set(o, len + k, (uint32_t)(o->level >> 32) - k);
	return true;
}

/* ---- the long ways ---- */

static int
anon_get(struct freelist *f, void **m, unsigned int n)
{
	uint32_t first, i;

	if (n == 0)
		return 0;
	if (pop(f, NULL, ANON_ID, n, n, &first) == 0)
		return -ENOBUFS;
	__atomic_fetch_sub(&f->anon_net, n, __ATOMIC_RELAXED);
	for (i = 0; i < n && first < f->n; i++) {
		m[i] = freelist_table(f)[first];
		first = next_of(f)[first];
	}
	return 0;
}

static void
anon_put(struct freelist *f, void *const *m, unsigned int n)
{
	uint32_t first = NIL, last = NIL, k, i;

	for (i = 0; i < n; i++)
		freelist_word(m[i], 0);
	k = chain(f, m, n, &first, &last);
	if (k == 0)
		return;
	push(f, NULL, ANON_ID, first, last);
	__atomic_fetch_add(&f->anon_net, k, __ATOMIC_RELAXED);
}

int
freelist_get_slow(struct freelist *f, unsigned int owner, void **m, unsigned int n, bool note)
{
	unsigned int done, k;

	if (!freelist_ready(f))
		return -ENOBUFS;
	if (owner >= FREELIST_OWNERS)
		return anon_get(f, m, n);
	for (done = 0; done < n; done += k) {
		k = RTE_MIN(n - done, CHUNK);
		if (cached(f, freelist_own(f, owner)) < k && !refill(f, owner, k)) {
			/* all or none: what was taken for it is there for everybody again, not in this owner's cache only */
			freelist_put(f, owner, m, done);
			if (done > 0)
				flush(f, owner, cached(f, freelist_own(f, owner)));
			return -ENOBUFS;
		}
		freelist_get(f, owner, m + done, k, note);
	}
	return 0;
}

void
freelist_put_slow(struct freelist *f, unsigned int owner, void *const *m, unsigned int n)
{
	struct freelist_own *o;
	unsigned int done, k, i;
	uint32_t len, net;

	if (owner >= FREELIST_OWNERS) {
		anon_put(f, m, n);
		return;
	}
	o = freelist_own(f, owner);
	mark_used(f, owner);
	for (done = 0; done < n; done += k) {
		k = RTE_MIN(n - done, CHUNK);
		len = cached(f, o);
		if (len + k > f->limit && len > 0)
			flush(f, owner, RTE_MIN(len, len + k - f->cache)); /* the new ones, which are warm, stay */
		len = cached(f, o);
		net = (uint32_t)(o->level >> 32);
		for (i = 0; i < k; i++)
			o->obj[len + i] = m[done + i];
		__atomic_store_n(&o->target, len + k, __ATOMIC_RELEASE);
		for (i = 0; i < k; i++)
			freelist_word(m[done + i], 0);
		freelist_level(o, level_make(len + k, net));
		if (len + k > f->limit)
			flush(f, owner, len + k - f->cache);
	}
}

/* ---- looking, sweeping ---- */

unsigned int
freelist_count(const struct freelist *f)
{
	int64_t sum = __atomic_load_n(&f->anon_net, __ATOMIC_RELAXED);
	uint64_t used, level;
	unsigned int i, owner;

	if (!freelist_ready(f))
		return f->made;
	for (i = 0; i < FREELIST_OWNERS / 64; i++)
		for (used = __atomic_load_n(&f->used[i], __ATOMIC_RELAXED); used != 0; used &= used - 1) {
			owner = i * 64 + (unsigned int)__builtin_ctzll(used);
			level = __atomic_load_n(&freelist_own(f, owner)->level, __ATOMIC_RELAXED);
			sum += (int64_t)(int32_t)(level >> 32) + (uint32_t)level;
		}
	return sum < 0 ? 0 : sum > f->n ? f->n : (unsigned int)sum;
}

static bool
swap_was_made(const struct freelist *f, const struct freelist_own *o, unsigned int owner)
{
	uint64_t h = __atomic_load_n(&f->head, __ATOMIC_ACQUIRE);

	if (head_owner(h) == owner && head_tag(h) == o->tag)
		return true;
	return __atomic_load_n(&f->won[owner], __ATOMIC_ACQUIRE) == o->tag;
}

/* Finishes or undoes what the dead owner was doing: its level tells the truth then. */
static void
finish(struct freelist *f, struct freelist_own *o, unsigned int owner)
{
	uint32_t len = cached(f, o), net = (uint32_t)(o->level >> 32);
	bool made = o->op != FREELIST_NONE && o->before == len && o->moved <= f->room && swap_was_made(f, o, owner);

	if (made && o->op == FREELIST_PUSH && o->moved <= len) {
		level_set(o, len - o->moved, net + o->stored);
	} else if (made && o->op == FREELIST_POP && o->moved <= f->room - len) {
		unchain(f, o, len, o->first, o->moved);
		level_set(o, len + o->moved, net - o->moved);
	} else if (o->target > len && o->target <= f->room) {
		level_set(o, o->target, net);
	} else {
		level_set(o, len, net);
	}
}

int
freelist_recover(struct freelist *f, unsigned int owner)
{
	struct freelist_own *o;
	uint32_t i, idx, len, good = 0;
	bool *seen;

	if (owner >= FREELIST_OWNERS)
		return 0;
	seen = calloc(f->n, sizeof(*seen));
	if (seen == NULL)
		return -ENOMEM;
	o = freelist_own(f, owner);
	mark_used(f, owner);
	finish(f, o, owner);
	len = cached(f, o);
	for (i = 0; i < len; i++) {
		idx = sweep_find(freelist_table(f), f->n, o->obj[i]);
		if (idx == f->n || seen[idx])
			continue;
		seen[idx] = true;
		freelist_word(o->obj[i], 0);
		o->obj[good++] = o->obj[i];
	}
	free(seen);
	level_set(o, good, (uint32_t)(o->level >> 32));
	if (good > 0)
		flush(f, owner, good);
	return (int)good;
}

bool
freelist_idle(const struct freelist *f, unsigned int owner)
{
	const struct freelist_own *o = freelist_own(f, owner);

	return cached(f, o) == 0 && o->op == FREELIST_NONE && (o->target == 0 || o->target > f->room);
}

unsigned int
freelist_sweep(struct freelist *f, unsigned int owner, struct sweep *w)
{
	int n = 0;

	if (owner < FREELIST_OWNERS) {
		n = freelist_recover(f, owner);
		if (n < 0)
			return 0;
		w->note = freelist_own(f, owner)->note;
	}
	return (unsigned int)n + sweep_run(w);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The free buffers of a pool in shared memory: a list that all share and a cache for each process, of which any may die at any
 * instruction (REL-18). Why that harms nobody is said in freelist.c. For shim/ only.
 *
 * The calls of one owner come from one thread at a time. FREELIST_ANON and above: any thread, without a cache; what such a
 * thread was moving when it died is lost.
 */
#ifndef NONIC_SHIM_FREELIST_H
#define NONIC_SHIM_FREELIST_H

#include <rte_mbuf.h>

#include "buf.h"

#define FREELIST_OWNERS 128u /* owners are 0 .. 127 */
#define FREELIST_ANON 128u
#define FREELIST_MAX 0xfffffeu /* buffers of a list */
#define FREELIST_CACHE 256u

enum freelist_op { FREELIST_NONE, FREELIST_PUSH, FREELIST_POP };

/* An owner's cache and what it is just doing. Written by the owner; by a sweeper when that is dead. */
struct freelist_own {
	/* Low half: buffers in obj. High half: those it put into the common list, less those it took (two's complement). */
	uint64_t level;
	uint32_t target; /* what the low half is going to be */
	uint32_t note;   /* the word of its buffers until they are stamped: SHIM_BUF_UNSTAMPED and its id */
	/* A move to or from the common list that is under way; op is written last and cleared first. */
	uint32_t op, tag, before, first, moved, stored;
	void *obj[] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

struct freelist {
	uint64_t magic;
	uint32_t n, made;        /* buffers, and how many have been added so far */
	uint32_t cache;          /* a cache is refilled and emptied to this */
	uint32_t limit, room;    /* most it keeps, most it can hold */
	int32_t index_off;       /* from a buffer to the four bytes in its memory that hold its index */
	uint64_t own_size, next_off, table_off;
	uint64_t stride;         /* between two buffers as a rule: where to look for one */
	uint64_t used[FREELIST_OWNERS / 64]; /* owners that ever had anything; bits only come */
	int64_t anon_net;        /* as the high half of a level, of all without a cache */
	/* Tag (32 bits, one more with every change), owner of the last change (8), index of the first buffer (24). */
	uint64_t head __attribute__((aligned(64)));
	/* The last tag that each owner is known to have set. */
	uint32_t won[FREELIST_OWNERS] __attribute__((aligned(64)));
};

/* Bytes of shared memory, aligned to 64, for n buffers, 1 .. FREELIST_MAX. */
size_t freelist_size(uint32_t n);
/* Makes the memory a list that waits for its n buffers. index_off: a multiple of 4. */
void freelist_init(struct freelist *f, uint32_t n, int32_t index_off);
/* The next buffer; with the last one the list is ready. In any order. False: there are n already. */
bool freelist_add(struct freelist *f, struct rte_mbuf *m);
static inline bool
freelist_ready(const struct freelist *f)
{
	return f->made == f->n;
}

/* The buffers in order of address. */
static inline struct rte_mbuf **
freelist_table(const struct freelist *f)
{
	return (struct rte_mbuf **)((char *)(uintptr_t)f + f->table_off);
}

static inline struct freelist_own *
freelist_own(const struct freelist *f, unsigned int owner)
{
	return (struct freelist_own *)((char *)(uintptr_t)f + sizeof(*f) + owner * f->own_size);
}

/* Is p the address of a buffer of the list? p is not looked into. A few loads, but for memory in several pieces. */
bool freelist_owns(const struct freelist *f, const void *p);

/* Free ones, those in caches too. Exact when nobody moves any. */
unsigned int freelist_count(const struct freelist *f);

/*
 * A dead owner's cache goes into the common list, with what it had half done put right; nobody is that owner meanwhile. Buffers
 * in it that are not of the list, or in it twice, are left out. Returns how many. Needs some private memory: -ENOMEM.
 */
int freelist_recover(struct freelist *f, unsigned int owner);

/* Is the owner's cache empty, with nothing half done? */
bool freelist_idle(const struct freelist *f, unsigned int owner);

struct sweep;
/* shim_pool_sweep for a pool over the list: the dead owner's cache, then what it had out. w has everything but the note. */
unsigned int freelist_sweep(struct freelist *f, unsigned int owner, struct sweep *w);

/* The long ways of the two below. */
int freelist_get_slow(struct freelist *f, unsigned int owner, void **m, unsigned int n, bool note);
void freelist_put_slow(struct freelist *f, unsigned int owner, void *const *m, unsigned int n);

/* A level with the count of buffers that came to (or left) the cache. */
static __rte_always_inline void
freelist_level(struct freelist_own *o, uint64_t level)
{
	__atomic_store_n(&o->level, level, __ATOMIC_RELEASE);
}

static __rte_always_inline void
freelist_word(void *m, uint32_t word)
{
	__atomic_store_n(&((struct rte_mbuf *)m)->dynfield1[8], word, __ATOMIC_RELEASE);
}

/* All n or none, the last freed ones first. note: they get the owner's word, else they keep 0. 0 or -ENOBUFS. */
static __rte_always_inline int
freelist_get(struct freelist *f, unsigned int owner, void **m, unsigned int n, bool note)
{
	struct freelist_own *o;
	uint64_t level;
	uint32_t len, i;

	if (unlikely(owner >= FREELIST_OWNERS))
		return freelist_get_slow(f, owner, m, n, note);
	o = freelist_own(f, owner);
	level = o->level;
	len = (uint32_t)level;
	if (unlikely(len < n || len > f->room))
		return freelist_get_slow(f, owner, m, n, note);
	for (i = 0; i < n; i++) {
		m[i] = o->obj[len - 1 - i];
		if (note)
			freelist_word(m[i], o->note);
	}
	__atomic_store_n(&o->target, len - n, __ATOMIC_RELEASE);
	freelist_level(o, level - n);
	return 0;
}

static __rte_always_inline void
freelist_put(struct freelist *f, unsigned int owner, void *const *m, unsigned int n)
{
	struct freelist_own *o;
	uint64_t level;
	uint32_t len, i;

	if (unlikely(owner >= FREELIST_OWNERS)) {
		freelist_put_slow(f, owner, m, n);
		return;
	}
	o = freelist_own(f, owner);
	level = o->level;
	len = (uint32_t)level;
	if (unlikely((uint64_t)len + n > f->limit)) {
		freelist_put_slow(f, owner, m, n);
		return;
	}
	for (i = 0; i < n; i++)
		o->obj[len + i] = m[i];
	__atomic_store_n(&o->target, len + n, __ATOMIC_RELEASE);
	for (i = 0; i < n; i++)
		freelist_word(m[i], 0);
	freelist_level(o, level + n);
}

#endif

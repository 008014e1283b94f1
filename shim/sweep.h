/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking back the buffers that a dead process held, for every kind of pool (REL-18). For shim/ only. */
#ifndef NONIC_SHIM_SWEEP_H
#define NONIC_SHIM_SWEEP_H

#include <rte_mbuf.h>
#include <rte_ring.h>

struct sweep {
	/* The pool's buffers, at least all that are out, in order of address. The word of one that is in the pool is 0. */
	struct rte_mbuf *const *m;
	unsigned int n;
	/* Words of buffers that the dead process held: its mark, and the pool's note (SHIM_BUF_UNSTAMPED); 0: none. */
	uint32_t mark, note;
	/* Makes m[i] what it was when the pool was made, whatever is in it, and gives it to the pool. The memory stays. */
	void (*home)(void *ctx, unsigned int i);
	/* Calls sweep_ring for every ring that may hold such buffers; NULL: none does. */
	void (*rings)(void *ctx, const struct sweep *w, bool *in_ring);
	void *ctx;
};

/*
 * Takes home every buffer with one of the two words that is in no ring. Returns how many, or 0 without memory.
 *
 * References: a clone counts one in its original, and other processes may drop clones meanwhile. An original goes home when no
 * clone refers to it; else it gives up the dead process's own references and goes home with the last clone. What is in motion
 * is left alone, and found by the next call.
 */
unsigned int sweep_run(const struct sweep *w);

/*
 * Sets in_ring[] of the buffers, chains whole, that are in the ring now; it may be in use, and hold anything. size: its slots, a power
 * of two, known from elsewhere.
 */
void sweep_ring(const struct sweep *w, const struct rte_ring *r, uint32_t size, bool *in_ring);

/* The slots of a ring whose memory is that many bytes: at least one. */
static inline uint32_t
sweep_ring_size(size_t bytes)
{
	size_t n = bytes > sizeof(struct rte_ring) ? (bytes - sizeof(struct rte_ring)) / sizeof(void *) : 0;

	return n >= 2 && n <= RTE_RING_SZ_MASK ? 1u << (31 - __builtin_clz((uint32_t)n)) : 1;
}

/* The place of p in m[0 .. n), which is in order of address; n: it is not there. p is not looked into. */
unsigned int sweep_find(struct rte_mbuf *const *m, unsigned int n, const void *p);

#endif

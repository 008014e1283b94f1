/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking back the buffers that a dead process held, for every kind of pool (REL-18). For shim/ only. */
#ifndef NONIC_SHIM_SWEEP_H
#define NONIC_SHIM_SWEEP_H

#include <rte_mbuf.h>

/*
 * Takes home every buffer of m[0 .. n) (in order of address) that bears the mark, which is not 0, of a process that is dead:
 * the pool's buffers, at least all that are out. A buffer in the pool has mark 0. home(ctx, i) makes m[i] what it was when the
 * pool was made, whatever is in it, and gives it to the pool; the memory stays until the end. Returns how many went home.
 *
 * References: a clone counts one in its original, and other processes may drop clones meanwhile. An original goes home when no
 * clone refers to it; else it gives up the dead process's own references and goes home with the last clone. What is in motion
 * is left alone, and found by the next call.
 */
unsigned int sweep_marked(struct rte_mbuf *const *m, unsigned int n, uint32_t mark,
	void (*home)(void *ctx, unsigned int i), void *ctx);

/* The place of p in m[0 .. n), which is in order of address and has no NULL; n: it is not there. p is not looked into. */
unsigned int sweep_find(struct rte_mbuf *const *m, unsigned int n, const void *p);

#endif

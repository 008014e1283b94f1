/* SPDX-License-Identifier: BSD-3-Clause */
/* What both bindings do to a ring besides calling it. */
#ifndef NONIC_SHIM_RING_H
#define NONIC_SHIM_RING_H

#include <errno.h>
#include <rte_ring.h>

#include "buf.h"
#include "types.h"

/*
 * A side that one process uses moves its head, copies, then moves its tail, which the other side looks at. One that died in
 * between left head before tail's new place: the head goes back, and nobody has seen anything.
 */
static inline int
ring_recover(struct rte_ring *r, enum shim_ring_side side)
{
	struct rte_ring_headtail *ht = side == SHIM_RING_PRODUCER ? &r->prod : &r->cons;

	if (ht->sync_type != RTE_RING_SYNC_ST)
		return -EINVAL;
	ht->head = __atomic_load_n(&ht->tail, __ATOMIC_ACQUIRE);
	return 0;
}

/* shim_ring_take: look, stamp, and only then move the tail, by which the buffers leave the ring. */
static inline unsigned int
ring_take(struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	uint32_t at = r->cons.tail; /* one consumer: nobody else moves it */
	uint32_t there = __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE) - at;
	unsigned int i;

	if (there > r->capacity)
		return 0; /* no ring looks so */
	if (n > there)
		n = there;
	__rte_ring_dequeue_elems(r, at, m, sizeof(*m), n);
	for (i = 0; i < n; i++)
		shim_buf_mark_set(m[i], mark);
	r->cons.head = at + n;
	__atomic_store_n(&r->cons.tail, at + n, __ATOMIC_RELEASE);
	return n;
}

#endif

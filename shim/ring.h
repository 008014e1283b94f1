/* SPDX-License-Identifier: BSD-3-Clause */
/* What both bindings do to a ring besides calling it. */
#ifndef NONIC_SHIM_RING_H
#define NONIC_SHIM_RING_H

#include <errno.h>
#include <rte_ring.h>

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

#endif

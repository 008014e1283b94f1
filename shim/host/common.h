/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts that host backends share: names, the real rte_ring in given memory, words, random numbers. */
#ifndef NONIC_SHIM_HOST_COMMON_H
#define NONIC_SHIM_HOST_COMMON_H

#include <stdarg.h>

#include "../sys.h"
#include "../types.h"
#include "ops.h"

/* 0 or -EINVAL: DPDK's rule for a ring's count (a power of two, not over 2^31 - 1) and our flags. */
int host_ring_check(unsigned int count, unsigned int flags);
/* Bytes of memory a ring of that count needs; count has passed host_ring_check. */
size_t host_ring_size(unsigned int count);
/* Makes host_ring_size(count) bytes at mem, 128-byte aligned, a ring: rte_ring_init. 0 or -errno. */
int host_ring_init(void *mem, const char *name, unsigned int count, unsigned int flags);

/* Entries for a struct shim_ops: the real ring code. */
unsigned int host_ring_enqueue_burst(struct shim *s, struct rte_ring *r, void *const *objs,
	unsigned int n);
unsigned int host_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs,
	unsigned int n);
unsigned int host_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark);
unsigned int host_ring_count(struct shim *s, const struct rte_ring *r);
unsigned int host_ring_capacity(struct shim *s, const struct rte_ring *r);
int host_ring_recover(struct shim *s, struct rte_ring *r, enum shim_ring_side side);
unsigned int host_ring_put(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n);
unsigned int host_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m, unsigned int n,
	uint32_t mark);

/* Entries for a struct shim_ops: the compiler's atomics, always sequentially consistent. */
uint64_t host_load(struct shim *s, const void *w, int size, enum shim_order o);
void host_store(struct shim *s, void *w, int size, uint64_t v, enum shim_order o);
bool host_cas(struct shim *s, void *w, int size, uint64_t *expect, uint64_t v, enum shim_order o);
uint64_t host_fetch_add(struct shim *s, void *w, int size, uint64_t v, enum shim_order o);
void host_fence(struct shim *s, enum shim_order o);

/* The next number of the sequence whose state is *state (splitmix64). */
uint64_t host_random_next(uint64_t *state);

/* Entries for a struct shim_ops that ask the machine: processes, POSIX clocks in ns. */
int host_proc_kill(struct shim *s, const struct shim_proc *p);
uint64_t host_clock_ns(struct shim *s);
uint64_t host_wall_ns(struct shim *s);
void host_sleep_ns(struct shim *s, uint64_t ns);

#endif

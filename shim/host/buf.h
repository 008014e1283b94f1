/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet buffers of the host binding: one implementation over any backend's pool (SHM-2). */
#ifndef NONIC_SHIM_HOST_BUF_H
#define NONIC_SHIM_HOST_BUF_H

#include <rte_mbuf.h>

#include "../sweep.h"
#include "../types.h"

/*
 * In the host binding m->pool is the buffer's struct shim_pool, cast. DPDK's inlines that look into
 * the rte_mempool behind a buffer (alloc, free, detach) must not be called on these buffers.
 */
static inline struct shim_pool *
host_buf_pool(const struct rte_mbuf *m)
{
	return (struct shim_pool *)m->pool;
}

/* Bytes of memory of one buffer of a pool with that data room. */
static inline size_t
host_buf_size(uint16_t data_room)
{
	return sizeof(struct rte_mbuf) + data_room;
}

/*
 * For backends: makes host_buf_size(data_room) bytes of memory, aligned to 64, a buffer of p: one segment,
 * direct, reference count 1. To be called before the buffer is first handed out by ops->buf_alloc.
 */
void host_buf_init(struct rte_mbuf *m, struct shim_pool *p, uint16_t data_room);

/* These are the shim_buf_* functions of shim.h. */
struct rte_mbuf *host_buf_alloc(struct shim *s, struct shim_pool *p);
int host_buf_alloc_bulk(struct shim *s, struct shim_pool *p, struct rte_mbuf **m, unsigned int n);
void host_buf_free(struct shim *s, struct rte_mbuf *m);
struct rte_mbuf *host_buf_clone(struct shim *s, struct rte_mbuf *m, struct shim_pool *p);
struct rte_mbuf *host_buf_copy(struct shim *s, const struct rte_mbuf *m, struct shim_pool *p,
	uint32_t off, uint32_t len);
int host_buf_linearize(struct shim *s, struct rte_mbuf *m);
int host_buf_attach_ext(struct rte_mbuf *m, void *addr, uint16_t len,
	void (*free_cb)(void *addr, void *opaque), void *opaque);

/*
 * For backends whose pool is a list of buffers that are out: sorts m[0 .. n) and takes those home that the dead process held
 * (shim/sweep.h): they are in m[0 .. result) then, as host_buf_init makes them, to be released. rings may be NULL.
 */
unsigned int host_buf_sweep(struct shim_pool *p, uint16_t data_room, struct rte_mbuf **m, unsigned int n,
	struct sweep *w);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Data functions of packet buffers: DPDK's own header inlines under the door's names. */
#ifndef NONIC_SHIM_BUF_H
#define NONIC_SHIM_BUF_H

#include <rte_mbuf.h>

#define shim_buf_data(m) rte_pktmbuf_mtod(m, void *)
#define shim_buf_data_off(m, t, off) rte_pktmbuf_mtod_offset(m, t, off)
#define shim_buf_seg_len(m) rte_pktmbuf_data_len(m)
#define shim_buf_len(m) rte_pktmbuf_pkt_len(m)

static inline uint16_t
shim_buf_headroom(const struct rte_mbuf *m)
{
	return rte_pktmbuf_headroom(m);
}

static inline uint16_t
shim_buf_tailroom(struct rte_mbuf *m)
{
	return rte_pktmbuf_tailroom(rte_pktmbuf_lastseg(m));
}

static inline void *
shim_buf_prepend(struct rte_mbuf *m, uint16_t n)
{
	return rte_pktmbuf_prepend(m, n);
}

static inline void *
shim_buf_append(struct rte_mbuf *m, uint16_t n)
{
	return rte_pktmbuf_append(m, n);
}

static inline void *
shim_buf_adj(struct rte_mbuf *m, uint16_t n)
{
	return rte_pktmbuf_adj(m, n);
}

static inline int
shim_buf_trim(struct rte_mbuf *m, uint16_t n)
{
	return rte_pktmbuf_trim(m, n);
}

static inline const void *
shim_buf_read(const struct rte_mbuf *m, uint32_t off, uint32_t n, void *buf)
{
	return rte_pktmbuf_read(m, off, n, buf);
}

static inline int
shim_buf_chain(struct rte_mbuf *head, struct rte_mbuf *tail)
{
	return rte_pktmbuf_chain(head, tail);
}

static inline void
shim_buf_reset(struct rte_mbuf *m)
{
	rte_pktmbuf_reset(m);
}

/*
 * Stamps every segment of the chain with the process whose hands it is in; 0: nobody's (REL-18). The word is the last of the dynamic
 * fields; the dpdk binding has it reserved.
 */
static inline void
shim_buf_mark_set(struct rte_mbuf *m, uint32_t mark)
{
	for (; m != NULL; m = m->next)
		m->dynfield1[8] = mark;
}

/* In the word of the mark: the pool's note of a buffer that its taker has not stamped yet, with the taker's cache id. */
#define SHIM_BUF_UNSTAMPED 0x80000000u

/*
 * Beside the mark or the note: the buffer is in a ring (shim_ring_put), and is being taken out of it. A buffer that a ring's slot points
 * at and that is not said to be in a ring is somebody's, or the pool's.
 */
#define SHIM_BUF_IN_RING 0x40000000u
#define SHIM_BUF_TAKING 0x20000000u
#define SHIM_BUF_MARK_MAX 0x1fffffffu

/* The word without what it says of rings. */
static inline uint32_t
shim_buf_word(uint32_t word)
{
	return word & ~(SHIM_BUF_IN_RING | SHIM_BUF_TAKING);
}

/* A mark is at most SHIM_BUF_MARK_MAX. */
static inline uint32_t
shim_buf_mark(const struct rte_mbuf *m)
{
	return (m->dynfield1[8] & SHIM_BUF_UNSTAMPED) != 0 ? 0 : shim_buf_word(m->dynfield1[8]);
}

#endif

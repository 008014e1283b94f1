/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clones and copies of packet buffers, for both bindings. DPDK's own would allocate past the door, and leave in the new buffer who
 * has the old one. Each allocation here bears its own word from the beginning to the end.
 */
#ifndef NONIC_SHIM_COPY_H
#define NONIC_SHIM_COPY_H

#include <rte_mbuf.h>

#include "types.h"

/* shim_buf_alloc and shim_buf_free of a binding. */
typedef struct rte_mbuf *copy_alloc_fn(struct shim *s, struct shim_pool *p);
typedef void copy_free_fn(struct shim *s, struct rte_mbuf *m);

static inline struct rte_mbuf *
copy_clone(struct shim *s, struct rte_mbuf *m, struct shim_pool *p, copy_alloc_fn *alloc, copy_free_fn *release)
{
	struct rte_mbuf *head = NULL, **link = &head, *c;
	uint32_t pkt_len = m->pkt_len, word;
	uint16_t nb_segs = 0;

	for (; m != NULL; m = m->next) {
		c = alloc(s, p);
		if (c == NULL) {
			release(s, head);
			return NULL;
		}
		word = c->dynfield1[8];
		rte_pktmbuf_attach(c, m);
		c->dynfield1[8] = word;
		*link = c;
		link = &c->next;
		nb_segs++;
	}
	head->nb_segs = nb_segs;
	head->pkt_len = pkt_len;
	return head;
}

/* The header of a copy: what the frame is, not where its bytes are. */
static inline struct rte_mbuf *
copy_head(struct shim *s, const struct rte_mbuf *m, struct shim_pool *p, copy_alloc_fn *alloc)
{
	struct rte_mbuf *c = alloc(s, p);
	uint32_t word;

	if (c == NULL)
		return NULL;
	word = c->dynfield1[8];
	__rte_pktmbuf_copy_hdr(c, m);
	c->dynfield1[8] = word;
	c->ol_flags = m->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	return c;
}

static inline struct rte_mbuf *
copy_deep(struct shim *s, const struct rte_mbuf *m, struct shim_pool *p, uint32_t off, uint32_t len,
	copy_alloc_fn *alloc, copy_free_fn *release)
{
	struct rte_mbuf *head, *last;
	uint32_t n;

	if (off >= m->pkt_len)
		return NULL;
	if (len > m->pkt_len - off)
		len = m->pkt_len - off;
	head = last = copy_head(s, m, p, alloc);
	if (head == NULL)
		return NULL;
	head->pkt_len = len;
	while (len > 0) {
		while (off >= m->data_len) {
			off -= m->data_len;
			m = m->next;
		}
		if (rte_pktmbuf_tailroom(last) == 0) {
			last->next = alloc(s, p);
			if (last->next == NULL) {
				release(s, head);
				return NULL;
			}
			last = last->next;
			head->nb_segs++;
		}
		n = RTE_MIN(RTE_MIN(len, m->data_len - off), (uint32_t)rte_pktmbuf_tailroom(last));
		memcpy(rte_pktmbuf_mtod_offset(last, char *, last->data_len), rte_pktmbuf_mtod_offset(m, char *, off), n);
		last->data_len += n;
		off += n;
		len -= n;
	}
	return head;
}

#endif

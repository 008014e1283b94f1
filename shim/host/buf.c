/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference counts, clones, copies and external data of packet buffers over a backend's pool. */
#include "buf.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../copy.h"
#include "ops.h"

void
host_buf_init(struct rte_mbuf *m, struct shim_pool *p, uint16_t data_room)
{
	memset(m, 0, sizeof(*m));
	m->pool = (struct rte_mempool *)p;
	m->buf_addr = (char *)m + sizeof(*m);
	m->buf_iova = (rte_iova_t)(uintptr_t)m->buf_addr;
	m->buf_len = data_room;
	m->port = RTE_MBUF_PORT_INVALID;
	m->nb_segs = 1;
	rte_pktmbuf_reset_headroom(m);
	rte_mbuf_refcnt_set(m, 1);
}

struct rte_mbuf *
host_buf_alloc(struct shim *s, struct shim_pool *p)
{
	struct rte_mbuf *m = s->ops->buf_alloc(s, p);

	if (m == NULL)
		return NULL;
	assert(host_buf_pool(m) == p && rte_mbuf_refcnt_read(m) == 1);
	m->next = NULL;
	rte_pktmbuf_reset(m);
	return m;
}

int
host_buf_alloc_bulk(struct shim *s, struct shim_pool *p, struct rte_mbuf **m, unsigned int n)
{
	unsigned int i;

	/* all or none: what can not be had is not taken into this process's cache, where others miss it */
	if (s->ops->pool_avail(s, p) < n)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		m[i] = host_buf_alloc(s, p);
		if (m[i] != NULL)
			continue;
		while (i > 0)
			host_buf_free(s, m[--i]);
		return -ENOMEM;
	}
	return 0;
}

/* A buffer without references goes home as it was made: one segment, direct, count 1. */
static void
release(struct shim *s, struct rte_mbuf *m)
{
	m->next = NULL;
	m->nb_segs = 1;
	rte_mbuf_refcnt_set(m, 1);
	s->ops->buf_release(s, m);
}

/* Drops one reference of a single segment's own count; true when none is left. */
static bool
unref(struct rte_mbuf *m)
{
	if (rte_mbuf_refcnt_read(m) == 0) {
		/* A second free is memory corruption with a real pool: stop where it happens. */
		fprintf(stderr, "shim: buffer %p freed twice\n", (void *)m);
		abort();
	}
	return rte_mbuf_refcnt_update(m, -1) == 0;
}

/* What rte_pktmbuf_detach does, without its look into a mempool. */
static void
detach(struct shim *s, struct rte_mbuf *m)
{
	uint16_t room = s->ops->pool_data_room(s, host_buf_pool(m));
	struct rte_mbuf *owner;

	if (RTE_MBUF_HAS_EXTBUF(m)) {
		if (rte_mbuf_ext_refcnt_update(m->shinfo, -1) == 0)
			m->shinfo->free_cb(m->buf_addr, m->shinfo->fcb_opaque);
	} else {
		owner = rte_mbuf_from_indirect(m);
		if (unref(owner))
			release(s, owner);
	}
	/* Not host_buf_init: whose it is (the last dynamic field) stays written in it until the pool has it. */
	m->priv_size = 0;
	m->buf_addr = (char *)m + sizeof(*m);
	m->buf_iova = (rte_iova_t)(uintptr_t)m->buf_addr;
	m->buf_len = room;
	rte_pktmbuf_reset_headroom(m);
	m->data_len = 0;
	m->ol_flags = 0;
}

void
host_buf_free(struct shim *s, struct rte_mbuf *m)
{
	struct rte_mbuf *next;

	for (; m != NULL; m = next) {
		next = m->next;
		if (!unref(m))
			continue;
		if (!RTE_MBUF_DIRECT(m))
			detach(s, m);
		release(s, m);
	}
}

struct rte_mbuf *
host_buf_clone(struct shim *s, struct rte_mbuf *m, struct shim_pool *p)
{
	return copy_clone(s, m, p, host_buf_alloc, host_buf_free);
}

struct rte_mbuf *
host_buf_copy(struct shim *s, const struct rte_mbuf *m, struct shim_pool *p, uint32_t off,
	uint32_t len)
{
	return copy_deep(s, m, p, off, len, host_buf_alloc, host_buf_free);
}

int
host_buf_linearize(struct shim *s, struct rte_mbuf *m)
{
	struct rte_mbuf *seg;

	if (m->pkt_len - m->data_len > rte_pktmbuf_tailroom(m))
		return -1;
	for (seg = m->next; seg != NULL; seg = seg->next) {
		memcpy(rte_pktmbuf_mtod_offset(m, char *, m->data_len),
			rte_pktmbuf_mtod(seg, char *), seg->data_len);
		m->data_len += seg->data_len;
	}
	host_buf_free(s, m->next);
	m->next = NULL;
	m->nb_segs = 1;
	return 0;
}

int
host_buf_attach_ext(struct rte_mbuf *m, void *addr, uint16_t len,
	void (*free_cb)(void *addr, void *opaque), void *opaque)
{
	struct rte_mbuf_ext_shared_info *info;

	/* The helper's own check subtracts first; a length below the record would wrap under addr. */
	if (len < sizeof(*info) + sizeof(uintptr_t))
		return -EINVAL;
	info = rte_pktmbuf_ext_shinfo_init_helper(addr, &len, free_cb, opaque);
	if (info == NULL)
		return -EINVAL;
	rte_pktmbuf_attach_extbuf(m, addr, (rte_iova_t)(uintptr_t)addr, len, info);
	return 0;
}

/* ---- what a dead process held ---- */

struct sweep_list {
	struct shim_pool *pool;
	uint16_t data_room;
	struct rte_mbuf **m;
	bool *home;
	void (*rings)(void *ctx, const struct sweep *w, bool *in_ring);
	void *ctx;
};

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)*(struct rte_mbuf *const *)a, y = (uintptr_t)*(struct rte_mbuf *const *)b;

	return (x > y) - (x < y);
}

static void
list_home(void *ctx, unsigned int i)
{
	struct sweep_list *l = ctx;

	host_buf_init(l->m[i], l->pool, l->data_room);
	l->home[i] = true;
}

static void
list_rings(void *ctx, const struct sweep *w, bool *in_ring)
{
	struct sweep_list *l = ctx;

	if (l->rings != NULL)
		l->rings(l->ctx, w, in_ring);
}

unsigned int
host_buf_sweep(struct shim_pool *p, uint16_t data_room, struct rte_mbuf **m, unsigned int n, struct sweep *w)
{
	struct sweep_list l = { .pool = p, .data_room = data_room, .m = m, .home = calloc(n + 1, sizeof(bool)),
		.rings = w->rings, .ctx = w->ctx };
	unsigned int i, done = 0;

	if (l.home == NULL)
		return 0;
	qsort(m, n, sizeof(*m), by_address);
	w->m = m;
	w->n = n;
	w->home = list_home;
	w->rings = list_rings;
	w->ctx = &l;
	sweep_run(w);
	for (i = 0; i < n; i++)
		if (l.home[i])
			m[done++] = m[i];
	free(l.home);
	return done;
}

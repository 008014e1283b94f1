/* SPDX-License-Identifier: BSD-3-Clause */
/* Named pieces of the region: zones, rings, pools of buffers. */
#include <rte_ring.h>
#include <stdio.h>

#include "priv.h"

#define ALIGN64(n) (((n) + 63) & ~(uint64_t)63)

void
posix_lock(struct posix_region *r)
{
	if (pthread_mutex_lock(&r->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&r->lock);
}

void
posix_unlock(struct posix_region *r)
{
	pthread_mutex_unlock(&r->lock);
}

/* Another process wrote the table: an entry that leaves the region is none. */
static bool
entry_sane(const struct posix_region *r, const struct posix_entry *e)
{
	return e->off >= ALIGN64(sizeof(*r)) && e->off <= r->size && e->size <= r->size - e->off &&
		e->asked <= e->size;
}

static struct posix_entry *
entry_find(struct posix_region *r, enum posix_kind kind, const char *name)
{
	unsigned int i;

	for (i = 0; i < POSIX_ENTRIES; i++)
		if (r->entries[i].kind == kind && strncmp(r->entries[i].name, name,
		    SHIM_NAME_MAX) == 0 && entry_sane(r, &r->entries[i]))
			return &r->entries[i];
	return NULL;
}

static struct posix_entry *
entry_find_addr(struct posix_region *r, enum posix_kind kind, const void *addr)
{
	unsigned int i;

	for (i = 0; i < POSIX_ENTRIES; i++)
		if (r->entries[i].kind == kind && (const char *)r + r->entries[i].off == addr)
			return &r->entries[i];
	return NULL;
}

/* The end of an entry that overlaps [off, off + size), or 0. */
static uint64_t
overlap_end(const struct posix_region *r, uint64_t off, uint64_t size)
{
	const struct posix_entry *e;
	unsigned int i;

	for (i = 0; i < POSIX_ENTRIES; i++) {
		e = &r->entries[i];
		if (e->kind != POSIX_FREE && e->off < off + size && off < e->off + e->size)
			return e->off + e->size;
	}
	return 0;
}

/* First fit: jumps over what is in the way until nothing is, or the region ends. 0: no room. */
static uint64_t
place_find(const struct posix_region *r, uint64_t size)
{
	uint64_t off = ALIGN64(sizeof(*r)), end;

	off = (off + 127) & ~(uint64_t)127;
	while (size <= r->size && off <= r->size - size) {
		end = overlap_end(r, off, size);
		if (end == 0)
			return off;
		off = (end + 127) & ~(uint64_t)127; /* a ring's alignment */
	}
	return 0;
}

/* Under the lock: a new piece of zeroed memory with that name, its kind not yet set. */
static int
entry_add(struct posix_region *r, enum posix_kind kind, const char *name, uint64_t size,
	struct posix_entry **out)
{
	struct posix_entry *e = NULL;
	unsigned int i;

	if (entry_find(r, kind, name) != NULL)
		return -EEXIST;
	for (i = 0; i < POSIX_ENTRIES && e == NULL; i++)
		if (r->entries[i].kind == POSIX_FREE)
			e = &r->entries[i];
	if (e == NULL || size > r->size)
		return -ENOMEM;
	e->asked = size;
	e->size = ALIGN64(size);
	e->off = place_find(r, e->size);
	if (e->off == 0)
		return -ENOMEM;
	snprintf(e->name, sizeof(e->name), "%s", name);
	memset((char *)r + e->off, 0, e->size);
	*out = e;
	return 0;
}

static void
entry_publish(struct posix_entry *e, enum posix_kind kind)
{
	__atomic_store_n(&e->kind, kind, __ATOMIC_RELEASE);
}

static void *
entry_addr(struct posix_region *r, const struct posix_entry *e)
{
	return (char *)r + e->off;
}

/* ---- zones ---- */

int
posix_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	struct posix_region *r = posix_region_of(s);
	struct posix_entry *e;
	int rc = size == 0 ? -EINVAL : sys_name_check(name);

	if (rc != 0)
		return rc;
	posix_lock(r);
	rc = entry_add(r, POSIX_ZONE, name, size, &e);
	if (rc == 0) {
		*addr = entry_addr(r, e);
		entry_publish(e, POSIX_ZONE);
	}
	posix_unlock(r);
	return rc;
}

static int
lookup(struct shim *s, enum posix_kind kind, const char *name, void **addr, size_t *size)
{
	struct posix_region *r = posix_region_of(s);
	struct posix_entry *e;

	posix_lock(r);
	e = entry_find(r, kind, name);
	if (e != NULL) {
		*addr = entry_addr(r, e);
		if (size != NULL)
			*size = e->asked;
	}
	posix_unlock(r);
	return e != NULL ? 0 : -ENOENT;
}

int
posix_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size)
{
	return lookup(s, POSIX_ZONE, name, addr, size);
}

int
posix_zone_free(struct shim *s, const char *name)
{
	struct posix_region *r = posix_region_of(s);
	struct posix_entry *e;

	posix_lock(r);
	e = entry_find(r, POSIX_ZONE, name);
	if (e != NULL)
		entry_publish(e, POSIX_FREE);
	posix_unlock(r);
	return e != NULL ? 0 : -ENOENT;
}

/* Ends a ring or pool by its address; one that is not there is a programming error and is left alone. */
static void
free_addr(struct shim *s, enum posix_kind kind, const void *addr)
{
	struct posix_region *r = posix_region_of(s);
	struct posix_entry *e;

	posix_lock(r);
	e = entry_find_addr(r, kind, addr);
	if (e != NULL)
		entry_publish(e, POSIX_FREE);
	posix_unlock(r);
}

/* ---- rings ---- */

int
posix_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out)
{
	struct posix_region *r = posix_region_of(s);
	struct posix_entry *e;
	int rc = host_ring_check(count, flags);

	if (rc == 0)
		rc = sys_name_check(name);
	if (rc != 0)
		return rc;
	posix_lock(r);
	rc = entry_add(r, POSIX_RING, name, host_ring_size(count), &e);
	if (rc == 0)
		rc = host_ring_init(entry_addr(r, e), name, count, flags);
	if (rc == 0) {
		*out = entry_addr(r, e);
		entry_publish(e, POSIX_RING);
	}
	posix_unlock(r);
	return rc;
}

int
posix_ring_lookup(struct shim *s, const char *name, struct rte_ring **out)
{
	void *addr;
	int rc = lookup(s, POSIX_RING, name, &addr, NULL);

	if (rc == 0)
		*out = addr;
	return rc;
}

void
posix_ring_free(struct shim *s, struct rte_ring *r)
{
	free_addr(s, POSIX_RING, r);
}

/* ---- pools ---- */

/* A pool's piece: the pool, its ring, its buffers. */
static uint64_t
pool_bytes(unsigned int n, uint16_t data_room, uint64_t *ring_off, uint64_t *bufs_off)
{
	*ring_off = RTE_ALIGN_CEIL(sizeof(struct shim_pool), (uint64_t)128);
	*bufs_off = *ring_off + ALIGN64(host_ring_size(rte_align32pow2(n + 1)));
	return *bufs_off + (uint64_t)n * ALIGN64(host_buf_size(data_room));
}

static void
pool_fill(struct shim_pool *p, const char *name, char *ring, char *bufs)
{
	struct rte_mbuf *m;
	unsigned int i;

	p->free_bufs = (struct rte_ring *)ring;
	rte_ring_init(p->free_bufs, name, rte_align32pow2(p->size + 1), 0);
	for (i = 0; i < p->size; i++) {
		m = (struct rte_mbuf *)(bufs + (uint64_t)i * ALIGN64(host_buf_size(p->data_room)));
		host_buf_init(m, p, p->data_room);
		rte_ring_enqueue(p->free_bufs, m);
	}
}

int
posix_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out)
{
	struct posix_region *r = posix_region_of(s);
	uint64_t ring_off, bufs_off;
	struct posix_entry *e;
	struct shim_pool *p;
	int rc;

	if (n == 0 || n > RTE_RING_SZ_MASK / 2 || data_room < SHIM_HEADROOM)
		return -EINVAL;
	rc = sys_name_check(name);
	if (rc != 0)
		return rc;
	posix_lock(r);
	rc = entry_add(r, POSIX_POOL, name, pool_bytes(n, data_room, &ring_off, &bufs_off), &e);
	if (rc == 0) {
		p = entry_addr(r, e);
		p->size = n;
		p->data_room = data_room;
		pool_fill(p, name, (char *)p + ring_off, (char *)p + bufs_off);
		*out = p;
		entry_publish(e, POSIX_POOL);
	}
	posix_unlock(r);
	return rc;
}

int
posix_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	void *addr;
	int rc = lookup(s, POSIX_POOL, name, &addr, NULL);

	if (rc == 0)
		*out = addr;
	return rc;
}

void
posix_pool_free(struct shim *s, struct shim_pool *p)
{
	free_addr(s, POSIX_POOL, p);
}

unsigned int
posix_pool_size(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->size;
}

unsigned int
posix_pool_avail(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return rte_ring_count(p->free_bufs);
}

uint16_t
posix_pool_data_room(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->data_room;
}

uint32_t
posix_cache_id(const struct shim *s)
{
	return s->self.pid;
}

/* The pool's ring does not tell a free buffer from another: none is taken from a dead process. */
unsigned int
posix_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	(void)s;
	(void)p;
	(void)mark;
	(void)cache_id;
	return 0;
}

struct rte_mbuf *
posix_buf_alloc(struct shim *s, struct shim_pool *p)
{
	void *m;

	(void)s;
	return rte_ring_dequeue(p->free_bufs, &m) == 0 ? m : NULL;
}

void
posix_buf_release(struct shim *s, struct rte_mbuf *m)
{
	(void)s;
	rte_ring_enqueue(host_buf_pool(m)->free_bufs, m);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Named pieces of the region: zones and rings. */
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

int
posix_piece_make(struct shim *s, enum posix_kind kind, const char *name, uint64_t size,
	int (*init)(void *piece, void *arg), void *arg, void **addr)
{
	struct posix_region *r = posix_region_of(s);
	struct posix_entry *e;
	int rc = sys_name_check(name);

	if (rc != 0)
		return rc;
	posix_lock(r);
	rc = entry_add(r, kind, name, size, &e);
	if (rc == 0 && init != NULL)
		rc = init(entry_addr(r, e), arg);
	if (rc == 0) {
		*addr = entry_addr(r, e);
		entry_publish(e, kind);
	}
	posix_unlock(r);
	return rc;
}

void
posix_pieces(struct posix_region *r, enum posix_kind kind, void (*fn)(void *piece, uint64_t size, void *arg),
	void *arg)
{
	unsigned int i;

	posix_lock(r);
	for (i = 0; i < POSIX_ENTRIES; i++)
		if (r->entries[i].kind == kind && entry_sane(r, &r->entries[i]))
			fn(entry_addr(r, &r->entries[i]), r->entries[i].asked, arg);
	posix_unlock(r);
}

int
posix_piece_lookup(struct shim *s, enum posix_kind kind, const char *name, void **addr, size_t *size)
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

/* ---- zones ---- */

int
posix_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	return size == 0 ? -EINVAL : posix_piece_make(s, POSIX_ZONE, name, size, NULL, NULL, addr);
}

int
posix_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size)
{
	return posix_piece_lookup(s, POSIX_ZONE, name, addr, size);
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

void
posix_piece_free(struct shim *s, enum posix_kind kind, const void *addr)
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

struct ring_facts {
	const char *name;
	unsigned int count, flags;
};

static int
ring_init(void *piece, void *arg)
{
	const struct ring_facts *f = arg;

	return host_ring_init(piece, f->name, f->count, f->flags);
}

int
posix_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out)
{
	struct ring_facts f = { .name = name, .count = count, .flags = flags };
	void *addr;
	int rc = host_ring_check(count, flags);

	if (rc == 0)
		rc = posix_piece_make(s, POSIX_RING, name, host_ring_size(count), ring_init, &f, &addr);
	if (rc == 0)
		*out = addr;
	return rc;
}

int
posix_ring_lookup(struct shim *s, const char *name, struct rte_ring **out)
{
	void *addr;
	int rc = posix_piece_lookup(s, POSIX_RING, name, &addr, NULL);

	if (rc == 0)
		*out = addr;
	return rc;
}

void
posix_ring_free(struct shim *s, struct rte_ring *r)
{
	posix_piece_free(s, POSIX_RING, r);
}

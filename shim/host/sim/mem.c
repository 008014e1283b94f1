/* SPDX-License-Identifier: BSD-3-Clause */
/* Zones and rings of a machine. A ring is the real rte_ring code in memory of its own. */
#include <errno.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <stdlib.h>
#include <string.h>

#include "../../sys.h"
#include "../common.h"
#include "machine.h"

struct sim_zone {
	LIST_ENTRY(sim_zone) link;
	char name[SHIM_NAME_MAX];
	size_t size;
	void *addr;
};

/* In front of the ring itself, which wants 128 bytes of alignment. */
struct sim_ring {
	LIST_ENTRY(sim_ring) link;
	char name[SHIM_NAME_MAX];
} __attribute__((aligned(128)));

static struct rte_ring *
ring_of(struct sim_ring *h)
{
	return (struct rte_ring *)(h + 1);
}

static void *
zeroed(size_t align, size_t n)
{
	size_t whole = (n + align - 1) / align * align;
	void *p = whole < n ? NULL : aligned_alloc(align, whole);

	if (p != NULL)
		memset(p, 0, whole);
	return p;
}

static struct sim_zone *
zone_find(struct sim_machine *m, const char *name)
{
	struct sim_zone *z;

	LIST_FOREACH(z, &m->zones, link)
		if (strcmp(z->name, name) == 0)
			return z;
	return NULL;
}

int
sim_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	struct sim_machine *m = sim_door(s)->machine;
	struct sim_zone *z;
	int rc = sys_name_check(name);

	if (rc != 0)
		return rc;
	if (size == 0)
		return -EINVAL;
	if (zone_find(m, name) != NULL)
		return -EEXIST;
	z = calloc(1, sizeof(*z));
	if (z == NULL)
		return -ENOMEM;
	z->addr = zeroed(64, size);
	if (z->addr == NULL) {
		free(z);
		return -ENOMEM;
	}
	strcpy(z->name, name);
	z->size = size;
	LIST_INSERT_HEAD(&m->zones, z, link);
	*addr = z->addr;
	return 0;
}

int
sim_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size)
{
	int rc = sys_name_check(name);
	struct sim_zone *z = rc == 0 ? zone_find(sim_door(s)->machine, name) : NULL;

	if (z == NULL)
		return rc != 0 ? rc : -ENOENT;
	*addr = z->addr;
	if (size != NULL)
		*size = z->size;
	return 0;
}

static void
zone_release(struct sim_zone *z)
{
	LIST_REMOVE(z, link);
	free(z->addr);
	free(z);
}

int
sim_zone_free(struct shim *s, const char *name)
{
	int rc = sys_name_check(name);
	struct sim_zone *z = rc == 0 ? zone_find(sim_door(s)->machine, name) : NULL;

	if (z == NULL)
		return rc != 0 ? rc : -ENOENT;
	sim_store_drain_all(sim_door(s)->machine);
	zone_release(z);
	return 0;
}

static struct sim_ring *
ring_find(struct sim_machine *m, const char *name)
{
	struct sim_ring *r;

	LIST_FOREACH(r, &m->rings, link)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}

int
sim_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out)
{
	struct sim_machine *m = sim_door(s)->machine;
	struct sim_ring *h;
	int rc = sys_name_check(name);

	if (rc == 0)
		rc = host_ring_check(count, flags);
	if (rc != 0)
		return rc;
	if (ring_find(m, name) != NULL)
		return -EEXIST;
	h = zeroed(128, sizeof(*h) + host_ring_size(count));
	if (h == NULL)
		return -ENOMEM;
	rc = host_ring_init(ring_of(h), name, count, flags);
	if (rc != 0) {
		free(h);
		return rc;
	}
	strcpy(h->name, name);
	LIST_INSERT_HEAD(&m->rings, h, link);
	*out = ring_of(h);
	return 0;
}

int
sim_ring_lookup(struct shim *s, const char *name, struct rte_ring **out)
{
	int rc = sys_name_check(name);
	struct sim_ring *h = rc == 0 ? ring_find(sim_door(s)->machine, name) : NULL;

	if (h == NULL)
		return rc != 0 ? rc : -ENOENT;
	*out = ring_of(h);
	return 0;
}

void
sim_ring_free(struct shim *s, struct rte_ring *r)
{
	struct sim_ring *h = (struct sim_ring *)r - 1;

	(void)s;
	LIST_REMOVE(h, link);
	free(h);
}

static void
point(struct sim_door *d, enum sim_access_kind kind, const struct rte_ring *r, unsigned int n)
{
	const struct sim_env *e = d->machine->env;
	struct sim_access a = { .kind = kind, .order = SHIM_ACQ_REL, .word = r, .value = n };

	if (e->point != NULL)
		e->point(e->ctx, d, &a);
}

unsigned int
sim_ring_enqueue_burst(struct shim *s, struct rte_ring *r, void *const *objs, unsigned int n)
{
	struct sim_door *d = sim_door(s);
	unsigned int k;

	point(d, SIM_ENQUEUE, r, n);
	sim_door_drain(d, d->nb_pending);
	k = host_ring_enqueue_burst(s, r, objs, n);
	for (unsigned int i = 0; i < k; i++)
		sim_buf_move(d->machine, objs[i], SIM_AT_RING, NULL);
	return k;
}

unsigned int
sim_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs, unsigned int n)
{
	struct sim_door *d = sim_door(s);
	unsigned int k;

	point(d, SIM_DEQUEUE, r, n);
	sim_door_drain(d, d->nb_pending);
	k = host_ring_dequeue_burst(s, r, objs, n);
	for (unsigned int i = 0; i < k; i++)
		sim_buf_move(d->machine, objs[i], SIM_AT_DOOR, d);
	return k;
}

unsigned int
sim_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	struct sim_door *d = sim_door(s);
	unsigned int k;

	point(d, SIM_DEQUEUE, r, n);
	sim_door_drain(d, d->nb_pending);
	k = host_ring_take(s, r, m, n, mark);
	for (unsigned int i = 0; i < k; i++)
		sim_buf_move(d->machine, m[i], SIM_AT_DOOR, d);
	return k;
}

unsigned int
sim_ring_put(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n)
{
	struct sim_door *d = sim_door(s);
	unsigned int k;

	point(d, SIM_ENQUEUE, e->r, n);
	sim_door_drain(d, d->nb_pending);
	k = host_ring_put(s, e, m, n);
	for (unsigned int i = 0; i < k; i++)
		sim_buf_move(d->machine, m[i], SIM_AT_RING, NULL);
	return k;
}

unsigned int
sim_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	struct sim_door *d = sim_door(s);
	unsigned int k;

	point(d, SIM_DEQUEUE, e->r, n);
	sim_door_drain(d, d->nb_pending);
	k = host_ring_get(s, e, p, m, n, mark);
	for (unsigned int i = 0; i < k; i++)
		sim_buf_move(d->machine, m[i], SIM_AT_DOOR, d);
	return k;
}

static unsigned int
segments(const struct sim_machine *m, const struct rte_mbuf *b)
{
	unsigned int n = 0;

	for (; b != NULL && sim_buf_is_live(m, b); b = b->next)
		n++;
	return n;
}

unsigned int
sim_rings_count(const struct sim_machine *m)
{
	struct sim_ring *h;
	unsigned int n = 0;

	if (m->rings_damaged)
		return sim_bufs_in_rings(m);
	LIST_FOREACH(h, &m->rings, link) {
		const struct rte_ring *r = ring_of(h);
		void *const *slot = (void *const *)(r + 1);

		for (uint32_t i = r->cons.tail; i != r->prod.tail; i++)
			if (sim_buf_is_live(m, slot[i & r->mask]))
				n += segments(m, slot[i & r->mask]);
	}
	return n;
}

void
sim_mem_release_all(struct sim_machine *m)
{
	struct sim_ring *h;

	while (!LIST_EMPTY(&m->zones))
		zone_release(LIST_FIRST(&m->zones));
	while ((h = LIST_FIRST(&m->rings)) != NULL) {
		LIST_REMOVE(h, link);
		free(h);
	}
}

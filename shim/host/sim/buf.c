/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools and buffers of a machine. A buffer is one allocation, made when it is handed out and freed when it comes home
 * (after a stay in a short quarantine), so that sanitizers and valgrind see every misuse; and each one is tracked: who
 * holds it, or in which ring or port it waits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../buf.h"
#include "../../buf.h"
#include "../../sys.h"
#include "../common.h"
#include "machine.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HAVE_MEMCHECK 1
#endif
#endif
#ifdef SIM_WITH_ASAN
#define QUARANTINE 0u
#else
#define QUARANTINE 64u /* released buffers kept, so that a second release finds what it is */
#endif
#define POISON 0xa5

static struct sim_buf *
buf_of(const struct rte_mbuf *m)
{
	return (struct sim_buf *)(uintptr_t)m - 1;
}

static struct rte_mbuf *
mbuf_of(struct sim_buf *b)
{
	return (struct rte_mbuf *)(b + 1);
}

/* ---- the set of live buffers ---- */

static size_t
slot_of(const struct sim_machine *m, const void *p)
{
	return (size_t)(((uint64_t)(uintptr_t)p >> 6) * 0x9e3779b97f4a7c15ull >> 20) & (m->set_room - 1);
}

bool
sim_buf_is_live(const struct sim_machine *m, const void *p)
{
	if (m->set_room == 0)
		return false;
	for (size_t i = slot_of(m, p); m->set[i] != NULL; i = (i + 1) & (m->set_room - 1))
		if (m->set[i] == p)
			return true;
	return false;
}

static void
set_put(struct sim_machine *m, struct rte_mbuf *p)
{
	size_t i = slot_of(m, p);

	while (m->set[i] != NULL)
		i = (i + 1) & (m->set_room - 1);
	m->set[i] = p;
}

static bool
set_grow(struct sim_machine *m)
{
	struct rte_mbuf **old = m->set;
	size_t n = m->set_room, room = n == 0 ? 256 : n * 2;
	struct rte_mbuf **set = calloc(room, sizeof(*set));

	if (set == NULL)
		return false;
	m->set = set;
	m->set_room = room;
	for (size_t i = 0; i < n; i++)
		if (old[i] != NULL)
			set_put(m, old[i]);
	free(old);
	return true;
}

/* Takes p out and closes the gap (linear probing without tombstones). */
static void
set_remove(struct sim_machine *m, const struct rte_mbuf *p)
{
	size_t mask = m->set_room - 1, i = slot_of(m, p), j;

	while (m->set[i] != p)
		i = (i + 1) & mask;
	for (j = (i + 1) & mask; m->set[j] != NULL; j = (j + 1) & mask) {
		size_t home = slot_of(m, m->set[j]);

		if (((j - home) & mask) >= ((j - i) & mask)) {
			m->set[i] = m->set[j];
			i = j;
		}
	}
	m->set[i] = NULL;
}

/* ---- where a buffer is ---- */

static struct sim_door *
door_by_id(struct sim_machine *m, uint32_t id)
{
	struct sim_door *d;

	LIST_FOREACH(d, &m->doors, link)
		if (d->id == id)
			return d;
	return NULL;
}

static void
leave(struct sim_machine *m, struct sim_buf *b)
{
	struct sim_door *d;

	if (b->where == SIM_AT_LOST)
		m->nb_lost--;
	if (b->where != SIM_AT_DOOR)
		return;
	d = door_by_id(m, b->holder);
	if (d != NULL)
		d->bufs--;
}

void
sim_buf_move(struct sim_machine *m, void *chain, enum sim_where where, struct sim_door *d)
{
	for (struct rte_mbuf *s = chain; s != NULL && sim_buf_is_live(m, s); s = s->next) {
		struct sim_buf *b = buf_of(s);

		leave(m, b);
		b->where = (uint8_t)where;
		b->holder = d != NULL ? d->id : 0;
		if (d != NULL)
			d->bufs++;
	}
}

/* The process of d was killed: what it held is lost, until something else that refers to it lets go. */
void
sim_buf_disown(struct sim_door *d)
{
	struct sim_machine *m = d->machine;
	struct sim_buf *b;

	if (d->bufs == 0)
		return;
	TAILQ_FOREACH(b, &m->live, link)
		if (b->where == SIM_AT_DOOR && b->holder == d->id) {
			b->where = SIM_AT_LOST;
			m->nb_lost++;
		}
	d->bufs = 0;
}

/* ---- out and home ---- */

struct rte_mbuf *
sim_buf_take(struct sim_machine *m, struct shim_pool *p)
{
	size_t n = sizeof(struct sim_buf) + host_buf_size(p->data_room);
	struct sim_buf *b;

	if (p->used == p->n || (m->nb_live * 2u >= m->set_room && !set_grow(m)))
		return NULL;
	n = (n + 63) / 64 * 64;
	b = aligned_alloc(64, n);
	if (b == NULL)
		return NULL;
	memset(b, POISON, n);
#ifdef HAVE_MEMCHECK
	(void)VALGRIND_MAKE_MEM_UNDEFINED(b, n);
#endif
	memset(b, 0, sizeof(*b));
	b->pool = p;
	b->serial = ++m->buf_serial;
	b->where = SIM_AT_PORT;
	host_buf_init(mbuf_of(b), p, p->data_room);
	p->used++;
	m->nb_live++;
	TAILQ_INSERT_TAIL(&m->live, b, link);
	set_put(m, mbuf_of(b));
	return mbuf_of(b);
}

static void
quarantine(struct sim_machine *m, struct sim_buf *b)
{
	TAILQ_INSERT_TAIL(&m->quarantine, b, link);
	if (++m->nb_quarantine <= QUARANTINE)
		return;
	b = TAILQ_FIRST(&m->quarantine);
	TAILQ_REMOVE(&m->quarantine, b, link);
	m->nb_quarantine--;
	free(b);
}

static void
come_home(struct sim_machine *m, struct rte_mbuf *s)
{
	struct sim_buf *b = buf_of(s);

	leave(m, b);
	set_remove(m, s);
	TAILQ_REMOVE(&m->live, b, link);
	m->nb_live--;
	b->pool->used--;
	quarantine(m, b);
}

static void
fail(struct sim_machine *m, const struct sim_door *d, const char *text)
{
	if (m->env->fail != NULL)
		m->env->fail(m->env->ctx, d, text);
}

void
sim_buf_release(struct shim *s, struct rte_mbuf *b)
{
	struct sim_door *d = sim_door(s);

	d->effects++;
	if (!sim_buf_is_live(d->machine, b)) {
		fail(d->machine, d, "a buffer was freed twice, or never allocated");
		return;
	}
	come_home(d->machine, b);
}

/* Frees like the door does, for buffers that no process holds (a stopped port's queue). */
void
sim_buf_drop(struct sim_machine *m, struct rte_mbuf *b)
{
	struct sim_door d = { .machine = m, .shim = { .ops = &sim_ops } };

	host_buf_free(&d.shim, b);
}

void
sim_buf_release_all(struct sim_machine *m)
{
	struct shim_pool *p;
	struct sim_buf *b;

	while ((b = TAILQ_FIRST(&m->live)) != NULL) {
		TAILQ_REMOVE(&m->live, b, link);
		free(b);
	}
	while ((b = TAILQ_FIRST(&m->quarantine)) != NULL) {
		TAILQ_REMOVE(&m->quarantine, b, link);
		free(b);
	}
	while ((p = LIST_FIRST(&m->pools)) != NULL) {
		LIST_REMOVE(p, link);
		free(p);
	}
	free(m->set);
}

/* ---- the door's calls ---- */

static struct shim_pool *
pool_find(struct sim_machine *m, const char *name)
{
	struct shim_pool *p;

	LIST_FOREACH(p, &m->pools, link)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

int
sim_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out)
{
	struct sim_machine *m = sim_door(s)->machine;
	struct shim_pool *p;
	int rc = sys_name_check(name);

	if (rc != 0)
		return rc;
	if (n == 0 || data_room <= SHIM_HEADROOM)
		return -EINVAL;
	if (pool_find(m, name) != NULL)
		return -EEXIST;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return -ENOMEM;
	strcpy(p->name, name);
	p->machine = m;
	p->n = n;
	p->data_room = data_room;
	LIST_INSERT_HEAD(&m->pools, p, link);
	*out = p;
	return 0;
}

int
sim_pool_lookup(struct shim *s, const char *name, struct shim_pool **out)
{
	int rc = sys_name_check(name);
	struct shim_pool *p = rc == 0 ? pool_find(sim_door(s)->machine, name) : NULL;

	if (p == NULL)
		return rc != 0 ? rc : -ENOENT;
	*out = p;
	return 0;
}

/* The pool's buffers that were lost with their owners vanish with it. */
static void
lost_vanish(struct sim_machine *m, const struct shim_pool *p)
{
	struct sim_buf *b, *next;

	for (b = TAILQ_FIRST(&m->live); b != NULL; b = next) {
		next = TAILQ_NEXT(b, link);
		if (b->pool == p && b->where == SIM_AT_LOST)
			come_home(m, mbuf_of(b));
	}
}

void
sim_pool_free(struct shim *s, struct shim_pool *p)
{
	struct sim_machine *m = sim_door(s)->machine;
	char why[96];

	lost_vanish(m, p);
	if (p->used == 0) {
		LIST_REMOVE(p, link);
		free(p);
		return;
	}
	/* it stays, nameless: its buffers still point at it */
	snprintf(why, sizeof(why), "pool %s was freed with %u buffers out", p->name, p->used);
	fail(m, sim_door(s), why);
	p->name[0] = '\0';
}

unsigned int
sim_pool_size(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->n;
}

unsigned int
sim_pool_avail(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->n - p->used;
}

uint16_t
sim_pool_data_room(struct shim *s, const struct shim_pool *p)
{
	(void)s;
	return p->data_room;
}

bool
sim_pool_owns(struct shim *s, const struct shim_pool *p, const void *m)
{
	return sim_buf_is_live(sim_door(s)->machine, m) && buf_of(m)->pool == p;
}

/* The machine has no caches: the door's own number. */
uint32_t
sim_cache_id(const struct shim *s)
{
	return ((const struct sim_door *)s)->id;
}

/* Did the dead process hold it, as far as marks tell? */
static bool
marked(const struct rte_mbuf *b, uint32_t mark, uint32_t cache_id)
{
	return (mark != 0 && shim_buf_mark(b) == mark) ||
		shim_buf_word(b->dynfield1[8]) == (SHIM_BUF_UNSTAMPED | cache_id);
}

static void
in_rings(void *ctx, const struct sweep *w, bool *in_ring)
{
	(void)ctx;
	for (unsigned int i = 0; i < w->n; i++)
		in_ring[i] = buf_of(w->m[i])->where == SIM_AT_RING;
}

/*
 * Only what the machine itself saw a killed process hold may be taken: a buffer with the process's mark that is in other hands,
 * or in a port, was given away without a stamp, which is a mistake of the program's. In a ring it is no mistake.
 */
unsigned int
sim_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id)
{
	struct sim_machine *m = sim_door(s)->machine;
	struct sweep w = { .mark = mark, .note = SHIM_BUF_UNSTAMPED | cache_id, .rings = in_rings };
	struct rte_mbuf **list = calloc(p->used + 1u, sizeof(*list));
	unsigned int n = 0, done, i;
	struct sim_buf *b;

	if (list == NULL)
		return 0;
	TAILQ_FOREACH(b, &m->live, link) {
		if (b->pool != p)
			continue;
		list[n++] = mbuf_of(b);
		if (b->where != SIM_AT_LOST && b->where != SIM_AT_RING && marked(mbuf_of(b), mark, cache_id))
			fail(m, sim_door(s), "a buffer bears the mark of a dead process that did not hold it");
	}
	done = host_buf_sweep(p, p->data_room, list, n, &w);
	for (i = 0; i < done; i++)
		come_home(m, list[i]);
	free(list);
	return done;
}

struct rte_mbuf *
sim_buf_alloc(struct shim *s, struct shim_pool *p)
{
	struct sim_door *d = sim_door(s);
	struct rte_mbuf *b;

	d->effects++;
	if (sim_fails_now(&d->fail_buf_in, d->fail_buf_stays))
		return NULL;
	b = sim_buf_take(d->machine, p);
	if (b == NULL)
		return NULL;
	b->dynfield1[8] = SHIM_BUF_UNSTAMPED | d->id;
	sim_buf_move(d->machine, b, SIM_AT_DOOR, d);
	return b;
}

/* ---- conservation ---- */

int
sim_machine_check(const struct sim_machine *m, char *why, size_t n)
{
	unsigned int used = 0, held = 0, queued = 0;
	const struct shim_pool *p;
	const struct sim_door *d;

	LIST_FOREACH(p, &m->pools, link)
		used += p->used;
	LIST_FOREACH(d, &m->doors, link)
		held += d->bufs;
	for (unsigned int i = 0; i < m->nb_ports; i++)
		queued += sim_port_queued(m->port[i]);
	if (used == m->nb_live && held + m->nb_lost + queued <= used)
		return 0;
	snprintf(why, n, "%s: %u buffers out, %u known: processes %u, lost %u, ports at least %u", m->name,
		used, m->nb_live, held, m->nb_lost, queued);
	return -EINVAL;
}

/* The buffer that d holds would be found after d's death, and only then. NULL, or what is wrong. */
static const char *
mark_wrong(const struct sim_machine *m, struct sim_door *d, const struct rte_mbuf *b)
{
	const struct sim_door *other;
	uint32_t word = b->dynfield1[8];

	if (word == 0)
		return "has no mark";
	if ((word & SHIM_BUF_UNSTAMPED) != 0)
		return word == (SHIM_BUF_UNSTAMPED | d->id) ? NULL : "was allocated by another process";
	if (d->mark_seen == 0)
		d->mark_seen = word;
	if (d->mark_seen != word)
		return "has another mark than the process's others";
	LIST_FOREACH(other, &m->doors, link)
		if (other != d && other->mark_seen == word)
			return "has the mark of another process";
	return NULL;
}

static int
audit_marks(struct sim_machine *m, char *why, size_t n)
{
	const char *wrong;
	struct sim_door *d;
	struct sim_buf *b;

	LIST_FOREACH(d, &m->doors, link)
		d->mark_seen = 0;
	TAILQ_FOREACH(b, &m->live, link) {
		d = b->where == SIM_AT_DOOR ? door_by_id(m, b->holder) : NULL;
		wrong = d != NULL ? mark_wrong(m, d, mbuf_of(b)) : NULL;
		if (wrong == NULL)
			continue;
		snprintf(why, n, "%s: buffer %llu in the hands of pid %u %s (%#x)", m->name, (unsigned long long)b->serial,
			d->shim.self.pid, wrong, mbuf_of(b)->dynfield1[8]);
		return -EINVAL;
	}
	return 0;
}

unsigned int
sim_bufs_in_rings(const struct sim_machine *m)
{
	const struct sim_buf *b;
	unsigned int n = 0;

	TAILQ_FOREACH(b, &m->live, link)
		n += b->where == SIM_AT_RING;
	return n;
}

int
sim_machine_audit(struct sim_machine *m, char *why, size_t n)
{
	unsigned int at[4] = { 0, 0, 0, 0 }, held = 0, rings = sim_rings_count(m);
	const struct sim_door *d;
	struct sim_buf *b;

	TAILQ_FOREACH(b, &m->live, link) {
		at[b->where & 3]++;
		if (rte_mbuf_refcnt_read(mbuf_of(b)) != 0)
			continue;
		snprintf(why, n, "%s: buffer %llu is out without a reference", m->name,
			(unsigned long long)b->serial);
		return -EINVAL;
	}
	LIST_FOREACH(d, &m->doors, link)
		held += d->bufs;
	if (held == at[SIM_AT_DOOR] && rings >= at[SIM_AT_RING] && at[SIM_AT_LOST] == m->nb_lost)
		return m->marks && audit_marks(m, why, n) != 0 ? -EINVAL : sim_machine_check(m, why, n);
	snprintf(why, n, "%s: buffers at processes %u (marked %u), in rings %u (marked %u), lost %u (marked %u)",
		m->name, held, at[SIM_AT_DOOR], rings, at[SIM_AT_RING], m->nb_lost, at[SIM_AT_LOST]);
	return -EINVAL;
}

int
sim_machine_home(const struct sim_machine *m, char *why, size_t n)
{
	unsigned int rings = sim_rings_count(m);

	if (m->nb_live == m->nb_lost + rings)
		return 0;
	snprintf(why, n, "%s: %u buffers are not home (%u more were lost with killed processes)", m->name,
		m->nb_live - m->nb_lost - rings, m->nb_lost);
	return -EINVAL;
}

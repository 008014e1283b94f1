/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared words: each one asks the scheduler first; stores may wait in the process's buffer, as on x86. */
#include <string.h>

#include "../common.h"
#include "machine.h"

static void
point(struct shim *s, enum sim_access_kind kind, const void *word, int size, uint64_t value, enum shim_order o)
{
	struct sim_door *d = sim_door(s);
	const struct sim_env *e = d->machine->env;
	struct sim_access a = { .kind = kind, .order = o, .size = size, .word = word, .value = value };

	if (e->point != NULL)
		e->point(e->ctx, d, &a);
}

unsigned int
sim_door_pending(const struct sim_door *d)
{
	return d->nb_pending;
}

void
sim_door_drain(struct sim_door *d, unsigned int n)
{
	if (n > d->nb_pending)
		n = d->nb_pending;
	for (unsigned int i = 0; i < n; i++)
		host_store(&d->shim, d->pending[i].word, d->pending[i].size, d->pending[i].value, SHIM_SEQ_CST);
	d->nb_pending -= n;
	memmove(d->pending, d->pending + n, d->nb_pending * sizeof(d->pending[0]));
}

void
sim_store_drain_all(struct sim_machine *m)
{
	struct sim_door *d;

	LIST_FOREACH(d, &m->doors, link)
		sim_door_drain(d, d->nb_pending);
}

static bool
overlap(const struct sim_pending *p, const void *w, int size)
{
	uintptr_t a = (uintptr_t)p->word, b = (uintptr_t)w;

	return a < b + (unsigned int)size && b < a + (unsigned int)p->size;
}

uint64_t
sim_word_load(struct shim *s, const void *w, int size, enum shim_order o)
{
	struct sim_door *d = sim_door(s);

	point(s, SIM_LOAD, w, size, 0, o);
	for (unsigned int i = d->nb_pending; i-- > 0;) {
		if (!overlap(&d->pending[i], w, size))
			continue;
		if (d->pending[i].word == w && d->pending[i].size == size)
			return d->pending[i].value;
		sim_door_drain(d, d->nb_pending); /* a part of it: the processor waits */
		break;
	}
	return host_load(s, w, size, o);
}

void
sim_word_store(struct shim *s, void *w, int size, uint64_t v, enum shim_order o)
{
	struct sim_door *d = sim_door(s);

	point(s, SIM_STORE, w, size, v, o);
	if (!d->store_buffer || o == SHIM_SEQ_CST) {
		sim_door_drain(d, d->nb_pending);
		host_store(s, w, size, v, o);
		return;
	}
	if (d->nb_pending == SIM_PENDING_MAX)
		sim_door_drain(d, 1);
	d->pending[d->nb_pending++] = (struct sim_pending){ .word = w, .size = size, .value = size == 8 ? v : (uint32_t)v };
}

bool
sim_word_cas(struct shim *s, void *w, int size, uint64_t *expect, uint64_t v, enum shim_order o)
{
	struct sim_door *d = sim_door(s);

	point(s, SIM_CAS, w, size, v, o);
	sim_door_drain(d, d->nb_pending);
	return host_cas(s, w, size, expect, v, o);
}

uint64_t
sim_word_fetch_add(struct shim *s, void *w, int size, uint64_t v, enum shim_order o)
{
	struct sim_door *d = sim_door(s);

	point(s, SIM_FETCH_ADD, w, size, v, o);
	sim_door_drain(d, d->nb_pending);
	return host_fetch_add(s, w, size, v, o);
}

void
sim_word_fence(struct shim *s, enum shim_order o)
{
	struct sim_door *d = sim_door(s);

	point(s, SIM_FENCE, NULL, 0, 0, o);
	if (o == SHIM_SEQ_CST)
		sim_door_drain(d, d->nb_pending);
	host_fence(s, o);
}

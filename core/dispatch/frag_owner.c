/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragment owners: a small table of datagrams in buckets of four, and a short queue of fragments that wait for their
 * first one.
 */
#include "frag_owner.h"

#include <errno.h>
#include <string.h>

#define WAYS 4u
#define BUCKETS (FRAG_OWNERS / WAYS)
#define HELD_NS (FRAG_HELD_MS * 1000000ull)

struct owner {
	struct flow_frag key;
	uint32_t since_ms;
	uint32_t to;             /* enum frag_owner_to; FRAG_UNKNOWN: free */
};

struct held {
	struct flow_frag key;
	struct rte_mbuf *m;
	uint64_t since_ns;
};

struct frag_owners {
	struct shim *shim;
	struct siphash_key secret;
	unsigned int nb_held;
	struct held held[FRAG_HELD]; /* in the order they came */
	struct owner owner[BUCKETS][WAYS];
};

int
frag_owners_create(struct shim *s, const struct siphash_key *secret, struct frag_owners **out)
{
	struct frag_owners *f = shim_malloc(s, sizeof(*f));

	if (f == NULL)
		return -ENOMEM;
	f->shim = s;
	f->secret = *secret;
	*out = f;
	return 0;
}

void
frag_owners_destroy(struct frag_owners *f)
{
	if (f == NULL)
		return;
	for (unsigned int i = 0; i < f->nb_held; i++)
		shim_buf_free(f->shim, f->held[i].m);
	shim_free(f->shim, f);
}

void
frag_owners_forget(struct frag_owners *f)
{
	memset(f->owner, 0, sizeof(f->owner));
}

static bool
same(const struct flow_frag *a, const struct flow_frag *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct owner *
bucket(struct frag_owners *f, const struct flow_frag *key)
{
	return f->owner[siphash13(&f->secret, key, sizeof(*key)) % BUCKETS];
}

static bool
fresh(const struct owner *o, uint32_t now_ms)
{
	return o->to != FRAG_UNKNOWN && now_ms - o->since_ms <= FRAG_OWNER_MS;
}

enum frag_owner_to
frag_owner_get(struct frag_owners *f, const struct flow_frag *key, uint32_t now_ms)
{
	const struct owner *o = bucket(f, key);

	for (unsigned int i = 0; i < WAYS; i++)
		if (fresh(&o[i], now_ms) && same(&o[i].key, key))
			return (enum frag_owner_to)o[i].to;
	return FRAG_UNKNOWN;
}

enum frag_owner_to
frag_owner_set(struct frag_owners *f, const struct flow_frag *key, enum frag_owner_to to, uint32_t now_ms)
{
	struct owner *o = bucket(f, key), *best = o;
	enum frag_owner_to known = frag_owner_get(f, key, now_ms);

	if (known != FRAG_UNKNOWN)
		return known;
	for (unsigned int i = 0; i < WAYS; i++) {
		if (!fresh(&o[i], now_ms)) {
			best = &o[i];
			break;
		}
		if (now_ms - o[i].since_ms > now_ms - best->since_ms)
			best = &o[i];
	}
	best->key = *key;
	best->since_ms = now_ms;
	best->to = to;
	return to;
}

bool
frag_owner_hold(struct frag_owners *f, const struct flow_frag *key, struct rte_mbuf *m, uint64_t now_ns)
{
	struct held *h = &f->held[f->nb_held];

	if (f->nb_held == FRAG_HELD)
		return false;
	h->key = *key;
	h->m = m;
	h->since_ns = now_ns;
	f->nb_held++;
	return true;
}

unsigned int
frag_owner_release(struct frag_owners *f, const struct flow_frag *key, struct rte_mbuf **m, unsigned int n)
{
	unsigned int out = 0, kept = 0;

	for (unsigned int i = 0; i < f->nb_held; i++) {
		if (out < n && same(&f->held[i].key, key))
			m[out++] = f->held[i].m;
		else if (kept++ < i)
			f->held[kept - 1] = f->held[i];
	}
	f->nb_held = kept;
	return out;
}

unsigned int
frag_owner_expire(struct frag_owners *f, uint64_t now_ns, bool all, struct rte_mbuf **m, unsigned int n)
{
	unsigned int out = 0;

	while (out < n && out < f->nb_held && (all || now_ns - f->held[out].since_ns >= HELD_NS)) {
		m[out] = f->held[out].m;
		out++;
	}
	f->nb_held -= out;
	memmove(f->held, f->held + out, f->nb_held * sizeof(f->held[0]));
	return out;
}

uint64_t
frag_owner_next(const struct frag_owners *f)
{
	return f->nb_held == 0 ? UINT64_MAX : f->held[0].since_ns + HELD_NS;
}

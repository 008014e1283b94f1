/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The publish table. A flow's entries are looked for from the first entry of a cache line on, in PUB_PROBES entries
 * that follow one another (round the end), up to the first empty one: with the table half full that is one line.
 *
 * The writer is alone, so its own loads are relaxed: nobody else changes what it reads. Its stores are ordered for
 * readers: a fingerprint appears after its stamp, and when an entry changes hands the old fingerprint is gone before
 * the new stamp is there.
 */
#include "pub_table.h"

#include <errno.h>
#include <string.h>

#define LINE 4u /* entries of a cache line */
#define EMPTY 0u
#define REMOVED 1u

_Static_assert(sizeof(struct pub_entry) == 16, "four a line");
_Static_assert(sizeof(struct pub_table) == 64, "entries begin on a line");

size_t
pub_table_size(uint32_t entries)
{
	return sizeof(struct pub_table) + (size_t)entries * sizeof(struct pub_entry);
}

static bool
entries_ok(uint32_t n)
{
	return n >= PUB_ENTRIES_MIN && n <= PUB_ENTRIES_MAX && (n & (n - 1)) == 0;
}

static inline uint32_t
home(uint64_t fp, uint32_t mask)
{
	return (uint32_t)fp & mask & ~(LINE - 1);
}

static inline bool
aged(uint32_t now, uint32_t last, uint32_t idle)
{
	return (int32_t)(now - last) > (int32_t)idle;
}

static inline uint64_t
own_fp(const struct pub *p, uint32_t at)
{
	return shim_load64(p->shim, &p->t->entry[at].fp, SHIM_RELAXED); /* the writer's own word */
}

static inline uint32_t
own_last(const struct pub *p, uint32_t at)
{
	return shim_load32(p->shim, &p->t->entry[at].last_ms, SHIM_RELAXED); /* the writer's own word */
}

/* ---- the primary ------------------------------------------------------------------------------ */

int
pub_table_init(struct shim *s, struct pub_table *t, uint32_t entries, uint64_t boot_id)
{
	if (!entries_ok(entries))
		return -EINVAL;
	t->layout_version = PUB_LAYOUT_VERSION;
	t->entries = entries;
	t->boot_id = boot_id;
	shim_store64(s, &t->magic, PUB_MAGIC, SHIM_RELEASE); /* last: who sees it sees the rest */
	return 0;
}

/* ---- attaching -------------------------------------------------------------------------------- */

int
pub_attach(struct pub *p, struct shim *s, struct pub_table *t, size_t zone_size, uint64_t boot_id,
	const struct siphash_key *secret, uint32_t idle_ms)
{
	uint32_t entries, version;
	const char *why;

	memset(p, 0, sizeof(*p));
	p->shim = s;
	p->secret = *secret;
	p->idle_ms = idle_ms < PUB_IDLE_MAX_MS ? idle_ms : PUB_IDLE_MAX_MS;
	if (zone_size < sizeof(*t)) {
		shim_log(s, SHIM_LOG_ERR, "publish table: the zone has %zu bytes, less than a header", zone_size);
		return -EPROTO;
	}
	if (shim_load64(s, &t->magic, SHIM_ACQUIRE) != PUB_MAGIC) { /* pairs with pub_table_init */
		shim_log(s, SHIM_LOG_ERR, "publish table: the zone is none (magic)");
		return -EPROTO;
	}
	version = shim_load32(s, &t->layout_version, SHIM_RELAXED); /* written before the magic, constant */
	if (version != PUB_LAYOUT_VERSION) {
		shim_log(s, SHIM_LOG_ERR, "publish table: layout version %u, this program has %u", version,
			PUB_LAYOUT_VERSION);
		return -EPROTO;
	}
	entries = shim_load32(s, &t->entries, SHIM_RELAXED); /* as above; read once */
	why = shim_load64(s, &t->boot_id, SHIM_RELAXED) != boot_id ? "is of another primary's life (boot id)" : /* as above */
		!entries_ok(entries) ? "has an impossible number of entries" :
		zone_size < pub_table_size(entries) ? "is larger than its zone" : NULL;
	if (why != NULL) {
		shim_log(s, SHIM_LOG_ERR, "publish table: it %s", why);
		return -EPROTO;
	}
	p->t = t;
	p->mask = entries - 1;
	return 0;
}

void
pub_writer_begin(struct pub *p, uint64_t proc_word)
{
	struct pub_table *t = p->t;

	if (t == NULL)
		return;
	shim_store64(p->shim, &t->state, PUB_HANDED, SHIM_RELAXED); /* ordered by the fence: nothing is looked up meanwhile */
	shim_fence(p->shim, SHIM_SEQ_CST);
	memset(t->entry, 0, ((size_t)p->mask + 1) * sizeof(t->entry[0]));
	p->used = 0;
	p->not_recorded = 0;
	p->sweep_at = p->mask;
	p->state = PUB_NONE;
	p->queued = 0;
	memset(&p->queue[p->last], 0, sizeof(p->queue[0])); /* no flow's key */
	shim_store32(p->shim, &t->used, 0, SHIM_RELAXED);          /* figures for tools: no order */
	shim_store32(p->shim, &t->not_recorded, 0, SHIM_RELAXED);
	shim_store32(p->shim, &t->idle_ms, p->idle_ms, SHIM_RELAXED); /* read after the state word */
	shim_store64(p->shim, &t->writer, proc_word, SHIM_RELAXED);   /* informative */
	shim_store64(p->shim, &t->state, PUB_NONE, SHIM_RELEASE);     /* the table is whole before it is one again */
}

/* ---- recording -------------------------------------------------------------------------------- */

static inline void
touch(struct pub *p, uint32_t at, uint32_t now_ms)
{
	/*
	 * Many packets a ms: a reader's copy of the line stays valid. Relaxed: the entry is the same flow's before
	 * and after.
	 */
	if (own_last(p, at) != now_ms)
		shim_store32(p->shim, &p->t->entry[at].last_ms, now_ms, SHIM_RELAXED);
}

static void
place(struct pub *p, uint32_t at, uint64_t fp, uint32_t now_ms)
{
	struct pub_entry *e = &p->t->entry[at];

	/* Release: that the slot's last flow is gone is seen before the stamp; the stamp before the new flow. */
	shim_store32(p->shim, &e->last_ms, now_ms, SHIM_RELEASE);
	shim_store64(p->shim, &e->fp, fp, SHIM_RELEASE);
}

static void
used_set(struct pub *p, uint32_t used)
{
	p->used = used;
	shim_store32(p->shim, &p->t->used, used, SHIM_RELAXED); /* a figure for tools */
}

/* No free slot in the window of base: an aged flow gives its own. False: all 32 are live. */
static bool
replace_aged(struct pub *p, uint32_t base, uint64_t fp, uint32_t now_ms)
{
	for (uint32_t i = 0; i < PUB_PROBES; i++) {
		uint32_t at = (base + i) & p->mask;

		if (!aged(now_ms, own_last(p, at), p->idle_ms))
			continue;
		shim_store64(p->shim, &p->t->entry[at].fp, REMOVED, SHIM_RELAXED); /* ordered by the stamp's release */
		place(p, at, fp, now_ms);
		return true;
	}
	return false;
}

static bool
record_new(struct pub *p, uint64_t fp, uint32_t base, uint32_t now_ms)
{
	for (uint32_t i = 0; i < PUB_PROBES; i++) {
		uint32_t at = (base + i) & p->mask;

		if (own_fp(p, at) > REMOVED)
			continue;
		place(p, at, fp, now_ms);
		used_set(p, p->used + 1);
		return true;
	}
	if (replace_aged(p, base, fp, now_ms))
		return true;
	p->not_recorded++;
	shim_store32(p->shim, &p->t->not_recorded, (uint32_t)p->not_recorded, SHIM_RELAXED); /* a figure for tools */
	return false;
}

bool
pub_record_hash(struct pub *p, uint64_t fp, uint32_t now_ms)
{
	uint32_t base;

	if (p->t == NULL || fp <= REMOVED)
		return false;
	base = home(fp, p->mask);
	for (uint32_t i = 0; i < PUB_PROBES; i += LINE) {
		uint32_t at = (base + i) & p->mask;
		uint64_t a = own_fp(p, at), b = own_fp(p, at + 1), c = own_fp(p, at + 2), d = own_fp(p, at + 3);
		unsigned int hit = (a == fp) | (unsigned int)(b == fp) << 1 | (unsigned int)(c == fp) << 2 |
			(unsigned int)(d == fp) << 3;

		if (hit != 0) {
			at += (unsigned int)__builtin_ctz(hit);
			touch(p, at, now_ms);
				return true;
		}
		if (d == EMPTY) /* if any is: clear() */
			break;
	}
	return record_new(p, fp, base, now_ms);
}

static void
flush(struct pub *p)
{
	const struct flow_key *key[PUB_QUEUE] = { NULL };
	uint64_t fp[PUB_QUEUE];
	uint32_t n = p->queued;

	p->queued = 0;
	if (p->t == NULL)
		return;
	for (uint32_t i = 0; i < n; i++)
		key[i] = &p->queue[i];
	flow_hash_bulk(&p->secret, key, fp, n);
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&p->t->entry[home(fp[i], p->mask)], 1);
	for (uint32_t i = 0; i < n; i++)
		pub_record_hash(p, fp[i], p->last_ms);
}

void
pub_flush(struct pub *p)
{
	if (p->queued > 0)
		flush(p);
}

void
pub_record(struct pub *p, const struct flow_key *k, uint32_t now_ms)
{
	if (now_ms == p->last_ms && flow_key_same(k, &p->queue[p->last]))
		return; /* recorded in this ms already */
	if ((now_ms != p->last_ms && p->queued > 0) || p->queued == PUB_QUEUE)
		flush(p);
	p->last_ms = now_ms;
	p->last = p->queued;
	p->queue[p->queued++] = *k;
}

/* ---- sweeping --------------------------------------------------------------------------------- */

/* Does a flow behind `at` have it on its way from home? Everything behind an empty entry has not. */
static bool
needed(const struct pub *p, uint32_t at)
{
	for (uint32_t k = 1; k < PUB_PROBES; k++) {
		uint32_t i = (at + k) & p->mask;
		uint64_t fp = own_fp(p, i);
		uint32_t far;

		if (fp == EMPTY)
			return false;
		if (fp == REMOVED)
			continue;
		far = (i - home(fp, p->mask)) & p->mask;
		if (far >= k && far < PUB_PROBES)
			return true;
	}
	return false;
}

/*
 * The flow is gone. An entry that nobody needs has no live one behind it on its line, since all of these come from
 * this line's beginning or from before it; the removed ones there become empty with it. So a line with an empty entry
 * has an empty one at its end.
 */
static void
clear(struct pub *p, uint32_t at)
{
	uint32_t end = at | (LINE - 1);

	/* Relaxed: a reader that still sees the flow sees what was true a moment ago. */
	if (needed(p, at)) {
		shim_store64(p->shim, &p->t->entry[at].fp, REMOVED, SHIM_RELAXED);
		return;
	}
	for (; at <= end; at++)
		shim_store64(p->shim, &p->t->entry[at].fp, EMPTY, SHIM_RELAXED); /* as above */
}

/* A flow that lives on another line than its home's goes to a removed entry nearer to it. */
static void
settle(struct pub *p, uint32_t at, uint64_t fp)
{
	uint32_t base = home(fp, p->mask), far = (at - base) & p->mask;

	if (far < LINE || far >= PUB_PROBES)
		return;
	for (uint32_t i = 0; i < far; i++) {
		uint32_t to = (base + i) & p->mask;

		if (own_fp(p, to) != REMOVED)
			continue;
		place(p, to, fp, own_last(p, at));
		clear(p, at);
		return;
	}
}

void
pub_sweep(struct pub *p, uint32_t n, uint32_t now_ms)
{
	uint32_t used;

	if (p->t == NULL)
		return;
	pub_flush(p);
	used = p->used;
	if (n > p->mask)
		n = p->mask + 1;
	while (n-- > 0) {
		uint32_t at = p->sweep_at & p->mask;
		uint64_t fp = own_fp(p, at);

		p->sweep_at = at - 1; /* backwards: what is behind an entry has been judged before it */
		if (fp == EMPTY)
			continue;
		if (fp == REMOVED) {
			if (!needed(p, at))
				clear(p, at);
		} else if (aged(now_ms, own_last(p, at), p->idle_ms)) {
			clear(p, at);
			used -= used > 0;
		} else if (p->state == PUB_NONE) {
			settle(p, at, fp);
		}
	}
	if (used != p->used)
		used_set(p, used);
}

void
pub_state_set(struct pub *p, enum pub_state state, uint32_t wid)
{
	if (p->t == NULL)
		return;
	pub_flush(p);
	p->state = state;
	/* Release: what was recorded and settled before is there for who sees the state. */
	shim_store64(p->shim, &p->t->state, (uint64_t)wid << 32 | state, SHIM_RELEASE);
}

uint32_t
pub_active(struct pub *p, uint32_t now_ms)
{
	uint32_t n = 0;

	if (p->t == NULL)
		return 0;
	pub_flush(p);
	for (uint32_t i = 0; i <= p->mask; i++)
		n += own_fp(p, i) > REMOVED && !aged(now_ms, own_last(p, i), p->idle_ms);
	return n;
}

/* ---- readers ---------------------------------------------------------------------------------- */

enum pub_state
pub_state_get(const struct pub *p, uint32_t *wid)
{
	uint64_t w;

	*wid = 0;
	if (p->t == NULL)
		return PUB_HANDED;
	w = shim_load64(p->shim, &p->t->state, SHIM_ACQUIRE); /* pairs with pub_state_set */
	if ((w & 0xffffffffu) > PUB_HANDED)
		return PUB_HANDED;
	*wid = (uint32_t)(w >> 32);
	return (enum pub_state)(w & 0xff);
}

/* The writer's idle time governs; an impossible one does not. */
static inline uint32_t
idle_of(const struct pub *p)
{
	uint32_t idle = shim_load32(p->shim, &p->t->idle_ms, SHIM_RELAXED); /* constant since the writer began */

	return idle == 0 || idle > PUB_IDLE_MAX_MS ? p->idle_ms : idle;
}

enum found { ABSENT, AGED, ACTIVE };

/* The entry at `at` had the fingerprint a moment ago: is it still the same flow's after its stamp was read? */
static inline enum found
judge(const struct pub *p, uint32_t at, uint64_t fp, uint32_t now_ms, uint32_t idle)
{
	const struct pub_entry *e = &p->t->entry[at];
	/* Acquire, with place: who sees the next flow's stamp sees that the fingerprint has changed. */
	uint32_t last = shim_load32(p->shim, &e->last_ms, SHIM_ACQUIRE);

	if (shim_load64(p->shim, &e->fp, SHIM_RELAXED) != fp) /* ordered by the acquire before it */
		return ABSENT;
	return aged(now_ms, last, idle) ? AGED : ACTIVE;
}

static inline enum found
find(const struct pub *p, uint64_t fp, uint32_t now_ms, uint32_t idle)
{
	uint32_t base = home(fp, p->mask);

	for (uint32_t i = 0; i < PUB_PROBES; i += LINE) {
		uint32_t at = (base + i) & p->mask;
		const struct pub_entry *e = &p->t->entry[at];
		/* Acquire: the stamp that is read next is not older than the fingerprint. */
		uint64_t a = shim_load64(p->shim, &e[0].fp, SHIM_ACQUIRE), b = shim_load64(p->shim, &e[1].fp, SHIM_ACQUIRE);
		uint64_t c = shim_load64(p->shim, &e[2].fp, SHIM_ACQUIRE), d = shim_load64(p->shim, &e[3].fp, SHIM_ACQUIRE);
		unsigned int hit = (a == fp) | (unsigned int)(b == fp) << 1 | (unsigned int)(c == fp) << 2 |
			(unsigned int)(d == fp) << 3;

		if (hit != 0)
			return judge(p, at + (unsigned int)__builtin_ctz(hit), fp, now_ms, idle);
		if (d == EMPTY) /* if any is: clear() */
			return ABSENT;
	}
	return ABSENT;
}

bool
pub_lookup(const struct pub *p, uint64_t fp, uint32_t now_ms)
{
	return p->t != NULL && fp > REMOVED && find(p, fp, now_ms, idle_of(p)) == ACTIVE;
}

uint64_t
pub_lookup_bulk(const struct pub *p, const uint64_t *fp, unsigned int n, uint32_t now_ms, uint64_t *aged_out)
{
	uint64_t active = 0, old = 0;
	uint32_t idle;

	if (aged_out != NULL)
		*aged_out = 0;
	if (p->t == NULL)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		__builtin_prefetch(&p->t->entry[home(fp[i], p->mask)]);
	idle = idle_of(p);
	for (unsigned int i = 0; i < n; i++) {
		enum found f = find(p, fp[i], now_ms, idle);

		active |= (uint64_t)(f == ACTIVE) << i;
		old |= (uint64_t)(f == AGED) << i;
	}
	if (aged_out != NULL)
		*aged_out = old;
	return active;
}

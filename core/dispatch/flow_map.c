/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow map. A bucket is one cache line: ten tags of 16 bits, ten entry numbers, and how many flows that wanted a
 * place in this bucket went on to another one: as long as that is 0, a tag that is not here is nowhere. A flow that
 * finds its bucket full goes on by a stride of its own; every bucket that it passed counts it, and counts it off when
 * it is removed.
 *
 * Memory comes in pieces of 1024 lines, so that nothing large is ever cleared or moved at once: entries never move,
 * and the buckets of the doubled table are made piece by piece and filled bucket by bucket as flows are inserted;
 * until then look-ups ask both.
 */
#include "flow_map.h"

#include <errno.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SLOTS 10u
#define PER_BUCKET 8u            /* flows, on average, when the table is full */
#define PIECE_SHIFT 10u
#define PIECE (1u << PIECE_SHIFT)
#define ROOM_MIN PIECE
#define ROOM_MAX (1u << 28)
#define MOVE 4u                  /* buckets moved with each flow inserted */
#define NONE UINT32_MAX

struct bucket {
	uint16_t tag[SLOTS];     /* 0: free */
	uint32_t over;           /* flows that passed here and live elsewhere */
	uint32_t entry[SLOTS];
} __attribute__((aligned(64)));

struct entry {
	struct flow_key key;
	uint64_t hash;
	uint32_t next;           /* of the free ones */
	uint32_t pad[3];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct bucket) == 64, "one line");
_Static_assert(sizeof(struct entry) == 64, "one line");

struct table {
	struct bucket **piece;
	uint32_t mask;           /* buckets - 1 */
	uint32_t pieces;         /* made, or not freed yet */
};

struct flow_map {
	struct shim *shim;
	struct siphash_key secret;
	struct table cur;
	struct table old;        /* being emptied into cur; piece NULL: none */
	struct table next;       /* being made; piece NULL: none */
	uint32_t moved;          /* buckets of old */
	uint32_t first_room, max;
	uint32_t wait;           /* flows to come before memory is asked for again that was not there */
	struct entry **entries;
	uint32_t entry_pieces;
	uint32_t fresh;          /* entries from here on were never used */
	uint32_t free;           /* first free entry, or NONE */
	struct flow_map_stats st;
};

/* ---- buckets ---------------------------------------------------------------------------------- */

static inline struct bucket *
bucket_at(const struct table *t, uint32_t b)
{
	return &t->piece[b >> PIECE_SHIFT][b & (PIECE - 1)];
}

static inline struct entry *
entry_at(const struct flow_map *m, uint32_t e)
{
	return &m->entries[e >> PIECE_SHIFT][e & (PIECE - 1)];
}

static inline uint16_t
tag_of(uint64_t hash)
{
	uint16_t tag = (uint16_t)(hash >> 48);

	return tag == 0 ? 1 : tag;
}

static inline uint32_t
home(const struct table *t, uint64_t hash)
{
	return (uint32_t)(hash >> 20) & t->mask; /* other bits than the tag's */
}

/* The next bucket of a flow: an odd stride visits all of them. */
static inline uint32_t
onward(const struct table *t, uint32_t b, uint16_t tag)
{
	return (b + (tag | 1u)) & t->mask;
}

/* Bit i: slot i has the tag. */
static inline unsigned int
slots_with(const struct bucket *b, uint16_t tag)
{
#ifdef __SSE2__
	/* Slots 0 .. 7 and 2 .. 9, compared eight at a time. */
	__m128i t = _mm_set1_epi16((short)tag);
	__m128i lo = _mm_cmpeq_epi16(_mm_load_si128((const __m128i *)(const void *)&b->tag[0]), t);
	__m128i hi = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(const void *)&b->tag[2]), t);
	unsigned int both = (unsigned int)_mm_movemask_epi8(_mm_packs_epi16(lo, hi));

	return (both & 0xff) | (both >> 8) << 2;
#else
	unsigned int m = 0;

	for (unsigned int i = 0; i < SLOTS; i++)
		m |= (unsigned int)(b->tag[i] == tag) << i;
	return m;
#endif
}

/* ---- tables ----------------------------------------------------------------------------------- */

static void
table_free(struct flow_map *m, struct table *t)
{
	for (uint32_t i = 0; i < t->pieces; i++)
		shim_free(m->shim, t->piece[i]);
	shim_free(m->shim, t->piece);
	t->piece = NULL;
	t->pieces = 0;
}

static uint32_t
pieces_of(const struct table *t)
{
	return (t->mask + PIECE) >> PIECE_SHIFT;
}

/* The list of pieces for room flows; none of them is made yet. */
static bool
table_begin(struct flow_map *m, struct table *t, uint32_t room)
{
	t->mask = room / PER_BUCKET - 1;
	t->pieces = 0;
	t->piece = shim_malloc(m->shim, pieces_of(t) * sizeof(t->piece[0]));
	return t->piece != NULL;
}

/* One more piece. */
static bool
table_more(struct flow_map *m, struct table *t)
{
	uint32_t n = t->mask + 1 < PIECE ? t->mask + 1 : PIECE;

	t->piece[t->pieces] = shim_malloc(m->shim, n * sizeof(struct bucket));
	if (t->piece[t->pieces] == NULL)
		return false;
	t->pieces++;
	return true;
}

static void
put(struct table *t, uint64_t hash, uint32_t e)
{
	uint16_t tag = tag_of(hash);
	uint32_t b = home(t, hash);
	struct bucket *bk;
	unsigned int room, i;

	for (;; b = onward(t, b, tag)) { /* ends: a table has ten slots for eight flows */
		bk = bucket_at(t, b);
		room = slots_with(bk, 0);
		if (room != 0)
			break;
		bk->over++;
	}
	i = (unsigned int)__builtin_ctz(room);
	bk->tag[i] = tag;
	bk->entry[i] = e;
}

/* The bucket and slot of a flow, or NULL. */
static inline struct bucket *
find(const struct flow_map *m, const struct table *t, const struct flow_key *k, uint64_t hash, unsigned int *slot)
{
	uint16_t tag = tag_of(hash);
	uint32_t b = home(t, hash);

	for (uint32_t n = 0; n <= t->mask; n++, b = onward(t, b, tag)) {
		struct bucket *bk = bucket_at(t, b);

		for (unsigned int hit = slots_with(bk, tag); hit != 0; hit &= hit - 1) {
			*slot = (unsigned int)__builtin_ctz(hit);
			if (flow_key_same(&entry_at(m, bk->entry[*slot])->key, k))
				return bk;
		}
		if (__builtin_expect(bk->over == 0, 1))
			return NULL;
	}
	return NULL;
}

static inline bool
moving(const struct flow_map *m)
{
	return m->old.piece != NULL && m->moved <= m->old.mask;
}

static uint32_t
room_of(const struct table *t)
{
	return (t->mask + 1) * PER_BUCKET;
}

/* ---- growing ---------------------------------------------------------------------------------- */

static void
move_bucket(struct flow_map *m, struct bucket *b)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		if (b->tag[i] == 0)
			continue;
		put(&m->cur, entry_at(m, b->entry[i])->hash, b->entry[i]);
		b->tag[i] = 0;
	}
}

static void
grow_failed(struct flow_map *m)
{
	m->st.grow_failed++;
	m->wait = PIECE;
	table_free(m, &m->next);
}

/* What is due of growing, a bounded bit of it. */
static void
grow(struct flow_map *m)
{
	uint32_t room = room_of(&m->cur);

	if (moving(m)) {
		for (unsigned int i = 0; i < MOVE && m->moved <= m->old.mask; i++)
			move_bucket(m, bucket_at(&m->old, m->moved++));
	} else if (m->old.piece != NULL) {
		shim_free(m->shim, m->old.piece[--m->old.pieces]);
		if (m->old.pieces == 0)
			table_free(m, &m->old);
	} else if (m->next.piece != NULL) {
		if (!table_more(m, &m->next)) {
			grow_failed(m);
		} else if (m->next.pieces == pieces_of(&m->next)) {
			m->old = m->cur;
			m->cur = m->next;
			memset(&m->next, 0, sizeof(m->next));
			m->moved = 0;
			m->st.grown++;
		}
	} else if (m->st.used > room / 4 * 3 && room < m->max && m->wait == 0) {
		if (!table_begin(m, &m->next, room * 2))
			grow_failed(m);
	}
}

/* ---- making ----------------------------------------------------------------------------------- */

static bool
more_entries(struct flow_map *m)
{
	struct entry *p = shim_malloc(m->shim, PIECE * sizeof(*p));

	if (p == NULL)
		return false;
	m->entries[m->entry_pieces++] = p;
	return true;
}

static uint32_t
round_up(uint32_t n)
{
	uint32_t p = ROOM_MIN;

	while (p < n)
		p *= 2;
	return p;
}

int
flow_map_create(struct shim *s, uint32_t room, uint32_t max, const struct siphash_key *secret, struct flow_map **out)
{
	struct flow_map *m;

	if (room == 0 || room > max || max > ROOM_MAX)
		return -EINVAL;
	m = shim_malloc(s, sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	m->shim = s;
	m->secret = *secret;
	m->first_room = round_up(room);
	m->max = round_up(max);
	m->free = NONE;
	m->entries = shim_malloc(s, m->max / PIECE * sizeof(m->entries[0]));
	if (m->entries == NULL || !table_begin(m, &m->cur, m->first_room))
		goto fail;
	while (m->cur.pieces < pieces_of(&m->cur))
		if (!table_more(m, &m->cur))
			goto fail;
	while (m->entry_pieces < m->first_room / PIECE)
		if (!more_entries(m))
			goto fail;
	*out = m;
	return 0;
fail:
	flow_map_destroy(m);
	return -ENOMEM;
}

void
flow_map_destroy(struct flow_map *m)
{
	if (m == NULL)
		return;
	table_free(m, &m->cur);
	table_free(m, &m->old);
	table_free(m, &m->next);
	for (uint32_t i = 0; i < m->entry_pieces; i++)
		shim_free(m->shim, m->entries[i]);
	shim_free(m->shim, m->entries);
	shim_free(m->shim, m);
}

/* ---- flows ------------------------------------------------------------------------------------ */

/* An entry that is nobody's, or NONE. */
static uint32_t
entry_take(struct flow_map *m)
{
	uint32_t e = m->free;

	if (e != NONE) {
		m->free = entry_at(m, e)->next;
		return e;
	}
	if (m->fresh < m->entry_pieces * PIECE)
		return m->fresh++;
	if (m->wait > 0)
		return NONE;
	if (!more_entries(m)) {
		grow_failed(m);
		return NONE;
	}
	return m->fresh++;
}

int
flow_map_insert(struct flow_map *m, const struct flow_key *k, uint64_t hash)
{
	uint32_t e = NONE;

	if (flow_map_lookup(m, k, hash)) {
		m->st.present++;
		return 1;
	}
	m->wait -= m->wait > 0;
	grow(m);
	if (!flow_map_full(m))
		e = entry_take(m);
	if (e == NONE) {
		m->st.full++;
		return -ENOSPC;
	}
	entry_at(m, e)->key = *k;
	entry_at(m, e)->hash = hash;
	put(&m->cur, hash, e);
	m->st.used++;
	m->st.inserted++;
	return 0;
}

bool
flow_map_full(const struct flow_map *m)
{
	return m->st.used >= room_of(&m->cur);
}

bool
flow_map_lookup(const struct flow_map *m, const struct flow_key *k, uint64_t hash)
{
	unsigned int slot;

	return find(m, &m->cur, k, hash, &slot) != NULL || (moving(m) && find(m, &m->old, k, hash, &slot) != NULL);
}

uint64_t
flow_map_lookup_bulk(const struct flow_map *m, const struct flow_key *const *k, const uint64_t *hash, unsigned int n)
{
	const struct bucket *home_of[64];
	const struct entry *first[64];
	uint64_t there = 0, more = 0;

	for (unsigned int i = 0; i < n; i++) {
		home_of[i] = bucket_at(&m->cur, home(&m->cur, hash[i]));
		__builtin_prefetch(home_of[i]);
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct bucket *b = home_of[i];
		unsigned int hit = slots_with(b, tag_of(hash[i]));
		/* without a hit some entry that exists: a line is fetched for hits only, without a branch */
		const struct entry *e = entry_at(m, b->entry[__builtin_ctz(hit | 1u << (SLOTS - 1))]);

		__builtin_prefetch(hit != 0 ? (const void *)e : b);
		first[i] = e;
		there |= (uint64_t)(hit != 0) << i;
		more |= (uint64_t)((hit & (hit - 1)) != 0 || b->over != 0) << i;
	}
	if (moving(m))
		more = n == 64 ? UINT64_MAX : (1ull << n) - 1;
	for (uint64_t w = there; w != 0; w &= w - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(w);

		if (flow_key_same(&first[i]->key, k[i]))
			more &= ~(1ull << i);
		else
			there &= ~(1ull << i);
	}
	for (; more != 0; more &= more - 1) { /* further hits, another bucket, another table: seldom */
		unsigned int i = (unsigned int)__builtin_ctzll(more);

		there |= (uint64_t)flow_map_lookup(m, k[i], hash[i]) << i;
	}
	return there;
}

static bool
take_out(struct flow_map *m, struct table *t, const struct flow_key *k, uint64_t hash)
{
	uint16_t tag = tag_of(hash);
	unsigned int slot;
	struct bucket *bk = find(m, t, k, hash, &slot);
	uint32_t b = home(t, hash);

	if (bk == NULL)
		return false;
	for (; bucket_at(t, b) != bk; b = onward(t, b, tag))
		bucket_at(t, b)->over--;
	bk->tag[slot] = 0;
	entry_at(m, bk->entry[slot])->next = m->free;
	m->free = bk->entry[slot];
	return true;
}

int
flow_map_remove(struct flow_map *m, const struct flow_key *k, uint64_t hash)
{
	if (!take_out(m, &m->cur, k, hash) && !(moving(m) && take_out(m, &m->old, k, hash)))
		return -ENOENT;
	m->st.used--;
	m->st.removed++;
	return 0;
}

void
flow_map_clear(struct flow_map *m)
{
	if (m->fresh == 0)
		return;
	table_free(m, &m->next);
	table_free(m, &m->old);
	m->cur.mask = m->first_room / PER_BUCKET - 1; /* the first pieces of a larger table are as good as a smaller one's */
	while (m->cur.pieces > pieces_of(&m->cur))
		shim_free(m->shim, m->cur.piece[--m->cur.pieces]);
	for (uint32_t i = 0; i < m->cur.pieces; i++) {
		uint32_t n = m->cur.mask + 1 < PIECE ? m->cur.mask + 1 : PIECE;

		memset(m->cur.piece[i], 0, n * sizeof(struct bucket));
	}
	while (m->entry_pieces > m->first_room / PIECE)
		shim_free(m->shim, m->entries[--m->entry_pieces]);
	m->fresh = 0;
	m->free = NONE;
	m->wait = 0;
	m->st.removed += m->st.used;
	m->st.used = 0;
}

void
flow_map_stats(const struct flow_map *m, struct flow_map_stats *out)
{
	*out = m->st;
	out->room = room_of(&m->cur);
}

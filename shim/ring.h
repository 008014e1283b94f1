/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both bindings do to a ring besides calling it; and rings whose memory is taken for hostile. Of these nothing is used that
 * the ring says of itself: how large it is and where the own side stands is known privately (struct shim_ring_end). What it says is
 * compared with that before each burst. The other side's tail is read once, and a buffer only by an address that the pool knows.
 */
#ifndef NONIC_SHIM_RING_H
#define NONIC_SHIM_RING_H

#include <errno.h>
#include <rte_ring.h>
#include <string.h>

#include "buf.h"
#include "types.h"

/*
 * A side that one process uses moves its head, copies, then moves its tail, which the other side looks at. One that died in
 * between left head before tail's new place: the head goes back, and nobody has seen anything.
 */
static inline int
ring_recover(struct rte_ring *r, enum shim_ring_side side)
{
	struct rte_ring_headtail *ht = side == SHIM_RING_PRODUCER ? &r->prod : &r->cons;

	if (ht->sync_type != RTE_RING_SYNC_ST)
		return -EINVAL;
	ht->head = __atomic_load_n(&ht->tail, __ATOMIC_ACQUIRE);
	return 0;
}

/* shim_ring_take: look, stamp, and only then move the tail, by which the buffers leave the ring. */
static inline unsigned int
ring_take(struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark)
{
	uint32_t at = r->cons.tail; /* one consumer: nobody else moves it */
	uint32_t there = __atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE) - at;
	unsigned int i;

	if (there > r->capacity)
		return 0; /* no ring looks so */
	if (n > there)
		n = there;
	__rte_ring_dequeue_elems(r, at, m, sizeof(*m), n);
	for (i = 0; i < n; i++)
		shim_buf_mark_set(m[i], mark);
	r->cons.head = at + n;
	__atomic_store_n(&r->cons.tail, at + n, __ATOMIC_RELEASE);
	return n;
}

/* ---- rings that may be damaged ---- */

/* What is wrong with what a ring of `count` slots says of itself; NULL: nothing. */
static inline const char *
ring_header_wrong(const struct rte_ring *r, uint32_t count)
{
	if (r->size != count)
		return "its size is another";
	if (r->mask != count - 1)
		return "its mask is another";
	if (r->capacity != count - 1)
		return "its capacity is another";
	if (r->prod.sync_type != RTE_RING_SYNC_ST || r->cons.sync_type != RTE_RING_SYNC_ST)
		return "its way of synchronising is another";
	if (r->flags != (RING_F_SP_ENQ | RING_F_SC_DEQ))
		return "its flags are others";
	return NULL;
}

static inline int
ring_attach(struct shim_ring_end *e, struct rte_ring *r, const char *name, uint32_t count)
{
	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < sizeof(e->name) - 1 && name[i] != '\0'; i++)
		e->name[i] = name[i];
	e->r = r;
	e->count = count;
	if (count < 2 || (count & (count - 1)) != 0)
		e->wrong = "no ring has such a size";
	return e->wrong == NULL ? 0 : -EINVAL;
}

static inline struct rte_ring_headtail *
ring_side(struct rte_ring *r, enum shim_ring_side side)
{
	return side == SHIM_RING_PRODUCER ? &r->prod : &r->cons;
}

/*
 * How many buffers are in it, as the side sees it; what is wrong comes to e->wrong. The side's own words must be as this process left
 * them; the other's tail, if it is in range, may be any place.
 */
static inline uint32_t
ring_look(struct shim_ring_end *e, enum shim_ring_side side)
{
	const struct rte_ring_headtail *mine = ring_side(e->r, side);
	/* what the other side did before it moved its tail is seen */
	uint32_t other = __atomic_load_n(&ring_side(e->r, !side)->tail, __ATOMIC_ACQUIRE);
	uint32_t used = side == SHIM_RING_PRODUCER ? e->at[side] - other : other - e->at[side];

	e->wrong = ring_header_wrong(e->r, e->count);
	if (e->wrong == NULL && (mine->tail != e->at[side] || mine->head != e->at[side]))
		e->wrong = "its own side is not where it was left";
	if (e->wrong == NULL && used > e->count - 1)
		e->wrong = "it has more entries than room";
	return used;
}

/* shim_ring_succeed */
static inline int
ring_succeed(struct shim_ring_end *e, enum shim_ring_side side)
{
	struct rte_ring_headtail *mine;
	uint32_t other, used;
	int mended = 0;

	if (e->r == NULL || e->count < 2)
		return -EINVAL;
	mine = ring_side(e->r, side);
	if (ring_header_wrong(e->r, e->count) != NULL) {
		e->r->size = e->count;
		e->r->mask = e->r->capacity = e->count - 1;
		e->r->flags = RING_F_SP_ENQ | RING_F_SC_DEQ;
		e->r->prod.sync_type = e->r->cons.sync_type = RTE_RING_SYNC_ST;
		mended = 1;
	}
	e->at[side] = __atomic_load_n(&mine->tail, __ATOMIC_ACQUIRE);
	other = __atomic_load_n(&ring_side(e->r, !side)->tail, __ATOMIC_ACQUIRE);
	used = side == SHIM_RING_PRODUCER ? e->at[side] - other : other - e->at[side];
	if (used > e->count - 1) {
		e->at[side] = other; /* empty: where the other side is must be believed */
		mended = 1;
	}
	mine->head = e->at[side];
	__atomic_store_n(&mine->tail, e->at[side], __ATOMIC_RELEASE);
	e->wrong = NULL;
	e->said_wrong = false;
	return mended;
}

static inline unsigned int
ring_fill(const struct shim_ring_end *e)
{
	uint32_t prod, used;

	if (e->r == NULL || e->wrong != NULL)
		return 0;
	/* in this order it is not too much but when the other side moves in between */
	prod = __atomic_load_n(&e->r->prod.tail, __ATOMIC_ACQUIRE);
	used = prod - __atomic_load_n(&e->r->cons.tail, __ATOMIC_ACQUIRE);
	return used <= e->count - 1 ? used : (int32_t)used < 0 ? 0 : e->count - 1;
}

static inline void **
ring_slot(const struct shim_ring_end *e, uint32_t at)
{
	return (void **)(e->r + 1) + (at & (e->count - 1));
}

/* Who dies between the stamps and the tail had the buffers: they bear its mark, and are in no ring. */
static inline unsigned int
ring_put(struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n)
{
	uint32_t at = e->at[SHIM_RING_PRODUCER], room;
	struct rte_mbuf *seg;
	unsigned int i;

	if (e->r == NULL || e->wrong != NULL)
		return 0;
	room = e->count - 1 - ring_look(e, SHIM_RING_PRODUCER);
	if (e->wrong != NULL)
		return 0;
	if (n > room)
		n = room;
	e->r->prod.head = at + n;
	for (i = 0; i < n; i++) {
		for (seg = m[i]; seg != NULL; seg = seg->next)
			seg->dynfield1[8] |= SHIM_BUF_IN_RING;
		*ring_slot(e, at + i) = m[i];
	}
	/* the buffers and their slots before the tail that shows them */
	__atomic_store_n(&e->r->prod.tail, at + n, __ATOMIC_RELEASE);
	e->at[SHIM_RING_PRODUCER] = at + n;
	return n;
}

typedef bool ring_owns_fn(struct shim *s, const struct shim_pool *p, const void *m);

/* Of a ring's way out: the pool of its buffers, and who takes them. */
struct ring_taker {
	struct shim *s;
	struct shim_pool *pool;
	ring_owns_fn *owns;
	uint16_t room;  /* the pool's data room */
	uint32_t mark;
};

/* One segment of a buffer that may be in a ring: referred to once, with its bytes in its own memory. */
static inline const char *
ring_seg_wrong(const struct ring_taker *t, const struct rte_mbuf *b)
{
	if (rte_mbuf_refcnt_read(b) != 1)
		return "not referred to once";
	if (b->pool != (struct rte_mempool *)t->pool || (b->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0 ||
	    b->buf_addr != (const void *)(b + 1) || b->buf_len > t->room)
		return "its bytes are not its own";
	if ((uint32_t)b->data_off + b->data_len > b->buf_len)
		return "more bytes than its memory";
	return NULL;
}

/* The chain behind a first segment whose word is `word`: as many as it says, all in the same ring, of the length that it says. */
static inline const char *
ring_chain_wrong(const struct ring_taker *t, const struct rte_mbuf *head, uint32_t word)
{
	const struct rte_mbuf *b = head;
	uint32_t len = head->data_len, segs = 1;
	const char *why;

	while (b->next != NULL) {
		b = b->next;
		if (++segs > head->nb_segs)
			return "a longer chain than it says";
		if (!t->owns(t->s, t->pool, b))
			return "a chain that leaves the pool";
		why = b->dynfield1[8] != word ? "a chain of which not all is in the ring" : ring_seg_wrong(t, b);
		if (why != NULL)
			return why;
		len += b->data_len;
	}
	if (segs != head->nb_segs)
		return "a shorter chain than it says";
	return len == head->pkt_len ? NULL : "a length that is not its segments'";
}

/*
 * Makes the buffer at p the taker's, if it is one that a ring may hold: NULL; else why not. The swap of its word lets one taker have
 * it, whatever points at it. "Being taken" is seen by a second slot of the same burst, and means nothing to a successor.
 */
static inline const char *
ring_claim(const struct ring_taker *t, struct rte_mbuf *p)
{
	uint32_t word, taken = t->mark | SHIM_BUF_IN_RING | SHIM_BUF_TAKING;
	const char *why;
	struct rte_mbuf *seg;

	if (!t->owns(t->s, t->pool, p))
		return "no buffer of the pool";
	word = __atomic_load_n(&p->dynfield1[8], __ATOMIC_ACQUIRE);
	if ((word & SHIM_BUF_IN_RING) == 0 || word == taken)
		return "a buffer that is in no ring";
	why = ring_seg_wrong(t, p);
	if (why == NULL)
		why = ring_chain_wrong(t, p, word);
	if (why != NULL)
		return why;
	if (!__atomic_compare_exchange_n(&p->dynfield1[8], &word, taken, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return "a buffer that somebody else takes";
	for (seg = p->next; seg != NULL; seg = seg->next)
		seg->dynfield1[8] = taken;
	return NULL;
}

/*
 * Stamped, out of the ring, and only then said to be in none: who dies before the tail has moved leaves buffers that its successor takes,
 * who dies after it has them, by its mark.
 */
static inline unsigned int
ring_get(struct shim_ring_end *e, const struct ring_taker *t, struct rte_mbuf **m, unsigned int n)
{
	uint32_t at = e->at[SHIM_RING_CONSUMER], there;
	const char *why;
	unsigned int i, k = 0;

	if (e->r == NULL || e->wrong != NULL)
		return 0;
	there = ring_look(e, SHIM_RING_CONSUMER);
	if (e->wrong != NULL)
		return 0;
	if (n > there)
		n = there;
	for (i = 0; i < n; i++) {
		struct rte_mbuf *p = *ring_slot(e, at + i);

		why = ring_claim(t, p);
		if (why == NULL) {
			m[k++] = p;
			continue;
		}
		if (e->bad++ == 0) {
			e->bad_why = why;
			e->bad_slot = (at + i) & (e->count - 1);
		}
	}
	e->r->cons.head = at + n;
	/* the stamps before the tail that lets the buffers go */
	__atomic_store_n(&e->r->cons.tail, at + n, __ATOMIC_RELEASE);
	e->at[SHIM_RING_CONSUMER] = at + n;
	for (i = 0; i < k; i++)
		shim_buf_mark_set(m[i], t->mark);
	return k;
}

#endif

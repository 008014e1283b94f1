/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of what is in flight: memory, order, sums, division and union. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "recovery_priv.h"

#define CHUNK_SEGS 64
#define CHUNK_FLIGHTS 16

/* Free pieces are linked by their first word. */
struct rec_chunk {
	struct rec_chunk *next;
	uint64_t pad; /* what follows is aligned to 16 */
};

void
rec_pool_init(struct rec_pool *p, const struct rec_config *c, const struct rec_mem *mem)
{
	memset(p, 0, sizeof(*p));
	if (c == NULL)
		rec_config_default(&p->cfg);
	else
		p->cfg = *c;
	p->mem = *mem;
}

void
rec_pool_release(struct rec_pool *p)
{
	struct rec_chunk *c;

	assert(p->segs_used == 0 && p->flights_used == 0);
	while ((c = p->chunks) != NULL) {
		p->chunks = c->next;
		p->mem.free(p->mem.ctx, c);
	}
	p->free_seg = p->free_flight = NULL;
}

static void
piece_put(void **free, void *piece)
{
	*(void **)piece = *free;
	*free = piece;
}

static void *
piece_get(struct rec_pool *p, void **free, size_t size, unsigned int n)
{
	void *piece = *free;
	struct rec_chunk *c;
	unsigned int i;

	if (piece == NULL) {
		c = p->mem.alloc(p->mem.ctx, sizeof(*c) + n * size);
		if (c == NULL)
			return NULL;
		c->next = p->chunks;
		p->chunks = c;
		for (i = n; i-- > 0;)
			piece_put(free, (char *)(c + 1) + i * size);
		piece = *free;
	}
	*free = *(void **)piece;
	return piece;
}

struct rec_flight *
rec_flight_get(struct rec *r)
{
	struct rec_flight *f = r->fl;

	if (f != NULL)
		return f;
	f = piece_get(r->pool, &r->pool->free_flight, sizeof(*f), CHUNK_FLIGHTS);
	if (f == NULL)
		return NULL;
	r->pool->flights_used++;
	memset(f, 0, sizeof(*f));
	list_init(&f->segs);
	list_init(&f->flying);
	list_init(&f->missing);
	f->rto_at = f->tlp_at = f->reo_at = REC_NEVER;
	r->fl = f;
	return f;
}

void
rec_flight_put(struct rec *r)
{
	struct rec_flight *f = r->fl;

	if (f == NULL)
		return;
	while (!list_empty(&f->segs))
		rec_seg_free(r, rec_seg_at(f->segs.next));
	r->fl = NULL;
	r->pool->flights_used--;
	piece_put(&r->pool->free_flight, f);
}

uint32_t
rec_seg_count(const struct rec_seg *s)
{
	return (s->end - s->seq + s->size - 1) / s->size;
}

/* s enters the sums (way 1) or leaves them (way -1, as unsigned arithmetic). */
static void
account(struct rec_flight *f, const struct rec_seg *s, uint32_t way)
{
	uint32_t n = rec_seg_count(s) * way;
	uint32_t len = (s->end - s->seq) * way;

	f->n_segs += n;
	if (s->retx)
		f->n_retx += n;
	if (s->state == REC_SACKED) {
		f->n_sacked += n;
		f->sacked += len;
	} else if (s->state == REC_LOST) {
		f->n_lost += n;
		f->lost += len;
	}
}

#define IN 1u
#define OUT UINT32_MAX

static struct rec_seg *
seg_new(struct rec *r, bool must)
{
	struct rec_pool *p = r->pool;
	struct rec_seg *s;

	if (!must && (r->fl->records >= p->cfg.max_segs || p->segs_used >= p->cfg.pool_segs))
		return NULL;
	s = piece_get(p, &p->free_seg, sizeof(*s), CHUNK_SEGS);
	if (s == NULL)
		return NULL;
	p->segs_used++;
	r->fl->records++;
	list_init(&s->on);
	list_init(&s->link);
	return s;
}

static void
seg_drop(struct rec *r, struct rec_seg *s)
{
	if (r->fl->hint == s)
		r->fl->hint = NULL;
	list_del(&s->on);
	list_del(&s->link);
	r->fl->records--;
	r->pool->segs_used--;
	piece_put(&r->pool->free_seg, s);
}

void
rec_seg_free(struct rec *r, struct rec_seg *s)
{
	account(r->fl, s, OUT);
	seg_drop(r, s);
}

/*
 * May b, which follows a, be one record with it? Both are of whole segments then, so that all boundaries stay known.
 */
static bool
alike(const struct rec_seg *a, const struct rec_seg *b)
{
	if (a->state != b->state || a->end != b->seq || (a->end - a->seq) % a->size != 0)
		return false;
	if (b->size != a->size && !(b->size < a->size && b->end - b->seq <= b->size))
		return false;
	if (a->state == REC_SACKED)
		return true; /* when it was sent is of no interest any more */
	return a->sent == b->sent && a->retx == b->retx;
}

int
rec_seg_append(struct rec *r, uint64_t now, uint32_t seq, uint32_t end)
{
	struct rec_flight *f = r->fl;
	struct rec_seg *tail = list_empty(&f->segs) ? NULL : rec_seg_at(f->segs.prev);
	bool flying = tail != NULL && tail->state == REC_FLYING && !tail->retx;
	struct rec_seg b = { .sent = now, .seq = seq, .end = end };
	uint32_t size = r->cc.mss < end - seq ? r->cc.mss : end - seq;
	struct rec_seg *s = NULL;

	b.size = (uint16_t)size;
	if (!flying || !alike(tail, &b)) {
		s = seg_new(r, tail == NULL);
		if (s == NULL && !flying)
			s = seg_new(r, true);
		if (s == NULL && !flying)
			return -ENOMEM;
	}
	if (s == NULL) { /* joins the tail: alike, or for want of memory, then with the later time */
		account(f, tail, OUT);
		if (tail->size < b.size)
			tail->size = b.size;
		tail->end = end;
		tail->sent = now;
		account(f, tail, IN);
		list_del(&tail->link);
		list_add_tail(&f->flying, &tail->link);
		return 0;
	}
	s->sent = now;
	s->seq = seq;
	s->end = end;
	s->size = b.size;
	s->state = REC_FLYING;
	s->retx = false;
	list_add_tail(&f->segs, &s->on);
	list_add_tail(&f->flying, &s->link);
	account(f, s, IN);
	return 0;
}

struct rec_seg *
rec_seg_split(struct rec *r, struct rec_seg *s, uint32_t at)
{
	struct rec_seg *n = seg_new(r, false);

	if (n == NULL)
		return NULL;
	account(r->fl, s, OUT);
	n->sent = s->sent;
	n->seq = at;
	n->end = s->end;
	n->size = s->size;
	n->state = s->state;
	n->retx = s->retx;
	s->end = at;
	list_add_head(&s->on, &n->on);
	if (s->state != REC_SACKED)
		list_add_head(&s->link, &n->link);
	account(r->fl, s, IN);
	account(r->fl, n, IN);
	return n;
}

/* Into the lost ones by sequence number, into the flying ones by time; both mostly come in order. */
static void
file(struct rec_flight *f, struct rec_seg *s)
{
	struct list *head = s->state == REC_LOST ? &f->missing : &f->flying;
	struct list *at = head->prev;

	for (; at != head; at = at->prev) {
		const struct rec_seg *o = rec_seg_link(at);

		if (s->state == REC_LOST ? seq_lt(o->seq, s->seq) : o->sent <= s->sent)
			break;
	}
	list_add_head(at, &s->link);
}

void
rec_seg_set(struct rec *r, struct rec_seg *s, enum rec_state st)
{
	account(r->fl, s, OUT);
	list_del(&s->link);
	s->state = (uint8_t)st;
	if (st != REC_SACKED)
		file(r->fl, s);
	account(r->fl, s, IN);
}

void
rec_seg_trim(struct rec *r, struct rec_seg *s, uint32_t seq)
{
	account(r->fl, s, OUT);
	s->seq = seq;
	account(r->fl, s, IN);
}

void
rec_seg_resize(struct rec *r, struct rec_seg *s, uint32_t size)
{
	account(r->fl, s, OUT);
	s->size = (uint16_t)size;
	account(r->fl, s, IN);
}

void
rec_seg_resent(struct rec *r, struct rec_seg *s, uint64_t now)
{
	account(r->fl, s, OUT);
	s->sent = now;
	s->retx = true;
	s->state = REC_FLYING;
	if (s->size > r->cc.mss)
		s->size = (uint16_t)r->cc.mss;
	list_del(&s->link);
	list_add_tail(&r->fl->flying, &s->link);
	account(r->fl, s, IN);
}

/* b, right behind a and like it, becomes part of a. */
static void
unite(struct rec *r, struct rec_seg *a, struct rec_seg *b)
{
	account(r->fl, a, OUT);
	account(r->fl, b, OUT);
	a->end = b->end;
	a->retx |= b->retx;
	if (b->sent > a->sent)
		a->sent = b->sent;
	account(r->fl, a, IN);
	if (r->fl->hint == b)
		r->fl->hint = a;
	seg_drop(r, b);
}

struct rec_seg *
rec_seg_merge(struct rec *r, struct rec_seg *s)
{
	struct list *head = &r->fl->segs;

	if (s->on.next != head && alike(s, rec_seg_at(s->on.next)))
		unite(r, s, rec_seg_at(s->on.next));
	if (s->on.prev != head && alike(rec_seg_at(s->on.prev), s)) {
		struct rec_seg *a = rec_seg_at(s->on.prev);

		unite(r, a, s);
		s = a;
	}
	return s;
}

struct rec_seg *
rec_seg_find(const struct rec *r, uint32_t seq)
{
	const struct list *head = &r->fl->segs;
	struct list *at = r->fl->hint != NULL ? &r->fl->hint->on : head->next;

	while (at != head && seq_lt(seq, rec_seg_at(at)->seq))
		at = at->prev;
	if (at == head)
		at = head->next;
	while (at != head && seq_le(rec_seg_at(at)->end, seq))
		at = at->next;
	return at == head ? NULL : rec_seg_at(at);
}

static bool
lists_ok(const struct rec_flight *f)
{
	const struct list *it;
	uint32_t linked = 0;
	uint64_t last = 0;

	list_for_each(it, &f->flying) {
		if (rec_seg_link(it)->state != REC_FLYING || rec_seg_link(it)->sent < last)
			return false;
		last = rec_seg_link(it)->sent;
		linked++;
	}
	list_for_each(it, &f->missing) {
		if (rec_seg_link(it)->state != REC_LOST)
			return false;
		if (it->prev != &f->missing && !seq_lt(rec_seg_link(it->prev)->seq, rec_seg_link(it)->seq))
			return false;
		linked++;
	}
	list_for_each(it, &f->segs)
		linked -= rec_seg_at(it)->state != REC_SACKED;
	return linked == 0;
}

bool
rec_check(const struct rec *r)
{
	const struct rec_flight *f = r->fl;
	struct rec_flight sum = { .records = 0 };
	const struct list *it;
	uint32_t seq = r->una;

	if (r->cc.cwnd < r->cc.mss || r->cc.cwnd > CC_CWND_MAX)
		return false;
	if (f == NULL)
		return r->una == r->nxt;
	list_for_each(it, &f->segs) {
		const struct rec_seg *s = rec_seg_at(it);

		if (s->seq != seq || !seq_lt(s->seq, s->end) || s->size == 0)
			return false;
		seq = s->end;
		sum.records++;
		account(&sum, s, IN);
	}
	return seq == r->nxt && r->una != r->nxt && lists_ok(f) && sum.records == f->records && sum.n_segs == f->n_segs &&
		sum.n_sacked == f->n_sacked && sum.n_lost == f->n_lost && sum.n_retx == f->n_retx && sum.sacked == f->sacked &&
		sum.lost == f->lost && f->sacked + f->lost <= r->nxt - r->una;
}

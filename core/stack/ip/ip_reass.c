/* SPDX-License-Identifier: BSD-3-Clause */
/* Reassembly of fragments, the part IPv4 and IPv6 share. */
#include "ip_reass.h"

#include <errno.h>

#include "../priv.h"

#define BUCKETS 256

struct piece {
	struct piece *next; /* by offset; or of the free ones */
	struct rte_mbuf *m;
	uint32_t off, end;
	uint16_t hlen;
};

struct datagram {
	struct list bucket;
	struct list age;     /* oldest first: all live equally long */
	struct ip_reass_key key;
	struct netif *nif;
	uint64_t expires_ns;
	struct piece *pieces;
	uint32_t got, total; /* bytes; total 0: the last piece is not here yet */
	unsigned int count;
	unsigned int segs;   /* buffers */
	bool dead;           /* an overlap was seen */
};

struct ip_reass {
	struct stack *s;
	struct ip_reass_config cfg;
	struct timer timer;
	struct list age, free;
	struct piece *free_pieces;
	unsigned int segs, max_segs, max_segs_source;
	struct list bucket[BUCKETS];
	struct datagram datagrams[IP_REASS_DATAGRAMS];
	struct piece pieces[IP_REASS_PIECES];
};

static void reass_timer(struct timer *t, void *arg, uint64_t now_ns);

int
ip_reass_create(struct stack *s, const struct ip_reass_config *cfg, struct ip_reass **out)
{
	struct ip_reass *r = shim_malloc(s->shim, sizeof(*r));

	if (r == NULL)
		return -ENOMEM;
	r->s = s;
	r->cfg = *cfg;
	timer_init(&r->timer, reass_timer, r);
	list_init(&r->age);
	list_init(&r->free);
	/* never more than a quarter of all buffers, never more than half of that for one source */
	r->max_segs = shim_pool_size(s->shim, s->pool) / 4;
	if (r->max_segs > IP_REASS_PIECES)
		r->max_segs = IP_REASS_PIECES;
	r->max_segs_source = r->max_segs / 2;
	for (unsigned int i = 0; i < BUCKETS; i++)
		list_init(&r->bucket[i]);
	for (unsigned int i = 0; i < IP_REASS_DATAGRAMS; i++) {
		list_init(&r->datagrams[i].bucket);
		list_add_tail(&r->free, &r->datagrams[i].age);
	}
	for (unsigned int i = 0; i < IP_REASS_PIECES; i++) {
		r->pieces[i].next = r->free_pieces;
		r->free_pieces = &r->pieces[i];
	}
	*out = r;
	return 0;
}

/* Counts and frees every piece of d. */
static void
drop_pieces(struct ip_reass *r, struct datagram *d, enum stack_drop why)
{
	struct piece *p;

	while ((p = d->pieces) != NULL) {
		d->pieces = p->next;
		stack_drop(r->s, NULL, why, p->m);
		p->next = r->free_pieces;
		r->free_pieces = p;
	}
	r->segs -= d->segs;
	d->segs = 0;
	d->count = 0;
}

static void
set_timer(struct ip_reass *r)
{
	if (list_empty(&r->age))
		timer_cancel(&r->s->wheel, &r->timer);
	else
		timer_set(&r->s->wheel, &r->timer,
			list_entry(r->age.next, struct datagram, age)->expires_ns);
}

/* d's pieces are gone. */
static void
free_datagram(struct ip_reass *r, struct datagram *d)
{
	bool oldest = r->age.next == &d->age;

	list_del(&d->bucket);
	list_del(&d->age);
	list_add_tail(&r->free, &d->age);
	if (oldest)
		set_timer(r);
}

static void
reass_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct ip_reass *r = arg;

	(void)t;
	while (!list_empty(&r->age)) {
		struct datagram *d = list_entry(r->age.next, struct datagram, age);

		if (d->expires_ns > now_ns)
			break;
		if (!d->dead)
			r->cfg.expired(r->s, d->nif, d->pieces != NULL && d->pieces->off == 0 ?
				d->pieces->m : NULL);
		drop_pieces(r, d, r->cfg.timeout);
		free_datagram(r, d);
	}
	set_timer(r);
}

void
ip_reass_destroy(struct ip_reass *r)
{
	if (r == NULL)
		return;
	while (!list_empty(&r->age)) {
		struct datagram *d = list_entry(r->age.next, struct datagram, age);

		drop_pieces(r, d, r->cfg.timeout);
		free_datagram(r, d);
	}
	shim_free(r->s->shim, r);
}

static struct list *
bucket_of(struct ip_reass *r, const struct ip_reass_key *key)
{
	struct siphash_key k = { r->s->cfg.secrets.table[0], r->s->cfg.secrets.table[1] };

	return &r->bucket[siphash13(&k, key, sizeof(*key)) % BUCKETS];
}

/* Makes room for n more buffers from src: the oldest of the source goes first, then the oldest of
 * all. */
static bool
make_room(struct ip_reass *r, const struct ip_reass_key *key, const struct datagram *keep,
		unsigned int n)
{
	unsigned int of_source = 0;
	struct list *it, *tmp;

	if (r->segs + n <= r->max_segs_source && r->free_pieces != NULL &&
			(keep != NULL || !list_empty(&r->free)))
		return true;
	list_for_each(it, &r->age) {
		struct datagram *d = list_entry(it, struct datagram, age);

		if (ip_addr_eq(&d->key.src, &key->src))
			of_source += d->segs;
	}
	list_for_each_safe(it, tmp, &r->age) {
		struct datagram *d = list_entry(it, struct datagram, age);

		if (of_source + n <= r->max_segs_source)
			break;
		if (d == keep || !ip_addr_eq(&d->key.src, &key->src))
			continue;
		of_source -= d->segs;
		drop_pieces(r, d, r->cfg.limit);
		free_datagram(r, d);
	}
	list_for_each_safe(it, tmp, &r->age) {
		struct datagram *d = list_entry(it, struct datagram, age);

		if (r->segs + n <= r->max_segs && r->free_pieces != NULL &&
				(keep != NULL || !list_empty(&r->free)))
			break;
		if (d == keep)
			continue;
		drop_pieces(r, d, r->cfg.limit);
		free_datagram(r, d);
	}
	return of_source + n <= r->max_segs_source && r->segs + n <= r->max_segs &&
	       r->free_pieces != NULL;
}

static struct datagram *
find(struct ip_reass *r, const struct ip_reass_key *key)
{
	struct list *head = bucket_of(r, key), *it;

	list_for_each(it, head) {
		struct datagram *d = list_entry(it, struct datagram, bucket);

		if (memcmp(&d->key, key, sizeof(*key)) == 0)
			return d;
	}
	return NULL;
}

static struct datagram *
start(struct ip_reass *r, const struct ip_reass_piece *p)
{
	struct list *l = list_pop(&r->free);
	struct datagram *d;

	if (l == NULL)
		return NULL;
	d = list_entry(l, struct datagram, age);
	d->key = p->key;
	d->nif = p->nif;
	d->expires_ns = r->s->now_ns + r->cfg.timeout_ns;
	d->pieces = NULL;
	d->got = d->total = 0;
	d->count = d->segs = 0;
	d->dead = false;
	list_add_tail(bucket_of(r, &p->key), &d->bucket);
	list_add_tail(&r->age, &d->age);
	if (r->age.next == &d->age)
		set_timer(r);
	return d;
}

/* All of d as one chain behind the first piece's headers; d is gone. false: too many segments, all
 * dropped. */
static bool
join(struct ip_reass *r, struct datagram *d, struct ip_reass_piece *p)
{
	struct piece *first = d->pieces, *q = first;
	struct rte_mbuf *m = first->m;
	bool ok = true;

	p->hlen = first->hlen;
	p->len = d->total;
	d->pieces = NULL;
	while (q != NULL) {
		struct piece *next = q->next;

		if (q != first) {
			q->m = ip_strip(r->s, q->m, q->hlen);
			if (!ok || shim_buf_chain(m, q->m) != 0) {
				stack_drop(r->s, NULL, r->cfg.limit, q->m);
				ok = false;
			}
		}
		q->next = r->free_pieces;
		r->free_pieces = q;
		q = next;
	}
	drop_pieces(r, d, r->cfg.limit); /* only the accounts: no piece is left */
	free_datagram(r, d);
	if (!ok)
		stack_drop(r->s, NULL, r->cfg.limit, m);
	p->m = ok ? m : NULL;
	return ok;
}

/* Where the piece goes: *at is the link to put it into. KEPT, DUPLICATE or OVERLAP. */
static enum ip_reass_result
place(struct datagram *d, const struct ip_reass_piece *p, struct piece ***at)
{
	uint32_t end = p->off + p->len;
	struct piece **link = &d->pieces;

	if (d->dead || (d->total != 0 && (end > d->total || (!p->more && end != d->total))))
		return IP_REASS_OVERLAP;
	while (*link != NULL && (*link)->end <= p->off)
		link = &(*link)->next;
	*at = link;
	if (*link != NULL && (*link)->off == p->off && (*link)->end == end &&
	    (p->more ? d->total != end : d->total == end))
		return IP_REASS_DUPLICATE;
	if (*link != NULL && ((*link)->off < end || !p->more))
		return IP_REASS_OVERLAP;
	return IP_REASS_KEPT;
}

enum ip_reass_result
ip_reass_add(struct ip_reass *r, struct ip_reass_piece *p)
{
	struct datagram *d = find(r, &p->key);
	struct piece **at = NULL, *q;
	enum ip_reass_result res;
	unsigned int n = p->m->nb_segs;

	if (d != NULL) {
		res = place(d, p, &at);
		if (res == IP_REASS_OVERLAP) {
			drop_pieces(r, d, r->cfg.overlap);
			d->dead = true;
		}
		if (res != IP_REASS_KEPT)
			return res;
		if (d->count >= IP_REASS_PER_DATAGRAM)
			return IP_REASS_FULL;
	}
	if (!make_room(r, &p->key, d, n))
		return IP_REASS_FULL;
	if (d == NULL) {
		d = start(r, p);
		if (d == NULL)
			return IP_REASS_FULL;
		at = &d->pieces;
	}
	q = r->free_pieces;
	r->free_pieces = q->next;
	*q = (struct piece){.next = *at,
			.m = p->m,
			.off = p->off,
			.end = p->off + p->len,
			.hlen = p->hlen};
	*at = q;
	d->count++;
	d->got += p->len;
	d->segs += n;
	r->segs += n;
	if (!p->more)
		d->total = q->end;
	if (d->total == 0 || d->got != d->total)
		return IP_REASS_KEPT;
	return join(r, d, p) ? IP_REASS_DONE : IP_REASS_KEPT;
}

unsigned int
ip_reass_held(const struct ip_reass *r)
{
	return r->segs;
}

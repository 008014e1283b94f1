/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's tables: connections by a keyed hash, local ports with their listeners, memory in pieces. */
#include <errno.h>

#include "tcp_priv.h"

#define SLAB_CHUNK 64

int
tcp_table_init(struct stack *s, struct tcp_table *t, uint32_t size)
{
	t->v = shim_malloc(s->shim, size * sizeof(t->v[0]));
	t->mask = size - 1;
	t->count = 0;
	return t->v == NULL ? -ENOMEM : 0;
}

void
tcp_table_release(struct stack *s, struct tcp_table *t)
{
	shim_free(s->shim, t->v);
	t->v = NULL;
}

static void
put(struct tcp_table *t, uint64_t hash, void *obj)
{
	uint32_t i = (uint32_t)hash & t->mask;

	while (t->v[i].obj != NULL)
		i = (i + 1) & t->mask;
	t->v[i].hash = hash;
	t->v[i].obj = obj;
	t->count++;
}

static void
grow(struct stack *s, struct tcp_table *t)
{
	struct tcp_table n;

	if (t->mask >= UINT32_MAX / 2 / sizeof(t->v[0]) || tcp_table_init(s, &n, (t->mask + 1) * 2) != 0)
		return;
	for (uint32_t i = 0; i <= t->mask; i++)
		if (t->v[i].obj != NULL)
			put(&n, t->v[i].hash, t->v[i].obj);
	tcp_table_release(s, t);
	*t = n;
}

int
tcp_table_add(struct stack *s, struct tcp_table *t, uint64_t hash, void *obj)
{
	if (t->count >= (t->mask + 1) / 4 * 3)
		grow(s, t);
	if (t->count >= t->mask) /* one stays free: a search ends at it */
		return -ENOMEM;
	put(t, hash, obj);
	return 0;
}

/* What follows moves up into the gap when that is nearer to where it belongs, so that there are no tombstones. */
void
tcp_table_del(struct tcp_table *t, uint64_t hash, const void *obj)
{
	uint32_t i = (uint32_t)hash & t->mask, k;

	while (t->v[i].obj != obj) {
		if (t->v[i].obj == NULL)
			return;
		i = (i + 1) & t->mask;
	}
	for (k = (i + 1) & t->mask; t->v[k].obj != NULL; k = (k + 1) & t->mask) {
		uint32_t home = (uint32_t)t->v[k].hash & t->mask;

		if (((k - home) & t->mask) >= ((k - i) & t->mask)) {
			t->v[i] = t->v[k];
			i = k;
		}
	}
	t->v[i].obj = NULL;
	t->count--;
}

void *
tcp_slab_get(struct stack *s, struct tcp_slab *sl)
{
	char *c;
	void *p;

	if (sl->free == NULL) {
		c = shim_malloc(s->shim, 16 + SLAB_CHUNK * (size_t)sl->size);
		if (c == NULL)
			return NULL;
		*(void **)c = sl->chunks;
		sl->chunks = c;
		for (unsigned int i = SLAB_CHUNK; i-- > 0;) {
			p = c + 16 + i * (size_t)sl->size;
			*(void **)p = sl->free;
			sl->free = p;
		}
	}
	p = sl->free;
	sl->free = *(void **)p;
	sl->used++;
	memset(p, 0, sl->size);
	return p;
}

void
tcp_slab_put(struct tcp_slab *sl, void *p)
{
	*(void **)p = sl->free;
	sl->free = p;
	sl->used--;
}

void
tcp_slab_release(struct stack *s, struct tcp_slab *sl)
{
	while (sl->chunks != NULL) {
		void *c = sl->chunks;

		sl->chunks = *(void **)c;
		shim_free(s->shim, c);
	}
	sl->free = NULL;
}

/* ---- connections ------------------------------------------------------------------------------- */

uint64_t
tcp_hash(const struct tcp_state *t, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be)
{
	if (family == ADDR_INET) {
		struct {
			uint32_t l, r;
			uint16_t lp, rp;
		} k4 = { local->v4, remote->v4, lport_be, rport_be };

		return siphash13(&t->key, &k4, sizeof(k4));
	} else {
		struct {
			union ip_addr l, r;
			uint64_t ports;
		} k = { *local, *remote, lport_be | (uint64_t)rport_be << 16 };

		return siphash13(&t->key, &k, sizeof(k));
	}
}

static uint64_t
key_hash(const struct tcp_state *t, const struct tcp_key *k)
{
	return tcp_hash(t, k->family, &k->local, k->lport_be, &k->remote, k->rport_be);
}

struct tcp_key *
tcp_conn_find(const struct stack *s, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be, const struct netif *nif)
{
	const struct tcp_table *t = &s->tcp->conns;
	uint64_t h = tcp_hash(s->tcp, family, local, lport_be, remote, rport_be);

	for (uint32_t i = (uint32_t)h & t->mask; t->v[i].obj != NULL; i = (i + 1) & t->mask) {
		struct tcp_key *k = t->v[i].obj;

		if (t->v[i].hash == h && k->lport_be == lport_be && k->rport_be == rport_be &&
		    k->family == family && ip_addr_eq(&k->remote, remote) && ip_addr_eq(&k->local, local) &&
		    (k->scope == 0 || nif == NULL || k->scope == nif->index))
			return k;
	}
	return NULL;
}

int
tcp_conn_join(struct stack *s, struct tcp_pcb *p)
{
	int err = tcp_table_add(s, &s->tcp->conns, key_hash(s->tcp, &p->key), p);

	p->in_table = err == 0;
	return err;
}

void
tcp_conn_leave(struct stack *s, struct tcp_pcb *p)
{
	if (p->in_table)
		tcp_table_del(&s->tcp->conns, key_hash(s->tcp, &p->key), p);
	p->in_table = false;
}

/* ---- ports ------------------------------------------------------------------------------------- */

/* Local programs choose ports, peers do not: mixing with the secret is enough here. */
static uint64_t
port_hash(const struct tcp_state *t, uint16_t port_be)
{
	return (port_be ^ t->key.k0) * 0x9e3779b97f4a7c15ull >> 32;
}

struct tcp_port *
tcp_port_find(const struct stack *s, uint16_t port_be)
{
	const struct tcp_table *t = &s->tcp->ports;

	for (uint32_t i = (uint32_t)port_hash(s->tcp, port_be) & t->mask; t->v[i].obj != NULL; i = (i + 1) & t->mask) {
		struct tcp_port *pt = t->v[i].obj;

		if (pt->port_be == port_be)
			return pt;
	}
	return NULL;
}

int
tcp_port_join(struct stack *s, struct tcp_pcb *p)
{
	struct tcp_port *pt = tcp_port_find(s, p->key.lport_be);

	if (pt == NULL) {
		pt = shim_malloc(s->shim, sizeof(*pt));
		if (pt == NULL)
			return -ENOMEM;
		pt->port_be = p->key.lport_be;
		list_init(&pt->owners);
		list_init(&pt->conns);
		if (tcp_table_add(s, &s->tcp->ports, port_hash(s->tcp, pt->port_be), pt) != 0) {
			shim_free(s->shim, pt);
			return -ENOMEM;
		}
	}
	list_add_tail(p->key.rport_be != 0 ? &pt->conns : &pt->owners, &p->on_port);
	return 0;
}

void
tcp_port_leave(struct stack *s, struct tcp_pcb *p)
{
	struct tcp_port *pt;

	if (list_empty(&p->on_port))
		return;
	list_del(&p->on_port);
	pt = tcp_port_find(s, p->key.lport_be);
	if (list_empty(&pt->owners) && list_empty(&pt->conns)) {
		tcp_table_del(&s->tcp->ports, port_hash(s->tcp, pt->port_be), pt);
		shim_free(s->shim, pt);
	}
}

void
tcp_port_move(struct stack *s, struct tcp_pcb *p)
{
	struct tcp_port *pt = tcp_port_find(s, p->key.lport_be);

	list_del(&p->on_port);
	list_add_tail(p->key.rport_be != 0 ? &pt->conns : &pt->owners, &p->on_port);
}

/*
 * How well does listener l fit a packet to this address? 0: not at all. An address beats any, and a dual-stack IPv6 listener comes
 * after an IPv4 one.
 */
static unsigned int
fits(const struct tcp_pcb *l, int family, const union ip_addr *local, const struct netif *nif)
{
	if (l->fsm != TCP_LISTEN)
		return 0;
	if (l->key.scope != 0 && nif != NULL && l->key.scope != nif->index)
		return 0;
	if (l->key.family == family) {
		if (ip_addr_any(&l->key.local))
			return 2;
		return ip_addr_eq(&l->key.local, local) ? 3 : 0;
	}
	return l->key.family == ADDR_INET6 && !l->v6only && ip_addr_any(&l->key.local) ? 1 : 0;
}

/*
 * The best listener; of several equal ones the newest, or, when all of them asked to share (SO_REUSEPORT), the one that the
 * flow's keyed hash names: a flow stays with its listener while the group does not change.
 */
struct tcp_pcb *
tcp_listener_find(const struct stack *s, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be, const struct netif *nif)
{
	const struct tcp_port *pt = tcp_port_find(s, lport_be);
	struct tcp_pcb *best = NULL;
	unsigned int score = 0, n = 0, shared = 0, f;
	struct list *it;
	uint64_t want;

	if (pt == NULL)
		return NULL;
	list_for_each(it, &pt->owners) {
		struct tcp_pcb *l = list_entry(it, struct tcp_pcb, on_port);

		f = fits(l, family, local, nif);
		if (f == 0 || f < score)
			continue;
		if (f > score)
			n = shared = 0;
		score = f;
		best = l;
		n++;
		shared += l->reuseport;
	}
	if (n < 2 || shared != n)
		return best;
	want = (tcp_hash(s->tcp, family, local, lport_be, remote, rport_be) >> 32) * n >> 32;
	list_for_each(it, &pt->owners) {
		struct tcp_pcb *l = list_entry(it, struct tcp_pcb, on_port);

		if (fits(l, family, local, nif) == score && want-- == 0)
			return l;
	}
	return best;
}

/* Do the local addresses of two control blocks overlap? */
static bool
overlap(const struct tcp_pcb *a, const struct tcp_pcb *b)
{
	bool any_a = ip_addr_any(&a->key.local), any_b = ip_addr_any(&b->key.local);

	if (a->key.family != b->key.family) {
		const struct tcp_pcb *six = a->key.family == ADDR_INET6 ? a : b;

		return ip_addr_any(&six->key.local) && !six->v6only;
	}
	if (any_a || any_b)
		return true;
	return ip_addr_eq(&a->key.local, &b->key.local) &&
		(a->key.scope == 0 || b->key.scope == 0 || a->key.scope == b->key.scope);
}

bool
tcp_port_usable(const struct stack *s, const struct tcp_pcb *p, uint16_t port_be)
{
	const struct tcp_port *pt = tcp_port_find(s, port_be);
	struct list *it;

	if (pt == NULL)
		return true;
	list_for_each(it, &pt->owners) {
		const struct tcp_pcb *o = list_entry(it, struct tcp_pcb, on_port);

		if (o == p || !overlap(p, o) || (p->reuseport && o->reuseport))
			continue;
		if (!(p->reuseaddr && o->reuseaddr) || o->fsm == TCP_LISTEN)
			return false;
	}
	if (p->reuseaddr || p->reuseport)
		return true;
	list_for_each(it, &pt->conns) {
		if (overlap(p, list_entry(it, struct tcp_pcb, on_port)))
			return false;
	}
	return true;
}

/*
 * RFC 6056 3.3.3 with the counter inside the hash, over the range that UDP uses too. A connection may share its port with others
 * to other peers; not with a socket that bound it.
 */
int
tcp_port_draw(struct stack *s, const struct tcp_pcb *p, uint16_t *port_be)
{
	struct tcp_state *t = s->tcp;
	uint16_t first, last, low, high;
	struct {
		union ip_addr l, r;
		uint64_t rport, count;
	} k = { p->key.local, p->key.remote, p->key.rport_be, t->next_ephemeral++ };
	uint32_t n, start;

	udp_port_range_get(s, &first, &last);
	low = first < last ? first : last;
	high = first < last ? last : first;
	n = (uint32_t)high - low + 1;
	start = (uint32_t)((siphash(&t->port_key, &k, sizeof(k)) >> 32) * n >> 32);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t port = be16((uint16_t)(low + (start + i) % n));
		const struct tcp_port *pt = tcp_port_find(s, port);

		if (p->key.rport_be == 0 ? tcp_port_usable(s, p, port) :
		    ((pt == NULL || list_empty(&pt->owners)) && tcp_conn_find(s, p->key.family, &p->key.local, port,
			&p->key.remote, p->key.rport_be, NULL) == NULL)) {
			*port_be = port;
			return 0;
		}
	}
	return -EADDRINUSE;
}

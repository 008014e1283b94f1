/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP's demultiplexing tables: keyed hashes, so that no peer can choose its chain. */
#include <errno.h>

#include "udp_priv.h"

#define UDP_HASH_MAX (1u << 20)

int
udp_hash_init(struct stack *s, struct udp_hash *h, uint32_t size)
{
	h->v = shim_malloc(s->shim, size * sizeof(h->v[0]));
	h->mask = size - 1;
	h->count = 0;
	return h->v == NULL ? -ENOMEM : 0;
}

void
udp_hash_release(struct stack *s, struct udp_hash *h)
{
	shim_free(s->shim, h->v);
	h->v = NULL;
}

static void
hash_grow(struct stack *s, struct udp_hash *h)
{
	uint32_t i, size = (h->mask + 1) * 2;
	struct udp_node *n, *next, **v;

	if (size > UDP_HASH_MAX)
		return;
	v = shim_malloc(s->shim, size * sizeof(v[0]));
	if (v == NULL)
		return; /* chains grow instead */
	for (i = 0; i <= h->mask; i++) {
		for (n = h->v[i]; n != NULL; n = next) {
			next = n->next;
			n->next = v[n->hash & (size - 1)];
			v[n->hash & (size - 1)] = n;
		}
	}
	shim_free(s->shim, h->v);
	h->v = v;
	h->mask = size - 1;
}

static void
hash_insert(struct stack *s, struct udp_hash *h, struct udp_node *n, uint64_t hash)
{
	if (h->count > h->mask)
		hash_grow(s, h);
	n->hash = hash;
	n->next = h->v[hash & h->mask];
	h->v[hash & h->mask] = n;
	h->count++;
}

static void
hash_remove(struct udp_hash *h, struct udp_node *n)
{
	struct udp_node **at = &h->v[n->hash & h->mask];

	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	h->count--;
}

static uint64_t
ep_hash(const struct udp_state *u, int family, const union ip_addr *addr, uint16_t port_be)
{
	struct {
		union ip_addr a;
		uint64_t port;
	} k = { *addr, port_be | (uint64_t)family << 16 };

	if (family == ADDR_INET) {
		struct {
			uint32_t a;
			uint32_t port;
		} k4 = { addr->v4, port_be };

		return siphash13(&u->key, &k4, sizeof(k4));
	}
	return siphash13(&u->key, &k, sizeof(k));
}

static uint64_t
conn_hash(const struct udp_state *u, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be)
{
	if (family == ADDR_INET) {
		struct {
			uint32_t l, r;
			uint16_t lp, rp;
		} k4 = { local->v4, remote->v4, lport_be, rport_be };

		return siphash13(&u->key, &k4, sizeof(k4));
	} else {
		struct {
			union ip_addr l, r;
			uint64_t ports;
		} k = { *local, *remote, lport_be | (uint64_t)rport_be << 16 };

		return siphash13(&u->key, &k, sizeof(k));
	}
}

static struct udp_ep *
ep_find(const struct udp_state *u, int family, const union ip_addr *addr, uint16_t port_be,
	const struct netif *nif, bool exact)
{
	uint64_t h = ep_hash(u, family, addr, port_be);
	struct udp_node *n;

	for (n = u->eps.v[h & u->eps.mask]; n != NULL; n = n->next) {
		struct udp_ep *e = (struct udp_ep *)n;

		if (n->hash == h && e->port_be == port_be && e->family == family &&
		    ip_addr_eq(&e->addr, addr) && (e->nif == nif || (!exact && e->nif == NULL)))
			return e;
	}
	return NULL;
}

struct udp_pcb *
udp_conn_find(const struct udp_state *u, int family, const union ip_addr *local, uint16_t lport_be,
	const union ip_addr *remote, uint16_t rport_be, const struct netif *nif)
{
	uint64_t h = conn_hash(u, family, local, lport_be, remote, rport_be);
	struct udp_node *n;

	for (n = u->conns.v[h & u->conns.mask]; n != NULL; n = n->next) {
		struct udp_pcb *p = (struct udp_pcb *)n;

		if (n->hash == h && p->lport_be == lport_be && p->rport_be == rport_be &&
		    p->family == family && ip_addr_eq(&p->remote, remote) &&
		    ip_addr_eq(&p->local, local) && (p->nif == NULL || nif == NULL || p->nif == nif))
			return p;
	}
	return NULL;
}

void
udp_conn_insert(struct stack *s, struct udp_pcb *p)
{
	struct udp_state *u = s->udp;

	hash_insert(s, &u->conns, &p->conn,
		conn_hash(u, p->family, &p->local, p->lport_be, &p->remote, p->rport_be));
	p->port->nb_conn++;
}

void
udp_conn_remove(struct stack *s, struct udp_pcb *p)
{
	hash_remove(&s->udp->conns, &p->conn);
	p->port->nb_conn--;
}

/* The endpoint of p's local address, made when there is none. */
static struct udp_ep *
ep_get(struct stack *s, struct udp_pcb *p)
{
	struct udp_state *u = s->udp;
	struct udp_ep *e, **wild = p->family == ADDR_INET ? &p->port->wild4 : &p->port->wild6;
	bool any = ip_addr_any(&p->local);

	e = any ? *wild : ep_find(u, p->family, &p->local, p->lport_be, p->nif, true);
	if (e != NULL)
		return e;
	e = shim_malloc(s->shim, sizeof(*e));
	if (e == NULL)
		return NULL;
	e->addr = p->local;
	e->nif = any ? NULL : p->nif;
	e->port_be = p->lport_be;
	e->family = p->family;
	if (any) {
		*wild = e;
	} else {
		hash_insert(s, &u->eps, &e->node, ep_hash(u, e->family, &e->addr, e->port_be));
		p->port->nb_specific++;
	}
	return e;
}

static void
ep_put(struct stack *s, struct udp_port *pt, struct udp_ep *e)
{
	if (e->n != 0)
		return;
	if (pt->wild4 == e) {
		pt->wild4 = NULL;
	} else if (pt->wild6 == e) {
		pt->wild6 = NULL;
	} else {
		hash_remove(&s->udp->eps, &e->node);
		pt->nb_specific--;
	}
	shim_free(s->shim, e->v);
	shim_free(s->shim, e);
}

int
udp_ep_join(struct stack *s, struct udp_pcb *p)
{
	struct udp_ep *e = ep_get(s, p);

	if (e == NULL)
		return -ENOMEM;
	if (e->n == e->cap) {
		uint32_t cap = e->cap == 0 ? 1 : e->cap * 2;
		struct udp_pcb **v = shim_malloc(s->shim, cap * sizeof(v[0]));

		if (v == NULL) {
			ep_put(s, p->port, e);
			return -ENOMEM;
		}
		if (e->n != 0)
			memcpy(v, e->v, e->n * sizeof(v[0]));
		shim_free(s->shim, e->v);
		e->v = v;
		e->cap = cap;
	}
	p->ep = e;
	p->ep_slot = e->n;
	e->v[e->n++] = p;
	e->nb_reuseport += p->reuseport;
	e->nb_v6only += p->v6only;
	return 0;
}

void
udp_ep_leave(struct stack *s, struct udp_pcb *p)
{
	struct udp_ep *e = p->ep;
	uint32_t i;

	if (e == NULL)
		return;
	for (i = p->ep_slot + 1; i < e->n; i++) { /* order is kept: the newest is last */
		e->v[i - 1] = e->v[i];
		e->v[i - 1]->ep_slot = i - 1;
	}
	e->n--;
	e->nb_reuseport -= p->reuseport;
	e->nb_v6only -= p->v6only;
	p->ep = NULL;
	ep_put(s, p->port, e);
}

int
udp_port_join(struct stack *s, struct udp_pcb *p)
{
	struct udp_port *pt = udp_port_find(s->udp, p->lport_be);

	if (pt == NULL) {
		pt = shim_malloc(s->shim, sizeof(*pt));
		if (pt == NULL)
			return -ENOMEM;
		pt->port_be = p->lport_be;
		list_init(&pt->pcbs);
		hash_insert(s, &s->udp->ports, &pt->node, udp_port_hash(s->udp, pt->port_be));
	}
	list_add_tail(&pt->pcbs, &p->on_port);
	p->port = pt;
	return 0;
}

void
udp_port_leave(struct stack *s, struct udp_pcb *p)
{
	struct udp_port *pt = p->port;

	if (pt == NULL)
		return;
	list_del(&p->on_port);
	p->port = NULL;
	if (list_empty(&pt->pcbs)) {
		hash_remove(&s->udp->ports, &pt->node);
		shim_free(s->shim, pt);
	}
}

/*
 * One of an endpoint's sockets: the newest, or, when all of them asked to share the load (SO_REUSEPORT), the
 * one that the flow's keyed hash names, so that a flow stays with its socket while the group does not change.
 */
static struct udp_pcb *
ep_pick(const struct stack *s, const struct udp_ep *e, const struct ip_rx *rx, uint16_t sport_be)
{
	uint64_t h;

	if (e->n == 1 || e->nb_reuseport != e->n)
		return e->v[e->n - 1];
	h = conn_hash(s->udp, rx->family, &rx->dst, e->port_be, &rx->src, sport_be);
	return e->v[(h >> 32) * e->n >> 32];
}

struct udp_pcb *
udp_lookup(struct stack *s, const struct ip_rx *rx, uint16_t sport_be, uint16_t dport_be)
{
	const struct udp_state *u = s->udp;
	struct udp_port *pt = udp_port_find(u, dport_be);
	struct udp_pcb *p;
	struct udp_ep *e;
	uint32_t i;

	if (pt == NULL)
		return NULL;
	if (pt->nb_conn != 0) {
		p = udp_conn_find(u, rx->family, &rx->dst, dport_be, &rx->src, sport_be, rx->nif);
		if (p != NULL)
			return p;
	}
	if (pt->nb_specific != 0) {
		e = ep_find(u, rx->family, &rx->dst, dport_be, rx->nif, false);
		if (e != NULL)
			return ep_pick(s, e, rx, sport_be);
	}
	e = rx->family == ADDR_INET ? pt->wild4 : pt->wild6;
	if (e != NULL)
		return ep_pick(s, e, rx, sport_be);
	e = pt->wild6;
	if (rx->family != ADDR_INET || e == NULL || e->nb_v6only == e->n)
		return NULL;
	if (e->nb_v6only == 0)
		return ep_pick(s, e, rx, sport_be);
	for (i = e->n; i-- > 0;) {
		if (!e->v[i]->v6only)
			return e->v[i];
	}
	return NULL;
}

bool
udp_has_receiver(struct stack *s, int family, const union ip_addr *local, uint16_t lport_be, const union ip_addr *remote,
	uint16_t rport_be)
{
	struct ip_rx rx = { .family = family, .src = *remote, .dst = *local };

	if (udp_lookup(s, &rx, rport_be, lport_be) != NULL)
		return true;
	/* an endpoint with a scope is found through its interface only */
	for (unsigned int i = 0; family == ADDR_INET6 && ip6_link_local(local) && i < s->nb_ifs; i++) {
		rx.nif = s->ifs[i];
		if (udp_lookup(s, &rx, rport_be, lport_be) != NULL)
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP control blocks: binding, ephemeral ports, connecting. */
#include <errno.h>

#include "udp_priv.h"

int
udp_state_init(struct stack *s)
{
	struct udp_state *u = shim_malloc(s->shim, sizeof(*u));

	if (u == NULL)
		return -ENOMEM;
	s->udp = u;
	u->key = (struct siphash_key){ s->cfg.secrets.table[0], s->cfg.secrets.table[1] };
	u->port_key = (struct siphash_key){ s->cfg.secrets.port[0], s->cfg.secrets.port[1] };
	u->first = UDP_PORT_FIRST;
	u->last = UDP_PORT_LAST;
	if (udp_hash_init(s, &u->ports, 256) != 0 || udp_hash_init(s, &u->eps, 256) != 0 ||
	    udp_hash_init(s, &u->conns, 256) != 0) {
		udp_state_release(s);
		return -ENOMEM;
	}
	return 0;
}

void
udp_state_release(struct stack *s)
{
	struct udp_state *u = s->udp;

	if (u == NULL)
		return;
	udp_hash_release(s, &u->ports);
	udp_hash_release(s, &u->eps);
	udp_hash_release(s, &u->conns);
	shim_free(s->shim, u);
	s->udp = NULL;
}

int
udp_port_range_set(struct stack *s, uint16_t first, uint16_t last)
{
	if (first == 0 || last == 0)
		return -EINVAL;
	s->udp->first = first;
	s->udp->last = last;
	return 0;
}

void
udp_port_range_get(const struct stack *s, uint16_t *first, uint16_t *last)
{
	*first = s->udp->first;
	*last = s->udp->last;
}

int
udp_this_host(struct stack *s, int family, union ip_addr *dst)
{
	unsigned int i, k;

	for (i = 0; i < s->nb_ifs; i++) {
		struct netif *nif = s->ifs[i];

		if (nif == NULL || !(nif->flags & NETIF_UP))
			continue;
		if (family == ADDR_INET && nif->nb_addr4 != 0) {
			*dst = ip_addr_v4(nif->addr4[0].addr);
			return 0;
		}
		for (k = 0; family == ADDR_INET6 && k < nif->nb_addr6; k++) {
			if ((nif->addr6[k].state == ADDR6_PREFERRED ||
			     nif->addr6[k].state == ADDR6_DEPRECATED) &&
			    !ip6_link_local(&nif->addr6[k].addr)) {
				*dst = nif->addr6[k].addr;
				return 0;
			}
		}
	}
	return -ENETUNREACH;
}

/* May a socket bind to addr? Ours, a group, or (v4) a broadcast address of ours. */
static bool
addr_bindable(struct stack *s, int family, const union ip_addr *addr)
{
	unsigned int i, k;

	if (ip_addr_any(addr))
		return true;
	if (family == ADDR_INET6)
		return ip6_multicast(addr) || stack_owns6(s, addr);
	if (ip4_multicast(addr->v4) || addr->v4 == 0xffffffff || stack_owns4(s, addr->v4))
		return true;
	for (i = 0; i < s->nb_ifs; i++) {
		for (k = 0; s->ifs[i] != NULL && k < s->ifs[i]->nb_addr4; k++) {
			if (s->ifs[i]->addr4[k].broadcast == addr->v4)
				return true;
		}
	}
	return false;
}

/* Do the addresses of two sockets on one port overlap? */
static bool
overlap(const struct udp_pcb *a, const struct udp_pcb *b)
{
	bool any_a = ip_addr_any(&a->local), any_b = ip_addr_any(&b->local);

	if (a->family != b->family) {
		const struct udp_pcb *six = a->family == ADDR_INET6 ? a : b;

		return ip_addr_any(&six->local) && !six->v6only; /* dual stack: covers IPv4 too */
	}
	if (any_a || any_b)
		return true;
	if (!ip_addr_eq(&a->local, &b->local))
		return false;
	return a->nif == NULL || b->nif == NULL || a->nif == b->nif;
}

/* May p (family, local, nif set) use the port? */
static bool
port_usable(const struct stack *s, const struct udp_pcb *p, uint16_t port_be, bool share)
{
	struct udp_port *pt = udp_port_find(s->udp, port_be);
	struct list *it;

	if (pt == NULL)
		return true;
	list_for_each(it, &pt->pcbs) {
		const struct udp_pcb *o = list_entry(it, struct udp_pcb, on_port);

		if (overlap(p, o) && !(share && ((p->reuseaddr && o->reuseaddr) ||
		    (p->reuseport && o->reuseport))))
			return false;
	}
	return true;
}

/* RFC 6056 3.3.3 with the counter inside the hash: a start nobody can foretell, then the whole range in turn. */
static int
port_draw(struct stack *s, const struct udp_pcb *p, const union ip_addr *remote, uint16_t rport_be,
	uint16_t *port_be)
{
	struct udp_state *u = s->udp;
	uint16_t low = u->first < u->last ? u->first : u->last, high = u->first ^ u->last ^ low;
	uint32_t i, n = (uint32_t)high - low + 1;
	struct {
		union ip_addr l, r;
		uint64_t rport, count;
	} k = { p->local, *remote, rport_be, u->next_ephemeral++ };
	uint32_t start = (uint32_t)((siphash(&u->port_key, &k, sizeof(k)) >> 32) * n >> 32);

	for (i = 0; i < n; i++) {
		uint16_t port = be16((uint16_t)(low + (start + i) % n));

		if (port_usable(s, p, port, false)) {
			*port_be = port;
			return 0;
		}
	}
	return -EADDRINUSE;
}

/* p->family, local and nif are set and valid: takes the port (0: draws one) and joins the tables. */
static int
bind_port(struct stack *s, struct udp_pcb *p, uint16_t port_be, const union ip_addr *remote,
	uint16_t rport_be)
{
	int err = 0;

	if (port_be == 0)
		err = port_draw(s, p, remote, rport_be, &port_be);
	else if (!port_usable(s, p, port_be, true))
		err = -EADDRINUSE;
	if (err != 0)
		return err;
	p->lport_be = port_be;
	err = udp_port_join(s, p);
	if (err == 0)
		err = udp_ep_join(s, p);
	if (err != 0) {
		udp_port_leave(s, p);
		p->lport_be = 0;
		return err;
	}
	p->bound = true;
	return 0;
}

int
udp_bind(struct stack *s, struct udp_pcb *p, int family, const union ip_addr *addr, uint16_t port_be,
	struct netif *nif)
{
	static const union ip_addr none;
	int err;

	if (p->bound)
		return -EINVAL;
	if (!addr_bindable(s, family, addr))
		return -EADDRNOTAVAIL;
	p->family = (uint8_t)family;
	p->local = *addr;
	p->nif = nif;
	err = bind_port(s, p, port_be, &none, 0);
	if (err != 0) {
		p->family = p->domain;
		p->local = none;
		p->nif = NULL;
		return err;
	}
	p->port_locked = port_be != 0;
	p->addr_locked = !ip_addr_any(addr);
	return 0;
}

/* Looks the path to dst up; src is the bound address, or any. */
static int
connect_path(struct stack *s, struct udp_pcb *p, int family, const union ip_addr *dst, struct netif *nif,
	struct ip_path *path)
{
	static const union ip_addr none;
	bool usable = p->addr_locked && p->family == family &&
		!(family == ADDR_INET ? ip4_multicast(p->local.v4) : ip6_multicast(&p->local));
	int err = ip_path_lookup(s, family, dst, usable ? &p->local : &none, nif, path);

	if (err == 0 && (path->flags & IP_PATH_BROADCAST) && !p->broadcast)
		err = -EACCES;
	return err;
}

int
udp_autobind(struct stack *s, struct udp_pcb *p, const union ip_addr *remote, uint16_t rport_be)
{
	int err = bind_port(s, p, 0, remote, rport_be);

	return err == -EADDRINUSE ? -EAGAIN : err;
}

int
udp_connect(struct stack *s, struct udp_pcb *p, int family, const union ip_addr *dst, uint16_t port_be,
	struct netif *nif)
{
	struct ip_path path;
	union ip_addr to = *dst;
	int err = 0;

	if (ip_addr_any(&to))
		err = udp_this_host(s, family, &to);
	if (err == 0 && p->addr_locked && p->family != family)
		err = -ENETUNREACH; /* bound to an address of the other family */
	if (nif == NULL && p->addr_locked)
		nif = p->nif;
	if (err == 0)
		err = connect_path(s, p, family, &to, nif, &path);
	if (err == 0 && !p->bound)
		err = udp_autobind(s, p, &to, port_be);
	if (err != 0)
		return err;
	if (p->connected)
		udp_conn_remove(s, p);
	else
		udp_ep_leave(s, p);
	p->family = (uint8_t)family;
	p->remote = to;
	p->rport_be = port_be;
	if (!p->addr_locked)
		p->local = path.src;
	p->nif = nif;
	p->path = path;
	p->path_src = p->local;
	p->connected = true;
	udp_conn_insert(s, p);
	return 0;
}

void
udp_disconnect(struct stack *s, struct udp_pcb *p)
{
	static const union ip_addr none;

	if (!p->connected)
		return;
	udp_conn_remove(s, p);
	p->connected = false;
	p->remote = none;
	p->rport_be = 0;
	p->path.nif = NULL;
	if (!p->addr_locked) {
		p->local = none;
		p->nif = NULL;
		p->family = p->domain;
	}
	if (!p->port_locked || udp_ep_join(s, p) != 0)
		udp_unbind(s, p); /* without memory for an endpoint, too: it could not receive */
}

void
udp_unbind(struct stack *s, struct udp_pcb *p)
{
	static const union ip_addr none;

	if (p->connected)
		udp_conn_remove(s, p);
	else
		udp_ep_leave(s, p);
	udp_port_leave(s, p);
	p->bound = p->connected = p->port_locked = p->addr_locked = false;
	p->local = p->remote = none;
	p->lport_be = p->rport_be = 0;
	p->family = p->domain;
	p->nif = NULL;
	p->path.nif = NULL;
}

void
udp_reuseport_set(struct udp_pcb *p, bool on)
{
	if (p->ep != NULL)
		p->ep->nb_reuseport += (uint32_t)on - (uint32_t)p->reuseport;
	p->reuseport = on;
}

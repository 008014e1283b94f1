/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbours of a lane's owner go to the generation that follows, so that its first burst does not wait for answers. They travel in
 * frames of an EtherType of their own through the drain ring: while the window is open a few of them in a turn, when the lane is let go
 * what changed since; order in the ring puts them before the new owner's first turn. From a port such a frame is one of an
 * unknown type, that the stack drops and counts; the dispatcher gives it to nobody else. Fields are in network order:
 * Ethernet header (addresses 0), magic 4, version 2, count 2, window 4; then for each one family 1, flags 1, VLAN 2 (0: the port's own
 * interface), MAC 6, zero 2, address 16 (IPv4: the first 4).
 */
#include <string.h>

#include "../stack/priv.h"
#include "worker_reload.h"

#define MAGIC 0x6e6f6e62u
#define VERSION 1u
#define HEAD (ETH_HLEN + 12u)
#define ENTRY 28u
#define BATCH 50u          /* entries of one frame: it stays below 1500 bytes */
#define LOOK 256u          /* entries of the table in one turn */
#define FLAG_ROUTER 1u

/* A frame that is being filled. */
struct batch {
	struct rte_mbuf *m;    /* NULL: none */
	unsigned int n, room;
};

/* ---- out ---------------------------------------------------------------------------------------- */

static void
emit(struct worker_port *wp, struct batch *b)
{
	struct worker_moved *mv = &wp->w->rl->moved;
	unsigned int n = b->n;
	uint8_t *p;

	if (b->m == NULL)
		return;
	p = shim_buf_data(b->m);
	put_be16(p + ETH_HLEN + 6, (uint16_t)n);
	if (worker_to_peer(wp, &b->m, 1) == 1)
		mv->neigh_told += n;
	else
		mv->neigh_untold += n;
	b->m = NULL;
}

static bool
begin(struct worker *w, struct batch *b)
{
	struct rte_mbuf *m = shim_buf_alloc(w->shim, w->pool);
	unsigned int room = m != NULL ? shim_buf_tailroom(m) : 0;
	uint8_t *p;

	if (room < HEAD + ENTRY) {
		shim_buf_free(w->shim, m); /* NULL, most likely */
		return false;
	}
	shim_buf_mark_set(m, w->mark);
	room = (room - HEAD) / ENTRY;
	b->room = room < BATCH ? room : BATCH;
	p = shim_buf_append(m, HEAD);
	memset(p, 0, HEAD);
	put_be16(p + 12, WORKER_NEIGH_TYPE);
	put_be32(p + ETH_HLEN, MAGIC);
	put_be16(p + ETH_HLEN + 4, VERSION);
	put_be32(p + ETH_HLEN + 8, w->rl->seat.window.wid);
	b->m = m;
	b->n = 0;
	return true;
}

/* False: no buffer. */
static bool
add(struct worker_port *wp, struct batch *b, const struct neigh *n)
{
	uint8_t *p;

	if (b->m == NULL && !begin(wp->w, b))
		return false;
	p = shim_buf_append(b->m, ENTRY);
	memset(p, 0, ENTRY);
	p[0] = n->family == ADDR_INET ? 4 : 6;
	p[1] = n->is_router ? FLAG_ROUTER : 0;
	put_be16(p + 2, n->nif->cfg.vlan);
	memcpy(p + 4, n->mac, ETH_ALEN);
	memcpy(p + 12, n->family == ADDR_INET ? (const void *)&n->addr.v4 : n->addr.v6, n->family == ADDR_INET ? 4 : 16);
	if (++b->n == b->room)
		emit(wp, b);
	return true;
}

static unsigned int
port_of(const struct worker *w, const struct netif *nif)
{
	const struct netif *out = nif->cfg.parent != NULL ? nif->cfg.parent : nif;
	unsigned int i = 0;

	while (i + 1 < w->nb_ports && w->port[i]->nif != out)
		i++;
	return i;
}

/* Is the other generation to be told of this entry? Not told yet, or something has changed since. */
static bool
due(const struct worker *w, unsigned int i)
{
	const struct neigh *n = &w->stack->neigh.entries[i];

	return neigh_learned(n) && (i >= w->rl->neigh_at || n->changed_ns >= w->rl->neigh_since_ns);
}

/* Tells of the entries [from, to) that are due; returns where it stopped: there was no buffer. */
static unsigned int
tell(struct worker *w, unsigned int from, unsigned int to)
{
	struct batch b[CONFIG_MAX_PORTS] = { { 0 } };

	for (; from < to; from++) {
		const struct neigh *n = &w->stack->neigh.entries[from];
		unsigned int p;

		if (!due(w, from))
			continue;
		p = port_of(w, n->nif);
		if (!add(w->port[p], &b[p], n))
			break;
	}
	for (unsigned int i = 0; i < w->nb_ports; i++)
		emit(w->port[i], &b[i]);
	return from;
}

void
worker_neigh_open(struct worker *w)
{
	w->rl->neigh_at = 0;
	w->rl->neigh_since_ns = 0;
}

void
worker_neigh_turn(struct worker *w)
{
	struct worker_reload *rl = w->rl;
	const struct seat *st = &rl->seat;
	unsigned int to = w->stack->neigh.touched;

	if (st->window.state != WINDOW_OPEN || !w->owner || st->gen == st->window.wid || !seat_peer(st) || rl->neigh_at >= to ||
	    worker_ring_crowded(w))
		return;
	if (rl->neigh_at == 0)
		rl->neigh_since_ns = w->now_ns;
	if (to - rl->neigh_at > LOOK)
		to = rl->neigh_at + LOOK;
	rl->neigh_at = tell(w, rl->neigh_at, to);
}

void
worker_neigh_rest(struct worker *w)
{
	unsigned int touched = w->stack->neigh.touched, at = tell(w, 0, touched);

	/* without a buffer for these they are asked for again, one by one */
	for (; at < touched; at++)
		w->rl->moved.neigh_untold += due(w, at);
}

/* ---- in ----------------------------------------------------------------------------------------- */

static struct netif *
interface(struct worker_port *wp, uint16_t vlan)
{
	struct netif *nif = vlan == 0 ? wp->nif : wp->nif->vlans;

	while (vlan != 0 && nif != NULL && nif->cfg.vlan != vlan)
		nif = nif->vlan_next;
	return nif;
}

/* True: it was news. */
static bool
learn(struct worker_port *wp, const uint8_t *p)
{
	struct netif *nif = interface(wp, get_be16(p + 2));
	union ip_addr addr;
	uint32_t v4;

	if (nif == NULL || (p[0] != 4 && p[0] != 6))
		return false;
	memcpy(&v4, p + 12, 4);
	addr = p[0] == 4 ? ip_addr_v4(v4) : ip_addr_v6(p + 12);
	return neigh_import(wp->w->stack, nif, p[0] == 4 ? ADDR_INET : ADDR_INET6, &addr, p + 4,
		p[0] == 6 && (p[1] & FLAG_ROUTER) != 0) == 0;
}

static void
bad(struct worker *w)
{
	w->rl->moved.neigh_bad++;
	w->rx_dropped++;
}

void
worker_neigh_take(struct worker_port *wp, const struct rte_mbuf *m)
{
	struct worker_reload *rl = wp->w->rl;
	const uint8_t *p = shim_buf_data(m);
	uint32_t len = shim_buf_seg_len(m), n;

	if (len < HEAD || m->nb_segs != 1 || get_be32(p + ETH_HLEN) != MAGIC || get_be16(p + ETH_HLEN + 4) != VERSION) {
		bad(wp->w);
		return;
	}
	if (get_be32(p + ETH_HLEN + 8) != rl->seat.window.wid)
		return; /* of an earlier window, whose new worker is gone */
	n = get_be16(p + ETH_HLEN + 6);
	if (n == 0 || (len - HEAD) / ENTRY != n || (len - HEAD) % ENTRY != 0) {
		bad(wp->w);
		return;
	}
	for (p += HEAD; n > 0; n--, p += ENTRY) {
		if (learn(wp, p))
			rl->moved.neigh_learned++;
		else
			rl->moved.neigh_left++;
	}
}

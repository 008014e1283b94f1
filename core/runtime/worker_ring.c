/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames between the two generations of a lane. Drain rings carry received frames to the stack of the side they are named
 * after, relay rings carry sent ones of that side to the lane's owner. A ring that is full drops, counts and says so;
 * nobody waits. What goes into a ring is referred to once, for it is freed by another process, and stays stamped by the giver
 * until the taker's stamp is on it (shim_ring_get). A ring that is not what it was made as, or where this worker left it, is used no
 * more until somebody takes a side of it over: as a full one it drops and counts.
 */
#include <netinet/in.h>

#include "../stack/udp/udp.h"
#include "worker_reload.h"

#define MEMORY_FLAGS (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)

/* ---- a ring ----------------------------------------------------------------------------------- */

int
worker_ring_find(struct worker *w, const char *name, uint32_t count, struct shim_ring_end *e)
{
	struct rte_ring *r;
	int rc = shim_ring_lookup(w->shim, name, &r);

	if (rc == 0)
		rc = shim_ring_attach(w->shim, e, r, name, count);
	if (rc < 0)
		shim_log(w->shim, SHIM_LOG_ERR, "ring %s: %s", name, strerror(-rc));
	return rc;
}

void
worker_ring_succeed(struct worker *w, struct shim_ring_end *e, enum shim_ring_side side)
{
	if (shim_ring_succeed(w->shim, e, side) > 0)
		shim_log(w->shim, SHIM_LOG_WARNING, "ring %s was damaged: mended", e->name);
}

/* Damage is said once, and once more when a successor has mended it. */
static void
say_damage(struct worker *w, struct shim_ring_end *e)
{
	if (e->wrong != NULL && !e->said_wrong)
		shim_log(w->shim, SHIM_LOG_ERR, "ring %s is damaged: %s; it is not used any more", e->name, e->wrong);
	e->said_wrong = e->wrong != NULL;
	if (e->bad > 0 && !e->said_bad)
		shim_log(w->shim, SHIM_LOG_ERR, "ring %s is damaged: slot %u held %s; left out", e->name, e->bad_slot, e->bad_why);
	e->said_bad = e->bad > 0;
}

unsigned int
worker_ring_get(struct worker *w, struct shim_ring_end *e, struct rte_mbuf **m, unsigned int n, uint64_t *dropped)
{
	uint64_t bad = e->bad;
	unsigned int k = shim_ring_get(w->shim, e, w->pool, m, n, w->mark);

	if (__builtin_expect(e->bad != bad || (e->wrong != NULL && !e->said_wrong), 0)) {
		*dropped += e->bad - bad;
		w->dirty = true;
		say_damage(w, e);
	}
	return k;
}

static unsigned int
put_burst(struct worker *w, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n)
{
	unsigned int k = shim_ring_put(w->shim, e, m, n);

	if (__builtin_expect(e->wrong != NULL && !e->said_wrong, 0))
		say_damage(w, e);
	return k;
}

/* Memory that no other process may free, or data that somebody else refers to: then a copy goes. Takes m; NULL: no buffer. */
static struct rte_mbuf *
sole(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *copy;
	const struct rte_mbuf *s;

	for (s = m; s != NULL && rte_mbuf_refcnt_read(s) == 1 && (s->ol_flags & MEMORY_FLAGS) == 0 &&
	    shim_pool_owns(w->shim, w->pool, s); s = s->next)
		;
	if (s == NULL)
		return m;
	copy = shim_buf_copy(w->shim, m, w->pool, 0, UINT32_MAX);
	if (copy != NULL) {
		copy->ol_flags = m->ol_flags & ~MEMORY_FLAGS;
		copy->tx_offload = m->tx_offload;
		copy->vlan_tci = m->vlan_tci;
		copy->vlan_tci_outer = m->vlan_tci_outer;
		copy->packet_type = m->packet_type;
		copy->hash = m->hash;
		copy->port = m->port;
		shim_buf_mark_set(copy, w->mark);
	}
	shim_buf_free(w->shim, m);
	return copy;
}

void
worker_ring_hand(struct worker *w, struct shim_ring_end *e, struct rte_mbuf *m)
{
	m = sole(w, m);
	if (m != NULL && put_burst(w, e, &m, 1) == 1)
		return;
	w->rx_dropped++;
	shim_buf_free(w->shim, m);
}

static void
say_full(struct worker *w, const struct shim_ring_end *e, uint64_t dropped)
{
	struct worker_reload *rl = w->rl;

	if (e->wrong != NULL || (rl->full_ns != 0 && w->now_ns - rl->full_ns < WORKER_FULL_LOG_NS))
		return;
	rl->full_ns = w->now_ns;
	shim_log(w->shim, SHIM_LOG_WARNING, "graceful reload drain: ring full (%u/%u entries, %llu dropped)",
		shim_ring_fill(w->shim, e), e->count - 1, (unsigned long long)dropped);
}

/*
 * Puts the first frames of m into the ring, as many as there is room for: this is its one producer, so room does not shrink. Takes
 * those, sent or not (no buffer for a copy); returns how many, *sent how many are in the ring.
 */
static unsigned int
put(struct worker *w, struct shim_ring_end *e, struct rte_mbuf **m, unsigned int n, unsigned int *sent, uint32_t *peak)
{
	unsigned int used = shim_ring_fill(w->shim, e), room = e->wrong == NULL ? e->count - 1 - used : 0, k = 0, done = 0;
	struct rte_mbuf *obj[WORKER_BURST];

	*sent = 0;
	if (room == 0)
		put_burst(w, e, m, 0); /* full, or damaged so that it looks full */
	while (done < n && *sent < room && k < WORKER_BURST) {
		struct rte_mbuf *one = sole(w, m[done++]);

		if (one == NULL)
			continue;
		obj[k++] = one;
		if (k == room)
			break;
	}
	if (k > 0)
		*sent = put_burst(w, e, obj, k);
	for (unsigned int i = *sent; i < k; i++)
		shim_buf_free(w->shim, obj[i]);
	if (used + *sent > *peak)
		*peak = used + *sent;
	return done;
}

unsigned int
worker_to_peer(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;
	struct worker_moved *mv = &w->rl->moved;
	struct shim_ring_end *e = &wp->drain[!worker_side(w)];
	unsigned int done = 0, total = 0, sent, k;

	do {
		k = put(w, e, m + done, n - done, &sent, &mv->drain_peak);
		done += k;
		total += sent;
	} while (k > 0 && done < n);
	w->dirty = true;
	if (total < n) {
		w->rx_dropped += n - total;
		mv->drain_full += n - done;
		for (unsigned int i = done; i < n; i++)
			shim_buf_free(w->shim, m[i]);
		if (done < n)
			say_full(w, e, mv->drain_full);
	}
	return total;
}

unsigned int
worker_relay(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;
	struct worker_moved *mv = &w->rl->moved;
	struct shim_ring_end *e = &wp->relay[worker_side(w)];
	unsigned int done = 0, sent, k;

	do {
		k = put(w, e, m + done, n - done, &sent, &mv->relay_peak);
		done += k;
		mv->relayed += sent;
		w->tx_dropped += k - sent;
	} while (k > 0 && done < n);
	w->dirty = true;
	if (e->wrong != NULL && done < n) { /* it will take nothing any more: waiting is for nothing */
		worker_relay_full(wp, n - done);
		w->tx_dropped += n - done;
		for (; done < n; done++)
			shim_buf_free(w->shim, m[done]);
	}
	return done;
}

void
worker_relay_full(struct worker_port *wp, unsigned int dropped)
{
	struct worker *w = wp->w;

	w->rl->moved.relay_full += dropped;
	say_full(w, &wp->relay[worker_side(w)], w->rl->moved.relay_full);
}

/* ---- the owner's received frames -------------------------------------------------------------- */

static void
copy_to_peer(struct worker_port *wp, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = worker_rx_copy(wp->w, m);

	if (copy != NULL)
		wp->w->rl->moved.cloned += worker_to_peer(wp, &copy, 1);
}

/* Frames of one port go their ways, in their order within each. Takes all but those that the dispatcher holds. */
static void
hand_out(struct worker_port *wp, struct rte_mbuf **m, const uint8_t *to, unsigned int n)
{
	struct rte_mbuf *local[WORKER_BURST], *peer[WORKER_BURST];
	unsigned int nl = 0, np = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (to[i] == DISPATCH_PEER)
			peer[np++] = m[i];
		else if (to[i] != DISPATCH_HELD)
			local[nl++] = m[i];
		if (to[i] == DISPATCH_BOTH)
			copy_to_peer(wp, m[i]);
	}
	if (np > 0)
		wp->w->rl->moved.forwarded += worker_to_peer(wp, peer, np);
	if (nl > 0)
		stack_input(wp->w->stack, wp->nif, local, nl);
}

/* Frames that were held may have come in by another port. */
static void
hand_out_held(struct worker *w, struct rte_mbuf **m, const uint8_t *to, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned int p = 0;

		while (p + 1 < w->nb_ports && w->port[p]->port != m[i]->port)
			p++;
		hand_out(w->port[p], &m[i], &to[i], 1);
	}
}

static void
dispatch(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;
	struct rte_mbuf *held[FRAG_HELD];
	uint8_t to[WORKER_BURST], held_to[FRAG_HELD];
	unsigned int k;

	for (unsigned int i = 0; i < n; i++)
		m[i]->port = wp->port;
	k = dispatch_burst(&w->rl->disp, m, n, shim_now_ms(w->shim), w->now_ns, to, held, held_to);
	hand_out_held(w, held, held_to, k); /* they came first: a flow's datagrams keep their order (DSP-9) */
	hand_out(wp, m, to, n);
}

void
worker_window_input(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;

	if (w->rl->dispatching) {
		dispatch(wp, m, n);
		return;
	}
	/* the other generation has no flows; it learns its neighbours */
	for (unsigned int i = 0; i < n; i++)
		if (worker_for_everybody(m[i]))
			copy_to_peer(wp, m[i]);
	stack_input(w->stack, wp->nif, m, n);
}

void
worker_window_expire(struct worker *w)
{
	struct rte_mbuf *held[FRAG_HELD];
	uint8_t held_to[FRAG_HELD];
	unsigned int k;

	if (dispatch_next(&w->rl->disp) > w->now_ns)
		return;
	k = dispatch_burst(&w->rl->disp, NULL, 0, shim_now_ms(w->shim), w->now_ns, NULL, held, held_to);
	hand_out_held(w, held, held_to, k);
}

void
worker_window_close(struct worker *w)
{
	struct rte_mbuf *held[FRAG_HELD];
	uint8_t local[FRAG_HELD];
	unsigned int k;

	if (!w->rl->dispatching)
		return;
	w->rl->dispatching = false;
	k = dispatch_close(&w->rl->disp, held, FRAG_HELD);
	memset(local, DISPATCH_LOCAL, sizeof(local));
	hand_out_held(w, held, local, k);
}

/* ---- rings in --------------------------------------------------------------------------------- */

/* Would this stack do anything with it but refuse it? Fragments can not be told, and stay (DSP-8). */
static bool
placeable(struct worker *w, const struct rte_mbuf *m)
{
	union ip_addr local, remote;
	struct flow_info f;

	flow_classify(m, &f);
	if (f.kind != FLOW_PACKET || f.key.proto != IPPROTO_UDP)
		return true;
	local = ip_addr_v6(f.key.local);
	remote = ip_addr_v6(f.key.remote);
	return udp_has_receiver(w->stack, f.key.family, &local, f.key.lport_be, &remote, f.key.rport_be);
}

/* Neighbours come first, whatever waits before them; returns how many frames are left of m. */
static unsigned int
neighbours(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (!worker_neigh_is(m[i])) {
			m[kept++] = m[i];
			continue;
		}
		worker_neigh_take(wp, m[i]);
		shim_buf_free(wp->w->shim, m[i]);
	}
	return kept;
}

/* Frames that the owner gave this worker; those without a socket go back to it, which asks no dispatcher again. */
static void
drain_burst(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;
	struct rte_mbuf *back[WORKER_BURST];
	unsigned int kept = 0, nb = 0;

	n = neighbours(wp, m, n);
	for (unsigned int i = 0; i < n; i++) {
		if (w->rl->bouncing && !placeable(w, m[i]))
			back[nb++] = m[i];
		else
			m[kept++] = m[i];
	}
	if (nb > 0)
		w->rl->moved.bounced += worker_to_peer(wp, back, nb);
	if (kept > 0)
		stack_input(w->stack, wp->nif, m, kept);
}

static unsigned int
drain_rx(struct worker_port *wp)
{
	struct worker *w = wp->w;
	struct shim_ring_end *e = &wp->drain[worker_side(w)];
	struct rte_mbuf *m[WORKER_BURST];
	unsigned int total = 0, bursts = WORKER_RING_BURSTS, n;

	/* the neighbours are in before the first frame of the port, however much waits before them */
	if (w->rl->taking)
		bursts = shim_ring_fill(w->shim, e) / WORKER_BURST + 1;
	for (unsigned int i = 0; i < bursts; i++) {
		n = worker_ring_get(w, e, m, WORKER_BURST, &w->rx_dropped);
		if (n > 0)
			drain_burst(wp, m, n);
		total += n;
		if (n < WORKER_BURST)
			break;
	}
	return total;
}

/* What the other generation sends; no more than the back-log has room for, the rest waits in the ring. */
static unsigned int
relay_rx(struct worker_port *wp)
{
	struct worker *w = wp->w;
	struct rte_mbuf *m[WORKER_BURST];
	unsigned int total = 0, n, k;

	for (unsigned int i = 0; i < WORKER_RING_BURSTS && wp->count + WORKER_BURST <= WORKER_BACKLOG / 2; i++) {
		n = worker_ring_get(w, &wp->relay[!worker_side(w)], m, WORKER_BURST, &w->tx_dropped);
		k = n > 0 ? worker_tx(wp, m, n) : 0;
		for (; k < n; k++)
			shim_buf_free(w->shim, m[k]);
		total += n;
		if (n < WORKER_BURST)
			break;
	}
	return total;
}

/* What is left of frames for a worker that is gone. This one's own neighbours among them are no news: all are known. */
static unsigned int
rescue_rx(struct worker *w)
{
	struct rte_mbuf *m[WORKER_BURST];
	unsigned int total = 0, n;

	for (unsigned int i = 0; i < w->nb_ports; i++) {
		struct shim_ring_end *e = &w->port[i]->drain[!worker_side(w)];

		n = worker_ring_get(w, e, m, WORKER_BURST, &w->rx_dropped);
		total += n + shim_ring_fill(w->shim, e); /* what was left out may have been a whole burst */
		n = neighbours(w->port[i], m, n);
		if (n > 0)
			stack_input(w->stack, w->port[i]->nif, m, n);
	}
	if (total == 0)
		worker_rescue_end(w);
	return total;
}

unsigned int
worker_ring_rx(struct worker *w)
{
	struct worker_reload *rl = w->rl;
	unsigned int total = 0;

	if (!rl->rings)
		return 0;
	if (rl->rescuing)
		total += rescue_rx(w);
	for (unsigned int i = 0; i < w->nb_ports; i++) {
		if (rl->drain_mine)
			total += drain_rx(w->port[i]);
		if (w->owner && !w->parked)
			total += relay_rx(w->port[i]);
	}
	rl->taking = false;
	if (rl->dispatching)
		worker_window_expire(w);
	return total;
}

bool
worker_ring_crowded(const struct worker *w)
{
	for (unsigned int i = 0; i < w->nb_ports; i++) {
		const struct shim_ring_end *e = &w->port[i]->drain[!worker_side(w)];

		if (shim_ring_fill(w->shim, e) > (e->count - 1) / 4)
			return true;
	}
	return false;
}

bool
worker_ring_empty(const struct worker *w)
{
	unsigned int side = worker_side(w);

	for (unsigned int i = 0; i < w->nb_ports; i++) {
		const struct worker_port *wp = w->port[i];

		if (shim_ring_fill(w->shim, &wp->drain[side]) > 0 ||
		    (w->owner && shim_ring_fill(w->shim, &wp->relay[!side]) > 0))
			return false;
	}
	return true;
}

void
worker_ring_ends(struct worker_port *wp)
{
	for (unsigned int q = 0; wp->nb_queues > 1 && q < wp->nb_queues; q++) {
		if (q == wp->queue)
			continue;
		worker_ring_succeed(wp->w, &wp->to[q], SHIM_RING_PRODUCER);
		worker_ring_succeed(wp->w, &wp->from[q], SHIM_RING_CONSUMER);
	}
}

void
worker_ring_take(struct worker *w)
{
	for (unsigned int i = 0; i < w->nb_ports; i++) {
		struct worker_port *wp = w->port[i];

		worker_ring_ends(wp);
		worker_ring_succeed(w, &wp->relay[0], SHIM_RING_CONSUMER);
		worker_ring_succeed(w, &wp->relay[1], SHIM_RING_CONSUMER);
		worker_tx_reclaim(wp);
		wp->route = ROUTE_PORT;
	}
}

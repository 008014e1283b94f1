/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving: one burst of each port's queue, past the packet dispatcher, into the stack; and the frames that other
 * workers' queues handed over. ARP and neighbour discovery go to every worker of the port, since each has a cache of its
 * own and the answer arrives at one queue only.
 */
#include <string.h>

#include "../base/bytes.h"
#include "../stack/link/eth.h"
#include "worker_priv.h"

#define IP6_HLEN 40
#define PROTO_ICMP6 58
#define ND_FIRST 133 /* router solicitation */
#define ND_LAST 137  /* redirect */

bool
worker_for_everybody(const struct rte_mbuf *m)
{
	const uint8_t *d = shim_buf_data(m);
	uint32_t len = shim_buf_seg_len(m), at = ETH_HLEN;
	uint16_t type;

	if (len < ETH_HLEN)
		return false;
	type = d[12] << 8 | d[13];
	if (type == ETHERTYPE_VLAN) {
		if (len < ETH_HLEN + 4)
			return false;
		type = d[16] << 8 | d[17];
		at += 4;
	}
	if (type == ETHERTYPE_ARP)
		return true;
	return type == ETHERTYPE_IP6 && len > at + IP6_HLEN && d[at + 6] == PROTO_ICMP6 &&
		d[at + IP6_HLEN] >= ND_FIRST && d[at + IP6_HLEN] <= ND_LAST;
}

struct rte_mbuf *
worker_rx_copy(struct worker *w, const struct rte_mbuf *m)
{
	const uint64_t said = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_IP_CKSUM_MASK |
		RTE_MBUF_F_RX_L4_CKSUM_MASK | RTE_MBUF_F_RX_RSS_HASH;
	struct rte_mbuf *copy = shim_buf_copy(w->shim, m, w->pool, 0, UINT32_MAX);

	if (copy == NULL) {
		w->rx_dropped++;
		return NULL;
	}
	copy->ol_flags = m->ol_flags & said;
	copy->vlan_tci = m->vlan_tci;
	copy->packet_type = m->packet_type;
	copy->hash = m->hash;
	copy->port = m->port;
	shim_buf_mark_set(copy, w->mark);
	return copy;
}

static void
share(struct worker *w, struct worker_port *wp, struct rte_mbuf *m)
{
	if (wp->nb_queues < 2 || !worker_for_everybody(m))
		return;
	for (unsigned int q = 0; q < wp->nb_queues; q++) {
		struct rte_mbuf *copy = q != wp->queue ? worker_rx_copy(w, m) : NULL;

		if (copy != NULL)
			worker_ring_hand(w, &wp->to[q], copy);
	}
}

/* The dispatcher's answer: len bytes at the frame's start go back out, behind the tag that was stripped. Takes m. */
static void
respond(struct worker *w, struct worker_port *wp, struct rte_mbuf *m, uint16_t len)
{
	uint32_t room = shim_buf_seg_len(m) + (m->nb_segs == 1 ? shim_buf_tailroom(m) : 0);
	bool tagged = m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED;
	struct rte_mbuf *rest = m->next;

	if (len < ETH_HLEN || len > room) {
		w->rx_dropped++;
		shim_buf_free(w->shim, m);
		return;
	}
	if (rest != NULL) {
		m->next = NULL;
		m->nb_segs = 1;
		shim_buf_free(w->shim, rest);
	}
	m->data_len = len;
	m->pkt_len = len;
	m->ol_flags = 0;
	if (tagged) {
		uint16_t tci = m->vlan_tci;
		uint8_t *d = shim_buf_prepend(m, 4);

		if (d == NULL) {
			w->rx_dropped++;
			shim_buf_free(w->shim, m);
			return;
		}
		memmove(d, d + 4, 12);
		d[12] = ETHERTYPE_VLAN >> 8;
		d[13] = ETHERTYPE_VLAN & 0xff;
		d[14] = tci >> 8;
		d[15] = tci & 0xff;
	}
	if (worker_tx(wp, &m, 1) == 0)
		shim_buf_free(w->shim, m);
}

/* Asks the dispatcher; true: the frame stays here. Otherwise it has been taken. */
static bool
dispatched_here(struct worker *w, struct worker_port *wp, struct rte_mbuf *m)
{
	struct worker_dispatch_vlan vlan = { .stripped = m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED };
	uint16_t len = shim_buf_seg_len(m);
	int to;

	if (vlan.stripped)
		vlan.tci = m->vlan_tci;
	to = w->dispatch(w->dispatch_arg, shim_buf_data(m), &len, wp->queue, wp->nb_queues, &vlan);
	if (to == wp->queue)
		return true;
	if (to == WORKER_DISPATCH_RESPONSE) {
		respond(w, wp, m, len);
	} else if (to >= 0 && to < wp->nb_queues) {
		worker_ring_hand(w, &wp->to[to], m);
	} else {
		w->rx_dropped++;
		shim_buf_free(w->shim, m);
	}
	return false;
}

/* To the stack, past the generations' dispatcher in a window. */
static inline void
deliver(struct worker *w, struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	if (__builtin_expect(w->window, 0))
		worker_window_input(wp, m, n);
	else
		stack_input(w->stack, wp->nif, m, n);
}

static unsigned int
rx_port(struct worker *w, struct worker_port *wp)
{
	struct rte_mbuf *m[WORKER_BURST];
	unsigned int n, kept = 0;

	n = shim_rx_burst(w->shim, wp->port, wp->queue, m, WORKER_BURST);
	if (n == 0)
		return 0;
	if (__builtin_expect(w->capture != NULL, 0)) {
		capture_stage(w->capture, m, n);
		capture_commit(w->capture, n);
	}
	for (unsigned int i = 0; i < n; i++) {
		shim_buf_mark_set(m[i], w->mark);
		w->rx_bytes += shim_buf_len(m[i]);
	}
	w->rx_packets += n;
	if (w->dispatch == NULL && wp->nb_queues == 1) {
		deliver(w, wp, m, n);
		return n;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (w->dispatch != NULL && !dispatched_here(w, wp, m[i]))
			continue;
		share(w, wp, m[i]);
		m[kept++] = m[i];
	}
	if (kept > 0)
		deliver(w, wp, m, kept);
	return n;
}

/* What the port's other queues have handed over. */
static unsigned int
rx_rings(struct worker *w, struct worker_port *wp)
{
	unsigned int total = 0;

	for (unsigned int q = 0; wp->nb_queues > 1 && q < wp->nb_queues; q++) {
		struct rte_mbuf *m[WORKER_BURST];
		unsigned int n;

		if (q == wp->queue)
			continue;
		n = worker_ring_get(w, &wp->from[q], m, WORKER_BURST, &w->rx_dropped);
		if (n > 0)
			deliver(w, wp, m, n);
		total += n;
	}
	return total;
}

unsigned int
worker_rx(struct worker *w)
{
	unsigned int total = 0;

	/* first what other workers had before: order within a flow */
	if (__builtin_expect(w->rl != NULL, 0))
		total += worker_ring_rx(w);
	for (unsigned int i = 0; w->owner && i < w->nb_ports; i++) {
		total += rx_rings(w, w->port[i]);
		if (!w->parked)
			total += rx_port(w, w->port[i]);
	}
	if (total > 0)
		w->dirty = true;
	return total;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in and out of a port: address filter, RSS, offloads, queues, and who may touch which queue. */
#include <errno.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "machine.h"

#define L2_NO_FCS 22u /* Ethernet header and two tags */
#define MIN_FRAME 14u

/* ---- in ---- */

static bool
for_us(const struct sim_port *p, const uint8_t *f)
{
	static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 };

	if (p->promiscuous || p->conf.no_filter || memcmp(f, p->conf.mac, 6) == 0)
		return true;
	if ((f[0] & 1) == 0)
		return false;
	return p->allmulticast || memcmp(f, all, 6) == 0;
}

/* The frame in one buffer, or in a chain when the port may scatter; NULL when buffers are short. */
static struct rte_mbuf *
fill(struct sim_port *p, const uint8_t *f, uint32_t len)
{
	struct rte_mbuf *head = NULL, **link = &head, *b;
	uint32_t left = len;
	uint16_t segs = 0;

	do {
		uint32_t k;

		b = sim_buf_take(p->machine, p->pool);
		if (b == NULL) {
			if (head != NULL)
				sim_buf_drop(p->machine, head);
			return NULL;
		}
		k = rte_pktmbuf_tailroom(b);
		if (k > left)
			k = left;
		memcpy(rte_pktmbuf_mtod(b, void *), f + (len - left), k);
		b->data_len = (uint16_t)k;
		left -= k;
		segs++;
		*link = b;
		link = &b->next;
	} while (left > 0);
	head->pkt_len = len;
	head->nb_segs = segs;
	head->port = p->index;
	return head;
}

static void
mark(struct sim_port *p, struct rte_mbuf *b, const uint8_t *f, const struct sim_frame_info *i, bool hashed,
	uint32_t hash)
{
	uint64_t fl = 0;
	enum sim_csum c;

	if ((p->rx_enabled & SHIM_RX_IPV4_CKSUM) != 0) {
		c = sim_frame_l3_csum(f, i);
		fl |= c == SIM_CSUM_GOOD ? RTE_MBUF_F_RX_IP_CKSUM_GOOD : 0;
		fl |= c == SIM_CSUM_BAD ? RTE_MBUF_F_RX_IP_CKSUM_BAD : 0;
	}
	if ((p->rx_enabled & (i->proto == 17 ? SHIM_RX_UDP_CKSUM : SHIM_RX_TCP_CKSUM)) != 0) {
		c = sim_frame_l4_csum(f, i);
		fl |= c == SIM_CSUM_GOOD ? RTE_MBUF_F_RX_L4_CKSUM_GOOD : 0;
		fl |= c == SIM_CSUM_BAD ? RTE_MBUF_F_RX_L4_CKSUM_BAD : 0;
	}
	if (hashed) {
		b->hash.rss = hash;
		fl |= RTE_MBUF_F_RX_RSS_HASH;
	}
	if (i->vlan && (p->rx_enabled & SHIM_RX_VLAN_STRIP) != 0) {
		b->vlan_tci = (uint16_t)(f[14] << 8 | f[15]);
		fl |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		memmove(rte_pktmbuf_mtod_offset(b, uint8_t *, 4), f, 12);
		rte_pktmbuf_adj(b, 4);
	}
	b->ol_flags |= fl;
}

/* Counts and refuses what the port can not receive. */
static bool
acceptable(struct sim_port *p, const uint8_t *f, uint32_t len)
{
	if (!p->started || !p->link_up)
		return false;
	if (len < MIN_FRAME || len > p->mtu + L2_NO_FCS) {
		p->st.rx_errors++;
		return false;
	}
	if (!for_us(p, f)) {
		p->filtered++;
		return false;
	}
	if ((p->rx_enabled & SHIM_RX_SCATTER) == 0 && len > (uint32_t)(p->pool->data_room - SHIM_HEADROOM)) {
		p->st.rx_errors++;
		return false;
	}
	return true;
}

static void
receive(struct sim_port *p, uint16_t q, const uint8_t *f, uint32_t len, const struct sim_frame_info *i, bool hashed,
	uint32_t hash)
{
	struct sim_rxq *r = &p->rxq[q];
	struct rte_mbuf *b;

	if (r->n == r->room) {
		p->st.rx_missed++;
		return;
	}
	b = fill(p, f, len);
	if (b == NULL) {
		p->st.rx_nombuf++;
		return;
	}
	mark(p, b, f, i, hashed && (p->rx_enabled & SHIM_RX_RSS_HASH) != 0, hash);
	r->slot[(r->head + r->n) % r->room] = b;
	r->n++;
	p->st.rx_packets++;
	p->st.rx_bytes += len;
	if (p->machine->env->ready != NULL)
		p->machine->env->ready(p->machine->env->ctx, p, q);
}

void
sim_port_receive(struct sim_port *p, const uint8_t *f, uint32_t len)
{
	struct sim_frame_info i;
	uint32_t hash = 0;
	bool hashed;

	if (!acceptable(p, f, len))
		return;
	sim_frame_parse(f, len, &i);
	hashed = p->rss && sim_frame_rss(f, &i, p->rss_key, &hash);
	receive(p, hashed ? p->reta[hash % p->conf.reta_size] : 0, f, len, &i, hashed, hash);
}

void
sim_port_receive_on(struct sim_port *p, uint16_t queue, const uint8_t *f, uint32_t len)
{
	struct sim_frame_info i;

	if (queue >= p->nb_rx || !acceptable(p, f, len))
		return;
	sim_frame_parse(f, len, &i);
	receive(p, queue, f, len, &i, false, 0);
}

/* Is d the one process that polls this queue? Another one's call is counted and does nothing. */
static bool
own(struct sim_door *d, struct sim_port *p, uint32_t *poller, const char *what, uint16_t queue)
{
	d->effects++;
	if (!p->started)
		p->polled_stopped++;
	if (p->conf.leased && p->machine->env->polls != NULL && d->shim.role != SHIM_ROLE_OBSERVER) {
		*poller = d->id;
		if (p->machine->env->polls(p->machine->env->ctx, d, p, queue))
			return true;
	} else if (d->shim.role != SHIM_ROLE_OBSERVER && (*poller == 0 || *poller == d->id)) {
		*poller = d->id;
		return true;
	}
	d->shim.role_violations++;
	snprintf(p->machine->violation, sizeof(p->machine->violation), "%s queue %u of port %u is used by %s", what,
		queue, p->index, d->shim.role == SHIM_ROLE_OBSERVER ? "an observer" : p->conf.leased ? "a process that has no right to" : "two processes");
	return false;
}

uint16_t
sim_port_op_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	struct sim_door *d = sim_door(s);
	struct sim_port *p;
	struct sim_rxq *r;
	uint16_t k = 0;

	if (port >= d->machine->nb_ports)
		return 0;
	p = d->machine->port[port];
	if (queue >= p->nb_rx || !own(d, p, &p->rxq[queue].poller, "rx", queue) || !p->started)
		return 0;
	r = &p->rxq[queue];
	for (; k < n && r->n > 0; k++) {
		m[k] = r->slot[r->head];
		r->head = (r->head + 1) % r->room;
		r->n--;
		sim_buf_move(d->machine, m[k], SIM_AT_DOOR, d);
	}
	return k;
}

/* ---- out ---- */

static void
put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Checksums the frame asks for, done as a card does them: from the header lengths in the buffer. */
static bool
tx_csum(const struct sim_port *p, const struct rte_mbuf *b, uint8_t *f, uint32_t len)
{
	uint64_t l4 = b->ol_flags & RTE_MBUF_F_TX_L4_MASK;
	uint32_t at = b->l2_len, sum;

	if ((b->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) != 0) {
		if ((p->tx_enabled & SHIM_TX_IPV4_CKSUM) == 0 || at + b->l3_len > len || b->l3_len < 20)
			return false;
		put16(f + at + 10, 0);
		put16(f + at + 10, (uint16_t)~sim_sum(f + at, b->l3_len, 0));
	}
	if (l4 == 0)
		return true;
	at += b->l3_len;
	if (l4 != RTE_MBUF_F_TX_UDP_CKSUM && l4 != RTE_MBUF_F_TX_TCP_CKSUM)
		return false;
	if ((p->tx_enabled & (l4 == RTE_MBUF_F_TX_UDP_CKSUM ? SHIM_TX_UDP_CKSUM : SHIM_TX_TCP_CKSUM)) == 0 ||
		at + (l4 == RTE_MBUF_F_TX_UDP_CKSUM ? 8u : 20u) > len)
		return false;
	sum = (uint16_t)~sim_sum(f + at, len - at, 0); /* the field holds the pseudo-header's sum */
	if (l4 == RTE_MBUF_F_TX_UDP_CKSUM && sum == 0)
		sum = 0xffff;
	put16(f + at + (l4 == RTE_MBUF_F_TX_UDP_CKSUM ? 6 : 16), (uint16_t)sum);
	return true;
}

/* Flattens b into the scratch frame and does its offloads; its length, or 0 when a card would refuse it. */
static uint32_t
finish(struct sim_port *p, const struct rte_mbuf *b)
{
	uint8_t *f = p->machine->scratch;
	uint32_t len = 0;
	uint16_t segs = 0;

	if (b->pkt_len < MIN_FRAME || b->pkt_len > p->mtu + L2_NO_FCS)
		return 0;
	for (const struct rte_mbuf *s = b; s != NULL; s = s->next, segs++) {
		if (len + s->data_len > SIM_FRAME_MAX - 4)
			return 0;
		memcpy(f + len, rte_pktmbuf_mtod(s, const void *), s->data_len);
		len += s->data_len;
	}
	if (len != b->pkt_len || segs != b->nb_segs || (segs > 1 && (p->tx_enabled & SHIM_TX_MULTI_SEGS) == 0))
		return 0;
	if (!tx_csum(p, b, f, len))
		return 0;
	if ((b->ol_flags & RTE_MBUF_F_TX_VLAN) == 0)
		return len;
	if ((p->tx_enabled & SHIM_TX_VLAN_INSERT) == 0)
		return 0;
	memmove(f + 16, f + 12, len - 12);
	put16(f + 12, 0x8100);
	put16(f + 14, b->vlan_tci);
	return len + 4;
}

static void
send_one(struct sim_port *p, uint16_t queue, const struct rte_mbuf *b)
{
	uint32_t len = finish(p, b);

	if (len == 0) {
		p->st.tx_errors++;
		return;
	}
	p->st.tx_packets++;
	p->st.tx_bytes += len;
	if (p->link_up && p->machine->env->frame != NULL)
		p->machine->env->frame(p->machine->env->ctx, p, queue, p->machine->scratch, len);
}

uint16_t
sim_port_op_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	struct sim_door *d = sim_door(s);
	struct sim_port *p;

	if (port >= d->machine->nb_ports)
		return 0;
	p = d->machine->port[port];
	if (queue >= p->nb_tx || !own(d, p, &p->tx_poller[queue], "tx", queue) || !p->started)
		return 0;
	if (p->inject[SIM_INJECT_TX].times > 0) {
		p->inject[SIM_INJECT_TX].times--;
		return 0;
	}
	if (d->machine->env->tx_room != NULL) {
		unsigned int room = d->machine->env->tx_room(d->machine->env->ctx, p, queue);

		n = room < n ? (uint16_t)room : n;
	}
	for (uint16_t i = 0; i < n; i++) {
		send_one(p, queue, m[i]);
		sim_buf_drop(d->machine, m[i]);
	}
	return n;
}

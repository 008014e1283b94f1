/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports as crossed pairs of rings in the region. */
#include <rte_ring.h>
#include <stdio.h>

#include "../../buf.h"
#include "priv.h"

#define MIN_MTU 68
#define MAX_MTU 9216
#define OVERHEAD 26
#define RX_OFFLOADS SHIM_RX_SCATTER
#define TX_OFFLOADS SHIM_TX_MULTI_SEGS

static struct posix_port *
port_of(struct shim *s, uint16_t port)
{
	struct posix_region *r = posix_region_of(s);

	return port < r->n_ports ? &r->ports[port] : NULL;
}

int
posix_ports_init(struct shim *s, unsigned int pairs, unsigned int queues, unsigned int ring_size)
{
	struct posix_region *r = posix_region_of(s);
	char name[32];
	unsigned int p, q;
	int rc;

	for (p = 0; p < 2 * pairs; p++) {
		r->ports[p].mtu = 1500;
		for (q = 0; q < queues; q++) {
			snprintf(name, sizeof(name), "port%utx%u", p, q);
			rc = posix_ring_create(s, name, ring_size, SHIM_RING_SP_SC,
				&r->ports[p].tx[q]);
			if (rc != 0)
				return rc;
		}
	}
	r->n_ports = 2 * pairs;
	r->queues = queues;
	return 0;
}

unsigned int
posix_port_count(struct shim *s)
{
	return posix_region_of(s)->n_ports;
}

int
posix_port_info(struct shim *s, uint16_t port, struct shim_port_info *info)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*info = (struct shim_port_info){
		.driver = "posix", .mac = { 2, 0, 0, 0, 1, (uint8_t)port },
		.started = p->started != 0, .min_mtu = MIN_MTU, .max_mtu = MAX_MTU,
		.min_rx_bufsize = 64, .max_rx_bufsize = UINT32_MAX,
		.max_rx_pktlen = MAX_MTU + OVERHEAD,
		.max_rx_queues = (uint16_t)posix_region_of(s)->queues,
		.max_tx_queues = (uint16_t)posix_region_of(s)->queues,
		.nb_rx_queues = p->nb_rx, .nb_tx_queues = p->nb_tx,
		.rx_offloads = RX_OFFLOADS, .tx_offloads = TX_OFFLOADS,
		.rx_enabled = p->rx_enabled, .tx_enabled = p->tx_enabled,
		.socket_id = -1,
	};
	return 0;
}

int
posix_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c)
{
	struct posix_port *p = port_of(s, port);
	unsigned int queues = posix_region_of(s)->queues;

	if (p == NULL)
		return -ENODEV;
	if (p->started)
		return -EBUSY;
	if (c->pool == NULL || c->nb_rx_queues == 0 || c->nb_tx_queues == 0 ||
	    c->nb_rx_queues > queues || c->nb_tx_queues > queues ||
	    c->mtu < MIN_MTU || c->mtu > MAX_MTU || (c->rx_offloads & ~RX_OFFLOADS) != 0 ||
	    (c->tx_offloads & ~TX_OFFLOADS) != 0 ||
	    (c->rss && c->rss_key != NULL && c->rss_key_len != 0))
		return -EINVAL;
	p->nb_rx = c->nb_rx_queues;
	p->nb_tx = c->nb_tx_queues;
	p->mtu = c->mtu;
	p->rx_enabled = c->rx_offloads;
	p->tx_enabled = c->tx_offloads;
	p->pool = c->pool;
	p->configured = 1;
	return 0;
}

int
posix_port_start(struct shim *s, uint16_t port)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (!p->configured)
		return -EINVAL;
	__atomic_store_n(&p->started, 1, __ATOMIC_RELEASE);
	return 0;
}

int
posix_port_stop(struct shim *s, uint16_t port)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	__atomic_store_n(&p->started, 0, __ATOMIC_RELEASE);
	return 0;
}

int
posix_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*mtu = p->mtu;
	return 0;
}

int
posix_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (!p->configured || mtu < MIN_MTU || mtu > MAX_MTU)
		return -EINVAL;
	p->mtu = mtu;
	return 0;
}

int
posix_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st)
{
	struct posix_port *p = port_of(s, port);
	unsigned int q;

	if (p == NULL)
		return -ENODEV;
	*st = (struct shim_port_stats){ 0 };
	for (q = 0; q < POSIX_QUEUES; q++) {
		st->rx_packets += __atomic_load_n(&p->rx_count[q].packets, __ATOMIC_RELAXED);
		st->rx_bytes += __atomic_load_n(&p->rx_count[q].bytes, __ATOMIC_RELAXED);
		st->tx_packets += __atomic_load_n(&p->tx_count[q].packets, __ATOMIC_RELAXED);
		st->tx_bytes += __atomic_load_n(&p->tx_count[q].bytes, __ATOMIC_RELAXED);
		st->tx_errors += __atomic_load_n(&p->tx_count[q].errors, __ATOMIC_RELAXED);
	}
	return 0;
}

int
posix_port_link(struct shim *s, uint16_t port, struct shim_port_link *l)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*l = (struct shim_port_link){ .up = p->started != 0, .full_duplex = true,
		.speed_mbps = UINT32_MAX };
	return 0;
}

int
posix_port_promiscuous_get(struct shim *s, uint16_t port)
{
	struct posix_port *p = port_of(s, port);

	return p == NULL ? -ENODEV : p->promiscuous != 0;
}

int
posix_port_promiscuous_set(struct shim *s, uint16_t port, bool on)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	p->promiscuous = on;
	return 0;
}

int
posix_port_allmulticast_set(struct shim *s, uint16_t port, bool on)
{
	struct posix_port *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	p->allmulticast = on;
	return 0;
}

/* A pair of rings spreads nothing: no key, no table. */
static int
no_rss(struct shim *s, uint16_t port)
{
	return port_of(s, port) == NULL ? -ENODEV : -ENOTSUP;
}

int
posix_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len)
{
	(void)key;
	(void)len;
	return no_rss(s, port);
}

int
posix_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len)
{
	(void)key;
	(void)len;
	return no_rss(s, port);
}

int
posix_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n)
{
	(void)queues;
	(void)n;
	return no_rss(s, port);
}

int
posix_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n)
{
	(void)queues;
	(void)n;
	return no_rss(s, port);
}

static void
count(struct posix_counters *c, uint64_t bytes)
{
	__atomic_store_n(&c->packets, c->packets + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->bytes, c->bytes + bytes, __ATOMIC_RELAXED);
}

uint16_t
posix_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	struct posix_port *p = port_of(s, port);
	uint16_t k, i;

	if (p == NULL || queue >= p->nb_rx || !__atomic_load_n(&p->started, __ATOMIC_ACQUIRE))
		return 0;
	k = (uint16_t)rte_ring_sc_dequeue_burst(posix_region_of(s)->ports[port ^ 1].tx[queue],
		(void **)m, n, NULL);
	for (i = 0; i < k; i++) {
		/* The bytes crossed the wire; what the sender noted beside them did not. */
		m[i]->port = port;
		m[i]->ol_flags = 0;
		m[i]->packet_type = 0;
		m[i]->vlan_tci = 0;
		m[i]->tx_offload = 0;
		count(&p->rx_count[queue], m[i]->pkt_len);
	}
	return k;
}

/* True if the frame is wholly the sender's to give away: no other reference, no borrowed bytes. */
static bool
exclusive(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if (rte_mbuf_refcnt_read(m) != 1 || !RTE_MBUF_DIRECT(m))
			return false;
	return true;
}

/*
 * Frames that somebody still looks at are copied, as a wire would: the receiver changes its buffer,
 * and a free function of the sender's process must not run in another.
 */
uint16_t
posix_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	struct posix_port *p = port_of(s, port);
	struct rte_mbuf *out;
	uint32_t len;
	uint16_t k;

	if (p == NULL || queue >= p->nb_tx || !__atomic_load_n(&p->started, __ATOMIC_ACQUIRE))
		return 0;
	for (k = 0; k < n && rte_ring_free_count(p->tx[queue]) > 0; k++) {
		len = m[k]->pkt_len;
		out = m[k];
		if (!exclusive(out)) {
			out = host_buf_copy(s, m[k], p->pool, 0, UINT32_MAX);
			if (out == NULL) {
				p->tx_count[queue].errors++;
				break;
			}
			host_buf_free(s, m[k]);
			shim_buf_mark_set(out, 0); /* the port's */
		}
		rte_ring_sp_enqueue(p->tx[queue], out);
		count(&p->tx_count[queue], len);
	}
	return k;
}

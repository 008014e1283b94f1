/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock's ports: a test puts frames in and takes frames out; the rules are DPDK's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

#define RX_OFFLOADS (SHIM_RX_VLAN_STRIP | SHIM_RX_IPV4_CKSUM | SHIM_RX_UDP_CKSUM | \
	SHIM_RX_TCP_CKSUM | SHIM_RX_LRO | SHIM_RX_SCATTER | SHIM_RX_RSS_HASH)
#define TX_OFFLOADS (SHIM_TX_VLAN_INSERT | SHIM_TX_IPV4_CKSUM | SHIM_TX_UDP_CKSUM | \
	SHIM_TX_TCP_CKSUM | SHIM_TX_TCP_TSO | SHIM_TX_MULTI_SEGS)

static struct mock_port_state *
port_of(struct shim *s, uint16_t port)
{
	struct mock_state *st = mock_of(s);

	return port < st->n_ports ? st->ports[port] : NULL;
}

/* For a test's own calls: a port that is not there is the test's error. */
static struct mock_port_state *
port_must(struct shim *s, uint16_t port)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		abort();
	return p;
}

uint16_t
mock_port_add(struct shim *s, const struct shim_port_info *info)
{
	struct mock_state *st = mock_of(s);
	struct mock_port_state *p = mock_xcalloc(1, sizeof(*p));
	static const struct shim_port_info usual = {
		.driver = "mock", .mac = { 2, 0, 0, 0, 0, 1 }, .min_mtu = 68, .max_mtu = 9216,
		.min_rx_bufsize = 64, .max_rx_bufsize = UINT32_MAX, .max_rx_pktlen = 9216 + 26,
		.max_rx_queues = 16, .max_tx_queues = 16, .rx_offloads = RX_OFFLOADS,
		.tx_offloads = TX_OFFLOADS, .reta_size = 128, .rss_key_size = 40, .socket_id = 0,
	};
	unsigned int q;

	if (st->n_ports == SHIM_MAX_PORTS)
		abort();
	p->info = info != NULL ? *info : usual;
	if (info == NULL)
		p->info.mac[5] += (uint8_t)st->n_ports;
	p->mtu = 1500;
	p->link = (struct shim_port_link){ .up = true, .full_duplex = true, .speed_mbps = 10000 };
	for (q = 0; q < SHIM_RSS_KEY_MAX; q++)
		p->rss_key[q] = (uint8_t)(0x6d + q * 37);
	for (q = 0; q < SHIM_MAX_QUEUES; q++)
		p->tx[q].tx_room = UINT32_MAX;
	st->ports[st->n_ports] = p;
	return (uint16_t)st->n_ports++;
}

static struct rte_mbuf *
queue_take(struct mock_queue *q)
{
	struct rte_mbuf *m;

	if (q->count == 0)
		return NULL;
	m = q->frames[q->head];
	q->head = (q->head + 1) % q->room;
	q->count--;
	return m;
}

static void
queue_put(struct mock_queue *q, struct rte_mbuf *m)
{
	struct rte_mbuf **bigger;
	unsigned int i;

	if (q->count == q->room) {
		bigger = mock_xcalloc(q->room * 2 + 16, sizeof(*bigger));
		for (i = 0; i < q->count; i++)
			bigger[i] = q->frames[(q->head + i) % q->room];
		free(q->frames);
		q->frames = bigger;
		q->head = 0;
		q->room = q->room * 2 + 16;
	}
	q->frames[(q->head + q->count++) % q->room] = m;
}

static void
queue_drop(struct shim *s, struct mock_queue *q)
{
	struct rte_mbuf *m;

	while ((m = queue_take(q)) != NULL)
		host_buf_free(s, m);
	free(q->frames);
	q->frames = NULL;
	q->room = 0;
	q->head = 0;
}

void
mock_port_destroy(struct shim *s, struct mock_port_state *p)
{
	unsigned int q;

	for (q = 0; q < SHIM_MAX_QUEUES; q++) {
		queue_drop(s, &p->rx[q]);
		queue_drop(s, &p->tx[q]);
	}
	free(p);
}

/* ---- the door's calls ---- */

unsigned int
mock_port_count(struct shim *s)
{
	return mock_of(s)->n_ports;
}

int
mock_port_info(struct shim *s, uint16_t port, struct shim_port_info *info)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*info = p->info;
	return 0;
}

int
mock_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c)
{
	struct mock_port_state *p = port_of(s, port);
	unsigned int i;

	if (p == NULL)
		return -ENODEV;
	if (p->info.started)
		return -EBUSY;
	if (c->pool == NULL || c->nb_rx_queues == 0 || c->nb_tx_queues == 0 ||
	    c->nb_rx_queues > p->info.max_rx_queues || c->nb_tx_queues > p->info.max_tx_queues ||
	    c->mtu < p->info.min_mtu || c->mtu > p->info.max_mtu ||
	    (c->rx_offloads & ~p->info.rx_offloads) != 0 ||
	    (c->tx_offloads & ~p->info.tx_offloads) != 0 ||
	    (c->rss && c->rss_key != NULL && c->rss_key_len != p->info.rss_key_size) ||
	    (uint32_t)c->pool->data_room < SHIM_HEADROOM + p->info.min_rx_bufsize)
		return -EINVAL;
	p->info.nb_rx_queues = c->nb_rx_queues;
	p->info.nb_tx_queues = c->nb_tx_queues;
	p->info.rx_enabled = c->rx_offloads;
	p->info.tx_enabled = c->tx_offloads;
	p->mtu = c->mtu;
	p->pool = c->pool;
	p->configured = true;
	if (c->rss && c->rss_key != NULL && c->rss_key_len > 0)
		memcpy(p->rss_key, c->rss_key, c->rss_key_len);
	for (i = 0; i < p->info.reta_size; i++)
		p->reta[i] = (uint16_t)(c->rss ? i % c->nb_rx_queues : 0);
	return 0;
}

int
mock_port_start(struct shim *s, uint16_t port)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (!p->configured)
		return -EINVAL;
	p->info.started = true;
	return 0;
}

int
mock_port_stop(struct shim *s, uint16_t port)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	p->info.started = false;
	return 0;
}

int
mock_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*mtu = p->mtu;
	return 0;
}

int
mock_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (!p->configured || mtu < p->info.min_mtu || mtu > p->info.max_mtu)
		return -EINVAL;
	if (p->info.started && p->mtu_busy)
		return -EBUSY;
	p->mtu = mtu;
	return 0;
}

int
mock_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*st = p->stats;
	return 0;
}

int
mock_port_link(struct shim *s, uint16_t port, struct shim_port_link *l)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	*l = p->link;
	return 0;
}

int
mock_port_promiscuous_get(struct shim *s, uint16_t port)
{
	struct mock_port_state *p = port_of(s, port);

	return p == NULL ? -ENODEV : p->promiscuous;
}

int
mock_port_promiscuous_set(struct shim *s, uint16_t port, bool on)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	p->promiscuous = on;
	return 0;
}

int
mock_port_allmulticast_set(struct shim *s, uint16_t port, bool on)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	p->allmulticast = on;
	return 0;
}

int
mock_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (p->info.rss_key_size == 0)
		return -ENOTSUP;
	if (*len < p->info.rss_key_size)
		return -ENOSPC;
	memcpy(key, p->rss_key, p->info.rss_key_size);
	*len = p->info.rss_key_size;
	return 0;
}

int
mock_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (p->info.rss_key_size == 0)
		return -ENOTSUP;
	if (len != p->info.rss_key_size)
		return -EINVAL;
	memcpy(p->rss_key, key, len);
	return 0;
}

int
mock_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (p->info.reta_size == 0)
		return -ENOTSUP;
	if (n != p->info.reta_size)
		return -EINVAL;
	memcpy(queues, p->reta, n * sizeof(*queues));
	return 0;
}

int
mock_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n)
{
	struct mock_port_state *p = port_of(s, port);
	uint16_t i;

	if (p == NULL)
		return -ENODEV;
	if (p->info.reta_size == 0)
		return -ENOTSUP;
	if (n != p->info.reta_size)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (queues[i] >= p->info.nb_rx_queues)
			return -EINVAL;
	memcpy(p->reta, queues, n * sizeof(*queues));
	return 0;
}

uint16_t
mock_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	struct mock_port_state *p = port_of(s, port);
	uint16_t k = 0;

	if (p == NULL || !p->info.started || queue >= p->info.nb_rx_queues)
		return 0;
	while (k < n && (m[k] = queue_take(&p->rx[queue])) != NULL) {
		p->stats.rx_packets++;
		p->stats.rx_bytes += m[k++]->pkt_len;
	}
	return k;
}

uint16_t
mock_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	struct mock_port_state *p = port_of(s, port);
	struct mock_queue *q;
	uint16_t k;

	if (p == NULL || !p->info.started || queue >= p->info.nb_tx_queues)
		return 0;
	q = &p->tx[queue];
	for (k = 0; k < n && q->count < q->tx_room; k++) {
		p->stats.tx_packets++;
		p->stats.tx_bytes += m[k]->pkt_len;
		queue_put(q, m[k]);
	}
	return k;
}

/* ---- the test's calls ---- */

struct shim_port_info *
mock_port(struct shim *s, uint16_t port)
{
	return &port_must(s, port)->info;
}

struct shim_port_stats *
mock_port_counters(struct shim *s, uint16_t port)
{
	return &port_must(s, port)->stats;
}

void
mock_port_link_set(struct shim *s, uint16_t port, bool up)
{
	port_must(s, port)->link.up = up;
}

void
mock_port_mtu_busy(struct shim *s, uint16_t port, bool on)
{
	port_must(s, port)->mtu_busy = on;
}

bool
mock_port_allmulticast(struct shim *s, uint16_t port)
{
	return port_must(s, port)->allmulticast;
}

int
mock_inject_buf(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf *m)
{
	struct mock_port_state *p = port_of(s, port);

	if (p == NULL)
		return -ENODEV;
	if (!p->info.started || queue >= p->info.nb_rx_queues)
		return -ENETDOWN;
	m->port = port;
	queue_put(&p->rx[queue], m);
	return 0;
}

/* A chain of the pool's buffers with the bytes; past the script, so that a test's failures stay its own. */
static struct rte_mbuf *
buf_of_bytes(struct shim *s, struct shim_pool *pool, const uint8_t *frame, size_t len)
{
	struct rte_mbuf *head = NULL, *m;
	uint16_t n;

	do {
		m = mock_behaviour.buf_alloc(s, pool);
		if (m == NULL) {
			host_buf_free(s, head);
			return NULL;
		}
		m->dynfield1[8] = 0; /* the port's, not the door's that injects */
		n = (uint16_t)RTE_MIN(len, (size_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_mtod(m, void *), frame, n);
		m->data_len = n;
		m->pkt_len = n;
		frame += n;
		len -= n;
		if (head == NULL)
			head = m;
		else if (rte_pktmbuf_chain(head, m) != 0)
			abort();
	} while (len > 0);
	return head;
}

int
mock_inject(struct shim *s, uint16_t port, uint16_t queue, const void *frame, size_t len)
{
	struct mock_port_state *p = port_of(s, port);
	struct rte_mbuf *m;
	int rc;

	if (p == NULL)
		return -ENODEV;
	if (p->pool == NULL)
		return -ENETDOWN;
	m = buf_of_bytes(s, p->pool, frame, len);
	if (m == NULL) {
		p->stats.rx_nombuf++;
		return -ENOBUFS;
	}
	rc = mock_inject_buf(s, port, queue, m);
	if (rc != 0)
		host_buf_free(s, m);
	return rc;
}

unsigned int
mock_rx_waiting(struct shim *s, uint16_t port, uint16_t queue)
{
	return port_must(s, port)->rx[queue].count;
}

unsigned int
mock_tx_waiting(struct shim *s, uint16_t port, uint16_t queue)
{
	return port_must(s, port)->tx[queue].count;
}

struct rte_mbuf *
mock_collect(struct shim *s, uint16_t port, uint16_t queue)
{
	return queue_take(&port_must(s, port)->tx[queue]);
}

size_t
mock_collect_bytes(struct shim *s, uint16_t port, uint16_t queue, void *buf, size_t cap)
{
	struct rte_mbuf *m = mock_collect(s, port, queue);
	const struct rte_mbuf *seg;
	size_t off = 0, n, len;

	if (m == NULL)
		return 0;
	len = m->pkt_len;
	for (seg = m; seg != NULL && off < cap; seg = seg->next) {
		n = RTE_MIN((size_t)seg->data_len, cap - off);
		memcpy((uint8_t *)buf + off, rte_pktmbuf_mtod(seg, void *), n);
		off += n;
	}
	host_buf_free(s, m);
	return len;
}

void
mock_tx_room(struct shim *s, uint16_t port, uint16_t queue, uint32_t n)
{
	struct mock_queue *q = &port_must(s, port)->tx[queue];

	q->tx_room = n < UINT32_MAX - q->count ? q->count + n : UINT32_MAX;
}

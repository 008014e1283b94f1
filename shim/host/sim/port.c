/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of a machine: configuration, state, RSS key and table, injected errors. Frames move in io.c. */
#include <errno.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define L2_OVERHEAD 26u
#define DESC_DEFAULT 512u
#define RETA_DEFAULT_MAX SHIM_RETA_MAX

static const uint8_t default_key[SHIM_RSS_KEY_MAX] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca,
	0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b,
	0xbe, 0xac, 0x01, 0xfa, 0x1c, 0x3e, 0x5d, 0x70, 0x92, 0xb4, 0xd6, 0xf8, 0x0a, 0x2c, 0x4e, 0x61,
};

static void
reset_rss(struct sim_port *p)
{
	memcpy(p->rss_key, default_key, sizeof(p->rss_key));
	for (unsigned int i = 0; i < p->conf.reta_size; i++)
		p->reta[i] = p->nb_rx == 0 ? 0 : (uint16_t)(i % p->nb_rx);
}

struct sim_port *
sim_machine_port_add(struct sim_machine *m, const struct sim_port_conf *conf)
{
	static const uint8_t none[6];
	struct sim_port *p;

	if (m->nb_ports == SHIM_MAX_PORTS)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->machine = m;
	p->conf = *conf;
	p->index = (uint16_t)m->nb_ports;
	if (memcmp(conf->mac, none, 6) == 0) {
		const uint8_t mac[6] = { 2, 0, (uint8_t)(m->id >> 16), (uint8_t)(m->id >> 8), (uint8_t)m->id,
			(uint8_t)(p->index + 1) };

		memcpy(p->conf.mac, mac, 6);
	}
	if (p->conf.max_queues == 0)
		p->conf.max_queues = 4;
	if (p->conf.max_queues > SHIM_MAX_QUEUES)
		p->conf.max_queues = SHIM_MAX_QUEUES;
	if (p->conf.min_mtu == 0)
		p->conf.min_mtu = 68;
	if (p->conf.max_mtu == 0)
		p->conf.max_mtu = 9700;
	if (p->conf.reta_size > RETA_DEFAULT_MAX)
		p->conf.reta_size = RETA_DEFAULT_MAX;
	if (p->conf.reta_size != 0 && p->conf.rss_key_size != 52)
		p->conf.rss_key_size = 40;
	if (p->conf.speed_mbps == 0)
		p->conf.speed_mbps = 10000;
	p->mtu = p->conf.max_mtu < 1500 ? p->conf.max_mtu : 1500;
	p->link_up = true;
	reset_rss(p);
	m->port[m->nb_ports++] = p;
	return p;
}

static void
queues_release(struct sim_port *p)
{
	for (unsigned int q = 0; q < SHIM_MAX_QUEUES; q++) {
		struct sim_rxq *r = &p->rxq[q];

		while (r->n > 0) {
			struct rte_mbuf *b = r->slot[r->head];

			r->head = (r->head + 1) % r->room;
			r->n--;
			sim_buf_drop(p->machine, b);
		}
		r->head = 0;
	}
}

void
sim_port_release(struct sim_port *p)
{
	queues_release(p);
	for (unsigned int q = 0; q < SHIM_MAX_QUEUES; q++)
		free(p->rxq[q].slot);
	free(p);
}

void
sim_machine_ports_stop(struct sim_machine *m)
{
	for (unsigned int i = 0; i < m->nb_ports; i++) {
		m->port[i]->started = false;
		queues_release(m->port[i]);
	}
}

unsigned int
sim_port_queued(const struct sim_port *p)
{
	unsigned int n = 0;

	for (unsigned int q = 0; q < p->nb_rx; q++)
		n += p->rxq[q].n;
	return n;
}

void
sim_port_link_set(struct sim_port *p, bool up)
{
	p->link_up = up;
}

void
sim_port_inject(struct sim_port *p, enum sim_inject op, int err, unsigned int times)
{
	p->inject[op].err = err;
	p->inject[op].times = times;
}

void
sim_port_queue_release(struct sim_port *p, uint16_t queue)
{
	p->rxq[queue].poller = 0;
	p->tx_poller[queue] = 0;
}

/* The port by number, or *err: -ENODEV, or what is injected for op. */
static struct sim_port *
port_of(struct shim *s, uint16_t port, int op, int *err)
{
	struct sim_machine *m = sim_door(s)->machine;
	struct sim_port *p;

	*err = -ENODEV;
	if (port >= m->nb_ports)
		return NULL;
	p = m->port[port];
	*err = 0;
	if (op < 0 || p->inject[op].times == 0)
		return p;
	p->inject[op].times--;
	*err = p->inject[op].err;
	return NULL;
}

unsigned int
sim_port_op_count(struct shim *s)
{
	return sim_door(s)->machine->nb_ports;
}

int
sim_port_op_info(struct shim *s, uint16_t port, struct shim_port_info *info)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_INFO, &err);

	if (p == NULL)
		return err;
	*info = (struct shim_port_info){
		.driver = "sim",
		.started = p->started,
		.min_mtu = p->conf.min_mtu,
		.max_mtu = p->conf.max_mtu,
		.min_rx_bufsize = 64,
		.max_rx_bufsize = UINT16_MAX,
		.max_rx_pktlen = p->conf.max_mtu + L2_OVERHEAD,
		.max_rx_queues = p->conf.max_queues,
		.max_tx_queues = p->conf.max_queues,
		.nb_rx_queues = p->nb_rx,
		.nb_tx_queues = p->nb_tx,
		.rx_offloads = p->conf.rx_offloads,
		.tx_offloads = p->conf.tx_offloads,
		.rx_enabled = p->rx_enabled,
		.tx_enabled = p->tx_enabled,
		.reta_size = p->conf.reta_size,
		.rss_key_size = p->conf.reta_size != 0 ? p->conf.rss_key_size : 0,
		.socket_id = -1,
	};
	memcpy(info->mac, p->conf.mac, 6);
	return 0;
}

/* Does a frame of this MTU fit one buffer, or may it be scattered? */
static bool
fits(const struct sim_port *p, const struct shim_pool *pool, uint64_t rx, uint16_t mtu)
{
	(void)p;
	return (rx & SHIM_RX_SCATTER) != 0 || mtu + L2_OVERHEAD <= (uint32_t)(pool->data_room - SHIM_HEADROOM);
}

static bool
conf_ok(const struct sim_port *p, const struct shim_port_conf *c)
{
	if (c->nb_rx_queues == 0 || c->nb_rx_queues > p->conf.max_queues || c->nb_tx_queues == 0 ||
		c->nb_tx_queues > p->conf.max_queues)
		return false;
	if ((c->rx_offloads & ~p->conf.rx_offloads) != 0 || (c->tx_offloads & ~p->conf.tx_offloads) != 0)
		return false;
	if (c->mtu < p->conf.min_mtu || c->mtu > p->conf.max_mtu || c->pool == NULL)
		return false;
	if (c->rss_key != NULL && (p->conf.reta_size == 0 || c->rss_key_len != p->conf.rss_key_size))
		return false;
	return fits(p, c->pool, c->rx_offloads, c->mtu);
}

static int
queues_alloc(struct sim_port *p, const struct shim_port_conf *c)
{
	unsigned int room = c->nb_rx_desc != 0 ? c->nb_rx_desc : DESC_DEFAULT;

	for (unsigned int q = 0; q < c->nb_rx_queues; q++) {
		struct rte_mbuf **slot = calloc(room, sizeof(struct rte_mbuf *));

		if (slot == NULL)
			return -ENOMEM;
		free(p->rxq[q].slot);
		p->rxq[q] = (struct sim_rxq){ .slot = slot, .room = room };
	}
	return 0;
}

int
sim_port_op_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_CONFIGURE, &err);

	if (p == NULL)
		return err;
	if (p->started)
		return -EBUSY;
	if (!conf_ok(p, c))
		return -EINVAL;
	queues_release(p);
	err = queues_alloc(p, c);
	if (err != 0)
		return err;
	p->nb_rx = c->nb_rx_queues;
	p->nb_tx = c->nb_tx_queues;
	memset(p->tx_poller, 0, sizeof(p->tx_poller));
	p->mtu = c->mtu;
	p->rx_enabled = c->rx_offloads;
	p->tx_enabled = c->tx_offloads;
	p->rss = c->rss && p->conf.reta_size != 0;
	p->pool = c->pool;
	reset_rss(p);
	if (c->rss_key != NULL)
		memcpy(p->rss_key, c->rss_key, c->rss_key_len);
	p->configured = true;
	return 0;
}

int
sim_port_op_start(struct shim *s, uint16_t port)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_START, &err);

	if (p == NULL)
		return err;
	if (!p->configured)
		return -EINVAL;
	p->started = true;
	return 0;
}

int
sim_port_op_stop(struct shim *s, uint16_t port)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_STOP, &err);

	if (p == NULL)
		return err;
	p->started = false;
	queues_release(p);
	if (p->conf.stop_forgets) {
		reset_rss(p);
		p->promiscuous = false;
		p->allmulticast = false;
	}
	return 0;
}

int
sim_port_op_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_MTU_GET, &err);

	if (p == NULL)
		return err;
	*mtu = p->mtu;
	return 0;
}

int
sim_port_op_mtu_set(struct shim *s, uint16_t port, uint16_t mtu)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_MTU_SET, &err);

	if (p == NULL)
		return err;
	if (mtu < p->conf.min_mtu || mtu > p->conf.max_mtu)
		return -EINVAL;
	if (p->started && p->conf.mtu_needs_stop)
		return -EBUSY;
	if (p->configured && !fits(p, p->pool, p->rx_enabled, mtu))
		return -EINVAL;
	p->mtu = mtu;
	return 0;
}

int
sim_port_op_stats(struct shim *s, uint16_t port, struct shim_port_stats *st)
{
	int err;
	struct sim_port *p = port_of(s, port, -1, &err);

	if (p == NULL)
		return err;
	*st = p->st;
	return 0;
}

int
sim_port_op_link(struct shim *s, uint16_t port, struct shim_port_link *l)
{
	int err;
	struct sim_port *p = port_of(s, port, -1, &err);

	if (p == NULL)
		return err;
	*l = (struct shim_port_link){ .up = p->link_up && p->started, .full_duplex = true,
		.speed_mbps = p->conf.speed_mbps };
	return 0;
}

int
sim_port_op_promiscuous_get(struct shim *s, uint16_t port)
{
	int err;
	struct sim_port *p = port_of(s, port, -1, &err);

	return p == NULL ? err : p->promiscuous;
}

int
sim_port_op_promiscuous_set(struct shim *s, uint16_t port, bool on)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_PROMISCUOUS, &err);

	if (p == NULL)
		return err;
	p->promiscuous = on;
	return 0;
}

int
sim_port_op_allmulticast_set(struct shim *s, uint16_t port, bool on)
{
	int err;
	struct sim_port *p = port_of(s, port, SIM_INJECT_ALLMULTICAST, &err);

	if (p == NULL)
		return err;
	p->allmulticast = on;
	return 0;
}

/* As port_of for the RSS calls: -ENOTSUP when the port has none. */
static struct sim_port *
rss_port(struct shim *s, uint16_t port, int *err)
{
	struct sim_port *p = port_of(s, port, SIM_INJECT_RSS, err);

	if (p == NULL || p->conf.reta_size != 0)
		return p;
	*err = -ENOTSUP;
	return NULL;
}

int
sim_port_op_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len)
{
	int err;
	struct sim_port *p = rss_port(s, port, &err);

	if (p == NULL)
		return err;
	if (*len < p->conf.rss_key_size)
		return -ENOSPC;
	*len = p->conf.rss_key_size;
	memcpy(key, p->rss_key, *len);
	return 0;
}

int
sim_port_op_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len)
{
	int err;
	struct sim_port *p = rss_port(s, port, &err);

	if (p == NULL)
		return err;
	if (len != p->conf.rss_key_size)
		return -EINVAL;
	memcpy(p->rss_key, key, len);
	return 0;
}

int
sim_port_op_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n)
{
	int err;
	struct sim_port *p = rss_port(s, port, &err);

	if (p == NULL)
		return err;
	if (n != p->conf.reta_size)
		return -EINVAL;
	memcpy(queues, p->reta, n * sizeof(*queues));
	return 0;
}

int
sim_port_op_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n)
{
	int err;
	struct sim_port *p = rss_port(s, port, &err);

	if (p == NULL)
		return err;
	if (n != p->conf.reta_size)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (queues[i] >= p->nb_rx)
			return -EINVAL;
	memcpy(p->reta, queues, n * sizeof(*queues));
	return 0;
}

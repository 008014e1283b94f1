/* SPDX-License-Identifier: BSD-3-Clause */
/* The primary's ports: checked against the configuration, configured, started; and undone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "primary_priv.h"

/* Microsoft's key with every two bytes alike: both directions of a flow get one hash. */
static void
symmetric_key(uint8_t *key, uint8_t len)
{
	for (uint8_t i = 0; i < len; i++)
		key[i] = i & 1 ? 0x5a : 0x6d;
}

static uint64_t
rx_wanted(const struct nonic_config *cfg)
{
	uint64_t want = SHIM_RX_IPV4_CKSUM | SHIM_RX_UDP_CKSUM | SHIM_RX_TCP_CKSUM;

	if (cfg->vlan_strip)
		want |= SHIM_RX_VLAN_STRIP;
	if (cfg->lro)
		want |= SHIM_RX_LRO;
	if (layout_mtu_mode(cfg) == MTU_MODE_SCATTER)
		want |= SHIM_RX_SCATTER;
	return want;
}

static uint64_t
tx_wanted(const struct nonic_config *cfg)
{
	uint64_t want = SHIM_TX_VLAN_INSERT | SHIM_TX_MULTI_SEGS;

	if (!cfg->tx_csum_skip && !cfg->tx_csum_ip_skip)
		want |= SHIM_TX_IPV4_CKSUM;
	if (!cfg->tx_csum_skip && !cfg->tx_csum_l4_skip)
		want |= SHIM_TX_UDP_CKSUM | SHIM_TX_TCP_CKSUM;
	if (cfg->tso)
		want |= SHIM_TX_TCP_TSO;
	return want;
}

/* Does the port carry what the configuration asks of it? */
static int
port_check(struct primary *p, const struct primary_port *pp, const struct shim_port_info *info)
{
	const struct nonic_config *cfg = p->cfg;
	char why[256];
	int rc;

	if (pp->nb_queues == 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: no worker polls it: its lcore_list names none of the "
			"workers' lcores", pp->port);
		return -EINVAL;
	}
	if (pp->nb_queues > info->max_rx_queues || pp->nb_queues > info->max_tx_queues) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u (%s): %u workers poll it, but it has %u receive and %u "
			"transmit queues: list fewer lcores in [port%u] lcore_list", pp->port, info->driver,
			pp->nb_queues, info->max_rx_queues, info->max_tx_queues, pp->port);
		return -EINVAL;
	}
	rc = mtu_check_port(info, layout_mtu_mode(cfg), cfg->port[pp->port].mtu, p->data_room, why, sizeof(why));
	if (rc < 0)
		shim_log(p->shim, SHIM_LOG_ERR, "port %u (%s): %s", pp->port, info->driver, why);
	return rc;
}

/* The MTU is in force before the port starts, and read back (MTU-1). */
static int
port_mtu(struct primary *p, const struct primary_port *pp)
{
	uint16_t want = p->cfg->port[pp->port].mtu, got = 0;
	int rc = shim_port_mtu_get(p->shim, pp->port, &got);

	if (rc == 0 && got != want) {
		rc = shim_port_mtu_set(p->shim, pp->port, want);
		if (rc == 0)
			rc = shim_port_mtu_get(p->shim, pp->port, &got);
	}
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: MTU %u could not be set: %s", pp->port, want, strerror(-rc));
		return rc;
	}
	if (got != want) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: MTU %u was set, but the port says %u", pp->port, want, got);
		return -EIO;
	}
	return 0;
}

static int
port_configure(struct primary *p, struct primary_port *pp, const struct shim_port_info *info)
{
	uint8_t key[SHIM_RSS_KEY_MAX];
	struct shim_port_conf c = {
		.nb_rx_queues = pp->nb_queues, .nb_tx_queues = pp->nb_queues,
		.nb_rx_desc = PRIMARY_DESC, .nb_tx_desc = PRIMARY_DESC,
		.mtu = p->cfg->port[pp->port].mtu,
		.rx_offloads = rx_wanted(p->cfg) & info->rx_offloads,
		.tx_offloads = tx_wanted(p->cfg) & info->tx_offloads,
		.rss = pp->nb_queues > 1 && info->reta_size > 0,
		.pool = p->pool,
	};
	int rc;

	if (c.rss && p->cfg->symmetric_rss) {
		c.rss_key_len = info->rss_key_size == 52 ? 52 : 40;
		symmetric_key(key, c.rss_key_len);
		c.rss_key = key;
	}
	if (pp->nb_queues > 1 && !c.rss)
		shim_log(p->shim, SHIM_LOG_WARNING, "port %u (%s) has no RSS: everything arrives at queue 0 and only a "
			"packet dispatcher reaches the other %u workers", pp->port, info->driver, pp->nb_queues - 1);
	p->pool_lent = true;
	rc = shim_port_configure(p->shim, pp->port, &c);
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u (%s): %u queues, MTU %u: refused: %s", pp->port, info->driver,
			pp->nb_queues, c.mtu, strerror(-rc));
		return rc;
	}
	pp->rx_offloads = c.rx_offloads;
	pp->tx_offloads = c.tx_offloads;
	return port_mtu(p, pp);
}

/* Buckets round robin over the queues. A port that keeps its own table is left with it. */
static int
port_reta(struct primary *p, const struct primary_port *pp, const struct shim_port_info *info)
{
	uint16_t table[SHIM_RETA_MAX];
	uint16_t i;
	int rc;

	if (pp->nb_queues < 2 || info->reta_size == 0 || info->reta_size > SHIM_RETA_MAX)
		return 0;
	for (i = 0; i < info->reta_size; i++)
		table[i] = i % pp->nb_queues;
	rc = shim_port_reta_set(p->shim, pp->port, table, info->reta_size);
	if (rc == -ENOTSUP)
		return 0;
	if (rc < 0)
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: its RSS table of %u entries could not be set: %s", pp->port,
			info->reta_size, strerror(-rc));
	return rc;
}

static int
port_start(struct primary *p, struct primary_port *pp, const struct shim_port_info *info)
{
	int rc = shim_port_start(p->shim, pp->port);

	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u (%s) did not start: %s", pp->port, info->driver, strerror(-rc));
		return rc;
	}
	pp->started = true;
	rc = port_reta(p, pp, info);
	if (rc < 0)
		return rc;
	/* neighbour discovery and MLD need multicast; a port without the filter hands up everything */
	rc = shim_port_allmulticast_set(p->shim, pp->port, true);
	if (rc < 0 && rc != -ENOTSUP) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: all-multicast: %s", pp->port, strerror(-rc));
		return rc;
	}
	if (!p->cfg->promiscuous)
		return 0;
	rc = shim_port_promiscuous_set(p->shim, pp->port, true);
	if (rc == -ENOTSUP) {
		shim_log(p->shim, SHIM_LOG_NOTICE, "port %u (%s) has no promiscuous mode", pp->port, info->driver);
		rc = 0;
	}
	if (rc < 0)
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: promiscuous mode: %s", pp->port, strerror(-rc));
	return rc;
}

uint32_t
primary_pair_size(unsigned int nb_queues)
{
	uint32_t size = PRIMARY_RING;

	while (size > PRIMARY_RING_MIN && size / 2 * (nb_queues - 1) >= PRIMARY_RING)
		size /= 2;
	return size;
}

int
primary_ring_make(struct primary *p, const char *name, uint32_t size, struct shim_ring_end *e)
{
	struct rte_ring *r;
	int rc = shim_ring_create(p->shim, name, size, SHIM_RING_SP_SC, &r);

	if (rc < 0)
		shim_log(p->shim, SHIM_LOG_ERR, "ring %s of %u frames: %s", name, size, strerror(-rc));
	else
		shim_ring_attach(p->shim, e, r, name, size);
	return rc;
}

void
primary_ring_end(struct primary *p, struct shim_ring_end *e)
{
	struct rte_mbuf *m;

	/* as its consumer's successor; what a damaged ring had in it ends with the pool */
	if (shim_ring_succeed(p->shim, e, SHIM_RING_CONSUMER) > 0)
		shim_log(p->shim, SHIM_LOG_WARNING, "ring %s is damaged", e->name);
	for (uint32_t i = 0; i < e->count && shim_ring_fill(p->shim, e) > 0; i++)
		if (shim_ring_get(p->shim, e, p->pool, &m, 1, ctl_mark_next(p->shim, p->dir)) == 1)
			shim_buf_free(p->shim, m);
	shim_ring_free(p->shim, e->r);
	e->r = NULL;
}

static int
port_rings(struct primary *p, struct primary_port *pp)
{
	unsigned int n = pp->nb_queues, size = primary_pair_size(n);
	char name[SHIM_NAME_MAX];
	int rc;

	if (n < 2)
		return 0;
	pp->ring = shim_malloc(p->shim, n * n * sizeof(*pp->ring));
	if (pp->ring == NULL) {
		shim_log(p->shim, SHIM_LOG_ERR, "no memory for the primary");
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < n * n; i++) {
		if (i / n == i % n)
			continue;
		layout_ring_name(pp->port, i / n, i % n, name);
		rc = primary_ring_make(p, name, size, &pp->ring[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void
rings_undo(struct primary *p, struct primary_port *pp)
{
	unsigned int n = pp->nb_queues * pp->nb_queues;

	for (unsigned int i = 0; pp->ring != NULL && i < n; i++)
		if (pp->ring[i].r != NULL)
			primary_ring_end(p, &pp->ring[i]);
	shim_free(p->shim, pp->ring);
	pp->ring = NULL;
}

int
primary_port_setup(struct primary *p, struct primary_port *pp)
{
	struct shim_port_info info;
	int rc = shim_port_info(p->shim, pp->port, &info);

	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "port %u: no information: %s", pp->port, strerror(-rc));
		return rc;
	}
	rc = port_check(p, pp, &info);
	if (rc == 0)
		rc = port_rings(p, pp);
	if (rc == 0)
		rc = port_configure(p, pp, &info);
	if (rc == 0)
		rc = port_start(p, pp, &info);
	if (rc == 0)
		shim_log(p->shim, SHIM_LOG_INFO, "port %u (%s): %u queue%s, MTU %u, buffers of %u bytes", pp->port,
			info.driver, pp->nb_queues, pp->nb_queues == 1 ? "" : "s", p->cfg->port[pp->port].mtu,
			p->data_room);
	return rc;
}

void
primary_port_undo(struct primary *p, struct primary_port *pp)
{
	if (pp->started && shim_port_stop(p->shim, pp->port) < 0)
		shim_log(p->shim, SHIM_LOG_WARNING, "port %u did not stop", pp->port);
	pp->started = false;
	rings_undo(p, pp);
}

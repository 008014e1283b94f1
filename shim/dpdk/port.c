/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports over ethdev: capabilities, configuration, counters, RSS. */
#include <rte_ethdev.h>
#include <rte_version.h>
#include <stdio.h>

#include "../shim.h"

_Static_assert(SHIM_RX_VLAN_STRIP == RTE_ETH_RX_OFFLOAD_VLAN_STRIP, "rx offload bit");
_Static_assert(SHIM_RX_IPV4_CKSUM == RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, "rx offload bit");
_Static_assert(SHIM_RX_UDP_CKSUM == RTE_ETH_RX_OFFLOAD_UDP_CKSUM, "rx offload bit");
_Static_assert(SHIM_RX_TCP_CKSUM == RTE_ETH_RX_OFFLOAD_TCP_CKSUM, "rx offload bit");
_Static_assert(SHIM_RX_LRO == RTE_ETH_RX_OFFLOAD_TCP_LRO, "rx offload bit");
_Static_assert(SHIM_RX_SCATTER == RTE_ETH_RX_OFFLOAD_SCATTER, "rx offload bit");
_Static_assert(SHIM_RX_RSS_HASH == RTE_ETH_RX_OFFLOAD_RSS_HASH, "rx offload bit");
_Static_assert(SHIM_TX_VLAN_INSERT == RTE_ETH_TX_OFFLOAD_VLAN_INSERT, "tx offload bit");
_Static_assert(SHIM_TX_IPV4_CKSUM == RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, "tx offload bit");
_Static_assert(SHIM_TX_UDP_CKSUM == RTE_ETH_TX_OFFLOAD_UDP_CKSUM, "tx offload bit");
_Static_assert(SHIM_TX_TCP_CKSUM == RTE_ETH_TX_OFFLOAD_TCP_CKSUM, "tx offload bit");
_Static_assert(SHIM_TX_TCP_TSO == RTE_ETH_TX_OFFLOAD_TCP_TSO, "tx offload bit");
_Static_assert(SHIM_TX_MULTI_SEGS == RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "tx offload bit");

#define RX_OFFLOADS (SHIM_RX_VLAN_STRIP | SHIM_RX_IPV4_CKSUM | SHIM_RX_UDP_CKSUM | \
	SHIM_RX_TCP_CKSUM | SHIM_RX_LRO | SHIM_RX_SCATTER | SHIM_RX_RSS_HASH)
#define TX_OFFLOADS (SHIM_TX_VLAN_INSERT | SHIM_TX_IPV4_CKSUM | SHIM_TX_UDP_CKSUM | \
	SHIM_TX_TCP_CKSUM | SHIM_TX_TCP_TSO | SHIM_TX_MULTI_SEGS)

#define DESC_DEFAULT 512
#define RETA_GROUPS (SHIM_RETA_MAX / RTE_ETH_RETA_GROUP_SIZE)

static void
set_started(struct shim *s, uint16_t port, bool on)
{
	if (port < SHIM_MAX_PORTS)
		__atomic_store_n(&s->shared->started[port], on, __ATOMIC_RELEASE);
}

static bool
is_started(struct shim *s, uint16_t port)
{
	return port < SHIM_MAX_PORTS &&
		__atomic_load_n(&s->shared->started[port], __ATOMIC_ACQUIRE) != 0;
}

int
dpdk_port_info(struct shim *s, uint16_t port, struct shim_port_info *info)
{
	struct rte_eth_dev_info di;
	struct rte_ether_addr mac;
	int rc;

	rc = rte_eth_dev_info_get(port, &di);
	if (rc == 0)
		rc = rte_eth_macaddr_get(port, &mac);
	if (rc != 0)
		return rc;
	memset(info, 0, sizeof(*info));
	snprintf(info->driver, sizeof(info->driver), "%s", di.driver_name);
	memcpy(info->mac, mac.addr_bytes, sizeof(info->mac));
	info->started = is_started(s, port);
	info->min_mtu = di.min_mtu;
	info->max_mtu = di.max_mtu;
	info->min_rx_bufsize = di.min_rx_bufsize;
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	info->max_rx_bufsize = di.max_rx_bufsize;
#else
	info->max_rx_bufsize = UINT32_MAX;
#endif
	info->max_rx_pktlen = di.max_rx_pktlen;
	info->max_rx_queues = RTE_MIN(di.max_rx_queues, SHIM_MAX_QUEUES);
	info->max_tx_queues = RTE_MIN(di.max_tx_queues, SHIM_MAX_QUEUES);
	info->rx_offloads = di.rx_offload_capa & RX_OFFLOADS;
	info->tx_offloads = di.tx_offload_capa & TX_OFFLOADS;
	if (port < SHIM_MAX_PORTS) {
		/* Not di.nb_x_queues: some drivers say there what they could have before they are asked. */
		info->nb_rx_queues = s->shared->nb_rx_queues[port];
		info->nb_tx_queues = s->shared->nb_tx_queues[port];
		info->rx_enabled = s->shared->rx_enabled[port];
		info->tx_enabled = s->shared->tx_enabled[port];
	}
	info->reta_size = di.reta_size <= SHIM_RETA_MAX ? di.reta_size : 0;
	info->rss_key_size = di.hash_key_size <= SHIM_RSS_KEY_MAX ? di.hash_key_size : 0;
	info->socket_id = (int16_t)rte_eth_dev_socket_id(port);
	return 0;
}

/* Refuses what ethdev would take for a default or complain of at length. */
static int
conf_check(const struct shim_port_conf *c, const struct rte_eth_dev_info *di)
{
	if (c->pool == NULL || c->nb_rx_queues == 0 || c->nb_tx_queues == 0 ||
	    c->nb_rx_queues > RTE_MIN(di->max_rx_queues, SHIM_MAX_QUEUES) ||
	    c->nb_tx_queues > RTE_MIN(di->max_tx_queues, SHIM_MAX_QUEUES) ||
	    c->mtu < di->min_mtu || c->mtu > di->max_mtu ||
	    (c->rx_offloads & ~di->rx_offload_capa) != 0 ||
	    (c->tx_offloads & ~di->tx_offload_capa) != 0)
		return -EINVAL;
	if (c->rss && c->rss_key != NULL && c->rss_key_len != di->hash_key_size)
		return -EINVAL;
	return 0;
}

static void
conf_fill(const struct shim_port_conf *c, const struct rte_eth_dev_info *di,
	struct rte_eth_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	conf->rxmode.mtu = c->mtu;
	conf->rxmode.offloads = c->rx_offloads;
	conf->txmode.offloads = c->tx_offloads;
	if (!c->rss || di->flow_type_rss_offloads == 0)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = di->flow_type_rss_offloads &
		(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	/* ethdev's pointer is not const, and it does not write through it. */
	conf->rx_adv_conf.rss_conf.rss_key = (uint8_t *)(uintptr_t)c->rss_key;
	conf->rx_adv_conf.rss_conf.rss_key_len = c->rss_key != NULL ? c->rss_key_len : 0;
}

static int
setup_queues(uint16_t port, const struct shim_port_conf *c, struct rte_eth_dev_info *di)
{
	uint16_t nb_rxd = c->nb_rx_desc != 0 ? c->nb_rx_desc : DESC_DEFAULT;
	uint16_t nb_txd = c->nb_tx_desc != 0 ? c->nb_tx_desc : DESC_DEFAULT;
	unsigned int socket = (unsigned int)rte_eth_dev_socket_id(port);
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &nb_rxd, &nb_txd);
	uint16_t q;

	di->default_rxconf.offloads = c->rx_offloads;
	di->default_txconf.offloads = c->tx_offloads;
	for (q = 0; rc == 0 && q < c->nb_rx_queues; q++)
		rc = rte_eth_rx_queue_setup(port, q, nb_rxd, socket, &di->default_rxconf,
			shim_dpdk_mempool(c->pool));
	for (q = 0; rc == 0 && q < c->nb_tx_queues; q++)
		rc = rte_eth_tx_queue_setup(port, q, nb_txd, socket, &di->default_txconf);
	return rc;
}

int
dpdk_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c)
{
	struct rte_eth_dev_info di;
	struct rte_eth_conf conf;
	int rc;

	if (s->role != SHIM_ROLE_PRIMARY)
		return -EPERM;
	rc = rte_eth_dev_info_get(port, &di);
	if (rc == 0 && is_started(s, port))
		rc = -EBUSY;
	if (rc == 0)
		rc = conf_check(c, &di);
	if (rc != 0)
		return rc;
	conf_fill(c, &di, &conf);
	rc = rte_eth_dev_configure(port, c->nb_rx_queues, c->nb_tx_queues, &conf);
	if (rc == 0)
		rc = setup_queues(port, c, &di);
	if (rc == 0 && port < SHIM_MAX_PORTS) {
		s->shared->nb_rx_queues[port] = c->nb_rx_queues;
		s->shared->nb_tx_queues[port] = c->nb_tx_queues;
		s->shared->rx_enabled[port] = c->rx_offloads;
		s->shared->tx_enabled[port] = c->tx_offloads;
	}
	return rc;
}

int
dpdk_port_start(struct shim *s, uint16_t port)
{
	int rc;

	if (s->role != SHIM_ROLE_PRIMARY)
		return -EPERM;
	rc = rte_eth_dev_start(port);
	if (rc == 0)
		set_started(s, port, true);
	return rc;
}

int
dpdk_port_stop(struct shim *s, uint16_t port)
{
	int rc;

	if (s->role != SHIM_ROLE_PRIMARY)
		return -EPERM;
	rc = rte_eth_dev_stop(port);
	if (rc == 0)
		set_started(s, port, false);
	return rc;
}

int
dpdk_port_stats(uint16_t port, struct shim_port_stats *st)
{
	struct rte_eth_stats es;
	int rc = rte_eth_stats_get(port, &es);

	if (rc != 0)
		return rc;
	*st = (struct shim_port_stats){ .rx_packets = es.ipackets, .tx_packets = es.opackets,
		.rx_bytes = es.ibytes, .tx_bytes = es.obytes, .rx_missed = es.imissed,
		.rx_nombuf = es.rx_nombuf, .rx_errors = es.ierrors, .tx_errors = es.oerrors };
	return 0;
}

int
dpdk_port_link(uint16_t port, struct shim_port_link *l)
{
	struct rte_eth_link el;
	int rc = rte_eth_link_get_nowait(port, &el);

	if (rc != 0)
		return rc;
	*l = (struct shim_port_link){ .up = el.link_status == RTE_ETH_LINK_UP,
		.full_duplex = el.link_duplex == RTE_ETH_LINK_FULL_DUPLEX,
		.speed_mbps = el.link_speed };
	return 0;
}

/* The length of the port's RSS key, or -errno. */
static int
rss_key_size(uint16_t port)
{
	struct rte_eth_dev_info di;
	int rc = rte_eth_dev_info_get(port, &di);

	if (rc != 0)
		return rc;
	return di.hash_key_size > 0 && di.hash_key_size <= SHIM_RSS_KEY_MAX ?
		di.hash_key_size : -ENOTSUP;
}

int
dpdk_port_rss_key_get(uint16_t port, uint8_t *key, uint8_t *len)
{
	struct rte_eth_rss_conf conf = { .rss_key = key };
	int rc = rss_key_size(port);

	if (rc < 0)
		return rc;
	if (*len < rc)
		return -ENOSPC;
	conf.rss_key_len = *len = (uint8_t)rc;
	return rte_eth_dev_rss_hash_conf_get(port, &conf);
}

int
dpdk_port_rss_key_set(uint16_t port, const uint8_t *key, uint8_t len)
{
	struct rte_eth_rss_conf conf = { .rss_key = NULL };
	int rc = rss_key_size(port);

	if (rc < 0)
		return rc;
	if (len != rc)
		return -EINVAL;
	rc = rte_eth_dev_rss_hash_conf_get(port, &conf); /* keeps the hashed fields as they are */
	if (rc != 0)
		return rc;
	conf.rss_key = (uint8_t *)(uintptr_t)key;
	conf.rss_key_len = len;
	return rte_eth_dev_rss_hash_update(port, &conf);
}

/* 0 if the port has a table of n entries. */
static int
reta_check(uint16_t port, uint16_t n)
{
	struct rte_eth_dev_info di;
	int rc = rte_eth_dev_info_get(port, &di);

	if (rc != 0)
		return rc;
	if (di.reta_size == 0 || di.reta_size > SHIM_RETA_MAX)
		return -ENOTSUP;
	return n == di.reta_size ? 0 : -EINVAL;
}

int
dpdk_port_reta_get(uint16_t port, uint16_t *queues, uint16_t n)
{
	struct rte_eth_rss_reta_entry64 reta[RETA_GROUPS];
	uint16_t i;
	int rc = reta_check(port, n);

	if (rc != 0)
		return rc;
	memset(reta, 0, sizeof(reta));
	for (i = 0; i < n; i++)
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask |= UINT64_C(1) << i % RTE_ETH_RETA_GROUP_SIZE;
	rc = rte_eth_dev_rss_reta_query(port, reta, n);
	for (i = 0; rc == 0 && i < n; i++)
		queues[i] = reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	return rc;
}

int
dpdk_port_reta_set(uint16_t port, const uint16_t *queues, uint16_t n)
{
	struct rte_eth_rss_reta_entry64 reta[RETA_GROUPS];
	uint16_t i;
	int rc = reta_check(port, n);

	if (rc != 0)
		return rc;
	memset(reta, 0, sizeof(reta));
	for (i = 0; i < n; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask |= UINT64_C(1) << i % RTE_ETH_RETA_GROUP_SIZE;
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = queues[i];
	}
	return rte_eth_dev_rss_reta_update(port, reta, n);
}

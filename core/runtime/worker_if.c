/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's interfaces: what the configuration says of a port and its VLANs becomes interfaces, addresses, routes. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker_priv.h"

/* An integer of [freebsd.sysctl], or def. */
static long
sysctl_long(const struct nonic_config *cfg, const char *key, long def)
{
	for (unsigned int i = 0; i < cfg->nb_pairs; i++)
		if (strcmp(cfg->pairs[i].section, "freebsd.sysctl") == 0 && strcmp(cfg->pairs[i].key, key) == 0)
			def = strtol(cfg->pairs[i].value, NULL, 10);
	return def;
}

static uint8_t
mask_len(uint32_t mask_be)
{
	return __builtin_popcount(mask_be);
}

static int
refused(struct worker *w, const struct netif *nif, int family, const void *addr, const char *what, int rc)
{
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, addr, text, sizeof(text));
	shim_log(w->shim, SHIM_LOG_ERR, "%s: %s %s: %s", nif->cfg.name, what, text, strerror(-rc));
	return rc;
}

static int
addrs4(struct worker *w, struct netif *nif, const struct config_addrs *a)
{
	union ip_addr any = ip_addr_v4(0), gw = ip_addr_v4(a->gateway);
	int rc;

	if (!a->has_v4)
		return 0;
	rc = stack_addr4_add(w->stack, nif, a->addr, mask_len(a->netmask), a->broadcast);
	if (rc < 0)
		return refused(w, nif, AF_INET, &a->addr, "address", rc);
	for (unsigned int i = 0; i < a->nb_vips; i++) {
		rc = stack_addr4_add(w->stack, nif, a->vip[i], 32, 0);
		if (rc < 0)
			return refused(w, nif, AF_INET, &a->vip[i], "vip_addr", rc);
	}
	if (a->gateway == 0)
		return 0;
	rc = stack_route_add(w->stack, ADDR_INET, &any, 0, &gw, nif);
	if (rc == -EEXIST) {
		shim_log(w->shim, SHIM_LOG_WARNING, "%s: there is a default gateway already, this one is not used",
			nif->cfg.name);
		return 0;
	}
	return rc < 0 ? refused(w, nif, AF_INET, &a->gateway, "gateway", rc) : 0;
}

static int
addrs6(struct worker *w, struct netif *nif, const struct config_addrs *a)
{
	union ip_addr addr, any = ip_addr_v4(0);
	int rc;

	if (!a->has_v6)
		return 0;
	addr = ip_addr_v6(&a->addr6);
	rc = stack_addr6_add(w->stack, nif, &addr, a->prefix_len);
	if (rc < 0)
		return refused(w, nif, AF_INET6, &a->addr6, "addr6", rc);
	for (unsigned int i = 0; i < a->nb_vips6; i++) {
		addr = ip_addr_v6(&a->vip6[i]);
		rc = stack_addr6_add(w->stack, nif, &addr, a->vip_prefix_len);
		if (rc < 0)
			return refused(w, nif, AF_INET6, &a->vip6[i], "vip_addr6", rc);
	}
	if (!a->has_gateway6)
		return 0;
	addr = ip_addr_v6(&a->gateway6);
	rc = stack_route_add(w->stack, ADDR_INET6, &any, 0, &addr, nif);
	if (rc == -EEXIST) {
		shim_log(w->shim, SHIM_LOG_WARNING, "%s: there is a default gateway6 already, this one is not used",
			nif->cfg.name);
		return 0;
	}
	return rc < 0 ? refused(w, nif, AF_INET6, &a->gateway6, "gateway6", rc) : 0;
}

static void
if_config(struct worker *w, struct worker_port *wp, const struct config_addrs *a, struct netif_config *nc)
{
	memset(nc, 0, sizeof(*nc));
	nc->port = wp->port;
	nc->mtu = w->cfg->port[wp->port].mtu;
	nc->tx_offloads = wp->tx_offloads;
	nc->tx = worker_tx;
	nc->tx_ctx = wp;
	nc->accept_ra = sysctl_long(w->cfg, "net.inet6.ip6.accept_rtadv", !a->has_v6) != 0;
	nc->dad_transmits = sysctl_long(w->cfg, "net.inet6.ip6.dad_count", 1) & 0xff;
}

static int
if_add(struct worker *w, const struct netif_config *nc, const struct config_addrs *a, struct netif **out)
{
	int rc = stack_if_add(w->stack, nc, out);

	if (rc < 0) {
		shim_log(w->shim, SHIM_LOG_ERR, "interface %s: %s", nc->name, strerror(-rc));
		return rc;
	}
	if (a == NULL)
		return 0;
	rc = addrs4(w, *out, a);
	return rc < 0 ? rc : addrs6(w, *out, a);
}

static int
vlans_setup(struct worker *w, struct worker_port *wp)
{
	const struct nonic_config *cfg = w->cfg;
	struct netif_config nc;
	struct netif *nif;
	char name[32];
	int rc;

	for (unsigned int i = 0; i < cfg->nb_vlans; i++) {
		const struct config_vlan *v = &cfg->vlan[i];

		if (v->port != wp->port)
			continue;
		if_config(w, wp, &v->a, &nc);
		snprintf(name, sizeof(name), "%.10s.%u", wp->nif->cfg.name, v->id);
		memcpy(nc.name, name, sizeof(nc.name) - 1);
		memcpy(nc.mac, wp->nif->cfg.mac, sizeof(nc.mac));
		nc.vlan = v->id;
		nc.parent = wp->nif;
		rc = if_add(w, &nc, &v->a, &nif);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The port's MAC; for a port without one (net_ring) a local one that all of its workers derive alike. */
static void
port_mac(const struct worker *w, const struct worker_port *wp, const struct shim_port_info *info, uint8_t mac[6])
{
	static const uint8_t none[6];
	uint64_t id = w->dir->boot_id;

	memcpy(mac, info->mac, 6);
	if (memcmp(mac, none, 6) != 0)
		return;
	mac[0] = 0x02;
	mac[1] = 'n';
	mac[2] = id & 0xff;
	mac[3] = id >> 8 & 0xff;
	mac[4] = id >> 16 & 0xff;
	mac[5] = wp->port;
}

int
worker_if_setup(struct worker *w, struct worker_port *wp)
{
	const struct config_port *cp = &w->cfg->port[wp->port];
	struct netif_config nc;
	struct shim_port_info info;
	bool vlans = false;
	uint16_t port_mtu = 0;
	char why[256];
	int rc;

	rc = shim_port_info(w->shim, wp->port, &info);
	if (rc == 0)
		rc = shim_port_mtu_get(w->shim, wp->port, &port_mtu);
	if (rc < 0) {
		shim_log(w->shim, SHIM_LOG_ERR, "port %u: no information: %s", wp->port, strerror(-rc));
		return rc;
	}
	rc = mtu_check_views(cp->mtu, port_mtu, shim_pool_data_room(w->shim, w->pool), layout_mtu_mode(w->cfg), why,
		sizeof(why));
	if (rc < 0) {
		shim_log(w->shim, SHIM_LOG_ERR, "port %u: %s", wp->port, why);
		return rc;
	}
	wp->tx_offloads = info.tx_enabled;
	for (unsigned int i = 0; i < w->cfg->nb_vlans; i++)
		vlans |= w->cfg->vlan[i].port == wp->port;
	if_config(w, wp, &cp->a, &nc);
	if (cp->if_name[0] != '\0')
		memcpy(nc.name, cp->if_name, sizeof(nc.name));
	else
		snprintf(nc.name, sizeof(nc.name), "f-stack-%u", wp->port);
	port_mac(w, wp, &info, nc.mac);
	rc = if_add(w, &nc, vlans ? NULL : &cp->a, &wp->nif);
	return rc < 0 ? rc : vlans_setup(w, wp);
}

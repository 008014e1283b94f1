/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules between keys (CFG-5). Each message names both keys. A value that was refused by itself breaks no second rule. */
#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "../mtu/limits.h"

bool
config_port_listed(const struct nonic_config *cfg, unsigned int port)
{
	unsigned int i;

	for (i = 0; i < cfg->nb_ports; i++)
		if (cfg->port_list[i] == port)
			return true;
	return false;
}

/* ---- lcores ---- */

static void
check_mask(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	unsigned int i;

	for (i = 0; i < CONFIG_MAX_LCORES; i++)
		if (config_lcore_isset(&cfg->lcore_mask, i))
			cfg->proc_lcore[cfg->nb_lcores++] = (uint16_t)i;
	if (cfg->nb_lcores == 0 && !config_given(c, SECT_DPDK, 0, "lcore_mask"))
		config_msg_key(c, true, SECT_DPDK, 0, "lcore_mask", "missing; accepted: a hexadecimal mask of lcores");
	if (cfg->primary_slim && cfg->nb_lcores == 1)
		config_msg_key(c, true, SECT_DPDK, 0, "lcore_mask",
			"one lcore, while [dpdk] primary_slim = 1 takes the lowest for the primary; accepted: one lcore "
			"more than workers, so at least two");
	if (cfg->no_huge && cfg->nb_lcores > 1 && !cfg->thread_mode)
		config_msg_key(c, false, SECT_DPDK, 0, "no_huge",
			"EAL has no second process without hugepages, and [dpdk] lcore_mask asks for %u; accepted: "
			"no_huge=0, or one lcore", cfg->nb_lcores);
}

/* The lcores that may poll ports: all, but the slim primary's. */
static void
default_lcores(const struct nonic_config *cfg, struct config_port *p)
{
	unsigned int i;

	for (i = cfg->primary_slim ? 1 : 0; i < cfg->nb_lcores && p->nb_lcores < CONFIG_MAX_QUEUES; i++)
		p->lcore_list[p->nb_lcores++] = cfg->proc_lcore[i];
}

static void
check_port_lcores(struct config_ctx *c, unsigned int port)
{
	struct nonic_config *cfg = c->cfg;
	struct config_port *p = &cfg->port[port];
	unsigned int i, l;

	if (!config_given(c, SECT_PORT, port, "lcore_list")) {
		default_lcores(cfg, p);
		if (cfg->nb_lcores - cfg->primary_slim > CONFIG_MAX_QUEUES && cfg->nb_lcores)
			config_msg_key(c, true, SECT_DPDK, 0, "lcore_mask",
				"%u workers, while a port has %d queues; accepted: [port%u] lcore_list with fewer lcores",
				cfg->nb_lcores - cfg->primary_slim, CONFIG_MAX_QUEUES, port);
	}
	for (i = 0; i < p->nb_lcores; i++) {
		l = p->lcore_list[i];
		p->lcores.bits[l / 64] |= 1ull << (l % 64);
		if (cfg->nb_lcores == 0)
			continue;
		if (!config_lcore_isset(&cfg->lcore_mask, l))
			config_msg_key(c, true, SECT_PORT, port, "lcore_list",
				"lcore %u is not in [dpdk] lcore_mask; accepted: lcores of the mask", l);
		else if (cfg->primary_slim && l == cfg->proc_lcore[0])
			config_msg_key(c, true, SECT_PORT, port, "lcore_list",
				"lcore %u is the primary's, because [dpdk] primary_slim = 1; accepted: the other lcores", l);
	}
}

static void
check_idle_lcores(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	unsigned int i, j;

	for (i = cfg->primary_slim ? 1 : 0; i < cfg->nb_lcores; i++) {
		for (j = 0; j < cfg->nb_ports; j++)
			if (!cfg->port[cfg->port_list[j]].present || /* said already */
					config_bad(c, SECT_PORT, cfg->port_list[j], "lcore_list") ||
					config_lcore_isset(&cfg->port[cfg->port_list[j]].lcores, cfg->proc_lcore[i]))
				break;
		if (j == cfg->nb_ports && cfg->nb_ports)
			config_msg_key(c, false, SECT_DPDK, 0, "lcore_mask",
				"lcore %u polls no port: no [portN] lcore_list has it; accepted: every lcore in a list",
				cfg->proc_lcore[i]);
	}
}

/* ---- ports ---- */

static void
check_ports(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	char section[64];
	unsigned int i, p;

	if (!config_given(c, SECT_DPDK, 0, "port_list"))
		config_msg_key(c, true, SECT_DPDK, 0, "port_list", "missing; accepted: a list such as 0-3,7");
	for (i = 0; i < cfg->nb_ports; i++)
		if (!cfg->port[cfg->port_list[i]].present)
			config_msg_key(c, true, SECT_DPDK, 0, "port_list",
				"port %u has no section; accepted: a section [port%u] for each port", cfg->port_list[i],
				cfg->port_list[i]);
	for (p = 0; p < CONFIG_MAX_PORTS; p++) {
		if (!cfg->port[p].present)
			continue;
		check_port_lcores(c, p);
		config_section_text(SECT_PORT, p, section, sizeof(section));
		if (cfg->nb_ports && !config_port_listed(cfg, p))
			config_msg(c, false, config_section_line(c, SECT_PORT, p), section, NULL, NULL,
				"not in [dpdk] port_list, ignored; accepted: sections of listed ports");
		for (i = 0; i < cfg->port[p].nb_slaves; i++)
			if (cfg->port[p].slave_ports[i] == p)
				config_msg_key(c, true, SECT_PORT, p, "slave_port_list",
					"the port itself is in it; accepted: other ports");
	}
	check_idle_lcores(c);
}

/* ---- modes ---- */

static void
check_modes(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;

	if (cfg->graceful_reload && !cfg->primary_slim)
		config_msg_key(c, true, SECT_DPDK, 0, "graceful_reload",
			"needs [dpdk] primary_slim = 1, which is 0; accepted: both 1, or graceful_reload=0");
	if (cfg->graceful_reload && cfg->primary_slim && cfg->nb_lcores > CONFIG_MAX_LANES + 1)
		config_msg_key(c, true, SECT_DPDK, 0, "lcore_mask",
			"%u workers, while [dpdk] graceful_reload = 1 has places for %d in each generation; accepted: at most %d "
			"lcores", cfg->nb_lcores - 1, CONFIG_MAX_LANES, CONFIG_MAX_LANES + 1);
	if (cfg->graceful_reload && cfg->worker_shutdown_timeout_ms <= cfg->reload_udp_idle_ms)
		config_msg_key(c, false, SECT_DPDK, 0, "worker_shutdown_timeout",
			"no flow is idle for [dpdk] reload_udp_idle_ms = %u before it is over, so every reload ends by force; accepted: "
			"better more than that", cfg->reload_udp_idle_ms);
	if (cfg->graceful_reload && cfg->idle_sleep_us > cfg->reload_heartbeat_timeout_ms * 1000ull / 4)
		config_msg_key(c, false, SECT_DPDK, 0, "idle_sleep",
			"a worker that slept so long would be taken for dead with [dpdk] reload_heartbeat_timeout_ms = %u: none sleeps more "
			"than a quarter of that; accepted: better at most %u", cfg->reload_heartbeat_timeout_ms,
			cfg->reload_heartbeat_timeout_ms * 250);
	if (cfg->thread_mode && cfg->primary_slim)
		config_msg_key(c, true, SECT_DPDK, 0, "thread_mode",
			"excludes [dpdk] primary_slim = 1: one process has no slim primary; accepted: one of the two");
	if (cfg->thread_mode && cfg->graceful_reload)
		config_msg_key(c, true, SECT_DPDK, 0, "thread_mode",
			"excludes [dpdk] graceful_reload = 1: generations are processes; accepted: one of the two");
	if (cfg->ring_ipc && cfg->polling_ipc)
		config_msg_key(c, true, SECT_STACK, 0, "ring_ipc",
			"excludes [stack] polling_ipc = 1; accepted: one of the two, or neither");
	if (cfg->drain_ring_size < 1024)
		config_msg_key(c, false, SECT_DPDK, 0, "drain_ring_size",
			"so small a ring drops at load, while [dpdk] graceful_reload = %d; accepted: better 1024 or more",
			cfg->graceful_reload);
	if (cfg->tso && (cfg->tx_csum_skip || cfg->tx_csum_ip_skip || cfg->tx_csum_l4_skip))
		config_msg_key(c, false, SECT_DPDK, 0, "tso",
			"segmentation needs the port's checksums, which [dpdk] %s = 1 switches off; accepted: one of the two",
			cfg->tx_csum_skip ? "tx_csum_offoad_skip" : cfg->tx_csum_ip_skip ? "tx_csum_ip_skip" :
			"tx_csum_l4_skip");
}

static void
check_mtu(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	unsigned int p, mtu;

	if (cfg->mtu_enable && cfg->mbuf_mode == MBUF_LARGE && cfg->max_mtu > MTU_LARGE_MAX &&
			!config_bad(c, SECT_DPDK, 0, "mbuf_mode"))
		config_msg_key(c, true, SECT_DPDK, 0, "max_mtu",
			"a buffer for it would pass 65535 bytes with [dpdk] mbuf_mode = large; accepted: at most %d, or "
			"mbuf_mode=scatter", MTU_LARGE_MAX);
	for (p = 0; p < CONFIG_MAX_PORTS; p++) {
		mtu = cfg->port[p].mtu;
		if (!cfg->port[p].present || config_bad(c, SECT_PORT, p, "mtu"))
			continue;
		if (mtu > MTU_DEFAULT && !cfg->mtu_enable && !config_bad(c, SECT_DPDK, 0, "mtu_enable"))
			config_msg_key(c, true, SECT_PORT, p, "mtu",
				"above 1500, while [dpdk] mtu_enable = 0; accepted: at most 1500, or enable MTU support with "
				"mtu_enable=1");
		else if (mtu > cfg->max_mtu && !config_bad(c, SECT_DPDK, 0, "max_mtu") &&
				(cfg->mtu_enable || config_given(c, SECT_PORT, p, "mtu")))
			config_msg_key(c, true, SECT_PORT, p, "mtu",
				"above [dpdk] max_mtu = %u; accepted: at most max_mtu", cfg->max_mtu);
	}
}

/* ---- kernel interface ---- */

static bool
polls_a_port(const struct nonic_config *cfg, unsigned int proc_id)
{
	unsigned int i;

	for (i = 0; i < cfg->nb_ports; i++)
		if (config_port_queue(cfg, cfg->port_list[i], proc_id) >= 0)
			return true;
	return false;
}

static void
check_kni(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	unsigned int owner = cfg->kni.owner_proc_id;

	cfg->kni.has_owner = config_given(c, SECT_KNI, 0, "owner_proc_id") != NULL;
	if (!cfg->kni.enable)
		return;
	if (!cfg->kni.has_owner) {
		if (cfg->primary_slim)
			config_msg_key(c, true, SECT_KNI, 0, "owner_proc_id",
				"missing, while [kni] enable = 1 and [dpdk] primary_slim = 1; accepted: the process id of a "
				"worker, 1..%u", cfg->nb_lcores ? cfg->nb_lcores - 1 : 1);
		return;
	}
	if (cfg->nb_lcores == 0 || config_bad(c, SECT_KNI, 0, "owner_proc_id"))
		return;
	if (owner >= cfg->nb_lcores)
		config_msg_key(c, true, SECT_KNI, 0, "owner_proc_id",
			"[dpdk] lcore_mask has only %u lcores; accepted: 0..%u", cfg->nb_lcores, cfg->nb_lcores - 1);
	else if (cfg->primary_slim && owner == 0)
		config_msg_key(c, true, SECT_KNI, 0, "owner_proc_id",
			"process 0 has no stack, because [dpdk] primary_slim = 1; accepted: 1..%u", cfg->nb_lcores - 1);
	else if (cfg->thread_mode && owner != 0)
		config_msg_key(c, true, SECT_KNI, 0, "owner_proc_id",
			"with [dpdk] thread_mode = 1 thread 0 owns the kernel's interface; accepted: 0");
	else if (cfg->nb_ports && !polls_a_port(cfg, owner))
		config_msg_key(c, true, SECT_KNI, 0, "owner_proc_id",
			"its lcore %u is in no [portN] lcore_list; accepted: a worker that polls a port",
			cfg->proc_lcore[owner]);
}

/* ---- VLANs ---- */

static void
check_vlans(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	struct config_vlan *v;
	char section[64];
	unsigned int i;
	int line;

	for (v = cfg->vlan; v < cfg->vlan + cfg->nb_vlans; v++) {
		config_section_text(SECT_VLAN, v->id, section, sizeof(section));
		line = config_section_line(c, SECT_VLAN, v->id);
		for (i = 0; i < cfg->nb_vlan_filter && cfg->vlan_filter[i] != v->id; i++)
			;
		if (i == cfg->nb_vlan_filter && !config_bad(c, SECT_DPDK, 0, "vlan_filter"))
			config_msg(c, true, line, section, NULL, NULL,
				"%u is not in [dpdk] vlan_filter; accepted: ids of the filter", v->id);
		if (!config_given(c, SECT_VLAN, v->id, "portid"))
			config_msg(c, true, line, section, "portid", NULL,
				"missing; accepted: a port of [dpdk] port_list");
		else if (!config_bad(c, SECT_VLAN, v->id, "portid") && !config_port_listed(cfg, v->port) &&
				!config_bad(c, SECT_DPDK, 0, "port_list"))
			config_msg_key(c, true, SECT_VLAN, v->id, "portid",
				"not in [dpdk] port_list; accepted: a port of the list");
	}
}

void
config_check(struct config_ctx *c)
{
	check_mask(c);
	check_ports(c);
	check_modes(c);
	check_mtu(c);
	check_kni(c);
	check_vlans(c);
	config_check_addrs(c);
	config_check_devices(c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules between the addresses of a [portN] or [vlanN]: an error only for what can never work. */
#include "keys.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "../base/bytes.h"

static const char *const v4_keys[] = { "addr", "netmask", "broadcast", "gateway" };

/* The addresses in hand. */
struct where {
	struct config_ctx *c;
	enum key_section s;
	unsigned int index;
	struct config_addrs *a;
};

static const char *
text4(uint32_t host, char buf[INET_ADDRSTRLEN])
{
	uint32_t net = be32(host);

	return inet_ntop(AF_INET, &net, buf, INET_ADDRSTRLEN);
}

static bool
given(const struct where *w, const char *key)
{
	return config_given(w->c, w->s, w->index, key) != NULL;
}

/* All four or none. True: all four are there and well formed. */
static bool
have_v4(const struct where *w)
{
	unsigned int i, n = 0, bad = 0;
	char section[64];

	for (i = 0; i < 4; i++) {
		n += given(w, v4_keys[i]);
		bad += config_bad(w->c, w->s, w->index, v4_keys[i]);
	}
	if (n == 0 || n == 4)
		return n == 4 && bad == 0;
	config_section_text(w->s, w->index, section, sizeof(section));
	for (i = 0; i < 4; i++)
		if (!given(w, v4_keys[i]))
			config_msg(w->c, true, config_section_line(w->c, w->s, w->index), section, v4_keys[i], NULL,
				"missing; accepted: addr, netmask, broadcast and gateway together (gateway = 0.0.0.0: none)");
	return false;
}

static bool
is_host(uint32_t a)
{
	return a >> 24 != 0 && a >> 24 != 127 && a >> 28 < 14;
}

static void
check_gateway4(const struct where *w, uint32_t a, uint32_t m, uint32_t g)
{
	char t1[INET_ADDRSTRLEN], t2[INET_ADDRSTRLEN];

	if (g == 0)
		return; /* none */
	if (((g ^ a) & m) != 0 || (~m > 1 && ((g & ~m) == 0 || (g | m) == UINT32_MAX)))
		config_msg_key(w->c, true, w->s, w->index, "gateway",
			"no host in the subnet of addr = %s with netmask = %s; accepted: a host in it, or 0.0.0.0 for none",
			text4(a, t1), text4(m, t2));
	else if (g == a)
		config_msg_key(w->c, false, w->s, w->index, "gateway",
			"the same as addr: nothing beyond the subnet can be reached; accepted: another host, or 0.0.0.0");
}

static void
check_v4(const struct where *w)
{
	uint32_t a = be32(w->a->addr), m = be32(w->a->netmask), b = be32(w->a->broadcast);
	char t1[INET_ADDRSTRLEN], t2[INET_ADDRSTRLEN];

	if (m == 0 || (~m & (~m + 1)) != 0) {
		config_msg_key(w->c, true, w->s, w->index, "netmask",
			"not contiguous; accepted: ones, then zeros, such as 255.255.255.0");
		return;
	}
	if (!is_host(a))
		config_msg_key(w->c, true, w->s, w->index, "addr", "no host's address; accepted: a unicast address");
	else if (~m > 1 && ((a & ~m) == 0 || (a | m) == UINT32_MAX))
		config_msg_key(w->c, true, w->s, w->index, "addr",
			"the %s address of the subnet with netmask = %s; accepted: a host in it",
			(a & ~m) == 0 ? "network" : "broadcast", text4(m, t1));
	if (~m > 1 && b != (a | ~m))
		config_msg_key(w->c, true, w->s, w->index, "broadcast",
			"does not fit addr and netmask = %s; accepted: %s", text4(m, t1), text4(a | ~m, t2));
	check_gateway4(w, a, m, be32(w->a->gateway));
}

static void
check_vips(const struct where *w)
{
	const struct config_addrs *a = w->a;
	char t[INET6_ADDRSTRLEN];
	unsigned int i;

	for (i = 0; i < a->nb_vips; i++) {
		if (!is_host(be32(a->vip[i])))
			config_msg_key(w->c, true, w->s, w->index, "vip_addr",
				"%s is no host's address; accepted: unicast addresses", text4(be32(a->vip[i]), t));
		else if (a->has_v4 && a->vip[i] == a->addr)
			config_msg_key(w->c, false, w->s, w->index, "vip_addr", "%s is addr already; accepted: further ones",
				text4(be32(a->vip[i]), t));
	}
	if (a->nb_vips && !given(w, "addr"))
		config_msg_key(w->c, true, w->s, w->index, "vip_addr", "needs addr, which is missing; accepted: both");
	if (a->nb_vips6 && !given(w, "addr6"))
		config_msg_key(w->c, true, w->s, w->index, "vip_addr6", "needs addr6, which is missing; accepted: both");
	for (i = 0; i < a->nb_vips6; i++)
		if (IN6_IS_ADDR_UNSPECIFIED(&a->vip6[i]) || IN6_IS_ADDR_MULTICAST(&a->vip6[i]) ||
				IN6_IS_ADDR_LOOPBACK(&a->vip6[i]))
			config_msg_key(w->c, true, w->s, w->index, "vip_addr6",
				"%s is no host's address; accepted: unicast addresses",
				inet_ntop(AF_INET6, &a->vip6[i], t, sizeof(t)));
}

static bool
same_prefix(const struct in6_addr *a, const struct in6_addr *b, unsigned int bits)
{
	unsigned int whole = bits / 8, rest = bits % 8;

	if (memcmp(a->s6_addr, b->s6_addr, whole) != 0)
		return false;
	return rest == 0 || ((a->s6_addr[whole] ^ b->s6_addr[whole]) >> (8 - rest)) == 0;
}

static void
check_v6(const struct where *w)
{
	struct config_addrs *a = w->a;
	char t[INET6_ADDRSTRLEN];

	if (a->has_v6 && (IN6_IS_ADDR_UNSPECIFIED(&a->addr6) || IN6_IS_ADDR_MULTICAST(&a->addr6) ||
			IN6_IS_ADDR_LOOPBACK(&a->addr6)))
		config_msg_key(w->c, true, w->s, w->index, "addr6", "no host's address; accepted: a unicast address");
	if (!a->has_gateway6)
		return;
	if (!given(w, "addr6"))
		config_msg_key(w->c, true, w->s, w->index, "gateway6", "needs addr6, which is missing; accepted: both");
	else if (!a->has_v6 || config_bad(w->c, w->s, w->index, "prefix_len"))
		return;
	else if (!IN6_IS_ADDR_LINKLOCAL(&a->gateway6) && !same_prefix(&a->addr6, &a->gateway6, a->prefix_len))
		config_msg_key(w->c, true, w->s, w->index, "gateway6",
			"neither link-local nor in the prefix of addr6 = %s with prefix_len = %u; accepted: one of the two",
			inet_ntop(AF_INET6, &a->addr6, t, sizeof(t)), a->prefix_len);
	else if (memcmp(&a->addr6, &a->gateway6, sizeof(a->addr6)) == 0)
		config_msg_key(w->c, false, w->s, w->index, "gateway6",
			"the same as addr6: nothing beyond the prefix can be reached; accepted: another host");
}

static void
check_one(const struct where *w, bool needs_address)
{
	struct config_addrs *a = w->a;
	char section[64];

	a->has_v4 = have_v4(w);
	a->has_v6 = given(w, "addr6") && !config_bad(w->c, w->s, w->index, "addr6");
	a->has_gateway6 = given(w, "gateway6") && !config_bad(w->c, w->s, w->index, "gateway6");
	if (a->has_v4)
		check_v4(w);
	check_v6(w);
	check_vips(w);
	config_section_text(w->s, w->index, section, sizeof(section));
	if (needs_address && !given(w, "addr") && !given(w, "netmask") && !given(w, "broadcast") &&
			!given(w, "gateway") && !given(w, "addr6"))
		config_msg(w->c, true, config_section_line(w->c, w->s, w->index), section, "addr", NULL,
			"missing, and so is addr6; accepted: addr, netmask, broadcast and gateway, or addr6, or both");
}

/* One default route only; and no address twice. */
static void
check_between_ports(struct config_ctx *c)
{
	const struct nonic_config *cfg = c->cfg;
	const struct config_addrs *a, *b;
	unsigned int i, j, routed = CONFIG_MAX_PORTS;

	for (i = 0; i < CONFIG_MAX_PORTS; i++) {
		a = &cfg->port[i].a;
		if (!config_port_listed(cfg, i) || !a->has_v4)
			continue;
		if (a->gateway && routed < CONFIG_MAX_PORTS)
			config_msg_key(c, false, SECT_PORT, i, "gateway",
				"a second default gateway beside [port%u] gateway; accepted: one, and 0.0.0.0 in the others", routed);
		else if (a->gateway)
			routed = i;
		for (j = 0; j < i; j++) {
			b = &cfg->port[j].a;
			if (config_port_listed(cfg, j) && b->has_v4 && a->addr == b->addr)
				config_msg_key(c, false, SECT_PORT, i, "addr", "the same as [port%u] addr; accepted: another", j);
		}
	}
}

void
config_check_addrs(struct config_ctx *c)
{
	struct nonic_config *cfg = c->cfg;
	struct where w = { .c = c };
	bool has_vlan;
	unsigned int i, v;

	for (i = 0; i < CONFIG_MAX_PORTS; i++) {
		if (!cfg->port[i].present)
			continue;
		for (v = 0, has_vlan = false; v < cfg->nb_vlans; v++)
			has_vlan |= cfg->vlan[v].port == i;
		w.s = SECT_PORT;
		w.index = i;
		w.a = &cfg->port[i].a;
		check_one(&w, config_port_listed(cfg, i) && !has_vlan);
		if (w.a->has_v6 && cfg->port[i].mtu < 1280 && !config_bad(c, SECT_PORT, i, "mtu"))
			config_msg_key(c, false, SECT_PORT, i, "mtu",
				"IPv6 (addr6) needs 1280 and does not work below; accepted: 1280 or more");
	}
	for (v = 0; v < cfg->nb_vlans; v++) {
		w.s = SECT_VLAN;
		w.index = cfg->vlan[v].id;
		w.a = &cfg->vlan[v].a;
		check_one(&w, true);
	}
	check_between_ports(c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker answers to the tools, in its own loop: neighbours, routes, interfaces, connections; as a table or as JSON array
 * elements, a page at a time. It needs no packet buffer for it, so it answers when there are none (STK-9).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stack/priv.h"
#include "../stack/tcp/tcp.h"
#include "worker_priv.h"

struct page {
	struct text t;
	bool json;
	unsigned int first;   /* what the client has already */
	unsigned int at;      /* entries seen */
	unsigned int given;
	uint32_t next;
};

static int
page_begin(struct page *p, const struct ctl_request *r)
{
	char *end;

	p->json = r->nb_words > 0 && strcmp(r->word[0], "json") == 0;
	p->first = 0;
	p->at = 0;
	p->given = 0;
	p->next = 0;
	if (r->nb_words < 2)
		return 0;
	errno = 0;
	p->first = strtoul(r->word[1], &end, 10);
	return *end == '\0' && errno == 0 ? 0 : -EINVAL;
}

/* Is the next entry one to print? Then its text follows, and page_done. */
static bool
page_wants(struct page *p)
{
	if (p->next != 0 || p->at++ < p->first)
		return false;
	if (p->json && p->given > 0)
		text_add(&p->t, ",");
	return true;
}

/* The entry that began at mark is complete, or did not fit: then the next page starts with it. */
static void
page_done(struct page *p, size_t mark)
{
	if (!p->t.cut) {
		p->given++;
		return;
	}
	text_back(&p->t, mark);
	/* never the same page twice */
	p->next = p->given > 0 ? p->at - 1 : p->at;
}

static const char *
addr_text(int family, const union ip_addr *a, char *buf)
{
	if (inet_ntop(family == ADDR_INET ? AF_INET : AF_INET6, a->v6, buf, INET6_ADDRSTRLEN) == NULL)
		strcpy(buf, "?");
	return buf;
}

static const char *
neigh_state_name(uint8_t state)
{
	static const char *const name[] = {
		[NEIGH_FREE] = "free", [NEIGH_INCOMPLETE] = "incomplete", [NEIGH_STALE] = "stale",
		[NEIGH_REACHABLE] = "reachable", [NEIGH_DELAY] = "delay", [NEIGH_PROBE] = "probe",
		[NEIGH_PERMANENT] = "permanent",
	};

	return state < sizeof(name) / sizeof(name[0]) ? name[state] : "?";
}

static void
neigh_line(struct page *p, const struct neigh *n)
{
	char addr[INET6_ADDRSTRLEN], mac[24];

	addr_text(n->family, &n->addr, addr);
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", n->mac[0], n->mac[1], n->mac[2], n->mac[3], n->mac[4],
		n->mac[5]);
	if (n->state == NEIGH_INCOMPLETE)
		strcpy(mac, "(none)");
	if (!p->json) {
		text_add(&p->t, "%-39s  %-17s  %-12s  %s%s\n", addr, mac, n->nif->cfg.name, neigh_state_name(n->state),
			n->is_router ? ", router" : "");
		return;
	}
	text_add(&p->t, "{\"address\":\"%s\",\"mac\":", addr);
	text_add(&p->t, n->state == NEIGH_INCOMPLETE ? "null" : "\"%s\"", mac);
	text_add(&p->t, ",\"interface\":");
	text_json(&p->t, n->nif->cfg.name);
	text_add(&p->t, ",\"state\":\"%s\",\"router\":%s}", neigh_state_name(n->state), n->is_router ? "true" : "false");
}

static void
list_neigh(struct worker *w, struct page *p, int family)
{
	struct neigh_table *tab = &w->stack->neigh;

	for (unsigned int i = 0; i < tab->touched && p->next == 0; i++) {
		const struct neigh *n = &tab->entries[i];
		size_t mark = p->t.len;

		if (n->state == NEIGH_FREE || n->family != family || !page_wants(p))
			continue;
		neigh_line(p, n);
		page_done(p, mark);
	}
}

static void
route_line(struct page *p, const struct route *r)
{
	static const char *const origin[] = { "connected", "static", "ra" };
	char dst[INET6_ADDRSTRLEN], gw[INET6_ADDRSTRLEN] = "";
	const char *from = r->origin < 3 ? origin[r->origin] : "?";

	addr_text(r->family, &r->dst, dst);
	if (r->has_gateway)
		addr_text(r->family, &r->gateway, gw);
	if (!p->json) {
		char both[INET6_ADDRSTRLEN + 8];

		snprintf(both, sizeof(both), "%s/%u", dst, r->prefix_len);
		text_add(&p->t, "%-43s  %-39s  %-12s  mtu %-5u  %s\n", both, r->has_gateway ? gw : "on link",
			r->nif->cfg.name, r->mtu, from);
		return;
	}
	text_add(&p->t, "{\"destination\":\"%s\",\"prefix_len\":%u,\"gateway\":", dst, r->prefix_len);
	text_add(&p->t, r->has_gateway ? "\"%s\"" : "null", gw);
	text_add(&p->t, ",\"interface\":");
	text_json(&p->t, r->nif->cfg.name);
	text_add(&p->t, ",\"mtu\":%u,\"origin\":\"%s\"}", r->mtu, from);
}

static void
list_routes(struct worker *w, struct page *p)
{
	const struct route *r;

	for (unsigned int i = 0; (r = route_at(w->stack, i)) != NULL && p->next == 0; i++) {
		size_t mark = p->t.len;

		if (!page_wants(p))
			continue;
		route_line(p, r);
		page_done(p, mark);
	}
}

static const char *
addr6_state_name(uint8_t state)
{
	static const char *const name[] = { "free", "tentative", "preferred", "deprecated", "duplicate" };

	return state < sizeof(name) / sizeof(name[0]) ? name[state] : "?";
}

static void
if_json(struct page *p, const struct netif *nif)
{
	char a[INET6_ADDRSTRLEN];
	const uint8_t *m = nif->cfg.mac;
	struct text *t = &p->t;

	text_add(t, "{\"name\":");
	text_json(t, nif->cfg.name);
	text_add(t, ",\"port\":%u,\"vlan\":%u,\"up\":%s,\"mtu\":%u,\"mtu6\":%u,"
		"\"mac\":\"%02x:%02x:%02x:%02x:%02x:%02x\",\"addresses\":[", nif->cfg.port, nif->cfg.vlan,
		nif->flags & NETIF_UP ? "true" : "false", nif->mtu, nif->mtu6, m[0], m[1], m[2], m[3], m[4], m[5]);
	for (unsigned int i = 0; i < nif->nb_addr4; i++) {
		union ip_addr v4 = ip_addr_v4(nif->addr4[i].addr);

		text_add(t, "%s{\"address\":\"%s\",\"prefix_len\":%u}", i > 0 ? "," : "",
			addr_text(ADDR_INET, &v4, a), nif->addr4[i].prefix_len);
	}
	for (unsigned int i = 0, n = nif->nb_addr4; i < nif->nb_addr6; i++) {
		if (nif->addr6[i].state == ADDR6_FREE)
			continue;
		text_add(t, "%s{\"address\":\"%s\",\"prefix_len\":%u,\"state\":\"%s\"}", n++ > 0 ? "," : "",
			addr_text(ADDR_INET6, &nif->addr6[i].addr, a), nif->addr6[i].prefix_len,
			addr6_state_name(nif->addr6[i].state));
	}
	text_add(t, "],\"rx_packets\":%llu,\"rx_bytes\":%llu,\"rx_dropped\":%llu,\"tx_packets\":%llu,\"tx_bytes\":%llu,"
		"\"tx_dropped\":%llu}", (unsigned long long)nif->stats.rx_packets, (unsigned long long)nif->stats.rx_bytes,
		(unsigned long long)nif->stats.rx_dropped, (unsigned long long)nif->stats.tx_packets,
		(unsigned long long)nif->stats.tx_bytes, (unsigned long long)nif->stats.tx_dropped);
}

static void
if_text(struct page *p, const struct netif *nif)
{
	char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN];
	const uint8_t *m = nif->cfg.mac;
	struct text *t = &p->t;

	text_add(t, "%s: port %u", nif->cfg.name, nif->cfg.port);
	if (nif->cfg.vlan != 0)
		text_add(t, " vlan %u", nif->cfg.vlan);
	text_add(t, "  %s  mtu %u\n\tether %02x:%02x:%02x:%02x:%02x:%02x\n", nif->flags & NETIF_UP ? "up" : "down",
		nif->mtu, m[0], m[1], m[2], m[3], m[4], m[5]);
	for (unsigned int i = 0; i < nif->nb_addr4; i++) {
		union ip_addr v4 = ip_addr_v4(nif->addr4[i].addr), bc = ip_addr_v4(nif->addr4[i].broadcast);

		text_add(t, "\tinet %s/%u broadcast %s\n", addr_text(ADDR_INET, &v4, a), nif->addr4[i].prefix_len,
			addr_text(ADDR_INET, &bc, b));
	}
	for (unsigned int i = 0; i < nif->nb_addr6; i++)
		if (nif->addr6[i].state != ADDR6_FREE)
			text_add(t, "\tinet6 %s/%u %s\n", addr_text(ADDR_INET6, &nif->addr6[i].addr, a),
				nif->addr6[i].prefix_len, addr6_state_name(nif->addr6[i].state));
	text_add(t, "\trx packets %llu bytes %llu dropped %llu\n\ttx packets %llu bytes %llu dropped %llu\n",
		(unsigned long long)nif->stats.rx_packets, (unsigned long long)nif->stats.rx_bytes,
		(unsigned long long)nif->stats.rx_dropped, (unsigned long long)nif->stats.tx_packets,
		(unsigned long long)nif->stats.tx_bytes, (unsigned long long)nif->stats.tx_dropped);
}

static void
list_ifs(struct worker *w, struct page *p, const char *only)
{
	const struct netif *nif;

	for (unsigned int i = 1; (nif = stack_if_by_index(w->stack, i)) != NULL && p->next == 0; i++) {
		size_t mark = p->t.len;

		if ((only != NULL && strcmp(only, nif->cfg.name) != 0) || !page_wants(p))
			continue;
		if (p->json)
			if_json(p, nif);
		else
			if_text(p, nif);
		page_done(p, mark);
	}
}

/* An end of a connection: "10.0.0.1:80", "[2001:db8::1]:80", "*:80"; b has TCP_END bytes. */
#define TCP_END (INET6_ADDRSTRLEN + 10)
static const char *
tcp_end_text(const struct tcp_addr *a, bool with_port, char *b)
{
	char addr[INET6_ADDRSTRLEN] = "*";

	if (a->family != 0 && !ip_addr_any(&a->addr))
		addr_text(a->family, &a->addr, addr);
	if (!with_port)
		snprintf(b, TCP_END, "%s", addr);
	else if (a->port_be == 0)
		snprintf(b, TCP_END, "%s:*", addr);
	else
		snprintf(b, TCP_END, strchr(addr, ':') != NULL ? "[%s]:%u" : "%s:%u", addr, be16(a->port_be));
	return b;
}

static void
tcp_line(void *ctx, const struct tcp_entry *e)
{
	struct page *p = ctx;
	char local[TCP_END], remote[TCP_END];
	size_t mark = p->t.len;
	int version = e->local.family == ADDR_INET ? 4 : 6;

	if (!page_wants(p))
		return;
	if (!p->json) {
		text_add(&p->t, "tcp%d %8u %8u  %-42s %-42s %s\n", version, e->recv_q, e->send_q,
			tcp_end_text(&e->local, true, local), tcp_end_text(&e->remote, true, remote), tcp_fsm_name(e->fsm));
	} else {
		text_add(&p->t, "{\"proto\":\"tcp%d\",\"recv_q\":%u,\"send_q\":%u,\"local\":\"%s\",\"local_port\":%u,"
			"\"remote\":\"%s\",\"remote_port\":%u,\"state\":\"%s\"}", version, e->recv_q, e->send_q,
			tcp_end_text(&e->local, false, local), be16(e->local.port_be),
			tcp_end_text(&e->remote, false, remote), be16(e->remote.port_be), tcp_fsm_name(e->fsm));
	}
	page_done(p, mark);
}

/* Counters that are not 0 as text, all of them as JSON. */
static void
list_tcp_counts(const struct worker *w, struct page *p)
{
	for (unsigned int i = 0; i < TCP_EV_COUNT + STACK_DROP_COUNT && p->next == 0; i++) {
		bool event = i < TCP_EV_COUNT;
		unsigned int k = event ? i : i - TCP_EV_COUNT;
		uint64_t n = event ? tcp_events(w->stack, k) : stack_drops(w->stack, k);
		const char *name = event ? tcp_event_name(k) : stack_drop_name(k);
		size_t mark = p->t.len;

		if ((n == 0 && !p->json) || !page_wants(p))
			continue;
		if (p->json)
			text_add(&p->t, "{\"name\":\"%s%s\",\"count\":%llu}", event ? "" : "drop_", name, (unsigned long long)n);
		else
			text_add(&p->t, "%12llu %s%s\n", (unsigned long long)n, event ? "" : "dropped: ",
				event ? tcp_event_text(k) : stack_drop_text(k));
		page_done(p, mark);
	}
}

/* "10.0.0.0/8", "2001:db8::/32", an address alone (a host), or "default" / "default6". */
static int
parse_prefix(const char *word, int *family, union ip_addr *a, uint8_t *len)
{
	char buf[INET6_ADDRSTRLEN + 8];
	unsigned long v;
	char *slash, *end;

	if (strcmp(word, "default") == 0 || strcmp(word, "default6") == 0) {
		*family = word[7] == '6' ? ADDR_INET6 : ADDR_INET;
		*a = ip_addr_v4(0);
		*len = 0;
		return 0;
	}
	if (strlen(word) >= sizeof(buf))
		return -EINVAL;
	strcpy(buf, word);
	slash = strchr(buf, '/');
	if (slash != NULL)
		*slash++ = '\0';
	*a = ip_addr_v4(0);
	if (inet_pton(AF_INET, buf, a->v6) == 1)
		*family = ADDR_INET;
	else if (inet_pton(AF_INET6, buf, a->v6) == 1)
		*family = ADDR_INET6;
	else
		return -EINVAL;
	*len = *family == ADDR_INET ? 32 : 128;
	if (slash == NULL)
		return 0;
	errno = 0;
	v = strtoul(slash, &end, 10);
	if (slash[0] < '0' || slash[0] > '9' || *end != '\0' || errno != 0 || v > *len)
		return -EINVAL;
	*len = v;
	return 0;
}

static int
route_change(struct worker *w, const struct ctl_request *r, struct text *t)
{
	union ip_addr dst, gw;
	struct netif *nif = NULL;
	bool has_gw = false;
	int family, gw_family, rc;
	uint8_t len, gw_len;

	if (r->nb_words < 1 || parse_prefix(r->word[0], &family, &dst, &len) < 0) {
		text_add(t, "expected a destination such as 10.1.0.0/16, 2001:db8::/32, default or default6");
		return -EINVAL;
	}
	if (r->op == CTL_ROUTE_DEL) {
		rc = stack_route_del(w->stack, family, &dst, len);
		if (rc < 0)
			text_add(t, rc == -ENOENT ? "there is no such static route" : "%s", strerror(-rc));
		return rc;
	}
	if (r->nb_words > 1 && strcmp(r->word[1], "-") != 0) {
		if (parse_prefix(r->word[1], &gw_family, &gw, &gw_len) < 0 || gw_family != family ||
		    strchr(r->word[1], '/') != NULL) {
			text_add(t, "gateway '%s': expected an address of the destination's family", r->word[1]);
			return -EINVAL;
		}
		has_gw = true;
	}
	if (r->nb_words > 2 && strcmp(r->word[2], "-") != 0) {
		nif = stack_if_by_name(w->stack, r->word[2]);
		if (nif == NULL) {
			text_add(t, "there is no interface '%s'", r->word[2]);
			return -ENODEV;
		}
	}
	if (!has_gw && nif == NULL) {
		text_add(t, "expected a gateway or an interface");
		return -EINVAL;
	}
	rc = stack_route_add(w->stack, family, &dst, len, has_gw ? &gw : NULL, nif);
	if (rc < 0)
		text_add(t, rc == -EHOSTUNREACH ? "the gateway is on no connected network" : "%s", strerror(-rc));
	return rc;
}

/* The software view only (MTU-4); it can not pass what the port carries (MTU-1). */
static int
if_mtu(struct worker *w, const struct ctl_request *r, struct text *t)
{
	struct netif *nif;
	uint16_t port_mtu;
	unsigned long mtu;
	char *end;
	int rc;

	if (r->nb_words != 2) {
		text_add(t, "expected an interface and an MTU");
		return -EINVAL;
	}
	nif = stack_if_by_name(w->stack, r->word[0]);
	if (nif == NULL) {
		text_add(t, "there is no interface '%s'", r->word[0]);
		return -ENODEV;
	}
	errno = 0;
	mtu = strtoul(r->word[1], &end, 10);
	if (*end != '\0' || errno != 0 || mtu < MTU_MIN || mtu > 65535) {
		text_add(t, "MTU '%s': expected %u to 65535", r->word[1], MTU_MIN);
		return -EINVAL;
	}
	rc = shim_port_mtu_get(w->shim, nif->cfg.port, &port_mtu);
	if (rc == 0 && mtu > port_mtu) {
		text_add(t, "MTU %lu: port %u carries %u: change the port first (without -p)", mtu, nif->cfg.port,
			port_mtu);
		return -ERANGE;
	}
	if (rc == 0)
		rc = stack_if_mtu_set(w->stack, nif, mtu);
	/* a VLAN interface sends through its parent, so it follows */
	for (struct netif *v = nif->vlans; rc == 0 && v != NULL; v = v->vlan_next)
		rc = stack_if_mtu_set(w->stack, v, mtu);
	if (rc < 0)
		text_add(t, "%s", strerror(-rc));
	return rc;
}

void
worker_answer(struct worker *w, const struct ctl_request *r)
{
	struct page p;
	int rc = page_begin(&p, r);

	text_init(&p.t, w->answer, sizeof(w->answer));
	switch (r->op) {
	case CTL_PING:
		rc = 0;
		worker_publish(w);
		text_add(&p.t, "pong");
		break;
	case CTL_STOP:
		rc = 0;
		w->stop = true;
		break;
	case CTL_ARP_LIST:
	case CTL_NDP_LIST:
		if (rc == 0)
			list_neigh(w, &p, r->op == CTL_ARP_LIST ? ADDR_INET : ADDR_INET6);
		break;
	case CTL_ROUTE_LIST:
		if (rc == 0)
			list_routes(w, &p);
		break;
	case CTL_IFCONFIG:
		if (rc == 0)
			list_ifs(w, &p, r->nb_words > 2 ? r->word[2] : NULL);
		break;
	case CTL_TCP_LIST:
		if (rc == 0)
			tcp_each(w->stack, tcp_line, &p);
		break;
	case CTL_TCP_COUNTS:
		if (rc == 0)
			list_tcp_counts(w, &p);
		break;
	case CTL_ROUTE_ADD:
	case CTL_ROUTE_DEL:
		rc = route_change(w, r, &p.t);
		break;
	case CTL_IF_MTU:
		rc = if_mtu(w, r, &p.t);
		break;
	default:
		text_add(&p.t, "a worker does not do this");
		rc = -EOPNOTSUPP;
		break;
	}
	ctl_answer(w->shim, w->block, r, rc, p.t.buf, p.t.len, p.next);
}

void
worker_publish(struct worker *w)
{
	struct ctl_block *b = w->block;

	b->turns = w->turns;
	b->idle_turns = w->idle_turns;
	b->cycles_busy = w->cycles_busy;
	b->cycles_idle = w->cycles_idle;
	b->rx_packets = w->rx_packets;
	b->rx_bytes = w->rx_bytes;
	b->tx_packets = w->tx_packets;
	b->tx_bytes = w->tx_bytes;
	b->rx_dropped = w->rx_dropped;
	b->tx_dropped = w->tx_dropped;
	b->pool_size = shim_pool_size(w->shim, w->pool);
	b->pool_avail = shim_pool_avail(w->shim, w->pool);
	for (unsigned int i = 0; i < STACK_DROP_COUNT && i < 256; i++)
		b->drops[i] = stack_drops(w->stack, i);
	if (w->rl != NULL)
		worker_reload_publish(w);
	w->published_ns = w->now_ns;
	w->dirty = false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The instance: create and destroy, interfaces, input, time, output, counters. */
#include "stack.h"

#include <assert.h>
#include <errno.h>

#include "priv.h"

/* The parts of a stack in the order they are made; they go in the opposite one. */
static const struct {
	int (*init)(struct stack *s);
	void (*release)(struct stack *s);
} parts[] = {
	{ neigh_table_init, neigh_table_release },
	{ route_table_init, route_table_release },
	{ pmtu_init, pmtu_release },
	{ ip4_init, ip4_release },
	{ ip6_init, ip6_release },
	{ udp_state_init, udp_state_release },
	{ tcp_state_init, tcp_state_release },
	{ socket_table_init, socket_table_release },
};

#define NB_PARTS ((unsigned int)(sizeof(parts) / sizeof(parts[0])))
#define PART_UDP 5 /* this and later ones use the interfaces when they go */

int
stack_create(const struct stack_config *cfg, struct stack **out)
{
	struct stack *s;
	int rc;

	if (cfg->shim == NULL || cfg->pool == NULL)
		return -EINVAL;
	s = shim_malloc(cfg->shim, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->cfg = *cfg;
	s->shim = cfg->shim;
	s->pool = cfg->pool;
	s->now_ns = shim_now_ns(cfg->shim);
	timer_wheel_init(&s->wheel, s->now_ns);
	for (unsigned int i = 0; i < NB_PARTS; i++) {
		rc = parts[i].init(s);
		if (rc == 0)
			continue;
		while (i-- > 0)
			parts[i].release(s);
		shim_free(cfg->shim, s);
		return rc;
	}
	*out = s;
	return 0;
}

void
stack_destroy(struct stack *s)
{
	unsigned int p = NB_PARTS;

	if (s == NULL)
		return;
	while (p > PART_UDP)
		parts[--p].release(s);
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		ip6_netif_down(s, s->ifs[i]);
	ip_loop_release(s);
	while (p > 0)
		parts[--p].release(s);
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		netif_release(s->ifs[i]);
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		shim_free(s->shim, s->ifs[i]);
	shim_free(s->shim, s);
}

static int
if_check(struct stack *s, const struct netif_config *cfg)
{
	static const uint8_t zero[ETH_ALEN];

	if (cfg->name[0] == 0 || memchr(cfg->name, 0, sizeof(cfg->name)) == NULL)
		return -EINVAL;
	if (cfg->mtu < 68 || (cfg->mac[0] & 1) != 0 || memcmp(cfg->mac, zero, ETH_ALEN) == 0)
		return -EINVAL;
	if (cfg->vlan > 4094 || (cfg->vlan != 0) != (cfg->parent != NULL))
		return -EINVAL;
	if (cfg->vlan == 0 && cfg->tx == NULL)
		return -EINVAL;
	if (cfg->parent != NULL && (cfg->parent->stack != s || cfg->parent->cfg.vlan != 0))
		return -EINVAL;
	if (stack_if_by_name(s, cfg->name) != NULL)
		return -EEXIST;
	if (cfg->parent != NULL)
		for (struct netif *v = cfg->parent->vlans; v != NULL; v = v->vlan_next)
			if (v->cfg.vlan == cfg->vlan)
				return -EEXIST;
	return s->nb_ifs == STACK_MAX_IFS ? -ENOSPC : 0;
}

int
stack_if_add(struct stack *s, const struct netif_config *cfg, struct netif **out)
{
	struct netif *nif;
	int rc = if_check(s, cfg);

	if (rc != 0)
		return rc;
	nif = shim_malloc(s->shim, sizeof(*nif));
	if (nif == NULL)
		return -ENOMEM;
	nif->stack = s;
	nif->cfg = *cfg;
	nif->flags = NETIF_UP;
	nif->mtu = cfg->mtu;
	if (cfg->parent != NULL && nif->mtu > cfg->parent->mtu)
		nif->mtu = cfg->parent->mtu;
	nif->mtu6 = nif->mtu >= 1280 ? nif->mtu : 0;
	nif->cur_hop_limit = 64;
	nif->reachable_ms = 30000;
	nif->retrans_ms = 1000;
	timer_init(&nif->rs_timer, NULL, nif);
	for (unsigned int i = 0; i < NETIF_MAX_ADDR6; i++) {
		timer_init(&nif->addr6[i].timer, NULL, &nif->addr6[i]);
		nif->addr6[i].nif = nif;
	}
	if (cfg->parent != NULL) {
		nif->vlan_next = cfg->parent->vlans;
		cfg->parent->vlans = nif;
	}
	s->ifs[s->nb_ifs++] = nif;
	nif->index = s->nb_ifs;
	*out = nif;
	ip6_netif_up(s, nif);
	return 0;
}

struct netif *
stack_if_by_name(struct stack *s, const char *name)
{
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		if (strcmp(s->ifs[i]->cfg.name, name) == 0)
			return s->ifs[i];
	return NULL;
}

struct netif *
stack_if_by_index(struct stack *s, unsigned int index)
{
	return index >= 1 && index <= s->nb_ifs ? s->ifs[index - 1] : NULL;
}

void
stack_input(struct stack *s, struct netif *nif, struct rte_mbuf **m, unsigned int n)
{
	enum { AHEAD = 4 }; /* frames whose first line is asked for before it is needed */

	for (unsigned int i = 0; i < n && i < AHEAD; i++)
		__builtin_prefetch(shim_buf_data(m[i]));
	for (unsigned int i = 0; i < n; i++) {
		if (i + AHEAD < n)
			__builtin_prefetch(shim_buf_data(m[i + AHEAD]));
		eth_input(s, nif, m[i]);
	}
	ip_loop_drain(s);
}

void
stack_poll(struct stack *s, uint64_t now_ns)
{
	assert(now_ns >= s->now_ns);
	s->now_ns = now_ns;
	s->shed_known = false;
	timer_wheel_advance(&s->wheel, now_ns);
	ip_loop_drain(s);
}

uint64_t
stack_next_deadline(const struct stack *s)
{
	return ip_loop_pending(s) ? s->now_ns : timer_wheel_next(&s->wheel);
}

void
stack_flush(struct stack *s)
{
	for (unsigned int i = 0; i < s->nb_ifs; i++)
		netif_flush(s->ifs[i]);
}

/* Reasons that stop a packet on its way out; all others are found on the way in. */
static bool
drop_is_tx(enum stack_drop r)
{
	switch (r) {
	case STACK_DROP_NEIGH_QUEUE_FULL:
	case STACK_DROP_NEIGH_UNREACHABLE:
	case STACK_DROP_NEIGH_TABLE_FULL:
	case STACK_DROP_TX_FULL:
	case STACK_DROP_NO_BUFFER:
	case STACK_DROP_IP4_NO_ROUTE:
	case STACK_DROP_IP4_TX_TOO_BIG:
	case STACK_DROP_IP4_DF:
	case STACK_DROP_IP6_NO_ROUTE:
	case STACK_DROP_IP6_NO_SOURCE:
	case STACK_DROP_IP6_TOO_BIG:
		return true;
	default:
		return false;
	}
}

void
stack_drop(struct stack *s, struct netif *nif, enum stack_drop r, struct rte_mbuf *m)
{
	s->drops[r]++;
	if (nif != NULL) {
		if (drop_is_tx(r))
			nif->stats.tx_dropped++;
		else
			nif->stats.rx_dropped++;
	}
	shim_buf_free(s->shim, m);
}

struct rte_mbuf *
stack_buf(struct stack *s)
{
	struct rte_mbuf *m = shim_buf_alloc(s->shim, s->pool);

	if (m == NULL)
		stack_count(s, STACK_DROP_NO_BUFFER);
	else
		shim_buf_mark_set(m, s->cfg.buf_mark);
	return m;
}

struct rte_mbuf *
stack_copy(struct stack *s, const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	struct rte_mbuf *c = shim_buf_copy(s->shim, m, s->pool, off, len);

	shim_buf_mark_set(c, s->cfg.buf_mark); /* NULL is fine */
	return c;
}

bool
stack_shed(struct stack *s)
{
	uint64_t mark = s->cfg.buf_low_watermark, avail;

	if (mark == 0 || s->shed_known)
		return s->shedding;
	s->shed_known = true;
	avail = shim_pool_avail(s->shim, s->pool);
	if (avail < mark)
		s->shedding = true;
	else if (avail >= mark + mark / 4)
		s->shedding = false;
	return s->shedding;
}

uint64_t
stack_drops(const struct stack *s, enum stack_drop r)
{
	return s->drops[r];
}

struct shim *
stack_shim(const struct stack *s)
{
	return s->shim;
}

uint64_t
stack_now(const struct stack *s)
{
	return s->now_ns;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of interfaces, static routes, and the MTU of an interface: what changes while a stack lives. */
#include <errno.h>

#include "priv.h"

static uint32_t
mask4(uint8_t prefix_len)
{
	return prefix_len == 0 ? 0 : be32(UINT32_MAX << (32 - prefix_len));
}

/* Can it be a host's address (RFC 1122 3.2.1.3)? */
static bool
addr4_ok(uint32_t a, uint8_t prefix_len)
{
	uint32_t mask = mask4(prefix_len);

	if ((a & 0xff) == 0 || ip4_loopback(a) || (a & 0xff) >= 224)
		return false;
	return prefix_len >= 31 || ((a & ~mask) != 0 && (a & ~mask) != ~mask);
}

int
stack_addr4_add(struct stack *s, struct netif *nif, uint32_t addr_be, uint8_t prefix_len,
	uint32_t broadcast_be)
{
	struct netif_addr4 *a;
	int rc;

	if (prefix_len > 32 || !addr4_ok(addr_be, prefix_len))
		return -EINVAL;
	if (stack_owns4(s, addr_be))
		return -EEXIST;
	if (nif->nb_addr4 == NETIF_MAX_ADDR4)
		return -ENOSPC;
	a = &nif->addr4[nif->nb_addr4++];
	*a = (struct netif_addr4){ .addr = addr_be, .mask = mask4(prefix_len),
		.broadcast = broadcast_be, .prefix_len = prefix_len };
	if (broadcast_be == 0) /* a prefix of one or two addresses has none of its own (RFC 3021) */
		a->broadcast = prefix_len < 31 ? addr_be | ~a->mask : UINT32_MAX;
	rc = ip4_addr_changed(s, nif, a, true);
	if (rc != 0)
		nif->nb_addr4--;
	route_touch(s);
	return rc;
}

int
stack_addr4_del(struct stack *s, struct netif *nif, uint32_t addr_be)
{
	struct netif_addr4 *a = netif_find4(nif, addr_be);
	unsigned int i;

	if (a == NULL)
		return -ENOENT;
	ip4_addr_changed(s, nif, a, false);
	i = (unsigned int)(a - nif->addr4);
	nif->nb_addr4--;
	memmove(a, a + 1, (nif->nb_addr4 - i) * sizeof(*a));
	route_touch(s);
	return 0;
}

/* A free entry of nif, marked as used by nobody yet; NULL: all are taken. */
static struct netif_addr6 *
addr6_slot(struct netif *nif)
{
	unsigned int i;

	for (i = 0; i < nif->nb_addr6; i++)
		if (nif->addr6[i].state == ADDR6_FREE)
			return &nif->addr6[i];
	if (i == NETIF_MAX_ADDR6)
		return NULL;
	nif->nb_addr6++;
	return &nif->addr6[i];
}

int
stack_addr6_add(struct stack *s, struct netif *nif, const union ip_addr *addr, uint8_t prefix_len)
{
	struct netif_addr6 *a;

	if (prefix_len > 128 || ip_addr_any(addr) || ip6_multicast(addr) || ip6_loopback(addr) ||
		ip6_v4_mapped(addr))
		return -EINVAL;
	if (netif_find6(nif, addr) != NULL || (!ip6_link_local(addr) && stack_owns6(s, addr)))
		return -EEXIST;
	a = addr6_slot(nif);
	if (a == NULL)
		return -ENOSPC;
	a->addr = *addr;
	a->prefix_len = prefix_len;
	ip6_addr_start(s, a);
	route_touch(s);
	return 0;
}

int
stack_addr6_del(struct stack *s, struct netif *nif, const union ip_addr *addr)
{
	struct netif_addr6 *a = netif_find6(nif, addr);

	if (a == NULL)
		return -ENOENT;
	ip6_addr_stop(s, a);
	timer_cancel(&s->wheel, &a->timer);
	a->state = ADDR6_FREE;
	a->autoconf = 0;
	while (nif->nb_addr6 > 0 && nif->addr6[nif->nb_addr6 - 1].state == ADDR6_FREE)
		nif->nb_addr6--;
	route_touch(s);
	return 0;
}

/* Where the gateway is on link: 0 with *nif, or why it can not be one. */
static int
gateway_check(struct stack *s, int family, const union ip_addr *gw, struct netif **nif)
{
	const struct route *r;

	if (ip_addr_any(gw))
		return -EINVAL;
	if (family == ADDR_INET) {
		if ((gw->v4 & 0xff) >= 224 || ip4_loopback(gw->v4) || stack_owns4(s, gw->v4))
			return -EINVAL;
	} else {
		if (ip6_multicast(gw) || ip6_loopback(gw) || stack_owns6(s, gw))
			return -EINVAL;
		if (ip6_link_local(gw))
			return *nif != NULL ? 0 : -EINVAL; /* no scope */
	}
	r = route_lookup(s, family, gw, *nif);
	if (r == NULL || r->has_gateway)
		return -EHOSTUNREACH;
	*nif = r->nif;
	return 0;
}

int
stack_route_add(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len,
	const union ip_addr *gateway, struct netif *nif)
{
	struct route r = {
		.dst = *dst, .family = (uint8_t)family, .prefix_len = prefix_len,
		.origin = ROUTE_STATIC, .expires_ns = UINT64_MAX,
	};
	int rc;

	if (family != ADDR_INET && family != ADDR_INET6)
		return -EINVAL;
	if (gateway != NULL) {
		rc = gateway_check(s, family, gateway, &nif);
		if (rc != 0)
			return rc;
		r.gateway = *gateway;
		r.has_gateway = true;
	}
	r.nif = nif;
	return route_insert(s, &r);
}

int
stack_route_del(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len)
{
	return route_remove(s, family, dst, prefix_len, ROUTE_STATIC);
}

int
stack_if_mtu_set(struct stack *s, struct netif *nif, uint16_t mtu)
{
	if (mtu < 68 || (nif->cfg.parent != NULL && mtu > nif->cfg.parent->mtu))
		return -EINVAL;
	nif->mtu = mtu;
	ip6_netif_mtu(s, nif);
	route_netif_mtu(s, nif);
	for (struct netif *v = nif->vlans; v != NULL; v = v->vlan_next)
		if (v->mtu > mtu)
			stack_if_mtu_set(s, v, mtu);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an IPv4 packet goes: source address, interface, next hop, MTU; addresses and groups that come and go. */
#include <errno.h>

#include "../priv.h"

static struct netif *
owner_of(const struct stack *s, uint32_t addr_be)
{
	unsigned int i;

	for (i = 0; i < s->nb_ifs; i++) {
		if (netif_find4(s->ifs[i], addr_be) != NULL)
			return s->ifs[i];
	}
	return NULL;
}

/* The address of nif that shares a prefix with the next hop, else its first one; 0: it has none. */
static uint32_t
pick_source(const struct netif *nif, uint32_t next_hop)
{
	unsigned int i;

	for (i = 0; i < nif->nb_addr4; i++) {
		if (((nif->addr4[i].addr ^ next_hop) & nif->addr4[i].mask) == 0)
			return nif->addr4[i].addr;
	}
	return nif->nb_addr4 != 0 ? nif->addr4[0].addr : 0;
}

static int
set_source(const struct stack *s, struct ip_path *path, uint32_t next_hop)
{
	if (path->src.v4 == 0)
		path->src.v4 = pick_source(path->nif, next_hop);
	else if (!stack_owns4(s, path->src.v4))
		return -EADDRNOTAVAIL;
	if (path->src.v4 == 0)
		return -EADDRNOTAVAIL;
	path->id_hash = ip_id_hash(s, &path->src, &path->dst);
	return 0;
}

static void
set_broadcast(struct ip_path *path)
{
	path->flags |= IP_PATH_BROADCAST;
	memset(path->dst_mac, 0xff, ETH_ALEN);
}

/* RFC 1112 6.4: the low 23 bits of the group. */
static void
set_multicast(struct ip_path *path)
{
	uint32_t g = be32(path->dst.v4);

	path->flags |= IP_PATH_MULTICAST;
	path->dst_mac[0] = 0x01;
	path->dst_mac[1] = 0x00;
	path->dst_mac[2] = 0x5e;
	path->dst_mac[3] = g >> 16 & 0x7f;
	path->dst_mac[4] = g >> 8 & 0xff;
	path->dst_mac[5] = g & 0xff;
}

/* To ourselves: no wire, no neighbour; as large as a datagram can be. */
static int
path_local(const struct stack *s, struct ip_path *path)
{
	path->nif = owner_of(s, path->dst.v4);
	if (path->nif == NULL && s->nb_ifs != 0)
		path->nif = s->ifs[0]; /* 127.0.0.0/8 */
	if (path->nif == NULL)
		return -EHOSTUNREACH;
	path->flags |= IP_PATH_LOCAL;
	path->mtu = UINT16_MAX;
	if (path->src.v4 == 0)
		path->src = path->dst;
	else if (!ip4_loopback(path->src.v4) && !stack_owns4(s, path->src.v4))
		return -EADDRNOTAVAIL;
	path->id_hash = ip_id_hash(s, &path->src, &path->dst);
	return 0;
}

/* The interface for a packet to a group or to everybody when the caller names none. */
static struct netif *
group_netif(const struct stack *s, uint32_t src, const union ip_addr *dst)
{
	const struct route *r;
	struct netif *nif = src != 0 ? owner_of(s, src) : NULL;
	unsigned int i;

	if (nif == NULL && dst->v4 != UINT32_MAX) {
		r = route_lookup(s, ADDR_INET, dst, NULL);
		nif = r != NULL ? r->nif : NULL;
	}
	for (i = 0; nif == NULL && i < s->nb_ifs; i++) {
		if (s->ifs[i]->nb_addr4 != 0 && (s->ifs[i]->flags & NETIF_UP) != 0)
			nif = s->ifs[i];
	}
	return nif;
}

static int
path_group(const struct stack *s, struct ip_path *path, struct netif *nif)
{
	path->nif = nif != NULL ? nif : group_netif(s, path->src.v4, &path->dst);
	if (path->nif == NULL)
		return -EHOSTUNREACH;
	if (path->dst.v4 == UINT32_MAX)
		set_broadcast(path);
	else
		set_multicast(path);
	path->mtu = path->nif->mtu;
	return set_source(s, path, path->dst.v4);
}

int
ip4_path(struct stack *s, const union ip_addr *dst, const union ip_addr *src, struct netif *nif,
	struct ip_path *path)
{
	const struct route *r;
	const union ip_addr *hop;
	int rc;

	memset(path, 0, sizeof(*path));
	path->family = ADDR_INET;
	path->dst = *dst;
	path->route_gen = s->routes.gen;
	if (src != NULL)
		path->src = *src;
	if (dst->v4 == 0)
		return -EHOSTUNREACH;
	if (ip4_loopback(dst->v4) || (ip4_may_own(s->ip4, dst->v4) && stack_owns4(s, dst->v4)))
		return path_local(s, path);
	if (dst->v4 == UINT32_MAX || ip4_multicast(dst->v4))
		return path_group(s, path, nif);
	r = route_lookup(s, ADDR_INET, dst, nif);
	if (r == NULL) {
		stack_count(s, STACK_DROP_IP4_NO_ROUTE);
		return -EHOSTUNREACH;
	}
	path->nif = r->nif;
	hop = r->has_gateway ? &r->gateway : dst;
	rc = set_source(s, path, hop->v4);
	if (rc != 0)
		return rc;
	path->mtu = r->nif->mtu;
	if (!r->has_gateway && ip4_is_broadcast(r->nif, dst->v4)) {
		set_broadcast(path);
		return 0;
	}
	path->neigh = neigh_get(s, r->nif, ADDR_INET, hop);
	if (path->neigh == NULL)
		return -ENOBUFS;
	path->neigh_gen = path->neigh->gen;
	path->mtu = pmtu_get(s, ADDR_INET, dst, r->nif->mtu);
	return 0;
}

static union ip_addr
prefix_of(const struct netif_addr4 *a)
{
	return ip_addr_v4(a->addr & a->mask);
}

/* Does another address of nif have a's connected route too? */
static bool
same_prefix(const struct netif *nif, const struct netif_addr4 *a)
{
	for (unsigned int i = 0; i < nif->nb_addr4; i++) {
		const struct netif_addr4 *b = &nif->addr4[i];

		if (b->addr != a->addr && b->prefix_len == a->prefix_len &&
			((b->addr ^ a->addr) & a->mask) == 0)
			return true;
	}
	return false;
}

int
ip4_addr_changed(struct stack *s, struct netif *nif, const struct netif_addr4 *a, bool added)
{
	struct route r = { .family = ADDR_INET, .prefix_len = a->prefix_len, .origin = ROUTE_CONNECTED,
		.expires_ns = UINT64_MAX, .mtu = nif->mtu };
	uint32_t bit = be32(a->addr) % IP4_OWN_BITS;
	int rc = 0;

	r.dst = prefix_of(a);
	r.nif = nif;
	if (added) {
		s->ip4->own[bit / 64] |= 1ull << (bit % 64);
		/* A /32 has no neighbours; an equal prefix is routed already. */
		if (a->prefix_len < 32)
			rc = route_insert(s, &r);
		if (rc != 0 && rc != -EEXIST)
			return rc;
		route_touch(s);
		arp_announce(s, nif, a->addr);
		return 0;
	}
	if (a->prefix_len < 32 && !same_prefix(nif, a))
		route_withdraw(s, &r);
	route_touch(s);
	return 0;
}

static struct ip4_member *
find_member(const struct stack *s, const struct netif *nif, uint32_t group_be)
{
	unsigned int i;

	for (i = 0; i < IP4_MCAST_MAX; i++) {
		struct ip4_member *b = &s->ip4->member[i];

		if (b->refs != 0 && b->group == group_be && b->nif == nif)
			return b;
	}
	return NULL;
}

bool
ip4_mcast_member(const struct stack *s, const struct netif *nif, uint32_t group_be)
{
	return find_member(s, nif, group_be) != NULL;
}

int
ip4_mcast_join(struct stack *s, struct netif *nif, uint32_t group_be)
{
	union ip_addr group = ip_addr_v4(group_be);
	struct ip4_member *b;
	unsigned int i;

	if (!ip4_multicast(group_be))
		return -EINVAL;
	if (nif == NULL)
		nif = group_netif(s, 0, &group);
	if (nif == NULL)
		return -ENODEV;
	b = find_member(s, nif, group_be);
	for (i = 0; b == NULL && i < IP4_MCAST_MAX; i++) {
		if (s->ip4->member[i].refs == 0)
			b = &s->ip4->member[i];
	}
	if (b == NULL)
		return -ENOBUFS;
	b->nif = nif;
	b->group = group_be;
	b->refs++;
	return 0;
}

int
ip4_mcast_leave(struct stack *s, struct netif *nif, uint32_t group_be)
{
	union ip_addr group = ip_addr_v4(group_be);
	struct ip4_member *b;

	if (!ip4_multicast(group_be))
		return -EINVAL;
	if (nif == NULL)
		nif = group_netif(s, 0, &group);
	b = nif != NULL ? find_member(s, nif, group_be) : NULL;
	if (b == NULL)
		return -EADDRNOTAVAIL;
	b->refs--;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 output: paths, the header, fragments made at the source (RFC 8200 4.5, 5). */
#include <errno.h>

#include "../priv.h"

#define FRAG_HLEN 8
#define HBH_HLEN 8

/* ---- paths ----------------------------------------------------------------------------------- */

static void
multicast_mac(const union ip_addr *dst, uint8_t mac[ETH_ALEN])
{
	mac[0] = mac[1] = 0x33; /* RFC 2464 7 */
	memcpy(mac + 2, dst->v6 + 12, 4);
}

void
ip6_path_direct(struct ip_path *path, struct netif *nif, const union ip_addr *dst,
		const union ip_addr *src, const uint8_t *mac)
{
	*path = (struct ip_path){.nif = nif,
			.src = *src,
			.dst = *dst,
			.mtu = nif->mtu6,
			.family = ADDR_INET6,
			.flags = IP_PATH_MULTICAST};
	if (mac != NULL)
		memcpy(path->dst_mac, mac, ETH_ALEN);
	else
		multicast_mac(dst, path->dst_mac);
}

/* The interface that has dst as an address of its own, or NULL. */
static struct netif *
own_netif(struct stack *s, const union ip_addr *dst, struct netif *nif)
{
	struct netif_addr6 *a;

	if (ip6_loopback(dst))
		return nif != NULL ? nif : s->nb_ifs > 0 ? s->ifs[0] : NULL;
	if (!ip6_may_own(s->ip6, dst))
		return NULL;
	for (unsigned int i = 0; i < s->nb_ifs; i++) {
		if (ip6_link_local(dst) && s->ifs[i] != nif)
			continue;
		a = netif_find6(s->ifs[i], dst);
		if (a != NULL && ip6_addr_usable(a))
			return s->ifs[i];
	}
	return NULL;
}

/* Where dst is reached: *nif, and *hop the neighbour. 0 or -EHOSTUNREACH. */
static int
next_hop(struct stack *s, const union ip_addr *dst, struct netif **nif, union ip_addr *hop)
{
	const struct route *r;

	*hop = *dst;
	if (ip6_link_local(dst) || (ip6_multicast(dst) && ip6_scope(dst) <= 2))
		return *nif != NULL ? 0 : -EHOSTUNREACH;
	if (ip6_multicast(dst) && *nif != NULL)
		return 0;
	r = route_lookup(s, ADDR_INET6, dst, *nif);
	if (r == NULL)
		return -EHOSTUNREACH;
	*nif = r->nif;
	if (r->has_gateway)
		*hop = r->gateway;
	return 0;
}

/* src NULL or any: chooses. 0 or -EADDRNOTAVAIL. */
static int
choose_source(struct stack *s, const union ip_addr *src, struct ip_path *path)
{
	const struct netif_addr6 *a;

	if (src != NULL && !ip_addr_any(src)) {
		path->src = *src;
		if (ip6_loopback(src))
			return (path->flags & IP_PATH_LOCAL) != 0 ? 0 : -EADDRNOTAVAIL;
		a = netif_find6(path->nif, src);
		if (a != NULL)
			return ip6_addr_usable(a) ? 0 : -EADDRNOTAVAIL;
		return !ip6_link_local(src) && stack_owns6(s, src) ? 0 : -EADDRNOTAVAIL;
	}
	if ((path->flags & IP_PATH_LOCAL) != 0) {
		path->src = path->dst;
		return 0;
	}
	a = ip6_src_select(s, path->nif, &path->dst);
	if (a == NULL)
		return -EADDRNOTAVAIL;
	path->src = a->addr;
	return 0;
}

static int
fail(struct stack *s, enum stack_drop why, int err)
{
	stack_count(s, why);
	return err;
}

int
ip6_path(struct stack *s, const union ip_addr *dst, const union ip_addr *src, struct netif *nif,
	struct ip_path *path)
{
	struct netif *own = own_netif(s, dst, nif);
	union ip_addr hop;

	*path = (struct ip_path){ .dst = *dst, .family = ADDR_INET6, .route_gen = s->routes.gen };
	if (ip_addr_any(dst) || ip6_v4_mapped(dst))
		return fail(s, STACK_DROP_IP6_NO_ROUTE, -EHOSTUNREACH);
	if (own != NULL) {
		path->nif = own;
		path->mtu = UINT16_MAX;
		path->flags = IP_PATH_LOCAL;
		return choose_source(s, src, path) == 0
				       ? 0
				       : fail(s, STACK_DROP_IP6_NO_SOURCE, -EADDRNOTAVAIL);
	}
	if (next_hop(s, dst, &nif, &hop) != 0 || nif->mtu6 == 0)
		return fail(s, STACK_DROP_IP6_NO_ROUTE, -EHOSTUNREACH);
	path->nif = nif;
	if (choose_source(s, src, path) != 0)
		return fail(s, STACK_DROP_IP6_NO_SOURCE, -EADDRNOTAVAIL);
	path->id_hash = ip_id_hash(s, &path->src, dst);
	path->mtu = pmtu_get(s, ADDR_INET6, dst, nif->mtu6);
	if (ip6_multicast(dst)) {
		path->flags = IP_PATH_MULTICAST;
		multicast_mac(dst, path->dst_mac);
		return 0;
	}
	path->neigh = neigh_get(s, nif, ADDR_INET6, &hop);
	if (path->neigh == NULL)
		return -ENOBUFS;
	path->neigh_gen = path->neigh->gen;
	return 0;
}

/* ---- packets --------------------------------------------------------------------------------- */

static void
fill_header(uint8_t *b, const struct ip_path *path, const struct ip_tx *tx, uint8_t next,
		uint32_t plen)
{
	struct ipv6_hdr *h = (struct ipv6_hdr *)b;

	h->vtf_be = be32(6u << 28 | (uint32_t)tx->tos << 20 | (tx->flow_label & 0xfffff));
	h->plen_be = be16((uint16_t)plen);
	h->next = next;
	h->hop = tx->ttl != 0 ? tx->ttl : path->nif->cur_hop_limit;
	h->src = path->src;
	h->dst = path->dst;
}

/* One packet with its header, on its way. Takes m. */
static int
send_one(struct stack *s, const struct ip_path *path, struct rte_mbuf *m)
{
	if ((path->flags & IP_PATH_LOCAL) != 0)
		return ip_loop_put(s, path->nif, ADDR_INET6, IP6_HLEN, m);
	m = ip_flatten(s, path->nif, m);
	if (m == NULL)
		return -ENOBUFS;
	if (path->neigh != NULL)
		neigh_output(s, path->neigh, m);
	else
		eth_output(s, path->nif, m, path->dst_mac, ETHERTYPE_IP6);
	return 0;
}

/*
 * Identifications nobody can guess (RFC 7739 5.3): a keyed hash of a counter. The seed keeps
 * instances apart, which share keys and may send to the same station.
 */
static uint32_t
new_id(struct stack *s, const struct ip_path *path)
{
	struct siphash_key key = { s->cfg.secrets.ip_id[0], s->cfg.secrets.ip_id[1] };
	uint64_t in[3] = { path->id_hash, s->ip6->id_seed, s->ip6->id_count++ };

	return (uint32_t)siphash13(&key, in, sizeof(in));
}

static int
fragments(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m)
{
	uint32_t len = shim_buf_len(m), room = (path->mtu - IP6_HLEN - FRAG_HLEN) & ~7u,
		 id = new_id(s, path);
	int rc = 0;

	ip_l4_csum_finish(m, 0);
	for (uint32_t off = 0; off < len && rc == 0; off += room) {
		uint32_t n = len - off < room ? len - off : room;
		struct rte_mbuf *f = stack_copy(s, m, off, n);
		uint8_t *b;

		if (f == NULL) {
			stack_count(s, STACK_DROP_NO_BUFFER);
			rc = -ENOBUFS;
			break;
		}
		ip_clear_offloads(f);
		f = ip_prepend(s, f, IP6_HLEN + FRAG_HLEN);
		if (f == NULL) {
			rc = -ENOBUFS;
			break;
		}
		b = shim_buf_data(f);
		fill_header(b, path, tx, IP6_NEXT_FRAGMENT, FRAG_HLEN + n);
		b[IP6_HLEN] = tx->proto;
		b[IP6_HLEN + 1] = 0;
		put_be16(b + IP6_HLEN + 2, (uint16_t)(off | (off + n < len)));
		put_be32(b + IP6_HLEN + 4, id);
		rc = send_one(s, path, f);
	}
	shim_buf_free(s->shim, m);
	return rc;
}

int
ip6_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m)
{
	uint32_t hbh = tx->router_alert ? HBH_HLEN : 0, plen = shim_buf_len(m) + hbh;
	struct netif *nif = path->nif;
	uint8_t *b;

	if ((nif->flags & NETIF_UP) == 0 || nif->mtu6 == 0) {
		stack_drop(s, nif, STACK_DROP_IF_DOWN, m);
		return -ENETDOWN;
	}
	if (plen > UINT16_MAX || (IP6_HLEN + plen > path->mtu && (tx->df || hbh != 0) &&
	    (path->flags & IP_PATH_LOCAL) == 0)) {
		stack_drop(s, nif, STACK_DROP_IP6_TOO_BIG, m);
		return -EMSGSIZE;
	}
	if (IP6_HLEN + plen > path->mtu && (path->flags & IP_PATH_LOCAL) == 0)
		return fragments(s, path, tx, m);
	m = ip_prepend(s, m, (uint16_t)(IP6_HLEN + hbh));
	if (m == NULL)
		return -ENOBUFS;
	b = shim_buf_data(m);
	fill_header(b, path, tx, hbh != 0 ? IP6_NEXT_HOPOPTS : tx->proto, plen);
	if (hbh != 0) {
		/* router alert, value 0: MLD (RFC 2711), and two bytes of padding */
		const uint8_t ra[HBH_HLEN] = { tx->proto, 0, 5, 2, 0, 0, 1, 0 };

		memcpy(b + IP6_HLEN, ra, HBH_HLEN);
	}
	return send_one(s, path, m);
}

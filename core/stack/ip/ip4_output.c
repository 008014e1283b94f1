/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 output: header, identification, fragmentation, and to the neighbour. */
#include <errno.h>

#include "../priv.h"

/*
 * RFC 6864: only datagrams that may be fragmented need an identification, unique for (source, destination,
 * protocol). The path's keyed hash says where the tuple starts; the slot's counter goes on from there. Tuples that
 * share a slot use it up together, which keeps each one's identifications distinct.
 */
static uint16_t
next_id(struct stack *s, const struct ip_path *path, uint8_t proto)
{
	uint64_t h = path->id_hash + proto * 0x9e3779b97f4a7c15ull;
	unsigned int slot = (unsigned int)(h >> 32) % IP4_ID_SLOTS;

	return (uint16_t)(s->ip4->id[slot]++ + h);
}

static uint8_t
choose_ttl(const struct ip_path *path, const struct ip_tx *tx)
{
	if (tx->ttl != 0)
		return tx->ttl;
	return (path->flags & IP_PATH_MULTICAST) != 0 ? 1 : IP4_TTL_DEFAULT; /* RFC 1112 6.1 */
}

/* Puts the header before m, whose data is the payload. NULL: no buffer, m is freed. */
static struct rte_mbuf *
add_header(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m, uint16_t id,
	uint16_t frag)
{
	uint32_t w[5];
	uint64_t sum;

	m = ip_prepend(s, m, IP4_HLEN);
	if (unlikely(m == NULL))
		return NULL;
	/* In registers first: a sum over fields that were just stored would wait for the stores. */
	w[0] = 0x45 | (uint32_t)tx->tos << 8 | (uint32_t)be16((uint16_t)shim_buf_len(m)) << 16;
	w[1] = be16(id) | (uint32_t)be16(frag) << 16;
	w[2] = choose_ttl(path, tx) | (uint32_t)tx->proto << 8;
	w[3] = path->src.v4;
	w[4] = path->dst.v4;
	if ((path->nif->cfg.tx_offloads & SHIM_TX_IPV4_CKSUM) != 0 && (path->flags & IP_PATH_LOCAL) == 0) {
		m->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
		m->l2_len = ETH_HLEN;
		m->l3_len = IP4_HLEN;
	} else {
		sum = (uint64_t)w[0] + w[1] + w[2] + w[3] + w[4];
		w[2] |= (uint32_t)csum_finish(sum) << 16;
	}
	memcpy(shim_buf_data(m), w, sizeof(w));
	return m;
}

static int
transmit(struct stack *s, const struct ip_path *path, struct rte_mbuf *m)
{
	m = ip_flatten(s, path->nif, m);
	if (unlikely(m == NULL))
		return -ENOBUFS;
	if (likely(path->neigh != NULL))
		neigh_output(s, path->neigh, m);
	else
		eth_output(s, path->nif, m, path->dst_mac, ETHERTYPE_IP4);
	return 0;
}

/* Payload bytes of a fragment: a multiple of 8, and no chain where the port takes none. */
static uint32_t
fragment_size(struct stack *s, const struct ip_path *path)
{
	uint32_t n = path->mtu - IP4_HLEN;
	uint32_t room = shim_pool_data_room(s->shim, s->pool) - SHIM_HEADROOM;

	if ((path->nif->cfg.tx_offloads & SHIM_TX_MULTI_SEGS) == 0 && n > room)
		n = room;
	return n & ~7u;
}

/* Sends m's payload in pieces, each a copy, so that nothing is shared with the caller's bytes. Takes m. */
static int
fragment(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m)
{
	uint32_t len = shim_buf_len(m), max = fragment_size(s, path), off, n;
	uint16_t id = next_id(s, path, tx->proto);
	struct rte_mbuf *f;
	int rc = 0;

	ip_l4_csum_finish(m, 0);
	for (off = 0; off < len && rc == 0; off += n) {
		n = len - off < max ? len - off : max;
		f = stack_copy(s, m, off, n);
		if (f == NULL) {
			stack_count(s, STACK_DROP_NO_BUFFER);
			rc = -ENOBUFS;
			break;
		}
		ip_clear_offloads(f);
		f = add_header(s, path, tx, f, id, (uint16_t)(off / 8 | (off + n < len ? IP4_MF : 0)));
		rc = f != NULL ? transmit(s, path, f) : -ENOBUFS;
	}
	shim_buf_free(s->shim, m);
	return rc;
}

static int
refuse(struct stack *s, const struct ip_path *path, enum stack_drop why, struct rte_mbuf *m, int err)
{
	stack_drop(s, path->nif, why, m);
	return err;
}

int
ip4_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m)
{
	uint32_t len = shim_buf_len(m) + IP4_HLEN;
	uint16_t id = 0, frag = IP4_DF;

	if (unlikely(len > UINT16_MAX))
		return refuse(s, path, STACK_DROP_IP4_TX_TOO_BIG, m, -EMSGSIZE);
	if (unlikely((path->flags & IP_PATH_LOCAL) != 0)) {
		m = add_header(s, path, tx, m, 0, IP4_DF);
		return m != NULL ? ip_loop_put(s, path->nif, ADDR_INET, IP4_HLEN, m) : -ENOBUFS;
	}
	if (unlikely((path->nif->flags & NETIF_UP) == 0))
		return refuse(s, path, STACK_DROP_IF_DOWN, m, -ENETDOWN);
	if (unlikely(len > path->mtu)) {
		if (tx->df)
			return refuse(s, path, STACK_DROP_IP4_DF, m, -EMSGSIZE);
		return fragment(s, path, tx, m);
	}
	if (!tx->df) {
		id = next_id(s, path, tx->proto);
		frag = 0;
	}
	m = add_header(s, path, tx, m, id, frag);
	return likely(m != NULL) ? transmit(s, path, m) : -ENOBUFS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What upper layers call on either IP version: paths, output, checksums, errors, and the way back to ourselves. */
#include <errno.h>

#include "../priv.h"

#define IP_UDP_CSUM_OFF 6
#define IP_TCP_CSUM_OFF 16

int
ip_path_lookup(struct stack *s, int family, const union ip_addr *dst, const union ip_addr *src,
	struct netif *nif, struct ip_path *path)
{
	if (family == ADDR_INET)
		return ip4_path(s, dst, src, nif, path);
	return ip6_path(s, dst, src, nif, path);
}

int
ip_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m)
{
	if (path->family == ADDR_INET)
		return ip4_output(s, path, tx, m);
	return ip6_output(s, path, tx, m);
}

void
ip_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what, const struct rte_mbuf *m)
{
	if (rx->family == ADDR_INET)
		ip4_send_unreach(s, rx, what, m);
	else
		ip6_send_unreach(s, rx, what, m);
}

uint64_t
ip_id_hash(const struct stack *s, const union ip_addr *src, const union ip_addr *dst)
{
	struct siphash_key key = { s->cfg.secrets.ip_id[0], s->cfg.secrets.ip_id[1] };
	union ip_addr pair[2] = { *src, *dst };

	return siphash13(&key, pair, sizeof(pair));
}

static uint64_t
pseudo_sum(const struct ip_path *path, uint8_t proto, uint32_t len)
{
	if (path->family == ADDR_INET)
		return csum_pseudo4(path->src.v4, path->dst.v4, proto, (uint16_t)len);
	return csum_pseudo6(path->src.v6, path->dst.v6, proto, len);
}

/* The ol_flags bit by which the port is asked for proto's checksum on this path, or 0: it is ours to do. */
static uint64_t
l4_offload(const struct ip_path *path, uint8_t proto, uint32_t packet_len)
{
	uint64_t able = path->nif->cfg.tx_offloads;

	if (packet_len > path->mtu || (path->flags & IP_PATH_LOCAL) != 0)
		return 0;
	if (proto == IP_PROTO_UDP && (able & SHIM_TX_UDP_CKSUM) != 0)
		return RTE_MBUF_F_TX_UDP_CKSUM;
	if (proto == IP_PROTO_TCP && (able & SHIM_TX_TCP_CKSUM) != 0)
		return RTE_MBUF_F_TX_TCP_CKSUM;
	return 0;
}

void
ip_l4_csum(struct stack *s, const struct ip_path *path, uint8_t proto, uint16_t csum_off,
	struct rte_mbuf *m)
{
	uint16_t *field = shim_buf_data_off(m, uint16_t *, csum_off);
	bool v4 = path->family == ADDR_INET;
	uint32_t len = shim_buf_len(m), hlen = v4 ? 20 : 40;
	uint64_t sum = pseudo_sum(path, proto, len);
	uint64_t flag = l4_offload(path, proto, len + hlen);
	uint16_t v;

	(void)s;
	if (flag != 0) {
		v = csum_fold(sum);
		memcpy(field, &v, sizeof(v));
		m->ol_flags |= flag | (v4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6);
		m->l2_len = ETH_HLEN;
		m->l3_len = hlen;
		return;
	}
	memset(field, 0, sizeof(*field));
	v = csum_finish(csum_add_chain(sum, m, 0, len));
	if (v == 0 && proto == IP_PROTO_UDP)
		v = 0xffff;
	memcpy(field, &v, sizeof(v));
}

void
ip_l4_csum_finish(struct rte_mbuf *m, uint16_t l4_off)
{
	uint64_t want = m->ol_flags & RTE_MBUF_F_TX_L4_MASK;
	uint16_t off = want == RTE_MBUF_F_TX_UDP_CKSUM ? IP_UDP_CSUM_OFF : IP_TCP_CSUM_OFF;
	uint16_t v;

	if (want == 0)
		return;
	/* The field holds the pseudo-header's sum, so that the sum over all of L4 is the whole one. */
	v = csum_finish(csum_add_chain(0, m, l4_off, shim_buf_len(m) - l4_off));
	if (v == 0 && want == RTE_MBUF_F_TX_UDP_CKSUM)
		v = 0xffff;
	memcpy(shim_buf_data_off(m, uint8_t *, l4_off + off), &v, sizeof(v));
	m->ol_flags &= ~RTE_MBUF_F_TX_L4_MASK;
}

/* Does a segment of m share its bytes with somebody? Then a receiver may not write to them. */
static bool
is_shared(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next) {
		if (!RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1)
			return true;
	}
	return false;
}

int
ip_loop_put(struct stack *s, struct netif *nif, uint8_t family, uint16_t l4_off, struct rte_mbuf *m)
{
	struct ip_loop *l = &s->loop;
	struct rte_mbuf *own = m;
	unsigned int i;

	if (l->n == IP_LOOP_MAX) {
		stack_drop(s, nif, STACK_DROP_TX_FULL, m);
		return -ENOBUFS;
	}
	ip_l4_csum_finish(m, l4_off);
	if (is_shared(m)) {
		own = stack_copy(s, m, 0, UINT32_MAX);
		if (own == NULL) {
			stack_drop(s, nif, STACK_DROP_NO_BUFFER, m);
			return -ENOBUFS;
		}
		shim_buf_free(s->shim, m);
	}
	ip_clear_offloads(own);
	i = (l->head + l->n++) % IP_LOOP_MAX;
	l->q[i].m = own;
	l->q[i].nif = nif;
	l->q[i].family = family;
	return 0;
}

void
ip_loop_drain(struct stack *s)
{
	struct ip_loop *l = &s->loop;
	unsigned int n, i;

	/* A callback that calls back in finds the queue being worked on and leaves it. */
	if (l->running)
		return;
	l->running = true;
	for (n = l->n; n > 0; n--) {
		i = l->head;
		l->head = (l->head + 1) % IP_LOOP_MAX;
		l->n--;
		if (l->q[i].family == ADDR_INET)
			ip4_input(s, l->q[i].nif, l->q[i].m);
		else
			ip6_input(s, l->q[i].nif, l->q[i].m);
	}
	l->running = false;
}

void
ip_loop_release(struct stack *s)
{
	struct ip_loop *l = &s->loop;

	for (; l->n > 0; l->n--) {
		shim_buf_free(s->shim, l->q[l->head].m);
		l->head = (l->head + 1) % IP_LOOP_MAX;
	}
}

bool
ip_loop_pending(const struct stack *s)
{
	return s->loop.n != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that are sent without a control block: resets, SYN-ACKs of half-open connections, TIME-WAIT's answers. */
#include "tcp_priv.h"

void
tcp_send_bare(struct stack *s, const struct tcp_bare *b)
{
	const struct tcp_key *k = b->key;
	const struct ip_tx tx = { .proto = IP_PROTO_TCP, .ttl = b->ttl, .tos = b->tos & 0xfc, .df = true };
	struct netif *nif = k->scope != 0 ? stack_if_by_index(s, k->scope) : NULL;
	const struct ip_path *to = b->path;
	struct ip_path path;
	struct rte_mbuf *m;
	uint8_t *h;

	if (to == NULL) {
		if (ip_path_lookup(s, k->family, &k->remote, &k->local, nif, &path) != 0)
			return;
		to = &path;
	}
	m = stack_buf(s);
	if (m == NULL || (h = shim_buf_append(m, (uint16_t)(TCP_HLEN + b->opts_len))) == NULL) {
		tcp_count(s, TCP_EV_NO_BUFFER);
		shim_buf_free(s->shim, m);
		return;
	}
	memcpy(h, &k->lport_be, 2);
	memcpy(h + 2, &k->rport_be, 2);
	put_be32(h + 4, b->seq);
	put_be32(h + 8, (b->flags & TCP_ACK) != 0 ? b->ack : 0);
	h[12] = (uint8_t)((TCP_HLEN + b->opts_len) << 2);
	h[13] = b->flags;
	put_be16(h + 14, b->wnd);
	memset(h + 16, 0, 4);
	if (b->opts_len != 0)
		memcpy(h + TCP_HLEN, b->opts, b->opts_len);
	ip_l4_csum(s, to, IP_PROTO_TCP, TCP_CSUM_OFF, m);
	tcp_count(s, TCP_EV_SEGS_OUT);
	ip_output(s, to, &tx, m);
}

void
tcp_key_of(const struct tcp_seg *g, struct tcp_key *k)
{
	*k = (struct tcp_key){ .local = g->rx->dst, .remote = g->rx->src, .lport_be = g->dport_be, .rport_be = g->sport_be,
		.family = g->rx->family };
	if (k->family == ADDR_INET6 && ip6_link_local(&k->remote))
		k->scope = (uint16_t)g->rx->nif->index;
}

void
tcp_reset_for(struct stack *s, const struct tcp_seg *g)
{
	struct tcp_key k;
	struct tcp_bare b = { .key = &k, .flags = TCP_RST };

	if ((g->flags & TCP_RST) != 0 || (g->rx->flags & (IP_RX_MULTICAST | IP_RX_BROADCAST)) != 0)
		return;
	tcp_key_of(g, &k);
	if ((g->flags & TCP_ACK) != 0) {
		b.seq = g->ack;
	} else {
		b.flags |= TCP_ACK;
		b.ack = g->seq + tcp_seg_space(g);
	}
	tcp_count(s, TCP_EV_CONN_RESET_OUT);
	tcp_send_bare(s, &b);
}

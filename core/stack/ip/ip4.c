/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 input: header checks, whose packet it is, and on to reassembly and the upper layers. */
#include <errno.h>

#include "../priv.h"

int
ip4_classify(const struct stack *s, const struct netif *nif, uint32_t dst_be)
{
	if (ip4_may_own(s->ip4, dst_be) && stack_owns4(s, dst_be))
		return 0;
	if (ip4_loopback(dst_be))
		return s->loop.running ? 0 : -1;
	if (ip4_is_broadcast(nif, dst_be))
		return IP_RX_BROADCAST;
	if (ip4_multicast(dst_be) && (dst_be == IP4_ALL_HOSTS || ip4_mcast_member(s, nif, dst_be)))
		return IP_RX_MULTICAST;
	return -1;
}

/* RFC 1122 3.2.1.3, RFC 1812 5.3.7: addresses that no packet from a wire may have as its source. */
static bool
source_ok(const struct stack *s, const struct netif *nif, uint32_t src)
{
	uint8_t first = src & 0xff;

	if (first == 0 || first >= 224 || ip4_is_broadcast(nif, src))
		return false;
	if (s->loop.running)
		return true;
	return first != 127 && !(ip4_may_own(s->ip4, src) && stack_owns4(s, src));
}

/* Version and header length of a header that is not the usual one; options. */
static bool
check_unusual(struct stack *s, struct netif *nif, struct rte_mbuf **mp)
{
	const struct ip4_hdr *h = shim_buf_data(*mp);
	unsigned int hlen = (h->ver_ihl & 15) * 4;
	int why = 0;

	if (h->ver_ihl >> 4 != 4)
		why = STACK_DROP_IP4_VERSION;
	else if (hlen < IP4_HLEN)
		why = STACK_DROP_IP4_IHL;
	else if (shim_buf_len(*mp) < hlen)
		why = STACK_DROP_IP4_SHORT;
	if (why != 0) {
		stack_drop(s, nif, why, *mp);
		return false;
	}
	*mp = ip_pullup(s, *mp, hlen, false);
	return *mp != NULL;
}

/* Header, length, checksum. On return *mp has the header in one piece and exactly total length bytes. */
static bool
check_header(struct stack *s, struct netif *nif, struct rte_mbuf **mp)
{
	const struct ip4_hdr *h;
	uint64_t hw;
	uint32_t total;
	unsigned int hlen;
	bool ok;

	if (unlikely((*mp)->data_len < IP4_HLEN)) {
		if (shim_buf_len(*mp) < IP4_HLEN) {
			stack_drop(s, nif, STACK_DROP_IP4_SHORT, *mp);
			return false;
		}
		*mp = ip_pullup(s, *mp, IP4_HLEN, false);
		if (*mp == NULL)
			return false;
	}
	h = shim_buf_data(*mp);
	if (unlikely(h->ver_ihl != 0x45)) {
		if (!check_unusual(s, nif, mp))
			return false;
		h = shim_buf_data(*mp);
	}
	hlen = (h->ver_ihl & 15) * 4;
	total = be16(h->total_len);
	if (unlikely(total < hlen || total > shim_buf_len(*mp))) {
		stack_drop(s, nif, STACK_DROP_IP4_TOTAL_LENGTH, *mp);
		return false;
	}
	hw = (*mp)->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	if (hw == RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN)
		ok = ip4_header_csum(h, hlen) == 0;
	else
		ok = hw != RTE_MBUF_F_RX_IP_CKSUM_BAD; /* GOOD, or NONE: wrong in the packet, right on the wire */
	if (unlikely(!ok)) {
		stack_drop(s, nif, STACK_DROP_IP4_CSUM, *mp);
		return false;
	}
	if (total < shim_buf_len(*mp))
		ip_trim(s, *mp, total);
	return true;
}

static void
unknown_proto(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	ip4_send_unreach(s, rx, IP_UNREACH_PROTO, m);
	stack_drop(s, rx->nif, STACK_DROP_IP4_PROTO_UNKNOWN, m);
}

/* A whole datagram for us: fills rx in and hands it up. */
static void
deliver(struct stack *s, struct netif *nif, struct rte_mbuf *m, uint16_t flags)
{
	const struct ip4_hdr *h = shim_buf_data(m);
	struct ip_rx rx;
	uint64_t hw = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
	uint32_t want;

	rx.nif = nif;
	rx.src = ip_addr_v4(h->src);
	rx.dst = ip_addr_v4(h->dst);
	rx.family = ADDR_INET;
	rx.proto = h->proto;
	rx.ttl = h->ttl;
	rx.tos = h->tos;
	rx.flags = flags;
	rx.l4_off = (h->ver_ihl & 15) * 4;
	rx.l4_len = shim_buf_len(m) - rx.l4_off;
	/* What the port said of a fragment says nothing of the whole. */
	if ((flags & IP_RX_REASSEMBLED) == 0 && rx.proto != IPPROTO_ICMP4) {
		if (unlikely(hw == RTE_MBUF_F_RX_L4_CKSUM_BAD)) {
			stack_drop(s, nif, STACK_DROP_L4_CSUM_HW, m);
			return;
		}
		if (hw != RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
			rx.flags |= IP_RX_L4_CSUM_OK;
	}
	want = rx.l4_off + (rx.l4_len < 20 ? rx.l4_len : 20);
	if (unlikely(m->data_len < want)) {
		m = ip_pullup(s, m, want, false);
		if (m == NULL)
			return;
	}
	if (likely(rx.proto == IP_PROTO_UDP))
		udp_input(s, &rx, m);
	else if (rx.proto == IPPROTO_ICMP4)
		icmp4_input(s, &rx, m);
	else if (rx.proto == IP_PROTO_TCP)
		tcp_input(s, &rx, m);
	else
		unknown_proto(s, &rx, m);
}

/* Options, groups, fragments: everything but a plain unicast datagram. */
static void
input_slow(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	const struct ip4_hdr *h = shim_buf_data(m);
	unsigned int hlen = (h->ver_ihl & 15) * 4;
	int flags = ip4_classify(s, nif, h->dst);
	int why = 0;

	if (!source_ok(s, nif, h->src))
		why = STACK_DROP_IP4_MARTIAN;
	else if (ip4_loopback(h->dst) && !s->loop.running)
		why = STACK_DROP_IP4_MARTIAN;
	else if (flags < 0)
		why = STACK_DROP_IP4_NOT_FOR_US;
	else if (hlen > IP4_HLEN)
		why = ip4_options_check((const uint8_t *)h + IP4_HLEN, hlen - IP4_HLEN);
	if (why != 0) {
		stack_drop(s, nif, why, m);
		return;
	}
	if ((be16(h->frag) & (IP4_MF | IP4_OFFMASK)) != 0) {
		m = ip4_reass_input(s, nif, m);
		if (m == NULL)
			return;
		flags |= IP_RX_REASSEMBLED;
	}
	deliver(s, nif, m, (uint16_t)flags);
}

void
ip4_input(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	const struct ip4_hdr *h;
	uint8_t first;

	if (unlikely(!check_header(s, nif, &m)))
		return;
	h = shim_buf_data(m);
	first = h->src & 0xff;
	/* Most packets: a plain header, to our first address, from a source that is neither special nor ours. */
	if (likely(h->ver_ihl == 0x45 && (h->frag & htobe16c(IP4_MF | IP4_OFFMASK)) == 0 &&
		nif->nb_addr4 != 0 && h->dst == nif->addr4[0].addr &&
		(uint8_t)(first - 1) < 223 && first != 127 && !ip4_may_own(s->ip4, h->src) &&
		!ip4_is_broadcast(nif, h->src)))
		deliver(s, nif, m, 0);
	else
		input_slow(s, nif, m);
}

int
ip4_init(struct stack *s)
{
	struct ip4_state *st = shim_malloc(s->shim, sizeof(*st));
	unsigned int i;

	if (st == NULL)
		return -ENOMEM;
	s->ip4 = st;
	/* Each slot starts anywhere, so that a restarted process does not repeat its identifications. */
	for (i = 0; i < IP4_ID_SLOTS; i++)
		st->id[i] = (uint16_t)shim_random(s->shim);
	if (ip4_reass_init(s) != 0) {
		shim_free(s->shim, st);
		s->ip4 = NULL;
		return -ENOMEM;
	}
	return 0;
}

void
ip4_release(struct stack *s)
{
	if (s->ip4 == NULL)
		return;
	ip4_reass_release(s);
	shim_free(s->shim, s->ip4);
	s->ip4 = NULL;
}

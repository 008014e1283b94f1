/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMPv6 (RFC 4443): echo, errors out under their rules, errors in after a look at what they quote.
 */
#include <errno.h>

#include "../priv.h"

#define HLEN 8
#define QUOTE_MAX (IP6_MIN_MTU - IP6_HLEN - HLEN)
#define ND_MESSAGE_MAX 1500 /* of a neighbour discovery or MLD message; longer ones are nobody's */
#define QUOTE_LOOK 640      /* bytes of a quote that are looked at */

/* ---- out ------------------------------------------------------------------------------------- */

/* Fills the checksum of the message in m (data at it) for path. */
static void
fill_csum(const struct ip_path *path, struct rte_mbuf *m)
{
	uint8_t *p = shim_buf_data(m);
	uint32_t len = shim_buf_len(m);
	uint16_t v = 0;

	memcpy(p + 2, &v, sizeof(v));
	v = csum_finish(csum_add_chain(
			csum_pseudo6(path->src.v6, path->dst.v6, IP_PROTO_ICMP6, len), m, 0, len));
	memcpy(p + 2, &v, sizeof(v));
}

int
icmp6_send(struct stack *s, const struct ip_path *path, uint8_t hop, bool router_alert,
		uint8_t *msg, uint32_t n)
{
	struct ip_tx tx = {.proto = IP_PROTO_ICMP6,
			.ttl = hop,
			.df = true,
			.router_alert = router_alert};
	struct rte_mbuf *m = stack_buf(s);
	uint8_t *p;

	if (m == NULL)
		return -ENOBUFS;
	p = shim_buf_append(m, (uint16_t)n);
	if (p == NULL) {
		stack_drop(s, path->nif, STACK_DROP_NO_BUFFER, m);
		return -ENOBUFS;
	}
	memcpy(p, msg, n);
	fill_csum(path, m);
	return ip6_output(s, path, &tx, m);
}

/* Does RFC 4443 2.4 (e) allow an error about m? */
static bool
may_answer(const struct ip_rx *rx, uint8_t type, uint8_t code, const struct rte_mbuf *m,
		bool later_fragment)
{
	uint8_t copy[QUOTE_LOOK], proto;
	uint32_t n = shim_buf_len(m) < QUOTE_LOOK ? shim_buf_len(m) : QUOTE_LOOK, off, frag_off;
	const uint8_t *b = shim_buf_read(m, 0, n, copy);
	bool whole;

	if (ip_addr_any(&rx->src) || ip6_multicast(&rx->src))
		return false;
	if (((rx->flags & IP_RX_MULTICAST) != 0 || (m->ol_flags & ETH_RX_GROUP) != 0) &&
			type != ICMP6_TOO_BIG && !(type == ICMP6_PARAM && code == 2))
		return false;
	whole = ip6_find_l4(b, n, &proto, &off, &frag_off);
	if (frag_off != 0 && !later_fragment)
		return false;
	if (whole && proto == IP_PROTO_ICMP6 && off < n)
		return b[off] >= 128 && b[off] != ICMP6_REDIRECT;
	return true; /* errors fit 1280 bytes and come in no fragments: a later one is no error's */
}

bool
icmp6_error(struct stack *s, const struct ip_rx *rx, uint8_t type, uint8_t code, uint32_t arg,
	const struct rte_mbuf *m, bool later_fragment)
{
	struct ip_tx tx = { .proto = IP_PROTO_ICMP6, .df = true };
	bool group = (rx->flags & IP_RX_MULTICAST) != 0;
	struct ip_path path;
	struct rte_mbuf *e;
	uint8_t *p;

	if (!may_answer(rx, type, code, m, later_fragment))
		return false;
	if (stack_shed(s)) {
		stack_count(s, STACK_DROP_BACKPRESSURE);
		return false;
	}
	if (!ip_limit_take(&s->ip6->limit, s->now_ns, shim_random(s->shim))) {
		stack_count(s, STACK_DROP_ICMP6_LIMIT);
		return false;
	}
	if (ip6_path(s, &rx->src, group ? NULL : &rx->dst,
			    ip6_link_local(&rx->src) ? rx->nif : NULL, &path) != 0)
		return false;
	e = stack_copy(s, m, 0,
			shim_buf_len(m) < QUOTE_MAX ? shim_buf_len(m) : QUOTE_MAX);
	if (e == NULL) {
		stack_count(s, STACK_DROP_NO_BUFFER);
		return false;
	}
	ip_clear_offloads(e);
	e = ip_prepend(s, e, HLEN);
	if (e == NULL)
		return false;
	p = shim_buf_data(e);
	p[0] = type;
	p[1] = code;
	put_be32(p + 4, arg);
	fill_csum(&path, e);
	return ip6_output(s, &path, &tx, e) == 0;
}

void
ip6_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what,
		const struct rte_mbuf *m)
{
	switch (what) {
	case IP_UNREACH_PORT:
		icmp6_error(s, rx, ICMP6_UNREACH, 4, 0, m, false);
		break;
	case IP_UNREACH_ADMIN:
		icmp6_error(s, rx, ICMP6_UNREACH, 1, 0, m, false);
		break;
	case IP_UNREACH_HOST:
		icmp6_error(s, rx, ICMP6_UNREACH, 3, 0, m, false);
		break;
	case IP_UNREACH_PROTO:
		icmp6_error(s, rx, ICMP6_PARAM, 1, offsetof(struct ipv6_hdr, next), m, false);
		break;
	}
}

/* ---- errors in ------------------------------------------------------------------------------- */

/* What an error means to a socket (RFC 4443 2.2, 3). */
static void
meaning(struct ip_error *e)
{
	e->err = EHOSTUNREACH;
	switch (e->type) {
	case ICMP6_UNREACH:
		if (e->code == 0)
			e->err = ENETUNREACH;
		else if (e->code == 1 || e->code == 5 || e->code == 6)
			e->err = EACCES;
		else if (e->code == 4)
			e->err = ECONNREFUSED;
		e->hard = e->code == 1 || e->code == 4;
		break;
	case ICMP6_TOO_BIG:
		e->err = EMSGSIZE;
		break;
	case ICMP6_PARAM:
		e->err = EPROTO;
		e->hard = e->code == 1;
		break;
	}
}

/* Hands an error about our packet q (n bytes, IPv6 header first, perhaps cut short) to its upper
 * layer. false: not ours. */
static bool
report(struct stack *s, struct ip_error *e, const uint8_t *q, uint32_t n)
{
	uint32_t off, frag_off;

	if (!ip6_find_l4(q, n, &e->proto, &off, &frag_off) || off + 8 > n)
		return false;
	e->l4 = q + off;
	e->l4_len = (uint16_t)(n - off);
	if (e->proto == IP_PROTO_UDP)
		udp_error(s, e);
	else if (e->proto == IP_PROTO_TCP)
		tcp_error(s, e);
	return true;
}

static bool
quote_ours(struct stack *s, const struct ip_rx *rx, const uint8_t *q, uint32_t n,
		struct ip_error *e)
{
	const struct ipv6_hdr *h = (const struct ipv6_hdr *)q;
	const struct netif_addr6 *a;

	if (n < IP6_HLEN || be32(h->vtf_be) >> 28 != 6)
		return false;
	e->src = h->src;
	e->dst = h->dst;
	a = netif_find6(rx->nif, &e->src);
	if (a != NULL ? !ip6_addr_usable(a) : ip6_link_local(&e->src) || !stack_owns6(s, &e->src))
		return false;
	/* the error came to the address the packet went out with */
	return ip_addr_eq(&e->src, &rx->dst);
}

static uint8_t
quoted_proto(const uint8_t *q, uint32_t n)
{
	uint32_t off, frag_off;
	uint8_t proto;

	return ip6_find_l4(q, n, &proto, &off, &frag_off) ? proto : 0;
}

/* An error message, m at the IPv6 header. false: dropped for *why. */
static bool
error_in(struct stack *s, const struct ip_rx *rx, const struct rte_mbuf *m, enum stack_drop *why)
{
	uint8_t copy[HLEN + QUOTE_LOOK];
	uint32_t n = rx->l4_len < sizeof(copy) ? rx->l4_len : (uint32_t)sizeof(copy), mtu;
	const uint8_t *p = shim_buf_read(m, rx->l4_off, n, copy);
	struct ip_error e = { .nif = rx->nif, .family = ADDR_INET6, .type = p[0], .code = p[1] };

	*why = STACK_DROP_ICMP6_QUOTE;
	if (!quote_ours(s, rx, p + HLEN, n - HLEN, &e))
		return false;
	meaning(&e);
	if (e.type == ICMP6_TOO_BIG) {
		mtu = get_be32(p + 4);
		/*
		 * refused below 1280 and when it is no news (RFC 8201 4): then nobody hears of it
		 */
		if (mtu < IP6_MIN_MTU || mtu > UINT16_MAX)
			return false;
		e.mtu = (uint16_t)mtu;
		/* TCP looks at the sequence number first (RFC 5927 7.2) */
		if (quoted_proto(p + HLEN, n - HLEN) != IP_PROTO_TCP && !pmtu_learn(s, ADDR_INET6, &e.dst, e.mtu))
			return false;
		report(s, &e, p + HLEN, n - HLEN);
		return true;
	}
	return report(s, &e, p + HLEN, n - HLEN);
}

void
ip6_unreachable_neigh(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	uint8_t copy[QUOTE_LOOK];
	uint32_t n = shim_buf_len(m) < QUOTE_LOOK ? shim_buf_len(m) : QUOTE_LOOK;
	const uint8_t *p = shim_buf_read(m, 0, n, copy);
	struct ip_error e = { .nif = nif, .family = ADDR_INET6, .type = ICMP6_UNREACH, .code = 3 };

	if (n >= IP6_HLEN) {
		e.src = ((const struct ipv6_hdr *)p)->src;
		e.dst = ((const struct ipv6_hdr *)p)->dst;
		meaning(&e);
		e.hard = true; /* not a router's passing opinion: we asked ourselves */
		report(s, &e, p, n);
	}
	stack_drop(s, nif, STACK_DROP_NEIGH_UNREACHABLE, m);
}

/* ---- in -------------------------------------------------------------------------------------- */

/* The answer goes back in the request's buffer. Takes m. */
static void
echo(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	struct ip_tx tx = { .proto = IP_PROTO_ICMP6, .tos = rx->tos };
	bool group = (rx->flags & IP_RX_MULTICAST) != 0;
	struct ip_path path;
	uint8_t *p;

	if (stack_shed(s)) {
		stack_drop(s, rx->nif, STACK_DROP_BACKPRESSURE, m);
		return;
	}
	if (ip_addr_any(&rx->src) || ip6_path(s, &rx->src, group ? NULL : &rx->dst,
	    ip6_link_local(&rx->src) ? rx->nif : NULL, &path) != 0) {
		stack_drop(s, rx->nif, STACK_DROP_IP6_NO_ROUTE, m);
		return;
	}
	ip_cut_head(m, rx->l4_off);
	m = ip_pullup(s, m, HLEN, true);
	if (m == NULL)
		return;
	ip_clear_offloads(m);
	p = shim_buf_data(m);
	p[0] = ICMP6_ECHO_REPLY;
	p[1] = 0;
	fill_csum(&path, m);
	ip6_output(s, &path, &tx, m);
}

/* Messages of one link: neighbour discovery and MLD. false: dropped for *why. */
static bool
link_message(struct stack *s, const struct ip_rx *rx, const struct rte_mbuf *m,
		enum stack_drop *why)
{
	uint8_t copy[ND_MESSAGE_MAX];
	const uint8_t *p;

	*why = STACK_DROP_ND_MALFORMED;
	if (rx->l4_len > ND_MESSAGE_MAX)
		return false;
	p = shim_buf_read(m, rx->l4_off, rx->l4_len, copy);
	if (p[0] == ICMP6_MLD_QUERY)
		return mld_query(s, rx, p, rx->l4_len, why);
	return nd_input(s, rx, p, rx->l4_len, why);
}

static bool
csum_ok(const struct ip_rx *rx, const struct rte_mbuf *m)
{
	uint64_t sum = csum_pseudo6(rx->src.v6, rx->dst.v6, IP_PROTO_ICMP6, rx->l4_len);

	return csum_finish(csum_add_chain(sum, m, rx->l4_off, rx->l4_len)) == 0;
}

void
icmp6_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	enum stack_drop why = STACK_DROP_ICMP6_TYPE;
	bool taken = false;

	if (rx->l4_len < HLEN) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP6_SHORT, m);
		return;
	}
	if (!csum_ok(rx, m)) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP6_CSUM, m);
		return;
	}
	switch (*shim_buf_data_off(m, const uint8_t *, rx->l4_off)) {
	case ICMP6_ECHO:
		echo(s, rx, m);
		return;
	case ICMP6_UNREACH:
	case ICMP6_TOO_BIG:
	case ICMP6_TIME:
	case ICMP6_PARAM:
		taken = error_in(s, rx, m, &why);
		break;
	case ICMP6_MLD_QUERY:
	case ICMP6_RA:
	case ICMP6_NS:
	case ICMP6_NA:
	case ICMP6_REDIRECT:
		taken = link_message(s, rx, m, &why);
		break;
	}
	if (taken)
		shim_buf_free(s->shim, m);
	else
		stack_drop(s, rx->nif, why, m);
}

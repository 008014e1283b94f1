/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP (RFC 792, RFC 1122 3.2.2): echo, errors sent, errors received. */
#include <errno.h>

#include "../priv.h"

#define ICMP4_ECHO_CSUM_DELTA 0x0008 /* type 8 becomes 0: as the bytes stand in memory */
#define QUOTE_L4_MAX 20
#define UNREACH_FRAG_NEEDED 4

struct icmp4_hdr {
	uint8_t type, code;
	uint16_t csum;
	uint16_t rest[2]; /* echo: id, sequence; fragmentation needed: unused, next-hop MTU */
} __attribute__((packed));

/* What a destination unreachable code means to a socket; the same as Linux says. */
static const struct {
	uint8_t err, hard;
} unreach_errno[] = {
	{ ENETUNREACH, 0 },  /* network */
	{ EHOSTUNREACH, 0 }, /* host */
	{ ENOPROTOOPT, 1 },  /* protocol */
	{ ECONNREFUSED, 1 }, /* port */
	{ EMSGSIZE, 0 },     /* fragmentation needed */
	{ EOPNOTSUPP, 0 },   /* source route failed */
	{ ENETUNREACH, 1 },  /* network unknown */
	{ EHOSTDOWN, 1 },    /* host unknown */
	{ ENONET, 1 },       /* source host isolated */
	{ ENETUNREACH, 1 },  /* network prohibited */
	{ EHOSTUNREACH, 1 }, /* host prohibited */
	{ ENETUNREACH, 0 },  /* network, for this type of service */
	{ EHOSTUNREACH, 0 }, /* host, for this type of service */
	{ EHOSTUNREACH, 1 }, /* administratively prohibited */
	{ EHOSTUNREACH, 1 }, /* precedence violation */
	{ EHOSTUNREACH, 1 }, /* precedence cut-off */
};

static bool
is_error_type(uint8_t type)
{
	switch (type) {
	case ICMP4_ECHO_REPLY:
	case ICMP4_ECHO:
	case 9:  /* router advertisement */
	case 10: /* router solicitation */
	case 13: /* timestamp, timestamp reply */
	case 14:
	case 15: /* information, and its reply */
	case 16:
	case 17: /* address mask, and its reply */
	case 18:
		return false;
	default:
		return true; /* unknown ones might be */
	}
}

/*
 * RFC 1122 3.2.2: never about an error, to a group (by address or by frame), about a later fragment,
 * or to no single host.
 */
static bool
error_allowed(struct stack *s, struct netif *nif, const struct rte_mbuf *m)
{
	const struct ip4_hdr *h = shim_buf_data(m);
	unsigned int hlen = (h->ver_ihl & 15) * 4;
	uint8_t first = h->src & 0xff, buf;
	const uint8_t *type;

	if ((m->ol_flags & ETH_RX_GROUP) != 0 || ip4_classify(s, nif, h->dst) != 0 || (be16(h->frag) & IP4_OFFMASK) != 0)
		return false;
	if (first == 0 || first >= 224 || ip4_is_broadcast(nif, h->src))
		return false;
	if (h->proto != IPPROTO_ICMP4)
		return true;
	type = shim_buf_read(m, hlen, 1, &buf);
	return type != NULL && !is_error_type(*type);
}

/* Copies len bytes from the front of m to dst. */
static void
quote(const struct rte_mbuf *m, uint8_t *dst, uint32_t len)
{
	const void *p = shim_buf_read(m, 0, len, dst);

	if (p != dst)
		memcpy(dst, p, len);
}

void
icmp4_send_error(struct stack *s, struct netif *nif, const struct rte_mbuf *m, uint8_t type, uint8_t code)
{
	const struct ip4_hdr *h = shim_buf_data(m);
	const struct ip_tx tx = { .proto = IPPROTO_ICMP4 };
	union ip_addr src = ip_addr_v4(h->dst), dst = ip_addr_v4(h->src);
	uint32_t len = shim_buf_len(m);
	struct ip_path path;
	struct icmp4_hdr *icmp;
	struct rte_mbuf *e;

	if (!error_allowed(s, nif, m))
		return;
	if (stack_shed(s)) {
		stack_count(s, STACK_DROP_BACKPRESSURE);
		return;
	}
	if (!ip_limit_take(&s->ip4->limit, s->now_ns, shim_random(s->shim))) {
		stack_count(s, STACK_DROP_ICMP4_LIMIT);
		return;
	}
	if (ip4_path(s, &dst, &src, NULL, &path) != 0)
		return;
	if (len > ICMP4_ERROR_MAX - IP4_HLEN - ICMP4_HLEN)
		len = ICMP4_ERROR_MAX - IP4_HLEN - ICMP4_HLEN;
	e = stack_buf(s);
	if (e == NULL)
		return;
	icmp = shim_buf_append(e, (uint16_t)(ICMP4_HLEN + len));
	if (icmp == NULL) {
		stack_drop(s, nif, STACK_DROP_NO_BUFFER, e);
		return;
	}
	memset(icmp, 0, sizeof(*icmp));
	icmp->type = type;
	icmp->code = code;
	quote(m, (uint8_t *)(icmp + 1), len);
	icmp->csum = csum_finish(csum_add(0, icmp, ICMP4_HLEN + len));
	ip4_output(s, &path, &tx, e);
}

void
ip4_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what, const struct rte_mbuf *m)
{
	static const uint8_t code[] = { [IP_UNREACH_PORT] = 3, [IP_UNREACH_HOST] = 1, [IP_UNREACH_PROTO] = 2,
		[IP_UNREACH_ADMIN] = 13 };

	if ((rx->flags & (IP_RX_MULTICAST | IP_RX_BROADCAST)) == 0)
		icmp4_send_error(s, rx->nif, m, ICMP4_UNREACH, code[what]);
}

/* The request becomes the reply: its own buffers, another header. Options are not sent back. */
static void
echo(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	const struct ip_tx tx = { .proto = IPPROTO_ICMP4, .tos = rx->tos };
	struct icmp4_hdr *icmp;
	struct ip_path path;

	if ((rx->flags & (IP_RX_MULTICAST | IP_RX_BROADCAST)) != 0) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP4_BROADCAST, m);
		return;
	}
	if (stack_shed(s)) {
		stack_drop(s, rx->nif, STACK_DROP_BACKPRESSURE, m);
		return;
	}
	if (ip4_path(s, &rx->src, &rx->dst, NULL, &path) != 0) {
		stack_drop(s, rx->nif, STACK_DROP_IP4_NO_ROUTE, m);
		return;
	}
	m = ip_strip(s, m, rx->l4_off);
	m = ip_pullup(s, m, ICMP4_HLEN, true);
	if (m == NULL)
		return;
	ip_clear_offloads(m);
	icmp = shim_buf_data(m);
	icmp->type = ICMP4_ECHO_REPLY;
	icmp->csum = csum_finish((uint64_t)(uint16_t)~icmp->csum + (uint16_t)~ICMP4_ECHO_CSUM_DELTA);
	ip4_output(s, &path, &tx, m);
}

/* RFC 1191 7: the next common MTU below the size of the packet that did not fit. */
static uint16_t
plateau_below(uint16_t len)
{
	static const uint16_t plateau[] = { 32000, 17914, 8166, 4352, 2002, 1492, 1006, 576, 508, 296, 68 };
	unsigned int i;

	for (i = 0; i < sizeof(plateau) / sizeof(plateau[0]); i++) {
		if (plateau[i] < len)
			return plateau[i];
	}
	return 68;
}

static void
classify_error(const struct icmp4_hdr *icmp, struct ip_error *e)
{
	e->type = icmp->type;
	e->code = icmp->code;
	if (icmp->type == ICMP4_UNREACH) {
		e->err = unreach_errno[icmp->code].err;
		e->hard = unreach_errno[icmp->code].hard;
	} else if (icmp->type == ICMP4_PARAM) {
		e->err = EPROTO;
		e->hard = true;
	} else {
		e->err = EHOSTUNREACH;
	}
}

/* Does the error's quote look like something we sent? Fills in e. p: n contiguous bytes of the ICMP message. */
static bool
check_quote(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n, struct ip_error *e)
{
	const struct ip4_hdr *q = (const struct ip4_hdr *)(p + ICMP4_HLEN);
	uint32_t qhlen;

	if (n < ICMP4_HLEN + IP4_HLEN)
		return false;
	qhlen = (q->ver_ihl & 15) * 4u;
	if (q->ver_ihl >> 4 != 4 || qhlen < IP4_HLEN || n < ICMP4_HLEN + qhlen + 8)
		return false;
	/* Sent by us, so the error came to the address it was sent from; only first fragments tell ports. */
	if (q->src != rx->dst.v4 || !stack_owns4(s, q->src) || (be16(q->frag) & IP4_OFFMASK) != 0)
		return false;
	if (q->proto != IP_PROTO_UDP && q->proto != IP_PROTO_TCP)
		return false;
	e->src = ip_addr_v4(q->src);
	e->dst = ip_addr_v4(q->dst);
	e->nif = rx->nif;
	e->family = ADDR_INET;
	e->proto = q->proto;
	e->l4 = (const uint8_t *)q + qhlen;
	e->l4_len = (uint16_t)(n - ICMP4_HLEN - qhlen);
	return true;
}

/* Fragmentation needed (RFC 1191): false when it changes nothing, and then it is not news to anybody. */
static bool
learn_mtu(struct stack *s, const struct icmp4_hdr *icmp, struct ip_error *e)
{
	const struct ip4_hdr *q = (const struct ip4_hdr *)(icmp + 1);
	uint16_t sent = be16(q->total_len), mtu = be16(icmp->rest[1]);

	if (mtu == 0)
		mtu = plateau_below(sent);
	else if (mtu >= sent)
		return false; /* it would have fitted */
	e->mtu = mtu;
	/* TCP looks at the sequence number first (RFC 5927 7.2). */
	if (e->proto != IP_PROTO_TCP && !pmtu_learn(s, ADDR_INET, &e->dst, mtu))
		return false;
	return true;
}

static void
error_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	uint32_t n = rx->l4_len, most = ICMP4_HLEN + 60 + QUOTE_L4_MAX;
	const struct icmp4_hdr *icmp;
	struct ip_error e;
	bool ok;

	if (n > most)
		n = most;
	m = ip_pullup(s, m, rx->l4_off + n, false);
	if (m == NULL)
		return;
	icmp = shim_buf_data_off(m, const struct icmp4_hdr *, rx->l4_off);
	if (icmp->type == ICMP4_UNREACH && icmp->code >= sizeof(unreach_errno) / sizeof(unreach_errno[0])) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP4_TYPE, m);
		return;
	}
	memset(&e, 0, sizeof(e));
	ok = check_quote(s, rx, (const uint8_t *)icmp, n, &e);
	if (ok)
		classify_error(icmp, &e);
	if (ok && e.err == EMSGSIZE)
		ok = learn_mtu(s, icmp, &e);
	if (!ok) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP4_QUOTE, m);
		return;
	}
	if (e.proto == IP_PROTO_UDP)
		udp_error(s, &e);
	else
		tcp_error(s, &e);
	shim_buf_free(s->shim, m);
}

void
icmp4_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	uint8_t type;

	if (rx->l4_len < ICMP4_HLEN) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP4_SHORT, m);
		return;
	}
	if (csum_finish(csum_add_chain(0, m, rx->l4_off, rx->l4_len)) != 0) {
		stack_drop(s, rx->nif, STACK_DROP_ICMP4_CSUM, m);
		return;
	}
	type = *shim_buf_data_off(m, const uint8_t *, rx->l4_off);
	switch (type) {
	case ICMP4_ECHO:
		echo(s, rx, m);
		break;
	case ICMP4_UNREACH:
	case ICMP4_TIME_EXCEEDED:
	case ICMP4_PARAM:
		error_input(s, rx, m);
		break;
	default:
		/* Source quench (RFC 6633), redirects, router discovery, timestamps, masks, replies nobody waits for. */
		stack_drop(s, rx->nif, STACK_DROP_ICMP4_TYPE, m);
		break;
	}
}

/* A packet of ours that waited in vain for its neighbour: the socket that sent it is told. */
void
ip4_unreachable_neigh(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	uint8_t buf[IP4_HLEN + 8];
	const struct ip4_hdr *h = shim_buf_read(m, 0, sizeof(buf), buf);
	struct ip_error e;

	if (h != NULL && h->ver_ihl == 0x45 && (h->proto == IP_PROTO_UDP || h->proto == IP_PROTO_TCP) &&
	    (be16(h->frag) & IP4_OFFMASK) == 0) {
		memset(&e, 0, sizeof(e));
		e.src = ip_addr_v4(h->src);
		e.dst = ip_addr_v4(h->dst);
		e.nif = nif;
		e.family = ADDR_INET;
		e.proto = h->proto;
		e.type = ICMP4_UNREACH;
		e.code = 1;
		e.err = EHOSTUNREACH;
		e.l4 = (const uint8_t *)(h + 1);
		e.l4_len = 8;
		e.hard = h->proto == IP_PROTO_TCP; /* not a router's passing opinion: we asked ourselves */
		if (h->proto == IP_PROTO_UDP)
			udp_error(s, &e);
		else
			tcp_error(s, &e);
	}
	stack_drop(s, nif, STACK_DROP_NEIGH_UNREACHABLE, m);
}

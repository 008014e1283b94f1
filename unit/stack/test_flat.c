/* SPDX-License-Identifier: BSD-3-Clause */
/* The short ways of plain datagrams against the layers' own: the same bytes, facts and counts; and who takes what. */
#include "core/stack/flat/flat.h"
#include "sock_world.h"

/* How often something was handed to the layers. */
static unsigned int to_layers_in, to_layers_out;

void __real_eth_input_any(struct stack *s, struct netif *nif, struct rte_mbuf *m);
void __wrap_eth_input_any(struct stack *s, struct netif *nif, struct rte_mbuf *m);
int __real_socket_output_any(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos,
	struct rte_mbuf *m);
int __wrap_socket_output_any(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos,
	struct rte_mbuf *m);

void
__wrap_eth_input_any(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	to_layers_in++;
	__real_eth_input_any(s, nif, m);
}

int
__wrap_socket_output_any(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos,
	struct rte_mbuf *m)
{
	to_layers_out++;
	return __real_socket_output_any(s, so, dst, tos, m);
}

/* What the hook of flows was told last, and how often. */
struct flow_said {
	int family;
	union ip_addr remote, local;
	uint16_t rport_be, lport_be;
	unsigned int calls;
};

static void
flow(void *ctx, int family, const union ip_addr *remote, uint16_t rport_be, const union ip_addr *local, uint16_t lport_be)
{
	struct flow_said *said = ctx;

	said->family = family;
	said->remote = *remote;
	said->local = *local;
	said->rport_be = rport_be;
	said->lport_be = lport_be;
	said->calls++;
}

static void
listen_to_flows(struct fx *f, struct flow_said *said)
{
	f->s->cfg.udp_flow = flow;
	f->s->cfg.udp_flow_ctx = said;
}

static void
same_flow(const struct flow_said *a, const struct flow_said *b)
{
	assert_int_equal(a->calls, 1);
	assert_int_equal(b->calls, 1);
	assert_int_equal(a->family, b->family);
	assert_true(ip_addr_eq(&a->remote, &b->remote) && ip_addr_eq(&a->local, &b->local));
	assert_int_equal(a->rport_be, b->rport_be);
	assert_int_equal(a->lport_be, b->lport_be);
}

static const unsigned int sizes[] = { 0, 1, 2, 7, 8, 18, 64, 247, 248, 249, 300, 1452 };
#define NB_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void
fill(uint8_t *b, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		b[i] = (uint8_t)(i * 167 + n);
}

/* Sends n bytes; shared: somebody else has them too, so that the layers make a new buffer. Reads the frame. */
static void
send_one(struct fx *f, int fd, const struct sock_addr *dst, unsigned int n, bool shared, struct fx_pkt *p)
{
	unsigned int before = to_layers_out;
	uint64_t packets = f->nif->stats.tx_packets, bytes = f->nif->stats.tx_bytes;
	uint8_t b[1500];
	struct rte_mbuf *m;

	fill(b, n);
	m = fx_buf(f, b, n, 0);
	m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH; /* as of a received one that is sent back */
	m->vlan_tci = 7;
	if (shared)
		shim_buf_ref(f->shim, m, 1);
	assert_int_equal(sock_send_chain(f->s, fd, m, dst), 0);
	assert_int_equal(to_layers_out - before, shared);
	fx_expect(f, dst == NULL || dst->family == ADDR_INET6 ? ETHERTYPE_IP6 : ETHERTYPE_IP4, p);
	assert_int_equal(f->nif->stats.tx_packets - packets, 1);
	assert_int_equal(f->nif->stats.tx_bytes - bytes, p->n);
	assert_int_equal(p->vlan_tci, 0);
	if (shared)
		shim_buf_free(f->shim, m);
}

static void
compare_sent(struct fx *f, int fd, const struct sock_addr *dst)
{
	static struct fx_pkt flat, layers;

	for (unsigned int i = 0; i < NB_SIZES; i++) {
		struct flow_said one = { 0 }, two = { 0 };

		listen_to_flows(f, &one);
		send_one(f, fd, dst, sizes[i], true, &layers); /* first: it fills the cache of paths */
		listen_to_flows(f, &two);
		send_one(f, fd, dst, sizes[i], false, &flat);
		same_flow(&one, &two);
		assert_true(ip_addr_eq(&two.remote, &flat.dst) && ip_addr_eq(&two.local, &flat.src));
		assert_memory_equal(flat.l4, &two.lport_be, 2);
		assert_memory_equal(flat.l4 + 2, &two.rport_be, 2);
		assert_int_equal(flat.n, layers.n);
		assert_memory_equal(flat.b, layers.b, flat.n);
		assert_int_equal(flat.ol_flags, layers.ol_flags);
	}
}

/* STK-2, STK-4, PUB-2 */
static void
sent_frames_are_the_layers_own(void **state)
{
	struct fx *f = *state;
	struct sock_addr to4 = { .addr = fx_a4("10.0.0.2"), .port_be = htons(9), .family = ADDR_INET };
	struct sock_addr to6 = { .addr = fx_a6("2001:db8::2"), .port_be = htons(9), .family = ADDR_INET6 };
	int fd4 = sock(f, AF_INET), fd6 = sock(f, AF_INET6), conn = sock(f, AF_INET6), v;

	fx_know_peer(f);
	assert_int_equal(bind4(f, fd4, "0.0.0.0", 77), 0);
	assert_int_equal(bind6(f, fd6, "2001:db8::1", 78), 0);
	assert_int_equal(connect6(f, conn, "2001:db8::2", 79), 0);
	compare_sent(f, fd4, &to4);
	compare_sent(f, fd6, &to6);
	compare_sent(f, conn, NULL);
	v = 33;
	assert_int_equal(sock_setsockopt(f->s, fd4, IPPROTO_IP, IP_TTL, &v, sizeof(v)), 0);
	assert_int_equal(sock_setsockopt(f->s, fd6, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &v, sizeof(v)), 0);
	v = 0xb8;
	assert_int_equal(sock_setsockopt(f->s, fd4, IPPROTO_IP, IP_TOS, &v, sizeof(v)), 0);
	assert_int_equal(sock_setsockopt(f->s, fd6, IPPROTO_IPV6, IPV6_TCLASS, &v, sizeof(v)), 0);
	compare_sent(f, fd4, &to4);
	compare_sent(f, fd6, &to6);
}

/* A payload whose sum is 0 must not be sent as "no checksum" (RFC 768): both ways say 0xffff. */
/* STK-4 */
static void
checksum_zero_is_sent_as_all_ones(void **state)
{
	struct fx *f = *state;
	struct sock_addr to = { .addr = fx_a4("10.0.0.2"), .port_be = htons(9), .family = ADDR_INET };
	int fd = sock(f, AF_INET);
	static struct fx_pkt p;
	uint16_t field;
	uint8_t b[2] = { 0, 0 };

	fx_know_peer(f);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 77), 0);
	for (int round = 0; round < 3; round++) { /* layers (no path yet), flat, and flat with the field as payload */
		assert_int_equal(sock_send_chain(f->s, fd, fx_buf(f, b, 2, 0), &to), 0);
		fx_expect(f, ETHERTYPE_IP4, &p);
		memcpy(&field, p.l4 + 6, 2);
		if (round == 1)
			memcpy(b, &field, 2);
	}
	assert_int_equal(field, 0xffff);
}

static void
expect_refused(struct fx *f, int fd, const struct sock_addr *to, int err)
{
	unsigned int before = to_layers_out;
	uint8_t b[10];

	fill(b, sizeof(b));
	assert_int_equal(sock_send_chain(f->s, fd, fx_buf(f, b, sizeof(b), 0), to), err);
	assert_int_equal(to_layers_out - before, 1);
	fx_tx_clear(f);
}

/* STK-2 */
static void
what_is_not_plain_goes_out_by_the_layers(void **state)
{
	struct fx *f = *state;
	struct sock_addr to = { .addr = fx_a4("10.0.0.2"), .port_be = htons(9), .family = ADDR_INET };
	struct sock_addr ll = { .addr = fx_a6("fe80::2"), .port_be = htons(9), .family = ADDR_INET6, .ifindex = 1 };
	int fd = sock(f, AF_INET), fd6 = sock(f, AF_INET6), v = IP_PMTUDISC_DONT;
	static struct fx_pkt p;
	uint8_t b[1473];
	struct rte_mbuf *m;
	void *room;

	fx_know_peer(f);
	expect_refused(f, fd, NULL, -EDESTADDRREQ);
	expect_refused(f, fd, &to, 0); /* not bound: takes a port */
	send_one(f, fd, &to, 10, false, &p);
	to.port_be = 0;
	expect_refused(f, fd, &to, -EINVAL);
	to.port_be = htons(9);
	expect_refused(f, fd6, &to, 0); /* dual stack */
	expect_refused(f, fd6, &ll, 0);
	expect_refused(f, fd6, &ll, 0);
	/* over the MTU: fragments */
	fill(b, sizeof(b));
	assert_int_equal(sock_send_chain(f->s, fd, fx_buf(f, b, sizeof(b), 0), &to), 0);
	assert_int_equal(fx_tx_count(f), 2);
	fx_tx_clear(f);
	/* no room in front */
	m = fx_buf(f, b, 10, 0);
	room = shim_buf_prepend(m, 100);
	assert_non_null(room);
	memset(room, 7, 100);
	assert_int_equal(sock_send_chain(f->s, fd, m, &to), 0);
	fx_expect(f, ETHERTYPE_IP4, &p);
	assert_int_equal(p.l4_len, 8 + 110);
	/* an identification */
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MTU_DISCOVER, &v, sizeof(v)), 0);
	expect_refused(f, fd, &to, 0);
	v = IP_PMTUDISC_WANT;
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MTU_DISCOVER, &v, sizeof(v)), 0);
	send_one(f, fd, &to, 10, false, &p);
	/* routes changed: the path is looked up again, once */
	route_touch(f->s);
	expect_refused(f, fd, &to, 0);
	send_one(f, fd, &to, 10, false, &p);
}

/* The layers start the timer of a neighbour that was not heard of for long (RFC 4861 7.3.3). */
/* STK-2 */
static void
stale_neighbour_is_the_layers_business(void **state)
{
	struct fx *f = *state;
	struct sock_addr to = { .addr = fx_a4("10.0.0.2"), .port_be = htons(9), .family = ADDR_INET };
	union ip_addr peer = fx_a4("10.0.0.2");
	static struct fx_pkt p;
	int fd = sock(f, AF_INET);
	struct neigh *n;

	assert_int_equal(bind4(f, fd, "0.0.0.0", 77), 0);
	expect_refused(f, fd, &to, 0);
	expect_refused(f, fd, &to, 0); /* INCOMPLETE: it waits */
	n = neigh_lookup(f->s, f->nif, ADDR_INET, &peer);
	assert_non_null(n);
	neigh_update(f->s, n, (const uint8_t *)FX_PEER_MAC, true, true);
	fx_tx_clear(f);
	send_one(f, fd, &to, 10, false, &p);
	assert_memory_equal(p.dst_mac, FX_PEER_MAC, 6);
	neigh_update(f->s, n, (const uint8_t *)"\x02\x00\x00\x00\x00\x09", false, true);
	assert_int_equal(n->state, NEIGH_STALE);
	expect_refused(f, fd, &to, 0);
	assert_int_equal(n->state, NEIGH_DELAY);
	send_one(f, fd, &to, 10, false, &p);
	assert_memory_equal(p.dst_mac, "\x02\x00\x00\x00\x00\x09", 6);
}

/* A frame with a datagram of n bytes for port 77; pad bytes of the link behind it. */
static uint32_t
put_frame(uint8_t *b, int family, unsigned int n, unsigned int pad)
{
	union ip_addr src = family == ADDR_INET ? fx_a4("10.0.0.2") : fx_a6("2001:db8::2");
	union ip_addr dst = family == ADDR_INET ? fx_a4("10.0.0.1") : fx_a6("2001:db8::1");
	struct fx_ip4 h4 = { .proto = IP_PROTO_UDP, .ttl = 9, .tos = 0x1c };
	struct fx_ip6 h6 = { .next = IP_PROTO_UDP, .hop = 9, .tc = 0x1c };
	uint8_t data[1500];
	uint32_t at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, family == ADDR_INET ? ETHERTYPE_IP4 : ETHERTYPE_IP6);

	fill(data, n);
	at += family == ADDR_INET ? fx_put_ip4(b + at, &h4, n + 8) : fx_put_ip6(b + at, &h6, n + 8);
	at += fx_put_udp(b + at, family, &src, &dst, 1234, 77, data, n);
	memset(b + at, 0xaa, pad);
	return at + pad;
}

/* Takes the one datagram of n bytes that fd has: its facts in *d. */
static void
take(struct fx *f, int fd, unsigned int n, struct dgram *d)
{
	uint8_t want[1500], got[1500];
	struct sock_addr from;
	struct rte_mbuf *m;

	assert_int_equal(sock_recv_chain(f->s, fd, &m, &from), 0);
	assert_int_equal(shim_buf_len(m), n);
	fill(want, n);
	if (n != 0)
		assert_memory_equal(shim_buf_read(m, 0, n, got), want, n);
	memcpy(d, dgram_of(m), sizeof(*d));
	assert_int_equal(from.port_be, htons(1234));
	shim_buf_free(f->shim, m);
	assert_int_equal(sock_recv_chain(f->s, fd, &m, &from), -EAGAIN);
	assert_int_equal(fd_socket(f->s, fd)->rx_mem, 0);
}

/* Receives the same frame in one piece and in many: only the latter is seen by the layers. */
static void
compare_received(struct fx *f, int fd, int family, unsigned int n, unsigned int pad)
{
	struct netif_stats *st = &f->nif->stats, was = *st;
	struct flow_said one = { 0 }, two = { 0 };
	struct dgram flat, layers;
	uint8_t b[2048];
	uint32_t len = put_frame(b, family, n, pad);
	unsigned int before = to_layers_in;

	listen_to_flows(f, &one);
	fx_inject(f, b, len);
	assert_int_equal(to_layers_in, before);
	take(f, fd, n, &flat);
	listen_to_flows(f, &two);
	fx_inject_segs(f, b, len, 30);
	assert_int_equal(to_layers_in, before + 1);
	take(f, fd, n, &layers);
	assert_true(ip_addr_eq(&flat.src, &layers.src) && ip_addr_eq(&flat.dst, &layers.dst));
	same_flow(&one, &two);
	assert_int_equal(one.family, family);
	assert_true(ip_addr_eq(&one.remote, &flat.src) && ip_addr_eq(&one.local, &flat.dst));
	assert_int_equal(one.rport_be, htons(1234));
	assert_int_equal(one.lport_be, htons(77));
	assert_int_equal(flat.sport_be, layers.sport_be);
	assert_int_equal(flat.ifindex, layers.ifindex);
	assert_int_equal(flat.family, layers.family);
	assert_int_equal(flat.ttl, 9);
	assert_int_equal(layers.ttl, 9);
	assert_int_equal(flat.tos, layers.tos);
	assert_int_equal(st->rx_packets, was.rx_packets + 2);
	assert_int_equal(st->rx_bytes, was.rx_bytes + 2 * len);
	assert_int_equal(st->rx_dropped, was.rx_dropped);
}

/* STK-2, PUB-2 */
static void
received_facts_are_the_layers_own(void **state)
{
	struct fx *f = *state;
	int fd4 = sock(f, AF_INET), fd6 = sock(f, AF_INET6);

	assert_int_equal(bind4(f, fd4, "0.0.0.0", 77), 0);
	assert_int_equal(bind6(f, fd6, "2001:db8::1", 77), 0); /* asks the tables */
	for (unsigned int i = 0; i < NB_SIZES; i++) {
		compare_received(f, fd4, ADDR_INET, sizes[i], 0);
		compare_received(f, fd4, ADDR_INET, sizes[i], 20);
		compare_received(f, fd6, ADDR_INET6, sizes[i], 0);
		compare_received(f, fd6, ADDR_INET6, sizes[i], 3);
	}
	assert_int_equal(fx_all_drops(f), 0);
}

/* One byte of the frame changed: the layers see it and drop it for this reason. */
static void
spoil(struct fx *f, int family, unsigned int at, uint8_t x, enum stack_drop why)
{
	unsigned int before = to_layers_in;
	uint64_t drops = fx_drops(f, why), all = fx_all_drops(f);
	uint8_t b[256];
	uint32_t len = put_frame(b, family, 20, 0);

	b[at] ^= x;
	if (family == ADDR_INET && at < 34) { /* the header's checksum is right again, unless that was the point */
		uint16_t sum;

		b[24] = b[25] = 0;
		sum = (uint16_t)~fx_sum(0, b + 14, 20);
		put_be16(b + 24, at == 24 ? sum ^ 0x100 : sum);
	}
	fx_inject(f, b, len);
	assert_int_equal(to_layers_in, before + 1);
	assert_int_equal(fx_drops(f, why), drops + 1);
	assert_int_equal(fx_all_drops(f), all + 1);
	fx_tx_clear(f);
}

/* STK-8 */
static void
what_is_not_plain_comes_in_by_the_layers(void **state)
{
	struct fx *f = *state;
	int fd4 = sock(f, AF_INET);

	assert_int_equal(bind4(f, fd4, "0.0.0.0", 77), 0);
	spoil(f, ADDR_INET, 5, 0x40, STACK_DROP_ETH_NOT_FOR_US);
	spoil(f, ADDR_INET, 13, 0x55, STACK_DROP_ETH_TYPE_UNKNOWN);
	spoil(f, ADDR_INET, 14, 0x20, STACK_DROP_IP4_VERSION);
	spoil(f, ADDR_INET, 17, 0x80, STACK_DROP_IP4_TOTAL_LENGTH);
	spoil(f, ADDR_INET, 24, 0x01, STACK_DROP_IP4_CSUM);
	spoil(f, ADDR_INET, 26, 0x0a ^ 0x7f, STACK_DROP_IP4_MARTIAN);
	spoil(f, ADDR_INET, 26, 0x0a ^ 0xe0, STACK_DROP_IP4_MARTIAN);
	spoil(f, ADDR_INET, 29, 0x02 ^ 1, STACK_DROP_IP4_MARTIAN);
	spoil(f, ADDR_INET, 29, 0x02 ^ 255, STACK_DROP_IP4_MARTIAN);
	spoil(f, ADDR_INET, 33, 1 ^ 7, STACK_DROP_IP4_NOT_FOR_US);
	spoil(f, ADDR_INET, 39, 0x40, STACK_DROP_UDP_LENGTH);
	spoil(f, ADDR_INET, 41, 0x40, STACK_DROP_UDP_CSUM);
	spoil(f, ADDR_INET, 50, 0x40, STACK_DROP_UDP_CSUM);
	spoil(f, ADDR_INET6, 14, 0x20, STACK_DROP_IP6_VERSION);
	spoil(f, ADDR_INET6, 18, 0x20, STACK_DROP_IP6_LENGTH);
	spoil(f, ADDR_INET6, 22, 0x20 ^ 0xff, STACK_DROP_IP6_MARTIAN);
	spoil(f, ADDR_INET6, 37, 0x02 ^ 1, STACK_DROP_IP6_MARTIAN);
	spoil(f, ADDR_INET6, 53, 1 ^ 7, STACK_DROP_IP6_NOT_FOR_US);
	spoil(f, ADDR_INET6, 60, 0x01, STACK_DROP_UDP_CSUM);
	nothing(f, fd4);
}

static void
inject_said(struct fx *f, uint8_t *b, uint32_t len, uint64_t said)
{
	struct rte_mbuf *m = fx_buf(f, b, len, 0);

	m->ol_flags |= said;
	stack_input(f->s, f->nif, &m, 1);
}

/* STK-4 */
static void
the_ports_verdict_counts(void **state)
{
	const uint64_t good = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	const uint64_t bad = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD;
	struct fx *f = *state;
	unsigned int before = to_layers_in;
	int fd = sock(f, AF_INET);
	struct dgram d;
	uint8_t b[256];
	uint32_t len = put_frame(b, ADDR_INET, 20, 0);

	assert_int_equal(bind4(f, fd, "0.0.0.0", 77), 0);
	b[40] ^= 1;
	inject_said(f, b, len, good);
	assert_int_equal(to_layers_in, before);
	take(f, fd, 20, &d);
	inject_said(f, b, len, bad);
	assert_int_equal(to_layers_in, before + 1);
	assert_int_equal(fx_drops(f, STACK_DROP_L4_CSUM_HW), 1);
	b[40] = b[41] = 0; /* no checksum: the layers take it */
	inject_said(f, b, len, 0);
	assert_int_equal(to_layers_in, before + 2);
	take(f, fd, 20, &d);
}

/* STK-8 */
static void
a_full_socket_drops_and_counts(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), v = 0, n = 0;
	unsigned int before = to_layers_in;
	uint8_t b[256];
	uint32_t len = put_frame(b, ADDR_INET, 20, 0);

	assert_int_equal(bind4(f, fd, "0.0.0.0", 77), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)), 0);
	while (fx_drops(f, STACK_DROP_UDP_RCVBUF) == 0 && n++ < 100)
		fx_inject(f, b, len);
	assert_in_range(n, 2, 20);
	assert_int_equal(f->nif->stats.rx_dropped, 1);
	assert_int_equal(to_layers_in, before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(sent_frames_are_the_layers_own),
		T(checksum_zero_is_sent_as_all_ones),
		T(what_is_not_plain_goes_out_by_the_layers),
		T(stale_neighbour_is_the_layers_business),
		T(received_facts_are_the_layers_own),
		T(what_is_not_plain_comes_in_by_the_layers),
		T(the_ports_verdict_counts),
		T(a_full_socket_drops_and_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

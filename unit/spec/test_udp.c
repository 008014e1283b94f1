/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP by RFC 768, 1122 4.1, 8200 8.1, 8085: lines 62-65 of the checklist, both families. */
#include "pkt.h"

static int
both(void **state, void (*test)(struct fx *fx, int v))
{
	struct fx *fx = *state;

	fx_know_peer(fx);
	for (int v = 4; v <= 6; v += 2) {
		test(fx, v);
		for (int fd = 0; fd < sock_max_fd(fx->s) && fd < 64; fd++) /* what it left open */
			if (sock_is_open(fx->s, fd))
				assert_int_equal(sock_close(fx->s, fd), 0);
	}
	return 0;
}

static uint32_t
wrap(uint8_t *f, int v, const uint8_t *l4, uint32_t n)
{
	return v == 4 ? ip4(f, 17, 1, 0, l4, n) : ip6(f, 17, l4, n);
}

static void
rx_udp(struct fx *fx, int v, uint16_t sport, uint16_t dport, const void *d, uint32_t n)
{
	uint8_t f[2048], l4[2048];

	fx_inject(fx, f, wrap(f, v, l4, udp(l4, v, sport, dport, d, n)));
}

static socklen_t
addr(struct sockaddr_storage *ss, int v, const uint8_t *a, uint16_t port)
{
	memset(ss, 0, sizeof(*ss));
	if (v == 4) {
		struct sockaddr_in *s = (void *)ss;

		s->sin_family = AF_INET;
		s->sin_port = htons(port);
		if (a != NULL)
			memcpy(&s->sin_addr, a, 4);
		return sizeof(*s);
	}
	((struct sockaddr_in6 *)(void *)ss)->sin6_family = AF_INET6;
	((struct sockaddr_in6 *)(void *)ss)->sin6_port = htons(port);
	if (a != NULL)
		memcpy(&((struct sockaddr_in6 *)(void *)ss)->sin6_addr, a, 16);
	return sizeof(struct sockaddr_in6);
}

static int
bound(struct fx *fx, int v, const uint8_t *a, uint16_t port)
{
	struct sockaddr_storage ss;
	socklen_t n = addr(&ss, v, a, port);
	int fd = sock_socket(fx->s, v == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);

	assert_int_equal(sock_bind(fx->s, fd, (void *)&ss, n), 0);
	return fd;
}

static int
connect_to(struct fx *fx, int v, int fd, const uint8_t *a, uint16_t port)
{
	struct sockaddr_storage ss;
	socklen_t n = addr(&ss, v, a, port);

	return sock_connect(fx->s, fd, (void *)&ss, n);
}

static const uint8_t *
peer(int v)
{
	return v == 4 ? PEER4 : PEER6;
}

static const uint8_t *
me(int v)
{
	return v == 4 ? ME4 : ME6;
}

static void
bit_errors(struct fx *fx, int v)
{
	uint8_t f[256], l4[256], b[64];
	int fd = bound(fx, v, NULL, 5000);
	uint32_t h = v == 4 ? H4 : H6, n;
	uint64_t before = fx_drops(fx, STACK_DROP_UDP_CSUM);

	n = wrap(f, v, l4, udp(l4, v, 1000, 5000, "odd", 3));
	for (unsigned int bit = 8 * 8; bit < 11 * 8; bit++) { /* of the payload */
		f[L2 + h + bit / 8] ^= (uint8_t)(1 << bit % 8);
		fx_inject(fx, f, n);
		f[L2 + h + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(fx_drops(fx, STACK_DROP_UDP_CSUM), before + 24);
	assert_int_equal(got(fx, fd, b, sizeof(b)), -EAGAIN);
	fx_inject(fx, f, n);
	assert_int_equal(got(fx, fd, b, sizeof(b)), 3);
	fx_expect_none(fx);
}

/* Line 63: a wrong checksum is counted, and not answered. STK-8 */
static void
udp_checksum_finds_every_bit_error(void **state)
{
	both(state, bit_errors);
}

/* Lines 62, 63: udp_zero_checksum_v4_accepted; udp6_zero_checksum_refused. */
static void
udp_zero_checksum_v4_accepted_v6_refused(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[256], b[64];
	int fd4 = sock_at(fx, 4, 5000), fd6;
	uint32_t n = udp(l4, 4, 1000, 5000, "abc", 3);

	w16(l4 + 6, 0);
	fx_inject(fx, f, wrap(f, 4, l4, n));
	assert_int_equal(got(fx, fd4, b, sizeof(b)), 3);
	assert_int_equal(sock_close(fx->s, fd4), 0);
	fd6 = sock_at(fx, 6, 5000);
	udp(l4, 6, 1000, 5000, "abc", 3);
	w16(l4 + 6, 0);
	fx_inject(fx, f, wrap(f, 6, l4, n));
	assert_int_equal(got(fx, fd6, b, sizeof(b)), -EAGAIN);
	assert_int_equal(fx_drops(fx, STACK_DROP_UDP_ZERO_CSUM6), 1);
	fx_expect_none(fx);
}

static void
zero_sent(struct fx *fx, int v)
{
	int fd = bound(fx, v, me(v), 5000);
	uint8_t d[2] = { 0, 0 };
	struct fx_pkt p;

	assert_int_equal(connect_to(fx, v, fd, peer(v), 7777), 0);
	assert_int_equal(sock_sendto(fx->s, fd, d, 2, 0, NULL, 0), 2);
	fx_expect(fx, v == 4 ? 0x0800 : 0x86dd, &p);
	w16(d, r16(p.l4 + 6)); /* with its own checksum as data the sum is all ones, the checksum 0 */
	assert_int_equal(sock_sendto(fx->s, fd, d, 2, 0, NULL, 0), 2);
	fx_expect(fx, v == 4 ? 0x0800 : 0x86dd, &p);
	assert_int_equal(r16(p.l4 + 6), 0xffff);
	/* and 0xffff is right for a receiver */
	assert_int_equal(sum16(p.l4, 10, pseudo(v, me(v), peer(v), 17, 10)), 0xffff);
}

/* Line 63: computed_zero_sent_as_ffff. */
static void
computed_zero_sent_as_ffff(void **state)
{
	both(state, zero_sent);
}

static void
lengths(struct fx *fx, int v)
{
	static const uint32_t bad[] = { 0, 1, 7, 12, 13, 65535 };
	uint8_t f[256], l4[256], b[64];
	int fd = bound(fx, v, NULL, 5000);

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		udp(l4, v, 1000, 5000, "abc", 3);
		w16(l4 + 4, bad[i]);
		l4_sum(l4, 11, 6, pseudo(v, peer(v), me(v), 17, bad[i]));
		fx_inject(fx, f, wrap(f, v, l4, 11));
		if (got(fx, fd, b, sizeof(b)) != -EAGAIN)
			fail_msg("v%d: length %u of 11", v, bad[i]);
	}
	for (uint32_t n = 0; n < 8; n++)
		fx_inject(fx, f, wrap(f, v, l4, n));
	assert_int_equal(got(fx, fd, b, sizeof(b)), -EAGAIN);
	fx_expect_none(fx);
	/* shorter than what IP carries: the rest is not data */
	udp(l4, v, 1000, 5000, "abc", 3);
	memset(l4 + 11, 0xee, 5);
	fx_inject(fx, f, wrap(f, v, l4, 16));
	assert_int_equal(got(fx, fd, b, sizeof(b)), 3);
	/* exactly 8: an empty datagram is a datagram */
	rx_udp(fx, v, 1000, 5000, NULL, 0);
	assert_int_equal(sock_ready(fx->s, fd) & EPOLLIN, EPOLLIN);
	assert_int_equal(got(fx, fd, b, sizeof(b)), 0);
	assert_int_equal(got(fx, fd, b, sizeof(b)), -EAGAIN);
	assert_int_equal(fx_drops(fx, STACK_DROP_UDP_SHORT), v == 4 ? 8 : 16);
}

/* Line 63: length_mismatch_dropped. STK-8 */
static void
length_mismatch_dropped(void **state)
{
	both(state, lengths);
}

static void
ports(struct fx *fx, int v)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);
	uint8_t b[8];
	int fd = bound(fx, v, NULL, 5000);

	rx_udp(fx, v, 1000, 0, "x", 1); /* port 0 is nobody's, and is not told */
	fx_expect_none(fx);
	rx_udp(fx, v, 0, 5000, "x", 1); /* no reply is wanted (RFC 768) */
	assert_int_equal(sock_recvfrom(fx->s, fd, b, 8, 0, (void *)&ss, &n), 1);
	assert_int_equal(((struct sockaddr_in *)(void *)&ss)->sin_port, 0);
	assert_int_equal(fx_drops(fx, STACK_DROP_UDP_PORT_ZERO), v == 4 ? 1 : 2);
}

/* RFC 768: a source port of 0 is allowed, a destination port of 0 is not. */
static void
port_zero(void **state)
{
	both(state, ports);
}

static void
filters(struct fx *fx, int v)
{
	uint8_t f[256], l4[256], b[8];
	int fd = bound(fx, v, NULL, 5000);
	uint32_t n;

	assert_int_equal(connect_to(fx, v, fd, peer(v), 1000), 0);
	rx_udp(fx, v, 1001, 5000, "a", 1); /* another port */
	assert_int_equal(got(fx, fd, b, 8), -EAGAIN);
	expect_error(fx, v, v == 4 ? 3 : 1, v == 4 ? 3 : 4, wrap(f, v, l4, udp(l4, v, 1001, 5000, "a", 1)) ? f : f,
		v == 4 ? H4 + 8 : H6 + 8);
	n = wrap(f, v, l4, udp(l4, v, 1000, 5000, "b", 1)); /* another address */
	f[v == 4 ? L2 + 15 : L2 + 23] = 9;
	w16(f + n - 3, 0);
	if (v == 4) {
		fix4(f);
	} else {
		static uint8_t src[16];

		memcpy(src, f + L2 + 8, 16);
		l4_sum(f + L2 + H6, 9, 6, pseudo(6, src, ME6, 17, 9));
	}
	fx_inject(fx, f, n);
	assert_int_equal(got(fx, fd, b, 8), -EAGAIN);
	rx_udp(fx, v, 1000, 5000, "c", 1);
	assert_int_equal(got(fx, fd, b, 8), 1);
	assert_int_equal(b[0], 'c');
	/* disconnected again: everybody's */
	assert_int_equal(sock_connect(fx->s, fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, sizeof(struct sockaddr)), 0);
	rx_udp(fx, v, 1001, 5000, "d", 1);
	assert_int_equal(got(fx, fd, b, 8), 1);
	fx_advance(fx, 5 * FX_NS);
	fx_tx_clear(fx);
}

/* Line 63: connected_socket_filters. */
static void
connected_socket_filters(void **state)
{
	both(state, filters);
}

/* An ICMP error about the packet whose IP header is at q. */
static void
rx_error(struct fx *fx, int v, uint8_t type, uint8_t code, const uint8_t *q, uint32_t n)
{
	uint8_t f[512], l4[512];
	uint32_t k = icmp(l4, v, PEER6, ME6, type, code, 0, q, n);

	fx_inject(fx, f, v == 4 ? ip4(f, 1, 1, 0, l4, k) : ip6(f, 58, l4, k));
}

static int
so_error(struct fx *fx, int fd)
{
	int e = -1;
	socklen_t n = sizeof(e);

	assert_int_equal(sock_getsockopt(fx->s, fd, SOL_SOCKET, SO_ERROR, &e, &n), 0);
	assert_int_equal(n, sizeof(e));
	return e;
}

static void
refused(struct fx *fx, int v)
{
	uint8_t type = v == 4 ? 3 : 1, code = v == 4 ? 3 : 4, b[8];
	int fd = bound(fx, v, NULL, 5000);
	struct sockaddr_storage ss;
	socklen_t n = addr(&ss, v, peer(v), 1000);
	struct fx_pkt p;

	/* unconnected: nobody is told */
	assert_int_equal(sock_sendto(fx->s, fd, "x", 1, 0, (void *)&ss, n), 1);
	fx_expect(fx, v == 4 ? 0x0800 : 0x86dd, &p);
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	assert_int_equal(so_error(fx, fd), 0);
	/* connected: told once, by the next call or by SO_ERROR */
	assert_int_equal(connect_to(fx, v, fd, peer(v), 1000), 0);
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	assert_true(sock_ready(fx->s, fd) & EPOLLERR);
	assert_int_equal(so_error(fx, fd), ECONNREFUSED);
	assert_int_equal(so_error(fx, fd), 0);
	assert_false(sock_ready(fx->s, fd) & EPOLLERR);
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	assert_int_equal(got(fx, fd, b, 8), -ECONNREFUSED);
	assert_int_equal(got(fx, fd, b, 8), -EAGAIN);
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	assert_int_equal(sock_sendto(fx->s, fd, "y", 1, 0, NULL, 0), -ECONNREFUSED);
	fx_expect_none(fx);
	assert_int_equal(sock_sendto(fx->s, fd, "y", 1, 0, NULL, 0), 1);
	fx_expect(fx, v == 4 ? 0x0800 : 0x86dd, &p);
	/* a quote of another pair, or of another protocol, is not about it */
	w16(p.l4 + 2, 1001);
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	w16(p.l4 + 2, 1000);
	w16(p.l4, 5001);
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	w16(p.l4, 5000);
	p.l3[v == 4 ? 9 : 6] = 6;
	rx_error(fx, v, type, code, p.l3, p.l3_len);
	assert_int_equal(so_error(fx, fd), 0);
}

/* Line 63: gets_econnrefused. STK-5 */
static void
a_connected_socket_gets_econnrefused(void **state)
{
	both(state, refused);
}

static void
boundaries(struct fx *fx, int v)
{
	uint8_t b[64];
	struct iovec io = { b, 4 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	int fd = bound(fx, v, NULL, 5000);

	rx_udp(fx, v, 1000, 5000, "0123456789", 10);
	rx_udp(fx, v, 1000, 5000, "ab", 2);
	rx_udp(fx, v, 1000, 5000, "ABCD", 4);
	assert_int_equal(sock_recvmsg(fx->s, fd, &m, MSG_PEEK), 4);
	assert_int_equal(m.msg_flags & MSG_TRUNC, MSG_TRUNC);
	assert_int_equal(sock_recvfrom(fx->s, fd, b, 4, MSG_PEEK | MSG_TRUNC, NULL, NULL), 10);
	assert_int_equal(sock_recvmsg(fx->s, fd, &m, 0), 4);
	assert_memory_equal(b, "0123", 4);
	assert_int_equal(m.msg_flags & MSG_TRUNC, MSG_TRUNC);
	assert_int_equal(sock_recvmsg(fx->s, fd, &m, 0), 2); /* the rest of the first is gone */
	assert_int_equal(m.msg_flags & MSG_TRUNC, 0);
	assert_int_equal(sock_recvmsg(fx->s, fd, &m, 0), 4); /* fits exactly */
	assert_int_equal(m.msg_flags & MSG_TRUNC, 0);
	rx_udp(fx, v, 1000, 5000, "0123456789", 10);
	assert_int_equal(sock_recvfrom(fx->s, fd, b, 4, MSG_TRUNC, NULL, NULL), 10);
	rx_udp(fx, v, 1000, 5000, "0123456789", 10);
	assert_int_equal(sock_recvfrom(fx->s, fd, b, 0, 0, NULL, NULL), 0); /* takes the datagram all the same */
	assert_int_equal(got(fx, fd, b, 8), -EAGAIN);
}

/* Line 63: datagram_boundaries_msg_trunc. STK-5 */
static void
datagram_boundaries_msg_trunc(void **state)
{
	both(state, boundaries);
}

static void
order(struct fx *fx, int v)
{
	int any = bound(fx, v, NULL, 5000), own, con, one = 1;
	uint8_t b[8];

	/* Linux: a wildcard and a specific address need SO_REUSEADDR on both */
	assert_int_equal(sock_close(fx->s, any), 0);
	any = sock_socket(fx->s, v == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	own = sock_socket(fx->s, v == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	con = sock_socket(fx->s, v == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	for (unsigned int i = 0; i < 3; i++) {
		struct sockaddr_storage ss;
		int fd = i == 0 ? any : i == 1 ? own : con;
		socklen_t n = addr(&ss, v, i == 0 ? NULL : me(v), 5000);

		assert_int_equal(sock_setsockopt(fx->s, fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
		assert_int_equal(sock_bind(fx->s, fd, (void *)&ss, n), 0);
	}
	assert_int_equal(connect_to(fx, v, con, peer(v), 1000), 0);
	rx_udp(fx, v, 1000, 5000, "c", 1);
	rx_udp(fx, v, 1001, 5000, "o", 1);
	assert_int_equal(got(fx, con, b, 8), 1);
	assert_int_equal(got(fx, own, b, 8), 1);
	assert_int_equal(got(fx, any, b, 8), -EAGAIN);
	assert_int_equal(sock_close(fx->s, con), 0);
	rx_udp(fx, v, 1000, 5000, "o", 1);
	assert_int_equal(got(fx, own, b, 8), 1);
	assert_int_equal(sock_close(fx->s, own), 0);
	rx_udp(fx, v, 1000, 5000, "a", 1);
	assert_int_equal(got(fx, any, b, 8), 1);
	assert_int_equal(sock_close(fx->s, any), 0);
}

/* Line 64: bind_wildcard_vs_specific_lookup_order. */
static void
bind_wildcard_vs_specific_lookup_order(void **state)
{
	both(state, order);
}

static void
reuseport(struct fx *fx, int v)
{
	int fd[4], one = 1;
	unsigned int used = 0;
	uint8_t b[8];

	for (unsigned int i = 0; i < 4; i++) {
		struct sockaddr_storage ss;
		socklen_t n = addr(&ss, v, NULL, 5000);

		fd[i] = sock_socket(fx->s, v == 4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
		assert_int_equal(sock_setsockopt(fx->s, fd[i], SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), 0);
		assert_int_equal(sock_bind(fx->s, fd[i], (void *)&ss, n), 0);
	}
	for (uint16_t port = 1; port <= 200; port++) {
		unsigned int who = 9;

		for (unsigned int turn = 0; turn < 3; turn++) {
			rx_udp(fx, v, port, 5000, "x", 1);
			for (unsigned int i = 0; i < 4; i++) {
				if (got(fx, fd[i], b, 8) != 1)
					continue;
				assert_true(who == 9 || (turn > 0 && who == i)); /* one socket, always the same */
				who = i;
			}
			assert_int_not_equal(who, 9);
		}
		used |= 1u << who;
	}
	assert_int_equal(used, 15);
	for (unsigned int i = 0; i < 4; i++)
		sock_close(fx->s, fd[i]);
}

/* Line 64: reuseport_hash_stable_per_flow. */
static void
reuseport_hash_stable_per_flow(void **state)
{
	both(state, reuseport);
}

/* Line 64: v4_mapped_dual_stack_rules. RFC 3493 3.7, 5.3 */
static void
v4_mapped_dual_stack_rules(void **state)
{
	struct fx *fx = *state;
	struct sockaddr_in6 a;
	socklen_t n = sizeof(a);
	uint8_t b[8];
	int one = 1, fd = sock_at(fx, 6, 5000), fd4;
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };

	fx_know_peer(fx);
	rx_udp(fx, 4, 1000, 5000, "x", 1);
	assert_int_equal(sock_recvfrom(fx->s, fd, b, 8, 0, (void *)&a, &n), 1);
	assert_int_equal(n, sizeof(a));
	assert_int_equal(a.sin6_family, AF_INET6);
	assert_memory_equal(&a.sin6_addr, mapped, 16);
	assert_int_equal(a.sin6_port, htons(1000));
	assert_int_equal(sock_sendto(fx->s, fd, "y", 1, 0, (void *)&a, n), 1);
	{
		struct fx_pkt p;

		fx_expect(fx, 0x0800, &p);
		assert_int_equal(p.proto, 17);
		assert_memory_equal(p.l3 + 16, PEER4, 4);
	}
	/* the IPv4 wildcard is taken by it */
	fd4 = sock_socket(fx->s, AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(sock_bind(fx->s, fd4, (void *)&(struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(5000) },
		sizeof(struct sockaddr_in)), -EADDRINUSE);
	assert_int_equal(sock_close(fx->s, fd), 0);
	/* V6ONLY: both live side by side, and a mapped address is out of reach */
	fd = sock_socket(fx->s, AF_INET6, SOCK_DGRAM, 0);
	assert_int_equal(sock_setsockopt(fx->s, fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)), 0);
	memset(&a, 0, sizeof(a));
	a.sin6_family = AF_INET6;
	a.sin6_port = htons(5000);
	assert_int_equal(sock_bind(fx->s, fd, (void *)&a, sizeof(a)), 0);
	assert_int_equal(sock_bind(fx->s, fd4, (void *)&(struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(5000) },
		sizeof(struct sockaddr_in)), 0);
	rx_udp(fx, 4, 1000, 5000, "x", 1);
	rx_udp(fx, 6, 1000, 5000, "y", 1);
	assert_int_equal(got(fx, fd4, b, 8), 1);
	assert_int_equal(b[0], 'x');
	assert_int_equal(got(fx, fd, b, 8), 1);
	assert_int_equal(b[0], 'y');
	memcpy(&a.sin6_addr, mapped, 16);
	assert_int_equal(sock_sendto(fx->s, fd, "z", 1, 0, (void *)&a, sizeof(a)), -ENETUNREACH); /* as Linux */
}

static void
inject_flags(struct fx *fx, const uint8_t *f, uint32_t n, uint64_t flags)
{
	struct rte_mbuf *m = fx_buf(fx, f, n, 0);

	m->ol_flags |= flags;
	stack_input(fx->s, fx->nif, &m, 1);
}

static void
offload(struct fx *fx, int v)
{
	uint8_t f[256], l4[256], b[8];
	int fd = bound(fx, v, NULL, 5000);
	uint64_t before = fx_drops(fx, STACK_DROP_L4_CSUM_HW);
	uint32_t n = wrap(f, v, l4, udp(l4, v, 1000, 5000, "x", 1)), at = L2 + (v == 4 ? H4 : H6) + 6;

	inject_flags(fx, f, n, RTE_MBUF_F_RX_L4_CKSUM_BAD); /* the port says bad */
	assert_int_equal(got(fx, fd, b, 8), -EAGAIN);
	assert_int_equal(fx_drops(fx, STACK_DROP_L4_CSUM_HW), before + 1);
	inject_flags(fx, f, n, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	assert_int_equal(got(fx, fd, b, 8), 1);
	inject_flags(fx, f, n, RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN);
	assert_int_equal(got(fx, fd, b, 8), 1);
	/* virtio: the data are good, the field holds the pseudo header's sum */
	w16(f + at, sum16(l4, 0, pseudo(v, peer(v), me(v), 17, 9)));
	inject_flags(fx, f, n, RTE_MBUF_F_RX_L4_CKSUM_NONE);
	assert_int_equal(got(fx, fd, b, 8), 1);
	inject_flags(fx, f, n, RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN); /* nobody looked: we do */
	assert_int_equal(got(fx, fd, b, 8), -EAGAIN);
	fx_expect_none(fx);
}

/* Line 65: checksum_offload_flags_bad_csum_counted_and_dropped; partial_checksum_from_virtio_tap_accepted. STK-4 */
static void
checksum_offload_flags(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256], l4[256], b[8];
	uint32_t n;

	both(state, offload);
	n = wrap(f, 4, l4, udp(l4, 4, 1000, 5000, "x", 1));
	inject_flags(fx, f, n, RTE_MBUF_F_RX_IP_CKSUM_BAD);
	assert_int_equal(fx_drops(fx, STACK_DROP_IP4_CSUM), 1);
	(void)b;
}

static void
rcvbuf(struct fx *fx, int v)
{
	int fd = bound(fx, v, NULL, 5000), small = 1;
	uint64_t before = fx_drops(fx, STACK_DROP_UDP_RCVBUF);
	unsigned int n = 0;
	uint8_t b[1024] = { 0 };

	assert_int_equal(sock_setsockopt(fx->s, fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	for (unsigned int i = 0; i < 100; i++)
		rx_udp(fx, v, 1000, 5000, b, 1000);
	while (got(fx, fd, b, sizeof(b)) == 1000)
		n++;
	assert_in_range(n, 1, 10);
	assert_int_equal(fx_drops(fx, STACK_DROP_UDP_RCVBUF), before + 100 - n);
	rx_udp(fx, v, 1000, 5000, b, 1000); /* there is room again */
	assert_int_equal(got(fx, fd, b, sizeof(b)), 1000);
}

/* A full receive buffer drops and counts, and recovers. */
static void
a_full_receive_buffer_drops_and_recovers(void **state)
{
	both(state, rcvbuf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(udp_checksum_finds_every_bit_error),
		T(udp_zero_checksum_v4_accepted_v6_refused),
		T(computed_zero_sent_as_ffff),
		T(length_mismatch_dropped),
		T(port_zero),
		T(connected_socket_filters),
		T(a_connected_socket_gets_econnrefused),
		T(datagram_boundaries_msg_trunc),
		T(bind_wildcard_vs_specific_lookup_order),
		T(reuseport_hash_stable_per_flow),
		T(v4_mapped_dual_stack_rules),
		T(checksum_offload_flags),
		T(a_full_receive_buffer_drops_and_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

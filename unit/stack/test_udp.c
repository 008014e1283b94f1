/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP through whole frames: demultiplexing, checksums, errors, ports, paths. */
#include "sock_world.h"

/* A UDP packet from the peer whose header the test can spoil: at l4[0..]. flags: ol_flags of the buffer. */
static void
rx_raw(struct fx *f, int family, void (*spoil)(uint8_t *l4), const void *data, uint32_t n, uint64_t ol_flags)
{
	uint8_t b[2048];
	struct fx_ip4 h4 = { .proto = 17 };
	struct fx_ip6 h6 = { .next = 17 };
	union ip_addr src = family == ADDR_INET ? fx_a4("10.0.0.2") : fx_a6("2001:db8::2");
	union ip_addr dst = family == ADDR_INET ? fx_a4("10.0.0.1") : fx_a6("2001:db8::1");
	uint32_t at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, family == ADDR_INET ? 0x800 : 0x86dd), l4;
	struct rte_mbuf *m;

	at += family == ADDR_INET ? fx_put_ip4(b + at, &h4, n + 8) : fx_put_ip6(b + at, &h6, n + 8);
	l4 = at;
	at += fx_put_udp(b + at, family, &src, &dst, 4000, 7000, data, n);
	if (spoil != NULL)
		spoil(b + l4);
	m = fx_buf(f, b, at, 0);
	m->ol_flags |= ol_flags;
	stack_input(f->s, f->nif, &m, 1);
}

static void zero_csum(uint8_t *l4) { l4[6] = l4[7] = 0; }
static void bad_csum(uint8_t *l4) { l4[7] ^= 0x55; }
static void len_long(uint8_t *l4) { l4[5]++; zero_csum(l4); }
static void len_seven(uint8_t *l4) { l4[4] = 0; l4[5] = 7; zero_csum(l4); }
static void len_zero(uint8_t *l4) { l4[4] = l4[5] = 0; }
static void len_less(uint8_t *l4) { l4[5] = 8 + 2; zero_csum(l4); }
static void port_zero(uint8_t *l4) { l4[2] = l4[3] = 0; zero_csum(l4); }

/* STK-2, STK-4 */
static void
udp_zero_checksum_v4_accepted_computed_zero_sent_as_ffff(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), i;
	struct fx_pkt *p = test_malloc(sizeof(*p));
	uint8_t d[2] = { 0, 0 };
	uint16_t sum;

	assert_int_equal(bind4(f, fd, "10.0.0.1", 7000), 0);
	rx_raw(f, ADDR_INET, zero_csum, "hello", 5, 0);
	expect(f, fd, "hello");
	/* the payload that makes the sum 0xffff: what the checksum of zeros was */
	fx_know_peer(f);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(sock_sendto(f->s, fd, d, 2, 0, NULL, 0), 2);
		fx_expect(f, 0x800, p);
		sum = (uint16_t)(p->l4[6] << 8 | p->l4[7]);
		d[0] = (uint8_t)(sum >> 8);
		d[1] = (uint8_t)sum;
	}
	assert_int_equal(sum, 0xffff);
	test_free(p);
}

/* STK-2 */
static void
udp6_zero_checksum_refused(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET6);

	assert_int_equal(bind6(f, fd, "::", 7000), 0);
	rx_raw(f, ADDR_INET6, zero_csum, "x", 1, 0);
	nothing(f, fd);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_ZERO_CSUM6), 1);
	rx_raw(f, ADDR_INET6, NULL, "good", 4, 0);
	expect(f, fd, "good");
}

/* STK-2 */
static void
tcp_udp_icmp6_pseudo_header(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET6);
	struct fx_pkt *p = test_malloc(sizeof(*p));

	/* the fixture computes pseudo-headers on its own, and fx_expect checks ours */
	assert_int_equal(bind6(f, fd, "2001:db8::1", 7000), 0);
	fx_know_peer(f);
	rx_raw(f, ADDR_INET6, bad_csum, "x", 1, 0);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_CSUM), 1);
	assert_int_equal(connect6(f, fd, "2001:db8::2", 4000), 0);
	assert_int_equal(sock_sendto(f->s, fd, "abc", 3, 0, NULL, 0), 3);
	fx_expect(f, 0x86dd, p);
	assert_int_equal(p->l4_len, 11);
	assert_memory_equal(p->l4 + 8, "abc", 3);
	test_free(p);
}

/* STK-2, STK-8 */
static void
length_mismatch_dropped(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), six;

	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	rx_raw(f, ADDR_INET, len_long, "hello", 5, 0);
	rx_raw(f, ADDR_INET, len_seven, "hello", 5, 0);
	rx_raw(f, ADDR_INET, len_zero, "hello", 5, 0);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_LENGTH), 3);
	nothing(f, fd);
	/* less than IP carries: the surplus is no data (both kernels do so) */
	rx_raw(f, ADDR_INET, len_less, "hello", 5, 0);
	expect(f, fd, "he");
	rx_raw(f, ADDR_INET, port_zero, "hello", 5, 0);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_PORT_ZERO), 1);
	/* length 0 means a jumbogram to RFC 2675: refused */
	six = sock(f, AF_INET6);
	on(f, six, IPPROTO_IPV6, IPV6_V6ONLY);
	assert_int_equal(bind6(f, six, "::", 7000), 0);
	rx_raw(f, ADDR_INET6, len_zero, "hello", 5, 0);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_LENGTH), 4);
	fx_rx_ip4(f, &(struct fx_ip4){ .proto = 17 }, "1234567", 7);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_SHORT), 1);
}

/* STK-2 */
static void
closed_port_unreachable_quotes_enough(void **state)
{
	struct fx *f = *state;
	struct fx_pkt *p = test_malloc(sizeof(*p));
	struct fx_ip4 bc = { .proto = 17, .dst = fx_ip4("10.0.0.255") };
	uint8_t u[16];
	union ip_addr src = fx_a4("10.0.0.2"), dst = fx_a4("10.0.0.255");

	fx_know_peer(f);
	fx_rx_udp4(f, 4000, 7777, "payload", 7);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->proto, 1);
	assert_int_equal(p->l4[0], 3);
	assert_int_equal(p->l4[1], 3);
	assert_true(p->l4_len >= 8 + 20 + 8);
	assert_int_equal(p->l4[28 + 2] << 8 | p->l4[28 + 3], 7777);
	fx_rx_udp6(f, 4000, 7777, "payload", 7);
	fx_expect(f, 0x86dd, p);
	assert_int_equal(p->l4[0], 1);
	assert_int_equal(p->l4[1], 4);
	assert_true(p->l4_len >= 8 + 40 + 8 + 7);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_NO_PORT), 2);
	/* never about a broadcast */
	fx_put_udp(u, ADDR_INET, &src, &dst, 4000, 7777, "x", 1);
	fx_rx_ip4(f, &bc, u, 9);
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_NO_PORT), 3);
	test_free(p);
}

/* STK-9 */
static void
unknown_port_is_shed_when_buffers_are_short(void **state)
{
	struct fx *f = fx_new(&(struct fx_opts){ .bufs = 64, .buf_low_watermark = 64 });

	(void)state;
	fx_know_peer(f);
	fx_poll(f);
	fx_rx_udp4(f, 4000, 7777, "x", 1);
	fx_expect_none(f);
	assert_int_equal(fx_drops(f, STACK_DROP_BACKPRESSURE), 1);
	fx_free(f);
}

/* An ICMP port unreachable from the peer about a packet of ours from port sport to dport. */
static void
rx_unreach(struct fx *f, uint8_t code, uint16_t sport, uint16_t dport, const char *quoted_dst)
{
	uint8_t q[64], b[128];
	struct fx_ip4 h = { .proto = 17, .src = fx_ip4("10.0.0.1"), .dst = fx_ip4(quoted_dst) };
	union ip_addr src = fx_a4("10.0.0.1"), dst = fx_a4(quoted_dst);
	uint32_t n = fx_put_ip4(q, &h, 12);

	n += fx_put_udp(q + n, ADDR_INET, &src, &dst, sport, dport, "abcd", 4);
	n = fx_put_icmp4(b, 3, code, 0, q, n);
	fx_rx_ip4(f, &(struct fx_ip4){ .proto = 1 }, b, n);
}

/* STK-2, STK-5 */
static void
connected_socket_filters_and_gets_econnrefused(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), other = sock(f, AF_INET), v;
	socklen_t n = sizeof(v);
	char b[8];

	fx_know_peer(f);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	assert_int_equal(bind4(f, other, "0.0.0.0", 7001), 0);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 4000), 0);
	fx_rx_udp4(f, 4001, 7000, "no", 2); /* another port: not the peer */
	nothing(f, fd);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_NO_PORT), 1);
	fx_rx_udp4(f, 4000, 7000, "yes", 3);
	expect(f, fd, "yes");
	/* quotes that are not ours change nothing */
	rx_unreach(f, 3, 7000, 4001, "10.0.0.2");
	rx_unreach(f, 3, 7000, 4000, "10.0.0.3");
	rx_unreach(f, 3, 7001, 4000, "10.0.0.2"); /* not connected */
	rx_unreach(f, 1, 7000, 4000, "10.0.0.2"); /* host: soft */
	assert_int_equal(sock_ready(f->s, fd) & EPOLLERR, 0);
	rx_unreach(f, 3, 7000, 4000, "10.0.0.2");
	assert_int_equal(sock_ready(f->s, fd) & EPOLLERR, EPOLLERR);
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_ERROR, &v, &n), 0);
	assert_int_equal(v, ECONNREFUSED); /* 111: Linux's number */
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_ERROR, &v, &n), 0);
	assert_int_equal(v, 0);
	rx_unreach(f, 3, 7000, 4000, "10.0.0.2");
	assert_int_equal(sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL), -ECONNREFUSED);
	rx_unreach(f, 3, 7000, 4000, "10.0.0.2");
	assert_int_equal(sock_sendto(f->s, fd, b, 1, 0, NULL, 0), -ECONNREFUSED);
	assert_int_equal(sock_sendto(f->s, fd, b, 1, 0, NULL, 0), 1);
	rx_unreach(f, 3, 7000, 4000, "10.0.0.2");
	assert_int_equal(sock_send_chain(f->s, fd, fx_buf(f, "x", 1, 0), NULL), -ECONNREFUSED);
	rx_unreach(f, 3, 7000, 4000, "10.0.0.2");
	struct rte_mbuf *m;
	assert_int_equal(sock_recv_chain(f->s, fd, &m, NULL), -ECONNREFUSED);
	fx_tx_clear(f);
}

/* STK-2: udp part of icmp_error_checked_against_una_nxt_before_action */
static void
icmp_error_checked_before_action(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	uint8_t l4[8] = { 0 };
	struct ip_error e = { .src = fx_a4("10.0.0.1"), .dst = fx_a4("10.0.0.2"), .family = ADDR_INET,
		.proto = 17, .err = ECONNREFUSED, .l4 = l4, .l4_len = 7 };

	fx_know_peer(f);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 4000), 0);
	put_be16(l4, 7000);
	put_be16(l4 + 2, 4000);
	udp_error(f->s, &e); /* cut short */
	assert_int_equal(sock_ready(f->s, fd) & EPOLLERR, 0);
	e.l4_len = 8;
	e.err = EMSGSIZE; /* told only to those who asked: IP_PMTUDISC_DO */
	udp_error(f->s, &e);
	assert_int_equal(sock_ready(f->s, fd) & EPOLLERR, 0);
	e.err = ENOPROTOOPT;
	udp_error(f->s, &e);
	assert_int_equal(sock_ready(f->s, fd) & EPOLLERR, EPOLLERR);
	int v = IP_PMTUDISC_DO, fd2 = sock(f, AF_INET);
	assert_int_equal(sock_setsockopt(f->s, fd2, IPPROTO_IP, IP_MTU_DISCOVER, &v, sizeof(v)), 0);
	assert_int_equal(bind4(f, fd2, "0.0.0.0", 7002), 0);
	assert_int_equal(connect4(f, fd2, "10.0.0.2", 4000), 0);
	put_be16(l4, 7002);
	e.err = EMSGSIZE;
	udp_error(f->s, &e);
	assert_int_equal(sock_ready(f->s, fd2) & EPOLLERR, EPOLLERR);
}

/* STK-2, STK-5 */
static void
datagram_boundaries_msg_trunc(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	char b[16], c[4];
	struct iovec iov[2] = { { b, 2 }, { c, 2 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	fx_rx_udp4(f, 1, 7000, "abcdef", 6);
	fx_rx_udp4(f, 1, 7000, "", 0);
	fx_rx_udp4(f, 1, 7000, "xyz", 3);
	assert_int_equal(sock_recvfrom(f->s, fd, b, 1, MSG_PEEK, NULL, NULL), 1);
	assert_int_equal(sock_recvfrom(f->s, fd, b, 1, MSG_PEEK | MSG_TRUNC, NULL, NULL), 6);
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, MSG_DONTWAIT), 4);
	assert_int_equal(msg.msg_flags, MSG_TRUNC);
	assert_memory_equal(b, "ab", 2);
	assert_memory_equal(c, "cd", 2);
	/* the rest of it is gone; an empty datagram is one */
	assert_int_equal(sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL), 0);
	expect(f, fd, "xyz");
}

/* STK-2 */
static void
reuseport_hash_stable_per_flow(void **state)
{
	struct fx *f = *state;
	int fd[4], i, port, hits[4] = { 0 };
	char b[4];

	for (i = 0; i < 4; i++) {
		fd[i] = sock(f, AF_INET);
		on(f, fd[i], SOL_SOCKET, SO_REUSEPORT);
		assert_int_equal(bind4(f, fd[i], "0.0.0.0", 7000), 0);
	}
	for (port = 1000; port < 1200; port++) {
		int first = -1, round;

		for (round = 0; round < 3; round++) {
			fx_rx_udp4(f, (uint16_t)port, 7000, "x", 1);
			for (i = 0; i < 4; i++) {
				if (sock_recvfrom(f->s, fd[i], b, 4, 0, NULL, NULL) != 1)
					continue;
				assert_true(first == -1 || first == i);
				first = i;
				hits[i]++;
			}
		}
		assert_true(first >= 0);
	}
	for (i = 0; i < 4; i++)
		assert_true(hits[i] > 60); /* of 600, evenly 150 */
	/* one that does not share keeps out */
	i = sock(f, AF_INET);
	assert_int_equal(bind4(f, i, "10.0.0.1", 7000), -EADDRINUSE);
	/* members may leave in any order */
	assert_int_equal(sock_close(f->s, fd[1]), 0);
	fx_rx_udp4(f, 1, 7000, "y", 1);
	assert_int_equal(sock_close(f->s, fd[3]), 0);
	assert_int_equal(sock_close(f->s, fd[0]), 0);
	fx_rx_udp4(f, 2, 7000, "z", 1);
	assert_true(sock_recvfrom(f->s, fd[2], b, 4, 0, NULL, NULL) == 1);
}

/* STK-2 */
static void
bind_wildcard_vs_specific_lookup_order(void **state)
{
	struct fx *f = *state;
	int wild = sock(f, AF_INET), spec = sock(f, AF_INET), conn = sock(f, AF_INET), newer;

	fx_know_peer(f);
	on(f, wild, SOL_SOCKET, SO_REUSEADDR);
	on(f, spec, SOL_SOCKET, SO_REUSEADDR);
	on(f, conn, SOL_SOCKET, SO_REUSEADDR);
	assert_int_equal(bind4(f, wild, "0.0.0.0", 7000), 0);
	fx_rx_udp4(f, 4000, 7000, "w", 1);
	expect(f, wild, "w");
	assert_int_equal(bind4(f, spec, "10.0.0.1", 7000), 0);
	fx_rx_udp4(f, 4000, 7000, "s", 1);
	expect(f, spec, "s");
	assert_int_equal(bind4(f, conn, "0.0.0.0", 7000), 0);
	assert_int_equal(connect4(f, conn, "10.0.0.2", 4000), 0);
	fx_rx_udp4(f, 4000, 7000, "c", 1);
	expect(f, conn, "c");
	fx_rx_udp4(f, 4001, 7000, "s", 1);
	expect(f, spec, "s");
	/* of two alike the newest */
	newer = sock(f, AF_INET);
	on(f, newer, SOL_SOCKET, SO_REUSEADDR);
	assert_int_equal(bind4(f, newer, "10.0.0.1", 7000), 0);
	fx_rx_udp4(f, 4001, 7000, "n", 1);
	expect(f, newer, "n");
	sock_close(f->s, newer);
	fx_rx_udp4(f, 4001, 7000, "s", 1);
	expect(f, spec, "s");
	/* disconnected: back to the wildcard, where it is the newest */
	struct sockaddr un = { .sa_family = AF_UNSPEC };
	assert_int_equal(sock_connect(f->s, conn, &un, sizeof(un)), 0);
	sock_close(f->s, spec);
	fx_rx_udp4(f, 4001, 7000, "d", 1);
	expect(f, conn, "d");
}

/* STK-2 */
static void
v4_mapped_dual_stack_rules(void **state)
{
	struct fx *f = *state;
	int dual = sock(f, AF_INET6), v4 = sock(f, AF_INET), only = sock(f, AF_INET6), x;
	struct sockaddr_in6 a;
	socklen_t n = sizeof(a);
	char b[8];
	struct fx_pkt *p = test_malloc(sizeof(*p));

	fx_know_peer(f);
	assert_int_equal(bind6(f, dual, "::", 7000), 0);
	assert_int_equal(bind4(f, v4, "0.0.0.0", 7000), -EADDRINUSE);
	fx_rx_udp4(f, 4000, 7000, "four", 4);
	assert_int_equal(sock_recvfrom(f->s, dual, b, 8, 0, (struct sockaddr *)&a, &n), 4);
	assert_int_equal(n, sizeof(a));
	assert_int_equal(a.sin6_family, AF_INET6);
	assert_true(IN6_IS_ADDR_V4MAPPED(&a.sin6_addr));
	assert_memory_equal(&a.sin6_addr.s6_addr[12], "\x0a\0\0\x02", 4);
	/* the answer leaves as IPv4 */
	assert_int_equal(sock_sendto(f->s, dual, "re", 2, 0, (struct sockaddr *)&a, n), 2);
	fx_expect(f, 0x800, p);
	sock_close(f->s, dual);
	/* V6ONLY: both may have the port; each gets its own */
	on(f, only, IPPROTO_IPV6, IPV6_V6ONLY);
	assert_int_equal(bind6(f, only, "::", 7000), 0);
	fx_rx_udp4(f, 4000, 7000, "none", 4);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_NO_PORT), 1);
	assert_int_equal(bind4(f, v4, "0.0.0.0", 7000), 0);
	fx_rx_udp4(f, 4000, 7000, "v4", 2);
	expect(f, v4, "v4");
	fx_rx_udp6(f, 4000, 7000, "v6", 2);
	expect(f, only, "v6");
	assert_int_equal(connect6(f, only, "::ffff:10.0.0.2", 9), -ENETUNREACH);
	assert_int_equal(connect4(f, only, "10.0.0.2", 9), -EAFNOSUPPORT);
	/* a mapped address binds and connects as IPv4 */
	x = sock(f, AF_INET6);
	assert_int_equal(bind6(f, x, "::ffff:10.0.0.1", 7001), 0);
	fx_rx_udp4(f, 4000, 7001, "m", 1);
	expect(f, x, "m");
	assert_int_equal(connect6(f, x, "2001:db8::2", 9), -ENETUNREACH);
	assert_int_equal(connect6(f, x, "::ffff:10.0.0.2", 9), 0);
	n = sizeof(a);
	assert_int_equal(sock_getpeername(f->s, x, (struct sockaddr *)&a, &n), 0);
	assert_true(IN6_IS_ADDR_V4MAPPED(&a.sin6_addr));
	/* dual and v6-only sockets of one group: IPv4 goes to one that takes it */
	int g1 = sock(f, AF_INET6), g2 = sock(f, AF_INET6);
	on(f, g1, SOL_SOCKET, SO_REUSEADDR);
	on(f, g2, SOL_SOCKET, SO_REUSEADDR);
	on(f, g2, IPPROTO_IPV6, IPV6_V6ONLY);
	assert_int_equal(bind6(f, g1, "::", 7002), 0);
	assert_int_equal(bind6(f, g2, "::", 7002), 0);
	fx_rx_udp4(f, 4000, 7002, "g", 1);
	expect(f, g1, "g");
	fx_tx_clear(f);
	test_free(p);
}

/* STK-4 */
static void
checksum_offload_flags_bad_csum_counted_and_dropped(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);

	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	rx_raw(f, ADDR_INET, NULL, "x", 1, RTE_MBUF_F_RX_L4_CKSUM_BAD);
	assert_int_equal(fx_drops(f, STACK_DROP_L4_CSUM_HW), 1);
	rx_raw(f, ADDR_INET, bad_csum, "x", 1, 0); /* unknown: our own arithmetic */
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_CSUM), 1);
	nothing(f, fd);
	rx_raw(f, ADDR_INET, bad_csum, "good", 4, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	expect(f, fd, "good");
}

/* STK-4 */
static void
partial_checksum_from_virtio_tap_accepted(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET6);

	assert_int_equal(bind6(f, fd, "::", 7000), 0);
	rx_raw(f, ADDR_INET, bad_csum, "v4", 2, RTE_MBUF_F_RX_L4_CKSUM_NONE);
	expect(f, fd, "v4");
	rx_raw(f, ADDR_INET6, bad_csum, "v6", 2, RTE_MBUF_F_RX_L4_CKSUM_NONE);
	expect(f, fd, "v6");
	rx_raw(f, ADDR_INET6, zero_csum, "v6", 2, RTE_MBUF_F_RX_L4_CKSUM_NONE);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_ZERO_CSUM6), 1);
}

/* STK-4 */
static void
transmit_checksum_by_port_and_in_software(void **state)
{
	struct fx *f = fx_new(&(struct fx_opts){ .tx_offloads = SHIM_TX_UDP_CKSUM | SHIM_TX_IPV4_CKSUM });
	struct fx_pkt *p = test_malloc(sizeof(*p));
	int fd = sock(f, AF_INET);

	(void)state;
	fx_know_peer(f);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	assert_int_equal(sock_sendto(f->s, fd, "abc", 3, 0, NULL, 0), 3);
	fx_expect(f, 0x800, p);
	assert_true((p->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM);
	test_free(p);
	fx_free(f);
}

/* STK-2 */
static void
multicast_and_broadcast_reach_every_socket(void **state)
{
	struct fx *f = *state;
	int fd[3], i, other = sock(f, AF_INET), conn = sock(f, AF_INET);
	uint8_t u[16];
	union ip_addr src = fx_a4("10.0.0.2"), dst = fx_a4("10.0.0.255");
	struct fx_ip4 h = { .proto = 17, .dst = fx_ip4("10.0.0.255") };

	fx_know_peer(f);
	for (i = 0; i < 3; i++) {
		fd[i] = sock(f, AF_INET);
		on(f, fd[i], SOL_SOCKET, SO_REUSEADDR);
		assert_int_equal(bind4(f, fd[i], i == 2 ? "10.0.0.255" : "0.0.0.0", 7000), 0);
	}
	on(f, other, SOL_SOCKET, SO_REUSEADDR);
	assert_int_equal(bind4(f, other, "10.0.0.1", 7000), 0);
	on(f, conn, SOL_SOCKET, SO_REUSEADDR);
	assert_int_equal(bind4(f, conn, "0.0.0.0", 7000), 0);
	assert_int_equal(connect4(f, conn, "10.0.0.2", 4001), 0);
	fx_put_udp(u, ADDR_INET, &src, &dst, 4000, 7000, "all", 3);
	fx_rx_ip4(f, &h, u, 11);
	for (i = 0; i < 3; i++)
		expect(f, fd[i], "all");
	nothing(f, other);
	nothing(f, conn);
	/* no buffer for a copy: the others still get theirs */
	mock_fail_buf_at(f->shim, 2); /* the first is the frame itself */
	fx_rx_ip4(f, &h, u, 11);
	assert_int_equal(fx_drops(f, STACK_DROP_NO_BUFFER), 1);
	expect(f, fd[2], "all");
}

/* STK-2 */
static void
broadcast_needs_the_option(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct fx_pkt *p = test_malloc(sizeof(*p));

	a.sin_addr.s_addr = fx_ip4("10.0.0.255");
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), -EACCES);
	assert_int_equal(connect4(f, fd, "10.0.0.255", 9), -EACCES);
	on(f, fd, SOL_SOCKET, SO_BROADCAST);
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
	fx_expect(f, 0x800, p);
	assert_memory_equal(p->dst_mac, FX_BCAST_MAC, 6);
	/* groups: hop limit 1 unless asked */
	a.sin_addr.s_addr = fx_ip4("224.0.0.5");
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->ttl, 1);
	test_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(udp_zero_checksum_v4_accepted_computed_zero_sent_as_ffff), T(udp6_zero_checksum_refused),
		T(tcp_udp_icmp6_pseudo_header), T(length_mismatch_dropped), T(closed_port_unreachable_quotes_enough),
		cmocka_unit_test(unknown_port_is_shed_when_buffers_are_short),
		T(connected_socket_filters_and_gets_econnrefused), T(icmp_error_checked_before_action),
		T(datagram_boundaries_msg_trunc), T(reuseport_hash_stable_per_flow),
		T(bind_wildcard_vs_specific_lookup_order), T(v4_mapped_dual_stack_rules),
		T(checksum_offload_flags_bad_csum_counted_and_dropped), T(partial_checksum_from_virtio_tap_accepted),
		cmocka_unit_test(transmit_checksum_by_port_and_in_software),
		T(multicast_and_broadcast_reach_every_socket), T(broadcast_needs_the_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

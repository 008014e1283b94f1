/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is told of a UDP flow, whether a socket would take a datagram, and the stamp of the stack's own buffers. */
#include "sock_world.h"

struct said {
	int family;
	union ip_addr remote, local;
	uint16_t rport_be, lport_be;
	unsigned int calls;
};

static void
flow(void *ctx, int family, const union ip_addr *remote, uint16_t rport_be, const union ip_addr *local, uint16_t lport_be)
{
	struct said *said = ctx;

	*said = (struct said){ family, *remote, *local, rport_be, lport_be, said->calls + 1 };
}

static void
listen_to_flows(struct fx *f, struct said *said)
{
	f->s->cfg.udp_flow = flow;
	f->s->cfg.udp_flow_ctx = said;
}

/* PUB-2 */
static void
a_datagram_for_a_socket_is_told_even_when_the_socket_is_full(void **state)
{
	struct fx *f = *state;
	union ip_addr peer = fx_a4("10.0.0.2"), us = fx_a4("10.0.0.1");
	struct said said = { 0 };
	int fd = sock(f, AF_INET), small = 1;
	unsigned int i;

	listen_to_flows(f, &said);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	for (i = 0; fx_drops(f, STACK_DROP_UDP_RCVBUF) == 0 && i < 100; i++)
		fx_rx_udp4(f, 4000, 7000, "abc", 3);
	assert_in_range(i, 1, 99);
	assert_int_equal(said.calls, i);
	assert_int_equal(said.family, ADDR_INET);
	assert_true(ip_addr_eq(&said.remote, &peer) && ip_addr_eq(&said.local, &us));
	assert_int_equal(said.rport_be, htons(4000));
	assert_int_equal(said.lport_be, htons(7000));
}

/* PUB-2 */
static void
nobody_is_told_of_what_has_no_socket_or_many_receivers(void **state)
{
	struct fx *f = *state;
	struct fx_ip4 group = { .proto = 17, .dst = fx_ip4("10.0.0.255") };
	union ip_addr src = fx_a4("10.0.0.2"), dst = fx_a4("10.0.0.255");
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct said said = { 0 };
	int fd = sock(f, AF_INET);
	uint8_t u[32];

	listen_to_flows(f, &said);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	fx_rx_udp4(f, 4000, 7001, "abc", 3);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_NO_PORT), 1);
	fx_put_udp(u, ADDR_INET, &src, &dst, 4000, 7000, "all", 3);
	fx_rx_ip4(f, &group, u, 11);
	expect(f, fd, "all");
	on(f, fd, SOL_SOCKET, SO_BROADCAST);
	a.sin_addr.s_addr = fx_ip4("10.0.0.255");
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
	a.sin_addr.s_addr = fx_ip4("224.0.0.5");
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
	a.sin_port = 0; /* refused */
	assert_true(sock_sendto(f->s, fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)) < 0);
	assert_int_equal(said.calls, 0);
	fx_tx_clear(f);
}

/* PUB-2 */
static void
a_datagram_that_waits_for_its_neighbour_is_told_as_sent(void **state)
{
	struct fx *f = *state;
	union ip_addr peer = fx_a6("2001:db8::2"), us = fx_a6("2001:db8::1");
	struct said said = { 0 };
	int fd = sock(f, AF_INET6);

	listen_to_flows(f, &said);
	assert_int_equal(bind6(f, fd, "::", 7000), 0);
	assert_int_equal(connect6(f, fd, "2001:db8::2", 9), 0);
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, NULL, 0), 1);
	assert_int_equal(said.calls, 1);
	assert_int_equal(said.family, ADDR_INET6);
	assert_true(ip_addr_eq(&said.remote, &peer) && ip_addr_eq(&said.local, &us));
	assert_int_equal(said.rport_be, htons(9));
	assert_int_equal(said.lport_be, htons(7000));
	fx_tx_clear(f);
}

static bool
has4(struct fx *f, const char *local, uint16_t lport, const char *remote, uint16_t rport)
{
	union ip_addr l = fx_a4(local), r = fx_a4(remote);

	return udp_has_receiver(f->s, ADDR_INET, &l, htons(lport), &r, htons(rport));
}

static bool
has6(struct fx *f, const char *local, uint16_t lport, const char *remote, uint16_t rport)
{
	union ip_addr l = fx_a6(local), r = fx_a6(remote);

	return udp_has_receiver(f->s, ADDR_INET6, &l, htons(lport), &r, htons(rport));
}

/* DSP-8 */
static void
a_receiver_is_whoever_the_tables_name(void **state)
{
	struct fx *f = *state;
	int wild = sock(f, AF_INET), conn = sock(f, AF_INET), six = sock(f, AF_INET6), only = sock(f, AF_INET6);

	assert_false(has4(f, "10.0.0.1", 7000, "10.0.0.2", 4000));
	assert_int_equal(bind4(f, wild, "0.0.0.0", 7000), 0);
	assert_true(has4(f, "10.0.0.1", 7000, "10.0.0.2", 4000));
	assert_false(has4(f, "10.0.0.1", 7001, "10.0.0.2", 4000));
	assert_false(has6(f, "2001:db8::1", 7000, "2001:db8::2", 4000));
	assert_int_equal(bind4(f, conn, "10.0.0.1", 7100), 0);
	assert_int_equal(connect4(f, conn, "10.0.0.2", 4000), 0);
	assert_true(has4(f, "10.0.0.1", 7100, "10.0.0.2", 4000));
	assert_false(has4(f, "10.0.0.1", 7100, "10.0.0.2", 4001));
	/* a dual-stack socket receives IPv4 too, unless it said it does not */
	assert_int_equal(bind6(f, six, "::", 7200), 0);
	assert_true(has4(f, "10.0.0.1", 7200, "10.0.0.2", 1));
	assert_true(has6(f, "2001:db8::1", 7200, "2001:db8::2", 1));
	on(f, only, IPPROTO_IPV6, IPV6_V6ONLY);
	assert_int_equal(bind6(f, only, "::", 7300), 0);
	assert_false(has4(f, "10.0.0.1", 7300, "10.0.0.2", 1));
	assert_int_equal(sock_close(f->s, wild), 0);
	assert_false(has4(f, "10.0.0.1", 7000, "10.0.0.2", 4000));
}

/* DSP-8 */
static void
a_receiver_with_a_scope_is_found_too(void **state)
{
	struct fx *f = *state;
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(7000), .sin6_scope_id = f->nif->index };
	union ip_addr ll = fx_a6("fe80::ff:fe00:1");
	int fd = sock(f, AF_INET6);

	memcpy(&a.sin6_addr, ll.v6, 16);
	assert_int_equal(sock_bind(f->s, fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_true(has6(f, "fe80::ff:fe00:1", 7000, "fe80::2", 1));
	assert_false(has6(f, "fe80::ff:fe00:1", 7001, "fe80::2", 1));
	assert_false(has6(f, "fe80::ff:fe00:9", 7000, "fe80::2", 1));
}

/* REL-18 */
static void
the_stacks_own_buffers_carry_its_mark(void **state)
{
	struct fx *f = *state;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = sock(f, AF_INET);
	static uint8_t big[5000];

	f->s->cfg.buf_mark = 77;
	fx_know_peer(f);
	a.sin_addr.s_addr = fx_ip4("10.0.0.2");
	/* fragments: copies of a chain */
	assert_int_equal(sock_sendto(f->s, fd, big, sizeof(big), 0, (struct sockaddr *)&a, sizeof(a)), sizeof(big));
	fx_rx_udp4(f, 4000, 7777, "payload", 7); /* an ICMP error */
	stack_flush(f->s);
	assert_true(f->tx_n >= 5);
	for (unsigned int i = 0; i < f->tx_n; i++)
		for (const struct rte_mbuf *m = f->tx[i]; m != NULL; m = m->next)
			assert_int_equal(shim_buf_mark(m), 77);
	fx_tx_clear(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_datagram_for_a_socket_is_told_even_when_the_socket_is_full),
		T(nobody_is_told_of_what_has_no_socket_or_many_receivers),
		T(a_datagram_that_waits_for_its_neighbour_is_told_as_sent), T(a_receiver_is_whoever_the_tables_name),
		T(a_receiver_with_a_scope_is_found_too), T(the_stacks_own_buffers_carry_its_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

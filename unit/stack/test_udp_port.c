/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP's ports, addresses, peers and paths. */
#include "sock_world.h"

/* STK-2: RFC 6056 */
static void
ephemeral_ports_are_unforeseeable_and_use_the_whole_range(void **state)
{
	struct fx *f = *state;
	int i, fd, last = 0, steps = 0, fds[16], err;
	uint16_t first, end;

	for (i = 0; i < 64; i++) {
		fd = sock(f, AF_INET);
		assert_int_equal(bind4(f, fd, "0.0.0.0", 0), 0);
		assert_in_range(local_port(f, fd), UDP_PORT_FIRST, UDP_PORT_LAST);
		steps += local_port(f, fd) == last + 1;
		last = local_port(f, fd);
		sock_close(f->s, fd);
	}
	assert_true(steps < 4);
	assert_int_equal(udp_port_range_set(f->s, 0, 5), -EINVAL);
	assert_int_equal(udp_port_range_set(f->s, 40015, 40000), 0); /* either way round */
	udp_port_range_get(f->s, &first, &end);
	assert_int_equal(first, 40015);
	for (i = 0; i < 16; i++) {
		fds[i] = sock(f, AF_INET);
		assert_int_equal(bind4(f, fds[i], "0.0.0.0", 0), 0);
		assert_in_range(local_port(f, fds[i]), 40000, 40015);
	}
	fd = sock(f, AF_INET);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 0), -EADDRINUSE);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), -EAGAIN);
	err = (int)sock_sendto(f->s, fd, "x", 1, 0, NULL, 0);
	assert_int_equal(err, -EDESTADDRREQ);
	sock_close(f->s, fds[7]);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 0), 0);
}

/* STK-2 */
static void
bind_refuses_what_is_not_ours(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), six = sock(f, AF_INET6), i;

	assert_int_equal(bind4(f, fd, "10.0.0.77", 7000), -EADDRNOTAVAIL);
	assert_int_equal(bind6(f, six, "2001:db8::77", 7000), -EADDRNOTAVAIL);
	assert_int_equal(bind6(f, six, "fe80::1", 7000), -EINVAL); /* no scope */
	assert_int_equal(bind4(f, fd, "224.0.0.5", 7000), 0);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7001), -EINVAL); /* bound already */
	assert_int_equal(bind6(f, six, "ff0e::5", 7003), 0);
	/* without memory nothing changes */
	for (i = 1; i < 4; i++) {
		int x = sock(f, AF_INET);

		mock_fail_malloc_at(f->shim, (unsigned int)i);
		assert_int_equal(bind4(f, x, "10.0.0.1", 7100), -ENOMEM);
		assert_int_equal(local_port(f, x), 0);
		assert_int_equal(bind4(f, x, "10.0.0.1", 7100), 0);
		sock_close(f->s, x);
	}
}

/* STK-2 */
static void
connect_and_disconnect_keep_what_bind_chose(void **state)
{
	struct fx *f = *state;
	int a = sock(f, AF_INET), b = sock(f, AF_INET), port;
	struct sockaddr un = { .sa_family = AF_UNSPEC };
	struct sockaddr_in n;
	socklen_t len = sizeof(n);

	fx_know_peer(f);
	assert_int_equal(connect4(f, a, "10.0.0.2", 9), 0);
	port = local_port(f, a);
	assert_true(port != 0);
	assert_int_equal(sock_getsockname(f->s, a, (struct sockaddr *)&n, &len), 0);
	assert_int_equal(n.sin_addr.s_addr, fx_ip4("10.0.0.1"));
	assert_int_equal(connect4(f, a, "10.0.0.2", 10), 0); /* again: the port stays */
	assert_int_equal(local_port(f, a), port);
	assert_int_equal(sock_connect(f->s, a, &un, sizeof(un)), 0);
	assert_int_equal(local_port(f, a), 0);
	assert_int_equal(sock_connect(f->s, a, &un, sizeof(un)), 0);
	assert_int_equal(bind4(f, b, "10.0.0.1", 7000), 0);
	assert_int_equal(connect4(f, b, "10.0.0.2", 9), 0);
	assert_int_equal(sock_connect(f->s, b, &un, sizeof(un)), 0);
	assert_int_equal(local_port(f, b), 7000);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	expect(f, b, "x");
	/* port 0 as a peer only names a source */
	assert_int_equal(connect4(f, a, "10.0.0.2", 0), 0);
	assert_int_equal(sock_sendto(f->s, a, "x", 1, 0, NULL, 0), -EINVAL);
	/* any: this host */
	assert_int_equal(connect4(f, a, "0.0.0.0", 7000), 0);
	assert_int_equal(sock_sendto(f->s, a, "self", 4, 0, NULL, 0), 4);
	fx_poll(f);
	expect(f, b, "self");
	assert_int_equal(connect4(f, a, "99.1.2.3", 9), -EHOSTUNREACH);
	/* no memory for the endpoint: unbound rather than deaf */
	assert_int_equal(connect4(f, b, "10.0.0.2", 9), 0);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(sock_connect(f->s, b, &un, sizeof(un)), 0);
	assert_int_equal(local_port(f, b), 0);
}

/* STK-2: steady state looks no route up */
static void
connected_path_is_cached_until_it_changes(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), un = sock(f, AF_INET), i, v;
	socklen_t n = sizeof(v);
	struct socket *so = fd_socket(f->s, fd);
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9) };
	uint32_t gen;

	fx_know_peer(f);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_MTU, &v, &n), -ENOTCONN);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	gen = so->pcb.path.route_gen;
	for (i = 0; i < 3; i++)
		assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, NULL, 0), 1);
	assert_int_equal(so->pcb.path.route_gen, gen);
	route_touch(f->s);
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, NULL, 0), 1);
	assert_int_not_equal(so->pcb.path.route_gen, gen);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_MTU, &v, &n), 0);
	assert_int_equal(v, 1500);
	a.sin_addr.s_addr = fx_ip4("10.0.0.2");
	for (i = 0; i < 2; i++)
		assert_int_equal(sock_sendto(f->s, un, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
	assert_int_equal(fx_tx_count(f), 6);
	a.sin_addr.s_addr = fx_ip4("99.0.0.2");
	assert_int_equal(sock_sendto(f->s, un, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), -EHOSTUNREACH);
	/* the path goes: the connected one says so */
	assert_int_equal(stack_addr4_del(f->s, f->nif, fx_ip4("10.0.0.1")), 0);
	assert_true(sock_sendto(f->s, fd, "x", 1, 0, NULL, 0) < 0);
	fx_tx_clear(f);
}

/* STK-2 */
static void
dont_fragment_follows_mtu_discover(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), v = IP_PMTUDISC_DO;
	static char big[3000];
	struct fx_pkt *p = test_malloc(sizeof(*p));

	fx_know_peer(f);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	assert_int_equal(sock_sendto(f->s, fd, big, 1472, 0, NULL, 0), 1472);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->frag & 0x4000, 0x4000);
	assert_int_equal(sock_sendto(f->s, fd, big, 3000, 0, NULL, 0), 3000); /* "want": fragments */
	assert_int_equal(fx_tx_count(f), 3);
	fx_tx_clear(f);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MTU_DISCOVER, &v, sizeof(v)), 0);
	assert_int_equal(sock_sendto(f->s, fd, big, 1473, 0, NULL, 0), -EMSGSIZE);
	v = IP_PMTUDISC_DONT;
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MTU_DISCOVER, &v, sizeof(v)), 0);
	assert_int_equal(sock_sendto(f->s, fd, big, 10, 0, NULL, 0), 10);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->frag & 0x4000, 0);
	test_free(p);
}

/* STK-2: tables grow, and a failed doubling is harmless */
static void
many_connected_sockets(void **state)
{
	struct fx *f = fx_new(&(struct fx_opts){ .max_sockets = 2000 });
	static int fds[1200];
	unsigned int i;

	(void)state;
	fx_know_peer(f);
	for (i = 0; i < 1200; i++) {
		fds[i] = sock(f, AF_INET);
		on(f, fds[i], SOL_SOCKET, SO_REUSEADDR);
		assert_int_equal(bind4(f, fds[i], "10.0.0.1", (uint16_t)(i < 600 ? 7000 : 8000 + i)), 0);
		if (i == 256) /* the table would double here; it does at the next */
			mock_fail_malloc_at(f->shim, 1);
		assert_int_equal(connect4(f, fds[i], "10.0.0.2", (uint16_t)(1 + i)), 0);
		mock_script_clear(f->shim);
	}
	for (i = 0; i < 1200; i += 7) {
		fx_rx_udp4(f, (uint16_t)(1 + i), (uint16_t)(i < 600 ? 7000 : 8000 + i), "q", 1);
		expect(f, fds[i], "q");
	}
	fx_free(f);
}

static void
no_state_without_memory(void **state)
{
	struct shim *s = mock_shim_new();
	struct stack st = { .shim = s };
	unsigned int i;

	(void)state;
	for (i = 1; i < 5; i++) {
		mock_fail_malloc_at(s, i);
		assert_int_equal(udp_state_init(&st), -ENOMEM);
		udp_state_release(&st);
	}
	udp_state_release(&st);
	assert_int_equal(mock_shim_free(s), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(ephemeral_ports_are_unforeseeable_and_use_the_whole_range), T(bind_refuses_what_is_not_ours),
		T(connect_and_disconnect_keep_what_bind_chose), T(connected_path_is_cached_until_it_changes),
		T(dont_fragment_follows_mtu_discover), cmocka_unit_test(many_connected_sockets),
		cmocka_unit_test(no_state_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

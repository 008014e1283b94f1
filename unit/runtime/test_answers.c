/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers and the primary answer to the tools: tables and JSON, pages, changes, and refusals in words. */
#include "fixture.h"

#include <arpa/inet.h>

#include "core/stack/priv.h"

static char text[CTL_TEXT + 1];
static uint32_t next;

static void
turns(struct shim *s, enum mock_op op, void *arg)
{
	struct rt *rt = arg;

	(void)s;
	(void)op;
	if (rt->w[0] != NULL)
		worker_turn(rt->w[0]);
	primary_turn(rt->p);
}

/* words: separated by blanks. */
static int
ask(struct rt *rt, unsigned int index, enum ctl_op op, const char *words)
{
	char args[256];
	struct ctl_block *b;
	size_t n = strlen(words);

	memcpy(args, words, n + 1);
	for (size_t i = 0; i < n; i++)
		if (args[i] == ' ')
			args[i] = '\0';
	assert_int_equal(ctl_attach(rt->tool, index, &b), 0);
	mock_hook(rt->s, MOCK_OP_sleep_ns, turns, rt);
	text[0] = '\0';
	return ctl_call(rt->tool, b, op, args, n > 0 ? n + 1 : 0, text, sizeof(text), &next, 100);
}

#define ASK(op, words) ask(rt, 1, op, words)
#define PRIMARY(op, words) ask(rt, CTL_PRIMARY, op, words)
#define SAYS(words) assert_non_null(strstr(text, words))

static int
setup(void **state)
{
	*state = rt_bed(RT_DPDK RT_PORT RT_PORT6 RT_NO_DAD, 1);
	return 0;
}

static int
teardown(void **state)
{
	rt_free(*state);
	return 0;
}

static void
test_ping_and_what_is_not_done(void **state)
{
	struct rt *rt = *state;

	assert_int_equal(ASK(CTL_PING, ""), 0);
	SAYS("pong");
	assert_int_equal(ASK(CTL_MTU_SET, "0 1400"), -EOPNOTSUPP);
	assert_int_equal(PRIMARY(CTL_PING, ""), 0);
	assert_int_equal(PRIMARY(CTL_ARP_LIST, ""), -EOPNOTSUPP);
	SAYS("ask a worker");
	assert_int_equal(ASK(CTL_ROUTE_LIST, "json x"), -EINVAL);
	assert_int_equal(ASK(CTL_ARP_LIST, "json 5x"), -EINVAL);
	assert_int_equal(ASK(CTL_IFCONFIG, "text -"), -EINVAL);
}

static void
test_neighbours(void **state)
{
	struct rt *rt = *state;
	union ip_addr a = ip_addr_v4(inet_addr("192.0.2.9"));
	struct stack *s = worker_stack(rt->w[0]);
	struct neigh *n = neigh_get(s, worker_netif(rt->w[0], 0), ADDR_INET, &a);

	assert_int_equal(ASK(CTL_ARP_LIST, "text"), 0);
	SAYS("192.0.2.9");
	SAYS("(none)");
	SAYS("incomplete");
	neigh_update(s, n, (const uint8_t *)"\x02\x00\x00\x00\x00\x99", true, true);
	assert_int_equal(ASK(CTL_ARP_LIST, "json"), 0);
	assert_string_equal(text, "{\"address\":\"192.0.2.9\",\"mac\":\"02:00:00:00:00:99\",\"interface\":\"f-stack-0\","
		"\"state\":\"reachable\",\"router\":false}");
	assert_int_equal(ASK(CTL_NDP_LIST, "json"), 0);
	assert_string_equal(text, "");
	n->state = 99;
	n->is_router = 1;
	assert_int_equal(ASK(CTL_ARP_LIST, "text"), 0);
	SAYS("?, router");
	n->state = NEIGH_REACHABLE;
}

static void
test_long_lists_come_in_pages(void **state)
{
	struct rt *rt = *state;
	struct stack *s = worker_stack(rt->w[0]);
	unsigned int lines = 0, pages = 0;
	char words[32];

	for (unsigned int i = 0; i < 1000; i++) {
		union ip_addr a = ip_addr_v4(htonl(0xc0000201 + i));

		assert_non_null(neigh_get(s, worker_netif(rt->w[0], 0), ADDR_INET, &a));
	}
	next = 0;
	do {
		snprintf(words, sizeof(words), "text %u", next);
		assert_int_equal(ASK(CTL_ARP_LIST, words), 0);
		for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
			lines++;
		pages++;
	} while (next != 0);
	assert_int_equal(lines, 1000);
	assert_true(pages > 1);
	assert_int_equal(ASK(CTL_ARP_LIST, "json 998"), 0);
	SAYS("},{");
	assert_int_equal(next, 0);
}

static void
test_routes_are_listed_added_deleted(void **state)
{
	struct rt *rt = *state;

	assert_int_equal(ASK(CTL_ROUTE_LIST, "text"), 0);
	SAYS("192.0.2.0/24");
	SAYS("on link");
	assert_int_equal(ASK(CTL_ROUTE_ADD, "198.51.100.0/24 192.0.2.9 -"), 0);
	assert_int_equal(ASK(CTL_ROUTE_ADD, "2001:db8:7::/48 - f-stack-0"), 0);
	assert_int_equal(ASK(CTL_ROUTE_ADD, "203.0.113.1 192.0.2.9"), 0);
	assert_int_equal(ASK(CTL_ROUTE_LIST, "json"), 0);
	SAYS("{\"destination\":\"198.51.100.0\",\"prefix_len\":24,\"gateway\":\"192.0.2.9\",\"interface\":\"f-stack-0\","
		"\"mtu\":1500,\"origin\":\"static\"}");
	SAYS("\"2001:db8:7::\",\"prefix_len\":48,\"gateway\":null");
	SAYS("\"203.0.113.1\",\"prefix_len\":32");
	assert_int_equal(ASK(CTL_ROUTE_DEL, "198.51.100.0/24"), 0);
	assert_int_equal(ASK(CTL_ROUTE_DEL, "198.51.100.0/24"), -ENOENT);
	SAYS("no such static route");
	assert_int_equal(ASK(CTL_ROUTE_DEL, "default"), 0);
	assert_int_equal(ASK(CTL_ROUTE_DEL, "default6"), 0);
	assert_int_equal(ASK(CTL_ROUTE_ADD, "default 192.0.2.9"), 0);
}

static void
test_bad_routes_are_refused_in_words(void **state)
{
	static const struct { const char *words, *says; int rc; } bad[] = {
		{ "", "expected a destination", -EINVAL }, { "10.0.0.0/33 192.0.2.9", "expected a destination", -EINVAL },
		{ "10.0.0.0/x 192.0.2.9", "expected a destination", -EINVAL },
		{ "10.0.0.300 192.0.2.9", "expected a destination", -EINVAL },
		{ "2001:db8::/129 -", "expected a destination", -EINVAL },
		{ "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc/64 -", "expected a destination", -EINVAL },
		{ "10.0.0.0/8 2001:db8::1", "destination's family", -EINVAL },
		{ "10.0.0.0/8 192.0.2.9/32", "destination's family", -EINVAL },
		{ "10.0.0.0/8 nobody", "destination's family", -EINVAL },
		{ "10.0.0.0/8 192.0.2.9 eth7", "no interface 'eth7'", -ENODEV },
		{ "10.0.0.0/8", "expected a gateway or an interface", -EINVAL },
		{ "10.0.0.0/8 10.9.9.9", "no connected network", -EHOSTUNREACH },
	};
	struct rt *rt = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ASK(CTL_ROUTE_ADD, bad[i].words), bad[i].rc);
		SAYS(bad[i].says);
	}
	assert_int_equal(ASK(CTL_ROUTE_ADD, "10.0.0.0/8 192.0.2.9"), 0);
	assert_int_equal(ASK(CTL_ROUTE_ADD, "10.0.0.0/8 192.0.2.9"), -EEXIST);
}

static void
test_interfaces(void **state)
{
	struct rt *rt = *state;

	assert_int_equal(ASK(CTL_IFCONFIG, "text"), 0);
	SAYS("f-stack-0: port 0  up  mtu 1500");
	SAYS("inet 192.0.2.2/24 broadcast 192.0.2.255");
	SAYS("inet6 2001:db8::2/64 preferred");
	assert_int_equal(ASK(CTL_IFCONFIG, "json"), 0);
	SAYS("{\"name\":\"f-stack-0\",\"port\":0,\"vlan\":0,\"up\":true,\"mtu\":1500,\"mtu6\":1500,"
		"\"mac\":\"02:00:00:00:00:01\",\"addresses\":[{\"address\":\"192.0.2.2\",\"prefix_len\":24}");
	assert_int_equal(ASK(CTL_IFCONFIG, "json 0 f-stack-0"), 0);
	SAYS("f-stack-0");
	assert_int_equal(ASK(CTL_IFCONFIG, "json 0 eth0"), 0);
	assert_string_equal(text, "");
}

/* MTU-4: one worker's software view; MTU-1: never past the port's. */
static void
test_software_mtu(void **state)
{
	struct rt *rt = *state;
	struct stack *s = worker_stack(rt->w[0]);
	const struct netif_config vlan = { .name = "v7", .vlan = 7, .mtu = 1500, .parent = worker_netif(rt->w[0], 0),
		.mac = { 2, 0, 0, 0, 0, 1 } };
	struct netif *v;

	assert_int_equal(stack_if_add(s, &vlan, &v), 0);
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0 1300"), 0);
	assert_int_equal(worker_netif(rt->w[0], 0)->mtu, 1300);
	assert_int_equal(v->mtu, 1300); /* it sends through its parent */
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0 1501"), -ERANGE);
	SAYS("carries 1500");
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0"), -EINVAL);
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0 67"), -EINVAL);
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0 65536"), -EINVAL);
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0 14x"), -EINVAL);
	assert_int_equal(ASK(CTL_IF_MTU, "eth0 1400"), -ENODEV);
	mock_fail(rt->s, MOCK_OP_port_mtu_get, 1, EIO);
	assert_int_equal(ASK(CTL_IF_MTU, "f-stack-0 1400"), -EIO);
}

/* MTU-4 */
static void
test_primary_changes_the_port(void **state)
{
	struct rt *rt = *state;
	uint16_t mtu;

	assert_int_equal(PRIMARY(CTL_MTU_SET, "0 1400"), 0);
	assert_int_equal(shim_port_mtu_get(rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1400);
	assert_int_equal(PRIMARY(CTL_MTU_SET, "0 1501"), -ERANGE);
	SAYS("mtu_enable=1");
	assert_int_equal(PRIMARY(CTL_MTU_SET, "0"), -EINVAL);
	assert_int_equal(PRIMARY(CTL_MTU_SET, "x 1400"), -EINVAL);
	assert_int_equal(PRIMARY(CTL_MTU_SET, "0 70000"), -EINVAL);
	assert_int_equal(PRIMARY(CTL_MTU_SET, "5 1400"), -ENODEV);
}

static void
test_ports(void **state)
{
	struct rt *rt = *state;

	mock_port_counters(rt->s, 0)->rx_missed = 12;
	assert_int_equal(PRIMARY(CTL_PORT_LIST, "text"), 0);
	SAYS("port 0  mock, link up, MTU 1500, 1 queue");
	SAYS("missed 12");
	assert_int_equal(PRIMARY(CTL_PORT_LIST, "json"), 0);
	SAYS("{\"port\":0,\"driver\":\"mock\",\"mtu\":1500,\"link\":true,\"queues\":1,\"rss\":true");
	SAYS("\"rx_missed\":12");
	assert_int_equal(PRIMARY(CTL_PORT_LIST, "json 1"), 0);
	assert_string_equal(text, "");
	assert_int_equal(PRIMARY(CTL_PORT_LIST, "json -1"), -EINVAL);
	mock_fail(rt->s, MOCK_OP_port_info, 1, EIO);
	mock_port_link_set(rt->s, 0, false);
	assert_int_equal(PRIMARY(CTL_PORT_LIST, "text"), 0);
	SAYS("link down");
}

static void
test_stop_of_a_worker_and_of_the_primary(void **state)
{
	struct rt *rt = *state;

	assert_int_equal(ASK(CTL_STOP, ""), 0);
	assert_true(worker_stopped(rt->w[0]));
	assert_int_equal(PRIMARY(CTL_STOP, ""), 0);
	assert_int_equal(rt->w[0]->block->quit, 1);
}

static int
stream_to(struct stack *s, uint16_t port, const char *to)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = sock_socket(s, AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	if (to == NULL) {
		assert_int_equal(sock_bind(s, fd, (struct sockaddr *)&a, sizeof(a)), 0);
		assert_int_equal(sock_listen(s, fd, 5), 0);
	} else {
		a.sin_addr.s_addr = inet_addr(to);
		assert_int_equal(sock_connect(s, fd, (struct sockaddr *)&a, sizeof(a)), -EINPROGRESS);
	}
	return fd;
}

static void
test_connections_and_counters_of_tcp(void **state)
{
	struct rt *rt = *state;
	struct stack *s = worker_stack(rt->w[0]);
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons(81) };
	int fd, lst6 = sock_socket(s, AF_INET6, SOCK_STREAM, 0);

	assert_int_equal(ASK(CTL_TCP_LIST, "text"), 0);
	assert_string_equal(text, "");
	stream_to(s, 80, NULL);
	assert_int_equal(ASK(CTL_TCP_LIST, "json"), 0);
	assert_string_equal(text, "{\"proto\":\"tcp4\",\"recv_q\":0,\"send_q\":5,\"local\":\"*\",\"local_port\":80,"
		"\"remote\":\"*\",\"remote_port\":0,\"state\":\"LISTEN\"}");
	inet_pton(AF_INET6, "::1", &a6.sin6_addr);
	assert_int_equal(sock_bind(s, lst6, (struct sockaddr *)&a6, sizeof(a6)), 0);
	assert_int_equal(sock_listen(s, lst6, 5), 0);
	fd = stream_to(s, 80, "127.0.0.1");
	for (int i = 0; i < 8; i++)
		rt_turn(rt, 1);
	assert_int_equal(sock_sendto(s, fd, "hello", 5, 0, NULL, 0), 5);
	for (int i = 0; i < 4; i++)
		rt_turn(rt, 1);
	assert_int_equal(ASK(CTL_TCP_LIST, "text"), 0);
	SAYS("*:80 ");
	SAYS("*:* ");
	SAYS("[::1]:81");
	SAYS("127.0.0.1:80");
	SAYS("ESTABLISHED");
	SAYS("tcp4        5        0 ");
	assert_int_equal(ASK(CTL_TCP_COUNTS, "text"), 0);
	SAYS("1 connections initiated\n");
	assert_null(strstr(text, " 0 "));
	stack_drop(s, NULL, STACK_DROP_TCP_SHORT, NULL);
	assert_int_equal(ASK(CTL_TCP_COUNTS, "text"), 0);
	SAYS("1 dropped: TCP header cut short\n");
	assert_int_equal(ASK(CTL_TCP_COUNTS, "json"), 0);
	SAYS("{\"name\":\"conn_attempt\",\"count\":1},");
	assert_int_equal(ASK(CTL_TCP_COUNTS, "json x"), -EINVAL);
	assert_int_equal(ASK(CTL_TCP_LIST, "json x"), -EINVAL);
	assert_int_equal(PRIMARY(CTL_TCP_LIST, ""), -EOPNOTSUPP);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_ping_and_what_is_not_done), T(test_connections_and_counters_of_tcp),
		T(test_neighbours), T(test_long_lists_come_in_pages),
		T(test_routes_are_listed_added_deleted), T(test_bad_routes_are_refused_in_words), T(test_interfaces),
		T(test_software_mtu), T(test_primary_changes_the_port), T(test_ports),
		T(test_stop_of_a_worker_and_of_the_primary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

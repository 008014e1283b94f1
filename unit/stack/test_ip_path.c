/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: source, next hop, scope, what makes a kept one stale; and the way back to ourselves. */
#include "ip4_world.h"

static int
lookup(uint32_t dst, uint32_t src, struct netif *nif, struct ip_path *p)
{
	union ip_addr d = ip_addr_v4(dst), s = ip_addr_v4(src);

	return ip_path_lookup(W.s, ADDR_INET, &d, &s, nif, p);
}

static struct netif *
second_netif(void)
{
	struct netif_config nc = { .name = "f-stack-1", .mac = { 2, 0, 0, 0, 1, 1 }, .mtu = 9000, .tx = take_frames,
		.no_link_local = true };
	struct netif *nif;

	assert_int_equal(stack_if_add(W.s, &nc, &nif), 0);
	return nif;
}

/* STK-2 */
static void
longest_prefix_and_gateway_say_the_next_hop(void **state)
{
	union ip_addr any = ip_addr_v4(0), net = ip_addr_v4(A(192, 0, 2, 0)), gw = ip_addr_v4(A(10, 0, 0, 254)),
		gw2 = ip_addr_v4(A(10, 0, 0, 253));
	struct ip_path p;

	(void)state;
	assert_int_equal(lookup(FAR, 0, NULL, &p), -EHOSTUNREACH);
	assert_int_equal(drops(STACK_DROP_IP4_NO_ROUTE), 1);
	assert_int_equal(lookup(0, 0, NULL, &p), -EHOSTUNREACH);
	assert_int_equal(stack_route_add(W.s, ADDR_INET, &any, 0, &gw, NULL), 0);
	assert_int_equal(stack_route_add(W.s, ADDR_INET, &net, 24, &gw2, NULL), 0);
	assert_int_equal(lookup(FAR, 0, NULL, &p), 0);
	assert_true(p.neigh->addr.v4 == gw2.v4);
	assert_true(p.dst.v4 == FAR && p.src.v4 == US && p.nif == W.nif);
	assert_int_equal(lookup(A(8, 8, 8, 8), 0, NULL, &p), 0);
	assert_true(p.neigh->addr.v4 == gw.v4);
	assert_int_equal(lookup(PEER, 0, NULL, &p), 0);
	assert_true(p.neigh->addr.v4 == PEER);
	assert_int_equal(p.flags, 0);
	assert_int_equal(p.mtu, 1500);
}

/* STK-2: several addresses per port */
static void
source_is_of_the_prefix_or_the_one_asked_for(void **state)
{
	struct ip_path p;

	(void)state;
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(172, 16, 0, 1), 16, 0), 0);
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(172, 16, 0, 5), 32, 0), 0);
	assert_int_equal(lookup(A(172, 16, 9, 9), 0, NULL, &p), 0);
	assert_true(p.src.v4 == A(172, 16, 0, 1));
	assert_int_equal(lookup(A(172, 16, 9, 9), A(172, 16, 0, 5), NULL, &p), 0);
	assert_true(p.src.v4 == A(172, 16, 0, 5));
	assert_int_equal(lookup(A(172, 16, 9, 9), A(172, 16, 0, 6), NULL, &p), -EADDRNOTAVAIL);
	assert_int_equal(lookup(US, A(172, 16, 0, 6), NULL, &p), -EADDRNOTAVAIL);
	assert_int_equal(lookup(A(239, 1, 1, 1), A(172, 16, 0, 6), NULL, &p), -EADDRNOTAVAIL);
}

/* STK-2 */
static void
kept_path_goes_stale_when_anything_it_rests_on_changes(void **state)
{
	struct ip_path p = path_to(PEER);

	(void)state;
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(10, 0, 0, 9), 24, 0), 0);
	assert_false(ip_path_valid(W.s, &p));
	p = path_to(PEER);
	assert_int_equal(stack_addr4_del(W.s, W.nif, A(10, 0, 0, 9)), 0);
	assert_false(ip_path_valid(W.s, &p));
	p = path_to(PEER);
	assert_int_equal(stack_if_mtu_set(W.s, W.nif, 1400), 0);
	assert_false(ip_path_valid(W.s, &p));
	p = path_to(PEER);
	assert_int_equal(p.mtu, 1400);
	neigh_delete(W.s, p.neigh);
	assert_false(ip_path_valid(W.s, &p));
	memset(&p, 0, sizeof(p));
	assert_false(ip_path_valid(W.s, &p));
}

/* STK-2: connected routes come and go with the addresses */
static void
connected_route_stays_while_one_address_has_its_prefix(void **state)
{
	struct netif *two = second_netif();
	struct ip_path p;

	(void)state;
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(10, 0, 0, 9), 24, 0), 0);
	assert_int_equal(stack_addr4_add(W.s, two, A(10, 0, 0, 10), 24, 0), 0);
	assert_int_equal(stack_addr4_del(W.s, W.nif, US), 0);
	assert_int_equal(lookup(PEER, 0, NULL, &p), 0);
	assert_true(p.src.v4 == A(10, 0, 0, 9));
	assert_int_equal(stack_addr4_del(W.s, W.nif, A(10, 0, 0, 9)), 0);
	assert_int_equal(lookup(PEER, 0, NULL, &p), 0); /* the other interface has the prefix too */
	assert_true(p.nif == two && p.src.v4 == A(10, 0, 0, 10));
	assert_int_equal(stack_addr4_del(W.s, two, A(10, 0, 0, 10)), 0);
	assert_int_equal(lookup(PEER, 0, NULL, &p), -EHOSTUNREACH);
	/* a host address alone leads nowhere but home */
	assert_int_equal(stack_addr4_add(W.s, two, A(10, 0, 0, 10), 32, 0), 0);
	assert_int_equal(lookup(A(10, 0, 0, 11), 0, NULL, &p), -EHOSTUNREACH);
	assert_int_equal(lookup(A(10, 0, 0, 10), 0, NULL, &p), 0);
	assert_int_equal(stack_addr4_del(W.s, two, A(10, 0, 0, 10)), 0);
}

/* STK-2 */
static void
groups_and_broadcast_need_an_interface_with_an_address(void **state)
{
	struct netif *two = second_netif();
	struct ip_path p;

	(void)state;
	assert_int_equal(lookup(A(239, 1, 1, 1), 0, NULL, &p), 0);
	assert_true(p.nif == W.nif && p.neigh == NULL);
	assert_int_equal(p.flags, IP_PATH_MULTICAST);
	assert_int_equal(lookup(A(239, 1, 1, 1), 0, two, &p), -EADDRNOTAVAIL);
	assert_int_equal(stack_addr4_add(W.s, two, A(10, 1, 0, 1), 24, 0), 0);
	assert_int_equal(lookup(A(239, 1, 1, 1), A(10, 1, 0, 1), NULL, &p), 0);
	assert_true(p.nif == two && p.src.v4 == A(10, 1, 0, 1));
	assert_int_equal(p.mtu, 9000);
	assert_int_equal(lookup(A(255, 255, 255, 255), 0, two, &p), 0);
	assert_int_equal(p.flags, IP_PATH_BROADCAST);
	assert_int_equal(lookup(A(10, 1, 0, 255), 0, NULL, &p), 0);
	assert_int_equal(p.flags, IP_PATH_BROADCAST);
	assert_true(p.nif == two && p.neigh == NULL);
	/* RFC 3021: two addresses, none of them everybody's */
	assert_int_equal(stack_addr4_add(W.s, two, A(10, 2, 0, 0), 31, 0), 0);
	assert_int_equal(lookup(A(10, 2, 0, 1), 0, NULL, &p), 0);
	assert_int_equal(p.flags, 0);
	/* by the default route, when there is one */
	union ip_addr any = ip_addr_v4(0), gw = ip_addr_v4(A(10, 1, 0, 2));

	assert_int_equal(stack_route_add(W.s, ADDR_INET, &any, 0, &gw, NULL), 0);
	assert_int_equal(lookup(A(239, 1, 1, 1), 0, NULL, &p), 0);
	assert_true(p.nif == two);
	W.nif->flags &= ~(uint32_t)NETIF_UP;
	assert_int_equal(lookup(A(255, 255, 255, 255), 0, NULL, &p), 0);
	assert_true(p.nif == two);
	W.nif->flags |= NETIF_UP;
}

/* STK-1: no interface at all */
static void
stack_without_interfaces_reaches_nobody(void **state)
{
	struct stack_config cfg = { .shim = W.shim, .pool = W.pool, .max_sockets = 16 };
	union ip_addr lo = ip_addr_v4(A(127, 0, 0, 1)), all = ip_addr_v4(UINT32_MAX), group = ip_addr_v4(A(224, 1, 1, 1));
	struct ip_path p;
	struct stack *s;

	(void)state;
	assert_int_equal(stack_create(&cfg, &s), 0);
	assert_int_equal(ip_path_lookup(s, ADDR_INET, &lo, NULL, NULL, &p), -EHOSTUNREACH);
	assert_int_equal(ip_path_lookup(s, ADDR_INET, &all, NULL, NULL, &p), -EHOSTUNREACH);
	assert_int_equal(ip_path_lookup(s, ADDR_INET, &group, NULL, NULL, &p), -EHOSTUNREACH);
	stack_destroy(s);
}

static void
send_to(uint32_t dst, struct rte_mbuf *m, int want)
{
	const struct ip_tx tx = { .proto = IP_PROTO_UDP };
	struct ip_path p = path_to(dst);

	assert_true(p.flags & IP_PATH_LOCAL);
	assert_int_equal(p.mtu, 65535);
	put_be16(shim_buf_data_off(m, uint8_t *, 4), (uint16_t)shim_buf_len(m));
	ip_l4_csum(W.s, &p, IP_PROTO_UDP, 6, m);
	assert_int_equal(ip_output(W.s, &p, &tx, m), want);
}

/* STK-2: what we send to ourselves comes back with the next poll, whole, without a wire */
static void
packets_to_ourselves_loop_back_without_recursion(void **state)
{
	static const uint32_t dst[] = { US, A(127, 0, 0, 1), A(127, 1, 2, 3) };
	static struct pkt q;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_false(ip_loop_pending(W.s));
		send_to(dst[i], payload(3000, 400), 0);
		assert_true(ip_loop_pending(W.s));
		assert_true(stack_next_deadline(W.s) <= W.s->now_ns);
		assert_int_equal(W.nup, 0);
		stack_poll(W.s, W.s->now_ns);
		assert_int_equal(W.nup, 1);
		assert_false(ip_loop_pending(W.s));
		assert_true(W.rx[0].src.v4 == dst[i] && W.rx[0].dst.v4 == dst[i]);
		q.len = buf_bytes(W.up[0], q.b);
		assert_int_equal(q.len, 3020);
		assert_int_equal(csum_finish(csum_add(csum_pseudo4(dst[i], dst[i], IP_PROTO_UDP, 3000), q.b + 20, 3000)), 0);
		assert_int_equal(W.up[0]->ol_flags, 0);
		world_clear();
	}
	assert_int_equal(tx_count(), 0);
}

/* STK-2: an error to ourselves goes the same way */
static void
unreachable_port_of_our_own_comes_back_as_an_error(void **state)
{
	(void)state;
	W.answer_unreachable = true;
	send_to(A(127, 0, 0, 1), payload(100, 0), 0);
	stack_poll(W.s, W.s->now_ns);
	assert_int_equal(W.nup, 1);
	assert_int_equal(W.nerr, 0); /* its turn is the next drain */
	stack_poll(W.s, W.s->now_ns);
	assert_true(ip_loop_pending(W.s) == false);
	send_to(US, payload(100, 0), 0);
	stack_poll(W.s, W.s->now_ns);
	stack_poll(W.s, W.s->now_ns);
	assert_int_equal(W.nerr, 1);
	assert_int_equal(W.err.err, ECONNREFUSED);
}

/* STK-8 */
static void
loop_queue_is_bounded_and_goes_with_the_stack(void **state)
{
	struct rte_mbuf *m, *c;

	(void)state;
	for (unsigned int i = 0; i < IP_LOOP_MAX; i++)
		send_to(US, payload(8, 0), 0);
	send_to(US, payload(8, 0), -ENOBUFS);
	assert_int_equal(drops(STACK_DROP_TX_FULL), 1);
	stack_poll(W.s, W.s->now_ns);
	assert_int_equal(W.nup, IP_LOOP_MAX);
	world_clear();
	/* bytes that others hold are copied, for the receiver may write to his */
	m = payload(200, 0);
	put_be16(shim_buf_data_off(m, uint8_t *, 4), 200);
	c = shim_buf_clone(W.shim, m, W.pool);
	send_to(US, c, 0);
	stack_poll(W.s, W.s->now_ns);
	assert_int_equal(W.nup, 1);
	for (struct rte_mbuf *q = W.up[0]; q != NULL; q = q->next)
		assert_true(RTE_MBUF_DIRECT(q));
	for (unsigned int k = 1; k <= 2; k++) {
		c = shim_buf_clone(W.shim, m, W.pool);
		mock_fail_buf_at(W.shim, k); /* the header's buffer, then the copy */
		send_to(US, c, -ENOBUFS);
		mock_fail_buf_at(W.shim, 0);
		assert_int_equal(drops(STACK_DROP_NO_BUFFER), k);
	}
	shim_buf_free(W.shim, m);
	/* two are left for stack_destroy */
	send_to(US, payload(8, 0), 0);
	send_to(US, payload(8, 0), 0);
}

/* STK-8: more next hops than the neighbour table holds, all of them in use */
static void
full_neighbour_table_is_an_error(void **state)
{
	static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 9 };
	struct ip_path p;
	unsigned int i;

	(void)state;
	assert_int_equal(stack_addr4_add(W.s, W.nif, A(172, 16, 0, 1), 16, 0), 0);
	for (i = 0; i < NEIGH_MAX; i++) {
		union ip_addr a = ip_addr_v4(A(172, 16, 1 + i / 250, 1 + i % 250));
		struct neigh *n = neigh_get(W.s, W.nif, ADDR_INET, &a);

		if (n == NULL)
			break;
		neigh_update(W.s, n, mac, true, true);
	}
	assert_int_equal(lookup(A(172, 16, 200, 1), 0, NULL, &p), -ENOBUFS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(longest_prefix_and_gateway_say_the_next_hop),
		world_test(source_is_of_the_prefix_or_the_one_asked_for),
		world_test(kept_path_goes_stale_when_anything_it_rests_on_changes),
		world_test(connected_route_stays_while_one_address_has_its_prefix),
		world_test(groups_and_broadcast_need_an_interface_with_an_address),
		world_test(stack_without_interfaces_reaches_nobody),
		world_test(packets_to_ourselves_loop_back_without_recursion),
		world_test_offload(packets_to_ourselves_loop_back_without_recursion),
		world_test(unreachable_port_of_our_own_comes_back_as_an_error),
		world_test(loop_queue_is_bounded_and_goes_with_the_stack),
		world_test(full_neighbour_table_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One IPv6 socket for both families: mapped addresses, who gets a connection, what IPV6_V6ONLY changes (RFC 3493 3.7, 5.3). */
#include "peer.h"

/* A listener made as an IPv6 socket on all addresses, in a world whose packets are IPv4. */
static struct app *
listen6_any(struct world *w, uint16_t port, bool v6only)
{
	union ip_addr all = { .q = { 0, 0 } };
	struct app *a;

	w->family = ADDR_INET6;
	a = app_new(w);
	w->family = ADDR_INET;
	app_opt(w, a, TCP_OPT_V6ONLY, v6only);
	assert_int_equal(tcp_bind(w->s, a->p, ADDR_INET6, &all, htons(port), NULL), 0);
	assert_int_equal(tcp_listen(w->s, a->p, 5), 0);
	return a;
}

/* STK-3: checklist 64 */
static void
test_v4_connection_reaches_a_dual_stack_listener(void **state)
{
	struct world *w = *state;
	struct app *l = listen6_any(w, 80, false), *a;
	struct tcp_addr us, peer;
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	tcp_local(a->p, &us);
	assert_int_equal(us.family, ADDR_INET);
	assert_int_equal(us.addr.v4, fx_ip4("10.0.0.1"));
	assert_int_equal(tcp_remote(a->p, &peer), 0);
	assert_int_equal(peer.addr.v4, fx_ip4("10.0.0.2"));
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 100);
	assert_int_equal(app_write(w, a, 10), 10);
	peer_see(&p, A | P, 1, 10, 101);
}

/* STK-3: checklist 64 */
static void
test_v6only_listener_refuses_v4(void **state)
{
	struct world *w = *state;
	struct app *l = listen6_any(w, 80, true);
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	assert_true(world_get(w, &s));
	assert_int_equal(s.flags, R | A);
	assert_null(app_accept(w, l));
}

/* STK-3: checklist 64: a v6-only and an IPv4 listener share a port; a dual one and an IPv4 one do not */
static void
test_v6only_shares_its_port_with_v4(void **state)
{
	struct world *w = *state;
	union ip_addr all = { .q = { 0, 0 } };
	struct app *six = listen6_any(w, 80, true), *four = app_new(w), *dual, *other;
	struct peer p;

	assert_int_equal(tcp_bind(w->s, four->p, ADDR_INET, &all, htons(80), NULL), 0);
	assert_int_equal(tcp_listen(w->s, four->p, 5), 0);
	peer_init(w, &p, 4000, 80, 1000);
	assert_non_null(peer_open(&p, four, MSS_1000, LEN(MSS_1000)));
	assert_null(app_accept(w, six));
	dual = listen6_any(w, 81, false);
	other = app_new(w);
	assert_int_equal(tcp_bind(w->s, other->p, ADDR_INET, &all, htons(81), NULL), -EADDRINUSE);
	peer_init(w, &p, 4000, 81, 1000);
	assert_non_null(peer_open(&p, dual, MSS_1000, LEN(MSS_1000)));
}

/* STK-3: checklist 64 */
static void
test_v6_socket_connects_to_v4(void **state)
{
	struct world *w = *state;
	union ip_addr to = world_peer(w);
	struct tcp_addr us;
	struct app *a;
	struct peer p;

	w->family = ADDR_INET6;
	a = app_new(w);
	w->family = ADDR_INET;
	assert_int_equal(tcp_connect(w->s, a->p, ADDR_INET, &to, htons(4000), NULL), -EINPROGRESS);
	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	peer_syn(&p, S | A, MSS_1000, LEN(MSS_1000));
	peer_see(&p, A, 1, 0, 1);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T4(test_v4_connection_reaches_a_dual_stack_listener),
		T4(test_v6only_listener_refuses_v4),
		T4(test_v6only_shares_its_port_with_v4),
		T4(test_v6_socket_connects_to_v4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

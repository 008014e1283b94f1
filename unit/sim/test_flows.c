/* SPDX-License-Identifier: BSD-3-Clause */
/* The client with many flows: what makes a flow one of its own. */
#include "../stack/fixture.h"

#include "sim/flows.h"

enum { FLOWS = 32 };

/* SIM-5: a flow that begins is new to the server: its local port was never another flow's, even when few are free and those are closed */
static void
every_flow_has_a_local_port_of_its_own(void **state)
{
	struct flows f = { .server4_be = fx_ip4("10.0.0.2"), .seed = 7, .n = FLOWS };
	struct fx *fx = *state;
	bool seen[2][UINT16_MAX + 1] = { { false } };
	struct fx_pkt p;

	fx_know_peer(fx);
	memcpy(f.server6, fx_a6("2001:db8::2").v6, 16);
	assert_int_equal(udp_port_range_set(fx->s, 50000, 50003), 0);
	for (unsigned int i = 0; i < FLOWS; i++)
		f.flow[i] = (struct flow){ .v6 = i % 2 != 0, .rude = true, .all = 1, .min_len = 16, .max_len = 32, .next_ns = i * FX_MS };
	assert_int_equal(flows_init(&f, fx->s), 0);
	for (unsigned int i = 0; i < FLOWS; i++) {
		flows_turn(&f, fx->s, fx->now);
		fx_advance(fx, FX_MS);
	}
	assert_true(flows_over(&f));
	assert_int_equal(f.send_errors, 0);
	for (unsigned int i = 0; i < FLOWS; i++) {
		uint16_t port;

		fx_pop(fx, &p);
		assert_int_equal(p.proto, IP_PROTO_UDP);
		port = get_be16(p.l4);
		assert_false(seen[p.family == ADDR_INET6][port]);
		seen[p.family == ADDR_INET6][port] = true;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_flow_has_a_local_port_of_its_own, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

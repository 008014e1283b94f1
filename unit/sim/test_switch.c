/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch that does not learn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sim/switch.h"

static unsigned int got[3];

static void
count(struct sim_end *e, const uint8_t *frame, uint32_t len)
{
	(void)frame;
	(void)len;
	got[(intptr_t)e->ctx]++;
}

static void
send_to(struct sim_world *w, struct sim_end *from, const uint8_t mac[6])
{
	uint8_t f[60] = { 0 };

	memset(got, 0, sizeof(got));
	memcpy(f, mac, 6);
	sim_send(from, f, sizeof(f));
	sim_run(w, sim_now(w) + 1000);
}

/* SIM-1 */
static void
known_stations_get_theirs_and_the_rest_is_flooded(void **state)
{
	const uint8_t mac[4][6] = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 }, { 255, 255, 255, 255, 255, 255 },
		{ 2, 0, 0, 0, 0, 9 } };
	struct sim_end e[3] = { { .receive = count, .ctx = (void *)0, .name = "0" },
		{ .receive = count, .ctx = (void *)1, .name = "1" }, { .receive = count, .ctx = (void *)2, .name = "2" } };
	struct sim_options o = { .seed = 1 };
	struct sim_world *w = sim_world_create(&o);
	struct sim_switch *s = sim_switch_create("switch");

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_non_null(sim_wire_add(w, &e[i], sim_switch_end(s, i < 2 ? mac[i] : NULL), NULL, NULL));
	send_to(w, &e[0], mac[1]);
	assert_true(got[0] == 0 && got[1] == 1 && got[2] == 0);
	send_to(w, &e[0], mac[0]); /* back to where it came from: nowhere */
	assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
	send_to(w, &e[1], mac[2]);
	assert_true(got[0] == 1 && got[1] == 0 && got[2] == 1);
	send_to(w, &e[2], mac[3]);
	assert_true(got[0] == 1 && got[1] == 1 && got[2] == 0);
	assert_int_equal(sim_switch_forwarded(s), 2);
	assert_int_equal(sim_switch_flooded(s), 2);
	sim_send(&e[0], mac[0], 6); /* cut short: ignored */
	sim_run(w, sim_now(w) + 1000);
	assert_int_equal(sim_switch_flooded(s), 2);
	sim_world_destroy(w, NULL);
	sim_switch_destroy(s);
	sim_switch_destroy(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_stations_get_theirs_and_the_rest_is_flooded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

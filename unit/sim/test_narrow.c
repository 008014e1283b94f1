/* SPDX-License-Identifier: BSD-3-Clause */
/* The narrow place in a path: what it passes, cuts and refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/csum.h"
#include "sim/narrow.h"

struct side {
	struct sim_end end;
	unsigned int n;
	uint32_t len[16];
	uint8_t frame[16][2100];
};

static struct side side[2];
static struct sim_narrow narrow;

static void
keep(struct sim_end *e, const uint8_t *frame, uint32_t len)
{
	struct side *s = e->ctx;

	memcpy(s->frame[s->n], frame, len);
	s->len[s->n++] = len;
}

static struct sim_world *
build(uint16_t mtu)
{
	const uint8_t router6[16] = { 0xfd, [15] = 0xfe };
	const struct sim_options o = { .seed = 1 };
	struct sim_world *w = sim_world_create(&o);

	memset(side, 0, sizeof(side));
	sim_narrow_init(&narrow, mtu, 0xfe00000a, router6);
	for (int i = 0; i < 2; i++) {
		side[i].end = (struct sim_end){ .receive = keep, .ctx = &side[i], .name = "side" };
		sim_wire_add(w, &side[i].end, &narrow.end[i], NULL, NULL);
	}
	return w;
}

/* A packet of total bytes after the Ethernet header. */
static void
packet(uint8_t *f, int family, uint32_t total, bool df)
{
	memset(f, 0, 14 + total);
	f[5] = 1;
	f[11] = 2;
	put_be16(f + 12, family == 4 ? 0x0800 : 0x86dd);
	if (family == 4) {
		f[14] = 0x45;
		put_be16(f + 16, (uint16_t)total);
		f[20] = df ? 0x40 : 0;
		f[22] = 64;
		f[23] = 17;
		put_be32(f + 26, 0x0a000002);
		put_be32(f + 30, 0x0a000001);
	} else {
		f[14] = 0x60;
		put_be16(f + 18, (uint16_t)(total - 40));
		f[20] = 17;
		f[22] = 0xfd;
		f[37] = 2;
		f[38] = 0xfd;
		f[53] = 1;
	}
	for (uint32_t i = family == 4 ? 34 : 54; i < 14 + total; i++)
		f[i] = (uint8_t)i;
}

/* SIM-2 */
static void
packets_that_fit_pass_both_ways(void **state)
{
	struct sim_world *w = build(1400);
	uint8_t f[2100];

	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		packet(f, family, 1400, true);
		sim_send(&side[0].end, f, 1414);
		sim_send(&side[1].end, f, 1414);
	}
	put_be16(f + 12, 0x0806);
	sim_send(&side[0].end, f, 1514); /* no IP: not its business */
	sim_run(w, 1000);
	assert_int_equal(side[1].n, 3);
	assert_int_equal(side[0].n, 2);
	assert_int_equal(narrow.passed, 5);
	sim_world_destroy(w, NULL);
}

/* SIM-2, STK-2's ground */
static void
too_big_is_answered_in_both_families(void **state)
{
	struct sim_world *w = build(1400);
	uint8_t f[2100], *g = side[0].frame[0];

	(void)state;
	packet(f, 4, 1401, true);
	sim_send(&side[0].end, f, 1415);
	sim_run(w, 1000);
	assert_int_equal(side[1].n, 0);
	assert_int_equal(side[0].n, 1);
	assert_int_equal(g[5], 2); /* back to the sender's station */
	assert_int_equal(g[34], 3);
	assert_int_equal(g[35], 4);
	assert_int_equal(get_be16(g + 40), 1400);
	assert_memory_equal(g + 42, f + 14, 128);
	assert_int_equal(csum_finish(csum_add(0, g + 14, 20)), 0);
	assert_int_equal(csum_finish(csum_add(0, g + 34, 8 + 128)), 0);

	g = side[0].frame[1];
	packet(f, 6, 1401, false);
	sim_send(&side[0].end, f, 1415);
	sim_run(w, 2000);
	assert_int_equal(side[0].n, 2);
	assert_int_equal(g[54], 2);
	assert_int_equal(get_be32(g + 58), 1400);
	assert_int_equal(side[0].len[1], 14 + 40 + 8 + 1184);
	assert_int_equal(csum_finish(csum_add(csum_pseudo6(g + 22, g + 38, 58, 8 + 1184), g + 54, 8 + 1184)), 0);
	assert_int_equal(narrow.too_big, 2);
	sim_world_destroy(w, NULL);
}

static void
what_may_be_fragmented_is(void **state)
{
	struct sim_world *w = build(700);
	uint8_t f[2100], whole[2100];
	uint32_t at = 0;

	(void)state;
	packet(f, 4, 1520, false);
	sim_send(&side[0].end, f, 1534);
	sim_run(w, 1000);
	assert_int_equal(side[1].n, 3);
	assert_int_equal(narrow.fragmented, 1);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *g = side[1].frame[i];

		assert_true(side[1].len[i] <= 714);
		assert_int_equal(csum_finish(csum_add(0, g + 14, 20)), 0);
		assert_int_equal((get_be16(g + 20) & 0x1fff) * 8, at);
		assert_int_equal(get_be16(g + 20) >> 13, i < 2);
		memcpy(whole + at, g + 34, side[1].len[i] - 34);
		at += side[1].len[i] - 34;
	}
	assert_int_equal(at, 1500);
	assert_memory_equal(whole, f + 34, 1500);
	sim_world_destroy(w, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_that_fit_pass_both_ways),
		cmocka_unit_test(too_big_is_answered_in_both_families),
		cmocka_unit_test(what_may_be_fragmented_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

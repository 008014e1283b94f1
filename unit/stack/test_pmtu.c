/* SPDX-License-Identifier: BSD-3-Clause */
/* Learned path MTUs: floors, ageing, the bound. */
#include "fixture.h"

static bool
learn4(struct fx *f, const char *dst, uint16_t mtu)
{
	union ip_addr a = fx_a4(dst);

	return pmtu_learn(f->s, ADDR_INET, &a, mtu);
}

static uint16_t
get4(struct fx *f, const char *dst, uint16_t link)
{
	union ip_addr a = fx_a4(dst);

	return pmtu_get(f->s, ADDR_INET, &a, link);
}

/* STK-2: checklist 50 */
static void
mtu_below_576_v4_or_1280_v6_ignored(void **state)
{
	struct fx *f = *state;
	union ip_addr a6 = fx_a6("2001:db8::2");

	assert_false(learn4(f, "10.0.0.2", 0));
	assert_false(learn4(f, "10.0.0.2", 68));
	assert_false(learn4(f, "10.0.0.2", 575));
	assert_int_equal(get4(f, "10.0.0.2", 1500), 1500);
	assert_true(learn4(f, "10.0.0.2", 576));
	assert_int_equal(get4(f, "10.0.0.2", 1500), 576);
	assert_false(pmtu_learn(f->s, ADDR_INET6, &a6, 1279));
	assert_int_equal(pmtu_get(f->s, ADDR_INET6, &a6, 1500), 1500);
	assert_true(pmtu_learn(f->s, ADDR_INET6, &a6, 1280));
	assert_int_equal(pmtu_get(f->s, ADDR_INET6, &a6, 1500), 1280);
}

/* STK-2: checklist 50 */
static void
pmtu_aged_out(void **state)
{
	struct fx *f = *state;
	uint32_t gen;

	assert_true(learn4(f, "10.0.0.2", 1400));
	fx_advance(f, 300 * FX_NS);
	assert_true(learn4(f, "10.0.0.3", 1300));
	fx_advance(f, 299 * FX_NS);
	assert_int_equal(get4(f, "10.0.0.2", 1500), 1400);
	gen = f->s->routes.gen;
	fx_advance(f, 2 * FX_NS);
	assert_int_equal(get4(f, "10.0.0.2", 1500), 1500);
	assert_int_equal(get4(f, "10.0.0.3", 1500), 1300);
	assert_int_not_equal(f->s->routes.gen, gen); /* cached paths try again */
	fx_advance(f, 300 * FX_NS);
	assert_int_equal(get4(f, "10.0.0.3", 1500), 1500);
}

static void
only_a_smaller_one_is_news(void **state)
{
	struct fx *f = *state;
	union ip_addr nowhere = fx_a4("203.0.113.1");
	uint32_t gen = f->s->routes.gen;

	assert_false(learn4(f, "10.0.0.2", 1500)); /* the link's */
	assert_false(learn4(f, "10.0.0.2", 9000));
	assert_int_equal(f->s->routes.gen, gen);
	assert_true(learn4(f, "10.0.0.2", 1400));
	assert_int_not_equal(f->s->routes.gen, gen);
	assert_false(learn4(f, "10.0.0.2", 1400));
	assert_false(learn4(f, "10.0.0.2", 1450));
	assert_true(learn4(f, "10.0.0.2", 1000));
	assert_int_equal(get4(f, "10.0.0.2", 1500), 1000);
	assert_int_equal(get4(f, "10.0.0.2", 800), 800); /* the link is smaller now */
	assert_false(pmtu_learn(f->s, ADDR_INET, &nowhere, 1000)); /* we send nothing there */
}

static void
learning_again_starts_the_age_anew(void **state)
{
	struct fx *f = *state;

	assert_true(learn4(f, "10.0.0.2", 1400));
	assert_true(learn4(f, "10.0.0.3", 1400));
	fx_advance(f, 599 * FX_NS);
	assert_true(learn4(f, "10.0.0.2", 1300));
	fx_advance(f, 2 * FX_NS);
	assert_int_equal(get4(f, "10.0.0.3", 1500), 1500);
	assert_int_equal(get4(f, "10.0.0.2", 1500), 1300);
}

static void
families_do_not_mix(void **state)
{
	struct fx *f = *state;
	union ip_addr a4 = fx_a4("10.0.0.2"), a6 = a4;

	assert_true(learn4(f, "10.0.0.2", 1400));
	assert_int_equal(pmtu_get(f->s, ADDR_INET6, &a6, 1500), 1500);
}

/* STK-8: bounded; the oldest makes room. */
static void
table_is_bounded(void **state)
{
	struct fx *f = *state;
	union ip_addr net = fx_a4("10.1.0.0");

	assert_int_equal(stack_route_add(f->s, ADDR_INET, &net, 16, NULL, f->nif), 0);
	for (unsigned int i = 0; i < PMTU_MAX + 100; i++) {
		union ip_addr a = ip_addr_v4(be32(0x0a010000 + i));

		assert_true(pmtu_learn(f->s, ADDR_INET, &a, 1400));
	}
	for (unsigned int i = 0; i < PMTU_MAX + 100; i++) {
		union ip_addr a = ip_addr_v4(be32(0x0a010000 + i));

		assert_int_equal(pmtu_get(f->s, ADDR_INET, &a, 1500), i < 100 ? 1500 : 1400);
	}
	fx_advance(f, 601 * FX_NS);
	assert_int_equal(get4(f, "10.1.4.0", 1500), 1500);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(mtu_below_576_v4_or_1280_v6_ignored),
		T(pmtu_aged_out),
		T(only_a_smaller_one_is_news),
		T(learning_again_starts_the_age_anew),
		T(families_do_not_mix),
		T(table_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* When a worker says READY: what it waits for, for how long, and that it says so. */
#include "genbed.h"

#define NO_RA "[freebsd.sysctl]\nnet.inet6.ip6.accept_rtadv=0\n"

static uint64_t
ready_word(const struct gb *b, unsigned int i)
{
	return b->rt->w[i]->rl->seat.mine->ready;
}

static unsigned int
occurs(const struct gb *b, const char *text)
{
	unsigned int n = strstr(mock_last_message(b->rt->s), text) != NULL;

	for (const char *p = b->log; (p = strstr(p, text)) != NULL; p++)
		n++;
	return n;
}

/* REL-4 */
static void
ready_waits_until_duplicates_were_looked_for(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT RT_PORT6 NO_RA, 1);

	(void)state;
	gb_turn(b, 900000);
	assert_true(ready_word(b, 0) == 0);
	gb_turn(b, 200000);
	gb_turn(b, 100);
	assert_true(ready_word(b, 0) >> 32 == worker_generation(b->rt->w[0]));
	assert_false(gb_logged(b, "READY"));
	gb_free(b);
}

/* REL-4: below 1280 bytes IPv6 is off, nobody looks for duplicates, and nothing would come of waiting */
static void
ready_does_not_wait_for_addresses_where_ipv6_is_off(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT RT_PORT6 "mtu=1200\n", 1);

	(void)state;
	gb_turns(b, 2);
	assert_int_equal(worker_netif(b->rt->w[0], 0)->mtu6, 0);
	assert_int_equal(worker_netif(b->rt->w[0], 0)->addr6[0].state, ADDR6_TENTATIVE);
	assert_true(ready_word(b, 0) != 0);
	gb_free(b);
}

/* REL-4: every wait is bounded, and says what it waits for */
static void
ready_waits_for_no_address_for_ever_and_names_it(void **state)
{
	struct gb *b = gb_new(GEN_DPDK RT_PORT RT_PORT6 NO_RA "net.inet6.ip6.dad_count=3\n", 1);

	(void)state;
	worker_netif(b->rt->w[0], 0)->retrans_ms = 100000; /* a router's word: the next probe never comes */
	gb_turn(b, 1100000);
	assert_false(gb_logged(b, "READY"));
	gb_turn(b, 1000000);
	gb_turns(b, 3);
	assert_int_equal(occurs(b, "reload: READY still waits for "), 1);
	assert_int_equal(occurs(b, " of f-stack-0: no end of its duplicate address detection for 2"), 1);
	gb_turn(b, 3700000); /* three probes: 4 s and 2 */
	assert_true(ready_word(b, 0) == 0);
	gb_turn(b, 300000);
	gb_turns(b, 3);
	assert_true(ready_word(b, 0) != 0);
	assert_int_equal(occurs(b, "reload: READY still waits for "), 1);
	assert_int_equal(occurs(b, "reload: READY does not wait any more for 2001:db8::2 of f-stack-0: "), 1);
	assert_int_equal(occurs(b, "reload: READY does not wait any more for fe80::"), 1);
	gb_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ready_waits_until_duplicates_were_looked_for),
		cmocka_unit_test(ready_does_not_wait_for_addresses_where_ipv6_is_off),
		cmocka_unit_test(ready_waits_for_no_address_for_ever_and_names_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

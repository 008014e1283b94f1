/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces: the transmit batch, what a full queue costs, whose address is whose. */
#include "fixture.h"

static void
transmit(struct fx *f, unsigned int n)
{
	while (n-- > 0)
		netif_transmit(f->nif, fx_buf(f, "fourteen bytes", 14, 0));
}

static void
frames_go_out_in_batches_and_by_flush(void **state)
{
	struct fx *f = *state;
	unsigned int calls = f->tx_calls;

	transmit(f, NETIF_TX_BATCH - 1);
	assert_int_equal(f->tx_calls, calls);
	transmit(f, 1);
	assert_int_equal(f->tx_calls, calls + 1);
	assert_int_equal(f->tx_n, NETIF_TX_BATCH);
	transmit(f, 3);
	assert_int_equal(f->tx_n, NETIF_TX_BATCH);
	stack_flush(f->s);
	assert_int_equal(f->tx_n, NETIF_TX_BATCH + 3);
	stack_flush(f->s); /* nothing to do */
	assert_int_equal(f->tx_calls, calls + 2);
}

static void
full_queue_drops_the_rest_and_counts(void **state)
{
	struct fx *f = *state;

	f->tx_room = 10;
	transmit(f, 15);
	assert_int_equal(fx_tx_count(f), 10);
	assert_int_equal(fx_drops(f, STACK_DROP_TX_FULL), 5);
	assert_int_equal(f->nif->stats.tx_dropped, 5);
	transmit(f, NETIF_TX_BATCH);
	assert_int_equal(fx_drops(f, STACK_DROP_TX_FULL), 5 + NETIF_TX_BATCH);
	f->tx_room = UINT32_MAX;
}

/* STK-1 */
static void
frames_of_the_batch_are_freed_with_the_stack(void **state)
{
	struct fx *f = *state;

	transmit(f, 7); /* teardown finds them in the pool */
	assert_int_equal(f->nif->tx_n, 7);
	assert_int_equal(shim_pool_avail(f->shim, f->pool), shim_pool_size(f->shim, f->pool) - 7);
	netif_release(f->nif);
	assert_int_equal(shim_pool_avail(f->shim, f->pool), shim_pool_size(f->shim, f->pool));
	f->nif->flags |= NETIF_UP;
	transmit(f, 7);
}

static void
addresses_are_found(void **state)
{
	struct fx *f = *state;
	struct netif *other = fx_add_if(f, "f-stack-1", "\x02\x00\x00\x00\x01\x01", 0, NULL);
	union ip_addr a6 = fx_a6("2001:db8::1"), b6 = fx_a6("2001:db8:1::1");
	struct netif_addr6 *a;

	assert_non_null(netif_find4(f->nif, fx_ip4("10.0.0.1")));
	assert_null(netif_find4(other, fx_ip4("10.0.0.1")));
	assert_true(stack_owns4(f->s, fx_ip4("10.0.0.1")));
	assert_false(stack_owns4(f->s, fx_ip4("10.0.0.2")));
	assert_int_equal(stack_addr4_add(f->s, other, fx_ip4("10.0.5.1"), 24, 0), 0);
	assert_true(stack_owns4(f->s, fx_ip4("10.0.5.1")));
	assert_true(stack_owns6(f->s, &a6));
	assert_false(stack_owns6(f->s, &b6));
	a = netif_find6(f->nif, &a6);
	assert_non_null(a);
	a->state = ADDR6_TENTATIVE;
	assert_false(stack_owns6(f->s, &a6));
	a->state = ADDR6_DUPLICATE;
	assert_false(stack_owns6(f->s, &a6));
	a->state = ADDR6_DEPRECATED;
	assert_true(stack_owns6(f->s, &a6));
	a->state = ADDR6_PREFERRED;
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(frames_go_out_in_batches_and_by_flush),
		T(full_queue_drops_the_rest_and_counts),
		T(frames_of_the_batch_are_freed_with_the_stack),
		T(addresses_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

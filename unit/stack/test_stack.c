/* SPDX-License-Identifier: BSD-3-Clause */
/* The instance: making and ending it, interfaces and addresses, time, back-pressure, drop reasons. */
#include "fixture.h"

static unsigned int
no_tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	(void)ctx;
	(void)m;
	(void)n;
	return 0;
}

static const struct netif_config good_if = {
	.name = "f-stack-0", .mac = "\x02\x00\x00\x00\x00\x01", .mtu = 1500, .tx = no_tx,
	.dad_transmits = 1, .accept_ra = true,
};

static void
make_and_end(void **state)
{
	struct stack_config c = { 0 };
	struct stack *s = NULL;

	(void)state;
	c.shim = mock_shim_new();
	assert_int_equal(stack_create(&c, &s), -EINVAL); /* no pool */
	assert_int_equal(shim_pool_create(c.shim, "p", 64, 2176, &c.pool), 0);
	assert_int_equal(stack_create(&c, &s), 0);
	assert_ptr_equal(stack_shim(s), c.shim);
	assert_true(stack_now(s) == shim_now_ns(c.shim));
	assert_true(stack_drops(s, STACK_DROP_ETH_SHORT) == 0);
	stack_flush(s);
	stack_destroy(s);
	stack_destroy(NULL);
	shim_pool_free(c.shim, c.pool);
	assert_int_equal(mock_shim_free(c.shim), 0);
	c.shim = NULL;
	assert_int_equal(stack_create(&c, &s), -EINVAL);
}

/* One try with the kth allocation failing; false when there were fewer. */
static bool
torture(struct shim *shim, struct shim_pool *pool, unsigned int k, bool buffers)
{
	struct stack_config c = { .shim = shim, .pool = pool };
	union ip_addr a6 = fx_a6("2001:db8::1");
	unsigned int before = mock_calls(shim, buffers ? MOCK_OP_buf_alloc : MOCK_OP_malloc);
	struct stack *s = NULL;
	struct netif *nif = NULL;
	bool reached;
	int rc;

	if (buffers)
		mock_fail_buf_at(shim, k);
	else
		mock_fail_malloc_at(shim, k);
	rc = stack_create(&c, &s);
	if (rc == 0)
		rc = stack_if_add(s, &good_if, &nif);
	if (rc == 0) {
		stack_addr4_add(s, nif, fx_ip4("10.0.0.1"), 24, 0);
		stack_addr6_add(s, nif, &a6, 64);
		for (uint64_t t = 1; t < 8; t++)
			stack_poll(s, stack_now(s) + FX_NS);
	} else {
		assert_false(buffers);
		assert_int_equal(rc, -ENOMEM);
	}
	reached = mock_calls(shim, buffers ? MOCK_OP_buf_alloc : MOCK_OP_malloc) - before >= k;
	stack_destroy(s);
	mock_script_clear(shim);
	assert_int_equal(shim_pool_avail(shim, pool), shim_pool_size(shim, pool));
	return reached;
}

/* STK-1: every allocation that may fail, fails once; nothing is lost and nothing crashes. */
static void
each_allocation_fails_once(void **state)
{
	struct shim *shim = mock_shim_new();
	struct shim_pool *pool;
	unsigned int out, k;

	(void)state;
	assert_int_equal(shim_pool_create(shim, "p", 128, 2176, &pool), 0);
	out = mock_mallocs_out(shim);
	for (k = 1; torture(shim, pool, k, false); k++)
		assert_int_equal(mock_mallocs_out(shim), out);
	assert_in_range(k, 7, 60);
	for (k = 1; torture(shim, pool, k, true); k++)
		assert_int_equal(mock_mallocs_out(shim), out);
	assert_in_range(k, 3, 60);
	shim_pool_free(shim, pool);
	assert_int_equal(mock_shim_free(shim), 0);
}

static void
interfaces_are_checked(void **state)
{
	struct fx *f = *state;
	struct netif_config c = good_if;
	struct netif *nif;

	assert_int_equal(stack_if_add(f->s, &c, &nif), -EEXIST);
	memset(c.name, 'x', sizeof(c.name));
	assert_int_equal(stack_if_add(f->s, &c, &nif), -EINVAL);
	c.name[0] = 0;
	assert_int_equal(stack_if_add(f->s, &c, &nif), -EINVAL);
	memcpy(c.name, "two", 4);
	c.mtu = 67;
	assert_int_equal(stack_if_add(f->s, &c, &nif), -EINVAL);
	c.mtu = 68;
	c.mac[0] = 3;
	assert_int_equal(stack_if_add(f->s, &c, &nif), -EINVAL);
	memset(c.mac, 0, 6);
	assert_int_equal(stack_if_add(f->s, &c, &nif), -EINVAL);
	c.mac[5] = 1;
	c.tx = NULL;
	assert_int_equal(stack_if_add(f->s, &c, &nif), -EINVAL);
	c.tx = no_tx;
	assert_int_equal(stack_if_add(f->s, &c, &nif), 0);
	assert_int_equal(nif->index, 2);
	assert_int_equal(nif->mtu6, 0); /* IPv6 wants 1280 */
	assert_ptr_equal(stack_if_by_name(f->s, "two"), nif);
	assert_null(stack_if_by_name(f->s, "three"));
	assert_ptr_equal(stack_if_by_index(f->s, 2), nif);
	assert_null(stack_if_by_index(f->s, 0));
	assert_null(stack_if_by_index(f->s, 3));
	for (int i = 2; i < STACK_MAX_IFS; i++) {
		snprintf(c.name, sizeof(c.name), "n%d", i);
		assert_int_equal(stack_if_add(f->s, &c, &nif), 0);
	}
	memcpy(c.name, "over", 5);
	assert_int_equal(stack_if_add(f->s, &c, &nif), -ENOSPC);
	fx_tx_clear(f);
}

/* STK-2: several addresses per port. */
static void
ipv4_addresses(void **state)
{
	struct fx *f = *state;
	static const struct {
		const char *ip;
		uint8_t len;
	} bad[] = { { "0.0.0.0", 24 }, { "0.1.2.3", 8 }, { "127.0.0.1", 8 }, { "224.0.0.1", 24 },
		{ "255.255.255.255", 32 }, { "240.0.0.1", 24 }, { "10.5.0.0", 24 },
		{ "10.5.0.255", 24 }, { "10.5.0.1", 33 } };
	char text[32];

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4(bad[i].ip), bad[i].len, 0),
			-EINVAL);
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.1"), 24, 0), -EEXIST);
	assert_int_equal(f->nif->addr4[0].broadcast, fx_ip4("10.0.0.255"));
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.6.0.0"), 31, 0), 0);
	assert_int_equal(f->nif->addr4[1].broadcast, UINT32_MAX);
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.7.0.1"), 16,
		fx_ip4("10.7.0.255")), 0);
	assert_int_equal(f->nif->addr4[2].broadcast, fx_ip4("10.7.0.255"));
	assert_int_equal(f->nif->addr4[2].mask, fx_ip4("255.255.0.0"));
	assert_int_equal(stack_addr4_del(f->s, f->nif, fx_ip4("10.6.0.0")), 0);
	assert_int_equal(stack_addr4_del(f->s, f->nif, fx_ip4("10.6.0.0")), -ENOENT);
	assert_int_equal(f->nif->addr4[1].addr, fx_ip4("10.7.0.1"));
	for (unsigned int i = f->nif->nb_addr4; i < NETIF_MAX_ADDR4; i++) {
		snprintf(text, sizeof(text), "10.8.0.%u", i);
		assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4(text), 32, 0), 0);
	}
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.9.0.1"), 32, 0), -ENOSPC);
	fx_tx_clear(f);
}

static void
ipv6_addresses(void **state)
{
	struct fx *f = *state;
	static const char *const bad[] = { "::", "::1", "ff02::1", "::ffff:10.0.0.1" };
	union ip_addr a;
	unsigned int used = f->nif->nb_addr6;
	char text[64];

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		a = fx_a6(bad[i]);
		assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), -EINVAL);
	}
	a = fx_a6("2001:db8::7");
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 129), -EINVAL);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), 0);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 64), -EEXIST);
	assert_int_equal(f->nif->nb_addr6, used + 1);
	assert_true(stack_owns6(f->s, &a));
	assert_int_equal(stack_addr6_del(f->s, f->nif, &a), 0);
	assert_int_equal(stack_addr6_del(f->s, f->nif, &a), -ENOENT);
	assert_int_equal(f->nif->nb_addr6, used);
	for (unsigned int i = used; i < NETIF_MAX_ADDR6; i++) {
		snprintf(text, sizeof(text), "2001:db8:1::%x", i + 1);
		a = fx_a6(text);
		assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 128), 0);
	}
	a = fx_a6("2001:db8:2::1");
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 128), -ENOSPC);
	a = fx_a6("2001:db8:1::10"); /* a place in the middle is used again */
	assert_int_equal(stack_addr6_del(f->s, f->nif, &a), 0);
	assert_int_equal(f->nif->nb_addr6, NETIF_MAX_ADDR6);
	assert_int_equal(stack_addr6_add(f->s, f->nif, &a, 128), 0);
	fx_tx_clear(f);
}

static void
count_call(struct timer *t, void *arg, uint64_t now)
{
	(void)t;
	(void)now;
	++*(int *)arg;
}

/* STK-1: time comes from outside only. */
static void
poll_fires_timers_and_says_when_to_come_again(void **state)
{
	struct fx_opts o = { .no_link_local = true, .no_addr6 = true };
	struct fx *f = fx_new(&o);
	struct timer t;
	int calls = 0;

	(void)state;
	fx_advance(f, 100 * FX_NS); /* start-up is over */
	assert_true(stack_next_deadline(f->s) == UINT64_MAX);
	timer_init(&t, count_call, &calls);
	timer_set(&f->s->wheel, &t, f->now + 50 * FX_MS);
	assert_true(stack_next_deadline(f->s) <= f->now + 51 * FX_MS);
	stack_poll(f->s, f->now + 49 * FX_MS);
	assert_int_equal(calls, 0);
	stack_poll(f->s, f->now + 52 * FX_MS);
	assert_int_equal(calls, 1);
	assert_true(stack_now(f->s) == f->now + 52 * FX_MS);
	fx_free(f);
}

/* STK-9 */
static void
shedding_has_hysteresis_and_reads_the_pool_once_a_poll(void **state)
{
	struct fx_opts o = { .bufs = 100, .buf_low_watermark = 40 };
	struct fx *f = fx_new(&o);
	struct rte_mbuf *held[70];
	unsigned int n = 0, reads;

	(void)state;
	assert_false(stack_shed(f->s));
	while (shim_pool_avail(f->shim, f->pool) > 39)
		held[n++] = shim_buf_alloc(f->shim, f->pool);
	assert_false(stack_shed(f->s)); /* known for this poll */
	fx_poll(f);
	reads = mock_calls(f->shim, MOCK_OP_pool_avail);
	assert_true(stack_shed(f->s));
	assert_true(stack_shed(f->s));
	assert_int_equal(mock_calls(f->shim, MOCK_OP_pool_avail), reads + 1);
	while (shim_pool_avail(f->shim, f->pool) < 49)
		shim_buf_free(f->shim, held[--n]);
	fx_poll(f);
	assert_true(stack_shed(f->s)); /* over the mark, but not by a quarter */
	shim_buf_free(f->shim, held[--n]);
	fx_poll(f);
	assert_false(stack_shed(f->s));
	while (n > 0)
		shim_buf_free(f->shim, held[--n]);
	fx_free(f);
}

static void
without_a_mark_nothing_is_shed(void **state)
{
	struct fx *f = *state;
	unsigned int reads = mock_calls(f->shim, MOCK_OP_pool_avail);

	assert_false(stack_shed(f->s));
	assert_int_equal(mock_calls(f->shim, MOCK_OP_pool_avail), reads);
}

static void
drop_reasons_have_names(void **state)
{
	(void)state;
	assert_string_equal(stack_drop_name(STACK_DROP_IP4_CSUM), "ip4_csum");
	assert_string_equal(stack_drop_text(STACK_DROP_IP4_CSUM), "IPv4 header checksum");
	assert_string_equal(stack_drop_name(STACK_DROP_BACKPRESSURE), "backpressure");
	for (unsigned int i = 0; i < STACK_DROP_COUNT; i++) {
		assert_non_null(stack_drop_name((enum stack_drop)i));
		assert_true(stack_drop_name((enum stack_drop)i)[0] >= 'a');
	}
	assert_string_equal(stack_drop_name(STACK_DROP_COUNT), "?");
	assert_string_equal(stack_drop_text((enum stack_drop)-1), "?");
}

static void
bursts_of_any_size(void **state)
{
	struct fx *f = *state;
	struct rte_mbuf *m[40];
	uint8_t b[64] = { 0 };

	fx_put_eth(b, FX_MAC, FX_PEER_MAC, 0x88cc);
	for (unsigned int n = 0; n <= 40; n++) {
		for (unsigned int i = 0; i < n; i++)
			m[i] = fx_buf(f, b, 60, 0);
		stack_input(f->s, f->nif, m, n);
	}
	assert_int_equal(fx_drops(f, STACK_DROP_ETH_TYPE_UNKNOWN), 820);
}

/* Everything that can hold a buffer holds one when the stack ends; the teardown counts them. */
static void
destroy_gives_every_buffer_back(void **state)
{
	struct fx *f = *state;
	union ip_addr a = fx_a4("10.0.0.77");
	struct fx_ip4 frag = { .proto = 17, .id = 7, .frag = IP4_MF };
	uint8_t data[64] = { 0 };

	neigh_output(f->s, neigh_get(f->s, f->nif, ADDR_INET, &a), fx_buf(f, data, 40, 0));
	fx_rx_ip4(f, &frag, data, 64);
	assert_int_not_equal(shim_pool_avail(f->shim, f->pool),
		shim_pool_size(f->shim, f->pool));
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(make_and_end),
		cmocka_unit_test(each_allocation_fails_once),
		T(interfaces_are_checked),
		T(ipv4_addresses),
		T(ipv6_addresses),
		cmocka_unit_test(poll_fires_timers_and_says_when_to_come_again),
		cmocka_unit_test(shedding_has_hysteresis_and_reads_the_pool_once_a_poll),
		T(without_a_mark_nothing_is_shed),
		cmocka_unit_test(drop_reasons_have_names),
		T(bursts_of_any_size),
		T(destroy_gives_every_buffer_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What status, ifconfig, arp and route print and change, against a primary and workers on mock doors. */
#include "unit/runtime/fixture.h"

#include <arpa/inet.h>

#include "core/cli/tools.h"
#include "core/stack/priv.h"

static const struct cli_cmd cmd = { "tool", "", "" };

struct env {
	struct rt *rt;
	struct tools t;
	char *out;
	size_t out_len;
	FILE *f;
	bool deaf;               /* nobody answers */
};

static void
turns(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;

	(void)s;
	(void)op;
	for (unsigned int i = 0; !e->deaf && i < 4; i++)
		if (e->rt->w[i] != NULL)
			worker_turn(e->rt->w[i]);
	if (!e->deaf)
		primary_turn(e->rt->p);
}

static struct env *
env_new(const char *text, unsigned int workers, bool json)
{
	struct env *e = test_calloc(1, sizeof(*e));

	e->rt = rt_bed(text, workers);
	e->f = open_memstream(&e->out, &e->out_len);
	mock_hook(e->rt->s, MOCK_OP_sleep_ns, turns, e);
	assert_int_equal(tools_attach(&e->t, &cmd, e->rt->tool, e->f, json), -1);
	return e;
}

static void
env_free(struct env *e)
{
	fclose(e->f);
	free(e->out);
	rt_free(e->rt);
	test_free(e);
}

static void
says(struct env *e, const char *words)
{
	fflush(e->f);
	if (strstr(e->out, words) == NULL)
		fail_msg("'%s' is not in: %s", words, e->out);
	rewind(e->f);
}

#define TWO "[dpdk]\nlcore_mask=3\nport_list=0\npkt_tx_delay=0\nmtu_enable=1\n" RT_PORT

/* STK-9: the counters are read without anybody's help. */
static void
test_status_as_text_and_json(void **state)
{
	struct env *e = env_new(TWO, 1, false);

	(void)state;
	rt_turn(e->rt, 2);
	e->rt->w[0]->block->drops[STACK_DROP_IP4_CSUM] = 3;
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "primary      running, pid ");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "worker 0     running");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "3 dropped: IPv4 header checksum (ip4_csum)");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "worker 1     not running");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "port 0  mock");
	env_free(e);
	e = env_new(TWO, 1, true);
	e->rt->w[0]->block->state = 77; /* hostile */
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "{\"primary\":{\"pid\":");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "\"workers\":[{\"worker\":0,\"generation\":0,\"pid\":");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "\"state\":\"?\"");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "},{\"worker\":1,\"generation\":0,\"pid\":0,\"state\":\"none\",\"alive\":false");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "\"drops\":{}}],\"ports\":[{\"port\":0,");
	e->rt->w[0]->block->state = CTL_RUNNING;
	env_free(e);
}

static void
test_lists_of_one_worker(void **state)
{
	struct env *e = env_new(TWO, 2, true);
	struct stack *s = worker_stack(e->rt->w[1]);
	union ip_addr a = ip_addr_v4(inet_addr("192.0.2.9")), b = { .q = { 0, 0 } };

	(void)state;
	neigh_update(s, neigh_get(s, worker_netif(e->rt->w[1], 0), ADDR_INET, &a), (const uint8_t *)"\2\0\0\0\0\x99", true,
		true);
	b.v6[0] = 0xfe;
	b.v6[1] = 0x80;
	b.v6[15] = 9;
	neigh_update(s, neigh_get(s, worker_netif(e->rt->w[1], 0), ADDR_INET6, &b), (const uint8_t *)"\2\0\0\0\0\x99", true,
		true);
	assert_int_equal(tools_list(&e->t, 1, "neighbours", CTL_ARP_LIST, CTL_NDP_LIST, NULL), CLI_OK);
	says(e, "{\"worker\":1,\"neighbours\":[{\"address\":\"192.0.2.9\",\"mac\":\"02:00:00:00:00:99\","
		"\"interface\":\"f-stack-0\",\"state\":\"reachable\",\"router\":false},{\"address\":\"fe80::9\"");
	assert_int_equal(tools_list(&e->t, -1, "neighbours", CTL_ARP_LIST, CTL_NDP_LIST, NULL), CLI_OK);
	says(e, "{\"worker\":0,\"neighbours\":[]}\n");
	assert_int_equal(tools_list(&e->t, 2, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL), CLI_USAGE);
	assert_int_equal(tools_list(&e->t, 0, "interfaces", CTL_IFCONFIG, CTL_NONE, "f-stack-0"), CLI_OK);
	says(e, "\"interfaces\":[{\"name\":\"f-stack-0\"");
	assert_int_equal(tools_list(&e->t, 0, "interfaces", CTL_IFCONFIG, CTL_NONE, "eth7"), CLI_FAILED);
	says(e, "\"interfaces\":[]}\n");
	e->t.json = false;
	assert_int_equal(tools_list(&e->t, 0, "interfaces", CTL_IFCONFIG, CTL_NONE, "eth7"), CLI_FAILED);
	assert_int_equal(tools_list(&e->t, 0, "interfaces", CTL_IFCONFIG, CTL_NONE, "f-stack-0"), CLI_OK);
	assert_int_equal(tools_list(&e->t, 0, "neighbours", CTL_ARP_LIST, CTL_NDP_LIST, NULL), CLI_OK);
	env_free(e);
}

static void
test_long_lists_are_whole(void **state)
{
	struct env *e = env_new(TWO, 1, true);
	struct stack *s = worker_stack(e->rt->w[0]);
	unsigned int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		union ip_addr a = ip_addr_v4(htonl(0xc0000201 + i));

		assert_non_null(neigh_get(s, worker_netif(e->rt->w[0], 0), ADDR_INET, &a));
	}
	assert_int_equal(tools_list(&e->t, 0, "neighbours", CTL_ARP_LIST, CTL_NDP_LIST, NULL), CLI_OK);
	fflush(e->f);
	for (const char *p = e->out; (p = strstr(p, "\"address\"")) != NULL; p++)
		n++;
	assert_int_equal(n, 1000);
	assert_null(strstr(e->out, "}{"));
	assert_null(strstr(e->out, ",,"));
	env_free(e);
}

static void
test_orders_reach_one_or_all(void **state)
{
	struct env *e = env_new(TWO, 2, false);
	const char *words[] = { "10.0.0.0/8", "192.0.2.9", "-" };

	(void)state;
	assert_int_equal(tools_order(&e->t, -1, CTL_ROUTE_ADD, words, 3), CLI_OK);
	assert_int_equal(tools_order(&e->t, 0, CTL_ROUTE_ADD, words, 3), CLI_FAILED); /* it is there in both */
	assert_int_equal(tools_order(&e->t, 1, CTL_ROUTE_DEL, words, 1), CLI_OK);
	assert_int_equal(tools_order(&e->t, -1, CTL_ROUTE_DEL, words, 1), CLI_FAILED);
	assert_int_equal(tools_order(&e->t, 7, CTL_ROUTE_DEL, words, 1), CLI_USAGE);
	env_free(e);
	e = env_new(TWO, 0, false);
	assert_int_equal(tools_order(&e->t, -1, CTL_ROUTE_ADD, words, 3), CLI_FAILED); /* no worker runs */
	assert_int_equal(tools_order(&e->t, 0, CTL_ROUTE_ADD, words, 3), CLI_FAILED);
	env_free(e);
}

/* MTU-4 */
static void
test_mtu_of_port_and_views(void **state)
{
	struct env *e = env_new(TWO, 2, false);
	uint16_t mtu;

	(void)state;
	assert_int_equal(tools_mtu(&e->t, -1, "f-stack-0", 0, 9000), CLI_OK);
	assert_int_equal(shim_port_mtu_get(e->rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 9000);
	assert_int_equal(worker_netif(e->rt->w[1], 0)->mtu, 9000);
	assert_int_equal(tools_mtu(&e->t, 0, "f-stack-0", 0, 4000), CLI_OK);
	assert_int_equal(worker_netif(e->rt->w[0], 0)->mtu, 4000);
	assert_int_equal(worker_netif(e->rt->w[1], 0)->mtu, 9000);
	assert_int_equal(tools_mtu(&e->t, -1, "f-stack-0", 0, 1300), CLI_OK);
	assert_int_equal(shim_port_mtu_get(e->rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1300);
	assert_int_equal(worker_netif(e->rt->w[0], 0)->mtu, 1300);
	/* refused by the port: no view changes; refused by a view: the port does not shrink */
	assert_int_equal(tools_mtu(&e->t, -1, "f-stack-0", 0, 9217), CLI_FAILED);
	assert_int_equal(worker_netif(e->rt->w[0], 0)->mtu, 1300);
	assert_int_equal(tools_mtu(&e->t, -1, "eth7", 0, 1200), CLI_FAILED);
	assert_int_equal(shim_port_mtu_get(e->rt->s, 0, &mtu), 0);
	assert_int_equal(mtu, 1300);
	env_free(e);
}

static void
test_whoever_does_not_answer_is_named(void **state)
{
	struct env *e = env_new(TWO, 1, false);
	struct shim_proc other = { .pid = 4000, .start_time = 4 };

	(void)state;
	e->deaf = true;
	assert_int_equal(tools_list(&e->t, 0, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL), CLI_FAILED);
	assert_int_equal(tools_status(&e->t), CLI_FAILED); /* the ports' part */
	mock_proc_set(e->rt->s, other, true);
	e->rt->w[0]->block->lock = ctl_proc_word(&other);
	assert_int_equal(tools_list(&e->t, 0, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL), CLI_FAILED);
	e->rt->w[0]->block->lock = 0;
	mock_proc_set(e->rt->s, other, false);
	mock_fail(e->rt->s, MOCK_OP_malloc, 1, ENOMEM);
	assert_int_equal(tools_list(&e->t, 0, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL), CLI_FAILED);
	mock_fail_all(e->rt->s, MOCK_OP_zone_lookup, ENOENT);
	assert_int_equal(tools_list(&e->t, 0, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL), CLI_FAILED);
	assert_int_equal(tools_status(&e->t), CLI_FAILED);
	assert_int_equal(tools_mtu(&e->t, -1, "f-stack-0", 0, 2000), CLI_FAILED);
	assert_int_equal(tools_attach(&e->t, &cmd, e->rt->tool, e->f, false), CLI_FAILED);
	mock_fail_all(e->rt->s, MOCK_OP_zone_lookup, 0);
	env_free(e);
}

static void
test_other_layout_is_refused(void **state)
{
	struct env *e = env_new(TWO, 0, false);

	(void)state;
	e->t.dir->layout_version = 9;
	assert_int_equal(tools_attach(&e->t, &cmd, e->rt->tool, e->f, false), CLI_FAILED);
	env_free(e);
}

/* An owner whose next page is always the first one. */
static void
turn_back(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;
	struct ctl_request r;

	(void)s;
	(void)op;
	if (ctl_poll(e->rt->s, e->rt->w[0]->block, &r))
		ctl_answer(e->rt->s, e->rt->w[0]->block, &r, 0, "x", 1, 1);
}

/* STK-9: a tool does not follow an owner around in a circle. */
static void
test_pages_that_turn_back_end(void **state)
{
	struct env *e = env_new(TWO, 1, false);

	(void)state;
	mock_hook(e->rt->s, MOCK_OP_sleep_ns, turn_back, e);
	assert_int_equal(tools_list(&e->t, 0, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL), CLI_OK);
	fflush(e->f);
	assert_string_equal(e->out, "xx");
	env_free(e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_as_text_and_json), cmocka_unit_test(test_lists_of_one_worker),
		cmocka_unit_test(test_long_lists_are_whole), cmocka_unit_test(test_orders_reach_one_or_all),
		cmocka_unit_test(test_mtu_of_port_and_views), cmocka_unit_test(test_whoever_does_not_answer_is_named),
		cmocka_unit_test(test_other_layout_is_refused), cmocka_unit_test(test_pages_that_turn_back_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

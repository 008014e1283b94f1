/* SPDX-License-Identifier: BSD-3-Clause */
/* The application of nonic serve: echo and DNS over the stack's sockets, frames in and out of a mock port. */
#include "unit/runtime/fixture.h"

#include <arpa/inet.h>

#include "core/cli/serve.h"

#define QUERY "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x02nu\x00\x00\x01\x00\x01"

static struct serve sv;

/* A datagram without checksum, which IPv4 allows. */
static void
give(struct rt *rt, uint16_t dport, const void *data, size_t len)
{
	uint8_t f[2048];
	size_t n = rt_ping(f, "192.0.2.2", "192.0.2.9", 0);
	uint32_t sum = 0;

	(void)n;
	f[16] = (28 + len) >> 8;
	f[17] = 28 + len;
	f[23] = 17;
	f[24] = f[25] = 0;
	for (int i = 14; i < 34; i += 2)
		sum += f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	f[24] = sum >> 8;
	f[25] = sum;
	memset(f + 34, 0, 8);
	f[34] = 5000 >> 8;
	f[35] = 5000 & 0xff;
	f[36] = dport >> 8;
	f[37] = dport & 0xff;
	f[38] = (8 + len) >> 8;
	f[39] = 8 + len;
	memcpy(f + 42, data, len);
	assert_int_equal(mock_inject(rt->s, 0, 0, f, 42 + len), 0);
}

static struct rt *
bed(uint16_t echo, uint16_t dns)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT RT_PORT6 RT_NO_DAD, 1);
	uint8_t f[2048];

	assert_int_equal(serve_open(&sv, worker_stack(rt->w[0]), echo, dns), 0);
	rt_turn(rt, 1);
	assert_int_equal(mock_inject(rt->s, 0, 0, f, rt_arp_request(f, "192.0.2.2", "192.0.2.9")), 0);
	rt_turn(rt, 1);
	while (mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)) > 0)
		;
	return rt;
}

static void
turn(struct rt *rt)
{
	worker_turn(rt->w[0]); /* receives */
	serve_turn(&sv);
	worker_turn(rt->w[0]); /* sends */
}

static void
test_echo(void **state)
{
	struct rt *rt = bed(7, 53);
	uint8_t f[2048];

	(void)state;
	give(rt, 7, "hello", 5);
	turn(rt);
	assert_int_equal(sv.echoed, 1);
	assert_true(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)) >= 47);
	assert_int_equal(f[37], 5000 & 0xff);
	assert_memory_equal(f + 42, "hello", 5);
	serve_close(&sv);
	rt_free(rt);
}

/* The stamp stands behind the payload; where a buffer has no room for it the echo is not sent, and nothing leaks. */
static void
test_stamp(void **state)
{
	static char full[1472];
	struct rt *rt = bed(7, 53);
	uint8_t f[2048];

	(void)state;
	serve_stamp(&sv, rt->ws[0], 0x01020304, 5);
	give(rt, 7, "hello", 5);
	turn(rt);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 42 + 5 + SERVE_STAMP);
	assert_memory_equal(f + 42, "hello\x01\x02\x03\x04\0\0\0\x05", 13);
	give(rt, 7, full, sizeof(full));
	turn(rt); /* in two fragments */
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 14 + 1500);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 14 + 20 + SERVE_STAMP);
	assert_memory_equal(f + 34, "\x01\x02\x03\x04\0\0\0\x05", SERVE_STAMP);
	assert_int_equal(sv.echoed, 2);
	serve_close(&sv);
	rt_free(rt);
}

static void
test_dns_answers_refuses_is_silent(void **state)
{
	static char big[600];
	struct rt *rt = bed(7, 53);
	uint8_t f[2048];

	(void)state;
	give(rt, 53, QUERY, 24);
	turn(rt);
	assert_int_equal(sv.answered, 1);
	assert_int_equal(mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)), 42 + 40);
	assert_memory_equal(f + 42, "\x12\x34\x85\x00", 4);
	give(rt, 53, QUERY, 20);
	give(rt, 53, QUERY, 5);
	memcpy(big, QUERY, 24);
	give(rt, 53, big, sizeof(big)); /* over 512 bytes */
	turn(rt);
	assert_int_equal(sv.answered, 2);
	assert_int_equal(sv.silent, 2);
	serve_close(&sv);
	rt_free(rt);
}

static void
test_either_service_may_be_off(void **state)
{
	struct rt *rt = bed(0, 53);

	(void)state;
	assert_int_equal(sv.echo4, -1);
	serve_turn(&sv);
	serve_close(&sv);
	serve_close(&sv);
	rt_free(rt);
	rt = bed(7, 0);
	assert_int_equal(sv.dns6, -1);
	serve_close(&sv);
	rt_free(rt);
}

static void
test_socket_errors_leave_nothing_open(void **state)
{
	struct rt *rt = bed(7, 53);
	struct serve second;

	(void)state;
	assert_int_equal(serve_open(&second, worker_stack(rt->w[0]), 7, 53), -EADDRINUSE);
	assert_int_equal(second.echo4, -1);
	assert_int_equal(serve_open(&second, worker_stack(rt->w[0]), 0, 53), -EADDRINUSE);
	for (unsigned int k = 1; k < 5; k++) {
		int rc;

		mock_fail_malloc_at(rt->s, k);
		rc = serve_open(&second, worker_stack(rt->w[0]), 70, 71);
		mock_fail_malloc_at(rt->s, 0);
		if (rc == 0)
			serve_close(&second);
		else
			assert_int_equal(second.dns6, -1);
	}
	serve_close(&sv);
	rt_free(rt);
}

static void
test_answer_that_can_not_be_sent(void **state)
{
	struct rt *rt = bed(7, 53);

	(void)state;
	give(rt, 7, "hello", 5);
	give(rt, 53, QUERY, 24);
	worker_turn(rt->w[0]);
	assert_int_equal(stack_route_del(worker_stack(rt->w[0]), ADDR_INET, &(union ip_addr){ .q = { 0, 0 } }, 0), 0);
	assert_int_equal(stack_addr4_del(worker_stack(rt->w[0]), worker_netif(rt->w[0], 0), inet_addr("192.0.2.2")), 0);
	serve_turn(&sv);
	assert_int_equal(sv.echo_failed, 1);
	assert_int_equal(sv.silent, 1);
	serve_close(&sv);
	rt_free(rt);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_echo), cmocka_unit_test(test_stamp), cmocka_unit_test(test_dns_answers_refuses_is_silent),
		cmocka_unit_test(test_either_service_may_be_off), cmocka_unit_test(test_socket_errors_leave_nothing_open),
		cmocka_unit_test(test_answer_that_can_not_be_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

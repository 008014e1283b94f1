/* SPDX-License-Identifier: BSD-3-Clause */
/* Scripts of TCP against a stack: numbers, stamps, parts, blocking calls, settings and what code asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "../../../sim/packetdrill/run.h"

#define LISTENING "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
/* No option but the MSS: nothing but the numbers matters. */
#define SERVER LISTENING "+0 < S 0:0(0) win 65535 <mss 1000>\n" \
	"+0 > S. 0:0(0) ack 1 <mss 1460>\n+.1 < . 1:1(0) ack 1 win 65535\n" \
	"+0 accept(3, ..., ...) = 4\n"

static struct pd_result
run_as(const char *text, enum pd_persona persona, bool strict)
{
	struct pd_script *s;
	struct pd_error e;
	struct pd_conf c[2];
	struct pd_result r = { .verdict = PD_SKIP };
	unsigned int n;

	if (pd_parse(text, strlen(text), &s, &e) != PD_GOOD)
		fail_msg("%d:%d: %s in: %s", e.line, e.col, e.text, text);
	n = pd_families(s, c, r.why, sizeof(r.why));
	for (unsigned int i = 0; i < n; i++) {
		c[i].persona = persona;
		c[i].strict = strict;
		pd_run(s, &c[i], &r);
		if (r.verdict != PD_PASS)
			break;
	}
	pd_script_free(s);
	return r;
}

static void
check(const char *text, enum pd_persona persona, bool strict, enum pd_verdict v, int line, const char *why)
{
	struct pd_result r = run_as(text, persona, strict);

	if (r.verdict != v || r.line != line || strstr(r.why, why) == NULL)
		fail_msg("verdict %d line %d: '%s', expected %d line %d '%s' in: %s", r.verdict, r.line, r.why, v, line, why, text);
}

static void
passes(const char *text)
{
	check(text, PD_FREEBSD, false, PD_PASS, 0, "");
}

/* STK-7 */
static void
a_server_from_syn_to_fin(void **state)
{
	(void)state;
	passes(SERVER "+0 write(4, ..., 3000) = 3000\n+0 > P. 1:3001(3000) ack 1\n+.1 < . 1:1(0) ack 3001 win 65535\n"
		"+0 < P. 1:1001(1000) ack 3001 win 65535\n* > . 3001:3001(0) ack 1001\n+0 read(4, ..., 5000) = 1000\n"
		"+0 close(4) = 0\n+0 > F. 3001:3001(0) ack 1001\n+.1 < F. 1001:1001(0) ack 3002 win 65535\n"
			"+0 > . 3002:3002(0) ack 1002\n");
}

/* STK-7 */
static void
a_client_with_every_option(void **state)
{
	static const char text[] = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n"
		"+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n"
		"+0 > S 0:0(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>\n"
		"+.1 < S. 0:0(0) ack 1 win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 700 ecr 100>\n"
		"+0 > . 1:1(0) ack 1 <nop,nop,TS val 200 ecr 700>\n"
		"+0 %{ assert tcpi_options == (TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE), tcpi_options }%\n"
		"+0 `sockstat -4 -P tcp -s | grep -c ESTABLISHED | grep 1`\n";

	(void)state;
	check(text, PD_FREEBSD, false, PD_PASS, 0, "");
	check(text, PD_FREEBSD, true, PD_PASS, 0, "");
	check("0 `sockstat -P tcp | grep -c LISTEN | grep 1`", PD_FREEBSD, false, PD_FAIL, 1,
		"expected 1 connections in LISTEN got 0");
	check("0 `sockstat -P tcp`", PD_FREEBSD, false, PD_SKIP, 1, "this use of sockstat");
}

#define CLIENT "--tcp_ts_tick_usecs=1000\n--ip_version=ipv4\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n" \
	"+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n" \
	"+0 > S 0:0(0) <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>\n" \
	"+.1 < S. 0:0(0) ack 1 win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 700 ecr 100>\n"

/* STK-7 */
static void
stamps_keep_pace_where_a_tick_is_given(void **state)
{
	(void)state;
	passes(CLIENT "+0 > . 1:1(0) ack 1 <nop,nop,TS val 200 ecr 700>\n");
	check(CLIENT "+0 > . 1:1(0) ack 1 <nop,nop,TS val 300 ecr 700>\n", PD_FREEBSD, false, PD_FAIL, 7,
		"expected TS val 300, which is 200000 us after the first stamp, but 100000 us have passed");
	check(CLIENT "+0 > . 1:1(0) ack 1 <nop,nop,TS val 200 ecr 701>\n", PD_FREEBSD, false, PD_FAIL, 7,
		"ecr 701, got TS val 200 ecr 700");
}

/* STK-7 */
static void
code_asks_the_connection_in_each_systems_units(void **state)
{
	(void)state;
	passes(SERVER "+0 %{ assert tcpi_state == TCPS_ESTABLISHED; assert tcpi_snd_cwnd == 10000, tcpi_snd_cwnd; "
		"assert tcpi_snd_mss == 1000 }%");
	check(SERVER "+0 %{ assert tcpi_state == TCP_ESTABLISHED and tcpi_snd_cwnd == 10 }%", PD_LINUX, false, PD_PASS, 0, "");
	check(SERVER "+0 %{ assert tcpi_snd_mss == 999 }%", PD_FREEBSD, false, PD_FAIL, 8,
		"assert tcpi_snd_mss == 999 does not hold: tcpi_snd_mss is 1000");
	check(SERVER "+0 close(4) = 0\n+0 %{ assert tcpi_snd_mss == 999 }%", PD_FREEBSD, false, PD_SKIP, 9,
		"without a connection");
}

/* STK-7 */
static void
the_other_systems_option_order(void **state)
{
	static const char syn[] = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+.1...0.200 connect(3, ..., ...) = 0\n"
		"+0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>\n"
		"+.1 < S. 0:0(0) ack 1 win 5792 <mss 1460,nop,wscale 2,nop,nop,sackOK>\n+0 > . 1:1(0) ack 1\n";

	(void)state;
	check(syn, PD_LINUX, true, PD_PASS, 0, "");
	check(syn, PD_FREEBSD, false, PD_FAIL, 3, "option: expected wscale 8, got wscale 6");
}

/* STK-7 */
static void
a_failure_shows_the_segment_in_the_scripts_numbers(void **state)
{
	(void)state;
	check(SERVER "+0 write(4, ..., 500) = 500\n+0 > P. 1:501(500) ack 2\n", PD_FREEBSD, false, PD_FAIL, 9,
		"expected > P. 1:501(500) ack 2 got > P. 1:501(500) ack 1 at 0.100000 (acknowledgement: expected 2, got 1)");
	check(SERVER "+0 write(4, ..., 2000) = 2000\n+0 > P. 1:1201(1200) ack 1\n", PD_FREEBSD, false, PD_FAIL, 9,
		"(length: expected 200, got 1000)");
	check("--strict_segments\n" SERVER "+0 write(4, ..., 2000) = 2000\n+0 > P. 1:2001(2000) ack 1\n", PD_FREEBSD, false,
		PD_FAIL, 10,
		"flags: expected P., got .");
}

/* STK-7 */
static void
segments_to_nobody(void **state)
{
	(void)state;
	passes("0 < . 1:1(0) ack 5 win 100\n+0 > R 5:5(0)");
	passes("0 < S 0:0(0) win 100\n+0 > R. 0:0(0) ack 1");
	passes("0 < . 1:1(0) ack 5 win 100\n+0 > R 5:5(0)\n+0 < S 0:0(0) win 100\n+0 > R. 0:0(0) ack 1");
	passes("0 socket(..., SOCK_STREAM, IPPROTO_UDP) = -1 EPROTONOSUPPORT (Protocol not supported)");
}

/* STK-7 */
static void
calls_that_block_on_a_stream(void **state)
{
	(void)state;
	passes(LISTENING "+0...0.2 accept(3, ..., ...) = 4\n+.1 < S 0:0(0) win 65535 <mss 1000>\n"
		"+0 > S. 0:0(0) ack 1 <mss 1460>\n+.1 < . 1:1(0) ack 1 win 65535\n"
		"+0...0.1 read(4, ..., 2000) = 2000\n+.1 < P. 1:2001(2000) ack 1 win 65535\n* > . 1:1(0) ack 2001\n");
	check("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0...0.1 connect(3, ..., ...) = -1 ECONNREFUSED (x)\n"
		"+0 > S 0:0(0) <...>\n+.1 < R. 0:0(0) ack 1 win 0\n",
		PD_FREEBSD, false, PD_PASS, 0, "");
}

/* STK-7 */
static void
settings_are_the_stacks(void **state)
{
	(void)state;
	passes("`sysctl -w net.inet.tcp.sack.enable=0`\n" LISTENING "+0 < S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"+0 > S. 0:0(0) ack 1 <mss 1460>");
	passes("`sysctl net.inet.tcp.cc.algorithm=newreno`\n" SERVER
		"+0 getsockopt(4, IPPROTO_TCP, TCP_CONGESTION, \"newreno\", [8]) = 0");
	check("`set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0`\n" LISTENING "+0 < S 0:0(0) win 65535 <mss 1000,sackOK>\n"
		"+0 > S. 0:0(0) ack 1 <mss 1460>",
		PD_LINUX, false, PD_PASS, 0, "");
}

/* STK-7 */
static void
a_second_connection_has_numbers_of_its_own(void **state)
{
	(void)state;
	passes(SERVER "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1\n+0 < R. 1:1(0) ack 2 win 0\n+0 close(3) = 0\n"
		"+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n"
			"+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
		"+0 < S 0:0(0) win 65535 <mss 1000>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n+.1 < . 1:1(0) ack 1 win 65535\n"
			"+0 accept(3, ..., ...) = 9\n"
		"+0 write(9, ..., 10) = 10\n+0 > P. 1:11(10) ack 1");
}

/* STK-7 */
static void
an_error_about_a_segment_in_flight(void **state)
{
	(void)state;
	passes("--ip_version=ipv4\n" SERVER "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n"
		"+.1 < icmp unreachable frag_needed mtu 600 [1:1001(1000)]\n+0 > . 1:561(560) ack 1\n+0 > P. 561:1001(440) ack 1\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_from_syn_to_fin),
		cmocka_unit_test(a_client_with_every_option),
		cmocka_unit_test(stamps_keep_pace_where_a_tick_is_given),
		cmocka_unit_test(code_asks_the_connection_in_each_systems_units),
		cmocka_unit_test(the_other_systems_option_order),
		cmocka_unit_test(a_failure_shows_the_segment_in_the_scripts_numbers),
		cmocka_unit_test(segments_to_nobody),
		cmocka_unit_test(calls_that_block_on_a_stream),
		cmocka_unit_test(settings_are_the_stacks),
		cmocka_unit_test(a_second_connection_has_numbers_of_its_own),
		cmocka_unit_test(an_error_about_a_segment_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

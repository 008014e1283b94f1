/* SPDX-License-Identifier: BSD-3-Clause */
/* Scripts against a stack: what passes, what fails and with which words, what is skipped and why; the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../sim/cli.h"
#include "../../../sim/packetdrill/run.h"
#include "../../../sim/prng.h"

#define SOCK "0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3\n"
#define BOUND SOCK "+0 bind(3, ..., ...) = 0\n"
#define CONNECTED SOCK "+0 connect(3, ..., ...) = 0\n"

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
passes(const char *text)
{
	struct pd_result r = run_as(text, PD_FREEBSD, false);

	if (r.verdict != PD_PASS)
		fail_msg("line %d: %s in: %s", r.line, r.why, text);
}

static void
ends(const char *text, enum pd_verdict v, int line, const char *why)
{
	struct pd_result r = run_as(text, PD_FREEBSD, false);

	if (r.verdict != v || r.line != line || strstr(r.why, why) == NULL)
		fail_msg("verdict %d line %d: '%s', expected %d line %d '%s' in: %s", r.verdict, r.line, r.why, v, line, why, text);
}

/* STK-7 */
static void
datagrams_both_ways(void **state)
{
	(void)state;
	passes(BOUND "+.1 < udp (100)\n+0 recvfrom(3, ..., 2000, 0, ..., ...) = 100\n+0 sendto(3, ..., 50, 0, ..., ...) = 50\n"
		"+0 > udp (50)\n");
	passes(CONNECTED "+0 write(3, \"abc\", 3) = 3\n+0 > udp (3)\n+1 < udp (3)\n+0 read(3, ..., 3) = 3");
	passes(BOUND "+0 < udp 9 > 8080 (1)\n+0 < udp 10 > 8080 (2)\n+0 read(3, ..., 9) = 1\n+0 read(3, ..., 9) = 2");
}

/* STK-7 */
static void
an_unexpected_packet_fails_with_both_sides(void **state)
{
	(void)state;
	ends(CONNECTED "+0 write(3, ..., 10) = 10\n+0 > udp (11)", PD_FAIL, 4,
		"expected > udp (11) got > udp (10) at 0.000000 (length: expected 11, got 10)");
	ends(CONNECTED "+.5 > udp (10)", PD_FAIL, 3, "expected > udp (10) at 0.499000~0.501000 got nothing");
	ends(CONNECTED "+0 write(3, ..., 10) = 10\n+.5 > udp (10)", PD_FAIL, 4, "got it at 0.000000");
	ends(CONNECTED "+0 write(3, ..., 10) = 10\n+.5 < udp (10)", PD_FAIL, 4, "nobody expected > udp");
	ends(CONNECTED "+0 write(3, ..., 1) = 1\n+0 write(3, ..., 2) = 2\n+0 > udp (1)", PD_FAIL, 5, "nobody expected > udp");
	ends("0 < . 1:1(0) ack 1 win 1\n* > udp (1)", PD_FAIL, 2, "got");
}

/* STK-7 */
static void
times_count_from_the_event_before(void **state)
{
	(void)state;
	passes("--tolerance_usecs=1000\n" CONNECTED ".2 write(3, ..., 1) = 1\n+0.0005 > udp (1)\n+0 write(3, ..., 1) = 1\n"
		"0.2005~0.3 > udp (1)");
	ends("--tolerance_usecs=100\n" CONNECTED ".2 write(3, ..., 1) = 1\n+0.0005 > udp (1)", PD_FAIL, 5,
		"at 0.200400~0.200600");
	/* a window and "*": from when it came */
	passes(CONNECTED "1 write(3, ..., 1) = 1\n0~5 > udp (1)\n+1 write(3, ..., 2) = 2\n2 > udp (2)\n+1 write(3, ..., 3) = 3\n"
		"* > udp (3)\n"
		"+1 write(3, ..., 4) = 4\n4 > udp (4)");
}

/* STK-8 */
static void
a_script_of_centuries_ends(void **state)
{
	char text[8192] = SOCK;

	(void)state;
	for (unsigned int i = 0; i < 200; i++)
		strcat(text, "+99999999 close(9) = -1\n");
	ends(text, PD_FAIL, 26, "longer than time does");
}

/* STK-7 */
static void
one_call_may_block(void **state)
{
	(void)state;
	passes(BOUND "+0...0.25 read(3, ..., 9) = 4\n+.25 < udp (4)\n");
	ends(BOUND "+0...0.25 read(3, ..., 9) = 4\n+.1 < udp (4)\n", PD_FAIL, 3,
		"expected read(...) to return at 0.250000, got it at 0.100000");
	ends(BOUND "+0...0.25 read(3, ..., 9) = 4", PD_FAIL, 3, "it still blocks");
	ends(BOUND "+0...0.25 read(3, ..., 9) = 5\n+.25 < udp (4)\n", PD_FAIL, 3, "expected read(...) = 5 got 4");
	/* a second call waits for the first one */
	passes(BOUND "+0...0.25 read(3, ..., 9) = 4\n+.25 < udp (4)\n+0 < udp (6)\n+0 read(3, ..., 9) = 6");
	ends(BOUND "+0...0.25 read(3, ..., 9) = 4\n+1 write(3, ..., 1) = 1", PD_FAIL, 3, "it still blocks");
	passes(SOCK "+0...0.1 poll([{fd=3, events=POLLIN, revents=0}], 1, 100) = 0");
	ends(SOCK "+0...0.1 poll([{fd=3, events=POLLIN, revents=0}], 1, 200) = 0", PD_FAIL, 2, "it still blocks");
	ends(BOUND "+0 read(3, ..., 9) = 4", PD_FAIL, 3,
		"expected read(...) = 4 got -1 EAGAIN (Resource temporarily unavailable)");
}

/* STK-7 */
static void
results_and_outputs_are_compared(void **state)
{
	(void)state;
	ends("0 close(3) = 0", PD_FAIL, 1, "expected close(...) = 0 got -1 EBADF (Bad file descriptor)");
	ends("0 close(3) = -1 EINVAL (x)", PD_FAIL, 1, "expected close(...) = -1 EINVAL got -1 EBADF");
	ends(SOCK "+0 close(3) = -1 EBADF", PD_FAIL, 2, "got 0");
	passes("0 close(3) = -1\n0 close(3) = ?\n0 close(3) = ...");
	ends("0 close(3) = -1 EWHAT", PD_SKIP, 1, "EWHAT is not known");
	ends(SOCK "+0 getsockopt(3, SOL_SOCKET, SO_TYPE, [1], [4]) = 0", PD_FAIL, 2, "expected [1] got [2]");
	passes(SOCK "+0 getsockopt(3, SOL_SOCKET, SO_TYPE, [2], [4]) = 0\n+0 getsockopt(3, SOL_SOCKET, SO_TYPE, ..., [4]) = 0");
	ends(SOCK "+0 ioctl(3, FIONREAD, [1]) = 0", PD_FAIL, 2, "expected [1] got [0]");
	ends(SOCK "+0 poll([{fd=3, events=POLLOUT, revents=POLLIN}], 1, 0) = 1", PD_FAIL, 2, "expected revents 0x1");
	ends(SOCK "+0 epoll_create(1) = 4\n+0 epoll_ctl(4, EPOLL_CTL_ADD, 3, {events=EPOLLOUT, fd=3}) = 0\n"
		"+0 epoll_wait(4, [{events=EPOLLIN, fd=3}], 1, 0) = 1", PD_FAIL, 4, "expected {events=0x1, 3}, got {events=0x4, 3}");
	ends(BOUND "+0 < udp (9)\n+0 recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{..., 5}], msg_flags=0}, 0) = 5", PD_FAIL, 4,
		"expected msg_flags 0x0, got 0x20");
	ends(BOUND "+0 < udp (9)\n+0 read(3, \"abc\", 9) = 9", PD_FAIL, 4, "the bytes are not those");
	passes(CONNECTED "+0 writev(3, [{..., 3}, {\"xy\", 2}], 2) = 5\n+0 > udp (5)\n"
		"+0 sendmsg(3, {msg_name(...)=..., msg_iov(1)=[{...,7}], msg_flags=0}, 0) = 7\n+0 > udp (7)\n+0 < udp (5)\n"
			"+0 readv(3, [{..., 3}, {..., 9}], 2) = 5");
	passes(SOCK "+0 setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=5}, 8) = 0\n"
		"+0 getsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=5}, [8]) = 0");
}

/* STK-7 */
static void
addresses_of_the_script(void **state)
{
	(void)state;
	passes(SOCK "+0 bind(3, {sa_family = AF_INET, sin_port = htons(99), sin_addr = inet_addr(\"192.168.0.1\")}, ...) = 0\n"
		"+0 getsockname(3, {sa_family = AF_INET, sin_port = htons(99), sin_addr = inet_addr(\"192.168.0.1\")}, [16]) = 0\n"
		"+0 < udp 1000 > 99 (5)\n"
			"+0 recvfrom(3, ..., 9, 0, {sa_family=AF_INET, sin_port=htons(1000), sin_addr=inet_addr(\"192.0.2.1\")}, [16]) = 5\n"
		"+0 sendto(3, ..., 2, 0, {sa_family=AF_INET, sin_port=htons(1001), sin_addr=inet_addr(\"192.0.2.1\")}, 16) = 2\n"
			"+0 > udp 99 > 1001 (2)");
	passes(SOCK "+0 bind(3, {sin6_family = AF_INET6, sin6_port = htons(99), "
		"sin6_addr = inet_pton(AF_INET6, \"fd3d:0a0b:17d6::1\")}, ...) = 0");
	ends(SOCK "+0 bind(3, {sa_family = AF_INET, sin_port = htons(99), sin_addr = inet_addr(\"1.2.3\")}, ...) = 0", PD_FAIL, 2,
		"an address was expected");
	ends(SOCK "+0 bind(3, {sin_port = htons(99)}, ...) = 0", PD_FAIL, 2, "without a family");
	passes("--ip_version=ipv4-mapped-ipv6\n" BOUND "+0 < udp (5)\n+0 read(3, ..., 9) = 5\n"
		"+0 sendto(3, ..., 2, 0, ..., ...) = 2\n+0 > udp (2)");
	passes("--local_ip=10.0.0.1 --remote_ip=10.0.0.2 --gateway_ip=10.0.0.1 --bind_port=7 --connect_port=8\n" BOUND
		"+0 < udp 8 > 7 (1)\n+0 sendto(3, ..., 2, 0, ..., ...) = 2\n+0 > udp 7 > 8 (2)");
	ends("--local_ip=x\n" SOCK, PD_FAIL, 0, "expected an IPv4 address");
	ends("--mtu=40\n" SOCK, PD_FAIL, 0, "too small");
	ends("--mtu=x\n" SOCK, PD_FAIL, 0, "expected a number");
}

/* STK-7 */
static void
what_is_not_supported_is_skipped_with_a_reason(void **state)
{
	(void)state;
	ends("0 foo(1) = 1", PD_SKIP, 1, "foo() is not supported");
	ends("--wire_server\n0 close(3) = 0", PD_SKIP, 1, "option --wire_server");
	ends("--ip_version=ipv5\n0 close(3) = 0", PD_SKIP, 0, "--ip_version=ipv5");
	ends("0 socket(..., SOCK_WHAT, 0) = 3", PD_SKIP, 1, "SOCK_WHAT is not known");
	ends(SOCK "+0 setsockopt(3, SOL_SOCKET, 4711, [1], 4) = 0", PD_SKIP, 2, "option by number");
	ends("0 < icmp unreachable CODE", PD_SKIP, 1, "icmp unreachable CODE");
	ends("--ip_version=ipv4\n0 < icmp packet_too_big mtu 1300", PD_SKIP, 2, "icmp packet_too_big in IPv4");
}

/* STK-7 */
static void
commands_are_understood_never_run(void **state)
{
	char name[] = "/tmp/nonic-packetdrill-XXXXXX", text[256];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	passes("`true\n# x\n: ; sysctl -w net.inet.tcp.hostcache.purgenow=1`\n0 `sysctl net.inet.udp.recvspace=50000`\n"
		"`../common/defaults.sh\n../common/set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"4096 50000 4194304\"\n`");
	ends("`rm x`", PD_SKIP, 1, "command rm");
	ends("`true | true`", PD_SKIP, 1, "a pipe");
	ends("`true\nsysctl a.b=5`", PD_SKIP, 2, "sysctl a.b=5");
	ends("`sysctl net.inet.udp.recvspace=1`", PD_SKIP, 1, "out of range");
	ends("`set_sysctls.py /proc/sys/net/ipv4/tcp_dsack=0`", PD_SKIP, 1, "sysctl net.ipv4.tcp_dsack=0");
	snprintf(text, sizeof(text), "`rm %s`", name);
	ends(text, PD_SKIP, 1, "command rm");
	assert_int_equal(access(name, F_OK), 0);
	unlink(name);
}

/* STK-7 */
static void
code_asserts(void **state)
{
	(void)state;
	passes("0 %{ assert 1 < 2 <= 2, x\nassert (1 | 4) == 5; assert 7 & 2 == 2 # y\nassert 1 + 2 * 3 == 7 and not 1 == 2\n"
		"assert 0 or 8 / 2 - 1 == 3\nprint(1) }%");
	ends("\n0 %{\nassert 1 == 1\nassert 3 == 4, why }%", PD_FAIL, 4, "assert 3 == 4 does not hold");
	ends("0 %{ assert tcpi_rto == 1 }%", PD_SKIP, 1, "without a connection");
	ends("0 %{ x = 1 }%", PD_SKIP, 1, "code: x = 1");
	ends("0 %{ assert f(1) }%", PD_SKIP, 1, "code: f");
	ends("0 %{ assert unknown == 1 }%", PD_SKIP, 1, "unknown is not known");
	ends("0 %{ assert 1 / 0 }%", PD_SKIP, 1, "division");
	ends("0 %{ assert (1 }%", PD_SKIP, 1, "')'");
	ends("0 %{ assert ((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))) }%", PD_SKIP, 1, "too deep");
	ends("0 %{ assert not not not not not not not not not not not not not not not not not"
		" not not not not not not not not not not not not not not not not 1 }%",
		PD_SKIP, 1, "too deep");
}

/* STK-7 */
static void
icmp_errors_reach_the_socket(void **state)
{
	(void)state;
	passes(CONNECTED "+0 write(3, ..., 10) = 10\n+0 > udp (10)\n+0 < icmp unreachable port_unreachable [udp (10)]\n"
		"+0 write(3, ..., 10) = -1 ECONNREFUSED (Connection refused)");
	passes("0 < udp 40 > 50 (9)\n+0 > icmp unreachable port_unreachable");
}

static enum pd_persona
persona_of(const char *text)
{
	struct pd_script *s;
	struct pd_error e;
	enum pd_persona p;

	assert_int_equal(pd_parse(text, strlen(text), &s, &e), PD_GOOD);
	p = pd_persona_of(s);
	pd_script_free(s);
	return p;
}

/* STK-7 */
static void
scripts_show_whose_they_are(void **state)
{
	(void)state;
	assert_int_equal(persona_of("`../common/defaults.sh`"), PD_LINUX);
	assert_int_equal(persona_of("`sysctl -q net.ipv4.tcp_ecn=0`"), PD_LINUX);
	assert_int_equal(persona_of("0 `sysctl net.inet.tcp.ecn.enable=1`"), PD_FREEBSD);
	assert_int_equal(persona_of("0 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8>"), PD_LINUX);
	assert_int_equal(persona_of("0 > S 0:0(0) <mss 1460,nop,wscale 6,sackOK,TS val 1 ecr 0>"), PD_FREEBSD);
	assert_int_equal(persona_of("0 close(3) = 0"), PD_FREEBSD);
}

/* STK-8 */
static void
mutated_scripts_end_in_a_verdict(void **state)
{
	static const char *const base[] = {
		BOUND "+.1 < udp (100)\n+0 recvfrom(3, ..., 2000, 0, ..., ...) = 100\n+0 sendto(3, ..., 50, 0, ..., ...) = 50\n"
			"+0 > udp (50)\n",
		SOCK "+0 epoll_create(1) = 4\n+0 epoll_ctl(4, EPOLL_CTL_ADD, 3, {events=EPOLLIN, fd=3}) = 0\n"
			"+0...0.1 epoll_wait(4, {events=0, ptr=0}, 1, 100) = 0\n",
		"0 < [ect0] 10 > 20 S 0:5(5) win 5 urg 3 <mss 1000,sackOK,TS val 1 ecr 2,nop,wscale 7>\n"
			"+0 < icmp unreachable frag_needed mtu 9 [1:2(1)]\n",
		BOUND "+0 recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{..., 5}], msg_flags=0, "
			"msg_control=[{cmsg_level=1, cmsg_type=2, cmsg_data=3}]}, 0) = 5\n",
		SOCK "+0 setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=5}, 8) = 0\n"
			"+0 poll([{fd=3, events=4, revents=4}], 1, 0) = 1\n",
		"0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
			"+0 < S 0:0(0) win 65535 <mss 1000,sackOK>\n"
			"+0 > S. 0:0(0) ack 1 <mss 1460,sackOK>\n+.1 < . 1:1(0) ack 1 win 65535\n+0 accept(3, ..., ...) = 4\n"
			"+0 write(4, ..., 2000) = 2000\n+0 > P. 1:2001(2000) ack 1\n"
				"+0 < F. 1:1001(1000) ack 1001 win 9 <sack 1001:2001>\n+0 close(4) = 0\n",
		"`sysctl -w a=\"1 2\"; true`\n0 %{ assert 1 + (2 | 3) <= 4, x }%\n",
	};
	static const char odd[] = "0123456789-=<>[](){}|,.+*\" \nSFe";
	struct prng r;
	unsigned int count[3] = { 0, 0, 0 };

	(void)state;
	prng_init(&r, 3, 1);
	for (unsigned int i = 0; i < 400; i++) {
		const char *from = base[i % (sizeof(base) / sizeof(base[0]))];
		size_t n = strlen(from);
		char *text = malloc(n);
		struct pd_script *s;
		struct pd_error e;
		struct pd_conf c = { .family = i % 2 == 0 ? 4 : 6, .strict = i % 3 == 0 };
		struct pd_result res;

		assert_non_null(text);
		memcpy(text, from, n);
		for (uint64_t k = prng_below(&r, 3) + 1; k > 0; k--)
			text[prng_below(&r, n)] = odd[prng_below(&r, sizeof(odd) - 1)];
		if (pd_parse(text, n, &s, &e) == PD_GOOD) {
			pd_run(s, &c, &res);
			pd_script_free(s);
			count[res.verdict]++;
			assert_true((res.why[0] == '\0') == (res.verdict == PD_PASS));
		}
		free(text);
	}
	assert_true(count[PD_PASS] > 0 && count[PD_FAIL] > 0 && count[PD_SKIP] > 0);
}

/* ---- the command ---- */

static char dir[64];

static void
put_file(const char *name, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* The command with stdout in a file; its exit code and what it wrote. */
static int
command(char *out, size_t n, int argc, char **argv)
{
	char path[160];
	int saved, rc;
	size_t got;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out", dir);
	fflush(stdout);
	saved = dup(1);
	assert_non_null(freopen(path, "w", stdout));
	rc = sim_cli_packetdrill(argc, argv);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	f = fopen(path, "r");
	assert_non_null(f);
	got = fread(out, 1, n - 1, f);
	out[got] = '\0';
	fclose(f);
	return rc;
}

/* STK-7 */
static void
a_line_for_each_file_and_a_total(void **state)
{
	char sub[96], out[4096], *argv[] = { (char *)(uintptr_t)"packetdrill", dir, NULL, NULL, NULL };
	static char json[] = "--json", reasons[] = "--reasons", help[] = "--help", odd[] = "--odd", v4[] = "--ip-version=ipv4",
		no[] = "--persona=x",
		missing[] = "/no/such/file", p[] = "--persona", tux[] = "linux";

	(void)state;
	strcpy(dir, "/tmp/nonic-packetdrill-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(sub, sizeof(sub), "%s/b", dir);
	assert_int_equal(mkdir(sub, 0700), 0);
	put_file("c.pkt", "0 close(3) = 0");
	put_file("b/x.pkt", "0 nothing() = 0");
	put_file("a.pkt", "0 close(3) = -1 EBADF (Bad file descriptor)");
	put_file("d.pkt", "0 close(3 = 0");
	put_file("e.txt", "no script");
	assert_int_equal(command(out, sizeof(out), 2, argv), 1);
	assert_non_null(strstr(out, "/a.pkt (ipv4)\nPASS "));
	assert_non_null(strstr(out, "/b/x.pkt (ipv6): line 1: nothing() is not supported\nFAIL "));
	assert_non_null(strstr(out, "/c.pkt (ipv4): line 1: expected close(...) = 0 got -1 EBADF (Bad file descriptor)\n"));
	assert_non_null(strstr(out, "/d.pkt: line 1: expected ')' before '=' (column 11)\n2 passed, 3 failed, 2 skipped\n"));
	argv[2] = json;
	assert_int_equal(command(out, sizeof(out), 3, argv), 1);
	assert_non_null(strstr(out, "\"verdict\": \"SKIP\", \"line\": 1, \"why\": \"nothing() is not supported\""));
	assert_non_null(strstr(out,
		"], \"passed\": 2, \"failed\": 3, \"skipped\": 2, \"reasons\": [\n"
		" {\"n\": 2, \"why\": \"nothing() is not supported\"}]}\n"));
	argv[2] = reasons;
	argv[3] = v4;
	assert_int_equal(command(out, sizeof(out), 4, argv), 1);
	assert_non_null(strstr(out, "1 passed, 2 failed, 1 skipped\n     1  nothing() is not supported\n"));
	argv[1] = help;
	assert_int_equal(command(out, sizeof(out), 2, argv), 0);
	assert_non_null(strstr(out, "usage: nonic packetdrill"));
	argv[1] = odd;
	assert_int_equal(command(out, sizeof(out), 2, argv), 2);
	argv[1] = no;
	assert_int_equal(command(out, sizeof(out), 2, argv), 2);
	argv[1] = missing;
	assert_int_equal(command(out, sizeof(out), 2, argv), 2);
	assert_int_equal(command(out, sizeof(out), 1, argv), 2);
	/* skipped ones do not fail */
	argv[1] = sub;
	argv[2] = p;
	argv[3] = tux;
	assert_int_equal(command(out, sizeof(out), 4, argv), 0);
	snprintf(out, sizeof(out), "rm -r %s", dir);
	assert_int_equal(system(out), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagrams_both_ways),
		cmocka_unit_test(an_unexpected_packet_fails_with_both_sides),
		cmocka_unit_test(times_count_from_the_event_before),
		cmocka_unit_test(a_script_of_centuries_ends),
		cmocka_unit_test(one_call_may_block),
		cmocka_unit_test(results_and_outputs_are_compared),
		cmocka_unit_test(addresses_of_the_script),
		cmocka_unit_test(what_is_not_supported_is_skipped_with_a_reason),
		cmocka_unit_test(commands_are_understood_never_run),
		cmocka_unit_test(code_asserts),
		cmocka_unit_test(icmp_errors_reach_the_socket),
		cmocka_unit_test(scripts_show_whose_they_are),
		cmocka_unit_test(mutated_scripts_end_in_a_verdict),
		cmocka_unit_test(a_line_for_each_file_and_a_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

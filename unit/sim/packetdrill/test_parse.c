/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of packet scripts: every construct, every message, and anything at all as input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../sim/packetdrill/script.h"
#include "../../../sim/prng.h"

static struct pd_script *
good(const char *text)
{
	struct pd_script *s;
	struct pd_error e;

	if (pd_parse(text, strlen(text), &s, &e) != PD_GOOD)
		fail_msg("%d:%d: %s in: %s", e.line, e.col, e.text, text);
	return s;
}

static void
bad_n(const char *text, size_t n, enum pd_status st, int line, int col, const char *why)
{
	struct pd_script *s;
	struct pd_error e;

	assert_int_equal(pd_parse(text, n, &s, &e), st);
	assert_null(s);
	if (strstr(e.text, why) == NULL || e.line != line || e.col != col)
		fail_msg("%d:%d: '%s', expected %d:%d '%s'", e.line, e.col, e.text, line, col, why);
}

static void
bad(const char *text, int line, int col, const char *why)
{
	bad_n(text, strlen(text), PD_SYNTAX, line, col, why);
}

static void
unsupported(const char *text, const char *why)
{
	struct pd_script *s;
	struct pd_error e;

	assert_int_equal(pd_parse(text, strlen(text), &s, &e), PD_UNSUPPORTED);
	assert_null(s);
	assert_non_null(strstr(e.text, why));
}

/* Parses one packet and shows it again. */
static void
same(const char *in, const char *out)
{
	char text[512], buf[512];
	struct pd_script *s;

	snprintf(text, sizeof(text), "+0 %s", in);
	s = good(text);
	assert_int_equal(s->nevents, 1);
	assert_int_equal(s->events->kind, PD_E_PACKET);
	assert_string_equal(pd_packet_show(s->events->packet, buf, sizeof(buf)), out != NULL ? out : in);
	pd_script_free(s);
}

/* STK-7 */
static void
options_with_and_without_values(void **state)
{
	struct pd_script *s = good("// a remark\n--tolerance_usecs=50000\n--ip_version = ipv6 /* x */ --flag\n-D A=1\n-DB=2\n"
		"--text=\"a b\" --define=C=3 --last\n 0 close(3) = 0");
	unsigned int n = 0, defined = 0;

	(void)state;
	assert_string_equal(pd_option(s, "tolerance_usecs"), "50000");
	assert_string_equal(pd_option(s, "ip_version"), "ipv6");
	assert_string_equal(pd_option(s, "flag"), "");
	assert_string_equal(pd_option(s, "text"), "a b");
	assert_string_equal(pd_option(s, "define"), "C=3");
	assert_string_equal(pd_option(s, "last"), "");
	assert_null(pd_option(s, "tolerance"));
	for (struct pd_option *o = s->options; o != NULL; o = o->next, n++)
		defined += strcmp(o->name, "define") == 0;
	assert_int_equal(n, 8);
	assert_int_equal(defined, 3);
	assert_int_equal(s->options->line, 2);
	assert_int_equal(s->nevents, 1);
	pd_script_free(s);
}

/* STK-7 */
static void
every_kind_of_time(void **state)
{
	static const struct {
		const char *text;
		enum pd_time time;
		int64_t at, end;
		bool window, blocks;
	} t[] = {
		{ "0 a() = 0", PD_T_ABS, 0, 0, false, false },
		{ ".01 a() = 0", PD_T_ABS, 10000000, 0, false, false },
		{ "0.000001 a() = 0", PD_T_ABS, 1000, 0, false, false },
		{ "12 a() = 0", PD_T_ABS, 12000000000, 0, false, false },
		{ "+.5 a() = 0", PD_T_REL, 500000000, 0, false, false },
		{ "+0.00 a() = 0", PD_T_REL, 0, 0, false, false },
		{ "* > . 1:1(0) ack 1", PD_T_ANY, 0, 0, false, false },
		{ "1~2.5 > . 1:1(0) ack 1", PD_T_ABS, 1000000000, 2500000000, true, false },
		{ "+.3~+.303 > . 1:1(0) ack 1", PD_T_REL, 300000000, 303000000, true, false },
		{ "+.3~.303 > . 1:1(0) ack 1", PD_T_REL, 300000000, 303000000, true, false },
		{ "+.1...0.200 a() = 0", PD_T_REL, 100000000, 200000000, false, true },
		{ "0...1 a() = 0", PD_T_ABS, 0, 1000000000, false, true },
		{ "+0...+0.1 a() = 0", PD_T_REL, 0, 100000000, false, true },
		{ "0.1...0.1 a() = 0", PD_T_ABS, 100000000, 100000000, false, true },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct pd_script *s = good(t[i].text);

		assert_int_equal(s->events->time, t[i].time);
		assert_int_equal(s->events->at, t[i].at);
		assert_int_equal(s->events->end, t[i].end);
		assert_int_equal(s->events->window, t[i].window);
		assert_int_equal(s->events->blocks, t[i].blocks);
		pd_script_free(s);
	}
}

/* STK-7 */
static void
packets_show_as_they_were_written(void **state)
{
	(void)state;
	same("< S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>", NULL);
	same("> S. 0:0(0) ack 1 win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 200>", NULL);
	same("> . 1:1(0) ack 1", NULL);
	same("> P. 1:10001(10000) ack 1", NULL);
	same("> F. 1:1(0) ack 2 <...>", NULL);
	same("< R 4294967295:4294967295(0)", NULL);
	same("< . 4294967295:4(5) ack 4294967295 win 0", NULL);
	same("< [noecn] SEW  0:0(0) win 65535 <mss 1000, sackOK, eol, eol>",
		"< [noecn] SEW 0:0(0) win 65535 <mss 1000,sackOK,eol,eol>");
	same(">[ect0] P.   4001:5001(1000) ack 1", "> [ect0] P. 4001:5001(1000) ack 1");
	same("> [ect1] . 1:1(0) ack 1", NULL);
	same("> [ce] . 1:1(0) ack 1", NULL);
	same("> [ect01] . 1:1(0) ack 1", NULL);
	same("> [tos 0x1c] . 1:1(0) ack 1", NULL);
	same("> (ttl 64) . 1:1(0) ack 1", "> [ttl 64] . 1:1(0) ack 1");
	same("> [ce, ttl 3] . 1:1(0) ack 1", NULL);
	same("< 8080 > 1234 . 1:1(0) ack 1 win 5 urg 7 <nop,nop,sack 1:2 3:4 5:6>", NULL);
	same("> FR.PUEWA 0:0(0) ack 1", "> FRPUEWA. 0:0(0) ack 1");
	same("> .5 1:1(0) ack 1", "> EA. 1:1(0) ack 1");
	same("< - 1:11(10) win 4", NULL);
	same("< S 0:10(10) win 1 <FO abcd1234,FOEXP 12345678>", NULL);
	same("< S 0:0(0) win 1 <FO,FOEXP,md5,md5 00112233445566778899aabbccddeeff>", NULL);
	same("> udp (1000)", NULL);
	same("< udp 53 > 4000 (0)", NULL);
	same("< icmp unreachable port_unreachable", NULL);
	same("< icmp unreachable frag_needed mtu 1300 [1:1461(1460)]", NULL);
	same("< icmp packet_too_big mtu 1280 [udp (1400)]", NULL);
	same("< [1:1461(1460)] icmp unreachable port_unreachable", "< icmp unreachable port_unreachable [1:1461(1460)]");
	same("<icmp time_exceeded", "< icmp time_exceeded");
	same("< icmp 3 4 mtu 500", NULL);
	same("< . 1:1(0) ack 1 win 5 <>", "< . 1:1(0) ack 1 win 5");
}

/* STK-7 */
static void
a_code_of_an_icmp_error_stands_on_its_line(void **state)
{
	struct pd_script *s = good("0 < icmp time_exceeded\n1 < icmp unreachable mtu 5\n");

	(void)state;
	assert_int_equal(s->nevents, 2);
	assert_null(s->events->packet->icmp_code_word);
	assert_null(s->events->next->packet->icmp_code_word);
	assert_int_equal(s->events->next->packet->mtu, 5);
	pd_script_free(s);
}

/* STK-7 */
static void
calls_with_every_kind_of_argument(void **state)
{
	struct pd_script *s = good("0 f(..., 3, 0x10, -5, A|B|4, [1, X], \"a\\n\\x41\\\"\\0\", {onoff=1,linger=0},\n"
		" {msg_name(...)=..., msg_iov(2)=[{..., 10},\n"
			" {...,20}], msg_flags=0}, htons(80), &hints, (7)) = -1 EAGAIN (Try (again))\n"
		"+0 fcntl(3, F_GETFL) = 0x02 (flags O_RDWR)\n+0 g() = ?\n+0 h(...) = [1]");
	struct pd_call *k = s->events->call;
	struct pd_expr *x = k->args;

	(void)state;
	assert_string_equal(k->name, "f");
	assert_int_equal(k->nargs, 12);
	assert_int_equal(x->kind, PD_X_ELLIPSIS);
	x = x->next;
	assert_int_equal(x->num, 3);
	x = x->next;
	assert_int_equal(x->num, 16);
	x = x->next;
	assert_int_equal(x->num, -5);
	x = x->next;
	assert_int_equal(x->kind, PD_X_OR);
	assert_string_equal(x->kids->next->text, "B");
	assert_int_equal(x->kids->next->next->num, 4);
	x = x->next;
	assert_int_equal(x->kind, PD_X_LIST);
	assert_string_equal(x->kids->next->text, "X");
	x = x->next;
	assert_int_equal(x->num, 5);
	assert_memory_equal(x->text, "a\nA\"\0", 6);
	x = x->next;
	assert_int_equal(x->kind, PD_X_STRUCT);
	assert_string_equal(x->kids->next->name, "linger");
	x = x->next;
	assert_string_equal(x->kids->name, "msg_name");
	assert_string_equal(x->kids->next->name, "msg_iov");
	assert_int_equal(x->kids->next->kids->next->kids->next->num, 20);
	assert_int_equal(x->line, 2);
	x = x->next;
	assert_int_equal(x->kind, PD_X_CALL);
	assert_int_equal(x->kids->num, 80);
	x = x->next;
	assert_int_equal(x->kind, PD_X_WORD);
	x = x->next;
	assert_int_equal(x->num, 7);
	assert_int_equal(k->result->num, -1);
	assert_string_equal(k->err, "EAGAIN");
	k = s->events->next->call;
	assert_int_equal(k->result->num, 2);
	assert_int_equal(s->events->next->line, 4);
	assert_null(s->events->next->next->call->result);
	assert_int_equal(s->nevents, 4);
	pd_script_free(s);
}

/* STK-7 */
static void
commands_code_and_comments(void **state)
{
	struct pd_script *s = good("`a -w b=1 # no remark\n`\n/* over\n two lines */ # to the end ` \n0 `c`\n"
		"+0 %{ assert x == 1\n}% // y\n`d`");

	(void)state;
	assert_int_equal(s->nevents, 4);
	assert_string_equal(s->events->text, "a -w b=1 # no remark\n");
	assert_int_equal(s->events->time, PD_T_REL);
	assert_string_equal(s->events->next->text, "c");
	assert_int_equal(s->events->next->next->kind, PD_E_CODE);
	assert_string_equal(s->events->next->next->text, " assert x == 1\n");
	assert_string_equal(s->events->next->next->next->text, "d");
	assert_int_equal(s->events->next->next->next->line, 8);
	pd_script_free(s);
}

/* STK-7 */
static void
words_tell_the_family(void **state)
{
	struct pd_script *s = good("0 socket(AF_INET6, 1, 2) = 3");

	(void)state;
	assert_true(s->says_v6);
	assert_false(s->says_v4);
	pd_script_free(s);
	s = good("0 bind(3, {sa_family = AF_INET, sin_port = htons(1), sin_addr = inet_addr(\"1.2.3.4\")}, ...) = 0");
	assert_true(s->says_v4);
	assert_false(s->says_v6);
	pd_script_free(s);
}

/* STK-7 */
static void
an_empty_script_is_one(void **state)
{
	struct pd_script *s = good("");

	(void)state;
	assert_int_equal(s->nevents, 0);
	pd_script_free(s);
	s = good(" // nothing");
	assert_int_equal(s->nevents, 0);
	pd_script_free(s);
}

/* STK-7 */
static void
messages_say_line_and_column(void **state)
{
	(void)state;
	bad("0 socket(", 1, 10, "expected a value before the end");
	bad("0\n  x() 0", 2, 7, "expected '=' before '0'");
	bad("hello", 1, 1, "expected a time before 'hello'");
	bad("+ > S 0:0(0)", 1, 3, "expected a time");
	bad(". > S 0:0(0)", 1, 1, "expected a time");
	bad("5~4 > S 0:0(0)", 1, 4, "ends before it begins");
	bad("5~+6 > S 0:0(0)", 1, 4, "relative one");
	bad("99999999999999 a() = 0", 1, 1, "a time is above");
	bad("0 > S 0:1(0)", 1, 7, "0:1 is not 0 bytes");
	bad("0 > X 0:0(0)", 1, 5, "expected TCP flags");
	bad("0 > S", 1, 6, "a sequence number");
	bad("0 > S 4294967296:0(0)", 1, 7, "above 4294967295");
	bad("0 > S 0:0(0) win 65536", 1, 18, "above 65535");
	bad("0 < S 0:65536(65536)", 1, 15, "above 65535");
	bad("0 < udp (65528)", 1, 16, "65527");
	bad("0 < udp 0 > 1 (1)", 1, 14, "port 0");
	bad("0 < S 0:0(0) <mss>", 1, 18, "an MSS");
	bad("0 < S 0:0(0) <mss 1", 1, 20, "expected '>'");
	bad("0 < S 0:0(0) <sack>", 1, 19, "without a block");
	bad("0 < S 0:0(0) <sack 1:2 1:2 1:2 1:2 1:2>", 1, 36, "more than four");
	bad("0 < S 0:0(0) <TS 1>", 1, 18, "'val'");
	bad("0 < S 0:0(0) <TS val 1>", 1, 23, "'ecr'");
	bad("0 < S 0:0(0) <FO abc>", 1, 21, "odd number");
	bad("0 < S 0:0(0) <md5 0011223344556677889900112233445566>", 1, 53, "more than 16");
	bad("0 < S 0:0(0) <TS val 1 ecr 1,TS val 1 ecr 1,TS val 1 ecr 1,TS val 1 ecr 1,nop>", 1, 78, "40 bytes");
	bad("0 < S 0:0(0) <...>", 1, 19, "needs its options said");
	bad("0 < S 0:0(0) <,>", 1, 15, "expected a TCP option");
	bad("0 < [1:2(1)] S 0:0(0)", 1, 14, "expected icmp");
	bad("0 < [ect2] S 0:0(0)", 1, 6, "expected ect0");
	bad("0 < [ce S 0:0(0)", 1, 9, "expected ect0");
	bad("* < S 0:0(0)", 1, 3, "needs one time");
	bad("* a() = 0", 1, 3, "any time");
	bad("0...1 > S 0:0(0)", 1, 7, "only a call blocks");
	bad("0 `abc", 1, 3, "no ` for this");
	bad("0 %{ x", 1, 3, "no }% for this");
	bad("0 /* x", 1, 3, "does not end");
	bad("0 a(\"x) = 0", 1, 5, "string does not end");
	bad("0 a(\"\\q\") = 0", 1, 7, "escape");
	bad("0 a() = -1 EAGAIN (x", 1, 19, "remark");
	bad("0 a() = 0 b() = 0", 1, 11, "expected the next event");
	bad("0 a({b=}) = 0", 1, 8, "expected a value");
	bad("0 = 3", 1, 3, "expected a packet, a call");
	bad("--", 1, 3, "name of an option");
	bad("--a='x", 1, 5, "value does not end");
	bad("0 a(18446744073709551616) = 0", 1, 5, "above");
	bad("0 < icmp", 1, 9, "an ICMP type");
	bad_n("0 a() = 0\n\0", 11, PD_SYNTAX, 2, 1, "NUL");
	bad_n("0 `a\0b`", 7, PD_SYNTAX, 1, 3, "no ` for this");
}

/* STK-7 */
static void
what_is_left_out_is_told_from_what_is_wrong(void **state)
{
	(void)state;
	unsupported("0 < gre S 0:0(0)", "gre");
	unsupported("0 < sctp: INIT", "sctp");
	unsupported("0 < S 0:0(0) win 5 <mp_capable 1>", "mp_capable");
	unsupported("0 < [flowlabel 1] S 0:0(0)", "flow labels");
}

/* STK-7, STK-8 */
static void
deep_nesting_is_refused(void **state)
{
	char text[4096] = "0 a(";
	struct pd_script *s;
	struct pd_error e;

	(void)state;
	for (const char *open = "[({"; *open != '\0'; open++) {
		memset(text + 4, *open, 4000);
		text[4004] = '\0';
		assert_int_equal(pd_parse(text, strlen(text), &s, &e), PD_SYNTAX);
		assert_non_null(strstr(e.text, "nested deeper"));
	}
	strcpy(text, "0 a(");
	for (unsigned int i = 0; i < 1000; i++)
		strcat(text, "f(");
	assert_int_equal(pd_parse(text, strlen(text), &s, &e), PD_SYNTAX);
	assert_non_null(strstr(e.text, "nested deeper"));
}

/* STK-8 */
static void
large_files(void **state)
{
	size_t n = PD_FILE_MAX + 1;
	char *text = malloc(n);
	struct pd_script *s;
	struct pd_error e;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', n);
	assert_int_equal(pd_parse(text, n, &s, &e), PD_SYNTAX);
	assert_non_null(strstr(e.text, "longer than"));
	for (size_t i = 0; i + 16 <= PD_FILE_MAX; i += 16)
		memcpy(text + i, "+0 a(1)      =0\n", 16);
	assert_int_equal(pd_parse(text, PD_FILE_MAX, &s, &e), PD_GOOD);
	assert_int_equal(s->nevents, PD_FILE_MAX / 16);
	pd_script_free(s);
	free(text);
}

static const char whole[] = "--tolerance_usecs=5 -DX=1\n`sysctl -w a=1`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
	"+0 setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0 // x\n"
	"+0 < [ect0] 10 > 20 S 0:0(0) win 5 <mss 1000,sackOK,TS val 1 ecr 2,nop,wscale 7,sack 1:2 3:4>\n"
	"+.3~+.4 > S. 0:0(0) ack 1 <...>\n* > udp (5)\n+0 < icmp unreachable frag_needed mtu 1 [1:2(1)]\n"
	"+0...1 recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{...,5}]}, A|B) = -1 EAGAIN (x (y))\n+0 %{ assert a >= 1 }%\n"
	"+0 write(3, \"a\\x41\", 2) = 2 /* z */\n";

/* Each prefix in memory of its own size, so that a sanitizer sees a read past its end. */
/* STK-8 */
static void
truncated_scripts_are_read_to_their_end_only(void **state)
{
	struct pd_script *s;
	struct pd_error e;

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		char *text = malloc(n > 0 ? n : 1);

		assert_non_null(text);
		memcpy(text, whole, n);
		if (pd_parse(text, n, &s, &e) == PD_GOOD)
			pd_script_free(s);
		else
			assert_true(e.line > 0 && e.col > 0 && e.text[0] != '\0');
		free(text);
	}
}

/* STK-8 */
static void
mutated_scripts_end_in_a_tree_or_a_message(void **state)
{
	static const char odd[] = "<>[](){}|&\"`%.:~*+-=,\\\n\0#/09afSPx_";
	struct prng r;
	unsigned int trees = 0, messages = 0;

	(void)state;
	prng_init(&r, 7, 1);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t n = sizeof(whole) - 1;
		char *text = malloc(n);
		struct pd_script *s;
		struct pd_error e;

		assert_non_null(text);
		memcpy(text, whole, n);
		for (uint64_t k = prng_below(&r, 4) + 1; k > 0; k--) {
			size_t at = prng_below(&r, n), len = prng_below(&r, 20);

			if (prng_below(&r, 4) == 0 && at + len < n)
				memmove(text + at, whole + prng_below(&r, n - len), len);
			else
				text[at] = prng_below(&r, 8) == 0 ? (char)prng_below(&r, 256) : odd[prng_below(&r, sizeof(odd))];
		}
		if (pd_parse(text, n, &s, &e) == PD_GOOD) {
			trees++;
			pd_script_free(s);
		} else {
			messages++;
			assert_true(e.line > 0 && e.col > 0 && e.text[0] != '\0');
		}
		free(text);
	}
	assert_true(trees > 100 && messages > 100);
}

/* STK-7 */
static void
a_packet_is_cut_to_its_room(void **state)
{
	char buf[10];
	struct pd_script *s = good("0 > S. 0:0(0) ack 1 win 65535 <mss 1460,nop,wscale 6,sackOK>");

	(void)state;
	assert_string_equal(pd_packet_show(s->events->packet, buf, sizeof(buf)), "> S. 0:0(");
	assert_string_equal(pd_opt_show(&s->events->packet->opt[0], buf, sizeof(buf)), "mss 1460");
	pd_script_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_with_and_without_values),
		cmocka_unit_test(every_kind_of_time),
		cmocka_unit_test(packets_show_as_they_were_written),
		cmocka_unit_test(a_code_of_an_icmp_error_stands_on_its_line),
		cmocka_unit_test(calls_with_every_kind_of_argument),
		cmocka_unit_test(commands_code_and_comments),
		cmocka_unit_test(words_tell_the_family),
		cmocka_unit_test(an_empty_script_is_one),
		cmocka_unit_test(messages_say_line_and_column),
		cmocka_unit_test(what_is_left_out_is_told_from_what_is_wrong),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(large_files),
		cmocka_unit_test(truncated_scripts_are_read_to_their_end_only),
		cmocka_unit_test(mutated_scripts_end_in_a_tree_or_a_message),
		cmocka_unit_test(a_packet_is_cut_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of scripts: comparing, numbers of the script and of the wire, bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../sim/packetdrill/flow.h"
#include "../../../sim/packetdrill/match.h"
#include "../../../sim/packetdrill/wire.h"
#include "../../../sim/prng.h"

/* Packets point into their scripts. */
static struct pd_script *kept[512];
static unsigned int nkept;

static int
forget(void **state)
{
	(void)state;
	while (nkept > 0)
		pd_script_free(kept[--nkept]);
	return 0;
}

/* A packet of a script. */
static struct pd_packet
packet(const char *text)
{
	char line[512];
	struct pd_script *s;
	struct pd_error e;
	struct pd_packet p;

	snprintf(line, sizeof(line), "+0 %s", text);
	if (pd_parse(line, strlen(line), &s, &e) != PD_GOOD)
		fail_msg("%s: %s", text, e.text);
	p = *s->events->packet;
	assert_true(nkept < sizeof(kept) / sizeof(kept[0]));
	kept[nkept++] = s;
	return p;
}

/* want as a script has it against what a segment shows: a live one says everything. */
static void
check(const struct match_rules *r, const char *want, const char *live, const char *why)
{
	struct pd_packet w = packet(want), l = packet(live);
	char got[256] = "";
	bool part, same;

	if (l.ecn == PD_ECN_ANY)
		l.ecn = PD_ECN_NOECN;
	l.opts_kind = PD_OPTS_LIST;
	same = match_packet(r, &w, &l, &part, got, sizeof(got));
	if (same != (why == NULL) || (why != NULL && strstr(got, why) == NULL))
		fail_msg("%s | %s: '%s', expected '%s'", want, live, got, why != NULL ? why : "a match");
}

static const struct match_rules plain, strict = { .strict = true }, penguin = { .persona = PD_LINUX };

/* STK-7 */
static void
every_kind_of_difference_is_told(void **state)
{
	(void)state;
	check(&plain, "> . 1:1(0) ack 1", "> . 1:1(0) ack 1 win 5", NULL);
	check(&plain, "> S 0:0(0)", "> udp (0)", "expected a TCP packet, got UDP");
	check(&plain, "> udp (5)", "> S 0:0(0)", "expected a UDP packet, got TCP");
	check(&plain, "> udp (5)", "> udp (6)", "length: expected 5, got 6");
	check(&plain, "> udp 1 > 2 (5)", "> udp 1 > 3 (5)", "ports: expected 1 > 2, got 1 > 3");
	check(&plain, "> S 0:0(0)", "> S. 0:0(0) ack 1", "flags: expected S, got S.");
	check(&plain, "> P. 1:2(1) ack 1", "> . 1:2(1) ack 1", "flags: expected P., got .");
	check(&plain, "> W. 1:2(1) ack 1", "> FEA. 1:2(1) ack 1", "flags: expected W., got FEA.");
	check(&plain, "> - 1:2(1)", "> F 1:2(1)", "flags: expected -, got F");
	check(&plain, "> . 1:2(1) ack 1", "> . 2:3(1) ack 1", "sequence: expected 1, got 2");
	check(&plain, "> . 1:2(1) ack 1", "> . 1:3(2) ack 1", "length: expected 1, got 2");
	check(&plain, "> . 1:1(0) ack 1", "> . 1:1(0) ack 2", "acknowledgement: expected 1, got 2");
	check(&plain, "> . 1:1(0) ack 1 urg 3", "> . 1:1(0) ack 1", "urgent pointer: expected 3, got 0");
	check(&plain, "> . 1:1(0) ack 1 urg 3", "> . 1:1(0) ack 1 urg 3", NULL);
	check(&plain, "> [ect0] . 1:1(0) ack 1", "> [ce] . 1:1(0) ack 1", "ECN: expected ect0, got ce");
	check(&plain, "> [ect01] . 1:1(0) ack 1", "> [ect1] . 1:1(0) ack 1", NULL);
	check(&plain, "> [ect01] . 1:1(0) ack 1", "> [noecn] . 1:1(0) ack 1", "ECN: expected ect01, got noecn");
	check(&plain, "> [tos 4] . 1:1(0) ack 1", "> [tos 5] . 1:1(0) ack 1", "TOS: expected 0x04, got 0x05");
	check(&plain, "> [ttl 4] . 1:1(0) ack 1", "> [ttl 5] . 1:1(0) ack 1", "TTL: expected 4, got 5");
}

/* STK-7 */
static void
windows_may_be_larger_unless_strict(void **state)
{
	(void)state;
	check(&plain, "> . 1:1(0) ack 1 win 10", "> . 1:1(0) ack 1 win 10", NULL);
	check(&plain, "> . 1:1(0) ack 1 win 10", "> . 1:1(0) ack 1 win 11", NULL);
	check(&plain, "> . 1:1(0) ack 1 win 10", "> . 1:1(0) ack 1 win 9", "window: expected 10, got 9");
	check(&strict, "> . 1:1(0) ack 1 win 10", "> . 1:1(0) ack 1 win 11", "window: expected 10, got 11");
	check(&penguin, "> . 1:1(0) ack 1 win 10", "> . 1:1(0) ack 1 win 9", NULL);
}

/* STK-7 */
static void
options_are_a_set_unless_strict(void **state)
{
	static const char a[] = "> S 0:0(0) <mss 1460,nop,wscale 6,sackOK,TS val 1 ecr 0>",
		b[] = "> S 0:0(0) win 1 <sackOK,mss 1460,TS val 1 ecr 0,wscale 6>";

	(void)state;
	check(&plain, a, b, NULL);
	check(&strict, a, b, "option 1: expected mss 1460, got sackOK");
	check(&strict, a, a, NULL);
	check(&strict, a, "> S 0:0(0) <mss 1460,nop,wscale 6,sackOK>", "option 5: expected TS val 1 ecr 0, got none");
	check(&strict, "> S 0:0(0) <mss 1>", "> S 0:0(0) <mss 1,nop>", "option 2: expected none, got nop");
	check(&plain, "> S 0:0(0) <...>", b, NULL);
	check(&plain, "> S 0:0(0)", b, "option: expected none, got sackOK");
	check(&plain, "> S 0:0(0)", "> S 0:0(0) <nop,nop,nop,eol>", NULL);
	check(&plain, "> S 0:0(0) <mss 1460>", "> S 0:0(0) <mss 1440>", "option: expected mss 1460, got mss 1440");
	check(&plain, "> S 0:0(0) <wscale 6>", "> S 0:0(0) <wscale 7>", "expected wscale 6, got wscale 7");
	check(&plain, "> S 0:0(0) <mss 1,sackOK>", "> S 0:0(0) <mss 1>", "expected sackOK, got none");
	check(&plain, "> S 0:0(0) <mss 1>", "> S 0:0(0) <mss 1,sackOK>", "expected none, got sackOK");
	check(&plain, "> . 1:1(0) ack 1 <TS val 1 ecr 2>", "> . 1:1(0) ack 1 <TS val 1 ecr 3>", "ecr 2, got TS val 1 ecr 3");
	check(&plain, "> . 1:1(0) ack 1 <sack 1:2 3:4>", "> . 1:1(0) ack 1 <nop,nop,sack 1:2 3:4>", NULL);
	check(&plain, "> . 1:1(0) ack 1 <sack 1:2 3:4>", "> . 1:1(0) ack 1 <sack 3:4 1:2>",
		"expected sack 1:2 3:4, got sack 3:4 1:2");
	check(&plain, "> . 1:1(0) ack 1 <sack 1:2>", "> . 1:1(0) ack 1 <sack 1:2 3:4>", "expected sack 1:2, got");
	check(&plain, "> S 0:0(0) <FO 1234>", "> S 0:0(0) <FO 1235>", "expected FO 1234, got FO 1235");
}

/* STK-7 */
static void
one_large_segment_is_several_small_ones(void **state)
{
	struct pd_packet want = packet("> P. 1:3001(3000) ack 1"), live = packet("> . 1:1001(1000) ack 1 win 5");
	struct match_rules r = plain;
	char why[256];
	bool part;

	(void)state;
	live.ecn = PD_ECN_NOECN;
	assert_true(match_packet(&r, &want, &live, &part, why, sizeof(why)));
	assert_true(part);
	match_rest(&want, &live);
	assert_int_equal(want.seq, 1001);
	assert_int_equal(want.len, 2000);
	live.seq = 1001;
	live.flags |= PD_PSH; /* in the middle it says nothing */
	assert_true(match_packet(&r, &want, &live, &part, why, sizeof(why)));
	match_rest(&want, &live);
	live.seq = 2001;
	live.flags &= (uint16_t)~PD_PSH; /* the last one must have it */
	assert_false(match_packet(&r, &want, &live, &part, why, sizeof(why)));
	assert_false(part);
	live.flags |= PD_PSH;
	assert_true(match_packet(&r, &want, &live, &part, why, sizeof(why)));
	assert_false(part);
	live.flags &= (uint16_t)~PD_PSH;
	assert_true(match_packet(&penguin, &want, &live, &part, why, sizeof(why)));
	r.strict_segments = true;
	want = packet("> P. 1:3001(3000) ack 1");
	live.seq = 1;
	live.flags |= PD_PSH;
	assert_false(match_packet(&r, &want, &live, &part, why, sizeof(why)));
	assert_string_equal(why, "length: expected 3000, got 1000");
	/* too much is no part */
	want = packet("> P. 1:501(500) ack 1");
	assert_false(match_packet(&plain, &want, &live, &part, why, sizeof(why)));
}

/* STK-7 */
static void
icmp_errors_by_name(void **state)
{
	struct pd_packet want = packet("> icmp unreachable frag_needed mtu 1300"), live = { .proto = PD_ICMP, .ip_version = 4,
		.icmp_type = 3,
		.icmp_code = 4, .mtu = 1300 };
	uint8_t type, code;
	char why[256];
	bool part;

	(void)state;
	assert_true(match_packet(&plain, &want, &live, &part, why, sizeof(why)));
	live.mtu = 1200;
	assert_false(match_packet(&plain, &want, &live, &part, why, sizeof(why)));
	assert_string_equal(why, "MTU: expected 1300, got 1200");
	live.icmp_code = 3;
	assert_false(match_packet(&plain, &want, &live, &part, why, sizeof(why)));
	assert_string_equal(why, "ICMP: expected type 3 code 4, got type 3 code 3");
	live.ip_version = 6;
	assert_false(match_packet(&plain, &want, &live, &part, why, sizeof(why)));
	assert_non_null(strstr(why, "not known in IPv6"));
	assert_true(wire_icmp_numbers(6, "packet_too_big", NULL, &type, &code));
	assert_true(type == 2 && code == 0);
	assert_false(wire_icmp_numbers(4, "packet_too_big", NULL, &type, &code));
	assert_true(wire_icmp_numbers(4, "unreachable", "host_unreachable", &type, &code) && code == 1);
	assert_true(wire_icmp_numbers(6, "unreachable", "port_unreachable", &type, &code) && type == 1 && code == 4);
	assert_true(wire_icmp_numbers(4, "time_exceeded", "reassembly", &type, &code) && type == 11 && code == 1);
	assert_true(wire_icmp_numbers(4, "parameter_problem", "option", &type, &code) && type == 12 && code == 2);
	assert_true(wire_icmp_numbers(4, "time_exceeded", "ttl_exceeded_in_transit", &type, &code) && code == 0);
	assert_true(wire_icmp_numbers(4, "time_exceeded", "frag_reass_exceeded", &type, &code) && code == 1);
	assert_true(wire_icmp_numbers(4, "parameter_problem", "code_1", &type, &code) && code == 1);
	assert_true(wire_icmp_numbers(4, "unreachable", "protocol_unreachable", &type, &code) && code == 2);
	assert_true(wire_icmp_numbers(4, "unreachable", "net_unreachable_for_tos", &type, &code) && code == 11);
	assert_true(wire_icmp_numbers(4, "3", "13", &type, &code) && type == 3 && code == 13);
	assert_false(wire_icmp_numbers(4, "unreachable", "portx", &type, &code));
	assert_false(wire_icmp_numbers(4, "source_quench", "port", &type, &code));
	assert_false(wire_icmp_numbers(4, "nonsense", NULL, &type, &code));
}

/* STK-7 */
static void
numbers_count_from_each_sides_syn(void **state)
{
	struct pd_flow f;
	struct pd_packet p = packet("< S 123:123(0) win 5 <TS val 7 ecr 0>"), live, back;

	(void)state;
	flow_init(&f, PD_TCP, 8080, 40001, 0xfffffff0);
	flow_to_wire(&f, &p, &live);
	assert_int_equal(live.seq, (uint32_t)(0xfffffff0 + 123));
	assert_int_equal(live.sport, 40001);
	assert_int_equal(live.dport, 8080);
	assert_int_equal(live.opt[0].a, 7);
	assert_int_equal(live.opt[0].b, 0);
	/* sent again it is the same */
	flow_to_wire(&f, &p, &live);
	assert_int_equal(live.seq, f.remote_isn);
	/* the stack's SYN, over the wrap */
	back = packet("> S. 0:0(0) ack 1");
	back.seq = 0xfffffffe;
	back.ack = f.remote_isn + 1;
	flow_to_script(&f, &back, &live);
	assert_int_equal(live.seq, 0);
	assert_int_equal(live.ack, 1);
	/* data and acknowledgements count from there */
	p = packet("< P. 1:11(10) ack 1 win 5 <sack 5:9>");
	flow_to_wire(&f, &p, &live);
	assert_int_equal(live.seq, f.remote_isn + 1);
	assert_int_equal(live.ack, 0xffffffff);
	assert_int_equal(live.opt[0].sack[0][0], 3);
	assert_int_equal(live.opt[0].sack[0][1], 7);
	back = packet("> . 1:6(5) ack 11 <sack 20:30>");
	back.seq = 3;
	back.ack = f.remote_isn + 11;
	back.opt[0].sack[0][0] = f.remote_isn + 20;
	back.opt[0].sack[0][1] = f.remote_isn + 30;
	flow_to_script(&f, &back, &live);
	assert_int_equal(live.seq, 5);
	assert_int_equal(live.ack, 11);
	assert_int_equal(live.opt[0].sack[0][1], 30);
	/* another SYN of the stack's begins anew */
	back = packet("> S 0:0(0)");
	back.seq = 1000;
	flow_to_script(&f, &back, &live);
	assert_int_equal(live.seq, 0);
	assert_int_equal(f.local_isn, 1000);
}

/* STK-7 */
static void
a_segment_without_a_syn_before_it_means_what_it_says(void **state)
{
	struct pd_flow f;
	struct pd_packet p = packet("< . 5:5(0) ack 9 win 5"), live, back = packet("> R 9:9(0)");

	(void)state;
	flow_init(&f, PD_TCP, 1, 2, 77);
	flow_to_wire(&f, &p, &live);
	assert_int_equal(live.seq, 82);
	back.seq = live.ack;
	flow_to_script(&f, &back, &live);
	assert_int_equal(live.seq, 9);
	/* the answer to what acknowledges nothing begins at 0 */
	flow_init(&f, PD_TCP, 1, 2, 77);
	p = packet("< S 0:0(0) win 5");
	flow_to_wire(&f, &p, &live);
	back = packet("> R. 0:0(0) ack 1");
	back.seq = 0;
	back.ack = 78;
	flow_to_script(&f, &back, &live);
	assert_int_equal(live.seq, 0);
	assert_int_equal(live.ack, 1);
	/* also when something was acknowledged before */
	p = packet("< . 5:5(0) ack 9 win 5");
	flow_to_wire(&f, &p, &live);
	flow_to_script(&f, &back, &live);
	assert_int_equal(live.seq, 0);
	assert_int_equal(live.ack, 1);
}

/* STK-7 */
static void
time_stamps_are_known_by_the_scripts_names(void **state)
{
	struct pd_flow f;
	struct pd_packet p = packet("< . 1:1(0) ack 1 win 5 <TS val 9 ecr 100>"), live;

	(void)state;
	flow_init(&f, PD_TCP, 1, 2, 0);
	assert_int_equal(flow_ts_echo(&f, 100), 100); /* nothing is known: as it stands */
	flow_ts_learn(&f, 100, 5000);
	flow_ts_learn(&f, 101, 5100);
	flow_to_wire(&f, &p, &live);
	assert_int_equal(live.opt[0].a, 9);
	assert_int_equal(live.opt[0].b, 5000);
	assert_int_equal(flow_ts_echo(&f, 105), 5104); /* from the latest on */
	flow_ts_learn(&f, 100, 5200);
	assert_int_equal(flow_ts_echo(&f, 100), 5200);
	for (uint32_t i = 0; i < 3 * FLOW_TS_MAX; i++)
		flow_ts_learn(&f, 1000 + i, i);
	assert_int_equal(flow_ts_echo(&f, 1000 + 3 * FLOW_TS_MAX - 1), 3 * FLOW_TS_MAX - 1);
	assert_int_equal(f.nts, FLOW_TS_MAX);
}

static void
round_trip(const char *text, uint8_t family)
{
	static uint8_t out[65536];
	struct pd_ends e = { .family = family }, got;
	struct pd_packet p = packet(text), q;
	char why[128], a[512], b[512];
	uint32_t n;

	e.src.v6[0] = 9;
	e.src.v6[3] = 1;
	e.dst.v6[0] = 8;
	if (p.sport == 0) {
		p.sport = 1;
		p.dport = 2;
	}
	n = wire_build(&p, &e, NULL, 0, out);
	assert_true(n > 0);
	if (!wire_read(out, n, &q, &got, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_memory_equal(&e.src, &got.src, family == ADDR_INET ? 4 : 16);
	q.inbound = true;
	q.ttl = p.ttl;
	q.tos = p.tos;
	q.ecn = p.ecn;
	assert_string_equal(pd_packet_show(&p, a, sizeof(a)), pd_packet_show(&q, b, sizeof(b)));
	/* each bit counts */
	for (uint32_t i = family == ADDR_INET ? 20 : 40; i < n; i++) {
		out[i] ^= 1;
		assert_false(wire_read(out, n, &q, &got, why, sizeof(why)));
		out[i] ^= 1;
	}
	for (uint32_t i = 0; i < n; i++)
		assert_false(wire_read(out, i, &q, &got, why, sizeof(why)));
}

/* STK-7 */
static void
bytes_and_back(void **state)
{
	(void)state;
	for (uint8_t family = ADDR_INET; family <= ADDR_INET6; family += 2) {
		round_trip("< S 5:5(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 1 ecr 2>", family);
		round_trip("< PUEWA. 1:12(11) ack 4294967295 win 1 urg 3 <nop,nop,sack 1:2 3:4 5:6>", family);
		round_trip("< S 0:0(0) win 1 <FOEXP 1234,FO,md5 00112233445566778899aabbccddeeff,nop,nop>", family);
		round_trip("< udp 10 > 20 (33)", family);
	}
}

/* STK-7, STK-8 */
static void
damaged_packets_are_told(void **state)
{
	static uint8_t out[65536];
	struct pd_ends e = { .family = ADDR_INET }, got;
	struct pd_packet p = packet("< 1 > 2 S 5:25(20) win 65535 <mss 1460,nop,wscale 6,sackOK>"), q;
	char why[128];
	struct prng r;
	uint32_t n;

	(void)state;
	prng_init(&r, 1, 2);
	n = wire_build(&p, &e, NULL, 0, out);
	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t b[128];
		uint32_t len = (uint32_t)prng_below(&r, n + 1);
		uint8_t *exact = malloc(len > 0 ? len : 1);

		assert_non_null(exact);
		memcpy(b, out, n);
		b[prng_below(&r, n)] = (uint8_t)prng_below(&r, 256);
		memcpy(exact, b, len);
		wire_read(exact, len, &q, &got, why, sizeof(why));
		free(exact);
	}
	/* larger than IP takes */
	p.len = 65500;
	assert_int_equal(wire_build(&p, &e, NULL, 0, out), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_difference_is_told),
		cmocka_unit_test(windows_may_be_larger_unless_strict),
		cmocka_unit_test(options_are_a_set_unless_strict),
		cmocka_unit_test(one_large_segment_is_several_small_ones),
		cmocka_unit_test(icmp_errors_by_name),
		cmocka_unit_test(numbers_count_from_each_sides_syn),
		cmocka_unit_test(a_segment_without_a_syn_before_it_means_what_it_says),
		cmocka_unit_test(time_stamps_are_known_by_the_scripts_names),
		cmocka_unit_test(bytes_and_back),
		cmocka_unit_test(damaged_packets_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}

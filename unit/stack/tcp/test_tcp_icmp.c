/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors and path MTUs as TCP takes them (RFC 1191, RFC 8201, RFC 5927, RFC 1122 4.2.3.9, RFC 6633). */
#include "peer.h"

enum what { PORT, HOST, TOO_BIG, TIME, QUENCH };

/* An error about a segment of n bytes that we sent with this relative number. */
static void
icmp(struct peer *p, enum what what, uint32_t seq, uint16_t mtu)
{
	struct world *w = p->w;
	union ip_addr us = world_us(w), peer = world_peer(w);
	uint8_t q[128], b[256];
	uint32_t n, at;

	at = w->family == ADDR_INET ?
		fx_put_ip4(q, &(struct fx_ip4){ .src = us.v4, .dst = peer.v4, .proto = 6, .frag = 0x4000 }, 1480) :
		fx_put_ip6(q, &(struct fx_ip6){ .src = us, .dst = peer, .next = 6 }, 1460);
	put_be16(q + at, p->lport);
	put_be16(q + at + 2, p->port);
	put_be32(q + at + 4, p->irs + seq);
	memset(q + at + 8, 0, 12);
	q[at + 12] = 0x50;
	q[at + 13] = A;
	at += 20;
	if (w->family == ADDR_INET) {
		static const uint8_t tc[][2] = { { 3, 3 }, { 3, 1 }, { 3, 4 }, { 11, 0 }, { 4, 0 } };

		n = fx_put_icmp4(b, tc[what][0], tc[what][1], what == TOO_BIG ? mtu : 0, q, at);
		fx_rx_ip4(w->f, &(struct fx_ip4){ .proto = 1 }, b, n);
	} else {
		static const uint8_t tc[][2] = { { 1, 4 }, { 1, 3 }, { 2, 0 }, { 3, 0 }, { 100, 0 } };

		n = fx_put_icmp6(b, &peer, &us, tc[what][0], tc[what][1], what == TOO_BIG ? mtu : 0, q, at);
		fx_rx_ip6(w->f, &(struct fx_ip6){ .next = 58 }, b, n);
	}
}

/* A connection whose segments are as large as the MTU allows. */
static struct app *
open_large(struct world *w, struct peer *p)
{
	struct app *l = app_listen(w, 80, 1), *a;

	peer_init(w, p, 4000, 80, 1000);
	a = peer_open(p, l, "\x02\x04\x05\xb4", 4);
	app_close(w, l);
	return a;
}

/* STK-3: checklist 49 */
static void
test_icmp_error_checked_against_una_nxt_before_action(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	icmp(&p, PORT, 1, 0);      /* not yet sent */
	icmp(&p, PORT, 0xffffffffu, 0);
	icmp(&p, PORT, 0x80000000u, 0);
	assert_int_equal(fsm(a), TCP_SYN_SENT);
	assert_int_equal(tcp_error_peek(a->p), 0);
	icmp(&p, PORT, 0, 0);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ECONNREFUSED);
}

/* STK-3: checklist 49 */
static void
test_hard_error_aborts_only_syn_sent(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p), *b;

	assert_int_equal(app_write(w, a, 1000), 1000);
	peer_see(&p, A | P, 1, 1000, 1);
	icmp(&p, PORT, 1, 0);
	icmp(&p, HOST, 1, 0);
	icmp(&p, TIME, 1, 0);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	peer_ack(&p, 1001);
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 100);
	fx_tx_clear(w->f);
	/* and a soft one does not abort an attempt */
	b = app_connect(w, 4001);
	fx_tx_clear(w->f);
	assert_int_equal(fsm(b), TCP_SYN_SENT);
}

/* STK-3: checklist 49 */
static void
test_soft_error_does_not_abort_syn_sent(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	icmp(&p, HOST, 0, 0);
	icmp(&p, TIME, 0, 0);
	assert_int_equal(fsm(a), TCP_SYN_SENT);
	peer_syn(&p, S | A, MSS_1000, LEN(MSS_1000));
	peer_see(&p, A, 1, 0, 1);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
}

/* STK-3: checklist 50 */
static void
test_frag_needed_lowers_mss_and_resends_without_cwnd_cut(void **state)
{
	struct world *w = *state;
	uint32_t small = w->family == ADDR_INET ? 1300 - 40 : 1300 - 60;
	struct tcp_facts before, after;
	struct peer p;
	struct app *a = open_large(w, &p);

	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1, w->mss, 1);
	tcp_facts(w->s, a->p, &before);
	icmp(&p, TOO_BIG, 1, 1300);
	peer_see(&p, A, 1, small, 1);
	peer_see(&p, A | P, 1 + small, w->mss - small, 1);
	tcp_facts(w->s, a->p, &after);
	assert_int_equal(after.pmtu, 1300);
	assert_int_equal(after.snd_mss, small);
	assert_true(after.cwnd >= before.cwnd - before.cwnd % small);
	assert_true(after.cwnd + small > before.cwnd);
	assert_int_equal(events(w, TCP_EV_PMTU_LOWERED), 1);
	peer_ack(&p, 1 + w->mss);
	assert_int_equal(app_write(w, a, 2 * small), 2 * small);
	peer_see(&p, A, 1 + w->mss, small, 1);
}

/* STK-3: checklist 50 */
static void
test_mtu_below_576_v4_or_1280_v6_ignored(void **state)
{
	static const uint16_t mtu[] = { 1, 68, 300, 575 };
	struct world *w = *state;
	struct peer p;
	struct app *a = open_large(w, &p);

	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1, w->mss, 1);
	for (unsigned int i = 0; i < 4; i++)
		icmp(&p, TOO_BIG, 1, mtu[i]);
	if (w->family == ADDR_INET6)
		icmp(&p, TOO_BIG, 1, 1279);
	icmp(&p, TOO_BIG, 1, 1500); /* nor one that is not smaller */
	icmp(&p, TOO_BIG, 1, 9000);
	world_quiet(w);
	peer_ack(&p, 1 + w->mss);
	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1 + w->mss, w->mss, 1);
}

/* STK-3: checklist 50 */
static void
test_too_big_about_other_numbers_ignored(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_large(w, &p);

	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1, w->mss, 1);
	icmp(&p, TOO_BIG, 100000, 1300);
	icmp(&p, TOO_BIG, 0x90000000u, 1300);
	world_quiet(w);
}

/* STK-3: checklist 50: the plateau of RFC 1191 7.1 for routers that say nothing */
static void
test_mtu_zero_uses_plateau(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_large(w, &p);
	struct tcp_facts t;

	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1, w->mss, 1);
	icmp(&p, TOO_BIG, 1, 0);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.pmtu, 1492);
	peer_see(&p, A, 1, 1452, 1);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 51 */
static void
test_source_quench_ignored(void **state)
{
	struct world *w = *state;
	struct tcp_facts before, after;
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_int_equal(app_write(w, a, 5000), 5000);
	fx_tx_clear(w->f);
	tcp_facts(w->s, a->p, &before);
	icmp(&p, QUENCH, 1, 0);
	tcp_facts(w->s, a->p, &after);
	assert_int_equal(after.cwnd, before.cwnd);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	world_quiet(w);
}

/* STK-3: checklist 50 */
static void
test_pmtu_aged_out(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_large(w, &p);
	struct tcp_facts t;

	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1, w->mss, 1);
	icmp(&p, TOO_BIG, 1, 1300);
	fx_tx_clear(w->f);
	peer_ack(&p, 1 + w->mss);
	world_wait(w, 20 * 60 * 1000); /* ten minutes are the least that RFC 1191 6.3 allows */
	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1 + w->mss, w->mss, 1);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.pmtu, 1500);
}

/* STK-3: our MTU falls under a living connection */
static void
test_smaller_own_mtu_is_followed(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_large(w, &p);

	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A | P, 1, w->mss, 1);
	peer_ack(&p, 1 + w->mss);
	assert_int_equal(stack_if_mtu_set(w->s, w->f->nif, 1400), 0);
	assert_int_equal(app_write(w, a, w->mss), w->mss);
	peer_see(&p, A, 1 + w->mss, w->mss - 100, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_icmp_error_checked_against_una_nxt_before_action),
		T46(test_hard_error_aborts_only_syn_sent),
		T46(test_soft_error_does_not_abort_syn_sent),
		T46(test_frag_needed_lowers_mss_and_resends_without_cwnd_cut),
		T46(test_mtu_below_576_v4_or_1280_v6_ignored),
		T46(test_too_big_about_other_numbers_ignored),
		T4(test_mtu_zero_uses_plateau),
		T46(test_source_quench_ignored),
		T46(test_smaller_own_mtu_is_followed),
		T46(test_pmtu_aged_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

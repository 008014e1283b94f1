/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections open, and what segments to nothing and to listeners get (RFC 9293 3.5, 3.10.7; RFC 4987; RFC 6528). */
#include "peer.h"

/* An answer to a segment for which there is no connection: a reset with these absolute numbers. */
static void
expect_bare_rst(struct world *w, uint8_t flags, uint32_t seq, uint32_t ack)
{
	struct seg s;

	assert_true(world_get(w, &s));
	assert_int_equal(s.flags, flags);
	assert_int_equal(s.seq, seq);
	if ((flags & A) != 0)
		assert_int_equal(s.ack, ack);
	assert_int_equal(s.len, 0);
	assert_int_equal(s.win, 0);
	world_quiet(w);
}

/* STK-3: checklist 1 */
static void
test_rst_for_segment_to_closed_port_uses_seq_from_ack_or_zero_with_ack(void **state)
{
	struct world *w = *state;
	struct peer p;

	peer_init(w, &p, 4000, 81, 0xfffffff0u);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	expect_bare_rst(w, R | A, 0, 0xfffffff1u);
	peer_raw(&p, A, 1, 77, 0);
	expect_bare_rst(w, R, 77, 0);
	peer_raw(&p, A | P, 1, 99, 500);
	expect_bare_rst(w, R, 99, 0);
	peer_raw(&p, P, 1, 0, 100); /* no ACK: the data and the numbers wrap */
	expect_bare_rst(w, R | A, 0, 0xfffffff1u + 100);
	peer_raw(&p, F, 1, 0, 100);
	expect_bare_rst(w, R | A, 0, 0xfffffff1u + 101);
	assert_true(events(w, TCP_EV_CONN_RESET_OUT) >= 5);
}

/* STK-3: checklist 2 */
static void
test_no_rst_in_reply_to_rst(void **state)
{
	struct world *w = *state;
	struct peer p;

	peer_init(w, &p, 4000, 81, 1000);
	peer_raw(&p, R, 0, 0, 0);
	peer_raw(&p, R | A, 0, 5, 0);
	peer_raw(&p, R | S, 0, 0, 0);
	peer_raw(&p, R | F | A, 0, 5, 10);
	world_quiet_for(w, 1000);
}

/* STK-3: blackhole drops instead of answering */
static void
test_blackhole_answers_nothing(void **state)
{
	struct world *w = *state;
	struct peer p;

	knob(w, TCP_KNOB_BLACKHOLE, 1);
	peer_init(w, &p, 4000, 81, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	world_quiet_for(w, 1000);
}

/* STK-3: checklist 3 */
static void
test_listen_ack_gets_rst(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct peer p;

	knob(w, TCP_KNOB_SYNCOOKIES, 0);
	peer_init(w, &p, 4000, 80, 1000);
	peer_raw(&p, A, 1, 4711, 0);
	expect_bare_rst(w, R, 4711, 0);
	peer_raw(&p, A | F | P, 1, 4711, 100);
	expect_bare_rst(w, R, 4711, 0);
	peer_raw(&p, S | A, 0, 4711, 0);
	expect_bare_rst(w, R, 4711, 0);
	assert_null(app_accept(w, l));
}

/* STK-3: checklist 3 */
static void
test_listen_rst_ignored(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	peer_raw(&p, R, 0, 0, 0);
	peer_raw(&p, R | A, 0, 1, 0);
	world_quiet(w);
	assert_int_equal(fsm(l), TCP_LISTEN);
	assert_non_null(peer_open(&p, l, MSS_1000, LEN(MSS_1000)));
}

/* STK-3: checklist 3 */
static void
test_listen_syn_rst_or_synfin_not_accepted_as_plain_syn(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S | R, MSS_1000, LEN(MSS_1000));
	peer_syn(&p, S | F, MSS_1000, LEN(MSS_1000));
	peer_syn(&p, F, "", 0);
	peer_syn(&p, 0, "", 0);
	world_quiet_for(w, 2000);
	assert_non_null(peer_open(&p, l, MSS_1000, LEN(MSS_1000)));
}

/* STK-3: checklist 4 */
static void
test_simultaneous_open_reaches_established_with_one_synack_each(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_see(&p, S | A, 0, 0, 1);
	assert_int_equal(fsm(a), TCP_SYN_RCVD);
	peer_ack(&p, 1);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	assert_true((tcp_ready(a->p) & EPOLLOUT) != 0);
	world_quiet(w);
	assert_int_equal(app_write(w, a, 100), 100);
	peer_see(&p, A | P, 1, 100, 1);
	peer_ack(&p, 101);
}

/* STK-3: checklist 5 */
static void
test_syn_sent_unacceptable_ack_gets_rst_and_connection_survives(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	peer_raw(&p, A, 1, 5, 0);
	peer_see(&p, R, 5, 0, 0);
	peer_raw(&p, A, 1, 0, 0); /* ISS itself is not an acknowledgement of the SYN */
	peer_see(&p, R, 0, 0, 0);
	peer_raw(&p, S | A, 0, 2, 0);
	peer_see(&p, R, 2, 0, 0);
	assert_int_equal(fsm(a), TCP_SYN_SENT);
	peer_syn(&p, S | A, MSS_1000, LEN(MSS_1000));
	peer_see(&p, A, 1, 0, 1);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
}

/* STK-3: checklist 6 */
static void
test_syn_sent_rst_without_valid_ack_ignored(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	peer_raw(&p, R, 0, 0, 0);
	peer_raw(&p, R | A, 0, 0, 0);
	peer_raw(&p, R | A, 0, 2, 0);
	world_quiet(w);
	assert_int_equal(fsm(a), TCP_SYN_SENT);
	assert_int_equal(tcp_error_peek(a->p), 0);
	peer_raw(&p, R | A, 0, 1, 0);
	world_quiet(w);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ECONNREFUSED);
	assert_int_equal(tcp_take_error(a->p), 0);
	assert_true((a->events & (EPOLLERR | EPOLLHUP)) != 0);
	assert_true(events(w, TCP_EV_CONN_FAILED) >= 1);
}

/* STK-3 */
static void
test_connect_retries_then_etimedout(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct seg s;
	unsigned int n = 0;
	uint32_t iss = 0;

	while (world_get(w, &s)) {
		assert_int_equal(s.flags, S);
		if (n++ == 0)
			iss = s.seq;
		assert_int_equal(s.seq, iss);
	}
	for (unsigned int sec = 0; sec < 1200 && fsm(a) == TCP_SYN_SENT; sec++) {
		world_wait(w, 1000);
		while (world_get(w, &s)) {
			assert_int_equal(s.flags, S);
			assert_int_equal(s.seq, iss);
			n++;
		}
	}
	assert_in_range(n, 4, 20);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ETIMEDOUT);
	world_quiet_for(w, 60000);
}

/* STK-3: checklist 18 */
static void
test_isn_keyed_hash_of_4tuple_plus_clock(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	uint32_t isn[4], again, later;
	struct peer p;
	struct seg s;

	(void)l;
	for (unsigned int i = 0; i < 4; i++) {
		peer_init(w, &p, (uint16_t)(4000 + i), 80, 1000);
		peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
		peer_expect(&p, S | A, 0, 0, 1, &s);
		isn[i] = p.irs;
		for (unsigned int k = 0; k < i; k++)
			assert_true(isn[i] - isn[k] > 100000 && isn[k] - isn[i] > 100000); /* not one counter */
		peer_raw(&p, R, 1, 0, 0);
	}
	world_quiet(w);
	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_expect(&p, S | A, 0, 0, 1, &s);
	again = p.irs;
	peer_raw(&p, R, 1, 0, 0);
	assert_in_range(again - isn[0], 0, 250000); /* the same tuple at the same time: the clock's share only */
	world_wait(w, 10000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_expect(&p, S | A, 0, 0, 1, &s);
	later = p.irs;
	assert_in_range(later - again, 100000, 100000000); /* forward with time */
}

/* STK-3: checklist 18 */
static void
test_ephemeral_port_random(void **state)
{
	struct world *w = *state;
	uint16_t port[16];
	unsigned int steps = 0;

	for (unsigned int i = 0; i < 16; i++) {
		struct app *a = app_connect(w, (uint16_t)(4000 + i));
		struct tcp_addr us;

		tcp_local(a->p, &us);
		port[i] = ntohs(us.port_be);
		assert_true(port[i] >= 1024);
		if (i > 0 && port[i] == (uint16_t)(port[i - 1] + 1))
			steps++;
	}
	assert_in_range(steps, 0, 3); /* not one after the other */
	fx_tx_clear(w->f);
}

/* STK-3 */
static void
test_listener_backlog_bounds_what_waits(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 2), *a;
	unsigned int got = 0;
	struct peer p[8];

	for (unsigned int i = 0; i < 8; i++) {
		peer_init(w, &p[i], (uint16_t)(4000 + i), 80, 1000);
		peer_syn(&p[i], S, MSS_1000, LEN(MSS_1000));
		if (fx_tx_count(w->f) == 0)
			continue;
		peer_see(&p[i], S | A, 0, 0, 1);
		peer_ack(&p[i], 1);
	}
	assert_in_range(tcp_readable(l->p), 2, 4);
	fx_tx_clear(w->f);
	while ((a = app_accept(w, l)) != NULL) {
		got++;
		assert_int_equal(fsm(a), TCP_ESTABLISHED);
	}
	assert_in_range(got, 2, 4);
	assert_true(events(w, TCP_EV_LISTEN_OVERFLOW) >= 1);
	/* one whose last ACK was dropped is not lost for ever: its next segment or our SYN-ACK again completes it */
	fx_tx_clear(w->f);
	peer_data(&p[7], 100);
	fx_tx_clear(w->f);
	a = app_accept(w, l);
	if (a == NULL) {
		world_wait(w, 3100);
		fx_tx_clear(w->f);
		peer_syn(&p[7], S, MSS_1000, LEN(MSS_1000));
		peer_see(&p[7], S | A, 0, 0, 1);
		peer_ack(&p[7], 1);
		a = app_accept(w, l);
	}
	assert_non_null(a);
	fx_tx_clear(w->f);
}

/* STK-3 */
static void
test_accept_gives_the_oldest_first(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 8);
	struct peer p[4];

	for (unsigned int i = 0; i < 4; i++) {
		peer_init(w, &p[i], (uint16_t)(4003 - i), 80, 1000);
		peer_syn(&p[i], S, MSS_1000, LEN(MSS_1000));
		peer_see(&p[i], S | A, 0, 0, 1);
		peer_ack(&p[i], 1);
	}
	assert_true((tcp_ready(l->p) & EPOLLIN) != 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct app *a = app_accept(w, l);
		struct tcp_addr from;

		assert_non_null(a);
		assert_int_equal(tcp_remote(a->p, &from), 0);
		assert_int_equal(ntohs(from.port_be), 4003 - i);
	}
	assert_null(app_accept(w, l));
	assert_int_equal(tcp_ready(l->p) & EPOLLIN, 0);
}

/* STK-3: checklist 19 */
static void
test_cookies_keep_sack_ws_if_ts(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts t;
	struct peer p;

	knob(w, TCP_KNOB_SYNCOOKIES, 2);
	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	tcp_facts(w->s, a->p, &t);
	assert_true(t.ts && t.sack && t.wscale);
	assert_int_equal(t.snd_wscale, 7);
	assert_in_range(t.snd_mss, 500, 1000); /* an index of a table: never more than was said */
	assert_true(events(w, TCP_EV_COOKIE_SENT) >= 1);
	assert_true(events(w, TCP_EV_COOKIE_GOOD) >= 1);
	peer_init(w, &p, 4001, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000)); /* without timestamps there is no room for more than the MSS */
	tcp_facts(w->s, a->p, &t);
	assert_false(t.ts || t.sack || t.wscale);
	assert_in_range(t.snd_mss, 500, 1000);
}

/* STK-3: checklist 19 */
static void
test_forged_cookies_refused(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct peer p;
	struct seg s;

	knob(w, TCP_KNOB_SYNCOOKIES, 2);
	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_expect(&p, S | A, 0, 0, 1, &s);
	for (uint32_t i = 0; i < 200; i++) {
		peer_raw(&p, A, 1, 2 + i * 21474836u, 0);
		assert_true(world_get(w, &s));
		assert_int_equal(s.flags, R);
	}
	assert_null(app_accept(w, l));
	assert_true(events(w, TCP_EV_COOKIE_BAD) >= 200);
	p.port = 4001; /* a good cookie of another flow */
	peer_raw(&p, A, 1, 1, 0);
	assert_true(world_get(w, &s));
	assert_int_equal(s.flags, R);
	p.port = 4000;
	peer_raw(&p, A, 1, 1, 0);
	assert_non_null(app_accept(w, l));
}

/* STK-3: checklist 20 */
static void
test_half_open_peer_reboot_detected_via_ack_rst(void **state)
{
	struct world *w = *state;
	struct peer p, n;
	struct app *a = open_plain(w, &p);

	peer_init(w, &n, 4000, 80, 777777);
	peer_syn(&n, S, MSS_1000, LEN(MSS_1000));
	peer_see(&p, A, 1, 0, 1); /* challenge, in the old connection's numbers */
	peer_raw(&p, R, 1, 0, 0); /* who does not know them answers so */
	world_quiet(w);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ECONNRESET);
}

/* STK-3: checklist 64 */
static void
test_reuseport_hash_stable_per_flow(void **state)
{
	struct world *w = *state;
	union ip_addr us = world_us(w);
	struct app *l[4];
	unsigned int n[4] = { 0 }, first[32];

	for (unsigned int i = 0; i < 4; i++) {
		l[i] = app_new(w);
		app_opt(w, l[i], TCP_OPT_REUSEPORT, 1);
		assert_int_equal(tcp_bind(w->s, l[i]->p, w->family, &us, htons(80), NULL), 0);
		assert_int_equal(tcp_listen(w->s, l[i]->p, 64), 0);
	}
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 32; i++) {
			struct app *a = NULL;
			struct peer p;
			unsigned int k;

			peer_init(w, &p, (uint16_t)(4000 + i), 80, 1000);
			peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
			peer_see(&p, S | A, 0, 0, 1);
			peer_ack(&p, 1);
			for (k = 0; k < 4 && (a = app_accept(w, l[k])) == NULL; k++)
				;
			assert_non_null(a);
			if (round == 0)
				first[i] = k;
			assert_int_equal(first[i], k);
			n[k]++;
			app_abort(w, a);
			peer_see(&p, R | A, 1, 0, 1);
		}
	}
	for (unsigned int i = 0; i < 4; i++)
		assert_true(n[i] > 0); /* all have a share */
}

/* STK-3: checklist 64 */
static void
test_bind_wildcard_vs_specific_lookup_order(void **state)
{
	struct world *w = *state;
	struct app *any = app_new(w), *one = app_listen(w, 80, 5);
	union ip_addr us = world_us(w), all = { .q = { 0, 0 } };
	struct peer p;

	app_opt(w, any, TCP_OPT_REUSEADDR, 1);
	app_opt(w, one, TCP_OPT_REUSEADDR, 1);
	assert_int_equal(tcp_bind(w->s, any->p, w->family, &all, htons(80), NULL), -EADDRINUSE);
	app_close(w, any);
	app_close(w, one);
	any = app_new(w);
	one = app_new(w);
	app_opt(w, any, TCP_OPT_REUSEPORT, 1);
	app_opt(w, one, TCP_OPT_REUSEPORT, 1);
	assert_int_equal(tcp_bind(w->s, any->p, w->family, &all, htons(80), NULL), 0);
	assert_int_equal(tcp_listen(w->s, any->p, 5), 0);
	assert_int_equal(tcp_bind(w->s, one->p, w->family, &us, htons(80), NULL), 0);
	assert_int_equal(tcp_listen(w->s, one->p, 5), 0);
	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_see(&p, S | A, 0, 0, 1);
	peer_ack(&p, 1);
	assert_null(app_accept(w, any));
	assert_non_null(app_accept(w, one));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_rst_for_segment_to_closed_port_uses_seq_from_ack_or_zero_with_ack),
		T46(test_no_rst_in_reply_to_rst),
		T46(test_blackhole_answers_nothing),
		T46(test_listen_ack_gets_rst),
		T46(test_listen_rst_ignored),
		T46(test_listen_syn_rst_or_synfin_not_accepted_as_plain_syn),
		T46(test_simultaneous_open_reaches_established_with_one_synack_each),
		T46(test_syn_sent_unacceptable_ack_gets_rst_and_connection_survives),
		T46(test_syn_sent_rst_without_valid_ack_ignored),
		T46(test_connect_retries_then_etimedout),
		T46(test_isn_keyed_hash_of_4tuple_plus_clock),
		T46(test_ephemeral_port_random),
		T46(test_listener_backlog_bounds_what_waits),
		T46(test_accept_gives_the_oldest_first),
		T46(test_cookies_keep_sack_ws_if_ts),
		T46(test_forged_cookies_refused),
		T46(test_half_open_peer_reboot_detected_via_ack_rst),
		T46(test_reuseport_hash_stable_per_flow),
		T46(test_bind_wildcard_vs_specific_lookup_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

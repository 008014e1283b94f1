/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers end to end: retransmission, giving up, keepalive, user timeout, delayed ACK (RFC 6298, RFC 5482, RFC 9293 3.8). */
#include "peer.h"

/* ms until the stack sends its next segment, at most `most`; it is read into *s. */
static uint64_t
until_next(struct world *w, uint64_t most, struct seg *s)
{
	for (uint64_t ms = 0; ms <= most; ms++) {
		if (world_get(w, s))
			return ms;
		world_wait(w, 1);
	}
	fail_msg("nothing within %u ms", (unsigned int)most);
	return 0;
}

/* STK-3: checklist 34 */
static void
test_rto_init_1s_first_sample_R_and_R_over_2(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct seg s;
	struct app *a;

	app_connect(w, 4001);
	assert_true(world_get(w, &s));
	assert_in_range(until_next(w, 1100, &s), 999, 1001);
	fx_tx_clear(w->f);
	a = open_active(w, &p); /* 100 ms round trip */
	tcp_facts(w->s, a->p, &t);
	assert_in_range(t.srtt_us, 99000, 101000);
	assert_in_range(t.rttvar_us, 49000, 51000);
	assert_in_range(t.rto_us, 299000, 501000); /* RFC 6298 says 300; FreeBSD's slop of 200 ms may be on top */
}

/* STK-3: checklist 34 */
static void
test_karn_no_sample_from_retransmit(void **state)
{
	struct world *w = *state;
	struct tcp_facts before, after;
	struct peer p;
	struct seg s;
	struct app *a;

	knob(w, TCP_KNOB_RTO_MIN, 1000);
	a = open_active(w, &p);
	tcp_facts(w->s, a->p, &before);
	assert_int_equal(app_write(w, a, 100), 100);
	peer_see(&p, A | P, 1, 100, 1);
	assert_in_range(until_next(w, 1300, &s), 999, 1201);
	world_wait(w, 900);
	peer_ack(&p, 101);
	tcp_facts(w->s, a->p, &after);
	assert_int_equal(after.srtt_us, before.srtt_us);
	assert_int_equal(after.rttvar_us, before.rttvar_us);
}

/* STK-3: checklist 34 */
static void
test_ts_sample_ok_after_retransmit(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts before, after;
	struct peer p;
	struct seg s;

	knob(w, TCP_KNOB_RTO_MIN, 1000);
	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, "\x02\x04\x03\xe8\x01\x01\x08\x0a\x00\x00\x02\xbc\x00\x00\x00\x00", 16);
	tcp_facts(w->s, a->p, &before);
	assert_int_equal(app_write(w, a, 100), 100);
	peer_see(&p, A | P, 1, 100, 1);
	until_next(w, 1300, &s);
	p.tsecr = s.tsval; /* the answer tells which of the two it is for */
	world_wait(w, 300);
	p.tsval++;
	peer_ack(&p, 101);
	tcp_facts(w->s, a->p, &after);
	assert_true(after.srtt_us > before.srtt_us);
	assert_in_range(after.srtt_us, 110000, 200000);
}

/* STK-3: checklist 35 */
static void
test_rto_doubles_and_caps_ge_60s(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct seg s;
	struct app *a;
	uint64_t want = 1000;

	knob(w, TCP_KNOB_RTO_MIN, 1000);
	a = open_active(w, &p);
	assert_int_equal(app_write(w, a, 100), 100);
	peer_see(&p, A | P, 1, 100, 1);
	for (unsigned int i = 0; i < 6; i++, want *= 2) {
		assert_in_range(until_next(w, want * 5 / 4, &s), want - 2, want * 5 / 4); /* a slop on top */
		assert_int_equal(s.seq - p.irs, 1);
		assert_int_equal(s.len, 100);
	}
	assert_in_range(until_next(w, 130000, &s), 60000, 121000);
	peer_ack(&p, 101);
	assert_true(events(w, TCP_EV_RTO) >= 7);
}

/* STK-3: checklist 35 */
static void
test_rto_restart_on_new_ack(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct seg s;
	struct app *a;

	knob(w, TCP_KNOB_RTO_MIN, 1000);
	a = open_active(w, &p);
	assert_int_equal(app_write(w, a, 2000), 2000);
	peer_see(&p, A, 1, 1000, 1);
	peer_see(&p, A | P, 1001, 1000, 1);
	world_wait(w, 800);
	peer_ack(&p, 1001);
	assert_in_range(until_next(w, 1300, &s), 990, 1300);
	assert_int_equal(s.seq - p.irs, 1001);
}

/* STK-3: checklist 35 */
static void
test_syn_rto_then_data_rto_3s_rule(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;
	struct seg s;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	until_next(w, 1100, &s);
	world_wait(w, 50);
	peer_syn(&p, S | A, MSS_1000, LEN(MSS_1000));
	peer_see(&p, A, 1, 0, 1);
	assert_int_equal(app_write(w, a, 3000), 3000);
	peer_see(&p, A, 1, 1000, 1);
	fx_tx_clear(w->f);
	assert_in_range(until_next(w, 3100, &s), 2990, 3010);
	assert_int_equal(s.seq - p.irs, 1);
}

/* STK-3: checklist 36 */
static void
test_r1_r2_connection_abort_with_etimedout(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_active(w, &p);
	unsigned int minutes = 0;

	assert_int_equal(app_write(w, a, 100), 100);
	for (; minutes < 60 && fsm(a) == TCP_ESTABLISHED; minutes++) {
		world_wait(w, 60000);
		fx_tx_clear(w->f);
	}
	assert_in_range(minutes, 2, 30); /* R2 is at least 100 s */
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_true((a->events & EPOLLERR) != 0);
	assert_int_equal(tcp_take_error(a->p), -ETIMEDOUT);
	assert_int_equal(events(w, TCP_EV_CONN_TIMEOUT), 1);
	world_quiet_for(w, 600000);
}

/* STK-3: checklist 36 */
static void
test_keepalive_off_by_default_idle_ge_2h(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct seg s;
	struct app *a = open_active(w, &p);

	world_quiet_for(w, 24ull * 3600 * 1000);
	app_opt(w, a, TCP_OPT_KEEPALIVE, 1);
	world_wait(w, 100);
	while (world_get(w, &s)) /* it has been idle long enough already */
		peer_ack(&p, 1);
	world_quiet_for(w, 7100 * 1000);
	world_wait(w, 200 * 1000);
	assert_true(world_get(w, &s));
	assert_int_equal(s.seq - p.irs, 0);
	assert_int_equal(s.flags, A);
	assert_true(events(w, TCP_EV_KEEP_PROBE) >= 1);
}

/* STK-3: checklist 36 */
static void
test_keepalive_drops_a_dead_peer(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_active(w, &p);

	app_opt(w, a, TCP_OPT_KEEPIDLE, 10000);
	app_opt(w, a, TCP_OPT_KEEPINTVL, 5000);
	app_opt(w, a, TCP_OPT_KEEPCNT, 3);
	app_opt(w, a, TCP_OPT_KEEPALIVE, 1);
	world_wait(w, 10050);
	peer_see(&p, A, 0, 0, 1);
	peer_ack(&p, 1);
	world_quiet_for(w, 9900);
	world_wait(w, 150);
	peer_see(&p, A, 0, 0, 1);
	for (unsigned int i = 0; i < 2; i++) {
		world_wait(w, 5000);
		peer_see(&p, A, 0, 0, 1);
	}
	world_wait(w, 5100);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ETIMEDOUT);
	assert_int_equal(events(w, TCP_EV_KEEP_DROP), 1);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 36 */
static void
test_user_timeout_honoured(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_active(w, &p);

	app_opt(w, a, TCP_OPT_USER_TIMEOUT, 5000);
	world_quiet_for(w, 60000); /* idle: it does not run */
	assert_int_equal(app_write(w, a, 100), 100);
	world_wait(w, 4000);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	world_wait(w, 6000);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ETIMEDOUT);
	assert_int_equal(events(w, TCP_EV_CONN_USER_TIMEOUT), 1);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 37 */
static void
test_delayed_ack_lt_500ms_and_every_second_full_segment(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct seg s;
	struct app *a = open_plain(w, &p);

	peer_data(&p, w->mss);
	world_quiet(w);
	assert_in_range(until_next(w, 499, &s), 35, 45);
	assert_int_equal(s.ack - p.iss, p.nxt);
	for (unsigned int i = 0; i < 20; i++) {
		peer_data(&p, w->mss);
		peer_data(&p, w->mss);
		peer_see(&p, A, 1, 0, p.nxt);
	}
	knob(w, TCP_KNOB_DELACK, 0);
	peer_data(&p, 10);
	peer_see(&p, A, 1, 0, p.nxt);
	assert_int_equal(app_drain(w, a), 41u * w->mss + 10);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 34: the minimum is kept */
static void
test_rto_min_bounds(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a = open_plain(w, &p);

	for (uint32_t i = 0; i < 50; i++) { /* answers at once: the estimate falls to almost nothing */
		assert_int_equal(app_write(w, a, 10), 10);
		peer_see(&p, A | P, 1 + i * 10, 10, 1);
		peer_ack(&p, 11 + i * 10);
	}
	tcp_facts(w->s, a->p, &t);
	assert_true(t.srtt_us < 10000);
	assert_true(t.rto_us >= 30000);
	knob(w, TCP_KNOB_RTO_MIN, 2000);
	assert_int_equal(app_write(w, a, 10), 10);
	fx_tx_clear(w->f);
	peer_ack(&p, 511);
	tcp_facts(w->s, a->p, &t);
	assert_true(t.rto_us >= 2000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_rto_init_1s_first_sample_R_and_R_over_2),
		T46(test_karn_no_sample_from_retransmit),
		T46(test_ts_sample_ok_after_retransmit),
		T46(test_rto_doubles_and_caps_ge_60s),
		T46(test_rto_restart_on_new_ack),
		T46(test_syn_rto_then_data_rto_3s_rule),
		T46(test_r1_r2_connection_abort_with_etimedout),
		T46(test_keepalive_off_by_default_idle_ge_2h),
		T46(test_keepalive_drops_a_dead_peer),
		T46(test_user_timeout_honoured),
		T46(test_delayed_ack_lt_500ms_and_every_second_full_segment),
		T46(test_rto_min_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

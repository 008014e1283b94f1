/* SPDX-License-Identifier: BSD-3-Clause */
/* Blind attackers and honest resets (RFC 5961, RFC 9293 3.10.7.4): what may end a connection and what may not. */
#include "peer.h"

/* Still there, and data flows both ways. */
static void
assert_alive(struct world *w, struct peer *p, struct app *a)
{
	struct tcp_facts t;

	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	tcp_facts(w->s, a->p, &t);
	peer_data(p, 100);
	assert_int_equal(app_drain(w, a), 100);
	world_wait(w, 100);
	fx_tx_clear(w->f);
	assert_int_equal(app_write(w, a, 10), 10);
	peer_see(p, A | P, t.snd_nxt - t.iss, 10, p->nxt);
	peer_ack(p, t.snd_nxt - t.iss + 10);
}

/* STK-3: checklist 14 */
static void
test_rst_exact_rcv_nxt_resets(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint8_t b[8];

	peer_data(&p, 100);
	peer_raw(&p, R, 101, 0, 0);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_true((a->events & (EPOLLERR | EPOLLHUP)) != 0);
	assert_int_equal(events(w, TCP_EV_CONN_RESET_IN), 1);
	assert_true((tcp_ready(a->p) & EPOLLERR) != 0);
	while (app_read(w, a, b, sizeof(b)) > 0)
		;
	assert_int_equal(app_write(w, a, 1), -EPIPE);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 14 */
static void
test_rst_in_window_challenge_ack(void **state)
{
	static const uint32_t at[] = { 2, 3, 1000, 30000, 65535 };
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	for (unsigned int i = 0; i < 5; i++) {
		peer_raw(&p, (i & 1) != 0 ? R : R | A, at[i], 1, 0);
		peer_see(&p, A, 1, 0, 1);
		world_wait(w, 2000); /* clear of the rate limit */
	}
	assert_int_equal(events(w, TCP_EV_CHALLENGE_ACK), 5);
	assert_alive(w, &p, a);
}

/* STK-3: checklist 14 */
static void
test_rst_out_of_window_dropped(void **state)
{
	static const uint32_t at[] = { 0, 0xffffffffu, 0x80000000u, 65537 + 1, 200000, 0x7fffffffu };
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	for (unsigned int i = 0; i < 6; i++)
		peer_raw(&p, R, at[i], 0, 0);
	world_quiet_for(w, 1000);
	assert_alive(w, &p, a);
}

/* STK-3, STK-8: a blind attacker who does not know the numbers, 4096 guesses */
static void
test_blind_rst(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	unsigned int answers;

	for (uint32_t i = 1; i < 4096; i++) {
		peer_raw(&p, R, 1 + i * 1048573u, 0, 0);
		if (i % 128 == 0)
			world_wait(w, 10);
	}
	answers = fx_tx_count(w->f);
	assert_in_range(answers, 0, 200);
	fx_tx_clear(w->f);
	world_wait(w, 2000);
	fx_tx_clear(w->f);
	assert_alive(w, &p, a);
}

/* STK-3: checklist 15 */
static void
test_syn_in_established_challenge_ack_not_reset(void **state)
{
	static const uint32_t at[] = { 0, 1, 2, 70000, 0x80000000u };
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	for (unsigned int i = 0; i < 5; i++) {
		peer_raw(&p, (i & 1) != 0 ? S : S | A, at[i], 1, 0);
		peer_see(&p, A, 1, 0, 1);
		world_wait(w, 2000);
	}
	assert_alive(w, &p, a);
}

/* STK-3, STK-8 */
static void
test_blind_syn(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	for (uint32_t i = 1; i < 2000; i++) {
		peer_raw(&p, S, i * 2147481u, 0, i % 100);
		if (i % 100 == 0)
			world_wait(w, 10);
		while (world_get(w, &s)) {
			assert_int_equal(s.flags, A); /* never a SYN-ACK, never a reset */
			assert_int_equal(s.seq - p.irs, 1);
			assert_int_equal(s.ack - p.iss, 1);
		}
	}
	assert_null(app_accept(w, l));
	world_wait(w, 2000);
	fx_tx_clear(w->f);
	assert_alive(w, &p, a);
}

/* STK-3: checklist 16 */
static void
test_ack_below_una_minus_maxwnd_or_above_nxt_is_challenged_and_data_discarded(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a;

	a = open_plain(w, &p);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(app_write(w, a, 10000), 10000);
		fx_tx_clear(w->f);
		peer_ack(&p, 10001 + i * 10000);
	}
	fx_tx_clear(w->f);
	/* SND.UNA is 100001, the largest window was 65535 */
	peer_raw(&p, A | P, 1, 100002, 50);
	peer_see(&p, A, 100001, 0, 1);
	world_wait(w, 2000);
	peer_raw(&p, A | P, 1, 100001 + 0x7fffffffu, 50);
	peer_see(&p, A, 100001, 0, 1);
	world_wait(w, 2000);
	peer_raw(&p, A | P, 1, 100001 - 65536, 50);
	peer_see(&p, A, 100001, 0, 1);
	world_wait(w, 2000);
	peer_raw(&p, A | P, 1, 1, 50);
	peer_see(&p, A, 100001, 0, 1);
	assert_int_equal(tcp_readable(a->p), 0);
	peer_raw(&p, A | P, 1, 100001 - 65535, 50); /* old, but it may be true */
	assert_int_equal(tcp_readable(a->p), 50);
	fx_tx_clear(w->f);
}

/* STK-3, STK-8 */
static void
test_blind_ack(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct seg s;

	for (uint32_t i = 1; i < 2000; i++) {
		peer_raw(&p, A | P, 1, 1 + i * 2147481u, 20);
		if (i % 100 == 0)
			world_wait(w, 10);
		while (world_get(w, &s))
			assert_int_equal(s.flags, A);
	}
	assert_int_equal(tcp_readable(a->p), 0); /* none of the forged data was taken */
	world_wait(w, 2000);
	fx_tx_clear(w->f);
	assert_alive(w, &p, a);
}

/* STK-3, STK-8: an ACK of what was written but never sent */
static void
test_ack_of_unsent_data(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	p.win = 1000;
	peer_ack(&p, 1);
	assert_int_equal(app_write(w, a, 5000), 5000);
	peer_see(&p, A, 1, 1000, 1);
	peer_raw(&p, A, 1, 3001, 0); /* optimistic */
	peer_see(&p, A, 1001, 0, 1);
	assert_int_equal(tcp_unacked(a->p), 5000);
	assert_int_equal(tcp_unsent(a->p), 4000);
	peer_raw(&p, A, 1, 1001, 0);
	peer_see(&p, A, 1001, 1000, 1);
	assert_int_equal(tcp_unacked(a->p), 4000);
}

/* STK-3: checklist 17 */
static void
test_challenge_ack_rate_limit_is_per_connection_and_randomised(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a, *b;
	struct peer p, q;
	unsigned int n;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	peer_init(w, &q, 4001, 80, 2000);
	b = peer_open(&q, l, MSS_1000, LEN(MSS_1000));
	for (unsigned int i = 0; i < 300; i++)
		peer_raw(&p, R, 1000, 0, 0);
	n = fx_tx_count(w->f);
	assert_in_range(n, 1, 150);
	assert_true(events(w, TCP_EV_CHALLENGE_LIMIT) >= 150);
	fx_tx_clear(w->f);
	peer_raw(&q, R, 1000, 0, 0); /* the other connection has its own allowance */
	peer_see(&q, A, 1, 0, 1);
	world_wait(w, 2000);
	fx_tx_clear(w->f);
	assert_alive(w, &p, a);
	assert_alive(w, &q, b);
}

/* STK-3: RFC 9293 3.10.7.4 */
static void
test_reset_ends_every_state(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	peer_raw(&p, R, 1, 0, 0); /* FIN-WAIT-1 */
	assert_int_equal(fsm(a), TCP_CLOSED);
	a = open_plain(w, &p);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	peer_ack(&p, 2);
	peer_raw(&p, R, 1, 0, 0); /* FIN-WAIT-2 */
	assert_int_equal(fsm(a), TCP_CLOSED);
	a = open_plain(w, &p);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	peer_raw(&p, F | A, 1, 1, 0);
	peer_see(&p, A, 2, 0, 2);
	peer_raw(&p, R, 2, 0, 0); /* CLOSING */
	assert_int_equal(fsm(a), TCP_CLOSED);
	a = open_plain(w, &p);
	peer_raw(&p, F | A, 1, 1, 0);
	peer_see(&p, A, 1, 0, 2);
	peer_raw(&p, R, 2, 0, 0); /* CLOSE-WAIT */
	assert_int_equal(fsm(a), TCP_CLOSED);
	a = open_plain(w, &p);
	peer_raw(&p, F | A, 1, 1, 0);
	peer_see(&p, A, 1, 0, 2);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 2);
	peer_raw(&p, R, 2, 0, 0); /* LAST-ACK */
	assert_int_equal(fsm(a), TCP_CLOSED);
	world_quiet_for(w, 10000);
}

/* STK-3: toy-stack failure: a reset for one connection harms no other */
static void
test_reset_of_one_connection_leaves_others(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 8), *a[6];
	struct peer p[6];

	for (unsigned int i = 0; i < 6; i++) {
		peer_init(w, &p[i], (uint16_t)(4000 + i), 80, 1000 * i);
		a[i] = peer_open(&p[i], l, MSS_1000, LEN(MSS_1000));
	}
	peer_raw(&p[2], R, 1, 0, 0);
	peer_raw(&p[4], R, 1, 0, 0);
	for (unsigned int i = 0; i < 6; i++) {
		if (i == 2 || i == 4)
			assert_int_equal(fsm(a[i]), TCP_CLOSED);
		else
			assert_alive(w, &p[i], a[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_rst_exact_rcv_nxt_resets),
		T46(test_rst_in_window_challenge_ack),
		T46(test_rst_out_of_window_dropped),
		T46(test_blind_rst),
		T46(test_syn_in_established_challenge_ack_not_reset),
		T46(test_blind_syn),
		T46(test_ack_below_una_minus_maxwnd_or_above_nxt_is_challenged_and_data_discarded),
		T46(test_blind_ack),
		T46(test_ack_of_unsent_data),
		T46(test_challenge_ack_rate_limit_is_per_connection_and_randomised),
		T46(test_reset_ends_every_state),
		T46(test_reset_of_one_connection_leaves_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections end: FIN in every order, TIME-WAIT, orphans, aborts (RFC 9293 3.6, RFC 6191, RFC 1337). */
#include "peer.h"

/* Is there a connection in TIME-WAIT or half-open, or one without owner? */
static void
count_entry(void *ctx, const struct tcp_entry *e)
{
	if (e->fsm != TCP_LISTEN)
		++*(unsigned int *)ctx;
}

static unsigned int
connections(struct world *w)
{
	unsigned int n = 0;

	tcp_each(w->s, count_entry, &n);
	return n;
}

/* An accepted connection whose listener stays. */
static struct app *
open_keeping_listener(struct world *w, struct peer *p, const void *opts, uint8_t nopts, struct app **l)
{
	*l = app_listen(w, 80, 5);
	peer_init(w, p, 4000, 80, 1000);
	return peer_open(p, *l, opts, nopts);
}

/* To TIME-WAIT by an active close; the next number of the peer is 2. */
static void
to_time_wait(struct world *w, struct peer *p, struct app *a)
{
	app_close(w, a);
	peer_see(p, F | A, 1, 0, 1);
	peer_ack(p, 2);
	peer_raw(p, F | A, 1, 2, 0);
	p->nxt = 2;
	peer_see(p, A, 2, 0, 2);
}

/* STK-3: checklist 7 */
static void
test_states_of_active_and_passive_close(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	assert_int_equal(fsm(a), TCP_FIN_WAIT_1);
	peer_ack(&p, 2);
	assert_int_equal(fsm(a), TCP_FIN_WAIT_2);
	peer_raw(&p, F | A, 1, 2, 0);
	peer_see(&p, A, 2, 0, 2);
	assert_true(fsm(a) == TCP_TIME_WAIT || fsm(a) == TCP_CLOSED);
	assert_int_equal(connections(w), 1);
	app_close(w, a);
	world_wait(w, 61000);
	assert_int_equal(connections(w), 0);

	a = open_plain(w, &p);
	peer_raw(&p, F | A, 1, 1, 0);
	peer_see(&p, A, 1, 0, 2);
	assert_int_equal(fsm(a), TCP_CLOSE_WAIT);
	assert_true((tcp_ready(a->p) & (EPOLLIN | EPOLLRDHUP)) == (EPOLLIN | EPOLLRDHUP));
	assert_true(tcp_at_eof(a->p));
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 2);
	assert_int_equal(fsm(a), TCP_LAST_ACK);
	peer_raw(&p, A, 2, 2, 0);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_error_peek(a->p), 0);
	world_quiet(w);
}

/* STK-3: checklist 8 */
static void
test_simultaneous_close_goes_closing_then_time_wait(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	peer_raw(&p, F | A, 1, 1, 0);
	peer_see(&p, A, 2, 0, 2);
	assert_int_equal(fsm(a), TCP_CLOSING);
	peer_raw(&p, A, 2, 2, 0);
	assert_true(fsm(a) == TCP_TIME_WAIT || fsm(a) == TCP_CLOSED);
	app_close(w, a);
	assert_int_equal(connections(w), 1);
	world_quiet_for(w, 61000);
	assert_int_equal(connections(w), 0);
}

/* STK-3: checklist 9 */
static void
test_fin_out_of_order_held_until_gap_filled(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	peer_raw(&p, F | A, 201, 1, 0);
	peer_see(&p, A, 1, 0, 1);
	assert_false(tcp_at_eof(a->p));
	peer_raw(&p, A | P, 101, 1, 100);
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, A | P, 1, 1, 100);
	peer_see(&p, A, 1, 0, 202);
	assert_int_equal(fsm(a), TCP_CLOSE_WAIT);
	assert_int_equal(app_drain(w, a), 200);
	assert_true(tcp_at_eof(a->p));
}

/* STK-3: checklist 9 */
static void
test_fin_with_data_counts_one(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	peer_raw(&p, F | A | P, 1, 1, 300);
	peer_see(&p, A, 1, 0, 302);
	peer_raw(&p, F | A | P, 1, 1, 300); /* again: nothing more */
	peer_see(&p, A, 1, 0, 302);
	peer_raw(&p, A | P, 302, 1, 50); /* behind its own FIN: not taken */
	assert_int_equal(app_drain(w, a), 300);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 10 */
static void
test_half_close_receiver_may_still_send(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	peer_raw(&p, F | A, 1, 1, 0);
	p.nxt = 2;
	peer_see(&p, A, 1, 0, 2);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(app_write(w, a, 1000), 1000);
		peer_see(&p, A | P, 1 + i * 1000, 1000, 2);
		peer_ack(&p, 1001 + i * 1000);
	}
	app_close(w, a);
	peer_see(&p, F | A, 5001, 0, 2);
	peer_ack(&p, 5002);
	world_quiet(w);
	assert_int_equal(connections(w), 0);
}

/* STK-3: checklist 10 */
static void
test_shutdown_wr_then_read_eof(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint8_t b[8];

	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	assert_int_equal(app_write(w, a, 10), -EPIPE);
	peer_ack(&p, 2);
	peer_data(&p, 500);
	assert_int_equal(app_drain(w, a), 500);
	peer_raw(&p, F | A, p.nxt, 2, 0);
	assert_int_equal(app_read(w, a, b, sizeof(b)), 0);
	assert_int_equal(app_read(w, a, b, sizeof(b)), 0);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 11 */
static void
test_time_wait_lasts_2msl_and_reacks_retransmitted_fin(void **state)
{
	struct world *w = *state;
	struct peer p;

	to_time_wait(w, &p, open_plain(w, &p));
	world_quiet_for(w, 59000);
	peer_raw(&p, F | A, 1, 2, 0);
	peer_see(&p, A, 2, 0, 2);
	world_quiet_for(w, 59000); /* the FIN restarted it */
	assert_int_equal(connections(w), 1);
	world_wait(w, 2000);
	assert_int_equal(connections(w), 0);
	peer_raw(&p, F | A, 1, 2, 0);
	peer_see(&p, R, 2, 0, 0);
}

/* STK-3: the knob sets it */
static void
test_time_wait_length_follows_msl(void **state)
{
	struct world *w = *state;
	struct peer p;

	knob(w, TCP_KNOB_MSL, 1000);
	to_time_wait(w, &p, open_plain(w, &p));
	world_wait(w, 1900);
	assert_int_equal(connections(w), 1);
	world_wait(w, 200);
	assert_int_equal(connections(w), 0);
}

/* STK-3: checklist 12 */
static void
test_time_wait_new_syn_accepted_only_if_seq_newer(void **state)
{
	struct world *w = *state;
	struct app *a, *l;
	struct peer p, n;

	to_time_wait(w, &p, open_keeping_listener(w, &p, MSS_1000, LEN(MSS_1000), &l));
	peer_init(w, &n, 4000, 80, 900); /* older than what was received */
	peer_syn(&n, S, MSS_1000, LEN(MSS_1000));
	peer_see(&p, A, 2, 0, 2);
	peer_init(w, &n, 4000, 80, 1000 + 100000);
	a = peer_open(&n, l, MSS_1000, LEN(MSS_1000));
	assert_true((int32_t)(n.irs - p.irs - 2) > 0); /* our number is beyond the old connection's */
	assert_int_equal(events(w, TCP_EV_TIMEWAIT_REUSED), 1);
	peer_data(&n, 10);
	assert_int_equal(app_drain(w, a), 10);
	fx_tx_clear(w->f);
}

static void
syn_with_ts(struct peer *p, uint32_t tsval)
{
	uint8_t o[20];

	memcpy(o, OPTS_ALL, 20);
	put_be32(o + 8, tsval);
	peer_syn(p, S, o, 20);
}

/* STK-3: checklist 12 */
static void
test_time_wait_new_syn_accepted_if_ts_newer(void **state)
{
	struct world *w = *state;
	struct app *l;
	struct peer p, n;

	to_time_wait(w, &p, open_keeping_listener(w, &p, OPTS_ALL, LEN(OPTS_ALL), &l));
	peer_init(w, &n, 4000, 80, 500); /* an older number, but... */
	syn_with_ts(&n, 100);            /* an older time: an old duplicate */
	peer_see(&p, A, 2, 0, 2);
	syn_with_ts(&n, 100000);         /* a newer one: a new connection (RFC 6191) */
	peer_see(&n, S | A, 0, 0, 1);
	n.ts = true;
	n.tsval = 100001;
	peer_ack(&n, 1);
	assert_non_null(app_accept(w, l));
}

/* STK-3: checklist 12 */
static void
test_time_wait_rst_ignored(void **state)
{
	struct world *w = *state;
	struct peer p;

	to_time_wait(w, &p, open_plain(w, &p));
	peer_raw(&p, R, 2, 0, 0);
	peer_raw(&p, R | A, 2, 2, 0);
	world_quiet(w);
	assert_int_equal(connections(w), 1);
	peer_raw(&p, F | A, 1, 2, 0);
	peer_see(&p, A, 2, 0, 2);
}

/* STK-3 */
static void
test_time_waits_are_bounded_in_number(void **state)
{
	struct world *w = *state;
	struct peer p;

	knob(w, TCP_KNOB_MAX_TIMEWAIT, 4);
	for (unsigned int i = 0; i < 10; i++) {
		struct app *l = app_listen(w, (uint16_t)(80 + i), 1);

		peer_init(w, &p, 4000, (uint16_t)(80 + i), 1000);
		to_time_wait(w, &p, peer_open(&p, l, MSS_1000, LEN(MSS_1000)));
		app_close(w, l);
	}
	assert_in_range(connections(w), 1, 4);
	assert_true(events(w, TCP_EV_TIMEWAIT_EARLY) >= 6);
}

/* STK-3: a bind is not hindered */
static void
test_port_in_time_wait_can_be_bound(void **state)
{
	struct world *w = *state;
	union ip_addr all = { .q = { 0, 0 } };
	struct peer p, n;
	struct app *l;

	to_time_wait(w, &p, open_plain(w, &p));
	l = app_new(w);
	app_opt(w, l, TCP_OPT_REUSEADDR, 1);
	assert_int_equal(tcp_bind(w->s, l->p, w->family, &all, htons(80), NULL), 0);
	assert_int_equal(tcp_listen(w->s, l->p, 1), 0);
	peer_init(w, &n, 4001, 80, 1000);
	assert_non_null(peer_open(&n, l, MSS_1000, LEN(MSS_1000)));
}

/* STK-3: checklist 13 */
static void
test_fin_wait_2_orphan_times_out(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	app_close(w, a);
	peer_see(&p, F | A, 1, 0, 1);
	peer_ack(&p, 2);
	world_quiet_for(w, 55000);
	assert_int_equal(connections(w), 1);
	world_wait(w, 70000);
	fx_tx_clear(w->f);
	assert_int_equal(connections(w), 0);
}

/* STK-3: an orphan whose FIN nobody acknowledges does not live for ever */
static void
test_orphan_in_fin_wait_1_gives_up(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_int_equal(app_write(w, a, 3000), 3000);
	app_close(w, a);
	for (unsigned int i = 0; i < 40 && connections(w) > 0; i++) {
		world_wait(w, 60000);
		fx_tx_clear(w->f);
	}
	assert_int_equal(connections(w), 0);
}

/* STK-3: checklist 13 */
static void
test_close_with_unread_data_sends_rst(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	peer_data(&p, 100);
	world_wait(w, 100);
	fx_tx_clear(w->f);
	app_close(w, a);
	peer_see(&p, R | A, 1, 0, 101);
	world_quiet_for(w, 1000);
	assert_int_equal(connections(w), 0);
}

/* STK-3: checklist 13 */
static void
test_abort_sends_rst_in_every_synchronised_state(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	app_abort(w, a);
	peer_see(&p, R | A, 1, 0, 1);
	a = open_plain(w, &p);
	peer_raw(&p, F | A, 1, 1, 0);
	peer_see(&p, A, 1, 0, 2);
	app_abort(w, a);
	peer_see(&p, R | A, 1, 0, 2);
	a = open_plain(w, &p);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	peer_see(&p, F | A, 1, 0, 1);
	app_abort(w, a);
	peer_see(&p, R | A, 2, 0, 1);
	world_quiet_for(w, 100);
	assert_int_equal(connections(w), 0);
}

/* STK-3 */
static void
test_closing_a_listener_resets_what_waits(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct peer p[3];
	struct seg s;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 3; i++) {
		peer_init(w, &p[i], (uint16_t)(4000 + i), 80, 1000);
		peer_syn(&p[i], S, MSS_1000, LEN(MSS_1000));
		peer_see(&p[i], S | A, 0, 0, 1);
		peer_ack(&p[i], 1);
		peer_data(&p[i], 100);
	}
	world_wait(w, 100);
	fx_tx_clear(w->f);
	app_close(w, l);
	while (world_get(w, &s)) {
		assert_true((s.flags & R) != 0);
		n++;
	}
	assert_int_equal(n, 3);
	assert_int_equal(connections(w), 0);
}

/* STK-3: toy-stack failure: the lost final ACK */
static void
test_last_ack_lost_fin_is_repeated_and_ends(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	peer_raw(&p, F | A, 1, 1, 0);
	p.nxt = 2;
	peer_see(&p, A, 1, 0, 2);
	app_close(w, a);
	peer_see(&p, F | A, 1, 0, 2);
	world_wait(w, 3000);
	peer_see(&p, F | A, 1, 0, 2);
	fx_tx_clear(w->f);
	peer_ack(&p, 2);
	assert_int_equal(connections(w), 0);
	world_quiet_for(w, 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_states_of_active_and_passive_close),
		T46(test_simultaneous_close_goes_closing_then_time_wait),
		T46(test_fin_out_of_order_held_until_gap_filled),
		T46(test_fin_with_data_counts_one),
		T46(test_half_close_receiver_may_still_send),
		T46(test_shutdown_wr_then_read_eof),
		T46(test_time_wait_lasts_2msl_and_reacks_retransmitted_fin),
		T46(test_time_wait_length_follows_msl),
		T46(test_time_wait_new_syn_accepted_only_if_seq_newer),
		T46(test_time_wait_new_syn_accepted_if_ts_newer),
		T46(test_time_wait_rst_ignored),
		T46(test_time_waits_are_bounded_in_number),
		T46(test_port_in_time_wait_can_be_bound),
		T46(test_fin_wait_2_orphan_times_out),
		T46(test_orphan_in_fin_wait_1_gives_up),
		T46(test_close_with_unread_data_sends_rst),
		T46(test_abort_sends_rst_in_every_synchronised_state),
		T46(test_closing_a_listener_resets_what_waits),
		T46(test_last_ack_lost_fin_is_repeated_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

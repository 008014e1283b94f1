/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways through TCP that a well-behaved peer never takes, and options that few programs set. */
#include <sys/socket.h>

#include "core/stack/tcp/tcp_priv.h"
#include "peer.h"

/* STK-3: what is partly old and partly beyond the window is cut to what is neither */
static void
overlapping_segments_are_cut(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_sack(w, &p);
	uint32_t edge;

	peer_raw(&p, A, 1, 1, 1000);
	fx_tx_clear(w->f);
	peer_raw(&p, A, 501, 1, 1000); /* half of it again */
	world_wait(w, 50);
	fx_tx_clear(w->f);
	assert_int_equal(app_drain(w, a), 1500);
	edge = a->p->rcv_adv - p.iss;
	peer_raw(&p, A, edge - 300, 1, 1000); /* the end is beyond the window */
	fx_tx_clear(w->f);
	assert_int_equal(a->p->ooo_bytes, 300);
	edge = a->p->rcv_adv - p.iss;
	peer_raw(&p, A | F, edge - 200, 1, 1000); /* and with it the FIN */
	fx_tx_clear(w->f);
	assert_true(a->p->ooo_bytes <= 500);
	assert_false(tcp_at_eof(a->p));
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
}

/* STK-3: checklist 4; the peer's SYN-ACK and its SYN again */
static void
simultaneous_open_by_syn_ack_and_by_syn_again(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct peer p;
	struct seg s;

	assert_true(world_get(w, &s));
	peer_init(w, &p, 4000, s.sport, 1000);
	p.irs = s.seq;
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	assert_true(world_get(w, &s));
	assert_int_equal(s.flags, S | A);
	assert_int_equal(fsm(a), TCP_SYN_RCVD);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	assert_true(world_get(w, &s));
	assert_int_equal(s.flags, S | A);
	peer_raw(&p, S | A, 0, 1, 0);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	fx_tx_clear(w->f);
	assert_int_equal(app_write(w, a, 100), 100);
	peer_see(&p, A, 1, 100, 1);
}

/* STK-3: a half-open connection against what does not belong to it (RFC 5961) */
static void
half_open_answers_strangers(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 1);
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	assert_true(world_get(w, &s));
	p.irs = s.seq;
	peer_raw(&p, S, 500, 0, 0); /* another SYN of the same flow */
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, R, 100, 0, 0); /* in the window, not exact */
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, A, 1, 77, 0); /* acknowledges what was not sent */
	peer_see(&p, R, 77, 0, 0);
	peer_raw(&p, A, 0x40000000, 1, 0);
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, P, 1, 0, 5); /* no ACK */
	world_quiet(w);
	assert_null(app_accept(w, l));
	peer_raw(&p, R, 1, 0, 0);
	assert_int_equal(w->s->tcp->nb_half, 0);
	peer_raw(&p, A, 1, 1, 0); /* it is gone */
	peer_see(&p, R, 1, 0, 0);
}

/* STK-3: without cookies the oldest of a full bucket makes room; the cache as a whole is bounded */
static void
full_cache_without_cookies(void **state)
{
	struct world *w = *state;
	struct peer p;

	app_listen(w, 80, 1);
	knob(w, TCP_KNOB_SYNCOOKIES, 0);
	knob(w, TCP_KNOB_SYNCACHE, 300);
	for (unsigned int i = 0; i < 1000; i++) {
		peer_init(w, &p, (uint16_t)(2000 + i), 80, 1000);
		peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
		fx_tx_clear(w->f);
	}
	assert_true(w->s->tcp->nb_half <= 300);
	assert_true(events(w, TCP_EV_SYNCACHE_FULL) >= 600);
	assert_int_equal(events(w, TCP_EV_COOKIE_SENT), 0);
	for (unsigned int i = 0; i < 40; i++) {
		world_wait(w, 1000);
		fx_tx_clear(w->f);
	}
	assert_int_equal(w->s->tcp->nb_half, 0);
	fx_tx_clear(w->f);
}

/* STK-3: the last ACK finds the queue full: the connection stays half open and opens when there is room */
static void
last_ack_with_a_full_queue_waits(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 1), *a;
	struct peer p[3];
	struct seg s;

	for (unsigned int i = 0; i < 3; i++) {
		peer_init(w, &p[i], (uint16_t)(4000 + i), 80, 1000);
		peer_syn(&p[i], S, MSS_1000, LEN(MSS_1000));
		assert_true(world_get(w, &s));
		p[i].irs = s.seq;
	}
	for (unsigned int i = 0; i < 3; i++)
		peer_raw(&p[i], A, 1, 1, 0);
	assert_int_equal(tcp_readable(l->p), 2);
	assert_true(events(w, TCP_EV_LISTEN_OVERFLOW) >= 1);
	a = app_accept(w, l);
	assert_non_null(a);
	world_wait(w, 1500);
	assert_true(world_get(w, &s)); /* SYN-ACK again */
	assert_int_equal(s.flags, S | A);
	peer_raw(&p[2], A, 1, 1, 0);
	assert_int_equal(tcp_readable(l->p), 2);
}

/* STK-3: RFC 3168 */
static void
congestion_experienced_is_echoed_until_cwr(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 1), *a;
	struct peer p;
	struct ip_rx rx = { .nif = w->f->nif };
	struct tcp_seg g = { .rx = &rx, .flags = TCP_ACK };

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	a->p->ecn = true; /* as if agreed: marks are made below by hand */
	rx.tos = 3;
	g.seq = a->p->rcv_nxt;
	g.ack = a->p->snd_una;
	g.wnd = 1000;
	tcp_conn_input(w->s, a->p, &g, fx_buf(w->f, "", 0, 0));
	peer_see(&p, A | E, 1, 0, 1);
	rx.tos = 0;
	g.flags = TCP_ACK | TCP_CWR;
	tcp_conn_input(w->s, a->p, &g, fx_buf(w->f, "", 0, 0));
	peer_data(&p, 1000);
	peer_data(&p, 1000);
	peer_see(&p, A, 1, 0, 2001);
	assert_int_equal(events(w, TCP_EV_ECN_CE), 1);
}

/* STK-3: RFC 2525 2.17 */
static void
data_for_an_orphan_is_reset(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	app_close(w, a);
	peer_see(&p, F | A, 1, 0, 1);
	peer_raw(&p, A, 1, 2, 0);
	peer_raw(&p, A | P, 1, 2, 10);
	peer_see(&p, R | A, 2, 0, 11);
	assert_int_equal(w->s->tcp->conns.count, 0);
}

/* STK-3: the FIN itself asks whether a closed window is open */
static void
window_is_probed_by_a_fin(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	p.win = 0;
	peer_ack(&p, 1);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
	world_quiet(w);
	world_wait(w, 5000);
	peer_see(&p, F | A, 1, 0, 1);
	fx_tx_clear(w->f);
	peer_ack(&p, 2);
	assert_int_equal(fsm(a), TCP_FIN_WAIT_2);
	world_quiet_for(w, 5000);
}

/* STK-3: an orphan against a window that stays closed */
static void
orphan_against_a_closed_window_ends(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	p.win = 0;
	peer_ack(&p, 1);
	assert_int_equal(app_write(w, a, 1000), 1000);
	app_close(w, a);
	for (unsigned int i = 0; i < 60 && w->s->tcp->conns.count != 0; i++) {
		world_wait(w, 60000);
		fx_tx_clear(w->f);
		peer_ack(&p, 1);
		fx_tx_clear(w->f);
	}
	assert_int_equal(w->s->tcp->conns.count, 0);
}

/* STK-3, ZC-1: buffers that somebody else holds too are sent and given back */
static void
shared_chains_are_sent_without_being_changed(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint8_t b[900];
	struct rte_mbuf *m;
	struct seg s;

	memset(b, 7, sizeof(b));
	m = fx_buf(w->f, b, sizeof(b), 300);
	shim_buf_ref(w->f->shim, m, 1);
	mock_fail_buf_at(w->f->shim, 1);
	assert_int_equal(tcp_write_chain(w->s, a->p, m, 0), -ENOBUFS);
	assert_int_equal(tcp_write_chain(w->s, a->p, m, 0), sizeof(b));
	peer_expect(&p, A, 1, sizeof(b), 1, &s);
	assert_memory_equal(s.data, b, sizeof(b));
	assert_int_equal(shim_buf_len(m), sizeof(b));
	assert_int_equal(m->nb_segs, 3);
	peer_ack(&p, 901);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	shim_buf_free(w->f->shim, m);
}

/* STK-3 */
static void
cork_quickack_and_lowat(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	app_opt(w, a, TCP_OPT_CORK, 1);
	assert_int_equal(app_write(w, a, 100), 100);
	world_quiet(w);
	world_wait(w, 250); /* not for ever */
	peer_see(&p, A, 1, 100, 1);
	peer_ack(&p, 101);
	assert_int_equal(app_write(w, a, 100), 100);
	world_quiet(w);
	app_opt(w, a, TCP_OPT_CORK, 0);
	peer_see(&p, A, 101, 100, 1);
	peer_ack(&p, 201);
	peer_data(&p, 10);
	world_quiet(w);
	app_opt(w, a, TCP_OPT_QUICKACK, 1);
	peer_see(&p, A, 201, 0, 11);
	p.win = 0;
	peer_ack(&p, 201);
	app_opt(w, a, TCP_OPT_NOTSENT_LOWAT, 500);
	assert_int_equal(app_write(w, a, 600), 600);
	assert_int_equal(tcp_writable(a->p), 0);
	assert_int_equal(app_write(w, a, 600), -EAGAIN);
	app_opt(w, a, TCP_OPT_MAXSEG, 400);
	assert_int_equal(tcp_opt_get(a->p, TCP_OPT_MAXSEG), 400);
}

/* STK-5: once what was written has been sent, whatever sent it, the next acknowledgement tells the writer */
static void
unsent_low_water_wakes_the_writer(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	p.win = 0;
	peer_ack(&p, 1);
	app_opt(w, a, TCP_OPT_NOTSENT_LOWAT, 500);
	assert_int_equal(app_write(w, a, 600), 600);
	assert_int_equal(tcp_writable(a->p), 0);
	p.win = 65535;
	peer_ack(&p, 1); /* a window, and no acknowledgement */
	peer_see(&p, A, 1, 600, 1);
	a->events = 0;
	peer_ack(&p, 601);
	assert_true(a->events & EPOLLOUT);
	assert_true(tcp_ready(a->p) & EPOLLOUT);
	app_opt(w, a, TCP_OPT_NOTSENT_LOWAT, UINT32_MAX); /* no limit */
	assert_int_equal(tcp_opt_get(a->p, TCP_OPT_NOTSENT_LOWAT), UINT32_MAX);
	p.win = 0;
	peer_ack(&p, 601);
	assert_int_equal(app_write(w, a, 6000), 6000);
	assert_true(tcp_writable(a->p) > 0);
}

static void
count_entry(void *ctx, const struct tcp_entry *e)
{
	((unsigned int *)ctx)[e->fsm]++;
}

/* STK-3 */
static void
everything_is_listed_and_listeners_may_be_shut_down(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *u = app_new(w), *a;
	unsigned int n[TCP_TIME_WAIT + 1] = { 0 };
	struct peer p, q;
	struct seg s;

	assert_int_equal(tcp_listen(w->s, u->p, 1 << 20), 0); /* binds by itself; the backlog is cut */
	assert_int_equal(u->p->lst->backlog, TCP_BACKLOG_MAX);
	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	peer_init(w, &q, 4001, 80, 1000);
	peer_syn(&q, S, MSS_1000, LEN(MSS_1000));
	assert_true(world_get(w, &s));
	tcp_each(w->s, count_entry, n);
	assert_int_equal(n[TCP_LISTEN], 2);
	assert_int_equal(n[TCP_SYN_RCVD], 1);
	assert_int_equal(n[TCP_ESTABLISHED], 1);
	assert_int_equal(tcp_shutdown(w->s, l->p, SHUT_RD), 0);
	assert_int_equal(w->s->tcp->nb_half, 0);
	assert_int_equal(fsm(l), TCP_CLOSED);
	assert_int_equal(tcp_shutdown(w->s, l->p, SHUT_WR), -ENOTCONN);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_RD), 0);
	peer_data(&p, 100); /* taken and thrown away */
	assert_int_equal(tcp_readable(a->p), 0);
	world_wait(w, 100);
	peer_see(&p, A, 1, 0, 101);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(overlapping_segments_are_cut),
		T46(simultaneous_open_by_syn_ack_and_by_syn_again),
		T46(half_open_answers_strangers),
		T4(full_cache_without_cookies),
		T46(last_ack_with_a_full_queue_waits),
		T46(congestion_experienced_is_echoed_until_cwr),
		T46(data_for_an_orphan_is_reset),
		T46(window_is_probed_by_a_fin),
		T46(orphan_against_a_closed_window_ends),
		T46(shared_chains_are_sent_without_being_changed),
		T46(cork_quickack_and_lowat),
		T46(unsent_low_water_wakes_the_writer),
		T46(everything_is_listed_and_listeners_may_be_shut_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows both ways: flow control, silly windows, probes, Nagle, what arrives out of order (RFC 9293 3.8.6, 3.7.4, 3.10.7.4). */
#include "peer.h"

/* Listener with this receive buffer, accepted. */
static struct app *
open_rcvbuf(struct world *w, struct peer *p, uint32_t bytes)
{
	struct app *l = app_new(w), *a;
	union ip_addr us = world_us(w);

	app_opt(w, l, TCP_OPT_RCVBUF, bytes);
	assert_int_equal(tcp_bind(w->s, l->p, w->family, &us, htons(80), NULL), 0);
	assert_int_equal(tcp_listen(w->s, l->p, 1), 0);
	peer_init(w, p, 4000, 80, 1000);
	a = peer_open(p, l, MSS_1000, LEN(MSS_1000));
	app_close(w, l);
	return a;
}

/* The right edge that the stack has announced, relative; 0: nothing was sent. */
static uint32_t
right_edge(struct world *w, const struct peer *p, unsigned int shift)
{
	struct seg s;
	uint32_t edge = 0;

	while (world_get(w, &s))
		edge = s.ack - p->iss + ((uint32_t)s.win << shift);
	return edge;
}

/* STK-3: checklist 26 */
static void
test_window_not_shrunk_right_edge_by_receiver(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_rcvbuf(w, &p, 20000);
	uint32_t edge = 20001, e;
	uint8_t b[333];

	for (unsigned int i = 0; i < 200; i++) {
		if (edge - p.nxt >= 700)
			peer_data(&p, i % 7 == 0 ? 700 : 13);
		if (i % 3 == 0)
			app_read(w, a, b, i % 2 == 0 ? 333 : 50);
		world_wait(w, i % 5 * 20);
		e = right_edge(w, &p, 0);
		if (e != 0) {
			assert_true((int32_t)(e - edge) >= 0);
			edge = e;
		}
	}
}

/* STK-3: checklist 26: a smaller buffer does not take back what was announced */
static void
test_smaller_receive_buffer_does_not_shrink_window(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	tcp_opt_set(w->s, a->p, TCP_OPT_RCVBUF, 4000);
	for (unsigned int i = 0; i < 20; i++)
		peer_data(&p, 1000);
	world_wait(w, 100);
	fx_tx_clear(w->f);
	assert_int_equal(app_drain(w, a), 20000);
	fx_tx_clear(w->f);
}

/* STK-3, STK-8: checklist 26 */
static void
test_shrunk_window(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct seg s;
	uint32_t una = 1;

	assert_int_equal(app_write(w, a, 20000), 20000);
	fx_tx_clear(w->f); /* ten segments are out */
	p.win = 0;
	peer_ack(&p, 1);
	p.win = 500;
	peer_ack(&p, 3001);
	p.win = 1;
	peer_ack(&p, 5001);
	p.win = 100;
	peer_ack(&p, 10001);
	world_wait(w, 30000);
	fx_tx_clear(w->f);
	p.win = 65535;
	una = 10001;
	peer_ack(&p, una);
	for (unsigned int i = 0; i < 200 && una < 20001; i++) {
		while (world_get(w, &s))
			if (s.seq - p.irs == una)
				una += s.len;
		peer_ack(&p, una);
		world_wait(w, 100);
	}
	assert_int_equal(una, 20001);
	assert_int_equal(tcp_unacked(a->p), 0);
}

/* STK-3: checklist 27 */
static void
test_sws_receiver_advances_by_min_mss_or_half_buffer(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_rcvbuf(w, &p, 8000);
	uint32_t edge;
	uint8_t b[100];

	for (unsigned int i = 0; i < 8; i++)
		peer_data(&p, 1000);
	world_wait(w, 100);
	assert_int_equal(right_edge(w, &p, 0), 8001);
	for (unsigned int i = 0; i < 80; i++) {
		assert_int_equal(app_read(w, a, b, 100), 100);
		edge = right_edge(w, &p, 0);
		if (edge != 0) {
			assert_true(edge - 8001 >= 1000); /* at least a segment, never a crumb */
			break;
		}
	}
	app_drain(w, a);
	edge = right_edge(w, &p, 0);
	peer_raw(&p, A | P, p.nxt - 1, 1, 1);
	assert_int_equal(right_edge(w, &p, 0), 16001);
}

/* STK-3: checklist 27 */
static void
test_sws_sender_nagle_rules(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_int_equal(app_write(w, a, 300), 300);
	peer_see(&p, A | P, 1, 300, 1);
	assert_int_equal(app_write(w, a, 300), 300);
	assert_int_equal(app_write(w, a, 300), 300);
	world_quiet(w);
	assert_int_equal(app_write(w, a, 500), 500); /* 1100 wait: a full one goes */
	peer_see(&p, A, 301, 1000, 1);
	peer_ack(&p, 301);
	world_quiet(w); /* 1000 are still in flight */
	peer_ack(&p, 1301);
	peer_see(&p, A | P, 1301, 100, 1);
	peer_ack(&p, 1401);
	/* a window of a crumb is not used for a crumb at once */
	p.win = 100;
	peer_ack(&p, 1401);
	assert_int_equal(app_write(w, a, 1000), 1000);
	world_quiet(w);
	p.win = 2000;
	peer_ack(&p, 1401);
	peer_see(&p, A | P, 1401, 1000, 1);
	/* and without Nagle small ones go */
	app_opt(w, a, TCP_OPT_NODELAY, 1);
	assert_int_equal(tcp_opt_get(a->p, TCP_OPT_NODELAY), 1);
	assert_int_equal(app_write(w, a, 10), 10);
	peer_see(&p, A | P, 2401, 10, 1);
}

/* STK-3: checklist 28 */
static void
test_zero_window_probe_forever_with_backoff_not_counted_as_dead(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct seg s;
	unsigned int probes = 0;

	p.win = 0;
	peer_ack(&p, 1);
	assert_int_equal(app_write(w, a, 1000), 1000);
	for (unsigned int i = 0; i < 3600; i++) {
		world_wait(w, 1000);
		while (world_get(w, &s)) {
			assert_in_range(s.len, 0, 1);
			peer_ack(&p, 1); /* alive, and still no room */
			probes++;
		}
		assert_int_equal(fsm(a), TCP_ESTABLISHED);
	}
	assert_in_range(probes, 30, 800); /* an hour; the interval grows to at most two minutes or so */
	p.win = 65535;
	peer_ack(&p, 1);
	peer_see(&p, A | P, 1, 1000, 1);
	peer_ack(&p, 1001);
	assert_int_equal(tcp_unacked(a->p), 0);
}

/* STK-3: checklist 28 */
static void
test_window_update_lost_recovers(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct seg s;

	p.win = 0;
	peer_ack(&p, 1);
	assert_int_equal(app_write(w, a, 1000), 1000);
	world_quiet(w);
	p.win = 65535; /* the peer has room again and its update was lost; a probe finds out */
	for (unsigned int i = 0; i < 100 && !world_get(w, &s); i++)
		world_wait(w, 100);
	assert_in_range(s.len, 0, 1);
	peer_ack(&p, 1 + s.len);
	peer_see(&p, A | P, 1 + s.len, 1000 - s.len, 1);
}

/* STK-3: checklist 28 */
static void
test_probe_acked_zero_window_stays_open(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	p.win = 0;
	peer_ack(&p, 1);
	assert_int_equal(app_write(w, a, 1000), 1000);
	for (unsigned int i = 0; i < 30; i++) {
		world_wait(w, 60000);
		fx_tx_clear(w->f);
		peer_ack(&p, 1);
	}
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	assert_true(events(w, TCP_EV_PERSIST_PROBE) >= 10);
}

/* STK-3: an orphan against a closed window does not live for ever, even if the peer acknowledges probes for a while */
static void
test_probes_of_silent_peer_end(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	p.win = 0;
	peer_ack(&p, 1);
	assert_int_equal(app_write(w, a, 1000), 1000);
	for (unsigned int i = 0; i < 300 && fsm(a) == TCP_ESTABLISHED; i++) {
		world_wait(w, 60000); /* nobody answers */
		fx_tx_clear(w->f);
	}
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_take_error(a->p), -ETIMEDOUT);
}

/* STK-3: checklist 29 */
static void
test_wl1_wl2_update_order_ignores_old_segment_window(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct tcp_facts t;

	peer_data(&p, 100);
	p.win = 5000;
	peer_data(&p, 100);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.snd_wnd, 5000);
	p.win = 60000;
	peer_raw(&p, A, 101, 1, 0); /* an older sequence number */
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.snd_wnd, 5000);
	assert_int_equal(app_write(w, a, 1000), 1000);
	p.win = 4000;
	peer_raw(&p, A, 201, 1001, 0);
	p.win = 60000;
	peer_raw(&p, A, 201, 1, 0); /* an older acknowledgement */
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.snd_wnd, 4000);
	p.win = 3000;
	peer_raw(&p, A, 201, 1001, 0); /* the same numbers: an update, downwards too */
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.snd_wnd, 3000);
	fx_tx_clear(w->f);
}

/* STK-3, STK-8: segments that overlap in every way, with the same and with other bytes */
static void
test_overlapping_segments(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	static uint8_t b[4096];
	uint32_t x = 99, got = 0;

	for (unsigned int i = 0; i < 400; i++) {
		x = x * 1664525u + 1013904223u;
		peer_raw(&p, A, 2 + (x >> 8) % 2000, 1, 1 + (x >> 20) % 1000);
		fx_tx_clear(w->f);
	}
	peer_raw(&p, A | P, 1, 1, 3000);
	for (ssize_t n; (n = app_read(w, a, b + got, (uint32_t)sizeof(b) - got)) > 0;)
		got += (uint32_t)n;
	assert_int_equal(got, 3000);
	for (uint32_t i = 0; i < got; i++)
		assert_int_equal(b[i], (uint8_t)((1 + i) * 11 + ((1 + i) >> 8)));
	fx_tx_clear(w->f);
}

/* STK-3: checklist 37 */
static void
test_immediate_ack_on_out_of_order_or_gap_fill(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);

	peer_raw(&p, A | P, 1001, 1, 500);
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, A | P, 2001, 1, 500);
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, A | P, 1, 1, 1000);
	peer_see(&p, A, 1, 0, 1501);
	peer_raw(&p, A | P, 1501, 1, 500);
	peer_see(&p, A, 1, 0, 2501);
	assert_int_equal(app_drain(w, a), 2500);
}

/* STK-3, STK-8: far more holes than anybody needs: memory stays bounded and the stream is whole in the end */
static void
test_many_holes_are_bounded(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_sack(w, &p);
	unsigned int before = shim_pool_avail(w->f->shim, w->f->pool);

	for (uint32_t i = 0; i < 5000; i++) {
		peer_raw(&p, A, 3 + i * 2 % 60000, 1, 1); /* a byte, a hole, a byte, ... */
		fx_tx_clear(w->f);
	}
	assert_true(shim_pool_avail(w->f->shim, w->f->pool) > before / 2);
	for (uint32_t i = 0; i < 60; i++) {
		peer_raw(&p, A | P, 1 + i * 1000, 1, 1000);
		fx_tx_clear(w->f);
	}
	assert_int_equal(app_drain(w, a), 60000);
	fx_tx_clear(w->f);
}

/* STK-3, STK-9: no buffer anywhere: writes fail or wait, and everything goes on when there are some again */
static void
test_buffer_exhaustion_enobufs_and_recovery(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct rte_mbuf *held[2048];
	unsigned int n = 0;
	uint32_t una = 1;
	struct seg s;
	ssize_t r;

	while ((held[n] = shim_buf_alloc(w->f->shim, w->f->pool)) != NULL)
		n++;
	r = app_write(w, a, 3000);
	assert_true(r == -ENOBUFS || r == -EAGAIN || r == 3000);
	world_wait(w, 5000);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	while (n > 0)
		shim_buf_free(w->f->shim, held[--n]);
	if (r < 0)
		assert_int_equal(app_write(w, a, 3000), 3000);
	for (unsigned int i = 0; i < 100 && una < 3001; i++) {
		while (world_get(w, &s))
			if (s.seq - p.irs == una)
				una += s.len;
		peer_ack(&p, una);
		world_wait(w, 200);
	}
	assert_int_equal(una, 3001);
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 100);
	fx_tx_clear(w->f);
}

/* STK-3: zero copy in both directions */
static void
test_chains_in_and_out(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint8_t b[3000];
	struct rte_mbuf *m;
	struct seg s;
	uint32_t got = 0;
	ssize_t n;

	for (unsigned int i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)(i * 3);
	m = fx_buf(w->f, b, sizeof(b), 600);
	assert_int_equal(tcp_write_chain(w->s, a->p, m, 0), sizeof(b));
	while (world_get(w, &s)) {
		assert_memory_equal(s.data, b + got, s.len);
		got += s.len;
	}
	assert_int_equal(got, sizeof(b));
	peer_ack(&p, 3001);
	peer_data(&p, 1000);
	peer_data(&p, 1000);
	for (got = 0; (n = tcp_read_chain(w->s, a->p, 1500, &m)) > 0; got += (uint32_t)n) {
		assert_int_equal(shim_buf_len(m), n);
		shim_buf_free(w->f->shim, m);
	}
	assert_int_equal(n, -EAGAIN);
	assert_int_equal(got, 2000);
	world_wait(w, 100);
	fx_tx_clear(w->f);
	peer_raw(&p, F | A, p.nxt, 3001, 0);
	assert_int_equal(tcp_read_chain(w->s, a->p, 1500, &m), 0);
	assert_null(m);
	fx_tx_clear(w->f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_window_not_shrunk_right_edge_by_receiver),
		T46(test_smaller_receive_buffer_does_not_shrink_window),
		T46(test_shrunk_window),
		T46(test_sws_receiver_advances_by_min_mss_or_half_buffer),
		T46(test_sws_sender_nagle_rules),
		T46(test_zero_window_probe_forever_with_backoff_not_counted_as_dead),
		T46(test_window_update_lost_recovers),
		T46(test_probe_acked_zero_window_stays_open),
		T46(test_probes_of_silent_peer_end),
		T46(test_wl1_wl2_update_order_ignores_old_segment_window),
		T46(test_overlapping_segments),
		T46(test_immediate_ack_on_out_of_order_or_gap_fill),
		T46(test_many_holes_are_bounded),
		T46(test_buffer_exhaustion_enobufs_and_recovery),
		T46(test_chains_in_and_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

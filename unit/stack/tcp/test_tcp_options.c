/* SPDX-License-Identifier: BSD-3-Clause */
/* Options: MSS, window scale, SACK permission, timestamps, and anything a hostile peer writes there (RFC 9293 3.2, RFC 7323, RFC 6691). */
#include "peer.h"

/* A SYN with these option bytes to a fresh listener; the SYN-ACK. The half-open connection is reset again. */
static void
synack_to(struct world *w, struct app *l, const void *opts, uint8_t nopts, struct seg *s)
{
	struct peer p;

	(void)l;
	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S, opts, nopts);
	peer_expect(&p, S | A, 0, 0, 1, s);
	peer_raw(&p, R, 1, 0, 0);
	world_quiet(w);
}

/* STK-3, STK-8: checklist 21 */
static void
test_unknown_option_skipped_by_length(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct seg s;

	/* kind 200 of 6 bytes, fast open, MD5-like 19 too short to be one, then what counts */
	synack_to(w, l, "\xc8\x06\x02\x04\x00\x10" "\x22\x04\xaa\xbb" "\x13\x02" "\x02\x04\x03\xe8" "\x04\x02" "\x03\x03\x07\x01\x01\x01", 24, &s);
	assert_true(s.sackok);
	assert_int_equal(s.wscale, 6);
	assert_int_equal(s.mss, w->mss);
}

/* STK-3, STK-8: checklist 21 */
static void
test_zero_or_overlong_option_length_ignored_without_crash(void **state)
{
	static const struct {
		const char *o;
		uint8_t n;
	} bad[] = {
		{ "\x02\x00\x03\xe8", 4 },                 /* length 0 */
		{ "\x02\x01\x03\xe8", 4 },                 /* length 1 */
		{ "\x02\xff\x03\xe8", 4 },                 /* beyond the header */
		{ "\x01\x01\x01\x02", 4 },                 /* no length byte */
		{ "\x01\x01\x01\x08", 4 },
		{ "\x01\x01\x02\x04", 4 },                 /* cut in its data */
		{ "\x03\x04\x07\x00", 4 },                 /* wrong length for its kind */
		{ "\x08\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12 },
		{ "\x05\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12 },
		{ "\x04\x03\x00\x00", 4 },
		{ "\x00\x02\x04\x00", 4 },                 /* behind the end of the list */
	};
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct seg s;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		synack_to(w, l, bad[i].o, bad[i].n, &s);
		assert_int_equal(s.wscale, -1);
		assert_false(s.sackok || s.ts);
	}
}

/* STK-3, STK-8: every kind with every length, forty bytes at a time, on SYNs and on an established connection */
static void
test_option_bomb(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	uint32_t x = 12345;

	peer_init(w, &p, 4001, 80, 1000);
	a = peer_open(&p, l, MSS_1000_SACK, LEN(MSS_1000_SACK));
	for (unsigned int i = 0; i < 3000; i++) {
		struct seg s = { .flags = A, .seq = p.iss + 1, .ack = p.irs + 1, .win = 65535, .nopts = 40 };

		for (unsigned int k = 0; k < 40; k++) {
			x = x * 1664525u + 1013904223u;
			s.opts[k] = (uint8_t)((x >> 24) % ((i & 1) != 0 ? 9 : 256));
		}
		if (i % 3 == 0) {
			struct peer q;

			peer_init(w, &q, (uint16_t)(10000 + i), 80, i);
			s.flags = S;
			s.seq = i;
			peer_send_abs(&q, &s);
			q.nxt = 1;
			peer_raw(&q, R, 1, 0, 0);
		} else {
			peer_send_abs(&p, &s);
		}
		fx_tx_clear(w->f);
	}
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 100);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 22 */
static void
test_mss_absent_means_536_v4_1220_v6(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	uint32_t want = w->family == ADDR_INET ? 536 : 1220;
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, "", 0);
	assert_int_equal(app_write(w, a, 2 * want), 2 * want);
	peer_see(&p, A, 1, want, 1);
	peer_see(&p, A, 1 + want, want, 1);
}

/* STK-3: checklist 22 */
static void
test_mss_sent_is_mtu_minus_fixed_headers_not_minus_options(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct seg s;

	synack_to(w, l, OPTS_ALL, LEN(OPTS_ALL), &s);
	assert_int_equal(s.mss, w->mss);
	assert_true(s.ts && s.sackok);
	app_connect(w, 4000);
	assert_true(world_get(w, &s));
	assert_int_equal(s.mss, w->mss);
	assert_int_equal(stack_if_mtu_set(w->s, w->f->nif, 1400), 0);
	synack_to(w, l, OPTS_ALL, LEN(OPTS_ALL), &s);
	assert_int_equal(s.mss, w->mss - 100);
}

/* STK-3: checklist 23 */
static void
test_send_size_subtracts_option_bytes_from_eff_mss(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	assert_true(p.ts);
	assert_int_equal(app_write(w, a, 1976), 1976);
	peer_see(&p, A, 1, 988, 1);
	peer_see(&p, A, 989, 988, 1);
	peer_raw(&p, A | P, 1001, 1977, 100); /* a gap: our next segments carry SACK beside the timestamp */
	peer_see(&p, A, 1977, 0, 1);
	assert_int_equal(app_write(w, a, 2000), 2000);
	assert_true(world_get(w, &s));
	assert_int_equal(s.len + s.nopts, 1000);
}

/* STK-3, STK-8: checklist 24 */
static void
test_mss_zero_or_tiny_clamped(void **state)
{
	static const char *const mss[] = { "\x02\x04\x00\x00", "\x02\x04\x00\x01", "\x02\x04\x00\x0c", "\x02\x04\x00\x2f" };
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);

	for (unsigned int i = 0; i < 4; i++) {
		struct app *a;
		struct peer p;
		struct seg s;

		peer_init(w, &p, (uint16_t)(4000 + i), 80, 1000);
		a = peer_open(&p, l, mss[i], 4);
		assert_int_equal(app_write(w, a, 2000), 2000);
		assert_true(world_get(w, &s));
		assert_in_range(s.len, 48, 2000);
		fx_tx_clear(w->f);
		app_abort(w, a);
		fx_tx_clear(w->f);
	}
}

/* STK-3: checklist 25 */
static void
test_wscale_only_on_syn_both_sides(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts t;
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, "\x02\x04\x03\xe8\x01\x03\x03\x04", 8);
	tcp_facts(w->s, a->p, &t);
	assert_true(t.wscale);
	assert_int_equal(t.snd_wscale, 4);
	assert_int_equal(t.rcv_wscale, 6);
	/* the option on a later segment changes nothing */
	s = (struct seg){ .flags = A, .seq = p.iss + 1, .ack = p.irs + 1, .win = 100, .nopts = 4, .opts = "\x01\x03\x03\x0a" };
	peer_send_abs(&p, &s);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.snd_wscale, 4);
	assert_int_equal(t.snd_wnd, 1600);
	/* not offered: ours is not used either */
	peer_init(w, &p, 4001, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	tcp_facts(w->s, a->p, &t);
	assert_false(t.wscale);
	assert_int_equal(t.snd_wnd, 65535);
	assert_int_equal(app_write(w, a, 10), 10);
	peer_expect(&p, A | P, 1, 10, 1, &s);
	assert_int_equal(s.win, 65535);
}

/* STK-3: checklist 25 */
static void
test_shift_gt_14_treated_as_14(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts t;
	struct peer p;

	for (unsigned int i = 0; i < 3; i++) {
		uint8_t o[8] = { 2, 4, 3, 0xe8, 1, 3, 3, (uint8_t[]){ 15, 31, 255 }[i] };

		peer_init(w, &p, (uint16_t)(4000 + i), 80, 1000);
		a = peer_open(&p, l, o, 8);
		p.win = 2;
		peer_ack(&p, 1);
		tcp_facts(w->s, a->p, &t);
		assert_int_equal(t.snd_wscale, 14);
		assert_int_equal(t.snd_wnd, 2 << 14);
	}
}

/* STK-3: checklist 25 */
static void
test_window_in_syn_never_scaled(void **state)
{
	struct world *w = *state;
	struct app *a = app_connect(w, 4000);
	struct tcp_addr us;
	struct peer p;
	struct seg s;

	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_expect(&p, S, 0, 0, 0, &s);
	assert_int_equal(s.win, 65535);
	p.win = 400;
	peer_syn(&p, S | A, "\x02\x04\x03\xe8\x01\x03\x03\x0e", 8);
	peer_see(&p, A, 1, 0, 1);
	assert_int_equal(app_write(w, a, 1000), 1000);
	peer_see(&p, A, 1, 400, 1);
	world_quiet(w);
}

/* STK-3: checklist 30 */
static void
test_paws_drops_old_ts_with_ack_but_not_rst(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	p.tsval = 1000;
	peer_data(&p, 100);
	world_wait(w, 100);
	fx_tx_clear(w->f);
	p.tsval = 999;
	peer_raw(&p, A | P, 101, 1, 100);
	peer_see(&p, A, 1, 0, 101);
	assert_int_equal(tcp_readable(a->p), 100);
	p.tsval = 1001 + 0x80000000u; /* just over half the circle ahead is old */
	peer_raw(&p, A | P, 101, 1, 100);
	fx_tx_clear(w->f);
	assert_int_equal(tcp_readable(a->p), 100);
	p.tsval = 1;
	peer_raw(&p, R, 101, 0, 0);
	assert_int_equal(fsm(a), TCP_CLOSED);
}

/* STK-3: checklist 30 */
static void
test_ts_recent_updated_only_if_seq_le_last_ack_sent(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	p.tsval = 5000;
	peer_raw(&p, A | P, 101, 1, 100); /* ahead of a gap */
	peer_expect(&p, A, 1, 0, 1, &s);
	assert_true(s.ts);
	assert_int_equal(s.tsecr, 800);
	p.tsval = 900; /* sent earlier, arrives later: must not be dropped */
	peer_raw(&p, A | P, 1, 1, 100);
	peer_expect(&p, A, 1, 0, 201, &s);
	assert_int_equal(s.tsecr, 900);
	assert_int_equal(app_drain(w, a), 200);
}

/* STK-3: checklist 30 */
static void
test_24_day_idle_invalidates(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	p.tsval = 1000;
	peer_data(&p, 100);
	world_wait(w, 25ull * 24 * 3600 * 1000);
	fx_tx_clear(w->f);
	p.tsval = 500;
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 200);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 31 */
static void
test_ts_required_on_all_segments_after_negotiation_except_rst(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	p.ts = false;
	peer_raw(&p, A | P, 1, 1, 100); /* missing: dropped */
	assert_int_equal(tcp_readable(a->p), 0);
	fx_tx_clear(w->f);
	p.ts = true;
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 100);
	world_wait(w, 100);
	peer_expect(&p, A, 1, 0, 101, &s);
	assert_true(s.ts);
	p.ts = false;
	peer_raw(&p, R, 101, 0, 0);
	assert_int_equal(fsm(a), TCP_CLOSED);
}

/* STK-3: checklist 32 */
static void
test_ts_offset_per_connection_random(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	uint32_t v[8];
	struct seg s;

	(void)l;
	for (unsigned int i = 0; i < 8; i++) {
		struct peer p;

		peer_init(w, &p, (uint16_t)(4000 + i), 80, 1000);
		peer_syn(&p, S, OPTS_ALL, LEN(OPTS_ALL));
		peer_expect(&p, S | A, 0, 0, 1, &s);
		v[i] = s.tsval;
		for (unsigned int k = 0; k < i; k++)
			assert_true(v[i] - v[k] > 1000 && v[k] - v[i] > 1000);
	}
}

/* STK-3: checklist 33 */
static void
test_urgent_pointer_does_not_break_stream(void **state)
{
	static const uint16_t at[] = { 0, 1, 50, 100, 101, 65535 };
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint8_t data[100], b[128];

	memset(data, 'x', sizeof(data));
	for (unsigned int i = 0; i < 6; i++) {
		struct seg s = { .flags = A | U | P, .seq = p.iss + p.nxt, .ack = p.irs + 1, .win = 65535, .urg = at[i], .len = 100,
			.data = data };

		peer_send_abs(&p, &s);
		p.nxt += 100;
		assert_int_equal(app_read(w, a, b, sizeof(b)), 100);
		assert_memory_equal(b, data, 100);
	}
	fx_tx_clear(w->f);
}

/* STK-3: the SYN without our options when the knobs are off */
static void
test_knobs_switch_options_off(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct seg s;

	knob(w, TCP_KNOB_SACK, 0);
	synack_to(w, l, OPTS_ALL, LEN(OPTS_ALL), &s);
	assert_true(!s.sackok && s.ts && s.wscale == 6);
	knob(w, TCP_KNOB_TIMESTAMPS, 0);
	synack_to(w, l, OPTS_ALL, LEN(OPTS_ALL), &s);
	assert_true(!s.sackok && !s.ts && s.wscale == 6);
	knob(w, TCP_KNOB_WSCALE, 0);
	synack_to(w, l, OPTS_ALL, LEN(OPTS_ALL), &s);
	assert_true(!s.sackok && !s.ts && s.wscale == -1);
	assert_int_equal(s.nopts, 4);
	app_connect(w, 4000);
	assert_true(world_get(w, &s));
	assert_int_equal(s.nopts, 4);
	assert_int_equal(tcp_knob_get(w->s, TCP_KNOB_SACK), 0);
	assert_int_equal(tcp_knob_set(w->s, TCP_KNOB_SACK, 5), -EINVAL);
	assert_int_equal(tcp_knob_set(w->s, TCP_KNOB_COUNT, 0), -EINVAL);
	assert_int_equal(tcp_knob_set(w->s, TCP_KNOB_MSL, -1), -EINVAL);
}

/* STK-3: checklist 66: the largest window there is */
static void
test_window_1_GiB(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts t;
	struct peer p;

	peer_init(w, &p, 4000, 80, 0xffff0000u);
	a = peer_open(&p, l, "\x02\x04\x03\xe8\x01\x03\x03\x0e", 8);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.snd_wnd, 65535u << 14);
	assert_int_equal(app_write(w, a, 2000), 2000);
	peer_see(&p, A, 1, 1000, 1);
	peer_see(&p, A | P, 1001, 1000, 1);
	peer_raw(&p, A, 1, 0x30000000u, 0); /* within such a window, and never sent */
	peer_see(&p, A, 2001, 0, 1);
	assert_int_equal(tcp_unacked(a->p), 2000);
	peer_ack(&p, 2001);
	assert_int_equal(tcp_unacked(a->p), 0);
}

/* STK-3: checklist 30, 66: numbers, timestamps and a scaled window over the end of their spaces at once */
static void
test_paws_with_numbers_and_timestamps_that_wrap(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 0u - 1500);
	/* mss 1000, sackOK, TS 0xffffff00, nop, wscale 7; what follows the SYN has 800 and more */
	a = peer_open(&p, l, "\x02\x04\x03\xe8\x04\x02\x08\x0a\xff\xff\xff\x00\x00\x00\x00\x00\x01\x03\x03\x07", 20);
	peer_data(&p, 1000);
	p.tsval = 801;
	peer_raw(&p, A, 2001, 1, 1000); /* what is missing lies on both sides of the end */
	peer_see(&p, A, 1, 0, 1001);
	p.tsval = 0xffffff80u; /* from before: newer than the SYN only */
	peer_raw(&p, A, 1001, 1, 1000);
	peer_expect(&p, A, 1, 0, 1001, &s);
	assert_int_equal(s.tsecr, 800);
	assert_int_equal(s.nsack, 1);
	assert_int_equal(s.sack[0][0], 501);
	assert_int_equal(s.sack[0][1], 1501);
	assert_int_equal(tcp_readable(a->p), 1000);
	p.tsval = 802;
	peer_raw(&p, A, 1001, 1, 1000);
	peer_expect(&p, A, 1, 0, 3001, &s);
	assert_int_equal(s.tsecr, 802);
	assert_int_equal(app_drain(w, a), 3000);
	fx_tx_clear(w->f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_unknown_option_skipped_by_length),
		T46(test_zero_or_overlong_option_length_ignored_without_crash),
		T46(test_option_bomb),
		T46(test_mss_absent_means_536_v4_1220_v6),
		T46(test_mss_sent_is_mtu_minus_fixed_headers_not_minus_options),
		T46(test_send_size_subtracts_option_bytes_from_eff_mss),
		T46(test_mss_zero_or_tiny_clamped),
		T46(test_wscale_only_on_syn_both_sides),
		T46(test_shift_gt_14_treated_as_14),
		T46(test_window_in_syn_never_scaled),
		T46(test_paws_drops_old_ts_with_ack_but_not_rst),
		T46(test_ts_recent_updated_only_if_seq_le_last_ack_sent),
		T46(test_24_day_idle_invalidates),
		T46(test_ts_required_on_all_segments_after_negotiation_except_rst),
		T46(test_ts_offset_per_connection_random),
		T46(test_urgent_pointer_does_not_break_stream),
		T46(test_knobs_switch_options_off),
		T46(test_window_1_GiB),
		T46(test_paws_with_numbers_and_timestamps_that_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

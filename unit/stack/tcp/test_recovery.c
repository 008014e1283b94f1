/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss recovery: round-trip time, timeouts, duplicate ACKs without SACK, what may be sent. */
#include "rec_world.h"

#include <errno.h>

static struct rec_facts
facts(const struct rec_world *w)
{
	struct rec_facts f;

	rec_facts(&w->r, &f);
	return f;
}

/* STK-3 */
static void
test_rto_init_1s_min_bounds_first_sample_R_and_R_over_2(void **state)
{
	struct rec_world *w = world_new(W_SACK);

	(void)state;
	assert_int_equal(rec_rto(&w->r), SEC);
	world_send(w, 1);
	assert_int_equal(rec_deadline(&w->r), w->now + SEC); /* RTO and probe alike: nothing is known */
	w->now += 100 * MS;
	world_ack(w, 1);
	assert_int_equal(w->out.rtt_us, 100000);
	assert_int_equal(facts(w).srtt_us, 100000);
	assert_int_equal(facts(w).rttvar_us, 50000);
	assert_int_equal(facts(w).rto_us, 300000 + 200000); /* and the slop */
	assert_int_equal(rec_deadline(&w->r), REC_NEVER);
	/* R' = 140: rttvar = 3/4 * 50 + 1/4 * 40, srtt = 7/8 * 100 + 1/8 * 140 */
	world_send(w, 1);
	w->now += 140 * MS;
	world_ack(w, 2);
	assert_in_range(facts(w).rttvar_us, 47499, 47501);
	assert_in_range(facts(w).srtt_us, 104999, 105001);
	world_end(w);
}

/* STK-3 */
static void
test_rto_minimum_and_granularity_hold_for_short_paths(void **state)
{
	struct rec_world *w = world_new(W_SACK);
	int i;

	(void)state;
	for (i = 1; i < 60; i++) {
		world_send(w, 1);
		w->now += 20000;
		world_ack(w, i);
	}
	assert_in_range(facts(w).srtt_us, 19, 21);
	assert_int_equal(rec_rto(&w->r), 230 * MS);
	w->pool.cfg.rto_slop_ns = 0;
	w->pool.cfg.rto_var_min_ns = 200 * MS; /* as Linux */
	world_send(w, 1);
	w->now += 20000;
	world_ack(w, 60);
	assert_in_range(rec_rto(&w->r), 200 * MS + 19000, 200 * MS + 21000);
	w->pool.cfg.rto_var_min_ns = 0;
	w->pool.cfg.rto_min_ns = SEC;
	world_send(w, 1);
	world_ack(w, 61); /* no time at all passed: counts as a microsecond */
	assert_int_equal(w->out.rtt_us, 1);
	assert_int_equal(rec_rto(&w->r), SEC);
	w->pool.cfg.rto_min_ns = 0;
	world_send(w, 1);
	world_ack(w, 62);
	assert_true(rec_rto(&w->r) >= MS); /* G */
	world_end(w);
}

/* STK-3 */
static void
test_karn_no_sample_from_retransmit(void **state)
{
	struct rec_world *w = world_new(0);

	(void)state;
	world_send(w, 1);
	assert_true(world_timer(w) & REC_EV_RTO);
	assert_int_equal(world_resend(w, NULL), 1);
	w->now += 5 * MS;
	world_ack(w, 1);
	assert_int_equal(w->out.acked, MSS);
	assert_int_equal(w->out.rtt_us, 0);
	assert_int_equal(facts(w).srtt_us, 0);
	assert_int_equal(w->r.backoff, 1); /* kept until there is a sample */
	world_send(w, 1);
	assert_int_equal(rec_deadline(&w->r), w->now + 2 * SEC);
	w->now += 7 * MS;
	world_ack(w, 2);
	assert_int_equal(w->out.rtt_us, 7000);
	assert_int_equal(w->r.backoff, 0);
	world_end(w);
}

/* STK-3 */
static void
test_ts_sample_ok_after_retransmit(void **state)
{
	struct rec_world *w = world_new(W_TS);
	struct rec_in in;

	(void)state;
	world_send(w, 1);
	world_timer(w);
	world_resend(w, NULL);
	in = world_in(w, 1);
	in.flags = REC_IN_TS;
	in.ecr_ns = w->now;
	w->now += 6 * MS;
	in.now = w->now;
	world_take(w, &in);
	assert_int_equal(w->out.rtt_us, 6000);
	assert_int_equal(w->r.backoff, 0);
	assert_false(w->out.ev & REC_EV_UNDO);
	/* one from the future is none */
	world_send(w, 1);
	world_timer(w);
	world_resend(w, NULL);
	in = world_in(w, 2);
	in.flags = REC_IN_TS;
	in.ecr_ns = w->now + MS;
	world_take(w, &in);
	assert_int_equal(w->out.rtt_us, 0);
	world_end(w);
}

/* STK-3 */
static void
test_many_samples_a_round_trip_weigh_less(void **state)
{
	struct rec_world *w = world_new(W_SACK);
	uint32_t one, many;
	int i;

	(void)state;
	world_send(w, 1);
	w->now += 100 * MS;
	world_ack(w, 1);
	world_send(w, 1);
	w->now += 200 * MS;
	world_ack(w, 2);
	one = facts(w).srtt_us; /* moved by an eighth of 100 ms */
	assert_in_range(one, 112400, 112600);
	world_end(w);
	w = world_new(W_SACK);
	world_send(w, 1);
	w->now += 100 * MS;
	world_ack(w, 1);
	world_send(w, 10);
	w->now += 200 * MS;
	for (i = 2; i <= 11; i++) {
		world_ack(w, i);
		if (i == 2)
			assert_in_range(facts(w).srtt_us, 102400, 102600); /* a fifth of that */
	}
	many = facts(w).srtt_us;
	assert_in_range(many, one, one + 60000);
	world_end(w);
}

/* STK-3 */
static void
test_rto_doubles_and_caps_ge_60s(void **state)
{
	struct rec_world *w = world_new(0);
	uint64_t want = SEC;
	int i;

	(void)state;
	world_send(w, 1);
	for (i = 0; i < 300; i++) {
		uint64_t before = w->now;

		assert_true(world_timer(w) & REC_EV_RTO);
		assert_int_equal(w->now - before, want);
		assert_int_equal(world_resend(w, NULL), 1);
		want = want * 2 > 64 * SEC ? 64 * SEC : want * 2;
	}
	assert_true(want >= 60 * SEC);
	assert_int_equal(w->r.timeouts, 300);
	assert_int_equal(w->r.backoff, 255);
	assert_int_equal(rec_rto_backed_off(&w->r, 2), 4 * SEC);
	assert_int_equal(facts(w).rto_us, 64000000);
	world_end(w);
}

/* STK-3 */
static void
test_rto_restart_on_new_ack(void **state)
{
	struct rec_world *w = world_new(0);

	(void)state;
	world_send(w, 3);
	assert_int_equal(rec_deadline(&w->r), w->now + SEC);
	w->now += 400 * MS;
	world_send(w, 1); /* sending more does not move it (RFC 6298 5.1) */
	assert_int_equal(rec_deadline(&w->r), w->now + 600 * MS);
	world_ack(w, 1);
	assert_int_equal(rec_deadline(&w->r), w->now + rec_rto(&w->r)); /* 5.3 */
	w->now += 10 * MS;
	world_ack(w, 1); /* not a new one */
	assert_int_equal(rec_deadline(&w->r), w->now - 10 * MS + rec_rto(&w->r));
	world_ack(w, 4);
	assert_int_equal(rec_deadline(&w->r), REC_NEVER); /* 5.2 */
	assert_int_equal(rec_timer(&w->r, w->now, 0), 0);
	world_end(w);
}

/* STK-3 */
static void
test_syn_rto_then_data_rto_3s_rule(void **state)
{
	struct rec_world *w = world_new(W_CLOSED);
	struct rec_open o = { .mss = MSS, .sack = true };
	struct rec_in in;
	struct rec_range g;

	(void)state;
	assert_int_equal(rec_sent(&w->r, w->now, ISS, ISS + 1), 0);
	assert_int_equal(rec_deadline(&w->r), w->now + SEC);
	assert_true(world_timer(w) & REC_EV_RTO);
	assert_true(rec_next(&w->r, w->now, MSS, ISS + 1, &g));
	assert_int_equal(g.seq, ISS);
	assert_int_equal(g.end, ISS + 1);
	assert_int_equal(rec_sent(&w->r, w->now, g.seq, g.end), 0);
	assert_int_equal(rec_deadline(&w->r), w->now + 2 * SEC);
	w->now += 20 * MS;
	in = world_in(w, 0);
	world_take(w, &in);
	assert_int_equal(w->out.acked, 1);
	assert_int_equal(w->out.rtt_us, 0);
	o.now = w->now;
	rec_open(&w->r, &o);
	assert_int_equal(rec_rto(&w->r), 3 * SEC);
	assert_int_equal(w->r.cc.cwnd, MSS); /* RFC 5681 3.1 */
	world_send(w, 1);
	w->now += 20 * MS;
	world_ack(w, 1);
	assert_true(rec_rto(&w->r) < SEC);
	world_end(w);
}

/* STK-3 */
static void
test_syn_acked_at_once_gives_sample_and_initial_window(void **state)
{
	struct rec_world *w = world_new(W_CLOSED);
	struct rec_open o = { .mss = 1460 };
	struct rec_in in;

	(void)state;
	assert_int_equal(rec_sent(&w->r, w->now, ISS, ISS + 1), 0);
	w->now += 30 * MS;
	in = world_in(w, 0);
	world_take(w, &in);
	assert_int_equal(w->out.rtt_us, 30000);
	rec_open(&w->r, &o);
	assert_int_equal(w->r.cc.cwnd, 14600);
	assert_true(rec_rto(&w->r) < SEC);
	world_end(w);
}

/* STK-3 */
static void
test_passive_open_takes_the_half_open_entrys_sample(void **state)
{
	struct rec_world *w = world_new(0);
	struct rec_open o = { .now = SEC, .iss = 5, .mss = 100000, .rtt_us = 40000, .passive = true };

	(void)state;
	rec_open(&w->r, &o);
	assert_int_equal(w->r.una, 6);
	assert_int_equal(facts(w).srtt_us, 40000);
	assert_int_equal(w->r.cc.mss, UINT16_MAX);
	o.syn_lost = true;
	rec_open(&w->r, &o);
	assert_int_equal(rec_rto(&w->r), 3 * SEC);
	assert_int_equal(w->r.cc.cwnd, UINT16_MAX);
	world_end(w);
}

/* STK-3 */
static void
test_lw_is_1_after_rto(void **state)
{
	struct rec_world *w = world_new(0);
	uint32_t first = 99;

	(void)state;
	world_send(w, 10);
	assert_int_equal(rec_can_send(&w->r, w->now), 0);
	assert_true(world_timer(w) & REC_EV_RTO);
	assert_int_equal(w->r.ca, REC_LOSS);
	assert_int_equal(w->r.cc.cwnd, MSS);
	assert_int_equal(w->r.cc.ssthresh, 5 * MSS);
	assert_int_equal(facts(w).segs_lost, 10);
	assert_int_equal(world_resend(w, &first), 1);
	assert_int_equal(first, 0);
	assert_int_equal(rec_can_send(&w->r, w->now), 0); /* nothing new before what is lost */
	/* slow start, one segment an ACK (RFC 3465 2.3), to ssthresh */
	w->now += 50 * MS;
	world_ack(w, 1);
	assert_int_equal(w->r.cc.cwnd, 2 * MSS);
	assert_int_equal(world_resend(w, &first), 2);
	assert_int_equal(first, 1);
	/* the same window's second timeout does not reduce ssthresh again */
	assert_true(world_timer(w) & REC_EV_RTO);
	assert_int_equal(w->r.cc.ssthresh, 5 * MSS);
	assert_int_equal(w->r.cc.cwnd, MSS);
	world_resend(w, NULL);
	world_ack(w, 10);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);
}

/* STK-3 */
static void
test_ssthresh_uses_flightsize_not_cwnd(void **state)
{
	struct rec_world *w = world_new(0);

	(void)state;
	w->r.cc.cwnd = 100 * MSS;
	world_send(w, 8);
	world_timer(w);
	assert_int_equal(w->r.cc.ssthresh, 4 * MSS);
	world_end(w);
	w = world_new(0);
	world_send(w, 1);
	world_timer(w);
	assert_int_equal(w->r.cc.ssthresh, 2 * MSS);
	world_end(w);
}

/* STK-3 */
static void
test_three_dupacks_strict_definition(void **state)
{
	struct rec_world *w = world_new(0);
	struct rec_in in;
	uint32_t first = 99;
	int i;

	(void)state;
	world_send(w, 10);
	w->now += 50 * MS;
	in = world_in(w, 0);
	in.flags = REC_IN_DATA;
	for (i = 0; i < 5; i++)
		world_take(w, &in);
	assert_int_equal(w->out.ev & REC_EV_DUPACK, 0);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_ack(w, 0);
	assert_true(w->out.ev & REC_EV_DUPACK);
	assert_int_equal(w->r.ca, REC_DISORDER);
	assert_int_equal(rec_can_send(&w->r, w->now), MSS); /* RFC 3042 */
	world_send(w, 1);
	world_ack(w, 0);
	assert_int_equal(rec_can_send(&w->r, w->now), MSS);
	world_send(w, 1);
	assert_int_equal(w->r.ca, REC_DISORDER);
	world_ack(w, 0);
	assert_true(w->out.ev & REC_EV_RECOVERY);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_int_equal(w->r.cc.ssthresh, 5 * MSS); /* without what limited transmit let out */
	assert_int_equal(facts(w).segs_lost, 1);
	assert_int_equal(world_resend(w, &first), 1);
	assert_int_equal(first, 0);
	/* nothing outstanding: no duplicate */
	world_ack(w, 12);
	assert_int_equal(w->r.ca, REC_OPEN);
	for (i = 0; i < 5; i++)
		world_ack(w, 12);
	assert_int_equal(w->out.ev, 0);
	world_end(w);
}

/* STK-3 */
static void
test_window_update_is_not_dupack(void **state)
{
	struct rec_world *w = world_new(0);
	struct rec_in in;
	int i;

	(void)state;
	world_send(w, 10);
	in = world_in(w, 0);
	in.flags = REC_IN_WINDOW;
	for (i = 0; i < 9; i++) {
		world_take(w, &in);
		assert_int_equal(w->out.ev, 0);
	}
	assert_int_equal(w->r.dupacks, 0);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);
}

/* STK-3 */
static void
test_newreno_partial_ack_retransmits_next_hole_and_recover_point_prevents_double_reduction(void **state)
{
	struct rec_world *w = world_new(0);
	uint32_t first = 99;
	uint32_t ss;
	int i;

	(void)state;
	world_burst(w, 10);
	w->now += 50 * MS;
	for (i = 0; i < 3; i++)
		world_ack(w, 0);
	ss = w->r.cc.ssthresh;
	assert_int_equal(world_resend(w, &first), 1);
	assert_int_equal(first, 0);
	w->now += 50 * MS;
	world_ack(w, 4); /* 4 is lost too */
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_int_equal(facts(w).segs_lost, 1);
	assert_int_equal(world_resend(w, &first), 1);
	assert_int_equal(first, 4);
	w->now += 50 * MS;
	world_ack(w, 10);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, ss);
	/* duplicates of the window that was recovered start nothing (RFC 6582 3.2 step 1) */
	world_send(w, 4);
	for (i = 0; i < 4; i++)
		world_ack(w, 10);
	assert_int_equal(w->r.ca, REC_DISORDER);
	assert_int_equal(w->r.cc.ssthresh, ss);
	/* beyond it they do */
	world_ack(w, 11);
	world_send(w, 2);
	for (i = 0; i < 3; i++)
		world_ack(w, 11);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	world_end(w);
}

/* STK-3, STK-8 */
static void
test_dupack_flood_lets_out_one_segment_each_at_most(void **state)
{
	struct rec_world *w = world_new(0);
	unsigned int sent = 0;
	uint32_t i;

	(void)state;
	world_send(w, 10);
	for (i = 1; i <= 1000; i++) {
		world_ack(w, 0);
		sent += world_resend(w, NULL) + world_fill(w);
		assert_in_range(sent, 0, i);
		assert_in_range(w->r.cc.cwnd, MSS, 11 * MSS);
	}
	world_end(w);
}

/* STK-3 */
static void
test_app_limited_cwnd_not_grown(void **state)
{
	struct rec_world *w = world_new(W_CUBIC);
	uint32_t cwnd;
	int i;

	(void)state;
	cwnd = w->r.cc.cwnd;
	for (i = 1; i < 200; i++) {
		world_send(w, 1);
		w->now += 10 * MS;
		world_ack(w, i);
	}
	assert_int_equal(w->r.cc.cwnd, cwnd);
	/* what fills the window opens it */
	world_fill(w);
	w->now += 10 * MS;
	world_ack(w, 209);
	assert_in_range(w->r.cc.cwnd, cwnd + 8 * MSS, cwnd + 10 * MSS);
	world_end(w);
}

/* STK-3 */
static void
test_idle_restart_window(void **state)
{
	struct rec_world *w = world_new(W_CUBIC);

	(void)state;
	w->r.cc.cwnd = 50 * MSS;
	assert_int_equal(rec_can_send(&w->r, w->now + 1000 * SEC), 50 * MSS); /* never sent: not idle */
	world_send(w, 2);
	w->now += 10 * MS;
	world_ack(w, 2);
	assert_int_equal(rec_can_send(&w->r, w->now + rec_rto(&w->r) - 10 * MS), 50 * MSS);
	w->now += rec_rto(&w->r) + 1;
	assert_int_equal(rec_can_send(&w->r, w->now), 10 * MSS);
	assert_int_equal(rec_can_send(&w->r, w->now), 10 * MSS);
	w->r.cc.cwnd = 3 * MSS; /* never raises it */
	w->now += 100 * SEC;
	assert_int_equal(rec_can_send(&w->r, w->now), 3 * MSS);
	world_end(w);
}

/* STK-3, STK-8 */
static void
test_acks_for_unsent_or_split_acks_do_not_inflate_cwnd(void **state)
{
	struct rec_world *w = world_new(0);
	struct rec_in in;
	uint32_t cwnd;
	uint32_t i;

	(void)state;
	cwnd = w->r.cc.cwnd;
	world_send(w, 10);
	w->now += 10 * MS;
	in = world_in(w, 11); /* optimistic */
	world_take(w, &in);
	assert_int_equal(w->out.acked, 0);
	in.ack = w->r.una - 1;
	world_take(w, &in);
	assert_int_equal(w->out.acked, 0);
	assert_int_equal(w->r.cc.cwnd, cwnd);
	in = world_in(w, 0);
	for (i = 1; i <= MSS; i++) { /* a segment in a thousand ACKs */
		in.ack = w->base + i;
		world_take(w, &in);
		assert_int_equal(w->out.acked, 1);
	}
	assert_int_equal(w->r.cc.cwnd, cwnd + MSS);
	assert_in_range(facts(w).records, 1, 11);
	world_ack(w, 10);
	assert_int_equal(w->r.cc.cwnd, cwnd + MSS + 8 * MSS); /* L */
	world_end(w);
}

/* STK-3 */
static void
test_frag_needed_lowers_mss_and_resends_without_cwnd_cut(void **state)
{
	struct rec_world *w = world_new(W_SACK);
	struct rec_range g;
	uint32_t bytes = 0;
	unsigned int n = 0;

	(void)state;
	rec_mtu_changed(&w->r, MSS, true); /* nothing in flight */
	world_send(w, 9);
	w->now += MS;
	assert_int_equal(rec_sent(&w->r, w->now, w->r.nxt, w->r.nxt + 300), 0);
	rec_mtu_changed(&w->r, 400, false);
	assert_false(rec_next(&w->r, w->now, 400, w->r.nxt, &g));
	rec_mtu_changed(&w->r, 400, true);
	assert_true(rec_check(&w->r));
	assert_int_equal(facts(w).bytes_lost, 9000);
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	assert_int_equal(w->r.cc.ssthresh, CC_SSTHRESH_INF);
	while (rec_next(&w->r, w->now, 400, w->r.nxt, &g)) {
		assert_in_range(g.end - g.seq, 1, 400);
		bytes += g.end - g.seq;
		n++;
		assert_int_equal(rec_sent(&w->r, w->now, g.seq, g.end), 0);
		assert_true(rec_check(&w->r));
	}
	assert_int_equal(bytes, 9000);
	assert_int_equal(n, 23); /* cut anew */
	w->now += 10 * MS;
	world_ack(w, 9);
	assert_int_equal(w->r.ca, REC_OPEN);
	rec_mtu_changed(&w->r, 20000, true);
	assert_int_equal(w->r.cc.cwnd, 20000);
	world_end(w);
}

/* STK-3 */
static void
test_shrunk_window_holds_back_what_is_lost(void **state)
{
	struct rec_world *w = world_new(0);
	struct rec_range g;

	(void)state;
	world_send(w, 3);
	world_timer(w);
	assert_false(rec_next(&w->r, w->now, MSS, w->r.una, &g));
	assert_true(rec_next(&w->r, w->now, MSS, w->r.una + 200, &g));
	assert_int_equal(g.end - g.seq, 200);
	assert_true(rec_next(&w->r, w->now, 100, w->r.nxt, &g));
	assert_int_equal(g.end - g.seq, 100);
	world_end(w);
}

/* STK-3 */
static void
test_wrong_ranges_are_refused(void **state)
{
	struct rec_world *w = world_new(0);

	(void)state;
	assert_int_equal(rec_sent(&w->r, w->now, w->base, w->base), -EINVAL);
	assert_int_equal(rec_sent(&w->r, w->now, w->base + 1, w->base + 2), -EINVAL);
	assert_int_equal(rec_sent(&w->r, w->now, w->base - 1, w->base), -EINVAL);
	world_send(w, 2);
	assert_int_equal(rec_sent(&w->r, w->now, w->base + MSS, w->base + 3 * MSS), -EINVAL);
	world_ack(w, 1);
	assert_int_equal(rec_sent(&w->r, w->now, w->base, w->base + MSS), -EINVAL);
	assert_int_equal(rec_sent(&w->r, w->now, w->base, w->base + 2 * MSS), 0); /* what is in flight of it */
	assert_int_equal(w->r.total_retrans, 1);
	world_end(w);
}

/* STK-3 */
static void
test_no_memory_tries_again_and_idle_holds_none(void **state)
{
	struct rec_world *w = world_new(0);

	(void)state;
	w->budget = 0;
	assert_int_equal(rec_sent(&w->r, w->now, w->base, w->base + MSS), -ENOMEM);
	assert_int_equal(w->r.nxt, w->base);
	assert_true(rec_deadline(&w->r) > w->now && rec_deadline(&w->r) < w->now + 100 * MS);
	assert_int_equal(world_timer(w), REC_EV_OUTPUT);
	assert_int_equal(rec_deadline(&w->r), REC_NEVER);
	w->budget = 1; /* the flight, and no record */
	assert_int_equal(rec_sent(&w->r, w->now, w->base, w->base + MSS), -ENOMEM);
	assert_null(w->r.fl);
	world_timer(w);
	w->budget = -1;
	world_send(w, 3);
	world_ack(w, 3);
	assert_null(w->r.fl);
	assert_int_equal(w->pool.segs_used, 0);
	assert_int_equal(w->pool.flights_used, 0);
	assert_int_equal(w->live, 2); /* kept for the next */
	world_end(w);
}

/* STK-3 */
static void
test_another_law_keeps_the_window(void **state)
{
	struct rec_world *w = world_new(0);

	(void)state;
	rec_cc_set(&w->r, &cc_cubic);
	assert_string_equal(w->r.cc.ops->name, "cubic");
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	world_end(w);
}

/* STK-3 */
static void
test_min_rtt_forgets_after_ten_minutes(void **state)
{
	struct rec_world *w = world_new(W_SACK);
	int i;

	(void)state;
	for (i = 1; i <= 700; i++) {
		world_send(w, 1);
		w->now += i == 1 ? 5 * MS : 20 * MS;
		world_ack(w, i);
		w->now += SEC;
		if (i == 200)
			assert_int_equal(facts(w).min_rtt_us, 5000);
	}
	assert_int_equal(facts(w).min_rtt_us, 20000);
	world_end(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rto_init_1s_min_bounds_first_sample_R_and_R_over_2),
		cmocka_unit_test(test_rto_minimum_and_granularity_hold_for_short_paths),
		cmocka_unit_test(test_karn_no_sample_from_retransmit),
		cmocka_unit_test(test_ts_sample_ok_after_retransmit),
		cmocka_unit_test(test_many_samples_a_round_trip_weigh_less),
		cmocka_unit_test(test_rto_doubles_and_caps_ge_60s),
		cmocka_unit_test(test_rto_restart_on_new_ack),
		cmocka_unit_test(test_syn_rto_then_data_rto_3s_rule),
		cmocka_unit_test(test_syn_acked_at_once_gives_sample_and_initial_window),
		cmocka_unit_test(test_passive_open_takes_the_half_open_entrys_sample),
		cmocka_unit_test(test_lw_is_1_after_rto),
		cmocka_unit_test(test_ssthresh_uses_flightsize_not_cwnd),
		cmocka_unit_test(test_three_dupacks_strict_definition),
		cmocka_unit_test(test_window_update_is_not_dupack),
		cmocka_unit_test(test_newreno_partial_ack_retransmits_next_hole_and_recover_point_prevents_double_reduction),
		cmocka_unit_test(test_dupack_flood_lets_out_one_segment_each_at_most),
		cmocka_unit_test(test_app_limited_cwnd_not_grown),
		cmocka_unit_test(test_idle_restart_window),
		cmocka_unit_test(test_acks_for_unsent_or_split_acks_do_not_inflate_cwnd),
		cmocka_unit_test(test_frag_needed_lowers_mss_and_resends_without_cwnd_cut),
		cmocka_unit_test(test_shrunk_window_holds_back_what_is_lost),
		cmocka_unit_test(test_wrong_ranges_are_refused),
		cmocka_unit_test(test_no_memory_tries_again_and_idle_holds_none),
		cmocka_unit_test(test_another_law_keeps_the_window),
		cmocka_unit_test(test_min_rtt_forgets_after_ten_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss recovery with SACK: the scoreboard, RACK, tail loss probes, PRR, ECN. */
#include "rec_world.h"

static struct rec_facts
facts(const struct rec_world *w)
{
	struct rec_facts f;

	rec_facts(&w->r, &f);
	return f;
}

/* A window of n segments in flight on a path of rtt ms whose time is known. */
static struct rec_world *
flying(unsigned int opts, unsigned int n, uint64_t rtt_ms)
{
	struct rec_world *w = world_new(opts);

	world_send(w, 1);
	w->now += rtt_ms * MS;
	world_ack(w, 1);
	w->base += MSS; /* numbers start anew */
	w->r.cc.cwnd = n * MSS;
	world_send(w, n);
	return w;
}

/* STK-3, STK-8 */
static void
test_sack_blocks_outside_una_nxt_or_inverted_ignored(void **state)
{
	struct rec_world *w = flying(W_SACK, 10, 50);
	const struct rec_range bad[] = {
		{ 10, 11 },   /* beyond nxt */
		{ 9, 11 },    /* across it */
		{ 5, 3 },     /* inverted */
		{ 4, 4 },     /* empty */
		{ 0, 3 },     /* begins at una: not a hole's end */
		{ 0x200000, 0x200001 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		world_sack(w, 0, bad[i].seq, bad[i].end);
		assert_int_equal(w->out.sacked, 0);
		assert_int_equal(facts(w).bytes_sacked, 0);
	}
	world_sack(w, 0, 3, 5);
	assert_int_equal(w->out.sacked, 2 * MSS);
	world_sack(w, 0, 3, 5); /* no news */
	assert_int_equal(w->out.sacked, 0);
	assert_int_equal(w->out.ev & REC_EV_DUPACK, 0);
	world_end(w);
}

/* STK-3, STK-8 */
static void
test_scoreboard_memory_bounded(void **state)
{
	struct rec_world *w = flying(W_SACK, 1, 50);
	struct rec_in in;
	uint32_t i;

	(void)state;
	world_ack(w, 1);
	w->base += MSS;
	w->r.cc.cwnd = 2000 * MSS;
	world_burst(w, 1000);
	assert_int_equal(facts(w).records, 1);
	/* fractions of segments divide nothing */
	in = world_in(w, 0);
	in.n_sack = 1;
	for (i = 1; i < 200; i++) {
		in.sack[0] = (struct rec_range){ w->base + i * MSS + 1, w->base + (i + 2) * MSS - 1 };
		world_take(w, &in);
		assert_int_equal(w->out.sacked, 0);
	}
	assert_int_equal(facts(w).records, 1);
	/* every second segment: as many records as segments, and not more than allowed */
	w->pool.cfg.max_segs = 100;
	for (i = 1; i < 999; i += 2)
		world_sack(w, 0, i, i + 1);
	assert_in_range(facts(w).records, 90, 101);
	/* the pool's bound, too */
	w->pool.cfg.max_segs = 8192;
	w->pool.cfg.pool_segs = 150;
	for (i = 1; i < 999; i += 2)
		world_sack(w, 0, i, i + 1);
	assert_in_range(w->pool.segs_used, 140, 151);
	/* neighbours of the same facts are one */
	w->pool.cfg.pool_segs = 262144;
	world_sack(w, 0, 1, 999);
	assert_int_equal(facts(w).records, 3);
	assert_int_equal(facts(w).segs_sacked, 998);
	world_ack(w, 1000);
	assert_int_equal(w->pool.segs_used, 0);
	world_end(w);
}

/* STK-3 */
static void
test_blocks_in_any_order_and_overlapping(void **state)
{
	struct rec_world *w = flying(W_SACK, 12, 50);
	struct rec_in in = world_in(w, 0);

	(void)state;
	w->now += 50 * MS;
	in.now = w->now;
	in.n_sack = 4;
	in.sack[0] = (struct rec_range){ w->base + 9 * MSS, w->base + 11 * MSS };
	in.sack[1] = (struct rec_range){ w->base + 2 * MSS, w->base + 4 * MSS };
	in.sack[2] = (struct rec_range){ w->base + 3 * MSS, w->base + 5 * MSS };
	in.sack[3] = (struct rec_range){ w->base + 6 * MSS, w->base + 7 * MSS };
	world_take(w, &in);
	assert_int_equal(w->out.sacked, 6 * MSS);
	assert_int_equal(facts(w).segs_sacked, 6);
	assert_false(w->r.reordering);
	assert_int_equal(w->out.rtt_us, 50000);
	/* 6 arrived: 0, 1, 5, 7, 8 were sent before and a round trip ago */
	assert_int_equal(facts(w).segs_lost, 5);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	world_end(w);
}

/* STK-3, STK-8 */
static void
test_sack_reneging_survived_after_rto(void **state)
{
	struct rec_world *w = flying(W_SACK, 10, 50);
	uint32_t first = 99;
	uint32_t n = 0;

	(void)state;
	world_sack(w, 0, 1, 10);
	world_ack(w, 1); /* and now the peer has thrown 1 to 9 away */
	assert_int_equal(facts(w).segs_sacked, 9);
	assert_int_equal(rec_pipe(&w->r), 0);
	assert_true(world_timer(w) & REC_EV_RENEGED);
	assert_int_equal(facts(w).segs_sacked, 0);
	assert_int_equal(facts(w).segs_lost, 9);
	for (n = 1; n < 10; n++) {
		world_resend(w, n == 1 ? &first : NULL);
		w->now += 50 * MS;
		world_ack(w, n + 1);
	}
	assert_int_equal(first, 1);
	assert_null(w->r.fl);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);
}

/* STK-3 */
static void
test_rack_marks_lost_by_time_not_count(void **state)
{
	struct rec_world *w = flying(W_SACK, 10, 40);
	uint64_t due;

	(void)state;
	/* one segment behind the hole: its round trip and a quarter of the least one must go by */
	w->now += 40 * MS;
	world_sack(w, 0, 1, 2);
	assert_int_equal(w->r.ca, REC_DISORDER);
	assert_int_equal(facts(w).reo_wnd_us, 10000);
	assert_int_equal(facts(w).segs_lost, 0);
	due = rec_deadline(&w->r);
	assert_int_equal(due, w->now + 10 * MS);
	assert_int_equal(rec_timer(&w->r, due - 1, 0), 0);
	assert_true(world_timer(w) & REC_EV_OUTPUT);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_int_equal(facts(w).segs_lost, 1);
	assert_in_range(world_resend(w, NULL), 1, 1);
	world_end(w);

	/* reordering seen: three segments behind a hole are not enough */
	w = flying(W_SACK, 10, 40);
	w->now += 40 * MS;
	world_sack(w, 0, 1, 2);
	w->now += MS;
	world_ack(w, 2); /* 0 came late */
	assert_true(w->r.reordering);
	assert_int_equal(w->r.reord_seen, 1);
	world_sack(w, 2, 3, 10);
	assert_int_equal(facts(w).segs_lost, 0);
	assert_int_equal(w->r.ca, REC_DISORDER);
	w->now += 3 * MS;
	world_ack(w, 10);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);

	/* and without reordering three are: as fast as duplicate ACKs ever were */
	w = flying(W_SACK, 10, 40);
	w->now += 40 * MS;
	world_sack(w, 0, 1, 2);
	world_sack(w, 0, 1, 3);
	assert_int_equal(w->r.ca, REC_DISORDER);
	world_sack(w, 0, 1, 4);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_true(w->out.ev & REC_EV_RACK_LOST);
	world_end(w);
}

/* STK-3 */
static void
test_rack_finds_lost_retransmission(void **state)
{
	struct rec_world *w = flying(W_SACK, 10, 40);
	uint32_t first = 99;

	(void)state;
	w->now += 40 * MS;
	world_sack(w, 0, 1, 10);
	assert_int_equal(world_resend(w, &first), 1);
	w->now += MS;
	world_fill(w); /* 10 and on, after the retransmission */
	w->now += 45 * MS;
	world_sack(w, 0, 1, 11); /* they arrive, it did not */
	assert_int_equal(facts(w).segs_lost, 1);
	assert_int_equal(world_resend(w, &first), 1);
	assert_int_equal(first, 0);
	assert_int_equal(w->r.total_retrans, 2);
	world_end(w);
}

/* STK-3 */
static void
test_reo_wnd_adapts_on_dsack(void **state)
{
	struct rec_world *w = flying(W_SACK, 10, 40);
	struct rec_in in;
	uint32_t i;

	(void)state;
	w->r.reordering = true;
	assert_int_equal(facts(w).reo_wnd_us, 10000);
	in = world_in(w, 0);
	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base - MSS, w->base };
	world_take(w, &in);
	assert_true(w->out.ev & REC_EV_DSACK);
	assert_int_equal(w->r.dsacks, 1);
	assert_int_equal(facts(w).reo_wnd_us, 20000);
	world_take(w, &in); /* once a round trip */
	assert_int_equal(facts(w).reo_wnd_us, 20000);
	w->now += 40 * MS;
	world_ack(w, 10);
	for (i = 0; i < 400; i++) { /* never more than a round trip */
		world_send(w, 1);
		w->now += 40 * MS;
		in.now = w->now;
		in.ack = w->r.nxt;
		world_take(w, &in);
	}
	assert_int_equal(w->r.reo_mult, 64);
	assert_in_range(facts(w).reo_wnd_us, 39000, 41000);
	/* sixteen recoveries without one, and it is narrow again */
	for (i = 0; i < 16; i++) {
		w->base = w->r.nxt;
		w->r.cc.cwnd = 10 * MSS;
		world_send(w, 10);
		w->now += 40 * MS;
		world_sack(w, 0, 1, 10);
		assert_true(world_timer(w) & REC_EV_OUTPUT);
		assert_int_equal(w->r.ca, REC_RECOVERY);
		world_resend(w, NULL);
		w->now += 60 * MS;
		world_ack(w, 10);
	}
	assert_int_equal(w->r.reo_mult, 1);
	world_end(w);
}

/* STK-3 */
static void
test_tlp_probe_after_2srtt_single(void **state)
{
	struct rec_world *w = flying(W_SACK, 5, 40);
	struct rec_range g;

	(void)state;
	assert_int_equal(rec_deadline(&w->r), w->now + 80 * MS);
	assert_int_equal(world_timer(w), REC_EV_TLP | REC_EV_OUTPUT);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_true(rec_next(&w->r, w->now, MSS, w->r.nxt, &g));
	assert_int_equal(g.seq, w->base + 4 * MSS); /* the last one */
	assert_true(rec_next(&w->r, w->now, 300, w->r.nxt, &g));
	assert_int_equal(g.seq, w->base + 5 * MSS - 300);
	assert_int_equal(world_resend(w, NULL), 1);
	/* then the RTO, from now, and no second probe */
	assert_int_equal(rec_deadline(&w->r), w->now + rec_rto(&w->r));
	assert_true(world_timer(w) & REC_EV_RTO);
	world_end(w);

	/* one segment alone: the peer may delay its ACK */
	w = flying(W_SACK, 1, 40);
	assert_int_equal(rec_deadline(&w->r), w->now + 280 * MS);
	/* new data is the better probe, whatever the window */
	w->unsent = 1;
	world_timer(w);
	assert_false(rec_next(&w->r, w->now, MSS, w->r.nxt, &g));
	assert_int_equal(rec_can_send(&w->r, w->now), MSS);
	world_send(w, 1);
	assert_int_equal(rec_can_send(&w->r, w->now), 0);
	assert_true(w->r.tlp_out);
	w->now += 40 * MS;
	world_ack(w, 2);
	assert_false(w->r.tlp_out);
	assert_int_equal(w->out.ev & REC_EV_TLP_RECOVERED, 0);
	world_end(w);
}

/* STK-3 */
static void
test_tlp_is_not_armed_where_it_may_not_be(void **state)
{
	struct rec_world *w = flying(0, 5, 40); /* no SACK */

	(void)state;
	assert_int_equal(rec_deadline(&w->r), w->now + rec_rto(&w->r));
	world_end(w);
	w = flying(W_SACK, 5, 40);
	w->now += 40 * MS;
	world_sack(w, 0, 3, 4); /* a hole: RACK's business */
	world_timer(w);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_int_equal(w->r.fl->tlp_at, REC_NEVER);
	world_end(w);
	w = world_new(W_SACK);
	w->pool.cfg.no_tlp = true;
	world_send(w, 2);
	assert_true(world_timer(w) & REC_EV_RTO);
	world_end(w);
	/* the tail arrived before the probe left, or lies beyond the peer's window */
	w = flying(W_SACK, 5, 40);
	world_timer(w);
	world_sack(w, 0, 4, 5);
	assert_int_equal(world_resend(w, NULL), 0);
	assert_false(w->r.tlp_now);
	world_end(w);
}

/* STK-3 */
static void
test_tlp_detects_loss_repair(void **state)
{
	struct rec_world *w = flying(W_SACK, 5, 40);
	struct rec_in in;

	(void)state;
	/* the last one was lost, the probe took its place: the window is reduced when something later is acknowledged */
	w->now += 40 * MS;
	world_ack(w, 4);
	world_timer(w);
	world_resend(w, NULL);
	w->now += 40 * MS;
	world_ack(w, 5);
	assert_true(w->r.tlp_out);
	w->r.cc.cwnd = 10 * MSS;
	world_send(w, 10);
	w->now += 40 * MS;
	world_ack(w, 15);
	assert_true(w->out.ev & REC_EV_TLP_RECOVERED);
	assert_true(w->out.ev & REC_EV_REDUCED);
	assert_int_equal(w->r.cc.cwnd, 5 * MSS);
	assert_int_equal(w->r.ca, REC_CWR);
	world_end(w);

	/* both arrived and the peer says so */
	w = flying(W_SACK, 5, 40);
	world_timer(w);
	world_resend(w, NULL);
	world_ack(w, 5);
	in = world_in(w, 5);
	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base + 4 * MSS, w->base + 5 * MSS };
	world_take(w, &in);
	assert_false(w->r.tlp_out);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);

	/* or says nothing, and acknowledges twice */
	w = flying(W_SACK, 5, 40);
	world_timer(w);
	world_resend(w, NULL);
	world_ack(w, 5);
	world_ack(w, 5);
	assert_false(w->r.tlp_out);
	world_end(w);
}

/* STK-3 */
static void
test_prr_bytes_out_never_exceeds_delivered_proportion(void **state)
{
	struct rec_world *w = flying(W_SACK, 20, 40);
	uint32_t sent = 0;
	uint32_t got = 0;
	uint32_t i;

	(void)state;
	w->now += 40 * MS;
	for (i = 2; i <= 20; i++) {
		world_sack(w, 0, 1, i);
		if (w->r.ca == REC_RECOVERY) {
			got++;
			sent += world_resend(w, NULL) + world_fill(w);
			assert_int_equal(facts(w).prr_out, sent * MSS);
			assert_int_equal(facts(w).prr_delivered, got * MSS);
			/* one for the fast retransmit, then half of what arrives */
			assert_in_range(sent * MSS, 0, (got * MSS * 10 + 19 * MSS) / 20 + MSS);
		}
	}
	assert_int_equal(w->r.cc.ssthresh, 10 * MSS);
	assert_in_range(sent, 8, 10);
	world_end(w);
}

/* STK-3 */
static void
test_cwnd_after_recovery_equals_ssthresh(void **state)
{
	struct rec_world *w = flying(W_SACK | W_CUBIC, 20, 40);
	uint32_t i;

	(void)state;
	w->now += 40 * MS;
	for (i = 2; i <= 20; i++) {
		world_sack(w, 0, 1, i);
		world_resend(w, NULL);
		world_fill(w);
	}
	assert_int_equal(w->r.cc.ssthresh, 14 * MSS);
	w->now += 40 * MS;
	world_ack(w, (w->r.nxt - w->base) / MSS);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, 14 * MSS);
	world_end(w);
}

/* STK-3 */
static void
test_window_is_a_segment_at_least_though_segments_grew_in_recovery(void **state)
{
	struct rec_world *w = flying(W_SACK, 4, 40);

	(void)state;
	w->now += 40 * MS;
	world_sack(w, 0, 1, 4);
	assert_int_equal(w->r.cc.ssthresh, 2 * MSS);
	world_resend(w, NULL);
	rec_mtu_changed(&w->r, 9000, false);
	w->now += 40 * MS;
	world_ack(w, 4);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, 9000);
	world_end(w);
}

/* STK-3 */
static void
test_prr_with_heavy_loss_grows_back_to_ssthresh(void **state)
{
	struct rec_world *w = flying(W_SACK, 20, 40);
	uint32_t una;

	(void)state;
	w->now += 40 * MS;
	world_sack(w, 0, 17, 20); /* 0 to 16 are lost */
	assert_int_equal(facts(w).segs_lost, 17);
	assert_in_range(world_resend(w, NULL), 1, 3);
	for (una = 1; una < 20; una++) { /* every ACK lets one or two out */
		w->now += 5 * MS;
		world_ack(w, una < 17 ? una : 20);
		assert_true(world_resend(w, NULL) <= 2);
		if (una >= 17)
			break;
	}
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	assert_int_equal(w->r.total_retrans, 17);
	world_end(w);
}

/* STK-3 */
static void
test_one_ecn_reduction_per_window(void **state)
{
	struct rec_world *w = flying(W_SACK, 10, 40);
	struct rec_in in;
	uint32_t i;

	(void)state;
	for (i = 1; i <= 10; i++) {
		in = world_in(w, i);
		in.flags = REC_IN_ECE;
		world_take(w, &in);
		assert_int_equal((w->out.ev & REC_EV_REDUCED) != 0, i == 1);
		assert_int_equal(w->r.ca, REC_CWR);
	}
	assert_int_equal(w->r.cc.cwnd, 5 * MSS);
	world_fill(w);
	in = world_in(w, 11); /* CWR has not reached the peer when this one was sent; it is of the next window */
	world_take(w, &in);
	assert_int_equal(w->r.ca, REC_OPEN);
	in = world_in(w, 12);
	in.flags = REC_IN_ECE;
	world_take(w, &in);
	assert_true(w->out.ev & REC_EV_REDUCED);
	world_end(w);

	/* and a loss in that window reduces nothing more */
	w = flying(W_SACK, 10, 40);
	w->now += 40 * MS;
	in = world_in(w, 1);
	in.flags = REC_IN_ECE;
	world_take(w, &in);
	world_sack(w, 1, 2, 10);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_int_equal(w->out.ev & REC_EV_REDUCED, 0);
	assert_int_equal(w->r.cc.ssthresh, 5 * MSS);
	world_end(w);
}

/* STK-3 */
static void
test_partial_cumulative_ack_keeps_segment_boundaries(void **state)
{
	struct rec_world *w = flying(W_SACK, 1, 40);
	struct rec_in in;

	(void)state;
	world_ack(w, 1);
	w->base += MSS;
	w->r.cc.cwnd = 10 * MSS;
	world_burst(w, 10);
	in = world_in(w, 0);
	in.ack += 250;
	world_take(w, &in);
	assert_int_equal(w->out.acked, 250);
	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base + 3 * MSS, w->base + 6 * MSS };
	world_take(w, &in);
	assert_int_equal(w->out.sacked, 3 * MSS);
	/* without memory the record is only cut */
	w->pool.cfg.max_segs = 0;
	in.ack += 250;
	in.n_sack = 0;
	world_take(w, &in);
	assert_int_equal(w->out.acked, 250);
	world_end(w);
}

/* STK-3, STK-8 */
static void
test_without_records_to_spare_sending_goes_on(void **state)
{
	struct rec_world *w = flying(W_SACK, 1, 40);
	struct rec_range g;
	uint32_t i;

	(void)state;
	world_ack(w, 1);
	w->base += MSS;
	w->r.cc.cwnd = 30 * MSS;
	w->pool.cfg.max_segs = 2;
	for (i = 0; i < 20; i++) { /* each at a time of its own: but for the bound, twenty records */
		w->now += MS;
		world_send(w, 1);
	}
	assert_int_equal(rec_sent(&w->r, w->now, w->r.nxt, w->r.nxt + 100), 0);
	assert_int_equal(facts(w).records, 2);
	world_sack(w, 0, 15, 20); /* can not be told apart */
	assert_int_equal(w->out.sacked, 0);
	world_timer(w);
	world_resend(w, NULL);
	world_timer(w);
	assert_int_equal(w->r.ca, REC_LOSS);
	assert_true(rec_next(&w->r, w->now, MSS, w->r.nxt, &g));
	assert_in_range(world_resend(w, NULL), 1, 20);
	world_sack(w, 0, 1, 20);
	w->now += 40 * MS;
	world_ack(w, 20);
	/* the tail is known to have arrived: what follows needs a record whatever the bound */
	w->pool.cfg.max_segs = 3;
	w->r.cc.cwnd = 30 * MSS;
	w->base = w->r.nxt;
	world_send(w, 1);
	w->now += MS;
	world_send(w, 1);
	w->now += MS;
	world_sack(w, 0, 1, 2);
	w->pool.cfg.max_segs = 2;
	world_send(w, 1);
	assert_in_range(facts(w).records, 3, 4);
	world_end(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sack_blocks_outside_una_nxt_or_inverted_ignored),
		cmocka_unit_test(test_scoreboard_memory_bounded),
		cmocka_unit_test(test_blocks_in_any_order_and_overlapping),
		cmocka_unit_test(test_sack_reneging_survived_after_rto),
		cmocka_unit_test(test_rack_marks_lost_by_time_not_count),
		cmocka_unit_test(test_rack_finds_lost_retransmission),
		cmocka_unit_test(test_reo_wnd_adapts_on_dsack),
		cmocka_unit_test(test_tlp_probe_after_2srtt_single),
		cmocka_unit_test(test_tlp_is_not_armed_where_it_may_not_be),
		cmocka_unit_test(test_tlp_detects_loss_repair),
		cmocka_unit_test(test_prr_bytes_out_never_exceeds_delivered_proportion),
		cmocka_unit_test(test_cwnd_after_recovery_equals_ssthresh),
		cmocka_unit_test(test_window_is_a_segment_at_least_though_segments_grew_in_recovery),
		cmocka_unit_test(test_prr_with_heavy_loss_grows_back_to_ssthresh),
		cmocka_unit_test(test_one_ecn_reduction_per_window),
		cmocka_unit_test(test_partial_cumulative_ack_keeps_segment_boundaries),
		cmocka_unit_test(test_without_records_to_spare_sending_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions that were for nothing: Eifel, F-RTO, D-SACK; and those that were not. */
#include "rec_world.h"

static struct rec_world *
flying(unsigned int opts, unsigned int n)
{
	struct rec_world *w = world_new(opts);

	w->r.cc.cwnd = n * MSS;
	world_send(w, n);
	w->unsent = 100 * MSS;
	return w;
}

static void
ack_echo(struct rec_world *w, uint32_t seg, uint64_t echo)
{
	struct rec_in in = world_in(w, seg);

	in.flags = REC_IN_TS;
	in.ecr_ns = echo - echo % MS;
	world_take(w, &in);
}

/* STK-3 */
static void
test_eifel_undo_on_spurious_rto(void **state)
{
	struct rec_world *w = flying(W_TS | W_CUBIC, 10);
	uint64_t t0 = w->now;

	(void)state;
	assert_true(world_timer(w) & REC_EV_RTO);
	world_resend(w, NULL);
	w->now += 20 * MS;
	ack_echo(w, 1, t0); /* the original's */
	assert_true(w->out.ev & REC_EV_RTO_SPURIOUS);
	assert_true(w->out.ev & REC_EV_UNDO);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	assert_int_equal(w->r.cc.ssthresh, CC_SSTHRESH_INF);
	assert_int_equal(world_resend(w, NULL), 0); /* nothing is lost any more */
	assert_in_range(w->out.rtt_us, 1000000, 1030000); /* and the path is known to be slow */
	world_end(w);

	/* the retransmission's timestamp: the loss was real */
	w = flying(W_TS, 10);
	world_timer(w);
	world_resend(w, NULL);
	t0 = w->now;
	w->now += 20 * MS;
	ack_echo(w, 1, t0);
	assert_int_equal(w->r.ca, REC_LOSS);
	w->r.frto = 0;
	ack_echo(w, 2, SEC); /* an old one after that proves nothing */
	assert_int_equal(w->out.ev & REC_EV_UNDO, 0);
	world_end(w);
}

/* STK-3 */
static void
test_echo_brought_forth_by_a_duplicate_is_no_sample(void **state)
{
	struct rec_world *w = flying(W_TS, 2);
	uint64_t t1;

	(void)state;
	world_timer(w);
	world_resend(w, NULL);
	t1 = w->now; /* this one arrives, its ACK does not */
	world_timer(w);
	world_resend(w, NULL);
	w->now += 20 * MS;
	ack_echo(w, 1, t1);
	assert_int_equal(w->out.acked, MSS);
	assert_int_equal(w->out.rtt_us, 0); /* or every timeout would be longer than the one before */
	assert_int_equal(w->out.ev & REC_EV_UNDO, 0);
	world_end(w);

	/* a D-SACK says so outright */
	w = flying(W_TS | W_SACK, 2);
	t1 = w->now;
	w->now += 20 * MS;
	ack_echo(w, 1, t1);
	w->unsent = 0;
	world_timer(w);
	assert_int_equal(world_resend(w, NULL), 1); /* a probe */
	{
		struct rec_in in = world_in(w, 2);

		in.flags = REC_IN_TS;
		in.ecr_ns = t1;
		in.n_sack = 1;
		in.sack[0] = (struct rec_range){ w->base + MSS, w->base + 2 * MSS };
		world_take(w, &in);
	}
	assert_true(w->out.ev & REC_EV_DSACK);
	assert_int_equal(w->out.rtt_us, 0);
	world_end(w);
}

/* STK-3 */
static void
test_eifel_undo_of_fast_recovery_on_reordering(void **state)
{
	struct rec_world *w = flying(W_TS | W_SACK, 10);
	uint64_t t0 = w->now;

	(void)state;
	w->now += 40 * MS;
	world_sack(w, 0, 1, 5);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	assert_int_equal(world_resend(w, NULL), 1);
	w->now += 5 * MS;
	ack_echo(w, 5, t0); /* 0 was only late */
	assert_true(w->out.ev & REC_EV_UNDO);
	assert_int_equal(w->out.ev & REC_EV_RTO_SPURIOUS, 0);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	world_end(w);
}

/* STK-3 */
static void
test_frto_undo_on_spurious_rto(void **state)
{
	struct rec_world *w = flying(0, 10);

	(void)state;
	world_timer(w);
	assert_int_equal(world_resend(w, NULL), 1);
	w->now += 20 * MS;
	world_ack(w, 1); /* step 2: new data, no retransmissions */
	assert_int_equal(world_resend(w, NULL), 0);
	assert_int_equal(world_fill(w), 2);
	world_ack(w, 2); /* step 3: it was sent once */
	assert_true(w->out.ev & REC_EV_RTO_SPURIOUS);
	assert_int_equal(w->r.ca, REC_OPEN);
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	assert_int_equal(world_resend(w, NULL), 0);
	world_ack(w, 12);
	world_end(w);

	/* with SACK: an original arrives behind a hole */
	w = flying(W_SACK, 10);
	world_timer(w); /* a probe */
	world_resend(w, NULL);
	world_timer(w);
	world_resend(w, NULL);
	w->now += 20 * MS;
	world_ack(w, 1);
	assert_int_equal(world_fill(w), 2);
	world_sack(w, 1, 3, 4);
	assert_true(w->out.ev & REC_EV_RTO_SPURIOUS);
	assert_int_equal(w->r.ca, REC_DISORDER);
	world_end(w);
}

/* STK-3 */
static void
test_frto_sees_real_losses(void **state)
{
	struct rec_world *w = flying(0, 10);

	(void)state;
	world_timer(w);
	world_resend(w, NULL);
	world_ack(w, 0); /* a duplicate first */
	world_ack(w, 1);
	assert_int_equal(world_resend(w, NULL), 2);
	world_end(w);

	w = flying(0, 10);
	w->r.cc.cwnd = 40 * MSS;
	world_timer(w);
	world_resend(w, NULL);
	world_ack(w, 1);
	assert_int_equal(world_fill(w), 2);
	w->r.cc.cwnd = 10 * MSS;
	world_ack(w, 1); /* the new data arrived, the old did not */
	assert_int_equal(w->out.ev & REC_EV_UNDO, 0);
	assert_int_equal(w->r.cc.cwnd, 3 * MSS);
	assert_int_equal(w->r.ca, REC_LOSS);
	assert_in_range(world_resend(w, NULL), 1, 3);
	world_end(w);

	/* nothing new to send: as ever */
	w = flying(0, 10);
	w->unsent = 0;
	world_timer(w);
	world_resend(w, NULL);
	world_ack(w, 1);
	assert_int_equal(world_resend(w, NULL), 2);
	world_end(w);

	/* an ACK that tells nothing leaves the question open */
	w = flying(0, 10);
	world_timer(w);
	world_resend(w, NULL);
	{
		struct rec_in in = world_in(w, 0);

		in.flags = REC_IN_WINDOW;
		world_take(w, &in);
	}
	assert_int_equal(w->r.frto, 2);
	world_ack(w, 10); /* everything at once: nobody knows which */
	assert_int_equal(w->out.ev & REC_EV_UNDO, 0);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);
}

/* STK-3: SACK was agreed on, but nothing that comes carries a block (RFC 5682 3.1 step 3a) */
static void
test_plain_dupacks_end_frto_although_sack_was_agreed(void **state)
{
	struct rec_world *w = flying(W_SACK, 10);
	uint32_t first = 0;

	(void)state;
	world_timer(w); /* a probe */
	world_resend(w, NULL);
	assert_true(world_timer(w) & REC_EV_RTO);
	assert_int_equal(world_resend(w, NULL), 1);
	w->now += 20 * MS;
	world_ack(w, 1);
	assert_int_equal(world_fill(w), 2);
	assert_int_equal(w->r.backoff, 1);
	w->now += 20 * MS;
	world_ack(w, 1);
	assert_int_equal(w->out.ev & REC_EV_UNDO, 0);
	assert_int_equal(w->r.ca, REC_LOSS);
	assert_int_equal(w->r.cc.cwnd, 3 * MSS);
	assert_int_equal(w->r.backoff, 0); /* the timeout was right, and what was sent after it arrived */
	assert_int_equal(world_resend(w, &first), 1); /* at once, not at the next timeout */
	assert_int_equal(first, 1);
	world_ack(w, 1); /* the other's */
	w->now += 20 * MS;
	world_ack(w, 2); /* slow start goes on */
	assert_true(world_resend(w, &first) >= 2);
	assert_int_equal(first, 2);
	world_end(w);
}

/* STK-3: RFC 8961 4: something never sent twice was acknowledged, if not timed: the back-off ends */
static void
test_backoff_ends_with_data_sent_once(void **state)
{
	struct rec_world *w = flying(0, 4);

	(void)state;
	w->unsent = 0;
	world_timer(w);
	world_resend(w, NULL);
	world_timer(w);
	world_resend(w, NULL);
	assert_int_equal(w->r.backoff, 2);
	w->now += 20 * MS;
	world_ack(w, 1); /* which of three it is for, nobody knows (Karn) */
	assert_int_equal(w->r.backoff, 2);
	world_resend(w, NULL);
	w->now += 20 * MS;
	world_ack(w, 3);
	assert_int_equal(world_resend(w, NULL), 1); /* the last */
	world_send(w, 1);
	w->now += 20 * MS;
	world_ack(w, 4); /* as little is known of this one */
	assert_int_equal(w->r.backoff, 2);
	world_timer(w);
	assert_int_equal(world_resend(w, NULL), 1);
	world_send(w, 1);
	assert_int_equal(w->r.backoff, 3);
	w->now += 20 * MS;
	world_ack(w, 6); /* both at once: no sample, but the second was sent once */
	assert_int_equal(w->out.rtt_us, 0);
	assert_int_equal(w->r.backoff, 0);
	world_end(w);
}

/* STK-3 */
static void
test_dsack_for_all_that_was_sent_again_undoes(void **state)
{
	struct rec_world *w = flying(W_SACK | W_CUBIC, 10);
	struct rec_in in;

	(void)state;
	w->now += 40 * MS;
	world_sack(w, 0, 2, 6);
	assert_int_equal(world_resend(w, NULL), 2);
	w->now += 5 * MS;
	in = world_in(w, 6);
	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base, w->base + MSS };
	world_take(w, &in);
	assert_int_equal(w->r.ca, REC_RECOVERY); /* one of two */
	in = world_in(w, 6);
	in.n_sack = 2; /* told inside the second block, too */
	in.sack[0] = (struct rec_range){ w->base + 7 * MSS, w->base + 8 * MSS };
	in.sack[1] = (struct rec_range){ w->base + 7 * MSS, w->base + 9 * MSS };
	world_take(w, &in);
	assert_true(w->out.ev & REC_EV_DSACK);
	assert_true(w->out.ev & REC_EV_UNDO);
	assert_int_equal(w->r.ca, REC_DISORDER);
	assert_int_equal(w->r.cc.cwnd, 10 * MSS);
	world_end(w);
}

/* STK-3, STK-8 */
static void
test_false_dsacks_undo_nothing(void **state)
{
	struct rec_world *w = flying(W_SACK, 10);
	struct rec_in in;
	int i;

	(void)state;
	world_ack(w, 1);
	w->now += 40 * MS;
	world_sack(w, 1, 2, 6);
	world_resend(w, NULL);
	in = world_in(w, 1);
	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base, w->base + MSS }; /* before the episode */
	for (i = 0; i < 20; i++)
		world_take(w, &in);
	assert_int_equal(w->r.ca, REC_RECOVERY);
	in.sack[0] = (struct rec_range){ w->base + 0x70000000, w->base }; /* nonsense */
	world_take(w, &in);
	assert_int_equal(w->out.ev & REC_EV_DSACK, 0);
	in.sack[0] = (struct rec_range){ w->base, w->base };
	world_take(w, &in);
	assert_int_equal(w->out.ev & REC_EV_DSACK, 0);
	/* with nothing in flight they are only counted */
	world_ack(w, 10);
	in = world_in(w, 10);
	in.n_sack = 1;
	in.sack[0] = (struct rec_range){ w->base, w->base + MSS };
	world_take(w, &in);
	assert_int_equal(w->out.ev, REC_EV_DSACK);
	world_end(w);
}

/* STK-3 */
static void
test_rto_in_recovery_reduces_once(void **state)
{
	struct rec_world *w = flying(W_SACK, 10);

	(void)state;
	w->now += 40 * MS;
	world_sack(w, 0, 1, 6);
	assert_int_equal(w->r.cc.ssthresh, 5 * MSS);
	world_resend(w, NULL);
	assert_true(world_timer(w) & REC_EV_RTO);
	assert_int_equal(w->r.ca, REC_LOSS);
	assert_int_equal(w->r.cc.ssthresh, 5 * MSS);
	world_resend(w, NULL);
	w->now += 40 * MS;
	world_ack(w, 10);
	assert_int_equal(w->r.ca, REC_OPEN);
	world_end(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eifel_undo_on_spurious_rto),
		cmocka_unit_test(test_echo_brought_forth_by_a_duplicate_is_no_sample),
		cmocka_unit_test(test_eifel_undo_of_fast_recovery_on_reordering),
		cmocka_unit_test(test_frto_undo_on_spurious_rto),
		cmocka_unit_test(test_frto_sees_real_losses),
		cmocka_unit_test(test_plain_dupacks_end_frto_although_sack_was_agreed),
		cmocka_unit_test(test_backoff_ends_with_data_sent_once),
		cmocka_unit_test(test_dsack_for_all_that_was_sent_again_undoes),
		cmocka_unit_test(test_false_dsacks_undo_nothing),
		cmocka_unit_test(test_rto_in_recovery_reduces_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

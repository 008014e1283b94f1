/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loss recovery against a peer that says anything at any time: seeded, after each step everything that must hold is
 * looked at.
 */
#include "rec_world.h"

struct rng {
	uint64_t x;
};

static uint32_t
draw(struct rng *g, uint32_t below)
{
	g->x ^= g->x << 13;
	g->x ^= g->x >> 7;
	g->x ^= g->x << 17;
	return (uint32_t)((g->x >> 11) % below);
}

static uint32_t
place(const struct rec_world *w, struct rng *g)
{
	uint32_t flight = w->r.nxt - w->r.una;

	switch (draw(g, 8)) {
	case 0:
		return w->r.una - draw(g, 5000);
	case 1:
		return w->r.nxt + draw(g, 5000);
	case 2:
		return (uint32_t)g->x;
	case 3:
		return w->r.una;
	default: /* mostly on boundaries */
		return w->r.una + draw(g, flight + 1) / (draw(g, 3) == 0 ? 1 : MSS) * (draw(g, 3) == 0 ? 1 : MSS);
	}
}

static void
hold(const struct rec_world *w)
{
	struct rec_facts f;

	rec_facts(&w->r, &f);
	assert_true(rec_check(&w->r));
	assert_true(f.pipe <= w->r.nxt - w->r.una);
	assert_int_equal(f.records, w->pool.segs_used);
	assert_true(w->r.cc.cwnd >= w->r.cc.mss && w->r.cc.cwnd <= CC_CWND_MAX);
	assert_true(w->r.cc.ssthresh >= 2 * 100);
	assert_int_equal(w->r.fl == NULL, w->r.una == w->r.nxt);
	assert_true(w->r.una == w->r.nxt || rec_deadline(&w->r) != REC_NEVER); /* nothing in flight is ever forgotten */
	assert_true(f.segs_sacked + f.segs_lost <= f.segs_out);
	assert_true(f.rto_us <= 64000000);
}

static void
any_ack(struct rec_world *w, struct rng *g)
{
	struct rec_in in = { .now = w->now, .flags = REC_IN_TS, .unsent = draw(g, 3) * MSS };
	uint32_t before = w->r.cc.cwnd;
	uint32_t room = w->r.nxt - w->r.una;
	unsigned int i;

	if (draw(g, 4) == 0)
		in.flags = (uint8_t)draw(g, 16);
	in.ack = draw(g, 3) == 0 ? w->r.una : place(w, g);
	in.ecr_ns = draw(g, 4) == 0 ? g->x : w->now - draw(g, 200) * MS;
	in.n_sack = (uint8_t)draw(g, REC_SACK_MAX + 1);
	for (i = 0; i < in.n_sack; i++) {
		in.sack[i].seq = place(w, g);
		in.sack[i].end = draw(g, 4) == 0 ? place(w, g) : in.sack[i].seq + (1 + draw(g, 5)) * MSS;
	}
	rec_ack(&w->r, &in, &w->out);
	assert_true(w->out.acked <= room);
	assert_true(w->out.acked + w->out.sacked <= room);
	/* one ACK opens it by L segments or by what the law allows a window, but for the end of an episode */
	if ((w->out.ev & REC_EV_UNDO) == 0 && w->r.ca <= REC_DISORDER)
		assert_true(w->r.cc.cwnd <= (before + 8u * w->r.cc.mss) * 3 / 2 || w->r.cc.cwnd == w->r.cc.ssthresh);
}

static void
any_output(struct rec_world *w, struct rng *g)
{
	struct rec_range r;
	unsigned int n = 0;
	uint32_t room;

	while (n++ < 50 && rec_next(&w->r, w->now, (1 + draw(g, 3)) * w->r.cc.mss, w->r.nxt - draw(g, 2) * draw(g, 3000), &r)) {
		assert_true(seq_le(w->r.una, r.seq) && seq_lt(r.seq, r.end) && seq_le(r.end, w->r.nxt));
		if (draw(g, 16) == 0)
			return; /* the engine had no buffer */
		assert_int_equal(rec_sent(&w->r, w->now, r.seq, r.end), 0);
	}
	room = rec_can_send(&w->r, w->now);
	while (room > 0 && n++ < 60) {
		uint32_t len = 1 + draw(g, 4 * w->r.cc.mss);
		int ret;

		if (draw(g, 2) == 0 && len > w->r.cc.mss)
			len = len / w->r.cc.mss * w->r.cc.mss;
		if (len > room)
			len = room;
		if (w->r.nxt - w->r.una > 400 * MSS)
			break;
		ret = rec_sent(&w->r, w->now, w->r.nxt, w->r.nxt + len);
		if (ret != 0) {
			assert_int_equal(w->budget, 0);
			break;
		}
		if (draw(g, 4) == 0)
			w->now += draw(g, 1000000);
		room = rec_can_send(&w->r, w->now);
	}
}

static void
any_step(struct rec_world *w, struct rng *g)
{
	uint32_t records = w->pool.segs_used;

	switch (draw(g, 40)) {
	case 0:
		rec_mtu_changed(&w->r, 100 + draw(g, 1500), draw(g, 2) != 0);
		break;
	case 1:
		rec_cc_set(&w->r, draw(g, 2) != 0 ? &cc_cubic : &cc_newreno);
		break;
	case 2:
		w->budget = (int)draw(g, 3) - 1;
		break;
	case 3:
		w->pool.cfg.max_segs = 2 + draw(g, 400);
		break;
	case 4:
		w->now += draw(g, 3) * SEC;
		break;
	case 5: /* whatever the engine thinks it sent */
		rec_sent(&w->r, w->now, place(w, g), place(w, g));
		break;
	default:
		any_ack(w, g);
		w->now += draw(g, 20000000);
		break;
	}
	hold(w);
	if (rec_deadline(&w->r) <= w->now)
		rec_timer(&w->r, w->now, draw(g, 2));
	else if (draw(g, 6) == 0 && rec_deadline(&w->r) != REC_NEVER)
		world_timer(w);
	hold(w);
	any_output(w, g);
	hold(w);
	if (records < w->pool.cfg.max_segs)
		records = w->pool.cfg.max_segs;
	assert_in_range(w->pool.segs_used, 0, records + 2); /* beyond the bound only what can not be told otherwise */
	w->pool.cfg.max_segs = 8192;
}

/* STK-3, STK-8 */
static void
test_any_acks_in_any_order_keep_the_records_right(void **state)
{
	uint64_t seed;
	int i;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		struct rec_world *w = world_new((unsigned int)seed % 8);
		struct rng g = { seed * 0x9e3779b97f4a7c15ull };

		for (i = 0; i < 600; i++)
			any_step(w, &g);
		/* and an honest ACK ends it */
		w->budget = -1;
		{
			struct rec_in in = { .now = w->now, .ack = w->r.nxt };

			rec_ack(&w->r, &in, &w->out);
		}
		assert_null(w->r.fl);
		assert_int_equal(w->pool.segs_used, 0);
		world_end(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_acks_in_any_order_keep_the_records_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion and recovery end to end: what goes out after which ACKs (RFC 5681, 6582, 2018, 2883, 6675, 3042, 8985, 3168). */
#include "peer.h"

/* Takes all that is out; the number of segments, and the bytes of those with data. */
static unsigned int
take(struct world *w, uint32_t *bytes)
{
	struct seg s;
	unsigned int n = 0;

	if (bytes != NULL)
		*bytes = 0;
	while (world_get(w, &s)) {
		n++;
		if (bytes != NULL)
			*bytes += s.len;
	}
	return n;
}

/* An ACK with SACK blocks, relative edges in pairs. */
static void
sack(struct peer *p, uint32_t ack, unsigned int n, const uint32_t (*b)[2])
{
	struct seg s = { .flags = A, .seq = p->iss + p->nxt, .ack = p->irs + ack, .win = p->win, .nopts = (uint8_t)(4 + 8 * n) };

	memcpy(s.opts, "\x01\x01\x05", 3);
	s.opts[3] = (uint8_t)(2 + 8 * n);
	for (unsigned int i = 0; i < n; i++) {
		put_be32(s.opts + 4 + 8 * i, p->irs + b[i][0]);
		put_be32(s.opts + 8 + 8 * i, p->irs + b[i][1]);
	}
	peer_send_abs(p, &s);
}

static void
sack1(struct peer *p, uint32_t ack, uint32_t from, uint32_t to)
{
	const uint32_t b[1][2] = { { from, to } };

	sack(p, ack, 1, b);
}

/* STK-3: checklist 38 */
static void
test_iw10_max_14600(void **state)
{
	struct world *w = *state;
	struct app *l, *a;
	struct peer p;
	uint32_t n;

	a = open_plain(w, &p);
	assert_int_equal(app_write(w, a, 30000), 30000);
	assert_int_equal(take(w, &n), 10);
	assert_int_equal(n, 10000);
	app_abort(w, a);
	fx_tx_clear(w->f);
	assert_int_equal(stack_if_mtu_set(w->s, w->f->nif, 1500), 0);
	l = app_listen(w, 81, 5);
	peer_init(w, &p, 4000, 81, 1000);
	a = peer_open(&p, l, "\x02\x04\x05\xb4", 4);
	assert_int_equal(app_write(w, a, 30000), 30000);
	take(w, &n);
	assert_in_range(n, 10u * w->mss - w->mss, 14600);
	knob(w, TCP_KNOB_INITCWND, 2);
	peer_init(w, &p, 4001, 81, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	assert_int_equal(app_write(w, a, 30000), 30000);
	take(w, &n);
	assert_int_equal(n, 2000);
}

/* STK-3: checklist 38 */
static void
test_lw_is_1_after_rto_and_ssthresh_uses_flightsize(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a;
	uint32_t n;

	knob(w, TCP_KNOB_CUBIC, 0);
	a = open_plain(w, &p);
	assert_int_equal(app_write(w, a, 4000), 4000); /* four of ten segments of window are used */
	take(w, &n);
	world_wait(w, 1000);
	fx_tx_clear(w->f);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.cwnd, 1000);
	assert_int_equal(t.ssthresh, 2000); /* half of what was in flight, not of the window */
	assert_int_equal(t.ca, TCP_CA_LOSS);
}

/* STK-3: checklist 39 */
static void
test_three_dupacks_strict_definition(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a;

	knob(w, TCP_KNOB_RTO_MIN, 5000);
	a = open_plain(w, &p);
	assert_int_equal(app_write(w, a, 6000), 6000);
	take(w, NULL);
	p.win = 65534; /* each changes the window */
	for (unsigned int i = 0; i < 6; i++, p.win--)
		peer_raw(&p, A, 1, 1, 0);
	world_quiet(w);
	for (unsigned int i = 0; i < 6; i++) /* each carries data */
		peer_data(&p, 10);
	while (fx_tx_count(w->f) > 0) {
		struct seg s;

		assert_true(world_get(w, &s));
		assert_int_equal(s.len, 0);
	}
	peer_raw(&p, A, p.nxt, 1, 0); /* may be an update of the window; now it stays */
	for (unsigned int i = 0; i < 2; i++)
		peer_raw(&p, A, p.nxt, 1, 0);
	peer_raw(&p, A, p.nxt, 1, 0);
	peer_see(&p, A, 1, 1000, p.nxt);
	assert_int_equal(events(w, TCP_EV_FAST_RECOVERY), 1);
}

/* STK-3: checklist 40 */
static void
test_newreno_partial_ack_retransmits_next_hole_and_recover_point_prevents_double_reduction(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a;
	uint32_t ssthresh;

	knob(w, TCP_KNOB_CUBIC, 0);
	knob(w, TCP_KNOB_RTO_MIN, 5000);
	a = open_plain(w, &p);
	assert_int_equal(app_write(w, a, 10000), 10000);
	take(w, NULL);
	for (unsigned int i = 0; i < 3; i++)
		peer_raw(&p, A, 1, 1, 0);
	peer_see(&p, A, 1, 1000, 1);
	tcp_facts(w->s, a->p, &t);
	ssthresh = t.ssthresh;
	assert_int_equal(ssthresh, 5000);
	assert_int_equal(t.ca, TCP_CA_RECOVERY);
	peer_ack(&p, 3001); /* partial */
	peer_see(&p, A, 3001, 1000, 1);
	for (unsigned int i = 0; i < 5; i++)
		peer_raw(&p, A, 1, 3001, 0); /* no second reduction below the recovery point */
	take(w, NULL);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.ssthresh, ssthresh);
	peer_ack(&p, 10001);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.ssthresh, ssthresh);
	assert_true(t.cwnd <= ssthresh + 1000);
	assert_true(t.ca == TCP_CA_OPEN || t.ca == TCP_CA_DISORDER);
	assert_int_equal(events(w, TCP_EV_FAST_RECOVERY), 1);
}

/* STK-3: checklist 41 */
static void
test_sack_blocks_first_is_most_recent_max_3_with_ts(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);
	struct peer p;
	struct seg s;

	peer_init(w, &p, 4000, 80, 1000);
	peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	for (uint32_t i = 1; i <= 5; i++) {
		peer_raw(&p, A | P, 1 + i * 2000, 1, 1000);
		peer_expect(&p, A, 1, 0, 1, &s);
		assert_int_equal(s.nsack, i < 3 ? i : 3);
		for (unsigned int k = 0; k < s.nsack; k++) {
			assert_int_equal(s.sack[k][0] - p.iss, 1 + (i - k) * 2000);
			assert_int_equal(s.sack[k][1] - s.sack[k][0], 1000);
		}
	}
}

/* STK-3: checklist 41 */
static void
test_dsack_reported_first(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_sack(w, &p);
	struct seg s;

	peer_data(&p, 1000);
	peer_raw(&p, A | P, 2001, 1, 1000);
	take(w, NULL);
	peer_raw(&p, A | P, 1, 1, 1000); /* old */
	peer_expect(&p, A, 1, 0, 1001, &s);
	assert_true(s.nsack >= 1);
	assert_int_equal(s.sack[0][0] - p.iss, 1);
	assert_int_equal(s.sack[0][1] - p.iss, 1001);
	peer_raw(&p, A | P, 2501, 1, 500); /* held already */
	peer_expect(&p, A, 1, 0, 1001, &s);
	assert_int_equal(s.nsack, 2);
	assert_int_equal(s.sack[0][0] - p.iss, 2501);
	assert_int_equal(s.sack[0][1] - p.iss, 3001);
	assert_int_equal(s.sack[1][0] - p.iss, 2001);
	assert_int_equal(s.sack[1][1] - p.iss, 3001);
	assert_int_equal(app_drain(w, a), 1000);
}

/* STK-3: checklist 41 */
static void
test_sack_reneging_survived_after_rto(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_sack(w, &p);
	struct seg s;
	uint32_t una = 1;

	assert_int_equal(app_write(w, a, 6000), 6000);
	take(w, NULL);
	sack1(&p, 1, 3001, 6001); /* and then throws it away */
	for (unsigned int i = 0; i < 400 && una < 6001; i++) {
		world_wait(w, 50);
		while (world_get(w, &s))
			if (s.seq - p.irs == una && s.len > 0)
				una += s.len > 1000 ? 1000 : s.len;
		peer_ack(&p, una);
	}
	assert_int_equal(una, 6001);
	assert_int_equal(tcp_unacked(a->p), 0);
}

/* STK-3, STK-8: checklist 42 */
static void
test_sack_blocks_outside_una_nxt_or_inverted_ignored(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a;

	knob(w, TCP_KNOB_RTO_MIN, 5000);
	a = open_sack(w, &p);
	assert_int_equal(app_write(w, a, 5000), 5000);
	take(w, NULL);
	peer_ack(&p, 1001);
	take(w, NULL);
	sack1(&p, 1001, 5001, 9001);          /* never sent */
	sack1(&p, 1001, 4001, 0x40000000u);   /* ends beyond */
	sack1(&p, 1001, 3001, 2001);          /* inverted */
	sack1(&p, 1001, 2001, 2001);          /* empty */
	sack1(&p, 1001, 0x80000000u, 1);      /* far away */
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.sacked, 0);
	assert_int_equal(t.lost, 0);
	assert_int_equal(tcp_unacked(a->p), 4000);
	peer_ack(&p, 5001);
	assert_int_equal(tcp_unacked(a->p), 0);
}

/* STK-3, STK-8: checklist 42: thousands of tiny blocks in a full flight (the class of CVE-2019-11477) */
static void
test_sack_flood(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_sack(w, &p);
	unsigned int before = shim_pool_avail(w->f->shim, w->f->pool), out = 0;
	struct seg s;
	uint32_t una = 1, x = 7;

	assert_int_equal(app_write(w, a, 30000), 30000);
	out = take(w, NULL);
	for (unsigned int i = 0; i < 5000; i++) {
		uint32_t b[4][2];

		for (unsigned int k = 0; k < 4; k++) {
			x = x * 1664525u + 1013904223u;
			b[k][0] = 2 + (x >> 8) % 9990;
			b[k][1] = b[k][0] + 1 + (x >> 28);
		}
		sack(&p, 1, 4, b);
		out += take(w, NULL);
	}
	assert_true(shim_pool_avail(w->f->shim, w->f->pool) + 200 > before);
	assert_in_range(out, 10, 400); /* no flood in answer */
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	for (unsigned int i = 0; i < 2000 && una < 30001; i++) {
		peer_ack(&p, una);
		while (world_get(w, &s))
			if ((int32_t)(s.seq - p.irs - una) <= 0 && (int32_t)(s.seq - p.irs + s.len - una) > 0)
				una = s.seq - p.irs + s.len;
		world_wait(w, 50);
	}
	assert_int_equal(una, 30001);
}

/* STK-3: checklist 43 */
static void
test_tlp_probe_after_2srtt_single(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a;
	struct seg s;
	unsigned int n = 0;

	knob(w, TCP_KNOB_RTO_MIN, 2000);
	a = open_sack(w, &p);
	assert_int_equal(app_write(w, a, 3000), 3000);
	take(w, NULL);
	world_quiet_for(w, 190);
	world_wait(w, 20);
	peer_see(&p, A | P, 2001, 1000, 1);
	for (unsigned int i = 0; i < 170; i++) { /* only one until the timeout */
		world_wait(w, 10);
		while (world_get(w, &s))
			n++;
	}
	assert_int_equal(n, 0);
	assert_int_equal(events(w, TCP_EV_TLP_PROBE), 1);
	sack1(&p, 1, 2001, 3001); /* the probe's answer shows the loss */
	world_wait(w, 150);
	peer_see(&p, A, 1, 1000, 1);
}

/* STK-3: checklist 43 */
static void
test_rack_marks_lost_by_time_not_count(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a;
	struct tcp_facts t;

	knob(w, TCP_KNOB_RTO_MIN, 5000);
	a = open_sack(w, &p);
	assert_int_equal(app_write(w, a, 1000), 1000);
	peer_see(&p, A | P, 1, 1000, 1);
	world_wait(w, 50);
	assert_int_equal(app_write(w, a, 1000), 1000);
	peer_see(&p, A | P, 1001, 1000, 1);
	world_wait(w, 100);
	sack1(&p, 1, 1001, 2001); /* sent 50 ms later and already there: lost, by time, with one block only */
	world_wait(w, 60);
	peer_see(&p, A, 1, 1000, 1);
	assert_true(events(w, TCP_EV_RACK_LOST) >= 1);
	peer_ack(&p, 2001);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.total_retrans, 1);
}

/* STK-3: checklist 44 */
static void
test_cwnd_after_recovery_equals_ssthresh(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a;

	knob(w, TCP_KNOB_CUBIC, 0);
	knob(w, TCP_KNOB_RTO_MIN, 5000);
	a = open_sack(w, &p);
	assert_int_equal(app_write(w, a, 10000), 10000);
	take(w, NULL);
	world_wait(w, 100);
	for (uint32_t i = 2; i < 10; i++) {
		sack1(&p, 1, 1001, i * 1000 + 1);
		take(w, NULL);
	}
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.ca, TCP_CA_RECOVERY);
	assert_int_equal(t.ssthresh, 5000);
	world_wait(w, 100);
	peer_ack(&p, 10001);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.ca, TCP_CA_OPEN);
	assert_in_range(t.cwnd, 1000, 6000);
}

/* STK-3: checklist 46 */
static void
test_ecn_setup_and_fallback_on_syn_loss(void **state)
{
	struct world *w = *state;
	struct app *a;
	struct seg s;
	bool plain = false;

	knob(w, TCP_KNOB_ECN, 1);
	a = app_connect(w, 4000);
	assert_true(world_get(w, &s));
	assert_int_equal(s.flags, S | E | C);
	assert_int_equal(s.tos & 3, 0);
	for (unsigned int i = 0; i < 40 && !plain; i++) {
		world_wait(w, 1000);
		while (world_get(w, &s))
			plain |= s.flags == S;
	}
	assert_true(plain); /* in the end it is tried without */
	assert_int_equal(fsm(a), TCP_SYN_SENT);
}

/* STK-3: checklist 46, 47: RFC 3168 6.1.2 */
static void
test_new_data_says_cwr_after_a_timeout_unless_it_was_spurious(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	struct seg s, first, again;

	for (unsigned int spurious = 0; spurious < 2; spurious++) {
		peer_init(w, &p, (uint16_t)(4000 + spurious), 80, 1000);
		peer_syn(&p, S | E | C, "\x02\x04\x03\xe8\x01\x01\x08\x0a\x00\x00\x02\xbc\x00\x00\x00\x00", 16); /* mss, TS 700 */
		peer_expect(&p, S | A | E, 0, 0, 1, &s);
		assert_true(s.ts);
		p.ts = true;
		p.tsval = 800;
		p.tsecr = s.tsval;
		world_wait(w, 100);
		peer_ack(&p, 1);
		a = app_accept(w, l);
		assert_non_null(a);
		assert_int_equal(app_write(w, a, 500), 500);
		assert_true(world_get(w, &first));
		for (unsigned int i = 0; i < 200 && !world_get(w, &again); i++)
			world_wait(w, 10);
		assert_int_equal(again.seq, first.seq);
		assert_int_equal(again.flags & C, 0); /* never on what is sent again */
		p.tsecr = spurious ? first.tsval : again.tsval;
		world_wait(w, 10);
		peer_ack(&p, 501);
		assert_int_equal(events(w, TCP_EV_RTO_SPURIOUS), spurious);
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(app_write(w, a, 500), 500);
			assert_true(world_get(w, &s));
			assert_int_equal(s.tos & 3, 2);
			assert_int_equal((s.flags & C) != 0, i == 0 && !spurious);
			peer_ack(&p, 1001 + 500 * i);
		}
	}
}

/* STK-3: checklist 46 */
static void
test_ece_latched_until_cwr_and_one_reduction_per_window(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts t;
	struct peer p;
	struct seg s;
	uint32_t cwnd;

	peer_init(w, &p, 4000, 80, 1000);
	peer_syn(&p, S | E | C, MSS_1000, LEN(MSS_1000));
	peer_see(&p, S | A | E, 0, 0, 1);
	world_wait(w, 100);
	peer_ack(&p, 1);
	a = app_accept(w, l);
	assert_non_null(a);
	tcp_facts(w->s, a->p, &t);
	assert_true(t.ecn);
	assert_int_equal(app_write(w, a, 10000), 10000);
	while (world_get(w, &s))
		assert_int_equal(s.tos & 3, 2);
	world_wait(w, 50);
	peer_raw(&p, A | E, 1, 1001, 0);
	tcp_facts(w->s, a->p, &t);
	cwnd = t.ssthresh;
	assert_true(cwnd < 10000);
	peer_raw(&p, A | E, 1, 2001, 0);
	peer_raw(&p, A | E, 1, 3001, 0);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.ssthresh, cwnd); /* once per window */
	assert_true(events(w, TCP_EV_ECN_ECE) >= 1);
	peer_raw(&p, A, 1, 10001, 0);
	take(w, NULL);
	assert_int_equal(app_write(w, a, 100), 100);
	assert_true(world_get(w, &s));
	assert_true((s.flags & C) != 0);
	peer_raw(&p, A, 1, 10101, 0);
	assert_int_equal(app_write(w, a, 100), 100);
	assert_true(world_get(w, &s));
	assert_true((s.flags & C) == 0);
}

/* STK-3: checklist 47 */
static void
test_app_limited_cwnd_not_grown(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a;

	knob(w, TCP_KNOB_CUBIC, 0);
	a = open_plain(w, &p);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(app_write(w, a, 100), 100);
		take(w, NULL);
		world_wait(w, 20);
		peer_ack(&p, 101 + i * 100);
	}
	tcp_facts(w->s, a->p, &t);
	assert_in_range(t.cwnd, 9000, 12000);
}

/* STK-3: checklist 47 */
static void
test_idle_restart_window(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint32_t una = 1, n;

	for (unsigned int i = 0; i < 4; i++) { /* the window grows */
		assert_int_equal(app_write(w, a, 30000), 30000);
		for (unsigned int k = 0; k < 10; k++) {
			take(w, &n);
			una += n;
			world_wait(w, 50);
			peer_ack(&p, una);
		}
	}
	assert_int_equal(una, 120001);
	world_wait(w, 60000);
	assert_int_equal(app_write(w, a, 30000), 30000);
	take(w, &n);
	assert_in_range(n, 1000, 10000); /* after idling no burst beyond the initial window */
}

/* STK-3, STK-8: checklist 48 */
static void
test_acks_for_unsent_or_split_acks_do_not_inflate_cwnd(void **state)
{
	struct world *w = *state;
	struct tcp_facts t;
	struct peer p;
	struct app *a;

	knob(w, TCP_KNOB_CUBIC, 0);
	a = open_plain(w, &p);
	assert_int_equal(app_write(w, a, 10000), 10000);
	take(w, NULL);
	world_wait(w, 50);
	for (uint32_t i = 1; i <= 1000; i += 1)
		peer_raw(&p, A, 1, 1 + i, 0); /* a thousand ACKs of one byte each */
	tcp_facts(w->s, a->p, &t);
	assert_in_range(t.cwnd, 10000, 12000);
	for (uint32_t i = 0; i < 100; i++)
		peer_raw(&p, A, 1, 20001 + i, 0);
	tcp_facts(w->s, a->p, &t);
	assert_in_range(t.cwnd, 10000, 12000);
	fx_tx_clear(w->f);
}

/* STK-3: checklist 47: the ACKs were only late; their timestamps show it, and the reduction is taken back */
static void
test_frto_or_eifel_undo_on_spurious_rto(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts before, after;
	uint32_t first;
	struct peer p;
	struct seg s;

	knob(w, TCP_KNOB_CUBIC, 0);
	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, OPTS_ALL, LEN(OPTS_ALL));
	assert_int_equal(app_write(w, a, 9880), 9880);
	assert_true(world_get(w, &s));
	first = s.tsval;
	take(w, NULL);
	tcp_facts(w->s, a->p, &before);
	world_wait(w, 900); /* the timeout strikes */
	fx_tx_clear(w->f);
	tcp_facts(w->s, a->p, &after);
	assert_int_equal(after.ca, TCP_CA_LOSS);
	p.tsecr = first; /* the ACKs of the originals arrive */
	for (uint32_t i = 1; i <= 10; i++) {
		p.tsval++;
		peer_ack(&p, 1 + i * 988);
		fx_tx_clear(w->f);
		p.tsecr = first;
	}
	tcp_facts(w->s, a->p, &after);
	assert_true(events(w, TCP_EV_RTO_SPURIOUS) >= 1);
	assert_true(after.cwnd >= before.cwnd);
	assert_int_equal(after.ca, TCP_CA_OPEN);
	assert_int_equal(after.snd_una - after.iss, 9881);
}

/* STK-3: SACK was agreed and no block ever comes: the peer keeps nothing, or something on the way strips them */
static void
test_sack_agreed_but_no_block_ever_sent(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_sack(w, &p);
	uint32_t una = 1, got = 0;
	unsigned int ms = 0;
	struct seg s;

	assert_int_equal(app_write(w, a, 30000), 30000);
	for (; una < 30001 && ms < 60000; ms += 5) {
		while (world_get(w, &s)) {
			if (s.len == 0)
				continue;
			if (s.seq - p.irs == una && ++got % 7 != 0)
				una += s.len;
			peer_ack(&p, una);
		}
		world_wait(w, 5);
	}
	assert_int_equal(una, 30001);
	assert_in_range(ms, 0, 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_iw10_max_14600),
		T46(test_lw_is_1_after_rto_and_ssthresh_uses_flightsize),
		T46(test_three_dupacks_strict_definition),
		T46(test_newreno_partial_ack_retransmits_next_hole_and_recover_point_prevents_double_reduction),
		T46(test_sack_blocks_first_is_most_recent_max_3_with_ts),
		T46(test_dsack_reported_first),
		T46(test_sack_reneging_survived_after_rto),
		T46(test_sack_blocks_outside_una_nxt_or_inverted_ignored),
		T46(test_sack_flood),
		T46(test_tlp_probe_after_2srtt_single),
		T46(test_rack_marks_lost_by_time_not_count),
		T46(test_cwnd_after_recovery_equals_ssthresh),
		T46(test_ecn_setup_and_fallback_on_syn_loss),
		T46(test_new_data_says_cwr_after_a_timeout_unless_it_was_spurious),
		T46(test_ece_latched_until_cwr_and_one_reduction_per_window),
		T46(test_app_limited_cwnd_not_grown),
		T46(test_idle_restart_window),
		T46(test_acks_for_unsent_or_split_acks_do_not_inflate_cwnd),
		T46(test_frto_or_eifel_undo_on_spurious_rto),
		T46(test_sack_agreed_but_no_block_ever_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

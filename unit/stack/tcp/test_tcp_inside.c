/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's inside: tables, options, cookies, chains out of order, and memory that is not there. */
#include <sys/socket.h>

#include "core/stack/tcp/tcp_priv.h"
#include "unit/stack/fixture.h"

#define SO ((struct socket *)(uintptr_t)16)

void __wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t events);
void
__wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t events)
{
	(void)s;
	(void)so;
	(void)events;
}

/* How many slots hold obj where a search from hash finds it? */
static bool
found(const struct tcp_table *t, uint64_t hash, const void *obj)
{
	for (uint32_t i = (uint32_t)hash & t->mask; t->v[i].obj != NULL; i = (i + 1) & t->mask)
		if (t->v[i].obj == obj)
			return true;
	return false;
}

/* STK-3 */
static void
table_finds_everything_after_any_removals(void **state)
{
	struct fx *f = *state;
	static char obj[500];
	struct tcp_table t;
	unsigned int n = 0;

	assert_int_equal(tcp_table_init(f->s, &t, 8), 0);
	for (unsigned int i = 0; i < 500; i++, n++) /* many of them collide, some at the table's end */
		assert_int_equal(tcp_table_add(f->s, &t, i % 3 == 0 ? UINT64_MAX : i * 5, &obj[i]), 0);
	for (unsigned int i = 0; i < 500; i += 1 + i % 2) {
		tcp_table_del(&t, i % 3 == 0 ? UINT64_MAX : i * 5, &obj[i]);
		obj[i] = 1;
		n--;
	}
	tcp_table_del(&t, 77, &n); /* not in it */
	assert_int_equal(t.count, n);
	for (unsigned int i = 0; i < 500; i++)
		assert_int_equal(found(&t, i % 3 == 0 ? UINT64_MAX : i * 5, &obj[i]), obj[i] == 0);
	tcp_table_release(f->s, &t);
}

/* STK-3 */
static void
table_that_can_not_grow_refuses_when_it_is_full(void **state)
{
	struct fx *f = *state;
	struct tcp_table t;
	char obj[8];
	int err = 0;
	unsigned int n = 0;

	assert_int_equal(tcp_table_init(f->s, &t, 8), 0);
	for (unsigned int i = 0; i < 8 && err == 0; i++, n += err == 0) {
		mock_fail_malloc_at(f->shim, 1);
		err = tcp_table_add(f->s, &t, i, &obj[i]);
		mock_script_clear(f->shim);
	}
	assert_int_equal(err, -ENOMEM);
	assert_int_equal(n, 7);
	assert_true(found(&t, 3, &obj[3]));
	tcp_table_release(f->s, &t);
}

/* STK-8: checklist 21 */
static void
options_malformed_in_any_way_are_survived(void **state)
{
	static const uint8_t all[] = { 2, 4, 5, 180, 1, 3, 3, 20, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2 };
	uint8_t b[40];
	struct tcp_opts o;
	uint32_t seed = 1;

	(void)state;
	tcp_opts_parse(all, sizeof(all), true, &o);
	assert_true(o.mss && o.wscale && o.sack_ok && o.ts);
	assert_int_equal(o.mss_val, 1460);
	assert_int_equal(o.shift, 14);
	assert_int_equal(o.tsval, 1);
	assert_int_equal(o.tsecr, 2);
	tcp_opts_parse(all, sizeof(all), false, &o);
	assert_true(!o.mss && !o.wscale && !o.sack_ok && o.ts);
	tcp_opts_parse(all, 7, true, &o); /* the scale is cut short */
	assert_true(o.mss && !o.wscale);
	for (unsigned int k = 0; k < 20000; k++) {
		for (unsigned int i = 0; i < sizeof(b); i++) {
			seed = seed * 1664525 + 1013904223;
			b[i] = (uint8_t)(seed >> 24) % ((k & 1) != 0 ? 11 : 255);
		}
		tcp_opts_parse(b, k % 41, (k & 2) != 0, &o);
		assert_true(o.nb_sack <= TCP_SACK_MAX && o.shift <= TCP_WSCALE_MAX);
	}
}

/* STK-3 */
static void
syn_options_stand_in_freebsds_order_or_linuxs(void **state)
{
	static const uint8_t bsd[] = { 2, 4, 5, 180, 1, 3, 3, 6, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9 };
	static const uint8_t lin[] = { 2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 3, 3, 6 };
	static const uint8_t lin_no_ts[] = { 2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 6 };
	struct tcp_syn_opts o = { .mss = 1460, .shift = 6, .wscale = true, .sack = true, .ts = true, .tsval = 7, .tsecr = 9 };
	struct tcp_opts back;
	uint8_t b[TCP_OPT_MAX];

	(void)state;
	assert_int_equal(tcp_emit_syn(b, &o), sizeof(bsd));
	assert_memory_equal(b, bsd, sizeof(bsd));
	o.linux_order = true;
	assert_int_equal(tcp_emit_syn(b, &o), sizeof(lin));
	assert_memory_equal(b, lin, sizeof(lin));
	o.ts = false;
	assert_int_equal(tcp_emit_syn(b, &o), sizeof(lin_no_ts));
	assert_memory_equal(b, lin_no_ts, sizeof(lin_no_ts));
	for (unsigned int i = 0; i < 16; i++) { /* every set of them is read back */
		o.linux_order = (i & 1) != 0;
		o.wscale = (i & 2) != 0;
		o.sack = (i & 4) != 0;
		o.ts = (i & 8) != 0;
		tcp_opts_parse(b, tcp_emit_syn(b, &o), true, &back);
		assert_true(back.mss && back.wscale == o.wscale && back.sack_ok == o.sack && back.ts == o.ts);
	}
}

static struct tcp_seg
seg_of(const struct ip_rx *rx, uint32_t seq, uint32_t ack)
{
	struct tcp_seg g = { .rx = rx, .sport_be = be16(4000), .dport_be = be16(80), .seq = seq, .ack = ack, .flags = TCP_ACK, .wnd = 900 };

	return g;
}

/* STK-3: checklist 19 */
static void
cookie_carries_mss_and_with_timestamps_the_options(void **state)
{
	struct fx *f = *state;
	struct ip_rx rx = { .src = fx_a4("10.0.0.2"), .dst = fx_a4("10.0.0.1"), .family = ADDR_INET, .nif = f->nif };
	struct tcp_seg g = seg_of(&rx, 5001, 0);
	struct tcp_half h = { .irs = 5000, .peer_mss = 1400, .ts = true, .wscale = true, .shift = 9, .sack = true }, back;
	uint32_t tsval = 100, cookie;

	tcp_key_of(&g, &h.key);
	cookie = tcp_cookie_make(f->s, &h, &tsval);
	assert_true((int32_t)(100 - tsval) >= 0 && 100 - tsval < 128);
	g.ack = cookie + 1;
	g.o.ts = true;
	g.o.tsecr = tsval;
	assert_true(tcp_cookie_check(f->s, &g, &back));
	assert_int_equal(back.peer_mss, 1360);
	assert_true(back.wscale && back.sack && back.ts && !back.ecn);
	assert_int_equal(back.shift, 9);
	g.o.tsecr ^= 1; /* other options than it was made for */
	assert_false(tcp_cookie_check(f->s, &g, &back));
	g.o.tsecr ^= 1;
	g.seq++;
	assert_false(tcp_cookie_check(f->s, &g, &back));
	g.seq--;
	for (unsigned int bit = 0; bit < 32; bit++) { /* no other number will do */
		g.ack = (cookie ^ 1u << bit) + 1;
		assert_false(tcp_cookie_check(f->s, &g, &back));
	}
	g.ack = cookie + 1;
	fx_advance(f, 60 * FX_NS);
	assert_true(tcp_cookie_check(f->s, &g, &back));
	fx_advance(f, 140 * FX_NS);
	assert_false(tcp_cookie_check(f->s, &g, &back));
}

/* ---- out of order ------------------------------------------------------------------------------ */

static struct rte_mbuf *
bytes(struct fx *f, uint32_t from, uint32_t n)
{
	uint8_t b[256];

	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)(from + i);
	return fx_buf(f, b, n, 0);
}

/* STK-8 */
static void
copying_up_to_the_end_of_a_list_ends_there(void **state)
{
	struct fx *f = *state;
	struct rte_mbuf *m = bytes(f, 0, 10);
	uint8_t out[20] = { 0 };

	m->next = bytes(f, 10, 10);
	m->nb_segs = 2;
	m->pkt_len = 20;
	tcp_queue_copy(m, 20, 0, out);
	tcp_queue_copy(m, 0, 0, out);
	tcp_queue_copy(NULL, 0, 0, out);
	assert_int_equal(out[0], 0);
	for (uint32_t off = 0; off < 20; off++) {
		tcp_queue_copy(m, off, 20 - off, out);
		for (uint32_t i = 0; i < 20 - off; i++)
			assert_int_equal(out[i], off + i);
	}
	shim_buf_free(f->shim, m);
}

/* STK-3: checklist 9, 41 */
static void
pieces_in_any_order_and_overlap_make_the_stream(void **state)
{
	struct fx *f = *state;
	struct tcp_pcb *p = tcp_new(f->s, SO, ADDR_INET);
	uint32_t seed = 3, blk[4][2];
	uint8_t out[200];

	for (unsigned int round = 0; round < 300; round++) {
		uint32_t base = round % 2 != 0 ? UINT32_MAX - 90 : 1000; /* over the end of the sequence space, too */

		p->rcv_nxt = base;
		for (unsigned int k = 0; k < 40; k++) {
			uint32_t from, n;

			seed = seed * 1664525 + 1013904223;
			from = 1 + (seed >> 20) % 190;
			n = 1 + (seed >> 8) % 30;
			if (from + n > 200)
				n = 200 - from;
			assert_true(tcp_ooo_add(f->s, p, base + from, from + n == 200, bytes(f, from, n)));
			assert_true(p->ooo_bytes < 200);
			assert_true(tcp_ooo_blocks(p, 4, blk) >= 1);
			assert_true(seq_le(blk[0][0], base + from) && seq_lt(base + from, blk[0][1]));
		}
		for (uint32_t i = 1; i < 200; i += 20)
			assert_true(tcp_ooo_add(f->s, p, base + i, i + 20 > 199, bytes(f, i, i + 20 > 199 ? 200 - i : 20)));
		assert_int_equal(tcp_ooo_blocks(p, 4, blk), 1);
		assert_int_equal(blk[0][0], base + 1);
		assert_int_equal(blk[0][1], base + 200);
		assert_false(tcp_ooo_take(f->s, p)); /* the first byte is missing */
		p->rcv_nxt++;
		assert_true(tcp_ooo_take(f->s, p));
		assert_int_equal(p->rcv_nxt, base + 200);
		assert_int_equal(p->ooo_bytes + p->ooo_bufs + p->ooo_n, 0);
		assert_int_equal(p->rq.bytes, 199);
		tcp_queue_copy(p->rq.head, 0, 199, out);
		for (unsigned int i = 0; i < 199; i++)
			assert_int_equal(out[i], (uint8_t)(i + 1));
		tcp_queue_free(f->s, &p->rq);
	}
	tcp_close(f->s, p, false);
}

/* STK-8: checklist 42 */
static void
buffers_out_of_order_are_bounded(void **state)
{
	struct fx *f = *state;
	struct tcp_pcb *p = tcp_new(f->s, SO, ADDR_INET);
	unsigned int n = 0;

	p->rcv_buf = 4096;
	while (tcp_ooo_add(f->s, p, 10 + 2 * n, false, bytes(f, 0, 1)))
		n++;
	assert_int_equal(n, 64 + 4096 / 512);
	assert_int_equal(p->ooo_bufs, n);
	tcp_ooo_free(f->s, p);
	tcp_close(f->s, p, false);
}

/* ---- binding ----------------------------------------------------------------------------------- */

/* STK-3: checklist 64 */
static void
ports_are_shared_by_the_rules(void **state)
{
	struct fx *f = *state;
	union ip_addr any = { .q = { 0, 0 } }, us = fx_a4("10.0.0.1"), other = fx_a4("10.0.0.9");
	struct tcp_pcb *a = tcp_new(f->s, SO, ADDR_INET), *b = tcp_new(f->s, SO, ADDR_INET), *six = tcp_new(f->s, SO, ADDR_INET6);

	assert_int_equal(tcp_bind(f->s, a, ADDR_INET, &other, be16(80), NULL), -EADDRNOTAVAIL);
	assert_int_equal(tcp_bind(f->s, a, ADDR_INET, &us, be16(80), NULL), 0);
	assert_int_equal(tcp_bind(f->s, a, ADDR_INET, &us, be16(81), NULL), -EINVAL);
	assert_int_equal(tcp_bind(f->s, b, ADDR_INET, &any, be16(80), NULL), -EADDRINUSE);
	assert_int_equal(tcp_bind(f->s, six, ADDR_INET6, &any, be16(80), NULL), -EADDRINUSE);
	assert_int_equal(tcp_opt_set(f->s, six, TCP_OPT_V6ONLY, 1), 0);
	assert_int_equal(tcp_bind(f->s, six, ADDR_INET6, &any, be16(80), NULL), 0);
	assert_int_equal(tcp_opt_set(f->s, a, TCP_OPT_REUSEADDR, 1), 0);
	assert_int_equal(tcp_opt_set(f->s, b, TCP_OPT_REUSEADDR, 1), 0);
	assert_int_equal(tcp_bind(f->s, b, ADDR_INET, &any, be16(80), NULL), 0);
	assert_int_equal(tcp_listen(f->s, a, 1), 0);
	assert_int_equal(tcp_listen(f->s, b, 1), -EADDRINUSE); /* its owner listens already */
	tcp_close(f->s, a, false);
	assert_int_equal(tcp_listen(f->s, b, 1), 0);
	tcp_close(f->s, b, false);
	tcp_close(f->s, six, false);
	assert_int_equal(f->s->tcp->ports.count, 0);
}

/* STK-3 */
static void
without_memory_nothing_changes(void **state)
{
	struct fx *f = *state;
	union ip_addr us = fx_a4("10.0.0.1"), peer = fx_a4("10.0.0.2");
	struct tcp_pcb *a, *c = NULL;
	int err;

	mock_fail_malloc_at(f->shim, 1);
	assert_null(tcp_new(f->s, SO, ADDR_INET));
	a = tcp_new(f->s, SO, ADDR_INET);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(tcp_bind(f->s, a, ADDR_INET, &us, be16(80), NULL), -ENOMEM);
	assert_int_equal(f->s->tcp->ports.count, 0);
	assert_int_equal(tcp_bind(f->s, a, ADDR_INET, &us, be16(80), NULL), 0);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(tcp_listen(f->s, a, 1), -ENOMEM);
	assert_int_equal(tcp_fsm_of(a), TCP_CLOSED);
	assert_int_equal(tcp_listen(f->s, a, 1), 0);
	fx_know_peer(f);
	for (unsigned int i = 1; i < 10; i++) {
		c = tcp_new(f->s, SO, ADDR_INET);
		mock_fail_malloc_at(f->shim, i);
		err = tcp_connect(f->s, c, ADDR_INET, &peer, be16(7), NULL);
		mock_script_clear(f->shim);
		if (err == -EINPROGRESS)
			break;
		assert_true(err == -ENOMEM || err == -ENOBUFS);
		assert_int_equal(tcp_fsm_of(c), TCP_CLOSED);
		assert_int_equal(f->s->tcp->conns.count, 0);
		tcp_close(f->s, c, false);
	}
	assert_int_equal(tcp_fsm_of(c), TCP_SYN_SENT);
	tcp_close(f->s, c, false);
	c = tcp_new(f->s, SO, ADDR_INET);
	mock_fail_buf_at(f->shim, 1);
	assert_int_equal(tcp_connect(f->s, c, ADDR_INET, &peer, be16(7), NULL), -ENOBUFS);
	assert_int_equal(tcp_connect(f->s, c, ADDR_INET, &peer, be16(7), NULL), -EINPROGRESS);
	tcp_close(f->s, c, false);
	tcp_close(f->s, a, false);
	fx_tx_clear(f);
}

/* STK-3 */
static void
knobs_and_options_have_their_ranges(void **state)
{
	struct fx *f = *state;
	struct tcp_pcb *a = tcp_new(f->s, SO, ADDR_INET);

	for (unsigned int k = 0; k < TCP_KNOB_COUNT; k++) {
		int64_t v = tcp_knob_get(f->s, k);

		assert_int_equal(tcp_knob_set(f->s, k, v), 0);
		assert_int_equal(tcp_knob_set(f->s, k, -1), -EINVAL);
		assert_int_equal(tcp_knob_set(f->s, k, INT64_MAX), -EINVAL);
		assert_int_equal(tcp_knob_get(f->s, k), v);
	}
	assert_int_equal(tcp_knob_get(f->s, TCP_KNOB_COUNT), -EINVAL);
	assert_int_equal(tcp_knob_set(f->s, TCP_KNOB_COUNT, 0), -EINVAL);
	for (unsigned int o = 0; o < TCP_OPT_COUNT; o++) {
		if (o == TCP_OPT_V6ONLY)
			continue;
		assert_int_equal(tcp_opt_set(f->s, a, o, o == TCP_OPT_MAXSEG ? 1000 : 1), 0);
		assert_int_equal(tcp_opt_set(f->s, a, o, -1), -EINVAL);
		assert_true(tcp_opt_get(a, o) >= 1);
	}
	assert_int_equal(tcp_opt_set(f->s, a, TCP_OPT_V6ONLY, 1), -EINVAL);
	assert_int_equal(tcp_opt_set(f->s, a, TCP_OPT_COUNT, 1), -EOPNOTSUPP);
	assert_int_equal(tcp_opt_get(a, TCP_OPT_COUNT), -EOPNOTSUPP);
	assert_int_equal(tcp_congestion_set(f->s, a, "vegas"), -ENOENT);
	assert_string_equal(tcp_congestion_get(a), "cubic");
	assert_int_equal(tcp_congestion_set(f->s, a, "newreno"), 0);
	assert_string_equal(tcp_congestion_get(a), "newreno");
	tcp_close(f->s, a, false);
	assert_string_equal(tcp_event_name(TCP_EV_CONN_ATTEMPT), "conn_attempt");
	assert_string_equal(tcp_event_text(TCP_EV_CONN_ATTEMPT), "connections initiated");
	assert_string_equal(tcp_event_name(TCP_EV_COUNT), "?");
	assert_string_equal(tcp_fsm_name(TCP_TIME_WAIT), "TIME_WAIT");
	assert_string_equal(tcp_fsm_name(TCP_TIME_WAIT + 1), "?");
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(table_finds_everything_after_any_removals),
		T(table_that_can_not_grow_refuses_when_it_is_full),
		cmocka_unit_test(options_malformed_in_any_way_are_survived),
		cmocka_unit_test(syn_options_stand_in_freebsds_order_or_linuxs),
		T(cookie_carries_mss_and_with_timestamps_the_options),
		T(copying_up_to_the_end_of_a_list_ends_there),
		T(pieces_in_any_order_and_overlap_make_the_stream),
		T(buffers_out_of_order_are_bounded),
		T(ports_are_shared_by_the_rules),
		T(without_memory_nothing_changes),
		T(knobs_and_options_have_their_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

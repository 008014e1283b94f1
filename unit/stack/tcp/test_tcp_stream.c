/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams as a whole: numbers that wrap, megabytes with loss, floods, memory, damaged segments, and what the calls answer. */
#include "peer.h"

#include <stdlib.h>

/* The stack's next initial number for this flow is so far from the wrap: read off two SYN-ACKs and the pace of the clock. */
static uint32_t
isn_of(struct world *w, uint16_t port)
{
	struct peer p;
	struct seg s;

	peer_init(w, &p, port, 80, 1000);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_expect(&p, S | A, 0, 0, 1, &s);
	peer_raw(&p, R, 1, 0, 0);
	return p.irs;
}

/* Waits until the stack's initial number for peer port 4000 lies within a few KB below 2^32. */
static void
wait_for_wrap(struct world *w, uint32_t below)
{
	for (unsigned int i = 0; i < 12; i++) {
		uint32_t a = isn_of(w, 4000), pace;

		if (0u - a <= below)
			return;
		world_wait(w, 1000);
		pace = isn_of(w, 4000) - a;
		assert_in_range(pace, 1000, 10000000);
		a = 0u - isn_of(w, 4000);
		if (a > below / 2)
			world_wait(w, (uint64_t)(a - below / 2) * 1000 / pace);
	}
	fail_msg("the number does not come near the wrap");
}

/* STK-3: checklist 66 */
static void
test_isn_near_wrap_matrix(void **state)
{
	static const uint32_t iss[] = { 0, 0xffffffffu, 0xfffffffeu, 0xffffff00u, 0xffff0000u, 0x7fffffffu, 0x80000000u, 0x7ffffff0u };
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5);

	for (unsigned int i = 0; i < sizeof(iss) / sizeof(iss[0]); i++) {
		struct peer p;
		struct app *a;

		peer_init(w, &p, (uint16_t)(4000 + i), 80, iss[i]);
		a = peer_open(&p, l, MSS_1000_SACK, LEN(MSS_1000_SACK));
		peer_raw(&p, A, 1001, 1, 1000); /* a gap over the wrap */
		peer_see(&p, A, 1, 0, 1);
		peer_raw(&p, A, 1, 1, 1000);
		peer_see(&p, A, 1, 0, 2001);
		p.nxt = 2001;
		peer_raw(&p, R, p.nxt - 10, 0, 0); /* below the window */
		world_quiet(w);
		for (unsigned int k = 0; k < 70; k++) {
			peer_data(&p, 1000);
			fx_tx_clear(w->f);
			assert_int_equal(app_drain(w, a), k == 0 ? 3000 : 1000);
		}
		fx_tx_clear(w->f);
		peer_raw(&p, F | A, p.nxt, 1, 0);
		peer_see(&p, A, 1, 0, p.nxt + 1);
		app_close(w, a);
		peer_see(&p, F | A, 1, 0, p.nxt + 1);
		peer_raw(&p, A, p.nxt + 1, 2, 0);
		world_quiet(w);
	}
}

/* A receiver as they are: keeps what comes out of order and acknowledges every segment, with a block when SACK is agreed. */
struct sink {
	uint8_t have[4 << 20]; /* [relative number]: arrived */
	uint32_t una, arrived;
	bool sack;
};

static void
sink_ack(struct peer *p, const struct sink *k, uint32_t at)
{
	struct seg s = { .flags = A, .seq = p->iss + p->nxt, .ack = p->irs + k->una, .win = 65535 };
	uint32_t from = at, to = at;

	if (k->sack && at > k->una) {
		while (k->have[from - 1])
			from--;
		while (k->have[to])
			to++;
		memcpy(s.opts, "\x01\x01\x05\x0a", 4);
		put_be32(s.opts + 4, p->irs + from);
		put_be32(s.opts + 8, p->irs + to);
		s.nopts = 12;
	}
	peer_send_abs(p, &s);
}

/* All that is out: every lose-th segment is lost, each of the others checked and acknowledged. */
static void
sink_take(struct world *w, struct peer *p, struct sink *k, unsigned int lose)
{
	static struct seg s[FX_TX_MAX];
	unsigned int n = 0;

	while (n < FX_TX_MAX && world_get(w, &s[n]))
		n++;
	for (unsigned int i = 0; i < n; i++) {
		uint32_t at = s[i].seq - p->irs;

		if (s[i].len == 0 || ++k->arrived % lose == 0)
			continue;
		assert_true(at + s[i].len < sizeof(k->have));
		for (uint32_t b = 0; b < s[i].len; b++)
			assert_int_equal(s[i].data[b], (uint8_t)((at - 1 + b) * 7 + ((at - 1 + b) >> 9)));
		memset(k->have + at, 1, s[i].len);
		while (k->have[k->una])
			k->una++;
		sink_ack(p, k, at);
	}
}

/* Total bytes through a connection of p, checked; then closed by both. */
static void
transfer_on(struct world *w, struct peer *p, struct app *a, bool with_sack, uint32_t total)
{
	struct sink *k = calloc(1, sizeof(*k));
	static uint8_t b[16384];
	uint32_t wrote = 0;

	assert_non_null(k);
	k->una = 1;
	k->sack = with_sack;
	for (unsigned int turn = 0; k->una < total + 1 && turn < 20000; turn++) {
		uint32_t room = total - wrote < sizeof(b) ? total - wrote : (uint32_t)sizeof(b);
		ssize_t n;

		for (uint32_t i = 0; i < room; i++)
			b[i] = (uint8_t)((wrote + i) * 7 + ((wrote + i) >> 9));
		if (room > 0) {
			n = app_write_buf(w, a, b, room, 0);
			assert_true(n > 0 || n == -EAGAIN || n == -ENOBUFS);
			wrote += n > 0 ? (uint32_t)n : 0;
		}
		sink_take(w, p, k, 53);
		world_wait(w, 10);
	}
	assert_int_equal(k->una, total + 1);
	free(k);
	app_close(w, a);
	fx_tx_clear(w->f);
	peer_raw(p, R, 1, 0, 0);
}

static void
transfer(struct world *w, const char *cc, bool with_sack)
{
	struct app *l = app_listen(w, 80, 1), *a;
	struct peer p;

	peer_init(w, &p, 4000, 80, 1000);
	a = with_sack ? peer_open(&p, l, MSS_1000_SACK, LEN(MSS_1000_SACK)) : peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	app_close(w, l);
	assert_int_equal(tcp_congestion_set(w->s, a->p, cc), 0);
	assert_string_equal(tcp_congestion_get(a->p), cc);
	transfer_on(w, &p, a, with_sack, 2 << 20);
}

/* STK-3, STK-9 */
static void
test_two_megabytes_with_loss_newreno(void **state)
{
	transfer(*state, "newreno", true);
	transfer(*state, "newreno", false);
}

/* STK-3, STK-9 */
static void
test_two_megabytes_with_loss_cubic(void **state)
{
	transfer(*state, "cubic", true);
	transfer(*state, "cubic", false);
}

/* STK-3: checklist 66 */
static void
test_seq_wrap_at_2_32_all_comparisons(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;

	wait_for_wrap(w, 2000000);
	peer_init(w, &p, 4000, 80, 0xfffffff0u);
	a = peer_open(&p, l, MSS_1000_SACK, LEN(MSS_1000_SACK));
	assert_true(0u - p.irs <= 2500000);
	transfer_on(w, &p, a, true, 3 << 20);
	app_close(w, l);
}

/* STK-3, STK-8: checklist 19 */
static void
test_syn_flood(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 16), *a, *old;
	struct peer p, o;
	unsigned int before;

	knob(w, TCP_KNOB_SYNCACHE, 256);
	peer_init(w, &o, 3999, 80, 1000);
	old = peer_open(&o, l, MSS_1000, LEN(MSS_1000));
	before = shim_pool_avail(w->f->shim, w->f->pool);
	for (unsigned int i = 0; i < 20000; i++) {
		peer_init(w, &p, (uint16_t)(5000 + i % 50000), 80, i * 77777u);
		peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
		fx_tx_clear(w->f);
	}
	assert_true(shim_pool_avail(w->f->shim, w->f->pool) >= before - 300);
	assert_true(events(w, TCP_EV_COOKIE_SENT) > 1000);
	peer_init(w, &p, 4000, 80, 424242); /* an honest one gets in all the same */
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	peer_data(&p, 100);
	assert_int_equal(app_drain(w, a), 100);
	peer_data(&o, 100);
	assert_int_equal(app_drain(w, old), 100);
	for (unsigned int i = 0; i < 600; i++) { /* what is half open is asked again, and goes */
		world_wait(w, 100);
		fx_tx_clear(w->f);
	}
}

/* STK-3: checklist 65 */
static void
test_checksum_bad_counted_and_dropped(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	union ip_addr us = world_us(w), peer = world_peer(w);
	uint64_t before = fx_all_drops(w->f);
	uint8_t b[40];

	for (unsigned int i = 0; i < 3; i++) {
		memset(b, 0, sizeof(b));
		put_be16(b, p.port);
		put_be16(b + 2, p.lport);
		put_be32(b + 4, p.iss + 1);
		put_be32(b + 8, p.irs + 1);
		b[12] = 0x50;
		b[13] = i == 2 ? R : A | P;
		put_be16(b + 14, 1000);
		put_be16(b + 16, i == 0 ? 0 : 0xbeef);
		if (w->family == ADDR_INET)
			fx_rx_ip4(w->f, &(struct fx_ip4){ .src = peer.v4, .dst = us.v4, .proto = 6 }, b, sizeof(b));
		else
			fx_rx_ip6(w->f, &(struct fx_ip6){ .src = peer, .dst = us, .next = 6 }, b, sizeof(b));
	}
	world_quiet(w);
	assert_int_equal(fx_all_drops(w->f) - before, 3);
	assert_int_equal(tcp_readable(a->p), 0);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
}

/* STK-3, STK-8: headers cut short, data offsets that lie */
static void
test_damaged_headers_are_dropped(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	union ip_addr us = world_us(w), peer = world_peer(w);
	uint8_t b[64];

	for (uint32_t n = 0; n <= 60; n += 4) {
		for (unsigned int off = 0; off < 16; off++) {
			uint32_t start = 6 + n;

			if (off * 4 <= n && off >= 5)
				continue;
			memset(b, 1, sizeof(b));
			put_be16(b, p.port);
			put_be16(b + 2, p.lport);
			put_be32(b + 4, p.iss + 1);
			put_be32(b + 8, p.irs + 1);
			b[12] = (uint8_t)(off << 4);
			b[13] = A | P;
			put_be16(b + 16, 0);
			for (unsigned int k = 0; k < (w->family == ADDR_INET ? 4u : 16u); k += 2)
				start += get_be16(us.v6 + k) + (uint32_t)get_be16(peer.v6 + k);
			if (n >= 18)
				put_be16(b + 16, (uint16_t)~fx_sum(start, b, n));
			if (w->family == ADDR_INET)
				fx_rx_ip4(w->f, &(struct fx_ip4){ .proto = 6 }, b, n);
			else
				fx_rx_ip6(w->f, &(struct fx_ip6){ .next = 6 }, b, n);
		}
	}
	fx_tx_clear(w->f); /* IPv6 may say parameter problem */
	assert_int_equal(tcp_readable(a->p), 0);
	peer_data(&p, 10);
	assert_int_equal(app_drain(w, a), 10);
	fx_tx_clear(w->f);
}

/* STK-3: what the calls answer in the wrong state */
static void
test_calls_in_the_wrong_state(void **state)
{
	struct world *w = *state;
	union ip_addr us = world_us(w), peer = world_peer(w);
	struct app *a = app_new(w), *b = app_new(w), *l;
	struct tcp_addr who;
	uint8_t x[4];

	assert_int_equal(app_write(w, a, 10), -ENOTCONN);
	assert_int_equal(app_read(w, a, x, 4), -ENOTCONN);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), -ENOTCONN);
	assert_int_equal(tcp_remote(a->p, &who), -ENOTCONN);
	assert_int_equal(fsm(a), TCP_CLOSED);
	assert_int_equal(tcp_connect(w->s, a->p, w->family, &peer, 0, NULL), -EINVAL);
	assert_int_equal(tcp_bind(w->s, a->p, w->family, &peer, htons(99), NULL), -EADDRNOTAVAIL);
	assert_int_equal(tcp_bind(w->s, a->p, w->family, &us, htons(99), NULL), 0);
	assert_int_equal(tcp_bind(w->s, a->p, w->family, &us, htons(98), NULL), -EINVAL);
	assert_int_equal(tcp_bind(w->s, b->p, w->family, &us, htons(99), NULL), -EADDRINUSE);
	l = app_listen(w, 80, 0);
	assert_int_equal(tcp_listen(w->s, l->p, 100), 0);
	assert_int_equal(tcp_connect(w->s, l->p, w->family, &peer, htons(1), NULL), -EINVAL);
	assert_int_equal(app_write(w, l, 10), -ENOTCONN);
	assert_int_equal(app_read(w, l, x, 4), -ENOTCONN);
	assert_int_equal(tcp_congestion_set(w->s, b->p, "vegas"), -ENOENT);
	assert_int_equal(tcp_opt_set(w->s, b->p, TCP_OPT_MAXSEG, -5), -EINVAL);
	assert_int_equal(tcp_opt_set(w->s, b->p, TCP_OPT_KEEPCNT, -1), -EINVAL);
	assert_int_equal(tcp_connect(w->s, b->p, w->family, &peer, htons(4000), NULL), -EINPROGRESS);
	assert_int_equal(tcp_connect(w->s, b->p, w->family, &peer, htons(4000), NULL), -EALREADY);
	assert_int_equal(tcp_listen(w->s, b->p, 1), -EINVAL);
	assert_int_equal(app_write(w, b, 10), -EAGAIN);
	assert_int_equal(app_read(w, b, x, 4), -EAGAIN);
	assert_string_equal(tcp_fsm_name(fsm(b)), "SYN_SENT");
	assert_string_equal(tcp_fsm_name((enum tcp_fsm)99), "?");
	assert_string_equal(tcp_event_name(TCP_EV_CONN_ATTEMPT), "conn_attempt");
	assert_true(strlen(tcp_event_text(TCP_EV_NO_BUFFER)) > 0);
	fx_tx_clear(w->f);
}

/* STK-3: memory running out at any of the first allocations of a call is an error of that call and leaves nothing behind */
static void
test_no_memory_is_an_error_not_a_leak(void **state)
{
	struct world *w = *state;
	union ip_addr us = world_us(w), peer = world_peer(w);
	struct app *l = app_listen(w, 80, 5), *a;
	struct peer p;
	int r = -ENOMEM;

	mock_fail_malloc_at(w->f->shim, 1);
	assert_null(tcp_new(w->s, (struct socket *)(void *)l, (uint8_t)w->family));
	a = app_new(w);
	for (unsigned int i = 1; i < 20 && r == -ENOMEM; i++) {
		mock_fail_malloc_at(w->f->shim, i);
		r = tcp_bind(w->s, a->p, w->family, &us, htons(99), NULL);
		if (r == -ENOMEM)
			continue;
		mock_fail_malloc_at(w->f->shim, 0);
	}
	assert_int_equal(r, 0);
	r = -ENOMEM;
	for (unsigned int i = 1; i < 20 && (r == -ENOMEM || r == -ENOBUFS); i++) {
		mock_fail_malloc_at(w->f->shim, i);
		r = tcp_connect(w->s, a->p, w->family, &peer, htons(4000), NULL);
	}
	mock_fail_malloc_at(w->f->shim, 0);
	assert_int_equal(r, -EINPROGRESS);
	fx_tx_clear(w->f);
	for (unsigned int i = 1; i < 10; i++) { /* a SYN and its ACK */
		peer_init(w, &p, (uint16_t)(4000 + i), 80, 1000);
		mock_fail_malloc_at(w->f->shim, i);
		peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
		if (fx_tx_count(w->f) > 0) {
			peer_see(&p, S | A, 0, 0, 1);
			peer_ack(&p, 1);
		}
		mock_fail_malloc_at(w->f->shim, 0);
		fx_tx_clear(w->f);
		a = app_accept(w, l);
		if (a != NULL)
			app_abort(w, a);
		fx_tx_clear(w->f);
	}
	peer_init(w, &p, 5000, 80, 1000);
	assert_non_null(peer_open(&p, l, MSS_1000, LEN(MSS_1000)));
}

/* STK-3, DSP-8 */
static void
test_has_receiver_knows_listeners_and_connections(void **state)
{
	struct world *w = *state;
	union ip_addr us = world_us(w), peer = world_peer(w);
	struct peer p;
	struct app *a = open_plain(w, &p), *l;

	assert_true(tcp_has_receiver(w->s, w->family, &us, htons(80), &peer, htons(4000)));
	assert_false(tcp_has_receiver(w->s, w->family, &us, htons(80), &peer, htons(4001)));
	l = app_listen(w, 81, 1);
	assert_true(tcp_has_receiver(w->s, w->family, &us, htons(81), &peer, htons(4001)));
	app_close(w, l);
	assert_false(tcp_has_receiver(w->s, w->family, &us, htons(81), &peer, htons(4001)));
	app_abort(w, a);
	assert_false(tcp_has_receiver(w->s, w->family, &us, htons(80), &peer, htons(4000)));
	fx_tx_clear(w->f);
}

/* STK-9 */
static void
test_syns_are_shed_first_when_buffers_run_low(void **state)
{
	int family = ((struct world *)*state)->family;
	struct world *w = world_new(family, &(struct fx_opts){ .bufs = 1024, .buf_low_watermark = 200 });
	struct app *l = app_listen(w, 80, 5), *a;
	struct rte_mbuf *held[1024];
	unsigned int n = 0;
	struct peer p, q;

	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	while (shim_pool_avail(w->f->shim, w->f->pool) > 150)
		held[n++] = shim_buf_alloc(w->f->shim, w->f->pool);
	peer_init(w, &q, 4001, 80, 1000);
	peer_syn(&q, S, MSS_1000, LEN(MSS_1000));
	world_quiet(w); /* new work waits outside */
	assert_true(fx_all_drops(w->f) >= 1);
	peer_data(&p, 1000); /* what is established goes on */
	assert_int_equal(app_drain(w, a), 1000);
	assert_int_equal(app_write(w, a, 1000), 1000);
	peer_see(&p, A | P, 1, 1000, 1001);
	peer_ack(&p, 1001);
	while (n > 0)
		shim_buf_free(w->f->shim, held[--n]);
	world_wait(w, 1000);
	peer_syn(&q, S, MSS_1000, LEN(MSS_1000));
	peer_see(&q, S | A, 0, 0, 1);
	world_free(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_isn_near_wrap_matrix),
		T46(test_seq_wrap_at_2_32_all_comparisons),
		T46(test_two_megabytes_with_loss_newreno),
		T46(test_two_megabytes_with_loss_cubic),
		T46(test_syn_flood),
		T46(test_checksum_bad_counted_and_dropped),
		T46(test_damaged_headers_are_dropped),
		T46(test_calls_in_the_wrong_state),
		T46(test_no_memory_is_an_error_not_a_leak),
		T46(test_syns_are_shed_first_when_buffers_run_low),
		T46(test_has_receiver_knows_listeners_and_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

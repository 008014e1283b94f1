/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes out of order, in every order: the stream and its end are the same (RFC 9293 3.10.7.4), read or after SHUT_RD. */
#include <sys/socket.h>

#include "peer.h"

#define PIECES 5 /* four of data, and what carries the FIN */

/* Four segments and what carries the FIN; ranges are of the stream, [from, to). */
struct cut {
	const char *name;
	struct {
		uint32_t from, to;
		bool fin;
	} piece[PIECES];
};

#define STREAM 400

#define D(a, b) { a, b, false }
#define L(a, b) { a, b, true }
static const struct cut cuts[] = {
	{ "bare FIN", { D(0, 100), D(100, 200), D(200, 300), D(300, 400), L(400, 400) } },
	{ "FIN with data", { D(0, 100), D(100, 200), D(200, 300), D(300, 350), L(350, 400) } },
	{ "FIN with data that came before without it", { D(0, 100), D(100, 200), D(200, 300), D(300, 400), L(300, 400) } },
	{ "FIN with the end of data that came before", { D(0, 100), D(100, 200), D(200, 300), D(300, 400), L(380, 400) } },
	{ "overlaps to the left", { D(0, 100), D(60, 200), D(150, 300), D(290, 380), L(300, 400) } },
	{ "overlaps to the right", { D(0, 150), D(100, 290), D(200, 399), D(300, 400), L(400, 400) } },
	{ "one covers two", { D(0, 100), D(100, 300), D(150, 200), D(210, 390), L(250, 400) } },
	{ "FIN over everything", { D(0, 100), D(100, 200), D(200, 300), D(300, 400), L(0, 400) } },
	{ "FIN over all but the first", { D(0, 100), D(100, 200), D(200, 300), D(300, 400), L(1, 400) } },
};

/* The n-th order of PIECES things. */
static void
order(unsigned int n, unsigned int *out)
{
	unsigned int left[PIECES] = { 0, 1, 2, 3, 4 };

	for (unsigned int i = 0; i < PIECES; i++) {
		unsigned int k = n % (PIECES - i);

		n /= PIECES - i;
		out[i] = left[k];
		for (; k + 1 < PIECES - i; k++)
			left[k] = left[k + 1];
	}
}

/* How much of the stream is there without a gap when these have come; *fin: its end, too. */
static uint32_t
reach(const struct cut *c, unsigned int came, bool *fin)
{
	uint32_t to = 0;
	bool more = true;

	*fin = false;
	while (more) {
		more = false;
		for (unsigned int i = 0; i < PIECES; i++) {
			if ((came & 1u << i) == 0 || c->piece[i].from > to)
				continue;
			if (c->piece[i].to > to) {
				to = c->piece[i].to;
				more = true;
			}
			*fin |= c->piece[i].fin && c->piece[i].to == to;
		}
	}
	return to;
}

/* Each segment comes so many times; after each one stream and end must be what arithmetic says. */
static void
deliver(struct world *w, struct app *l, uint16_t port, const struct cut *c, unsigned int perm, unsigned int times, bool shut)
{
	unsigned int at[PIECES], came = 0;
	uint32_t got = 0, want;
	uint8_t b[STREAM];
	struct peer p;
	struct app *a;
	bool fin;

	peer_init(w, &p, port, 80, perm % 2 == 0 ? 1000 : 0u - 200); /* over the end of the numbers, too */
	a = peer_open(&p, l, MSS_1000_SACK, LEN(MSS_1000_SACK));
	if (shut)
		assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_RD), 0);
	order(perm, at);
	for (unsigned int i = 0; i < PIECES * times; i++) {
		unsigned int k = at[i % PIECES], n = c->piece[k].to - c->piece[k].from;
		ssize_t r = 0;
		struct tcp_facts t;

		peer_raw(&p, A | (c->piece[k].fin ? F : 0), 1 + c->piece[k].from, 1, n);
		came |= 1u << k;
		want = reach(c, came, &fin);
		while (!shut && (r = app_read(w, a, b, sizeof(b))) > 0)
			for (ssize_t j = 0; j < r; j++, got++)
				assert_int_equal(b[j], (uint8_t)((1 + got) * 11 + ((1 + got) >> 8)));
		tcp_facts(w->s, a->p, &t);
		if ((!shut && got != want) || t.rcv_nxt - p.iss != 1 + want + fin || t.bytes_received != want ||
		    (fsm(a) == TCP_CLOSE_WAIT) != fin)
			fail_msg("%s, order %u, segment %u: %u bytes of %u read, next is %u, %s", c->name, perm, i, got, want,
				t.rcv_nxt - p.iss, tcp_fsm_name(fsm(a)));
		assert_int_equal(r, shut || fin ? 0 : -EAGAIN);
		assert_int_equal(tcp_readable(a->p), 0);
	}
	fx_tx_clear(w->f);
	app_close(w, a);
	peer_see(&p, F | A, 1, 0, 2 + STREAM); /* nothing is unread: no reset */
	peer_raw(&p, A, 2 + STREAM, 2, 0);
	world_quiet(w);
}

static void
in_every_order(struct world *w, bool shut)
{
	struct app *l = app_listen(w, 80, 5);
	uint16_t port = 2000;

	for (unsigned int i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		for (unsigned int perm = 0; perm < 120; perm++) {
			deliver(w, l, port++, &cuts[i], perm, 1, shut);
			deliver(w, l, port++, &cuts[i], perm, 2, shut);
		}
	}
}

/* STK-3: checklist 9 */
static void
test_stream_and_fin_are_the_same_in_every_order_of_arrival(void **state)
{
	in_every_order(*state, false);
}

/* STK-3: checklist 13 */
static void
test_after_shut_rd_everything_is_taken_and_nothing_kept(void **state)
{
	in_every_order(*state, true);
}

/* STK-3: checklist 13 */
static void
test_shut_rd_throws_away_what_is_held_and_opens_the_window(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *a;
	struct tcp_facts t;
	struct peer p;
	struct seg s;

	app_opt(w, l, TCP_OPT_RCVBUF, 4000);
	peer_init(w, &p, 4000, 80, 1000);
	a = peer_open(&p, l, MSS_1000, LEN(MSS_1000));
	for (int i = 0; i < 4; i++)
		peer_data(&p, 1000);
	while (world_get(w, &s))
		;
	assert_int_equal(s.win, 0);
	assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_RD), 0);
	peer_expect(&p, A, 1, 0, 4001, &s);
	assert_int_equal(s.win, 4000);
	peer_raw(&p, A, 5001, 1, 1000); /* held, in buffers that a close must give back */
	peer_see(&p, A, 1, 0, 4001);
	tcp_facts(w->s, a->p, &t);
	assert_int_equal(t.bytes_received, 4000);
	app_close(w, a);
	peer_see(&p, F | A, 1, 0, 4001);
	peer_raw(&p, R | A, 4001, 2, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_stream_and_fin_are_the_same_in_every_order_of_arrival),
		T46(test_after_shut_rd_everything_is_taken_and_nothing_kept),
		T46(test_shut_rd_throws_away_what_is_held_and_opens_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

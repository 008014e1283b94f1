/* SPDX-License-Identifier: BSD-3-Clause */
/* Every state against every kind of segment (RFC 9293 3.10.7, RFC 5961): where it leads and what is answered. */
#include "peer.h"

enum event {
	RST_EXACT, RST_INSIDE, RST_OUTSIDE, SYN_INSIDE, SYN_OUTSIDE, ACK_TOO_NEW, DATA_OUTSIDE, NO_ACK, ACK_ALL, FIN_AGAIN_OR_NEW, FIN_ACK_ALL,
	EVENTS
};
static const char *const event_name[EVENTS] = {
	"reset with the exact number", "reset inside the window", "reset outside", "SYN inside the window", "SYN outside", "ACK of unsent data",
	"data outside the window", "segment without ACK", "ACK of all", "FIN", "FIN and ACK of all",
};

/* A connection in a state, with the numbers around it (relative). */
struct at {
	struct world *w;
	struct peer p;
	struct app *a;
	uint32_t nxt;     /* ours */
	bool finned;      /* the peer's FIN was received */
};

static void
enter_closing_side(struct at *t, enum tcp_fsm st)
{
	assert_int_equal(tcp_shutdown(t->w->s, t->a->p, SHUT_WR), 0);
	peer_see(&t->p, F | A, 1, 0, 1);
	t->nxt = 2;
	if (st == TCP_CLOSING) {
		peer_raw(&t->p, F | A, 1, 1, 0);
		peer_see(&t->p, A, 2, 0, 2);
	} else if (st == TCP_FIN_WAIT_2) {
		peer_ack(&t->p, 2);
	} else if (st == TCP_TIME_WAIT) {
		peer_raw(&t->p, F | A, 1, 2, 0);
		peer_see(&t->p, A, 2, 0, 2);
	}
	t->finned = st == TCP_CLOSING || st == TCP_TIME_WAIT;
}

static void
enter(struct at *t, enum tcp_fsm st)
{
	t->nxt = 1;
	t->finned = false;
	t->a = open_plain(t->w, &t->p);
	switch (st) {
	case TCP_CLOSE_WAIT:
	case TCP_LAST_ACK:
		peer_raw(&t->p, F | A, 1, 1, 0);
		peer_see(&t->p, A, 1, 0, 2);
		t->finned = true;
		if (st == TCP_LAST_ACK) {
			assert_int_equal(tcp_shutdown(t->w->s, t->a->p, SHUT_WR), 0);
			peer_see(&t->p, F | A, 1, 0, 2);
			t->nxt = 2;
		}
		break;
	case TCP_FIN_WAIT_1:
	case TCP_FIN_WAIT_2:
	case TCP_CLOSING:
	case TCP_TIME_WAIT:
		enter_closing_side(t, st);
		break;
	default:
		break;
	}
	t->p.nxt = t->finned ? 2 : 1;
	world_quiet(t->w);
}

static void
happen(struct at *t, enum event e)
{
	struct peer *p = &t->p;
	uint32_t una = t->nxt == 2 ? 1 : t->nxt; /* with a FIN in flight it is not acknowledged by the events that say nothing of it */

	switch (e) {
	case RST_EXACT:
		peer_raw(p, R, p->nxt, 0, 0);
		break;
	case RST_INSIDE:
		peer_raw(p, R, p->nxt + 5, 0, 0);
		break;
	case RST_OUTSIDE:
		peer_raw(p, R, p->nxt + 200000, 0, 0);
		break;
	case SYN_INSIDE:
		peer_raw(p, S, p->nxt + 5, 0, 0);
		break;
	case SYN_OUTSIDE:
		peer_raw(p, S, p->nxt + 200000, 0, 0);
		break;
	case ACK_TOO_NEW:
		peer_raw(p, A, p->nxt, t->nxt + 1, 0);
		break;
	case DATA_OUTSIDE:
		peer_raw(p, A | P, p->nxt + 200000, una, 100);
		break;
	case NO_ACK:
		peer_raw(p, P, p->nxt, 0, 10);
		break;
	case ACK_ALL:
		peer_raw(p, A, p->nxt, t->nxt, 0);
		break;
	case FIN_AGAIN_OR_NEW:
		peer_raw(p, F | A, 1, una, 0);
		break;
	default:
		peer_raw(p, F | A, 1, t->nxt, 0);
		break;
	}
}

static enum tcp_fsm
leads_to(enum tcp_fsm st, enum event e)
{
	if (e == RST_EXACT)
		return st == TCP_TIME_WAIT ? TCP_TIME_WAIT : TCP_CLOSED;
	if (e == ACK_ALL || e == FIN_ACK_ALL) {
		st = st == TCP_FIN_WAIT_1 ? TCP_FIN_WAIT_2 : st == TCP_CLOSING ? TCP_TIME_WAIT : st == TCP_LAST_ACK ? TCP_CLOSED : st;
		if (e == ACK_ALL)
			return st;
	}
	if (e == FIN_AGAIN_OR_NEW || e == FIN_ACK_ALL)
		st = st == TCP_ESTABLISHED ? TCP_CLOSE_WAIT : st == TCP_FIN_WAIT_1 ? TCP_CLOSING : st == TCP_FIN_WAIT_2 ? TCP_TIME_WAIT : st;
	return st;
}

/* Is the segment answered, by one ACK? -1: both are right. */
static int
answered(enum tcp_fsm st, enum event e)
{
	switch (e) {
	case RST_EXACT:
	case RST_OUTSIDE:
	case NO_ACK:
	case ACK_ALL:
		return 0;
	case RST_INSIDE:
	case SYN_INSIDE:
	case ACK_TOO_NEW:
		return st == TCP_TIME_WAIT ? -1 : 1;
	case SYN_OUTSIDE:
		return st == TCP_TIME_WAIT ? -1 : 1;
	case FIN_ACK_ALL: /* in LAST-ACK and CLOSING the ACK may be taken first */
		return st == TCP_LAST_ACK || st == TCP_CLOSING ? -1 : 1;
	default:
		return 1;
	}
}

static void
find_time_wait(void *ctx, const struct tcp_entry *e)
{
	if (e->fsm == TCP_TIME_WAIT)
		*(bool *)ctx = true;
}

static enum tcp_fsm
state_now(struct at *t)
{
	enum tcp_fsm st = fsm(t->a);
	bool tw = false;

	tcp_each(t->w->s, find_time_wait, &tw);
	return tw ? TCP_TIME_WAIT : st;
}

/* STK-3, STK-8: checklist 7 */
static void
test_all_eleven_states_reachable_and_each_event_x_state_cell_checked(void **state)
{
	static const enum tcp_fsm states[] = { TCP_ESTABLISHED, TCP_CLOSE_WAIT, TCP_FIN_WAIT_1, TCP_CLOSING, TCP_LAST_ACK, TCP_FIN_WAIT_2,
		TCP_TIME_WAIT };
	int family = ((struct world *)*state)->family;

	for (unsigned int i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		for (enum event e = 0; e < EVENTS; e++) {
			struct at t = { .w = world_new(family, NULL) };
			enum tcp_fsm st, want = leads_to(states[i], e);
			int reply = answered(states[i], e), n = 0;
			struct seg s;

			enter(&t, states[i]);
			assert_int_equal(state_now(&t), states[i]);
			happen(&t, e);
			for (; world_get(t.w, &s); n++)
				if (s.flags != A)
					fail_msg("%s in %s: answered with flags %#x", event_name[e], tcp_fsm_name(states[i]), s.flags);
			st = state_now(&t);
			if (st == states[i] && e == FIN_ACK_ALL && st != TCP_FIN_WAIT_1 && st != TCP_FIN_WAIT_2)
				want = st; /* an old FIN is not acceptable: its ACK need not be looked at */
			if (st != want)
				fail_msg("%s in %s: leads to %s, expected %s", event_name[e], tcp_fsm_name(states[i]), tcp_fsm_name(st),
					tcp_fsm_name(want));
			if (reply >= 0 && n != reply)
				fail_msg("%s in %s: %d answers, expected %d", event_name[e], tcp_fsm_name(states[i]), n, reply);
			world_free(t.w);
		}
	}
}

/* STK-3: checklist 7: the states before a connection */
static void
test_states_of_opening(void **state)
{
	struct world *w = *state;
	struct app *l = app_listen(w, 80, 5), *c = app_new(w), *a;
	struct tcp_addr us;
	struct peer p;

	assert_int_equal(fsm(l), TCP_LISTEN);
	assert_int_equal(fsm(c), TCP_CLOSED);
	a = app_connect(w, 4000);
	assert_int_equal(fsm(a), TCP_SYN_SENT);
	tcp_local(a->p, &us);
	peer_init(w, &p, 4000, ntohs(us.port_be), 1000);
	peer_see(&p, S, 0, 0, 0);
	peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
	peer_see(&p, S | A, 0, 0, 1);
	assert_int_equal(fsm(a), TCP_SYN_RCVD);
	peer_raw(&p, A, 1, 77, 0); /* an ACK of nothing */
	peer_see(&p, R, 77, 0, 0);
	peer_raw(&p, R, 5, 0, 0);  /* inside the window: challenged */
	peer_see(&p, A, 1, 0, 1);
	peer_raw(&p, R, 300000, 0, 0);
	world_quiet(w);
	assert_int_equal(fsm(a), TCP_SYN_RCVD);
	peer_raw(&p, F | A, 1, 1, 0); /* ACK and FIN together */
	peer_see(&p, A, 1, 0, 2);
	assert_int_equal(fsm(a), TCP_CLOSE_WAIT);
}

/* STK-3: a reset of a simultaneous open is a refusal; closing there sends FIN */
static void
test_syn_rcvd_of_an_active_open(void **state)
{
	struct world *w = *state;
	struct tcp_addr us;
	struct peer p;
	struct app *a;

	for (unsigned int i = 0; i < 2; i++) {
		a = app_connect(w, (uint16_t)(4000 + i));
		tcp_local(a->p, &us);
		peer_init(w, &p, (uint16_t)(4000 + i), ntohs(us.port_be), 1000);
		peer_see(&p, S, 0, 0, 0);
		peer_syn(&p, S, MSS_1000, LEN(MSS_1000));
		peer_see(&p, S | A, 0, 0, 1);
		if (i == 0) {
			peer_raw(&p, R, 1, 0, 0);
			assert_int_equal(fsm(a), TCP_CLOSED);
			assert_int_equal(tcp_take_error(a->p), -ECONNREFUSED);
		} else {
			assert_int_equal(tcp_shutdown(w->s, a->p, SHUT_WR), 0);
			fx_tx_clear(w->f);
			peer_ack(&p, 1);
			fx_tx_clear(w->f);
			assert_int_equal(fsm(a), TCP_FIN_WAIT_1);
			peer_ack(&p, 2);
			assert_int_equal(fsm(a), TCP_FIN_WAIT_2);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_all_eleven_states_reachable_and_each_event_x_state_cell_checked),
		T46(test_states_of_opening),
		T46(test_syn_rcvd_of_an_active_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

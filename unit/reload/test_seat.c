/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's seat: sitting down, a whole reload, abort, orders, leaving. */
#include "seat_fixture.h"

static void
commit(void)
{
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	sf_run(3, NULL);
	sf_step(WINDOW_COMMITTED);
	sf_run(3, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_DRAIN);
}

/* ---- sitting down ---- */

/* REL-2, REL-13 */
static void
test_workers_without_a_master_make_the_first_generation_once(void **state)
{
	struct sf_worker *a = sf_sit(0, 0, NULL), *b = sf_sit(1, 0, NULL);

	(void)state;
	assert_int_equal(a->st.gen, 2);
	assert_int_equal(b->st.gen, 2);
	assert_int_equal(a->st.side, 0);
	assert_int_equal(sf_window().state, WINDOW_CLOSED);
	assert_int_equal(sf_window().active, 2);
	assert_true(a->st.owner_mark != b->st.owner_mark && a->st.owner_mark != 0);
	assert_int_equal(sf.d->seat[0][0].gen, 2);
	assert_int_equal(sf.d->seat[0][0].owner_mark, a->st.owner_mark);
	assert_int_equal(sf.d->seat[0][0].cache_id, shim_cache_id(a->s));
	assert_int_equal(sf_turn(a), SEAT_DO_TOOK);
	assert_int_equal(a->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	assert_int_equal(sf_turn(a), 0);
	assert_int_equal(a->st.role, SEAT_ROLE_OWNER);
}

/* Another worker makes the first generation between this one's look and its swap. */
static void
faster(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_hook(s, MOCK_OP_cas, NULL, NULL);
	sf.d->window = window_word((struct window){ WINDOW_CLOSED, 8, 8 });
}

/* REL-2 */
static void
test_a_slower_worker_joins_the_generation_of_the_faster_one(void **state)
{
	struct sf_worker *w;
	int rc;

	(void)state;
	mock_hook(sf.s, MOCK_OP_cas, faster, NULL);
	w = sf_sit(0, 0, &rc);
	assert_int_equal(rc, 0);
	assert_int_equal(w->st.gen, 8);
}

/* REL-2, REL-13 */
static void
test_claim_refuses_what_can_not_be(void **state)
{
	struct seat_config c = { .shim = sf.s, .dir = sf.d, .gen = 0, .proc_word = 1 };
	struct seat st;
	int rc;

	(void)state;
	c.lane = SF_LANES;
	assert_int_equal(seat_claim(&st, &c), -EINVAL);
	c.lane = GEN_MAX_LANES;
	assert_int_equal(seat_claim(&st, &c), -EINVAL);
	c.lane = 0;
	c.proc_word = 0;
	assert_int_equal(seat_claim(&st, &c), -EINVAL);
	sf.d->nb_lanes = 99;
	c.lane = GEN_MAX_LANES;
	assert_int_equal(seat_claim(&st, &c), -EINVAL);
	sf.d->nb_lanes = SF_LANES;
	sf.d->next_gen = GEN_LAST + 1;
	sf_sit(0, 0, &rc);
	assert_int_equal(rc, -ENOSPC);
	sf.d->window = UINT64_MAX;
	sf_sit(0, 0, &rc);
	assert_int_equal(rc, -EPROTO);
	sf.d->window = 0;
	sf_sit(0, 6, &rc);
	assert_int_equal(rc, -ESTALE);
	assert_int_equal(sf.d->seat[0][0].claim, 0);
}

/* REL-13, PAR-3 */
static void
test_only_generations_of_the_window_sit_down(void **state)
{
	static const struct {
		enum window_state state;
		bool new, old;
	} cases[] = {
		{ WINDOW_OPEN, true, true }, { WINDOW_PARKING, true, true }, { WINDOW_COMMITTED, true, true },
		{ WINDOW_RETIRING, true, false }, { WINDOW_ABORTED, false, true }, { WINDOW_ROLLBACK, false, true },
		{ WINDOW_CLOSED, false, true },
	};
	int rc;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sf.n = 0;
		sf.d->window = window_word((struct window){ cases[i].state, 3, 2 });
		sf_sit(0, 3, &rc);
		assert_int_equal(rc, cases[i].new ? 0 : -ESTALE);
		sf_sit(0, 2, &rc);
		assert_int_equal(rc, cases[i].old ? 0 : -ESTALE);
		sf_sit(0, 5, &rc);
		assert_int_equal(rc, -ESTALE);
		sf_sit(0, 1, &rc);
		assert_int_equal(rc, -ESTALE);
		for (unsigned int k = 0; k < 4; k++) {
			seat_release(&sf.w[k].st);
			mock_shim_free(sf.w[k].s);
		}
	}
	sf.n = 0;
	assert_non_null(strstr(mock_last_message(sf.s), "window CLOSED 3, active 2"));
}

/* REL-13, PAR-3 */
static void
test_a_live_worker_keeps_its_seat_and_is_named(void **state)
{
	struct sf_worker *a = sf_sit(0, 0, NULL);
	char pid[32];
	int rc;

	(void)state;
	sf_sit(0, 0, &rc);
	assert_int_equal(rc, -EBUSY);
	snprintf(pid, sizeof(pid), "process %u", shim_self(a->s).pid);
	assert_non_null(strstr(mock_last_message(sf.s), pid));
	/* no permission to look is no death */
	sf_kill(a);
	mock_fail(sf.s, MOCK_OP_proc_alive, 1, EPERM);
	sf_sit(0, 0, &rc);
	assert_int_equal(rc, -EBUSY);
	mock_fail_all(sf.s, MOCK_OP_cas, 1);
	sf_sit(0, 0, &rc);
	assert_int_equal(rc, -EBUSY);
	mock_fail_all(sf.s, MOCK_OP_cas, 0);
}

/* REL-4, REL-13, REL-18 */
static void
test_a_successor_takes_the_dead_ones_seat_with_words_of_its_own(void **state)
{
	struct sf_worker *a = sf_sit(0, 0, NULL), *b;
	struct gen_seat *seat = &sf.d->seat[0][0];
	struct drain_counts c;
	struct lease before;

	(void)state;
	seat_ready(&a->st);
	sf_run(5, NULL);
	seat_report(&a->st, &(struct drain_counts){ .udp = 7 }, 9);
	seat->forwarded = 5;
	seat->drain_peak = 6;
	seat->drain_seq |= 1; /* it died while it wrote */
	assert_int_equal(seat->ready, 2ull << 32 | shim_self(a->s).pid);
	before = sf_lease(0);
	sf_kill(a);
	b = sf_sit(0, 2, NULL);
	assert_int_equal(seat->ready, 0);
	assert_int_equal(seat->forwarded, 0);
	assert_int_equal(seat->drain_peak, 0);
	assert_true(seat->owner_mark != a->st.owner_mark);
	assert_int_equal(gen_drain(sf.s, sf.d, 0, 0, &c), 0);
	assert_int_equal(c.udp, 0);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
	assert_true(seat->heartbeat > 0);
	assert_int_equal(sf_turn(b), SEAT_DO_TOOK);
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	assert_true(sf_lease(0).fence != before.fence);
	seat_ready(&b->st);
	assert_int_equal(seat->ready, 2ull << 32 | shim_self(b->s).pid);
	/* the dead one, if it went on, would neither poll nor beat nor free the seat */
	assert_int_equal(seat_turn(&a->st, sf.now_ns), SEAT_DO_EXIT);
	assert_int_not_equal(a->st.role, SEAT_ROLE_OWNER);
	seat_release(&a->st);
	assert_int_equal(gen_seat_alive(sf.s, sf.d, 0, 0, NULL), 1);
}

/* ---- a reload ---- */

/* REL-6: a worker that meets the park order first publishes in the very turn in which it lets go. */
static void
test_a_park_order_that_is_seen_first_does_not_close_publishing(void **state)
{
	unsigned int due;

	(void)state;
	sf_step(WINDOW_PARKING);
	due = sf_turn(sf_old);
	assert_true((due & SEAT_DO_OPEN) != 0);
	assert_true((due & SEAT_DO_LET_GO) != 0);
}

/* REL-6: as long as the owner has not changed hands for good, a worker that comes late publishes. */
static void
test_publishing_starts_after_the_flip_too(void **state)
{
	(void)state;
	sf_old->off = true;
	sf_step(WINDOW_PARKING);
	sf_step(WINDOW_COMMITTED);
	assert_true((sf_turn(sf_old) & SEAT_DO_OPEN) != 0);
}

/* REL-5, REL-6 */
static void
test_publishing_starts_with_the_window_and_waits_for_no_park_order(void **state)
{
	(void)state;
	assert_true((sf_run(1, sf_old) & SEAT_DO_OPEN) != 0);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old->st.window.wid, 3);
	assert_true((sf_new->due & SEAT_DO_OPEN) != 0);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_WAIT);
	assert_int_equal(sf_run(200, sf_old) & ~SEAT_DO_REPORT, 0);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_WAIT);
	assert_true(seat_peer(&sf_old->st));
	assert_false(seat_dispatching(&sf_old->st));
	assert_int_equal(sf.d->seat[0][0].window_seen, sf.d->window);
}

/* REL-5 */
static void
test_the_lane_is_let_go_by_the_holders_own_swap_and_by_nothing_else(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	/* section 8, line 18: the order stands until it is obeyed; looking twice changes nothing */
	assert_int_equal(seat_turn(&sf_old->st, sf.now_ns), SEAT_DO_LET_GO);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(seat_turn(&sf_old->st, sf.now_ns), SEAT_DO_LET_GO);
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	sf_turn(sf_new);
	assert_int_equal(sf_lease(0).state, LEASE_OWNED);
	seat_let_go(&sf_old->st, sf.now_ns);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
	assert_int_equal(sf_lease(0).gen, 2);
	assert_int_equal(sf.d->seat[0][0].parked_at_ns, sf.now_ns);
	seat_let_go(&sf_old->st, sf.now_ns + 1);
	assert_int_equal(sf.d->seat[0][0].parked_at_ns, sf.now_ns);
	/* neither takes it before the one swap */
	sf_run(20, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_WAIT);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
}

/* REL-3 */
static void
test_the_stamp_of_a_take_is_not_before_the_first_poll(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	sf_turn(sf_old);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
	sf_step(WINDOW_COMMITTED);
	assert_true((seat_turn(&sf_new->st, sf.now_ns) & SEAT_DO_TOOK) != 0);
	seat_turn(&sf_new->st, sf.now_ns + 7000); /* the turn before may have been interrupted after it had read the clock */
	assert_int_equal(sf.d->seat[1][0].took_at_ns, sf.now_ns + 7000);
	seat_turn(&sf_new->st, sf.now_ns + 9000);
	assert_int_equal(sf.d->seat[1][0].took_at_ns, sf.now_ns + 7000);
}

/* REL-3, REL-5, REL-8 */
static void
test_a_whole_reload_from_both_sides(void **state)
{
	unsigned int old, new;

	(void)state;
	commit();
	assert_true(seat_dispatching(&sf_new->st));
	assert_false(seat_dispatching(&sf_old->st));
	assert_int_equal(sf_lease(0).gen, 3);
	assert_true(sf.d->seat[1][0].took_at_ns >= sf.d->seat[0][0].parked_at_ns);
	assert_int_equal(sf_run(900, sf_old), 0);
	assert_int_equal(sf_run(200, sf_old), SEAT_DO_REPORT);
	sf_step(WINDOW_RETIRING);
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_HAND);
	assert_true(sf_old->st.handing);
	assert_false(seat_may_leave(&sf_old->st, sf.now_ns));
	sf_run(1, NULL);
	assert_false(seat_may_leave(&sf_old->st, sf.now_ns));
	sf_run(1, NULL);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
	assert_true(seat_dispatching(&sf_new->st));
	for (unsigned int i = 0; i < 2; i++) {
		sf.w[i].off = true;
		seat_release(&sf.w[i].st);
	}
	assert_int_equal(gen_side_alive(sf.s, sf.d, 0), 0);
	new = sf_run(50, sf_new);
	assert_int_equal(new, SEAT_DO_PEER_GONE);
	assert_false(seat_dispatching(&sf_new->st));
	sf_step(WINDOW_CLOSED);
	assert_int_equal(sf_window().active, 3);
	new = sf_run(50, sf_new);
	assert_int_equal(new, SEAT_DO_CLOSE);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	/* and the next one, back to the first side */
	assert_true(gen_window_swap(sf.s, sf.d, sf_window(), (struct window){ WINDOW_OPEN, gen_next(sf.s, sf.d, 0), 3 }));
	sf_sit(0, 4, NULL);
	sf_sit(1, 4, NULL);
	old = sf_run(3, sf_new);
	assert_int_equal(old, SEAT_DO_OPEN);
	sf_step(WINDOW_PARKING);
	sf_run(3, NULL);
	sf_step(WINDOW_COMMITTED);
	old = sf_run(3, sf_new);
	assert_int_equal(old, SEAT_DO_GAVE | SEAT_DO_REPORT);
	assert_int_equal(sf.w[4].st.role, SEAT_ROLE_OWNER);
}

/* REL-8 */
static void
test_the_report_comes_at_once_and_once_a_second(void **state)
{
	struct drain_counts c;
	unsigned int n = 0;

	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	sf_run(3, NULL);
	sf_step(WINDOW_COMMITTED);
	assert_true((sf_run(1, sf_old) & SEAT_DO_REPORT) != 0);
	for (unsigned int i = 0; i < 3000; i++)
		n += (sf_run(1, sf_old) & SEAT_DO_REPORT) != 0;
	assert_int_equal(n, 3);
	seat_report(&sf_old->st, &(struct drain_counts){ .tcp = 1, .half_open = 2, .udp = 3, .unsent = 4 }, 77);
	assert_int_equal(gen_drain(sf.s, sf.d, 0, 0, &c), 0);
	assert_int_equal(c.gen, 2);
	assert_int_equal(c.tcp, 1);
	assert_int_equal(c.half_open, 2);
	assert_int_equal(c.udp, 3);
	assert_int_equal(c.unsent, 4);
	assert_int_equal(c.stamp_ms, 77);
	assert_int_equal(sf.d->seat[0][0].drain_seq & 1, 0);
}

/* REL-12, REL-17 */
static void
test_an_abort_while_parked_gives_the_lanes_back(void **state)
{
	unsigned int old;

	(void)state;
	/* section 8, lines 1, 2, 3 and 17 */
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	sf_old1->off = true; /* never acknowledges */
	sf_run(50, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	assert_int_equal(sf_lease(1).state, LEASE_OWNED);
	sf_step(WINDOW_ABORTED);
	old = sf_run(1, sf_old);
	assert_int_equal(old, SEAT_DO_TOOK | SEAT_DO_CLOSE);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_true((sf_new->due & SEAT_DO_EXIT) != 0);
	assert_true((sf_run(1, sf_new) & SEAT_DO_EXIT) != 0);
	sf_old1->off = false;
	assert_int_equal(sf_run(1, sf_old1), SEAT_DO_CLOSE);
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
	for (unsigned int i = 2; i < 4; i++) {
		sf.w[i].off = true;
		seat_release(&sf.w[i].st);
	}
	assert_int_equal(sf_run(50, sf_old), SEAT_DO_PEER_GONE);
	sf_step(WINDOW_CLOSED);
	assert_int_equal(sf_window().active, 2);
	assert_int_equal(sf_run(50, sf_old), 0);
}

/* REL-12 */
static void
test_a_closed_window_says_that_the_peer_is_gone_even_if_nobody_saw_it_go(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_ABORTED);
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_CLOSE);
	sf_new->off = sf_new1->off = true;
	seat_release(&sf_new->st);
	seat_release(&sf_new1->st);
	sf_step(WINDOW_CLOSED);
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_PEER_GONE);
	assert_int_equal(sf_run(30, sf_old), 0);
}

/* REL-3, REL-13 */
static void
test_a_worker_that_missed_whole_windows_hears_of_both_in_turn(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_old->off = true;
	sf_step(WINDOW_ABORTED);
	sf_run(1, NULL);
	sf_new->off = sf_new1->off = true;
	seat_release(&sf_new->st);
	seat_release(&sf_new1->st);
	sf_step(WINDOW_CLOSED);
	assert_true(gen_window_swap(sf.s, sf.d, sf_window(), (struct window){ WINDOW_OPEN, gen_next(sf.s, sf.d, 1), 2 }));
	sf_sit(0, 5, NULL);
	sf_old->off = false;
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_CLOSE | SEAT_DO_PEER_GONE);
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_OPEN);
	assert_int_equal(sf_old->st.open_wid, 5);
	assert_true(seat_peer(&sf_old->st));
}

/* REL-12, REL-13 */
static void
test_what_is_left_of_one_window_is_settled_before_the_next_is_told(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_ABORTED);
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_CLOSE);
	sf_old->off = sf_new->off = sf_new1->off = true;
	seat_release(&sf_new->st);
	seat_release(&sf_new1->st);
	sf_step(WINDOW_CLOSED);
	assert_true(gen_window_swap(sf.s, sf.d, sf_window(), (struct window){ WINDOW_OPEN, gen_next(sf.s, sf.d, 1), 2 }));
	sf_sit(0, 5, NULL);
	sf_old->off = false;
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_PEER_GONE);
	assert_int_equal(sf_run(1, sf_old), SEAT_DO_OPEN);
}

/* REL-13 */
static void
test_an_old_worker_that_missed_the_end_lets_go_hands_over_and_leaves(void **state)
{
	unsigned int due;

	(void)state;
	sf_run(3, NULL);
	sf_old->off = true; /* taken for dead by nobody: it only does not see what happens */
	sf_step(WINDOW_PARKING);
	sf_run(3, NULL);
	sf_step(WINDOW_COMMITTED);
	sf_run(3, NULL);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_WAIT); /* the lane is still another's */
	sf_step(WINDOW_RETIRING);
	sf_step(WINDOW_CLOSED);
	sf_old->off = false;
	due = sf_run(1, sf_old);
	assert_true((due & SEAT_DO_LET_GO) != 0);
	assert_true((sf_run(30, sf_old) & SEAT_DO_GAVE) != 0);
	assert_int_equal(sf_new->st.role, SEAT_ROLE_OWNER);
	assert_true(sf_old->st.handing);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
}

/* ---- orders and leaving ---- */

/* REL-10, REL-17 */
static void
test_orders_are_obeyed_in_steady_state(void **state)
{
	(void)state;
	sf_step(WINDOW_ABORTED);
	sf_new->off = sf_new1->off = true;
	sf_step(WINDOW_CLOSED);
	sf_run(3, NULL);
	/* section 8, line 19: an order of another generation, or an impossible one, is none */
	gen_order_set(sf.s, sf.d, 4, 0, SEAT_ABORT);
	assert_int_equal(sf_run(2, sf_old), 0);
	gen_order_set(sf.s, sf.d, 2, 0, SEAT_QUIT);
	assert_int_equal(sf_run(2, sf_old), SEAT_DO_HAND);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
	assert_false(seat_may_leave(&sf_old1->st, sf.now_ns));
	gen_order_set(sf.s, sf.d, 2, 1, SEAT_ABORT);
	assert_int_equal(sf_run(2, sf_old1), SEAT_DO_EXIT);
	/* the lease stays, for a successor of the generation */
	seat_release(&sf_old1->st);
	seat_release(&sf_old1->st);
	sf_old1->off = true;
	assert_int_equal(sf_lease(1).state, LEASE_OWNED);
	assert_int_equal(gen_seat_alive(sf.s, sf.d, 0, 1, NULL), 0);
	/* the order was the other one's: a master that starts later must find a worker that serves */
	assert_int_equal(sf_turn(sf_sit(1, 2, NULL)), SEAT_DO_TOOK);
	assert_int_equal(gen_order(sf.s, sf.d, 2, 1), SEAT_SERVE);
}

/* REL-12, REL-13 */
static void
test_who_quits_takes_its_lane_back_all_the_same_and_serves_until_it_is_gone(void **state)
{
	(void)state;
	sf_run(3, NULL);
	sf_step(WINDOW_PARKING);
	gen_order_set(sf.s, sf.d, 2, 0, SEAT_QUIT);
	sf_run(2, NULL);
	assert_true(sf_old->st.handing);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_PARKED);
	sf_step(WINDOW_ABORTED);
	assert_true((sf_run(1, sf_old) & SEAT_DO_TOOK) != 0);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* REL-12 */
static void
test_an_ordered_abort_lets_the_lane_go_first(void **state)
{
	(void)state;
	commit();
	sf_step(WINDOW_ROLLBACK);
	gen_order_set(sf.s, sf.d, 3, 0, SEAT_ABORT);
	sf_turn(sf_new);
	assert_true((sf_new->due & SEAT_DO_LET_GO) != 0);
	assert_int_equal(sf_new->due & SEAT_DO_EXIT, 0);
	assert_int_equal(sf_lease(0).state, LEASE_PARKED);
	sf_turn(sf_new);
	assert_int_equal(sf_new->due, SEAT_DO_EXIT);
	sf_turn(sf_old);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
}

/* REL-8, REL-11 */
static void
test_who_hands_over_waits_for_two_turns_of_the_peer_its_death_or_a_second(void **state)
{
	(void)state;
	commit();
	sf_step(WINDOW_RETIRING);
	sf_new->off = true;
	sf_run(990, NULL);
	assert_true(sf_old->st.handing);
	assert_false(seat_may_leave(&sf_old->st, sf.now_ns));
	sf_run(20, NULL);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
	/* a suspended machine's time does not count */
	sf_old->st.handed_ns = 0;
	sf.now_ns += 30000000000ull;
	sf_run(1, NULL);
	assert_false(seat_may_leave(&sf_old->st, sf.now_ns));
	sf_kill(sf_new);
	sf_run(50, NULL);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
}

/* REL-17 */
static void
test_the_handover_counts_turns_across_the_wrap_of_the_heartbeat(void **state)
{
	(void)state;
	/* section 8, line 23 */
	commit();
	sf_new->st.beat = UINT64_MAX - 1;
	sf_run(1, NULL);
	sf_step(WINDOW_RETIRING);
	sf_run(1, NULL);
	assert_false(seat_may_leave(&sf_old->st, sf.now_ns));
	sf_run(4, NULL);
	assert_true(sf.d->seat[1][0].heartbeat < 10);
	assert_true(seat_may_leave(&sf_old->st, sf.now_ns));
}

/* REL-7 */
static void
test_a_worker_says_when_it_wants_to_turn(void **state)
{
	(void)state;
	sf_run(1, NULL);
	assert_int_equal(seat_next(&sf_old->st), sf.now_ns + SEAT_SOON_NS);
	commit();
	assert_int_equal(seat_next(&sf_old->st), sf.now_ns + SEAT_LOOK_NS);
	assert_int_equal(seat_next(&sf_new->st), sf.now_ns + SEAT_LOOK_NS);
	sf_step(WINDOW_RETIRING);
	sf_run(1, NULL);
	assert_int_equal(seat_next(&sf_old->st), sf.now_ns + SEAT_SOON_NS);
}

/* REL-7 */
static void
test_every_turn_beats_whether_the_lane_is_owned_or_not(void **state)
{
	uint64_t old = sf.d->seat[0][0].heartbeat, new = sf.d->seat[1][0].heartbeat;

	(void)state;
	sf_run(10, NULL);
	assert_int_equal(sf.d->seat[0][0].heartbeat, old + 10);
	assert_int_equal(sf.d->seat[1][0].heartbeat, new + 10);
}

int
main(void)
{
#define ALONE(name) cmocka_unit_test_setup_teardown(name, sf_setup, sf_teardown)
#define PAIR(name) cmocka_unit_test_setup_teardown(name, sf_setup_pair, sf_teardown)
	const struct CMUnitTest tests[] = {
		ALONE(test_workers_without_a_master_make_the_first_generation_once),
		ALONE(test_a_slower_worker_joins_the_generation_of_the_faster_one),
		ALONE(test_claim_refuses_what_can_not_be),
		ALONE(test_only_generations_of_the_window_sit_down),
		ALONE(test_a_live_worker_keeps_its_seat_and_is_named),
		ALONE(test_a_successor_takes_the_dead_ones_seat_with_words_of_its_own),
		PAIR(test_a_park_order_that_is_seen_first_does_not_close_publishing),
		PAIR(test_publishing_starts_after_the_flip_too),
		PAIR(test_publishing_starts_with_the_window_and_waits_for_no_park_order),
		PAIR(test_the_lane_is_let_go_by_the_holders_own_swap_and_by_nothing_else),
		PAIR(test_the_stamp_of_a_take_is_not_before_the_first_poll),
		PAIR(test_a_whole_reload_from_both_sides),
		PAIR(test_the_report_comes_at_once_and_once_a_second),
		PAIR(test_an_abort_while_parked_gives_the_lanes_back),
		PAIR(test_a_closed_window_says_that_the_peer_is_gone_even_if_nobody_saw_it_go),
		PAIR(test_a_worker_that_missed_whole_windows_hears_of_both_in_turn),
		PAIR(test_what_is_left_of_one_window_is_settled_before_the_next_is_told),
		PAIR(test_an_old_worker_that_missed_the_end_lets_go_hands_over_and_leaves),
		PAIR(test_orders_are_obeyed_in_steady_state),
		PAIR(test_who_quits_takes_its_lane_back_all_the_same_and_serves_until_it_is_gone),
		PAIR(test_an_ordered_abort_lets_the_lane_go_first),
		PAIR(test_who_hands_over_waits_for_two_turns_of_the_peer_its_death_or_a_second),
		PAIR(test_the_handover_counts_turns_across_the_wrap_of_the_heartbeat),
		PAIR(test_a_worker_says_when_it_wants_to_turn),
		PAIR(test_every_turn_beats_whether_the_lane_is_owned_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

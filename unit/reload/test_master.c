/* SPDX-License-Identifier: BSD-3-Clause */
/* The master in its ordinary life: start, HUP refused and obeyed, the drain, the report, stop, starting workers again. */
#include "masterbed.h"

static int
setup_serving(void **state)
{
	*state = mbed_master(true);
	return 0;
}

static int
setup_bare(void **state)
{
	*state = mbed_new();
	return 0;
}

static int
teardown(void **state)
{
	mbed_free(*state);
	return 0;
}

static struct reload_status
status(struct mbed *b)
{
	struct reload_status st;

	reload_master_status(b->m, &st);
	return st;
}

/* REL-2 */
static void
test_first_generation_is_started(void **state)
{
	struct mbed *b = *state;

	assert_int_equal(mbed_create(b), 0);
	assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
	assert_int_equal(mbed_window(b).active, 2);
	mbed_turn(b, 1);
	assert_int_equal(b->spawns, LANES);
	assert_int_equal(b->child_gen[0][0], 2);
	assert_int_equal(b->child_gen[0][1], 2);
	assert_int_equal(status(b).live[0], LANES);
	assert_int_equal(status(b).respawns, 0);
	assert_int_equal(status(b).active, 2);
	assert_int_equal(status(b).wid, 0);
	assert_int_equal(b->d->master[0].gen, 2);
	mbed_turn(b, 1);
	assert_int_equal(b->spawns, LANES);
	assert_int_equal(b->d->master[0].heartbeat, 2);
}

/* REL-12 */
static void
test_create_refuses_what_is_wrong(void **state)
{
	struct mbed *b = *state;

	b->c.nb_lanes = 0;
	assert_int_equal(mbed_create(b), -EINVAL);
	b->c.nb_lanes = LANES + 1; /* the directory has fewer */
	assert_int_equal(mbed_create(b), -EINVAL);
	b->c.nb_lanes = GEN_MAX_LANES + 1;
	assert_int_equal(mbed_create(b), -EINVAL);
	b->c.nb_lanes = LANES;
	b->ops.spawn = NULL;
	assert_int_equal(mbed_create(b), -EINVAL);
	b->c.ops = NULL;
	assert_int_equal(mbed_create(b), -EINVAL);
	assert_int_equal(b->spawns, 0);
	assert_int_equal(b->d->master[0].claim, 0);
}

/* REL-12 */
static void
test_create_without_memory(void **state)
{
	struct mbed *b = *state;

	mock_fail_malloc_at(b->s, 1);
	assert_int_equal(mbed_create(b), -ENOMEM);
	assert_int_equal(b->d->master[0].claim, 0);
}

/* PAR-3, REL-13 */
static void
test_a_second_master_is_refused_by_name(void **state)
{
	struct mbed *b = *state;
	struct shim_proc other = { .pid = 777, .start_time = 3 };

	mock_proc_set(b->s, other, true);
	b->d->master[2].claim = ctl_proc_word(&other);
	assert_int_equal(mbed_create(b), -EBUSY);
	assert_true(mbed_logged(b, "process 777"));
	assert_int_equal(mbed_window(b).active, 0);
}

/* REL-2 */
static void
test_create_on_a_damaged_directory(void **state)
{
	struct mbed *b = *state;

	b->d->window = 15;
	assert_int_equal(mbed_create(b), -EPROTO);
	assert_int_equal(b->d->master[0].claim, 0);
	b->d->window = 0;
	b->d->next_gen = GEN_LAST + 1;
	assert_int_equal(mbed_create(b), -ENOSPC);
	assert_int_equal(b->d->master[0].claim, 0);
}

/* Everything that must not change by a HUP that is refused. */
struct before {
	struct gen_dir d;
	unsigned int spawns;
};

static struct before
before(struct mbed *b)
{
	struct before x;

	x.d = *b->d;
	x.spawns = b->spawns;
	return x;
}

static void
refused(struct mbed *b, int rc, const char *reason)
{
	struct before x = before(b);
	char why[200] = "", line[300];

	assert_int_equal(reload_master_hup(b->m, why, sizeof(why)), rc);
	assert_non_null(strstr(why, reason));
	snprintf(line, sizeof(line), "graceful reload rejected: %s", why);
	assert_true(mbed_logged(b, line));
	assert_memory_equal(&x.d, b->d, sizeof(x.d));
	assert_int_equal(x.spawns, b->spawns);
}

/* REL-3, REL-8 */
static void
test_the_last_refusal_or_abort_is_kept_with_its_age(void **state)
{
	struct mbed *b = *state;
	struct reload_status st;
	char why[200];

	assert_int_equal(mbed_create(b), 0);
	reload_master_status(b->m, &st);
	assert_false(st.trouble.there);
	mbed_turn(b, 1);
	refused(b, -EBUSY, "does not serve yet");
	mbed_turn(b, 3000);
	reload_master_status(b->m, &st);
	assert_true(st.trouble.there && !st.trouble.aborted);
	assert_int_equal(st.trouble.ago_ms, 3000);
	assert_non_null(strstr(st.trouble.why, "does not serve yet"));
	mbed_ready(b, 2, 0);
	mbed_ready(b, 2, 1);
	assert_int_equal(reload_master_hup(b->m, why, sizeof(why)), 0);
	reload_master_status(b->m, &st);
	assert_false(st.trouble.aborted); /* of a reload that has begun there is nothing to say yet */
	mbed_turn(b, 1001);
	reload_master_status(b->m, &st);
	assert_true(st.trouble.aborted);
	assert_int_equal(st.trouble.ago_ms, 0);
	assert_string_equal(st.trouble.why, "READY wait timed out");
}

/* REL-3, REL-12 */
static void
test_hup_before_anybody_serves_is_refused(void **state)
{
	struct mbed *b = *state;

	assert_int_equal(mbed_create(b), 0);
	mbed_turn(b, 1);
	refused(b, -EBUSY, "does not serve yet");
	assert_int_equal(b->checks, 0);
	mbed_ready(b, 2, 0);
	assert_int_equal(reload_master_hup(b->m, (char[100]){ 0 }, 100), 0);
}

/* REL-3, REL-4 */
static void
test_hup_while_the_old_ones_are_not_ready_waits_for_them(void **state)
{
	struct mbed *b = *state;

	assert_int_equal(mbed_create(b), 0);
	mbed_turn(b, 1);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		mbed_sit(b, 2, lane);
		mbed_own(b, 2, lane); /* polls, and its addresses are not settled */
	}
	assert_int_equal(reload_master_hup(b->m, (char[100]){ 0 }, 100), 0);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_ready(b, 3, lane);
	mbed_turn(b, 100);
	assert_int_equal(mbed_state(b), RELOAD_T1_GNEW_SPAWN);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_ready(b, 2, lane);
	mbed_turn(b, 100);
	assert_int_equal(mbed_state(b), RELOAD_T2_HANDOVER);
}

/* REL-3, PAR-3 */
static void
test_second_hup_in_every_state_is_refused(void **state)
{
	static const enum reload_state at[] = { RELOAD_T1_GNEW_SPAWN, RELOAD_T2_HANDOVER, RELOAD_T3_DRAIN,
		RELOAD_T5_GOLD_QUIT };

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct mbed *b = mbed_master(true);

		mbed_to(b, at[i]);
		refused(b, -EBUSY, reload_state_name(at[i]));
		assert_int_equal(mbed_count(b, "illegal event"), 0); /* the refusal says it; nothing went wrong */
		mbed_free(b);
	}
}

/* PAR-3 */
static void
test_a_third_generation_is_refused(void **state)
{
	struct mbed *b = *state;
	struct shim_proc who;

	/* a worker of the other side that no master of now has started, and that this one has not seen yet */
	b->child_gen[1][1] = 1;
	who = mbed_stranger(b, 1, 1);
	refused(b, -EBUSY, "an older generation is still there");
	/* nor when it has */
	mbed_turn(b, 1);
	refused(b, -EBUSY, "an older generation is still there");
	mock_proc_set(b->s, who, false);
	mbed_turn(b, 1);
	assert_int_equal(reload_master_hup(b->m, (char[100]){ 0 }, 100), 0);
}

/* PAR-3 */
static void
test_hup_beside_another_master_is_refused(void **state)
{
	struct mbed *b = *state;
	struct shim_proc other = { .pid = 778, .start_time = 3 };

	mock_proc_set(b->s, other, true);
	b->d->master[3].claim = ctl_proc_word(&other);
	refused(b, -EBUSY, "another master is there (process 778)");
	mock_proc_set(b->s, other, false); /* a dead one's slot is no obstacle */
	assert_int_equal(reload_master_hup(b->m, (char[100]){ 0 }, 100), 0);
}

/* REL-1 */
static void
test_hup_that_the_check_refuses(void **state)
{
	struct mbed *b = *state;

	b->check_rc = -EXDEV;
	refused(b, -EXDEV, "the device digest differs: mtu");
	assert_int_equal(b->checks, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
	b->check_rc = 0;
	assert_int_equal(reload_master_hup(b->m, (char[100]){ 0 }, 100), 0);
	assert_int_equal(b->checks, 2);
}

/* REL-1 */
static void
test_hup_without_a_check(void **state)
{
	struct mbed *b = *state;

	b->ops.check = NULL;
	assert_int_equal(mbed_create(b), 0);
	mbed_turn(b, 1);
	mbed_ready(b, 2, 0);
	assert_int_equal(reload_master_hup(b->m, NULL, 0), 0);
}

/* REL-2 */
static void
test_hup_with_no_number_left(void **state)
{
	struct mbed *b = *state;

	b->d->next_gen = GEN_LAST + 1;
	refused(b, -ENOSPC, "no generation number is left");
}

/* REL-3 */
static void
test_hup_while_a_stop_is_under_way(void **state)
{
	struct mbed *b = *state;

	reload_master_stop(b->m, true);
	refused(b, -EBUSY, "a stop is under way");
}

/* REL-3 */
static void
test_hup_with_a_window_that_is_not_the_masters(void **state)
{
	struct mbed *b = *state;

	mbed_window_set(b, WINDOW_OPEN, 5, 2);
	refused(b, -EBUSY, "the window is OPEN, of generation 5");
}

/* REL-3, REL-4, REL-5, REL-8 */
static void
test_a_whole_round(void **state)
{
	struct mbed *b = *state;
	struct reload_status st;

	mbed_log_clear(b);
	mbed_to(b, RELOAD_T0_IDLE);
	assert_int_equal(mbed_count(b, "graceful reload fsm:"), 6);
	assert_true(mbed_logged(b, "graceful reload fsm: T0_IDLE -> T1_GNEW_SPAWN (transition 1, elapsed 0 ms)"));
	assert_true(mbed_logged(b, "graceful reload fsm: T1_GNEW_SPAWN -> T2_HANDOVER (transition 2, elapsed 5 ms)"));
	assert_true(mbed_logged(b, "graceful reload fsm: T2_HANDOVER -> T3_DRAIN (transition 3, elapsed 1 ms)"));
	assert_true(mbed_logged(b, "graceful reload fsm: T3_DRAIN -> T4_DRAIN_DONE (transition 4, elapsed 1 ms)"));
	assert_true(mbed_logged(b, "graceful reload fsm: T4_DRAIN_DONE -> T5_GOLD_QUIT (transition 5, elapsed 0 ms)"));
	assert_true(mbed_logged(b, "graceful reload fsm: T5_GOLD_QUIT -> T0_IDLE (transition 6, elapsed 1 ms)"));
	assert_true(mbed_logged(b, "graceful reload complete: generation 3 now active (took 8 ms: handover 1 ms, drain 1 ms, "
		"drain forwarded 0 / relayed 0 pkts, ring peak rx 0 / tx 0)"));
	assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
	assert_int_equal(mbed_window(b).active, 3);
	assert_int_equal(b->d->master[0].gen, 3);
	st = status(b);
	assert_int_equal(st.active, 3);
	assert_int_equal(st.wid, 0);
	assert_int_equal(st.live[1], LANES);
	assert_int_equal(st.live[0], 0);
	assert_int_equal(st.reloads, 1);
	assert_true(st.last.complete);
	/* and back to the other side */
	mbed_to(b, RELOAD_T0_IDLE);
	assert_int_equal(mbed_window(b).active, 4);
	assert_int_equal(status(b).reloads, 2);
}

/* REL-3 */
static void
test_the_window_follows_the_states(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T1_GNEW_SPAWN);
	assert_int_equal(mbed_window(b).state, WINDOW_OPEN);
	assert_int_equal(b->spawns, 2 * LANES);
	assert_int_equal(b->child_gen[1][0], 3);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_ready(b, 3, lane);
	assert_int_equal(mbed_turn(b, 1), 0); /* nobody polls a parked lane: at once */
	assert_int_equal(mbed_window(b).state, WINDOW_PARKING);
	assert_int_equal(status(b).wid, 3);
	mbed_park(b, 2, 0);
	assert_int_equal(mbed_turn(b, 0), 0);
	assert_int_equal(mbed_window(b).state, WINDOW_PARKING);
	assert_int_equal(mbed_turn(b, 2), 20000);
	mbed_park(b, 2, 1);
	mbed_turn(b, 0);
	assert_int_equal(mbed_window(b).state, WINDOW_COMMITTED);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		mbed_own(b, 3, lane);
		mbed_report(b, 2, lane, 0, 0);
	}
	mbed_turn(b, 1);
	assert_int_equal(mbed_window(b).state, WINDOW_RETIRING);
	assert_int_equal(mbed_window(b).active, 2);
}

/* REL-3 */
static void
test_completion_line_with_everything_in_it(void **state)
{
	struct mbed *b = *state;

	b->d->lane[0].taken = 4;
	mbed_to(b, RELOAD_T3_DRAIN);
	b->d->seat[1][0].forwarded = 10;
	b->d->seat[1][1].forwarded = 5;
	b->d->seat[0][0].relayed = 7;
	b->d->seat[1][0].drain_full = 2;
	b->d->seat[0][1].relay_full = 1;
	b->d->seat[1][0].drain_peak = 9;
	b->d->seat[1][1].drain_peak = 4;
	b->d->seat[0][1].relay_peak = 6;
	b->d->lane[0].taken = 6; /* 4 of them before the window */
	b->d->lane[1].taken = 1;
	b->d->seat[0][0].parked_at_ns = 1000000;
	b->d->seat[1][0].took_at_ns = 1030001;
	b->d->seat[0][1].parked_at_ns = 1000000;
	b->d->seat[1][1].took_at_ns = 1120000;
	mbed_turn(b, 30000); /* never a report: forced */
	assert_int_equal(mbed_state(b), RELOAD_T5_GOLD_QUIT);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_leave(b, 2, lane);
	mbed_turn(b, 1);
	assert_true(mbed_logged(b, "graceful reload complete: generation 3 now active (took 30007 ms: handover 1 ms, drain "
		"30000 ms, drain forwarded 15 / relayed 7 pkts, ring peak rx 9 / tx 6), dropped 3 pkts, gap 120 us, 3 leases "
		"taken from a live owner (deadline forced)"));
	assert_int_equal(status(b).taken, 7);
	assert_int_equal(status(b).last.taken, 3);
	assert_int_equal(status(b).last.gap_ns, 120000);
	assert_int_equal(status(b).last.dropped, 3);
	assert_true(status(b).last.forced);
}

/* REL-3 */
static void
test_a_gap_is_not_made_of_old_or_absurd_stamps(void **state)
{
	struct mbed *b = *state;

	b->d->seat[0][0].parked_at_ns = 500; /* of an earlier round; that worker dies before it parks */
	mbed_to(b, RELOAD_T2_HANDOVER);
	mbed_die(b, 2, 0);
	mbed_park(b, 2, 1);
	mbed_turn(b, 2);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	b->d->seat[1][0].took_at_ns = 900000;
	b->d->seat[0][1].parked_at_ns = 5000;
	b->d->seat[1][1].took_at_ns = 4000; /* another clock */
	mbed_report(b, 2, 1, 0, 0);
	mbed_turn(b, 1);
	mbed_leave(b, 2, 1);
	mbed_turn(b, 1);
	assert_true(status(b).last.complete);
	assert_int_equal(status(b).last.gap_ns, 0);
}

/* REL-3, REL-12 */
static void
test_report_texts(void **state)
{
	struct reload_report r = { .reason = "READY wait timed out" };
	char text[300];

	(void)state;
	reload_report_text(&r, text, sizeof(text));
	assert_string_equal(text, "graceful reload aborted: READY wait timed out (old generation untouched)");
	r.reclaimed = true;
	r.reason = NULL;
	reload_report_text(&r, text, sizeof(text));
	assert_string_equal(text, "graceful reload aborted: ? (old generation serving again)");
	reload_report_text(&r, text, 10);
	assert_string_equal(text, "graceful ");
}

/* REL-8 */
static void
test_the_drain_waits_for_every_live_workers_report(void **state)
{
	struct mbed *b = *state;

	/* a report of the same generation from an earlier, reclaimed round shows zero: it does not count */
	mbed_report(b, 2, 0, 0, 0);
	mbed_report(b, 2, 1, 0, 0);
	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_turn(b, 10);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	mbed_report(b, 2, 0, 0, 0);
	mbed_turn(b, 10);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	mbed_report(b, 2, 1, 3, 4);
	mbed_turn(b, 10);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	assert_int_equal(status(b).left.tcp, 3);
	assert_int_equal(status(b).left.udp, 4);
	assert_int_equal(status(b).left.unsent, 300);
	b->d->seat[0][1].drain_seq++; /* its writer died in the middle: not drained, but dead */
	mbed_turn(b, 10);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	mbed_die(b, 2, 1);
	mbed_turn(b, 10);
	assert_int_equal(mbed_state(b), RELOAD_T5_GOLD_QUIT);
}

/* REL-8, REL-9 */
static void
test_the_drain_limit_of_the_last_hup_counts(void **state)
{
	struct mbed *b = *state;

	reload_master_drain_limit(b->m, 0); /* the default, 90 s */
	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_report(b, 2, 0, 0, 1); /* that of lane 1 never comes */
	mbed_turn(b, 89000);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	reload_master_drain_limit(b->m, 89500);
	mbed_turn(b, 600);
	assert_int_equal(mbed_state(b), RELOAD_T5_GOLD_QUIT);
}

/* REL-8 */
static void
test_a_report_of_another_generation_does_not_count(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T3_DRAIN);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		mbed_report(b, 2, lane, 0, 0);
		b->d->seat[0][lane].drain.gen = 7;
	}
	mbed_turn(b, 10);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
}

/* REL-9 */
static void
test_a_stalled_drain_says_what_holds_it(void **state)
{
	struct mbed *b = *state;

	mbed_to(b, RELOAD_T3_DRAIN);
	mbed_report(b, 2, 0, 1, 2);
	b->d->seat[0][0].drain.half_open = 5;
	mbed_turn(b, 9999);
	assert_int_equal(mbed_count(b, "T3 stalled"), 0);
	mbed_turn(b, 1);
	assert_true(mbed_logged(b, "graceful reload T3 stalled: tcp 1 half-open 5 unsent 100 udp 2, workers without a report 1\n"));
	mbed_report(b, 2, 1, 1, 2);
	for (unsigned int i = 0; i < 999; i++)
		mbed_turn(b, 10);
	assert_int_equal(mbed_count(b, "T3 stalled"), 1);
	mbed_turn(b, 10);
	assert_int_equal(mbed_count(b, "T3 stalled"), 2);
	assert_true(mbed_logged(b, "graceful reload T3 stalled: tcp 2 half-open 5 unsent 200 udp 4\n"));
}

/* REL-13 */
static void
test_a_dead_worker_is_started_again_at_once(void **state)
{
	struct mbed *b = *state;
	struct shim_proc first = b->child[0][1];

	mbed_die(b, 2, 1);
	mbed_turn(b, 1);
	assert_int_equal(b->spawns, LANES + 1);
	assert_int_not_equal(b->child[0][1].pid, first.pid);
	assert_int_equal(b->child_gen[0][1], 2);
	assert_int_equal(status(b).respawns, 1);
	assert_true(mbed_logged(b, "worker of lane 1, generation 2 (process 5001) is gone"));
}

/* REL-13 */
static void
test_one_that_dies_young_is_started_slower_and_slower(void **state)
{
	struct mbed *b = *state;
	unsigned int ms, wait = 0;

	for (unsigned int round = 0; round < 8; round++) {
		unsigned int spawns = b->spawns;

		mbed_die(b, 2, 0);
		for (ms = 0; b->spawns == spawns; ms++)
			mbed_turn(b, 1);
		if (round == 0)
			assert_int_equal(ms, 1); /* it had lived long */
		if (round == 1)
			assert_in_range(ms, 100, 102);
		assert_in_range(ms, wait, 2002);
		wait = ms;
	}
	assert_in_range(wait, 2000, 2002);
	/* one that lives is not young */
	mbed_turn(b, 2000);
	mbed_die(b, 2, 0);
	ms = b->spawns;
	mbed_turn(b, 1);
	assert_int_equal(b->spawns, ms + 1);
}

/* REL-13 */
static void
test_a_worker_that_can_not_be_started_is_tried_again(void **state)
{
	struct mbed *b = *state;
	unsigned int tries = 0;

	b->fail_spawns = 7;
	assert_int_equal(mbed_create(b), 0);
	for (unsigned int ms = 0; b->spawns < LANES && ms < 20000; ms++)
		mbed_turn(b, 1);
	tries = mbed_count(b, "could not be started");
	assert_int_equal(b->spawns, LANES);
	assert_int_equal(tries, 7);
}

/* REL-13 */
static void
test_the_turn_says_when_the_next_start_is_due(void **state)
{
	struct mbed *b = *state;

	b->c.heartbeat_timeout_ms = 1000;
	b->fail_spawns = 1;
	assert_int_equal(mbed_create(b), 0);
	assert_int_equal(mbed_turn(b, 1), 100000000);
	assert_int_equal(mbed_turn(b, 40), 60000000);
	b->fail_spawns = 0;
	assert_int_equal(mbed_turn(b, 60), 100000000);
	assert_int_equal(b->spawns, LANES);
}

/* REL-13 */
static void
test_a_stranger_in_a_seat_is_taken_for_the_worker(void **state)
{
	struct mbed *b = *state;
	struct shim_proc who;

	mbed_die(b, 2, 0);
	who = mbed_stranger(b, 2, 0); /* started by hand, faster than the master */
	mbed_turn(b, 1);
	assert_int_equal(b->spawns, LANES);
	assert_int_equal(status(b).live[0], LANES);
	mock_proc_set(b->s, who, false);
	mbed_turn(b, 2500);
	assert_int_equal(b->spawns, LANES + 1);
}

/* REL-3 */
static void
test_stop_at_rest(void **state)
{
	struct mbed *b = *state;

	reload_master_stop(b->m, true);
	assert_false(reload_master_stopped(b->m));
	mbed_turn(b, 1);
	assert_int_equal(gen_order(b->s, b->d, 2, 0), SEAT_QUIT);
	assert_int_equal(gen_order(b->s, b->d, 2, 1), SEAT_QUIT);
	mbed_leave(b, 2, 0);
	mbed_turn(b, 5);
	assert_false(reload_master_stopped(b->m));
	assert_true(status(b).stopping);
	reload_master_stop(b->m, false); /* TERM hurries it */
	mbed_turn(b, 1);
	assert_int_equal(gen_order(b->s, b->d, 2, 1), SEAT_ABORT);
	reload_master_stop(b->m, true); /* and nothing makes it slow again */
	mbed_turn(b, 1);
	assert_int_equal(gen_order(b->s, b->d, 2, 1), SEAT_ABORT);
	mbed_leave(b, 2, 1);
	mbed_turn(b, 5);
	assert_true(reload_master_stopped(b->m));
	assert_int_equal(b->spawns, LANES);
	assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
}

/* REL-13 */
static void
test_a_stop_that_is_not_obeyed_kills(void **state)
{
	struct mbed *b = *state;

	reload_master_stop(b->m, false);
	mbed_turn(b, 499);
	assert_true(mbed_alive(b, 2, 0));
	mbed_turn(b, 1);
	assert_false(mbed_alive(b, 2, 0));
	assert_false(mbed_alive(b, 2, 1));
	mbed_turn(b, 1);
	assert_true(reload_master_stopped(b->m));
}

/* REL-13 */
static void
test_a_graceful_stop_has_its_limit_too(void **state)
{
	struct mbed *b = *state;

	reload_master_stop(b->m, true);
	mbed_turn(b, 30299);
	assert_true(mbed_alive(b, 2, 0));
	mbed_turn(b, 1);
	assert_false(mbed_alive(b, 2, 0));
}

/* REL-3, REL-12 */
static void
test_stop_before_the_flip_aborts_and_ends_both(void **state)
{
	static const enum reload_state at[] = { RELOAD_T1_GNEW_SPAWN, RELOAD_T2_HANDOVER };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct mbed *b = mbed_master(true);

		mbed_to(b, at[i % 2]);
		reload_master_stop(b->m, i / 2);
		mbed_turn(b, 1);
		assert_true(mbed_logged(b, "graceful reload aborted: stop order (old generation untouched)"));
		assert_int_equal(mbed_window(b).state, WINDOW_ABORTED);
		assert_int_equal(gen_order(b->s, b->d, 3, 0), SEAT_ABORT);
		assert_int_equal(gen_order(b->s, b->d, 2, 0), i / 2 ? SEAT_QUIT : SEAT_ABORT);
		for (uint32_t gen = 2; gen <= 3; gen++)
			for (unsigned int lane = 0; lane < LANES; lane++)
				mbed_leave(b, gen, lane);
		mbed_turn(b, 1);
		assert_true(reload_master_stopped(b->m));
		assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
		assert_int_equal(mbed_window(b).active, 2);
		assert_int_equal(b->spawns, 2 * LANES);
		mbed_free(b);
	}
}

/* REL-3 */
static void
test_stop_after_the_flip_ends_the_drain_and_both(void **state)
{
	static const enum reload_state at[] = { RELOAD_T3_DRAIN, RELOAD_T5_GOLD_QUIT };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct mbed *b = mbed_master(true);

		mbed_to(b, at[i % 2]);
		reload_master_stop(b->m, i / 2);
		mbed_turn(b, 1);
		assert_int_equal(mbed_window(b).state, WINDOW_RETIRING);
		assert_int_equal(gen_order(b->s, b->d, 3, 0), i / 2 ? SEAT_QUIT : SEAT_ABORT);
		for (uint32_t gen = 2; gen <= 3; gen++)
			for (unsigned int lane = 0; lane < LANES; lane++)
				mbed_leave(b, gen, lane);
		mbed_turn(b, 1);
		assert_true(reload_master_stopped(b->m));
		assert_int_equal(mbed_window(b).state, WINDOW_CLOSED);
		assert_int_equal(mbed_window(b).active, 3);
		mbed_free(b);
	}
}

int
main(void)
{
#define SERVING(t) cmocka_unit_test_setup_teardown(t, setup_serving, teardown)
#define BARE(t) cmocka_unit_test_setup_teardown(t, setup_bare, teardown)
	const struct CMUnitTest tests[] = {
		BARE(test_first_generation_is_started),
		BARE(test_create_refuses_what_is_wrong),
		BARE(test_create_without_memory),
		BARE(test_a_second_master_is_refused_by_name),
		BARE(test_create_on_a_damaged_directory),
		BARE(test_the_last_refusal_or_abort_is_kept_with_its_age),
		BARE(test_hup_before_anybody_serves_is_refused),
		BARE(test_hup_while_the_old_ones_are_not_ready_waits_for_them),
		cmocka_unit_test(test_second_hup_in_every_state_is_refused),
		SERVING(test_a_third_generation_is_refused),
		SERVING(test_hup_beside_another_master_is_refused),
		SERVING(test_hup_that_the_check_refuses),
		BARE(test_hup_without_a_check),
		SERVING(test_hup_with_no_number_left),
		SERVING(test_hup_while_a_stop_is_under_way),
		SERVING(test_hup_with_a_window_that_is_not_the_masters),
		SERVING(test_a_whole_round),
		SERVING(test_the_window_follows_the_states),
		SERVING(test_completion_line_with_everything_in_it),
		SERVING(test_a_gap_is_not_made_of_old_or_absurd_stamps),
		cmocka_unit_test(test_report_texts),
		SERVING(test_the_drain_waits_for_every_live_workers_report),
		SERVING(test_the_drain_limit_of_the_last_hup_counts),
		SERVING(test_a_report_of_another_generation_does_not_count),
		SERVING(test_a_stalled_drain_says_what_holds_it),
		SERVING(test_a_dead_worker_is_started_again_at_once),
		SERVING(test_one_that_dies_young_is_started_slower_and_slower),
		BARE(test_a_worker_that_can_not_be_started_is_tried_again),
		BARE(test_the_turn_says_when_the_next_start_is_due),
		SERVING(test_a_stranger_in_a_seat_is_taken_for_the_worker),
		SERVING(test_stop_at_rest),
		SERVING(test_a_stop_that_is_not_obeyed_kills),
		SERVING(test_a_graceful_stop_has_its_limit_too),
		cmocka_unit_test(test_stop_before_the_flip_aborts_and_ends_both),
		cmocka_unit_test(test_stop_after_the_flip_ends_the_drain_and_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole reloads of master and seats by their headers: lies about readiness, late and missing acknowledgements, deaths. */
#include "gens.h"

static void
hup(struct g *g)
{
	char why[256] = "";
	int rc = reload_master_hup(g->m, why, sizeof(why));

	if (rc != 0)
		fail_msg("refused: %s", why);
}

/* REL-1, REL-3, REL-4, REL-5: round after round; six transitions and a line at the end; a lane idles two turns at most */
static void
rounds_follow_one_another(void **state)
{
	static const unsigned int lanes[] = { 1, 3, 16 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct g *g = g_serving(lanes[i]);
		uint32_t active = g_status(g).active;

		for (unsigned int round = 0; round < (lanes[i] == 16 ? 3 : 6); round++) {
			char line[300];

			g_log[0] = 0;
			hup(g);
			g_step(g, 1);
			assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
			assert_true(g_logged("graceful reload fsm: T0_IDLE -> T1_GNEW_SPAWN (transition 1, elapsed "));
			assert_true(g_logged("graceful reload fsm: T1_GNEW_SPAWN -> T2_HANDOVER (transition 2, elapsed "));
			assert_true(g_logged("graceful reload fsm: T2_HANDOVER -> T3_DRAIN (transition 3, elapsed "));
			assert_true(g_logged("graceful reload fsm: T3_DRAIN -> T4_DRAIN_DONE (transition 4, elapsed "));
			assert_true(g_logged("graceful reload fsm: T4_DRAIN_DONE -> T5_GOLD_QUIT (transition 5, elapsed "));
			assert_true(g_logged("graceful reload fsm: T5_GOLD_QUIT -> T0_IDLE (transition 6, elapsed "));
			assert_false(g_logged("transition 7"));
			assert_true(g_status(g).last.complete && g_status(g).last.gen == g_status(g).active);
			snprintf(line, sizeof(line), "graceful reload complete: generation %u now active",
				g_status(g).active);
			assert_true(g_logged(line));
			assert_true(g_status(g).active > active);
			active = g_status(g).active;
			assert_int_equal(gen_side_alive(g->s, g->d, gen_side(active) ^ 1), 0);
			assert_int_equal(gen_side_alive(g->s, g->d, gen_side(active)), lanes[i]);
			assert_true(g_all_owned(g));
			assert_true(g_worst(g) <= 3);
		}
		g_free(g);
	}
}

static uint64_t
lie_pid(const struct g_worker *w)
{
	return (uint64_t)w->gen << 32 | (w->proc.pid + 1);
}

static uint64_t
lie_parent(const struct g_worker *w)
{
	return (uint64_t)w->gen << 32 | 1;
}

static uint64_t
lie_last_round(const struct g_worker *w)
{
	return (uint64_t)(w->gen - 2) << 32 | w->proc.pid;
}

static uint64_t
lie_old(const struct g_worker *w)
{
	return (uint64_t)(w->gen - 1) << 32 | w->proc.pid;
}

static uint64_t
lie_next(const struct g_worker *w)
{
	return (uint64_t)(w->gen + 2) << 32 | w->proc.pid;
}

static uint64_t
lie_swapped(const struct g_worker *w)
{
	return (uint64_t)w->proc.pid << 32 | w->gen;
}

static uint64_t
lie_nothing(const struct g_worker *w)
{
	return (uint64_t)w->gen << 32;
}

/* REL-4, REL-12: READY of another pid, of another generation, of nobody: never counted; the old generation never stops */
static void
only_a_childs_own_ready_word_counts(void **state)
{
	static uint64_t (*const lie[])(const struct g_worker *) = { lie_pid, lie_parent, lie_last_round, lie_old, lie_next,
		lie_swapped, lie_nothing };

	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		struct g *g = g_serving(2);
		uint32_t active = g_status(g).active;

		g->lie = lie[i];
		hup(g);
		for (unsigned int t = 0; t < 2000; t++) { /* ended at once where a stranger is named, else by the limit */
			g_step(g, 1);
			assert_true(g_status(g).state != RELOAD_T2_HANDOVER && g_status(g).state != RELOAD_T3_DRAIN);
			assert_true(g_window(g).state != WINDOW_PARKING && g_window(g).state != WINDOW_COMMITTED);
		}
		assert_int_equal(g_status(g).state, RELOAD_T0_IDLE);
		assert_int_equal(g_status(g).active, active);
		assert_int_equal(g_status(g).aborts, 1);
		assert_false(g_status(g).last.complete);
		assert_int_equal(g_window(g).state, WINDOW_CLOSED);
		assert_int_equal(g_window(g).active, active);
		assert_int_equal(gen_side_alive(g->s, g->d, gen_side(active) ^ 1), 0);
		assert_int_equal(g_worst(g), 0);
		assert_true(g_logged("graceful reload aborted"));
		g->lie = NULL; /* and the next round is as good as any */
		hup(g);
		g_step(g, 1);
		assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
		assert_true(g_status(g).active > active);
		g_free(g);
	}
}

/* REL-4, REL-12: one of three is not ready: no T2 */
static void
all_of_them_or_no_handover(void **state)
{
	struct g *g = g_serving(3);

	(void)state;
	g->start_ms = 20;
	hup(g);
	g_step(g, 1);
	for (unsigned int lane = 0; lane < 3; lane++)
		assert_non_null(g_find(g, g_status(g).wid, lane));
	g_find(g, g_status(g).wid, 1)->ready_at = UINT64_MAX;
	for (unsigned int t = 0; t < 450; t++) {
		g_step(g, 1);
		assert_int_equal(g_status(g).state, RELOAD_T1_GNEW_SPAWN);
	}
	assert_true(g_until(g, RELOAD_T_ERROR, 100));
	assert_true(g_until(g, RELOAD_T0_IDLE, 1500));
	assert_int_equal(g_worst(g), 0);
	g_free(g);
}

/* REL-5, REL-12, REL-13: one old worker does not let go in time: abort, the others take their lanes back; late is no harm */
static void
a_late_acknowledgement_changes_nothing(void **state)
{
	(void)state;
	for (unsigned int how = 0; how < 3; how++)
		for (unsigned int late = 0; late < 4; late++) {
			struct g *g = g_serving(3);
			uint32_t active = g_status(g).active;
			struct g_worker *w = g_find(g, active, 1);

			if (how == 0)
				w->wedged = true;
			else
				w->frozen = true;
			hup(g);
			g_step(g, 1);
			assert_true(g_until(g, RELOAD_T2_HANDOVER, 100));
			assert_true(g_until(g, RELOAD_T_ERROR, 150));
			g_run(g, late * late * 10, 1);
			if (how == 2) {
				seat_let_go(&w->st, g->ms_now * G_MS); /* it stood in the middle of its turn all the time */
				seat_beat(&w->st);
			}
			w->wedged = w->frozen = false;
			assert_true(g_until(g, RELOAD_T0_IDLE, 1500));
			g_run(g, 50, 1);
			assert_int_equal(g_status(g).active, active);
			assert_int_equal(g_window(g).state, WINDOW_CLOSED);
			assert_int_equal(g_window(g).active, active);
			assert_true(g_all_owned(g));
			for (unsigned int lane = 0; lane < 3; lane++)
				assert_non_null(g_find(g, active, lane));
			assert_true(g->worst[0] <= 110 && g->worst[2] <= 110);
			hup(g); /* nothing is left of it */
			g_step(g, 1);
			assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
			assert_true(g_status(g).active > active);
			g_free(g);
		}
}

/* PAR-3, REL-3: a second HUP at every millisecond of a round is refused with a reason, and changes nothing */
static void
a_second_hup_is_refused_all_along(void **state)
{
	struct g *g = g_serving(2);
	uint32_t next;
	unsigned int n = 0;
	char why[256];

	(void)state;
	g->udp = 2;
	g->start_ms = 5;
	g_find(g, g_status(g).active, 0)->udp = 3;
	hup(g);
	next = g->d->next_gen;
	g_log[0] = 0;
	do {
		why[0] = 0;
		if (n % 16 == 0 || n < 100) {
			assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), -EBUSY);
			assert_true(why[0] != 0);
		}
		g_step(g, 1);
		assert_true(++n < 9000);
		if (n == 2000)
			for (unsigned int i = 0; i < g->n; i++)
				g->w[i].udp = 0;
	} while (g_status(g).state != RELOAD_T0_IDLE);
	assert_true(n > 2000);
	assert_true(g_logged("graceful reload rejected: "));
	assert_int_equal(g->d->next_gen, next);
	assert_int_equal(g_status(g).reloads, 1);
	assert_true(g_status(g).last.complete);
	g_free(g);
}

/* PAR-3: somebody lives on the other side: no reload, with the reason; nothing was touched; then there is one */
static void
a_third_generation_is_refused(void **state)
{
	struct g *g = g_serving(2);
	unsigned int side = gen_side(g_status(g).active) ^ 1;
	struct shim_proc left = { .pid = 4242, .start_time = 99 };
	struct window before = g_window(g), after;
	uint32_t next = g->d->next_gen, n = g->n;
	char why[256] = "";

	(void)state;
	mock_proc_set(g->s, left, true);
	g->d->seat[side][1].claim = ctl_proc_word(&left);
	g_log[0] = 0;
	assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), -EBUSY);
	assert_true(why[0] != 0);
	assert_true(g_logged("graceful reload rejected: "));
	assert_true(g_logged(why));
	g_run(g, 300, 1);
	after = g_window(g);
	assert_memory_equal(&after, &before, sizeof(after));
	assert_int_equal(g->d->next_gen, next);
	assert_int_equal(g->n, n);
	assert_int_equal(shim_proc_alive(g->s, &left), 1);
	assert_int_equal(g_worst(g), 0);
	mock_proc_set(g->s, left, false);
	g_run(g, 100, 1);
	hup(g);
	g_step(g, 1);
	assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
	g_free(g);
}

/* REL-1, REL-3: what the program's own check says is the answer, and nothing has been touched */
static void
the_check_refuses_before_anything_is_touched(void **state)
{
	struct g *g = g_serving(1);
	uint32_t n = g->n;
	char why[256] = "";

	(void)state;
	g->refuse = "[dpdk] lcore_mask has changed";
	assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), -EBUSY);
	assert_string_equal(why, g->refuse);
	assert_true(g_logged("graceful reload rejected: [dpdk] lcore_mask has changed"));
	g_run(g, 50, 1);
	assert_int_equal(g->n, n);
	assert_int_equal(g_window(g).state, WINDOW_CLOSED);
	g->refuse = NULL;
	hup(g);
	g_step(g, 1);
	assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
	g_free(g);
}

/* REL-12: nothing could be started */
static void
a_spawn_that_fails_leaves_the_old_generation_alone(void **state)
{
	struct g *g = g_serving(2);
	uint32_t active = g_status(g).active;

	(void)state;
	g->spawn_error = -ENOENT;
	hup(g);
	g_step(g, 1);
	assert_true(g_until(g, RELOAD_T0_IDLE, 2000));
	assert_int_equal(g_status(g).active, active);
	assert_int_equal(g_window(g).state, WINDOW_CLOSED);
	assert_int_equal(g_worst(g), 0);
	g->spawn_error = 0;
	hup(g);
	g_step(g, 1);
	assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
	assert_true(g_status(g).active > active);
	g_free(g);
}

/* REL-8, REL-9: what holds the drain is said with its number; at the limit it is over all the same */
static void
a_drain_that_is_held_says_by_what_and_ends(void **state)
{
	struct g *g = g_new(2);
	uint64_t began;

	(void)state;
	g->limits.drain = 25000;
	assert_int_equal(g_master(g), 0);
	g_run(g, 50, 1);
	g_find(g, g_status(g).active, 1)->udp = 4711;
	hup(g);
	g_step(g, 1);
	assert_true(g_until(g, RELOAD_T3_DRAIN, 500));
	began = g->ms_now;
	g_log[0] = 0;
	g_run(g, MASTER_STALL_MS + 2000, 10);
	assert_int_equal(g_status(g).state, RELOAD_T3_DRAIN);
	assert_int_equal(g_status(g).left.udp, 4711);
	assert_true(g_logged("4711"));
	for (unsigned int i = 0; i < 3000 && g_status(g).state == RELOAD_T3_DRAIN; i++)
		g_step(g, 10);
	assert_in_range(g->ms_now - began, 24900, 25200);
	assert_true(g_until(g, RELOAD_T0_IDLE, 3000));
	assert_true(g_status(g).last.forced && g_status(g).last.complete);
	g_free(g);
}

/* REL-13: the machine stands still for half a minute at any time of a round: nobody is taken for dead */
static void
a_suspended_machine_declares_nobody_dead(void **state)
{
	(void)state;
	for (unsigned int at = 0; at < 60; at += 3) {
		struct g *g = g_new(2);
		unsigned int n;

		g->limits = (struct reload_limits){ 0 };
		assert_int_equal(g_master(g), 0);
		g_run(g, 50, 1);
		g->start_ms = 10;
		hup(g);
		g_run(g, at, 1);
		n = g->n;
		g->ms_now += 30000;
		for (unsigned int t = 0; t < 6000 && (t < 10 || g_status(g).state != RELOAD_T0_IDLE); t++)
			g_step(g, 1);
		assert_int_equal(g_status(g).state, RELOAD_T0_IDLE);
		assert_int_equal(g_status(g).respawns, 0);
		assert_true(g->n <= n + 2);
		assert_true(g_all_owned(g));
		g_free(g);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_follow_one_another),
		cmocka_unit_test(only_a_childs_own_ready_word_counts),
		cmocka_unit_test(all_of_them_or_no_handover),
		cmocka_unit_test(a_late_acknowledgement_changes_nothing),
		cmocka_unit_test(a_second_hup_is_refused_all_along),
		cmocka_unit_test(a_third_generation_is_refused),
		cmocka_unit_test(the_check_refuses_before_anything_is_touched),
		cmocka_unit_test(a_spawn_that_fails_leaves_the_old_generation_alone),
		cmocka_unit_test(a_drain_that_is_held_says_by_what_and_ends),
		cmocka_unit_test(a_suspended_machine_declares_nobody_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A reload in which somebody dies or stands still, at every step: bounded, one owner, an end that has a name. */
#include "gens.h"

/* ---- the master dies at its k-th write to shared memory ----------------------------------------------------- */

static struct {
	bool armed;
	unsigned int left;
	jmp_buf out;
} doom;

static void
strike(struct shim *s, enum mock_op op, void *arg)
{
	(void)s;
	(void)op;
	(void)arg;
	if (doom.armed && --doom.left == 0) {
		doom.armed = false;
		longjmp(doom.out, 1);
	}
}

/* The master's turns count down to its death; the workers' don't. Returns true when it is dead. */
static bool
doomed_step(struct g *g, bool hup)
{
	char why[128];

	if (setjmp(doom.out) != 0) {
		g->master_dead = true;
		mock_proc_set(g->s, shim_self(g->ms), false);
		return true;
	}
	doom.armed = true;
	if (hup) {
		assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), 0);
	} else {
		shim_clock_sample(g->ms);
		reload_master_turn(g->m);
	}
	doom.armed = false;
	return false;
}

static void
hooks(struct g *g, bool on)
{
	static const enum mock_op op[] = { MOCK_OP_cas, MOCK_OP_store, MOCK_OP_fetch_add, MOCK_OP_proc_kill };

	for (unsigned int i = 0; i < 4; i++)
		mock_hook(g->s, op[i], on ? strike : NULL, NULL);
}

/* The end of every story: one generation, all lanes polled by it, the window closed. */
static void
assert_settled(struct g *g, const char *story, unsigned int k)
{
	struct window w = g_window(g);
	unsigned int side = gen_side(w.active);

	if (!g_all_owned(g))
		fail_msg("%s %u: a lane is nobody's; window %s(%u, %u)", story, k, gen_window_name(w.state), w.wid, w.active);
	if (w.state != WINDOW_CLOSED)
		fail_msg("%s %u: window %s(%u, %u)", story, k, gen_window_name(w.state), w.wid, w.active);
	if (gen_side_alive(g->s, g->d, side ^ 1) != 0 || gen_side_alive(g->s, g->d, side) != g->lanes)
		fail_msg("%s %u: %u and %u workers", story, k, gen_side_alive(g->s, g->d, side),
			gen_side_alive(g->s, g->d, side ^ 1));
}

static void
reload_once(struct g *g)
{
	uint32_t active = g_status(g).active;
	char why[128] = "";

	if (reload_master_hup(g->m, why, sizeof(why)) != 0)
		fail_msg("refused: %s", why);
	g_step(g, 1);
	assert_true(g_until(g, RELOAD_T0_IDLE, 5000));
	if (!g_status(g).last.complete)
		fail_msg("not complete: %s", g_status(g).last.reason);
	assert_true(g_status(g).active > active);
}

/* REL-13: the master dies before each of its writes of a round: workers settle alone; a new master goes on from there */
static void
the_master_dies_at_every_write(void **state)
{
	bool dead = true;

	(void)state;
	for (unsigned int k = 1; dead; k++) {
		struct g *g = g_serving(2);
		struct reload_master *first;
		struct shim *first_door;

		g->start_ms = 3;
		hooks(g, true);
		doom.left = k;
		dead = doomed_step(g, true);
		for (unsigned int t = 0; !dead && t < 3000 && (t < 5 || g_status(g).state != RELOAD_T0_IDLE); t++) {
			g->master_dead = true; /* its turn is made here */
			g_step(g, 1);
			g->master_dead = false;
			dead = doomed_step(g, false);
		}
		hooks(g, false);
		doom.armed = false;
		if (dead) { /* alone: nobody waits for it for ever, and the lanes are served all the time */
			g_run(g, 400, 2);
			g_run(g, 4000, 20);
			/* a worker that was started and never knew it may be killed or not be there: lanes are what counts */
			if (!g_all_owned(g) || g_worst(g) > 1100)
				fail_msg("write %u: a lane was nobody's for %llu ms", k, (unsigned long long)g_worst(g));
			if (g_window(g).state != WINDOW_CLOSED)
				fail_msg("write %u: window %s", k, gen_window_name(g_window(g).state));
			first = g->m;
			first_door = g->ms;
			assert_int_equal(g_master(g), 0);
			for (unsigned int t = 0; t < 3000 && (t < 100 || g_status(g).state != RELOAD_T0_IDLE); t++)
				g_step(g, 2);
			g_run(g, 500, 2);
			assert_settled(g, "write", k);
			if (k % 8 == 0)
				reload_once(g);
			reload_master_destroy(g->m); /* before the dead one's memory goes */
			g->m = first;
			mock_shim_free(g->ms);
			g->ms = first_door;
		} else {
			assert_true(k > 10);
			assert_true(g_status(g).last.complete);
		}
		g_free(g);
	}
}

/* REL-13: the new master comes at once, in the middle of what the dead one left */
static void
a_new_master_finishes_what_the_dead_one_began(void **state)
{
	bool dead = true;

	(void)state;
	for (unsigned int k = 1; dead; k += 2) {
		struct g *g = g_serving(2);
		struct reload_master *first;
		struct shim *first_door;

		g->start_ms = 3;
		hooks(g, true);
		doom.left = k;
		dead = doomed_step(g, true);
		for (unsigned int t = 0; !dead && t < 3000 && (t < 5 || g_status(g).state != RELOAD_T0_IDLE); t++) {
			g->master_dead = true;
			g_step(g, 1);
			g->master_dead = false;
			dead = doomed_step(g, false);
		}
		hooks(g, false);
		doom.armed = false;
		if (dead) {
			first = g->m;
			first_door = g->ms;
			assert_int_equal(g_master(g), 0);
			for (unsigned int t = 0; t < 3000 && (t < 100 || g_status(g).state != RELOAD_T0_IDLE); t++)
				g_step(g, 2);
			g_run(g, 600, 2);
			assert_settled(g, "write", k);
			assert_true(g_worst(g) <= 1100);
			reload_once(g);
			reload_master_destroy(g->m);
			g->m = first;
			mock_shim_free(g->ms);
			g->ms = first_door;
		}
		g_free(g);
	}
}

/* ---- workers die or stand still ------------------------------------------------------------------------------- */

/* A round with something done to one worker at its t-th ms. False: it was over before. */
static bool
round_with(struct g *g, unsigned int at, bool new, unsigned int lane, void (*deed)(struct g *g, struct g_worker *w))
{
	uint32_t old = g_status(g).active, gen;
	struct g_worker *w;
	char why[128];

	assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), 0);
	gen = g_status(g).wid;
	for (unsigned int t = 0; t < at; t++) {
		g_step(g, 1);
		if (t > 5 && g_status(g).state == RELOAD_T0_IDLE)
			return false;
	}
	w = g_find(g, new ? gen : old, lane);
	if (w != NULL)
		deed(g, w);
	for (unsigned int t = 0; t < 8000 && (t < 5 || g_status(g).state != RELOAD_T0_IDLE); t++)
		g_step(g, 1);
	if (w != NULL && w->frozen && g_alive(g, w)) { /* outside of a window nobody waits for it: it may go on */
		w->frozen = false;
		g->worst[lane] = 0;
	}
	g_run(g, 2500, 5); /* whoever has to be started again is */
	return true;
}

static void
freeze(struct g *g, struct g_worker *w)
{
	(void)g;
	w->frozen = true;
}

/* REL-7, REL-12, REL-13: a worker of either generation is killed, or stands still, at every ms of a round */
static void
a_worker_at_every_millisecond(void **state)
{
	(void)state;
	for (unsigned int c = 0; c < 8; c++) {
		bool new = (c & 1) != 0, still = (c & 2) != 0, more = true;

		for (unsigned int at = 0; more && at < 1300; at += at < 30 ? 1 : still ? 173 : 61) {
			struct g *g = g_serving(2);
			char story[64];

			g->start_ms = 4;
			g->udp = 0;
			snprintf(story, sizeof(story), "%s worker of lane %u %s at ms", new ? "new" : "old", c >> 2,
				still ? "stands still" : "dies");
			more = round_with(g, at, new, c >> 2, still ? freeze : g_kill);
			if (more) {
				assert_settled(g, story, at);
				if (g_worst(g) > (still ? 1300u : 500u))
					fail_msg("%s %u: a lane was nobody's for %llu ms", story, at,
						(unsigned long long)g_worst(g));
				if (at % 7 == 0)
					reload_once(g);
			}
			g_free(g);
		}
	}
}

/* REL-13: a new worker dies in the drain, over and over: the lanes never stay without somebody */
static void
both_workers_of_a_lane_die(void **state)
{
	(void)state;
	for (unsigned int at = 1; at < 40; at += 3) {
		struct g *g = g_serving(2);
		struct g_worker *w;
		uint32_t old = g_status(g).active;
		char why[128];

		g->udp = 1;
		g_find(g, old, 0)->udp = g_find(g, old, 1)->udp = 1;
		assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), 0);
		g_run(g, at, 1);
		w = g_find(g, old, 0);
		if (w != NULL)
			g_kill(g, w);
		w = g_find(g, g_status(g).wid, 0);
		if (w != NULL)
			g_kill(g, w);
		for (unsigned int i = 0; i < g->n; i++)
			g->w[i].udp = 0;
		for (unsigned int t = 0; t < 8000 && (t < 5 || g_status(g).state != RELOAD_T0_IDLE); t++)
			g_step(g, 1);
		g_run(g, 2500, 5);
		assert_settled(g, "both die at ms", at);
		assert_true(g_worst(g) <= 1300);
		reload_once(g);
		g_free(g);
	}
}

/* REL-3, REL-8, REL-12: QUIT and TERM at every ms of a round: everybody leaves in time, and that is known */
static void
a_stop_at_every_millisecond(void **state)
{
	(void)state;
	for (unsigned int graceful = 0; graceful < 2; graceful++)
		for (unsigned int at = 0; at < 1300; at += at < 30 ? 1 : 97) {
			struct g *g = g_serving(2);
			char why[128];
			unsigned int t, alive = 0;

			g->start_ms = 4;
			assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), 0);
			g_run(g, at, 1);
			reload_master_stop(g->m, graceful != 0);
			assert_int_equal(reload_master_hup(g->m, why, sizeof(why)), -EBUSY);
			for (t = 0; t < 6000 && !reload_master_stopped(g->m); t++)
				g_step(g, 1);
			if (t >= 6000)
				fail_msg("stop at %u: not stopped, %s", at, reload_state_name(g_status(g).state));
			for (unsigned int i = 0; i < g->n; i++)
				alive += g_alive(g, &g->w[i]);
			assert_int_equal(alive, 0);
			assert_true(g_status(g).stopped);
			g_free(g);
		}
}

/* REL-13: who does not leave is killed, at the limit that was promised */
static void
a_stopped_worker_is_killed_at_the_limit(void **state)
{
	(void)state;
	for (unsigned int graceful = 0; graceful < 2; graceful++) {
		struct g *g = g_serving(2);
		uint64_t began = g->ms_now, limit = graceful ? g->limits.drain + g->limits.quit_again : g->limits.abort;
		uint32_t active = g_status(g).active;

		g_find(g, active, 1)->frozen = true;
		reload_master_stop(g->m, graceful != 0);
		while (!reload_master_stopped(g->m) && g->ms_now - began < 20000)
			g_step(g, 1);
		assert_in_range(g->ms_now - began, graceful ? 1 : limit - 1, limit + 150);
		g_free(g);
	}
}

/* REL-2, REL-13: the directory is scribbled over while everybody works with it: nobody crashes, nobody runs for ever */
static void
everybody_survives_a_scribbled_directory(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 40; round++) {
		struct g *g = g_serving(2);
		uint64_t seed = round * 0x9e3779b97f4a7c15ull;
		char why[128];

		g->lawless = true;
		for (unsigned int t = 0; t < 200 && g->n < G_MAX - 8; t++) {
			size_t at = draw(&seed) % sizeof(*g->d);
			uint8_t was;

			if (round & 1) /* where the words are dense */
				at = offsetof(struct gen_dir, window) + draw(&seed) % (offsetof(struct gen_dir, lane[2]) -
					offsetof(struct gen_dir, window));
			was = ((uint8_t *)g->d)[at];
			((uint8_t *)g->d)[at] = (uint8_t)draw(&seed);
			if (t % 50 == 10)
				reload_master_hup(g->m, why, sizeof(why));
			g_step(g, 1 + t % 40);
			if (draw(&seed) & 1)
				((uint8_t *)g->d)[at] = was;
		}
		g_free(g);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_master_dies_at_every_write),
		cmocka_unit_test(a_new_master_finishes_what_the_dead_one_began),
		cmocka_unit_test(a_worker_at_every_millisecond),
		cmocka_unit_test(both_workers_of_a_lane_die),
		cmocka_unit_test(a_stop_at_every_millisecond),
		cmocka_unit_test(a_stopped_worker_is_killed_at_the_limit),
		cmocka_unit_test(everybody_survives_a_scribbled_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

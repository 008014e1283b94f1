/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A master and the workers that it starts, in steps of a millisecond: real master, real seats, processes of the mock
 * door. After every turn: no lane has two owners. How long lanes had none is kept.
 */
#ifndef NONIC_UNIT_SPEC_GENS_H
#define NONIC_UNIT_SPEC_GENS_H

#include "guard.h"

#include <errno.h>

#include "core/reload/master.h"
#include "core/reload/seat.h"
#include "core/runtime/ctl.h"
#include "shim/host/mock/mock.h"

#define G_MS 1000000ull
#define G_MAX 96u
#define G_BOOT 0x1111222233334444ull

struct g_worker {
	struct shim *door;
	struct shim_proc proc;
	struct seat st;
	unsigned int lane;
	uint32_t gen;
	uint64_t ready_at;      /* ms */
	bool seated, ready, gone;
	bool frozen;            /* stopped: makes no turn */
	bool wedged;            /* never lets go of its lane, but beats */
	bool handing;
	uint32_t udp;           /* flows that it reports */
};

struct g {
	struct shim *s, *ms;    /* the primary's door, the master's */
	struct gen_dir *d;
	struct reload_master *m;
	bool master_dead;
	unsigned int lanes, n;
	struct g_worker w[G_MAX];
	uint64_t ms_now;
	struct reload_limits limits;
	uint64_t no_owner[GEN_MAX_LANES], worst[GEN_MAX_LANES]; /* ms */
	/* how the next workers behave */
	int spawn_error;
	uint64_t start_ms;
	bool never_ready;
	uint64_t (*lie)(const struct g_worker *w); /* the READY word of a liar */
	uint32_t udp;
	const char *refuse;     /* what ops->check says */
	bool lawless;           /* words are lies: two owners are nobody's fault */
};

static char g_log[1 << 16];

static inline void
g_vlog(struct shim *s, int level, const char *fmt, va_list ap)
{
	size_t n = strlen(g_log);

	(void)s;
	(void)level;
	if (n + 300 > sizeof(g_log))
		return;
	vsnprintf(g_log + n, 298, fmt, ap);
	strcat(g_log, "\n");
}

static inline bool
g_logged(const char *text)
{
	return strstr(g_log, text) != NULL;
}

static inline struct shim *
g_door(struct g *g, enum shim_role role, uint32_t proc_id)
{
	struct shim *d = mock_shim_attach(g->s, role, proc_id);

	mock_ops(d)->vlog = g_vlog;
	mock_proc_set(g->s, shim_self(d), true);
	return d;
}

static inline bool
g_alive(struct g *g, const struct g_worker *w)
{
	return !w->gone && shim_proc_alive(g->s, &w->proc) == 1;
}

static inline int
g_spawn(void *ctx, unsigned int lane, uint32_t gen, struct shim_proc *who)
{
	struct g *g = ctx;
	struct g_worker *w = &g->w[g->n];

	if (g->spawn_error != 0)
		return g->spawn_error;
	assert_true(g->n < G_MAX);
	memset(w, 0, sizeof(*w));
	w->door = g_door(g, SHIM_ROLE_WORKER, 200 + g->n);
	w->proc = shim_self(w->door);
	w->lane = lane;
	w->gen = gen;
	w->udp = g->udp;
	w->ready_at = g->ms_now + g->start_ms;
	g->n++;
	*who = w->proc;
	return 0;
}

static inline int
g_check(void *ctx, char *why, size_t n)
{
	struct g *g = ctx;

	if (g->refuse == NULL)
		return 0;
	snprintf(why, n, "%s", g->refuse);
	return -EBUSY;
}

static inline int
g_master(struct g *g)
{
	struct reload_master_ops ops = { .spawn = g_spawn, .check = g_check, .ctx = g };
	struct reload_master_config c = { .dir = g->d, .nb_lanes = g->lanes, .limits = g->limits, .ops = &ops };
	int rc;

	c.shim = g->ms = g_door(g, SHIM_ROLE_OBSERVER, 90);
	shim_clock_sample(g->ms);
	rc = reload_master_create(&c, &g->m);
	g->master_dead = rc != 0;
	return rc;
}

static inline struct g *
g_new(unsigned int lanes)
{
	struct g *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g_log[0] = 0;
	g->s = mock_shim_new();
	mock_ops(g->s)->vlog = g_vlog;
	g->lanes = lanes;
	g->ms_now = 5000;
	g->limits = (struct reload_limits){ .ready = 500, .park = 100, .drain = 3000, .quit_again = 500, .abort = 500 };
	mock_set_clock_ns(g->s, g->ms_now * G_MS);
	assert_int_equal(gen_dir_create(g->s, lanes, G_BOOT, &g->d), 0);
	return g;
}

static inline void
g_free(struct g *g)
{
	reload_master_destroy(g->m);
	for (unsigned int i = 0; i < g->n; i++)
		mock_shim_free(g->w[i].door);
	mock_shim_free(g->ms);
	assert_int_equal(shim_zone_free(g->s, GEN_ZONE), 0);
	assert_int_equal(mock_shim_free(g->s), 0);
	free(g);
}

static inline void
g_kill(struct g *g, struct g_worker *w)
{
	mock_proc_set(g->s, w->proc, false);
}

static inline void
g_leave(struct g *g, struct g_worker *w)
{
	seat_release(&w->st);
	w->gone = true;
	g_kill(g, w);
}

static inline bool
g_owns(struct g *g, const struct g_worker *w, unsigned int lane)
{
	return w->seated && w->lane == lane && w->st.role == SEAT_ROLE_OWNER && g_alive(g, w);
}

static inline void
g_owners(struct g *g)
{
	for (unsigned int lane = 0; lane < g->lanes; lane++) {
		unsigned int n = 0;

		for (unsigned int i = 0; i < g->n; i++)
			n += g_owns(g, &g->w[i], lane);
		if (n > 1 && !g->lawless)
			fail_msg("lane %u has %u owners at %llu ms", lane, n, (unsigned long long)g->ms_now);
	}
}

static inline void
g_worker_turn(struct g *g, struct g_worker *w)
{
	uint64_t now = g->ms_now * G_MS;
	unsigned int deeds;

	shim_clock_sample(w->door);
	if (!w->seated) {
		struct seat_config c = { .shim = w->door, .dir = g->d, .lane = w->lane, .gen = w->gen, .shutdown_ms = 1000,
			.proc_word = ctl_proc_word(&w->proc) };

		if (seat_claim(&w->st, &c) < 0) {
			w->gone = true;
			g_kill(g, w);
			return;
		}
		w->seated = true;
	}
	deeds = seat_turn(&w->st, now);
	if (!w->ready && g->ms_now >= w->ready_at && g->lie == NULL && !g->never_ready) {
		seat_ready(&w->st);
		w->ready = true;
	}
	if (g->lie != NULL && !w->ready)
		w->st.mine->ready = g->lie(w);
	if ((deeds & SEAT_DO_LET_GO) != 0 && !w->wedged)
		seat_let_go(&w->st, now);
	g_owners(g);
	if (deeds & SEAT_DO_REPORT)
		seat_report(&w->st, &(struct drain_counts){ .udp = w->udp }, (uint32_t)g->ms_now);
	w->handing = w->handing || (deeds & SEAT_DO_HAND) != 0;
	if ((deeds & SEAT_DO_EXIT) != 0 || (w->handing && seat_may_leave(&w->st, now))) {
		g_leave(g, w);
		return;
	}
	seat_beat(&w->st);
}

/* Everybody's turn; ms pass. */
static inline void
g_step(struct g *g, uint64_t ms)
{
	g->ms_now += ms;
	mock_set_clock_ns(g->s, g->ms_now * G_MS);
	for (unsigned int i = 0; i < g->n; i++)
		if (g_alive(g, &g->w[i]) && !g->w[i].frozen)
			g_worker_turn(g, &g->w[i]);
	if (!g->master_dead) {
		shim_clock_sample(g->ms);
		reload_master_turn(g->m);
	}
	for (unsigned int lane = 0; lane < g->lanes; lane++) {
		bool owned = false;

		for (unsigned int i = 0; i < g->n; i++)
			owned = owned || (g_owns(g, &g->w[i], lane) && !g->w[i].frozen);
		g->no_owner[lane] = owned ? 0 : g->no_owner[lane] + ms;
		if (g->no_owner[lane] > g->worst[lane])
			g->worst[lane] = g->no_owner[lane];
	}
}

static inline void
g_run(struct g *g, uint64_t ms, uint64_t step)
{
	for (uint64_t t = 0; t < ms; t += step)
		g_step(g, step);
}

static inline struct reload_status
g_status(struct g *g)
{
	struct reload_status st;

	reload_master_status(g->m, &st);
	return st;
}

static inline bool
g_all_owned(const struct g *g)
{
	for (unsigned int lane = 0; lane < g->lanes; lane++)
		if (g->no_owner[lane] != 0)
			return false;
	return true;
}

/* A master and its first generation, serving. */
static inline struct g *
g_serving(unsigned int lanes)
{
	struct g *g = g_new(lanes);

	assert_int_equal(g_master(g), 0);
	for (unsigned int i = 0; i < 50 || !g_all_owned(g); i++) {
		assert_true(i < 1000);
		g_step(g, 1);
	}
	memset(g->worst, 0, sizeof(g->worst));
	return g;
}

static inline uint64_t
g_worst(const struct g *g)
{
	uint64_t worst = 0;

	for (unsigned int lane = 0; lane < g->lanes; lane++)
		if (g->worst[lane] > worst)
			worst = g->worst[lane];
	return worst;
}

/* Until the state is reached; false when it is not in so many ms. */
static inline bool
g_until(struct g *g, enum reload_state s, uint64_t ms)
{
	for (uint64_t t = 0; t < ms; t++) {
		if (g_status(g).state == s)
			return true;
		g_step(g, 1);
	}
	return g_status(g).state == s;
}

static inline struct window
g_window(struct g *g)
{
	struct window w;

	assert_int_equal(gen_window(g->s, g->d, &w), 0);
	return w;
}

/* The worker of a generation and lane that lives; NULL. */
static inline struct g_worker *
g_find(struct g *g, uint32_t gen, unsigned int lane)
{
	for (unsigned int i = g->n; i-- > 0;)
		if (g->w[i].gen == gen && g->w[i].lane == lane && g_alive(g, &g->w[i]))
			return &g->w[i];
	return NULL;
}

#endif

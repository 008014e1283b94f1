/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded exhaustive search and PCT over the schedules of a scenario; see explore.h. */
#include "explore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "jobs.h"
#include "shrink.h"

#define SHRINK_RUNS 300u

/* What the scheduler was asked: one access of one process. */
struct ask {
	uint64_t point, turn, effects, ready; /* ready: bit i is process i */
	uintptr_t word;
	uint32_t proc;
	uint32_t used;             /* steps of the schedule that had been taken then */
	uint8_t kind, size, pending;
};

struct asks {
	struct ask *a;
	unsigned int n, room;
};

struct recorder {
	struct schedule_player player;
	struct asks *out;
	bool oom;
};

struct explorer {
	const struct explore_conf *c;
	struct explore_result *sh;
	unsigned int bound;        /* of the present pass: the shortest violation is found first */
	struct schedule s;         /* the present one */
	struct level {
		uint32_t proc;
		unsigned int skip;     /* least of all runs below: how many of the next accesses need no look */
	} level[EXPLORE_BOUND_MAX]; /* [step of s] */
	const struct asks *root;
	const unsigned int *unit;  /* [task], and one more: where the root's units begin */
};

static uint64_t
ready_set(const struct sim_proc *p)
{
	uint64_t set = 0;

	for (struct sim_proc *q = sim_proc_first(sim_proc_world((struct sim_proc *)p)); q != NULL; q = sim_proc_next(q))
		if (q != p && sim_proc_id(q) < 64 && sim_proc_ready(q))
			set |= 1ull << sim_proc_id(q);
	return set;
}

static void
record(void *ctx, struct sim_proc *p, const struct sim_access *a, struct sim_decision *out)
{
	struct recorder *r = ctx;
	struct sim_world *w = sim_proc_world(p);
	struct asks *l = r->out;

	if (sim_is_explored(w)) {
		if (l->n == l->room) {
			unsigned int room = l->room == 0 ? 1024 : l->room * 2;
			struct ask *n = realloc(l->a, room * sizeof(*n));

			if (n == NULL) {
				r->oom = true;
				return;
			}
			l->a = n;
			l->room = room;
		}
		l->a[l->n++] = (struct ask){ .point = sim_points(w), .turn = sim_proc_turns(p), .effects = sim_effects(w),
			.ready = ready_set(p), .word = (uintptr_t)a->word, .proc = sim_proc_id(p), .used = r->player.next,
			.kind = (uint8_t)a->kind, .size = (uint8_t)(a->size != 0 ? a->size : 1),
			.pending = (uint8_t)sim_door_pending(sim_proc_door(p)) };
	}
	schedule_play(&r->player, p, a, out);
}

/* ---- one run ---- */

static void
note(const struct explore_conf *c, uint64_t seed, const struct schedule *s)
{
	char text[3072];

	schedule_text(s, text, sizeof(text));
	crash_note("\nnonic sim: scenario %s crashed\nreplay: nonic sim run %s --seed %" PRIu64 "%s%s%s\n", c->sc->name,
		c->sc->name, seed, c->tso ? " --tso" : "", s->n > 0 ? " --schedule " : "", text);
}

/* Runs e->s; *failed and why in r. 0 or -errno. */
static int
run(struct explorer *e, struct asks *out, struct sim_result *r)
{
	struct recorder rec = { .player.s = &e->s, .out = out };
	const struct sim_options o = { .seed = e->c->seed, .store_buffer = e->c->tso, .decide = record, .decide_ctx = &rec };
	int rc;

	out->n = 0;
	note(e->c, e->c->seed, &e->s);
	rc = sim_scenario_run(e->c->sc, &o, r);
	crash_note("%s", "");
	jobs_add(&e->sh->schedules, 1);
	jobs_add(&e->sh->points, r->points);
	jobs_add(&e->sh->virtual_ns, r->virtual_ns);
	return rc != 0 ? rc : rec.oom ? -ENOMEM : 0;
}

int
explore_replay(const struct explore_conf *c, const struct schedule *s, struct sim_result *r)
{
	struct schedule_player pl = { .s = s };
	const struct sim_options o = { .seed = c->seed, .store_buffer = c->tso, .decide = s != NULL ? schedule_play : NULL,
		.decide_ctx = &pl };

	return sim_scenario_run(c->sc, &o, r);
}

/* ---- a violation ---- */

struct shorter {
	struct explore_conf c;
	const struct schedule *s;
	char why[512];
};

static bool
still_fails(void *ctx, const uint8_t *skip)
{
	struct shorter *t = ctx;
	struct schedule part = { 0 };
	struct sim_result r = { 0 };
	bool failed;

	for (unsigned int i = 0; i < t->s->n; i++)
		if (!shrink_skipped(skip, i) && schedule_add(&part, t->s->step[i].point, &t->s->step[i].d) != 0)
			break;
	failed = explore_replay(&t->c, &part, &r) == 0 && r.failed;
	if (failed)
		memcpy(t->why, r.why, sizeof(t->why));
	schedule_free(&part);
	return failed;
}

/* Keeps the first one that any job finds, as short as it gets. */
static void
found(struct explorer *e, uint64_t seed, const struct schedule *s, const struct sim_result *r)
{
	struct shorter t = { .c = *e->c, .s = s };
	struct schedule part = { 0 };
	uint32_t none = 0;
	uint8_t *skip = calloc(1, s->n / 8 + 1);

	t.c.seed = seed;
	if (__atomic_compare_exchange_n(&e->sh->found, &none, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && skip != NULL) {
		memcpy(t.why, r->why, sizeof(t.why));
		shrink_set(s->n, skip, still_fails, &t, SHRINK_RUNS);
		for (unsigned int i = 0; i < s->n; i++)
			if (!shrink_skipped(skip, i))
				schedule_add(&part, s->step[i].point, &s->step[i].d);
		if (schedule_text(&part, e->sh->schedule, sizeof(e->sh->schedule)) >= sizeof(e->sh->schedule))
			e->sh->schedule[0] = '\0';
		e->sh->seed = seed;
		memcpy(e->sh->why, t.why, sizeof(t.why));
		schedule_free(&part);
	}
	free(skip);
}

static bool
over(const struct explorer *e)
{
	return __atomic_load_n(&e->sh->found, __ATOMIC_RELAXED) != 0 ||
		(e->c->max_schedules != 0 && __atomic_load_n(&e->sh->schedules, __ATOMIC_RELAXED) >= e->c->max_schedules);
}

/* ---- the search ---- */

static int expand(struct explorer *e, const struct asks *l, unsigned int from);

/* Could it matter which of the two comes first? */
static bool
conflict(const struct ask *a, const struct ask *b)
{
	if (a->kind == SIM_FENCE || b->kind == SIM_FENCE || (a->kind == SIM_LOAD && b->kind == SIM_LOAD))
		return false;
	return a->word < b->word + b->size && b->word < a->word + a->size;
}

/*
 * A run in which process p gave way at a point, as step i of the schedule. How many of p's accesses after that point commute with
 * all that the others did meanwhile, so that giving way after them comes to the same? What the others did depends on the
 * steps after i too: the answer that counts is the least of all runs that begin with steps 0 .. i.
 */
static unsigned int
commuting(const struct explorer *e, const struct asks *l, unsigned int i)
{
	uint32_t p = e->level[i].proc;
	unsigned int first = 0, back, k;

	while (first < l->n && l->a[first].used < i + 1)
		first++;
	for (back = first; back < l->n; back++)
		if (l->a[back].proc == p)
			break;
	if (back == l->n)
		return 0; /* it never came back */
	for (k = back; k < l->n && l->a[k].proc == p && l->a[k].turn == l->a[back].turn; k++) {
		for (unsigned int o = first; o < back; o++)
			if (conflict(&l->a[k], &l->a[o]))
				return k - back;
		if (e->c->tso && l->a[k].kind != SIM_LOAD)
			return k - back;
		if (k + 1 < l->n && l->a[k + 1].proc == p && l->a[k + 1].effects != l->a[k].effects)
			return k - back;
	}
	return UINT32_MAX; /* to the end of its step */
}

/* One more decision: runs, goes on below it. *skip: how many of the next accesses need no look. 0, -errno. */
static int
attempt(struct explorer *e, const struct ask *at, const struct sim_decision *d, unsigned int *skip)
{
	struct asks l = { 0 };
	struct sim_result r = { 0 };
	unsigned int from = 0;
	int rc;

	*skip = 0;
	if (over(e))
		return 0;
	rc = schedule_add(&e->s, at->point, d);
	if (rc != 0)
		return rc;
	e->level[e->s.n - 1] = (struct level){ .proc = at->proc,
		.skip = d->what == SIM_KILL || e->c->all ? 0 : UINT32_MAX };
	rc = run(e, &l, &r);
	if (rc == 0 && r.failed)
		found(e, e->c->seed, &e->s, &r);
	else if (rc == 0) {
		for (unsigned int i = 0; i < e->s.n; i++)
			if (e->level[i].skip != 0) {
				unsigned int k = commuting(e, &l, i);

				e->level[i].skip = k < e->level[i].skip ? k : e->level[i].skip;
			}
		while (from < l.n && l.a[from].used < e->s.n)
			from++;
		if (e->s.n < e->bound)
			rc = expand(e, &l, from);
	}
	free(l.a);
	*skip = e->level[e->s.n - 1].skip;
	e->s.n--;
	return rc;
}

/* The decision at each point of the stretch where it may come to something else than at the point before. */
static int
sweep(struct explorer *e, const struct asks *l, unsigned int from, unsigned int to, struct sim_decision d)
{
	for (unsigned int k = from; k < to;) {
		unsigned int keep_max = d.what == SIM_SWITCH && e->c->tso ? l->a[k].pending : 0, least = UINT32_MAX, skip;

		if (d.what == SIM_SWITCH && (l->a[k].ready >> d.proc & 1) == 0) {
			k++;
			continue;
		}
		for (d.keep = 0; d.keep <= keep_max; d.keep++) {
			int rc = attempt(e, &l->a[k], &d, &skip);

			if (rc != 0)
				return rc;
			least = skip < least ? skip : least;
		}
		if (least > to - k - 1)
			least = to - k - 1;
		jobs_add(&e->sh->covered, least);
		k += least + 1;
	}
	return 0;
}

/* Deaths: what only looked before it died left nothing behind. */
static int
deaths(struct explorer *e, const struct asks *l, unsigned int from, unsigned int to)
{
	const struct sim_decision d = { .what = SIM_KILL };
	unsigned int skip;
	int rc = 0;

	for (unsigned int k = from; k < to && rc == 0; k++) {
		if (k == from || e->c->all || l->a[k - 1].kind != SIM_LOAD || l->a[k - 1].effects != l->a[k].effects)
			rc = attempt(e, &l->a[k], &d, &skip);
		else
			jobs_add(&e->sh->covered, 1);
	}
	return rc;
}

/* Every decision in one uninterrupted stretch of one process. */
static int
unit(struct explorer *e, const struct asks *l, unsigned int from, unsigned int to)
{
	struct sim_decision d = { .what = SIM_SWITCH };
	uint64_t set = 0;
	int rc = 0;

	for (unsigned int k = from; k < to; k++)
		set |= l->a[k].ready;
	for (d.proc = 1; d.proc < 64 && rc == 0 && !over(e); d.proc++)
		if ((set >> d.proc & 1) != 0)
			rc = sweep(e, l, from, to, d);
	d = (struct sim_decision){ .what = SIM_STALL };
	for (unsigned int i = 0; i < EXPLORE_STALLS && e->c->stall_ns[i] != 0 && rc == 0 && !over(e); i++) {
		d.ns = e->c->stall_ns[i];
		rc = sweep(e, l, from, to, d);
	}
	return rc == 0 && e->c->crash && !over(e) ? deaths(e, l, from, to) : rc;
}

static unsigned int
unit_end(const struct asks *l, unsigned int from)
{
	unsigned int to = from + 1;

	while (to < l->n && l->a[to].proc == l->a[from].proc && l->a[to].turn == l->a[from].turn)
		to++;
	return to;
}

static int
expand(struct explorer *e, const struct asks *l, unsigned int from)
{
	int rc = 0;

	for (unsigned int to; from < l->n && rc == 0 && !over(e); from = to) {
		to = unit_end(l, from);
		rc = unit(e, l, from, to);
	}
	return rc;
}

/* ---- jobs ---- */

static void
progress(void *ctx, uint64_t done, const void *shared)
{
	const struct explorer *e = ctx;
	const struct explore_result *sh = shared;
	uint64_t all = e->c->pct != 0 ? e->c->last - e->c->seed + 1 : 0;

	if (e->c->pct == 0)
		while (e->unit[all] < e->root->n)
			all++;
	if (e->c->progress != NULL)
		e->c->progress(e->c->progress_ctx, done, all, __atomic_load_n(&sh->schedules, __ATOMIC_RELAXED));
}

static bool
task(void *ctx, uint64_t i, void *shared)
{
	struct explorer *e = ctx;

	(void)shared;
	return unit(e, e->root, e->unit[i], e->unit[i + 1]) == 0 && !over(e);
}

static int
exhaustive(struct explorer *e)
{
	struct asks root = { 0 };
	struct sim_result r = { 0 };
	struct jobs j = { .n = e->c->jobs, .task = task, .progress = progress, .ctx = e };
	unsigned int *at = NULL;
	int rc = run(e, &root, &r);

	if (rc == 0 && r.failed)
		found(e, e->c->seed, &e->s, &r);
	if (rc == 0 && !r.failed) {
		at = calloc(root.n + 1, sizeof(*at));
		rc = at == NULL ? -ENOMEM : 0;
		for (unsigned int k = 0; at != NULL && k < root.n; j.tasks++) {
			k = unit_end(&root, k);
			at[j.tasks + 1] = k;
		}
		e->root = &root;
		e->unit = at;
		for (e->bound = 1; rc == 0 && e->bound <= e->c->bound && !over(e); e->bound++) {
			e->sh->schedules = 1;
			e->sh->covered = 0;
			rc = jobs_run(&j, e->sh);
		}
	}
	free(at);
	free(root.a);
	return rc;
}

static bool
pct_task(void *ctx, uint64_t i, void *shared)
{
	struct explorer *e = ctx;
	const struct explore_conf *c = e->c;
	struct schedule_pct t = { .seed = c->seed + i, .crash = c->crash, .d = c->pct, .stall_ns = c->stall_ns[0] };
	struct sim_options o = { .seed = t.seed, .store_buffer = c->tso, .decide = schedule_pct_play, .decide_ctx = &t };
	struct explore_result *sh = shared;
	struct sim_result r = { 0 };
	int rc = 0;

	for (int pass = 0; pass < 2; pass++) {
		note(c, t.seed, &t.done);
		rc = sim_scenario_run(c->sc, &o, &r);
		crash_note("%s", "");
		jobs_add(&sh->points, r.points);
		jobs_add(&sh->virtual_ns, r.virtual_ns);
		if (rc != 0 || r.failed)
			break;
		schedule_free(&t.done);
		t = (struct schedule_pct){ .seed = t.seed, .crash = t.crash, .d = t.d, .stall_ns = t.stall_ns,
			.first = t.first, .last = t.last };
	}
	jobs_add(&sh->schedules, 1);
	if (rc == 0 && r.failed)
		found(e, t.seed, &t.done, &r);
	schedule_free(&t.done);
	return rc == 0 && !over(e);
}

int
explore(const struct explore_conf *c, struct explore_result *out)
{
	struct explorer e = { .c = c, .sh = jobs_shared(sizeof(*out)) };
	struct jobs j = { .n = c->jobs, .tasks = c->last - c->seed + 1, .task = pct_task, .progress = progress, .ctx = &e };
	int rc;

	if (e.sh == NULL)
		return -ENOMEM;
	rc = c->pct != 0 ? jobs_run(&j, e.sh) : exhaustive(&e);
	*out = *e.sh;
	out->complete = rc == 0 && !over(&e);
	schedule_free(&e.s);
	jobs_shared_free(e.sh, sizeof(*out));
	return rc;
}

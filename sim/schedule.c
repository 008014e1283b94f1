/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules as lists and text, and the schedulers that play or draw them; see schedule.h. */
#include "schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
schedule_add(struct schedule *s, uint64_t point, const struct sim_decision *d)
{
	if (s->n == s->room) {
		unsigned int room = s->room == 0 ? 8 : s->room * 2;
		struct schedule_step *step = realloc(s->step, room * sizeof(*step));

		if (step == NULL)
			return -ENOMEM;
		s->step = step;
		s->room = room;
	}
	s->step[s->n++] = (struct schedule_step){ .point = point, .d = *d };
	return 0;
}

void
schedule_free(struct schedule *s)
{
	free(s->step);
	*s = (struct schedule){ 0 };
}

static bool
number(const char **p, uint64_t max, uint64_t *out)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*out = strtoull(*p, &end, 10);
	*p = end;
	return errno == 0 && *out <= max;
}

/* One step's text, without its comma. */
static bool
parse_step(const char **p, struct schedule_step *st)
{
	uint64_t v;

	*st = (struct schedule_step){ 0 };
	if (!number(p, UINT64_MAX, &st->point) || *(*p)++ != ':')
		return false;
	if (**p == 'x') {
		++*p;
		st->d.what = SIM_KILL;
		return true;
	}
	if (**p == '+') {
		++*p;
		st->d.what = SIM_STALL;
		return number(p, UINT64_MAX / 4, &st->d.ns);
	}
	st->d.what = SIM_SWITCH;
	if (!number(p, UINT32_MAX, &v))
		return false;
	st->d.proc = (uint32_t)v;
	if (**p != 'k')
		return true;
	++*p;
	if (!number(p, UINT32_MAX, &v))
		return false;
	st->d.keep = (uint32_t)v;
	return true;
}

int
schedule_parse(struct schedule *s, const char *text)
{
	struct schedule_step st;
	int rc;

	*s = (struct schedule){ 0 };
	while (*text != '\0') {
		if (s->n > 0 && *text++ != ',')
			return -EINVAL;
		if (!parse_step(&text, &st) || (s->n > 0 && st.point < s->step[s->n - 1].point))
			return -EINVAL;
		rc = schedule_add(s, st.point, &st.d);
		if (rc != 0)
			return rc;
	}
	return 0;
}

size_t
schedule_text(const struct schedule *s, char *buf, size_t n)
{
	size_t at = 0;

	if (n > 0)
		buf[0] = '\0';
	for (unsigned int i = 0; i < s->n; i++) {
		const struct sim_decision *d = &s->step[i].d;
		char one[96];
		int len = snprintf(one, sizeof(one), "%s%" PRIu64 ":", i > 0 ? "," : "", s->step[i].point);

		if (d->what == SIM_KILL)
			snprintf(one + len, sizeof(one) - (size_t)len, "x");
		else if (d->what == SIM_STALL)
			snprintf(one + len, sizeof(one) - (size_t)len, "+%" PRIu64, d->ns);
		else if (d->keep > 0)
			snprintf(one + len, sizeof(one) - (size_t)len, "%" PRIu32 "k%" PRIu32, d->proc, d->keep);
		else
			snprintf(one + len, sizeof(one) - (size_t)len, "%" PRIu32, d->proc);
		if (at < n)
			snprintf(buf + at, n - at, "%s", one);
		at += strlen(one);
	}
	return at;
}

void
schedule_play(void *ctx, struct sim_proc *p, const struct sim_access *a, struct sim_decision *out)
{
	struct schedule_player *pl = ctx;
	uint64_t point = sim_points(sim_proc_world(p));

	(void)a;
	while (pl->next < pl->s->n && pl->s->step[pl->next].point < point)
		pl->next++; /* the process it was for did not come to it */
	if (pl->next < pl->s->n && pl->s->step[pl->next].point == point)
		*out = pl->s->step[pl->next++].d;
}

/* ---- priorities and change points ---- */

static uint64_t
priority(const struct schedule_pct *t, uint32_t proc)
{
	uint64_t x = t->seed ^ (uint64_t)proc << 32;

	return splitmix64(&x);
}

static void
pct_start(struct schedule_pct *t)
{
	prng_init(&t->rng, t->seed, 4);
	t->started = true;
	t->counts = t->last == 0;
	if (t->d > SCHEDULE_PCT_MAX)
		t->d = SCHEDULE_PCT_MAX;
	for (unsigned int i = 0; i < t->d && !t->counts; i++) {
		uint64_t v = prng_range(&t->rng, t->first, t->last);
		unsigned int k = i;

		for (; k > 0 && t->change[k - 1] > v; k--)
			t->change[k] = t->change[k - 1];
		t->change[k] = v;
	}
}

/* A process that is due with p, of higher priority, that has not had its turn; 0: none. */
static uint32_t
more_urgent(struct schedule_pct *t, const struct sim_proc *p)
{
	uint64_t best = priority(t, sim_proc_id(p));
	uint32_t id = 0;

	for (struct sim_proc *q = sim_proc_first(sim_proc_world((struct sim_proc *)p)); q != NULL; q = sim_proc_next(q)) {
		uint32_t i = sim_proc_id(q);

		if (q == p || i >= 64 || !sim_proc_ready(q) || t->turn_of[i] == sim_proc_turns(q) + 1 || priority(t, i) <= best)
			continue;
		best = priority(t, i);
		id = i;
	}
	return id;
}

static void
change(struct schedule_pct *t, const struct sim_proc *p, struct sim_decision *out)
{
	uint64_t dice = prng_below(&t->rng, 100), n = 0;

	if (t->crash && dice < 25) {
		out->what = SIM_KILL;
		return;
	}
	out->what = SIM_SWITCH;
	out->keep = prng_below(&t->rng, 2) == 0 ? 0 : (uint32_t)prng_below(&t->rng, SIM_PENDING_MAX);
	for (struct sim_proc *q = sim_proc_first(sim_proc_world((struct sim_proc *)p)); q != NULL; q = sim_proc_next(q))
		if (q != p && sim_proc_ready(q) && prng_below(&t->rng, ++n) == 0)
			out->proc = sim_proc_id(q);
	if (n > 0 && dice < 60)
		return;
	out->what = SIM_STALL; /* of any order of magnitude */
	out->ns = prng_below(&t->rng, t->stall_ns >> prng_below(&t->rng, 16)) + 1;
}

void
schedule_pct_play(void *ctx, struct sim_proc *p, const struct sim_access *a, struct sim_decision *out)
{
	struct schedule_pct *t = ctx;
	struct sim_world *w = sim_proc_world(p);
	uint64_t point = sim_points(w);
	uint32_t id = sim_proc_id(p), q;

	(void)a;
	if (!t->started)
		pct_start(t);
	if (!sim_is_explored(w))
		return;
	if (t->counts) {
		t->first = t->first != 0 ? t->first : point;
		t->last = point;
		return;
	}
	if (t->next < t->d && t->change[t->next] <= point) {
		t->next++;
		change(t, p, out);
	} else if (id < 64 && t->turn_of[id] != sim_proc_turns(p) + 1) {
		t->turn_of[id] = sim_proc_turns(p) + 1;
		q = more_urgent(t, p);
		if (q != 0)
			*out = (struct sim_decision){ .what = SIM_SWITCH, .proc = q };
	}
	if (out->what != SIM_GO && schedule_add(&t->done, point, out) != 0)
		sim_fail(w, "out of memory");
}

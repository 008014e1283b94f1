/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: what a scheduler did other than letting processes go on, as a list and as text (SIM-4, SIM-6). As text it is the
 * argument of --schedule: "120:2,340:+5000000,341:x" is: at point 120 process 2 makes its step first; at point 340 the process stands
 * still for 5 ms; at point 341 it dies. "120:2k1": the newest store of the preempted process stays in its store buffer meanwhile.
 */
#ifndef NONIC_SIM_SCHEDULE_H
#define NONIC_SIM_SCHEDULE_H

#include "world.h"

struct schedule_step {
	uint64_t point;            /* number of the point, of all processes, from 1 */
	struct sim_decision d;
};

struct schedule {
	struct schedule_step *step; /* points never decrease */
	unsigned int n, room;
};

/* One more step at the end. 0, -ENOMEM. */
int schedule_add(struct schedule *s, uint64_t point, const struct sim_decision *d);
/* Frees what the list has. */
void schedule_free(struct schedule *s);
/* 0, -EINVAL (not in the form above; points that decrease), -ENOMEM. *s is to be freed in any case. */
int schedule_parse(struct schedule *s, const char *text);
/* As text; cut off when n is too small. Returns the length it needs, without the zero. */
size_t schedule_text(const struct schedule *s, char *buf, size_t n);

/* A scheduler that carries out a schedule and nothing else: sim_options.decide and decide_ctx. */
struct schedule_player {
	const struct schedule *s;
	unsigned int next;
};
void schedule_play(void *player, struct sim_proc *p, const struct sim_access *a, struct sim_decision *out);

#define SCHEDULE_PCT_MAX 16u

/* Priorities and change points (PCT): a scheduler from a seed, which writes down what it does. */
struct schedule_pct {
	uint64_t seed;
	bool crash;                /* a change point may be a death */
	uint64_t stall_ns;         /* the longest stall */
	uint64_t first, last;      /* points of a run without it: change points are drawn from these; 0: a run that finds them */
	unsigned int d;            /* how many change points */
	struct schedule done;
	/* its own */
	struct prng rng;
	uint64_t change[SCHEDULE_PCT_MAX];
	unsigned int next;
	uint64_t turn_of[64];      /* [process]: its turn that has been judged already */
	bool started, counts;
};
void schedule_pct_play(void *pct, struct sim_proc *p, const struct sim_access *a, struct sim_decision *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explorers (SIM-4): one scenario and seed under many schedules. Exhaustive up to a bound: every schedule with at most so many decisions,
 * where a decision lets another ready process make its step first, makes the process stand still for one of a few times, or (crash) kills
 * it. Every point of sim_explored stretches is tried, but for those where the outcome is known to be another one's:
 * a decision before an access that commutes with everything that the others do meanwhile in any schedule below it equals the same decision
 * after it. PCT: from the seed.
 */
#ifndef NONIC_SIM_EXPLORE_H
#define NONIC_SIM_EXPLORE_H

#include "scenarios/scenario.h"
#include "schedule.h"

#define EXPLORE_STALLS 4u
#define EXPLORE_BOUND_MAX 6u

struct explore_conf {
	const struct sim_scenario *sc;
	uint64_t seed;
	unsigned int bound;        /* decisions in one schedule, at most EXPLORE_BOUND_MAX */
	bool tso, crash;
	bool all;                  /* also those whose outcome is known: for tests of what is left out */
	uint64_t stall_ns[EXPLORE_STALLS]; /* 0: no more; none at all: no stalls */
	unsigned int jobs;
	uint64_t max_schedules;    /* 0: as many as there are */
	/* PCT instead: d change points, for each seed from seed to last. */
	unsigned int pct;
	uint64_t last;
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t schedules); /* may be NULL */
	void *progress_ctx;
};

struct explore_result {
	uint64_t schedules;        /* that ran */
	uint64_t covered;          /* decisions whose outcome followed from another one's */
	uint64_t points, virtual_ns;
	bool complete;             /* nothing was left out by max_schedules, a violation or a crash */
	uint32_t found;            /* a violation: seed, schedule (shortened), why */
	uint64_t seed;
	char schedule[3072], why[512];
};

/* 0, whatever was found; -ECHILD: a job crashed and said so; -ENOMEM, and what sim_scenario_run returns. */
int explore(const struct explore_conf *c, struct explore_result *out);
/* One run under a schedule; NULL: none. As sim_scenario_run. */
int explore_replay(const struct explore_conf *c, const struct schedule *s, struct sim_result *r);

#endif

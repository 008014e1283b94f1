/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios: named worlds with an aim, one table of them, and how to run one. */
#ifndef NONIC_SIM_SCENARIOS_SCENARIO_H
#define NONIC_SIM_SCENARIOS_SCENARIO_H

#include "../world.h"

struct sim_scenario {
	const char *name, *description;
	unsigned int soak;                     /* how often a soak test takes it, against the others; 0: never */
	uint64_t stall_ns[4];                  /* for explorers: how long a process may stand still; 0: no more */
	size_t state_size;                     /* zeroed memory that outlives the world */
	/* Builds, runs and checks; what does not hold is sim_fail. */
	void (*run)(struct sim_world *w, void *state);
	void (*release)(void *state);          /* after the world; may be NULL */
};

extern const struct sim_scenario *const sim_scenarios[]; /* in the table's order, NULL at the end */

/* NULL: there is none of that name. */
const struct sim_scenario *sim_scenario_find(const char *name);
/* One run. 0, whatever its outcome; -errno when the world could not be made. */
int sim_scenario_run(const struct sim_scenario *sc, const struct sim_options *o, struct sim_result *r);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of scenarios. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "all.h"

const struct sim_scenario *const sim_scenarios[] = {
	&scenario_echo_lossless,
	&scenario_echo_faulty,
	&scenario_fragments,
	&scenario_arp_nd,
	&scenario_mtu,
	&scenario_pmtu,
	&scenario_clock_skew,
	&scenario_kill_restart,
	&scenario_many_hosts,
	&scenario_handover,
	&scenario_reload_udp,
	&scenario_reload_kill,
	&scenario_reload_abort,
	&scenario_reload_clock,
	&scenario_reload_full_ring,
	&scenario_reload_hostile,
	&scenario_reload_neighbours,
	NULL,
};

const struct sim_scenario *
sim_scenario_find(const char *name)
{
	for (unsigned int i = 0; sim_scenarios[i] != NULL; i++)
		if (strcmp(sim_scenarios[i]->name, name) == 0)
			return sim_scenarios[i];
	return NULL;
}

int
sim_scenario_run(const struct sim_scenario *sc, const struct sim_options *o, struct sim_result *r)
{
	void *state = calloc(1, sc->state_size);
	struct sim_world *w;

	if (state == NULL)
		return -ENOMEM;
	errno = ENOMEM;
	w = sim_world_create(o);
	if (w == NULL) {
		free(state);
		return -errno;
	}
	sc->run(w, state);
	sim_world_destroy(w, r);
	if (sc->release != NULL)
		sc->release(state);
	free(state);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* `nonic sim list`, `run`, `explore` and `soak` (SIM-4, SIM-6): what the command line calls. */
#ifndef NONIC_SIM_CLI_H
#define NONIC_SIM_CLI_H

#include <stdbool.h>

#include "scenarios/scenario.h"

/* Prints the scenarios, one a line, or a JSON array. 0, or 1 when it could not be written. */
int sim_cli_list(bool json);

/*
 * argv[0] is the command's word (or anything); the rest are its name and options: --help prints them. Each returns the exit code:
 * 0 nothing failed, 1 something did (everything is said), 2 usage.
 */
int sim_cli_run(int argc, char **argv);
int sim_cli_explore(int argc, char **argv);
int sim_cli_soak(int argc, char **argv);
/* `nonic packetdrill` (STK-7): packet scripts. Exit codes as above; scripts that were skipped did not fail. */
int sim_cli_packetdrill(int argc, char **argv);

/* The same with a table of one's own (tests). */
int sim_cli_run_table(const struct sim_scenario *const *table, int argc, char **argv);
int sim_cli_explore_table(const struct sim_scenario *const *table, int argc, char **argv);
int sim_cli_soak_table(const struct sim_scenario *const *table, int argc, char **argv);

/* The scenario of that name in the table; NULL after a line on stderr. */
const struct sim_scenario *sim_cli_find(const struct sim_scenario *const *table, const char *cmd, const char *name);
/* Worlds come and go: their memory stays with the process; a crash says what ran. */
void sim_cli_prepare(void);

/*
 * A seed has failed: makes the run short (SIM-6), says everything on stderr (why, what had to happen, one command that replays it),
 * writes capture and event log into dir. budget: runs that may be spent on shortening.
 */
void sim_cli_failed(const struct sim_scenario *sc, const struct sim_options *o, const struct sim_result *r, const char *dir,
	const char *schedule, unsigned int budget);

#endif

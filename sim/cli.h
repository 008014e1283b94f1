/* SPDX-License-Identifier: BSD-3-Clause */
/* `nonic sim list` and `nonic sim run` (SIM-6): what the command line calls. */
#ifndef NONIC_SIM_CLI_H
#define NONIC_SIM_CLI_H

#include <stdbool.h>

#include "scenarios/scenario.h"

/* Prints the scenarios, one a line, or a JSON array. 0, or 1 when it could not be written. */
int sim_cli_list(bool json);

/*
 * argv[0] is "run" (or anything); then SCENARIO|all [--seed N|--seeds A..B] [--twice] [--pcap FILE] [--trace FILE]
 * [--out DIR] [--json] [--help]. Returns the exit code: 0 every seed passed, 1 one failed, 2 usage.
 */
int sim_cli_run(int argc, char **argv);

/* The same with a table of one's own (tests). */
int sim_cli_run_table(const struct sim_scenario *const *table, int argc, char **argv);

#endif

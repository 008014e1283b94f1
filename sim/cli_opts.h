/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the simulator's commands: one table each, strict numbers, "--x v" and "--x=v". */
#ifndef NONIC_SIM_CLI_OPTS_H
#define NONIC_SIM_CLI_OPTS_H

#include <stdbool.h>
#include <stdint.h>

struct sim_range {
	uint64_t first, last;
	bool given;
};

enum sim_opt_kind {
	SIM_OPT_FLAG,    /* bool */
	SIM_OPT_TEXT,    /* const char * */
	SIM_OPT_NUMBER,  /* uint64_t */
	SIM_OPT_ONE,     /* struct sim_range, one number */
	SIM_OPT_RANGE,   /* struct sim_range, A..B */
};

struct sim_opt {
	const char *name;
	enum sim_opt_kind kind;
	void *to;
};

/* Fills what the options name; *name is the one word without dashes, if there is one. False after a line on stderr. */
bool sim_opts_parse(const char *cmd, int argc, char **argv, const struct sim_opt *opt, unsigned int n, const char **name);

#endif

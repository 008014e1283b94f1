/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a test bed: configuration, the checks before it, EAL, door; for each role. */
#ifndef NONIC_CLI_BED_H
#define NONIC_CLI_BED_H

#include <pthread.h>

#include "../../shim/shim.h"
#include "../config/config.h"
#include "machine.h"
#include "opts.h"

struct bed {
	const struct cli_cmd *cmd;
	struct machine m;
	struct nonic_config cfg;
	char prefix[256];          /* of the EAL's files */
	char **eal_argv;
	struct shim *shim;
	pthread_t waiter;          /* waits for SIGTERM and SIGINT */
	bool waiting;
	int signal_fd;             /* of a master: HUP, QUIT, TERM and INT come out of it; else -1 */
	volatile int stop;         /* set when one came */
	bool faulty;               /* the configuration has errors, and only what could be read of it is in cfg */
};

/* How a process takes part in a test bed. */
struct bed_as {
	enum shim_role role;
	unsigned int proc_id;
	uint32_t generation;       /* a worker's, by its master's order; 0: none was named */
	bool alone;                /* a primary with its only worker inside, which needs no hugepages with no_huge=1 */
	bool master;               /* an observer that stays: it logs as workers do, and takes its signals from signal_fd */
};

/*
 * Reads conf, checks the machine, starts the EAL in the role and opens the door. SIGTERM and SIGINT set b->stop from here on
 * (a master's are for it to read). -1: go on, and bed_close at the end; else the exit code after one message that says what
 * is missing. An observer that is no master only has to find the bed: errors in conf are a warning then (lenient.h).
 */
int bed_open(struct bed *b, const struct cli_cmd *cmd, const char *conf, const struct bed_as *as);
/* The configuration only: no EAL, no door. Same results; bed_close ends it too. */
int bed_config(struct bed *b, const struct cli_cmd *cmd, const char *conf);
/* The same for a command that only has to find the bed. */
int bed_config_lenient(struct bed *b, const struct cli_cmd *cmd, const char *conf);
void bed_close(struct bed *b);

#endif

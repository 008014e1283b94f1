/* SPDX-License-Identifier: BSD-3-Clause */
/* What status, ifconfig, arp and route do once they are attached: they read control blocks and post requests. */
#ifndef NONIC_CLI_TOOLS_H
#define NONIC_CLI_TOOLS_H

#include <stdio.h>

#include "../config/config.h"
#include "../reload/gen_dir.h"
#include "../runtime/ctl.h"
#include "opts.h"

#define TOOLS_TIMEOUT_MS 2000
#define TOOLS_STEP_NS 10000000ull /* between two looks at a reload that is waited for */

struct tools {
	const struct cli_cmd *cmd; /* for messages */
	struct shim *shim;
	struct ctl_dir *dir;
	unsigned int first_proc, nb_workers; /* the directory's, within bounds: read once, it may be written over */
	struct gen_dir *gen;       /* NULL without graceful_reload=1: one generation, one side */
	FILE *out;
	bool json;
};

/* Attaches to the directory. -1: go on; else the exit code, after a message. */
int tools_attach(struct tools *t, const struct cli_cmd *cmd, struct shim *s, FILE *out, bool json);
/* The counters of every process, read without asking anyone; ports from the primary. Returns the exit code. */
int tools_status(struct tools *t);
/*
 * The lists of worker proc (-1: the first one), named by the JSON key. Two ops: the second's entries follow (CTL_NONE:
 * none). In a window it is the worker that owns the lane.
 */
int tools_list(struct tools *t, int proc, const char *key, enum ctl_op op, enum ctl_op op2, const char *only);
/* Posts op with the words to worker proc, or to all running ones (-1), of both generations. */
int tools_order(struct tools *t, int proc, enum ctl_op op, const char *const *words, unsigned int n);
/* Changes an MTU: port and every worker's view (proc -1), or one worker's view only (MTU-4). port: the interface's. */
int tools_mtu(struct tools *t, int proc, const char *ifname, int port, unsigned long mtu);

/*
 * nonic ctl: begins a reload; wait: prints its completion line, or fails with that of an abort. As JSON each way out is an object on
 * stdout with "outcome": begun, complete, aborted (both with the numbers), rejected, unknown (the master did not answer).
 */
int tools_reload(struct tools *t, bool wait);
/* Ends master and workers, gracefully; wait: until they have left. As JSON "outcome" is begun or stopped, or as above. */
int tools_quit(struct tools *t, bool wait);
/* The master's view: state, generations, last reload. */
int tools_reload_status(struct tools *t);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration for a command that only has to find a test bed that runs: errors in the file do not keep it from that. */
#ifndef NONIC_CLI_LENIENT_H
#define NONIC_CLI_LENIENT_H

#include "../config/config.h"
#include "machine.h"
#include "opts.h"

/*
 * Reads conf into *cfg (the caller frees it in every case). A file with errors is taken for what could be read of it, after one
 * line of warning: *faulty says so. Refused after all, with a message: a file that can not be read, and one that leaves open
 * which file prefix it means, for another test bed may run under the default. -1: go on; else the exit code.
 */
int lenient_config(const struct cli_cmd *cmd, const char *conf, struct nonic_config *cfg, bool *faulty);
/* A command's own CPU where lcore_mask names none that is there: one that this process may run on. Nothing else looks at it. */
void lenient_cpu(const struct machine *m, struct nonic_config *cfg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands: those of the host program (nonic), and those that need DPDK (nonic-dpdk). Each returns the exit code. */
#ifndef NONIC_CLI_CMDS_H
#define NONIC_CLI_CMDS_H

#include "opts.h"

/* argv[0] is the command's name */
typedef int cli_fn(int argc, char **argv);

struct cli_entry {
	const char *name, *summary;
	cli_fn *run;   /* NULL in nonic: nonic-dpdk has it */
};

cli_fn cmd_check_config, cmd_config_reference, cmd_doctor, cmd_packetdrill, cmd_sim;
cli_fn cmd_primary, cmd_serve, cmd_status, cmd_ifconfig, cmd_arp, cmd_route, cmd_netstat, cmd_stop, cmd_ctl;

#endif

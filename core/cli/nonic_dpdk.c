/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic-dpdk: the commands that need DPDK; nonic executes it in its place, with argv[0] the command's name; a
 * master executes it as a program, with the command behind its name. */
#include <stdio.h>
#include <string.h>

#include "cmds.h"

int
main(int argc, char **argv)
{
	static const struct cli_entry entries[] = {
		{ "primary", NULL, cmd_primary }, { "serve", NULL, cmd_serve }, { "stop", NULL, cmd_stop },
		{ "status", NULL, cmd_status }, { "ifconfig", NULL, cmd_ifconfig }, { "arp", NULL, cmd_arp },
		{ "route", NULL, cmd_route }, { "netstat", NULL, cmd_netstat }, { "ctl", NULL, cmd_ctl },
	};

	if (argc > 1 && strchr(argv[0], '/') != NULL) {
		argv++;
		argc--;
	}
	for (size_t i = 0; argc > 0 && i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(argv[0], entries[i].name) == 0)
			return cli_end(entries[i].run(argc, argv));
	fprintf(stderr, "nonic-dpdk: not to be called directly: use 'nonic COMMAND'\n");
	return CLI_USAGE;
}

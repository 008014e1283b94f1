/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator as a program of its own, for tests: `sim list`, `sim run ...` and so on; users call `nonic sim`. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

int
main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return sim_cli_run(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "explore") == 0)
		return sim_cli_explore(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "soak") == 0)
		return sim_cli_soak(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "packetdrill") == 0)
		return sim_cli_packetdrill(argc - 1, argv + 1);
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return sim_cli_list(false);
	fputs("usage: sim list | sim run ... | sim explore ... | sim soak ... | sim packetdrill ...\n", stderr);
	return 2;
}

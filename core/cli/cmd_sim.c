/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic sim list, run, explore, soak: the simulator's scenarios; nonic packetdrill: packet scripts in it. */
#include <string.h>

#include "../../sim/cli.h"
#include "cmds.h"

static const struct cli_cmd cmd = { "sim", "list | run NAME | explore NAME | soak [OPTIONS]",
	"Scenarios in virtual time; the same seed gives the same run.\n\n"
	"  list     names and what they show\n"
	"  run      runs one; 'nonic sim run --help' lists its options\n"
	"  explore  runs one under every schedule up to a bound, or under random ones\n"
	"  soak     runs random ones until the time is over\n" };

static int
list(int argc, char **argv)
{
	static const struct cli_cmd list_cmd = { "sim list", "[--json]", "Prints the scenarios, one a line.\n" };
	bool json = false;
	const struct cli_opt opts[] = { { "json", 0, &json, NULL } };
	unsigned int npos;
	int rc = cli_parse(&list_cmd, argc, argv, opts, 1, 0, &npos);

	return rc >= 0 ? rc : sim_cli_list(json);
}

int
cmd_sim(int argc, char **argv)
{
	unsigned int npos;

	if (argc >= 2 && strcmp(argv[1], "list") == 0)
		return list(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return sim_cli_run(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "explore") == 0)
		return sim_cli_explore(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "soak") == 0)
		return sim_cli_soak(argc - 1, argv + 1);
	if (argc >= 2 && argv[1][0] == '-')
		return cli_parse(&cmd, argc, argv, NULL, 0, 0, &npos);
	if (argc < 2)
		return cli_usage(&cmd, "expected list, run, explore or soak");
	return cli_usage(&cmd, "unknown argument '%s': expected list, run, explore or soak", argv[1]);
}

int
cmd_packetdrill(int argc, char **argv)
{
	return sim_cli_packetdrill(argc, argv);
}

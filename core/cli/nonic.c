/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonic: one command. What needs no DPDK is in this program; the rest is in nonic-dpdk, which stands beside it and is
 * executed in its place (core/ is built twice, and the two builds do not mix in one program).
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmds.h"

static const struct cli_entry entries[] = {
	{ "primary", "start the primary: it owns ports, buffers and shared memory", NULL },
	{ "serve", "start a worker, or a master of workers, that answers echo, DNS and HTTP", NULL },
	{ "ctl", "reload without losing a UDP packet; a reload's state; stop", NULL },
	{ "stop", "end master and workers, then the primary", NULL },
	{ "status", "counters of primary and workers, drops by reason", NULL },
	{ "ifconfig", "interfaces; change an MTU", NULL },
	{ "arp", "neighbours, IPv4 and IPv6", NULL },
	{ "route", "routes; add and delete static ones", NULL },
	{ "netstat", "TCP connections and their queues; TCP's counters", NULL },
	{ "check-config", "check a configuration file and print what it means", cmd_check_config },
	{ "config-reference", "every configuration key, as Markdown", cmd_config_reference },
	{ "doctor", "why it does not work here, and the command that mends it", cmd_doctor },
	{ "sim", "run scenarios in the simulator", cmd_sim },
	{ "packetdrill", "run packet scripts against the stack", cmd_packetdrill },
};

#define NB_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static void
usage(FILE *out)
{
	fprintf(out, "usage: nonic COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < NB_ENTRIES; i++)
		fprintf(out, "  %-17s %s\n", entries[i].name, entries[i].summary);
	fprintf(out, "  %-17s %s\n", "help [COMMAND]", "this page, or a command's");
	fprintf(out, "\nnonic --version prints the version. Exit codes: 0 done, 1 failed, 2 wrong usage.\n");
}

/* Replaces this program by nonic-dpdk of the same directory. Returns only on failure. */
static int
exec_dpdk(char **argv)
{
	char self[PATH_MAX], path[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0) {
		fprintf(stderr, "nonic: /proc/self/exe: %s: is /proc mounted?\n", strerror(errno));
		return CLI_FAILED;
	}
	self[n] = '\0';
	snprintf(path, sizeof(path), "%s/nonic-dpdk", dirname(self));
	execv(path, argv);
	fprintf(stderr, "nonic: %s: %s: install or build nonic-dpdk beside nonic\n", path, strerror(errno));
	return CLI_FAILED;
}

static const struct cli_entry *
find(const char *name)
{
	for (size_t i = 0; i < NB_ENTRIES; i++)
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
	return NULL;
}

static int
unknown(const char *name)
{
	fprintf(stderr, "nonic: unknown command '%s': ", name);
	for (size_t i = 0; i < NB_ENTRIES; i++)
		fprintf(stderr, "%s%s", i == 0 ? "" : i + 1 == NB_ENTRIES ? " or " : ", ", entries[i].name);
	fprintf(stderr, "\n");
	return CLI_USAGE;
}

/*
 * A closed standard descriptor would be the next file that is opened, and get what is printed. In its place: one on which
 * reading and writing fail as on a closed one.
 */
static void
keep_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			_exit(CLI_FAILED);
}

int
main(int argc, char **argv)
{
	char *help[] = { NULL, (char[]){ "--help" }, NULL };
	const struct cli_entry *e;

	keep_standard();
	if (argc < 2) {
		usage(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("nonic %s\n", NONIC_VERSION);
		return cli_end(CLI_OK);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2)) {
		usage(stdout);
		return cli_end(CLI_OK);
	}
	argv++;
	argc--;
	if (strcmp(argv[0], "help") == 0) {
		help[0] = argv[1];
		argv = help;
		argc = 2;
	}
	e = find(argv[0]);
	if (e == NULL)
		return unknown(argv[0]);
	return e->run != NULL ? cli_end(e->run(argc, argv)) : exec_dpdk(argv);
}

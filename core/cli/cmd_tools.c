/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic status, ifconfig, arp, route, netstat, ctl: observers of a running test bed. */
#include <stdio.h>
#include <string.h>

#include "bed.h"
#include "cmds.h"
#include "tools.h"

#define COMMON_HELP \
	"  -c, --conf FILE  the configuration of the test bed (default: config.ini)\n" \
	"  --json           as JSON\n"

static const struct cli_cmd status_cmd = { "status", "[-c FILE] [--json]",
	"Prints the counters of primary, workers and ports, and what the workers dropped, by reason. Reading disturbs nobody.\n\n"
	COMMON_HELP };

static const struct cli_cmd ifconfig_cmd = { "ifconfig", "[-c FILE] [-p N] [--json] [IF [mtu M]]",
	"Prints interfaces and addresses, or changes an MTU: of the port and every worker's view of it; with -p N of worker\n"
	"N's view only (that can not pass the port's).\n\n"
	"  -p, --proc-id N  this worker (default: the first to print, all to change)\n" COMMON_HELP };

static const struct cli_cmd arp_cmd = { "arp", "[-c FILE] [-p N] [--json]",
	"Prints a worker's neighbours, IPv4 (ARP) and IPv6 (neighbour discovery).\n\n"
	"  -p, --proc-id N  this worker (default: the first)\n" COMMON_HELP };

static const struct cli_cmd route_cmd = { "route", "[-c FILE] [-p N] [--json] [add DST [via GATEWAY] [dev IF] | del DST]",
	"Prints a worker's routes, or adds or deletes a static one in every worker (with -p N, in that one). DST is an address,\n"
	"ADDRESS/LENGTH, default (IPv4) or default6.\n\n"
	"  -p, --proc-id N  this worker (default: the first to print, all to change)\n" COMMON_HELP };

static const struct cli_cmd netstat_cmd = { "netstat", "[-c FILE] [-p N] [--json] [-s]",
	"Prints a worker's TCP listeners and connections, one a line: protocol, two queues, local and remote end, state. The\n"
	"queues are bytes received and not yet read, and bytes sent and not yet acknowledged; of a listener, connections that\n"
	"wait to be accepted, and how many may.\n\n"
	"  -s, --statistics TCP's counters, and what was dropped, by reason\n"
	"  -p, --proc-id N  this worker (default: the first)\n" COMMON_HELP };

static const struct cli_cmd ctl_cmd = { "ctl", "[-c FILE] [--wait] [--json] reload | stop | status",
	"Talks to the master ('nonic serve' with [dpdk] graceful_reload=1).\n\n"
	"  reload           begins a reload, as HUP does: a new generation of workers with the configuration as it is now. UDP\n"
	"                   flows stay with the old one until they end, TCP connections end at the handover or soon after. Exit\n"
	"                   code 1 with the reason when it is refused; with --wait also when it was aborted\n"
	"  stop             ends the workers gracefully, as QUIT does, and the master; the primary stays\n"
	"  status           state, generations, live workers, what is left to drain, how the last reload went, the last one\n"
	"                   that was refused or aborted\n\n"
	"      --wait       returns when the reload, or the stop, is over; of a reload it prints the completion line\n"
	COMMON_HELP };

struct common {
	const char *conf, *proc;
	bool json;
	int proc_id;
	struct bed b;
	struct tools t;
};

/* The number behind --proc-id. -1: go on. */
static int
common_proc(struct common *c, const struct cli_cmd *cmd)
{
	unsigned long v;

	if (c->proc == NULL)
		return -1;
	if (!cli_number(c->proc, 0, CTL_MAX_PROCS - 2, &v))
		return cli_usage(cmd, "--proc-id '%s': expected 0 to %u", c->proc, CTL_MAX_PROCS - 2);
	c->proc_id = (int)v;
	return -1;
}

/* Options, then the bed. -1: go on, and bed_close. */
static int
common_parse(struct common *c, const struct cli_cmd *cmd, int argc, char **argv, bool with_proc, unsigned int max_pos,
	unsigned int *npos)
{
	const struct cli_opt opts[] = {
		{ "conf", 'c', NULL, &c->conf }, { "json", 0, &c->json, NULL }, { "proc-id", 'p', NULL, &c->proc },
	};
	int rc;

	memset(c, 0, sizeof(*c));
	c->conf = "config.ini";
	c->proc_id = -1;
	rc = cli_parse(cmd, argc, argv, opts, with_proc ? 3 : 2, max_pos, npos);
	return rc >= 0 ? rc : common_proc(c, cmd);
}

static int
common_open(struct common *c, const struct cli_cmd *cmd)
{
	int rc = bed_open(&c->b, cmd, c->conf, &(struct bed_as){ .role = SHIM_ROLE_OBSERVER });

	if (rc >= 0)
		return rc;
	rc = tools_attach(&c->t, cmd, c->b.shim, stdout, c->json);
	if (rc >= 0)
		bed_close(&c->b);
	return rc;
}

int
cmd_status(int argc, char **argv)
{
	struct common c;
	unsigned int npos;
	int rc = common_parse(&c, &status_cmd, argc, argv, false, 0, &npos);

	if (rc < 0)
		rc = common_open(&c, &status_cmd);
	if (rc >= 0)
		return rc;
	rc = tools_status(&c.t);
	bed_close(&c.b);
	return rc;
}

/* The port behind an interface's name, from the configuration; -1: no port has it. */
static int
port_of(const struct nonic_config *cfg, const char *ifname)
{
	for (unsigned int i = 0; i < cfg->nb_ports; i++) {
		uint16_t port = cfg->port_list[i];
		char def[24];

		snprintf(def, sizeof(def), "f-stack-%u", port);
		if (strcmp(cfg->port[port].if_name[0] != '\0' ? cfg->port[port].if_name : def, ifname) == 0)
			return port;
	}
	return -1;
}

static int
ifconfig_mtu(struct common *c, const char *ifname, const char *word)
{
	unsigned long mtu;
	int port = port_of(&c->b.cfg, ifname);

	if (!cli_number(word, 68, 65535, &mtu))
		return cli_usage(&ifconfig_cmd, "mtu '%s': expected 68 to 65535", word);
	if (c->proc_id < 0 && c->b.faulty)
		return cli_fail(&ifconfig_cmd, "which port '%s' is can not be told from a configuration with errors: correct it",
			ifname);
	if (c->proc_id < 0 && port < 0)
		return cli_fail(&ifconfig_cmd, "no port has an interface '%s'; a VLAN interface's own view is changed with -p",
			ifname);
	return tools_mtu(&c->t, c->proc_id, ifname, port, mtu);
}

int
cmd_ifconfig(int argc, char **argv)
{
	struct common c;
	unsigned int npos;
	int rc = common_parse(&c, &ifconfig_cmd, argc, argv, true, 3, &npos);

	if (rc >= 0)
		return rc;
	if (npos == 2)
		return cli_usage(&ifconfig_cmd, "behind '%s': expected 'mtu M'", argv[1]);
	if (npos == 3 && strcmp(argv[2], "mtu") != 0)
		return cli_usage(&ifconfig_cmd, "'%s': expected 'mtu'", argv[2]);
	rc = common_open(&c, &ifconfig_cmd);
	if (rc >= 0)
		return rc;
	if (npos == 3)
		rc = ifconfig_mtu(&c, argv[1], argv[3]);
	else
		rc = tools_list(&c.t, c.proc_id, "interfaces", CTL_IFCONFIG, CTL_NONE, npos == 1 ? argv[1] : NULL);
	bed_close(&c.b);
	return rc;
}

int
cmd_arp(int argc, char **argv)
{
	struct common c;
	unsigned int npos;
	int rc = common_parse(&c, &arp_cmd, argc, argv, true, 0, &npos);

	if (rc < 0)
		rc = common_open(&c, &arp_cmd);
	if (rc >= 0)
		return rc;
	rc = tools_list(&c.t, c.proc_id, "neighbours", CTL_ARP_LIST, CTL_NDP_LIST, NULL);
	bed_close(&c.b);
	return rc;
}

int
cmd_netstat(int argc, char **argv)
{
	struct common c = { .conf = "config.ini", .proc_id = -1 };
	bool counts = false;
	const struct cli_opt opts[] = {
		{ "conf", 'c', NULL, &c.conf }, { "json", 0, &c.json, NULL }, { "proc-id", 'p', NULL, &c.proc },
		{ "statistics", 's', &counts, NULL },
	};
	unsigned int npos;
	int rc = cli_parse(&netstat_cmd, argc, argv, opts, 4, 0, &npos);

	if (rc < 0)
		rc = common_proc(&c, &netstat_cmd);
	if (rc < 0)
		rc = common_open(&c, &netstat_cmd);
	if (rc >= 0)
		return rc;
	if (counts)
		rc = tools_list(&c.t, c.proc_id, "counters", CTL_TCP_COUNTS, CTL_NONE, NULL);
	else
		rc = tools_list(&c.t, c.proc_id, "connections", CTL_TCP_LIST, CTL_NONE, NULL);
	bed_close(&c.b);
	return rc;
}

/* argv: add DST [via GATEWAY] [dev IF], or del DST. */
static int
route_words(unsigned int npos, char **argv, const char *words[3])
{
	words[0] = argv[1];
	words[1] = words[2] = "-";
	if (strcmp(argv[0], "del") == 0)
		return npos == 2 ? -1 : cli_usage(&route_cmd, "del: expected one destination");
	if (npos < 2)
		return cli_usage(&route_cmd, "add: expected a destination");
	for (unsigned int i = 2; i < npos; i += 2) {
		unsigned int at = strcmp(argv[i], "via") == 0 ? 1 : strcmp(argv[i], "dev") == 0 ? 2 : 0;

		if (at == 0)
			return cli_usage(&route_cmd, "'%s': expected 'via GATEWAY' or 'dev IF'", argv[i]);
		if (i + 1 == npos)
			return cli_usage(&route_cmd, "behind '%s': expected %s", argv[i], at == 1 ? "a gateway" : "an interface");
		words[at] = argv[i + 1];
	}
	return -1;
}

int
cmd_route(int argc, char **argv)
{
	const char *words[3];
	struct common c;
	unsigned int npos;
	bool add = false;
	int rc = common_parse(&c, &route_cmd, argc, argv, true, 6, &npos);

	if (rc >= 0)
		return rc;
	if (npos > 0) {
		add = strcmp(argv[1], "add") == 0;
		if (!add && strcmp(argv[1], "del") != 0)
			return cli_usage(&route_cmd, "'%s': expected add or del", argv[1]);
		rc = route_words(npos, argv + 1, words);
		if (rc >= 0)
			return rc;
	}
	rc = common_open(&c, &route_cmd);
	if (rc >= 0)
		return rc;
	if (npos == 0)
		rc = tools_list(&c.t, c.proc_id, "routes", CTL_ROUTE_LIST, CTL_NONE, NULL);
	else
		rc = tools_order(&c.t, c.proc_id, add ? CTL_ROUTE_ADD : CTL_ROUTE_DEL, words, add ? 3 : 1);
	bed_close(&c.b);
	return rc;
}

int
cmd_ctl(int argc, char **argv)
{
	struct common c = { .conf = "config.ini" };
	bool wait = false;
	const struct cli_opt opts[] = {
		{ "conf", 'c', NULL, &c.conf }, { "json", 0, &c.json, NULL }, { "wait", 0, &wait, NULL },
	};
	unsigned int npos;
	int rc = cli_parse(&ctl_cmd, argc, argv, opts, 3, 1, &npos);

	if (rc >= 0)
		return rc;
	if (npos == 0)
		return cli_usage(&ctl_cmd, "expected reload, stop or status");
	if (strcmp(argv[1], "reload") != 0 && strcmp(argv[1], "stop") != 0 && strcmp(argv[1], "status") != 0)
		return cli_usage(&ctl_cmd, "'%s': expected reload, stop or status", argv[1]);
	rc = common_open(&c, &ctl_cmd);
	if (rc >= 0)
		return rc;
	if (argv[1][0] == 'r')
		rc = tools_reload(&c.t, wait);
	else if (strcmp(argv[1], "stop") == 0)
		rc = tools_quit(&c.t, wait);
	else
		rc = tools_reload_status(&c.t);
	bed_close(&c.b);
	return rc;
}

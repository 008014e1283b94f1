/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic primary, nonic stop. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../runtime/layout.h"
#include "../runtime/primary.h"
#include "bed.h"
#include "cmds.h"

#define RESERVE_ZONE "nonic_reserve"
#define RESERVE_LEFT_MB 8u /* of it, for the EAL of the primary */
#define ORPHANS 64u
#define STOP_WAIT_MS (PRIMARY_STOP_MS + 5000)

static const struct cli_cmd primary_cmd = { "primary", "[-c FILE]",
	"Starts the primary in the foreground: it makes ports, buffers and shared memory, and runs no protocol. Prints\n"
	"'primary ready' when workers may start. SIGTERM, SIGINT or 'nonic stop' end it, after master and workers.\n\n"
	"  -c, --conf FILE  the configuration (default: config.ini)\n" };

static const struct cli_cmd stop_cmd = { "stop", "[-c FILE]",
	"Ends the master and the workers of a test bed and then its primary; returns when all are gone. Where the primary is gone\n"
	"already it ends those that it left.\n\n"
	"  -c, --conf FILE  the configuration the primary was started with (default: config.ini)\n" };

/*
 * primary_setup while most of the memory of the start is set aside: it goes back into the heap then, for the EALs of workers and tools
 * (config.h: CONFIG_RESERVE_MB). Without it they do start, if all others answer.
 */
static int
setup(struct bed *b, struct primary **p)
{
	void *addr;
	bool held = b->cfg.graceful_reload &&
		shim_zone_reserve(b->shim, RESERVE_ZONE, (size_t)(CONFIG_RESERVE_MB - RESERVE_LEFT_MB) << 20, &addr) == 0;
	int rc = primary_setup(b->shim, &b->cfg, p);

	if (held)
		shim_zone_free(b->shim, RESERVE_ZONE);
	return rc;
}

int
cmd_primary(int argc, char **argv)
{
	const char *conf = "config.ini";
	const struct cli_opt opts[] = { { "conf", 'c', NULL, &conf } };
	struct primary *p;
	struct bed b;
	unsigned int npos;
	int rc = cli_parse(&primary_cmd, argc, argv, opts, 1, 0, &npos);

	if (rc >= 0)
		return rc;
	rc = bed_open(&b, &primary_cmd, conf, &(struct bed_as){ .role = SHIM_ROLE_PRIMARY });
	if (rc >= 0)
		return rc;
	rc = setup(&b, &p);
	if (rc < 0) {
		cli_fail(&primary_cmd, "not started (%s); the log above has the reason", strerror(-rc));
		bed_close(&b);
		return CLI_FAILED;
	}
	printf("primary ready: file prefix %s, %u port%s, %u worker%s\n", b.prefix, b.cfg.nb_ports,
		b.cfg.nb_ports == 1 ? "" : "s", layout_nb_workers(&b.cfg), layout_nb_workers(&b.cfg) == 1 ? "" : "s");
	fflush(stdout);
	primary_run(p, &b.stop);
	primary_teardown(p);
	bed_close(&b);
	return CLI_OK;
}

/* Waits until the primary's lock is free. */
static bool
gone(struct bed *b, unsigned int ms)
{
	struct timespec step = { .tv_nsec = 20000000 };
	bool stale;

	for (unsigned int i = 0; i < ms / 20; i++) {
		if (machine_primary(&b->m, b->prefix, &stale) == 0)
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

/* Without a primary: master, workers and whoever else still has its memory end by a signal of their own. */
static int
stop_orphans(struct bed *b)
{
	struct machine_member x[ORPHANS];
	struct timespec step = { .tv_nsec = 20000000 };
	unsigned int n = machine_members(&b->m, b->prefix, x, ORPHANS);

	if (n == 0)
		return cli_fail(&stop_cmd, "no primary of file prefix %s is running", b->prefix);
	/* the master first: it ends its workers */
	for (unsigned int pass = 0; pass < 2; pass++)
		for (unsigned int i = 0; i < n; i++)
			if ((x[i].role == MACHINE_MASTER) == (pass == 0))
				kill(x[i].pid, SIGTERM);
	for (unsigned int i = 0; i < STOP_WAIT_MS / 20 && n > 0; i++) {
		nanosleep(&step, NULL);
		n = machine_members(&b->m, b->prefix, x, ORPHANS);
	}
	if (n > 0)
		return cli_fail(&stop_cmd, "the primary of file prefix %s is gone, and process %d of it is still there after %u ms: "
			"kill -9 %d", b->prefix, (int)x[0].pid, STOP_WAIT_MS, (int)x[0].pid);
	machine_clean(&b->m, b->prefix);
	return CLI_OK;
}

int
cmd_stop(int argc, char **argv)
{
	const char *conf = "config.ini";
	const struct cli_opt opts[] = { { "conf", 'c', NULL, &conf } };
	struct bed b;
	unsigned int npos;
	bool stale;
	pid_t pid;
	int rc = cli_parse(&stop_cmd, argc, argv, opts, 1, 0, &npos);

	if (rc >= 0)
		return rc;
	rc = bed_config_lenient(&b, &stop_cmd, conf);
	if (rc >= 0) {
		bed_close(&b);
		return rc;
	}
	rc = CLI_OK;
	/* the primary ends its workers first (primary_run), so that one signal ends all, in order */
	pid = machine_primary(&b.m, b.prefix, &stale);
	if (pid == 0)
		rc = stop_orphans(&b);
	else if (pid < 0 || kill(pid, SIGTERM) < 0)
		rc = cli_fail(&stop_cmd, "the primary of file prefix %s belongs to another user or container: stop it there",
			b.prefix);
	else if (!gone(&b, STOP_WAIT_MS))
		rc = cli_fail(&stop_cmd, "the primary (pid %d) is still there after %u ms: kill -9 %d", (int)pid, STOP_WAIT_MS,
			(int)pid);
	else
		machine_clean(&b.m, b.prefix); /* of a program that SIGTERM ends at once */
	bed_close(&b);
	return rc;
}

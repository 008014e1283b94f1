/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic primary, nonic serve, nonic stop. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../runtime/layout.h"
#include "../runtime/primary.h"
#include "../runtime/worker.h"
#include "bed.h"
#include "cmds.h"
#include "serve.h"
#include "tools.h"

#define STOP_WAIT_MS (PRIMARY_STOP_MS + 5000)
#define ALONE_NS 1000000ull

static const struct cli_cmd primary_cmd = { "primary", "[-c FILE]",
	"Starts the primary in the foreground: it makes ports, buffers and shared memory, and runs no protocol. Prints\n"
	"'primary ready' when workers may start. SIGTERM, SIGINT or 'nonic stop' end it, after its workers.\n\n"
	"  -c, --conf FILE  the configuration (default: config.ini)\n" };

static const struct cli_cmd serve_cmd = { "serve", "[-c FILE] [-p N | --alone] [--echo-port N] [--dns-port N]",
	"Starts a worker in the foreground, beside a running primary: a network stack that answers pings, UDP echo, and DNS\n"
	"queries for any name (A 192.0.2.53, AAAA 2001:db8::53, TXT \"nonic\"). Prints 'worker N ready'.\n\n"
	"  -c, --conf FILE   the configuration the primary was started with (default: config.ini)\n"
	"  -p, --proc-id N   which worker (default: the first)\n"
	"      --alone       primary and worker in one process, as a plain F-Stack application is; no primary is needed,\n"
	"                    nor hugepages with no_huge=1\n"
	"      --echo-port N UDP echo (default: 7; 0: none)\n"
	"      --dns-port N  DNS responder (default: 53; 0: none)\n" };

static const struct cli_cmd stop_cmd = { "stop", "[-c FILE]",
	"Ends the workers of a test bed and then its primary; returns when all are gone.\n\n"
	"  -c, --conf FILE  the configuration the primary was started with (default: config.ini)\n" };

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
	rc = bed_open(&b, &primary_cmd, conf, SHIM_ROLE_PRIMARY, 0, false);
	if (rc >= 0)
		return rc;
	rc = primary_setup(b.shim, &b.cfg, &p);
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

static int
serve_loop(void *arg)
{
	serve_turn(arg);
	return 0;
}

/* The primary's part of a process that is both, when it is due. */
static void
alone_turn(struct primary *p, uint64_t now_ns, uint64_t *due_ns)
{
	if (p == NULL || now_ns < *due_ns)
		return;
	primary_turn(p);
	*due_ns = now_ns + ALONE_NS;
}

static void
serve_until(struct bed *b, struct worker *w, struct primary *p)
{
	uint64_t due = 0;

	if (p == NULL) {
		worker_run(w, &b->stop);
		return;
	}
	while (!b->stop && !worker_stopped(w)) {
		if (worker_turn(w) == 0 && b->cfg.idle_sleep_us > 0)
			shim_sleep_ns(b->shim, b->cfg.idle_sleep_us * 1000ull);
		alone_turn(p, shim_now_ns(b->shim), &due);
	}
}

static int
serve_run(struct bed *b, unsigned int proc_id, uint16_t echo_port, uint16_t dns_port, struct primary *p)
{
	struct serve sv;
	struct worker_config wc = { .shim = b->shim, .cfg = &b->cfg, .proc_id = proc_id, .loop = serve_loop,
		.loop_arg = &sv };
	struct worker *w;
	int rc = -EINTR;

	/* the primary holds its lock before it is ready */
	for (unsigned int i = 0; i < 100 && !b->stop; i++) {
		rc = worker_create(&wc, &w);
		if (rc != -EAGAIN)
			break;
		shim_sleep_ns(b->shim, 50000000);
	}
	if (rc < 0)
		return cli_fail(&serve_cmd, "worker %u not started (%s); the log above has the reason", proc_id, strerror(-rc));
	rc = serve_open(&sv, worker_stack(w), echo_port, dns_port);
	if (rc < 0) {
		worker_destroy(w);
		return cli_fail(&serve_cmd, "its sockets could not be opened: %s", strerror(-rc));
	}
	printf("worker %u ready: UDP echo on port %u, DNS on port %u\n", proc_id, echo_port, dns_port);
	fflush(stdout);
	serve_until(b, w, p);
	serve_close(&sv);
	worker_destroy(w);
	return CLI_OK;
}

static int
serve_alone(struct bed *b, uint16_t echo_port, uint16_t dns_port)
{
	struct primary *p;
	int rc = primary_setup(b->shim, &b->cfg, &p);

	if (rc < 0)
		return cli_fail(&serve_cmd, "not started (%s); the log above has the reason", strerror(-rc));
	rc = serve_run(b, 0, echo_port, dns_port, p);
	primary_teardown(p);
	return rc;
}

int
cmd_serve(int argc, char **argv)
{
	const char *conf = "config.ini", *proc = NULL, *echo = "7", *dns = "53";
	bool alone = false;
	const struct cli_opt opts[] = {
		{ "conf", 'c', NULL, &conf }, { "proc-id", 'p', NULL, &proc }, { "echo-port", 0, NULL, &echo },
		{ "dns-port", 0, NULL, &dns }, { "alone", 0, &alone, NULL },
	};
	unsigned long echo_port, dns_port, proc_id = 0;
	struct bed b;
	unsigned int npos;
	int rc = cli_parse(&serve_cmd, argc, argv, opts, 5, 0, &npos);

	if (rc >= 0)
		return rc;
	if (!cli_number(echo, 0, 65535, &echo_port))
		return cli_usage(&serve_cmd, "--echo-port '%s': expected 0 to 65535", echo);
	if (!cli_number(dns, 0, 65535, &dns_port))
		return cli_usage(&serve_cmd, "--dns-port '%s': expected 0 to 65535", dns);
	if (proc != NULL && !cli_number(proc, 0, CTL_MAX_PROCS - 2, &proc_id))
		return cli_usage(&serve_cmd, "--proc-id '%s': expected 0 to %u", proc, CTL_MAX_PROCS - 2);
	if (alone && proc != NULL)
		return cli_usage(&serve_cmd, "--alone and --proc-id exclude each other");
	if (proc == NULL && !alone) {
		rc = bed_config(&b, &serve_cmd, conf);
		if (rc >= 0)
			return rc;
		proc_id = layout_first_proc(&b.cfg);
		bed_close(&b);
	}
	rc = bed_open(&b, &serve_cmd, conf, alone ? SHIM_ROLE_PRIMARY : SHIM_ROLE_WORKER, proc_id, alone);
	if (rc >= 0)
		return rc;
	rc = alone ? serve_alone(&b, echo_port, dns_port) : serve_run(&b, proc_id, echo_port, dns_port, NULL);
	bed_close(&b);
	return rc;
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
	rc = bed_config(&b, &stop_cmd, conf);
	if (rc >= 0)
		return rc;
	rc = CLI_OK;
	/* the primary ends its workers first (primary_run), so that one signal ends all, in order */
	pid = machine_primary(&b.m, b.prefix, &stale);
	if (pid == 0)
		rc = cli_fail(&stop_cmd, "no primary of file prefix %s is running", b.prefix);
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

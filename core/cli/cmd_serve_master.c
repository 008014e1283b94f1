/* SPDX-License-Identifier: BSD-3-Clause */
/* The process of a master: an observer that takes signals, turns serve_master and naps in between. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cmd_serve.h"
#include "serve_master.h"

static void
say(void *ctx, const char *line)
{
	(void)ctx;
	printf("%s\n", line);
	fflush(stdout);
}

/* Everything that came since the last call. */
static void
take_signals(struct bed *b, struct serve_master *sm)
{
	struct signalfd_siginfo si;
	char why[512];

	while (read(b->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGHUP)
			serve_master_reload(sm, why, sizeof(why)); /* a refusal is in the log */
		else
			serve_master_stop(sm, si.ssi_signo == SIGQUIT);
	}
}

static void
run(struct bed *b, struct serve_master *sm)
{
	while (!serve_master_done(sm)) {
		uint64_t nap = serve_master_turn(sm);
		struct timespec ts = { .tv_nsec = (long)nap };
		struct pollfd p = { .fd = b->signal_fd, .events = POLLIN };

		/* a nap of 0 is still a look at the signals */
		if (ppoll(&p, 1, &ts, NULL) > 0)
			take_signals(b, sm);
	}
}

/* The program of a worker is this one, whatever becomes of its name later on. */
static int
own_program(char *path, size_t n)
{
	ssize_t len = readlink("/proc/self/exe", path, n - 1);

	if (len < 0)
		return cli_fail(&serve_cmd, "/proc/self/exe: %s: is /proc mounted?", strerror(errno));
	path[len] = '\0';
	return -1;
}

/*
 * Workers that end leave the process table by themselves: a turn never waits for what the kernel does to take a child out of it (with Linux
 * 6.18 on a busy machine that was seen to last for many seconds, even under waitpid with WNOHANG).
 */
static void
reap_nobody(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };

	sigaction(SIGCHLD, &sa, NULL); /* can not fail for these arguments */
}

static int
open_master(struct bed *b, struct serve_master *sm, const struct serve_master_config *mc)
{
	int rc = -EINTR;

	/* the primary holds its lock before it is ready */
	for (unsigned int i = 0; i < 100; i++) {
		rc = serve_master_open(sm, mc);
		if (rc != -EAGAIN)
			break;
		shim_sleep_ns(b->shim, 50000000);
	}
	if (rc == 0)
		return -1;
	return cli_fail(&serve_cmd, "no master (%s); the log above has the reason", strerror(-rc));
}

int
cmd_serve_master(const struct serve_opts *o)
{
	char program[PATH_MAX], echo[12], dns[12], http[12];
	const char *args[] = { "--echo-port", echo, "--dns-port", dns, "--http-port", http,
		o->stamp ? "--stamp" : NULL, NULL };
	struct serve_master_config mc = { .program = program, .worker_args = args, .say = say,
		.shutdown_timeout_ms = o->shutdown_timeout_ms, .ready_timeout_ms = o->ready_timeout_ms,
		.park_timeout_ms = o->park_timeout_ms };
	struct serve_master sm;
	struct bed b;
	int rc = own_program(program, sizeof(program));

	if (rc >= 0)
		return rc;
	snprintf(echo, sizeof(echo), "%u", o->echo_port);
	snprintf(dns, sizeof(dns), "%u", o->dns_port);
	snprintf(http, sizeof(http), "%u", o->http_port);
	rc = bed_open(&b, &serve_cmd, o->conf, &(struct bed_as){ .role = SHIM_ROLE_OBSERVER, .master = true });
	if (rc >= 0)
		return rc;
	reap_nobody();
	mc.shim = b.shim;
	mc.machine = &b.m;
	mc.cfg = &b.cfg;
	mc.prefix = b.prefix;
	rc = open_master(&b, &sm, &mc);
	if (rc < 0) {
		run(&b, &sm);
		serve_master_close(&sm);
		rc = CLI_OK;
	}
	bed_close(&b);
	return rc;
}

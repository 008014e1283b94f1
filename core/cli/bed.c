/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a test bed on DPDK, in a role; closing it. */
#include "bed.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../../shim/dpdk/eal.h"
#include "../reload/gen_dir.h"
#include "../runtime/layout.h"
#include "doctor.h"
#include "lenient.h"

static void
bed_init(struct bed *b, const struct cli_cmd *cmd)
{
	memset(b, 0, sizeof(*b));
	b->cmd = cmd;
	b->signal_fd = -1;
	b->m = (struct machine){ .root = "", .is_root = geteuid() == 0 };
}

int
bed_config_lenient(struct bed *b, const struct cli_cmd *cmd, const char *conf)
{
	int rc;

	bed_init(b, cmd);
	rc = lenient_config(cmd, conf, &b->cfg, &b->faulty);
	if (rc < 0) {
		lenient_cpu(&b->m, &b->cfg);
		layout_file_prefix(&b->cfg, b->prefix, sizeof(b->prefix));
	}
	return rc;
}

int
bed_config(struct bed *b, const struct cli_cmd *cmd, const char *conf)
{
	struct config_messages msgs;
	int rc;

	bed_init(b, cmd);
	if (access(conf, R_OK) < 0)
		return cli_fail(cmd, "%s: %s: name the configuration with --conf FILE", conf, strerror(errno));
	rc = config_load(conf, 0, &b->cfg, &msgs);
	for (unsigned int i = 0; i < msgs.n; i++)
		if (msgs.m[i].error || cmd->name[0] == 'p')
			fprintf(stderr, "%s: %s\n", msgs.m[i].error ? "error" : "warning", msgs.m[i].text);
	config_messages_free(&msgs);
	if (rc < 0)
		return CLI_FAILED;
	layout_file_prefix(&b->cfg, b->prefix, sizeof(b->prefix));
	return -1;
}

/* What must be so before the EAL may start, said in one sentence when it is not. */
static int
check_before(struct bed *b, const struct bed_as *as)
{
	const struct doctor_finding *f;
	struct doctor d;
	bool stale;
	pid_t pid = machine_primary(&b->m, b->prefix, &stale);

	if (as->role != SHIM_ROLE_PRIMARY) {
		/* the EAL of a newcomer would wait for its answer, many seconds */
		if (machine_suspended(&b->m, pid))
			return cli_fail(b->cmd, "the primary (pid %d) is suspended: 'kill -CONT %d' lets it go on", (int)pid, (int)pid);
		if (pid != 0)
			return -1;
		return cli_fail(b->cmd, "no primary of file prefix %s is running: start one with 'nonic primary --conf %s'",
			b->prefix, b->cfg.file);
	}
	if (pid > 0)
		return cli_fail(b->cmd, "a primary of file prefix %s is running already (pid %d): end it with 'nonic stop "
			"--conf %s', or give this configuration a file_prefix of its own", b->prefix, (int)pid, b->cfg.file);
	if (pid < 0)
		return cli_fail(b->cmd, "a primary of file prefix %s is running already, as another user or in another "
			"container: give this configuration a file_prefix of its own", b->prefix);
	machine_clean(&b->m, b->prefix);
	doctor_preflight(&d, &b->m, &b->cfg, as->alone);
	f = doctor_first_failure(&d);
	if (f != NULL)
		return cli_fail(b->cmd, "%s (mend it: %s)", f->text, f->fix);
	return -1;
}

/* The configuration's arguments, and what a process of ours adds to them. */
static int
eal_args(struct bed *b, const struct bed_as *as, char ***out, int *argc)
{
	bool quiet = as->role == SHIM_ROLE_OBSERVER && !as->master;
	char **given, **v;
	int n, rc;

	rc = config_eal_args(&b->cfg, "nonic-dpdk", as->proc_id, as->role == SHIM_ROLE_PRIMARY ? CONFIG_EAL_PRIMARY :
		as->role == SHIM_ROLE_OBSERVER ? CONFIG_EAL_OBSERVER : gen_side(as->generation) == 0 ? CONFIG_EAL_WORKER :
		CONFIG_EAL_WORKER_SIDE1, &given, &n);
	if (rc < 0)
		return rc;
	v = calloc(n + 3, sizeof(*v));
	if (v == NULL) {
		config_eal_args_free(given);
		return -ENOMEM;
	}
	v[0] = given[0];
	v[1] = strdup("--no-telemetry");
	if (quiet)
		v[2] = strdup("--log-level=4");
	memcpy(v + 2 + quiet, given + 1, (n - 1) * sizeof(*v));
	free(given);
	*out = v;
	*argc = n + 1 + quiet;
	return 0;
}

/* SIGTERM and SIGINT are blocked everywhere and taken here, so that no handler and no global is needed. */
static void *
wait_signal(void *arg)
{
	struct bed *b = arg;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	while (sigwait(&set, &sig) != 0)
		;
	b->stop = 1;
	return NULL;
}

static int
block_signals(struct bed *b, bool master)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (master) {
		sigaddset(&set, SIGHUP);
		sigaddset(&set, SIGQUIT);
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!master)
		return 0;
	b->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return b->signal_fd < 0 ? -errno : 0;
}

static int
open_door(struct bed *b, const struct bed_as *as)
{
	char **copy;
	int argc, rc;

	rc = eal_args(b, as, &b->eal_argv, &argc);
	if (rc < 0)
		return cli_fail(b->cmd, "process id %u has no lcore in [dpdk] lcore_mask", as->proc_id);
	copy = calloc(argc + 1, sizeof(*copy));
	if (copy == NULL)
		return cli_fail(b->cmd, "no memory");
	memcpy(copy, b->eal_argv, argc * sizeof(*copy)); /* the EAL permutes them */
	rc = block_signals(b, as->master);
	if (rc < 0) {
		free(copy);
		return cli_fail(b->cmd, "signals can not be waited for: %s", strerror(-rc));
	}
	/* who reads the log of a role may go away; the role stays */
	if (as->role != SHIM_ROLE_OBSERVER || as->master)
		signal(SIGPIPE, SIG_IGN);
	/* it asks for a reload, which is the master's; a worker or primary that is met by `pkill -HUP` goes on */
	if (b->cfg.graceful_reload && !as->master && as->role != SHIM_ROLE_OBSERVER)
		signal(SIGHUP, SIG_IGN);
	rc = shim_dpdk_open(argc, copy, as->role, as->proc_id, &b->shim);
	free(copy);
	if (rc < 0)
		return cli_fail(b->cmd, "the EAL did not start: %s; 'nonic doctor -c %s' looks for the reason", strerror(-rc),
			b->cfg.file);
	/* the thread comes after the EAL: it starts where the EAL has put this process */
	b->waiting = !as->master && pthread_create(&b->waiter, NULL, wait_signal, b) == 0;
	return -1;
}

int
bed_open(struct bed *b, const struct cli_cmd *cmd, const char *conf, const struct bed_as *as)
{
	bool lenient = as->role == SHIM_ROLE_OBSERVER && !as->master;
	int rc = lenient ? bed_config_lenient(b, cmd, conf) : bed_config(b, cmd, conf);

	if (rc < 0 && as->alone && b->cfg.primary_slim)
		rc = cli_fail(cmd, "[dpdk] primary_slim=1 asks for a primary of its own: 'nonic primary', then 'nonic serve'");
	if (rc < 0)
		rc = check_before(b, as);
	if (rc < 0)
		rc = open_door(b, as);
	if (rc >= 0)
		bed_close(b);
	return rc;
}

void
bed_close(struct bed *b)
{
	bool primary = b->shim != NULL && shim_role(b->shim) == SHIM_ROLE_PRIMARY;

	if (b->waiting) {
		pthread_cancel(b->waiter);
		pthread_join(b->waiter, NULL);
		b->waiting = false;
	}
	if (b->signal_fd >= 0)
		close(b->signal_fd);
	b->signal_fd = -1;
	shim_dpdk_close(b->shim);
	b->shim = NULL;
	/* the EAL leaves its hugepage files behind, and the pages with them */
	if (primary)
		machine_clean(&b->m, b->prefix);
	config_eal_args_free(b->eal_argv);
	b->eal_argv = NULL;
	config_free(&b->cfg);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic serve: a worker, primary and worker in one process, or the master of a test bed with generations. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../api/instance.h"
#include "../reload/gen_dir.h"
#include "../runtime/layout.h"
#include "../runtime/primary.h"
#include "../runtime/worker.h"
#include "cmd_serve.h"
#include "cmds.h"
#include "serve.h"
#include "serve_tcp.h"

#define ALONE_NS 1000000ull

const struct cli_cmd serve_cmd = { "serve", "[-c FILE] [-p N [--generation G] | --alone] [OPTIONS]",
	"Starts workers beside a running primary: network stacks that answer pings, echo over UDP and TCP, DNS queries for any\n"
	"name (A 192.0.2.53, AAAA 2001:db8::53, TXT \"nonic\"), and HTTP: GET / is a page, GET /bytes/N are N bytes of which\n"
	"number i is i % 251.\n\n"
	"With [dpdk] graceful_reload=1 and without -p it is the master: it starts all workers and replaces those that die.\n"
	"Prints 'master ready'. HUP, or 'nonic ctl reload', reads the configuration again and puts a new generation of workers\n"
	"in the place of the old one without losing a UDP packet; TCP connections of the old one end. QUIT ends the workers\n"
	"gracefully, TERM at once.\n"
	"With -p, or without graceful_reload, it is one worker, in the foreground. Prints 'worker N ready'.\n\n"
	"  -c, --conf FILE    the configuration the primary was started with (default: config.ini)\n"
	"  -p, --proc-id N    which worker (default: the first)\n"
	"      --generation G the generation it belongs to, from its master (default: the one that serves, or a first one)\n"
	"      --alone        primary and worker in one process, as a plain F-Stack application is; no primary is needed,\n"
	"                     nor hugepages with no_huge=1 (its memory is its own then: 'nonic stop' ends it, but status,\n"
	"                     netstat and the others can not look into it)\n"
	"      --echo-port N  echo over UDP and TCP (default: 7; 0: none)\n"
	"      --http-port N  HTTP responder (default: 80; 0: none)\n"
	"      --dns-port N   DNS responder (default: 53; 0: none)\n"
	"      --stamp        each UDP echo ends with 8 bytes more: generation and process id of the worker that answered, 32 bits\n"
	"                     each in network order; a client can tell who answered it during a reload\n"
	"      --worker-shutdown-timeout MS\n"
	"                     a master's: how long an old generation may drain, instead of the configuration's (100 to 86400000)\n"
	"      --worker-ready-timeout MS\n"
	"                     a master's: how long the workers of a new generation may take to be ready, before the reload is\n"
	"                     aborted (default: 60000; 100 to 86400000)\n"
	"      --worker-park-timeout MS\n"
	"                     a master's: how long an old worker may take to let its queue go, before the reload is aborted\n"
	"                     (default: 100; 100 to 86400000); longer on a machine with more workers than CPUs\n" };

/* The applications of a worker. */
struct apps {
	struct serve udp;
	struct serve_tcp tcp;
	struct ff_instance *in;
};

static int
serve_loop(void *arg)
{
	struct apps *a = arg;

	serve_turn(&a->udp);
	serve_tcp_turn(&a->tcp);
	return 0;
}

static void
apps_close(struct apps *a)
{
	serve_tcp_close(&a->tcp);
	serve_close(&a->udp);
	ff_instance_free(a->in);
}

/* 0, or why one of them could not be opened. */
static int
apps_open(struct apps *a, struct bed *b, const struct serve_opts *o, struct worker *w)
{
	struct ff_instance_config ic = { .shim = b->shim, .worker = w, .cfg = &b->cfg };
	int rc = ff_instance_new(&ic, &a->in);

	if (rc < 0)
		return rc;
	ff_instance_set(a->in);
	rc = serve_open(&a->udp, worker_stack(w), o->echo_port, o->dns_port);
	if (rc == 0) {
		rc = serve_tcp_open(&a->tcp, b->shim, o->http_port, o->echo_port);
		if (rc < 0)
			serve_close(&a->udp);
	}
	if (rc < 0)
		ff_instance_free(a->in);
	return rc;
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
serve_run(struct bed *b, const struct serve_opts *o, struct primary *p)
{
	struct apps a;
	struct worker_config wc = { .shim = b->shim, .cfg = &b->cfg, .proc_id = o->proc_id, .generation = o->generation,
		.loop = serve_loop, .loop_arg = &a };
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
		return cli_fail(&serve_cmd, "worker %u not started (%s); the log above has the reason", o->proc_id, strerror(-rc));
	rc = apps_open(&a, b, o, w);
	if (rc < 0) {
		worker_destroy(w);
		return cli_fail(&serve_cmd, "its sockets could not be opened: %s", strerror(-rc));
	}
	if (o->stamp)
		serve_stamp(&a.udp, b->shim, worker_generation(w), o->proc_id);
	printf("worker %u ready: UDP and TCP echo on port %u, DNS on port %u, HTTP on port %u", o->proc_id, o->echo_port,
		o->dns_port, o->http_port);
	if (worker_generation(w) != 0)
		printf(", generation %u", worker_generation(w));
	printf("\n");
	fflush(stdout);
	serve_until(b, w, p);
	apps_close(&a);
	worker_destroy(w);
	return CLI_OK;
}

static int
serve_alone(struct bed *b, const struct serve_opts *o)
{
	struct primary *p;
	int rc = primary_setup(b->shim, &b->cfg, &p);

	if (rc < 0)
		return cli_fail(&serve_cmd, "not started (%s); the log above has the reason", strerror(-rc));
	rc = serve_run(b, o, p);
	primary_teardown(p);
	return rc;
}

/* A master's limit. */
static int
timeout(const char *name, const char *word, const struct serve_opts *o, uint32_t *out)
{
	unsigned long v = 0;

	if (word != NULL && !cli_number(word, 100, 86400000, &v))
		return cli_usage(&serve_cmd, "--%s '%s': expected 100 to 86400000 ms", name, word);
	if (word != NULL && (o->proc_given || o->alone))
		return cli_usage(&serve_cmd, "--%s is a master's: it goes without --proc-id and --alone", name);
	*out = v;
	return -1;
}

/* Words of the command line. -1: go on; else the exit code. */
static int
parse(struct serve_opts *o, int argc, char **argv)
{
	const char *proc = NULL, *gen = NULL, *echo = "7", *dns = "53", *http = "80", *shut = NULL, *ready = NULL,
		*park = NULL;
	const struct cli_opt opts[] = {
		{ "conf", 'c', NULL, &o->conf }, { "proc-id", 'p', NULL, &proc }, { "echo-port", 0, NULL, &echo },
		{ "dns-port", 0, NULL, &dns }, { "http-port", 0, NULL, &http }, { "alone", 0, &o->alone, NULL }, { "generation", 0, NULL, &gen },
		{ "stamp", 0, &o->stamp, NULL }, { "worker-shutdown-timeout", 0, NULL, &shut },
		{ "worker-ready-timeout", 0, NULL, &ready }, { "worker-park-timeout", 0, NULL, &park },
	};
	unsigned long v;
	unsigned int npos;
	int rc = cli_parse(&serve_cmd, argc, argv, opts, sizeof(opts) / sizeof(opts[0]), 0, &npos);

	if (rc >= 0)
		return rc;
	if (!cli_number(echo, 0, 65535, &v))
		return cli_usage(&serve_cmd, "--echo-port '%s': expected 0 to 65535", echo);
	o->echo_port = v;
	if (!cli_number(dns, 0, 65535, &v))
		return cli_usage(&serve_cmd, "--dns-port '%s': expected 0 to 65535", dns);
	o->dns_port = v;
	if (!cli_number(http, 0, 65535, &v))
		return cli_usage(&serve_cmd, "--http-port '%s': expected 0 to 65535", http);
	o->http_port = v;
	o->proc_given = proc != NULL;
	if (proc != NULL && !cli_number(proc, 0, CTL_MAX_PROCS - 2, &v))
		return cli_usage(&serve_cmd, "--proc-id '%s': expected 0 to %u", proc, CTL_MAX_PROCS - 2);
	o->proc_id = proc != NULL ? v : 0;
	if (o->alone && proc != NULL)
		return cli_usage(&serve_cmd, "--alone and --proc-id exclude each other");
	if (gen != NULL && (proc == NULL || !cli_number(gen, 1, GEN_LAST, &v)))
		return cli_usage(&serve_cmd, "--generation '%s': expected 1 to %u, beside --proc-id", gen, GEN_LAST);
	o->generation = gen != NULL ? v : 0;
	rc = timeout("worker-shutdown-timeout", shut, o, &o->shutdown_timeout_ms);
	if (rc < 0)
		rc = timeout("worker-ready-timeout", ready, o, &o->ready_timeout_ms);
	if (rc < 0)
		rc = timeout("worker-park-timeout", park, o, &o->park_timeout_ms);
	return rc;
}

int
cmd_serve(int argc, char **argv)
{
	struct serve_opts o = { .conf = "config.ini" };
	struct bed_as as = { .role = SHIM_ROLE_WORKER };
	bool graceful = false;
	struct bed b;
	int rc = parse(&o, argc, argv);

	if (rc >= 0)
		return rc;
	if (!o.proc_given && !o.alone) {
		rc = bed_config(&b, &serve_cmd, o.conf);
		if (rc >= 0)
			return rc;
		o.proc_id = layout_first_proc(&b.cfg);
		graceful = b.cfg.graceful_reload;
		bed_close(&b);
	}
	if (graceful)
		return cmd_serve_master(&o);
	if (o.shutdown_timeout_ms != 0 || o.ready_timeout_ms != 0 || o.park_timeout_ms != 0)
		return cli_fail(&serve_cmd, "--worker-shutdown-timeout, --worker-ready-timeout and --worker-park-timeout are a "
			"master's, and without [dpdk] graceful_reload=1 there is none");
	if (o.alone)
		as.role = SHIM_ROLE_PRIMARY;
	as.alone = o.alone;
	as.proc_id = o.proc_id;
	as.generation = o.generation;
	rc = bed_open(&b, &serve_cmd, o.conf, &as);
	if (rc >= 0)
		return rc;
	rc = o.alone ? serve_alone(&b, &o) : serve_run(&b, &o, NULL);
	bed_close(&b);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The master of nonic serve: spawning, judging, answering. */
#include "serve_master.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/layout.h"
#include "../runtime/text.h"

#define WORKER_BUFFERS 1024u /* a worker's pool cache, and what a young one has in its hands */

/* ---- workers ---------------------------------------------------------------------------------- */

static int
spawn(void *ctx, unsigned int lane, uint32_t gen, struct shim_proc *who)
{
	struct serve_master *sm = ctx;
	const char *argv[SERVE_MASTER_ARGS + 9];
	char proc[12], number[12];
	unsigned int n = 0;

	/* without it no worker can attach: trying would only fill the log */
	if (sm->primary_gone)
		return -ESRCH;
	snprintf(proc, sizeof(proc), "%u", layout_first_proc(sm->c.cfg) + lane);
	snprintf(number, sizeof(number), "%u", gen);
	argv[n++] = sm->c.program;
	argv[n++] = "serve";
	argv[n++] = "--conf";
	argv[n++] = sm->c.cfg->file;
	argv[n++] = "--proc-id";
	argv[n++] = proc;
	argv[n++] = "--generation";
	argv[n++] = number;
	for (unsigned int i = 0; sm->c.worker_args != NULL && sm->c.worker_args[i] != NULL && i < SERVE_MASTER_ARGS; i++)
		argv[n++] = sm->c.worker_args[i];
	argv[n] = NULL;
	return shim_proc_spawn(sm->c.shim, argv, who);
}

/* ---- may a reload begin? ----------------------------------------------------------------------- */

static int __attribute__((format(printf, 4, 5)))
refuse(int err, char *why, size_t n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, n, fmt, ap);
	va_end(ap);
	return err;
}

static uint32_t
drain_limit(const struct serve_master_config *c, const struct nonic_config *cfg)
{
	return c->shutdown_timeout_ms != 0 ? c->shutdown_timeout_ms : cfg->worker_shutdown_timeout_ms;
}

/* *drain_ms: what the file says now. */
static int
check_config(struct serve_master *sm, uint32_t *drain_ms, char *why, size_t n)
{
	struct config_messages msgs;
	struct nonic_config cfg;
	char key[128];
	int rc = config_load(sm->c.cfg->file, 0, &cfg, &msgs);

	if (rc < 0) {
		const char *first = strerror(-rc);

		for (unsigned int i = msgs.n; i-- > 0;)
			if (msgs.m[i].error)
				first = msgs.m[i].text;
		rc = refuse(-EINVAL, why, n, "the configuration is not good any more: %s", first);
	} else if (config_device_diff(sm->c.cfg, &cfg, key, sizeof(key))) {
		rc = refuse(-EINVAL, why, n, "%s has changed: it belongs to the primary, which keeps what it was started with; "
			"put it back, or restart the primary", key);
	}
	*drain_ms = drain_limit(&sm->c, &cfg);
	config_messages_free(&msgs);
	config_free(&cfg);
	return rc;
}

static int
check_primary(struct serve_master *sm, char *why, size_t n)
{
	char program[sizeof(sm->primary_program)];
	int pid = (int)sm->primary.pid;

	if (shim_proc_alive(sm->c.shim, &sm->primary) == 0)
		return refuse(-ESRCH, why, n, "the primary (pid %d) is dead: nothing can attach to its ports; 'nonic stop', then "
			"start anew", pid);
	if (!machine_program(sm->c.machine, pid, program, sizeof(program)) || strcmp(program, sm->primary_program) != 0)
		return refuse(-ESRCH, why, n, "pid %d, the primary's, is not the program '%s' any more", pid, sm->primary_program);
	if (machine_suspended(sm->c.machine, pid))
		return refuse(-EAGAIN, why, n, "the primary (pid %d) is suspended, and new workers could not attach: 'kill -CONT "
			"%d' lets it go on", pid, pid);
	return 0;
}

uint32_t
serve_master_buffers(const struct nonic_config *cfg)
{
	return layout_nb_workers(cfg) * WORKER_BUFFERS;
}

/* Zones, rings and tables of both generations are there since the primary's start: what can be short are buffers and memory. */
static int
check_memory(struct serve_master *sm, char *why, size_t n)
{
	uint32_t need = serve_master_buffers(sm->c.cfg), have;
	struct machine_hugepages h;
	struct shim_pool *pool;
	unsigned long free_mb = machine_free_mb(sm->c.machine), use_mb = 0;
	int rc = shim_pool_lookup(sm->c.shim, CTL_POOL, &pool);

	if (rc < 0)
		return refuse(rc, why, n, "the pool of buffers can not be found: %s", strerror(-rc));
	have = shim_pool_avail(sm->c.shim, pool);
	if (have < need)
		return refuse(-ENOBUFS, why, n, "%u of %u buffers are free, and a second generation needs %u", have,
			shim_pool_size(sm->c.shim, pool), need);
	machine_hugepages(sm->c.machine, &h);
	if (!sm->c.cfg->no_huge && (h.mount[0] == '\0' || !h.writable))
		return refuse(-ENOENT, why, n, "no hugetlbfs that this user can write to is mounted any more: new workers could "
			"not map the shared memory");
	/* as much again as the workers of now have for themselves */
	for (unsigned int i = 0; i < GEN_SIDES * layout_nb_workers(sm->c.cfg); i++) {
		struct shim_proc who;

		if (gen_seat_alive(sm->c.shim, sm->gen, i % GEN_SIDES, i / GEN_SIDES, &who) == 1)
			use_mb += machine_private_mb(sm->c.machine, (pid_t)who.pid);
	}
	if (free_mb != 0 && free_mb < use_mb)
		return refuse(-ENOMEM, why, n, "%lu MB of memory are free, and a second generation needs %lu MB, as much as the "
			"present workers", free_mb, use_mb);
	return 0;
}

int
serve_master_check(void *ctx, char *why, size_t n)
{
	struct serve_master *sm = ctx;
	uint32_t drain_ms;
	int rc = check_config(sm, &drain_ms, why, n);

	if (rc == 0)
		rc = check_primary(sm, why, n);
	if (rc == 0)
		rc = check_memory(sm, why, n);
	if (rc == 0)
		reload_master_drain_limit(sm->rm, drain_ms);
	return rc;
}

/* ---- life -------------------------------------------------------------------------------------- */

static int
attach(struct serve_master *sm)
{
	struct shim *s = sm->c.shim;
	uint8_t digest[CONFIG_DIGEST_LEN];
	int rc = ctl_dir_attach(s, &sm->dir);

	if (rc < 0)
		return rc;
	sm->primary = sm->dir->primary;
	config_device_digest(sm->c.cfg, digest);
	if (memcmp(digest, sm->dir->device_digest, sizeof(digest)) != 0) {
		shim_log(s, SHIM_LOG_ERR, "%s differs in a device-side key from what the primary (pid %u) was started with",
			sm->c.cfg->file, sm->primary.pid);
		return -EINVAL;
	}
	if (!machine_program(sm->c.machine, (pid_t)sm->primary.pid, sm->primary_program, sizeof(sm->primary_program)))
		sm->primary_program[0] = '\0';
	rc = ctl_attach(s, CTL_MASTER, &sm->block);
	if (rc == 0)
		rc = gen_dir_attach(s, sm->dir->boot_id, &sm->gen);
	if (rc < 0)
		shim_log(s, SHIM_LOG_ERR, "what the primary shares for generations can not be attached: %s", strerror(-rc));
	return rc;
}

int
serve_master_open(struct serve_master *sm, const struct serve_master_config *c)
{
	struct reload_master_config mc = { .shim = c->shim, .nb_lanes = layout_nb_workers(c->cfg), .ops = &sm->ops,
		.heartbeat_timeout_ms = c->cfg->reload_heartbeat_timeout_ms };
	int rc;

	memset(sm, 0, sizeof(*sm));
	sm->c = *c;
	sm->ops = (struct reload_master_ops){ .spawn = spawn, .check = serve_master_check, .ctx = sm };
	rc = attach(sm);
	if (rc < 0)
		return rc;
	rc = ctl_claim(c->shim, sm->block);
	if (rc < 0) {
		shim_log(c->shim, SHIM_LOG_ERR, "%s%u: %s", rc == -EBUSY ? "a master runs already, pid " : "control block of the master ",
			rc == -EBUSY ? sm->block->owner.pid : CTL_MASTER, strerror(-rc));
		return rc;
	}
	mc.dir = sm->gen;
	mc.limits.drain = drain_limit(c, c->cfg);
	mc.limits.ready = c->ready_timeout_ms;
	mc.limits.park = c->park_timeout_ms;
	shim_clock_sample(c->shim);
	rc = reload_master_create(&mc, &sm->rm);
	if (rc < 0) {
		sm->rm = NULL;
		ctl_release(c->shim, sm->block);
		return rc;
	}
	ctl_state_set(c->shim, sm->block, CTL_RUNNING);
	return 0;
}

void
serve_master_close(struct serve_master *sm)
{
	reload_master_destroy(sm->rm);
	sm->rm = NULL;
	ctl_release(sm->c.shim, sm->block);
}

int
serve_master_reload(struct serve_master *sm, char *why, size_t n)
{
	return reload_master_hup(sm->rm, why, n);
}

void
serve_master_stop(struct serve_master *sm, bool graceful)
{
	ctl_state_set(sm->c.shim, sm->block, CTL_STOPPING);
	reload_master_stop(sm->rm, graceful);
}

bool
serve_master_done(const struct serve_master *sm)
{
	return reload_master_stopped(sm->rm);
}

/* ---- answers ----------------------------------------------------------------------------------- */

/* How a reload went, as one object. */
static void
report_json(struct text *t, const struct reload_report *r)
{
	char line[512];

	reload_report_text(r, line, sizeof(line));
	text_add(t, "{\"outcome\":\"%s\",\"generation\":%u,\"complete\":%s,\"forced\":%s,\"total_ms\":%" PRIu64 ",\"handover_ms\":%"
		PRIu64 ",\"drain_ms\":%" PRIu64 ",\"gap_ns\":%" PRIu64 ",\"forwarded\":%" PRIu64 ",\"relayed\":%" PRIu64 ",\"dropped\":%"
		PRIu64 ",\"drain_peak\":%u,\"relay_peak\":%u,\"taken\":%" PRIu64, r->complete ? "complete" : "aborted", r->gen,
		r->complete ? "true" : "false", r->forced ? "true" : "false", r->total_ms, r->handover_ms, r->drain_ms, r->gap_ns,
		r->forwarded, r->relayed, r->dropped, r->drain_peak, r->relay_peak, r->taken);
	if (!r->complete) {
		text_add(t, ",\"reason\":");
		text_json(t, r->reason != NULL ? r->reason : "?");
	}
	text_add(t, ",\"text\":");
	text_json(t, line);
	text_add(t, "}");
}

static void
trouble_json(struct text *t, const struct reload_trouble *x)
{
	if (!x->there) {
		text_add(t, "null");
		return;
	}
	text_add(t, "{\"outcome\":\"%s\",\"ago_ms\":%" PRIu64 ",\"reason\":", x->aborted ? "aborted" : "rejected", x->ago_ms);
	text_json(t, x->why);
	text_add(t, "}");
}

static void
status_json(struct text *t, const struct reload_status *st, uint32_t pid)
{
	text_add(t, "{\"pid\":%u,\"state\":\"%s\",\"generation\":%u,\"window\":%u,\"workers\":%u,\"live\":[%u,%u],\"reloads\":%" PRIu64,
		pid, reload_state_name(st->state), st->active, st->wid, st->nb_lanes, st->live[0], st->live[1], st->reloads);
	text_add(t, ",\"aborts\":%" PRIu64 ",\"respawns\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"stopping\":%s,\"left\":{\"udp\":%u,\"tcp\":%u,\"half_open\":%u,"
		"\"unsent\":%" PRIu64 "},\"last\":", st->aborts, st->respawns, st->taken, st->stopping ? "true" : "false", st->left.udp,
		st->left.tcp, st->left.half_open, st->left.unsent);
	if (st->last.gen == 0)
		text_add(t, "null");
	else
		report_json(t, &st->last);
	text_add(t, ",\"trouble\":");
	trouble_json(t, &st->trouble);
	text_add(t, "}\n");
}

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void
trouble_text(struct text *t, const struct reload_trouble *x)
{
	uint64_t s = x->ago_ms / 1000;

	if (x->there)
		text_add(t, "trouble      %s %" PRIu64 " %s ago: %s\n", x->aborted ? "aborted" : "rejected", s < 120 ? s : s < 7200 ?
			s / 60 : s / 3600, s < 120 ? "s" : s < 7200 ? "min" : "h", x->why);
}

static void
status_text(struct text *t, const struct reload_status *st, uint32_t pid)
{
	unsigned int side = gen_side(st->active);
	char line[512];

	text_add(t, "master       pid %u, %s%s\n", pid, reload_state_name(st->state), st->stopping ? ", stopping" : "");
	text_add(t, "generation   %u, %u of %u worker%s live", st->active, st->live[side], st->nb_lanes, plural(st->nb_lanes));
	if (st->wid != 0)
		text_add(t, "; window %u: %u of %u worker%s of generation %u live", st->wid, st->live[gen_side(st->wid)], st->nb_lanes,
			plural(st->nb_lanes), st->wid);
	else if (st->live[side ^ 1] != 0)
		text_add(t, "; %u of an older generation", st->live[side ^ 1]);
	text_add(t, "\n");
	if (st->state == RELOAD_T3_DRAIN)
		text_add(t, "to drain     %u UDP flow%s, %u TCP connection%s, %u half-open, %" PRIu64 " byte%s unsent\n", st->left.udp,
			plural(st->left.udp), st->left.tcp, plural(st->left.tcp), st->left.half_open, st->left.unsent,
			plural(st->left.unsent));
	text_add(t, "so far       %" PRIu64 " reload%s, %" PRIu64 " aborted, %" PRIu64 " worker%s started again\n", st->reloads,
		plural(st->reloads), st->aborts, st->respawns, plural(st->respawns));
	if (st->taken != 0)
		text_add(t, "split brain  %" PRIu64 " lease%s taken from an owner that lives: two may have polled its queues for a turn; the "
			"log of the workers says where\n", st->taken, plural(st->taken));
	if (st->last.gen != 0) {
		reload_report_text(&st->last, line, sizeof(line));
		text_add(t, "last         %s\n", line);
	}
	trouble_text(t, &st->trouble);
}

/* How the reload that was the number-th ended; -EAGAIN: it has not yet. */
static int
outcome(struct text *t, const struct reload_status *st, const char *number, bool json)
{
	char line[512];

	if (st->reloads + st->aborts < strtoull(number, NULL, 10) || st->last.gen == 0)
		return -EAGAIN;
	reload_report_text(&st->last, line, sizeof(line));
	if (json)
		report_json(t, &st->last);
	else
		text_add(t, "%s", line);
	return st->last.complete ? 0 : -ECANCELED;
}

static int
answer(struct serve_master *sm, const struct ctl_request *r, struct text *t)
{
	struct reload_status st;
	char why[512] = "";
	int rc;

	reload_master_status(sm->rm, &st);
	switch (r->op) {
	case CTL_PING:
		return 0;
	case CTL_RELOAD:
		rc = serve_master_reload(sm, why, sizeof(why));
		if (rc < 0)
			text_add(t, "%s", why);
		else
			text_add(t, "%" PRIu64, st.reloads + st.aborts + 1);
		return rc;
	case CTL_QUIT:
	case CTL_STOP:
		serve_master_stop(sm, r->op == CTL_QUIT);
		return 0;
	case CTL_RELOAD_STATUS:
		if (r->nb_words >= 2 && strcmp(r->word[0], "outcome") == 0)
			return outcome(t, &st, r->word[1], r->nb_words > 2 && strcmp(r->word[2], "json") == 0);
		if (r->nb_words > 0 && strcmp(r->word[0], "json") == 0)
			status_json(t, &st, shim_self(sm->c.shim).pid);
		else
			status_text(t, &st, shim_self(sm->c.shim).pid);
		return 0;
	default:
		text_add(t, "a master does not know this request");
		return -ENOTSUP;
	}
}

static void __attribute__((format(printf, 2, 3)))
say(struct serve_master *sm, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (sm->c.say != NULL)
		sm->c.say(sm->c.ctx, line);
}

/* Once, when every lane is polled by a worker that a master started. */
static void
say_ready(struct serve_master *sm)
{
	unsigned int lanes = layout_nb_workers(sm->c.cfg);
	struct window w;
	struct lease l;
	uint32_t active;

	if (sm->said_ready != 0 || gen_window(sm->c.shim, sm->gen, &w) < 0)
		return;
	active = gen_rightful(w);
	if (active == 0)
		return;
	for (unsigned int i = 0; i < lanes; i++)
		if (gen_lease(sm->c.shim, sm->gen, i, &l) < 0 || l.state != LEASE_OWNED || l.gen != active ||
		    gen_seat_alive(sm->c.shim, sm->gen, gen_side(active), i, NULL) != 1)
			return;
	sm->said_ready = active;
	say(sm, "master ready: %u worker%s, generation %u", lanes, lanes == 1 ? "" : "s", active);
}

static void
look(struct serve_master *sm, uint64_t now)
{
	if (now < sm->look_ns)
		return;
	sm->look_ns = now + SERVE_MASTER_LOOK_NS;
	if (sm->primary_gone || shim_proc_alive(sm->c.shim, &sm->primary) != 0)
		return;
	sm->primary_gone = true;
	shim_log(sm->c.shim, SHIM_LOG_ERR, "the primary (pid %u) died: the workers go on with what they have, but no worker can "
		"be started and no reload begun until 'nonic stop' and a new start", sm->primary.pid);
}

uint64_t
serve_master_turn(struct serve_master *sm)
{
	uint64_t now = shim_clock_sample(sm->c.shim), nap;
	struct ctl_request r;

	look(sm, now);
	/* the primary's word, or another stop order */
	if (!sm->asked_to_stop && shim_load32(sm->c.shim, &sm->block->quit, SHIM_ACQUIRE) != 0) {
		sm->asked_to_stop = true;
		serve_master_stop(sm, false);
	}
	if (ctl_poll(sm->c.shim, sm->block, &r)) {
		struct text t;
		int rc;

		text_init(&t, sm->answer, sizeof(sm->answer));
		rc = answer(sm, &r, &t);
		ctl_answer(sm->c.shim, sm->block, &r, rc, sm->answer, t.len, 0);
	}
	nap = reload_master_turn(sm->rm);
	say_ready(sm);
	sm->block->turns++;
	/* relaxed: it only has to move */
	shim_store64(sm->c.shim, &sm->block->heartbeat, sm->block->turns, SHIM_RELAXED);
	return nap < SERVE_MASTER_NAP_NS ? nap : SERVE_MASTER_NAP_NS;
}

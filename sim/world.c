/* SPDX-License-Identifier: BSD-3-Clause */
/* The world: its life, its run loop, its invariants. */
#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

#define MAX_NS (3600ull * 1000000000u)
#define MAX_EVENTS 100000000ull
#define STEP_COST_NS 1000u
#define FINISH_NS (60ull * 1000000000u)
#define AUDIT_EVERY 4096u /* events */

/* "x.pcap" -> "x.arrived.pcap" */
static void
arrived_name(const char *file, char *out, size_t n)
{
	const char *dot = strrchr(file, '.');

	if (dot == NULL || strchr(dot, '/') != NULL)
		dot = file + strlen(file);
	snprintf(out, n, "%.*s.arrived%s", (int)(dot - file), file, dot);
}

static int
open_files(struct sim_world *w)
{
	char name[1024], why[256];
	int rc = 0;

	if (w->o.pcap != NULL) {
		arrived_name(w->o.pcap, name, sizeof(name));
		rc = sim_pcap_open(w->o.pcap, &w->pcap[0], why, sizeof(why));
		if (rc == 0)
			rc = sim_pcap_open(name, &w->pcap[1], why, sizeof(why));
		if (rc != 0)
			return rc;
	}
	if (w->o.trace != NULL) {
		w->trace = fopen(w->o.trace, "w");
		if (w->trace == NULL)
			return -errno;
		setvbuf(w->trace, NULL, _IOLBF, 0); /* complete up to the last event, even when the process dies */
	}
	return 0;
}

struct sim_world *
sim_world_create(const struct sim_options *o)
{
	struct sim_world *w = calloc(1, sizeof(*w));
	int rc;

	if (w == NULL)
		return NULL;
	w->o = *o;
	if (w->o.max_ns == 0)
		w->o.max_ns = MAX_NS;
	if (w->o.max_events == 0)
		w->o.max_events = MAX_EVENTS;
	if (w->o.step_cost_ns == 0)
		w->o.step_cost_ns = STEP_COST_NS;
	prng_init(&w->rng, o->seed, 1);
	prng_init(&w->sched_rng, o->seed, 2);
	w->hash = o->seed;
	w->next_pid = 1000;
	sim_queue_init(&w->queue);
	TAILQ_INIT(&w->hosts);
	TAILQ_INIT(&w->procs);
	TAILQ_INIT(&w->wires);
	TAILQ_INIT(&w->ends);
	TAILQ_INIT(&w->invariants);
	TAILQ_INIT(&w->programs);
	rc = open_files(w);
	if (rc != 0) {
		sim_world_destroy(w, NULL);
		errno = -rc;
		return NULL;
	}
	return w;
}

void
sim_world_destroy(struct sim_world *w, struct sim_result *r)
{
	struct sim_host *h;
	struct sim_invariant_entry *iv;
	struct sim_program_entry *pg;

	if (w == NULL)
		return;
	if (r != NULL) {
		*r = (struct sim_result){ .failed = w->failed, .seed = w->o.seed, .hash = w->hash,
			.events = w->events, .steps = w->steps, .frames = w->frames, .virtual_ns = w->now_ns, .points = w->points,
			.actions = w->actions };
		memcpy(r->why, w->why, sizeof(r->why));
	}
	sim_procs_release(w);
	sim_queue_release(&w->queue);
	sim_wires_release(w);
	while ((h = TAILQ_FIRST(&w->hosts)) != NULL) {
		TAILQ_REMOVE(&w->hosts, h, link);
		sim_machine_destroy(h->machine);
		free(h);
	}
	while ((iv = TAILQ_FIRST(&w->invariants)) != NULL) {
		TAILQ_REMOVE(&w->invariants, iv, link);
		free(iv);
	}
	while ((pg = TAILQ_FIRST(&w->programs)) != NULL) {
		TAILQ_REMOVE(&w->programs, pg, link);
		free(pg);
	}
	if (sim_pcap_close(w->pcap[0]) + sim_pcap_close(w->pcap[1]) != 0 && r != NULL && !r->failed) {
		r->failed = true;
		snprintf(r->why, sizeof(r->why), "the pcap file could not be written");
	}
	if (w->trace != NULL)
		fclose(w->trace);
	free(w);
}

uint64_t
sim_now(const struct sim_world *w)
{
	return w->now_ns;
}

struct prng *
sim_rng(struct sim_world *w)
{
	return &w->rng;
}

uint64_t
sim_seed(const struct sim_world *w)
{
	return w->o.seed;
}

bool
sim_failed(const struct sim_world *w)
{
	return w->failed;
}

const char *
sim_why(const struct sim_world *w)
{
	return w->why;
}

uint64_t
sim_hash(const struct sim_world *w)
{
	return w->hash;
}

void
sim_fail(struct sim_world *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (w->failed)
		return;
	w->failed = true;
	n = snprintf(w->why, sizeof(w->why), "at %" PRIu64 ".%09" PRIu64 " s: ", w->now_ns / 1000000000u,
		w->now_ns % 1000000000u);
	va_start(ap, fmt);
	vsnprintf(w->why + n, sizeof(w->why) - (size_t)n, fmt, ap);
	va_end(ap);
	sim_trace(w, SIM_EV_FAIL, 0, w->why, strlen(w->why));
	sim_trace_text(w, SIM_EV_FAIL, "world", "%s", w->why);
}

bool
sim_may(struct sim_world *w, const char *fmt, ...)
{
	unsigned int i = w->actions++;
	bool done = i >= w->o.nb_skip || (w->o.skip[i / 8] >> (i % 8) & 1) == 0;
	char text[160];
	va_list ap;

	if (w->o.action == NULL && w->trace == NULL)
		return done;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sim_trace_text(w, SIM_EV_CALL, "action", "%u %s%s", i, done ? "" : "left out: ", text);
	if (w->o.action != NULL)
		w->o.action(w->o.action_ctx, i, done, text);
	return done;
}

struct sim_host *
sim_host_add(struct sim_world *w, const char *name)
{
	struct sim_host *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return NULL;
	h->world = w;
	sim_env_init(h);
	h->machine = sim_machine_create(&h->env, ++w->next_host, name);
	if (h->machine == NULL) {
		free(h);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&w->hosts, h, link);
	return h;
}

struct sim_machine *
sim_host_machine(struct sim_host *h)
{
	return h->machine;
}

struct sim_port *
sim_host_port(struct sim_host *h, const struct sim_port_conf *conf)
{
	return sim_machine_port_add(h->machine, conf);
}

void
sim_expect_role_violations(struct sim_world *w, uint64_t n)
{
	w->role_violations_expected += n;
}

void
sim_invariant(struct sim_world *w, const char *name, sim_invariant_fn *fn, void *arg)
{
	struct sim_invariant_entry *e = calloc(1, sizeof(*e));

	if (e == NULL) {
		sim_fail(w, "out of memory");
		return;
	}
	e->name = name;
	e->fn = fn;
	e->arg = arg;
	TAILQ_INSERT_TAIL(&w->invariants, e, link);
}

void
sim_scheduler(struct sim_world *w, sim_preempt_fn *fn, void *ctx)
{
	w->preempt = fn;
	w->preempt_ctx = ctx;
}

void
sim_preempt(struct sim_world *w, uint32_t ppm, uint64_t ns)
{
	w->o.preempt_ppm = ppm;
	w->o.preempt_ns = ns;
}

void
sim_store_buffer(struct sim_world *w, bool on)
{
	w->o.store_buffer = on;
}

uint64_t
sim_points(const struct sim_world *w)
{
	return w->points;
}

void
sim_explored(struct sim_world *w, bool on)
{
	w->unexplored = !on;
}

bool
sim_is_explored(const struct sim_world *w)
{
	return !w->unexplored;
}

void
sim_on_poll(struct sim_world *w, sim_polls_fn *fn, void *ctx)
{
	w->polls = fn;
	w->polls_ctx = ctx;
}

void
sim_on_switch(struct sim_world *w, void (*fn)(void *ctx, struct sim_proc *p), void *ctx)
{
	w->on_switch = fn;
	w->on_switch_ctx = ctx;
}

/* ---- events ---- */

struct call {
	struct sim_world *world;
	void (*fn)(void *arg);
	void *arg;
};

static void
call_run(void *arg, uint64_t now_ns)
{
	struct call c = *(struct call *)arg;

	(void)now_ns;
	free(arg);
	sim_trace(c.world, SIM_EV_CALL, 0, NULL, 0);
	c.fn(c.arg);
}

static void
call_drop(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	free(arg);
}

void
sim_at(struct sim_world *w, uint64_t at_ns, void (*fn)(void *arg), void *arg)
{
	struct call *c = malloc(sizeof(*c));

	if (c != NULL) {
		*c = (struct call){ .world = w, .fn = fn, .arg = arg };
		if (sim_queue_add(&w->queue, at_ns > w->now_ns ? at_ns : w->now_ns, call_run, call_drop, c) != NULL)
			return;
		free(c);
	}
	sim_fail(w, "out of memory");
}

/* Conservation of buffers and roles of one machine; deep: buffer by buffer. */
static void
check_machine(struct sim_world *w, struct sim_host *h, bool deep)
{
	uint64_t violations = sim_machine_role_violations(h->machine);
	char why[256];
	int rc = deep ? sim_machine_audit(h->machine, why, sizeof(why)) : sim_machine_check(h->machine, why, sizeof(why));

	if (rc != 0)
		sim_fail(w, "buffer conservation: %s", why);
	w->role_violations += violations - h->violations;
	h->violations = violations;
	if (w->role_violations > w->role_violations_expected)
		sim_fail(w, "process roles: %" PRIu64 " device calls that the caller's role forbids%s%s", w->role_violations,
			h->machine->violation[0] != '\0' ? ": " : "", h->machine->violation);
}

static void
check_machines(struct sim_world *w)
{
	struct sim_host *h;

	TAILQ_FOREACH(h, &w->hosts, link)
		check_machine(w, h, true);
}

static void
check(struct sim_world *w)
{
	struct sim_invariant_entry *e;
	char why[256];

	if (w->events % AUDIT_EVERY == 0)
		check_machines(w);
	else if (w->touched != NULL)
		check_machine(w, w->touched, false);
	TAILQ_FOREACH(e, &w->invariants, link) {
		why[0] = '\0';
		if (!w->failed && e->fn(w, e->arg, why, sizeof(why)) != 0)
			sim_fail(w, "%s: %s", e->name, why);
	}
}

/* One event. False: there is none up to until_ns, or the run has failed. */
static bool
one(struct sim_world *w, uint64_t until_ns)
{
	struct sim_event ev;

	if (w->failed)
		return false;
	w->touched = NULL;
	if (!sim_proc_hand_run(w)) {
		if (sim_queue_next(&w->queue) > until_ns || !sim_queue_pop(&w->queue, &ev))
			return false;
		if (ev.at_ns < w->now_ns)
			sim_fail(w, "time went backwards: %" PRIu64 " after %" PRIu64, ev.at_ns, w->now_ns);
		w->now_ns = ev.at_ns;
		ev.fn(ev.arg, w->now_ns);
	}
	w->events++;
	check(w);
	if (w->now_ns > w->o.max_ns)
		sim_fail(w, "the run is not over after %" PRIu64 " s of virtual time", w->o.max_ns / 1000000000u);
	if (w->events > w->o.max_events)
		sim_fail(w, "the run is not over after %" PRIu64 " events", w->o.max_events);
	return !w->failed;
}

void
sim_run(struct sim_world *w, uint64_t until_ns)
{
	while (one(w, until_ns))
		;
	if (!w->failed && until_ns > w->now_ns)
		w->now_ns = until_ns;
}

bool
sim_run_until(struct sim_world *w, bool (*done)(void *arg), void *arg, uint64_t ns)
{
	uint64_t until = w->now_ns + ns;

	if (w->failed || done(arg))
		return !w->failed;
	while (one(w, until))
		if (done(arg))
			return true;
	if (!w->failed)
		w->now_ns = until;
	return false;
}

static bool
all_ended(void *arg)
{
	const struct sim_world *w = arg;
	const struct sim_proc *p;

	TAILQ_FOREACH(p, &w->procs, link)
		if (p->state != SIM_PROC_DEAD)
			return false;
	return w->in_flight == 0;
}

void
sim_finish(struct sim_world *w)
{
	struct sim_host *h;
	struct sim_proc *p;
	char why[256];

	w->stopping = true;
	TAILQ_FOREACH(p, &w->procs, link) {
		sim_proc_resume(p);
		if (p->state == SIM_PROC_WAITING && p->interruptible)
			sim_proc_wake(p, w->now_ns);
	}
	if (!sim_run_until(w, all_ended, w, FINISH_NS) && !w->failed)
		sim_fail(w, "not every process ended when it was asked to");
	if (w->failed)
		return;
	check_machines(w);
	/* what nobody took out of a port's queue is the port's */
	TAILQ_FOREACH(h, &w->hosts, link) {
		sim_machine_ports_stop(h->machine);
		if (sim_machine_home(h->machine, why, sizeof(why)) != 0)
			sim_fail(w, "buffer conservation at the end: %s", why);
	}
}

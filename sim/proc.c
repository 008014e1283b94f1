/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the world: life, waiting, clocks, preemption; and what their machines ask of the world. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

static void
run(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;

	w->steps++;
	w->touched = p->host;
	p->state = SIM_PROC_RUNNING;
	p->interruptible = p->yielded = false;
	sim_trace(w, SIM_EV_STEP, p->id, NULL, 0);
	sim_trace_text(w, SIM_EV_STEP, p->conf.name, "pid %u", p->door->shim.self.pid);
	w->current = p;
	if (w->on_switch != NULL)
		w->on_switch(w->on_switch_ctx, p);
	fiber_resume(p->fiber);
	w->current = NULL;
	if (p->killed || fiber_done(p->fiber))
		sim_proc_kill(p);
}

static void
on_wake(void *arg, uint64_t now_ns)
{
	struct sim_proc *p = arg;

	(void)now_ns;
	p->wake = NULL;
	if (p->paused)
		p->wake_lost = true;
	else if (p->state == SIM_PROC_WAITING)
		run(p);
}

/* ---- who runs before any event ---- */

static void
hand_forget(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;
	unsigned int n = 0;

	if (!p->handed)
		return;
	p->handed = false;
	for (unsigned int i = 0; i < w->nb_hand; i++)
		if (w->hand[i] != p)
			w->hand[n++] = w->hand[i];
	w->nb_hand = n;
}

static void
hand_add(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;

	hand_forget(p);
	if (p->wake != NULL)
		sim_queue_cancel(&w->queue, p->wake);
	p->wake = NULL;
	p->handed = true;
	w->hand[w->nb_hand++] = p;
}

bool
sim_proc_hand_run(struct sim_world *w)
{
	struct sim_proc *p;

	if (w->nb_hand == 0)
		return false;
	p = w->hand[w->nb_hand - 1];
	hand_forget(p);
	if (p->paused)
		p->wake_lost = true;
	else
		run(p);
	return true;
}

void
sim_proc_wake(struct sim_proc *p, uint64_t at_ns)
{
	struct sim_world *w = p->host->world;

	if (p->wake != NULL) {
		if (p->wake->at_ns <= at_ns)
			return;
		sim_queue_cancel(&w->queue, p->wake);
	}
	p->wake = sim_queue_add(&w->queue, at_ns, on_wake, NULL, p);
	if (p->wake == NULL)
		sim_fail(w, "out of memory");
}

/* Ends the step of the running process; it goes on at at_ns, or earlier when a frame may wake it. */
static void
park(struct sim_proc *p, uint64_t at_ns, bool interruptible)
{
	sim_door_drain(p->door, SIM_PENDING_MAX);
	p->state = SIM_PROC_WAITING;
	p->interruptible = interruptible;
	sim_proc_wake(p, at_ns);
	fiber_yield(p->fiber);
}

static void
main_of(void *arg)
{
	struct sim_proc *p = arg;

	p->conf.main(p, p->conf.arg);
}

static int
begin(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;
	struct sim_door_conf dc = {
		.role = p->conf.role,
		.id = ++w->next_door,
		.pid = ++w->next_pid,
		.proc_id = p->conf.proc_id,
		.start_time = w->now_ns + 1,
		.skew_ns = p->conf.skew_ns,
		.drift_ppm = p->conf.drift_ppm,
		.store_buffer = w->o.store_buffer,
		.owner = p,
	};
	struct prng r;

	prng_init(&r, w->o.seed, (uint64_t)dc.id << 8 | 3);
	dc.seed = prng_next(&r);
	p->door = sim_door_open(p->host->machine, &dc);
	if (p->door == NULL)
		return -ENOMEM;
	p->fiber = fiber_create(p->conf.stack, main_of, p);
	if (p->fiber == NULL) {
		sim_door_close(p->door, true);
		p->door = NULL;
		return -ENOMEM;
	}
	p->state = SIM_PROC_WAITING;
	p->paused = p->interruptible = p->killed = p->wake_lost = p->yielded = p->dying = false;
	p->kill_at_point = 0;
	sim_trace(w, SIM_EV_START, p->id, p->conf.name, strlen(p->conf.name));
	sim_trace_text(w, SIM_EV_START, p->conf.name, "on %s, pid %u", p->host->machine->name, dc.pid);
	sim_proc_wake(p, w->now_ns);
	return 0;
}

struct sim_proc *
sim_proc_start(struct sim_host *h, const struct sim_proc_conf *c)
{
	struct sim_proc *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->host = h;
	p->conf = *c;
	p->id = ++h->world->next_proc;
	if (begin(p) != 0) {
		free(p);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&h->world->procs, p, link);
	return p;
}

void
sim_proc_pause(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;

	if (p->state == SIM_PROC_DEAD || p->paused)
		return;
	p->paused = true;
	sim_trace(w, SIM_EV_PAUSE, p->id, NULL, 0);
	sim_trace_text(w, SIM_EV_PAUSE, p->conf.name, "pid %u", p->door->shim.self.pid);
}

void
sim_proc_resume(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;

	if (p->state == SIM_PROC_DEAD || !p->paused || p->dying)
		return;
	p->paused = false;
	sim_trace(w, SIM_EV_RESUME, p->id, NULL, 0);
	sim_trace_text(w, SIM_EV_RESUME, p->conf.name, "pid %u", p->door->shim.self.pid);
	if (p->wake_lost)
		sim_proc_wake(p, w->now_ns);
	p->wake_lost = false;
}

/* Also the end of a process whose main returned, with nothing lost. */
void
sim_proc_kill(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;
	bool ended;

	if (p->state == SIM_PROC_DEAD)
		return;
	if (w->current == p) {
		p->killed = true;
		fiber_yield(p->fiber); /* on_wake calls again, from outside */
		return;
	}
	ended = fiber_done(p->fiber);
	sim_trace(w, ended ? SIM_EV_EXIT : SIM_EV_KILL, p->id, NULL, 0);
	sim_trace_text(w, ended ? SIM_EV_EXIT : SIM_EV_KILL, p->conf.name, "pid %u", p->door->shim.self.pid);
	p->state = SIM_PROC_DEAD;
	if (p->wake != NULL)
		sim_queue_cancel(&w->queue, p->wake);
	p->wake = NULL;
	hand_forget(p);
	w->ended_effects += p->door->effects + 1;
	sim_door_close(p->door, !ended);
	p->door = NULL;
	fiber_destroy(p->fiber);
	p->fiber = NULL;
}

void
sim_proc_kill_at_point(struct sim_proc *p, uint64_t n)
{
	p->kill_at_point = p->points + n;
}

int
sim_proc_restart(struct sim_proc *p)
{
	return p->state != SIM_PROC_DEAD ? -EBUSY : begin(p);
}

bool
sim_proc_alive(const struct sim_proc *p)
{
	return p->state != SIM_PROC_DEAD;
}

uint64_t
sim_proc_points(const struct sim_proc *p)
{
	return p->points;
}

struct shim *
sim_proc_shim(struct sim_proc *p)
{
	return &p->door->shim;
}

struct sim_door *
sim_proc_door(struct sim_proc *p)
{
	return p->door;
}

struct sim_world *
sim_proc_world(struct sim_proc *p)
{
	return p->host->world;
}

struct sim_host *
sim_proc_host(struct sim_proc *p)
{
	return p->host;
}

bool
sim_stopping(const struct sim_proc *p)
{
	return p->host->world->stopping;
}

static uint64_t
later(const struct sim_proc *p, uint64_t ns)
{
	struct sim_world *w = p->host->world;
	uint64_t d = sim_door_to_world_ns(p->door, ns);

	return w->now_ns + (d > w->o.step_cost_ns ? d : w->o.step_cost_ns);
}

uint32_t
sim_proc_id(const struct sim_proc *p)
{
	return p->id;
}

uint64_t
sim_proc_turns(const struct sim_proc *p)
{
	return p->turns;
}

bool
sim_proc_ready(const struct sim_proc *p)
{
	return p->state == SIM_PROC_WAITING && !p->paused &&
		(p->handed || p->yielded || (p->wake != NULL && p->wake->at_ns <= p->host->world->now_ns));
}

struct sim_proc *
sim_proc_first(const struct sim_world *w)
{
	return TAILQ_FIRST(&w->procs);
}

struct sim_proc *
sim_proc_next(const struct sim_proc *p)
{
	return TAILQ_NEXT(p, link);
}

uint64_t
sim_effects(const struct sim_world *w)
{
	uint64_t n = w->effects + w->ended_effects;
	struct sim_proc *p;

	TAILQ_FOREACH(p, &w->procs, link)
		if (p->door != NULL)
			n += p->door->effects;
	return n;
}

void
sim_wait(struct sim_proc *p, uint64_t ns)
{
	p->turns++;
	park(p, later(p, ns), true);
}

void
sim_rest(struct sim_proc *p, uint64_t ns)
{
	p->turns++;
	p->yielded = true;
	park(p, later(p, ns), false);
}

void
sim_yield(struct sim_proc *p)
{
	sim_rest(p, 0);
}

void
sim_effect(struct sim_proc *p)
{
	p->host->world->effects++;
}

void
sim_program(struct sim_world *w, const char *name, const struct sim_proc_conf *conf)
{
	struct sim_program_entry *e = calloc(1, sizeof(*e));

	if (e == NULL) {
		sim_fail(w, "out of memory");
		return;
	}
	e->name = name;
	e->conf = *conf;
	TAILQ_INSERT_TAIL(&w->programs, e, link);
}

void
sim_procs_release(struct sim_world *w)
{
	struct sim_proc *p;

	w->current = NULL;
	while ((p = TAILQ_FIRST(&w->procs)) != NULL) {
		sim_proc_kill(p);
		TAILQ_REMOVE(&w->procs, p, link);
		free(p);
	}
}

/* ---- what a machine asks ---- */

static struct sim_world *
world_of(void *ctx)
{
	return ((struct sim_host *)ctx)->world;
}

static uint64_t
env_now(void *ctx)
{
	world_of(ctx)->effects++;
	return world_of(ctx)->now_ns;
}

static void
env_sleep(void *ctx, struct sim_door *d, uint64_t ns)
{
	struct sim_proc *p = d->owner;

	if (world_of(ctx)->current != p || p == NULL)
		return;
	p->turns++;
	park(p, later(p, ns), false);
}

/* Another process makes its step at this very time, then this one goes on. */
static void
give_way(struct sim_proc *p, const struct sim_decision *d)
{
	struct sim_world *w = p->host->world;
	unsigned int pending = sim_door_pending(p->door);
	struct sim_proc *q;

	TAILQ_FOREACH(q, &w->procs, link)
		if (q->id == d->proc)
			break;
	if (q == NULL || q == p || !sim_proc_ready(q) || w->nb_hand + 2 > SIM_HANDS)
		return;
	sim_door_drain(p->door, pending > d->keep ? pending - d->keep : 0);
	sim_trace(w, SIM_EV_PREEMPT, p->id, &d->proc, sizeof(d->proc));
	sim_trace_text(w, SIM_EV_PREEMPT, p->conf.name, "at point %" PRIu64 " for %s %u, %u stores pending", w->points,
		q->conf.name, q->id, sim_door_pending(p->door));
	p->state = SIM_PROC_WAITING;
	hand_add(p);
	hand_add(q);
	fiber_yield(p->fiber);
}

/* The scheduler's word, until it lets the process go on. */
static void
obey(struct sim_proc *p, const struct sim_access *a)
{
	struct sim_world *w = p->host->world;

	for (;;) {
		struct sim_decision d = { .what = SIM_GO };

		w->o.decide(w->o.decide_ctx, p, a, &d);
		if (d.what == SIM_SWITCH)
			give_way(p, &d);
		else if (d.what == SIM_KILL)
			sim_proc_kill(p);
		else if (d.what == SIM_STALL) {
			sim_trace(w, SIM_EV_PREEMPT, p->id, &d.ns, sizeof(d.ns));
			sim_trace_text(w, SIM_EV_PREEMPT, p->conf.name, "at point %" PRIu64 " for %" PRIu64 " ns",
				w->points, d.ns);
			park(p, w->now_ns + d.ns, false);
		} else
			return;
		w->points++; /* asked again under a number of its own */
	}
}

/* Store buffers drain by themselves, sooner or later; and for a moment other processors run ahead of this one. */
static void
drift_apart(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;
	uint64_t dice;

	if (!w->o.store_buffer)
		return;
	dice = prng_next(&w->sched_rng);
	if ((dice & 3) == 0)
		sim_door_drain(p->door, 1);
}

/* With store buffers, half of the preemptions let one other process run with this one's stores still pending. */
static bool
random_switch(struct sim_proc *p)
{
	struct sim_world *w = p->host->world;
	struct sim_decision d = { .what = SIM_SWITCH, .keep = SIM_PENDING_MAX };
	struct sim_proc *q;
	uint64_t n = 0;

	if (prng_below(&w->sched_rng, 2) == 0)
		return false;
	TAILQ_FOREACH(q, &w->procs, link)
		if (q != p && q->host == p->host && sim_proc_ready(q) && prng_below(&w->sched_rng, ++n) == 0)
			d.proc = q->id;
	if (n == 0)
		return false;
	give_way(p, &d);
	return true;
}

static void
env_point(void *ctx, struct sim_door *d, const struct sim_access *a)
{
	struct sim_world *w = world_of(ctx);
	struct sim_proc *p = d->owner;
	uint64_t ns = 0;

	if (p == NULL || w->current != p)
		return; /* the scenario itself uses the door */
	p->points++;
	w->points++;
	if (p->points == p->kill_at_point) {
		sim_proc_kill(p);
		return;
	}
	if (w->o.decide != NULL) {
		obey(p, a);
		return;
	}
	drift_apart(p);
	if (w->preempt != NULL) {
		if (!w->preempt(w->preempt_ctx, p, a))
			return;
	} else {
		if (!prng_chance(&w->sched_rng, w->o.preempt_ppm))
			return;
		if (w->o.store_buffer && random_switch(p))
			return;
		ns = prng_below(&w->sched_rng, w->o.preempt_ns + 1);
	}
	sim_trace(w, SIM_EV_PREEMPT, p->id, &a->kind, sizeof(a->kind));
	sim_trace_text(w, SIM_EV_PREEMPT, p->conf.name, "at access %" PRIu64 " for %" PRIu64 " ns", p->points, ns);
	park(p, w->now_ns + ns, false);
}

static void
env_ready(void *ctx, struct sim_port *port, uint16_t queue)
{
	struct sim_world *w = world_of(ctx);
	struct sim_door *d;

	LIST_FOREACH(d, &port->machine->doors, link) {
		struct sim_proc *p = d->owner;

		if (d->id == port->rxq[queue].poller && p != NULL && p->state == SIM_PROC_WAITING &&
			p->interruptible)
			sim_proc_wake(p, w->now_ns);
	}
}

static void
env_log(void *ctx, struct sim_door *d, int level, const char *line)
{
	struct sim_proc *p = d->owner;

	sim_trace(world_of(ctx), SIM_EV_LOG, p->id, line, strlen(line));
	sim_trace_text(world_of(ctx), SIM_EV_LOG, p->conf.name, "%d %s", level, line);
}

static void
env_fail(void *ctx, const struct sim_door *d, const char *text)
{
	const struct sim_proc *p = d != NULL ? d->owner : NULL;

	sim_fail(world_of(ctx), "%s: %s", p != NULL ? p->conf.name : ((struct sim_host *)ctx)->machine->name, text);
}

static bool
env_polls(void *ctx, struct sim_door *d, struct sim_port *port, uint16_t queue)
{
	struct sim_world *w = world_of(ctx);

	return w->polls == NULL || d->owner == NULL || w->polls(w->polls_ctx, d->owner, port, queue);
}

static int
env_alive(void *ctx, const struct shim_proc *who)
{
	struct sim_proc *p;

	world_of(ctx)->effects++;
	TAILQ_FOREACH(p, &world_of(ctx)->procs, link)
		if (p->door != NULL && p->door->shim.self.pid == who->pid)
			return p->door->shim.self.start_time == who->start_time;
	return 0;
}

static int
env_spawn(void *ctx, struct sim_door *d, const char *const argv[], struct shim_proc *out)
{
	struct sim_world *w = world_of(ctx);
	struct sim_program_entry *e;

	(void)d;
	w->effects++;
	TAILQ_FOREACH(e, &w->programs, link)
		if (argv[0] != NULL && strcmp(e->name, argv[0]) == 0) {
			struct sim_proc *p = sim_proc_start(ctx, &e->conf);

			if (p == NULL)
				return -ENOMEM;
			*out = p->door->shim.self;
			return 0;
		}
	return -ENOENT;
}

static void
carry_out(void *arg)
{
	struct sim_proc *p = arg;

	if (p->state != SIM_PROC_DEAD && p->door->shim.self.pid == p->doomed_pid)
		sim_proc_kill(p);
}

/*
 * A killed process is gone at once; or it is taken apart for a while, and does nothing any more; or it gets to a few more
 * instructions before the signal gets to it. Explorers have the first only.
 */
static void
kill_soon(struct sim_world *w, struct sim_proc *p)
{
	uint64_t how = w->o.decide != NULL || w->current == p ? 0 : prng_below(&w->sched_rng, 3);

	if (how == 0) {
		sim_proc_kill(p);
		return;
	}
	p->doomed_pid = p->door->shim.self.pid;
	if (how == 1) {
		sim_proc_pause(p);
		p->dying = true;
	}
	sim_at(w, w->now_ns + prng_below(&w->sched_rng, how == 1 ? 5000000 : 20000), carry_out, p);
}

static int
env_kill(void *ctx, struct sim_door *d, const struct shim_proc *who)
{
	struct sim_proc *p;

	(void)d;
	world_of(ctx)->effects++;
	TAILQ_FOREACH(p, &world_of(ctx)->procs, link)
		if (p->door != NULL && p->door->shim.self.pid == who->pid &&
			p->door->shim.self.start_time == who->start_time) {
			if (!p->dying)
				kill_soon(world_of(ctx), p);
			return 0;
		}
	return -ESRCH;
}

void
sim_env_init(struct sim_host *h)
{
	h->env = (struct sim_env){
		.ctx = h,
		.now_ns = env_now,
		.sleep = env_sleep,
		.point = env_point,
		.frame = sim_port_frame,
		.polls = env_polls,
		.ready = env_ready,
		.log = env_log,
		.fail = env_fail,
		.alive = env_alive,
		.spawn = env_spawn,
		.kill = env_kill,
	};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads in which processes die, stand still, do not come up, and in which shared memory is written over. */
#include "reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../core/reload/gen_dir.h"
#include "../../core/runtime/layout.h"
#include "../../shim/host/sim/machine.h"
#include "../../shim/shim.h"

/* ---- killed and stopped ---- */

enum what { KILL, KILL_AT, STOP, WHATS };
enum whom { NEW, OLD, ANY, MASTER, PRIMARY, WHOMS };

static const char *const what_names[WHATS] = { "killed", "killed in the middle of a step", "stopped for a while" };
static const char *const whom_names[WHOMS] = { "a new worker", "an old worker", "a worker", "the master", "the primary" };

static void
again(void *arg)
{
	node_master_again(&((struct reload_bed *)arg)->node);
}

static void
go_on(void *arg)
{
	sim_proc_resume(((struct reload_deed *)arg)->proc);
}

/* Whoever it is to happen to, at that moment; NULL: nobody. */
static struct sim_proc *
victim(const struct reload_deed *d)
{
	struct node *n = &d->b->node;
	struct sim_proc *p = NULL;
	struct window win = { 0 };
	uint64_t k = 0, pick = d->pick;

	if (d->whom == MASTER)
		return n->master_proc;
	if (d->whom == PRIMARY)
		return n->primary_proc;
	if (n->dir != NULL)
		window_of(n->dir->window, &win);
	for (unsigned int i = 0; i < n->nb_spawned; i++) {
		const struct node_worker *nw = &n->spawned[i];

		if (!sim_proc_alive(nw->proc) || (d->whom == NEW && nw->generation != win.wid) ||
			(d->whom == OLD && nw->generation == win.wid))
			continue;
		if (splitmix64(&pick) % ++k == 0)
			p = nw->proc;
	}
	return p;
}

static void
happen(void *arg)
{
	struct reload_deed *d = arg;
	struct sim_world *w = d->b->w;
	struct sim_proc *p = victim(d);

	if (p == NULL || !sim_proc_alive(p))
		return;
	d->proc = p;
	if (d->what == STOP) {
		sim_proc_pause(p);
		sim_at(w, sim_now(w) + d->ns, go_on, d);
		return;
	}
	if (d->whom == PRIMARY)
		d->b->primary_died = true;
	if (d->what == KILL_AT)
		sim_proc_kill_at_point(p, d->points);
	else
		sim_proc_kill(p);
	if (d->whom == MASTER)
		sim_at(w, sim_now(w) + d->ns, again, d->b);
}

static void
plan(struct reload_bed *b, unsigned int n, uint64_t span_ns)
{
	static const uint8_t weights[] = { NEW, NEW, NEW, OLD, OLD, OLD, ANY, ANY, MASTER, MASTER };
	struct prng *r = sim_rng(b->w);
	bool primary = prng_chance(r, 80000);

	for (unsigned int i = 0; i < n; i++) {
		struct reload_deed *d = &b->deed[i];
		uint64_t at = prng_below(r, span_ns);

		*d = (struct reload_deed){ .b = b, .what = (unsigned int)prng_below(r, WHATS), .whom = weights[prng_below(r, sizeof(weights))],
			.pick = prng_next(r), .points = prng_range(r, 1, 600), .ns = (5 * SEC) >> prng_below(r, 12) };
		if (primary && i == 0)
			d->whom = PRIMARY;
		else if (prng_chance(r, 50000)) {
			d->whom = PRIMARY;
			d->what = STOP;
		}
		if (sim_may(b->w, "%s is %s after %llu ms", whom_names[d->whom], what_names[d->what], (unsigned long long)(at / MS)))
			sim_at(b->w, sim_now(b->w) + at, happen, d);
	}
}

void
reload_stop_old(struct reload_bed *b, unsigned int n, uint64_t span_ns, uint64_t longest_ns)
{
	struct prng *r = sim_rng(b->w);

	for (unsigned int i = 0; i < n; i++) {
		struct reload_deed *d = &b->deed[i];
		uint64_t at = prng_below(r, span_ns);

		*d = (struct reload_deed){ .b = b, .what = STOP, .whom = OLD, .pick = prng_next(r), .ns = prng_below(r, longest_ns) };
		if (sim_may(b->w, "an old worker stands still for %llu ms after %llu ms", (unsigned long long)(d->ns / MS),
			(unsigned long long)(at / MS)))
			sim_at(b->w, sim_now(b->w) + at, happen, d);
	}
}

/* Nobody is to die any more, nobody stands still. */
static void
pardon(struct reload_bed *b)
{
	struct node *n = &b->node;

	for (unsigned int i = 0; i < n->nb_spawned; i++) {
		if (!sim_proc_alive(n->spawned[i].proc))
			continue;
		sim_proc_kill_at_point(n->spawned[i].proc, 0);
		sim_proc_resume(n->spawned[i].proc);
	}
	if (sim_proc_alive(n->master_proc)) {
		sim_proc_kill_at_point(n->master_proc, 0);
		sim_proc_resume(n->master_proc);
	}
	if (sim_proc_alive(n->primary_proc)) {
		sim_proc_kill_at_point(n->primary_proc, 0);
		sim_proc_resume(n->primary_proc);
		b->primary_died = false;
	}
}

static void
reload_kill(struct sim_world *w, void *state)
{
	struct reload_bed *b = state;
	struct prng *r = sim_rng(w);
	uint64_t span = prng_range(r, 3, 8) * SEC;

	reload_draw(w, b);
	b->flows.timeout_ns = 250 * MS;
	if (!reload_build(b, (unsigned int)prng_range(r, 2, 20), span) || !reload_up(b))
		return;
	reload_hups(b, (unsigned int)prng_range(r, 1, 3), span / 2);
	plan(b, (unsigned int)prng_range(r, 1, 12), span);
	sim_run(w, sim_now(w) + span + SEC);
	sim_explored(w, false);
	pardon(b);
	b->node.hups = 0;
	sim_run(w, sim_now(w) + 3 * SEC); /* and who stood still at an explorer's word goes on */
	if (!b->primary_died) {
		reload_heal(b);
		return;
	}
	/* without its primary the data path goes on as it is; nothing can be mended, and nothing crashes */
	sim_run(w, sim_now(w) + 5 * SEC);
	sim_finish(w);
}

const struct sim_scenario scenario_reload_kill = {
	.name = "reload-kill",
	.description = "old and new workers, master and primary killed and stopped at any point of a reload; then all heals, no buffer is lost",
	.soak = 4,
	.stall_ns = { 2 * MS, 1500 * MS },
	.state_size = sizeof(struct reload_bed),
	.run = reload_kill,
	.release = reload_release,
};

/* ---- aborted ---- */

static int
faulty_spawn(struct reload_bed *b, struct node_worker *nw)
{
	if (b->faulty == 0 || nw->generation != b->node.wid || nw->generation == b->node.active)
		return 0;
	b->faulty--;
	if (b->fault == NODE_WELL)
		return -EAGAIN;
	nw->fault = b->fault;
	return 0;
}

/* A worker that has said READY and dies before the flip, or one that hangs then. */
static void
after_ready(void *arg)
{
	struct reload_bed *b = arg;
	struct node *n = &b->node;
	struct window win;

	if (n->dir != NULL && window_of(n->dir->window, &win) == 0 && win.state == WINDOW_OPEN)
		for (unsigned int i = 0; i < n->nb_spawned; i++) {
			const struct node_worker *nw = &n->spawned[i];

			if (nw->fault == NODE_DIES_READY && sim_proc_alive(nw->proc) && nw->generation == win.wid &&
				n->dir->seat[gen_side(win.wid)][nw->lane].ready >> 32 == win.wid)
				sim_proc_kill(nw->proc);
		}
	if (b->faulty > 0 || b->node.rollbacks == 0)
		sim_at(b->w, sim_now(b->w) + 200000, after_ready, b);
}

/* REL-12: the old generation goes on as if nothing had been. */
static void
reload_abort(struct sim_world *w, void *state)
{
	static const enum node_fault faults[] = { NODE_WELL /* can not be started */, NODE_EXITS, NODE_HANGS, NODE_NEVER_READY,
		NODE_DIES_READY };
	struct reload_bed *b = state;
	struct prng *r = sim_rng(w);
	uint64_t span = prng_range(r, 2, 4) * SEC;

	reload_draw(w, b);
	b->clean = true;
	b->fault = faults[prng_below(r, 5)];
	b->spawned = faulty_spawn;
	if (!reload_build(b, (unsigned int)prng_range(r, 4, 24), span) || !reload_up(b))
		return;
	b->faulty = (unsigned int)prng_range(r, 1, b->lanes);
	if (!sim_may(w, "%u new workers: fault %d", b->faulty, b->fault))
		b->faulty = 0;
	if (b->fault == NODE_DIES_READY)
		after_ready(b);
	reload_hups(b, 1, span);
	sim_run(w, sim_now(w) + span + 12 * SEC);
	b->faulty = 0;
	reload_heal(b);
	sim_check(w, b->flows.resent == 0 && b->flows.repeated == 0, "an aborted reload lost something: %llu sent again",
		(unsigned long long)b->flows.resent);
}

const struct sim_scenario scenario_reload_abort = {
	.name = "reload-abort",
	.description = "new workers that can not be started, exit, hang, never say READY or die after it: the old ones serve on, nothing is lost",
	.soak = 2,
	.state_size = sizeof(struct reload_bed),
	.run = reload_abort,
	.release = reload_release,
};

/* ---- written over ---- */

struct hostile {
	struct reload_bed bed;     /* first */
	struct prng rng;
	unsigned int left;
};

static void
write_over(struct hostile *h, uint8_t *at, size_t size)
{
	unsigned int n = 1u << prng_below(&h->rng, 8);

	for (size_t i = prng_below(&h->rng, size); n > 0 && i < size; n--, i++)
		at[i] = (uint8_t)prng_next(&h->rng);
}

/* A drain or relay ring: as often in its header as in its slots. */
static void
hostile_ring(struct hostile *h, struct shim *s)
{
	const uint64_t head = sizeof(struct rte_ring);
	unsigned int lane = (unsigned int)prng_below(&h->rng, h->bed.lanes), side = (unsigned int)prng_below(&h->rng, 2);
	char name[SHIM_NAME_MAX];
	struct rte_ring *r;

	if (prng_chance(&h->rng, 500000))
		layout_drain_name(0, lane, side, name);
	else
		layout_relay_name(0, lane, side, name);
	if (shim_ring_lookup(s, name, &r) != 0)
		return;
	sim_door(s)->machine->rings_damaged = true;
	if (prng_chance(&h->rng, 500000))
		write_over(h, (uint8_t *)r, head);
	else
		write_over(h, (uint8_t *)r + head, h->bed.node.cfg.drain_ring_size * sizeof(void *));
}

/* Some bytes of the directory, of publish tables and of rings become something else. */
static void
hostile_main(struct sim_proc *p, void *arg)
{
	struct hostile *h = arg;
	struct shim *s = sim_proc_shim(p);

	while (!sim_stopping(p) && h->left > 0) {
		char name[SHIM_NAME_MAX] = GEN_ZONE;
		size_t size;
		void *addr;

		h->left--;
		if (prng_chance(&h->rng, 500000))
			layout_pub_name((unsigned int)prng_below(&h->rng, h->bed.lanes), (unsigned int)prng_below(&h->rng, 2), name);
		if (prng_chance(&h->rng, 500000))
			hostile_ring(h, s);
		else if (shim_zone_lookup(s, name, &addr, &size) == 0)
			write_over(h, addr, size);
		shim_sleep_ns(s, prng_range(&h->rng, 1, 300) * MS);
	}
}

static void
reload_hostile(struct sim_world *w, void *state)
{
	struct hostile *h = state;
	struct reload_bed *b = &h->bed;
	struct prng *r = sim_rng(w);
	const struct sim_proc_conf hc = { .name = "hostile", .role = SHIM_ROLE_OBSERVER, .main = hostile_main, .arg = h };
	uint64_t span = prng_range(r, 2, 4) * SEC;

	reload_draw(w, b);
	b->flows.timeout_ns = 250 * MS;
	if (!reload_build(b, (unsigned int)prng_range(r, 4, 24), span) || !reload_up(b))
		return;
	prng_init(&h->rng, sim_seed(w), 9);
	h->left = (unsigned int)prng_range(r, 1, 40);
	b->node.polls_unchecked = true;
	reload_hups(b, (unsigned int)prng_range(r, 1, 2), span);
	sim_proc_start(b->node.host, &hc);
	/* nobody crashes, nobody hangs, no buffer is lost by the living */
	sim_run(w, sim_now(w) + span + 5 * SEC);
	sim_finish(w);
}

const struct sim_scenario scenario_reload_hostile = {
	.name = "reload-hostile",
	.description = "random bytes written over the generation directory, the publish tables and the rings between the generations: nobody crashes, nobody hangs",
	.soak = 1,
	.state_size = sizeof(struct hostile),
	.run = reload_hostile,
	.release = reload_release,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of the reload scenarios, and the rules that every datagram's answer is held to. */
#include "reload.h"

#include <stdio.h>
#include <string.h>

#include "../../core/reload/gen_dir.h"

/* ---- whose is a flow? (DSP-1, DSP-4, PUB-3, REL-14) ---- */

static void
judge(struct reload_bed *b, const struct node_worker *nw, uint32_t id)
{
	struct sim_world *w = b->w;
	struct reload_flow *f = &b->flow[id][nw->lane];
	uint64_t now = sim_now(w), idle = now - f->last_ns, least = b->idle_ms * MS;
	const struct gen_dir *d = b->node.dir;
	struct window win;
	struct lease l;

	if (d == NULL || window_of(d->window, &win) != 0 || lease_of(d->lane[nw->lane].lease, &l) != 0)
		return;
	sim_check(w, nw->generation != win.wid || (win.state != WINDOW_OPEN && win.state != WINDOW_PARKING),
		"flow %u: generation %u answers before the flip", id, nw->generation);
	if (f->seen && f->rollbacks == b->node.rollbacks)
		sim_check(w, nw->generation >= f->gen, "flow %u: generation %u answers after generation %u", id, nw->generation, f->gen);
	if (!f->seen && l.state == LEASE_OWNED)
		sim_check(w, nw->generation >= l.gen, "flow %u is new, and generation %u answers while %u owns lane %u", id,
			nw->generation, l.gen, nw->lane);
	least -= b->skew_ns + 20 * MS < least ? b->skew_ns + 20 * MS : least;
	if (f->seen && f->gen == win.active && nw->generation == win.wid && win.state == WINDOW_COMMITTED && win.wid != win.active)
		sim_check(w, idle >= least, "flow %u: generation %u answered %llu ms ago and drains, yet %u answers", id, f->gen,
			(unsigned long long)(idle / MS), nw->generation);
}

static void
served(void *ctx, struct node_worker *nw, uint8_t *buf, size_t n)
{
	struct reload_bed *b = ctx;
	uint32_t id, seq;

	if (!flow_of(buf, n, &id, &seq))
		return;
	if (b->owners)
		judge(b, nw, id);
	b->flow[id][nw->lane] = (struct reload_flow){ .seen = true, .gen = nw->generation, .last_ns = sim_now(b->w),
		.rollbacks = b->node.rollbacks };
	flow_stamp(buf, n, nw->generation);
}

/* ---- building ---- */

static int
spawned(void *ctx, struct node_worker *nw, struct sim_proc_conf *pc)
{
	struct reload_bed *b = ctx;
	struct prng *r = sim_rng(b->w);

	/* clocks of the processes of one machine are samples of one clock: a little apart */
	if (b->skew_ns > 0)
		pc->skew_ns += (int64_t)prng_range(r, 0, b->skew_ns);
	return b->spawned != NULL ? b->spawned(b, nw) : 0;
}

void
reload_draw(struct sim_world *w, struct reload_bed *b)
{
	struct prng *r = sim_rng(w);
	static const uint32_t skews_ms[] = { 0, 0, 1, 5, 999 };
	uint32_t skew = skews_ms[prng_below(r, 5)];

	b->w = w;
	sim_explored(w, false);
	b->lanes = (unsigned int)prng_range(r, 1, 4);
	b->idle_ms = (uint32_t)prng_range(r, 100, 1500);
	b->heartbeat_ms = (uint32_t)prng_range(r, 100, 1000);
	b->shutdown_ms = (uint32_t)prng_range(r, 200, 3000);
	b->drain_ring = 2048;
	b->skew_ns = sim_may(w, "clocks of workers up to %u ms apart", skew) ? skew * MS : 0;
	if (skew > 5)
		b->idle_ms += 2000;
	draw_preemption(w);
	if (prng_chance(r, 500000) && sim_may(w, "stores are delayed as on x86"))
		sim_store_buffer(w, true);
}

static int
client_init(struct peer *p, void *arg)
{
	return flows_init(arg, p->stack);
}

static void
client_turn(struct peer *p, uint64_t now_ns, void *arg)
{
	struct flows *f = arg;

	flows_turn(f, p->stack, now_ns);
	p->wake_ns = f->wake_ns;
}

static void
draw_flow(struct prng *r, struct flow *f, uint64_t span_ns, bool busy)
{
	*f = (struct flow){ .v6 = prng_chance(r, 500000), .all = (uint32_t)prng_range(r, 1, 30),
		.next_ns = 3 * SEC + prng_below(r, span_ns), .gap_ns = prng_range(r, 1, 200) * MS, .min_len = FLOW_HEAD,
		.max_len = 200, .rude = prng_chance(r, 100000) };
	if (prng_chance(r, 200000))
		f->max_len = prng_chance(r, 500000) ? 1400 : 4000; /* fragments */
	if (busy) {
		f->gap_ns = prng_range(r, 5000, 20000) * 1000;
		f->min_len = 4000;
		f->max_len = 8000;
		f->all = 150;
		f->rude = false;
	} else if (prng_chance(r, 150000)) {
		f->gap_ns = prng_range(r, 200, 4000) * MS; /* idle in between */
		f->all = (uint32_t)prng_range(r, 1, 4);
	}
}

bool
reload_node(struct reload_bed *b)
{
	struct prng *r = sim_rng(b->w);
	struct node_conf nc = { .name = "server", .nb_workers = b->lanes, .addr4 = SERVER4, .broadcast4 = "10.0.0.255",
		.gateway4 = "10.0.0.254", .addr6 = SERVER6, .port.reta_size = 128, .reload = true, .ctx = b, .spawn = spawned,
		.served = served, .dpdk = b->dpdk, .skew_ns = b->base_skew_ns, .mtu = b->mtu,
		.least_wait_ns = prng_range(r, 500, 5000) * 1000, .drift_ppm = (int32_t)prng_range(r, 0, 200) - 100 };

	snprintf(b->dpdk, sizeof(b->dpdk), "reload_udp_idle_ms=%u\nreload_heartbeat_timeout_ms=%u\nworker_shutdown_timeout=%u\n"
		"drain_ring_size=%u\npublish_entries=1024\n", b->idle_ms, b->heartbeat_ms, b->shutdown_ms, b->drain_ring);
	draw_offloads(r, &nc.port);
	return sim_check(b->w, node_add(b->w, &b->node, &nc) == 0, "the node could not be made");
}

bool
reload_build(struct reload_bed *b, unsigned int n, uint64_t span_ns)
{
	struct sim_world *w = b->w;
	struct prng *r = sim_rng(w);
	const struct fault_params f = { .delay_ns = prng_range(r, 1000, 500000) };
	struct peer_conf pc = { .name = "client", .addr4_be = CLIENT4_BE, .max_sockets = 256, .arg = &b->flows,
		.init = client_init, .turn = client_turn };

	if (!reload_node(b))
		return false;
	draw_offloads(r, &pc.port);
	addr6_of(2, pc.addr6);
	b->flows.server4_be = SERVER4_BE;
	addr6_of(1, b->flows.server6);
	b->flows.seed = prng_next(r);
	b->flows.n = n < FLOW_MAX ? n : FLOW_MAX;
	for (unsigned int i = 0; i < b->flows.n; i++)
		draw_flow(r, &b->flows.flow[i], span_ns, b->busy);
	if (peer_add(w, &b->peer, &pc) != 0) {
		sim_fail(w, "the client could not be made");
		return false;
	}
	b->wire = sim_wire_add(w, peer_end(&b->peer), node_end(&b->node), &f, &f);
	return sim_check(w, b->wire != NULL, "out of memory");
}

void
reload_release(void *state)
{
	node_release(&((struct reload_bed *)state)->node);
}

static bool
is_calm(void *arg)
{
	return node_calm(&((struct reload_bed *)arg)->node);
}

bool
reload_up(struct reload_bed *b)
{
	if (sim_run_until(b->w, is_calm, b, 20 * SEC)) {
		sim_explored(b->w, true); /* from here to the healed phase */
		return true;
	}
	sim_fail(b->w, "the first generation does not serve");
	return false;
}

static void
hup(void *arg)
{
	((struct reload_bed *)arg)->node.hups++;
}

void
reload_hups(struct reload_bed *b, unsigned int n, uint64_t span_ns)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t at = prng_below(sim_rng(b->w), span_ns);

		if (sim_may(b->w, "HUP after %llu ms", (unsigned long long)(at / MS)))
			sim_at(b->w, sim_now(b->w) + at, hup, b);
	}
}

/* ---- the healed phase ---- */

static bool
all_done(void *arg)
{
	struct reload_bed *b = arg;

	return node_calm(&b->node) && flows_over(&b->flows);
}

static void
unfinished(struct reload_bed *b, const char *what)
{
	const struct node *n = &b->node;
	struct window win = { 0 };

	if (n->dir != NULL)
		window_of(n->dir->window, &win);
	sim_fail(b->w, "%s: window %s %u, active %u, %llu reloads; %u of %u flows are over, %llu datagrams sent, %llu answered", what,
		gen_window_name(win.state), win.wid, win.active, (unsigned long long)n->hups_done, b->flows.nb_over, b->flows.n,
		(unsigned long long)b->flows.sent, (unsigned long long)b->flows.answered);
}

static bool
nothing_lost(void *arg)
{
	return sim_host_machine(((struct reload_bed *)arg)->node.host)->nb_lost == 0;
}

/* A reload without faults completes. */
static bool
further(struct reload_bed *b)
{
	struct node *n = &b->node;
	uint32_t active;
	uint64_t rollbacks = n->rollbacks;

	active = n->active;
	n->hups = 1;
	if (!sim_run_until(b->w, is_calm, b, 60 * SEC)) {
		unfinished(b, "a further reload does not end");
		return false;
	}
	return sim_check(b->w, n->active > active && n->rollbacks == rollbacks, "a further reload fails: generation %u after %u",
		n->active, active);
}

void
reload_heal(struct reload_bed *b)
{
	struct sim_world *w = b->w;

	sim_explored(w, false);
	node_master_again(&b->node);
	if (!sim_run_until(w, is_calm, b, 60 * SEC)) {
		unfinished(b, "no calm after the faults");
		return;
	}
	if (!further(b))
		return;
	if (!sim_run_until(w, all_done, b, 300 * SEC)) {
		unfinished(b, "flows without an answer");
		return;
	}
	sim_check(w, b->flows.wrong[0] == '\0', "%s", b->flows.wrong);
	for (unsigned int i = 0; i < STACK_DROP_COUNT; i++)
		if (i != STACK_DROP_IP6_NOT_FOR_US && i != STACK_DROP_ND_TARGET)
			b->client_drops += stack_drops(b->peer.stack, i);
	/* REL-18 */
	if (!sim_run_until(w, nothing_lost, b, 10 * SEC))
		sim_fail(w, "%u buffers of dead processes have not come home", sim_host_machine(b->node.host)->nb_lost);
	sim_finish(w);
}

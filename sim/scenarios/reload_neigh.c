/* SPDX-License-Identifier: BSD-3-Clause */
/* Several neighbours send bursts of new flows at the flip: the new generation answers the first one, and has to know them for that. */
#include <stdio.h>

#include "../../core/reload/gen_dir.h"
#include "../switch.h"
#include "reload.h"

#define GUESTS 4u
#define GREETERS 2u      /* flows that are there from the beginning, so that everybody knows everybody */
#define NEVER (UINT64_MAX / 4)

struct guests;

struct guest {
	struct guests *all;
	struct peer peer;
	struct flows flows;
	char name[16];
	bool burst;      /* it has sent its burst */
	uint64_t late_ns; /* so long after it has seen the flip */
};

struct guests {
	struct reload_bed bed; /* first */
	struct guest guest[GUESTS];
	struct sim_switch *sw;
	unsigned int n;
	bool early;      /* while the lanes are nobody's: the bursts wait in the port */
};

static int
guest_init(struct peer *p, void *arg)
{
	struct guest *g = arg;

	return flows_init(&g->flows, p->stack);
}

/* The state of the window decides: the flip is not known to any clock. */
static void
guest_turn(struct peer *p, uint64_t now_ns, void *arg)
{
	struct guest *g = arg;
	const struct gen_dir *d = g->all->bed.node.dir;
	struct window win = { 0 };
	uint64_t look = 20 * MS;

	if (!g->burst && d != NULL && window_of(d->window, &win) == 0) {
		look = win.state == WINDOW_OPEN ? MS / 5 : win.state == WINDOW_PARKING ? MS / 100 : look;
		if (win.state == WINDOW_COMMITTED || win.state == WINDOW_RETIRING || (win.state == WINDOW_PARKING && g->all->early)) {
			g->burst = true;
			for (unsigned int i = GREETERS; i < g->flows.n; i++)
				g->flows.flow[i].next_ns = now_ns + g->late_ns;
		}
	}
	flows_turn(&g->flows, p->stack, now_ns);
	p->wake_ns = g->flows.wake_ns;
	if (!g->burst && now_ns + look < p->wake_ns)
		p->wake_ns = now_ns + look;
}

static bool
guest_add(struct guests *s, unsigned int i)
{
	struct sim_world *w = s->bed.w;
	struct prng *r = sim_rng(w);
	struct guest *g = &s->guest[i];
	const struct fault_params f = { .delay_ns = prng_range(r, 1000, 500000) };
	struct peer_conf pc = { .name = g->name, .addr4_be = CLIENT4_BE + (i << 24), .max_sockets = 256, .arg = g,
		.init = guest_init, .turn = guest_turn };
	/* of one family, where lanes share them: more of a lane's answers wait for one address than may */
	unsigned int family = (unsigned int)prng_below(r, s->bed.lanes > 1 ? 2 : 3);
	struct sim_end *e;

	snprintf(g->name, sizeof(g->name), "guest%u", i);
	g->all = s;
	g->late_ns = prng_chance(r, 500000) ? 0 : prng_below(r, 300000);
	draw_offloads(r, &pc.port);
	addr6_of((uint8_t)(i + 2), pc.addr6);
	g->flows.server4_be = SERVER4_BE;
	addr6_of(1, g->flows.server6);
	g->flows.seed = prng_next(r);
	g->flows.n = FLOW_MAX;
	for (unsigned int k = 0; k < FLOW_MAX; k++) {
		bool v6 = s->bed.mtu == 0 && (k < GREETERS || family == 2 ? k & 1 : family == 1);

		g->flows.flow[k] = (struct flow){ .v6 = v6, .next_ns = k < GREETERS ? 3 * SEC : NEVER, .min_len = FLOW_HEAD,
			.all = k < GREETERS ? 30 : (uint32_t)prng_range(r, 1, 3), .gap_ns = k < GREETERS ? 100 * MS : MS, .max_len = 200 };
	}
	if (peer_add(w, &g->peer, &pc) != 0)
		return false;
	e = sim_switch_end(s->sw, g->peer.port->conf.mac);
	return e != NULL && sim_wire_add(w, peer_end(&g->peer), e, &f, &f) != NULL;
}

static bool
guests_build(struct guests *s)
{
	struct sim_world *w = s->bed.w;
	const struct fault_params f = { .delay_ns = prng_range(sim_rng(w), 1000, 100000) };
	struct sim_end *e;

	s->sw = sim_switch_create("switch");
	if (!sim_check(w, s->sw != NULL, "out of memory") || !reload_node(&s->bed))
		return false;
	e = sim_switch_end(s->sw, s->bed.node.port->conf.mac);
	if (!sim_check(w, e != NULL && sim_wire_add(w, node_end(&s->bed.node), e, &f, &f) != NULL, "out of memory"))
		return false;
	for (unsigned int i = 0; i < s->n; i++)
		if (!sim_check(w, guest_add(s, i), "guest %u could not be made", i))
			return false;
	return true;
}

static bool
guests_done(void *arg)
{
	struct guests *s = arg;

	for (unsigned int i = 0; i < s->n; i++)
		if (!flows_over(&s->guest[i].flows))
			return false;
	return node_calm(&s->bed.node);
}

/* Frames that were lost because a neighbour was asked for first, in workers that live and that have ended. */
static uint64_t
cold(const struct node *n)
{
	uint64_t total = n->cold;

	for (unsigned int i = 0; i < n->nb_spawned; i++)
		if (n->spawned[i].worker != NULL)
			total += stack_drops(worker_stack(n->spawned[i].worker), STACK_DROP_NEIGH_QUEUE_FULL);
	return total;
}

static void
reload_neighbours(struct sim_world *w, void *state)
{
	struct guests *s = state;
	struct reload_bed *b = &s->bed;
	struct prng *r = sim_rng(w);

	reload_draw(w, b);
	b->lanes = (unsigned int)prng_range(r, 1, 2);
	b->clean = true;
	s->n = (unsigned int)prng_range(r, 2, GUESTS);
	s->early = prng_chance(r, 500000);
	b->mtu = prng_chance(r, 250000) ? 1200 : 0; /* IPv6 is off then, and its addresses stay tentative */
	if (!guests_build(s) || !reload_up(b))
		return;
	sim_run(w, sim_now(w) + prng_range(r, 4000, 6000) * MS);
	b->node.hups = 1;
	if (!sim_run_until(w, guests_done, s, 60 * SEC))
		sim_fail(w, "not over: generation %u, %llu reloads, %llu frames waited for an address in vain", b->node.active,
			(unsigned long long)b->node.hups_done, (unsigned long long)cold(&b->node));
	sim_check(w, cold(&b->node) == 0, "%llu frames waited for an address in vain", (unsigned long long)cold(&b->node));
	sim_check(w, b->node.rollbacks == 0 && b->node.hups_done == 1, "the reload failed");
	for (unsigned int i = 0; i < s->n; i++) {
		const struct flows *f = &s->guest[i].flows;

		sim_check(w, f->wrong[0] == '\0', "%s: %s", s->guest[i].name, f->wrong);
		sim_check(w, f->resent + f->repeated + f->send_errors == 0, "%s: %llu sent again, %llu answered twice, %llu not sent",
			s->guest[i].name, (unsigned long long)f->resent, (unsigned long long)f->repeated, (unsigned long long)f->send_errors);
	}
	sim_finish(w);
}

static void
guests_release(void *state)
{
	struct guests *s = state;

	reload_release(state);
	sim_switch_destroy(s->sw);
}

const struct sim_scenario scenario_reload_neighbours = {
	.name = "reload-neighbours",
	.description = "several neighbours send bursts of new flows at the flip, over one or both families, or with IPv6 off: none is lost",
	.soak = 2,
	.state_size = sizeof(struct guests),
	.run = reload_neighbours,
	.release = guests_release,
};

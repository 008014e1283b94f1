/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads under UDP load, over clean wires (nothing may be lost) and bad ones; with clocks that are wrong; with rings that are too small. */
#include "reload.h"

/* REL-14: every datagram is answered, once, at the first try. */
static void
nothing_missing(struct reload_bed *b)
{
	const struct flows *f = &b->flows;

	sim_check(b->w, f->resent == 0 && f->send_errors == 0, "%llu datagrams were sent again, %llu could not be sent",
		(unsigned long long)f->resent, (unsigned long long)f->send_errors);
	sim_check(b->w, f->repeated == 0, "%llu answers came twice", (unsigned long long)f->repeated);
	sim_check(b->w, b->node.port->st.rx_missed + b->node.port->st.rx_nombuf + b->node.port->st.rx_errors == 0,
		"the server's port lost something");
}

static void
mend(void *arg)
{
	struct reload_bed *b = arg;

	for (int side = 0; side < 2; side++)
		sim_wire_fault(b->wire, side)->p = (struct fault_params){ .delay_ns = 100000 };
}

/* Two bit errors in the fragments of one datagram may cancel out in its checksum, and then it is not to blame. */
static bool
fragments(const struct reload_bed *b)
{
	for (unsigned int i = 0; i < b->flows.n; i++)
		if (b->flows.flow[i].max_len > 1400)
			return true;
	return false;
}

static void
spoil(struct reload_bed *b, uint64_t until_ns)
{
	for (int side = 0; side < 2; side++) {
		struct fault_params p = { 0 };
		char text[200];

		fault_swarm(&p, sim_rng(b->w));
		p.mtu = 0;
		if (fragments(b))
			p.corrupt_ppm = 0;
		fault_describe(&p, text, sizeof(text));
		if (sim_may(b->w, "wire, %s: %s", side == 0 ? "to the server" : "from the server", text))
			sim_wire_fault(b->wire, side)->p = p;
	}
	sim_at(b->w, sim_now(b->w) + until_ns, mend, b);
}

static void
reload_udp(struct sim_world *w, void *state)
{
	struct reload_bed *b = state;
	struct prng *r = sim_rng(w);
	uint64_t span = prng_range(r, 2, 6) * SEC;

	reload_draw(w, b);
	b->clean = prng_chance(r, 600000);
	b->owners = b->clean;
	b->flows.timeout_ns = b->clean ? 0 : 250 * MS;
	if (!reload_build(b, (unsigned int)prng_range(r, 4, 40), span) || !reload_up(b))
		return;
	reload_hups(b, (unsigned int)prng_range(r, 1, 4), span);
	if (!b->clean)
		spoil(b, span);
	sim_run(w, sim_now(w) + span);
	reload_heal(b);
	if (!b->clean)
		return;
	nothing_missing(b);
	sim_check(w, b->node.rollbacks == 0, "%llu reloads failed without a fault", (unsigned long long)b->node.rollbacks);
	for (unsigned int i = 0; i < b->lanes; i++)
		sim_check(w, b->node.gap_ns[i] < 100 * MS, "lane %u was not polled for %llu us", i,
			(unsigned long long)(b->node.gap_ns[i] / 1000));
}

const struct sim_scenario scenario_reload_udp = {
	.name = "reload-udp",
	.description = "reloads in a row under UDP flows old and new, 1 to 4 workers, clocks apart; clean wires lose nothing, bad ones heal",
	.soak = 4,
	.stall_ns = { 2 * MS, 200 * MS },
	.state_size = sizeof(struct reload_bed),
	.run = reload_udp,
	.release = reload_release,
};

/* ---- clocks ---- */

#define WRAP_NS ((int64_t)4294967296ll * 1000000 - (int64_t)SIM_CLOCK_BASE_NS)

/* Somebody's clock goes ahead at once, by up to a second: samples of one clock are never further apart (PUB-4). */
static void
jump(void *arg)
{
	struct reload_deed *d = arg;
	struct node *n = &d->b->node;
	struct sim_proc *p = n->nb_spawned > 0 ? n->spawned[d->pick % n->nb_spawned].proc : n->master_proc;

	if (sim_proc_alive(p))
		sim_door_clock_set(sim_proc_door(p), n->conf.skew_ns + (int64_t)d->ns, (int32_t)(d->points % 400) - 200);
}

static void
reload_clock(struct sim_world *w, void *state)
{
	static const uint32_t skews_ms[] = { 1, 5, 999 };
	struct reload_bed *b = state;
	struct prng *r = sim_rng(w);
	uint64_t span = prng_range(r, 2, 5) * SEC;

	reload_draw(w, b);
	b->skew_ns = skews_ms[prng_below(r, 3)] * MS;
	b->idle_ms = 2500 + (uint32_t)prng_below(r, 1000);
	b->heartbeat_ms = 2500; /* a clock that jumps looks like time to whoever has it */
	b->shutdown_ms = 4000;
	b->clean = b->owners = true;
	/* the machine's 32 bits of milliseconds wrap in the middle of it, for half of the seeds */
	b->base_skew_ns = prng_chance(r, 500000) ? WRAP_NS - (int64_t)(prng_range(r, 1, 8) * SEC) :
		(int64_t)(prng_below(r, 3600) * SEC);
	if (!reload_build(b, (unsigned int)prng_range(r, 4, 24), span) || !reload_up(b))
		return;
	reload_hups(b, (unsigned int)prng_range(r, 1, 3), span);
	for (unsigned int i = 0; i < 4; i++) {
		struct reload_deed *d = &b->deed[i];

		*d = (struct reload_deed){ .b = b, .ns = prng_range(r, 0, b->skew_ns), .pick = prng_next(r), .points = prng_next(r) };
		if (sim_may(w, "a worker's clock is set %llu us ahead", (unsigned long long)(d->ns / 1000)))
			sim_at(w, sim_now(w) + prng_below(r, span), jump, d);
		else
			(void)prng_below(r, span);
	}
	sim_run(w, sim_now(w) + span);
	reload_heal(b);
	nothing_missing(b);
}

const struct sim_scenario scenario_reload_clock = {
	.name = "reload-clock",
	.description = "reloads while the workers' clocks differ by 1, 5 or 999 ms, jump and drift, and the milliseconds wrap: nothing is lost",
	.soak = 1,
	.state_size = sizeof(struct reload_bed),
	.run = reload_clock,
	.release = reload_release,
};

/* ---- rings that are too small ---- */

/* DSP-9: what is lost was counted, and nobody waits. */
static void
reload_full_ring(struct sim_world *w, void *state)
{
	struct reload_bed *b = state;
	struct prng *r = sim_rng(w);
	uint64_t span = 2 * SEC;
	uint64_t lost;

	reload_draw(w, b);
	b->lanes = (unsigned int)prng_range(r, 1, 2);
	b->drain_ring = 64;
	b->shutdown_ms = (uint32_t)prng_range(r, 500, 1500);
	b->idle_ms = 400 + (b->skew_ns > 5 * MS ? 2000 : 0);
	b->heartbeat_ms = 2000;
	b->flows.timeout_ns = 300 * MS;
	b->busy = true;
	if (!reload_build(b, 40, span / 2) || !reload_up(b))
		return;
	reload_hups(b, (unsigned int)prng_range(r, 1, 2), 3 * SEC);
	reload_stop_old(b, 8, 5 * SEC, 600 * MS);
	sim_run(w, sim_now(w) + 6 * SEC);
	reload_heal(b);
	lost = b->node.dropped + b->node.port->st.rx_missed + b->client_drops + b->node.cold;
	sim_check(w, b->flows.resent <= lost + b->flows.repeated, "%llu datagrams were sent again, but only %llu losses were counted and %llu "
		"answers came twice", (unsigned long long)b->flows.resent, (unsigned long long)lost, (unsigned long long)b->flows.repeated);
}

const struct sim_scenario scenario_reload_full_ring = {
	.name = "reload-full-ring",
	.description = "reloads with rings of 63 frames and bursts of more: what is dropped is counted, nobody waits, everything heals",
	.soak = 1,
	.state_size = sizeof(struct reload_bed),
	.run = reload_full_ring,
	.release = reload_release,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo over a perfect wire, and over every kind of bad one. */
#include <string.h>

#include "all.h"

/* A wire that loses nothing: each datagram comes back exactly once, and nobody drops anything (REL-14's ground). */
static void
lossless(struct sim_world *w, void *state)
{
	struct duo *d = state;
	struct prng *r = sim_rng(w);
	const struct fault_params f = { .delay_ns = prng_range(r, 100, 500000) };
	struct node_conf nc = { .nb_workers = (unsigned int)prng_range(r, 1, 4), .port.reta_size = 128 };
	struct peer_conf pc = { 0 };
	struct udp_client_conf cc = duo_client(w);
	struct udp_server s;

	cc.n = 400;
	draw_preemption(w);
	draw_offloads(r, &nc.port);
	draw_offloads(r, &pc.port);
	if (!duo_build(w, d, &nc, &pc, &cc, &f, &f) || !duo_run(w, d, 60 * SEC))
		return;
	s = node_served(&d->node);
	sim_check(w, d->client.repeated == 0, "%llu answers came twice", (unsigned long long)d->client.repeated);
	sim_check(w, d->client.send_errors == 0, "a send failed: error %d", -d->client.last_error);
	sim_check(w, s.received == cc.n && s.answered == cc.n, "the server received %llu and answered %llu of %u",
		(unsigned long long)s.received, (unsigned long long)s.answered, cc.n);
	sim_check(w, d->peer.port->st.rx_errors + d->node.port->st.rx_errors == 0, "a port saw errors");
	sim_check(w, d->peer.port->st.tx_errors + d->node.port->st.tx_errors == 0, "a port refused to send");
	for (unsigned int i = 0; i < STACK_DROP_COUNT; i++) {
		uint64_t n = stack_drops(d->peer.stack, i);

		/* the card's filter lets every multicast pass: of groups, and about neighbours, that are others' */
		if (i != STACK_DROP_IP6_NOT_FOR_US && i != STACK_DROP_ND_TARGET)
			sim_check(w, n == 0, "the client dropped %llu: %s", (unsigned long long)n, stack_drop_text(i));
	}
	sim_finish(w);
}

const struct sim_scenario scenario_echo_lossless = {
	.name = "echo-lossless",
	.soak = 1,
	.description = "UDP echo, IPv4 and IPv6, 1 to 4 workers behind RSS: every datagram comes back once, nothing is dropped",
	.state_size = sizeof(struct duo),
	.run = lossless,
	.release = duo_release,
};

static void
heal(void *arg)
{
	struct duo *d = arg;

	for (int i = 0; i < 2; i++) {
		struct fault *f = sim_wire_fault(d->wire, i);
		uint64_t delay = f->p.delay_ns;

		memset(&f->p, 0, sizeof(f->p));
		f->p.delay_ns = delay;
	}
}

/* Safety while it rains, progress when it stops. */
static void
faulty(struct sim_world *w, void *state)
{
	struct duo *d = state;
	struct prng *r = sim_rng(w);
	struct fault_params ab, ba;
	struct node_conf nc = { .nb_workers = (unsigned int)prng_range(r, 1, 2), .port.reta_size = 128 };
	struct peer_conf pc = { 0 };
	struct udp_client_conf cc = duo_client(w);

	fault_swarm(&ab, r);
	fault_swarm(&ba, r);
	cc.timeout_ns = 300 * MS;
	draw_offloads(r, &nc.port);
	draw_offloads(r, &pc.port);
	if (!duo_build(w, d, &nc, &pc, &cc, &ab, &ba))
		return;
	sim_at(w, 10 * SEC, heal, d);
	/* a neighbour learned wrong from a damaged packet is found out by reachability (RFC 4861 7.3): a minute and a half at most */
	if (duo_run(w, d, 200 * SEC))
		sim_finish(w);
}

const struct sim_scenario scenario_echo_faulty = {
	.name = "echo-faulty",
	.soak = 1,
	.description = "UDP echo over wires that delay, lose, repeat, reorder and damage, drawn by seed; then healed wires: all is answered",
	.state_size = sizeof(struct duo),
	.run = faulty,
	.release = duo_release,
};

static void
fragments(struct sim_world *w, void *state)
{
	struct duo *d = state;
	struct prng *r = sim_rng(w);
	struct fault_params f = { .delay_ns = prng_range(r, 1000, 500000), .reorder_ns = 2 * MS };
	struct node_conf nc = { .nb_workers = 1 };
	struct peer_conf pc = { 0 };
	struct udp_client_conf cc = duo_client(w);
	uint64_t on = prng_next(r);

	if (on & 1)
		f.reorder_ppm = (uint32_t)prng_range(r, 10000, 500000);
	if (on & 2)
		f.dup_ppm = (uint32_t)prng_range(r, 10000, 300000);
	if (on & 4)
		f.drop_ppm = (uint32_t)prng_range(r, 1000, 30000);
	cc.n = 100;
	cc.window = 4;
	cc.min_len = 1473;
	cc.max_len = 8000;
	cc.gap_ns = 5 * MS;
	/* without losses nothing may need a second try, repeated and reordered fragments or not */
	cc.timeout_ns = f.drop_ppm != 0 ? SEC : 0;
	draw_offloads(r, &nc.port);
	draw_offloads(r, &pc.port);
	if (!duo_build(w, d, &nc, &pc, &cc, &f, &f) || !duo_run(w, d, 200 * SEC))
		return;
	if (f.drop_ppm == 0)
		sim_check(w, d->client.sent == cc.n, "%llu sent for %u", (unsigned long long)d->client.sent, cc.n);
	sim_finish(w);
}

const struct sim_scenario scenario_fragments = {
	.name = "fragments",
	.soak = 1,
	.description = "datagrams of 8000 bytes in fragments that are reordered, repeated and lost, both families, both directions",
	.state_size = sizeof(struct duo),
	.run = fragments,
	.release = duo_release,
};

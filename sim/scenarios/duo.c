/* SPDX-License-Identifier: BSD-3-Clause */
/* The scenery of most scenarios: one node, one client, one wire. */
#include <string.h>

#include "all.h"

void
addr6_of(uint8_t last, uint8_t out[16])
{
	memset(out, 0, 16);
	out[0] = 0xfd;
	out[15] = last;
}

struct udp_client_conf
duo_client(struct sim_world *w)
{
	struct udp_client_conf c = { .server4_be = SERVER4_BE, .seed = prng_next(sim_rng(w)), .n = 200, .window = 16,
		.min_len = 8, .max_len = 1400, .gap_ns = MS, .start_ns = 3 * SEC };

	addr6_of(1, c.server6);
	return c;
}

void
draw_offloads(struct prng *r, struct sim_port_conf *c)
{
	uint64_t on = prng_next(r);

	c->rx_offloads = (on & 1 ? SHIM_RX_IPV4_CKSUM : 0) | (on & 2 ? SHIM_RX_UDP_CKSUM : 0) | SHIM_RX_TCP_CKSUM;
	c->tx_offloads = (on & 4 ? SHIM_TX_IPV4_CKSUM : 0) | (on & 8 ? SHIM_TX_UDP_CKSUM : 0);
	c->mtu_needs_stop = on & 16;
	c->stop_forgets = on & 32;
}

void
draw_preemption(struct sim_world *w)
{
	struct prng *r = sim_rng(w);
	uint32_t ppm = (uint32_t)prng_range(r, 1000, 300000);

	if (prng_chance(r, 500000))
		sim_preempt(w, ppm, prng_range(r, 0, 50000));
}

bool
duo_build(struct sim_world *w, struct duo *d, const struct node_conf *nc, const struct peer_conf *pc,
	const struct udp_client_conf *cc, const struct fault_params *ab, const struct fault_params *ba)
{
	struct node_conf n = *nc;
	struct peer_conf p = *pc;

	n.name = "server";
	n.addr4 = SERVER4;
	n.broadcast4 = "10.0.0.255";
	n.gateway4 = "10.0.0.254";
	n.addr6 = SERVER6;
	p.name = "client";
	p.addr4_be = CLIENT4_BE;
	addr6_of(2, p.addr6);
	p.init = peer_client_init;
	p.turn = peer_client_turn;
	p.arg = &d->client;
	if (udp_client_prepare(&d->client, cc) != 0 || node_add(w, &d->node, &n) != 0 || peer_add(w, &d->peer, &p) != 0) {
		sim_fail(w, "the hosts could not be made");
		return false;
	}
	d->wire = sim_wire_add(w, peer_end(&d->peer), node_end(&d->node), ab, ba);
	return sim_check(w, d->wire != NULL, "out of memory");
}

void
duo_release(void *state)
{
	struct duo *d = state;

	udp_client_release(&d->client);
	node_release(&d->node);
}

static bool
client_done(void *arg)
{
	const struct duo *d = arg;

	return udp_client_done(&d->client) || d->client.wrong[0] != '\0';
}

bool
duo_run(struct sim_world *w, struct duo *d, uint64_t ns)
{
	struct udp_server s;

	if (sim_run_until(w, client_done, d, ns))
		return client_check(w, &d->client, "client");
	s = node_served(&d->node);
	sim_fail(w, "no end in sight: %llu of %u answered, %llu sent (%llu again, %llu errors, the last %d); the server received "
		"%llu and answered %llu", (unsigned long long)d->client.answered, d->client.conf.n,
		(unsigned long long)d->client.sent, (unsigned long long)d->client.resent,
		(unsigned long long)d->client.send_errors, d->client.last_error, (unsigned long long)s.received,
		(unsigned long long)s.answered);
	return false;
}

bool
client_check(struct sim_world *w, const struct udp_client *c, const char *who)
{
	return sim_check(w, c->wrong[0] == '\0', "%s: %s", who, c->wrong) &&
		sim_check(w, udp_client_done(c), "%s: %llu of %u answered", who, (unsigned long long)c->answered, c->conf.n);
}

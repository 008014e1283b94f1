/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses resolved, reachability, and a host that comes back as another station. */
#include <string.h>

#include "../../core/stack/link/neigh.h"
#include "all.h"

struct arp_nd {
	struct peer server, peer;
	struct udp_server echo;
	struct udp_client client;
	struct sim_wire *wire;
	struct sim_world *w;
	uint8_t new_mac[6];
	uint32_t goal;
};

static bool
goal_reached(void *arg)
{
	const struct arp_nd *s = arg;

	return s->client.answered >= s->goal || s->client.wrong[0] != '\0';
}

static bool
advance(struct arp_nd *s, uint32_t goal, uint64_t ns, const char *what)
{
	s->goal = goal;
	if (sim_run_until(s->w, goal_reached, s, ns))
		return sim_check(s->w, s->client.wrong[0] == '\0', "%s", s->client.wrong);
	sim_fail(s->w, "%s: %llu of %u answered (%llu sent, %llu errors, the last %d)", what,
		(unsigned long long)s->client.answered, goal, (unsigned long long)s->client.sent,
		(unsigned long long)s->client.send_errors, s->client.last_error);
	return false;
}

/* What the client believes the server's station to be. */
static bool
believes(struct arp_nd *s, int family, const uint8_t mac[6])
{
	union ip_addr a = ip_addr_v4(SERVER4_BE);
	const struct neigh *n;

	if (family == ADDR_INET6)
		a = ip_addr_v6(s->client.conf.server6);
	n = neigh_lookup(s->peer.stack, s->peer.nif, family, &a);
	return sim_check(s->w, n != NULL && memcmp(n->mac, mac, 6) == 0, "IPv%d neighbour: %s", family,
		n == NULL ? "none" : "another station");
}

static void
mend(void *arg)
{
	sim_wire_cut(((struct arp_nd *)arg)->wire, false);
}

static bool
build(struct sim_world *w, struct arp_nd *s)
{
	struct prng *r = sim_rng(w);
	const struct fault_params f = { .delay_ns = prng_range(r, 1000, 200000) };
	struct peer_conf server = { .name = "server", .addr4_be = SERVER4_BE, .init = peer_server_init,
		.turn = peer_server_turn, .arg = &s->echo };
	struct peer_conf client = { .name = "client", .addr4_be = CLIENT4_BE, .init = peer_client_init,
		.turn = peer_client_turn, .arg = &s->client };
	struct udp_client_conf cc = duo_client(w);

	s->w = w;
	addr6_of(1, server.addr6);
	addr6_of(2, client.addr6);
	cc.n = 600;
	cc.gap_ns = 20 * MS;
	cc.timeout_ns = 500 * MS;
	if (udp_client_prepare(&s->client, &cc) != 0 || peer_add(w, &s->server, &server) != 0 ||
		peer_add(w, &s->peer, &client) != 0) {
		sim_fail(w, "the hosts could not be made");
		return false;
	}
	s->wire = sim_wire_add(w, peer_end(&s->peer), peer_end(&s->server), &f, &f);
	return sim_check(w, s->wire != NULL, "out of memory");
}

static void
arp_nd(struct sim_world *w, void *state)
{
	struct arp_nd *s = state;
	struct prng *r = sim_rng(w);
	bool unheard;

	if (!build(w, s) || !advance(s, 100, 30 * SEC, "first contact"))
		return;
	if (!believes(s, ADDR_INET, s->server.port->conf.mac) || !believes(s, ADDR_INET6, s->server.port->conf.mac))
		return;

	/* quiet for longer than an entry stays reachable; then it is asked again, and found */
	sim_proc_pause(s->peer.proc);
	sim_run(w, sim_now(w) + prng_range(r, 0, 90) * SEC);
	sim_proc_resume(s->peer.proc);
	if (!advance(s, 200, 30 * SEC, "after a pause"))
		return;

	/* the host dies and comes back as another station; its announcements may be lost */
	sim_proc_kill(s->server.proc);
	sim_run(w, sim_now(w) + prng_range(r, 0, 20) * SEC);
	memcpy(s->new_mac, s->server.port->conf.mac, 6);
	s->new_mac[4] ^= 0x55;
	memcpy(s->server.port->conf.mac, s->new_mac, 6);
	unheard = prng_chance(r, 500000);
	if (unheard) {
		sim_wire_cut(s->wire, true);
		sim_at(w, sim_now(w) + 5 * SEC, mend, s);
	}
	if (!sim_check(w, sim_proc_restart(s->server.proc) == 0, "no restart"))
		return;
	/* 30 s reachable, 5 s delay, 3 probes, and the host's own duplicate address detection */
	if (!advance(s, s->client.conf.n, 120 * SEC, unheard ? "another station, unheard" : "another station"))
		return;
	if (believes(s, ADDR_INET, s->new_mac) && believes(s, ADDR_INET6, s->new_mac))
		sim_finish(w);
}

static void
arp_nd_release(void *state)
{
	udp_client_release(&((struct arp_nd *)state)->client);
}

const struct sim_scenario scenario_arp_nd = {
	.name = "arp-nd",
	.soak = 1,
	.description = "ARP and neighbour discovery: first contact, a long pause, and a host that is killed and comes back with another MAC",
	.state_size = sizeof(struct arp_nd),
	.run = arp_nd,
	.release = arp_nd_release,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Every scenario, and what most of them are built of. */
#ifndef NONIC_SIM_SCENARIOS_ALL_H
#define NONIC_SIM_SCENARIOS_ALL_H

#include "../node.h"
#include "../peer.h"
#include "scenario.h"

extern const struct sim_scenario scenario_echo_lossless, scenario_echo_faulty, scenario_fragments, scenario_arp_nd,
	scenario_mtu, scenario_pmtu, scenario_clock_skew, scenario_kill_restart, scenario_many_hosts,
	scenario_handover, scenario_reload_udp, scenario_reload_clock, scenario_reload_full_ring, scenario_reload_kill,
	scenario_reload_abort, scenario_reload_hostile, scenario_reload_neighbours;

#define SEC 1000000000ull
#define MS 1000000ull

#define SERVER4 "10.0.0.1"
#define SERVER6 "fd00::1"
#define SERVER4_BE 0x0100000au /* in memory order */
#define CLIENT4_BE 0x0200000au

/* A node that serves and a peer that asks, on one wire. */
struct duo {
	struct node node;
	struct peer peer;
	struct udp_client client;
	struct sim_wire *wire;     /* side 0: what the client sends */
};

/* fd00::<last> */
void addr6_of(uint8_t last, uint8_t out[16]);
/* A client of the node for both families; the caller changes what it likes before duo_build. */
struct udp_client_conf duo_client(struct sim_world *w);
/* Offloads of a card, each one there or not: both ways of STK-4 are taken, by seed. */
void draw_offloads(struct prng *r, struct sim_port_conf *c);
/* For half of the seeds: processes lose the processor at shared words, for up to 50 us. */
void draw_preemption(struct sim_world *w);
/* False: the run has failed. */
bool duo_build(struct sim_world *w, struct duo *d, const struct node_conf *nc, const struct peer_conf *pc,
	const struct udp_client_conf *cc, const struct fault_params *ab, const struct fault_params *ba);
void duo_release(void *state);
/* The client has everything; fails with the state of affairs after ns. */
bool duo_run(struct sim_world *w, struct duo *d, uint64_t ns);
/* What must hold of every client at the end: nothing wrong, everything answered. */
bool client_check(struct sim_world *w, const struct udp_client *c, const char *who);

#endif

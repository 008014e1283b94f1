/* SPDX-License-Identifier: BSD-3-Clause */
/* What the scenarios of reloads share: a node with two generations, a client with many flows, and whose each flow is. */
#ifndef NONIC_SIM_SCENARIOS_RELOAD_H
#define NONIC_SIM_SCENARIOS_RELOAD_H

#include "../flows.h"
#include "all.h"

/* Of a flow, as its server sees it. */
struct reload_flow {
	bool seen;
	uint32_t gen;              /* that answered it last */
	uint64_t last_ns;          /* on the world's clock */
	uint64_t rollbacks;        /* of the node, then */
};

struct reload_bed {
	struct sim_world *w;
	struct node node;
	struct peer peer;
	struct flows flows;
	struct sim_wire *wire;
	struct reload_flow flow[FLOW_MAX][NODE_MAX_WORKERS]; /* [lane]: fragments go where the card puts them */
	char dpdk[512];
	/* drawn */
	unsigned int lanes;
	uint16_t mtu;              /* of the node; 0: 1500 */
	uint32_t idle_ms, heartbeat_ms, shutdown_ms, drain_ring;
	uint64_t skew_ns;          /* between processes, at most */
	bool clean;                /* the wires lose nothing: neither does anybody else */
	bool owners;               /* no process dies: each flow has the owner that the rules say */
	uint64_t client_drops;     /* what the client's own stack could not send or take */
	bool busy;                 /* flows are dense and fragmented */
	bool primary_died;
	int64_t base_skew_ns;      /* of the node */
	/* of one scenario */
	int (*spawned)(struct reload_bed *b, struct node_worker *nw);
	unsigned int faulty;       /* workers that are still to be started with a fault */
	enum node_fault fault;
	struct reload_deed {
		struct reload_bed *b;
		unsigned int what, whom;
		uint64_t ns, pick, points;
		struct sim_proc *proc;
	} deed[32];
};

/* Draws the size of everything; the caller changes what it likes, then builds. */
void reload_draw(struct sim_world *w, struct reload_bed *b);
/* The node alone; its end is to be wired. False: the run has failed. */
bool reload_node(struct reload_bed *b);
/* Hosts, wire, n flows within span. False: the run has failed. */
bool reload_build(struct reload_bed *b, unsigned int n, uint64_t span_ns);
void reload_release(void *state);
/* The first generation serves. False: the run has failed. */
bool reload_up(struct reload_bed *b);
/* HUPs at random times within span. */
void reload_hups(struct reload_bed *b, unsigned int n, uint64_t span_ns);
/* n times within span an old worker stands still, for at most so long. */
void reload_stop_old(struct reload_bed *b, unsigned int n, uint64_t span_ns, uint64_t longest_ns);
/* Faults are over: everything comes to rest, a further reload goes through, every flow is answered; then the end. */
void reload_heal(struct reload_bed *b);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that runs the product as it ships: a slim primary and workers of core/runtime, set up from a configuration
 * text, with a UDP echo server in every worker. Each is a process of its own; a worker that is killed can be started
 * again with sim_proc_restart, as a master would.
 */
#ifndef NONIC_SIM_NODE_H
#define NONIC_SIM_NODE_H

#include "../core/config/config.h"
#include "../core/runtime/primary.h"
#include "../core/runtime/worker.h"
#include "apps.h"
#include "world.h"

#define NODE_MAX_WORKERS 8

struct node;

struct node_conf {
	const char *name;
	unsigned int nb_workers;    /* 0: 1 */
	const char *addr4, *addr6;  /* as in config.ini; addr4 with /24, addr6 with /64; NULL: none */
	const char *broadcast4, *gateway4; /* belong to addr4 */
	uint16_t mtu;               /* 0: 1500 */
	bool mtu_enable;            /* up to 9000 */
	struct sim_port_conf port;
	int64_t skew_ns;
	int32_t drift_ppm;
	const char *dpdk;           /* more lines for [dpdk], each with its newline; NULL: none */
};

struct node_worker {
	struct node *node;
	struct sim_proc *proc;
	struct worker *worker;      /* of its present life; NULL until it is up */
	struct udp_server server;   /* counts over all lives */
	unsigned int lives;
};

struct node {
	struct node_conf conf;
	struct nonic_config cfg;
	struct sim_host *host;
	struct sim_port *port;
	struct sim_proc *primary_proc;
	struct primary *primary;
	struct node_worker worker[NODE_MAX_WORKERS];
};

/* Fills *n and starts primary and workers; *n outlives the world. 0; -EINVAL (the configuration: sim_fail said why), -ENOMEM. */
int node_add(struct sim_world *w, struct node *n, const struct node_conf *conf);
/* After the world is gone. */
void node_release(struct node *n);
struct sim_end *node_end(struct node *n);
/* Every worker is up. */
bool node_ready(const struct node *n);
/* The sum over the workers. */
struct udp_server node_served(const struct node *n);

/*
 * What `nonic ifconfig mtu` does, from a process of its own: asks the primary for the port, then every worker for its interface.
 * The results are in *result when *done is true.
 */
struct node_mtu {
	struct node *node;
	uint16_t mtu;
	bool done;
	int result;                 /* 0 or the first negative errno */
};
int node_mtu_start(struct node *n, struct node_mtu *m, uint16_t mtu);

#endif

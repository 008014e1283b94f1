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
#define NODE_MAX_SPAWNED 400  /* over all generations of a run */

struct node;
struct node_worker;

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
	uint64_t least_wait_ns;     /* an idle worker waits at least so long */
	/*
	 * Two generations (graceful_reload=1): a master starts the workers. The hooks may be NULL, ctx is theirs.
	 */
	bool reload;
	void *ctx;
	/* A worker is to be started: its clock, and what is wrong with it. 0, or -errno: it can not be. */
	int (*spawn)(void *ctx, struct node_worker *nw, struct sim_proc_conf *pc);
	/* A worker got a datagram, which it will answer. */
	void (*served)(void *ctx, struct node_worker *nw, uint8_t *buf, size_t n);
};

/* What is wrong with a worker, for the aborts of reloads. */
enum node_fault {
	NODE_WELL,
	NODE_EXITS,                 /* at once */
	NODE_HANGS,                 /* before it has attached */
	NODE_NEVER_READY,           /* attached, and then stands still */
	NODE_DIES_READY,            /* when it has said READY */
};

struct node_worker {
	struct node *node;
	struct sim_proc *proc;
	struct worker *worker;      /* of its present life; NULL until it is up */
	struct udp_server server;   /* counts over all lives */
	unsigned int lives;
	uint32_t generation;        /* as ordered; 0 without reload */
	unsigned int lane;
	enum node_fault fault;
};

struct node {
	struct node_conf conf;
	struct nonic_config cfg;
	struct sim_host *host;
	struct sim_port *port;
	struct sim_proc *primary_proc;
	struct primary *primary;
	struct node_worker worker[NODE_MAX_WORKERS];
	/* with reload */
	struct sim_proc *master_proc;
	struct reload_master *master; /* of its present life; NULL: dead, or not up yet */
	const struct gen_dir *dir;  /* once it is there */
	struct node_worker *spawned; /* NODE_MAX_SPAWNED */
	unsigned int nb_spawned;
	unsigned int hups;          /* reloads that are still wanted: the master tries until it may */
	bool hup_tried;
	uint64_t hups_done, hups_refused;
	uint64_t polled_ns[NODE_MAX_WORKERS], gap_ns[NODE_MAX_WORKERS]; /* of each lane: last poll, longest time without */
	bool polls_unchecked;       /* shared memory is written over: nobody's rights mean anything */
	uint32_t active, wid;       /* the largest seen */
	uint64_t cold;              /* frames that workers lost because a neighbour was not resolved yet */
	uint64_t rounds, dropped;   /* of the master's reports: how many, frames that a full ring did not take */
	uint64_t rollbacks;         /* windows that ended ABORTED or as ROLLBACK */
	uint32_t rolled_wid;
};

/* Fills *n and starts primary and workers; *n outlives the world. 0; -EINVAL (the configuration: sim_fail said why), -ENOMEM. */
int node_add(struct sim_world *w, struct node *n, const struct node_conf *conf);
/* After the world is gone. */
void node_release(struct node *n);
struct sim_end *node_end(struct node *n);
/* With reload: the worker that runs in p, or NULL. */
struct node_worker *node_worker_of(struct node *n, const struct sim_proc *p);
/* With reload: one generation, no window, every lane polled by its worker, the master idle. */
bool node_calm(const struct node *n);
/* Starts the master again if it is dead. */
void node_master_again(struct node *n);
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

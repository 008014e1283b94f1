/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host with one process that is its own primary and drives one struct stack over one port: the other end for the
 * hosts under test, and cheap enough for a hundred of them.
 */
#ifndef NONIC_SIM_PEER_H
#define NONIC_SIM_PEER_H

#include "apps.h"
#include "world.h"

struct peer;

struct peer_conf {
	const char *name;
	uint32_t addr4_be;         /* /24; 0: none */
	uint8_t addr6[16];         /* /64; all zero: none but link-local */
	uint16_t mtu;              /* 0: 1500 */
	uint16_t data_room;        /* 0: what 9000-byte packets need when mtu is over 1500, else 2176 */
	unsigned int nb_bufs;      /* 0: 2048 */
	unsigned int max_sockets;  /* 0: 64 */
	struct sim_port_conf port;
	int64_t skew_ns;
	int32_t drift_ppm;
	/* Once the stack is up, in every life. 0 or -errno. May be NULL. */
	int (*init)(struct peer *p, void *arg);
	/* Every turn; sets p->wake_ns when it wants to be called again without a frame. May be NULL. */
	void (*turn)(struct peer *p, uint64_t now_ns, void *arg);
	void *arg;
};

struct peer {
	struct peer_conf conf;
	struct sim_host *host;
	struct sim_port *port;
	struct sim_proc *proc;
	struct shim *shim;         /* this and below: of the present life */
	struct shim_pool *pool;
	struct stack *stack;
	struct netif *nif;
	uint64_t wake_ns;          /* on the process's clock; UINT64_MAX: only frames and timers */
	uint16_t want_mtu;         /* not 0: the port and the stack change to it in the next turn */
};

/* Fills *p and starts the process; *p outlives the world. 0 or -ENOMEM. */
int peer_add(struct sim_world *w, struct peer *p, const struct peer_conf *conf);
struct sim_end *peer_end(struct peer *p);

/* Applications of peers: arg is the struct udp_server or udp_client. */
int peer_server_init(struct peer *p, void *arg);
void peer_server_turn(struct peer *p, uint64_t now_ns, void *arg);
int peer_client_init(struct peer *p, void *arg);
void peer_client_turn(struct peer *p, uint64_t now_ns, void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the primary; included by core/runtime only. */
#ifndef NONIC_RUNTIME_PRIMARY_PRIV_H
#define NONIC_RUNTIME_PRIMARY_PRIV_H

#include "layout.h"
#include "primary.h"
#include "text.h"

#define PRIMARY_DESC 512u      /* rx and tx descriptors of a queue, F-Stack's number */
#define PRIMARY_RING 2048u     /* frames on their way to one queue of a port from its other queues, all together */
#define PRIMARY_RING_MIN 64u   /* of one pair of queues */
#define PRIMARY_CACHE 512u     /* what a process's pool cache may hold */
#define PRIMARY_PER_WORKER 4096u /* socket buffers, reassembly, neighbours' queues */

struct primary_port {
	uint16_t port;
	bool started;
	uint16_t nb_queues;
	uint64_t rx_offloads, tx_offloads;
	struct shim_ring_end *ring; /* of each pair, [from * nb_queues + to]; NULL with one queue; none on the diagonal */
};

/* The place of a worker: one a side. */
struct primary_worker {
	struct ctl_block *block;
	unsigned int index;      /* of the block */
	char name[28];           /* "worker 1", "worker 1 of side 0" */
	uint64_t heartbeat;      /* as last seen */
	uint64_t progress_ns;    /* when it last moved */
	bool stuck;              /* said so */
};

struct primary {
	struct shim *shim;
	const struct nonic_config *cfg;
	struct shim_pool *pool;
	bool pool_lent;          /* a port has been configured with it */
	struct ctl_dir *dir;
	struct ctl_block *block;
	struct ctl_block *master; /* graceful_reload=1: the master's */
	struct primary_reload *reload; /* NULL without it */
	unsigned int first_proc, nb_workers, nb_ports;
	unsigned int nb_places;  /* nb_workers on every side */
	uint16_t data_room;
	struct primary_port port[CONFIG_MAX_PORTS];
	struct primary_worker worker[CTL_MAX_PROCS];
	uint32_t park_number;
	uint64_t liveness_ns;    /* when the workers are looked at next */
	bool stopping, stopped;
	uint64_t stop_deadline_ns;
	char answer[CTL_TEXT];
};

/* primary_port.c */
int primary_port_setup(struct primary *p, struct primary_port *pp);
void primary_port_undo(struct primary *p, struct primary_port *pp);
/* Frames that the ring of one pair of nb_queues holds, and one more. */
uint32_t primary_pair_size(unsigned int nb_queues);
/* Makes a ring between workers; 0 or what shim_ring_create says, said. */
int primary_ring_make(struct primary *p, const char *name, uint32_t size, struct shim_ring_end *e);
/* Frees what is in it, and the ring. No worker is there. */
void primary_ring_end(struct primary *p, struct shim_ring_end *e);
/* primary_reload.c: what two generations share; nothing with graceful_reload=0. */
int primary_reload_setup(struct primary *p);
void primary_reload_undo(struct primary *p);
/* primary_ctl.c: answers one request. */
void primary_answer(struct primary *p, const struct ctl_request *r);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the primary; included by core/runtime only. */
#ifndef NONIC_RUNTIME_PRIMARY_PRIV_H
#define NONIC_RUNTIME_PRIMARY_PRIV_H

#include "layout.h"
#include "primary.h"
#include "text.h"

#define PRIMARY_DESC 512u      /* rx and tx descriptors of a queue, F-Stack's number */
#define PRIMARY_RING 2048u     /* frames between two workers' queues of a port */
#define PRIMARY_CACHE 512u     /* what a process's pool cache may hold */
#define PRIMARY_PER_WORKER 4096u /* socket buffers, reassembly, neighbours' queues */

struct primary_port {
	uint16_t port;
	bool started;
	uint16_t nb_queues;
	uint64_t rx_offloads, tx_offloads;
	struct rte_ring *ring[SHIM_MAX_QUEUES];
};

struct primary_worker {
	struct ctl_block *block;
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
	unsigned int first_proc, nb_workers, nb_ports;
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
/* primary_ctl.c: answers one request. */
void primary_answer(struct primary *p, const struct ctl_request *r);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a worker; included by core/runtime only (and by tests that look inside). */
#ifndef NONIC_RUNTIME_WORKER_PRIV_H
#define NONIC_RUNTIME_WORKER_PRIV_H

#include "../stack/link/netif.h"
#include "layout.h"
#include "pcap.h"
#include "text.h"
#include "worker.h"

#define WORKER_BURST 32u
#define WORKER_BACKLOG 512u           /* frames behind a full transmit queue, or waiting for pkt_tx_delay */
#define WORKER_PUBLISH_NS 1000000ull  /* how stale the block's counters may be */
#define WORKER_TX_STUCK_NS 100000000ull /* a queue that takes nothing for so long has a frame before it that it never takes */
#define WORKER_PRIMARY_NS 500000000ull /* how often the primary's heartbeat is looked at */

struct worker_port {
	struct worker *w;
	uint16_t port, queue, nb_queues;
	uint64_t tx_offloads;         /* as the primary configured them */
	struct netif *nif;
	struct rte_ring *ring[SHIM_MAX_QUEUES]; /* to each queue of the port; NULL with one queue */
	uint64_t oldest_ns;           /* when the first frame of the back-log came */
	uint64_t stuck_ns;            /* since when the queue has taken nothing of the back-log; 0: it moves */
	unsigned int head, count;     /* back-log, a ring */
	struct rte_mbuf *backlog[WORKER_BACKLOG];
};

struct worker {
	struct shim *shim;
	const struct nonic_config *cfg;
	unsigned int proc_id;
	worker_loop_fn *loop;
	void *loop_arg;
	worker_dispatch_fn *dispatch;
	void *dispatch_arg;
	struct ctl_dir *dir;
	struct ctl_block *block;
	bool claimed;
	struct ctl_block *primary;    /* the primary's block, to see it alive */
	struct shim_pool *pool;
	struct stack *stack;
	struct capture *capture;      /* NULL: nothing is recorded */
	uint64_t now_ns, tx_delay_ns;
	uint64_t turn_cycles;         /* at the start of the last turn */
	bool busy;                    /* did the last turn do anything */
	bool stop, parked, dirty, primary_gone;
	uint64_t published_ns, primary_ns, primary_beat;
	uint64_t turns, idle_turns, cycles_busy, cycles_idle;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, rx_dropped, tx_dropped;
	unsigned int nb_ports;
	struct worker_port *port[CONFIG_MAX_PORTS];
	char answer[CTL_TEXT];
};

/* worker_if.c: interfaces, addresses and routes of one port from the configuration. */
int worker_if_setup(struct worker *w, struct worker_port *wp);

/* worker_rx.c: one burst of each port; returns frames. */
unsigned int worker_rx(struct worker *w);

/* worker_tx.c */
netif_tx_fn worker_tx; /* the interfaces' hook; ctx is the struct worker_port */
/* Sends what is due of every back-log; returns frames sent. all: whatever the delay. */
unsigned int worker_tx_flush(struct worker *w, bool all);
void worker_tx_free(struct worker *w, struct worker_port *wp);
/* Frames of the back-log become due at; UINT64_MAX: it is empty. */
uint64_t worker_tx_due(const struct worker *w);

/* worker_ctl.c: answers one request of the tools. */
void worker_answer(struct worker *w, const struct ctl_request *r);
/* Copies the counters into the block. */
void worker_publish(struct worker *w);

#endif

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
#define WORKER_NAP_NS 20000ull        /* sleep of an idle turn while two generations share the lane */

/* Where a port's output goes. */
enum worker_route {
	ROUTE_PORT,                   /* the queue is this worker's */
	ROUTE_RELAY,                  /* it is the other generation's: through the relay ring of the own side */
	ROUTE_HOLD,                   /* it is nobody's at present: the back-log */
};

struct worker_port {
	struct worker *w;
	uint16_t port, queue, nb_queues;
	enum worker_route route;
	uint64_t tx_offloads;         /* as the primary configured them */
	struct netif *nif;
	struct shim_ring_end to[SHIM_MAX_QUEUES], from[SHIM_MAX_QUEUES]; /* the port's other queues; none: the own one */
	struct shim_ring_end drain[2], relay[2]; /* by side; none without graceful_reload */
	uint64_t oldest_ns;           /* when the first frame of the back-log came */
	uint64_t stuck_ns;            /* since when the queue has taken nothing of the back-log; 0: it moves */
	unsigned int head, count;     /* back-log, a ring with room for cap frames (a power of two) */
	unsigned int cap;
	struct rte_mbuf **backlog;
};

struct worker_reload;

struct worker {
	struct shim *shim;
	const struct nonic_config *cfg;
	unsigned int proc_id, lane;   /* lane: which worker, from 0 */
	uint32_t mark;                /* of the buffers in its hands (REL-18) */
	bool owner;                   /* the lane's queues are this worker's; always, without graceful_reload */
	bool window;                  /* frames are looked at before the stack gets them: another generation is there */
	struct worker_reload *rl;     /* NULL without graceful_reload */
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
/* Is it ARP or neighbour discovery? Only what lies in the first segment is looked at. */
bool worker_for_everybody(const struct rte_mbuf *m);
/* A deep copy with what the port said of the frame; NULL (counted as rx_dropped) without a buffer. */
struct rte_mbuf *worker_rx_copy(struct worker *w, const struct rte_mbuf *m);

/* worker_tx.c */
netif_tx_fn worker_tx; /* the interfaces' hook; ctx is the struct worker_port */
/* Sends what is due of every back-log; returns frames sent. all: whatever the delay. */
unsigned int worker_tx_flush(struct worker *w, bool all);
int worker_tx_init(struct worker *w, struct worker_port *wp); /* 0, -ENOMEM */
void worker_tx_free(struct worker *w, struct worker_port *wp);
/* What this worker put into its relay ring and nobody sent goes in front of the back-log: the queue is its own now. */
void worker_tx_reclaim(struct worker_port *wp);
/* Frames of the back-log become due at; UINT64_MAX: it is empty. */
uint64_t worker_tx_due(const struct worker *w);

/* worker_ring.c: frames between workers. */
/* Finds the ring of `count` slots. 0; -ENOENT and others, said. */
int worker_ring_find(struct worker *w, const char *name, uint32_t count, struct shim_ring_end *e);
/* That side is this worker's; a ring that had to be mended is said. */
void worker_ring_succeed(struct worker *w, struct shim_ring_end *e, enum shim_ring_side side);
/* Up to n <= WORKER_BURST frames of the ring; what is no frame is added to *dropped, and said once. */
unsigned int worker_ring_get(struct worker *w, struct shim_ring_end *e, struct rte_mbuf **m, unsigned int n, uint64_t *dropped);
/* To the worker of another queue of the port. Takes m. */
void worker_ring_hand(struct worker *w, struct shim_ring_end *e, struct rte_mbuf *m);
/* ---- frames between the generations of a lane ---- */
/* To the port by way of the lane's owner; takes the first k of n, as a port does. */
unsigned int worker_relay(struct worker_port *wp, struct rte_mbuf **m, unsigned int n);
/* Frames that neither relay ring nor back-log took: counts and says so. */
void worker_relay_full(struct worker_port *wp, unsigned int dropped);
/* Frames to the other generation's stack, by its drain ring. Takes all; returns how many are on their way, the others are counted. */
unsigned int worker_to_peer(struct worker_port *wp, struct rte_mbuf **m, unsigned int n);
/* Received frames of the owner while another generation is there: decides and hands out. Takes all. */
void worker_window_input(struct worker_port *wp, struct rte_mbuf **m, unsigned int n);
/* What the dispatcher held for too long. */
void worker_window_expire(struct worker *w);
/* Everything that it holds, and the end of it; to the own stack. */
void worker_window_close(struct worker *w);
/* One turn's frames from the rings of the generations; returns how many. */
unsigned int worker_ring_rx(struct worker *w);
bool worker_ring_empty(const struct worker *w);
/* Does so much wait for the other generation that it should get the processor? */
bool worker_ring_crowded(const struct worker *w);
/* Takes the places of a predecessor at the rings between the port's queues. */
void worker_ring_ends(struct worker_port *wp);
/* The lane is this worker's: and at the relay rings; what it sent before and nobody took comes back. */
void worker_ring_take(struct worker *w);

/* worker_neigh.c: the neighbours go from generation to generation. */
#define WORKER_NEIGH_TYPE 0x88b5      /* IEEE 802 local experimental: only in drain rings, never on a wire */
/* A window opens: nothing has been told in it. */
void worker_neigh_open(struct worker *w);
/* A few of them, in a turn of the older generation's owner before the flip. */
void worker_neigh_turn(struct worker *w);
/* What the other generation has not been told, or has changed since: before the lane is let go. */
void worker_neigh_rest(struct worker *w);
/* Is it such a frame? Of frames out of a drain ring only. */
static inline bool
worker_neigh_is(const struct rte_mbuf *m)
{
	const uint8_t *d = shim_buf_data(m);

	return shim_buf_seg_len(m) >= 14 && d[12] == WORKER_NEIGH_TYPE >> 8 && d[13] == (WORKER_NEIGH_TYPE & 0xff);
}
/* Learns what is in it and is not known yet. Does not take m. */
void worker_neigh_take(struct worker_port *wp, const struct rte_mbuf *m);

/* worker_reload.c: a worker's part in a reload; nothing with graceful_reload=0. */
int worker_reload_claim(struct worker *w, uint32_t generation);
/* After the claim of the control block; before the stack is made. */
int worker_reload_setup(struct worker *w);
int worker_reload_port(struct worker *w, struct worker_port *wp);
void worker_reload_release(struct worker *w);
void worker_reload_turn(struct worker *w);  /* at the top of a turn */
void worker_reload_end(struct worker *w);   /* at its end */
void worker_reload_publish(struct worker *w);
/* How long an idle worker may sleep at most, in ns. */
uint64_t worker_reload_nap(const struct worker *w);
void worker_rescue_end(struct worker *w);   /* nothing is left for the other side's worker */
stack_udp_flow_fn worker_reload_flow;       /* the stack's hook; ctx is the struct worker */

/* worker_ctl.c: answers one request of the tools. */
void worker_answer(struct worker *w, const struct ctl_request *r);
/* Copies the counters into the block. */
void worker_publish(struct worker *w);

#endif

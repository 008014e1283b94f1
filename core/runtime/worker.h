/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one stack instance, its queues on the ports, its control block. The same code is a DPDK secondary
 * process (nonic serve), the self-contained process of a plain F-Stack application (ff_init/ff_run), and a process of
 * the simulator. One worker, one thread. worker_turn is DESIGN's loop, each step its own function.
 */
#ifndef NONIC_RUNTIME_WORKER_H
#define NONIC_RUNTIME_WORKER_H

#include "../config/config.h"
#include "../stack/stack.h"
#include "ctl.h"

struct worker;

typedef int worker_loop_fn(void *arg); /* F-Stack's loop_func_t; the value is ignored */

struct worker_config {
	struct shim *shim;
	const struct nonic_config *cfg; /* outlives the worker */
	unsigned int proc_id;           /* which lcore of lcore_mask, in ascending order: F-Stack's --proc-id */
	uint32_t generation;            /* graceful_reload=1: as the master says; 0: the active one, or the first */
	worker_loop_fn *loop;           /* the application; may be NULL */
	void *loop_arg;
};

/*
 * Attaches to what primary_setup made (pool, ports, zones, secrets), builds the stack: one interface per port of
 * the configuration that lists this worker's lcore, VLANs, addresses, VIPs, routes. As in F-Stack, a port that has
 * [vlanN] sections has no addresses of its own. 0; -ENOENT (no primary: no zones), -EAGAIN (it is still starting),
 * -EPROTO (another layout version: both named in the log), -EINVAL (proc_id is no worker's; other device-side keys than
 * the primary's: CFG-6; the three views of an MTU differ: MTU-1; bad addresses), -ENOMEM, -EBUSY (another live
 * worker has this proc_id), what capture_open returned ([pcap]: CFG-1).
 * With graceful_reload=1 the worker sits down in the seat of its generation and lane first (seat_claim's errors too), and
 * says READY in the turn in which its addresses are usable.
 */
int worker_create(const struct worker_config *wc, struct worker **out);
/* Gives everything back; the worker's block is marked free. w may be NULL. */
void worker_destroy(struct worker *w);

/*
 * One turn, always in this order: now, control words, timers, rx, application, tx, heartbeat. Returns the number
 * of packets received and sent; 0 means idle. Never sleeps.
 */
unsigned int worker_turn(struct worker *w);
/* The generation it belongs to; 0 without graceful_reload. */
uint32_t worker_generation(const struct worker *w);
/* Turns until worker_stop, the quit word or *stop (may be NULL, polled each turn) is set; sleeps idle_sleep us (or to the
 * next deadline, whichever is first) after an idle turn when idle_sleep is not 0. */
void worker_run(struct worker *w, const volatile int *stop);
/* What worker_run does behind each turn, for loops of others: sleeps when there was nothing to do and it may. */
void worker_rest(struct worker *w, unsigned int did);
void worker_stop(struct worker *w);
bool worker_stopped(const struct worker *w);

struct stack *worker_stack(struct worker *w);
struct netif *worker_netif(struct worker *w, uint16_t port); /* the port's untagged interface, or NULL */
/* ns from now until the worker has something to do of itself; 0: at once; UINT64_MAX: nothing is pending. */
uint64_t worker_next_wake(struct worker *w);
/* rx_packets, rx_bytes, tx_packets, tx_bytes, rx_dropped, tx_dropped: ff_get_traffic's six. */
void worker_traffic(const struct worker *w, uint64_t out[6]);

/*
 * The packet dispatcher (F-Stack's ff_regist_packet_dispatcher, both forms): sees every frame that a port's queue
 * received, Ethernet header first. Returns the queue that shall have it, WORKER_DISPATCH_ERROR (the frame is dropped), or
 * WORKER_DISPATCH_RESPONSE (*len bytes at data go out of the same port, with the VLAN tag put back if it was
 * stripped). Any other value drops the frame. fn NULL: none.
 */
#define WORKER_DISPATCH_ERROR (-1)
#define WORKER_DISPATCH_RESPONSE (-2)
struct worker_dispatch_vlan {
	bool stripped;
	uint16_t tci;     /* host order */
};
typedef int worker_dispatch_fn(void *arg, void *data, uint16_t *len, uint16_t queue, uint16_t nb_queues,
	const struct worker_dispatch_vlan *vlan);
void worker_dispatcher_set(struct worker *w, worker_dispatch_fn *fn, void *arg);
/* Copies a whole frame and sends it out of port. 0; -ENODEV, -EMSGSIZE (over the port's frame), -ENOBUFS, -EINVAL. */
int worker_raw_send(struct worker *w, uint16_t port, const void *data, size_t len);

#endif

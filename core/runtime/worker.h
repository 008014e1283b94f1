/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one stack instance, its queues on the ports, its control block. The same code is a DPDK secondary
 * process (nonic serve), the self-contained process of a plain F-Stack application (ff_init/ff_run), and a process of the
 * simulator. One worker, one thread. worker_turn is DESIGN's loop, each step its own function.
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
	unsigned int proc_id;           /* which queue of each port: the index in lcore_list */
	worker_loop_fn *loop;           /* the application; may be NULL */
	void *loop_arg;
};

/*
 * Attaches to what primary_setup made (pool, ports, zones, secrets), builds the stack: one interface per port of
 * the configuration that lists this worker's lcore, VLANs, addresses, VIPs, routes. 0; -ENOENT (no primary: no zones), -EPROTO (another
 * layout version: both named in the log), -EINVAL, -ENOMEM, -EBUSY (another live worker has this proc_id).
 */
int worker_create(const struct worker_config *wc, struct worker **out);
/* Gives everything back; the worker's zone block is marked free. */
void worker_destroy(struct worker *w);

/*
 * One turn, always in this order: now, control words, timers, rx, socket contexts, application, tx, heartbeat. Returns the number of
 * packets received and sent; 0 means idle. Never sleeps.
 */
unsigned int worker_turn(struct worker *w);
/* Turns until worker_stop, the quit word or *stop (may be NULL, polled each turn) is set; sleeps idle_sleep_us (or to the next
 * deadline, whichever is first) after an idle turn when idle_sleep is not 0. */
void worker_run(struct worker *w, const volatile int *stop);
void worker_stop(struct worker *w);
bool worker_stopped(const struct worker *w);

struct stack *worker_stack(struct worker *w);
struct netif *worker_netif(struct worker *w, uint16_t port);
/* ns from now until the worker has something to do of itself; 0: at once. For sleepers and the simulator. */
uint64_t worker_next_wake(struct worker *w);

#endif

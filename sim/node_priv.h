/* SPDX-License-Identifier: BSD-3-Clause */
/* Between node.c and node_reload.c. */
#ifndef NONIC_SIM_NODE_PRIV_H
#define NONIC_SIM_NODE_PRIV_H

#include "node.h"

void node_worker_main(struct sim_proc *proc, void *arg);
/* Starts the master, sets the invariants of generations. 0 or -ENOMEM. */
int node_reload_start(struct sim_world *w, struct node *n);

#endif

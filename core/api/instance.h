/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ff_* calls work on. F-Stack's API names no instance, so each thread has a current one: the product's one exception
 * to "no globals". ff_init sets it for the calling thread; the simulator sets it whenever it switches processes.
 */
#ifndef NONIC_API_INSTANCE_H
#define NONIC_API_INSTANCE_H

#include "../runtime/primary.h"
#include "../runtime/worker.h"
#include "include/ff_api.h"

struct ff_instance;

struct ff_instance_config {
	struct shim *shim;
	struct stack *stack;              /* may be NULL with a worker, and for a primary alone: calls are ENXIO then */
	struct worker *worker;            /* may be NULL: then no dispatcher, no traffic, no raw sends */
	struct primary *primary;          /* may be NULL: MTU changes are the stack's own then (MTU-4) */
	const struct nonic_config *cfg;   /* may be NULL */
};

/* Nothing of it is owned: everything in c outlives the instance. 0, -EINVAL (no shim; no stack, worker or primary), -ENOMEM. */
int ff_instance_new(const struct ff_instance_config *c, struct ff_instance **out);
void ff_instance_free(struct ff_instance *in); /* in may be NULL */
/* Makes `in` (NULL: none) the calling thread's instance; returns the one before. */
struct ff_instance *ff_instance_set(struct ff_instance *in);
struct ff_instance *ff_instance_current(void);
/* For worker_config.loop: calls the loop that ff_run was given; arg is the instance. */
int ff_instance_loop(void *arg);
/* Was ff_stop_run called? */
bool ff_instance_stopped(const struct ff_instance *in);

/*
 * An instance that owns what it runs on: primary (in the primary's role) and worker of this process; with primary_slim=1
 * process 0 is the primary alone, and the others are workers. Takes over
 * *cfg (moved: the caller's is zeroed) and the door; both are kept till ff_instance_close. Logs why it fails.
 * 0, -ENOMEM, -EINVAL (primary_slim=1 and a role that is not the process id's), or what primary_setup and worker_create
 * returned (then *cfg and the door stay the caller's).
 */
int ff_instance_open(struct shim *s, struct nonic_config *cfg, struct ff_instance **out);
/*
 * Worker and primary end, the primary after the workers of other processes, which are asked to leave and waited for at most
 * PRIMARY_STOP_MS; returns the door, which is the caller's again.
 */
struct shim *ff_instance_close(struct ff_instance *in);
/* Turns until ff_stop_run, or the tools' order to stop. A slim primary never calls loop. */
void ff_instance_run(struct ff_instance *in, loop_func_t loop, void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of an instance, and how results become F-Stack's. */
#ifndef NONIC_API_PRIV_H
#define NONIC_API_PRIV_H

#include <errno.h>
#include <stdio.h>

#include "../stack/socket/event.h"
#include "include/ff_config.h"
#include "instance.h"

#define API_LOG_TYPES 32

struct ff_instance {
	struct shim *shim;
	struct stack *stack;
	struct worker *worker;
	struct primary *primary;
	const struct nonic_config *cfg;
	struct nonic_config *own_cfg;     /* ff_instance_open's; NULL otherwise */
	loop_func_t loop;
	void *loop_arg;
	volatile int stop;
	dispatch_func_t dispatch;
	dispatch_func_context_t dispatch_context;
	struct ff_config config;          /* what ff_config.h shows */
	FILE *log, *log_own;              /* log_own: to be closed */
	uint32_t log_level;
	uint32_t log_type_level[API_LOG_TYPES]; /* UINT32_MAX: as log_level */
};

/* -1 with errno for a negative errno. */
static inline int
api_ret(int r)
{
	if (__builtin_expect(r < 0, 0)) {
		errno = -r;
		return -1;
	}
	return r;
}

static inline ssize_t
api_ret_size(ssize_t r)
{
	if (__builtin_expect(r < 0, 0)) {
		errno = (int)-r;
		return -1;
	}
	return r;
}

/* The stack of the calling thread's instance, or NULL with errno ENXIO. */
struct stack *api_stack(void);
/* What was registered before there was an instance becomes part of it. */
void api_dispatcher_apply(struct ff_instance *in);
void api_log_setup(struct ff_instance *in);
void api_log_end(struct ff_instance *in);
void api_config_fill(struct ff_instance *in);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine without a world, for tests of the sim backend: a clock that the test sets, frames and failures kept. */
#ifndef NONIC_UNIT_SIM_BED_H
#define NONIC_UNIT_SIM_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shim/shim.h"
#include "core/base/bytes.h"
#include "shim/host/sim/machine.h"

struct bed {
	struct sim_env env;
	struct sim_machine *m;
	struct shim *s;            /* a primary */
	struct shim_pool *pool;
	uint64_t now;
	uint8_t frame[4096];       /* the last one sent */
	uint32_t len;
	unsigned int frames, ready, fails, logs;
	char why[256];
};

static uint64_t
bed_now(void *ctx)
{
	return ((struct bed *)ctx)->now;
}

static void
bed_frame(void *ctx, struct sim_port *p, uint16_t queue, const uint8_t *frame, uint32_t len)
{
	struct bed *b = ctx;

	(void)p;
	(void)queue;
	memcpy(b->frame, frame, len < sizeof(b->frame) ? len : sizeof(b->frame));
	b->len = len;
	b->frames++;
}

static void
bed_ready(void *ctx, struct sim_port *p, uint16_t queue)
{
	(void)p;
	(void)queue;
	((struct bed *)ctx)->ready++;
}

static void
bed_fail(void *ctx, const struct sim_door *d, const char *text)
{
	struct bed *b = ctx;

	(void)d;
	b->fails++;
	snprintf(b->why, sizeof(b->why), "%s", text);
}

static void
bed_log(void *ctx, struct sim_door *d, int level, const char *line)
{
	(void)d;
	(void)level;
	((struct bed *)ctx)->logs++;
	snprintf(((struct bed *)ctx)->why, 256, "%s", line);
}

static struct shim *
bed_door(struct bed *b, enum shim_role role, uint32_t id)
{
	const struct sim_door_conf c = { .role = role, .id = id, .pid = 100 + id, .start_time = id, .seed = id };

	return &sim_door_open(b->m, &c)->shim;
}

static void
bed_open(struct bed *b)
{
	memset(b, 0, sizeof(*b));
	b->env = (struct sim_env){ .ctx = b, .now_ns = bed_now, .frame = bed_frame, .ready = bed_ready, .fail = bed_fail,
		.log = bed_log };
	b->m = sim_machine_create(&b->env, 7, "bed");
	b->s = bed_door(b, SHIM_ROLE_PRIMARY, 1);
	assert_int_equal(shim_pool_create(b->s, "pool", 1024, 2176, &b->pool), 0);
}

/* Nothing failed and everything is home. */
static void
bed_close(struct bed *b)
{
	char why[256] = "";

	sim_machine_ports_stop(b->m);
	sim_machine_audit(b->m, why, sizeof(why));
	assert_string_equal(why, "");
	assert_int_equal(sim_machine_home(b->m, why, sizeof(why)), 0);
	assert_int_equal(b->fails, 0);
	sim_machine_destroy(b->m);
}

#endif

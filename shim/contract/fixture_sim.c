/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract suite's bed over the sim backend: one machine, a clock that only sleep moves, no wires. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/sim/machine.h"
#include "contract.h"

#define TX_ROOM 63u

struct sent {
	struct sent *next;
	uint32_t len;
	uint8_t bytes[];
};

struct bed {
	struct sim_env env;
	struct sim_machine *machine;
	struct sim_door *primary;
	uint64_t now_ns;
	uint32_t next_id;
	unsigned int failures;
	struct sent *first[SHIM_MAX_QUEUES], **last[SHIM_MAX_QUEUES];
	unsigned int pending[SHIM_MAX_QUEUES];
};

static uint64_t
env_now(void *ctx)
{
	return ((struct bed *)ctx)->now_ns++; /* reading the time takes some */
}

static void
env_sleep(void *ctx, struct sim_door *d, uint64_t ns)
{
	((struct bed *)ctx)->now_ns += sim_door_to_world_ns(d, ns);
}

static void
env_frame(void *ctx, struct sim_port *p, uint16_t queue, const uint8_t *frame, uint32_t len)
{
	struct bed *b = ctx;
	struct sent *s;

	if (p->index != 0)
		return;
	s = malloc(sizeof(*s) + len);
	assert_non_null(s);
	s->next = NULL;
	s->len = len;
	memcpy(s->bytes, frame, len);
	*b->last[queue] = s;
	b->last[queue] = &s->next;
	b->pending[queue]++;
}

static unsigned int
env_tx_room(void *ctx, struct sim_port *p, uint16_t queue)
{
	return p->index == 0 ? TX_ROOM - ((struct bed *)ctx)->pending[queue] : UINT16_MAX;
}

static void
env_fail(void *ctx, const struct sim_door *d, const char *text)
{
	(void)d;
	((struct bed *)ctx)->failures++;
	fprintf(stderr, "contract: %s\n", text);
}

static struct shim *
bed_door(void *bed, enum shim_role role, uint32_t proc_id)
{
	struct bed *b = bed;
	struct sim_door_conf c = { .role = role, .id = ++b->next_id, .pid = 1000 + b->next_id, .proc_id = proc_id,
		.start_time = b->now_ns + 1, .seed = b->next_id };
	struct sim_door *d = sim_door_open(b->machine, &c);

	return d != NULL ? &d->shim : NULL;
}

static int
env_spawn(void *ctx, struct sim_door *d, const char *const argv[], struct shim_proc *out)
{
	(void)d;
	if (argv[0] == NULL || strcmp(argv[0], "program") != 0)
		return -ENOENT;
	*out = shim_self(bed_door(ctx, SHIM_ROLE_WORKER, 0)); /* a process that does nothing */
	return 0;
}

static int
bed_open(void **bed)
{
	const struct sim_port_conf pc = { .no_filter = true, .rx_offloads = SHIM_RX_SCATTER,
		.tx_offloads = SHIM_TX_MULTI_SEGS, .reta_size = 128 };
	struct bed *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return 1;
	b->env = (struct sim_env){ .ctx = b, .now_ns = env_now, .sleep = env_sleep, .frame = env_frame,
		.tx_room = env_tx_room, .fail = env_fail, .spawn = env_spawn };
	for (unsigned int q = 0; q < SHIM_MAX_QUEUES; q++)
		b->last[q] = &b->first[q];
	b->machine = sim_machine_create(&b->env, 1, "bed");
	if (b->machine == NULL || sim_machine_port_add(b->machine, &pc) == NULL ||
		sim_machine_port_add(b->machine, &pc) == NULL)
		return 1;
	b->primary = (struct sim_door *)bed_door(b, SHIM_ROLE_PRIMARY, 0);
	*bed = b;
	return b->primary == NULL;
}

static struct shim *
bed_primary(void *bed)
{
	return &((struct bed *)bed)->primary->shim;
}

static void
bed_door_close(void *bed, struct shim *s)
{
	(void)bed;
	sim_door_close(sim_door(s), false);
}

static int
bed_inject(void *bed, uint16_t queue, const void *frame, size_t len)
{
	struct sim_port *p = ((struct bed *)bed)->machine->port[0];
	uint64_t before = p->st.rx_packets;

	sim_port_receive_on(p, queue, frame, (uint32_t)len);
	return p->st.rx_packets == before + 1 ? 0 : -ENOBUFS;
}

static size_t
bed_collect(void *bed, uint16_t queue, void *buf, size_t cap)
{
	struct bed *b = bed;
	struct sent *s = b->first[queue];
	size_t len;

	if (s == NULL)
		return 0;
	b->first[queue] = s->next;
	if (s->next == NULL)
		b->last[queue] = &b->first[queue];
	b->pending[queue]--;
	len = s->len;
	memcpy(buf, s->bytes, len < cap ? len : cap);
	free(s);
	return len;
}

static void
bed_door_dies(void *bed, struct shim *s)
{
	(void)bed;
	sim_door_close(sim_door(s), true);
}

static const char *const sleeper[] = { "program", NULL };

static void
bed_close(void *bed)
{
	struct bed *b = bed;
	char why[256];
	uint8_t byte;

	for (uint16_t q = 0; q < SHIM_MAX_QUEUES; q++)
		while (bed_collect(b, q, &byte, 1) != 0)
			;
	if (sim_machine_audit(b->machine, why, sizeof(why)) != 0) {
		fprintf(stderr, "contract: %s\n", why);
		b->failures++;
	}
	if (b->failures != 0) {
		fprintf(stderr, "contract: the machine reported %u failures\n", b->failures);
		exit(1);
	}
	sim_machine_destroy(b->machine);
	free(b);
}

const struct contract_backend contract_backend = {
	.name = "sim",
	.open = bed_open,
	.primary = bed_primary,
	.door = bed_door,
	.door_close = bed_door_close,
	.door_dies = bed_door_dies,
	.inject = bed_inject,
	.collect = bed_collect,
	.tx_room = TX_ROOM,
	.sleeper = sleeper,
	.program = "program",
	.missing_program = "missing",
	.close = bed_close,
};

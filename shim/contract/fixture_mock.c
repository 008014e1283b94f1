/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract suite's bed over the mock. */
#include <unistd.h>

#include "../host/mock/mock.h"
#include "contract.h"

#define TX_ROOM 63

static int
bed_open(void **bed)
{
	*bed = mock_shim_new();
	return 0;
}

static struct shim *
bed_primary(void *bed)
{
	return bed;
}

static struct shim *
bed_door(void *bed, enum shim_role role, uint32_t proc_id)
{
	return mock_shim_attach(bed, role, proc_id);
}

static void
bed_door_close(void *bed, struct shim *s)
{
	(void)bed;
	mock_shim_free(s);
}

static void
bed_port_ready(void *bed)
{
	mock_tx_room(bed, 0, 0, TX_ROOM);
}

static int
bed_inject(void *bed, uint16_t queue, const void *frame, size_t len)
{
	return mock_inject(bed, 0, queue, frame, len);
}

static size_t
bed_collect(void *bed, uint16_t queue, void *buf, size_t cap)
{
	return mock_collect_bytes(bed, 0, queue, buf, cap);
}

static const char *const sleeper[] = { "/bin/sleep", "1000", NULL };

static void
bed_close(void *bed)
{
	if (mock_shim_free(bed) != 0)
		_exit(1);
}

const struct contract_backend contract_backend = {
	.name = "mock",
	.open = bed_open,
	.primary = bed_primary,
	.door = bed_door,
	.door_close = bed_door_close,
	.door_dies = bed_door_close,
	.port_ready = bed_port_ready,
	.inject = bed_inject,
	.collect = bed_collect,
	.tx_room = TX_ROOM,
	.sleeper = sleeper,
	.program = "/bin/true",
	.close = bed_close,
};

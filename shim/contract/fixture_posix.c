/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract suite's bed over the posix backend: one pair of ports, port 1's end in the fixture. */
#include "../host/posix/priv.h"

#include <stdio.h>
#include <unistd.h>

#include "contract.h"

#define RING_SIZE 64

static int
bed_open(void **bed)
{
	char name[32];
	struct posix_opts o = { .bed = name, .pairs = 1, .queues = 2, .ring_size = RING_SIZE };
	struct shim *s;
	int rc;

	snprintf(name, sizeof(name), "contract-%d", (int)getpid());
	rc = posix_shim_create(&o, 0, &s);
	if (rc != 0) {
		fprintf(stderr, "contract: no shared memory here: %d\n", rc);
		return 77;
	}
	*bed = s;
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
	struct shim *s;

	return posix_shim_door(bed, role, proc_id, &s) == 0 ? s : NULL;
}

static void
bed_door_close(void *bed, struct shim *s)
{
	(void)bed;
	posix_shim_close(s);
}

/* The ring from a transmit queue. */
static struct rte_ring *
wire(struct shim *s, unsigned int port, unsigned int queue)
{
	struct rte_ring *r = NULL;
	char name[32];

	snprintf(name, sizeof(name), "port%utx%u", port, queue);
	assert_int_equal(shim_ring_lookup(s, name, &r), 0);
	return r;
}

static int
bed_inject(void *bed, uint16_t queue, const void *frame, size_t len)
{
	struct rte_mbuf *m = shim_buf_alloc(bed, contract.pool);

	if (m == NULL)
		return -ENOBUFS;
	memcpy(shim_buf_append(m, (uint16_t)len), frame, len);
	return shim_ring_enqueue_burst(bed, wire(bed, 1, queue), (void **)&m, 1) == 1 ?
		0 : -ENOBUFS;
}

static size_t
bed_collect(void *bed, uint16_t queue, void *buf, size_t cap)
{
	struct rte_mbuf *m;
	const void *d;
	size_t len;

	if (shim_ring_dequeue_burst(bed, wire(bed, 0, queue), (void **)&m, 1) == 0)
		return 0;
	len = shim_buf_len(m);
	d = shim_buf_read(m, 0, (uint32_t)RTE_MIN(len, cap), buf);
	if (d != buf)
		memcpy(buf, d, RTE_MIN(len, cap));
	shim_buf_free(bed, m);
	return len;
}

/* The cache stays as it is. */
static void
bed_door_dies(void *bed, struct shim *s)
{
	(void)bed;
	((struct posix_door *)s)->slot = POSIX_SLOTS;
	posix_shim_close(s);
}

static const char *const sleeper[] = { "/bin/sleep", "1000", NULL };

static void
bed_close(void *bed)
{
	posix_shim_close(bed);
}

const struct contract_backend contract_backend = {
	.name = "posix",
	.open = bed_open,
	.primary = bed_primary,
	.door = bed_door,
	.door_close = bed_door_close,
	.door_dies = bed_door_dies,
	.inject = bed_inject,
	.collect = bed_collect,
	.tx_room = RING_SIZE - 1,
	.sleeper = sleeper,
	.program = "/bin/true",
	.missing_program = "/nonexistent/program",
	.close = bed_close,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract suite's bed over DPDK in one process without hugepages or root: port 0 is a net_ring
 * between rings the fixture holds, port 1 a net_null (which has an RSS table and an MTU to set).
 */
#include <rte_eth_ring.h>
#include <rte_lcore.h>
#include <stdio.h>

#include "../dpdk/eal.h"
#include "contract.h"

#define RING_SIZE 64
#define QUEUES 2

struct dpdk_bed {
	struct shim *s;
	struct rte_ring *rx[QUEUES], *tx[QUEUES];
};

static struct dpdk_bed the_bed;

static int
bed_rings(struct dpdk_bed *b)
{
	char name[SHIM_NAME_MAX];
	int q;

	for (q = 0; q < QUEUES; q++) {
		snprintf(name, sizeof(name), "bed_rx%d", q);
		if (shim_ring_create(b->s, name, RING_SIZE, SHIM_RING_SP_SC, &b->rx[q]) != 0)
			return -1;
		snprintf(name, sizeof(name), "bed_tx%d", q);
		if (shim_ring_create(b->s, name, RING_SIZE, SHIM_RING_SP_SC, &b->tx[q]) != 0)
			return -1;
	}
	return rte_eth_from_rings("bed", b->rx, QUEUES, b->tx, QUEUES, 0);
}

static int
bed_open(void **bed)
{
	char *args[] = { (char *)(uintptr_t)"contract", (char *)(uintptr_t)"--no-huge",
		(char *)(uintptr_t)"--no-shconf", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"-m", (char *)(uintptr_t)"64", (char *)(uintptr_t)"--lcores=0",
		(char *)(uintptr_t)"--no-telemetry", (char *)(uintptr_t)"--log-level=*:error",
		NULL };
	int rc = shim_dpdk_open(9, args, SHIM_ROLE_PRIMARY, 0, &the_bed.s);

	if (rc != 0) {
		fprintf(stderr, "contract: the EAL does not start here: %d\n", rc);
		return 77;
	}
	rc = bed_rings(&the_bed);
	if (rc == 0)
		rc = rte_eal_hotplug_add("vdev", "net_null0", "");
	if (rc != 0) {
		fprintf(stderr, "contract: no ports: %d\n", rc);
		return 1;
	}
	*bed = &the_bed;
	return 0;
}

static struct shim *
bed_primary(void *bed)
{
	return ((struct dpdk_bed *)bed)->s;
}

static struct shim *
bed_door(void *bed, enum shim_role role, uint32_t proc_id)
{
	struct shim *s;

	(void)bed;
	return shim_dpdk_door(role, proc_id, &s) == 0 ? s : NULL;
}

static void
bed_door_close(void *bed, struct shim *s)
{
	(void)bed;
	shim_dpdk_close(s);
}

static int
bed_inject(void *bed, uint16_t queue, const void *frame, size_t len)
{
	struct dpdk_bed *b = bed;
	struct rte_mbuf *m = shim_buf_alloc(b->s, contract.pool);

	if (m == NULL)
		return -ENOBUFS;
	memcpy(shim_buf_append(m, (uint16_t)len), frame, len);
	return shim_ring_enqueue_burst(b->s, b->rx[queue], (void **)&m, 1) == 1 ? 0 : -ENOBUFS;
}

static size_t
bed_collect(void *bed, uint16_t queue, void *buf, size_t cap)
{
	struct dpdk_bed *b = bed;
	struct rte_mbuf *m;
	const void *d;
	size_t len;

	if (shim_ring_dequeue_burst(b->s, b->tx[queue], (void **)&m, 1) == 0)
		return 0;
	len = shim_buf_len(m);
	d = shim_buf_read(m, 0, (uint32_t)RTE_MIN(len, cap), buf);
	if (d != buf)
		memcpy(buf, d, RTE_MIN(len, cap));
	shim_buf_free(b->s, m);
	return len;
}

/* To pools a process is an lcore id: the primary's is 0, another's its number and one. */
static void
bed_as(void *bed, struct shim *s)
{
	(void)bed;
	RTE_PER_LCORE(_lcore_id) = shim_role(s) == SHIM_ROLE_PRIMARY ? 0 : shim_self(s).proc_id + 1;
}

static const char *const sleeper[] = { "/bin/sleep", "1000", NULL };

static void
bed_close(void *bed)
{
	shim_dpdk_close(((struct dpdk_bed *)bed)->s);
}

const struct contract_backend contract_backend = {
	.name = "dpdk",
	.open = bed_open,
	.primary = bed_primary,
	.door = bed_door,
	.door_close = bed_door_close,
	.door_dies = bed_door_close,
	.as = bed_as,
	.inject = bed_inject,
	.collect = bed_collect,
	.tx_room = RING_SIZE - 1,
	.sleeper = sleeper,
	.program = "/bin/true",
	.missing_program = "/nonexistent/program",
	.close = bed_close,
};

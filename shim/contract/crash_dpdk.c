/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test of deaths over DPDK: a primary without hugepages or root, whose memory its forked children share. To a pool a child is
 * a process as any: what makes it one is its lcore id.
 */
#include <rte_lcore.h>
#include <stdio.h>

#include "../dpdk/eal.h"
#include "crash.h"

static int
bed_open(struct shim **out)
{
	char *args[] = { (char *)(uintptr_t)"crash", (char *)(uintptr_t)"--no-huge",
		(char *)(uintptr_t)"--no-shconf", (char *)(uintptr_t)"--no-pci",
		(char *)(uintptr_t)"-m", (char *)(uintptr_t)"64", (char *)(uintptr_t)"--lcores=0",
		(char *)(uintptr_t)"--no-telemetry", (char *)(uintptr_t)"--log-level=*:error",
		NULL };
	int rc = shim_dpdk_open(9, args, SHIM_ROLE_PRIMARY, 0, out);

	if (rc != 0) {
		fprintf(stderr, "crash: the EAL does not start here: %d\n", rc);
		return 77;
	}
	return 0;
}

static struct shim *
bed_door(struct shim *primary, unsigned int id)
{
	struct shim *s;

	(void)primary;
	RTE_PER_LCORE(_lcore_id) = id;
	return shim_dpdk_door(SHIM_ROLE_WORKER, id, &s) == 0 ? s : NULL;
}

const struct crash_backend crash_backend = { .open = bed_open, .door = bed_door, .close = shim_dpdk_close };

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing the door over DPDK: a process's EAL, and further doors for its threads. */
#ifndef NONIC_SHIM_DPDK_EAL_H
#define NONIC_SHIM_DPDK_EAL_H

#include "../types.h"

/*
 * Starts the EAL with argv (argv[0] is the program; argv is permuted as rte_eal_init does) and makes
 * this process's first door. Once a process. --proc-type of the arguments must fit the role: the
 * primary role needs a primary EAL (-EPERM). -EALREADY, -EINVAL, -ENOMEM, or what rte_eal_init said.
 * A test without hugepages or root gives "--no-huge --no-shconf --no-pci -m 64".
 */
int shim_dpdk_open(int argc, char **argv, enum shim_role role, unsigned int proc_id,
	struct shim **out);

/* Another door of a process whose EAL runs, for another of its threads. -ENOMEM, -EPERM as above. */
int shim_dpdk_door(enum shim_role role, unsigned int proc_id, struct shim **out);

/*
 * Ends a door. The one of shim_dpdk_open stops and closes every port if it is the primary's, and then
 * ends the EAL: close the others first. s may be NULL.
 */
void shim_dpdk_close(struct shim *s);

#endif

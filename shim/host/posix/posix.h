/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The posix backend (SHM-6): real processes over one region of POSIX shared memory, without root or
 * hugepages. Rings are the real rte_ring code in that memory; ports come in pairs, 2k and 2k + 1,
 * whose queues are crossed: what 2k sends on queue q arrives on queue q of 2k + 1.
 */
#ifndef NONIC_SHIM_HOST_POSIX_H
#define NONIC_SHIM_HOST_POSIX_H

#include "../ops.h"

struct posix_opts {
	const char *bed;        /* the region is /dev/shm/nonic-BED; letters, digits, - and _ */
	size_t size;            /* bytes of the region; 0: 32 MB */
	unsigned int pairs;     /* pairs of ports, up to SHIM_MAX_PORTS / 2 */
	unsigned int queues;    /* each way, up to 16; 0: 4 */
	unsigned int ring_size; /* slots of a queue, a power of two; 0: 1024 */
};

/*
 * Makes the bed and its primary's door. A region that a dead creator left is replaced; -EEXIST if its
 * creator lives. -EINVAL, -ENAMETOOLONG, -ENOMEM, -EADDRINUSE (no address left for one more bed).
 * The queue from port P's transmit queue Q is also the ring named "portPtxQ" (shim_ring_lookup).
 */
int posix_shim_create(const struct posix_opts *o, uint32_t proc_id, struct shim **out);

/*
 * Another process's door. -ENOENT, -ESTALE (its creator is dead), -EPROTO (not a region of ours, or of
 * another layout), -EPERM (role primary: there is one), -EADDRINUSE, -ENOMEM, -ENAMETOOLONG, -EINVAL.
 */
int posix_shim_attach(const char *bed, enum shim_role role, uint32_t proc_id, struct shim **out);

/* Another door of a process that has one, for another of its threads. -ENOMEM, -EPERM (primary). */
int posix_shim_door(struct shim *s, enum shim_role role, uint32_t proc_id, struct shim **out);

/*
 * Ends a door; with a process's last one its mapping goes, and with the creator's first one the bed's
 * name. Buffers and zones are not touched: they are the bed's. s may be NULL.
 */
void posix_shim_close(struct shim *s);

#endif

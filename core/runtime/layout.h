/* SPDX-License-Identifier: BSD-3-Clause */
/* Who polls what: processes, lcores and queues as the configuration lays them out. Pure. */
#ifndef NONIC_RUNTIME_LAYOUT_H
#define NONIC_RUNTIME_LAYOUT_H

#include "../config/config.h"
#include "../mtu/mtu.h"

#define LAYOUT_SIDE 31u /* control blocks of a side; CTL_MAX_PROCS is 64, the last one is the master's */

/* proc_id of the first worker: with primary_slim=1 proc 0 is the primary and has an lcore of its own. */
static inline unsigned int
layout_first_proc(const struct nonic_config *cfg)
{
	return cfg->primary_slim ? 1 : 0;
}

/* Number of workers; their proc_ids follow one another. */
static inline unsigned int
layout_nb_workers(const struct nonic_config *cfg)
{
	unsigned int first = layout_first_proc(cfg);

	return cfg->nb_lcores > first ? cfg->nb_lcores - first : 0;
}

static inline enum mtu_mode
layout_mtu_mode(const struct nonic_config *cfg)
{
	if (!cfg->mtu_enable)
		return MTU_MODE_OFF;
	return cfg->mbuf_mode == MBUF_SCATTER ? MTU_MODE_SCATTER : MTU_MODE_LARGE;
}

/* The EAL's --file-prefix of this configuration, as config_eal_args gives it ("rte" is the EAL's own default). */
void layout_file_prefix(const struct nonic_config *cfg, char *buf, size_t n);

/*
 * The ring that carries frames from one queue of a port to another one (packet dispatcher, shared ARP and ND). SP/SC: its ends are the
 * workers that poll the two queues. nonic_dq_P_F_T
 */
void layout_ring_name(uint16_t port, unsigned int from, unsigned int to, char name[SHIM_NAME_MAX]);

/* Generations: sides that have workers. */
static inline unsigned int
layout_sides(const struct nonic_config *cfg)
{
	return cfg->graceful_reload ? 2 : 1;
}

/*
 * Rings and tables of generations; lane: the worker's index, proc_id - first (the queue's index too, where every worker polls every port);
 * side: that of the consumer (drain: frames for its stack) or of the producer (relay: frames for the port). All rings are SP/SC: the
 * other end is the worker of the same lane on the other side.
 */
void layout_drain_name(uint16_t port, unsigned int lane, unsigned int side, char name[SHIM_NAME_MAX]); /* nonic_dr_P_L_S */
void layout_relay_name(uint16_t port, unsigned int lane, unsigned int side, char name[SHIM_NAME_MAX]); /* nonic_rl_P_L_S */
void layout_pub_name(unsigned int lane, unsigned int side, char name[SHIM_NAME_MAX]);                  /* nonic_pub_L_S */
/* Index of a worker's control block: side 1 (graceful_reload=1 only) has the upper ones. */
static inline unsigned int
layout_ctl_index(unsigned int proc_id, unsigned int side)
{
	return 1 + proc_id + side * LAYOUT_SIDE;
}
/* EAL lcore ids: primary 0, workers 1 .. 62 and 64 .. 125 by side, master and tools 127 (they touch no pool). */

#endif

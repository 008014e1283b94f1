/* SPDX-License-Identifier: BSD-3-Clause */
/* Who polls what: processes, lcores and queues as the configuration lays them out. Pure. */
#ifndef NONIC_RUNTIME_LAYOUT_H
#define NONIC_RUNTIME_LAYOUT_H

#include "../config/config.h"
#include "../mtu/mtu.h"

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

/* The ring that carries frames to another worker's queue of a port (packet dispatcher, shared ARP and ND). */
void layout_ring_name(uint16_t port, unsigned int queue, char name[SHIM_NAME_MAX]);

#endif

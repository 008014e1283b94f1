/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may read of the configuration it runs with, under F-Stack's names. */
#ifndef NONIC_FF_CONFIG_H
#define NONIC_FF_CONFIG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DPDK_MAX_LCORE 128
#define MAX_PKT_BURST 32
#define BURST_TX_DRAIN_US 100

struct ff_config {
	const char *filename;
	struct {
		int nb_channel, memory, no_huge;
		int nb_procs;  /* bits of lcore_mask */
		int proc_id;
		int promiscuous, nb_vdev, nb_bond, numa_on, tso, vlan_strip, symmetric_rss;
		unsigned int idle_sleep, pkt_tx_delay;
		uint16_t proc_lcore[DPDK_MAX_LCORE];
		int nb_ports;
		uint16_t max_portid;
		uint16_t portid_list[32];
	} dpdk;
	struct {
		int level;
	} log;
	struct {
		long physmem;
		int hz, fd_reserve, mem_size;
	} freebsd;
};

/* Of the calling thread's instance; all zero before ff_init. */
const struct ff_config *ff_config_current(void);
#define ff_global_cfg (*ff_config_current())

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain types of the door: what both bindings (dpdk, host) and everybody behind them agree on. */
#ifndef NONIC_SHIM_TYPES_H
#define NONIC_SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shim;      /* one process's (or simulated process's) door; see shim.h */
struct shim_pool; /* a pool of packet buffers; an rte_mempool behind the dpdk binding */
struct rte_mbuf;
struct rte_ring;

/* Log levels, numbered as F-Stack and DPDK number them (1 is the most severe). */
enum shim_log_level {
	SHIM_LOG_EMERG = 1,
	SHIM_LOG_ALERT,
	SHIM_LOG_CRIT,
	SHIM_LOG_ERR,
	SHIM_LOG_WARNING,
	SHIM_LOG_NOTICE,
	SHIM_LOG_INFO,
	SHIM_LOG_DEBUG,
};

/* Who may call the device: only the primary configures ports; a worker polls the queues it owns. */
enum shim_role {
	SHIM_ROLE_PRIMARY = 0,
	SHIM_ROLE_WORKER = 1,
	SHIM_ROLE_OBSERVER = 2, /* attaches to look at zones; owns no queue, touches no pool */
};

/*
 * Names a process for ever: a pid alone can be reused, pid and start time together can not.
 * start_time is the kernel's (field 22 of /proc/PID/stat) or the simulator's own.
 */
struct shim_proc {
	uint32_t pid;
	uint32_t proc_id; /* F-Stack's --proc-id */
	uint64_t start_time;
};

enum shim_order {
	SHIM_RELAXED = 0, /* the values are the compiler's __ATOMIC_ constants */
	SHIM_ACQUIRE = 2,
	SHIM_RELEASE = 3,
	SHIM_ACQ_REL = 4,
	SHIM_SEQ_CST = 5,
};

enum shim_ring_flags {
	SHIM_RING_SP_SC = 0,
	SHIM_RING_MP_SC = 1,
};

enum shim_ring_side {
	SHIM_RING_PRODUCER = 0,
	SHIM_RING_CONSUMER = 1,
};

#define SHIM_NAME_MAX 26     /* zone, ring and pool names, with the zero: DPDK's limit for a pool */
#define SHIM_MAX_PORTS 32
#define SHIM_MAX_QUEUES 64
#define SHIM_RSS_KEY_MAX 52
#define SHIM_RETA_MAX 2048
#define SHIM_HEADROOM 128    /* RTE_PKTMBUF_HEADROOM */

/*
 * One process's end of a ring that it shares with processes which may write anything into it (shim_ring_attach). In the process's own
 * memory: what the ring was made as, and where the sides stand that are this process's.
 */
struct shim_ring_end {
	struct rte_ring *r;      /* NULL: none */
	const char *wrong;       /* NULL: it is sound; else what is not, and nothing goes through it any more */
	uint32_t count;          /* as it was made */
	uint32_t at[2];          /* by enum shim_ring_side, from shim_ring_succeed on */
	uint64_t bad;            /* places that held no buffer of a ring's; they were left out */
	const char *bad_why;     /* the first of these: why, and its slot */
	uint32_t bad_slot;
	bool said_wrong, said_bad; /* the caller's own: it has reported it */
	char name[SHIM_NAME_MAX];
};

/* Offload bits; equal to DPDK's RTE_ETH_{RX,TX}_OFFLOAD_* (asserted in shim/dpdk). */
#define SHIM_RX_VLAN_STRIP (1ull << 0)
#define SHIM_RX_IPV4_CKSUM (1ull << 1)
#define SHIM_RX_UDP_CKSUM (1ull << 2)
#define SHIM_RX_TCP_CKSUM (1ull << 3)
#define SHIM_RX_LRO (1ull << 4)
#define SHIM_RX_SCATTER (1ull << 13)
#define SHIM_RX_RSS_HASH (1ull << 19)
#define SHIM_TX_VLAN_INSERT (1ull << 0)
#define SHIM_TX_IPV4_CKSUM (1ull << 1)
#define SHIM_TX_UDP_CKSUM (1ull << 2)
#define SHIM_TX_TCP_CKSUM (1ull << 3)
#define SHIM_TX_TCP_TSO (1ull << 5)
#define SHIM_TX_MULTI_SEGS (1ull << 15)

/* What a port is able to do, and how it is configured now. Sizes in bytes. */
struct shim_port_info {
	char driver[32];     /* "net_tap", "sim", ... */
	uint8_t mac[6];
	bool started;
	uint16_t min_mtu, max_mtu;
	uint32_t min_rx_bufsize;  /* smallest buffer the port can receive into */
	uint32_t max_rx_bufsize;  /* largest part of one buffer the port can fill */
	uint32_t max_rx_pktlen;   /* largest frame, with header and FCS */
	uint16_t max_rx_queues, max_tx_queues;
	uint16_t nb_rx_queues, nb_tx_queues; /* configured; 0 before shim_port_configure */
	uint64_t rx_offloads, tx_offloads;   /* SHIM_RX_x, SHIM_TX_x it is able to do */
	uint64_t rx_enabled, tx_enabled;     /* those that are configured */
	uint16_t reta_size;       /* 0: the port has no RSS table */
	uint8_t rss_key_size;     /* 0, 40 or 52 */
	int16_t socket_id;        /* NUMA socket, -1 unknown */
};

struct shim_port_conf {
	uint16_t nb_rx_queues, nb_tx_queues;
	uint16_t nb_rx_desc, nb_tx_desc; /* 0: 512 */
	uint16_t mtu;
	uint64_t rx_offloads, tx_offloads;
	bool rss;                 /* spread over the rx queues by RSS, if the port has it */
	const uint8_t *rss_key;   /* NULL: the driver's own */
	uint8_t rss_key_len;
	struct shim_pool *pool;   /* receive buffers of every queue */
};

struct shim_port_stats {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
	uint64_t rx_missed;  /* dropped by the port: no descriptor */
	uint64_t rx_nombuf;  /* dropped by the port: no buffer */
	uint64_t rx_errors, tx_errors;
};

struct shim_port_link {
	bool up;
	bool full_duplex;
	uint32_t speed_mbps; /* UINT32_MAX: unknown */
};

#endif

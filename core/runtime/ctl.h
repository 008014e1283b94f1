/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of the runtime: the directory and one control block per process. Fixed width, offsets only, one writer per word;
 * a reader treats everything in it as hostile (bounds first). The `nonic` tools attach as observers, read counters without disturbing the
 * worker, and post requests (arp, route, ifconfig, mtu, stop) that the owner answers in its own loop.
 */
#ifndef NONIC_RUNTIME_CTL_H
#define NONIC_RUNTIME_CTL_H

#include "../../shim/shim.h"
#include "../stack/stack.h"

#define CTL_MAGIC 0x6e6f6e6963637430ull /* "nonicct0" */
#define CTL_LAYOUT_VERSION 1
#define CTL_DIR_ZONE "nonic_dir"
#define CTL_POOL "nonic_pool"
#define CTL_MAX_PROCS 64
#define CTL_TEXT 8192

/* The directory; written once by the primary before any worker starts (state words excepted). */
struct ctl_dir {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t nb_workers;
	uint64_t boot_id;            /* random, new for each primary */
	uint8_t device_digest[32];   /* CFG-6 */
	struct stack_secrets secrets;
	struct shim_proc primary;
	uint64_t ready;              /* 1 when complete: release-stored last */
};

enum ctl_op { CTL_NONE, CTL_PING, CTL_STOP, CTL_MTU_SET, CTL_ARP_LIST, CTL_ROUTE_LIST, CTL_ROUTE_ADD, CTL_ROUTE_DEL, CTL_IFCONFIG, CTL_NDP_LIST };

/* One per process: [0] the primary, [1 + proc_id] a worker. Zone "nonic_ctl_N". */
struct ctl_block {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t state;              /* 0 free, 1 starting, 2 running, 3 stopping; owner writes */
	uint64_t boot_id;
	struct shim_proc owner;
	uint64_t heartbeat;          /* +1 every turn; owner writes */
	uint64_t turns, idle_turns, cycles_busy, cycles_idle;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, rx_dropped, tx_dropped;
	uint64_t pool_size, pool_avail;
	uint64_t drops[256];         /* by enum stack_drop; owner writes, once per turn that changed something */
	/* one request at a time: client takes `lock` by CAS from 0 to its pid, fills op and args, bumps `request`; the owner
	 * answers into result and text, then stores the number into `reply` with release. */
	uint32_t lock, op;
	uint32_t request, reply;
	int32_t result;              /* 0 or negative errno */
	uint32_t text_len;
	char args[1024];             /* op's arguments, zero-terminated words */
	char text[CTL_TEXT];         /* answer: JSON object */
};

/* Attaches to block index; checks magic, version, boot id, bounds. -ENOENT, -EPROTO. */
int ctl_attach(struct shim *s, unsigned int index, struct ctl_block **out);
int ctl_dir_attach(struct shim *s, struct ctl_dir **out);
/* Posts a request and waits for the answer at most timeout_ms. text may be NULL. -ETIMEDOUT (names no one: caller does), -EBUSY. A lock left by
 * a dead client is broken. */
int ctl_call(struct shim *s, struct ctl_block *b, enum ctl_op op, const char *args, size_t args_len, char *text, size_t text_len,
	unsigned int timeout_ms);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One MTU, three views (MTU-1): the stack's if_mtu, the port's MTU, the capacity of a buffer. Pure arithmetic, plus
 * the one function that changes a port's MTU at run time (MTU-5). Sizes in bytes.
 */
#ifndef NONIC_MTU_MTU_H
#define NONIC_MTU_MTU_H

#include "../../shim/shim.h"
#include "limits.h"

enum mtu_mode { MTU_MODE_OFF, MTU_MODE_LARGE, MTU_MODE_SCATTER };

/* Pool data room for max_mtu: 0 with *room, -ERANGE when it would pass UINT16_MAX. OFF and SCATTER: 2176. */
int mtu_data_room(enum mtu_mode mode, uint16_t max_mtu, uint16_t *room);
/* Frame of an MTU as the port counts it: mtu + 14 + 8 + 4. */
static inline uint32_t
mtu_frame_len(uint16_t mtu)
{
	return (uint32_t)mtu + MTU_L2_OVERHEAD;
}
/* Can this port carry mtu with these buffers? 0; -ERANGE (min_mtu/max_mtu), -EMSGSIZE (max_rx_pktlen, buffer or max_rx_bufsize),
 * -ENOTSUP (scatter without RX_SCATTER and TX_MULTI_SEGS). why (size n) receives a sentence with both numbers. */
int mtu_check_port(const struct shim_port_info *info, enum mtu_mode mode, uint16_t mtu, uint16_t data_room,
	char *why, size_t n);
/* Do the three views agree? 0, or -EINVAL with a sentence. */
int mtu_check_views(uint16_t if_mtu, uint16_t port_mtu, uint16_t data_room, enum mtu_mode mode, char *why, size_t n);

/* How the caller's pollers are held still during a change; each returns 0 or -errno (-ETIMEDOUT). */
struct mtu_quiesce {
	int (*park)(void *ctx);   /* all pollers of the port have stopped touching it */
	int (*drain)(void *ctx);  /* what was queued for sending has left */
	void (*resume)(void *ctx);
	void *ctx;
};
enum mtu_result {
	MTU_CHANGED,        /* the new MTU is in force and read back */
	MTU_UNCHANGED,      /* refused or rolled back: old MTU, port running; *err says why */
	MTU_PORT_FAILED,    /* the roll-back failed too: the port may be down; *err is the first cause, *rollback_err the second */
};
/*
 * Runtime change of the port (primary only): set_mtu; on -EBUSY park, drain, stop, set, read back, start, restore RSS
 * (key, table) and promiscuous mode. Every return code is checked; every failure rolls back (MTU-5).
 */
enum mtu_result mtu_change_port(struct shim *s, uint16_t port, uint16_t mtu, const struct mtu_quiesce *q, int *err,
	int *rollback_err);
/* DPDK's negative errno to a positive BSD (= Linux here for those) errno, the one place for it (MTU-7). */
int mtu_errno(int neg);

#endif

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

/* Pool data room for max_mtu, headroom included: 0 with *room, -ERANGE when it would pass UINT16_MAX (MTU-2). OFF and
 * SCATTER: 2176, whatever max_mtu is (MTU-3). */
int mtu_data_room(enum mtu_mode mode, uint16_t max_mtu, uint16_t *room);
/* The longest frame of an MTU: mtu + 14 + 8 + 4. What a buffer must hold in mode `large`. */
static inline uint32_t
mtu_frame_len(uint16_t mtu)
{
	return (uint32_t)mtu + MTU_L2_OVERHEAD;
}

/*
 * May anybody ask for this MTU? 68 to 1500 always, up to max_mtu with MTU support (MTU-3). 0, or -EINVAL with a sentence
 * in why (size n; may be NULL with n 0).
 */
int mtu_check_request(enum mtu_mode mode, uint16_t max_mtu, uint32_t mtu, char *why, size_t n);
/*
 * Can this port carry mtu with buffers of data_room? 0; -ERANGE (the port's min_mtu and max_mtu), -EMSGSIZE (frame over
 * max_rx_pktlen, counted as a port counts it: mtu + 18; frame over a buffer or over max_rx_bufsize, mode `scatter` apart;
 * buffer under min_rx_bufsize), -ENOTSUP (scatter without RX_SCATTER and TX_MULTI_SEGS). why (size n) receives a sentence
 * with both numbers (MTU-2).
 */
int mtu_check_port(const struct shim_port_info *info, enum mtu_mode mode, uint16_t mtu, uint16_t data_room,
	char *why, size_t n);
/* Do the three views agree (MTU-1)? 0, or -EINVAL with a sentence. */
int mtu_check_views(uint16_t if_mtu, uint16_t port_mtu, uint16_t data_room, enum mtu_mode mode, char *why, size_t n);

/* How the caller's pollers are held still during a change; each returns 0 or -errno (-ETIMEDOUT). */
struct mtu_quiesce {
	int (*park)(void *ctx);   /* all pollers of the port have stopped touching it */
	int (*drain)(void *ctx);  /* what was queued for sending has left */
	void (*resume)(void *ctx); /* also after a failed park: whoever has parked goes on */
	void *ctx;
};
enum mtu_result {
	MTU_CHANGED,        /* the new MTU is in force and read back */
	MTU_UNCHANGED,      /* refused or rolled back: old MTU, port as it was; *err says why */
	MTU_PORT_FAILED,    /* the roll-back failed too: *err is the first cause, *rollback_err the second */
};
/*
 * Runtime change of the port (primary only): set_mtu, read back; on -EBUSY park, drain, stop, set, read back, start,
 * restore RSS (key, table) and promiscuous mode, resume. Every return code is checked; every failure rolls back
 * (MTU-5). *err and *rollback_err are 0 or negative errno (-EIO: another value was read back than set; -EBUSY: the port
 * must stop and q is NULL). After MTU_PORT_FAILED the pollers are resumed only if the port runs; else they stay parked,
 * and the caller takes the port out of their loops before it resumes them. One call at a time for a port.
 */
enum mtu_result mtu_change_port(struct shim *s, uint16_t port, uint16_t mtu, const struct mtu_quiesce *q, int *err,
	int *rollback_err);
/*
 * Negative errno of the door to a positive errno for an application, the one place for it (MTU-7): 0, EINVAL (also for
 * ERANGE, EMSGSIZE), EOPNOTSUPP (ENOTSUP, ENOSYS), EBUSY, ENODEV, EPERM, ENOMEM, ETIMEDOUT; EIO for the rest. The numbers
 * are Linux's; core/api turns none of them further.
 */
int mtu_errno(int neg);

#endif

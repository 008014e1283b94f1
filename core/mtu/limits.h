/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of MTUs and buffers, in bytes; apart from mtu.h for those who need no door. */
#ifndef NONIC_MTU_LIMITS_H
#define NONIC_MTU_LIMITS_H

#define MTU_MIN 68
#define MTU_DEFAULT 1500
#define MTU_JUMBO_DEFAULT 9000
#define MTU_L2_OVERHEAD 26      /* Ethernet 14, two VLAN tags 8, FCS 4 */
#define MTU_PORT_OVERHEAD 18     /* Ethernet 14, FCS 4: what DPDK counts where a driver says no more */
#define MTU_DATA_ROOM_ALIGN 64
#define MTU_DATA_ROOM_DEFAULT 2176 /* 128 + 2048: what mtu_enable=0 uses (MTU-3) */
#define MTU_LARGE_MAX 65318     /* the largest max_mtu of mode `large` (MTU-2) */

#endif

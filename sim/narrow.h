/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A narrow place in a path: passes frames between its two ends, and does with packets over its MTU what a router does:
 * fragments IPv4 without don't-fragment, answers the others with fragmentation-needed or packet-too-big (RFC 1191,
 * RFC 8201) in the name of a router on the way.
 */
#ifndef NONIC_SIM_NARROW_H
#define NONIC_SIM_NARROW_H

#include "world.h"

struct sim_narrow {
	struct sim_end end[2];     /* to be wired */
	uint16_t mtu;              /* may be changed at any time */
	uint32_t router4_be;       /* whom the errors come from */
	uint8_t router6[16];
	uint64_t passed, fragmented, too_big;
};

void sim_narrow_init(struct sim_narrow *n, uint16_t mtu, uint32_t router4_be, const uint8_t router6[16]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short ways for the plain UDP datagram, through all layers in one function: from a received frame to the socket's
 * queue, and from a socket's payload to the frame. They take only what the layers themselves would pass on untouched, and
 * do to it what the layers would do, byte for byte and count for count; everything else they hand to the layers as it
 * came, for all their checks, errors and counters.
 */
#ifndef NONIC_STACK_FLAT_FLAT_H
#define NONIC_STACK_FLAT_FLAT_H

#include "../socket/socket_priv.h"

/* Is m one buffer that nobody else refers to? Both counts stand side by side. */
static inline bool
flat_alone(const struct rte_mbuf *m)
{
	uint32_t both;

	_Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + 2, "side by side");
	memcpy(&both, (const char *)m + offsetof(struct rte_mbuf, refcnt), sizeof(both));
	return both == 0x00010001;
}

/* From eth_input: one frame, counted as received already. Takes m: to a socket, or to eth_input_any. */
void flat_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);
/*
 * m: payload from so, which may send now, to dst (NULL: its peer), with no option but the socket's own. tos is what the
 * socket wants for dst's family. Takes m: it is on its way, or socket_output_any's. Returns what that returns.
 */
int flat_output(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos, struct rte_mbuf *m);

#endif

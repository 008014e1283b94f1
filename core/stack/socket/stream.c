/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream sockets: what TCP tells them. */
#include "socket_priv.h"

void
socket_tcp_event(struct stack *s, struct socket *so, uint32_t events)
{
	if (!list_empty(&so->f.watches))
		sfile_wake(s, &so->f, events);
}

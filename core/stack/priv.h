/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of struct stack; included by core/stack only (and by tests that look inside). */
#ifndef NONIC_STACK_PRIV_H
#define NONIC_STACK_PRIV_H

#include "../base/bytes.h"
#include "../base/csum.h"
#include "../base/hash.h"
#include "ip/ip4.h"
#include "ip/ip6.h"
#include "ip/route.h"
#include "link/eth.h"
#include "link/neigh.h"
#include "link/netif.h"
#include "socket/socket.h"
#include "stack.h"
#include "tcp/tcp.h"
#include "timer.h"
#include "udp/udp.h"

struct pmtu_cache;

struct stack {
	struct stack_config cfg;
	struct shim *shim;
	struct shim_pool *pool;
	uint64_t now_ns;
	struct timer_wheel wheel;
	unsigned int nb_ifs;
	struct netif *ifs[STACK_MAX_IFS];
	struct neigh_table neigh;
	struct route_table routes;
	struct pmtu_cache *pmtu;
	struct ip_loop loop;
	struct ip4_state *ip4;
	struct ip6_state *ip6;
	struct udp_state *udp;
	struct tcp_state *tcp;
	struct socket_table *sockets;
	bool shedding;              /* STK-9: below the low-water mark, with hysteresis */
	bool shed_known;            /* the pool was read since the last poll */
	uint64_t drops[STACK_DROP_COUNT];
};

/* May a path that was kept still be used? */
static inline bool
ip_path_valid(const struct stack *s, const struct ip_path *path)
{
	return path->nif != NULL && path->route_gen == s->routes.gen &&
		(path->neigh == NULL || path->neigh->gen == path->neigh_gen);
}

/* Drops m (NULL: there was none) for reason r: counts on the stack (and on nif when given), frees. Takes m. */
void stack_drop(struct stack *s, struct netif *nif, enum stack_drop r, struct rte_mbuf *m);

static inline void
stack_count(struct stack *s, enum stack_drop r)
{
	s->drops[r]++;
}

/* A unicast datagram between these two, for whoever keeps a list of flows (PUB-2). */
static inline void
stack_udp_flow(struct stack *s, int family, const union ip_addr *remote, uint16_t rport_be, const union ip_addr *local,
	uint16_t lport_be)
{
	if (unlikely(s->cfg.udp_flow != NULL))
		s->cfg.udp_flow(s->cfg.udp_flow_ctx, family, remote, rport_be, local, lport_be);
}

/* An empty buffer from the stack's pool with `headroom` 128, stamped (REL-18), or NULL (counted NO_BUFFER). */
struct rte_mbuf *stack_buf(struct stack *s);
/* A deep copy as shim_buf_copy makes it from the stack's pool, stamped, or NULL (not counted). */
struct rte_mbuf *stack_copy(struct stack *s, const struct rte_mbuf *m, uint32_t off, uint32_t len);
/*
 * Is new work to be shed (STK-9)? From below the low-water mark until a quarter more than it is free again.
 * Reads the pool at most once a poll.
 */
bool stack_shed(struct stack *s);

#endif

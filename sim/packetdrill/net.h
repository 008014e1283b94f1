/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One bare stack on a door of the simulator, with a clock that stands still between events: what scripts run against.
 * Frames are
 * handed in and collected as IP packets; neighbours are known beforehand. What does not concern scripts (neighbour
 * discovery, group
 * reports) is not collected.
 */
#ifndef NONIC_SIM_PACKETDRILL_NET_H
#define NONIC_SIM_PACKETDRILL_NET_H

#include "../../core/stack/stack.h"
#include "../../shim/host/sim/machine.h"

#define PD_IP_MAX 65535u
#define PD_QUEUE_MAX 65536u    /* packets that wait to be expected */

struct pd_net_conf {
	uint8_t family;            /* ADDR_INET, ADDR_INET6: of the packets */
	union ip_addr local, remote, gateway;
	uint8_t prefix;            /* of local's network */
	uint16_t mtu;
	uint64_t seed;
};

/* A packet that the stack has sent. */
struct pd_sent {
	struct pd_sent *next;
	uint64_t at_ns;            /* script time: 0 when the script began */
	uint32_t len;
	uint8_t ip[];
};

struct pd_net {
	struct pd_net_conf conf;
	struct sim_env env;
	struct sim_machine *machine;
	struct sim_door *door;
	struct shim *shim;
	struct shim_pool *pool;
	struct stack *stack;
	struct netif *nif;
	uint64_t world_ns, begin_ns;
	struct pd_sent *head, **tail;
	unsigned int queued, taken; /* taken: packets collected so far */
	char why[160];             /* the first thing that must not be, or "" */
};

/* 0, or -errno with a sentence in n->why; n is to be closed in any case. n stays where it is. */
int pd_net_open(struct pd_net *n, const struct pd_net_conf *c);
/* Everything is freed. False: buffers did not come home, or the stack did what it must not: n->why. */
bool pd_net_close(struct pd_net *n);
/* Script time. */
uint64_t pd_net_now(const struct pd_net *n);
/* An IP packet arrives now. */
void pd_net_inject(struct pd_net *n, const uint8_t *ip, uint32_t len);
/* What calls have put on their way is sent: after each call into the stack. */
void pd_net_flush(struct pd_net *n);
/*
 * Time goes on to the stack's next timer or to until_ns (script time), whichever is first, and what is due then
 * happens.
 */
void pd_net_step(struct pd_net *n, uint64_t until_ns);
/* Takes the oldest packet out of the queue: to be freed. NULL: none. */
struct pd_sent *pd_net_pop(struct pd_net *n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP's tables: ports, endpoints (address and port) and connected pairs. */
#ifndef NONIC_STACK_UDP_PRIV_H
#define NONIC_STACK_UDP_PRIV_H

#include "../priv.h"

#define UDP_PATHS 256 /* direct-mapped cache of paths for sockets that answer many peers */

/* Chained, power of two, doubled when there are more nodes than chains; a failed doubling is harmless. */
struct udp_hash {
	struct udp_node **v;
	uint32_t mask, count;
};

/* Everything bound to one local port; exists while anything is. */
struct udp_port {
	struct udp_node node;
	uint16_t port_be;
	uint32_t nb_conn;     /* connected pcbs: 0 saves the look-up */
	uint32_t nb_specific; /* endpoints with an address: likewise */
	struct udp_ep *wild4, *wild6;
	struct list pcbs;
};

/* The sockets that receive on one (address, port), connected ones excepted. */
struct udp_ep {
	struct udp_node node; /* in the table when addr is not any */
	union ip_addr addr;
	struct netif *nif;    /* scope, or NULL */
	uint16_t port_be;
	uint8_t family;
	uint32_t n, cap, nb_reuseport, nb_v6only;
	struct udp_pcb **v;   /* oldest first */
};

struct udp_path {
	struct ip_path path;
	union ip_addr want_src;
	struct netif *want_nif;
};

struct udp_state {
	struct udp_hash ports, eps, conns;
	struct siphash_key key, port_key;
	uint64_t next_ephemeral;
	uint16_t first, last;
	struct udp_path paths[UDP_PATHS];
};

/* Where the path to dst is in the cache. */
static inline unsigned int
udp_path_slot(const union ip_addr *dst)
{
	uint64_t x = (dst->q[0] ^ dst->q[1]) * 0x9e3779b97f4a7c15ull;

	return (unsigned int)(x >> 32) % UDP_PATHS;
}

/* A socket for the packet and its flow, or NULL. */
struct udp_pcb *udp_lookup(struct stack *s, const struct ip_rx *rx, uint16_t sport_be, uint16_t dport_be);
/* Local programs choose ports, peers do not: mixing with the secret is enough here. */
static inline uint64_t
udp_port_hash(const struct udp_state *u, uint16_t port_be)
{
	return (port_be ^ u->key.k0) * 0x9e3779b97f4a7c15ull >> 32;
}
/* What is bound to a local port, or NULL. */
static inline struct udp_port *
udp_port_find(const struct udp_state *u, uint16_t port_be)
{
	struct udp_node *n = u->ports.v[udp_port_hash(u, port_be) & u->ports.mask];

	while (n != NULL && ((struct udp_port *)n)->port_be != port_be)
		n = n->next;
	return (struct udp_port *)n;
}
struct udp_pcb *udp_conn_find(const struct udp_state *u, int family, const union ip_addr *local,
	uint16_t lport_be, const union ip_addr *remote, uint16_t rport_be, const struct netif *nif);
/* p is connected (local, remote, ports set): in or out of the table. */
void udp_conn_insert(struct stack *s, struct udp_pcb *p);
void udp_conn_remove(struct stack *s, struct udp_pcb *p);
/* p is bound and not connected: in or out of its endpoint. -ENOMEM. */
int udp_ep_join(struct stack *s, struct udp_pcb *p);
void udp_ep_leave(struct stack *s, struct udp_pcb *p);
/* p->lport_be is set: p belongs to its port. -ENOMEM. */
int udp_port_join(struct stack *s, struct udp_pcb *p);
void udp_port_leave(struct stack *s, struct udp_pcb *p);

int udp_hash_init(struct stack *s, struct udp_hash *h, uint32_t size);
void udp_hash_release(struct stack *s, struct udp_hash *h);

/* Binds an unbound pcb to its address (any, as a rule) and a free port. -EAGAIN: none; -ENOMEM. */
int udp_autobind(struct stack *s, struct udp_pcb *p, const union ip_addr *remote, uint16_t rport_be);
/* What "any" as a destination means: an address of this host. -ENETUNREACH. */
int udp_this_host(struct stack *s, int family, union ip_addr *dst);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768, RFC 8200 8.1): demultiplexing and output. Sockets own their struct udp_pcb. */
#ifndef NONIC_STACK_UDP_UDP_H
#define NONIC_STACK_UDP_UDP_H

#include "../ip/ip.h"

#define UDP_HLEN 8
#define UDP_PORT_FIRST 10000 /* FreeBSD's net.inet.ip.portrange.first and .last */
#define UDP_PORT_LAST 65535

struct socket;
struct udp_state;
struct udp_port;
struct udp_ep;

/* A node of one of the keyed hash tables; the hash is kept so that growing needs no key. */
struct udp_node {
	struct udp_node *next;
	uint64_t hash;
};

/*
 * Protocol control block, embedded in struct socket; all zero but so and family is a fresh one. Ports in
 * network order. family is that of the addresses in use: a dual-stack socket with a v4-mapped address has
 * ADDR_INET. Fields above the line are udp's; those below are set by the socket before it binds or sends.
 */
struct udp_pcb {
	struct udp_node conn;          /* table of connected sockets; first member */
	struct list on_port;           /* every bound pcb of a port, oldest first */
	struct udp_port *port;         /* NULL: not bound */
	struct udp_ep *ep;             /* endpoint it receives through while it is not connected */
	uint32_t ep_slot;
	bool bound, connected;
	bool port_locked, addr_locked; /* chosen by bind: disconnecting keeps them */
	union ip_addr local, remote;   /* any: wildcard / not connected */
	uint16_t lport_be, rport_be;
	uint8_t family;                /* ADDR_INET, ADDR_INET6 */
	struct netif *nif;             /* scope of a link-local address, else NULL */
	struct ip_path path;           /* of the peer, or of the last destination; nif NULL: none yet */
	union ip_addr path_src;        /* the source that was asked for when path was looked up */
	/* ---- */
	struct socket *so;
	bool v6only, reuseport, reuseaddr, broadcast;
	uint8_t domain;                /* ADDR_INET or ADDR_INET6: what the socket was made as */
};

/* 0, -ENOMEM. */
int udp_state_init(struct stack *s);
/* Every pcb has been unbound by its socket. */
void udp_state_release(struct stack *s);

/*
 * port 0: an ephemeral one, drawn by a keyed hash of addresses and a counter over the whole range (RFC 6056
 * 3.3.3). family is that of addr. Two sockets may share address and port when both have reuseaddr or both have
 * reuseport. 0, -EADDRINUSE, -EADDRNOTAVAIL (not an address of ours), -EINVAL (bound already), -ENOMEM.
 */
int udp_bind(struct stack *s, struct udp_pcb *p, int family, const union ip_addr *addr, uint16_t port_be,
	struct netif *nif);
/*
 * Binds when it must, then fixes the peer: only its datagrams are received. port 0 is accepted (as on Linux,
 * where programs ask that way which source address would be used); sending then fails with -EINVAL. dst any
 * means this host. 0, -EHOSTUNREACH, -ENETUNREACH, -EADDRNOTAVAIL, -EAGAIN (no port free), -EACCES (broadcast
 * without the option), -ENOMEM; on failure the pcb is as before.
 */
int udp_connect(struct stack *s, struct udp_pcb *p, int family, const union ip_addr *dst, uint16_t port_be,
	struct netif *nif);
/* Forgets the peer, and the address and port unless bind chose them. */
void udp_disconnect(struct stack *s, struct udp_pcb *p);
/* Out of every table; the pcb may be bound again, or freed. Harmless on an unbound one. */
void udp_unbind(struct stack *s, struct udp_pcb *p);

/* SO_REUSEPORT of a pcb that may be bound already. */
void udp_reuseport_set(struct udp_pcb *p, bool on);

struct udp_send_opts {
	const union ip_addr *dst; /* NULL: the connected peer */
	uint16_t port_be;
	uint8_t family;           /* of dst and src */
	const union ip_addr *src; /* IP_PKTINFO and the like; NULL: the pcb's */
	struct netif *nif;
	uint8_t ttl, mcast_ttl;   /* 0: default (64; multicast 1); ttl counts for both when set by a cmsg */
	uint8_t tos;
	bool df;                  /* never fragment: -EMSGSIZE over the path MTU */
	bool want_df;             /* don't-fragment on packets that fit (path MTU discovery), fragment others */
};
/*
 * m: payload only, one reference or many (a shared one gets its headers in a buffer of its own). Always takes m.
 * 0; -EMSGSIZE, -EDESTADDRREQ, -EINVAL (port 0), -EHOSTUNREACH, -ENETUNREACH, -ENOBUFS, -EACCES (broadcast),
 * -EADDRNOTAVAIL, -EAGAIN (no ephemeral port).
 */
int udp_output(struct stack *s, struct udp_pcb *p, const struct udp_send_opts *o, struct rte_mbuf *m);
/* The path MTU to the connected peer, or -ENOTCONN, -EHOSTUNREACH. */
int udp_path_mtu(struct stack *s, struct udp_pcb *p);

/* Would a datagram from remote to local find a socket? (DSP-8: else the frame that was forwarded here goes back.) */
bool udp_has_receiver(struct stack *s, int family, const union ip_addr *local, uint16_t lport_be, const union ip_addr *remote,
	uint16_t rport_be);

/* Ephemeral ports, host order, in either order as on FreeBSD (set one by one, they may cross). -EINVAL: 0. */
int udp_port_range_set(struct stack *s, uint16_t first, uint16_t last);
void udp_port_range_get(const struct stack *s, uint16_t *first, uint16_t *last);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768, RFC 8200 8.1): demultiplexing and output. Sockets own their struct udp_pcb. */
#ifndef NONIC_STACK_UDP_UDP_H
#define NONIC_STACK_UDP_UDP_H

#include "../ip/ip.h"

struct socket;
struct udp_state;

/* Protocol control block, embedded in struct socket. Ports in network order. */
struct udp_pcb {
	struct list bucket;
	struct socket *so;
	union ip_addr local, remote;   /* any: wildcard / not connected */
	uint16_t lport_be, rport_be;
	uint8_t family;                /* ADDR_INET, ADDR_INET6 */
	bool v6only;
	bool bound, connected, reuseport, reuseaddr;
	uint32_t reuse_seq;            /* order among sockets that share the port */
	struct netif *nif;             /* scope of a link-local address, else NULL */
	struct ip_path path;           /* of the last destination; nif NULL: none yet */
};

int udp_state_init(struct stack *s);
void udp_state_release(struct stack *s);
/* port 0: an ephemeral one (RFC 6056 algorithm 3). -EADDRINUSE, -EADDRNOTAVAIL, -EINVAL (bound already). */
int udp_bind(struct stack *s, struct udp_pcb *p, const union ip_addr *addr, uint16_t port_be);
/* 0, -EHOSTUNREACH, -EADDRNOTAVAIL, -ENETUNREACH; dst any disconnects (RFC: POSIX connect). */
int udp_connect(struct stack *s, struct udp_pcb *p, const union ip_addr *dst, uint16_t port_be);
void udp_disconnect(struct stack *s, struct udp_pcb *p);
void udp_unbind(struct stack *s, struct udp_pcb *p);
struct udp_send_opts {
	const union ip_addr *dst; /* NULL: the connected peer */
	uint16_t port_be;
	const union ip_addr *src; /* IP_PKTINFO and the like; NULL: the pcb's */
	struct netif *nif;
	uint8_t ttl, tos;         /* 0: default */
	bool df;
};
/* m: payload only. Always takes m. Bytes sent are the caller's length; 0 or -EMSGSIZE, -ENOTCONN/-EDESTADDRREQ, -EHOSTUNREACH, -ENOBUFS, -EACCES (broadcast). */
int udp_output(struct stack *s, struct udp_pcb *p, const struct udp_send_opts *o, struct rte_mbuf *m);

#endif

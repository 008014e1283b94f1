/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct stack: one network stack (STK-1). Everything hangs off the instance; there are no globals. It is
 * driven from outside: frames by stack_input, time by stack_poll, output by the interface's transmit hook.
 * One instance belongs to one thread; two instances share nothing.
 *
 * Time is ns on the clock of the door; the stack never reads it: the last stack_poll says what time it is.
 */
#ifndef NONIC_STACK_STACK_H
#define NONIC_STACK_STACK_H

#include "../../shim/shim.h"
#include "addr.h"
#include "drops.h"

struct stack;
struct netif;

/* Secrets that generations share (DESIGN "Shared memory"); from shim_entropy. */
struct stack_secrets {
	uint64_t table[2];   /* keyed hash of demultiplexing tables */
	uint64_t isn[2];     /* RFC 6528 */
	uint64_t cookie[2];  /* SYN cookies */
	uint64_t ts[2];      /* timestamp offsets */
	uint64_t port[2];    /* RFC 6056 ephemeral ports */
	uint64_t ip_id[2];   /* IPv4 and fragment identification */
};

typedef void stack_udp_flow_fn(void *ctx, int family, const union ip_addr *remote, uint16_t rport_be,
	const union ip_addr *local, uint16_t lport_be);

struct stack_config {
	struct shim *shim;          /* outlives the stack */
	struct shim_pool *pool;     /* buffers for what the stack itself sends; outlives the stack */
	struct stack_secrets secrets;
	uint32_t max_sockets;       /* descriptors; 0: 65536 */
	uint32_t max_neighbours;    /* of both families together; 0: NEIGH_MAX */
	int fd_reserve;             /* first descriptor; F-Stack's [freebsd.boot] fd_reserve */
	uint32_t buf_low_watermark; /* STK-9: shed new work below this many free buffers; 0: never */
	/*
	 * Every UDP datagram that came for a socket (after all checks, whether the socket had room or not) or that was sent, unicast only: who
	 * talks to whom, ports in network order (PUB-2). Must not call into the stack. NULL: nobody wants to know.
	 */
	stack_udp_flow_fn *udp_flow;
	void *udp_flow_ctx;
	uint32_t buf_mark;          /* what buffers that the stack takes from the pool are stamped with (REL-18); 0: nothing */
	bool forwarding_errors;     /* unused addresses answer nothing; false is a host (no forwarding) */
};

#define STACK_MAX_IFS 64
#define NETIF_MAX_ADDR4 65  /* 1 + F-Stack's 64 VIPs */
#define NETIF_MAX_ADDR6 80  /* link-local, configured, 64 VIPs, autoconfigured */
#define NETIF_TX_BATCH 64

/*
 * Takes n frames (Ethernet header first, one chain each) and returns how many it took, from the front; the
 * stack counts and frees the rest. Called when the interface's batch is full and by stack_flush. It must not
 * call into the same stack: what it receives at once has to wait until it has returned.
 */
typedef unsigned int netif_tx_fn(void *ctx, struct rte_mbuf **m, unsigned int n);

struct netif_config {
	char name[16];            /* "f-stack-0" */
	uint16_t port;            /* the door's port number; informative */
	uint8_t mac[6];
	uint16_t mtu;             /* L3 MTU, 68 .. 65535 */
	uint16_t vlan;            /* 0: untagged; else 802.1Q id of a virtual interface over `parent` */
	struct netif *parent;     /* with vlan: the interface of the port; its tx hook sends the frames */
	uint64_t tx_offloads;     /* SHIM_TX_x the port does for us; the rest is done in software (STK-4) */
	netif_tx_fn *tx;
	void *tx_ctx;
	bool accept_ra;           /* SLAAC and default routers from router advertisements */
	bool no_link_local;       /* do not make fe80::/64 from the MAC */
	uint8_t dad_transmits;    /* 0: addresses are usable at once; default by the caller: 1 */
};

/* 0; -ENOMEM, -EINVAL (no shim, no pool). The stack's time starts at the door's last sample. */
int stack_create(const struct stack_config *cfg, struct stack **out);
/* Closes every socket, drops every queued packet: all buffers are back in their pool. s may be NULL. */
void stack_destroy(struct stack *s);

/*
 * 0 with *out the interface (owned by the stack, up), -ENOSPC, -ENOMEM, -EINVAL (name, MAC, MTU, VLAN id, no tx
 * hook), -EEXIST (name or VLAN taken). A VLAN interface's MTU is cut to its parent's.
 */
int stack_if_add(struct stack *s, const struct netif_config *cfg, struct netif **out);
struct netif *stack_if_by_name(struct stack *s, const char *name);
struct netif *stack_if_by_index(struct stack *s, unsigned int index); /* 1 .. ; NULL */

/* Addresses. prefix_len 0..32 / 0..128. -EEXIST, -ENOSPC, -EINVAL (martian, multicast), -ENOENT. */
int stack_addr4_add(struct stack *s, struct netif *nif, uint32_t addr_be, uint8_t prefix_len,
	uint32_t broadcast_be /* 0: computed */);
int stack_addr4_del(struct stack *s, struct netif *nif, uint32_t addr_be);
int stack_addr6_add(struct stack *s, struct netif *nif, const union ip_addr *addr, uint8_t prefix_len);
int stack_addr6_del(struct stack *s, struct netif *nif, const union ip_addr *addr);

/*
 * Static routes; family ADDR_INET or ADDR_INET6, gateway NULL: on link through nif. nif may be NULL with a
 * gateway that a connected prefix covers. -EEXIST, -ENOENT, -EHOSTUNREACH (gateway not on link), -ENOSPC.
 */
int stack_route_add(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len,
	const union ip_addr *gateway, struct netif *nif);
int stack_route_del(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len);

/*
 * MTU of the interface in software: tells every protocol (MTU-6). VLAN interfaces over it are cut to it. -EINVAL
 * below 68 (IPv6 is off below 1280), or above the parent's MTU for a VLAN interface.
 */
int stack_if_mtu_set(struct stack *s, struct netif *nif, uint16_t mtu);

/*
 * n received frames for nif (the port's untagged interface; VLAN interfaces are found from the tag, in the
 * frame or stripped into vlan_tci). Takes every buffer.
 */
void stack_input(struct stack *s, struct netif *nif, struct rte_mbuf **m, unsigned int n);
/* It is now_ns (monotonic, never backwards: asserted): fires timers. */
void stack_poll(struct stack *s, uint64_t now_ns);
/* When stack_poll should be called next; UINT64_MAX when no timer is pending. */
uint64_t stack_next_deadline(const struct stack *s);
/* Hands every batched frame to its interface's tx hook. */
void stack_flush(struct stack *s);

/* Counters: reading is free of side effects. */
uint64_t stack_drops(const struct stack *s, enum stack_drop r);
struct shim *stack_shim(const struct stack *s);
uint64_t stack_now(const struct stack *s);

#endif

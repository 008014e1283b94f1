/* SPDX-License-Identifier: BSD-3-Clause */
/* What the upper layers see of IPv4 and IPv6: received packets, paths, output, errors. */
#ifndef NONIC_STACK_IP_IP_H
#define NONIC_STACK_IP_IP_H

#include "../link/neigh.h"

#define IPPROTO_ICMP4 1
#define IP_PROTO_TCP 6
#define IP_PROTO_UDP 17
#define IP_PROTO_ICMP6 58

enum ip_rx_flags {
	IP_RX_MULTICAST = 1 << 0,
	IP_RX_BROADCAST = 1 << 1,
	IP_RX_REASSEMBLED = 1 << 2,
	IP_RX_L4_CSUM_OK = 1 << 3,   /* the port, or our own arithmetic, checked the L4 checksum */
};

/*
 * A received packet on its way up. The buffer's data starts at the IP header; l4_off is the offset of the
 * upper-layer header (after options, extension headers), l4_len its length with payload. The buffer is trimmed to
 * l4_off + l4_len. The first l4_off + min(l4_len, 20) bytes are contiguous in the first segment.
 */
struct ip_rx {
	struct netif *nif;
	union ip_addr src, dst;
	uint8_t family;  /* ADDR_INET, ADDR_INET6 */
	uint8_t proto;
	uint8_t ttl, tos;
	uint16_t flags;  /* enum ip_rx_flags */
	uint16_t l4_off;
	uint32_t l4_len;
};

/*
 * How to reach a destination: filled by ip_path_lookup, may be kept by a connected socket and is checked with
 * ip_path_valid before each use.
 */
struct ip_path {
	struct netif *nif;
	struct neigh *neigh;   /* of the next hop; NULL for multicast, broadcast and loopback */
	union ip_addr src, dst;
	uint32_t route_gen;    /* stack's routing generation at look-up */
	uint32_t neigh_gen;
	uint16_t mtu;          /* path MTU: min(link, learned) */
	uint8_t family;
	uint8_t flags;         /* enum ip_path_flags */
	uint8_t dst_mac[ETH_ALEN]; /* multicast and broadcast */
	uint64_t id_hash;      /* keyed hash of src and dst (ip_id_hash): where identifications start (RFC 6864, RFC 7739) */
};

enum ip_path_flags {
	IP_PATH_MULTICAST = 1 << 0,
	IP_PATH_BROADCAST = 1 << 1,
	IP_PATH_LOCAL = 1 << 2,  /* to one of our own addresses: loops back inside the stack (ip_loop) */
};

#define IP_LOOP_MAX 256

/*
 * Packets from ourselves to ourselves, with their IP header, waiting for ip_loop_drain. Part of struct stack; all
 * zero is the empty queue. `running` tells ip4_input and ip6_input that the packet did not come from a wire, so that
 * our own address as its source is in order.
 */
struct ip_loop {
	unsigned int head, n;
	bool running;
	struct {
		struct rte_mbuf *m;
		struct netif *nif;
		uint8_t family;
	} q[IP_LOOP_MAX];
};

/*
 * src NULL or any: chosen (v4: the interface's address of the matching prefix; v6: RFC 6724). nif: restricts
 * to an interface (link-local scope, multicast), NULL otherwise.
 * 0; -EHOSTUNREACH (no route), -EADDRNOTAVAIL (no source; src not ours), -ENOBUFS (neighbour table full).
 */
int ip_path_lookup(struct stack *s, int family, const union ip_addr *dst, const union ip_addr *src,
	struct netif *nif, struct ip_path *path);

struct ip_tx {
	uint8_t proto;
	uint8_t ttl;          /* 0: the interface's default (64) */
	uint8_t tos;          /* traffic class */
	bool df;              /* IPv4: set don't-fragment, fail with -EMSGSIZE over the path MTU; IPv6: do not fragment */
	uint32_t flow_label;  /* IPv6, 20 bits */
	bool router_alert;    /* MLD: hop-by-hop option */
};

/*
 * Sends m (data at the upper-layer header, checksum complete or left to the port by ol_flags) along path;
 * prepends the IP header, fragments when it must. Always takes m. 0, -EMSGSIZE, -ENOBUFS, -ENETDOWN.
 */
int ip_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m);
/*
 * Fills the L4 checksum (csum_off bytes into the L4 header) of m for path: by the port where it can and the
 * packet will not be fragmented (ol_flags, pseudo-header sum in the field), else in software (STK-4). UDP: 0 becomes 0xffff.
 */
void ip_l4_csum(struct stack *s, const struct ip_path *path, uint8_t proto, uint16_t csum_off,
	struct rte_mbuf *m);

/* The keyed hash for path->id_hash (secrets.ip_id). */
uint64_t ip_id_hash(const struct stack *s, const union ip_addr *src, const union ip_addr *dst);

/*
 * Queues m (data at the IP header) to be received by ourselves on nif: what ip4_output and ip6_output do with a
 * IP_PATH_LOCAL path. A checksum left to the port (ol_flags) is finished here. Takes m. 0, -ENOBUFS (counted).
 */
int ip_loop_put(struct stack *s, struct netif *nif, uint8_t family, uint16_t l4_off, struct rte_mbuf *m);
/* Receives what is queued now (not what that makes queue): stack_poll and stack_input call it at their end. */
void ip_loop_drain(struct stack *s);
/* Frees what is queued (stack_destroy). */
void ip_loop_release(struct stack *s);
/* Is anything queued? Then the stack's next deadline is now. */
bool ip_loop_pending(const struct stack *s);

/* From eth_input; m at the IP header; take m. */
void ip4_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);
void ip6_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);

/* Errors an upper layer asks for; copy what they quote from m, do not take it. Rate limited; never about errors,
 * multicast, broadcast or later fragments (RFC 1122 3.2.2, RFC 4443 2.4). */
enum ip_unreach { IP_UNREACH_PORT, IP_UNREACH_HOST, IP_UNREACH_PROTO, IP_UNREACH_ADMIN };
void ip_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what, const struct rte_mbuf *m);

/*
 * An ICMP error about a packet we sent, handed to the upper layer named by its quote. src and dst are as in the
 * quoted packet (src is ours). l4 points at the quoted L4 header, at least 8 bytes.
 */
struct ip_error {
	union ip_addr src, dst;
	struct netif *nif;
	uint8_t family, proto;
	uint8_t type, code;  /* as on the wire */
	int err;             /* errno it means to a socket: ECONNREFUSED, EHOSTUNREACH, EMSGSIZE, ... */
	bool hard;           /* may end a connection attempt (RFC 1122 4.2.3.9) */
	uint16_t mtu;        /* EMSGSIZE: the new path MTU */
	const uint8_t *l4;
	uint16_t l4_len;
};
void udp_error(struct stack *s, const struct ip_error *e);

/*
 * Learned path MTUs (RFC 1191, RFC 8201), aged out after 10 minutes; never below 576 (v4) or 1280 (v6), which only a forger
 * would say. Bounded: the one learned longest ago makes room. Every change makes cached paths look up again.
 */
#define PMTU_MAX 1024
#define PMTU_AGE_NS (600ull * 1000000000)
#define PMTU_MIN4 576
#define PMTU_MIN6 1280
int pmtu_init(struct stack *s); /* 0 or -ENOMEM */
void pmtu_release(struct stack *s);
/* The smaller of link_mtu and what was learned for dst. */
uint16_t pmtu_get(struct stack *s, int family, const union ip_addr *dst, uint16_t link_mtu);
/* false: refused (too small, not smaller than what is known, no route to dst). */
bool pmtu_learn(struct stack *s, int family, const union ip_addr *dst, uint16_t mtu);

/*
 * Help with chains (ip_buf.c). Those that return a buffer take m and return it or its substitute; NULL: there was
 * none, m is freed and NO_BUFFER counted. The callers guarantee n <= packet length, n <= 1024.
 */
/* The first n bytes are contiguous in the first segment, and if `write`, ours alone to change. */
struct rte_mbuf *ip_pullup(struct stack *s, struct rte_mbuf *m, uint32_t n, bool write);
/* Room for n bytes of header in front (not initialised), in a buffer that is ours alone. n <= 64. */
struct rte_mbuf *ip_prepend(struct stack *s, struct rte_mbuf *m, uint16_t n);
/* Cuts the packet to its first len bytes; segments left empty are freed. */
void ip_trim(struct stack *s, struct rte_mbuf *m, uint32_t len);
/* Removes the first n bytes, over segment bounds; the first segment stays (perhaps empty). */
void ip_cut_head(struct rte_mbuf *m, uint32_t n);
/* The same, and segments left empty in front are freed: returns the new first one. */
struct rte_mbuf *ip_strip(struct stack *s, struct rte_mbuf *m, uint32_t n);
/* One segment for interfaces without SHIM_TX_MULTI_SEGS: m itself when it is one or the interface takes chains.
 * NULL also when one buffer of the pool is too small for it. */
struct rte_mbuf *ip_flatten(struct stack *s, const struct netif *nif, struct rte_mbuf *m);
/* Does in software the L4 checksum that ip_l4_csum left to the port; clears the request. l4_off: where L4 starts. */
void ip_l4_csum_finish(struct rte_mbuf *m, uint16_t l4_off);
/* What ol_flags says about the memory of a buffer; everything else is about the packet. */
#define IP_MEMORY_FLAGS (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)
/* Forgets what the receiving port or an earlier sender said of m, before m is sent (keeps what owns its memory). */
static inline void
ip_clear_offloads(struct rte_mbuf *m)
{
	m->ol_flags &= IP_MEMORY_FLAGS;
	m->tx_offload = 0;
	m->vlan_tci = 0;
	m->packet_type = 0;
}

/* Upper layers, called by ip4/ip6 input. Take m. */
void udp_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m);

#endif

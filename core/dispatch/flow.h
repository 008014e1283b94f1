/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow keys: who talks to whom, seen from this host (DSP-5). One function makes the key from a received frame, one
 * from the addresses a stack knows, and both give the same bytes for the same flow: no second copy of this rule
 * exists anywhere. Pure.
 */
#ifndef NONIC_DISPATCH_FLOW_H
#define NONIC_DISPATCH_FLOW_H

#include "../../shim/shim.h"
#include "../base/hash.h"
#include "../stack/addr.h"

/*
 * 40 bytes, no padding, compared and hashed as bytes. Addresses and ports in network order; an IPv4 address is the
 * first four bytes of its field, the rest zero. Protocol and family are part of the key: the same ports under TCP and
 * UDP, over IPv4 and IPv6, are different flows.
 */
struct flow_key {
	uint8_t remote[16], local[16];
	uint16_t rport_be, lport_be;
	uint8_t proto;               /* IPPROTO_UDP, IPPROTO_TCP */
	uint8_t family;              /* ADDR_INET, ADDR_INET6 */
	uint16_t zero;
};

/* What a frame is to the dispatcher (DSP-6). */
enum flow_kind {
	FLOW_OTHER,       /* not IP, cut short, malformed, another protocol: the owner's stack judges it */
	FLOW_NEIGHBOUR,   /* ARP, or ICMPv6 133 .. 137: both generations */
	FLOW_GROUP,       /* multicast or broadcast destination (of IP, or of Ethernet): the owner */
	FLOW_PACKET,      /* TCP or UDP with its ports: key */
	FLOW_FIRST_FRAG,  /* first fragment: frag, and key if its ports are there (key_valid) */
	FLOW_LATER_FRAG,  /* another fragment: frag only */
	FLOW_ERROR,       /* ICMP error: key of the quoted packet as this host sees the flow (its source is the local side) */
	FLOW_TOO_BIG,     /* ICMP 3/4 or ICMPv6 2, key as above: both generations (DSP-8) */
};

/* The datagram a fragment belongs to: RFC 791 3.2, RFC 8200 4.5. 40 bytes, no padding. */
struct flow_frag {
	uint8_t src[16], dst[16];
	uint32_t id;                 /* as on the wire, IPv4's 16 bits in the low half */
	uint8_t proto, family;       /* proto 0 for IPv6 */
	uint16_t zero;
};

struct flow_info {
	enum flow_kind kind;
	uint8_t tcp_flags;           /* FLOW_PACKET with IPPROTO_TCP; else 0 */
	bool key_valid;              /* FLOW_PACKET: always; else: 8 bytes of a UDP or TCP header were there */
	struct flow_key key;
	struct flow_frag frag;
};

/*
 * Classifies a frame, Ethernet header first, at most one VLAN tag in it, IPv6 extension headers walked (at most 8).
 * Looks at the first segment only, reads nothing past it, changes nothing; whatever can not be read is FLOW_OTHER.
 * Never fails.
 */
void flow_classify(const struct rte_mbuf *m, struct flow_info *out);

static inline bool
flow_key_same(const struct flow_key *a, const struct flow_key *b)
{
	uint64_t x[5], y[5];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4])) == 0;
}

/* The key of a flow that a stack knows. Ports in network order. */
void flow_key_make(struct flow_key *k, int family, uint8_t proto, const union ip_addr *remote, uint16_t rport_be,
	const union ip_addr *local, uint16_t lport_be);

/*
 * Keyed 64-bit hash (PUB-1: no flooding), SipHash-1-3 over the bytes that differ: never 0 and never 1. Same secret in
 * both generations: same value.
 */
uint64_t flow_hash(const struct siphash_key *secret, const struct flow_key *k);
/* The same of n keys. */
void flow_hash_bulk(const struct siphash_key *secret, const struct flow_key *const *k, uint64_t *hash, unsigned int n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 internals: headers, reassembly, group membership, identification, ICMP. */
#ifndef NONIC_STACK_IP_IP4_H
#define NONIC_STACK_IP_IP4_H

#include "ip.h"
#include "ip_limit.h"

#define IP4_HLEN 20
#define IP4_DF 0x4000      /* of frag, host order */
#define IP4_MF 0x2000
#define IP4_OFFMASK 0x1fff
#define IP4_ALL_HOSTS 0x010000e0u /* 224.0.0.1 in network order */
#define IP4_TTL_DEFAULT 64

/* RFC 791; every field as on the wire, at any alignment. */
struct ip4_hdr {
	uint8_t ver_ihl, tos;
	uint16_t total_len, id, frag;
	uint8_t ttl, proto;
	uint16_t csum;
	uint32_t src, dst;
} __attribute__((packed));

#define ICMP4_ECHO_REPLY 0
#define ICMP4_UNREACH 3
#define ICMP4_ECHO 8
#define ICMP4_TIME_EXCEEDED 11
#define ICMP4_PARAM 12
#define ICMP4_HLEN 8
#define ICMP4_ERROR_MAX 576     /* a whole error datagram, RFC 1812 4.3.2.3 */

#define IP4_MCAST_MAX 64        /* memberships of a stack */
#define IP4_ID_SLOTS 2048
#define IP4_OWN_BITS 1024

#define IP4_REASS_TIMEOUT_NS (30ull * 1000 * 1000 * 1000) /* RFC 791 asks 15 s, RFC 1122 3.3.2 60 to 120; this is what hosts do */

struct ip_reass;

struct ip4_member {
	struct netif *nif;
	uint32_t group;
	uint32_t refs;              /* 0: free */
};

struct ip4_state {
	/* Which addresses may be ours, by their last ten bits: no bit, not ours. Bits are only ever set. */
	uint64_t own[IP4_OWN_BITS / 64];
	uint16_t id[IP4_ID_SLOTS];
	struct ip_limit limit;      /* of ICMP errors sent */
	struct ip_reass *reass;
	struct ip4_member member[IP4_MCAST_MAX];
};

int ip4_init(struct stack *s);     /* allocates s->ip4; 0, -ENOMEM */
void ip4_release(struct stack *s); /* frees fragments, the state; harmless without ip4_init */
int ip4_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx, struct rte_mbuf *m);
int ip4_path(struct stack *s, const union ip_addr *dst, const union ip_addr *src, struct netif *nif,
	struct ip_path *path);
void ip4_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what, const struct rte_mbuf *m);
/* Address added (already in nif) or about to go: connected route, announcement. 0; -ENOSPC (routing table full). */
int ip4_addr_changed(struct stack *s, struct netif *nif, const struct netif_addr4 *a, bool added);

/*
 * Multicast groups (IP_ADD_MEMBERSHIP), counted: the same group may be joined several times. nif NULL: the
 * interface multicast to the group goes out by. 0, -EINVAL (not a group), -ENOBUFS (IP4_MCAST_MAX), -ENODEV (no
 * interface); leave: -EADDRNOTAVAIL (not joined). 224.0.0.1 is always received. Sends no IGMP.
 */
int ip4_mcast_join(struct stack *s, struct netif *nif, uint32_t group_be);
int ip4_mcast_leave(struct stack *s, struct netif *nif, uint32_t group_be);
bool ip4_mcast_member(const struct stack *s, const struct netif *nif, uint32_t group_be);

/* Where a destination leads (ip4.c): to us by unicast (0), by group or broadcast (IP_RX_x), or not to us (-1). */
int ip4_classify(const struct stack *s, const struct netif *nif, uint32_t dst_be);
/* Is addr a broadcast address of nif (255.255.255.255 or a subnet's)? */
static inline bool
ip4_is_broadcast(const struct netif *nif, uint32_t addr_be)
{
	unsigned int i;

	if (addr_be == UINT32_MAX)
		return true;
	for (i = 0; i < nif->nb_addr4; i++) {
		/* RFC 3021: a /31 has no broadcast address. */
		if (nif->addr4[i].broadcast == addr_be && nif->addr4[i].prefix_len <= 30)
			return true;
	}
	return false;
}
/* May addr be one of ours? false is certain, true asks for stack_owns4. */
static inline bool
ip4_may_own(const struct ip4_state *st, uint32_t addr_be)
{
	uint32_t i = __builtin_bswap32(addr_be) % IP4_OWN_BITS;

	return (st->own[i / 64] >> (i % 64) & 1) != 0;
}

/* Walks options (ip4_opts.c), n bytes after the fixed header. 0, or the drop reason. RFC 791 3.1, RFC 7126. */
int ip4_options_check(const uint8_t *p, unsigned int n);

/*
 * A fragment, its header checked, trimmed, its header contiguous (ip4_reass.c). Takes m. Returns the whole datagram,
 * data at its IP header (total length and fragment fields rewritten, checksum valid), or NULL.
 */
struct rte_mbuf *ip4_reass_input(struct stack *s, struct netif *nif, struct rte_mbuf *m);
int ip4_reass_init(struct stack *s);
void ip4_reass_release(struct stack *s);

/* icmp4.c. Takes m. */
void icmp4_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m);
/* Sends an error about m (data at its IP header, contiguous), if RFC 1122 3.2.2 and the rate limit let it. Copies. */
void icmp4_send_error(struct stack *s, struct netif *nif, const struct rte_mbuf *m, uint8_t type, uint8_t code);

/* The checksum field of a header of hlen bytes whose field holds 0. */
static inline uint16_t
ip4_header_csum(const struct ip4_hdr *h, unsigned int hlen)
{
	const uint8_t *p = (const uint8_t *)h;
	uint64_t sum = 0;
	uint32_t w;

	for (unsigned int i = 0; i < hlen; i += 4) {
		memcpy(&w, p + i, sizeof(w));
		sum += w;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

#endif

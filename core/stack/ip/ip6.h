/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 internals: extension headers, reassembly, neighbour discovery, autoconfiguration. */
#ifndef NONIC_STACK_IP_IP6_H
#define NONIC_STACK_IP_IP6_H

#include "ip.h"
#include "ip_limit.h"

#define IP6_HLEN 40
#define IP6_MIN_MTU 1280      /* RFC 8200 5 */
#define IP6_MAX_EXT 8         /* extension headers in one packet */
#define IP6_MAX_EXT_BYTES 512 /* and their bytes together */
#define IP6_HOP_LIMIT 64

enum ip6_next {
	IP6_NEXT_HOPOPTS = 0,
	IP6_NEXT_ROUTING = 43,
	IP6_NEXT_FRAGMENT = 44,
	IP6_NEXT_NONE = 59,
	IP6_NEXT_DSTOPTS = 60,
};

struct ip_reass;

/* Not ip6_hdr: netinet/ip6.h, which DPDK's headers bring in, has that name. */
struct ipv6_hdr {
	uint32_t vtf_be; /* version, traffic class, flow label */
	uint16_t plen_be;
	uint8_t next, hop;
	union ip_addr src, dst;
} __attribute__((packed));

/* A packet on its way through ip6_input: rx grows as headers are read. */
struct ip6_pkt {
	struct ip_rx rx;
	struct rte_mbuf *m;  /* data at the IPv6 header */
	uint16_t off;        /* of the header that `next` names */
	uint16_t next_at;    /* offset of the byte that named it: what a problem points at */
	uint8_t next;
	uint8_t count;       /* extension headers seen */
	bool fragment;       /* there was a fragment header: atomic, or reassembled */
	bool tentative;      /* the destination is an address under DAD: good for ND only */
};

#define ND_MAX_ROUTERS 8   /* per interface */
#define ND_MAX_PREFIXES 16
#define MLD_MAX_GROUPS 256

/* A multicast group that an interface listens to. Owned by mld.c. */
struct ip6_group {
	struct list link;
	union ip_addr addr;
	unsigned int refs;
	uint8_t left;     /* unsolicited reports still to send */
	bool answer;      /* a query asked for it */
	bool answer_v1;   /* the querier speaks MLDv1 */
};

struct nd_router {
	union ip_addr addr;
	uint64_t expires_ns; /* 0: slot is free */
};

struct nd_prefix {
	union ip_addr prefix;
	uint8_t len;
	uint64_t expires_ns; /* 0: slot is free; UINT64_MAX: for ever */
};

/* What IPv6 keeps for one interface. */
struct ip6_if {
	struct netif *nif;
	struct list groups;
	unsigned int nb_groups;
	struct timer mld_timer;
	struct timer ra_timer;  /* the next router or prefix to expire */
	struct nd_router routers[ND_MAX_ROUTERS];
	struct nd_prefix prefixes[ND_MAX_PREFIXES];
	uint32_t base_reachable_ms;
	bool up;
	bool adding;            /* the address being added is autoconfigured */
	uint16_t ra_mtu;        /* router's MTU option; 0: none */
	bool disabled;          /* the link-local address is a duplicate (RFC 4862 5.4.5) */
};

struct ip6_state {
	struct ip_reass *reass;
	struct ip_limit limit;
	uint64_t own[16];       /* by the last ten bits: may an address be ours? only ever set */
	uint64_t id_seed;       /* this instance's: others share the secrets, not this */
	uint64_t id_count;
	uint64_t dad_conflicts; /* other stations that use an address of ours */
	uint64_t routers_refused, prefixes_refused; /* table full */
	struct ip6_if ifs[STACK_MAX_IFS + 1]; /* by interface index */
};

/* ---- for the stack and the upper layers ------------------------------------------------------ */

/* Allocates s->ip6. 0 or -ENOMEM. */
int ip6_init(struct stack *s);
/*
 * Drops every fragment and timer, leaves every group without a word; harmless when ip6_init failed.
 */
void ip6_release(struct stack *s);
/* As ip_output, for path->family ADDR_INET6 (RFC 8200 4.5: only the source fragments). */
int ip6_output(struct stack *s, const struct ip_path *path, const struct ip_tx *tx,
		struct rte_mbuf *m);
/* As ip_path_lookup; a link-local or link-scope multicast destination needs nif (RFC 4007 6). */
int ip6_path(struct stack *s, const union ip_addr *dst, const union ip_addr *src, struct netif *nif,
	struct ip_path *path);
/* As ip_send_unreach: destination unreachable, or parameter problem code 1 for IP_UNREACH_PROTO. */
void ip6_send_unreach(struct stack *s, const struct ip_rx *rx, enum ip_unreach what,
		const struct rte_mbuf *m);
/*
 * Interface came up: link-local address, DAD, router solicitation. MTU changed: mtu6, routes, ND.
 */
void ip6_netif_up(struct stack *s, struct netif *nif);
void ip6_netif_mtu(struct stack *s, struct netif *nif);
/* Stops DAD and router discovery, forgets routers, prefixes and what they configured. */
void ip6_netif_down(struct stack *s, struct netif *nif);
/*
 * New entry (addr, prefix_len, nif are set): makes its connected route (an autoconfigured one has
 * none of its own), joins its solicited-node group, starts DAD; sets state and lifetimes.
 */
void ip6_addr_start(struct stack *s, struct netif_addr6 *a);
/* The entry is about to go: undoes all of that. Its place in nif->addr6 is the caller's to free. */
void ip6_addr_stop(struct stack *s, struct netif_addr6 *a);

/* ---- ip6.c ----------------------------------------------------------------------------------- */

/* Drops p's buffer for reason r. */
void ip6_drop(struct stack *s, struct ip6_pkt *p, enum stack_drop r);
struct ip6_if *ip6_if(struct stack *s, const struct netif *nif);

static inline unsigned int
ip6_own_bit(const union ip_addr *a)
{
	return (a->v6[14] << 8 | a->v6[15]) & 1023;
}

/* May a be one of ours? false is certain, true asks for stack_owns6 or netif_find6. */
static inline bool
ip6_may_own(const struct ip6_state *st, const union ip_addr *a)
{
	unsigned int i = ip6_own_bit(a);

	return (st->own[i / 64] >> (i % 64) & 1) != 0;
}

/* ---- ip6_ext.c ------------------------------------------------------------------------------- */

/*
 * Reads extension headers from p->off on until an upper layer is named (RFC 8200 4). true: p->next,
 * p->off and p->rx.l4_off say where it is. false: the packet is gone (dropped, answered, or kept
 * for reassembly).
 */
bool ip6_ext_walk(struct stack *s, struct ip6_pkt *p);
/*
 * Finds the upper layer in n contiguous bytes that start at an IPv6 header and may be cut short.
 * true: *proto and *off name it. *frag_off is the fragment offset seen (0: none, or a first
 * fragment). false: it is not there.
 */
bool ip6_find_l4(const uint8_t *p, uint32_t n, uint8_t *proto, uint32_t *off, uint32_t *frag_off);
/* Is the upper layer's whole header within the n bytes of a first fragment (RFC 7112)? */
bool ip6_chain_whole(const uint8_t *p, uint32_t n);

/* ---- ip6_reass.c ----------------------------------------------------------------------------- */

/*
 * p->off is at a fragment header. true: p is whole now (an atomic fragment, or the last piece came)
 * and p->next, p->off continue behind the fragment header. false: kept or dropped.
 */
bool ip6_reass_input(struct stack *s, struct ip6_pkt *p);
int ip6_reass_init(struct stack *s);
void ip6_reass_release(struct stack *s);

/* ---- ip6_output.c ---------------------------------------------------------------------------- */

/* A path to a group or a station without neighbour cache: dst_mac is the group's address, or mac
 * when given. */
void ip6_path_direct(struct ip_path *path, struct netif *nif, const union ip_addr *dst,
	const union ip_addr *src, const uint8_t *mac);

/* ---- ip6_src.c ------------------------------------------------------------------------------- */

/* The best source address of nif (then of any other interface) for dst (RFC 6724 5), or NULL. */
const struct netif_addr6 *ip6_src_select(
		struct stack *s, const struct netif *nif, const union ip_addr *dst);
/* Scope as in RFC 4291 2.7: 1 interface, 2 link, 5 site, 14 global. */
unsigned int ip6_scope(const union ip_addr *a);
/* Bits that a and b have in common from the left. */
unsigned int ip6_common_bits(const union ip_addr *a, const union ip_addr *b);
/* May a packet go out with this address (preferred or deprecated)? */
static inline bool
ip6_addr_usable(const struct netif_addr6 *a)
{
	return a->state == ADDR6_PREFERRED || a->state == ADDR6_DEPRECATED;
}

/* ---- icmp6.c --------------------------------------------------------------------------------- */

enum icmp6_type {
	ICMP6_UNREACH = 1,
	ICMP6_TOO_BIG = 2,
	ICMP6_TIME = 3,
	ICMP6_PARAM = 4,
	ICMP6_ECHO = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP6_MLD_QUERY = 130,
	ICMP6_MLD_REPORT1 = 131,
	ICMP6_MLD_DONE = 132,
	ICMP6_RS = 133,
	ICMP6_RA = 134,
	ICMP6_NS = 135,
	ICMP6_NA = 136,
	ICMP6_REDIRECT = 137,
	ICMP6_MLD_REPORT2 = 143,
};

/* Takes m. */
void icmp6_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m);
/*
 * Sends an error about m (data at its IPv6 header; quoted, not taken) with all of RFC 4443 2.4;
 * true: sent. arg is the pointer or 0. later_fragment: it may be about a fragment that is not the
 * first one (RFC 8200 4.5).
 */
bool icmp6_error(struct stack *s, const struct ip_rx *rx, uint8_t type, uint8_t code, uint32_t arg,
	const struct rte_mbuf *m, bool later_fragment);
/*
 * Sends n bytes of ICMPv6 message (checksum is filled here) along path with this hop limit. 0, or
 * -ENOBUFS and such. n <= 1232.
 */
int icmp6_send(struct stack *s, const struct ip_path *path, uint8_t hop, bool router_alert,
		uint8_t *msg, uint32_t n);

/* ---- nd.c ------------------------------------------------------------------------------------ */

/* One neighbour discovery message; p: n contiguous bytes, checksum checked. false: dropped for
 * *why. */
bool nd_input(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
		enum stack_drop *why);

/* Options of a message, checked (RFC 4861 4.6): NULL when absent. Each points at its type byte. */
struct nd_opts {
	const uint8_t *slla, *tlla, *mtu;
	const uint8_t *prefix[ND_MAX_PREFIXES];
	unsigned int nb_prefix;
};
/* false: an option of length zero, or one that is cut short or has the wrong length. */
bool nd_options(const uint8_t *p, uint32_t n, struct nd_opts *o);
void nd_solicited_node(const union ip_addr *a, union ip_addr *group);
/* A neighbour advertisement for our own address a; solicited ones go to dst, others to all nodes
 * (dst NULL). */
void nd_advertise(struct stack *s, const struct netif_addr6 *a, const union ip_addr *dst);
/* Probe of DAD: a solicitation for target from the unspecified address. */
void nd_probe(struct stack *s, struct netif *nif, const union ip_addr *target);

/* ---- slaac.c, slaac_ra.c --------------------------------------------------------------------- */

/* A checked router advertisement (p, n as in nd_input). */
void slaac_ra(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
		const struct nd_opts *o);
/* Another station has a's address too. */
void slaac_conflict(struct stack *s, struct netif_addr6 *a);
/* The router stopped being one (RFC 4861 7.2.5). */
void slaac_router_gone(struct stack *s, struct netif *nif, const union ip_addr *router);
/* Forgets all that routers said on nif: routes, prefixes, addresses. */
void slaac_forget(struct stack *s, struct netif *nif);
/* Sets a usable address's state and timer after its lifetimes. */
void slaac_lifetimes(struct stack *s, struct netif_addr6 *a);
void slaac_timer(struct timer *t, void *arg, uint64_t now_ns);
void slaac_eui64(const uint8_t mac[ETH_ALEN], union ip_addr *a); /* fills the low 64 bits */

/* ---- mld.c ----------------------------------------------------------------------------------- */

/* Joins a group (counted); reports it (RFC 3810). 0, -ENOMEM, -ENOSPC, -EINVAL (not multicast). */
int mld_join(struct stack *s, struct netif *nif, const union ip_addr *group);
/* -ENOENT. */
int mld_leave(struct stack *s, struct netif *nif, const union ip_addr *group);
bool mld_joined(struct stack *s, const struct netif *nif, const union ip_addr *group);
/* A query (p: n contiguous bytes). */
bool mld_query(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
		enum stack_drop *why);
/* Forgets every group of nif without a word. */
void mld_release(struct stack *s, struct netif *nif);
/* Reports every group again: the interface is up, or its link-local address may be used now. */
void mld_refresh(struct stack *s, struct netif *nif);
void mld_timer(struct timer *t, void *arg, uint64_t now_ns);

extern const union ip_addr ip6_all_nodes, ip6_all_routers, ip6_all_mld2, ip6_any;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembly of fragments, the part IPv4 (RFC 791, 815, 1858) and IPv6 (RFC 8200 4.5, 5722) share:
 * pieces sorted by offset, overlaps, limits, time. Each family has an instance of its own, and
 * looks at its own headers.
 *
 * Any order; an exact duplicate is left out; any other overlap ends the datagram, and what still
 * comes of it is refused until its time is over. Bounded: datagrams, buffers in all and by source;
 * the oldest datagram makes room.
 */
#ifndef NONIC_STACK_IP_IP_REASS_H
#define NONIC_STACK_IP_IP_REASS_H

#include "../stack.h"

#define IP_REASS_DATAGRAMS 256  /* being put together at one time */
#define IP_REASS_PIECES 2048    /* pieces in all of them */
#define IP_REASS_PER_DATAGRAM 256
#define IP_REASS_MAX 65535      /* bytes of a datagram behind its first header */

struct ip_reass;

/* All bytes count: zero what is not used. */
struct ip_reass_key {
	union ip_addr src, dst;
	uint32_t id;
	uint16_t ifindex; /* scope of link-local addresses; else 0 */
	uint8_t proto;
	uint8_t zero;
};

struct ip_reass_config {
	uint64_t timeout_ns;
	enum stack_drop overlap, timeout, limit; /* reasons the instance counts */
	/* The time of a datagram is over. first: its first piece, header in front, or NULL; stays
	 * the instance's. */
	void (*expired)(struct stack *s, struct netif *nif, const struct rte_mbuf *first);
};

/*
 * One fragment: m with its headers in front, hlen bytes of them, then len bytes that belong at off.
 */
struct ip_reass_piece {
	struct ip_reass_key key;
	struct netif *nif;
	struct rte_mbuf *m;
	uint32_t off, len;
	uint16_t hlen;
	bool more;   /* more fragments follow */
};

enum ip_reass_result {
	IP_REASS_KEPT, /* m is the instance's */
	IP_REASS_DONE, /* p->m is the whole: the first piece's hlen header bytes (p->hlen), then
			  p->len bytes */
	IP_REASS_DUPLICATE, /* have it already; m stays the caller's */
	IP_REASS_OVERLAP,   /* or ends disagree; the others are dropped; m stays the caller's */
	IP_REASS_FULL,      /* a limit; m stays the caller's */
};

/* 0, -ENOMEM. */
int ip_reass_create(struct stack *s, const struct ip_reass_config *cfg, struct ip_reass **out);
/* Drops every piece; r may be NULL. */
void ip_reass_destroy(struct ip_reass *r);
/* p->len > 0 and p->off + p->len <= IP_REASS_MAX are the caller's business, and that all but the
 * last are multiples of 8. */
enum ip_reass_result ip_reass_add(struct ip_reass *r, struct ip_reass_piece *p);
/* Buffers held now. */
unsigned int ip_reass_held(const struct ip_reass *r);

#endif

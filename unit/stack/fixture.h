/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stack on a mock door with one interface whose frames are collected: what the stack's tests stand on. Frames
 * are built and read here with arithmetic of its own (no csum.c), so that a mistake does not confirm itself.
 *
 * The interface is f-stack-0, 02:00:00:00:00:01, 10.0.0.1/24, 2001:db8::1/64, MTU 1500; its peer is
 * 02:00:00:00:00:02, 10.0.0.2, 2001:db8::2. Teardown asserts that every buffer and every block came back.
 */
#ifndef NONIC_UNIT_STACK_FIXTURE_H
#define NONIC_UNIT_STACK_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/stack/priv.h"
#include "shim/host/mock/mock.h"

#define FX_MAC "\x02\x00\x00\x00\x00\x01"
#define FX_PEER_MAC "\x02\x00\x00\x00\x00\x02"
#define FX_BCAST_MAC "\xff\xff\xff\xff\xff\xff"
#define FX_NS 1000000000ull
#define FX_MS 1000000ull
#define FX_FRAME_MAX 16384
#define FX_TX_MAX 512

struct fx_opts {
	unsigned int bufs;       /* in the pool; 0: 1024 */
	uint16_t data_room;      /* 0: 2176 */
	uint16_t mtu;            /* 0: 1500 */
	uint64_t tx_offloads;
	uint8_t dad_transmits;   /* 0: addresses are usable at once */
	bool accept_ra, no_link_local;
	bool no_addr4, no_addr6; /* leave the interface without 10.0.0.1, 2001:db8::1 */
	uint32_t buf_low_watermark;
	uint32_t max_sockets;
	uint32_t max_neighbours;
};

struct fx {
	struct shim *shim;
	struct shim_pool *pool;
	struct stack *s;
	struct netif *nif;
	uint64_t now;            /* as the last stack_poll was told */
	unsigned int tx_room;    /* frames the hook takes before it says full; UINT32_MAX */
	unsigned int tx_calls;   /* of the hook */
	unsigned int tx_n;       /* frames collected, oldest first */
	struct rte_mbuf *tx[FX_TX_MAX];
};

/* A sent frame, read back: by fx_pop. */
struct fx_pkt {
	uint8_t b[FX_FRAME_MAX]; /* the whole frame */
	uint32_t n;
	uint64_t ol_flags;       /* of the buffer */
	uint16_t vlan_tci, nb_segs;
	uint8_t *dst_mac, *src_mac;
	uint16_t type;           /* EtherType behind a tag */
	uint16_t vlan;           /* tag in the frame: id; 0 none */
	uint8_t *l3;             /* network header (ARP, IPv4, IPv6) */
	uint32_t l3_len;         /* to the end of the frame */
	uint8_t family;          /* ADDR_INET, ADDR_INET6; 0: another type */
	union ip_addr src, dst;
	uint8_t proto, ttl, tos; /* IPv6: next header of the fixed header, hop limit, traffic class */
	uint16_t id, frag;       /* IPv4, host order */
	uint8_t *l4;             /* behind the IPv4 header with options, the IPv6 fixed header */
	uint32_t l4_len;         /* by the IP header's length field */
};

/* CMocka's setup and teardown with default options; *state is a struct fx. */
int fx_setup(void **state);
int fx_teardown(void **state);
/* NULL: defaults. Frames of starting up are thrown away; two seconds pass for it unless DAD or router discovery is on. */
struct fx *fx_new(const struct fx_opts *o);
void fx_free(struct fx *f);
/* Another interface whose frames are collected in the same place. vlan 0: a port. */
struct netif *fx_add_if(struct fx *f, const char *name, const char *mac, uint16_t vlan,
	struct netif *parent);
/* Makes the peer's addresses known for ever, so that nothing waits for ARP or ND. */
void fx_know_peer(struct fx *f);

uint32_t fx_ip4(const char *text);         /* "10.0.0.1", network order */
union ip_addr fx_a4(const char *text);
union ip_addr fx_a6(const char *text);

/* Time. Polls at every deadline on the way, and flushes; asserts that each poll makes progress. */
void fx_advance(struct fx *f, uint64_t ns);
/* One poll and flush at the present time. */
void fx_poll(struct fx *f);

/* ---- frames in: each fx_put_ writes at b and returns the number of bytes ---------------------- */

uint32_t fx_put_eth(uint8_t *b, const char *dst, const char *src, uint16_t type);
uint32_t fx_put_vlan(uint8_t *b, uint16_t tci, uint16_t type); /* what follows the two addresses and 0x8100 */
uint32_t fx_put_arp(uint8_t *b, uint16_t op, const char *smac, uint32_t sip, const char *tmac, uint32_t tip);

struct fx_ip4 {
	uint32_t src, dst;     /* 0: the peer, us */
	uint8_t proto, ttl, tos; /* ttl 0: 64 */
	uint16_t id, frag;     /* host order; frag with flags */
	const void *opts;      /* multiple of 4 bytes */
	uint32_t opts_len;
};
/* Header with checksum, for len bytes behind it. */
uint32_t fx_put_ip4(uint8_t *b, const struct fx_ip4 *h, uint32_t len);

struct fx_ip6 {
	union ip_addr src, dst; /* any: the peer, us (unspec_src for a real ::) */
	bool unspec_src;
	uint8_t next, hop, tc;  /* hop 0: 64 */
	bool hop_zero;          /* a real 0 */
};
uint32_t fx_put_ip6(uint8_t *b, const struct fx_ip6 *h, uint32_t len);

/* Upper layers with checksum. rest: the second 4 bytes of the ICMP header, host order. */
uint32_t fx_put_udp(uint8_t *b, int family, const union ip_addr *src, const union ip_addr *dst,
	uint16_t sport, uint16_t dport, const void *data, uint32_t n);
uint32_t fx_put_icmp4(uint8_t *b, uint8_t type, uint8_t code, uint32_t rest, const void *data,
	uint32_t n);
uint32_t fx_put_icmp6(uint8_t *b, const union ip_addr *src, const union ip_addr *dst, uint8_t type,
	uint8_t code, uint32_t rest, const void *data, uint32_t n);

/* A buffer with these bytes in segments of seg bytes (0: as few as fit). Asserts that the pool has them. */
struct rte_mbuf *fx_buf(struct fx *f, const void *b, uint32_t n, uint32_t seg);
/* A whole frame arrives on the interface. */
void fx_inject(struct fx *f, const void *b, uint32_t n);
void fx_inject_segs(struct fx *f, const void *b, uint32_t n, uint32_t seg);
/* From the peer's MAC to ours: an IP packet with payload data. */
void fx_rx_ip4(struct fx *f, const struct fx_ip4 *h, const void *data, uint32_t n);
void fx_rx_ip6(struct fx *f, const struct fx_ip6 *h, const void *data, uint32_t n);
/* From the peer to us. */
void fx_rx_arp(struct fx *f, uint16_t op, const char *smac, uint32_t sip, const char *tmac,
	uint32_t tip);
void fx_rx_udp4(struct fx *f, uint16_t sport, uint16_t dport, const void *data, uint32_t n);
void fx_rx_udp6(struct fx *f, uint16_t sport, uint16_t dport, const void *data, uint32_t n);

/* ---- frames out ------------------------------------------------------------------------------- */

/* Flushes the stack; the oldest collected frame is read into *p and freed. false: there is none. */
bool fx_pop(struct fx *f, struct fx_pkt *p);
/* The same, but asserts that there is a frame, of this EtherType, with right checksums (IPv4 header; UDP, ICMP
 * and ICMPv6 of unfragmented packets, when the port was not asked to fill them). */
void fx_expect(struct fx *f, uint16_t type, struct fx_pkt *p);
/* Asserts an ARP packet with these fields, sent to MAC `to`. tmac NULL: not compared. */
void fx_expect_arp(struct fx *f, const char *to, uint16_t op, uint32_t sip, const char *tmac, uint32_t tip);
void fx_expect_none(struct fx *f);
unsigned int fx_tx_count(struct fx *f);    /* flushes; frames waiting to be popped */
void fx_tx_clear(struct fx *f);
/* Drops of one reason since the stack was made. */
uint64_t fx_drops(const struct fx *f, enum stack_drop r);
uint64_t fx_all_drops(const struct fx *f);

/* The Internet checksum of bytes with a start value, as two bytes in host order (0xffff: sum is right). */
uint16_t fx_sum(uint32_t start, const void *b, uint32_t n);

#endif

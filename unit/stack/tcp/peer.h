/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of TCP connections, by hand: the tests of TCP stand on a real stack (the fixture's), applications that hold control blocks, and
 * peers that write and read raw segments with arithmetic of their own.
 *
 * Numbers in peer_expect, peer_raw and so on are relative, as in packet scripts: the first byte of data of either side is 1, its SYN 0. Peers
 * of both families: each test runs with w->family ADDR_INET and ADDR_INET6.
 */
#ifndef NONIC_UNIT_STACK_TCP_PEER_H
#define NONIC_UNIT_STACK_TCP_PEER_H

#include <arpa/inet.h>
#include <sys/epoll.h>

#include "../fixture.h"
#include "core/stack/tcp/tcp.h"

enum { F = 0x01, S = 0x02, R = 0x04, P = 0x08, A = 0x10, U = 0x20, E = 0x40, C = 0x80 };

#define APPS 64
#define SEG_DATA_MAX 9216

/* Stands for a socket: what holds a control block and hears of its events. */
struct app {
	struct tcp_pcb *p;   /* NULL: free */
	uint32_t events;     /* EPOLLx since the test last cleared them */
};

struct world {
	struct fx *f;
	struct stack *s;
	int family;
	uint16_t mss;        /* what our MTU allows: 1460, 1440 */
	struct app app[APPS];
};

/* A segment, as the peer writes it or has read it; numbers are relative where peer_expect made them so, else as on the wire. */
struct seg {
	uint8_t flags;
	uint32_t seq, ack;
	uint16_t win, urg;
	uint32_t len;
	const uint8_t *data;
	uint8_t opts[40];
	uint8_t nopts;       /* bytes of opts, a multiple of 4 */
	uint8_t buf[SEG_DATA_MAX]; /* of a read one: its data */
	/* what was found in the options of a read one */
	uint16_t mss;        /* 0: none */
	int wscale;          /* -1: none */
	bool sackok, ts;
	uint32_t tsval, tsecr;
	unsigned int nsack;
	uint32_t sack[4][2]; /* absolute */
	uint8_t tos;
	uint16_t sport, dport;
};

struct peer {
	struct world *w;
	uint16_t port, lport; /* the peer's and ours, host order */
	uint32_t iss;        /* the peer's SYN */
	uint32_t irs;        /* the stack's SYN; known after peer_syn_seen */
	uint32_t nxt;        /* relative: what the peer sends next */
	uint32_t acked;      /* relative: what the peer acknowledges */
	uint16_t win;        /* the field */
	bool ts;             /* put timestamps on what is sent */
	uint32_t tsval, tsecr;
};

/* CMocka's: a world of one family, torn down with every buffer and block home. */
int tcp4_setup(void **state);
int tcp6_setup(void **state);
int tcp_teardown(void **state);
struct world *world_new(int family, const struct fx_opts *o);
void world_free(struct world *w);
/* Time passes: ms. */
void world_wait(struct world *w, uint64_t ms);
/* The stack sends nothing (but ARP, ND and MLD, which are thrown away). */
void world_quiet(struct world *w);
/* Nothing for ms. */
void world_quiet_for(struct world *w, uint64_t ms);
union ip_addr world_us(const struct world *w);
union ip_addr world_peer(const struct world *w);

/* ---- applications: control blocks held by a token ---- */

struct app *app_new(struct world *w);                        /* unbound */
struct app *app_listen(struct world *w, uint16_t port, int backlog);
struct app *app_connect(struct world *w, uint16_t port);     /* to the peer's port; asserts -EINPROGRESS */
struct app *app_accept(struct world *w, struct app *listener); /* NULL: nothing to accept */
void app_close(struct world *w, struct app *a);
void app_abort(struct world *w, struct app *a);
ssize_t app_write(struct world *w, struct app *a, uint32_t n);   /* n bytes of the pattern at stream offset 0 */
ssize_t app_write_buf(struct world *w, struct app *a, const void *b, uint32_t n, unsigned int flags);
ssize_t app_read(struct world *w, struct app *a, void *b, uint32_t n);
/* Reads and throws away all there is; the bytes. */
uint32_t app_drain(struct world *w, struct app *a);
void app_opt(struct world *w, struct app *a, enum tcp_opt o, int64_t v);
void knob(struct world *w, enum tcp_knob k, int64_t v);
uint64_t events(const struct world *w, enum tcp_event e);

/* ---- peers ---- */

/* iss is the peer's initial number. */
void peer_init(struct world *w, struct peer *p, uint16_t port, uint16_t lport, uint32_t iss);
/* A segment with absolute numbers and everything as said. */
void peer_send_abs(struct peer *p, const struct seg *s);
/* Relative numbers, window p->win, n bytes of a pattern, timestamps when agreed. */
void peer_raw(struct peer *p, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t n);
/* The next n bytes in order. */
void peer_data(struct peer *p, uint32_t n);
/* A SYN with these option bytes. */
void peer_syn(struct peer *p, uint8_t flags, const void *opts, uint8_t nopts);
/* The next TCP segment that the stack sends to any peer, numbers absolute; false: there is none. Checks its checksum. */
bool world_get(struct world *w, struct seg *s);
/* Asserts one for this peer with these flags and relative numbers (ack ignored without A, PSH always: the packet scripts look at it). */
void peer_expect(struct peer *p, uint8_t flags, uint32_t seq, uint32_t n, uint32_t ack, struct seg *s);
/* The same and throws it away. */
void peer_see(struct peer *p, uint8_t flags, uint32_t seq, uint32_t n, uint32_t ack);
/* The peer's ACK of all up to relative number ack, window p->win. */
void peer_ack(struct peer *p, uint32_t ack);

/* Whole openings, 100 ms round trip. */
#define MSS_1000 "\x02\x04\x03\xe8"
#define MSS_1000_SACK "\x02\x04\x03\xe8\x01\x01\x04\x02"
/* mss 1000, sackOK, TS 700, nop, wscale 7 */
#define OPTS_ALL "\x02\x04\x03\xe8\x04\x02\x08\x0a\x00\x00\x02\xbc\x00\x00\x00\x00\x01\x03\x03\x07"
/* Passive: SYN, SYN-ACK, ACK; the accepted connection. opts: of the SYN. p->ts is set when both sides agree. */
struct app *peer_open(struct peer *p, struct app *listener, const void *opts, uint8_t nopts);
/* With a listener of its own on port 80, closed at once; the peer is port 4000, its number 1000. */
struct app *open_plain(struct world *w, struct peer *p);
struct app *open_sack(struct world *w, struct peer *p);
/* Active: the stack connects. */
struct app *open_active(struct world *w, struct peer *p);

enum tcp_fsm fsm(const struct app *a);

/* A test for both families. */
#define T46(t) \
	{ #t "/4", t, tcp4_setup, tcp_teardown, NULL }, { #t "/6", t, tcp6_setup, tcp_teardown, NULL }
#define T4(t) { #t "/4", t, tcp4_setup, tcp_teardown, NULL }
#define T6(t) { #t "/6", t, tcp6_setup, tcp_teardown, NULL }
#define LEN(a) (sizeof(a) - 1)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The applications of scenarios, over a stack's sockets: a UDP server that answers each datagram with itself, and a
 * client that checks every answer byte by byte. They know no process and no world: init once, then turn.
 */
#ifndef NONIC_SIM_APPS_H
#define NONIC_SIM_APPS_H

#include "../core/stack/stack.h"
#include "prng.h"

#define SIM_ECHO_PORT 7
#define SIM_ECHO_MAX 9000u

struct udp_server {
	int fd4, fd6;
	uint64_t received, answered, failed; /* failed: no answer could be sent */
	/* Told of each datagram before it is answered, and may change it; may be NULL. */
	void (*served)(void *ctx, uint8_t *buf, size_t n);
	void *served_ctx;
};

/* 0 or -errno. */
int udp_server_init(struct udp_server *s, struct stack *st);
/* Answers everything that waits. */
void udp_server_turn(struct udp_server *s, struct stack *st);

struct udp_client_conf {
	uint32_t server4_be;        /* 0: no IPv4 */
	uint8_t server6[16];        /* all zero: no IPv6 */
	uint64_t seed;              /* of the contents and lengths */
	uint32_t n;                 /* datagrams in all; families alternate when there are two */
	uint32_t window;            /* not answered yet, at most */
	uint32_t min_len, max_len;  /* payload, 8 .. SIM_ECHO_MAX */
	uint64_t start_ns;          /* the first one so long after init */
	uint64_t gap_ns;            /* between two new ones */
	uint64_t timeout_ns;        /* sent again after this; 0: never */
	bool df;                    /* never fragment */
};

/* A datagram's life. */
struct udp_client_slot {
	uint64_t sent_ns;
	uint8_t state;              /* 0 not sent, 1 waits, 2 answered */
	uint8_t answers;            /* how many, up to 255 */
};

struct udp_client {
	struct udp_client_conf conf;
	int fd4, fd6;
	struct udp_client_slot *slot; /* conf.n */
	uint32_t next, low, outstanding;
	uint64_t next_send_ns, wake_ns; /* wake_ns: when turn wants to be called; UINT64_MAX: not of itself */
	uint64_t sent, resent, answered, repeated, send_errors, recv_errors;
	int last_error;             /* of a send, negative */
	char wrong[160];            /* the first answer that is not what was sent; "": none */
};

/* Before the first init: conf is copied, memory for the slots taken. -ENOMEM. The memory survives the process. */
int udp_client_prepare(struct udp_client *c, const struct udp_client_conf *conf);
void udp_client_release(struct udp_client *c);
/* Opens the sockets on st; again after a restart of the process. 0 or -errno. */
int udp_client_init(struct udp_client *c, struct stack *st);
/* now_ns: on the clock of the stack. */
void udp_client_turn(struct udp_client *c, struct stack *st, uint64_t now_ns);
/* Every datagram has been answered. */
bool udp_client_done(const struct udp_client *c);

#endif

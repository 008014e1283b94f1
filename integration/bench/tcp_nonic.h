/* SPDX-License-Identifier: BSD-3-Clause */
/* The pair of stacks that bed bench tcp measures, for its two files. */
#ifndef NONIC_BENCH_TCP_NONIC_H
#define NONIC_BENCH_TCP_NONIC_H

#include "bench_tcp.h"
#include "core/stack/socket/socket.h"
#include "core/stack/stack.h"
#include "core/stack/tcp/tcp.h"

#define NONIC_PORT 7

struct conn;

struct wire {
	struct rte_mbuf *q[BENCH_WIRE];
	unsigned int head, tail;
};

struct side {
	struct stack *stack;
	struct netif *nif;
	struct wire *out, *in;
	int ep;
};

/* What the applications on both sides are about. */
enum nonic_mode { MODE_OPENING, MODE_REQUEST, MODE_BULK, MODE_CLIENT_FIRST, MODE_SERVER_FIRST };

struct pair {
	bool copy, options;      /* the variant: calls that copy; timestamps and SACK on */
	struct side client, server;
	struct wire ab, ba;
	struct conn *conn, *peer; /* the client's ends; the server's by descriptor, for checks */
	unsigned int nb_conns;
	uint64_t now;            /* virtual */
	enum nonic_mode mode;
	void (*serve)(struct pair *p);   /* the applications' part of a turn */
	void (*collect)(struct pair *p);
	bool check, failed;
	unsigned int served;     /* requests */
	uint64_t up, accepted, closed; /* connections */
	uint64_t answers, sunk;  /* bytes */
};

int nonic_open(void *ctx);
/* Stacks without connections. -1, with a line on stderr. */
int nonic_pair_open(struct pair *p, uint32_t max_sockets);
/* -1: it was the last one and buffers are missing. */
int nonic_pair_close(struct pair *p);
/* Descriptors, or -1 with a line on stderr. */
int nonic_listen(struct pair *p, uint16_t port);
int nonic_begin(struct pair *p, uint16_t port);
/* Turns until *count is `want`; -1 when it will not be, or a call failed. */
int nonic_turn_until(struct pair *p, const uint64_t *count, uint64_t want);

/* Memory of idle connections. */
struct bench_idle {
	unsigned int n;
	double bytes;            /* of the process, one end of one connection */
	size_t control, socket, slot; /* of them: control block, socket, a place in the table */
	size_t watch;            /* not in them: an epoll entry */
};
/* n connections between two stacks, and nothing else: what they cost. -1, with a line on stderr. */
int bench_tcp_nonic_idle(unsigned int n, struct bench_idle *out);
extern const struct bench_tcp_peer bench_tcp_nonic[3];

#endif

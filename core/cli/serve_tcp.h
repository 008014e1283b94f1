/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP services of nonic serve, on the public ff_* calls of the calling thread's instance: an HTTP/1.1 responder
 * (keep-alive, pipelining; http.h says what it answers) and echo, both families, over one kqueue.
 */
#ifndef NONIC_CLI_SERVE_TCP_H
#define NONIC_CLI_SERVE_TCP_H

#include "../../shim/shim.h"
#include "../base/list.h"

#define SERVE_TCP_CONNS 100000    /* at once; more are closed as they come */
#define SERVE_TCP_CHUNK 65536     /* what one call reads or writes at most */

struct serve_tcp {
	struct shim *shim;
	int kq;
	int listener[4];              /* HTTP and echo, each for IPv4 and IPv6; -1: none */
	struct list conns, dead;
	uint32_t nb_conns, max_conns;
	uint64_t accepted, refused, requests;
	uint8_t *scratch;             /* SERVE_TCP_CHUNK: what has been read */
	uint8_t *pattern;             /* SERVE_TCP_CHUNK and a period more */
};

/* Listens; port 0: that service is off. 0, -ENOMEM, or -errno of the call that failed; nothing is left open then. */
int serve_tcp_open(struct serve_tcp *t, struct shim *s, uint16_t http_port, uint16_t echo_port);
/* Closes everything; twice is once. */
void serve_tcp_close(struct serve_tcp *t);
/* One turn of the application: takes what is ready, a bounded number of events. */
void serve_tcp_turn(struct serve_tcp *t);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The application of nonic serve: UDP echo and the DNS-shaped responder, both families, over the stack's sockets. */
#ifndef NONIC_CLI_SERVE_H
#define NONIC_CLI_SERVE_H

#include "../../shim/shim.h"
#include "../stack/socket/socket.h"

#define SERVE_STAMP 8 /* bytes */

struct serve {
	struct stack *stack;
	int echo4, echo6, dns4, dns6;   /* descriptors; -1: none */
	struct shim *shim;              /* set with a stamp */
	uint8_t stamp[SERVE_STAMP];
	uint64_t echoed, echo_failed, answered, silent;
};

/* Opens the sockets; port 0: that service is off. 0 or -errno of the first socket call that failed; nothing is left open. */
int serve_open(struct serve *sv, struct stack *s, uint16_t echo_port, uint16_t dns_port);
void serve_close(struct serve *sv);
/*
 * From here on each echo ends with who answered: 8 bytes behind the payload, generation and process id, 32 bits each in
 * network order. An echo without room for them is not sent (echo_failed).
 */
void serve_stamp(struct serve *sv, struct shim *s, uint32_t gen, uint32_t proc_id);
/* One turn of the application: answers what has arrived, a bounded number per socket. */
void serve_turn(struct serve *sv);

#endif

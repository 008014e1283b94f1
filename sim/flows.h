/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client with many UDP flows, which begin and end at different times; each has one datagram under way and checks that what comes
 * back is what it sent, stamped with the generation that answered. Knows no world: init, then turn.
 */
#ifndef NONIC_SIM_FLOWS_H
#define NONIC_SIM_FLOWS_H

#include "../core/stack/stack.h"
#include "prng.h"

#define FLOW_MAX 64u
#define FLOW_HEAD 16u /* flow, number, generation (in the answer), 0: big-endian */

struct flow {
	int fd;
	bool v6, open, over, wait;
	bool rude;                 /* closes as soon as it has sent its last one: the answer meets no socket */
	uint32_t all;              /* datagrams in all */
	uint32_t seq;              /* of the one under way, or the next */
	uint64_t next_ns;          /* begins, or sends the next one, then */
	uint64_t sent_ns, gap_ns;
	uint32_t min_len, max_len;
	uint32_t gen;              /* that answered last */
	uint32_t tries;            /* of the present datagram */
};

struct flows {
	uint32_t server4_be;
	uint8_t server6[16];
	uint64_t seed, timeout_ns; /* 0: never sent again */
	unsigned int n, nb_over;
	struct flow flow[FLOW_MAX];
	uint64_t sent, resent, answered, repeated, send_errors, errors_told;
	uint64_t wake_ns;
	uint64_t longest_ns;       /* from a datagram to its answer */
	char wrong[160];           /* the first answer that is not what was sent; "": none */
};

/* The number of the flow and of the datagram that buf is, for whoever serves it; false: it is none. */
bool flow_of(const uint8_t *buf, size_t n, uint32_t *flow, uint32_t *seq);
/* Writes the generation where the client looks for it. */
void flow_stamp(uint8_t *buf, size_t n, uint32_t gen);

/* f->n flows are filled in; 0. In each life. */
int flows_init(struct flows *f, struct stack *st);
void flows_turn(struct flows *f, struct stack *st, uint64_t now_ns);
/* Every flow has got its last answer (a rude one has sent its last). */
bool flows_over(const struct flows *f);

#endif

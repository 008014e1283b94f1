/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one script against one bare stack, in virtual time (STK-7). */
#ifndef NONIC_SIM_PACKETDRILL_RUN_H
#define NONIC_SIM_PACKETDRILL_RUN_H

#include "match.h"
#include "script.h"

enum pd_verdict { PD_PASS, PD_FAIL, PD_SKIP };

struct pd_conf {
	uint8_t family;            /* 4, 6: of the packets */
	bool mapped;               /* IPv4 packets, sockets of AF_INET6 */
	bool both;                 /* the script runs in both families: nothing in it is made for one MTU */
	enum pd_persona persona;
	bool strict;
};

struct pd_result {
	enum pd_verdict verdict;
	int line;                  /* 0: the script as a whole */
	char why[1400];            /* one line, without the line's number; "" when it passed */
	uint64_t virtual_ns;
	unsigned int packets;      /* sent by the stack */
};

void pd_run(const struct pd_script *s, const struct pd_conf *c, struct pd_result *r);

/*
 * Which families a script is to run in: its --ip_version, what it says, or both. How many (1, 2), 0 with a
 * sentence in why.
 */
unsigned int pd_families(const struct pd_script *s, struct pd_conf c[2], char *why, size_t n);
/* Whose ways a script was written for, by its settings and by the window scales it expects. */
enum pd_persona pd_persona_of(const struct pd_script *s);

#endif

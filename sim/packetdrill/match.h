/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the packet that the stack sent the one that a script expects? Pure: both are in the script's numbers. */
#ifndef NONIC_SIM_PACKETDRILL_MATCH_H
#define NONIC_SIM_PACKETDRILL_MATCH_H

#include "script.h"

enum pd_persona { PD_FREEBSD, PD_LINUX };

struct match_rules {
	enum pd_persona persona;
	bool strict;           /* options byte by byte in their order, windows and PSH exactly */
	bool strict_segments;  /* no coalescing */
};

/*
 * True, or false with the first difference in why. *part becomes true when live is only a first part of
 * what is expected: a segment that is continued by
 * the next one; match_rest says what remains to be expected.
 */
bool match_packet(const struct match_rules *r, const struct pd_packet *want, const struct pd_packet *live, bool *part,
	char *why, size_t n);
/* *want becomes what is left of it after live. */
void match_rest(struct pd_packet *want, const struct pd_packet *live);

#endif

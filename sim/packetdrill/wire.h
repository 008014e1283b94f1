/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets as bytes: building what a script sends, reading what the stack has sent. The arithmetic is its own, so that
 * a mistake of the
 * stack's does not confirm itself. Numbers here are live ones, not the script's.
 */
#ifndef NONIC_SIM_PACKETDRILL_WIRE_H
#define NONIC_SIM_PACKETDRILL_WIRE_H

#include "../../core/stack/addr.h"
#include "script.h"

struct pd_ends {
	uint8_t family;             /* ADDR_INET, ADDR_INET6 */
	union ip_addr src, dst;
};

/*
 * p, with ports and live numbers, into out (PD_IP_MAX bytes). quote: what an ICMP error quotes (an IP packet), nquote
 * bytes.
 * Its length, or 0: more than an IP packet takes.
 */
uint32_t wire_build(const struct pd_packet *p, const struct pd_ends *e, const uint8_t *quote, uint32_t nquote, uint8_t *out);
/*
 * An IP packet with nothing else around it. False with a sentence in why: it is no TCP, UDP or ICMP packet, or a
 * length or checksum is
 * wrong. An ICMP error's quoted packet is not looked into but for protocol and ports.
 */
bool wire_read(const uint8_t *ip, uint32_t len, struct pd_packet *p, struct pd_ends *e, char *why, size_t nwhy);
/*
 * What an ICMP type and its code are called, for the version: true and the numbers, or false. code may be NULL or a
 * number.
 */
bool wire_icmp_numbers(uint8_t version, const char *type, const char *code, uint8_t *type_out, uint8_t *code_out);

#endif

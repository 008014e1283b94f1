/* SPDX-License-Identifier: BSD-3-Clause */
/* A DNS-shaped responder (RFC 1035 4): one fixed record for any name. Pure; hostile input. */
#ifndef NONIC_CLI_DNS_H
#define NONIC_CLI_DNS_H

#include <stddef.h>
#include <stdint.h>

#define DNS_MAX 512 /* a UDP message without EDNS (RFC 1035 4.2.1) */

/*
 * Answers query (n bytes) into out (DNS_MAX bytes); returns the answer's length, or 0: silence. A, AAAA and TXT of
 * class IN (or ANY) get 192.0.2.53, 2001:db8::53, "nonic"; other types and classes an empty answer; an opcode other than QUERY
 * gets NOTIMP; a question that can not be read, or another number of questions than one, FORMERR with the header alone. Responses, and
 * what is shorter than a header, get silence: two responders must not talk to each other.
 */
size_t dns_answer(const uint8_t *query, size_t n, uint8_t *out);

#endif

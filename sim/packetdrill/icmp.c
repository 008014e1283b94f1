/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of ICMP types and codes, of both versions (RFC 792, 1122, 1812, 4443), as scripts spell them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

struct name {
	const char *word;
	uint8_t number;
};

static const struct name types4[] = { { "unreachable", 3 }, { "source_quench", 4 }, { "redirect", 5 }, { "time_exceeded",
	11 },
	{ "parameter_problem", 12 }, { "echo_reply", 0 }, { "echo_request", 8 }, { NULL, 0 } };
static const struct name types6[] = { { "unreachable", 1 }, { "packet_too_big", 2 }, { "time_exceeded", 3 },
	{ "parameter_problem", 4 }, { "echo_request", 128 }, { "echo_reply", 129 }, { NULL, 0 } };

static const struct name unreach4[] = { { "net", 0 }, { "host", 1 }, { "protocol", 2 }, { "proto", 2 }, { "port", 3 },
	{ "frag_needed", 4 }, { "source_route_failed", 5 }, { "net_unknown", 6 }, { "host_unknown", 7 }, { "source_host_isolated",
		8 },
	{ "net_prohibited", 9 }, { "host_prohibited", 10 }, { "net_tos", 11 }, { "net_unreachable_for_tos", 11 }, { "host_tos",
		12 },
	{ "host_unreachable_for_tos", 12 }, { "packet_filtered", 13 }, { "communication_prohibited", 13 }, { "comm_prohibited",
		13 },
	{ "admin_prohibited", 13 }, { "precedence_violation", 14 }, { "precedence_cutoff", 15 }, { NULL, 0 } };
static const struct name unreach6[] = { { "no_route", 0 }, { "net", 0 }, { "admin_prohibited", 1 },
	{ "communication_prohibited", 1 }, { "comm_prohibited", 1 }, { "beyond_scope", 2 }, { "not_neighbour", 2 }, { "address",
		3 },
	{ "addr", 3 }, { "host", 3 }, { "port", 4 }, { "source_policy_failed", 5 }, { "src_addr_failed_policy", 5 },
		{ "reject_route", 6 }, { NULL, 0 } };
static const struct name exceeded[] = { { "ttl", 0 }, { "hop_limit", 0 }, { "in_transit", 0 }, { "exceeded_in_transit", 0 },
	{ "ttl_exceeded_in_transit", 0 },
	{ "hop_limit_exceeded_in_transit", 0 }, { "hoplimit_exceeded_in_transit", 0 }, { "frag_reass", 1 }, { "reassembly", 1 },
	{ "fragment_reassembly", 1 }, { NULL, 0 } };
static const struct name problem[] = { { "code_0", 0 }, { "code_1", 1 }, { "code_2", 2 }, { "erroneous_header_field", 0 },
	{ "unknown_next_header", 1 }, { "unrecognized_next_header", 1 }, { "unknown_option", 2 }, { "unrecognized_option", 2 },
	{ "header", 0 }, { "pointer", 0 }, { "next_header", 1 }, { "nexthdr", 1 }, { "option", 2 }, { NULL, 0 } };

/* A number, a word, or a word with "_unreachable" or "_exceeded" behind. */
static bool
find(const struct name *n, const char *word, uint8_t *out)
{
	if (isdigit((unsigned char)*word)) {
		*out = (uint8_t)strtoul(word, NULL, 0);
		return true;
	}
	for (; n != NULL && n->word != NULL; n++) {
		size_t len = strlen(n->word);

		if (strncmp(word, n->word, len) != 0)
			continue;
		if (word[len] != '\0' && strcmp(word + len, "_unreachable") != 0 && strcmp(word + len, "_unreach") != 0
			&& strcmp(word + len, "_exceeded") != 0)
			continue;
		*out = n->number;
		return true;
	}
	return false;
}

bool
wire_icmp_numbers(uint8_t version, const char *type, const char *code, uint8_t *type_out, uint8_t *code_out)
{
	const struct name *codes = NULL;

	if (!find(version == 4 ? types4 : types6, type, type_out))
		return false;
	*code_out = 0;
	if (code == NULL)
		return true;
	if (*type_out == (version == 4 ? 3 : 1))
		codes = version == 4 ? unreach4 : unreach6;
	else if (*type_out == (version == 4 ? 11 : 3))
		codes = exceeded;
	else if (*type_out == (version == 4 ? 12 : 4))
		codes = problem;
	return find(codes, code, code_out);
}

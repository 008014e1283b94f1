/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate limit of ICMP errors (RFC 1812 4.3.2.8, RFC 4443 2.4 f): a token bucket for each family. */
#ifndef NONIC_STACK_IP_IP_LIMIT_H
#define NONIC_STACK_IP_IP_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define IP_LIMIT_INTERVAL_NS 10000000ull /* 100 a second */
#define IP_LIMIT_BURST 50

struct ip_limit {
	uint64_t busy_until_ns; /* every error moves it on by one interval; zeroed to start */
};

/*
 * true: one more may go at now_ns. rnd makes the bucket's depth uncertain by a few, so that nobody can count by it which
 * of his probes were answered (the "SAD DNS" side channel).
 */
static inline bool
ip_limit_take(struct ip_limit *l, uint64_t now_ns, uint64_t rnd)
{
	uint64_t depth = (IP_LIMIT_BURST - rnd % 8) * IP_LIMIT_INTERVAL_NS;

	if (l->busy_until_ns < now_ns)
		l->busy_until_ns = now_ns;
	if (l->busy_until_ns - now_ns >= depth)
		return false;
	l->busy_until_ns += IP_LIMIT_INTERVAL_NS;
	return true;
}

#endif

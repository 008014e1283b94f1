/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 options: walked for sanity, source routes refused, everything else ignored. */
#include "../priv.h"

#define OPT_EOL 0
#define OPT_NOP 1
#define OPT_LSRR 131
#define OPT_SSRR 137

int
ip4_options_check(const uint8_t *p, unsigned int n)
{
	unsigned int i = 0;

	while (i < n && p[i] != OPT_EOL) {
		unsigned int len;

		if (p[i] == OPT_NOP) {
			i++;
			continue;
		}
		if (n - i < 2)
			return STACK_DROP_IP4_OPTIONS;
		len = p[i + 1];
		if (len < 2 || len > n - i)
			return STACK_DROP_IP4_OPTIONS;
		if (p[i] == OPT_LSRR || p[i] == OPT_SSRR)
			return STACK_DROP_IP4_SOURCE_ROUTE;
		i += len;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Delta debugging; see shrink.h. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

static void
set(uint8_t *skip, unsigned int i)
{
	skip[i / 8] |= (uint8_t)(1u << (i % 8));
}

static unsigned int
left(unsigned int n, const uint8_t *skip)
{
	unsigned int k = 0;

	for (unsigned int i = 0; i < n; i++)
		k += !shrink_skipped(skip, i);
	return k;
}

/* One pass over chunks of so many things that are still in. True: something went. */
static bool
pass(unsigned int n, unsigned int chunk, uint8_t *skip, uint8_t *probe, bool (*fails)(void *ctx, const uint8_t *skip), void *ctx,
	unsigned int *budget)
{
	bool any = false;

	for (unsigned int i = 0; i < n && *budget > 0;) {
		unsigned int took = 0;

		memcpy(probe, skip, (n + 7) / 8);
		for (; i < n && took < chunk; i++)
			if (!shrink_skipped(skip, i)) {
				set(probe, i);
				took++;
			}
		if (took == 0)
			break;
		--*budget;
		if (fails(ctx, probe)) {
			memcpy(skip, probe, (n + 7) / 8);
			any = true;
		}
	}
	return any;
}

unsigned int
shrink_set(unsigned int n, uint8_t *skip, bool (*fails)(void *ctx, const uint8_t *skip), void *ctx, unsigned int budget)
{
	uint8_t *probe = calloc(1, (n + 7) / 8 + 1);
	unsigned int chunk = n;

	while (probe != NULL && chunk > 0 && budget > 0) {
		bool any = pass(n, chunk, skip, probe, fails, ctx, &budget);

		if (chunk > 1)
			chunk = (chunk + 1) / 2;
		else if (!any)
			break;
	}
	free(probe);
	return left(n, skip);
}

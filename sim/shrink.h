/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes what fails short (SIM-6): delta debugging over a set of things that can be left out. Pure but for the callback. */
#ifndef NONIC_SIM_SHRINK_H
#define NONIC_SIM_SHRINK_H

#include <stdbool.h>
#include <stdint.h>

static inline bool
shrink_skipped(const uint8_t *skip, unsigned int i)
{
	return skip[i / 8] >> (i % 8) & 1;
}

/*
 * skip is (n + 7) / 8 bytes, zeroed: bit i of byte i / 8 leaves thing i out. fails(ctx, skip): does it still fail? Called at most
 * budget times. On return everything that skip does not name was needed (unless the budget ran out). Returns how many are left.
 */
unsigned int shrink_set(unsigned int n, uint8_t *skip, bool (*fails)(void *ctx, const uint8_t *skip), void *ctx, unsigned int budget);

#endif

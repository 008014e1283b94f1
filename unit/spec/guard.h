/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory whose end is a page that nobody may touch: a read past it ends the test. */
#ifndef NONIC_UNIT_SPEC_GUARD_H
#define NONIC_UNIT_SPEC_GUARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define GUARD_PAGE 4096u

struct guard {
	uint8_t *map;
	size_t len;
	uint8_t *p;   /* n bytes, zeroed, 64-byte aligned if n is a multiple of 64; behind them the forbidden page */
	size_t n;
};

static inline struct guard
guard_new(size_t n)
{
	struct guard g = { .n = n, .len = (n + GUARD_PAGE - 1) / GUARD_PAGE * GUARD_PAGE + GUARD_PAGE };

	g.map = mmap(NULL, g.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(g.map != MAP_FAILED);
	assert_int_equal(mprotect(g.map + g.len - GUARD_PAGE, GUARD_PAGE, PROT_NONE), 0);
	g.p = g.map + g.len - GUARD_PAGE - n;
	return g;
}

static inline void
guard_free(struct guard *g)
{
	munmap(g->map, g->len);
}

/* A generator of its own for tests that draw: xorshift64*. */
static inline uint64_t
draw(uint64_t *s)
{
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return *s * 0x2545f4914f6cdd1dull;
}

#endif

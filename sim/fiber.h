/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack of its own for each simulated process, so that it can stop in the middle of anything: at a sleep, or at any
 * shared word. One OS thread; the scheduler resumes, the process yields. Sanitizers and valgrind are told.
 */
#ifndef NONIC_SIM_FIBER_H
#define NONIC_SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct fiber;

/* NULL when out of memory. fn(arg) starts at the first resume. stack: bytes, 0: 256 KB. */
struct fiber *fiber_create(size_t stack, void (*fn)(void *arg), void *arg);
/* Runs f until it yields or ends. Not from inside a fiber. */
void fiber_resume(struct fiber *f);
/* From inside f: back to whoever resumed it. */
void fiber_yield(struct fiber *f);
bool fiber_done(const struct fiber *f);
/* Forgets f wherever it stands; nothing on its stack is unwound. */
void fiber_destroy(struct fiber *f);

#endif

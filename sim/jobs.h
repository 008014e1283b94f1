/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of one kind on several processors, by fork: a crash ends one job, and what it did is known. */
#ifndef NONIC_SIM_JOBS_H
#define NONIC_SIM_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs {
	unsigned int n;            /* processes; 0 or 1: none, the tasks run here */
	uint64_t tasks;            /* numbered from 0 */
	/* Does one task. shared is the same memory in every job. False: no further task is begun, by anybody. */
	bool (*task)(void *ctx, uint64_t i, void *shared);
	/* Now and then, with the number of tasks that are done; may be NULL. */
	void (*progress)(void *ctx, uint64_t done, const void *shared);
	void *ctx;
};

/* Shared memory for jobs, zeroed; NULL when there is none. */
void *jobs_shared(size_t n);
void jobs_shared_free(void *p, size_t n);
/* 0; -ECHILD: a job crashed (its own handler has said more); negative errno. */
int jobs_run(const struct jobs *j, void *shared);
/* Processors of this machine that this process may use. */
unsigned int jobs_cpus(void);
/* ns, for progress and rates. */
uint64_t jobs_clock_ns(void);

static inline void
jobs_add(uint64_t *word, uint64_t v)
{
	__atomic_fetch_add(word, v, __ATOMIC_RELAXED);
}

#endif

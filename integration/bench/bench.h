/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the benchmarks: thread CPU time, medians, and the shape of a peer that echoes UDP. */
#ifndef NONIC_BENCH_H
#define NONIC_BENCH_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* One implementation of "client and server stack joined by an in-memory wire, all on one thread". */
struct bench_udp_peer {
	const char *name;
	int (*open)(void);  /* 0, or -1 with a line on stderr */
	/* Echoes n datagrams of size bytes, batch of them in flight; returns the time of one echo in ns, or < 0 when one was lost. */
	double (*echo)(unsigned int size, unsigned int batch, unsigned int n);
	void (*close)(void);
};

/* CPU time of this thread in ns: other jobs on the machine do not count. */
static inline uint64_t
bench_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int
bench_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double
bench_median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), bench_cmp);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

#endif

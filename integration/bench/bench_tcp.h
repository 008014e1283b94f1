/* SPDX-License-Identifier: BSD-3-Clause */
/* bed bench tcp: the shape of an implementation, and what both of them do alike: payload, sizes, time, cycles. */
#ifndef NONIC_BENCH_TCP_H
#define NONIC_BENCH_TCP_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench.h"

#define BENCH_MSS 1448             /* payload of a full segment, on all sides */
#define BENCH_WND (45 * BENCH_MSS) /* both buffers of a connection: the whole segments in lwIP's window of 65535 bytes */
#define BENCH_CHUNK (11 * BENCH_MSS) /* what a bulk sender hands over at once */
#define BENCH_ROOM (4 * BENCH_MSS) /* it waits until there is room for so much */
#define BENCH_REQUEST 64           /* bytes of a request, and of its answer */
#define BENCH_BATCH 32             /* connections that are opened at one time */
#define BENCH_BURST 32             /* frames that a stack takes off its wire in one turn */
#define BENCH_WIRE 4096            /* frames that a wire holds */
#define BENCH_STEP_NS 10000        /* virtual time that passes in a turn */
#define BENCH_STUCK 400000         /* turns without an end: something was lost */
#define BENCH_PATTERN 251          /* the payload's period: a prime, so that no size hides a shift */
#define BENCH_TURNS 65536

/* Which rows an implementation stands in. */
enum { BENCH_REQUESTS = 1, BENCH_BULK = 2, BENCH_CONNECTS = 4 };

/*
 * One implementation of "client and server stack joined by an in-memory wire, all on one thread"; ctx is its own.
 * What can fail says why on stderr and returns less than 0.
 */
struct bench_tcp_peer {
	const char *name;
	unsigned int rows;
	void *ctx;
	int (*open)(void *ctx);
	/* Fresh stacks, and n connections between them, established and idle. */
	int (*connect)(void *ctx, unsigned int n);
	/* Both stacks and everything in them gone; every buffer is back. */
	int (*disconnect)(void *ctx);
	/*
	 * n requests, one outstanding on each connection: ns of an answered one. *cycles: what one costs the serving
	 * side, mean of the turns that nobody interrupted. check: every byte is looked at.
	 */
	double (*request)(void *ctx, unsigned int n, bool check, double *cycles);
	/* Whole segments, n over all connections, from client to server: ns of one. */
	double (*bulk)(void *ctx, unsigned int n, bool check);
	/* n connections opened and closed, the side that closes first keeping the TIME-WAIT: ns of one. */
	double (*churn)(void *ctx, unsigned int n, bool server_first);
	/* Forgets the oldest in TIME-WAIT beyond `most`; returns how many there are of the side that has more. */
	long (*settle)(void *ctx, unsigned int most);
	void (*close)(void *ctx);
};

/* Cycles of the serving side, a turn at a time, so that a turn in which the machine did something else can be left out. */
struct bench_turns {
	unsigned int n;
	float v[BENCH_TURNS];
};

static inline void
bench_turns_add(struct bench_turns *t, uint64_t cycles, unsigned int served)
{
	if (served != 0 && t->n < BENCH_TURNS)
		t->v[t->n++] = (float)cycles / (float)served;
}

static inline int
bench_cmp_float(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The mean of the turns up to four times the median. */
static inline double
bench_turns_mean(struct bench_turns *t)
{
	double sum = 0;
	unsigned int n = 0;

	qsort(t->v, t->n, sizeof(t->v[0]), bench_cmp_float);
	while (n < t->n && t->v[n] <= 4 * t->v[t->n / 2])
		sum += (double)t->v[n++];
	t->n = 0;
	return n == 0 ? 0 : sum / n;
}

/* What the process has in memory, without what it has freed. */
static inline uint64_t
bench_rss(void)
{
	unsigned long long all, rss = 0;
	FILE *f;

	malloc_trim(0);
	f = fopen("/proc/self/statm", "r");
	if (f != NULL) {
		if (fscanf(f, "%llu %llu", &all, &rss) != 2)
			rss = 0;
		fclose(f);
	}
	return rss * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Byte `at` of connection id's stream is at pattern + bench_place(at, id), and what follows it follows. */
struct bench_payload {
	uint8_t pattern[65536 + BENCH_PATTERN];
};

static inline void
bench_payload_init(struct bench_payload *p)
{
	for (size_t i = 0; i < sizeof(p->pattern); i++)
		p->pattern[i] = (uint8_t)(i % BENCH_PATTERN);
}

static inline const uint8_t *
bench_at(const struct bench_payload *p, uint64_t at, unsigned int id)
{
	return p->pattern + (at + id) % BENCH_PATTERN;
}

#endif

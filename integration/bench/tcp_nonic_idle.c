/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of idle connections: many between two stacks, nobody waiting for anything, and what the process has grown by. */
#include <stdio.h>

#include "core/stack/socket/socket_priv.h"
#include "core/stack/tcp/tcp_priv.h"
#include "tcp_nonic.h"

#define PER_PORT 40000 /* connections to one port of the server: the client has 55,000 ports */
#define FIRST_PORT 1000

static struct pair pair = { .options = true };
static int listener;

static void
accept_all(struct pair *p)
{
	int fd;

	while ((fd = sock_accept(p->server.stack, listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		p->accepted++;
	p->failed |= fd != -EAGAIN;
}

static void
nothing(struct pair *p)
{
	(void)p;
}

static int
open_all(struct pair *p, unsigned int n)
{
	uint16_t port = FIRST_PORT - 1;

	p->accepted = 0;
	for (unsigned int i = 0, k; i < n; i = k) {
		if (i % PER_PORT == 0) {
			listener = nonic_listen(p, ++port);
			if (listener < 0)
				return -1;
		}
		k = i == 0 ? 1 : (i / BENCH_BATCH + 1) * BENCH_BATCH; /* the first one alone: addresses are resolved by it */
		if (k > n)
			k = n;
		for (unsigned int j = i; j < k; j++)
			if (nonic_begin(p, port) < 0)
				return -1;
		if (nonic_turn_until(p, &p->accepted, k) < 0)
			return -1;
	}
	return 0;
}

/* Both ends of all of them are open, with nothing to read and room to write. */
static unsigned int
count_idle(struct stack *s, unsigned int n)
{
	unsigned int idle = 0;

	for (int fd = 0; fd < (int)n + 64; fd++)
		idle += sock_ready(s, fd) == (EPOLLOUT | EPOLLWRNORM);
	return idle;
}

int
bench_tcp_nonic_idle(unsigned int n, struct bench_idle *out)
{
	struct pair *p = &pair;
	unsigned int a, b;
	uint64_t rss;
	int err;

	p->serve = accept_all;
	p->collect = nothing;
	if (nonic_pair_open(p, n + 64) < 0)
		return -1;
	rss = bench_rss();
	err = open_all(p, n);
	if (err == 0) { /* what was set for soon goes: delayed acknowledgements, retransmission */
		p->now += 2000000000;
		stack_poll(p->client.stack, p->now);
		stack_poll(p->server.stack, p->now);
		out->n = n;
		out->bytes = ((double)bench_rss() - (double)rss) / n / 2;
		out->control = sizeof(struct tcp_pcb);
		out->socket = sizeof(struct stream);
		out->slot = sizeof(struct tcp_slot);
		out->watch = sizeof(struct watch);
		a = count_idle(p->client.stack, n);
		b = count_idle(p->server.stack, n);
		if (a != n || b != n) {
			fprintf(stderr, "nonic: of %u connections %u and %u are idle\n", n, a, b);
			err = -1;
		}
	}
	return nonic_pair_close(p) < 0 ? -1 : err;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ours: two stacks on one thread joined by an in-memory wire that passes buffers, DPDK's own pool (no hugepages).
 * "chain" uses the socket layer's buffer calls, as lwIP's raw API hands over pbufs; "copy" goes through
 * recvmsg/sendmsg and the application's own memory.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/stack/socket/socket.h"
#include "core/stack/stack.h"
#include "shim/dpdk/eal.h"

#include "bench.h"

#define WIRE 4096
#define BURST 32
#define SERVER_PORT 7
#define CLIENT_PORT 7777

struct wire {
	struct rte_mbuf *q[WIRE];
	unsigned int head, tail;
};

struct side {
	struct stack *stack;
	struct netif *nif;
	struct wire *out, *in;
	int fd;
};

static struct {
	struct shim *shim;
	struct shim_pool *pool;
	struct wire ab, ba;
	struct side client, server;
	struct sock_addr to;
	uint64_t polls, received;
} g;

static unsigned int
wire_tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct wire *w = ctx;
	unsigned int i;

	for (i = 0; i < n && w->head - w->tail < WIRE; i++)
		w->q[w->head++ % WIRE] = m[i];
	return i;
}

static int
side_open(struct side *s, uint8_t last, uint16_t port)
{
	struct stack_config sc = { .shim = g.shim, .pool = g.pool, .max_sockets = 64 };
	struct netif_config nc = { .name = "bench", .mac = { 2, 0, 0, 0, 0, last }, .mtu = 1500, .tx = wire_tx,
		.tx_ctx = s->out, .no_link_local = true };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	uint32_t addr = htonl(0xc6120000u + last);

	if (shim_entropy(g.shim, &sc.secrets, sizeof(sc.secrets)) < 0 || stack_create(&sc, &s->stack) < 0 ||
	    stack_if_add(s->stack, &nc, &s->nif) < 0 || stack_addr4_add(s->stack, s->nif, addr, 24, 0) < 0)
		return -1;
	stack_poll(s->stack, shim_clock_sample(g.shim));
	s->fd = sock_socket(s->stack, AF_INET, SOCK_DGRAM, 0);
	if (s->fd < 0 || sock_bind(s->stack, s->fd, (struct sockaddr *)&sin, sizeof(sin)) < 0)
		return -1;
	return 0;
}

static int
nonic_open(void)
{
	static const char *const args[] = { "bench", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--log-level=4", "-l", "0",
		"--no-shconf", NULL };
	char *copy[16]; /* the EAL permutes it */

	memcpy(copy, args, sizeof(args));
	if (g.shim != NULL)
		return 0;
	if (shim_dpdk_open(10, copy, SHIM_ROLE_PRIMARY, 0, &g.shim) < 0 ||
	    shim_pool_create(g.shim, "bench", 16383, 2176, &g.pool) < 0) {
		fprintf(stderr, "nonic: no EAL or no pool\n");
		return -1;
	}
	g.client.out = g.server.in = &g.ab;
	g.server.out = g.client.in = &g.ba;
	if (side_open(&g.client, 1, CLIENT_PORT) < 0 || side_open(&g.server, 2, SERVER_PORT) < 0) {
		fprintf(stderr, "nonic: no stack\n");
		return -1;
	}
	g.to = (struct sock_addr){ .addr = ip_addr_v4(htonl(0xc6120002u)), .port_be = htons(SERVER_PORT),
		.family = ADDR_INET };
	return 0;
}

static void
drain(struct side *s)
{
	struct wire *w = s->in;
	struct rte_mbuf *m[BURST];
	unsigned int n = 0;

	while (n < BURST && w->tail != w->head)
		m[n++] = w->q[w->tail++ % WIRE];
	if (n > 0)
		stack_input(s->stack, s->nif, m, n);
}

/* One turn of both sides; timers are looked at as often as the peer's. */
static void
turn(void (*serve)(void), void (*collect)(void))
{
	stack_flush(g.client.stack);
	drain(&g.server);
	serve();
	stack_flush(g.server.stack);
	drain(&g.client);
	collect();
	if ((++g.polls & 1023) == 0) {
		uint64_t now = shim_clock_sample(g.shim);

		stack_poll(g.client.stack, now);
		stack_poll(g.server.stack, now);
	}
}

static void
serve_chain(void)
{
	struct rte_mbuf *m;
	struct sock_addr from;

	while (sock_recv_chain(g.server.stack, g.server.fd, &m, &from) == 0)
		sock_send_chain(g.server.stack, g.server.fd, m, &from);
}

static void
collect_chain(void)
{
	struct rte_mbuf *m;
	struct sock_addr from;

	while (sock_recv_chain(g.client.stack, g.client.fd, &m, &from) == 0) {
		shim_buf_free(g.shim, m);
		g.received++;
	}
}

static int
send_chain(unsigned int size)
{
	struct rte_mbuf *m = shim_buf_alloc(g.shim, g.pool);

	if (m == NULL || shim_buf_append(m, (uint16_t)size) == NULL)
		return -1;
	return sock_send_chain(g.client.stack, g.client.fd, m, &g.to) < 0 ? -1 : 0;
}

static void
serve_copy(void)
{
	char buf[2048];
	struct sockaddr_in from;
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_name = &from, .msg_iov = &iov, .msg_iovlen = 1 };

	for (;;) {
		ssize_t n;

		msg.msg_namelen = sizeof(from);
		iov.iov_len = sizeof(buf);
		n = sock_recvmsg(g.server.stack, g.server.fd, &msg, 0);
		if (n < 0)
			return;
		iov.iov_len = (size_t)n;
		msg.msg_controllen = 0;
		sock_sendmsg(g.server.stack, g.server.fd, &msg, 0);
	}
}

static void
collect_copy(void)
{
	char buf[2048];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	while (sock_recvmsg(g.client.stack, g.client.fd, &msg, 0) >= 0)
		g.received++;
}

static int
send_copy(unsigned int size)
{
	static char data[2048];
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(SERVER_PORT),
		.sin_addr.s_addr = htonl(0xc6120002u) };
	struct iovec iov = { data, size };
	struct msghdr msg = { .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1 };

	return sock_sendmsg(g.client.stack, g.client.fd, &msg, 0) < 0 ? -1 : 0;
}

static double
echo(unsigned int size, unsigned int batch, unsigned int n, int (*send)(unsigned int), void (*serve)(void),
	void (*collect)(void))
{
	uint64_t t0 = bench_cpu_ns();

	g.received = 0;
	for (unsigned int i = 0; i < n; i += batch) {
		for (unsigned int k = 0; k < batch; k++)
			if (send(size) < 0)
				return -1;
		for (unsigned int idle = 0; g.received < i + batch; idle++) {
			if (idle > 100000)
				return -1;
			turn(serve, collect);
		}
	}
	return (double)(bench_cpu_ns() - t0) / n;
}

static double
echo_chain(unsigned int size, unsigned int batch, unsigned int n)
{
	return echo(size, batch, n, send_chain, serve_chain, collect_chain);
}

static double
echo_copy(unsigned int size, unsigned int batch, unsigned int n)
{
	return echo(size, batch, n, send_copy, serve_copy, collect_copy);
}

static void
nonic_close(void)
{
	if (g.shim == NULL)
		return;
	stack_destroy(g.client.stack);
	stack_destroy(g.server.stack);
	shim_pool_free(g.shim, g.pool);
	shim_dpdk_close(g.shim);
	g.shim = NULL;
}

extern const struct bench_udp_peer bench_udp_nonic[2];
const struct bench_udp_peer bench_udp_nonic[2] = {
	{ "nonic", nonic_open, echo_chain, nonic_close },
	{ "nonic, copying calls", nonic_open, echo_copy, nonic_close },
};

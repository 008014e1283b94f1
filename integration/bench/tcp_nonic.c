/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ours: two stacks on one thread joined by an in-memory wire that passes buffers, DPDK's own pool (no hugepages).
 * Applications wait by epoll (edge triggered). The first variant uses the socket layer's buffer calls, as lwIP's raw
 * API hands over pbufs; the second send and recv over its own memory; both have the options off that lwIP lacks. The
 * third has them on, as the stack is shipped.
 */
#include "tcp_nonic.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "core/stack/socket/event.h"
#include "shim/dpdk/eal.h"

#define LISTENER (1ull << 32) /* in an event's data: not a connection */
#define POOL_BUFS 32767
#define OPT_NODELAY 1 /* TCP_NODELAY: <netinet/tcp.h> does not go with tcp.h */

struct conn {
	int fd;                  /* a server's: whose stream it is, -1: not known */
	uint64_t sent, rcvd;
};

static struct {
	struct shim *shim;
	struct shim_pool *pool;
	unsigned int nb_open, nb_pairs, free_bufs;
	struct bench_payload payload;
	struct bench_turns turns;
} g;

/* ---- the wire and the stacks ------------------------------------------------------------------- */

static unsigned int
wire_tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct wire *w = ctx;
	unsigned int i;

	for (i = 0; i < n && w->head - w->tail < BENCH_WIRE; i++)
		w->q[w->head++ % BENCH_WIRE] = m[i];
	return i;
}

static void
drain(struct side *s)
{
	struct wire *w = s->in;
	struct rte_mbuf *m[BENCH_BURST];
	unsigned int n = 0;

	while (n < BENCH_BURST && w->tail != w->head)
		m[n++] = w->q[w->tail++ % BENCH_WIRE];
	if (n > 0)
		stack_input(s->stack, s->nif, m, n);
}

static int
side_open(struct pair *p, struct side *s, uint8_t last, uint32_t max_sockets)
{
	struct stack_config sc = { .shim = g.shim, .pool = g.pool, .max_sockets = max_sockets };
	/* 12 bytes of each segment are the timestamps, where they are on */
	struct netif_config nc = { .name = "bench", .mac = { 2, 0, 0, 0, 0, last }, .mtu = p->options ? 1500 : 1488, .tx = wire_tx,
		.tx_ctx = s->out, .no_link_local = true };

	if (shim_entropy(g.shim, &sc.secrets, sizeof(sc.secrets)) < 0 || stack_create(&sc, &s->stack) < 0 ||
	    stack_if_add(s->stack, &nc, &s->nif) < 0 || stack_addr4_add(s->stack, s->nif, htonl(0xc6120000u + last), 24, 0) < 0)
		return -1;
	if (!p->options && (tcp_knob_set(s->stack, TCP_KNOB_TIMESTAMPS, 0) < 0 || tcp_knob_set(s->stack, TCP_KNOB_SACK, 0) < 0))
		return -1;
	stack_poll(s->stack, p->now);
	s->ep = sock_epoll_create(s->stack, 0);
	return s->ep < 0 ? -1 : 0;
}

int
nonic_pair_open(struct pair *p, uint32_t max_sockets)
{
	memset(&p->client, 0, sizeof(p->client));
	memset(&p->server, 0, sizeof(p->server));
	p->ab.head = p->ab.tail = p->ba.head = p->ba.tail = 0;
	p->client.out = p->server.in = &p->ab;
	p->server.out = p->client.in = &p->ba;
	p->now = shim_clock_sample(g.shim);
	p->failed = p->check = false;
	g.nb_pairs++;
	if (side_open(p, &p->client, 1, max_sockets) == 0 && side_open(p, &p->server, 2, max_sockets) == 0)
		return 0;
	fprintf(stderr, "nonic: no stack\n");
	return -1;
}

static void
wire_clear(struct wire *w)
{
	while (w->tail != w->head)
		shim_buf_free(g.shim, w->q[w->tail++ % BENCH_WIRE]);
}

int
nonic_pair_close(struct pair *p)
{
	stack_destroy(p->client.stack);
	stack_destroy(p->server.stack);
	p->client.stack = p->server.stack = NULL;
	wire_clear(&p->ab);
	wire_clear(&p->ba);
	if (--g.nb_pairs > 0 || shim_pool_avail(g.shim, g.pool) == g.free_bufs)
		return 0;
	fprintf(stderr, "nonic: %u buffers of %u came back\n", shim_pool_avail(g.shim, g.pool), g.free_bufs);
	return -1;
}

/* One turn of both sides, each with its look at the time; the serving side's is measured. */
static void
turn(struct pair *p)
{
	unsigned int served = p->served;
	uint64_t t0;

	p->now += BENCH_STEP_NS;
	stack_poll(p->client.stack, p->now);
	stack_flush(p->client.stack);
	t0 = __rdtsc();
	stack_poll(p->server.stack, p->now);
	drain(&p->server);
	p->serve(p);
	stack_flush(p->server.stack);
	bench_turns_add(&g.turns, __rdtsc() - t0, p->served - served);
	drain(&p->client);
	p->collect(p);
}

int
nonic_turn_until(struct pair *p, const uint64_t *count, uint64_t want)
{
	for (unsigned int i = 0; *count < want; i++) {
		if (i > BENCH_STUCK || p->failed) {
			fprintf(stderr, "nonic: stuck at %llu of %llu%s\n", (unsigned long long)*count, (unsigned long long)want,
				p->failed ? ": a call failed or data was wrong" : "");
			return -1;
		}
		turn(p);
	}
	return 0;
}

/* ---- descriptors ------------------------------------------------------------------------------- */

static int
watch(struct side *s, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events | EPOLLET, .data.u64 = data };

	return sock_epoll_ctl(s->stack, s->ep, op, fd, &ev);
}

/* A stream with the buffers and without Nagle's delay, as lwIP's are. */
static int
new_stream(struct side *s)
{
	int fd = sock_socket(s->stack, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
	int half = BENCH_WND / 2; /* it is doubled, as on Linux */

	if (fd < 0 || sock_setsockopt(s->stack, fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof(half)) < 0 ||
	    sock_setsockopt(s->stack, fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof(half)) < 0 ||
	    sock_setsockopt(s->stack, fd, IPPROTO_TCP, OPT_NODELAY, &one, sizeof(one)) < 0)
		return -1;
	return fd;
}

int
nonic_listen(struct pair *p, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = new_stream(&p->server);

	if (fd < 0 || sock_bind(p->server.stack, fd, (struct sockaddr *)&sin, sizeof(sin)) < 0 ||
	    sock_listen(p->server.stack, fd, 4096) < 0) {
		fprintf(stderr, "nonic: no listener\n");
		return -1;
	}
	return fd;
}

int
nonic_begin(struct pair *p, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(0xc6120002u) };
	int fd = new_stream(&p->client);

	if (fd < 0 || sock_connect(p->client.stack, fd, (struct sockaddr *)&to, sizeof(to)) != -EINPROGRESS) {
		fprintf(stderr, "nonic: connect failed\n");
		return -1;
	}
	return fd;
}

/* What the listener has. */
static void
accept_all(struct pair *p, int listener)
{
	struct side *s = &p->server;
	int fd;

	while ((fd = sock_accept(s->stack, listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		p->accepted++;
		if (p->mode == MODE_SERVER_FIRST)
			sock_close(s->stack, fd);
		else if (watch(s, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP, (uint64_t)fd) < 0)
			p->failed = true;
	}
	p->failed |= fd != -EAGAIN;
}

/* ---- what the applications do ------------------------------------------------------------------ */

static void
verify(struct pair *p, const void *data, uint32_t n, uint64_t at, unsigned int id)
{
	if (p->check && memcmp(data, bench_at(&g.payload, at, id), n) != 0)
		p->failed = true;
}

static void
verify_chain(struct pair *p, const struct rte_mbuf *m, uint64_t at, unsigned int id)
{
	for (; p->check && m != NULL; at += m->data_len, m = m->next)
		verify(p, shim_buf_data(m), m->data_len, at, id);
}

/* Whose stream is it? The first byte says so: connections' streams begin at different places of the pattern. */
static void
verify_sunk(struct pair *p, int fd, const struct rte_mbuf *m, const uint8_t *data, uint32_t n)
{
	struct conn *c = &p->peer[fd];
	uint8_t first;

	if (!p->check)
		return;
	first = m != NULL ? *(const uint8_t *)shim_buf_data(m) : data[0];
	if (c->fd < 0)
		c->fd = first;
	if (m != NULL)
		verify_chain(p, m, c->rcvd, (unsigned int)c->fd);
	else
		verify(p, data, n, c->rcvd, (unsigned int)c->fd);
	c->rcvd += n;
}

/* All that fd has, into b or as a chain: bytes, 0 at the end of the stream, < 0 for none. *m is the caller's. */
static ssize_t
take(struct pair *p, struct side *s, int fd, uint8_t *b, size_t size, struct rte_mbuf **m)
{
	int err;

	*m = NULL;
	if (p->copy)
		return sock_recvfrom(s->stack, fd, b, size, 0, NULL, NULL);
	err = sock_recv_chain(s->stack, fd, m, NULL);
	if (err < 0)
		return err;
	return *m == NULL ? 0 : (ssize_t)shim_buf_len(*m);
}

static void
echo(struct pair *p, int fd)
{
	struct side *s = &p->server;
	struct rte_mbuf *m;
	uint8_t b[4096];
	ssize_t n = take(p, s, fd, b, sizeof(b), &m);

	if (n <= 0)
		return;
	p->served += (unsigned int)n / BENCH_REQUEST;
	if (m != NULL)
		p->failed |= sock_send_chain(s->stack, fd, m, NULL) != 0;
	else
		p->failed |= sock_sendto(s->stack, fd, b, (size_t)n, 0, NULL, 0) != n;
}

static void
sink(struct pair *p, int fd)
{
	static uint8_t b[65536];
	struct rte_mbuf *m;
	ssize_t n = take(p, &p->server, fd, b, sizeof(b), &m); /* as much as the receive buffer holds: nothing is left */

	if (n <= 0)
		return;
	verify_sunk(p, fd, m, b, (uint32_t)n);
	if (m != NULL)
		shim_buf_free(g.shim, m);
	p->sunk += (uint64_t)n;
}

/* A connection at whose end something happened: it is over. */
static void
finish(struct pair *p, struct side *s, int fd)
{
	struct rte_mbuf *m;

	if (sock_recv_chain(s->stack, fd, &m, NULL) != 0 || m != NULL)
		return;
	sock_close(s->stack, fd);
	p->closed++;
}

static void
serve(struct pair *p)
{
	struct side *s = &p->server;
	struct epoll_event ev[2 * BENCH_BURST];
	int n = sock_epoll_wait(s->stack, s->ep, ev, 2 * BENCH_BURST);

	for (int i = 0; i < n; i++) {
		int fd = (int)(uint32_t)ev[i].data.u64;

		if (unlikely((ev[i].data.u64 & LISTENER) != 0))
			accept_all(p, fd);
		else if (p->mode == MODE_REQUEST)
			echo(p, fd);
		else if (p->mode == MODE_BULK)
			sink(p, fd);
		else if (p->mode == MODE_CLIENT_FIRST)
			finish(p, s, fd);
	}
}

/* An answer. */
static void
answered(struct pair *p, struct conn *c)
{
	struct rte_mbuf *m;
	uint8_t b[4096];
	ssize_t n = take(p, &p->client, c->fd, b, sizeof(b), &m);
	unsigned int id = (unsigned int)(c - p->conn);

	if (n <= 0)
		return;
	if (m != NULL) {
		verify_chain(p, m, c->rcvd, id);
		shim_buf_free(g.shim, m);
	} else {
		verify(p, b, (uint32_t)n, c->rcvd, id);
	}
	c->rcvd += (uint64_t)n;
	p->answers += (uint64_t)n;
}

static void
collect(struct pair *p)
{
	struct side *s = &p->client;
	struct epoll_event ev[2 * BENCH_BURST];
	int n = sock_epoll_wait(s->stack, s->ep, ev, 2 * BENCH_BURST);

	for (int i = 0; i < n; i++) {
		uint32_t k = (uint32_t)ev[i].data.u64;

		if (p->mode == MODE_REQUEST) {
			answered(p, &p->conn[k]);
		} else if (p->mode == MODE_OPENING) {
			p->failed |= (ev[i].events & (EPOLLERR | EPOLLHUP)) != 0;
			p->up++;
			watch(s, EPOLL_CTL_MOD, p->conn[k].fd, EPOLLIN, k);
		} else if (p->mode == MODE_CLIENT_FIRST) {
			sock_close(s->stack, (int)k);
			p->up++;
		} else if (p->mode == MODE_SERVER_FIRST && (ev[i].events & (EPOLLIN | EPOLLRDHUP)) != 0) {
			finish(p, s, (int)k);
		}
	}
}

/* ---- the rows ---------------------------------------------------------------------------------- */

int
nonic_open(void *ctx)
{
	static const char *const args[] = { "bench", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--log-level=4",
		"-l", "0", "--no-shconf", NULL };
	char *copy[16]; /* the EAL permutes it */

	(void)ctx;
	if (g.nb_open++ > 0)
		return 0;
	memcpy(copy, args, sizeof(args));
	if (shim_dpdk_open(10, copy, SHIM_ROLE_PRIMARY, 0, &g.shim) < 0 ||
	    shim_pool_create(g.shim, "bench", POOL_BUFS, 2176, &g.pool) < 0) {
		fprintf(stderr, "nonic: no EAL or no pool\n");
		return -1;
	}
	g.free_bufs = shim_pool_avail(g.shim, g.pool);
	bench_payload_init(&g.payload);
	return 0;
}

static void
nonic_close(void *ctx)
{
	(void)ctx;
	if (g.nb_open == 0 || --g.nb_open > 0)
		return;
	shim_pool_free(g.shim, g.pool);
	shim_dpdk_close(g.shim);
}

/* Connections from .. to - 1. */
static int
open_some(struct pair *p, unsigned int from, unsigned int to)
{
	uint64_t accepted = p->accepted + to - from;

	for (unsigned int i = from; i < to; i++) {
		p->conn[i].fd = nonic_begin(p, NONIC_PORT);
		if (p->conn[i].fd < 0 || watch(&p->client, EPOLL_CTL_ADD, p->conn[i].fd, EPOLLIN | EPOLLOUT, i) < 0)
			return -1;
	}
	return nonic_turn_until(p, &p->up, to) < 0 ? -1 : nonic_turn_until(p, &p->accepted, accepted);
}

static int
nonic_connect(void *ctx, unsigned int n)
{
	struct pair *p = ctx;
	int fd;

	p->mode = MODE_OPENING;
	p->serve = serve;
	p->collect = collect;
	p->up = p->accepted = 0;
	p->nb_conns = n;
	p->conn = calloc(n, sizeof(p->conn[0]));
	p->peer = malloc((n + 64) * sizeof(p->peer[0])); /* by descriptor: epoll and the listener have the first ones */
	if (p->conn == NULL || p->peer == NULL || nonic_pair_open(p, 0) < 0)
		return -1;
	for (unsigned int i = 0; i < n + 64; i++)
		p->peer[i] = (struct conn){ .fd = -1 };
	fd = nonic_listen(p, NONIC_PORT);
	if (fd < 0 || watch(&p->server, EPOLL_CTL_ADD, fd, EPOLLIN, LISTENER | (uint64_t)fd) < 0)
		return -1;
	for (unsigned int i = 0, k; i < n; i = k) { /* the first one alone: addresses are resolved by it */
		k = i == 0 ? 1 : i + BENCH_BATCH < n ? i + BENCH_BATCH : n;
		if (open_some(p, i, k) < 0)
			return -1;
	}
	return 0;
}

static int
nonic_disconnect(void *ctx)
{
	struct pair *p = ctx;

	free(p->conn);
	free(p->peer);
	p->conn = p->peer = NULL;
	return nonic_pair_close(p);
}

static int
send_bytes(struct pair *p, struct conn *c, uint32_t n)
{
	const uint8_t *b = bench_at(&g.payload, c->sent, (unsigned int)(c - p->conn));
	struct rte_mbuf *head = NULL, *m;
	uint8_t *to;

	c->sent += n;
	if (p->copy)
		return sock_sendto(p->client.stack, c->fd, b, n, 0, NULL, 0) == (ssize_t)n ? 0 : -1;
	for (uint32_t k; n != 0; n -= k, b += k) {
		k = n < BENCH_MSS ? n : BENCH_MSS;
		m = shim_buf_alloc(g.shim, g.pool);
		to = m != NULL ? shim_buf_append(m, (uint16_t)k) : NULL;
		if (to == NULL) {
			shim_buf_free(g.shim, head);
			return -1;
		}
		memcpy(to, b, k);
		if (head == NULL)
			head = m;
		else if (shim_buf_chain(head, m) != 0)
			return -1;
	}
	return sock_send_chain(p->client.stack, c->fd, head, NULL);
}

static double
nonic_request(void *ctx, unsigned int n, bool check, double *cycles)
{
	struct pair *p = ctx;
	uint64_t t0;

	p->mode = MODE_REQUEST;
	p->check = check;
	p->answers = 0;
	g.turns.n = 0;
	t0 = bench_cpu_ns();
	for (unsigned int done = 0; done < n; done += p->nb_conns) {
		for (unsigned int i = 0; i < p->nb_conns; i++)
			if (send_bytes(p, &p->conn[i], BENCH_REQUEST) != 0)
				p->failed = true;
		if (nonic_turn_until(p, &p->answers, (uint64_t)(done + p->nb_conns) * BENCH_REQUEST) < 0)
			return -1;
	}
	t0 = bench_cpu_ns() - t0;
	*cycles = bench_turns_mean(&g.turns);
	return (double)t0 / (double)(p->answers / BENCH_REQUEST);
}

/* Fills the send buffer, whole segments at a time. */
static void
fill(struct pair *p, struct conn *c, uint64_t upto)
{
	int queued = 0;
	uint32_t room, n;

	if (c->sent >= upto)
		return;
	sock_ioctl(p->client.stack, c->fd, SIOCOUTQ, &queued);
	for (room = (uint32_t)(BENCH_WND - queued); room >= BENCH_ROOM && c->sent < upto; room -= n) {
		n = room < BENCH_CHUNK ? room / BENCH_MSS * BENCH_MSS : BENCH_CHUNK;
		if (n > upto - c->sent)
			n = (uint32_t)(upto - c->sent);
		if (send_bytes(p, c, n) != 0) {
			p->failed = true;
			return;
		}
	}
}

static double
nonic_bulk(void *ctx, unsigned int n, bool check)
{
	struct pair *p = ctx;
	uint64_t each = (uint64_t)(n / p->nb_conns) * BENCH_MSS, goal = p->sunk + each * p->nb_conns;
	uint64_t upto = p->conn[0].sent + each, t0;

	p->mode = MODE_BULK;
	p->check = check;
	t0 = bench_cpu_ns();
	for (unsigned int turns = 0; p->sunk < goal; turns++) {
		if (turns > BENCH_STUCK || p->failed) {
			fprintf(stderr, "nonic: bulk: stuck, refused or wrong data\n");
			return -1;
		}
		for (unsigned int i = 0; i < p->nb_conns; i++)
			fill(p, &p->conn[i], upto);
		turn(p);
	}
	return (double)(bench_cpu_ns() - t0) / (double)(each / BENCH_MSS * p->nb_conns);
}

static double
nonic_churn(void *ctx, unsigned int n, bool server_first)
{
	struct pair *p = ctx;
	uint64_t t0;
	int fd;

	p->mode = server_first ? MODE_SERVER_FIRST : MODE_CLIENT_FIRST;
	p->closed = 0;
	t0 = bench_cpu_ns();
	for (unsigned int done = 0; done < n; done += BENCH_BATCH) {
		for (unsigned int i = 0; i < BENCH_BATCH; i++) {
			fd = nonic_begin(p, NONIC_PORT);
			if (fd < 0 || watch(&p->client, EPOLL_CTL_ADD, fd, server_first ? EPOLLIN | EPOLLRDHUP : EPOLLOUT, (uint64_t)fd) < 0)
				return -1;
		}
		if (nonic_turn_until(p, &p->closed, done + BENCH_BATCH) < 0)
			return -1;
		turn(p); /* the last acknowledgement */
	}
	return (double)(bench_cpu_ns() - t0) / (double)p->closed;
}

static void
count_time_wait(void *ctx, const struct tcp_entry *e)
{
	*(long *)ctx += e->fsm == TCP_TIME_WAIT;
}

/* The stack forgets the oldest by itself. A few more, since connections that reuse a port take the one before them out. */
static long
nonic_settle(void *ctx, unsigned int most)
{
	struct pair *p = ctx;
	long a = 0, b = 0;

	most += most / 50;
	tcp_knob_set(p->client.stack, TCP_KNOB_MAX_TIMEWAIT, most);
	tcp_knob_set(p->server.stack, TCP_KNOB_MAX_TIMEWAIT, most);
	tcp_each(p->client.stack, count_time_wait, &a);
	tcp_each(p->server.stack, count_time_wait, &b);
	return a > b ? a : b;
}

static struct pair pairs[3] = { { .copy = false }, { .copy = true }, { .options = true } };

#define PEER(title, i, where) \
	{ title, where, &pairs[i], nonic_open, nonic_connect, nonic_disconnect, nonic_request, nonic_bulk, nonic_churn, \
	  nonic_settle, nonic_close }
const struct bench_tcp_peer bench_tcp_nonic[3] = {
	PEER("nonic", 0, BENCH_REQUESTS | BENCH_BULK | BENCH_CONNECTS),
	PEER("nonic, copying calls", 1, BENCH_REQUESTS | BENCH_BULK),
	PEER("nonic, timestamps and SACK", 2, BENCH_REQUESTS | BENCH_BULK | BENCH_CONNECTS),
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Many UDP flows; see flows.h. */
#include "flows.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "../core/base/bytes.h"
#include "../core/stack/socket/socket.h"
#include "apps.h"

#define FLOW_PORT 10000u /* local ports: FLOW_MAX of them, from somewhere in the FLOW_PORTS from here on */
#define FLOW_PORTS 50000u

bool
flow_of(const uint8_t *buf, size_t n, uint32_t *flow, uint32_t *seq)
{
	if (n < FLOW_HEAD)
		return false;
	*flow = get_be32(buf);
	*seq = get_be32(buf + 4);
	return *flow < FLOW_MAX;
}

void
flow_stamp(uint8_t *buf, size_t n, uint32_t gen)
{
	if (n >= FLOW_HEAD)
		put_be32(buf + 8, gen);
}

static uint32_t
content(const struct flows *f, uint32_t i, uint32_t seq, uint8_t *buf)
{
	const struct flow *fl = &f->flow[i];
	uint64_t x = f->seed * 0x100000001b3ull + ((uint64_t)i << 32 | seq), v = splitmix64(&x);
	uint32_t len = fl->min_len + (uint32_t)(v % (fl->max_len - fl->min_len + 1));

	if (len < FLOW_HEAD)
		len = FLOW_HEAD;
	for (uint32_t at = FLOW_HEAD; at < len; at += 8) {
		v = splitmix64(&x);
		memcpy(buf + at, &v, len - at < 8 ? len - at : 8);
	}
	put_be32(buf, i);
	put_be32(buf + 4, seq);
	put_be32(buf + 8, 0);
	put_be32(buf + 12, 0);
	return len;
}

/* The flow's own local port: a drawn one may be that of a flow which is over, and then it is the same flow to the server. */
static uint16_t
port_of(const struct flows *f, const struct flow *fl)
{
	uint64_t x = f->seed;

	return be16((uint16_t)(FLOW_PORT + splitmix64(&x) % FLOW_PORTS + (uint64_t)(fl - f->flow)));
}

/* A socket of its own, connected: the kernel of the peer tells it of errors. */
static int
flow_open(struct flows *f, struct stack *st, struct flow *fl)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = be16(SIM_ECHO_PORT), .sin_addr.s_addr = f->server4_be };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = be16(SIM_ECHO_PORT) };
	struct sockaddr_in me4 = { .sin_family = AF_INET, .sin_port = port_of(f, fl) };
	struct sockaddr_in6 me6 = { .sin6_family = AF_INET6, .sin6_port = port_of(f, fl) };
	int rc;

	memcpy(&a6.sin6_addr, f->server6, 16);
	fl->fd = sock_socket(st, fl->v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (fl->fd < 0)
		return fl->fd;
	rc = fl->v6 ? sock_bind(st, fl->fd, (struct sockaddr *)&me6, sizeof(me6)) :
		sock_bind(st, fl->fd, (struct sockaddr *)&me4, sizeof(me4));
	if (rc == 0)
		rc = fl->v6 ? sock_connect(st, fl->fd, (struct sockaddr *)&a6, sizeof(a6)) :
			sock_connect(st, fl->fd, (struct sockaddr *)&a4, sizeof(a4));
	if (rc < 0) {
		(void)sock_close(st, fl->fd);
		return rc;
	}
	fl->open = true;
	return 0;
}

int
flows_init(struct flows *f, struct stack *st)
{
	uint64_t now = stack_now(st);

	for (unsigned int i = 0; i < f->n; i++)
		f->flow[i].next_ns += now;
	return 0;
}

static void
end(struct flows *f, struct stack *st, struct flow *fl)
{
	(void)sock_close(st, fl->fd);
	fl->open = false;
	fl->wait = false;
	fl->over = true;
	f->nb_over++;
}

static void
wrong(struct flows *f, unsigned int i, const char *what, uint32_t a, uint32_t b)
{
	if (f->wrong[0] == '\0')
		snprintf(f->wrong, sizeof(f->wrong), "flow %u: %s (%u, %u)", i, what, a, b);
}

static void
answer(struct flows *f, unsigned int i, uint8_t *got, uint32_t n, uint64_t now_ns)
{
	struct flow *fl = &f->flow[i];
	uint8_t want[SIM_ECHO_MAX];
	uint32_t flow, seq, gen, len;

	if (!flow_of(got, n, &flow, &seq) || flow != i || seq > fl->seq) {
		wrong(f, i, "an answer to what it has not sent", n, n >= 8 ? get_be32(got + 4) : 0);
		return;
	}
	gen = get_be32(got + 8);
	put_be32(got + 8, 0);
	len = content(f, i, seq, want);
	if (len != n || memcmp(got, want, n) != 0) {
		wrong(f, i, "other bytes came back than were sent, lengths", len, n);
		return;
	}
	if (seq < fl->seq || !fl->wait) {
		f->repeated++;
		return;
	}
	f->answered++;
	fl->gen = gen;
	fl->wait = false;
	if (now_ns - fl->sent_ns > f->longest_ns)
		f->longest_ns = now_ns - fl->sent_ns;
	fl->seq++;
	fl->tries = 0;
	fl->next_ns = now_ns + fl->gap_ns;
}

static void
receive(struct flows *f, struct stack *st, unsigned int i, uint64_t now_ns)
{
	uint8_t buf[SIM_ECHO_MAX];

	for (unsigned int k = 0; k < 64; k++) {
		ssize_t n = sock_recvfrom(st, f->flow[i].fd, buf, sizeof(buf), 0, NULL, NULL);

		if (n == -EAGAIN)
			return;
		if (n < 0)
			f->errors_told++; /* an ICMP error, which the next call does not repeat */
		else
			answer(f, i, buf, (uint32_t)n, now_ns);
	}
}

static void
send_one(struct flows *f, struct stack *st, unsigned int i, uint64_t now_ns)
{
	struct flow *fl = &f->flow[i];
	uint8_t buf[SIM_ECHO_MAX];
	uint32_t len = content(f, i, fl->seq, buf);

	fl->sent_ns = now_ns;
	fl->wait = true;
	f->sent++;
	f->resent += fl->tries++ > 0;
	if (sock_sendto(st, fl->fd, buf, len, 0, NULL, 0) != (ssize_t)len)
		f->send_errors++;
	if (fl->rude && fl->seq + 1 == fl->all)
		end(f, st, fl);
}

static void
flow_turn(struct flows *f, struct stack *st, unsigned int i, uint64_t now_ns)
{
	struct flow *fl = &f->flow[i];
	uint64_t due;

	if (fl->open)
		receive(f, st, i, now_ns);
	if (!fl->wait && fl->seq == fl->all) {
		end(f, st, fl);
		return;
	}
	due = fl->wait ? f->timeout_ns == 0 ? UINT64_MAX : fl->sent_ns + f->timeout_ns : fl->next_ns;
	if (due <= now_ns) {
		if (!fl->open && flow_open(f, st, fl) != 0) {
			f->send_errors++;
			fl->next_ns = now_ns + 10000000; /* no address yet, or no port */
		} else
			send_one(f, st, i, now_ns);
		if (fl->over)
			return;
		due = fl->wait ? f->timeout_ns == 0 ? UINT64_MAX : now_ns + f->timeout_ns : fl->next_ns;
	}
	if (due < f->wake_ns)
		f->wake_ns = due;
}

void
flows_turn(struct flows *f, struct stack *st, uint64_t now_ns)
{
	f->wake_ns = UINT64_MAX;
	for (unsigned int i = 0; i < f->n; i++)
		if (!f->flow[i].over)
			flow_turn(f, st, i, now_ns);
}

bool
flows_over(const struct flows *f)
{
	return f->nb_over == f->n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP echo server and client; see apps.h. */
#include "apps.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/base/bytes.h"
#include "../core/stack/socket/socket.h"

static int
open_bound(struct stack *st, int family, uint16_t port)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = be16(port) };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = be16(port) };
	int one = 1, fd = sock_socket(st, family, SOCK_DGRAM | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return fd;
	if (family == AF_INET6)
		(void)sock_setsockopt(st, fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	rc = family == AF_INET ? sock_bind(st, fd, (struct sockaddr *)&a4, sizeof(a4)) :
		sock_bind(st, fd, (struct sockaddr *)&a6, sizeof(a6));
	return rc < 0 ? rc : fd;
}

int
udp_server_init(struct udp_server *s, struct stack *st)
{
	s->fd4 = open_bound(st, AF_INET, SIM_ECHO_PORT);
	if (s->fd4 < 0)
		return s->fd4;
	s->fd6 = open_bound(st, AF_INET6, SIM_ECHO_PORT);
	return s->fd6 < 0 ? s->fd6 : 0;
}

static void
serve(struct udp_server *s, struct stack *st, int fd)
{
	struct sockaddr_storage from;
	uint8_t buf[SIM_ECHO_MAX];
	ssize_t n;

	for (;;) {
		socklen_t len = sizeof(from);

		n = sock_recvfrom(st, fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);
		if (n < 0)
			return;
		s->received++;
		if (s->served != NULL)
			s->served(s->served_ctx, buf, (size_t)n);
		if (sock_sendto(st, fd, buf, (size_t)n, 0, (struct sockaddr *)&from, len) == n)
			s->answered++;
		else
			s->failed++;
	}
}

void
udp_server_turn(struct udp_server *s, struct stack *st)
{
	serve(s, st, s->fd4);
	serve(s, st, s->fd6);
}

/* ---- the client ---- */

int
udp_client_prepare(struct udp_client *c, const struct udp_client_conf *conf)
{
	memset(c, 0, sizeof(*c));
	c->conf = *conf;
	c->slot = calloc(conf->n, sizeof(*c->slot));
	return c->slot != NULL ? 0 : -ENOMEM;
}

void
udp_client_release(struct udp_client *c)
{
	free(c->slot);
	c->slot = NULL;
}

static bool
has6(const struct udp_client *c)
{
	static const uint8_t none[16];

	return memcmp(c->conf.server6, none, 16) != 0;
}

int
udp_client_init(struct udp_client *c, struct stack *st)
{
	const int dont = IP_PMTUDISC_DO;

	c->fd4 = open_bound(st, AF_INET, 0);
	if (c->fd4 < 0)
		return c->fd4;
	c->fd6 = open_bound(st, AF_INET6, 0);
	if (c->fd6 < 0)
		return c->fd6;
	c->next_send_ns = stack_now(st) + c->conf.start_ns;
	if (!c->conf.df)
		return 0;
	/* both families report the path's MTU instead of cutting the datagram */
	(void)sock_setsockopt(st, c->fd4, IPPROTO_IP, IP_MTU_DISCOVER, &dont, sizeof(dont));
	(void)sock_setsockopt(st, c->fd6, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &dont, sizeof(dont));
	return 0;
}

/* The i-th datagram: its number, then a stream of its own. */
static uint32_t
content(const struct udp_client *c, uint32_t i, uint8_t *buf)
{
	uint64_t x = c->conf.seed * 0x100000001b3ull + i, v = splitmix64(&x);
	uint32_t len = c->conf.min_len + (uint32_t)(v % (c->conf.max_len - c->conf.min_len + 1));

	for (uint32_t at = 0; at < len; at += 8) {
		v = splitmix64(&x);
		memcpy(buf + at, &v, len - at < 8 ? len - at : 8);
	}
	put_be32(buf, i);
	return len;
}

static void
check_answer(struct udp_client *c, const uint8_t *got, uint32_t n)
{
	uint8_t want[SIM_ECHO_MAX];
	uint32_t i = n >= 4 ? get_be32(got) : UINT32_MAX, len;

	if (i >= c->conf.n || c->slot[i].state == 0) {
		if (c->wrong[0] == '\0')
			snprintf(c->wrong, sizeof(c->wrong), "%u bytes were received as number %u, which was not sent", n, i);
		return;
	}
	len = content(c, i, want);
	if (len != n || memcmp(got, want, len) != 0) {
		if (c->wrong[0] == '\0')
			snprintf(c->wrong, sizeof(c->wrong), "datagram %u: %u bytes were sent, %u others came back", i, len, n);
		return;
	}
	if (c->slot[i].answers < 255)
		c->slot[i].answers++;
	if (c->slot[i].state == 2) {
		c->repeated++;
		return;
	}
	c->slot[i].state = 2;
	c->answered++;
	c->outstanding--;
}

static void
receive(struct udp_client *c, struct stack *st, int fd)
{
	uint8_t buf[SIM_ECHO_MAX];
	ssize_t n;

	while ((n = sock_recvfrom(st, fd, buf, sizeof(buf), 0, NULL, NULL)) >= 0)
		check_answer(c, buf, (uint32_t)n);
	if (n != -EAGAIN)
		c->recv_errors++;
}

static void
send_one(struct udp_client *c, struct stack *st, uint32_t i, uint64_t now_ns)
{
	bool v6 = has6(c) && (c->conf.server4_be == 0 || (i & 1) != 0);
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = be16(SIM_ECHO_PORT),
		.sin_addr.s_addr = c->conf.server4_be };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = be16(SIM_ECHO_PORT) };
	uint8_t buf[SIM_ECHO_MAX];
	uint32_t len = content(c, i, buf);
	ssize_t n;

	memcpy(&a6.sin6_addr, c->conf.server6, 16);
	c->slot[i].sent_ns = now_ns;
	n = v6 ? sock_sendto(st, c->fd6, buf, len, 0, (struct sockaddr *)&a6, sizeof(a6)) :
		sock_sendto(st, c->fd4, buf, len, 0, (struct sockaddr *)&a4, sizeof(a4));
	c->sent++;
	if (n == (ssize_t)len)
		return;
	c->send_errors++;
	c->last_error = (int)n;
}

static void
send_again(struct udp_client *c, struct stack *st, uint64_t now_ns)
{
	while (c->low < c->next && c->slot[c->low].state == 2)
		c->low++;
	if (c->conf.timeout_ns == 0)
		return;
	for (uint32_t i = c->low; i < c->next; i++) {
		uint64_t due = c->slot[i].sent_ns + c->conf.timeout_ns;

		if (c->slot[i].state != 1)
			continue;
		if (due <= now_ns) {
			c->resent++;
			send_one(c, st, i, now_ns);
			due = now_ns + c->conf.timeout_ns;
		}
		if (due < c->wake_ns)
			c->wake_ns = due;
	}
}

void
udp_client_turn(struct udp_client *c, struct stack *st, uint64_t now_ns)
{
	c->wake_ns = UINT64_MAX;
	receive(c, st, c->fd4);
	receive(c, st, c->fd6);
	send_again(c, st, now_ns);
	while (c->next < c->conf.n && c->outstanding < c->conf.window && now_ns >= c->next_send_ns) {
		uint32_t i = c->next++;

		c->slot[i].state = 1;
		c->outstanding++;
		send_one(c, st, i, now_ns);
		c->next_send_ns = now_ns + c->conf.gap_ns;
		if (c->conf.timeout_ns != 0 && now_ns + c->conf.timeout_ns < c->wake_ns)
			c->wake_ns = now_ns + c->conf.timeout_ns;
	}
	if (c->next < c->conf.n && c->outstanding < c->conf.window && c->next_send_ns < c->wake_ns)
		c->wake_ns = c->next_send_ns;
}

bool
udp_client_done(const struct udp_client *c)
{
	return c->answered == c->conf.n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the fixture's stack with itself, over its own addresses. */
#ifndef NONIC_UNIT_STACK_STREAM_WORLD_H
#define NONIC_UNIT_STACK_STREAM_WORLD_H

#include <limits.h>

#include "sock_world.h"

#define ME "10.0.0.1"
#define ME6 "2001:db8::1"
#define LONG_AGO 200 /* ms: every delayed acknowledgement has been sent */

static inline int
stream(struct fx *f, int domain)
{
	int fd = sock_socket(f->s, domain, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	return fd;
}

static inline int
listener(struct fx *f, uint16_t port)
{
	int fd = stream(f, AF_INET);

	on(f, fd, SOL_SOCKET, SO_REUSEADDR);
	assert_int_equal(bind4(f, fd, "0.0.0.0", port), 0);
	assert_int_equal(sock_listen(f->s, fd, 16), 0);
	return fd;
}

/* What was sent arrives, and the answers; little time passes. */
static inline void
settle(struct fx *f)
{
	for (int i = 0; i < 8; i++)
		fx_poll(f);
}

static inline void
settle_long(struct fx *f)
{
	settle(f);
	fx_advance(f, LONG_AGO * FX_MS);
	settle(f);
}

static inline int
err_of(struct fx *f, int fd)
{
	int v = -1;
	socklen_t n = sizeof(v);

	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_ERROR, &v, &n), 0);
	return v;
}

#define OPT_NODELAY 1 /* TCP_NODELAY: <netinet/tcp.h> does not go with tcp.h */

/* A connection over lst; client's descriptor in fd[0], the accepted one in fd[1]. What is written is sent at once. */
static inline void
connected(struct fx *f, int lst, uint16_t port, int fd[2])
{
	fd[0] = stream(f, AF_INET);
	assert_int_equal(connect4(f, fd[0], ME, port), -EINPROGRESS);
	settle(f);
	fd[1] = sock_accept(f->s, lst, NULL, NULL, 0);
	assert_true(fd[1] >= 0);
	on(f, fd[0], IPPROTO_TCP, OPT_NODELAY);
	on(f, fd[1], IPPROTO_TCP, OPT_NODELAY);
}

static inline ssize_t
put(struct fx *f, int fd, const char *text)
{
	ssize_t n = sock_sendto(f->s, fd, text, strlen(text), 0, NULL, 0);

	settle(f);
	return n;
}

/* fd has exactly these bytes. */
static inline void
got(struct fx *f, int fd, const char *text)
{
	char b[256];
	ssize_t n = sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL);

	assert_int_equal(n, strlen(text));
	assert_memory_equal(b, text, strlen(text));
	settle(f);
}

static inline ssize_t
get(struct fx *f, int fd)
{
	char b[256];

	return sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL);
}

/* Sends until there is no room; returns the bytes taken. */
static inline size_t
fill(struct fx *f, int fd)
{
	static char b[8192];
	size_t sum = 0;

	for (;;) {
		ssize_t n = sock_sendto(f->s, fd, b, sizeof(b), 0, NULL, 0);

		if (n == -EAGAIN)
			return sum;
		assert_true(n > 0);
		sum += (size_t)n;
		settle(f);
	}
}

/* Reads everything that comes; returns the bytes. */
static inline size_t
drain(struct fx *f, int fd)
{
	static char b[8192];
	size_t sum = 0;

	for (int idle = 0; idle < 3;) {
		ssize_t n = sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL);

		if (n == 0)
			return sum;
		if (n > 0) {
			sum += (size_t)n;
			idle = 0;
			continue;
		}
		assert_int_equal(n, -EAGAIN);
		settle_long(f);
		idle++;
	}
	return sum;
}

#endif

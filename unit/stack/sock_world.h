/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets on the fixture's stack, for the tests of UDP, sockets and events. */
#ifndef NONIC_UNIT_STACK_SOCK_WORLD_H
#define NONIC_UNIT_STACK_SOCK_WORLD_H

#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>

#include "core/stack/socket/socket_priv.h"
#include "core/stack/udp/udp_priv.h"
#include "fixture.h"

static inline int
sock(struct fx *f, int domain)
{
	int fd = sock_socket(f->s, domain, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	return fd;
}

static inline int
bind4(struct fx *f, int fd, const char *ip, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	a.sin_addr.s_addr = fx_ip4(ip);
	return sock_bind(f->s, fd, (struct sockaddr *)&a, sizeof(a));
}

static inline int
bind6(struct fx *f, int fd, const char *ip, uint16_t port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	union ip_addr x = fx_a6(ip);

	memcpy(&a.sin6_addr, x.v6, 16);
	return sock_bind(f->s, fd, (struct sockaddr *)&a, sizeof(a));
}

static inline int
connect4(struct fx *f, int fd, const char *ip, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	a.sin_addr.s_addr = fx_ip4(ip);
	return sock_connect(f->s, fd, (struct sockaddr *)&a, sizeof(a));
}

static inline int
connect6(struct fx *f, int fd, const char *ip, uint16_t port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	union ip_addr x = fx_a6(ip);

	memcpy(&a.sin6_addr, x.v6, 16);
	return sock_connect(f->s, fd, (struct sockaddr *)&a, sizeof(a));
}

static inline void
on(struct fx *f, int fd, int level, int name)
{
	int one = 1;

	assert_int_equal(sock_setsockopt(f->s, fd, level, name, &one, sizeof(one)), 0);
}

static inline int
local_port(struct fx *f, int fd)
{
	struct sockaddr_in6 a;
	socklen_t n = sizeof(a);

	assert_int_equal(sock_getsockname(f->s, fd, (struct sockaddr *)&a, &n), 0);
	return ntohs(a.sin6_port); /* same place in both families */
}

/* Does fd have exactly one datagram, with this text? */
static inline void
expect(struct fx *f, int fd, const char *text)
{
	char b[64];
	ssize_t n = sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL);

	assert_int_equal(n, strlen(text));
	assert_memory_equal(b, text, strlen(text));
	assert_int_equal(sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL), -EAGAIN);
}

static inline void
nothing(struct fx *f, int fd)
{
	char b[4];

	assert_int_equal(sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL), -EAGAIN);
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

#endif

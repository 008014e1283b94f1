/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the ff_* calls share: an instance over the fixture's stack, sockets, arriving datagrams. */
#ifndef NONIC_UNIT_SPEC_API_H
#define NONIC_UNIT_SPEC_API_H

#include "pkt.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>

#include "core/api/instance.h"
#include "ff_epoll.h"

struct api {
	struct fx *fx;
	struct ff_instance *in;
};

static inline int
api_setup(void **state)
{
	struct api *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	a->fx = fx_new(NULL);
	fx_know_peer(a->fx);
	assert_int_equal(ff_instance_new(&(struct ff_instance_config){ .shim = a->fx->shim, .stack = a->fx->s }, &a->in), 0);
	assert_null(ff_instance_set(a->in));
	*state = a;
	return 0;
}

static inline int
api_teardown(void **state)
{
	struct api *a = *state;

	ff_instance_set(NULL);
	ff_instance_free(a->in);
	fx_tx_clear(a->fx);
	fx_free(a->fx);
	free(a);
	return 0;
}

#define A(x) ((const struct linux_sockaddr *)(const void *)(x))
#define AM(x) ((struct linux_sockaddr *)(void *)(x))
#define FAILS(call, e) do { \
	errno = 0; \
	assert_int_equal((call), -1); \
	assert_int_equal(errno, (e)); \
} while (0)

static inline struct sockaddr_in
in4(const void *addr, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (addr != NULL)
		memcpy(&a.sin_addr, addr, 4);
	return a;
}

static inline int
dgram(uint16_t port)
{
	struct sockaddr_in a = in4(NULL, port);
	int fd = ff_socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	if (port != 0)
		assert_int_equal(ff_bind(fd, A(&a), sizeof(a)), 0);
	return fd;
}

static inline void
arrive(struct api *a, uint16_t port, const void *d, uint32_t n)
{
	uint8_t f[2048], l4[2048];

	fx_inject(a->fx, f, ip4(f, 17, 1, 0, l4, udp(l4, 4, 1000, port, d, n)));
}

static inline int
get_int(int fd, int level, int name)
{
	int v = -1;
	socklen_t n = sizeof(v);

	assert_int_equal(ff_getsockopt(fd, level, name, &v, &n), 0);
	assert_int_equal(n, sizeof(v));
	return v;
}

#define S(t) cmocka_unit_test_setup_teardown(t, api_setup, api_teardown)

#endif

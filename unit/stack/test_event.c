/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll by Linux's rules, kqueue by FreeBSD's, select and poll. */
#include "sock_world.h"

static int
udp_on(struct fx *f, uint16_t port)
{
	int fd = sock(f, AF_INET);

	assert_int_equal(bind4(f, fd, "0.0.0.0", port), 0);
	return fd;
}

static int
ctl(struct fx *f, int ep, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };

	return sock_epoll_ctl(f->s, ep, op, fd, &ev);
}

static void
take(struct fx *f, int fd)
{
	char b[8];

	assert_true(sock_recvfrom(f->s, fd, b, sizeof(b), 0, NULL, NULL) >= 0);
}

/* STK-5 */
static void
epoll_one_event_per_fd_and_user_data_zero(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, 0), fd = udp_on(f, 7000);
	struct epoll_event ev[4];

	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT, 0), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].events, EPOLLOUT);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].events, EPOLLIN | EPOLLOUT);
	assert_int_equal(ev[0].data.u64, 0);
	/* level triggered: as long as it is so */
	take(f, fd);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_MOD, fd, EPOLLIN, 5), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].data.u64, 5);
	take(f, fd);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 0);
}

/* STK-5 */
static void
epoll_errors(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, EPOLL_CLOEXEC), fd = udp_on(f, 7000), ep2 = sock_epoll_create(f->s, 0);
	struct epoll_event ev[4];

	assert_int_equal(sock_epoll_create(f->s, 1), -EINVAL);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(sock_epoll_create(f->s, 0), -ENOMEM);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_MOD, fd, EPOLLIN, 0), -ENOENT);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_DEL, fd, EPOLLIN, 0), -ENOENT);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN, 0), 0);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN, 0), -EEXIST);
	assert_int_equal(ctl(f, ep, 9, fd, EPOLLIN, 0), -EINVAL);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, 77, EPOLLIN, 0), -EBADF);
	assert_int_equal(ctl(f, 77, EPOLL_CTL_ADD, fd, EPOLLIN, 0), -EBADF);
	assert_int_equal(ctl(f, fd, EPOLL_CTL_ADD, ep, EPOLLIN, 0), -EINVAL);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, ep, EPOLLIN, 0), -EINVAL);
	assert_int_equal(sock_epoll_ctl(f->s, ep, EPOLL_CTL_ADD, fd, NULL), -EFAULT);
	assert_int_equal(sock_epoll_ctl(f->s, ep, EPOLL_CTL_DEL, fd, NULL), 0);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN, 0), -ENOMEM);
	/* exclusive: with few bits, on sockets, for ever */
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE | EPOLLRDHUP, 0), -EINVAL);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, ep2, EPOLLIN | EPOLLEXCLUSIVE, 0), -EINVAL);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, 0), 0);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_MOD, fd, EPOLLIN, 0), -EINVAL);
	assert_int_equal(sock_epoll_wait(f->s, 77, ev, 4), -EBADF);
	assert_int_equal(sock_epoll_wait(f->s, fd, ev, 4), -EINVAL);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 0), -EINVAL);
	assert_int_equal(sock_epoll_wait(f->s, ep, NULL, 1), -EFAULT);
	/* sets are no sockets */
	assert_int_equal(sock_sendto(f->s, ep, "x", 1, 0, NULL, 0), -ENOTSOCK);
	assert_int_equal(sock_listen(f->s, ep, 1), -ENOTSOCK);
}

/* STK-5 */
static void
epoll_edge_and_oneshot(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, 0), fd = udp_on(f, 7000), one = udp_on(f, 7001);
	struct epoll_event ev[4];

	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, 1), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 0);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 0); /* the edge has been told */
	fx_rx_udp4(f, 1, 7000, "x", 1);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1); /* a new one */
	/* MOD turns edge into level */
	assert_int_equal(ctl(f, ep, EPOLL_CTL_MOD, fd, EPOLLIN, 1), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_DEL, fd, 0, 0), 0);
	/* one-shot: silent, errors included, until MOD */
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, one, EPOLLIN | EPOLLONESHOT, 2), 0);
	fx_rx_udp4(f, 1, 7001, "x", 1);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	fx_rx_udp4(f, 1, 7001, "x", 1);
	socket_error(f->s, fd_socket(f->s, one), ECONNREFUSED);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 0);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_MOD, one, EPOLLIN | EPOLLONESHOT, 3), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].data.u64, 3);
	assert_int_equal(ev[0].events, EPOLLIN | EPOLLERR);
}

/* STK-5 */
static void
epoll_errors_and_hangups_need_not_be_asked_for(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, 0), fd = udp_on(f, 7000);
	struct epoll_event ev[4];

	fx_know_peer(f);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd, 0, 7), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 0);
	socket_error(f->s, fd_socket(f->s, fd), ECONNREFUSED);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].events, EPOLLERR);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 1), 0);
	assert_int_equal(sock_shutdown(f->s, fd, SHUT_RDWR), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].events, EPOLLERR | EPOLLHUP);
	assert_int_equal(ctl(f, ep, EPOLL_CTL_MOD, fd, EPOLLRDHUP, 7), 0);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 4), 1);
	assert_int_equal(ev[0].events, EPOLLERR | EPOLLHUP | EPOLLRDHUP);
}

/* STK-5 */
static void
epoll_is_fair_and_forgets_closed_files(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, 0), fd[4], i, d, seen = 0;
	struct epoll_event ev[8];

	for (i = 0; i < 4; i++) {
		fd[i] = udp_on(f, (uint16_t)(7000 + i));
		assert_int_equal(ctl(f, ep, EPOLL_CTL_ADD, fd[i], EPOLLIN, (uint64_t)i), 0);
		fx_rx_udp4(f, 1, (uint16_t)(7000 + i), "x", 1);
	}
	for (i = 0; i < 2; i++) { /* two at a time: all four in two calls */
		assert_int_equal(sock_epoll_wait(f->s, ep, ev, 2), 2);
		seen |= 1 << ev[0].data.u64 | 1 << ev[1].data.u64;
	}
	assert_int_equal(seen, 15);
	d = sock_dup(f->s, fd[0], 0);
	sock_close(f->s, fd[0]); /* the file is still open */
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 8), 4);
	sock_close(f->s, d);
	assert_int_equal(sock_epoll_wait(f->s, ep, ev, 8), 3);
	sock_close(f->s, ep);
	sock_close(f->s, fd[1]);
}

/* STK-5 */
static void
sets_within_sets_one_deep(void **state)
{
	struct fx *f = *state;
	int outer = sock_epoll_create(f->s, 0), inner = sock_epoll_create(f->s, 0), third = sock_epoll_create(f->s, 0);
	int fd = udp_on(f, 7000);
	struct epoll_event ev[4];

	assert_int_equal(ctl(f, outer, EPOLL_CTL_ADD, inner, EPOLLIN, 9), 0);
	assert_int_equal(ctl(f, inner, EPOLL_CTL_ADD, outer, EPOLLIN, 0), -ELOOP);
	assert_int_equal(ctl(f, third, EPOLL_CTL_ADD, outer, EPOLLIN, 0), -ELOOP);
	assert_int_equal(ctl(f, inner, EPOLL_CTL_ADD, third, EPOLLIN, 0), -ELOOP);
	assert_int_equal(ctl(f, inner, EPOLL_CTL_ADD, fd, EPOLLIN, 1), 0);
	assert_int_equal(sock_epoll_wait(f->s, outer, ev, 4), 0);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	assert_int_equal(sock_epoll_wait(f->s, outer, ev, 4), 1);
	assert_int_equal(ev[0].data.u64, 9);
	take(f, fd);
	assert_int_equal(sock_epoll_wait(f->s, outer, ev, 4), 0);
	sock_close(f->s, inner);
	assert_int_equal(ctl(f, third, EPOLL_CTL_ADD, outer, EPOLLIN, 0), 0); /* it holds none now */
}

/* ---- kqueue ---- */

struct got {
	struct sock_kevent ev[16];
	int n;
};

static void
put(void *ctx, const struct sock_kevent *ev)
{
	struct got *g = ctx;

	g->ev[g->n++] = *ev;
}

static int
kev(struct fx *f, int kq, uintptr_t ident, short filter, unsigned flags, unsigned fflags, int64_t data,
	struct got *g, int max)
{
	struct sock_kevent k = { .ident = ident, .filter = filter, .flags = (unsigned short)flags, .fflags = fflags,
		.data = data, .udata = (void *)(ident * 3) };

	g->n = 0;
	return sock_kevent(f->s, kq, &k, 1, max, put, g);
}

static int
scan(struct fx *f, int kq, struct got *g)
{
	g->n = 0;
	return sock_kevent(f->s, kq, NULL, 0, 16, put, g);
}

/* STK-5 */
static void
kqueue_read_and_write(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s), fd = udp_on(f, 7000);
	uintptr_t id = (uintptr_t)fd;
	struct got g;

	fx_know_peer(f);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ADD, 0, 0, &g, 16), 0);
	fx_rx_udp4(f, 1, 7000, "abc", 3);
	fx_rx_udp4(f, 1, 7000, "de", 2);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(g.ev[0].data, 5);
	assert_int_equal(g.ev[0].ident, fd);
	assert_ptr_equal(g.ev[0].udata, (void *)(id * 3));
	assert_int_equal(kev(f, kq, id, KEV_WRITE, KEV_ADD, 0, 0, &g, 16), 2); /* a filter each */
	assert_int_equal(kev(f, kq, id, KEV_WRITE, KEV_DELETE, 0, 0, &g, 16), 1);
	take(f, fd);
	take(f, fd);
	assert_int_equal(scan(f, kq, &g), 0);
	fx_rx_udp4(f, 1, 7000, "", 0); /* nothing to count, something to read */
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(g.ev[0].data, 0);
	take(f, fd);
	/* low-water mark */
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ADD, KEV_LOWAT, 4, &g, 16), 0);
	fx_rx_udp4(f, 1, 7000, "abc", 3);
	assert_int_equal(scan(f, kq, &g), 0);
	fx_rx_udp4(f, 1, 7000, "de", 2);
	assert_int_equal(scan(f, kq, &g), 1);
	/* off and on */
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_DISABLE, 0, 0, &g, 16), 0);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ENABLE, 0, 0, &g, 16), 1);
	/* an error is in fflags, in Linux's numbers; the end is EV_EOF */
	socket_error(f->s, fd_socket(f->s, fd), ECONNREFUSED);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(g.ev[0].fflags, ECONNREFUSED);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 1), 0);
	assert_int_equal(sock_shutdown(f->s, fd, SHUT_RDWR), 0);
	assert_int_equal(kev(f, kq, id, KEV_WRITE, KEV_ADD, 0, 0, &g, 16), 2);
	assert_int_equal(g.ev[0].flags & KEV_EOF, KEV_EOF);
	assert_int_equal(g.ev[1].flags & KEV_EOF, KEV_EOF);
	/* closing takes the notes along, of that descriptor only */
	int d = sock_dup(f->s, fd, 0);
	sock_close(f->s, fd);
	assert_int_equal(scan(f, kq, &g), 0);
	assert_int_equal(kev(f, kq, (uintptr_t)d, KEV_READ, KEV_ADD, 0, 0, &g, 16), 1);
}

/* STK-5 */
static void
kqueue_clear_oneshot_dispatch_force(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s), fd = udp_on(f, 7000);
	uintptr_t id = (uintptr_t)fd;
	struct got g;

	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ADD | KEV_CLEAR, 0, 0, &g, 16), 0);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(scan(f, kq, &g), 0);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_DELETE, 0, 0, &g, 16), 0);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ADD | KEV_ONESHOT, 0, 0, &g, 16), 1);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_DELETE, 0, 0, &g, 0), -ENOENT);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ADD | KEV_DISPATCH, 0, 0, &g, 16), 1);
	assert_int_equal(scan(f, kq, &g), 0);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ENABLE, 0, 0, &g, 16), 1);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_DELETE, 0, 0, &g, 16), 0);
	take(f, fd);
	take(f, fd);
	assert_int_equal(kev(f, kq, id, KEV_READ, KEV_ADD | KEV_FORCEONESHOT, 0, 0, &g, 16), 1); /* though empty */
	assert_int_equal(scan(f, kq, &g), 0);
}

/* STK-5 */
static void
kqueue_errors_and_receipts(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s), fd = udp_on(f, 7000), kq2 = sock_kqueue(f->s);
	struct got g;
	struct sock_kevent k[2] = { { .ident = 500, .filter = KEV_READ, .flags = KEV_ADD },
		{ .ident = (uintptr_t)fd, .filter = KEV_WRITE, .flags = KEV_ADD } };

	g.n = 0;
	/* an error is reported in place, the rest goes on, and no other events come with it */
	assert_int_equal(sock_kevent(f->s, kq, k, 2, 2, put, &g), 1);
	assert_int_equal(g.ev[0].flags, KEV_ERROR);
	assert_int_equal(g.ev[0].data, EBADF);
	assert_int_equal(g.ev[0].ident, 500);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(kev(f, kq, 500, KEV_READ, KEV_ADD, 0, 0, &g, 0), -EBADF); /* no room: the call fails */
	assert_int_equal(kev(f, kq, ~(uintptr_t)0, KEV_READ, KEV_ADD, 0, 0, &g, 0), -EBADF);
	assert_int_equal(kev(f, kq, (uintptr_t)fd, KEV_WRITE, KEV_ADD | KEV_RECEIPT, 0, 0, &g, 4), 1);
	assert_int_equal(g.ev[0].flags, KEV_ERROR);
	assert_int_equal(g.ev[0].data, 0);
	assert_int_equal(kev(f, kq, (uintptr_t)fd, KEV_WRITE, KEV_ADD | KEV_RECEIPT, 0, 0, &g, 0), 0);
	assert_int_equal(kev(f, kq, (uintptr_t)fd, -3, KEV_ADD, 0, 0, &g, 0), -EINVAL);
	assert_int_equal(kev(f, kq, (uintptr_t)fd, KEV_READ, KEV_ENABLE, 0, 0, &g, 0), -ENOENT);
	assert_int_equal(kev(f, kq, (uintptr_t)kq, KEV_READ, KEV_ADD, 0, 0, &g, 0), -EINVAL);
	assert_int_equal(kev(f, kq, (uintptr_t)kq2, KEV_WRITE, KEV_ADD, 0, 0, &g, 0), -EINVAL);
	assert_int_equal(kev(f, kq, (uintptr_t)kq2, KEV_READ, KEV_ADD, 0, 0, &g, 0), 0);
	assert_int_equal(kev(f, kq2, (uintptr_t)kq, KEV_READ, KEV_ADD, 0, 0, &g, 0), -ELOOP);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(kev(f, kq, 1, KEV_USER, KEV_ADD, 0, 0, &g, 0), -ENOMEM);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(sock_kqueue(f->s), -ENOMEM);
	assert_int_equal(sock_kevent(f->s, fd, k, 1, 0, put, &g), -EBADF);
	assert_int_equal(sock_kevent(f->s, 77, k, 1, 0, put, &g), -EBADF);
	assert_int_equal(sock_kevent(f->s, kq, k, -1, 0, put, &g), -EINVAL);
	assert_int_equal(sock_kevent(f->s, kq, NULL, 1, 0, put, &g), -EFAULT);
	/* a set in a set */
	assert_int_equal(kev(f, kq, (uintptr_t)fd, KEV_WRITE, KEV_DELETE, 0, 0, &g, 0), 0);
	assert_int_equal(kev(f, kq2, 5, KEV_USER, KEV_ADD, KEV_TRIGGER, 0, &g, 0), 0);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(g.ev[0].ident, kq2);
	assert_int_equal(g.ev[0].data, 1);
}

/* STK-5 */
static void
kqueue_user_events(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s);
	struct got g;

	assert_int_equal(kev(f, kq, 42, KEV_USER, KEV_ADD | KEV_CLEAR, 0x0f, 0, &g, 16), 0);
	assert_int_equal(kev(f, kq, 42, KEV_USER, 0, KEV_TRIGGER | KEV_FFOR | 0xf0, 7, &g, 16), 1);
	assert_int_equal(g.ev[0].fflags, 0xff);
	assert_int_equal(g.ev[0].data, 7);
	assert_int_equal(scan(f, kq, &g), 0);
	assert_int_equal(kev(f, kq, 42, KEV_USER, 0, KEV_TRIGGER | KEV_FFAND | 0x3c, 0, &g, 16), 1);
	assert_int_equal(g.ev[0].fflags, 0x3c);
	assert_int_equal(kev(f, kq, 42, KEV_USER, 0, KEV_TRIGGER | KEV_FFCOPY | 0x1, 0, &g, 16), 1);
	assert_int_equal(g.ev[0].fflags, 0x1);
	assert_int_equal(kev(f, kq, 42, KEV_USER, 0, KEV_TRIGGER | 0x77, 0, &g, 16), 1); /* FFNOP */
	assert_int_equal(g.ev[0].fflags, 0x1);
	assert_int_equal(kev(f, kq, 43, KEV_USER, KEV_ADD, KEV_TRIGGER, 0, &g, 16), 1); /* stays, without CLEAR */
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(kev(f, kq, 43, KEV_USER, KEV_DELETE, 0, 0, &g, 16), 0);
}

/* STK-5, STK-1 */
static void
kqueue_timers(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s);
	struct got g;

	assert_int_equal(kev(f, kq, 1, KEV_TIMER, KEV_ADD, 0, 100, &g, 16), 0);
	fx_advance(f, 99 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 0);
	fx_advance(f, 3 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(g.ev[0].data, 1);
	assert_int_equal(scan(f, kq, &g), 0);
	fx_advance(f, 300 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(g.ev[0].data, 3);
	assert_int_equal(kev(f, kq, 1, KEV_TIMER, KEV_DISABLE, 0, 0, &g, 16), 0);
	fx_advance(f, 200 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 0);
	assert_int_equal(kev(f, kq, 1, KEV_TIMER, KEV_ENABLE, 0, 0, &g, 16), 1); /* what fired meanwhile */
	assert_int_equal(kev(f, kq, 1, KEV_TIMER, KEV_DELETE, 0, 0, &g, 16), 0);
	assert_int_equal(kev(f, kq, 2, KEV_TIMER, KEV_ADD | KEV_ONESHOT, KEV_SECONDS, 2, &g, 16), 0);
	fx_advance(f, 1999 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 0);
	fx_advance(f, 5 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(kev(f, kq, 2, KEV_TIMER, KEV_DELETE, 0, 0, &g, 0), -ENOENT); /* gone with its report */
	/* shorter than a tick: counted, not lost */
	assert_int_equal(kev(f, kq, 3, KEV_TIMER, KEV_ADD, KEV_USECONDS, 100, &g, 16), 0);
	fx_advance(f, 20 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_in_range(g.ev[0].data, 180, 210);
	assert_int_equal(kev(f, kq, 3, KEV_TIMER, KEV_DELETE, 0, 0, &g, 16), 0);
	/* absolute wall time: once, at once when it is past */
	mock_set_wall_ns(f->shim, 5000 * FX_NS);
	assert_int_equal(kev(f, kq, 4, KEV_TIMER, KEV_ADD, KEV_ABSTIME | KEV_SECONDS, 1, &g, 16), 0);
	fx_advance(f, 3 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(kev(f, kq, 5, KEV_TIMER, KEV_ADD, 0, 0, &g, 16), 0); /* 0: the shortest */
	fx_advance(f, 5 * FX_MS);
	assert_int_equal(scan(f, kq, &g), 1);
	assert_int_equal(kev(f, kq, 6, KEV_TIMER, KEV_ADD, KEV_NSECONDS, INT64_MAX, &g, 16), 0);
	assert_int_equal(kev(f, kq, 7, KEV_TIMER, KEV_ADD, KEV_SECONDS, INT64_MAX, &g, 16), 0);
	assert_int_equal(kev(f, kq, 8, KEV_TIMER, KEV_ADD, 0, -1, &g, 0), -EINVAL);
	assert_int_equal(kev(f, kq, 8, KEV_TIMER, KEV_ADD, KEV_SECONDS | KEV_USECONDS, 1, &g, 0), -EINVAL);
	assert_int_equal(kev(f, kq, 8, KEV_TIMER, KEV_ADD, 0x100, 1, &g, 0), -EINVAL);
	assert_int_equal(kev(f, kq, 8, KEV_TIMER, KEV_DELETE, 0, 0, &g, 0), -ENOENT);
}

/* STK-5 */
static void
select_and_poll(void **state)
{
	struct fx *f = *state;
	int a = udp_on(f, 7000), b = udp_on(f, 7001);
	fd_set rd, wr, ex;
	struct pollfd p[4] = { { a, POLLIN, 0 }, { b, POLLIN | POLLOUT, 0 }, { -1, POLLIN, 7 }, { 77, 0, 0 } };

	fx_rx_udp4(f, 1, 7000, "x", 1);
	FD_ZERO(&rd);
	FD_ZERO(&wr);
	FD_ZERO(&ex);
	FD_SET(a, &rd);
	FD_SET(b, &rd);
	FD_SET(b, &wr);
	FD_SET(b, &ex);
	assert_int_equal(sock_select(f->s, b + 1, &rd, &wr, &ex), 2);
	assert_true(FD_ISSET(a, &rd));
	assert_false(FD_ISSET(b, &rd));
	assert_true(FD_ISSET(b, &wr));
	assert_false(FD_ISSET(b, &ex));
	FD_SET(77, &wr);
	assert_int_equal(sock_select(f->s, 100, &rd, &wr, NULL), -EBADF);
	assert_true(FD_ISSET(77, &wr)); /* the sets are as they were */
	assert_int_equal(sock_select(f->s, 77, &rd, &wr, NULL), 2); /* 77 itself is not asked for */
	assert_int_equal(sock_select(f->s, 0, NULL, NULL, NULL), 0);
	assert_int_equal(sock_select(f->s, -1, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(sock_poll(f->s, p, 4), 3);
	assert_int_equal(p[0].revents, POLLIN);
	assert_int_equal(p[1].revents, POLLOUT);
	assert_int_equal(p[2].revents, 0);
	assert_int_equal(p[3].revents, POLLNVAL);
	socket_error(f->s, fd_socket(f->s, a), ECONNREFUSED);
	p[0].events = 0;
	assert_int_equal(sock_poll(f->s, p, 1), 1);
	assert_int_equal(p[0].revents, POLLERR);
	assert_int_equal(sock_poll(f->s, NULL, 1), -EFAULT);
	assert_int_equal(sock_poll(f->s, p, 1u << 30), -EINVAL);
}

struct closer {
	struct fx *f;
	int kq, n;
	bool set_too;
};

static void
close_it(void *ctx, const struct sock_kevent *ev)
{
	struct closer *c = ctx;

	c->n++;
	assert_int_equal(sock_close(c->f->s, (int)ev->ident), 0);
	if (c->set_too)
		assert_int_equal(sock_close(c->f->s, c->kq), 0);
	c->set_too = false;
}

/* STK-5: the receiver of an event may close its descriptor, and the kqueue itself. */
static void
kqueue_reports_survive_what_their_receiver_closes(void **state)
{
	struct fx *f = *state;
	struct closer c = { .f = f };
	struct got g;
	int fd[3];

	for (int round = 0; round < 2; round++) {
		c.kq = sock_kqueue(f->s);
		for (int i = 0; i < 3; i++) {
			fd[i] = sock_socket(f->s, AF_INET, SOCK_DGRAM, 0);
			assert_int_equal(kev(f, c.kq, (uintptr_t)fd[i], KEV_WRITE, KEV_ADD, 0, 0, &g, 0), 0);
		}
		c.n = 0;
		c.set_too = round == 1;
		assert_int_equal(sock_kevent(f->s, c.kq, NULL, 0, 16, close_it, &c), 3);
		assert_int_equal(c.n, 3);
		for (int i = 0; i < 3; i++)
			assert_false(sock_is_open(f->s, fd[i]));
		assert_int_equal(sock_is_open(f->s, c.kq), round == 0);
		if (round == 0)
			assert_int_equal(sock_close(f->s, c.kq), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(epoll_one_event_per_fd_and_user_data_zero), T(epoll_errors), T(epoll_edge_and_oneshot),
		T(epoll_errors_and_hangups_need_not_be_asked_for), T(epoll_is_fair_and_forgets_closed_files),
		T(sets_within_sets_one_deep), T(kqueue_read_and_write), T(kqueue_clear_oneshot_dispatch_force),
		T(kqueue_errors_and_receipts), T(kqueue_user_events), T(kqueue_timers), T(select_and_poll),
		T(kqueue_reports_survive_what_their_receiver_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams under kqueue, epoll, select and poll. */
#include "stream_world.h"

struct got {
	struct sock_kevent ev[8];
	int n;
};

static void
put_event(void *ctx, const struct sock_kevent *ev)
{
	struct got *g = ctx;

	g->ev[g->n++] = *ev;
}

static int
note(struct fx *f, int kq, int fd, short filter, unsigned short flags, unsigned int fflags, int64_t data)
{
	struct sock_kevent k = { .ident = (uintptr_t)fd, .filter = filter, .flags = flags, .fflags = fflags, .data = data };

	return sock_kevent(f->s, kq, &k, 1, 0, NULL, NULL);
}

/* The one event that kq reports; NULL: none. */
static const struct sock_kevent *
event(struct fx *f, int kq)
{
	static struct got g;

	g.n = 0;
	sock_kevent(f->s, kq, NULL, 0, 8, put_event, &g);
	assert_in_range(g.n, 0, 1);
	return g.n == 1 ? &g.ev[0] : NULL;
}

/* STK-5: data is how many accepts will succeed */
static void
kqueue_listener(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s), lst = listener(f, 80), c[3];
	const struct sock_kevent *e;

	assert_int_equal(note(f, kq, lst, KEV_READ, KEV_ADD, 0, 0), 0);
	assert_null(event(f, kq));
	for (int i = 0; i < 3; i++) {
		c[i] = stream(f, AF_INET);
		assert_int_equal(connect4(f, c[i], ME, 80), -EINPROGRESS);
	}
	settle(f);
	e = event(f, kq);
	assert_non_null(e);
	assert_int_equal(e->data, 3);
	assert_int_equal(e->flags & KEV_EOF, 0);
	assert_true(sock_accept(f->s, lst, NULL, NULL, 0) >= 0);
	assert_int_equal(event(f, kq)->data, 2);
	assert_true(sock_accept(f->s, lst, NULL, NULL, 0) >= 0);
	assert_true(sock_accept(f->s, lst, NULL, NULL, 0) >= 0);
	assert_null(event(f, kq));
	assert_int_equal(note(f, kq, lst, KEV_WRITE, KEV_ADD, 0, 0), 0);
	assert_null(event(f, kq)); /* a listener is never written to */
}

/* STK-5 */
static void
kqueue_reading(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s), lst = listener(f, 80), fd[2];
	const struct sock_kevent *e;

	connected(f, lst, 80, fd);
	assert_int_equal(note(f, kq, fd[1], KEV_READ, KEV_ADD | KEV_CLEAR, KEV_LOWAT, 5), 0);
	assert_null(event(f, kq));
	assert_int_equal(put(f, fd[0], "abc"), 3);
	assert_null(event(f, kq)); /* below the mark */
	assert_int_equal(put(f, fd[0], "defg"), 4);
	e = event(f, kq);
	assert_non_null(e);
	assert_int_equal(e->data, 7);
	assert_null(event(f, kq)); /* told */
	assert_int_equal(put(f, fd[0], "h"), 1);
	assert_int_equal(event(f, kq)->data, 8); /* new data, new event */
	assert_int_equal(note(f, kq, fd[1], KEV_READ, KEV_DELETE, 0, 0), 0);
	assert_int_equal(note(f, kq, fd[1], KEV_READ, KEV_ADD, 0, 0), 0);
	assert_int_equal(event(f, kq)->data, 8);
	assert_int_equal(event(f, kq)->data, 8); /* level */
	/* the peer's end coexists with data */
	sock_shutdown(f->s, fd[0], SHUT_WR);
	settle(f);
	e = event(f, kq);
	assert_int_equal(e->data, 8);
	assert_int_equal(e->flags & KEV_EOF, KEV_EOF);
	assert_int_equal(e->fflags, 0);
	got(f, fd[1], "abcdefgh");
	e = event(f, kq);
	assert_int_equal(e->data, 0);
	assert_int_equal(e->flags & KEV_EOF, KEV_EOF);
}

/* STK-5 */
static void
kqueue_errors_and_ends(void **state)
{
	struct fx *f = *state;
	struct linger l = { 1, 0 };
	int kq = sock_kqueue(f->s), kw = sock_kqueue(f->s), lst = listener(f, 80), fd[2], c = stream(f, AF_INET);
	const struct sock_kevent *e;

	/* not connected yet: neither */
	assert_int_equal(note(f, kq, c, KEV_READ, KEV_ADD, 0, 0), 0);
	assert_int_equal(note(f, kw, c, KEV_WRITE, KEV_ADD, 0, 0), 0);
	assert_null(event(f, kq));
	assert_null(event(f, kw));
	/* refused */
	assert_int_equal(connect4(f, c, ME, 81), -EINPROGRESS);
	assert_null(event(f, kw));
	settle(f);
	e = event(f, kw);
	assert_non_null(e);
	assert_int_equal(e->flags & KEV_EOF, KEV_EOF);
	assert_int_equal(e->fflags, ECONNREFUSED);
	e = event(f, kq);
	assert_int_equal(e->fflags, ECONNREFUSED);
	assert_int_equal(err_of(f, c), ECONNREFUSED);
	assert_int_equal(event(f, kq)->fflags, 0);
	sock_close(f->s, c);
	assert_null(event(f, kq));
	/* reset */
	connected(f, lst, 80, fd);
	assert_int_equal(note(f, kq, fd[1], KEV_READ, KEV_ADD, 0, 0), 0);
	assert_int_equal(sock_setsockopt(f->s, fd[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	sock_close(f->s, fd[0]);
	settle(f);
	e = event(f, kq);
	assert_non_null(e);
	assert_int_equal(e->flags & KEV_EOF, KEV_EOF);
	assert_int_equal(e->fflags, ECONNRESET);
}

/* STK-5 */
static void
kqueue_writing(void **state)
{
	struct fx *f = *state;
	int kq = sock_kqueue(f->s), lst = listener(f, 80), fd[2], small = 4096;
	const struct sock_kevent *e;
	int64_t room;

	assert_int_equal(sock_setsockopt(f->s, lst, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	connected(f, lst, 80, fd);
	assert_int_equal(sock_setsockopt(f->s, fd[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	assert_int_equal(note(f, kq, fd[0], KEV_WRITE, KEV_ADD | KEV_CLEAR, 0, 0), 0);
	e = event(f, kq);
	assert_non_null(e);
	room = e->data;
	assert_int_equal(room, tcp_writable(fd_stream(f->s, fd[0])->p));
	assert_null(event(f, kq));
	fill(f, fd[0]);
	while (event(f, kq) != NULL)
		;
	drain(f, fd[1]);
	e = event(f, kq);
	assert_non_null(e); /* acknowledgements made room */
	assert_int_equal(e->data, room);
	assert_int_equal(note(f, kq, fd[0], KEV_WRITE, KEV_ADD, KEV_LOWAT, room + 1), 0);
	assert_null(event(f, kq));
	assert_int_equal(note(f, kq, fd[0], KEV_WRITE, KEV_ADD, KEV_LOWAT, room), 0);
	assert_non_null(event(f, kq));
	sock_shutdown(f->s, fd[0], SHUT_WR);
	e = event(f, kq);
	assert_int_equal(e->flags & KEV_EOF, KEV_EOF);
	/* a forced report */
	assert_int_equal(note(f, kq, fd[0], KEV_WRITE, KEV_DELETE, 0, 0), 0);
	assert_int_equal(note(f, kq, fd[1], KEV_READ, KEV_ADD | KEV_FORCEONESHOT, 0, 0), 0);
	assert_non_null(event(f, kq));
	assert_null(event(f, kq));
}

static int
watch(struct fx *f, int ep, int op, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return sock_epoll_ctl(f->s, ep, op, fd, &ev);
}

/* The bits of the one event there is; 0: none. */
static uint32_t
bits(struct fx *f, int ep)
{
	struct epoll_event ev[4];
	int n = sock_epoll_wait(f->s, ep, ev, 4);

	assert_in_range(n, 0, 1);
	return n == 1 ? ev[0].events : 0;
}

#define ALL (EPOLLIN | EPOLLOUT | EPOLLRDHUP)

/* STK-5: Linux's bits at each step of a connection's life */
static void
epoll_life_of_a_connection(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, 0), el = sock_epoll_create(f->s, 0), lst = listener(f, 80), c, s2;

	c = stream(f, AF_INET);
	assert_int_equal(watch(f, ep, EPOLL_CTL_ADD, c, ALL), 0);
	assert_int_equal(bits(f, ep), EPOLLOUT | EPOLLHUP); /* never opened */
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	assert_int_equal(bits(f, ep), 0);
	assert_int_equal(watch(f, el, EPOLL_CTL_ADD, lst, EPOLLIN), 0);
	assert_int_equal(bits(f, el), 0);
	settle(f);
	assert_int_equal(bits(f, ep), EPOLLOUT);
	assert_int_equal(bits(f, el), EPOLLIN);
	s2 = sock_accept(f->s, lst, NULL, NULL, 0);
	assert_int_equal(bits(f, el), 0);
	assert_int_equal(put(f, s2, "x"), 1);
	assert_int_equal(bits(f, ep), EPOLLIN | EPOLLOUT); /* one event, both bits */
	got(f, c, "x");
	assert_int_equal(bits(f, ep), EPOLLOUT);
	/* the peer closes its half: no HUP yet */
	sock_shutdown(f->s, s2, SHUT_WR);
	settle(f);
	assert_int_equal(bits(f, ep), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
	sock_shutdown(f->s, c, SHUT_WR);
	settle(f);
	assert_int_equal(bits(f, ep), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP);
	sock_close(f->s, c);
	/* refused: not asked for, told all the same */
	c = stream(f, AF_INET);
	assert_int_equal(connect4(f, c, ME, 81), -EINPROGRESS);
	assert_int_equal(watch(f, ep, EPOLL_CTL_ADD, c, 0), 0);
	assert_int_equal(bits(f, ep), 0);
	settle(f);
	assert_int_equal(bits(f, ep), EPOLLERR | EPOLLHUP);
	assert_int_equal(err_of(f, c), ECONNREFUSED);
	assert_int_equal(bits(f, ep), EPOLLHUP);
}

/* STK-5: edges are new data, new room after there was none, and ends */
static void
epoll_edges(void **state)
{
	struct fx *f = *state;
	int ep = sock_epoll_create(f->s, 0), lst = listener(f, 80), c = stream(f, AF_INET), s2, small = 4096;

	assert_int_equal(sock_setsockopt(f->s, lst, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	assert_int_equal(sock_setsockopt(f->s, c, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	assert_int_equal(watch(f, ep, EPOLL_CTL_ADD, c, ALL | EPOLLET), 0);
	assert_int_equal(bits(f, ep), 0);
	settle(f);
	assert_int_equal(bits(f, ep), EPOLLOUT); /* connected */
	assert_int_equal(bits(f, ep), 0);
	s2 = sock_accept(f->s, lst, NULL, NULL, 0);
	on(f, s2, IPPROTO_TCP, OPT_NODELAY);
	/* an acknowledgement is no edge while there is room */
	assert_int_equal(put(f, c, "hello"), 5);
	settle_long(f);
	got(f, s2, "hello");
	assert_int_equal(bits(f, ep), 0);
	/* each arrival is one */
	assert_int_equal(put(f, s2, "a"), 1);
	assert_int_equal(bits(f, ep), EPOLLIN | EPOLLOUT);
	assert_int_equal(bits(f, ep), 0);
	assert_int_equal(put(f, s2, "b"), 1);
	assert_int_equal(bits(f, ep), EPOLLIN | EPOLLOUT);
	got(f, c, "ab");
	/* no room, then room */
	fill(f, c);
	assert_int_equal(bits(f, ep), 0);
	drain(f, s2);
	assert_int_equal(bits(f, ep), EPOLLOUT);
	assert_int_equal(bits(f, ep), 0);
	sock_close(f->s, s2);
	settle(f);
	assert_int_equal(bits(f, ep), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
	assert_int_equal(bits(f, ep), 0);
}

/* STK-5 */
static void
select_and_poll_see_streams(void **state)
{
	struct fx *f = *state;
	int lst = listener(f, 80), fd[2];
	struct pollfd p[3];
	fd_set rd, wr, ex;

	connected(f, lst, 80, fd);
	p[0] = (struct pollfd){ .fd = lst, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = fd[1], .events = POLLIN | POLLRDNORM | POLLRDHUP };
	p[2] = (struct pollfd){ .fd = fd[0], .events = POLLOUT | POLLWRNORM };
	assert_int_equal(sock_poll(f->s, p, 3), 1);
	assert_int_equal(p[2].revents, POLLOUT | POLLWRNORM);
	assert_int_equal(put(f, fd[0], "x"), 1);
	assert_int_equal(sock_poll(f->s, p, 3), 2);
	assert_int_equal(p[1].revents, POLLIN | POLLRDNORM);
	sock_shutdown(f->s, fd[0], SHUT_WR);
	settle(f);
	assert_int_equal(sock_poll(f->s, p, 3), 2);
	assert_int_equal(p[1].revents, POLLIN | POLLRDNORM | POLLRDHUP);
	FD_ZERO(&rd);
	FD_ZERO(&wr);
	FD_ZERO(&ex);
	FD_SET(lst, &rd);
	FD_SET(fd[1], &rd);
	FD_SET(fd[1], &wr);
	FD_SET(fd[1], &ex);
	assert_int_equal(sock_select(f->s, 16, &rd, &wr, &ex), 2);
	assert_false(FD_ISSET(lst, &rd));
	assert_true(FD_ISSET(fd[1], &rd));
	assert_true(FD_ISSET(fd[1], &wr));
	assert_false(FD_ISSET(fd[1], &ex));
	assert_int_equal(connect4(f, stream(f, AF_INET), ME, 80), -EINPROGRESS);
	settle(f);
	FD_SET(lst, &rd);
	assert_int_equal(sock_select(f->s, lst + 1, &rd, NULL, NULL), 1);
}

/* STK-5: a stream in a kqueue in a kqueue; closing it takes its notes along */
static void
sets_hold_streams(void **state)
{
	struct fx *f = *state;
	int outer = sock_kqueue(f->s), inner = sock_epoll_create(f->s, 0), lst = listener(f, 80), fd[2], d;

	connected(f, lst, 80, fd);
	assert_int_equal(note(f, outer, inner, KEV_READ, KEV_ADD, 0, 0), 0);
	assert_int_equal(watch(f, inner, EPOLL_CTL_ADD, fd[1], EPOLLIN | EPOLLEXCLUSIVE), 0);
	assert_null(event(f, outer));
	assert_int_equal(put(f, fd[0], "x"), 1);
	assert_non_null(event(f, outer));
	assert_int_equal(bits(f, inner), EPOLLIN);
	d = sock_dup(f->s, fd[1], 0);
	sock_close(f->s, fd[1]);
	assert_int_equal(bits(f, inner), EPOLLIN);
	sock_close(f->s, d);
	assert_int_equal(bits(f, inner), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(kqueue_listener),
		T(kqueue_reading),
		T(kqueue_errors_and_ends),
		T(kqueue_writing),
		T(epoll_life_of_a_connection),
		T(epoll_edges),
		T(select_and_poll_see_streams),
		T(sets_hold_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

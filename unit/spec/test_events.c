/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll, select and poll as Linux's manual pages describe them, kqueue as FreeBSD's: readiness and errno. STK-5 */
#include "api.h"

/* ---- epoll ------------------------------------------------------------------------------------------ */

static int
ep_ctl(int ep, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };

	return ff_epoll_ctl(ep, op, fd, &ev);
}

static void
epoll_ctl_errors(void **state)
{
	int ep = ff_epoll_create(1), fd = dgram(5000), in = ff_epoll_create(0);
	struct epoll_event ev = { 0 };

	(void)state;
	FAILS(ff_epoll_create(-1), EINVAL);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN, 1), 0);
	FAILS(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN, 1), EEXIST);
	FAILS(ep_ctl(ep, EPOLL_CTL_ADD, ep, EPOLLIN, 1), EINVAL);
	FAILS(ep_ctl(ep, 77, fd, EPOLLIN, 1), EINVAL);
	FAILS(ep_ctl(fd, EPOLL_CTL_ADD, ep, EPOLLIN, 1), EINVAL);
	FAILS(ff_epoll_ctl(ep, EPOLL_CTL_MOD, fd, NULL), EFAULT);
	assert_int_equal(ff_epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL), 0);
	FAILS(ep_ctl(ep, EPOLL_CTL_DEL, fd, 0, 0), ENOENT);
	FAILS(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN, 0), ENOENT);
	FAILS(ff_epoll_wait(ep, &ev, 0, 0), EINVAL);
	FAILS(ff_epoll_wait(ep, &ev, -1, 0), EINVAL);
	FAILS(ff_epoll_wait(fd, &ev, 1, 0), EINVAL);
	FAILS(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT, 0), EINVAL);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, 0), 0);
	FAILS(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLEXCLUSIVE, 0), EINVAL);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, in, EPOLLIN, 0), 0);
	FAILS(ep_ctl(in, EPOLL_CTL_ADD, ep, EPOLLIN, 0), ELOOP);
}

static void
epoll_level_triggered(void **state)
{
	struct api *api = *state;
	int ep = ff_epoll_create(1), fd = dgram(5000);
	struct epoll_event ev[4];
	uint8_t b[8];

	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN, 0), 0);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	arrive(api, 5000, "a", 1);
	arrive(api, 5000, "b", 1);
	for (unsigned int i = 0; i < 3; i++) {
		ev[0].data.u64 = 99;
		assert_int_equal(ff_epoll_wait(ep, ev, 4, -1), 1); /* one event for a descriptor, again and again */
		assert_int_equal(ev[0].events, EPOLLIN);
		assert_int_equal(ev[0].data.u64, 0); /* data 0 is data */
	}
	assert_int_equal(ff_read(fd, b, 8), 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ff_read(fd, b, 8), 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT, UINT64_MAX), 0);
	arrive(api, 5000, "a", 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1); /* both in one */
	assert_int_equal(ev[0].events, EPOLLIN | EPOLLOUT);
	assert_int_equal(ev[0].data.u64, UINT64_MAX);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_MOD, fd, 0, 5), 0);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	assert_int_equal(ff_close(fd), 0);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
}

static void
epoll_edge_triggered(void **state)
{
	struct api *api = *state;
	int ep = ff_epoll_create(1), fd = dgram(5000);
	struct epoll_event ev[4];
	uint8_t b[8];

	arrive(api, 5000, "a", 1);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, 1), 0);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1); /* ready when added */
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	arrive(api, 5000, "b", 1); /* unread data do not hide the next edge */
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	assert_int_equal(ff_read(fd, b, 8), 1); /* reading is no edge */
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET, 2), 0); /* MOD looks again */
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ev[0].data.u64, 2);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	arrive(api, 5000, "c", 1);
	while (ff_read(fd, b, 8) == 1)
		;
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0); /* nothing is there any more */
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN, 3), 0); /* level from now on */
	arrive(api, 5000, "d", 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
}

static void
epoll_oneshot(void **state)
{
	struct api *api = *state;
	int ep = ff_epoll_create(1), fd = dgram(5000);
	struct epoll_event ev[4];

	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, 1), 0);
	arrive(api, 5000, "a", 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	arrive(api, 5000, "b", 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	FAILS(ep_ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN, 1), EEXIST); /* still a member */
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLONESHOT, 2), 0);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ev[0].events, EPOLLIN | EPOLLOUT);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_DEL, fd, 0, 0), 0);
}

/* epoll_wait(2): when more are ready than maxevents, successive calls go round all of them. */
static void
epoll_is_fair_when_more_are_ready_than_asked_for(void **state)
{
	struct api *api = *state;
	int ep = ff_epoll_create(1);
	unsigned int seen[5] = { 0 };
	struct epoll_event ev[2];

	for (uint16_t i = 0; i < 5; i++) {
		assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, dgram((uint16_t)(5000 + i)), EPOLLIN, i), 0);
		arrive(api, (uint16_t)(5000 + i), "x", 1);
	}
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(ff_epoll_wait(ep, ev, 2, 0), 2);
		seen[ev[0].data.u64]++;
		seen[ev[1].data.u64]++;
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(seen[i], 2);
}

/* epoll(7): errors are always reported, asked for or not; closing one of two descriptors of a file removes nothing. */
static void
epoll_errors_and_dup(void **state)
{
	struct api *api = *state;
	int ep = ff_epoll_create(1), fd = dgram(5000), two;
	struct sockaddr_in p = in4(PEER4, 1000);
	struct epoll_event ev[4];
	struct fx_pkt pkt;
	uint8_t f[256], l4[256];

	assert_int_equal(ff_connect(fd, A(&p), sizeof(p)), 0);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_ADD, fd, 0, 1), 0);
	assert_int_equal(ff_send(fd, "x", 1, 0), 1);
	fx_expect(api->fx, 0x0800, &pkt);
	fx_inject(api->fx, f, ip4(f, 1, 1, 0, l4, icmp(l4, 4, NULL, NULL, 3, 3, 0, pkt.l3, 28)));
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ev[0].events, EPOLLERR);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
	assert_int_equal(ep_ctl(ep, EPOLL_CTL_MOD, fd, EPOLLIN, 1), 0);
	two = ff_dup(fd);
	assert_int_equal(ff_close(fd), 0);
	arrive(api, 5000, "a", 1);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 1);
	assert_int_equal(ff_close(two), 0);
	assert_int_equal(ff_epoll_wait(ep, ev, 4, 0), 0);
}

static void
a_set_in_a_set_is_readable_when_something_is_ready(void **state)
{
	struct api *api = *state;
	int in = ff_epoll_create(1), out = ff_epoll_create(1), fd = dgram(5000);
	struct epoll_event ev[2];

	assert_int_equal(ep_ctl(in, EPOLL_CTL_ADD, fd, EPOLLIN, 1), 0);
	assert_int_equal(ep_ctl(out, EPOLL_CTL_ADD, in, EPOLLIN, 2), 0);
	assert_int_equal(ff_epoll_wait(out, ev, 2, 0), 0);
	arrive(api, 5000, "a", 1);
	assert_int_equal(ff_epoll_wait(out, ev, 2, 0), 1);
	assert_int_equal(ev[0].events, EPOLLIN);
	assert_int_equal(ev[0].data.u64, 2);
}

/* ---- kqueue ----------------------------------------------------------------------------------------- */

static int
kev(int kq, uintptr_t ident, short filter, unsigned short flags, unsigned int fflags, int64_t data, void *udata)
{
	struct kevent k;

	EV_SET(&k, ident, filter, flags, fflags, data, udata);
	return ff_kevent(kq, &k, 1, NULL, 0, NULL);
}

static int
kwait(int kq, struct kevent *k, int n)
{
	return ff_kevent(kq, NULL, 0, k, n, NULL);
}

static void
kqueue_read_and_write(void **state)
{
	struct api *api = *state;
	int kq = ff_kqueue(), fd = dgram(5000);
	struct kevent k[4];
	uint8_t b[16];

	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ADD, 0, 0, &kq), 0);
	assert_int_equal(kwait(kq, k, 4), 0);
	arrive(api, 5000, "0123456789", 10);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(kwait(kq, k, 4), 1);
		assert_int_equal(k[0].ident, fd);
		assert_int_equal(k[0].filter, EVFILT_READ);
		assert_true(k[0].data >= 10);
		assert_ptr_equal(k[0].udata, &kq);
		assert_int_equal(k[0].flags & (EV_ERROR | EV_EOF), 0);
	}
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_WRITE, EV_ADD, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 2); /* one for each filter */
	assert_int_equal(kwait(kq, k, 1), 1);
	assert_int_equal(ff_read(fd, b, 16), 10);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(k[0].filter, EVFILT_WRITE);
	assert_true(k[0].data > 0);
	assert_int_equal(ff_close(fd), 0); /* removes both */
	assert_int_equal(kwait(kq, k, 4), 0);
}

static void
kqueue_flags(void **state)
{
	struct api *api = *state;
	int kq = ff_kqueue(), fd = dgram(5000);
	struct kevent k[4];

	arrive(api, 5000, "a", 1);
	/* CLEAR: once for each arrival */
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(kwait(kq, k, 4), 0);
	arrive(api, 5000, "a", 1);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(kwait(kq, k, 4), 0);
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_DELETE, 0, 0, NULL), 0);
	/* ONESHOT: gone after the first */
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ADD | EV_ONESHOT, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(kwait(kq, k, 4), 0);
	FAILS(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_DELETE, 0, 0, NULL), ENOENT);
	/* DISPATCH: disabled after the first, enabled again */
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ADD | EV_DISPATCH, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(kwait(kq, k, 4), 0);
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ENABLE | EV_DISPATCH, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_DELETE, 0, 0, NULL), 0);
	/* DISABLE and ENABLE */
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ADD | EV_DISABLE, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 0);
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ENABLE, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_DISABLE, 0, 0, NULL), 0);
	assert_int_equal(kwait(kq, k, 4), 0);
	/* ADD again changes udata, and enables */
	assert_int_equal(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ADD | EV_ENABLE, 0, 0, &kq), 0);
	assert_int_equal(kwait(kq, k, 4), 1);
	assert_ptr_equal(k[0].udata, &kq);
}

static void
kqueue_errors_and_receipts(void **state)
{
	int kq = ff_kqueue(), fd = dgram(5000);
	struct kevent c[3], k[3];

	(void)state;
	FAILS(kev(kq, 77, EVFILT_READ, EV_ADD, 0, 0, NULL), EBADF);
	FAILS(kev(kq, (uintptr_t)-1, EVFILT_READ, EV_ADD, 0, 0, NULL), EBADF);
	FAILS(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_DELETE, 0, 0, NULL), ENOENT);
	FAILS(kev(kq, (uintptr_t)fd, EVFILT_READ, EV_ENABLE, 0, 0, NULL), ENOENT);
	FAILS(kev(kq, (uintptr_t)fd, -99, EV_ADD, 0, 0, NULL), EINVAL);
	FAILS(kev(kq, (uintptr_t)fd, 5, EV_ADD, 0, 0, NULL), EINVAL);
	FAILS(ff_kevent(fd, NULL, 0, k, 1, NULL), EBADF); /* kevent(2): not a kqueue */
	/* with room an error is an event, and the others are applied */
	EV_SET(&c[0], 77, EVFILT_READ, EV_ADD, 0, 0, NULL);
	EV_SET(&c[1], fd, EVFILT_WRITE, EV_ADD, 0, 0, NULL);
	EV_SET(&c[2], fd, EVFILT_READ, EV_DELETE, 0, 0, NULL);
	assert_int_equal(ff_kevent(kq, c, 3, k, 3, NULL), 2);
	assert_int_equal(k[0].flags & EV_ERROR, EV_ERROR);
	assert_int_equal(k[0].ident, 77);
	assert_int_equal(k[0].data, EBADF);
	assert_int_equal(k[1].data, ENOENT);
	assert_int_equal(kwait(kq, k, 3), 1);
	/* a receipt is an EV_ERROR with data 0, and nothing else is reported */
	EV_SET(&c[0], fd, EVFILT_WRITE, EV_ADD | EV_RECEIPT, 0, 0, NULL);
	assert_int_equal(ff_kevent(kq, c, 1, k, 3, NULL), 1);
	assert_int_equal(k[0].flags & EV_ERROR, EV_ERROR);
	assert_int_equal(k[0].data, 0);
}

static void
kqueue_user_events(void **state)
{
	int kq = ff_kqueue();
	struct kevent k[2];

	(void)state;
	assert_int_equal(kev(kq, 12345, EVFILT_USER, EV_ADD | EV_CLEAR, NOTE_FFCOPY | 0xf0, 0, &kq), 0);
	assert_int_equal(kwait(kq, k, 2), 0);
	assert_int_equal(kev(kq, 12345, EVFILT_USER, 0, NOTE_FFOR | NOTE_TRIGGER | 0x0f, 0, &kq), 0);
	assert_int_equal(kwait(kq, k, 2), 1);
	assert_int_equal(k[0].ident, 12345);
	assert_int_equal(k[0].fflags & NOTE_FFLAGSMASK, 0xff);
	assert_int_equal(kwait(kq, k, 2), 0);
	assert_int_equal(kev(kq, 12345, EVFILT_USER, EV_DELETE, 0, 0, NULL), 0);
	FAILS(kev(kq, 12345, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL), ENOENT);
}

static void
kqueue_timers(void **state)
{
	struct api *api = *state;
	int kq = ff_kqueue();
	struct kevent k[2];

	assert_int_equal(kev(kq, 1, EVFILT_TIMER, EV_ADD, 0, 100, &kq), 0); /* 100 ms */
	assert_int_equal(kev(kq, 2, EVFILT_TIMER, EV_ADD | EV_ONESHOT, NOTE_SECONDS, 1, NULL), 0);
	fx_advance(api->fx, 95 * FX_MS);
	assert_int_equal(kwait(kq, k, 2), 0);
	fx_advance(api->fx, 10 * FX_MS);
	assert_int_equal(kwait(kq, k, 2), 1);
	assert_int_equal(k[0].ident, 1);
	assert_int_equal(k[0].data, 1); /* how often since the last report */
	assert_int_equal(kwait(kq, k, 2), 0);
	fx_advance(api->fx, 300 * FX_MS);
	assert_int_equal(kwait(kq, k, 2), 1);
	assert_int_equal(k[0].data, 3);
	assert_int_equal(kev(kq, 1, EVFILT_TIMER, EV_DELETE, 0, 0, NULL), 0);
	fx_advance(api->fx, 600 * FX_MS);
	assert_int_equal(kwait(kq, k, 2), 1);
	assert_int_equal(k[0].ident, 2);
	fx_advance(api->fx, 5 * FX_NS);
	assert_int_equal(kwait(kq, k, 2), 0);
	FAILS(kev(kq, 2, EVFILT_TIMER, EV_DELETE, 0, 0, NULL), ENOENT);
}

/* ---- select and poll ------------------------------------------------------------------------------------- */

static void
poll_reports(void **state)
{
	struct api *api = *state;
	int fd = dgram(5000);
	struct pollfd p[4] = { { .fd = fd, .events = POLLIN }, { .fd = -1, .events = POLLIN, .revents = 9 },
		{ .fd = 77, .events = 0 }, { .fd = fd, .events = POLLOUT } };

	assert_int_equal(ff_poll(p, 4, 0), 2);
	assert_int_equal(p[0].revents, 0);
	assert_int_equal(p[1].revents, 0);
	assert_int_equal(p[2].revents, POLLNVAL);
	assert_int_equal(p[3].revents, POLLOUT);
	arrive(api, 5000, "x", 1);
	assert_int_equal(ff_poll(p, 2, -1), 1);
	assert_int_equal(p[0].revents & (POLLIN | POLLOUT | POLLERR), POLLIN);
	assert_int_equal(ff_poll(NULL, 0, 0), 0);
}

static void
select_reports(void **state)
{
	struct api *api = *state;
	int a = dgram(5000), b = dgram(5001), top = (a > b ? a : b) + 1;
	fd_set rd, wr;

	FD_ZERO(&rd);
	FD_SET(a, &rd);
	FD_SET(b, &rd);
	assert_int_equal(ff_select(top, &rd, NULL, NULL, &(struct timeval){ 0 }), 0);
	assert_false(FD_ISSET(a, &rd) || FD_ISSET(b, &rd));
	arrive(api, 5001, "x", 1);
	FD_SET(a, &rd);
	FD_SET(b, &rd);
	FD_ZERO(&wr);
	FD_SET(a, &wr);
	FD_SET(b, &wr);
	assert_int_equal(ff_select(top, &rd, &wr, NULL, NULL), 3); /* bits, not descriptors */
	assert_false(FD_ISSET(a, &rd));
	assert_true(FD_ISSET(b, &rd) && FD_ISSET(a, &wr) && FD_ISSET(b, &wr));
	FAILS(ff_select(-1, &rd, NULL, NULL, NULL), EINVAL);
	FD_ZERO(&rd);
	FD_SET(77, &rd);
	FAILS(ff_select(78, &rd, NULL, NULL, NULL), EBADF);
	assert_int_equal(ff_select(77, &rd, NULL, NULL, NULL), 0); /* 77 is not below 77 */
	assert_int_equal(ff_select(0, NULL, NULL, NULL, NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		S(epoll_ctl_errors),
		S(epoll_level_triggered),
		S(epoll_edge_triggered),
		S(epoll_oneshot),
		S(epoll_is_fair_when_more_are_ready_than_asked_for),
		S(epoll_errors_and_dup),
		S(a_set_in_a_set_is_readable_when_something_is_ready),
		S(kqueue_read_and_write),
		S(kqueue_flags),
		S(kqueue_errors_and_receipts),
		S(kqueue_user_events),
		S(kqueue_timers),
		S(poll_reports),
		S(select_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

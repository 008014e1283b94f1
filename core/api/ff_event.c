/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the ff_* API: kqueue, epoll, select, poll. */
#include "api_priv.h"

#include <stddef.h>

#include "include/ff_epoll.h"

#define SAME(field) _Static_assert(offsetof(struct kevent, field) == offsetof(struct sock_kevent, field), #field)
SAME(ident);
SAME(filter);
SAME(flags);
SAME(fflags);
SAME(data);
SAME(udata);
SAME(ext);
_Static_assert(sizeof(struct kevent) == 64 && sizeof(struct sock_kevent) == 64, "FreeBSD 12's layout");
_Static_assert(EVFILT_READ == KEV_READ && EVFILT_WRITE == KEV_WRITE && EVFILT_TIMER == KEV_TIMER &&
	EVFILT_USER == KEV_USER, "filters");
_Static_assert(EV_ADD == KEV_ADD && EV_DELETE == KEV_DELETE && EV_ENABLE == KEV_ENABLE &&
	EV_DISABLE == KEV_DISABLE && EV_ONESHOT == KEV_ONESHOT && EV_CLEAR == KEV_CLEAR &&
	EV_RECEIPT == KEV_RECEIPT && EV_DISPATCH == KEV_DISPATCH && EV_ERROR == KEV_ERROR && EV_EOF == KEV_EOF &&
	EV_FORCEONESHOT == KEV_FORCEONESHOT, "flags");
_Static_assert(NOTE_LOWAT == KEV_LOWAT && NOTE_TRIGGER == KEV_TRIGGER && NOTE_FFCOPY == KEV_FFCOPY &&
	NOTE_FFOR == KEV_FFOR && (unsigned int)NOTE_FFAND == (unsigned int)KEV_FFAND &&
	NOTE_SECONDS == KEV_SECONDS && NOTE_MSECONDS == KEV_MSECONDS && NOTE_USECONDS == KEV_USECONDS &&
	NOTE_NSECONDS == KEV_NSECONDS && NOTE_ABSTIME == KEV_ABSTIME, "fflags");

int
ff_kqueue(void)
{
	struct stack *st = api_stack();

	return st == NULL ? -1 : api_ret(sock_kqueue(st));
}

static void
put_list(void *ctx, const struct sock_kevent *ev)
{
	struct kevent **at = ctx;

	memcpy((*at)++, ev, sizeof(*ev));
}

int
ff_kevent(int kq, const struct kevent *changelist, int nchanges, struct kevent *eventlist, int nevents,
	const struct timespec *timeout)
{
	struct stack *st = api_stack();

	(void)timeout;
	if (st == NULL)
		return -1;
	if (eventlist == NULL && nevents > 0)
		return api_ret(-EFAULT);
	return api_ret(sock_kevent(st, kq, (const struct sock_kevent *)(const void *)changelist, nchanges, nevents,
		put_list, &eventlist));
}

struct each {
	void *list;
	void (*fn)(void **, struct kevent *);
};

static void
put_each(void *ctx, const struct sock_kevent *ev)
{
	struct each *e = ctx;
	struct kevent copy;

	memcpy(&copy, ev, sizeof(copy));
	e->fn(&e->list, &copy);
}

int
ff_kevent_do_each(int kq, const struct kevent *changelist, int nchanges, void *eventlist, int nevents,
	const struct timespec *timeout, void (*do_each)(void **, struct kevent *))
{
	struct stack *st = api_stack();
	struct each e = { eventlist, do_each };

	(void)timeout;
	if (st == NULL)
		return -1;
	if (do_each == NULL && nevents > 0)
		return api_ret(-EFAULT);
	return api_ret(sock_kevent(st, kq, (const struct sock_kevent *)(const void *)changelist, nchanges, nevents,
		put_each, &e));
}

int
ff_epoll_create(int size)
{
	struct stack *st = api_stack();

	if (st == NULL)
		return -1;
	return api_ret(size < 0 ? -EINVAL : sock_epoll_create(st, 0));
}

int
ff_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	struct stack *st = api_stack();

	return st == NULL ? -1 : api_ret(sock_epoll_ctl(st, epfd, op, fd, event));
}

int
ff_epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	struct stack *st = api_stack();

	(void)timeout;
	return st == NULL ? -1 : api_ret(sock_epoll_wait(st, epfd, events, maxevents));
}

int
ff_select(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout)
{
	struct stack *st = api_stack();

	if (st == NULL)
		return -1;
	if (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_usec < 0))
		return api_ret(-EINVAL);
	return api_ret(sock_select(st, nfds, readfds, writefds, exceptfds));
}

int
ff_poll(struct pollfd fds[], nfds_t nfds, int timeout)
{
	struct stack *st = api_stack();

	(void)timeout;
	return st == NULL ? -1 : api_ret(sock_poll(st, fds, nfds));
}

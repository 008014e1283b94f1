/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events over descriptors: epoll with Linux's rules, kqueue with FreeBSD's, select and poll. Waiting costs in
 * proportion to what is ready, not to what is watched (select and poll: to what is asked). Nothing here waits:
 * each call reports what is ready now and returns, whatever timeout its user has in mind.
 */
#ifndef NONIC_STACK_SOCKET_EVENT_H
#define NONIC_STACK_SOCKET_EVENT_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "socket.h"

/* struct kevent of FreeBSD 12 and later, which ff_event.h shows to applications (layout asserted in core/api). */
struct sock_kevent {
	uintptr_t ident;
	short filter;
	unsigned short flags;
	unsigned int fflags;
	int64_t data;
	void *udata;
	uint64_t ext[4];
};

enum sock_kevent_filter { KEV_READ = -1, KEV_WRITE = -2, KEV_TIMER = -7, KEV_USER = -11 };
enum sock_kevent_flags {
	KEV_ADD = 0x1,
	KEV_DELETE = 0x2,
	KEV_ENABLE = 0x4,
	KEV_DISABLE = 0x8,
	KEV_ONESHOT = 0x10,
	KEV_CLEAR = 0x20,
	KEV_RECEIPT = 0x40,
	KEV_DISPATCH = 0x80,
	KEV_FORCEONESHOT = 0x100,
	KEV_ERROR = 0x4000,
	KEV_EOF = 0x8000,
};
enum sock_kevent_fflags {
	KEV_LOWAT = 0x1,                  /* READ, WRITE: data is the low-water mark */
	KEV_SECONDS = 0x1,                /* TIMER: unit of data; default milliseconds */
	KEV_MSECONDS = 0x2,
	KEV_USECONDS = 0x4,
	KEV_NSECONDS = 0x8,
	KEV_ABSTIME = 0x10,
	KEV_FFAND = 1u << 30,             /* USER */
	KEV_TRIGGER = 0x01000000,
	KEV_FFLAGSMASK = 0x00ffffff,
};
#define KEV_FFCTRLMASK 0xc0000000u
#define KEV_FFOR 0x80000000u
#define KEV_FFCOPY 0xc0000000u

/* A new epoll or kqueue descriptor. flags: EPOLL_CLOEXEC. -EINVAL, -EMFILE, -ENOMEM. */
int sock_epoll_create(struct stack *s, int flags);
/*
 * -EBADF, -EINVAL (epfd no epoll, fd == epfd, op, EPOLLEXCLUSIVE's rules), -EEXIST, -ENOENT, -EFAULT, -ENOMEM,
 * -ELOOP (a set may hold sets only if those hold none). Closing the last descriptor of a socket removes it.
 */
int sock_epoll_ctl(struct stack *s, int epfd, int op, int fd, const struct epoll_event *ev);
/* How many events are in ev[0..max); -EBADF, -EINVAL (no epoll, max < 1). */
int sock_epoll_wait(struct stack *s, int epfd, struct epoll_event *ev, int max);

int sock_kqueue(struct stack *s);
/*
 * Applies n changes (in order), then reports at most max events, each through put. A change that fails is
 * reported as an event with KEV_ERROR and its errno in data while there is room, else ends the call with that
 * errno; if there were such reports no others are made. changes and what put receives may be the same memory.
 */
typedef void sock_kevent_put(void *ctx, const struct sock_kevent *ev);
int sock_kevent(struct stack *s, int kq, const struct sock_kevent *changes, int n, int max,
	sock_kevent_put *put, void *ctx);

/* POSIX select and poll. Sets may be NULL. -EBADF, -EINVAL. */
int sock_select(struct stack *s, int nfds, fd_set *rd, fd_set *wr, fd_set *ex);
int sock_poll(struct stack *s, struct pollfd *fds, nfds_t n);

#endif

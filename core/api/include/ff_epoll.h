/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll over the stack's descriptors, with Linux's rules: one event for each descriptor, EEXIST and ENOENT,
 * EPOLLERR and EPOLLHUP always reported, EPOLLET, EPOLLONESHOT, EPOLLRDHUP, EPOLLEXCLUSIVE; user data comes back as it was
 * given, 0 included. A set may hold sets that hold none (else ELOOP).
 */
#ifndef NONIC_FF_EPOLL_H
#define NONIC_FF_EPOLL_H

#include <sys/epoll.h>

#ifdef __cplusplus
extern "C" {
#endif

/* size counts for nothing and may be 0, as in F-Stack; negative: EINVAL. */
int ff_epoll_create(int size);
int ff_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
/* Returns at once whatever timeout says: 0 when nothing is ready. Waiting is ff_run's business. */
int ff_epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);

#ifdef __cplusplus
}
#endif
#endif

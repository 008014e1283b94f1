/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as people write them for F-Stack; compiled as C and as C++, with nothing but the installed headers. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ff_config.h"
#include "ff_api.h"
#include "ff_epoll.h"
#include "ff_log.h"

#define EVENTS 32

struct echo {
	int queue, fd, use_epoll;
	unsigned long served;
};

static void
echo_one(struct echo *e)
{
	struct sockaddr_in6 peer;
	socklen_t len = sizeof(peer);
	char buf[2048];
	ssize_t n = ff_recvfrom(e->fd, buf, sizeof(buf), 0, (struct linux_sockaddr *)&peer, &len);

	if (n < 0)
		return;
	if (ff_sendto(e->fd, buf, (size_t)n, 0, (struct linux_sockaddr *)&peer, len) == n)
		e->served++;
}

static int
echo_loop(void *arg)
{
	struct echo *e = (struct echo *)arg;
	struct kevent events[EVENTS];
	struct epoll_event ev[EVENTS];
	int i, n;

	if (e->use_epoll) {
		n = ff_epoll_wait(e->queue, ev, EVENTS, 0);
		for (i = 0; i < n; i++) {
			if (ev[i].data.fd == e->fd && (ev[i].events & EPOLLIN))
				echo_one(e);
		}
		return 0;
	}
	n = ff_kevent(e->queue, NULL, 0, events, EVENTS, NULL);
	for (i = 0; i < n; i++) {
		if (events[i].filter == EVFILT_READ && (int)events[i].ident == e->fd)
			echo_one(e);
	}
	return 0;
}

/* 0, or the number of the step that failed. */
static int
echo_start(struct echo *e, int port, int use_epoll)
{
	struct sockaddr_in6 addr;
	struct epoll_event ev;
	struct kevent kev;
	int on = 1;

	memset(e, 0, sizeof(*e));
	e->use_epoll = use_epoll;
	e->fd = ff_socket(AF_INET6, SOCK_DGRAM, 0);
	if (e->fd < 0)
		return 1;
	if (ff_ioctl(e->fd, FIONBIO, &on) != 0)
		return 2;
	memset(&addr, 0, sizeof(addr));
	addr.sin6_family = AF_INET6;
	addr.sin6_port = htons((uint16_t)port);
	addr.sin6_addr = in6addr_any;
	if (ff_bind(e->fd, (struct linux_sockaddr *)&addr, sizeof(addr)) != 0)
		return 3;
	if (use_epoll) {
		e->queue = ff_epoll_create(0);
		ev.data.fd = e->fd;
		ev.events = EPOLLIN;
		return ff_epoll_ctl(e->queue, EPOLL_CTL_ADD, e->fd, &ev) == 0 ? 0 : 4;
	}
	e->queue = ff_kqueue();
	EV_SET(&kev, e->fd, EVFILT_READ, EV_ADD, 0, 0, NULL);
	return ff_kevent(e->queue, &kev, 1, NULL, 0, NULL) == 0 ? 0 : 5;
}

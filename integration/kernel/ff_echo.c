/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program as they are written for F-Stack: UDP echo over kqueue, IPv4 and IPv6. The datagram "stop" ends it.
 *
 *   cc ff_echo.c -o ff_echo $(pkg-config --cflags --libs nonic)
 *   ./ff_echo --conf config.ini
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ff_api.h>

#define PORT 5555

struct echo {
	int kq;
	struct kevent events[32];
};

static int
loop(void *arg)
{
	struct echo *e = arg;
	int n = ff_kevent(e->kq, NULL, 0, e->events, 32, NULL);

	for (int i = 0; i < n; i++) {
		char data[9000];
		struct sockaddr_storage from;
		struct linux_sockaddr *peer = (struct linux_sockaddr *)&from;
		socklen_t len = sizeof(from);
		int s = (int)e->events[i].ident;
		ssize_t got = ff_recvfrom(s, data, sizeof(data), 0, peer, &len);

		if (got < 0)
			continue;
		if (got == 4 && memcmp(data, "stop", 4) == 0)
			ff_stop_run();
		ff_sendto(s, data, (size_t)got, 0, peer, len);
	}
	return 0;
}

static void
must(int rc, const char *what)
{
	if (rc < 0) {
		perror(what);
		exit(EXIT_FAILURE);
	}
}

/* A wildcard IPv6 socket hears IPv4 too, as on Linux. */
static void
open_socket(struct echo *e)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	struct kevent add;
	int s = ff_socket(AF_INET6, SOCK_DGRAM, 0);

	must(s, "ff_socket");
	must(ff_bind(s, (struct linux_sockaddr *)&any, sizeof(any)), "ff_bind");
	EV_SET(&add, s, EVFILT_READ, EV_ADD, 0, 0, NULL);
	must(ff_kevent(e->kq, &add, 1, NULL, 0, NULL), "ff_kevent");
}

int
main(int argc, char **argv)
{
	struct echo e;

	ff_init(argc, argv);
	e.kq = ff_kqueue();
	must(e.kq, "ff_kqueue");
	open_socket(&e);
	printf("ff_echo ready\n");
	fflush(stdout);
	ff_run(loop, &e);
	printf("ff_echo ended\n");
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors, options, messages, names, ioctls: what sockets promise beyond UDP. */
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>

#include "sock_world.h"

/* STK-5 */
static void
socket_kinds(void **state)
{
	struct fx *f = *state;

	assert_int_equal(sock_socket(f->s, AF_UNIX, SOCK_DGRAM, 0), -EAFNOSUPPORT);
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_STREAM, IPPROTO_UDP), -EPROTONOSUPPORT);
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_DGRAM, IPPROTO_TCP), -EPROTONOSUPPORT);
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_RAW, 1), -ESOCKTNOSUPPORT);
	assert_int_equal(sock_socket(f->s, AF_INET, 77, 0), -EINVAL);
	assert_int_equal(sock_socket(f->s, AF_INET6, SOCK_DGRAM, IPPROTO_UDP), 0);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_DGRAM, 0), -ENOMEM);
	assert_int_equal(sock_listen(f->s, 0, 1), -EOPNOTSUPP);
	assert_int_equal(sock_accept(f->s, 0, NULL, NULL, 0), -EOPNOTSUPP);
	assert_int_equal(sock_accept(f->s, 0, NULL, NULL, 1), -EINVAL);
}

/* STK-5 */
static void
descriptors_lowest_free_dup_and_limits(void **state)
{
	struct fx *f = fx_new(&(struct fx_opts){ .max_sockets = 100 });
	struct stack *s = f->s;
	int i, fd;

	(void)state;
	assert_int_equal(sock_max_fd(s), 100);
	for (i = 0; i < 100; i++)
		assert_int_equal(sock_socket(s, AF_INET, SOCK_DGRAM, 0), i);
	assert_int_equal(sock_socket(s, AF_INET, SOCK_DGRAM, 0), -EMFILE);
	assert_int_equal(sock_dup(s, 5, 0), -EMFILE);
	sock_close(s, 70);
	sock_close(s, 3);
	sock_close(s, 40);
	assert_int_equal(sock_dup(s, 5, 10), 40);
	assert_int_equal(sock_dup(s, 5, 0), 3);
	assert_int_equal(sock_dup(s, 5, 0), 70);
	assert_int_equal(sock_dup(s, 5, 100), -EINVAL);
	assert_int_equal(sock_dup(s, 5, -1), -EINVAL);
	assert_int_equal(sock_close(s, 200), -EBADF);
	assert_int_equal(sock_close(s, -1), -EBADF);
	/* the socket lives until its last descriptor goes */
	assert_int_equal(bind4(f, 5, "0.0.0.0", 7000), 0);
	sock_close(s, 5);
	sock_close(s, 3);
	sock_close(s, 70);
	fx_rx_udp4(f, 1, 7000, "x", 1);
	expect(f, 40, "x");
	assert_int_equal(sock_dup2(s, 40, 40), 40);
	assert_int_equal(sock_dup2(s, 40, 6), 6); /* closes what was 6 */
	assert_int_equal(sock_dup2(s, 40, 100), -EBADF);
	assert_int_equal(sock_dup2(s, 3, 6), -EBADF);
	assert_int_equal(sock_dup2(s, 40, -1), -EBADF);
	sock_close(s, 40);
	fx_rx_udp4(f, 1, 7000, "y", 1);
	expect(f, 6, "y");
	assert_true(sock_is_open(s, 6));
	assert_false(sock_is_open(s, 40));
	for (fd = 0; fd < 100; fd++)
		sock_close(s, fd);
	fx_free(f);
}

/* STK-5: numbers begin at fd_reserve; the table grows */
static void
descriptors_begin_at_fd_reserve(void **state)
{
	struct fx *f = *state;
	struct shim *s = f->shim;
	struct stack_config c = { .shim = s, .pool = f->pool, .fd_reserve = 1024 };
	struct stack *st;
	int i;

	assert_int_equal(stack_create(&c, &st), 0);
	assert_int_equal(sock_socket(st, AF_INET, SOCK_DGRAM, 0), 1024);
	assert_int_equal(sock_dup2(st, 1024, 1023), -EBADF);
	assert_int_equal(sock_dup2(st, 1024, 1200), 1200); /* grows */
	for (i = 1; i < 4; i++) {
		mock_fail_malloc_at(s, (unsigned int)i);
		assert_int_equal(sock_dup2(st, 1024, 3000), -ENOMEM);
	}
	assert_int_equal(sock_dup(st, 1024, 0), 1025);
	assert_int_equal(sock_dup(st, 1024, 1200), 1201);
	assert_false(sock_is_open(st, 1023));
	assert_int_equal(sock_ready(st, 1), -EBADF);
	assert_int_equal(sock_max_fd(st), 1024 + SOCK_MAX_FDS);
	stack_destroy(st);
}

/* STK-5 */
static void
fcntl_flags(void **state)
{
	struct fx *f = *state;
	int fd = sock_socket(f->s, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), d, on1 = 1;

	assert_int_equal(sock_fcntl(f->s, fd, F_GETFL, 0), O_RDWR | O_NONBLOCK);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFD, 0), FD_CLOEXEC);
	assert_int_equal(sock_fcntl(f->s, fd, F_SETFD, 0), 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFD, 0), 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_SETFL, O_ASYNC | O_CREAT), 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFL, 0), O_RDWR | O_ASYNC);
	d = sock_fcntl(f->s, fd, F_DUPFD_CLOEXEC, 10);
	assert_int_equal(d, 10);
	assert_int_equal(sock_fcntl(f->s, d, F_GETFD, 0), FD_CLOEXEC);
	assert_int_equal(sock_fcntl(f->s, fd, F_DUPFD, 10), 11);
	assert_int_equal(sock_fcntl(f->s, fd, F_DUPFD, -1), -EINVAL);
	assert_int_equal(sock_fcntl(f->s, fd, 999, 0), -EINVAL);
	assert_int_equal(sock_fcntl(f->s, 99, F_GETFL, 0), -EBADF);
	/* flags belong to the open file, shared by duplicates */
	assert_int_equal(sock_ioctl(f->s, d, FIONBIO, &on1), 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
	on1 = 0;
	assert_int_equal(sock_ioctl(f->s, d, FIOASYNC, &on1), 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFL, 0) & O_ASYNC, 0);
	assert_int_equal(sock_ioctl(f->s, fd, FIOCLEX, NULL), 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFD, 0), FD_CLOEXEC);
	assert_int_equal(sock_ioctl(f->s, fd, FIONCLEX, NULL), 0);
}

/* STK-5 */
static void
integer_options(void **state)
{
	struct fx *f = *state;
	/* level, name, value, what is read back, -1: not settable */
	static const int table[][4] = {
		{ SOL_SOCKET, SO_DEBUG, 1, 1 }, { SOL_SOCKET, SO_REUSEADDR, 3, 1 }, { SOL_SOCKET, SO_REUSEPORT, 1, 1 },
		{ SOL_SOCKET, SO_DONTROUTE, 1, 1 }, { SOL_SOCKET, SO_BROADCAST, 1, 1 },
		{ SOL_SOCKET, SO_SNDBUF, 10000, 20000 }, { SOL_SOCKET, SO_RCVBUF, 1, SOCK_BUF_MIN },
		{ SOL_SOCKET, SO_RCVBUF, INT_MAX, SOCK_BUF_MAX }, { SOL_SOCKET, SO_RCVBUF, -1, SOCK_BUF_MAX },
		{ SOL_SOCKET, SO_KEEPALIVE, 1, 1 }, { SOL_SOCKET, SO_OOBINLINE, 1, 1 },
		{ SOL_SOCKET, SO_RCVLOWAT, 0, 1 }, { SOL_SOCKET, SO_RCVLOWAT, -1, INT_MAX },
		{ SOL_SOCKET, SO_RCVLOWAT, 9, 9 },
		{ SOL_SOCKET, SO_TYPE, -1, SOCK_DGRAM }, { SOL_SOCKET, SO_DOMAIN, -1, AF_INET6 },
		{ SOL_SOCKET, SO_PROTOCOL, -1, IPPROTO_UDP }, { SOL_SOCKET, SO_ACCEPTCONN, -1, 0 },
		{ SOL_SOCKET, SO_SNDLOWAT, -1, 1 }, { SOL_SOCKET, SO_ERROR, -1, 0 },
		{ IPPROTO_IP, IP_TOS, 0xb8, 0xb8 }, { IPPROTO_IP, IP_TTL, 9, 9 }, { IPPROTO_IP, IP_TTL, -1, 64 },
		{ IPPROTO_IP, IP_MULTICAST_TTL, 5, 5 }, { IPPROTO_IP, IP_MULTICAST_TTL, -1, 1 },
		{ IPPROTO_IP, IP_RECVTTL, 1, 1 }, { IPPROTO_IP, IP_RECVTOS, 1, 1 }, { IPPROTO_IP, IP_PKTINFO, 1, 1 },
		{ IPPROTO_IP, IP_MTU_DISCOVER, 3, 3 }, { IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1, 1 },
		{ IPPROTO_IPV6, IPV6_V6ONLY, 1, 1 }, { IPPROTO_IPV6, IPV6_UNICAST_HOPS, 7, 7 },
		{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, -1, 64 }, { IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 3, 3 },
		{ IPPROTO_IPV6, IPV6_MULTICAST_HOPS, -1, 1 }, { IPPROTO_IPV6, IPV6_MULTICAST_IF, 1, 1 },
		{ IPPROTO_IPV6, IPV6_MULTICAST_IF, 0, 0 },
		{ IPPROTO_IPV6, IPV6_RECVPKTINFO, 1, 1 }, { IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1, 1 },
		{ IPPROTO_IPV6, IPV6_RECVTCLASS, 1, 1 }, { IPPROTO_IPV6, IPV6_TCLASS, 4, 4 },
		{ IPPROTO_IPV6, IPV6_TCLASS, -1, 0 }, { IPPROTO_IPV6, IPV6_MTU_DISCOVER, 1, 1 },
	};
	int fd = sock(f, AF_INET6), v4 = sock(f, AF_INET), v;
	socklen_t n;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		bool fixed = table[i][0] == SOL_SOCKET && (table[i][1] == SO_TYPE || table[i][1] == SO_DOMAIN ||
			table[i][1] == SO_PROTOCOL || table[i][1] == SO_ACCEPTCONN || table[i][1] == SO_SNDLOWAT ||
			table[i][1] == SO_ERROR);

		v = table[i][2];
		assert_int_equal(sock_setsockopt(f->s, fd, table[i][0], table[i][1], &v, sizeof(v)),
			fixed ? -ENOPROTOOPT : 0);
		n = sizeof(v);
		v = 12345;
		assert_int_equal(sock_getsockopt(f->s, fd, table[i][0], table[i][1], &v, &n), 0);
		assert_int_equal(n, sizeof(v));
		assert_int_equal(v, table[i][3]);
	}
	n = sizeof(v);
	assert_int_equal(sock_getsockopt(f->s, v4, SOL_SOCKET, SO_DOMAIN, &v, &n), 0);
	assert_int_equal(v, AF_INET);
	assert_int_equal(sock_setsockopt(f->s, v4, IPPROTO_IPV6, IPV6_V6ONLY, &v, 4), -ENOPROTOOPT);
	assert_int_equal(sock_getsockopt(f->s, v4, IPPROTO_IPV6, IPV6_V6ONLY, &v, &n), -ENOPROTOOPT);
	assert_int_equal(bind6(f, fd, "::", 7000), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IPV6, IPV6_V6ONLY, &v, 4), -EINVAL);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IPV6, IPV6_MTU, &v, &n), -ENOTCONN);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_REUSEPORT, &(int){ 0 }, 4), 0); /* while bound */
}

/* STK-5 */
static void
options_refused(void **state)
{
	struct fx *f = *state;
	static const int bad[][3] = { { IPPROTO_IP, IP_TTL, 256 }, { IPPROTO_IP, IP_TTL, 0 }, { IPPROTO_IP, IP_TTL, -2 },
		{ IPPROTO_IP, IP_MTU_DISCOVER, 4 }, { IPPROTO_IP, IP_MTU_DISCOVER, -1 },
		{ IPPROTO_IPV6, IPV6_TCLASS, 256 }, { IPPROTO_IPV6, IPV6_MTU_DISCOVER, 9 } };
	static const int unknown[][2] = { { SOL_SOCKET, 9999 }, { SOL_SOCKET, SO_PRIORITY }, { IPPROTO_IP, 9999 },
		{ IPPROTO_IP, IP_RECVERR }, { IPPROTO_IP, IP_ADD_MEMBERSHIP }, { IPPROTO_IPV6, 9999 },
		{ IPPROTO_TCP, 1 }, { 9999, 1 } };
	int fd = sock(f, AF_INET6), v = 1;
	socklen_t n = sizeof(v);
	struct timeval tv = { 2, 500000 }, got;
	struct linger l = { 1, 5 }, lg;
	uint8_t byte = 0x20;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = bad[i][2];
		assert_int_equal(sock_setsockopt(f->s, fd, bad[i][0], bad[i][1], &v, sizeof(v)), -EINVAL);
	}
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_int_equal(sock_setsockopt(f->s, fd, unknown[i][0], unknown[i][1], &v, sizeof(v)), -ENOPROTOOPT);
		assert_int_equal(sock_getsockopt(f->s, fd, unknown[i][0], unknown[i][1], &v, &n), -ENOPROTOOPT);
	}
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_DEBUG, &v, 3), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_DEBUG, &v, (socklen_t)-1), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_DEBUG, NULL, 4), -EFAULT);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_TOS, NULL, 1), -EFAULT);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &byte, 0), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &byte, 1), 0); /* a byte will do */
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &v, &n), 0);
	assert_int_equal(v, 0x20);
	n = 1; /* never more than there is room for */
	v = -1;
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &v, &n), 0);
	assert_int_equal(v, (int)0xffffff20);
	n = (socklen_t)-1;
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &v, &n), -EINVAL);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_TOS, NULL, &n), -EFAULT);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &v, NULL), -EFAULT);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_SNDTIMEO, &tv, 4), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_SNDTIMEO, NULL, sizeof(tv)), -EFAULT);
	n = sizeof(got);
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_RCVTIMEO, &got, &n), 0);
	assert_int_equal(got.tv_usec, 500000);
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_SNDTIMEO, &got, &n), 0);
	assert_int_equal(got.tv_sec, 0);
	tv.tv_usec = 1000000;
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)), -EDOM);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &l, 1), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, NULL, sizeof(l)), -EFAULT);
	n = sizeof(lg);
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &lg, &n), 0);
	assert_int_equal(lg.l_linger, 5);
	v = 99;
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &v, 4), -ENODEV);
	assert_int_equal(sock_setsockopt(f->s, 77, SOL_SOCKET, SO_DEBUG, &v, 4), -EBADF);
	assert_int_equal(sock_getsockopt(f->s, 77, SOL_SOCKET, SO_DEBUG, &v, &n), -EBADF);
}

/* STK-5 */
static void
multicast_interface(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	struct in_addr a = { fx_ip4("10.0.0.1") };
	struct ip_mreqn r = { .imr_ifindex = 1 };
	struct ip_mreq q = { .imr_interface.s_addr = fx_ip4("10.0.0.99") };

	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, &a, sizeof(a)), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, &r, sizeof(r)), 0);
	r.imr_ifindex = 9;
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, &r, sizeof(r)), -ENODEV);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, &q, sizeof(q)), -EADDRNOTAVAIL);
	a.s_addr = 0;
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, &a, sizeof(a)), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, &a, 3), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_MULTICAST_IF, NULL, 4), -EFAULT);
}

/* STK-5: address lengths are bounded both ways */
static void
addresses_in_and_out(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), six = sock(f, AF_INET6);
	struct sockaddr_storage ss = { .ss_family = AF_INET };
	struct sockaddr_in *in = (struct sockaddr_in *)&ss;
	struct sockaddr *sa = (struct sockaddr *)&ss;
	uint8_t room[32];
	socklen_t n;

	in->sin_port = htons(7000);
	assert_int_equal(sock_bind(f->s, fd, NULL, 16), -EFAULT);
	assert_int_equal(sock_bind(f->s, fd, sa, 1), -EINVAL);
	assert_int_equal(sock_bind(f->s, fd, sa, 15), -EINVAL);
	assert_int_equal(sock_bind(f->s, fd, sa, 129), -EINVAL);
	assert_int_equal(sock_bind(f->s, fd, sa, (socklen_t)-1), -EINVAL);
	assert_int_equal(sock_bind(f->s, six, sa, 16), -EAFNOSUPPORT);
	ss.ss_family = AF_INET6;
	assert_int_equal(sock_bind(f->s, fd, sa, 28), -EAFNOSUPPORT);
	assert_int_equal(sock_bind(f->s, six, sa, 23), -EINVAL);
	assert_int_equal(sock_bind(f->s, six, sa, 24), 0); /* RFC 2133's length */
	ss.ss_family = AF_UNSPEC;
	assert_int_equal(sock_bind(f->s, fd, sa, sizeof(ss)), -EADDRINUSE); /* any, as AF_INET: six has it */
	in->sin_addr.s_addr = 1;
	assert_int_equal(sock_bind(f->s, fd, sa, 16), -EAFNOSUPPORT);
	assert_int_equal(sock_bind(f->s, 77, sa, 16), -EBADF);
	/* never past *len; the full length is said */
	memset(room, 0xee, sizeof(room));
	n = 4;
	assert_int_equal(sock_getsockname(f->s, fd, (struct sockaddr *)room, &n), 0);
	assert_int_equal(n, 16);
	assert_int_equal(room[4], 0xee);
	n = 100;
	assert_int_equal(sock_getsockname(f->s, six, (struct sockaddr *)room, &n), 0);
	assert_int_equal(n, 28);
	assert_int_equal(room[28], 0xee);
	n = 0;
	assert_int_equal(sock_getsockname(f->s, six, NULL, &n), 0);
	assert_int_equal(n, 28);
	assert_int_equal(sock_getsockname(f->s, six, NULL, &n), -EFAULT);
	assert_int_equal(sock_getsockname(f->s, six, sa, NULL), -EFAULT);
	n = (socklen_t)-1;
	assert_int_equal(sock_getsockname(f->s, six, sa, &n), -EINVAL);
	assert_int_equal(sock_getsockname(f->s, 77, sa, &n), -EBADF);
	assert_int_equal(sock_getpeername(f->s, six, sa, &n), -ENOTCONN);
	assert_int_equal(sock_getpeername(f->s, 77, sa, &n), -EBADF);
	assert_int_equal(connect6(f, six, "2001:db8::2", 5), 0);
	assert_int_equal(sock_getpeername(f->s, six, sa, &n), -EINVAL);
	n = 28;
	assert_int_equal(sock_getpeername(f->s, six, sa, &n), 0);
	assert_int_equal(sock_connect(f->s, six, NULL, 28), -EFAULT);
	assert_int_equal(sock_connect(f->s, 77, sa, 28), -EBADF);
	fx_rx_udp6(f, 5, 7000, "abc", 3);
	n = 6;
	memset(room, 0xee, sizeof(room));
	assert_int_equal(sock_recvfrom(f->s, six, room + 20, 4, 0, (struct sockaddr *)room, &n), 3);
	assert_int_equal(n, 28);
	assert_int_equal(room[6], 0xee);
}

/* STK-5 */
static void
iovec_limits(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	static struct iovec iov[1025];
	static char big[70000];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 1025 };
	struct rte_mbuf *m;

	fx_know_peer(f);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	assert_int_equal(sock_sendmsg(f->s, fd, &msg, 0), -EMSGSIZE);
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), -EMSGSIZE);
	msg.msg_iovlen = 2;
	iov[0] = (struct iovec){ big, SSIZE_MAX };
	iov[1] = (struct iovec){ big, 1 };
	assert_int_equal(sock_sendmsg(f->s, fd, &msg, 0), -EINVAL); /* the sum, in full width */
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), -EINVAL);
	iov[0].iov_len = SIZE_MAX;
	assert_int_equal(sock_sendmsg(f->s, fd, &msg, 0), -EINVAL);
	iov[0] = (struct iovec){ NULL, 1 };
	assert_int_equal(sock_sendmsg(f->s, fd, &msg, 0), -EFAULT);
	msg.msg_iov = NULL;
	assert_int_equal(sock_sendmsg(f->s, fd, &msg, 0), -EFAULT);
	assert_int_equal(sock_sendmsg(f->s, fd, NULL, 0), -EFAULT);
	assert_int_equal(sock_recvmsg(f->s, fd, NULL, 0), -EFAULT);
	assert_int_equal(sock_sendmsg(f->s, 77, &msg, 0), -EBADF);
	assert_int_equal(sock_recvmsg(f->s, 77, &msg, 0), -EBADF);
	msg.msg_iovlen = 0; /* an empty datagram */
	assert_int_equal(sock_sendmsg(f->s, fd, &msg, 0), 0);
	assert_int_equal(sock_sendto(f->s, fd, big, sizeof(big), 0, NULL, 0), -EMSGSIZE);
	assert_int_equal(sock_sendto(f->s, fd, big, 65508, 0, NULL, 0), -EMSGSIZE);
	assert_int_equal(sock_sendto(f->s, fd, big, SIZE_MAX, 0, NULL, 0), -EINVAL);
	assert_int_equal(sock_sendto(f->s, fd, NULL, 1, 0, NULL, 0), -EFAULT);
	assert_int_equal(sock_sendto(f->s, fd, NULL, 0, 0, NULL, 0), 0);
	assert_int_equal(sock_sendto(f->s, 77, NULL, 0, 0, NULL, 0), -EBADF);
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, MSG_OOB, NULL, 0), -EOPNOTSUPP);
	assert_int_equal(sock_recvfrom(f->s, fd, NULL, 1, 0, NULL, NULL), -EFAULT);
	assert_int_equal(sock_recvfrom(f->s, fd, big, SIZE_MAX, 0, NULL, NULL), -EINVAL);
	assert_int_equal(sock_recvfrom(f->s, fd, big, 1, 0, (struct sockaddr *)big, NULL), -EFAULT);
	assert_int_equal(sock_recvfrom(f->s, fd, big, 1, 0, (struct sockaddr *)big, &(socklen_t){ -1 }), -EINVAL);
	assert_int_equal(sock_recvfrom(f->s, fd, big, 1, MSG_ERRQUEUE, NULL, NULL), -EAGAIN);
	assert_int_equal(sock_recvfrom(f->s, 77, big, 1, 0, NULL, NULL), -EBADF);
	assert_int_equal(sock_recv_chain(f->s, 77, &m, NULL), -EBADF);
	assert_int_equal(sock_send_chain(f->s, 77, fx_buf(f, "x", 1, 0), NULL), -EBADF);
	/* no buffers */
	mock_fail_buf_at(f->shim, 1);
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, NULL, 0), -ENOBUFS);
	mock_fail_buf_at(f->shim, 2);
	assert_int_equal(sock_sendto(f->s, fd, big, 4000, 0, NULL, 0), -ENOBUFS);
	fx_tx_clear(f);
	/* large ones travel whole: loop to ourselves */
	int to = sock(f, AF_INET);
	assert_int_equal(bind4(f, to, "10.0.0.1", 7000), 0);
	assert_int_equal(connect4(f, fd, "10.0.0.1", 7000), 0);
	memset(big, 'q', 60000);
	assert_int_equal(sock_sendto(f->s, fd, big, 60000, 0, NULL, 0), 60000);
	fx_poll(f);
	memset(big, 0, sizeof(big));
	iov[0] = (struct iovec){ big, 10 };
	iov[1] = (struct iovec){ big + 10, 0 };
	iov[2] = (struct iovec){ big + 10, 69990 };
	msg = (struct msghdr){ .msg_iov = iov, .msg_iovlen = 3 };
	assert_int_equal(sock_recvmsg(f->s, to, &msg, 0), 60000);
	assert_int_equal(big[0], 'q');
	assert_int_equal(big[59999], 'q');
	assert_int_equal(big[60000], 0);
}

/* STK-5 */
static void
control_messages_received(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), six = sock(f, AF_INET6), i;
	char data[8];
	union {
		char b[256];
		struct cmsghdr align;
	} ctl;
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl) };
	struct cmsghdr *c;
	struct in_pktinfo pi;
	struct in6_pktinfo pi6;
	int seen = 0;

	on(f, fd, IPPROTO_IP, IP_PKTINFO);
	on(f, fd, IPPROTO_IP, IP_RECVTTL);
	on(f, fd, IPPROTO_IP, IP_RECVTOS);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	for (i = 0; i < 4; i++)
		fx_rx_udp4(f, 1, 7000, "abc", 3);
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), 3);
	for (c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
		assert_int_equal(c->cmsg_level, IPPROTO_IP);
		if (c->cmsg_type == IP_PKTINFO) {
			memcpy(&pi, CMSG_DATA(c), sizeof(pi));
			assert_int_equal(pi.ipi_addr.s_addr, fx_ip4("10.0.0.1"));
			assert_int_equal(pi.ipi_ifindex, 1);
		} else if (c->cmsg_type == IP_TTL) {
			memcpy(&i, CMSG_DATA(c), sizeof(i));
			assert_int_equal(i, 64);
		}
		seen++;
	}
	assert_int_equal(seen, 3);
	/* room for one and a bit: the rest is cut, and said so */
	msg.msg_controllen = CMSG_SPACE(sizeof(pi)) + sizeof(struct cmsghdr) + 1;
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), 3);
	assert_int_equal(msg.msg_flags & MSG_CTRUNC, MSG_CTRUNC);
	msg.msg_control = NULL;
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), 3);
	assert_int_equal(msg.msg_flags & MSG_CTRUNC, MSG_CTRUNC);
	assert_int_equal(msg.msg_controllen, 0);
	msg.msg_name = data;
	msg.msg_namelen = (socklen_t)-1;
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), -EINVAL);
	/* IPv6, and IPv4 on a dual-stack socket */
	sock_close(f->s, fd);
	on(f, six, IPPROTO_IPV6, IPV6_RECVPKTINFO);
	on(f, six, IPPROTO_IPV6, IPV6_RECVHOPLIMIT);
	on(f, six, IPPROTO_IPV6, IPV6_RECVTCLASS);
	assert_int_equal(bind6(f, six, "::", 7000), 0);
	fx_rx_udp6(f, 1, 7000, "abc", 3);
	fx_rx_udp4(f, 1, 7000, "abc", 3);
	for (i = 0; i < 2; i++) {
		msg = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl,
			.msg_controllen = sizeof(ctl) };
		seen = 0;
		assert_int_equal(sock_recvmsg(f->s, six, &msg, 0), 3);
		for (c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
			if (c->cmsg_type == IPV6_PKTINFO) {
				memcpy(&pi6, CMSG_DATA(c), sizeof(pi6));
				assert_int_equal(IN6_IS_ADDR_V4MAPPED(&pi6.ipi6_addr), i == 1);
			}
			seen++;
		}
		assert_int_equal(seen, i == 0 ? 3 : 1);
	}
}

static ssize_t
send_cmsg(struct fx *f, int fd, int level, int type, const void *data, size_t n, size_t cmsg_len)
{
	union {
		char b[128];
		struct cmsghdr h;
	} ctl = { .b = { 0 } };
	struct iovec iov = { (void *)(uintptr_t)"abc", 3 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl,
		.msg_controllen = CMSG_SPACE(n) };

	ctl.h.cmsg_level = level;
	ctl.h.cmsg_type = type;
	ctl.h.cmsg_len = cmsg_len != 0 ? cmsg_len : CMSG_LEN(n);
	memcpy(CMSG_DATA(&ctl.h), data, n);
	return sock_sendmsg(f->s, fd, &msg, 0);
}

/* STK-5 */
static void
control_messages_sent(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), six = sock(f, AF_INET6), v;
	struct fx_pkt *p = test_malloc(sizeof(*p));
	struct in_pktinfo pi = { .ipi_ifindex = 1 };
	struct in6_pktinfo pi6 = { .ipi6_ifindex = 1 };
	union ip_addr own = fx_a6("2001:db8::1");
	uint8_t byte = 0x40;

	fx_know_peer(f);
	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.9"), 24, 0), 0);
	fx_tx_clear(f);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	assert_int_equal(connect6(f, six, "2001:db8::2", 9), 0);
	v = 7;
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_TTL, &v, 4, 0), 3);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->ttl, 7);
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_TOS, &byte, 1, 0), 3);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->tos, 0x40);
	pi.ipi_spec_dst.s_addr = fx_ip4("10.0.0.9");
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_PKTINFO, &pi, sizeof(pi), 0), 3);
	fx_expect(f, 0x800, p);
	assert_int_equal(p->src.v4, fx_ip4("10.0.0.9"));
	v = 5;
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_HOPLIMIT, &v, 4, 0), 3);
	fx_expect(f, 0x86dd, p);
	assert_int_equal(p->ttl, 5);
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_TCLASS, &v, 4, 0), 3);
	fx_expect(f, 0x86dd, p);
	assert_int_equal(p->tos, 5);
	memcpy(&pi6.ipi6_addr, own.v6, 16);
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_PKTINFO, &pi6, sizeof(pi6), 0), 3);
	fx_expect(f, 0x86dd, p);
	/* refused */
	v = 256;
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_TTL, &v, 4, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_TTL, &v, 2, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_RETOPTS, &v, 4, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, fd, SOL_SOCKET, 1, &v, 4, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_TTL, &v, 4, 8), -EINVAL);    /* shorter than its head */
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_TTL, &v, 4, 4000), -EINVAL); /* longer than all */
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_HOPLIMIT, &v, 4, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_TCLASS, &v, 4, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, 99, &v, 4, 0), -EINVAL);
	assert_int_equal(send_cmsg(f, fd, 77, 99, &v, 4, 0), 3); /* another protocol's */
	pi.ipi_spec_dst.s_addr = fx_ip4("10.0.0.77");
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_PKTINFO, &pi, sizeof(pi), 0), -EINVAL);
	pi.ipi_ifindex = 9;
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_PKTINFO, &pi, sizeof(pi), 0), -ENODEV);
	assert_int_equal(send_cmsg(f, fd, IPPROTO_IP, IP_PKTINFO, &pi, 4, 0), -EINVAL);
	pi6.ipi6_addr.s6_addr[15] = 0x77;
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_PKTINFO, &pi6, sizeof(pi6), 0), -EINVAL);
	pi6.ipi6_ifindex = 9;
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_PKTINFO, &pi6, sizeof(pi6), 0), -ENODEV);
	assert_int_equal(send_cmsg(f, six, IPPROTO_IPV6, IPV6_PKTINFO, &pi6, 4, 0), -EINVAL);
	fx_tx_clear(f);
	test_free(p);
}

/* STK-5 */
static void
shutdown_as_linux(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	char b[4];
	struct iovec iov = { b, 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	fx_know_peer(f);
	assert_int_equal(sock_shutdown(f->s, 77, SHUT_RD), -EBADF);
	assert_int_equal(sock_shutdown(f->s, fd, 3), -EINVAL);
	assert_int_equal(sock_shutdown(f->s, fd, SHUT_RD), -ENOTCONN); /* and the reader sees the end */
	assert_int_equal(sock_recvfrom(f->s, fd, b, 4, 0, NULL, NULL), 0);
	assert_int_equal(sock_recvmsg(f->s, fd, &msg, 0), 0);
	assert_int_equal(sock_ready(f->s, fd) & (EPOLLRDHUP | EPOLLIN | EPOLLHUP), EPOLLRDHUP | EPOLLIN);
	sock_close(f->s, fd);
	fd = sock(f, AF_INET);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 1), 0);
	fx_rx_udp4(f, 1, 7000, "last", 4);
	assert_int_equal(sock_shutdown(f->s, fd, SHUT_WR), 0);
	assert_int_equal(sock_sendto(f->s, fd, "x", 1, 0, NULL, 0), -EPIPE);
	assert_int_equal(sock_send_chain(f->s, fd, fx_buf(f, "x", 1, 0), NULL), -EPIPE);
	expect(f, fd, "last");
	assert_int_equal(sock_shutdown(f->s, fd, SHUT_RD), 0);
	assert_int_equal(sock_ready(f->s, fd) & EPOLLHUP, EPOLLHUP);
}

/* STK-5 */
static void
receive_buffer_counts_whole_buffers(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), v = 1152, n = 0, i; /* doubled: 2304 */
	char b[4];

	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)), 0);
	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	for (i = 0; i < 10; i++)
		fx_rx_udp4(f, 1, 7000, "x", 1);
	while (sock_recvfrom(f->s, fd, b, 4, 0, NULL, NULL) == 1)
		n++;
	assert_in_range(n, 1, 3);
	assert_int_equal(fx_drops(f, STACK_DROP_UDP_RCVBUF), 10 - n);
	fx_rx_udp4(f, 1, 7000, "x", 1); /* room again */
	expect(f, fd, "x");
}

/* STK-5 */
static void
bind_address_no_port(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	struct sockaddr_in a;
	socklen_t n = sizeof(a);

	fx_know_peer(f);
	on(f, fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
	assert_int_equal(bind4(f, fd, "10.0.0.77", 0), -EADDRNOTAVAIL);
	assert_int_equal(bind4(f, fd, "10.0.0.1", 0), 0);
	assert_int_equal(bind4(f, fd, "10.0.0.1", 0), -EINVAL);
	assert_int_equal(sock_getsockname(f->s, fd, (struct sockaddr *)&a, &n), 0);
	assert_int_equal(a.sin_addr.s_addr, fx_ip4("10.0.0.1"));
	assert_int_equal(a.sin_port, 0);
	assert_int_equal(udp_port_range_set(f->s, 40000, 40000), 0);
	int other = sock(f, AF_INET);
	assert_int_equal(bind4(f, other, "0.0.0.0", 40000), 0);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), -EAGAIN);
	assert_int_equal(sock_send_chain(f->s, fd, fx_buf(f, "x", 1, 0), NULL), -EAGAIN);
	sock_close(f->s, other);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	assert_int_equal(local_port(f, fd), 40000);
}

static int
lddr_nine(uint16_t family, void *dst, uint16_t port, void *src)
{
	uint32_t to = fx_ip4("10.0.0.2"), nine = fx_ip4("10.0.0.9");

	assert_int_equal(family, AF_INET);
	assert_int_equal(port, htons(9));
	assert_memory_equal(dst, &to, 4);
	memcpy(src, &nine, 4);
	return 0;
}
static int lddr_none(uint16_t family, void *dst, uint16_t port, void *src)
{
	(void)family; (void)dst; (void)port; (void)src;
	return 0;
}
static int lddr_fail(uint16_t family, void *dst, uint16_t port, void *src)
{
	(void)family; (void)dst; (void)port; (void)src;
	return EACCES;
}

/* STK-5 */
static void
application_chooses_the_local_address(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET);
	struct sockaddr_in a;
	socklen_t n = sizeof(a);

	assert_int_equal(stack_addr4_add(f->s, f->nif, fx_ip4("10.0.0.9"), 24, 0), 0);
	sock_lddr_set(f->s, lddr_fail);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), -EACCES);
	sock_lddr_set(f->s, lddr_nine);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	assert_int_equal(sock_getsockname(f->s, fd, (struct sockaddr *)&a, &n), 0);
	assert_int_equal(a.sin_addr.s_addr, fx_ip4("10.0.0.9"));
	fd = sock(f, AF_INET);
	sock_lddr_set(f->s, lddr_none);
	assert_int_equal(connect4(f, fd, "10.0.0.2", 9), 0);
	fx_tx_clear(f);
}

#define CASES \
	T(socket_kinds), cmocka_unit_test(descriptors_lowest_free_dup_and_limits), \
	T(descriptors_begin_at_fd_reserve), T(fcntl_flags), T(integer_options), T(options_refused), \
	T(multicast_interface), T(addresses_in_and_out), T(iovec_limits), T(control_messages_received), \
	T(control_messages_sent), T(shutdown_as_linux), T(receive_buffer_counts_whole_buffers), \
	T(bind_address_no_port), T(application_chooses_the_local_address)

int
main(void)
{
	const struct CMUnitTest tests[] = { CASES };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

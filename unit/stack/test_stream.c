/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream sockets by their calls: making, connecting, accepting, bytes, names, ends. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "stream_world.h"

/* STK-5 */
static void
streams_are_made_of_both_families(void **state)
{
	struct fx *f = *state;
	int k, fd;

	assert_true(sizeof(struct stream) <= 256);
	fd = sock_socket(f->s, AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	assert_int_equal(fd, 0);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(sock_fcntl(f->s, fd, F_GETFD, 0), FD_CLOEXEC);
	assert_int_equal(sock_socket(f->s, AF_INET6, SOCK_STREAM, 0), 1);
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_STREAM, IPPROTO_UDP), -EPROTONOSUPPORT);
	for (k = 1; k < 10; k++) {
		mock_fail_malloc_at(f->shim, (unsigned int)k);
		fd = sock_socket(f->s, AF_INET, SOCK_STREAM, 0);
		mock_fail_malloc_at(f->shim, 0);
		if (fd >= 0)
			break;
		assert_int_equal(fd, -ENOMEM);
	}
	assert_in_range(k, 3, 9);
}

/* STK-5 */
static void
streams_need_a_descriptor(void **state)
{
	struct fx *f = fx_new(&(struct fx_opts){ .max_sockets = 1 });

	(void)state;
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_STREAM, 0), 0);
	assert_int_equal(sock_socket(f->s, AF_INET, SOCK_STREAM, 0), -EMFILE);
	fx_free(f);
}

/* STK-5, STK-3 */
static void
connect_accept_and_names(void **state)
{
	struct fx *f = *state;
	struct sockaddr_in a[2], far[2];
	struct sockaddr_storage ss;
	int lst = listener(f, 80), c = stream(f, AF_INET), s2;
	socklen_t n = sizeof(a[0]);

	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -EAGAIN);
	assert_int_equal(sock_getpeername(f->s, c, (struct sockaddr *)&ss, &n), -ENOTCONN);
	assert_int_equal(sock_getpeername(f->s, lst, (struct sockaddr *)&ss, &n), -ENOTCONN);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	assert_int_equal(connect4(f, c, ME, 80), -EALREADY);
	assert_int_equal(sock_getpeername(f->s, c, (struct sockaddr *)&ss, &n), -ENOTCONN);
	settle(f);
	assert_int_equal(connect4(f, c, ME, 80), -EISCONN);
	assert_int_equal(err_of(f, c), 0);
	/* no more than there is room for, and the full length is told */
	memset(&ss, 0x5a, sizeof(ss));
	n = 7;
	s2 = sock_accept(f->s, lst, (struct sockaddr *)&ss, &n, 0);
	assert_true(s2 >= 0);
	assert_int_equal(n, sizeof(struct sockaddr_in));
	assert_int_equal(ss.ss_family, AF_INET);
	assert_int_equal(((unsigned char *)&ss)[7], 0x5a);
	for (int i = 0; i < 2; i++) {
		n = sizeof(a[i]);
		assert_int_equal(sock_getsockname(f->s, i == 0 ? c : s2, (struct sockaddr *)&a[i], &n), 0);
		n = sizeof(far[i]);
		assert_int_equal(sock_getpeername(f->s, i == 0 ? c : s2, (struct sockaddr *)&far[i], &n), 0);
	}
	assert_memory_equal(&a[0], &far[1], sizeof(a[0]));
	assert_memory_equal(&a[1], &far[0], sizeof(a[0]));
	assert_int_equal(a[1].sin_port, htons(80));
	assert_int_equal(a[0].sin_addr.s_addr, fx_ip4(ME));
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -EAGAIN);
	assert_int_equal(sock_listen(f->s, c, 1), -EINVAL);
	assert_int_equal(sock_accept(f->s, c, NULL, NULL, 0), -EINVAL);
	assert_int_equal(sock_getsockname(f->s, c, (struct sockaddr *)&ss, NULL), -EFAULT);
	n = 0;
	assert_int_equal(sock_getsockname(f->s, c, NULL, &n), 0);
	assert_int_equal(n, sizeof(struct sockaddr_in));
}

/* STK-5: accept is BSD's, accept4 says what it wants */
static void
accept_inherits_non_blocking_only_when_asked(void **state)
{
	struct fx *f = *state;
	static const struct {
		int listener_flag, flags, want;
	} t[] = {
		{ O_NONBLOCK, SOCK_ACCEPT_INHERIT, O_NONBLOCK },
		{ O_NONBLOCK, 0, 0 },
		{ 0, SOCK_ACCEPT_INHERIT, 0 },
		{ 0, SOCK_NONBLOCK, O_NONBLOCK },
	};
	int lst = listener(f, 80);

	for (unsigned int i = 0; i < 4; i++) {
		int c = stream(f, AF_INET), fd;

		assert_int_equal(sock_fcntl(f->s, lst, F_SETFL, t[i].listener_flag), 0);
		assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
		settle(f);
		fd = sock_accept(f->s, lst, NULL, NULL, t[i].flags | SOCK_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(sock_fcntl(f->s, fd, F_GETFL, 0) & O_NONBLOCK, t[i].want);
		assert_int_equal(sock_fcntl(f->s, fd, F_GETFD, 0), FD_CLOEXEC);
	}
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0x10), -EINVAL);
}

/* STK-5 */
static void
accept_that_fails_loses_no_connection(void **state)
{
	struct fx *f = fx_new(&(struct fx_opts){ .max_sockets = 3 });
	struct sockaddr_in a;
	socklen_t n = (socklen_t)-1;
	int lst = listener(f, 80), c = stream(f, AF_INET), extra = stream(f, AF_INET);

	(void)state;
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	assert_int_equal(sock_accept(f->s, lst, (struct sockaddr *)&a, NULL, 0), -EFAULT);
	assert_int_equal(sock_accept(f->s, lst, (struct sockaddr *)&a, &n, 0), -EINVAL);
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -EMFILE);
	sock_close(f->s, extra);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -ENOMEM);
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), extra);
	fx_free(f);
}

/* STK-5, STK-1 */
static void
dual_stack_and_ipv6_only(void **state)
{
	struct fx *f = *state;
	struct sockaddr_in6 a;
	socklen_t n = sizeof(a);
	int lst = stream(f, AF_INET6), c = stream(f, AF_INET), c6 = stream(f, AF_INET6), m = stream(f, AF_INET6), fd;
	int only = stream(f, AF_INET6), one = 1;

	assert_int_equal(bind6(f, lst, "::", 80), 0);
	assert_int_equal(sock_setsockopt(f->s, lst, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)), -EINVAL);
	assert_int_equal(sock_listen(f->s, lst, 5), 0);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	fd = sock_accept(f->s, lst, (struct sockaddr *)&a, &n, 0);
	assert_true(fd >= 0);
	assert_int_equal(n, sizeof(a));
	assert_int_equal(a.sin6_family, AF_INET6);
	assert_true(IN6_IS_ADDR_V4MAPPED(&a.sin6_addr));
	assert_int_equal(put(f, c, "four"), 4);
	got(f, fd, "four");
	assert_int_equal(connect6(f, c6, ME6, 80), -EINPROGRESS);
	settle(f);
	n = sizeof(a);
	fd = sock_accept(f->s, lst, (struct sockaddr *)&a, &n, 0);
	assert_true(fd >= 0);
	assert_memory_equal(&a.sin6_addr, fx_a6(ME6).v6, 16);
	assert_int_equal(put(f, fd, "six"), 3);
	got(f, c6, "six");
	/* a v4-mapped destination is IPv4 */
	assert_int_equal(connect6(f, m, "::ffff:10.0.0.1", 80), -EINPROGRESS);
	settle(f);
	n = sizeof(a);
	assert_int_equal(sock_getpeername(f->s, m, (struct sockaddr *)&a, &n), 0);
	assert_true(IN6_IS_ADDR_V4MAPPED(&a.sin6_addr));
	/* IPv6 only */
	assert_int_equal(sock_setsockopt(f->s, only, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)), 0);
	assert_int_equal(connect6(f, only, "::ffff:10.0.0.1", 80), -ENETUNREACH);
	assert_int_equal(bind6(f, only, "::ffff:10.0.0.1", 81), -EINVAL);
	assert_int_equal(bind6(f, only, "::", 81), 0);
	assert_int_equal(sock_listen(f->s, only, 5), 0);
	sock_close(f->s, c);
	c = stream(f, AF_INET);
	assert_int_equal(connect4(f, c, ME, 81), -EINPROGRESS);
	settle(f);
	assert_int_equal(err_of(f, c), ECONNREFUSED);
	assert_int_equal(bind4(f, stream(f, AF_INET), "0.0.0.0", 81), 0);
}

/* STK-5: Linux's number for the error (the BSD one is 61), once; the socket can be used again */
static void
refused_connections_tell_why(void **state)
{
	struct fx *f = *state;
	int c = stream(f, AF_INET), lst, fd;

	on(f, c, IPPROTO_TCP, OPT_NODELAY);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	assert_int_equal(err_of(f, c), 111);
	assert_int_equal(err_of(f, c), 0);
	assert_int_equal(connect4(f, c, ME, 80), -ECONNABORTED); /* told already */
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	assert_int_equal(connect4(f, c, ME, 80), -ECONNREFUSED);
	lst = listener(f, 80);
	assert_int_equal(bind4(f, stream(f, AF_INET), "0.0.0.0", 99), 0);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(connect4(f, c, ME, 80), -ENOMEM);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	fd = sock_accept(f->s, lst, NULL, NULL, 0);
	assert_true(fd >= 0);
	assert_int_equal(put(f, c, "again"), 5);
	got(f, fd, "again");
	assert_int_equal(tcp_opt_get(fd_stream(f->s, c)->p, TCP_OPT_NODELAY), 1); /* options stayed */
}

/* STK-5 */
static void
connect_arguments(void **state)
{
	struct fx *f = *state;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons(80) };
	int c = stream(f, AF_INET), lst = listener(f, 80);

	a.sin_addr.s_addr = fx_ip4(ME);
	assert_int_equal(sock_connect(f->s, c, NULL, sizeof(a)), -EFAULT);
	assert_int_equal(sock_connect(f->s, c, (struct sockaddr *)&a, sizeof(a) - 1), -EINVAL);
	assert_int_equal(sock_connect(f->s, c, (struct sockaddr *)&a, sizeof(struct sockaddr_storage) + 1), -EINVAL);
	assert_int_equal(sock_connect(f->s, c, (struct sockaddr *)&a6, sizeof(a6)), -EAFNOSUPPORT);
	assert_int_equal(connect4(f, c, ME, 0), -EINVAL);
	assert_int_not_equal(connect4(f, lst, ME, 80), -EINPROGRESS);
	assert_int_not_equal(connect4(f, c, "224.0.0.1", 80), -EINPROGRESS);
	assert_int_equal(bind4(f, c, "10.0.0.9", 1), -EADDRNOTAVAIL);
	assert_int_equal(bind4(f, c, ME, 80), -EADDRINUSE);
	assert_int_equal(bind4(f, c, ME, 5555), 0);
	assert_int_equal(bind4(f, c, ME, 5556), -EINVAL);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	assert_int_equal(local_port(f, c), 5555);
	a6.sin6_addr.s6_addr[0] = 0xfe; /* a link-local address without its interface */
	a6.sin6_addr.s6_addr[1] = 0x80;
	assert_int_equal(sock_connect(f->s, stream(f, AF_INET6), (struct sockaddr *)&a6, sizeof(a6)), -EINVAL);
}

/* STK-5 */
static void
bytes_and_flags(void **state)
{
	struct fx *f = *state;
	struct sockaddr_in from;
	socklen_t n = sizeof(from);
	int lst = listener(f, 80), fd[2];
	char b[64];

	connected(f, lst, 80, fd);
	assert_int_equal(get(f, fd[1]), -EAGAIN);
	assert_int_equal(put(f, fd[0], "hello world"), 11);
	assert_int_equal(sock_recvfrom(f->s, fd[1], b, sizeof(b), MSG_PEEK, NULL, NULL), 11);
	assert_int_equal(sock_recvfrom(f->s, fd[1], b, 5, MSG_DONTWAIT, (struct sockaddr *)&from, &n), 5);
	assert_memory_equal(b, "hello", 5);
	assert_int_equal(n, 0); /* no name comes with bytes */
	memset(b, 'x', sizeof(b));
	assert_int_equal(sock_recvfrom(f->s, fd[1], b, 3, MSG_TRUNC, NULL, NULL), 3); /* thrown away */
	assert_int_equal(b[0], 'x');
	assert_int_equal(sock_recvfrom(f->s, fd[1], b, sizeof(b), MSG_WAITALL, NULL, NULL), 3); /* nothing waits */
	assert_memory_equal(b, "rld", 3);
	assert_int_equal(sock_recvfrom(f->s, fd[1], b, 1, MSG_OOB, NULL, NULL), -EINVAL);
	assert_int_equal(sock_recvfrom(f->s, fd[1], b, 1, MSG_ERRQUEUE, NULL, NULL), -EAGAIN);
	assert_int_equal(sock_sendto(f->s, fd[0], "x", 1, MSG_OOB, NULL, 0), -EOPNOTSUPP);
	assert_int_equal(sock_sendto(f->s, fd[0], "x", 0, MSG_NOSIGNAL, NULL, 0), 0);
	assert_int_equal(sock_sendto(f->s, fd[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_EOR, NULL, 0), 1);
	settle(f);
	got(f, fd[1], "x");
	/* MSG_MORE holds a piece back until there is a whole segment, or for 200 ms */
	assert_int_equal(sock_sendto(f->s, fd[0], "ab", 2, MSG_MORE, NULL, 0), 2);
	settle(f);
	assert_int_equal(get(f, fd[1]), -EAGAIN);
	assert_int_equal(put(f, fd[0], "cd"), 2);
	got(f, fd[1], "abcd");
	assert_int_equal(sock_sendto(f->s, fd[0], "ef", 2, MSG_MORE, NULL, 0), 2);
	fx_advance(f, 250 * FX_MS);
	settle(f);
	got(f, fd[1], "ef");
	/* a destination is ignored */
	from = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(9) };
	assert_int_equal(sock_sendto(f->s, fd[0], "y", 1, 0, (struct sockaddr *)&from, sizeof(from)), 1);
	settle(f);
	got(f, fd[1], "y");
	assert_int_equal(sock_sendto(f->s, fd[0], NULL, 1, 0, NULL, 0), -EFAULT);
	assert_int_equal(sock_sendto(f->s, fd[0], "x", (size_t)SSIZE_MAX + 1, 0, NULL, 0), -EINVAL);
	assert_int_equal(sock_recvfrom(f->s, fd[0], b, (size_t)SSIZE_MAX + 1, 0, NULL, NULL), -EINVAL);
	assert_int_equal(sock_recvfrom(f->s, fd[0], NULL, 1, 0, NULL, NULL), -EFAULT);
}

/* STK-5 */
static void
messages_in_pieces(void **state)
{
	struct fx *f = *state;
	char a[] = "abc", b[] = "defgh", in1[2], in2[16], control[64];
	struct iovec out[3] = { { a, 3 }, { NULL, 0 }, { b, 5 } }, in[2] = { { in1, 2 }, { in2, 16 } };
	struct sockaddr_in name;
	struct msghdr m = { .msg_iov = out, .msg_iovlen = 3 };
	struct msghdr r = { .msg_iov = in, .msg_iovlen = 2, .msg_name = &name, .msg_namelen = sizeof(name),
		.msg_control = control, .msg_controllen = sizeof(control), .msg_flags = 77 };
	struct cmsghdr c = { .cmsg_len = sizeof(c), .cmsg_level = SOL_SOCKET };
	int lst = listener(f, 80), fd[2];

	connected(f, lst, 80, fd);
	assert_int_equal(sock_sendmsg(f->s, fd[0], &m, 0), 8);
	settle(f);
	assert_int_equal(sock_recvmsg(f->s, fd[1], &r, 0), 8);
	assert_memory_equal(in1, "ab", 2);
	assert_memory_equal(in2, "cdefgh", 6);
	assert_int_equal(r.msg_namelen, 0);
	assert_int_equal(r.msg_controllen, 0);
	assert_int_equal(r.msg_flags, 0);
	assert_int_equal(sock_recvmsg(f->s, fd[1], &r, 0), -EAGAIN);
	assert_int_equal(sock_recvmsg(f->s, fd[1], NULL, 0), -EFAULT);
	assert_int_equal(sock_sendmsg(f->s, fd[1], NULL, 0), -EFAULT);
	m.msg_iovlen = SOCK_IOV_MAX + 1;
	assert_int_equal(sock_sendmsg(f->s, fd[0], &m, 0), -EMSGSIZE);
	assert_int_equal(sock_recvmsg(f->s, fd[0], &m, 0), -EMSGSIZE);
	m.msg_iovlen = 1;
	/* control messages: of other levels ignored, of SOL_SOCKET and malformed ones refused */
	m.msg_control = &c;
	m.msg_controllen = sizeof(c);
	assert_int_equal(sock_sendmsg(f->s, fd[0], &m, 0), -EINVAL);
	c.cmsg_level = IPPROTO_IP;
	assert_int_equal(sock_sendmsg(f->s, fd[0], &m, 0), 3);
	c.cmsg_len = 1;
	assert_int_equal(sock_sendmsg(f->s, fd[0], &m, 0), -EINVAL);
	c.cmsg_len = sizeof(c) + 1;
	assert_int_equal(sock_sendmsg(f->s, fd[0], &m, 0), -EINVAL);
}

/* STK-5 */
static void
full_buffers_and_what_is_queued(void **state)
{
	struct fx *f = *state;
	int lst = listener(f, 80), fd[2], v, small = 4096;
	size_t taken;

	assert_int_equal(sock_setsockopt(f->s, lst, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	connected(f, lst, 80, fd);
	assert_int_equal(sock_setsockopt(f->s, fd[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	taken = fill(f, fd[0]);
	for (int i = 0; i < 4; i++) { /* until the reader's buffer is full as well */
		settle_long(f);
		taken += fill(f, fd[0]);
	}
	assert_in_range(taken, 8192, 65536);
	assert_int_equal(sock_ioctl(f->s, fd[1], FIONREAD, &v), 0);
	assert_in_range(v, 1, 8192);
	assert_int_equal(sock_ioctl(f->s, fd[0], SIOCOUTQ, &v), 0);
	assert_in_range(v, 1, 8192);
	assert_int_equal(sock_ioctl(f->s, fd[0], SIOCOUTQNSD, &v), 0);
	assert_in_range(v, 1, 8192);
	assert_int_equal(sock_ioctl(f->s, fd[0], SIOCATMARK, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(sock_ioctl(f->s, lst, FIONREAD, &v), -EINVAL);
	assert_int_equal(sock_ioctl(f->s, lst, SIOCOUTQ, &v), -EINVAL);
	assert_int_equal(sock_ioctl(f->s, lst, 0x1234, &v), -ENOTTY);
	assert_int_equal(drain(f, fd[1]), taken);
	assert_int_equal(sock_ioctl(f->s, fd[0], SIOCOUTQ, &v), 0);
	assert_int_equal(v, 0);
	v = 1;
	assert_int_equal(sock_ioctl(f->s, fd[0], FIONBIO, &v), 0);
	assert_int_equal(sock_fcntl(f->s, fd[0], F_GETFL, 0), O_RDWR | O_NONBLOCK);
}

/* STK-5 */
static void
ends_of_streams(void **state)
{
	struct fx *f = *state;
	int lst = listener(f, 80), fd[2], c = stream(f, AF_INET);

	assert_int_equal(sock_shutdown(f->s, c, SHUT_RDWR), -ENOTCONN);
	assert_int_equal(sock_shutdown(f->s, c, 3), -EINVAL);
	assert_int_equal(sock_shutdown(f->s, 99, SHUT_RD), -EBADF);
	assert_int_equal(get(f, c), -ENOTCONN);
	assert_int_equal(put(f, c, "x"), -ENOTCONN);
	connected(f, lst, 80, fd);
	assert_int_equal(put(f, fd[0], "last"), 4);
	assert_int_equal(sock_shutdown(f->s, fd[0], SHUT_WR), 0);
	settle(f);
	assert_int_equal(put(f, fd[0], "x"), -EPIPE);
	got(f, fd[1], "last");
	assert_int_equal(get(f, fd[1]), 0);
	assert_int_equal(get(f, fd[1]), 0);
	assert_int_equal(put(f, fd[1], "answer"), 6); /* half closed */
	got(f, fd[0], "answer");
	sock_close(f->s, fd[1]);
	settle(f);
	assert_int_equal(get(f, fd[0]), 0);
	sock_close(f->s, fd[0]);
	/* reading shut down by ourselves */
	connected(f, lst, 80, fd);
	assert_int_equal(sock_shutdown(f->s, fd[0], SHUT_RD), 0);
	assert_int_equal(get(f, fd[0]), 0);
	assert_int_equal(put(f, fd[0], "still"), 5);
	got(f, fd[1], "still");
	/* a listener: SHUT_WR is nothing to it, SHUT_RD ends it */
	assert_int_equal(sock_shutdown(f->s, lst, SHUT_WR), 0);
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -EAGAIN);
	assert_int_equal(sock_shutdown(f->s, lst, SHUT_RD), 0);
	assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -EINVAL);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	assert_int_equal(err_of(f, c), ECONNREFUSED);
}

/* STK-5: RFC 1122 4.2.2.13 */
static void
closing_politely_and_not(void **state)
{
	struct fx *f = *state;
	struct linger l = { 1, 0 };
	int lst = listener(f, 80), fd[2], d;

	connected(f, lst, 80, fd);
	assert_int_equal(sock_setsockopt(f->s, fd[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	sock_close(f->s, fd[0]);
	settle(f);
	assert_int_equal(get(f, fd[1]), -ECONNRESET);
	assert_int_equal(get(f, fd[1]), 0);
	assert_int_equal(put(f, fd[1], "x"), -EPIPE);
	sock_close(f->s, fd[1]);
	/* unread data */
	connected(f, lst, 80, fd);
	assert_int_equal(put(f, fd[0], "unread"), 6);
	sock_close(f->s, fd[1]);
	settle(f);
	assert_int_equal(err_of(f, fd[0]), ECONNRESET);
	sock_close(f->s, fd[0]);
	/* a time to linger changes nothing: what is queued still arrives */
	connected(f, lst, 80, fd);
	l.l_linger = 5;
	assert_int_equal(sock_setsockopt(f->s, fd[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	d = sock_dup(f->s, fd[0], 0);
	assert_int_equal(put(f, d, "one"), 3);
	sock_close(f->s, fd[0]); /* the other descriptor keeps it */
	settle(f);
	got(f, fd[1], "one");
	assert_int_equal(get(f, fd[1]), -EAGAIN);
	assert_int_equal(put(f, d, "two"), 3);
	sock_close(f->s, d);
	settle(f);
	got(f, fd[1], "two");
	assert_int_equal(get(f, fd[1]), 0);
}

/* STK-5: as on FreeBSD, whether the name is asked for or not, and whether bytes came or not */
static void
accept_tells_of_a_connection_reset_while_it_waited(void **state)
{
	struct fx *f = *state;
	struct linger l = { 1, 0 };
	struct sockaddr_in a;
	int lst = listener(f, 80), c, next;

	for (int named = 0; named < 2; named++) {
		socklen_t n = sizeof(a);

		c = stream(f, AF_INET);
		assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
		settle(f);
		assert_int_equal(put(f, c, "lost"), 4);
		assert_int_equal(sock_setsockopt(f->s, c, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
		settle(f);
		sock_close(f->s, c);
		settle(f);
		assert_int_equal(sock_accept(f->s, lst, named ? (struct sockaddr *)&a : NULL, named ? &n : NULL, 0),
			-ECONNABORTED);
		next = stream(f, AF_INET);
		assert_int_equal(next, c); /* no descriptor was kept */
		sock_close(f->s, next);
		assert_int_equal(sock_accept(f->s, lst, NULL, NULL, 0), -EAGAIN); /* told once */
	}
}

/* STK-5 */
static void
unaccepted_connections_are_reset(void **state)
{
	struct fx *f = *state;
	int lst = listener(f, 80), c = stream(f, AF_INET);

	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	sock_close(f->s, lst);
	settle(f);
	assert_int_equal(err_of(f, c), ECONNRESET);
}

/* STK-5: as on Linux; FreeBSD knows no such thing */
static void
af_unspec_disconnects(void **state)
{
	struct fx *f = *state;
	struct sockaddr a = { .sa_family = AF_UNSPEC };
	int lst = listener(f, 80), c = stream(f, AF_INET), fd, v = 20000;
	socklen_t n = sizeof(v);

	assert_int_equal(bind4(f, c, ME, 6000), 0);
	assert_int_equal(sock_setsockopt(f->s, c, SOL_SOCKET, SO_SNDBUF, &v, sizeof(v)), 0);
	assert_int_equal(sock_setsockopt(f->s, c, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)), 0);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	fd = sock_accept(f->s, lst, NULL, NULL, 0);
	mock_fail_malloc_at(f->shim, 1);
	assert_int_equal(sock_connect(f->s, c, &a, sizeof(a)), -ENOMEM);
	assert_int_equal(put(f, c, "x"), 1);
	assert_int_equal(sock_connect(f->s, c, &a, sizeof(a)), 0);
	settle(f);
	got(f, fd, "x");
	assert_int_equal(get(f, fd), -ECONNRESET);
	assert_int_equal(local_port(f, c), 6000); /* the caller's own choice */
	assert_int_equal(sock_getsockopt(f->s, c, SOL_SOCKET, SO_SNDBUF, &v, &n), 0);
	assert_int_equal(v, 40000);
	assert_int_equal(get(f, c), -ENOTCONN);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	settle(f);
	assert_true(sock_accept(f->s, lst, NULL, NULL, 0) >= 0);
	assert_int_equal(sock_connect(f->s, stream(f, AF_INET), &a, sizeof(a)), 0);
}

/* STK-5 */
static void
chains_go_without_copies(void **state)
{
	struct fx *f = *state;
	int lst = listener(f, 80), fd[2];
	struct rte_mbuf *m;
	size_t sum = 0;

	connected(f, lst, 80, fd);
	assert_int_equal(sock_recv_chain(f->s, fd[1], &m, NULL), -EAGAIN);
	assert_int_equal(sock_send_chain(f->s, fd[0], fx_buf(f, "chain", 5, 2), NULL), 0);
	settle(f);
	assert_int_equal(sock_recv_chain(f->s, fd[1], &m, NULL), 0);
	assert_int_equal(shim_buf_len(m), 5);
	shim_buf_free(f->shim, m);
	while (sock_send_chain(f->s, fd[0], fx_buf(f, "0123456789", 10, 0), NULL) == 0) {
		sum += 10;
		settle(f);
		if (sum == 1000)
			break;
	}
	sock_shutdown(f->s, fd[0], SHUT_WR);
	assert_int_equal(sock_send_chain(f->s, fd[0], fx_buf(f, "x", 1, 0), NULL), -EPIPE);
	assert_int_equal(drain(f, fd[1]), sum);
	assert_int_equal(sock_recv_chain(f->s, fd[1], &m, NULL), 0);
	assert_null(m); /* the end */
	assert_int_equal(sock_recv_chain(f->s, 77, &m, NULL), -EBADF);
	assert_int_equal(sock_send_chain(f->s, 77, fx_buf(f, "x", 1, 0), NULL), -EBADF);
}

static int lddr_answer;

static int
lddr(uint16_t family, void *dst, uint16_t port, void *src)
{
	uint32_t a = fx_ip4(ME);

	(void)dst;
	(void)port;
	assert_int_equal(family, AF_INET);
	if (lddr_answer == 1)
		memcpy(src, &a, 4);
	return lddr_answer > 1 || lddr_answer < 0 ? lddr_answer : 0;
}

/* STK-5 */
static void
the_application_chooses_local_addresses(void **state)
{
	struct fx *f = *state;
	int c = stream(f, AF_INET);

	listener(f, 80);
	sock_lddr_set(f->s, lddr);
	lddr_answer = EACCES;
	assert_int_equal(connect4(f, c, ME, 80), -EACCES);
	lddr_answer = -1;
	assert_int_equal(connect4(f, c, ME, 80), -EADDRNOTAVAIL);
	lddr_answer = 1;
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	lddr_answer = 0;
	assert_int_equal(connect4(f, stream(f, AF_INET), ME, 80), -EINPROGRESS);
	c = stream(f, AF_INET);
	assert_int_equal(bind4(f, c, ME, 0), 0);
	lddr_answer = -1; /* not asked: it is bound */
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	sock_lddr_set(f->s, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(streams_are_made_of_both_families),
		cmocka_unit_test(streams_need_a_descriptor),
		T(connect_accept_and_names),
		T(accept_inherits_non_blocking_only_when_asked),
		cmocka_unit_test(accept_that_fails_loses_no_connection),
		T(dual_stack_and_ipv6_only),
		T(refused_connections_tell_why),
		T(connect_arguments),
		T(bytes_and_flags),
		T(messages_in_pieces),
		T(full_buffers_and_what_is_queued),
		T(ends_of_streams),
		T(closing_politely_and_not),
		T(accept_tells_of_a_connection_reset_while_it_waited),
		T(unaccepted_connections_are_reset),
		T(af_unspec_disconnects),
		T(chains_go_without_copies),
		T(the_application_chooses_local_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

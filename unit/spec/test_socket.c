/* SPDX-License-Identifier: BSD-3-Clause */
/* The ff_* socket calls as Linux's manual pages describe theirs: results, errno, lengths. STK-5 */
#include "api.h"

static void
every_call_needs_an_open_descriptor(void **state)
{
	static const int fds[] = { -1, INT_MIN, INT_MAX, 77 };
	struct sockaddr_in a = in4(ME4, 1);
	socklen_t n = sizeof(a);
	struct iovec io = { &a, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	struct epoll_event ev = { 0 };
	int v = 0, ep = ff_epoll_create(1);

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		int fd = fds[i];

		FAILS(ff_bind(fd, A(&a), n), EBADF);
		FAILS(ff_connect(fd, A(&a), n), EBADF);
		FAILS(ff_listen(fd, 1), EBADF);
		FAILS(ff_accept(fd, NULL, NULL), EBADF);
		FAILS(ff_close(fd), EBADF);
		FAILS(ff_shutdown(fd, SHUT_RD), EBADF);
		FAILS(ff_getsockname(fd, AM(&a), &n), EBADF);
		FAILS(ff_getpeername(fd, AM(&a), &n), EBADF);
		FAILS(ff_getsockopt(fd, SOL_SOCKET, SO_ERROR, &v, &n), EBADF);
		FAILS(ff_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &v, sizeof(v)), EBADF);
		FAILS(ff_read(fd, &v, 1), EBADF);
		FAILS(ff_write(fd, &v, 1), EBADF);
		FAILS(ff_readv(fd, &io, 1), EBADF);
		FAILS(ff_writev(fd, &io, 1), EBADF);
		FAILS(ff_recv(fd, &v, 1, 0), EBADF);
		FAILS(ff_send(fd, &v, 1, 0), EBADF);
		FAILS(ff_recvmsg(fd, &m, 0), EBADF);
		FAILS(ff_sendmsg(fd, &m, 0), EBADF);
		FAILS(ff_fcntl(fd, F_GETFL), EBADF);
		FAILS(ff_ioctl(fd, FIONREAD, &v), EBADF);
		FAILS(ff_dup(fd), EBADF);
		FAILS(ff_dup2(fd, 5), EBADF);
		FAILS(ff_epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), EBADF);
		FAILS(ff_epoll_wait(fd, &ev, 1, 0), EBADF);
		FAILS(ff_kevent(fd, NULL, 0, NULL, 0, NULL), EBADF);
		assert_int_equal(ff_fdisused(fd), 0);
	}
}

static void
socket_arguments(void **state)
{
	int fd;

	(void)state;
	FAILS(ff_socket(AF_UNIX, SOCK_DGRAM, 0), EAFNOSUPPORT);
	FAILS(ff_socket(-1, SOCK_DGRAM, 0), EAFNOSUPPORT);
	FAILS(ff_socket(AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
	FAILS(ff_socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP), EPROTONOSUPPORT);
	FAILS(ff_socket(AF_INET, 0x40000000 | SOCK_DGRAM, 0), EINVAL);
	fd = ff_socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
	assert_true(fd >= 0);
	assert_int_equal(ff_fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDWR | O_NONBLOCK);
	assert_int_equal(ff_fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(ff_fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(ff_fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(ff_fcntl(fd, F_SETFD, 0), 0);
	assert_int_equal(ff_fcntl(fd, F_GETFD), 0);
	FAILS(ff_fcntl(fd, 9999), EINVAL);
	assert_int_equal(ff_fdisused(fd), 1);
	assert_int_equal(ff_close(fd), 0);
	assert_int_equal(ff_fdisused(fd), 0);
	FAILS(ff_close(fd), EBADF);
	assert_int_equal(ff_socket(AF_INET6_LINUX, SOCK_DGRAM, 0), fd); /* the lowest free number */
}

static void
bind_arguments(void **state)
{
	struct sockaddr_in a = in4(NULL, 5000), b;
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 };
	int fd = dgram(0), other = dgram(0), fd6 = ff_socket(AF_INET6, SOCK_DGRAM, 0);
	socklen_t n = sizeof(b);

	(void)state;
	FAILS(ff_bind(fd, A(&a), sizeof(a) - 1), EINVAL);
	FAILS(ff_bind(fd, A(&a), 0), EINVAL);
	FAILS(ff_bind(fd, A(&a), sizeof(struct sockaddr_storage) + 1), EINVAL);
	FAILS(ff_bind(fd, A(&a), (socklen_t)-1), EINVAL);
	FAILS(ff_bind(fd, NULL, sizeof(a)), EFAULT);
	FAILS(ff_bind(fd, A(&a6), sizeof(a6)), EAFNOSUPPORT);
	FAILS(ff_bind(fd6, A(&a6), sizeof(a)), EINVAL);
	b = in4(PEER4, 5000);
	FAILS(ff_bind(fd, A(&b), sizeof(b)), EADDRNOTAVAIL);
	assert_int_equal(ff_bind(fd, A(&a), sizeof(a)), 0);
	FAILS(ff_bind(fd, A(&a), sizeof(a)), EINVAL);
	FAILS(ff_bind(other, A(&a), sizeof(a)), EADDRINUSE);
	b = in4(ME4, 5000);
	FAILS(ff_bind(other, A(&b), sizeof(b)), EADDRINUSE); /* under the wildcard */
	b = in4(ME4, 0);
	assert_int_equal(ff_bind(other, A(&b), sizeof(b)), 0);
	assert_int_equal(ff_getsockname(other, AM(&b), &n), 0);
	assert_int_not_equal(b.sin_port, 0);
	assert_memory_equal(&b.sin_addr, ME4, 4);
	assert_int_equal(ff_close(fd), 0); /* and the port is free at once */
	fd = dgram(5000);
}

static void
addresses_are_cut_to_the_callers_room(void **state)
{
	struct api *api = *state;
	uint8_t room[64], b[8];
	socklen_t n;
	int fd = dgram(5000);
	struct sockaddr_in p = in4(PEER4, 1000);

	FAILS(ff_getpeername(fd, AM(room), &(socklen_t){ 16 }), ENOTCONN);
	assert_int_equal(ff_connect(fd, A(&p), sizeof(p)), 0);
	for (unsigned int k = 0; k < 3; k++) {
		for (n = 0; n <= 20; n++) {
			socklen_t len = n;

			memset(room, 0xa5, sizeof(room));
			if (k == 2) {
				arrive(api, 5000, "x", 1);
				assert_int_equal(ff_recvfrom(fd, b, 8, 0, AM(room), &len), 1);
			} else {
				assert_int_equal(k == 0 ? ff_getsockname(fd, AM(room), &len) : ff_getpeername(fd, AM(room), &len), 0);
			}
			assert_int_equal(len, sizeof(struct sockaddr_in));
			for (unsigned int i = n < 16 ? n : 16; i < sizeof(room); i++)
				assert_int_equal(room[i], 0xa5);
		}
	}
	FAILS(ff_getsockname(fd, AM(room), &(socklen_t){ (socklen_t)-1 }), EINVAL);
	arrive(api, 5000, "x", 1);
	assert_int_equal(ff_recvfrom(fd, b, 8, 0, NULL, NULL), 1);
}

static void
send_errors(void **state)
{
	static uint8_t d[65536];
	struct sockaddr_in p = in4(PEER4, 1000), q;
	int fd = dgram(0), one = 1;

	(void)state;
	FAILS(ff_send(fd, d, 1, 0), EDESTADDRREQ);
	FAILS(ff_write(fd, d, 1), EDESTADDRREQ);
	FAILS(ff_sendto(fd, d, 1, 0, A(&p), sizeof(p) - 1), EINVAL);
	FAILS(ff_sendto(fd, d, 65508, 0, A(&p), sizeof(p)), EMSGSIZE);
	assert_int_equal(ff_sendto(fd, d, 65507, 0, A(&p), sizeof(p)), 65507);
	FAILS(ff_sendto(fd, d, INT_MAX, 0, A(&p), sizeof(p)), EMSGSIZE);
	FAILS(ff_sendto(fd, d, 1, MSG_OOB, A(&p), sizeof(p)), EOPNOTSUPP);
	q = in4(PEER4, 0);
	FAILS(ff_sendto(fd, d, 1, 0, A(&q), sizeof(q)), EINVAL);
	q = in4("\xff\xff\xff\xff", 9);
	FAILS(ff_sendto(fd, d, 1, 0, A(&q), sizeof(q)), EACCES);
	q = in4("\x0a\x00\x00\xff", 9);
	FAILS(ff_sendto(fd, d, 1, 0, A(&q), sizeof(q)), EACCES);
	assert_int_equal(ff_setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)), 0);
	assert_int_equal(ff_sendto(fd, d, 1, 0, A(&q), sizeof(q)), 1);
	q = in4("\x08\x08\x08\x08", 9); /* no route */
	FAILS(ff_sendto(fd, d, 1, 0, A(&q), sizeof(q)), EHOSTUNREACH); /* ip(7) */
	assert_int_equal(ff_sendto(fd, d, 0, 0, A(&p), sizeof(p)), 0); /* an empty datagram */
	assert_int_equal(ff_sendto(fd, d, 3, MSG_DONTWAIT | MSG_NOSIGNAL, A(&p), sizeof(p)), 3);
}

static void
vectors_are_gathered_and_scattered(void **state)
{
	struct api *api = *state;
	static struct iovec many[1025];
	char a[3], b[4], c[9];
	struct iovec io[3] = { { a, 3 }, { b, 0 }, { c, 9 } };
	struct iovec out[3] = { { (void *)(uintptr_t)"ab", 2 }, { NULL, 0 }, { (void *)(uintptr_t)"cde", 3 } };
	struct sockaddr_in p = in4(PEER4, 1000);
	struct fx_pkt pkt;
	int fd = dgram(5000);

	arrive(api, 5000, "0123456789", 10);
	assert_int_equal(ff_readv(fd, io, 3), 10);
	assert_memory_equal(a, "012", 3);
	assert_memory_equal(c, "3456789", 7);
	assert_int_equal(ff_connect(fd, A(&p), sizeof(p)), 0);
	fx_tx_clear(api->fx);
	assert_int_equal(ff_writev(fd, out, 3), 5);
	fx_expect(api->fx, 0x0800, &pkt);
	assert_int_equal(pkt.l4_len, 13);
	assert_memory_equal(pkt.l4 + 8, "abcde", 5);
	FAILS(ff_readv(fd, io, -1), EINVAL);
	FAILS(ff_writev(fd, io, -1), EINVAL);
	FAILS(ff_writev(fd, many, 1025), EINVAL);
	FAILS(ff_readv(fd, many, 1025), EINVAL);
	assert_int_equal(ff_writev(fd, many, 1024), 0);
	io[0].iov_len = (size_t)SSIZE_MAX;
	FAILS(ff_readv(fd, io, 3), EINVAL);
}

static void
socket_options(void **state)
{
	int fd = dgram(0), v = 1;
	socklen_t n;
	uint8_t room[8];

	(void)state;
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_UDP);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_REUSEADDR), 0);
	assert_int_equal(ff_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &v, sizeof(v)), 0);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_REUSEADDR), 1);
	v = 50000;
	assert_int_equal(ff_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)), 0);
	assert_int_equal(get_int(fd, SOL_SOCKET, SO_RCVBUF), 100000); /* doubled, socket(7) */
	FAILS(ff_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &v, 3), EINVAL);
	FAILS(ff_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &v, 0), EINVAL);
	FAILS(ff_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, NULL, sizeof(v)), EFAULT);
	FAILS(ff_setsockopt(fd, SOL_SOCKET, 9999, &v, sizeof(v)), ENOPROTOOPT);
	FAILS(ff_setsockopt(fd, IPPROTO_IP, 9999, &v, sizeof(v)), ENOPROTOOPT);
	FAILS(ff_setsockopt(fd, SOL_SOCKET, SO_ERROR, &v, sizeof(v)), ENOPROTOOPT);
	n = sizeof(v);
	FAILS(ff_getsockopt(fd, SOL_SOCKET, 9999, &v, &n), ENOPROTOOPT);
	FAILS(ff_getsockopt(fd, 9999, 1, &v, &n), ENOPROTOOPT);
	FAILS(ff_getsockopt(fd, SOL_SOCKET, SO_TYPE, &v, NULL), EFAULT);
	n = (socklen_t)-1;
	FAILS(ff_getsockopt(fd, SOL_SOCKET, SO_TYPE, &v, &n), EINVAL);
	for (n = 0; n < 4; n++) {
		socklen_t len = n;

		memset(room, 0xa5, sizeof(room));
		assert_int_equal(ff_getsockopt(fd, SOL_SOCKET, SO_TYPE, room, &len), 0);
		assert_int_equal(len, n); /* Linux: the smaller of the two */
		assert_int_equal(room[n], 0xa5);
	}
	v = 7;
	assert_int_equal(ff_setsockopt(fd, IPPROTO_IP, IP_TTL, &v, sizeof(v)), 0);
	assert_int_equal(get_int(fd, IPPROTO_IP, IP_TTL), 7);
	v = 256;
	FAILS(ff_setsockopt(fd, IPPROTO_IP, IP_TTL, &v, sizeof(v)), EINVAL);
	v = 0;
	FAILS(ff_setsockopt(fd, IPPROTO_IP, IP_TTL, &v, sizeof(v)), EINVAL);
}

static void
shutdown_of_datagram_sockets(void **state)
{
	struct api *api = *state;
	struct sockaddr_in p = in4(PEER4, 1000);
	uint8_t b[8];
	int fd = dgram(5000);

	FAILS(ff_shutdown(fd, 3), EINVAL);
	FAILS(ff_shutdown(fd, -1), EINVAL);
	FAILS(ff_shutdown(fd, SHUT_RDWR), ENOTCONN);
	ff_close(fd);
	fd = dgram(5000);
	assert_int_equal(ff_connect(fd, A(&p), sizeof(p)), 0);
	assert_int_equal(ff_shutdown(fd, SHUT_WR), 0);
	FAILS(ff_send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	arrive(api, 5000, "y", 1);
	assert_int_equal(ff_recv(fd, b, 8, 0), 1);
	FAILS(ff_recv(fd, b, 8, 0), EAGAIN);
	assert_int_equal(ff_shutdown(fd, SHUT_RD), 0);
	assert_int_equal(ff_recv(fd, b, 8, 0), 0);
}

static void
descriptors_are_shared_by_dup(void **state)
{
	struct api *api = *state;
	int fd = dgram(5000), two, three, n = -1, on = 1;
	uint8_t b[8];

	two = ff_dup(fd);
	assert_true(two > fd);
	assert_int_equal(ff_dup2(fd, fd), fd);
	three = ff_dup2(fd, 40);
	assert_int_equal(three, 40);
	assert_int_equal(ff_fcntl(fd, F_DUPFD, 50), 50);
	assert_int_equal(ff_fcntl(fd, F_DUPFD_CLOEXEC, 50), 51);
	assert_int_equal(ff_fcntl(51, F_GETFD), FD_CLOEXEC);
	assert_int_equal(ff_fcntl(50, F_GETFD), 0);
	FAILS(ff_fcntl(fd, F_DUPFD, -1), EINVAL);
	FAILS(ff_dup2(fd, -1), EBADF);
	assert_int_equal(ff_ioctl(two, FIONBIO, &on), 0); /* of the file, not of the number */
	assert_int_equal(ff_fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(ff_close(fd), 0);
	arrive(api, 5000, "abc", 3);
	assert_int_equal(ff_ioctl(two, FIONREAD, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(ff_read(51, b, 8), 3);
	assert_int_equal(ff_ioctl(two, FIONREAD, &n), 0);
	assert_int_equal(n, 0);
	FAILS(ff_ioctl(two, 0xdead, &n), ENOTTY);
	assert_int_equal(ff_close(two) + ff_close(three) + ff_close(50) + ff_close(51), 0);
	fd = dgram(5000); /* the last one freed the port */
}

static void
streams_are_refused_as_such(void **state)
{
	int fd = dgram(5000), ep = ff_epoll_create(1);
	socklen_t n = 16;
	uint8_t b[16];

	(void)state;
	FAILS(ff_listen(fd, 5), EOPNOTSUPP);
	FAILS(ff_accept(fd, NULL, NULL), EOPNOTSUPP);
	FAILS(ff_accept4(fd, AM(b), &n, SOCK_NONBLOCK), EOPNOTSUPP);
	/* a set is no socket */
	FAILS(ff_bind(ep, A(b), 16), ENOTSOCK);
	FAILS(ff_listen(ep, 1), ENOTSOCK);
	FAILS(ff_send(ep, b, 1, 0), ENOTSOCK);
	FAILS(ff_recv(ep, b, 1, 0), ENOTSOCK);
	FAILS(ff_getsockname(ep, AM(b), &n), ENOTSOCK);
	FAILS(ff_read(ep, b, 1), EINVAL); /* read(2): unsuitable for reading */
	FAILS(ff_write(ep, b, 1), EINVAL);
}

/* Without an instance nothing works, and nothing crashes. */
static void
without_an_instance_every_call_is_enxio(void **state)
{
	struct api *a = *state;
	struct epoll_event ev;
	uint64_t traffic[6] = { 1, 1, 1, 1, 1, 1 };
	uint8_t b[8];

	ff_instance_set(NULL);
	FAILS(ff_socket(AF_INET, SOCK_DGRAM, 0), ENXIO);
	FAILS(ff_close(0), ENXIO);
	FAILS(ff_read(0, b, 8), ENXIO);
	FAILS(ff_epoll_create(1), ENXIO);
	FAILS(ff_epoll_wait(0, &ev, 1, 0), ENXIO);
	FAILS(ff_kqueue(), ENXIO);
	FAILS(ff_poll(NULL, 0, 0), ENXIO);
	ff_get_traffic(traffic);
	assert_int_equal(traffic[0] | traffic[5], 0);
	ff_instance_set(a->in);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		S(every_call_needs_an_open_descriptor),
		S(socket_arguments),
		S(bind_arguments),
		S(addresses_are_cut_to_the_callers_room),
		S(send_errors),
		S(vectors_are_gathered_and_scattered),
		S(socket_options),
		S(shutdown_of_datagram_sockets),
		S(descriptors_are_shared_by_dup),
		S(streams_are_refused_as_such),
		S(without_an_instance_every_call_is_enxio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The ff_* calls over a stack on a mock door: results, errno, the example as C and as C++. */
#include "example.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "core/api/api_priv.h"
#include "unit/stack/fixture.h"

#ifdef HAVE_CPP
int example_cpp_round(int port, int use_epoll, int (*arrive)(int port));
#endif

static _Thread_local struct fx *fx;
static _Thread_local struct ff_instance *instance;

static int
setup(void **state)
{
	struct ff_instance_config c = { 0 };

	fx = fx_new(NULL);
	fx_know_peer(fx);
	c.shim = fx->shim;
	c.stack = fx->s;
	assert_int_equal(ff_instance_new(&c, &instance), 0);
	assert_null(ff_instance_set(instance));
	*state = fx;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	ff_instance_free(instance);
	assert_null(ff_instance_current());
	fx_free(fx);
	return 0;
}

#define FAILS(call, e) do { errno = 0; assert_int_equal((call), -1); assert_int_equal(errno, (e)); } while (0)

static int
arrive(int port)
{
	fx_rx_udp4(fx, 4000, (uint16_t)port, "hello", 5);
	return 0;
}

/* STK-5 */
static void
example_echoes_by_kqueue_and_by_epoll(void **state)
{
	struct fx_pkt *p = test_malloc(sizeof(*p));
	struct echo e;
	int use_epoll;

	(void)state;
	assert_int_equal(ff_init(0, NULL), 0); /* the instance is there: nothing to start */
	for (use_epoll = 0; use_epoll < 2; use_epoll++) {
		assert_int_equal(echo_start(&e, 80, use_epoll), 0);
		ff_run(echo_loop, &e); /* stored: somebody else turns the worker */
		arrive(80);
		ff_instance_loop(instance);
		assert_int_equal(e.served, 1);
		fx_expect(fx, 0x800, p);
		assert_memory_equal(p->l4 + 8, "hello", 5);
		assert_int_equal(ff_close(e.queue), 0);
		assert_int_equal(ff_close(e.fd), 0);
#ifdef HAVE_CPP
		assert_int_equal(example_cpp_round(81, use_epoll, arrive), 1);
		fx_expect(fx, 0x800, p);
#endif
	}
	ff_run(NULL, NULL);
	assert_int_equal(ff_instance_loop(instance), 0);
	assert_false(ff_instance_stopped(instance));
	ff_stop_run();
	assert_true(ff_instance_stopped(instance));
	test_free(p);
}

/* STK-5 */
static void
every_call_reaches_the_stack(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7000) }, b;
	struct linux_sockaddr *la = (struct linux_sockaddr *)&a, *lb = (struct linux_sockaddr *)&b;
	socklen_t n = sizeof(b);
	int fd = ff_socket(AF_INET, SOCK_DGRAM, 0), tx = ff_socket(AF_INET6_FREEBSD, SOCK_DGRAM, 0), v = 1, i;
	char buf[64];
	struct iovec iov = { buf, 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd pf = { .events = POLLIN };
	struct timeval tv = { 0, 0 };
	fd_set rd;

	(void)state;
	assert_true(fd >= 0 && tx >= 0);
	assert_int_equal(ff_bind(fd, la, sizeof(a)), 0);
	assert_int_equal(ff_getsockname(fd, lb, &n), 0);
	assert_int_equal(b.sin_port, htons(7000));
	FAILS(ff_getpeername(fd, lb, &n), ENOTCONN);
	FAILS(ff_listen(fd, 5), EOPNOTSUPP);
	FAILS(ff_accept(fd, lb, &n), EOPNOTSUPP);
	FAILS(ff_accept4(fd, lb, &n, SOCK_NONBLOCK), EOPNOTSUPP);
	FAILS(ff_socket(AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
	FAILS(ff_bind(fd, NULL, 16), EFAULT);
	assert_int_equal(ff_setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &v, sizeof(v)), 0);
	n = sizeof(v);
	assert_int_equal(ff_getsockopt(fd, SOL_SOCKET, SO_BROADCAST, &v, &n), 0);
	FAILS(ff_setsockopt(fd, SOL_SOCKET, 9999, &v, sizeof(v)), ENOPROTOOPT);
	a.sin_addr.s_addr = fx_ip4("10.0.0.1");
	assert_int_equal(ff_connect(tx, la, sizeof(a)), 0);
	assert_int_equal(ff_write(tx, "1", 1), 1);
	assert_int_equal(ff_send(tx, "22", 2, MSG_NOSIGNAL), 2);
	assert_int_equal(ff_sendto(tx, "333", 3, 0, NULL, 0), 3);
	memcpy(buf, "4444", 4);
	assert_int_equal(ff_sendmsg(tx, &msg, MSG_DONTWAIT), 4);
	assert_int_equal(ff_writev(tx, &iov, 1), 4);
	FAILS(ff_writev(tx, &iov, -1), EINVAL);
	FAILS(ff_readv(tx, &iov, 1025), EINVAL);
	fx_poll(fx);
	pf.fd = fd;
	assert_int_equal(ff_poll(&pf, 1, 1000), 1);
	FD_ZERO(&rd);
	FD_SET(fd, &rd);
	assert_int_equal(ff_select(fd + 1, &rd, NULL, NULL, &tv), 1);
	tv.tv_sec = -1;
	FAILS(ff_select(fd + 1, &rd, NULL, NULL, &tv), EINVAL);
	assert_int_equal(ff_ioctl(fd, FIONREAD, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(ff_read(fd, buf, 9), 1);
	assert_int_equal(ff_recv(fd, buf, 9, 0), 2);
	assert_int_equal(ff_recvfrom(fd, buf, 9, 0, lb, &n), 3);
	iov.iov_len = 9;
	assert_int_equal(ff_recvmsg(fd, &msg, 0), 4);
	assert_int_equal(ff_readv(fd, &iov, 1), 4);
	FAILS(ff_read(fd, buf, 9), EAGAIN);
	FAILS(ff_shutdown(fd, SHUT_RD), ENOTCONN);
	i = ff_dup(fd);
	assert_int_equal(ff_dup2(fd, i + 5), i + 5);
	assert_int_equal(ff_fdisused(i + 5), 1);
	assert_int_equal(ff_fdisused(i + 6), 0);
	assert_int_equal(ff_fdisused(-1), 0);
	assert_int_equal(ff_fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(ff_fcntl(fd, F_GETFL), O_RDWR | O_NONBLOCK);
	assert_true(ff_getmaxfd() > 1000);
	assert_int_equal(ff_close(i), 0);
	FAILS(ff_close(i), EBADF);
}

static void
collect(void **list, struct kevent *ev)
{
	struct kevent **at = (struct kevent **)list;

	*(*at)++ = *ev;
}

/* STK-5 */
static void
events_reach_the_stack(void **state)
{
	struct kevent k, out[2];
	struct epoll_event ev = { .events = EPOLLIN };
	int kq = ff_kqueue(), ep = ff_epoll_create(1);

	(void)state;
	EV_SET(&k, 7, EVFILT_USER, EV_ADD, NOTE_TRIGGER, 0, &k);
	assert_int_equal(ff_kevent_do_each(kq, &k, 1, out, 2, NULL, collect), 1);
	assert_int_equal(out[0].ident, 7);
	assert_ptr_equal(out[0].udata, &k);
	FAILS(ff_kevent_do_each(kq, &k, 1, out, 2, NULL, NULL), EFAULT);
	FAILS(ff_kevent(kq, &k, 1, NULL, 2, NULL), EFAULT);
	FAILS(ff_kevent(99, &k, 1, out, 2, NULL), EBADF);
	FAILS(ff_epoll_create(-1), EINVAL);
	FAILS(ff_epoll_ctl(ep, EPOLL_CTL_ADD, 99, &ev), EBADF);
	assert_int_equal(ff_epoll_wait(ep, &ev, 1, -1), 0); /* never waits */
}

/* STK-5 */
static void
the_rest(void **state)
{
	struct sockaddr_in dst = { .sin_family = AF_INET }, gw = dst, mask = dst;
	struct sockaddr_in6 d6 = { .sin6_family = AF_INET6 }, g6 = d6, m6 = d6;
	struct linux_sockaddr *d = (struct linux_sockaddr *)&dst, *g = (struct linux_sockaddr *)&gw,
		*m = (struct linux_sockaddr *)&mask;
	union ip_addr via = fx_a6("2001:db8::2");
	uint64_t traffic[6] = { 1, 1, 1, 1, 1, 1 };
	struct timeval tv;
	int oid[2] = { 4, 256 }, v;
	size_t n = sizeof(v);

	(void)state;
	mock_set_wall_ns(fx->shim, 1234567890123456789ull);
	assert_int_equal(ff_gettimeofday(&tv, NULL), 0);
	assert_int_equal(tv.tv_sec, 1234567890);
	assert_int_equal(tv.tv_usec, 123456);
	assert_int_equal(ff_gettimeofday(NULL, NULL), 0);
	assert_int_equal(ff_sysctl(oid, 2, &v, &n, NULL, 0), 0);
	assert_int_equal(v, 10000);
	ff_get_traffic(traffic);
	assert_int_equal(traffic[0] | traffic[5], 0);
	FAILS(ff_dpdk_raw_packet_send(&v, 4, 0), ENXIO);
	dst.sin_addr.s_addr = fx_ip4("192.168.7.0");
	mask.sin_addr.s_addr = fx_ip4("255.255.255.0");
	gw.sin_addr.s_addr = fx_ip4("10.0.0.2");
	assert_int_equal(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_GATEWAY, d, g, m), 0);
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_GATEWAY, d, g, m), EEXIST);
	gw.sin_addr.s_addr = fx_ip4("10.0.0.3");
	assert_int_equal(ff_route_ctl(FF_ROUTE_CHANGE, FF_RTF_GATEWAY, d, g, m), 0);
	assert_int_equal(ff_route_ctl(FF_ROUTE_DEL, FF_RTF_GATEWAY, d, NULL, m), 0);
	FAILS(ff_route_ctl(FF_ROUTE_DEL, FF_RTF_GATEWAY, d, NULL, m), ENOENT);
	assert_int_equal(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_HOST, d, g, NULL), 0);
	mask.sin_addr.s_addr = fx_ip4("255.0.255.0");
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_GATEWAY, d, g, m), EINVAL);
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_GATEWAY, d, g, NULL), EINVAL);
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_HOST, d, NULL, NULL), EINVAL);
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_HOST, NULL, g, NULL), EINVAL);
	/* IPv6 too: whole addresses */
	d6.sin6_addr.s6_addr[0] = 0x20;
	d6.sin6_addr.s6_addr[15] = 0;
	memset(&m6.sin6_addr, 0xff, 8);
	memcpy(&g6.sin6_addr, via.v6, 16);
	assert_int_equal(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_GATEWAY, (struct linux_sockaddr *)&d6,
		(struct linux_sockaddr *)&g6, (struct linux_sockaddr *)&m6), 0);
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_GATEWAY, (struct linux_sockaddr *)&d6, g,
		(struct linux_sockaddr *)&m6), EINVAL);
	d->sa_family = AF_UNIX;
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_HOST, d, g, NULL), EAFNOSUPPORT);
	assert_int_equal(ff_global_cfg.dpdk.nb_ports, 0);
}

static void *
in_thread(void *arg)
{
	*(int *)arg = ff_socket(AF_INET, SOCK_DGRAM, 0);
	return arg;
}

/* STK-5 */
static void
threads_inherit_the_instance(void **state)
{
	pthread_t t;
	int fd = -1;
	void *ret;

	(void)state;
	assert_int_equal(ff_pthread_create(&t, NULL, in_thread, &fd), 0);
	assert_int_equal(ff_pthread_join(t, &ret), 0);
	assert_ptr_equal(ret, &fd);
	assert_int_equal(ff_fdisused(fd), 1);
	mock_fail_malloc_at(fx->shim, 1);
	assert_int_equal(ff_pthread_create(&t, NULL, in_thread, &fd), ENOMEM);
}

/* STK-5 */
static void
log_lines(void **state)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	FAILS(ff_log(0, FF_LOGTYPE_USER1, "x"), EINVAL);
	FAILS(ff_log(FF_LOG_ERR, 99, "x"), EINVAL);
	assert_int_equal(ff_log(FF_LOG_ERR, FF_LOGTYPE_FSTACK_APP, "number %d\n", 5), 0);
	assert_string_equal(mock_last_message(fx->shim), "number 5");
	assert_int_equal(ff_log_reset_stream(f), 0);
	assert_int_equal(ff_log(FF_LOG_ERR, FF_LOGTYPE_FSTACK_APP, "kept\n"), 0);
	ff_log_set_global_level(FF_LOG_CRIT);
	assert_int_equal(ff_log(FF_LOG_ERR, FF_LOGTYPE_FSTACK_APP, "dropped\n"), 0);
	assert_int_equal(ff_log_set_level(FF_LOGTYPE_FSTACK_APP, FF_LOG_DEBUG), 0);
	assert_int_equal(ff_log(FF_LOG_DEBUG, FF_LOGTYPE_FSTACK_APP, "type\n"), 0);
	FAILS(ff_log_set_level(99, 1), EINVAL);
	ff_log_close();
	fclose(f);
	assert_string_equal(text, "kept\ntype\n");
	free(text);
	assert_int_equal(ff_log_open_set(), 0); /* ./f-stack-0.log */
	assert_int_equal(ff_log(FF_LOG_CRIT, FF_LOGTYPE_USER2, "to the file\n"), 0);
	ff_log_close();
	assert_int_equal(unlink("./f-stack-0.log"), 0);
}

static int
lddr(uint16_t family, void *dst, uint16_t port, void *src)
{
	(void)family; (void)dst; (void)port; (void)src;
	return EACCES;
}

/* STK-5 */
static void
without_an_instance_everything_is_enxio(void **state)
{
	struct ff_instance *in = ff_instance_set(NULL), *other;
	struct ff_instance_config c = { 0 };
	uint64_t t[6];
	pthread_t th;
	struct kevent k;
	struct epoll_event ev;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = 5 };
	int fd;

	(void)state;
	FAILS(ff_socket(AF_INET, SOCK_DGRAM, 0), ENXIO);
	FAILS(ff_read(0, t, 1), ENXIO);
	FAILS(ff_kqueue(), ENXIO);
	FAILS(ff_kevent(0, &k, 0, NULL, 0, NULL), ENXIO);
	FAILS(ff_kevent_do_each(0, &k, 0, NULL, 0, NULL, NULL), ENXIO);
	FAILS(ff_epoll_create(1), ENXIO);
	FAILS(ff_epoll_ctl(0, 1, 0, &ev), ENXIO);
	FAILS(ff_epoll_wait(0, &ev, 1, 0), ENXIO);
	FAILS(ff_select(0, NULL, NULL, NULL, NULL), ENXIO);
	FAILS(ff_poll(NULL, 0, 0), ENXIO);
	FAILS(ff_gettimeofday(NULL, NULL), ENXIO);
	FAILS(ff_sysctl(NULL, 0, NULL, NULL, NULL, 0), ENXIO);
	FAILS(ff_route_ctl(FF_ROUTE_ADD, FF_RTF_HOST, NULL, NULL, NULL), ENXIO);
	FAILS(ff_dpdk_raw_packet_send(t, 4, 0), ENXIO);
	FAILS(ff_log_open_set(), ENXIO);
	FAILS(ff_log_reset_stream(NULL), ENXIO);
	FAILS(ff_log_set_level(1, 1), ENXIO);
	assert_int_equal(ff_pthread_create(&th, NULL, in_thread, t), ENXIO);
	assert_int_equal(ff_fdisused(0), 0);
	ff_get_traffic(t);
	assert_int_equal(t[0], 0);
	ff_get_traffic(NULL);
	ff_stop_run();
	ff_run(NULL, NULL);
	ff_log_close();
	ff_log_set_global_level(1);
	assert_int_equal(ff_global_cfg.dpdk.nb_procs, 0);
	/* what is registered now is the next instance's */
	ff_regist_pcblddr_fun(lddr);
	assert_int_equal(ff_instance_new(&c, &other), -EINVAL);
	c.shim = fx->shim;
	assert_int_equal(ff_instance_new(&c, &other), -EINVAL);
	c.stack = fx->s;
	mock_fail_malloc_at(fx->shim, 1);
	assert_int_equal(ff_instance_new(&c, &other), -ENOMEM);
	assert_int_equal(ff_instance_new(&c, &other), 0);
	ff_instance_set(other);
	fd = ff_socket(AF_INET, SOCK_DGRAM, 0);
	FAILS(ff_connect(fd, (struct linux_sockaddr *)&a, sizeof(a)), EACCES);
	ff_regist_pcblddr_fun(NULL);
	ff_regist_packet_dispatcher(NULL);
	ff_regist_packet_dispatcher_context(NULL);
	ff_instance_free(other);
	ff_instance_free(NULL);
	ff_instance_set(in);
}

/* STK-5: F-Stack's way: a failed ff_init ends the process with 1 */
static void
failed_init_exits_with_one(void **state)
{
	char prog[] = "x", conf[] = "--conf=/nonexistent/config.ini", bad[] = "--proc-type=none";
	char *argv[2][3] = { { prog, conf, NULL }, { prog, bad, NULL } };
	int i, status;

	(void)state;
	for (i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			ff_instance_set(NULL);
			if (freopen("/dev/null", "w", stderr) == NULL)
				_exit(9);
			ff_init(2, argv[i]);
			_exit(8);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
	}
}

#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

/* STK-5: accept inherits non-blocking as on BSD, accept4 does what it is told */
static void
streams_through_the_ff_calls(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct linux_sockaddr *la = (struct linux_sockaddr *)(void *)&a;
	char b[8] = "abcde";
	struct iovec iov[2] = { { b, 2 }, { b + 2, 3 } };
	int lst = ff_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), kq = ff_kqueue(), c[2], s2[2], v = 0;
	struct kevent ev;
	socklen_t n = sizeof(v);

	(void)state;
	assert_int_equal(ff_bind(lst, la, sizeof(a)), 0);
	assert_int_equal(ff_listen(lst, 5), 0);
	FAILS(ff_accept(lst, NULL, NULL), EAGAIN);
	EV_SET(&ev, lst, EVFILT_READ, EV_ADD, 0, 0, NULL);
	assert_int_equal(ff_kevent(kq, &ev, 1, NULL, 0, NULL), 0);
	a.sin_addr.s_addr = fx_ip4("10.0.0.1");
	for (int i = 0; i < 2; i++) {
		c[i] = ff_socket(AF_INET, SOCK_STREAM, 0);
		FAILS(ff_connect(c[i], la, sizeof(a)), EINPROGRESS); /* on a blocking descriptor as well */
	}
	for (int i = 0; i < 6; i++)
		fx_poll(fx);
	assert_int_equal(ff_kevent(kq, NULL, 0, &ev, 1, NULL), 1);
	assert_int_equal(ev.data, 2);
	FAILS(ff_accept4(lst, NULL, NULL, 0x20000000), EINVAL);
	s2[0] = ff_accept(lst, NULL, NULL);
	s2[1] = ff_accept4(lst, NULL, NULL, SOCK_CLOEXEC);
	assert_int_equal(ff_fcntl(s2[0], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(ff_fcntl(s2[1], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(ff_writev(c[0], iov, 2), 5);
	for (int i = 0; i < 4; i++)
		fx_poll(fx);
	memset(b, 0, sizeof(b));
	assert_int_equal(ff_readv(s2[0], iov, 2), 5);
	assert_memory_equal(b, "abcde", 5);
	FAILS(ff_read(s2[0], b, 1), EAGAIN);
	assert_int_equal(ff_shutdown(c[0], SHUT_WR), 0);
	for (int i = 0; i < 4; i++)
		fx_poll(fx);
	assert_int_equal(ff_read(s2[0], b, 1), 0);
	a.sin_port = htons(81);
	c[0] = ff_socket(AF_INET, SOCK_STREAM, 0);
	FAILS(ff_connect(c[0], la, sizeof(a)), EINPROGRESS);
	for (int i = 0; i < 4; i++)
		fx_poll(fx);
	assert_int_equal(ff_getsockopt(c[0], SOL_SOCKET, SO_ERROR, &v, &n), 0);
	assert_int_equal(v, 111); /* Linux's ECONNREFUSED */
}

static int
bound(int family, int type, int port)
{
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = ff_socket(family, type | SOCK_NONBLOCK, 0);
	int rc = family == AF_INET ? ff_bind(fd, (struct linux_sockaddr *)(void *)&a4, sizeof(a4)) :
		ff_bind(fd, (struct linux_sockaddr *)(void *)&a6, sizeof(a6));

	if (rc == 0 && type == SOCK_STREAM)
		rc = ff_listen(fd, 5);
	if (rc == 0)
		return fd;
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(ff_close(fd), 0);
	return -1;
}

/* What comes over IPv4 is fd's and not silent's. */
static void
arrives_at(int type, int port, int fd, int silent)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	char b[8];
	int c, i;

	if (type == SOCK_DGRAM) {
		arrive(port);
		if (silent >= 0)
			FAILS(ff_read(silent, b, sizeof(b)), EAGAIN);
		assert_int_equal(ff_read(fd, b, sizeof(b)), 5);
		return;
	}
	to.sin_addr.s_addr = fx_ip4("10.0.0.1");
	c = ff_socket(AF_INET, SOCK_STREAM, 0);
	FAILS(ff_connect(c, (struct linux_sockaddr *)(void *)&to, sizeof(to)), EINPROGRESS);
	for (i = 0; i < 6; i++)
		fx_poll(fx);
	if (silent >= 0)
		FAILS(ff_accept(silent, NULL, NULL), EAGAIN);
	i = ff_accept(fd, NULL, NULL);
	assert_true(i >= 0);
	assert_int_equal(ff_close(i), 0);
	assert_int_equal(ff_close(c), 0);
}

static int
v6only(int fd)
{
	int v = -1;
	socklen_t n = sizeof(v);

	assert_int_equal(ff_getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v, &n), 0);
	return v;
}

/* STK-5: F-Stack's programs bind a port in IPv4, then in IPv6 */
static void
each_family_has_a_socket_on_one_port(void **state)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	int four, six, other, port = 5000;

	(void)state;
	for (int i = 0; i < 2; i++, port++) {
		four = bound(AF_INET, types[i], port);
		six = bound(AF_INET6, types[i], port);
		assert_true(four >= 0 && six >= 0);
		assert_int_equal(v6only(six), 1);
		arrives_at(types[i], port, four, six);
		assert_int_equal(bound(AF_INET, types[i], port), -1);
		other = ff_socket(AF_INET6, types[i], 0);
		any.sin6_port = htons((uint16_t)port);
		FAILS(ff_bind(other, (struct linux_sockaddr *)(void *)&any, sizeof(any)), EADDRINUSE);
		assert_int_equal(v6only(other), 0);
		assert_int_equal(ff_close(other), 0);
		assert_int_equal(ff_close(four), 0);
		assert_int_equal(ff_close(six), 0);
		/* alone it hears both; on a port without old connections */
		six = bound(AF_INET6, types[i], port + 10);
		assert_int_equal(v6only(six), 0);
		assert_int_equal(bound(AF_INET, types[i], port + 10), -1);
		arrives_at(types[i], port + 10, six, -1);
		assert_int_equal(ff_close(six), 0);
	}
}

/* STK-5: a port that the stack chooses is nobody else's, in neither family */
static void
chosen_port_is_not_shared_by_families(void **state)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };

	(void)state;
	assert_int_equal(sock_sysctl_set_text(fx->s, "net.inet.ip.portrange.first", "20000"), 0);
	assert_int_equal(sock_sysctl_set_text(fx->s, "net.inet.ip.portrange.last", "20000"), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(bound(AF_INET, types[i], 0) >= 0);
		assert_int_equal(bound(AF_INET6, types[i], 0), -1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(example_echoes_by_kqueue_and_by_epoll), T(every_call_reaches_the_stack), T(events_reach_the_stack),
		T(streams_through_the_ff_calls), T(each_family_has_a_socket_on_one_port),
		T(chosen_port_is_not_shared_by_families),
		T(the_rest), T(threads_inherit_the_instance), T(log_lines), T(without_an_instance_everything_is_enxio),
		T(failed_init_exits_with_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

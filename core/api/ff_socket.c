/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets and descriptors of the ff_* API. */
#include "api_priv.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(struct linux_sockaddr) == sizeof(struct sockaddr), "cast by applications");
_Static_assert(offsetof(struct linux_sockaddr, sa_data) == offsetof(struct sockaddr, sa_data), "same layout");
_Static_assert(AF_INET6_LINUX == AF_INET6, "Linux's number");

/* Runs `call` on the current instance's stack; -1 with ENXIO when there is none. */
#define ON_STACK(call) \
	struct stack *st = api_stack(); \
	return st == NULL ? -1 : api_ret(call)
#define ON_STACK_SIZE(call) \
	struct stack *st = api_stack(); \
	return st == NULL ? -1 : api_ret_size(call)

static const struct sockaddr *
in_addr_of(const struct linux_sockaddr *a)
{
	return (const struct sockaddr *)(const void *)a;
}

static struct sockaddr *
out_addr_of(struct linux_sockaddr *a)
{
	return (struct sockaddr *)(void *)a;
}

int
ff_socket(int domain, int type, int protocol)
{
	ON_STACK(sock_socket(st, domain == AF_INET6_FREEBSD ? AF_INET6 : domain, type, protocol));
}

/* An IPv6 wildcard with a port of the application's choice, for a socket that would hear IPv4 as well? */
static bool
hears_both(struct stack *st, int s, const struct linux_sockaddr *addr, socklen_t addrlen)
{
	struct sockaddr_in6 a;
	int only = 1;
	socklen_t n = sizeof(only);

	if (addrlen < sizeof(a))
		return false;
	memcpy(&a, addr, sizeof(a));
	if (a.sin6_family != AF_INET6 || a.sin6_port == 0 || !IN6_IS_ADDR_UNSPECIFIED(&a.sin6_addr))
		return false;
	return sock_getsockopt(st, s, IPPROTO_IPV6, IPV6_V6ONLY, &only, &n) == 0 && only == 0;
}

/*
 * F-Stack's programs bind a port in IPv4 and then in IPv6, where FreeBSD's sockets hear IPv6 only. Here they hear both, as on
 * Linux; where an IPv4 socket has the port already, as if IPV6_V6ONLY had been set.
 */
static int
bind_family(struct stack *st, int s, const struct linux_sockaddr *addr, socklen_t addrlen)
{
	int on = 1, off = 0, err = sock_bind(st, s, in_addr_of(addr), addrlen);

	if (err != -EADDRINUSE || !hears_both(st, s, addr, addrlen))
		return err;
	(void)sock_setsockopt(st, s, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (sock_bind(st, s, in_addr_of(addr), addrlen) == 0)
		return 0;
	(void)sock_setsockopt(st, s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return err;
}

int
ff_bind(int s, const struct linux_sockaddr *addr, socklen_t addrlen)
{
	ON_STACK(bind_family(st, s, addr, addrlen));
}

int
ff_connect(int s, const struct linux_sockaddr *name, socklen_t namelen)
{
	ON_STACK(sock_connect(st, s, in_addr_of(name), namelen));
}

int
ff_listen(int s, int backlog)
{
	ON_STACK(sock_listen(st, s, backlog));
}

int
ff_accept(int s, struct linux_sockaddr *addr, socklen_t *addrlen)
{
	ON_STACK(sock_accept(st, s, out_addr_of(addr), addrlen, SOCK_ACCEPT_INHERIT));
}

int
ff_accept4(int s, struct linux_sockaddr *addr, socklen_t *addrlen, int flags)
{
	ON_STACK(sock_accept(st, s, out_addr_of(addr), addrlen, flags & SOCK_ACCEPT_INHERIT ? -1 : flags));
}

int
ff_close(int fd)
{
	ON_STACK(sock_close(st, fd));
}

int
ff_shutdown(int s, int how)
{
	ON_STACK(sock_shutdown(st, s, how));
}

int
ff_getpeername(int s, struct linux_sockaddr *name, socklen_t *namelen)
{
	ON_STACK(sock_getpeername(st, s, out_addr_of(name), namelen));
}

int
ff_getsockname(int s, struct linux_sockaddr *name, socklen_t *namelen)
{
	ON_STACK(sock_getsockname(st, s, out_addr_of(name), namelen));
}

int
ff_setsockopt(int s, int level, int optname, const void *optval, socklen_t optlen)
{
	ON_STACK(sock_setsockopt(st, s, level, optname, optval, optlen));
}

int
ff_getsockopt(int s, int level, int optname, void *optval, socklen_t *optlen)
{
	ON_STACK(sock_getsockopt(st, s, level, optname, optval, optlen));
}

ssize_t
ff_recvfrom(int s, void *buf, size_t len, int flags, struct linux_sockaddr *from, socklen_t *fromlen)
{
	ON_STACK_SIZE(sock_recvfrom(st, s, buf, len, flags, out_addr_of(from), fromlen));
}

ssize_t
ff_recv(int s, void *buf, size_t len, int flags)
{
	return ff_recvfrom(s, buf, len, flags, NULL, NULL);
}

/* read(2), write(2): a descriptor that is no socket is EINVAL there, ENOTSOCK in the socket calls. */
static ssize_t
as_file(ssize_t r)
{
	if (r < 0 && errno == ENOTSOCK)
		errno = EINVAL;
	return r;
}

ssize_t
ff_read(int d, void *buf, size_t nbytes)
{
	return as_file(ff_recvfrom(d, buf, nbytes, 0, NULL, NULL));
}

ssize_t
ff_recvmsg(int s, struct msghdr *msg, int flags)
{
	ON_STACK_SIZE(sock_recvmsg(st, s, msg, flags));
}

ssize_t
ff_sendto(int s, const void *buf, size_t len, int flags, const struct linux_sockaddr *to, socklen_t tolen)
{
	ON_STACK_SIZE(sock_sendto(st, s, buf, len, flags, in_addr_of(to), tolen));
}

ssize_t
ff_send(int s, const void *buf, size_t len, int flags)
{
	return ff_sendto(s, buf, len, flags, NULL, 0);
}

ssize_t
ff_write(int fd, const void *buf, size_t nbytes)
{
	return as_file(ff_sendto(fd, buf, nbytes, 0, NULL, 0));
}

ssize_t
ff_sendmsg(int s, const struct msghdr *msg, int flags)
{
	ON_STACK_SIZE(sock_sendmsg(st, s, msg, flags));
}

/* readv and writev: EINVAL where the message calls say EMSGSIZE. */
static bool
vector_msg(const struct iovec *iov, int iovcnt, struct msghdr *msg)
{
	if (iovcnt < 0 || iovcnt > SOCK_IOV_MAX) {
		errno = EINVAL;
		return false;
	}
	*msg = (struct msghdr){ .msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)iovcnt };
	return true;
}

ssize_t
ff_readv(int fd, const struct iovec *iov, int iovcnt)
{
	struct msghdr msg;

	return vector_msg(iov, iovcnt, &msg) ? as_file(ff_recvmsg(fd, &msg, 0)) : -1;
}

ssize_t
ff_writev(int fd, const struct iovec *iov, int iovcnt)
{
	struct msghdr msg;

	return vector_msg(iov, iovcnt, &msg) ? as_file(ff_sendmsg(fd, &msg, 0)) : -1;
}

int
ff_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = (int)va_arg(ap, long); /* callers pass int or long: the lower half is what counts */
	va_end(ap);
	ON_STACK(sock_fcntl(st, fd, cmd, arg));
}

int
ff_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	ON_STACK(sock_ioctl(st, fd, request, arg));
}

int
ff_dup(int oldfd)
{
	ON_STACK(sock_dup(st, oldfd, 0));
}

int
ff_dup2(int oldfd, int newfd)
{
	ON_STACK(sock_dup2(st, oldfd, newfd));
}

int
ff_fdisused(int fd)
{
	struct ff_instance *in = ff_instance_current();

	return in != NULL && in->stack != NULL && sock_is_open(in->stack, fd);
}

int
ff_getmaxfd(void)
{
	ON_STACK(sock_max_fd(st));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets: making, naming, connecting, shutting down. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>

#include "socket_priv.h"

#define SIN6_LEN_MIN 24 /* without sin6_scope_id, as RFC 2133 had it; Linux accepts it */

/* 0, or why there are no such sockets. */
static int
check_kind(int domain, int type, int protocol)
{
	if (domain != AF_INET && domain != AF_INET6)
		return -EAFNOSUPPORT;
	switch (type) {
	case SOCK_DGRAM:
		return protocol == 0 || protocol == IPPROTO_UDP ? 0 : -EPROTONOSUPPORT;
	case SOCK_STREAM:
		return protocol == 0 || protocol == IPPROTO_TCP ? 0 : -EPROTONOSUPPORT;
	}
	return type < 0 || type > SOCK_PACKET ? -EINVAL : -ESOCKTNOSUPPORT;
}

int
sock_socket(struct stack *s, int domain, int type, int protocol)
{
	int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
	int fd = check_kind(domain, kind, protocol);
	struct socket *so;

	if (fd != 0)
		return fd;
	if (kind == SOCK_STREAM)
		return stream_socket(s, domain, type & SOCK_NONBLOCK ? O_NONBLOCK : 0, (type & SOCK_CLOEXEC) != 0);
	so = shim_malloc(s->shim, sizeof(*so));
	if (so == NULL)
		return -ENOMEM;
	sfile_init(&so->f, SFILE_SOCKET, type & SOCK_NONBLOCK ? O_NONBLOCK : 0);
	so->pcb.so = so;
	so->pcb.domain = so->pcb.family = domain == AF_INET ? ADDR_INET : ADDR_INET6;
	list_init(&so->pcb.on_port);
	so->rcvbuf = s->sockets->rcvbuf;
	so->sndbuf = SOCK_SNDBUF_DEFAULT;
	so->mtu_discover = IP_PMTUDISC_WANT;
	so->rcvlowat = 1;
	fd = fd_install(s, &so->f, 0, (type & SOCK_CLOEXEC) != 0);
	if (fd < 0)
		shim_free(s->shim, so);
	return fd;
}

void
socket_release(struct stack *s, struct socket *so)
{
	udp_unbind(s, &so->pcb);
	socket_flush(s, so);
	shim_free(s->shim, so);
}

static int
from_in(int domain, bool v6only, const struct sockaddr *addr, socklen_t len, struct sock_addr *out)
{
	struct sockaddr_in sin;

	if (len < sizeof(sin))
		return -EINVAL;
	if (domain == ADDR_INET6 && v6only)
		return -EAFNOSUPPORT;
	memcpy(&sin, addr, sizeof(sin));
	out->family = ADDR_INET;
	out->addr = ip_addr_v4(sin.sin_addr.s_addr);
	out->port_be = sin.sin_port;
	out->ifindex = 0;
	return 0;
}

int
addr_from_user(int domain, bool v6only, const struct sockaddr *addr, socklen_t len, bool sending,
	struct sock_addr *out)
{
	struct sockaddr_in6 sin6 = { 0 };
	sa_family_t family;

	if (addr == NULL)
		return -EFAULT;
	if (len < sizeof(family) || len > sizeof(struct sockaddr_storage))
		return -EINVAL;
	memcpy(&family, addr, sizeof(family));
	if (family == AF_INET || (family == AF_UNSPEC && sending && domain == ADDR_INET))
		return from_in(domain, v6only, addr, len, out);
	if (family != AF_INET6 || domain != ADDR_INET6)
		return -EAFNOSUPPORT;
	if (len < SIN6_LEN_MIN)
		return -EINVAL;
	memcpy(&sin6, addr, len < sizeof(sin6) ? len : sizeof(sin6));
	out->addr = ip_addr_v6(&sin6.sin6_addr);
	out->family = ADDR_INET6;
	out->port_be = sin6.sin6_port;
	out->ifindex = sin6.sin6_scope_id;
	if (ip6_v4_mapped(&out->addr)) {
		if (v6only)
			return -ENETUNREACH;
		out->family = ADDR_INET;
		out->addr = ip_addr_v4(out->addr.w[3]);
		out->ifindex = 0;
	}
	return 0;
}

void
addr_to_user(int domain, const struct sock_addr *a, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = a->port_be };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = a->port_be };
	socklen_t full = domain == ADDR_INET ? sizeof(sin) : sizeof(sin6);
	const void *src;

	if (domain == ADDR_INET) {
		sin.sin_addr.s_addr = a->addr.v4;
		src = &sin;
	} else {
		if (a->family == ADDR_INET) {
			sin6.sin6_addr.s6_addr[10] = sin6.sin6_addr.s6_addr[11] = 0xff;
			memcpy(&sin6.sin6_addr.s6_addr[12], &a->addr.v4, 4);
		} else {
			memcpy(&sin6.sin6_addr, a->addr.v6, 16);
			if (ip6_link_local(&a->addr))
				sin6.sin6_scope_id = a->ifindex;
		}
		src = &sin6;
	}
	if (*len != 0) /* addr may be NULL then */
		memcpy(addr, src, *len < full ? *len : full);
	*len = full;
}

int
addr_scope(struct stack *s, const struct sock_addr *a, struct netif **nif)
{
	*nif = NULL;
	if (a->family != ADDR_INET6 || !(ip6_link_local(&a->addr) ||
	    (ip6_multicast(&a->addr) && (a->addr.v6[1] & 0xf) <= 2)))
		return 0;
	if (a->ifindex == 0)
		return ip6_multicast(&a->addr) ? 0 : -EINVAL;
	*nif = stack_if_by_index(s, a->ifindex);
	return *nif == NULL ? -ENODEV : 0;
}

int
addr_for_bind(struct stack *s, int domain, bool v6only, const struct sockaddr *addr, socklen_t len,
	struct sock_addr *out, struct netif **nif)
{
	int err = addr_from_user(domain, v6only, addr, len, true, out);

	if (err == 0 && domain == ADDR_INET6 && addr->sa_family == AF_INET)
		err = -EAFNOSUPPORT;
	if (err == -ENETUNREACH)
		err = -EINVAL; /* a v4-mapped address on an IPv6-only socket */
	if (err == 0 && addr->sa_family == AF_UNSPEC && out->addr.v4 != 0)
		err = -EAFNOSUPPORT;
	return err == 0 ? addr_scope(s, out, nif) : err;
}

int
sock_bind(struct stack *s, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct socket *so = fd_socket(s, fd);
	struct stream *st = fd_stream(s, fd);
	struct sock_addr a;
	struct netif *nif;
	int err;

	if (st != NULL)
		return stream_bind(s, st, addr, len);
	if (so == NULL)
		return fd_why(s, fd);
	err = addr_for_bind(s, so->pcb.domain, so->pcb.v6only, addr, len, &a, &nif);
	if (err != 0)
		return err;
	if (so->pcb.bound || so->late_bind)
		return -EINVAL;
	if (so->bind_no_port && a.port_be == 0 && !ip_addr_any(&a.addr)) {
		/* Checked now, the port chosen when the peer is known. */
		err = udp_bind(s, &so->pcb, a.family, &a.addr, 0, nif);
		if (err != 0)
			return err;
		udp_unbind(s, &so->pcb);
		so->late_bind = true;
		so->late_addr = a.addr;
		so->late_family = a.family;
		so->late_nif = nif;
		return 0;
	}
	return udp_bind(s, &so->pcb, a.family, &a.addr, a.port_be, nif);
}

int
socket_late_bind(struct stack *s, struct socket *so)
{
	int err;

	if (!so->late_bind)
		return 0;
	err = udp_bind(s, &so->pcb, so->late_family, &so->late_addr, 0, so->late_nif);
	if (err == 0)
		so->late_bind = false;
	return err == -EADDRINUSE ? -EAGAIN : err;
}

/* Asks the application's own function for the local address of an unbound socket. */
static int
choose_local(struct stack *s, struct socket *so, const struct sock_addr *to)
{
	union ip_addr dst = to->addr, src = { .q = { 0, 0 } };
	int err;

	if (s->sockets->lddr == NULL || so->pcb.bound || so->late_bind)
		return 0;
	err = s->sockets->lddr(to->family == ADDR_INET ? AF_INET : AF_INET6, &dst, to->port_be, &src);
	if (err != 0)
		return err < 0 ? -EADDRNOTAVAIL : -err;
	if (ip_addr_any(&src))
		return 0;
	return udp_bind(s, &so->pcb, to->family, &src, 0, NULL);
}

int
sock_connect(struct stack *s, int fd, const struct sockaddr *addr, socklen_t len)
{
	struct socket *so = fd_socket(s, fd);
	struct stream *st = fd_stream(s, fd);
	struct sock_addr a;
	struct netif *nif;
	int err;

	if (st != NULL)
		return stream_connect(s, st, addr, len);
	if (so == NULL)
		return fd_why(s, fd);
	if (addr == NULL)
		return -EFAULT;
	if (len >= sizeof(sa_family_t) && len <= sizeof(struct sockaddr_storage) &&
	    addr->sa_family == AF_UNSPEC) {
		udp_disconnect(s, &so->pcb);
		return 0;
	}
	err = addr_from_user(so->pcb.domain, so->pcb.v6only, addr, len, false, &a);
	if (err == 0)
		err = addr_scope(s, &a, &nif);
	if (err == 0)
		err = choose_local(s, so, &a);
	if (err == 0)
		err = socket_late_bind(s, so);
	if (err != 0)
		return err;
	return udp_connect(s, &so->pcb, a.family, &a.addr, a.port_be, nif);
}

int
sock_listen(struct stack *s, int fd, int backlog)
{
	struct stream *st = fd_stream(s, fd);

	if (st != NULL)
		return stream_listen(s, st, backlog);
	return fd_socket(s, fd) == NULL ? fd_why(s, fd) : -EOPNOTSUPP;
}

int
sock_accept(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	struct stream *st = fd_stream(s, fd);

	if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC | SOCK_ACCEPT_INHERIT))
		return -EINVAL;
	if (st != NULL)
		return stream_accept(s, st, addr, len, flags);
	return fd_socket(s, fd) == NULL ? fd_why(s, fd) : -EOPNOTSUPP;
}

int
name_check(const struct sockaddr *addr, const socklen_t *len)
{
	if (len == NULL || (addr == NULL && *len != 0))
		return -EFAULT;
	return (int)*len < 0 ? -EINVAL : 0;
}

int
sock_getsockname(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len)
{
	const struct socket *so = fd_socket(s, fd);
	const struct stream *st = fd_stream(s, fd);
	struct sock_addr a;
	int err;

	if (st != NULL)
		return stream_name(s, st, false, addr, len);
	if (so == NULL)
		return fd_why(s, fd);
	err = name_check(addr, len);
	if (err != 0)
		return err;
	a.family = so->late_bind ? so->late_family : so->pcb.family;
	a.addr = so->late_bind ? so->late_addr : so->pcb.local;
	a.port_be = so->pcb.lport_be;
	a.ifindex = so->pcb.nif != NULL ? so->pcb.nif->index : 0;
	addr_to_user(so->pcb.domain, &a, addr, len);
	return 0;
}

int
sock_getpeername(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len)
{
	const struct socket *so = fd_socket(s, fd);
	const struct stream *st = fd_stream(s, fd);
	struct sock_addr a;
	int err;

	if (st != NULL)
		return stream_name(s, st, true, addr, len);
	if (so == NULL)
		return fd_why(s, fd);
	if (!so->pcb.connected)
		return -ENOTCONN;
	err = name_check(addr, len);
	if (err != 0)
		return err;
	a.family = so->pcb.family;
	a.addr = so->pcb.remote;
	a.port_be = so->pcb.rport_be;
	a.ifindex = so->pcb.nif != NULL ? so->pcb.nif->index : 0;
	addr_to_user(so->pcb.domain, &a, addr, len);
	return 0;
}

int
sock_shutdown(struct stack *s, int fd, int how)
{
	struct socket *so = fd_socket(s, fd);
	struct stream *st = fd_stream(s, fd);

	if (so == NULL && st == NULL)
		return fd_why(s, fd);
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (st != NULL)
		return stream_shutdown(s, st, how);
	so->shut |= (uint8_t)(how + 1); /* SHUT_RD 0, SHUT_WR 1, SHUT_RDWR 2: bits 1, 2, 3 */
	sfile_wake(s, &so->f, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLRDNORM | EPOLLWRNORM);
	return so->pcb.connected ? 0 : -ENOTCONN;
}

void
sock_if_hook_set(struct stack *s, const struct sock_if_hook *h)
{
	if (h != NULL)
		s->sockets->if_hook = *h;
	else
		s->sockets->if_hook.mtu_set = NULL;
}

void
sock_lddr_set(struct stack *s, sock_lddr_fn *fn)
{
	s->sockets->lddr = fn;
}

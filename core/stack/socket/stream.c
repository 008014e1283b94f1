/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream sockets: the calls of socket.h over TCP's contract (tcp/tcp.h). */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "socket_priv.h"

static const union ip_addr any;

int
stream_socket(struct stack *s, int domain, int flags, bool cloexec)
{
	struct stream *st = shim_malloc(s->shim, sizeof(*st));
	int fd = -ENOMEM;

	if (st == NULL)
		return -ENOMEM;
	sfile_init(&st->f, SFILE_STREAM, flags);
	st->domain = domain == AF_INET ? ADDR_INET : ADDR_INET6;
	st->mtu_discover = IP_PMTUDISC_WANT;
	st->p = tcp_new(s, stream_handle(st), st->domain);
	if (st->p != NULL)
		fd = fd_install(s, &st->f, 0, cloexec);
	if (fd < 0)
		stream_release(s, st);
	return fd;
}

void
stream_release(struct stack *s, struct stream *st)
{
	if (st->p != NULL)
		tcp_close(s, st->p, st->linger.l_onoff != 0 && st->linger.l_linger == 0);
	shim_free(s->shim, st);
}

int
stream_bind(struct stack *s, struct stream *st, const struct sockaddr *addr, socklen_t len)
{
	struct sock_addr a;
	struct netif *nif;
	int err = addr_for_bind(s, st->domain, st->v6only, addr, len, &a, &nif);

	if (err == 0)
		err = tcp_bind(s, st->p, a.family, &a.addr, a.port_be, nif);
	if (err != 0)
		return err;
	st->bound_family = a.family;
	st->bound_addr = !ip_addr_any(&a.addr);
	st->bound_port = a.port_be != 0;
	return 0;
}

/* What survives when a socket gets a fresh control block. */
static void
options_copy(struct stack *s, const struct stream *st, struct tcp_pcb *to)
{
	static const uint8_t kept[] = { TCP_OPT_V6ONLY, TCP_OPT_REUSEADDR, TCP_OPT_REUSEPORT, TCP_OPT_NODELAY, TCP_OPT_CORK,
		TCP_OPT_KEEPALIVE, TCP_OPT_KEEPIDLE, TCP_OPT_KEEPINTVL, TCP_OPT_KEEPCNT, TCP_OPT_USER_TIMEOUT,
		TCP_OPT_SYNCNT, TCP_OPT_LINGER2, TCP_OPT_SNDLOWAT, TCP_OPT_RCVLOWAT, TCP_OPT_NOTSENT_LOWAT, TCP_OPT_TOS,
		TCP_OPT_TTL, TCP_OPT_NOPT };
	unsigned int i;

	for (i = 0; i < sizeof(kept); i++)
		(void)tcp_opt_set(s, to, kept[i], tcp_opt_get(st->p, kept[i]));
	if (st->sndbuf_set) /* else it would stop growing */
		(void)tcp_opt_set(s, to, TCP_OPT_SNDBUF, tcp_opt_get(st->p, TCP_OPT_SNDBUF));
	if (st->rcvbuf_set)
		(void)tcp_opt_set(s, to, TCP_OPT_RCVBUF, tcp_opt_get(st->p, TCP_OPT_RCVBUF));
	(void)tcp_congestion_set(s, to, tcp_congestion_get(st->p));
}

/* As it was before it was connected: options and what bind named stay. -ENOMEM (nothing changed), as tcp_bind. */
static int
renew(struct stack *s, struct stream *st)
{
	struct tcp_pcb *p = tcp_new(s, stream_handle(st), st->domain);
	struct tcp_addr a;

	if (p == NULL)
		return -ENOMEM;
	tcp_local(st->p, &a);
	options_copy(s, st, p);
	tcp_close(s, st->p, true);
	st->p = p;
	st->opened = st->opening = false;
	st->shut = 0;
	if (!st->bound_addr && !st->bound_port)
		return 0;
	return tcp_bind(s, p, st->bound_family, st->bound_addr ? &a.addr : &any, st->bound_port ? a.port_be : 0, a.nif);
}

static int
disconnect(struct stack *s, struct stream *st)
{
	int err = renew(s, st);

	if (err == 0)
		sfile_wake(s, &st->f, EPOLLOUT | EPOLLWRNORM | EPOLLHUP);
	return err;
}

/* Asks the application's own function for the local address of an unbound socket. */
static int
choose_local(struct stack *s, struct stream *st, const struct sock_addr *to)
{
	union ip_addr dst = to->addr, src = any;
	struct tcp_addr now;
	int err;

	if (s->sockets->lddr == NULL)
		return 0;
	tcp_local(st->p, &now);
	if (now.port_be != 0)
		return 0;
	err = s->sockets->lddr(to->family == ADDR_INET ? AF_INET : AF_INET6, &dst, to->port_be, &src);
	if (err != 0)
		return err < 0 ? -EADDRNOTAVAIL : -err;
	return ip_addr_any(&src) ? 0 : tcp_bind(s, st->p, to->family, &src, 0, NULL);
}

/* What an earlier connect came to, which nobody was told yet; 0: there is nothing to say, the next one may begin. */
static int
connect_outcome(struct stack *s, struct stream *st)
{
	int err;

	if (!st->opened || tcp_fsm_of(st->p) != TCP_CLOSED)
		return 0;
	if (!st->opening)
		return renew(s, st);
	st->opening = false;
	err = tcp_take_error(st->p);
	return err != 0 ? err : -ECONNABORTED;
}

int
stream_connect(struct stack *s, struct stream *st, const struct sockaddr *addr, socklen_t len)
{
	struct sock_addr a;
	struct netif *nif;
	int err;

	if (addr == NULL)
		return -EFAULT;
	if (len >= sizeof(sa_family_t) && len <= sizeof(struct sockaddr_storage) && addr->sa_family == AF_UNSPEC)
		return disconnect(s, st);
	err = addr_from_user(st->domain, st->v6only, addr, len, false, &a);
	if (err == 0)
		err = addr_scope(s, &a, &nif);
	if (err == 0)
		err = connect_outcome(s, st);
	if (err == 0)
		err = choose_local(s, st, &a);
	if (err != 0)
		return err;
	err = tcp_connect(s, st->p, a.family, &a.addr, a.port_be, nif);
	if (err == -EINPROGRESS || err == 0)
		st->opened = st->opening = st->nospace = true;
	return err;
}

int
stream_listen(struct stack *s, struct stream *st, int backlog)
{
	return tcp_listen(s, st->p, backlog);
}

/* A stream for what a listener has, with a descriptor, but without a connection. NULL: *err. */
static struct stream *
accept_prepare(struct stack *s, const struct stream *st, int flags, int *err)
{
	struct stream *c = shim_malloc(s->shim, sizeof(*c));
	int fflags = flags & SOCK_NONBLOCK ? O_NONBLOCK : 0;

	*err = -ENOMEM;
	if (c == NULL)
		return NULL;
	if (flags & SOCK_ACCEPT_INHERIT)
		fflags |= st->f.flags & O_NONBLOCK;
	*c = *st;
	sfile_init(&c->f, SFILE_STREAM, fflags);
	c->p = NULL;
	c->bound_family = 0;
	c->bound_addr = c->bound_port = false;
	c->shut = 0;
	c->opened = true;
	c->opening = c->nospace = false;
	*err = fd_install(s, &c->f, 0, (flags & SOCK_CLOEXEC) != 0);
	if (*err >= 0)
		return c;
	shim_free(s->shim, c);
	return NULL;
}

static void
name_out(int domain, const struct tcp_addr *t, struct sockaddr *addr, socklen_t *len)
{
	struct sock_addr a = { .addr = t->addr, .port_be = t->port_be, .family = t->family };

	if (a.family == 0)
		a.family = (uint8_t)domain;
	if (t->nif != NULL)
		a.ifindex = t->nif->index;
	addr_to_user(domain, &a, addr, len);
}

int
stream_accept(struct stack *s, struct stream *st, struct sockaddr *addr, socklen_t *len, int flags)
{
	struct tcp_addr peer = { .port_be = 0 };
	struct stream *c;
	int fd, err;

	if (tcp_fsm_of(st->p) != TCP_LISTEN)
		return -EINVAL;
	if (addr != NULL) {
		err = name_check(addr, len);
		if (err != 0)
			return err;
	}
	if (tcp_readable(st->p) == 0)
		return -EAGAIN;
	c = accept_prepare(s, st, flags, &fd);
	if (c == NULL)
		return fd;
	c->p = tcp_accept(s, st->p);
	if (c->p == NULL) {
		sock_close(s, fd);
		return -EAGAIN;
	}
	tcp_attach(c->p, stream_handle(c));
	if (tcp_remote(c->p, &peer) != 0) { /* it ended while it waited: as on FreeBSD, asked for the name or not */
		sock_close(s, fd);
		return -ECONNABORTED;
	}
	if (addr != NULL)
		name_out(c->domain, &peer, addr, len);
	return fd;
}

int
stream_name(struct stack *s, const struct stream *st, bool peer, struct sockaddr *addr, socklen_t *len)
{
	struct tcp_addr a = { .port_be = 0 };
	enum tcp_fsm fsm = tcp_fsm_of(st->p);
	int err;

	(void)s;
	if (peer) {
		if (fsm == TCP_CLOSED || fsm == TCP_LISTEN || fsm == TCP_SYN_SENT || tcp_remote(st->p, &a) != 0)
			return -ENOTCONN;
	} else {
		tcp_local(st->p, &a);
	}
	err = name_check(addr, len);
	if (err == 0)
		name_out(st->domain, &a, addr, len);
	return err;
}

int
stream_shutdown(struct stack *s, struct stream *st, int how)
{
	bool listening = tcp_fsm_of(st->p) == TCP_LISTEN;
	int err;

	if (listening && how == SHUT_WR)
		return 0;
	err = tcp_shutdown(s, st->p, listening ? SHUT_RDWR : how);
	if (err != 0)
		return err;
	if (!listening)
		st->shut |= (uint8_t)(how + 1); /* SHUT_RD 0, SHUT_WR 1, SHUT_RDWR 2: bits 1, 2, 3 */
	sfile_wake(s, &st->f, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLRDNORM | EPOLLWRNORM);
	return 0;
}

/* ---- bytes ---- */

ssize_t
stream_recv(struct stack *s, struct stream *st, const struct iovec *iov, size_t n, int flags)
{
	unsigned int io = 0;

	if (flags & MSG_ERRQUEUE)
		return -EAGAIN; /* nothing is ever queued there */
	if (flags & MSG_OOB)
		return -EINVAL;
	if (flags & MSG_PEEK)
		io |= TCP_IO_PEEK;
	if (flags & MSG_TRUNC)
		io |= TCP_IO_DISCARD;
	return tcp_read(s, st->p, iov, (int)n, io);
}

ssize_t
stream_send(struct stack *s, struct stream *st, const struct iovec *iov, size_t n, size_t total, int flags)
{
	unsigned int io = 0;
	ssize_t r;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (flags & MSG_MORE)
		io |= TCP_IO_MORE;
	if (flags & MSG_EOR)
		io |= TCP_IO_EOR;
	r = tcp_write(s, st->p, iov, (int)n, io);
	if (r == -EAGAIN || (r >= 0 && (size_t)r < total))
		st->nospace = true;
	return r;
}

int
stream_ioctl(struct stream *st, unsigned long req, int *v)
{
	uint32_t n;

	switch (req) {
	case FIONREAD:
		n = tcp_readable(st->p);
		break;
	case TIOCOUTQ: /* SIOCOUTQ */
		n = tcp_unacked(st->p);
		break;
	case SIOCOUTQNSD:
		n = tcp_unsent(st->p);
		break;
	case SIOCATMARK: /* urgent data is taken as data */
		n = 0;
		break;
	default:
		return -ENOTTY;
	}
	if (tcp_fsm_of(st->p) == TCP_LISTEN && req != SIOCATMARK)
		return -EINVAL;
	*v = n > INT32_MAX ? INT32_MAX : (int)n;
	return 0;
}

/* ---- events ---- */

/* select and poll ask for the classes of data as well. */
static uint32_t
with_classes(uint32_t ev)
{
	if (ev & EPOLLIN)
		ev |= EPOLLRDNORM;
	if (ev & EPOLLOUT)
		ev |= EPOLLWRNORM;
	return ev;
}

uint32_t
stream_ready(struct stream *st)
{
	uint32_t ev = with_classes(tcp_ready(st->p));

	if (!(ev & EPOLLOUT))
		st->nospace = true; /* whoever looked wants to hear of room */
	return ev;
}

/*
 * Every acknowledgement makes room. kqueue's notes hear of each; epoll's edge comes, as on Linux, only when somebody found no
 * room before.
 */
void
socket_tcp_event(struct stack *s, struct socket *so, uint32_t events)
{
	struct stream *st = (struct stream *)so;
	uint32_t epoll_events;
	struct list *it;

	events = epoll_events = with_classes(events);
	if (events & EPOLLOUT) {
		if (!st->nospace && !(events & ALWAYS))
			epoll_events &= ~(uint32_t)(EPOLLOUT | EPOLLWRNORM);
		st->nospace = false;
	}
	list_for_each(it, &st->f.watches) {
		struct watch *w = list_entry(it, struct watch, on_file);

		if (w->events & (w->set->f.type == SFILE_EPOLL ? epoll_events : events))
			watch_activate(s, w);
	}
}

bool
stream_kevent(const struct stream *st, bool rd, int64_t lowat, struct sock_kevent *out)
{
	enum tcp_fsm fsm = tcp_fsm_of(st->p);
	int err = -tcp_error_peek(st->p);
	bool over = st->opened && fsm == TCP_CLOSED;

	out->data = rd ? tcp_readable(st->p) : tcp_writable(st->p);
	if (err != 0)
		out->fflags = (unsigned int)err;
	if (fsm == TCP_LISTEN)
		return rd && out->data != 0;
	if (over || (rd ? st->opened && tcp_at_eof(st->p) : (st->shut & SHUT_WR_BIT) != 0)) {
		out->flags |= KEV_EOF;
		return true;
	}
	if (err != 0)
		return true;
	if (!st->opened || fsm == TCP_SYN_SENT)
		return false;
	if (lowat < 0)
		lowat = tcp_opt_get(st->p, rd ? TCP_OPT_RCVLOWAT : TCP_OPT_SNDLOWAT);
	return out->data >= lowat;
}

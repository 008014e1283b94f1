/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of sockets: descriptor table, open files, queued datagrams, watches. */
#ifndef NONIC_STACK_SOCKET_PRIV_H
#define NONIC_STACK_SOCKET_PRIV_H

#include "../priv.h"
#include "../tcp/tcp.h"
#include "event.h"

enum sfile_type { SFILE_SOCKET, SFILE_STREAM, SFILE_EPOLL, SFILE_KQUEUE };

/* An open file: what descriptors point at; dup makes one more descriptor of the same. First member of each kind. */
struct sfile {
	uint8_t type;
	uint32_t refs;       /* descriptors, and calls that need it to stay */
	int flags;           /* O_NONBLOCK, O_APPEND, O_ASYNC, O_DIRECT */
	struct list watches; /* struct watch.on_file */
};

struct socket_table {
	struct sfile **fd;    /* [n - base], grows */
	uint8_t *cloexec;
	uint64_t *used;       /* a bit for each open number */
	uint32_t size, max;   /* allocated, allowed */
	uint32_t free_from;   /* no free number is below it */
	uint32_t base;        /* fd_reserve */
	uint32_t rcvbuf;      /* of new datagram sockets */
	uint32_t bufmax;      /* kern.ipc.maxsockbuf */
	uint32_t delack_ms;   /* what net.inet.tcp.delayed_ack=1 brings back */
	struct sock_if_hook if_hook;
	sock_lddr_fn *lddr;
};

/*
 * A queued datagram's facts, kept in its buffer's own headroom (second cache line of it), so that receiving
 * allocates nothing.
 */
struct dgram {
	struct rte_mbuf *next;
	union ip_addr src, dst;
	uint16_t sport_be;
	uint16_t ifindex;
	uint8_t family, ttl, tos, pad;
	uint32_t truesize;
};
#define DGRAM_OFF 64
_Static_assert(sizeof(struct dgram) <= SHIM_HEADROOM - DGRAM_OFF, "fits the headroom");

static inline struct dgram *
dgram_of(const struct rte_mbuf *m)
{
	return (struct dgram *)((char *)m->buf_addr + DGRAM_OFF);
}

/* A datagram socket. */
struct socket {
	struct sfile f;
	struct udp_pcb pcb;
	struct rte_mbuf *rx_head, *rx_tail;
	uint32_t rx_mem;      /* true size of what is queued */
	uint32_t rx_bytes;    /* payload of it */
	uint32_t rcvbuf, sndbuf;
	int err;              /* positive; SO_ERROR */
	uint8_t shut;         /* SHUT_RD_BIT | SHUT_WR_BIT */
	uint8_t mtu_discover; /* IP_PMTUDISC_x */
	uint8_t ttl, mcast_ttl, tos, tclass, hops, mcast_hops; /* 0: default */
	bool recvttl, recvtos, pktinfo, recvpktinfo6, recvtclass6, recvhops6;
	bool keepalive, oobinline, dontroute, debug, bind_no_port;
	bool late_bind;       /* IP_BIND_ADDRESS_NO_PORT: the address waits for connect */
	union ip_addr late_addr;
	uint8_t late_family;
	struct netif *late_nif;
	int rcvlowat;
	struct linger linger;
	struct timeval rcvtimeo, sndtimeo;
	struct netif *mcast_if;
};
#define SHUT_RD_BIT 1
#define SHUT_WR_BIT 2

/*
 * A stream socket: small, since idle connections are many; the connection itself is TCP's. TCP calls it struct socket and
 * never looks inside.
 */
struct stream {
	struct sfile f;
	struct tcp_pcb *p;    /* NULL only while accept makes it */
	struct linger linger;
	struct timeval rcvtimeo, sndtimeo;
	uint8_t domain;       /* ADDR_x it was made as */
	uint8_t bound_family; /* of the caller's bind, 0: none */
	uint8_t shut;         /* SHUT_x_BIT, by us */
	uint8_t mtu_discover; /* IP_PMTUDISC_x; kept only */
	uint16_t defer_s;     /* TCP_DEFER_ACCEPT as it was set */
	bool v6only;
	bool bound_addr, bound_port; /* the caller's bind named them */
	bool opened;          /* a connection was begun or accepted */
	bool opening;         /* connect has not told yet how it ended */
	bool nospace;         /* somebody waits for room: the next OUT is an edge (epoll) */
	bool sndbuf_set, rcvbuf_set;
	bool oobinline, dontroute, debug, broadcast, bind_no_port; /* kept only */
};
_Static_assert(sizeof(struct stream) <= 256, "idle connections are many");

/* One thing watched by one set: an epoll entry or a kqueue's note. */
struct watch {
	struct list on_file;  /* of the file; unlinked for timers and user events */
	struct list on_set;
	struct list ready;    /* in set->ready while it may have something to say */
	struct eset *set;
	struct sfile *file;   /* NULL for timers and user events */
	int fd;
	uint32_t events;      /* EPOLLx that wake it */
	uint64_t data;        /* epoll */
	/* kqueue */
	struct sock_kevent kev;
	int64_t sdata;        /* low-water mark, or the timer's period in ns */
	unsigned int sfflags;
	bool disabled, forced;
	uint64_t fired;       /* timer expirations, user triggers not yet reported */
	struct timer timer;
	uint64_t due_ns;      /* the period's end that the timer stands for */
};

#define ESET_IDENTS 64
struct eset {
	struct sfile f;
	struct list all, ready;
	uint32_t nested;      /* watches of this set that are on other sets */
	struct list idents[ESET_IDENTS]; /* kqueue: timers and user events by ident (struct watch.on_file) */
};

#define ALWAYS (EPOLLERR | EPOLLHUP)

/* table.c */
static inline struct sfile *
fd_file(const struct stack *s, int fd)
{
	const struct socket_table *t = s->sockets;
	uint32_t i = (uint32_t)fd - t->base;

	return i < t->size ? t->fd[i] : NULL;
}

static inline struct socket *
fd_socket(const struct stack *s, int fd)
{
	struct sfile *f = fd_file(s, fd);

	return f != NULL && f->type == SFILE_SOCKET ? (struct socket *)f : NULL;
}

static inline struct stream *
fd_stream(const struct stack *s, int fd)
{
	struct sfile *f = fd_file(s, fd);

	return f != NULL && f->type == SFILE_STREAM ? (struct stream *)f : NULL;
}

/* An epoll or a kqueue? */
static inline bool
sfile_is_set(const struct sfile *f)
{
	return f->type == SFILE_EPOLL || f->type == SFILE_KQUEUE;
}

/* Why there is no socket for fd: -EBADF or -ENOTSOCK. */
int fd_why(const struct stack *s, int fd);
/* Lowest free number >= min_fd for f (counts a reference). -EMFILE, -EINVAL (min_fd), -ENOMEM. */
int fd_install(struct stack *s, struct sfile *f, int min_fd, bool cloexec);
/* One reference less; the last one releases f. */
void sfile_unref(struct stack *s, struct sfile *f);

/* event.c */
void sfile_init(struct sfile *f, enum sfile_type type, int flags);
/* What is ready on f: EPOLLx. */
uint32_t sfile_ready(struct stack *s, struct sfile *f);
uint32_t socket_ready(const struct socket *so);
/* events have happened on f: its watchers may have something to say. */
void sfile_wake(struct stack *s, struct sfile *f, uint32_t events);
void watch_activate(struct stack *s, struct watch *w);
void watch_free(struct stack *s, struct watch *w);
/* A descriptor of f goes: the notes of kqueues on it go too; with the last one every watch. */
void sfile_fd_closed(struct stack *s, struct sfile *f, int fd, bool last);
struct watch *watch_new(struct stack *s, struct eset *e, struct sfile *f, int fd);
/* May e hold f? 0, -ELOOP. */
int eset_may_hold(const struct eset *e, const struct sfile *f);
bool eset_ready(struct stack *s, struct eset *e);
int eset_create(struct stack *s, enum sfile_type type, bool cloexec);
void eset_release(struct stack *s, struct eset *e);
/* kqueue.c: would the note report now? Fills *out when it would. */
bool knote_eval(struct stack *s, struct watch *w, struct sock_kevent *out);

/* chain.c: m, whose facts are written but for next and truesize, is so's newest datagram. Wakes watchers. */
static inline __attribute__((always_inline)) void
socket_append(struct stack *s, struct socket *so, struct rte_mbuf *m, uint32_t truesize)
{
	struct dgram *d = dgram_of(m);

	d->next = NULL;
	d->truesize = truesize;
	so->rx_mem += truesize;
	so->rx_bytes += shim_buf_len(m);
	if (so->rx_head == NULL)
		so->rx_head = m;
	else
		dgram_of(so->rx_tail)->next = m;
	so->rx_tail = m;
	if (!list_empty(&so->f.watches))
		sfile_wake(s, &so->f, EPOLLIN | EPOLLRDNORM);
}

/* socket.c */
void socket_release(struct stack *s, struct socket *so);
/*
 * A caller's address for a socket of domain (ADDR_x), v4-mapped ones as IPv4. sending: AF_UNSPEC counts as AF_INET, as on
 * Linux. -EFAULT, -EINVAL (length), -EAFNOSUPPORT, -ENETUNREACH (IPv4 on an IPv6-only socket).
 */
int addr_from_user(int domain, bool v6only, const struct sockaddr *addr, socklen_t len, bool sending,
	struct sock_addr *out);
/* The same for bind, with the interface of a link-local address; its errors, and addr_scope's. */
int addr_for_bind(struct stack *s, int domain, bool v6only, const struct sockaddr *addr, socklen_t len,
	struct sock_addr *out, struct netif **nif);
/* Where a name goes to: 0, -EFAULT, -EINVAL. */
int name_check(const struct sockaddr *addr, const socklen_t *len);
/* The other way, as a socket of domain (ADDR_x) shows it: at most *len bytes, *len becomes the full length. */
void addr_to_user(int domain, const struct sock_addr *a, struct sockaddr *addr, socklen_t *len);
/* The interface of a link-local address (or NULL); -EINVAL when one is needed and not named, -ENODEV. */
int addr_scope(struct stack *s, const struct sock_addr *a, struct netif **nif);
int socket_late_bind(struct stack *s, struct socket *so);
/* The pending error, negative, cleared; 0: none. */
static inline int
socket_take_error(struct socket *so)
{
	int err = so->err;

	so->err = 0;
	return -err;
}

/* chain.c */
/* The oldest datagram, or NULL. */
static inline struct rte_mbuf *
socket_pop(struct socket *so)
{
	struct rte_mbuf *m = so->rx_head;
	const struct dgram *d;

	if (m == NULL)
		return NULL;
	d = dgram_of(m);
	so->rx_head = d->next;
	so->rx_mem -= d->truesize;
	so->rx_bytes -= shim_buf_len(m);
	return m;
}
void socket_flush(struct stack *s, struct socket *so);
/* The layers' way of sending: by udp_output, with the socket's own options. Takes m. As udp_output. */
int socket_output_any(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos, struct rte_mbuf *m);
int socket_output(struct stack *s, struct socket *so, struct udp_send_opts *o, const struct sock_addr *dst,
	struct rte_mbuf *m);

/* msg.c: the sum of an iovec, or -EFAULT, -EMSGSIZE, -EINVAL as on Linux. */
ssize_t iov_total(const struct iovec *iov, size_t n);

/* option.c */
/* An int option of the caller's; IP options may come as one byte. 0, -EINVAL, -EFAULT. */
int opt_int(const void *val, socklen_t len, bool byte_ok, int *out);
int opt_timeout(struct timeval *tv, const void *val, socklen_t len); /* 0, -EINVAL, -EFAULT, -EDOM */
int opt_linger(struct linger *l, const void *val, socklen_t len);    /* 0, -EINVAL, -EFAULT */
/* As on Linux the value is doubled, since it counts whole buffers, not payload; bounded silently. */
uint32_t opt_buffer_size(const struct stack *s, int v);
/* As much of n bytes at src as *len has room for; *len becomes that. 0. */
int opt_put(void *val, socklen_t *len, const void *src, size_t n);

/* stream.c: what the calls of socket.h do on a stream; results are theirs. */
static inline struct socket *
stream_handle(struct stream *st)
{
	return (struct socket *)st;
}
int stream_socket(struct stack *s, int domain, int flags, bool cloexec);
void stream_release(struct stack *s, struct stream *st);
int stream_bind(struct stack *s, struct stream *st, const struct sockaddr *addr, socklen_t len);
int stream_connect(struct stack *s, struct stream *st, const struct sockaddr *addr, socklen_t len);
int stream_listen(struct stack *s, struct stream *st, int backlog);
int stream_accept(struct stack *s, struct stream *st, struct sockaddr *addr, socklen_t *len, int flags);
int stream_name(struct stack *s, const struct stream *st, bool peer, struct sockaddr *addr, socklen_t *len);
int stream_shutdown(struct stack *s, struct stream *st, int how);
ssize_t stream_recv(struct stack *s, struct stream *st, const struct iovec *iov, size_t n, int flags);
/* total is the iovec's. */
ssize_t stream_send(struct stack *s, struct stream *st, const struct iovec *iov, size_t n, size_t total, int flags);
uint32_t stream_ready(struct stream *st);
/* kqueue: data and EOF of filter READ (rd) or WRITE; lowat < 0: the socket's own mark. Would it report? */
bool stream_kevent(const struct stream *st, bool rd, int64_t lowat, struct sock_kevent *out);
int stream_ioctl(struct stream *st, unsigned long req, int *v); /* -ENOTTY: none of a stream's */
/* stream_opt.c */
int stream_setsockopt(struct stack *s, struct stream *st, int level, int name, const void *val, socklen_t len);
int stream_getsockopt(struct stack *s, struct stream *st, int level, int name, void *val, socklen_t *len);

/* cmsg.c */
/* Control messages that a stream has no use for: 0, -EINVAL (malformed, or for SOL_SOCKET). */
int cmsg_check(const struct msghdr *msg);
struct cmsg_in {
	struct udp_send_opts o;
	union ip_addr src;
	int tos;              /* -1: not given */
};
int cmsg_parse(struct stack *s, const struct socket *so, const struct msghdr *msg, struct cmsg_in *in);
void cmsg_emit(const struct socket *so, const struct dgram *d, struct msghdr *msg);

/* ifioctl.c */
int sock_if_ioctl(struct stack *s, unsigned long req, void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets by descriptor. Events over them are in event.h; the ff_* API is a thin skin over both.
 * All functions return >= 0 or a negative Linux errno. Nothing blocks: a stack is polled by its caller, so a
 * call on a blocking descriptor that would have to wait returns -EAGAIN as a non-blocking one does.
 * Addresses are struct sockaddr_in / sockaddr_in6 of Linux in caller's memory with lengths checked strictly:
 * no more than *len bytes are written, and *len becomes the full length.
 */
#ifndef NONIC_STACK_SOCKET_SOCKET_H
#define NONIC_STACK_SOCKET_SOCKET_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "../udp/udp.h"

#define SOCK_IOV_MAX 1024
#define SOCK_MAX_FDS 65536          /* stack_config.max_sockets 0 */
#define SOCK_RCVBUF_DEFAULT 655360  /* bytes of buffers, their unused room included */
#define SOCK_SNDBUF_DEFAULT 212992
#define SOCK_BUF_MIN 2304
#define SOCK_BUF_MAX (32 << 20)

#define SOCK_ACCEPT_INHERIT 0x20000000 /* sock_accept: non-blocking as the listener is, accept's rule on BSD */

struct socket;
struct socket_table;

/*
 * What the owner of the ports does when an application changes an interface (MTU-4): the primary changes the
 * port first, a worker only its own view, by returning 0. Called before the stack's own change; a negative errno
 * stops that.
 */
struct sock_if_hook {
	int (*mtu_set)(void *ctx, struct netif *nif, uint16_t mtu);
	void *ctx;
};
void sock_if_hook_set(struct stack *s, const struct sock_if_hook *h);
/*
 * Chooses a local address for a connect of an unbound socket (F-Stack's pcb lddr function): family AF_INET or
 * AF_INET6, dst and src in_addr or in6_addr, dst_port in network order. It returns 0 with *src set, or all zero to leave
 * the choice to the stack.
 */
typedef int sock_lddr_fn(uint16_t family, void *dst, uint16_t dst_port, void *src);
void sock_lddr_set(struct stack *s, sock_lddr_fn *fn);

/*
 * FreeBSD's sysctl: by number ({0, 3} with a name in newp gives a node's numbers), or setting by name. int values, but for
 * net.inet.tcp.cc.algorithm, which is text (-ESRCH: no such algorithm; by sock_sysctl_set: -EINVAL). -ENOENT, -EINVAL,
 * -EPERM (read only), -ENOMEM (oldp too small), -EFAULT, -ENAMETOOLONG.
 */
int sock_sysctl(struct stack *s, const int *name, unsigned int namelen, void *oldp, size_t *oldlenp,
	const void *newp, size_t newlen);
int sock_sysctl_set(struct stack *s, const char *name, long v);
int sock_sysctl_set_text(struct stack *s, const char *name, const char *text); /* as it stands in a file */

/* 0, -ENOMEM. */
int socket_table_init(struct stack *s);
void socket_table_release(struct stack *s); /* closes everything */

/*
 * SOCK_DGRAM and SOCK_STREAM over AF_INET and AF_INET6 (dual stack), with SOCK_NONBLOCK and SOCK_CLOEXEC.
 * -EAFNOSUPPORT, -ESOCKTNOSUPPORT, -EPROTONOSUPPORT, -EINVAL (flags), -EMFILE, -ENOMEM. The lowest free number.
 */
int sock_socket(struct stack *s, int domain, int type, int protocol);
int sock_bind(struct stack *s, int fd, const struct sockaddr *addr, socklen_t len);
/*
 * AF_UNSPEC disconnects (a stream: resets; options and the caller's own address stay). A stream: -EINPROGRESS,
 * blocking descriptor or not; -EALREADY while it goes on; -EISCONN after it. When the attempt failed the next call
 * tells why (or SO_ERROR did: then -ECONNABORTED), the one after that tries again. Errors of tcp_connect, udp_connect.
 */
int sock_connect(struct stack *s, int fd, const struct sockaddr *addr, socklen_t len);
int sock_listen(struct stack *s, int fd, int backlog); /* -EOPNOTSUPP on datagram sockets, as sock_accept */
/*
 * flags: SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_ACCEPT_INHERIT. The new descriptor, -EAGAIN (none waits), -EINVAL (no
 * listener, flags), -EMFILE and -ENOMEM (the connection goes on waiting), -ECONNABORTED (the connection was reset or
 * timed out while it waited and is gone with what it had received, as on FreeBSD; Linux would hand it out).
 */
int sock_accept(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len, int flags);
int sock_getsockname(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len);
int sock_getpeername(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len);
/* Unknown level or option: -ENOPROTOOPT. SO_ERROR is a Linux number and is cleared by reading. */
int sock_getsockopt(struct stack *s, int fd, int level, int name, void *val, socklen_t *len);
int sock_setsockopt(struct stack *s, int fd, int level, int name, const void *val, socklen_t len);
ssize_t sock_recvmsg(struct stack *s, int fd, struct msghdr *msg, int flags);
ssize_t sock_sendmsg(struct stack *s, int fd, const struct msghdr *msg, int flags);
/*
 * Streams: sending takes what there is room for, receiving gives what there is (MSG_WAITALL too); 0 is the end. MSG_TRUNC
 * throws away, MSG_MORE holds back, MSG_OOB is -EOPNOTSUPP or -EINVAL, MSG_ERRQUEUE is -EAGAIN. There are no signals.
 * No name comes with bytes of a stream: its length becomes 0.
 */
/* The same with the pieces apart; from may be NULL, else *len is in and out. */
ssize_t sock_recvfrom(struct stack *s, int fd, void *buf, size_t n, int flags, struct sockaddr *from,
	socklen_t *len);
ssize_t sock_sendto(struct stack *s, int fd, const void *buf, size_t n, int flags, const struct sockaddr *to,
	socklen_t len);
/*
 * As Linux: an unconnected datagram socket returns -ENOTCONN, and its readers are woken all the same; SHUT_RD or SHUT_RDWR
 * ends a listener, SHUT_WR does nothing to it.
 */
int sock_shutdown(struct stack *s, int fd, int how);
/*
 * A stream's last descriptor: FIN behind what is queued; RST with unread data or SO_LINGER of 0 s. Other times of
 * SO_LINGER change nothing.
 */
int sock_close(struct stack *s, int fd);
/*
 * FIONREAD (the next datagram's length; a stream's bytes), SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK (-EINVAL, but for the last, on
 * a listener), FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX, SIOCGIF*, SIOCSIFADDR/NETMASK/MTU.
 * -ENOTTY for others, -ENODEV without such an interface. */
int sock_ioctl(struct stack *s, int fd, unsigned long req, void *arg);
int sock_fcntl(struct stack *s, int fd, int cmd, long arg);
int sock_dup(struct stack *s, int fd, int min_fd);
int sock_dup2(struct stack *s, int fd, int to);
bool sock_is_open(struct stack *s, int fd);
int sock_max_fd(struct stack *s); /* numbers are below it */

/* Readiness now: EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLRDHUP bits (Linux values). -EBADF. */
int sock_ready(struct stack *s, int fd);

/*
 * Without copying, for the runtime and benchmarks (and the ff_zc_ calls later): one datagram as a chain, or at most 64
 * KiB of a stream.
 * sock_recv_chain: 0 with *m the payload (the caller's; NULL: end of stream) and a datagram's sender in from; -EAGAIN.
 * sock_send_chain: always takes m; dst NULL on a connected socket. A stream takes all of m or -EAGAIN.
 */
struct sock_addr {
	union ip_addr addr;
	uint16_t port_be;
	uint8_t family;
	unsigned int ifindex; /* scope */
};
int sock_recv_chain(struct stack *s, int fd, struct rte_mbuf **m, struct sock_addr *from);
int sock_send_chain(struct stack *s, int fd, struct rte_mbuf *m, const struct sock_addr *dst);

/* From udp: a datagram for so (m at the payload). Takes m. Wakes watchers. */
void socket_udp_deliver(struct stack *s, struct socket *so, const struct ip_rx *rx, uint16_t sport_be, struct rte_mbuf *m);
/* From udp: an asynchronous error for so (SO_ERROR, EPOLLERR); err is positive. */
void socket_error(struct stack *s, struct socket *so, int err);

#endif

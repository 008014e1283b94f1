/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The API that programs for F-Stack are written to. Results are >= 0, or -1 with errno (Linux's numbers); ENXIO
 * where the calling thread has no stack (before ff_init; in a slim primary). Addresses are Linux's struct sockaddr_in and
 * sockaddr_in6, cast to struct linux_sockaddr; at most *addrlen bytes are written, and *addrlen becomes the full length.
 *
 * Nothing waits: a call that would block returns -1 with EAGAIN, whether or not the descriptor is non-blocking;
 * SO_RCVTIMEO and SO_SNDTIMEO are kept but do not make it wait, MSG_WAITALL gives what there is, connect of a stream is
 * EINPROGRESS, and close does not linger. There are no signals: writing to a stream that is over is EPIPE. Timeouts of
 * ff_epoll_wait, ff_kevent, ff_select and ff_poll are not waited for either: each reports what is ready and returns. The
 * waiting is done by ff_run, between calls of the loop.
 */
#ifndef NONIC_FF_API_H
#define NONIC_FF_API_H

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "ff_errno.h"
#include "ff_event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct linux_sockaddr {
	short sa_family;
	char sa_data[14];
};

#define AF_INET6_LINUX 10
#define PF_INET6_LINUX AF_INET6_LINUX
#define AF_INET6_FREEBSD 28
#define PF_INET6_FREEBSD AF_INET6_FREEBSD

typedef int (*loop_func_t)(void *arg); /* the value is ignored */

/*
 * Reads the configuration (-c FILE, -p ID, -t TYPE; other arguments are left to the program), starts DPDK and the stack.
 * 0. As in F-Stack every failure ends the process with exit code 1, after a message on stderr that says why.
 */
int ff_init(int argc, char *const argv[]);
/*
 * Serves the ports and calls loop in each turn, until ff_stop_run; then gives everything back. loop may be NULL. With
 * primary_slim=1 process 0 is the primary only: it has no stack (ENXIO), and ff_run never calls loop there.
 */
void ff_run(loop_func_t loop, void *arg);
void ff_stop_run(void);

/* ---- sockets: datagrams and streams over IPv4 and IPv6 ---- */

int ff_socket(int domain, int type, int protocol);
int ff_bind(int s, const struct linux_sockaddr *addr, socklen_t addrlen);
/*
 * A stream: EINPROGRESS, whether or not the descriptor is non-blocking; then EALREADY, and EISCONN when it stands. How it
 * ended is in SO_ERROR (Linux's numbers), or told by the next connect; after a failure the socket may connect again.
 * AF_UNSPEC disconnects.
 */
int ff_connect(int s, const struct linux_sockaddr *name, socklen_t namelen);
int ff_listen(int s, int backlog);
/*
 * ff_accept's descriptor is non-blocking when the listener is, as on BSD, which F-Stack's programs rely on; ff_accept4's
 * when flags say SOCK_NONBLOCK. EMFILE and ENOMEM lose no connection.
 */
int ff_accept(int s, struct linux_sockaddr *addr, socklen_t *addrlen);
int ff_accept4(int s, struct linux_sockaddr *addr, socklen_t *addrlen, int flags);
int ff_close(int fd); /* SO_LINGER of 0 s: reset; other times change nothing */
int ff_shutdown(int s, int how);
int ff_getpeername(int s, struct linux_sockaddr *name, socklen_t *namelen);
int ff_getsockname(int s, struct linux_sockaddr *name, socklen_t *namelen);
int ff_setsockopt(int s, int level, int optname, const void *optval, socklen_t optlen);
int ff_getsockopt(int s, int level, int optname, void *optval, socklen_t *optlen);

ssize_t ff_read(int d, void *buf, size_t nbytes);
ssize_t ff_readv(int fd, const struct iovec *iov, int iovcnt);
ssize_t ff_recv(int s, void *buf, size_t len, int flags);
ssize_t ff_recvfrom(int s, void *buf, size_t len, int flags, struct linux_sockaddr *from, socklen_t *fromlen);
ssize_t ff_recvmsg(int s, struct msghdr *msg, int flags);
ssize_t ff_write(int fd, const void *buf, size_t nbytes);
ssize_t ff_writev(int fd, const struct iovec *iov, int iovcnt);
ssize_t ff_send(int s, const void *buf, size_t len, int flags);
ssize_t ff_sendto(int s, const void *buf, size_t len, int flags, const struct linux_sockaddr *to, socklen_t tolen);
ssize_t ff_sendmsg(int s, const struct msghdr *msg, int flags);

int ff_fcntl(int fd, int cmd, ...);
int ff_ioctl(int fd, unsigned long request, ...);
int ff_dup(int oldfd);
int ff_dup2(int oldfd, int newfd);
int ff_fdisused(int fd); /* 1: open in the stack */
int ff_getmaxfd(void);   /* descriptors are below it */

/* ---- events ---- */

int ff_select(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout);
int ff_poll(struct pollfd fds[], nfds_t nfds, int timeout);
int ff_kqueue(void);
int ff_kevent(int kq, const struct kevent *changelist, int nchanges, struct kevent *eventlist, int nevents,
	const struct timespec *timeout);
/* Calls do_each(&eventlist, event) for each event; do_each moves the pointer on. */
int ff_kevent_do_each(int kq, const struct kevent *changelist, int nchanges, void *eventlist, int nevents,
	const struct timespec *timeout, void (*do_each)(void **, struct kevent *));

/* ---- the rest ---- */

int ff_gettimeofday(struct timeval *tv, void *tz); /* tz is ignored */
/*
 * FreeBSD's sysctl by number, {0, 3} gives the numbers of a name. Known are kern.ipc.maxsockbuf, .somaxconn,
 * .soacceptqueue, kern.maxfiles (EPERM to set), net.inet.ip.portrange.first and .last, net.inet.udp.recvspace, and of
 * net.inet.tcp: sendspace, recvspace, sendbuf_max, recvbuf_max, sendbuf_auto, recvbuf_auto, cc.algorithm (text),
 * sack.enable, rfc1323, ecn.enable, initcwnd_segments, delayed_ack, delacktime, msl, rexmit_min, rexmit_initial, keepidle,
 * keepintvl, keepcnt, always_keepalive, syncookies, syncookies_only, syncache.cachelimit, blackhole, finwait2_timeout,
 * maxtcptw (times in ms). ENOENT for others.
 */
int ff_sysctl(const int *name, unsigned int namelen, void *oldp, size_t *oldlenp, const void *newp, size_t newlen);
/* A thread that shares the caller's instance. The stack has no locks: one thread at a time may be inside. */
int ff_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start_routine)(void *), void *arg);
int ff_pthread_join(pthread_t thread, void **retval);
/* Six uint64_t: rx_packets, rx_bytes, tx_packets, tx_bytes, rx_dropped, tx_dropped. All 0 before ff_init. */
void ff_get_traffic(void *buffer);

enum FF_ROUTE_CTL {
	FF_ROUTE_ADD,
	FF_ROUTE_DEL,
	FF_ROUTE_CHANGE,
};
enum FF_ROUTE_FLAG {
	FF_RTF_HOST,
	FF_RTF_GATEWAY,
};
/* IPv4 or IPv6, as dst says. netmask is ignored with FF_RTF_HOST; gw is ignored by FF_ROUTE_DEL. */
int ff_route_ctl(enum FF_ROUTE_CTL req, enum FF_ROUTE_FLAG flag, struct linux_sockaddr *dst,
	struct linux_sockaddr *gw, struct linux_sockaddr *netmask);

/* ---- packets before the stack sees them ---- */

#define FF_DISPATCH_ERROR (-1)
#define FF_DISPATCH_RESPONSE (-2)
/* Sees each received frame; returns the queue that shall have it, or one of the two above. */
typedef int (*dispatch_func_t)(void *data, uint16_t *len, uint16_t queue_id, uint16_t nb_queues);
struct ff_dispatcher_context {
	struct {
		uint8_t stripped;
		uint16_t vlan_tci; /* network order */
	} vlan;
};
typedef int (*dispatch_func_context_t)(void *data, uint16_t *len, uint16_t queue_id, uint16_t nb_queues,
	struct ff_dispatcher_context context);
/* With both set the plain one is called. NULL takes one away. May be called before ff_init, by the same thread. */
void ff_regist_packet_dispatcher(dispatch_func_t func);
void ff_regist_packet_dispatcher_context(dispatch_func_context_t func);
/* Copies a whole frame and queues it on a port. 0, or -1 (ENODEV, EINVAL, EMSGSIZE, ENOBUFS). */
int ff_dpdk_raw_packet_send(void *data, int total, uint16_t port_id);

/* Chooses the local address of a connect of an unbound socket: family in Linux's numbers, dst_port in network order,
 * src_addr (in_addr or in6_addr) is filled or left all zero. Not 0: the connect fails. */
typedef int (*pcblddr_func_t)(uint16_t family, void *dst_addr, uint16_t dst_port, void *src_addr);
void ff_regist_pcblddr_fun(pcblddr_func_t func);

#ifdef __cplusplus
}
#endif
#endif

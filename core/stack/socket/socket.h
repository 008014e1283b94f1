/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets by descriptor, events (kqueue, epoll, select, poll) over them. The ff_* API is a thin skin over this.
 * All functions return >= 0 or a negative Linux errno. Nothing blocks: a stack is polled by its caller.
 * Addresses are struct sockaddr_in / sockaddr_in6 of Linux in caller's memory with lengths checked strictly.
 */
#ifndef NONIC_STACK_SOCKET_SOCKET_H
#define NONIC_STACK_SOCKET_SOCKET_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "../udp/udp.h"

struct socket;
struct socket_table;

int socket_table_init(struct stack *s);
void socket_table_release(struct stack *s); /* closes everything */

int sock_socket(struct stack *s, int domain, int type, int protocol);
int sock_bind(struct stack *s, int fd, const struct sockaddr *addr, socklen_t len);
int sock_connect(struct stack *s, int fd, const struct sockaddr *addr, socklen_t len);
int sock_listen(struct stack *s, int fd, int backlog);
int sock_accept(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len, int flags);
int sock_getsockname(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len);
int sock_getpeername(struct stack *s, int fd, struct sockaddr *addr, socklen_t *len);
int sock_getsockopt(struct stack *s, int fd, int level, int name, void *val, socklen_t *len);
int sock_setsockopt(struct stack *s, int fd, int level, int name, const void *val, socklen_t len);
ssize_t sock_recvmsg(struct stack *s, int fd, struct msghdr *msg, int flags);
ssize_t sock_sendmsg(struct stack *s, int fd, const struct msghdr *msg, int flags);
int sock_shutdown(struct stack *s, int fd, int how);
int sock_close(struct stack *s, int fd);
int sock_ioctl(struct stack *s, int fd, unsigned long req, void *arg);
int sock_fcntl(struct stack *s, int fd, int cmd, long arg);
int sock_dup(struct stack *s, int fd, int min_fd);
int sock_dup2(struct stack *s, int fd, int to);
bool sock_is_open(struct stack *s, int fd);
int sock_max_fd(struct stack *s);

/* Readiness now: EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLRDHUP bits (Linux values). -EBADF. */
int sock_ready(struct stack *s, int fd);

/*
 * Without copying, for the runtime and benchmarks (and the ff_zc_ calls later): one datagram as a chain.
 * sock_recv_chain: 0 with *m the payload (the caller's) and the sender's address in from; -EAGAIN.
 * sock_send_chain: always takes m; dst NULL on a connected socket.
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
/* From udp: an asynchronous error for so (SO_ERROR, EPOLLERR). */
void socket_error(struct stack *s, struct socket *so, int err);

#endif

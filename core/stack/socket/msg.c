/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the caller's memory and buffers: recvmsg, sendmsg and their simpler forms. */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>

#include "socket_priv.h"

#define DATAGRAM_MAX 65535

ssize_t
iov_total(const struct iovec *iov, size_t n)
{
	size_t i, sum = 0;

	if (n > SOCK_IOV_MAX)
		return -EMSGSIZE;
	if (n != 0 && iov == NULL)
		return -EFAULT;
	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > (size_t)SSIZE_MAX - sum)
			return -EINVAL;
		if (iov[i].iov_base == NULL && iov[i].iov_len != 0)
			return -EFAULT;
		sum += iov[i].iov_len;
	}
	return (ssize_t)sum;
}

/* Copies a chain into an iovec; stops when either ends. Returns the bytes copied. */
static size_t
chain_to_iov(const struct rte_mbuf *m, const struct iovec *iov, size_t n)
{
	size_t done = 0, i, off = 0;

	for (i = 0; m != NULL; m = m->next) {
		const char *src = shim_buf_data(m);
		size_t left = shim_buf_seg_len(m);

		while (left != 0 && i < n) {
			size_t k = iov[i].iov_len - off < left ? iov[i].iov_len - off : left;

			if (k != 0)
				memcpy((char *)iov[i].iov_base + off, src, k);
			src += k;
			left -= k;
			off += k;
			done += k;
			if (off == iov[i].iov_len) {
				i++;
				off = 0;
			}
		}
	}
	return done;
}

/* A chain with the bytes of an iovec, room for headers in front; or NULL (counted). */
static struct rte_mbuf *
iov_to_chain(struct stack *s, const struct iovec *iov, size_t n)
{
	struct rte_mbuf *head = stack_buf(s), *tail = head;
	size_t i;

	for (i = 0; head != NULL && i < n; i++) {
		const char *src = iov[i].iov_base;
		size_t left = iov[i].iov_len;

		while (left != 0) {
			size_t room = rte_pktmbuf_tailroom(tail), k = room < left ? room : left;

			if (k == 0) {
				struct rte_mbuf *next = stack_buf(s);

				if (next == NULL) {
					shim_buf_free(s->shim, head);
					return NULL;
				}
				next->data_off = 0; /* headers go before the first segment only */
				tail->next = next;
				tail = next;
				head->nb_segs++;
				continue;
			}
			memcpy((char *)shim_buf_data(tail) + tail->data_len, src, k);
			tail->data_len = (uint16_t)(tail->data_len + k);
			head->pkt_len += (uint32_t)k;
			src += k;
			left -= k;
		}
	}
	return head;
}

/* Errors that come before data, then the oldest datagram; NULL with *err 0: end (shut down). */
static struct rte_mbuf *
recv_begin(struct socket *so, int flags, int *err)
{
	*err = 0;
	if (flags & MSG_ERRQUEUE) {
		*err = -EAGAIN; /* nothing is ever queued there */
		return NULL;
	}
	if (so->err != 0) {
		*err = socket_take_error(so);
		return NULL;
	}
	if (so->rx_head == NULL && !(so->shut & SHUT_RD_BIT))
		*err = -EAGAIN;
	return so->rx_head;
}

static ssize_t
recv_end(struct stack *s, struct socket *so, int flags, struct rte_mbuf *m, size_t copied)
{
	size_t full = shim_buf_len(m);

	if (!(flags & MSG_PEEK)) {
		socket_pop(so);
		shim_buf_free(s->shim, m);
	}
	return (ssize_t)(flags & MSG_TRUNC ? full : copied);
}

static void
dgram_name(const struct socket *so, const struct dgram *d, struct sockaddr *addr, socklen_t *len)
{
	struct sock_addr a = { .addr = d->src, .port_be = d->sport_be, .family = d->family,
		.ifindex = d->ifindex };

	addr_to_user(so->pcb.domain, &a, addr, len);
}

static ssize_t
stream_recvmsg(struct stack *s, struct stream *st, struct msghdr *msg, int flags)
{
	ssize_t r;

	if (msg == NULL)
		return -EFAULT;
	r = iov_total(msg->msg_iov, msg->msg_iovlen);
	if (r < 0)
		return r;
	r = stream_recv(s, st, msg->msg_iov, msg->msg_iovlen, flags);
	if (r < 0)
		return r;
	msg->msg_flags = 0;
	msg->msg_namelen = 0;
	msg->msg_controllen = 0;
	return r;
}

ssize_t
sock_recvmsg(struct stack *s, int fd, struct msghdr *msg, int flags)
{
	struct socket *so = fd_socket(s, fd);
	const struct dgram *d;
	struct rte_mbuf *m;
	ssize_t total;
	size_t copied;
	int err;

	if (so == NULL)
		return fd_stream(s, fd) == NULL ? fd_why(s, fd) : stream_recvmsg(s, fd_stream(s, fd), msg, flags);
	if (msg == NULL)
		return -EFAULT;
	total = iov_total(msg->msg_iov, msg->msg_iovlen);
	if (total < 0)
		return total;
	if (msg->msg_name != NULL && (int)msg->msg_namelen < 0)
		return -EINVAL;
	m = recv_begin(so, flags, &err);
	if (err != 0)
		return err;
	msg->msg_flags = 0;
	if (m == NULL) {
		msg->msg_namelen = 0;
		msg->msg_controllen = 0;
		return 0;
	}
	d = dgram_of(m);
	copied = chain_to_iov(m, msg->msg_iov, msg->msg_iovlen);
	if (copied < shim_buf_len(m))
		msg->msg_flags |= MSG_TRUNC;
	if (msg->msg_name != NULL)
		dgram_name(so, d, msg->msg_name, &msg->msg_namelen);
	else
		msg->msg_namelen = 0;
	cmsg_emit(so, d, msg);
	return recv_end(s, so, flags, m, copied);
}

/* The sender of a stream's bytes is no secret and is not told: *len becomes 0, as on Linux and FreeBSD. */
static ssize_t
stream_recvfrom(struct stack *s, struct stream *st, const struct iovec *iov, int flags, const struct sockaddr *from,
	socklen_t *len)
{
	ssize_t r = stream_recv(s, st, iov, 1, flags);

	if (r >= 0 && from != NULL)
		*len = 0;
	return r;
}

ssize_t
sock_recvfrom(struct stack *s, int fd, void *buf, size_t n, int flags, struct sockaddr *from, socklen_t *len)
{
	struct socket *so = fd_socket(s, fd);
	struct iovec iov = { buf, n };
	struct rte_mbuf *m;
	size_t copied;
	int err;

	if (so == NULL && fd_stream(s, fd) == NULL)
		return fd_why(s, fd);
	if (n > SSIZE_MAX)
		return -EINVAL;
	if ((buf == NULL && n != 0) || (from != NULL && len == NULL))
		return -EFAULT;
	if (from != NULL && (int)*len < 0)
		return -EINVAL;
	if (so == NULL)
		return stream_recvfrom(s, fd_stream(s, fd), &iov, flags, from, len);
	m = recv_begin(so, flags, &err);
	if (m == NULL || err != 0)
		return err;
	copied = chain_to_iov(m, &iov, 1);
	if (from != NULL)
		dgram_name(so, dgram_of(m), from, len);
	return recv_end(s, so, flags, m, copied);
}

/* May so send now? */
static int
send_check(struct socket *so, int flags)
{
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (so->err != 0)
		return socket_take_error(so);
	return so->shut & SHUT_WR_BIT ? -EPIPE : 0;
}

/* total is the sum of the iovec; in has what control messages asked for. */
static ssize_t
send_iov(struct stack *s, struct socket *so, const struct iovec *iov, size_t n, size_t total,
	struct cmsg_in *in, const struct sock_addr *dst)
{
	int family = dst != NULL ? dst->family : so->pcb.family;
	struct rte_mbuf *m;
	int err;

	if (total > DATAGRAM_MAX)
		return -EMSGSIZE;
	if (dst == NULL && !so->pcb.connected)
		return -EDESTADDRREQ;
	if (dst != NULL && dst->port_be == 0)
		return -EINVAL;
	m = iov_to_chain(s, iov, n);
	if (m == NULL)
		return -ENOBUFS;
	if (in->tos >= 0)
		in->o.tos = (uint8_t)in->tos;
	else
		in->o.tos = family == ADDR_INET ? so->tos : so->tclass;
	err = socket_output(s, so, &in->o, dst, m);
	return err == 0 ? (ssize_t)total : err;
}

/* A destination is ignored on a stream, as on Linux. */
static ssize_t
stream_sendmsg(struct stack *s, struct stream *st, const struct msghdr *msg, int flags)
{
	ssize_t total;
	int err;

	if (msg == NULL)
		return -EFAULT;
	total = iov_total(msg->msg_iov, msg->msg_iovlen);
	if (total < 0)
		return total;
	err = cmsg_check(msg);
	if (err != 0)
		return err;
	return stream_send(s, st, msg->msg_iov, msg->msg_iovlen, (size_t)total, flags);
}

ssize_t
sock_sendmsg(struct stack *s, int fd, const struct msghdr *msg, int flags)
{
	struct socket *so = fd_socket(s, fd);
	struct cmsg_in in;
	struct sock_addr dst;
	bool has_dst;
	ssize_t total;
	int err;

	if (so == NULL)
		return fd_stream(s, fd) == NULL ? fd_why(s, fd) : stream_sendmsg(s, fd_stream(s, fd), msg, flags);
	if (msg == NULL)
		return -EFAULT;
	total = iov_total(msg->msg_iov, msg->msg_iovlen);
	if (total < 0)
		return total;
	has_dst = msg->msg_name != NULL && msg->msg_namelen != 0;
	if (has_dst) {
		err = addr_from_user(so->pcb.domain, so->pcb.v6only, msg->msg_name, msg->msg_namelen, true, &dst);
		if (err != 0)
			return err;
	}
	err = send_check(so, flags);
	if (err == 0)
		err = cmsg_parse(s, so, msg, &in);
	if (err != 0)
		return err;
	if (in.o.src != NULL)
		in.o.src = &in.src;
	return send_iov(s, so, msg->msg_iov, msg->msg_iovlen, (size_t)total, &in, has_dst ? &dst : NULL);
}

ssize_t
sock_sendto(struct stack *s, int fd, const void *buf, size_t n, int flags, const struct sockaddr *to,
	socklen_t len)
{
	struct socket *so = fd_socket(s, fd);
	struct iovec iov = { (void *)(uintptr_t)buf, n };
	struct cmsg_in in = { .tos = -1 };
	bool has_dst = to != NULL && len != 0;
	struct sock_addr dst;
	int err;

	if (so == NULL && fd_stream(s, fd) == NULL)
		return fd_why(s, fd);
	if (n > SSIZE_MAX)
		return -EINVAL;
	if (buf == NULL && n != 0)
		return -EFAULT;
	if (so == NULL)
		return stream_send(s, fd_stream(s, fd), &iov, 1, n, flags);
	if (has_dst) {
		err = addr_from_user(so->pcb.domain, so->pcb.v6only, to, len, true, &dst);
		if (err != 0)
			return err;
	}
	err = send_check(so, flags);
	if (err != 0)
		return err;
	return send_iov(s, so, &iov, 1, n, &in, has_dst ? &dst : NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* In and out of a socket as buffer chains: the path without copies. */
#include <errno.h>
#include <netinet/in.h>

#include "../flat/flat.h"

#define STREAM_CHAIN_MAX 65536 /* bytes that one call hands over */

/* What a chain really occupies: its buffers whole. */
static uint32_t
true_size(const struct rte_mbuf *m)
{
	uint32_t n = 0;

	for (; m != NULL; m = m->next)
		n += m->buf_len + (uint32_t)sizeof(*m);
	return n;
}

/* Is there a part of the headroom that only we see and that holds no data? */
static inline bool
has_own_headroom(const struct rte_mbuf *m)
{
	return m->data_off >= DGRAM_OFF + sizeof(struct dgram) && RTE_MBUF_DIRECT(m) &&
		rte_mbuf_refcnt_read(m) == 1;
}

/* An empty segment in front of m, for its facts. NULL: m is freed, counted. */
static struct rte_mbuf *
front_buffer(struct stack *s, struct netif *nif, struct rte_mbuf *m)
{
	struct rte_mbuf *h = stack_buf(s);

	if (h == NULL) {
		stack_drop(s, nif, STACK_DROP_NO_BUFFER, m);
		return NULL;
	}
	if (shim_buf_chain(h, m) != 0) {
		shim_buf_free(s->shim, h);
		stack_drop(s, nif, STACK_DROP_NO_BUFFER, m);
		return NULL;
	}
	return h;
}

void
socket_udp_deliver(struct stack *s, struct socket *so, const struct ip_rx *rx, uint16_t sport_be, struct rte_mbuf *m)
{
	struct dgram *d;

	if (unlikely(so->rx_mem > so->rcvbuf)) {
		stack_drop(s, rx->nif, STACK_DROP_UDP_RCVBUF, m);
		return;
	}
	if (unlikely(!has_own_headroom(m))) {
		m = front_buffer(s, rx->nif, m);
		if (m == NULL)
			return;
	}
	d = dgram_of(m);
	d->src = rx->src;
	d->dst = rx->dst;
	d->sport_be = sport_be;
	d->ifindex = (uint16_t)rx->nif->index;
	d->family = rx->family;
	d->ttl = rx->ttl;
	d->tos = rx->tos;
	socket_append(s, so, m, likely(m->next == NULL) ? m->buf_len + (uint32_t)sizeof(*m) : true_size(m));
}

void
socket_error(struct stack *s, struct socket *so, int err)
{
	/* A packet over the path MTU concerns only those who asked to hear of it. */
	if (err == EMSGSIZE && so->mtu_discover < IP_PMTUDISC_DO)
		return;
	so->err = err;
	sfile_wake(s, &so->f, EPOLLERR | EPOLLIN | EPOLLOUT);
}

void
socket_flush(struct stack *s, struct socket *so)
{
	struct rte_mbuf *m;

	while ((m = socket_pop(so)) != NULL)
		shim_buf_free(s->shim, m);
}

static __attribute__((noinline)) int
stream_recv_chain(struct stack *s, int fd, struct rte_mbuf **m)
{
	struct stream *st = fd_stream(s, fd);
	ssize_t r;

	if (st == NULL)
		return fd_why(s, fd);
	r = tcp_read_chain(s, st->p, STREAM_CHAIN_MAX, m);
	return r < 0 ? (int)r : 0;
}

int
sock_recv_chain(struct stack *s, int fd, struct rte_mbuf **m, struct sock_addr *from)
{
	struct socket *so = fd_socket(s, fd);
	const struct dgram *d;

	if (unlikely(so == NULL))
		return stream_recv_chain(s, fd, m);
	if (unlikely(so->err != 0))
		return socket_take_error(so);
	*m = socket_pop(so);
	if (*m == NULL)
		return -EAGAIN;
	if (from != NULL) {
		d = dgram_of(*m);
		from->addr = d->src;
		from->port_be = d->sport_be;
		from->family = d->family;
		from->ifindex = d->ifindex;
	}
	return 0;
}

/* o has what a cmsg asked for; the rest comes from the socket's options. Takes m. */
static int
output_any(struct stack *s, struct socket *so, struct udp_send_opts *o, const struct sock_addr *dst,
	struct rte_mbuf *m)
{
	const struct udp_pcb *p = &so->pcb;
	int family = p->family, err;

	if (unlikely(so->late_bind)) {
		err = socket_late_bind(s, so);
		if (err != 0) {
			shim_buf_free(s->shim, m);
			return err;
		}
	}
	if (dst != NULL) {
		o->dst = &dst->addr;
		o->port_be = dst->port_be;
		o->family = dst->family;
		family = dst->family;
		if (family == ADDR_INET6 && o->nif == NULL) {
			err = addr_scope(s, dst, &o->nif);
			if (err != 0 && !(err == -EINVAL && p->nif != NULL)) {
				shim_buf_free(s->shim, m);
				return err;
			}
		}
	}
	if (o->ttl == 0) {
		o->ttl = family == ADDR_INET ? so->ttl : so->hops;
		o->mcast_ttl = family == ADDR_INET ? so->mcast_ttl : so->mcast_hops;
	} else {
		o->mcast_ttl = o->ttl;
	}
	if (o->nif == NULL && so->mcast_if != NULL && o->dst != NULL &&
	    (family == ADDR_INET ? ip4_multicast(o->dst->v4) : ip6_multicast(o->dst)))
		o->nif = so->mcast_if;
	o->df = so->mtu_discover >= IP_PMTUDISC_DO;
	o->want_df = so->mtu_discover == IP_PMTUDISC_WANT;
	return udp_output(s, &so->pcb, o, m);
}

int
socket_output(struct stack *s, struct socket *so, struct udp_send_opts *o, const struct sock_addr *dst,
	struct rte_mbuf *m)
{
	if (o->ttl == 0 && o->src == NULL && o->nif == NULL)
		return flat_output(s, so, dst, o->tos, m);
	return output_any(s, so, o, dst, m);
}

int
socket_output_any(struct stack *s, struct socket *so, const struct sock_addr *dst, uint8_t tos, struct rte_mbuf *m)
{
	struct udp_send_opts o = { .tos = tos };

	return output_any(s, so, &o, dst, m);
}

/* A stream, or why so may not send: takes m. */
static __attribute__((noinline)) int
send_other(struct stack *s, int fd, struct socket *so, struct rte_mbuf *m)
{
	struct stream *st = fd_stream(s, fd);

	if (st != NULL) {
		int err = tcp_write_chain(s, st->p, m, 0);

		if (err >= 0)
			return 0;
		st->nospace = true;
		shim_buf_free(s->shim, m);
		return err;
	}
	shim_buf_free(s->shim, m);
	if (so == NULL)
		return fd_why(s, fd);
	return so->err != 0 ? socket_take_error(so) : -EPIPE;
}

int
sock_send_chain(struct stack *s, int fd, struct rte_mbuf *m, const struct sock_addr *dst)
{
	struct socket *so = fd_socket(s, fd);
	uint8_t tos;

	if (unlikely(so == NULL || so->err != 0 || (so->shut & SHUT_WR_BIT) != 0))
		return send_other(s, fd, so, m);
	tos = (dst != NULL ? dst->family : so->pcb.family) == ADDR_INET ? so->tos : so->tclass;
	return flat_output(s, so, dst, tos, m);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* getsockopt and setsockopt with Linux's levels, names and layouts: datagrams, and what streams share. */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include "socket_priv.h"

int
opt_int(const void *val, socklen_t len, bool byte_ok, int *out)
{
	uint8_t byte;

	if ((int)len < 0)
		return -EINVAL;
	if (len >= sizeof(int)) {
		if (val == NULL)
			return -EFAULT;
		memcpy(out, val, sizeof(int));
		return 0;
	}
	if (len == 0 || !byte_ok)
		return -EINVAL;
	if (val == NULL)
		return -EFAULT;
	memcpy(&byte, val, 1);
	*out = byte;
	return 0;
}

int
opt_timeout(struct timeval *tv, const void *val, socklen_t len)
{
	struct timeval t;

	if ((int)len < (int)sizeof(t))
		return -EINVAL;
	if (val == NULL)
		return -EFAULT;
	memcpy(&t, val, sizeof(t));
	if (t.tv_usec < 0 || t.tv_usec >= 1000000)
		return -EDOM;
	*tv = t;
	return 0;
}

int
opt_linger(struct linger *l, const void *val, socklen_t len)
{
	if ((int)len < (int)sizeof(*l))
		return -EINVAL;
	if (val == NULL)
		return -EFAULT;
	memcpy(l, val, sizeof(*l));
	return 0;
}

uint32_t
opt_buffer_size(const struct stack *s, int v)
{
	uint32_t max = s->sockets->bufmax;
	uint64_t n = v < 0 ? max : (uint64_t)v * 2;

	return n < SOCK_BUF_MIN ? SOCK_BUF_MIN : n > max ? max : (uint32_t)n;
}

static int
set_socket(struct stack *s, struct socket *so, int name, const void *val, socklen_t len)
{
	int v, err;

	switch (name) {
	case SO_RCVTIMEO:
		return opt_timeout(&so->rcvtimeo, val, len);
	case SO_SNDTIMEO:
		return opt_timeout(&so->sndtimeo, val, len);
	case SO_LINGER:
		return opt_linger(&so->linger, val, len);
	}
	err = opt_int(val, len, false, &v);
	if (err != 0)
		return err;
	switch (name) {
	case SO_DEBUG:
		so->debug = v != 0;
		return 0;
	case SO_REUSEADDR:
		so->pcb.reuseaddr = v != 0;
		return 0;
	case SO_REUSEPORT:
		udp_reuseport_set(&so->pcb, v != 0);
		return 0;
	case SO_DONTROUTE:
		so->dontroute = v != 0;
		return 0;
	case SO_BROADCAST:
		so->pcb.broadcast = v != 0;
		return 0;
	case SO_SNDBUF:
		so->sndbuf = opt_buffer_size(s, v);
		return 0;
	case SO_RCVBUF:
		so->rcvbuf = opt_buffer_size(s, v);
		return 0;
	case SO_KEEPALIVE:
		so->keepalive = v != 0;
		return 0;
	case SO_OOBINLINE:
		so->oobinline = v != 0;
		return 0;
	case SO_RCVLOWAT:
		so->rcvlowat = v < 0 ? INT_MAX : v == 0 ? 1 : v;
		return 0;
	}
	return -ENOPROTOOPT; /* read-only ones (SO_TYPE, SO_ERROR, ...) too, as on Linux */
}

/* 1: -1 means the default, stored as 0. */
static int
set_ttl(uint8_t *field, int v, int lowest)
{
	if (v < -1 || v > 255 || (v != -1 && v < lowest))
		return -EINVAL;
	*field = v == -1 ? 0 : (uint8_t)v;
	return 0;
}

static int
set_multicast_if(struct stack *s, struct socket *so, const void *val, socklen_t len)
{
	struct ip_mreqn r = { 0 };
	unsigned int i;

	if ((int)len < (int)sizeof(struct in_addr))
		return -EINVAL;
	if (val == NULL)
		return -EFAULT;
	if (len >= sizeof(r))
		memcpy(&r, val, sizeof(r));
	else if (len >= sizeof(struct ip_mreq))
		memcpy(&r, val, sizeof(struct ip_mreq));
	else
		memcpy(&r.imr_address, val, sizeof(struct in_addr));
	if (r.imr_ifindex == 0 && r.imr_address.s_addr == 0) {
		so->mcast_if = NULL;
		return 0;
	}
	for (i = 0; i < s->nb_ifs; i++) {
		struct netif *nif = s->ifs[i];

		if (nif != NULL && (r.imr_ifindex != 0 ? (int)nif->index == r.imr_ifindex :
		    netif_find4(nif, r.imr_address.s_addr) != NULL)) {
			so->mcast_if = nif;
			return 0;
		}
	}
	return r.imr_ifindex != 0 ? -ENODEV : -EADDRNOTAVAIL;
}

static int
set_ip(struct stack *s, struct socket *so, int name, const void *val, socklen_t len)
{
	int v, err;

	if (name == IP_MULTICAST_IF)
		return set_multicast_if(s, so, val, len);
	err = opt_int(val, len, true, &v);
	if (err != 0)
		return err;
	switch (name) {
	case IP_TOS:
		so->tos = (uint8_t)v;
		return 0;
	case IP_TTL:
		return set_ttl(&so->ttl, v, 1);
	case IP_MULTICAST_TTL:
		return set_ttl(&so->mcast_ttl, v, 1);
	case IP_RECVTTL:
		so->recvttl = v != 0;
		return 0;
	case IP_RECVTOS:
		so->recvtos = v != 0;
		return 0;
	case IP_PKTINFO:
		so->pktinfo = v != 0;
		return 0;
	case IP_MTU_DISCOVER:
		if (v < IP_PMTUDISC_DONT || v > IP_PMTUDISC_PROBE)
			return -EINVAL;
		so->mtu_discover = (uint8_t)v;
		return 0;
	case IP_BIND_ADDRESS_NO_PORT:
		so->bind_no_port = v != 0;
		return 0;
	}
	return -ENOPROTOOPT;
}

static int
set_ip6(struct stack *s, struct socket *so, int name, const void *val, socklen_t len)
{
	int v, err = opt_int(val, len, false, &v);

	if (so->pcb.domain != ADDR_INET6)
		return -ENOPROTOOPT;
	if (err != 0)
		return err;
	switch (name) {
	case IPV6_V6ONLY:
		if (so->pcb.bound || so->late_bind)
			return -EINVAL;
		so->pcb.v6only = v != 0;
		return 0;
	case IPV6_UNICAST_HOPS:
		return set_ttl(&so->hops, v, 0);
	case IPV6_MULTICAST_HOPS:
		return set_ttl(&so->mcast_hops, v, 0);
	case IPV6_MULTICAST_IF:
		so->mcast_if = v == 0 ? NULL : stack_if_by_index(s, (unsigned int)v);
		return v != 0 && so->mcast_if == NULL ? -ENODEV : 0;
	case IPV6_RECVPKTINFO:
		so->recvpktinfo6 = v != 0;
		return 0;
	case IPV6_RECVHOPLIMIT:
		so->recvhops6 = v != 0;
		return 0;
	case IPV6_RECVTCLASS:
		so->recvtclass6 = v != 0;
		return 0;
	case IPV6_TCLASS:
		if (v < -1 || v > 255)
			return -EINVAL;
		so->tclass = v == -1 ? 0 : (uint8_t)v;
		return 0;
	case IPV6_MTU_DISCOVER:
		if (v < IP_PMTUDISC_DONT || v > IP_PMTUDISC_PROBE)
			return -EINVAL;
		so->mtu_discover = (uint8_t)v;
		return 0;
	}
	return -ENOPROTOOPT;
}

int
sock_setsockopt(struct stack *s, int fd, int level, int name, const void *val, socklen_t len)
{
	struct socket *so = fd_socket(s, fd);
	struct stream *st = fd_stream(s, fd);

	if (st != NULL)
		return stream_setsockopt(s, st, level, name, val, len);
	if (so == NULL)
		return fd_why(s, fd);
	switch (level) {
	case SOL_SOCKET:
		return set_socket(s, so, name, val, len);
	case IPPROTO_IP:
		return set_ip(s, so, name, val, len);
	case IPPROTO_IPV6:
		return set_ip6(s, so, name, val, len);
	}
	return -ENOPROTOOPT;
}

static int
get_socket(struct socket *so, int name, int *v)
{
	switch (name) {
	case SO_DEBUG: *v = so->debug; return 0;
	case SO_REUSEADDR: *v = so->pcb.reuseaddr; return 0;
	case SO_REUSEPORT: *v = so->pcb.reuseport; return 0;
	case SO_TYPE: *v = SOCK_DGRAM; return 0;
	case SO_ERROR: *v = -socket_take_error(so); return 0;
	case SO_DONTROUTE: *v = so->dontroute; return 0;
	case SO_BROADCAST: *v = so->pcb.broadcast; return 0;
	case SO_SNDBUF: *v = (int)so->sndbuf; return 0;
	case SO_RCVBUF: *v = (int)so->rcvbuf; return 0;
	case SO_KEEPALIVE: *v = so->keepalive; return 0;
	case SO_OOBINLINE: *v = so->oobinline; return 0;
	case SO_RCVLOWAT: *v = so->rcvlowat; return 0;
	case SO_SNDLOWAT: *v = 1; return 0;
	case SO_ACCEPTCONN: *v = 0; return 0;
	case SO_PROTOCOL: *v = IPPROTO_UDP; return 0;
	case SO_DOMAIN: *v = so->pcb.domain == ADDR_INET ? AF_INET : AF_INET6; return 0;
	}
	return -ENOPROTOOPT;
}

static int
get_ip(struct stack *s, struct socket *so, int name, int *v)
{
	switch (name) {
	case IP_TOS: *v = so->tos; return 0;
	case IP_TTL: *v = so->ttl != 0 ? so->ttl : 64; return 0;
	case IP_MULTICAST_TTL: *v = so->mcast_ttl != 0 ? so->mcast_ttl : 1; return 0;
	case IP_RECVTTL: *v = so->recvttl; return 0;
	case IP_RECVTOS: *v = so->recvtos; return 0;
	case IP_PKTINFO: *v = so->pktinfo; return 0;
	case IP_MTU_DISCOVER: *v = so->mtu_discover; return 0;
	case IP_BIND_ADDRESS_NO_PORT: *v = so->bind_no_port; return 0;
	case IP_MTU:
		*v = udp_path_mtu(s, &so->pcb);
		return *v < 0 ? *v : 0;
	}
	return -ENOPROTOOPT;
}

static int
get_ip6(struct stack *s, struct socket *so, int name, int *v)
{
	if (so->pcb.domain != ADDR_INET6)
		return -ENOPROTOOPT;
	switch (name) {
	case IPV6_V6ONLY: *v = so->pcb.v6only; return 0;
	case IPV6_UNICAST_HOPS: *v = so->hops != 0 ? so->hops : 64; return 0;
	case IPV6_MULTICAST_HOPS: *v = so->mcast_hops != 0 ? so->mcast_hops : 1; return 0;
	case IPV6_MULTICAST_IF: *v = so->mcast_if != NULL ? (int)so->mcast_if->index : 0; return 0;
	case IPV6_RECVPKTINFO: *v = so->recvpktinfo6; return 0;
	case IPV6_RECVHOPLIMIT: *v = so->recvhops6; return 0;
	case IPV6_RECVTCLASS: *v = so->recvtclass6; return 0;
	case IPV6_TCLASS: *v = so->tclass; return 0;
	case IPV6_MTU_DISCOVER: *v = so->mtu_discover; return 0;
	case IPV6_MTU:
		*v = udp_path_mtu(s, &so->pcb);
		return *v < 0 ? *v : 0;
	}
	return -ENOPROTOOPT;
}

int
opt_put(void *val, socklen_t *len, const void *src, size_t n)
{
	if (*len > n)
		*len = (socklen_t)n;
	memcpy(val, src, *len);
	return 0;
}

int
sock_getsockopt(struct stack *s, int fd, int level, int name, void *val, socklen_t *len)
{
	struct socket *so = fd_socket(s, fd);
	struct stream *st = fd_stream(s, fd);
	int v = 0, err = -ENOPROTOOPT;

	if (so == NULL && st == NULL)
		return fd_why(s, fd);
	if (val == NULL || len == NULL)
		return -EFAULT;
	if ((int)*len < 0)
		return -EINVAL;
	if (st != NULL)
		return stream_getsockopt(s, st, level, name, val, len);
	if (level == SOL_SOCKET) {
		switch (name) {
		case SO_LINGER:
			return opt_put(val, len, &so->linger, sizeof(so->linger));
		case SO_RCVTIMEO:
			return opt_put(val, len, &so->rcvtimeo, sizeof(so->rcvtimeo));
		case SO_SNDTIMEO:
			return opt_put(val, len, &so->sndtimeo, sizeof(so->sndtimeo));
		}
		err = get_socket(so, name, &v);
	} else if (level == IPPROTO_IP) {
		err = get_ip(s, so, name, &v);
	} else if (level == IPPROTO_IPV6) {
		err = get_ip6(s, so, name, &v);
	}
	return err != 0 ? err : opt_put(val, len, &v, sizeof(v));
}

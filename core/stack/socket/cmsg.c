/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages in Linux's layout: per-packet facts on receipt, per-packet wishes on sending. */
#include <errno.h>
#include <netinet/in.h>

#include "socket_priv.h"

static int
cmsg_int(const struct cmsghdr *c, int lowest, int *out)
{
	uint8_t byte;

	if (c->cmsg_len == CMSG_LEN(sizeof(int))) {
		memcpy(out, CMSG_DATA(c), sizeof(int));
	} else if (c->cmsg_len == CMSG_LEN(1)) { /* Linux takes a byte for TOS and TTL */
		memcpy(&byte, CMSG_DATA(c), 1);
		*out = byte;
	} else {
		return -EINVAL;
	}
	return *out < lowest || *out > 255 ? -EINVAL : 0;
}

static int
parse_pktinfo4(struct stack *s, const struct cmsghdr *c, struct cmsg_in *in)
{
	struct in_pktinfo pi;

	if (c->cmsg_len != CMSG_LEN(sizeof(pi)))
		return -EINVAL;
	memcpy(&pi, CMSG_DATA(c), sizeof(pi));
	if (pi.ipi_ifindex != 0) {
		in->o.nif = stack_if_by_index(s, (unsigned int)pi.ipi_ifindex);
		if (in->o.nif == NULL)
			return -ENODEV;
	}
	in->src = ip_addr_v4(pi.ipi_spec_dst.s_addr);
	in->o.src = &in->src;
	return pi.ipi_spec_dst.s_addr == 0 || stack_owns4(s, pi.ipi_spec_dst.s_addr) ? 0 : -EINVAL;
}

static int
parse_pktinfo6(struct stack *s, const struct cmsghdr *c, struct cmsg_in *in)
{
	struct in6_pktinfo pi;

	if (c->cmsg_len != CMSG_LEN(sizeof(pi)))
		return -EINVAL;
	memcpy(&pi, CMSG_DATA(c), sizeof(pi));
	if (pi.ipi6_ifindex != 0) {
		in->o.nif = stack_if_by_index(s, pi.ipi6_ifindex);
		if (in->o.nif == NULL)
			return -ENODEV;
	}
	in->src = ip_addr_v6(&pi.ipi6_addr);
	if (ip6_v4_mapped(&in->src))
		in->src = ip_addr_v4(in->src.w[3]);
	else if (!ip_addr_any(&in->src) && !stack_owns6(s, &in->src))
		return -EINVAL;
	in->o.src = &in->src;
	return 0;
}

static int
parse_one(struct stack *s, const struct cmsghdr *c, struct cmsg_in *in)
{
	int v, err;

	if (c->cmsg_level == IPPROTO_IP) {
		switch (c->cmsg_type) {
		case IP_PKTINFO:
			return parse_pktinfo4(s, c, in);
		case IP_TTL:
			err = cmsg_int(c, 1, &v);
			if (err == 0)
				in->o.ttl = (uint8_t)v;
			return err;
		case IP_TOS:
			return cmsg_int(c, 0, &in->tos);
		}
	} else if (c->cmsg_level == IPPROTO_IPV6) {
		switch (c->cmsg_type) {
		case IPV6_PKTINFO:
			return parse_pktinfo6(s, c, in);
		case IPV6_HOPLIMIT:
			err = cmsg_int(c, -1, &v);
			if (err == 0 && v > 0)
				in->o.ttl = (uint8_t)v;
			return err;
		case IPV6_TCLASS:
			err = cmsg_int(c, -1, &v);
			if (err == 0 && v >= 0)
				in->tos = v;
			return err;
		}
	} else if (c->cmsg_level != SOL_SOCKET) {
		return 0; /* another protocol's: ignored, as on Linux */
	}
	return -EINVAL;
}

int
cmsg_parse(struct stack *s, const struct socket *so, const struct msghdr *msg, struct cmsg_in *in)
{
	const char *p = msg->msg_control;
	size_t left = p == NULL ? 0 : msg->msg_controllen;
	int err;

	(void)so;
	memset(in, 0, sizeof(*in));
	in->tos = -1;
	while (left >= sizeof(struct cmsghdr)) {
		const struct cmsghdr *c = (const struct cmsghdr *)(const void *)p;
		size_t step;

		if (c->cmsg_len < sizeof(*c) || c->cmsg_len > left)
			return -EINVAL;
		err = parse_one(s, c, in);
		if (err != 0)
			return err;
		step = CMSG_ALIGN(c->cmsg_len);
		if (step >= left)
			break;
		p += step;
		left -= step;
	}
	return 0;
}

int
cmsg_check(const struct msghdr *msg)
{
	const char *p = msg->msg_control;
	size_t left = p == NULL ? 0 : msg->msg_controllen;

	while (left >= sizeof(struct cmsghdr)) {
		const struct cmsghdr *c = (const struct cmsghdr *)(const void *)p;

		if (c->cmsg_len < sizeof(*c) || c->cmsg_len > left || c->cmsg_level == SOL_SOCKET)
			return -EINVAL;
		if (CMSG_ALIGN(c->cmsg_len) >= left)
			break;
		p += CMSG_ALIGN(c->cmsg_len);
		left -= CMSG_ALIGN(c->cmsg_len);
	}
	return 0;
}

/* Where the next message goes. */
struct cmsg_out {
	char *at;
	size_t left, used;
	bool truncated;
};

/* Appends one message; what does not fit is cut and MSG_CTRUNC says so (POSIX recvmsg). */
static void
put(struct cmsg_out *o, int level, int type, const void *data, size_t n)
{
	struct cmsghdr c = { .cmsg_len = CMSG_LEN(n), .cmsg_level = level, .cmsg_type = type };
	size_t step;

	if (o->left < sizeof(c)) {
		o->truncated = true;
		return;
	}
	if (o->left < CMSG_LEN(n)) {
		o->truncated = true;
		c.cmsg_len = o->left;
		n = o->left - sizeof(c);
	}
	memcpy(o->at, &c, sizeof(c));
	memcpy(o->at + sizeof(c), data, n);
	step = CMSG_SPACE(n) < o->left ? CMSG_SPACE(n) : o->left;
	o->at += step;
	o->left -= step;
	o->used += step;
}

static void
emit4(const struct socket *so, const struct dgram *d, struct cmsg_out *o)
{
	if (so->pktinfo) {
		struct in_pktinfo pi = { .ipi_ifindex = d->ifindex };

		pi.ipi_addr.s_addr = pi.ipi_spec_dst.s_addr = d->dst.v4;
		if (ip4_multicast(d->dst.v4) || d->dst.v4 == 0xffffffff)
			pi.ipi_spec_dst.s_addr = 0; /* no address to answer from */
		put(o, IPPROTO_IP, IP_PKTINFO, &pi, sizeof(pi));
	}
	if (so->recvttl) {
		int v = d->ttl;

		put(o, IPPROTO_IP, IP_TTL, &v, sizeof(v));
	}
	if (so->recvtos)
		put(o, IPPROTO_IP, IP_TOS, &d->tos, 1); /* one byte, as on Linux */
}

static void
emit6(const struct socket *so, const struct dgram *d, struct cmsg_out *o)
{
	int v;

	if (so->recvpktinfo6) {
		struct in6_pktinfo pi = { .ipi6_ifindex = d->ifindex };

		if (d->family == ADDR_INET) {
			pi.ipi6_addr.s6_addr[10] = pi.ipi6_addr.s6_addr[11] = 0xff;
			memcpy(&pi.ipi6_addr.s6_addr[12], &d->dst.v4, 4);
		} else {
			memcpy(&pi.ipi6_addr, d->dst.v6, 16);
		}
		put(o, IPPROTO_IPV6, IPV6_PKTINFO, &pi, sizeof(pi));
	}
	if (d->family != ADDR_INET6)
		return;
	if (so->recvhops6) {
		v = d->ttl;
		put(o, IPPROTO_IPV6, IPV6_HOPLIMIT, &v, sizeof(v));
	}
	if (so->recvtclass6) {
		v = d->tos;
		put(o, IPPROTO_IPV6, IPV6_TCLASS, &v, sizeof(v));
	}
}

void
cmsg_emit(const struct socket *so, const struct dgram *d, struct msghdr *msg)
{
	struct cmsg_out o = { .at = msg->msg_control, .left = msg->msg_controllen };

	if (msg->msg_control == NULL)
		o.left = 0;
	if (so->pcb.domain == ADDR_INET6)
		emit6(so, d, &o);
	if (d->family == ADDR_INET)
		emit4(so, d, &o);
	if (o.truncated)
		msg->msg_flags |= MSG_CTRUNC;
	msg->msg_controllen = o.used;
}

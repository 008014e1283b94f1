/* SPDX-License-Identifier: BSD-3-Clause */
/* ioctl in Linux's numbers: descriptors, and interfaces through struct ifreq. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "socket_priv.h"

#define NAME_MAX_LEN (IFNAMSIZ - 1)

static void
flag_set(struct sfile *f, int flag, const void *arg)
{
	int on;

	memcpy(&on, arg, sizeof(on));
	f->flags = on != 0 ? f->flags | flag : f->flags & ~flag;
}

int
sock_ioctl(struct stack *s, int fd, unsigned long req, void *arg)
{
	struct sfile *f = fd_file(s, fd);
	const struct socket *so = (const struct socket *)f;
	int v;

	if (f == NULL)
		return -EBADF;
	if (req == FIOCLEX || req == FIONCLEX)
		return sock_fcntl(s, fd, F_SETFD, req == FIOCLEX ? FD_CLOEXEC : 0);
	if (arg == NULL)
		return -EFAULT;
	switch (req) {
	case FIONBIO:
		flag_set(f, O_NONBLOCK, arg);
		return 0;
	case FIOASYNC:
		flag_set(f, O_ASYNC, arg);
		return 0;
	}
	if (sfile_is_set(f))
		return -ENOTTY;
	if (f->type == SFILE_STREAM) {
		int err = stream_ioctl((struct stream *)f, req, &v);

		if (err == 0)
			memcpy(arg, &v, sizeof(v));
		return err == -ENOTTY ? sock_if_ioctl(s, req, arg) : err;
	}
	switch (req) {
	case FIONREAD: /* of the next datagram, as on Linux; FreeBSD adds them up */
		v = so->rx_head != NULL ? (int)shim_buf_len(so->rx_head) : 0;
		memcpy(arg, &v, sizeof(v));
		return 0;
	case TIOCOUTQ:
		v = 0;
		memcpy(arg, &v, sizeof(v));
		return 0;
	}
	return sock_if_ioctl(s, req, arg);
}

static void
put_in(struct sockaddr *to, uint32_t addr_be)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_addr.s_addr = addr_be;
	memcpy(to, &sin, sizeof(sin));
}

/* SIOCGIFCONF: one entry for each interface with an IPv4 address; without a buffer, the room it takes. */
static int
get_conf(struct stack *s, void *arg)
{
	struct ifconf *c = arg;
	size_t room = c->ifc_len > 0 && c->ifc_buf != NULL ? (size_t)c->ifc_len : 0, used = 0;
	unsigned int i;

	if (c->ifc_len < 0)
		return -EINVAL;
	for (i = 0; i < s->nb_ifs; i++) {
		const struct netif *nif = s->ifs[i];
		struct ifreq r = { 0 };

		if (nif == NULL || nif->nb_addr4 == 0)
			continue;
		if (c->ifc_buf != NULL) {
			if (room - used < sizeof(r))
				break;
			memcpy(r.ifr_name, nif->cfg.name, strnlen(nif->cfg.name, NAME_MAX_LEN));
			put_in(&r.ifr_addr, nif->addr4[0].addr);
			memcpy(c->ifc_buf + used, &r, sizeof(r));
		}
		used += sizeof(r);
	}
	c->ifc_len = (int)used;
	return 0;
}

static int
get_flags(const struct netif *nif)
{
	int v = IFF_BROADCAST | IFF_MULTICAST;

	if (nif->flags & NETIF_UP)
		v |= IFF_UP | IFF_RUNNING;
	if (nif->flags & NETIF_PROMISC)
		v |= IFF_PROMISC;
	return v;
}

static int
get_one(const struct netif *nif, unsigned long req, struct ifreq *r)
{
	const struct netif_addr4 *a = nif->nb_addr4 != 0 ? &nif->addr4[0] : NULL;

	switch (req) {
	case SIOCGIFFLAGS:
		r->ifr_flags = (short)get_flags(nif);
		return 0;
	case SIOCGIFINDEX:
		r->ifr_ifindex = (int)nif->index;
		return 0;
	case SIOCGIFMTU:
		r->ifr_mtu = nif->mtu;
		return 0;
	case SIOCGIFHWADDR:
		memset(&r->ifr_hwaddr, 0, sizeof(r->ifr_hwaddr));
		r->ifr_hwaddr.sa_family = ARPHRD_ETHER;
		memcpy(r->ifr_hwaddr.sa_data, nif->cfg.mac, ETH_ALEN);
		return 0;
	}
	if (a == NULL)
		return -EADDRNOTAVAIL;
	put_in(&r->ifr_addr, req == SIOCGIFADDR ? a->addr : req == SIOCGIFNETMASK ? a->mask : a->broadcast);
	return 0;
}

/* Replaces the first address of nif. */
static int
replace_addr(struct stack *s, struct netif *nif, uint32_t addr, uint8_t prefix_len)
{
	struct netif_addr4 old = { 0 };
	bool had = nif->nb_addr4 != 0;
	int err;

	if (had) {
		old = nif->addr4[0];
		err = stack_addr4_del(s, nif, old.addr);
		if (err != 0)
			return err;
	}
	err = stack_addr4_add(s, nif, addr, prefix_len, 0);
	if (err != 0 && had) /* as it was */
		(void)stack_addr4_add(s, nif, old.addr, old.prefix_len, old.broadcast);
	return err;
}

static int
set_addr(struct stack *s, struct netif *nif, const struct ifreq *r)
{
	struct sockaddr_in sin;
	uint8_t prefix_len;

	memcpy(&sin, &r->ifr_addr, sizeof(sin));
	if (sin.sin_family != AF_INET)
		return -EAFNOSUPPORT;
	if (nif->nb_addr4 != 0) {
		if (nif->addr4[0].addr == sin.sin_addr.s_addr)
			return 0;
		prefix_len = nif->addr4[0].prefix_len;
	} else { /* the class of old, as Linux guesses; SIOCSIFNETMASK follows */
		uint8_t top = (uint8_t)(sin.sin_addr.s_addr & 0xff);

		prefix_len = top < 128 ? 8 : top < 192 ? 16 : 24;
	}
	return replace_addr(s, nif, sin.sin_addr.s_addr, prefix_len);
}

static int
set_mask(struct stack *s, struct netif *nif, const struct ifreq *r)
{
	struct sockaddr_in sin;
	uint32_t mask;

	memcpy(&sin, &r->ifr_netmask, sizeof(sin));
	if (sin.sin_family != AF_INET)
		return -EAFNOSUPPORT;
	mask = be32(sin.sin_addr.s_addr);
	if ((~mask & (~mask + 1)) != 0)
		return -EINVAL; /* not contiguous */
	if (nif->nb_addr4 == 0)
		return -EADDRNOTAVAIL;
	return replace_addr(s, nif, nif->addr4[0].addr, mask == 0 ? 0 : (uint8_t)__builtin_popcount(mask));
}

static int
set_mtu(struct stack *s, struct netif *nif, const struct ifreq *r)
{
	const struct sock_if_hook *h = &s->sockets->if_hook;
	int err;

	if (r->ifr_mtu < 68 || r->ifr_mtu > UINT16_MAX)
		return -EINVAL;
	if (h->mtu_set != NULL) {
		err = h->mtu_set(h->ctx, nif, (uint16_t)r->ifr_mtu);
		if (err != 0)
			return err;
	}
	return stack_if_mtu_set(s, nif, (uint16_t)r->ifr_mtu);
}

int
sock_if_ioctl(struct stack *s, unsigned long req, void *arg)
{
	struct ifreq *r = arg;
	struct netif *nif;

	switch (req) {
	case SIOCGIFCONF:
		return get_conf(s, arg);
	case SIOCGIFADDR: case SIOCGIFNETMASK: case SIOCGIFBRDADDR: case SIOCGIFMTU: case SIOCGIFHWADDR:
	case SIOCGIFFLAGS: case SIOCGIFINDEX: case SIOCSIFADDR: case SIOCSIFNETMASK: case SIOCSIFMTU:
		break;
	default:
		return -ENOTTY;
	}
	if (memchr(r->ifr_name, 0, IFNAMSIZ) == NULL)
		return -ENODEV;
	nif = stack_if_by_name(s, r->ifr_name);
	if (nif == NULL)
		return -ENODEV;
	switch (req) {
	case SIOCSIFADDR:
		return set_addr(s, nif, r);
	case SIOCSIFNETMASK:
		return set_mask(s, nif, r);
	case SIOCSIFMTU:
		return set_mtu(s, nif, r);
	}
	return get_one(nif, req, r);
}

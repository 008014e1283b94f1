/* SPDX-License-Identifier: BSD-3-Clause */
/* ioctl and sysctl: descriptors, interfaces, the nodes that mean something. */
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>

#include "sock_world.h"

static int
ifr(struct fx *f, unsigned long req, struct ifreq *r)
{
	snprintf(r->ifr_name, sizeof(r->ifr_name), "f-stack-0");
	return sock_ioctl(f->s, 0, req, r);
}

static uint32_t
addr_of(const struct ifreq *r)
{
	struct sockaddr_in sin;

	memcpy(&sin, &r->ifr_addr, sizeof(sin));
	return sin.sin_addr.s_addr;
}

static void
addr_set(struct ifreq *r, const char *ip)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_addr.s_addr = fx_ip4(ip);
	memcpy(&r->ifr_addr, &sin, sizeof(sin));
}

/* STK-5 */
static void
descriptor_requests(void **state)
{
	struct fx *f = *state;
	int fd = sock(f, AF_INET), kq = sock_kqueue(f->s), v = 9;

	assert_int_equal(bind4(f, fd, "0.0.0.0", 7000), 0);
	assert_int_equal(sock_ioctl(f->s, fd, FIONREAD, &v), 0);
	assert_int_equal(v, 0);
	fx_rx_udp4(f, 1, 7000, "abc", 3);
	fx_rx_udp4(f, 1, 7000, "defgh", 5);
	assert_int_equal(sock_ioctl(f->s, fd, FIONREAD, &v), 0);
	assert_int_equal(v, 3); /* the next one's, as on Linux */
	assert_int_equal(sock_ioctl(f->s, fd, TIOCOUTQ, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(sock_ioctl(f->s, fd, FIONREAD, NULL), -EFAULT);
	assert_int_equal(sock_ioctl(f->s, fd, 0x1234, &v), -ENOTTY);
	assert_int_equal(sock_ioctl(f->s, 77, FIONREAD, &v), -EBADF);
	assert_int_equal(sock_ioctl(f->s, kq, FIONREAD, &v), -ENOTTY);
	assert_int_equal(sock_ioctl(f->s, kq, FIONBIO, &v), 0);
}

/* STK-5 */
static void
interface_requests(void **state)
{
	struct fx *f = *state;
	struct ifreq r, list[2];
	struct ifconf c = { .ifc_len = 0 };

	sock(f, AF_INET);
	assert_int_equal(ifr(f, SIOCGIFADDR, &r), 0);
	assert_int_equal(addr_of(&r), fx_ip4("10.0.0.1"));
	assert_int_equal(ifr(f, SIOCGIFNETMASK, &r), 0);
	assert_int_equal(addr_of(&r), fx_ip4("255.255.255.0"));
	assert_int_equal(ifr(f, SIOCGIFBRDADDR, &r), 0);
	assert_int_equal(addr_of(&r), fx_ip4("10.0.0.255"));
	assert_int_equal(ifr(f, SIOCGIFMTU, &r), 0);
	assert_int_equal(r.ifr_mtu, 1500);
	assert_int_equal(ifr(f, SIOCGIFINDEX, &r), 0);
	assert_int_equal(r.ifr_ifindex, 1);
	assert_int_equal(ifr(f, SIOCGIFHWADDR, &r), 0);
	assert_int_equal(r.ifr_hwaddr.sa_family, ARPHRD_ETHER);
	assert_memory_equal(r.ifr_hwaddr.sa_data, FX_MAC, 6);
	f->nif->flags |= NETIF_PROMISC;
	assert_int_equal(ifr(f, SIOCGIFFLAGS, &r), 0);
	assert_int_equal(r.ifr_flags, IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST | IFF_PROMISC);
	memset(r.ifr_name, 'x', sizeof(r.ifr_name)); /* no end */
	assert_int_equal(sock_ioctl(f->s, 0, SIOCGIFMTU, &r), -ENODEV);
	strcpy(r.ifr_name, "eth9");
	assert_int_equal(sock_ioctl(f->s, 0, SIOCGIFMTU, &r), -ENODEV);
	/* the list; room for none, for one, the size alone */
	assert_int_equal(sock_ioctl(f->s, 0, SIOCGIFCONF, &c), 0);
	assert_int_equal(c.ifc_len, sizeof(r));
	c.ifc_req = list;
	c.ifc_len = sizeof(list);
	assert_int_equal(sock_ioctl(f->s, 0, SIOCGIFCONF, &c), 0);
	assert_int_equal(c.ifc_len, sizeof(r));
	assert_string_equal(list[0].ifr_name, "f-stack-0");
	c.ifc_len = 10;
	assert_int_equal(sock_ioctl(f->s, 0, SIOCGIFCONF, &c), 0);
	assert_int_equal(c.ifc_len, 0);
	c.ifc_len = -1;
	assert_int_equal(sock_ioctl(f->s, 0, SIOCGIFCONF, &c), -EINVAL);
}

/* STK-5 */
static void
interface_changes(void **state)
{
	struct fx *f = *state;
	struct ifreq r;

	sock(f, AF_INET);
	addr_set(&r, "10.0.0.1");
	assert_int_equal(ifr(f, SIOCSIFADDR, &r), 0); /* as it is */
	addr_set(&r, "10.0.0.5");
	assert_int_equal(ifr(f, SIOCSIFADDR, &r), 0);
	assert_true(stack_owns4(f->s, fx_ip4("10.0.0.5")));
	assert_false(stack_owns4(f->s, fx_ip4("10.0.0.1")));
	addr_set(&r, "224.0.0.1");
	assert_true(ifr(f, SIOCSIFADDR, &r) < 0);
	assert_true(stack_owns4(f->s, fx_ip4("10.0.0.5"))); /* as it was */
	addr_set(&r, "255.255.0.0");
	assert_int_equal(ifr(f, SIOCSIFNETMASK, &r), 0);
	assert_int_equal(f->nif->addr4[0].prefix_len, 16);
	addr_set(&r, "255.0.255.0");
	assert_int_equal(ifr(f, SIOCSIFNETMASK, &r), -EINVAL);
	r.ifr_addr.sa_family = AF_INET6;
	assert_int_equal(ifr(f, SIOCSIFNETMASK, &r), -EAFNOSUPPORT);
	assert_int_equal(ifr(f, SIOCSIFADDR, &r), -EAFNOSUPPORT);
	assert_int_equal(stack_addr4_del(f->s, f->nif, fx_ip4("10.0.0.5")), 0);
	assert_int_equal(ifr(f, SIOCGIFADDR, &r), -EADDRNOTAVAIL);
	addr_set(&r, "255.255.0.0");
	assert_int_equal(ifr(f, SIOCSIFNETMASK, &r), -EADDRNOTAVAIL);
	addr_set(&r, "172.16.0.1"); /* no mask known: its class of old */
	assert_int_equal(ifr(f, SIOCSIFADDR, &r), 0);
	assert_int_equal(f->nif->addr4[0].prefix_len, 16);
	fx_tx_clear(f);
}

static int
mtu_refuse(void *ctx, struct netif *nif, uint16_t mtu)
{
	(void)nif;
	*(int *)ctx = mtu;
	return mtu > 4000 ? -EINVAL : 0;
}

/* MTU-4, MTU-6 */
static void
mtu_asks_who_owns_the_port_first(void **state)
{
	struct fx *f = *state;
	int seen = 0;
	struct sock_if_hook h = { mtu_refuse, &seen };
	struct ifreq r;

	sock(f, AF_INET);
	r.ifr_mtu = 1400;
	assert_int_equal(ifr(f, SIOCSIFMTU, &r), 0);
	assert_int_equal(f->nif->mtu, 1400);
	sock_if_hook_set(f->s, &h);
	r.ifr_mtu = 9000;
	assert_int_equal(ifr(f, SIOCSIFMTU, &r), -EINVAL);
	assert_int_equal(seen, 9000);
	assert_int_equal(f->nif->mtu, 1400);
	r.ifr_mtu = 4000;
	assert_int_equal(ifr(f, SIOCSIFMTU, &r), 0);
	assert_int_equal(f->nif->mtu, 4000);
	seen = 0;
	r.ifr_mtu = 67;
	assert_int_equal(ifr(f, SIOCSIFMTU, &r), -EINVAL);
	r.ifr_mtu = 65536;
	assert_int_equal(ifr(f, SIOCSIFMTU, &r), -EINVAL);
	assert_int_equal(seen, 0);
	sock_if_hook_set(f->s, NULL);
}

/* STK-5 */
static void
sysctl_nodes(void **state)
{
	struct fx *f = *state;
	static const char *const names[] = { "net.inet.ip.portrange.first", "net.inet.ip.portrange.last",
		"net.inet.udp.recvspace", "kern.ipc.maxsockbuf", "kern.maxfiles" };
	int name2oid[2] = { 0, 3 }, oid[2], v, i;
	size_t n;

	for (i = 0; i < 5; i++) {
		n = sizeof(oid);
		assert_int_equal(sock_sysctl(f->s, name2oid, 2, oid, &n, names[i], strlen(names[i])), 0);
		assert_int_equal(n, sizeof(oid));
		n = 0;
		assert_int_equal(sock_sysctl(f->s, oid, 2, NULL, &n, NULL, 0), 0);
		assert_int_equal(n, sizeof(v));
		assert_int_equal(sock_sysctl(f->s, oid, 2, &v, &n, NULL, 0), 0);
		assert_true(v > 0);
		assert_int_equal(sock_sysctl(f->s, oid, 2, NULL, NULL, &v, sizeof(v)), i < 4 ? 0 : -EPERM);
		n = 3;
		assert_int_equal(sock_sysctl(f->s, oid, 2, &v, &n, NULL, 0), -ENOMEM);
		assert_int_equal(sock_sysctl(f->s, oid, 2, &v, NULL, NULL, 0), -EFAULT);
		assert_int_equal(sock_sysctl(f->s, oid, 2, NULL, NULL, &v, 2), -EINVAL);
		v = -1;
		if (i < 4)
			assert_int_equal(sock_sysctl(f->s, oid, 2, NULL, NULL, &v, sizeof(v)), -EINVAL);
	}
	assert_int_equal(sock_sysctl(f->s, NULL, 2, NULL, NULL, NULL, 0), -EFAULT);
	assert_int_equal(sock_sysctl(f->s, oid, 3, NULL, NULL, NULL, 0), -ENOENT);
	assert_int_equal(sock_sysctl(f->s, (int[]){ 4, 999 }, 2, NULL, NULL, NULL, 0), -ENOENT);
	assert_int_equal(sock_sysctl(f->s, (int[]){ 9, 256 }, 2, NULL, NULL, NULL, 0), -ENOENT);
	assert_int_equal(sock_sysctl(f->s, name2oid, 2, oid, &n, "no.such", 7), -ENOENT);
	assert_int_equal(sock_sysctl(f->s, name2oid, 2, oid, &n, NULL, 7), -EFAULT);
	assert_int_equal(sock_sysctl(f->s, name2oid, 2, oid, &n, names[0], 65), -ENAMETOOLONG);
	assert_int_equal(sock_sysctl_set(f->s, "net.inet.ip.portrange.first", 70000), -EINVAL);
	assert_int_equal(sock_sysctl_set(f->s, "net.inet.ip.portrange.last", 20000), 0);
	assert_int_equal(sock_sysctl_set(f->s, "net.inet.udp.recvspace", 100000), 0);
	assert_int_equal(sock_sysctl_set(f->s, "kern.hz", 100), -ENOENT);
	i = sock(f, AF_INET);
	n = 4;
	assert_int_equal(sock_getsockopt(f->s, i, SOL_SOCKET, SO_RCVBUF, &v, (socklen_t *)&n), 0);
	assert_int_equal(v, 100000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(descriptor_requests), T(interface_requests), T(interface_changes), T(mtu_asks_who_owns_the_port_first),
		T(sysctl_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

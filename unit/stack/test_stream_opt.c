/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of streams with Linux's numbers, ranges and layouts; TCP's sysctl nodes. */
#include <linux/tcp.h>
#define TCP_CA_CWR OUR_TCP_CA_CWR /* both headers have one */
#include "stream_world.h"

static int
set(struct fx *f, int fd, int level, int name, int v)
{
	return sock_setsockopt(f->s, fd, level, name, &v, sizeof(v));
}

static int
opt(struct fx *f, int fd, int level, int name)
{
	int v = -12345;
	socklen_t n = sizeof(v);
	int err = sock_getsockopt(f->s, fd, level, name, &v, &n);

	return err == 0 ? v : err;
}

/* STK-5 */
static void
ints_of_every_level(void **state)
{
	struct fx *f = *state;
	static const struct {
		int level, name, set, want;
	} t[] = {
		{ SOL_SOCKET, SO_REUSEADDR, 5, 1 },
		{ SOL_SOCKET, SO_REUSEPORT, 5, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 5, 1 },
		{ SOL_SOCKET, SO_DONTROUTE, 5, 1 },
		{ SOL_SOCKET, SO_BROADCAST, 5, 1 },
		{ SOL_SOCKET, SO_OOBINLINE, 5, 1 },
		{ SOL_SOCKET, SO_DEBUG, 5, 1 },
		{ SOL_SOCKET, SO_SNDBUF, 20000, 40000 }, /* doubled, as on Linux */
		{ SOL_SOCKET, SO_RCVBUF, 30000, 60000 },
		{ SOL_SOCKET, SO_SNDBUF, 1, SOCK_BUF_MIN },
		{ SOL_SOCKET, SO_RCVLOWAT, 0, 1 },
		{ SOL_SOCKET, SO_RCVLOWAT, 100, 100 },
		{ SOL_SOCKET, SO_SNDLOWAT, 200, 200 },
		{ IPPROTO_TCP, TCP_NODELAY, 5, 1 },
		{ IPPROTO_TCP, TCP_CORK, 5, 1 },
		{ IPPROTO_TCP, TCP_CORK, 0, 0 },
		{ IPPROTO_TCP, TCP_MAXSEG, 1000, 1000 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 32767, 32767 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 7, 7 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 127, 127 },
		{ IPPROTO_TCP, TCP_SYNCNT, 3, 3 },
		{ IPPROTO_TCP, TCP_LINGER2, 30, 30 },
		{ IPPROTO_TCP, TCP_LINGER2, 500, 120 },
		{ IPPROTO_TCP, TCP_LINGER2, -1, -1 },
		{ IPPROTO_TCP, TCP_LINGER2, 0, 60 }, /* the default */
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 12345, 12345 },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 16384, 16384 },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, -1, -1 }, /* all 32 bits: no limit */
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0, 0 },
		{ IPPROTO_TCP, TCP_QUICKACK, 9, 1 },
		{ IPPROTO_IP, IP_TOS, 0xff, 0xfc }, /* without the bits that are ECN's */
		{ IPPROTO_IP, IP_TTL, 9, 9 },
		{ IPPROTO_IP, IP_TTL, -1, 64 },
		{ IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_PMTUDISC_DO },
		{ IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 4, 1 },
		{ IPPROTO_IPV6, IPV6_V6ONLY, 4, 1 },
		{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, 33, 33 },
		{ IPPROTO_IPV6, IPV6_TCLASS, 0x47, 0x44 },
		{ IPPROTO_IPV6, IPV6_TCLASS, -1, 0 },
		{ IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DONT, IP_PMTUDISC_DONT },
	};
	int fd = stream(f, AF_INET6);

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(set(f, fd, t[i].level, t[i].name, t[i].set), 0);
		assert_int_equal(opt(f, fd, t[i].level, t[i].name), t[i].want);
	}
	assert_int_equal(set(f, fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 10), 0);
	assert_int_equal(opt(f, fd, IPPROTO_TCP, TCP_DEFER_ACCEPT), 10);
	assert_int_equal(set(f, fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, INT_MAX), 0);
	assert_int_equal(set(f, fd, SOL_SOCKET, SO_RCVLOWAT, -1), 0);
	assert_int_equal(opt(f, fd, SOL_SOCKET, SO_RCVLOWAT), 1 << 30);
	assert_int_equal(set(f, fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, -1), 0);
	assert_int_equal(opt(f, fd, IPPROTO_TCP, TCP_DEFER_ACCEPT), 0);
}

/* STK-5 */
static void
ranges_and_unknown_options(void **state)
{
	struct fx *f = *state;
	static const struct {
		int level, name, set, err;
	} t[] = {
		{ IPPROTO_TCP, TCP_MAXSEG, 87, EINVAL },
		{ IPPROTO_TCP, TCP_MAXSEG, 32768, EINVAL },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 0, EINVAL },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 32768, EINVAL },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 0, EINVAL },
		{ IPPROTO_TCP, TCP_KEEPCNT, 128, EINVAL },
		{ IPPROTO_TCP, TCP_SYNCNT, 128, EINVAL },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, -1, EINVAL },
		{ IPPROTO_TCP, 99, 1, ENOPROTOOPT },
		{ IPPROTO_TCP, TCP_MD5SIG, 1, ENOPROTOOPT },
		{ SOL_SOCKET, SO_TYPE, 1, ENOPROTOOPT },
		{ SOL_SOCKET, SO_ERROR, 1, ENOPROTOOPT },
		{ SOL_SOCKET, SO_ACCEPTCONN, 1, ENOPROTOOPT },
		{ SOL_SOCKET, 9999, 1, ENOPROTOOPT },
		{ IPPROTO_IP, IP_TTL, 0, EINVAL },
		{ IPPROTO_IP, IP_TTL, 256, EINVAL },
		{ IPPROTO_IP, IP_MTU_DISCOVER, 9, EINVAL },
		{ IPPROTO_IP, IP_MULTICAST_TTL, 1, ENOPROTOOPT },
		{ IPPROTO_IPV6, IPV6_TCLASS, 256, EINVAL },
		{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, 256, EINVAL },
		{ IPPROTO_IPV6, IPV6_MTU_DISCOVER, 9, EINVAL },
		{ IPPROTO_IPV6, 9999, 1, ENOPROTOOPT },
		{ IPPROTO_UDP, 1, 1, ENOPROTOOPT },
	};
	int fd = stream(f, AF_INET6), four = stream(f, AF_INET), v = 1;
	socklen_t n = sizeof(v);

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(set(f, fd, t[i].level, t[i].name, t[i].set), -t[i].err);
		if (t[i].err == ENOPROTOOPT && t[i].level != SOL_SOCKET)
			assert_int_equal(opt(f, fd, t[i].level, t[i].name), -ENOPROTOOPT);
	}
	assert_int_equal(opt(f, fd, SOL_SOCKET, 9999), -ENOPROTOOPT);
	assert_int_equal(set(f, four, IPPROTO_IPV6, IPV6_V6ONLY, 1), -ENOPROTOOPT);
	assert_int_equal(opt(f, four, IPPROTO_IPV6, IPV6_V6ONLY), -ENOPROTOOPT);
	assert_int_equal(opt(f, four, IPPROTO_IP, IP_MTU), -ENOTCONN);
	assert_int_equal(opt(f, fd, IPPROTO_IPV6, IPV6_MTU), -ENOTCONN);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_NODELAY, &v, 3), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_NODELAY, NULL, 4), -EFAULT);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &v, 4), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, NULL, 8), -EFAULT);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_KEEPALIVE, &v, 1), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IP, IP_TOS, &v, 0), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_IPV6, IPV6_TCLASS, &v, 0), -EINVAL);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_TCP, TCP_NODELAY, NULL, &n), -EFAULT);
	n = (socklen_t)-1;
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_TCP, TCP_NODELAY, &v, &n), -EINVAL);
}

/* STK-5 */
static void
facts_times_and_lingering(void **state)
{
	struct fx *f = *state;
	struct linger l = { 1, 7 }, l2;
	struct timeval tv = { 3, 4 }, tv2;
	int fd = stream(f, AF_INET), lst = listener(f, 80);
	socklen_t n = sizeof(l2);

	assert_int_equal(opt(f, fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	assert_int_equal(opt(f, fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
	assert_int_equal(opt(f, fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
	assert_int_equal(opt(f, stream(f, AF_INET6), SOL_SOCKET, SO_DOMAIN), AF_INET6);
	assert_int_equal(opt(f, fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
	assert_int_equal(opt(f, lst, SOL_SOCKET, SO_ACCEPTCONN), 1);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &l2, &n), 0);
	assert_memory_equal(&l, &l2, sizeof(l));
	for (int name = SO_RCVTIMEO; name <= SO_SNDTIMEO; name++) {
		n = sizeof(tv2);
		assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, name, &tv, sizeof(tv)), 0);
		assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, name, &tv2, &n), 0);
		assert_memory_equal(&tv, &tv2, sizeof(tv));
	}
	n = 2; /* no more than there is room for */
	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &l2, &n), 0);
	assert_int_equal(n, 2);
}

/* STK-5 */
static void
congestion_control_by_name(void **state)
{
	struct fx *f = *state;
	char b[16];
	socklen_t n = sizeof(b);
	int fd = stream(f, AF_INET);

	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, b, &n), 0);
	assert_int_equal(n, 16);
	assert_string_equal(b, "cubic");
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4), 0);
	n = sizeof(b);
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, b, &n), 0);
	assert_string_equal(b, "newreno");
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 6), 0);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, "vegas", 5), -ENOENT);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, "cubiccubiccubiccubic", 20), -ENOENT);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, "", 0), -EINVAL);
	assert_int_equal(sock_setsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, NULL, 5), -EFAULT);
	n = 3;
	assert_int_equal(sock_getsockopt(f->s, fd, IPPROTO_TCP, TCP_CONGESTION, b, &n), 0);
	assert_int_equal(n, 3);
}

/* STK-5: struct tcp_info as <linux/tcp.h> has it */
static void
tcp_info_has_linux_layout_and_numbers(void **state)
{
	struct fx *f = *state;
	struct tcp_info i;
	socklen_t n = sizeof(i);
	int lst = listener(f, 80), fd[2], c;
	const struct { int state, fd; } none[] = { { 10, lst }, { 7, stream(f, AF_INET) } };

	for (int k = 0; k < 2; k++) {
		n = sizeof(i);
		assert_int_equal(sock_getsockopt(f->s, none[k].fd, IPPROTO_TCP, TCP_INFO, &i, &n), 0);
		assert_int_equal(i.tcpi_state, none[k].state);
	}
	connected(f, lst, 80, fd);
	assert_int_equal(put(f, fd[0], "0123456789"), 10);
	settle_long(f);
	n = sizeof(i);
	memset(&i, 0x5a, sizeof(i));
	assert_int_equal(sock_getsockopt(f->s, fd[0], IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(n, 232);
	assert_int_equal(i.tcpi_state, 1);
	assert_int_equal(i.tcpi_options & (TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE),
		TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE);
	assert_in_range(i.tcpi_snd_mss, 65000, 65535); /* to ourselves */
	assert_in_range(i.tcpi_snd_cwnd, 1, 100); /* segments */
	assert_in_range(i.tcpi_rto, 1000, 3000000);
	assert_int_equal(i.tcpi_pmtu, 65535);
	assert_int_equal(i.tcpi_bytes_acked, 10);
	assert_int_equal(i.tcpi_unacked, 0);
	assert_int_equal(i.tcpi_total_retrans, 0);
	assert_in_range(i.tcpi_segs_out, 2, 10);
	assert_true(i.tcpi_snd_wnd > 1000);
	assert_int_equal(opt(f, fd[0], IPPROTO_IP, IP_MTU), 65535);
	n = sizeof(i);
	assert_int_equal(sock_getsockopt(f->s, fd[1], IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(i.tcpi_bytes_received, 10);
	n = 1;
	assert_int_equal(sock_getsockopt(f->s, fd[1], IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(n, 1);
	/* states by Linux's numbers */
	c = stream(f, AF_INET);
	assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
	assert_int_equal(sock_getsockopt(f->s, c, IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(i.tcpi_state, 2);
	settle(f);
	n = sizeof(i);
	assert_int_equal(sock_getsockopt(f->s, lst, IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(i.tcpi_unacked, 1); /* one waits to be accepted */
	sock_shutdown(f->s, fd[0], SHUT_WR);
	settle(f);
	n = 1;
	assert_int_equal(sock_getsockopt(f->s, fd[0], IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(i.tcpi_state, 5);
	assert_int_equal(sock_getsockopt(f->s, fd[1], IPPROTO_TCP, TCP_INFO, &i, &n), 0);
	assert_int_equal(i.tcpi_state, 8);
}

/* STK-5 */
static void
accepted_connections_have_their_listeners_options(void **state)
{
	struct fx *f = *state;
	struct linger l = { 1, 3 }, l2;
	int lst = listener(f, 80), fd[2];
	socklen_t n = sizeof(l2);

	assert_int_equal(set(f, lst, SOL_SOCKET, SO_KEEPALIVE, 1), 0);
	assert_int_equal(set(f, lst, IPPROTO_TCP, TCP_NODELAY, 1), 0);
	assert_int_equal(set(f, lst, IPPROTO_TCP, TCP_KEEPIDLE, 77), 0);
	assert_int_equal(set(f, lst, IPPROTO_IP, IP_TTL, 7), 0);
	assert_int_equal(set(f, lst, IPPROTO_IP, IP_TOS, 8), 0);
	assert_int_equal(sock_setsockopt(f->s, lst, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	connected(f, lst, 80, fd);
	assert_int_equal(opt(f, fd[1], SOL_SOCKET, SO_KEEPALIVE), 1);
	assert_int_equal(opt(f, fd[1], SOL_SOCKET, SO_ACCEPTCONN), 0);
	assert_int_equal(opt(f, fd[1], IPPROTO_TCP, TCP_NODELAY), 1);
	assert_int_equal(opt(f, fd[1], IPPROTO_TCP, TCP_KEEPIDLE), 77);
	assert_int_equal(opt(f, fd[1], IPPROTO_IP, IP_TTL), 7);
	assert_int_equal(opt(f, fd[1], IPPROTO_IP, IP_TOS), 8);
	assert_int_equal(sock_getsockopt(f->s, fd[1], SOL_SOCKET, SO_LINGER, &l2, &n), 0);
	assert_int_equal(l2.l_linger, 3);
}

/* By name to number, then the value. */
static int
node(struct fx *f, const char *name, int oid[2])
{
	size_t n = 2 * sizeof(oid[0]);

	return sock_sysctl(f->s, (int[]){ 0, 3 }, 2, oid, &n, name, strlen(name));
}

static int
node_value(struct fx *f, const char *name)
{
	int oid[2], v;
	size_t n = sizeof(v);

	assert_int_equal(node(f, name, oid), 0);
	assert_int_equal(sock_sysctl(f->s, oid, 2, &v, &n, NULL, 0), 0);
	return v;
}

/* STK-5 */
static void
sysctl_nodes_of_tcp(void **state)
{
	struct fx *f = *state;
	static const struct {
		const char *name;
		long v;
		int want;
	} t[] = {
		{ "net.inet.tcp.sendspace", 16384, 16384 },
		{ "net.inet.tcp.recvspace", 8192, 8192 },
		{ "net.inet.tcp.sendbuf_max", 16777216, 16777216 },
		{ "net.inet.tcp.recvbuf_max", 16777216, 16777216 },
		{ "net.inet.tcp.sendbuf_auto", 0, 0 },
		{ "net.inet.tcp.recvbuf_auto", 0, 0 },
		{ "net.inet.tcp.sack.enable", 0, 0 },
		{ "net.inet.tcp.rfc1323", 0, 0 },
		{ "net.inet.tcp.rfc1323", 2, 2 },
		{ "net.inet.tcp.rfc1323", 3, 3 },
		{ "net.inet.tcp.rfc1323", 1, 1 },
		{ "net.inet.tcp.ecn.enable", 1, 1 },
		{ "net.inet.tcp.initcwnd_segments", 4, 4 },
		{ "net.inet.tcp.delacktime", 100, 100 },
		{ "net.inet.tcp.delayed_ack", 0, 0 },
		{ "net.inet.tcp.delayed_ack", 0, 0 },
		{ "net.inet.tcp.delayed_ack", 1, 1 },
		{ "net.inet.tcp.msl", 2000, 2000 },
		{ "net.inet.tcp.rexmit_min", 200, 200 },
		{ "net.inet.tcp.rexmit_initial", 2000, 2000 },
		{ "net.inet.tcp.keepidle", 60000, 60000 },
		{ "net.inet.tcp.keepintvl", 5000, 5000 },
		{ "net.inet.tcp.keepcnt", 4, 4 },
		{ "net.inet.tcp.always_keepalive", 1, 1 },
		{ "net.inet.tcp.syncookies", 0, 0 },
		{ "net.inet.tcp.syncookies_only", 1, 1 },
		{ "net.inet.tcp.syncookies_only", 0, 0 },
		{ "net.inet.tcp.syncookies", 1, 1 },
		{ "net.inet.tcp.syncache.cachelimit", 1000, 1000 },
		{ "net.inet.tcp.blackhole", 2, 1 },
		{ "net.inet.tcp.finwait2_timeout", 10000, 10000 },
		{ "net.inet.tcp.maxtcptw", 1000, 1000 },
		{ "kern.ipc.somaxconn", 32768, TCP_BACKLOG_MAX }, /* F-Stack's stock value: taken, cut */
		{ "kern.ipc.soacceptqueue", 100, 100 },
		{ "kern.ipc.maxsockbuf", 16777216, 16777216 },
	};
	static const struct {
		const char *name;
		long v;
	} bad[] = {
		{ "net.inet.tcp.rfc1323", 4 }, { "net.inet.tcp.delayed_ack", 2 }, { "net.inet.tcp.blackhole", 4 },
		{ "net.inet.tcp.syncookies", 2 }, { "net.inet.tcp.syncookies_only", -1 }, { "kern.ipc.somaxconn", 0 },
		{ "kern.ipc.somaxconn", 65536 }, { "kern.ipc.maxsockbuf", 100 }, { "net.inet.tcp.keepcnt", -1 },
		{ "net.inet.tcp.cc.algorithm", 1 }, { "net.inet.tcp.sendspace", -5 },
	};

	assert_int_equal(node_value(f, "net.inet.tcp.rfc1323"), 1);
	assert_int_equal(node_value(f, "net.inet.tcp.syncookies"), 1);
	assert_int_equal(node_value(f, "net.inet.tcp.delayed_ack"), 1);
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(sock_sysctl_set(f->s, t[i].name, t[i].v), 0);
		assert_int_equal(node_value(f, t[i].name), t[i].want);
	}
	assert_int_equal(node_value(f, "net.inet.tcp.delacktime"), 100); /* came back */
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(sock_sysctl_set(f->s, bad[i].name, bad[i].v), -EINVAL);
	assert_int_equal(set(f, stream(f, AF_INET), SOL_SOCKET, SO_SNDBUF, 100000000), 0);
	assert_int_equal(sock_sysctl_set(f->s, "kern.maxfiles", 1), -EPERM);
}

/* STK-5 */
static void
sysctl_text(void **state)
{
	struct fx *f = *state;
	int oid[2];
	char b[16];
	size_t n = sizeof(b);

	assert_int_equal(node(f, "net.inet.tcp.cc.algorithm", oid), 0);
	assert_int_equal(sock_sysctl(f->s, oid, 2, b, &n, "newreno", 7), 0);
	assert_string_equal(b, "cubic");
	assert_int_equal(n, 6);
	assert_int_equal(sock_sysctl(f->s, oid, 2, b, &n, NULL, 0), -ENOMEM);
	n = sizeof(b);
	assert_int_equal(sock_sysctl(f->s, oid, 2, b, &n, "vegas", 6), -ESRCH);
	assert_string_equal(b, "newreno");
	assert_int_equal(sock_sysctl_set_text(f->s, "net.inet.tcp.cc.algorithm", "cubic"), 0);
	assert_int_equal(sock_sysctl_set_text(f->s, "net.inet.tcp.cc.algorithm", "x"), -ESRCH);
	assert_int_equal(sock_sysctl_set_text(f->s, "net.inet.tcp.msl", "0x100"), 0);
	assert_int_equal(node_value(f, "net.inet.tcp.msl"), 256);
	assert_int_equal(sock_sysctl_set_text(f->s, "net.inet.tcp.msl", "1x"), -EINVAL);
	assert_int_equal(sock_sysctl_set_text(f->s, "net.inet.tcp.msl", ""), -EINVAL);
	assert_int_equal(sock_sysctl_set_text(f->s, "net.inet.tcp.nothing", "1"), -ENOENT);
}

/* STK-5, CFG-1: F-Stack's stock [freebsd.sysctl]: what means something here is taken, the rest is unknown, nothing is refused */
static void
stock_keys_apply(void **state)
{
	struct fx *f = *state;
	static const struct {
		const char *key, *value;
		int want;
	} t[] = {
		{ "kern.ipc.somaxconn", "32768", 0 },
		{ "kern.ipc.maxsockbuf", "16777216", 0 },
		{ "net.inet.tcp.sendspace", "16384", 0 },
		{ "net.inet.tcp.recvspace", "8192", 0 },
		{ "net.inet.tcp.cc.algorithm", "cubic", 0 },
		{ "net.inet.tcp.sendbuf_max", "16777216", 0 },
		{ "net.inet.tcp.recvbuf_max", "16777216", 0 },
		{ "net.inet.tcp.sendbuf_auto", "1", 0 },
		{ "net.inet.tcp.recvbuf_auto", "1", 0 },
		{ "net.inet.tcp.sack.enable", "1", 0 },
		{ "net.inet.tcp.blackhole", "1", 0 },
		{ "net.inet.tcp.msl", "2000", 0 },
		{ "net.inet.tcp.delayed_ack", "1", 0 },
		{ "net.inet.tcp.rfc1323", "1", 0 },
		{ "net.inet.tcp.sendbuf_inc", "16384", -ENOENT },
		{ "net.inet.tcp.fast_finwait2_recycle", "1", -ENOENT },
		{ "net.link.ether.inet.maxhold", "5", -ENOENT },
		{ "net.inet.udp.blackhole", "1", -ENOENT },
		{ "net.inet.ip.forwarding", "0", -ENOENT },
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(sock_sysctl_set_text(f->s, t[i].key, t[i].value), t[i].want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(ints_of_every_level),
		T(ranges_and_unknown_options),
		T(facts_times_and_lingering),
		T(congestion_control_by_name),
		T(tcp_info_has_linux_layout_and_numbers),
		T(accepted_connections_have_their_listeners_options),
		T(sysctl_nodes_of_tcp),
		T(sysctl_text),
		T(stock_keys_apply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

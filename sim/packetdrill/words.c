/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of scripts and their numbers. The stack's calls take Linux's numbers, so both dialects' names mean those. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "run_priv.h"

#define W(x) { #x, x }

static const struct word {
	const char *name;
	int64_t value;
} words[] = {
	W(AF_UNSPEC), W(AF_INET), W(AF_INET6), W(PF_INET), W(PF_INET6), W(SOCK_STREAM), W(SOCK_DGRAM), W(SOCK_NONBLOCK), W(SOCK_CLOEXEC),
	W(IPPROTO_IP), W(IPPROTO_IPV6), W(IPPROTO_TCP), W(IPPROTO_UDP), W(IPPROTO_ICMP), W(IPPROTO_ICMPV6),
	W(SOL_SOCKET), { "SOL_IP", IPPROTO_IP }, { "SOL_IPV6", IPPROTO_IPV6 }, { "SOL_TCP", IPPROTO_TCP }, { "SOL_UDP", IPPROTO_UDP },
	W(SO_REUSEADDR), W(SO_REUSEPORT), W(SO_TYPE), W(SO_ERROR), W(SO_BROADCAST), W(SO_SNDBUF), W(SO_RCVBUF), W(SO_SNDBUFFORCE),
	W(SO_RCVBUFFORCE), W(SO_KEEPALIVE), W(SO_LINGER), W(SO_RCVLOWAT), W(SO_SNDLOWAT), W(SO_RCVTIMEO), W(SO_SNDTIMEO), W(SO_ACCEPTCONN),
	W(SO_PROTOCOL), W(SO_DOMAIN), W(SO_OOBINLINE), W(SO_TIMESTAMP), W(SO_MARK), W(SO_PRIORITY), W(SO_INCOMING_CPU),
	{ "SO_ZEROCOPY", 60 }, { "SO_TIMESTAMPING", 37 }, { "SO_MAX_PACING_RATE", 47 },
	W(TCP_NODELAY), W(TCP_MAXSEG), W(TCP_CORK), { "TCP_NOPUSH", TCP_CORK }, W(TCP_KEEPIDLE), W(TCP_KEEPINTVL), W(TCP_KEEPCNT),
	W(TCP_SYNCNT), W(TCP_LINGER2), W(TCP_DEFER_ACCEPT), W(TCP_WINDOW_CLAMP), W(TCP_INFO), W(TCP_QUICKACK), W(TCP_CONGESTION),
	W(TCP_MD5SIG), W(TCP_USER_TIMEOUT), W(TCP_FASTOPEN), W(TCP_TIMESTAMP), W(TCP_NOTSENT_LOWAT), { "TCP_INQ", 36 },
	{ "TCP_CM_INQ", 36 }, { "TCP_FASTOPEN_CONNECT", 30 }, { "TCP_TX_DELAY", 37 }, { "TCP_SAVE_SYN", 27 }, { "TCP_FASTOPEN_NO_COOKIE", 34 },
	W(IP_TOS), W(IP_TTL), W(IP_RECVERR), W(IP_PKTINFO), W(IP_RECVTOS), W(IP_RECVTTL), W(IP_MTU_DISCOVER), W(IP_MTU),
	W(IP_PMTUDISC_DONT), W(IP_PMTUDISC_WANT), W(IP_PMTUDISC_DO), W(IP_PMTUDISC_PROBE),
	W(IPV6_TCLASS), W(IPV6_UNICAST_HOPS), W(IPV6_V6ONLY), W(IPV6_RECVERR), W(IPV6_RECVTCLASS), W(IPV6_RECVPKTINFO), W(IPV6_PKTINFO),
	W(IPV6_HOPLIMIT), W(IPV6_RECVHOPLIMIT), W(IPV6_MTU), W(IPV6_MTU_DISCOVER), W(IPV6_DONTFRAG), W(UDP_CORK),
	W(MSG_PEEK), W(MSG_DONTWAIT), W(MSG_TRUNC), W(MSG_CTRUNC), W(MSG_WAITALL), W(MSG_OOB), W(MSG_EOR), W(MSG_MORE), W(MSG_NOSIGNAL),
	W(MSG_ERRQUEUE), W(MSG_FASTOPEN), W(MSG_ZEROCOPY), W(MSG_CONFIRM), W(MSG_DONTROUTE),
	W(O_RDONLY), W(O_WRONLY), W(O_RDWR), W(O_NONBLOCK), W(O_CLOEXEC), W(F_GETFL), W(F_SETFL), W(F_GETFD), W(F_SETFD), W(F_DUPFD),
	W(FD_CLOEXEC), W(SHUT_RD), W(SHUT_WR), W(SHUT_RDWR),
	W(FIONREAD), W(FIONBIO), { "SIOCINQ", FIONREAD }, { "SIOCOUTQ", 0x5411 }, { "FIONWRITE", 0x5411 }, { "SIOCOUTQNSD", 0x894b },
	W(POLLIN), W(POLLPRI), W(POLLOUT), W(POLLERR), W(POLLHUP), W(POLLNVAL), W(POLLRDNORM), W(POLLRDBAND), W(POLLWRNORM), W(POLLWRBAND),
	W(POLLRDHUP), W(EPOLLIN), W(EPOLLPRI), W(EPOLLOUT), W(EPOLLERR), W(EPOLLHUP), W(EPOLLRDNORM), W(EPOLLRDBAND), W(EPOLLWRNORM),
	W(EPOLLWRBAND), W(EPOLLMSG), W(EPOLLRDHUP), { "EPOLLET", 1u << 31 }, W(EPOLLONESHOT), W(EPOLL_CTL_ADD), W(EPOLL_CTL_MOD),
	W(EPOLL_CTL_DEL), W(EPOLL_CLOEXEC), W(INADDR_ANY), W(SCM_RIGHTS), { "SCM_TIMESTAMPING", 37 },
	W(TCP_ESTABLISHED), W(TCP_SYN_SENT), W(TCP_SYN_RECV), W(TCP_FIN_WAIT1), W(TCP_FIN_WAIT2), W(TCP_TIME_WAIT), W(TCP_CLOSE),
	W(TCP_CLOSE_WAIT), W(TCP_LAST_ACK), W(TCP_LISTEN), W(TCP_CLOSING), W(TCP_CA_Open), W(TCP_CA_Disorder), W(TCP_CA_CWR),
	W(TCP_CA_Recovery), W(TCP_CA_Loss), W(TCPI_OPT_TIMESTAMPS), W(TCPI_OPT_SACK), W(TCPI_OPT_WSCALE), W(TCPI_OPT_ECN), { "TCPI_OPT_ECN_SEEN", 16 },
	{ "TCPI_OPT_SYN_DATA", 32 }, { "NULL", 0 }, { "true", 1 }, { "false", 0 }, { "CMSG_LEVEL_IP", IPPROTO_IP }, { "CMSG_TYPE_RECVERR", IP_RECVERR },
};

bool
run_word(const char *word, int64_t *v)
{
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].name, word) == 0) {
			*v = words[i].value;
			return true;
		}
	*v = run_errno(word);
	return *v != 0;
}

int
run_errno(const char *word)
{
	if (strcmp(word, "EWOULDBLOCK") == 0)
		return EWOULDBLOCK;
	if (strcmp(word, "ENOTSUP") == 0)
		return EOPNOTSUPP;
	for (int e = 1; e < 134; e++) {
		const char *name = strerrorname_np(e);

		if (name != NULL && strcmp(name, word) == 0)
			return e;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The few sysctl nodes that mean something here, by FreeBSD's names and by numbers of our own. */
#include <errno.h>
#include <stdlib.h>

#include "socket_priv.h"

#define SYSCTL_NAME2OID 3
#define NODE_TOP 4          /* our numbers are {4, 256 + index}: FreeBSD's automatic ones begin at 256 */
#define NODE_FIRST 256
#define NODE_NAME_MAX 64
#define DELACK_MS 40        /* FreeBSD's net.inet.tcp.delacktime */
#define SOMAXCONN_MAX 65535 /* what FreeBSD takes; more than TCP_BACKLOG_MAX is cut to it */

enum node { PORT_FIRST, PORT_LAST, RECVSPACE, MAXSOCKBUF, MAXFILES, SOMAXCONN_NODE, SOACCEPTQUEUE, DELAYED_ACK, RFC1323,
	CC_ALGORITHM, BLACKHOLE, SYNCOOKIES, SYNCOOKIES_ONLY, SPECIAL_NODES };

static const char *const names[SPECIAL_NODES] = {
	[PORT_FIRST] = "net.inet.ip.portrange.first",
	[PORT_LAST] = "net.inet.ip.portrange.last",
	[RECVSPACE] = "net.inet.udp.recvspace",
	[MAXSOCKBUF] = "kern.ipc.maxsockbuf",
	[MAXFILES] = "kern.maxfiles",
	[SOMAXCONN_NODE] = "kern.ipc.somaxconn",
	[SOACCEPTQUEUE] = "kern.ipc.soacceptqueue",
	[DELAYED_ACK] = "net.inet.tcp.delayed_ack",
	[RFC1323] = "net.inet.tcp.rfc1323",
	[CC_ALGORITHM] = "net.inet.tcp.cc.algorithm",
	[BLACKHOLE] = "net.inet.tcp.blackhole",
	[SYNCOOKIES] = "net.inet.tcp.syncookies",
	[SYNCOOKIES_ONLY] = "net.inet.tcp.syncookies_only",
};

/* Nodes that are a knob of TCP as it is. */
static const struct {
	const char *name;
	enum tcp_knob knob;
} knobs[] = {
	{ "net.inet.tcp.sendspace", TCP_KNOB_SENDSPACE },
	{ "net.inet.tcp.recvspace", TCP_KNOB_RECVSPACE },
	{ "net.inet.tcp.sendbuf_max", TCP_KNOB_SENDBUF_MAX },
	{ "net.inet.tcp.recvbuf_max", TCP_KNOB_RECVBUF_MAX },
	{ "net.inet.tcp.sendbuf_auto", TCP_KNOB_SENDBUF_AUTO },
	{ "net.inet.tcp.recvbuf_auto", TCP_KNOB_RECVBUF_AUTO },
	{ "net.inet.tcp.sack.enable", TCP_KNOB_SACK },
	{ "net.inet.tcp.ecn.enable", TCP_KNOB_ECN },
	{ "net.inet.tcp.initcwnd_segments", TCP_KNOB_INITCWND },
	{ "net.inet.tcp.delacktime", TCP_KNOB_DELACK },
	{ "net.inet.tcp.msl", TCP_KNOB_MSL },
	{ "net.inet.tcp.rexmit_min", TCP_KNOB_RTO_MIN },
	{ "net.inet.tcp.rexmit_initial", TCP_KNOB_RTO_INITIAL },
	{ "net.inet.tcp.keepidle", TCP_KNOB_KEEPIDLE },
	{ "net.inet.tcp.keepintvl", TCP_KNOB_KEEPINTVL },
	{ "net.inet.tcp.keepcnt", TCP_KNOB_KEEPCNT },
	{ "net.inet.tcp.always_keepalive", TCP_KNOB_ALWAYS_KEEPALIVE },
	{ "net.inet.tcp.syncache.cachelimit", TCP_KNOB_SYNCACHE },
	{ "net.inet.tcp.finwait2_timeout", TCP_KNOB_FINWAIT2 },
	{ "net.inet.tcp.maxtcptw", TCP_KNOB_MAX_TIMEWAIT },
};
#define KNOBS ((int)(sizeof(knobs) / sizeof(knobs[0])))
#define NODES (SPECIAL_NODES + KNOBS)

static const char *
node_name(int node)
{
	return node < SPECIAL_NODES ? names[node] : knobs[node - SPECIAL_NODES].name;
}

static int
node_find(const char *name, size_t n)
{
	int i;

	for (i = 0; i < NODES; i++) {
		if (strlen(node_name(i)) == n && memcmp(node_name(i), name, n) == 0)
			return i;
	}
	return -ENOENT;
}

static int64_t
node_get(const struct stack *s, int node)
{
	uint16_t first, last;

	if (node >= SPECIAL_NODES)
		return tcp_knob_get(s, knobs[node - SPECIAL_NODES].knob);
	udp_port_range_get(s, &first, &last);
	switch (node) {
	case PORT_FIRST: return first;
	case PORT_LAST: return last;
	case RECVSPACE: return s->sockets->rcvbuf;
	case MAXSOCKBUF: return s->sockets->bufmax;
	case SOMAXCONN_NODE:
	case SOACCEPTQUEUE: return tcp_knob_get(s, TCP_KNOB_SOMAXCONN);
	case DELAYED_ACK: return tcp_knob_get(s, TCP_KNOB_DELACK) != 0;
	case RFC1323: /* FreeBSD: 1 both, 2 window scale alone, 3 timestamps alone */
		if (tcp_knob_get(s, TCP_KNOB_WSCALE) == 0)
			return tcp_knob_get(s, TCP_KNOB_TIMESTAMPS) != 0 ? 3 : 0;
		return tcp_knob_get(s, TCP_KNOB_TIMESTAMPS) != 0 ? 1 : 2;
	case BLACKHOLE: return tcp_knob_get(s, TCP_KNOB_BLACKHOLE);
	case SYNCOOKIES: return tcp_knob_get(s, TCP_KNOB_SYNCOOKIES) != 0;
	case SYNCOOKIES_ONLY: return tcp_knob_get(s, TCP_KNOB_SYNCOOKIES) == 2;
	}
	return s->sockets->max;
}

/* The time that was there comes back with 1. */
static int
delayed_ack_set(struct stack *s, bool on)
{
	int64_t now = tcp_knob_get(s, TCP_KNOB_DELACK);

	if (on == (now != 0))
		return 0;
	if (!on)
		s->sockets->delack_ms = (uint32_t)now;
	return tcp_knob_set(s, TCP_KNOB_DELACK, !on ? 0 : s->sockets->delack_ms != 0 ? s->sockets->delack_ms : DELACK_MS);
}

static int
tcp_node_set(struct stack *s, int node, int64_t v)
{
	int err;

	switch (node) {
	case SOMAXCONN_NODE:
	case SOACCEPTQUEUE:
		if (v < 1 || v > SOMAXCONN_MAX)
			return -EINVAL;
		return tcp_knob_set(s, TCP_KNOB_SOMAXCONN, v > TCP_BACKLOG_MAX ? TCP_BACKLOG_MAX : v);
	case DELAYED_ACK:
		return v < 0 || v > 1 ? -EINVAL : delayed_ack_set(s, v != 0);
	case RFC1323:
		if (v < 0 || v > 3)
			return -EINVAL;
		err = tcp_knob_set(s, TCP_KNOB_WSCALE, v == 1 || v == 2);
		return err != 0 ? err : tcp_knob_set(s, TCP_KNOB_TIMESTAMPS, v & 1);
	case BLACKHOLE: /* FreeBSD: 1 SYNs, 2 everything, 3 local sources too */
		return v < 0 || v > 3 ? -EINVAL : tcp_knob_set(s, TCP_KNOB_BLACKHOLE, v != 0);
	case SYNCOOKIES:
		return v < 0 || v > 1 ? -EINVAL : tcp_knob_set(s, TCP_KNOB_SYNCOOKIES, v);
	case SYNCOOKIES_ONLY:
		return v < 0 || v > 1 ? -EINVAL : tcp_knob_set(s, TCP_KNOB_SYNCOOKIES, v + 1);
	}
	return node == CC_ALGORITHM ? -EINVAL : -EPERM;
}

static int
node_set(struct stack *s, int node, int64_t v)
{
	uint16_t first, last;

	if (node >= SPECIAL_NODES)
		return tcp_knob_set(s, knobs[node - SPECIAL_NODES].knob, v);
	udp_port_range_get(s, &first, &last);
	switch (node) {
	case PORT_FIRST:
		return v < 1 || v > UINT16_MAX ? -EINVAL : udp_port_range_set(s, (uint16_t)v, last);
	case PORT_LAST:
		return v < 1 || v > UINT16_MAX ? -EINVAL : udp_port_range_set(s, first, (uint16_t)v);
	case RECVSPACE:
		if (v < SOCK_BUF_MIN || v > SOCK_BUF_MAX)
			return -EINVAL;
		s->sockets->rcvbuf = (uint32_t)v;
		return 0;
	case MAXSOCKBUF:
		if (v < SOCK_BUF_MIN || v > (int64_t)TCP_BUF_MAX)
			return -EINVAL;
		s->sockets->bufmax = (uint32_t)v;
		return 0;
	}
	return tcp_node_set(s, node, v);
}

static const char *
congestion_name(const struct stack *s)
{
	return tcp_knob_get(s, TCP_KNOB_CUBIC) != 0 ? "cubic" : "newreno";
}

static int
congestion_set(struct stack *s, const char *v, size_t n)
{
	if (n == 5 && memcmp(v, "cubic", n) == 0)
		return tcp_knob_set(s, TCP_KNOB_CUBIC, 1);
	if (n == 7 && memcmp(v, "newreno", n) == 0)
		return tcp_knob_set(s, TCP_KNOB_CUBIC, 0);
	return -ESRCH; /* FreeBSD's word for an algorithm that is not there */
}

int
sock_sysctl_set(struct stack *s, const char *name, long v)
{
	int node = node_find(name, strlen(name));

	return node < 0 ? node : node_set(s, node, v);
}

int
sock_sysctl_set_text(struct stack *s, const char *name, const char *text)
{
	int node = node_find(name, strlen(name));
	char *end;
	long v;

	if (node < 0)
		return node;
	if (node == CC_ALGORITHM)
		return congestion_set(s, text, strlen(text));
	v = strtol(text, &end, 0);
	return end == text || *end != '\0' ? -EINVAL : node_set(s, node, v);
}

/* Copies an old value out; oldp NULL asks for its size. */
static int
put_old(void *oldp, size_t *oldlenp, const void *v, size_t n)
{
	if (oldlenp == NULL)
		return oldp == NULL ? 0 : -EFAULT;
	if (oldp == NULL) {
		*oldlenp = n;
		return 0;
	}
	if (*oldlenp < n)
		return -ENOMEM;
	memcpy(oldp, v, n);
	*oldlenp = n;
	return 0;
}

static int
name_to_oid(void *oldp, size_t *oldlenp, const char *name, size_t n)
{
	int oid[2] = { NODE_TOP, NODE_FIRST }, node;

	if (name == NULL)
		return -EFAULT;
	if (n > NODE_NAME_MAX)
		return -ENAMETOOLONG;
	node = node_find(name, strnlen(name, n));
	if (node < 0)
		return node;
	oid[1] += node;
	return put_old(oldp, oldlenp, oid, sizeof(oid));
}

/* The one node that is text. */
static int
sysctl_congestion(struct stack *s, void *oldp, size_t *oldlenp, const char *newp, size_t newlen)
{
	const char *now = congestion_name(s);
	int err = put_old(oldp, oldlenp, now, strlen(now) + 1);

	if (err != 0 || newp == NULL)
		return err;
	return congestion_set(s, newp, strnlen(newp, newlen));
}

int
sock_sysctl(struct stack *s, const int *name, unsigned int namelen, void *oldp, size_t *oldlenp,
	const void *newp, size_t newlen)
{
	int v, err;

	if (name == NULL)
		return -EFAULT;
	if (namelen != 2)
		return -ENOENT;
	if (name[0] == 0 && name[1] == SYSCTL_NAME2OID)
		return name_to_oid(oldp, oldlenp, newp, newlen);
	if (name[0] != NODE_TOP || name[1] < NODE_FIRST || name[1] >= NODE_FIRST + NODES)
		return -ENOENT;
	if (name[1] - NODE_FIRST == CC_ALGORITHM)
		return sysctl_congestion(s, oldp, oldlenp, newp, newlen);
	v = (int)node_get(s, name[1] - NODE_FIRST);
	err = put_old(oldp, oldlenp, &v, sizeof(v));
	if (err != 0 || newp == NULL)
		return err;
	if (newlen != sizeof(v))
		return -EINVAL;
	memcpy(&v, newp, sizeof(v));
	return node_set(s, name[1] - NODE_FIRST, v);
}

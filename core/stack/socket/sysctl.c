/* SPDX-License-Identifier: BSD-3-Clause */
/* The few sysctl nodes that mean something here, by FreeBSD's names and by numbers of our own. */
#include <errno.h>

#include "socket_priv.h"

#define SYSCTL_NAME2OID 3
#define NODE_TOP 4          /* our numbers are {4, 256 + index}: FreeBSD's automatic ones begin at 256 */
#define NODE_FIRST 256
#define NODE_NAME_MAX 64

enum node { PORT_FIRST, PORT_LAST, RECVSPACE, MAXSOCKBUF, MAXFILES, NODES };

static const char *const names[NODES] = {
	[PORT_FIRST] = "net.inet.ip.portrange.first",
	[PORT_LAST] = "net.inet.ip.portrange.last",
	[RECVSPACE] = "net.inet.udp.recvspace",
	[MAXSOCKBUF] = "kern.ipc.maxsockbuf",
	[MAXFILES] = "kern.maxfiles",
};

static int
node_find(const char *name, size_t n)
{
	int i;

	for (i = 0; i < NODES; i++) {
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return i;
	}
	return -ENOENT;
}

static long
node_get(const struct stack *s, int node)
{
	uint16_t first, last;

	udp_port_range_get(s, &first, &last);
	switch (node) {
	case PORT_FIRST: return first;
	case PORT_LAST: return last;
	case RECVSPACE: return s->sockets->rcvbuf;
	case MAXSOCKBUF: return SOCK_BUF_MAX;
	}
	return s->sockets->max;
}

static int
node_set(struct stack *s, int node, long v)
{
	uint16_t first, last;

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
	}
	return -EPERM;
}

int
sock_sysctl_set(struct stack *s, const char *name, long v)
{
	int node = node_find(name, strlen(name));

	return node < 0 ? node : node_set(s, node, v);
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
	v = (int)node_get(s, name[1] - NODE_FIRST);
	err = put_old(oldp, oldlenp, &v, sizeof(v));
	if (err != 0 || newp == NULL)
		return err;
	if (newlen != sizeof(v))
		return -EINVAL;
	memcpy(&v, newp, sizeof(v));
	return node_set(s, name[1] - NODE_FIRST, v);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the socket and event layer with arguments drawn from the input, on one stack that sends to itself and to a
 * neighbour (STK-5, STK-2): wild descriptors, lengths, flags and addresses, missing memory and buffers. Whatever the
 * order, nothing crashes, no result is outside an errno's range, and every buffer and block comes back.
 */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/base/bytes.h"
#include "core/stack/socket/event.h"
#include "core/stack/stack.h"
#include "shim/host/mock/mock.h"

#define NB_BUFS 96
#define NB_CALLS 26    /* kinds of step */
#define MAX_CALLS 256
#define MEM 4096

struct api {
	const uint8_t *in;
	size_t left;
	struct shim *shim;
	struct shim_pool *pool;
	struct stack *s;
	uint64_t now;
	uint8_t *mem; /* what calls read and write: exactly MEM bytes, so that a sanitizer sees the next one */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz_api: %s\n", what);
		abort();
	}
}

static unsigned int
tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct api *a = ctx;

	for (unsigned int i = 0; i < n; i++)
		shim_buf_free(a->shim, m[i]);
	return n;
}

static uint8_t
u8(struct api *a)
{
	if (a->left == 0)
		return 0;
	a->left--;
	return *a->in++;
}

static uint32_t
u32(struct api *a)
{
	uint32_t lo = u8(a) | (uint32_t)u8(a) << 8;

	return lo | (uint32_t)u8(a) << 16 | (uint32_t)u8(a) << 24;
}

/* Mostly a small descriptor, now and then any number. */
static int
fd(struct api *a)
{
	uint8_t v = u8(a);

	return v < 240 ? v % 20 : (int)u32(a);
}

/* A length: mostly that of something real. */
static uint32_t
len(struct api *a)
{
	static const uint32_t some[] = { 0, 1, 2, 4, 8, 16, 24, 28, 128, 129, 1472, 1473, 3000, MEM };
	uint8_t v = u8(a);

	return v < 240 ? some[v % (sizeof(some) / sizeof(some[0]))] : u32(a);
}

/* The first n bytes of mem (at most all) from the input, the rest zero. NULL now and then. */
static void *
bytes(struct api *a, size_t n)
{
	if (n > MEM)
		n = MEM;
	memset(a->mem, 0, MEM);
	if (n > a->left)
		n = a->left;
	if (n > 64)
		n = 64;
	memcpy(a->mem, a->in, n);
	a->in += n;
	a->left -= n;
	return a->mem;
}

/* An address in mem and its length. */
static socklen_t
addr(struct api *a, struct sockaddr **out)
{
	static const uint32_t v4[] = { 0, 0x0a000001, 0x0a000002, 0x7f000001, 0xe0000001, 0xffffffff, 0x0a0000ff, 0x0b000001 };
	uint8_t kind = u8(a), which = u8(a);
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = be16(7 + which % 5) };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = be16(7 + which % 5) };

	*out = (struct sockaddr *)(void *)a->mem;
	if (kind >= 240)
		bytes(a, 128);
	switch (kind % 4) {
	case 0:
		sin.sin_addr.s_addr = be32(v4[which % 8]);
		memcpy(a->mem, &sin, sizeof(sin));
		break;
	case 1:
		sin6.sin6_addr.s6_addr[0] = 0x20;
		sin6.sin6_addr.s6_addr[1] = 0x01;
		sin6.sin6_addr.s6_addr[2] = 0x0d;
		sin6.sin6_addr.s6_addr[3] = 0xb8;
		sin6.sin6_addr.s6_addr[15] = which & 3;
		if (which & 4)
			memset(&sin6.sin6_addr, 0, 16);
		if (which & 8)
			sin6.sin6_addr.s6_addr[0] = 0xff;
		if (which & 16)
			sin6.sin6_addr.s6_addr[1] = 0x80, sin6.sin6_addr.s6_addr[0] = 0xfe;
		sin6.sin6_scope_id = which >> 5;
		memcpy(a->mem, &sin6, sizeof(sin6));
		break;
	case 2:
		sin6.sin6_addr.s6_addr[10] = sin6.sin6_addr.s6_addr[11] = 0xff;
		sin6.sin6_addr.s6_addr32[3] = be32(v4[which % 8]);
		memcpy(a->mem, &sin6, sizeof(sin6));
		break;
	default:
		*out = which & 1 ? NULL : *out;
		break;
	}
	return kind % 4 == 0 ? sizeof(sin) : kind % 4 < 3 ? sizeof(sin6) : len(a);
}

static void
rc(ssize_t v, ssize_t most)
{
	require(v >= -4095 && v <= most, "a result out of range");
}

/* Now and then: a pointer that is not there. */
static bool
kind_null(struct api *a)
{
	return u8(a) == 255;
}

/* ---- calls ---- */

static void
do_names(struct api *a, uint8_t op)
{
	struct sockaddr *sa;
	socklen_t n;
	int f = fd(a);

	if (op == 0) {
		n = addr(a, &sa);
		rc(sock_bind(a->s, f, sa, n), 0);
	} else if (op == 1) {
		n = addr(a, &sa);
		rc(sock_connect(a->s, f, sa, n), 0);
	} else {
		n = len(a);
		sa = u8(a) & 1 ? NULL : (struct sockaddr *)(void *)a->mem;
		if (n > MEM)
			n |= 0x80000000;
		rc(op == 2 ? sock_getsockname(a->s, f, sa, &n) : sock_getpeername(a->s, f, sa, sa != NULL ? &n : NULL), 0);
	}
}

static void
do_accept(struct api *a)
{
	int f = fd(a), flags = u8(a) & 1 ? SOCK_ACCEPT_INHERIT : u8(a) << 8;
	struct sockaddr *sa = u8(a) & 1 ? NULL : (struct sockaddr *)(void *)a->mem;
	socklen_t n = len(a);

	if (n > MEM)
		n |= 0x80000000;
	rc(sock_accept(a->s, f, sa, u8(a) & 1 ? NULL : &n, flags), 64);
}

static void
do_option(struct api *a, bool set)
{
	static const int level[] = { SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_UDP, IPPROTO_TCP };
	int f = fd(a), l = level[u8(a) % 5], name = u8(a);
	socklen_t n = len(a);
	void *p = bytes(a, 16);

	if (n > MEM)
		n |= 0x80000000;
	if (set)
		rc(sock_setsockopt(a->s, f, l, name, u8(a) == 7 ? NULL : p, n), 0);
	else
		rc(sock_getsockopt(a->s, f, l, name, u8(a) == 7 ? NULL : p, &n), 0);
}

static void
do_send(struct api *a)
{
	struct sockaddr *sa = NULL;
	socklen_t n = u8(a) & 1 ? addr(a, &sa) : 0;
	int f = fd(a), flags = u8(a) == 9 ? (int)u32(a) : 0;
	uint32_t bytes_n = len(a);

	if (bytes_n > MEM)
		bytes_n = 65508;
	if (bytes_n > MEM) {
		uint8_t *big = calloc(1, bytes_n);

		rc(sock_sendto(a->s, f, big, bytes_n, flags, sa, n), 65535);
		free(big);
	} else {
		rc(sock_sendto(a->s, f, a->mem, bytes_n, flags, sa, n), 65535);
	}
}

static void
do_recv(struct api *a)
{
	socklen_t n = len(a);
	int f = fd(a), flags = u8(a) & 1 ? (int)u32(a) : 0;
	uint32_t most = len(a);
	uint8_t *from = malloc(256);

	if (n > 256)
		n |= 0x80000000;
	rc(sock_recvfrom(a->s, f, a->mem, most > MEM ? MEM : most, flags, (struct sockaddr *)(void *)from, &n), 65535);
	free(from);
}

/* sendmsg and recvmsg with control messages made of the input. */
static void
do_msg(struct api *a, bool send)
{
	_Alignas(16) uint8_t control[128] = { 0 };
	struct iovec iov[4];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = u8(a) % 5, .msg_control = control };
	struct sockaddr *sa = NULL;
	int f = fd(a), flags = u8(a) == 9 ? (int)u32(a) : 0;
	struct cmsghdr c;

	for (unsigned int i = 0; i < 4; i++)
		iov[i] = (struct iovec){ a->mem + i * 1024, len(a) % 1025 };
	m.msg_controllen = u8(a) % (sizeof(control) + 1);
	for (size_t at = 0; at + sizeof(c) <= sizeof(control); at += CMSG_SPACE(20)) {
		uint8_t k = u8(a);

		c = (struct cmsghdr){ CMSG_LEN(k & 1 ? 4 : k & 2 ? 20 : k & 4 ? 12 : 1), k & 8 ? IPPROTO_IP : IPPROTO_IPV6, u8(a) };
		if (k == 255)
			c.cmsg_len = u32(a);
		memcpy(control + at, &c, sizeof(c));
		if (at + sizeof(c) < sizeof(control))
			control[at + sizeof(c)] = u8(a) % 4;
	}
	if (u8(a) & 1)
		m.msg_namelen = addr(a, &sa);
	m.msg_name = sa;
	if (sa != NULL && (m.msg_namelen > 128))
		m.msg_namelen |= 0x80000000;
	rc(send ? sock_sendmsg(a->s, f, &m, flags) : sock_recvmsg(a->s, f, &m, flags), 65535);
}

struct list_put {
	struct api *a;
	unsigned int n;
	bool closing;
};

/* Takes an event; a caller may well close descriptors on the way. */
static void
put(void *ctx, const struct sock_kevent *ev)
{
	struct list_put *p = ctx;

	p->n++;
	if (p->closing)
		(void)sock_close(p->a->s, (int)ev->ident);
}

static void
do_kevent(struct api *a)
{
	static const short filter[] = { KEV_READ, KEV_WRITE, KEV_TIMER, KEV_USER };
	struct sock_kevent k[4] = { 0 };
	struct list_put p = { .a = a };
	int f = fd(a), n = u8(a) % 5, max = u8(a) % 6;

	for (int i = 0; i < n; i++) {
		uint8_t kind = u8(a);

		k[i].filter = kind >= 240 ? (short)u32(a) : filter[kind % 4];
		k[i].ident = (uintptr_t)(intptr_t)fd(a);
		k[i].flags = (unsigned short)(u8(a) | (u8(a) & 1) << 8);
		k[i].fflags = kind & 4 ? u32(a) : 0;
		k[i].data = kind & 8 ? (int64_t)((uint64_t)u32(a) << (kind & 16 ? 32 : 0)) : 1;
	}
	p.closing = u8(a) % 16 == 15;
	rc(sock_kevent(a->s, f, kind_null(a) ? NULL : k, n, max, put, &p), 16);
	require(p.n <= (unsigned int)max, "more events than asked for");
}

static void
do_epoll(struct api *a, bool wait)
{
	struct epoll_event ev[4] = { { .events = 0 } };
	int f = fd(a);

	if (wait) {
		rc(sock_epoll_wait(a->s, f, ev, u8(a) % 5), 4);
		return;
	}
	ev[0].events = u8(a) & 15 ? u8(a) : u32(a);
	rc(sock_epoll_ctl(a->s, f, 1 + u8(a) % 4, fd(a), kind_null(a) ? NULL : ev), 0);
}

static void
do_poll(struct api *a)
{
	struct pollfd p[4];
	fd_set set[3];

	for (unsigned int i = 0; i < 4; i++)
		p[i] = (struct pollfd){ fd(a), (short)u32(a), 0 };
	rc(sock_poll(a->s, p, u8(a) % 5), 4);
	memset(set, 0, sizeof(set));
	for (unsigned int i = 0; i < 3; i++)
		FD_SET(u8(a) % 24, &set[i]);
	rc(sock_select(a->s, (int)(u8(a) % 70) - 1, u8(a) & 1 ? NULL : &set[0], &set[1], &set[2]), 3 * 64);
}

static void
do_ioctl(struct api *a)
{
	static const unsigned long req[] = { FIONBIO, FIONREAD, FIOASYNC, FIOCLEX, FIONCLEX, TIOCOUTQ, SIOCGIFADDR, SIOCGIFNETMASK,
		SIOCGIFBRDADDR, SIOCGIFMTU, SIOCGIFHWADDR, SIOCGIFFLAGS, SIOCGIFINDEX, SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFMTU };
	struct ifreq *r;
	int f = fd(a);
	uint8_t which = u8(a);

	r = bytes(a, sizeof(*r));
	if (which & 128)
		memcpy(r->ifr_name, "f0", 3);
	rc(sock_ioctl(a->s, f, which == 99 ? u32(a) : req[which % 16], u8(a) == 9 ? NULL : (void *)r), 0);
}

static void
do_fcntl(struct api *a)
{
	static const int cmd[] = { F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK };
	int f = fd(a);

	rc(sock_fcntl(a->s, f, cmd[u8(a) % 7], u8(a) < 200 ? u8(a) % 40 : (long)(int)u32(a)), 65536 | O_NONBLOCK | O_ASYNC | 3);
}

static void
do_sysctl(struct api *a)
{
	int name[8];
	size_t n = len(a) % 65;

	for (unsigned int i = 0; i < 8; i++)
		name[i] = u8(a);
	rc(sock_sysctl(a->s, name, u8(a) % 9, kind_null(a) ? NULL : a->mem, kind_null(a) ? NULL : &n,
		u8(a) & 1 ? a->mem + 64 : NULL, len(a) % 65), 0);
}

static void
do_time(struct api *a)
{
	uint8_t v = u8(a);

	a->now += v < 128 ? v * 1000000ull : (uint64_t)(v - 127) * 3600000000000ull;
	stack_poll(a->s, a->now);
	stack_flush(a->s);
}

/* One call. false: the input is at its end. */
static bool
step(struct api *a)
{
	uint8_t kind;

	if (a->left == 0)
		return false;
	switch (u8(a) % NB_CALLS) {
	case 0: case 1:
		kind = u8(a);
		rc(sock_socket(a->s, kind & 1 ? AF_INET : AF_INET6, kind & 2 ? SOCK_STREAM : SOCK_DGRAM, 0), 64);
		break;
	case 2: rc(sock_socket(a->s, (int)u32(a), (int)u32(a), u8(a)), 64); break;
	case 3: rc(sock_kqueue(a->s), 64); break;
	case 4: rc(sock_epoll_create(a->s, u8(a) == 9 ? (int)u32(a) : 0), 64); break;
	case 5: rc(sock_close(a->s, fd(a)), 0); break;
	case 6: rc(sock_dup(a->s, fd(a), fd(a)), 64); break;
	case 7: rc(sock_dup2(a->s, fd(a), fd(a)), 64); break;
	case 8: rc(sock_shutdown(a->s, fd(a), u8(a) % 5 - 1), 0); break;
	case 9: case 10: case 11: case 12: do_names(a, a->in[-1] % NB_CALLS - 9); break;
	case 13: do_option(a, true); break;
	case 14: do_option(a, false); break;
	case 15: do_send(a); break;
	case 16: do_recv(a); break;
	case 17: do_msg(a, u8(a) & 1); break;
	case 18: do_kevent(a); break;
	case 19: do_epoll(a, u8(a) & 1); break;
	case 20: do_poll(a); break;
	case 21: u8(a) & 1 ? do_ioctl(a) : do_fcntl(a); break;
	case 22: u8(a) & 1 ? do_sysctl(a) : do_time(a); break;
	case 23: rc(sock_listen(a->s, fd(a), (int)u8(a) - 2), 0); break;
	case 24: do_accept(a); break;
	default:
		if (u8(a) & 1)
			mock_fail_malloc_at(a->shim, u8(a) % 8);
		else
			mock_fail_buf_at(a->shim, u8(a) % 8);
		break;
	}
	return true;
}

static void
api_open(struct api *a)
{
	static const uint8_t a6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	struct stack_config sc = { .secrets = { .table = { 1, 2 } }, .max_sockets = 64, .max_neighbours = 16,
		.buf_low_watermark = 8 };
	struct netif_config nc = { .name = "f0", .mac = { 2, 0, 0, 0, 0, 1 }, .mtu = 1500, .tx = tx, .tx_ctx = a };
	union ip_addr v6 = ip_addr_v6(a6);
	struct netif *nif;

	a->shim = mock_shim_new_bare();
	a->now = 1000000000;
	require(shim_pool_create(a->shim, "p", NB_BUFS, 2176, &a->pool) == 0, "pool");
	sc.shim = a->shim;
	sc.pool = a->pool;
	require(stack_create(&sc, &a->s) == 0, "stack_create");
	stack_poll(a->s, a->now);
	require(stack_if_add(a->s, &nc, &nif) == 0, "stack_if_add");
	require(stack_addr4_add(a->s, nif, be32(0x0a000001), 24, 0) == 0, "addr4");
	require(stack_addr6_add(a->s, nif, &v6, 64) == 0, "addr6");
	a->mem = calloc(1, MEM);
	require(a->mem != NULL, "memory");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api a = { .in = data, .left = size };

	api_open(&a);
	for (unsigned int i = 0; i < MAX_CALLS && step(&a); i++)
		stack_poll(a.s, a.now); /* what it sent to itself arrives */
	mock_script_clear(a.shim);
	stack_destroy(a.s);
	require(shim_pool_avail(a.shim, a.pool) == NB_BUFS, "a buffer did not come back");
	shim_pool_free(a.shim, a.pool);
	require(mock_shim_free(a.shim) == 0, "memory did not come back");
	free(a.mem);
	return 0;
}

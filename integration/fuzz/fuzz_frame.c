/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feeds whole frames to a stack instance, v4 and v6 (STK-8, STK-2); fuzz_tcp.c is what gets deep into connections.
 *
 * Input: records of a control byte, a 16-bit little-endian length, and that many bytes of frame. The control byte lets the
 * fuzzer through the outer checks: 1 sets our MAC as the destination, 2 mends the checksums, 4 splits the frame
 * over two segments, 8 lets a second pass afterwards, 16 a minute, 32 tells the tag of VLAN 5 as stripped by the port.
 * The sockets answer what they receive with its own words, and the VLAN's interface looks for duplicates of its addresses. At
 * the end every buffer must be back in the pool.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/csum.h"
#include "core/stack/socket/socket.h"
#include "core/stack/stack.h"
#include "shim/host/mock/mock.h"

#define MAX_FRAME 9000
#define NB_BUFS 1024

enum control { TO_US = 1, MEND = 2, SPLIT = 4, SECOND = 8, MINUTE = 16, STRIPPED = 32 };

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 };

struct bed {
	struct shim *shim;
	struct shim_pool *pool;
	struct stack *stack;
	struct netif *nif, *vlan;
	uint64_t now;
	int fds[3], streams[4], nb_streams;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int
tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct bed *b = ctx;

	for (unsigned int i = 0; i < n; i++)
		shim_buf_free(b->shim, m[i]);
	return n;
}

static void
require(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz_frame: %s\n", what);
		abort();
	}
}

static void
open_sockets(struct bed *b)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = be16(7) };
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = be16(53), .sin_addr.s_addr = be32(0x0a000002) };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = be16(9) };

	b->fds[0] = sock_socket(b->stack, AF_INET, SOCK_DGRAM, 0);
	b->fds[1] = sock_socket(b->stack, AF_INET6, SOCK_DGRAM, 0);
	b->fds[2] = sock_socket(b->stack, AF_INET, SOCK_DGRAM, 0);
	require(sock_bind(b->stack, b->fds[0], (struct sockaddr *)&sin, sizeof(sin)) == 0, "bind v4");
	require(sock_bind(b->stack, b->fds[1], (struct sockaddr *)&sin6, sizeof(sin6)) == 0, "bind v6");
	require(sock_connect(b->stack, b->fds[2], (struct sockaddr *)&peer, sizeof(peer)) == 0, "connect v4");
}

/* A listener of either family, and a connection that opens (fuzz_tcp is what goes deep). */
static void
open_streams(struct bed *b)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = be16(80) };
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = be16(53), .sin_addr.s_addr = be32(0x0a000002) };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = be16(81) };

	for (int i = 0; i < 3; i++)
		b->streams[i] = sock_socket(b->stack, i == 1 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	b->nb_streams = 3;
	require(sock_bind(b->stack, b->streams[0], (struct sockaddr *)&sin, sizeof(sin)) == 0, "bind stream v4");
	require(sock_bind(b->stack, b->streams[1], (struct sockaddr *)&sin6, sizeof(sin6)) == 0, "bind stream v6");
	for (int i = 0; i < 2; i++)
		require(sock_listen(b->stack, b->streams[i], 2) == 0, "listen");
	require(sock_connect(b->stack, b->streams[2], (struct sockaddr *)&peer, sizeof(peer)) == -EINPROGRESS, "connect stream");
}

/* Accepts, and says back what was said; a stream that ended is closed. */
static void
serve_streams(struct bed *b)
{
	static uint8_t buf[4096];

	for (int i = 0; i < 2 && b->nb_streams < 4; i++) {
		int fd = sock_accept(b->stack, b->streams[i], NULL, NULL, 0);

		if (fd >= 0)
			b->streams[b->nb_streams++] = fd;
	}
	for (int i = 2; i < b->nb_streams; i++) {
		ssize_t n = sock_recvfrom(b->stack, b->streams[i], buf, sizeof(buf), 0, NULL, NULL);

		if (n > 0)
			(void)sock_sendto(b->stack, b->streams[i], buf, (size_t)n, 0, NULL, 0);
		if (i == 3 && n != -EAGAIN && n <= 0) {
			(void)sock_close(b->stack, b->streams[3]);
			b->nb_streams = 3;
		}
	}
}

static void
bed_open(struct bed *b)
{
	static const uint8_t a6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	union ip_addr v6 = ip_addr_v6(a6), any = ip_addr_v4(0), gw = ip_addr_v4(be32(0x0a0000fe));
	struct stack_config sc = { .secrets = { .table = { 1, 2 } }, .max_sockets = 16, .max_neighbours = 32 };
	struct netif_config nc = { .name = "f0", .mac = { 2, 0, 0, 0, 0, 1 }, .mtu = 1500, .tx = tx, .tx_ctx = b,
		.accept_ra = true };
	struct netif_config vc = { .name = "f0.5", .mac = { 2, 0, 0, 0, 0, 1 }, .mtu = 1500, .vlan = 5,
		.dad_transmits = 1, .accept_ra = true };

	b->shim = mock_shim_new();
	b->now = 1000000000;
	require(shim_pool_create(b->shim, "p", NB_BUFS, 2176, &b->pool) == 0, "pool");
	sc.shim = b->shim;
	sc.pool = b->pool;
	require(stack_create(&sc, &b->stack) == 0, "stack_create");
	stack_poll(b->stack, b->now);
	require(stack_if_add(b->stack, &nc, &b->nif) == 0, "stack_if_add");
	vc.parent = b->nif;
	require(stack_if_add(b->stack, &vc, &b->vlan) == 0, "stack_if_add vlan");
	require(stack_addr4_add(b->stack, b->nif, be32(0x0a000001), 24, 0) == 0, "addr4");
	require(stack_addr4_add(b->stack, b->vlan, be32(0x0a000501), 24, 0) == 0, "addr4 vlan");
	require(stack_addr6_add(b->stack, b->nif, &v6, 64) == 0, "addr6");
	require(stack_route_add(b->stack, ADDR_INET, &any, 0, &gw, NULL) == 0, "route");
	open_sockets(b);
	open_streams(b);
}

static void
bed_close(struct bed *b)
{
	stack_destroy(b->stack);
	require(shim_pool_avail(b->shim, b->pool) == NB_BUFS, "a buffer did not come back");
	shim_pool_free(b->shim, b->pool);
	mock_shim_free(b->shim);
}

static void
mend4(uint8_t *ip, size_t n)
{
	size_t hlen = (ip[0] & 15u) * 4u, len = get_be16(ip + 2), off;
	uint64_t sum;

	if (hlen < 20 || hlen > n)
		return;
	memset(ip + 10, 0, 2);
	put_be16(ip + 10, be16(csum_finish(csum_add(0, ip, hlen))));
	if (len > n || len < hlen || (get_be16(ip + 6) & 0x3fff) != 0)
		return;
	off = ip[9] == 17 ? 6 : ip[9] == 6 ? 16 : ip[9] == 1 ? 2 : 0;
	if (off == 0 || len - hlen < off + 2)
		return;
	memset(ip + hlen + off, 0, 2);
	sum = 0;
	if (ip[9] == 17 || ip[9] == 6) {
		uint32_t src, dst;

		memcpy(&src, ip + 12, 4);
		memcpy(&dst, ip + 16, 4);
		sum = csum_pseudo4(src, dst, ip[9], (uint16_t)(len - hlen));
	}
	put_be16(ip + hlen + off, be16(csum_finish(csum_add(sum, ip + hlen, len - hlen))));
}

static void
mend6(uint8_t *ip, size_t n)
{
	size_t end = 40u + get_be16(ip + 4), at = 40, off;
	uint8_t next = ip[6];

	if (end > n)
		return;
	for (int i = 0; i < 8 && (next == 0 || next == 60 || next == 43) && at + 8 <= end; i++) {
		next = ip[at];
		at += (ip[at + 1] + 1u) * 8u;
	}
	off = next == 17 ? 6 : next == 6 ? 16 : next == 58 ? 2 : 0;
	if (off == 0 || at > end || end - at < off + 2)
		return;
	memset(ip + at + off, 0, 2);
	put_be16(ip + at + off, be16(csum_finish(csum_add(csum_pseudo6(ip + 8, ip + 24, next, (uint32_t)(end - at)),
		ip + at, end - at))));
}

static void
mend(uint8_t *f, size_t n)
{
	size_t l2 = n >= 18 && get_be16(f + 12) == 0x8100 ? 18 : 14;

	if (n < l2)
		return;
	if (get_be16(f + l2 - 2) == 0x0800 && n >= l2 + 20)
		mend4(f + l2, n - l2);
	else if (get_be16(f + l2 - 2) == 0x86dd && n >= l2 + 40)
		mend6(f + l2, n - l2);
}

/* The frame as a chain of the pool's buffers, cut at half its length when asked. NULL: out of buffers. */
static struct rte_mbuf *
make(struct bed *b, const uint8_t *f, size_t n, bool split)
{
	struct rte_mbuf *head = NULL;
	size_t at = 0, limit = split ? n / 2 : n;

	while (at < n || head == NULL) {
		struct rte_mbuf *m = shim_buf_alloc(b->shim, b->pool);
		size_t part;
		void *p;

		if (m == NULL)
			break;
		part = at < limit ? limit - at : n - at;
		part = part > 2048 ? 2048 : part;
		p = shim_buf_append(m, (uint16_t)part);
		memcpy(p, f + at, part);
		at += part;
		if (head == NULL)
			head = m;
		else
			require(shim_buf_chain(head, m) == 0, "chain");
	}
	if (head != NULL && at < n) {
		shim_buf_free(b->shim, head);
		return NULL;
	}
	return head;
}

static void
read_all(struct bed *b)
{
	static uint8_t buf[65536];

	for (int i = 0; i < 3; i++) {
		struct iovec iov = { buf, sizeof(buf) };
		struct sockaddr_storage from;
		struct msghdr msg = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1 };

		for (int k = 0; k < 64; k++) {
			ssize_t n;

			msg.msg_namelen = sizeof(from);
			iov.iov_len = sizeof(buf);
			n = sock_recvmsg(b->stack, b->fds[i], &msg, 0);
			if (n == -EAGAIN)
				break;
			if (n < 0)
				continue;
			iov.iov_len = (size_t)n;
			msg.msg_flags = 0;
			(void)sock_sendmsg(b->stack, b->fds[i], &msg, 0);
		}
	}
}

static void
feed(struct bed *b, uint8_t control, const uint8_t *data, size_t n)
{
	static uint8_t f[MAX_FRAME];
	struct rte_mbuf *m;

	memcpy(f, data, n);
	if ((control & TO_US) && n >= 6)
		memcpy(f, our_mac, 6);
	if (control & MEND)
		mend(f, n);
	m = make(b, f, n, control & SPLIT);
	if (m != NULL) {
		if (control & STRIPPED) {
			m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
			m->vlan_tci = 5;
		}
		stack_input(b->stack, b->nif, &m, 1);
	}
	b->now += (control & MINUTE) ? 60000000000ull : (control & SECOND) ? 1000000000ull : 1000000ull;
	stack_poll(b->stack, b->now);
	stack_flush(b->stack);
	read_all(b);
	serve_streams(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bed b = { 0 };
	size_t at = 0;

	bed_open(&b);
	for (int i = 0; i < 64 && at + 3 <= size; i++) {
		size_t n = data[at + 1] | (size_t)data[at + 2] << 8;

		if (n > size - at - 3)
			n = size - at - 3;
		if (n > MAX_FRAME)
			n = MAX_FRAME;
		feed(&b, data[at], data + at + 3, n);
		at += 3 + n;
	}
	bed_close(&b);
	return 0;
}

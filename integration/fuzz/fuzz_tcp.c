/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments and calls into live TCP connections of one stack, v4 and v6 (STK-8, STK-2, STK-3).
 *
 * Input: steps of an operation byte and its arguments. A segment is written relative to what the stack told last on
 * that flow: its sequence number is what is expected and its acknowledgement all that was sent, each moved by an amount
 * that a byte chooses; so random bytes get deep. Applications accept, read, write, shut down, close, connect and set
 * options; time passes, memory and buffers fail.
 *
 * Either side's byte at an offset of its stream is fixed, whoever sends it how often: what the stack sends and what
 * applications read is compared with that. At the end every buffer and block must be back.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/csum.h"
#include "core/stack/link/neigh.h"
#include "core/stack/socket/socket.h"
#include "core/stack/stack.h"
#include "core/stack/tcp/tcp.h"
#include "shim/host/mock/mock.h"

#define NB_BUFS 2048
#define MAX_STEPS 300
#define NB_FLOWS 16
#define NB_FDS 20
#define PEER_ISS 0xfffff800u /* sequence numbers wrap soon */
#define FIRST_PORT 5000

enum flag { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };

/* What the stack said last on one pair of addresses and ports; flow i is of IPv6 when i is odd. */
struct flow {
	uint16_t lport, rport;
	bool used, iss_known;
	uint32_t iss, nxt, ack, tsval;
};

struct app {
	int fd; /* -1: none */
	uint32_t wrote, got;
	bool unknown; /* reading was shut down: what is skipped is not known */
};

struct bed {
	const uint8_t *in;
	size_t left;
	struct shim *shim;
	struct shim_pool *pool;
	struct stack *s;
	struct netif *nif;
	uint64_t now;
	struct flow flow[NB_FLOWS];
	struct app app[NB_FDS];
	bool wild; /* a SYN with another initial number: offsets of the peer's bytes are not known */
};

static const uint8_t our6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, peer6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 };
static uint8_t ours[65536 + 256], theirs[65536 + 256], into[65536];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz_tcp: %s\n", what);
		abort();
	}
}

static uint8_t
u8(struct bed *b)
{
	if (b->left == 0)
		return 0;
	b->left--;
	return *b->in++;
}

static uint32_t
u32(struct bed *b)
{
	uint32_t lo = u8(b) | (uint32_t)u8(b) << 8;

	return lo | (uint32_t)u8(b) << 16 | (uint32_t)u8(b) << 24;
}

/* The streams repeat after 251 bytes; two tables give any stretch of them without a loop. */
static const uint8_t *
stream(const uint8_t *table, uint32_t off)
{
	int32_t at = (int32_t)off;

	return table + (at >= 0 ? at % 251 : 250 + (at + 1) % 251);
}

static void
fill_tables(void)
{
	for (unsigned int i = 0; i < sizeof(ours); i++) {
		ours[i] = (uint8_t)(i % 251);
		theirs[i] = (uint8_t)(255 - i % 251);
	}
}

/* ---- what the stack sends ---- */

static struct flow *
flow_of(struct bed *b, bool v6, uint16_t lport, uint16_t rport)
{
	struct flow *spare = NULL;

	for (unsigned int i = v6; i < NB_FLOWS; i += 2) {
		struct flow *f = &b->flow[i];

		if (f->used && f->lport == lport && f->rport == rport)
			return f;
		if (!f->used && spare == NULL)
			spare = f;
	}
	if (spare != NULL)
		*spare = (struct flow){ .lport = lport, .rport = rport, .used = true, .ack = PEER_ISS };
	return spare;
}

static void
saw_options(struct flow *f, const uint8_t *o, unsigned int n)
{
	for (unsigned int i = 0; i + 1 < n && o[i] != 0; i += o[i] == 1 ? 1 : o[i + 1]) {
		if (o[i] == 1)
			continue;
		require(o[i + 1] >= 2 && i + o[i + 1] <= n, "a malformed option was sent");
		if (o[i] == 8)
			f->tsval = get_be32(o + i + 2);
	}
}

static void
saw(struct bed *b, bool v6, const uint8_t *t, uint32_t n)
{
	uint32_t hlen = (t[12] >> 4) * 4u, len, seq = get_be32(t + 4);
	struct flow *f = flow_of(b, v6, get_be16(t), get_be16(t + 2));

	require(hlen >= 20 && hlen <= n, "a malformed header was sent");
	len = n - hlen;
	if (f == NULL || (t[13] & RST) != 0)
		return;
	saw_options(f, t + 20, hlen - 20);
	if ((t[13] & SYN) != 0 && (!f->iss_known || f->iss != seq)) {
		f->iss = f->nxt = seq;
		f->iss_known = true;
		f->ack = PEER_ISS;
	}
	if ((t[13] & ACK) != 0)
		f->ack = get_be32(t + 8);
	if (len != 0 && f->iss_known && (t[13] & SYN) == 0 && seq != f->iss)
		require(memcmp(t + hlen, stream(ours, seq - f->iss - 1), len) == 0, "other bytes were sent than were written");
	len += (t[13] & SYN) != 0;
	len += (t[13] & FIN) != 0;
	if ((int32_t)(seq + len - f->nxt) > 0)
		f->nxt = seq + len;
}

static unsigned int
tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	static uint8_t flat[70000];
	struct bed *b = ctx;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t at = 0;

		for (const struct rte_mbuf *k = m[i]; k != NULL; k = k->next) {
			memcpy(flat + at, rte_pktmbuf_mtod(k, const uint8_t *), k->data_len);
			at += k->data_len;
		}
		if (at >= 54 && get_be16(flat + 12) == 0x0800 && flat[23] == 6)
			saw(b, false, flat + 34, get_be16(flat + 16) - 20u);
		else if (at >= 74 && get_be16(flat + 12) == 0x86dd && flat[20] == 6)
			saw(b, true, flat + 54, get_be16(flat + 18));
		shim_buf_free(b->shim, m[i]);
	}
	return n;
}

/* ---- segments to the stack ---- */

/* Sends what is in p, n bytes of TCP, of flow f; in two buffers at times. The checksum was looked at by the port. */
static void
deliver(struct bed *b, const struct flow *f, const uint8_t *p, uint32_t n, uint8_t proto, uint8_t tos)
{
	static uint8_t frame[70000];
	bool v6 = (f - b->flow) & 1;
	uint32_t l2 = v6 ? 54 : 34, cut;
	struct rte_mbuf *head = NULL;

	memset(frame, 0, l2);
	memcpy(frame, (const uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 }, 12);
	if (v6) {
		memcpy(frame + 12, (const uint8_t[]){ 0x86, 0xdd, 0x60, 0 }, 4);
		frame[14] |= tos >> 4;
		frame[15] = (uint8_t)(tos << 4);
		put_be16(frame + 18, (uint16_t)n);
		frame[20] = proto;
		frame[21] = 64;
		memcpy(frame + 22, peer6, 16);
		memcpy(frame + 38, our6, 16);
	} else {
		memcpy(frame + 12, (const uint8_t[]){ 8, 0, 0x45, tos }, 4);
		put_be16(frame + 16, (uint16_t)(20 + n));
		memcpy(frame + 22, (const uint8_t[]){ 64, proto, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1 }, 12);
	}
	memcpy(frame + l2, p, n);
	for (uint32_t at = 0; at < l2 + n; at += cut) {
		struct rte_mbuf *m = shim_buf_alloc(b->shim, b->pool);

		cut = l2 + n - at > 2000 ? 2000 : l2 + n - at;
		if (m == NULL) {
			shim_buf_free(b->shim, head);
			return;
		}
		memcpy(shim_buf_append(m, (uint16_t)cut), frame + at, cut);
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_GOOD;
		if (head == NULL)
			head = m;
		else
			require(shim_buf_chain(head, m) == 0, "chain");
	}
	stack_input(b->s, b->nif, &head, 1);
}

/* Mostly 0, else one of the distances that matter, else any. */
static uint32_t
distance(struct bed *b)
{
	static const int32_t some[] = { 1, -1, 2, -2, 100, -100, 536, -536, 1460, -1460, 2920, 4380, -4380, 14600, 65535, -65535,
		1 << 20, INT32_MAX, INT32_MIN };
	uint8_t v = u8(b);

	if (v < 128)
		return 0;
	return v < 250 ? (uint32_t)some[(v - 128u) % (sizeof(some) / sizeof(some[0]))] : u32(b);
}

static uint32_t
put_options(struct bed *b, const struct flow *f, uint8_t *o, uint8_t flags)
{
	uint8_t kind = u8(b);
	uint32_t n = 0;

	if ((kind & 1) != 0) {
		memcpy(o, (const uint8_t[]){ 1, 1, 8, 10 }, 4);
		put_be32(o + 4, (uint32_t)(b->now / 1000000) + ((kind & 64) != 0 ? distance(b) : 0));
		put_be32(o + 8, f->tsval + ((kind & 128) != 0 ? distance(b) : 0));
		n = 12;
	}
	if ((flags & SYN) != 0 && (kind & 2) != 0) {
		memcpy(o + n, (const uint8_t[]){ 2, 4, 5, 0xb4, 1, 3, 3, 0, 4, 2, 1, 1 }, 12);
		o[n + 2] = u8(b) % 8;
		o[n + 3] = u8(b);
		o[n + 7] = u8(b) % 18;
		n += 12;
	} else if ((kind & 2) != 0) { /* SACK blocks, counted from what was sent last and first */
		unsigned int blocks = 1 + (kind >> 2) % 3;

		memcpy(o + n, (const uint8_t[]){ 1, 1, 5, (uint8_t)(2 + 8 * blocks) }, 4);
		for (unsigned int i = 0; i < blocks; i++) {
			uint32_t from = f->nxt - u8(b) * 146u;

			from += distance(b);
			put_be32(o + n + 4 + 8 * i, from);
			put_be32(o + n + 8 + 8 * i, from + u8(b) * 146u);
		}
		n += 4 + 8 * blocks;
	}
	if ((kind & 32) != 0) /* anything */
		for (uint32_t end = n + 4 * (u8(b) % 4u); n < end && n < 40; n++)
			o[n] = u8(b);
	return n;
}

static void
do_segment(struct bed *b)
{
	static const uint16_t sizes[] = { 0, 0, 0, 1, 10, 100, 536, 1440, 1460, 3000, 8000 };
	static const uint8_t kinds[] = { ACK, ACK, ACK | PSH, ACK | FIN, SYN, SYN | ACK, RST, RST | ACK };
	static uint8_t t[9000];
	struct flow *f = &b->flow[u8(b) % NB_FLOWS];
	uint8_t kind = u8(b), flags = kind < 224 ? kinds[kind % 8] : u8(b), win = u8(b), tos = win & 1 ? 3 : 2;
	uint32_t seq, ack, hlen, len;

	if (!f->used) {
		*f = (struct flow){ .lport = 80, .rport = (uint16_t)(FIRST_PORT + (f - b->flow)), .used = true, .ack = PEER_ISS };
		flags = kind < 240 ? SYN : flags;
	}
	seq = ((flags & SYN) != 0 ? PEER_ISS : f->ack) + distance(b);
	ack = f->nxt;
	if (kind & 8) /* not all of it */
		ack -= u8(b) * 146u;
	ack += distance(b);
	memset(t, 0, 20);
	put_be16(t, f->rport);
	put_be16(t + 2, f->lport);
	put_be32(t + 4, seq);
	put_be32(t + 8, (flags & ACK) != 0 ? ack : 0);
	t[13] = flags;
	put_be16(t + 14, win < 32 ? 0 : win < 64 ? win : (uint16_t)(win << 8));
	hlen = 20 + (put_options(b, f, t + 20, flags) + 3) / 4 * 4;
	hlen = hlen > 60 ? 60 : hlen;
	t[12] = (uint8_t)(hlen / 4 << 4);
	len = sizes[u8(b) % (sizeof(sizes) / sizeof(sizes[0]))];
	if ((flags & SYN) != 0 && seq != PEER_ISS)
		b->wild = true;
	memcpy(t + hlen, stream(theirs, seq + ((flags & SYN) != 0) - (PEER_ISS + 1)), len);
	deliver(b, f, t, hlen + len, 6, (kind & 16) != 0 ? tos : 0);
}

/* An ICMP error that quotes a segment of the flow. */
static void
do_icmp(struct bed *b)
{
	uint8_t p[8 + 40 + 20] = { 0 }, which = u8(b);
	struct flow *f = &b->flow[u8(b) % NB_FLOWS];
	bool v6 = (f - b->flow) & 1;
	uint8_t *q = p + 8;
	uint64_t sum;
	uint32_t n;

	p[0] = v6 ? 1 + which % 4 : which & 1 ? 3 : which % 16;
	p[1] = v6 ? u8(b) % 8 : which & 2 ? 4 : u8(b) % 16;
	put_be32(p + 4, v6 ? u32(b) % 2000 : u8(b) * 8u);
	if (v6) {
		q[0] = 0x60;
		q[5] = 20;
		memcpy(q + 6, (const uint8_t[]){ 6, 64 }, 2);
		memcpy(q + 8, our6, 16);
		memcpy(q + 24, peer6, 16);
		q += 40;
	} else {
		memcpy(q, (const uint8_t[]){ 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2 }, 20);
		q += 20;
	}
	put_be16(q, f->lport);
	put_be16(q + 2, f->rport);
	put_be32(q + 4, f->nxt - u8(b) + distance(b));
	n = (uint32_t)(q + 20 - p);
	sum = v6 ? csum_pseudo6(peer6, our6, 58, n) : 0;
	put_be16(p + 2, be16(csum_finish(csum_add(sum, p, n))));
	deliver(b, f, p, n, v6 ? 58 : 1, 0);
}

/* ---- applications ---- */

static struct app *
app_new(struct bed *b, int fd)
{
	for (unsigned int i = 0; fd >= 0 && i < NB_FDS; i++) {
		if (b->app[i].fd < 0) {
			b->app[i] = (struct app){ .fd = fd };
			return &b->app[i];
		}
	}
	if (fd >= 0)
		(void)sock_close(b->s, fd);
	return NULL;
}

static void
rc(ssize_t v, ssize_t most)
{
	require(v >= -4095 && v <= most, "a result out of range");
}

static socklen_t
address(bool v6, bool peer, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = be16(port), .sin_addr.s_addr = be32(peer ? 0x0a000002 : 0) };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = be16(port) };

	if (peer)
		memcpy(&sin6.sin6_addr, peer6, 16);
	memcpy(out, v6 ? (const void *)&sin6 : (const void *)&sin, v6 ? sizeof(sin6) : sizeof(sin));
	return v6 ? sizeof(sin6) : sizeof(sin);
}

static void
open_listener(struct bed *b, bool v6)
{
	int fd = sock_socket(b->s, v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0), on = 1;
	struct sockaddr_storage a;
	socklen_t n = address(v6, false, 80, &a);

	if (app_new(b, fd) == NULL)
		return;
	if (v6)
		rc(sock_setsockopt(b->s, fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)), 0);
	rc(sock_bind(b->s, fd, (struct sockaddr *)&a, n), 0);
	rc(sock_listen(b->s, fd, 5), 0);
}

static void
do_connect(struct bed *b)
{
	uint8_t v = u8(b);
	bool v6 = v & 1;
	struct app *a = v & 2 ? &b->app[u8(b) % NB_FDS] :
		app_new(b, sock_socket(b->s, v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0));
	struct sockaddr_storage to;
	socklen_t n = address(v6, true, (uint16_t)(90 + v % 4), &to);
	int err;

	if (a == NULL)
		return;
	err = sock_connect(b->s, a->fd, (struct sockaddr *)&to, n);
	rc(err, 0);
	if (err == -EINPROGRESS)
		a->wrote = a->got = 0;
}

static void
got(struct bed *b, struct app *a, const uint8_t *p, ssize_t n, bool stays)
{
	if (n <= 0)
		return;
	if (!b->wild && !a->unknown)
		require(memcmp(p, stream(theirs, a->got), (size_t)n) == 0, "other bytes were read than were sent");
	if (!stays)
		a->got += (uint32_t)n;
}

static void
do_read(struct bed *b, struct app *a)
{
	static const uint32_t sizes[] = { 1, 10, 1460, 5000, 65536 };
	uint8_t v = u8(b);
	struct rte_mbuf *m = NULL;
	uint32_t at = 0;
	ssize_t n;

	if (v < 200) {
		n = sock_recvfrom(b->s, a->fd, into, sizes[v % 5], v & 64 ? MSG_PEEK : 0, NULL, NULL);
		rc(n, 65536);
		got(b, a, into, n, v & 64);
		return;
	}
	rc(sock_recv_chain(b->s, a->fd, &m, NULL), 0);
	for (const struct rte_mbuf *k = m; k != NULL; k = k->next) {
		got(b, a, rte_pktmbuf_mtod(k, const uint8_t *), k->data_len, false);
		at += k->data_len;
	}
	require(m == NULL || at == m->pkt_len, "a chain with a wrong length");
	shim_buf_free(b->shim, m);
}

static void
do_write(struct bed *b, struct app *a)
{
	static const uint32_t sizes[] = { 1, 10, 100, 1460, 1461, 5000, 40000, 65000 };
	uint8_t v = u8(b);
	uint32_t n = sizes[v % 8];
	struct rte_mbuf *m;
	ssize_t took;

	if (v < 200) {
		took = sock_sendto(b->s, a->fd, stream(ours, a->wrote), n, v & 64 ? MSG_MORE : 0, NULL, 0);
		rc(took, n);
		a->wrote += took > 0 ? (uint32_t)took : 0;
		return;
	}
	n = n > 2000 ? 2000 : n;
	m = shim_buf_alloc(b->shim, b->pool);
	if (m == NULL)
		return;
	memcpy(shim_buf_append(m, (uint16_t)n), stream(ours, a->wrote), n);
	took = sock_send_chain(b->s, a->fd, m, NULL);
	rc(took, n);
	a->wrote += took >= 0 ? n : 0;
}

static void
do_option(struct bed *b, struct app *a)
{
	static const int names[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 18, 25 };
	static const int sol[] = { SO_KEEPALIVE, SO_SNDBUF, SO_RCVBUF, SO_RCVLOWAT, SO_SNDLOWAT, SO_OOBINLINE };
	uint8_t v = u8(b);
	int val = v & 1 ? u8(b) : (int)u32(b);
	_Alignas(8) uint8_t info[256];
	socklen_t n = sizeof(info);
	struct linger l = { 1, v & 8 ? 0 : 1 };

	if (v < 120) {
		rc(sock_setsockopt(b->s, a->fd, IPPROTO_TCP, names[v / 2 % 12], &val, sizeof(val)), 0);
	} else if (v < 180) {
		rc(sock_setsockopt(b->s, a->fd, SOL_SOCKET, sol[v / 2 % 6], &val, sizeof(val)), 0);
	} else if (v < 190) {
		rc(sock_setsockopt(b->s, a->fd, IPPROTO_TCP, 13, v & 2 ? "reno" : "cubic", v & 2 ? 4 : 5), 0);
	} else if (v < 200) {
		rc(sock_setsockopt(b->s, a->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	} else if (v < 220) {
		rc(tcp_knob_set(b->s, u8(b) % TCP_KNOB_COUNT, val), 0);
	} else {
		rc(sock_getsockopt(b->s, a->fd, IPPROTO_TCP, 11, info, &n), 0);
		rc(sock_ready(b->s, a->fd), 0xffff);
	}
}

static void
do_close(struct bed *b, struct app *a)
{
	uint8_t v = u8(b);

	if (v < 128) {
		rc(sock_shutdown(b->s, a->fd, v % 3), 0);
		a->unknown |= v % 3 != SHUT_WR;
		return;
	}
	rc(sock_close(b->s, a->fd), 0);
	a->fd = -1;
}

static void
do_accept(struct bed *b, struct app *a)
{
	int fd = sock_accept(b->s, a->fd, NULL, NULL, 0);

	rc(fd, 64);
	(void)app_new(b, fd);
}

static void
do_time(struct bed *b)
{
	static const uint32_t ms[] = { 1, 10, 40, 50, 100, 250, 500, 1000, 3000, 10000, 60000, 120000, 7200000 };
	uint8_t v = u8(b);

	b->now += ms[v % 13] * 1000000ull;
	stack_poll(b->s, b->now);
}

static void
step(struct bed *b)
{
	uint8_t op = u8(b);
	struct app *a;

	if (op < 140) {
		do_segment(b);
	} else if (op < 150) {
		do_icmp(b);
	} else if (op < 165) {
		do_time(b);
	} else if (op < 170) {
		do_connect(b);
	} else if (op < 172) {
		mock_fail_malloc_at(b->shim, u8(b) % 4);
	} else if (op < 174) {
		mock_fail_buf_at(b->shim, u8(b) % 8);
	} else if (op < 176) {
		open_listener(b, op & 1);
	} else {
		a = &b->app[u8(b) % NB_FDS];
		if (op < 190)
			do_accept(b, a);
		else if (op < 205)
			do_read(b, a);
		else if (op < 230)
			do_write(b, a);
		else if (op < 244)
			do_option(b, a);
		else
			do_close(b, a);
	}
}

static void
bed_open(struct bed *b)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 2 };
	union ip_addr v6 = ip_addr_v6(our6), p6 = ip_addr_v6(peer6), p4 = ip_addr_v4(be32(0x0a000002));
	struct stack_config sc = { .secrets = { .table = { 1, 2 } }, .max_sockets = 64, .max_neighbours = 16,
		.buf_low_watermark = 8 };
	struct netif_config nc = { .name = "f0", .mac = { 2, 0, 0, 0, 0, 1 }, .mtu = 1500, .tx = tx, .tx_ctx = b };

	b->shim = mock_shim_new_bare();
	b->now = 1000000000;
	require(shim_pool_create(b->shim, "p", NB_BUFS, 2176, &b->pool) == 0, "pool");
	sc.shim = b->shim;
	sc.pool = b->pool;
	require(stack_create(&sc, &b->s) == 0, "stack_create");
	stack_poll(b->s, b->now);
	require(stack_if_add(b->s, &nc, &b->nif) == 0, "stack_if_add");
	require(stack_addr4_add(b->s, b->nif, be32(0x0a000001), 24, 0) == 0, "addr4");
	require(stack_addr6_add(b->s, b->nif, &v6, 64) == 0, "addr6");
	require(neigh_set_permanent(b->s, b->nif, ADDR_INET, &p4, mac) == 0, "neighbour v4");
	require(neigh_set_permanent(b->s, b->nif, ADDR_INET6, &p6, mac) == 0, "neighbour v6");
	for (unsigned int i = 0; i < NB_FDS; i++)
		b->app[i].fd = -1;
	open_listener(b, false);
	open_listener(b, true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bed b = { .in = data, .left = size };

	if (ours[1] == 0)
		fill_tables();
	bed_open(&b);
	for (unsigned int i = 0; i < MAX_STEPS && b.left != 0; i++) {
		step(&b);
		b.now += 100000;
		stack_poll(b.s, b.now);
		stack_flush(b.s);
	}
	mock_script_clear(b.shim);
	stack_destroy(b.s);
	require(shim_pool_avail(b.shim, b.pool) == NB_BUFS, "a buffer did not come back");
	shim_pool_free(b.shim, b.pool);
	require(mock_shim_free(b.shim) == 0, "memory did not come back");
	return 0;
}

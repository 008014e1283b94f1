/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6: echo, errors out and in. */
#include <errno.h>
#include <netinet/in.h>

#include "core/stack/socket/socket.h"
#include "ip6_util.h"

static uint8_t data[9000];

/* What was said to UDP last: err 0, nothing. (Which of it a socket hears is UDP's affair.) */
static struct ip_error said;
static uint8_t said_l4[8]; /* what it pointed at: the buffer is gone when the test looks */
void __real_udp_error(struct stack *s, const struct ip_error *e);
void __wrap_udp_error(struct stack *s, const struct ip_error *e);

void
__wrap_udp_error(struct stack *s, const struct ip_error *e)
{
	said = *e;
	memcpy(said_l4, e->l4, sizeof(said_l4));
	said.l4 = said_l4;
	__real_udp_error(s, e);
}

static int
setup(void **state)
{
	*state = fx_new(NULL);
	fx_know_peer(*state);
	u6_pattern(data, sizeof(data));
	return 0;
}

/* STK-2 */
static void
echo_answers_with_what_came(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .src = fx_a6(U6_PEER), .dst = fx_a6(U6_US), .next = 58, .tc = 0xb8 };
	uint8_t b[2048];
	struct fx_pkt p;

	for (uint32_t n = 0; n < 1453; n = n * 2 + 1) {
		fx_rx_ip6(f, &h, b, fx_put_icmp6(b, &h.src, &h.dst, 128, 5, 0xa1b2c3d4, data, n));
		u6_expect(f, &p, 129, 0);
		assert_int_equal(get_be32(p.l4 + 4), 0xa1b2c3d4);
		assert_int_equal(p.l4_len, 8 + n);
		assert_memory_equal(p.l4 + 8, data, n);
		assert_true(u6_eq(&p.src, U6_US) && u6_eq(&p.dst, U6_PEER));
		assert_int_equal(p.ttl, 64);
		assert_int_equal(p.tos, 0xb8);
	}
	fx_expect_none(f);
}

/* MTU-6, STK-2 */
static void
ping_of_8500_bytes_answered_unfragmented_at_mtu_9000(void **state)
{
	struct fx *f = *state;
	struct fx_opts o = { .data_room = 10240, .tx_offloads = SHIM_TX_MULTI_SEGS };
	unsigned int n = 0;
	struct fx_pkt p;

	assert_int_equal(f->nif->mtu, 1500);
	u6_ping(f, U6_PEER, U6_US, data, 8500);
	while (fx_pop(f, &p)) {
		assert_int_equal(p.proto, 44);
		n++;
	}
	assert_int_equal(n, 6);
	f = fx_new(&o);
	fx_know_peer(f);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 9000), 0);
	u6_ping(f, U6_PEER, U6_US, data, 8500);
	u6_expect(f, &p, 129, 0);
	assert_int_equal(p.l4_len, 8508);
	assert_memory_equal(p.l4 + 8, data, 8500);
	fx_expect_none(f);
	assert_int_equal(stack_if_mtu_set(f->s, f->nif, 1500), 0);
	u6_ping(f, U6_PEER, U6_US, data, 8500);
	assert_int_equal(fx_tx_count(f), 6);
	fx_free(f);
}

/* STK-2 */
static void
echo_of_nobody_or_without_a_way_back(void **state)
{
	struct fx *f = *state;
	struct u6_count c;

	u6_count_start(f, &c);
	u6_icmp(f, "::", "ff02::1", 64, 128, 0, 1, NULL, 0);
	u6_dropped(f, &c, STACK_DROP_IP6_NO_ROUTE);
	u6_ping(f, "2001:db8:ff::1", U6_US, NULL, 0);
	assert_int_equal(fx_drops(f, STACK_DROP_IP6_NO_ROUTE), c.one[STACK_DROP_IP6_NO_ROUTE] + 2);
	fx_expect_none(f);
	/* answers and messages we do not know are not answered */
	u6_count_start(f, &c);
	for (unsigned int type = 0; type < 256; type++) {
		static const uint8_t known[] = { 1, 2, 3, 4, 128, 130, 134, 135, 136, 137 };

		if (memchr(known, (int)type, sizeof(known)) != NULL)
			continue;
		u6_icmp(f, U6_PEER, U6_US, 255, (uint8_t)type, 0, 0, data, 32);
		u6_dropped(f, &c, STACK_DROP_ICMP6_TYPE);
	}
	fx_expect_none(f);
}

/* STK-2, STK-8 */
static void
short_messages_and_bad_checksums(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 58 };
	union ip_addr src = fx_a6(U6_PEER), dst = fx_a6(U6_US);
	struct u6_count c;
	uint8_t b[64] = { 128 };

	u6_count_start(f, &c);
	for (uint32_t n = 0; n < 8; n++) {
		fx_rx_ip6(f, &h, b, n);
		u6_dropped(f, &c, STACK_DROP_ICMP6_SHORT);
	}
	for (unsigned int i = 0; i < 8 + 16; i++) {
		uint32_t n = fx_put_icmp6(b, &src, &dst, 128, 0, 1, data, 16);

		b[i] ^= 0x10;
		fx_rx_ip6(f, &h, b, n);
		u6_dropped(f, &c, STACK_DROP_ICMP6_CSUM);
	}
	fx_expect_none(f);
}

/* STK-8, STK-9 */
static void
echo_without_buffers_or_when_shedding(void **state)
{
	struct fx *f = *state;
	struct fx_opts o = { .bufs = 256, .buf_low_watermark = 300 };
	struct fx_ip6 h = { .src = fx_a6(U6_PEER), .dst = fx_a6(U6_US), .next = 58 };
	uint8_t b[256];
	uint32_t at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, ETHERTYPE_IP6);
	struct rte_mbuf *m;
	struct u6_count c;

	at += fx_put_ip6(b + at, &h, 8 + 100);
	at += fx_put_icmp6(b + at, &h.src, &h.dst, 128, 0, 1, data, 100);
	m = fx_buf(f, b, at, 0);
	rte_mbuf_refcnt_update(m, 1); /* others look at it: the answer needs a buffer of its own */
	u6_count_start(f, &c);
	mock_fail_buf_at(f->shim, 1);
	stack_input(f->s, f->nif, &m, 1);
	u6_dropped(f, &c, STACK_DROP_NO_BUFFER);
	fx_expect_none(f);
	shim_buf_free(f->shim, m);
	f = fx_new(&o);
	fx_know_peer(f);
	u6_count_start(f, &c);
	u6_ping(f, U6_PEER, U6_US, data, 8);
	u6_dropped(f, &c, STACK_DROP_BACKPRESSURE);
	h.next = 99;
	fx_rx_ip6(f, &h, data, 8);
	assert_int_equal(fx_drops(f, STACK_DROP_BACKPRESSURE), c.one[STACK_DROP_BACKPRESSURE] + 1);
	fx_expect_none(f);
	fx_free(f);
}

/* ---- errors out ------------------------------------------------------------------------------ */

/* An rx as the upper layer would have it, for the packet in m. */
static struct ip_rx
rx_of(struct fx *f, const struct rte_mbuf *m)
{
	const struct ipv6_hdr *h = shim_buf_data(m);
	struct ip_rx rx = {.nif = f->nif,
			.src = h->src,
			.dst = h->dst,
			.family = ADDR_INET6,
			.l4_off = 40};

	if (ip6_multicast(&rx.dst))
		rx.flags |= IP_RX_MULTICAST;
	return rx;
}

/* Asks for port unreachable about this packet; was there an answer? */
static bool
answered(struct fx *f, const struct fx_ip6 *h, const void *d, uint32_t n)
{
	uint8_t b[FX_FRAME_MAX];
	uint32_t at = fx_put_ip6(b, h, n);
	struct rte_mbuf *m;
	struct ip_rx rx;
	bool sent;

	memcpy(b + at, d, n);
	m = fx_buf(f, b, at + n, 0);
	rx = rx_of(f, m);
	ip_send_unreach(f->s, &rx, IP_UNREACH_PORT, m);
	shim_buf_free(f->shim, m);
	sent = fx_tx_count(f) != 0;
	fx_tx_clear(f);
	return sent;
}

/* STK-2 */
static void
no_icmp_error_about_icmp_error_multicast_broadcast_non_first_fragment(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 17 };
	uint8_t b[256] = { 0 };

	assert_true(answered(f, &h, data, 100));
	/* errors, redirects; not other ICMPv6 */
	h.next = 58;
	for (unsigned int type = 0; type < 256; type++) {
		b[0] = (uint8_t)type;
		assert_int_equal(answered(f, &h, b, 64), type >= 128 && type != 137);
		fx_advance(f, 20 * FX_MS);
	}
	/* behind another header too */
	memcpy(b, "\x3a\x00\x01\x04\x00\x00\x00\x00\x03", 9);
	h.next = 60;
	assert_false(answered(f, &h, b, 64));
	b[8] = 128;
	assert_true(answered(f, &h, b, 64));
	/* to a group, or from one or nobody */
	h = (struct fx_ip6){ .next = 17, .dst = fx_a6("ff02::1") };
	assert_false(answered(f, &h, data, 100));
	h = (struct fx_ip6){ .next = 17, .src = fx_a6("ff02::1") };
	assert_false(answered(f, &h, data, 100));
	h = (struct fx_ip6){ .next = 17, .unspec_src = true };
	assert_false(answered(f, &h, data, 100));
	h = (struct fx_ip6){ .next = 44 };
	u6_put_frag(b, 17, 0, true, 1);
	assert_true(answered(f, &h, b, 64));
	u6_put_frag(b, 17, 8, true, 1);
	assert_false(answered(f, &h, b, 64));
}

/* STK-2 */
static void
errors_by_what_is_unreachable(void **state)
{
	static const struct {
		enum ip_unreach what;
		uint8_t type, code;
		uint32_t arg;
	} want[] = {{IP_UNREACH_PORT, 1, 4, 0}, {IP_UNREACH_HOST, 1, 3, 0},
			{IP_UNREACH_ADMIN, 1, 1, 0}, {IP_UNREACH_PROTO, 4, 1, 6}};
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 17 };
	uint8_t b[2048];
	struct fx_pkt p;

	u6_pattern(b, sizeof(b));
	fx_put_ip6(b, &h, 1460);
	for (unsigned int i = 0; i < 4; i++) {
		struct rte_mbuf *m = fx_buf(f, b, 1500, 100);
		struct ip_rx rx = rx_of(f, m);

		ip_send_unreach(f->s, &rx, want[i].what, m);
		assert_int_equal(shim_buf_len(m), 1500);
		shim_buf_free(f->shim, m);
		u6_expect(f, &p, want[i].type, want[i].code);
		assert_int_equal(get_be32(p.l4 + 4), want[i].arg);
		assert_int_equal(p.l3_len, 1280); /* as much as fits */
		assert_memory_equal(p.l4 + 8, b, 1232);
		assert_true(u6_eq(&p.src, U6_US));
	}
}

/* STK-2 */
static void
icmp_errors_rate_limited(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 17 };
	unsigned int sent = 0;

	for (unsigned int i = 0; i < 1000; i++)
		sent += answered(f, &h, data, 64);
	assert_in_range(sent, 40, 51);
	assert_int_equal(fx_drops(f, STACK_DROP_ICMP6_LIMIT), 1000 - sent);
	fx_advance(f, 10 * FX_NS);
	sent = 0;
	for (unsigned int i = 0; i < 1000; i++) {
		sent += answered(f, &h, data, 64);
		fx_advance(f, FX_MS);
	}
	assert_in_range(sent, 130, 160);
}

/* STK-2, STK-8 */
static void
errors_without_a_buffer_or_a_way(void **state)
{
	struct fx *f = *state;
	struct fx_ip6 h = { .next = 17 };
	uint8_t b[256];

	for (unsigned int k = 1; k <= 2; k++) {
		uint32_t at = fx_put_ip6(b, &h, 100);
		struct rte_mbuf *m = fx_buf(f, b, at + 100, 0);
		struct ip_rx rx = rx_of(f, m);

		mock_fail_buf_at(f->shim, k);
		ip_send_unreach(f->s, &rx, IP_UNREACH_PORT, m);
		mock_fail_buf_at(f->shim, 0);
		shim_buf_free(f->shim, m);
	}
	assert_true(fx_drops(f, STACK_DROP_NO_BUFFER) >= 1);
	fx_tx_clear(f);
	h.src = fx_a6("2001:db8:77::1");
	assert_false(answered(f, &h, data, 64));
}

/* ---- errors in ------------------------------------------------------------------------------- */

/* A socket connected to the peer's port 7; its port is stored. */
static int
connected(struct fx *f, uint16_t *port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = be16(7) };
	socklen_t len = sizeof(a);
	union ip_addr peer = fx_a6(U6_PEER);
	int fd = sock_socket(f->s, AF_INET6, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	memcpy(&a.sin6_addr, peer.v6, 16);
	assert_int_equal(sock_connect(f->s, fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(sock_getsockname(f->s, fd, (struct sockaddr *)&a, &len), 0);
	*port = be16(a.sin6_port);
	return fd;
}

static int
so_error(struct fx *f, int fd)
{
	int e = -1;
	socklen_t len = sizeof(e);

	assert_int_equal(sock_getsockopt(f->s, fd, SOL_SOCKET, SO_ERROR, &e, &len), 0);
	return e;
}

/* Our datagram from port to the peer's port 7, as an error would quote it; n bytes of it. */
static uint32_t
quote(uint8_t *b, uint16_t port, const char *src, const char *dst)
{
	struct fx_ip6 h = { .src = fx_a6(src), .dst = fx_a6(dst), .next = 17 };
	uint32_t at = fx_put_ip6(b, &h, 8 + 20);

	return at + fx_put_udp(b + at, ADDR_INET6, &h.src, &h.dst, port, 7, data, 20);
}

/* STK-2 */
static void
errors_reach_the_socket_they_are_about(void **state)
{
	static const struct {
		uint8_t type, code;
		int err;
		bool hard;
	} want[] = {{1, 0, ENETUNREACH, false}, {1, 1, EACCES, true}, {1, 2, EHOSTUNREACH, false},
			{1, 3, EHOSTUNREACH, false}, {1, 4, ECONNREFUSED, true},
			{1, 5, EACCES, false}, {1, 6, EACCES, false}, {3, 0, EHOSTUNREACH, false},
			{4, 1, EPROTO, true}, {4, 0, EPROTO, false}};
	struct fx *f = *state;
	uint8_t b[256];
	uint16_t port;
	int fd = connected(f, &port);

	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		uint64_t drops = fx_all_drops(f);

		u6_icmp(f, "2001:db8::99", U6_US, 64, want[i].type, want[i].code, 0, b,
			quote(b, port, U6_US, U6_PEER));
		assert_int_equal(said.err, want[i].err);
		assert_int_equal(said.hard, want[i].hard);
		assert_int_equal(said.type, want[i].type);
		assert_int_equal(said.code, want[i].code);
		assert_true(u6_eq(&said.src, U6_US) && u6_eq(&said.dst, U6_PEER));
		assert_int_equal(get_be16(said.l4), port);
		assert_int_equal(so_error(f, fd), want[i].err == ECONNREFUSED ? ECONNREFUSED : 0);
		assert_int_equal(fx_all_drops(f), drops);
	}
	fx_expect_none(f);
}

/* STK-2 */
static void
icmp_error_checked_against_what_we_sent_before_action(void **state)
{
	struct fx *f = *state;
	struct u6_count c;
	uint8_t b[256];
	uint16_t port;
	int fd = connected(f, &port);
	uint32_t n = quote(b, port, U6_US, U6_PEER);

	u6_count_start(f, &c);
	said.err = 0;
	for (uint32_t k = 0; k < 48; k++) { /* too short to say whose it is */
		u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, k);
		u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	}
	b[0] = 0x45;
	u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	n = quote(b, port, "2001:db8::44", U6_PEER); /* not our packet */
	u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	n = quote(b, port, U6_LL, U6_PEER); /* ours, but the error came to another address */
	u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	n = quote(b, port, "fe80::77", U6_PEER);
	u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	quote(b, port, U6_US, U6_PEER);
	memmove(b + 48, b + 40, 28);
	b[6] = 44;
	u6_put_frag(b + 40, 17, 8, false, 1); /* a later fragment shows no port */
	u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, 76);
	u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	assert_int_equal(so_error(f, fd), 0);
	assert_int_equal(said.err, 0);
	u6_put_frag(b + 40, 17, 0, true, 1);
	u6_icmp(f, U6_PEER, U6_US, 64, 1, 4, 0, b, 76);
	assert_int_equal(so_error(f, fd), ECONNREFUSED);
}

static uint16_t
path_mtu(struct fx *f)
{
	union ip_addr a = fx_a6(U6_PEER);
	struct ip_path p;

	assert_int_equal(ip6_path(f->s, &a, NULL, NULL, &p), 0);
	return p.mtu;
}

/* STK-2 */
static void
mtu_below_1280_v6_ignored_and_larger_than_known(void **state)
{
	struct fx *f = *state;
	static const uint32_t bad[] = {
			0, 68, 1279, 1500, 1501, 9000, 65535, 65536 + 1400, UINT32_MAX};
	struct u6_count c;
	uint8_t b[256];
	uint32_t n = quote(b, 1234, U6_US, U6_PEER);

	u6_count_start(f, &c);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		u6_icmp(f, U6_PEER, U6_US, 64, 2, 0, bad[i], b, n);
		u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
		assert_int_equal(path_mtu(f), 1500);
	}
	u6_icmp(f, U6_PEER, U6_US, 64, 2, 0, 1400, b, n);
	assert_int_equal(path_mtu(f), 1400);
	u6_icmp(f, U6_PEER, U6_US, 64, 2, 0, 1450, b, n);
	assert_int_equal(path_mtu(f), 1400);
	u6_icmp(f, U6_PEER, U6_US, 64, 2, 0, 1280, b, n);
	assert_int_equal(path_mtu(f), 1280);
}

/* STK-2 */
static void
packet_too_big_needs_a_quote_of_ours_and_is_obeyed_and_aged_out(void **state)
{
	struct fx *f = *state;
	struct u6_count c;
	uint8_t b[256];
	struct fx_pkt p;
	uint32_t n = quote(b, 1234, "2001:db8::44", U6_PEER);

	u6_count_start(f, &c);
	u6_icmp(f, U6_PEER, U6_US, 64, 2, 0, 1300, b, n);
	u6_dropped(f, &c, STACK_DROP_ICMP6_QUOTE);
	assert_int_equal(path_mtu(f), 1500);
	n = quote(b, 1234, U6_US, U6_PEER);
	u6_icmp(f, U6_PEER, U6_US, 64, 2, 0, 1300, b, n);
	assert_int_equal(said.err, EMSGSIZE);
	assert_int_equal(said.mtu, 1300);
	u6_ping(f, U6_PEER, U6_US, data, 1400);
	fx_expect(f, ETHERTYPE_IP6, &p);
	assert_int_equal(p.proto, 44);
	assert_in_range(p.l3_len, 1280, 1300);
	fx_expect(f, ETHERTYPE_IP6, &p);
	fx_expect_none(f);
	fx_advance(f, 601 * FX_NS);
	fx_tx_clear(f);
	assert_int_equal(path_mtu(f), 1500);
}

/* STK-2 */
static void
neighbour_that_does_not_answer_is_told_to_the_socket(void **state)
{
	struct fx_opts o = { 0 };
	struct fx *f = fx_new(&o);
	struct u6_count c;
	uint16_t port;
	int fd = connected(f, &port);

	(void)state;
	u6_count_start(f, &c);
	assert_int_equal(sock_sendmsg(f->s, fd,
					 &(struct msghdr){.msg_iov = &(struct iovec){data, 10},
							 .msg_iovlen = 1},
					 0),
			10);
	fx_advance(f, 4 * FX_NS);
	assert_int_equal(said.err, EHOSTUNREACH);
	assert_int_equal(get_be16(said.l4), port);
	u6_dropped(f, &c, STACK_DROP_NEIGH_UNREACHABLE);
	fx_tx_clear(f);
	/* a packet that is not even a header's length */
	ip6_unreachable_neigh(f->s, f->nif, fx_buf(f, data, 20, 0));
	u6_dropped(f, &c, STACK_DROP_NEIGH_UNREACHABLE);
	fx_free(f);
}

/* STK-8 */
static void
random_errors_are_survived(void **state)
{
	struct fx *f = *state;
	uint64_t x = 1234567;
	uint8_t b[200] = { 0 };

	for (unsigned int i = 0; i < 2000; i++) {
		quote(b, 9, U6_US, U6_PEER);
		for (unsigned int k = 0; k < 4; k++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			b[(x >> 33) % sizeof(b)] = (uint8_t)(x >> 40);
		}
		u6_icmp(f, U6_PEER, U6_US, 64, (uint8_t)(1 + i % 4), 0, (uint32_t)(x >> 20), b,
				(uint32_t)(x >> 50) % 200);
	}
	fx_tx_clear(f);
}

#define T(t) cmocka_unit_test_setup_teardown(t, setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(echo_answers_with_what_came),
		T(ping_of_8500_bytes_answered_unfragmented_at_mtu_9000),
		T(echo_of_nobody_or_without_a_way_back),
		T(short_messages_and_bad_checksums),
		T(echo_without_buffers_or_when_shedding),
		T(no_icmp_error_about_icmp_error_multicast_broadcast_non_first_fragment),
		T(errors_by_what_is_unreachable),
		T(icmp_errors_rate_limited),
		T(errors_without_a_buffer_or_a_way),
		T(errors_reach_the_socket_they_are_about),
		T(icmp_error_checked_against_what_we_sent_before_action),
		T(mtu_below_1280_v6_ignored_and_larger_than_known),
		T(packet_too_big_needs_a_quote_of_ours_and_is_obeyed_and_aged_out),
		cmocka_unit_test(neighbour_that_does_not_answer_is_told_to_the_socket),
		T(random_errors_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

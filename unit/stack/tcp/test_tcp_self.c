/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP between two sockets of one stack: the whole life of a connection, with nothing but the stack itself. */
#include <sys/socket.h>

#include "core/stack/tcp/tcp_priv.h"
#include "unit/stack/fixture.h"

static struct fx *F;
static struct tcp_pcb *L, *C, *A;
static uint32_t seen;

/* The socket layer's part: what was told. */
void
__wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t events);
void
__wrap_socket_tcp_event(struct stack *s, struct socket *so, uint32_t events)
{
	(void)s;
	(void)so;
	seen |= events;
}

#define SO ((struct socket *)(uintptr_t)16)

static void
turn(void)
{
	for (int i = 0; i < 20; i++)
		fx_poll(F);
}

static void
open_pair(struct fx *f, int family)
{
	union ip_addr a = family == ADDR_INET ? fx_a4("10.0.0.1") : fx_a6("2001:db8::1");

	F = f;
	L = tcp_new(f->s, SO, (uint8_t)family);
	C = tcp_new(f->s, SO, (uint8_t)family);
	assert_non_null(L);
	assert_non_null(C);
	assert_int_equal(tcp_bind(f->s, L, family, &a, be16(80), NULL), 0);
	assert_int_equal(tcp_listen(f->s, L, 5), 0);
	assert_int_equal(tcp_connect(f->s, C, family, &a, be16(80), NULL), -EINPROGRESS);
	turn();
	assert_int_equal(tcp_fsm_of(C), TCP_ESTABLISHED);
	A = tcp_accept(f->s, L);
	assert_non_null(A);
	tcp_attach(A, SO);
	assert_int_equal(tcp_fsm_of(A), TCP_ESTABLISHED);
}

static void
say(struct tcp_pcb *from, struct tcp_pcb *to, const char *text)
{
	char b[64];
	struct iovec w = { (void *)(uintptr_t)text, strlen(text) }, r = { b, sizeof(b) };

	assert_int_equal(tcp_write(F->s, from, &w, 1, 0), strlen(text));
	turn();
	assert_int_equal(tcp_read(F->s, to, &r, 1, 0), strlen(text));
	assert_memory_equal(b, text, strlen(text));
}

static void
close_all(void)
{
	char b[4];
	struct iovec r = { b, sizeof(b) };

	assert_int_equal(tcp_shutdown(F->s, C, SHUT_WR), 0);
	turn();
	assert_int_equal(tcp_fsm_of(A), TCP_CLOSE_WAIT);
	assert_int_equal(tcp_read(F->s, A, &r, 1, 0), 0);
	say(A, C, "half closed");
	tcp_close(F->s, A, false);
	turn();
	assert_int_equal(tcp_fsm_of(C), TCP_TIME_WAIT);
	assert_int_equal(tcp_read(F->s, C, &r, 1, 0), 0);
	tcp_close(F->s, C, false);
	tcp_close(F->s, L, false);
	fx_advance(F, 61 * FX_NS);
	assert_int_equal(F->s->tcp->conns.count, 0);
	assert_int_equal(F->s->tcp->ports.count, 0);
}

/* STK-3 */
static void
open_talk_close_v4(void **state)
{
	open_pair(*state, ADDR_INET);
	say(C, A, "hello");
	say(A, C, "welcome");
	close_all();
}

/* STK-3 */
static void
open_talk_close_v6(void **state)
{
	open_pair(*state, ADDR_INET6);
	say(C, A, "hello");
	say(A, C, "welcome");
	close_all();
}

/* STK-3 */
static void
abort_resets_the_peer(void **state)
{
	char b[4];
	struct iovec r = { b, sizeof(b) };

	open_pair(*state, ADDR_INET);
	tcp_close(F->s, C, true);
	turn();
	assert_int_equal(tcp_fsm_of(A), TCP_CLOSED);
	assert_int_equal(tcp_read(F->s, A, &r, 1, 0), -ECONNRESET);
	tcp_close(F->s, A, false);
	tcp_close(F->s, L, false);
}

/* STK-3 */
static void
bulk_arrives_whole(void **state)
{
	static uint8_t out[1 << 20], in[1 << 20];
	size_t sent = 0, got = 0;

	open_pair(*state, ADDR_INET);
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7 + (i >> 10));
	for (int k = 0; k < 2000 && got < sizeof(in); k++) {
		struct iovec w = { out + sent, sizeof(out) - sent }, r = { in + got, sizeof(in) - got };
		ssize_t n = sent < sizeof(out) ? tcp_write(F->s, C, &w, 1, 0) : 0;

		if (n > 0)
			sent += (size_t)n;
		fx_advance(F, FX_MS);
		n = tcp_read(F->s, A, &r, 1, 0);
		if (n > 0)
			got += (size_t)n;
	}
	assert_int_equal(got, sizeof(in));
	assert_memory_equal(in, out, sizeof(in));
	tcp_close(F->s, C, false);
	tcp_close(F->s, A, false);
	tcp_close(F->s, L, false);
	fx_advance(F, 61 * FX_NS);
}

/*
 * A connection's life with the k-th buffer or block of memory missing: whatever does not work at once works after a retransmission, or
 * fails with an error, and everything is home in the end (teardown asserts it).
 */
static void
life(bool bufs, unsigned int k)
{
	static const char text[] = "what has to arrive, come what may";
	union ip_addr a = fx_a4("10.0.0.1");
	struct iovec w = { (void *)(uintptr_t)text, sizeof(text) };
	char b[64];
	struct iovec r = { b, sizeof(b) };
	ssize_t n = 0;

	L = tcp_new(F->s, SO, ADDR_INET);
	C = tcp_new(F->s, SO, ADDR_INET);
	assert_int_equal(tcp_bind(F->s, L, ADDR_INET, &a, be16(80), NULL), 0);
	assert_int_equal(tcp_listen(F->s, L, 5), 0);
	if (bufs)
		mock_fail_buf_at(F->shim, k);
	else
		mock_fail_malloc_at(F->shim, k);
	A = NULL;
	if (tcp_connect(F->s, C, ADDR_INET, &a, be16(80), NULL) != -EINPROGRESS)
		assert_int_equal(tcp_connect(F->s, C, ADDR_INET, &a, be16(80), NULL), -EINPROGRESS);
	for (int i = 0; i < 40 && A == NULL; i++) {
		fx_advance(F, FX_NS / 2);
		A = tcp_accept(F->s, L);
	}
	assert_non_null(A);
	tcp_attach(A, SO);
	fx_advance(F, 4 * FX_NS);
	while (n <= 0)
		n = tcp_write(F->s, C, &w, 1, 0);
	assert_int_equal(n, sizeof(text));
	n = -EAGAIN;
	for (int i = 0; i < 40 && n == -EAGAIN; i++) {
		fx_advance(F, FX_NS / 2);
		n = tcp_read(F->s, A, &r, 1, 0);
	}
	assert_int_equal(n, sizeof(text));
	tcp_close(F->s, A, false);
	fx_advance(F, 3 * FX_NS);
	assert_true(tcp_at_eof(C));
	tcp_close(F->s, C, false);
	tcp_close(F->s, L, false);
	fx_advance(F, 140 * FX_NS);
	mock_script_clear(F->shim);
	assert_int_equal(F->s->tcp->conns.count, 0);
	assert_int_equal(F->s->tcp->ports.count, 0);
}

/* STK-3, STK-8 */
static void
life_with_any_one_buffer_missing(void **state)
{
	F = *state;
	for (unsigned int k = 1; k < 25; k++)
		life(true, k);
}

/* STK-3, STK-8 */
static void
life_with_any_one_block_missing(void **state)
{
	for (unsigned int k = 1; k < 12; k++) {
		F = fx_new(NULL); /* what slabs keep would hide the next one */
		life(false, k);
		fx_free(F);
	}
	(void)state;
}

#define T(t) cmocka_unit_test_setup_teardown(t, fx_setup, fx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(open_talk_close_v4),
		T(open_talk_close_v6),
		T(abort_resets_the_peer),
		T(bulk_arrives_whole),
		T(life_with_any_one_buffer_missing),
		cmocka_unit_test(life_with_any_one_block_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

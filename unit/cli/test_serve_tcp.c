/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP and echo of nonic serve over a stack that talks to itself. */
#include "core/api/instance.h"
#include "core/cli/http.h"
#include "core/cli/serve_tcp.h"
#include "unit/stack/stream_world.h"

static struct fx *f;
static struct ff_instance *in;
static struct serve_tcp t;

static int
setup(void **state)
{
	f = fx_new(&(struct fx_opts){ .bufs = 4096 });
	assert_int_equal(ff_instance_new(&(struct ff_instance_config){ .shim = f->shim, .stack = f->s }, &in), 0);
	ff_instance_set(in);
	assert_int_equal(serve_tcp_open(&t, f->shim, 80, 7), 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	serve_tcp_close(&t);
	serve_tcp_close(&t); /* twice is once */
	serve_tcp_turn(&t);
	ff_instance_free(in);
	fx_free(f);
	return 0;
}

static void
turns(int n)
{
	while (n-- > 0) {
		fx_poll(f);
		serve_tcp_turn(&t);
		fx_poll(f);
	}
}

static int
client(uint16_t port)
{
	int fd = stream(f, AF_INET);

	assert_int_equal(connect4(f, fd, ME, port), -EINPROGRESS);
	turns(4);
	on(f, fd, IPPROTO_TCP, OPT_NODELAY);
	return fd;
}

static void
say(int fd, const char *text)
{
	assert_int_equal(sock_sendto(f->s, fd, text, strlen(text), 0, NULL, 0), strlen(text));
	turns(4);
}

/* Everything that comes within n bytes, until nothing does; *end: the stream ended. */
static size_t
hear(int fd, char *b, size_t n, bool *end)
{
	size_t have = 0;

	*end = false;
	for (int idle = 0; idle < 3 && have < n;) {
		ssize_t k = sock_recvfrom(f->s, fd, b + have, n - have, 0, NULL, NULL);

		if (k == 0) {
			*end = true;
			break;
		}
		if (k > 0) {
			have += (size_t)k;
			idle = 0;
		} else {
			assert_int_equal(k, -EAGAIN);
			fx_advance(f, 50 * FX_MS);
			idle++;
		}
		turns(2);
	}
	return have;
}

/* One answer, in b with a NUL behind it; the connection stays, or not. */
static void
answers(int fd, const char *request, const char *first_line, size_t body, bool ends)
{
	static char b[65536];
	char *head_end;
	size_t n;
	bool end;

	say(fd, request);
	n = hear(fd, b, sizeof(b) - 1, &end);
	b[n] = '\0';
	assert_int_equal(strncmp(b, first_line, strlen(first_line)), 0);
	head_end = strstr(b, "\r\n\r\n");
	assert_non_null(head_end);
	assert_int_equal(n - (size_t)(head_end + 4 - b), body);
	assert_int_equal(end, ends);
}

#define GET(what) "GET " what " HTTP/1.1\r\nHost: x\r\n\r\n"

static void
requests_on_one_connection(void **state)
{
	struct http_answer page = { .body = HTTP_BODY_PAGE, .status = 200 }, none = { .body = HTTP_BODY_TEXT, .status = 404 };
	int fd = client(80);

	(void)state;
	answers(fd, GET("/"), "HTTP/1.1 200 OK\r\n", strlen(http_text(&page)), false);
	answers(fd, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n", 0, false);
	answers(fd, GET("/none"), "HTTP/1.1 404 Not Found\r\n", strlen(http_text(&none)), false);
	answers(fd, GET("/bytes/1000"), "HTTP/1.1 200 OK\r\n", 1000, false);
	say(fd, "GET / HT"); /* a request in two pieces */
	answers(fd, "TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n", strlen(http_text(&page)), true);
	assert_int_equal(t.requests, 5);
	assert_int_equal(t.accepted, 1);
	assert_int_equal(t.nb_conns, 1); /* till we close as well */
	sock_close(f->s, fd);
	turns(4);
	assert_int_equal(t.nb_conns, 0);
}

static void
bad_requests_end_the_connection(void **state)
{
	int fd = client(80);

	(void)state;
	answers(fd, "nonsense\r\n\r\nGET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", 16, true);
	say(fd, "what comes now is thrown away");
	sock_close(f->s, fd);
	turns(4);
	assert_int_equal(t.nb_conns, 0);
	assert_int_equal(t.requests, 1);
}

static void
pipelined_requests_are_answered_in_order(void **state)
{
	static char b[4096];
	int fd = client(80);
	char *at = b;
	size_t n;
	bool end;

	(void)state;
	say(fd, GET("/bytes/11") GET("/bytes/22") GET("/bytes/33") "GET /by");
	n = hear(fd, b, sizeof(b) - 1, &end);
	b[n] = '\0';
	for (int i = 1; i <= 3; i++) {
		char want[40];

		snprintf(want, sizeof(want), "Content-Length: %d\r\n", i * 11);
		at = strstr(at, want);
		assert_non_null(at);
		at = strstr(at, "\r\n\r\n") + 4 + i * 11;
	}
	assert_ptr_equal(at, b + n);
	/* the client's end: what is there is answered, half a request is not */
	sock_shutdown(f->s, fd, SHUT_WR);
	turns(4);
	assert_int_equal(hear(fd, b, sizeof(b), &end), 0);
	assert_true(end);
	assert_int_equal(t.nb_conns, 0);
}

static void
long_bodies_wait_for_room(void **state)
{
	static char b[400000];
	int fd = client(80);
	size_t n, head;
	bool end;

	(void)state;
	say(fd, "GET /bytes/300000 HTTP/1.0\r\n\r\n");
	turns(20);
	n = hear(fd, b, sizeof(b), &end);
	assert_true(end);
	head = (size_t)(strstr(b, "\r\n\r\n") + 4 - b);
	assert_int_equal(n - head, 300000);
	for (size_t i = 0; i < 300000; i++)
		assert_int_equal((uint8_t)b[head + i], i % HTTP_PATTERN);
}

static void
a_client_that_goes_away_in_the_middle(void **state)
{
	struct linger l = { 1, 0 };
	int fd = client(80);

	(void)state;
	say(fd, GET("/bytes/1000000000"));
	turns(10);
	assert_int_equal(t.nb_conns, 1);
	assert_int_equal(sock_setsockopt(f->s, fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	sock_close(f->s, fd);
	turns(10);
	assert_int_equal(t.nb_conns, 0);
}

static void
echo_gives_everything_back(void **state)
{
	static char out[100000], back[sizeof(out)];
	size_t sent = 0, got = 0;
	int fd = client(7);
	bool end;

	(void)state;
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + i / 256);
	for (int round = 0; round < 2000 && got < sizeof(out); round++) {
		ssize_t n = sent < sizeof(out) ? sock_sendto(f->s, fd, out + sent, sizeof(out) - sent, 0, NULL, 0) : 0;

		sent += n > 0 ? (size_t)n : 0;
		turns(3);
		if (round > 20) /* a reader that is slow at first */
			got += hear(fd, back + got, sizeof(back) - got, &end);
	}
	assert_int_equal(got, sizeof(out));
	assert_memory_equal(out, back, sizeof(out));
	sock_shutdown(f->s, fd, SHUT_WR);
	turns(4);
	assert_int_equal(hear(fd, back, 1, &end), 0);
	assert_true(end);
	assert_int_equal(t.nb_conns, 0);
}

static void
too_many_connections(void **state)
{
	char b[8];
	int fd[2];
	bool end;

	(void)state;
	t.max_conns = 1;
	fd[0] = client(80);
	fd[1] = client(80);
	assert_int_equal(t.nb_conns, 1);
	assert_int_equal(t.refused, 1);
	assert_int_equal(hear(fd[1], b, sizeof(b), &end), 0);
	assert_true(end);
	answers(fd[0], GET("/bytes/5"), "HTTP/1.1 200 OK\r\n", 5, false);
	/* no memory for one is the same */
	t.max_conns = 10;
	for (unsigned int k = 1; k < 6; k++) {
		int c = stream(f, AF_INET);

		assert_int_equal(connect4(f, c, ME, 80), -EINPROGRESS);
		settle(f);
		mock_fail_malloc_at(f->shim, k);
		serve_tcp_turn(&t);
		mock_fail_malloc_at(f->shim, 0);
		turns(4);
		sock_close(f->s, c);
		turns(4);
	}
	assert_int_equal(t.nb_conns, 1);
}

static void
opening_fails_whole(void **state)
{
	struct serve_tcp other;
	int rc, k;

	(void)state;
	assert_int_equal(serve_tcp_open(&other, f->shim, 80, 0), -EADDRINUSE);
	assert_int_equal(serve_tcp_open(&other, f->shim, 0, 7), -EADDRINUSE);
	for (k = 1; k < 40; k++) {
		mock_fail_malloc_at(f->shim, (unsigned int)k);
		rc = serve_tcp_open(&other, f->shim, 81, 8);
		mock_fail_malloc_at(f->shim, 0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_in_range(k, 4, 39);
	serve_tcp_close(&other);
	assert_int_equal(serve_tcp_open(&other, f->shim, 0, 0), 0);
	serve_tcp_close(&other);
	ff_instance_set(NULL);
	assert_int_equal(serve_tcp_open(&other, f->shim, 0, 0), -ENXIO);
	ff_instance_set(in);
}

int
main(void)
{
#define S(x) cmocka_unit_test_setup_teardown(x, setup, teardown)
	const struct CMUnitTest tests[] = {
		S(requests_on_one_connection),
		S(bad_requests_end_the_connection),
		S(pipelined_requests_are_answered_in_order),
		S(long_bodies_wait_for_room),
		S(a_client_that_goes_away_in_the_middle),
		S(echo_gives_everything_back),
		S(too_many_connections),
		S(opening_fails_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

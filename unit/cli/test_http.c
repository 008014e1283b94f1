/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as clients and attackers write them, and what is answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cli/http.h"

static struct http_answer a;

/* The request in memory of exactly its size, so that a sanitizer sees any step past it. */
static size_t
ask(const char *text, size_t n)
{
	char *b = malloc(n + (n == 0));
	size_t used;

	assert_non_null(b);
	memcpy(b, text, n);
	used = http_request(b, n, &a);
	free(b);
	return used;
}

static void
expect(const char *text, uint16_t status, bool close)
{
	size_t n = strlen(text);

	assert_int_equal(ask(text, n), n);
	assert_int_equal(a.status, status);
	assert_int_equal(a.close, close);
}

static void
gets_and_heads(void **state)
{
	(void)state;
	expect("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200, false);
	assert_int_equal(a.body, HTTP_BODY_PAGE);
	assert_int_equal(a.length, strlen(http_text(&a)));
	assert_false(a.head_only);
	expect("HEAD /index.html HTTP/1.1\r\nhost: x\r\n\r\n", 200, false);
	assert_true(a.head_only);
	assert_int_equal(a.length, strlen(http_text(&a)));
	expect("GET /bytes/12345 HTTP/1.1\nHost:x\n\n", 200, false);
	assert_int_equal(a.body, HTTP_BODY_PATTERN);
	assert_int_equal(a.length, 12345);
	expect("GET /bytes/1000000000000 HTTP/1.1\r\nHost: x\r\n\r\n", 200, false);
	expect("GET /bytes/0?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", 200, false);
	assert_int_equal(a.length, 0);
	expect("GET http://host/bytes/7 HTTP/1.1\r\nHost: x\r\n\r\n", 200, false);
	assert_int_equal(a.length, 7);
	expect("GET http://host HTTP/1.1\r\nHost: x\r\n\r\n", 200, false);
	assert_int_equal(a.body, HTTP_BODY_PAGE);
	expect("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 200, false);
}

static void
not_found(void **state)
{
	static const char *const paths[] = { "/x", "/bytes/", "/bytes/1x", "/bytes/-1", "/bytes/1000000000001",
		"/bytes/99999999999999999999999", "/bytes", "/index.htm" };
	char b[128];

	(void)state;
	for (unsigned int i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(b, sizeof(b), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", paths[i]);
		expect(b, 404, false);
		assert_int_equal(a.length, strlen(http_text(&a)));
	}
}

static void
connections_are_kept_or_closed(void **state)
{
	(void)state;
	expect("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, true);
	expect("GET / HTTP/1.1\r\nHost: x\r\nConnection: te , CLOSE\r\n\r\n", 200, true);
	expect("GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n", 200, false);
	expect("GET / HTTP/1.0\r\n\r\n", 200, true);
	expect("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 200, false);
	expect("GET /no HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, true);
	expect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 405, false);
	expect("get / HTTP/1.1\r\nHost: x\r\n\r\n", 405, false); /* methods are case-sensitive */
}

static void
bad_requests(void **state)
{
	static const char *const bad[] = {
		"\x16\x03\x01\r\n\r\n",
		"GET\r\n\r\n",
		"GET /\r\n\r\n",
		"GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
		"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / http/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.x\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nnocolon\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\001b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET nothing HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /\177 HTTP/1.1\r\nHost: x\r\n\r\n",
		"G(T / HTTP/1.1\r\nHost: x\r\n\r\n",
		" / HTTP/1.1\r\nHost: x\r\n\r\n",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect(bad[i], 400, true);
		assert_int_equal(a.body, HTTP_BODY_TEXT);
	}
	expect("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505, true);
	assert_int_equal(ask("GET / HTTP/1.1\r\nHost: \0x\r\n\r\n", 29), 29);
	assert_int_equal(a.status, 400);
}

/* Bytes that come one by one, and several requests at once. */
static void
partial_and_pipelined(void **state)
{
	static const char two[] = "GET /bytes/1 HTTP/1.1\r\nHost: x\r\n\r\nHEAD /bytes/2 HTTP/1.1\r\nHost: x\r\n\r\nGE";
	size_t first = strstr(two, "HEAD") - two, i;

	(void)state;
	for (i = 0; i < first; i++)
		assert_int_equal(ask(two, i), 0);
	assert_int_equal(ask(two, sizeof(two) - 1), first);
	assert_int_equal(a.length, 1);
	assert_int_equal(ask(two + first, sizeof(two) - 1 - first), sizeof(two) - 3 - first);
	assert_int_equal(a.length, 2);
	assert_int_equal(ask("GE", 2), 0);
}

static void
heads_that_never_end(void **state)
{
	static char big[HTTP_REQUEST_MAX];

	(void)state;
	memset(big, 'a', sizeof(big));
	assert_int_equal(ask(big, sizeof(big) - 1), 0);
	assert_int_equal(ask(big, sizeof(big)), sizeof(big));
	assert_int_equal(a.status, 431);
	assert_true(a.close);
	memset(big, '\n', sizeof(big));
	assert_int_equal(ask(big, sizeof(big) - 1), 0);
	assert_int_equal(ask(big, sizeof(big)), sizeof(big));
	assert_int_equal(a.status, 400);
}

static void
heads_of_answers(void **state)
{
	static const uint16_t codes[] = { 200, 400, 404, 405, 431, 505 };
	char b[HTTP_HEAD_MAX];

	(void)state;
	expect("GET /bytes/1000000000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, true);
	b[http_head(&a, b)] = '\0';
	assert_string_equal(b, "HTTP/1.1 200 OK\r\nServer: nonic\r\nContent-Type: application/octet-stream\r\n"
		"Content-Length: 1000000000000\r\nConnection: close\r\n\r\n");
	for (unsigned int i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct http_answer x = { .status = codes[i], .length = UINT64_MAX, .body = HTTP_BODY_PATTERN };
		size_t n = http_head(&x, b);

		assert_true(n < HTTP_HEAD_MAX);
		assert_memory_equal(b + n - 4, "\r\n\r\n", 4);
		assert_true((strstr(b, "Allow: GET, HEAD\r\n") != NULL) == (codes[i] == 405));
	}
}

/* Any bytes: an answer that makes sense, never a step outside. */
static void
any_bytes(void **state)
{
	static const char seed[] = "GET /bytes/77 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
	uint64_t x = 88172645463325252ull;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char b[sizeof(seed)];
		size_t n, used;

		memcpy(b, seed, sizeof(seed));
		for (int k = 0; k < 3; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			b[x % (sizeof(seed) - 1)] = (char)(x >> 32);
		}
		n = sizeof(seed) - 1 - (x >> 48) % 8;
		used = ask(b, n);
		assert_true(used <= n);
		if (used != 0)
			assert_true(a.status >= 200 && a.status <= 505 && a.length <= HTTP_BYTES_MAX);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gets_and_heads),
		cmocka_unit_test(not_found),
		cmocka_unit_test(connections_are_kept_or_closed),
		cmocka_unit_test(bad_requests),
		cmocka_unit_test(partial_and_pipelined),
		cmocka_unit_test(heads_that_never_end),
		cmocka_unit_test(heads_of_answers),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small HTTP/1.1 server's message syntax (RFC 9112): requests without a body, answers of known length. Pure; hostile input,
 * bounded by the caller's buffer.
 */
#ifndef NONIC_CLI_HTTP_H
#define NONIC_CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_REQUEST_MAX 8192      /* a longer head is answered 431 */
#define HTTP_HEAD_MAX 256          /* of an answer */
#define HTTP_BYTES_MAX 1000000000000ull /* of /bytes/N */

enum http_body { HTTP_BODY_NONE, HTTP_BODY_PAGE, HTTP_BODY_PATTERN, HTTP_BODY_TEXT };

/* What to answer. */
struct http_answer {
	uint16_t status;          /* 200, 400, 404, 405, 431, 505 */
	bool close;               /* the connection ends behind it */
	bool head_only;           /* the request was HEAD: no body is sent, whatever its length */
	enum http_body body;
	uint64_t length;          /* of the body */
};

/*
 * Looks at the n bytes of a connection that were not answered yet. Returns how many the first request takes (its head and
 * empty lines before it) with *out its answer; 0: not whole yet, and n is below HTTP_REQUEST_MAX. What can not be read is
 * answered 400 with close set, and takes everything.
 *
 * GET and HEAD of / (and /index.html) are the page, /bytes/N are N bytes of the pattern. A message with a body is 400,
 * another method 405, another major version 505; HTTP/1.0 closes unless it asks to be kept.
 */
size_t http_request(const char *b, size_t n, struct http_answer *out);
/* The answer's head at b (HTTP_HEAD_MAX bytes); returns its length. */
size_t http_head(const struct http_answer *a, char *b);
/* The body of HTTP_BODY_PAGE and HTTP_BODY_TEXT (a status in words). */
const char *http_text(const struct http_answer *a);
/* The pattern: byte i is i % HTTP_PATTERN. */
#define HTTP_PATTERN 251

#endif

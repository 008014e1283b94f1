/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP/1.1 requests and answers (RFC 9112, RFC 9110). */
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char page[] =
	"<!DOCTYPE html>\n<html><head><title>nonic</title></head>\n"
	"<body><h1>nonic</h1><p>A user-space network stack answers here.</p></body></html>\n";

/* A piece of the message. */
struct word {
	const char *p;
	size_t n;
};

static const struct status {
	uint16_t code;
	const char *reason;
	const char *text;
} statuses[] = {
	{ 200, "OK", "OK\n" },
	{ 400, "Bad Request", "400 Bad Request\n" },
	{ 404, "Not Found", "404 Not Found\n" },
	{ 405, "Method Not Allowed", "405 Method Not Allowed\n" },
	{ 431, "Request Header Fields Too Large", "431 Request Header Fields Too Large\n" },
	{ 505, "HTTP Version Not Supported", "505 HTTP Version Not Supported\n" },
};

static const struct status *
status_of(uint16_t code)
{
	unsigned int i = 0;

	while (statuses[i].code != code)
		i++;
	return &statuses[i];
}

const char *
http_text(const struct http_answer *a)
{
	return a->body == HTTP_BODY_PAGE ? page : status_of(a->status)->text;
}

static void
answer_text(struct http_answer *out, uint16_t status, bool close)
{
	out->status = status;
	out->close = out->close || close;
	out->body = HTTP_BODY_TEXT;
	out->length = strlen(status_of(status)->text);
}

static bool
is_word(const struct word *w, const char *text)
{
	return w->n == strlen(text) && strncasecmp(w->p, text, w->n) == 0;
}

/* RFC 9110 5.6.2 */
static bool
is_token(const struct word *w)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < w->n; i++) {
		char c = w->p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    (c != '\0' && strchr(marks, c) != NULL)))
			return false;
	}
	return w->n != 0;
}

/* The next line of [*at, end) without its end; a bare LF ends one too (RFC 9112 2.2). false: none is whole. */
static bool
next_line(const char **at, const char *end, struct word *line)
{
	const char *lf = memchr(*at, '\n', (size_t)(end - *at));

	if (lf == NULL)
		return false;
	line->p = *at;
	line->n = (size_t)(lf - *at);
	if (line->n != 0 && line->p[line->n - 1] == '\r')
		line->n--;
	*at = lf + 1;
	return true;
}

/* Cuts the part of rest before c; without one all of it. */
static struct word
cut(struct word *rest, char c)
{
	const char *at = memchr(rest->p, c, rest->n);
	struct word w = *rest;

	if (at == NULL) {
		rest->p += rest->n;
		rest->n = 0;
		return w;
	}
	w.n = (size_t)(at - w.p);
	rest->p = at + 1;
	rest->n -= w.n + 1;
	return w;
}

static struct word
trim(struct word w)
{
	while (w.n != 0 && (*w.p == ' ' || *w.p == '\t')) {
		w.p++;
		w.n--;
	}
	while (w.n != 0 && (w.p[w.n - 1] == ' ' || w.p[w.n - 1] == '\t'))
		w.n--;
	return w;
}

/* A decimal number that is all of w. */
static bool
number(const struct word *w, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->p[i] < '0' || w->p[i] > '9' || v > max / 10)
			return false;
		v = v * 10 + (uint64_t)(w->p[i] - '0');
	}
	*out = v;
	return w->n != 0 && v <= max;
}

/* What is kept of the header fields. */
struct fields {
	unsigned int hosts;
	bool close, keep, has_body;
};

/* 0; -1: the field is malformed. */
static int
field(struct word line, struct fields *f)
{
	struct word rest = line, name = cut(&rest, ':'), value = trim(rest);
	uint64_t n;

	if (!is_token(&name) || name.n == line.n) /* folded lines and blanks before the colon are no tokens */
		return -1;
	for (size_t i = 0; i < value.n; i++) {
		if ((unsigned char)value.p[i] < ' ' && value.p[i] != '\t')
			return -1;
	}
	if (is_word(&name, "host")) {
		f->hosts++;
	} else if (is_word(&name, "transfer-encoding")) {
		f->has_body = true;
	} else if (is_word(&name, "content-length")) {
		if (!number(&value, UINT64_MAX / 16, &n))
			return -1;
		f->has_body = f->has_body || n != 0;
	} else if (is_word(&name, "connection")) {
		while (value.n != 0) {
			struct word w = trim(cut(&value, ','));

			f->close = f->close || is_word(&w, "close");
			f->keep = f->keep || is_word(&w, "keep-alive");
		}
	}
	return 0;
}

/* The path of a target: origin form, or absolute form (RFC 9112 3.2), without a query. n 0: neither. */
static struct word
path_of(struct word t)
{
	struct word none = { t.p, 0 };

	if (t.n >= 7 && strncasecmp(t.p, "http://", 7) == 0) {
		const char *slash = memchr(t.p + 7, '/', t.n - 7);

		if (slash == NULL)
			return (struct word){ "/", 1 };
		t.n -= (size_t)(slash - t.p);
		t.p = slash;
	}
	if (t.n == 0 || *t.p != '/')
		return none;
	for (size_t i = 0; i < t.n; i++) {
		if ((unsigned char)t.p[i] <= ' ' || t.p[i] == 0x7f)
			return none;
	}
	return cut(&t, '?');
}

static void
resource(struct word path, struct http_answer *out)
{
	struct word n = { path.p + 7, path.n - 7 };

	out->status = 200;
	if (is_word(&path, "/") || is_word(&path, "/index.html")) {
		out->body = HTTP_BODY_PAGE;
		out->length = sizeof(page) - 1;
	} else if (path.n > 7 && strncmp(path.p, "/bytes/", 7) == 0 && number(&n, HTTP_BYTES_MAX, &out->length)) {
		out->body = HTTP_BODY_PATTERN;
	} else {
		answer_text(out, 404, false);
	}
}

/* minor: of HTTP/1.x, -1: no version, -2: another major. */
static int
version(const struct word *w)
{
	if (w->n != 8 || memcmp(w->p, "HTTP/", 5) != 0 || w->p[5] < '0' || w->p[5] > '9' || w->p[6] != '.' || w->p[7] < '0' ||
	    w->p[7] > '9')
		return -1;
	return w->p[5] == '1' ? w->p[7] - '0' : -2;
}

/* The whole head: line is the request line, [at, end) the fields. */
static void
answer(struct word line, const char *at, const char *end, struct http_answer *out)
{
	struct word rest = line, method = cut(&rest, ' '), target = cut(&rest, ' '), path = path_of(target);
	struct fields f = { .hosts = 0 };
	int minor = version(&rest);

	while (minor >= 0 && next_line(&at, end, &line) && line.n != 0) {
		if (field(line, &f) != 0)
			minor = -1;
	}
	if (minor == -2) {
		answer_text(out, 505, true);
		return;
	}
	if (minor < 0 || !is_token(&method) || f.hosts > 1 || (minor != 0 && f.hosts == 0) || f.has_body) {
		answer_text(out, 400, true);
		return;
	}
	out->close = f.close || (minor == 0 && !f.keep);
	out->head_only = method.n == 4 && memcmp(method.p, "HEAD", 4) == 0;
	if (!out->head_only && !(method.n == 3 && memcmp(method.p, "GET", 3) == 0))
		answer_text(out, 405, false);
	else if (path.n == 0)
		answer_text(out, 400, true);
	else
		resource(path, out);
}

/* One past the empty line that ends the head, or NULL. */
static const char *
head_end(const char *at, const char *end)
{
	struct word line;

	while (next_line(&at, end, &line)) {
		if (line.n == 0)
			return at;
	}
	return NULL;
}

size_t
http_request(const char *b, size_t n, struct http_answer *out)
{
	const char *at = b, *end = b + n, *start = b, *stop;
	struct word line = { 0 }; /* set where it is used; gcc -O3 does not see that */

	memset(out, 0, sizeof(*out));
	while (next_line(&at, end, &line) && line.n == 0) /* empty lines before a request (RFC 9112 2.2) */
		start = at;
	stop = head_end(start, end);
	if (stop == NULL) {
		if (n < HTTP_REQUEST_MAX)
			return 0;
		answer_text(out, start == end ? 400 : 431, true);
		return n;
	}
	answer(line, at, stop, out);
	return out->status == 400 ? n : (size_t)(stop - b);
}

size_t
http_head(const struct http_answer *a, char *b)
{
	const char *type = a->body == HTTP_BODY_PAGE ? "text/html" : a->body == HTTP_BODY_PATTERN ?
		"application/octet-stream" : "text/plain";
	int n = snprintf(b, HTTP_HEAD_MAX, "HTTP/1.1 %u %s\r\nServer: nonic\r\nContent-Type: %s\r\nContent-Length: %llu\r\n%s%s\r\n",
		a->status, status_of(a->status)->reason, type, (unsigned long long)a->length,
		a->status == 405 ? "Allow: GET, HEAD\r\n" : "", a->close ? "Connection: close\r\n" : "Connection: keep-alive\r\n");

	return (size_t)n;
}

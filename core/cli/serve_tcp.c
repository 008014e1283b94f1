/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP and echo over the ff_* API. */
#include "serve_tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "../api/include/ff_api.h"
#include "http.h"

#define BACKLOG 4096
#define EVENTS 64              /* of one turn */
#define ACCEPTS 64             /* of one event */
#define ROUNDS 16              /* answers, or pieces, that one connection gets in one event */
#define DISCARD_MAX (1u << 20) /* what a connection that is closing may still send */

enum kind { LISTENER, HTTP, ECHO };

struct conn {
	enum kind kind;
	int fd;
	bool eof;              /* the peer sends no more */
	bool last;             /* HTTP: the answer that is on its way is the last one */
	bool ending;           /* we send no more; the rest of what comes is thrown away */
	bool dead;
	uint16_t head_len, head_off;
	uint32_t in_len;       /* read and not dealt with */
	uint32_t discarded;
	uint64_t body_len, body_off;
	uint8_t *in;           /* allocated while in_len is not 0 */
	const uint8_t *body;   /* NULL: the pattern */
	struct list link;
	char head[HTTP_HEAD_MAX];
};

static int
listen_on(struct serve_tcp *t, int domain, uint16_t port, int *out)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	const void *addr = domain == AF_INET ? (const void *)&v4 : &v6;
	socklen_t len = domain == AF_INET ? sizeof(v4) : sizeof(v6);
	struct kevent ev;
	int one = 1, fd = ff_socket(domain, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	*out = fd;
	if (ff_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    ff_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
	    (domain == AF_INET6 && ff_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) != 0) ||
	    ff_bind(fd, addr, len) != 0 || ff_listen(fd, BACKLOG) != 0)
		return -errno;
	EV_SET(&ev, fd, EVFILT_READ, EV_ADD, 0, 0, NULL);
	return ff_kevent(t->kq, &ev, 1, NULL, 0, NULL) != 0 ? -errno : 0;
}

int
serve_tcp_open(struct serve_tcp *t, struct shim *s, uint16_t http_port, uint16_t echo_port)
{
	int rc = 0;

	memset(t, 0, sizeof(*t));
	t->shim = s;
	t->max_conns = SERVE_TCP_CONNS;
	list_init(&t->conns);
	list_init(&t->dead);
	for (unsigned int i = 0; i < 4; i++)
		t->listener[i] = -1;
	t->kq = ff_kqueue();
	if (t->kq < 0)
		return -errno;
	t->scratch = shim_malloc(s, SERVE_TCP_CHUNK);
	t->pattern = shim_malloc(s, SERVE_TCP_CHUNK + HTTP_PATTERN);
	if (t->scratch == NULL || t->pattern == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < SERVE_TCP_CHUNK + HTTP_PATTERN; i++)
		t->pattern[i] = (uint8_t)(i % HTTP_PATTERN);
	for (unsigned int i = 0; rc == 0 && i < 4; i++) {
		uint16_t port = i < 2 ? http_port : echo_port;

		if (port != 0)
			rc = listen_on(t, i % 2 == 0 ? AF_INET : AF_INET6, port, &t->listener[i]);
	}
	if (rc < 0)
		serve_tcp_close(t);
	return rc;
}

/* Events of this turn may still name it: it is freed when the turn ends. */
static void
conn_close(struct serve_tcp *t, struct conn *c)
{
	if (c->dead)
		return;
	c->dead = true;
	ff_close(c->fd);
	list_del(&c->link);
	list_add_tail(&t->dead, &c->link);
	t->nb_conns--;
}

static void
bury(struct serve_tcp *t)
{
	struct list *it;

	while ((it = list_pop(&t->dead)) != NULL) {
		struct conn *c = list_entry(it, struct conn, link);

		shim_free(t->shim, c->in);
		shim_free(t->shim, c);
	}
}

void
serve_tcp_close(struct serve_tcp *t)
{
	if (t->kq < 0)
		return;
	while (!list_empty(&t->conns))
		conn_close(t, list_entry(t->conns.next, struct conn, link));
	bury(t);
	for (unsigned int i = 0; i < 4; i++) {
		if (t->listener[i] >= 0)
			ff_close(t->listener[i]);
		t->listener[i] = -1;
	}
	ff_close(t->kq);
	t->kq = -1;
	shim_free(t->shim, t->scratch);
	shim_free(t->shim, t->pattern);
	t->scratch = t->pattern = NULL;
}

/* ---- sending ---- */

/* Is something on its way that found no room? */
static bool
sending(const struct conn *c)
{
	return c->head_off < c->head_len || c->body_off < c->body_len;
}

/* What is left of the answer. false: no room now, or the connection is gone. */
static bool
flush(struct serve_tcp *t, struct conn *c)
{
	while (sending(c)) {
		uint64_t left = c->body_len - c->body_off;
		struct iovec iov[2] = { { c->head + c->head_off, (size_t)(c->head_len - c->head_off) } };
		ssize_t n;

		iov[1].iov_base = (void *)(uintptr_t)(c->body != NULL ? c->body + c->body_off :
			t->pattern + c->body_off % HTTP_PATTERN);
		iov[1].iov_len = left < SERVE_TCP_CHUNK ? (size_t)left : SERVE_TCP_CHUNK;
		n = ff_writev(c->fd, iov, 2);
		if (n < 0) {
			if (errno != EAGAIN)
				conn_close(t, c);
			return false;
		}
		if ((size_t)n <= iov[0].iov_len) {
			c->head_off = (uint16_t)(c->head_off + n);
		} else {
			c->body_off += (uint64_t)n - iov[0].iov_len;
			c->head_off = c->head_len;
		}
	}
	return true;
}

/* No more will be sent; what the peer still sends is read, lest a reset destroys what it has not read yet. */
static void
end_sending(struct serve_tcp *t, struct conn *c)
{
	c->ending = true;
	c->in_len = 0;
	if (c->eof || ff_shutdown(c->fd, SHUT_WR) != 0)
		conn_close(t, c);
}

static void
answer(struct conn *c, const struct http_answer *a)
{
	c->head_len = (uint16_t)http_head(a, c->head);
	c->head_off = 0;
	c->body_off = 0;
	c->body_len = a->head_only ? 0 : a->length;
	c->body = a->body == HTTP_BODY_PATTERN ? NULL : (const uint8_t *)http_text(a);
	c->last = a->close;
}

/* ---- receiving ---- */

/* Keeps n bytes of b, which is not c->in's memory, for later. */
static bool
keep(struct serve_tcp *t, struct conn *c, const uint8_t *b, size_t n)
{
	if (n != 0 && c->in == NULL)
		c->in = shim_malloc(t->shim, SERVE_TCP_CHUNK);
	if (n != 0 && c->in == NULL)
		return false;
	if (n != 0)
		memcpy(c->in, b, n);
	c->in_len = (uint32_t)n;
	return true;
}

/*
 * Everything unread up to a chunk behind what was kept, in the scratch buffer. Bytes in it; -1: the connection is gone. Sets
 * *more when there may be more to read.
 */
static ssize_t
gather(struct serve_tcp *t, struct conn *c, bool *more)
{
	size_t have = c->in_len;
	ssize_t n = 0;

	*more = false;
	if (have != 0)
		memcpy(t->scratch, c->in, have);
	shim_free(t->shim, c->in);
	c->in = NULL;
	c->in_len = 0;
	if (have < SERVE_TCP_CHUNK && !c->eof) {
		n = ff_read(c->fd, t->scratch + have, SERVE_TCP_CHUNK - have);
		if (n < 0 && errno != EAGAIN) {
			conn_close(t, c);
			return -1;
		}
		c->eof = n == 0;
		*more = n > 0;
	} else {
		*more = !c->eof; /* the buffer was full */
	}
	return (ssize_t)have + (n > 0 ? n : 0);
}

/* Answers the requests that are there until one finds no room. true: call again. */
static bool
http_round(struct serve_tcp *t, struct conn *c)
{
	struct http_answer a;
	size_t used = 0, n;
	ssize_t have;
	bool more;

	if (!flush(t, c))
		return false;
	if (c->last) {
		end_sending(t, c);
		return !c->dead;
	}
	have = gather(t, c, &more);
	if (have < 0)
		return false;
	while (!sending(c) && !c->last) {
		n = http_request((const char *)t->scratch + used, (size_t)have - used, &a);
		if (n == 0)
			break;
		used += n;
		t->requests++;
		answer(c, &a);
		if (!flush(t, c) && c->dead)
			return false;
	}
	if (!keep(t, c, t->scratch + used, (size_t)have - used)) {
		conn_close(t, c);
		return false;
	}
	if (c->last && !sending(c))
		return true; /* to its end */
	if (c->eof && !sending(c)) { /* half a request, or none */
		conn_close(t, c);
		return false;
	}
	return more && !sending(c);
}

static bool
echo_round(struct serve_tcp *t, struct conn *c)
{
	ssize_t have, done;
	bool more;

	have = gather(t, c, &more);
	if (have < 0)
		return false;
	done = have == 0 ? 0 : ff_write(c->fd, t->scratch, (size_t)have);
	if (done < 0 && errno == EAGAIN)
		done = 0;
	if (done < 0 || !keep(t, c, t->scratch + done, (size_t)(have - done)) || (c->eof && done == have)) {
		conn_close(t, c);
		return false;
	}
	return more && done == have;
}

static bool
discard_round(struct serve_tcp *t, struct conn *c)
{
	ssize_t n = ff_read(c->fd, t->scratch, SERVE_TCP_CHUNK);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n > 0)
		c->discarded += (uint32_t)n;
	if (n > 0 && c->discarded <= DISCARD_MAX)
		return true;
	conn_close(t, c);
	return false;
}

/* ---- events ---- */

static struct conn *
conn_open(struct serve_tcp *t, int fd, enum kind kind)
{
	struct conn *c = t->nb_conns < t->max_conns ? shim_malloc(t->shim, sizeof(*c)) : NULL;
	struct kevent ev[2];

	if (c == NULL)
		return NULL;
	c->fd = fd;
	c->kind = kind;
	EV_SET(&ev[0], fd, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, c);
	EV_SET(&ev[1], fd, EVFILT_WRITE, EV_ADD | EV_CLEAR, 0, 0, c);
	if (ff_kevent(t->kq, ev, 2, NULL, 0, NULL) != 0) {
		shim_free(t->shim, c);
		return NULL;
	}
	list_add_tail(&t->conns, &c->link);
	t->nb_conns++;
	t->accepted++;
	return c;
}

static void
accept_some(struct serve_tcp *t, int fd)
{
	enum kind kind = fd == t->listener[0] || fd == t->listener[1] ? HTTP : ECHO;

	for (int i = 0; i < ACCEPTS; i++) {
		int c = ff_accept(fd, NULL, NULL);

		if (c < 0)
			return;
		if (conn_open(t, c, kind) == NULL) {
			t->refused++;
			ff_close(c);
		}
	}
}

/* Asks to be called again for c, whose turn is over although there is more: a fresh note reports what is there. */
static void
again(struct serve_tcp *t, struct conn *c)
{
	struct kevent ev;

	EV_SET(&ev, c->fd, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, c);
	if (ff_kevent(t->kq, &ev, 1, NULL, 0, NULL) != 0)
		conn_close(t, c);
}

static void
conn_event(struct serve_tcp *t, struct conn *c)
{
	bool more = true;

	for (int i = 0; more && i < ROUNDS; i++) {
		if (c->ending)
			more = discard_round(t, c);
		else
			more = c->kind == HTTP ? http_round(t, c) : echo_round(t, c);
	}
	if (more)
		again(t, c);
}

void
serve_tcp_turn(struct serve_tcp *t)
{
	struct kevent ev[EVENTS];
	int n;

	if (t->kq < 0)
		return;
	n = ff_kevent(t->kq, NULL, 0, ev, EVENTS, NULL);
	for (int i = 0; i < n; i++) {
		struct conn *c = ev[i].udata;

		if (c == NULL)
			accept_some(t, (int)ev[i].ident);
		else if (!c->dead)
			conn_event(t, c);
	}
	bury(t);
}

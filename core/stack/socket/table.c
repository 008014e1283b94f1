/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor table: lowest free number, duplicates, flags, close. */
#include <errno.h>
#include <fcntl.h>

#include "socket_priv.h"

#define FIRST_SIZE 64
#define SETFL_FLAGS (O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT)

int
socket_table_init(struct stack *s)
{
	struct socket_table *t = shim_malloc(s->shim, sizeof(*t));

	if (t == NULL)
		return -ENOMEM;
	t->base = s->cfg.fd_reserve > 0 ? (uint32_t)s->cfg.fd_reserve : 0;
	t->max = s->cfg.max_sockets != 0 ? s->cfg.max_sockets : SOCK_MAX_FDS;
	if (t->max > (uint32_t)INT32_MAX - t->base)
		t->max = (uint32_t)INT32_MAX - t->base;
	t->rcvbuf = SOCK_RCVBUF_DEFAULT;
	t->bufmax = SOCK_BUF_MAX;
	s->sockets = t;
	return 0;
}

void
socket_table_release(struct stack *s)
{
	struct socket_table *t = s->sockets;
	uint32_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->size; i++) {
		if (t->fd[i] != NULL)
			sock_close(s, (int)(i + t->base));
	}
	shim_free(s->shim, t->fd);
	shim_free(s->shim, t->cloexec);
	shim_free(s->shim, t->used);
	shim_free(s->shim, t);
	s->sockets = NULL;
}

/* Makes number i (from 0) fit. */
static int
table_grow(struct stack *s, struct socket_table *t, uint32_t i)
{
	uint32_t size = t->size == 0 ? FIRST_SIZE : t->size;
	struct sfile **fd;
	uint8_t *cloexec;
	uint64_t *used;

	while (size <= i)
		size *= 2;
	fd = shim_malloc(s->shim, size * sizeof(fd[0]));
	cloexec = shim_malloc(s->shim, size);
	used = shim_malloc(s->shim, size / 8);
	if (fd == NULL || cloexec == NULL || used == NULL) {
		shim_free(s->shim, fd);
		shim_free(s->shim, cloexec);
		shim_free(s->shim, used);
		return -ENOMEM;
	}
	if (t->size != 0) {
		memcpy(fd, t->fd, t->size * sizeof(fd[0]));
		memcpy(cloexec, t->cloexec, t->size);
		memcpy(used, t->used, t->size / 8);
	}
	shim_free(s->shim, t->fd);
	shim_free(s->shim, t->cloexec);
	shim_free(s->shim, t->used);
	t->fd = fd;
	t->cloexec = cloexec;
	t->used = used;
	t->size = size;
	return 0;
}

/* The lowest free number (from 0) that is at least from; may be t->size. */
static uint32_t
lowest_free(const struct socket_table *t, uint32_t from)
{
	uint32_t w = from / 64;
	uint64_t free_bits;

	if (from >= t->size)
		return from;
	free_bits = ~t->used[w] & (~0ull << (from % 64));
	while (free_bits == 0) {
		if (++w == t->size / 64)
			return t->size;
		free_bits = ~t->used[w];
	}
	return w * 64 + (uint32_t)__builtin_ctzll(free_bits);
}

/* Puts f at number i, which is free. */
static int
install_at(struct stack *s, struct sfile *f, uint32_t i, bool cloexec)
{
	struct socket_table *t = s->sockets;

	if (i >= t->size) {
		int err = table_grow(s, t, i);

		if (err != 0)
			return err;
	}
	t->fd[i] = f;
	t->cloexec[i] = cloexec;
	t->used[i / 64] |= 1ull << (i % 64);
	f->refs++;
	return (int)(i + t->base);
}

int
fd_install(struct stack *s, struct sfile *f, int min_fd, bool cloexec)
{
	struct socket_table *t = s->sockets;
	uint32_t from = 0, i;
	int fd;

	if (min_fd < 0 || (uint32_t)min_fd >= t->base + t->max)
		return -EINVAL;
	if ((uint32_t)min_fd > t->base)
		from = (uint32_t)min_fd - t->base;
	i = lowest_free(t, from > t->free_from ? from : t->free_from);
	if (i >= t->max)
		return -EMFILE;
	fd = install_at(s, f, i, cloexec);
	if (fd >= 0 && from <= t->free_from)
		t->free_from = i + 1;
	return fd;
}

int
fd_why(const struct stack *s, int fd)
{
	return fd_file(s, fd) == NULL ? -EBADF : -ENOTSOCK;
}

void
sfile_unref(struct stack *s, struct sfile *f)
{
	if (--f->refs != 0)
		return;
	sfile_fd_closed(s, f, -1, true);
	if (f->type == SFILE_SOCKET)
		socket_release(s, (struct socket *)f);
	else if (f->type == SFILE_STREAM)
		stream_release(s, (struct stream *)f);
	else
		eset_release(s, (struct eset *)f);
}

int
sock_close(struct stack *s, int fd)
{
	struct socket_table *t = s->sockets;
	struct sfile *f = fd_file(s, fd);
	uint32_t i = (uint32_t)fd - t->base;

	if (f == NULL)
		return -EBADF;
	t->fd[i] = NULL;
	t->used[i / 64] &= ~(1ull << (i % 64));
	if (i < t->free_from)
		t->free_from = i;
	sfile_fd_closed(s, f, fd, false);
	sfile_unref(s, f);
	return 0;
}

static int
dup_from(struct stack *s, int fd, int min_fd, bool cloexec)
{
	struct sfile *f = fd_file(s, fd);

	return f == NULL ? -EBADF : fd_install(s, f, min_fd, cloexec);
}

int
sock_dup(struct stack *s, int fd, int min_fd)
{
	return dup_from(s, fd, min_fd, false);
}

int
sock_dup2(struct stack *s, int fd, int to)
{
	struct socket_table *t = s->sockets;
	struct sfile *f = fd_file(s, fd);
	uint32_t i = (uint32_t)to - t->base;

	if (f == NULL || to < 0 || (uint32_t)to < t->base || i >= t->max)
		return -EBADF;
	if (fd == to)
		return to;
	if (i >= t->size) { /* before anything is closed */
		int err = table_grow(s, t, i);

		if (err != 0)
			return err;
	}
	if (t->fd[i] != NULL)
		sock_close(s, to);
	return install_at(s, f, i, false);
}

bool
sock_is_open(struct stack *s, int fd)
{
	return fd_file(s, fd) != NULL;
}

int
sock_max_fd(struct stack *s)
{
	return (int)(s->sockets->base + s->sockets->max);
}

int
sock_fcntl(struct stack *s, int fd, int cmd, long arg)
{
	struct socket_table *t = s->sockets;
	struct sfile *f = fd_file(s, fd);
	uint32_t i = (uint32_t)fd - t->base;

	if (f == NULL)
		return -EBADF;
	switch (cmd) {
	case F_GETFL:
		return O_RDWR | f->flags;
	case F_SETFL:
		f->flags = (int)arg & SETFL_FLAGS;
		return 0;
	case F_GETFD:
		return t->cloexec[i] ? FD_CLOEXEC : 0;
	case F_SETFD:
		t->cloexec[i] = (arg & FD_CLOEXEC) != 0;
		return 0;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		if (arg < 0 || arg > INT32_MAX)
			return -EINVAL;
		return dup_from(s, fd, (int)arg, cmd == F_DUPFD_CLOEXEC);
	}
	return -EINVAL;
}

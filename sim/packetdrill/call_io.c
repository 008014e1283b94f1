/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that move bytes: read, write and their kin. */
#include <errno.h>
#include <string.h>

#include "../../core/stack/socket/socket.h"
#include "run_priv.h"

#define CONTROL_MAX 1024

static bool
fd_arg(struct run *r, const struct pd_call *k, int *live)
{
	int64_t v;

	if (!run_num(r, run_arg(k, 0), &v))
		return false;
	*live = run_fd_live(r, v);
	return true;
}

static bool
size_arg(struct run *r, const struct pd_event *ev, const struct pd_expr *x, int64_t *n)
{
	if (!run_num(r, x, n))
		return false;
	if (*n < 0 || *n > RUN_IO_MAX)
		return run_fail(r, ev->line, "a size of %lld bytes is not supported", (long long)*n);
	return true;
}

/* Bytes to be written: the script's, or any. */
static void
fill(struct run *r, const struct pd_expr *x, int64_t n)
{
	memset(r->io, 0, (size_t)n);
	if (x != NULL && x->kind == PD_X_STRING)
		memcpy(r->io, x->text, (size_t)(x->num < n ? x->num : n));
}

/* A blocking writer goes on until all is written; what it has written counts. */
static int64_t
written(struct run *r, const struct pd_event *ev, int64_t n, ssize_t rc)
{
	if (!ev->blocks)
		return rc;
	if (rc > 0)
		r->pending.done += rc;
	if (rc < 0 && rc != -EAGAIN)
		return r->pending.done > 0 ? r->pending.done : rc;
	return r->pending.done >= n ? r->pending.done : -EAGAIN;
}

/* write(fd, buf, n), send(fd, buf, n, flags), sendto(fd, buf, n, flags, addr, len) */
static bool
call_send(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_call *k = ev->call;
	struct sockaddr_storage sa;
	socklen_t len = 0;
	int64_t n, flags = 0, left;
	bool to = strcmp(k->name, "sendto") == 0;
	int fd;

	if (!fd_arg(r, k, &fd) || !size_arg(r, ev, run_arg(k, 2), &n))
		return false;
	if ((to || strcmp(k->name, "send") == 0) && !run_num(r, run_arg(k, 3), &flags))
		return false;
	if (to && !run_addr(r, run_arg(k, 4), &r->net.conf.remote, r->connect_port, &sa, &len))
		return false;
	if ((flags & MSG_FASTOPEN) != 0)
		return run_skip(r, ev->line, "TCP Fast Open");
	fill(r, run_arg(k, 1), n);
	left = n - r->pending.done;
	if (!ev->blocks)
		left = n;
	*ret = written(r, ev, n, sock_sendto(r->net.stack, fd, r->io, (size_t)left, (int)flags | (ev->blocks ? 0 : MSG_DONTWAIT),
		len > 0 ? (struct sockaddr *)&sa : NULL, len));
	return true;
}

static bool
same_bytes(struct run *r, const struct pd_event *ev, const struct pd_expr *x, int64_t n)
{
	if (x == NULL || x->kind != PD_X_STRING || n <= 0 || memcmp(r->io, x->text, (size_t)(n < x->num ? n : x->num)) == 0)
		return true;
	return run_fail(r, ev->line, "%s(...): the bytes are not those of the script", ev->call->name);
}

/* An address that the script spells out is compared. */
static bool
same_addr(struct run *r, const struct pd_event *ev, const struct pd_expr *x, const struct sockaddr_storage *got)
{
	struct sockaddr_storage want;
	socklen_t len;

	if (x == NULL || x->kind != PD_X_STRUCT)
		return true;
	if (!run_addr(r, x, &r->net.conf.remote, r->connect_port, &want, &len))
		return false;
	return memcmp(&want, got, len) == 0 || run_fail(r, ev->line, "%s(...): another address than expected", ev->call->name);
}

/* read(fd, buf, n), recv(fd, buf, n, flags), recvfrom(fd, buf, n, flags, addr, len) */
static bool
call_recv(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_call *k = ev->call;
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int64_t n, flags = 0;
	bool from = strcmp(k->name, "recvfrom") == 0;
	int fd;

	if (!fd_arg(r, k, &fd) || !size_arg(r, ev, run_arg(k, 2), &n))
		return false;
	if ((from || strcmp(k->name, "recv") == 0) && !run_num(r, run_arg(k, 3), &flags))
		return false;
	memset(&sa, 0, sizeof(sa));
	*ret = sock_recvfrom(r->net.stack, fd, r->io, (size_t)n, (int)flags | (ev->blocks ? 0 : MSG_DONTWAIT),
		(struct sockaddr *)&sa, &len);
	if (*ret < 0)
		return true;
	return same_bytes(r, ev, run_arg(k, 1), *ret < n ? *ret : n) && (!from || same_addr(r, ev, run_arg(k, 4), &sa));
}

/* [{..., 100}, {..., 200}] over r->io. */
static bool
vector(struct run *r, const struct pd_event *ev, const struct pd_expr *x, struct iovec *iov, int *n)
{
	size_t at = 0;

	*n = 0;
	if (x == NULL || (x->kind != PD_X_LIST && x->kind != PD_X_ELLIPSIS))
		return run_fail(r, ev->line, "%s(...): a list of {..., size} was expected", ev->call->name);
	for (const struct pd_expr *e = x->kids; e != NULL; e = e->next, ++*n) {
		const struct pd_expr *size = run_member(e, "iov_len");
		int64_t len;

		if (size == NULL && e->kind == PD_X_STRUCT && e->kids != NULL)
			size = e->kids->next;
		if (*n == RUN_IOV_MAX)
			return run_fail(r, ev->line, "more than %d pieces", RUN_IOV_MAX);
		if (size == NULL)
			return run_fail(r, ev->line, "%s(...): a piece without a size", ev->call->name);
		if (!size_arg(r, ev, size, &len))
			return false;
		if (at + (size_t)len > RUN_IO_MAX)
			return run_fail(r, ev->line, "more than %u bytes", RUN_IO_MAX);
		iov[*n].iov_base = r->io + at;
		iov[*n].iov_len = (size_t)len;
		if (e->kids != NULL && e->kids->kind == PD_X_STRING && strstr(ev->call->name, "recv") == NULL
			&& strcmp(ev->call->name, "readv") != 0)
			memcpy(iov[*n].iov_base, e->kids->text, (size_t)(e->kids->num < len ? e->kids->num : len));
		at += (size_t)len;
	}
	return true;
}

/* readv(fd, [...], n), writev(fd, [...], n) */
static bool
call_vector(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	struct iovec iov[RUN_IOV_MAX];
	struct msghdr mh = { .msg_iov = iov };
	int64_t count;
	int fd, n;

	if (!fd_arg(r, ev->call, &fd) || !vector(r, ev, run_arg(ev->call, 1), iov, &n) || !run_num(r, run_arg(ev->call, 2),
		&count))
		return false;
	mh.msg_iovlen = (size_t)(count >= 0 && count < n ? count : n);
	if (strcmp(ev->call->name, "readv") == 0)
		*ret = sock_recvmsg(r->net.stack, fd, &mh, ev->blocks ? 0 : MSG_DONTWAIT);
	else
		*ret = sock_sendmsg(r->net.stack, fd, &mh, ev->blocks ? 0 : MSG_DONTWAIT);
	return true;
}

/* The control messages that came, against a list of {cmsg_level=, cmsg_type=, cmsg_data=}. */
static bool
same_control(struct run *r, const struct pd_event *ev, const struct pd_expr *x, struct msghdr *mh)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(mh);
	int64_t level, type, data;
	int got;

	if (x == NULL || x->kind != PD_X_LIST)
		return true;
	for (x = x->kids; x != NULL; x = x->next, c = CMSG_NXTHDR(mh, c)) {
		const struct pd_expr *d = run_member(x, "cmsg_data");

		if (!run_num(r, run_member(x, "cmsg_level"), &level) || !run_num(r, run_member(x, "cmsg_type"), &type))
			return false;
		if (c == NULL || c->cmsg_level != level || c->cmsg_type != type)
			return run_fail(r, ev->line, "%s(...): expected a control message of level %lld type %lld, got %s",
				ev->call->name,
				(long long)level, (long long)type, c == NULL ? "none" : "another one");
		if (d == NULL || d->kind == PD_X_ELLIPSIS)
			continue;
		if (d->kind == PD_X_STRUCT)
			return run_skip(r, ev->line, "structs in control messages");
		if (!run_num(r, d, &data))
			return false;
		memcpy(&got, CMSG_DATA(c), c->cmsg_len >= CMSG_LEN(sizeof(got)) ? sizeof(got) : 0);
		if (c->cmsg_len < CMSG_LEN(sizeof(got)) || got != (int)data)
			return run_fail(r, ev->line, "%s(...): the control message's value is not %lld", ev->call->name, (long long)data);
	}
	return c == NULL || run_fail(r, ev->line, "%s(...): a control message more than expected", ev->call->name);
}

/* For sending: one {cmsg_level=, cmsg_type=, cmsg_data=N} each. */
static bool
put_control(struct run *r, const struct pd_expr *x, struct msghdr *mh)
{
	size_t used = 0;

	for (x = x != NULL && x->kind == PD_X_LIST ? x->kids : NULL; x != NULL; x = x->next) {
		struct cmsghdr *c = (struct cmsghdr *)((char *)mh->msg_control + used);
		int64_t level, type, data;
		int v;

		if (!run_num(r, run_member(x, "cmsg_level"), &level) || !run_num(r, run_member(x, "cmsg_type"), &type)
			|| !run_num(r, run_member(x, "cmsg_data"), &data))
			return false;
		if (used + CMSG_SPACE(sizeof(v)) > CONTROL_MAX)
			return run_fail(r, x->line, "too many control messages");
		v = (int)data;
		c->cmsg_level = (int)level;
		c->cmsg_type = (int)type;
		c->cmsg_len = CMSG_LEN(sizeof(v));
		memcpy(CMSG_DATA(c), &v, sizeof(v));
		used += CMSG_SPACE(sizeof(v));
	}
	mh->msg_controllen = used;
	return true;
}

/* sendmsg(fd, {msg_name(...)=..., msg_iov(n)=[...], msg_flags=0, msg_control=[...]}, flags), recvmsg alike */
static bool
call_msg(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *m = run_arg(ev->call, 1), *name = run_member(m, "msg_name"), *out = run_member(m, "msg_flags");
	bool send = strcmp(ev->call->name, "sendmsg") == 0;
	_Alignas(struct cmsghdr) char control[CONTROL_MAX];
	struct iovec iov[RUN_IOV_MAX];
	struct sockaddr_storage sa;
	struct msghdr mh = { .msg_iov = iov, .msg_control = control };
	int64_t flags, want = 0;
	int fd, n;

	if (!fd_arg(r, ev->call, &fd) || !run_num(r, run_arg(ev->call, 2), &flags))
		return false;
	if (!vector(r, ev, run_member(m, "msg_iov"), iov, &n))
		return false;
	if ((flags & MSG_FASTOPEN) != 0)
		return run_skip(r, ev->line, "TCP Fast Open");
	mh.msg_iovlen = (size_t)n;
	memset(control, 0, sizeof(control));
	if (send) {
		if (name != NULL && !run_addr(r, name, &r->net.conf.remote, r->connect_port, &sa, &mh.msg_namelen))
			return false;
		mh.msg_name = mh.msg_namelen > 0 ? &sa : NULL;
		if (!put_control(r, run_member(m, "msg_control"), &mh))
			return false;
		*ret = sock_sendmsg(r->net.stack, fd, &mh, (int)flags | (ev->blocks ? 0 : MSG_DONTWAIT));
		return true;
	}
	memset(&sa, 0, sizeof(sa));
	mh.msg_name = &sa;
	mh.msg_namelen = sizeof(sa);
	mh.msg_controllen = sizeof(control);
	*ret = sock_recvmsg(r->net.stack, fd, &mh, (int)flags | (ev->blocks ? 0 : MSG_DONTWAIT));
	if (*ret < 0)
		return true;
	if (out != NULL && out->kind != PD_X_ELLIPSIS && !run_num(r, out, &want))
		return false;
	if (out != NULL && out->kind != PD_X_ELLIPSIS && mh.msg_flags != (int)want)
		return run_fail(r, ev->line, "recvmsg(...): expected msg_flags 0x%llx, got 0x%x", (long long)want,
			(unsigned int)mh.msg_flags);
	return same_addr(r, ev, name, &sa) && same_control(r, ev, run_member(m, "msg_control"), &mh);
}

run_call_fn *
run_calls_io(const char *name)
{
	static const struct {
		const char *name;
		run_call_fn *fn;
	} calls[] = { { "write", call_send }, { "send", call_send }, { "sendto", call_send }, { "read", call_recv }, { "recv",
		call_recv },
		{ "recvfrom", call_recv }, { "readv", call_vector }, { "writev", call_vector }, { "sendmsg", call_msg }, { "recvmsg",
			call_msg } };

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].fn;
	return NULL;
}

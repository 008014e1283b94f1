/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a script: descriptors, results, blocking, and the calls that make and end sockets. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../core/stack/socket/event.h"
#include "run_priv.h"

struct run_fd *
run_fd_of(struct run *r, int script)
{
	for (unsigned int i = 0; i < r->nfds; i++)
		if (r->fd[i].script == script)
			return &r->fd[i];
	return NULL;
}

int
run_fd_live(struct run *r, int64_t script)
{
	struct run_fd *f = script >= 0 && script < RUN_FD_NONE ? run_fd_of(r, (int)script) : NULL;

	return f != NULL ? f->live : RUN_FD_NONE;
}

struct run_fd *
run_fd_new(struct run *r, int line, int script, int live)
{
	struct run_fd *f = run_fd_of(r, script);

	if (f == NULL)
		f = run_fd_of(r, -1); /* a closed one's place */
	if (f == NULL) {
		if (r->nfds == RUN_FDS_MAX) {
			run_fail(r, line, "more than %d descriptors", RUN_FDS_MAX);
			return NULL;
		}
		f = &r->fd[r->nfds++];
	}
	memset(f, 0, sizeof(*f));
	f->script = script;
	f->live = live;
	return f;
}

bool
run_local_name(struct run *r, int live, struct sockaddr_storage *sa, socklen_t *len)
{
	return sock_getsockname(r->net.stack, live, (struct sockaddr *)sa, len) == 0;
}

/* The descriptor in argument n, as the stack knows it. */
static bool
fd_arg(struct run *r, const struct pd_call *k, unsigned int n, int *live)
{
	int64_t v;

	if (!run_num(r, run_arg(k, n), &v))
		return false;
	*live = run_fd_live(r, v);
	return true;
}

/* The number that the script gives a new descriptor. */
static int
expected_fd(const struct pd_call *k, int live)
{
	return k->result != NULL && k->result->kind == PD_X_INT && k->result->num >= 0 && k->result->num < RUN_FD_NONE
		? (int)k->result->num : live;
}

static bool
call_socket(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *d = run_arg(ev->call, 0);
	int64_t domain = r->conf.family == ADDR_INET && !r->conf.mapped ? AF_INET : AF_INET6, type, proto;
	struct run_fd *f;

	if ((d != NULL && d->kind != PD_X_ELLIPSIS && !run_num(r, d, &domain)) || !run_num(r, run_arg(ev->call, 1), &type)
		|| !run_num(r, run_arg(ev->call, 2), &proto))
		return false;
	*ret = sock_socket(r->net.stack, (int)domain, (int)type, (int)proto);
	if (*ret < 0)
		return true;
	f = run_fd_new(r, ev->line, expected_fd(ev->call, (int)*ret), (int)*ret);
	if (f == NULL)
		return false;
	f->stream = (type & 0xf) == SOCK_STREAM;
	r->sock = f;
	return true;
}

static bool
call_bind(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd;

	if (!fd_arg(r, ev->call, 0, &fd) || !run_addr(r, run_arg(ev->call, 1), &r->net.conf.local, r->bind_port, &sa, &len))
		return false;
	*ret = sock_bind(r->net.stack, fd, (struct sockaddr *)&sa, len);
	return true;
}

static bool
call_listen(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	int64_t backlog;
	int fd;

	if (!fd_arg(r, ev->call, 0, &fd) || !run_num(r, run_arg(ev->call, 1), &backlog))
		return false;
	*ret = sock_listen(r->net.stack, fd, (int)backlog);
	for (unsigned int i = 0; *ret == 0 && i < r->nfds; i++)
		if (r->fd[i].live == fd) {
			r->fd[i].listening = true;
			r->sock = &r->fd[i];
		}
	return true;
}

static bool
call_connect(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd;

	if (!fd_arg(r, ev->call, 0, &fd) || !run_addr(r, run_arg(ev->call, 1), &r->net.conf.remote, r->connect_port, &sa, &len))
		return false;
	*ret = sock_connect(r->net.stack, fd, (struct sockaddr *)&sa, len);
	for (unsigned int i = 0; i < r->nfds; i++)
		if (r->fd[i].live == fd && r->fd[i].stream)
			r->info_fd = fd;
	/* one that blocks is over when the connection is there */
	if (ev->blocks && (*ret == -EINPROGRESS || *ret == -EALREADY))
		*ret = -EAGAIN;
	if (ev->blocks && *ret == -EISCONN && r->pending.again)
		*ret = 0;
	return true;
}

static bool
call_accept(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int64_t flags = 0;
	struct run_fd *f;
	int fd;

	if (!fd_arg(r, ev->call, 0, &fd))
		return false;
	if (strcmp(ev->call->name, "accept4") == 0 && !run_num(r, run_arg(ev->call, 3), &flags))
		return false;
	*ret = sock_accept(r->net.stack, fd, (struct sockaddr *)&sa, &len, (int)flags);
	if (*ret < 0)
		return true;
	f = run_fd_new(r, ev->line, expected_fd(ev->call, (int)*ret), (int)*ret);
	if (f == NULL)
		return false;
	f->stream = true;
	r->info_fd = f->live;
	return true;
}

static bool
call_close(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	int64_t script;
	int fd;

	if (!run_num(r, run_arg(ev->call, 0), &script))
		return false;
	fd = run_fd_live(r, script);
	*ret = sock_close(r->net.stack, fd);
	if (*ret != 0)
		return true;
	if (r->info_fd == fd)
		r->info_fd = -1;
	for (unsigned int i = 0; i < r->nfds; i++)
		if (r->fd[i].live == fd) {
			/* the place stays: r->sock points to one */
			r->fd[i].script = r->fd[i].live = -1;
			r->fd[i].listening = false;
			if (r->sock == &r->fd[i])
				r->sock = NULL;
		}
	return true;
}

static bool
call_shutdown(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	int64_t how;
	int fd;

	if (!fd_arg(r, ev->call, 0, &fd) || !run_num(r, run_arg(ev->call, 1), &how))
		return false;
	*ret = sock_shutdown(r->net.stack, fd, (int)how);
	return true;
}

static run_call_fn *
find(const char *name)
{
	static const struct {
		const char *name;
		run_call_fn *fn;
	} calls[] = { { "socket", call_socket }, { "bind", call_bind }, { "listen", call_listen }, { "connect", call_connect },
		{ "accept", call_accept }, { "accept4", call_accept }, { "close", call_close }, { "shutdown", call_shutdown } };
	run_call_fn *fn;

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].fn;
	fn = run_calls_io(name);
	if (fn == NULL)
		fn = run_calls_opt(name);
	return fn != NULL ? fn : run_calls_wait(name);
}

/* ---- results ---- */

static const char *
show_result(int64_t ret, char buf[96])
{
	const char *name = ret < 0 ? strerrorname_np((int)-ret) : NULL;

	if (ret < 0)
		snprintf(buf, 96, "-1 %s (%s)", name != NULL ? name : "E?", strerror((int)-ret));
	else
		snprintf(buf, 96, "%lld", (long long)ret);
	return buf;
}

static bool
makes_fd(const char *name)
{
	static const char *const list[] = { "socket", "accept", "accept4", "epoll_create", "epoll_create1", "dup" };

	for (unsigned int i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static bool
check_result(struct run *r, const struct pd_event *ev, int64_t ret)
{
	const struct pd_call *k = ev->call;
	char got[96];
	int64_t want;

	if (k->result == NULL || k->result->kind == PD_X_ELLIPSIS)
		return true;
	if (!run_num(r, k->result, &want))
		return false;
	if (k->err != NULL && run_errno(k->err) == 0)
		return run_skip(r, ev->line, "%s is not known", k->err);
	if (want >= 0 ? makes_fd(k->name) ? ret >= 0 : ret == want : ret < 0 && (k->err == NULL || ret == -run_errno(k->err)))
		return true;
	return run_fail(r, ev->line, "expected %s(...) = %lld%s%s got %s", k->name, (long long)want, k->err != NULL ? " " : "",
		k->err != NULL ? k->err : "", show_result(ret, got));
}

/* The call of ev once; *over: it has returned. */
static bool
try(struct run *r, const struct pd_event *ev, bool *over)
{
	run_call_fn *fn = find(ev->call->name);
	int64_t ret = 0;

	if (fn == NULL)
		return run_skip(r, ev->line, "%s() is not supported", ev->call->name);
	if (!fn(r, ev, &ret))
		return false;
	pd_net_flush(&r->net);
	*over = !ev->blocks || ret != -EAGAIN;
	return !*over || check_result(r, ev, ret);
}

/* A blocked call has returned now: is that when it should? */
static bool
in_time(struct run *r)
{
	int64_t now = (int64_t)pd_net_now(&r->net), off = now - (int64_t)r->pending.end_ns;
	const struct pd_event *ev = r->pending.ev;
	char a[32], b[32];

	r->pending.ev = NULL;
	if (off <= r->tol_ns && off >= -r->tol_ns)
		return true;
	return run_fail(r, ev->line, "expected %s(...) to return at %s, got it at %s", ev->call->name, run_time(now - off, a),
		run_time(now, b));
}

bool
run_call(struct run *r, const struct pd_event *ev, uint64_t end_ns)
{
	bool over;

	memset(&r->pending, 0, sizeof(r->pending));
	if (!try(r, ev, &over))
		return false;
	if (!ev->blocks)
		return true;
	r->pending.ev = ev;
	r->pending.since_ns = pd_net_now(&r->net);
	r->pending.end_ns = end_ns;
	r->pending.again = true;
	return !over || in_time(r);
}

bool
run_retry(struct run *r)
{
	bool over;

	if (r->pending.ev == NULL)
		return true;
	if (!try(r, r->pending.ev, &over))
		return false;
	return !over || in_time(r);
}

bool
run_pending_late(struct run *r)
{
	char a[32];

	if (pd_net_now(&r->net) < r->pending.end_ns + (uint64_t)r->tol_ns)
		return false;
	run_fail(r, r->pending.ev->line, "expected %s(...) to return at %s, it still blocks", r->pending.ev->call->name,
		run_time((int64_t)r->pending.end_ns, a));
	return true;
}

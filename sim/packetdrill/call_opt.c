/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls about options and descriptors: getsockopt, setsockopt, ioctl, fcntl, getsockname. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/time.h>

#include "../../core/stack/socket/socket.h"
#include "run_priv.h"

#define VALUE_MAX 512

static bool
fd_arg(struct run *r, const struct pd_call *k, int *live)
{
	int64_t v;

	if (!run_num(r, run_arg(k, 0), &v))
		return false;
	*live = run_fd_live(r, v);
	return true;
}

/* A member of a struct value; 0 when it is not there. */
static bool
member(struct run *r, const struct pd_expr *x, const char *name, const char *other, int64_t *v)
{
	const struct pd_expr *m = run_member(x, name);

	*v = 0;
	if (m == NULL)
		m = run_member(x, other);
	return m == NULL || m->kind == PD_X_ELLIPSIS || run_num(r, m, v);
}

/* x as the bytes of an option. *n: how many. */
static bool
value(struct run *r, const struct pd_event *ev, const struct pd_expr *x, void *buf, socklen_t *n)
{
	int64_t a, b;
	int v;

	while (x != NULL && x->kind == PD_X_LIST && x->kids != NULL && x->kids->next == NULL)
		x = x->kids;
	if (x == NULL)
		return run_fail(r, ev->line, "%s(...): no value", ev->call->name);
	if (x->kind == PD_X_STRING) {
		*n = (socklen_t)(x->num < VALUE_MAX ? x->num : VALUE_MAX);
		memcpy(buf, x->text, *n);
		return true;
	}
	if (x->kind == PD_X_STRUCT && (run_member(x, "onoff") != NULL || run_member(x, "l_onoff") != NULL)) {
		struct linger l;

		if (!member(r, x, "onoff", "l_onoff", &a) || !member(r, x, "linger", "l_linger", &b))
			return false;
		l = (struct linger){ (int)a, (int)b };
		memcpy(buf, &l, *n = sizeof(l));
		return true;
	}
	if (x->kind == PD_X_STRUCT && run_member(x, "tv_sec") != NULL) {
		struct timeval tv;

		if (!member(r, x, "tv_sec", "tv_sec", &a) || !member(r, x, "tv_usec", "tv_usec", &b))
			return false;
		tv = (struct timeval){ (time_t)a, (suseconds_t)b };
		memcpy(buf, &tv, *n = sizeof(tv));
		return true;
	}
	if (x->kind == PD_X_STRUCT)
		return run_skip(r, ev->line, "this struct in %s()", ev->call->name);
	if (!run_num(r, x, &a))
		return false;
	v = (int)a;
	memcpy(buf, &v, *n = sizeof(v));
	return true;
}

static bool
level_name(struct run *r, const struct pd_call *k, int64_t *level, int64_t *name)
{
	return run_num(r, run_arg(k, 1), level) && run_num(r, run_arg(k, 2), name);
}

/* setsockopt(fd, level, name, [v], len) */
static bool
call_setsockopt(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *x = run_arg(ev->call, 3), *size = run_arg(ev->call, 4);
	int64_t level, name, len = 0;
	char buf[VALUE_MAX + 4] = { 0 };
	socklen_t n = 0;
	int fd;

	if (!fd_arg(r, ev->call, &fd) || !level_name(r, ev->call, &level, &name) || !value(r, ev, x, buf, &n))
		return false;
	len = n;
	if (size != NULL && size->kind != PD_X_ELLIPSIS && !run_num(r, size, &len))
		return false;
	*ret = sock_setsockopt(r->net.stack, fd, (int)level, (int)name, buf,
		(socklen_t)(len >= 0 && len < VALUE_MAX ? len : VALUE_MAX));
	if (*ret == -ENOPROTOOPT && (ev->call->result == NULL || ev->call->result->num == 0))
		return run_skip(r, ev->line, "option %s", run_arg(ev->call, 2)->text != NULL ? run_arg(ev->call,
			2)->text : "by number");
	return true;
}

/* getsockopt(fd, level, name, [v], [len]) */
static bool
call_getsockopt(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *x = run_arg(ev->call, 3), *size = run_arg(ev->call, 4);
	int64_t level, name, len = VALUE_MAX;
	char got[VALUE_MAX + 4] = { 0 }, want[VALUE_MAX + 4] = { 0 };
	socklen_t n = 0, m;
	int fd;

	if (!fd_arg(r, ev->call, &fd) || !level_name(r, ev->call, &level, &name))
		return false;
	if (size != NULL && size->kind != PD_X_ELLIPSIS && !run_num(r, size, &len))
		return false;
	m = (socklen_t)(len >= 0 && len < VALUE_MAX ? len : VALUE_MAX);
	*ret = sock_getsockopt(r->net.stack, fd, (int)level, (int)name, got, &m);
	if (*ret == -ENOPROTOOPT && (ev->call->result == NULL || ev->call->result->num == 0))
		return run_skip(r, ev->line, "option %s", run_arg(ev->call, 2)->text != NULL ? run_arg(ev->call,
			2)->text : "by number");
	if (*ret != 0 || x == NULL || x->kind == PD_X_ELLIPSIS || (x->kind == PD_X_LIST && x->kids != NULL
		&& x->kids->kind == PD_X_ELLIPSIS))
		return true;
	if (!value(r, ev, x, want, &n))
		return false;
	if (memcmp(got, want, n) == 0)
		return true;
	if (n == sizeof(int)) {
		int a, b;

		memcpy(&a, want, sizeof(a));
		memcpy(&b, got, sizeof(b));
		return run_fail(r, ev->line, "getsockopt(...): expected [%d] got [%d]", a, b);
	}
	return run_fail(r, ev->line, "getsockopt(...): another value than expected");
}

/* ioctl(fd, request, [v]): what comes out is compared */
static bool
call_ioctl(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *x = run_arg(ev->call, 2);
	int64_t req, v = 0;
	int fd, arg;

	if (!fd_arg(r, ev->call, &fd) || !run_num(r, run_arg(ev->call, 1), &req))
		return false;
	if (x != NULL && x->kind != PD_X_ELLIPSIS && !run_num(r, x, &v))
		return false;
	arg = (int)v;
	*ret = sock_ioctl(r->net.stack, fd, (unsigned long)req, &arg);
	if (*ret != 0 || x == NULL || x->kind == PD_X_ELLIPSIS || arg == (int)v)
		return true;
	return run_fail(r, ev->line, "ioctl(...): expected [%lld] got [%d]", (long long)v, arg);
}

static bool
call_fcntl(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	int64_t cmd, v = 0;
	int fd;

	if (!fd_arg(r, ev->call, &fd) || !run_num(r, run_arg(ev->call, 1), &cmd))
		return false;
	if (run_arg(ev->call, 2) != NULL && !run_num(r, run_arg(ev->call, 2), &v))
		return false;
	*ret = sock_fcntl(r->net.stack, fd, (int)cmd, (long)v);
	return true;
}

/* getsockname(fd, addr, [len]), getpeername alike: an address that is spelt out is compared */
static bool
call_name(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *x = run_arg(ev->call, 1);
	bool peer = strcmp(ev->call->name, "getpeername") == 0;
	struct sockaddr_storage got, want;
	socklen_t n = sizeof(got), len;
	int fd;

	if (!fd_arg(r, ev->call, &fd))
		return false;
	memset(&got, 0, sizeof(got));
	*ret = peer ? sock_getpeername(r->net.stack, fd, (struct sockaddr *)&got, &n)
		: sock_getsockname(r->net.stack, fd, (struct sockaddr *)&got, &n);
	if (*ret != 0 || x == NULL || x->kind != PD_X_STRUCT)
		return true;
	if (!run_addr(r, x, peer ? &r->net.conf.remote : &r->net.conf.local, peer ? r->connect_port : r->bind_port, &want, &len))
		return false;
	return memcmp(&want, &got, len) == 0 || run_fail(r, ev->line, "%s(...): another address than expected", ev->call->name);
}

run_call_fn *
run_calls_opt(const char *name)
{
	static const struct {
		const char *name;
		run_call_fn *fn;
	} calls[] = { { "setsockopt", call_setsockopt }, { "getsockopt", call_getsockopt }, { "ioctl", call_ioctl }, { "fcntl",
		call_fcntl },
		{ "getsockname", call_name }, { "getpeername", call_name } };

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].fn;
	return NULL;
}

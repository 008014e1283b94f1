/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait for events: poll, epoll. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../core/stack/socket/event.h"
#include "run_priv.h"

/* Has a blocked wait of ms milliseconds (-1: no end) lasted long enough? */
static bool
timed_out(struct run *r, const struct pd_event *ev, int64_t ms)
{
	if (!ev->blocks || ms == 0)
		return true;
	return r->pending.again && ms > 0 && pd_net_now(&r->net) >= r->pending.since_ns + (uint64_t)ms * 1000000;
}

/* poll([{fd=3, events=POLLIN, revents=POLLIN}], n, timeout) */
static bool
call_poll(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *list = run_arg(ev->call, 0), *x;
	struct pollfd fds[RUN_IOV_MAX];
	int64_t fd, events, want, count, ms;
	unsigned int n = 0;

	if (!run_num(r, run_arg(ev->call, 1), &count) || !run_num(r, run_arg(ev->call, 2), &ms))
		return false;
	for (x = list != NULL && list->kind == PD_X_LIST ? list->kids : NULL; x != NULL && n < RUN_IOV_MAX; x = x->next, n++) {
		if (!run_num(r, run_member(x, "fd"), &fd) || !run_num(r, run_member(x, "events"), &events))
			return false;
		fds[n] = (struct pollfd){ .fd = run_fd_live(r, fd), .events = (short)events };
	}
	*ret = sock_poll(r->net.stack, fds, count >= 0 && (uint64_t)count < n ? (nfds_t)count : n);
	if (*ret == 0 && !timed_out(r, ev, ms)) {
		*ret = -EAGAIN;
		return true;
	}
	n = 0;
	for (x = *ret >= 0 && list != NULL && list->kind == PD_X_LIST ? list->kids : NULL; x != NULL
		&& n < RUN_IOV_MAX; x = x->next, n++) {
		const struct pd_expr *out = run_member(x, "revents");

		if (out == NULL || out->kind == PD_X_ELLIPSIS)
			continue;
		if (!run_num(r, out, &want))
			return false;
		if (fds[n].revents != (short)want)
			return run_fail(r, ev->line, "poll(...): expected revents 0x%x for descriptor %u of the list, got 0x%x",
				(unsigned int)want, n + 1,
				(unsigned int)(unsigned short)fds[n].revents);
	}
	return true;
}

static bool
call_epoll_create(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *want = ev->call->result;
	int64_t v;

	if (!run_num(r, run_arg(ev->call, 0), &v))
		return false;
	/* the size that epoll_create wants is nothing but positive */
	*ret = strcmp(ev->call->name, "epoll_create1") == 0 ? sock_epoll_create(r->net.stack, (int)v) : v <= 0 ? -EINVAL
		: sock_epoll_create(r->net.stack, 0);
	if (*ret < 0)
		return true;
	return run_fd_new(r, ev->line, want != NULL && want->kind == PD_X_INT && want->num >= 0 && want->num < RUN_FD_NONE
		? (int)want->num
		: (int)*ret, (int)*ret) != NULL;
}

/* The value that an event carries, under whichever name. */
static bool
event_data(struct run *r, const struct pd_expr *x, int64_t *v)
{
	static const char *const names[] = { "fd", "ptr", "u32", "u64", "data" };

	*v = 0;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (run_member(x, names[i]) != NULL)
			return run_num(r, run_member(x, names[i]), v);
	return true;
}

/* epoll_ctl(epfd, op, fd, {events=EPOLLIN, fd=4}) */
static bool
call_epoll_ctl(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *x = run_arg(ev->call, 3);
	struct epoll_event e = { 0 };
	int64_t epfd, op, fd, events = 0, data = 0;

	if (!run_num(r, run_arg(ev->call, 0), &epfd) || !run_num(r, run_arg(ev->call, 1), &op) || !run_num(r, run_arg(ev->call,
		2), &fd))
		return false;
	if (x != NULL && x->kind == PD_X_STRUCT && (!run_num(r, run_member(x, "events"), &events) || !event_data(r, x, &data)))
		return false;
	e.events = (uint32_t)events;
	e.data.u64 = (uint64_t)data;
	*ret = sock_epoll_ctl(r->net.stack, run_fd_live(r, epfd), (int)op, run_fd_live(r, fd),
		x != NULL && x->kind == PD_X_STRUCT ? &e : NULL);
	return true;
}

/* epoll_wait(epfd, {events=EPOLLIN, fd=4} or [{...}, {...}], max, timeout) */
static bool
call_epoll_wait(struct run *r, const struct pd_event *ev, int64_t *ret)
{
	const struct pd_expr *x = run_arg(ev->call, 1);
	struct epoll_event got[RUN_IOV_MAX];
	int64_t epfd, max, ms, events, data;

	if (!run_num(r, run_arg(ev->call, 0), &epfd) || !run_num(r, run_arg(ev->call, 2), &max) || !run_num(r, run_arg(ev->call,
		3), &ms))
		return false;
	*ret = sock_epoll_wait(r->net.stack, run_fd_live(r, epfd), got, (int)(max < RUN_IOV_MAX ? max : RUN_IOV_MAX));
	if (*ret == 0 && !timed_out(r, ev, ms)) {
		*ret = -EAGAIN;
		return true;
	}
	if (x != NULL && x->kind == PD_X_LIST)
		x = x->kids;
	for (int64_t i = 0; i < *ret && x != NULL && x->kind == PD_X_STRUCT; i++, x = x->next) {
		if (!run_num(r, run_member(x, "events"), &events) || !event_data(r, x, &data))
			return false;
		if (got[i].events != (uint32_t)events || got[i].data.u64 != (uint64_t)data)
			return run_fail(r, ev->line, "epoll_wait(...): expected {events=0x%x, %lld}, got {events=0x%x, %llu}",
				(unsigned int)events,
				(long long)data, got[i].events, (unsigned long long)got[i].data.u64);
		if (run_arg(ev->call, 1)->kind == PD_X_STRUCT)
			break;
	}
	return true;
}

run_call_fn *
run_calls_wait(const char *name)
{
	static const struct {
		const char *name;
		run_call_fn *fn;
	} calls[] = { { "poll", call_poll }, { "epoll_create", call_epoll_create }, { "epoll_create1", call_epoll_create },
		{ "epoll_ctl", call_epoll_ctl }, { "epoll_wait", call_epoll_wait } };

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].fn;
	return NULL;
}

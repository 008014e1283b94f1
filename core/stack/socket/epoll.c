/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll with Linux's rules: one event per descriptor, level and edge triggered, one-shot. */
#include <errno.h>

#include "socket_priv.h"

/* What survives a fired EPOLLONESHOT: nothing is reported until EPOLL_CTL_MOD, errors neither. */
#define PRIVATE_BITS ((uint32_t)(EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE))
#define EXCLUSIVE_OK ((uint32_t)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE))

int
sock_epoll_create(struct stack *s, int flags)
{
	return flags & ~EPOLL_CLOEXEC ? -EINVAL : eset_create(s, SFILE_EPOLL, (flags & EPOLL_CLOEXEC) != 0);
}

static struct watch *
find(struct eset *e, struct sfile *f, int fd)
{
	struct list *it;

	list_for_each(it, &f->watches) {
		struct watch *w = list_entry(it, struct watch, on_file);

		if (w->set == e && w->fd == fd)
			return w;
	}
	return NULL;
}

static void
arm(struct stack *s, struct watch *w, const struct epoll_event *ev)
{
	w->events = ev->events | ALWAYS;
	w->data = ev->data.u64;
	if (sfile_ready(s, w->file) & w->events)
		watch_activate(s, w);
}

static int
ctl_add(struct stack *s, struct eset *e, struct sfile *f, int fd, const struct epoll_event *ev)
{
	struct watch *w;
	int err;

	if ((ev->events & EPOLLEXCLUSIVE) &&
	    (sfile_is_set(f) || (ev->events & ~EXCLUSIVE_OK)))
		return -EINVAL;
	err = eset_may_hold(e, f);
	if (err != 0)
		return err;
	w = watch_new(s, e, f, fd);
	if (w == NULL)
		return -ENOMEM;
	arm(s, w, ev);
	return 0;
}

int
sock_epoll_ctl(struct stack *s, int epfd, int op, int fd, const struct epoll_event *ev)
{
	struct sfile *ef = fd_file(s, epfd), *f = fd_file(s, fd);
	struct eset *e = (struct eset *)ef;
	struct watch *w;

	if (ef == NULL || f == NULL)
		return -EBADF;
	if (op != EPOLL_CTL_DEL && ev == NULL)
		return -EFAULT;
	if (ef->type != SFILE_EPOLL || f == ef)
		return -EINVAL;
	w = find(e, f, fd);
	switch (op) {
	case EPOLL_CTL_ADD:
		return w != NULL ? -EEXIST : ctl_add(s, e, f, fd, ev);
	case EPOLL_CTL_MOD:
		if (w == NULL)
			return -ENOENT;
		if ((ev->events | w->events) & EPOLLEXCLUSIVE)
			return -EINVAL;
		arm(s, w, ev);
		return 0;
	case EPOLL_CTL_DEL:
		if (w == NULL)
			return -ENOENT;
		watch_free(s, w);
		return 0;
	}
	return -EINVAL;
}

int
sock_epoll_wait(struct stack *s, int epfd, struct epoll_event *ev, int max)
{
	struct sfile *ef = fd_file(s, epfd);
	struct eset *e = (struct eset *)ef;
	struct list again, *it;
	int n = 0;

	if (ef == NULL)
		return -EBADF;
	if (ef->type != SFILE_EPOLL || max < 1)
		return -EINVAL;
	if (ev == NULL)
		return -EFAULT;
	list_init(&again);
	while (n < max && (it = list_pop(&e->ready)) != NULL) {
		struct watch *w = list_entry(it, struct watch, ready);
		uint32_t got = sfile_ready(s, w->file) & w->events;

		if (got == 0)
			continue;
		ev[n].events = got;
		ev[n].data.u64 = w->data;
		n++;
		if (w->events & EPOLLONESHOT)
			w->events &= PRIVATE_BITS;
		else if (!(w->events & EPOLLET))
			list_add_tail(&again, it); /* level triggered: behind those that wait for their turn */
	}
	while ((it = list_pop(&again)) != NULL)
		list_add_tail(&e->ready, it);
	return n;
}

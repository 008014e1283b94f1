/* SPDX-License-Identifier: BSD-3-Clause */
/* What epoll and kqueue share: files wake watches, watches queue on their set, sets hold sets one deep. */
#include <errno.h>

#include "socket_priv.h"

void
sfile_init(struct sfile *f, enum sfile_type type, int flags)
{
	f->type = (uint8_t)type;
	f->flags = flags;
	f->refs = 0;
	list_init(&f->watches);
}

uint32_t
socket_ready(const struct socket *so)
{
	/* A datagram leaves at once, so there is always room to write. */
	uint32_t ev = EPOLLOUT | EPOLLWRNORM;

	if (so->rx_head != NULL)
		ev |= EPOLLIN | EPOLLRDNORM;
	if (so->shut & SHUT_RD_BIT)
		ev |= EPOLLRDHUP | EPOLLIN | EPOLLRDNORM;
	if (so->shut == (SHUT_RD_BIT | SHUT_WR_BIT))
		ev |= EPOLLHUP;
	if (so->err != 0)
		ev |= EPOLLERR;
	return ev;
}

bool
eset_ready(struct stack *s, struct eset *e)
{
	struct sock_kevent kev;
	struct list *it, *tmp;

	list_for_each_safe(it, tmp, &e->ready) {
		struct watch *w = list_entry(it, struct watch, ready);

		if (e->f.type == SFILE_KQUEUE ? knote_eval(s, w, &kev) :
		    (sfile_ready(s, w->file) & w->events) != 0)
			return true;
		list_del(it); /* what woke it has been taken since */
	}
	return false;
}

uint32_t
sfile_ready(struct stack *s, struct sfile *f)
{
	if (f->type == SFILE_SOCKET)
		return socket_ready((struct socket *)f);
	if (f->type == SFILE_STREAM)
		return stream_ready((struct stream *)f);
	return eset_ready(s, (struct eset *)f) ? EPOLLIN | EPOLLRDNORM : 0;
}

int
sock_ready(struct stack *s, int fd)
{
	struct sfile *f = fd_file(s, fd);

	return f == NULL ? -EBADF : (int)sfile_ready(s, f);
}

void
watch_activate(struct stack *s, struct watch *w)
{
	if (list_empty(&w->ready))
		list_add_tail(&w->set->ready, &w->ready);
	if (!list_empty(&w->set->f.watches)) /* a set within a set: at most once, eset_may_hold sees to it */
		sfile_wake(s, &w->set->f, EPOLLIN | EPOLLRDNORM);
}

void
sfile_wake(struct stack *s, struct sfile *f, uint32_t events)
{
	struct list *it;

	list_for_each(it, &f->watches) {
		struct watch *w = list_entry(it, struct watch, on_file);

		if (w->events & events)
			watch_activate(s, w);
	}
}

struct watch *
watch_new(struct stack *s, struct eset *e, struct sfile *f, int fd)
{
	struct watch *w = shim_malloc(s->shim, sizeof(*w));

	if (w == NULL)
		return NULL;
	list_init(&w->on_file);
	list_init(&w->ready);
	timer_init(&w->timer, NULL, w);
	w->set = e;
	w->file = f;
	w->fd = fd;
	list_add_tail(&e->all, &w->on_set);
	if (f != NULL) {
		list_add_tail(&f->watches, &w->on_file);
		if (sfile_is_set(f))
			e->nested++;
	}
	return w;
}

void
watch_free(struct stack *s, struct watch *w)
{
	if (w->file != NULL && sfile_is_set(w->file))
		w->set->nested--;
	timer_cancel(&s->wheel, &w->timer);
	list_del(&w->on_file);
	list_del(&w->on_set);
	list_del(&w->ready);
	shim_free(s->shim, w);
}

void
sfile_fd_closed(struct stack *s, struct sfile *f, int fd, bool last)
{
	struct list *it, *tmp;

	list_for_each_safe(it, tmp, &f->watches) {
		struct watch *w = list_entry(it, struct watch, on_file);

		if (last || (w->fd == fd && w->set->f.type == SFILE_KQUEUE))
			watch_free(s, w);
	}
}

int
eset_may_hold(const struct eset *e, const struct sfile *f)
{
	if (!sfile_is_set(f))
		return 0;
	if (f == &e->f || ((const struct eset *)f)->nested != 0 || !list_empty(&e->f.watches))
		return -ELOOP;
	return 0;
}

int
eset_create(struct stack *s, enum sfile_type type, bool cloexec)
{
	struct eset *e = shim_malloc(s->shim, sizeof(*e));
	unsigned int i;
	int fd;

	if (e == NULL)
		return -ENOMEM;
	sfile_init(&e->f, type, 0);
	list_init(&e->all);
	list_init(&e->ready);
	for (i = 0; i < ESET_IDENTS; i++)
		list_init(&e->idents[i]);
	fd = fd_install(s, &e->f, 0, cloexec);
	if (fd < 0)
		shim_free(s->shim, e);
	return fd;
}

void
eset_release(struct stack *s, struct eset *e)
{
	while (!list_empty(&e->all))
		watch_free(s, list_entry(e->all.next, struct watch, on_set));
	shim_free(s->shim, e);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* kqueue: the filters READ, WRITE, USER and TIMER with FreeBSD's rules. */
#include <errno.h>

#include "socket_priv.h"

#define USER_ACTIONS (KEV_ADD | KEV_DELETE | KEV_ENABLE | KEV_DISABLE | KEV_RECEIPT)
#define TIMER_FFLAGS (KEV_SECONDS | KEV_MSECONDS | KEV_USECONDS | KEV_NSECONDS | KEV_ABSTIME)

int
sock_kqueue(struct stack *s)
{
	return eset_create(s, SFILE_KQUEUE, false);
}

static bool
has_ident(short filter)
{
	return filter == KEV_USER || filter == KEV_TIMER;
}

static struct list *
ident_list(struct eset *e, uintptr_t ident)
{
	return &e->idents[(ident * 0x9e3779b97f4a7c15ull) >> 58];
}

static struct watch *
find(struct eset *e, const struct sock_kevent *k, struct sfile *f)
{
	struct list *head = f != NULL ? &f->watches : ident_list(e, k->ident), *it;

	list_for_each(it, head) {
		struct watch *w = list_entry(it, struct watch, on_file);

		if (w->set == e && w->kev.ident == k->ident && w->kev.filter == k->filter)
			return w;
	}
	return NULL;
}

/* ---- would it report? ---- */

static bool
eval_socket(const struct watch *w, const struct socket *so, struct sock_kevent *out)
{
	bool rd = w->kev.filter == KEV_READ;
	int64_t lowat = w->sfflags & KEV_LOWAT ? w->sdata : rd ? so->rcvlowat : 1;

	out->data = rd ? so->rx_bytes : so->sndbuf;
	if (so->err != 0)
		out->fflags = (unsigned int)so->err;
	if (so->shut & (rd ? SHUT_RD_BIT : SHUT_WR_BIT)) {
		out->flags |= KEV_EOF;
		return true;
	}
	if (so->err != 0 || w->forced)
		return true;
	if (!rd)
		return out->data >= lowat;
	/* Datagrams without a byte count as something to read too. */
	return so->rx_head != NULL && (out->data >= lowat || lowat <= 1);
}

/* Descriptors of a kqueue or epoll inside a kqueue: data is how many watches are queued. */
static bool
eval_set(struct stack *s, struct eset *inner, struct sock_kevent *out)
{
	struct list *it;

	out->data = 0;
	if (!eset_ready(s, inner))
		return false;
	list_for_each(it, &inner->ready)
		out->data++;
	return true;
}

bool
knote_eval(struct stack *s, struct watch *w, struct sock_kevent *out)
{
	if (w->disabled)
		return false;
	*out = w->kev;
	out->fflags = 0;
	if (w->file != NULL) {
		if (w->file->type == SFILE_SOCKET)
			return eval_socket(w, (const struct socket *)w->file, out);
		if (w->file->type == SFILE_STREAM)
			return stream_kevent((const struct stream *)w->file, w->kev.filter == KEV_READ,
				w->sfflags & KEV_LOWAT ? w->sdata : -1, out) || w->forced;
		return eval_set(s, (struct eset *)w->file, out);
	}
	out->fflags = w->kev.filter == KEV_USER ? w->sfflags : 0;
	out->data = w->kev.filter == KEV_USER ? w->sdata : (int64_t)w->fired;
	return w->fired != 0 || w->forced;
}

/* ---- timers ---- */

static void
timer_fired(struct timer *t, void *arg, uint64_t now_ns)
{
	struct watch *w = arg;
	struct stack *s = w->set->f.type == SFILE_KQUEUE ? (struct stack *)(uintptr_t)w->data : NULL;
	uint64_t period = (uint64_t)w->sdata, n = 1;

	if (w->kev.flags & KEV_ONESHOT || period == 0) {
		w->fired++;
	} else {
		if (now_ns > w->due_ns)
			n += (now_ns - w->due_ns) / period;
		w->fired += n;
		w->due_ns += n * period;
		timer_set(&s->wheel, t, w->due_ns);
	}
	if (!w->disabled)
		watch_activate(s, w);
}

/* data in the unit of fflags as ns; huge ones are cut, about 292 years. */
static int
timer_ns(const struct sock_kevent *k, uint64_t *ns)
{
	unsigned int unit = k->fflags & (KEV_SECONDS | KEV_MSECONDS | KEV_USECONDS | KEV_NSECONDS);
	uint64_t mul;

	if (k->data < 0 || (k->fflags & ~(unsigned int)TIMER_FFLAGS))
		return -EINVAL;
	switch (unit) {
	case KEV_SECONDS: mul = 1000000000; break;
	case 0:
	case KEV_MSECONDS: mul = 1000000; break;
	case KEV_USECONDS: mul = 1000; break;
	case KEV_NSECONDS: mul = 1; break;
	default: return -EINVAL;
	}
	*ns = (uint64_t)k->data > INT64_MAX / mul ? INT64_MAX : (uint64_t)k->data * mul;
	return 0;
}

static int
timer_start(struct stack *s, struct watch *w, const struct sock_kevent *k)
{
	uint64_t ns, now = stack_now(s), wall;
	int err = timer_ns(k, &ns);

	if (err != 0)
		return err;
	if (k->fflags & KEV_ABSTIME) {
		wall = shim_wall_ns(s->shim);
		ns = ns > wall ? ns - wall : 0;
		w->sdata = 0; /* once */
	} else {
		if (ns == 0)
			ns = 1000000; /* FreeBSD: the shortest period */
		w->sdata = (int64_t)ns;
	}
	w->fired = 0;
	w->due_ns = now > UINT64_MAX / 2 ? now : now + ns;
	w->timer.fn = timer_fired;
	timer_set(&s->wheel, &w->timer, w->due_ns);
	return 0;
}

/* ---- changes ---- */

/* EVFILT_USER: what a change does to the stored flags and value. */
static void
user_touch(struct watch *w, const struct sock_kevent *k)
{
	unsigned int v = k->fflags & KEV_FFLAGSMASK;

	switch (k->fflags & KEV_FFCTRLMASK) {
	case KEV_FFAND: w->sfflags &= v; break;
	case KEV_FFOR: w->sfflags |= v; break;
	case KEV_FFCOPY: w->sfflags = v; break;
	}
	w->sdata = k->data;
	if (k->fflags & KEV_TRIGGER)
		w->fired = 1;
}

static int
apply(struct stack *s, struct watch *w, const struct sock_kevent *k, bool fresh)
{
	w->kev.udata = k->udata;
	memcpy(w->kev.ext, k->ext, sizeof(k->ext));
	if (k->filter == KEV_TIMER && (k->flags & KEV_ADD))
		return timer_start(s, w, k);
	if (k->filter == KEV_USER) {
		if (fresh)
			w->sfflags = k->fflags & KEV_FFLAGSMASK;
		user_touch(w, k);
	} else if (k->filter != KEV_TIMER && (k->flags & KEV_ADD)) {
		w->sfflags = k->fflags;
		w->sdata = k->data;
	}
	return 0;
}

static int
make(struct stack *s, struct eset *e, const struct sock_kevent *k, struct sfile *f, struct watch **out)
{
	struct watch *w;
	int err;

	if (f != NULL) {
		if (sfile_is_set(f) && k->filter != KEV_READ)
			return -EINVAL;
		if (f == &e->f)
			return -EINVAL;
		err = eset_may_hold(e, f);
		if (err != 0)
			return err;
	}
	w = watch_new(s, e, f, f != NULL ? (int)k->ident : -1);
	if (w == NULL)
		return -ENOMEM;
	w->kev = *k;
	w->kev.flags = k->flags & (KEV_ONESHOT | KEV_CLEAR | KEV_DISPATCH);
	if (k->filter == KEV_TIMER)
		w->kev.flags |= KEV_CLEAR; /* the count starts again after each report */
	if (f != NULL)
		w->events = k->filter == KEV_READ ? EPOLLIN | EPOLLRDHUP | ALWAYS : EPOLLOUT | ALWAYS;
	else
		list_add_tail(ident_list(e, k->ident), &w->on_file);
	w->data = (uint64_t)(uintptr_t)s;
	*out = w;
	return 0;
}

static int
change(struct stack *s, struct eset *e, const struct sock_kevent *k)
{
	struct sock_kevent out;
	struct sfile *f = NULL;
	struct watch *w;
	bool fresh = false;
	int err;

	if (!has_ident(k->filter)) {
		if (k->filter != KEV_READ && k->filter != KEV_WRITE)
			return -EINVAL;
		f = k->ident <= INT32_MAX ? fd_file(s, (int)k->ident) : NULL;
		if (f == NULL)
			return -EBADF;
	}
	w = find(e, k, f);
	if (k->flags & KEV_DELETE) {
		if (w == NULL)
			return -ENOENT;
		watch_free(s, w);
		return 0;
	}
	if (w == NULL) {
		if (!(k->flags & KEV_ADD))
			return -ENOENT;
		err = make(s, e, k, f, &w);
		if (err != 0)
			return err;
		fresh = true;
	}
	err = apply(s, w, k, fresh);
	if (err != 0) {
		if (fresh)
			watch_free(s, w);
		return err;
	}
	if (k->flags & (KEV_ADD | KEV_ENABLE))
		w->disabled = false;
	if (k->flags & KEV_DISABLE)
		w->disabled = true;
	if (k->flags & KEV_FORCEONESHOT) {
		w->kev.flags |= KEV_ONESHOT;
		w->forced = true;
	}
	if (knote_eval(s, w, &out))
		watch_activate(s, w);
	return 0;
}

/* Applies the changes; reports errors and receipts. Number of reports, or the error that found no room. */
static int
changes_apply(struct stack *s, struct eset *e, const struct sock_kevent *changes, int n, int max,
	sock_kevent_put *put, void *ctx)
{
	int i, err, reports = 0;

	for (i = 0; i < n; i++) {
		struct sock_kevent k = changes[i]; /* put may write over it */

		k.flags &= (unsigned short)~(KEV_ERROR | KEV_EOF);
		err = change(s, e, &k);
		if (err == 0 && !(k.flags & KEV_RECEIPT))
			continue;
		if (reports == max) {
			if (err == 0)
				continue;
			return err;
		}
		k.flags = KEV_ERROR;
		k.data = -err;
		put(ctx, &k);
		reports++;
	}
	return reports;
}

/* Of a report to come: gone, asleep, reset, or queued again. */
static void
reported(struct stack *s, struct watch *w, struct list *again)
{
	w->forced = false;
	if (w->kev.flags & KEV_ONESHOT) {
		watch_free(s, w);
		return;
	}
	if (w->kev.flags & KEV_DISPATCH)
		w->disabled = true;
	if (w->kev.flags & KEV_CLEAR)
		w->fired = 0;
	if (!(w->kev.flags & (KEV_CLEAR | KEV_DISPATCH)))
		list_add_tail(again, &w->ready);
}

int
sock_kevent(struct stack *s, int kq, const struct sock_kevent *changes, int n, int max,
	sock_kevent_put *put, void *ctx)
{
	struct sfile *f = fd_file(s, kq);
	struct eset *e = (struct eset *)f;
	struct list again, *it;
	struct sock_kevent out;
	int reports;

	if (f == NULL || f->type != SFILE_KQUEUE)
		return -EBADF;
	if (n < 0 || max < 0)
		return -EINVAL;
	if (n != 0 && changes == NULL)
		return -EFAULT;
	f->refs++; /* put may close any descriptor, this one too */
	list_init(&again);
	reports = changes_apply(s, e, changes, n, max, put, ctx);
	if (reports != 0)
		max = 0;
	while (reports >= 0 && reports < max && (it = list_pop(&e->ready)) != NULL) {
		struct watch *w = list_entry(it, struct watch, ready);

		if (!knote_eval(s, w, &out))
			continue;
		reported(s, w, &again);
		reports++;
		put(ctx, &out);
	}
	while ((it = list_pop(&again)) != NULL)
		list_add_tail(&e->ready, it);
	sfile_unref(s, f);
	return reports;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's bytes to and from applications, readiness, errors (RFC 9293 3.10.2, 3.10.3). */
#include <errno.h>

#include "tcp_priv.h"

int
tcp_take_error(struct tcp_pcb *p)
{
	int err = p->err;

	p->err = 0;
	return -err;
}

int
tcp_error_peek(const struct tcp_pcb *p)
{
	return -p->err;
}

uint32_t
tcp_readable(const struct tcp_pcb *p)
{
	return p->fsm == TCP_LISTEN ? p->lst->nb_ready : p->rq.bytes;
}

bool
tcp_at_eof(const struct tcp_pcb *p)
{
	return p->fin_rcvd || p->rd_shut;
}

uint32_t
tcp_writable(const struct tcp_pcb *p)
{
	uint32_t room = p->snd_buf > p->sq.bytes ? p->snd_buf - p->sq.bytes : 0, unsent;

	if (p->notsent_lowat == 0)
		return room;
	unsent = tcp_unsent(p);
	return unsent >= p->notsent_lowat ? 0 : room;
}

uint32_t
tcp_unacked(const struct tcp_pcb *p)
{
	return p->sq.bytes;
}

uint32_t
tcp_unsent(const struct tcp_pcb *p)
{
	uint32_t end = tcp_snd_end(p);

	return seq_lt(p->snd_nxt, end) ? end - p->snd_nxt : 0;
}

enum tcp_fsm
tcp_fsm_of(const struct tcp_pcb *p)
{
	return p->fsm;
}

uint32_t
tcp_ready(const struct tcp_pcb *p)
{
	uint32_t ev = p->err != 0 ? EPOLLERR : 0;
	bool open = p->fsm >= TCP_ESTABLISHED && p->fsm != TCP_TIME_WAIT;

	if (p->fsm == TCP_LISTEN)
		return ev | (p->lst->nb_ready != 0 ? EPOLLIN | EPOLLRDNORM : 0);
	if (p->fsm == TCP_SYN_SENT || p->fsm == TCP_SYN_RCVD)
		return ev;
	if (!open || (tcp_at_eof(p) && p->fin_queued))
		ev |= EPOLLHUP;
	if (tcp_at_eof(p) || (p->fsm == TCP_CLOSED && p->opened))
		ev |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (p->rq.bytes != 0 && p->rq.bytes >= p->rcvlowat)
		ev |= EPOLLIN | EPOLLRDNORM;
	if (!open || p->fin_queued)
		ev |= EPOLLOUT | EPOLLWRNORM;
	else if (tcp_writable(p) >= p->sndlowat || tcp_writable(p) >= p->snd_buf / 3)
		ev |= EPOLLOUT | EPOLLWRNORM;
	return ev;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* May p be written to? 0 or why not. */
static int
write_check(struct tcp_pcb *p)
{
	if (p->err != 0)
		return tcp_take_error(p);
	switch (p->fsm) {
	case TCP_SYN_SENT:
	case TCP_SYN_RCVD:
		return -EAGAIN;
	case TCP_ESTABLISHED:
	case TCP_CLOSE_WAIT:
		return p->fin_queued ? -EPIPE : 0;
	case TCP_CLOSED:
	case TCP_LISTEN:
		return p->opened ? -EPIPE : -ENOTCONN;
	default:
		return -EPIPE;
	}
}

/* Where the next bytes go: behind the last ones, or in a new buffer. NULL: none. */
static struct rte_mbuf *
tail_room(struct stack *s, struct tcp_pcb *p)
{
	struct rte_mbuf *m = p->sq.tail;

	if (m != NULL && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1 && rte_pktmbuf_tailroom(m) != 0)
		return m;
	m = stack_buf(s);
	if (m == NULL)
		return NULL;
	if (p->sq.head == NULL)
		p->sq.head = m;
	else
		p->sq.tail->next = m;
	p->sq.tail = m;
	p->sq.bufs++;
	return m;
}

/* Copies n bytes; returns how many there were buffers for. */
static uint32_t
append(struct stack *s, struct tcp_pcb *p, const uint8_t *b, uint32_t n)
{
	uint32_t done = 0, k;
	struct rte_mbuf *m;

	while (done < n && (m = tail_room(s, p)) != NULL) {
		k = rte_pktmbuf_tailroom(m);
		if (k > n - done)
			k = n - done;
		memcpy(shim_buf_data_off(m, uint8_t *, m->data_len), b + done, k);
		m->data_len += (uint16_t)k;
		m->pkt_len = m->data_len;
		p->sq.bytes += k;
		done += k;
	}
	return done;
}

/* Twice what the windows let out in a round trip, so that the buffer is not the limit (FreeBSD's sendbuf_auto). */
static void
grow_send(struct stack *s, struct tcp_pcb *p)
{
	uint32_t want = p->rec.cc.cwnd < p->snd_wnd ? p->rec.cc.cwnd : p->snd_wnd, most = (uint32_t)tcp_knob(s, TCP_KNOB_SENDBUF_MAX);

	if (p->sndbuf_set || tcp_knob(s, TCP_KNOB_SENDBUF_AUTO) == 0 || p->sq.bytes < p->snd_buf / 4 * 3)
		return;
	want = want > most / 2 ? most : want * 2;
	if (want > p->snd_buf)
		p->snd_buf = want;
}

ssize_t
tcp_write(struct stack *s, struct tcp_pcb *p, const struct iovec *iov, int n, unsigned int flags)
{
	uint32_t room, done = 0, k, got;
	size_t want = 0;
	int err = write_check(p);

	if (err != 0)
		return err;
	for (int i = 0; i < n; i++)
		want += iov[i].iov_len;
	if (want == 0)
		return 0;
	grow_send(s, p);
	room = tcp_writable(p);
	if (room == 0)
		return -EAGAIN;
	for (int i = 0; i < n && done < room; i++) {
		k = iov[i].iov_len > room - done ? room - done : (uint32_t)iov[i].iov_len;
		got = append(s, p, iov[i].iov_base, k);
		done += got;
		if (got < k)
			break;
	}
	if (done == 0) {
		tcp_count(s, TCP_EV_NO_BUFFER);
		return -ENOBUFS;
	}
	p->more = (flags & TCP_IO_MORE) != 0;
	tcp_output(s, p);
	tcp_reap(s);
	return done;
}

/* Segments of m that somebody else refers to get a header of their own over the same bytes. NULL: no buffer; m is as it was. */
static struct rte_mbuf *
own_segments(struct stack *s, struct rte_mbuf *m)
{
	struct rte_mbuf *i;

	for (i = m; i != NULL; i = i->next)
		if (rte_mbuf_refcnt_read(i) != 1)
			break;
	if (i == NULL)
		return m;
	i = shim_buf_clone(s->shim, m, s->pool);
	if (i == NULL)
		return NULL;
	shim_buf_mark_set(i, s->cfg.buf_mark);
	shim_buf_free(s->shim, m);
	return i;
}

int
tcp_write_chain(struct stack *s, struct tcp_pcb *p, struct rte_mbuf *m, unsigned int flags)
{
	int err = write_check(p), len;

	if (err != 0)
		return err;
	grow_send(s, p);
	if (shim_buf_len(m) > tcp_writable(p))
		return -EAGAIN;
	m = own_segments(s, m);
	if (m == NULL)
		return -ENOBUFS;
	len = (int)shim_buf_len(m);
	tcp_queue_put(s, &p->sq, m);
	p->more = (flags & TCP_IO_MORE) != 0;
	tcp_output(s, p);
	tcp_reap(s);
	return len;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Nothing is there to be read: why. 0: the end. */
static int
read_check(struct tcp_pcb *p)
{
	if (p->err != 0)
		return tcp_take_error(p);
	if (tcp_at_eof(p))
		return 0;
	switch (p->fsm) {
	case TCP_SYN_SENT:
	case TCP_SYN_RCVD:
		return -EAGAIN;
	case TCP_LISTEN:
		return -ENOTCONN;
	case TCP_CLOSED:
		return p->opened ? 0 : -ENOTCONN;
	default:
		return -EAGAIN;
	}
}

/* Copies from the queue; leaves it as it is. */
static uint32_t
copy_out(const struct tcp_pcb *p, const struct iovec *iov, int n, bool discard)
{
	uint32_t done = 0, k;
	const struct rte_mbuf *m = p->rq.head;
	uint32_t off = 0, step;

	for (int i = 0; i < n && done < p->rq.bytes; i++) {
		k = iov[i].iov_len > p->rq.bytes - done ? p->rq.bytes - done : (uint32_t)iov[i].iov_len;
		for (uint32_t at = 0; at < k; at += step) {
			if (off == m->data_len) {
				m = m->next;
				off = 0;
			}
			step = m->data_len - off < k - at ? m->data_len - off : k - at;
			if (!discard)
				memcpy((uint8_t *)iov[i].iov_base + at, shim_buf_data_off(m, const uint8_t *, off), step);
			off += step;
		}
		done += k;
	}
	return done;
}

/*
 * The application took n bytes: is the window the limit, grow it. More than half a buffer in a round trip says so; then twice what was read in
 * it is enough for the next, in which a slow start brings twice as much.
 */
static void
took(struct stack *s, struct tcp_pcb *p, uint32_t n)
{
	uint32_t most = (uint32_t)tcp_knob(s, TCP_KNOB_RECVBUF_MAX), now = tcp_ms(s), want;

	if (!p->rcvbuf_set && tcp_knob(s, TCP_KNOB_RECVBUF_AUTO) != 0 && p->rcv_buf < most) {
		if (now - p->tune_ms > (p->rec.srtt >> REC_RTT_SHIFT) / 1000 + 1) {
			want = p->tune_bytes > most / 2 ? most : p->tune_bytes * 2;
			if (want > p->rcv_buf)
				p->rcv_buf = want;
			p->tune_ms = now;
			p->tune_bytes = 0;
		}
		p->tune_bytes += n;
	}
	tcp_window_update(s, p);
	tcp_reap(s);
}

ssize_t
tcp_read(struct stack *s, struct tcp_pcb *p, const struct iovec *iov, int n, unsigned int flags)
{
	uint32_t got;

	if (p->rq.bytes == 0)
		return read_check(p);
	got = copy_out(p, iov, n, (flags & TCP_IO_DISCARD) != 0);
	if ((flags & TCP_IO_PEEK) == 0 && got != 0) {
		tcp_queue_drop(s, &p->rq, got);
		took(s, p, got);
	}
	return got;
}

ssize_t
tcp_read_chain(struct stack *s, struct tcp_pcb *p, uint32_t max, struct rte_mbuf **out)
{
	struct rte_mbuf *head = p->rq.head, *last = head;
	uint32_t got;

	*out = NULL;
	if (head == NULL)
		return read_check(p);
	got = head->data_len;
	head->nb_segs = 1;
	while (last->next != NULL && got + last->next->data_len <= max && head->nb_segs < UINT16_MAX) {
		last = last->next;
		got += last->data_len;
		head->nb_segs++;
	}
	p->rq.head = last->next;
	if (p->rq.head == NULL)
		p->rq.tail = NULL;
	p->rq.bufs -= head->nb_segs;
	p->rq.bytes -= got;
	last->next = NULL;
	head->pkt_len = got;
	*out = head;
	took(s, p, got);
	return got;
}

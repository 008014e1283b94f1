/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's states: opening, acknowledgements, data in order and out of it, closing (RFC 9293 3.10.7.3 and 3.10.7.4). */
#include <errno.h>

#include "tcp_priv.h"

/* ---- opening ----------------------------------------------------------------------------------- */

/* What the peer's SYN says. */
static void
syn_options(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g)
{
	p->irs = g->seq;
	p->rcv_nxt = p->rcv_adv = g->seq + 1;
	p->last_ack_sent = p->rcv_nxt;
	p->peer_mss = p->key.family == ADDR_INET ? TCP_MSS_DEFAULT4 : TCP_MSS_DEFAULT6;
	if (g->o.mss)
		p->peer_mss = g->o.mss_val < TCP_MSS_MIN ? TCP_MSS_MIN : g->o.mss_val;
	p->ask_wscale = p->ask_wscale && g->o.wscale;
	p->snd_scale = p->ask_wscale ? g->o.shift : 0;
	if (!p->ask_wscale)
		p->rcv_scale = 0;
	p->sack = p->sack && g->o.sack_ok;
	p->ts = p->ts && g->o.ts;
	if (p->ts) {
		p->ts_recent = g->o.tsval;
		p->ts_recent_ms = tcp_ms(s);
	}
	p->snd_wnd = p->max_wnd = g->wnd; /* never scaled in a SYN */
	p->snd_wl1 = g->seq;
	p->snd_wl2 = g->ack;
	tcp_mss_update(s, p);
}

/* FreeBSD's buffers hold whole segments. */
static uint32_t
whole_segments(uint32_t bytes, uint32_t mss)
{
	return bytes > mss ? (bytes + mss - 1) / mss * mss : bytes;
}

void
tcp_established(struct stack *s, struct tcp_pcb *p)
{
	p->fsm = TCP_ESTABLISHED;
	p->rcv_buf = whole_segments(p->rcv_buf, p->mss);
	p->snd_buf = whole_segments(p->snd_buf, p->mss);
	tcp_timer_stop(p, TCP_T_STATE);
	tcp_count(s, TCP_EV_CONN_ESTAB);
	tcp_keep_restart(s, p);
}

static void
open_done(struct stack *s, struct tcp_pcb *p)
{
	struct rec_open o = { .now = s->now_ns, .iss = p->iss, .mss = p->mss, .sack = p->sack, .ts = p->ts };

	rec_open(&p->rec, &o);
	tcp_established(s, p);
	if (p->fin_queued)
		p->fsm = TCP_FIN_WAIT_1; /* closed while it was opening */
	tcp_notify(s, p, EPOLLOUT);
}

static uint64_t
ecr_ns(const struct stack *s, const struct tcp_pcb *p, const struct tcp_seg *g, uint8_t *flags)
{
	uint64_t ms = s->now_ns / 1000000;
	uint32_t ago = tcp_ms(s) + p->ts_off - g->o.tsecr;

	if (!p->ts || !g->o.ts || ago > INT32_MAX || ago > ms)
		return 0;
	*flags |= REC_IN_TS;
	return (ms - ago) * 1000000;
}

/* Tells the recovery of an ACK, counts what it says, takes what was acknowledged off the buffer. Returns the bytes, SYN and FIN too. */
static uint32_t
acknowledge(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g, uint8_t flags)
{
	uint32_t end = tcp_snd_end(p), edge, syn = p->snd_una == p->iss && p->fsm < TCP_ESTABLISHED, data;
	struct rec_in in = { .now = s->now_ns, .ack = g->ack, .flags = flags };
	struct rec_out out;

	in.ecr_ns = ecr_ns(s, p, g, &in.flags);
	edge = p->snd_una + p->snd_wnd;
	if (seq_lt(end, edge))
		edge = end;
	in.unsent = seq_lt(p->snd_nxt, edge) ? edge - p->snd_nxt : 0;
	if (p->ecn && (g->flags & TCP_ECE) != 0 && (g->flags & TCP_SYN) == 0)
		in.flags |= REC_IN_ECE;
	for (; in.n_sack < g->o.nb_sack && p->sack && in.n_sack < REC_SACK_MAX; in.n_sack++)
		in.sack[in.n_sack] = (struct rec_range){ g->o.sack[in.n_sack].start, g->o.sack[in.n_sack].end };
	rec_ack(&p->rec, &in, &out);
	if ((out.ev & REC_EV_DUPACK) != 0)
		tcp_count(s, TCP_EV_ACK_DUP);
	if ((out.ev & REC_EV_RECOVERY) != 0)
		tcp_count(s, TCP_EV_FAST_RECOVERY);
	if ((out.ev & (REC_EV_REDUCED | REC_EV_UNDO)) != 0) /* one that was taken back is not told of; ECN's own never are */
		p->cwr_due = p->ecn && (out.ev & REC_EV_REDUCED) != 0;
	if ((out.ev & REC_EV_RTO_SPURIOUS) != 0)
		tcp_count(s, TCP_EV_RTO_SPURIOUS);
	if ((out.ev & REC_EV_DSACK) != 0)
		tcp_count(s, TCP_EV_DSACK_IN);
	if ((out.ev & REC_EV_RENEGED) != 0)
		tcp_count(s, TCP_EV_SACK_RENEGED);
	if ((out.ev & REC_EV_TLP_RECOVERED) != 0)
		tcp_count(s, TCP_EV_TLP_RECOVERED);
	if ((out.ev & REC_EV_RACK_LOST) != 0)
		tcp_count(s, TCP_EV_RACK_LOST);
	if (out.acked == 0)
		return 0;
	data = g->ack - p->snd_una - syn;
	if (data > p->sq.bytes)
		data = p->sq.bytes; /* the FIN */
	tcp_queue_drop(s, &p->sq, data);
	p->snd_una = g->ack;
	p->bytes_acked += data;
	p->stall_ms = p->acked_ms = tcp_ms(s);
	p->tries = 0;
	if (p->cur != NULL && seq_le(p->cur_seq, p->snd_una)) {
		p->cur = p->sq.head;
		p->cur_seq = p->snd_una;
	}
	return data + (data == 0);
}

/* RFC 9293 3.10.7.3. */
void
tcp_syn_sent_input(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m)
{
	bool ack = (g->flags & TCP_ACK) != 0;

	if (ack && (seq_le(g->ack, p->iss) || seq_lt(p->snd_nxt, g->ack))) {
		tcp_reset_for(s, g);
		stack_drop(s, g->rx->nif, STACK_DROP_TCP_ACK, m);
		return;
	}
	if ((g->flags & TCP_RST) != 0) {
		if (ack) {
			tcp_count(s, TCP_EV_CONN_FAILED);
			tcp_done(s, p, ECONNREFUSED);
		}
		shim_buf_free(s->shim, m);
		return;
	}
	if ((g->flags & TCP_SYN) == 0) {
		stack_drop(s, g->rx->nif, STACK_DROP_TCP_SEQ, m);
		return;
	}
	syn_options(s, p, g);
	if (!ack) { /* simultaneous open */
		p->ecn = p->ecn_try && (g->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR);
		p->fsm = TCP_SYN_RCVD;
		tcp_transmit(s, p, p->iss, 0, TCP_SYN | TCP_ACK);
		tcp_output(s, p);
		shim_buf_free(s->shim, m);
		return;
	}
	p->ecn = p->ecn_try && (g->flags & (TCP_ECE | TCP_CWR)) == TCP_ECE;
	acknowledge(s, p, g, 0);
	open_done(s, p);
	p->ack_now = true;
	g->seq++;
	g->flags &= (uint8_t)~TCP_SYN;
	if (g->len > tcp_window(s, p)) { /* data in a SYN-ACK, more than we take */
		ip_trim(s, m, 0);
		g->len = 0;
		g->flags &= (uint8_t)~TCP_FIN;
	}
	tcp_segment_text(s, p, g, m);
}

/* ---- acknowledgements -------------------------------------------------------------------------- */

/* RFC 9293 3.10.7.4: WL1 and WL2 keep old segments from setting the window. */
static bool
window_input(struct tcp_pcb *p, const struct tcp_seg *g)
{
	uint32_t wnd = g->wnd << p->snd_scale;
	bool changed;

	if (!(seq_lt(p->snd_wl1, g->seq) || (p->snd_wl1 == g->seq && seq_le(p->snd_wl2, g->ack))))
		return false;
	changed = wnd != p->snd_wnd;
	p->snd_wnd = wnd;
	p->snd_wl1 = g->seq;
	p->snd_wl2 = g->ack;
	if (wnd > p->max_wnd)
		p->max_wnd = wnd;
	return changed;
}

static void
fin_acked(struct stack *s, struct tcp_pcb *p)
{
	switch (p->fsm) {
	case TCP_FIN_WAIT_1:
		p->fsm = TCP_FIN_WAIT_2;
		if (p->so == NULL)
			tcp_timer_set(s, p, TCP_T_STATE, (p->linger2_ms != 0 ? p->linger2_ms : (uint64_t)tcp_knob(s, TCP_KNOB_FINWAIT2)) * 1000000);
		break;
	case TCP_CLOSING:
		tcp_enter_time_wait(s, p);
		break;
	case TCP_LAST_ACK:
		tcp_done(s, p, 0);
		break;
	default:
		break;
	}
}

/* A probe's byte was taken by the peer: it counts as sent when the probe was. */
static void
probe_taken(struct stack *s, struct tcp_pcb *p)
{
	uint64_t ago = (tcp_ms(s) - p->sent_ms) * 1000000ull;

	if (!seq_lt(p->snd_nxt, tcp_snd_end(p)))
		p->fin_sent = true;
	rec_sent(&p->rec, ago < s->now_ns ? s->now_ns - ago : s->now_ns, p->snd_nxt, p->snd_nxt + 1);
	p->snd_nxt++;
	p->probe_out = false;
}

bool
tcp_ack_input(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g)
{
	uint8_t flags = g->len != 0 || (g->flags & TCP_FIN) != 0 ? REC_IN_DATA : 0;
	uint32_t room = tcp_writable(p), acked;

	if (p->fsm == TCP_SYN_RCVD) {
		if (!seq_lt(p->snd_una, g->ack) || seq_lt(p->snd_nxt, g->ack)) {
			tcp_reset_for(s, g);
			return false;
		}
		window_input(p, g);
		acknowledge(s, p, g, flags);
		open_done(s, p);
		return true;
	}
	if (p->probe_out && g->ack == p->snd_nxt + 1 && p->snd_nxt == p->snd_una)
		probe_taken(s, p);
	if (seq_lt(p->snd_nxt, g->ack) || seq_lt(g->ack, p->snd_una - p->max_wnd)) { /* RFC 5961 5.2 */
		tcp_challenge(s, p);
		return false;
	}
	if (seq_lt(g->ack, p->snd_una)) /* old, but what is with it may be new */
		return true;
	if (window_input(p, g))
		flags |= REC_IN_WINDOW;
	if (p->snd_wnd != 0 && p->snd_nxt == p->snd_una) {
		p->probe_out = false;
		p->probes = 0;
	}
	acked = acknowledge(s, p, g, flags);
	if (acked == 0)
		return true;
	if (g->len == 0 && flags == 0 && p->fsm == TCP_ESTABLISHED)
		tcp_count(s, TCP_EV_FAST_PATH_ACK);
	if (p->fin_queued && p->snd_una == p->snd_nxt && p->fin_sent)
		fin_acked(s, p);
	else if (room < p->sndlowat || room < tcp_writable(p) / 3 || p->notsent_lowat != 0)
		tcp_notify(s, p, EPOLLOUT);
	return true;
}

/* ---- data and FIN ------------------------------------------------------------------------------ */

static void
fin_input(struct stack *s, struct tcp_pcb *p)
{
	p->fin_rcvd = true;
	p->rcv_nxt++;
	p->ack_now = true;
	tcp_ooo_free(s, p);
	tcp_notify(s, p, EPOLLIN | EPOLLRDHUP);
	switch (p->fsm) {
	case TCP_ESTABLISHED:
		p->fsm = TCP_CLOSE_WAIT;
		break;
	case TCP_FIN_WAIT_1: /* our FIN is not acknowledged, or tcp_ack_input had gone on */
		p->fsm = TCP_CLOSING;
		break;
	case TCP_FIN_WAIT_2:
		tcp_send_ack(s, p);
		tcp_enter_time_wait(s, p);
		break;
	default:
		break;
	}
}

/* Is an acknowledgement for data due now (RFC 9293 3.8.6.3, RFC 5681 4.2: every second segment)? */
static void
ack_data(struct stack *s, struct tcp_pcb *p)
{
	uint64_t delay = (uint64_t)tcp_knob(s, TCP_KNOB_DELACK) * 1000000;

	if (p->ack_now)
		return;
	if (tcp_timer_on(p, TCP_T_DELACK) || p->quickack || delay == 0)
		p->ack_now = true;
	else
		tcp_timer_set(s, p, TCP_T_DELACK, delay);
}

/* Payload of a segment that begins within the window. Takes m. true: the stream's end was reached with it. */
static bool
text(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m)
{
	bool fin = (g->flags & TCP_FIN) != 0;

	if (g->seq != p->rcv_nxt) {
		tcp_count(s, TCP_EV_OOO);
		p->nb_ooo++;
		p->ack_now = true;
		if (!tcp_ooo_add(s, p, g->seq, fin, m))
			stack_count(s, STACK_DROP_TCP_OOO_LIMIT);
		return false;
	}
	if (g->len > p->rcv_mss)
		p->rcv_mss = (uint16_t)g->len;
	if (g->len != 0)
		ack_data(s, p);
	p->rcv_nxt += g->len;
	if (g->len == 0)
		shim_buf_free(s->shim, m);
	else
		tcp_rcv_append(s, p, m);
	if (unlikely(p->ooo != NULL)) {
		p->ack_now = true; /* a gap was filled, wholly or in part */
		if (!fin)
			fin = tcp_ooo_take(s, p);
	}
	if (g->len != 0 && p->rq.bytes >= p->rcvlowat)
		tcp_notify(s, p, EPOLLIN);
	return fin;
}

void
tcp_segment_text(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m)
{
	bool fin = (g->flags & TCP_FIN) != 0;

	if ((g->len == 0 && !fin) || p->fin_rcvd) {
		shim_buf_free(s->shim, m);
		tcp_output(s, p);
		return;
	}
	if (p->so == NULL && p->orphan && g->len != 0) { /* nobody will read it (RFC 9293 3.10.4, RFC 2525 2.17) */
		shim_buf_free(s->shim, m);
		p->rcv_nxt = g->seq + g->len;
		tcp_send_rst(s, p);
		tcp_done(s, p, 0);
		return;
	}
	if (text(s, p, g, m))
		fin_input(s, p);
	tcp_output(s, p);
}

void
tcp_enter_time_wait(struct stack *s, struct tcp_pcb *p)
{
	if (p->ack_now)
		tcp_send_ack(s, p);
	tcp_conn_leave(s, p);
	tcp_tw_add(s, p);
	if (p->so == NULL && !p->in_accept) {
		tcp_done(s, p, 0);
		return;
	}
	/* Its socket may still read; the address belongs to the TIME-WAIT entry. */
	for (unsigned int t = 0; t < TCP_T_COUNT; t++)
		tcp_timer_stop(p, t);
	rec_release(&p->rec);
	p->fsm = TCP_TIME_WAIT;
	tcp_timer_set(s, p, TCP_T_STATE, 2000000ull * (uint64_t)tcp_knob(s, TCP_KNOB_MSL));
	tcp_notify(s, p, EPOLLHUP | EPOLLIN | EPOLLOUT);
}

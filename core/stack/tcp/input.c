/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP received: the header checked, the connection found, and a connection's segment taken apart (RFC 9293 3.10.7, RFC 5961). */
#include <errno.h>

#include "tcp_priv.h"

static void
drop(struct stack *s, const struct tcp_seg *g, enum stack_drop why, struct rte_mbuf *m)
{
	stack_drop(s, g->rx->nif, why, m);
}

/* As udp_csum_check: the reason for a drop, or STACK_DROP_COUNT. */
static enum stack_drop
csum_check(const struct ip_rx *rx, const struct rte_mbuf *m)
{
	uint64_t sum;

	if (rx->flags & IP_RX_L4_CSUM_OK)
		return STACK_DROP_COUNT;
	if (!(rx->flags & IP_RX_REASSEMBLED)) {
		switch (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) {
		case RTE_MBUF_F_RX_L4_CKSUM_GOOD:
		case RTE_MBUF_F_RX_L4_CKSUM_NONE: /* virtio: known to be good although the field is not complete */
			return STACK_DROP_COUNT;
		case RTE_MBUF_F_RX_L4_CKSUM_BAD:
			return STACK_DROP_L4_CSUM_HW;
		}
	}
	if (rx->family == ADDR_INET)
		sum = csum_pseudo4(rx->src.v4, rx->dst.v4, IP_PROTO_TCP, (uint16_t)rx->l4_len);
	else
		sum = csum_pseudo6(rx->src.v6, rx->dst.v6, IP_PROTO_TCP, rx->l4_len);
	if (likely(m->nb_segs == 1))
		sum = csum_add_short(sum, shim_buf_data_off(m, const uint8_t *, rx->l4_off), rx->l4_len);
	else
		sum = csum_add_chain(sum, m, rx->l4_off, rx->l4_len);
	return csum_good(sum) ? STACK_DROP_COUNT : STACK_DROP_TCP_CSUM;
}

/* Reads header and options; afterwards m is the payload. NULL: dropped. */
static struct rte_mbuf *
read_segment(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m, struct tcp_seg *g)
{
	enum stack_drop why = STACK_DROP_COUNT;
	const uint8_t *h;
	uint32_t hlen = 0;

	g->rx = rx;
	if (rx->l4_len < TCP_HLEN || shim_buf_len(m) < rx->l4_off + rx->l4_len) {
		why = STACK_DROP_TCP_SHORT;
	} else {
		h = shim_buf_data_off(m, const uint8_t *, rx->l4_off);
		hlen = (uint32_t)(h[12] >> 4) * 4;
		if (hlen < TCP_HLEN || hlen > rx->l4_len)
			why = STACK_DROP_TCP_DATA_OFFSET;
		else if ((rx->flags & (IP_RX_MULTICAST | IP_RX_BROADCAST)) != 0)
			why = STACK_DROP_TCP_GROUP; /* RFC 9293 3.9.2.3 */
		else
			why = csum_check(rx, m);
	}
	if (why != STACK_DROP_COUNT) {
		drop(s, g, why, m);
		return NULL;
	}
	m = ip_pullup(s, m, rx->l4_off + hlen, false);
	if (m == NULL)
		return NULL;
	h = shim_buf_data_off(m, const uint8_t *, rx->l4_off);
	memcpy(&g->sport_be, h, 2);
	memcpy(&g->dport_be, h + 2, 2);
	g->seq = get_be32(h + 4);
	g->ack = get_be32(h + 8);
	g->flags = h[13];
	g->wnd = get_be16(h + 14);
	g->len = rx->l4_len - hlen;
	tcp_opts_parse(h + TCP_HLEN, hlen - TCP_HLEN, (g->flags & TCP_SYN) != 0, &g->o);
	if (shim_buf_len(m) > rx->l4_off + rx->l4_len)
		ip_trim(s, m, rx->l4_off + rx->l4_len);
	return ip_strip(s, m, rx->l4_off + hlen);
}

static void
no_port(struct stack *s, const struct tcp_seg *g, struct rte_mbuf *m)
{
	if (tcp_knob(s, TCP_KNOB_BLACKHOLE) == 0)
		tcp_reset_for(s, g);
	drop(s, g, STACK_DROP_TCP_NO_PORT, m);
}

/* RFC 9293 3.10.7.2. */
static void
listen_input(struct stack *s, struct tcp_pcb *l, struct tcp_seg *g, struct rte_mbuf *m)
{
	struct tcp_pcb *p;

	if ((g->flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) == TCP_SYN) {
		if (stack_shed(s)) { /* STK-9: new work goes first */
			drop(s, g, STACK_DROP_BACKPRESSURE, m);
			return;
		}
		tcp_half_syn(s, l, g);
		shim_buf_free(s->shim, m);
		return;
	}
	p = tcp_half_ack(s, l, g);
	if (p != NULL)
		tcp_conn_input(s, p, g, m);
	else
		shim_buf_free(s->shim, m);
}

void
tcp_input(struct stack *s, const struct ip_rx *rx, struct rte_mbuf *m)
{
	struct tcp_seg g;
	struct tcp_key *k;
	struct tcp_pcb *l;

	m = read_segment(s, rx, m, &g);
	if (m == NULL)
		return;
	tcp_count(s, TCP_EV_SEGS_IN);
	k = tcp_conn_find(s, rx->family, &rx->dst, g.dport_be, &rx->src, g.sport_be, rx->nif);
	if (k != NULL && k->kind == TCP_KIND_TW) {
		if (tcp_tw_input(s, (struct tcp_tw *)k, &g)) {
			shim_buf_free(s->shim, m);
			return;
		}
		k = NULL;
	}
	if (k != NULL) {
		tcp_conn_input(s, (struct tcp_pcb *)k, &g, m);
	} else {
		l = tcp_listener_find(s, rx->family, &rx->dst, g.dport_be, &rx->src, g.sport_be, rx->nif);
		if (l != NULL && g.sport_be != 0)
			listen_input(s, l, &g, m);
		else
			no_port(s, &g, m);
	}
	tcp_reap(s);
}

/* ---- a segment of a connection ----------------------------------------------------------------- */

static void
reset_in(struct stack *s, struct tcp_pcb *p)
{
	int err = ECONNRESET;

	tcp_count(s, TCP_EV_CONN_RESET_IN);
	if (p->fsm == TCP_SYN_RCVD && p->active)
		err = ECONNREFUSED;
	else if (p->fsm == TCP_CLOSE_WAIT)
		err = EPIPE; /* as Linux: everything the peer had to say was received */
	else if (p->fsm == TCP_CLOSING || p->fsm == TCP_LAST_ACK)
		err = p->fsm == TCP_LAST_ACK ? 0 : ECONNRESET;
	tcp_done(s, p, err);
}

/* RFC 7323 5.3: the reason to refuse a segment, or STACK_DROP_COUNT. */
static enum stack_drop
paws(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g)
{
	if (!p->ts || (g->flags & TCP_RST) != 0)
		return STACK_DROP_COUNT;
	if (!g->o.ts)
		return STACK_DROP_TCP_NO_TS;
	if (likely(seq_le(p->ts_recent, g->o.tsval)))
		return STACK_DROP_COUNT;
	if (tcp_ms(s) - p->ts_recent_ms > TCP_PAWS_MS) { /* 5.5: what is so old says nothing */
		p->ts_recent = g->o.tsval;
		p->ts_recent_ms = tcp_ms(s);
		return STACK_DROP_COUNT;
	}
	return STACK_DROP_TCP_PAWS;
}

/* RFC 7323 4.3: not from segments that are beyond the last ACK sent. */
static inline void
ts_update(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g)
{
	if (p->ts && g->o.ts && seq_le(g->seq, p->last_ack_sent) && seq_le(p->ts_recent, g->o.tsval)) {
		p->ts_recent = g->o.tsval;
		p->ts_recent_ms = tcp_ms(s);
	}
}

/* Takes off what is left of the window. false: nothing of the segment is in it. */
static bool
cut_old(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf **m)
{
	uint32_t old = p->rcv_nxt - g->seq, fin = (g->flags & TCP_FIN) != 0;

	if (old == 0 || old > INT32_MAX)
		return true;
	if (old >= g->len + fin) {
		if (g->len != 0) {
			p->dsack_start = g->seq;
			p->dsack_end = g->seq + g->len;
			tcp_count(s, TCP_EV_DUP);
		}
		return false;
	}
	p->dsack_start = g->seq;
	p->dsack_end = p->rcv_nxt;
	*m = ip_strip(s, *m, old < g->len ? old : g->len);
	g->len -= old < g->len ? old : g->len;
	g->seq = p->rcv_nxt;
	return true;
}

/* Takes off what is right of the window. false: all of it is, and the ACK field does not count either. */
static bool
cut_new(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m)
{
	uint32_t edge = p->rcv_nxt + tcp_rcv_wnd(p), space = tcp_seg_space(g), over = g->seq + space - edge;

	if (over == 0 || over > INT32_MAX)
		return true;
	p->ack_now = true;
	if (over > space || (over == space && g->seq != p->rcv_nxt))
		return false;
	if ((g->flags & TCP_FIN) != 0) {
		g->flags &= (uint8_t)~TCP_FIN;
		over--;
	}
	if (over != 0)
		ip_trim(s, m, g->len - over);
	g->len -= over;
	return true;
}

/* First to fourth of 3.10.7.4. false: the segment is done with, for *why (STACK_DROP_COUNT: no error). */
static bool
acceptable(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf **m, enum stack_drop *why)
{
	*why = paws(s, p, g);
	if (*why == STACK_DROP_TCP_PAWS)
		tcp_challenge(s, p);
	if (*why != STACK_DROP_COUNT)
		return false;
	*why = STACK_DROP_TCP_SEQ;
	if ((g->flags & TCP_RST) != 0) { /* RFC 5961 3.2 */
		if (g->seq == p->rcv_nxt) {
			*why = STACK_DROP_COUNT;
			reset_in(s, p);
		} else if (seq_lt(p->rcv_nxt, g->seq) && seq_lt(g->seq, p->rcv_nxt + tcp_rcv_wnd(p))) {
			tcp_challenge(s, p);
		}
		return false;
	}
	if ((g->flags & TCP_SYN) != 0) {
		if (p->fsm != TCP_SYN_RCVD || g->seq != p->irs) { /* RFC 5961 4.2 */
			tcp_challenge(s, p);
			return false;
		}
		if ((g->flags & TCP_ACK) == 0) { /* the peer did not get our SYN-ACK */
			*why = STACK_DROP_COUNT;
			tcp_transmit(s, p, p->iss, 0, TCP_SYN | TCP_ACK);
			return false;
		}
		g->flags &= (uint8_t)~TCP_SYN; /* simultaneous open: what is left of it acknowledges our SYN */
		g->seq++;
	}
	if (!cut_old(s, p, g, m)) {
		if (g->len != 0 || (g->flags & TCP_FIN) != 0)
			tcp_send_ack(s, p);
		else
			tcp_challenge(s, p); /* a keepalive, or half of a war of ACKs */
		return false;
	}
	if (!cut_new(s, p, g, *m)) {
		tcp_challenge(s, p);
		return false;
	}
	if ((g->flags & TCP_ACK) == 0) {
		*why = STACK_DROP_TCP_ACK;
		return false;
	}
	*why = STACK_DROP_COUNT;
	return true;
}

/* RFC 3168 6.1.3: CE is echoed until the sender says CWR. */
static inline void
ecn_input(struct stack *s, struct tcp_pcb *p, const struct tcp_seg *g)
{
	if (!p->ecn)
		return;
	if ((g->flags & TCP_CWR) != 0)
		p->ecn_echo = false;
	if ((g->rx->tos & 3) == 3) {
		p->ecn_echo = true;
		p->ack_now = true;
		tcp_count(s, TCP_EV_ECN_CE);
	}
	if ((g->flags & TCP_ECE) != 0)
		tcp_count(s, TCP_EV_ECN_ECE);
}

/*
 * Header prediction: an established connection, nothing special, the next segment in order. Pure data, whose ACK says
 * nothing new, needs no more than to be queued. Takes m when it returns true.
 */
static bool
predicted(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m)
{
	if (p->fsm != TCP_ESTABLISHED || (g->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK | TCP_URG | TCP_ECE | TCP_CWR)) != TCP_ACK)
		return false;
	if (g->seq != p->rcv_nxt || g->ack != p->snd_una || g->len == 0 || g->len > tcp_rcv_wnd(p))
		return false;
	if (g->wnd << p->snd_scale != p->snd_wnd || p->ooo != NULL || g->o.nb_sack != 0 || p->rd_shut || p->so == NULL)
		return false;
	if (p->ecn || p->ts != g->o.ts || (p->ts && seq_lt(g->o.tsval, p->ts_recent)))
		return false;
	tcp_count(s, TCP_EV_FAST_PATH_DATA);
	ts_update(s, p, g);
	p->snd_wl1 = g->seq;
	tcp_segment_text(s, p, g, m);
	return true;
}

void
tcp_conn_input(struct stack *s, struct tcp_pcb *p, struct tcp_seg *g, struct rte_mbuf *m)
{
	enum stack_drop why;

	p->segs_in++;
	p->recv_ms = g->len != 0 ? tcp_ms(s) : p->recv_ms;
	tcp_keep_restart(s, p);
	if (p->fsm == TCP_SYN_SENT) {
		tcp_syn_sent_input(s, p, g, m);
		return;
	}
	if (likely(predicted(s, p, g, m)))
		return;
	if (!acceptable(s, p, g, &m, &why)) {
		if (why != STACK_DROP_COUNT)
			drop(s, g, why, m);
		else
			shim_buf_free(s->shim, m);
		return;
	}
	ts_update(s, p, g);
	ecn_input(s, p, g);
	if (!tcp_ack_input(s, p, g)) {
		drop(s, g, STACK_DROP_TCP_ACK, m);
		return;
	}
	if (p->fsm == TCP_CLOSED || p->fsm == TCP_TIME_WAIT) {
		shim_buf_free(s->shim, m);
		return;
	}
	tcp_segment_text(s, p, g, m);
}

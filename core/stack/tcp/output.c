/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sent: what may go now, segments made from the send buffer, windows told, acknowledgements. */
#include <errno.h>

#include "tcp_priv.h"

#define ECT0 2
#define RETRY_NS 10000000ull /* no buffer: try again after */
#define CORK_NS 200000000ull /* Linux's bound for CORK and MSG_MORE */
#define CHALLENGE_MIN 4      /* challenge ACKs of a connection per second: this and up to 7 more */

int
tcp_path(struct stack *s, struct tcp_pcb *p)
{
	struct netif *nif = p->key.scope != 0 ? stack_if_by_index(s, p->key.scope) : NULL;
	struct ip_path path;
	int err;

	if (likely(ip_path_valid(s, &p->path)))
		return 0;
	err = ip_path_lookup(s, p->key.family, &p->key.remote, &p->key.local, nif, &path);
	if (err != 0) {
		p->path.nif = NULL;
		return err;
	}
	p->path = path;
	tcp_mss_update(s, p);
	return 0;
}

/* Bytes of the largest IP packet that goes out whole: ports that take no chains want it in one buffer. */
static uint32_t
path_mtu(const struct stack *s, const struct ip_path *path)
{
	uint32_t mtu = path->mtu, room;

	if ((path->nif->cfg.tx_offloads & SHIM_TX_MULTI_SEGS) != 0 || (path->flags & IP_PATH_LOCAL) != 0)
		return mtu;
	room = shim_pool_data_room(s->shim, s->pool) - SHIM_HEADROOM;
	return mtu < room ? mtu : room;
}

static uint32_t
headers_of(const struct tcp_pcb *p)
{
	return (p->key.family == ADDR_INET ? 20 : 40) + TCP_HLEN;
}

uint16_t
tcp_adv_mss(const struct ip_path *path)
{
	uint32_t mtu = path->family == ADDR_INET ? path->nif->mtu : path->nif->mtu6;

	if ((path->flags & IP_PATH_LOCAL) != 0)
		mtu = path->mtu;
	return (uint16_t)(mtu - (path->family == ADDR_INET ? 20 : 40) - TCP_HLEN);
}

void
tcp_mss_update(struct stack *s, struct tcp_pcb *p)
{
	uint32_t mss = p->peer_mss, most, old = p->mss;

	if (p->path.nif != NULL) {
		most = path_mtu(s, &p->path);
		most = most > headers_of(p) + TCP_MSS_MIN ? most - headers_of(p) : TCP_MSS_MIN;
		if (mss > most)
			mss = most;
		p->adv_mss = tcp_adv_mss(&p->path);
	}
	if (p->user_mss != 0 && mss > p->user_mss)
		mss = p->user_mss;
	if (p->ts)
		mss = mss > TCP_TS_LEN + 32 ? mss - TCP_TS_LEN : 32;
	p->mss = (uint16_t)mss;
	if (old != p->mss && old != 0 && p->fsm >= TCP_ESTABLISHED) {
		if (p->mss < old)
			tcp_count(s, TCP_EV_PMTU_LOWERED);
		rec_mtu_changed(&p->rec, p->mss, p->mss < old);
	}
}

uint32_t
tcp_window(struct stack *s, const struct tcp_pcb *p)
{
	uint32_t space = p->rcv_buf > p->rq.bytes ? p->rcv_buf - p->rq.bytes : 0, told = tcp_rcv_wnd(p);
	uint32_t most = 65535u << p->rcv_scale;

	(void)s;
	/* RFC 9293 3.8.6.2.2: a small opening is not told of */
	if (space < p->rcv_buf / 4 && space < p->adv_mss)
		space = 0;
	if (space > most)
		space = most;
	return space < told ? told : space;
}

/* The header's window field. It rounds down, but never behind what was told. */
static uint16_t
window_field(struct stack *s, struct tcp_pcb *p, bool syn)
{
	uint32_t wnd = tcp_window(s, p), field;

	if (syn) {
		if (wnd > UINT16_MAX)
			wnd = UINT16_MAX;
		p->rcv_adv = p->rcv_nxt + wnd;
		return (uint16_t)wnd;
	}
	field = wnd >> p->rcv_scale;
	if (field << p->rcv_scale < tcp_rcv_wnd(p) && field < UINT16_MAX)
		field++;
	if (seq_lt(p->rcv_adv, p->rcv_nxt + (field << p->rcv_scale)))
		p->rcv_adv = p->rcv_nxt + (field << p->rcv_scale);
	return (uint16_t)field;
}

static uint32_t
ts_now(const struct stack *s, const struct tcp_pcb *p)
{
	return tcp_ms(s) + p->ts_off;
}

static uint32_t
syn_options(struct stack *s, const struct tcp_pcb *p, uint8_t *b)
{
	struct tcp_syn_opts o = {
		.mss = p->adv_mss,
		.shift = p->rcv_scale,
		.wscale = p->ask_wscale,
		.sack = p->sack,
		.ts = p->ts,
		.linux_order = tcp_knob(s, TCP_KNOB_LINUX_OPTS) != 0,
		.tsval = ts_now(s, p),
		.tsecr = p->fsm == TCP_SYN_RCVD ? p->ts_recent : 0,
	};

	if (p->user_mss != 0 && o.mss > p->user_mss)
		o.mss = p->user_mss;
	return tcp_emit_syn(b, &o);
}

/* Timestamps, and as many SACK blocks as fit room bytes. */
static uint32_t
options(struct stack *s, struct tcp_pcb *p, uint8_t *b, uint32_t room)
{
	uint32_t n = 0, blk[TCP_SACK_MAX][2];
	unsigned int k = 0, max;

	if (p->ts)
		n = tcp_emit_ts(b, ts_now(s, p), p->ts_recent);
	if (!p->sack || (p->ooo == NULL && p->dsack_start == p->dsack_end) || room < n + 12)
		return n;
	max = (room - n - 4) / 8;
	if (p->dsack_start != p->dsack_end) { /* RFC 2883: first, once */
		blk[0][0] = p->dsack_start;
		blk[0][1] = p->dsack_end;
		p->dsack_start = p->dsack_end = 0;
		k = 1;
	}
	k += tcp_ooo_blocks(p, (max > TCP_SACK_MAX ? TCP_SACK_MAX : max) - k, blk + k);
	if (k == 0)
		return n;
	b[n] = b[n + 1] = 1;
	b[n + 2] = 5;
	b[n + 3] = (uint8_t)(2 + k * 8);
	n += 4;
	for (unsigned int i = 0; i < k; i++, n += 8) {
		put_be32(b + n, blk[i][0]);
		put_be32(b + n + 4, blk[i][1]);
	}
	return n;
}

/* A buffer (a chain where one is too small) with hlen bytes of room and len bytes of the send buffer from seq. */
static struct rte_mbuf *
make_payload(struct stack *s, struct tcp_pcb *p, uint32_t seq, uint32_t len, uint32_t hlen)
{
	uint32_t off = seq - p->snd_una, want, at = 0;
	const struct rte_mbuf *from = p->sq.head;
	struct rte_mbuf *m = stack_buf(s), *last = m, *more;

	if (m == NULL)
		return NULL;
	if (len != 0 && p->cur != NULL && seq_le(p->cur_seq, seq)) {
		from = p->cur;
		off = seq - p->cur_seq;
	}
	m->data_len = (uint16_t)hlen;
	m->pkt_len = hlen;
	while (at < len) {
		want = rte_pktmbuf_tailroom(last);
		if (want == 0) {
			more = stack_buf(s);
			if (more == NULL) {
				shim_buf_free(s->shim, m);
				return NULL;
			}
			last->next = more;
			last = more;
			m->nb_segs++;
			continue;
		}
		if (want > len - at)
			want = len - at;
		tcp_queue_copy(from, off + at, want, shim_buf_data_off(last, uint8_t *, last->data_len));
		last->data_len += (uint16_t)want;
		m->pkt_len += want;
		at += want;
	}
	return m;
}

/* The cursor is kept at new data's place, so that finding it costs nothing. */
static void
cursor_move(struct tcp_pcb *p, uint32_t seq)
{
	if (p->cur == NULL || seq_lt(seq, p->cur_seq)) {
		p->cur = p->sq.head;
		p->cur_seq = p->snd_una;
	}
	while (p->cur != NULL && seq_le(p->cur_seq + p->cur->data_len, seq) && p->cur->next != NULL) {
		p->cur_seq += p->cur->data_len;
		p->cur = p->cur->next;
	}
}

static void
fill_header(struct tcp_pcb *p, uint8_t *h, uint32_t seq, uint8_t flags, uint16_t wnd, const uint8_t *opts, uint32_t n)
{
	memcpy(h, &p->key.lport_be, 2);
	memcpy(h + 2, &p->key.rport_be, 2);
	put_be32(h + 4, seq);
	put_be32(h + 8, (flags & TCP_ACK) != 0 ? p->rcv_nxt : 0);
	h[12] = (uint8_t)((TCP_HLEN + n) << 2);
	h[13] = flags;
	put_be16(h + 14, wnd);
	memset(h + 16, 0, 4);
	memcpy(h + TCP_HLEN, opts, n);
}

/* RFC 3168: bits of the header and of IP for a segment with len bytes; again: it was sent before. */
static uint8_t
ecn_flags(struct stack *s, struct tcp_pcb *p, uint8_t flags, uint32_t len, bool again, uint8_t *tos)
{
	(void)s;
	if ((flags & TCP_SYN) != 0) {
		if (p->ecn_try && p->fsm == TCP_SYN_SENT)
			return TCP_ECE | TCP_CWR;
		return p->ecn && p->fsm == TCP_SYN_RCVD ? TCP_ECE : 0;
	}
	if (!p->ecn)
		return 0;
	flags = p->ecn_echo ? TCP_ECE : 0;
	if (len != 0 && !again) {
		*tos = (uint8_t)((*tos & ~3) | ECT0);
		if (p->cwr_due) {
			flags |= TCP_CWR;
			p->cwr_due = false;
		}
	}
	return flags;
}

static void
sent(struct stack *s, struct tcp_pcb *p, uint32_t seq, uint32_t end, uint32_t len, bool ack)
{
	p->segs_out++;
	tcp_count(s, TCP_EV_SEGS_OUT);
	if (seq_lt(p->snd_nxt, end)) {
		if (p->snd_nxt == p->snd_una)
			p->stall_ms = tcp_ms(s);
		p->snd_nxt = end;
		cursor_move(p, end);
	} else if (seq != end) {
		tcp_count(s, TCP_EV_RETRANS);
		p->bytes_retrans += len;
	}
	p->bytes_sent += len;
	if (len != 0)
		p->sent_ms = tcp_ms(s);
	if (ack) {
		p->last_ack_sent = p->rcv_nxt;
		p->ack_now = false;
		tcp_timer_stop(p, TCP_T_DELACK);
	}
}

int
tcp_transmit(struct stack *s, struct tcp_pcb *p, uint32_t seq, uint32_t len, uint8_t flags)
{
	struct ip_tx tx = { .proto = IP_PROTO_TCP, .ttl = p->ttl, .tos = p->tos & 0xfc, .df = true };
	uint32_t end = seq + len + ((flags & (TCP_SYN | TCP_FIN)) != 0), n, room;
	bool again = seq_lt(seq, p->snd_nxt), syn = (flags & TCP_SYN) != 0, blocks, due = p->ack_now;
	uint8_t opts[TCP_OPT_MAX];
	struct rte_mbuf *m;
	int err = tcp_path(s, p);

	if (err != 0)
		return err;
	room = p->mss + (p->ts ? TCP_TS_LEN : 0) - len; /* the peer's MSS is data and options (RFC 6691) */
	blocks = p->ooo != NULL || p->dsack_start != p->dsack_end;
	n = syn ? syn_options(s, p, opts) : options(s, p, opts, room < TCP_OPT_MAX ? room : TCP_OPT_MAX);
	m = make_payload(s, p, seq, len, TCP_HLEN + n);
	if (m == NULL) {
		tcp_count(s, TCP_EV_NO_BUFFER);
		return -ENOBUFS;
	}
	if (seq != end && rec_sent(&p->rec, s->now_ns, seq, end) != 0) {
		shim_buf_free(s->shim, m);
		return -ENOBUFS;
	}
	flags |= ecn_flags(s, p, flags, len, again, &tx.tos);
	fill_header(p, shim_buf_data(m), seq, flags, window_field(s, p, syn), opts, n);
	ip_l4_csum(s, &p->path, IP_PROTO_TCP, TCP_CSUM_OFF, m);
	if ((flags & TCP_FIN) != 0)
		p->fin_sent = true;
	sent(s, p, seq, end, len, (flags & TCP_ACK) != 0);
	if (blocks && len != 0 && n <= TCP_TS_LEN && p->sack && due)
		p->ack_now = true; /* the blocks did not fit: they go by themselves */
	err = ip_output(s, &p->path, &tx, m);
	if (err == -EMSGSIZE)
		p->path.nif = NULL; /* looked up, and the segment made smaller, when it is sent again */
	return err;
}

void
tcp_probe(struct stack *s, struct tcp_pcb *p, bool data)
{
	struct ip_tx tx = { .proto = IP_PROTO_TCP, .ttl = p->ttl, .tos = p->tos & 0xfc, .df = true };
	bool fin = p->probe_out && !data;
	uint32_t seq = data || fin ? p->snd_nxt : p->snd_nxt - 1, n;
	uint8_t opts[TCP_OPT_MAX], flags = TCP_ACK | (fin ? TCP_FIN : 0);
	struct rte_mbuf *m;

	if (tcp_path(s, p) != 0)
		return;
	n = options(s, p, opts, TCP_TS_LEN);
	m = make_payload(s, p, seq, data, TCP_HLEN + n);
	if (m == NULL) {
		tcp_count(s, TCP_EV_NO_BUFFER);
		return;
	}
	fill_header(p, shim_buf_data(m), seq, flags, window_field(s, p, false), opts, n);
	ip_l4_csum(s, &p->path, IP_PROTO_TCP, TCP_CSUM_OFF, m);
	p->segs_out++;
	tcp_count(s, TCP_EV_SEGS_OUT);
	p->sent_ms = tcp_ms(s);
	ip_output(s, &p->path, &tx, m);
}

void
tcp_send_ack(struct stack *s, struct tcp_pcb *p)
{
	if (tcp_transmit(s, p, p->snd_nxt, 0, TCP_ACK) == -ENOBUFS)
		tcp_timer_set(s, p, TCP_T_DELACK, RETRY_NS);
}

void
tcp_challenge(struct stack *s, struct tcp_pcb *p)
{
	if ((int32_t)(tcp_ms(s) - p->chal_ms) >= 1000 || p->chal_ms == 0) {
		p->chal_ms = tcp_ms(s) | 1; /* 0: never */
		p->chal_left = (uint8_t)(CHALLENGE_MIN + shim_random(s->shim) % 8);
	}
	if (p->chal_left == 0) {
		tcp_count(s, TCP_EV_CHALLENGE_LIMIT);
		return;
	}
	p->chal_left--;
	tcp_count(s, TCP_EV_CHALLENGE_ACK);
	tcp_send_ack(s, p);
}

void
tcp_send_rst(struct stack *s, struct tcp_pcb *p)
{
	struct tcp_bare b = { .key = &p->key, .seq = p->snd_nxt, .ack = p->rcv_nxt, .flags = TCP_RST | TCP_ACK,
		.ttl = p->ttl, .tos = p->tos };

	tcp_count(s, TCP_EV_CONN_RESET_OUT);
	p->segs_out++;
	tcp_send_bare(s, &b);
}

void
tcp_window_update(struct stack *s, struct tcp_pcb *p)
{
	uint32_t told = tcp_rcv_wnd(p), now, more, step = 2u * p->adv_mss;

	if (!tcp_synchronized(p) || p->fin_rcvd)
		return;
	now = tcp_window(s, p);
	more = now - told;
	if (told < p->adv_mss)
		step = p->adv_mss;
	else if (step < p->rcv_buf / 4)
		step = p->rcv_buf / 4;
	if (step > p->rcv_buf / 2)
		step = p->rcv_buf / 2;
	if (more != 0 && more >= step)
		tcp_send_ack(s, p);
}

/* ---- what may be sent -------------------------------------------------------------------------- */

/* Loss recovery's part. false: nothing more goes out at present. */
static bool
send_again(struct stack *s, struct tcp_pcb *p)
{
	uint32_t wnd = p->fsm == TCP_SYN_SENT || p->fsm == TCP_SYN_RCVD ? 1 : p->snd_wnd, len;
	uint8_t flags;
	struct rec_range g;

	/* A window that was taken back does not keep what was sent from being sent again (RFC 9293 3.8.6). */
	if (p->snd_una + (wnd > p->mss ? wnd : p->mss) - p->snd_nxt > INT32_MAX)
		wnd = p->snd_nxt - p->snd_una;
	if (wnd < p->mss)
		wnd = p->mss;
	while (rec_next(&p->rec, s->now_ns, p->mss, p->snd_una + wnd, &g)) {
		flags = TCP_ACK;
		len = g.end - g.seq;
		if (p->fsm == TCP_SYN_SENT || (p->fsm == TCP_SYN_RCVD && g.seq == p->iss)) {
			flags = TCP_SYN | (p->fsm == TCP_SYN_RCVD ? TCP_ACK : 0);
			len = 0;
		} else if (p->fin_queued && seq_lt(tcp_snd_end(p), g.end)) {
			flags |= TCP_FIN;
			len--;
		}
		if (len != 0 && g.seq + len == tcp_snd_end(p))
			flags |= TCP_PSH;
		if (tcp_transmit(s, p, g.seq, len, flags) != 0)
			return false;
	}
	return true;
}

/* What is sent in one go. */
struct burst {
	bool force;            /* what Nagle, CORK or the window's smallness holds back goes too */
	bool idle;             /* nothing was in flight before */
	bool held;             /* out: the application (CORK, MSG_MORE) keeps something back */
};

/*
 * Does a segment of len new bytes go now (RFC 9293 3.8.6.2.1, RFC 9293 3.7.4)? all: they are all there is. Nagle's rule is for what
 * was in flight when this burst began, as FreeBSD has it: the end of a write goes with its beginning.
 */
static bool
worth_sending(const struct tcp_pcb *p, uint32_t len, bool all, bool fin, struct burst *b)
{
	if (len >= p->mss || fin || b->force)
		return true;
	if (all && (p->cork || p->more)) {
		b->held = true;
		return false;
	}
	if (all && (p->nodelay || b->idle))
		return true;
	return len != 0 && len >= p->max_wnd / 2;
}

/* One new segment. false: none is to be sent. */
static bool
send_new(struct stack *s, struct tcp_pcb *p, struct burst *b)
{
	uint32_t end = tcp_snd_end(p), unsent = seq_lt(p->snd_nxt, end) ? end - p->snd_nxt : 0, len, can;
	uint32_t edge = p->snd_una + p->snd_wnd, usable = seq_lt(p->snd_nxt, edge) ? edge - p->snd_nxt : 0;
	bool fin = p->fin_queued && !p->fin_sent;
	uint8_t flags = TCP_ACK;

	if (unsent == 0 && !fin)
		return false;
	len = unsent < p->mss ? unsent : p->mss;
	if (len > usable)
		len = usable;
	fin = fin && len == unsent && usable > len;
	if (len == 0 && !fin)
		return false;
	can = rec_can_send(&p->rec, s->now_ns);
	if (can < len + (len == 0)) {
		if (can == 0 || p->snd_nxt != p->snd_una)
			return false;
		len = can;
		fin = false;
	}
	if (!worth_sending(p, len, len == unsent, fin, b))
		return false;
	if (fin)
		flags |= TCP_FIN;
	if (len != 0 && len == unsent)
		flags |= TCP_PSH;
	p->probe_out = false;
	if (tcp_transmit(s, p, p->snd_nxt, len, flags) == -ENOBUFS) {
		tcp_timer_set(s, p, TCP_T_PUSH, RETRY_NS);
		return false;
	}
	return !p->dead;
}

static void
arm(struct stack *s, struct tcp_pcb *p)
{
	uint64_t at = rec_deadline(&p->rec);
	bool more = seq_lt(p->snd_nxt, tcp_snd_end(p)) || (p->fin_queued && !p->fin_sent);

	if (at == REC_NEVER)
		tcp_timer_stop(p, TCP_T_REXMT);
	else
		tcp_timer_set(s, p, TCP_T_REXMT, at > s->now_ns ? at - s->now_ns : 0);
	/* Nothing in flight that would bring an answer, and something to send: only probing finds out (RFC 9293 3.8.6.1). */
	if (more && p->snd_nxt == p->snd_una && at == REC_NEVER) {
		if (!tcp_timer_on(p, TCP_T_PERSIST) && !tcp_timer_on(p, TCP_T_PUSH)) {
			if (p->probes == 0)
				p->stall_ms = tcp_ms(s);
			tcp_timer_set(s, p, TCP_T_PERSIST, rec_rto_backed_off(&p->rec, p->probes));
		}
	} else {
		tcp_timer_stop(p, TCP_T_PERSIST);
	}
}

void
tcp_push(struct stack *s, struct tcp_pcb *p, bool force)
{
	struct burst b = { .force = force, .idle = p->snd_nxt == p->snd_una };

	if (p->fsm == TCP_CLOSED || p->fsm == TCP_LISTEN || p->fsm == TCP_TIME_WAIT || p->dead)
		return;
	/* Twice when the path turned out to be narrower: what was too large goes again at once, smaller. */
	for (int i = 0; i < 2 && tcp_path(s, p) == 0; i++) {
		if (!send_again(s, p) && p->path.nif != NULL)
			break;
		while (p->fsm >= TCP_ESTABLISHED && p->path.nif != NULL && send_new(s, p, &b))
			;
		if (p->path.nif != NULL)
			break;
	}
	if (b.held && !tcp_timer_on(p, TCP_T_PUSH))
		tcp_timer_set(s, p, TCP_T_PUSH, CORK_NS);
	if (p->ack_now && p->fsm != TCP_SYN_SENT)
		tcp_send_ack(s, p);
	arm(s, p);
}

void
tcp_output(struct stack *s, struct tcp_pcb *p)
{
	tcp_push(s, p, false);
}

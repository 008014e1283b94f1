/* SPDX-License-Identifier: BSD-3-Clause */
/* Half-open connections of listeners (RFC 4987): a bounded cache in keyed buckets, cookies when it is full. */
#include <errno.h>

#include "tcp_priv.h"

#define RETRIES 3 /* SYN-ACKs sent again, FreeBSD's rexmtlimit */

static unsigned int
bucket_of(const struct stack *s, const struct tcp_key *k)
{
	return (unsigned int)(tcp_hash(s->tcp, k->family, &k->local, k->lport_be, &k->remote, k->rport_be) >> 40) % TCP_SC_BUCKETS;
}

static struct tcp_half *
find(const struct stack *s, const struct tcp_key *k)
{
	const struct list *b = &s->tcp->half[bucket_of(s, k)];
	struct list *it;

	list_for_each(it, b) {
		struct tcp_half *h = list_entry(it, struct tcp_half, bucket);

		if (h->key.lport_be == k->lport_be && h->key.rport_be == k->rport_be && h->key.family == k->family &&
		    ip_addr_eq(&h->key.remote, &k->remote) && ip_addr_eq(&h->key.local, &k->local) &&
		    (k->scope == 0 || h->key.scope == k->scope))
			return h;
	}
	return NULL;
}

bool
tcp_half_find(const struct stack *s, int family, const union ip_addr *local, uint16_t lport_be, const union ip_addr *remote,
	uint16_t rport_be)
{
	struct tcp_key k = { .local = *local, .remote = *remote, .lport_be = lport_be, .rport_be = rport_be, .family = (uint8_t)family };

	return find(s, &k) != NULL;
}

static void
half_free(struct stack *s, struct tcp_half *h)
{
	timer_cancel(&s->wheel, &h->timer);
	list_del(&h->bucket);
	s->tcp->half_n[bucket_of(s, &h->key)]--;
	s->tcp->nb_half--;
	h->listener->lst->nb_half--;
	tcp_slab_put(&s->tcp->slab_half, h);
}

void
tcp_half_flush(struct stack *s, const struct tcp_pcb *l)
{
	struct list *it, *tmp;

	for (unsigned int i = 0; i < TCP_SC_BUCKETS; i++) {
		list_for_each_safe(it, tmp, &s->tcp->half[i]) {
			struct tcp_half *h = list_entry(it, struct tcp_half, bucket);

			if (l == NULL || h->listener == l)
				half_free(s, h);
		}
	}
}

static uint32_t
listener_window(const struct tcp_pcb *l)
{
	return l->rcv_buf < UINT16_MAX ? l->rcv_buf : UINT16_MAX;
}

/* tsval 0: the present one. */
static void
send_synack(struct stack *s, const struct tcp_half *h, uint32_t tsval)
{
	const struct tcp_pcb *l = h->listener;
	struct netif *nif = h->key.scope != 0 ? stack_if_by_index(s, h->key.scope) : NULL;
	struct tcp_syn_opts o = { .shift = l->rcv_scale, .wscale = h->wscale, .sack = h->sack, .ts = h->ts,
		.linux_order = tcp_knob(s, TCP_KNOB_LINUX_OPTS) != 0, .tsval = tsval, .tsecr = h->ts_recent };
	struct ip_path path;
	uint8_t opts[TCP_OPT_MAX];
	struct tcp_bare b = { .key = &h->key, .path = &path, .seq = h->iss, .ack = h->irs + 1, .wnd = (uint16_t)listener_window(l),
		.flags = TCP_SYN | TCP_ACK, .tos = l->tos, .ttl = l->ttl, .opts = opts };

	if (ip_path_lookup(s, h->key.family, &h->key.remote, &h->key.local, nif, &path) != 0)
		return;
	o.mss = tcp_adv_mss(&path);
	if (l->user_mss != 0 && l->user_mss < o.mss)
		o.mss = l->user_mss;
	if (h->ecn)
		b.flags |= TCP_ECE;
	b.opts_len = tcp_emit_syn(opts, &o);
	tcp_send_bare(s, &b);
}

/* An acknowledgement from a half-open connection. */
static void
send_ack(struct stack *s, const struct tcp_half *h)
{
	uint8_t opts[TCP_TS_LEN];
	struct tcp_bare b = { .key = &h->key, .seq = h->iss + 1, .ack = h->irs + 1, .wnd = (uint16_t)listener_window(h->listener),
		.flags = TCP_ACK, .tos = h->listener->tos, .ttl = h->listener->ttl, .opts = opts };

	if (h->ts)
		b.opts_len = tcp_emit_ts(opts, tcp_ms(s) + h->ts_off, h->ts_recent);
	tcp_count(s, TCP_EV_CHALLENGE_ACK);
	tcp_send_bare(s, &b);
}

static void
on_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct tcp_half *h = arg;
	struct stack *s = h->stack;

	if (h->tries > RETRIES) {
		tcp_count(s, TCP_EV_SYNCACHE_TIMEOUT);
		half_free(s, h);
		return;
	}
	timer_set(&s->wheel, t, now_ns + ((uint64_t)tcp_knob(s, TCP_KNOB_RTO_INITIAL) * 1000000 << h->tries));
	h->tries++;
	h->ecn = false; /* RFC 3168 6.1.1.1: something may eat such SYN-ACKs */
	tcp_count(s, TCP_EV_RETRANS);
	send_synack(s, h, tcp_ms(s) + h->ts_off);
}

static bool
queue_full(const struct tcp_pcb *l)
{
	return l->lst->nb_ready > l->lst->backlog * 3 / 2; /* FreeBSD's rule */
}

/* What g's SYN and the listener's options agree on. */
static void
read_syn(struct stack *s, const struct tcp_pcb *l, const struct tcp_seg *g, struct tcp_half *h)
{
	*h = (struct tcp_half){ .listener = (struct tcp_pcb *)l, .stack = s, .irs = g->seq, .wnd = g->wnd, .tries = 1,
		.sent_ns = s->now_ns };
	tcp_key_of(g, &h->key);
	h->peer_mss = g->rx->family == ADDR_INET ? TCP_MSS_DEFAULT4 : TCP_MSS_DEFAULT6;
	if (g->o.mss)
		h->peer_mss = g->o.mss_val < TCP_MSS_MIN ? TCP_MSS_MIN : g->o.mss_val;
	if (!l->nopt) {
		h->ts = g->o.ts && tcp_knob(s, TCP_KNOB_TIMESTAMPS) != 0;
		h->sack = g->o.sack_ok && tcp_knob(s, TCP_KNOB_SACK) != 0;
		h->wscale = g->o.wscale && tcp_knob(s, TCP_KNOB_WSCALE) != 0;
		h->shift = h->wscale ? g->o.shift : 0;
	}
	h->ecn = (g->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR) && tcp_knob(s, TCP_KNOB_ECN) != 0;
	h->ts_recent = g->o.tsval;
	if (h->ts)
		h->ts_off = tcp_ts_offset(s, &h->key);
}

static void
send_cookie(struct stack *s, struct tcp_half *h)
{
	uint32_t tsval = tcp_ms(s) + h->ts_off;

	if (!h->ts)
		h->wscale = h->sack = h->ecn = false;
	h->iss = tcp_cookie_make(s, h, &tsval);
	s->tcp->cookies_until_ns = s->now_ns + (2ull << TCP_COOKIE_TICK_SHIFT);
	tcp_count(s, TCP_EV_COOKIE_SENT);
	send_synack(s, h, tsval);
}

/* Room for one more in bucket b: false: there is none, and none was made. */
static bool
make_room(struct stack *s, unsigned int b)
{
	struct tcp_state *t = s->tcp;

	if (t->nb_half < (uint64_t)tcp_knob(s, TCP_KNOB_SYNCACHE) && t->half_n[b] < TCP_SC_PER_BUCKET)
		return true;
	tcp_count(s, TCP_EV_SYNCACHE_FULL);
	if (tcp_knob(s, TCP_KNOB_SYNCOOKIES) != 0 || list_empty(&t->half[b]))
		return false;
	half_free(s, list_entry(t->half[b].next, struct tcp_half, bucket)); /* the oldest */
	return true;
}

void
tcp_half_syn(struct stack *s, struct tcp_pcb *l, const struct tcp_seg *g)
{
	struct tcp_state *t = s->tcp;
	struct tcp_half h, *old;
	unsigned int b;

	read_syn(s, l, g, &h);
	old = find(s, &h.key);
	if (old != NULL) {
		if (old->irs == g->seq) {
			old->ts_recent = g->o.tsval;
			old->tries += old->tries == 1; /* its round trip can not be measured any more */
			send_synack(s, old, tcp_ms(s) + old->ts_off);
		} else {
			send_ack(s, old);
		}
		return;
	}
	if (queue_full(l)) {
		tcp_count(s, TCP_EV_LISTEN_OVERFLOW);
		return;
	}
	b = bucket_of(s, &h.key);
	old = NULL;
	if (tcp_knob(s, TCP_KNOB_SYNCOOKIES) != 2 && make_room(s, b))
		old = tcp_slab_get(s, &t->slab_half);
	if (old == NULL) {
		if (tcp_knob(s, TCP_KNOB_SYNCOOKIES) != 0)
			send_cookie(s, &h);
		return;
	}
	h.iss = tcp_isn(s, &h.key);
	*old = h;
	timer_init(&old->timer, on_timer, old);
	list_add_tail(&t->half[b], &old->bucket);
	t->half_n[b]++;
	t->nb_half++;
	l->lst->nb_half++;
	timer_set(&s->wheel, &old->timer, s->now_ns + (uint64_t)tcp_knob(s, TCP_KNOB_RTO_INITIAL) * 1000000);
	tcp_count(s, TCP_EV_SYNCACHE_ADD);
	send_synack(s, old, tcp_ms(s) + old->ts_off);
}

/* ---- completion -------------------------------------------------------------------------------- */

static void
fill_pcb(struct stack *s, struct tcp_pcb *p, struct tcp_pcb *l, const struct tcp_half *h, const struct tcp_seg *g)
{
	struct rec_open o = { .now = s->now_ns, .iss = h->iss, .passive = true, .syn_lost = h->tries > 1 && h->sent_ns != 0,
		.sack = h->sack, .ts = h->ts };

	tcp_inherit(p, l);
	p->key = h->key;
	p->fsm = TCP_SYN_RCVD;
	p->opened = true;
	p->iss = h->iss;
	p->snd_una = p->snd_nxt = p->snd_wl2 = h->iss + 1;
	p->irs = h->irs;
	p->rcv_nxt = p->last_ack_sent = h->irs + 1;
	p->rcv_adv = p->rcv_nxt + listener_window(l);
	p->snd_wl1 = g->seq;
	p->snd_scale = h->wscale ? h->shift : 0;
	p->rcv_scale = h->wscale ? l->rcv_scale : 0;
	p->ask_wscale = h->wscale;
	p->snd_wnd = p->max_wnd = g->wnd << p->snd_scale;
	p->peer_mss = h->peer_mss;
	p->ts = h->ts;
	p->sack = h->sack;
	p->ecn = h->ecn;
	p->ts_off = h->ts_off;
	p->ts_recent = h->ts ? g->o.tsval : 0;
	p->ts_recent_ms = p->stall_ms = tcp_ms(s);
	tcp_path(s, p);
	tcp_mss_update(s, p);
	rec_init(&p->rec, &s->tcp->rec, p->cc_cubic ? &cc_cubic : &cc_newreno, p->iss, p->mss);
	o.mss = p->mss;
	o.rtt_us = h->tries == 1 && h->sent_ns != 0 ? (uint32_t)((s->now_ns - h->sent_ns) / 1000) : 0;
	rec_open(&p->rec, &o);
}

static struct tcp_pcb *
complete(struct stack *s, struct tcp_pcb *l, const struct tcp_half *h, const struct tcp_seg *g)
{
	struct tcp_pcb *p;

	if (queue_full(l)) {
		tcp_count(s, TCP_EV_LISTEN_OVERFLOW);
		return NULL;
	}
	p = tcp_pcb_new(s, l->domain);
	if (p == NULL)
		return NULL;
	fill_pcb(s, p, l, h, g);
	if (tcp_port_join(s, p) != 0 || tcp_conn_join(s, p) != 0) {
		tcp_port_leave(s, p);
		rec_release(&p->rec);
		shim_free(s->shim, p);
		return NULL;
	}
	p->parent = l;
	p->in_accept = true;
	list_add_tail(&l->lst->ready, &p->on_accept);
	l->lst->nb_ready++;
	tcp_count(s, TCP_EV_CONN_ACCEPT);
	tcp_established(s, p);
	tcp_notify(s, l, EPOLLIN);
	return p;
}

/* No half-open connection: a cookie, or nothing we know. */
static struct tcp_pcb *
try_cookie(struct stack *s, struct tcp_pcb *l, const struct tcp_seg *g)
{
	struct tcp_half h;
	int64_t knob = tcp_knob(s, TCP_KNOB_SYNCOOKIES);

	if ((g->flags & (TCP_RST | TCP_ACK)) != TCP_ACK)
		return NULL;
	if ((g->flags & TCP_SYN) == 0 && knob != 0 && (knob == 2 || s->now_ns < s->tcp->cookies_until_ns)) {
		if (tcp_cookie_check(s, g, &h)) {
			h.listener = l;
			tcp_count(s, TCP_EV_COOKIE_GOOD);
			return complete(s, l, &h, g);
		}
		tcp_count(s, TCP_EV_COOKIE_BAD);
	}
	tcp_reset_for(s, g);
	return NULL;
}

/* May g complete h (RFC 9293 3.10.7.4 in SYN-RECEIVED, RFC 5961)? Answers what it may not. */
static bool
may_complete(struct stack *s, struct tcp_half *h, const struct tcp_seg *g)
{
	uint32_t nxt = h->irs + 1;

	if ((g->flags & TCP_RST) != 0) {
		if (g->seq == nxt)
			half_free(s, h);
		else if (seq_lt(nxt, g->seq) && seq_lt(g->seq, nxt + listener_window(h->listener)))
			send_ack(s, h);
		return false;
	}
	if ((g->flags & TCP_ACK) == 0)
		return false;
	if (g->ack != h->iss + 1) {
		tcp_reset_for(s, g);
		return false;
	}
	if ((g->flags & TCP_SYN) != 0 || !seq_le(nxt, g->seq) || !seq_le(g->seq, nxt + listener_window(h->listener))) {
		send_ack(s, h);
		return false;
	}
	if (h->ts && (!g->o.ts || seq_lt(g->o.tsval, h->ts_recent)))
		return false;
	/* DEFER_ACCEPT: a bare ACK does not do until SYN-ACKs were sent again */
	return !(h->listener->defer && g->len == 0 && (g->flags & TCP_FIN) == 0 && h->tries <= 2);
}

struct tcp_pcb *
tcp_half_ack(struct stack *s, struct tcp_pcb *l, const struct tcp_seg *g)
{
	struct tcp_key k;
	struct tcp_half *h;
	struct tcp_pcb *p;

	tcp_key_of(g, &k);
	h = find(s, &k);
	if (h == NULL)
		return try_cookie(s, l, g);
	if (!may_complete(s, h, g))
		return NULL;
	p = complete(s, h->listener, h, g);
	if (p != NULL)
		half_free(s, h);
	return p;
}

void
tcp_half_error(struct stack *s, const struct ip_error *e, uint16_t lport_be, uint16_t rport_be, uint32_t seq)
{
	struct tcp_key k = { .local = e->src, .remote = e->dst, .lport_be = lport_be, .rport_be = rport_be, .family = e->family };
	struct tcp_half *h = find(s, &k);

	if (h != NULL && e->hard && seq == h->iss)
		half_free(s, h);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* TIME-WAIT: a small entry instead of a control block; bounded, the one that ends first makes room. */
#include <errno.h>

#include "tcp_priv.h"

static void
arm(struct stack *s)
{
	struct tcp_state *t = s->tcp;

	if (list_empty(&t->tw))
		timer_cancel(&s->wheel, &t->tw_timer);
	else
		timer_set(&s->wheel, &t->tw_timer, list_entry(t->tw.next, struct tcp_tw, age)->ends_ns);
}

/* 2 MSL from now: nearly always the last to end. */
static void
start(struct stack *s, struct tcp_tw *tw)
{
	struct list *at = s->tcp->tw.prev;

	tw->ends_ns = s->now_ns + 2000000ull * (uint64_t)tcp_knob(s, TCP_KNOB_MSL);
	while (at != &s->tcp->tw && list_entry(at, struct tcp_tw, age)->ends_ns > tw->ends_ns)
		at = at->prev;
	list_add_head(at, &tw->age);
	arm(s);
}

void
tcp_tw_free(struct stack *s, struct tcp_tw *tw)
{
	struct tcp_state *t = s->tcp;
	const struct tcp_key *k = &tw->key;

	tcp_table_del(&t->conns, tcp_hash(t, k->family, &k->local, k->lport_be, &k->remote, k->rport_be), tw);
	list_del(&tw->age);
	tcp_slab_put(&t->slab_tw, tw);
	arm(s);
}

void
tcp_tw_on_timer(struct timer *timer, void *arg, uint64_t now_ns)
{
	struct stack *s = arg;

	(void)timer;
	while (!list_empty(&s->tcp->tw)) {
		struct tcp_tw *tw = list_entry(s->tcp->tw.next, struct tcp_tw, age);

		if (tw->ends_ns > now_ns)
			break;
		tcp_tw_free(s, tw);
	}
	arm(s);
}

int
tcp_tw_add(struct stack *s, struct tcp_pcb *p)
{
	struct tcp_state *t = s->tcp;
	const struct tcp_key *k = &p->key;
	struct tcp_tw *tw;

	if (t->slab_tw.used >= (uint64_t)tcp_knob(s, TCP_KNOB_MAX_TIMEWAIT) && !list_empty(&t->tw)) {
		tcp_count(s, TCP_EV_TIMEWAIT_EARLY);
		tcp_tw_free(s, list_entry(t->tw.next, struct tcp_tw, age));
	}
	tw = tcp_slab_get(s, &t->slab_tw);
	if (tw == NULL)
		return -ENOMEM;
	tw->key = p->key;
	tw->key.kind = TCP_KIND_TW;
	list_init(&tw->age);
	tw->snd_nxt = p->snd_nxt;
	tw->rcv_nxt = p->rcv_nxt;
	tw->ts = p->ts;
	tw->ts_recent = p->ts_recent;
	tw->ts_off = p->ts_off;
	tw->wnd = (uint16_t)(tcp_rcv_wnd(p) >> p->rcv_scale);
	tw->tos = p->tos;
	tw->ttl = p->ttl;
	if (tcp_table_add(s, &t->conns, tcp_hash(t, k->family, &k->local, k->lport_be, &k->remote, k->rport_be), tw) != 0) {
		tcp_slab_put(&t->slab_tw, tw);
		return -ENOMEM;
	}
	start(s, tw);
	return 0;
}

static void
answer(struct stack *s, const struct tcp_tw *tw)
{
	uint8_t opts[TCP_TS_LEN];
	struct tcp_bare b = { .key = &tw->key, .seq = tw->snd_nxt, .ack = tw->rcv_nxt, .wnd = tw->wnd, .flags = TCP_ACK, .tos = tw->tos,
		.ttl = tw->ttl, .opts = opts };

	if (tw->ts)
		b.opts_len = tcp_emit_ts(opts, tcp_ms(s) + tw->ts_off, tw->ts_recent);
	tcp_send_bare(s, &b);
}

/* RFC 6191: is the SYN newer than what the connection before it may still have in the network? */
static bool
newer(const struct tcp_tw *tw, const struct tcp_seg *g)
{
	if (tw->ts && g->o.ts && g->o.tsval != tw->ts_recent)
		return seq_lt(tw->ts_recent, g->o.tsval);
	return seq_lt(tw->rcv_nxt, g->seq);
}

bool
tcp_tw_input(struct stack *s, struct tcp_tw *tw, const struct tcp_seg *g)
{
	const struct tcp_key *k = &tw->key;

	if ((g->flags & TCP_RST) != 0) /* RFC 1337 */
		return true;
	if ((g->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && newer(tw, g) &&
	    tcp_listener_find(s, k->family, &k->local, k->lport_be, &k->remote, k->rport_be, g->rx->nif) != NULL) {
		tcp_count(s, TCP_EV_TIMEWAIT_REUSED);
		tcp_tw_free(s, tw);
		return false;
	}
	if ((g->flags & (TCP_SYN | TCP_ACK)) == 0)
		return true;
	if ((g->flags & TCP_FIN) != 0 && g->seq + g->len + 1 == tw->rcv_nxt) { /* our last ACK was lost */
		list_del(&tw->age);
		start(s, tw);
	}
	if (tcp_seg_space(g) != 0 || g->seq != tw->rcv_nxt)
		answer(s, tw);
	return true;
}

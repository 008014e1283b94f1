/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of TCP: names, counters, facts of connections, lists of them. */
#include <errno.h>

#include "tcp_priv.h"

#define US 1000u

const char *
tcp_fsm_name(enum tcp_fsm st)
{
	static const char *const names[] = { "CLOSED", "LISTEN", "SYN_SENT", "SYN_RCVD", "ESTABLISHED", "CLOSE_WAIT", "FIN_WAIT_1",
		"CLOSING", "LAST_ACK", "FIN_WAIT_2", "TIME_WAIT" };

	return (unsigned int)st < sizeof(names) / sizeof(names[0]) ? names[st] : "?";
}

/* Made from tcp.h at build time: the identifiers in lower case. */
static const char *const event_names[TCP_EV_COUNT] = {
#include "core/stack/tcp/event_names.h"
};

static const char *const event_texts[TCP_EV_COUNT] = {
#define X(id, text) text,
	TCP_EVENTS(X)
#undef X
};

uint64_t
tcp_events(const struct stack *s, enum tcp_event e)
{
	return (unsigned int)e < TCP_EV_COUNT ? s->tcp->events[e] : 0;
}

const char *
tcp_event_name(enum tcp_event e)
{
	return (unsigned int)e < TCP_EV_COUNT ? event_names[e] : "?";
}

const char *
tcp_event_text(enum tcp_event e)
{
	return (unsigned int)e < TCP_EV_COUNT ? event_texts[e] : "?";
}

static void
addr_of(const struct stack *s, const struct tcp_key *k, bool remote, struct tcp_addr *out)
{
	*out = (struct tcp_addr){ .addr = remote ? k->remote : k->local, .port_be = remote ? k->rport_be : k->lport_be,
		.family = k->family };
	if (k->scope != 0)
		out->nif = stack_if_by_index((struct stack *)s, k->scope);
}

void
tcp_local(const struct tcp_pcb *p, struct tcp_addr *out)
{
	addr_of(p->stack, &p->key, false, out);
	if (!p->bound && p->key.lport_be == 0)
		out->family = 0;
}

int
tcp_remote(const struct tcp_pcb *p, struct tcp_addr *out)
{
	if (p->key.rport_be == 0 || p->fsm == TCP_CLOSED || p->fsm == TCP_SYN_SENT)
		return -ENOTCONN;
	addr_of(p->stack, &p->key, true, out);
	return 0;
}

static uint64_t
ago(const struct stack *s, uint32_t ms)
{
	return ms == 0 ? 0 : (uint64_t)(tcp_ms(s) - ms) * US;
}

static void
recovery_facts(const struct tcp_pcb *p, struct tcp_facts *out)
{
	const struct rec *r = &p->rec;
	struct rec_facts f;

	if (r->pool == NULL)
		return;
	rec_facts(r, &f);
	out->ca = (int)r->ca;
	out->retransmits = p->tries;
	out->backoff = r->backoff;
	out->rto_us = f.rto_us;
	out->srtt_us = f.srtt_us;
	out->rttvar_us = f.rttvar_us;
	out->min_rtt_us = f.min_rtt_us;
	out->unacked = f.segs_out;
	out->sacked = f.segs_sacked;
	out->lost = f.segs_lost;
	out->retrans = f.segs_retrans;
	out->cwnd = r->cc.cwnd;
	out->ssthresh = r->cc.ssthresh;
	out->total_retrans = r->total_retrans;
	out->dsack_dups = r->dsacks;
	out->reord_seen = r->reord_seen;
	out->rexmit_timeouts = r->timeouts;
}

void
tcp_facts(const struct stack *s, const struct tcp_pcb *p, struct tcp_facts *out)
{
	*out = (struct tcp_facts){
		.fsm = p->fsm,
		.ts = p->ts,
		.sack = p->sack,
		.wscale = p->ask_wscale,
		.ecn = p->ecn,
		.snd_wscale = p->snd_scale,
		.rcv_wscale = p->rcv_scale,
		.probes = p->probes != 0 ? p->probes : p->keeps,
		.ato_us = (uint32_t)tcp_knob(s, TCP_KNOB_DELACK) * US,
		.snd_mss = p->mss,
		.rcv_mss = p->rcv_mss,
		.adv_mss = p->adv_mss,
		.pmtu = p->path.nif != NULL ? p->path.mtu : 0,
		.snd_wnd = p->snd_wnd,
		.rcv_wnd = tcp_rcv_wnd(p),
		.rcv_space = p->rcv_buf,
		.snd_una = p->snd_una,
		.snd_nxt = p->snd_nxt,
		.rcv_nxt = p->rcv_nxt,
		.iss = p->iss,
		.irs = p->irs,
		.rcv_ooopack = p->nb_ooo,
		.bytes_acked = p->bytes_acked,
		.bytes_received = p->bytes_received,
		.bytes_sent = p->bytes_sent,
		.bytes_retrans = p->bytes_retrans,
		.segs_out = p->segs_out,
		.segs_in = p->segs_in,
		.last_data_sent_us = ago(s, p->sent_ms),
		.last_data_recv_us = ago(s, p->recv_ms),
		.last_ack_recv_us = ago(s, p->acked_ms),
		.notsent = tcp_unsent(p),
	};
	recovery_facts(p, out);
}

/* ---- lists ------------------------------------------------------------------------------------- */

static void
tell(const struct stack *s, const struct tcp_key *k, enum tcp_fsm fsm, const struct tcp_pcb *p,
	void (*fn)(void *ctx, const struct tcp_entry *e), void *ctx)
{
	struct tcp_entry e = { .fsm = fsm, .pcb = p };

	addr_of(s, k, false, &e.local);
	addr_of(s, k, true, &e.remote);
	if (fsm == TCP_LISTEN) {
		e.recv_q = p->lst->nb_ready;
		e.send_q = p->lst->backlog;
	} else if (p != NULL) {
		e.recv_q = p->rq.bytes;
		e.send_q = p->sq.bytes;
	}
	fn(ctx, &e);
}

void
tcp_each(const struct stack *s, void (*fn)(void *ctx, const struct tcp_entry *e), void *ctx)
{
	const struct tcp_state *t = s->tcp;
	struct list *it;

	for (uint32_t i = 0; i <= t->ports.mask; i++) {
		const struct tcp_port *pt = t->ports.v[i].obj;

		if (pt == NULL)
			continue;
		list_for_each(it, &pt->owners) {
			const struct tcp_pcb *p = list_entry(it, struct tcp_pcb, on_port);

			if (p->fsm == TCP_LISTEN)
				tell(s, &p->key, TCP_LISTEN, p, fn, ctx);
		}
	}
	for (uint32_t i = 0; i < TCP_SC_BUCKETS; i++) {
		list_for_each(it, &t->half[i])
			tell(s, &list_entry(it, struct tcp_half, bucket)->key, TCP_SYN_RCVD, NULL, fn, ctx);
	}
	for (uint32_t i = 0; i <= t->conns.mask; i++) {
		const struct tcp_key *k = t->conns.v[i].obj;

		if (k == NULL)
			continue;
		if (k->kind == TCP_KIND_TW)
			tell(s, k, TCP_TIME_WAIT, NULL, fn, ctx);
		else
			tell(s, k, ((const struct tcp_pcb *)k)->fsm, (const struct tcp_pcb *)k, fn, ctx);
	}
}

bool
tcp_has_receiver(struct stack *s, int family, const union ip_addr *local, uint16_t lport_be, const union ip_addr *remote,
	uint16_t rport_be)
{
	return tcp_conn_find(s, family, local, lport_be, remote, rport_be, NULL) != NULL ||
		tcp_half_find(s, family, local, lport_be, remote, rport_be) ||
		tcp_listener_find(s, family, local, lport_be, remote, rport_be, NULL) != NULL;
}

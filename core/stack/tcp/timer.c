/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection's clocks. They share one timer of the wheel, which is set for the earliest and moved forward only: one that was put
 * off, as nearly all are, costs a store, and an early firing that finds nothing due.
 */
#include <errno.h>

#include "tcp_priv.h"

#define R2_TIMEOUTS 12 /* FreeBSD's TCP_MAXRXTSHIFT: with back-off to 64 s some 9 minutes */
#define SILENT_MS 300000 /* probes of the window that nobody answers for so long: the peer is gone */
#define ALIVE_MS 120000 /* a peer with a closed window that was heard of within it is not dead (RFC 9293 3.8.6.1) */

static uint32_t
tick_of(uint64_t ns)
{
	uint32_t t = (uint32_t)((ns + (1u << TIMER_TICK_SHIFT) - 1) >> TIMER_TICK_SHIFT);

	return t == 0 ? 1 : t; /* 0 is off */
}

void
tcp_timer_set(struct stack *s, struct tcp_pcb *p, enum tcp_timer t, uint64_t after_ns)
{
	uint64_t at = s->now_ns + after_ns;

	p->due[t] = tick_of(at);
	if (p->timer.deadline_ns > at)
		timer_set(&s->wheel, &p->timer, at);
}

void
tcp_timer_stop(struct tcp_pcb *p, enum tcp_timer t)
{
	p->due[t] = 0;
}

void
tcp_keep_restart(struct stack *s, struct tcp_pcb *p)
{
	p->keeps = 0;
	p->idle_ms = tcp_ms(s);
	if ((p->keepalive || tcp_knob(s, TCP_KNOB_ALWAYS_KEEPALIVE) != 0) && tcp_synchronized(p) &&
	    !tcp_timer_on(p, TCP_T_KEEP))
		tcp_timer_set(s, p, TCP_T_KEEP, p->keepidle_ms * 1000000ull);
}

/* Is the connection to be given up (RFC 9293 3.8.3, RFC 5482)? Ends it. */
static bool
give_up(struct stack *s, struct tcp_pcb *p, unsigned int tries, unsigned int most)
{
	bool user = p->user_timeout_ms != 0;

	if (user ? tcp_ms(s) - p->stall_ms < p->user_timeout_ms : tries <= most)
		return false;
	tcp_count(s, user ? TCP_EV_CONN_USER_TIMEOUT : TCP_EV_CONN_TIMEOUT);
	if (p->fsm == TCP_SYN_SENT)
		tcp_count(s, TCP_EV_CONN_FAILED);
	else
		tcp_send_rst(s, p);
	tcp_done(s, p, p->soft_err != 0 && p->fsm == TCP_SYN_SENT ? p->soft_err : ETIMEDOUT);
	return true;
}

static void
on_rexmt(struct stack *s, struct tcp_pcb *p)
{
	uint32_t end = tcp_snd_end(p), unsent = seq_lt(p->snd_nxt, end) ? end - p->snd_nxt : 0;
	uint32_t usable = seq_lt(p->snd_nxt, p->snd_una + p->snd_wnd) ? p->snd_una + p->snd_wnd - p->snd_nxt : 0;
	unsigned int ev = rec_timer(&p->rec, s->now_ns, unsent < usable ? unsent : usable);

	if ((ev & REC_EV_RTO) != 0) {
		tcp_count(s, TCP_EV_RTO);
		p->tries++;
		if (!(p->snd_wnd == 0 && tcp_ms(s) - p->idle_ms < ALIVE_MS) &&
		    give_up(s, p, p->tries, p->fsm == TCP_SYN_SENT && p->syncnt != 0 ? p->syncnt : R2_TIMEOUTS))
			return;
		if (p->tries >= 2) {
			p->path.nif = NULL; /* the path is doubted: look it up anew */
			if (p->fsm == TCP_SYN_SENT && p->ecn_try)
				p->ecn_try = false; /* RFC 3168 6.1.1.1: something may eat such SYNs */
		}
	}
	if ((ev & REC_EV_TLP) != 0)
		tcp_count(s, TCP_EV_TLP_PROBE);
	if ((ev & REC_EV_RACK_LOST) != 0)
		tcp_count(s, TCP_EV_RACK_LOST);
	if ((ev & REC_EV_RECOVERY) != 0)
		tcp_count(s, TCP_EV_FAST_RECOVERY);
	if ((ev & REC_EV_RENEGED) != 0)
		tcp_count(s, TCP_EV_SACK_RENEGED);
	if ((ev & REC_EV_REDUCED) != 0)
		p->cwr_due = p->ecn;
	tcp_push(s, p, (ev & REC_EV_TLP) != 0); /* a probe waits for no full segment (RFC 8985 7.3) */
}

/* A byte of data (or the FIN, or what fits a small window) asks whether the window is open. Never counted as death. */
static void
on_persist(struct stack *s, struct tcp_pcb *p)
{
	uint32_t usable = seq_lt(p->snd_nxt, p->snd_una + p->snd_wnd) ? p->snd_una + p->snd_wnd - p->snd_nxt : 0;
	bool data = seq_lt(p->snd_nxt, tcp_snd_end(p));

	if (p->so == NULL && p->user_timeout_ms == 0 && p->probes > R2_TIMEOUTS) {
		tcp_send_rst(s, p); /* an orphan does not hold its buffers for ever */
		tcp_done(s, p, ETIMEDOUT);
		return;
	}
	if (p->probes > R2_TIMEOUTS && tcp_ms(s) - p->idle_ms > SILENT_MS) {
		tcp_count(s, TCP_EV_CONN_TIMEOUT);
		tcp_send_rst(s, p);
		tcp_done(s, p, ETIMEDOUT);
		return;
	}
	if (p->user_timeout_ms != 0 && give_up(s, p, 0, 0))
		return;
	if (p->probes < UINT8_MAX)
		p->probes++;
	if (usable != 0) {
		tcp_push(s, p, true);
		return;
	}
	tcp_count(s, TCP_EV_PERSIST_PROBE);
	p->probe_out = true;
	tcp_probe(s, p, data);
	tcp_timer_set(s, p, TCP_T_PERSIST, rec_rto_backed_off(&p->rec, p->probes));
}

static void
on_keep(struct stack *s, struct tcp_pcb *p)
{
	uint32_t idle = tcp_ms(s) - p->idle_ms;
	bool on = p->keepalive || tcp_knob(s, TCP_KNOB_ALWAYS_KEEPALIVE) != 0;

	if (!on || !tcp_synchronized(p))
		return;
	if (idle < p->keepidle_ms) {
		tcp_timer_set(s, p, TCP_T_KEEP, (p->keepidle_ms - idle) * 1000000ull);
		return;
	}
	if (p->snd_nxt == p->snd_una) { /* else retransmission is what finds out */
		if (p->user_timeout_ms != 0 ? p->keeps != 0 && idle >= p->user_timeout_ms : p->keeps >= p->keepcnt) {
			tcp_count(s, TCP_EV_KEEP_DROP);
			tcp_send_rst(s, p);
			tcp_done(s, p, ETIMEDOUT);
			return;
		}
		p->keeps++;
		tcp_count(s, TCP_EV_KEEP_PROBE);
		tcp_probe(s, p, false);
	}
	tcp_timer_set(s, p, TCP_T_KEEP, p->keepintvl_ms * 1000000ull);
}

static void
on_state(struct stack *s, struct tcp_pcb *p)
{
	if (p->fsm == TCP_FIN_WAIT_2 || p->fsm == TCP_TIME_WAIT)
		tcp_done(s, p, 0);
}

static void
on_delack(struct stack *s, struct tcp_pcb *p)
{
	tcp_count(s, TCP_EV_DELACK);
	tcp_send_ack(s, p);
}

static void
run(struct stack *s, struct tcp_pcb *p, enum tcp_timer t)
{
	switch (t) {
	case TCP_T_REXMT:
		on_rexmt(s, p);
		break;
	case TCP_T_PERSIST:
		on_persist(s, p);
		break;
	case TCP_T_DELACK:
		on_delack(s, p);
		break;
	case TCP_T_KEEP:
		on_keep(s, p);
		break;
	case TCP_T_STATE:
		on_state(s, p);
		break;
	default:
		tcp_push(s, p, true);
	}
}

void
tcp_timer_fire(struct timer *t, void *arg, uint64_t now_ns)
{
	struct tcp_pcb *p = arg;
	struct stack *s = p->stack;
	uint32_t now = (uint32_t)(now_ns >> TIMER_TICK_SHIFT), next = 0, wait = UINT32_MAX;

	(void)t;
	for (unsigned int i = 0; i < TCP_T_COUNT && !p->dead; i++) {
		if (p->due[i] != 0 && (int32_t)(p->due[i] - now) <= 0) {
			p->due[i] = 0;
			run(s, p, i);
		}
	}
	for (unsigned int i = 0; i < TCP_T_COUNT && !p->dead; i++) {
		if (p->due[i] == 0)
			continue;
		next = (int32_t)(p->due[i] - now) <= 0 ? 1 : p->due[i] - now;
		if (next < wait)
			wait = next;
	}
	if (wait != UINT32_MAX)
		timer_set(&s->wheel, &p->timer, ((now_ns >> TIMER_TICK_SHIFT) + wait) << TIMER_TICK_SHIFT);
	tcp_reap(s);
}

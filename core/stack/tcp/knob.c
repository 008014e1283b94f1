/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's knobs of an instance and options of a connection. */
#include <errno.h>

#include "tcp_priv.h"

static const struct {
	int64_t def, min, max;
} knobs[TCP_KNOB_COUNT] = {
	[TCP_KNOB_SENDSPACE] = { TCP_SNDBUF_DEFAULT, 2048, TCP_BUF_MAX },
	[TCP_KNOB_RECVSPACE] = { TCP_RCVBUF_DEFAULT, 2048, TCP_BUF_MAX },
	[TCP_KNOB_SENDBUF_MAX] = { TCP_BUF_AUTO_MAX, 2048, TCP_BUF_MAX },
	[TCP_KNOB_RECVBUF_MAX] = { TCP_BUF_AUTO_MAX, 2048, TCP_BUF_MAX },
	[TCP_KNOB_SENDBUF_AUTO] = { 1, 0, 1 },
	[TCP_KNOB_RECVBUF_AUTO] = { 1, 0, 1 },
	[TCP_KNOB_CUBIC] = { 1, 0, 1 },
	[TCP_KNOB_SACK] = { 1, 0, 1 },
	[TCP_KNOB_TIMESTAMPS] = { 1, 0, 1 },
	[TCP_KNOB_WSCALE] = { 1, 0, 1 },
	[TCP_KNOB_ECN] = { 2, 0, 2 },
	[TCP_KNOB_INITCWND] = { 10, 1, 1000 },
	[TCP_KNOB_DELACK] = { 40, 0, 499 },
	[TCP_KNOB_MSL] = { 30000, 1, 600000 },
	[TCP_KNOB_RTO_MIN] = { 30, 1, 60000 },
	[TCP_KNOB_RTO_INITIAL] = { 1000, 1, 60000 },
	[TCP_KNOB_KEEPIDLE] = { 7200000, 1, 2000000000 },
	[TCP_KNOB_KEEPINTVL] = { 75000, 1, 2000000000 },
	[TCP_KNOB_KEEPCNT] = { 8, 1, 127 },
	[TCP_KNOB_ALWAYS_KEEPALIVE] = { 0, 0, 1 },
	[TCP_KNOB_SYNCOOKIES] = { 1, 0, 2 },
	[TCP_KNOB_SYNCACHE] = { 15360, 1, 1 << 20 },
	[TCP_KNOB_BLACKHOLE] = { 0, 0, 1 },
	[TCP_KNOB_FINWAIT2] = { 60000, 1, 600000 },
	[TCP_KNOB_MAX_TIMEWAIT] = { 32768, 1, 1 << 20 },
	[TCP_KNOB_SOMAXCONN] = { TCP_BACKLOG_MAX, 1, TCP_BACKLOG_MAX },
	[TCP_KNOB_LINUX_OPTS] = { 0, 0, 1 },
};

/* What the recovery has a copy of. */
static void
apply(struct stack *s)
{
	struct rec_config *c = &s->tcp->rec.cfg;
	bool as_linux = tcp_knob(s, TCP_KNOB_LINUX_OPTS) != 0;
	struct rec_config def;

	rec_config_default(&def);
	c->initcwnd = (uint32_t)tcp_knob(s, TCP_KNOB_INITCWND);
	c->rto_min_ns = (uint64_t)tcp_knob(s, TCP_KNOB_RTO_MIN) * 1000000;
	c->rto_initial_ns = (uint64_t)tcp_knob(s, TCP_KNOB_RTO_INITIAL) * 1000000;
	c->rto_slop_ns = as_linux ? 0 : def.rto_slop_ns;
	c->rto_var_min_ns = as_linux ? c->rto_min_ns : 0;
}

void
tcp_knobs_init(struct stack *s)
{
	for (unsigned int i = 0; i < TCP_KNOB_COUNT; i++)
		s->tcp->knob[i] = knobs[i].def;
	apply(s);
}

int
tcp_knob_set(struct stack *s, enum tcp_knob k, int64_t v)
{
	if ((unsigned int)k >= TCP_KNOB_COUNT || v < knobs[k].min || v > knobs[k].max)
		return -EINVAL;
	s->tcp->knob[k] = v;
	apply(s);
	return 0;
}

int64_t
tcp_knob_get(const struct stack *s, enum tcp_knob k)
{
	return (unsigned int)k < TCP_KNOB_COUNT ? s->tcp->knob[k] : -EINVAL;
}

/* ---- options ----------------------------------------------------------------------------------- */

static const struct {
	int64_t min, max;
} ranges[TCP_OPT_COUNT] = {
	[TCP_OPT_NODELAY] = { 0, 1 }, [TCP_OPT_CORK] = { 0, 1 }, [TCP_OPT_MAXSEG] = { 0, 32767 }, [TCP_OPT_KEEPALIVE] = { 0, 1 },
	[TCP_OPT_KEEPIDLE] = { 1, 2000000000 }, [TCP_OPT_KEEPINTVL] = { 1, 2000000000 }, [TCP_OPT_KEEPCNT] = { 1, 127 },
	[TCP_OPT_USER_TIMEOUT] = { 0, INT32_MAX }, [TCP_OPT_QUICKACK] = { 0, 1 }, [TCP_OPT_DEFER_ACCEPT] = { 0, INT32_MAX },
	[TCP_OPT_SYNCNT] = { 1, 127 }, [TCP_OPT_LINGER2] = { 0, INT32_MAX }, [TCP_OPT_SNDBUF] = { 1, TCP_BUF_MAX },
	[TCP_OPT_RCVBUF] = { 1, TCP_BUF_MAX }, [TCP_OPT_SNDLOWAT] = { 1, TCP_BUF_MAX }, [TCP_OPT_RCVLOWAT] = { 1, TCP_BUF_MAX },
	[TCP_OPT_NOTSENT_LOWAT] = { 0, UINT32_MAX }, [TCP_OPT_REUSEADDR] = { 0, 1 }, [TCP_OPT_REUSEPORT] = { 0, 1 },
	[TCP_OPT_V6ONLY] = { 0, 1 }, [TCP_OPT_TOS] = { 0, 255 }, [TCP_OPT_TTL] = { 0, 255 }, [TCP_OPT_NOPT] = { 0, 1 },
};

static int
set_maxseg(struct stack *s, struct tcp_pcb *p, int64_t v)
{
	if (v != 0 && v < TCP_MSS_MIN)
		return -EINVAL;
	p->user_mss = (uint16_t)v;
	if (p->fsm >= TCP_ESTABLISHED)
		tcp_mss_update(s, p);
	return 0;
}

/* Options whose setting does something at once, and sizes. */
static int
set_more(struct stack *s, struct tcp_pcb *p, enum tcp_opt o, int64_t v)
{
	switch (o) {
	case TCP_OPT_MAXSEG:
		return set_maxseg(s, p, v);
	case TCP_OPT_SNDBUF:
		p->snd_buf = v < 2048 ? 2048 : (uint32_t)v;
		p->sndbuf_set = true;
		return 0;
	case TCP_OPT_RCVBUF:
		p->rcv_buf = v < 256 ? 256 : (uint32_t)v;
		p->rcvbuf_set = true;
		return 0;
	case TCP_OPT_SNDLOWAT:
		p->sndlowat = (uint32_t)v;
		return 0;
	case TCP_OPT_RCVLOWAT:
		p->rcvlowat = (uint32_t)v;
		return 0;
	case TCP_OPT_NOTSENT_LOWAT:
		p->notsent_lowat = (uint32_t)v;
		return 0;
	case TCP_OPT_V6ONLY:
		if (p->bound || p->domain != ADDR_INET6)
			return -EINVAL;
		p->v6only = v != 0;
		return 0;
	case TCP_OPT_REUSEADDR:
		p->reuseaddr = v != 0;
		return 0;
	case TCP_OPT_REUSEPORT:
		p->reuseport = v != 0;
		return 0;
	case TCP_OPT_TOS:
		p->tos = (uint8_t)v;
		return 0;
	case TCP_OPT_TTL:
		p->ttl = (uint8_t)v;
		return 0;
	case TCP_OPT_NOPT:
		if (p->opened)
			return -EISCONN;
		p->nopt = v != 0;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

int
tcp_opt_set(struct stack *s, struct tcp_pcb *p, enum tcp_opt o, int64_t v)
{
	if ((unsigned int)o >= TCP_OPT_COUNT)
		return -EOPNOTSUPP;
	if (v < ranges[o].min || v > ranges[o].max)
		return -EINVAL;
	switch (o) {
	case TCP_OPT_NODELAY:
		p->nodelay = v != 0;
		break;
	case TCP_OPT_CORK:
		p->cork = v != 0;
		break;
	case TCP_OPT_KEEPALIVE:
		p->keepalive = v != 0;
		break;
	case TCP_OPT_KEEPIDLE:
		p->keepidle_ms = (uint32_t)v;
		break;
	case TCP_OPT_KEEPINTVL:
		p->keepintvl_ms = (uint32_t)v;
		return 0;
	case TCP_OPT_KEEPCNT:
		p->keepcnt = (uint8_t)v;
		return 0;
	case TCP_OPT_USER_TIMEOUT:
		p->user_timeout_ms = (uint32_t)v;
		return 0;
	case TCP_OPT_QUICKACK:
		p->quickack = v != 0;
		if (v != 0 && tcp_timer_on(p, TCP_T_DELACK))
			tcp_send_ack(s, p);
		return 0;
	case TCP_OPT_DEFER_ACCEPT:
		p->defer = v != 0;
		return 0;
	case TCP_OPT_SYNCNT:
		p->syncnt = (uint8_t)v;
		return 0;
	case TCP_OPT_LINGER2:
		p->linger2_ms = (uint32_t)v;
		return 0;
	default:
		return set_more(s, p, o, v);
	}
	if (o == TCP_OPT_KEEPALIVE || o == TCP_OPT_KEEPIDLE) {
		tcp_timer_stop(p, TCP_T_KEEP);
		if (tcp_synchronized(p))
			tcp_keep_restart(s, p);
	} else if (tcp_synchronized(p) && (o == TCP_OPT_NODELAY ? v != 0 : v == 0)) {
		p->more = p->more && o != TCP_OPT_CORK;
		tcp_push(s, p, true);
		tcp_reap(s);
	}
	return 0;
}

int64_t
tcp_opt_get(const struct tcp_pcb *p, enum tcp_opt o)
{
	switch (o) {
	case TCP_OPT_NODELAY: return p->nodelay;
	case TCP_OPT_CORK: return p->cork;
	case TCP_OPT_MAXSEG:
		if (p->fsm >= TCP_ESTABLISHED)
			return p->mss;
		return p->user_mss != 0 ? p->user_mss : TCP_MSS_DEFAULT4;
	case TCP_OPT_KEEPALIVE: return p->keepalive;
	case TCP_OPT_KEEPIDLE: return p->keepidle_ms;
	case TCP_OPT_KEEPINTVL: return p->keepintvl_ms;
	case TCP_OPT_KEEPCNT: return p->keepcnt;
	case TCP_OPT_USER_TIMEOUT: return p->user_timeout_ms;
	case TCP_OPT_QUICKACK: return p->quickack;
	case TCP_OPT_DEFER_ACCEPT: return p->defer;
	case TCP_OPT_SYNCNT: return p->syncnt;
	case TCP_OPT_LINGER2: return p->linger2_ms;
	case TCP_OPT_SNDBUF: return p->snd_buf;
	case TCP_OPT_RCVBUF: return p->rcv_buf;
	case TCP_OPT_SNDLOWAT: return p->sndlowat;
	case TCP_OPT_RCVLOWAT: return p->rcvlowat;
	case TCP_OPT_NOTSENT_LOWAT: return p->notsent_lowat;
	case TCP_OPT_REUSEADDR: return p->reuseaddr;
	case TCP_OPT_REUSEPORT: return p->reuseport;
	case TCP_OPT_V6ONLY: return p->v6only;
	case TCP_OPT_TOS: return p->tos;
	case TCP_OPT_TTL: return p->ttl;
	case TCP_OPT_NOPT: return p->nopt;
	default: return -EOPNOTSUPP;
	}
}

int
tcp_congestion_set(struct stack *s, struct tcp_pcb *p, const char *name)
{
	const struct cc_ops *ops = cc_find(name);

	(void)s;
	if (ops == NULL)
		return -ENOENT;
	p->cc_cubic = ops == &cc_cubic;
	if (p->rec.pool != NULL && p->fsm >= TCP_SYN_SENT)
		rec_cc_set(&p->rec, ops);
	return 0;
}

const char *
tcp_congestion_get(const struct tcp_pcb *p)
{
	return p->cc_cubic ? cc_cubic.name : cc_newreno.name;
}

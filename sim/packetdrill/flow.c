/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of scripts and of the wire; see flow.h. */
#include "flow.h"

#include <string.h>

void
flow_init(struct pd_flow *f, enum pd_proto proto, uint16_t lport, uint16_t rport, uint32_t isn)
{
	memset(f, 0, sizeof(*f));
	f->proto = proto;
	f->lport = lport;
	f->rport = rport;
	f->remote_isn = isn;
	f->local_isn = isn ^ 0x5a5a5a5a;
}

void
flow_ts_learn(struct pd_flow *f, uint32_t script, uint32_t live)
{
	for (unsigned int i = 0; i < f->nts; i++)
		if (f->ts[i].script == script) {
			f->ts[i].live = live;
			f->ts_at = i;
			return;
		}
	f->ts_at = f->nts < FLOW_TS_MAX ? f->nts++ : (f->ts_at + 1) % FLOW_TS_MAX;
	f->ts[f->ts_at].script = script;
	f->ts[f->ts_at].live = live;
}

uint32_t
flow_ts_echo(const struct pd_flow *f, uint32_t script)
{
	for (unsigned int i = 0; i < f->nts; i++)
		if (f->ts[i].script == script)
			return f->ts[i].live;
	/* one that was never seen: as far from the latest as the script has it */
	return f->nts > 0 ? f->ts[f->ts_at].live + (script - f->ts[f->ts_at].script) : script;
}

static void
opts_to_wire(struct pd_flow *f, struct pd_packet *p)
{
	for (unsigned int i = 0; i < p->nopts; i++) {
		struct pd_opt *o = &p->opt[i];

		if (o->kind == PD_O_TS && (o->b != 0 || (p->flags & PD_ACK) != 0))
			o->b = flow_ts_echo(f, o->b);
		for (unsigned int k = 0; o->kind == PD_O_SACK && k < o->nsack; k++) {
			o->sack[k][0] += f->local_isn;
			o->sack[k][1] += f->local_isn;
		}
	}
}

void
flow_to_wire(struct pd_flow *f, const struct pd_packet *p, struct pd_packet *live)
{
	*live = *p;
	live->sport = f->rport;
	live->dport = f->lport;
	if (p->proto != PD_TCP)
		return;
	if ((p->flags & PD_SYN) != 0 && !f->remote_known) {
		f->remote_script_isn = p->seq;
		f->remote_isn += p->seq;
		f->remote_known = true;
		live->seq = f->remote_isn;
	} else if ((p->flags & PD_SYN) != 0 && p->seq == f->remote_script_isn) {
		live->seq = f->remote_isn;
	} else {
		f->remote_known = true;
		live->seq = f->remote_isn + p->seq;
	}
	if (p->has_ack && !f->local_known) {
		f->local_known = f->local_made_up = true;
	}
	if (p->has_ack)
		live->ack = f->local_isn + p->ack;
	opts_to_wire(f, live);
}

void
flow_to_script(struct pd_flow *f, const struct pd_packet *live, struct pd_packet *script)
{
	*script = *live;
	if (f->script_lport != 0)
		script->sport = f->script_lport;
	if (live->proto != PD_TCP)
		return;
	/* the answer to what acknowledges nothing is no connection's: its 0 is one (RFC 9293 3.10.7.1) */
	if ((live->flags & (PD_SYN | PD_RST | PD_ACK)) == (PD_RST | PD_ACK) && live->seq == 0 && (f->local_made_up
		|| !f->local_known)) {
		if (f->remote_known)
			script->ack = live->ack - f->remote_isn;
		return;
	}
	if ((live->flags & PD_SYN) != 0 || !f->local_known) {
		f->local_isn = live->seq; /* a SYN's number is the first, whatever was thought before */
		f->local_known = true;
		f->local_made_up = false;
	}
	f->last_seq = live->seq;
	script->seq = live->seq - f->local_isn;
	if ((live->flags & PD_ACK) != 0 && f->remote_known)
		script->ack = live->ack - f->remote_isn;
	for (unsigned int i = 0; i < script->nopts; i++) {
		struct pd_opt *o = &script->opt[i];

		for (unsigned int k = 0; o->kind == PD_O_SACK && k < o->nsack; k++) {
			o->sack[k][0] -= f->remote_isn;
			o->sack[k][1] -= f->remote_isn;
		}
	}
}

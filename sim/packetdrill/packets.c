/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a script: which connection they belong to, sending them, expecting them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_priv.h"

#define ISN_STEP 0x1d3c5b79u /* remote numbers begin anywhere */

void
run_flows_free(struct run *r)
{
	struct pd_flow *next;

	for (struct pd_flow *f = r->flows; f != NULL; f = next) {
		next = f->next;
		free(f);
	}
}

static struct pd_flow *
flow_new(struct run *r, enum pd_proto proto, uint16_t lport, uint16_t rport)
{
	struct pd_flow *f = malloc(sizeof(*f));

	if (f == NULL) {
		run_fail(r, 0, "out of memory");
		return NULL;
	}
	flow_init(f, proto, lport, rport, ++r->nflows * ISN_STEP);
	f->next = r->flows;
	r->flows = r->flow = f;
	return f;
}

static struct pd_flow *
flow_find(struct run *r, enum pd_proto proto, uint16_t lport, uint16_t rport)
{
	for (struct pd_flow *f = r->flows; f != NULL; f = f->next)
		if (f->proto == proto && f->rport == rport && (f->lport == lport || (f->script_lport != 0
			&& f->script_lport == lport)))
			return f;
	return NULL;
}

/* The stack's port of the script's socket, which nobody may have told. */
static uint16_t
local_port(struct run *r)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (r->sock == NULL || !run_local_name(r, r->sock->live, &sa, &len))
		return r->bind_port;
	/* sin_port and sin6_port are at one place */
	return ntohs(((struct sockaddr_in *)&sa)->sin_port) != 0 ? ntohs(((struct sockaddr_in *)&sa)->sin_port) : r->bind_port;
}

/* Whose is an inbound packet? */
static struct pd_flow *
flow_of(struct run *r, const struct pd_packet *p)
{
	enum pd_proto proto = p->proto == PD_ICMP && r->flow != NULL ? r->flow->proto : p->proto == PD_UDP ? PD_UDP : PD_TCP;
	bool first = p->proto == PD_TCP && (p->flags & (PD_SYN | PD_ACK)) == PD_SYN;
	struct pd_flow *f;

	if (p->sport != 0) {
		f = flow_find(r, proto, p->dport, p->sport);
		if (f != NULL)
			r->flow = f;
		return f != NULL ? f : flow_new(r, proto, p->dport, p->sport);
	}
	if (first && r->sock != NULL && r->sock->listening && !r->sock->child_made) {
		r->sock->child_made = true;
		return flow_new(r, proto, local_port(r), r->next_port++);
	}
	if (r->flow != NULL && r->flow->proto == proto)
		return r->flow;
	if (p->proto == PD_ICMP && r->sock != NULL && !r->sock->stream)
		proto = PD_UDP;
	return flow_new(r, proto, local_port(r), proto == PD_UDP ? r->connect_port : r->next_port++);
}

/* What an ICMP error about f quotes. */
static uint32_t
quote(struct run *r, const struct pd_flow *f, const struct pd_packet *p, uint8_t *out)
{
	struct pd_packet q = { .proto = p->quoted ? p->quote_proto : f->proto, .sport = f->lport, .dport = f->rport,
		.flags = PD_ACK,
		.win = 65535, .urg = -1, .tos = -1, .ttl = 64, .mtu = -1, .len = p->quote_len };
	struct pd_ends e = { r->conf.family, r->net.conf.local, r->net.conf.remote };
	uint32_t n, keep = (r->conf.family == ADDR_INET ? 20u : 40u) + (r->conf.family == ADDR_INET ? 8u : 20u);

	q.seq = f->local_isn + p->quote_seq;
	n = wire_build(&q, &e, NULL, 0, out);
	return n < keep ? n : keep;
}

bool
run_inject(struct run *r, const struct pd_event *ev)
{
	struct pd_packet p = *ev->packet, live;
	struct pd_ends e = { r->conf.family, r->net.conf.remote, r->net.conf.local };
	uint8_t q[PD_IP_MAX];
	uint32_t nq = 0, n;
	struct pd_flow *f;

	if (p.proto == PD_ICMP && !wire_icmp_numbers(r->conf.family, p.icmp_word, p.icmp_code_word, &p.icmp_type, &p.icmp_code))
		return run_skip(r, ev->line, "icmp %s%s%s in IPv%u", p.icmp_word, p.icmp_code_word != NULL ? " " : "",
			p.icmp_code_word != NULL ? p.icmp_code_word : "", r->conf.family);
	f = flow_of(r, &p);
	if (f == NULL)
		return false;
	flow_to_wire(f, &p, &live);
	if (p.proto == PD_ICMP)
		nq = quote(r, f, &p, q);
	n = wire_build(&live, &e, q, nq, r->io);
	if (n == 0)
		return run_fail(r, ev->line, "this packet is larger than IP takes");
	pd_net_inject(&r->net, r->io, n);
	return run_retry(r);
}

/* ---- expecting ---- */

/* The stack's stamps: what they are called, and whether they go on at the script's pace. */
static bool
stamps(struct run *r, const struct pd_event *ev, const struct pd_packet *want, struct pd_packet *live, struct pd_flow *f,
	uint64_t at_ns)
{
	const struct pd_opt *w = NULL;
	struct pd_opt *l = NULL;
	int64_t script, real, off;

	for (unsigned int i = 0; i < want->nopts; i++)
		if (want->opt[i].kind == PD_O_TS)
			w = &want->opt[i];
	for (unsigned int i = 0; i < live->nopts; i++)
		if (live->opt[i].kind == PD_O_TS)
			l = &live->opt[i];
	if (w == NULL || l == NULL)
		return true;
	flow_ts_learn(f, w->a, l->a);
	l->a = w->a;
	if (!f->ts_paced) {
		f->ts_paced = true;
		f->ts_first = w->a;
		f->ts_first_ns = at_ns;
	}
	if (r->ts_tick_ns == 0)
		return true;
	script = (int32_t)(w->a - f->ts_first) * r->ts_tick_ns;
	real = (int64_t)(at_ns - f->ts_first_ns);
	off = script > real ? script - real : real - script;
	if (off <= r->tol_ns + r->ts_tick_ns)
		return true;
	return run_fail(r, ev->line, "expected TS val %u, which is %lld us after the first stamp, but %lld us have passed", w->a,
		(long long)(script / 1000), (long long)(real / 1000));
}

/* The flow of a packet that the stack has sent; made when it is none that the script began. */
static struct pd_flow *
flow_of_live(struct run *r, const struct pd_packet *want, const struct pd_packet *live)
{
	struct pd_flow *f;

	if (live->proto == PD_ICMP)
		return r->flow;
	f = flow_find(r, live->proto, live->sport, live->dport);
	if (f == NULL)
		f = flow_new(r, live->proto, live->sport, live->dport);
	if (f != NULL && want->sport != 0 && want->dport == f->rport && f->script_lport == 0 && want->sport != f->lport
		&& flow_find(r, live->proto, want->sport, want->dport) == NULL)
		f->script_lport = want->sport;
	return f;
}

static bool
wait_packet(struct run *r, const struct pd_event *ev, const struct pd_packet *want, int64_t from_ns, int64_t to_ns)
{
	char text[512], a[32], b[32];

	while (r->net.head == NULL && (int64_t)pd_net_now(&r->net) < to_ns)
		if (!run_step(r, (uint64_t)to_ns))
			return false;
	if (r->net.head != NULL)
		return true;
	return run_fail(r, ev->line, "expected %s at %s~%s got nothing", pd_packet_show(want, text, sizeof(text)),
		run_time(from_ns, a),
		run_time(to_ns, b));
}

/* Hides what the script does not say, so that both lines can be read side by side. */
static void
shorten(const struct pd_packet *want, struct pd_packet *live)
{
	if (want->ecn == PD_ECN_ANY)
		live->ecn = PD_ECN_ANY;
	if (want->tos < 0)
		live->tos = -1;
	if (want->ttl < 0)
		live->ttl = -1;
	if (want->sport == 0)
		live->sport = live->dport = 0;
	if (want->win < 0)
		live->win = -1;
	if (want->proto == PD_TCP && want->opts_kind == PD_OPTS_ANY)
		live->opts_kind = PD_OPTS_ANY;
}

/* The oldest packet against what is left to be expected in *want. */
static bool
compare(struct run *r, const struct pd_event *ev, struct pd_packet *want, const struct pd_sent *s, int64_t from_ns,
	int64_t to_ns, bool *part)
{
	struct pd_packet live, script;
	struct pd_ends e;
	struct pd_flow *f;
	char why[256], a[512], b[512], t[32], lo[32], hi[32];

	if (!wire_read(s->ip, s->len, &live, &e, why, sizeof(why)))
		return run_fail(r, ev->line, "expected %s, got %s", pd_packet_show(want, a, sizeof(a)), why);
	f = flow_of_live(r, want, &live);
	if (f == NULL && live.proto != PD_ICMP)
		return false;
	script = live;
	if (f != NULL && live.proto != PD_ICMP)
		flow_to_script(f, &live, &script);
	if (f != NULL && !stamps(r, ev, want, &script, f, s->at_ns))
		return false;
	if (!match_packet(&r->rules, want, &script, part, why, sizeof(why))) {
		shorten(want, &script);
		return run_fail(r, ev->line, "expected %s got %s at %s (%s)", pd_packet_show(want, a, sizeof(a)),
			pd_packet_show(&script, b, sizeof(b)), run_time((int64_t)s->at_ns, t), why);
	}
	if ((int64_t)s->at_ns < from_ns || (int64_t)s->at_ns > to_ns)
		return run_fail(r, ev->line, "expected %s at %s~%s got it at %s", pd_packet_show(want, a, sizeof(a)),
			run_time(from_ns, lo),
			run_time(to_ns, hi), run_time((int64_t)s->at_ns, t));
	if (*part)
		match_rest(want, &script);
	return true;
}

bool
run_expect(struct run *r, const struct pd_event *ev, int64_t from_ns, int64_t to_ns, uint64_t *at_ns)
{
	struct pd_packet want = *ev->packet;
	bool part = true, good = true;

	while (part && good) {
		struct pd_sent *s;

		if (!wait_packet(r, ev, &want, from_ns, to_ns))
			return false;
		s = pd_net_pop(&r->net);
		*at_ns = s->at_ns;
		good = compare(r, ev, &want, s, from_ns, to_ns, &part);
		free(s);
	}
	return good;
}

bool
run_leftover(struct run *r)
{
	struct pd_packet live, script;
	struct pd_ends e;
	struct pd_flow *f;
	char why[128], text[512], t[32];

	/* what an inbound packet has called forth may be left out, at the end of a script */
	if (r->net.head == NULL || (r->last_packet->packet->inbound && r->net.head->at_ns >= pd_net_now(&r->net)))
		return true;
	if (!wire_read(r->net.head->ip, r->net.head->len, &live, &e, why, sizeof(why)))
		return run_fail(r, r->last_packet->line, "nobody expected %s", why);
	script = live;
	f = live.proto == PD_ICMP ? NULL : flow_find(r, live.proto, live.sport, live.dport);
	if (f != NULL)
		flow_to_script(f, &live, &script);
	script.ecn = PD_ECN_ANY;
	script.tos = script.ttl = -1;
	return run_fail(r, r->last_packet->line, "nobody expected %s, sent at %s", pd_packet_show(&script, text, sizeof(text)),
		run_time((int64_t)r->net.head->at_ns, t));
}

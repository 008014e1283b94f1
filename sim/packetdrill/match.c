/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing packets; see match.h. */
#include "match.h"

#include <stdio.h>
#include <string.h>

#include "wire.h"

static bool
same_opt(const struct pd_opt *a, const struct pd_opt *b)
{
	if (a->kind != b->kind || a->a != b->a || a->nsack != b->nsack || a->nraw != b->nraw)
		return false;
	if (a->kind == PD_O_TS && a->b != b->b)
		return false;
	return memcmp(a->sack, b->sack, a->nsack * sizeof(a->sack[0])) == 0 && memcmp(a->raw, b->raw, a->nraw) == 0;
}

static bool
padding(const struct pd_opt *o)
{
	return o->kind == PD_O_NOP || o->kind == PD_O_EOL;
}

static const struct pd_opt *
find(const struct pd_packet *p, uint8_t kind)
{
	for (unsigned int i = 0; i < p->nopts; i++)
		if (p->opt[i].kind == kind)
			return &p->opt[i];
	return NULL;
}

/* Every option of a that is none of b's, padding aside; NULL: none. */
static const struct pd_opt *
missing(const struct pd_packet *a, const struct pd_packet *b)
{
	for (unsigned int i = 0; i < a->nopts; i++) {
		const struct pd_opt *o = find(b, a->opt[i].kind);

		if (!padding(&a->opt[i]) && (o == NULL || !same_opt(&a->opt[i], o)))
			return &a->opt[i];
	}
	return NULL;
}

static bool
match_opts(const struct match_rules *r, const struct pd_packet *want, const struct pd_packet *live, char *why, size_t n)
{
	const struct pd_opt *w, *l;
	char a[128], b[128];

	if (want->opts_kind == PD_OPTS_ANY)
		return true;
	if (r->strict) {
		for (unsigned int i = 0; i < want->nopts || i < live->nopts; i++) {
			w = i < want->nopts ? &want->opt[i] : NULL;
			l = i < live->nopts ? &live->opt[i] : NULL;
			if (w != NULL && l != NULL && same_opt(w, l))
				continue;
			snprintf(why, n, "option %u: expected %s, got %s", i + 1, w != NULL ? pd_opt_show(w, a, sizeof(a)) : "none",
				l != NULL ? pd_opt_show(l, b, sizeof(b)) : "none");
			return false;
		}
		return true;
	}
	w = missing(want, live);
	if (w != NULL) {
		l = find(live, w->kind);
		snprintf(why, n, "option: expected %s, got %s", pd_opt_show(w, a, sizeof(a)), l != NULL ? pd_opt_show(l, b,
			sizeof(b)) : "none");
		return false;
	}
	l = missing(live, want);
	if (l != NULL)
		snprintf(why, n, "option: expected none, got %s", pd_opt_show(l, b, sizeof(b)));
	return l == NULL;
}

static bool
match_ip(const struct pd_packet *want, const struct pd_packet *live, char *why, size_t n)
{
	static const char *const ecn[] = { "", "noecn", "ect0", "ect1", "ce", "ect01" };
	bool same = want->ecn == PD_ECN_ANY || want->ecn == live->ecn
		|| (want->ecn == PD_ECN_ECT01 && (live->ecn == PD_ECN_ECT0 || live->ecn == PD_ECN_ECT1));

	if (!same)
		snprintf(why, n, "ECN: expected %s, got %s", ecn[want->ecn], ecn[live->ecn]);
	else if (want->tos >= 0 && want->tos != live->tos)
		snprintf(why, n, "TOS: expected 0x%02x, got 0x%02x", (unsigned int)want->tos, (unsigned int)live->tos);
	else if (want->ttl >= 0 && want->ttl != live->ttl)
		snprintf(why, n, "TTL: expected %d, got %d", want->ttl, live->ttl);
	else if (want->sport != 0 && (want->sport != live->sport || want->dport != live->dport))
		snprintf(why, n, "ports: expected %u > %u, got %u > %u", want->sport, want->dport, live->sport, live->dport);
	else
		return true;
	return false;
}

/* Letters in their usual order: the dot comes last. */
static const char *
flags(uint16_t f, char buf[16])
{
	static const char letters[] = "SFRPUEWA.";
	static const uint16_t bits[] = { PD_SYN, PD_FIN, PD_RST, PD_PSH, PD_URG, PD_ECE, PD_CWR, PD_AE, PD_ACK };
	unsigned int n = 0;

	for (unsigned int i = 0; letters[i] != '\0'; i++)
		if (f & bits[i])
			buf[n++] = letters[i];
	if (n == 0)
		buf[n++] = '-';
	buf[n] = '\0';
	return buf;
}

/* What of a segment's flags is compared. */
static uint16_t
flag_mask(const struct match_rules *r, bool part)
{
	uint16_t m = 0x1ff;

	if (part)
		m &= (uint16_t)~(PD_PSH | PD_FIN);
	/* Linux pushes in the middle of what it sends, by half windows */
	if (!r->strict && r->persona == PD_LINUX)
		m &= (uint16_t)~PD_PSH;
	return m;
}

static bool
match_win(const struct match_rules *r, const struct pd_packet *want, const struct pd_packet *live, char *why, size_t n)
{
	if (want->win < 0 || live->win == want->win)
		return true;
	if (!r->strict && (r->persona == PD_LINUX || live->win > want->win))
		return true;
	snprintf(why, n, "window: expected %d, got %d", want->win, live->win);
	return false;
}

static bool
match_tcp(const struct match_rules *r, const struct pd_packet *want, const struct pd_packet *live, bool part, char *why,
	size_t n)
{
	uint16_t mask = flag_mask(r, part);
	char a[16], b[16];

	if ((want->flags & mask) != (live->flags & mask))
		snprintf(why, n, "flags: expected %s, got %s", flags(want->flags, a), flags(live->flags, b));
	else if (want->seq != live->seq)
		snprintf(why, n, "sequence: expected %u, got %u", want->seq, live->seq);
	else if (!part && want->len != live->len)
		snprintf(why, n, "length: expected %u, got %u", want->len, live->len);
	else if (want->has_ack && (want->flags & PD_ACK) != 0 && want->ack != live->ack)
		snprintf(why, n, "acknowledgement: expected %u, got %u", want->ack, live->ack);
	else if (want->urg >= 0 && want->urg != (live->urg >= 0 ? live->urg : 0))
		snprintf(why, n, "urgent pointer: expected %d, got %d", want->urg, live->urg >= 0 ? live->urg : 0);
	else
		return match_win(r, want, live, why, n) && match_opts(r, want, live, why, n);
	return false;
}

static bool
match_icmp(const struct pd_packet *want, const struct pd_packet *live, char *why, size_t n)
{
	uint8_t type, code;

	if (!wire_icmp_numbers(live->ip_version, want->icmp_word, want->icmp_code_word, &type, &code))
		snprintf(why, n, "this ICMP message is not known in IPv%u", live->ip_version);
	else if (type != live->icmp_type || code != live->icmp_code)
		snprintf(why, n, "ICMP: expected type %u code %u, got type %u code %u", type, code, live->icmp_type, live->icmp_code);
	else if (want->mtu >= 0 && want->mtu != live->mtu)
		snprintf(why, n, "MTU: expected %lld, got %lld", (long long)want->mtu, (long long)live->mtu);
	else
		return true;
	return false;
}

bool
match_packet(const struct match_rules *r, const struct pd_packet *want, const struct pd_packet *live, bool *part, char *why,
	size_t n)
{
	static const char *const protos[] = { "TCP", "UDP", "ICMP" };

	*part = false;
	if (want->proto != live->proto) {
		snprintf(why, n, "expected a %s packet, got %s", protos[want->proto], protos[live->proto]);
		return false;
	}
	if (!match_ip(want, live, why, n))
		return false;
	if (want->proto == PD_ICMP)
		return match_icmp(want, live, why, n);
	if (want->proto == PD_TCP) {
		*part = !r->strict_segments && live->len > 0 && live->len < want->len;
		return match_tcp(r, want, live, *part, why, n);
	}
	if (want->len != live->len)
		snprintf(why, n, "length: expected %u, got %u", want->len, live->len);
	return want->len == live->len;
}

void
match_rest(struct pd_packet *want, const struct pd_packet *live)
{
	want->seq += live->len;
	want->len -= live->len;
}

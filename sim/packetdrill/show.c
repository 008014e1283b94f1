/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets as a script would say them. */
#include <stdarg.h>
#include <stdio.h>

#include "script.h"

struct text {
	char *buf;
	size_t room, used;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->used >= t->room)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->used, t->room - t->used, fmt, ap);
	va_end(ap);
	t->used += n > 0 ? (size_t)n : 0;
}

static void
put_hex(struct text *t, const uint8_t *b, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		put(t, "%02x", b[i]);
}

static void
put_opt(struct text *t, const struct pd_opt *o)
{
	switch (o->kind) {
	case PD_O_EOL:
		put(t, "eol");
		break;
	case PD_O_NOP:
		put(t, "nop");
		break;
	case PD_O_MSS:
		put(t, "mss %u", o->a);
		break;
	case PD_O_WSCALE:
		put(t, "wscale %u", o->a);
		break;
	case PD_O_SACKOK:
		put(t, "sackOK");
		break;
	case PD_O_SACK:
		put(t, "sack");
		for (unsigned int i = 0; i < o->nsack; i++)
			put(t, " %u:%u", o->sack[i][0], o->sack[i][1]);
		break;
	case PD_O_TS:
		put(t, "TS val %u ecr %u", o->a, o->b);
		break;
	case PD_O_FO:
		put(t, o->nraw > 0 ? "FO " : "FO");
		put_hex(t, o->raw, o->nraw);
		break;
	case PD_O_MD5:
		put(t, o->nraw > 0 ? "md5 " : "md5");
		put_hex(t, o->raw, o->nraw);
		break;
	case PD_O_EXP:
		if (o->nraw >= 2 && o->raw[0] == 0xf9 && o->raw[1] == 0x89) {
			put(t, o->nraw > 2 ? "FOEXP " : "FOEXP");
			put_hex(t, o->raw + 2, o->nraw - 2u);
			break;
		}
		/* fallthrough */
	default:
		put(t, "kind %u:", o->kind);
		put_hex(t, o->raw, o->nraw);
		break;
	}
}

static void
put_ip(struct text *t, const struct pd_packet *p)
{
	static const char *const ecn[] = { NULL, "noecn", "ect0", "ect1", "ce", "ect01" };
	const char *sep = "[";

	if (p->ecn != PD_ECN_ANY) {
		put(t, "%s%s", sep, ecn[p->ecn]);
		sep = ", ";
	}
	if (p->tos >= 0) {
		put(t, "%stos 0x%02x", sep, (unsigned int)p->tos);
		sep = ", ";
	}
	if (p->ttl >= 0) {
		put(t, "%sttl %d", sep, p->ttl);
		sep = ", ";
	}
	if (*sep == ',')
		put(t, "] ");
}

static void
put_tcp(struct text *t, const struct pd_packet *p)
{
	static const char letters[] = "SFRPUEWA.";
	static const uint16_t bits[] = { PD_SYN, PD_FIN, PD_RST, PD_PSH, PD_URG, PD_ECE, PD_CWR, PD_AE, PD_ACK };
	const char *sep = "";

	if (p->sport != 0)
		put(t, "%u > %u ", p->sport, p->dport);
	if ((p->flags & 0x1ff) == 0)
		put(t, "-");
	for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (p->flags & bits[i])
			put(t, "%c", letters[i]);
	put(t, " %u:%u(%u)", p->seq, p->seq + p->len, p->len);
	if (p->has_ack)
		put(t, " ack %u", p->ack);
	if (p->win >= 0)
		put(t, " win %d", p->win);
	if (p->urg >= 0)
		put(t, " urg %d", p->urg);
	if (p->opts_kind == PD_OPTS_ANY)
		put(t, " <...>");
	if (p->opts_kind != PD_OPTS_LIST || p->nopts == 0)
		return;
	put(t, " <");
	for (unsigned int i = 0; i < p->nopts; i++) {
		put(t, "%s", sep);
		put_opt(t, &p->opt[i]);
		sep = ",";
	}
	put(t, ">");
}

static void
put_icmp(struct text *t, const struct pd_packet *p)
{
	if (p->icmp_word != NULL) {
		put(t, "icmp %s", p->icmp_word);
		if (p->icmp_code_word != NULL)
			put(t, " %s", p->icmp_code_word);
	} else {
		put(t, "icmp %u %u", p->icmp_type, p->icmp_code);
	}
	if (p->mtu >= 0)
		put(t, " mtu %lld", (long long)p->mtu);
	if (p->quoted && p->quote_proto == PD_UDP)
		put(t, " [udp (%u)]", p->quote_len);
	else if (p->quoted)
		put(t, " [%u:%u(%u)]", p->quote_seq, p->quote_seq + p->quote_len, p->quote_len);
}

const char *
pd_packet_show(const struct pd_packet *p, char *buf, size_t n)
{
	struct text t = { buf, n, 0 };

	buf[0] = '\0';
	put(&t, "%c ", p->inbound ? '<' : '>');
	put_ip(&t, p);
	switch (p->proto) {
	case PD_TCP:
		put_tcp(&t, p);
		break;
	case PD_UDP:
		put(&t, "udp ");
		if (p->sport != 0)
			put(&t, "%u > %u ", p->sport, p->dport);
		put(&t, "(%u)", p->len);
		break;
	case PD_ICMP:
		put_icmp(&t, p);
		break;
	}
	return buf;
}

const char *
pd_opt_show(const struct pd_opt *o, char *buf, size_t n)
{
	struct text t = { buf, n, 0 };

	buf[0] = '\0';
	put_opt(&t, o);
	return buf;
}

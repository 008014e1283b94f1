/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of packets: TCP segments with their options, UDP datagrams, ICMP errors. */
#include <ctype.h>
#include <string.h>

#include "scan.h"

#define SEQ_MAX UINT32_MAX

static const char tcp_flag_letters[] = "FSRP.UEWA"; /* bit 0 .. 8 */

static void
ip_word(struct pd_scan *c, struct pd_packet *p)
{
	static const struct {
		const char *word;
		enum pd_ecn ecn;
	} ecn[] = { { "noecn", PD_ECN_NOECN }, { "ect01", PD_ECN_ECT01 }, { "ect0", PD_ECN_ECT0 }, { "ect1", PD_ECN_ECT1 },
		{ "ce", PD_ECN_CE } };
	char near[32];

	for (unsigned int i = 0; i < sizeof(ecn) / sizeof(ecn[0]); i++)
		if (scan_accept_word(c, ecn[i].word)) {
			p->ecn = ecn[i].ecn;
			return;
		}
	if (scan_accept_word(c, "tos"))
		p->tos = (int)scan_number(c, "a TOS", 255);
	else if (scan_accept_word(c, "ttl") || scan_accept_word(c, "hlim"))
		p->ttl = (int)scan_number(c, "a TTL", 255);
	else if (scan_accept_word(c, "flowlabel"))
		scan_unsupported(c, "flow labels");
	else
		scan_fail(c, "expected ect0, ect1, ect01, ce, noecn, tos N or ttl N before %s", scan_near(c, near));
}

static void
ports(struct pd_scan *c, struct pd_packet *p)
{
	if (!isdigit(scan_peek(c)))
		return;
	p->sport = (uint16_t)scan_number(c, "a port", 65535);
	scan_expect(c, ">");
	p->dport = (uint16_t)scan_number(c, "a port", 65535);
	if (p->sport == 0 || p->dport == 0)
		scan_fail(c, "port 0");
}

static uint32_t
payload(struct pd_scan *c, bool inbound)
{
	uint32_t n;

	scan_expect(c, "(");
	n = (uint32_t)scan_number(c, "a length", inbound ? PD_PAYLOAD_MAX : 1u << 30);
	scan_expect(c, ")");
	return n;
}

/* seq:end(len) */
static void
sequence(struct pd_scan *c, bool inbound, uint32_t *seq, uint32_t *len)
{
	uint32_t end;
	const char *from;

	scan_peek(c);
	from = c->at;
	*seq = (uint32_t)scan_number(c, "a sequence number", SEQ_MAX);
	scan_expect(c, ":");
	end = (uint32_t)scan_number(c, "a sequence number", SEQ_MAX);
	*len = payload(c, inbound);
	if (end - *seq != *len) {
		c->at = from;
		scan_fail(c, "%u:%u is not %u bytes", *seq, end, *len);
	}
}

/* [seq:end(len)] or [udp (len)], the bracket just read */
static void
quote(struct pd_scan *c, struct pd_packet *p)
{
	p->quoted = true;
	p->quote_proto = PD_TCP;
	if (scan_accept_word(c, "udp")) {
		p->quote_proto = PD_UDP;
		p->quote_len = payload(c, true);
	} else {
		scan_accept_word(c, "tcp");
		sequence(c, true, &p->quote_seq, &p->quote_len);
	}
	scan_expect(c, "]");
}

static void
ip_info(struct pd_scan *c, struct pd_packet *p)
{
	p->tos = p->ttl = -1;
	while (scan_peek(c) == '[' || scan_peek(c) == '(') {
		const char *close = *c->at == '[' ? "]" : ")";

		c->at++;
		/* what an ICMP error quotes, as older scripts have it */
		if (*close == ']' && isdigit(scan_peek(c))) {
			quote(c, p);
			continue;
		}
		do
			ip_word(c, p);
		while (scan_accept(c, ",") || (scan_peek(c) != *close && isalpha(scan_peek(c))));
		scan_expect(c, close);
	}
}

static void
tcp_flags(struct pd_scan *c, struct pd_packet *p)
{
	static const char some[] = "expected TCP flags (S F R P . U E W A), udp or icmp before %s";
	char near[32];
	const char *from;
	int ch = scan_peek(c);

	if (ch == '-') { /* none at all */
		c->at++;
		return;
	}
	for (from = c->at; c->at < c->end; c->at++) {
		const char *f = *c->at != '\0' ? strchr(tcp_flag_letters, *c->at) : NULL;

		if (f == NULL)
			break;
		p->flags |= (uint16_t)(1u << (f - tcp_flag_letters));
	}
	if (c->at == from || (c->at < c->end && isalpha((unsigned char)*c->at))) {
		c->at = from;
		scan_fail(c, some, scan_near(c, near));
	}
	/* ".5": the three ECN bits as a number */
	if (c->end - c->at >= 2 && *c->at >= '0' && *c->at <= '7' && isspace((unsigned char)c->at[1])) {
		p->flags |= (uint16_t)((*c->at - '0') << 6);
		c->at++;
	}
}

/* Hex digits into o->raw, room bytes at most; none is well too. */
static void
hex(struct pd_scan *c, struct pd_opt *o, unsigned int room)
{
	scan_blank(c);
	while (c->at < c->end && isxdigit((unsigned char)*c->at)) {
		unsigned int v = 0;

		for (int i = 0; i < 2; i++, c->at++) {
			int ch = c->at < c->end ? (unsigned char)*c->at : 0;

			if (!isxdigit(ch))
				scan_fail(c, "an odd number of hex digits");
			v = v * 16 + (unsigned int)(isdigit(ch) ? ch - '0' : (ch | 32) - 'a' + 10);
		}
		if (o->nraw == room)
			scan_fail(c, "more than %u bytes", room);
		o->raw[o->nraw++] = (uint8_t)v;
	}
}

static void
sack(struct pd_scan *c, struct pd_opt *o)
{
	o->kind = PD_O_SACK;
	while (isdigit(scan_peek(c))) {
		if (o->nsack == 4)
			scan_fail(c, "more than four SACK blocks");
		o->sack[o->nsack][0] = (uint32_t)scan_number(c, "a SACK edge", SEQ_MAX);
		scan_expect(c, ":");
		o->sack[o->nsack++][1] = (uint32_t)scan_number(c, "a SACK edge", SEQ_MAX);
	}
	if (o->nsack == 0)
		scan_fail(c, "sack without a block");
}

static void
option(struct pd_scan *c, struct pd_opt *o)
{
	char near[32];

	if (scan_accept_word(c, "mss")) {
		o->kind = PD_O_MSS;
		o->a = (uint32_t)scan_number(c, "an MSS", 65535);
	} else if (scan_accept_word(c, "wscale")) {
		o->kind = PD_O_WSCALE;
		o->a = (uint32_t)scan_number(c, "a shift", 255);
	} else if (scan_accept_word(c, "sackOK")) {
		o->kind = PD_O_SACKOK;
	} else if (scan_accept_word(c, "sack")) {
		sack(c, o);
	} else if (scan_accept_word(c, "TS")) {
		o->kind = PD_O_TS;
		if (!scan_accept_word(c, "val"))
			scan_fail(c, "expected 'val' before %s", scan_near(c, near));
		o->a = (uint32_t)scan_number(c, "a timestamp", SEQ_MAX);
		if (!scan_accept_word(c, "ecr"))
			scan_fail(c, "expected 'ecr' before %s", scan_near(c, near));
		o->b = (uint32_t)scan_number(c, "a timestamp", SEQ_MAX);
	} else if (scan_accept_word(c, "nop")) {
		o->kind = PD_O_NOP;
	} else if (scan_accept_word(c, "eol")) {
		o->kind = PD_O_EOL;
	} else if (scan_accept_word(c, "FOEXP")) {
		static const uint8_t magic[2] = { 0xf9, 0x89 }; /* RFC 7413's experiment, RFC 6994 */

		o->kind = PD_O_EXP;
		memcpy(o->raw, magic, 2);
		o->nraw = 2;
		hex(c, o, 38);
	} else if (scan_accept_word(c, "FO")) {
		o->kind = PD_O_FO;
		hex(c, o, 38);
	} else if (scan_accept_word(c, "md5")) {
		o->kind = PD_O_MD5;
		hex(c, o, 16);
	} else if (isalpha(scan_peek(c))) {
		scan_unsupported(c, "TCP option %s", scan_near(c, near));
	} else {
		scan_fail(c, "expected a TCP option before %s", scan_near(c, near));
	}
}

/* Bytes that o takes on the wire. */
static unsigned int
opt_size(const struct pd_opt *o)
{
	switch (o->kind) {
	case PD_O_EOL:
	case PD_O_NOP:
		return 1;
	case PD_O_MSS:
		return 4;
	case PD_O_WSCALE:
		return 3;
	case PD_O_SACKOK:
		return 2;
	case PD_O_SACK:
		return 2 + 8u * o->nsack;
	case PD_O_TS:
		return 10;
	default:
		return 2u + o->nraw;
	}
}

static void
options(struct pd_scan *c, struct pd_packet *p)
{
	unsigned int bytes = 0;

	p->opts_kind = PD_OPTS_NONE;
	if (!scan_accept(c, "<"))
		return;
	if (scan_accept(c, "...")) {
		p->opts_kind = PD_OPTS_ANY;
		scan_expect(c, ">");
		if (p->inbound)
			scan_fail(c, "an inbound segment needs its options said");
		return;
	}
	p->opts_kind = PD_OPTS_LIST;
	if (scan_accept(c, ">"))
		return;
	do {
		struct pd_opt *o = &p->opt[p->nopts];

		if (p->nopts == PD_OPTS_MAX)
			scan_fail(c, "too many options");
		option(c, o);
		p->nopts++;
		bytes += opt_size(o);
		if (bytes > 40)
			scan_fail(c, "options of more than 40 bytes");
	} while (scan_accept(c, ","));
	scan_expect(c, ">");
}

static void
tcp(struct pd_scan *c, struct pd_packet *p)
{
	p->proto = PD_TCP;
	tcp_flags(c, p);
	sequence(c, p->inbound, &p->seq, &p->len);
	if (scan_accept_word(c, "ack")) {
		p->has_ack = true;
		p->ack = (uint32_t)scan_number(c, "an acknowledgement number", SEQ_MAX);
	}
	if (scan_accept_word(c, "win"))
		p->win = (int)scan_number(c, "a window", 65535);
	if (scan_accept_word(c, "urg"))
		p->urg = (int)scan_number(c, "an urgent pointer", 65535);
	options(c, p);
}

static bool
same_line(const struct pd_scan *c)
{
	const char *p = c->at;

	while (p < c->end && (*p == ' ' || *p == '\t'))
		p++;
	return p < c->end && *p != '\n' && *p != '\r';
}

/* A word, or a number as text, that names a type or code. */
static const char *
icmp_name(struct pd_scan *c, const char *what)
{
	const char *w = scan_word(c), *from;
	char near[32];

	if (w != NULL)
		return w;
	if (!isdigit(scan_peek(c)))
		scan_fail(c, "expected %s before %s", what, scan_near(c, near));
	from = c->at;
	scan_number(c, what, 255);
	return scan_copy(c, from, (size_t)(c->at - from));
}

static void
icmp(struct pd_scan *c, struct pd_packet *p)
{
	p->proto = PD_ICMP;
	p->icmp_word = icmp_name(c, "an ICMP type");
	if (same_line(c) && (isalpha(scan_peek(c)) || isdigit(scan_peek(c))) && !scan_accept_word(c, "mtu"))
		p->icmp_code_word = icmp_name(c, "an ICMP code");
	else if (c->at - c->text >= 3 && memcmp(c->at - 3, "mtu", 3) == 0)
		c->at -= 3;
	if (scan_accept_word(c, "mtu"))
		p->mtu = (int64_t)scan_number(c, "an MTU", UINT32_MAX);
	if (scan_accept(c, "["))
		quote(c, p);
}

struct pd_packet *
parse_packet(struct pd_scan *c, bool inbound)
{
	static const char *const other[] = { "gre", "mpls", "sctp", "ipv4", "ipv6", "ip", "psp", "udplite" };
	struct pd_packet *p = scan_take(c, sizeof(*p));
	char near[32];

	p->inbound = inbound;
	p->win = p->urg = -1;
	p->mtu = -1;
	ip_info(c, p);
	for (unsigned int i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (scan_accept_word(c, other[i]))
			scan_unsupported(c, "%s packets", other[i]);
	if (p->quoted && scan_peek(c) != 'i')
		scan_fail(c, "expected icmp before %s", scan_near(c, near));
	if (scan_accept_word(c, "icmp")) {
		icmp(c, p);
	} else if (scan_accept_word(c, "udp")) {
		p->proto = PD_UDP;
		ports(c, p);
		p->len = payload(c, inbound);
		if (p->len > 65527)
			scan_fail(c, "a datagram of more than 65527 bytes");
	} else {
		scan_accept_word(c, "tcp");
		ports(c, p);
		tcp(c, p);
	}
	return p;
}

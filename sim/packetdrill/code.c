/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code between %{ and }%: assertions about the connection, in the small part of the original's language that they are
 * written in. Anything else
 * skips the script.
 */
#include <ctype.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/stack/socket/socket.h"
#include "run_priv.h"

#define NAME_MAX_LEN 64
#define DEPTH_MAX 32

struct code {
	struct run *r;
	const struct pd_event *ev;
	const char *at;
	int line;
	unsigned int depth;
	bool have;                 /* info is filled */
	struct tcp_info info;
	socklen_t info_len;
	char shown[NAME_MAX_LEN];  /* the first field that was read, and its value */
	int64_t shown_value;
};

static bool either(struct code *c, int64_t *v);

static void
blanks(struct code *c)
{
	while (*c->at == ' ' || *c->at == '\t')
		c->at++;
}

static bool
take(struct code *c, const char *s)
{
	size_t n = strlen(s);

	blanks(c);
	if (strncmp(c->at, s, n) != 0)
		return false;
	if (isalpha((unsigned char)*s) && (isalnum((unsigned char)c->at[n]) || c->at[n] == '_'))
		return false;
	c->at += n;
	return true;
}

#define F(x) { #x, offsetof(struct tcp_info, x), sizeof(((struct tcp_info *)0)->x) }

static const struct field {
	const char *name;
	size_t at, size;
} fields[] = { F(tcpi_state), F(tcpi_ca_state), F(tcpi_retransmits), F(tcpi_probes), F(tcpi_backoff), F(tcpi_options),
	F(tcpi_rto), F(tcpi_ato),
	F(tcpi_snd_mss), F(tcpi_rcv_mss), F(tcpi_unacked), F(tcpi_sacked), F(tcpi_lost), F(tcpi_retrans), F(tcpi_fackets),
	F(tcpi_last_data_sent), F(tcpi_last_ack_sent), F(tcpi_last_data_recv), F(tcpi_last_ack_recv), F(tcpi_pmtu),
		F(tcpi_rcv_ssthresh),
	F(tcpi_rtt), F(tcpi_rttvar), F(tcpi_snd_ssthresh), F(tcpi_snd_cwnd), F(tcpi_advmss), F(tcpi_reordering), F(tcpi_rcv_rtt),
	F(tcpi_rcv_space), F(tcpi_total_retrans), F(tcpi_pacing_rate), F(tcpi_bytes_acked), F(tcpi_bytes_received),
		F(tcpi_segs_out),
	F(tcpi_segs_in), F(tcpi_notsent_bytes), F(tcpi_min_rtt), F(tcpi_data_segs_in), F(tcpi_data_segs_out), F(tcpi_delivered),
	F(tcpi_delivered_ce), F(tcpi_bytes_sent), F(tcpi_bytes_retrans), F(tcpi_dsack_dups), F(tcpi_reord_seen),
		F(tcpi_rcv_ooopack),
	F(tcpi_snd_wnd) };

static bool
info(struct code *c)
{
	int rc;

	if (c->have)
		return true;
	c->info_len = sizeof(c->info);
	rc = c->r->info_fd < 0 ? -1 : sock_getsockopt(c->r->net.stack, c->r->info_fd, IPPROTO_TCP, TCP_INFO, &c->info,
		&c->info_len);
	if (rc != 0)
		return run_skip(c->r, c->line, "code without a connection to ask");
	c->have = true;
	return true;
}

static bool
field(struct code *c, const char *name, int64_t *v)
{
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];
		const uint8_t *b = (const uint8_t *)&c->info + f->at;

		if (strcmp(f->name, name) != 0)
			continue;
		if (!info(c))
			return false;
		if (f->at + f->size > c->info_len)
			break;
		*v = f->size == 1 ? *b : f->size == 4 ? (int64_t)*(const uint32_t *)(const void *)b
			: (int64_t)*(const uint64_t *)(const void *)b;
		/* FreeBSD counts these in bytes */
		if (c->r->rules.persona == PD_FREEBSD && (f->at == offsetof(struct tcp_info, tcpi_snd_cwnd)
			|| f->at == offsetof(struct tcp_info, tcpi_snd_ssthresh)))
			*v *= c->info.tcpi_snd_mss;
		if (c->shown[0] == '\0') {
			snprintf(c->shown, sizeof(c->shown), "%s", name);
			c->shown_value = *v;
		}
		return true;
	}
	/* bit fields */
	if (strcmp(name, "tcpi_snd_wscale") == 0 || strcmp(name, "tcpi_rcv_wscale") == 0) {
		if (!info(c))
			return false;
		*v = name[5] == 's' ? c->info.tcpi_snd_wscale : c->info.tcpi_rcv_wscale;
		return true;
	}
	return run_word(name, v) || run_skip(c->r, c->line, "code: %s is not known", name);
}

static bool
primary(struct code *c, int64_t *v)
{
	char name[NAME_MAX_LEN];
	unsigned int n = 0;
	char *end;

	if (c->depth++ == DEPTH_MAX)
		return run_skip(c->r, c->line, "code: nested too deep");
	blanks(c);
	if (take(c, "(")) {
		if (!either(c, v))
			return false;
		if (!take(c, ")"))
			return run_skip(c->r, c->line, "code: no ')' in it");
	} else if (take(c, "-")) {
		if (!primary(c, v))
			return false;
		*v = -*v;
	} else if (isdigit((unsigned char)*c->at)) {
		*v = (int64_t)strtoull(c->at, &end, 0);
		c->at = end;
	} else {
		while ((isalnum((unsigned char)*c->at) || *c->at == '_') && n < sizeof(name) - 1)
			name[n++] = *c->at++;
		name[n] = '\0';
		if (n == 0 || *c->at == '(' || *c->at == '.')
			return run_skip(c->r, c->line, "code: %.20s", n == 0 ? c->at : name);
		if (!field(c, name, v))
			return false;
	}
	c->depth--;
	return true;
}

/* * and /, then + and -, then &, then |: by falling level. */
static bool
arithmetic(struct code *c, int level, int64_t *v)
{
	static const char *const ops[4] = { "|", "&", "+-", "*/" };
	int64_t b;

	if (level == 4)
		return primary(c, v);
	if (!arithmetic(c, level + 1, v))
		return false;
	for (;;) {
		char op;

		blanks(c);
		op = *c->at;
		if (op == '\0' || strchr(ops[level], op) == NULL)
			return true;
		c->at++;
		if (!arithmetic(c, level + 1, &b))
			return false;
		if (op == '/' && b == 0)
			return run_skip(c->r, c->line, "code: a division by zero");
		/* as unsigned numbers, where running over is defined */
		*v = op == '|' ? *v | b : op == '&' ? *v & b : op == '+' ? (int64_t)((uint64_t)*v + (uint64_t)b)
			: op == '-' ? (int64_t)((uint64_t)*v - (uint64_t)b) : op == '*' ? (int64_t)((uint64_t)*v * (uint64_t)b)
			: b == -1 ? (int64_t)(0 - (uint64_t)*v) : *v / b;
	}
}

/* a < b <= c: as in the original, each pair must hold. */
static bool
compare(struct code *c, int64_t *v)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">" };
	int64_t a, b;
	bool any = false, all = true;

	if (take(c, "not")) {
		if (c->depth++ == DEPTH_MAX)
			return run_skip(c->r, c->line, "code: nested too deep");
		if (!compare(c, &a))
			return false;
		c->depth--;
		*v = a == 0;
		return true;
	}
	if (!arithmetic(c, 0, &a))
		return false;
	for (unsigned int i = 0; i < 6;) {
		if (!take(c, ops[i])) {
			i++;
			continue;
		}
		if (!arithmetic(c, 0, &b))
			return false;
		all &= i == 0 ? a == b : i == 1 ? a != b : i == 2 ? a <= b : i == 3 ? a >= b : i == 4 ? a < b : a > b;
		any = true;
		a = b;
		i = 0;
	}
	*v = any ? all : a;
	return true;
}

/* or over and. */
static bool
either(struct code *c, int64_t *v)
{
	int64_t b;

	if (!compare(c, v))
		return false;
	for (;;) {
		bool and = take(c, "and");

		if (!and && !take(c, "or"))
			return true;
		if (!compare(c, &b))
			return false;
		*v = and ? *v != 0 && b != 0 : *v != 0 || b != 0;
	}
}

static bool
statement(struct code *c)
{
	const char *from = c->at, *to;
	int64_t v;

	if (take(c, "print") || take(c, "import") || take(c, "pass")) {
		c->at += strcspn(c->at, "\n");
		return true;
	}
	if (!take(c, "assert"))
		return run_skip(c->r, c->line, "code: %.*s", (int)strcspn(c->at, "\n;"), c->at);
	c->depth = 0;
	c->shown[0] = '\0';
	if (!either(c, &v))
		return false;
	blanks(c);
	if (*c->at != '\0' && strchr(",;\n\r#", *c->at) == NULL)
		return run_skip(c->r, c->line, "code: %.20s", c->at);
	if (v == 0) {
		for (to = c->at; to[-1] == ' '; to--)
			continue;
		if (c->shown[0] == '\0')
			return run_fail(c->r, c->line, "%.*s does not hold", (int)(to - from), from);
		return run_fail(c->r, c->line, "%.*s does not hold: %s is %lld", (int)(to - from), from, c->shown,
			(long long)c->shown_value);
	}
	if (*c->at == ',') /* the message */
		c->at += strcspn(c->at, ";\n");
	return true;
}

bool
run_code(struct run *r, const struct pd_event *ev)
{
	struct code c = { .r = r, .ev = ev, .at = ev->text, .line = ev->line };

	while (*c.at != '\0') {
		if (*c.at == '#') {
			c.at += strcspn(c.at, "\n");
		} else if (isspace((unsigned char)*c.at) || *c.at == ';') {
			c.line += *c.at == '\n';
			c.at++;
		} else if (!statement(&c)) {
			return false;
		}
	}
	return true;
}

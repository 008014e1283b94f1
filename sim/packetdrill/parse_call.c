/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of calls: name(arguments) = result. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

static struct pd_expr *expr(struct pd_scan *c);

static struct pd_expr *
new_expr(struct pd_scan *c, enum pd_expr_kind kind)
{
	struct pd_expr *x = scan_take(c, sizeof(*x));

	x->kind = kind;
	scan_peek(c);
	scan_where(c, c->at, &x->line, &x->col);
	return x;
}

static void
deeper(struct pd_scan *c)
{
	if (++c->depth > PD_NEST_MAX)
		scan_fail(c, "nested deeper than %d", PD_NEST_MAX);
}

static int
escape(struct pd_scan *c)
{
	int ch = c->at < c->end ? (unsigned char)*c->at++ : 0;

	switch (ch) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case '0':
		return '\0';
	case '\\':
	case '"':
	case '\'':
		return ch;
	case 'x':
		if (c->end - c->at >= 2 && isxdigit((unsigned char)c->at[0]) && isxdigit((unsigned char)c->at[1])) {
			char two[3] = { c->at[0], c->at[1], '\0' };

			c->at += 2;
			return (int)strtol(two, NULL, 16);
		}
		break;
	default:
		break;
	}
	c->at--;
	scan_fail(c, "this escape in a string is not known");
}

static struct pd_expr *
string(struct pd_scan *c)
{
	struct pd_expr *x = new_expr(c, PD_X_STRING);
	const char *from = c->at++;
	char *to;
	size_t n = 0;

	while (c->at < c->end && *c->at != '"' && *c->at != '\n')
		c->at += c->at + 1 < c->end && *c->at == '\\' ? 2 : 1;
	if (c->at >= c->end || *c->at != '"') {
		c->at = from;
		scan_fail(c, "this string does not end");
	}
	to = scan_take(c, (size_t)(c->at - from));
	for (c->at = from + 1; *c->at != '"';) {
		int ch = (unsigned char)*c->at++;

		to[n++] = (char)(ch == '\\' ? escape(c) : ch);
	}
	c->at++;
	x->text = to;
	x->num = (int64_t)n;
	return x;
}

static struct pd_expr *
number(struct pd_scan *c)
{
	struct pd_expr *x = new_expr(c, PD_X_INT);
	bool minus = scan_accept(c, "-");
	uint64_t v = scan_number(c, "a number", minus ? (uint64_t)INT64_MAX : UINT64_MAX);

	x->num = minus ? -(int64_t)v : (int64_t)v;
	return x;
}

/* Up to the closing text, separated by commas. Returns how many. */
static unsigned int
several(struct pd_scan *c, struct pd_expr **to, const char *close)
{
	unsigned int n = 0;

	if (scan_accept(c, close))
		return 0;
	do {
		*to = expr(c);
		to = &(*to)->next;
		n++;
	} while (scan_accept(c, ","));
	scan_expect(c, close);
	return n;
}

/* name=value, name(n)=value, or a value alone. */
static struct pd_expr *
member(struct pd_scan *c)
{
	const char *from, *name;
	struct pd_expr *x;

	scan_peek(c);
	from = c->at;
	name = scan_word(c);
	if (name != NULL) {
		if (scan_accept(c, "(") && !scan_accept(c, ")")) {
			deeper(c);
			expr(c);
			c->depth--;
			scan_expect(c, ")");
		}
		if (scan_accept(c, "=")) {
			x = expr(c);
			x->name = name;
			return x;
		}
		c->at = from;
	}
	return expr(c);
}

static struct pd_expr *
members(struct pd_scan *c)
{
	struct pd_expr *x = new_expr(c, PD_X_STRUCT), **to = &x->kids;

	scan_expect(c, "{");
	if (scan_accept(c, "}"))
		return x;
	do {
		*to = member(c);
		to = &(*to)->next;
	} while (scan_accept(c, ","));
	scan_expect(c, "}");
	return x;
}

/* Words by which a script belongs to one family. */
static void
family(struct pd_scan *c, const char *w)
{
	static const char *const v4[] = { "AF_INET", "PF_INET", "sin_addr", "inet_addr", "SOL_IP", "IPPROTO_IP", "IP_TOS",
		"IP_TTL" };
	static const char *const v6[] = { "AF_INET6", "PF_INET6", "sin6_addr", "SOL_IPV6", "IPPROTO_IPV6", "IPV6_TCLASS",
		"IPV6_UNICAST_HOPS", "IPV6_V6ONLY" };

	for (unsigned int i = 0; i < sizeof(v4) / sizeof(v4[0]); i++)
		c->script->says_v4 |= strcmp(w, v4[i]) == 0;
	for (unsigned int i = 0; i < sizeof(v6) / sizeof(v6[0]); i++)
		c->script->says_v6 |= strcmp(w, v6[i]) == 0;
}

static struct pd_expr *
word(struct pd_scan *c)
{
	struct pd_expr *x = new_expr(c, PD_X_WORD);

	x->text = scan_word(c);
	family(c, x->text);
	if (scan_accept(c, "(")) {
		x->kind = PD_X_CALL;
		several(c, &x->kids, ")");
	}
	return x;
}

static struct pd_expr *
one(struct pd_scan *c)
{
	struct pd_expr *x;
	char near[32];
	int ch = scan_peek(c);

	deeper(c);
	scan_accept(c, "&"); /* &hints: the address of, which is nothing to us */
	ch = scan_peek(c);
	if (ch == '"') {
		x = string(c);
	} else if (ch == '[') {
		x = new_expr(c, PD_X_LIST);
		c->at++;
		several(c, &x->kids, "]");
	} else if (ch == '{') {
		x = members(c);
	} else if (ch == '(') {
		c->at++;
		x = expr(c);
		scan_expect(c, ")");
	} else if (ch == '.' && scan_accept(c, "...")) {
		x = new_expr(c, PD_X_ELLIPSIS);
	} else if (ch == '-' || isdigit(ch)) {
		x = number(c);
	} else if (isalpha(ch) || ch == '_') {
		x = word(c);
	} else {
		scan_fail(c, "expected a value before %s", scan_near(c, near));
	}
	c->depth--;
	return x;
}

static struct pd_expr *
expr(struct pd_scan *c)
{
	struct pd_expr *x = one(c), *or, **to;

	if (scan_peek(c) != '|')
		return x;
	or = new_expr(c, PD_X_OR);
	or->line = x->line;
	or->col = x->col;
	or->kids = x;
	for (to = &x->next; scan_accept(c, "|"); to = &(*to)->next)
		*to = one(c);
	return or;
}

/* "(Operation now in progress)": up to its closing one. */
static void
remark(struct pd_scan *c)
{
	const char *from;
	unsigned int open = 0;

	if (scan_peek(c) != '(')
		return;
	for (from = c->at; c->at < c->end && *c->at != '\n'; c->at++) {
		open += *c->at == '(';
		if (*c->at == ')' && --open == 0) {
			c->at++;
			return;
		}
	}
	c->at = from;
	scan_fail(c, "this remark does not end");
}

struct pd_call *
parse_call(struct pd_scan *c)
{
	struct pd_call *k = scan_take(c, sizeof(*k));
	char near[32];

	k->name = scan_word(c);
	scan_expect(c, "(");
	deeper(c);
	k->nargs = several(c, &k->args, ")");
	c->depth--;
	scan_expect(c, "=");
	if (scan_accept(c, "?"))
		return k;
	k->result = expr(c);
	if (k->result->kind == PD_X_INT && k->result->num == -1 && scan_peek(c) == 'E')
		k->err = scan_word(c);
	else if (isalpha(scan_peek(c)))
		scan_fail(c, "expected the next event before %s", scan_near(c, near));
	remark(c);
	return k;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of scripts: options, then events. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

/* The rest of what belongs to an option's value: to the next blank, or a string. */
static const char *
option_value(struct pd_scan *c)
{
	const char *from;
	char quote;

	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	quote = c->at < c->end && (*c->at == '"' || *c->at == '\'') ? *c->at : '\0';
	from = c->at += quote != '\0';
	while (c->at < c->end && *c->at != '\0' && *c->at != '\n' && (quote != '\0'
		? *c->at != quote : !isspace((unsigned char)*c->at)))
		c->at++;
	if (quote != '\0' && (c->at == c->end || *c->at != quote)) {
		c->at = from - 1;
		scan_fail(c, "this value does not end");
	}
	c->at += quote != '\0';
	return scan_copy(c, from, (size_t)(c->at - from) - (quote != '\0'));
}

/* --name, --name=value, -D NAME=value, -DNAME=value */
static void
option(struct pd_scan *c, struct pd_option ***to)
{
	struct pd_option *o = scan_take(c, sizeof(*o));
	const char *from;
	int col;
	char near[32];

	scan_where(c, c->at, &o->line, &col);
	o->name = "define";
	from = c->at += 2;
	if (from[-1] == '-') {
		while (c->at < c->end && (isalnum((unsigned char)*c->at) || *c->at == '_' || *c->at == '-'))
			c->at++;
		if (c->at == from)
			scan_fail(c, "expected the name of an option before %s", scan_near(c, near));
		o->name = scan_copy(c, from, (size_t)(c->at - from));
	}
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	if (c->at < c->end && *c->at == '=') {
		c->at++;
		o->value = option_value(c);
	} else if (strcmp(o->name, "define") == 0) {
		o->value = option_value(c);
	}
	**to = o;
	*to = &o->next;
}

/* Text between two marks, the first of them just read. */
static const char *
until(struct pd_scan *c, const char *from, const char *close)
{
	size_t n = strlen(close);
	const char *end = memmem(c->at, (size_t)(c->end - c->at), close, n), *s;

	if (end == NULL || memchr(c->at, '\0', (size_t)(end - c->at)) != NULL) {
		c->at = from;
		scan_fail(c, "no %s for this", close);
	}
	s = scan_copy(c, c->at, (size_t)(end - c->at));
	c->at = end + n;
	return s;
}

static void
when(struct pd_scan *c, struct pd_event *v)
{
	bool plus = scan_accept(c, "+");

	v->time = plus ? PD_T_REL : PD_T_ABS;
	if (!plus && scan_accept(c, "*")) {
		v->time = PD_T_ANY;
		return;
	}
	v->at = scan_seconds(c);
	v->window = scan_accept(c, "~");
	v->blocks = !v->window && scan_accept(c, "...");
	if (!v->window && !v->blocks)
		return;
	/* "+a~+b" and "+a...b" count both from the event before */
	if (scan_accept(c, "+") && !plus)
		scan_fail(c, "a window from a time of the script to a relative one");
	v->end = scan_seconds(c);
	if (v->end < v->at)
		scan_fail(c, "this time ends before it begins");
}

static void
action(struct pd_scan *c, struct pd_event *v)
{
	const char *from;
	int ch = scan_peek(c);
	char near[32];

	from = c->at;
	if (ch == '<' || ch == '>') {
		c->at++;
		v->kind = PD_E_PACKET;
		v->packet = parse_packet(c, ch == '<');
		if (v->packet->inbound && (v->time == PD_T_ANY || v->window)) {
			c->at = from;
			scan_fail(c, "an inbound packet needs one time");
		}
	} else if (ch == '`') {
		c->at++;
		v->kind = PD_E_COMMAND;
		v->text = until(c, from, "`");
	} else if (scan_accept(c, "%{")) {
		v->kind = PD_E_CODE;
		v->text = until(c, from, "}%");
	} else if (isalpha(ch) || ch == '_') {
		v->kind = PD_E_CALL;
		v->call = parse_call(c);
	} else {
		scan_fail(c, "expected a packet, a call, a command or code before %s", scan_near(c, near));
	}
	if (v->blocks && v->kind != PD_E_CALL) {
		c->at = from;
		scan_fail(c, "only a call blocks");
	}
	if (v->time == PD_T_ANY && v->kind != PD_E_PACKET) {
		c->at = from;
		scan_fail(c, "only a packet may come at any time");
	}
}

static void
parse_all(struct pd_scan *c)
{
	struct pd_option **to = &c->script->options;
	struct pd_event **tail = &c->script->events;

	if ((size_t)(c->end - c->text) > PD_FILE_MAX)
		scan_fail(c, "longer than %u bytes", PD_FILE_MAX);
	while (scan_peek(c) != 0) {
		struct pd_event *v;

		scan_mark(c);
		if (*c->at == '-' && c->end - c->at > 1 && (c->at[1] == '-' || c->at[1] == 'D')) {
			option(c, &to);
			continue;
		}
		v = scan_take(c, sizeof(*v));
		scan_where(c, c->at, &v->line, &v->col);
		if (*c->at == '`')
			v->time = PD_T_REL; /* the first and the last command may stand alone */
		else
			when(c, v);
		action(c, v);
		*tail = v;
		tail = &v->next;
		c->script->nevents++;
	}
}

enum pd_status
pd_parse(const char *text, size_t len, struct pd_script **out, struct pd_error *e)
{
	struct pd_scan c = { .text = text, .at = text, .end = text + len, .e = e };

	memset(e, 0, sizeof(*e));
	*out = NULL;
	c.script = calloc(1, sizeof(*c.script));
	if (c.script != NULL)
		c.script->arena = pd_arena_new();
	if (c.script == NULL || c.script->arena == NULL) {
		free(c.script);
		e->status = PD_SYNTAX;
		e->line = e->col = 1;
		strcpy(e->text, "out of memory");
		return e->status;
	}
	if (setjmp(c.out) != 0) {
		pd_script_free(c.script);
		return e->status;
	}
	parse_all(&c);
	*out = c.script;
	return PD_GOOD;
}

void
pd_script_free(struct pd_script *s)
{
	if (s == NULL)
		return;
	pd_arena_free(s->arena);
	free(s);
}

const char *
pd_option(const struct pd_script *s, const char *name)
{
	const char *v = NULL;

	for (const struct pd_option *o = s->options; o != NULL; o = o->next)
		if (strcmp(o->name, name) == 0)
			v = o->value != NULL ? o->value : "";
	return v;
}

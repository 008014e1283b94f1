/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser's reading head; see scan.h. */
#include "scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pd_chunk {
	struct pd_chunk *next;
	size_t used, room;
	_Alignas(16) char mem[];
};

struct pd_arena {
	struct pd_chunk *first;
};

struct pd_arena *
pd_arena_new(void)
{
	return calloc(1, sizeof(struct pd_arena));
}

void *
pd_arena_take(struct pd_arena *a, size_t n)
{
	struct pd_chunk *k = a->first;
	void *p;

	n = (n + 15) & ~(size_t)15;
	if (k == NULL || k->room - k->used < n) {
		size_t room = n > 16384 ? n : 16384;

		k = calloc(1, sizeof(*k) + room);
		if (k == NULL)
			return NULL;
		k->room = room;
		k->next = a->first;
		a->first = k;
	}
	p = k->mem + k->used;
	k->used += n;
	return p;
}

void
pd_arena_free(struct pd_arena *a)
{
	struct pd_chunk *next;

	if (a == NULL)
		return;
	for (struct pd_chunk *k = a->first; k != NULL; k = next) {
		next = k->next;
		free(k);
	}
	free(a);
}

void
scan_where(const struct pd_scan *c, const char *at, int *line, int *col)
{
	struct pd_mark m = c->mark;

	if (m.at == NULL || m.at > at)
		m = (struct pd_mark){ .at = c->text, .bol = c->text, .line = 1 };
	for (; m.at < at; m.at++)
		if (*m.at == '\n') {
			m.line++;
			m.bol = m.at + 1;
		}
	*line = m.line;
	*col = (int)(at - m.bol) + 1;
}

void
scan_mark(struct pd_scan *c)
{
	int line, col;

	scan_where(c, c->at, &line, &col);
	c->mark = (struct pd_mark){ .at = c->at, .bol = c->at - (col - 1), .line = line };
}

static _Noreturn void
leave(struct pd_scan *c, enum pd_status status, const char *fmt, va_list ap)
{
	c->e->status = status;
	scan_where(c, c->at, &c->e->line, &c->e->col);
	vsnprintf(c->e->text, sizeof(c->e->text), fmt, ap);
	longjmp(c->out, 1);
}

void
scan_fail(struct pd_scan *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	leave(c, PD_SYNTAX, fmt, ap);
	va_end(ap);
}

void
scan_unsupported(struct pd_scan *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	leave(c, PD_UNSUPPORTED, fmt, ap);
	va_end(ap);
}

void *
scan_take(struct pd_scan *c, size_t n)
{
	void *p = pd_arena_take(c->script->arena, n);

	if (p == NULL)
		scan_fail(c, "out of memory");
	return p;
}

const char *
scan_copy(struct pd_scan *c, const char *from, size_t n)
{
	char *s = scan_take(c, n + 1);

	memcpy(s, from, n);
	return s;
}

static bool
at_comment(const struct pd_scan *c)
{
	return *c->at == '#' || (c->end - c->at >= 2 && c->at[0] == '/' && (c->at[1] == '/' || c->at[1] == '*'));
}

void
scan_blank(struct pd_scan *c)
{
	while (c->at < c->end) {
		const char *close;

		if (isspace((unsigned char)*c->at)) {
			c->at++;
		} else if (at_comment(c) && (*c->at == '#' || c->at[1] == '/')) {
			close = memchr(c->at, '\n', (size_t)(c->end - c->at));
			c->at = close != NULL ? close + 1 : c->end;
		} else if (at_comment(c)) {
			close = memmem(c->at + 2, (size_t)(c->end - c->at - 2), "*/", 2);
			if (close == NULL)
				scan_fail(c, "this comment does not end");
			c->at = close + 2;
		} else {
			return;
		}
	}
}

int
scan_peek(struct pd_scan *c)
{
	scan_blank(c);
	if (c->at == c->end)
		return 0;
	if (*c->at == '\0')
		scan_fail(c, "a NUL byte");
	return (unsigned char)*c->at;
}

bool
scan_accept(struct pd_scan *c, const char *s)
{
	size_t n = strlen(s);

	scan_blank(c);
	if ((size_t)(c->end - c->at) < n || memcmp(c->at, s, n) != 0)
		return false;
	c->at += n;
	return true;
}

void
scan_expect(struct pd_scan *c, const char *s)
{
	char buf[32];

	if (!scan_accept(c, s))
		scan_fail(c, "expected '%s' before %s", s, scan_near(c, buf));
}

static bool
in_word(int ch)
{
	return isalnum(ch) || ch == '_';
}

bool
scan_accept_word(struct pd_scan *c, const char *w)
{
	const char *from;
	size_t n = strlen(w);

	scan_blank(c);
	from = c->at;
	if (!scan_accept(c, w))
		return false;
	if ((size_t)(c->end - from) > n && in_word((unsigned char)from[n])) {
		c->at = from;
		return false;
	}
	return true;
}

const char *
scan_word(struct pd_scan *c)
{
	const char *from;
	int ch = scan_peek(c);

	if (!isalpha(ch) && ch != '_')
		return NULL;
	for (from = c->at; c->at < c->end && in_word((unsigned char)*c->at); c->at++)
		continue;
	return scan_copy(c, from, (size_t)(c->at - from));
}

uint64_t
scan_number(struct pd_scan *c, const char *what, uint64_t max)
{
	char buf[32];
	int ch = scan_peek(c);
	unsigned int base = 10;
	uint64_t v = 0;
	const char *from = c->at;

	if (!isdigit(ch))
		scan_fail(c, "expected %s before %s", what, scan_near(c, buf));
	if (c->end - c->at > 2 && c->at[0] == '0' && (c->at[1] == 'x' || c->at[1] == 'X') && isxdigit((unsigned char)c->at[2])) {
		base = 16;
		c->at += 2;
	}
	for (; c->at < c->end; c->at++) {
		unsigned int d = (unsigned char)*c->at;

		if (base == 16 ? !isxdigit(d) : !isdigit(d))
			break;
		d = isdigit(d) ? d - '0' : (d | 32) - 'a' + 10;
		if (d > max || v > (max - d) / base) {
			c->at = from;
			scan_fail(c, "%s is above %llu", what, (unsigned long long)max);
		}
		v = v * base + d;
	}
	return v;
}

int64_t
scan_seconds(struct pd_scan *c)
{
	int64_t ns = 0, unit = 100000000;
	char buf[32];
	int ch = scan_peek(c);

	if (ch != '.' && !isdigit(ch))
		scan_fail(c, "expected a time before %s", scan_near(c, buf));
	if (ch != '.')
		ns = (int64_t)scan_number(c, "a time", 100000000) * 1000000000;
	/* "0...1": three dots are no fraction */
	if (c->end - c->at < 2 || *c->at != '.' || !isdigit((unsigned char)c->at[1])) {
		if (ch == '.')
			scan_fail(c, "expected a time before %s", scan_near(c, buf));
		return ns;
	}
	for (c->at++; c->at < c->end && isdigit((unsigned char)*c->at); c->at++, unit /= 10)
		ns += (*c->at - '0') * unit;
	return ns;
}

const char *
scan_near(struct pd_scan *c, char buf[32])
{
	unsigned int n = 0;

	if (c->at >= c->end)
		return "the end";
	buf[n++] = '\'';
	for (const char *p = c->at; p < c->end && n < 20 && (p == c->at || !isspace((unsigned char)*p)); p++)
		buf[n++] = isprint((unsigned char)*p) ? *p : '?';
	buf[n++] = '\'';
	buf[n] = '\0';
	return buf;
}

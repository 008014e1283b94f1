/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From text to entries with libinih. The packaged library cuts lines at 198 bytes and names at 49 without a word, takes
 * an indented line for more of the value above it, ignores what follows a section's header, and reports one syntax
 * error at most. So each line is looked at before it is fed: what can not be taken whole is a message, never a cut.
 */
#include "keys.h"

#include <ctype.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

struct lexer {
	struct config_ctx *c;
	const char *text, *end;
	int line;
	const char *raw;      /* the line in hand, without its end and BOM */
	size_t len;
	char section[CONFIG_MAX_NAME + 1];
	bool have_key;        /* a key came since the last header: an indented line continues it */
	bool skip;            /* under a header that could not be read */
};

static bool
add_entry(struct config_ctx *c, const struct config_entry *e)
{
	struct config_entry *grown;
	unsigned int cap;

	if (c->n == c->cap) {
		cap = c->cap ? 2 * c->cap : 64;
		grown = config_alloc(cap * sizeof(*grown));
		if (!grown)
			return false;
		if (c->n)
			memcpy(grown, c->e, c->n * sizeof(*grown));
		free(c->e);
		c->e = grown;
		c->cap = cap;
	}
	c->e[c->n++] = *e;
	return true;
}

/* Adds section, key and value as they are now; key and value are NULL for a header. */
static void
keep(struct lexer *x, const char *key, size_t key_len, const char *value, size_t value_len, bool cut)
{
	struct config_entry e = { .line = x->line, .cut = cut, .s = SECT_COUNT };
	struct config_ctx *c = x->c;

	if (c->oom)
		return;
	if (c->n == CONFIG_MAX_ENTRIES) {
		config_msg(c, true, x->line, NULL, NULL, NULL, "entry number %d; accepted: at most %d",
			CONFIG_MAX_ENTRIES + 1, CONFIG_MAX_ENTRIES);
		x->text = x->end;
		return;
	}
	e.section = config_strndup(x->section, strlen(x->section));
	e.key = key ? config_strndup(key, key_len) : NULL;
	e.value = key ? config_strndup(value, value_len) : NULL;
	if (!e.section || (key && (!e.key || !e.value)) || !add_entry(c, &e)) {
		free(e.section);
		free(e.key);
		free(e.value);
		c->oom = true;
	}
}

/* Where an inline comment (" ;") begins, or the end. */
static const char *
comment_in(const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p == ';' && isspace((unsigned char)p[-1]))
			return p;
	return end;
}

/* The value behind the = or : at sep; libinih's own rule, for lines that are too long for it. */
static const char *
value_span(const char *sep, const char *end, size_t *len)
{
	const char *stop = comment_in(sep + 1, end), *p = sep + 1;

	while (p < stop && isspace((unsigned char)*p))
		p++;
	while (stop > p && isspace((unsigned char)stop[-1]))
		stop--;
	*len = (size_t)(stop - p);
	return p;
}

static const char *
find_sep(const char *p, const char *end)
{
	for (; p < end && *p != '=' && *p != ':'; p++)
		;
	return p;
}

static int
on_pair(void *user, const char *section, const char *name, const char *value)
{
	struct lexer *x = user;
	const char *end = x->raw + x->len, *sep = find_sep(x->raw, end), *comment;
	size_t len = strlen(value);

	(void)section; /* x->section is the same, uncut */
	comment = comment_in(sep + 1, end);
	if (x->len > 120)
		value = value_span(sep, end, &len);
	keep(x, name, strlen(name), value, len, comment + 1 < end && isxdigit((unsigned char)comment[1]));
	x->have_key = true;
	return 1;
}

/* A line that begins with [. True: the library may see it. */
static bool
header(struct lexer *x, const char *p, const char *end)
{
	const char *stop = comment_in(p + 1, end), *close = memchr(p, ']', (size_t)(stop - p));
	const char *rest;

	x->skip = true;
	x->have_key = false;
	if (!close) {
		config_msg(x->c, true, x->line, NULL, NULL, NULL, "section header without ]; accepted: [section]");
		return false;
	}
	if (close - p - 1 > CONFIG_MAX_NAME) {
		config_msg(x->c, true, x->line, NULL, NULL, NULL,
			"section name of %d characters; accepted: at most %d", (int)(close - p - 1), CONFIG_MAX_NAME);
		return false;
	}
	for (rest = close + 1; rest < stop && isspace((unsigned char)*rest); rest++)
		;
	if (rest < stop && *rest != ';' && *rest != '#') {
		config_msg(x->c, true, x->line, NULL, NULL, NULL,
			"text after the section header; accepted: one header or key on a line");
		return false;
	}
	memset(x->section, 0, sizeof(x->section));
	memcpy(x->section, p + 1, (size_t)(close - p - 1));
	x->skip = false;
	keep(x, NULL, 0, NULL, 0, false);
	return true;
}

/* Anything else: must be key = value. True: the library may see it. */
static bool
pair(struct lexer *x, const char *p, const char *end)
{
	const char *stop = comment_in(p + 1, end), *sep = find_sep(p, stop), *q = sep;

	if (sep == stop) {
		config_msg(x->c, true, x->line, x->skip ? NULL : x->section, NULL, NULL,
			"neither a section, a comment nor a key; accepted: key = value");
		return false;
	}
	while (q > p && isspace((unsigned char)q[-1]))
		q--;
	/* Blanks behind the key are bounded too: the library sees the first 198 bytes. */
	if (q == p || q - p > CONFIG_MAX_NAME || sep - p > 3 * CONFIG_MAX_NAME) {
		config_msg(x->c, true, x->line, x->skip ? NULL : x->section, NULL, NULL,
			"key of %d characters; accepted: 1 to %d", (int)(q == p ? 0 : sep - p), CONFIG_MAX_NAME);
		return false;
	}
	return !x->skip;
}

/* Looks at the line in hand. True: the library may see it. */
static bool
admit(struct lexer *x)
{
	const char *p = x->raw, *end = x->raw + x->len;

	if (x->len > CONFIG_MAX_LINE) {
		config_msg(x->c, true, x->line, NULL, NULL, NULL, "line of %zu bytes; accepted: at most %d", x->len,
			CONFIG_MAX_LINE);
		return false;
	}
	if (memchr(p, '\0', x->len)) {
		config_msg(x->c, true, x->line, NULL, NULL, NULL, "line with a zero byte; accepted: text");
		return false;
	}
	while (p < end && isspace((unsigned char)*p))
		p++;
	if (p == end || *p == ';' || *p == '#')
		return false;
	if (p > x->raw && x->have_key && !x->skip) {
		config_msg(x->c, true, x->line, x->section, NULL, NULL,
			"the line begins with a blank, so that it would replace the value of the key above it; "
			"accepted: no blanks in front of a key or section");
		return false;
	}
	x->raw = p; /* without the indent, the library never takes it for a continuation */
	x->len = (size_t)(end - p);
	return *p == '[' ? header(x, p, end) : pair(x, p, end);
}

/* libinih's reader: one line of the file for each call, or an empty one in place of what was refused. */
static char *
next_line(char *str, int num, void *stream)
{
	struct lexer *x = stream;
	const char *nl;
	size_t len;

	if (x->text == x->end || num < 2 || x->c->oom)
		return NULL;
	nl = memchr(x->text, '\n', (size_t)(x->end - x->text));
	x->raw = x->text;
	x->len = (size_t)((nl ? nl : x->end) - x->text);
	x->text = nl ? nl + 1 : x->end;
	if (x->len > 0 && x->raw[x->len - 1] == '\r')
		x->len--;
	if (x->line++ == 0 && x->len >= 3 && memcmp(x->raw, "\xef\xbb\xbf", 3) == 0) {
		x->raw += 3;
		x->len -= 3;
	}
	str[0] = '\n';
	str[1] = '\0';
	if (!admit(x))
		return str;
	/* Key and separator always fit; a long value is taken from the line itself (on_pair). */
	len = x->len < (size_t)num - 2 ? x->len : (size_t)num - 2;
	memcpy(str, x->raw, len);
	str[len] = '\n';
	str[len + 1] = '\0';
	return str;
}

void
config_lex(struct config_ctx *c, const char *text, size_t len)
{
	struct lexer x = { .c = c, .text = text, .end = text + len };

	/* Its own result says nothing that a message does not; -2 is its memory. */
	if (ini_parse_stream(next_line, &x, on_pair, &x) == -2)
		c->oom = true;
}

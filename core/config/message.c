/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: one whole line each, collected, in the order of the file. */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_SHOWN 100 /* of a long value */

static void
put(struct config_ctx *c, bool error, int line, const char *text)
{
	struct config_messages *ms = c->msgs;
	struct config_message *grown;
	char *copy;

	if (ms->n == CONFIG_MAX_MESSAGES) {
		ms->errors += error;
		return;
	}
	/* Grows by doubling at the powers of two, so that no capacity needs to be kept. */
	if ((ms->n & (ms->n - 1)) == 0 && (ms->n == 0 || ms->n >= 8)) {
		grown = config_alloc((ms->n ? 2 * ms->n : 8) * sizeof(*grown));
		if (!grown) {
			c->oom = true;
			return;
		}
		if (ms->n)
			memcpy(grown, ms->m, ms->n * sizeof(*grown));
		free(ms->m);
		ms->m = grown;
	}
	copy = config_strndup(text, strlen(text));
	if (!copy) {
		c->oom = true;
		return;
	}
	ms->m[ms->n++] = (struct config_message){ .error = error, .line = line, .text = copy };
	ms->errors += error;
}

/* Appends text with what is not printable made visible; at most max bytes of it. */
static size_t
append(char *buf, size_t at, size_t n, const char *text, size_t max)
{
	const unsigned char *p;

	for (p = (const unsigned char *)text; *p && max > 0 && at + 5 < n; p++, max--) {
		if (*p >= 0x20 && *p != 0x7f)
			buf[at++] = (char)*p;
		else
			at += (size_t)snprintf(buf + at, n - at, "\\x%02x", *p);
	}
	if (*p && at + 4 < n)
		at += (size_t)snprintf(buf + at, n - at, "...");
	buf[at] = '\0';
	return at;
}

static void
vmsg(struct config_ctx *c, bool error, int line, const char *section, const char *key, const char *value,
	const char *fmt, va_list ap)
{
	char buf[2048], what[1024];
	size_t at = append(buf, 0, sizeof(buf), c->file, 512);

	if (line > 0)
		at += (size_t)snprintf(buf + at, sizeof(buf) - at, ":%d", line);
	at = append(buf, at, sizeof(buf), ": ", 2);
	if (section && section[0]) {
		at = append(buf, at, sizeof(buf), "[", 1);
		at = append(buf, at, sizeof(buf), section, VALUE_SHOWN);
		at = append(buf, at, sizeof(buf), key ? "] " : "]: ", 3);
	}
	if (key) {
		at = append(buf, at, sizeof(buf), key, VALUE_SHOWN);
		if (value) {
			at = append(buf, at, sizeof(buf), " = ", 3);
			at = append(buf, at, sizeof(buf), value, VALUE_SHOWN);
		}
		at = append(buf, at, sizeof(buf), ": ", 2);
	}
	vsnprintf(what, sizeof(what), fmt, ap);
	append(buf, at, sizeof(buf), what, sizeof(what));
	put(c, error, line, buf);
}

void
config_msg(struct config_ctx *c, bool error, int line, const char *section, const char *key, const char *value,
	const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmsg(c, error, line, section, key, value, fmt, ap);
	va_end(ap);
}

void
config_msg_key(struct config_ctx *c, bool error, enum key_section s, unsigned int index, const char *key,
	const char *fmt, ...)
{
	const struct config_entry *e = config_given(c, s, index, key);
	const struct config_key *k = config_key_find(s, key);
	char section[CONFIG_MAX_NAME + 1];
	va_list ap;

	config_section_text(s, index, section, sizeof(section));
	va_start(ap, fmt);
	vmsg(c, error, e ? e->line : 0, section, key, e ? e->value : k ? k->def : NULL, fmt, ap);
	va_end(ap);
}

void
config_msgs_sort(struct config_messages *msgs)
{
	struct config_message m;
	unsigned int i, j;

	/* Insertion keeps equal lines in order, and there are at most CONFIG_MAX_MESSAGES. */
	for (i = 1; i < msgs->n; i++) {
		m = msgs->m[i];
		for (j = i; j > 0 && (unsigned int)(msgs->m[j - 1].line - 1) > (unsigned int)(m.line - 1); j--)
			msgs->m[j] = msgs->m[j - 1];
		msgs->m[j] = m;
	}
}

void
config_messages_free(struct config_messages *msgs)
{
	unsigned int i;

	for (i = 0; i < msgs->n; i++)
		free(msgs->m[i].text);
	free(msgs->m);
	memset(msgs, 0, sizeof(*msgs));
}

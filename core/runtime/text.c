/* SPDX-License-Identifier: BSD-3-Clause */
/* Text into a buffer of fixed size. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

void
text_init(struct text *t, char *buf, size_t size)
{
	t->buf = buf;
	t->size = size;
	t->len = 0;
	t->cut = false;
	if (size > 0)
		buf[0] = '\0';
}

void
text_add(struct text *t, const char *fmt, ...)
{
	size_t room = t->size - t->len;
	va_list ap;
	int n;

	if (t->cut)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->size > 0 ? t->buf + t->len : NULL, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room) {
		t->cut = true;
		if (room > 0)
			t->buf[t->len] = '\0';
		return;
	}
	t->len += n;
}

void
text_json(struct text *t, const char *s)
{
	text_add(t, "\"");
	for (; *s != '\0'; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			text_add(t, "\\%c", c);
		else if (c < 0x20)
			text_add(t, "\\u%04x", c);
		else
			text_add(t, "%c", c);
	}
	text_add(t, "\"");
}

void
text_back(struct text *t, size_t len)
{
	if (len > t->len)
		return;
	t->len = len;
	t->cut = false;
	if (t->size > 0)
		t->buf[len] = '\0';
}

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

/* Length of the UTF-8 character at s (RFC 3629), or 0: it is none. */
static unsigned int
utf8_len(const unsigned char *s)
{
	unsigned int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (unsigned int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) /* overlong, surrogate */
		return 0;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) /* overlong, past U+10FFFF */
		return 0;
	return n;
}

void
text_json(struct text *t, const char *s)
{
	text_add(t, "\"");
	while (*s != '\0') {
		unsigned int n = utf8_len((const unsigned char *)s);
		unsigned char c = *s;

		if (n > 1) {
			text_add(t, "%.*s", (int)n, s);
			s += n;
			continue;
		}
		s++;
		if (c == '"' || c == '\\')
			text_add(t, "\\%c", c);
		else if (c < 0x20 || n == 0) /* a byte that is no text: by its number */
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

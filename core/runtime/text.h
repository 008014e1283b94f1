/* SPDX-License-Identifier: BSD-3-Clause */
/* Text into a buffer of fixed size: tables and JSON for control answers. Never overruns; says when it was cut. */
#ifndef NONIC_RUNTIME_TEXT_H
#define NONIC_RUNTIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *buf;    /* size bytes, always zero-terminated when size > 0 */
	size_t size, len;
	bool cut;     /* something did not fit; nothing of that piece was kept */
};

void text_init(struct text *t, char *buf, size_t size);
/* Appends all of it or nothing (then cut). */
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes; control characters, quotes and backslashes escaped. */
void text_json(struct text *t, const char *s);
/* Goes back to an earlier length, for a piece that did not fit as a whole; clears cut. */
void text_back(struct text *t, size_t len);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser's reading head: characters, numbers and words of a script, and the one way out when it is wrong.
 * Inside of the parser.
 */
#ifndef NONIC_SIM_PACKETDRILL_SCAN_H
#define NONIC_SIM_PACKETDRILL_SCAN_H

#include <setjmp.h>

#include "script.h"

/* A place whose line is known. */
struct pd_mark {
	const char *at, *bol;
	int line;
};

struct pd_scan {
	const char *text, *at, *end;
	struct pd_script *script;
	struct pd_error *e;
	unsigned int depth;        /* of nesting */
	struct pd_mark mark;       /* an earlier place */
	jmp_buf out;
};

/* Ends parsing at c's place. */
_Noreturn void scan_fail(struct pd_scan *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void scan_unsupported(struct pd_scan *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Line and column, from 1, of a place in the text. */
void scan_where(const struct pd_scan *c, const char *at, int *line, int *col);
/* Remembers the present place: later ones are counted from there. */
void scan_mark(struct pd_scan *c);
/* Zeroed memory that lives as long as the script. */
void *scan_take(struct pd_scan *c, size_t n);
/* A copy, with a NUL behind. */
const char *scan_copy(struct pd_scan *c, const char *from, size_t n);

/* Over blanks, line ends and comments. */
void scan_blank(struct pd_scan *c);
/* The character there, after blanks; 0 at the end. A NUL in the text is a syntax error. */
int scan_peek(struct pd_scan *c);
/* Takes the text s if it stands there, after blanks. */
bool scan_accept(struct pd_scan *c, const char *s);
void scan_expect(struct pd_scan *c, const char *s);
/* Does the word w stand there (and end there)? Takes it. */
bool scan_accept_word(struct pd_scan *c, const char *w);
/* [A-Za-z_][A-Za-z0-9_]*, a copy; NULL when none stands there. */
const char *scan_word(struct pd_scan *c);
/* A number without sign, decimal or 0x, at most max. */
uint64_t scan_number(struct pd_scan *c, const char *what, uint64_t max);
/* Seconds with an optional fraction, as ns. */
int64_t scan_seconds(struct pd_scan *c);
/* What stands there, for messages: at most a few characters. */
const char *scan_near(struct pd_scan *c, char buf[32]);

/* parse_packet.c: behind "<" or ">". */
struct pd_packet *parse_packet(struct pd_scan *c, bool inbound);
/* parse_call.c: a call with its result; its name stands there. */
struct pd_call *parse_call(struct pd_scan *c);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command's function as the program would, and keeps what it printed. */
#ifndef NONIC_UNIT_CLI_CAPTURE_H
#define NONIC_UNIT_CLI_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/cmds.h"

struct capture {
	char out[65536], err[8192];
};

static inline void
capture_read(FILE *f, char *buf, size_t n)
{
	size_t got;

	rewind(f);
	got = fread(buf, 1, n - 1, f);
	buf[got] = '\0';
	fclose(f);
}

/* words: the command line, separated by blanks. Returns the exit code. */
static inline int
capture_run(struct capture *c, cli_fn *fn, const char *words)
{
	char line[1024], *argv[32], *save;
	int argc = 0, rc, old_out = dup(1), old_err = dup(2);
	FILE *out = tmpfile(), *err = tmpfile();

	assert_true(out != NULL && err != NULL && strlen(words) < sizeof(line));
	strcpy(line, words);
	for (char *w = strtok_r(line, " ", &save); w != NULL && argc < 31; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	fflush(stdout);
	fflush(stderr);
	dup2(fileno(out), 1);
	dup2(fileno(err), 2);
	rc = fn(argc, argv);
	fflush(stdout);
	fflush(stderr);
	dup2(old_out, 1);
	dup2(old_err, 2);
	close(old_out);
	close(old_err);
	capture_read(out, c->out, sizeof(c->out));
	capture_read(err, c->err, sizeof(c->err));
	return rc;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options of the nonic commands: strict, with messages that name the argument and what was expected. */
#ifndef NONIC_CLI_OPTS_H
#define NONIC_CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 }; /* exit codes */

struct cli_opt {
	const char *name;    /* "conf": --conf X, --conf=X */
	char letter;         /* 'c': -c X, -cX, -c=X; 0: none */
	bool *flag;          /* an option without a value sets this */
	const char **value;  /* one with a value stores it here */
};

struct cli_cmd {
	const char *name;    /* "primary" */
	const char *args;    /* "[-c FILE]", for the usage line */
	const char *help;    /* the text of --help, behind the usage line */
};

/*
 * Parses argv[1..]: options of opts (n_opts) in any place, "--" ends them; the rest is left in order in argv[1..], their
 * number in *npos, at most max_pos. -h and --help print the command's help to stdout.
 * Returns -1: go on; else the exit code (CLI_OK after --help, CLI_USAGE after a message on stderr).
 */
int cli_parse(const struct cli_cmd *cmd, int argc, char **argv, const struct cli_opt *opts, unsigned int n_opts,
	unsigned int max_pos, unsigned int *npos);
/* "nonic CMD: message" and a hint to --help, on stderr. Returns CLI_USAGE. */
int cli_usage(const struct cli_cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "nonic CMD: message" on stderr. Returns CLI_FAILED. */
int cli_fail(const struct cli_cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The end of a command: flushes stdout. The exit code, or CLI_FAILED with a message on stderr when not all that was
 * printed got out (a full disk, a closed descriptor).
 */
int cli_end(int rc);
/* A decimal number of min .. max, or false. */
bool cli_number(const char *word, unsigned long min, unsigned long max, unsigned long *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options of the nonic commands. */
#include "opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
cli_usage(const struct cli_cmd *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "nonic %s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (see 'nonic %s --help')\n", cmd->name);
	return CLI_USAGE;
}

int
cli_fail(const struct cli_cmd *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "nonic %s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	return CLI_FAILED;
}

int
cli_end(int rc)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return rc;
	fprintf(stderr, "nonic: standard output: %s\n", errno != 0 ? strerror(errno) : "not everything could be written");
	return rc == CLI_OK ? CLI_FAILED : rc;
}

bool
cli_number(const char *word, unsigned long min, unsigned long max, unsigned long *out)
{
	unsigned long v;
	char *end;

	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	v = strtoul(word, &end, 10);
	if (*end != '\0' || errno != 0 || v < min || v > max)
		return false;
	*out = v;
	return true;
}

/* Finds the option that arg is; *value is the text behind '=' (or the letter), if any. */
static const struct cli_opt *
find(const char *arg, const struct cli_opt *opts, unsigned int n_opts, const char **value)
{
	*value = NULL;
	for (unsigned int i = 0; i < n_opts; i++) {
		size_t len = strlen(opts[i].name);

		if (arg[1] == '-') {
			if (strncmp(arg + 2, opts[i].name, len) != 0 || (arg[2 + len] != '\0' && arg[2 + len] != '='))
				continue;
			if (arg[2 + len] == '=')
				*value = arg + 3 + len;
			return &opts[i];
		}
		if (opts[i].letter != '\0' && arg[1] == opts[i].letter) {
			if (arg[2] != '\0')
				*value = arg + 2 + (arg[2] == '='); /* -c=X is F-Stack's too */
			return &opts[i];
		}
	}
	return NULL;
}

static int
help(const struct cli_cmd *cmd)
{
	printf("usage: nonic %s%s%s\n\n%s", cmd->name, cmd->args[0] != '\0' ? " " : "", cmd->args, cmd->help);
	return CLI_OK;
}

int
cli_parse(const struct cli_cmd *cmd, int argc, char **argv, const struct cli_opt *opts, unsigned int n_opts,
	unsigned int max_pos, unsigned int *npos)
{
	bool only_pos = false;

	*npos = 0;
	for (int i = 1; i < argc; i++) {
		const struct cli_opt *o;
		const char *value;

		if (only_pos || argv[i][0] != '-' || argv[i][1] == '\0') {
			if (*npos == max_pos)
				return cli_usage(cmd, "unexpected argument '%s'", argv[i]);
			argv[1 + (*npos)++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			only_pos = true;
			continue;
		}
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
			return help(cmd);
		o = find(argv[i], opts, n_opts, &value);
		if (o == NULL)
			return cli_usage(cmd, "unknown option '%s'", argv[i]);
		if (o->flag != NULL) {
			if (value != NULL)
				return cli_usage(cmd, "option --%s takes no value, got '%s'", o->name, value);
			*o->flag = true;
			continue;
		}
		if (value == NULL && i + 1 < argc)
			value = argv[++i];
		if (value == NULL)
			return cli_usage(cmd, "option --%s needs a value", o->name);
		*o->value = value;
	}
	return -1;
}

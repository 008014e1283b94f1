/* SPDX-License-Identifier: BSD-3-Clause */
/* Options; see cli_opts.h. */
#include "cli_opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
parse_u64(const char *s, const char **end, uint64_t *out)
{
	char *e;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoull(s, &e, 0);
	*end = e;
	return errno == 0;
}

static bool
parse_range(const char *v, bool range, struct sim_range *r)
{
	const char *end;

	if (!parse_u64(v, &end, &r->first))
		return false;
	r->last = r->first;
	r->given = true;
	if (!range)
		return *end == '\0';
	return strncmp(end, "..", 2) == 0 && parse_u64(end + 2, &end, &r->last) && *end == '\0' && r->last >= r->first;
}

static bool
set(const char *cmd, const struct sim_opt *o, const char *v)
{
	const char *end;
	bool good = true;

	if (v == NULL) {
		fprintf(stderr, "%s: %s wants a value\n", cmd, o->name);
		return false;
	}
	if (o->kind == SIM_OPT_TEXT)
		*(const char **)o->to = v;
	else if (o->kind == SIM_OPT_NUMBER)
		good = parse_u64(v, &end, o->to) && *end == '\0';
	else
		good = parse_range(v, o->kind == SIM_OPT_RANGE, o->to);
	if (!good)
		fprintf(stderr, "%s: %s %s: expected %s\n", cmd, o->name, v,
			o->kind == SIM_OPT_RANGE ? "A..B, A not above B" : "a number");
	return good;
}

/* The option that argv[i] names, or NULL. *value: where its value is, if it has one; *used: arguments taken. */
static const struct sim_opt *
which(int argc, char **argv, int i, const struct sim_opt *opt, unsigned int n, const char **value, int *used)
{
	for (unsigned int k = 0; k < n; k++) {
		size_t len = strlen(opt[k].name);
		char after = strncmp(argv[i], opt[k].name, len) == 0 ? argv[i][len] : 'x';

		*used = 1;
		*value = argv[i] + len + 1;
		if (after == '\0' && opt[k].kind == SIM_OPT_FLAG)
			return &opt[k];
		if (after == '=' && opt[k].kind != SIM_OPT_FLAG)
			return &opt[k];
		*used = 2;
		*value = i + 1 < argc ? argv[i + 1] : NULL;
		if (after == '\0')
			return &opt[k];
	}
	return NULL;
}

bool
sim_opts_parse(const char *cmd, int argc, char **argv, const struct sim_opt *opt, unsigned int n, const char **name)
{
	*name = NULL;
	for (int i = 1, used; i < argc; i += used) {
		const char *v;
		const struct sim_opt *o = which(argc, argv, i, opt, n, &v, &used);

		if (o != NULL && o->kind == SIM_OPT_FLAG)
			*(bool *)o->to = true;
		else if (o != NULL) {
			if (!set(cmd, o, v))
				return false;
		} else if (argv[i][0] != '-' && *name == NULL) {
			*name = argv[i];
			used = 1;
		} else {
			fprintf(stderr, "%s: %s: what is this? See --help\n", cmd, argv[i]);
			return false;
		}
	}
	return true;
}

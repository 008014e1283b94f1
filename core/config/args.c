/* SPDX-License-Identifier: BSD-3-Clause */
/* F-Stack's command line (CFG-1): --conf, --proc-id, --proc-type. */
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const type_names[] = { "auto", "primary", "secondary", NULL };

/* Is argv[*i] the option? Then its value, taken from behind = or from the next argument (*i moves); NULL: there is none. */
static bool
option(int argc, char *const argv[], int *i, const char *letter, const char *word, const char **value)
{
	const char *a = argv[*i];
	size_t n = strlen(word);

	if (strcmp(a, letter) == 0 || strcmp(a, word) == 0)
		*value = *i + 1 < argc ? argv[++*i] : NULL;
	else if (strncmp(a, word, n) == 0 && a[n] == '=')
		*value = a + n + 1;
	else if (strncmp(a, letter, 2) == 0)
		*value = a + 2 + (a[2] == '=');
	else
		return false;
	return true;
}

static void
set_id(struct config_ctx *c, struct config_args *out, const char *value)
{
	char why[96];
	uint64_t v = 0;

	if (config_parse_u64(value, 0, CONFIG_MAX_LCORES - 1, &v, why, sizeof(why)))
		config_msg(c, true, 0, NULL, "--proc-id", value, "%s; accepted: a whole number 0..%d", why,
			CONFIG_MAX_LCORES - 1);
	else
		out->proc_id = (int)v;
}

static void
set_type(struct config_ctx *c, struct config_args *out, const char *value)
{
	int i;

	for (i = 0; type_names[i]; i++)
		if (strcmp(type_names[i], value) == 0) {
			out->proc_type = (enum config_proc_type)i;
			return;
		}
	config_msg(c, true, 0, NULL, "--proc-type", value, "unknown word; accepted: primary, secondary, auto");
}

int
config_args_parse(int argc, char *const argv[], struct config_args *out, struct config_messages *msgs)
{
	struct config_ctx c = { .msgs = msgs, .file = "command line" };
	const char *value, *name;
	int i;

	memset(msgs, 0, sizeof(*msgs));
	*out = (struct config_args){ .conf = "config.ini", .proc_id = -1, .proc_type = PROC_AUTO };
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		name = argv[i];
		value = NULL;
		if (option(argc, argv, &i, "-c", "--conf", &value)) {
			if (value && value[0])
				out->conf = value;
		} else if (option(argc, argv, &i, "-p", "--proc-id", &value)) {
			if (value && value[0])
				set_id(&c, out, value);
		} else if (option(argc, argv, &i, "-t", "--proc-type", &value)) {
			if (value && value[0])
				set_type(&c, out, value);
		} else {
			break;
		}
		if (!value || !value[0])
			config_msg(&c, true, 0, NULL, name, NULL, "its value is missing; accepted: %s VALUE", name);
	}
	out->rest = i;
	return c.oom ? -ENOMEM : msgs->errors ? -EINVAL : 0;
}

int
config_apply_args(struct nonic_config *cfg, const struct config_args *args, struct config_messages *msgs)
{
	struct config_ctx c = { .cfg = cfg, .msgs = msgs, .file = "command line" };
	unsigned int before = msgs->errors, workers;
	char id[16];

	cfg->proc_id = args->proc_id;
	cfg->proc_type = args->proc_type;
	snprintf(id, sizeof(id), "%d", args->proc_id);
	workers = cfg->thread_mode ? 1 : cfg->nb_lcores;
	if (args->proc_id >= 0 && (unsigned int)args->proc_id >= workers)
		config_msg(&c, true, 0, NULL, "--proc-id", id,
			"[dpdk] lcore_mask%s makes %u process%s; accepted: 0..%u", cfg->thread_mode ? " with thread_mode = 1" : "",
			workers, workers == 1 ? "" : "es", workers ? workers - 1 : 0);
	if (cfg->thread_mode && args->proc_type == PROC_SECONDARY)
		config_msg(&c, true, 0, NULL, "--proc-type", "secondary",
			"[dpdk] thread_mode = 1 has one process, the primary; accepted: primary, auto");
	return c.oom ? -ENOMEM : msgs->errors > before ? -EINVAL : 0;
}

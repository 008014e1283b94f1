/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic check-config, nonic config-reference (CFG-7). */
#include <stdio.h>
#include <string.h>

#include "../config/config.h"
#include "../runtime/text.h"
#include "cmds.h"

static const struct cli_cmd check_cmd = { "check-config", "[--strict] [--json] FILE",
	"Reads FILE (F-Stack's config.ini) and prints the effective configuration, defaults included. Warnings and\n"
	"errors go to stderr, each with file, line, section, key, value and what is accepted. Exit code 1 on any error.\n\n"
	"  --strict     unknown sections and keys are errors\n"
	"  --json       print messages and the effective configuration as one JSON object\n"
	"  --reference  print the page of all keys instead\n" };

static const struct cli_cmd ref_cmd = { "config-reference", "",
	"Prints every configuration key with type, default and range, as Markdown.\n" };

static void
line_out(void *ctx, const char *text)
{
	(void)ctx;
	puts(text);
}

static void
json_string(const char *s)
{
	char buf[8192];
	struct text t;

	text_init(&t, buf, sizeof(buf));
	text_json(&t, s);
	fputs(t.cut ? "\"\"" : buf, stdout);
}

static void
json_line(void *ctx, const char *text)
{
	bool *first = ctx;

	if (!*first)
		putchar(',');
	*first = false;
	json_string(text);
}

static void
print_json(const struct nonic_config *cfg, const struct config_messages *msgs, bool ok)
{
	bool first = true;

	printf("{\"ok\":%s,\"errors\":%u,\"warnings\":%u,\"messages\":[", ok ? "true" : "false", msgs->errors,
		msgs->n - msgs->errors);
	for (unsigned int i = 0; i < msgs->n; i++) {
		printf("%s{\"error\":%s,\"line\":%d,\"text\":", i > 0 ? "," : "", msgs->m[i].error ? "true" : "false",
			msgs->m[i].line);
		json_string(msgs->m[i].text);
		printf("}");
	}
	printf("],\"effective\":[");
	if (ok)
		config_print(cfg, &(struct config_out){ json_line, &first });
	printf("]}\n");
}

static int
reference(void)
{
	config_reference(&(struct config_out){ line_out, NULL });
	return CLI_OK;
}

int
cmd_check_config(int argc, char **argv)
{
	bool strict = false, json = false, ref = false;
	const struct cli_opt opts[] = {
		{ "strict", 's', &strict, NULL }, { "json", 0, &json, NULL }, { "reference", 0, &ref, NULL },
	};
	struct config_messages msgs;
	struct nonic_config cfg;
	unsigned int npos;
	int rc = cli_parse(&check_cmd, argc, argv, opts, 3, 1, &npos);

	if (rc >= 0)
		return rc;
	if (ref)
		return reference();
	if (npos == 0)
		return cli_usage(&check_cmd, "expected the name of a configuration file");
	rc = config_load(argv[1], strict ? CONFIG_STRICT : 0, &cfg, &msgs);
	if (json) {
		print_json(&cfg, &msgs, rc == 0);
	} else {
		for (unsigned int i = 0; i < msgs.n; i++)
			fprintf(stderr, "%s: %s\n", msgs.m[i].error ? "error" : "warning", msgs.m[i].text);
		if (rc == 0)
			config_print(&cfg, &(struct config_out){ line_out, NULL });
		else
			fprintf(stderr, "%s: %u error%s, %u warning%s\n", argv[1], msgs.errors, msgs.errors == 1 ? "" : "s",
				msgs.n - msgs.errors, msgs.n - msgs.errors == 1 ? "" : "s");
	}
	config_messages_free(&msgs);
	config_free(&cfg);
	return rc == 0 ? CLI_OK : CLI_FAILED;
}

int
cmd_config_reference(int argc, char **argv)
{
	unsigned int npos;
	int rc = cli_parse(&ref_cmd, argc, argv, NULL, 0, 0, &npos);

	return rc >= 0 ? rc : reference();
}

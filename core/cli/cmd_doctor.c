/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic doctor: prints the findings. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/text.h"
#include "cmds.h"
#include "doctor.h"

static const struct cli_cmd cmd = { "doctor", "[-c FILE] [--json]",
	"Looks at hugepages, mounts, TAP, runtime files and, with -c FILE, at what that configuration needs: CPUs, devices,\n"
	"queues, addresses. Each finding says what is missing and the command that mends it. Exit code 1 if anything\n"
	"that is needed is missing.\n\n"
	"  -c, --conf FILE  a configuration (default: config.ini, when there is one)\n"
	"  --json           findings as one JSON object\n" };

static const char *const level_name[] = { "ok", "warning", "missing" };

static void
print_json(const struct doctor *d)
{
	char buf[8 * 320];
	struct text t;

	printf("{\"ok\":%s,\"findings\":[", doctor_failed(d) ? "false" : "true");
	for (unsigned int i = 0; i < d->n; i++) {
		text_init(&t, buf, sizeof(buf));
		text_add(&t, "%s{\"level\":\"%s\",\"id\":\"%s\",\"text\":", i > 0 ? "," : "", level_name[d->f[i].level],
			d->f[i].id);
		text_json(&t, d->f[i].text);
		text_add(&t, ",\"fix\":");
		text_json(&t, d->f[i].fix);
		text_add(&t, "}");
		fputs(buf, stdout);
	}
	printf("]}\n");
}

static void
print_text(const struct doctor *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		printf("%-8s %-10s %s\n", level_name[d->f[i].level], d->f[i].id, d->f[i].text);
		if (d->f[i].fix[0] != '\0')
			printf("%-19s mend it: %s\n", "", d->f[i].fix);
	}
}

int
cmd_doctor(int argc, char **argv)
{
	struct machine m = { .root = "", .is_root = geteuid() == 0 };
	const char *conf = NULL;
	bool json = false, have = false;
	const struct cli_opt opts[] = { { "conf", 'c', NULL, &conf }, { "json", 0, &json, NULL } };
	struct config_messages msgs;
	struct nonic_config cfg;
	struct doctor d;
	unsigned int npos;
	int rc = cli_parse(&cmd, argc, argv, opts, 2, 0, &npos);

	if (rc >= 0)
		return rc;
	if (conf == NULL && access("config.ini", R_OK) == 0)
		conf = "config.ini";
	rc = 0;
	if (conf != NULL) {
		have = true;
		rc = config_load(conf, 0, &cfg, &msgs);
	}
	doctor_run(&d, &m, have && rc == 0 ? &cfg : NULL);
	if (have && rc != 0) {
		char fix[320];
		const char *first = "";

		for (unsigned int i = msgs.n; i-- > 0;)
			if (msgs.m[i].error)
				first = msgs.m[i].text;
		snprintf(fix, sizeof(fix), "nonic check-config %.200s", conf);
		doctor_add(&d, DOCTOR_FAIL, "config", fix, "%s", first);
	}
	if (json)
		print_json(&d);
	else
		print_text(&d);
	if (have) {
		config_messages_free(&msgs);
		config_free(&cfg);
	}
	return doctor_failed(&d) ? CLI_FAILED : CLI_OK;
}

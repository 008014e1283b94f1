/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading what can be read of a configuration with errors. */
#include "lenient.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/layout.h"

/* Does a line of the file that is no comment have the word in it? What can not be read (again: a pipe) may. */
static bool
mentions(const char *conf, const char *word)
{
	struct stat st;
	FILE *f = stat(conf, &st) == 0 && S_ISREG(st.st_mode) ? fopen(conf, "re") : NULL;
	bool found = f == NULL;
	char line[1024];

	while (!found && fgets(line, sizeof(line), f) != NULL) {
		const char *p = line;

		while (isspace((unsigned char)*p))
			p++;
		found = *p != ';' && *p != '#' && strstr(p, word) != NULL;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

/* Is it certain what file prefix the file means? */
static bool
prefix_known(const char *conf, const struct nonic_config *cfg, const struct config_messages *msgs)
{
	for (unsigned int i = 0; i < msgs->n; i++)
		if (msgs->m[i].error && strstr(msgs->m[i].text, "] file_prefix") != NULL)
			return false;
	if (cfg->file_prefix != NULL)
		return true;
	/* the default, if the section was read and nothing in the file looks as if it should name one */
	return cfg->nb_lcores > 0 && !mentions(conf, "file_prefix");
}

int
lenient_config(const struct cli_cmd *cmd, const char *conf, struct nonic_config *cfg, bool *faulty)
{
	struct config_messages msgs;
	const char *first = "";
	char prefix[256];
	int rc;

	*faulty = false;
	if (access(conf, R_OK) < 0) {
		memset(cfg, 0, sizeof(*cfg));
		return cli_fail(cmd, "%s: %s: name the configuration with --conf FILE", conf, strerror(errno));
	}
	rc = config_load(conf, 0, cfg, &msgs);
	for (unsigned int i = msgs.n; i-- > 0;)
		if (msgs.m[i].error)
			first = msgs.m[i].text;
	if (rc == 0) {
		rc = -1;
	} else if (rc != -EINVAL || cfg->file == NULL) {
		rc = cli_fail(cmd, "%s", first[0] != '\0' ? first : strerror(-rc));
	} else if (!prefix_known(conf, cfg, &msgs)) {
		rc = cli_fail(cmd, "%s has errors (the first: %s), and what [dpdk] file_prefix it means can not be told: correct "
			"it, or name a file with the prefix of the test bed that runs", conf, first);
	} else {
		layout_file_prefix(cfg, prefix, sizeof(prefix));
		fprintf(stderr, "nonic %s: warning: %s has %u error%s (the first: %s); going on with its file prefix %s\n", cmd->name,
			conf, msgs.errors, msgs.errors == 1 ? "" : "s", first, prefix);
		*faulty = true;
		rc = -1;
	}
	config_messages_free(&msgs);
	return rc;
}

void
lenient_cpu(const struct machine *m, struct nonic_config *cfg)
{
	cpu_set_t set;

	if (cfg->nb_lcores > 0 && (machine_cpus(m) == 0 || machine_cpu_online(m, cfg->proc_lcore[0])))
		return;
	if (cfg->nb_lcores == 0)
		cfg->nb_lcores = 1;
	cfg->proc_lcore[0] = 0;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	for (unsigned int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set)) {
			cfg->proc_lcore[0] = (uint16_t)i;
			return;
		}
}

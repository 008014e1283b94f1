/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a config file: loading ends with messages or a configuration and never crashes; what is printed of a
 * configuration loads to an equal one with the same digest and prints the same again (CFG-1, CFG-2, CFG-6, CFG-7).
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "unit/config/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what does not hold and ends, so that the fuzzer keeps the input. */
static void
must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_config: %s\n", what);
	abort();
}

static void
check_messages(const struct config_messages *ms)
{
	unsigned int i, errors = 0;

	for (i = 0; i < ms->n; i++) {
		errors += ms->m[i].error;
		must(strncmp(ms->m[i].text, "fuzz", 4) == 0, "a message without the file's name");
		must(i == 0 || ms->m[i].line == 0 || (ms->m[i - 1].line > 0 && ms->m[i - 1].line <= ms->m[i].line),
			"messages out of order");
	}
	must(ms->errors >= errors, "errors not counted");
}

/* The command line and the EAL's arguments of a configuration that loaded. */
static void
check_eal(const struct nonic_config *cfg)
{
	char **v;
	int n;

	must(config_eal_args(cfg, "p", cfg->nb_lcores - 1, CONFIG_EAL_PRIMARY, &v, &n) == 0, "no EAL arguments");
	must(n >= 3 && v[n] == NULL, "EAL arguments without an end");
	config_eal_args_free(v);
}

static void
check_round(const struct nonic_config *a)
{
	struct nonic_config *b = malloc(sizeof(*b));
	uint8_t da[CONFIG_DIGEST_LEN], db[CONFIG_DIGEST_LEN];
	struct config_messages ms;
	struct text ta, tb;
	char name[128];

	must(b != NULL, "memory");
	text_of(&ta, a);
	must(config_load_mem("fuzz-printed", ta.p, ta.n, CONFIG_STRICT, b, &ms) == 0, "printed text does not load");
	text_of(&tb, b);
	must(strcmp(ta.p, tb.p) == 0, "printing twice differs");
	must(!config_diff(a, b, name, sizeof(name)), "printed text loads to another configuration");
	must(config_same(a, b), "a member is not printed");
	config_device_digest(a, da);
	config_device_digest(b, db);
	must(memcmp(da, db, sizeof(da)) == 0, "digest changes by printing");
	text_free(&ta);
	text_free(&tb);
	config_free(b);
	config_messages_free(&ms);
	free(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nonic_config *cfg = malloc(sizeof(*cfg));
	struct config_messages ms;
	int rc;

	must(cfg != NULL, "memory");
	rc = config_load_mem("fuzz", (const char *)data, size, 0, cfg, &ms);
	must(rc == 0 || rc == -EINVAL, "an unknown result");
	must((rc == 0) == (ms.errors == 0), "result and messages disagree");
	check_messages(&ms);
	if (rc == 0) {
		check_eal(cfg);
		check_round(cfg);
	}
	config_free(cfg);
	config_messages_free(&ms);
	free(cfg);
	return 0;
}

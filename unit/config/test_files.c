/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every file of fixtures/config: good ones load without an error, bad ones do not, and the messages are exactly those
 * that the file's first lines announce ("; expect: SUBSTRING", one for each warning of a good file, each error of a bad one).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "text.h"

#define MAX_EXPECT 16

static unsigned int
read_expectations(const char *file, char expect[MAX_EXPECT][512])
{
	static const char mark[] = "; expect: ";
	char line[8192];
	unsigned int n = 0;
	FILE *f = fopen(file, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && strncmp(line, mark, strlen(mark)) == 0) {
		line[strcspn(line, "\n")] = '\0';
		assert_true(n < MAX_EXPECT);
		snprintf(expect[n++], 512, "%.500s", line + strlen(mark));
	}
	fclose(f);
	return n;
}

/* Messages of one kind and expectations pair off, and each message has its whole form. */
static void
compare(const char *file, const struct config_messages *ms, bool error, char expect[MAX_EXPECT][512], unsigned int n)
{
	bool used[MAX_EXPECT] = { false };
	unsigned int i, j;

	for (i = 0; i < ms->n; i++) {
		if (ms->m[i].error != error)
			continue;
		for (j = 0; j < n && (used[j] || !strstr(ms->m[i].text, expect[j])); j++)
			;
		if (j == n)
			fail_msg("%s: unexpected message: %s", file, ms->m[i].text);
		used[j] = true;
		assert_memory_equal(ms->m[i].text, file, strlen(file));
		if (error)
			assert_non_null(strstr(ms->m[i].text, "accepted: "));
		if (i > 0 && ms->m[i].line > 0)
			assert_in_range(ms->m[i - 1].line, 1, ms->m[i].line);
	}
	for (j = 0; j < n; j++)
		if (!used[j])
			fail_msg("%s: no such message: %s", file, expect[j]);
}

static unsigned int
run_all(const char *pattern, bool good)
{
	char expect[MAX_EXPECT][512];
	struct nonic_config *cfg = malloc(sizeof(*cfg));
	struct config_messages ms;
	unsigned int i, n;
	glob_t g;
	int rc;

	assert_non_null(cfg);
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (i = 0; i < g.gl_pathc; i++) {
		n = read_expectations(g.gl_pathv[i], expect);
		rc = config_load(g.gl_pathv[i], 0, cfg, &ms);
		compare(g.gl_pathv[i], &ms, !good, expect, n);
		assert_int_equal(rc, good ? 0 : -EINVAL);
		if (good)
			assert_int_equal(ms.errors, 0);
		else
			assert_true(n > 0 && ms.errors == n);
		config_free(cfg);
		config_messages_free(&ms);
	}
	n = (unsigned int)g.gl_pathc;
	globfree(&g);
	free(cfg);
	return n;
}

/* CFG-1, CFG-2, CFG-4, CFG-5, CFG-8 */
static void
every_bad_file_says_file_line_key_value_and_what_is_accepted(void **state)
{
	(void)state;
	assert_true(run_all(FIXTURES "/config/bad/*.ini", false) >= 60);
}

/* CFG-1, CFG-3, CFG-4, CFG-5, CFG-8 */
static void
every_good_file_loads_with_the_warnings_it_deserves(void **state)
{
	(void)state;
	assert_true(run_all(FIXTURES "/config/good/*.ini", true) >= 30);
}

/* CFG-1 */
static void
fstack_stock_file_loads_without_a_message(void **state)
{
	struct nonic_config *cfg = malloc(sizeof(*cfg));
	struct config_messages ms;

	(void)state;
	assert_non_null(cfg);
	assert_int_equal(config_load(FIXTURES "/config/good/fstack-stock.ini", CONFIG_STRICT, cfg, &ms), 0);
	assert_int_equal(ms.n, 0);
	assert_int_equal(cfg->nb_lcores, 1);
	assert_int_equal(cfg->channel, 4);
	assert_true(cfg->promiscuous && cfg->numa_on && cfg->vlan_strip);
	assert_false(cfg->tx_csum_skip || cfg->tso || cfg->symmetric_rss || cfg->mtu_enable);
	assert_int_equal(cfg->pkt_tx_delay_us, 100);
	assert_int_equal(cfg->nb_ports, 1);
	assert_true(cfg->port[0].a.has_v4 && !cfg->port[0].a.has_v6);
	assert_string_equal(cfg->port[0].if_name, "f-stack-0");
	assert_int_equal(cfg->port[0].mtu, 1500);
	assert_int_equal(cfg->hz, 100);
	assert_int_equal(cfg->fd_reserve, 1024);
	assert_string_equal(cfg->pairs[0].key, "kern.ncallout");
	assert_string_equal(cfg->pairs[0].value, "262144");
	assert_string_equal(cfg->pairs[cfg->nb_pairs - 1].section, "freebsd.sysctl");
	assert_string_equal(cfg->pairs[cfg->nb_pairs - 1].key, "net.inet.ip.forwarding");
	config_free(cfg);
	config_messages_free(&ms);
	free(cfg);
}

/* CFG-7: what is printed loads to the same configuration, without a new message. */
static void
every_good_file_prints_to_a_file_that_loads_to_the_same(void **state)
{
	struct nonic_config *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	struct config_messages ma, mb;
	struct text ta, tb;
	char name[128];
	unsigned int i;
	glob_t g;

	(void)state;
	assert_true(a && b);
	assert_int_equal(glob(FIXTURES "/config/good/*.ini", 0, NULL, &g), 0);
	for (i = 0; i < g.gl_pathc; i++) {
		assert_int_equal(config_load(g.gl_pathv[i], 0, a, &ma), 0);
		text_of(&ta, a);
		assert_int_equal(config_load_mem("printed", ta.p, ta.n, 0, b, &mb), 0);
		text_of(&tb, b);
		assert_string_equal(ta.p, tb.p);
		if (config_diff(a, b, name, sizeof(name)) || !config_same(a, b))
			fail_msg("%s: printing changes %s", g.gl_pathv[i], name);
		text_free(&ta);
		text_free(&tb);
		config_free(a);
		config_free(b);
		config_messages_free(&ma);
		config_messages_free(&mb);
	}
	globfree(&g);
	free(a);
	free(b);
}

/* CFG-7 */
static void
reference_page_is_up_to_date(void **state)
{
	struct config_out out = { text_line, NULL };
	struct text t = { 0 };
	char *page;
	long n;
	FILE *f = fopen(REFERENCE, "r");

	(void)state;
	assert_non_null(f);
	out.ctx = &t;
	config_reference(&out);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	page = calloc(1, (size_t)n + 1);
	assert_non_null(page);
	assert_int_equal(fread(page, 1, (size_t)n, f), (size_t)n);
	assert_string_equal(page, t.p); /* mend it with: nonic check-config --reference > core/config/REFERENCE.md */
	free(page);
	text_free(&t);
	fclose(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bad_file_says_file_line_key_value_and_what_is_accepted),
		cmocka_unit_test(every_good_file_loads_with_the_warnings_it_deserves),
		cmocka_unit_test(fstack_stock_file_loads_without_a_message),
		cmocka_unit_test(every_good_file_prints_to_a_file_that_loads_to_the_same),
		cmocka_unit_test(reference_page_is_up_to_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

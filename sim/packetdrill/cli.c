/* SPDX-License-Identifier: BSD-3-Clause */
/* `nonic packetdrill`: scripts and directories of scripts, one line each, then a total. */
#include "../cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../core/stack/addr.h"
#include "../crash.h"
#include "run.h"

#define DIRS_MAX 64 /* of directories in directories */
#define REASONS_MAX 256

static const char usage[] =
	"usage: nonic packetdrill [options] FILE|DIR...\n"
	"\n"
	"Runs packet scripts against one stack, in virtual time. A directory stands for every *.pkt below it.\n"
	"\n"
	"  --persona P      freebsd, linux or auto (default): whose option order, buffers and tolerances\n"
	"  --strict         options byte by byte in their order, windows exactly; default: as sets, and a window may be larger\n"
	"  --ip-version V   ipv4 or ipv6: only runs of that version; default: what the script says, or both\n"
	"  --reasons        behind the total: why scripts were skipped, and how many\n"
	"  --json           results as JSON\n"
	"\n"
	"Exit code: 0 none failed (skipped ones count as not failed), 1 one failed, 2 usage.\n";

struct reason {
	char text[160];
	unsigned int n;
};

struct args {
	int persona;               /* enum pd_persona, -1: by script */
	uint8_t family;            /* 0: all */
	bool strict, json, reasons, help;
	char **file;               /* all scripts */
	unsigned int nfiles, room;
};

struct totals {
	unsigned int count[3];     /* by verdict */
	struct reason reason[REASONS_MAX];
	unsigned int nreasons;
};

static bool
add_file(struct args *a, const char *path)
{
	if (a->nfiles == a->room) {
		unsigned int room = a->room * 2 + 16;
		char **to = realloc(a->file, room * sizeof(*to));

		if (to == NULL)
			return false;
		a->file = to;
		a->room = room;
	}
	a->file[a->nfiles] = strdup(path);
	return a->file[a->nfiles] != NULL && ++a->nfiles;
}

static bool
is_script(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".pkt") == 0;
}

/* Every *.pkt below path, by name. False after a line on stderr. */
static bool
add_dir(struct args *a, const char *path, unsigned int depth)
{
	struct dirent **e;
	int n = depth < DIRS_MAX ? scandir(path, &e, NULL, alphasort) : -1;
	bool good = n >= 0;

	if (n < 0)
		fprintf(stderr, "nonic packetdrill: %s: %s\n", path, depth < DIRS_MAX
			? strerror(errno) : "too many directories in directories");
	for (int i = 0; i < n; i++) {
		char *sub = NULL;
		struct stat st;

		if (good && e[i]->d_name[0] != '.' && asprintf(&sub, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
			e[i]->d_name) >= 0) {
			if (lstat(sub, &st) == 0 && S_ISDIR(st.st_mode))
				good = add_dir(a, sub, depth + 1);
			else if (is_script(sub))
				good = add_file(a, sub);
			free(sub);
		}
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	return good;
}

static bool
bad(const char *arg, const char *what)
{
	fprintf(stderr, "nonic packetdrill: %s: %s (see 'nonic packetdrill --help')\n", arg, what);
	return false;
}

static bool
bad_value(const char *name, const char *value, const char *what)
{
	fprintf(stderr, "nonic packetdrill: %s '%s': expected %s (see 'nonic packetdrill --help')\n", name, value, what);
	return false;
}

/* The value of --name=V or --name V; NULL: it is not that option. */
static const char *
option(int argc, char **argv, int *i, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0)
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	return argv[*i][n] == '\0' ? *i + 1 < argc ? argv[++*i] : "" : NULL;
}

static bool
parse(struct args *a, int argc, char **argv)
{
	bool words = false;

	a->persona = -1;
	for (int i = 1; i < argc; i++) {
		const char *v;
		struct stat st;

		if (words || argv[i][0] != '-') {
			if (stat(argv[i], &st) != 0)
				return bad(argv[i], strerror(errno));
			if (S_ISDIR(st.st_mode) ? !add_dir(a, argv[i], 0) : !add_file(a, argv[i]))
				return false;
		} else if (strcmp(argv[i], "--") == 0) {
			words = true;
		} else if ((v = option(argc, argv, &i, "--persona")) != NULL) {
			a->persona = strcmp(v, "freebsd") == 0 ? PD_FREEBSD : strcmp(v, "linux") == 0 ? PD_LINUX : strcmp(v, "auto") == 0
				? -1 : -2;
			if (a->persona == -2)
				return bad_value("--persona", v, "freebsd, linux or auto");
		} else if ((v = option(argc, argv, &i, "--ip-version")) != NULL) {
			a->family = strcmp(v, "ipv4") == 0 ? ADDR_INET : strcmp(v, "ipv6") == 0 ? ADDR_INET6 : 1;
			if (a->family == 1)
				return bad_value("--ip-version", v, "ipv4 or ipv6");
		} else if (strcmp(argv[i], "--strict") == 0) {
			a->strict = true;
		} else if (strcmp(argv[i], "--json") == 0) {
			a->json = true;
		} else if (strcmp(argv[i], "--reasons") == 0) {
			a->reasons = true;
		} else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			a->help = true;
		} else {
			return bad(argv[i], "unknown option");
		}
	}
	return a->help || a->nfiles > 0 || bad("FILE|DIR", "expected a script, or a directory with *.pkt files below it");
}

/* The whole file; NULL with a sentence in why. */
static char *
slurp(const char *path, size_t *n, char *why, size_t nwhy)
{
	FILE *f = fopen(path, "rb");
	char *text = f != NULL ? malloc(PD_FILE_MAX + 2) : NULL;

	if (text == NULL)
		snprintf(why, nwhy, "%s", strerror(errno));
	else
		*n = fread(text, 1, PD_FILE_MAX + 1, f);
	if (text != NULL && ferror(f)) {
		snprintf(why, nwhy, "%s", strerror(errno));
		free(text);
		text = NULL;
	}
	if (f != NULL)
		fclose(f);
	return text;
}

static void
put_json(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 32)
			printf("\\u%04x", (unsigned int)(unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void
count_reason(struct totals *t, const char *why)
{
	char text[sizeof(t->reason[0].text)];
	unsigned int i;

	snprintf(text, sizeof(text), "%.150s", why);
	for (i = 0; i < t->nreasons && strcmp(t->reason[i].text, text) != 0; i++)
		continue;
	if (i == REASONS_MAX)
		i--; /* the last one stands for the rest */
	else if (i == t->nreasons)
		memcpy(t->reason[t->nreasons++].text, text, sizeof(text));
	t->reason[i].n++;
}

static void
report(const struct args *a, struct totals *t, const char *file, const char *version, const struct pd_result *r)
{
	static const char *const verdicts[] = { "PASS", "FAIL", "SKIP" };
	char where[32] = "";

	if (a->json) {
		printf("%s\n {\"file\": ", t->count[0] + t->count[1] + t->count[2] > 0 ? "," : "");
		put_json(file);
		printf(", \"ip_version\": %s%s%s, \"verdict\": \"%s\", \"line\": %d, \"why\": ", *version != '\0' ? "\"" : "",
			*version != '\0' ? version : "null",
			*version != '\0' ? "\"" : "", verdicts[r->verdict], r->line);
		put_json(r->why);
		printf(", \"packets\": %u, \"virtual_s\": %.6f}", r->packets, (double)r->virtual_ns / 1e9);
	} else {
		if (r->line > 0)
			snprintf(where, sizeof(where), "line %d: ", r->line);
		printf("%s %s%s%s%s%s%s%s\n", verdicts[r->verdict], file, *version != '\0' ? " (" : "", version, *version != '\0'
			? ")" : "",
			r->verdict == PD_PASS ? "" : ": ", where, r->why);
	}
	t->count[r->verdict]++;
	if (r->verdict == PD_SKIP)
		count_reason(t, r->why);
}

static void
run_script(const struct args *a, struct totals *t, const char *file, const struct pd_script *s)
{
	struct pd_conf c[2];
	struct pd_result r = { .verdict = PD_SKIP };
	unsigned int n = pd_families(s, c, r.why, sizeof(r.why));

	if (n == 0)
		report(a, t, file, "", &r);
	for (unsigned int i = 0; i < n; i++) {
		const char *version = c[i].family == ADDR_INET ? "ipv4" : "ipv6";

		if (a->family != 0 && c[i].family != a->family)
			continue;
		c[i].persona = a->persona >= 0 ? (enum pd_persona)a->persona : pd_persona_of(s);
		c[i].strict = a->strict;
		crash_note("nonic packetdrill: %s (%s)\n", file, version);
		pd_run(s, &c[i], &r);
		crash_note("%s", "");
		report(a, t, file, n == 2 ? version : "", &r);
	}
}

static void
run_file(const struct args *a, struct totals *t, const char *file)
{
	struct pd_result r = { .verdict = PD_FAIL };
	struct pd_script *s;
	struct pd_error e;
	size_t n = 0;
	char *text = slurp(file, &n, r.why, sizeof(r.why));

	if (text == NULL) {
		report(a, t, file, "", &r);
		return;
	}
	if (pd_parse(text, n, &s, &e) == PD_GOOD) {
		run_script(a, t, file, s);
		pd_script_free(s);
	} else {
		r.verdict = e.status == PD_UNSUPPORTED ? PD_SKIP : PD_FAIL;
		r.line = e.line;
		snprintf(r.why, sizeof(r.why), e.status == PD_UNSUPPORTED ? "%s" : "%s (column %d)", e.text, e.col);
		report(a, t, file, "", &r);
	}
	free(text);
}

static int
by_count(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->text, y->text);
}

static void
put_totals(const struct args *a, struct totals *t)
{
	qsort(t->reason, t->nreasons, sizeof(t->reason[0]), by_count);
	if (a->json) {
		printf("\n], \"passed\": %u, \"failed\": %u, \"skipped\": %u, \"reasons\": [", t->count[PD_PASS], t->count[PD_FAIL],
			t->count[PD_SKIP]);
		for (unsigned int i = 0; i < t->nreasons; i++) {
			printf("%s\n {\"n\": %u, \"why\": ", i > 0 ? "," : "", t->reason[i].n);
			put_json(t->reason[i].text);
			putchar('}');
		}
		puts("]}");
		return;
	}
	printf("%u passed, %u failed, %u skipped\n", t->count[PD_PASS], t->count[PD_FAIL], t->count[PD_SKIP]);
	for (unsigned int i = 0; a->reasons && i < t->nreasons; i++)
		printf("%6u  %s\n", t->reason[i].n, t->reason[i].text);
}

int
sim_cli_packetdrill(int argc, char **argv)
{
	struct args a = { 0 };
	struct totals *t = calloc(1, sizeof(*t));
	int rc = 2;

	if (t != NULL && parse(&a, argc, argv)) {
		rc = 0;
		if (a.help) {
			fputs(usage, stdout);
		} else {
			crash_catch();
			if (a.json)
				printf("{\"results\": [");
			for (unsigned int i = 0; i < a.nfiles; i++)
				run_file(&a, t, a.file[i]);
			put_totals(&a, t);
			rc = t->count[PD_FAIL] > 0;
		}
		if (fflush(stdout) != 0 || ferror(stdout)) {
			fprintf(stderr, "nonic packetdrill: not all results could be written\n");
			rc = 1;
		}
	}
	for (unsigned int i = 0; i < a.nfiles; i++)
		free(a.file[i]);
	free(a.file);
	free(t);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the simulator; see cli.h. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct args {
	const char *scenario, *pcap, *trace, *out;
	uint64_t first, last;
	bool json, twice, help, seeds_given;
};

struct totals {
	uint64_t seeds, failed, events, frames, virtual_ns, real_ns;
};

static const char usage[] =
	"usage: nonic sim run SCENARIO|all [--seed N | --seeds A..B] [options]\n"
	"\n"
	"Runs scenarios in virtual time. The same seed gives the same run, byte for byte.\n"
	"\n"
	"  --seed N       one seed (default: 1)\n"
	"  --seeds A..B   all seeds from A to B\n"
	"  --twice        run each seed twice and compare the trace hashes\n"
	"  --pcap FILE    capture every wire, as sent; FILE's .arrived twin: as arrived (one scenario, one seed)\n"
	"  --trace FILE   write the event log (one scenario, one seed)\n"
	"  --out DIR      where the capture and the event log of a failed seed go (default: .)\n"
	"  --json         results as JSON\n"
	"\n"
	"Exit code: 0 every seed passed, 1 a seed failed, 2 usage.\n";

/* ---- a crash names its seed too ---- */

static char crash_note[256];

static void
on_crash(int sig)
{
	size_t left = strlen(crash_note);
	const char *p = crash_note;

	while (left > 0) {
		ssize_t n = write(STDERR_FILENO, p, left);

		if (n <= 0)
			break;
		p += n;
		left -= (size_t)n;
	}
	raise(sig); /* SA_RESETHAND: now the default */
}

static void
crash_catch(void)
{
	static char stack[65536];
	const stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };

	sigaltstack(&ss, NULL);
	sigaction(SIGABRT, &sa, NULL);
#ifndef SIM_WITH_ASAN
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
#endif
}

/* ---- arguments ---- */

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
parse_seeds(struct args *a, const char *opt, const char *v)
{
	const char *end;
	bool range = strcmp(opt, "--seeds") == 0;

	if (parse_u64(v, &end, &a->first)) {
		a->last = a->first;
		a->seeds_given = true;
		if (!range && *end == '\0')
			return true;
		if (range && strncmp(end, "..", 2) == 0 && parse_u64(end + 2, &end, &a->last) && *end == '\0' &&
			a->last >= a->first)
			return true;
	}
	fprintf(stderr, "nonic sim run: %s %s: expected %s\n", opt, v, range ? "A..B, A not above B" : "a number");
	return false;
}

static bool
parse_valued(struct args *a, const char *opt, const char *v)
{
	if (v == NULL) {
		fprintf(stderr, "nonic sim run: %s wants a value\n", opt);
		return false;
	}
	if (strcmp(opt, "--pcap") == 0)
		a->pcap = v;
	else if (strcmp(opt, "--trace") == 0)
		a->trace = v;
	else if (strcmp(opt, "--out") == 0)
		a->out = v;
	else
		return parse_seeds(a, opt, v);
	return true;
}

/* "--x=v" is "--x" "v": the value's place, or NULL when the option is not `name`. *used: arguments taken. */
static bool
option(int argc, char **argv, int i, const char *name, const char **value, int *used)
{
	size_t n = strlen(name);

	if (strncmp(argv[i], name, n) != 0 || (argv[i][n] != '\0' && argv[i][n] != '='))
		return false;
	*used = argv[i][n] == '=' ? 1 : 2;
	*value = argv[i][n] == '=' ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : NULL;
	return true;
}

static bool
parse_one(struct args *a, int argc, char **argv, int *i)
{
	static const char *const valued[] = { "--seeds", "--seed", "--pcap", "--trace", "--out" };
	const char *v;
	int used;

	for (unsigned int k = 0; k < sizeof(valued) / sizeof(valued[0]); k++)
		if (option(argc, argv, *i, valued[k], &v, &used)) {
			*i += used;
			return parse_valued(a, valued[k], v);
		}
	if (strcmp(argv[*i], "--json") == 0)
		a->json = true;
	else if (strcmp(argv[*i], "--twice") == 0)
		a->twice = true;
	else if (strcmp(argv[*i], "--help") == 0 || strcmp(argv[*i], "-h") == 0)
		a->help = true;
	else if (argv[*i][0] != '-' && a->scenario == NULL)
		a->scenario = argv[*i];
	else {
		fprintf(stderr, "nonic sim run: %s: what is this? See --help\n", argv[*i]);
		return false;
	}
	++*i;
	return true;
}

static bool
parse(struct args *a, int argc, char **argv)
{
	*a = (struct args){ .first = 1, .last = 1, .out = "." };
	for (int i = 1; i < argc;)
		if (!parse_one(a, argc, argv, &i))
			return false;
	if (a->help)
		return true;
	if (a->scenario == NULL) {
		fputs("nonic sim run: which scenario? `nonic sim list` names them, `all` is all\n", stderr);
		return false;
	}
	if ((a->pcap != NULL || a->trace != NULL) && (a->first != a->last || strcmp(a->scenario, "all") == 0)) {
		fputs("nonic sim run: --pcap and --trace are for one scenario and one seed\n", stderr);
		return false;
	}
	return true;
}

/* ---- running ---- */

static uint64_t
real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* 0, or -errno after a line on stderr. */
static int
run_once(const struct sim_scenario *sc, const struct sim_options *o, struct sim_result *r)
{
	int rc;

	snprintf(crash_note, sizeof(crash_note), "\nnonic sim: scenario %s crashed with seed %" PRIu64 "\nreplay: nonic sim run "
		"%s --seed %" PRIu64 " --trace FILE --pcap FILE\n", sc->name, o->seed, sc->name, o->seed);
	rc = sim_scenario_run(sc, o, r);
	crash_note[0] = '\0';
	if (rc != 0)
		fprintf(stderr, "nonic sim: %s: the world could not be made: %s%s%s\n", sc->name, strerror(-rc),
			o->pcap != NULL ? ", " : "", o->pcap != NULL ? o->pcap : "");
	return rc;
}

/* The failed run once more, this time with capture and event log; the words to go with it. */
static void
bundle(const struct args *a, const struct sim_scenario *sc, const struct sim_result *first)
{
	char pcap[512], trace[512];
	struct sim_options o = { .seed = first->seed, .pcap = a->pcap, .trace = a->trace };
	struct sim_result r;

	if (o.pcap == NULL || o.trace == NULL) {
		snprintf(pcap, sizeof(pcap), "%s/sim-%s-%" PRIu64 ".pcap", a->out, sc->name, first->seed);
		snprintf(trace, sizeof(trace), "%s/sim-%s-%" PRIu64 ".log", a->out, sc->name, first->seed);
		o.pcap = o.pcap != NULL ? o.pcap : pcap;
		o.trace = o.trace != NULL ? o.trace : trace;
		if (run_once(sc, &o, &r) != 0)
			return;
		if (r.hash != first->hash)
			fprintf(stderr, "  NOT DETERMINISTIC: the second run of this seed has another trace hash\n");
	}
	fprintf(stderr, "  packets: %s\n  events:  %s\n", o.pcap, o.trace);
}

static void
failed(const struct args *a, const struct sim_scenario *sc, const struct sim_result *r)
{
	fprintf(stderr, "FAILED %s seed %" PRIu64 "\n  %s\n  replay:  nonic sim run %s --seed %" PRIu64 "\n", sc->name, r->seed,
		r->why, sc->name, r->seed);
	bundle(a, sc, r);
}

/* One seed: 0 passed, 1 failed (everything is said), negative errno. */
static int
run_seed(const struct args *a, const struct sim_scenario *sc, uint64_t seed, struct totals *t)
{
	const struct sim_options o = { .seed = seed, .pcap = a->pcap, .trace = a->trace };
	const struct sim_options bare = { .seed = seed };
	struct sim_result r, again;
	uint64_t begin = real_ns();
	int rc = run_once(sc, &o, &r);

	if (rc != 0)
		return rc;
	t->real_ns += real_ns() - begin;
	t->seeds++;
	t->events += r.events;
	t->frames += r.frames;
	t->virtual_ns += r.virtual_ns;
	if (a->twice && !r.failed) {
		rc = run_once(sc, &bare, &again);
		if (rc != 0)
			return rc;
		if (again.hash != r.hash) {
			r.failed = true;
			snprintf(r.why, sizeof(r.why), "two runs of this seed differ: trace hash %016" PRIx64 " and %016"
				PRIx64, r.hash, again.hash);
		}
	}
	if (!r.failed)
		return 0;
	t->failed++;
	failed(a, sc, &r);
	return 1;
}

static void
add(struct totals *all, const struct totals *t)
{
	all->seeds += t->seeds;
	all->failed += t->failed;
	all->events += t->events;
	all->frames += t->frames;
	all->virtual_ns += t->virtual_ns;
	all->real_ns += t->real_ns;
}

static void
print(const char *name, const struct totals *t, bool json, bool last)
{
	double virt = (double)t->virtual_ns / 1e9, real = (double)t->real_ns / 1e9;
	double ratio = real > 0 ? virt / real : 0, rate = real > 0 ? (double)t->seeds / real * 60 : 0;

	if (json)
		printf("{\"scenario\":\"%s\",\"seeds\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"events\":%" PRIu64 ",\"frames\":%"
			PRIu64 ",\"virtual_s\":%.3f,\"real_s\":%.3f,\"ratio\":%.0f,\"seeds_per_minute\":%.0f}%s", name,
			t->seeds, t->failed, t->events, t->frames, virt, real, ratio, rate, last ? "" : ",");
	else
		printf("%-14s  %6" PRIu64 " seed%s  %4" PRIu64 " failed  %10" PRIu64 " events  %9.1f s virtual  %5.0fx real time  %6.0f "
			"seeds/min\n", name, t->seeds, t->seeds == 1 ? " " : "s", t->failed, t->events, virt, ratio, rate);
	fflush(stdout);
}

static int
run_scenario(const struct args *a, const struct sim_scenario *sc, bool progress, struct totals *t)
{
	int rc = 0;

	for (uint64_t seed = a->first;; seed++) {
		if (progress)
			fprintf(stderr, "\r\033[K%s: seed %" PRIu64 " of %" PRIu64 "..%" PRIu64, sc->name, seed, a->first,
				a->last);
		rc = run_seed(a, sc, seed, t);
		if (rc < 0 || seed == a->last)
			break;
	}
	if (progress)
		fprintf(stderr, "\r\033[K");
	return rc < 0 ? rc : 0;
}

int
sim_cli_run_table(const struct sim_scenario *const *table, int argc, char **argv)
{
	struct totals all = { 0 };
	bool progress, found = false;
	struct args a;

	if (!parse(&a, argc, argv))
		return 2;
	if (a.help)
		return fputs(usage, stdout) < 0;
	crash_catch();
	/* worlds come and go: their memory stays with the process */
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 16 << 20);
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	progress = isatty(STDERR_FILENO) && !a.json;
	if (a.json)
		printf("{\"scenarios\":[");
	for (unsigned int i = 0; table[i] != NULL; i++) {
		struct totals t = { 0 };

		if (strcmp(a.scenario, "all") != 0 && strcmp(a.scenario, table[i]->name) != 0)
			continue;
		if (found && a.json)
			printf(",");
		found = true;
		if (run_scenario(&a, table[i], progress, &t) != 0)
			return 1;
		print(table[i]->name, &t, a.json, true);
		add(&all, &t);
	}
	if (!found) {
		if (a.json)
			printf("]}\n");
		fprintf(stderr, "nonic sim run: there is no scenario %s: see `nonic sim list`\n", a.scenario);
		return 2;
	}
	if (a.json)
		printf("],\"total\":");
	print("total", &all, a.json, true);
	if (a.json)
		printf("}\n");
	return all.failed != 0;
}

int
sim_cli_run(int argc, char **argv)
{
	return sim_cli_run_table(sim_scenarios, argc, argv);
}

int
sim_cli_list(bool json)
{
	if (json)
		printf("[");
	for (unsigned int i = 0; sim_scenarios[i] != NULL; i++) {
		const struct sim_scenario *sc = sim_scenarios[i];

		if (json)
			printf("%s{\"name\":\"%s\",\"description\":\"%s\"}", i > 0 ? "," : "", sc->name, sc->description);
		else
			printf("%-14s  %s\n", sc->name, sc->description);
	}
	if (json)
		printf("]\n");
	return fflush(stdout) != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* `sim list` and `sim run`; see cli.h. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_opts.h"
#include "crash.h"
#include "jobs.h"
#include "schedule.h"

#define SHRINK_RUNS 200u
#define MAX_ACTIONS 4096u

struct args {
	const char *scenario, *pcap, *trace, *out, *schedule, *without;
	struct sim_range seeds;
	uint64_t jobs;
	bool json, twice, tso, help;
	struct schedule sched;
	uint8_t skip[MAX_ACTIONS / 8];
};

/* Of one scenario, added up over the jobs. */
struct totals {
	uint64_t seeds, failed, events, frames, virtual_ns, real_ns;
	int rc;
};

struct work {
	const struct args *a;
	const struct sim_scenario *sc;
	bool progress;
};

static const char usage[] =
	"usage: nonic sim run SCENARIO|all [--seed N | --seeds A..B] [options]\n"
	"\n"
	"Runs scenarios in virtual time. The same seed gives the same run, byte for byte.\n"
	"\n"
	"  --seed N       one seed (default: 1)\n"
	"  --seeds A..B   all seeds from A to B\n"
	"  --jobs N       so many processes (default: one for each processor)\n"
	"  --twice        run each seed twice and compare the trace hashes\n"
	"  --tso          stores are delayed as on x86, whatever the scenario draws\n"
	"  --schedule S   the schedule that an explorer printed (one scenario, one seed)\n"
	"  --without L    leave out these actions of the scenario, e.g. 0..3,7 (one scenario, one seed)\n"
	"  --pcap FILE    capture every wire, as sent; FILE's .arrived twin: as arrived (one scenario, one seed)\n"
	"  --trace FILE   write the event log (one scenario, one seed)\n"
	"  --out DIR      where the capture and the event log of a failed seed go (default: .)\n"
	"  --json         results as JSON\n"
	"\n"
	"Exit code: 0 every seed passed, 1 a seed failed, 2 usage.\n";

/* ---- arguments ---- */

/* "0..3,7" */
static bool
parse_without(struct args *a)
{
	const char *p = a->without;

	while (p != NULL && *p != '\0') {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end != p && strncmp(end, "..", 2) == 0)
			to = strtoul(end + 2, &end, 10);
		if (end == p || (*end != '\0' && *end != ',') || to < from || to >= MAX_ACTIONS) {
			fprintf(stderr, "nonic sim run: --without %s: expected numbers below %u and ranges, e.g. 0..3,7\n", a->without,
				MAX_ACTIONS);
			return false;
		}
		for (; from <= to; from++)
			a->skip[from / 8] |= (uint8_t)(1u << (from % 8));
		p = *end == ',' ? end + 1 : end;
	}
	return true;
}

static bool
parse(struct args *a, int argc, char **argv)
{
	const struct sim_opt opt[] = {
		{ "--seeds", SIM_OPT_RANGE, &a->seeds }, { "--seed", SIM_OPT_ONE, &a->seeds }, { "--jobs", SIM_OPT_NUMBER, &a->jobs },
		{ "--twice", SIM_OPT_FLAG, &a->twice }, { "--tso", SIM_OPT_FLAG, &a->tso }, { "--schedule", SIM_OPT_TEXT, &a->schedule },
		{ "--without", SIM_OPT_TEXT, &a->without }, { "--pcap", SIM_OPT_TEXT, &a->pcap }, { "--trace", SIM_OPT_TEXT, &a->trace },
		{ "--out", SIM_OPT_TEXT, &a->out }, { "--json", SIM_OPT_FLAG, &a->json }, { "--help", SIM_OPT_FLAG, &a->help },
		{ "-h", SIM_OPT_FLAG, &a->help },
	};

	*a = (struct args){ .seeds = { 1, 1, false }, .out = ".", .jobs = jobs_cpus() };
	if (!sim_opts_parse("nonic sim run", argc, argv, opt, sizeof(opt) / sizeof(opt[0]), &a->scenario))
		return false;
	if (a->help)
		return true;
	if (a->scenario == NULL) {
		fputs("nonic sim run: which scenario? `nonic sim list` names them, `all` is all\n", stderr);
		return false;
	}
	if ((a->pcap != NULL || a->trace != NULL || a->schedule != NULL || a->without != NULL) &&
		(a->seeds.first != a->seeds.last || strcmp(a->scenario, "all") == 0)) {
		fputs("nonic sim run: --pcap, --trace, --schedule and --without are for one scenario and one seed\n", stderr);
		return false;
	}
	if (a->schedule != NULL && schedule_parse(&a->sched, a->schedule) != 0) {
		fprintf(stderr, "nonic sim run: --schedule %s: not a schedule: POINT:PROCESS[kSTORES], POINT:+NS or POINT:x, with commas\n",
			a->schedule);
		return false;
	}
	return parse_without(a);
}

/* ---- running ---- */

/* 0, or -errno after a line on stderr. */
static int
run_once(const struct sim_scenario *sc, const struct sim_options *o, struct sim_result *r)
{
	int rc;

	crash_note("\nnonic sim: scenario %s crashed with seed %" PRIu64 "\nreplay: nonic sim run %s --seed %" PRIu64
		" --trace FILE --pcap FILE\n", sc->name, o->seed, sc->name, o->seed);
	rc = sim_scenario_run(sc, o, r);
	crash_note("%s", "");
	if (rc != 0)
		fprintf(stderr, "nonic sim: %s: the world could not be made: %s%s%s\n", sc->name, strerror(-rc),
			o->pcap != NULL ? ", " : "", o->pcap != NULL ? o->pcap : "");
	return rc;
}

/* One seed: 0 passed, 1 failed (everything is said), negative errno. */
static int
run_seed(const struct args *a, const struct sim_scenario *sc, uint64_t seed, struct totals *t)
{
	struct schedule_player pl = { .s = &a->sched };
	struct sim_options o = { .seed = seed, .pcap = a->pcap, .trace = a->trace, .store_buffer = a->tso };
	struct sim_result r, again;
	uint64_t begin = jobs_clock_ns();
	int rc;

	if (a->schedule != NULL) {
		o.decide = schedule_play;
		o.decide_ctx = &pl;
	}
	if (a->without != NULL) {
		o.skip = a->skip;
		o.nb_skip = MAX_ACTIONS;
	}
	rc = run_once(sc, &o, &r);
	if (rc != 0)
		return rc;
	jobs_add(&t->real_ns, jobs_clock_ns() - begin);
	jobs_add(&t->seeds, 1);
	jobs_add(&t->events, r.events);
	jobs_add(&t->frames, r.frames);
	jobs_add(&t->virtual_ns, r.virtual_ns);
	pl.next = 0;
	if (a->twice && !r.failed) {
		struct sim_options bare = o;

		bare.pcap = bare.trace = NULL;
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
	jobs_add(&t->failed, 1);
	sim_cli_failed(sc, &o, &r, a->out, a->schedule, SHRINK_RUNS);
	return 1;
}

/* The column of names is as wide as the longest. */
static int
name_width(const struct sim_scenario *const *table)
{
	size_t width = strlen("total");

	for (; *table != NULL; table++)
		if (strlen((*table)->name) > width)
			width = strlen((*table)->name);
	return (int)width;
}

static void
print(const char *name, const struct totals *t, uint64_t wall_ns, const struct args *a, int width)
{
	double virt = (double)t->virtual_ns / 1e9, real = (double)wall_ns / 1e9;
	double ratio = real > 0 ? virt / real : 0, rate = real > 0 ? (double)t->seeds / real * 60 : 0;

	if (a->json)
		printf("{\"scenario\":\"%s\",\"seeds\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"events\":%" PRIu64 ",\"frames\":%"
			PRIu64 ",\"virtual_s\":%.3f,\"real_s\":%.3f,\"ratio\":%.0f,\"seeds_per_minute\":%.0f}", name,
			t->seeds, t->failed, t->events, t->frames, virt, real, ratio, rate);
	else
		printf("%-*s  %6" PRIu64 " seed%s  %4" PRIu64 " failed  %10" PRIu64 " events  %9.1f s virtual  %5.0fx real time  %6.0f "
			"seeds/min\n", width, name, t->seeds, t->seeds == 1 ? " " : "s", t->failed, t->events, virt, ratio, rate);
	fflush(stdout);
}

static bool
seed_task(void *ctx, uint64_t i, void *shared)
{
	const struct work *k = ctx;
	struct totals *t = shared;
	int rc = run_seed(k->a, k->sc, k->a->seeds.first + i, t);

	if (rc < 0)
		__atomic_store_n(&t->rc, rc, __ATOMIC_RELAXED);
	return rc >= 0;
}

static void
seed_progress(void *ctx, uint64_t done, const void *shared)
{
	const struct work *k = ctx;
	uint64_t all = k->a->seeds.last - k->a->seeds.first + 1;
	const struct totals *t = shared;

	if (k->progress)
		fprintf(stderr, "\r\033[K%s: %" PRIu64 " of %" PRIu64 " seeds, %" PRIu64 " failed", k->sc->name, done, all,
			__atomic_load_n(&t->failed, __ATOMIC_RELAXED));
}

static int
run_scenario(const struct args *a, const struct sim_scenario *sc, bool progress, struct totals *t)
{
	struct work k = { .a = a, .sc = sc, .progress = progress };
	const struct jobs j = { .n = (unsigned int)a->jobs, .tasks = a->seeds.last - a->seeds.first + 1, .task = seed_task,
		.progress = seed_progress, .ctx = &k };
	struct totals *sh = jobs_shared(sizeof(*sh));
	int rc;

	if (sh == NULL)
		return -ENOMEM;
	rc = jobs_run(&j, sh);
	if (progress)
		fprintf(stderr, "\r\033[K");
	*t = *sh;
	jobs_shared_free(sh, sizeof(*sh));
	return rc != 0 ? rc : t->rc;
}

void
sim_cli_prepare(void)
{
	crash_catch();
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 16 << 20);
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
}

static void
add(struct totals *all, const struct totals *t)
{
	all->seeds += t->seeds;
	all->failed += t->failed;
	all->events += t->events;
	all->frames += t->frames;
	all->virtual_ns += t->virtual_ns;
}

/* Every scenario that the name means, with its line. 0, 1: it could not go on, 2: there is none. */
static int
run_all(const struct args *a, const struct sim_scenario *const *table, struct totals *all)
{
	bool found = false;

	for (unsigned int i = 0; table[i] != NULL; i++) {
		struct totals t = { 0 };
		uint64_t begin = jobs_clock_ns();

		if (strcmp(a->scenario, "all") != 0 && strcmp(a->scenario, table[i]->name) != 0)
			continue;
		if (found && a->json)
			printf(",");
		found = true;
		if (run_scenario(a, table[i], isatty(STDERR_FILENO) && !a->json, &t) != 0)
			return 1;
		print(table[i]->name, &t, jobs_clock_ns() - begin, a, name_width(table));
		add(all, &t);
	}
	return found ? 0 : 2;
}

int
sim_cli_run_table(const struct sim_scenario *const *table, int argc, char **argv)
{
	struct totals all = { 0 };
	uint64_t begin = jobs_clock_ns();
	struct args a;
	int rc;

	if (!parse(&a, argc, argv)) {
		schedule_free(&a.sched);
		return 2;
	}
	if (a.help)
		return fputs(usage, stdout) < 0;
	sim_cli_prepare();
	if (a.json)
		printf("{\"scenarios\":[");
	rc = run_all(&a, table, &all);
	schedule_free(&a.sched);
	if (rc == 2) {
		if (a.json)
			printf("]}\n");
		fprintf(stderr, "nonic sim run: there is no scenario %s: see `nonic sim list`\n", a.scenario);
	}
	if (rc != 0)
		return rc;
	if (a.json)
		printf("],\"total\":");
	print("total", &all, jobs_clock_ns() - begin, &a, name_width(table));
	if (a.json)
		printf("}\n");
	return all.failed != 0;
}

int
sim_cli_run(int argc, char **argv)
{
	return sim_cli_run_table(sim_scenarios, argc, argv);
}

const struct sim_scenario *
sim_cli_find(const struct sim_scenario *const *table, const char *cmd, const char *name)
{
	for (unsigned int i = 0; name != NULL && table[i] != NULL; i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	if (name == NULL)
		fprintf(stderr, "%s: which scenario? `nonic sim list` names them\n", cmd);
	else
		fprintf(stderr, "%s: there is no scenario %s: see `nonic sim list`\n", cmd, name);
	return NULL;
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
			printf("%-*s  %s\n", name_width(sim_scenarios), sc->name, sc->description);
	}
	if (json)
		printf("]\n");
	return fflush(stdout) != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* `sim soak`: random scenarios with random seeds until the time is over; see cli.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "cli_opts.h"
#include "crash.h"
#include "jobs.h"
#include "prng.h"

#define SHRINK_RUNS 200u
#define ENOUGH 10u /* violations: then it ends before its time */
#define SCENARIOS_MAX 64u

struct args {
	const char *name, *out;
	uint64_t minutes, seconds, jobs, seed;
	bool json, help;
};

struct totals {
	uint64_t next, seeds, events, frames, virtual_ns, failed;
	uint64_t of[SCENARIOS_MAX]; /* seeds of each scenario of the table */
};

struct work {
	const struct args *a;
	const struct sim_scenario *const *table;
	uint64_t begin_ns, end_ns, shown_ns;
	unsigned int weights;
	bool progress;
};

static const char usage[] =
	"usage: nonic sim soak [--minutes N] [options]\n"
	"\n"
	"Runs random scenarios with random seeds until the time is over.\n"
	"\n"
	"  --minutes N    so long (default: 60)\n"
	"  --seconds N    so much longer, or instead\n"
	"  --seed N       where the random numbers begin (default: the time of day, which is printed)\n"
	"  --jobs N       so many processes (default: one for each processor)\n"
	"  --out DIR      where the capture and the event log of a violation go (default: .)\n"
	"  --json         the result as JSON\n"
	"\n"
	"Exit code: 0 no violation, 1 one was found (the command that replays it is printed), 2 usage.\n";

static bool
parse(struct args *a, int argc, char **argv)
{
	const struct sim_opt opt[] = {
		{ "--minutes", SIM_OPT_NUMBER, &a->minutes }, { "--seconds", SIM_OPT_NUMBER, &a->seconds },
		{ "--seed", SIM_OPT_NUMBER, &a->seed }, { "--jobs", SIM_OPT_NUMBER, &a->jobs }, { "--out", SIM_OPT_TEXT, &a->out },
		{ "--json", SIM_OPT_FLAG, &a->json }, { "--help", SIM_OPT_FLAG, &a->help }, { "-h", SIM_OPT_FLAG, &a->help },
	};

	*a = (struct args){ .minutes = UINT64_MAX, .jobs = jobs_cpus(), .seed = (uint64_t)time(NULL), .out = "." };
	if (!sim_opts_parse("nonic sim soak", argc, argv, opt, sizeof(opt) / sizeof(opt[0]), &a->name))
		return false;
	if (a->name != NULL) {
		fprintf(stderr, "nonic sim soak: %s: what is this? See --help\n", a->name);
		return false;
	}
	if (a->minutes == UINT64_MAX)
		a->minutes = a->seconds != 0 ? 0 : 60;
	if (a->minutes > 1000000 || a->seconds > 1000000) {
		fputs("nonic sim soak: --minutes, --seconds: at most 1000000\n", stderr);
		return false;
	}
	return true;
}

/* The scenario of a number below the sum of weights, and its place in the table. */
static const struct sim_scenario *
pick(const struct sim_scenario *const *table, uint64_t n, unsigned int *place)
{
	for (*place = 0; n >= table[*place]->soak; ++*place)
		n -= table[*place]->soak;
	return table[*place];
}

static bool
task(void *ctx, uint64_t i, void *shared)
{
	const struct work *k = ctx;
	struct totals *t = shared;
	struct sim_result r;
	struct sim_options o = { 0 };
	const struct sim_scenario *sc;
	unsigned int place;
	struct prng rng;

	if (jobs_clock_ns() >= k->end_ns)
		return false;
	(void)i; /* numbered on through crashes */
	prng_init(&rng, k->a->seed, __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED));
	sc = pick(k->table, prng_below(&rng, k->weights), &place);
	o.seed = prng_below(&rng, 1ull << 40);
	crash_note("\nnonic sim: scenario %s crashed with seed %" PRIu64 "\nreplay: nonic sim run %s --seed %" PRIu64 "\n", sc->name, o.seed,
		sc->name, o.seed);
	if (sim_scenario_run(sc, &o, &r) != 0) {
		fprintf(stderr, "nonic sim soak: %s: the world could not be made\n", sc->name);
		jobs_add(&t->failed, 1);
		return false;
	}
	crash_note("%s", "");
	jobs_add(&t->seeds, 1);
	jobs_add(&t->events, r.events);
	jobs_add(&t->frames, r.frames);
	jobs_add(&t->virtual_ns, r.virtual_ns);
	jobs_add(&t->of[place < SCENARIOS_MAX ? place : SCENARIOS_MAX - 1], 1);
	if (!r.failed)
		return true;
	jobs_add(&t->failed, 1);
	sim_cli_failed(sc, &o, &r, k->a->out, NULL, SHRINK_RUNS);
	return __atomic_load_n(&t->failed, __ATOMIC_RELAXED) < ENOUGH;
}

static void
progress(void *ctx, uint64_t done, const void *shared)
{
	struct work *k = ctx;
	const struct totals *t = shared;
	uint64_t now = jobs_clock_ns();

	(void)done;
	if (!k->progress || now - k->shown_ns < 500000000u)
		return;
	k->shown_ns = now;
	fprintf(stderr, "\r\033[Ksoak: %" PRIu64 " seeds, %" PRIu64 " violations, %" PRIu64 " s left",
		__atomic_load_n(&t->seeds, __ATOMIC_RELAXED), __atomic_load_n(&t->failed, __ATOMIC_RELAXED),
		now < k->end_ns ? (k->end_ns - now) / 1000000000u : 0);
}

static void
print(const struct work *k, const struct totals *t)
{
	double real = (double)(jobs_clock_ns() - k->begin_ns) / 1e9, virt = (double)t->virtual_ns / 1e9;
	unsigned int kinds = 0;

	for (unsigned int i = 0; i < SCENARIOS_MAX; i++)
		kinds += t->of[i] > 0;
	if (k->a->json) {
		printf("{\"seed\":%" PRIu64 ",\"scenarios\":%u,\"seeds\":%" PRIu64 ",\"events\":%" PRIu64 ",\"frames\":%" PRIu64
			",\"virtual_s\":%.3f,\"real_s\":%.3f,\"violations\":%" PRIu64 "}\n", k->a->seed, kinds, t->seeds, t->events,
			t->frames, virt, real, t->failed);
		return;
	}
	for (unsigned int i = 0; i < SCENARIOS_MAX && k->table[i] != NULL; i++)
		if (t->of[i] > 0)
			printf("  %-14s %8" PRIu64 " seeds\n", k->table[i]->name, t->of[i]);
	printf("soak: %.1f minutes from seed %" PRIu64 ": %u scenarios, %" PRIu64 " seeds, %" PRIu64 " events, %" PRIu64 " frames, %.1f h "
		"virtual time (%.0fx real time), %" PRIu64 " violations\n", real / 60, k->a->seed, kinds, t->seeds, t->events, t->frames,
		virt / 3600, real > 0 ? virt / real : 0, t->failed);
}

int
sim_cli_soak_table(const struct sim_scenario *const *table, int argc, char **argv)
{
	struct args a;
	struct work k = { .a = &a, .table = table, .begin_ns = jobs_clock_ns() };
	struct jobs j = { .tasks = UINT64_MAX, .task = task, .progress = progress, .ctx = &k };
	struct totals *t;
	uint64_t failed;
	int rc;

	if (!parse(&a, argc, argv))
		return 2;
	if (a.help)
		return fputs(usage, stdout) < 0;
	for (unsigned int i = 0; table[i] != NULL; i++)
		k.weights += table[i]->soak;
	t = jobs_shared(sizeof(*t));
	if (t == NULL || k.weights == 0)
		return 1;
	sim_cli_prepare();
	k.end_ns = k.begin_ns + (a.minutes * 60 + a.seconds) * 1000000000u;
	k.progress = isatty(STDERR_FILENO) && !a.json;
	j.n = (unsigned int)a.jobs;
	/* a crash has ended its job, which said what ran; the others are as they were */
	while ((rc = jobs_run(&j, t)) == -ECHILD && ++t->failed < ENOUGH && jobs_clock_ns() < k.end_ns)
		;
	if (k.progress)
		fputs("\r\033[K", stderr);
	print(&k, t);
	if (rc != 0 && rc != -ECHILD)
		fprintf(stderr, "nonic sim soak: %s\n", strerror(-rc));
	failed = t->failed;
	jobs_shared_free(t, sizeof(*t));
	return rc != 0 || failed != 0;
}

int
sim_cli_soak(int argc, char **argv)
{
	return sim_cli_soak_table(sim_scenarios, argc, argv);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* `sim explore`: a scenario under every schedule up to a bound, or under random priorities; see cli.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cli_opts.h"
#include "explore.h"
#include "jobs.h"

#define STALL_DEFAULT_NS 10000000u

struct args {
	const char *name, *out;
	struct sim_range seeds;
	uint64_t preemptions, pct, jobs, max;
	bool crash, tso, no_stall, json, help;
};

struct shown {
	const char *name;
	uint64_t begin_ns, last_ns;
	bool used;
};

static const char usage[] =
	"usage: nonic sim explore SCENARIO [--preemptions N] [options]\n"
	"       nonic sim explore SCENARIO --pct D --seeds A..B [options]\n"
	"\n"
	"Runs one scenario under many schedules: with each decision at each access to a shared word or ring. A decision lets another\n"
	"process go first, or makes the process stand still for a time.\n"
	"\n"
	"  --preemptions N  every schedule with at most N decisions (default: 2, at most 6)\n"
	"  --pct D          instead: random priorities and D change points (1 to 16), drawn from each seed\n"
	"  --crash          a decision may also be the death of the process\n"
	"  --tso            stores are delayed as on x86: a preempted process has done them, and nobody sees them yet\n"
	"  --no-stall       no process stands still\n"
	"  --seed N         the scenario's seed (default: 1)\n"
	"  --seeds A..B     with --pct: these seeds\n"
	"  --jobs N         so many processes (default: one for each processor)\n"
	"  --max N          stop after N schedules\n"
	"  --out DIR        where the capture and the event log of a violation go (default: .)\n"
	"  --json           the result as JSON\n"
	"\n"
	"Exit code: 0 no violation, 1 one was found (it is shortened, and the command that replays it is printed), 2 usage.\n";

static bool
parse(struct args *a, int argc, char **argv)
{
	const struct sim_opt opt[] = {
		{ "--preemptions", SIM_OPT_NUMBER, &a->preemptions }, { "--pct", SIM_OPT_NUMBER, &a->pct },
		{ "--seeds", SIM_OPT_RANGE, &a->seeds }, { "--seed", SIM_OPT_ONE, &a->seeds }, { "--jobs", SIM_OPT_NUMBER, &a->jobs },
		{ "--max", SIM_OPT_NUMBER, &a->max }, { "--crash", SIM_OPT_FLAG, &a->crash }, { "--tso", SIM_OPT_FLAG, &a->tso },
		{ "--no-stall", SIM_OPT_FLAG, &a->no_stall }, { "--out", SIM_OPT_TEXT, &a->out }, { "--json", SIM_OPT_FLAG, &a->json },
		{ "--help", SIM_OPT_FLAG, &a->help }, { "-h", SIM_OPT_FLAG, &a->help },
	};

	*a = (struct args){ .seeds = { 1, 1, false }, .preemptions = 2, .jobs = jobs_cpus(), .out = "." };
	if (!sim_opts_parse("nonic sim explore", argc, argv, opt, sizeof(opt) / sizeof(opt[0]), &a->name))
		return false;
	if (a->preemptions > EXPLORE_BOUND_MAX || a->pct > SCHEDULE_PCT_MAX) {
		fprintf(stderr, "nonic sim explore: at most %u preemptions, at most %u change points\n", EXPLORE_BOUND_MAX, SCHEDULE_PCT_MAX);
		return false;
	}
	if (a->pct == 0 && a->seeds.first != a->seeds.last) {
		fputs("nonic sim explore: several seeds are for --pct\n", stderr);
		return false;
	}
	return true;
}

static void
progress(void *ctx, uint64_t done, uint64_t all, uint64_t schedules)
{
	struct shown *s = ctx;
	uint64_t now = jobs_clock_ns();
	double gone = (double)(now - s->begin_ns) / 1e9;

	if (now - s->last_ns < 200000000u)
		return;
	s->last_ns = now;
	s->used = true;
	fprintf(stderr, "\r\033[K%s: %" PRIu64 " of %" PRIu64 " parts, %" PRIu64 " schedules, %.0f s", s->name, done, all, schedules,
		gone);
	if (done > 0 && all >= done)
		fprintf(stderr, ", about %.0f s left", gone / (double)done * (double)(all - done));
}

static void
print(const struct args *a, const struct explore_conf *c, const struct explore_result *r, double s)
{
	if (a->json) {
		printf("{\"scenario\":\"%s\",\"seed\":%" PRIu64 ",\"preemptions\":%u,\"pct\":%u,\"tso\":%s,\"crash\":%s,\"schedules\":%" PRIu64
			",\"covered\":%" PRIu64 ",\"points\":%" PRIu64 ",\"virtual_s\":%.3f,\"real_s\":%.3f,\"complete\":%s,"
			"\"violations\":%u}\n", c->sc->name, c->seed, c->pct != 0 ? 0 : c->bound, c->pct, c->tso ? "true" : "false",
			c->crash ? "true" : "false", r->schedules, r->covered, r->points, (double)r->virtual_ns / 1e9, s,
			r->complete ? "true" : "false", r->found);
		return;
	}
	if (c->pct != 0)
		printf("%s: seeds %" PRIu64 "..%" PRIu64 ", %u change points", c->sc->name, c->seed, c->last, c->pct);
	else
		printf("%s: seed %" PRIu64 ", at most %u decisions", c->sc->name, c->seed, c->bound);
	printf("%s%s: %" PRIu64 " schedules explored (%" PRIu64 " more decisions known to end alike), %" PRIu64 " points, %.1f s virtual, "
		"%.1f s, %s\n", c->crash ? ", deaths" : "", c->tso ? ", store buffers" : "", r->schedules, r->covered, r->points,
		(double)r->virtual_ns / 1e9, s, r->found != 0 ? "VIOLATED" : r->complete ? "no violation" : "no violation so far");
}

static void
violated(const struct args *a, const struct explore_conf *c, const struct explore_result *r)
{
	struct schedule s = { 0 };
	struct schedule_player pl = { .s = &s };
	struct sim_options o = { .seed = r->seed, .store_buffer = c->tso, .decide = schedule_play, .decide_ctx = &pl };
	struct sim_result again = { 0 };

	if (schedule_parse(&s, r->schedule) == 0 && sim_scenario_run(c->sc, &o, &again) == 0 && again.failed) {
		pl.next = 0;
		sim_cli_failed(c->sc, &o, &again, a->out, s.n > 0 ? r->schedule : NULL, 0);
	} else
		fprintf(stderr, "FAILED %s seed %" PRIu64 "\n  %s\n  replay:  nonic sim explore %s --pct %u --seed %" PRIu64 "%s%s\n",
			c->sc->name, r->seed, r->why, c->sc->name, c->pct, r->seed, c->tso ? " --tso" : "", c->crash ? " --crash" : "");
	schedule_free(&s);
}

int
sim_cli_explore_table(const struct sim_scenario *const *table, int argc, char **argv)
{
	struct shown shown = { .begin_ns = jobs_clock_ns() };
	struct explore_conf c = { 0 };
	struct explore_result r;
	struct args a;
	int rc;

	if (!parse(&a, argc, argv))
		return 2;
	if (a.help)
		return fputs(usage, stdout) < 0;
	c.sc = sim_cli_find(table, "nonic sim explore", a.name);
	if (c.sc == NULL)
		return 2;
	sim_cli_prepare();
	shown.name = c.sc->name;
	c.seed = a.seeds.first;
	c.last = a.seeds.last;
	c.bound = (unsigned int)a.preemptions;
	c.pct = (unsigned int)a.pct;
	c.tso = a.tso;
	c.crash = a.crash;
	c.jobs = (unsigned int)a.jobs;
	c.max_schedules = a.max;
	if (!a.no_stall)
		memcpy(c.stall_ns, c.sc->stall_ns, sizeof(c.stall_ns));
	if (c.pct != 0 && c.stall_ns[0] == 0)
		c.stall_ns[0] = STALL_DEFAULT_NS;
	if (isatty(STDERR_FILENO) && !a.json) {
		c.progress = progress;
		c.progress_ctx = &shown;
	}
	rc = explore(&c, &r);
	if (shown.used)
		fputs("\r\033[K", stderr);
	print(&a, &c, &r, (double)(jobs_clock_ns() - shown.begin_ns) / 1e9);
	if (rc != 0 && r.found == 0)
		fprintf(stderr, "nonic sim explore: %s\n", rc == -ECHILD ? "a job crashed" : strerror(-rc));
	if (r.found != 0)
		violated(&a, &c, &r);
	return rc != 0 || r.found != 0;
}

int
sim_cli_explore(int argc, char **argv)
{
	return sim_cli_explore_table(sim_scenarios, argc, argv);
}

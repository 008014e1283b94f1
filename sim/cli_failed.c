/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with a failed seed (SIM-6): shortened, told, replayed with its packets and events kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "crash.h"
#include "shrink.h"

struct retry {
	const struct sim_scenario *sc;
	struct sim_options o;
	unsigned int actions;
	struct sim_result r;       /* of the last run that failed */
};

static void
run(const struct sim_scenario *sc, const struct sim_options *o, struct sim_result *r)
{
	crash_note("\nnonic sim: scenario %s crashed with seed %" PRIu64 " on its way to a shorter run\nreplay: nonic sim run %s --seed %"
		PRIu64 "\n", sc->name, o->seed, sc->name, o->seed);
	if (sim_scenario_run(sc, o, r) != 0)
		*r = (struct sim_result){ 0 };
	crash_note("%s", "");
}

static bool
fails_without(void *ctx, const uint8_t *skip)
{
	struct retry *t = ctx;
	struct sim_options o = t->o;
	struct sim_result r;

	o.skip = skip;
	o.nb_skip = t->actions;
	run(t->sc, &o, &r);
	if (r.failed)
		t->r = r;
	return r.failed;
}

static void
tell(void *ctx, unsigned int i, bool done, const char *text)
{
	unsigned int *n = ctx;

	if (done && ++*n <= 40)
		fprintf(stderr, "    %u: %s\n", i, text);
}

/* "--without 1,2,7..9" */
static void
without(char *buf, size_t n, const uint8_t *skip, unsigned int actions)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned int i = 0, to; i < actions; i = to + 1) {
		to = i;
		if (!shrink_skipped(skip, i))
			continue;
		while (to + 1 < actions && shrink_skipped(skip, to + 1))
			to++;
		if (at < n)
			at += (size_t)snprintf(buf + at, n - at, "%s%u", at == 0 ? " --without " : ",", i);
		if (to > i && at < n)
			at += (size_t)snprintf(buf + at, n - at, "..%u", to);
	}
}

/* The failed run once more, this time with capture and event log. */
static void
bundle(struct retry *t, const char *dir, uint64_t hash)
{
	char pcap[512], trace[512];
	struct sim_options o = t->o;
	unsigned int told = 0;
	struct sim_result r;

	snprintf(pcap, sizeof(pcap), "%s/sim-%s-%" PRIu64 ".pcap", dir, t->sc->name, o.seed);
	snprintf(trace, sizeof(trace), "%s/sim-%s-%" PRIu64 ".log", dir, t->sc->name, o.seed);
	o.pcap = o.pcap != NULL ? o.pcap : pcap;
	o.trace = o.trace != NULL ? o.trace : trace;
	o.action = tell;
	o.action_ctx = &told;
	if (t->actions > 0)
		fprintf(stderr, "  what had to happen:\n");
	run(t->sc, &o, &r);
	if (told > 40)
		fprintf(stderr, "    and %u more\n", told - 40);
	if (r.hash != hash)
		fprintf(stderr, "  NOT DETERMINISTIC: the second run of this seed has another trace hash\n");
	fprintf(stderr, "  packets: %s\n  events:  %s\n", o.pcap, o.trace);
}

void
sim_cli_failed(const struct sim_scenario *sc, const struct sim_options *o, const struct sim_result *r, const char *dir,
	const char *schedule, unsigned int budget)
{
	struct retry t = { .sc = sc, .o = *o, .actions = r->actions, .r = *r };
	uint8_t *skip = calloc(1, r->actions / 8 + 1);
	char words[2048] = "";

	t.o.pcap = t.o.trace = NULL;
	if (skip != NULL && o->skip == NULL && r->actions > 0 && o->decide == NULL) {
		shrink_set(r->actions, skip, fails_without, &t, budget);
		without(words, sizeof(words), skip, r->actions);
		t.o.skip = skip;
		t.o.nb_skip = r->actions;
	} else if (o->skip != NULL)
		without(words, sizeof(words), o->skip, o->nb_skip);
	t.o.pcap = o->pcap;
	t.o.trace = o->trace;
	fprintf(stderr, "FAILED %s seed %" PRIu64 "\n  %s\n  replay:  nonic sim run %s --seed %" PRIu64 "%s%s%s%s\n", sc->name, r->seed,
		t.r.why, sc->name, r->seed, o->store_buffer ? " --tso" : "", schedule != NULL ? " --schedule " : "",
		schedule != NULL ? schedule : "", words);
	bundle(&t, dir, t.r.hash);
	free(skip);
}

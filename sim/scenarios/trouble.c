/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks that are wrong, and workers that are killed anywhere. */
#include "all.h"

struct skewed {
	struct duo duo;
	uint64_t until_ns;
	int jumps;
};

#define WRAP_NS ((int64_t)4294967296ll * 1000000 - (int64_t)SIM_CLOCK_BASE_NS)

/* The client's clock jumps ahead and drifts otherwise, now and then. */
static void
jump(void *arg)
{
	struct skewed *s = arg;
	struct sim_proc *p = s->duo.peer.proc;
	struct sim_world *w = sim_proc_world(p);
	struct prng *r = sim_rng(w);

	if (s->jumps-- == 0 || !sim_proc_alive(p))
		return;
	sim_door_clock_set(sim_proc_door(p), (int64_t)prng_range(r, 0, 200) * (int64_t)SEC,
		(int32_t)prng_range(r, 0, 200000) - 100000);
	sim_at(w, sim_now(w) + prng_range(r, 1, 5) * SEC, jump, s);
}

static void
clock_skew(struct sim_world *w, void *state)
{
	struct skewed *s = state;
	struct prng *r = sim_rng(w);
	const struct fault_params f = { .delay_ns = 100000, .jitter_ns = 100000, .drop_ppm = 20000 };
	/* the server's 32 bits of milliseconds wrap a few seconds into the run */
	struct node_conf nc = { .skew_ns = prng_chance(r, 500000) ? WRAP_NS - 5 * (int64_t)SEC :
		(int64_t)prng_range(r, 0, 3600) * (int64_t)SEC, .drift_ppm = (int32_t)prng_range(r, 0, 1000) - 500 };
	struct peer_conf pc = { .skew_ns = -(int64_t)prng_range(r, 0, 900) * (int64_t)SEC,
		.drift_ppm = (int32_t)prng_range(r, 0, 100000) - 50000 };
	struct udp_client_conf cc = duo_client(w);

	cc.gap_ns = 50 * MS;
	cc.timeout_ns = 400 * MS;
	s->jumps = (int)prng_range(r, 0, 4);
	if (!duo_build(w, &s->duo, &nc, &pc, &cc, &f, &f))
		return;
	sim_at(w, 4 * SEC, jump, s);
	if (duo_run(w, &s->duo, 300 * SEC))
		sim_finish(w);
}

static void
skewed_release(void *state)
{
	duo_release(&((struct skewed *)state)->duo);
}

const struct sim_scenario scenario_clock_skew = {
	.name = "clock-skew",
	.soak = 1,
	.description = "hosts whose clocks differ by up to an hour, drift by up to 10 %, jump ahead, and wrap their 32-bit milliseconds",
	.state_size = sizeof(struct skewed),
	.run = clock_skew,
	.release = skewed_release,
};

/* ---- killed workers ---- */

struct victims {
	struct duo duo;
	unsigned int kills;
};

static void
again(void *arg)
{
	struct node_worker *nw = arg;

	if (!sim_proc_alive(nw->proc))
		sim_proc_restart(nw->proc);
}

/* One worker is to die: at once, or before one of its next shared accesses, in the middle of whatever it does. */
static void
kill_one(void *arg)
{
	struct victims *s = arg;
	struct sim_world *w = sim_proc_world(s->duo.peer.proc);
	struct prng *r = sim_rng(w);
	struct node_worker *nw = &s->duo.node.worker[prng_below(r, s->duo.node.conf.nb_workers)];
	uint64_t back = sim_now(w) + prng_range(r, 100, 1500) * MS;

	if (s->kills-- == 0)
		return;
	if (prng_chance(r, 300000))
		sim_proc_kill(nw->proc);
	else if (sim_proc_alive(nw->proc))
		sim_proc_kill_at_point(nw->proc, prng_range(r, 1, 200));
	sim_at(w, back, again, nw);
	sim_at(w, back + prng_range(r, 50, 3000) * MS, kill_one, s);
}

/* Everybody who is dead lives again: the phase in which progress is asked for. */
static void
all_again(void *arg)
{
	struct victims *s = arg;

	s->kills = 0;
	for (unsigned int i = 0; i < s->duo.node.conf.nb_workers; i++) {
		if (sim_proc_alive(s->duo.node.worker[i].proc))
			sim_proc_kill_at_point(s->duo.node.worker[i].proc, 0); /* pardoned */
		again(&s->duo.node.worker[i]);
	}
}

static void
kill_restart(struct sim_world *w, void *state)
{
	struct victims *s = state;
	struct prng *r = sim_rng(w);
	const struct fault_params f = { .delay_ns = prng_range(r, 1000, 500000) };
	struct node_conf nc = { .nb_workers = (unsigned int)prng_range(r, 1, 3), .port.reta_size = 128 };
	struct peer_conf pc = { 0 };
	struct udp_client_conf cc = duo_client(w);

	cc.n = 400;
	draw_preemption(w);
	cc.gap_ns = 20 * MS;
	cc.timeout_ns = 300 * MS;
	s->kills = (unsigned int)prng_range(r, 1, 6);
	if (!duo_build(w, &s->duo, &nc, &pc, &cc, &f, &f))
		return;
	sim_at(w, prng_range(r, 0, 6000) * MS, kill_one, s);
	sim_at(w, 20 * SEC, all_again, s);
	if (!duo_run(w, &s->duo, 120 * SEC))
		return;
	all_again(s);
	sim_run(w, sim_now(w) + SEC); /* whoever came back is up before the end */
	sim_finish(w);
}

static void
victims_release(void *state)
{
	duo_release(&((struct victims *)state)->duo);
}

const struct sim_scenario scenario_kill_restart = {
	.name = "kill-restart",
	.soak = 1,
	.description = "workers killed at any shared access under load and started again: the others go on, nothing but their buffers is lost",
	.state_size = sizeof(struct victims),
	.run = kill_restart,
	.release = victims_release,
};

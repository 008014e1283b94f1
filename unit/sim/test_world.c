/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes, clocks, determinism and invariants of the world, with raw frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/shim.h"
#include "sim/world.h"

/* Two hosts on one wire: `a` sends n frames with a number in each, `b` sends every one back. */
struct pair {
	struct sim_world *w;
	struct sim_host *host[2];
	struct sim_port *port[2];
	struct sim_proc *proc[2];
	struct sim_wire *wire;
	struct shim_pool *pool[2];
	unsigned int n, sent, back, echoed;
	bool leak, double_free, bad_role;
};

static int
port_up(struct shim *s, struct shim_pool **pool)
{
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	int rc = shim_pool_create(s, "pool", 256, 2176, pool);

	if (rc == -EEXIST) /* a former life of this process made it */
		rc = shim_pool_lookup(s, "pool", pool);
	c.pool = *pool;
	if (rc == 0)
		rc = shim_port_stop(s, 0);
	if (rc == 0)
		rc = shim_port_configure(s, 0, &c);
	if (rc == 0)
		rc = shim_port_promiscuous_set(s, 0, true);
	return rc != 0 ? rc : shim_port_start(s, 0);
}

static struct rte_mbuf *
numbered(struct shim *s, struct shim_pool *pool, uint32_t i)
{
	struct rte_mbuf *m = shim_buf_alloc(s, pool);
	uint8_t *p = m == NULL ? NULL : shim_buf_append(m, 60);

	if (p == NULL)
		return NULL;
	memset(p, 0, 60);
	memcpy(p + 14, &i, 4);
	return m;
}

static void
main_a(struct sim_proc *p, void *arg)
{
	struct pair *t = arg;
	struct shim *s = sim_proc_shim(p);
	struct rte_mbuf *m;
	uint64_t next = 0;

	if (!sim_check(t->w, port_up(s, &t->pool[0]) == 0, "a: no port"))
		return;
	while (!sim_stopping(p)) {
		if (t->sent < t->n && sim_now(t->w) >= next) {
			next = sim_now(t->w) + 100000;
			m = numbered(s, t->pool[0], t->sent);
			if (m != NULL && shim_tx_burst(s, 0, 0, &m, 1) == 1)
				t->sent++;
		}
		while (shim_rx_burst(s, 0, 0, &m, 1) == 1) {
			t->back++;
			shim_buf_free(s, m);
		}
		sim_wait(p, 100000);
	}
	shim_port_stop(s, 0);
}

static void
main_b(struct sim_proc *p, void *arg)
{
	struct pair *t = arg;
	struct shim *s = sim_proc_shim(p);
	struct rte_mbuf *m;

	if (!sim_check(t->w, port_up(s, &t->pool[1]) == 0, "b: no port"))
		return;
	while (!sim_stopping(p)) {
		while (shim_rx_burst(s, 0, 0, &m, 1) == 1) {
			t->echoed++;
			if (t->leak && t->echoed == 3)
				continue;
			if (shim_tx_burst(s, 0, 0, &m, 1) == 0 || (t->double_free && t->echoed == 3))
				shim_buf_free(s, m);
		}
		sim_wait(p, 1000000000);
	}
	shim_port_stop(s, 0);
}

static void
build(struct pair *t, const struct sim_options *o, const struct fault_params *f, unsigned int n)
{
	static const char *const name[2] = { "a", "b" };
	sim_main_fn *const fn[2] = { main_a, main_b };

	*t = (struct pair){ .n = n };
	t->w = sim_world_create(o);
	assert_non_null(t->w);
	for (int i = 0; i < 2; i++) {
		const struct sim_port_conf pc = { 0 };
		struct sim_proc_conf c = { .name = name[i], .main = fn[i], .arg = t, .skew_ns = i * 5000000,
			.drift_ppm = i * 200 };

		t->host[i] = sim_host_add(t->w, name[i]);
		t->port[i] = sim_host_port(t->host[i], &pc);
		t->proc[i] = sim_proc_start(t->host[i], &c);
		assert_non_null(t->proc[i]);
	}
	t->wire = sim_wire_add(t->w, sim_port_end(t->host[0], t->port[0]), sim_port_end(t->host[1], t->port[1]), f, f);
	assert_non_null(t->wire);
}

static bool
all_back(void *arg)
{
	const struct pair *t = arg;

	return t->back == t->n;
}

/* SIM-1, SHM-5 */
static void
frames_cross_the_wire_and_everything_comes_home(void **state)
{
	const struct sim_options o = { .seed = 1 };
	const struct fault_params f = { .delay_ns = 50000 };
	struct sim_result r;
	struct pair t;

	(void)state;
	build(&t, &o, &f, 100);
	assert_true(sim_run_until(t.w, all_back, &t, 1000000000));
	assert_in_range(sim_now(t.w), 9900000, 11000000);
	sim_finish(t.w);
	assert_string_equal(sim_why(t.w), "");
	sim_world_destroy(t.w, &r);
	assert_false(r.failed);
	assert_int_equal(r.frames, 200);
	assert_int_equal(t.echoed, 100);
}

static struct sim_result
faulty(uint64_t seed, uint32_t preempt)
{
	const struct sim_options o = { .seed = seed, .preempt_ppm = preempt, .preempt_ns = 5000 };
	struct sim_result r;
	struct fault_params f;
	struct prng rng;
	struct pair t;

	prng_init(&rng, seed, 99);
	fault_swarm(&f, &rng);
	build(&t, &o, &f, 50);
	sim_run(t.w, 100000000);
	sim_proc_kill(t.proc[1]);
	assert_int_equal(sim_proc_restart(t.proc[1]), 0);
	sim_run(t.w, 200000000);
	sim_finish(t.w);
	assert_string_equal(sim_why(t.w), "");
	sim_world_destroy(t.w, &r);
	return r;
}

/* SIM-1 */
static void
the_same_seed_gives_the_same_hash_and_another_seed_another(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct sim_result a = faulty(seed, 100000), b = faulty(seed, 100000);

		assert_int_equal(a.hash, b.hash);
		assert_int_equal(a.events, b.events);
		assert_int_equal(a.virtual_ns, b.virtual_ns);
		assert_true(a.hash != last);
		last = a.hash;
	}
}

/* SIM-1 */
static void
event_logs_of_one_seed_are_equal_byte_for_byte(void **state)
{
	char file[2][40] = { "/tmp/sim_trace_0_XXXXXX", "/tmp/sim_trace_1_XXXXXX" };
	char line[2][512];
	unsigned int lines = 0;
	FILE *f[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim_options o = { .seed = 4, .trace = file[i] };
		const struct fault_params fp = { .drop_ppm = 100000, .delay_ns = 1000, .corrupt_ppm = 100000 };
		struct pair t;

		close(mkstemp(file[i]));
		build(&t, &o, &fp, 20);
		sim_run(t.w, 10000000);
		sim_finish(t.w);
		sim_world_destroy(t.w, NULL);
		f[i] = fopen(file[i], "r");
	}
	while (fgets(line[0], sizeof(line[0]), f[0]) != NULL) {
		assert_non_null(fgets(line[1], sizeof(line[1]), f[1]));
		assert_string_equal(line[0], line[1]);
		lines++;
	}
	assert_null(fgets(line[1], sizeof(line[1]), f[1]));
	assert_true(lines > 40);
	for (int i = 0; i < 2; i++) {
		fclose(f[i]);
		unlink(file[i]);
	}
}

/* SIM-5: the canary. A violated conservation is caught, said, and stops the run. */
static void
a_leaked_buffer_is_caught(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct sim_result r;
	struct pair t;

	(void)state;
	build(&t, &o, NULL, 10);
	t.leak = true;
	sim_run(t.w, 10000000);
	assert_false(sim_failed(t.w)); /* the process may still mean to free it */
	sim_finish(t.w);
	sim_world_destroy(t.w, &r);
	assert_true(r.failed);
	assert_non_null(strstr(r.why, "b: a process of b ended with 1 buffers"));
}

/* SIM-5 */
static void
a_buffer_freed_twice_is_caught(void **state)
{
#ifdef SIM_WITH_ASAN
	(void)state;
	skip(); /* the sanitizer itself stops the program there */
#else
	const struct sim_options o = { .seed = 1 };
	struct sim_result r;
	struct pair t;

	(void)state;
	build(&t, &o, NULL, 10);
	t.double_free = true;
	sim_run(t.w, 10000000);
	sim_world_destroy(t.w, &r);
	assert_true(r.failed);
	assert_non_null(strstr(r.why, "freed twice"));
#endif
}

static void
main_meddler(struct sim_proc *p, void *arg)
{
	(void)arg;
	shim_port_mtu_set(sim_proc_shim(p), 0, 1000);
}

/* SIM-5 */
static void
a_device_call_that_the_role_forbids_fails_the_run_unless_expected(void **state)
{
	const struct sim_options o = { .seed = 1 };

	(void)state;
	for (int expected = 0; expected < 2; expected++) {
		const struct sim_proc_conf c = { .name = "meddler", .role = SHIM_ROLE_WORKER, .main = main_meddler };
		struct pair t;

		build(&t, &o, NULL, 1);
		sim_expect_role_violations(t.w, expected);
		sim_proc_start(t.host[0], &c);
		sim_run(t.w, 1000000);
		assert_int_equal(sim_failed(t.w), !expected);
		if (!expected)
			assert_non_null(strstr(sim_why(t.w), "process roles: 1"));
		sim_world_destroy(t.w, NULL);
	}
}

static int
no_more_than_five(struct sim_world *w, void *arg, char *why, size_t n)
{
	(void)w;
	snprintf(why, n, "%u echoed", ((struct pair *)arg)->echoed);
	return ((struct pair *)arg)->echoed > 5;
}

/* SIM-5 */
static void
an_invariant_is_looked_at_after_every_event(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct pair t;

	(void)state;
	build(&t, &o, NULL, 100);
	sim_invariant(t.w, "five", no_more_than_five, &t);
	sim_run(t.w, 1000000000);
	assert_true(sim_failed(t.w));
	assert_non_null(strstr(sim_why(t.w), "five: 6 echoed"));
	assert_int_equal(t.echoed, 6);
	sim_world_destroy(t.w, NULL);
}

/* SIM-3 */
static void
a_killed_process_takes_its_buffers_along_and_another_life_begins(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct shim_proc was, is;
	struct pair t;
	struct shim *s;

	(void)state;
	build(&t, &o, NULL, 20);
	t.leak = true;
	sim_run(t.w, 1000000);
	was = shim_self(sim_proc_shim(t.proc[1]));
	assert_int_equal(shim_proc_alive(sim_proc_shim(t.proc[0]), &was), 1);
	assert_int_equal(sim_proc_restart(t.proc[1]), -EBUSY);
	sim_proc_kill(t.proc[1]);
	sim_proc_kill(t.proc[1]);
	assert_false(sim_proc_alive(t.proc[1]));
	assert_int_equal(shim_proc_alive(sim_proc_shim(t.proc[0]), &was), 0);
	assert_int_equal(sim_host_machine(t.host[1])->nb_lost, 1);
	assert_int_equal(sim_proc_restart(t.proc[1]), 0);
	is = shim_self(sim_proc_shim(t.proc[1]));
	assert_true(is.pid != was.pid && is.start_time != was.start_time);
	s = sim_proc_shim(t.proc[1]);
	sim_run(t.w, 2000000);
	assert_int_equal(shim_pool_avail(s, t.pool[1]), 255); /* one is lost with its owner */
	sim_run(t.w, 10000000);
	sim_finish(t.w);
	assert_string_equal(sim_why(t.w), "");
	assert_true(t.back >= 15);
	sim_world_destroy(t.w, NULL);
}

/* SIM-3 */
static void
a_paused_process_does_nothing_until_it_is_resumed(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct pair t;

	(void)state;
	build(&t, &o, NULL, 1000);
	sim_run(t.w, 1000000);
	sim_proc_pause(t.proc[0]);
	sim_proc_pause(t.proc[0]);
	unsigned int sent = t.sent;
	sim_run(t.w, 50000000);
	assert_int_equal(t.sent, sent);
	sim_proc_resume(t.proc[0]);
	sim_proc_resume(t.proc[0]);
	sim_run(t.w, 51000000);
	assert_in_range(t.sent, sent + 8, sent + 12);
	sim_finish(t.w);
	assert_false(sim_failed(t.w));
	sim_world_destroy(t.w, NULL);
}

/* ---- shared words, sleeping, spawning ---- */

struct words {
	uint32_t *word;
	unsigned int id[2], torn, slept_ok;
	unsigned int preempts;
};

/* Reads, then writes the next value: lost updates when the other one comes between. */
static void
main_counter(struct sim_proc *p, void *arg)
{
	struct shim *s = sim_proc_shim(p);
	struct words *t = arg;

	for (int i = 0; i < 100; i++) {
		uint32_t v = shim_load32(s, t->word, SHIM_ACQUIRE);

		shim_store32(s, t->word, v + 1, SHIM_RELEASE);
		sim_yield(p);
	}
	shim_fetch_add32(s, t->word, 0, SHIM_RELAXED);
	shim_fence(s, SHIM_SEQ_CST);
}

static bool
at_every_store(void *ctx, struct sim_proc *p, const struct sim_access *a)
{
	struct words *t = ctx;

	(void)p;
	if (a->kind != SIM_STORE)
		return false;
	assert_ptr_equal(a->word, t->word);
	assert_int_equal(a->order, SHIM_RELEASE);
	t->preempts++;
	return true;
}

static uint32_t
count_up(sim_preempt_fn *fn, uint32_t ppm)
{
	const struct sim_options o = { .seed = 1, .preempt_ppm = ppm, .preempt_ns = 2000 };
	struct sim_world *w = sim_world_create(&o);
	struct sim_host *h = sim_host_add(w, "h");
	uint32_t word = 0;
	struct words t = { .word = &word };
	const struct sim_proc_conf c[2] = { { .name = "one", .main = main_counter, .arg = &t },
		{ .name = "two", .main = main_counter, .arg = &t } };
	struct sim_proc *p;

	sim_scheduler(w, fn, &t);
	p = sim_proc_start(h, &c[0]);
	sim_proc_start(h, &c[1]);
	sim_run(w, 1000000000);
	assert_string_equal(sim_why(w), "");
	assert_int_equal(sim_proc_points(p), 202);
	sim_world_destroy(w, NULL);
	assert_int_equal(t.preempts, fn != NULL ? 200 : 0);
	return word;
}

/* SIM-4's ground: each shared word is a scheduling point */
static void
a_process_can_be_preempted_at_every_shared_word(void **state)
{
	(void)state;
	assert_int_equal(count_up(NULL, 0), 200);
	assert_int_equal(count_up(at_every_store, 0), 100); /* every update of one of them is lost */
	assert_in_range(count_up(NULL, 300000), 101, 199);
}

/* SIM-3, REL-13's ground */
static void
a_process_can_be_killed_at_every_shared_word(void **state)
{
	(void)state;
	for (uint64_t k = 1; k <= 20; k++) {
		const struct sim_options o = { .seed = k };
		struct sim_world *w = sim_world_create(&o);
		uint32_t word = 0;
		struct words t = { .word = &word };
		const struct sim_proc_conf c = { .name = "one", .main = main_counter, .arg = &t };
		struct sim_proc *p = sim_proc_start(sim_host_add(w, "h"), &c);

		sim_proc_kill_at_point(p, k);
		sim_run(w, 1000000000);
		assert_false(sim_proc_alive(p));
		assert_int_equal(sim_proc_points(p), k);
		assert_int_equal(word, (k - 1) / 2);
		sim_world_destroy(w, NULL);
	}
}

struct kill_bed {
	struct sim_proc *victim;
	unsigned int turns, at_kill;
	int alive;
};

static void
main_victim(struct sim_proc *p, void *arg)
{
	for (;;) {
		((struct kill_bed *)arg)->turns++;
		sim_yield(p);
	}
}

static void
main_killer(struct sim_proc *p, void *arg)
{
	struct kill_bed *k = arg;
	struct shim *s = sim_proc_shim(p);
	const struct shim_proc who = shim_self(sim_proc_shim(k->victim));

	shim_sleep_ns(s, 1000000);
	sim_check(sim_proc_world(p), shim_proc_kill(s, &who) == 0, "kill");
	k->at_kill = k->turns;
	k->alive = shim_proc_alive(s, &who);
	shim_sleep_ns(s, 6000000);
	sim_check(sim_proc_world(p), shim_proc_alive(s, &who) == 0, "it lives on");
	sim_check(sim_proc_world(p), shim_proc_kill(s, &who) == -ESRCH, "killed twice");
}

/* SIM-3, REL-13's ground: what is killed is there a little longer, and may even do a little more */
static void
a_process_that_another_one_kills_is_gone_soon(void **state)
{
	unsigned int at_once = 0, later = 0, went_on = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		const struct sim_options o = { .seed = seed };
		struct sim_world *w = sim_world_create(&o);
		struct kill_bed k = { 0 };
		const struct sim_proc_conf v = { .name = "victim", .main = main_victim, .arg = &k }, c = { .name = "killer",
			.main = main_killer, .arg = &k };
		struct sim_host *h = sim_host_add(w, "h");

		k.victim = sim_proc_start(h, &v);
		sim_proc_start(h, &c);
		sim_run(w, 20000000);
		assert_string_equal(sim_why(w), "");
		assert_true(k.turns >= k.at_kill && k.turns - k.at_kill <= 21);
		at_once += k.alive == 0;
		later += k.alive == 1 && k.turns == k.at_kill;
		went_on += k.turns > k.at_kill;
		assert_int_equal(sim_proc_restart(k.victim), 0); /* another life is not meant */
		sim_run(w, 21000000);
		assert_true(sim_proc_alive(k.victim));
		sim_world_destroy(w, NULL);
	}
	assert_true(at_once > 3 && later > 3 && went_on > 3);
}

static void
main_sleeper(struct sim_proc *p, void *arg)
{
	struct sim_world *w = sim_proc_world(p);
	struct shim *s = sim_proc_shim(p);
	const char *const child[] = { "child", NULL }, *const none[] = { "none", NULL };
	uint64_t local = shim_clock_sample(s), world = sim_now(w), cyc = shim_cycles(s);
	struct shim_proc pr;
	struct words *t = arg;

	shim_sleep_ns(s, 1000000);
	sim_check(w, shim_now_ns(s) == local, "a sample changed by itself");
	sim_check(w, shim_clock_ns(s) - local >= 1000000 && shim_clock_ns(s) - local <= 1000002, "slept wrong: %llu",
		(unsigned long long)(shim_clock_ns(s) - local));
	sim_check(w, sim_now(w) - world == 500000, "world time %llu", (unsigned long long)(sim_now(w) - world));
	sim_check(w, shim_cycles(s) - cyc == 2 * (shim_clock_ns(s) - local), "cycles");
	sim_check(w, shim_cycles_hz(s) == SIM_CYCLES_HZ, "hz");
	sim_check(w, shim_wall_ns(s) > SIM_WALL_BASE_NS, "wall clock");
	sim_check(w, shim_proc_spawn(s, child, &pr) == 0 && pr.pid != shim_self(s).pid, "spawn");
	sim_check(w, shim_proc_alive(s, &pr) == 1, "child");
	sim_check(w, shim_proc_spawn(s, none, &pr) == -ENOENT, "spawn of nothing");
	t->slept_ok++;
}

static void
main_child(struct sim_proc *p, void *arg)
{
	sim_check(sim_proc_world(p), shim_self(sim_proc_shim(p)).proc_id == 7, "proc id");
	((struct words *)arg)->id[0]++;
	sim_proc_kill(p); /* itself */
	((struct words *)arg)->id[1]++;
}

/* SIM-3 */
static void
clocks_drift_sleep_and_children_are_spawned(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct sim_world *w = sim_world_create(&o);
	struct words t = { .word = NULL };
	const struct sim_proc_conf c = { .name = "sleeper", .main = main_sleeper, .arg = &t, .drift_ppm = 1000000,
		.skew_ns = 77 };
	const struct sim_proc_conf child = { .name = "child", .main = main_child, .arg = &t, .proc_id = 7,
		.role = SHIM_ROLE_WORKER };

	(void)state;
	sim_program(w, "child", &child);
	sim_proc_start(sim_host_add(w, "h"), &c);
	sim_run(w, 10000000);
	assert_string_equal(sim_why(w), "");
	assert_int_equal(t.slept_ok, 1);
	assert_int_equal(t.id[0], 1);
	assert_int_equal(t.id[1], 0);
	sim_finish(w);
	assert_string_equal(sim_why(w), "");
	sim_world_destroy(w, NULL);
}

/* SIM-3 */
static void
a_clock_that_is_set_back_does_not_go_backwards(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct pair t;
	struct shim *s;
	uint64_t before;

	(void)state;
	build(&t, &o, NULL, 1);
	sim_run(t.w, 1000000);
	s = sim_proc_shim(t.proc[0]);
	before = shim_clock_ns(s);
	assert_int_equal(before, SIM_CLOCK_BASE_NS + 1000000);
	sim_door_clock_set(sim_proc_door(t.proc[0]), -500000, 0);
	assert_int_equal(shim_clock_ns(s), before);
	sim_door_clock_set(sim_proc_door(t.proc[0]), 900, -500000);
	assert_int_equal(shim_clock_ns(s), before + 900);
	sim_run(t.w, 2000000);
	assert_int_equal(shim_clock_ns(s), before + 900 + 500000);
	assert_int_equal(sim_door_to_world_ns(sim_proc_door(t.proc[0]), 500000), 1000000);
	assert_int_equal(sim_door_to_world_ns(sim_proc_door(t.proc[0]), UINT64_MAX), UINT64_MAX / 2);
	sim_world_destroy(t.w, NULL);
}

static void
main_stubborn(struct sim_proc *p, void *arg)
{
	(void)arg;
	for (;;)
		sim_wait(p, 1000000000);
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static void
a_run_that_does_not_end_fails(void **state)
{
	const struct sim_proc_conf c = { .name = "stubborn", .main = main_stubborn };
	struct sim_options o = { .seed = 1, .max_ns = 5000000000ull };
	struct sim_world *w = sim_world_create(&o);

	(void)state;
	sim_proc_start(sim_host_add(w, "h"), &c);
	assert_false(sim_run_until(w, never, NULL, 1000000000));
	assert_false(sim_failed(w));
	assert_int_equal(sim_now(w), 1000000000);
	sim_run(w, 100000000000ull);
	assert_non_null(strstr(sim_why(w), "not over after 5 s"));
	sim_world_destroy(w, NULL);

	o.max_ns = 0;
	o.max_events = 10;
	w = sim_world_create(&o);
	sim_proc_start(sim_host_add(w, "h"), &c);
	sim_run(w, 100000000000ull);
	assert_non_null(strstr(sim_why(w), "not over after 10 events"));
	sim_world_destroy(w, NULL);

	o.max_events = 0;
	w = sim_world_create(&o);
	sim_proc_start(sim_host_add(w, "h"), &c);
	sim_finish(w);
	assert_non_null(strstr(sim_why(w), "not every process ended"));
	sim_world_destroy(w, NULL);
}

/* SIM-2 */
static void
a_cut_wire_loses_everything_until_it_is_mended(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct pair t;

	(void)state;
	build(&t, &o, NULL, 1000);
	sim_run(t.w, 1000000);
	assert_true(t.back > 0);
	sim_wire_cut(t.wire, true);
	unsigned int back = t.back;
	sim_run(t.w, 2000000);
	assert_true(t.back <= back + 1);
	sim_wire_cut(t.wire, false);
	sim_wire_fault(t.wire, 0)->p.drop_ppm = 1000000;
	sim_run(t.w, 3000000);
	assert_true(t.back <= back + 1);
	sim_wire_fault(t.wire, 0)->p.drop_ppm = 0;
	sim_run(t.w, 4000000);
	assert_true(t.back > back + 5);
	sim_finish(t.w);
	assert_string_equal(sim_why(t.w), "");
	sim_world_destroy(t.w, NULL);
}

static void
files_that_can_not_be_made_refuse_the_world(void **state)
{
	const struct sim_options bad[2] = { { .pcap = "/nonexistent/a.pcap" }, { .trace = "/nonexistent/a.log" } };

	(void)state;
	assert_null(sim_world_create(&bad[0]));
	assert_int_equal(errno, EIO);
	assert_null(sim_world_create(&bad[1]));
	assert_int_equal(errno, ENOENT);
}

static unsigned int switches;

static void
switched(void *ctx, struct sim_proc *p)
{
	assert_ptr_equal(ctx, sim_proc_world(p));
	switches++;
}

static void
whoever_gets_the_processor_is_announced(void **state)
{
	const struct sim_options o = { .seed = 1 };
	struct sim_result r;
	struct pair t;

	(void)state;
	build(&t, &o, NULL, 5);
	sim_on_switch(t.w, switched, t.w);
	sim_run(t.w, 1000000);
	sim_world_destroy(t.w, &r);
	assert_int_equal(switches, r.steps);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_cross_the_wire_and_everything_comes_home),
		cmocka_unit_test(the_same_seed_gives_the_same_hash_and_another_seed_another),
		cmocka_unit_test(event_logs_of_one_seed_are_equal_byte_for_byte),
		cmocka_unit_test(a_leaked_buffer_is_caught),
		cmocka_unit_test(a_buffer_freed_twice_is_caught),
		cmocka_unit_test(a_device_call_that_the_role_forbids_fails_the_run_unless_expected),
		cmocka_unit_test(an_invariant_is_looked_at_after_every_event),
		cmocka_unit_test(a_killed_process_takes_its_buffers_along_and_another_life_begins),
		cmocka_unit_test(a_paused_process_does_nothing_until_it_is_resumed),
		cmocka_unit_test(a_process_can_be_preempted_at_every_shared_word),
		cmocka_unit_test(a_process_can_be_killed_at_every_shared_word),
		cmocka_unit_test(a_process_that_another_one_kills_is_gone_soon),
		cmocka_unit_test(clocks_drift_sleep_and_children_are_spawned),
		cmocka_unit_test(a_clock_that_is_set_back_does_not_go_backwards),
		cmocka_unit_test(a_run_that_does_not_end_fails),
		cmocka_unit_test(a_cut_wire_loses_everything_until_it_is_mended),
		cmocka_unit_test(files_that_can_not_be_made_refuse_the_world),
		cmocka_unit_test(whoever_gets_the_processor_is_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

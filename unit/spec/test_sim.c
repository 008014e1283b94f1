/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated world by its headers: seeds and hashes, what each fault does to frames, processes and their clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/peer.h"

#define MS 1000000ull
#define SEC 1000000000ull

/* ---- a world of two peers ----------------------------------------------------------------------------- */

struct duo {
	struct udp_server server;
	struct udp_client client;
	struct peer a, b;
};

static bool
client_done(void *arg)
{
	return udp_client_done(&((struct duo *)arg)->client);
}

static struct sim_result
exchange(uint64_t seed, const struct fault_params *faults, int64_t skew, int32_t drift, struct duo *d)
{
	struct sim_world *w = sim_world_create(&(struct sim_options){ .seed = seed });
	struct sim_result r;

	assert_non_null(w);
	memset(d, 0, sizeof(*d));
	assert_int_equal(udp_client_prepare(&d->client, &(struct udp_client_conf){ .server4_be = 0x0100000a, .seed = seed,
		.n = 200, .window = 8, .min_len = 8, .max_len = 3000, .timeout_ns = 200 * MS }), 0);
	assert_int_equal(peer_add(w, &d->a, &(struct peer_conf){ .name = "a", .addr4_be = 0x0100000a, .skew_ns = skew,
		.drift_ppm = drift, .init = peer_server_init, .turn = peer_server_turn, .arg = &d->server }), 0);
	assert_int_equal(peer_add(w, &d->b, &(struct peer_conf){ .name = "b", .addr4_be = 0x0200000a,
		.init = peer_client_init, .turn = peer_client_turn, .arg = &d->client }), 0);
	assert_non_null(sim_wire_add(w, peer_end(&d->a), peer_end(&d->b), faults, faults));
	assert_true(sim_run_until(w, client_done, d, 300 * SEC));
	sim_finish(w);
	sim_world_destroy(w, &r);
	if (r.failed)
		fail_msg("%s", r.why);
	assert_string_equal(d->client.wrong, "");
	udp_client_release(&d->client);
	return r;
}

static const struct fault_params BAD = { .delay_ns = 300000, .jitter_ns = 100000, .drop_ppm = 50000, .dup_ppm = 30000,
	.reorder_ppm = 30000, .reorder_ns = 2 * MS, .corrupt_ppm = 20000 };

/* SIM-1 */
static void
the_same_seed_gives_the_same_run(void **state)
{
	struct duo d;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct sim_result a = exchange(seed, &BAD, 0, 0, &d), b = exchange(seed, &BAD, 0, 0, &d);

		assert_true(a.hash == b.hash);
		assert_true(a.events == b.events && a.steps == b.steps && a.frames == b.frames && a.virtual_ns == b.virtual_ns);
	}
}

/* SIM-1 */
static void
another_seed_gives_another_run(void **state)
{
	uint64_t h[6];
	struct duo d;

	(void)state;
	for (uint64_t seed = 0; seed < 6; seed++) {
		h[seed] = exchange(seed * 1000003, &BAD, 0, 0, &d).hash;
		for (uint64_t i = 0; i < seed; i++)
			assert_true(h[i] != h[seed]);
	}
}

/* SIM-2: the checksums and the client see to it that nothing wrong gets through any wire */
static void
every_datagram_gets_through_a_bad_wire(void **state)
{
	struct duo d;

	(void)state;
	exchange(7, &BAD, 0, 0, &d);
	assert_true(d.client.resent > 0);
	assert_int_equal(d.client.answered, 200);
	exchange(7, NULL, 0, 0, &d);
	assert_int_equal(d.client.resent, 0);
	assert_int_equal(d.client.repeated, 0);
	assert_int_equal(d.server.received, 200);
}

/* SIM-3: clocks that disagree do not matter to a stack */
static void
skew_and_drift_do_no_harm(void **state)
{
	static const struct { int64_t skew; int32_t drift; } t[] = { { 3600 * (int64_t)SEC, 0 }, { -500 * (int64_t)SEC, 0 },
		{ 0, 200000 }, { 1, -200000 } };
	struct duo d;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		exchange(11, &BAD, t[i].skew, t[i].drift, &d);
		assert_int_equal(d.client.answered, 200);
	}
}

/* ---- faults alone --------------------------------------------------------------------------------------- */

#define FRAMES 20000u

static const uint8_t FRAME[1514] = { [12] = 0x08 };

/* So many frames of 1000 bytes, a microsecond apart; f keeps the counts. */
static void
many(struct fault *f, const struct fault_params *p, uint64_t seed, void (*look)(uint64_t now, const struct fault_delivery *d,
	unsigned int n))
{
	fault_init(f, p, seed, 1);
	for (uint64_t i = 0; i < FRAMES; i++) {
		struct fault_delivery d[FAULT_MAX_COPIES];
		unsigned int n = 77;
		enum fault_verdict v = fault_frame(f, i * 1000, FRAME, 1000, d, &n);

		assert_int_equal(v == FAULT_DELIVER, n > 0);
		assert_true(n <= FAULT_MAX_COPIES);
		for (unsigned int k = 0; k < n; k++)
			assert_true(d[k].at_ns >= i * 1000);
		if (look != NULL)
			look(i * 1000, d, n);
	}
	assert_int_equal(f->st.frames, FRAMES);
	assert_int_equal(f->st.bytes, FRAMES * 1000);
}

static void
perfect(uint64_t now, const struct fault_delivery *d, unsigned int n)
{
	assert_int_equal(n, 1);
	assert_true(d[0].at_ns == now);
	assert_true(d[0].flip_bit == FAULT_NO_FLIP);
}

/* SIM-2 */
static void
a_zeroed_wire_is_perfect(void **state)
{
	struct fault f;

	(void)state;
	many(&f, &(struct fault_params){ 0 }, 1, perfect);
	assert_int_equal(f.st.delivered, FRAMES);
}

static void
delayed(uint64_t now, const struct fault_delivery *d, unsigned int n)
{
	static uint64_t last;

	if (now == 0)
		last = 0;
	assert_int_equal(n, 1);
	assert_true(d[0].at_ns >= now + 5000);
	assert_true(d[0].at_ns >= last); /* order kept */
	last = d[0].at_ns;
}

/* SIM-2 */
static void
jitter_keeps_the_order(void **state)
{
	struct fault f;

	(void)state;
	many(&f, &(struct fault_params){ .delay_ns = 5000, .jitter_ns = 3000 }, 1, delayed);
}

/* SIM-2: each rate is what was asked for, and only that happens */
static void
rates_are_what_was_asked_for(void **state)
{
	struct fault f;

	(void)state;
	many(&f, &(struct fault_params){ .drop_ppm = 100000 }, 1, NULL);
	assert_in_range(f.st.dropped, 1800, 2200);
	assert_int_equal(f.st.delivered, FRAMES - f.st.dropped);
	assert_int_equal(f.st.duplicated + f.st.reordered + f.st.corrupted + f.st.burst_dropped + f.st.queue_dropped, 0);
	many(&f, &(struct fault_params){ .dup_ppm = 100000 }, 2, NULL);
	assert_in_range(f.st.duplicated, 1800, 2200);
	assert_int_equal(f.st.delivered, FRAMES + f.st.duplicated);
	many(&f, &(struct fault_params){ .corrupt_ppm = 100000 }, 3, NULL);
	assert_in_range(f.st.corrupted, 1800, 2200);
	assert_int_equal(f.st.delivered, FRAMES);
	many(&f, &(struct fault_params){ .reorder_ppm = 100000, .reorder_ns = 5000 }, 4, NULL);
	assert_in_range(f.st.reordered, 1800, 2200);
	many(&f, &(struct fault_params){ .drop_ppm = 1000000 }, 5, NULL);
	assert_int_equal(f.st.delivered, 0);
	many(&f, &(struct fault_params){ .burst_ppm = 1000, .burst_len = 10 }, 6, NULL);
	assert_in_range(f.st.burst_dropped, 100, 350);
	assert_int_equal(f.st.burst_dropped % 10, 0);
}

/* SIM-2: a frame that is held back is overtaken by others, and by no more than reorder_ns */
static void
reordered_frames_are_overtaken_within_the_bound(void **state)
{
	struct fault_params p = { .reorder_ppm = 200000, .reorder_ns = 5000, .delay_ns = 100 };
	struct fault f;
	uint64_t last = 0;
	unsigned int overtaken = 0;

	(void)state;
	fault_init(&f, &p, 1, 1);
	for (uint64_t i = 0; i < FRAMES; i++) {
		struct fault_delivery d[FAULT_MAX_COPIES];
		unsigned int n;

		assert_int_equal(fault_frame(&f, i * 1000, FRAME, 1000, d, &n), FAULT_DELIVER);
		assert_int_equal(n, 1);
		assert_true(d[0].at_ns >= i * 1000 + 100 && d[0].at_ns <= i * 1000 + 100 + 5000);
		if (d[0].at_ns < last)
			overtaken++;
		else
			last = d[0].at_ns;
	}
	assert_true(overtaken > 1000);
}

/* SIM-2: one bit, within the frame */
static void
corruption_inverts_one_bit(void **state)
{
	struct fault f;
	uint8_t b[64] = { 0 };

	(void)state;
	fault_init(&f, &(struct fault_params){ .corrupt_ppm = 1000000 }, 1, 1);
	for (unsigned int i = 0; i < 2000; i++) {
		struct fault_delivery d[FAULT_MAX_COPIES];
		unsigned int n, ones = 0;

		assert_int_equal(fault_frame(&f, i, FRAME, 64, d, &n), FAULT_DELIVER);
		assert_true(d[0].flip_bit < 64 * 8);
		fault_flip(b, sizeof(b), d[0].flip_bit);
		for (unsigned int k = 0; k < 64; k++)
			ones += (unsigned int)__builtin_popcount(b[k]);
		assert_int_equal(ones, 1);
		fault_flip(b, sizeof(b), d[0].flip_bit);
	}
	fault_flip(b, sizeof(b), FAULT_NO_FLIP);
	fault_flip(b, sizeof(b), 64 * 8);
	for (unsigned int k = 0; k < 64; k++)
		assert_int_equal(b[k], 0);
}

/* SIM-2: 24 bytes of preamble, FCS and gap count; what does not fit the queue is dropped */
static void
the_rate_limit_spaces_frames_and_bounds_the_queue(void **state)
{
	struct fault_params p = { .rate_bps = 1000000000, .queue_bytes = 10000 };
	struct fault_delivery d[FAULT_MAX_COPIES];
	struct fault f;
	unsigned int n, sent = 0;
	uint64_t last = 0;

	(void)state;
	fault_init(&f, &p, 1, 1);
	for (unsigned int i = 0; i < 50; i++) { /* all at once: 1024 bytes each, 8192 ns */
		if (fault_frame(&f, 0, FRAME, 1000, d, &n) != FAULT_DELIVER)
			continue;
		if (sent > 0)
			assert_true(d[0].at_ns - last == 8192);
		last = d[0].at_ns;
		sent++;
	}
	assert_in_range(sent, 8, 12);
	assert_int_equal(f.st.queue_dropped, 50 - sent);
	assert_int_equal(fault_frame(&f, SEC, FRAME, 1000, d, &n), FAULT_DELIVER); /* a second later all is sent */
	assert_true(d[0].at_ns <= SEC + 8192);
}

/* SIM-2: the longest packet is counted behind the Ethernet header, and behind one tag */
static void
the_mtu_limit_counts_the_packet(void **state)
{
	uint8_t tagged[1600] = { [12] = 0x81 };
	struct fault_delivery d[FAULT_MAX_COPIES];
	struct fault f;
	unsigned int n;

	(void)state;
	fault_init(&f, &(struct fault_params){ .mtu = 1000 }, 1, 1);
	assert_int_equal(fault_frame(&f, 0, FRAME, 1014, d, &n), FAULT_DELIVER);
	assert_int_equal(fault_frame(&f, 0, FRAME, 1015, d, &n), FAULT_MTU);
	assert_int_equal(n, 0);
	assert_int_equal(fault_frame(&f, 0, tagged, 1018, d, &n), FAULT_DELIVER);
	assert_int_equal(fault_frame(&f, 0, tagged, 1019, d, &n), FAULT_MTU);
	assert_int_equal(f.st.mtu_dropped, 2);
}

/* SIM-1: the same seed and frames, the same answers; a stream of its own for each tag */
static void
faults_are_a_function_of_seed_and_tag(void **state)
{
	struct fault a, b, c;
	unsigned int differ = 0;

	(void)state;
	fault_init(&a, &BAD, 5, 1);
	fault_init(&b, &BAD, 5, 1);
	fault_init(&c, &BAD, 5, 2);
	for (uint64_t i = 0; i < 2000; i++) {
		struct fault_delivery x[FAULT_MAX_COPIES] = { 0 }, y[FAULT_MAX_COPIES] = { 0 }, z[FAULT_MAX_COPIES] = { 0 };
		unsigned int n, k, m;

		assert_int_equal(fault_frame(&a, i * 1000, FRAME, 500, x, &n), fault_frame(&b, i * 1000, FRAME, 500, y, &k));
		assert_int_equal(n, k);
		assert_memory_equal(x, y, sizeof(x[0]) * n);
		fault_frame(&c, i * 1000, FRAME, 500, z, &m);
		differ += m != n || memcmp(x, z, sizeof(x[0]) * n) != 0;
	}
	assert_true(differ > 100);
}

/* ---- processes --------------------------------------------------------------------------------------------- */

struct ticker {
	uint64_t steps, last_clock;
	unsigned int lives;
	uint32_t pid;
};

static void
tick(struct sim_proc *p, void *arg)
{
	struct ticker *t = arg;

	t->lives++;
	t->pid = shim_self(sim_proc_shim(p)).pid;
	while (!sim_stopping(p)) {
		uint64_t now = shim_clock_sample(sim_proc_shim(p));

		assert_true(now >= t->last_clock || t->steps == 0);
		t->last_clock = now;
		t->steps++;
		shim_sleep_ns(sim_proc_shim(p), MS);
	}
}

static struct sim_world *
tick_world(struct ticker *t, struct sim_proc **p, int64_t skew, int32_t drift)
{
	struct sim_world *w = sim_world_create(&(struct sim_options){ .seed = 1 });
	struct sim_host *h = sim_host_add(w, "h");

	memset(t, 0, sizeof(*t));
	*p = sim_proc_start(h, &(struct sim_proc_conf){ .name = "tick", .role = SHIM_ROLE_OBSERVER, .skew_ns = skew,
		.drift_ppm = drift, .main = tick, .arg = t });
	assert_non_null(*p);
	return w;
}

static void
tick_end(struct sim_world *w)
{
	struct sim_result r;

	sim_finish(w);
	sim_world_destroy(w, &r);
	if (r.failed)
		fail_msg("%s", r.why);
}

/* SIM-3 */
static void
a_paused_process_does_nothing_until_it_is_resumed(void **state)
{
	struct ticker t;
	struct sim_proc *p;
	struct sim_world *w = tick_world(&t, &p, 0, 0);
	uint64_t n;

	(void)state;
	sim_run(w, 100 * MS);
	assert_true(sim_now(w) == 100 * MS);
	assert_in_range(t.steps, 90, 101);
	sim_proc_pause(p);
	n = t.steps;
	sim_run(w, 500 * MS);
	assert_true(t.steps == n);
	assert_true(sim_proc_alive(p));
	sim_proc_resume(p);
	sim_run(w, 600 * MS);
	assert_in_range(t.steps, n + 90, n + 102);
	tick_end(w);
}

/* SIM-3 */
static void
a_killed_process_is_gone_and_can_begin_again(void **state)
{
	struct ticker t;
	struct sim_proc *p;
	struct sim_world *w = tick_world(&t, &p, 0, 0);
	uint64_t n;
	uint32_t pid;

	(void)state;
	sim_run(w, 10 * MS);
	assert_int_equal(sim_proc_restart(p), -EBUSY);
	sim_proc_kill(p);
	assert_false(sim_proc_alive(p));
	sim_proc_kill(p); /* nothing happens to a dead one */
	n = t.steps;
	pid = t.pid;
	sim_run(w, 20 * MS);
	assert_true(t.steps == n);
	assert_int_equal(sim_proc_restart(p), 0);
	sim_run(w, 30 * MS);
	assert_true(sim_proc_alive(p));
	assert_int_equal(t.lives, 2);
	assert_true(t.steps > n);
	assert_int_not_equal(t.pid, pid);
	tick_end(w);
}

/* SIM-3 */
static void
each_process_has_its_own_clock(void **state)
{
	static const struct { int64_t skew; int32_t drift; } t[] = { { 0, 0 }, { 123456789, 0 }, { -123456789, 0 }, { 0, 100000 },
		{ 0, -100000 } };

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		struct ticker k;
		struct sim_proc *p;
		struct sim_world *w = tick_world(&k, &p, t[i].skew, t[i].drift);
		int64_t want = (int64_t)SIM_CLOCK_BASE_NS + t[i].skew + (int64_t)SEC + (int64_t)SEC / 1000000 * t[i].drift;
		int64_t is;

		sim_run(w, SEC);
		is = (int64_t)shim_clock_ns(sim_proc_shim(p));
		assert_true(is - want < (int64_t)MS && want - is < (int64_t)MS);
		/* it sleeps by its own clock */
		assert_in_range(k.steps, (uint64_t)(990 + t[i].drift / 1000), (uint64_t)(1002 + t[i].drift / 1000));
		tick_end(w);
	}
}

/* SIM-5, SIM-6: the first failure ends the run and says when and why, and the result carries the seed */
static void
a_failure_ends_the_run_and_is_kept(void **state)
{
	struct ticker t;
	struct sim_proc *p;
	struct sim_world *w = tick_world(&t, &p, 0, 0);
	struct sim_result r;

	(void)state;
	sim_run(w, 5 * MS);
	assert_true(sim_check(w, 1 + 1 == 2, "never"));
	assert_false(sim_check(w, 1 + 1 == 3, "one and one is %d", 2));
	assert_true(sim_failed(w));
	sim_fail(w, "a second one");
	sim_run(w, 50 * MS);
	assert_true(t.steps < 10);
	sim_world_destroy(w, &r);
	assert_true(r.failed);
	assert_non_null(strstr(r.why, "one and one is 2"));
	assert_true(r.seed == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_gives_the_same_run),
		cmocka_unit_test(another_seed_gives_another_run),
		cmocka_unit_test(every_datagram_gets_through_a_bad_wire),
		cmocka_unit_test(skew_and_drift_do_no_harm),
		cmocka_unit_test(a_zeroed_wire_is_perfect),
		cmocka_unit_test(jitter_keeps_the_order),
		cmocka_unit_test(rates_are_what_was_asked_for),
		cmocka_unit_test(reordered_frames_are_overtaken_within_the_bound),
		cmocka_unit_test(corruption_inverts_one_bit),
		cmocka_unit_test(the_rate_limit_spaces_frames_and_bounds_the_queue),
		cmocka_unit_test(the_mtu_limit_counts_the_packet),
		cmocka_unit_test(faults_are_a_function_of_seed_and_tag),
		cmocka_unit_test(a_paused_process_does_nothing_until_it_is_resumed),
		cmocka_unit_test(a_killed_process_is_gone_and_can_begin_again),
		cmocka_unit_test(each_process_has_its_own_clock),
		cmocka_unit_test(a_failure_ends_the_run_and_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

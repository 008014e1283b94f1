/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP publish table by its header: probes, ageing at the millisecond, sweeps, states, and a zone that lies. */
#include "guard.h"

#include <errno.h>

#include "core/dispatch/pub_table.h"
#include "shim/host/mock/mock.h"

#define BOOT 0x1122334455667788ull
#define IDLE 10000u
#define N 64u

static const struct siphash_key SECRET = { 0x0123456789abcdefull, 0xfedcba9876543210ull };

struct bed {
	struct shim *shim;
	struct guard g;
	struct pub_table *t;
	struct pub w, r;      /* writer, reader */
};

static struct bed
bed_new(uint32_t entries, uint32_t idle)
{
	struct bed b = { .shim = mock_shim_new(), .g = guard_new(pub_table_size(entries)) };

	b.t = (struct pub_table *)b.g.p;
	assert_int_equal(pub_table_init(b.shim, b.t, entries, BOOT), 0);
	assert_int_equal(pub_attach(&b.w, b.shim, b.t, b.g.n, BOOT, &SECRET, idle), 0);
	pub_writer_begin(&b.w, 0x77);
	assert_int_equal(pub_attach(&b.r, b.shim, b.t, b.g.n, BOOT, &SECRET, idle), 0);
	return b;
}

static void
bed_free(struct bed *b)
{
	guard_free(&b->g);
	assert_int_equal(mock_shim_free(b->shim), 0);
}

/* Where a fingerprint stands; UINT32_MAX: nowhere. Twice is an error. */
static uint32_t
place(const struct bed *b, uint64_t fp)
{
	uint32_t at = UINT32_MAX;

	for (uint32_t i = 0; i <= b->w.mask; i++)
		if (b->t->entry[i].fp == fp) {
			assert_int_equal(at, UINT32_MAX);
			at = i;
		}
	return at;
}

static unsigned int
count_fp(const struct bed *b, uint64_t fp)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i <= b->w.mask; i++)
		n += b->t->entry[i].fp == fp;
	return n;
}

/*
 * n fingerprints whose first choice in an empty table of so many entries is this one, a multiple of 4: what a cache line
 * holds may be looked at from its beginning.
 */
static void
homed(uint32_t entries, uint32_t home, uint64_t *fp, unsigned int n, uint64_t seed)
{
	struct bed b = bed_new(entries, IDLE);
	unsigned int tries = 0;

	for (unsigned int i = 0; i < n;) {
		uint64_t f = draw(&seed) | 2;

		assert_true(++tries < 100000);
		assert_true(pub_record_hash(&b.w, f, 0));
		if (place(&b, f) == home)
			fp[i++] = f;
		pub_writer_begin(&b.w, 0x77);
	}
	bed_free(&b);
}

static struct flow_key
key(unsigned int i)
{
	struct flow_key k;
	union ip_addr r = ip_addr_v4(0x0200000a + (i << 24)), l = ip_addr_v4(0x0100000a);

	flow_key_make(&k, ADDR_INET, 17, &r, (uint16_t)(1000 + i), &l, 53);
	return k;
}

/* Records at once; true: it is there. */
static bool
record(struct pub *p, const struct flow_key *k, uint32_t now_ms)
{
	pub_record(p, k, now_ms);
	pub_flush(p);
	return pub_lookup(p, flow_hash(&SECRET, k), now_ms);
}

/* ---- PUB-1 -------------------------------------------------------------------------------------------- */

/* PUB-1 */
static void
sizes_are_as_promised(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct pub_entry), 16);
	assert_int_equal(PUB_ENTRIES_DEFAULT, 16384);
	assert_int_equal(PUB_PROBES, 32);
	assert_int_equal(offsetof(struct pub_table, entry) % 64, 0);
	for (uint32_t e = PUB_ENTRIES_MIN; e <= PUB_ENTRIES_MAX; e *= 2)
		assert_int_equal(pub_table_size(e), offsetof(struct pub_table, entry) + (size_t)e * 16);
}

/* PUB-1 */
static void
entries_that_are_no_power_of_two_or_out_of_range_are_refused(void **state)
{
	static const uint32_t bad[] = { 0, 1, 2, 32, 63, 65, 96, 127, 129, 1000, 16383, 16385, 24576, PUB_ENTRIES_MAX - 1,
		PUB_ENTRIES_MAX + 1, PUB_ENTRIES_MAX * 2, 0x80000000u, UINT32_MAX };
	struct bed b = bed_new(N, IDLE);

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pub_table_init(b.shim, b.t, bad[i], BOOT), -EINVAL);
	assert_int_equal(pub_table_init(b.shim, b.t, N, BOOT), 0);
	bed_free(&b);
}

/* PUB-1: 32 places for one first choice and not one more; nothing alive makes room */
static void
the_33rd_flow_of_a_place_is_counted_and_evicts_nobody(void **state)
{
	uint64_t fp[33];

	(void)state;
	for (uint32_t home = 0; home < N; home += 20) { /* 0, 20, 40, 60: the last two wrap */
		struct bed b = bed_new(N, IDLE);

		homed(N, home, fp, 33, 99 + home);
		for (unsigned int i = 0; i < 32; i++)
			assert_true(pub_record_hash(&b.w, fp[i], 5));
		assert_int_equal(b.w.not_recorded, 0);
		assert_false(pub_record_hash(&b.w, fp[32], 5));
		assert_int_equal(b.w.not_recorded, 1);
		assert_int_equal(b.t->not_recorded, 1);
		assert_false(pub_lookup(&b.r, fp[32], 5));
		for (unsigned int i = 0; i < 32; i++) {
			assert_true(pub_lookup(&b.r, fp[i], 5));
			assert_true(pub_record_hash(&b.w, fp[i], 6)); /* and goes on being recorded */
			assert_true(place(&b, fp[i]) < N);
		}
		assert_true(pub_lookup_bulk(&b.r, fp, 33, 6, NULL) == 0xffffffffull);
		bed_free(&b);
	}
}

/* PUB-1: a flow 31 places from home is found, one 32 places away is none of ours */
static void
a_lookup_ends_after_32_probes(void **state)
{
	uint64_t fp[1], out, aged;

	(void)state;
	for (uint32_t home = 0; home < N; home += 12) {
		struct bed b = bed_new(N, IDLE);

		homed(N, home, fp, 1, 7 + home);
		for (unsigned int d = 31; d <= 32; d++) {
			for (uint32_t i = 0; i < N; i++)
				b.t->entry[i] = (struct pub_entry){ .fp = 0x1000 + i, .last_ms = 100 };
			b.t->entry[(home + d) % N].fp = fp[0];
			assert_int_equal(pub_lookup(&b.r, fp[0], 100), d == 31);
			out = pub_lookup_bulk(&b.r, fp, 1, 100, &aged);
			assert_int_equal(out, d == 31);
			assert_int_equal(aged, 0);
		}
		bed_free(&b);
	}
}

/* PUB-1: the same by keys as by hashes, whatever the number of entries; another secret finds nothing */
static void
keys_and_hashes_meet(void **state)
{
	const struct siphash_key other = { 1, 2 };

	(void)state;
	for (uint32_t e = 64; e <= 65536; e *= 4) {
		struct bed b = bed_new(e, IDLE);

		for (unsigned int i = 0; i < 30; i++) {
			struct flow_key k = key(i);
			uint64_t h = flow_hash(&SECRET, &k);

			assert_false(pub_lookup(&b.r, h, 1));
			assert_true(record(&b.w, &k, 1));
			assert_true(pub_lookup(&b.r, h, 1));
			assert_int_equal(b.t->entry[place(&b, h)].last_ms, 1);
			assert_false(pub_lookup(&b.r, flow_hash(&other, &k), 1));
			assert_true(record(&b.w, &k, 2)); /* the train's second packet */
			assert_int_equal(b.t->entry[place(&b, h)].last_ms, 2);
		}
		assert_int_equal(pub_active(&b.r, 2), 30);
		assert_int_equal(pub_active(&b.w, 2), 30);
		bed_free(&b);
	}
}

/* ---- PUB-2, PUB-3 ------------------------------------------------------------------------------------- */

/* PUB-2, PUB-3: what was recorded before a window is there in it at once */
static void
recorded_in_every_state(void **state)
{
	static const enum pub_state st[] = { PUB_NONE, PUB_PUBLISHING, PUB_HANDED, PUB_NONE };
	struct bed b = bed_new(N, IDLE);

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct flow_key k = key(i);

		pub_state_set(&b.w, st[i], i);
		assert_true(record(&b.w, &k, 10 + i));
		for (unsigned int j = 0; j <= i; j++) {
			struct flow_key q = key(j);

			assert_true(pub_lookup(&b.r, flow_hash(&SECRET, &q), 20));
		}
	}
	bed_free(&b);
}

/* PUB-3 */
static void
state_and_window_id_are_read_as_set(void **state)
{
	static const uint32_t id[] = { 0, 1, 2, 255, 256, 0x3ffffff0u, 0x80000000u, UINT32_MAX };
	struct bed b = bed_new(N, IDLE);
	uint32_t wid = 9;

	(void)state;
	assert_int_equal(pub_state_get(&b.r, &wid), PUB_NONE);
	for (unsigned int i = 0; i < 8; i++)
		for (enum pub_state s = PUB_NONE; s <= PUB_HANDED; s++) {
			pub_state_set(&b.w, s, id[i]);
			wid = 9;
			assert_int_equal(pub_state_get(&b.r, &wid), s);
			if (s != PUB_NONE)
				assert_int_equal(wid, id[i]);
			assert_true(b.t->state == ((uint64_t)id[i] << 32 | s));
		}
	bed_free(&b);
}

/* PUB-3: a word that no writer stores */
static void
an_impossible_state_word_reads_as_handed(void **state)
{
	struct bed b = bed_new(N, IDLE);
	uint32_t wid;

	(void)state;
	for (unsigned int v = 3; v < 256; v++) {
		b.t->state = 5ull << 32 | v;
		assert_int_equal(pub_state_get(&b.r, &wid), PUB_HANDED);
	}
	for (unsigned int bit = 8; bit < 32; bit++)
		for (unsigned int s = 0; s < 3; s++) {
			b.t->state = 5ull << 32 | 1ull << bit | s;
			assert_int_equal(pub_state_get(&b.r, &wid), PUB_HANDED);
		}
	bed_free(&b);
}

/* ---- PUB-4 -------------------------------------------------------------------------------------------- */

/* PUB-4: at idle exactly it is active, a ms later not; a writer ahead of the reader keeps its flow; over the wrap */
static void
ageing_is_a_signed_difference(void **state)
{
	static const uint32_t base[] = { 0, 1, 5000, 0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu, 0u - IDLE, 1u - IDLE,
		0xfffffff0u };
	static const struct { int32_t since; bool active; } t[] = { { 0, true }, { 1, true }, { IDLE - 1, true },
		{ IDLE, true }, { IDLE + 1, false }, { IDLE + 2, false }, { -1, true }, { -5, true }, { -999, true },
		{ 0x7fffffff, false } };

	(void)state;
	for (unsigned int i = 0; i < 10; i++)
		for (unsigned int j = 0; j < 10; j++) {
			struct bed b = bed_new(N, IDLE);
			uint32_t now = base[i] + (uint32_t)t[j].since;
			uint64_t fp = 0xabcdef0123456789ull, aged = 7;

			assert_true(pub_record_hash(&b.w, fp, base[i]));
			assert_int_equal(pub_lookup(&b.r, fp, now), t[j].active);
			assert_int_equal(pub_lookup_bulk(&b.r, &fp, 1, now, &aged), t[j].active);
			assert_int_equal(aged, !t[j].active);
			assert_int_equal(pub_lookup_bulk(&b.r, &fp, 1, now, NULL), t[j].active);
			assert_int_equal(pub_active(&b.w, now), t[j].active);
			pub_sweep(&b.w, N, now);
			assert_int_equal(place(&b, fp) != UINT32_MAX, t[j].active);
			bed_free(&b);
		}
}

/* PUB-4 */
static void
idle_is_capped_at_one_hour(void **state)
{
	static const uint32_t want[] = { PUB_IDLE_MAX_MS, PUB_IDLE_MAX_MS + 1, 0x80000000u, UINT32_MAX };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct bed b = bed_new(N, want[i]);

		assert_true(pub_record_hash(&b.w, 77, 1000));
		assert_true(pub_lookup(&b.r, 77, 1000 + 3600000));
		assert_false(pub_lookup(&b.r, 77, 1000 + 3600001));
		bed_free(&b);
	}
}

/* PUB-4: the writer's idle time governs; where the zone's is impossible, the reader's own */
static void
the_writers_idle_time_governs(void **state)
{
	static const uint32_t lie[] = { 0, PUB_IDLE_MAX_MS + 1, 0x80000000u, UINT32_MAX };
	struct bed b = bed_new(N, 5000);
	struct pub r;

	(void)state;
	assert_int_equal(pub_attach(&r, b.shim, b.t, b.g.n, BOOT, &SECRET, 200), 0);
	assert_int_equal(b.t->idle_ms, 5000);
	assert_true(pub_record_hash(&b.w, 77, 0));
	assert_true(pub_lookup(&r, 77, 5000));
	assert_false(pub_lookup(&r, 77, 5001));
	for (unsigned int i = 0; i < 4; i++) {
		b.t->idle_ms = lie[i];
		assert_true(pub_lookup(&r, 77, 200));
		assert_false(pub_lookup(&r, 77, 201));
	}
	bed_free(&b);
}

/* PUB-4: a day's pass is enough for an entry never to be young again */
static void
a_swept_entry_never_looks_like_the_future(void **state)
{
	struct bed b = bed_new(N, IDLE);

	(void)state;
	assert_true(pub_record_hash(&b.w, 77, 5));
	for (uint32_t i = 0; i < N; i++)
		pub_sweep(&b.w, 1, 86400000u);
	for (unsigned int k = 0; k < 32; k++)
		assert_false(pub_lookup(&b.r, 77, 5 + (1u << k)));
	assert_false(pub_lookup(&b.r, 77, 5));
	assert_false(pub_lookup(&b.r, 77, 4)); /* 49.7 days later */
	bed_free(&b);
}

/* PUB-4: any step makes a whole pass; a step longer than the table is one pass */
static void
a_sweep_of_any_step_passes_everything(void **state)
{
	static const uint32_t step[] = { 1, 3, 7, 16, 63, 64, 65, 1000, UINT32_MAX };

	(void)state;
	for (unsigned int s = 0; s < 9; s++) {
		struct bed b = bed_new(N, IDLE);
		uint64_t seed = 5;
		unsigned int n = 0;

		while (n < 30)
			n += pub_record_hash(&b.w, draw(&seed) | 2, n & 1 ? 50000 : 0);
		pub_sweep(&b.w, 0, 50000); /* goes nowhere */
		assert_int_equal(count_fp(&b, 0), N - 30);
		for (uint64_t done = 0; done < N; done += step[s])
			pub_sweep(&b.w, step[s], 50000);
		assert_int_equal(pub_active(&b.r, 50000), 15);
		assert_int_equal(count_fp(&b, 0) + count_fp(&b, 1), N - 15);
		assert_int_equal(b.w.used, 15);
		assert_int_equal(b.t->used, 15);
		bed_free(&b);
	}
}

/* PUB-4: what stands behind a removed entry is found all the same, in a window (where it must not move) and out of it */
static void
removing_in_a_chain_loses_nobody(void **state)
{
	uint64_t fp[32];

	(void)state;
	for (unsigned int window = 0; window < 2; window++)
		for (unsigned int gone = 0; gone < 8; gone++) {
			struct bed b = bed_new(N, IDLE);
			uint32_t at[8];

			homed(N, 60, fp, 8, 1234);
			if (window)
				pub_state_set(&b.w, PUB_PUBLISHING, 2);
			for (unsigned int i = 0; i < 8; i++) {
				assert_true(pub_record_hash(&b.w, fp[i], i == gone ? 0 : IDLE));
				at[i] = place(&b, fp[i]);
			}
			for (unsigned int k = 0; k < N; k++) {
				pub_sweep(&b.w, 1, IDLE + 1);
				for (unsigned int i = 0; i < 8; i++)
					assert_int_equal(pub_lookup(&b.r, fp[i], IDLE + 1), i != gone);
			}
			for (unsigned int i = 0; i < 8 && window; i++)
				if (i != gone)
					assert_int_equal(place(&b, fp[i]), at[i]);
			if (window && gone == 7)
				assert_int_equal(count_fp(&b, 1), 0); /* nothing behind it needs the way */
			/* the one that went comes again: it is there once, whichever place it takes */
			assert_true(pub_record_hash(&b.w, fp[gone], IDLE + 2));
			for (unsigned int i = 0; i < 8; i++) {
				assert_true(pub_lookup(&b.r, fp[i], IDLE + 2));
				assert_true(pub_record_hash(&b.w, fp[i], IDLE + 3));
				assert_true(place(&b, fp[i]) < N);
			}
			assert_int_equal(pub_active(&b.r, IDLE + 3), 8);
			bed_free(&b);
		}
}

/* PUB-4: out of a window flows come home, and an empty table is an empty table, after 10^4 rounds of comers and goers */
static void
ten_thousand_rounds_leave_no_marks(void **state)
{
	struct bed b = bed_new(64, IDLE);
	uint64_t seed = 1, fp[5];
	uint32_t now = 0xfff00000u; /* wraps on the way */

	(void)state;
	for (unsigned int round = 0; round < 10000; round++) {
		pub_state_set(&b.w, PUB_PUBLISHING, round);
		for (unsigned int i = 0; i < 12; i++)
			assert_true(pub_record_hash(&b.w, draw(&seed) | 2, now));
		pub_sweep(&b.w, 20, now);
		now += IDLE / 2 + 1;
		pub_state_set(&b.w, PUB_NONE, 0);
		pub_sweep(&b.w, 64, now);
		assert_true(b.w.used <= 24);
	}
	assert_int_equal(b.w.not_recorded, 0);
	now += IDLE + 1;
	for (unsigned int i = 0; i < 2; i++)
		pub_sweep(&b.w, 64, now);
	assert_int_equal(count_fp(&b, 0), 64);
	assert_int_equal(b.w.used, 0);
	homed(64, 60, fp, 5, 3); /* four to a cache line: the fifth has to go on from the table's beginning */
	for (unsigned int i = 0; i < 5; i++)
		assert_true(pub_record_hash(&b.w, fp[i], i == 4 ? now + 5 : now));
	assert_true(place(&b, fp[4]) < 60);
	for (unsigned int i = 0; i < 2; i++)
		pub_sweep(&b.w, 64, now + IDLE + 1);
	assert_true(pub_lookup(&b.r, fp[4], now + IDLE + 1));
	assert_true(place(&b, fp[4]) >= 60);
	assert_int_equal(count_fp(&b, 1), 0);
	bed_free(&b);
}

/* PUB-4: the train's memory: the flow recorded last is swept, its place is taken by another, it comes again */
static void
the_remembered_place_is_not_believed(void **state)
{
	struct bed b = bed_new(N, IDLE);
	struct flow_key k = key(1), other;
	uint64_t h = flow_hash(&SECRET, &k), g;
	unsigned int i = 2;
	uint32_t at;

	(void)state;
	assert_true(record(&b.w, &k, 0));
	at = place(&b, h);
	pub_sweep(&b.w, N, IDLE + 1);
	assert_false(pub_lookup(&b.r, h, 0));
	for (;; i++) { /* another flow takes the very place, by its hash so that the memory is not touched */
		assert_true(i < 5000);
		other = key(i);
		g = flow_hash(&SECRET, &other);
		assert_true(pub_record_hash(&b.w, g, IDLE + 1));
		if (place(&b, g) == at)
			break;
		pub_sweep(&b.w, N, 3 * IDLE);
	}
	assert_int_equal(place(&b, g), at);
	assert_true(record(&b.w, &k, 2 * IDLE));
	assert_true(pub_lookup(&b.r, h, 2 * IDLE));
	assert_int_equal(b.t->entry[place(&b, g)].last_ms, IDLE + 1);
	assert_int_equal(b.t->entry[place(&b, h)].last_ms, 2 * IDLE);
	bed_free(&b);
}

/* PUB-1, PUB-2, PUB-4: a table under random use against a list */
static void
the_table_is_what_a_list_says(void **state)
{
	enum { FLOWS = 90 };

	(void)state;
	for (uint64_t s = 1; s <= 6; s++) {
		struct bed b = bed_new(128, 100);
		uint64_t seed = s * 77, fp[FLOWS], aged, got;
		struct flow_key k[FLOWS];
		uint32_t last[FLOWS], now = s & 1 ? 0xfffff000u : 0;
		bool in[FLOWS] = { false };

		for (unsigned int i = 0; i < FLOWS; i++) {
			k[i] = key(i);
			fp[i] = flow_hash(&SECRET, &k[i]);
		}
		for (unsigned int step = 0; step < 1500; step++) {
			unsigned int i = (unsigned int)(draw(&seed) % FLOWS), n = (unsigned int)(draw(&seed) % 65);
			unsigned int from = (unsigned int)(draw(&seed) % (FLOWS - 64));

			if (draw(&seed) % 4 == 0)
				now += (uint32_t)(draw(&seed) % 20);
			if (draw(&seed) % 200 == 0)
				pub_state_set(&b.w, draw(&seed) & 1 ? PUB_PUBLISHING : PUB_NONE, 3);
			if (draw(&seed) % 3 == 0)
				pub_sweep(&b.w, (uint32_t)(draw(&seed) % 40), now);
			if (draw(&seed) & 1 ? record(&b.w, &k[i], now) : pub_record_hash(&b.w, fp[i], now)) {
				in[i] = true;
				last[i] = now;
			} else {
				assert_false(in[i] && (int32_t)(now - last[i]) <= 100);
				in[i] = false;
			}
			got = pub_lookup_bulk(&b.r, fp + from, n, now, draw(&seed) & 1 ? NULL : &aged);
			for (unsigned int j = 0; j < n; j++) {
				unsigned int f = from + j;
				bool want = in[f] && (int32_t)(now - last[f]) <= 100;

				assert_int_equal(got >> j & 1, want);
				assert_int_equal(pub_lookup(&b.r, fp[f], now), want);
			}
			assert_true(n == 64 || got >> n == 0);
		}
		for (unsigned int i = 0; i < FLOWS; i++)
			place(&b, fp[i]); /* never twice */
		assert_int_equal(b.w.used, 128 - count_fp(&b, 0) - count_fp(&b, 1));
		bed_free(&b);
	}
}

/* PUB-1: an answer for each, and nothing in the bits of nobody */
static void
bulk_answers_for_as_many_as_were_asked(void **state)
{
	struct bed b = bed_new(256, IDLE);
	uint64_t fp[64], seed = 3, want = 0, want_aged = 0, aged;

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		fp[i] = draw(&seed) | 2;
		if (i % 3 == 0)
			assert_true(pub_record_hash(&b.w, fp[i], 0));
		if (i % 3 == 1)
			assert_true(pub_record_hash(&b.w, fp[i], IDLE));
		want_aged |= (uint64_t)(i % 3 == 0) << i;
		want |= (uint64_t)(i % 3 == 1) << i;
	}
	for (unsigned int n = 0; n <= 64; n++) {
		uint64_t mask = n == 64 ? UINT64_MAX : (1ull << n) - 1;

		aged = UINT64_MAX;
		assert_true(pub_lookup_bulk(&b.r, fp, n, IDLE + 1, &aged) == (want & mask));
		assert_true(aged == (want_aged & mask));
	}
	bed_free(&b);
}

/* ---- PUB-5 -------------------------------------------------------------------------------------------- */

/* PUB-5: whatever a killed one left, wherever it was killed */
static void
a_successor_empties_the_table(void **state)
{
	(void)state;
	for (unsigned int how = 0; how < 3; how++) {
		struct bed b = bed_new(256, IDLE);
		struct pub w2;
		uint32_t wid;

		for (unsigned int i = 0; i < 100; i++) {
			struct flow_key k = key(i);

			assert_true(record(&b.w, &k, 1));
		}
		pub_state_set(&b.w, how == 1 ? PUB_HANDED : PUB_PUBLISHING, 8);
		if (how == 2) /* and rubbish: everything but the head's facts */
			memset(b.t->entry, 0xa5, 256 * sizeof(b.t->entry[0]));
		b.t->not_recorded = b.t->used = 999;
		assert_int_equal(pub_attach(&w2, b.shim, b.t, b.g.n, BOOT, &SECRET, IDLE), 0);
		pub_writer_begin(&w2, 0x99);
		assert_int_equal(pub_state_get(&b.r, &wid), PUB_NONE);
		assert_true(b.t->writer == 0x99);
		assert_int_equal(count_fp(&b, 0), 256);
		assert_int_equal(pub_active(&b.r, 1), 0);
		assert_int_equal(b.t->used, 0);
		for (unsigned int i = 0; i < 100; i++) {
			struct flow_key k = key(i);

			assert_false(pub_lookup(&b.r, flow_hash(&SECRET, &k), 1));
			assert_true(record(&w2, &k, 2));
		}
		assert_int_equal(pub_active(&b.r, 2), 100);
		bed_free(&b);
	}
}

/* ---- a zone that lies ----------------------------------------------------------------------------------- */

static void
ask_everything(struct bed *b, const struct pub *p)
{
	struct pub copy = *p;
	uint64_t fp[64], seed = 9, got, aged = 0;
	uint32_t wid;
	enum pub_state s;

	for (unsigned int i = 0; i < 64; i++) {
		struct flow_key k = key(i);

		fp[i] = i & 1 ? draw(&seed) | 2 : flow_hash(&SECRET, &k);
	}
	got = pub_lookup_bulk(p, fp, 64, 100, &aged);
	assert_true((got & aged) == 0);
	for (unsigned int i = 0; i < 64; i += 7)
		assert_int_equal(pub_lookup(p, fp[i], 100), got >> i & 1);
	assert_true(pub_active(&copy, 100) <= b->w.mask + 1);
	s = pub_state_get(p, &wid);
	assert_true(s <= PUB_HANDED);
}

/* PUB-1, PUB-3: every byte of the zone turned over, for those that are attached and for those that come */
static void
every_byte_may_lie(void **state)
{
	static const uint8_t x[] = { 0x01, 0x80, 0xff };
	struct bed b = bed_new(N, IDLE);
	uint8_t *z = b.g.p;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		struct flow_key k = key(i);

		record(&b.w, &k, 90);
	}
	pub_state_set(&b.w, PUB_PUBLISHING, 4);
	for (size_t at = 0; at < b.g.n; at++)
		for (unsigned int j = 0; j < 3; j++) {
			struct pub p;
			int rc;

			z[at] ^= x[j];
			ask_everything(&b, &b.r);
			rc = pub_attach(&p, b.shim, b.t, b.g.n, BOOT, &SECRET, IDLE);
			if (at < offsetof(struct pub_table, state))
				assert_int_equal(rc, -EPROTO);
			else
				assert_int_equal(rc, 0);
			ask_everything(&b, &p);
			z[at] ^= x[j];
		}
	bed_free(&b);
}

/* PUB-1: a writer whose zone is scribbled over neither crashes nor runs for ever */
static void
a_writer_survives_a_scribbled_zone(void **state)
{
	struct bed b = bed_new(N, IDLE);
	uint64_t seed = 4;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		struct flow_key k = key((unsigned int)(draw(&seed) % 50));

		b.g.p[draw(&seed) % b.g.n] = (uint8_t)draw(&seed);
		record(&b.w, &k, round);
		if (draw(&seed) % 8 == 0)
			pub_state_set(&b.w, (enum pub_state)(draw(&seed) % 3), round);
		pub_sweep(&b.w, (uint32_t)(draw(&seed) % 100), round);
		ask_everything(&b, &b.r);
	}
	for (unsigned int v = 0; v < 256; v++) {
		struct flow_key k = key(v);

		memset(b.g.p, (int)v, b.g.n);
		record(&b.w, &k, v);
		pub_sweep(&b.w, 200, v);
		pub_active(&b.w, v);
		ask_everything(&b, &b.r);
	}
	bed_free(&b);
}

static void
assert_absent(struct bed *b, const struct pub *p)
{
	struct pub copy = *p;
	struct flow_key k = key(1);
	uint64_t h = flow_hash(&SECRET, &k), aged = 3;
	uint32_t wid;

	assert_null(p->t);
	assert_false(pub_lookup(p, h, 1));
	assert_int_equal(pub_lookup_bulk(p, &h, 1, 1, &aged), 0);
	assert_int_equal(aged, 0);
	assert_int_equal(pub_active(&copy, 1), 0);
	assert_int_equal(pub_state_get(p, &wid), PUB_HANDED);
	ask_everything(b, p);
}

/* PUB-1: too small, of another boot, of another version (both are named), of an impossible number of entries */
static void
what_does_not_fit_is_refused_and_absent(void **state)
{
	static const uint32_t entries[] = { 0, 1, 32, 63, 65, 96, 128, 1u << 24, 1u << 25, 1u << 28, 1u << 31, UINT32_MAX };
	struct bed b = bed_new(N, IDLE);
	struct flow_key k = key(1);
	struct pub p;

	(void)state;
	assert_true(record(&b.w, &k, 1));
	for (size_t n = 0; n < b.g.n; n += n < 128 ? 1 : 16) {
		assert_int_equal(pub_attach(&p, b.shim, b.t, n, BOOT, &SECRET, IDLE), -EPROTO);
		assert_absent(&b, &p);
	}
	assert_int_equal(pub_attach(&p, b.shim, b.t, b.g.n, BOOT + 1, &SECRET, IDLE), -EPROTO);
	assert_absent(&b, &p);
	for (unsigned int i = 0; i < 12; i++) {
		b.t->entries = entries[i];
		assert_int_equal(pub_attach(&p, b.shim, b.t, b.g.n, BOOT, &SECRET, IDLE), -EPROTO);
		assert_absent(&b, &p);
		ask_everything(&b, &b.r); /* and who is attached stays within its own bounds */
	}
	b.t->entries = N;
	b.t->layout_version = 4711;
	assert_int_equal(pub_attach(&p, b.shim, b.t, b.g.n, BOOT, &SECRET, IDLE), -EPROTO);
	assert_absent(&b, &p);
	assert_non_null(strstr(mock_last_message(b.shim), "4711"));
	assert_non_null(strstr(mock_last_message(b.shim), "1"));
	b.t->layout_version = PUB_LAYOUT_VERSION;
	assert_int_equal(pub_attach(&p, b.shim, b.t, b.g.n, BOOT, &SECRET, IDLE), 0);
	assert_true(pub_lookup(&p, flow_hash(&SECRET, &k), 1));
	bed_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_as_promised),
		cmocka_unit_test(entries_that_are_no_power_of_two_or_out_of_range_are_refused),
		cmocka_unit_test(the_33rd_flow_of_a_place_is_counted_and_evicts_nobody),
		cmocka_unit_test(a_lookup_ends_after_32_probes),
		cmocka_unit_test(keys_and_hashes_meet),
		cmocka_unit_test(recorded_in_every_state),
		cmocka_unit_test(state_and_window_id_are_read_as_set),
		cmocka_unit_test(an_impossible_state_word_reads_as_handed),
		cmocka_unit_test(ageing_is_a_signed_difference),
		cmocka_unit_test(idle_is_capped_at_one_hour),
		cmocka_unit_test(the_writers_idle_time_governs),
		cmocka_unit_test(a_swept_entry_never_looks_like_the_future),
		cmocka_unit_test(a_sweep_of_any_step_passes_everything),
		cmocka_unit_test(removing_in_a_chain_loses_nobody),
		cmocka_unit_test(ten_thousand_rounds_leave_no_marks),
		cmocka_unit_test(the_remembered_place_is_not_believed),
		cmocka_unit_test(the_table_is_what_a_list_says),
		cmocka_unit_test(bulk_answers_for_as_many_as_were_asked),
		cmocka_unit_test(a_successor_empties_the_table),
		cmocka_unit_test(every_byte_may_lie),
		cmocka_unit_test(a_writer_survives_a_scribbled_zone),
		cmocka_unit_test(what_does_not_fit_is_refused_and_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The publish table: recording, ageing, full windows, hostile memory, and readers at every step of the writer. */
#include "frames.h"

#include <errno.h>
#include <stdio.h>

#include "core/dispatch/pub_table.h"

#define ENTRIES 256u
#define IDLE 10000u
#define BOOT 77u

static const struct siphash_key secret = { 3, 5 };

struct env {
	struct shim *w, *r;          /* the writer's and the reader's door */
	struct pub_table *t;
	struct pub writer, reader;
	/* what the hook does at the nth shared access from now */
	unsigned int at;
	bool busy;
	void (*act)(struct env *e);
	uint32_t now;
	uint64_t seed;
	bool seen_old, seen_new;
};

static int
setup(void **state)
{
	struct env *e = test_calloc(1, sizeof(*e));
	void *addr;

	e->w = mock_shim_new();
	e->r = mock_shim_attach(e->w, SHIM_ROLE_WORKER, 2);
	assert_int_equal(shim_zone_reserve(e->w, "pub", pub_table_size(ENTRIES), &addr), 0);
	e->t = addr;
	assert_int_equal(pub_table_init(e->w, e->t, ENTRIES, BOOT), 0);
	assert_int_equal(pub_attach(&e->writer, e->w, e->t, pub_table_size(ENTRIES), BOOT, &secret, IDLE), 0);
	assert_int_equal(pub_attach(&e->reader, e->r, e->t, pub_table_size(ENTRIES), BOOT, &secret, IDLE), 0);
	pub_writer_begin(&e->writer, 42);
	*state = e;
	return 0;
}

static int
teardown(void **state)
{
	struct env *e = *state;
	unsigned int leaks = mock_shim_free(e->r);

	leaks += mock_shim_free(e->w);
	test_free(e);
	return leaks == 0 ? 0 : -1;
}

static struct flow_key
flow(unsigned int n)
{
	return key_of(17, "10.0.0.2", n & 0xffff, "10.0.0.1", 7 + (n >> 16));
}

static uint64_t
print_of(unsigned int n)
{
	struct flow_key k = flow(n);

	return flow_hash(&secret, &k);
}

/* The nth fingerprint whose home is the line of entry `home`. */
static uint64_t
at_home(uint32_t home, uint32_t n)
{
	return (uint64_t)(n + 1) << 32 | home;
}

static uint32_t
not_empty(const struct env *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ENTRIES; i++)
		n += e->t->entry[i].fp != 0;
	return n;
}

/* ---- attaching -------------------------------------------------------------------------------- */

static void
refused(struct env *e, size_t size, const char *why)
{
	struct pub p;
	struct flow_key k = flow(1);
	uint64_t fp = print_of(1), old;
	uint32_t wid;

	assert_int_equal(pub_attach(&p, e->r, e->t, size, BOOT, &secret, IDLE), -EPROTO);
	assert_non_null(strstr(mock_last_message(e->r), why));
	/* absent: nothing is there, nothing is published */
	assert_false(pub_lookup(&p, fp, 0));
	assert_true(pub_lookup_bulk(&p, &fp, 1, 0, &old) == 0);
	assert_true(old == 0);
	assert_int_equal(pub_state_get(&p, &wid), PUB_HANDED);
	assert_false(pub_record_hash(&p, fp, 0));
	pub_record(&p, &k, 0);
	pub_flush(&p);
	pub_writer_begin(&p, 1);
	pub_sweep(&p, 10, 0);
	pub_state_set(&p, PUB_PUBLISHING, 1);
	assert_int_equal(pub_active(&p, 0), 0);
}

/* PUB-1, PUB-3 */
static void
zones_that_are_no_table_are_refused_with_the_reason(void **state)
{
	struct env *e = *state;
	size_t size = pub_table_size(ENTRIES);

	refused(e, 63, "63 bytes");
	refused(e, size - 1, "larger than its zone");
	e->t->magic++;
	refused(e, size, "magic");
	e->t->magic--;
	e->t->layout_version = 9;
	refused(e, size, "layout version 9, this program has 1");
	e->t->layout_version = PUB_LAYOUT_VERSION;
	e->t->boot_id++;
	refused(e, size, "boot id");
	e->t->boot_id--;
	e->t->entries = ENTRIES - 1;
	refused(e, size, "number of entries");
	e->t->entries = 32;
	refused(e, size, "number of entries");
	e->t->entries = PUB_ENTRIES_MAX * 2;
	refused(e, size, "number of entries");
	e->t->entries = PUB_ENTRIES_MAX;
	refused(e, size, "larger than its zone");
}

/* PUB-1 */
static void
sizes_of_tables(void **state)
{
	struct env *e = *state;
	static struct pub_table t;

	assert_int_equal(pub_table_init(e->w, &t, 0, 1), -EINVAL);
	assert_int_equal(pub_table_init(e->w, &t, 32, 1), -EINVAL);
	assert_int_equal(pub_table_init(e->w, &t, 96, 1), -EINVAL);
	assert_int_equal(pub_table_init(e->w, &t, PUB_ENTRIES_MAX * 2, 1), -EINVAL);
	assert_true(t.magic == 0);
	assert_int_equal(pub_table_init(e->w, &t, PUB_ENTRIES_DEFAULT, 1), 0);
	assert_int_equal(pub_table_size(PUB_ENTRIES_DEFAULT), 64 + 16 * 16384);
}

/* ---- recording -------------------------------------------------------------------------------- */

/* PUB-1, PUB-2 */
static void
what_is_recorded_is_found(void **state)
{
	struct env *e = *state;
	uint64_t fp[64], old;

	for (unsigned int i = 0; i < 64; i++) {
		struct flow_key k = flow(i);

		fp[i] = print_of(i);
		if (i % 3 == 0)
			pub_record(&e->writer, &k, 1000);
	}
	pub_flush(&e->writer);
	assert_true(pub_lookup_bulk(&e->reader, fp, 64, 1000, &old) == 0x9249249249249249ull);
	assert_true(old == 0);
	assert_true(pub_lookup_bulk(&e->reader, fp, 7, 1000, NULL) == 0x49);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(pub_lookup(&e->reader, fp[i], 1000), i % 3 == 0);
	assert_false(pub_lookup(&e->reader, 0, 1000)); /* no flow has these */
	assert_false(pub_lookup(&e->reader, 1, 1000));
	assert_false(pub_record_hash(&e->writer, 0, 1000));
	assert_false(pub_record_hash(&e->writer, 1, 1000));
	assert_int_equal(e->t->used, 22);
	assert_int_equal(pub_active(&e->writer, 1000), 22);
	assert_true(pub_record_hash(&e->writer, fp[0], 3000)); /* known: no second entry */
	assert_int_equal(not_empty(e), 22);
	assert_int_equal(pub_active(&e->writer, 1000 + IDLE + 1), 1);
}

/* PUB-1 */
static void
a_usual_miss_reads_one_line(void **state)
{
	struct env *e = *state;
	unsigned int before;

	for (unsigned int i = 0; i < 3; i++)
		assert_true(pub_record_hash(&e->writer, at_home(8, i), 5));
	before = mock_calls(e->r, MOCK_OP_load);
	assert_false(pub_lookup(&e->reader, at_home(8, 9), 5));
	assert_int_equal(mock_calls(e->r, MOCK_OP_load) - before, 1 + 4); /* idle time, four fingerprints */
	assert_int_equal(((uintptr_t)&e->t->entry[8]) % 64, 0);
}

/* PUB-1 */
static void
a_full_window_is_counted_and_live_flows_stay(void **state)
{
	struct env *e = *state;
	uint32_t home = ENTRIES - 8; /* the window goes round the end */

	for (uint32_t i = 0; i < PUB_PROBES; i++)
		assert_true(pub_record_hash(&e->writer, at_home(home, i), 100 + i));
	assert_false(pub_record_hash(&e->writer, at_home(home, 99), 200));
	assert_false(pub_record_hash(&e->writer, at_home(home, 99), 201));
	assert_int_equal(e->writer.not_recorded, 2);
	assert_int_equal(e->t->not_recorded, 2);
	assert_false(pub_lookup(&e->reader, at_home(home, 99), 201));
	for (uint32_t i = 0; i < PUB_PROBES; i++)
		assert_true(pub_lookup(&e->reader, at_home(home, i), 201));
	assert_int_equal(e->t->used, PUB_PROBES);
	/* an aged one gives way, once */
	assert_true(pub_record_hash(&e->writer, at_home(home, 99), 101 + IDLE));
	assert_false(pub_record_hash(&e->writer, at_home(home, 98), 101 + IDLE));
	assert_false(pub_lookup(&e->reader, at_home(home, 0), 101 + IDLE));
	assert_true(pub_lookup(&e->reader, at_home(home, 99), 101 + IDLE));
	assert_int_equal(e->t->used, PUB_PROBES);
}

/* PUB-2 */
static void
records_of_a_turn_are_in_the_table_after_the_flush(void **state)
{
	struct env *e = *state;
	struct flow_key k[40];

	for (unsigned int i = 0; i < 40; i++)
		k[i] = flow(i);
	for (unsigned int i = 0; i < 40; i++)
		pub_record(&e->writer, &k[i], 100);
	pub_flush(&e->writer);
	assert_int_equal(not_empty(e), 40);
	/* the next ms: what came before has its own time */
	pub_record(&e->writer, &k[1], 200);
	pub_record(&e->writer, &k[2], 201);
	pub_record(&e->writer, &k[3], 200 + IDLE);
	assert_true(pub_lookup(&e->reader, print_of(2), 201 + IDLE));
	assert_false(pub_lookup(&e->reader, print_of(1), 201 + IDLE));
	/* what asks for the table, or lets others ask, flushes too */
	assert_int_equal(pub_active(&e->writer, 200 + IDLE), 3);
	pub_record(&e->writer, &k[4], 201 + IDLE);
	pub_state_set(&e->writer, PUB_PUBLISHING, 1);
	assert_true(pub_lookup(&e->reader, print_of(4), 201 + IDLE));
	pub_record(&e->writer, &k[5], 201 + IDLE);
	pub_sweep(&e->writer, 1, 201 + IDLE);
	assert_true(pub_lookup(&e->reader, print_of(5), 201 + IDLE));
	pub_record(&e->writer, &k[6], 202 + IDLE); /* of the writer's time before: it begins anew */
	pub_writer_begin(&e->writer, 43);
	pub_flush(&e->writer);
	assert_int_equal(not_empty(e), 0);
}

/* PUB-2 */
static void
a_train_of_one_flow_is_looked_up_once_a_ms(void **state)
{
	struct env *e = *state;
	struct flow_key a = flow(1), b = flow(2);
	unsigned int before;

	pub_record(&e->writer, &a, 100);
	pub_flush(&e->writer);
	before = mock_calls(e->w, MOCK_OP_load);
	for (unsigned int i = 0; i < 100; i++)
		pub_record(&e->writer, &a, 100);
	pub_flush(&e->writer);
	assert_int_equal(mock_calls(e->w, MOCK_OP_load), before);
	pub_record(&e->writer, &a, 101);
	pub_record(&e->writer, &b, 101);
	pub_record(&e->writer, &a, 102);
	pub_flush(&e->writer);
	assert_true(pub_lookup(&e->reader, print_of(1), 102 + IDLE));
	assert_false(pub_lookup(&e->reader, print_of(2), 102 + IDLE));
	pub_sweep(&e->writer, ENTRIES, 103 + IDLE);
	pub_sweep(&e->writer, ENTRIES, 103 + IDLE);
	assert_int_equal(not_empty(e), 0);
	pub_record(&e->writer, &a, 104 + IDLE); /* the last one, and not there any more */
	pub_flush(&e->writer);
	assert_true(pub_lookup(&e->reader, print_of(1), 104 + IDLE));
	pub_writer_begin(&e->writer, 43);
	pub_record(&e->writer, &a, 104 + IDLE);
	pub_flush(&e->writer);
	assert_int_equal(not_empty(e), 1);
}

/* ---- ageing ----------------------------------------------------------------------------------- */

/* PUB-4 */
static void
a_writer_whose_clock_is_ahead_keeps_its_flow(void **state)
{
	static const uint32_t ahead[] = { 1, 5, 999 };
	static const uint32_t base[] = { 5000, 0, UINT32_MAX, UINT32_MAX - 500, 0x7fffffff, 0x80000000 };
	struct env *e = *state;

	for (unsigned int b = 0; b < sizeof(base) / sizeof(base[0]); b++)
		for (unsigned int i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++) {
			assert_true(pub_record_hash(&e->writer, 77, base[b] + ahead[i]));
			assert_true(pub_lookup(&e->reader, 77, base[b]));
			assert_int_equal(pub_active(&e->writer, base[b]), 1);
			pub_sweep(&e->writer, ENTRIES, base[b]);
			assert_int_equal(not_empty(e), 1);
		}
}

/* PUB-4 */
static void
exactly_idle_is_active_and_one_more_is_not(void **state)
{
	static const uint32_t at[] = {
		5000, 0, UINT32_MAX, UINT32_MAX - IDLE, UINT32_MAX - IDLE / 2, 0x7fffffff, 0x80000000,
	};
	struct env *e = *state;
	uint64_t fp = 77, old;

	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		assert_true(pub_record_hash(&e->writer, fp, at[i]));
		assert_true(pub_lookup(&e->reader, fp, at[i] + IDLE - 1));
		assert_true(pub_lookup_bulk(&e->reader, &fp, 1, at[i] + IDLE, &old) == 1);
		assert_true(old == 0);
		assert_true(pub_lookup_bulk(&e->reader, &fp, 1, at[i] + IDLE + 1, &old) == 0);
		assert_true(old == 1);
		pub_sweep(&e->writer, ENTRIES, at[i] + IDLE);
		assert_int_equal(not_empty(e), 1);
		pub_sweep(&e->writer, ENTRIES, at[i] + IDLE + 1);
		assert_int_equal(not_empty(e), 0);
		assert_int_equal(e->t->used, 0);
	}
}

/* PUB-4 */
static void
swept_flows_never_look_like_the_future_again(void **state)
{
	struct env *e = *state;
	uint32_t day = 24 * 3600 * 1000, now = 12345;

	assert_true(pub_record_hash(&e->writer, 77, now));
	assert_true(pub_lookup(&e->reader, 77, now + 0x80000001u)); /* the trap: 24.9 days later, unswept */
	for (unsigned int i = 0; i < 60; i++) {
		now += day;
		pub_sweep(&e->writer, ENTRIES, now); /* one pass a day */
		assert_false(pub_lookup(&e->reader, 77, now));
	}
	assert_int_equal(not_empty(e), 0);
}

/* PUB-4 */
static void
the_writers_idle_time_governs(void **state)
{
	struct env *e = *state;
	struct pub p;

	assert_int_equal(pub_attach(&p, e->r, e->t, pub_table_size(ENTRIES), BOOT, &secret, 500), 0);
	assert_true(pub_record_hash(&e->writer, 77, 100));
	assert_true(pub_lookup(&p, 77, 100 + IDLE));
	e->t->idle_ms = 0; /* impossible ones do not */
	assert_false(pub_lookup(&p, 77, 100 + 501));
	assert_true(pub_lookup(&p, 77, 100 + 500));
	e->t->idle_ms = PUB_IDLE_MAX_MS + 1;
	assert_false(pub_lookup(&p, 77, 100 + 501));
	assert_int_equal(pub_attach(&p, e->r, e->t, pub_table_size(ENTRIES), BOOT, &secret, UINT32_MAX), 0);
	assert_true(pub_lookup(&p, 77, 100 + PUB_IDLE_MAX_MS)); /* capped at an hour */
	assert_false(pub_lookup(&p, 77, 101 + PUB_IDLE_MAX_MS));
}

/* ---- sweeping --------------------------------------------------------------------------------- */

/* PUB-1, PUB-4 */
static void
removed_entries_keep_the_way_only_while_somebody_needs_it(void **state)
{
	struct env *e = *state;

	for (uint32_t i = 0; i < 6; i++)
		assert_true(pub_record_hash(&e->writer, at_home(16, i), i == 5 ? 5000 : 100));
	pub_state_set(&e->writer, PUB_PUBLISHING, 3);
	pub_sweep(&e->writer, ENTRIES, 101 + IDLE);
	assert_int_equal(e->t->used, 1);
	assert_int_equal(not_empty(e), 6); /* all are on the way of the sixth: it must not move while somebody looks */
	assert_true(pub_lookup(&e->reader, at_home(16, 5), 101 + IDLE));
	pub_sweep(&e->writer, ENTRIES, 102 + IDLE);
	assert_int_equal(not_empty(e), 6);
	pub_state_set(&e->writer, PUB_NONE, 0);
	pub_sweep(&e->writer, ENTRIES, 103 + IDLE);
	assert_true(e->t->entry[16].fp == at_home(16, 5)); /* home */
	assert_true(pub_lookup(&e->reader, at_home(16, 5), 103 + IDLE));
	assert_int_equal(pub_active(&e->writer, 103 + IDLE), 1);
	assert_int_equal(not_empty(e), 1);
	pub_sweep(&e->writer, ENTRIES, 5001 + IDLE);
	assert_int_equal(not_empty(e), 0);
	assert_int_equal(e->t->used, 0);
}

/* PUB-1 */
static void
removed_entries_are_used_again(void **state)
{
	struct env *e = *state;

	for (uint32_t i = 0; i < 5; i++)
		assert_true(pub_record_hash(&e->writer, at_home(16, i), i == 4 ? 5000 : 100));
	pub_state_set(&e->writer, PUB_PUBLISHING, 3);
	pub_sweep(&e->writer, 10 * ENTRIES, 101 + IDLE); /* no more than one pass */
	assert_true(e->t->entry[17].fp == 1);
	assert_true(pub_record_hash(&e->writer, at_home(16, 9), 102 + IDLE));
	assert_true(e->t->entry[16].fp == at_home(16, 9));
	assert_int_equal(e->t->used, 2);
	assert_true(pub_record_hash(&e->writer, at_home(16, 4), 103 + IDLE)); /* found behind the removed ones */
	assert_int_equal(e->t->used, 2);
}

/* PUB-1, PUB-4 */
static void
look_ups_cost_the_same_after_many_reloads(void **state)
{
	struct env *e = *state;
	uint64_t fp[64];
	unsigned int first = 0, last = 0;
	uint32_t now = 1;

	for (unsigned int round = 0; round < 1000; round++) {
		unsigned int before;

		for (unsigned int i = 0; i < 64; i++)
			assert_true(pub_record_hash(&e->writer, print_of(round * 64 + i), now));
		for (unsigned int i = 0; i < 64; i++)
			fp[i] = print_of(i + 7000000); /* nobody's */
		before = mock_calls(e->r, MOCK_OP_load);
		assert_true(pub_lookup_bulk(&e->reader, fp, 64, now, NULL) == 0);
		last += round >= 900 ? mock_calls(e->r, MOCK_OP_load) - before : 0;
		first += round < 100 ? mock_calls(e->r, MOCK_OP_load) - before : 0;
		now += IDLE / 2 + 1; /* the last two rounds live */
		pub_sweep(&e->writer, ENTRIES, now);
	}
	assert_in_range(last, 1, first + first / 10);
	pub_sweep(&e->writer, ENTRIES, now + 2 * IDLE);
	assert_int_equal(not_empty(e), 0);
}

/* ---- states ----------------------------------------------------------------------------------- */

/* PUB-3 */
static void
states_carry_the_window(void **state)
{
	struct env *e = *state;
	uint32_t wid = 9;

	assert_int_equal(pub_state_get(&e->reader, &wid), PUB_NONE);
	assert_int_equal(wid, 0);
	pub_state_set(&e->writer, PUB_PUBLISHING, 0xfffffffe);
	assert_int_equal(pub_state_get(&e->reader, &wid), PUB_PUBLISHING);
	assert_int_equal(wid, 0xfffffffe);
	pub_state_set(&e->writer, PUB_HANDED, 5);
	assert_int_equal(pub_state_get(&e->reader, &wid), PUB_HANDED);
	assert_int_equal(wid, 5);
	for (uint64_t w = 3; w <= 0x80000000; w *= 2) { /* impossible */
		e->t->state = 5ull << 32 | w | PUB_PUBLISHING;
		if (w > 3) {
			assert_int_equal(pub_state_get(&e->reader, &wid), PUB_HANDED);
			assert_int_equal(wid, 0);
		}
	}
}

/* PUB-5 */
static void
what_a_killed_writer_left_is_emptied_by_its_successor(void **state)
{
	struct env *e = *state;
	struct pub next;
	uint32_t wid;

	for (unsigned int i = 0; i < 100; i++)
		assert_true(pub_record_hash(&e->writer, print_of(i), 100));
	pub_state_set(&e->writer, PUB_PUBLISHING, 7);
	e->t->entry[3].fp = 0x55; /* half of something */
	assert_int_equal(pub_attach(&next, e->w, e->t, pub_table_size(ENTRIES), BOOT, &secret, 2000), 0);
	pub_writer_begin(&next, 43);
	assert_int_equal(not_empty(e), 0);
	assert_int_equal(e->t->used, 0);
	assert_int_equal(e->t->not_recorded, 0);
	assert_int_equal(e->t->idle_ms, 2000);
	assert_true(e->t->writer == 43);
	assert_int_equal(pub_state_get(&e->reader, &wid), PUB_NONE);
	for (unsigned int i = 0; i < 100; i++)
		assert_false(pub_lookup(&e->reader, print_of(i), 100));
	assert_true(pub_record_hash(&next, print_of(5), 101));
	assert_true(pub_lookup(&e->reader, print_of(5), 101));
}

/* ---- both at once ----------------------------------------------------------------------------- */

static void
on_access(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;

	(void)s;
	(void)op;
	if (e->busy || e->at == 0 || --e->at > 0)
		return;
	e->busy = true;
	e->act(e);
	e->busy = false;
}

#define HOME 40u

/* The window of HOME full of flows of which only the first is aged at e->now. */
static void
fill(struct env *e)
{
	pub_writer_begin(&e->writer, 42);
	for (uint32_t i = 0; i < PUB_PROBES; i++)
		assert_true(pub_record_hash(&e->writer, at_home(HOME, i), e->now - (i == 0 ? IDLE + 1 : 0)));
	pub_state_set(&e->writer, PUB_PUBLISHING, 1);
}

static void
write_new(struct env *e)
{
	assert_true(pub_record_hash(&e->writer, at_home(HOME, 99), e->now));
}

static void
read_both(struct env *e)
{
	e->seen_old |= pub_lookup(&e->reader, at_home(HOME, 0), e->now);
	e->seen_new |= pub_lookup(&e->reader, at_home(HOME, 99), e->now);
}

/* PUB-1, PUB-4 */
static void
a_reader_never_takes_an_entry_that_changes_hands_for_a_live_flow(void **state)
{
	struct env *e = *state;
	unsigned int steps;

	e->now = 50000;
	mock_hook(e->w, MOCK_OP_load, on_access, e);
	mock_hook(e->w, MOCK_OP_store, on_access, e);
	/* the reader at every step of the writer */
	for (steps = 1, e->act = read_both;; steps++) {
		e->at = 0;
		fill(e);
		e->seen_old = e->seen_new = false;
		e->at = steps;
		write_new(e);
		assert_false(e->seen_old);
		if (e->at > 0)
			break; /* it was done before */
	}
	assert_in_range(steps, 30, 200);
	assert_false(e->seen_new);
	/* the writer at every step of the reader */
	for (steps = 1, e->act = write_new;; steps++) {
		e->at = 0;
		fill(e);
		e->at = steps;
		assert_false(pub_lookup(&e->reader, at_home(HOME, 0), e->now));
		if (e->at > 0)
			break;
	}
	assert_in_range(steps, 7, 40);
	e->at = 0;
	mock_script_clear(e->w);
}

static void
sweep_all(struct env *e)
{
	pub_sweep(&e->writer, ENTRIES, e->now);
}

/* PUB-1, PUB-4 */
static void
a_live_flow_is_found_at_every_step_of_a_sweep(void **state)
{
	struct env *e = *state;
	unsigned int steps;

	e->now = 50000;
	mock_hook(e->w, MOCK_OP_load, on_access, e);
	mock_hook(e->w, MOCK_OP_store, on_access, e);
	for (steps = 1, e->act = sweep_all;; steps++) {
		e->at = 0;
		pub_writer_begin(&e->writer, 42);
		for (uint32_t i = 0; i < 12; i++)
			assert_true(pub_record_hash(&e->writer, at_home(HOME, i), e->now - (i < 11 ? IDLE + 1 : 0)));
		pub_state_set(&e->writer, PUB_PUBLISHING, 1);
		e->at = steps;
		assert_true(pub_lookup(&e->reader, at_home(HOME, 11), e->now));
		if (e->at > 0)
			break;
	}
	assert_in_range(steps, 10, 40);
	e->at = 0;
	mock_script_clear(e->w);
}

/* ---- hostile memory --------------------------------------------------------------------------- */

static uint64_t
rnd(struct env *e)
{
	e->seed = e->seed * 6364136223846793005ull + 1442695040888963407ull;
	return e->seed >> 20;
}

static void
spoil(struct env *e)
{
	uint8_t *b = (uint8_t *)e->t;

	for (unsigned int i = 0; i < 40; i++)
		b[rnd(e) % pub_table_size(ENTRIES)] = (uint8_t)rnd(e);
	e->at = 1 + (unsigned int)(rnd(e) % 5);
}

/* PUB-1, PUB-5 */
static void
a_table_that_changes_under_everybody_is_survived(void **state)
{
	struct env *e = *state;
	uint64_t fp[64], old;
	uint32_t wid;

	mock_hook(e->w, MOCK_OP_load, on_access, e);
	e->act = spoil;
	e->at = 1;
	for (unsigned int i = 0; i < 64; i++)
		fp[i] = print_of(i);
	for (unsigned int round = 0; round < 300; round++) {
		unsigned int before = mock_calls(e->r, MOCK_OP_load);

		(void)pub_lookup_bulk(&e->reader, fp, 64, round, &old);
		assert_in_range(mock_calls(e->r, MOCK_OP_load) - before, 64 * 4, 1 + 64 * (PUB_PROBES + 2));
		assert_in_range(pub_state_get(&e->reader, &wid), PUB_NONE, PUB_HANDED);
		for (unsigned int i = 0; i < 8; i++)
			(void)pub_record_hash(&e->writer, print_of(round * 8 + i), round);
		pub_sweep(&e->writer, 64, round);
		assert_in_range(pub_active(&e->writer, round), 0, ENTRIES);
	}
	e->at = 0;
	mock_script_clear(e->w);
	memset(e->t, 0xff, pub_table_size(ENTRIES)); /* no empty entry at all */
	assert_true(pub_lookup_bulk(&e->reader, fp, 64, 5, NULL) == 0);
	pub_sweep(&e->writer, ENTRIES, 5);
	(void)pub_record_hash(&e->writer, fp[0], 5);
	pub_sweep(&e->writer, ENTRIES, IDLE * 3);
	pub_sweep(&e->writer, ENTRIES, IDLE * 3); /* what was on the way round the end */
	assert_int_equal(not_empty(e), 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(zones_that_are_no_table_are_refused_with_the_reason),
		T(sizes_of_tables),
		T(what_is_recorded_is_found),
		T(a_usual_miss_reads_one_line),
		T(a_full_window_is_counted_and_live_flows_stay),
		T(records_of_a_turn_are_in_the_table_after_the_flush),
		T(a_train_of_one_flow_is_looked_up_once_a_ms),
		T(a_writer_whose_clock_is_ahead_keeps_its_flow),
		T(exactly_idle_is_active_and_one_more_is_not),
		T(swept_flows_never_look_like_the_future_again),
		T(the_writers_idle_time_governs),
		T(removed_entries_keep_the_way_only_while_somebody_needs_it),
		T(removed_entries_are_used_again),
		T(look_ups_cost_the_same_after_many_reloads),
		T(states_carry_the_window),
		T(what_a_killed_writer_left_is_emptied_by_its_successor),
		T(a_reader_never_takes_an_entry_that_changes_hands_for_a_live_flow),
		T(a_live_flow_is_found_at_every_step_of_a_sweep),
		T(a_table_that_changes_under_everybody_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

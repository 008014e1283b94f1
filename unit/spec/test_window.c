/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of the generation directory, its claims and the window's state machine by their headers. */
#include "guard.h"

#include <errno.h>

#include "core/reload/fsm.h"
#include "core/reload/gen_dir.h"
#include "core/runtime/ctl.h"
#include "shim/host/mock/mock.h"

#define BOOT 0xfeedfacecafebeefull

/* ---- words -------------------------------------------------------------------------------------------------- */

/* REL-2 */
static void
leases_come_back_as_they_went(void **state)
{
	static const uint32_t gen[] = { 1, 2, 3, 0x12345678, GEN_LAST - 1, GEN_LAST };
	static const uint32_t fence[] = { 0, 1, 2, 3, 0x15555555, 0x3ffffffe, 0x3fffffff };
	struct lease out;

	(void)state;
	for (unsigned int g = 0; g < 6; g++)
		for (unsigned int f = 0; f < 7; f++)
			for (enum lease_state s = LEASE_OWNED; s <= LEASE_PARKED; s++) {
				uint64_t w = lease_word((struct lease){ s, gen[g], fence[f] });

				assert_true(w == ((uint64_t)gen[g] << 32 | (uint64_t)fence[f] << 2 | s));
				assert_int_equal(lease_of(w, &out), 0);
				assert_int_equal(out.state, s);
				assert_int_equal(out.gen, gen[g]);
				assert_int_equal(out.fence, fence[f]);
				assert_int_equal(lease_of(w | 3, &out), -EPROTO);
				assert_int_equal(lease_of((w & 0xffffffff) | (GEN_LAST + 1ull) << 32, &out), -EPROTO);
				assert_int_equal(lease_of(w | 0xffffffffull << 32, &out), -EPROTO);
				assert_int_equal(lease_of(w & 0xffffffff, &out), -EPROTO); /* owned by no generation */
			}
	assert_int_equal(lease_of(0, &out), 0);
	assert_int_equal(out.state, LEASE_FREE);
}

static bool
possible(struct window w)
{
	if (w.state == WINDOW_CLOSED)
		return (w.wid == 0 && w.active == 0) || (w.active != 0 && w.wid >= w.active);
	return w.active != 0 && w.wid > w.active && ((w.wid ^ w.active) & 1) != 0;
}

/* REL-2 */
static void
windows_come_back_as_they_went(void **state)
{
	static const uint32_t n[] = { 0, 1, 2, 3, 4, 0x2aaaaaaa, GEN_LAST - 1, GEN_LAST };
	struct window out;
	bool new;

	(void)state;
	for (unsigned int a = 0; a < 8; a++)
		for (unsigned int b = 0; b < 8; b++)
			for (enum window_state s = WINDOW_CLOSED; s < WINDOW_STATES; s++) {
				struct window w = { s, n[a], n[b] };
				uint64_t word = window_word(w);

				if (!possible(w))
					continue;
				assert_true(word == ((uint64_t)n[a] << 34 | (uint64_t)n[b] << 4 | s));
				assert_int_equal(window_of(word, &out), 0);
				assert_int_equal(out.state, s);
				assert_int_equal(out.wid, n[a]);
				assert_int_equal(out.active, n[b]);
				new = s == WINDOW_COMMITTED || s == WINDOW_RETIRING;
				assert_int_equal(gen_rightful(w), new ? n[a] : n[b]);
				for (unsigned int bad = WINDOW_STATES; bad < 16; bad++)
					assert_int_equal(window_of((word & ~15ull) | bad, &out), -EPROTO);
				assert_int_equal(window_of(word | 0x3fffffffull << 34, &out), -EPROTO);
				assert_int_equal(window_of(word | 0x3fffffffull << 4, &out), -EPROTO);
			}
	for (unsigned int s = 0; s < 20; s++)
		assert_true(strcmp(gen_window_name((enum window_state)s), "?") == 0 ? s >= WINDOW_STATES : s < WINDOW_STATES);
	assert_string_equal(gen_window_name(WINDOW_PARKING), "PARKING");
}

/* The table of gen_dir.h. */
static bool
legal(struct window f, struct window t)
{
	bool same = f.wid == t.wid && f.active == t.active;

	switch (f.state) {
	case WINDOW_CLOSED:
		if (f.active == 0)
			return t.state == WINDOW_CLOSED && t.wid == t.active && t.wid != 0;
		return t.state == WINDOW_OPEN && t.active == f.active && t.wid > f.wid && ((t.wid ^ t.active) & 1) != 0;
	case WINDOW_OPEN:
		return same && (t.state == WINDOW_PARKING || t.state == WINDOW_ABORTED);
	case WINDOW_PARKING:
		return same && (t.state == WINDOW_COMMITTED || t.state == WINDOW_ABORTED);
	case WINDOW_COMMITTED:
		return same && (t.state == WINDOW_ROLLBACK || t.state == WINDOW_RETIRING);
	case WINDOW_RETIRING:
		return t.state == WINDOW_CLOSED && t.wid == f.wid && t.active == f.wid;
	case WINDOW_ABORTED:
	case WINDOW_ROLLBACK:
		return same && t.state == WINDOW_CLOSED;
	default:
		return false;
	}
}

/* REL-2, REL-5, REL-12, PAR-3: every pair of windows, numbers 0 .. 5 */
static void
only_the_steps_of_the_table_are_legal(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 7 * 36; i++)
		for (uint32_t k = 0; k < 7 * 36; k++) {
			struct window f = { (enum window_state)(i % 7), i / 7 % 6, i / 42 };
			struct window t = { (enum window_state)(k % 7), k / 7 % 6, k / 42 };

			if (possible(f) && gen_window_step(f, t) != legal(f, t))
				fail_msg("%u(%u, %u) -> %u(%u, %u)", f.state, f.wid, f.active, t.state, t.wid, t.active);
		}
}

/* ---- the directory --------------------------------------------------------------------------------------------- */

struct bed {
	struct shim *s;
	struct gen_dir *d;
};

static struct bed
bed_new(uint32_t lanes)
{
	struct bed b = { .s = mock_shim_new() };

	assert_int_equal(gen_dir_create(b.s, lanes, BOOT, &b.d), 0);
	return b;
}

static void
bed_free(struct bed *b)
{
	assert_int_equal(shim_zone_free(b->s, GEN_ZONE), 0);
	assert_int_equal(mock_shim_free(b->s), 0);
}

/* REL-2 */
static void
a_directory_is_made_once_and_for_one_to_sixteen_lanes(void **state)
{
	struct shim *s = mock_shim_new();
	struct gen_dir *d;

	(void)state;
	assert_int_equal(gen_dir_attach(s, BOOT, &d), -ENOENT);
	assert_int_equal(gen_dir_create(s, 0, BOOT, &d), -EINVAL);
	assert_int_equal(gen_dir_create(s, GEN_MAX_LANES + 1, BOOT, &d), -EINVAL);
	assert_int_equal(gen_dir_create(s, UINT32_MAX, BOOT, &d), -EINVAL);
	assert_int_equal(gen_dir_create(s, 1, 0, &d), -EINVAL);
	assert_int_equal(mock_names_left(s), 0);
	mock_fail(s, MOCK_OP_zone_reserve, 1, ENOMEM);
	assert_int_equal(gen_dir_create(s, 1, BOOT, &d), -ENOMEM);
	assert_int_equal(gen_dir_create(s, GEN_MAX_LANES, BOOT, &d), 0);
	assert_int_equal(gen_dir_create(s, 1, BOOT, &d), -EEXIST);
	assert_int_equal(gen_dir_attach(s, BOOT + 1, &d), -EPROTO);
	assert_int_equal(gen_dir_attach(s, BOOT, &d), 0);
	assert_int_equal(shim_zone_free(s, GEN_ZONE), 0);
	assert_int_equal(mock_shim_free(s), 0);
}

/* REL-2: both versions are named */
static void
another_layout_is_refused_with_both_versions_named(void **state)
{
	struct bed b = bed_new(2);
	struct gen_dir *d;

	(void)state;
	b.d->layout_version = 4711;
	assert_int_equal(gen_dir_attach(b.s, BOOT, &d), -EPROTO);
	assert_non_null(strstr(mock_last_message(b.s), "4711"));
	b.d->layout_version = GEN_LAYOUT_VERSION;
	assert_non_null(strchr(mock_last_message(b.s), '0' + GEN_LAYOUT_VERSION));
	assert_int_equal(gen_dir_attach(b.s, BOOT, &d), 0);
	bed_free(&b);
	for (size_t n = 8; n < sizeof(struct gen_dir); n = n * 2 + 8) { /* a zone of that name that is too small */
		struct shim *s = mock_shim_new();
		void *z;

		assert_int_equal(shim_zone_reserve(s, GEN_ZONE, n, &z), 0);
		assert_int_equal(gen_dir_attach(s, BOOT, &d), -EPROTO);
		assert_int_equal(shim_zone_free(s, GEN_ZONE), 0);
		assert_int_equal(mock_shim_free(s), 0);
	}
}

static void
ask_everything(struct bed *b, const struct gen_dir *d)
{
	struct shim_proc who;
	struct window w;
	struct lease l;
	struct drain_counts c;
	int rc = gen_window(b->s, d, &w);

	assert_true(rc == -EPROTO || (rc == 0 && w.state < WINDOW_STATES && w.wid <= GEN_LAST && w.active <= GEN_LAST));
	for (unsigned int lane = 0; lane < GEN_MAX_LANES + 2; lane++) {
		rc = gen_lease(b->s, d, lane, &l);
		assert_true(rc == 0 || rc == -EPROTO || rc == -EINVAL);
		if (rc == 0)
			assert_true(l.state <= LEASE_PARKED && l.gen <= GEN_LAST);
		if (lane >= GEN_MAX_LANES)
			assert_int_equal(rc, -EINVAL);
	}
	for (unsigned int side = 0; side < GEN_SIDES; side++) {
		assert_true(gen_side_alive(b->s, d, side) <= GEN_MAX_LANES);
		for (unsigned int lane = 0; lane < 3; lane++) {
			rc = gen_drain(b->s, d, side, lane, &c);
			assert_true(rc == 0 || rc == -EPROTO || rc == -EAGAIN);
			rc = gen_seat_alive(b->s, d, side, lane, &who);
			assert_true(rc == 0 || rc == 1);
			assert_true(gen_order(b->s, d, side + 2, lane) <= SEAT_ABORT);
		}
	}
	rc = gen_master_alive(b->s, d, NULL);
	assert_true(rc == 0 || rc == 1);
}

/* REL-2: every byte of it turned over, for those that are attached and for those that come */
static void
every_byte_may_lie(void **state)
{
	static const uint8_t x[] = { 0x01, 0x80, 0xff };
	struct bed b = bed_new(3);
	uint8_t *z = (uint8_t *)b.d;
	size_t head = offsetof(struct gen_dir, nb_lanes);

	(void)state;
	for (size_t at = 0; at < sizeof(*b.d); at += at < offsetof(struct gen_dir, seat[0][1]) ? 1 : 37)
		for (unsigned int j = 0; j < 3; j++) {
			struct gen_dir *d = NULL;
			int rc;

			z[at] ^= x[j];
			rc = gen_dir_attach(b.s, BOOT, &d);
			if (at < head)
				assert_int_equal(rc, -EPROTO);
			else
				assert_true(rc == 0 || rc == -EPROTO);
			ask_everything(&b, b.d);
			z[at] ^= x[j];
		}
	for (unsigned int v = 1; v < 256; v++) {
		memset(z, (int)v, sizeof(*b.d));
		ask_everything(&b, b.d);
		gen_next(b.s, b.d, v & 1);
		gen_order_set(b.s, b.d, v, 0, SEAT_QUIT);
		assert_true(gen_mark_next(b.s, b.d) != 0);
	}
	bed_free(&b);
}

/* REL-2, PAR-3: numbers only grow, on the side that was asked for, and end at the last one for good */
static void
generation_numbers_grow_and_end(void **state)
{
	struct bed b = bed_new(1);
	uint32_t last = 0, g;
	uint64_t seed = 3;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int side = (unsigned int)(draw(&seed) >> 40 & 1);

		g = gen_next(b.s, b.d, side);
		assert_true(g > last);
		assert_int_equal(gen_side(g), side);
		last = g;
	}
	b.d->next_gen = GEN_LAST - 3;
	for (unsigned int i = 0; i < 20; i++) {
		g = gen_next(b.s, b.d, i & 1);
		assert_true(g == 0 || (g <= GEN_LAST && g >= GEN_LAST - 3 && gen_side(g) == (i & 1)));
	}
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(gen_next(b.s, b.d, i & 1), 0);
	b.d->next_gen = UINT32_MAX;
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(gen_next(b.s, b.d, i & 1), 0);
	bed_free(&b);
}

/* REL-18: a mark names somebody: never 0, and never in the pool's own half of the word */
static void
owner_marks_are_never_nobodys(void **state)
{
	static const uint32_t at[] = { 0, 1, 0x7ffffffd, 0x7fffffff, 0xfffffffd, 0xffffffff };
	struct bed b = bed_new(1);

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		uint32_t last = 0;

		b.d->next_mark = at[i];
		for (unsigned int k = 0; k < 6; k++) {
			uint32_t m = gen_mark_next(b.s, b.d);

			assert_true(m != 0 && m != last);
			assert_true(m < SHIM_BUF_UNSTAMPED);
			last = m;
		}
	}
	bed_free(&b);
}

/* REL-5: a swap on an old sight fails, though the word looks the same again but for its fence; the fence wraps */
static void
a_lease_is_swapped_only_as_it_was_seen(void **state)
{
	struct bed b = bed_new(2);
	struct lease a, l;

	(void)state;
	assert_int_equal(gen_lease(b.s, b.d, GEN_MAX_LANES, &a), -EINVAL);
	assert_int_equal(gen_lease(b.s, b.d, 0, &a), 0);
	assert_int_equal(a.state, LEASE_FREE);
	assert_true(gen_lease_swap(b.s, b.d, 0, a, LEASE_OWNED, 1));
	assert_false(gen_lease_swap(b.s, b.d, 0, a, LEASE_OWNED, 1));
	assert_int_equal(gen_lease(b.s, b.d, 0, &a), 0);
	assert_true(gen_lease_swap(b.s, b.d, 0, a, LEASE_PARKED, 1));
	assert_int_equal(gen_lease(b.s, b.d, 0, &l), 0);
	assert_true(gen_lease_swap(b.s, b.d, 0, l, LEASE_OWNED, 1));
	assert_false(gen_lease_swap(b.s, b.d, 0, a, LEASE_PARKED, 1)); /* owned by the same one again */
	assert_int_equal(gen_lease(b.s, b.d, 1, &l), 0);
	assert_int_equal(l.state, LEASE_FREE); /* the other lane saw nothing */
	b.d->lane[0].lease = lease_word((struct lease){ LEASE_PARKED, 4, 0x3fffffff });
	assert_int_equal(gen_lease(b.s, b.d, 0, &l), 0);
	assert_true(gen_lease_swap(b.s, b.d, 0, l, LEASE_OWNED, 5));
	assert_int_equal(gen_lease(b.s, b.d, 0, &l), 0);
	assert_int_equal(l.state, LEASE_OWNED);
	assert_int_equal(l.gen, 5);
	assert_int_equal(l.fence, 0);
	bed_free(&b);
}

/* REL-5, REL-13: only a dead holder's lease is broken: by life, not by pid */
static void
only_the_dead_lose_their_lease(void **state)
{
	static const struct { bool claimed, alive, reused; bool broken; } t[] = { { true, true, false, false },
		{ true, false, false, true }, { false, false, false, true }, { true, false, true, true } };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct bed b = bed_new(1);
		struct shim_proc p = { .pid = 4321, .start_time = 777 }, q = p, who = { 0 };
		struct lease l;

		q.start_time++;
		mock_proc_set(b.s, p, t[i].alive);
		if (t[i].reused)
			mock_proc_set(b.s, q, true); /* another process has the pid now */
		b.d->seat[1][0].claim = t[i].claimed ? ctl_proc_word(&p) : 0;
		b.d->lane[0].lease = lease_word((struct lease){ LEASE_OWNED, 3, 9 });
		assert_int_equal(gen_seat_alive(b.s, b.d, 1, 0, &who), t[i].claimed && t[i].alive);
		if (t[i].claimed && t[i].alive)
			assert_true(who.pid == 4321 && who.start_time == 777);
		assert_int_equal(gen_side_alive(b.s, b.d, 1), t[i].claimed && t[i].alive);
		assert_int_equal(gen_side_alive(b.s, b.d, 0), 0);
		assert_false(gen_lease_break(b.s, b.d, 0, (struct lease){ LEASE_OWNED, 3, 8 })); /* not as it is now */
		assert_int_equal(gen_lease_break(b.s, b.d, 0, (struct lease){ LEASE_OWNED, 3, 9 }), t[i].broken);
		assert_int_equal(gen_lease(b.s, b.d, 0, &l), 0);
		assert_int_equal(l.state, t[i].broken ? LEASE_PARKED : LEASE_OWNED);
		assert_int_equal(l.gen, 3);
		assert_int_equal(l.fence, t[i].broken ? 10 : 9);
		bed_free(&b);
	}
}

/* REL-3: one swap, one winner; a step that is not in the table is none */
static void
the_window_is_swapped_once(void **state)
{
	struct bed b = bed_new(1);
	struct window none = { WINDOW_CLOSED, 0, 0 }, one = { WINDOW_CLOSED, 1, 1 }, open = { WINDOW_OPEN, 2, 1 }, w;

	(void)state;
	assert_int_equal(gen_window(b.s, b.d, &w), 0);
	assert_memory_equal(&w, &none, sizeof(w));
	assert_false(gen_window_swap(b.s, b.d, one, open));
	assert_true(gen_window_swap(b.s, b.d, none, one));
	assert_false(gen_window_swap(b.s, b.d, none, one));
	assert_false(gen_window_swap(b.s, b.d, one, (struct window){ WINDOW_COMMITTED, 2, 1 }));
	assert_true(gen_window_swap(b.s, b.d, one, open));
	assert_true(gen_window_swap(b.s, b.d, open, (struct window){ WINDOW_PARKING, 2, 1 }));
	/* two decide at once */
	w = (struct window){ WINDOW_PARKING, 2, 1 };
	assert_true(gen_window_swap(b.s, b.d, w, (struct window){ WINDOW_ABORTED, 2, 1 }));
	assert_false(gen_window_swap(b.s, b.d, w, (struct window){ WINDOW_COMMITTED, 2, 1 }));
	bed_free(&b);
}

/* REL-3: an order is its generation's and nobody else's */
static void
orders_are_for_one_generation(void **state)
{
	struct bed b = bed_new(2);

	(void)state;
	for (enum seat_order o = SEAT_SERVE; o <= SEAT_ABORT; o++) {
		gen_order_set(b.s, b.d, 3, 1, o);
		assert_int_equal(gen_order(b.s, b.d, 3, 1), o);
		assert_int_equal(gen_order(b.s, b.d, 1, 1), SEAT_SERVE);
		assert_int_equal(gen_order(b.s, b.d, 5, 1), SEAT_SERVE);
		assert_int_equal(gen_order(b.s, b.d, 2, 1), SEAT_SERVE);
		assert_int_equal(gen_order(b.s, b.d, 3, 0), SEAT_SERVE);
	}
	b.d->seat[1][1].order_word = 3 << 2 | 3;
	assert_int_equal(gen_order(b.s, b.d, 3, 1), SEAT_SERVE);
	assert_int_equal(gen_order(b.s, b.d, 3, 99), SEAT_SERVE);
	bed_free(&b);
}

/* REL-8: a report that is being written is none, however long that takes */
static void
a_torn_report_is_none(void **state)
{
	struct bed b = bed_new(1);
	struct drain_counts c;

	(void)state;
	b.d->seat[0][0].drain = (struct drain_counts){ .gen = 2, .tcp = 1, .half_open = 2, .udp = 3, .unsent = 4,
		.stamp_ms = 5 };
	b.d->seat[0][0].drain_seq = 2;
	assert_int_equal(gen_drain(b.s, b.d, 0, 0, &c), 0);
	assert_true(c.gen == 2 && c.tcp == 1 && c.half_open == 2 && c.udp == 3 && c.unsent == 4 && c.stamp_ms == 5);
	b.d->seat[0][0].drain_seq = 3;
	assert_int_equal(gen_drain(b.s, b.d, 0, 0, &c), -EAGAIN);
	b.d->seat[0][0].drain_seq = UINT32_MAX;
	assert_int_equal(gen_drain(b.s, b.d, 0, 0, &c), -EAGAIN);
	bed_free(&b);
}

/* REL-2, PAR-3: a second master is refused while the first lives, and named; the slots of the dead are taken over */
static void
one_master_at_a_time(void **state)
{
	struct bed b = bed_new(1);
	struct shim *m[6];
	struct shim_proc who, self;
	unsigned int slot, first;

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		m[i] = mock_shim_attach(b.s, SHIM_ROLE_OBSERVER, 100 + i);
		mock_proc_set(b.s, shim_self(m[i]), true);
	}
	assert_int_equal(gen_master_alive(b.s, b.d, &who), 0);
	for (unsigned int i = 0; i + 1 < 6; i++) { /* more masters die than there are slots */
		assert_int_equal(gen_master_claim(m[i], b.d, &slot, &who), 0);
		assert_true(slot < GEN_MASTERS);
		assert_int_equal(gen_master_claim(m[i + 1], b.d, &first, &who), -EBUSY);
		self = shim_self(m[i]);
		assert_int_equal(who.pid, self.pid);
		assert_int_equal(gen_master_claim(m[i + 1], b.d, &first, NULL), -EBUSY);
		assert_int_equal(gen_master_alive(b.s, b.d, &who), 1);
		assert_int_equal(who.pid, self.pid);
		mock_proc_set(b.s, self, false);
		assert_int_equal(gen_master_alive(b.s, b.d, NULL), 0);
	}
	assert_int_equal(gen_master_claim(m[5], b.d, &slot, NULL), 0);
	gen_master_release(m[5], b.d, slot);
	assert_int_equal(gen_master_alive(b.s, b.d, NULL), 0);
	for (unsigned int i = 0; i < 6; i++)
		mock_shim_free(m[i]);
	bed_free(&b);
}

/* ---- the state machine ------------------------------------------------------------------------------------------ */

#define NO 99

/* By state and event: the next state; NO: not legal. From fsm.h's comments. */
static int
next_state(enum reload_state s, enum reload_event e)
{
	switch (e) {
	case RELOAD_HUP: return s == RELOAD_T0_IDLE ? RELOAD_T1_GNEW_SPAWN : NO;
	case RELOAD_ALL_READY: return s == RELOAD_T1_GNEW_SPAWN ? RELOAD_T2_HANDOVER : NO;
	case RELOAD_READY_TIMEOUT:
	case RELOAD_SPAWN_FAILED: return s == RELOAD_T1_GNEW_SPAWN ? RELOAD_T_ERROR : NO;
	case RELOAD_GNEW_DIED:
	case RELOAD_FLIP_FAILED: return s == RELOAD_T1_GNEW_SPAWN || s == RELOAD_T2_HANDOVER ? RELOAD_T_ERROR : NO;
	case RELOAD_PARK_TIMEOUT: return s == RELOAD_T2_HANDOVER ? RELOAD_T_ERROR : NO;
	case RELOAD_ALL_PARKED: return s == RELOAD_T2_HANDOVER ? (int)s : NO;
	case RELOAD_HANDOVER_DONE: return s == RELOAD_T2_HANDOVER ? RELOAD_T3_DRAIN : NO;
	case RELOAD_RECLAIMED:
		return s == RELOAD_T3_DRAIN || s == RELOAD_T4_DRAIN_DONE || s == RELOAD_T5_GOLD_QUIT ? RELOAD_T_ERROR : NO;
	case RELOAD_DRAIN_DONE:
	case RELOAD_DRAIN_DEADLINE: return s == RELOAD_T3_DRAIN ? RELOAD_T4_DRAIN_DONE : NO;
	case RELOAD_QUIT_GOLD: return s == RELOAD_T4_DRAIN_DONE ? RELOAD_T5_GOLD_QUIT : NO;
	case RELOAD_QUIT_AGAIN: return s == RELOAD_T5_GOLD_QUIT ? (int)s : NO;
	case RELOAD_GOLD_EXITED: return s == RELOAD_T5_GOLD_QUIT ? RELOAD_T0_IDLE : NO;
	case RELOAD_ABORT: return s == RELOAD_T1_GNEW_SPAWN || s == RELOAD_T2_HANDOVER ? RELOAD_T_ERROR : NO;
	case RELOAD_ABORT_AGAIN: return s == RELOAD_T_ERROR ? (int)s : NO;
	case RELOAD_RESET: return s == RELOAD_T_ERROR ? RELOAD_T0_IDLE : NO;
	default: return NO;
	}
}

/* A machine in that state, at 1000 ms. */
static struct reload_fsm
fsm_in(enum reload_state s)
{
	static const enum reload_event way[] = { RELOAD_HUP, RELOAD_ALL_READY, RELOAD_HANDOVER_DONE, RELOAD_DRAIN_DONE,
		RELOAD_QUIT_GOLD };
	struct reload_fsm f;
	unsigned int a;

	reload_fsm_init(&f, NULL);
	for (unsigned int i = 0; f.state != s && i < 5 && s != RELOAD_T_ERROR; i++)
		assert_int_equal(reload_fsm_event(&f, way[i], 1000, &a), 0);
	if (s == RELOAD_T_ERROR) {
		assert_int_equal(reload_fsm_event(&f, RELOAD_HUP, 1000, &a), 0);
		assert_int_equal(reload_fsm_event(&f, RELOAD_GNEW_DIED, 1000, &a), 0);
	}
	assert_int_equal(f.state, s);
	return f;
}

/* REL-3: every event in every state; an illegal one changes nothing */
static void
every_event_in_every_state(void **state)
{
	(void)state;
	for (enum reload_state s = RELOAD_T0_IDLE; s < RELOAD_STATES; s++)
		for (unsigned int e = 0; e < RELOAD_EVENTS + 3; e++) {
			struct reload_fsm f = fsm_in(s), before = f;
			unsigned int a = 0;
			int n = next_state(s, (enum reload_event)e);
			int rc = reload_fsm_event(&f, (enum reload_event)e, 2000, &a);

			assert_int_equal(rc, n == NO ? -EINVAL : 0);
			if (n == NO) {
				assert_memory_equal(&f, &before, sizeof(f));
				continue;
			}
			assert_int_equal(f.state, n);
			assert_int_equal(f.transition != before.transition, (enum reload_state)n != s);
		}
	assert_string_equal(reload_state_name(RELOAD_T1_GNEW_SPAWN), "T1_GNEW_SPAWN");
	assert_string_equal(reload_state_name(RELOAD_STATES), "?");
	assert_string_equal(reload_event_name(RELOAD_HUP), "HUP");
	assert_string_equal(reload_event_name(RELOAD_EVENTS), "?");
}

/* REL-3: a round is six transitions, and does its deeds in their order */
static void
a_round_is_six_transitions(void **state)
{
	struct reload_facts x = { .lanes = 2, .old_live = 2, .lanes_old = 2 };
	struct reload_fsm f;
	unsigned int a, done = 0;
	enum reload_event e;

	(void)state;
	reload_fsm_init(&f, NULL);
	assert_int_equal(reload_fsm_judge(&f, &x, 5), RELOAD_NOTHING);
	assert_int_equal(reload_fsm_event(&f, RELOAD_HUP, 10, &a), 0);
	for (unsigned int guard = 0; f.state != RELOAD_T0_IDLE; guard++) {
		assert_true(guard < 20);
		done |= a;
		if (a & RELOAD_DO_SPAWN)
			x.new_alive = x.new_ready = 2;
		if (a & RELOAD_DO_PARK) {
			assert_true(done & RELOAD_DO_OPEN);
			x.old_parked = 2;
		}
		if (a & RELOAD_DO_COMMIT) {
			assert_int_equal(x.old_parked, 2);
			x.committed = true;
			x.lanes_old = 0;
		}
		if (x.committed)
			x.old_drained = 2;
		if (a & RELOAD_DO_QUIT_OLD) {
			x.retiring = true;
			x.old_live = 0;
		}
		e = reload_fsm_judge(&f, &x, 20 + guard);
		assert_true(e != RELOAD_NOTHING);
		assert_int_equal(reload_fsm_event(&f, e, 20 + guard, &a), 0);
	}
	done |= a;
	assert_int_equal(f.transition, 6);
	assert_int_equal(done & (RELOAD_DO_ABORT | RELOAD_DO_KILL_NEW | RELOAD_DO_KILL_OLD | RELOAD_DO_CLOSE_ABORTED), 0);
	assert_int_equal(done, RELOAD_DO_OPEN | RELOAD_DO_SPAWN | RELOAD_DO_PARK | RELOAD_DO_COMMIT | RELOAD_DO_QUIT_OLD |
		RELOAD_DO_CLOSE);
	assert_false(f.forced);
	assert_true(reload_fsm_deadline(&f) == UINT64_MAX);
}

/* REL-3, REL-8, REL-13: every state that waits has a deadline, to the millisecond, and an outcome there */
static void
every_wait_ends_at_its_deadline(void **state)
{
	static const struct { enum reload_state s; uint32_t ms; enum reload_event e; } t[] = {
		{ RELOAD_T1_GNEW_SPAWN, 60000, RELOAD_READY_TIMEOUT }, { RELOAD_T2_HANDOVER, 100, RELOAD_PARK_TIMEOUT },
		{ RELOAD_T3_DRAIN, 90000, RELOAD_DRAIN_DEADLINE }, { RELOAD_T5_GOLD_QUIT, 10000, RELOAD_QUIT_AGAIN },
		{ RELOAD_T_ERROR, 10000, RELOAD_ABORT_AGAIN } };

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		struct reload_fsm f = fsm_in(t[i].s);
		struct reload_facts x = { .lanes = 2, .old_live = 2, .new_alive = 2, .lanes_old = 2 };
		unsigned int a;

		if (t[i].s == RELOAD_T2_HANDOVER)
			x.new_ready = 2;
		if (t[i].s == RELOAD_T3_DRAIN || t[i].s == RELOAD_T5_GOLD_QUIT) {
			x.new_ready = 2;
			x.committed = true;
			x.retiring = t[i].s == RELOAD_T5_GOLD_QUIT;
			x.lanes_old = 0;
		}
		assert_true(reload_fsm_deadline(&f) == 1000 + t[i].ms);
		assert_int_equal(reload_fsm_judge(&f, &x, 1000), RELOAD_NOTHING);
		assert_int_equal(reload_fsm_judge(&f, &x, 1000 + t[i].ms - 1), RELOAD_NOTHING);
		assert_int_equal(reload_fsm_judge(&f, &x, 1000 + t[i].ms), t[i].e);
		assert_int_equal(reload_fsm_judge(&f, &x, 1000ull + UINT32_MAX), t[i].e);
		assert_int_equal(reload_fsm_event(&f, t[i].e, 1000 + t[i].ms, &a), 0);
		if (f.state == t[i].s) { /* and again after the same time */
			assert_true(reload_fsm_deadline(&f) == 1000 + 2ull * t[i].ms);
			assert_int_equal(reload_fsm_judge(&f, &x, 1000 + 2 * t[i].ms - 1), RELOAD_NOTHING);
			assert_int_equal(reload_fsm_judge(&f, &x, 1000 + 2 * t[i].ms), t[i].e);
		}
	}
}

/* REL-4, REL-5, REL-12, REL-13: death before readiness, readiness again before the flip, success before the deadline */
static void
judgements_have_an_order(void **state)
{
	struct reload_facts x = { .lanes = 3, .old_live = 3, .lanes_old = 3, .new_alive = 3 };
	struct reload_fsm f = fsm_in(RELOAD_T1_GNEW_SPAWN);

	(void)state;
	x.new_ready = 2; /* all of them or nothing */
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_NOTHING);
	x.new_ready = 3;
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_ALL_READY);
	assert_int_equal(reload_fsm_judge(&f, &x, 1000 + 60000), RELOAD_ALL_READY);
	x.new_dead = 1;
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_GNEW_DIED);
	x.new_dead = 0;
	x.new_ready = 2;
	x.spawn_failed = 1;
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_SPAWN_FAILED);
	x = (struct reload_facts){ .lanes = 3, .old_live = 3, .lanes_old = 3, .new_alive = 3, .new_ready = 3 };
	f = fsm_in(RELOAD_T2_HANDOVER);
	x.old_parked = 2;
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_NOTHING);
	x.old_live = 2; /* the third one died: it counts as parked */
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_ALL_PARKED);
	assert_int_equal(reload_fsm_judge(&f, &x, 1100), RELOAD_ALL_PARKED);
	x.old_live = x.old_parked = 0;
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_ALL_PARKED);
	x.new_dead = 1;
	x.new_ready = 2;
	x.new_alive = 2;
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_GNEW_DIED);
	x = (struct reload_facts){ .lanes = 3, .old_live = 2, .new_alive = 3, .new_ready = 3, .committed = true };
	f = fsm_in(RELOAD_T3_DRAIN);
	x.old_drained = 1;
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_NOTHING);
	x.old_drained = 2;
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_DRAIN_DONE);
	assert_int_equal(reload_fsm_judge(&f, &x, 1000 + 90000), RELOAD_DRAIN_DONE);
	x.old_live = x.old_drained = 0;
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_DRAIN_DONE);
	x.old_live = 2;
	x.committed = false;
	x.window_lost = true; /* an old worker has taken its lane back */
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_RECLAIMED);
	x = (struct reload_facts){ .lanes = 3, .old_live = 3, .lanes_old = 3, .new_alive = 3, .new_ready = 3,
		.window_lost = true };
	f = fsm_in(RELOAD_T1_GNEW_SPAWN);
	assert_int_equal(reload_fsm_judge(&f, &x, 2000), RELOAD_FLIP_FAILED);
}

/* REL-12: the round is over when nobody of the new generation is left and every lane is the old one's again */
static void
an_abort_ends_when_everything_is_as_before(void **state)
{
	struct reload_fsm f = fsm_in(RELOAD_T_ERROR);
	struct reload_facts x = { .lanes = 2, .old_live = 2, .new_alive = 1, .new_dead = 1, .lanes_old = 2 };

	(void)state;
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_NOTHING);
	x.new_alive = 0;
	x.lanes_old = 1;
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_NOTHING);
	x.lanes_old = 2;
	assert_int_equal(reload_fsm_judge(&f, &x, 1001), RELOAD_RESET);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leases_come_back_as_they_went),
		cmocka_unit_test(windows_come_back_as_they_went),
		cmocka_unit_test(only_the_steps_of_the_table_are_legal),
		cmocka_unit_test(a_directory_is_made_once_and_for_one_to_sixteen_lanes),
		cmocka_unit_test(another_layout_is_refused_with_both_versions_named),
		cmocka_unit_test(every_byte_may_lie),
		cmocka_unit_test(generation_numbers_grow_and_end),
		cmocka_unit_test(owner_marks_are_never_nobodys),
		cmocka_unit_test(a_lease_is_swapped_only_as_it_was_seen),
		cmocka_unit_test(only_the_dead_lose_their_lease),
		cmocka_unit_test(the_window_is_swapped_once),
		cmocka_unit_test(orders_are_for_one_generation),
		cmocka_unit_test(a_torn_report_is_none),
		cmocka_unit_test(one_master_at_a_time),
		cmocka_unit_test(every_event_in_every_state),
		cmocka_unit_test(a_round_is_six_transitions),
		cmocka_unit_test(every_wait_ends_at_its_deadline),
		cmocka_unit_test(judgements_have_an_order),
		cmocka_unit_test(an_abort_ends_when_everything_is_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

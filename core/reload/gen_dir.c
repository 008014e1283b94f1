/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation directory: its words, making and attaching it, reading it as hostile, the swaps. */
#include "gen_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../runtime/ctl.h"

#define FENCE_MASK 0x3fffffffu
#define GEN_MASK 0x3fffffffull
#define TRIES 64u /* a swap that others win so often is not tried any more: nothing here waits */
#define TORN 8u

_Static_assert(sizeof(struct gen_seat) % 64 == 0 && sizeof(struct gen_master) == 64 && sizeof(struct gen_lane) == 64,
	"what one process writes shares no cache line with what another one writes");

/* ---- words ---- */

uint64_t
lease_word(struct lease l)
{
	return (uint64_t)l.gen << 32 | (uint64_t)(l.fence & FENCE_MASK) << 2 | (uint64_t)l.state;
}

int
lease_of(uint64_t word, struct lease *out)
{
	unsigned int state = word & 3;
	uint32_t gen = word >> 32;

	if (state > LEASE_PARKED || gen > GEN_LAST || (gen == 0) != (state == LEASE_FREE))
		return -EPROTO;
	out->state = (enum lease_state)state;
	out->gen = gen;
	out->fence = (word >> 2) & FENCE_MASK;
	return 0;
}

uint64_t
window_word(struct window w)
{
	return (uint64_t)w.wid << 34 | (w.active & GEN_MASK) << 4 | (uint64_t)w.state;
}

int
window_of(uint64_t word, struct window *out)
{
	unsigned int state = word & 15;
	uint32_t active = (word >> 4) & GEN_MASK, wid = word >> 34;

	if (state >= WINDOW_STATES || wid > GEN_LAST || wid < active)
		return -EPROTO;
	if (state == WINDOW_CLOSED ? (wid == 0) != (active == 0) : active == 0 || gen_side(wid) == gen_side(active))
		return -EPROTO;
	out->state = (enum window_state)state;
	out->wid = wid;
	out->active = active;
	return 0;
}

uint32_t
gen_rightful(struct window w)
{
	return w.state == WINDOW_COMMITTED || w.state == WINDOW_RETIRING ? w.wid : w.active;
}

bool
gen_window_step(struct window from, struct window to)
{
	static const uint8_t next[WINDOW_STATES] = {
		[WINDOW_OPEN] = 1 << WINDOW_PARKING | 1 << WINDOW_ABORTED,
		[WINDOW_PARKING] = 1 << WINDOW_COMMITTED | 1 << WINDOW_ABORTED,
		[WINDOW_COMMITTED] = 1 << WINDOW_ROLLBACK | 1 << WINDOW_RETIRING,
		[WINDOW_ABORTED] = 1 << WINDOW_CLOSED,
		[WINDOW_ROLLBACK] = 1 << WINDOW_CLOSED,
		[WINDOW_RETIRING] = 1 << WINDOW_CLOSED,
	};
	struct window ok;

	if (from.state >= WINDOW_STATES || window_of(window_word(to), &ok) < 0 || ok.state != to.state || ok.wid != to.wid ||
	    ok.active != to.active)
		return false;
	if (from.state == WINDOW_CLOSED && from.active == 0)
		return to.state == WINDOW_CLOSED && to.active == to.wid && to.wid != 0;
	if (from.state == WINDOW_CLOSED)
		return to.state == WINDOW_OPEN && to.active == from.active && to.wid > from.wid;
	return to.wid == from.wid && (next[from.state] & 1 << to.state) != 0 &&
		to.active == (to.state == WINDOW_CLOSED ? gen_rightful(from) : from.active);
}

const char *
gen_window_name(enum window_state state)
{
	static const char *const names[WINDOW_STATES] = {
		"CLOSED", "OPEN", "PARKING", "COMMITTED", "ABORTED", "ROLLBACK", "RETIRING",
	};

	return state < WINDOW_STATES ? names[state] : "?";
}

/* ---- making and attaching ---- */

int
gen_dir_create(struct shim *s, uint32_t nb_lanes, uint64_t boot_id, struct gen_dir **out)
{
	struct gen_dir *d;
	void *addr;
	int rc;

	if (nb_lanes == 0 || nb_lanes > GEN_MAX_LANES || boot_id == 0)
		return -EINVAL;
	rc = shim_zone_reserve(s, GEN_ZONE, sizeof(*d), &addr);
	if (rc < 0)
		return rc;
	d = addr;
	d->layout_version = GEN_LAYOUT_VERSION;
	d->len = sizeof(*d);
	d->boot_id = boot_id;
	d->nb_lanes = nb_lanes;
	d->next_gen = 1;
	d->next_mark = 1;
	/* release: whoever sees the magic sees the rest */
	shim_store64(s, &d->magic, GEN_MAGIC, SHIM_RELEASE);
	*out = d;
	return 0;
}

int
gen_dir_attach(struct shim *s, uint64_t boot_id, struct gen_dir **out)
{
	const struct gen_dir *d;
	uint32_t version, lanes;
	size_t size;
	void *addr;
	int rc;

	rc = shim_zone_lookup(s, GEN_ZONE, &addr, &size);
	if (rc < 0)
		return rc;
	d = addr;
	if (size < sizeof(d->magic) + sizeof(d->layout_version)) {
		shim_log(s, SHIM_LOG_ERR, "%s: %zu bytes are no generation directory", GEN_ZONE, size);
		return -EPROTO;
	}
	/* acquire pairs with the maker's release */
	if (shim_load64(s, &d->magic, SHIM_ACQUIRE) != GEN_MAGIC) {
		shim_log(s, SHIM_LOG_ERR, "%s: not a generation directory of nonic", GEN_ZONE);
		return -EPROTO;
	}
	/* relaxed, here and below: written once before the magic; read once because hostile */
	version = shim_load32(s, &d->layout_version, SHIM_RELAXED);
	if (version != GEN_LAYOUT_VERSION) {
		shim_log(s, SHIM_LOG_ERR, "%s: layout version %u, this program speaks version %u: start primary, master "
			"and workers from one build", GEN_ZONE, version, GEN_LAYOUT_VERSION);
		return -EPROTO;
	}
	if (size < sizeof(*d) || shim_load32(s, &d->len, SHIM_RELAXED) != sizeof(*d)) {
		shim_log(s, SHIM_LOG_ERR, "%s: %zu bytes, this program's has %zu", GEN_ZONE, size, sizeof(*d));
		return -EPROTO;
	}
	if (shim_load64(s, &d->boot_id, SHIM_RELAXED) != boot_id) {
		shim_log(s, SHIM_LOG_ERR, "%s: left by another run of the primary", GEN_ZONE);
		return -EPROTO;
	}
	lanes = shim_load32(s, &d->nb_lanes, SHIM_RELAXED);
	if (lanes == 0 || lanes > GEN_MAX_LANES) {
		shim_log(s, SHIM_LOG_ERR, "%s: %u lanes, 1 to %u are possible", GEN_ZONE, lanes, GEN_MAX_LANES);
		return -EPROTO;
	}
	*out = addr;
	return 0;
}

/* ---- reading ---- */

int
gen_window(struct shim *s, const struct gen_dir *d, struct window *out)
{
	/* acquire: what the process that made the step did before it is seen */
	return window_of(shim_load64(s, &d->window, SHIM_ACQUIRE), out);
}

int
gen_lease(struct shim *s, const struct gen_dir *d, unsigned int lane, struct lease *out)
{
	if (lane >= GEN_MAX_LANES)
		return -EINVAL;
	/* acquire: the queue's memory is as the one that let go has left it */
	return lease_of(shim_load64(s, &d->lane[lane].lease, SHIM_ACQUIRE), out);
}

int
gen_drain(struct shim *s, const struct gen_dir *d, unsigned int side, unsigned int lane, struct drain_counts *out)
{
	const struct gen_seat *seat;

	if (side >= GEN_SIDES || lane >= GEN_MAX_LANES)
		return -EINVAL;
	seat = &d->seat[side][lane];
	for (unsigned int i = 0; i < TORN; i++) {
		/* acquire: no count is read before the sequence word */
		uint32_t seq = shim_load32(s, &seat->drain_seq, SHIM_ACQUIRE);

		if ((seq & 1) != 0)
			continue;
		/* relaxed: the words around them order them */
		out->gen = shim_load32(s, &seat->drain.gen, SHIM_RELAXED);
		out->tcp = shim_load32(s, &seat->drain.tcp, SHIM_RELAXED);
		out->half_open = shim_load32(s, &seat->drain.half_open, SHIM_RELAXED);
		out->udp = shim_load32(s, &seat->drain.udp, SHIM_RELAXED);
		out->unsent = shim_load64(s, &seat->drain.unsent, SHIM_RELAXED);
		out->stamp_ms = shim_load32(s, &seat->drain.stamp_ms, SHIM_RELAXED);
		out->zero = 0;
		/* acquire: the counts are read before the sequence word is looked at again */
		shim_fence(s, SHIM_ACQUIRE);
		if (shim_load32(s, &seat->drain_seq, SHIM_RELAXED) != seq)
			continue;
		return out->gen <= GEN_LAST ? 0 : -EPROTO;
	}
	return -EAGAIN;
}

/* An error (no permission to look) is taken for alive: what may be in use is never broken. */
static bool
word_alive(struct shim *s, uint64_t word, struct shim_proc *who)
{
	struct shim_proc p = ctl_word_proc(word);

	if (word == 0 || shim_proc_alive(s, &p) == 0)
		return false;
	if (who != NULL)
		*who = p;
	return true;
}

int
gen_seat_alive(struct shim *s, const struct gen_dir *d, unsigned int side, unsigned int lane, struct shim_proc *who)
{
	if (side >= GEN_SIDES || lane >= GEN_MAX_LANES)
		return 0;
	/* acquire: what the process did before it sat down is seen */
	return word_alive(s, shim_load64(s, &d->seat[side][lane].claim, SHIM_ACQUIRE), who);
}

unsigned int
gen_side_alive(struct shim *s, const struct gen_dir *d, unsigned int side)
{
	unsigned int n = 0;

	for (unsigned int lane = 0; lane < GEN_MAX_LANES; lane++)
		n += (unsigned int)gen_seat_alive(s, d, side, lane, NULL);
	return n;
}

enum seat_order
gen_order(struct shim *s, const struct gen_dir *d, uint32_t gen, unsigned int lane)
{
	uint32_t word;

	if (lane >= GEN_MAX_LANES)
		return SEAT_SERVE;
	/* acquire: the master's window is as it was when it gave the order */
	word = shim_load32(s, &d->seat[gen_side(gen)][lane].order_word, SHIM_ACQUIRE);
	if (word >> 2 != gen || (word & 3) > SEAT_ABORT)
		return SEAT_SERVE;
	return (enum seat_order)(word & 3);
}

/* ---- changing ---- */

uint32_t
gen_next(struct shim *s, struct gen_dir *d, unsigned int side)
{
	struct window w;

	for (unsigned int i = 0; i < TRIES; i++) {
		/* relaxed: the number orders nothing, the window word does */
		uint32_t seen = shim_load32(s, &d->next_gen, SHIM_RELAXED), gen = seen;

		/* a number that was used already can only be another's damage: the window knows the newest one */
		if (gen_window(s, d, &w) == 0 && gen <= w.wid)
			gen = w.wid + 1;
		if (gen > GEN_LAST || side >= GEN_SIDES)
			break;
		if (gen == 0 || gen_side(gen) != side)
			gen += gen == 0 && side == 0 ? 2 : 1;
		if (gen > GEN_LAST)
			break;
		if (shim_cas32(s, &d->next_gen, &seen, gen + 1, SHIM_RELAXED))
			return gen;
	}
	shim_log(s, SHIM_LOG_ERR, "no generation number is left: restart the primary");
	return 0;
}

uint32_t
gen_mark_next(struct shim *s, struct gen_dir *d)
{
	/* relaxed: a mark only has to be another one each time */
	uint32_t mark = shim_fetch_add32(s, &d->next_mark, 1, SHIM_RELAXED) & SHIM_BUF_MARK_MAX;

	if (mark == 0)
		mark = shim_fetch_add32(s, &d->next_mark, 1, SHIM_RELAXED) & SHIM_BUF_MARK_MAX;
	return mark != 0 ? mark : 1;
}

void
gen_order_set(struct shim *s, struct gen_dir *d, uint32_t gen, unsigned int lane, enum seat_order order)
{
	if (lane < GEN_MAX_LANES)
		/* release: whoever obeys sees the window as it was when the order was given */
		shim_store32(s, &d->seat[gen_side(gen)][lane].order_word, gen << 2 | order, SHIM_RELEASE);
}

bool
gen_window_swap(struct shim *s, struct gen_dir *d, struct window from, struct window to)
{
	uint64_t seen = window_word(from);

	if (!gen_window_step(from, to)) {
		shim_log(s, SHIM_LOG_ERR, "window %s(%u, %u) -> %s(%u, %u) is no legal step", gen_window_name(from.state),
			from.wid, from.active, gen_window_name(to.state), to.wid, to.active);
		return false;
	}
	/* release: what led to the step is seen by whoever sees it; acquire: leases and claims as they were before it */
	return shim_cas64(s, &d->window, &seen, window_word(to), SHIM_ACQ_REL);
}

bool
gen_lease_swap(struct shim *s, struct gen_dir *d, unsigned int lane, struct lease from, enum lease_state state,
	uint32_t gen)
{
	struct lease to = { .state = state, .gen = gen, .fence = from.fence + 1 }, ok;
	uint64_t seen = lease_word(from);

	if (lane >= GEN_MAX_LANES || lease_of(lease_word(to), &ok) < 0)
		return false;
	/* release: the queue as it is left, its last burst processed; acquire: as the one before left it */
	return shim_cas64(s, &d->lane[lane].lease, &seen, lease_word(to), SHIM_ACQ_REL);
}

bool
gen_lease_break(struct shim *s, struct gen_dir *d, unsigned int lane, struct lease from)
{
	/* claim read after lease (an acquire load): a successor swaps the lease before it polls, and then this swap fails */
	return from.state == LEASE_OWNED && gen_seat_alive(s, d, gen_side(from.gen), lane, NULL) == 0 &&
		gen_lease_swap(s, d, lane, from, LEASE_PARKED, from.gen);
}

int
gen_master_alive(struct shim *s, const struct gen_dir *d, struct shim_proc *who)
{
	for (unsigned int i = 0; i < GEN_MASTERS; i++)
		/* acquire: what the master did before it took the slot is seen */
		if (word_alive(s, shim_load64(s, &d->master[i].claim, SHIM_ACQUIRE), who))
			return 1;
	return 0;
}

/* Another live master than the one of slot `mine` (GEN_MASTERS: than none). */
static bool
other_master(struct shim *s, const struct gen_dir *d, unsigned int mine, struct shim_proc *other)
{
	for (unsigned int i = 0; i < GEN_MASTERS; i++)
		/* sequentially consistent: of two that have just taken their slots at least one sees the other */
		if (i != mine && word_alive(s, shim_load64(s, &d->master[i].claim, SHIM_SEQ_CST), other))
			return true;
	return false;
}

int
gen_master_claim(struct shim *s, struct gen_dir *d, unsigned int *slot, struct shim_proc *other)
{
	struct shim_proc self = shim_self(s);
	uint64_t mine = ctl_proc_word(&self);

	if (mine == 0)
		return -ERANGE;
	if (other_master(s, d, GEN_MASTERS, other))
		return -EBUSY;
	for (unsigned int i = 0; i < GEN_MASTERS; i++) {
		struct gen_master *m = &d->master[i];
		uint64_t seen = shim_load64(s, &m->claim, SHIM_ACQUIRE);

		if (word_alive(s, seen, NULL) || !shim_cas64(s, &m->claim, &seen, mine, SHIM_SEQ_CST))
			continue;
		if (other_master(s, d, i, other)) {
			gen_master_release(s, d, i);
			return -EBUSY;
		}
		/* relaxed: for tools; nobody acts upon it */
		shim_store32(s, &m->gen, 0, SHIM_RELAXED);
		*slot = i;
		return 0;
	}
	return -ENOSPC;
}

void
gen_master_release(struct shim *s, struct gen_dir *d, unsigned int slot)
{
	struct shim_proc self = shim_self(s);
	uint64_t mine = ctl_proc_word(&self);

	/* release: what the master did last is seen by its successor; a slot that is another's stays so */
	if (slot < GEN_MASTERS)
		shim_cas64(s, &d->master[slot].claim, &mine, 0, SHIM_RELEASE);
}

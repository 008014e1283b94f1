/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's seat: claiming it, one turn of the lease and of the window, watching peer and master, leaving. */
#include "seat.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../runtime/ctl.h"

#define NS_PER_MS UINT64_C(1000000)
#define CLAIM_TRIES 4u

static uint64_t
timeout_ns(const struct seat *st)
{
	return st->heartbeat_timeout_ms * NS_PER_MS;
}

/* An impossible word is told once; whoever changes it all the time does not fill the log. */
static void
report(struct seat *st, const char *what, uint64_t word)
{
	if (st->reported)
		return;
	st->reported = true;
	shim_log(st->shim, SHIM_LOG_ERR, "lane %u: %s word %016" PRIx64 " is impossible: it is left out of account", st->lane,
		what, word);
}

/*
 * The lease that this process held is another's, though it lives: it was taken for dead, or something wrote into the word. In its
 * last turn two may have polled. Counted each time, told once.
 */
static void
taken(struct seat *st, const char *how)
{
	st->held = 0;
	/* relaxed: a count for people */
	shim_fetch_add64(st->shim, &st->dir->lane[st->lane].taken, 1, SHIM_RELAXED);
	if (!st->told_taken)
		shim_log(st->shim, SHIM_LOG_ALERT, "lane %u: %s while this process, which lives, believed to own the lane: two may have "
			"polled it for a turn", st->lane, how);
	st->told_taken = true;
}

/* ---- sitting down ---- */

/* The first generation, made by a worker that has no master. */
static int
first_generation(struct seat *st)
{
	uint32_t gen = gen_next(st->shim, st->dir, 0);
	struct window first = { .state = WINDOW_CLOSED, .wid = gen, .active = gen };

	if (gen == 0)
		return -ENOSPC;
	/* another one may be faster: then its generation is the first */
	gen_window_swap(st->shim, st->dir, st->window, first);
	return gen_window(st->shim, st->dir, &st->window);
}

/* Which generation, and may it sit down now? */
static int
generation(struct seat *st, uint32_t gen)
{
	int rc = gen_window(st->shim, st->dir, &st->window);
	bool ok;

	if (rc == 0 && gen == 0 && st->window.active == 0)
		rc = first_generation(st);
	if (rc < 0) {
		shim_log(st->shim, SHIM_LOG_ERR, "lane %u: no generation can be had from the directory", st->lane);
		return rc;
	}
	if (gen == 0)
		gen = st->window.active;
	switch (st->window.state) {
	case WINDOW_OPEN:
	case WINDOW_PARKING:
	case WINDOW_COMMITTED:
		ok = gen == st->window.wid || gen == st->window.active;
		break;
	case WINDOW_RETIRING:
		ok = gen == st->window.wid;
		break;
	default:
		ok = gen == st->window.active;
	}
	if (!ok || gen == 0) {
		shim_log(st->shim, SHIM_LOG_ERR, "lane %u: generation %u is over, or has not begun (window %s %u, active %u)",
			st->lane, gen, gen_window_name(st->window.state), st->window.wid, st->window.active);
		return -ESTALE;
	}
	st->gen = gen;
	st->side = gen_side(gen);
	st->mine = &st->dir->seat[st->side][st->lane];
	st->peer = &st->dir->seat[st->side ^ 1][st->lane];
	return 0;
}

static int
claim(struct seat *st)
{
	struct shim_proc who;

	for (unsigned int i = 0; i < CLAIM_TRIES; i++) {
		/* acquire: what the one before wrote is seen */
		uint64_t seen = shim_load64(st->shim, &st->mine->claim, SHIM_ACQUIRE);

		who = ctl_word_proc(seen);
		/* an error (no permission to look) is taken for alive */
		if (seen != 0 && shim_proc_alive(st->shim, &who) != 0) {
			shim_log(st->shim, SHIM_LOG_ERR, "lane %u: its seat on side %u is taken by process %u", st->lane,
				st->side, who.pid);
			return -EBUSY;
		}
		/* acquire, release: between the last word of the one before and the first of this one */
		if (shim_cas64(st->shim, &st->mine->claim, &seen, st->proc_word, SHIM_ACQ_REL))
			return 0;
	}
	return -EBUSY;
}

static void
drain_store(struct seat *st, const struct drain_counts *c)
{
	struct shim *s = st->shim;
	struct drain_counts *d = &st->mine->drain;
	/* relaxed: this process is the only writer. One that died while it wrote has left it odd */
	uint32_t seq = shim_load32(s, &st->mine->drain_seq, SHIM_RELAXED) | 1;

	shim_store32(s, &st->mine->drain_seq, seq, SHIM_RELAXED);
	/* release: whoever sees one of the new counts sees the odd number */
	shim_fence(s, SHIM_RELEASE);
	shim_store32(s, &d->gen, c->gen, SHIM_RELAXED);
	shim_store32(s, &d->tcp, c->tcp, SHIM_RELAXED);
	shim_store32(s, &d->half_open, c->half_open, SHIM_RELAXED);
	shim_store32(s, &d->udp, c->udp, SHIM_RELAXED);
	shim_store64(s, &d->unsent, c->unsent, SHIM_RELAXED);
	shim_store32(s, &d->stamp_ms, c->stamp_ms, SHIM_RELAXED);
	/* release: the counts are whole for whoever sees the even number */
	shim_store32(s, &st->mine->drain_seq, seq + 1, SHIM_RELEASE);
}

/* The seat's words are the new holder's. Relaxed: whoever needs them in order reads READY first. */
static void
reset(struct seat *st)
{
	uint64_t *const totals[] = {
		&st->mine->forwarded, &st->mine->relayed, &st->mine->cloned, &st->mine->kept, &st->mine->taken_over,
		&st->mine->without_peer_table, &st->mine->bounced, &st->mine->drain_full, &st->mine->relay_full,
		&st->mine->parked_at_ns, &st->mine->took_at_ns, &st->mine->window_seen,
	};
	const struct drain_counts none = { .gen = 0 };

	shim_store64(st->shim, &st->mine->ready, 0, SHIM_RELEASE);
	shim_store32(st->shim, &st->mine->gen, st->gen, SHIM_RELAXED);
	shim_store32(st->shim, &st->mine->owner_mark, st->owner_mark, SHIM_RELAXED);
	shim_store32(st->shim, &st->mine->cache_id, shim_cache_id(st->shim), SHIM_RELAXED);
	for (unsigned int i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		shim_store64(st->shim, totals[i], 0, SHIM_RELAXED);
	shim_store32(st->shim, &st->mine->drain_peak, 0, SHIM_RELAXED);
	shim_store32(st->shim, &st->mine->relay_peak, 0, SHIM_RELAXED);
	/* what the one before was told, maybe by a master that has left since; a master repeats what it still wants */
	shim_store32(st->shim, &st->mine->order_word, 0, SHIM_RELAXED);
	drain_store(st, &none);
}

/* A lease that an earlier process of this seat held: that one is gone, this one has its seat. */
static void
inherit(struct seat *st)
{
	struct lease l;

	for (unsigned int i = 0; i < CLAIM_TRIES; i++)
		if (gen_lease(st->shim, st->dir, st->lane, &l) < 0 || l.state != LEASE_OWNED || gen_side(l.gen) != st->side ||
		    gen_lease_swap(st->shim, st->dir, st->lane, l, LEASE_PARKED, l.gen))
			return;
}

int
seat_claim(struct seat *st, const struct seat_config *c)
{
	int rc;

	memset(st, 0, sizeof(*st));
	st->shim = c->shim;
	st->dir = c->dir;
	st->lane = c->lane;
	st->proc_word = c->proc_word;
	st->heartbeat_timeout_ms = c->heartbeat_timeout_ms != 0 ? c->heartbeat_timeout_ms : 1000;
	st->shutdown_ms = c->shutdown_ms != 0 ? c->shutdown_ms : 90000;
	/* relaxed: written once before anybody attached; read once because hostile */
	if (c->proc_word == 0 || c->lane >= GEN_MAX_LANES || c->lane >= shim_load32(c->shim, &c->dir->nb_lanes, SHIM_RELAXED))
		return -EINVAL;
	rc = generation(st, c->gen);
	if (rc == 0)
		rc = claim(st);
	if (rc < 0)
		return rc;
	st->claimed = true;
	st->owner_mark = gen_mark_next(st->shim, st->dir);
	/* relaxed: this process is the only writer; one that watched the one before sees it go on */
	st->beat = shim_load64(st->shim, &st->mine->heartbeat, SHIM_RELAXED);
	reset(st);
	inherit(st);
	return 0;
}

void
seat_ready(struct seat *st)
{
	struct shim_proc self = ctl_word_proc(st->proc_word);

	/* release: whoever sees the word sees a worker that is complete */
	shim_store64(st->shim, &st->mine->ready, (uint64_t)st->gen << 32 | self.pid, SHIM_RELEASE);
}

/* ---- watching others ---- */

static void
watch_look(struct seat *st, struct seat_watch *w, const uint64_t *claim_word, const uint64_t *beat_word, uint64_t now_ns)
{
	/* acquire: a process that has left has said its last word before it freed its seat */
	uint64_t seen = shim_load64(st->shim, claim_word, SHIM_ACQUIRE);
	/* relaxed: progress is all that it says */
	uint64_t beat = shim_load64(st->shim, beat_word, SHIM_RELAXED), gap = now_ns - w->looked_ns;
	struct shim_proc who = ctl_word_proc(seen);

	w->looked_ns = now_ns;
	if (!w->seen || seen != w->claim || beat != w->beat) {
		w->dead = w->killed = false;
		w->seen = true;
		w->claim = seen;
		w->beat = beat;
		w->still_ns = 0;
		w->gone = seen == 0;
		return;
	}
	if (w->gone || w->dead)
		return;
	if (gap <= SEAT_GAP_NS)
		w->still_ns += gap;
	/* heartbeat first: only one that has not moved since the last look is looked up; errors mean alive */
	w->dead = shim_proc_alive(st->shim, &who) == 0;
}

/* Is the process of this watch one that can not be counted on? */
static bool
watch_lost(const struct seat *st, const struct seat_watch *w)
{
	return w->seen && (w->gone || w->dead || w->still_ns >= timeout_ns(st));
}

static bool
watch_over(const struct seat_watch *w)
{
	return w->seen && (w->gone || w->dead);
}

static void
master_look(struct seat *st, uint64_t now_ns)
{
	struct gen_master *m = st->dir->master;

	watch_look(st, &st->master_watch, &m[st->master_slot].claim, &m[st->master_slot].heartbeat, now_ns);
	for (unsigned int i = 0; i < GEN_MASTERS && watch_over(&st->master_watch); i++) {
		struct shim_proc who = ctl_word_proc(shim_load64(st->shim, &m[i].claim, SHIM_ACQUIRE));

		if (i == st->master_slot || who.pid == 0 || shim_proc_alive(st->shim, &who) == 0)
			continue;
		st->master_slot = i;
		memset(&st->master_watch, 0, sizeof(st->master_watch));
		watch_look(st, &st->master_watch, &m[i].claim, &m[i].heartbeat, now_ns);
	}
}

static void
look(struct seat *st, uint64_t now_ns)
{
	if (now_ns < st->look_ns)
		return;
	st->look_ns = now_ns + SEAT_LOOK_NS;
	watch_look(st, &st->peer_watch, &st->peer->claim, &st->peer->heartbeat, now_ns);
	master_look(st, now_ns);
	if (!watch_over(&st->peer_watch)) {
		st->had_peer = true;
		st->told_gone = false;
	}
}

/* A peer that is in the way, and has not moved for the heartbeat time-out. It counts as dead when the system says so. */
static void
kill_peer(struct seat *st)
{
	struct seat_watch *w = &st->peer_watch;
	struct shim_proc who = ctl_word_proc(w->claim);
	int rc;

	if (w->killed || watch_over(w) || !watch_lost(st, w))
		return;
	rc = shim_proc_kill(st->shim, &who);
	w->killed = true;
	shim_log(st->shim, rc < 0 ? SHIM_LOG_ALERT : SHIM_LOG_WARNING, "lane %u: process %u has not moved for %" PRIu64
		" ms: %s", st->lane, who.pid, w->still_ns / NS_PER_MS, rc == 0 ? "killed" : strerror(-rc));
}

/* ---- the window ---- */

static void
step(struct seat *st, enum window_state state, const char *why)
{
	struct window to = st->window;

	to.state = state;
	if (state == WINDOW_CLOSED)
		to.active = gen_rightful(st->window);
	/* lost against another's step: the next turn reads which */
	if (gen_window_swap(st->shim, st->dir, st->window, to))
		shim_log(st->shim, SHIM_LOG_WARNING, "lane %u: window %u is %s: %s", st->lane, st->window.wid,
			gen_window_name(state), why);
}

/* COMMITTED: an old worker looks after its lane; both generations after the drain's end. */
static void
step_committed(struct seat *st)
{
	bool old = st->gen == st->window.active && !st->handing;

	if (old && watch_lost(st, &st->peer_watch))
		step(st, WINDOW_ROLLBACK, "the new worker is dead, or has not moved");
	else if (old && st->nobody_ns >= timeout_ns(st))
		step(st, WINDOW_ROLLBACK, "the new worker has not taken its lane");
	else if (watch_lost(st, &st->master_watch) && st->committed_ns >= st->shutdown_ms * NS_PER_MS)
		step(st, WINDOW_RETIRING, "no master ends the drain");
}

/* One generation has to go, and this worker is of the other: without a master it sees to that. */
static void
step_end(struct seat *st)
{
	if (gen_rightful(st->window) != st->gen || !watch_lost(st, &st->master_watch))
		return;
	kill_peer(st);
	if (watch_over(&st->master_watch) && gen_side_alive(st->shim, st->dir, st->side ^ 1) == 0)
		step(st, WINDOW_CLOSED, "there is no master, the other generation is gone");
}

/* What a worker does with the window when those whose part it is do not. */
static void
window_step(struct seat *st)
{
	bool parked = st->window.state == WINDOW_PARKING && st->gen == st->window.active;

	if (st->gen != st->window.active && st->gen != st->window.wid)
		return;
	switch (st->window.state) {
	case WINDOW_OPEN:
	case WINDOW_PARKING:
		if (watch_over(&st->master_watch))
			step(st, WINDOW_ABORTED, "there is no master");
		else if (parked && st->nobody_ns >= timeout_ns(st))
			step(st, WINDOW_ABORTED, "parked for too long");
		break;
	case WINDOW_COMMITTED:
		step_committed(st);
		break;
	case WINDOW_CLOSED:
		break;
	default:
		step_end(st);
	}
}

/* ---- the lease ---- */

/* Makes `word` this process's OWNED. True: done. */
static bool
take(struct seat *st, uint64_t word, uint64_t now_ns)
{
	struct lease to = { .state = LEASE_OWNED, .gen = st->gen, .fence = (uint32_t)(word >> 2) + 1 };

	/* acquire: the queue as the last owner left it; release: took_at of an earlier time is not seen after it */
	if (!shim_cas64(st->shim, &st->dir->lane[st->lane].lease, &word, lease_word(to), SHIM_ACQ_REL))
		return false;
	st->held = lease_word(to);
	st->took = true;
	st->gave = false;
	st->nobody_ns = 0;
	st->stamp = true;
	/* relaxed: a stamp for the report */
	shim_store64(st->shim, &st->mine->took_at_ns, now_ns, SHIM_RELAXED);
	return true;
}

/*
 * The lane is this worker's, and its word says that another process owns it (or nothing possible). May it be taken? The
 * claim is read after the word: whoever sits down there meanwhile swaps the word first, and the swap from this one fails.
 */
static bool
may_break(struct seat *st, const struct lease *l, bool possible)
{
	if (possible && l->state == LEASE_OWNED && gen_side(l->gen) == st->side)
		return true; /* an earlier process of this very seat */
	if (possible)
		kill_peer(st);
	return watch_over(&st->peer_watch) && gen_seat_alive(st->shim, st->dir, st->side ^ 1, st->lane, NULL) == 0;
}

/* Takes the lane, keeps it, or says that it has to be let go; returns SEAT_DO_TOOK, SEAT_DO_LET_GO or 0. */
static unsigned int
lease_turn(struct seat *st, uint64_t word, uint64_t now_ns)
{
	bool rightful = gen_rightful(st->window) == st->gen;
	bool parking = st->window.state == WINDOW_PARKING && st->gen == st->window.active;
	struct lease l;
	bool possible = lease_of(word, &l) == 0;

	if (st->held != 0 && word == st->held) {
		if (parking || (!rightful && !watch_lost(st, &st->peer_watch)))
			return SEAT_DO_LET_GO;
		return 0;
	}
	if (st->held != 0 && possible)
		taken(st, "its lease was taken");
	st->held = 0;
	if (!possible)
		report(st, "lease", word);
	if (!rightful || parking)
		return 0;
	if ((possible && l.state != LEASE_OWNED) || may_break(st, &l, possible))
		return take(st, word, now_ns) ? SEAT_DO_TOOK : 0;
	return 0;
}

void
seat_let_go(struct seat *st, uint64_t now_ns)
{
	struct lease l;

	if (st->held == 0)
		return;
	/* relaxed: a stamp; before the swap, so that who sees the lane free sees when */
	shim_store64(st->shim, &st->mine->parked_at_ns, now_ns, SHIM_RELAXED);
	/* lost only if this process was taken for dead, or the word was damaged: it does not poll then, either */
	if (lease_of(st->held, &l) == 0 && !gen_lease_swap(st->shim, st->dir, st->lane, l, LEASE_PARKED, st->gen) &&
	    gen_lease(st->shim, st->dir, st->lane, &l) == 0)
		taken(st, "its lease was taken");
	st->held = 0;
	st->nobody_ns = 0;
	st->role = SEAT_ROLE_PARKED;
}

/* ---- one turn ---- */

static void
clocks(struct seat *st, uint64_t lease, uint64_t now_ns)
{
	uint64_t gap = now_ns - st->turn_ns;
	struct lease l;

	st->turn_ns = now_ns;
	if (st->stamp) /* relaxed: a stamp for the report; the turn that took the lane has polled it, however late it was */
		shim_store64(st->shim, &st->mine->took_at_ns, now_ns, SHIM_RELAXED);
	st->stamp = false;
	if (gap > SEAT_GAP_NS)
		gap = 0;
	if (lease_of(lease, &l) == 0 && l.state == LEASE_OWNED)
		st->nobody_ns = 0;
	else
		st->nobody_ns += gap;
	st->committed_ns = st->window.state == WINDOW_COMMITTED ? st->committed_ns + gap : 0;
	if (st->handing)
		st->handed_ns += gap;
}

/* Reads the window; true: look at the others, for this worker is not alone or not where it should be. */
static bool
window_read(struct seat *st)
{
	struct window was = st->window;
	/* acquire: leases and claims are as they were before the step */
	uint64_t word = shim_load64(st->shim, &st->dir->window, SHIM_ACQUIRE);

	if (window_of(word, &st->window) < 0)
		report(st, "window", word);
	if (st->window.state != was.state) /* what is judged from here on is judged by a look that is not older */
		st->look_ns = 0;
	if (st->window.wid != was.wid) {
		st->owe_gone = st->paired && !st->told_gone;
		st->look_ns = 0;
		st->had_peer = st->told_gone = st->paired = false;
	}
	/* nor has it what it should: whoever left the lane's word behind may be gone for long */
	return st->window.state != WINDOW_CLOSED || st->window.active != st->gen || st->held == 0;
}

static bool
in_window(const struct seat *st)
{
	return st->window.state == WINDOW_OPEN || st->window.state == WINDOW_PARKING ||
		st->window.state == WINDOW_COMMITTED || st->window.state == WINDOW_RETIRING;
}

/* The peer is gone: at once where one must be, after it was there where one may be, in any case when all is over. */
static unsigned int
tell_peer(struct seat *st)
{
	bool closed = st->window.state == WINDOW_CLOSED;
	bool expected = st->had_peer || st->gen != st->window.active || st->window.state == WINDOW_COMMITTED ||
		st->window.state == WINDOW_RETIRING || st->window.state == WINDOW_ROLLBACK;

	if (st->owe_gone) {
		st->owe_gone = false;
		return SEAT_DO_PEER_GONE;
	}
	if (st->told_gone || !st->paired || !(closed || (expected && watch_over(&st->peer_watch))))
		return 0;
	st->told_gone = true;
	return SEAT_DO_PEER_GONE;
}

static unsigned int
tell_window(struct seat *st, unsigned int due)
{
	bool in = in_window(st) && (st->gen == st->window.wid || st->gen == st->window.active);

	if (st->open_wid != 0 && (!in || st->open_wid != st->window.wid)) {
		st->open_wid = 0;
		return SEAT_DO_CLOSE;
	}
	if (st->open_wid != 0 || !in || (due & SEAT_DO_PEER_GONE) != 0)
		return 0;
	st->open_wid = st->window.wid;
	st->paired = true;
	st->report_ns = 0;
	return SEAT_DO_OPEN;
}

/* Must it leave, and how? Leaving at once waits until the lane is let go. */
static unsigned int
tell_leave(struct seat *st, unsigned int due)
{
	enum seat_order order = gen_order(st->shim, st->dir, st->gen, st->lane);
	bool old = st->gen == st->window.active, new = st->gen == st->window.wid && !old;

	if (order == SEAT_ABORT)
		return (due & SEAT_DO_LET_GO) == 0 ? SEAT_DO_EXIT : 0;
	if ((new && !in_window(st)) || (!old && !new && !st->took))
		return st->held == 0 ? SEAT_DO_EXIT : 0;
	if (st->handing && !st->hand_marked) {
		/* what was handed over in the last turn is seen by every turn that the peer begins after this one is read:
		 * sequentially consistent, for it is a store of this process before a load of this process */
		shim_fence(st->shim, SHIM_SEQ_CST);
		st->peer_beat_at_hand = shim_load64(st->shim, &st->peer->heartbeat, SHIM_RELAXED);
		st->hand_marked = true;
	}
	if (st->handing || !(order == SEAT_QUIT || (old && st->window.state == WINDOW_RETIRING) || (!old && !new)))
		return 0;
	st->handing = true;
	return SEAT_DO_HAND;
}

/* What is due in the lane's present state. */
static unsigned int
tell_role(struct seat *st, uint64_t word, uint64_t now_ns)
{
	bool rightful = gen_rightful(st->window) == st->gen;
	bool draining = in_window(st) && !rightful && st->gen == st->window.active;
	bool owned, left;
	unsigned int due = 0;
	struct lease l;

	owned = lease_of(word, &l) == 0 && l.state == LEASE_OWNED && l.gen != st->gen;
	/* what follows the loss of a lane takes time, and its new owner may need this very processor to take it */
	left = owned || st->nobody_ns >= SEAT_SOON_NS;

	if (st->held != 0)
		st->role = SEAT_ROLE_OWNER;
	else if (!st->took)
		st->role = SEAT_ROLE_WAIT;
	else if (!rightful || owned)
		st->role = SEAT_ROLE_DRAIN;
	else
		st->role = SEAT_ROLE_PARKED;
	if (st->role == SEAT_ROLE_DRAIN && !st->gave && left) {
		st->gave = true;
		due |= SEAT_DO_GAVE;
	}
	if (draining && st->held == 0 && left && now_ns >= st->report_ns) {
		st->report_ns = now_ns + SEAT_REPORT_NS;
		due |= SEAT_DO_REPORT;
	}
	return due;
}

unsigned int
seat_turn(struct seat *st, uint64_t now_ns)
{
	unsigned int due;
	uint64_t lease;
	bool watching;

	/* relaxed: its own word; another's in it means that this process was taken for dead */
	if (!st->claimed || shim_load64(st->shim, &st->mine->claim, SHIM_RELAXED) != st->proc_word) {
		if (st->claimed && st->held != 0)
			taken(st, "its seat was taken");
		st->claimed = false;
		st->held = 0;
		st->role = SEAT_ROLE_PARKED;
		return SEAT_DO_EXIT;
	}
	/* the lease before the window: a swap from this word succeeds only if the lane was so when the window was read.
	 * acquire: the queue's memory is as the one that let go has left it */
	lease = shim_load64(st->shim, &st->dir->lane[st->lane].lease, SHIM_ACQUIRE);
	watching = window_read(st);
	clocks(st, lease, now_ns);
	if (watching) {
		look(st, now_ns);
		window_step(st);
	}
	due = lease_turn(st, lease, now_ns);
	due |= tell_role(st, lease, now_ns);
	due |= tell_peer(st);
	due |= tell_window(st, due);
	return due | tell_leave(st, due);
}

void
seat_beat(struct seat *st)
{
	uint64_t word = window_word(st->window);

	if (!st->claimed)
		return;
	if (word != st->acted) {
		st->acted = word;
		/* release: what the worker did about it comes first */
		shim_store64(st->shim, &st->mine->window_seen, word, SHIM_RELEASE);
	}
	/* release: what the turn put into rings and tables is seen by whoever sees it counted */
	shim_store64(st->shim, &st->mine->heartbeat, ++st->beat, SHIM_RELEASE);
}

uint64_t
seat_next(const struct seat *st)
{
	bool soon = st->window.state == WINDOW_OPEN || st->window.state == WINDOW_PARKING || st->handing ||
		st->role == SEAT_ROLE_WAIT || st->role == SEAT_ROLE_PARKED;

	return st->turn_ns + (soon ? SEAT_SOON_NS : SEAT_LOOK_NS);
}

bool
seat_peer(const struct seat *st)
{
	return in_window(st) && st->had_peer && !st->told_gone;
}

bool
seat_dispatching(const struct seat *st)
{
	return st->held != 0 && seat_peer(st) && st->gen == st->window.wid && gen_rightful(st->window) == st->gen;
}

void
seat_report(struct seat *st, const struct drain_counts *c, uint32_t now_ms)
{
	struct drain_counts d = *c;

	d.gen = st->gen;
	d.stamp_ms = now_ms;
	if (st->claimed)
		drain_store(st, &d);
}

bool
seat_may_leave(const struct seat *st, uint64_t now_ns)
{
	uint64_t beat;

	if (!st->handing)
		return false;
	if (st->window.state == WINDOW_CLOSED || watch_over(&st->peer_watch))
		return true;
	if (st->handed_ns + (now_ns - st->turn_ns) >= SEAT_HAND_NS)
		return true;
	/* acquire: what the peer put into the drain ring before it counted is there. Equality only: the count may wrap */
	beat = shim_load64(st->shim, &st->peer->heartbeat, SHIM_ACQUIRE);
	return st->hand_marked && beat != st->peer_beat_at_hand && beat != st->peer_beat_at_hand + 1;
}

void
seat_release(struct seat *st)
{
	uint64_t mine = st->proc_word;

	if (!st->claimed)
		return;
	st->claimed = false;
	st->held = 0;
	/* release: the lane's last burst, the report and the rings come first; another's claim stays */
	shim_cas64(st->shim, &st->mine->claim, &mine, 0, SHIM_RELEASE);
}

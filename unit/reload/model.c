/* SPDX-License-Identifier: BSD-3-Clause */
/* The small world; see model.h. */
#include "model.h"

#include <errno.h>
#include <string.h>

#define STEP_NS 150000ull

/* ---- the door: shared words are the places where a process may be left ---- */

static struct proc *
self(const struct shim *s)
{
	return (struct proc *)(uintptr_t)s;
}

static void
leave(struct shim *s)
{
	struct proc *p = self(s);

	if (p->f != NULL && prng_chance(&p->w->prng, p->w->preempt_ppm))
		fiber_yield(p->f);
}

static void
door_log(struct shim *s, int level, const char *fmt, va_list ap)
{
	(void)level;
	(void)ap;
	if (strstr(fmt, "no legal step") != NULL)
		self(s)->w->bad_step = true;
}

static uint64_t
door_load(struct shim *s, const void *w, int size, enum shim_order o)
{
	(void)o;
	leave(s);
	return size == 8 ? *(const uint64_t *)w : *(const uint32_t *)w;
}

static void
door_store(struct shim *s, void *w, int size, uint64_t v, enum shim_order o)
{
	(void)o;
	leave(s);
	if (size == 8)
		*(uint64_t *)w = v;
	else
		*(uint32_t *)w = (uint32_t)v;
}

static bool
door_cas(struct shim *s, void *w, int size, uint64_t *expect, uint64_t v, enum shim_order o)
{
	uint64_t seen;

	(void)o;
	leave(s);
	seen = size == 8 ? *(uint64_t *)w : *(uint32_t *)w;
	if (seen != *expect) {
		*expect = seen;
		return false;
	}
	if (size == 8)
		*(uint64_t *)w = v;
	else
		*(uint32_t *)w = (uint32_t)v;
	return true;
}

static uint64_t
door_fetch_add(struct shim *s, void *w, int size, uint64_t v, enum shim_order o)
{
	uint64_t seen;

	(void)o;
	leave(s);
	seen = size == 8 ? *(uint64_t *)w : *(uint32_t *)w;
	if (size == 8)
		*(uint64_t *)w = seen + v;
	else
		*(uint32_t *)w = (uint32_t)(seen + v);
	return seen;
}

static void
door_fence(struct shim *s, enum shim_order o)
{
	(void)o;
	leave(s);
}

static struct proc *
find(struct world *w, const struct shim_proc *who)
{
	for (unsigned int i = 0; i < MODEL_PROCS; i++)
		if (w->proc[i].used && w->proc[i].start.pid == who->pid && w->proc[i].start.start_time == who->start_time)
			return &w->proc[i];
	return NULL;
}

static int
door_alive(struct shim *s, const struct shim_proc *who)
{
	leave(s);
	return find(self(s)->w, who) != NULL;
}

/* The killed one may still do a little before it is gone. */
static int
door_kill(struct shim *s, const struct shim_proc *who)
{
	struct proc *p;

	leave(s);
	p = find(self(s)->w, who);
	if (p == NULL)
		return -ESRCH;
	if (p == self(s))
		return -EINVAL;
	p->dying = true;
	self(s)->w->kills++;
	return 0;
}

static uint32_t
door_cache_id(const struct shim *s)
{
	return s->self.pid;
}

static int
door_zone_reserve(struct shim *s, const char *name, size_t size, void **addr)
{
	(void)name;
	if (size != sizeof(self(s)->w->dir))
		return -EINVAL;
	*addr = &self(s)->w->dir;
	return 0;
}

static const struct shim_ops door_ops = {
	.name = "model",
	.vlog = door_log,
	.load = door_load,
	.store = door_store,
	.cas = door_cas,
	.fetch_add = door_fetch_add,
	.fence = door_fence,
	.proc_alive = door_alive,
	.proc_kill = door_kill,
	.cache_id = door_cache_id,
	.zone_reserve = door_zone_reserve,
};

/* ---- processes ---- */

static uint64_t
proc_word(const struct proc *p)
{
	return p->start.start_time << 22 | p->start.pid; /* as ctl_proc_word */
}

static struct proc *
proc_new(struct world *w, void (*fn)(void *arg))
{
	for (unsigned int i = 0; i < MODEL_PROCS; i++) {
		struct proc *p = &w->proc[i];

		if (p->used)
			continue;
		memset(p, 0, sizeof(*p));
		p->used = true;
		p->w = w;
		p->start = (struct shim_proc){ .pid = ++w->next_pid, .start_time = 7 };
		p->door.ops = &door_ops;
		p->door.self = p->start;
		p->f = fiber_create(65536, fn, p);
		return p;
	}
	return NULL;
}

void
proc_end(struct proc *p)
{
	struct fiber *f = p->f;

	p->used = false;
	p->polls = false;
	p->f = NULL;
	fiber_destroy(f);
}

/* The worker touches its queues from here on: nobody else may. */
static void
polls(struct proc *p)
{
	struct world *w = p->w;

	p->polls = true;
	for (unsigned int i = 0; i < MODEL_PROCS; i++)
		if (&w->proc[i] != p && w->proc[i].used && w->proc[i].polls && w->proc[i].lane == p->lane)
			w->two_owners = true;
}

static void
worker_main(void *arg)
{
	struct proc *p = arg;
	struct seat_config c = {
		.shim = &p->door, .dir = &p->w->dir, .lane = p->lane, .gen = p->gen,
		.heartbeat_timeout_ms = MODEL_TIMEOUT_MS, .shutdown_ms = MODEL_SHUTDOWN_MS, .proc_word = proc_word(p),
	};
	unsigned int due;

	if (seat_claim(&p->seat, &c) < 0)
		return;
	fiber_yield(p->f);
	seat_ready(&p->seat);
	for (;;) {
		fiber_yield(p->f);
		p->polls = false;
		due = seat_turn(&p->seat, p->w->now_ns);
		p->took_order |= due;
		if (p->seat.role == SEAT_ROLE_OWNER)
			polls(p);
		leave(&p->door);
		if ((due & SEAT_DO_LET_GO) != 0) {
			p->polls = false;
			seat_let_go(&p->seat, p->w->now_ns);
		}
		if ((due & SEAT_DO_REPORT) != 0)
			seat_report(&p->seat, &(struct drain_counts){ .udp = 1 }, (uint32_t)(p->w->now_ns / MODEL_MS));
		seat_beat(&p->seat);
		if ((due & SEAT_DO_EXIT) != 0 || seat_may_leave(&p->seat, p->w->now_ns)) {
			p->polls = false;
			seat_release(&p->seat);
			return;
		}
	}
}

struct proc *
world_worker(struct world *w, unsigned int lane, uint32_t gen)
{
	struct proc *p = proc_new(w, worker_main);

	if (p != NULL) {
		p->worker = true;
		p->lane = lane;
		p->gen = gen;
	}
	return p;
}

/* ---- the master: the swaps of a reload, without memory of its own but the world's ---- */

static bool
ready(struct proc *m, uint32_t gen, unsigned int lane)
{
	const struct gen_seat *s = &m->w->dir.seat[gen_side(gen)][lane];

	return shim_load64(&m->door, &s->ready, SHIM_ACQUIRE) >> 32 == gen &&
		gen_seat_alive(&m->door, &m->w->dir, gen_side(gen), lane, NULL) == 1;
}

/* Starts the worker of a seat that is empty; kills one that has not moved for the heartbeat time-out. True: it is there. */
static bool
keep(struct proc *m, uint32_t gen, unsigned int lane)
{
	struct world *w = m->w;
	unsigned int side = gen_side(gen);
	struct shim_proc who;
	uint64_t beat;

	if (gen_seat_alive(&m->door, &w->dir, side, lane, &who) == 1) {
		beat = w->dir.seat[side][lane].heartbeat;
		if (beat != w->beat[side][lane]) {
			w->beat[side][lane] = beat;
			w->beat_ns[side][lane] = w->now_ns;
		}
		if (w->now_ns - w->beat_ns[side][lane] > MODEL_TIMEOUT_MS * MODEL_MS)
			shim_proc_kill(&m->door, &who);
		return true;
	}
	if (w->now_ns - w->spawned_ns[side][lane] >= MODEL_RESPAWN_MS * MODEL_MS) {
		w->spawned_ns[side][lane] = w->beat_ns[side][lane] = w->now_ns;
		world_worker(w, lane, gen);
	}
	return false;
}

static bool
to(struct proc *m, struct window from, enum window_state state)
{
	struct window next = from;

	next.state = state;
	if (state == WINDOW_CLOSED)
		next.active = gen_rightful(from);
	return gen_window_swap(&m->door, &m->w->dir, from, next);
}

static void
master_closed(struct proc *m, struct window win)
{
	struct world *w = m->w;
	struct window next = { .state = win.active == 0 ? WINDOW_CLOSED : WINDOW_OPEN, .active = win.active };

	for (unsigned int l = 0; win.active != 0 && l < w->lanes; l++)
		keep(m, win.active, l);
	if (win.active != 0 && (!w->reload_wanted || gen_side_alive(&m->door, &w->dir, gen_side(win.active) ^ 1) != 0))
		return;
	next.wid = gen_next(&m->door, &w->dir, win.active == 0 ? 0 : gen_side(win.active) ^ 1);
	if (win.active == 0)
		next.active = next.wid;
	else
		w->reload_wanted = false;
	if (gen_window_swap(&m->door, &w->dir, win, next) && win.active != 0)
		memset(w->spawned_ns[gen_side(next.wid)], 0, sizeof(w->spawned_ns[0]));
}

static void
master_open(struct proc *m, struct window win, uint64_t since_ns)
{
	unsigned int ok = 0;

	for (unsigned int l = 0; l < m->w->lanes; l++) {
		keep(m, win.active, l);
		keep(m, win.wid, l);
		ok += ready(m, win.wid, l);
	}
	if (ok == m->w->lanes)
		to(m, win, WINDOW_PARKING);
	else if (since_ns > 1000 * MODEL_MS)
		to(m, win, WINDOW_ABORTED);
}

static void
master_parking(struct proc *m, struct window win, uint64_t since_ns)
{
	unsigned int ok = 0, there = 0;
	struct lease l;

	for (unsigned int i = 0; i < m->w->lanes; i++) {
		there += ready(m, win.wid, i);
		ok += gen_lease(&m->door, &m->w->dir, i, &l) == 0 && (l.state != LEASE_OWNED ||
			gen_seat_alive(&m->door, &m->w->dir, gen_side(win.active), i, NULL) == 0);
	}
	if (there < m->w->lanes || since_ns > MODEL_PARK_MS * MODEL_MS)
		m->w->aborts += to(m, win, WINDOW_ABORTED);
	else if (ok == m->w->lanes)
		m->w->commits += to(m, win, WINDOW_COMMITTED);
}

static void
end_side(struct proc *m, uint32_t gen, uint64_t since_ns, enum seat_order order)
{
	struct shim_proc who;

	for (unsigned int l = 0; l < m->w->lanes; l++) {
		gen_order_set(&m->door, &m->w->dir, gen, l, order);
		if (since_ns > MODEL_SHUTDOWN_MS * MODEL_MS &&
		    gen_seat_alive(&m->door, &m->w->dir, gen_side(gen), l, &who) == 1)
			shim_proc_kill(&m->door, &who);
	}
}

static void
master_late(struct proc *m, struct window win, uint64_t since_ns)
{
	struct world *w = m->w;
	uint32_t stays = gen_rightful(win), goes = stays == win.wid ? win.active : win.wid;

	for (unsigned int l = 0; l < w->lanes; l++)
		keep(m, stays, l);
	if (win.state == WINDOW_COMMITTED) {
		if (since_ns > w->drain_ms * MODEL_MS)
			to(m, win, WINDOW_RETIRING);
		return;
	}
	if (win.state == WINDOW_RETIRING)
		end_side(m, goes, since_ns, SEAT_QUIT);
	else if (since_ns > MODEL_PARK_MS * MODEL_MS)
		end_side(m, goes, since_ns, SEAT_SERVE);
	if (gen_side_alive(&m->door, &w->dir, gen_side(goes)) == 0)
		w->closes += to(m, win, WINDOW_CLOSED);
}

static void
master_main(void *arg)
{
	struct proc *m = arg;
	struct world *w = m->w;
	struct gen_master *slot;
	unsigned int n;
	struct window win;

	while (gen_master_claim(&m->door, &w->dir, &n, NULL) < 0)
		fiber_yield(m->f);
	slot = &w->dir.master[n];
	for (;;) {
		shim_store64(&m->door, &slot->heartbeat, slot->heartbeat + 1, SHIM_RELEASE);
		if (gen_window(&m->door, &w->dir, &win) < 0)
			w->bad_step = true;
		if (window_word(win) != w->state_word) {
			w->rollbacks += win.state == WINDOW_ROLLBACK;
			w->state_word = window_word(win);
			w->state_ns = w->now_ns;
		}
		switch (win.state) {
		case WINDOW_CLOSED: master_closed(m, win); break;
		case WINDOW_OPEN: master_open(m, win, w->now_ns - w->state_ns); break;
		case WINDOW_PARKING: master_parking(m, win, w->now_ns - w->state_ns); break;
		default: master_late(m, win, w->now_ns - w->state_ns);
		}
		fiber_yield(m->f);
	}
}

struct proc *
world_master(struct world *w)
{
	return proc_new(w, master_main);
}

/* ---- the world ---- */

void
world_new(struct world *w, uint64_t seed, unsigned int lanes)
{
	struct gen_dir *d;
	struct proc door = { .w = w, .door = { .ops = &door_ops } };

	memset(w, 0, sizeof(*w));
	prng_init(&w->prng, seed, 1);
	w->now_ns = 1000 * MODEL_MS;
	w->lanes = lanes;
	w->next_pid = 1000;
	w->drain_ms = 100;
	gen_dir_create(&door.door, lanes, 42, &d);
}

void
world_free(struct world *w)
{
	for (unsigned int i = 0; i < MODEL_PROCS; i++)
		if (w->proc[i].used)
			proc_end(&w->proc[i]);
}

struct proc *
world_owner(struct world *w, unsigned int lane)
{
	for (unsigned int i = 0; i < MODEL_PROCS; i++) {
		struct proc *p = &w->proc[i];

		if (p->used && p->worker && p->lane == lane && !p->stopped && p->seat.held != 0 &&
		    p->seat.held == w->dir.lane[lane].lease)
			return p;
	}
	return NULL;
}

bool
world_settled(struct world *w)
{
	struct window win;

	if (window_of(w->dir.window, &win) < 0 || win.state != WINDOW_CLOSED || win.active == 0)
		return false;
	for (unsigned int l = 0; l < w->lanes; l++) {
		struct proc *p = world_owner(w, l);

		if (p == NULL || p->gen != win.active)
			return false;
	}
	return true;
}

/* A fault: a kill, a stop, or a stopped one goes on. */
static void
fault(struct world *w)
{
	struct proc *p = &w->proc[prng_below(&w->prng, MODEL_PROCS)];

	if (!p->used || w->faults == 0)
		return;
	if (p->stopped) {
		p->stopped = false;
		return;
	}
	w->faults--;
	if (prng_chance(&w->prng, 500000))
		p->stopped = true;
	else
		proc_end(p);
}

void
world_step(struct world *w)
{
	unsigned int at = (unsigned int)prng_below(&w->prng, MODEL_PROCS);
	struct proc *p;

	w->now_ns += STEP_NS / 2 + prng_below(&w->prng, STEP_NS);
	if (w->fault_ppm != 0 && prng_chance(&w->prng, w->fault_ppm))
		fault(w);
	for (unsigned int i = 0; i < MODEL_PROCS; i++, at++) {
		p = &w->proc[at % MODEL_PROCS];
		if (p->used && p->dying && (p->stopped || prng_chance(&w->prng, 300000)))
			proc_end(p);
		if (p->used && !p->stopped)
			break;
	}
	p = &w->proc[at % MODEL_PROCS];
	if (p->used && !p->stopped) {
		fiber_resume(p->f);
		if (fiber_done(p->f))
			proc_end(p);
	}
	for (unsigned int l = 0; l < w->lanes; l++) {
		if (world_owner(w, l) != NULL)
			w->owned_ns[l] = w->now_ns;
		else if (w->owned_ns[l] != 0 && w->now_ns - w->owned_ns[l] > w->gap_ns[l])
			w->gap_ns[l] = w->now_ns - w->owned_ns[l];
	}
}

void
world_run(struct world *w, uint64_t ms)
{
	uint64_t end = w->now_ns + ms * MODEL_MS;

	while (w->now_ns < end && !w->two_owners && !w->bad_step)
		world_step(w);
}

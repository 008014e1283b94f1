/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of the master stand on this. */
#include "masterbed.h"

static struct mbed *the; /* for the log's function, which has the door only */

static void
bed_vlog(struct shim *s, int level, const char *fmt, va_list ap)
{
	struct mbed *b = the;
	int n;

	(void)s;
	(void)level;
	n = vsnprintf(b->log + b->log_len, sizeof(b->log) - b->log_len, fmt, ap);
	b->log_len += (size_t)n;
	if (b->log_len + 2 > sizeof(b->log)) {
		b->log_len = 0;
		return;
	}
	b->log[b->log_len++] = '\n';
	b->log[b->log_len] = '\0';
}

static int
bed_spawn(void *ctx, unsigned int lane, uint32_t gen, struct shim_proc *who)
{
	struct mbed *b = ctx;

	if (b->fail_spawns > 0 && b->fail_after-- == 0) {
		b->fail_spawns--;
		b->fail_after = 0;
		return -EAGAIN;
	}
	*who = (struct shim_proc){ .pid = b->next_pid++, .start_time = 5 };
	mock_proc_set(b->s, *who, true);
	b->child[gen_side(gen)][lane] = *who;
	b->child_gen[gen_side(gen)][lane] = gen;
	b->spawns++;
	return 0;
}

static int
bed_check(void *ctx, char *why, size_t n)
{
	struct mbed *b = ctx;

	b->checks++;
	if (b->check_rc < 0)
		snprintf(why, n, "the device digest differs: mtu");
	return b->check_rc;
}

struct mbed *
mbed_new(void)
{
	struct mbed *b = test_calloc(1, sizeof(*b));

	the = b;
	b->s = mock_shim_new();

	b->ms = mock_shim_attach(b->s, SHIM_ROLE_OBSERVER, 90);
	mock_ops(b->ms)->vlog = bed_vlog;
	mock_proc_set(b->s, shim_self(b->ms), true);
	assert_int_equal(gen_dir_create(b->s, LANES, BOOT, &b->d), 0);
	b->ops = (struct reload_master_ops){ .spawn = bed_spawn, .check = bed_check, .ctx = b };
	b->c = (struct reload_master_config){ .shim = b->ms, .dir = b->d, .nb_lanes = LANES, .heartbeat_timeout_ms = 400,
		.limits = { .ready = 1000, .drain = 30000, .quit_again = 300, .abort = 500 }, .ops = &b->ops };
	b->next_pid = 5000;
	return b;
}

int
mbed_create(struct mbed *b)
{
	return reload_master_create(&b->c, &b->m);
}

struct mbed *
mbed_master(bool serving)
{
	struct mbed *b = mbed_new();

	assert_int_equal(mbed_create(b), 0);
	mbed_turn(b, 1);
	for (unsigned int lane = 0; serving && lane < LANES; lane++) {
		mbed_ready(b, 2, lane);
		mbed_own(b, 2, lane);
	}
	mbed_turn(b, 3000); /* none of them is young any more */
	return b;
}

void
mbed_free(struct mbed *b)
{
	unsigned int leaks = 0;

	mock_script_clear(b->s);
	reload_master_destroy(b->m);
	assert_int_equal(b->ms->role_violations, 0);
	leaks += mock_shim_free(b->ms);
	leaks += mock_shim_free(b->s);
	test_free(b);
	assert_int_equal(leaks, 0);
}

uint64_t
mbed_turn(struct mbed *b, unsigned int ms)
{
	uint64_t ns;

	mock_advance_ns(b->s, ms * 1000000ull);
	ns = reload_master_turn(b->m);
	assert_true(ns <= MASTER_IDLE_NS);
	return ns;
}

unsigned int
mbed_count(const struct mbed *b, const char *text)
{
	unsigned int n = 0;

	for (const char *p = b->log; (p = strstr(p, text)) != NULL; p += strlen(text))
		n++;
	return n;
}

bool
mbed_logged(const struct mbed *b, const char *text)
{
	if (mbed_count(b, text) > 0)
		return true;
	print_error("not logged: %s\nbut:\n%s\n", text, b->log);
	return false;
}

void
mbed_log_clear(struct mbed *b)
{
	b->log_len = 0;
	b->log[0] = '\0';
}

struct window
mbed_window(struct mbed *b)
{
	struct window w;

	assert_int_equal(window_of(b->d->window, &w), 0);
	return w;
}

void
mbed_window_set(struct mbed *b, enum window_state state, uint32_t wid, uint32_t active)
{
	b->d->window = window_word((struct window){ .state = state, .wid = wid, .active = active });
}

enum reload_state
mbed_state(struct mbed *b)
{
	struct reload_status st;

	reload_master_status(b->m, &st);
	return st.state;
}

static struct gen_seat *
seat(struct mbed *b, uint32_t gen, unsigned int lane)
{
	return &b->d->seat[gen_side(gen)][lane];
}

void
mbed_sit(struct mbed *b, uint32_t gen, unsigned int lane)
{
	struct gen_seat *st = seat(b, gen, lane);

	assert_int_equal(b->child_gen[gen_side(gen)][lane], gen);
	memset(st, 0, sizeof(*st));
	st->claim = ctl_proc_word(&b->child[gen_side(gen)][lane]);
	st->gen = gen;
}

void
mbed_ready(struct mbed *b, uint32_t gen, unsigned int lane)
{
	mbed_sit(b, gen, lane);
	seat(b, gen, lane)->ready = (uint64_t)gen << 32 | b->child[gen_side(gen)][lane].pid;
}

static void
lease(struct mbed *b, unsigned int lane, enum lease_state state, uint32_t gen)
{
	struct lease l;

	assert_int_equal(lease_of(b->d->lane[lane].lease, &l), 0);
	assert_true(gen_lease_swap(b->s, b->d, lane, l, state, gen));
}

void
mbed_own(struct mbed *b, uint32_t gen, unsigned int lane)
{
	lease(b, lane, LEASE_OWNED, gen);
	seat(b, gen, lane)->took_at_ns = shim_clock_ns(b->s);
}

void
mbed_park(struct mbed *b, uint32_t gen, unsigned int lane)
{
	lease(b, lane, LEASE_PARKED, gen);
	seat(b, gen, lane)->parked_at_ns = shim_clock_ns(b->s);
}

void
mbed_report(struct mbed *b, uint32_t gen, unsigned int lane, uint32_t tcp, uint32_t udp)
{
	struct gen_seat *st = seat(b, gen, lane);

	st->drain = (struct drain_counts){ .gen = gen, .tcp = tcp, .udp = udp, .unsent = tcp * 100 };
	st->drain_seq += 2;
}

void
mbed_die(struct mbed *b, uint32_t gen, unsigned int lane)
{
	mock_proc_set(b->s, b->child[gen_side(gen)][lane], false);
}

void
mbed_leave(struct mbed *b, uint32_t gen, unsigned int lane)
{
	seat(b, gen, lane)->claim = 0;
	mbed_die(b, gen, lane);
}

bool
mbed_alive(struct mbed *b, uint32_t gen, unsigned int lane)
{
	return shim_proc_alive(b->s, &b->child[gen_side(gen)][lane]) == 1;
}

struct shim_proc
mbed_stranger(struct mbed *b, uint32_t gen, unsigned int lane)
{
	struct shim_proc who = { .pid = b->next_pid++, .start_time = 9 };

	mock_proc_set(b->s, who, true);
	b->child[gen_side(gen)][lane] = who;
	b->child_gen[gen_side(gen)][lane] = gen;
	mbed_ready(b, gen, lane);
	return who;
}

void
mbed_to(struct mbed *b, enum reload_state state)
{
	uint32_t old = mbed_window(b).active, new;
	char why[100];

	assert_int_equal(reload_master_hup(b->m, why, sizeof(why)), 0);
	new = mbed_window(b).wid;
	if (state == RELOAD_T1_GNEW_SPAWN)
		return;
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_ready(b, new, lane);
	mbed_turn(b, 5);
	assert_int_equal(mbed_state(b), RELOAD_T2_HANDOVER);
	if (state == RELOAD_T2_HANDOVER)
		return;
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_park(b, old, lane);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T3_DRAIN);
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_own(b, new, lane);
	if (state == RELOAD_T3_DRAIN)
		return;
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_report(b, old, lane, 0, 0);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T5_GOLD_QUIT);
	if (state == RELOAD_T5_GOLD_QUIT)
		return;
	for (unsigned int lane = 0; lane < LANES; lane++)
		mbed_leave(b, old, lane);
	mbed_turn(b, 1);
	assert_int_equal(mbed_state(b), RELOAD_T0_IDLE);
}

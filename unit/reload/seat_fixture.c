/* SPDX-License-Identifier: BSD-3-Clause */
/* See seat_fixture.h. */
#include "seat_fixture.h"

struct sf sf;

static uint64_t
word_of(const struct shim *door)
{
	struct shim_proc p = shim_self(door);

	return ctl_proc_word(&p);
}

int
sf_setup(void **state)
{
	(void)state;
	memset(&sf, 0, sizeof(sf));
	sf.now_ns = 5000000000ull;
	sf.s = mock_shim_new_bare();
	sf.beats = true;
	assert_int_equal(gen_dir_create(sf.s, SF_LANES, 42, &sf.d), 0);
	return 0;
}

static void
master_start(void)
{
	sf.master = mock_shim_attach(sf.s, SHIM_ROLE_OBSERVER, 99);
	assert_int_equal(gen_master_claim(sf.master, sf.d, &sf.slot, NULL), 0);
}

int
sf_setup_pair(void **state)
{
	struct window w;

	sf_setup(state);
	master_start();
	sf_sit(0, 0, NULL);
	sf_sit(1, 0, NULL);
	sf_run(2, NULL);
	assert_int_equal(sf_old->st.role, SEAT_ROLE_OWNER);
	assert_int_equal(sf_old1->st.role, SEAT_ROLE_OWNER);
	w = sf_window();
	assert_int_equal(w.active, 2);
	assert_true(gen_window_swap(sf.master, sf.d, w, (struct window){ WINDOW_OPEN, gen_next(sf.s, sf.d, 1), 2 }));
	sf_sit(0, 3, NULL);
	sf_sit(1, 3, NULL);
	seat_ready(&sf_new->st);
	seat_ready(&sf_new1->st);
	return 0;
}

int
sf_teardown(void **state)
{
	(void)state;
	shim_zone_free(sf.s, GEN_ZONE);
	for (unsigned int i = 0; i < sf.n; i++)
		mock_shim_free(sf.w[i].s);
	if (sf.master != NULL)
		mock_shim_free(sf.master);
	return (int)mock_shim_free(sf.s);
}

struct sf_worker *
sf_sit(unsigned int lane, uint32_t gen, int *rc)
{
	struct sf_worker *w = &sf.w[sf.n++];
	struct seat_config c = {
		.dir = sf.d, .lane = lane, .gen = gen, .heartbeat_timeout_ms = SF_TIMEOUT_MS, .shutdown_ms = SF_SHUTDOWN_MS,
	};
	int r;

	w->s = mock_shim_attach(sf.s, SHIM_ROLE_WORKER, lane);
	c.shim = w->s;
	c.proc_word = word_of(w->s);
	r = seat_claim(&w->st, &c);
	if (rc != NULL)
		*rc = r;
	else
		assert_int_equal(r, 0);
	w->off = r < 0;
	return w;
}

unsigned int
sf_turn(struct sf_worker *w)
{
	w->due = seat_turn(&w->st, sf.now_ns);
	if ((w->due & SEAT_DO_LET_GO) != 0)
		seat_let_go(&w->st, sf.now_ns);
	seat_beat(&w->st);
	return w->due;
}

unsigned int
sf_run(unsigned int ms, const struct sf_worker *w)
{
	unsigned int due = 0;

	while (ms-- > 0) {
		sf.now_ns += 1000000;
		if (sf.master != NULL && sf.beats)
			sf.d->master[sf.slot].heartbeat++;
		for (unsigned int i = 0; i < sf.n; i++)
			if (!sf.w[i].off)
				sf_turn(&sf.w[i]);
		if (w != NULL && !w->off)
			due |= w->due;
	}
	return due;
}

void
sf_kill(struct sf_worker *w)
{
	w->off = true;
	mock_proc_set(sf.s, shim_self(w->s), false);
}

void
sf_master_kill(void)
{
	sf.beats = false;
	mock_proc_set(sf.s, shim_self(sf.master), false);
}

struct window
sf_window(void)
{
	struct window w;

	assert_int_equal(gen_window(sf.s, sf.d, &w), 0);
	return w;
}

void
sf_step(enum window_state state)
{
	struct window from = sf_window(), to = from;

	to.state = state;
	if (state == WINDOW_CLOSED)
		to.active = gen_rightful(from);
	assert_true(gen_window_swap(sf.s, sf.d, from, to));
}

struct lease
sf_lease(unsigned int lane)
{
	struct lease l;

	assert_int_equal(gen_lease(sf.s, sf.d, lane, &l), 0);
	return l;
}

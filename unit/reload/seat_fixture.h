/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory, a master that only beats, and workers' seats, each behind a mock door of its own. */
#ifndef NONIC_UNIT_RELOAD_SEAT_FIXTURE_H
#define NONIC_UNIT_RELOAD_SEAT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/reload/seat.h"
#include "core/runtime/ctl.h"
#include "shim/host/mock/mock.h"

#define SF_TIMEOUT_MS 500u
#define SF_SHUTDOWN_MS 2000u
#define SF_LANES 2u

struct sf_worker {
	struct shim *s;
	struct seat st;
	unsigned int due;         /* of its last turn */
	bool off;                  /* it does not turn: stopped or dead */
};

struct sf {
	struct shim *s;            /* the primary's door, and the test's */
	struct shim *master;
	unsigned int slot;
	bool beats;                /* the master does */
	struct gen_dir *d;
	uint64_t now_ns;
	struct sf_worker w[12];
	unsigned int n;
};

extern struct sf sf;

int sf_setup(void **state);     /* nobody is there */
int sf_setup_pair(void **state); /* old workers of generation 2 own both lanes; new ones of 3 sit there, READY; window OPEN */
int sf_teardown(void **state);

/* Sits a new process down. The seat's own return in *rc (may be NULL). */
struct sf_worker *sf_sit(unsigned int lane, uint32_t gen, int *rc);
unsigned int sf_turn(struct sf_worker *w); /* one turn now; lets go when it is told to */
/* ms pass; everybody who is not off turns once each ms, the master beats. The union of what w was told (w may be NULL). */
unsigned int sf_run(unsigned int ms, const struct sf_worker *w);
void sf_kill(struct sf_worker *w);
void sf_master_kill(void);
struct window sf_window(void);
/* The window's next step, which must be legal; CLOSED gets its active by itself. */
void sf_step(enum window_state state);
struct lease sf_lease(unsigned int lane);

#define sf_old (&sf.w[0])
#define sf_old1 (&sf.w[1])
#define sf_new (&sf.w[2])
#define sf_new1 (&sf.w[3])

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A master over the mock door; its workers are words in the directory that the test writes. */
#ifndef NONIC_UNIT_RELOAD_MASTERBED_H
#define NONIC_UNIT_RELOAD_MASTERBED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/reload/master.h"
#include "core/runtime/ctl.h"
#include "shim/host/mock/mock.h"

#define LANES 2u
#define BOOT 0x1234u

struct mbed {
	struct shim *s;              /* the primary's */
	struct shim *ms;             /* the master's */
	struct gen_dir *d;
	struct reload_master *m;
	struct reload_master_config c;
	struct reload_master_ops ops;
	struct shim_proc child[GEN_SIDES][GEN_MAX_LANES]; /* as spawned last */
	uint32_t child_gen[GEN_SIDES][GEN_MAX_LANES];
	unsigned int spawns;
	unsigned int fail_spawns;    /* so many of the next ones fail */
	unsigned int fail_after;     /* ... after so many that do not */
	int check_rc;
	unsigned int checks;
	uint32_t next_pid;
	char log[32768];
	size_t log_len;
};

/* Door, directory, no master. Limits as in the header, but abort 500, quit_again 300, ready 1000, drain 30000 ms. */
struct mbed *mbed_new(void);
/* And a master; its first generation serves when serving. */
struct mbed *mbed_master(bool serving);
int mbed_create(struct mbed *b);
void mbed_free(struct mbed *b);
/* ms pass, then one turn. Returns what the turn returned. */
uint64_t mbed_turn(struct mbed *b, unsigned int ms);
bool mbed_logged(const struct mbed *b, const char *text);
unsigned int mbed_count(const struct mbed *b, const char *text); /* how many lines have it */
void mbed_log_clear(struct mbed *b);
struct window mbed_window(struct mbed *b);
void mbed_window_set(struct mbed *b, enum window_state state, uint32_t wid, uint32_t active);
enum reload_state mbed_state(struct mbed *b);

/* What a worker would write. Its process: the one spawned last for that seat. */
void mbed_sit(struct mbed *b, uint32_t gen, unsigned int lane);
void mbed_ready(struct mbed *b, uint32_t gen, unsigned int lane); /* sits down, too */
void mbed_own(struct mbed *b, uint32_t gen, unsigned int lane);
void mbed_park(struct mbed *b, uint32_t gen, unsigned int lane);
void mbed_report(struct mbed *b, uint32_t gen, unsigned int lane, uint32_t tcp, uint32_t udp);
void mbed_die(struct mbed *b, uint32_t gen, unsigned int lane);
void mbed_leave(struct mbed *b, uint32_t gen, unsigned int lane);
bool mbed_alive(struct mbed *b, uint32_t gen, unsigned int lane);
/* A process that no master has started sits in the seat, READY. */
struct shim_proc mbed_stranger(struct mbed *b, uint32_t gen, unsigned int lane);

/* HUP, and on until the state; every worker does its part. */
void mbed_to(struct mbed *b, enum reload_state state);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small world of processes that share one generation directory: workers that run the real seat.c, and masters that make the
 * swaps of a reload. Each process is a fiber that may be left at any shared word and go on much later, or never (killed).
 * One seed, one run. It checks by itself that no lane has two owners.
 */
#ifndef NONIC_UNIT_RELOAD_MODEL_H
#define NONIC_UNIT_RELOAD_MODEL_H

#include "core/reload/seat.h"
#include "sim/fiber.h"
#include "sim/prng.h"

#define MODEL_PROCS 24u
#define MODEL_MS 1000000ull
#define MODEL_TIMEOUT_MS 200u   /* heartbeat time-out */
#define MODEL_PARK_MS 100u
#define MODEL_RESPAWN_MS 50u
#define MODEL_SHUTDOWN_MS 400u

struct world;

struct proc {
	struct shim door;          /* first: the door is the process */
	struct world *w;
	struct fiber *f;
	struct seat seat;
	bool used, worker, stopped, dying;
	bool polls;                /* believes that it owns its lane's queues */
	unsigned int lane;
	uint32_t gen;
	struct shim_proc start;    /* who it is */
	uint32_t took_order;       /* SEAT_DO_x that it has seen, for the tests */
};

struct world {
	struct gen_dir dir;
	struct prng prng;
	uint64_t now_ns;
	unsigned int lanes;
	struct proc proc[MODEL_PROCS];
	uint32_t next_pid;
	uint32_t preempt_ppm;      /* how often a shared word ends the step */
	uint32_t fault_ppm;        /* per step: somebody is killed, stopped, continued */
	unsigned int faults;       /* how many are left */
	bool reload_wanted, reserve;
	uint64_t spawned_ns[GEN_SIDES][GEN_MAX_LANES];
	uint64_t beat[GEN_SIDES][GEN_MAX_LANES], beat_ns[GEN_SIDES][GEN_MAX_LANES]; /* the masters' view of heartbeats */
	uint64_t state_ns;         /* since when the masters have seen the present window word */
	uint64_t state_word;
	uint64_t owned_ns[GEN_MAX_LANES], gap_ns[GEN_MAX_LANES];
	unsigned int commits, aborts, rollbacks, closes, kills;
	bool two_owners, bad_step;
	uint64_t drain_ms;         /* how long the masters drain */
};

void world_new(struct world *w, uint64_t seed, unsigned int lanes);
void world_free(struct world *w);
struct proc *world_master(struct world *w);
struct proc *world_worker(struct world *w, unsigned int lane, uint32_t gen);
/* One step of one process, time goes on. */
void world_step(struct world *w);
void world_run(struct world *w, uint64_t ms);
void proc_end(struct proc *p);
/* A live, running process that polls the lane, or NULL. */
struct proc *world_owner(struct world *w, unsigned int lane);
/* Every lane has an owner, all of the generation that the lanes are of, and the window is closed. */
bool world_settled(struct world *w);

#endif

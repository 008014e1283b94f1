/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated world (SIM-1 .. SIM-3): hosts, processes, ports, wires and clocks in one OS thread, in virtual time.
 * Everything that happens is drawn from the seed and goes into one trace hash: the same seed and options give the
 * same hash, byte for byte. Times are ns of the world's clock, which begins at 0, unless said otherwise.
 *
 * A process runs main() on a stack of its own. A step is what it does between two waits; it takes no virtual time
 * but step_cost_ns at its end. It can be preempted (and killed) at every shared word and ring operation.
 *
 * The first violated invariant, or the first sim_fail, ends the run; everything else is released as usual.
 */
#ifndef NONIC_SIM_WORLD_H
#define NONIC_SIM_WORLD_H

#include "../shim/host/sim/machine.h"
#include "fault.h"

struct sim_world;
struct sim_host;
struct sim_proc;
struct sim_wire;

/* What happens to a process at a scheduling point. */
enum sim_what {
	SIM_GO,                 /* it goes on */
	SIM_SWITCH,             /* process `proc` makes its step (or the rest of it) first; then this one is asked again, at the same point */
	SIM_STALL,              /* it stands still for ns */
	SIM_KILL,               /* it dies */
};

struct sim_decision {
	enum sim_what what;
	uint32_t proc;          /* id of a process that is ready; SIM_GO happens when it is not */
	uint32_t keep;          /* SIM_SWITCH: so many of its newest stores stay in its buffer */
	uint64_t ns;
};

/* p is about to make access a. Asked again after a SIM_SWITCH or SIM_STALL, until the answer is SIM_GO. */
typedef void sim_decide_fn(void *ctx, struct sim_proc *p, const struct sim_access *a, struct sim_decision *out);

struct sim_options {
	uint64_t seed;
	const char *pcap;       /* frames as sent go to this file, as arrived to the one with ".arrived"; NULL: none */
	const char *trace;      /* event log, one line an event; NULL: none */
	uint64_t max_ns;        /* a run that is not over by then fails; 0: one hour */
	uint64_t max_events;    /* the same; 0: 100 million */
	uint64_t step_cost_ns;  /* 0: 1000 */
	uint32_t preempt_ppm;   /* chance of a preemption at each shared word; 0: never */
	uint64_t preempt_ns;    /* it lasts 0 .. this */
	bool store_buffer;      /* x86 store buffering, for every process */
	sim_decide_fn *decide;  /* the scheduler: overrules preempt_ppm; NULL: none */
	void *decide_ctx;
	const uint8_t *skip;    /* actions to leave out (sim_may): bit i % 8 of byte i / 8 is action i; NULL: none */
	unsigned int nb_skip;   /* bits */
	/* Told of each action; may be NULL. */
	void (*action)(void *ctx, unsigned int i, bool done, const char *text);
	void *action_ctx;
};

struct sim_result {
	bool failed;
	char why[512];          /* the first failure: "at 1.000123456 s: ..." */
	uint64_t seed, hash;
	uint64_t events, steps, frames, virtual_ns;
	uint64_t points;        /* scheduling points of all processes */
	unsigned int actions;
};

/* NULL when out of memory or a file can not be written (errno). */
struct sim_world *sim_world_create(const struct sim_options *o);
/* Kills what still runs and frees everything. Fills *r (may be NULL). w may be NULL. */
void sim_world_destroy(struct sim_world *w, struct sim_result *r);

uint64_t sim_now(const struct sim_world *w);
/* The scenario's own stream of random numbers. */
struct prng *sim_rng(struct sim_world *w);
uint64_t sim_seed(const struct sim_world *w);
bool sim_failed(const struct sim_world *w);
const char *sim_why(const struct sim_world *w);
uint64_t sim_hash(const struct sim_world *w);
void sim_fail(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fails the run unless cond holds; the value is cond. */
#define sim_check(w, cond, ...) ((cond) ? true : (sim_fail((w), __VA_ARGS__), false))

/*
 * A fault, or another thing that makes the run harder, which the scenario can do without: false says that it is to be
 * left out this time, which is how a failing run is made short (SIM-6). Asked in the same order in each run of a seed.
 */
bool sim_may(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- running ---- */

/* Runs to the absolute time; stops before at a failure. Time is then `until_ns` even when nothing happened. */
void sim_run(struct sim_world *w, uint64_t until_ns);
/*
 * Runs until done(arg), looked at after every event, but at most for ns. True when done; false at a failure or when the time is
 * over, which is not a failure by itself.
 */
bool sim_run_until(struct sim_world *w, bool (*done)(void *arg), void *arg, uint64_t ns);
/* Asks every process to end, runs until all have (at most 60 s), then checks that every buffer and frame is home. */
void sim_finish(struct sim_world *w);
/* fn(arg) at the absolute time (now, if that is past). */
void sim_at(struct sim_world *w, uint64_t at_ns, void (*fn)(void *arg), void *arg);

/* Looked at after every event. Returns 0, or nonzero with a sentence in why. */
typedef int sim_invariant_fn(struct sim_world *w, void *arg, char *why, size_t n);
void sim_invariant(struct sim_world *w, const char *name, sim_invariant_fn *fn, void *arg);
/* So many role violations are part of the scenario; one more fails. */
void sim_expect_role_violations(struct sim_world *w, uint64_t n);

/* ---- hosts and processes ---- */

struct sim_host *sim_host_add(struct sim_world *w, const char *name);
struct sim_machine *sim_host_machine(struct sim_host *h);
/* Adds a port; they are numbered in order. */
struct sim_port *sim_host_port(struct sim_host *h, const struct sim_port_conf *conf);

typedef void sim_main_fn(struct sim_proc *p, void *arg);

struct sim_proc_conf {
	const char *name;       /* a literal, or longer-lived than the world */
	enum shim_role role;
	uint32_t proc_id;
	int64_t skew_ns;        /* its clock shows so much more than the others' */
	int32_t drift_ppm;      /* and gains so much */
	sim_main_fn *main;
	void *arg;              /* outlives the process */
	size_t stack;           /* bytes; 0: 256 KB */
};

/* Its first step comes at once. NULL when out of memory. The handle is valid as long as the world. */
struct sim_proc *sim_proc_start(struct sim_host *h, const struct sim_proc_conf *c);
/* The process does nothing until it is resumed, as if the machine gave it no time. */
void sim_proc_pause(struct sim_proc *p);
void sim_proc_resume(struct sim_proc *p);
/* Gone at once, wherever it is; may be called by the process itself. Nothing happens to a dead one. */
void sim_proc_kill(struct sim_proc *p);
/* It dies just before its n-th shared-word or ring operation from now (1: the next). */
void sim_proc_kill_at_point(struct sim_proc *p, uint64_t n);
/* A dead process begins again, with a new pid and a new door. 0, -EBUSY (it is alive), -ENOMEM. */
int sim_proc_restart(struct sim_proc *p);
bool sim_proc_alive(const struct sim_proc *p);
/* Shared-word and ring operations so far, over all its lives. */
uint64_t sim_proc_points(const struct sim_proc *p);
/* In the trace and for schedulers: 1 for the first process of the world; the same over restarts. */
uint32_t sim_proc_id(const struct sim_proc *p);
/* Steps so far; a preemption ends none. */
uint64_t sim_proc_turns(const struct sim_proc *p);
/* It has something to do now: it only yielded, or its time has come, or it was preempted. */
bool sim_proc_ready(const struct sim_proc *p);
/* The first process, the next one; NULL: no more. */
struct sim_proc *sim_proc_first(const struct sim_world *w);
struct sim_proc *sim_proc_next(const struct sim_proc *p);
/* The door of a live process. */
struct shim *sim_proc_shim(struct sim_proc *p);
struct sim_door *sim_proc_door(struct sim_proc *p);
struct sim_world *sim_proc_world(struct sim_proc *p);
struct sim_host *sim_proc_host(struct sim_proc *p);
/* A program that shim_proc_spawn finds as argv[0]; conf is copied, its main gets conf's arg. */
void sim_program(struct sim_world *w, const char *name, const struct sim_proc_conf *conf);

/* From inside a process: waits ns of its own clock, or until a frame arrives in a queue that it polls. */
void sim_wait(struct sim_proc *p, uint64_t ns);
/* The step ends; the next one comes step_cost_ns later. */
void sim_yield(struct sim_proc *p);
/* The step ends; the next one comes after ns of its own clock, or earlier: to a scheduler the process is ready all the time. */
void sim_rest(struct sim_proc *p, uint64_t ns);
/* What it did just now matters to others though it was no access (sim_effects): a scenario's own bookkeeping. */
void sim_effect(struct sim_proc *p);
/* The world wants to end: return from main soon. */
bool sim_stopping(const struct sim_proc *p);

/*
 * The scheduler's own decision at each scheduling point of a running process; true preempts it (for 0 ns: others that
 * are due now run first). NULL: preempt_ppm decides.
 */
typedef bool sim_preempt_fn(void *ctx, struct sim_proc *p, const struct sim_access *a);
void sim_scheduler(struct sim_world *w, sim_preempt_fn *fn, void *ctx);
/* Changes preempt_ppm and preempt_ns of the options. */
void sim_preempt(struct sim_world *w, uint32_t ppm, uint64_t ns);
/* Switches store buffering for processes that start from now on. */
void sim_store_buffer(struct sim_world *w, bool on);
/* The number of the present point, for the scheduler: of all processes, from 1, one more for each time it is asked again. */
uint64_t sim_points(const struct sim_world *w);
/*
 * Grows with everything a process does that other processes may notice, or that depends on them or on the time, and that is no point: clocks,
 * buffers, port queues, signs of life, children.
 */
uint64_t sim_effects(const struct sim_world *w);
/* The stretch of a scenario that an explorer shall vary; on from the beginning. */
void sim_explored(struct sim_world *w, bool on);
bool sim_is_explored(const struct sim_world *w);
/*
 * May a process use a queue of a port that is leased? Asked at each burst; without it everybody may.
 */
typedef bool sim_polls_fn(void *ctx, struct sim_proc *p, struct sim_port *port, uint16_t queue);
void sim_on_poll(struct sim_world *w, sim_polls_fn *fn, void *ctx);
/* Called whenever a process gets the processor, before it runs: for the thread-local current instance of an API. */
void sim_on_switch(struct sim_world *w, void (*fn)(void *ctx, struct sim_proc *p), void *ctx);

/* ---- wires ---- */

/* What stands at an end of a wire. */
struct sim_end {
	void (*receive)(struct sim_end *e, const uint8_t *frame, uint32_t len);
	void *ctx;
	const char *name;
	struct sim_wire *wire;  /* filled by sim_wire_add */
	int side;               /* 0, 1 */
};

/* Joins two ends that are in no wire yet. ab is for what a sends; NULL: a perfect wire. NULL when out of memory. */
struct sim_wire *sim_wire_add(struct sim_world *w, struct sim_end *a, struct sim_end *b,
	const struct fault_params *ab, const struct fault_params *ba);
/* The end of a port. NULL when out of memory. */
struct sim_end *sim_port_end(struct sim_host *h, struct sim_port *p);
/* A frame leaves from e. */
void sim_send(struct sim_end *e, const uint8_t *frame, uint32_t len);
/* The fault model of one direction (side 0: what a sends); its parameters may be changed. */
struct fault *sim_wire_fault(struct sim_wire *wire, int side);
/* A cut wire loses everything; frames under way arrive. */
void sim_wire_cut(struct sim_wire *wire, bool cut);
/* Captures this wire: as sent (arrived false), or as it arrives. -EIO, -ENOMEM, -EEXIST. */
int sim_wire_pcap(struct sim_wire *wire, const char *file, bool arrived);

#endif

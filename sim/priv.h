/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the world; included by sim/ only. */
#ifndef NONIC_SIM_PRIV_H
#define NONIC_SIM_PRIV_H

#include <stdarg.h>
#include <stdio.h>

#include "event.h"
#include "fiber.h"
#include "pcap.h"
#include "world.h"

enum sim_kind {
	SIM_EV_START = 1,
	SIM_EV_EXIT,
	SIM_EV_KILL,
	SIM_EV_PAUSE,
	SIM_EV_RESUME,
	SIM_EV_STEP,
	SIM_EV_PREEMPT,
	SIM_EV_SEND,
	SIM_EV_ARRIVE,
	SIM_EV_LOSE,
	SIM_EV_CUT,
	SIM_EV_CALL,
	SIM_EV_LOG,
	SIM_EV_FAIL,
};

#define SIM_HANDS 16u

enum sim_proc_state { SIM_PROC_DEAD, SIM_PROC_WAITING, SIM_PROC_RUNNING };

struct sim_proc {
	TAILQ_ENTRY(sim_proc) link;
	struct sim_host *host;
	struct sim_proc_conf conf;
	uint32_t id;               /* in the trace: the same over restarts */
	enum sim_proc_state state;
	bool paused, interruptible, killed, wake_lost;
	bool yielded;              /* it waits for nothing but its turn */
	bool dying;                /* killed by another process: it is still there, but not for long */
	uint32_t doomed_pid;       /* this life of it is to end soon */
	bool handed;               /* in the world's hand-over list: it runs before any event */
	uint64_t turns;
	struct sim_event *wake;
	uint64_t wake_at_ns;       /* while paused */
	struct fiber *fiber;
	struct sim_door *door;
	uint64_t points, kill_at_point;
};

struct sim_host {
	TAILQ_ENTRY(sim_host) link;
	struct sim_world *world;
	struct sim_machine *machine;
	struct sim_env env;
	uint64_t violations;       /* of roles, as counted last */
};

struct sim_wire {
	TAILQ_ENTRY(sim_wire) link;
	struct sim_world *world;
	uint32_t id;
	struct sim_end *end[2];
	struct fault fault[2];     /* [side]: of what end[side] sends */
	bool cut;
	struct sim_pcap *pcap[2];  /* as sent, as arrived */
};

struct sim_owned_end {
	TAILQ_ENTRY(sim_owned_end) link;
	struct sim_end end;
	char name[48];
};

struct sim_invariant_entry {
	TAILQ_ENTRY(sim_invariant_entry) link;
	const char *name;
	sim_invariant_fn *fn;
	void *arg;
};

struct sim_program_entry {
	TAILQ_ENTRY(sim_program_entry) link;
	const char *name;
	struct sim_proc_conf conf;
};

struct sim_world {
	struct sim_options o;
	uint64_t now_ns;
	struct sim_queue queue;
	struct prng rng;           /* the scenario's */
	struct prng sched_rng;
	TAILQ_HEAD(, sim_host) hosts;
	TAILQ_HEAD(, sim_proc) procs;
	TAILQ_HEAD(, sim_wire) wires;
	TAILQ_HEAD(, sim_owned_end) ends;
	TAILQ_HEAD(, sim_invariant_entry) invariants;
	TAILQ_HEAD(, sim_program_entry) programs;
	struct sim_proc *current;
	struct sim_proc *hand[SIM_HANDS]; /* the last one runs next, at this very time */
	unsigned int nb_hand;
	bool stopping, failed, unexplored;
	uint64_t points, effects, ended_effects;
	unsigned int actions;
	sim_polls_fn *polls;
	void *polls_ctx;
	char why[512];
	uint64_t hash, events, steps, frames;
	uint64_t in_flight;        /* frames on wires */
	uint32_t next_host, next_proc, next_door, next_pid, next_wire;
	struct sim_host *touched;  /* what the present event happened to */
	uint64_t role_violations, role_violations_expected;
	sim_preempt_fn *preempt;
	void *preempt_ctx;
	void (*on_switch)(void *ctx, struct sim_proc *p);
	void *on_switch_ctx;
	struct sim_pcap *pcap[2];  /* every wire: as sent, as arrived */
	FILE *trace;
};

/* trace.c: into the hash, and a line into the event log. who: a process or a wire, 0 the world. */
void sim_trace(struct sim_world *w, enum sim_kind kind, uint32_t who, const void *bytes, size_t n);
void sim_trace_text(struct sim_world *w, enum sim_kind kind, const char *who, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* proc.c */
void sim_env_init(struct sim_host *h);
void sim_procs_release(struct sim_world *w);
void sim_proc_wake(struct sim_proc *p, uint64_t at_ns);
/* Runs the process that is next in hand. False: nobody is. */
bool sim_proc_hand_run(struct sim_world *w);

/* wire.c */
void sim_wires_release(struct sim_world *w);
void sim_port_frame(void *ctx, struct sim_port *p, uint16_t queue, const uint8_t *frame, uint32_t len);

#endif

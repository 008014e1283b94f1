/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The master of nonic serve: what reload/master.h needs of a program. It starts workers as processes of the same program,
 * judges whether a reload may begin, and answers the control block CTL_MASTER (nonic ctl). Nothing here waits.
 */
#ifndef NONIC_CLI_SERVE_MASTER_H
#define NONIC_CLI_SERVE_MASTER_H

#include "../config/config.h"
#include "../reload/master.h"
#include "../runtime/ctl.h"
#include "machine.h"

#define SERVE_MASTER_NAP_NS 5000000ull     /* the longest nap: nonic ctl is answered within it */
#define SERVE_MASTER_LOOK_NS 100000000ull  /* how often the primary is looked at */
#define SERVE_MASTER_ARGS 12

struct serve_master_config {
	struct shim *shim;
	const struct machine *machine;
	const struct nonic_config *cfg;    /* as it was read at the start; outlives the master */
	const char *prefix;                /* of the EAL's files */
	const char *program;               /* path of what is spawned */
	const char *const *worker_args;    /* at most SERVE_MASTER_ARGS, NULL-terminated: go behind a worker's own; may be NULL */
	uint32_t shutdown_timeout_ms;      /* 0: [dpdk] worker_shutdown_timeout */
	uint32_t ready_timeout_ms, park_timeout_ms; /* 0: the defaults of struct reload_limits */
	void (*say)(void *ctx, const char *line); /* messages for whoever started it; NULL: none */
	void *ctx;
};

struct serve_master {
	struct serve_master_config c;
	struct ctl_dir *dir;
	struct ctl_block *block;
	struct gen_dir *gen;
	struct shim_proc primary;
	char primary_program[32];
	struct reload_master_ops ops;
	struct reload_master *rm;
	uint32_t said_ready;               /* the generation that was said to be ready */
	bool primary_gone, asked_to_stop;
	uint64_t look_ns;
	char answer[4096];
};

/*
 * Attaches, claims CTL_MASTER and starts the first generation (or takes over a dead master's). 0; what ctl_dir_attach,
 * ctl_claim, gen_dir_attach and reload_master_create return; -EINVAL: another configuration than the primary's. The reason is
 * logged.
 */
int serve_master_open(struct serve_master *sm, const struct serve_master_config *c);
/* What is due; returns ns until it wants to be called again, at most SERVE_MASTER_NAP_NS. */
uint64_t serve_master_turn(struct serve_master *sm);
/* HUP; 0, or -errno with the reason in why. */
int serve_master_reload(struct serve_master *sm, char *why, size_t n);
/* graceful: QUIT; else TERM. */
void serve_master_stop(struct serve_master *sm, bool graceful);
bool serve_master_done(const struct serve_master *sm);
/* Gives block and slot back; workers go on. */
void serve_master_close(struct serve_master *sm);

/* Buffers that a second generation needs besides what the first holds. */
uint32_t serve_master_buffers(const struct nonic_config *cfg);
/* May a reload begin? As reload_master_ops.check; ctx is the struct serve_master. */
int serve_master_check(void *ctx, char *why, size_t n);

#endif

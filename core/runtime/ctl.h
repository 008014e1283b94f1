/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of the runtime: the directory and one control block per process. Fixed width, offsets only, one
 * writer per word; a reader treats everything in it as hostile (bounds first). The `nonic` tools attach as
 * observers, read counters without disturbing the worker (STK-9), and post requests (arp, route, ifconfig, mtu,
 * stop) that the owner answers in its own loop.
 */
#ifndef NONIC_RUNTIME_CTL_H
#define NONIC_RUNTIME_CTL_H

#include "../../shim/shim.h"
#include "../stack/stack.h"

#define CTL_MAGIC 0x6e6f6e6963637430ull /* "nonicct0" */
#define CTL_LAYOUT_VERSION 2
#define CTL_DIR_ZONE "nonic_dir"
#define CTL_POOL "nonic_pool"
#define CTL_MAX_PROCS 64
#define CTL_ARGS 1024
#define CTL_TEXT 32768 /* holds the largest entry of any list: an interface with all its addresses */
#define CTL_MASTER 63u             /* the master's (nonic serve) */
#define CTL_PRIMARY 0u              /* index of the primary's block; a worker's is 1 + proc_id */

enum ctl_state { CTL_FREE = 0, CTL_STARTING, CTL_RUNNING, CTL_STOPPING };

/* The directory; written once by the primary before any worker starts. */
struct ctl_dir {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t first_proc;         /* proc_id of the first worker: 1 with primary_slim=1, else 0 */
	uint32_t nb_workers;
	uint32_t nb_ports;
	uint64_t boot_id;            /* random, new for each primary, never 0 */
	uint8_t device_digest[32];   /* CFG-6 */
	struct stack_secrets secrets;
	struct shim_proc primary;
	uint32_t sides;              /* 2 with graceful_reload=1, else 1: a worker has a block on each (layout_ctl_index) */
	uint32_t next_mark;          /* owner marks where there is no generation directory; by fetch-add (REL-18) */
	uint64_t ready;              /* 1 when complete: release-stored last */
};

enum ctl_op {
	CTL_NONE,
	CTL_PING,
	CTL_STOP,
	CTL_MTU_SET,    /* primary: port, mtu */
	CTL_PORT_LIST,  /* primary: format, first */
	CTL_ARP_LIST,   /* worker: format, first */
	CTL_NDP_LIST,   /* worker: format, first */
	CTL_ROUTE_LIST, /* worker: format, first */
	CTL_ROUTE_ADD,  /* worker: destination/prefix, gateway or "-", interface or "-" */
	CTL_ROUTE_DEL,  /* worker: destination/prefix */
	CTL_IFCONFIG,   /* worker: format, first, the one interface (optional) */
	CTL_IF_MTU,     /* worker: interface, mtu: the software view only (MTU-4) */
	CTL_RELOAD,     /* master: begin a reload; the answer says that it began, or why not */
	CTL_QUIT,       /* master: end all workers gracefully */
	CTL_RELOAD_STATUS, /* master: format */
	CTL_TCP_LIST,   /* worker: format, first: connections and listeners */
	CTL_TCP_COUNTS, /* worker: format, first: TCP's events and drops */
	CTL_OP_COUNT,
};

/* One per process: CTL_PRIMARY, CTL_MASTER (graceful_reload=1 only), layout_ctl_index() a worker. Zone "nonic_ctl_N". */
struct ctl_block {
	uint64_t magic;
	uint32_t layout_version;
	uint32_t state;              /* enum ctl_state; owner writes (the primary, once its owner is dead) */
	uint64_t boot_id;
	uint64_t claim;              /* ctl_proc_word of the owner, 0: none; taken by compare-and-swap */
	struct shim_proc owner;
	/* REL-18: what the owner stamps its buffers with (0: nothing to sweep) and its cache's id; who sweeps holds `sweeper` */
	uint32_t owner_mark, cache_id;
	uint64_t sweeper;            /* ctl_proc_word; by compare-and-swap */
	uint64_t heartbeat;          /* +1 every turn; owner writes */
	uint64_t turns, idle_turns, cycles_busy, cycles_idle;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, rx_dropped, tx_dropped;
	uint64_t pool_size, pool_avail;
	uint64_t drops[256];         /* by enum stack_drop; owner writes */
	/* control words: the primary writes the first two, the owner answers in the third */
	uint32_t quit;               /* not 0: leave */
	uint32_t park_order;         /* not 0: stop touching the ports (MTU-5) */
	uint32_t park_ack;           /* the order that has been obeyed */
	/*
	 * One request at a time: a client takes `lock` by CAS from 0 to its ctl_proc_word, fills op and args, bumps
	 * `request` with release; the owner answers into result, next and text, then stores the number into `reply`.
	 */
	uint32_t op;
	uint64_t lock;
	uint32_t request, reply;
	int32_t result;              /* 0 or negative errno */
	uint32_t next;               /* lists: where the next page starts; 0: this was the last */
	uint32_t text_len;
	char args[CTL_ARGS];         /* the op's arguments, zero-terminated words; an empty one ends them */
	char text[CTL_TEXT];         /* the answer; not terminated */
};

/* pid and start time in one word, for claims and locks; 0 when they do not fit (then nobody can be it). */
uint64_t ctl_proc_word(const struct shim_proc *p);
struct shim_proc ctl_word_proc(uint64_t word);

/* ---- everybody -------------------------------------------------------------------------------- */

/* Attaches to the directory: checks size, magic and version. -ENOENT (no primary), -EPROTO (both versions are
 * logged), -EAGAIN (the primary has not finished starting). */
int ctl_dir_attach(struct shim *s, struct ctl_dir **out);
/* Attaches to block index; checks size, magic, version and boot id. -ENOENT, -EPROTO, -EINVAL (index). */
int ctl_attach(struct shim *s, unsigned int index, struct ctl_block **out);

/* ---- clients ---------------------------------------------------------------------------------- */

/*
 * Posts a request and waits for the answer at most timeout_ms, sleeping in between. text (text_len bytes, may be
 * NULL) receives the zero-terminated answer, *next (may be NULL) the next page. Returns the owner's result;
 * -ETIMEDOUT (the caller names whom), -EBUSY (another client holds the block all the time), -ESRCH (its owner is
 * gone), -E2BIG (args). A lock left by a dead client is broken.
 */
int ctl_call(struct shim *s, struct ctl_block *b, enum ctl_op op, const char *args, size_t args_len,
	char *text, size_t text_len, uint32_t *next, unsigned int timeout_ms);

/* ---- the primary and owners ------------------------------------------------------------------- */

/* Makes block index, free. Errors of shim_zone_reserve, -EINVAL. */
int ctl_block_create(struct shim *s, unsigned int index, uint64_t boot_id, struct ctl_block **out);
void ctl_block_name(unsigned int index, char name[SHIM_NAME_MAX]);
/* Takes the block: state STARTING. What the last owner left undone is answered -ECONNRESET. -EBUSY when a live
 * process has it, -ERANGE when this process can not be named in a word. */
int ctl_claim(struct shim *s, struct ctl_block *b);
void ctl_state_set(struct shim *s, struct ctl_block *b, enum ctl_state state);
/* Gives the block up: FREE, no owner. */
void ctl_release(struct shim *s, struct ctl_block *b);
/* 1: a live process owns the block; 0: nobody, or a dead one. */
int ctl_owner_alive(struct shim *s, const struct ctl_block *b);
/* If the owner is dead, frees the block for a successor and returns true. */
bool ctl_reap(struct shim *s, struct ctl_block *b);

/* An owner mark that no other process of this boot has; never 0. */
uint32_t ctl_mark_next(struct shim *s, struct ctl_dir *d);
/* Publishes what the owner stamps its buffers with, before it takes the first one; 0: it has given everything back. */
void ctl_mark_set(struct shim *s, struct ctl_block *b, uint32_t mark);
/*
 * Buffers that a dead owner left go home (REL-18): called by the primary that sees the death, and by a successor that has claimed
 * the block and published no mark yet; whoever is first does it. How many came home; 0 with a live owner; -EBUSY:
 * another one is at it, try again.
 */
int ctl_sweep(struct shim *s, struct ctl_block *b, struct shim_pool *pool);

/* A request taken out of the block into private memory: nothing in it can change any more. */
struct ctl_request {
	uint32_t number;
	enum ctl_op op;              /* CTL_NONE for a number out of range */
	unsigned int nb_words;
	const char *word[8];         /* into args */
	char args[CTL_ARGS + 1];
};
/* True when there is one to answer. Cheap when there is none: one load. */
bool ctl_poll(struct shim *s, struct ctl_block *b, struct ctl_request *r);
void ctl_answer(struct shim *s, struct ctl_block *b, const struct ctl_request *r, int result, const char *text,
	size_t len, uint32_t next);

#endif

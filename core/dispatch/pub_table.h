/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UDP publish table (PUB-1 .. PUB-5): which UDP flows a worker serves, in shared memory. One table per seat (side of
 * a generation, lane). One writer, the worker of the seat, which records every UDP packet it receives for a socket or
 * sends, always; any number of readers, which take everything in it for hostile.
 *
 * An entry is 16 bytes: a keyed 64-bit fingerprint of the flow (flow_hash; 0: empty, 1: was one) and the ms stamp of
 * its last packet. A look-up or record probes at most PUB_PROBES entries. Times are 32-bit ms of CLOCK_MONOTONIC
 * samples (shim_now_ms), compared by signed difference (PUB-4): aged when (int32_t)(now - last) > (int32_t)idle.
 */
#ifndef NONIC_DISPATCH_PUB_TABLE_H
#define NONIC_DISPATCH_PUB_TABLE_H

#include "flow.h"

#define PUB_MAGIC 0x6e6f6e6963707562ull /* "nonicpub" */
#define PUB_LAYOUT_VERSION 1
#define PUB_PROBES 32u
#define PUB_ENTRIES_DEFAULT 16384u
#define PUB_ENTRIES_MIN 64u
#define PUB_ENTRIES_MAX (1u << 24)
#define PUB_IDLE_MAX_MS 3600000u
#define PUB_QUEUE 16u

/* PUB-3. In the low byte of the state word, the window id in its high 32 bits. */
enum pub_state {
	PUB_NONE,        /* no window; a reader in a window forwards as if no table existed */
	PUB_PUBLISHING,  /* a window is open: active flows are the writer's */
	PUB_HANDED,      /* the writer leaves: everything is the reader's */
};

struct pub_entry {
	uint64_t fp;
	uint32_t last_ms;
	uint32_t zero;
};

struct pub_table {               /* the zone */
	uint64_t magic;
	uint32_t layout_version;
	uint32_t entries;            /* power of two */
	uint64_t boot_id;
	uint64_t state;              /* wid << 32 | enum pub_state; writer stores with release */
	uint64_t writer;             /* ctl_proc_word of the writer's process, 0: nobody */
	uint32_t used;               /* entries not empty and not removed; writer's estimate for tools */
	uint32_t not_recorded;       /* flows that found no slot (PUB-1) */
	uint32_t idle_ms;            /* the writer's; it governs, whatever a reader is configured with */
	uint32_t zero;
	uint64_t pad;
	struct pub_entry entry[];    /* 64-byte aligned */
};

/* Bytes of a zone for so many entries. */
size_t pub_table_size(uint32_t entries);

/* ---- the primary ------------------------------------------------------------------------------ */

/* Fills a zeroed zone. -EINVAL: entries is no power of two, or out of PUB_ENTRIES_MIN .. PUB_ENTRIES_MAX. */
int pub_table_init(struct shim *s, struct pub_table *t, uint32_t entries, uint64_t boot_id);

/* ---- the writer ------------------------------------------------------------------------------- */

/* A process's own view: everything needed to trust no word of the zone twice. */
struct pub {
	struct shim *shim;
	struct pub_table *t;         /* NULL: absent */
	uint32_t mask;               /* entries - 1, checked once at attach */
	uint32_t idle_ms;            /* for a reader: where the table names none that is possible */
	struct siphash_key secret;
	/* writer only */
	uint64_t not_recorded;
	uint32_t used, sweep_at;
	enum pub_state state;        /* as last set */
	uint32_t last, last_ms;      /* queue's entry of the flow recorded last, and when: flows come in trains */
	uint32_t queued;             /* flows that the table gets with the next flush, all of last_ms */
	struct flow_key queue[PUB_QUEUE];
};

/*
 * Checks size, magic, version, boot id and entries against zone_size and binds *p to the table for reading. -EPROTO
 * with the reason (both versions named) in the log; *p is then absent: every look-up in it misses. idle_ms is cut to
 * PUB_IDLE_MAX_MS.
 */
int pub_attach(struct pub *p, struct shim *s, struct pub_table *t, size_t zone_size, uint64_t boot_id,
	const struct siphash_key *secret, uint32_t idle_ms);
/*
 * The process takes the writer's place: after pub_attach, by the claimed owner of the seat only. What a predecessor
 * left (killed or not) is emptied, its state word becomes NONE (PUB-5).
 */
void pub_writer_begin(struct pub *p, uint64_t proc_word);
/*
 * Records a packet of the flow at now_ms. Never waits, never allocates. Up to PUB_QUEUE flows are hashed and looked
 * up together: pub_flush has to come before anything that the packet causes can be seen by a reader (a frame handed
 * on, a lane let go), and once a turn.
 */
void pub_record(struct pub *p, const struct flow_key *k, uint32_t now_ms);
/* What was recorded is in the table. pub_sweep, pub_state_set and pub_active do it too. */
void pub_flush(struct pub *p);
/* Records at once, by a hash that is known already. False: no room (counted). */
bool pub_record_hash(struct pub *p, uint64_t fp, uint32_t now_ms);
/*
 * Removes aged entries, at most n entries further than the last call; a whole pass must be made at least once a day
 * (PUB-4). Entries that were removed are empty again as soon as nothing behind them needs the way, and outside a
 * window (PUB_NONE: nobody reads) what had to go elsewhere comes home (a look-up costs the same after 10^4 reloads).
 */
void pub_sweep(struct pub *p, uint32_t n, uint32_t now_ms);
void pub_state_set(struct pub *p, enum pub_state state, uint32_t wid);
/* How many flows are active: a walk over the table, for the drain report once a second (REL-8). */
uint32_t pub_active(struct pub *p, uint32_t now_ms);

/* ---- readers ---------------------------------------------------------------------------------- */

/*
 * State, and the window id that it was set for. An impossible word reads as HANDED: it is absent (nothing is
 * forwarded).
 */
enum pub_state pub_state_get(const struct pub *p, uint32_t *wid);
/* Is the flow there and active? */
bool pub_lookup(const struct pub *p, uint64_t fp, uint32_t now_ms);
/*
 * The same for n hashes, n <= 64: bit i of the result is flow i. Prefetches; a miss costs one line in the usual case.
 * aged may be NULL, else bit i of it says that flow i was found and is not active any more.
 */
uint64_t pub_lookup_bulk(const struct pub *p, const uint64_t *fp, unsigned int n, uint32_t now_ms, uint64_t *aged);

#endif

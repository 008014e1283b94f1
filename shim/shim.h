/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one door from core/ to DPDK, time, randomness, processes and shared memory (SHM-1, SHM-2).
 *
 * This header is the contract; one of two bindings supplies the code, chosen when core/ is compiled:
 *   NONIC_SHIM_DPDK  shim/dpdk/inline.h  static inline over rte_*; ships (SHM-3)
 *   NONIC_SHIM_HOST  shim/host/inline.h  calls through struct shim_ops; mock, sim and posix stand
 *                                        behind it (SHM-4, SHM-5, SHM-6)
 * shim/contract/ is one suite that every backend passes (SHM-7).
 *
 * Conventions, for every function below:
 *   - `s` is the calling process's door; one thread uses one door.
 *   - Errors are negative errno. Functions without an error in their text can not fail.
 *   - Buffers are the real struct rte_mbuf in every backend; data functions (append, adj, ...) are
 *     DPDK's own inlines, allocation and release go through the door.
 *   - Device calls that change a port (configure, start, stop, mtu_set, promiscuous, rss_*) belong to
 *     SHIM_ROLE_PRIMARY: from any other role they return -EPERM and change nothing. Host backends
 *     also count them in shim_role_violations(), and a test fails on a count it did not expect.
 */
#ifndef NONIC_SHIM_H
#define NONIC_SHIM_H

#include "types.h"

#if defined(NONIC_SHIM_DPDK) == defined(NONIC_SHIM_HOST)
#error "compile with exactly one of NONIC_SHIM_DPDK and NONIC_SHIM_HOST"
#endif

/* ---- log and memory -------------------------------------------------------------------------- */

/* One line, no newline at its end. Level as in enum shim_log_level. Never blocks in the simulator. */
static inline void shim_log(struct shim *s, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* n bytes of zeroed private memory, 64-byte aligned, or NULL (for n 0 too). Not for hot paths. */
static inline void *shim_malloc(struct shim *s, size_t n);
static inline void shim_free(struct shim *s, void *p); /* p may be NULL */

/* ---- time ------------------------------------------------------------------------------------ */

static inline uint64_t shim_cycles(struct shim *s);    /* a free running counter */
static inline uint64_t shim_cycles_hz(struct shim *s); /* its rate; constant */
/* Monotonic ns, read from the clock now. A worker reads it once a turn through shim_clock_sample. */
static inline uint64_t shim_clock_ns(struct shim *s);
/* Reads the clock and stores it: shim_now_ns and shim_now_ms return this sample until the next. */
static inline uint64_t shim_clock_sample(struct shim *s);
static inline uint64_t shim_now_ns(const struct shim *s);
static inline uint32_t shim_now_ms(const struct shim *s); /* low 32 bits of the sample in ms; wraps */
static inline uint64_t shim_wall_ns(struct shim *s);      /* since 1970; may step */
/* Gives the processor away for about ns; the simulator ends the step and wakes the process then. */
static inline void shim_sleep_ns(struct shim *s, uint64_t ns);

/* ---- randomness ------------------------------------------------------------------------------ */

static inline uint64_t shim_random(struct shim *s); /* fast, not for secrets; seeded in the simulator */
/* Fills buf from the system's entropy (the seed in the simulator). 0, or -EIO. For secrets. */
static inline int shim_entropy(struct shim *s, void *buf, size_t n);

/* ---- processes ------------------------------------------------------------------------------- */

static inline enum shim_role shim_role(const struct shim *s);
static inline struct shim_proc shim_self(const struct shim *s);
/* 1: p runs and is the same program instance (pid and start time); 0: it does not; or -errno. */
static inline int shim_proc_alive(struct shim *s, const struct shim_proc *p);
/* Starts argv[0] (NULL-terminated argv) with the standard descriptors only; *out names it. -ENOENT, -EACCES, -EAGAIN, -ENOMEM. */
static inline int shim_proc_spawn(struct shim *s, const char *const argv[], struct shim_proc *out);
/*
 * Ends exactly this process at once (SIGKILL; never another one that has its pid now). 0: it was there and will be dead soon,
 * which shim_proc_alive says; -ESRCH: it is gone; -EPERM; -EINVAL: the caller itself.
 */
static inline int shim_proc_kill(struct shim *s, const struct shim_proc *p);

/* ---- named shared zones ---------------------------------------------------------------------- */

/*
 * Reserves a zeroed zone, 64-byte aligned, seen by every process of the test bed. *addr is valid in
 * this process; zones hold offsets, never pointers. -EEXIST, -ENOMEM, -ENAMETOOLONG, -EINVAL (size 0).
 */
static inline int shim_zone_reserve(struct shim *s, const char *name, size_t size, void **addr);
/* Finds a zone; size may be NULL, else: the size asked for, or that rounded up to 64. -ENOENT. */
static inline int shim_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size);
/* Ends the zone's name and memory; the caller knows that nobody uses it any more. -ENOENT. */
static inline int shim_zone_free(struct shim *s, const char *name);

/* ---- rings of pointers ----------------------------------------------------------------------- */

/*
 * A ring that holds exactly count - 1 pointers; count is a power of two (DPDK's own rule).
 * flags: enum shim_ring_flags. -EEXIST, -ENOMEM, -EINVAL, -ENAMETOOLONG.
 */
static inline int shim_ring_create(struct shim *s, const char *name, unsigned int count,
	unsigned int flags, struct rte_ring **out);
static inline int shim_ring_lookup(struct shim *s, const char *name, struct rte_ring **out);
static inline void shim_ring_free(struct shim *s, struct rte_ring *r);
/* As many as fit, in order; returns how many. Never waits. */
static inline unsigned int shim_ring_enqueue_burst(struct shim *s, struct rte_ring *r,
	void *const *objs, unsigned int n);
static inline unsigned int shim_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs,
	unsigned int n);
/*
 * Takes up to n chains of buffers out of a single-consumer ring, each segment stamped with the mark before it has left the ring.
 * With it a buffer is never nobody's on its way from process to process, whenever one dies: the giver enqueues it as it is,
 * with its own mark, and does not look at it again; a buffer in a ring is the ring's, whatever its mark (shim_pool_sweep).
 */
static inline unsigned int shim_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n,
	uint32_t mark);
static inline unsigned int shim_ring_count(struct shim *s, const struct rte_ring *r);
static inline unsigned int shim_ring_capacity(struct shim *s, const struct rte_ring *r); /* count - 1 */
/*
 * The caller takes the place of a dead producer or consumer of an SP/SC ring (of an MP/SC one: the consumer). An operation
 * that it died in is undone, as if it had never begun. Nobody else uses that side meanwhile. -EINVAL: that side is shared.
 */
static inline int shim_ring_recover(struct shim *s, struct rte_ring *r, enum shim_ring_side side);

/*
 * Rings of buffers between processes of which one may write anything anywhere in the ring: SP/SC ones, used by these calls only,
 * from both sides. Each process has an end of its own (struct shim_ring_end). Before each burst the ring's header and the places of both
 * sides are compared with what the process knows; if they can not be, e->wrong says what is wrong and from then on nothing goes in or
 * comes out, until shim_ring_succeed. Nothing waits, and no byte of the ring can make these calls touch other memory.
 */
/* An end of the ring `name`, made with `count`. -EINVAL: not a power of two over 1. */
static inline int shim_ring_attach(struct shim *s, struct shim_ring_end *e, struct rte_ring *r, const char *name,
	uint32_t count);
/*
 * The process is that side's from now on, as shim_ring_recover; needed before the first put (producer) or get (consumer) of each process
 * that takes the side over. A damaged ring is mended: 1, and the ring is empty if its places were damaged (what was in it comes
 * home with whoever put it in: shim_pool_sweep). 0: it was sound. -EINVAL: an end without a ring.
 */
static inline int shim_ring_succeed(struct shim *s, struct shim_ring_end *e, enum shim_ring_side side);
/* As many as fit, in order; returns how many. They are in the ring, each segment said to be so, beside its mark. */
static inline unsigned int shim_ring_put(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n);
/*
 * As shim_ring_take, of buffers of the pool that were put by shim_ring_put, referred to once and with their bytes in their own memory. Any
 * other thing in a slot is left out, counted in e->bad, and not touched; so is a buffer's second place.
 */
static inline unsigned int shim_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m,
	unsigned int n, uint32_t mark);
/* How many are in it, for anybody; 0 when it is wrong or there is none. Both sides may be moving. */
static inline unsigned int shim_ring_fill(struct shim *s, const struct shim_ring_end *e);

/* ---- packet buffers -------------------------------------------------------------------------- */

/*
 * n buffers whose data room is data_room bytes, the 128 of headroom included (so that a buffer holds
 * data_room - 128). -EEXIST, -ENOMEM, -EINVAL, -ENAMETOOLONG.
 */
static inline int shim_pool_create(struct shim *s, const char *name, unsigned int n,
	uint16_t data_room, struct shim_pool **out);
static inline int shim_pool_lookup(struct shim *s, const char *name, struct shim_pool **out);
static inline void shim_pool_free(struct shim *s, struct shim_pool *p);
static inline unsigned int shim_pool_size(struct shim *s, const struct shim_pool *p);
/* Free ones; those in the caches of other processes too, which only these can take (as in DPDK). */
static inline unsigned int shim_pool_avail(struct shim *s, const struct shim_pool *p);
static inline uint16_t shim_pool_data_room(struct shim *s, const struct shim_pool *p);
/* Is m the address of one of the pool's buffers (that is out, in a host backend)? It may be anything, and is not looked into. */
static inline bool shim_pool_owns(struct shim *s, const struct shim_pool *p, const void *m);
/*
 * Buffers of dead processes (REL-18). A process may die at any instruction, inside the pool's own code too: no pool
 * operation ever waits for another process, and a half-done one harms nobody. What it held is found by owner marks:
 * shim_buf_mark_set(m, mark) stamps every segment with the process whose hands it is in (0: nobody's, as in a port or the
 * pool; in a ring any). Before tx: 0. Alloc, clone and copy leave 0 (the pool notes who has it until it is stamped), free needs
 * no stamp. What the process's cache of the pool held is found by its cache id.
 */
/* Names this door's cache in every pool; published by its owner for a sweep after its death. */
static inline uint32_t shim_cache_id(const struct shim *s);
/*
 * Gives back what a dead process left: buffers with its mark (not 0) that are in no ring, those it had allocated and not yet
 * stamped, and those in its cache, each once and whole. A buffer that a port still sends from (a clone of it is in flight) goes
 * home with that clone. The process is dead, and nobody has its cache id now, but a caller that took its place and has taken
 * no buffer yet. Returns how many came home. Slow (walks the pool and every ring); one caller at a time. May be called again.
 */
static inline unsigned int shim_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id);

/* One empty buffer (reference count 1, headroom 128), or NULL when the pool is empty. */
static inline struct rte_mbuf *shim_buf_alloc(struct shim *s, struct shim_pool *p);
/* All n or none. 0 or -ENOMEM. */
static inline int shim_buf_alloc_bulk(struct shim *s, struct shim_pool *p, struct rte_mbuf **m,
	unsigned int n);
/* Drops one reference of every segment of the chain; segments without one left go home. m may be NULL. */
static inline void shim_buf_free(struct shim *s, struct rte_mbuf *m);
static inline void shim_buf_free_bulk(struct shim *s, struct rte_mbuf **m, unsigned int n);
/* Adds v references to every segment of the chain. */
static inline void shim_buf_ref(struct shim *s, struct rte_mbuf *m, int16_t v);
/* A chain of indirect buffers over the same data (each segment's reference count grows), or NULL. */
static inline struct rte_mbuf *shim_buf_clone(struct shim *s, struct rte_mbuf *m, struct shim_pool *p);
/* A deep copy of len bytes from off (len UINT32_MAX: to the end), chained if it must be, or NULL. */
static inline struct rte_mbuf *shim_buf_copy(struct shim *s, const struct rte_mbuf *m,
	struct shim_pool *p, uint32_t off, uint32_t len);
/*
 * Makes m (one segment, no data) point at len bytes of the caller's own memory; free_cb(addr, opaque) is
 * called once, when the last reference to them goes. The last 24 bytes of the memory, aligned to 8, hold
 * the reference count (rte_pktmbuf_ext_shinfo_init_helper's rule). 0, or -EINVAL when len is too small.
 */
static inline int shim_buf_attach_ext(struct shim *s, struct rte_mbuf *m, void *addr, uint16_t len,
	void (*free_cb)(void *addr, void *opaque), void *opaque);

/*
 * Moves the chain's bytes into its first segment and frees the others. 0, or -1 when that one's
 * tailroom is too small (nothing has changed then).
 */
static inline int shim_buf_linearize(struct shim *s, struct rte_mbuf *m);

/*
 * Data of a buffer; these are DPDK's own inlines under the door's name, the same in both bindings:
 *   shim_buf_data(m)          pointer to the first byte       shim_buf_data_off(m, t, off) typed, offset
 *   shim_buf_seg_len(m)       bytes in this segment           shim_buf_len(m)     bytes in the chain
 *   shim_buf_headroom(m)      shim_buf_tailroom(m)            (of the segment; tailroom: of the last)
 *   shim_buf_prepend(m, n)    new first byte, or NULL         shim_buf_append(m, n) first new byte, or NULL
 *   shim_buf_adj(m, n)        NULL if the first segment is shorter than n
 *   shim_buf_trim(m, n)       0, or -1 if the last segment is shorter than n
 *   shim_buf_read(m, off, n, buf)  pointer to n contiguous bytes (buf if it had to copy), or NULL
 *   shim_buf_chain(head, tail)     0, or -EOVERFLOW (too many segments)
 *   shim_buf_reset(m)
 */

/* ---- ports ----------------------------------------------------------------------------------- */

static inline unsigned int shim_port_count(struct shim *s); /* ports are numbered 0 .. count - 1 */
static inline int shim_port_info(struct shim *s, uint16_t port, struct shim_port_info *info);
/* Queues, offloads, MTU and receive pool; the port is stopped. -EPERM, -ENODEV, -EINVAL, -EBUSY, ... */
static inline int shim_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c);
static inline int shim_port_start(struct shim *s, uint16_t port);
static inline int shim_port_stop(struct shim *s, uint16_t port);
static inline int shim_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu);
/* -EBUSY: the port must be stopped for it. -EINVAL: out of the port's range. -ENOTSUP. */
static inline int shim_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu);
static inline int shim_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st);
static inline int shim_port_link(struct shim *s, uint16_t port, struct shim_port_link *l);
static inline int shim_port_promiscuous_get(struct shim *s, uint16_t port); /* 0, 1, or -errno */
static inline int shim_port_promiscuous_set(struct shim *s, uint16_t port, bool on);
static inline int shim_port_allmulticast_set(struct shim *s, uint16_t port, bool on);
/* *len: in the room at key, out the key's length. -ENOTSUP without RSS; -ENOSPC. */
static inline int shim_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len);
static inline int shim_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len);
/* n entries, n = the port's reta_size. -ENOTSUP, -EINVAL. */
static inline int shim_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n);
static inline int shim_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n);
/* Up to n received frames; the caller owns them. Only the queue's owner calls. */
static inline uint16_t shim_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
	uint16_t n);
/* Takes the first k of n frames for sending and returns k; the other n - k stay the caller's. */
static inline uint16_t shim_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
	uint16_t n);

/* ---- shared words (each is a scheduling point in the simulator, SIM-4) ------------------------- */

static inline uint32_t shim_load32(struct shim *s, const uint32_t *w, enum shim_order o);
static inline void shim_store32(struct shim *s, uint32_t *w, uint32_t v, enum shim_order o);
/* Sets *w to v if it equals *expect and returns true; else stores what it saw in *expect. */
static inline bool shim_cas32(struct shim *s, uint32_t *w, uint32_t *expect, uint32_t v,
	enum shim_order o);
static inline uint32_t shim_fetch_add32(struct shim *s, uint32_t *w, uint32_t v, enum shim_order o);
static inline uint64_t shim_load64(struct shim *s, const uint64_t *w, enum shim_order o);
static inline void shim_store64(struct shim *s, uint64_t *w, uint64_t v, enum shim_order o);
static inline bool shim_cas64(struct shim *s, uint64_t *w, uint64_t *expect, uint64_t v,
	enum shim_order o);
static inline uint64_t shim_fetch_add64(struct shim *s, uint64_t *w, uint64_t v, enum shim_order o);
static inline void shim_fence(struct shim *s, enum shim_order o);

#include "buf.h"
#ifdef NONIC_SHIM_DPDK
#include "dpdk/inline.h"
#else
#include "host/inline.h"
#endif

#endif

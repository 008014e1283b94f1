/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sim backend of the door (SHM-5): machines with zones, rings, pools and ports, and the doors of the simulated
 * processes on them. It knows no scheduler and no wires: what it needs of the world it asks through struct sim_env.
 * One OS thread drives a world and everything in it.
 */
#ifndef NONIC_SHIM_HOST_SIM_MACHINE_H
#define NONIC_SHIM_HOST_SIM_MACHINE_H

#include <sys/queue.h>

#include "../ops.h"

/* Under AddressSanitizer a second free is the sanitizer's to find: nothing is kept for it. */
#if defined(__SANITIZE_ADDRESS__)
#define SIM_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_WITH_ASAN 1
#endif
#endif

#define SIM_CLOCK_BASE_NS 1000000000000ull /* what a clock without skew shows when the world begins */
#define SIM_WALL_BASE_NS 1767225600000000000ull /* 2026-01-01 */
#define SIM_CYCLES_HZ 2000000000ull
#define SIM_FRAME_MAX 65600u

struct sim_machine;
struct sim_door;
struct sim_port;

#define SIM_PENDING_MAX 32u

enum sim_access_kind { SIM_LOAD, SIM_STORE, SIM_CAS, SIM_FETCH_ADD, SIM_FENCE, SIM_ENQUEUE, SIM_DEQUEUE };

/* An access to something shared that is about to happen (SIM-4: a scheduling point). */
struct sim_access {
	enum sim_access_kind kind;
	enum shim_order order;
	int size;            /* 4, 8; 0 for fences and rings */
	const void *word;    /* the word, or the struct rte_ring */
	uint64_t value;      /* to be stored or added */
};

/* What a machine asks of the world. Only now_ns must be there; a NULL entry means: nothing happens. */
struct sim_env {
	void *ctx;
	uint64_t (*now_ns)(void *ctx);
	/* ns are ns of d's own clock. */
	void (*sleep)(void *ctx, struct sim_door *d, uint64_t ns);
	void (*point)(void *ctx, struct sim_door *d, const struct sim_access *a);
	/* A frame leaves a transmit queue of p (FCS not included). The bytes are the caller's. */
	void (*frame)(void *ctx, struct sim_port *p, uint16_t queue, const uint8_t *frame, uint32_t len);
	/* How many more frames the transmit queue takes now; NULL: as many as come. */
	unsigned int (*tx_room)(void *ctx, struct sim_port *p, uint16_t queue);
	/* May d use the queue now? Asked at each burst on a port that is leased; the answer no is a role violation. */
	bool (*polls)(void *ctx, struct sim_door *d, struct sim_port *p, uint16_t queue);
	/* A frame waits in the queue of p. */
	void (*ready)(void *ctx, struct sim_port *p, uint16_t queue);
	void (*log)(void *ctx, struct sim_door *d, int level, const char *line);
	/* An invariant does not hold. d may be NULL. */
	void (*fail)(void *ctx, const struct sim_door *d, const char *text);
	/* NULL: the machine's own doors are looked through. */
	int (*alive)(void *ctx, const struct shim_proc *p);
	int (*spawn)(void *ctx, struct sim_door *d, const char *const argv[], struct shim_proc *out);
	/* Ends a process at once; d is not its door. 0 or -ESRCH. NULL: the machine closes the process's door as killed. */
	int (*kill)(void *ctx, struct sim_door *d, const struct shim_proc *p);
};

/* Device calls that can be made to fail. */
enum sim_inject {
	SIM_INJECT_CONFIGURE,
	SIM_INJECT_START,
	SIM_INJECT_STOP,
	SIM_INJECT_MTU_GET,
	SIM_INJECT_MTU_SET,
	SIM_INJECT_PROMISCUOUS,
	SIM_INJECT_ALLMULTICAST,
	SIM_INJECT_RSS,  /* key and table, get and set */
	SIM_INJECT_INFO,
	SIM_INJECT_TX,   /* the transmit queue is full: nothing is taken; the error number does not matter */
	SIM_INJECT_COUNT
};

/* What a port is. A zeroed one gets 4 queues, MTU 68 .. 9700, no offload, no RSS. */
struct sim_port_conf {
	uint8_t mac[6];              /* all zero: 02:00:<machine>:<port>, made up */
	uint16_t max_queues;
	uint16_t min_mtu, max_mtu;
	uint64_t rx_offloads, tx_offloads; /* it is able to do */
	uint16_t reta_size;          /* 0: no RSS */
	uint8_t rss_key_size;        /* 40 or 52 with RSS */
	uint32_t speed_mbps;         /* 0: 10000 */
	bool mtu_needs_stop;         /* mtu_set on a started port: -EBUSY */
	bool stop_forgets;           /* stopping resets RSS key, table and promiscuous mode, as some devices do */
	bool no_filter;              /* receives every frame, whatever its address */
	bool leased;                 /* who may use a queue is env->polls' word; the last one to ask is woken by frames */
};

struct sim_rxq {
	struct rte_mbuf **slot;      /* a circle of room */
	unsigned int head, n, room;
	uint32_t poller;             /* id of the door that polls it, 0: nobody so far */
};

struct sim_port {
	struct sim_machine *machine;
	struct sim_port_conf conf;
	uint16_t index;
	bool configured, started, promiscuous, allmulticast, link_up;
	uint16_t mtu;
	uint16_t nb_rx, nb_tx;
	uint64_t rx_enabled, tx_enabled;
	bool rss;
	uint8_t rss_key[SHIM_RSS_KEY_MAX];
	uint16_t reta[SHIM_RETA_MAX];
	struct shim_pool *pool;
	struct sim_rxq rxq[SHIM_MAX_QUEUES];
	uint32_t tx_poller[SHIM_MAX_QUEUES];
	struct shim_port_stats st;
	uint64_t filtered;           /* frames for another address, silently not received */
	uint64_t polled_stopped;     /* rx or tx on a port that is stopped */
	struct {
		int err;                 /* negative errno */
		unsigned int times;
	} inject[SIM_INJECT_COUNT];
	void *wire;                  /* the world's */
};

enum sim_where { SIM_AT_DOOR, SIM_AT_RING, SIM_AT_PORT, SIM_AT_LOST };

/* In front of each struct rte_mbuf. */
struct sim_buf {
	TAILQ_ENTRY(sim_buf) link;   /* the machine's live ones, or its quarantine */
	struct shim_pool *pool;
	uint64_t serial;
	uint32_t holder;             /* door id, with SIM_AT_DOOR and SIM_AT_LOST */
	uint8_t where;               /* enum sim_where */
} __attribute__((aligned(64)));

TAILQ_HEAD(sim_buf_list, sim_buf);

struct shim_pool {
	LIST_ENTRY(shim_pool) link;
	struct sim_machine *machine;
	char name[SHIM_NAME_MAX];
	unsigned int n, used;
	uint16_t data_room;
};

struct sim_zone;
struct sim_ring;
struct sim_alloc;

struct sim_machine {
	const struct sim_env *env;
	char name[SHIM_NAME_MAX];
	uint32_t id;
	LIST_HEAD(, sim_zone) zones;
	LIST_HEAD(, sim_ring) rings;
	LIST_HEAD(, shim_pool) pools;
	LIST_HEAD(, sim_door) doors;
	unsigned int nb_ports;
	struct sim_port *port[SHIM_MAX_PORTS];
	/* buffers */
	struct sim_buf_list live, quarantine;
	unsigned int nb_live, nb_quarantine, nb_lost;
	bool rings_damaged;          /* by a test: what was put into a ring counts as there, whatever the ring says */
	struct rte_mbuf **set;       /* hash set of live buffers, open addressing */
	size_t set_room;
	uint64_t buf_serial;
	uint64_t role_violations;    /* of doors that are closed */
	bool marks;                  /* the program stamps its buffers: the audit looks at the marks too */
	char violation[96];          /* the last one of a queue, in words */
	uint8_t scratch[SIM_FRAME_MAX];
};

/* A store that its process has done and no other one sees yet. */
struct sim_pending {
	void *word;
	uint64_t value;
	int size;
};

/* A process's door; core/ sees the first member. */
struct sim_door {
	struct shim shim;
	struct sim_machine *machine;
	LIST_ENTRY(sim_door) link;
	uint32_t id;                 /* unique in the world, never 0, never used again */
	uint64_t anchor_world_ns, anchor_local_ns; /* the clock was set then, to this */
	int32_t drift_ppm;
	int64_t wall_step_ns;        /* added to the wall clock */
	uint64_t rng;
	LIST_HEAD(, sim_alloc) allocs;
	size_t nb_allocs;
	uint32_t mark_seen;          /* the audit's: the mark of its buffers */
	uint32_t bufs;               /* held by the process: allocated, dequeued or received, not given away */
	int64_t fail_malloc_in;      /* the n-th next shim_malloc fails (1: the next one); 0: none */
	int64_t fail_buf_in;         /* the same of buffers */
	bool fail_malloc_stays, fail_buf_stays; /* and every one after it */
	void *owner;                 /* the world's process */
	uint64_t effects;            /* uses of something shared that are no scheduling points: buffers, port queues */
	bool store_buffer;           /* stores are delayed, as on x86 */
	unsigned int nb_pending;
	struct sim_pending pending[SIM_PENDING_MAX]; /* the oldest first */
};

/* ---- for the world ---- */

/* env outlives the machine. NULL when out of memory. */
struct sim_machine *sim_machine_create(const struct sim_env *env, uint32_t id, const char *name);
/* Every door is closed. Frees everything, buffers that nobody gave back included. m may be NULL. */
void sim_machine_destroy(struct sim_machine *m);
/* NULL when out of memory or ports. */
struct sim_port *sim_machine_port_add(struct sim_machine *m, const struct sim_port_conf *conf);

struct sim_door_conf {
	enum shim_role role;
	uint32_t id, pid, proc_id;
	uint64_t start_time, seed;
	int64_t skew_ns;
	int32_t drift_ppm;
	bool store_buffer;
	void *owner;
};
struct sim_door *sim_door_open(struct sim_machine *m, const struct sim_door_conf *conf);
/*
 * The process ends. killed: its private memory vanishes, its buffers stay out as lost with their owner; otherwise
 * whatever it still holds is reported by env->fail.
 */
void sim_door_close(struct sim_door *d, bool killed);
/* Sets skew (to SIM_CLOCK_BASE_NS + world time) and drift from now on. The monotonic clock never goes backwards for it. */
void sim_door_clock_set(struct sim_door *d, int64_t skew_ns, int32_t drift_ppm);
/*
 * x86 store buffering (SIM-4). With it a store that is weaker than SEQ_CST waits in a first-in first-out buffer, which only its own process reads;
 * a compare-and-swap, a fetch-add, a SEQ_CST store or fence and a ring operation drain it first. The world drains it at
 * the end of a step, and one by one where it likes.
 */
unsigned int sim_door_pending(const struct sim_door *d);
/* The n oldest pending stores, or all, become visible. */
void sim_door_drain(struct sim_door *d, unsigned int n);
/* ns of the world in which d's clock advances by ns (rounded up). */
uint64_t sim_door_to_world_ns(const struct sim_door *d, uint64_t ns);

/* A frame arrives at p from its wire. */
void sim_port_receive(struct sim_port *p, const uint8_t *frame, uint32_t len);
/* The same into a given queue, whatever RSS says. */
void sim_port_receive_on(struct sim_port *p, uint16_t queue, const uint8_t *frame, uint32_t len);
void sim_port_link_set(struct sim_port *p, bool up);
/* The next `times` calls of op return err (negative). */
void sim_port_inject(struct sim_port *p, enum sim_inject op, int err, unsigned int times);
/* The rx and tx queue changes hands: the next poller is its owner, whoever it is. */
void sim_port_queue_release(struct sim_port *p, uint16_t queue);

/* Stops every port, as the power switch does; frees what waits in their queues. */
void sim_machine_ports_stop(struct sim_machine *m);

/* Role violations of the machine: device calls that a role forbids, two owners of one queue. */
uint64_t sim_machine_role_violations(const struct sim_machine *m);

/* Cheap check of conservation, O(pools + doors + queues): 0, or -EINVAL with a sentence in why. */
int sim_machine_check(const struct sim_machine *m, char *why, size_t n);
/*
 * The same buffer by buffer. With m->marks also: what a process holds, a sweep after its death would find and take from nobody
 * else: each buffer at a door has the note of its allocation there, or one mark that is that door's alone.
 */
int sim_machine_audit(struct sim_machine *m, char *why, size_t n);
/* Is everything home, except what was lost with a killed owner, and what is in rings whose maker was killed and freed none? */
int sim_machine_home(const struct sim_machine *m, char *why, size_t n);

/* ---- inside the backend ---- */

extern const struct shim_ops sim_ops;

static inline struct sim_door *
sim_door(struct shim *s)
{
	return (struct sim_door *)s;
}

/* Is this the call that is to fail? Counts *in down. */
static inline bool
sim_fails_now(int64_t *in, bool stays)
{
	if (*in == 0)
		return false;
	if (*in > 1) {
		--*in;
		return false;
	}
	if (!stays)
		*in = 0;
	return true;
}

/* store.c */
void sim_store_drain_all(struct sim_machine *m);
uint64_t sim_word_load(struct shim *s, const void *w, int size, enum shim_order o);
void sim_word_store(struct shim *s, void *w, int size, uint64_t v, enum shim_order o);
bool sim_word_cas(struct shim *s, void *w, int size, uint64_t *expect, uint64_t v, enum shim_order o);
uint64_t sim_word_fetch_add(struct shim *s, void *w, int size, uint64_t v, enum shim_order o);
void sim_word_fence(struct shim *s, enum shim_order o);

/* buf.c */
bool sim_buf_is_live(const struct sim_machine *m, const void *p);
/* One reference less of each segment, without a process. */
void sim_buf_drop(struct sim_machine *m, struct rte_mbuf *b);
struct rte_mbuf *sim_buf_take(struct sim_machine *m, struct shim_pool *p);
/* The whole chain is now at `where`; d with SIM_AT_DOOR. Nothing happens for what is not a live buffer. */
void sim_buf_move(struct sim_machine *m, void *chain, enum sim_where where, struct sim_door *d);
void sim_buf_disown(struct sim_door *d);
void sim_buf_release_all(struct sim_machine *m);
int sim_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room, struct shim_pool **out);
int sim_pool_lookup(struct shim *s, const char *name, struct shim_pool **out);
void sim_pool_free(struct shim *s, struct shim_pool *p);
unsigned int sim_pool_size(struct shim *s, const struct shim_pool *p);
unsigned int sim_pool_avail(struct shim *s, const struct shim_pool *p);
uint16_t sim_pool_data_room(struct shim *s, const struct shim_pool *p);
uint32_t sim_cache_id(const struct shim *s);
unsigned int sim_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id);
struct rte_mbuf *sim_buf_alloc(struct shim *s, struct shim_pool *p);
void sim_buf_release(struct shim *s, struct rte_mbuf *m);

/* mem.c */
void sim_mem_release_all(struct sim_machine *m);
/* How many live buffers are in rings, looking into each. */
unsigned int sim_rings_count(const struct sim_machine *m);
/* How many were put into one and not taken out, by their own records. */
unsigned int sim_bufs_in_rings(const struct sim_machine *m);
int sim_zone_reserve(struct shim *s, const char *name, size_t size, void **addr);
int sim_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size);
int sim_zone_free(struct shim *s, const char *name);
int sim_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags, struct rte_ring **out);
int sim_ring_lookup(struct shim *s, const char *name, struct rte_ring **out);
void sim_ring_free(struct shim *s, struct rte_ring *r);
unsigned int sim_ring_enqueue_burst(struct shim *s, struct rte_ring *r, void *const *objs, unsigned int n);
unsigned int sim_ring_dequeue_burst(struct shim *s, struct rte_ring *r, void **objs, unsigned int n);
unsigned int sim_ring_take(struct shim *s, struct rte_ring *r, struct rte_mbuf **m, unsigned int n, uint32_t mark);
unsigned int sim_ring_put(struct shim *s, struct shim_ring_end *e, struct rte_mbuf *const *m, unsigned int n);
unsigned int sim_ring_get(struct shim *s, struct shim_ring_end *e, struct shim_pool *p, struct rte_mbuf **m, unsigned int n,
	uint32_t mark);
bool sim_pool_owns(struct shim *s, const struct shim_pool *p, const void *m);

/* port.c */
void sim_port_release(struct sim_port *p);
unsigned int sim_port_queued(const struct sim_port *p);
unsigned int sim_port_op_count(struct shim *s);
int sim_port_op_info(struct shim *s, uint16_t port, struct shim_port_info *info);
int sim_port_op_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c);
int sim_port_op_start(struct shim *s, uint16_t port);
int sim_port_op_stop(struct shim *s, uint16_t port);
int sim_port_op_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu);
int sim_port_op_mtu_set(struct shim *s, uint16_t port, uint16_t mtu);
int sim_port_op_stats(struct shim *s, uint16_t port, struct shim_port_stats *st);
int sim_port_op_link(struct shim *s, uint16_t port, struct shim_port_link *l);
int sim_port_op_promiscuous_get(struct shim *s, uint16_t port);
int sim_port_op_promiscuous_set(struct shim *s, uint16_t port, bool on);
int sim_port_op_allmulticast_set(struct shim *s, uint16_t port, bool on);
int sim_port_op_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len);
int sim_port_op_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len);
int sim_port_op_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n);
int sim_port_op_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n);

/* io.c */
uint16_t sim_port_op_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n);
uint16_t sim_port_op_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mock backend (SHM-4): a door that behaves like DPDK in one process's memory, whose every call a
 * test can script, make fail, watch, or replace.
 *
 * What a call does, in this order: it is counted and logged; its hook runs; a scripted return or a
 * failure answers it without any effect; else the behaviour in mock_behaviour does the work.
 */
#ifndef NONIC_SHIM_HOST_MOCK_H
#define NONIC_SHIM_HOST_MOCK_H

#include "../ops.h"

struct rte_mbuf;

/* X(name, kind, logged): one for each entry of struct shim_ops, in its order. */
#define MOCK_OPS(X) \
	X(vlog, VOID, 0) X(malloc, PTR, 0) X(free, VOID, 0) \
	X(cycles, UINT, 0) X(cycles_hz, UINT, 0) X(clock_ns, UINT, 0) X(wall_ns, UINT, 0) \
	X(sleep_ns, VOID, 1) X(random, UINT, 0) X(entropy, INT, 0) \
	X(proc_alive, INT, 1) X(proc_spawn, INT, 1) X(proc_kill, INT, 1) \
	X(zone_reserve, INT, 1) X(zone_lookup, INT, 1) X(zone_free, INT, 1) \
	X(ring_create, INT, 1) X(ring_lookup, INT, 1) X(ring_free, VOID, 1) \
	X(ring_enqueue_burst, UINT, 0) X(ring_dequeue_burst, UINT, 0) X(ring_take, UINT, 0) \
	X(ring_count, UINT, 0) X(ring_capacity, UINT, 0) X(ring_recover, INT, 1) \
	X(ring_put, UINT, 0) X(ring_get, UINT, 0) \
	X(pool_create, INT, 1) X(pool_lookup, INT, 1) X(pool_free, VOID, 1) X(pool_size, UINT, 0) \
	X(pool_avail, UINT, 0) X(pool_data_room, UINT, 0) X(pool_owns, UINT, 0) X(cache_id, UINT, 0) \
	X(pool_sweep, UINT, 1) X(buf_alloc, PTR, 0) X(buf_release, VOID, 0) \
	X(port_count, UINT, 0) X(port_info, INT, 0) X(port_configure, INT, 1) \
	X(port_start, INT, 1) X(port_stop, INT, 1) X(port_mtu_get, INT, 1) \
	X(port_mtu_set, INT, 1) X(port_stats, INT, 0) X(port_link, INT, 0) \
	X(port_promiscuous_get, INT, 1) X(port_promiscuous_set, INT, 1) \
	X(port_allmulticast_set, INT, 1) X(port_rss_key_get, INT, 1) X(port_rss_key_set, INT, 1) \
	X(port_reta_get, INT, 1) X(port_reta_set, INT, 1) X(rx_burst, UINT, 0) \
	X(tx_burst, UINT, 0) \
	X(load, UINT, 0) X(store, VOID, 0) X(cas, UINT, 0) X(fetch_add, UINT, 0) X(fence, VOID, 0)

/* MOCK_OP_malloc, MOCK_OP_port_start, ...: MOCK_OP_ and the name of the entry in struct shim_ops. */
enum mock_op {
#define MOCK_OP_ENUM(name, kind, logged) MOCK_OP_##name,
	MOCK_OPS(MOCK_OP_ENUM)
#undef MOCK_OP_ENUM
	MOCK_OP_COUNT
};

/* The name of an entry, as in struct shim_ops. */
const char *mock_op_name(enum mock_op op);

/* ---- life ------------------------------------------------------------------------------------ */

/*
 * A primary's door with one port (number 0), clock at 1 s, seed 1. Never NULL. Free with mock_shim_free.
 * Port 0: driver "mock", mac 02:00:00:00:00:01, MTU 1500 of 68..9216, up to 16 queues, every offload of
 * types.h, RETA of 128 entries, key of 40 bytes, link up at 10000 Mb/s.
 */
struct shim *mock_shim_new(void);
/* The same port-less: add your own by mock_port_add. */
struct shim *mock_shim_new_bare(void);
/*
 * Another process's view: zones, rings, pools and ports are shared, role, identity and clock sample are
 * its own. Scripts, hooks and the log belong to the whole mock. Free before the first door, with
 * mock_shim_free too (which reports nothing for it).
 */
struct shim *mock_shim_attach(struct shim *s, enum shim_role role, uint32_t proc_id);
/*
 * Frees the door and what it holds (ports and the frames in them, pools, rings, zones). Returns how
 * many shim_malloc blocks and packet buffers were never given back, and says which on stderr. The
 * leaked memory stays allocated, so that LeakSanitizer and valgrind show where it came from.
 */
unsigned int mock_shim_free(struct shim *s);

/* shim_malloc blocks not freed, and buffers of all pools that are out (frames in ports included). */
unsigned int mock_mallocs_out(const struct shim *s);
unsigned int mock_bufs_out(const struct shim *s);
/* Zones, rings and pools that still have their name. */
unsigned int mock_names_left(const struct shim *s);

/* ---- facts ----------------------------------------------------------------------------------- */

void mock_set_role(struct shim *s, enum shim_role role);
void mock_set_clock_ns(struct shim *s, uint64_t ns); /* also moves cycles (1 GHz) */
void mock_advance_ns(struct shim *s, uint64_t ns);   /* shim_sleep_ns advances it likewise */
void mock_set_wall_ns(struct shim *s, uint64_t ns);  /* the wall clock, which then runs with the other */
void mock_seed(struct shim *s, uint64_t seed);
/* Processes that shim_proc_alive knows: adds or removes one. proc_spawn adds what it "starts". */
void mock_proc_set(struct shim *s, struct shim_proc p, bool alive);

/* ---- scripts --------------------------------------------------------------------------------- */

/*
 * The nth call of op from now (1: the next) fails, once: -err for calls that return an errno, NULL,
 * 0 or false for the others; a call without result does nothing. err is positive (ENOMEM).
 */
void mock_fail(struct shim *s, enum mock_op op, unsigned int nth, int err);
/* Every call of op fails so from now until mock_fail_all(s, op, 0). */
void mock_fail_all(struct shim *s, enum mock_op op, int err);
/* Queues an answer: the next unanswered call of op returns value (pointers too) and does nothing. */
void mock_return(struct shim *s, enum mock_op op, int64_t value);
/* Queues n times "do the real work", so that a later mock_return answers a later call. */
void mock_return_real(struct shim *s, enum mock_op op, unsigned int n);
/* Runs fn(s, op, arg) at the beginning of every call of op; NULL ends it. It may call the door. */
void mock_hook(struct shim *s, enum mock_op op, void (*fn)(struct shim *s, enum mock_op op, void *arg),
	void *arg);
/* Forgets failures, queued answers and hooks of every op. */
void mock_script_clear(struct shim *s);
/* Torture loops: the kth shim_malloc (buffer allocation) from now fails, once; 0 ends it. */
void mock_fail_malloc_at(struct shim *s, unsigned int k);
void mock_fail_buf_at(struct shim *s, unsigned int k);

/*
 * The door's own table: replace an entry by a function of the test, which may use CMocka's mock()
 * and check_expected(). mock_behaviour has the mock's own functions to fall back on.
 */
struct shim_ops *mock_ops(struct shim *s);
extern const struct shim_ops mock_behaviour;

/* ---- what was called ------------------------------------------------------------------------- */

unsigned int mock_calls(const struct shim *s, enum mock_op op); /* since new or mock_log_clear */
/*
 * The logged calls in order, as "port_stop(0) port_mtu_set(0,9000) port_start(0)". Logged are by
 * default the calls that change something and are rare; mock_log_op turns one op on or off.
 * Port calls show port and value, zones, rings and pools their name. At most 4095 characters.
 */
const char *mock_log(const struct shim *s);
void mock_log_clear(struct shim *s);
void mock_log_op(struct shim *s, enum mock_op op, bool on);
/* The text of the last shim_log call, "" before one, and how many of that level (0: any) there were. */
const char *mock_last_message(const struct shim *s);
unsigned int mock_messages(const struct shim *s, int level);

/* ---- ports ----------------------------------------------------------------------------------- */

/* Adds a port; info NULL: as port 0 with the last byte of its mac counted up. Its number. */
uint16_t mock_port_add(struct shim *s, const struct shim_port_info *info);
/* What shim_port_info reports of the port; a test may write to it. */
struct shim_port_info *mock_port(struct shim *s, uint16_t port);
struct shim_port_stats *mock_port_counters(struct shim *s, uint16_t port);
void mock_port_link_set(struct shim *s, uint16_t port, bool up);
/* true: mtu_set on a started port returns -EBUSY, as some drivers do. */
void mock_port_mtu_busy(struct shim *s, uint16_t port, bool on);
bool mock_port_allmulticast(struct shim *s, uint16_t port);

/*
 * A frame arrives: copied into a buffer (or chain) of the pool the port was configured with. 0, or
 * -ENOBUFS (counted in rx_nombuf), -ENODEV, -ENETDOWN when the port or queue does not run.
 */
int mock_inject(struct shim *s, uint16_t port, uint16_t queue, const void *frame, size_t len);
/* The same with a buffer of the caller's, which then belongs to the port. */
int mock_inject_buf(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf *m);
/* Frames waiting: injected and not yet received, sent and not yet collected. */
unsigned int mock_rx_waiting(struct shim *s, uint16_t port, uint16_t queue);
unsigned int mock_tx_waiting(struct shim *s, uint16_t port, uint16_t queue);
/* The oldest frame sent on the queue, now the caller's, or NULL. */
struct rte_mbuf *mock_collect(struct shim *s, uint16_t port, uint16_t queue);
/* The same as bytes: frees the buffer; returns the frame's length (cut to cap in buf), 0 for none. */
size_t mock_collect_bytes(struct shim *s, uint16_t port, uint16_t queue, void *buf, size_t cap);
/* The queue has room for n more frames until some are collected (partial bursts); UINT32_MAX: no end. */
void mock_tx_room(struct shim *s, uint16_t port, uint16_t queue, uint32_t n);

#endif

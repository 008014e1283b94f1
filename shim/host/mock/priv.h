/* SPDX-License-Identifier: BSD-3-Clause */
/* What the mock's files share. */
#ifndef NONIC_SHIM_HOST_MOCK_PRIV_H
#define NONIC_SHIM_HOST_MOCK_PRIV_H

#include "../buf.h"
#include "../common.h"
#include "mock.h"

#define MOCK_LOG_ROOM 4096
#define MOCK_PROCS 64

/* A zone, a ring or a pool: what has a name. */
struct mock_named {
	struct mock_named *next;
	char name[SHIM_NAME_MAX];
	size_t size;
	void *addr; /* zone memory, the rte_ring, or the struct shim_pool */
};

struct shim_pool {
	struct mock_state *owner;
	struct rte_mbuf **bufs; /* those that are out; room for size */
	unsigned int size;
	unsigned int out;
	uint16_t data_room;
};

struct mock_queue {
	struct rte_mbuf **frames; /* a FIFO that grows */
	unsigned int head, count, room;
	uint32_t tx_room; /* most frames that wait */
};

struct mock_port_state {
	struct shim_port_info info;
	struct shim_port_stats stats;
	struct shim_port_link link;
	struct shim_pool *pool;
	bool configured, promiscuous, allmulticast, mtu_busy;
	uint16_t mtu;
	uint8_t rss_key[SHIM_RSS_KEY_MAX];
	uint16_t reta[SHIM_RETA_MAX];
	struct mock_queue rx[SHIM_MAX_QUEUES], tx[SHIM_MAX_QUEUES];
};

/* One queued answer of an op. */
struct mock_answer {
	struct mock_answer *next;
	bool real; /* do the work */
	int64_t value;
};

struct mock_script {
	struct mock_answer *answers;
	unsigned int fail_in; /* the fail_in-th call from now fails; 0: none */
	int fail_err;
	int fail_all;
	void (*hook)(struct shim *s, enum mock_op op, void *arg);
	void *hook_arg;
	unsigned int calls;
	bool logged;
};

struct mock_state {
	unsigned int doors;
	uint64_t clock_ns, wall_offset, random_state;
	unsigned int mallocs;
	struct mock_named *zones, *rings, *pools;
	struct shim_proc procs[MOCK_PROCS];
	unsigned int n_procs;
	uint32_t next_pid;
	struct mock_port_state *ports[SHIM_MAX_PORTS];
	unsigned int n_ports;
	struct mock_script script[MOCK_OP_COUNT];
	char log[MOCK_LOG_ROOM];
	size_t log_len;
	char message[512];
	unsigned int messages[SHIM_LOG_DEBUG + 1];
};

struct mock_door {
	struct shim shim;
	struct shim_ops ops; /* a copy for each door, writable */
};

static inline struct mock_state *
mock_of(const struct shim *s)
{
	return s->ctx;
}

/* calloc that aborts: the mock itself never fails for want of memory. */
void *mock_xcalloc(size_t n, size_t size);

/*
 * Begins a call: counts, logs (text may be NULL), runs the hook. True: *answer is the call's result and
 * nothing is to be done.
 */
bool mock_enter(struct shim *s, enum mock_op op, const char *text, int64_t *answer);

/* Sets which ops are logged from the start. */
void mock_script_init(struct mock_state *st);

/* The table of recording functions, copied into each door. */
extern const struct shim_ops mock_recorder;

/* Port entries of mock_behaviour. */
unsigned int mock_port_count(struct shim *s);
int mock_port_info(struct shim *s, uint16_t port, struct shim_port_info *info);
int mock_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c);
int mock_port_start(struct shim *s, uint16_t port);
int mock_port_stop(struct shim *s, uint16_t port);
int mock_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu);
int mock_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu);
int mock_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st);
int mock_port_link(struct shim *s, uint16_t port, struct shim_port_link *l);
int mock_port_promiscuous_get(struct shim *s, uint16_t port);
int mock_port_promiscuous_set(struct shim *s, uint16_t port, bool on);
int mock_port_allmulticast_set(struct shim *s, uint16_t port, bool on);
int mock_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len);
int mock_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len);
int mock_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n);
int mock_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n);
uint16_t mock_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n);
uint16_t mock_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n);
/* Frees the frames in every queue of the port and the port. */
void mock_port_destroy(struct shim *s, struct mock_port_state *p);

#endif

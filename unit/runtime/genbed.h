/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two generations of one lane on a mock door: a UDP echo server in each worker, a master that is only a process which the test
 * moves the window for, and frames from 192.0.2.9.
 */
#ifndef NONIC_UNIT_RUNTIME_GENBED_H
#define NONIC_UNIT_RUNTIME_GENBED_H

#include "fixture.h"

#include "core/runtime/worker_reload.h"

#define GEN_DPDK "[dpdk]\nlcore_mask=3\nport_list=0\nprimary_slim=1\ngraceful_reload=1\nidle_sleep=10\npkt_tx_delay=0\n" \
	"drain_ring_size=64\npublish_entries=64\n"
#define GEN_TWO "[dpdk]\nlcore_mask=7\nport_list=0\nprimary_slim=1\ngraceful_reload=1\nidle_sleep=10\npkt_tx_delay=0\n" \
	"drain_ring_size=64\npublish_entries=64\n"

struct gb;

/* The application of one worker. */
struct gb_app {
	struct gb *b;
	unsigned int i;
	int fd;                  /* -1: none */
	unsigned int got;        /* datagrams */
	bool deaf;               /* leaves them in the socket */
};

struct gb {
	struct rt *rt;
	struct shim *master;
	struct gen_dir *dir;
	struct window window;    /* as last set */
	struct gb_app app[4];
	char log[16384];
	size_t log_len;
};

/* Primary and the first generation's worker(s), which own their lanes. text: GEN_DPDK and more. */
struct gb *gb_new(const char *text, unsigned int lanes);
/* The same of a bed that the test has begun: b->rt is there. */
void gb_start(struct gb *b, unsigned int lanes);
/* Worker i of the bed (0 .. 3) for a lane and generation, with its echo socket on port 7. What worker_create returned. */
int gb_worker(struct gb *b, unsigned int i, unsigned int lane, uint32_t gen);
void gb_free(struct gb *b);
/* Worker i's process dies as it stands. */
void gb_kill(struct gb *b, unsigned int i);
/* us pass; one turn of every worker that lives and has not stopped, in the order of i, and of the primary. */
void gb_turn(struct gb *b, unsigned int us);
void gb_turns(struct gb *b, unsigned int n); /* of 100 us */
/* One step of the window; active: as it is. */
void gb_step(struct gb *b, enum window_state state);
/* A window opens: a new generation number, worker 1 is its worker of lane 0. */
uint32_t gb_open(struct gb *b);
/* From there until the new worker has the lane. */
void gb_commit(struct gb *b);
/* A datagram from port sport to port 7 arrives on a queue; checksum none. */
void gb_udp(struct gb *b, unsigned int queue, uint16_t sport, const char *text);
/* Half of a datagram of 24 bytes from port sport, on a port's queue 0. */
void gb_frag(struct gb *b, uint16_t port, uint16_t sport, uint16_t id, bool first);
/* The neighbour's address is learned by whoever receives this. */
void gb_arp(struct gb *b, unsigned int queue);
/* Frames that left the port since the last call. Their UDP destination ports (0: other frames) go to port[]; at most n. */
unsigned int gb_sent(struct gb *b, unsigned int queue, uint16_t *port, unsigned int n);
bool gb_logged(const struct gb *b, const char *text);
/* Is worker i the one that polls? */
static inline bool
gb_owns(const struct gb *b, unsigned int i)
{
	return b->rt->w[i]->owner;
}

#endif

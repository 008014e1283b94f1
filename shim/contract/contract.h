/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of the door as tests (SHM-7): one suite, compiled with a binding and linked with one
 * backend's fixture, which defines contract_backend.
 */
#ifndef NONIC_SHIM_CONTRACT_H
#define NONIC_SHIM_CONTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../shim.h"

/*
 * What a backend brings. The bed is made once for the whole suite: a primary with at least one port,
 * number 0, not yet configured, able to carry frames between the suite and its far end; two queues
 * each way or more. Further ports are only configured, never fed.
 */
struct contract_backend {
	const char *name;
	/* 0; or 77 after a line on stderr that says why it can not run here. *bed is the fixture's. */
	int (*open)(void **bed);
	struct shim *(*primary)(void *bed);
	/* Another process's (or thread's) door of the bed, in this process; ended by door_close. */
	struct shim *(*door)(void *bed, enum shim_role role, uint32_t proc_id);
	void (*door_close)(void *bed, struct shim *s);
	/* The door's process was killed, and with it the door: nothing is given back. */
	void (*door_dies)(void *bed, struct shim *s);
	/* Calls through s follow, in a process that has one thread for all doors; NULL: nothing to do. */
	void (*as)(void *bed, struct shim *s);
	/* Called when port 0 has been started; may be NULL. */
	void (*port_ready)(void *bed);
	/* A frame comes in on port 0 and has arrived when inject returns. 0 or -errno. */
	int (*inject)(void *bed, uint16_t queue, const void *frame, size_t len);
	/* The oldest frame sent on port 0 as bytes, its length, or 0. Its buffer has gone home. */
	size_t (*collect)(void *bed, uint16_t queue, void *buf, size_t cap);
	/* How many uncollected frames a transmit queue of port 0 holds; over 0, at most 1023. */
	unsigned int tx_room;
	/* argv[0] of something that can be started, and of something that is not there (NULL: skip). */
	const char *program, *missing_program;
	/* argv of something that runs on until it is killed. */
	const char *const *sleeper;
	void (*close)(void *bed);
};

extern const struct contract_backend contract_backend;

/* ---- what the suite's files share ---- */

struct contract {
	void *bed;
	struct shim *s;            /* the primary's door */
	struct shim_pool *pool;    /* port buffers: CONTRACT_BUFS of CONTRACT_ROOM */
	bool port_up;
	unsigned int avail_before; /* of pool, when the test began */
};

#define CONTRACT_BUFS 2048u
#define CONTRACT_ROOM 2176u
#define CONTRACT_QUEUES 2u

extern struct contract contract;

/* Configures and starts port 0 with two queues each way unless it already runs. */
void contract_port_up(void);
void contract_port_down(void);
/* contract_backend.as, if there is one. */
void contract_as(struct shim *s);
/* Every test: notes the pool's balance before, and checks it after. */
int contract_setup(void **state);
int contract_teardown(void **state);

#define CONTRACT_TEST(f) cmocka_unit_test_setup_teardown(f, contract_setup, contract_teardown)

/* The files' tests, run in this order. Each returns the number of failures. */
int contract_run_base(void);
int contract_run_bufs(void);
int contract_run_deaths(void);
int contract_run_ports(void);
int contract_run_rings(void);

#endif

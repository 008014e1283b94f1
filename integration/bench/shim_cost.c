/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the door costs over calling DPDK itself (SHM-3): pairs of functions cost_shim_X and
 * cost_direct_X that do the same, one through shim.h, one by rte_*. shim.py counts their
 * instructions under callgrind.
 */
#include <rte_eth_ring.h>
#include <stdio.h>

#include "shim/dpdk/eal.h"
#include "shim/shim.h"

#define BURST 32
#define RING_SIZE 1024
#define ROUNDS 64 /* a multiple of RING_SIZE / BURST: each half begins at the same slot of each ring */

#if defined(__GNUC__) && !defined(__clang__)
#define COUNTED static __attribute__((noipa)) /* and is not folded with its like */
#else
#define COUNTED static __attribute__((noinline))
#endif

struct cost {
	struct shim *s;
	struct rte_ring *ring;
	struct shim_pool *pool;
	struct rte_mempool *mempool;
	uint16_t port;
	uint32_t word;
	struct rte_mbuf *m[BURST];
};

/* A pair of functions over the same operands. */
#define PAIR(name, shim_call, direct_call) \
	COUNTED unsigned int \
	cost_shim_##name(struct cost *c) \
	{ \
		return (unsigned int)(shim_call); \
	} \
	COUNTED unsigned int \
	cost_direct_##name(struct cost *c) \
	{ \
		return (unsigned int)(direct_call); \
	}

PAIR(tx_burst, shim_tx_burst(c->s, c->port, 0, c->m, BURST),
	rte_eth_tx_burst(c->port, 0, c->m, BURST))
PAIR(rx_burst, shim_rx_burst(c->s, c->port, 0, c->m, BURST),
	rte_eth_rx_burst(c->port, 0, c->m, BURST))
PAIR(ring_enqueue, shim_ring_enqueue_burst(c->s, c->ring, (void **)c->m, BURST),
	rte_ring_enqueue_burst(c->ring, (void **)c->m, BURST, NULL))
PAIR(ring_dequeue, shim_ring_dequeue_burst(c->s, c->ring, (void **)c->m, BURST),
	rte_ring_dequeue_burst(c->ring, (void **)c->m, BURST, NULL))
PAIR(buf_alloc, (c->m[0] = shim_buf_alloc(c->s, c->pool)) != NULL,
	(c->m[0] = rte_pktmbuf_alloc(c->mempool)) != NULL)
PAIR(buf_free, (shim_buf_free(c->s, c->m[0]), 1), (rte_pktmbuf_free(c->m[0]), 1))
PAIR(load_acquire, shim_load32(c->s, &c->word, SHIM_ACQUIRE),
	__atomic_load_n(&c->word, __ATOMIC_ACQUIRE))
PAIR(fetch_add, shim_fetch_add32(c->s, &c->word, 1, SHIM_ACQ_REL),
	__atomic_fetch_add(&c->word, 1, __ATOMIC_ACQ_REL))

/* One way of doing everything, with the buffers where they were at its end. */
#define HALF(way) \
	COUNTED unsigned int \
	half_##way(struct cost *c) \
	{ \
		unsigned int i, done = 0; \
	\
		for (i = 0; i < ROUNDS; i++) { \
			done += cost_##way##_tx_burst(c); \
			done += cost_##way##_rx_burst(c); \
			done += cost_##way##_ring_enqueue(c); \
			done += cost_##way##_ring_dequeue(c); \
		} \
		shim_buf_free_bulk(c->s, c->m, BURST); \
		for (i = 0; i < ROUNDS; i++) { \
			done += cost_##way##_buf_alloc(c); \
			done += cost_##way##_buf_free(c); \
			cost_##way##_load_acquire(c); \
			cost_##way##_fetch_add(c); \
		} \
		return done; \
	}

HALF(shim)
HALF(direct)

static int
set_up(struct cost *c)
{
	struct shim_port_conf conf = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	struct rte_ring *wire;
	int port;

	if (shim_ring_create(c->s, "ring", RING_SIZE, SHIM_RING_SP_SC, &c->ring) != 0 ||
	    shim_ring_create(c->s, "wire", RING_SIZE, SHIM_RING_SP_SC, &wire) != 0 ||
	    shim_pool_create(c->s, "pool", 1024, 2176, &c->pool) != 0)
		return -1;
	c->mempool = shim_dpdk_mempool(c->pool);
	port = rte_eth_from_rings("cost", &wire, 1, &wire, 1, 0);
	if (port < 0)
		return -1;
	c->port = (uint16_t)port;
	conf.pool = c->pool;
	if (shim_port_configure(c->s, c->port, &conf) != 0)
		return -1;
	return shim_port_start(c->s, c->port);
}

/* Both halves; each begins with the same buffers, caches and ring positions. */
static int
run(struct cost *c)
{
	const unsigned int want = ROUNDS * (4 * BURST + 2);
	unsigned int a, b, i;

	for (i = 0; i < 2; i++) { /* the first round of all warms the cache of the pool */
		if (shim_buf_alloc_bulk(c->s, c->pool, c->m, BURST) != 0)
			return -1;
		if (i == 0)
			shim_buf_free_bulk(c->s, c->m, BURST);
	}
	a = half_shim(c);
	if (shim_buf_alloc_bulk(c->s, c->pool, c->m, BURST) != 0)
		return -1;
	b = half_direct(c);
	return a == want && b == want ? 0 : -1;
}

int
main(int argc, char **argv)
{
	char *args[] = { argv[0], (char *)(uintptr_t)"--no-huge", (char *)(uintptr_t)"--no-shconf",
		(char *)(uintptr_t)"--no-pci", (char *)(uintptr_t)"-m", (char *)(uintptr_t)"32",
		(char *)(uintptr_t)"--lcores=0", (char *)(uintptr_t)"--no-telemetry",
		(char *)(uintptr_t)"--log-level=*:error", NULL };
	struct cost c = { 0 };
	int rc;

	(void)argc;
	rc = shim_dpdk_open(9, args, SHIM_ROLE_PRIMARY, 0, &c.s);
	if (rc != 0) {
		fprintf(stderr, "shim_cost: the EAL does not start here: %d\n", rc);
		return 77;
	}
	rc = set_up(&c);
	if (rc == 0)
		rc = run(&c);
	shim_dpdk_close(c.s);
	if (rc != 0)
		fprintf(stderr, "shim_cost: a call did not do its work\n");
	return rc == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of virtual ports, a program of its own EAL (no code of core/):
 *   peer forward EAL-ARGS   carries frames between its ports 0 and 1 until SIGTERM (net_vhost and a veth, say)
 *   peer inject RING POOL FILE EAL-ARGS   as a secondary: puts each line's frame (hex) of FILE into the ring, in
 *                                         buffers of the pool
 *   peer hold POOL LEFT EAL-ARGS   as a secondary: takes buffers until LEFT are free, gives them back at SIGTERM
 *   peer poke ZONE OFFSET VALUE EAL-ARGS   as a secondary: writes 32 bits into a zone and prints what was there
 */
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>
#include <rte_ring.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/dpdk/eal.h"
#include "shim/shim.h"

#define BURST 32
#define DATA_ROOM 9728
#define JUMBO 9000
#define TELL_TURNS 4096
#define PATIENCE 1000 /* looks at a full queue, 50 us apart: a busy machine stalls its reader, and this wire shall lose nothing for that */

static volatile sig_atomic_t stopped;
static uint64_t full[2]; /* frames that a port's other side did not take */

static void
on_term(int sig)
{
	(void)sig;
	stopped = 1;
}

static int
fail(const char *what)
{
	fprintf(stderr, "peer: %s\n", what);
	return 1;
}

static int
port_start(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { .rxmode = { .mtu = JUMBO } };

	/* a driver that knows no MTU is taken as it comes */
	if (rte_eth_dev_configure(port, 1, 1, &conf) != 0) {
		conf.rxmode.mtu = 0;
		if (rte_eth_dev_configure(port, 1, 1, &conf) != 0)
			return -1;
	}
	if (rte_eth_rx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL) != 0)
		return -1;
	return rte_eth_dev_start(port);
}

/* Says what this wire has lost so far, when that has changed: what the ports could not take in, and what they could not give out. */
static void
tell_lost(void)
{
	static uint64_t told;
	struct rte_eth_stats st[2] = { 0 };
	uint64_t sum;

	for (uint16_t port = 0; port < 2; port++)
		rte_eth_stats_get(port, &st[port]);
	sum = st[0].imissed + st[1].imissed + full[0] + full[1];
	if (sum == told)
		return;
	told = sum;
	printf("peer lost: port 0 in %" PRIu64 " out %" PRIu64 ", port 1 in %" PRIu64 " out %" PRIu64 "\n", st[0].imissed, full[0],
		st[1].imissed, full[1]);
	fflush(stdout);
}

/* Sends all of it, unless the other side's queue stays full. */
static void
carry(uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	uint16_t took = rte_eth_tx_burst(port, 0, m, n);

	for (unsigned int i = 0; took < n && i < PATIENCE && !stopped; i++) {
		usleep(50);
		took += rte_eth_tx_burst(port, 0, m + took, n - took);
	}
	full[port] += n - took;
	rte_pktmbuf_free_bulk(m + took, n - took);
}

static int
forward(int argc, char **argv)
{
	struct rte_mbuf *m[BURST];
	struct rte_mempool *pool;
	unsigned int turns = 0;

	if (rte_eal_init(argc, argv) < 0)
		return fail("no EAL");
	pool = rte_pktmbuf_pool_create("peer", 4095, 64, 0, DATA_ROOM, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_count_avail() != 2)
		return fail("no pool, or not two ports");
	if (port_start(0, pool) != 0 || port_start(1, pool) != 0)
		return fail("a port did not start");
	signal(SIGTERM, on_term);
	printf("peer ready\n");
	fflush(stdout);
	while (!stopped) {
		unsigned int did = 0;

		if (turns++ % TELL_TURNS == 0)
			tell_lost();
		for (uint16_t port = 0; port < 2; port++) {
			uint16_t n = rte_eth_rx_burst(port, 0, m, BURST);

			did += n;
			if (n > 0)
				carry(port ^ 1, m, n);
		}
		if (did == 0)
			usleep(20);
	}
	tell_lost();
	rte_eth_dev_stop(0);
	rte_eth_dev_stop(1);
	rte_eal_cleanup();
	return 0;
}

static int
inject(const char *ring_name, const char *pool_name, const char *file, int argc, char **argv)
{
	struct shim_pool *pool;
	struct rte_ring *ring;
	struct shim *s;
	char line[8192];
	FILE *f = fopen(file, "r");
	unsigned int n = 0;

	if (f == NULL || shim_dpdk_open(argc, argv, SHIM_ROLE_OBSERVER, 0, &s) != 0)
		return fail("no file, or no EAL");
	RTE_PER_LCORE(_lcore_id) = LCORE_ID_ANY; /* no cache, which would take more than it gives and keep it */
	if (shim_ring_lookup(s, ring_name, &ring) != 0 || shim_pool_lookup(s, pool_name, &pool) != 0)
		return fail("no such ring or pool");
	while (fgets(line, sizeof(line), f) != NULL) {
		struct rte_mbuf *m = shim_buf_alloc(s, pool);
		size_t len = strcspn(line, "\n") / 2;
		uint8_t *d = m == NULL ? NULL : (uint8_t *)rte_pktmbuf_append(m, len);

		if (d == NULL)
			return fail("no buffer");
		for (size_t i = 0; i < len; i++)
			sscanf(line + 2 * i, "%2hhx", d + i);
		while (rte_ring_enqueue(ring, m) != 0)
			usleep(100);
		n++;
	}
	printf("injected %u\n", n);
	fclose(f);
	shim_dpdk_close(s);
	return 0;
}

static int
hold(const char *pool_name, unsigned int left, int argc, char **argv)
{
	struct shim_pool *pool;
	struct rte_mbuf **m;
	unsigned int n = 0;
	struct shim *s;

	if (shim_dpdk_open(argc, argv, SHIM_ROLE_OBSERVER, 0, &s) != 0)
		return fail("no EAL");
	RTE_PER_LCORE(_lcore_id) = LCORE_ID_ANY; /* no cache, as above */
	m = shim_pool_lookup(s, pool_name, &pool) != 0 ? NULL : calloc(shim_pool_size(s, pool), sizeof(*m));
	if (m == NULL)
		return fail("no such pool, or no memory");
	while (shim_pool_avail(s, pool) > left && (m[n] = shim_buf_alloc(s, pool)) != NULL)
		n++;
	signal(SIGTERM, on_term);
	printf("holding %u\n", n);
	fflush(stdout);
	while (!stopped)
		usleep(1000);
	shim_buf_free_bulk(s, m, n);
	free(m);
	shim_dpdk_close(s);
	return 0;
}

static int
poke(const char *zone, unsigned long offset, unsigned long value, int argc, char **argv)
{
	const struct rte_memzone *mz;
	uint32_t *word;

	if (rte_eal_init(argc, argv) < 0)
		return fail("no EAL");
	mz = rte_memzone_lookup(zone);
	if (mz == NULL || offset % 4 != 0 || offset + 4 > mz->len)
		return fail("no such zone, or not inside it");
	word = (uint32_t *)((char *)mz->addr + offset);
	printf("was %u\n", __atomic_exchange_n(word, (uint32_t)value, __ATOMIC_SEQ_CST));
	rte_eal_cleanup();
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "forward") == 0)
		return forward(argc - 1, argv + 1);
	if (argc > 5 && strcmp(argv[1], "inject") == 0)
		return inject(argv[2], argv[3], argv[4], argc - 4, argv + 4);
	if (argc > 4 && strcmp(argv[1], "hold") == 0)
		return hold(argv[2], strtoul(argv[3], NULL, 0), argc - 3, argv + 3);
	if (argc > 5 && strcmp(argv[1], "poke") == 0)
		return poke(argv[2], strtoul(argv[3], NULL, 0), strtoul(argv[4], NULL, 0), argc - 4, argv + 4);
	return fail("usage: peer forward EAL-ARGS | inject RING POOL FILE EAL-ARGS | hold POOL LEFT EAL-ARGS | "
		"poke ZONE OFFSET VALUE EAL-ARGS");
}

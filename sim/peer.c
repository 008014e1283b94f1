/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer host; see peer.h. */
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../shim/shim.h"

#define BURST 32
#define IDLE_NS 1000000000ull

static unsigned int
peer_tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	return shim_tx_burst(((struct peer *)ctx)->shim, 0, 0, m, (uint16_t)n);
}

static int
port_up(struct peer *p)
{
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = p->conf.mtu,
		.rx_offloads = p->conf.port.rx_offloads, .tx_offloads = p->conf.port.tx_offloads };
	int rc = shim_pool_create(p->shim, "peer", p->conf.nb_bufs, p->conf.data_room, &p->pool);

	if (rc == -EEXIST) /* from a former life */
		rc = shim_pool_lookup(p->shim, "peer", &p->pool);
	c.pool = p->pool;
	if (rc == 0)
		rc = shim_port_stop(p->shim, 0);
	if (rc == 0)
		rc = shim_port_configure(p->shim, 0, &c);
	if (rc == 0)
		rc = shim_port_allmulticast_set(p->shim, 0, true);
	return rc != 0 ? rc : shim_port_start(p->shim, 0);
}

static int
stack_up(struct peer *p)
{
	static const uint8_t none[16];
	struct stack_config sc = { .shim = p->shim, .pool = p->pool, .max_sockets = p->conf.max_sockets };
	struct netif_config nc = { .name = "f-stack-0", .mtu = p->conf.mtu, .tx = peer_tx, .tx_ctx = p,
		.tx_offloads = p->conf.port.tx_offloads, .dad_transmits = 1 };
	union ip_addr a6 = ip_addr_v6(p->conf.addr6);
	int rc = shim_entropy(p->shim, &sc.secrets, sizeof(sc.secrets));

	shim_clock_sample(p->shim);
	if (rc == 0)
		rc = stack_create(&sc, &p->stack);
	if (rc != 0)
		return rc;
	stack_poll(p->stack, shim_now_ns(p->shim));
	memcpy(nc.mac, p->port->conf.mac, 6);
	rc = stack_if_add(p->stack, &nc, &p->nif);
	if (rc == 0 && p->conf.addr4_be != 0)
		rc = stack_addr4_add(p->stack, p->nif, p->conf.addr4_be, 24, 0);
	if (rc == 0 && memcmp(p->conf.addr6, none, 16) != 0)
		rc = stack_addr6_add(p->stack, p->nif, &a6, 64);
	return rc;
}

/* Both views of the MTU, the port's first. */
static void
mtu_change(struct peer *p)
{
	struct sim_world *w = sim_proc_world(p->proc);
	int rc = shim_port_mtu_set(p->shim, 0, p->want_mtu);

	if (rc == -EBUSY) {
		rc = shim_port_stop(p->shim, 0);
		if (rc == 0)
			rc = shim_port_mtu_set(p->shim, 0, p->want_mtu);
		if (rc == 0)
			rc = shim_port_start(p->shim, 0);
	}
	if (rc == 0)
		rc = stack_if_mtu_set(p->stack, p->nif, p->want_mtu);
	sim_check(w, rc == 0, "%s: MTU %u: error %d", p->conf.name, p->want_mtu, -rc);
	p->want_mtu = 0;
}

/* Returns whether more may wait. */
static bool
turn(struct peer *p)
{
	struct rte_mbuf *m[BURST];
	uint16_t n;

	stack_poll(p->stack, shim_clock_sample(p->shim));
	if (p->want_mtu != 0)
		mtu_change(p);
	n = shim_rx_burst(p->shim, 0, 0, m, BURST);
	stack_input(p->stack, p->nif, m, n);
	p->wake_ns = UINT64_MAX;
	if (p->conf.turn != NULL)
		p->conf.turn(p, shim_now_ns(p->shim), p->conf.arg);
	stack_flush(p->stack);
	return n == BURST;
}

static void
peer_main(struct sim_proc *proc, void *arg)
{
	struct peer *p = arg;
	int rc;

	p->shim = sim_proc_shim(proc);
	p->stack = NULL;
	rc = port_up(p);
	if (rc == 0)
		rc = stack_up(p);
	if (rc == 0 && p->conf.init != NULL)
		rc = p->conf.init(p, p->conf.arg);
	sim_check(sim_proc_world(proc), rc == 0, "%s did not come up: error %d", p->conf.name, -rc);
	while (rc == 0 && !sim_stopping(proc)) {
		uint64_t at, now;

		if (turn(p)) {
			sim_yield(proc);
			continue;
		}
		now = shim_now_ns(p->shim);
		at = stack_next_deadline(p->stack);
		if (p->wake_ns < at)
			at = p->wake_ns;
		sim_wait(proc, at <= now ? 0 : at - now < IDLE_NS ? at - now : IDLE_NS);
	}
	for (unsigned int i = 0; p->stack != NULL && i < STACK_DROP_COUNT; i++)
		if (stack_drops(p->stack, i) > 0)
			shim_log(p->shim, SHIM_LOG_DEBUG, "dropped %llu: %s", (unsigned long long)stack_drops(p->stack, i),
				stack_drop_text(i));
	stack_destroy(p->stack);
	p->stack = NULL;
	shim_port_stop(p->shim, 0);
}

int
peer_add(struct sim_world *w, struct peer *p, const struct peer_conf *conf)
{
	struct sim_proc_conf pc = { .name = conf->name, .role = SHIM_ROLE_PRIMARY, .main = peer_main, .arg = p,
		.skew_ns = conf->skew_ns, .drift_ppm = conf->drift_ppm };

	memset(p, 0, sizeof(*p));
	p->conf = *conf;
	if (p->conf.mtu == 0)
		p->conf.mtu = 1500;
	if (p->conf.data_room == 0)
		p->conf.data_room = p->conf.mtu > 1500 ? 9216 + SHIM_HEADROOM : 2176;
	if (p->conf.max_sockets == 0)
		p->conf.max_sockets = 64;
	if (p->conf.nb_bufs == 0)
		p->conf.nb_bufs = 2048;
	/* datagrams over a buffer are chains, as on every card */
	p->conf.port.tx_offloads |= SHIM_TX_MULTI_SEGS;
	p->host = sim_host_add(w, conf->name);
	if (p->host == NULL)
		return -ENOMEM;
	p->port = sim_host_port(p->host, &p->conf.port);
	if (p->port == NULL)
		return -ENOMEM;
	p->proc = sim_proc_start(p->host, &pc);
	return p->proc != NULL ? 0 : -ENOMEM;
}

struct sim_end *
peer_end(struct peer *p)
{
	return sim_port_end(p->host, p->port);
}

int
peer_server_init(struct peer *p, void *arg)
{
	return udp_server_init(arg, p->stack);
}

void
peer_server_turn(struct peer *p, uint64_t now_ns, void *arg)
{
	(void)now_ns;
	udp_server_turn(arg, p->stack);
}

int
peer_client_init(struct peer *p, void *arg)
{
	return udp_client_init(arg, p->stack);
}

void
peer_client_turn(struct peer *p, uint64_t now_ns, void *arg)
{
	struct udp_client *c = arg;

	udp_client_turn(c, p->stack, now_ns);
	p->wake_ns = c->wake_ns;
}

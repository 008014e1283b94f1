/* SPDX-License-Identifier: BSD-3-Clause */
/* One bare stack for scripts; see net.h. */
#include "net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/stack/link/neigh.h"
#include "../../shim/shim.h"

#define ETH_LEN 14
#define SETTLE_NS 3000000000ull /* group reports are repeated within seconds */
#define NB_BUFS 16384
#define SAME_MAX 10000 /* timers at one instant */

static const uint8_t our_mac[6] = { 2, 0, 0, 0, 0, 1 }, their_mac[6] = { 2, 0, 0, 0, 0, 2 };

static void
broken(struct pd_net *n, const char *text)
{
	if (n->why[0] == '\0')
		snprintf(n->why, sizeof(n->why), "%s", text);
}

static uint64_t
world_now(void *ctx)
{
	return ((struct pd_net *)ctx)->world_ns;
}

static void
world_fail(void *ctx, const struct sim_door *d, const char *text)
{
	(void)d;
	broken(ctx, text);
}

/* Neighbour discovery, router discovery, group management: nothing that scripts talk of. */
static bool
of_interest(const uint8_t *eth, uint32_t len)
{
	const uint8_t *ip = eth + ETH_LEN;
	uint32_t n = len - ETH_LEN;

	if (len < ETH_LEN)
		return false;
	if (eth[12] == 0x08 && eth[13] == 0x00)
		return n >= 20 && ip[9] != 2; /* IGMP */
	if (eth[12] != 0x86 || eth[13] != 0xdd || n < 41)
		return false;
	return ip[6] == 6 || ip[6] == 17 || ip[6] == 44 || (ip[6] == 58 && ip[40] < 130);
}

static void
collect(struct pd_net *n, struct rte_mbuf *m)
{
	uint32_t len = shim_buf_len(m);
	uint8_t first[ETH_LEN + 41];
	const uint8_t *b;
	struct pd_sent *s;

	b = shim_buf_read(m, 0, len < sizeof(first) ? len : (uint32_t)sizeof(first), first);
	if (b == NULL || !of_interest(b, len))
		return;
	s = n->queued < PD_QUEUE_MAX ? malloc(sizeof(*s) + len) : NULL;
	if (s == NULL) {
		broken(n, "more packets sent than there is room for");
		return;
	}
	s->next = NULL;
	s->at_ns = pd_net_now(n);
	s->len = len - ETH_LEN;
	b = shim_buf_read(m, ETH_LEN, s->len, s->ip);
	if (b != s->ip)
		memcpy(s->ip, b, s->len);
	*n->tail = s;
	n->tail = &s->next;
	n->queued++;
	n->taken++;
}

static unsigned int
transmit(void *ctx, struct rte_mbuf **m, unsigned int count)
{
	struct pd_net *n = ctx;

	for (unsigned int i = 0; i < count; i++)
		collect(n, m[i]);
	shim_buf_free_bulk(n->shim, m, count);
	return count;
}

static int
fail(struct pd_net *n, const char *what, int rc)
{
	snprintf(n->why, sizeof(n->why), "%s: %s", what, strerror(-rc));
	return rc;
}

/* The local address, the way to everything, and who stands there. */
static int
addresses(struct pd_net *n)
{
	static const union ip_addr any;
	const struct pd_net_conf *c = &n->conf;
	int rc;

	if (c->family == ADDR_INET)
		rc = stack_addr4_add(n->stack, n->nif, c->local.v4, c->prefix, 0);
	else
		rc = stack_addr6_add(n->stack, n->nif, &c->local, c->prefix);
	if (rc == 0)
		rc = stack_route_add(n->stack, c->family, &any, 0, &c->gateway, n->nif);
	if (rc == 0)
		rc = neigh_set_permanent(n->stack, n->nif, c->family, &c->gateway, their_mac);
	if (rc == 0) /* a remote in the local network */
		rc = neigh_set_permanent(n->stack, n->nif, c->family, &c->remote, their_mac);
	return rc;
}

int
pd_net_open(struct pd_net *n, const struct pd_net_conf *c)
{
	struct sim_door_conf dc = { .role = SHIM_ROLE_PRIMARY, .id = 1, .pid = 1, .seed = c->seed };
	struct netif_config nc = { .name = "f-stack-0", .mtu = c->mtu, .tx = transmit, .tx_ctx = n,
		.tx_offloads = SHIM_TX_MULTI_SEGS };
	struct stack_config sc = { .max_sockets = 1024, .fd_reserve = 3 };
	int rc;

	memset(n, 0, sizeof(*n));
	n->conf = *c;
	n->tail = &n->head;
	n->env = (struct sim_env){ .ctx = n, .now_ns = world_now, .fail = world_fail };
	n->machine = sim_machine_create(&n->env, 1, "script");
	n->door = n->machine != NULL ? sim_door_open(n->machine, &dc) : NULL;
	if (n->door == NULL)
		return fail(n, "machine", -ENOMEM);
	n->shim = &n->door->shim;
	shim_clock_sample(n->shim);
	rc = shim_pool_create(n->shim, "script", NB_BUFS, c->mtu > 1700 ? 9216 + SHIM_HEADROOM : 2176, &n->pool);
	if (rc != 0)
		return fail(n, "pool", rc);
	sc.shim = n->shim;
	sc.pool = n->pool;
	rc = shim_entropy(n->shim, &sc.secrets, sizeof(sc.secrets));
	if (rc == 0)
		rc = stack_create(&sc, &n->stack);
	if (rc != 0)
		return fail(n, "stack", rc);
	memcpy(nc.mac, our_mac, 6);
	rc = stack_if_add(n->stack, &nc, &n->nif);
	if (rc != 0)
		return fail(n, "interface", rc);
	rc = addresses(n);
	if (rc != 0)
		return fail(n, "address", rc);
	n->begin_ns = SETTLE_NS;
	while (n->world_ns < SETTLE_NS)
		pd_net_step(n, 0);
	return 0;
}

bool
pd_net_close(struct pd_net *n)
{
	char why[128];

	for (struct pd_sent *s; (s = pd_net_pop(n)) != NULL;)
		free(s);
	if (n->stack != NULL)
		stack_destroy(n->stack);
	for (struct pd_sent *s; (s = pd_net_pop(n)) != NULL;)
		free(s);
	if (n->pool != NULL) {
		if (sim_machine_home(n->machine, why, sizeof(why)) != 0)
			broken(n, why);
		shim_pool_free(n->shim, n->pool);
	}
	if (n->door != NULL)
		sim_door_close(n->door, false);
	if (n->machine != NULL)
		sim_machine_destroy(n->machine);
	n->stack = NULL;
	n->pool = NULL;
	n->door = NULL;
	n->machine = NULL;
	return n->why[0] == '\0';
}

uint64_t
pd_net_now(const struct pd_net *n)
{
	return n->world_ns - n->begin_ns;
}

/* One frame as a chain of buffers. NULL: no buffers. */
static struct rte_mbuf *
frame(struct pd_net *n, const uint8_t *ip, uint32_t len)
{
	uint8_t eth[ETH_LEN];
	struct rte_mbuf *head = shim_buf_alloc(n->shim, n->pool), *m = head;

	if (head == NULL)
		return NULL;
	memcpy(eth, our_mac, 6);
	memcpy(eth + 6, their_mac, 6);
	eth[12] = n->conf.family == ADDR_INET ? 0x08 : 0x86;
	eth[13] = n->conf.family == ADDR_INET ? 0x00 : 0xdd;
	memcpy(shim_buf_append(head, ETH_LEN), eth, ETH_LEN);
	while (len > 0) {
		uint32_t part = shim_buf_tailroom(m);

		if (part > len)
			part = len;
		memcpy(shim_buf_append(m, (uint16_t)part), ip, part);
		ip += part;
		len -= part;
		if (m != head && shim_buf_chain(head, m) != 0) {
			shim_buf_free(n->shim, m);
			break;
		}
		m = len > 0 ? shim_buf_alloc(n->shim, n->pool) : NULL;
		if (m == NULL)
			break;
	}
	if (len == 0)
		return head;
	shim_buf_free(n->shim, head);
	return NULL;
}

void
pd_net_inject(struct pd_net *n, const uint8_t *ip, uint32_t len)
{
	struct rte_mbuf *m = frame(n, ip, len);

	if (m == NULL) {
		broken(n, "no buffer for an inbound packet");
		return;
	}
	stack_input(n->stack, n->nif, &m, 1);
	pd_net_flush(n);
}

void
pd_net_flush(struct pd_net *n)
{
	stack_poll(n->stack, shim_clock_sample(n->shim));
	stack_flush(n->stack);
}

void
pd_net_step(struct pd_net *n, uint64_t until_ns)
{
	uint64_t until = until_ns + n->begin_ns, at = stack_next_deadline(n->stack);

	at = at <= SIM_CLOCK_BASE_NS + n->world_ns ? n->world_ns : at == UINT64_MAX ? until : at - SIM_CLOCK_BASE_NS;
	if (at > until)
		at = until;
	if (at > n->world_ns)
		n->world_ns = at;
	for (unsigned int i = 0; i < SAME_MAX; i++) {
		pd_net_flush(n);
		if (stack_next_deadline(n->stack) > SIM_CLOCK_BASE_NS + n->world_ns)
			return;
	}
	broken(n, "a timer that is due does not go away");
}

struct pd_sent *
pd_net_pop(struct pd_net *n)
{
	struct pd_sent *s = n->head;

	if (s == NULL)
		return NULL;
	n->head = s->next;
	if (n->head == NULL)
		n->tail = &n->head;
	n->queued--;
	return s;
}

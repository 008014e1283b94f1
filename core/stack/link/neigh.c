/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbour cache: RFC 4861 7.3's state machine for both families. */
#include "neigh.h"

#include <errno.h>

#include "../priv.h"

#define MS 1000000ull

static unsigned int
bucket_of(const struct stack *s, const struct netif *nif, int family, const union ip_addr *addr)
{
	const struct siphash_key key = { s->cfg.secrets.table[0], s->cfg.secrets.table[1] };
	uint64_t data[3] = { addr->q[0], addr->q[1], (uint64_t)nif->index << 8 | (uint8_t)family };

	return siphash13(&key, data, sizeof(data)) % NEIGH_BUCKETS;
}

/* Moves n to the end of the list that its state belongs to. */
static void
set_state(struct stack *s, struct neigh *n, enum neigh_state state)
{
	struct list *to = &s->neigh.busy;

	if (state == NEIGH_FREE)
		to = &s->neigh.free;
	else if (state == NEIGH_STALE)
		to = &s->neigh.stale;
	else if (state == NEIGH_INCOMPLETE)
		to = &s->neigh.waiting;
	n->state = state;
	list_del(&n->age);
	list_add_tail(to, &n->age);
}

static uint64_t
retrans_ns(const struct neigh *n)
{
	if (n->family == ADDR_INET || n->nif->retrans_ms == 0)
		return NEIGH_RETRANS_NS;
	return n->nif->retrans_ms * MS;
}

static uint64_t
reachable_ns(const struct neigh *n)
{
	return n->nif->reachable_ms * MS;
}

static void
solicit(struct stack *s, struct neigh *n, bool unicast)
{
	n->probes++;
	timer_set(&s->wheel, &n->timer, s->now_ns + retrans_ns(n));
	if (n->family == ADDR_INET)
		arp_solicit(s, n, unicast);
	else
		nd_solicit(s, n, unicast);
}

static void
free_entry(struct stack *s, struct neigh *n, enum stack_drop why)
{
	for (unsigned int i = 0; i < n->queued; i++)
		stack_drop(s, n->nif, why, n->queue[i]);
	n->queued = 0;
	timer_cancel(&s->wheel, &n->timer);
	list_del(&n->bucket);
	n->gen++;
	s->neigh.count--;
	set_state(s, n, NEIGH_FREE);
}

/*
 * RFC 4861 7.3.3: forget the neighbour, so that the next packet looks for a next hop anew, and tell the senders
 * of those that waited. The entry is gone before they are told: telling them may look it up again.
 */
static void
unreachable(struct stack *s, struct neigh *n)
{
	struct rte_mbuf *queue[NEIGH_QUEUE];
	unsigned int queued = n->queued;
	struct netif *nif = n->nif;
	union ip_addr addr = n->addr;
	int family = n->family;

	memcpy(queue, n->queue, queued * sizeof(queue[0]));
	n->queued = 0;
	free_entry(s, n, STACK_DROP_NEIGH_UNREACHABLE);
	route_gateway_failed(s, nif, family, &addr);
	for (unsigned int i = 0; i < queued; i++) {
		if (family == ADDR_INET)
			ip4_unreachable_neigh(s, nif, queue[i]);
		else
			ip6_unreachable_neigh(s, nif, queue[i]);
	}
}

static void
on_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct neigh *n = arg;
	struct stack *s = n->nif->stack;

	(void)t;
	switch (n->state) {
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
		if (n->probes >= NEIGH_MAX_PROBES)
			unreachable(s, n);
		else
			solicit(s, n, n->state == NEIGH_PROBE);
		break;
	case NEIGH_REACHABLE:
		/* A confirmation only writes down when it came; the timer moves here. */
		if (n->confirmed_ns + reachable_ns(n) > now_ns)
			timer_set(&s->wheel, &n->timer, n->confirmed_ns + reachable_ns(n));
		else
			set_state(s, n, NEIGH_STALE);
		break;
	default: /* NEIGH_DELAY: nobody confirmed it in time */
		set_state(s, n, NEIGH_PROBE);
		n->probes = 0;
		solicit(s, n, true);
		break;
	}
}

int
neigh_table_init(struct stack *s)
{
	struct neigh_table *t = &s->neigh;

	t->size = s->cfg.max_neighbours != 0 && s->cfg.max_neighbours < NEIGH_MAX ? s->cfg.max_neighbours : NEIGH_MAX;
	t->touched = 0;
	t->entries = shim_malloc(s->shim, t->size * sizeof(*t->entries));
	if (t->entries == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < NEIGH_BUCKETS; i++)
		list_init(&t->bucket[i]);
	list_init(&t->free);
	list_init(&t->stale);
	list_init(&t->waiting);
	list_init(&t->busy);
	return 0;
}

void
neigh_table_release(struct stack *s)
{
	struct neigh_table *t = &s->neigh;

	if (t->entries == NULL)
		return;
	for (unsigned int i = 0; i < t->touched; i++)
		if (t->entries[i].state != NEIGH_FREE)
			neigh_delete(s, &t->entries[i]);
	shim_free(s->shim, t->entries);
	t->entries = NULL;
}

struct neigh *
neigh_lookup(struct stack *s, struct netif *nif, int family, const union ip_addr *addr)
{
	struct list *head = &s->neigh.bucket[bucket_of(s, nif, family, addr)], *it;

	list_for_each(it, head) {
		struct neigh *n = list_entry(it, struct neigh, bucket);

		if (n->nif == nif && n->family == family && ip_addr_eq(&n->addr, addr))
			return n;
	}
	return NULL;
}

/* Puts the next entry that was never used in the list of the free ones; creating a stack does not touch them all. */
static void
touch(struct neigh_table *t)
{
	struct neigh *n = &t->entries[t->touched++];

	list_init(&n->bucket);
	timer_init(&n->timer, on_timer, n);
	list_init(&n->age);
	list_add_tail(&t->free, &n->age);
}

struct neigh *
neigh_get(struct stack *s, struct netif *nif, int family, const union ip_addr *addr)
{
	struct neigh_table *t = &s->neigh;
	struct neigh *n = neigh_lookup(s, nif, family, addr);

	if (n != NULL)
		return n;
	if (list_empty(&t->free) && t->touched < t->size) {
		touch(t);
	} else if (list_empty(&t->free)) {
		struct list *old = list_empty(&t->stale) ? &t->waiting : &t->stale;

		if (list_empty(old)) {
			stack_count(s, STACK_DROP_NEIGH_TABLE_FULL);
			return NULL;
		}
		free_entry(s, list_entry(old->next, struct neigh, age), STACK_DROP_NEIGH_TABLE_FULL);
	}
	n = list_entry(t->free.next, struct neigh, age);
	n->nif = nif;
	n->addr = *addr;
	n->family = (uint8_t)family;
	n->is_router = 0;
	n->probes = 0;
	n->confirmed_ns = 0;
	n->changed_ns = s->now_ns;
	memset(n->mac, 0, ETH_ALEN);
	t->count++;
	list_add_tail(&t->bucket[bucket_of(s, nif, family, addr)], &n->bucket);
	set_state(s, n, NEIGH_INCOMPLETE);
	return n;
}

static void
send_now(struct stack *s, struct neigh *n, struct rte_mbuf *m)
{
	eth_output(s, n->nif, m, n->mac, n->family == ADDR_INET ? ETHERTYPE_IP4 : ETHERTYPE_IP6);
}

static void
enqueue(struct stack *s, struct neigh *n, struct rte_mbuf *m)
{
	if (n->queued == NEIGH_QUEUE) {
		stack_drop(s, n->nif, STACK_DROP_NEIGH_QUEUE_FULL, n->queue[0]);
		n->queued--;
		memmove(&n->queue[0], &n->queue[1], n->queued * sizeof(n->queue[0]));
	}
	n->queue[n->queued++] = m;
}

void
neigh_output(struct stack *s, struct neigh *n, struct rte_mbuf *m)
{
	if (__builtin_expect(n->state == NEIGH_REACHABLE, 1)) {
		send_now(s, n, m);
		return;
	}
	switch (n->state) {
	case NEIGH_INCOMPLETE:
		enqueue(s, n, m);
		if (!timer_pending(&n->timer))
			solicit(s, n, false);
		break;
	case NEIGH_STALE: /* use it, and see whether anybody confirms it (7.3.3) */
		set_state(s, n, NEIGH_DELAY);
		timer_set(&s->wheel, &n->timer, s->now_ns + NEIGH_DELAY_NS);
		send_now(s, n, m);
		break;
	default:
		send_now(s, n, m);
		break;
	}
}

static void
set_reachable(struct stack *s, struct neigh *n)
{
	n->changed_ns = s->now_ns;
	n->confirmed_ns = s->now_ns;
	set_state(s, n, NEIGH_REACHABLE);
	timer_set(&s->wheel, &n->timer, s->now_ns + reachable_ns(n));
}

static void
set_stale(struct stack *s, struct neigh *n)
{
	n->changed_ns = s->now_ns;
	set_state(s, n, NEIGH_STALE);
	timer_cancel(&s->wheel, &n->timer);
}

/* The packets that waited, in order. The queue is taken first: sending may come back here. */
static void
drain(struct stack *s, struct neigh *n)
{
	struct rte_mbuf *queue[NEIGH_QUEUE];
	unsigned int queued = n->queued;

	memcpy(queue, n->queue, queued * sizeof(queue[0]));
	n->queued = 0;
	for (unsigned int i = 0; i < queued; i++)
		neigh_output(s, n, queue[i]);
}

void
neigh_update(struct stack *s, struct neigh *n, const uint8_t mac[ETH_ALEN], bool solicited,
	bool override)
{
	bool differs = mac != NULL && memcmp(n->mac, mac, ETH_ALEN) != 0;

	if (n->state == NEIGH_PERMANENT || n->state == NEIGH_FREE)
		return;
	if (n->state == NEIGH_INCOMPLETE) {
		if (mac == NULL)
			return;
		memcpy(n->mac, mac, ETH_ALEN);
		if (solicited)
			set_reachable(s, n);
		else
			set_stale(s, n);
		drain(s, n);
		return;
	}
	if (differs && !override) {
		if (n->state == NEIGH_REACHABLE)
			set_stale(s, n);
		return;
	}
	if (differs)
		memcpy(n->mac, mac, ETH_ALEN);
	if (solicited)
		set_reachable(s, n);
	else if (differs)
		set_stale(s, n);
}

/* Could a station other than this one have them? */
static bool
others(struct netif *nif, int family, const union ip_addr *addr, const uint8_t mac[ETH_ALEN])
{
	static const uint8_t nobody[ETH_ALEN];

	if ((mac[0] & 1) != 0 || memcmp(mac, nobody, ETH_ALEN) == 0 || memcmp(mac, nif->cfg.mac, ETH_ALEN) == 0)
		return false;
	if (family == ADDR_INET)
		return addr->v4 != 0 && addr->v4 != UINT32_MAX && !ip4_multicast(addr->v4) && !ip4_loopback(addr->v4) &&
			netif_find4(nif, addr->v4) == NULL;
	return nif->mtu6 != 0 && !ip_addr_any(addr) && !ip6_multicast(addr) && netif_find6(nif, addr) == NULL;
}

int
neigh_import(struct stack *s, struct netif *nif, int family, const union ip_addr *addr, const uint8_t mac[ETH_ALEN],
	bool router)
{
	struct neigh_table *t = &s->neigh;
	struct neigh *n;

	if (!others(nif, family, addr, mac))
		return -EINVAL;
	n = neigh_lookup(s, nif, family, addr);
	if (n != NULL && n->state != NEIGH_INCOMPLETE)
		return -EEXIST;
	if (n == NULL && list_empty(&t->free) && t->touched == t->size)
		return -ENOSPC;
	if (n == NULL)
		n = neigh_get(s, nif, family, addr);
	n->is_router |= router;
	neigh_update(s, n, mac, false, true);
	return 0;
}

void
neigh_confirm(struct stack *s, struct neigh *n)
{
	if (n->state == NEIGH_REACHABLE)
		n->confirmed_ns = s->now_ns;
	else if (n->state == NEIGH_STALE || n->state == NEIGH_DELAY || n->state == NEIGH_PROBE)
		set_reachable(s, n);
}

void
neigh_delete(struct stack *s, struct neigh *n)
{
	free_entry(s, n, STACK_DROP_NEIGH_UNREACHABLE);
}

int
neigh_set_permanent(struct stack *s, struct netif *nif, int family, const union ip_addr *addr,
	const uint8_t mac[ETH_ALEN])
{
	struct neigh *n;

	if (mac[0] & 1)
		return -EINVAL;
	n = neigh_get(s, nif, family, addr);
	if (n == NULL)
		return -ENOBUFS;
	memcpy(n->mac, mac, ETH_ALEN);
	timer_cancel(&s->wheel, &n->timer);
	set_state(s, n, NEIGH_PERMANENT);
	drain(s, n);
	return 0;
}

void
neigh_flush_netif(struct stack *s, struct netif *nif)
{
	for (unsigned int i = 0; i < s->neigh.touched; i++)
		if (s->neigh.entries[i].state != NEIGH_FREE && s->neigh.entries[i].nif == nif)
			neigh_delete(s, &s->neigh.entries[i]);
}

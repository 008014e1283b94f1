/* SPDX-License-Identifier: BSD-3-Clause */
/* Learned path MTUs: a bounded table, kept in the order of learning, so that ageing looks at one entry. */
#include <errno.h>

#include "../priv.h"

#define PMTU_BUCKETS 256

struct pmtu {
	struct list bucket;
	struct list age;      /* learned longest ago first; in the free list while unused */
	union ip_addr dst;
	uint64_t expires_ns;
	uint16_t mtu;
	uint8_t family;
};

struct pmtu_cache {
	struct stack *stack;
	struct list bucket[PMTU_BUCKETS];
	struct list used, free;
	struct timer timer;   /* when the oldest entry ages out */
	struct pmtu entries[PMTU_MAX];
};

static struct list *
bucket_of(const struct stack *s, int family, const union ip_addr *dst)
{
	const struct siphash_key key = { s->cfg.secrets.table[0], s->cfg.secrets.table[1] };
	uint64_t data[3] = { dst->q[0], dst->q[1], (uint64_t)family };

	return &s->pmtu->bucket[siphash13(&key, data, sizeof(data)) % PMTU_BUCKETS];
}

static void
forget(struct pmtu_cache *c, struct pmtu *p)
{
	list_del(&p->bucket);
	list_del(&p->age);
	list_add_tail(&c->free, &p->age);
}

/* The entry that ages out next sets the timer. */
static void
arm(struct pmtu_cache *c)
{
	if (list_empty(&c->used))
		timer_cancel(&c->stack->wheel, &c->timer);
	else
		timer_set(&c->stack->wheel, &c->timer,
			list_entry(c->used.next, struct pmtu, age)->expires_ns);
}

static void
on_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct pmtu_cache *c = arg;

	(void)t;
	while (!list_empty(&c->used)) {
		struct pmtu *p = list_entry(c->used.next, struct pmtu, age);

		if (p->expires_ns > now_ns)
			break;
		forget(c, p);
	}
	arm(c);
	route_touch(c->stack); /* paths may try larger packets again */
}

int
pmtu_init(struct stack *s)
{
	struct pmtu_cache *c = shim_malloc(s->shim, sizeof(*c));

	if (c == NULL)
		return -ENOMEM;
	c->stack = s;
	for (unsigned int i = 0; i < PMTU_BUCKETS; i++)
		list_init(&c->bucket[i]);
	list_init(&c->used);
	list_init(&c->free);
	timer_init(&c->timer, on_timer, c);
	for (unsigned int i = 0; i < PMTU_MAX; i++) {
		list_init(&c->entries[i].bucket);
		list_init(&c->entries[i].age);
		list_add_tail(&c->free, &c->entries[i].age);
	}
	s->pmtu = c;
	return 0;
}

void
pmtu_release(struct stack *s)
{
	if (s->pmtu == NULL)
		return;
	timer_cancel(&s->wheel, &s->pmtu->timer);
	shim_free(s->shim, s->pmtu);
	s->pmtu = NULL;
}

static struct pmtu *
find(const struct stack *s, int family, const union ip_addr *dst)
{
	struct list *head = bucket_of(s, family, dst), *it;

	list_for_each(it, head) {
		struct pmtu *p = list_entry(it, struct pmtu, bucket);

		if (p->family == family && ip_addr_eq(&p->dst, dst))
			return p;
	}
	return NULL;
}

uint16_t
pmtu_get(struct stack *s, int family, const union ip_addr *dst, uint16_t link_mtu)
{
	const struct pmtu *p;

	if (list_empty(&s->pmtu->used))
		return link_mtu;
	p = find(s, family, dst);
	return p != NULL && p->mtu < link_mtu ? p->mtu : link_mtu;
}

bool
pmtu_learn(struct stack *s, int family, const union ip_addr *dst, uint16_t mtu)
{
	struct pmtu_cache *c = s->pmtu;
	const struct route *r = route_lookup(s, family, dst, NULL);
	struct pmtu *p;

	if (mtu < (family == ADDR_INET ? PMTU_MIN4 : PMTU_MIN6))
		return false;
	if (r == NULL || mtu >= pmtu_get(s, family, dst, r->mtu))
		return false;
	p = find(s, family, dst);
	if (p == NULL) {
		if (list_empty(&c->free))
			forget(c, list_entry(c->used.next, struct pmtu, age));
		p = list_entry(c->free.next, struct pmtu, age);
		p->dst = *dst;
		p->family = (uint8_t)family;
		list_add_tail(bucket_of(s, family, dst), &p->bucket);
	}
	p->mtu = mtu;
	p->expires_ns = s->now_ns + PMTU_AGE_NS;
	list_del(&p->age);
	list_add_tail(&c->used, &p->age);
	arm(c);
	route_touch(s);
	return true;
}

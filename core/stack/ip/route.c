/* SPDX-License-Identifier: BSD-3-Clause */
/* Longest-prefix routing over one sorted array, searched one prefix length after the other. */
#include "route.h"

#include <errno.h>

#include "../priv.h"

static unsigned int
family_bits(int family)
{
	return family == ADDR_INET ? 32 : 128;
}

union ip_addr
route_mask(const union ip_addr *addr, unsigned int n)
{
	union ip_addr a = *addr;
	unsigned int whole = n / 8;

	if (whole < sizeof(a.v6)) {
		a.v6[whole] &= (uint8_t)(0xff00 >> (n & 7));
		memset(a.v6 + whole + 1, 0, sizeof(a.v6) - whole - 1);
	}
	return a;
}

static int
compare_dst(const union ip_addr *a, const union ip_addr *b)
{
	return memcmp(a->v6, b->v6, sizeof(a->v6));
}

/* The table's order; equal ones stand in the order they came. */
static int
compare(const struct route *a, const struct route *b)
{
	int rc;

	if (a->family != b->family)
		return a->family - b->family;
	if (a->prefix_len != b->prefix_len)
		return b->prefix_len - a->prefix_len;
	rc = compare_dst(&a->dst, &b->dst);
	return rc != 0 ? rc : a->origin - b->origin;
}

/* After every change of the array. */
static void
regroup(struct route_table *t)
{
	struct route_group *g = NULL;

	t->nb_groups = 0;
	for (unsigned int i = 0; i < t->count; i++) {
		const struct route *r = &t->routes[i];

		if (g == NULL || g->family != r->family || g->prefix_len != r->prefix_len) {
			g = &t->group[t->nb_groups++];
			*g = (struct route_group){ .start = (uint16_t)i, .family = r->family,
				.prefix_len = r->prefix_len };
		}
		g->count++;
	}
	t->gen++;
}

int
route_table_init(struct stack *s)
{
	s->routes.routes = shim_malloc(s->shim, ROUTE_MAX * sizeof(struct route));
	return s->routes.routes != NULL ? 0 : -ENOMEM;
}

void
route_table_release(struct stack *s)
{
	shim_free(s->shim, s->routes.routes);
	s->routes.routes = NULL;
	s->routes.count = s->routes.nb_groups = 0;
}

void
route_touch(struct stack *s)
{
	s->routes.gen++;
}

/* May both stand in the table? a and b are of one prefix and origin. */
static bool
same_route(const struct route *a, const struct route *b)
{
	if (a->origin == ROUTE_STATIC)
		return true;
	if (a->nif != b->nif)
		return false;
	return a->origin == ROUTE_CONNECTED || ip_addr_eq(&a->gateway, &b->gateway);
}

static uint16_t
netif_mtu(const struct netif *nif, int family)
{
	return family == ADDR_INET ? nif->mtu : nif->mtu6;
}

int
route_insert(struct stack *s, const struct route *r)
{
	struct route_table *t = &s->routes;
	struct route n = *r;
	unsigned int at = 0;

	if (r->nif == NULL || (r->family != ADDR_INET && r->family != ADDR_INET6) ||
		r->prefix_len > family_bits(r->family))
		return -EINVAL;
	n.dst = route_mask(&r->dst, r->prefix_len);
	if (!n.has_gateway)
		memset(&n.gateway, 0, sizeof(n.gateway));
	if (n.origin != ROUTE_RA)
		n.expires_ns = UINT64_MAX;
	if (n.mtu == 0)
		n.mtu = netif_mtu(n.nif, n.family);
	for (; at < t->count; at++) {
		int rc = compare(&t->routes[at], &n);

		if (rc == 0 && same_route(&t->routes[at], &n))
			return -EEXIST;
		if (rc > 0)
			break;
	}
	if (t->count == ROUTE_MAX)
		return -ENOSPC;
	memmove(&t->routes[at + 1], &t->routes[at], (t->count - at) * sizeof(n));
	t->routes[at] = n;
	t->count++;
	regroup(t);
	return 0;
}

/* Removes the routes to r's prefix of r's origin; `one`: only the one with its gateway and interface. */
static int
remove_matching(struct stack *s, const struct route *r, bool one)
{
	struct route_table *t = &s->routes;
	unsigned int kept = 0;
	struct route key = *r;

	if (key.prefix_len > family_bits(key.family))
		return -ENOENT;
	key.dst = route_mask(&r->dst, r->prefix_len);
	if (!key.has_gateway)
		memset(&key.gateway, 0, sizeof(key.gateway));
	for (unsigned int i = 0; i < t->count; i++) {
		const struct route *x = &t->routes[i];

		if (compare(x, &key) == 0 && (!one || (x->nif == key.nif &&
			ip_addr_eq(&x->gateway, &key.gateway))))
			continue;
		t->routes[kept++] = *x;
	}
	if (kept == t->count)
		return -ENOENT;
	t->count = kept;
	regroup(t);
	return 0;
}

int
route_remove(struct stack *s, int family, const union ip_addr *dst, uint8_t prefix_len,
	enum route_origin o)
{
	const struct route r = { .dst = *dst, .family = (uint8_t)family, .prefix_len = prefix_len,
		.origin = (uint8_t)o };

	return remove_matching(s, &r, false);
}

int
route_withdraw(struct stack *s, const struct route *r)
{
	return remove_matching(s, r, true);
}

void
route_remove_netif(struct stack *s, const struct netif *nif)
{
	struct route_table *t = &s->routes;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < t->count; i++)
		if (t->routes[i].nif != nif)
			t->routes[kept++] = t->routes[i];
	t->count = kept;
	regroup(t);
}

void
route_netif_mtu(struct stack *s, const struct netif *nif)
{
	struct route_table *t = &s->routes;

	for (unsigned int i = 0; i < t->count; i++)
		if (t->routes[i].nif == nif)
			t->routes[i].mtu = netif_mtu(nif, t->routes[i].family);
	t->gen++;
}

void
route_gateway_failed(struct stack *s, const struct netif *nif, int family,
	const union ip_addr *gateway)
{
	struct route_table *t = &s->routes;

	for (unsigned int i = 0; i < t->count; i++) {
		struct route *r = &t->routes[i];

		if (r->origin != ROUTE_RA || !r->has_gateway || r->nif != nif ||
			r->family != family || !ip_addr_eq(&r->gateway, gateway))
			continue;
		if (r->failed < UINT16_MAX)
			r->failed++;
		t->gen++;
	}
}

/* RFC 4861 6.3.6: the router's entry says that it was reachable when last heard of. */
static bool
gateway_known(const struct stack *s, const struct route *r)
{
	/* The look-up writes nothing; the table is only not const for what it returns. */
	const struct neigh *n = neigh_lookup((struct stack *)(uintptr_t)s, r->nif, r->family,
		&r->gateway);

	return n != NULL && n->state != NEIGH_INCOMPLETE;
}

static bool
usable(const struct stack *s, const struct route *r, const struct netif *nif)
{
	return (nif == NULL || r->nif == nif) && (r->nif->flags & NETIF_UP) != 0 &&
		r->expires_ns > s->now_ns;
}

/* The best of the routes to one prefix, which start at i; NULL: none is usable. */
static const struct route *
choose(const struct stack *s, unsigned int i, unsigned int end, const struct netif *nif)
{
	const struct route *first = &s->routes.routes[i], *best = NULL;
	bool best_known = false;

	for (; i < end; i++) {
		const struct route *r = &s->routes.routes[i];
		bool known;

		if (compare_dst(&r->dst, &first->dst) != 0)
			break;
		if (!usable(s, r, nif))
			continue;
		if (r->origin != ROUTE_RA || !r->has_gateway)
			return best != NULL ? best : r;
		known = gateway_known(s, r);
		if (best == NULL || (known && !best_known) ||
			(known == best_known && r->failed < best->failed)) {
			best = r;
			best_known = known;
		}
	}
	return best;
}

/* The first route of the group to dst (masked), or the group's end. */
static unsigned int
find_first(const struct route_table *t, const struct route_group *g, const union ip_addr *dst)
{
	unsigned int lo = g->start, end = (unsigned int)g->start + g->count, hi = end;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (compare_dst(&t->routes[mid].dst, dst) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < end && compare_dst(&t->routes[lo].dst, dst) != 0)
		return end;
	return lo;
}

const struct route *
route_lookup(const struct stack *s, int family, const union ip_addr *dst, const struct netif *nif)
{
	const struct route_table *t = &s->routes;

	for (unsigned int g = 0; g < t->nb_groups; g++) {
		unsigned int end = (unsigned int)t->group[g].start + t->group[g].count, i;
		const struct route *r;
		union ip_addr d;

		if (t->group[g].family != family)
			continue;
		d = route_mask(dst, t->group[g].prefix_len);
		i = find_first(t, &t->group[g], &d);
		if (i == end)
			continue;
		r = choose(s, i, end, nif);
		if (r != NULL)
			return r;
	}
	return NULL;
}

const struct route *
route_at(const struct stack *s, unsigned int i)
{
	return i < s->routes.count ? &s->routes.routes[i] : NULL;
}

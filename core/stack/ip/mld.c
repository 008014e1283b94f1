/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast listener discovery, the host's side (RFC 3810; RFC 2710 reports for an old querier). */
#include <errno.h>

#include "../priv.h"

#define MODE_IS_EXCLUDE 2
#define TO_INCLUDE 3
#define TO_EXCLUDE 4
#define ROBUSTNESS 2
#define INTERVAL_MS 1000   /* between unsolicited reports, at most */
#define RECORD_LEN 20
#define RECORDS_MAX 60     /* in one report: fits 1280 bytes */
#define REPORT_HLEN 8
#define QUERY1_LEN 24
#define QUERY2_LEN 28
#define MS 1000000ull

/* Never reported: all nodes, and groups that do not leave the interface (RFC 3810 6). */
static bool
silent(const union ip_addr *g)
{
	return ip_addr_eq(g, &ip6_all_nodes) || (g->v6[1] & 0x0f) < 2;
}

static struct ip6_group *
find(struct ip6_if *i6, const union ip_addr *group)
{
	struct list *it;

	list_for_each(it, &i6->groups) {
		struct ip6_group *g = list_entry(it, struct ip6_group, link);

		if (ip_addr_eq(&g->addr, group))
			return g;
	}
	return NULL;
}

/* Our link-local address, or the unspecified one while there is none (RFC 3810 5.2.13). */
static const union ip_addr *
report_source(const struct netif *nif)
{
	for (unsigned int i = 0; i < nif->nb_addr6; i++)
		if (ip6_addr_usable(&nif->addr6[i]) && ip6_link_local(&nif->addr6[i].addr))
			return &nif->addr6[i].addr;
	return &ip6_any;
}

static void
send_to(struct stack *s, struct netif *nif, const union ip_addr *dst, uint8_t *msg, uint32_t n)
{
	struct ip_path path;

	ip6_path_direct(&path, nif, dst, report_source(nif), NULL);
	icmp6_send(s, &path, 1, true, msg, n);
}

/* A version 2 report as it fills. */
struct report {
	struct stack *s;
	struct netif *nif;
	unsigned int n;
	uint8_t msg[REPORT_HLEN + RECORDS_MAX * RECORD_LEN];
};

static void
report_send(struct report *r)
{
	if (r->n == 0)
		return;
	memset(r->msg, 0, REPORT_HLEN);
	r->msg[0] = ICMP6_MLD_REPORT2;
	put_be16(r->msg + 6, (uint16_t)r->n);
	send_to(r->s, r->nif, &ip6_all_mld2, r->msg, REPORT_HLEN + r->n * RECORD_LEN);
	r->n = 0;
}

static void
report_add(struct report *r, uint8_t type, const union ip_addr *group)
{
	uint8_t *p = r->msg + REPORT_HLEN + r->n * RECORD_LEN;

	p[0] = type;
	p[1] = p[2] = p[3] = 0;
	memcpy(p + 4, group->v6, 16);
	if (++r->n == RECORDS_MAX)
		report_send(r);
}

static void
report_one(struct stack *s, struct netif *nif, uint8_t type, const union ip_addr *group)
{
	struct report r = { .s = s, .nif = nif };

	report_add(&r, type, group);
	report_send(&r);
}

/* Version 1: one message for each group, to the group. */
static void
report_v1(struct stack *s, struct netif *nif, const union ip_addr *group)
{
	uint8_t msg[QUERY1_LEN] = { ICMP6_MLD_REPORT1 };

	memcpy(msg + 8, group->v6, 16);
	send_to(s, nif, group, msg, sizeof(msg));
}

/* The timer fires within ms from now, sooner if it was to anyway. */
static void
within(struct stack *s, struct ip6_if *i6, uint32_t ms)
{
	uint64_t at = s->now_ns + (ms != 0 ? shim_random(s->shim) % (ms * MS) : 0);

	if (!timer_pending(&i6->mld_timer) || i6->mld_timer.deadline_ns > at)
		timer_set(&s->wheel, &i6->mld_timer, at);
}

void
mld_timer(struct timer *t, void *arg, uint64_t now_ns)
{
	struct ip6_if *i6 = arg;
	struct stack *s = i6->nif->stack;
	struct report r = { .s = s, .nif = i6->nif };
	bool again = false;
	struct list *it;

	(void)t;
	(void)now_ns;
	list_for_each(it, &i6->groups) {
		struct ip6_group *g = list_entry(it, struct ip6_group, link);

		if (g->answer_v1)
			report_v1(s, i6->nif, &g->addr);
		if (g->left > 0)
			report_add(&r, TO_EXCLUDE, &g->addr);
		else if (g->answer)
			report_add(&r, MODE_IS_EXCLUDE, &g->addr);
		g->answer = g->answer_v1 = false;
		if (g->left > 0 && --g->left > 0)
			again = true;
	}
	report_send(&r);
	if (again)
		within(s, i6, INTERVAL_MS);
}

int
mld_join(struct stack *s, struct netif *nif, const union ip_addr *group)
{
	struct ip6_if *i6 = ip6_if(s, nif);
	struct ip6_group *g;

	if (!ip6_multicast(group))
		return -EINVAL;
	g = find(i6, group);
	if (g != NULL) {
		g->refs++;
		return 0;
	}
	if (i6->nb_groups == MLD_MAX_GROUPS)
		return -ENOSPC;
	g = shim_malloc(s->shim, sizeof(*g));
	if (g == NULL)
		return -ENOMEM;
	g->addr = *group;
	g->refs = 1;
	list_add_tail(&i6->groups, &g->link);
	i6->nb_groups++;
	if (!i6->up || silent(group))
		return 0;
	report_one(s, nif, TO_EXCLUDE, group);
	g->left = ROBUSTNESS - 1;
	within(s, i6, INTERVAL_MS);
	return 0;
}

static void
forget(struct stack *s, struct ip6_if *i6, struct ip6_group *g)
{
	list_del(&g->link);
	i6->nb_groups--;
	shim_free(s->shim, g);
}

int
mld_leave(struct stack *s, struct netif *nif, const union ip_addr *group)
{
	struct ip6_if *i6 = ip6_if(s, nif);
	struct ip6_group *g = find(i6, group);

	if (g == NULL)
		return -ENOENT;
	if (--g->refs > 0)
		return 0;
	if (i6->up && !silent(group))
		report_one(s, nif, TO_INCLUDE, group);
	forget(s, i6, g);
	return 0;
}

bool
mld_joined(struct stack *s, const struct netif *nif, const union ip_addr *group)
{
	return find(&s->ip6->ifs[nif->index], group) != NULL;
}

void
mld_release(struct stack *s, struct netif *nif)
{
	struct ip6_if *i6 = ip6_if(s, nif);

	timer_cancel(&s->wheel, &i6->mld_timer);
	while (!list_empty(&i6->groups))
		forget(s, i6, list_entry(i6->groups.next, struct ip6_group, link));
}

void
mld_refresh(struct stack *s, struct netif *nif)
{
	struct ip6_if *i6 = ip6_if(s, nif);
	bool any = false;
	struct list *it;

	list_for_each(it, &i6->groups) {
		struct ip6_group *g = list_entry(it, struct ip6_group, link);

		if (silent(&g->addr))
			continue;
		g->left = ROBUSTNESS;
		any = true;
	}
	if (any)
		within(s, i6, 0);
}

/* Maximum response code (RFC 3810 5.1.3), ms. */
static uint32_t
response_ms(uint16_t code)
{
	if (code < 0x8000)
		return code;
	return (0x1000u | (code & 0xfff)) << ((code >> 12 & 7) + 3);
}

bool
mld_query(struct stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t n,
		enum stack_drop *why)
{
	struct ip6_if *i6 = ip6_if(s, rx->nif);
	bool v1 = n == QUERY1_LEN, any = false;
	union ip_addr group;
	uint16_t code;
	struct list *it;

	/* RFC 3810 6.2: from the link, one hop, with a router alert in front */
	if (!ip6_link_local(&rx->src) || rx->ttl != 1 || rx->l4_off == IP6_HLEN ||
			(!v1 && n < QUERY2_LEN)) {
		*why = STACK_DROP_ICMP6_TYPE;
		return false;
	}
	code = get_be16(p + 4);
	group = ip_addr_v6(p + 8);
	list_for_each(it, &i6->groups) {
		struct ip6_group *g = list_entry(it, struct ip6_group, link);

		if (silent(&g->addr) || (!ip_addr_any(&group) && !ip_addr_eq(&g->addr, &group)))
			continue;
		if (v1)
			g->answer_v1 = true;
		else
			g->answer = true;
		any = true;
	}
	if (any)
		within(s, i6, v1 ? code : response_ms(code));
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Source address selection (RFC 6724 5): rules 1, 2, 3, 5, 6 and 8; the others need what a host
 * here has not. */
#include "../priv.h"

/* RFC 6724 2.1, labels only. */
static const struct {
	uint8_t prefix[16];
	uint8_t len, label;
} policy[] = {
	{ { [15] = 1 }, 128, 0 },
	{ { [10] = 0xff, [11] = 0xff }, 96, 4 },
	{ { 0 }, 96, 3 },
	{ { 0x20, 0x01 }, 32, 5 },
	{ { 0x20, 0x02 }, 16, 2 },
	{ { 0x3f, 0xfe }, 16, 12 },
	{ { 0xfe, 0xc0 }, 10, 11 },
	{ { 0xfc }, 7, 13 },
	{ { 0 }, 0, 1 },
};

unsigned int
ip6_scope(const union ip_addr *a)
{
	if (ip6_multicast(a))
		return a->v6[1] & 0x0f;
	if (ip6_link_local(a) || ip6_loopback(a))
		return 2;
	if (a->v6[0] == 0xfe && (a->v6[1] & 0xc0) == 0xc0)
		return 5;
	return 14;
}

unsigned int
ip6_common_bits(const union ip_addr *a, const union ip_addr *b)
{
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t x = __builtin_bswap64(a->q[i] ^ b->q[i]);

		if (x != 0)
			return i * 64 + (unsigned int)__builtin_clzll(x);
	}
	return 128;
}

static unsigned int
label(const union ip_addr *a)
{
	unsigned int i = 0;

	/* the last line fits everything */
	for (;; i++) {
		union ip_addr p = ip_addr_v6(policy[i].prefix);

		if (ip6_common_bits(a, &p) >= policy[i].len)
			return policy[i].label;
	}
}

static unsigned int
prefix_match(const struct netif_addr6 *a, const union ip_addr *dst)
{
	unsigned int n = ip6_common_bits(&a->addr, dst);

	return n < a->prefix_len ? n : a->prefix_len;
}

/* Is a better than b as a source for dst? out: the interface it goes out by. */
static bool
better(const struct netif_addr6 *a, const struct netif_addr6 *b, const union ip_addr *dst,
	const struct netif *out)
{
	unsigned int sa = ip6_scope(&a->addr), sb = ip6_scope(&b->addr), sd = ip6_scope(dst);
	bool ea = ip_addr_eq(&a->addr, dst), eb = ip_addr_eq(&b->addr, dst);
	unsigned int ld;

	if (ea || eb) /* 1: the same address */
		return ea;
	if (sa != sb) /* 2: appropriate scope */
		return sa < sb ? sa >= sd : sb < sd;
	if ((a->state == ADDR6_DEPRECATED) != (b->state == ADDR6_DEPRECATED)) /* 3 */
		return b->state == ADDR6_DEPRECATED;
	if ((a->nif == out) != (b->nif == out)) /* 5 */
		return a->nif == out;
	ld = label(dst);
	if ((label(&a->addr) == ld) != (label(&b->addr) == ld)) /* 6 */
		return label(&a->addr) == ld;
	return prefix_match(a, dst) > prefix_match(b, dst); /* 8 */
}

static const struct netif_addr6 *
best_of(const struct netif *nif, const union ip_addr *dst, const struct netif *out,
	const struct netif_addr6 *best)
{
	for (unsigned int i = 0; i < nif->nb_addr6; i++) {
		const struct netif_addr6 *a = &nif->addr6[i];

		if (!ip6_addr_usable(a) || (nif != out && ip6_link_local(&a->addr)))
			continue;
		if (best == NULL || better(a, best, dst, out))
			best = a;
	}
	return best;
}

const struct netif_addr6 *
ip6_src_select(struct stack *s, const struct netif *nif, const union ip_addr *dst)
{
	const struct netif_addr6 *best = best_of(nif, dst, nif, NULL);

	/* a link-local source reaches nothing beyond the link: then another interface's address is
	 * better (RFC 6724 4) */
	if (best != NULL && ip6_scope(&best->addr) >= ip6_scope(dst))
		return best;
	if (ip6_scope(dst) > 2)
		for (unsigned int i = 0; i < s->nb_ifs; i++)
			if (s->ifs[i] != nif)
				best = best_of(s->ifs[i], dst, nif, best);
	return best;
}

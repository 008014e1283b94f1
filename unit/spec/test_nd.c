/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours by RFC 826, 5227, 4861, 4862, 7559, 8981's two-hour rule: lines 55, 59-61 of the checklist. */
#include "pkt.h"

static const char PEER2_MAC[] = "\x02\x00\x00\x00\x00\x09";

/* A neighbour solicitation or advertisement: 24 bytes and options. */
static uint32_t
nd(uint8_t *f, uint8_t type, uint32_t flags, const uint8_t *src, const uint8_t *dst, const uint8_t *target, const void *opts,
	uint32_t n)
{
	uint8_t l4[256], b[256];

	memcpy(b, target, 16);
	if (n != 0)
		memcpy(b + 16, opts, n);
	return ip6x(f, src, dst, 58, 255, l4, icmp(l4, 6, src, dst, type, 0, flags, b, 16 + n));
}

static const uint8_t SLLA[8] = { 1, 1, 2, 0, 0, 0, 0, 2 }, TLLA[8] = { 2, 1, 2, 0, 0, 0, 0, 2 }, TLLA9[8] = { 2, 1, 2, 0, 0, 0, 0, 9 };

static void
expect_na(struct fx *fx, const uint8_t *dst, const uint8_t *target)
{
	struct fx_pkt p;

	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.ttl, 255);
	assert_int_equal(p.l4[0], 136);
	assert_int_equal(p.l4[1], 0);
	assert_memory_equal(p.l4 + 8, target, 16);
	assert_memory_equal(p.l3 + 24, dst, 16);
	assert_int_equal(p.l4[4] & 0x80, 0); /* we are no router */
	assert_int_equal((p.l4[4] & 0x40) != 0, dst[0] != 0xff);
}

static enum neigh_state
state_of(struct fx *fx)
{
	union ip_addr a = ip_addr_v6(PEER6);
	struct neigh *n = neigh_lookup(fx->s, fx->nif, ADDR_INET6, &a);

	return n == NULL ? NEIGH_FREE : n->state;
}

static const uint8_t *
mac_of(struct fx *fx)
{
	union ip_addr a = ip_addr_v6(PEER6);

	return neigh_lookup(fx->s, fx->nif, ADDR_INET6, &a)->mac;
}

/* RFC 4861 7.2.3, 7.2.4. STK-2 */
static void
a_solicitation_is_answered(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256];

	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8));
	expect_na(fx, PEER6, ME6);
	assert_int_equal(state_of(fx), NEIGH_DELAY); /* it was STALE until we sent there (7.3.3) */
	fx_inject(fx, f, nd(f, 135, 0, PEER6, ME6, ME6, NULL, 0)); /* unicast, as probes are */
	expect_na(fx, PEER6, ME6);
	fx_inject(fx, f, nd(f, 135, 0, PEER6L, SOL_ME, ME6L, SLLA, 8));
	expect_na(fx, PEER6L, ME6L);
	fx_expect_none(fx);
}

/* Line 59: hop_limit_255_code_0_checksum_target_not_multicast_options_length_zero_dropped. STK-8 */
static void
bad_neighbour_discovery_is_dropped(void **state)
{
	static const uint8_t zero_opt[8] = { 1, 0, 2, 0, 0, 0, 0, 2 }, long_opt[8] = { 1, 2, 2, 0, 0, 0, 0, 2 },
		any[16] = { 0 }, other[16] = { 0x20, 1, 0xd, 0xb8, [15] = 77 };
	struct fx *fx = *state;
	uint8_t f[512], l4[256];
	uint32_t n;

	fx_know_peer(fx);
	n = nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8);
	for (unsigned int hop = 0; hop < 255; hop++) {
		f[L2 + 7] = (uint8_t)hop;
		fx_inject(fx, f, n);
	}
	assert_int_equal(fx_drops(fx, STACK_DROP_ND_HOP_LIMIT), 255);
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ALL_NODES, SLLA, 8));   /* target multicast */
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, zero_opt, 8));
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, long_opt, 8));
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 7));
	fx_inject(fx, f, nd(f, 135, 0, any, SOL_ME, ME6, SLLA, 8));           /* DAD with a link-layer address */
	fx_inject(fx, f, nd(f, 135, 0, any, ME6, ME6, NULL, 0));              /* DAD to unicast */
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, other, SLLA, 8));       /* not ours: silent */
	n = nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8);
	f[n - 1] ^= 1;
	fx_inject(fx, f, n);                                                  /* checksum */
	/* code 1 */
	memcpy(l4, ME6, 16);
	fx_inject(fx, f, ip6x(f, PEER6, SOL_ME, 58, 255, l4 + 32, icmp(l4 + 32, 6, PEER6, SOL_ME, 135, 1, 0, l4, 16)));
	/* cut short */
	for (n = 0; n < 16; n++)
		fx_inject(fx, f, ip6x(f, PEER6, SOL_ME, 58, 255, l4 + 32, icmp(l4 + 32, 6, PEER6, SOL_ME, 135, 0, 0, l4, n)));
	/* advertisements: solicited to many; target multicast */
	fx_inject(fx, f, nd(f, 136, 0x60000000, PEER6, ALL_NODES, PEER6, TLLA, 8));
	fx_inject(fx, f, nd(f, 136, 0x20000000, PEER6, ME6, ALL_NODES, TLLA, 8));
	fx_expect_none(fx);
	assert_int_equal(fx_all_drops(fx), 255 + 9 + 16 + 2);
}

/* RFC 4861 7.2.5: an advertisement for somebody unknown makes no entry. */
static void
an_unasked_advertisement_makes_no_entry(void **state)
{
	struct fx *fx = *state;
	uint8_t f[256];

	fx_inject(fx, f, nd(f, 136, 0x20000000, PEER6, ALL_NODES, PEER6, TLLA, 8));
	fx_inject(fx, f, nd(f, 136, 0x60000000, PEER6, ME6, PEER6, TLLA, 8));
	assert_int_equal(state_of(fx), NEIGH_FREE);
}

/* Line 59: override_and_solicited_flag_state_table (RFC 4861 7.2.5 and appendix C). STK-2 */
static void
override_and_solicited_flag_state_table(void **state)
{
	/* from REACHABLE or DELAY (in the table as STALE) with the peer's MAC: flags, same MAC? -> state, MAC taken? */
	static const struct { bool stale; uint32_t s, o; bool same; enum neigh_state after; bool taken; } t[] = {
		{ false, 1, 0, true, NEIGH_REACHABLE, true }, { false, 1, 1, true, NEIGH_REACHABLE, true },
		{ false, 0, 0, true, NEIGH_REACHABLE, true }, { false, 0, 1, true, NEIGH_REACHABLE, true },
		{ false, 0, 0, false, NEIGH_STALE, false },   { false, 1, 0, false, NEIGH_STALE, false },
		{ false, 1, 1, false, NEIGH_REACHABLE, true }, { false, 0, 1, false, NEIGH_STALE, true },
		{ true, 1, 0, true, NEIGH_REACHABLE, true },  { true, 0, 0, true, NEIGH_DELAY, true },
		{ true, 0, 1, true, NEIGH_DELAY, true },      { true, 1, 1, false, NEIGH_REACHABLE, true },
		{ true, 0, 1, false, NEIGH_STALE, true },     { true, 0, 0, false, NEIGH_DELAY, false },
		{ true, 1, 0, false, NEIGH_DELAY, false },
	};
	struct fx *fx = *state;
	union ip_addr a = ip_addr_v6(PEER6);
	uint8_t f[256];

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8)); /* and answered */
		if (!t[i].stale)
			fx_inject(fx, f, nd(f, 136, 0x40000000, PEER6, ME6, PEER6, TLLA, 8));
		assert_int_equal(state_of(fx), t[i].stale ? NEIGH_DELAY : NEIGH_REACHABLE);
		fx_inject(fx, f, nd(f, 136, t[i].s << 30 | t[i].o << 29, PEER6, ME6, PEER6, t[i].same ? TLLA : TLLA9, 8));
		if (state_of(fx) != t[i].after)
			fail_msg("row %u: state %d, not %d", i, state_of(fx), t[i].after);
		assert_memory_equal(mac_of(fx), t[i].taken && !t[i].same ? PEER2_MAC : FX_PEER_MAC, 6);
		neigh_delete(fx->s, neigh_lookup(fx->s, fx->nif, ADDR_INET6, &a));
		fx_tx_clear(fx);
	}
}

static int
send6(struct fx *fx, int fd, const void *d, uint32_t n)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(7777) };

	memcpy(&a.sin6_addr, PEER6, 16);
	return (int)sock_sendto(fx->s, fd, d, n, 0, (void *)&a, sizeof(a));
}

static void
expect_ns(struct fx *fx, const uint8_t *dst)
{
	struct fx_pkt p;

	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.l4[0], 135);
	assert_int_equal(p.ttl, 255);
	assert_memory_equal(p.l4 + 8, PEER6, 16);
	assert_memory_equal(p.l3 + 24, dst, 16);
	assert_int_equal(p.l4[24], 1); /* source link-layer address */
}

static const uint8_t SOL_PEER[16] = { 0xff, 2, [11] = 1, [12] = 0xff, [15] = 2 };

/* Line 60: incomplete_timers; unreachable_reported_after_3; RFC 4861 7.2.2: address unreachable to the sender. STK-2 */
static void
three_solicitations_a_second_apart_then_unreachable(void **state)
{
	struct fx *fx = *state;
	int fd = sock_at(fx, 6, 5000);

	assert_int_equal(send6(fx, fd, "a", 1), 1);
	expect_ns(fx, SOL_PEER);
	for (unsigned int i = 0; i < 2; i++) {
		fx_advance(fx, 990 * FX_MS);
		fx_expect_none(fx);
		fx_advance(fx, 20 * FX_MS);
		expect_ns(fx, SOL_PEER);
	}
	assert_int_equal(fx_drops(fx, STACK_DROP_NEIGH_UNREACHABLE), 0);
	fx_advance(fx, 1100 * FX_MS);
	fx_expect_none(fx);
	assert_int_equal(fx_drops(fx, STACK_DROP_NEIGH_UNREACHABLE), 1);
	assert_int_equal(state_of(fx), NEIGH_FREE);
}

/* Line 60: queue_bounded: the oldest goes; the rest leaves in order when the answer comes. */
static void
packets_wait_in_order_for_the_answer(void **state)
{
	struct fx *fx = *state;
	int fd = sock_at(fx, 6, 5000);
	uint8_t f[256], b = 0;
	unsigned int lost;
	struct fx_pkt p;

	for (; b < 50; b++)
		assert_int_equal(send6(fx, fd, &b, 1), 1);
	lost = (unsigned int)fx_drops(fx, STACK_DROP_NEIGH_QUEUE_FULL);
	assert_in_range(lost, 1, 49);
	assert_int_equal(fx_tx_count(fx), 1); /* one question, not fifty */
	fx_tx_clear(fx);
	fx_inject(fx, f, nd(f, 136, 0x60000000, PEER6, ME6, PEER6, TLLA, 8));
	for (b = (uint8_t)lost; b < 50; b++) {
		fx_expect(fx, 0x86dd, &p);
		assert_int_equal(p.proto, 17);
		assert_int_equal(p.l4[8], b);
		assert_memory_equal(p.dst_mac, FX_PEER_MAC, 6);
	}
	fx_expect_none(fx);
	assert_int_equal(state_of(fx), NEIGH_REACHABLE);
}

/* Line 60: nud_reachable_stale_delay_probe. Reachable time is 0.5 to 1.5 of 30 s; delay 5 s; three unicast probes. STK-2 */
static void
nud_reachable_stale_delay_probe(void **state)
{
	struct fx *fx = *state;
	int fd = sock_at(fx, 6, 5000);
	uint8_t f[256];
	struct fx_pkt p;

	send6(fx, fd, "a", 1);
	fx_tx_clear(fx);
	fx_inject(fx, f, nd(f, 136, 0x60000000, PEER6, ME6, PEER6, TLLA, 8));
	fx_tx_clear(fx);
	fx_advance(fx, 14900 * FX_MS);
	assert_int_equal(send6(fx, fd, "a", 1), 1);
	assert_int_equal(state_of(fx), NEIGH_REACHABLE);
	fx_advance(fx, 31 * FX_NS);
	fx_tx_clear(fx);
	assert_int_equal(send6(fx, fd, "a", 1), 1); /* goes out at once, to the known MAC */
	fx_expect(fx, 0x86dd, &p);
	assert_int_equal(p.proto, 17);
	assert_int_equal(state_of(fx), NEIGH_DELAY);
	fx_advance(fx, 4900 * FX_MS);
	fx_expect_none(fx);
	fx_advance(fx, 150 * FX_MS);
	expect_ns(fx, PEER6);
	assert_int_equal(state_of(fx), NEIGH_PROBE);
	fx_advance(fx, 1010 * FX_MS);
	expect_ns(fx, PEER6);
	fx_inject(fx, f, nd(f, 136, 0x40000000, PEER6, ME6, PEER6, NULL, 0)); /* without an address: confirms */
	assert_int_equal(state_of(fx), NEIGH_REACHABLE);
	fx_advance(fx, 46 * FX_NS);
	send6(fx, fd, "a", 1);
	fx_advance(fx, 9 * FX_NS); /* 5 s, then 3 probes */
	assert_int_equal(state_of(fx), NEIGH_FREE);
	fx_tx_clear(fx);
}

/* ---- duplicate address detection, routers ---------------------------------------------------------- */

static struct fx *
dad_world(bool ra)
{
	return fx_new(&(struct fx_opts){ .dad_transmits = 1, .accept_ra = ra });
}

static struct netif_addr6 *
addr_of(struct fx *fx, const uint8_t *a)
{
	union ip_addr x = ip_addr_v6(a);

	return netif_find6(fx->nif, &x);
}

/* Line 61: dad_before_use. RFC 4862 5.4: not a word with the address before; then a second and at most one more of delay. */
static void
dad_before_use(void **state)
{
	struct fx *fx = dad_world(false);
	uint8_t f[256], l4[64];

	(void)state;
	fx_tx_clear(fx);
	assert_int_equal(addr_of(fx, ME6)->state, ADDR6_TENTATIVE);
	fx_inject(fx, f, ip6(f, 58, l4, icmp(l4, 6, PEER6, ME6, 128, 0, 1, "x", 1)));
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8));
	while (fx_tx_count(fx) > 0) {
		struct fx_pkt p;

		assert_true(fx_pop(fx, &p));
		assert_memory_not_equal(p.l3 + 8, ME6, 16);
		assert_int_not_equal(p.l4[0], 136);
	}
	fx_advance(fx, 2100 * FX_MS);
	fx_tx_clear(fx);
	assert_int_equal(addr_of(fx, ME6)->state, ADDR6_PREFERRED);
	fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8));
	expect_na(fx, PEER6, ME6);
	fx_free(fx);
}

/* Line 61: conflict_disables. RFC 4862 5.4.3, 5.4.4 */
static void
dad_conflict_disables(void **state)
{
	static const uint8_t any[16] = { 0 };
	uint8_t f[256];

	(void)state;
	for (unsigned int how = 0; how < 2; how++) {
		struct fx *fx = dad_world(false);

		fx_advance(fx, 100 * FX_MS);
		if (how == 0)
			fx_inject(fx, f, nd(f, 136, 0x20000000, PEER6, ALL_NODES, ME6, TLLA9, 8));
		else
			fx_inject(fx, f, nd(f, 135, 0, any, SOL_ME, ME6, NULL, 0)); /* somebody else is detecting, too */
		fx_advance(fx, 5 * FX_NS);
		assert_int_equal(addr_of(fx, ME6)->state, ADDR6_DUPLICATE);
		fx_tx_clear(fx);
		fx_inject(fx, f, nd(f, 135, 0, PEER6, SOL_ME, ME6, SLLA, 8));
		fx_expect_none(fx);
		fx_free(fx);
	}
}

/* Line 61: rs_retries_with_backoff (7559): initial 4 s, doubled with up to 10 % either way, up to an hour. */
static void
rs_retries_with_backoff(void **state)
{
	struct fx *fx = dad_world(true);
	uint64_t last = 0, gap = 0;
	unsigned int n = 0;

	(void)state;
	for (unsigned int t = 0; t < 4000 * 5; t++) {
		struct fx_pkt p;

		fx_advance(fx, 200 * FX_MS);
		while (fx_pop(fx, &p)) {
			if (p.family != ADDR_INET6 || p.proto != 58 || p.l4[0] != 133)
				continue;
			assert_int_equal(p.ttl, 255);
			if (n++ > 0) {
				uint64_t g = fx->now - last;

				assert_true(g + 600 * FX_MS >= (n == 2 ? 4 * FX_NS * 9 / 10 : gap * 19 / 10));
				assert_true(g <= (n == 2 ? 4 * FX_NS * 11 / 10 : gap * 21 / 10) + 600 * FX_MS);
				gap = g;
			}
			last = fx->now;
		}
	}
	assert_in_range(n, 8, 12);
	fx_free(fx);
}

/* A router advertisement from the peer's link-local address, hop limit 255. */
static uint32_t
ra(uint8_t *f, uint32_t router_life, const uint8_t *opts, uint32_t n)
{
	uint8_t l4[512], b[512];

	w32(b, 0);
	w32(b + 4, 0);
	memcpy(b + 8, opts, n);
	return ip6x(f, PEER6L, ALL_NODES, 58, 255, l4, icmp(l4, 6, PEER6L, ALL_NODES, 134, 0, router_life, b, 8 + n));
}

static uint32_t
pio(uint8_t *o, const uint8_t *prefix, uint8_t len, uint8_t flags, uint32_t valid, uint32_t preferred)
{
	memset(o, 0, 32);
	o[0] = 3;
	o[1] = 4;
	o[2] = len;
	o[3] = flags;
	w32(o + 4, valid);
	w32(o + 8, preferred);
	memcpy(o + 16, prefix, 16);
	return 32;
}

static const uint8_t PFX[16] = { 0x20, 1, 0xd, 0xb8, 0, 7 };
static const uint8_t AUTO[16] = { 0x20, 1, 0xd, 0xb8, 0, 7, [11] = 0xff, [12] = 0xfe, [15] = 1 };

static uint64_t
valid_left(struct fx *fx)
{
	return (addr_of(fx, AUTO)->valid_until_ns - fx->now + FX_NS / 2) / FX_NS;
}

/* Line 61: ra_prefix_lifetime_two_hour_rule (RFC 4862 5.5.3 e). STK-2 */
static void
ra_prefix_lifetime_two_hour_rule(void **state)
{
	struct fx *fx = fx_new(&(struct fx_opts){ .accept_ra = true });
	uint8_t f[512], o[64];

	(void)state;
	fx_inject(fx, f, ra(f, 1800, o, pio(o, PFX, 64, 0xc0, 86400, 3600)));
	assert_non_null(addr_of(fx, AUTO));
	assert_int_equal(valid_left(fx), 86400);
	fx_inject(fx, f, ra(f, 1800, o, pio(o, PFX, 64, 0xc0, 10, 10))); /* a lie cuts it to two hours at most */
	assert_int_equal(valid_left(fx), 7200);
	fx_advance(fx, 100 * FX_NS);
	fx_inject(fx, f, ra(f, 1800, o, pio(o, PFX, 64, 0xc0, 10, 10))); /* below two hours: ignored */
	assert_int_equal(valid_left(fx), 7100);
	fx_inject(fx, f, ra(f, 1800, o, pio(o, PFX, 64, 0xc0, 7200, 10))); /* longer than what is left */
	assert_int_equal(valid_left(fx), 7200);
	fx_inject(fx, f, ra(f, 1800, o, pio(o, PFX, 64, 0xc0, 7201, 10)));
	assert_int_equal(valid_left(fx), 7201);
	fx_advance(fx, 20 * FX_NS);
	assert_int_equal(addr_of(fx, AUTO)->state, ADDR6_DEPRECATED);
	fx_advance(fx, 7200 * FX_NS);
	assert_null(addr_of(fx, AUTO));
	fx_tx_clear(fx);
	fx_free(fx);
}

/* RFC 4862 5.5.3: prefixes that make no address. STK-8 */
static void
prefixes_that_make_no_address(void **state)
{
	struct fx *fx = fx_new(&(struct fx_opts){ .accept_ra = true });
	static const uint8_t ll[16] = { 0xfe, 0x80 };
	unsigned int before = fx->nif->nb_addr6;
	uint8_t f[512], o[64];

	(void)state;
	fx_inject(fx, f, ra(f, 0, o, pio(o, PFX, 64, 0x80, 86400, 3600)));   /* not autonomous */
	fx_inject(fx, f, ra(f, 0, o, pio(o, PFX, 63, 0xc0, 86400, 3600)));   /* 63 + 64 is not 128 */
	fx_inject(fx, f, ra(f, 0, o, pio(o, PFX, 128, 0xc0, 86400, 3600)));
	fx_inject(fx, f, ra(f, 0, o, pio(o, PFX, 200, 0xc0, 86400, 3600)));
	fx_inject(fx, f, ra(f, 0, o, pio(o, PFX, 64, 0xc0, 3600, 3601)));    /* preferred longer than valid */
	fx_inject(fx, f, ra(f, 0, o, pio(o, PFX, 64, 0xc0, 0, 0)));          /* no life */
	fx_inject(fx, f, ra(f, 0, o, pio(o, ll, 64, 0xc0, 86400, 3600)));    /* link-local */
	fx_inject(fx, f, ra(f, 0, o, pio(o, ALL_NODES, 64, 0xc0, 86400, 3600)));
	assert_int_equal(fx->nif->nb_addr6, before);
	fx_free(fx);
}

/* RFC 4861 6.1.2. STK-8 */
static void
bad_router_advertisements_are_dropped(void **state)
{
	struct fx *fx = fx_new(&(struct fx_opts){ .accept_ra = true });
	uint8_t f[512], o[64], l4[256];
	uint32_t n;

	(void)state;
	n = ra(f, 1800, o, pio(o, PFX, 64, 0xc0, 86400, 3600));
	f[L2 + 7] = 254;
	fx_inject(fx, f, n);
	f[L2 + 7] = 255;
	f[n - 1] ^= 1; /* checksum */
	fx_inject(fx, f, n);
	/* from a global address */
	memset(l4, 0, sizeof(l4));
	memcpy(l4 + 16, o, 32);
	n = icmp(l4, 6, PEER6, ALL_NODES, 134, 0, 1800, l4 + 8, 40);
	fx_inject(fx, f, ip6x(f, PEER6, ALL_NODES, 58, 255, l4, n));
	/* code 1 */
	n = icmp(l4, 6, PEER6L, ALL_NODES, 134, 1, 1800, l4 + 8, 40);
	fx_inject(fx, f, ip6x(f, PEER6L, ALL_NODES, 58, 255, l4, n));
	/* too short; an option of length 0 */
	n = icmp(l4, 6, PEER6L, ALL_NODES, 134, 0, 1800, l4 + 8, 7);
	fx_inject(fx, f, ip6x(f, PEER6L, ALL_NODES, 58, 255, l4, n));
	o[1] = 0;
	fx_inject(fx, f, ra(f, 1800, o, 32));
	assert_null(addr_of(fx, AUTO));
	assert_int_equal(fx_all_drops(fx), 6);
	fx_free(fx);
}

/* Line 61: mtu_option_clamped: 1280 up to the link's own MTU. MTU-6 */
static void
mtu_option_clamped(void **state)
{
	static const struct { uint32_t mtu; uint16_t after; } t[] = { { 1279, 1500 }, { 0, 1500 }, { 1501, 1500 }, { 65536 + 1400, 1500 },
		{ 1400, 1400 }, { 1280, 1280 }, { 1500, 1500 } };
	struct fx *fx = fx_new(&(struct fx_opts){ .accept_ra = true });
	uint8_t f[512], o[8] = { 5, 1 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		w32(o + 4, t[i].mtu);
		fx_inject(fx, f, ra(f, 1800, o, 8));
		if (fx->nif->mtu6 != t[i].after)
			fail_msg("MTU option %u: %u, not %u", t[i].mtu, fx->nif->mtu6, t[i].after);
		assert_int_equal(fx->nif->mtu, 1500);
	}
	fx_free(fx);
}

/* RFC 4861 6.3.4: a router's lifetime of 0 takes its default route away. */
static void
a_router_comes_and_goes(void **state)
{
	struct fx *fx = fx_new(&(struct fx_opts){ .accept_ra = true });
	union ip_addr far = fx_a6("2001:db8:ffff::1");
	uint8_t f[512];

	(void)state;
	assert_null(route_lookup(fx->s, ADDR_INET6, &far, NULL));
	fx_inject(fx, f, ra(f, 1800, SLLA, 8));
	assert_non_null(route_lookup(fx->s, ADDR_INET6, &far, NULL));
	fx_advance(fx, 1790 * FX_NS);
	assert_non_null(route_lookup(fx->s, ADDR_INET6, &far, NULL));
	fx_advance(fx, 11 * FX_NS);
	assert_null(route_lookup(fx->s, ADDR_INET6, &far, NULL));
	fx_inject(fx, f, ra(f, 1800, SLLA, 8));
	assert_non_null(route_lookup(fx->s, ADDR_INET6, &far, NULL));
	fx_inject(fx, f, ra(f, 0, SLLA, 8));
	assert_null(route_lookup(fx->s, ADDR_INET6, &far, NULL));
	fx_tx_clear(fx);
	fx_free(fx);
}

/* ---- ARP ------------------------------------------------------------------------------------------- */

static uint32_t
arp(uint8_t *f, uint16_t op, const char *smac, const void *sip, const char *tmac, const void *tip)
{
	eth(f, FX_MAC, 0x0806);
	memcpy(f + 6, smac, 6);
	memcpy(f + 14, "\x00\x01\x08\x00\x06\x04", 6);
	w16(f + 20, op);
	memcpy(f + 22, smac, 6);
	memcpy(f + 28, sip, 4);
	memcpy(f + 32, tmac, 6);
	memcpy(f + 38, tip, 4);
	return 42;
}

static struct neigh *
arp_entry(struct fx *fx)
{
	union ip_addr a = ip_addr_v4(fx_ip4("10.0.0.2"));

	return neigh_lookup(fx->s, fx->nif, ADDR_INET, &a);
}

static const char NOMAC[6];

/* RFC 826; RFC 5227 2.1.1: a probe has sender 0.0.0.0, is answered, and teaches nothing. STK-2 */
static void
arp_requests_for_us_are_answered(void **state)
{
	struct fx *fx = *state;
	uint8_t f[64];

	fx_inject(fx, f, arp(f, 1, FX_PEER_MAC, "\0\0\0\0", NOMAC, ME4));
	fx_expect_arp(fx, FX_PEER_MAC, 2, fx_ip4("10.0.0.1"), FX_PEER_MAC, 0);
	assert_null(arp_entry(fx));
	fx_inject(fx, f, arp(f, 1, FX_PEER_MAC, PEER4, NOMAC, ME4));
	fx_expect_arp(fx, FX_PEER_MAC, 2, fx_ip4("10.0.0.1"), FX_PEER_MAC, fx_ip4("10.0.0.2"));
	assert_non_null(arp_entry(fx));
	fx_inject(fx, f, arp(f, 1, FX_PEER_MAC, PEER4, NOMAC, "\x0a\x00\x00\x03"));
	fx_expect_none(fx);
}

/* STK-8 */
static void
malformed_arp_is_dropped(void **state)
{
	static const struct { uint8_t at, v; } t[] = { { 15, 2 }, { 14, 1 }, { 16, 0x86 }, { 17, 1 }, { 18, 5 }, { 19, 16 }, { 18, 0 },
		{ 21, 3 }, { 21, 0 } };
	struct fx *fx = *state;
	uint8_t f[64];

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		arp(f, 1, FX_PEER_MAC, PEER4, NOMAC, ME4);
		f[t[i].at] = t[i].v;
		fx_inject(fx, f, 42);
		fx_expect_none(fx);
		assert_null(arp_entry(fx));
	}
	for (uint32_t n = 14; n < 42; n++) {
		arp(f, 1, FX_PEER_MAC, PEER4, NOMAC, ME4);
		fx_inject(fx, f, n);
	}
	fx_expect_none(fx);
	arp(f, 1, "\x01\x00\x5e\x00\x00\x01", PEER4, NOMAC, ME4); /* nobody's hardware address is a group's */
	fx_inject(fx, f, 42);
	arp(f, 1, "\xff\xff\xff\xff\xff\xff", PEER4, NOMAC, ME4);
	fx_inject(fx, f, 42);
	assert_null(arp_entry(fx));
}

/* Line 55: entry_updated_only_if_existing; gratuitous. */
static void
arp_entry_updated_only_if_existing(void **state)
{
	struct fx *fx = *state;
	uint8_t f[64];

	fx_inject(fx, f, arp(f, 2, FX_PEER_MAC, PEER4, FX_MAC, ME4));
	assert_null(arp_entry(fx));
	fx_inject(fx, f, arp(f, 1, FX_PEER_MAC, PEER4, NOMAC, PEER4)); /* gratuitous */
	assert_null(arp_entry(fx));
	fx_inject(fx, f, arp(f, 1, FX_PEER_MAC, PEER4, NOMAC, ME4));
	fx_tx_clear(fx);
	assert_memory_equal(arp_entry(fx)->mac, FX_PEER_MAC, 6);
	fx_inject(fx, f, arp(f, 1, PEER2_MAC, PEER4, NOMAC, PEER4));
	assert_memory_equal(arp_entry(fx)->mac, PEER2_MAC, 6);
	fx_expect_none(fx);
}

/* Line 55: dup_address_handled (RFC 5227 2.4: defend once in 10 s at most). */
static void
somebody_with_our_address_is_told_once_in_ten_seconds(void **state)
{
	struct fx *fx = *state;
	uint8_t f[64];

	for (unsigned int i = 0; i < 5; i++)
		fx_inject(fx, f, arp(f, 1, PEER2_MAC, ME4, NOMAC, ME4));
	assert_int_equal(fx_tx_count(fx), 1);
	fx_expect_arp(fx, FX_BCAST_MAC, 1, fx_ip4("10.0.0.1"), NULL, fx_ip4("10.0.0.1"));
	assert_null(arp_entry(fx));
	fx_advance(fx, 9900 * FX_MS);
	fx_inject(fx, f, arp(f, 2, PEER2_MAC, ME4, FX_MAC, ME4));
	fx_expect_none(fx);
	fx_advance(fx, 200 * FX_MS);
	fx_inject(fx, f, arp(f, 2, PEER2_MAC, ME4, FX_MAC, ME4));
	assert_int_equal(fx_tx_count(fx), 1);
}

/* Line 55: arp_request_rate_1_per_s_queue_bounded. */
static void
arp_request_rate_1_per_s_queue_bounded(void **state)
{
	struct fx *fx = *state;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7777) };
	int fd = sock_at(fx, 4, 5000);
	uint8_t f[64];
	unsigned int asked = 0;
	struct fx_pkt p;

	memcpy(&a.sin_addr, PEER4, 4);
	for (unsigned int i = 0; i < 290; i++) { /* 2.9 s, a packet each 10 ms */
		uint8_t b[2] = { (uint8_t)(i >> 8), (uint8_t)i };

		assert_int_equal(sock_sendto(fx->s, fd, b, 2, 0, (void *)&a, sizeof(a)), 2);
		fx_advance(fx, 10 * FX_MS);
		while (fx_pop(fx, &p)) {
			assert_int_equal(p.type, 0x0806);
			asked++;
		}
	}
	assert_int_equal(asked, 3);
	assert_true(fx_drops(fx, STACK_DROP_NEIGH_QUEUE_FULL) >= 290 - NEIGH_QUEUE);
	fx_inject(fx, f, arp(f, 2, FX_PEER_MAC, PEER4, FX_MAC, ME4));
	asked = 290 - NEIGH_QUEUE;
	while (fx_pop(fx, &p))
		assert_int_equal(r16(p.l4 + 8), asked++);
	assert_int_equal(asked, 290);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_solicitation_is_answered),
		T(bad_neighbour_discovery_is_dropped),
		T(an_unasked_advertisement_makes_no_entry),
		T(override_and_solicited_flag_state_table),
		T(three_solicitations_a_second_apart_then_unreachable),
		T(packets_wait_in_order_for_the_answer),
		T(nud_reachable_stale_delay_probe),
		cmocka_unit_test(dad_before_use),
		cmocka_unit_test(dad_conflict_disables),
		cmocka_unit_test(rs_retries_with_backoff),
		cmocka_unit_test(ra_prefix_lifetime_two_hour_rule),
		cmocka_unit_test(prefixes_that_make_no_address),
		cmocka_unit_test(bad_router_advertisements_are_dropped),
		cmocka_unit_test(mtu_option_clamped),
		cmocka_unit_test(a_router_comes_and_goes),
		T(arp_requests_for_us_are_answered),
		T(malformed_arp_is_dropped),
		T(arp_entry_updated_only_if_existing),
		T(somebody_with_our_address_is_told_once_in_ten_seconds),
		T(arp_request_rate_1_per_s_queue_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

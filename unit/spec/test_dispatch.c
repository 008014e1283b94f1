/* SPDX-License-Identifier: BSD-3-Clause */
/* The dispatcher's decisions by its header: frames byte by byte, a peer's table of our making, and what must not matter. */
#include "guard.h"
#include "pkt.h"

#include "core/dispatch/dispatch.h"

#define BOOT 0x1234567890abcdefull
#define IDLE 10000u
#define ENTRIES 1024u
#define WID 6u
#define T0_MS 1000000u

static const struct siphash_key SECRET = { 0x0123456789abcdefull, 0xfedcba9876543210ull };
static uint8_t F[P_MAX], L4[P_MAX];

struct bed {
	struct shim *s;
	struct shim_pool *pool;
	struct guard g;
	struct pub w;               /* the old worker's, writing */
	struct dispatcher d;
	uint32_t ms;
	struct rte_mbuf *held[2 * FRAG_HELD];
	uint8_t held_to[2 * FRAG_HELD];
	unsigned int nb_held;       /* came out in the last burst */
};

static void
b_open(struct bed *b, uint32_t wid)
{
	struct pub r;

	pub_attach(&r, b->s, (struct pub_table *)b->g.p, b->g.n, BOOT, &SECRET, IDLE); /* absent if the zone lies */
	dispatch_open(&b->d, &r, wid);
	b->d.peer_alive = true;
}

static struct bed *
b_new(void)
{
	struct bed *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->s = mock_shim_new();
	b->ms = T0_MS;
	assert_int_equal(shim_pool_create(b->s, "p", 512, 2176, &b->pool), 0);
	b->g = guard_new(pub_table_size(ENTRIES));
	assert_int_equal(pub_table_init(b->s, (struct pub_table *)b->g.p, ENTRIES, BOOT), 0);
	assert_int_equal(pub_attach(&b->w, b->s, (struct pub_table *)b->g.p, b->g.n, BOOT, &SECRET, IDLE), 0);
	pub_writer_begin(&b->w, 0x55);
	pub_state_set(&b->w, PUB_PUBLISHING, WID);
	assert_int_equal(dispatch_create(&b->d, b->s, &SECRET), 0);
	b_open(b, WID);
	return b;
}

static void
b_free(struct bed *b)
{
	dispatch_destroy(&b->d);
	assert_int_equal(mock_bufs_out(b->s), 0);
	shim_pool_free(b->s, b->pool);
	guard_free(&b->g);
	assert_int_equal(mock_shim_free(b->s), 0);
	free(b);
}

static struct rte_mbuf *
buf(struct bed *b, const uint8_t *f, uint32_t n)
{
	struct rte_mbuf *m = shim_buf_alloc(b->s, b->pool);

	assert_non_null(m);
	memcpy(shim_buf_append(m, (uint16_t)n), f, n);
	return m;
}

/* A burst at the bed's time; what comes out is kept, all else is freed. */
static void
burst(struct bed *b, struct rte_mbuf **m, unsigned int n, uint8_t *to)
{
	memset(to, 0xee, n);
	b->nb_held = dispatch_burst(&b->d, m, n, b->ms, b->ms * 1000000ull, to, b->held, b->held_to);
	assert_true(b->nb_held <= FRAG_HELD);
	for (unsigned int i = 0; i < n; i++) {
		assert_true(to[i] <= DISPATCH_HELD);
		if (to[i] != DISPATCH_HELD)
			shim_buf_free(b->s, m[i]);
	}
	for (unsigned int i = 0; i < b->nb_held; i++)
		assert_true(b->held_to[i] <= DISPATCH_BOTH);
}

static void
free_held(struct bed *b)
{
	shim_buf_free_bulk(b->s, b->held, b->nb_held);
	b->nb_held = 0;
}

/* Where F goes by itself; nothing comes out. */
static int
way(struct bed *b, uint32_t n)
{
	struct rte_mbuf *m = buf(b, F, n);
	uint8_t to;

	burst(b, &m, 1, &to);
	assert_int_equal(b->nb_held, 0);
	return to;
}

static uint32_t
udp_frame(int v, uint32_t rport, uint32_t lport)
{
	uint32_t n = udp(L4, v, rport, lport, "x", 1);

	return v == 4 ? ip4(F, 17, 1, 0, L4, n) : ip6(F, 17, L4, n);
}

static struct flow_key
flow(int v, uint8_t proto, uint32_t rport, uint32_t lport)
{
	struct flow_key k;
	union ip_addr r = ip_addr_v6(PEER6), l = ip_addr_v6(ME6);

	if (v == 4) {
		r = l = ip_addr_v4(0);
		memcpy(&r.v4, PEER4, 4);
		memcpy(&l.v4, ME4, 4);
	}
	flow_key_make(&k, v == 4 ? ADDR_INET : ADDR_INET6, proto, &r, htons((uint16_t)rport), &l, htons((uint16_t)lport));
	return k;
}

static void
publish(struct bed *b, int v, uint32_t rport, uint32_t lport)
{
	struct flow_key k = flow(v, 17, rport, lport);

	pub_record(&b->w, &k, b->ms);
	pub_flush(&b->w);
}

/* ---- UDP ------------------------------------------------------------------------------------------------ */

/* DSP-1, DSP-4 */
static void
published_goes_to_the_old_worker_and_new_stays(void **state)
{
	struct bed *b = b_new();

	(void)state;
	for (int v = 4; v <= 6; v += 2) {
		publish(b, v, 1000, 53);
		assert_int_equal(way(b, udp_frame(v, 1000, 53)), DISPATCH_PEER);
		assert_int_equal(way(b, udp_frame(v, 1001, 53)), DISPATCH_LOCAL);
		assert_int_equal(way(b, udp_frame(v, 53, 1000)), DISPATCH_LOCAL); /* ends exchanged: another flow */
		/* what was decided once stays: the old worker answering late changes nothing */
		publish(b, v, 1001, 53);
		assert_int_equal(way(b, udp_frame(v, 1001, 53)), DISPATCH_LOCAL);
		assert_int_equal(way(b, udp_frame(v, 1000, 53)), DISPATCH_PEER);
	}
	assert_int_equal(b->d.st.forwarded, 4);
	assert_int_equal(b->d.st.kept, 6);
	assert_int_equal(b->d.st.without_peer_table, 0);
	b_free(b);
}

/* DSP-4, DSP-5: one published under UDP over IPv4 says nothing of the other three */
static void
families_and_protocols_do_not_answer_for_each_other(void **state)
{
	struct bed *b = b_new();
	uint32_t n;

	(void)state;
	publish(b, 4, 1000, 53);
	assert_int_equal(way(b, udp_frame(6, 1000, 53)), DISPATCH_LOCAL);
	memset(L4, 0, 20);
	w16(L4, 1000);
	w16(L4 + 2, 53);
	L4[12] = 0x50;
	L4[13] = 2; /* SYN */
	assert_int_equal(way(b, ip4(F, 6, 1, 0, L4, 20)), DISPATCH_LOCAL);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_PEER);
	/* a SYN or its flow does not make the datagram's flow ours */
	publish(b, 6, 2000, 53);
	w16(L4, 2000);
	n = ip6(F, 6, L4, 20);
	assert_int_equal(way(b, n), DISPATCH_LOCAL);
	assert_int_equal(way(b, udp_frame(6, 2000, 53)), DISPATCH_PEER);
	b_free(b);
}

/* DSP-4, PUB-4: active at idle exactly, a ms later taken over, and never given back */
static void
an_aged_flow_is_taken_over_for_good(void **state)
{
	struct bed *b = b_new();

	(void)state;
	publish(b, 4, 1000, 53);
	publish(b, 4, 1001, 53);
	b->ms += IDLE;
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_PEER);
	assert_int_equal(b->d.st.taken_over, 0);
	b->ms++;
	assert_int_equal(way(b, udp_frame(4, 1001, 53)), DISPATCH_LOCAL);
	assert_int_equal(b->d.st.taken_over, 1);
	publish(b, 4, 1001, 53);
	assert_int_equal(way(b, udp_frame(4, 1001, 53)), DISPATCH_LOCAL);
	assert_int_equal(b->d.st.taken_over, 1);
	b_free(b);
}

/* PUB-4: the writer's clock is ahead */
static void
a_writer_ahead_keeps_its_flow(void **state)
{
	static const uint32_t ahead[] = { 1, 5, 999 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int wrap = 0; wrap < 2; wrap++) {
			struct bed *b = b_new();
			struct flow_key k = flow(4, 17, 1000, 53);

			b->ms = wrap ? 0u - ahead[i] : T0_MS;
			pub_record(&b->w, &k, b->ms + ahead[i]);
			pub_flush(&b->w);
			assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_PEER);
			b_free(b);
		}
}

/* PUB-3, PUB-5: state, window id and life of the peer, by hash and by frame */
static void
the_tables_state_decides(void **state)
{
	static const struct { enum pub_state st; uint32_t wid; bool alive; int published, other; } t[] = {
		{ PUB_PUBLISHING, WID, true, DISPATCH_PEER, DISPATCH_LOCAL },
		{ PUB_PUBLISHING, WID - 1, true, DISPATCH_LOCAL, DISPATCH_LOCAL },
		{ PUB_PUBLISHING, WID + 1, true, DISPATCH_LOCAL, DISPATCH_LOCAL },
		{ PUB_PUBLISHING, 0, true, DISPATCH_LOCAL, DISPATCH_LOCAL },
		{ PUB_PUBLISHING, WID, false, DISPATCH_LOCAL, DISPATCH_LOCAL },
		{ PUB_HANDED, WID, true, DISPATCH_LOCAL, DISPATCH_LOCAL },
		{ PUB_HANDED, WID - 1, true, DISPATCH_LOCAL, DISPATCH_LOCAL },
		{ PUB_NONE, 0, true, DISPATCH_PEER, DISPATCH_PEER },
		{ PUB_NONE, 0, false, DISPATCH_LOCAL, DISPATCH_LOCAL },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct bed *b = b_new();
		struct flow_key k = flow(4, 17, 1000, 53), o = flow(4, 17, 1001, 53);

		publish(b, 4, 1000, 53);
		pub_state_set(&b->w, t[i].st, t[i].wid);
		b->d.peer_alive = t[i].alive;
		assert_int_equal(dispatch_udp(&b->d, flow_hash(&SECRET, &k), b->ms), t[i].published);
		assert_int_equal(dispatch_udp(&b->d, flow_hash(&SECRET, &o), b->ms), t[i].other);
		assert_int_equal(way(b, udp_frame(4, 1000, 53)), t[i].published);
		assert_int_equal(way(b, udp_frame(4, 1001, 53)), t[i].other);
		assert_int_equal(b->d.st.without_peer_table, t[i].st == PUB_NONE && t[i].alive ? 2 : 0);
		b_free(b);
	}
}

/* PUB-3: handed while the window goes on: from that packet on all is local, and stays it */
static void
a_handed_flow_is_ours_from_then_on(void **state)
{
	struct bed *b = b_new();

	(void)state;
	publish(b, 4, 1000, 53);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_PEER);
	pub_state_set(&b->w, PUB_HANDED, WID);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_LOCAL);
	pub_state_set(&b->w, PUB_PUBLISHING, WID);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_LOCAL);
	b_free(b);
}

/* DSP-4: every window begins without memory of the last one; without a table nothing is forwarded */
static void
a_window_forgets_the_last_one(void **state)
{
	struct bed *b = b_new();
	struct pub absent;

	(void)state;
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_LOCAL);
	assert_int_equal(dispatch_close(&b->d, b->held, FRAG_HELD), 0);
	publish(b, 4, 1000, 53);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_LOCAL); /* closed */
	b_open(b, WID);
	assert_int_equal(b->d.st.kept, 0);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_PEER);
	b_open(b, WID + 2);
	assert_int_equal(b->d.st.forwarded, 0);
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_LOCAL); /* the table is the last window's */
	assert_int_equal(pub_attach(&absent, b->s, (struct pub_table *)b->g.p, 64, BOOT, &SECRET, IDLE), -EPROTO);
	dispatch_open(&b->d, &absent, WID);
	b->d.peer_alive = true;
	assert_int_equal(way(b, udp_frame(4, 1000, 53)), DISPATCH_LOCAL);
	b_free(b);
}

/* DSP-4, DSP-9: 64 frames at once are decided as one by one; of one flow's packets in a burst all go one way */
static void
a_burst_is_its_frames(void **state)
{
	struct bed *b = b_new();
	struct rte_mbuf *m[64];
	uint8_t to[64];
	uint64_t seed = 1;

	(void)state;
	for (unsigned int p = 0; p < 40; p += 2)
		publish(b, 4, 1000 + p, 53);
	for (unsigned int round = 0; round < 100; round++) {
		unsigned int n = (unsigned int)(draw(&seed) % 65), port[64];

		for (unsigned int i = 0; i < n; i++) {
			port[i] = 1000 + (unsigned int)(draw(&seed) % 40);
			m[i] = buf(b, F, udp_frame(4, port[i], 53));
		}
		burst(b, n == 0 ? NULL : m, n, n == 0 ? b->held_to : to);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(to[i], port[i] & 1 ? DISPATCH_LOCAL : DISPATCH_PEER);
	}
	b_free(b);
}

/* DSP-4: no more flows than the map holds: the rest is local all the same, and counted */
static void
a_full_map_is_counted_and_changes_no_decision(void **state)
{
	struct bed *b = b_new();

	(void)state;
	mock_fail_all(b->s, MOCK_OP_malloc, ENOMEM);
	for (unsigned int i = 0; i < 30000; i++)
		assert_int_equal(way(b, udp_frame(4, 1 + i % 60000, 53)), DISPATCH_LOCAL);
	mock_fail_all(b->s, MOCK_OP_malloc, 0);
	assert_int_equal(b->d.st.kept, 30000);
	b_free(b);
}

/* ---- what is not a flow ------------------------------------------------------------------------------------ */

/* DSP-6 */
static void
groups_stay_whatever_is_published(void **state)
{
	struct bed *b = b_new();
	uint32_t n;

	(void)state;
	for (unsigned int none = 0; none < 2; none++) {
		if (none)
			pub_state_set(&b->w, PUB_NONE, 0);
		publish(b, 4, 1000, 53);
		n = udp_frame(4, 1000, 53);
		memset(F, 0xff, 6);
		assert_int_equal(way(b, n), DISPATCH_LOCAL);
		n = udp_frame(4, 1000, 53);
		memcpy(F + L2 + 16, "\xe0\x00\x00\xfb", 4);
		fix4(F);
		assert_int_equal(way(b, n), DISPATCH_LOCAL);
		n = ip6x(F, PEER6, ALL_NODES, 17, 64, L4, udp(L4, 6, 1000, 53, "x", 1));
		assert_int_equal(way(b, n), DISPATCH_LOCAL);
	}
	b_free(b);
}

/* DSP-8: ARP, neighbour discovery and packet-too-big reach both, whatever is published */
static void
neighbours_and_too_big_reach_both(void **state)
{
	static const enum pub_state st[] = { PUB_PUBLISHING, PUB_NONE };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct bed *b = b_new();
		uint8_t q[64];
		uint32_t n;

		pub_state_set(&b->w, st[i], st[i] == PUB_NONE ? 0 : WID);
		memset(F, 0, 60);
		eth(F, FX_BCAST_MAC, 0x0806);
		assert_int_equal(way(b, 60), DISPATCH_BOTH);
		for (uint8_t type = 133; type <= 137; type++) {
			memset(q, 0, sizeof(q));
			n = icmp(L4, 6, PEER6, ME6, type, 0, 0, q, 24);
			n = ip6x(F, PEER6, type & 1 ? ALL_NODES : ME6, 58, 255, L4, n);
			assert_int_equal(way(b, n), DISPATCH_BOTH);
		}
		for (unsigned int published = 0; published < 2; published++) {
			if (published)
				publish(b, 4, 53, 1000);
			udp_frame(4, 1000, 53); /* what we sent: addresses exchanged below */
			memcpy(q, F + L2, 28);
			memcpy(q + 12, ME4, 4);
			memcpy(q + 16, PEER4, 4);
			n = ip4(F, 1, 1, 0, L4, icmp(L4, 4, ME4, ME4, 3, 4, 1280, q, 28));
			assert_int_equal(way(b, n), DISPATCH_BOTH);
		}
		assert_int_equal(b->d.st.cloned, 8);
		b_free(b);
	}
}

/* An ICMP error about our datagram from lport to rport. */
static uint32_t
unreachable(int v, uint32_t rport, uint32_t lport, uint32_t opts)
{
	static const uint8_t router4[4] = { 192, 0, 2, 1 };
	uint8_t q[128];
	uint32_t n, h = v == 4 ? H4 + opts : H6 + opts;

	memset(q, 0, sizeof(q));
	if (v == 4) {
		q[0] = (uint8_t)(0x45 + opts / 4);
		q[9] = 17;
		memcpy(q + 12, ME4, 4);
		memcpy(q + 16, PEER4, 4);
		memset(q + 20, 1, opts);
	} else {
		q[0] = 0x60;
		w16(q + 4, opts + 8);
		q[6] = opts ? 60 : 17;
		memcpy(q + 8, ME6, 16);
		memcpy(q + 24, PEER6, 16);
		if (opts) {
			q[40] = 17;
			q[41] = (uint8_t)(opts / 8 - 1);
		}
	}
	w16(q + h, lport);
	w16(q + h + 2, rport);
	n = icmp(L4, v, PEER6, ME6, v == 4 ? 3 : 1, 1, 0, q, h + 8);
	n = v == 4 ? ip4(F, 1, 1, 0, L4, n) : ip6(F, 58, L4, n);
	if (v == 4) {
		memcpy(F + L2 + 12, router4, 4);
		fix4(F);
	}
	return n;
}

/* DSP-6: an error goes where its flow goes; it makes no flow ours that is not */
static void
errors_follow_the_quoted_flow_and_teach_nothing(void **state)
{
	struct bed *b = b_new();

	(void)state;
	for (int v = 4; v <= 6; v += 2)
		for (uint32_t opts = 0; opts <= 40; opts += 40) {
			uint32_t p = 1000 + opts;

			assert_int_equal(way(b, unreachable(v, p, 53, opts)), DISPATCH_LOCAL);
			publish(b, v, p, 53); /* the old worker speaks to somebody new */
			assert_int_equal(way(b, unreachable(v, p, 53, opts)), DISPATCH_PEER);
			assert_int_equal(way(b, udp_frame(v, p, 53)), DISPATCH_PEER);
			/* ours, and published too: ours */
			assert_int_equal(way(b, udp_frame(v, p + 1, 53)), DISPATCH_LOCAL);
			publish(b, v, p + 1, 53);
			assert_int_equal(way(b, unreachable(v, p + 1, 53, opts)), DISPATCH_LOCAL);
		}
	b_free(b);
}

/* ---- fragments ------------------------------------------------------------------------------------------------ */

/* A fragment: the first one (off 0) carries the UDP header of rport -> 53. off in units of 8. */
static uint32_t
frag(int v, uint8_t proto, uint32_t id, uint32_t off, bool more, uint32_t rport)
{
	uint8_t p[32] = { 0 };

	if (off == 0) {
		w16(p, rport);
		w16(p + 2, 53);
		w16(p + 4, 64);
	}
	if (v == 4)
		return ip4(F, proto, id, (more ? 0x2000 : 0) | off, p, 24);
	memmove(p + 8, p, 24);
	memset(p, 0, 8);
	p[0] = proto;
	w16(p + 2, off << 3 | (more ? 1 : 0));
	w32(p + 4, id);
	return ip6(F, 44, p, 32);
}

/* DSP-6: the rest follows the first, duplicates too, whatever becomes of the flow meanwhile */
static void
fragments_follow_their_first(void **state)
{
	(void)state;
	for (int v = 4; v <= 6; v += 2) {
		struct bed *b = b_new();

		publish(b, v, 1000, 53);
		assert_int_equal(way(b, frag(v, 17, 7, 0, true, 1000)), DISPATCH_PEER);
		assert_int_equal(way(b, frag(v, 17, 8, 0, true, 1001)), DISPATCH_LOCAL);
		pub_state_set(&b->w, PUB_HANDED, WID);
		for (uint32_t off = 3; off < 12; off += 3) {
			assert_int_equal(way(b, frag(v, 17, 7, off, off < 9, 0)), DISPATCH_PEER);
			assert_int_equal(way(b, frag(v, 17, 7, off, off < 9, 0)), DISPATCH_PEER);
			assert_int_equal(way(b, frag(v, 17, 8, off, off < 9, 0)), DISPATCH_LOCAL);
		}
		assert_int_equal(way(b, frag(v, 17, 7, 0, true, 1000)), DISPATCH_PEER); /* the first one twice */
		b->ms += FRAG_OWNER_MS - 1;
		assert_int_equal(way(b, frag(v, 17, 7, 3, true, 0)), DISPATCH_PEER);
		b_free(b);
	}
}

/* DSP-4, DSP-6: a flow that began with a fragmented datagram is ours, fragmented or not */
static void
a_first_fragment_begins_a_flow(void **state)
{
	struct bed *b = b_new();

	(void)state;
	for (int v = 4; v <= 6; v += 2) {
		assert_int_equal(way(b, frag(v, 17, 7, 0, true, 1000)), DISPATCH_LOCAL);
		publish(b, v, 1000, 53); /* the old worker speaks late */
		assert_int_equal(way(b, udp_frame(v, 1000, 53)), DISPATCH_LOCAL);
		assert_int_equal(way(b, frag(v, 17, 8, 0, true, 1000)), DISPATCH_LOCAL);
	}
	b_free(b);
}

/* DSP-6, DSP-9: before their first: they wait, and come out with it, in order, by its way; other datagrams' stay */
static void
early_fragments_wait_for_their_first(void **state)
{
	(void)state;
	for (int v = 4; v <= 6; v += 2)
		for (unsigned int together = 0; together < 2; together++)
			for (unsigned int peer = 0; peer < 2; peer++) {
				struct bed *b = b_new();
				struct rte_mbuf *m[4];
				uint8_t to[4];
				int want = peer ? DISPATCH_PEER : DISPATCH_LOCAL;

				if (peer)
					publish(b, v, 1000, 53);
				assert_true(dispatch_next(&b->d) == UINT64_MAX);
				m[0] = buf(b, F, frag(v, 17, 7, 6, false, 0));
				m[1] = buf(b, F, frag(v, 17, 9, 3, true, 0));
				m[2] = buf(b, F, frag(v, 17, 7, 3, true, 0));
				m[3] = buf(b, F, frag(v, 17, 7, 0, true, 1000));
				burst(b, m, together ? 4 : 3, to);
				assert_int_equal(to[1], DISPATCH_HELD);
				if (!together) {
					assert_int_equal(to[0], DISPATCH_HELD);
					assert_int_equal(to[2], DISPATCH_HELD);
					assert_int_equal(b->nb_held, 0);
					assert_true(dispatch_next(&b->d) == (b->ms + FRAG_HELD_MS) * 1000000ull);
					b->ms++;
					burst(b, m + 3, 1, to + 3);
				}
				assert_int_equal(to[3], want);
				/* known in the burst that has the first one: held for no time, or not at all */
				assert_int_equal(to[0], to[2]);
				assert_int_equal(b->nb_held, to[0] == DISPATCH_HELD ? 2 : 0);
				for (unsigned int i = 0; i < b->nb_held; i++) {
					assert_ptr_equal(b->held[i], m[2 * i]);
					assert_int_equal(b->held_to[i], want);
				}
				if (to[0] != DISPATCH_HELD)
					assert_int_equal(to[0], want);
				free_held(b);
				assert_true(dispatch_next(&b->d) != UINT64_MAX);
				assert_true(b->d.st.held >= 1);
				assert_int_equal(dispatch_close(&b->d, b->held, FRAG_HELD), 1);
				assert_ptr_equal(b->held[0], m[1]);
				shim_buf_free(b->s, m[1]);
				b_free(b);
			}
}

/* DSP-6: whose first never comes: to both for five seconds from the window's first burst on, then to the owner */
static void
orphan_fragments_go_to_both_and_then_to_the_owner(void **state)
{
	static const uint32_t begin[] = { T0_MS, 0u - 2000, 0u - FRAG_OWNER_MS - 10, 0xffffffffu };

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int late = 0; late < 2; late++) {
			struct bed *b = b_new();
			struct rte_mbuf *m;
			uint8_t to;
			uint64_t ns = 5000000000ull;
			uint8_t *to_h = b->held_to;

			assert_int_equal(dispatch_burst(&b->d, NULL, 0, begin[i], ns, NULL, b->held, b->held_to), 0);
			b->ms = begin[i] + (late ? FRAG_OWNER_MS + 1 : FRAG_OWNER_MS - 10);
			m = buf(b, F, frag(4, 17, 7, 3, true, 0));
			to = 0xee;
			assert_int_equal(dispatch_burst(&b->d, &m, 1, b->ms, ns, &to, b->held, b->held_to), 0);
			if (to == DISPATCH_HELD) {
				uint64_t due = ns + FRAG_HELD_MS * 1000000ull;

				assert_true(dispatch_next(&b->d) == due);
				assert_int_equal(dispatch_burst(&b->d, NULL, 0, b->ms + 1, due - 1, NULL, b->held, to_h), 0);
				assert_int_equal(dispatch_burst(&b->d, NULL, 0, b->ms + 2, due, NULL, b->held, to_h), 1);
				assert_ptr_equal(b->held[0], m);
				to = b->held_to[0];
			}
			assert_int_equal(to, late ? DISPATCH_LOCAL : DISPATCH_BOTH);
			shim_buf_free(b->s, m);
			assert_true(dispatch_next(&b->d) == UINT64_MAX);
			b_free(b);
		}
}

/* DSP-6: the same id of two protocols and of two families at once, each in its own order */
static void
overlapping_ids_are_two_datagrams(void **state)
{
	struct bed *b = b_new();
	struct rte_mbuf *m[8];
	uint8_t to[8];

	(void)state;
	publish(b, 4, 1000, 53);
	m[0] = buf(b, F, frag(4, 1, 7, 3, false, 0));
	m[1] = buf(b, F, frag(4, 17, 7, 3, false, 0));
	m[2] = buf(b, F, frag(6, 17, 7, 3, false, 0));
	m[3] = buf(b, F, frag(4, 17, 7, 0, true, 1000));
	m[4] = buf(b, F, frag(4, 1, 7, 0, true, 1000)); /* bytes that would be the flow's ports */
	m[5] = buf(b, F, frag(6, 17, 7, 0, true, 1000));
	m[6] = buf(b, F, frag(4, 17, 7, 3, false, 0));
	m[7] = buf(b, F, frag(4, 1, 7, 3, false, 0));
	burst(b, m, 8, to);
	assert_int_equal(to[3], DISPATCH_PEER);
	assert_int_equal(to[4], DISPATCH_LOCAL);
	assert_int_equal(to[5], DISPATCH_LOCAL);
	assert_int_equal(to[6], DISPATCH_PEER);
	assert_int_equal(to[7], DISPATCH_LOCAL);
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int k = 0; k < b->nb_held && to[i] == DISPATCH_HELD; k++)
			if (b->held[k] == m[i])
				to[i] = b->held_to[k];
	assert_int_equal(to[0], DISPATCH_LOCAL);
	assert_int_equal(to[1], DISPATCH_PEER);
	assert_int_equal(to[2], DISPATCH_LOCAL);
	free_held(b);
	b_free(b);
}

/* DSP-6, DSP-9: more than there is room for: nothing waits for ever, nothing is lost, nobody blocks */
static void
more_orphans_than_room(void **state)
{
	struct bed *b = b_new();
	struct rte_mbuf *m[64];
	uint8_t to[64];
	unsigned int held = 0, went = 0, out = 0;

	(void)state;
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 64; i++)
			m[i] = buf(b, F, frag(4, 17, 100 + round * 64 + i, 3, true, 0));
		burst(b, m, 64, to);
		for (unsigned int i = 0; i < 64; i++) {
			held += to[i] == DISPATCH_HELD;
			went += to[i] == DISPATCH_BOTH;
		}
		out += b->nb_held;
		free_held(b);
	}
	assert_int_equal(held + went, 192);
	assert_int_equal(held, FRAG_HELD);
	assert_int_equal(out, 0);
	b->ms += FRAG_HELD_MS;
	burst(b, NULL, 0, to);
	assert_int_equal(b->nb_held, FRAG_HELD);
	free_held(b);
	assert_int_equal(mock_bufs_out(b->s), 0);
	/* and what waits when everything ends is freed */
	m[0] = buf(b, F, frag(4, 17, 7, 3, true, 0));
	burst(b, m, 1, to);
	assert_int_equal(to[0], DISPATCH_HELD);
	b_free(b);
}

/* ---- a zone that lies -------------------------------------------------------------------------------------------- */

/* DSP-1, PUB-3: every byte of the peer's table turned over while it is read */
static void
the_peers_table_may_lie(void **state)
{
	struct bed *b = b_new();
	struct rte_mbuf *m[8];
	uint8_t to[8];

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		publish(b, 4, 1000 + i, 53);
	for (size_t at = 0; at < b->g.n; at += at < 128 ? 1 : 5) {
		b->g.p[at] ^= (uint8_t)(1u << at % 8 | 0x80);
		for (unsigned int i = 0; i < 8; i++)
			m[i] = buf(b, F, udp_frame(4, 1000 + i, 53));
		if (at & 1)
			b_open(b, WID);
		burst(b, m, 8, to);
		for (unsigned int i = 0; i < 8; i++)
			assert_true(to[i] == DISPATCH_LOCAL || to[i] == DISPATCH_PEER);
		b->g.p[at] ^= (uint8_t)(1u << at % 8 | 0x80);
	}
	b_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_goes_to_the_old_worker_and_new_stays),
		cmocka_unit_test(families_and_protocols_do_not_answer_for_each_other),
		cmocka_unit_test(an_aged_flow_is_taken_over_for_good),
		cmocka_unit_test(a_writer_ahead_keeps_its_flow),
		cmocka_unit_test(the_tables_state_decides),
		cmocka_unit_test(a_handed_flow_is_ours_from_then_on),
		cmocka_unit_test(a_window_forgets_the_last_one),
		cmocka_unit_test(a_burst_is_its_frames),
		cmocka_unit_test(a_full_map_is_counted_and_changes_no_decision),
		cmocka_unit_test(groups_stay_whatever_is_published),
		cmocka_unit_test(neighbours_and_too_big_reach_both),
		cmocka_unit_test(errors_follow_the_quoted_flow_and_teach_nothing),
		cmocka_unit_test(fragments_follow_their_first),
		cmocka_unit_test(a_first_fragment_begins_a_flow),
		cmocka_unit_test(early_fragments_wait_for_their_first),
		cmocka_unit_test(orphan_fragments_go_to_both_and_then_to_the_owner),
		cmocka_unit_test(overlapping_ids_are_two_datagrams),
		cmocka_unit_test(more_orphans_than_room),
		cmocka_unit_test(the_peers_table_may_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decision, frame by frame: by table and state, learned flows, fragments before and behind their first, errors,
 * groups, and time.
 */
#include "frames.h"

#include <errno.h>

#include "core/dispatch/dispatch.h"

#define ENTRIES 1024u
#define IDLE 10000u
#define WID 7u
#define MS 1000000ull
#define UDP 17
#define TCP 6
#define L4 "10.0.0.1"
#define L6 "2001:db8::1"
#define R6 "2001:db8::2"

static const struct siphash_key secret = { 3, 5 };

struct env {
	struct shim *s, *old;        /* the owner's door, the peer's */
	struct shim_pool *pool;
	struct pub_table *t;
	struct pub writer, reader;
	struct dispatcher d;
	uint64_t now_ns;
	/* of the last burst */
	struct rte_mbuf *m[64], *held[FRAG_HELD];
	uint8_t to[64], held_to[FRAG_HELD];
	unsigned int n, nb_held;
};

static int
setup(void **state)
{
	struct env *e = test_calloc(1, sizeof(*e));
	void *addr;

	e->s = mock_shim_new();
	e->old = mock_shim_attach(e->s, SHIM_ROLE_WORKER, 2);
	assert_int_equal(shim_pool_create(e->s, "pool", 512, 1024, &e->pool), 0);
	assert_int_equal(shim_zone_reserve(e->s, "pub", pub_table_size(ENTRIES), &addr), 0);
	e->t = addr;
	assert_int_equal(pub_table_init(e->s, e->t, ENTRIES, 1), 0);
	assert_int_equal(pub_attach(&e->writer, e->old, e->t, pub_table_size(ENTRIES), 1, &secret, IDLE), 0);
	assert_int_equal(pub_attach(&e->reader, e->s, e->t, pub_table_size(ENTRIES), 1, &secret, IDLE), 0);
	pub_writer_begin(&e->writer, 42);
	pub_state_set(&e->writer, PUB_PUBLISHING, WID);
	assert_int_equal(dispatch_create(&e->d, e->s, &secret), 0);
	dispatch_open(&e->d, &e->reader, WID);
	e->d.peer_alive = true;
	e->now_ns = 100000 * MS;
	*state = e;
	return 0;
}

static int
teardown(void **state)
{
	struct env *e = *state;
	unsigned int leaks;

	dispatch_destroy(&e->d);
	leaks = mock_bufs_out(e->s);
	leaks += mock_shim_free(e->old);
	leaks += mock_shim_free(e->s);
	test_free(e);
	return leaks == 0 ? 0 : -1;
}

static uint32_t
now_ms(const struct env *e)
{
	return (uint32_t)(e->now_ns / MS);
}

/* ---- frames ----------------------------------------------------------------------------------- */

static struct frame
udp4(const char *remote, unsigned int rport)
{
	struct frame f;
	uint32_t at;

	put_eth(&f, 2, 0x800);
	at = put_ip4(&f, remote, L4, UDP, 0, 0);
	put_udp(&f, rport, 53);
	put_len4(&f, at);
	return f;
}

static struct frame
tcp4(const char *remote, unsigned int rport, unsigned int flags)
{
	struct frame f;
	uint32_t at;

	put_eth(&f, 2, 0x800);
	at = put_ip4(&f, remote, L4, TCP, 0, 0);
	put_tcp(&f, rport, 53, flags);
	put_len4(&f, at);
	return f;
}

static struct frame
udp6(unsigned int rport)
{
	struct frame f;
	uint32_t at;

	put_eth(&f, 2, 0x86dd);
	at = put_ip6(&f, R6, L6, UDP);
	put_udp(&f, rport, 53);
	put_len6(&f, at);
	return f;
}

/* off: in units of 8 bytes; 0 is the first one, which has the ports. */
static struct frame
frag4(const char *remote, unsigned int rport, unsigned int id, unsigned int off)
{
	struct frame f;
	uint32_t at;

	put_eth(&f, 2, 0x800);
	at = put_ip4(&f, remote, L4, UDP, MORE | off, 0);
	f.b[at + 4] = (uint8_t)(id >> 8);
	f.b[at + 5] = (uint8_t)id;
	if (off == 0)
		put_udp(&f, rport, 53);
	else
		put_fill(&f, 16);
	put_len4(&f, at);
	return f;
}

static struct frame
frag6(unsigned int rport, unsigned int id, unsigned int off)
{
	struct frame f;
	uint32_t at;

	put_eth(&f, 2, 0x86dd);
	at = put_ip6(&f, R6, L6, 44);
	put_frag6(&f, UDP, off << 3 | 1, id);
	if (off == 0)
		put_udp(&f, rport, 53);
	else
		put_fill(&f, 16);
	put_len6(&f, at);
	return f;
}

/* An error about what this host sent from port 53. */
static struct frame
error_about(const char *remote, unsigned int rport, unsigned int proto, unsigned int type, unsigned int code)
{
	struct frame f;
	uint32_t at, inner;

	put_eth(&f, 2, 0x800);
	at = put_ip4(&f, "192.0.2.1", L4, 1, 0, 0);
	put_icmp(&f, type, code);
	inner = put_ip4(&f, L4, remote, proto, 0, 2);
	put16(&f, 53);
	put16(&f, rport);
	put32(&f, 0);
	put_len4(&f, inner);
	put_len4(&f, at);
	return f;
}

static struct frame
arp(void)
{
	struct frame f;

	put_eth(&f, 0xff, 0x806);
	put_fill(&f, 28);
	return f;
}

static struct frame
multicast(void)
{
	struct frame f;
	uint32_t at;

	put_eth(&f, 1, 0x800);
	at = put_ip4(&f, "10.0.0.2", "224.0.0.251", UDP, 0, 0);
	put_udp(&f, 5353, 5353);
	put_len4(&f, at);
	return f;
}

/* ---- bursts ----------------------------------------------------------------------------------- */

static void
add(struct env *e, struct frame f)
{
	struct rte_mbuf *m = shim_buf_alloc(e->s, e->pool);

	assert_non_null(m);
	memcpy(shim_buf_append(m, (uint16_t)f.n), f.b, f.n);
	e->m[e->n++] = m;
}

/* Decides for what was added; frees what is not held, and what comes out. */
static void
run(struct env *e)
{
	e->nb_held = dispatch_burst(&e->d, e->m, e->n, now_ms(e), e->now_ns, e->to, e->held, e->held_to);
	for (unsigned int i = 0; i < e->n; i++)
		if (e->to[i] != DISPATCH_HELD)
			shim_buf_free(e->s, e->m[i]);
	for (unsigned int i = 0; i < e->nb_held; i++) {
		assert_int_not_equal(e->held_to[i], DISPATCH_HELD);
		shim_buf_free(e->s, e->held[i]);
	}
	e->n = 0;
}

static enum dispatch_to
one(struct env *e, struct frame f)
{
	add(e, f);
	run(e);
	return (enum dispatch_to)e->to[0];
}

static uint64_t
print_of(const struct flow_key *k)
{
	return flow_hash(&secret, k);
}

/* The peer serves the flow, last seen `ago` ms ago. */
static void
publish(struct env *e, const char *remote, unsigned int rport, uint32_t ago)
{
	struct flow_key k = key_of(UDP, remote, rport, strchr(remote, ':') ? L6 : L4, 53);

	pub_record(&e->writer, &k, now_ms(e) - ago);
	pub_flush(&e->writer);
}

/* ---- UDP by table ----------------------------------------------------------------------------- */

/* DSP-4, PUB-2 */
static void
published_flows_go_to_the_peer_and_others_are_local_and_learned(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 4000, 5);
	publish(e, R6, 4001, 5);
	assert_int_equal(one(e, udp4("10.0.0.2", 4000)), DISPATCH_PEER);
	assert_int_equal(one(e, udp6(4001)), DISPATCH_PEER);
	assert_int_equal(one(e, udp4("10.0.0.2", 4001)), DISPATCH_LOCAL);
	assert_int_equal(one(e, udp6(4000)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.forwarded, 2);
	assert_int_equal(e->d.st.kept, 2);
	assert_int_equal(e->d.st.taken_over, 0);
	/* the old worker sends to it late: that can not pull the flow back */
	publish(e, "10.0.0.2", 4001, 0);
	assert_int_equal(one(e, udp4("10.0.0.2", 4001)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.kept, 3);
}

/* DSP-4, DSP-5 */
static void
tcp_of_the_same_ports_is_another_flow(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 4000, 5);
	assert_int_equal(one(e, tcp4("10.0.0.2", 4000, 0x02)), DISPATCH_LOCAL);
	assert_int_equal(one(e, tcp4("10.0.0.2", 4000, 0x10)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.kept, 0); /* counts UDP */
	assert_int_equal(one(e, udp4("10.0.0.2", 4000)), DISPATCH_PEER);
}

/* PUB-4, DSP-4 */
static void
flows_that_fell_idle_are_taken_over(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, IDLE);
	publish(e, "10.0.0.2", 2, IDLE + 1);
	publish(e, "10.0.0.2", 3, (uint32_t)-5); /* its writer's clock is ahead */
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_PEER);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	assert_int_equal(one(e, udp4("10.0.0.2", 3)), DISPATCH_PEER);
	assert_int_equal(e->d.st.taken_over, 1);
}

/* PUB-3 */
static void
states_of_the_peers_table(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, 5);
	publish(e, "10.0.0.2", 2, 5);
	pub_state_set(&e->writer, PUB_NONE, 0);
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_PEER);
	assert_int_equal(one(e, udp4("10.0.0.2", 9)), DISPATCH_PEER); /* it does not publish: all, and none is learned */
	assert_int_equal(e->d.st.without_peer_table, 2);
	assert_int_equal(e->d.st.forwarded, 2);
	pub_state_set(&e->writer, PUB_PUBLISHING, WID - 2); /* another window's */
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_LOCAL);
	pub_state_set(&e->writer, PUB_PUBLISHING, WID);
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_LOCAL); /* learned */
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_PEER);
	pub_state_set(&e->writer, PUB_HANDED, WID);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.taken_over, 2);
	assert_int_equal(e->d.st.without_peer_table, 2);
}

/* PUB-5 */
static void
a_dead_peer_gets_nothing(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, 5);
	e->d.peer_alive = false;
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.taken_over, 1);
	assert_int_equal(one(e, arp()), DISPATCH_LOCAL);
	assert_int_equal(one(e, error_about("10.0.0.2", 1, UDP, 3, 4)), DISPATCH_LOCAL);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 5, 9)), DISPATCH_LOCAL); /* nobody to wait for */
	pub_state_set(&e->writer, PUB_NONE, 0);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.cloned, 0);
}

/* PUB-1, PUB-3 */
static void
an_absent_or_hostile_table_forwards_nothing(void **state)
{
	struct env *e = *state;
	struct pub none;

	publish(e, "10.0.0.2", 1, 5);
	e->t->layout_version++;
	assert_int_equal(pub_attach(&none, e->s, e->t, pub_table_size(ENTRIES), 1, &secret, IDLE), -EPROTO);
	dispatch_open(&e->d, &none, WID);
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_LOCAL);
	assert_int_equal(one(e, arp()), DISPATCH_BOTH); /* it lives, and has neighbours */
	dispatch_open(&e->d, &e->reader, WID);
	memset(e->t, 0xff, pub_table_size(ENTRIES));
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_LOCAL);
}

/* DSP-4, PUB-3 */
static void
by_table_alone(void **state)
{
	struct env *e = *state;
	struct flow_key k = key_of(UDP, "10.0.0.2", 1, L4, 53), other = key_of(UDP, "10.0.0.2", 2, L4, 53);

	publish(e, "10.0.0.2", 1, 5);
	assert_int_equal(dispatch_udp(&e->d, print_of(&k), now_ms(e)), DISPATCH_PEER);
	assert_int_equal(dispatch_udp(&e->d, print_of(&other), now_ms(e)), DISPATCH_LOCAL);
	assert_int_equal(dispatch_udp(&e->d, print_of(&k), now_ms(e) + IDLE), DISPATCH_LOCAL);
	pub_state_set(&e->writer, PUB_NONE, 0);
	assert_int_equal(dispatch_udp(&e->d, print_of(&other), now_ms(e)), DISPATCH_PEER);
	pub_state_set(&e->writer, PUB_HANDED, WID);
	assert_int_equal(dispatch_udp(&e->d, print_of(&k), now_ms(e)), DISPATCH_LOCAL);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.taken_over, 0); /* it learned nothing */
}

/* DSP-4 */
static void
a_full_flow_map_is_counted_and_the_flow_is_local_all_the_same(void **state)
{
	struct env *e = *state;

	flow_map_destroy(e->d.map);
	assert_int_equal(flow_map_create(e->s, 1024, 1024, &secret, &e->d.map), 0);
	for (unsigned int i = 0; i < 1024; i++)
		assert_int_equal(one(e, udp4("10.0.0.2", 1 + i)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.learn_full, 0);
	assert_int_equal(one(e, udp4("10.0.0.2", 5000)), DISPATCH_LOCAL);
	assert_int_equal(one(e, udp4("10.0.0.2", 5000)), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.learn_full, 2);
}

/* ---- other frames ----------------------------------------------------------------------------- */

/* DSP-6, DSP-8 */
static void
neighbours_and_too_big_reach_both_groups_and_the_unknown_are_the_owners(void **state)
{
	struct env *e = *state;
	struct frame f;

	publish(e, "10.0.0.2", 1, 5);
	assert_int_equal(one(e, arp()), DISPATCH_BOTH);
	put_eth(&f, 0x33, 0x86dd);
	put_ip6(&f, R6, "ff02::1", 58);
	put_icmp(&f, 136, 0);
	put_len6(&f, 14);
	assert_int_equal(one(e, f), DISPATCH_BOTH);
	assert_int_equal(one(e, error_about("10.0.0.2", 1, UDP, 3, 4)), DISPATCH_BOTH);
	assert_int_equal(one(e, error_about("10.0.0.9", 9, UDP, 3, 4)), DISPATCH_BOTH); /* nobody knows the flow */
	assert_int_equal(e->d.st.cloned, 4);
	assert_int_equal(one(e, multicast()), DISPATCH_LOCAL);
	put_eth(&f, 2, 0x88cc);
	assert_int_equal(one(e, f), DISPATCH_LOCAL);
	assert_int_equal(e->d.st.forwarded + e->d.st.kept, 0);
}

/* DSP-6 */
static void
errors_go_where_the_flow_goes(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, 5);
	assert_int_equal(one(e, error_about("10.0.0.2", 1, UDP, 3, 3)), DISPATCH_PEER);
	assert_int_equal(one(e, error_about("10.0.0.2", 1, TCP, 3, 3)), DISPATCH_LOCAL);
	assert_int_equal(one(e, error_about("10.0.0.2", 2, UDP, 3, 3)), DISPATCH_LOCAL);
	assert_int_equal(one(e, error_about("10.0.0.2", 2, 50, 3, 3)), DISPATCH_LOCAL);
	publish(e, "10.0.0.2", 2, 0); /* an error is no flow: nothing was learned */
	assert_int_equal(one(e, error_about("10.0.0.2", 2, UDP, 11, 0)), DISPATCH_PEER);
	assert_int_equal(one(e, udp4("10.0.0.2", 3)), DISPATCH_LOCAL);
	publish(e, "10.0.0.2", 3, 0);
	assert_int_equal(one(e, error_about("10.0.0.2", 3, UDP, 3, 3)), DISPATCH_LOCAL); /* learned */
	pub_state_set(&e->writer, PUB_NONE, 0);
	assert_int_equal(one(e, error_about("10.0.0.2", 7, UDP, 3, 3)), DISPATCH_PEER);
	assert_int_equal(e->d.st.forwarded, 3);
	assert_int_equal(e->d.st.without_peer_table, 1);
}

/* DSP-9 */
static void
a_burst_is_decided_frame_by_frame_in_place(void **state)
{
	static const uint8_t way[] = {
		DISPATCH_PEER, DISPATCH_LOCAL, DISPATCH_BOTH, DISPATCH_LOCAL, DISPATCH_PEER, DISPATCH_LOCAL,
	};
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, 5);
	publish(e, R6, 2, 5);
	for (unsigned int i = 0; i < 60; i += 6) {
		add(e, udp4("10.0.0.2", 1));
		add(e, udp4("10.0.0.3", 1));
		add(e, arp());
		add(e, tcp4("10.0.0.2", 1, 2));
		add(e, udp6(2));
		add(e, multicast());
	}
	run(e);
	for (unsigned int i = 0; i < 60; i++)
		assert_int_equal(e->to[i], way[i % 6]);
	assert_int_equal(e->d.st.forwarded, 20);
	assert_int_equal(e->d.st.kept, 10);
	assert_int_equal(e->d.st.cloned, 10);
	for (unsigned int i = 0; i < 64; i++)
		add(e, udp4("10.0.0.2", 1));
	run(e);
	assert_int_equal(e->to[63], DISPATCH_PEER);
}

/* ---- fragments -------------------------------------------------------------------------------- */

/* DSP-6 */
static void
fragments_follow_their_first_one(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, 5);
	publish(e, R6, 3, 5);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 0)), DISPATCH_PEER);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 20)), DISPATCH_PEER);
	assert_int_equal(one(e, frag4("10.0.0.2", 2, 101, 0)), DISPATCH_LOCAL);
	assert_int_equal(one(e, frag4("10.0.0.2", 2, 101, 20)), DISPATCH_LOCAL);
	assert_int_equal(one(e, frag6(3, 5, 0)), DISPATCH_PEER);
	assert_int_equal(one(e, frag6(3, 5, 20)), DISPATCH_PEER);
	assert_int_equal(e->d.st.forwarded, 4);
	assert_int_equal(e->d.st.kept, 1);
	/* a second first fragment with other ports changes nothing */
	assert_int_equal(one(e, frag4("10.0.0.2", 2, 100, 0)), DISPATCH_PEER);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 40)), DISPATCH_PEER);
	/* and the flow of a first fragment is learned like any other */
	publish(e, "10.0.0.2", 2, 0);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	/* the peer is gone: so are its datagrams */
	e->d.peer_alive = false;
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 60)), DISPATCH_LOCAL);
}

/* DSP-6 */
static void
a_first_fragment_without_ports_is_the_owners(void **state)
{
	struct env *e = *state;
	struct frame f;

	put_eth(&f, 2, 0x800);
	put_ip4(&f, "10.0.0.2", L4, 1, MORE, 0);
	put_icmp(&f, 8, 0);
	put_len4(&f, 14);
	assert_int_equal(one(e, f), DISPATCH_LOCAL);
	f.b[14 + 7] = 9; /* a later one */
	assert_int_equal(one(e, f), DISPATCH_LOCAL);
}

/* DSP-6, DSP-9 */
static void
later_fragments_wait_for_their_first_one(void **state)
{
	struct env *e = *state;
	struct rte_mbuf *a, *b;

	publish(e, "10.0.0.2", 1, 5);
	assert_true(dispatch_next(&e->d) == UINT64_MAX);
	add(e, frag4("10.0.0.2", 1, 100, 40));
	add(e, frag4("10.0.0.2", 1, 100, 20));
	add(e, frag4("10.0.0.2", 2, 101, 20));
	a = e->m[0];
	b = e->m[1];
	run(e);
	assert_int_equal(e->to[0], DISPATCH_HELD);
	assert_int_equal(e->to[1], DISPATCH_HELD);
	assert_int_equal(e->to[2], DISPATCH_HELD);
	assert_int_equal(e->d.st.held, 3);
	assert_true(dispatch_next(&e->d) == e->now_ns + FRAG_HELD_MS * MS);
	e->now_ns += MS;
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 0)), DISPATCH_PEER);
	assert_int_equal(e->nb_held, 2);
	assert_ptr_equal(e->held[0], a);
	assert_ptr_equal(e->held[1], b);
	assert_int_equal(e->held_to[0], DISPATCH_PEER);
	assert_int_equal(e->held_to[1], DISPATCH_PEER);
	assert_int_equal(e->d.st.forwarded, 3);
	assert_int_equal(one(e, frag4("10.0.0.2", 2, 101, 0)), DISPATCH_LOCAL);
	assert_int_equal(e->nb_held, 1);
	assert_int_equal(e->held_to[0], DISPATCH_LOCAL);
	/* in one burst nothing waits */
	add(e, frag4("10.0.0.2", 1, 102, 20));
	add(e, frag4("10.0.0.2", 1, 102, 0));
	add(e, frag4("10.0.0.2", 1, 102, 40));
	run(e);
	assert_int_equal(e->to[0], DISPATCH_PEER);
	assert_int_equal(e->to[1], DISPATCH_PEER);
	assert_int_equal(e->to[2], DISPATCH_PEER);
	assert_int_equal(e->nb_held, 0);
	assert_int_equal(e->d.st.held, 3);
}

/* DSP-6 */
static void
fragments_whose_first_one_came_before_the_lane_go_to_both_for_a_while(void **state)
{
	struct env *e = *state;

	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 20)), DISPATCH_HELD);
	e->now_ns += FRAG_HELD_MS * MS - 1;
	run(e); /* no frames */
	assert_int_equal(e->nb_held, 0);
	e->now_ns += 1;
	run(e);
	assert_int_equal(e->nb_held, 1);
	assert_int_equal(e->held_to[0], DISPATCH_BOTH);
	assert_int_equal(e->d.st.cloned, 1);
	/* no longer than the old stack may be putting things together from before */
	e->now_ns += FRAG_OWNER_MS * MS;
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 101, 20)), DISPATCH_HELD);
	e->now_ns += FRAG_HELD_MS * MS;
	run(e);
	assert_int_equal(e->nb_held, 1);
	assert_int_equal(e->held_to[0], DISPATCH_LOCAL);
	/* a new window begins anew */
	dispatch_open(&e->d, &e->reader, WID);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 102, 20)), DISPATCH_HELD);
	e->d.peer_alive = false;
	e->now_ns += FRAG_HELD_MS * MS;
	run(e);
	assert_int_equal(e->held_to[0], DISPATCH_LOCAL);
}

/* DSP-6 */
static void
no_more_than_so_many_fragments_wait(void **state)
{
	struct env *e = *state;
	unsigned int waiting = 0;

	for (unsigned int i = 0; i < 64; i++)
		add(e, frag4("10.0.0.2", 1, 100 + i, 20));
	run(e);
	for (unsigned int i = 0; i < 64; i++)
		waiting += e->to[i] == DISPATCH_HELD;
	assert_int_equal(waiting, FRAG_HELD);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 300, 20)), DISPATCH_BOTH);
	/* their first ones and their time come in one burst: each comes out once, and there is room again */
	publish(e, "10.0.0.2", 1, 0);
	e->now_ns += FRAG_HELD_MS * MS;
	for (unsigned int i = 0; i < 32; i++)
		add(e, frag4("10.0.0.2", 1, 100 + i, 0));
	for (unsigned int i = 0; i < 32; i++)
		add(e, frag4("10.0.0.2", 1, 400 + i, 20));
	run(e);
	assert_int_equal(e->nb_held, 64);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(e->held_to[i], i < 32 ? DISPATCH_PEER : DISPATCH_BOTH);
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(e->to[32 + i], DISPATCH_HELD);
	/* the rest goes home with the dispatcher */
}

/* ---- windows ---------------------------------------------------------------------------------- */

/* DSP-4, DSP-6 */
static void
closing_lets_everything_out_and_all_is_local(void **state)
{
	struct env *e = *state;

	publish(e, "10.0.0.2", 1, 5);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 100, 20)), DISPATCH_HELD);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 101, 20)), DISPATCH_HELD);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_LOCAL);
	assert_int_equal(dispatch_close(&e->d, e->held, 1), 1);
	shim_buf_free(e->s, e->held[0]);
	assert_int_equal(one(e, udp4("10.0.0.2", 1)), DISPATCH_LOCAL);
	assert_int_equal(one(e, arp()), DISPATCH_LOCAL);
	assert_int_equal(one(e, frag4("10.0.0.2", 1, 102, 20)), DISPATCH_LOCAL);
	e->now_ns += FRAG_HELD_MS * MS;
	run(e);
	assert_int_equal(e->nb_held, 1); /* what there was no room for */
	assert_int_equal(e->held_to[0], DISPATCH_LOCAL);
	assert_int_equal(dispatch_close(&e->d, e->held, FRAG_HELD), 0);
	assert_int_equal(e->d.st.kept, 1); /* the window's figures stay until the next one */
	dispatch_open(&e->d, &e->reader, WID);
	assert_int_equal(e->d.st.kept, 0);
	publish(e, "10.0.0.2", 2, 0);
	assert_int_equal(one(e, udp4("10.0.0.2", 2)), DISPATCH_PEER); /* learned flows were forgotten */
}

/* DSP-4 */
static void
without_memory_there_is_no_dispatcher(void **state)
{
	struct env *e = *state;
	struct dispatcher d;
	unsigned int before = mock_mallocs_out(e->s), k;
	int rc;

	for (k = 1;; k++) {
		mock_fail_malloc_at(e->s, k);
		rc = dispatch_create(&d, e->s, &secret);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(mock_mallocs_out(e->s), before);
	}
	assert_in_range(k, 3, 100);
	mock_fail_malloc_at(e->s, 0);
	dispatch_destroy(&d);
	dispatch_destroy(&d); /* again: nothing is left */
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(published_flows_go_to_the_peer_and_others_are_local_and_learned),
		T(tcp_of_the_same_ports_is_another_flow),
		T(flows_that_fell_idle_are_taken_over),
		T(states_of_the_peers_table),
		T(a_dead_peer_gets_nothing),
		T(an_absent_or_hostile_table_forwards_nothing),
		T(by_table_alone),
		T(a_full_flow_map_is_counted_and_the_flow_is_local_all_the_same),
		T(neighbours_and_too_big_reach_both_groups_and_the_unknown_are_the_owners),
		T(errors_go_where_the_flow_goes),
		T(a_burst_is_decided_frame_by_frame_in_place),
		T(fragments_follow_their_first_one),
		T(a_first_fragment_without_ports_is_the_owners),
		T(later_fragments_wait_for_their_first_one),
		T(fragments_whose_first_one_came_before_the_lane_go_to_both_for_a_while),
		T(no_more_than_so_many_fragments_wait),
		T(closing_lets_everything_out_and_all_is_local),
		T(without_memory_there_is_no_dispatcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

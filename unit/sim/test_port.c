/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated ports: filters, offloads, RSS, roles, injected errors. */
#include "bed.h"

#include "core/base/csum.h"
#include "core/base/hash.h"
#include "shim/host/sim/frame.h"

#define ALL_RX (SHIM_RX_IPV4_CKSUM | SHIM_RX_UDP_CKSUM | SHIM_RX_TCP_CKSUM | SHIM_RX_VLAN_STRIP | SHIM_RX_RSS_HASH | \
	SHIM_RX_SCATTER)
#define ALL_TX (SHIM_TX_IPV4_CKSUM | SHIM_TX_UDP_CKSUM | SHIM_TX_TCP_CKSUM | SHIM_TX_VLAN_INSERT | SHIM_TX_MULTI_SEGS)

static struct sim_port *
add(struct bed *b, struct sim_port_conf conf)
{
	return sim_machine_port_add(b->m, &conf);
}

static void
up(struct bed *b, struct sim_port *p, uint16_t queues, bool rss)
{
	struct shim_port_conf c = { .nb_rx_queues = queues, .nb_tx_queues = queues, .mtu = 1500, .pool = b->pool,
		.rx_offloads = p->conf.rx_offloads, .tx_offloads = p->conf.tx_offloads, .rss = rss, .nb_rx_desc = 512 };

	assert_int_equal(shim_port_configure(b->s, p->index, &c), 0);
	assert_int_equal(shim_port_start(b->s, p->index), 0);
}

/* A UDP packet over IPv4 or IPv6 with right checksums; its length. */
static uint32_t
udp(const struct sim_port *p, uint8_t *f, int family, uint32_t src, uint16_t sport, uint16_t dport, bool vlan)
{
	static const uint8_t from[6] = { 2, 9, 9, 9, 9, 9 };
	uint32_t l3 = vlan ? 18 : 14, l4 = l3 + (family == 4 ? 20 : 40), n = 8 + 20;
	uint64_t pseudo;

	memset(f, 0, l4 + n);
	memcpy(f, p->conf.mac, 6);
	memcpy(f + 6, from, 6);
	if (vlan) {
		put_be16(f + 12, 0x8100);
		put_be16(f + 14, 0x2005);
	}
	put_be16(f + l3 - 2, family == 4 ? 0x0800 : 0x86dd);
	if (family == 4) {
		f[l3] = 0x45;
		put_be16(f + l3 + 2, (uint16_t)(20 + n));
		f[l3 + 8] = 64;
		f[l3 + 9] = 17;
		memcpy(f + l3 + 12, &src, 4);
		put_be32(f + l3 + 16, 0x0a000001);
		uint16_t c = csum_finish(csum_add(0, f + l3, 20));
		memcpy(f + l3 + 10, &c, 2);
		pseudo = csum_pseudo4(src, be32(0x0a000001), 17, (uint16_t)n);
	} else {
		f[l3] = 0x60;
		put_be16(f + l3 + 4, (uint16_t)n);
		f[l3 + 6] = 17;
		f[l3 + 7] = 64;
		memcpy(f + l3 + 20, &src, 4);
		f[l3 + 24 + 15] = 1;
		pseudo = csum_pseudo6(f + l3 + 8, f + l3 + 24, 17, n);
	}
	put_be16(f + l4, sport);
	put_be16(f + l4 + 2, dport);
	put_be16(f + l4 + 4, (uint16_t)n);
	for (uint32_t i = 8; i < n; i++)
		f[l4 + i] = (uint8_t)(i * 7);
	uint16_t c = csum_finish(csum_add(pseudo, f + l4, n));
	memcpy(f + l4 + 6, &c, 2);
	return l4 + n;
}

static struct rte_mbuf *
one(struct bed *b, struct sim_port *p, uint16_t queue)
{
	struct rte_mbuf *m = NULL;

	return shim_rx_burst(b->s, p->index, queue, &m, 1) == 1 ? m : NULL;
}

/* SHM-5 */
static void
the_address_filter_is_a_card_s(void **state)
{
	const uint8_t other[6] = { 2, 1, 2, 3, 4, 5 }, group[6] = { 0x33, 0x33, 0, 0, 0, 1 };
	uint8_t f[128];
	struct sim_port *p;
	struct bed b;
	uint32_t n;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ 0 });
	n = udp(p, f, 4, 1, 1, 1, false);
	sim_port_receive(p, f, n); /* not started */
	up(&b, p, 1, false);
	sim_port_receive(p, f, n);
	memset(f, 0xff, 6);
	sim_port_receive(p, f, n);
	assert_int_equal(p->st.rx_packets, 2);
	memcpy(f, other, 6);
	sim_port_receive(p, f, n);
	memcpy(f, group, 6);
	sim_port_receive(p, f, n);
	assert_int_equal(p->filtered, 2);
	assert_int_equal(shim_port_allmulticast_set(b.s, 0, true), 0);
	sim_port_receive(p, f, n);
	assert_int_equal(p->st.rx_packets, 3);
	assert_int_equal(shim_port_promiscuous_get(b.s, 0), 0);
	assert_int_equal(shim_port_promiscuous_set(b.s, 0, true), 0);
	assert_int_equal(shim_port_promiscuous_get(b.s, 0), 1);
	memcpy(f, other, 6);
	sim_port_receive(p, f, n);
	assert_int_equal(p->st.rx_packets, 4);
	sim_port_link_set(p, false);
	sim_port_receive(p, f, n);
	assert_int_equal(p->st.rx_packets, 4);
	assert_int_equal(b.ready, 4);
	bed_close(&b);
}

static void
too_long_too_short_no_room_and_no_buffer_are_counted_apart(void **state)
{
	static uint8_t f[4000];
	struct rte_mbuf *m[1024];
	unsigned int held = 0;
	struct sim_port *p;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .no_filter = true });
	up(&b, p, 1, false);
	sim_port_receive(p, f, 13);
	sim_port_receive(p, f, 1500 + 23);
	assert_int_equal(p->st.rx_errors, 2);
	sim_port_receive(p, f, 1500 + 22);
	sim_port_receive_on(p, 5, f, 100); /* no such queue */
	assert_int_equal(p->st.rx_packets, 1);
	for (int i = 0; i < 600; i++)
		sim_port_receive(p, f, 60);
	assert_int_equal(p->st.rx_packets, 512);
	assert_int_equal(p->st.rx_missed, 600 - 511);
	while (held < 1024 && (m[held] = shim_buf_alloc(b.s, b.pool)) != NULL)
		held++;
	for (int i = 0; i < 3; i++)
		shim_buf_free(b.s, one(&b, p, 0));
	while ((m[held] = shim_buf_alloc(b.s, b.pool)) != NULL)
		held++;
	sim_port_receive(p, f, 60);
	assert_int_equal(p->st.rx_nombuf, 1);
	shim_buf_free_bulk(b.s, m, held);
	assert_int_equal(shim_port_stop(b.s, 0), 0); /* what waited goes home */
	assert_int_equal(shim_pool_avail(b.s, b.pool), 1024);
	bed_close(&b);
}

/* STK-4's ground */
static void
received_checksums_are_marked_good_bad_or_not_at_all(void **state)
{
	uint8_t f[128];
	struct rte_mbuf *m;
	struct sim_port *p;
	struct bed b;
	uint32_t n;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .rx_offloads = ALL_RX });
	up(&b, p, 1, false);
	for (int family = 4; family <= 6; family += 2) {
		n = udp(p, f, family, 0x12345678, 1000, 53, false);
		sim_port_receive(p, f, n);
		m = one(&b, p, 0);
		assert_true((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD);
		assert_true((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) ==
			(family == 4 ? RTE_MBUF_F_RX_IP_CKSUM_GOOD : RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN));
		shim_buf_free(b.s, m);
		f[n - 1] ^= 1;
		sim_port_receive(p, f, n);
		m = one(&b, p, 0);
		assert_true((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD);
		shim_buf_free(b.s, m);
	}
	n = udp(p, f, 4, 0x12345678, 1000, 53, false);
	f[14 + 8] ^= 1; /* TTL */
	sim_port_receive(p, f, n);
	m = one(&b, p, 0);
	assert_true((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD);
	shim_buf_free(b.s, m);
	n = udp(p, f, 4, 0x12345678, 1000, 53, false);
	f[14 + 26] = f[14 + 27] = 0; /* UDP without a checksum */
	sim_port_receive(p, f, n);
	m = one(&b, p, 0);
	assert_true((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == 0);
	shim_buf_free(b.s, m);
	bed_close(&b);
}

static void
tags_are_stripped_and_inserted(void **state)
{
	uint8_t f[128], g[128];
	struct rte_mbuf *m;
	struct sim_port *p;
	struct bed b;
	uint32_t n;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .rx_offloads = ALL_RX, .tx_offloads = ALL_TX });
	up(&b, p, 1, false);
	n = udp(p, f, 4, 1, 2, 3, true);
	sim_port_receive(p, f, n);
	m = one(&b, p, 0);
	assert_int_equal(m->vlan_tci, 0x2005);
	assert_true((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0);
	assert_true((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	assert_int_equal(shim_buf_len(m), n - 4);
	assert_int_equal(udp(p, g, 4, 1, 2, 3, false), n - 4);
	assert_memory_equal(shim_buf_data(m), g, n - 4);
	/* and back out again, the tag by the card */
	m->ol_flags = RTE_MBUF_F_TX_VLAN;
	assert_int_equal(shim_tx_burst(b.s, 0, 0, &m, 1), 1);
	assert_int_equal(b.len, n);
	assert_memory_equal(b.frame, f, n);
	bed_close(&b);
}

/* STK-4's ground */
static void
the_card_computes_the_checksums_it_is_asked_for(void **state)
{
	uint8_t want[128];
	struct sim_port *p;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .tx_offloads = ALL_TX });
	up(&b, p, 1, false);
	for (int family = 4; family <= 6; family += 2) {
		uint32_t n = udp(p, want, family, 0x0badcafe, 4000, 7, false), l4 = family == 4 ? 34 : 54;
		struct rte_mbuf *m = shim_buf_alloc(b.s, b.pool);
		uint8_t *f = shim_buf_append(m, (uint16_t)n);
		uint16_t pseudo;

		memcpy(f, want, n);
		m->l2_len = 14;
		m->l3_len = l4 - 14;
		m->ol_flags = RTE_MBUF_F_TX_UDP_CKSUM;
		if (family == 4) {
			m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4;
			put_be16(f + 24, 0);
			pseudo = csum_fold(csum_pseudo4(0x0badcafe, be32(0x0a000001), 17, 28));
		} else {
			pseudo = csum_fold(csum_pseudo6(f + 22, f + 38, 17, 28));
		}
		memcpy(f + l4 + 6, &pseudo, 2);
		assert_int_equal(shim_tx_burst(b.s, 0, 0, &m, 1), 1);
		assert_int_equal(b.len, n);
		assert_memory_equal(b.frame, want, n);
	}
	bed_close(&b);
}

static void
frames_that_a_card_would_refuse_are_counted_and_freed(void **state)
{
	struct sim_port *p, *q;
	struct rte_mbuf *m, *t;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ 0 });
	q = add(&b, (struct sim_port_conf){ .tx_offloads = ALL_TX });
	up(&b, p, 1, false);
	up(&b, q, 1, false);
	for (int i = 0; i < 7; i++) {
		struct sim_port *at = i >= 5 ? q : p;

		m = shim_buf_alloc(b.s, b.pool);
		memset(shim_buf_append(m, i == 0 ? 13 : i == 1 ? 1523 : 60), 0, i == 0 ? 13 : 60);
		m->l2_len = 14;
		m->l3_len = 20;
		if (i == 2)
			m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM; /* not configured */
		if (i == 3)
			m->ol_flags |= RTE_MBUF_F_TX_VLAN;
		if (i == 4) { /* a chain */
			t = shim_buf_alloc(b.s, b.pool);
			memset(shim_buf_append(t, 10), 0, 10);
			shim_buf_chain(m, t);
		}
		if (i == 5) { /* headers beyond the frame */
			m->l3_len = 60;
			m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
		}
		if (i == 6)
			m->ol_flags |= RTE_MBUF_F_TX_SCTP_CKSUM;
		assert_int_equal(shim_tx_burst(b.s, at->index, 0, &m, 1), 1);
		assert_int_equal(p->st.tx_errors + q->st.tx_errors, i + 1);
	}
	assert_int_equal(b.frames, 0);
	sim_port_inject(p, SIM_INJECT_TX, 0, 1);
	m = shim_buf_alloc(b.s, b.pool);
	memset(shim_buf_append(m, 60), 0, 60);
	assert_int_equal(shim_tx_burst(b.s, 0, 0, &m, 1), 0);
	assert_int_equal(shim_tx_burst(b.s, 0, 9, &m, 1), 0);
	assert_int_equal(shim_tx_burst(b.s, 9, 0, &m, 1), 0);
	assert_int_equal(shim_tx_burst(b.s, 0, 0, &m, 1), 1);
	assert_int_equal(b.frames, 1);
	bed_close(&b);
}

static void
long_frames_are_scattered_over_small_buffers(void **state)
{
	static uint8_t f[3000], back[3000];
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 3000, .rx_offloads = SHIM_RX_SCATTER,
		.tx_offloads = SHIM_TX_MULTI_SEGS };
	struct sim_port *p;
	struct rte_mbuf *m;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .rx_offloads = ALL_RX, .tx_offloads = ALL_TX, .no_filter = true });
	assert_int_equal(shim_pool_create(b.s, "small", 4, 1128, &c.pool), 0);
	c.rx_offloads = 0;
	assert_int_equal(shim_port_configure(b.s, 0, &c), -EINVAL); /* does not fit one buffer */
	c.rx_offloads = SHIM_RX_SCATTER;
	assert_int_equal(shim_port_configure(b.s, 0, &c), 0);
	assert_int_equal(shim_port_start(b.s, 0), 0);
	for (unsigned int i = 0; i < sizeof(f); i++)
		f[i] = (uint8_t)(i * 11);
	put_be16(f + 12, 0x1234);
	sim_port_receive(p, f, sizeof(f));
	m = one(&b, p, 0);
	assert_int_equal(m->nb_segs, 3);
	assert_int_equal(shim_buf_len(m), sizeof(f));
	assert_memory_equal(shim_buf_read(m, 0, sizeof(f), back), f, sizeof(f));
	sim_port_receive(p, f, sizeof(f)); /* two buffers short */
	assert_int_equal(p->st.rx_nombuf, 1);
	assert_int_equal(shim_pool_avail(b.s, c.pool), 1);
	assert_int_equal(shim_tx_burst(b.s, 0, 0, &m, 1), 1);
	assert_int_equal(b.len, sizeof(f));
	assert_memory_equal(b.frame, f, sizeof(f));
	bed_close(&b);
}

/* DSP-7's ground */
static void
rss_spreads_flows_evenly_and_as_the_published_hash(void **state)
{
	unsigned int seen[4] = { 0 };
	uint16_t reta[128];
	uint8_t f[128], key[52], len = 52;
	struct sim_port *p;
	struct rte_mbuf *m;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .rx_offloads = ALL_RX, .reta_size = 128 });
	up(&b, p, 4, true);
	assert_int_equal(shim_port_rss_key_get(b.s, 0, key, &len), 0);
	assert_int_equal(len, 40);
	for (uint32_t i = 0; i < 4000; i++) {
		int family = i & 1 ? 6 : 4;
		uint32_t n = udp(p, f, family, 0x9e3779b9u * i, (uint16_t)(1024 + i), 53, false);
		uint8_t in[36];
		uint32_t k = family == 4 ? 8 : 32, hash;
		uint16_t q;

		memcpy(in, f + (family == 4 ? 26 : 22), k);
		memcpy(in + k, f + (family == 4 ? 34 : 54), 4);
		hash = toeplitz(key, 40, in, k + 4);
		q = (uint16_t)(hash % 128 % 4);
		sim_port_receive(p, f, n);
		m = one(&b, p, q);
		assert_non_null(m);
		assert_int_equal(m->hash.rss, hash);
		assert_true((m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0);
		seen[q]++;
		shim_buf_free(b.s, m);
	}
	for (int q = 0; q < 4; q++)
		assert_in_range(seen[q], 850, 1150);

	/* everything to queue 3; fragments go by addresses alone; what is not IP goes to queue 0 */
	for (int i = 0; i < 128; i++)
		reta[i] = 3;
	assert_int_equal(shim_port_reta_set(b.s, 0, reta, 128), 0);
	memset(reta, 0, sizeof(reta));
	assert_int_equal(shim_port_reta_get(b.s, 0, reta, 128), 0);
	assert_int_equal(reta[77], 3);
	uint32_t n = udp(p, f, 4, 5, 6, 7, false);
	f[20] = 0x20; /* more fragments */
	sim_port_receive(p, f, n);
	m = one(&b, p, 3);
	assert_int_equal(m->hash.rss, toeplitz(key, 40, f + 26, 8));
	shim_buf_free(b.s, m);
	put_be16(f + 12, 0x0806);
	sim_port_receive(p, f, n);
	m = one(&b, p, 0);
	assert_non_null(m);
	shim_buf_free(b.s, m);
	bed_close(&b);
}

static void
rss_can_be_refused(void **state)
{
	uint8_t key[52] = { 0 }, len = 8;
	uint16_t reta[128] = { 9 };
	struct bed b;
	struct sim_port *p;

	(void)state;
	bed_open(&b);
	add(&b, (struct sim_port_conf){ 0 });
	p = add(&b, (struct sim_port_conf){ .reta_size = 128, .rss_key_size = 52, .stop_forgets = true });
	assert_int_equal(shim_port_rss_key_get(b.s, 0, key, &len), -ENOTSUP);
	assert_int_equal(shim_port_rss_key_set(b.s, 0, key, 40), -ENOTSUP);
	assert_int_equal(shim_port_reta_get(b.s, 0, reta, 128), -ENOTSUP);
	assert_int_equal(shim_port_reta_set(b.s, 0, reta, 128), -ENOTSUP);
	up(&b, p, 2, true);
	assert_int_equal(shim_port_rss_key_get(b.s, 1, key, &len), -ENOSPC);
	assert_int_equal(shim_port_rss_key_set(b.s, 1, key, 40), -EINVAL);
	assert_int_equal(shim_port_reta_get(b.s, 1, reta, 64), -EINVAL);
	reta[0] = 9;
	assert_int_equal(shim_port_reta_set(b.s, 1, reta, 128), -EINVAL);
	assert_int_equal(shim_port_reta_set(b.s, 1, reta, 12), -EINVAL);
	memset(key, 0x6d, sizeof(key));
	assert_int_equal(shim_port_rss_key_set(b.s, 1, key, 52), 0);
	assert_int_equal(shim_port_promiscuous_set(b.s, 1, true), 0);
	assert_int_equal(shim_port_stop(b.s, 1), 0); /* and forgets */
	len = 52;
	assert_int_equal(shim_port_rss_key_get(b.s, 1, key, &len), 0);
	assert_true(key[1] != 0x6d);
	assert_int_equal(shim_port_promiscuous_get(b.s, 1), 0);
	bed_close(&b);
}

/* MTU-5's ground */
static void
device_calls_can_be_made_to_fail(void **state)
{
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	struct shim_port_info info;
	struct sim_port *p;
	struct bed b;
	uint16_t mtu;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .mtu_needs_stop = true, .max_mtu = 9000 });
	c.pool = b.pool;
	assert_int_equal(shim_port_start(b.s, 0), -EINVAL); /* not configured */
	for (int op = 0; op < SIM_INJECT_COUNT; op++)
		sim_port_inject(p, op, -EIO - op, 1);
	assert_int_equal(shim_port_configure(b.s, 0, &c), -EIO - SIM_INJECT_CONFIGURE);
	assert_int_equal(shim_port_start(b.s, 0), -EIO - SIM_INJECT_START);
	assert_int_equal(shim_port_stop(b.s, 0), -EIO - SIM_INJECT_STOP);
	assert_int_equal(shim_port_mtu_get(b.s, 0, &mtu), -EIO - SIM_INJECT_MTU_GET);
	assert_int_equal(shim_port_mtu_set(b.s, 0, 1000), -EIO - SIM_INJECT_MTU_SET);
	assert_int_equal(shim_port_promiscuous_set(b.s, 0, true), -EIO - SIM_INJECT_PROMISCUOUS);
	assert_int_equal(shim_port_allmulticast_set(b.s, 0, true), -EIO - SIM_INJECT_ALLMULTICAST);
	assert_int_equal(shim_port_info(b.s, 0, &info), -EIO - SIM_INJECT_INFO);
	/* and once only */
	assert_int_equal(shim_port_configure(b.s, 0, &c), 0);
	assert_int_equal(shim_port_start(b.s, 0), 0);
	assert_int_equal(shim_port_configure(b.s, 0, &c), -EBUSY);
	assert_int_equal(shim_port_mtu_set(b.s, 0, 1000), -EBUSY);
	assert_int_equal(shim_port_stop(b.s, 0), 0);
	assert_int_equal(shim_port_mtu_set(b.s, 0, 1000), 0);
	assert_int_equal(shim_port_mtu_set(b.s, 0, 67), -EINVAL);
	assert_int_equal(shim_port_mtu_set(b.s, 0, 9001), -EINVAL);
	assert_int_equal(shim_port_mtu_set(b.s, 0, 9000), -EINVAL); /* does not fit the buffers */
	assert_int_equal(shim_port_mtu_get(b.s, 0, &mtu), 0);
	assert_int_equal(mtu, 1000);
	bed_close(&b);
}

static void
bad_configurations_are_refused(void **state)
{
	const struct shim_port_conf good = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	const uint8_t key[40] = { 0 };
	struct shim_port_conf c;
	struct bed b;

	(void)state;
	bed_open(&b);
	add(&b, (struct sim_port_conf){ .reta_size = 4096 });
	for (int i = 0; i < 10; i++) {
		c = good;
		c.pool = b.pool;
		if (i == 0) c.nb_rx_queues = 0;
		if (i == 1) c.nb_rx_queues = 5;
		if (i == 2) c.nb_tx_queues = 0;
		if (i == 3) c.nb_tx_queues = 5;
		if (i == 4) c.rx_offloads = SHIM_RX_LRO;
		if (i == 5) c.tx_offloads = SHIM_TX_TCP_TSO;
		if (i == 6) c.mtu = 60;
		if (i == 7) c.mtu = 60000;
		if (i == 8) c.pool = NULL;
		if (i == 9) { c.rss_key = key; c.rss_key_len = 39; }
		assert_int_equal(shim_port_configure(b.s, 0, &c), -EINVAL);
	}
	assert_int_equal(shim_port_configure(b.s, 3, &good), -ENODEV);
	bed_close(&b);
}

/* SHM-5; REL-5's ground */
static void
a_queue_has_one_owner_until_it_is_released(void **state)
{
	struct rte_mbuf *m;
	struct shim *w, *v, *o;
	struct sim_port *p;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ 0 });
	up(&b, p, 2, false);
	w = bed_door(&b, SHIM_ROLE_WORKER, 2);
	v = bed_door(&b, SHIM_ROLE_WORKER, 3);
	o = bed_door(&b, SHIM_ROLE_OBSERVER, 4);
	shim_rx_burst(w, 0, 0, &m, 1);
	shim_rx_burst(v, 0, 1, &m, 1);
	assert_int_equal(sim_machine_role_violations(b.m), 0);
	shim_rx_burst(v, 0, 0, &m, 1);
	assert_int_equal(shim_role_violations(v), 1);
	assert_string_equal(b.m->violation, "rx queue 0 of port 0 is used by two processes");
	shim_tx_burst(o, 0, 0, &m, 0);
	assert_string_equal(b.m->violation, "tx queue 0 of port 0 is used by an observer");
	assert_int_equal(shim_port_stop(v, 0), -EPERM);
	assert_int_equal(sim_machine_role_violations(b.m), 3);
	sim_port_queue_release(p, 0);
	shim_rx_burst(v, 0, 0, &m, 1);
	sim_door_close(sim_door(v), true); /* the dead own nothing */
	shim_rx_burst(w, 0, 1, &m, 1);
	shim_rx_burst(w, 0, 0, &m, 1);
	assert_int_equal(sim_machine_role_violations(b.m), 3);
	shim_port_stop(b.s, 0);
	shim_rx_burst(w, 0, 0, &m, 1);
	assert_int_equal(p->polled_stopped, 1);
	assert_int_equal(shim_rx_burst(w, 7, 0, &m, 1), 0);
	sim_door_close(sim_door(w), false);
	sim_door_close(sim_door(o), false);
	bed_close(&b);
}

static void
what_a_port_says_of_itself(void **state)
{
	struct shim_port_stats st;
	struct shim_port_info i;
	struct shim_port_link l;
	struct sim_port *p;
	struct bed b;

	(void)state;
	bed_open(&b);
	p = add(&b, (struct sim_port_conf){ .max_queues = 100, .max_mtu = 1000, .reta_size = 64, .rss_key_size = 52 });
	assert_int_equal(shim_port_count(b.s), 1);
	assert_int_equal(shim_port_info(b.s, 0, &i), 0);
	assert_string_equal(i.driver, "sim");
	assert_int_equal(i.max_rx_queues, SHIM_MAX_QUEUES);
	assert_int_equal(i.nb_rx_queues, 0);
	assert_int_equal(i.reta_size, 64);
	assert_int_equal(i.rss_key_size, 52);
	assert_int_equal(i.mac[0], 2);
	assert_int_equal(p->mtu, 1000);
	assert_int_equal(shim_port_link(b.s, 0, &l), 0);
	assert_false(l.up);
	assert_int_equal(l.speed_mbps, 10000);
	assert_int_equal(shim_port_stats(b.s, 0, &st), 0);
	assert_int_equal(st.rx_packets, 0);
	assert_int_equal(shim_port_stats(b.s, 1, &st), -ENODEV);
	assert_int_equal(shim_port_link(b.s, 1, &l), -ENODEV);
	assert_int_equal(shim_port_promiscuous_get(b.s, 1), -ENODEV);
	for (int k = 1; k < SHIM_MAX_PORTS; k++)
		assert_non_null(add(&b, (struct sim_port_conf){ 0 }));
	assert_null(add(&b, (struct sim_port_conf){ 0 }));
	bed_close(&b);
}

/* Cut short in every way, a frame is nothing a card looks into. */
static void
parsing_keeps_to_the_frame(void **state)
{
	struct sim_frame_info i;
	struct sim_port p = { .conf.mac = { 2, 0, 0, 0, 0, 1 } };
	uint8_t f[128];

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		uint32_t n = udp(&p, f, kind & 1 ? 6 : 4, 1, 2, 3, kind & 2);

		for (uint32_t k = 0; k < n; k++) {
			sim_frame_parse(f, k, &i);
			assert_int_equal(i.family, 0);
			assert_int_equal(sim_frame_l4_csum(f, &i), SIM_CSUM_NONE);
		}
		sim_frame_parse(f, n, &i);
		assert_int_equal(i.end, n);
		assert_int_equal(i.proto, 17);
		assert_int_equal(sim_frame_l4_csum(f, &i), SIM_CSUM_GOOD);
	}
	uint32_t n = udp(&p, f, 4, 1, 2, 3, false);
	f[14] = 0x44; /* header length 16 */
	sim_frame_parse(f, n, &i);
	assert_int_equal(i.family, 0);
	f[14] = 0x4f; /* options up to 60 bytes: longer than the packet */
	sim_frame_parse(f, n, &i);
	assert_int_equal(i.family, 0);
	f[14] = 0x45;
	f[38] = 0xff; /* UDP length */
	sim_frame_parse(f, n, &i);
	assert_int_equal(sim_frame_l4_csum(f, &i), SIM_CSUM_NONE);
	f[23] = 6; /* a TCP header that is cut */
	put_be16(f + 16, 39);
	sim_frame_parse(f, n, &i);
	assert_int_equal(i.proto, 0);
	assert_int_equal(sim_sum((const uint8_t *)"\x01\x02\x03", 3, 0), 0x0402);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_address_filter_is_a_card_s),
		cmocka_unit_test(too_long_too_short_no_room_and_no_buffer_are_counted_apart),
		cmocka_unit_test(received_checksums_are_marked_good_bad_or_not_at_all),
		cmocka_unit_test(tags_are_stripped_and_inserted),
		cmocka_unit_test(the_card_computes_the_checksums_it_is_asked_for),
		cmocka_unit_test(frames_that_a_card_would_refuse_are_counted_and_freed),
		cmocka_unit_test(long_frames_are_scattered_over_small_buffers),
		cmocka_unit_test(rss_spreads_flows_evenly_and_as_the_published_hash),
		cmocka_unit_test(rss_can_be_refused),
		cmocka_unit_test(device_calls_can_be_made_to_fail),
		cmocka_unit_test(bad_configurations_are_refused),
		cmocka_unit_test(a_queue_has_one_owner_until_it_is_released),
		cmocka_unit_test(what_a_port_says_of_itself),
		cmocka_unit_test(parsing_keeps_to_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

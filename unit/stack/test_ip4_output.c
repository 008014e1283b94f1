/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 output: header, identification, checksums by port and by software, fragments, chains. */
#include "ip4_world.h"

static struct pkt P, Q;
static const struct ip_tx UDP_TX = { .proto = IP_PROTO_UDP };
static const struct ip_tx UDP_DF = { .proto = IP_PROTO_UDP, .df = true };

/* STK-2 */
static void
header_is_as_asked(void **state)
{
	struct ip_tx tx = { .proto = IP_PROTO_UDP, .ttl = 7, .tos = 0x28, .df = true };
	struct ip_path path = path_to(PEER);

	(void)state;
	assert_int_equal(ip_output(W.s, &path, &tx, payload(100, 0)), 0);
	tx_packet(0, &P);
	assert_int_equal(P.len, 120);
	assert_int_equal(P.b[0], 0x45);
	assert_int_equal(P.b[1], 0x28);
	assert_int_equal(be16(pkt_hdr(&P)->frag), IP4_DF);
	assert_int_equal(P.b[8], 7);
	assert_int_equal(P.b[9], IP_PROTO_UDP);
	assert_true(pkt_hdr(&P)->src == US && pkt_hdr(&P)->dst == PEER);
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(0, 0)), 0);
	tx_packet(1, &P);
	assert_int_equal(P.b[8], 64);
	assert_int_equal(pkt_hdr(&P)->frag, 0);
}

/* STK-2: RFC 6864 */
static void
atomic_datagram_id_free_non_atomic_id_unique(void **state)
{
	static bool seen[65536];
	struct ip_path path = path_to(PEER), other;
	uint16_t first = 0, id;

	(void)state;
	assert_int_equal(ip_output(W.s, &path, &UDP_DF, payload(8, 0)), 0);
	tx_packet(0, &P);
	assert_int_equal(pkt_hdr(&P)->id, 0);
	world_clear();
	for (unsigned int i = 0; i < 65536; i++) {
		assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(0, 0)), 0);
		if (i % 64 == 63 || i == 0) {
			tx_packet(W.ntx == 0 ? 0 : W.ntx - 1, &P);
			first = i == 0 ? pkt_hdr(&P)->id : first;
		}
		for (unsigned int k = 0; (i % 64 == 63 || i == 0) && k < W.ntx; k++) {
			tx_packet(k, &P);
			id = pkt_hdr(&P)->id;
			assert_false(seen[id]);
			seen[id] = true;
		}
		if (i % 64 == 63 || i == 0)
			world_clear();
	}
	/* another destination, another protocol: elsewhere in the cycle */
	world_know(A(10, 0, 0, 3));
	other = path_to(A(10, 0, 0, 3));
	assert_int_not_equal((uint16_t)other.id_hash, (uint16_t)path.id_hash);
	assert_int_equal(ip_output(W.s, &other, &UDP_TX, payload(0, 0)), 0);
	tx_packet(0, &P);
	assert_int_not_equal(pkt_hdr(&P)->id, first);
}

/* A UDP datagram as udp_output makes it: header, n bytes, checksum filled in for path. */
static struct rte_mbuf *
udp_buf(const struct ip_path *path, uint32_t n, uint32_t seg)
{
	struct rte_mbuf *m = payload(8 + n, seg);
	uint8_t *u = shim_buf_data(m);

	put_be16(u, 1000);
	put_be16(u + 2, 2000);
	put_be16(u + 4, (uint16_t)(8 + n));
	ip_l4_csum(W.s, path, IP_PROTO_UDP, 6, m);
	return m;
}

/* Sum over pseudo-header and UDP: right when 0. */
static uint16_t
udp_check(const struct pkt *p)
{
	uint32_t len = p->len - 20;

	return csum_finish(csum_add(csum_pseudo4(US, PEER, IP_PROTO_UDP, (uint16_t)len), p->b + 20, len));
}

/* STK-4 */
static void
checksums_in_software_where_the_port_has_none(void **state)
{
	struct ip_path path = path_to(PEER);

	(void)state;
	for (uint32_t n = 0; n < 300; n += 7) {
		assert_int_equal(ip_output(W.s, &path, &UDP_TX, udp_buf(&path, n, 8 + n / 3)), 0);
		tx_packet(0, &P);
		assert_int_equal(udp_check(&P), 0);
		assert_int_equal(W.tx[0]->ol_flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IP_CKSUM), 0);
		assert_int_equal(W.tx[0]->nb_segs, 1);
		world_clear();
	}
}

/* STK-4: RFC 768, the sum that comes out as zero */
static void
computed_zero_sent_as_ffff(void **state)
{
	struct ip_path path = path_to(PEER);
	struct rte_mbuf *m = payload(10, 0);
	uint8_t *u = shim_buf_data(m);
	uint16_t sum;

	(void)state;
	memset(u, 0, 10);
	put_be16(u + 4, 10);
	sum = csum_finish(csum_add(csum_pseudo4(US, PEER, IP_PROTO_UDP, 10), u, 10));
	memcpy(u + 8, &sum, 2); /* now the sum is all ones */
	ip_l4_csum(W.s, &path, IP_PROTO_UDP, 6, m);
	assert_int_equal(get_be16(u + 6), 0xffff);
	/* not so in TCP */
	memset(u, 0, 10);
	sum = csum_finish(csum_add(csum_pseudo4(US, PEER, IP_PROTO_TCP, 10), u, 10));
	memcpy(u + 8, &sum, 2);
	ip_l4_csum(W.s, &path, IP_PROTO_TCP, 6, m);
	assert_int_equal(get_be16(u + 6), 0);
	shim_buf_free(W.shim, m);
}

/* STK-4 */
static void
checksums_left_to_the_port_that_has_them(void **state)
{
	struct ip_path path = path_to(PEER);
	struct rte_mbuf *m;
	uint16_t pseudo = csum_fold(csum_pseudo4(US, PEER, IP_PROTO_UDP, 108)), field;

	(void)state;
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, udp_buf(&path, 100, 50)), 0);
	tx_packet(0, &P);
	m = W.tx[0];
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_L4_MASK, RTE_MBUF_F_TX_UDP_CKSUM);
	assert_true(m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM);
	assert_true(m->ol_flags & RTE_MBUF_F_TX_IPV4);
	assert_int_equal(m->l2_len, 14);
	assert_int_equal(m->l3_len, 20);
	assert_int_equal(pkt_hdr(&P)->csum, 0);
	memcpy(&field, P.b + 26, 2);
	assert_int_equal(field, pseudo);
	assert_true(m->nb_segs > 1); /* the port takes chains */
	/* TCP too; other protocols never */
	m = payload(100, 0);
	ip_l4_csum(W.s, &path, IP_PROTO_TCP, 16, m);
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_L4_MASK, RTE_MBUF_F_TX_TCP_CKSUM);
	ip_l4_csum_finish(m, 0);
	assert_int_equal(csum_finish(csum_add(csum_pseudo4(US, PEER, IP_PROTO_TCP, 100), shim_buf_data(m), 100)), 0);
	shim_buf_free(W.shim, m);
	m = payload(100, 0);
	ip_l4_csum(W.s, &path, 132, 8, m);
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_L4_MASK, 0);
	shim_buf_free(W.shim, m);
}

/* Puts the fragments sent together again, checks each; returns the payload's length. Q is the payload. */
static uint32_t
join_fragments(uint16_t mtu, uint32_t *count)
{
	uint32_t n = tx_count(), len = 0;
	uint16_t id = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t frag;

		tx_packet(i, &P);
		frag = be16(pkt_hdr(&P)->frag);
		assert_true(P.len <= mtu);
		assert_int_equal((frag & IP4_OFFMASK) * 8, len);
		assert_int_equal((frag & IP4_MF) != 0, i + 1 < n);
		if (i + 1 < n)
			assert_int_equal((P.len - 20) % 8, 0);
		if (i == 0)
			id = pkt_hdr(&P)->id;
		assert_int_equal(pkt_hdr(&P)->id, id);
		memcpy(Q.b + 20 + len, P.b + 20, P.len - 20);
		len += P.len - 20;
	}
	Q.len = 20 + len;
	*count = n;
	return len;
}

/* STK-2, STK-4: whoever was to do the checksum, it is right over the whole */
static void
fragments_make_the_datagram_again(void **state)
{
	static const uint32_t size[] = { 1473, 1480, 2952, 8000, 65507 };
	struct ip_path path = path_to(PEER);
	uint32_t n;

	(void)state;
	for (unsigned int i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		assert_int_equal(ip_output(W.s, &path, &UDP_TX, udp_buf(&path, size[i], 700)), 0);
		assert_int_equal(join_fragments(1500, &n), size[i] + 8);
		assert_int_equal(n, (size[i] + 8 + 1479) / 1480);
		assert_int_equal(udp_check(&Q), 0);
		world_clear();
	}
	/* the smallest MTU there may be */
	path.mtu = 68;
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, udp_buf(&path, 1000, 0)), 0);
	assert_int_equal(join_fragments(68, &n), 1008);
	assert_int_equal(n, 21);
	world_clear();
	/* a checksum asked of the port on a path that shrank afterwards is done before the cut */
	path = path_to(PEER);
	struct rte_mbuf *m = udp_buf(&path, 1000, 0);

	path.mtu = 576;
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, m), 0);
	assert_int_equal(join_fragments(576, &n), 1008);
	assert_int_equal(udp_check(&Q), 0);
	assert_int_equal(W.tx[0]->ol_flags & RTE_MBUF_F_TX_L4_MASK, 0);
}

/* STK-2 */
static void
over_mtu_with_df_or_over_65535_is_refused(void **state)
{
	struct ip_path path = path_to(PEER);

	(void)state;
	assert_int_equal(ip_output(W.s, &path, &UDP_DF, payload(1481, 0)), -EMSGSIZE);
	assert_int_equal(drops(STACK_DROP_IP4_DF), 1);
	assert_int_equal(ip_output(W.s, &path, &UDP_DF, payload(1480, 0)), 0);
	assert_int_equal(tx_count(), 1);
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(65516, 0)), -EMSGSIZE);
	assert_int_equal(drops(STACK_DROP_IP4_TX_TOO_BIG), 1);
	W.nif->flags &= ~(uint32_t)NETIF_UP;
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(8, 0)), -ENETDOWN);
	W.nif->flags |= NETIF_UP;
	assert_int_equal(drops(STACK_DROP_IF_DOWN), 1);
}

/* STK-8: every allocation on the way fails once */
static void
no_buffer_leaks_nothing(void **state)
{
	struct ip_path path = path_to(PEER);
	struct rte_mbuf *m, *c;
	unsigned int k;
	int rc = -1;

	(void)state;
	for (k = 1; rc != 0; k++) {
		m = payload(5000, 0);
		mock_fail_buf_at(W.shim, k);
		rc = ip_output(W.s, &path, &UDP_TX, m);
		mock_fail_buf_at(W.shim, 0);
		assert_true(rc == 0 || rc == -ENOBUFS);
		assert_int_equal(drops(STACK_DROP_NO_BUFFER), rc == 0 ? k - 1 : k);
		world_clear();
		assert_true(k < 20);
	}
	/* a header before bytes of others, and one buffer of a chain */
	m = payload(100, 60);
	for (k = 1, rc = -1; rc != 0; k++) {
		c = shim_buf_clone(W.shim, m, W.pool);
		mock_fail_buf_at(W.shim, k);
		rc = ip_output(W.s, &path, &UDP_TX, c);
		mock_fail_buf_at(W.shim, 0);
		assert_true(k < 5);
	}
	assert_int_equal(k, 4);
	shim_buf_free(W.shim, m);
}

/* STK-4 */
static void
chain_becomes_one_buffer_for_a_port_without_chains(void **state)
{
	struct ip_path path = path_to(PEER);

	(void)state;
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, udp_buf(&path, 1400, 100)), 0);
	tx_packet(0, &P);
	assert_int_equal(W.tx[0]->nb_segs, 1);
	assert_int_equal(udp_check(&P), 0);
	world_clear();
	/* larger than a buffer: not as one, but as fragments that each fit */
	path.mtu = 9000;
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(4000, 500)), -ENOBUFS);
	assert_int_equal(drops(STACK_DROP_NO_BUFFER), 1);
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(9500, 500)), 0);
	for (unsigned int i = 0; i < tx_count(); i++)
		assert_int_equal(W.tx[i]->nb_segs, 1);
	assert_int_equal(W.ntx, 5);
}

/* STK-4: bytes that others hold are sent, never written to */
static void
header_goes_into_a_buffer_of_its_own_before_shared_bytes(void **state)
{
	struct ip_path path = path_to(PEER);
	struct rte_mbuf *m = payload(100, 0), *c;
	uint8_t before[SHIM_HEADROOM];

	(void)state;
	memset(m->buf_addr, 0x5a, sizeof(before));
	memcpy(before, m->buf_addr, sizeof(before));
	c = shim_buf_clone(W.shim, m, W.pool);
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, c), 0);
	tx_packet(0, &P);
	assert_int_equal(P.len, 120);
	assert_memory_equal(P.b + 20, shim_buf_data(m), 100);
	assert_memory_equal(before, m->buf_addr, sizeof(before));
	shim_buf_free(W.shim, m);
	/* no headroom at all */
	m = shim_buf_alloc(W.shim, W.pool);
	m->data_off = 0;
	memset(shim_buf_append(m, 50), 0x5a, 50);
	assert_int_equal(ip_output(W.s, &path, &UDP_TX, m), 0);
	tx_packet(1, &P);
	assert_int_equal(P.len, 70);
	assert_int_equal(P.b[69], 0x5a);
}

/* STK-2: RFC 1112 6.4, RFC 1122 2.4 */
static void
groups_and_broadcast_have_their_own_stations(void **state)
{
	static const uint8_t group_mac[] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
	static const uint8_t all[] = { 255, 255, 255, 255, 255, 255 };
	static const uint32_t dst[] = { A(239, 129, 2, 3), A(255, 255, 255, 255), A(10, 0, 0, 255) };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct ip_path path = path_to(dst[i]);

		assert_int_equal(ip_output(W.s, &path, &UDP_TX, payload(8, 0)), 0);
		tx_packet(i, &P);
		assert_memory_equal(shim_buf_data(W.tx[i]), i == 0 ? group_mac : all, 6);
		assert_int_equal(P.b[8], i == 0 ? 1 : 64);
		assert_true(pkt_hdr(&P)->src == US);
	}
}

/* STK-2: the helpers on chains of every cut */
static void
chain_helpers_keep_every_byte(void **state)
{
	static uint8_t out[66000];

	(void)state;
	pkt_init(&P, US, PEER, 17, 100, NULL, 0);
	for (uint32_t seg = 1; seg <= 120; seg += 3) {
		for (uint32_t n = 0; n <= 120; n += 5) {
			struct rte_mbuf *m = pkt_buf_seg(P.b, 120, seg);

			m = ip_pullup(W.s, m, n, true);
			assert_true(m->data_len >= n);
			assert_int_equal(buf_bytes(m, out), 120);
			assert_memory_equal(out, P.b, 120);
			m = ip_strip(W.s, m, n);
			assert_true(m->data_len != 0 || n == 120);
			assert_int_equal(buf_bytes(m, out), 120 - n);
			assert_memory_equal(out, P.b + n, 120 - n);
			ip_trim(W.s, m, (120 - n) / 2);
			assert_int_equal(buf_bytes(m, out), (120 - n) / 2);
			assert_memory_equal(out, P.b + n, (120 - n) / 2);
			shim_buf_free(W.shim, m);
		}
	}
	/* a first segment too full to take the rest in */
	struct rte_mbuf *m = pkt_buf_seg(P.b, 120, 100);

	m->buf_len = 228;
	m = ip_pullup(W.s, m, 110, false);
	assert_true(m->data_len >= 110);
	assert_int_equal(buf_bytes(m, out), 120);
	assert_memory_equal(out, P.b, 120);
	m->next->buf_len = 2176;
	shim_buf_free(W.shim, m);
}

static int
setup_tiny_buffers(void **state)
{
	(void)state;
	world_up(64, 128 + 64, 0, 1500, 0);
	return 0;
}

/* STK-8: more header than one buffer holds */
static void
pullup_beyond_a_buffer_is_no_buffer(void **state)
{
	struct rte_mbuf *m, *c;

	(void)state;
	pkt_init(&P, US, PEER, 17, 100, NULL, 0);
	m = pkt_buf_seg(P.b, 120, 30);
	c = shim_buf_clone(W.shim, m, W.pool);
	assert_null(ip_pullup(W.s, c, 100, false));
	assert_int_equal(drops(STACK_DROP_NO_BUFFER), 1);
	shim_buf_free(W.shim, m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(header_is_as_asked),
		world_test(atomic_datagram_id_free_non_atomic_id_unique),
		world_test(checksums_in_software_where_the_port_has_none),
		world_test(computed_zero_sent_as_ffff),
		world_test_offload(checksums_left_to_the_port_that_has_them),
		world_test(fragments_make_the_datagram_again),
		world_test_offload(fragments_make_the_datagram_again),
		world_test(over_mtu_with_df_or_over_65535_is_refused),
		world_test(no_buffer_leaks_nothing),
		world_test(chain_becomes_one_buffer_for_a_port_without_chains),
		world_test(header_goes_into_a_buffer_of_its_own_before_shared_bytes),
		world_test_offload(header_goes_into_a_buffer_of_its_own_before_shared_bytes),
		world_test(groups_and_broadcast_have_their_own_stations),
		world_test(chain_helpers_keep_every_byte),
		cmocka_unit_test_setup_teardown(pullup_beyond_a_buffer_is_no_buffer, setup_tiny_buffers, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

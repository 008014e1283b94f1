/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums that the port does, both ways (STK-4): what TCP leaves to it, and what it believes of it. */
#include "peer.h"

#include <stdlib.h>

#define BOTH_SUMS (SHIM_TX_IPV4_CKSUM | SHIM_TX_TCP_CKSUM)

/* A data segment of the peer, n bytes, with this checksum error and these flags of the receiving port. */
static void
receive(struct peer *p, uint32_t n, uint16_t wrong, uint64_t ol_flags)
{
	struct world *w = p->w;
	union ip_addr src = world_peer(w), dst = world_us(w);
	uint32_t bytes = w->family == ADDR_INET ? 4 : 16, len = 20 + n, at;
	uint8_t b[256] = { 0 }, *t;
	struct rte_mbuf *m;

	at = fx_put_eth(b, FX_MAC, FX_PEER_MAC, w->family == ADDR_INET ? ETHERTYPE_IP4 : ETHERTYPE_IP6);
	at += w->family == ADDR_INET ? fx_put_ip4(b + at, &(struct fx_ip4){ .proto = 6 }, len) :
		fx_put_ip6(b + at, &(struct fx_ip6){ .next = 6 }, len);
	t = b + at;
	put_be16(t, p->port);
	put_be16(t + 2, p->lport);
	put_be32(t + 4, p->iss + p->nxt);
	put_be32(t + 8, p->irs + p->acked);
	t[12] = 0x50;
	t[13] = A | P;
	put_be16(t + 14, p->win);
	put_be16(t + 16, (uint16_t)(~fx_sum(fx_sum(0, src.v6, bytes) + (uint32_t)fx_sum(0, dst.v6, bytes) + 6 + len, t, len) ^ wrong));
	m = fx_buf(w->f, b, at + len, 0);
	m->ol_flags |= ol_flags;
	stack_input(w->s, w->f->nif, &m, 1);
}

/* STK-3, STK-4: checklist 65 */
static void
test_checksum_offload_flags_of_the_receiving_port(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	uint64_t drops = fx_all_drops(w->f);

	receive(&p, 100, 0, RTE_MBUF_F_RX_L4_CKSUM_BAD); /* the port says no */
	assert_int_equal(tcp_readable(a->p), 0);
	assert_int_equal(fx_all_drops(w->f) - drops, 1);
	receive(&p, 100, 0x0101, 0); /* nobody looked: we do */
	assert_int_equal(tcp_readable(a->p), 0);
	assert_int_equal(fx_all_drops(w->f) - drops, 2);
	receive(&p, 100, 0x0101, RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD); /* the port says yes */
	assert_int_equal(tcp_readable(a->p), 100);
	p.nxt += 100;
	receive(&p, 100, 0x0101, RTE_MBUF_F_RX_L4_CKSUM_NONE); /* never summed: it did not leave the machine */
	assert_int_equal(tcp_readable(a->p), 200);
	fx_tx_clear(w->f);
}

/* STK-3, STK-4 */
static void
test_sums_are_left_to_a_port_that_does_them(void **state)
{
	int family = ((struct world *)*state)->family;
	struct world *w = world_new(family, &(struct fx_opts){ .tx_offloads = BOTH_SUMS });
	union ip_addr us = world_us(w), peer = world_peer(w);
	uint32_t bytes = family == ADDR_INET ? 4 : 16;
	struct fx_pkt *k = malloc(sizeof(*k));
	struct peer p;
	struct app *a = open_plain(w, &p);

	assert_non_null(k);
	assert_int_equal(app_write(w, a, 700), 700);
	assert_true(fx_pop(w->f, k));
	assert_int_equal(k->ol_flags & RTE_MBUF_F_TX_L4_MASK, RTE_MBUF_F_TX_TCP_CKSUM);
	assert_true((k->ol_flags & (family == ADDR_INET ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6)) != 0);
	/* the field holds the sum of the pseudo-header, as ports want it */
	assert_int_equal(get_be16(k->l4 + 16), fx_sum(fx_sum(0, us.v6, bytes) + (uint32_t)fx_sum(0, peer.v6, bytes) + 6 + k->l4_len, "", 0));
	free(k);
	peer_ack(&p, 701);
	assert_int_equal(fsm(a), TCP_ESTABLISHED);
	world_free(w);
}

/* STK-3, STK-4: a port that takes no chains gets whole segments in one buffer */
static void
test_one_buffer_segments_for_a_port_without_chains(void **state)
{
	struct world *w = *state;
	struct peer p;
	struct app *a = open_plain(w, &p);
	struct fx_pkt *k = malloc(sizeof(*k));
	unsigned int n = 0;

	assert_non_null(k);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(app_write(w, a, 333), 333);
	while (fx_pop(w->f, k)) {
		assert_int_equal(k->nb_segs, 1);
		n++;
	}
	assert_true(n >= 6);
	free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T46(test_checksum_offload_flags_of_the_receiving_port),
		T46(test_sums_are_left_to_a_port_that_does_them),
		T46(test_one_buffer_segments_for_a_port_without_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

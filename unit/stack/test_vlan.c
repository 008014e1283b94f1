/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN interfaces: tags in frames, tags stripped and inserted by the port. */
#include "fixture.h"

#define V7 "\x02\x00\x00\x00\x00\x01" /* VLAN interfaces have their port's MAC */

struct vlan_state {
	struct fx *f;
	struct netif *v7, *v9;
};

static struct vlan_state st;

static int
start(uint64_t tx_offloads)
{
	struct fx_opts o = { .no_link_local = true, .no_addr6 = true, .tx_offloads = tx_offloads };

	st.f = fx_new(&o);
	st.v7 = fx_add_if(st.f, "f-stack-0.7", V7, 7, st.f->nif);
	st.v9 = fx_add_if(st.f, "f-stack-0.9", V7, 9, st.f->nif);
	assert_int_equal(stack_addr4_add(st.f->s, st.v7, fx_ip4("10.7.0.1"), 24, 0), 0);
	assert_int_equal(stack_addr4_add(st.f->s, st.v9, fx_ip4("10.9.0.1"), 24, 0), 0);
	fx_tx_clear(st.f);
	return 0;
}

static int
setup(void **state)
{
	(void)state;
	return start(0);
}

static int
setup_insert(void **state)
{
	(void)state;
	return start(SHIM_TX_VLAN_INSERT);
}

static int
teardown(void **state)
{
	(void)state;
	fx_free(st.f);
	return 0;
}

/* ARP request for ip, with up to two tags in the frame (0: none; 0x1000 stands for a tag with id 0). */
static uint32_t
request(uint8_t *b, const char *ip, uint16_t tag1, uint16_t tag2)
{
	uint32_t sender = fx_ip4(ip), n;

	sender += 1u << 24; /* .2 */
	n = fx_put_eth(b, FX_BCAST_MAC, FX_PEER_MAC, tag1 != 0 ? ETHERTYPE_VLAN : ETHERTYPE_ARP);
	if (tag1 != 0)
		n += fx_put_vlan(b + n, tag1, tag2 != 0 ? ETHERTYPE_VLAN : ETHERTYPE_ARP);
	if (tag2 != 0)
		n += fx_put_vlan(b + n, tag2, ETHERTYPE_ARP);
	return n + fx_put_arp(b + n, 1, FX_PEER_MAC, sender, FX_MAC, fx_ip4(ip));
}

static void
inject_stripped(const uint8_t *b, uint32_t n, uint16_t tci)
{
	struct rte_mbuf *m = fx_buf(st.f, b, n, 0);

	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = tci;
	stack_input(st.f->s, st.f->nif, &m, 1);
}

/* STK-2 */
static void
tag_in_the_frame_finds_the_interface(void **state)
{
	uint64_t sent = st.v9->stats.tx_packets;
	struct fx_pkt p;
	uint8_t b[64];

	(void)state;
	fx_inject(st.f, b, request(b, "10.7.0.1", 7, 0));
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_int_equal(p.vlan, 7);
	assert_int_equal(p.n, 46);
	fx_inject(st.f, b, request(b, "10.9.0.1", 0xe000 | 9, 0)); /* with a priority */
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_int_equal(p.vlan, 9);
	assert_int_equal(st.v7->stats.rx_packets, 1);
	assert_int_equal(st.v9->stats.rx_packets, 1);
	assert_int_equal(st.f->nif->stats.rx_packets, 2);
	assert_int_equal(st.v9->stats.tx_packets, sent + 1);
	fx_inject(st.f, b, request(b, "10.7.0.1", 9, 0)); /* an address of another VLAN */
	fx_expect_none(st.f);
}

static void
stripped_tag_finds_the_interface(void **state)
{
	struct fx_pkt p;
	uint8_t b[64];

	(void)state;
	inject_stripped(b, request(b, "10.7.0.1", 0, 0), 7);
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_int_equal(p.vlan, 7);
	inject_stripped(b, request(b, "10.7.0.1", 0x1000, 0), 7); /* a priority tag inside */
	assert_int_equal(fx_tx_count(st.f), 1);
	inject_stripped(b, request(b, "10.7.0.1", 7, 0), 0); /* a priority tag outside */
	assert_int_equal(fx_tx_count(st.f), 2);
}

static void
priority_tag_is_the_untagged_interface(void **state)
{
	struct fx_pkt p;
	uint8_t b[64];

	(void)state;
	fx_inject(st.f, b, request(b, "10.0.0.1", 0x1000, 0));
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_int_equal(p.vlan, 0);
	inject_stripped(b, request(b, "10.0.0.1", 0, 0), 0xa000);
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_int_equal(fx_all_drops(st.f), 0);
}

/* STK-8 */
static void
unknown_and_short_tags_are_counted(void **state)
{
	uint8_t b[64];

	(void)state;
	fx_inject(st.f, b, request(b, "10.7.0.1", 8, 0));
	inject_stripped(b, request(b, "10.7.0.1", 0, 0), 8);
	inject_stripped(b, request(b, "10.7.0.1", 9, 0), 7); /* two VLANs at once */
	assert_int_equal(fx_drops(st.f, STACK_DROP_VLAN_UNKNOWN), 3);
	fx_inject(st.f, b, request(b, "10.7.0.1", 7, 9)); /* a tag behind a tag in the frame */
	assert_int_equal(fx_drops(st.f, STACK_DROP_ETH_TYPE_UNKNOWN), 1);
	request(b, "10.7.0.1", 7, 0);
	for (uint32_t n = 14; n < 18; n++)
		fx_inject(st.f, b, n);
	assert_int_equal(fx_drops(st.f, STACK_DROP_VLAN_SHORT), 4);
	fx_expect_none(st.f);
}

/* STK-4 */
static void
port_inserts_the_tag_where_it_can(void **state)
{
	struct fx_pkt p;
	uint8_t b[64];

	(void)state;
	fx_inject(st.f, b, request(b, "10.7.0.1", 7, 0));
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_int_equal(p.vlan, 0);
	assert_int_equal(p.vlan_tci, 7);
	assert_true(p.ol_flags & RTE_MBUF_F_TX_VLAN);
	assert_int_equal(p.n, 42);
	fx_inject(st.f, b, request(b, "10.0.0.1", 0, 0));
	fx_expect(st.f, ETHERTYPE_ARP, &p);
	assert_false(p.ol_flags & RTE_MBUF_F_TX_VLAN);
}

static void
vlan_interface_is_checked(void **state)
{
	struct netif_config c = { .name = "v", .mac = V7, .mtu = 9000, .vlan = 7,
		.parent = st.f->nif };
	struct netif *nif;

	(void)state;
	assert_int_equal(stack_if_add(st.f->s, &c, &nif), -EEXIST);
	c.vlan = 4095;
	assert_int_equal(stack_if_add(st.f->s, &c, &nif), -EINVAL);
	c.vlan = 10;
	c.parent = NULL;
	assert_int_equal(stack_if_add(st.f->s, &c, &nif), -EINVAL);
	c.parent = st.v7; /* no VLAN over a VLAN */
	assert_int_equal(stack_if_add(st.f->s, &c, &nif), -EINVAL);
	c.parent = st.f->nif;
	c.no_link_local = true;
	assert_int_equal(stack_if_add(st.f->s, &c, &nif), 0);
	assert_int_equal(nif->mtu, 1500); /* its port's */
}

/* MTU-6 */
static void
vlan_mtu_follows_its_port(void **state)
{
	(void)state;
	assert_int_equal(stack_if_mtu_set(st.f->s, st.v7, 1501), -EINVAL);
	assert_int_equal(stack_if_mtu_set(st.f->s, st.v7, 1300), 0);
	assert_int_equal(stack_if_mtu_set(st.f->s, st.f->nif, 1400), 0);
	assert_int_equal(st.v7->mtu, 1300);
	assert_int_equal(st.v9->mtu, 1400);
	assert_int_equal(st.v9->mtu6, 1400);
}

static void
vlan_over_a_port_that_is_down_sends_nothing(void **state)
{
	(void)state;
	st.f->nif->flags &= ~(uint32_t)NETIF_UP;
	arp_announce(st.f->s, st.v7, fx_ip4("10.7.0.1"));
	fx_expect_none(st.f);
	assert_int_equal(fx_drops(st.f, STACK_DROP_IF_DOWN), 1);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(tag_in_the_frame_finds_the_interface),
		T(stripped_tag_finds_the_interface),
		T(priority_tag_is_the_untagged_interface),
		T(unknown_and_short_tags_are_counted),
		cmocka_unit_test_setup_teardown(port_inserts_the_tag_where_it_can, setup_insert,
			teardown),
		T(vlan_interface_is_checked),
		T(vlan_mtu_follows_its_port),
		T(vlan_over_a_port_that_is_down_sends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

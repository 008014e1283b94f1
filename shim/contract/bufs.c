/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pools and packet buffers. */
#include <stdlib.h>
#include <string.h>

#include "contract.h"

#define NAME_25 "p234567890123456789012345"

static struct shim_pool *
small_pool(unsigned int n, uint16_t room)
{
	struct shim_pool *p;

	assert_int_equal(shim_pool_create(contract.s, "small", n, room, &p), 0);
	return p;
}

/* The pool has everything back; it goes. */
static void
pool_done(struct shim_pool *p)
{
	assert_int_equal(shim_pool_avail(contract.s, p), shim_pool_size(contract.s, p));
	shim_pool_free(contract.s, p);
}

/* A chain of n buffers of p, each with len bytes that count up through the chain. */
static struct rte_mbuf *
chain_of(struct shim_pool *p, unsigned int n, uint16_t len)
{
	struct rte_mbuf *head = NULL, *m;
	uint8_t *d, v = 0;
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		m = shim_buf_alloc(contract.s, p);
		assert_non_null(m);
		d = shim_buf_append(m, len);
		assert_non_null(d);
		for (k = 0; k < len; k++)
			d[k] = v++;
		if (head == NULL)
			head = m;
		else
			assert_int_equal(shim_buf_chain(head, m), 0);
	}
	return head;
}

/* The chain holds len bytes that count up from first. */
static void
assert_counts_up(const struct rte_mbuf *m, uint32_t len, uint8_t first)
{
	uint8_t copy[4096];
	const uint8_t *d;
	uint32_t i;

	assert_int_equal(shim_buf_len(m), len);
	d = shim_buf_read(m, 0, len, copy);
	assert_non_null(d);
	for (i = 0; i < len; i++)
		assert_int_equal(d[i], (uint8_t)(first + i));
}

/* SHM-2, SHM-7 */
static void
test_pool_arguments(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p, *q;

	(void)state;
	assert_int_equal(shim_pool_create(s, "p", 0, 256, &p), -EINVAL);
	assert_int_equal(shim_pool_create(s, "p", 4, 127, &p), -EINVAL);
	assert_int_equal(shim_pool_create(s, "", 4, 256, &p), -EINVAL);
	assert_int_equal(shim_pool_create(s, NAME_25 "6", 4, 256, &p), -ENAMETOOLONG);
	assert_int_equal(shim_pool_lookup(s, "p", &q), -ENOENT);
	assert_int_equal(shim_pool_create(s, NAME_25, 4, 256, &p), 0);
	assert_int_equal(shim_pool_create(s, NAME_25, 4, 256, &q), -EEXIST);
	assert_int_equal(shim_pool_lookup(s, NAME_25, &q), 0);
	assert_ptr_equal(p, q);
	assert_int_equal(shim_pool_size(s, p), 4);
	assert_int_equal(shim_pool_avail(s, p), 4);
	assert_int_equal(shim_pool_data_room(s, p), 256);
	pool_done(p);
	assert_int_equal(shim_pool_lookup(s, NAME_25, &q), -ENOENT);
}

/* SHM-2, SHM-7 */
static void
test_pool_gives_exactly_its_size(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(37, 256);
	struct rte_mbuf *m[38];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 37; i++) {
		assert_int_equal(shim_pool_avail(s, p), 37 - i);
		m[i] = shim_buf_alloc(s, p);
		assert_non_null(m[i]);
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(m[i], m[k]);
	}
	assert_null(shim_buf_alloc(s, p));
	assert_int_equal(shim_buf_alloc_bulk(s, p, &m[37], 1), -ENOMEM);
	shim_buf_free(s, m[0]);
	assert_int_equal(shim_pool_avail(s, p), 1);
	m[0] = shim_buf_alloc(s, p);
	assert_non_null(m[0]);
	shim_buf_free_bulk(s, m, 37);
	/* All or none. */
	assert_int_equal(shim_buf_alloc_bulk(s, p, m, 38), -ENOMEM);
	assert_int_equal(shim_pool_avail(s, p), 37);
	assert_int_equal(shim_buf_alloc_bulk(s, p, m, 37), 0);
	for (i = 0; i < 37; i++)
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
	assert_int_equal(shim_pool_avail(s, p), 0);
	shim_buf_free_bulk(s, m, 37);
	shim_buf_free(s, NULL);
	pool_done(p);
}

static void
assert_fresh(struct rte_mbuf *m, uint16_t room)
{
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(shim_buf_headroom(m), SHIM_HEADROOM);
	assert_int_equal(shim_buf_tailroom(m), room - SHIM_HEADROOM);
	assert_int_equal(shim_buf_seg_len(m), 0);
	assert_int_equal(shim_buf_len(m), 0);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->vlan_tci, 0);
	assert_int_equal(m->tx_offload, 0);
	assert_int_equal(m->packet_type, 0);
	assert_int_equal(m->port, RTE_MBUF_PORT_INVALID);
	assert_true(RTE_MBUF_DIRECT(m));
}

/* SHM-2, SHM-7 */
static void
test_buffer_is_fresh_after_any_use(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(1, 512);
	struct rte_mbuf *m;
	int round;

	(void)state;
	for (round = 0; round < 3; round++) {
		m = shim_buf_alloc(s, p);
		assert_non_null(m);
		assert_fresh(m, 512);
		memset(shim_buf_append(m, 384), 0xee, 384);
		assert_int_equal(shim_buf_tailroom(m), 0);
		assert_null(shim_buf_append(m, 1));
		m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_TX_TCP_SEG;
		m->vlan_tci = 9;
		m->tx_offload = 77;
		m->packet_type = 5;
		m->port = 3;
		shim_buf_free(s, m);
	}
	m = shim_buf_alloc(s, p);
	shim_buf_append(m, 3);
	m->ol_flags = RTE_MBUF_F_RX_VLAN;
	shim_buf_reset(m);
	assert_fresh(m, 512);
	shim_buf_free(s, m);
	pool_done(p);
}

/* SHM-2, SHM-7 */
static void
test_every_reference_must_go(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(4, 256);
	struct rte_mbuf *m = chain_of(p, 3, 10);

	(void)state;
	shim_buf_ref(s, m, 2);
	assert_int_equal(rte_mbuf_refcnt_read(m->next->next), 3);
	shim_buf_free(s, m);
	shim_buf_free(s, m);
	assert_int_equal(shim_pool_avail(s, p), 1);
	assert_counts_up(m, 30, 0);
	shim_buf_free(s, m);
	assert_int_equal(shim_pool_avail(s, p), 4);
	pool_done(p);
}

/* SHM-2, SHM-7 */
static void
test_clone_shares_bytes_and_outlives_the_original(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(8, 256);
	struct rte_mbuf *m = chain_of(p, 2, 100), *c, *cc;

	(void)state;
	c = shim_buf_clone(s, m, p);
	assert_non_null(c);
	assert_int_equal(shim_pool_avail(s, p), 4);
	assert_int_equal(c->nb_segs, 2);
	assert_ptr_equal(shim_buf_data(c), shim_buf_data(m));
	assert_int_equal(rte_mbuf_refcnt_read(m), 2);
	assert_counts_up(c, 200, 0);
	cc = shim_buf_clone(s, c, p);
	assert_non_null(cc);
	assert_int_equal(rte_mbuf_refcnt_read(m), 3);
	/* What one does to its view does not move the other's. */
	assert_non_null(shim_buf_adj(c, 10));
	assert_int_equal(shim_buf_trim(c, 10), 0);
	assert_counts_up(c, 180, 10);
	assert_counts_up(m, 200, 0);
	shim_buf_free(s, m);
	assert_int_equal(shim_pool_avail(s, p), 2);
	assert_counts_up(cc, 200, 0);
	shim_buf_free(s, c);
	assert_int_equal(shim_pool_avail(s, p), 4);
	assert_counts_up(cc, 200, 0);
	shim_buf_free(s, cc);
	assert_int_equal(shim_pool_avail(s, p), 8);
	/* The clone's buffers point at themselves again. */
	m = chain_of(p, 8, 128);
	shim_buf_free(s, m);
	pool_done(p);
}

/* SHM-2, SHM-7 */
static void
test_clone_without_buffers_gives_back_what_it_had(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(5, 256);
	struct rte_mbuf *m = chain_of(p, 3, 10);

	(void)state;
	assert_null(shim_buf_clone(s, m, p));
	assert_int_equal(shim_pool_avail(s, p), 2);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(rte_mbuf_refcnt_read(m->next), 1);
	shim_buf_free(s, m);
	pool_done(p);
}

/* SHM-2, SHM-7 */
static void
test_copy_is_deep_and_chains_if_it_must(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(12, 256), *tiny;
	struct rte_mbuf *m = chain_of(p, 3, 100), *c;

	(void)state;
	assert_int_equal(shim_pool_create(s, "tiny", 6, 128 + 64, &tiny), 0);
	m->ol_flags = RTE_MBUF_F_RX_VLAN;
	m->vlan_tci = 12;
	m->port = 4;
	c = shim_buf_copy(s, m, p, 0, UINT32_MAX);
	assert_counts_up(c, 300, 0);
	assert_int_equal(c->nb_segs, 3); /* 128 bytes fit one */
	assert_int_equal(c->vlan_tci, 12);
	assert_int_equal(c->port, 4);
	assert_int_equal(c->ol_flags, RTE_MBUF_F_RX_VLAN);
	memset(shim_buf_data(c), 0, 100);
	assert_counts_up(m, 300, 0);
	shim_buf_free(s, c);
	c = shim_buf_copy(s, m, tiny, 95, 110);
	assert_counts_up(c, 110, 95);
	assert_int_equal(c->nb_segs, 2);
	shim_buf_free(s, c);
	c = shim_buf_copy(s, m, tiny, 299, 50); /* cut to what there is */
	assert_counts_up(c, 1, (uint8_t)299);
	shim_buf_free(s, c);
	assert_null(shim_buf_copy(s, m, tiny, 300, 1));
	c = shim_buf_copy(s, m, tiny, 0, UINT32_MAX); /* 5 of the 6 */
	assert_non_null(c);
	assert_null(shim_buf_copy(s, m, tiny, 0, 100)); /* the second segment is not to be had */
	assert_int_equal(shim_pool_avail(s, tiny), 1);
	shim_buf_free(s, c);
	c = shim_buf_clone(s, m, p);
	m->ol_flags = 0;
	shim_buf_free(s, m);
	m = shim_buf_copy(s, c, p, 150, 100); /* of an indirect one */
	assert_true(RTE_MBUF_DIRECT(m));
	shim_buf_free(s, c);
	assert_counts_up(m, 100, 150);
	shim_buf_free(s, m);
	pool_done(tiny);
	pool_done(p);
}

struct ext_seen {
	int calls;
	void *addr;
};

static void
ext_free(void *addr, void *opaque)
{
	struct ext_seen *seen = opaque;

	seen->calls++;
	seen->addr = addr;
}

/* SHM-2, SHM-7 */
static void
test_external_memory_is_freed_once(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(4, 256);
	_Alignas(64) uint8_t memory[1024];
	struct ext_seen seen = { 0 };
	struct rte_mbuf *m = shim_buf_alloc(s, p), *c;
	uint8_t *d;
	int i;

	(void)state;
	assert_int_equal(shim_buf_attach_ext(s, m, memory, 0, ext_free, &seen), -EINVAL);
	assert_int_equal(shim_buf_attach_ext(s, m, memory, 24, ext_free, &seen), -EINVAL);
	assert_true(RTE_MBUF_DIRECT(m));
	assert_int_equal(shim_buf_attach_ext(s, m, memory, 1024, ext_free, &seen), 0);
	assert_int_equal(shim_buf_headroom(m), 0);
	assert_int_equal(shim_buf_tailroom(m), 1024 - 24);
	d = shim_buf_append(m, 1000);
	assert_ptr_equal(d, memory);
	assert_null(shim_buf_append(m, 1));
	for (i = 0; i < 1000; i++)
		d[i] = (uint8_t)i;
	c = shim_buf_clone(s, m, p);
	assert_non_null(c);
	assert_ptr_equal(shim_buf_data(c), memory);
	shim_buf_free(s, m);
	assert_int_equal(seen.calls, 0);
	assert_counts_up(c, 1000, 0);
	m = shim_buf_clone(s, c, p);
	shim_buf_free(s, c);
	shim_buf_free(s, m);
	assert_int_equal(seen.calls, 1);
	assert_ptr_equal(seen.addr, memory);
	/* The buffers are direct again. */
	for (i = 0; i < 4; i++) {
		m = shim_buf_alloc(s, p);
		assert_fresh(m, 256);
		shim_buf_free(s, m);
	}
	m = shim_buf_alloc(s, p);
	assert_int_equal(shim_buf_attach_ext(s, m, memory, 101, ext_free, &seen), 0);
	assert_int_equal(shim_buf_tailroom(m), 72); /* 101 - 24 down to 8 */
	shim_buf_free(s, m);
	assert_int_equal(seen.calls, 2);
	pool_done(p);
}

/* SHM-2, SHM-7 */
static void
test_data_functions(void **state)
{
	struct shim *s = contract.s;
	struct shim_pool *p = small_pool(4, 512);
	struct rte_mbuf *m = chain_of(p, 2, 50);
	uint8_t copy[100], *d;
	const uint8_t *r;

	(void)state;
	r = shim_buf_read(m, 10, 20, copy);
	assert_ptr_equal(r, shim_buf_data_off(m, uint8_t *, 10)); /* contiguous: no copy */
	r = shim_buf_read(m, 45, 10, copy);
	assert_ptr_equal(r, copy);
	assert_int_equal(r[0], 45);
	assert_int_equal(r[9], 54);
	assert_null(shim_buf_read(m, 95, 6, copy));
	d = shim_buf_prepend(m, 14);
	assert_ptr_equal(d, shim_buf_data(m));
	assert_int_equal(shim_buf_headroom(m), SHIM_HEADROOM - 14);
	assert_null(shim_buf_prepend(m, SHIM_HEADROOM));
	assert_int_equal(shim_buf_len(m), 114);
	assert_null(shim_buf_adj(m, 65));
	assert_ptr_equal(shim_buf_adj(m, 14), d + 14);
	assert_int_equal(shim_buf_trim(m, 51), -1);
	assert_int_equal(shim_buf_trim(m, 1), 0);
	assert_counts_up(m, 99, 0);
	assert_int_equal(shim_buf_tailroom(m), 512 - 128 - 49);
	assert_int_equal(shim_buf_linearize(s, m), 0);
	assert_int_equal(m->nb_segs, 1);
	assert_counts_up(m, 99, 0);
	assert_int_equal(shim_pool_avail(s, p), 3);
	assert_int_equal(shim_buf_linearize(s, m), 0);
	shim_buf_free(s, m);
	m = chain_of(p, 2, 200); /* 400 bytes do not fit 384 */
	assert_int_equal(shim_buf_linearize(s, m), -1);
	assert_counts_up(m, 400, 0);
	shim_buf_free(s, m);
	pool_done(p);
}

int
contract_run_bufs(void)
{
	const struct CMUnitTest tests[] = {
		CONTRACT_TEST(test_pool_arguments),
		CONTRACT_TEST(test_pool_gives_exactly_its_size),
		CONTRACT_TEST(test_buffer_is_fresh_after_any_use),
		CONTRACT_TEST(test_every_reference_must_go),
		CONTRACT_TEST(test_clone_shares_bytes_and_outlives_the_original),
		CONTRACT_TEST(test_clone_without_buffers_gives_back_what_it_had),
		CONTRACT_TEST(test_copy_is_deep_and_chains_if_it_must),
		CONTRACT_TEST(test_external_memory_is_freed_once),
		CONTRACT_TEST(test_data_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

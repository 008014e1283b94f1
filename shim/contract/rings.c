/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings between processes that somebody writes into: every byte of the header and of a slot, and buffers that are none of a ring's. */
#include <rte_ring.h>
#include <string.h>

#include "contract.h"

#define SLOTS 8u
#define GIVER 41u
#define TAKER 42u

struct rings {
	struct shim_pool *p;
	struct rte_ring *r;
	struct shim_ring_end in, out; /* of the two processes */
	unsigned int nb;              /* buffers put and not yet seen again */
	struct rte_mbuf *m[16];
};

static void
begin(struct rings *t)
{
	memset(t, 0, sizeof(*t));
	assert_int_equal(shim_pool_create(contract.s, "rings", 64, 256, &t->p), 0);
	assert_int_equal(shim_ring_create(contract.s, "hostile", SLOTS, SHIM_RING_SP_SC, &t->r), 0);
}

static void
end(struct rings *t)
{
	assert_int_equal(shim_pool_avail(contract.s, t->p), 64);
	shim_ring_free(contract.s, t->r);
	shim_pool_free(contract.s, t->p);
}

/* Successors at both sides; the ring is empty afterwards. */
static void
anew(struct rings *t)
{
	assert_int_equal(shim_ring_attach(contract.s, &t->in, t->r, "hostile", SLOTS), 0);
	assert_int_equal(shim_ring_attach(contract.s, &t->out, t->r, "hostile", SLOTS), 0);
	assert_true(shim_ring_succeed(contract.s, &t->in, SHIM_RING_PRODUCER) >= 0);
	assert_true(shim_ring_succeed(contract.s, &t->out, SHIM_RING_CONSUMER) >= 0);
	assert_int_equal(shim_ring_succeed(contract.s, &t->in, SHIM_RING_PRODUCER), 0);
}

static struct rte_mbuf *
new_buf(struct rings *t, unsigned int len)
{
	struct rte_mbuf *m = shim_buf_alloc(contract.s, t->p);

	assert_non_null(m);
	assert_non_null(shim_buf_append(m, (uint16_t)len));
	shim_buf_mark_set(m, GIVER);
	return m;
}

static void
put(struct rings *t, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = new_buf(t, 10);

		if (shim_ring_put(contract.s, &t->in, &m, 1) == 1)
			t->m[t->nb++] = m;
		else
			shim_buf_free(contract.s, m);
	}
}

/* Whatever comes out is what was put in, each once, and the taker's. Returns how many. */
static unsigned int
get(struct rings *t)
{
	struct rte_mbuf *out[16];
	unsigned int n = shim_ring_get(contract.s, &t->out, t->p, out, 16, TAKER), i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < t->nb && t->m[k] != out[i]; k++)
			;
		assert_true(k < t->nb);
		t->m[k] = t->m[--t->nb];
		assert_int_equal(out[i]->dynfield1[8], TAKER);
		shim_buf_free(contract.s, out[i]);
	}
	return n;
}

/* What is in the ring and did not come out. */
static void
rest(struct rings *t)
{
	while (t->nb > 0)
		shim_buf_free(contract.s, t->m[--t->nb]);
}

static uint8_t
other_value(uint8_t was, unsigned int i)
{
	return i == 0 ? 0 : i == 1 ? 0xff : i == 2 ? was ^ 1 : (uint8_t)(was * 167 + 59 + i);
}

/* SHM-7 */
static void
test_a_pool_knows_the_addresses_of_its_buffers(void **state)
{
	struct rte_mbuf *m[64], *other;
	struct rings t;
	unsigned int i;

	(void)state;
	begin(&t);
	other = shim_buf_alloc(contract.s, contract.pool);
	assert_int_equal(shim_buf_alloc_bulk(contract.s, t.p, m, 64), 0);
	for (i = 0; i < 64; i++) {
		assert_true(shim_pool_owns(contract.s, t.p, m[i]));
		assert_false(shim_pool_owns(contract.s, contract.pool, m[i]));
		assert_false(shim_pool_owns(contract.s, t.p, (char *)m[i] + 1));
		assert_false(shim_pool_owns(contract.s, t.p, (char *)m[i] + 64));
		assert_false(shim_pool_owns(contract.s, t.p, (char *)m[i] - 64));
	}
	assert_false(shim_pool_owns(contract.s, t.p, other));
	assert_false(shim_pool_owns(contract.s, t.p, NULL));
	assert_false(shim_pool_owns(contract.s, t.p, &t));
	assert_false(shim_pool_owns(contract.s, t.p, (void *)(uintptr_t)64));
	assert_false(shim_pool_owns(contract.s, t.p, (void *)UINTPTR_MAX));
	shim_buf_free(contract.s, other);
	shim_buf_free_bulk(contract.s, m, 64);
	end(&t);
}

/* SHM-7 */
static void
test_what_is_put_comes_out_in_order(void **state)
{
	struct shim_ring_end e;
	struct rte_mbuf *m[10], *out[16];
	struct rings t;
	unsigned int i, round;

	(void)state;
	begin(&t);
	assert_int_equal(shim_ring_attach(contract.s, &e, t.r, "none", 0), -EINVAL);
	assert_int_equal(shim_ring_attach(contract.s, &e, t.r, "none", 6), -EINVAL);
	assert_int_equal(shim_ring_put(contract.s, &e, m, 1), 0);
	assert_int_equal(shim_ring_get(contract.s, &e, t.p, m, 1, TAKER), 0);
	memset(&e, 0, sizeof(e)); /* no ring at all */
	assert_int_equal(shim_ring_succeed(contract.s, &e, SHIM_RING_PRODUCER), -EINVAL);
	assert_int_equal(shim_ring_put(contract.s, &e, m, 1), 0);
	assert_int_equal(shim_ring_get(contract.s, &e, t.p, m, 1, TAKER), 0);
	assert_int_equal(shim_ring_fill(contract.s, &e), 0);
	anew(&t);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 10; i++)
			m[i] = new_buf(&t, i + 1);
		assert_int_equal(shim_buf_chain(m[1], new_buf(&t, 3)), 0);
		assert_int_equal(shim_ring_put(contract.s, &t.in, m, 10), SLOTS - 1);
		assert_int_equal(shim_ring_put(contract.s, &t.in, m + 7, 1), 0);
		assert_int_equal(shim_ring_fill(contract.s, &t.in), SLOTS - 1);
		assert_int_equal(m[7]->dynfield1[8], GIVER); /* what found no room is in no ring */
		assert_int_equal(m[1]->next->dynfield1[8], GIVER | SHIM_BUF_IN_RING);
		assert_int_equal(shim_buf_mark(m[1]->next), GIVER);
		assert_int_equal(shim_ring_get(contract.s, &t.out, t.p, out, 2, TAKER), 2);
		assert_int_equal(shim_ring_get(contract.s, &t.out, t.p, out + 2, 14, TAKER), 5);
		for (i = 0; i < 7; i++)
			assert_ptr_equal(out[i], m[i]);
		assert_int_equal(out[1]->next->dynfield1[8], TAKER);
		assert_int_equal(shim_ring_get(contract.s, &t.out, t.p, out, 16, TAKER), 0);
		shim_buf_free_bulk(contract.s, m, 10);
	}
	assert_true(t.in.wrong == NULL && t.out.wrong == NULL && t.out.bad == 0);
	end(&t);
}

/* Is the byte one that a look from that side must notice? */
static bool
noticed(size_t at, enum shim_ring_side side)
{
	static const struct { size_t off, len; int side; } f[] = {
		{ offsetof(struct rte_ring, flags), 4, 2 }, { offsetof(struct rte_ring, size), 4, 2 },
		{ offsetof(struct rte_ring, mask), 4, 2 }, { offsetof(struct rte_ring, capacity), 4, 2 },
		{ offsetof(struct rte_ring, prod.sync_type), 4, 2 }, { offsetof(struct rte_ring, cons.sync_type), 4, 2 },
		{ offsetof(struct rte_ring, prod.head), 4, SHIM_RING_PRODUCER },
		{ offsetof(struct rte_ring, prod.tail), 4, SHIM_RING_PRODUCER },
		{ offsetof(struct rte_ring, cons.head), 4, SHIM_RING_CONSUMER },
		{ offsetof(struct rte_ring, cons.tail), 4, SHIM_RING_CONSUMER },
	};

	for (unsigned int i = 0; i < sizeof(f) / sizeof(f[0]); i++)
		if (at >= f[i].off && at < f[i].off + f[i].len)
			return f[i].side == 2 || f[i].side == (int)side;
	return false;
}

/* PUB-2, SHM-7 */
static void
test_no_byte_of_a_rings_header_misleads_anybody(void **state)
{
	struct rings t;
	uint8_t was, *b;
	bool damaged;

	(void)state;
	begin(&t);
	b = (uint8_t *)t.r;
	for (size_t at = 0; at < sizeof(*t.r); at++)
		for (unsigned int v = 0; v < 4; v++) {
			anew(&t);
			put(&t, 3);
			was = b[at];
			b[at] = other_value(was, v);
			damaged = b[at] != was;
			put(&t, 1);
			assert_true(!damaged || !noticed(at, SHIM_RING_PRODUCER) || t.in.wrong != NULL);
			get(&t);
			assert_true(!damaged || !noticed(at, SHIM_RING_CONSUMER) || t.out.wrong != NULL);
			assert_true(shim_ring_fill(contract.s, &t.out) < SLOTS);
			if (t.out.wrong != NULL)
				assert_int_equal(get(&t) + shim_ring_fill(contract.s, &t.out), 0);
			/* successors bring it back, and what they put comes out */
			shim_ring_succeed(contract.s, &t.in, SHIM_RING_PRODUCER);
			shim_ring_succeed(contract.s, &t.out, SHIM_RING_CONSUMER);
			get(&t);
			rest(&t);
			anew(&t);
			get(&t);
			put(&t, 2);
			assert_int_equal(get(&t), 2);
		}
	end(&t);
}

/* PUB-2, SHM-7 */
static void
test_no_byte_of_a_slot_misleads_anybody(void **state)
{
	struct rings t;
	uint8_t was, *b;
	unsigned int n;

	(void)state;
	begin(&t);
	for (size_t at = 0; at < sizeof(void *); at++)
		for (unsigned int v = 0; v < 4; v++) {
			anew(&t);
			put(&t, 3);
			b = (uint8_t *)((void **)(t.r + 1) + ((t.r->cons.tail + 1) & (SLOTS - 1))) + at;
			was = *b;
			*b = other_value(was, v);
			n = *b == was ? 3 : 2;
			assert_int_equal(get(&t), n);
			assert_int_equal(t.out.bad, 3 - n);
			assert_true(n == 3 || t.out.bad_slot == ((t.r->cons.tail - 2) & (SLOTS - 1)));
			assert_true(n == 3 || t.out.bad_why != NULL);
			assert_null(t.out.wrong);
			rest(&t);
		}
	end(&t);
}

/* One thing that a ring may not hold, between two buffers that it may. */
static void
odd_one(struct rings *t, struct rte_mbuf *odd)
{
	void **slot = (void **)(t->r + 1);

	anew(t);
	put(t, 3);
	slot[(t->r->cons.tail + 1) & (SLOTS - 1)] = odd;
	assert_int_equal(get(t), 2);
	assert_int_equal(t->out.bad, 1);
	rest(t);
}

/* PUB-2, REL-18, SHM-7 */
static void
test_a_buffer_that_is_somebodys_is_not_taken(void **state)
{
	struct rte_mbuf *mine, *gone;
	struct rings t;

	(void)state;
	begin(&t);
	mine = new_buf(&t, 10);
	odd_one(&t, mine);
	assert_int_equal(mine->dynfield1[8], GIVER);
	shim_buf_mark_set(mine, TAKER); /* the taker's own already */
	odd_one(&t, mine);
	shim_buf_mark_set(mine, 0); /* a port's */
	odd_one(&t, mine);
	gone = new_buf(&t, 10);
	shim_buf_free(contract.s, mine);
	shim_buf_free(contract.s, gone);
	odd_one(&t, gone); /* the pool's */
	odd_one(&t, NULL);
	/* a second place of a buffer, in one burst and in the next */
	anew(&t);
	put(&t, 3);
	((void **)(t.r + 1))[(t.r->cons.tail + 2) & (SLOTS - 1)] = ((void **)(t.r + 1))[t.r->cons.tail & (SLOTS - 1)];
	assert_int_equal(get(&t), 2);
	assert_int_equal(t.out.bad, 1);
	rest(&t);
	anew(&t);
	put(&t, 2);
	mine = t.m[0];
	assert_int_equal(shim_ring_get(contract.s, &t.out, t.p, &gone, 1, TAKER), 1);
	assert_ptr_equal(gone, mine);
	t.m[0] = t.m[--t.nb];
	((void **)(t.r + 1))[t.r->cons.tail & (SLOTS - 1)] = mine;
	assert_int_equal(get(&t), 0);
	assert_int_equal(t.out.bad, 1);
	shim_buf_free(contract.s, mine);
	rest(&t);
	end(&t);
}

/* What is wrong with a buffer in a ring. */
static void
spoil(struct rings *t, struct rte_mbuf *m, unsigned int how)
{
	switch (how) {
	case 0: rte_mbuf_refcnt_set(m, 2); break;
	case 1: m->data_off = 0xffff; break;
	case 2: m->data_len = 0xffff; break;
	case 3: m->pkt_len = 9; break;
	case 4: m->nb_segs = 1; break;
	case 5: m->nb_segs = 3; break;
	case 6: m->next->next = m; break;
	case 7: m->next->next = (struct rte_mbuf *)t; break;
	case 8: m->ol_flags |= RTE_MBUF_F_INDIRECT; break;
	case 9: m->buf_addr = t; break;
	case 10: m->buf_len = 0xffff; break;
	case 11: m->pool = (struct rte_mempool *)contract.pool; break;
	case 12: m->next->dynfield1[8] = GIVER; break;
	case 13: rte_mbuf_refcnt_set(m->next, 0); break;
	case 14: m->ol_flags |= RTE_MBUF_F_EXTERNAL; break;
	}
}

/* PUB-2, SHM-7 */
static void
test_a_buffer_that_is_not_whole_is_not_taken(void **state)
{
	struct rte_mbuf first, second, *m, *out[2];
	struct rings t;

	(void)state;
	begin(&t);
	for (unsigned int how = 0; how < 15; how++) {
		anew(&t);
		m = new_buf(&t, 10);
		assert_int_equal(shim_buf_chain(m, new_buf(&t, 5)), 0);
		assert_int_equal(shim_ring_put(contract.s, &t.in, &m, 1), 1);
		first = *m;
		second = *m->next;
		spoil(&t, m, how);
		assert_int_equal(shim_ring_get(contract.s, &t.out, t.p, out, 2, TAKER), 0);
		assert_int_equal(t.out.bad, 1);
		*m = first;
		*m->next = second;
		shim_buf_free(contract.s, m);
	}
	end(&t);
}

/* REL-18, SHM-7 */
static void
test_who_dies_at_a_hostile_ring_leaves_everything_to_be_found(void **state)
{
	struct rte_mbuf *m[3];
	struct rings t;

	(void)state;
	begin(&t);
	anew(&t);
	/* the consumer had stamped three and not moved its tail: its successor has them */
	put(&t, 3);
	for (unsigned int i = 0; i < 3; i++)
		t.m[i]->dynfield1[8] = 77 | SHIM_BUF_IN_RING | SHIM_BUF_TAKING;
	t.r->cons.head += 3;
	assert_int_equal(shim_ring_succeed(contract.s, &t.out, SHIM_RING_CONSUMER), 0);
	assert_int_equal(get(&t), 3);
	/* the producer had said of one that it is in the ring, and not moved its tail; a sweep of real memory finds it */
	m[0] = new_buf(&t, 10);
	m[0]->dynfield1[8] |= SHIM_BUF_IN_RING;
	t.r->prod.head += 1;
	assert_int_equal(shim_buf_mark(m[0]), GIVER);
	assert_int_equal(shim_ring_succeed(contract.s, &t.in, SHIM_RING_PRODUCER), 0);
	assert_int_equal(get(&t), 0);
	shim_buf_free(contract.s, m[0]);
	end(&t);
}

/* REL-18, SHM-7 */
static void
test_a_sweep_looks_into_a_damaged_ring(void **state)
{
	struct shim *v = contract_backend.door(contract.bed, SHIM_ROLE_WORKER, 4);
	struct rte_mbuf *kept, *lost;
	uint32_t id = shim_cache_id(v);
	struct rings t;

	(void)state;
	begin(&t);
	anew(&t);
	contract_as(v);
	kept = shim_buf_alloc(v, t.p);
	lost = shim_buf_alloc(v, t.p);
	shim_buf_mark_set(kept, 91);
	shim_buf_mark_set(lost, 91);
	assert_int_equal(shim_ring_put(v, &t.in, &kept, 1), 1);
	contract_backend.door_dies(contract.bed, v);
	contract_as(contract.s);
	t.r->size = UINT32_MAX;
	t.r->mask = UINT32_MAX - 1;
	t.r->prod.head = 12345;
	shim_pool_sweep(contract.s, t.p, 91, id);
	assert_int_equal(shim_pool_avail(contract.s, t.p), 63);
	anew(&t);
	t.m[t.nb++] = kept;
	assert_int_equal(get(&t), 1);
	end(&t);
}

int
contract_run_rings(void)
{
	const struct CMUnitTest tests[] = {
		CONTRACT_TEST(test_a_pool_knows_the_addresses_of_its_buffers),
		CONTRACT_TEST(test_what_is_put_comes_out_in_order),
		CONTRACT_TEST(test_no_byte_of_a_rings_header_misleads_anybody),
		CONTRACT_TEST(test_no_byte_of_a_slot_misleads_anybody),
		CONTRACT_TEST(test_a_buffer_that_is_somebodys_is_not_taken),
		CONTRACT_TEST(test_a_buffer_that_is_not_whole_is_not_taken),
		CONTRACT_TEST(test_who_dies_at_a_hostile_ring_leaves_everything_to_be_found),
		CONTRACT_TEST(test_a_sweep_looks_into_a_damaged_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

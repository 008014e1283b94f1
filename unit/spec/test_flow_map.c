/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes of flow keys, the flow map and fragment owners by their headers: exact, bounded, over the wrap. */
#include "guard.h"
#include "pkt.h"

#include "core/dispatch/flow_map.h"
#include "core/dispatch/frag_owner.h"

static const struct siphash_key SECRET = { 0x0123456789abcdefull, 0xfedcba9876543210ull };

static struct flow_key
want(int v, uint8_t proto, uint32_t rport, uint32_t lport)
{
	struct flow_key k;
	union ip_addr r = v == 4 ? ip_addr_v4(0) : ip_addr_v6(PEER6), l = v == 4 ? ip_addr_v4(0) : ip_addr_v6(ME6);

	if (v == 4) {
		memcpy(&r.v4, PEER4, 4);
		memcpy(&l.v4, ME4, 4);
	}
	flow_key_make(&k, v == 4 ? ADDR_INET : ADDR_INET6, proto, &r, htons((uint16_t)rport), &l, htons((uint16_t)lport));
	return k;
}

/* ---- hashes and the map ------------------------------------------------------------------------------------------- */

/* DSP-5, PUB-1 */
static void
every_byte_of_a_key_matters_to_its_hash(void **state)
{
	struct flow_key k[64];
	const struct flow_key *p[64];
	uint64_t h[64];

	(void)state;
	for (int v = 4; v <= 6; v += 2) {
		struct flow_key base = want(v, 17, 1, 2);
		uint64_t hb = flow_hash(&SECRET, &base);
		unsigned int n = 0;

		for (unsigned int at = 0; at < 38; at++) {
			if (v == 4 && at < 32 && at % 16 >= 4)
				continue;
			k[n] = base;
			((uint8_t *)&k[n])[at] ^= at == 37 ? ADDR_INET ^ ADDR_INET6 : 0x40;
			assert_true(flow_hash(&SECRET, &k[n]) != hb);
			p[n] = &k[n];
			n++;
		}
		flow_hash_bulk(&SECRET, p, h, n);
		for (unsigned int i = 0; i < n; i++)
			assert_true(h[i] == flow_hash(&SECRET, &k[i]) && h[i] > 1);
		assert_true(flow_hash(&(struct siphash_key){ SECRET.k0 ^ 1, SECRET.k1 }, &base) != hb);
		assert_true(flow_hash(&(struct siphash_key){ SECRET.k0, SECRET.k1 ^ 1 }, &base) != hb);
	}
}

static struct flow_key
nth(unsigned int i)
{
	struct flow_key k = want(i & 1 ? 4 : 6, i & 2 ? 17 : 6, 1 + i / 4 % 60000, 53);

	k.remote[2] = (uint8_t)(i / 240000);
	return k;
}

/* DSP-5: v4 and the v6 address of the same bytes, TCP and UDP */
static void
the_map_keeps_protocols_and_families_apart(void **state)
{
	union ip_addr r = ip_addr_v4(0x0200000a), l = ip_addr_v4(0x0100000a);
	struct shim *s = mock_shim_new();
	struct flow_map *m;

	(void)state;
	assert_int_equal(flow_map_create(s, 100, 100, &SECRET, &m), 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct flow_key k[4];

		for (unsigned int j = 0; j < 4; j++)
			flow_key_make(&k[j], j & 1 ? ADDR_INET6 : ADDR_INET, j & 2 ? 6 : 17, &r, 1, &l, 2);
		assert_int_equal(flow_map_insert(m, &k[i], flow_hash(&SECRET, &k[i])), 0);
		for (unsigned int j = 0; j < 4; j++)
			assert_int_equal(flow_map_lookup(m, &k[j], flow_hash(&SECRET, &k[j])), j == i);
		assert_int_equal(flow_map_remove(m, &k[i], flow_hash(&SECRET, &k[i])), 0);
	}
	flow_map_destroy(m);
	flow_map_destroy(NULL);
	assert_int_equal(mock_shim_free(s), 0);
}

/* DSP-4: grows as it is used, in numbers that are no powers of two, and is exact all the way */
static void
the_map_is_exact_while_it_grows_and_shrinks(void **state)
{
	static const struct { uint32_t room, max; bool fills; } t[] = { { 3, 3000, true }, { 100, 4097, false },
		{ 64, 65536, false }, { 2100, 2100, true } };

	(void)state;
	for (unsigned int c = 0; c < 4; c++) {
		struct shim *s = mock_shim_new();
		struct flow_map_stats st;
		struct flow_map *m;
		static bool in[8000];
		uint64_t seed = 5 + c;

		memset(in, 0, sizeof(in));
		assert_int_equal(flow_map_create(s, t[c].room, t[c].max, &SECRET, &m), 0);
		for (unsigned int step = 0; step < 40000; step++) {
			unsigned int i = (unsigned int)(draw(&seed) % (step < 20000 ? 4000 : 8000));
			struct flow_key k = nth(i);
			uint64_t h = flow_hash(&SECRET, &k);

			assert_int_equal(flow_map_lookup(m, &k, h), in[i]);
			if (draw(&seed) % 3 == 0) {
				assert_int_equal(flow_map_remove(m, &k, h), in[i] ? 0 : -ENOENT);
				in[i] = false;
			} else {
				int rc = flow_map_insert(m, &k, h);

				assert_int_equal(rc == 1, in[i]);
				assert_true(rc == 0 || rc == 1 || rc == -ENOSPC);
				in[i] = in[i] || rc == 0;
			}
		}
		flow_map_stats(m, &st);
		for (unsigned int i = 0; i < 8000; i++)
			st.used -= in[i];
		assert_int_equal(st.used, 0);
		assert_int_equal(st.full != 0, t[c].fills);
		flow_map_clear(m);
		for (unsigned int i = 0; i < 8000; i += 64) {
			struct flow_key k[64];
			const struct flow_key *p[64];
			uint64_t h[64];

			for (unsigned int j = 0; j < 64; j++) {
				k[j] = nth(i + j);
				p[j] = &k[j];
			}
			flow_hash_bulk(&SECRET, p, h, 64);
			assert_true(flow_map_lookup_bulk(m, p, h, 64) == 0);
			for (unsigned int j = 0; j < 64 && i < 3000; j += 3)
				assert_int_equal(flow_map_insert(m, p[j], h[j]), 0);
			if (i < 3000)
				assert_true(flow_map_lookup_bulk(m, p, h, 64) == 0x9249249249249249ull);
			assert_true(flow_map_lookup_bulk(m, p, h, 5) == (i < 3000 ? 9u : 0u));
			assert_true(flow_map_lookup_bulk(m, p, h, 0) == 0);
		}
		flow_map_destroy(m);
		assert_int_equal(mock_shim_free(s), 0);
	}
}

/* DSP-4: at least as many as were asked for, whatever their hashes, and no memory is no harm */
static void
the_map_holds_what_it_promises_and_survives_no_memory(void **state)
{
	(void)state;
	for (uint32_t room = 1; room < 3000; room = room * 3 + 1) {
		struct shim *s = mock_shim_new();
		struct flow_map *m;
		int n = 0;

		assert_int_equal(flow_map_create(s, room, room, &SECRET, &m), 0);
		for (unsigned int i = 0; i < room; i++) {
			struct flow_key k = nth(i);

			assert_int_equal(flow_map_insert(m, &k, flow_hash(&SECRET, &k)), 0);
		}
		flow_map_destroy(m);
		assert_int_equal(flow_map_create(s, 64, 65536, &SECRET, &m), 0);
		mock_fail_all(s, MOCK_OP_malloc, ENOMEM);
		for (unsigned int i = 0; i < 1000; i++) {
			struct flow_key k = nth(i);
			int rc = flow_map_insert(m, &k, flow_hash(&SECRET, &k));

			assert_true(rc == 0 || rc == -ENOSPC);
			assert_int_equal(flow_map_lookup(m, &k, flow_hash(&SECRET, &k)), rc == 0);
			n += rc == 0;
		}
		assert_true(n >= 64);
		mock_fail_all(s, MOCK_OP_malloc, 0);
		for (unsigned int k = 1;; k++) {
			struct flow_map *x = NULL;

			mock_fail_malloc_at(s, k);
			if (flow_map_create(s, 64, 128, &SECRET, &x) == 0) {
				mock_fail_malloc_at(s, 0);
				flow_map_destroy(x);
				break;
			}
			assert_true(k < 20);
		}
		flow_map_destroy(m);
		assert_int_equal(mock_shim_free(s), 0);
	}
}

/* ---- fragment owners --------------------------------------------------------------------------------------------------- */

struct fo {
	struct shim *s;
	struct shim_pool *pool;
	struct frag_owners *f;
};

static struct fo
fo_new(void)
{
	struct fo o = { .s = mock_shim_new() };

	assert_int_equal(shim_pool_create(o.s, "p", 256, 2176, &o.pool), 0);
	assert_int_equal(frag_owners_create(o.s, &SECRET, &o.f), 0);
	return o;
}

static void
fo_free(struct fo *o)
{
	frag_owners_destroy(o->f);
	assert_int_equal(mock_bufs_out(o->s), 0);
	shim_pool_free(o->s, o->pool);
	assert_int_equal(mock_shim_free(o->s), 0);
}

static struct flow_frag
fr(uint32_t id, uint8_t proto, uint8_t family)
{
	struct flow_frag k;

	memset(&k, 0, sizeof(k));
	memcpy(k.src, PEER4, 4);
	memcpy(k.dst, ME4, 4);
	k.id = id;
	k.proto = proto;
	k.family = family;
	return k;
}

/* DSP-6 */
static void
an_owner_is_remembered_for_five_seconds_over_the_wrap(void **state)
{
	static const uint32_t at[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffff000, 0u - FRAG_OWNER_MS };

	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		struct fo o = fo_new();
		struct flow_frag k = fr(7, 17, ADDR_INET), icmp = fr(7, 1, ADDR_INET), v6 = fr(7, 0, ADDR_INET6);

		assert_int_equal(frag_owner_get(o.f, &k, at[i]), FRAG_UNKNOWN);
		frag_owner_set(o.f, &k, FRAG_PEER, at[i]);
		assert_int_equal(frag_owner_get(o.f, &icmp, at[i]), FRAG_UNKNOWN); /* the same id of another protocol */
		assert_int_equal(frag_owner_get(o.f, &v6, at[i]), FRAG_UNKNOWN);
		assert_int_equal(frag_owner_set(o.f, &icmp, FRAG_LOCAL, at[i]), FRAG_LOCAL);
		assert_int_equal(frag_owner_set(o.f, &k, FRAG_LOCAL, at[i] + 10), FRAG_PEER); /* the first one stays */
		assert_int_equal(frag_owner_get(o.f, &k, at[i] + FRAG_OWNER_MS - 1), FRAG_PEER);
		assert_int_equal(frag_owner_get(o.f, &icmp, at[i] + FRAG_OWNER_MS - 1), FRAG_LOCAL);
		assert_int_equal(frag_owner_get(o.f, &k, at[i] + FRAG_OWNER_MS + 1), FRAG_UNKNOWN);
		assert_int_equal(frag_owner_set(o.f, &k, FRAG_LOCAL, at[i] + FRAG_OWNER_MS + 2), FRAG_LOCAL);
		assert_int_equal(frag_owner_get(o.f, &k, at[i] + FRAG_OWNER_MS + 3), FRAG_LOCAL);
		frag_owners_forget(o.f);
		assert_int_equal(frag_owner_get(o.f, &k, at[i] + FRAG_OWNER_MS + 3), FRAG_UNKNOWN);
		fo_free(&o);
	}
}

/* DSP-6: the newest is always there; no number of datagrams breaks anything */
static void
many_datagrams_push_out_the_oldest(void **state)
{
	struct fo o = fo_new();

	(void)state;
	for (uint32_t id = 0; id < 20 * FRAG_OWNERS; id++) {
		struct flow_frag k = fr(id, 17, ADDR_INET);
		enum frag_owner_to to = id & 1 ? FRAG_PEER : FRAG_LOCAL;

		assert_int_equal(frag_owner_set(o.f, &k, to, id / 100), to);
		assert_int_equal(frag_owner_get(o.f, &k, id / 100), to);
	}
	fo_free(&o);
}

/* DSP-6 */
static void
what_is_held_comes_out_in_order_and_by_its_datagram(void **state)
{
	struct fo o = fo_new();
	struct rte_mbuf *m[FRAG_HELD + 1], *out[FRAG_HELD + 1];
	struct flow_frag a = fr(7, 17, ADDR_INET), b = fr(7, 1, ADDR_INET);
	unsigned int n;

	(void)state;
	assert_int_equal(shim_buf_alloc_bulk(o.s, o.pool, m, FRAG_HELD + 1), 0);
	assert_true(frag_owner_next(o.f) == UINT64_MAX);
	for (unsigned int i = 0; i < FRAG_HELD; i++)
		assert_true(frag_owner_hold(o.f, i & 1 ? &b : &a, m[i], 1000 + i));
	assert_false(frag_owner_hold(o.f, &a, m[FRAG_HELD], 1000));
	assert_true(frag_owner_next(o.f) == 1000 + FRAG_HELD_MS * 1000000ull);
	frag_owners_forget(o.f);
	assert_int_equal(frag_owner_release(o.f, &a, out, 3), 3);
	n = 3 + frag_owner_release(o.f, &a, out + 3, FRAG_HELD);
	assert_int_equal(n, FRAG_HELD / 2);
	for (unsigned int i = 0; i < n; i++)
		assert_ptr_equal(out[i], m[2 * i]);
	shim_buf_free_bulk(o.s, out, n);
	assert_int_equal(frag_owner_release(o.f, &a, out, FRAG_HELD), 0);
	assert_int_equal(frag_owner_expire(o.f, 1001 + FRAG_HELD_MS * 1000000ull - 1, false, out, FRAG_HELD), 0);
	assert_true(frag_owner_hold(o.f, &a, m[FRAG_HELD], 5000)); /* there is room again */
	/* b's came at 1001, 1003, ...: two of them are due */
	n = frag_owner_expire(o.f, 1003 + FRAG_HELD_MS * 1000000ull, false, out, FRAG_HELD);
	assert_int_equal(n, 2);
	assert_ptr_equal(out[0], m[1]);
	assert_ptr_equal(out[1], m[3]);
	shim_buf_free_bulk(o.s, out, n);
	assert_true(frag_owner_next(o.f) == 1005 + FRAG_HELD_MS * 1000000ull);
	n = frag_owner_expire(o.f, 1003, true, out, 10);
	assert_int_equal(n, 10);
	for (unsigned int i = 0; i < n; i++)
		assert_ptr_equal(out[i], m[5 + 2 * i]);
	shim_buf_free_bulk(o.s, out, n);
	fo_free(&o); /* frees what still waits */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_of_a_key_matters_to_its_hash),
		cmocka_unit_test(the_map_keeps_protocols_and_families_apart),
		cmocka_unit_test(the_map_is_exact_while_it_grows_and_shrinks),
		cmocka_unit_test(the_map_holds_what_it_promises_and_survives_no_memory),
		cmocka_unit_test(an_owner_is_remembered_for_five_seconds_over_the_wrap),
		cmocka_unit_test(many_datagrams_push_out_the_oldest),
		cmocka_unit_test(what_is_held_comes_out_in_order_and_by_its_datagram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

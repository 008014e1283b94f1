/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the pools' free list: lengths, owners, counts, what was overwritten, and a death in every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/freelist.h"
#include "shim/sweep.h"

#define FRONT 64
#define MARK 5u

/* n buffers of a header each, as far apart as in a pool. */
struct bed {
	struct freelist *f;
	char *bufs;
	uint32_t n;
};

static struct rte_mbuf *
buf(const struct bed *b, uint32_t i)
{
	return (struct rte_mbuf *)(b->bufs + (size_t)i * (FRONT + sizeof(struct rte_mbuf)) + FRONT);
}

static void
fill(struct bed *b)
{
	uint32_t i;

	freelist_init(b->f, b->n, -FRONT);
	assert_false(freelist_ready(b->f));
	for (i = 0; i < b->n; i++) {
		/* not in the order of their addresses */
		assert_int_equal(freelist_count(b->f), i);
		memset(buf(b, b->n - 1 - i), 0, sizeof(struct rte_mbuf));
		assert_true(freelist_add(b->f, buf(b, b->n - 1 - i)));
	}
	assert_false(freelist_add(b->f, buf(b, 0)));
	assert_true(freelist_ready(b->f));
}

static void
bed_make(struct bed *b, uint32_t n)
{
	void *p = NULL;

	assert_int_equal(posix_memalign(&p, 64, freelist_size(n)), 0);
	b->f = p;
	assert_int_equal(posix_memalign(&p, 64, (size_t)n * (FRONT + sizeof(struct rte_mbuf))), 0);
	b->bufs = p;
	b->n = n;
	fill(b);
	assert_int_equal(freelist_count(b->f), n);
}

/* All of them can be had, each once. */
static void
assert_whole(struct bed *b, unsigned int owner)
{
	void **m = calloc(b->n, sizeof(*m));
	bool *seen = calloc(b->n, sizeof(*seen));
	uint32_t i, at;

	assert_int_equal(freelist_count(b->f), b->n);
	assert_int_equal(freelist_get(b->f, owner, m, b->n, true), 0);
	assert_int_equal(freelist_count(b->f), 0);
	for (i = 0; i < b->n; i++) {
		at = sweep_find(freelist_table(b->f), b->n, m[i]);
		assert_true(at < b->n && !seen[at]);
		seen[at] = true;
	}
	freelist_put(b->f, owner, m, b->n);
	assert_int_equal(freelist_count(b->f), b->n);
	free(m);
	free(seen);
}

static void
bed_free(struct bed *b)
{
	free(b->f);
	free(b->bufs);
}

/* REL-18 */
static void
test_all_or_none_for_every_length(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 8, 63, 64, 65, 500, 2048, 4099 };
	struct bed b;
	void *m[600];
	unsigned int i, n;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bed_make(&b, sizes[i]);
		for (n = 0; n <= sizes[i] && n <= 600; n += 1 + n / 3) {
			assert_int_equal(freelist_get(b.f, 3, m, n, false), 0);
			assert_int_equal(freelist_count(b.f), sizes[i] - n);
			freelist_put(b.f, 3, m, n);
			assert_int_equal(freelist_count(b.f), sizes[i]);
		}
		if (sizes[i] < 600) {
			assert_int_equal(freelist_get(b.f, 3, m, sizes[i] + 1, false), -ENOBUFS);
			assert_int_equal(freelist_get(b.f, FREELIST_ANON, m, sizes[i] + 1, false), -ENOBUFS);
			assert_int_equal(freelist_count(b.f), sizes[i]);
		}
		freelist_recover(b.f, 3);
		assert_whole(&b, 3);
		bed_free(&b);
	}
}

/* REL-18 */
static void
test_the_last_freed_comes_first(void **state)
{
	struct bed b;
	void *m[8], *again[8];
	unsigned int i;

	(void)state;
	bed_make(&b, 512);
	assert_int_equal(freelist_get(b.f, 0, m, 8, false), 0);
	freelist_put(b.f, 0, m, 8);
	assert_int_equal(freelist_get(b.f, 0, again, 8, false), 0);
	for (i = 0; i < 8; i++)
		assert_ptr_equal(again[i], m[7 - i]);
	freelist_put(b.f, 0, again, 8);
	bed_free(&b);
}

/* REL-18 */
static void
test_an_owner_that_only_frees_is_counted(void **state)
{
	struct bed b;
	void *m[40];

	(void)state;
	bed_make(&b, 512);
	assert_int_equal(freelist_get(b.f, 1, m, 40, false), 0);
	freelist_put(b.f, 2, m, 40);
	assert_int_equal(freelist_count(b.f), 512);
	assert_false(freelist_idle(b.f, 2));
	assert_int_equal(freelist_recover(b.f, 2), 40);
	assert_true(freelist_idle(b.f, 2));
	assert_int_equal(freelist_recover(b.f, 2), 0);
	freelist_recover(b.f, 1);
	assert_int_equal(freelist_count(b.f), 512);
	bed_free(&b);
}

/* REL-18 */
static void
test_threads_without_a_cache(void **state)
{
	struct bed b;
	void *m[100];

	(void)state;
	bed_make(&b, 100);
	assert_int_equal(freelist_get(b.f, FREELIST_ANON, m, 0, true), 0);
	assert_int_equal(freelist_get(b.f, FREELIST_ANON, m, 60, true), 0);
	assert_int_equal(((struct rte_mbuf *)m[0])->dynfield1[8], 0); /* nobody's */
	assert_int_equal(freelist_get(b.f, UINT32_MAX, m + 60, 40, true), 0);
	assert_int_equal(freelist_get(b.f, UINT32_MAX, m, 1, true), -ENOBUFS);
	freelist_put(b.f, FREELIST_ANON, m, 0);
	freelist_put(b.f, FREELIST_ANON, m, 100);
	assert_int_equal(freelist_recover(b.f, FREELIST_ANON), 0);
	assert_whole(&b, 9);
	bed_free(&b);
}

/* REL-18 */
static void
test_what_is_no_buffer_is_left_out(void **state)
{
	struct bed b;
	struct freelist_own *o;
	void *m[6], *bogus;
	uint32_t len;
	static char stranger[FRONT + sizeof(struct rte_mbuf)] __attribute__((aligned(64)));

	(void)state;
	bed_make(&b, 64);
	o = freelist_own(b.f, 7);
	assert_int_equal(freelist_get(b.f, 7, m, 6, false), 0);
	freelist_put(b.f, 7, m, 6);
	/* The dead one's cache has a buffer twice, nothing, a stranger, and half a buffer. */
	len = (uint32_t)o->level;
	assert_in_range(len, 5, b.f->room);
	o->obj[1] = o->obj[0];
	o->obj[2] = NULL;
	o->obj[3] = stranger + FRONT;
	o->obj[4] = (char *)o->obj[4] + 8;
	assert_int_equal(freelist_recover(b.f, 7), len - 4);
	/* A free of what is not the list's: it stays out. The hint in front of a buffer may be anything. */
	assert_int_equal(freelist_get(b.f, FREELIST_ANON, m, 2, false), 0);
	*(uint32_t *)((char *)m[0] - FRONT) = 0xffffffff;
	*(uint32_t *)((char *)m[1] - FRONT) = 3;
	bogus = stranger + FRONT;
	freelist_put(b.f, FREELIST_ANON, &bogus, 1);
	freelist_put(b.f, FREELIST_ANON, m, 2);
	assert_int_equal(freelist_count(b.f), 60);
	bed_free(&b);
}

/* REL-18 */
static void
test_overwritten_words_give_no_wrong_address(void **state)
{
	struct bed b;
	struct freelist_own *o;
	uint32_t *next;
	void *m[64];
	unsigned int i;

	(void)state;
	bed_make(&b, 64);
	o = freelist_own(b.f, 2);
	next = (uint32_t *)((char *)b.f + b.f->next_off);
	assert_int_equal(freelist_get(b.f, 2, m, 1, false), 0);
	o->level = 0x7fffffff; /* no cache is so full */
	assert_int_equal(freelist_get(b.f, 2, m, 1, false), 0);
	o->level = 0xf0000000;
	freelist_put(b.f, 2, m, 1);
	o->target = 0xffffffff;
	o->op = FREELIST_POP;
	o->moved = 0xffffffff;
	freelist_recover(b.f, 2);
	for (i = 0; i < 64; i++)
		next[i] = 0x00fffff0; /* a list that leads nowhere */
	assert_int_equal(freelist_get(b.f, 3, m, 2, false), -ENOBUFS);
	assert_int_equal(freelist_get(b.f, 3, m, 1, false), 0);
	assert_true(sweep_find(freelist_table(b.f), 64, m[0]) < 64);
	assert_in_range(freelist_count(b.f), 0, 64); /* whatever the sum is */
	b.f->anon_net = -1000;
	assert_int_equal(freelist_count(b.f), 0);
	b.f->anon_net = 1000;
	assert_int_equal(freelist_count(b.f), 64);
	bed_free(&b);
}

/*
 * Takes owner 1's last swap as made, and its death before the level said so: what a death between the two leaves. Others may
 * have changed the head since.
 */
static void
death_after_swap(bool push, bool head_has_changed)
{
	struct bed b;
	struct freelist_own *o;
	uint64_t level;
	uint32_t target;
	void *m[64], *other[2];
	unsigned int n = push ? 12 : 0;

	bed_make(&b, 64);
	o = freelist_own(b.f, 1);
	assert_int_equal(freelist_get(b.f, 1, m, 30, true), 0);
	if (n > 0)
		freelist_put(b.f, 1, m + 18, n);
	level = o->level;
	target = o->target;
	if (push)
		freelist_put(b.f, 1, m + 16, 2); /* too many: some go to the list */
	else
		assert_int_equal(freelist_get(b.f, 1, m + 30, (uint32_t)level + 1, true), 0);
	assert_true(o->before == (uint32_t)level && o->moved > 0);
	if (head_has_changed) {
		assert_int_equal(freelist_get(b.f, 2, other, 2, false), 0);
		freelist_put(b.f, 2, other, 2);
	}
	/* The words of before, with the journal as it was at the swap. */
	o->op = push ? FREELIST_PUSH : FREELIST_POP;
	o->level = level;
	o->target = target;
	if (push) {
		((struct rte_mbuf *)m[16])->dynfield1[8] = MARK; /* not freed yet */
		((struct rte_mbuf *)m[17])->dynfield1[8] = MARK;
		m[18] = m[16];
		m[19] = m[17];
	}
	freelist_recover(b.f, 1);
	freelist_recover(b.f, 2);
	assert_true(o->op == FREELIST_NONE);
	n = push ? 18 : 30;
	assert_int_equal(freelist_count(b.f), 64 - n);
	freelist_put(b.f, 3, m, n);
	freelist_recover(b.f, 3);
	assert_whole(&b, 1);
	bed_free(&b);
}

/* REL-18 */
static void
test_death_between_swap_and_level(void **state)
{
	(void)state;
	death_after_swap(true, false);
	death_after_swap(true, true);
	death_after_swap(false, false);
	death_after_swap(false, true);
}

/* REL-18 */
static void
test_death_in_the_first_of_all_gets(void **state)
{
	struct bed b;
	struct freelist_own *o;
	uint64_t level;
	void *m[3];

	(void)state;
	bed_make(&b, 64);
	o = freelist_own(b.f, 1);
	level = o->level;
	assert_int_equal(freelist_get(b.f, 1, m, 3, true), 0);
	o->op = FREELIST_POP;
	o->level = level;
	o->target = 0;
	assert_int_equal(freelist_recover(b.f, 1), o->moved);
	assert_whole(&b, 1);
	bed_free(&b);
}

/* REL-18 */
static void
test_death_before_a_swap_changes_nothing(void **state)
{
	struct bed b;
	struct freelist_own *o;
	void *m[20], *other[2];

	(void)state;
	bed_make(&b, 64);
	o = freelist_own(b.f, 1);
	assert_int_equal(freelist_get(b.f, 1, m, 20, true), 0);
	/* It noted a try with the tag that comes next; another process was faster. */
	o->before = (uint32_t)o->level;
	o->first = 0;
	o->moved = 3;
	o->tag = (uint32_t)(b.f->head >> 32) + 1;
	o->op = FREELIST_POP;
	assert_int_equal(freelist_get(b.f, 2, other, 2, false), 0);
	freelist_put(b.f, 2, other, 2);
	freelist_recover(b.f, 1);
	freelist_recover(b.f, 2);
	freelist_put(b.f, 3, m, 20);
	freelist_recover(b.f, 3);
	assert_whole(&b, 1);
	bed_free(&b);
}

/* REL-18 */
static void
test_death_while_freeing(void **state)
{
	struct bed b;
	struct freelist_own *o;
	void *m[4];
	uint64_t level;

	(void)state;
	bed_make(&b, 64);
	o = freelist_own(b.f, 1);
	assert_int_equal(freelist_get(b.f, 1, m, 4, true), 0);
	level = o->level;
	freelist_put(b.f, 1, m, 4);
	o->level = level; /* the target says more: their words may be 0 already */
	assert_int_equal(freelist_recover(b.f, 1), (uint32_t)level + 4);
	assert_whole(&b, 1);
	bed_free(&b);
}

/* REL-18 */
static void
test_tags_wrap_around(void **state)
{
	struct bed b;
	struct freelist_own *o;
	void *m[64];
	unsigned int i;

	(void)state;
	bed_make(&b, 64);
	o = freelist_own(b.f, 1);
	b.f->head = (b.f->head & 0xffffffffu) | 0xfffffffaull << 32;
	for (i = 0; i < 12; i++) {
		assert_int_equal(freelist_get(b.f, 1 + i % 2, m, 40, true), 0);
		freelist_put(b.f, 1 + i % 2, m, 40);
		freelist_recover(b.f, 1 + i % 2);
	}
	assert_in_range((uint32_t)(b.f->head >> 32), 1, 1000);
	o->before = 0;
	o->moved = 3;
	o->tag = (uint32_t)(b.f->head >> 32) + 1; /* a try that was not made */
	o->op = FREELIST_POP;
	freelist_recover(b.f, 1);
	assert_whole(&b, 5);
	bed_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_or_none_for_every_length),
		cmocka_unit_test(test_the_last_freed_comes_first),
		cmocka_unit_test(test_an_owner_that_only_frees_is_counted),
		cmocka_unit_test(test_threads_without_a_cache),
		cmocka_unit_test(test_what_is_no_buffer_is_left_out),
		cmocka_unit_test(test_overwritten_words_give_no_wrong_address),
		cmocka_unit_test(test_death_between_swap_and_level),
		cmocka_unit_test(test_death_in_the_first_of_all_gets),
		cmocka_unit_test(test_death_before_a_swap_changes_nothing),
		cmocka_unit_test(test_death_while_freeing),
		cmocka_unit_test(test_tags_wrap_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

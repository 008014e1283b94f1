/* SPDX-License-Identifier: BSD-3-Clause */
/* Control blocks: attaching to what may be anything, claiming, the request mailbox and its deadlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/runtime/ctl.h"
#include "shim/host/mock/mock.h"

struct env {
	struct shim *owner, *client;
	struct ctl_dir *dir;
	struct ctl_block *block;
	struct shim_proc client_proc;
	int result;              /* what the answering hook says */
	unsigned int answered;
	char seen[64];           /* the first word it saw */
	unsigned int seen_words;
};

static int
setup(void **state)
{
	struct env *e = test_calloc(1, sizeof(*e));
	void *addr;

	e->owner = mock_shim_new();
	e->client = mock_shim_attach(e->owner, SHIM_ROLE_OBSERVER, 9);
	e->client_proc = shim_self(e->client);
	assert_int_equal(shim_zone_reserve(e->owner, CTL_DIR_ZONE, sizeof(*e->dir), &addr), 0);
	e->dir = addr;
	e->dir->magic = CTL_MAGIC;
	e->dir->layout_version = CTL_LAYOUT_VERSION;
	e->dir->nb_workers = 1;
	e->dir->boot_id = 77;
	e->dir->sides = 1;
	e->dir->ready = 1;
	assert_int_equal(ctl_block_create(e->owner, 1, 77, &e->block), 0);
	*state = e;
	return 0;
}

static int
teardown(void **state)
{
	struct env *e = *state;
	unsigned int leaks = mock_shim_free(e->client);

	leaks += mock_shim_free(e->owner);
	test_free(e);
	return leaks == 0 ? 0 : -1;
}

static void
test_proc_word_names_a_process_or_is_zero(void **state)
{
	struct shim_proc p = { .pid = 4194303, .start_time = 123456789 }, back;

	(void)state;
	back = ctl_word_proc(ctl_proc_word(&p));
	assert_int_equal(back.pid, p.pid);
	assert_true(back.start_time == p.start_time);
	p.pid = 0;
	assert_true(ctl_proc_word(&p) == 0);
	p.pid = 1u << 22;
	assert_true(ctl_proc_word(&p) == 0);
	p.pid = 1;
	p.start_time = 1ull << 42;
	assert_true(ctl_proc_word(&p) == 0);
}

static void
test_dir_attach_trusts_nothing(void **state)
{
	struct env *e = *state;
	struct ctl_dir *d;

	assert_int_equal(ctl_dir_attach(e->client, &d), 0);
	assert_ptr_equal(d, e->dir);
	e->dir->ready = 0;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EAGAIN);
	e->dir->sides = 1;
	e->dir->ready = 1;
	e->dir->magic++;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	e->dir->magic--;
	e->dir->layout_version = 99;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	assert_non_null(strstr(mock_last_message(e->client), "version 99"));
	assert_non_null(strstr(mock_last_message(e->client), "version 2"));
	e->dir->layout_version = CTL_LAYOUT_VERSION;
	e->dir->nb_workers = 0;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	e->dir->nb_workers = CTL_MAX_PROCS;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	e->dir->nb_workers = 1;
	e->dir->first_proc = 2;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	e->dir->first_proc = 0;
	e->dir->nb_ports = SHIM_MAX_PORTS + 1;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	e->dir->nb_ports = 0;
	e->dir->boot_id = 0;
	assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	shim_zone_free(e->owner, CTL_DIR_ZONE);
	assert_int_equal(ctl_dir_attach(e->client, &d), -ENOENT);
	{
		void *addr;

		assert_int_equal(shim_zone_reserve(e->owner, CTL_DIR_ZONE, 64, &addr), 0);
		assert_int_equal(ctl_dir_attach(e->client, &d), -EPROTO);
	}
}

static void
test_attach_trusts_nothing(void **state)
{
	struct env *e = *state;
	struct ctl_block *b;
	void *addr;

	assert_int_equal(ctl_attach(e->client, 1, &b), 0);
	assert_ptr_equal(b, e->block);
	assert_int_equal(ctl_attach(e->client, 2, &b), -ENOENT);
	assert_int_equal(ctl_attach(e->client, CTL_MAX_PROCS, &b), -EINVAL);
	assert_int_equal(ctl_block_create(e->owner, CTL_MAX_PROCS, 77, &b), -EINVAL);
	assert_int_equal(ctl_block_create(e->owner, 1, 77, &b), -EEXIST);
	e->block->boot_id = 78;
	assert_int_equal(ctl_attach(e->client, 1, &b), -EPROTO);
	e->block->boot_id = 77;
	e->block->magic = 0;
	assert_int_equal(ctl_attach(e->client, 1, &b), -EPROTO);
	assert_int_equal(shim_zone_reserve(e->owner, "nonic_ctl_3", 64, &addr), 0);
	assert_int_equal(ctl_attach(e->client, 3, &b), -EPROTO);
	e->dir->ready = 0;
	assert_int_equal(ctl_attach(e->client, 1, &b), -EAGAIN);
}

static void
test_claim_by_one_until_it_dies(void **state)
{
	struct env *e = *state;
	struct shim_proc owner = shim_self(e->owner);

	assert_int_equal(ctl_owner_alive(e->client, e->block), 0);
	assert_false(ctl_reap(e->client, e->block));
	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	assert_int_equal(e->block->state, CTL_STARTING);
	assert_int_equal(e->block->owner.pid, owner.pid);
	assert_int_equal(ctl_owner_alive(e->client, e->block), 1);
	assert_int_equal(ctl_claim(e->client, e->block), -EBUSY);
	assert_false(ctl_reap(e->client, e->block));
	/* a request that the dead one left is answered by its successor's claim */
	e->block->request = 5;
	mock_proc_set(e->owner, owner, false);
	assert_int_equal(ctl_claim(e->client, e->block), 0);
	assert_int_equal(e->block->reply, 5);
	assert_int_equal(e->block->result, -ECONNRESET);
	mock_proc_set(e->owner, e->client_proc, false);
	assert_true(ctl_reap(e->owner, e->block));
	assert_int_equal(e->block->state, CTL_FREE);
	assert_true(e->block->claim == 0);
}

static void
test_release_frees_the_block(void **state)
{
	struct env *e = *state;

	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	ctl_state_set(e->owner, e->block, CTL_RUNNING);
	assert_int_equal(e->block->state, CTL_RUNNING);
	ctl_release(e->owner, e->block);
	assert_int_equal(e->block->state, CTL_FREE);
	assert_int_equal(ctl_owner_alive(e->client, e->block), 0);
}

static void
test_claim_lost_to_a_faster_one(void **state)
{
	struct env *e = *state;

	mock_fail(e->owner, MOCK_OP_cas, 1, EAGAIN);
	assert_int_equal(ctl_claim(e->owner, e->block), -EBUSY);
	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	mock_proc_set(e->owner, shim_self(e->owner), false);
	mock_fail(e->owner, MOCK_OP_cas, 1, EAGAIN);
	assert_false(ctl_reap(e->client, e->block));
	assert_true(ctl_reap(e->client, e->block));
}

/* The owner answers while the client sleeps. */
static void
answer(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;
	struct ctl_request r;

	(void)s;
	(void)op;
	if (!ctl_poll(e->owner, e->block, &r))
		return;
	e->answered++;
	e->seen_words = r.nb_words;
	e->seen[0] = '\0';
	if (r.nb_words > 0)
		strncpy(e->seen, r.word[0], sizeof(e->seen) - 1);
	ctl_answer(e->owner, e->block, &r, e->result, "hello", 5, 3);
	assert_false(ctl_poll(e->owner, e->block, &r));
}

static void
test_call_is_answered(void **state)
{
	struct env *e = *state;
	char text[32];
	uint32_t next = 0;

	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	mock_hook(e->owner, MOCK_OP_sleep_ns, answer, e);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, "one\0two", 8, text, sizeof(text), &next, 100), 0);
	assert_string_equal(text, "hello");
	assert_int_equal(next, 3);
	assert_string_equal(e->seen, "one");
	assert_int_equal(e->seen_words, 2);
	assert_true(e->block->lock == 0);
	e->result = -ENODEV;
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, text, 3, NULL, 100), -ENODEV);
	assert_string_equal(text, "he"); /* cut to the room there is */
	assert_int_equal(e->seen_words, 0);
	e->result = 12; /* no owner says so: not a success */
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 100), -EPROTO);
	assert_int_equal(e->answered, 3);
}

static void
test_call_distrusts_the_answers_length(void **state)
{
	struct env *e = *state;
	char *text = test_malloc(CTL_TEXT + 64);

	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	e->block->request = 0;
	mock_hook(e->owner, MOCK_OP_sleep_ns, answer, e);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, text, CTL_TEXT + 64, NULL, 100), 0);
	memset(e->block->text, 'x', CTL_TEXT);
	mock_hook(e->owner, MOCK_OP_sleep_ns, NULL, NULL);
	e->block->reply = e->block->request + 1; /* answered beforehand, with a length out of bounds */
	e->block->text_len = UINT32_MAX;
	e->block->result = 0;
	e->block->request = e->block->reply;
	e->block->request--;
	e->block->reply--;
	mock_hook(e->owner, MOCK_OP_sleep_ns, answer, e);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, text, CTL_TEXT + 64, NULL, 100), 0);
	assert_int_equal(strlen(text), 5);
	test_free(text);
}

static void
test_call_gives_up_in_time(void **state)
{
	struct env *e = *state;
	uint64_t begin;

	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 10), -ESRCH);
	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	begin = shim_clock_ns(e->client);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 10), -ETIMEDOUT);
	assert_in_range(shim_clock_ns(e->client) - begin, 10000000, 11000000);
	assert_true(e->block->lock == 0);
	/* the unanswered one is still the owner's: its arguments are not overwritten */
	assert_int_equal(ctl_call(e->client, e->block, CTL_STOP, NULL, 0, NULL, 0, NULL, 10), -ETIMEDOUT);
	assert_int_equal(e->block->op, CTL_PING);
	mock_hook(e->owner, MOCK_OP_sleep_ns, answer, e);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 10), 0);
	assert_int_equal(e->answered, 2);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, CTL_ARGS, NULL, 0, NULL, 10), -E2BIG);
}

/* The owner dies while the client waits for it. */
static void
die(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;

	(void)s;
	(void)op;
	mock_proc_set(e->owner, shim_self(e->owner), false);
}

static void
test_call_notices_a_dead_owner(void **state)
{
	struct env *e = *state;

	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	mock_hook(e->owner, MOCK_OP_sleep_ns, die, e);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 1000), -ESRCH);
	assert_true(e->block->lock == 0);
}

static void
test_lock_of_a_dead_client_is_broken(void **state)
{
	struct env *e = *state;
	struct shim_proc dead = { .pid = 4000, .start_time = 4 };

	assert_int_equal(ctl_claim(e->owner, e->block), 0);
	mock_hook(e->owner, MOCK_OP_sleep_ns, answer, e);
	e->block->lock = ctl_proc_word(&dead);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 100), 0);
	/* a live client's is respected, and waited for only so long */
	mock_proc_set(e->owner, dead, true);
	e->block->lock = ctl_proc_word(&dead);
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 10), -EBUSY);
	assert_true(e->block->lock == ctl_proc_word(&dead));
}

static void
test_hostile_request_is_bounded(void **state)
{
	struct env *e = *state;
	struct ctl_request r;

	memset(e->block->args, 'a', CTL_ARGS); /* no zero anywhere */
	e->block->op = 4711;
	e->block->request = 1;
	assert_true(ctl_poll(e->owner, e->block, &r));
	assert_int_equal(r.op, CTL_NONE);
	assert_int_equal(r.nb_words, 1);
	assert_int_equal(strlen(r.word[0]), CTL_ARGS);
	memset(e->block->args, 0, CTL_ARGS);
	for (int i = 0; i < 20; i++)
		e->block->args[2 * i] = 'w';
	assert_true(ctl_poll(e->owner, e->block, &r));
	assert_int_equal(r.nb_words, 8);
	ctl_answer(e->owner, e->block, &r, 0, e->block->text, CTL_TEXT + 100, 0);
	assert_int_equal(e->block->text_len, CTL_TEXT);
}

static void
test_process_that_has_no_word(void **state)
{
	struct env *e = *state;

	e->owner->self.pid = 1u << 23;
	assert_int_equal(ctl_claim(e->owner, e->block), -ERANGE);
	e->client->self.pid = 1u << 23;
	assert_int_equal(ctl_call(e->client, e->block, CTL_PING, NULL, 0, NULL, 0, NULL, 10), -ERANGE);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_proc_word_names_a_process_or_is_zero), T(test_dir_attach_trusts_nothing),
		T(test_attach_trusts_nothing), T(test_claim_by_one_until_it_dies), T(test_release_frees_the_block),
		T(test_claim_lost_to_a_faster_one), T(test_call_is_answered),
		T(test_call_distrusts_the_answers_length), T(test_call_gives_up_in_time),
		T(test_call_notices_a_dead_owner), T(test_lock_of_a_dead_client_is_broken),
		T(test_hostile_request_is_bounded), T(test_process_that_has_no_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* mtu_change_port: the direct way, the dance of a busy port step by step, each step failing, and the way back failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mtu/mtu.h"
#include "shim/host/mock/mock.h"

/* What the dance of a busy port looks like when all goes well. */
#define LOOK "port_mtu_get(0) port_mtu_set(0,9000) "
#define SAVE "port_promiscuous_get(0) port_rss_key_get(0) port_reta_get(0,128) "
#define STILL "park drain "
#define RESTORE "port_rss_key_set(0,40) port_reta_set(0,128) port_promiscuous_set(0,1) "
#define SET_9000 "port_mtu_set(0,9000) port_mtu_get(0) "
#define SET_1500 "port_mtu_set(0,1500) port_mtu_get(0) "
#define STOP "port_stop(0) "
#define START "port_start(0) "

/* A running port with an RSS table and key of its own, and a log of the door's calls and the pollers'. */
struct fixture {
	struct shim *s;
	struct shim_pool *pool;
	struct mtu_quiesce q;
	int park_rc, drain_rc;
	bool parked;
	int err, rollback_err;
	size_t len;
	char log[2048];
};

static void
note(struct fixture *f, const char *what)
{
	const char *calls = mock_log(f->s);

	f->len += (size_t)snprintf(f->log + f->len, sizeof(f->log) - f->len, "%s%s%s%s", calls, calls[0] ? " " : "", what,
		what[0] ? " " : "");
	mock_log_clear(f->s);
}

static int
on_park(void *ctx)
{
	struct fixture *f = ctx;

	note(f, "park");
	f->parked = f->park_rc == 0;
	return f->park_rc;
}

static int
on_drain(void *ctx)
{
	struct fixture *f = ctx;

	assert_true(f->parked);
	note(f, "drain");
	return f->drain_rc;
}

static void
on_resume(void *ctx)
{
	struct fixture *f = ctx;

	note(f, "resume");
	f->parked = false;
}

static int
setup(void **state)
{
	struct shim_port_conf conf = { .nb_rx_queues = 4, .nb_tx_queues = 4, .mtu = 1500, .rss = true };
	struct fixture *f = calloc(1, sizeof(*f));
	uint16_t reta[128];
	uint8_t key[40];

	f->s = mock_shim_new();
	if (shim_pool_create(f->s, "p", 16, 9216, &f->pool))
		return -1;
	conf.pool = f->pool;
	memset(key, 0x5a, sizeof(key));
	memset(reta, 0, sizeof(reta));
	reta[127] = 3;
	if (shim_port_configure(f->s, 0, &conf) || shim_port_start(f->s, 0) ||
			shim_port_rss_key_set(f->s, 0, key, sizeof(key)) || shim_port_reta_set(f->s, 0, reta, 128) ||
			shim_port_promiscuous_set(f->s, 0, true))
		return -1;
	f->q = (struct mtu_quiesce){ on_park, on_drain, on_resume, f };
	mock_port_mtu_busy(f->s, 0, true);
	mock_log_clear(f->s);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	unsigned int left;

	shim_pool_free(f->s, f->pool);
	left = mock_shim_free(f->s);
	free(f);
	return left ? -1 : 0;
}

static enum mtu_result
run(struct fixture *f, uint16_t mtu)
{
	enum mtu_result r;

	f->err = f->rollback_err = 99;
	r = mtu_change_port(f->s, 0, mtu, &f->q, &f->err, &f->rollback_err);
	note(f, "");
	if (f->len > 0 && f->log[f->len - 1] == ' ')
		f->log[--f->len] = '\0';
	return r;
}

/* The port has this MTU and runs, its RSS and promiscuous mode are as setup made them, nobody is parked. */
static void
assert_port(struct fixture *f, uint16_t mtu)
{
	uint16_t now = 0, reta[128];
	uint8_t key[SHIM_RSS_KEY_MAX], len = sizeof(key);

	mock_script_clear(f->s);
	assert_int_equal(shim_port_mtu_get(f->s, 0, &now), 0);
	assert_int_equal(now, mtu);
	assert_true(mock_port(f->s, 0)->started);
	assert_int_equal(shim_port_promiscuous_get(f->s, 0), 1);
	assert_int_equal(shim_port_rss_key_get(f->s, 0, key, &len), 0);
	assert_int_equal(key[39], 0x5a);
	assert_int_equal(shim_port_reta_get(f->s, 0, reta, 128), 0);
	assert_int_equal(reta[127], 3);
	assert_false(f->parked);
}

/* MTU-5 */
static void
direct_success_reads_back(void **state)
{
	struct fixture *f = *state;

	mock_port_mtu_busy(f->s, 0, false);
	assert_int_equal(run(f, 9000), MTU_CHANGED);
	assert_string_equal(f->log, "port_mtu_get(0) port_mtu_set(0,9000) port_mtu_get(0)");
	assert_int_equal(f->err, 0);
	assert_int_equal(f->rollback_err, 0);
	assert_string_equal(mock_last_message(f->s), "port 0: MTU 1500 -> 9000");
	assert_port(f, 9000);
}

/* MTU-5: what is so already is not set again. */
static void
same_mtu_touches_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, 1500), MTU_CHANGED);
	assert_string_equal(f->log, "port_mtu_get(0)");
	assert_port(f, 1500);
}

/* MTU-5 */
static void
direct_refusal_changes_nothing(void **state)
{
	struct fixture *f = *state;

	mock_port_mtu_busy(f->s, 0, false);
	assert_int_equal(run(f, 9217), MTU_UNCHANGED);
	assert_int_equal(f->err, -EINVAL);
	assert_int_equal(f->rollback_err, 0);
	assert_string_equal(f->log, "port_mtu_get(0) port_mtu_set(0,9217) port_mtu_get(0)");
	assert_string_equal(mock_last_message(f->s), "port 0: MTU stays 1500, 9217 was not possible: errno 22");
	assert_port(f, 1500);
}

/* MTU-5: the driver says yes and does something else. */
static void
direct_read_back_mismatch_rolls_back(void **state)
{
	struct fixture *f = *state;

	mock_port_mtu_busy(f->s, 0, false);
	mock_return_real(f->s, MOCK_OP_port_mtu_get, 1);
	mock_return(f->s, MOCK_OP_port_mtu_get, 0); /* leaves 0 as the value */
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -EIO);
	assert_string_equal(f->log, "port_mtu_get(0) " SET_9000 "port_mtu_get(0) port_mtu_set(0,1500) port_mtu_get(0)");
	assert_port(f, 1500);
}

/* MTU-5 */
static void
direct_roll_back_failure_is_said(void **state)
{
	struct fixture *f = *state;

	mock_port_mtu_busy(f->s, 0, false);
	mock_return_real(f->s, MOCK_OP_port_mtu_get, 1);
	mock_return(f->s, MOCK_OP_port_mtu_get, 0);
	mock_fail(f->s, MOCK_OP_port_mtu_set, 2, EIO);
	assert_int_equal(run(f, 9000), MTU_PORT_FAILED);
	assert_int_equal(f->err, -EIO);
	assert_int_equal(f->rollback_err, -EIO);
	assert_string_equal(mock_last_message(f->s), "port 0: MTU 9000 was not possible (errno 5), and the way back to 1500 "
		"failed (errno 5): the port runs, but not as it was");
	assert_int_equal(mock_messages(f->s, SHIM_LOG_CRIT), 1);
}

/* MTU-4: a secondary has no business with the device. */
static void
secondary_is_refused(void **state)
{
	struct fixture *f = *state;

	mock_set_role(f->s, SHIM_ROLE_WORKER);
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -EPERM);
	assert_int_equal(f->s->role_violations, 1);
	mock_set_role(f->s, SHIM_ROLE_PRIMARY);
	assert_port(f, 1500);
}

/* MTU-5 */
static void
unknown_port_and_unreadable_mtu(void **state)
{
	struct fixture *f = *state;
	int err = 0, back = 0;

	assert_int_equal(mtu_change_port(f->s, 7, 9000, &f->q, &err, &back), MTU_UNCHANGED);
	assert_int_equal(err, -ENODEV);
	assert_int_equal(back, 0);
	mock_log_clear(f->s);
	mock_fail(f->s, MOCK_OP_port_mtu_get, 1, EIO);
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -EIO);
	assert_string_equal(f->log, "port_mtu_get(0)");
	assert_port(f, 1500);
}

/* MTU-5 */
static void
busy_port_dances_in_order(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, 9000), MTU_CHANGED);
	assert_string_equal(f->log, LOOK SAVE STILL STOP SET_9000 START RESTORE "resume");
	assert_int_equal(f->err, 0);
	assert_port(f, 9000);
}

/* MTU-5 */
static void
busy_port_without_pollers_to_hold_is_refused(void **state)
{
	struct fixture *f = *state;
	int err, back;

	assert_int_equal(mtu_change_port(f->s, 0, 9000, NULL, &err, &back), MTU_UNCHANGED);
	assert_int_equal(err, -EBUSY);
	assert_int_equal(back, 0);
	assert_port(f, 1500);
}

/* MTU-5: a port without RSS has nothing to restore of it. */
static void
port_without_rss(void **state)
{
	struct fixture *f = *state;

	mock_port(f->s, 0)->reta_size = 0;
	mock_port(f->s, 0)->rss_key_size = 0;
	assert_int_equal(run(f, 9000), MTU_CHANGED);
	assert_string_equal(f->log, LOOK "port_promiscuous_get(0) " STILL STOP SET_9000 START "port_promiscuous_set(0,1) resume");
	mock_port(f->s, 0)->reta_size = 128;
	mock_port(f->s, 0)->rss_key_size = 40;
	assert_port(f, 9000);
	/* Neither has one that announces RSS and then has none. */
	f->len = 0;
	mock_log_clear(f->s);
	mock_fail(f->s, MOCK_OP_port_rss_key_get, 1, ENOTSUP);
	mock_fail(f->s, MOCK_OP_port_reta_get, 1, ENOTSUP);
	assert_int_equal(run(f, 1500), MTU_CHANGED);
	assert_string_equal(f->log, "port_mtu_get(0) port_mtu_set(0,1500) " SAVE STILL STOP SET_1500 START
		"port_promiscuous_set(0,1) resume");
	assert_port(f, 1500);
}

struct step {
	enum mock_op op;
	unsigned int nth;   /* call of it that fails */
	int err;
	const char *log;
};

static void
run_steps(void **state, const struct step *steps, size_t n)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < n; i++) {
		f->len = 0;
		mock_log_clear(f->s);
		mock_fail(f->s, steps[i].op, steps[i].nth, steps[i].err);
		assert_int_equal(run(f, 9000), MTU_UNCHANGED);
		assert_int_equal(f->err, -steps[i].err);
		assert_int_equal(f->rollback_err, 0);
		assert_string_equal(f->log, steps[i].log);
		assert_port(f, 1500);
	}
}

/* MTU-5: what can not be saved is not risked. */
static void
saving_fails_before_anything_is_disturbed(void **state)
{
	static const struct step steps[] = {
		{ MOCK_OP_port_info, 1, ENODEV, "port_mtu_get(0) port_mtu_set(0,9000)" },
		{ MOCK_OP_port_promiscuous_get, 1, EIO, LOOK "port_promiscuous_get(0)" },
		{ MOCK_OP_port_rss_key_get, 1, EIO, LOOK "port_promiscuous_get(0) port_rss_key_get(0)" },
		{ MOCK_OP_port_reta_get, 1, EIO, LOOK "port_promiscuous_get(0) port_rss_key_get(0) port_reta_get(0,128)" },
	};

	run_steps(state, steps, sizeof(steps) / sizeof(steps[0]));
}

/* MTU-5 */
static void
pollers_that_do_not_park(void **state)
{
	struct fixture *f = *state;

	f->park_rc = -ETIMEDOUT;
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -ETIMEDOUT);
	assert_string_equal(f->log, LOOK SAVE "park resume");
	assert_port(f, 1500);
}

/* MTU-5 */
static void
transmit_that_does_not_drain(void **state)
{
	struct fixture *f = *state;

	f->drain_rc = -ETIMEDOUT;
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -ETIMEDOUT);
	assert_string_equal(f->log, LOOK SAVE "park drain resume");
	assert_port(f, 1500);
}

/* MTU-5 */
static void
each_step_failing_rolls_back(void **state)
{
	static const struct step steps[] = {
		{ MOCK_OP_port_stop, 1, EIO, LOOK SAVE STILL STOP "port_mtu_get(0) resume" },
		{ MOCK_OP_port_mtu_set, 2, EINVAL, LOOK SAVE STILL STOP "port_mtu_set(0,9000) " SET_1500 START RESTORE "resume" },
		{ MOCK_OP_port_mtu_get, 2, EIO, LOOK SAVE STILL STOP SET_9000 SET_1500 START RESTORE "resume" },
		{ MOCK_OP_port_start, 1, ENOMEM, LOOK SAVE STILL STOP SET_9000 START SET_1500 START RESTORE "resume" },
		{ MOCK_OP_port_rss_key_set, 1, EIO, LOOK SAVE STILL STOP SET_9000 START "port_rss_key_set(0,40) port_mtu_get(0) "
			STOP SET_1500 START RESTORE "resume" },
		{ MOCK_OP_port_reta_set, 1, EIO, LOOK SAVE STILL STOP SET_9000 START "port_rss_key_set(0,40) port_reta_set(0,128) "
			"port_mtu_get(0) " STOP SET_1500 START RESTORE "resume" },
		{ MOCK_OP_port_promiscuous_set, 1, EIO, LOOK SAVE STILL STOP SET_9000 START RESTORE "port_mtu_get(0) "
			STOP SET_1500 START RESTORE "resume" },
	};

	run_steps(state, steps, sizeof(steps) / sizeof(steps[0]));
}

/* MTU-5 */
static void
read_back_mismatch_of_a_stopped_port_rolls_back(void **state)
{
	struct fixture *f = *state;

	mock_return_real(f->s, MOCK_OP_port_mtu_get, 1);
	mock_return(f->s, MOCK_OP_port_mtu_get, 0);
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -EIO);
	assert_string_equal(f->log, LOOK SAVE STILL STOP SET_9000 SET_1500 START RESTORE "resume");
	assert_port(f, 1500);
}

/* MTU-5: a port that neither goes forward nor back stays down, its pollers stay away from it, and both causes are told. */
static void
port_that_does_not_start_again_has_failed(void **state)
{
	struct fixture *f = *state;

	mock_fail_all(f->s, MOCK_OP_port_start, ENOMEM);
	assert_int_equal(run(f, 9000), MTU_PORT_FAILED);
	assert_int_equal(f->err, -ENOMEM);
	assert_int_equal(f->rollback_err, -ENOMEM);
	assert_string_equal(f->log, LOOK SAVE STILL STOP SET_9000 START SET_1500 START "port_start(0)");
	assert_true(f->parked);
	assert_false(mock_port(f->s, 0)->started);
	assert_string_equal(mock_last_message(f->s), "port 0: MTU 9000 was not possible (errno 12), and the way back to 1500 "
		"failed (errno 12): the port is down");
	mock_fail_all(f->s, MOCK_OP_port_start, 0);
	assert_int_equal(shim_port_start(f->s, 0), 0);
}

/* MTU-5: the old MTU can not be set again: the port runs all the same, with what it has. */
static void
old_mtu_that_can_not_be_set_again(void **state)
{
	struct fixture *f = *state;

	mock_return_real(f->s, MOCK_OP_port_mtu_set, 1);
	mock_return(f->s, MOCK_OP_port_mtu_set, -EINVAL);
	mock_return(f->s, MOCK_OP_port_mtu_set, -EIO);
	assert_int_equal(run(f, 9000), MTU_PORT_FAILED);
	assert_int_equal(f->err, -EINVAL);
	assert_int_equal(f->rollback_err, -EIO);
	assert_string_equal(f->log, LOOK SAVE STILL STOP "port_mtu_set(0,9000) port_mtu_set(0,1500) " START RESTORE "resume");
	assert_port(f, 1500);
}

/* MTU-5: RSS can not be restored on either way: the port runs with the old MTU, and that is said. */
static void
table_that_can_not_be_restored(void **state)
{
	struct fixture *f = *state;

	mock_fail_all(f->s, MOCK_OP_port_reta_set, EIO);
	assert_int_equal(run(f, 9000), MTU_PORT_FAILED);
	assert_int_equal(f->err, -EIO);
	assert_int_equal(f->rollback_err, -EIO);
	assert_non_null(strstr(f->log, STOP SET_1500 START "port_rss_key_set(0,40) port_reta_set(0,128) resume"));
	assert_false(f->parked);
	assert_port(f, 1500);
}

static void
stop_anyway(struct shim *s, enum mock_op op, void *arg)
{
	(void)op;
	(void)arg;
	mock_port(s, 0)->started = false;
}

/* MTU-5: stopping reports an error, yet the port has stopped: it is started again. */
static void
stop_that_fails_and_stops(void **state)
{
	struct fixture *f = *state;

	mock_hook(f->s, MOCK_OP_port_stop, stop_anyway, NULL);
	mock_fail(f->s, MOCK_OP_port_stop, 1, EIO);
	assert_int_equal(run(f, 9000), MTU_UNCHANGED);
	assert_int_equal(f->err, -EIO);
	assert_string_equal(f->log, LOOK SAVE STILL STOP SET_1500 START RESTORE "resume");
	assert_port(f, 1500);
}

/* MTU-5: a port that was not started is not started by a change. */
static void
stopped_port_stays_stopped(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(shim_port_stop(f->s, 0), 0);
	mock_log_clear(f->s);
	mock_return(f->s, MOCK_OP_port_mtu_set, -EBUSY);
	assert_int_equal(run(f, 9000), MTU_CHANGED);
	assert_string_equal(f->log, LOOK SAVE STILL SET_9000 RESTORE "resume");
	assert_false(mock_port(f->s, 0)->started);
	assert_int_equal(shim_port_start(f->s, 0), 0);
	assert_port(f, 9000);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(direct_success_reads_back), T(same_mtu_touches_nothing), T(direct_refusal_changes_nothing),
		T(direct_read_back_mismatch_rolls_back), T(direct_roll_back_failure_is_said), T(secondary_is_refused),
		T(unknown_port_and_unreadable_mtu), T(busy_port_dances_in_order),
		T(busy_port_without_pollers_to_hold_is_refused), T(port_without_rss),
		T(saving_fails_before_anything_is_disturbed), T(pollers_that_do_not_park), T(transmit_that_does_not_drain),
		T(each_step_failing_rolls_back), T(read_back_mismatch_of_a_stopped_port_rolls_back),
		T(port_that_does_not_start_again_has_failed), T(old_mtu_that_can_not_be_set_again),
		T(table_that_can_not_be_restored), T(stop_that_fails_and_stops), T(stopped_port_stays_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

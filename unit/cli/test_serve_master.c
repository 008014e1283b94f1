/* SPDX-License-Identifier: BSD-3-Clause */
/* The master's program on a mock door: what it starts, when a reload may begin, what it answers. Wraps stand for reload/master.h. */
#include "unit/runtime/fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/serve_master.h"
#include "core/cli/tools.h"

#define CONF "[dpdk]\nlcore_mask=7\nport_list=0\ngraceful_reload=1\nprimary_slim=1\npkt_tx_delay=0\n"

struct env {
	struct rt *rt;
	struct shim *s;            /* the master's door */
	struct nonic_config cfg;
	struct machine m;
	char dir[64], conf[96];
	struct serve_master sm;
	struct tools t;
	char *out, said[512];
	size_t len;
	FILE *f;
};

/* What stands for reload/master.c. */
static struct {
	struct reload_master_config c;
	struct reload_status st;
	int create, hup, stops, destroyed;
	uint32_t drain_ms;
	bool graceful, stopped;
	uint64_t nap;
	char argv[512];
} fake;

int __wrap_reload_master_create(const struct reload_master_config *c, struct reload_master **out);
void __wrap_reload_master_destroy(struct reload_master *m);
int __wrap_reload_master_hup(struct reload_master *m, char *why, size_t n);
void __wrap_reload_master_drain_limit(struct reload_master *m, uint32_t ms);
void __wrap_reload_master_stop(struct reload_master *m, bool graceful);
uint64_t __wrap_reload_master_turn(struct reload_master *m);
bool __wrap_reload_master_stopped(const struct reload_master *m);
void __wrap_reload_master_status(const struct reload_master *m, struct reload_status *out);
void __wrap_reload_report_text(const struct reload_report *r, char *buf, size_t n);

int
__wrap_reload_master_create(const struct reload_master_config *c, struct reload_master **out)
{
	fake.c = *c;
	*out = (struct reload_master *)&fake;
	return fake.create;
}

void
__wrap_reload_master_destroy(struct reload_master *m)
{
	fake.destroyed += m != NULL;
}

int
__wrap_reload_master_hup(struct reload_master *m, char *why, size_t n)
{
	(void)m;
	if (fake.hup < 0)
		snprintf(why, n, "the reason");
	return fake.hup;
}

void
__wrap_reload_master_drain_limit(struct reload_master *m, uint32_t ms)
{
	assert_ptr_equal(m, &fake);
	fake.drain_ms = ms;
}

void
__wrap_reload_master_stop(struct reload_master *m, bool graceful)
{
	(void)m;
	fake.stops++;
	fake.graceful = graceful;
}

uint64_t
__wrap_reload_master_turn(struct reload_master *m)
{
	(void)m;
	return fake.nap;
}

bool
__wrap_reload_master_stopped(const struct reload_master *m)
{
	(void)m;
	return fake.stopped;
}

void
__wrap_reload_master_status(const struct reload_master *m, struct reload_status *out)
{
	(void)m;
	*out = fake.st;
}

void
__wrap_reload_report_text(const struct reload_report *r, char *buf, size_t n)
{
	snprintf(buf, n, "report of generation %u \"%s\"", r->gen, r->complete ? "complete" : "aborted");
}

static void
put(struct env *e, const char *path, const char *text)
{
	char full[256], *p;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", e->dir, path);
	for (p = full + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
put_primary(struct env *e, const char *comm, char state)
{
	char path[64], text[128];
	unsigned int pid = shim_self(e->rt->s).pid;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	snprintf(text, sizeof(text), "%s\n", comm);
	put(e, path, text);
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	snprintf(text, sizeof(text), "%u (%s) %c 1 1\n", pid, comm, state);
	put(e, path, text);
}

static void
say(void *ctx, const char *line)
{
	struct env *e = ctx;

	strcat(strcat(e->said, line), "\n");
}

static const char *const extra[] = { "--echo-port", "7", "--stamp", NULL };

static int
open_master(struct env *e)
{
	struct serve_master_config c = { .shim = e->s, .machine = &e->m, .cfg = &e->cfg, .prefix = "x", .program = "/bin/nonic-dpdk",
		.worker_args = extra, .shutdown_timeout_ms = 0, .ready_timeout_ms = 1234, .say = say, .ctx = e };

	return serve_master_open(&e->sm, &c);
}

/* Blocks, directory and zone as a primary leaves them. */
static struct env *
env_new(void)
{
	static const struct cli_cmd cmd = { "ctl", "", "" };
	struct env *e = test_calloc(1, sizeof(*e));
	struct config_messages msgs;
	struct ctl_block *b;
	struct gen_dir *g;

	memset(&fake, 0, sizeof(fake));
	strcpy(e->dir, "/tmp/nonic-unit-XXXXXX");
	assert_non_null(mkdtemp(e->dir));
	e->m = (struct machine){ .root = e->dir, .is_root = true };
	snprintf(e->conf, sizeof(e->conf), "%s/config.ini", e->dir);
	put(e, "/config.ini", CONF RT_PORT);
	assert_int_equal(config_load(e->conf, 0, &e->cfg, &msgs), 0);
	config_messages_free(&msgs);
	e->rt = rt_bed(CONF RT_PORT, 0);
	e->s = mock_shim_attach(e->rt->s, SHIM_ROLE_OBSERVER, 127);
	put_primary(e, "nonic-dpdk", 'S');
	put(e, "/proc/meminfo", "MemTotal:  4096000 kB\nMemAvailable:  2048000 kB\n");
	put(e, "/proc/mounts", "nodev /huge hugetlbfs rw 0 0\n");
	put(e, "/huge/x", "");
	e->f = open_memstream(&e->out, &e->len);
	assert_int_equal(ctl_attach(e->s, CTL_MASTER, &b), 0);
	assert_int_equal(tools_attach(&e->t, &cmd, e->rt->tool, e->f, false), -1);
	assert_int_equal(gen_dir_attach(e->s, e->t.dir->boot_id, &g), 0);
	return e;
}

static void
env_free(struct env *e)
{
	char rm[96];

	mock_script_clear(e->rt->s);
	if (e->sm.rm != NULL)
		serve_master_close(&e->sm);
	fclose(e->f);
	free(e->out);
	mock_shim_free(e->s);
	rt_free(e->rt);
	config_free(&e->cfg);
	snprintf(rm, sizeof(rm), "rm -r %s", e->dir);
	assert_int_equal(system(rm), 0);
	test_free(e);
}

static void
logged(struct env *e, const char *words)
{
	if (strstr(mock_last_message(e->rt->s), words) == NULL)
		fail_msg("'%s' is not in: %s", words, mock_last_message(e->rt->s));
}

static void
refused(struct env *e, int err, const char *words)
{
	char why[512] = "";

	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), err);
	if (strstr(why, words) == NULL)
		fail_msg("'%s' is not in: %s", words, why);
}

static int
catch_spawn(struct shim *s, const char *const argv[], struct shim_proc *out)
{
	fake.argv[0] = '\0';
	for (unsigned int i = 0; argv[i] != NULL; i++)
		strcat(strcat(fake.argv, argv[i]), " ");
	return mock_behaviour.proc_spawn(s, argv, out);
}

/* REL-1 */
static void
test_a_worker_is_started_as_the_same_program(void **state)
{
	struct env *e = env_new();
	struct shim_proc who;
	char want[256];

	(void)state;
	assert_int_equal(open_master(e), 0);
	assert_int_equal(fake.c.nb_lanes, 2);
	assert_int_equal(fake.c.limits.drain, 90000);
	assert_int_equal(fake.c.limits.ready, 1234);
	mock_ops(e->s)->proc_spawn = catch_spawn;
	assert_int_equal(fake.c.ops->spawn(fake.c.ops->ctx, 1, 7, &who), 0);
	snprintf(want, sizeof(want), "/bin/nonic-dpdk serve --conf %s --proc-id 2 --generation 7 --echo-port 7 --stamp ", e->conf);
	assert_string_equal(fake.argv, want);
	assert_int_equal(shim_proc_alive(e->s, &who), 1);
	mock_fail(e->s, MOCK_OP_proc_spawn, 1, EAGAIN);
	mock_ops(e->s)->proc_spawn = mock_behaviour.proc_spawn;
	env_free(e);
}

/* REL-1, CFG-6 */
static void
test_a_changed_configuration_is_refused_by_its_key(void **state)
{
	struct env *e = env_new();
	char why[512] = "";

	(void)state;
	assert_int_equal(open_master(e), 0);
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0);
	put(e, "/config.ini", CONF "reload_udp_idle_ms=200\nidle_sleep=5\n" RT_PORT); /* the workers' own business */
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0);
	put(e, "/config.ini", CONF "drain_ring_size=4096\n" RT_PORT);
	refused(e, -EINVAL, "[dpdk] drain_ring_size has changed");
	put(e, "/config.ini", CONF "reload_udp_idle_ms=soon\n" RT_PORT);
	refused(e, -EINVAL, "config.ini:7: [dpdk] reload_udp_idle_ms");
	unlink(e->conf);
	refused(e, -EINVAL, "config.ini");
	put(e, "/config.ini", CONF RT_PORT);
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0);
	env_free(e);
}

/* REL-9, REL-1 */
static void
test_the_drain_s_limit_is_what_the_file_says_at_hup(void **state)
{
	struct env *e = env_new();
	char why[512] = "";

	(void)state;
	assert_int_equal(open_master(e), 0);
	assert_int_equal(fake.c.limits.drain, 90000);
	put(e, "/config.ini", CONF "worker_shutdown_timeout=5000\n" RT_PORT);
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0);
	assert_int_equal(fake.drain_ms, 5000);
	put(e, "/config.ini", CONF "worker_shutdown_timeout=7000\ndrain_ring_size=4096\n" RT_PORT);
	refused(e, -EINVAL, "drain_ring_size"); /* and nothing was touched */
	assert_int_equal(fake.drain_ms, 5000);
	put(e, "/config.ini", CONF "worker_shutdown_timeout=7000\n" RT_PORT);
	e->sm.c.shutdown_timeout_ms = 300; /* the option goes before the file */
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0);
	assert_int_equal(fake.drain_ms, 300);
	env_free(e);
}

/* REL-1 */
static void
test_a_primary_that_is_not_there_is_refused(void **state)
{
	struct env *e = env_new();
	struct shim_proc who, self = shim_self(e->rt->s);

	(void)state;
	assert_int_equal(open_master(e), 0);
	put_primary(e, "nonic-dpdk", 'T');
	refused(e, -EAGAIN, "is suspended");
	put_primary(e, "bash", 'S');
	refused(e, -ESRCH, "is not the program 'nonic-dpdk' any more");
	put_primary(e, "nonic-dpdk", 'S');
	mock_proc_set(e->s, self, false);
	refused(e, -ESRCH, "is dead");
	/* seen once, said once; nothing is started from then on */
	assert_int_equal(fake.c.ops->spawn(fake.c.ops->ctx, 0, 1, &who), 0);
	mock_advance_ns(e->s, SERVE_MASTER_LOOK_NS);
	serve_master_turn(&e->sm);
	logged(e, "died: the workers go on");
	assert_int_equal(mock_messages(e->s, SHIM_LOG_ERR), 1);
	mock_advance_ns(e->s, SERVE_MASTER_LOOK_NS);
	serve_master_turn(&e->sm);
	assert_int_equal(mock_messages(e->s, SHIM_LOG_ERR), 1);
	assert_int_equal(fake.c.ops->spawn(fake.c.ops->ctx, 0, 1, &who), -ESRCH);
	mock_proc_set(e->s, self, true);
	env_free(e);
}

/* REL-1, REL-17 */
static void
test_memory_for_a_second_generation_is_counted_first(void **state)
{
	struct env *e = env_new();
	char why[512] = "", path[64];
	struct shim_proc me = shim_self(e->s);

	(void)state;
	assert_int_equal(open_master(e), 0);
	mock_return(e->s, MOCK_OP_pool_avail, 2047);
	refused(e, -ENOBUFS, "2047 of ");
	mock_return(e->s, MOCK_OP_pool_avail, 2048);
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0);
	mock_fail(e->s, MOCK_OP_pool_lookup, 1, ENOENT);
	refused(e, -ENOENT, "the pool of buffers");
	put(e, "/proc/mounts", "proc /proc proc rw 0 0\n");
	refused(e, -ENOENT, "no hugetlbfs");
	put(e, "/proc/mounts", "nodev /huge hugetlbfs rw 0 0\n");
	/* a live worker of 3 GB where 2 GB are left */
	snprintf(path, sizeof(path), "/proc/%u/status", me.pid);
	put(e, path, "VmRSS:  9000000 kB\nRssAnon:   3072000 kB\n");
	e->sm.gen->seat[0][1].claim = ctl_proc_word(&me);
	refused(e, -ENOMEM, "2000 MB of memory are free, and a second generation needs 3000 MB");
	put(e, "/proc/meminfo", "");
	assert_int_equal(serve_master_check(&e->sm, why, sizeof(why)), 0); /* where nothing can be read nothing is refused */
	e->sm.gen->seat[0][1].claim = 0;
	env_free(e);
}

/* REL-2, CFG-6 */
static void
test_whoever_can_not_be_master_says_why(void **state)
{
	struct env *e = env_new();
	struct serve_master first;
	struct gen_dir *g;

	(void)state;
	assert_int_equal(open_master(e), 0);
	first = e->sm;
	g = e->sm.gen;
	assert_int_equal(open_master(e), -EBUSY);
	logged(e, "a master runs already, pid ");
	e->sm = first;
	serve_master_close(&e->sm);
	assert_int_equal(fake.destroyed, 1);
	fake.create = -ENOSPC;
	assert_int_equal(open_master(e), -ENOSPC);
	assert_int_equal(ctl_owner_alive(e->s, e->sm.block), 0);
	fake.create = 0;
	g->layout_version++;
	assert_int_equal(open_master(e), -EPROTO);
	g->layout_version--;
	e->t.dir->device_digest[3] ^= 1;
	assert_int_equal(open_master(e), -EINVAL);
	logged(e, "device-side key");
	e->t.dir->device_digest[3] ^= 1;
	mock_fail(e->s, MOCK_OP_zone_lookup, 1, ENOENT);
	assert_int_equal(open_master(e), -ENOENT);
	put_primary(e, "", 'S');
	assert_int_equal(open_master(e), 0);
	env_free(e);
}

/* ---- nonic ctl --------------------------------------------------------------------------------- */

static void
turn(struct shim *s, enum mock_op op, void *arg)
{
	struct env *e = arg;

	(void)s;
	(void)op;
	serve_master_turn(&e->sm);
	primary_turn(e->rt->p);
}

static void
says(struct env *e, const char *words)
{
	fflush(e->f);
	if (strstr(e->out, words) == NULL)
		fail_msg("'%s' is not in: %s", words, e->out);
	rewind(e->f);
}

/* REL-3 */
static void
test_ctl_reload_begins_waits_and_fails_with_the_reason(void **state)
{
	struct env *e = env_new();

	(void)state;
	assert_int_equal(tools_reload(&e->t, false), CLI_FAILED); /* no master runs */
	assert_int_equal(open_master(e), 0);
	mock_hook(e->s, MOCK_OP_sleep_ns, turn, e);
	fake.hup = -EBUSY;
	assert_int_equal(tools_reload(&e->t, false), CLI_FAILED);
	fake.hup = 0;
	assert_int_equal(tools_reload(&e->t, false), CLI_OK);
	assert_int_equal(tools_quit(&e->t, false), CLI_OK);
	assert_int_equal(fake.stops, 1);
	assert_true(fake.graceful);
	env_free(e);
}

static void
count_up(struct shim *s, enum mock_op op, void *arg)
{
	turn(s, op, arg);
	if (shim_clock_ns(s) > 1100000000ull && fake.st.reloads == 0)
		fake.st.reloads = 1;
}

/* REL-3, REL-12 */
static void
test_ctl_reload_wait_prints_the_line(void **state)
{
	struct env *e = env_new();

	(void)state;
	assert_int_equal(open_master(e), 0);
	fake.st.last = (struct reload_report){ .gen = 5, .complete = true };
	mock_hook(e->s, MOCK_OP_sleep_ns, count_up, e);
	assert_int_equal(tools_reload(&e->t, true), CLI_OK);
	says(e, "report of generation 5 \"complete\"\n");
	assert_true(shim_clock_ns(e->s) > 1100000000ull);
	fake.st.reloads = 0;
	fake.st.last.complete = false;
	assert_int_equal(tools_reload(&e->t, true), CLI_FAILED);
	env_free(e);
}

/* REL-8 */
static void
test_ctl_status_as_text_and_json(void **state)
{
	struct env *e = env_new();

	(void)state;
	assert_int_equal(tools_reload_status(&e->t), CLI_FAILED);
	assert_int_equal(open_master(e), 0);
	mock_hook(e->s, MOCK_OP_sleep_ns, turn, e);
	fake.st = (struct reload_status){ .state = RELOAD_T3_DRAIN, .active = 4, .wid = 5, .nb_lanes = 2, .live = { 2, 1 },
		.reloads = 3, .left = { .udp = 17, .tcp = 2, .half_open = 1, .unsent = 99 } };
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "T3_DRAIN");
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "generation   4, 2 of 2 workers live; window 5: 1 of 2 workers of generation 5 live\n"
		"to drain     17 UDP flows, 2 TCP connections, 1 half-open, 99 bytes unsent\n");
	e->t.json = true;
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "\"state\":\"T3_DRAIN\",\"generation\":4,\"window\":5,\"workers\":2,\"live\":[2,1],\"reloads\":3");
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "\"left\":{\"udp\":17,\"tcp\":2,\"half_open\":1,\"unsent\":99},\"last\":null,\"trouble\":null}\n");
	fake.st.last = (struct reload_report){ .gen = 4, .forced = true, .gap_ns = 12345, .reason = "because" };
	fake.st.trouble = (struct reload_trouble){ .there = true, .aborted = true, .ago_ms = 71000, .why = "a \"reason\"" };
	fake.st.wid = 0;
	fake.st.state = RELOAD_T0_IDLE;
	fake.st.stopping = true;
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "\"gap_ns\":12345,\"forwarded\":0,\"relayed\":0,\"dropped\":0,\"drain_peak\":0,\"relay_peak\":0,"
		"\"taken\":0,\"reason\":\"because\",\"text\":\"report of generation 4 \\\"aborted\\\"\"},\"trouble\":{\"outcome\":\"aborted\","
		"\"ago_ms\":71000,\"reason\":\"a \\\"reason\\\"\"}}\n");
	e->t.json = false;
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "; 1 of an older generation\n");
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, "master       running, pid ");
	e->t.json = true;
	assert_int_equal(tools_status(&e->t), CLI_OK);
	says(e, ",\"master\":{\"pid\":");
	env_free(e);
}

/* REL-3, REL-8 */
static void
test_ctl_status_says_one_of_one_and_how_old_a_refusal_is(void **state)
{
	static const struct { uint64_t ms; const char *line; } age[] = {
		{ 999, "trouble      rejected 0 s ago: no\n" }, { 119999, "trouble      rejected 119 s ago: no\n" },
		{ 120000, "trouble      rejected 2 min ago: no\n" }, { 7200000, "trouble      rejected 2 h ago: no\n" },
	};
	struct env *e = env_new();

	(void)state;
	assert_int_equal(open_master(e), 0);
	mock_hook(e->s, MOCK_OP_sleep_ns, turn, e);
	fake.st = (struct reload_status){ .state = RELOAD_T3_DRAIN, .active = 4, .wid = 5, .nb_lanes = 1, .live = { 1, 1 },
		.reloads = 1, .respawns = 1, .taken = 1, .left = { .udp = 1, .tcp = 1, .unsent = 1 } };
	assert_int_equal(tools_reload_status(&e->t), CLI_OK);
	says(e, "generation   4, 1 of 1 worker live; window 5: 1 of 1 worker of generation 5 live\n"
		"to drain     1 UDP flow, 1 TCP connection, 0 half-open, 1 byte unsent\n"
		"so far       1 reload, 0 aborted, 1 worker started again\n"
		"split brain  1 lease taken from an owner that lives: two may have polled its queues for a turn; ");
	for (size_t i = 0; i < sizeof(age) / sizeof(age[0]); i++) {
		fake.st.trouble = (struct reload_trouble){ .there = true, .ago_ms = age[i].ms, .why = "no" };
		assert_int_equal(tools_reload_status(&e->t), CLI_OK);
		says(e, age[i].line);
	}
	env_free(e);
}

/* REL-3, REL-12 */
static void
test_ctl_reload_and_stop_as_json(void **state)
{
	struct env *e = env_new();

	(void)state;
	assert_int_equal(open_master(e), 0);
	e->t.json = true;
	assert_int_equal(tools_reload(&e->t, false), CLI_FAILED); /* nobody answers */
	says(e, "{\"outcome\":\"unknown\",\"reason\":");
	mock_hook(e->s, MOCK_OP_sleep_ns, turn, e);
	fake.hup = -EBUSY;
	assert_int_equal(tools_reload(&e->t, true), CLI_FAILED);
	says(e, "{\"outcome\":\"rejected\",\"reason\":\"the reason\"}\n");
	fake.hup = 0;
	assert_int_equal(tools_reload(&e->t, false), CLI_OK);
	says(e, "{\"outcome\":\"begun\"}\n");
	fake.st.last = (struct reload_report){ .gen = 5, .complete = true, .total_ms = 812, .handover_ms = 3, .forwarded = 70 };
	mock_hook(e->s, MOCK_OP_sleep_ns, count_up, e);
	assert_int_equal(tools_reload(&e->t, true), CLI_OK);
	says(e, "{\"outcome\":\"complete\",\"generation\":5,\"complete\":true,\"forced\":false,\"total_ms\":812,\"handover_ms\":3,"
		"\"drain_ms\":0,\"gap_ns\":0,\"forwarded\":70,");
	fake.st.reloads = 0;
	fake.st.last.complete = false;
	assert_int_equal(tools_reload(&e->t, true), CLI_FAILED);
	says(e, "{\"outcome\":\"aborted\",\"generation\":5,\"complete\":false,");
	assert_int_equal(tools_quit(&e->t, false), CLI_OK);
	says(e, "{\"outcome\":\"begun\"}\n");
	env_free(e);
}

static void
test_other_requests_and_a_master_that_does_not_answer(void **state)
{
	struct env *e = env_new();
	char text[256];

	(void)state;
	assert_int_equal(open_master(e), 0);
	assert_int_equal(tools_reload_status(&e->t), CLI_FAILED); /* after two seconds of nothing */
	assert_int_equal(tools_reload(&e->t, true), CLI_FAILED);
	assert_int_equal(tools_quit(&e->t, false), CLI_FAILED);
	mock_hook(e->s, MOCK_OP_sleep_ns, turn, e);
	assert_int_equal(ctl_call(e->rt->tool, e->sm.block, CTL_PING, NULL, 0, text, sizeof(text), NULL, 100), 0);
	assert_int_equal(ctl_call(e->rt->tool, e->sm.block, CTL_ARP_LIST, NULL, 0, text, sizeof(text), NULL, 100), -ENOTSUP);
	assert_int_equal(ctl_call(e->rt->tool, e->sm.block, CTL_STOP, NULL, 0, text, sizeof(text), NULL, 100), 0);
	assert_false(fake.graceful);
	assert_int_equal(e->sm.block->state, CTL_STOPPING);
	fake.stopped = true;
	assert_true(serve_master_done(&e->sm));
	env_free(e);
}

/* REL-1 */
static void
test_the_primary_s_stop_order_ends_it(void **state)
{
	struct env *e = env_new();

	(void)state;
	assert_int_equal(open_master(e), 0);
	fake.nap = 1000;
	assert_int_equal(serve_master_turn(&e->sm), 1000);
	fake.nap = UINT64_MAX;
	assert_int_equal(serve_master_turn(&e->sm), SERVE_MASTER_NAP_NS);
	assert_int_equal(fake.stops, 0);
	e->sm.block->quit = 1;
	serve_master_turn(&e->sm);
	serve_master_turn(&e->sm);
	assert_int_equal(fake.stops, 1);
	assert_false(fake.graceful);
	env_free(e);
}

/* REL-4 */
static void
test_ready_is_said_once_when_every_lane_is_polled(void **state)
{
	struct env *e = env_new();
	struct shim_proc me = shim_self(e->s);
	struct gen_dir *g;
	uint32_t gen;

	(void)state;
	assert_int_equal(open_master(e), 0);
	g = e->sm.gen;
	serve_master_turn(&e->sm);
	assert_string_equal(e->said, "");
	gen = gen_next(e->s, g, 1);
	assert_true(gen_window_swap(e->s, g, (struct window){ WINDOW_CLOSED, 0, 0 }, (struct window){ WINDOW_CLOSED, gen, gen }));
	serve_master_turn(&e->sm);
	for (unsigned int lane = 0; lane < 2; lane++) {
		struct lease l;

		assert_string_equal(e->said, "");
		g->seat[gen_side(gen)][lane].claim = ctl_proc_word(&me);
		assert_int_equal(gen_lease(e->s, g, lane, &l), 0);
		assert_true(gen_lease_swap(e->s, g, lane, l, LEASE_OWNED, gen));
		serve_master_turn(&e->sm);
	}
	assert_string_equal(e->said, "master ready: 2 workers, generation 1\n");
	serve_master_turn(&e->sm);
	assert_string_equal(e->said, "master ready: 2 workers, generation 1\n");
	g->window = UINT64_MAX; /* hostile */
	e->sm.said_ready = 0;
	serve_master_turn(&e->sm);
	g->seat[gen_side(gen)][0].claim = g->seat[gen_side(gen)][1].claim = 0;
	env_free(e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_worker_is_started_as_the_same_program),
		cmocka_unit_test(test_a_changed_configuration_is_refused_by_its_key),
		cmocka_unit_test(test_the_drain_s_limit_is_what_the_file_says_at_hup),
		cmocka_unit_test(test_a_primary_that_is_not_there_is_refused),
		cmocka_unit_test(test_memory_for_a_second_generation_is_counted_first),
		cmocka_unit_test(test_whoever_can_not_be_master_says_why),
		cmocka_unit_test(test_ctl_reload_begins_waits_and_fails_with_the_reason),
		cmocka_unit_test(test_ctl_reload_wait_prints_the_line),
		cmocka_unit_test(test_ctl_status_as_text_and_json),
		cmocka_unit_test(test_ctl_status_says_one_of_one_and_how_old_a_refusal_is),
		cmocka_unit_test(test_ctl_reload_and_stop_as_json),
		cmocka_unit_test(test_other_requests_and_a_master_that_does_not_answer),
		cmocka_unit_test(test_the_primary_s_stop_order_ends_it),
		cmocka_unit_test(test_ready_is_said_once_when_every_lane_is_polled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

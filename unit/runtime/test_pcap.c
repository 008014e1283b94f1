/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording: what the files hold, when the next one begins, what fails at the start and what ends it later. */
#include "fixture.h"

#include <pcap/pcap.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/runtime/pcap.h"
#include "core/runtime/primary_priv.h"

#define WALL 1700000000123456789ull

static char dir[] = "/tmp/nonic_pcap_XXXXXX";

static const char *
path(unsigned int lcore, unsigned int n)
{
	static char buf[64];

	snprintf(buf, sizeof(buf), "%s/cpu%u_%u.pcap", dir, lcore, n);
	return buf;
}

static int
setup(void **state)
{
	(void)state;
	strcpy(strrchr(dir, '_'), "_XXXXXX");
	return mkdtemp(dir) == NULL;
}

static int
cleanup(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * CAPTURE_FILES; i++)
		remove(path(i / CAPTURE_FILES, i % CAPTURE_FILES));
	return rmdir(dir);
}

/* A configuration that records into dir; no worker yet. */
static struct rt *
bed(const char *text, unsigned int snaplen, bool ns)
{
	struct rt *rt;
	char more[2048];

	snprintf(more, sizeof(more), "%s[pcap]\nenable=1\nsnaplen=%u\nsavelen=8388608\nsavepath=%s\n"
		"timestamp_precision=%d\n", text, snaplen, dir, ns);
	rt = rt_bed(more, 0);
	mock_set_wall_ns(rt->s, WALL);
	return rt;
}

static pcap_t *
reader(unsigned int n)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *in = pcap_open_offline_with_tstamp_precision(path(0, n), PCAP_TSTAMP_PRECISION_NANO, err);

	if (in == NULL)
		fail_msg("%s", err);
	assert_int_equal(pcap_datalink(in), DLT_EN10MB);
	return in;
}

static uint32_t
magic(unsigned int n)
{
	FILE *f = fopen(path(0, n), "rb");
	uint32_t m = 0;

	assert_non_null(f);
	assert_int_equal(fread(&m, sizeof(m), 1, f), 1);
	fclose(f);
	return m;
}

static unsigned int
frames_of(unsigned int n)
{
	struct pcap_pkthdr *h;
	const u_char *d;
	pcap_t *in = reader(n);
	unsigned int count = 0;
	int rc;

	while ((rc = pcap_next_ex(in, &h, &d)) == 1)
		count++;
	assert_int_equal(rc, PCAP_ERROR_BREAK); /* the end, not a damaged file */
	pcap_close(in);
	return count;
}

static void
drain(struct rt *rt)
{
	uint8_t f[2048];

	while (mock_collect_bytes(rt->s, 0, 0, f, sizeof(f)) > 0)
		;
}

static void
end_worker(struct rt *rt)
{
	worker_destroy(rt->w[0]);
	rt->w[0] = NULL;
}

/* Asks by ARP and by ping; the answers are sent. */
static void
talk(struct rt *rt)
{
	uint8_t f[128];

	rt_turn(rt, 1);
	assert_int_equal(mock_inject(rt->s, 0, 0, f, rt_arp_request(f, "192.0.2.2", "192.0.2.9")), 0);
	rt_turn(rt, 1);
	assert_int_equal(mock_inject(rt->s, 0, 0, f, rt_ping(f, "192.0.2.2", "192.0.2.9", 5)), 0);
	rt_turn(rt, 1);
}

static void
check_talk(bool ns)
{
	struct pcap_pkthdr *h;
	const u_char *d;
	pcap_t *in = reader(0);
	uint8_t ask[128];
	bool asked = false, answered = false;
	size_t n = rt_ping(ask, "192.0.2.2", "192.0.2.9", 5);

	assert_int_equal(pcap_snapshot(in), 96);
	while (pcap_next_ex(in, &h, &d) == 1) {
		assert_int_equal(h->len, h->caplen);
		assert_int_equal(h->ts.tv_sec, WALL / 1000000000u);
		if (h->len == n && memcmp(d, ask, n) == 0) {
			asked = true;
			/* the worker's third turn, 1 ms each, after the wall clock was set */
			assert_int_equal(h->ts.tv_usec, ns ? 126456789 : 126456000);
		}
		answered |= asked && h->len == n && d[12] == 8 && d[13] == 0 && d[34] == 0 && d[41] == 5;
	}
	pcap_close(in);
	assert_true(asked && answered);
}

/* CFG-1: [pcap]; what was received and what was sent, in both precisions */
static void
received_and_sent_frames_are_recorded(void **state)
{
	(void)state;
	for (int ns = 0; ns < 2; ns++) {
		struct rt *rt = bed(RT_DPDK RT_PORT, 96, ns);
		uint64_t traffic[6];

		assert_int_equal(rt_worker(rt, 0, 0), 0);
		talk(rt);
		worker_traffic(rt->w[0], traffic);
		rt_turn(rt, 2); /* an idle turn: all of it is in the file while the worker lives */
		assert_int_equal(frames_of(0), traffic[0] + traffic[2]);
		end_worker(rt);
		assert_int_equal(magic(0), ns ? 0xa1b23c4d : 0xa1b2c3d4);
		check_talk(ns);
		drain(rt);
		rt_free(rt);
	}
}

static void
without_enable_nothing_is_written(void **state)
{
	struct rt *rt = rt_bed(RT_DPDK RT_PORT, 0);
	struct capture *c = (struct capture *)rt;
	char *savepath = rt->cfg.pcap.savepath;

	(void)state;
	rt->cfg.pcap.savepath = dir; /* and enable=0 */
	assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &c), 0);
	assert_null(c);
	capture_close(c);
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	assert_null(rt->w[0]->capture);
	talk(rt);
	assert_int_equal(access(path(0, 0), F_OK), -1);
	rt->cfg.pcap.savepath = savepath;
	drain(rt);
	rt_free(rt);
}

/* A frame of len bytes counting up, in pieces of at most seg bytes. */
static struct rte_mbuf *
chain(struct rt *rt, uint32_t len, uint32_t seg)
{
	struct rte_mbuf *head = NULL;

	for (uint32_t at = 0; at < len;) {
		struct rte_mbuf *m = shim_buf_alloc(rt->s, rt->p->pool);
		uint32_t k = len - at < seg ? len - at : seg;
		uint8_t *d;

		assert_non_null(m);
		d = shim_buf_append(m, k);
		for (uint32_t i = 0; i < k; i++)
			d[i] = (at + i) * 7 + (at + i) / 256;
		at += k;
		if (head == NULL)
			head = m;
		else
			assert_int_equal(shim_buf_chain(head, m), 0);
	}
	return head;
}

static void
check_bytes(const u_char *d, uint32_t n, uint32_t from)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(d[i], ((from + i) * 7 + (from + i) / 256) & 0xff);
}

/* CFG-1: [pcap] snaplen, over several segments */
static void
snaplen_cuts_frames_of_several_segments(void **state)
{
	static const struct { uint32_t snaplen, len, seg, caplen; } c[] = {
		{ 94, 1000, 10, 94 }, { 94, 94, 47, 94 }, { 94, 60, 7, 60 }, { 4000, 3000, 1000, 3000 },
		{ 2500, 3000, 1000, 2500 }, { 2000, 3000, 1000, 2000 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct rt *rt = bed(RT_DPDK RT_PORT, c[i].snaplen, false);
		struct rte_mbuf *m = chain(rt, c[i].len, c[i].seg);
		struct capture *cap;
		struct pcap_pkthdr *h;
		const u_char *d;
		pcap_t *in;

		assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &cap), 0);
		capture_stage(cap, &m, 1);
		capture_commit(cap, 1);
		capture_commit(cap, 0);
		capture_close(cap);
		shim_buf_free(rt->s, m);
		in = reader(0);
		assert_int_equal(pcap_snapshot(in), c[i].snaplen);
		assert_int_equal(pcap_next_ex(in, &h, &d), 1);
		assert_int_equal(h->len, c[i].len);
		assert_int_equal(h->caplen, c[i].caplen);
		check_bytes(d, h->caplen, 0);
		assert_int_equal(pcap_next_ex(in, &h, &d), PCAP_ERROR_BREAK);
		pcap_close(in);
		rt_free(rt);
	}
}

static void
tags_that_the_port_handles_are_put_back(void **state)
{
	static const uint64_t flags[] = { RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED, RTE_MBUF_F_TX_VLAN };
	struct rt *rt = bed(RT_DPDK RT_PORT, 94, false);
	struct capture *cap;
	struct pcap_pkthdr *h;
	const u_char *d;
	pcap_t *in;

	(void)state;
	assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &cap), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_mbuf *m = chain(rt, 200, 9);

		m->ol_flags |= flags[i];
		m->vlan_tci = 0x6007;
		capture_stage(cap, &m, 1);
		capture_commit(cap, 1);
		shim_buf_free(rt->s, m);
	}
	capture_close(cap);
	in = reader(0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(pcap_next_ex(in, &h, &d), 1);
		assert_int_equal(h->len, 204);
		assert_int_equal(h->caplen, 94);
		check_bytes(d, 12, 0);
		assert_memory_equal(d + 12, "\x81\x00\x60\x07", 4);
		check_bytes(d + 16, 78, 12);
	}
	pcap_close(in);
	rt_free(rt);
}

/* CFG-1: [pcap] savelen */
static void
ten_files_in_turn(void **state)
{
	struct rt *rt = bed(RT_DPDK RT_PORT, 94, false);
	struct rte_mbuf *m = chain(rt, 90, 90);
	struct capture *cap;
	struct stat st;

	(void)state;
	/* ten records of 16 + 90 bytes reach 24 + 1060 exactly; the eleventh begins the next file */
	rt->cfg.pcap.savelen = 1084;
	assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &cap), 0);
	for (unsigned int i = 0; i < 103; i++) {
		capture_stage(cap, &m, 1);
		capture_commit(cap, 1);
	}
	capture_close(cap);
	shim_buf_free(rt->s, m);
	assert_int_equal(frames_of(0), 3); /* the oldest was overwritten */
	for (unsigned int i = 1; i < CAPTURE_FILES; i++) {
		assert_int_equal(frames_of(i), 10);
		assert_int_equal(stat(path(0, i), &st), 0);
		assert_int_equal(st.st_size, 1084);
		assert_int_equal(magic(i), 0xa1b2c3d4);
	}
	assert_int_equal(access(path(0, 10), F_OK), -1);
	rt_free(rt);
}

/* A frame that the port's queue did not take is recorded when it goes, not before, and not twice. */
static void
a_full_queue_records_nothing_twice(void **state)
{
	struct rt *rt = bed(RT_DPDK RT_PORT, 96, false);
	uint64_t traffic[6];
	uint8_t f[128];

	(void)state;
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	talk(rt);
	mock_tx_room(rt->s, 0, 0, 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(mock_inject(rt->s, 0, 0, f, rt_ping(f, "192.0.2.2", "192.0.2.9", i)), 0);
	rt_turn(rt, 1);
	rt_turn(rt, 1);
	mock_tx_room(rt->s, 0, 0, 2);
	rt_turn(rt, 1);
	mock_tx_room(rt->s, 0, 0, UINT32_MAX);
	rt_turn(rt, 1);
	worker_traffic(rt->w[0], traffic);
	assert_int_equal(traffic[0], 7);
	assert_true(traffic[2] >= 7);
	end_worker(rt);
	assert_int_equal(frames_of(0), traffic[0] + traffic[2]);
	drain(rt);
	rt_free(rt);
}

/* CFG-1: [pcap] savepath */
static void
a_file_that_can_not_be_opened_fails_the_worker(void **state)
{
	struct rt *rt = bed(RT_DPDK RT_PORT, 96, false);
	char *right = rt->cfg.pcap.savepath, *longer;
	char gone[64];

	(void)state;
	snprintf(gone, sizeof(gone), "%s/gone", dir);
	rt->cfg.pcap.savepath = gone;
	assert_int_equal(rt_worker(rt, 0, 0), -ENOENT);
	assert_non_null(strstr(mock_last_message(rt->s), "/gone/cpu0_0.pcap can not be written: No such file"));
	assert_non_null(strstr(mock_last_message(rt->s), "savepath"));
	rt->w[0] = NULL;
	longer = test_malloc(3 * PATH_MAX);
	memset(longer, 'x', 3 * PATH_MAX - 1);
	longer[3 * PATH_MAX - 1] = '\0';
	rt->cfg.pcap.savepath = longer;
	assert_int_equal(rt_worker(rt, 0, 0), -ENAMETOOLONG);
	rt->w[0] = NULL;
	test_free(longer);
	/* a directory in the file's place can not be written by root either */
	rt->cfg.pcap.savepath = right;
	assert_int_equal(mkdir(path(0, 0), 0700), 0);
	assert_int_equal(rt_worker(rt, 0, 0), -EISDIR);
	rt->w[0] = NULL;
	assert_int_equal(rmdir(path(0, 0)), 0);
	assert_int_equal(rt_worker(rt, 0, 0), 0); /* its place was given back each time */
	rt_free(rt);
}

static void
memory_runs_out(void **state)
{
	struct rt *rt = bed(RT_DPDK RT_PORT, 96, false);
	struct capture *c = (struct capture *)rt;

	(void)state;
	mock_fail_malloc_at(rt->s, 1);
	assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &c), -ENOMEM);
	assert_null(c);
	assert_non_null(strstr(mock_last_message(rt->s), "32 frames of 96 bytes"));
	mock_fail_malloc_at(rt->s, 2); /* the worker itself is the first */
	assert_int_equal(rt_worker(rt, 0, 0), -ENOMEM);
	rt->w[0] = NULL;
	assert_int_equal(access(path(0, 0), F_OK), -1);
	rt_free(rt);
}

static void
a_full_disk_ends_the_recording_and_not_the_traffic(void **state)
{
	struct rt *rt;
	unsigned int errors;
	uint64_t traffic[6];

	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	assert_int_equal(symlink("/dev/full", path(0, 0)), 0);
	rt = bed(RT_DPDK RT_PORT, 96, false);
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	errors = mock_messages(rt->s, SHIM_LOG_ERR);
	talk(rt);
	rt_turn(rt, 2);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), errors + 1);
	assert_non_null(strstr(mock_last_message(rt->s), "cpu0_0.pcap: No space left on device: recording has ended"));
	drain(rt);
	talk(rt);
	rt_turn(rt, 2);
	worker_traffic(rt->w[0], traffic);
	assert_int_equal(traffic[0], 4);
	assert_true(mock_tx_waiting(rt->s, 0, 0) >= 2);
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), errors + 1);
	drain(rt);
	rt_free(rt);
}

/* The disk is full in the middle of a burst, and when the next file begins. */
static void
later_failures_are_said_once(void **state)
{
	struct rt *rt = bed(RT_DPDK RT_PORT, 94, false);
	struct rte_mbuf *m = chain(rt, 90, 90), *burst[CAPTURE_BURST];
	struct capture *cap;

	(void)state;
	for (unsigned int i = 0; i < CAPTURE_BURST; i++)
		burst[i] = m;
	rt->cfg.pcap.savelen = 1084;
	assert_int_equal(mkdir(path(0, 1), 0700), 0);
	assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &cap), 0);
	for (unsigned int i = 0; i < 3; i++) {
		capture_stage(cap, burst, CAPTURE_BURST);
		capture_commit(cap, CAPTURE_BURST);
	}
	assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1);
	assert_non_null(strstr(mock_last_message(rt->s), "cpu0_1.pcap: Is a directory: recording has ended"));
	capture_close(cap);
	assert_int_equal(frames_of(0), 10);
	assert_int_equal(rmdir(path(0, 1)), 0);
	assert_int_equal(remove(path(0, 0)), 0);
	if (symlink("/dev/full", path(0, 0)) == 0 && access(path(0, 0), W_OK) == 0) {
		for (unsigned int n = 1; n < 3; n++) { /* found when the buffer is full; or when the file is changed */
			rt->cfg.pcap.savelen = n == 1 ? 1u << 30 : 1084;
			assert_int_equal(capture_open(rt->s, &rt->cfg, 0, 0, &cap), 0);
			for (unsigned int i = 0; i < 8; i++) {
				capture_stage(cap, burst, CAPTURE_BURST);
				capture_commit(cap, CAPTURE_BURST);
			}
			assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1 + n);
			capture_close(cap);
			assert_int_equal(mock_messages(rt->s, SHIM_LOG_ERR), 1 + n);
		}
		assert_int_equal(access(path(0, 1), F_OK), -1);
	}
	shim_buf_free(rt->s, m);
	rt_free(rt);
}

/* Each worker has files of its own; a second one of the same place does not touch the first one's. */
static void
files_belong_to_one_worker(void **state)
{
	struct rt *rt = bed("[dpdk]\nlcore_mask=3\nport_list=0\nidle_sleep=10\npkt_tx_delay=0\n" RT_PORT, 96, false);

	(void)state;
	assert_int_equal(rt_worker(rt, 0, 0), 0);
	assert_int_equal(rt_worker(rt, 1, 1), 0);
	talk(rt);
	rt_turn(rt, 2);
	assert_true(frames_of(0) >= 3);
	assert_int_equal(access(path(1, 0), F_OK), 0);
	assert_int_equal(rt_worker(rt, 2, 0), -EBUSY);
	rt->w[2] = NULL;
	assert_true(frames_of(0) >= 3);
	drain(rt);
	rt_free(rt);
}

/* CFG-1 */
static void
both_generations_of_a_lane_record_at_once(void **state)
{
	struct rt *rt = bed(RT_DPDK RT_PORT, 64, false);
	struct capture *cap[2];
	struct rte_mbuf *m[2];
	char name[80];

	(void)state;
	for (unsigned int side = 0; side < 2; side++) {
		m[side] = chain(rt, 60 + side, 64);
		assert_int_equal(capture_open(rt->s, &rt->cfg, 0, side, &cap[side]), 0);
	}
	for (unsigned int side = 0; side < 2; side++) {
		capture_stage(cap[side], &m[side], 1);
		capture_commit(cap[side], 1);
		capture_close(cap[side]);
		shim_buf_free(rt->s, m[side]);
	}
	for (unsigned int side = 0; side < 2; side++) {
		char err[PCAP_ERRBUF_SIZE];
		struct pcap_pkthdr *h;
		const u_char *d;
		pcap_t *in;

		snprintf(name, sizeof(name), "%s/cpu0%s_0.pcap", dir, side == 0 ? "" : "-1");
		in = pcap_open_offline(name, err);
		assert_non_null(in);
		assert_int_equal(pcap_next_ex(in, &h, &d), 1);
		assert_int_equal(h->len, 60 + side);
		pcap_close(in);
		unlink(name);
	}
	rt_free(rt);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, cleanup)
	const struct CMUnitTest tests[] = {
		T(received_and_sent_frames_are_recorded), T(without_enable_nothing_is_written),
		T(snaplen_cuts_frames_of_several_segments), T(tags_that_the_port_handles_are_put_back),
		T(ten_files_in_turn), T(a_full_queue_records_nothing_twice),
		T(a_file_that_can_not_be_opened_fails_the_worker), T(memory_runs_out),
		T(a_full_disk_ends_the_recording_and_not_the_traffic), T(later_failures_are_said_once),
		T(files_belong_to_one_worker), T(both_generations_of_a_lane_record_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap files with virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pcap.h"
#include "sim/world.h"

static char file[] = "/tmp/sim_pcap_XXXXXX.pcap";
static char arrived[64];

static int
setup(void **state)
{
	int fd = mkstemps(file, 5);

	(void)state;
	close(fd);
	snprintf(arrived, sizeof(arrived), "%.*s.arrived.pcap", (int)strlen(file) - 5, file);
	return fd < 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(file);
	unlink(arrived);
	return 0;
}

/* SIM-2 */
static void
frames_come_back_with_nanoseconds(void **state)
{
	const uint8_t a[60] = { 1, 2, 3 }, b[100] = { 9 };
	struct pcap_pkthdr *h;
	struct sim_pcap *p;
	char why[256], err[PCAP_ERRBUF_SIZE];
	const u_char *d;
	uint32_t magic = 0;
	pcap_t *in;
	FILE *f;

	(void)state;
	assert_int_equal(sim_pcap_open(file, &p, why, sizeof(why)), 0);
	sim_pcap_write(p, 123456789, a, sizeof(a));
	sim_pcap_write(p, 5000000001ull, b, sizeof(b));
	assert_int_equal(sim_pcap_close(p), 0);

	f = fopen(file, "rb");
	assert_int_equal(fread(&magic, 1, 4, f), 4);
	fclose(f);
	assert_int_equal(magic, 0xa1b23c4du);

	in = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, err);
	assert_non_null(in);
	assert_int_equal(pcap_datalink(in), DLT_EN10MB);
	assert_int_equal(pcap_next_ex(in, &h, &d), 1);
	assert_int_equal(h->ts.tv_sec, 0);
	assert_int_equal(h->ts.tv_usec, 123456789);
	assert_int_equal(h->caplen, 60);
	assert_memory_equal(d, a, 60);
	assert_int_equal(pcap_next_ex(in, &h, &d), 1);
	assert_int_equal(h->ts.tv_sec, 5);
	assert_int_equal(h->ts.tv_usec, 1);
	assert_int_equal(h->len, 100);
	assert_int_equal(pcap_next_ex(in, &h, &d), PCAP_ERROR_BREAK);
	pcap_close(in);
}

static void
a_file_that_can_not_be_made_or_filled_is_an_error(void **state)
{
	uint8_t big[4096] = { 0 };
	struct sim_pcap *p;
	char why[256] = "";

	(void)state;
	assert_int_equal(sim_pcap_open("/nonexistent/x.pcap", &p, why, sizeof(why)), -5);
	assert_null(p);
	assert_true(strlen(why) > 0);
	assert_int_equal(sim_pcap_close(NULL), 0);
	if (sim_pcap_open("/dev/full", &p, why, sizeof(why)) != 0)
		return; /* libpcap wrote its header at once */
	for (int i = 0; i < 100; i++)
		sim_pcap_write(p, 1, big, sizeof(big));
	assert_int_equal(sim_pcap_close(p), -5);
}

static unsigned int
frames_in(const char *name, uint64_t *first, uint64_t *last)
{
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const u_char *d;
	unsigned int n = 0;
	pcap_t *in = pcap_open_offline_with_tstamp_precision(name, PCAP_TSTAMP_PRECISION_NANO, err);

	assert_non_null(in);
	while (pcap_next_ex(in, &h, &d) == 1) {
		uint64_t t = (uint64_t)h->ts.tv_sec * 1000000000u + (uint64_t)h->ts.tv_usec;

		if (n++ == 0)
			*first = t;
		*last = t;
	}
	pcap_close(in);
	return n;
}

static void
ignore(struct sim_end *e, const uint8_t *frame, uint32_t len)
{
	(void)e;
	(void)frame;
	(void)len;
}

static void
send_at(void *arg)
{
	const uint8_t f[60] = { 0 };

	sim_send(arg, f, sizeof(f));
}

/* SIM-2 */
static void
a_wire_captures_both_directions_as_sent_and_as_arrived(void **state)
{
	struct sim_options o = { .seed = 1, .pcap = file };
	const struct fault_params slow = { .delay_ns = 7000 }, lossy = { .drop_ppm = 1000000 };
	struct sim_end a = { .receive = ignore, .name = "a" }, b = { .receive = ignore, .name = "b" };
	struct sim_world *w = sim_world_create(&o);
	uint64_t first, last;

	(void)state;
	assert_non_null(sim_wire_add(w, &a, &b, &slow, &lossy));
	sim_at(w, 1000, send_at, &a);
	sim_at(w, 2000, send_at, &b);
	sim_at(w, 3000, send_at, &a);
	sim_run(w, 1000000);
	sim_world_destroy(w, NULL);

	assert_int_equal(frames_in(file, &first, &last), 3);
	assert_int_equal(first, 1000);
	assert_int_equal(last, 3000);
	assert_int_equal(frames_in(arrived, &first, &last), 2);
	assert_int_equal(first, 8000);
	assert_int_equal(last, 10000);
}

/* SIM-2 */
static void
one_wire_of_many_can_be_captured_alone(void **state)
{
	struct sim_options o = { .seed = 1 };
	struct sim_end e[4] = { { .receive = ignore, .name = "0" }, { .receive = ignore, .name = "1" },
		{ .receive = ignore, .name = "2" }, { .receive = ignore, .name = "3" } };
	struct sim_world *w = sim_world_create(&o);
	struct sim_wire *one = sim_wire_add(w, &e[0], &e[1], NULL, NULL);
	uint64_t first, last;

	(void)state;
	sim_wire_add(w, &e[2], &e[3], NULL, NULL);
	assert_int_equal(sim_wire_pcap(one, file, false), 0);
	assert_int_equal(sim_wire_pcap(one, file, false), -17);
	send_at(&e[0]);
	send_at(&e[2]);
	sim_run(w, 1000);
	sim_world_destroy(w, NULL);
	assert_int_equal(frames_in(file, &first, &last), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_back_with_nanoseconds),
		cmocka_unit_test(a_file_that_can_not_be_made_or_filled_is_an_error),
		cmocka_unit_test(a_wire_captures_both_directions_as_sent_and_as_arrived),
		cmocka_unit_test(one_wire_of_many_can_be_captured_alone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

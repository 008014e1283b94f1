/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration by its specification: value ranges and their messages, rules between keys, strictness, order. */
#include <errno.h>
#include <inttypes.h>

#include "cfg.h"

#define SLIM "primary_slim=1\n"

static const struct range {
	const char *section, *key;
	uint64_t min, max;
	const char *ctx, *mask;
	bool pow2;
} ranges[] = {
	{ "dpdk", "channel", 0, 64, NULL, NULL, false },
	{ "dpdk", "memory", 0, 16777216, NULL, NULL, false },
	{ "dpdk", "idle_sleep", 0, 1000000, NULL, NULL, false },
	{ "dpdk", "log_level", 0, 8, NULL, NULL, false },
	{ "dpdk", "fstack_log_level", 0, 8, NULL, NULL, false },
	{ "dpdk", "primary_slim_idle_sleep", 0, 1000000, SLIM, "3", false },
	{ "dpdk", "reload_udp_idle_ms", 100, 3600000, NULL, NULL, false },
	{ "dpdk", "reload_heartbeat_timeout_ms", 10, 3600000, NULL, NULL, false },
	{ "dpdk", "drain_ring_size", 64, 1048576, NULL, NULL, true },
	{ "dpdk", "publish_entries", 64, 16777216, NULL, NULL, true },
	{ "dpdk", "worker_shutdown_timeout", 100, 86400000, NULL, NULL, false },
	{ "dpdk", "max_mtu", 1500, 65535, "mtu_enable=1\nmbuf_mode=scatter\n", NULL, false },
	{ "dpdk", "mbuf_low_watermark", 0, 1073741824, NULL, NULL, false },
	{ "port0", "mtu", 68, 65535, "mtu_enable=1\nmbuf_mode=scatter\nmax_mtu=65535\n", NULL, false },
	{ "freebsd.boot", "hz", 1, 1000000, NULL, NULL, false },
	{ "freebsd.boot", "physmem", 1048576, UINT64_MAX, NULL, NULL, false },
	{ "freebsd.boot", "fd_reserve", 0, 1048576, NULL, NULL, false },
	{ "freebsd.boot", "memsz_MB", 1, 16777216, NULL, NULL, false },
	{ "freebsd.boot", "tcp_ecn", 0, 1, NULL, NULL, false },
	{ "kni", "console_packets_ratelimit", 0, UINT32_MAX, NULL, NULL, false },
	{ "kni", "general_packets_ratelimit", 0, UINT32_MAX, NULL, NULL, false },
	{ "kni", "kernel_packets_ratelimit", 0, UINT32_MAX, NULL, NULL, false },
	{ "pcap", "timestamp_precision", 0, 1, NULL, NULL, false },
};
#define N(a) (sizeof(a) / sizeof((a)[0]))

static void
good_u64(const struct range *r, uint64_t v)
{
	char t[32];

	snprintf(t, sizeof(t), "%" PRIu64, v);
	key_good(r->section, r->key, t, r->ctx, r->mask);
}

static void
bad_u64(const struct range *r, uint64_t v)
{
	char t[32];

	snprintf(t, sizeof(t), "%" PRIu64, v);
	key_bad(r->section, r->key, t, r->ctx, r->mask);
}

/* CFG-2, CFG-4 */
static void
numbers_accept_both_ends_of_their_range(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N(ranges); i++) {
		good_u64(&ranges[i], ranges[i].min);
		good_u64(&ranges[i], ranges[i].max);
	}
}

/* CFG-2, CFG-4 */
static void
numbers_beyond_either_end_are_refused_with_a_whole_message(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N(ranges); i++) {
		const struct range *r = &ranges[i];

		if (strcmp(r->key, "max_mtu") == 0)
			bad_u64(r, 67); /* its own end; 1500 is the port's */
		else if (r->min > 0)
			bad_u64(r, r->pow2 ? r->min / 2 : r->min - 1);
		if (r->max < UINT64_MAX)
			bad_u64(r, r->pow2 ? r->max * 2 : r->max + 1);
	}
}

/* CFG-2 */
static void
what_is_no_whole_decimal_number_is_refused(void **state)
{
	static const char *const bad[] = { "abc", "", "12x", "0x10", "-1", "-0", "1.5", "1e3", "99999999999999999999999",
		"18446744073709551616", "1 2", "1,2", "--1", "\"1\"" };

	(void)state;
	for (unsigned int i = 0; i < N(ranges); i++)
		for (unsigned int j = 0; j < N(bad); j++)
			key_bad(ranges[i].section, ranges[i].key, bad[j], ranges[i].ctx, ranges[i].mask);
}

/* CFG-2: a value that wraps a 32-bit word must not come round to a good one. */
static void
a_value_that_wraps_32_bits_is_refused(void **state)
{
	(void)state;
	key_bad("dpdk", "idle_sleep", "4294967296", NULL, NULL);
	key_bad("dpdk", "reload_udp_idle_ms", "4294968296", NULL, NULL);
	key_bad("port0", "mtu", "67036", NULL, NULL); /* 65536 + 1500 */
	key_bad("kni", "general_packets_ratelimit", "4294967297", NULL, NULL);
	key_bad("dpdk", "mtu_enable", "256", NULL, NULL);
	key_bad("dpdk", "mtu_enable", "4294967296", NULL, NULL);
}

/* CFG-4: drain_ring_size is a power of two */
static void
drain_ring_size_is_a_power_of_two(void **state)
{
	(void)state;
	for (unsigned int v = 64; v <= 1048576; v *= 2) {
		char t[16];

		snprintf(t, sizeof(t), "%u", v);
		key_good("dpdk", "drain_ring_size", t, NULL, NULL);
		snprintf(t, sizeof(t), "%u", v - 1);
		key_bad("dpdk", "drain_ring_size", t, NULL, NULL);
		snprintf(t, sizeof(t), "%u", v + 1);
		key_bad("dpdk", "drain_ring_size", t, NULL, NULL);
	}
}

static const struct sw {
	const char *section, *key, *ctx, *mask;
} switches[] = {
	{ "dpdk", "no_huge", NULL, NULL }, { "dpdk", "promiscuous", NULL, NULL }, { "dpdk", "numa_on", NULL, NULL },
	{ "dpdk", "tso", NULL, NULL }, { "dpdk", "lro", NULL, NULL }, { "dpdk", "tx_csum_offoad_skip", NULL, NULL },
	{ "dpdk", "tx_csum_ip_skip", NULL, NULL }, { "dpdk", "tx_csum_l4_skip", NULL, NULL },
	{ "dpdk", "vlan_strip", NULL, NULL }, { "dpdk", "symmetric_rss", NULL, NULL }, { "dpdk", "thread_mode", NULL, NULL },
	{ "dpdk", "graceful_reload", SLIM, "3" }, { "dpdk", "primary_slim", NULL, "3" }, { "dpdk", "mtu_enable", NULL, NULL },
	{ "pcap", "enable", NULL, NULL }, { "kni", "enable", NULL, NULL }, { "rss_check", "recheck", NULL, NULL },
	{ "rss_check", "thash_adjust", NULL, NULL }, { "stack", "ring_ipc", NULL, NULL }, { "stack", "polling_ipc", NULL, NULL },
};

/* CFG-2, CFG-4 */
static void
switches_take_0_and_1_and_nothing_else(void **state)
{
	static const char *const bad[] = { "2", "-1", "", "yes", "true", "on", "1x", "0x1", "10", "a", "99999999999999999999" };

	(void)state;
	for (unsigned int i = 0; i < N(switches); i++) {
		const struct sw *s = &switches[i];

		key_good(s->section, s->key, "0", s->ctx, s->mask);
		key_good(s->section, s->key, "1", s->ctx, s->mask);
		for (unsigned int j = 0; j < N(bad); j++)
			key_bad(s->section, s->key, bad[j], s->ctx, s->mask);
	}
}

/* CFG-4 */
static void
kernel_coexist_also_takes_words(void **state)
{
	static const struct { const char *t; bool v; } w[] = { { "0", false }, { "1", true }, { "off", false }, { "on", true },
		{ "no", false }, { "yes", true }, { "false", false }, { "true", true } };
	struct load l;

	(void)state;
	for (unsigned int i = 0; i < N(w); i++) {
		load_key(&l, "stack", "kernel_coexist", w[i].t, NULL, NULL);
		assert_int_equal(l.ret, 0);
		assert_int_equal(l.cfg.kernel_coexist, w[i].v);
		unload(&l);
	}
	key_bad("stack", "kernel_coexist", "maybe", NULL, NULL);
	key_bad("stack", "kernel_coexist", "2", NULL, NULL);
	key_bad("stack", "kernel_coexist", "onn", NULL, NULL);
}

/* CFG-4 */
static void
words_are_taken_whole_and_no_others(void **state)
{
	(void)state;
	key_good("dpdk", "mbuf_mode", "large", "mtu_enable=1\n", NULL);
	key_good("dpdk", "mbuf_mode", "scatter", "mtu_enable=1\n", NULL);
	key_bad("dpdk", "mbuf_mode", "larg", NULL, NULL);
	key_bad("dpdk", "mbuf_mode", "largex", NULL, NULL);
	key_bad("dpdk", "mbuf_mode", "", NULL, NULL);
	key_bad("dpdk", "mbuf_mode", "0", NULL, NULL);
	key_good("dpdk", "reload_port_mode", "claim", NULL, NULL);
	key_good("dpdk", "reload_port_mode", "parity", NULL, NULL);
	key_bad("dpdk", "reload_port_mode", "both", NULL, NULL);
	key_good("kni", "method", "reject", NULL, NULL);
	key_good("kni", "method", "accept", NULL, NULL);
	key_bad("kni", "method", "drop", NULL, NULL);
	key_bad("kni", "kni_action", "all", NULL, NULL);
}

/* CFG-4: defaults of the keys of 2.0 */
static void
keys_of_2_0_have_their_defaults(void **state)
{
	struct load l;
	const struct nonic_config *c = &l.cfg;

	(void)state;
	load_clean(&l, &(struct parts){ 0 });
	assert_false(c->thread_mode || c->graceful_reload || c->primary_slim || c->mtu_enable || c->lro);
	assert_false(c->tx_csum_ip_skip || c->tx_csum_l4_skip || c->kernel_coexist || c->pcap.precision_ns);
	assert_int_equal(c->reload_udp_idle_ms, 10000);
	assert_int_equal(c->reload_heartbeat_timeout_ms, 1000);
	assert_int_equal(c->max_mtu, 9000);
	assert_int_equal(c->mbuf_mode, MBUF_LARGE);
	assert_int_equal(c->port[0].mtu, 1500);
	assert_int_equal(c->drain_ring_size, 2048);
	assert_int_equal(c->primary_slim_idle_sleep_us, 1000);
	assert_int_equal(c->reload_port_mode, PORT_CLAIM);
	assert_int_equal(c->tcp_ecn, 0);
	assert_int_equal(c->vdev[0].driver, VDEV_VIRTIO_USER);
	assert_int_equal(c->hz, 100);
	assert_int_equal(c->pkt_tx_delay_us, 100);
	assert_int_equal(c->proc_type, PROC_AUTO);
	unload(&l);
}

/* CFG-2: what F-Stack documents as limited is limited aloud */
static void
limited_values_are_limited_with_a_warning(void **state)
{
	struct load l;

	(void)state;
	load_key(&l, "dpdk", "pkt_tx_delay", "101", NULL, NULL);
	assert_int_equal(l.ret, 0);
	assert_int_equal(l.cfg.pkt_tx_delay_us, 100);
	assert_true(any_message(&l, false, "pkt_tx_delay"));
	unload(&l);
	load_key(&l, "pcap", "snaplen", "93", NULL, NULL);
	assert_int_equal(l.ret, 0);
	assert_int_equal(l.cfg.pcap.snaplen, 94);
	assert_int_equal(l.msgs.n, 1);
	unload(&l);
	load_key(&l, "pcap", "savelen", "8388607", NULL, NULL);
	assert_int_equal(l.ret, 0);
	assert_int_equal(l.cfg.pcap.savelen, 8388608);
	unload(&l);
	key_bad("dpdk", "pkt_tx_delay", "10x", NULL, NULL);
	key_bad("dpdk", "pkt_tx_delay", "-1", NULL, NULL);
	key_bad("pcap", "snaplen", "", NULL, NULL);
}

/* CFG-2 */
static void
lcore_mask_is_hexadecimal_and_not_empty(void **state)
{
	static const char *const bad[] = { "0", "0x0", "g", "-1", "", "1 1", "0x", "1ffffffffffffffffffffffffffffffff", "f.", "+f" };
	struct load l;

	(void)state;
	for (unsigned int i = 0; i < N(bad); i++) {
		load_parts(&l, &(struct parts){ .mask = bad[i] }, 0);
		if (l.ret != -EINVAL)
			fail_msg("lcore_mask=%s was taken", bad[i]);
		unload(&l);
	}
	load_clean(&l, &(struct parts){ .mask = "0x8000000000000000000000000000000A" });
	assert_int_equal(l.cfg.nb_lcores, 3);
	assert_int_equal(l.cfg.proc_lcore[0], 1);
	assert_int_equal(l.cfg.proc_lcore[1], 3);
	assert_int_equal(l.cfg.proc_lcore[2], 127);
	unload(&l);
	load_clean(&l, &(struct parts){ .mask = "F" });
	assert_int_equal(l.cfg.nb_lcores, 4);
	unload(&l);
}

/* CFG-2: F-Stack made an empty list of 5-2, 0 of an empty piece, 0..1 of -1 */
static void
port_list_takes_numbers_and_ranges_only(void **state)
{
	static const char *const bad[] = { "5-2", "", ",", "0,", ",0", "0,,1", "-1", "0-", "32", "0-32", "a", "0x1", "1-2-3",
		"0,0", "65536", "4294967296", "0 1" };
	char text[512];
	struct load l;

	(void)state;
	for (unsigned int i = 0; i < N(bad); i++) {
		snprintf(text, sizeof(text), "[dpdk]\nport_list=%s\nlcore_mask=1\n[port0]\naddr6=2001:db8::1\n"
			"[port1]\naddr6=2001:db8::2\n[port2]\naddr6=2001:db8::3\n", bad[i]);
		load_text(&l, text, 0);
		if (l.ret != -EINVAL)
			fail_msg("port_list=%s was taken", bad[i]);
		assert_true(any_message(&l, true, "t.ini:2: [dpdk] port_list"));
		unload(&l);
	}
	snprintf(text, sizeof(text), "[dpdk]\nport_list=0-1,2\nlcore_mask=1\n[port0]\naddr6=2001:db8::1\n"
		"[port1]\naddr6=2001:db8::2\n[port2]\naddr6=2001:db8::3\n");
	load_text(&l, text, 0);
	assert_int_equal(l.ret, 0);
	assert_int_equal(l.cfg.nb_ports, 3);
	unload(&l);
}

/* CFG-2 */
static void
addresses_are_whole_and_agree_with_each_other(void **state)
{
	static const char *const bad[][2] = {
		{ "addr=192.168.1.256\n", "addr" }, { "addr=192.168.1\n", "addr" }, { "addr=192.168.1.2 \tx\n", "addr" },
		{ "addr=2001:db8::1\n", "addr" }, { "netmask=255.255.225.0\n", "netmask" },
		{ "netmask=255.255.255\n", "netmask" }, { "broadcast=192.168.2.255\n", "broadcast" },
		{ "gateway=10.0.0.1\n", "gateway" }, { "addr=224.0.0.1\n", "addr" }, { "addr=127.0.0.1\n", "addr" },
		{ "addr=0.0.0.0\n", "addr" }, { "addr=255.255.255.255\n", "addr" },
	};
	static const char *const base[] = { "addr=192.168.1.2\n", "netmask=255.255.255.0\n", "broadcast=192.168.1.255\n",
		"gateway=192.168.1.1\n" };

	(void)state;
	for (unsigned int i = 0; i < N(bad); i++) {
		char text[512] = "[dpdk]\nlcore_mask=1\nport_list=0\n[port0]\n";
		struct load l;

		for (unsigned int j = 0; j < N(base); j++)
			if (strncmp(base[j], bad[i][1], strlen(bad[i][1])) != 0)
				strcat(text, base[j]);
		strcat(text, bad[i][0]);
		load_text(&l, text, 0);
		if (l.ret != -EINVAL || !any_message(&l, true, bad[i][1])) {
			load_show(&l);
			fail_msg("%s was taken", bad[i][0]);
		}
		unload(&l);
	}
	key_good("port0", "addr6", "2001:db8::1", NULL, NULL);
	key_bad("port0", "addr6", "2001:db8::g", NULL, NULL);
	key_bad("port0", "addr6", "ff02::1", NULL, NULL);
	key_bad("port0", "addr6", "::", NULL, NULL);
	key_bad("port0", "prefix_len", "0", NULL, NULL);
	key_bad("port0", "prefix_len", "129", NULL, NULL);
}

/* CFG-5: MTU rules, both directions */
static void
mtu_above_1500_needs_mtu_enable_and_stays_within_max_mtu(void **state)
{
	(void)state;
	refused(&(struct parts){ .port = "mtu=1501\n" }, "mtu_enable", "1501");
	refused(&(struct parts){ .dpdk = "mtu_enable=0\n", .port = "mtu=9000\n" }, "mtu_enable", "t.ini:6:");
	accepted(&(struct parts){ .port = "mtu=1500\n" });
	accepted(&(struct parts){ .port = "mtu=68\n" });
	accepted(&(struct parts){ .dpdk = "mtu_enable=1\n", .port = "mtu=1501\n" });
	accepted(&(struct parts){ .dpdk = "mtu_enable=1\n", .port = "mtu=9000\n" });
	refused(&(struct parts){ .dpdk = "mtu_enable=1\n", .port = "mtu=9001\n" }, "max_mtu", "9001");
	accepted(&(struct parts){ .dpdk = "mtu_enable=1\nmax_mtu=2000\n", .port = "mtu=2000\n" });
	refused(&(struct parts){ .dpdk = "mtu_enable=1\nmax_mtu=2000\n", .port = "mtu=2001\n" }, "max_mtu", "2000");
}

/* CFG-5, MTU-2 */
static void
max_mtu_of_mode_large_ends_at_65318(void **state)
{
	(void)state;
	accepted(&(struct parts){ .dpdk = "mtu_enable=1\nmax_mtu=65318\n" });
	refused(&(struct parts){ .dpdk = "mtu_enable=1\nmax_mtu=65319\n" }, "max_mtu", "65319");
	refused(&(struct parts){ .dpdk = "mtu_enable=1\nmax_mtu=65535\n" }, "max_mtu", "65535");
	accepted(&(struct parts){ .dpdk = "mtu_enable=1\nmbuf_mode=scatter\nmax_mtu=65535\n", .port = "mtu=65535\n" });
}

/* CFG-5 */
static void
graceful_reload_needs_primary_slim(void **state)
{
	(void)state;
	refused(&(struct parts){ .dpdk = "graceful_reload=1\n", .mask = "3" }, "graceful_reload", "primary_slim");
	refused(&(struct parts){ .dpdk = "graceful_reload=1\nprimary_slim=0\n", .mask = "3" }, "primary_slim", NULL);
	accepted(&(struct parts){ .dpdk = "graceful_reload=1\nprimary_slim=1\n", .mask = "3" });
	accepted(&(struct parts){ .dpdk = "primary_slim=1\ngraceful_reload=1\n", .mask = "3" });
	accepted(&(struct parts){ .dpdk = "graceful_reload=0\nprimary_slim=1\n", .mask = "3" });
}

/* CFG-5 */
static void
a_slim_primary_has_a_lcore_of_its_own(void **state)
{
	struct load l;

	(void)state;
	refused(&(struct parts){ .dpdk = SLIM, .mask = "1" }, "primary_slim", NULL);
	refused(&(struct parts){ .dpdk = SLIM, .mask = "6", .port = "lcore_list=1,2\n" }, "lcore_list", NULL);
	refused(&(struct parts){ .dpdk = SLIM, .mask = "6", .port = "lcore_list=1\n" }, "lcore_list", NULL);
	accepted(&(struct parts){ .dpdk = SLIM, .mask = "6", .port = "lcore_list=2\n" });
	accepted(&(struct parts){ .dpdk = "primary_slim=0\n", .mask = "6", .port = "lcore_list=1,2\n" });
	load_clean(&l, &(struct parts){ .dpdk = SLIM, .mask = "e" });
	assert_int_equal(l.cfg.port[0].nb_lcores, 2); /* default: all but the lowest */
	assert_int_equal(l.cfg.port[0].lcore_list[0], 2);
	assert_int_equal(l.cfg.port[0].lcore_list[1], 3);
	assert_int_equal(config_port_queue(&l.cfg, 0, 0), -1);
	assert_int_equal(config_port_queue(&l.cfg, 0, 1), 0);
	assert_int_equal(config_port_queue(&l.cfg, 0, 2), 1);
	unload(&l);
	refused(&(struct parts){ .mask = "6", .port = "lcore_list=0,1\n" }, "lcore_list", NULL);
	refused(&(struct parts){ .mask = "6", .port = "lcore_list=3\n" }, "lcore_list", NULL);
}

/* CFG-5: KNI with a slim primary names its owner; KNI with MTU support is in order */
static void
kni_with_a_slim_primary_needs_an_owner(void **state)
{
	(void)state;
	refused(&(struct parts){ .dpdk = SLIM, .mask = "3", .more = "[kni]\nenable=1\n" }, "owner_proc_id", NULL);
	accepted(&(struct parts){ .dpdk = SLIM, .mask = "3", .more = "[kni]\nenable=1\nowner_proc_id=1\n" });
	accepted(&(struct parts){ .dpdk = SLIM, .mask = "3", .more = "[kni]\nenable=0\n" });
	accepted(&(struct parts){ .more = "[kni]\nenable=1\n" });
	refused(&(struct parts){ .mask = "3", .more = "[kni]\nenable=1\nowner_proc_id=2\n" }, "owner_proc_id", NULL);
	accepted(&(struct parts){ .dpdk = "mtu_enable=1\n", .port = "mtu=9000\n", .more = "[kni]\nenable=1\n" });
}

/* CFG-5 */
static void
ring_and_polling_exclude_each_other(void **state)
{
	(void)state;
	accepted(&(struct parts){ .more = "[stack]\nring_ipc=1\n" });
	accepted(&(struct parts){ .more = "[stack]\npolling_ipc=1\nring_ipc=0\n" });
	refused(&(struct parts){ .more = "[stack]\nring_ipc=1\npolling_ipc=1\n" }, "ring_ipc", "polling_ipc");
}

/* CFG-3 */
static void
unknown_keys_are_warnings_with_the_nearest_name_or_errors(void **state)
{
	struct load l;

	(void)state;
	load_parts(&l, &(struct parts){ .dpdk = "idle_slep=20\n" }, 0);
	assert_int_equal(l.ret, 0);
	assert_int_equal(l.msgs.n, 1);
	assert_false(l.msgs.m[0].error);
	assert_int_equal(l.msgs.m[0].line, 2);
	assert_non_null(strstr(l.msgs.m[0].text, "idle_sleep"));
	assert_int_equal(l.cfg.idle_sleep_us, 0);
	unload(&l);
	load_parts(&l, &(struct parts){ .dpdk = "idle_slep=20\n" }, CONFIG_STRICT);
	assert_int_equal(l.ret, -EINVAL);
	assert_int_equal(l.msgs.errors, 1);
	assert_non_null(strstr(first_error(&l), "idle_sleep"));
	unload(&l);
}

/* CFG-3 */
static void
unknown_sections_are_warnings_with_the_nearest_name_or_errors(void **state)
{
	struct load l;

	(void)state;
	load_parts(&l, &(struct parts){ .more = "[freebsd.sysctrl]\na=1\n" }, 0);
	assert_int_equal(l.ret, 0);
	assert_true(any_message(&l, false, "freebsd.sysctl"));
	unload(&l);
	load_parts(&l, &(struct parts){ .more = "[freebsd.sysctrl]\na=1\n" }, CONFIG_STRICT);
	assert_int_equal(l.ret, -EINVAL);
	unload(&l);
	load_parts(&l, &(struct parts){ .more = "[portx]\na=1\n" }, CONFIG_STRICT);
	assert_int_equal(l.ret, -EINVAL);
	unload(&l);
	load_parts(&l, &(struct parts){ .more = "[port-1]\naddr6=2001:db8::1\n" }, CONFIG_STRICT);
	assert_int_equal(l.ret, -EINVAL);
	unload(&l);
	load_parts(&l, &(struct parts){ .more = "[port4294967296]\naddr6=2001:db8::1\n" }, CONFIG_STRICT);
	assert_int_equal(l.ret, -EINVAL);
	unload(&l);
}

/* CFG-1, CFG-2: a key before any section, and a line that is none */
static void
lines_that_are_no_ini_are_errors_with_their_number(void **state)
{
	struct load l;

	(void)state;
	load_parts(&l, &(struct parts){ .dpdk = "this is no assignment\n" }, 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_true(any_message(&l, true, "t.ini:2:"));
	unload(&l);
	load_parts(&l, &(struct parts){ .top = "[dpdk\nidle_sleep=1\n" }, 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_true(any_message(&l, true, "t.ini:1:"));
	unload(&l);
	load_parts(&l, &(struct parts){ .top = "idle_sleep=1\n" }, 0);
	assert_int_not_equal(l.msgs.n, 0);
	assert_int_equal(l.msgs.m[0].line, 1);
	unload(&l);
}

/* CFG-1: comments and blanks as F-Stack's parser takes them */
static void
comments_and_blanks_are_read_as_in_f_stack(void **state)
{
	struct load l;

	(void)state;
	load_clean(&l, &(struct parts){ .top = "; whole line\n# another\n\n   \n",
		.dpdk = "idle_sleep = 20 ; behind a blank\nextra_eal_args=--foo=a;b\n" });
	assert_int_equal(l.cfg.idle_sleep_us, 20);
	assert_string_equal(l.cfg.extra_eal_args, "--foo=a;b");
	unload(&l);
	load_text(&l, "\xef\xbb\xbf[dpdk]\r\nlcore_mask=1\r\nport_list=0\r\n[port0]\r\naddr6=2001:db8::1\r\n", 0);
	assert_int_equal(l.ret, 0);
	unload(&l);
	load_text(&l, "[dpdk]\nlcore_mask=1\nport_list=0\n[port0]\naddr6=2001:db8::1", 0); /* no newline at the end */
	assert_int_equal(l.ret, 0);
	unload(&l);
	key_bad("dpdk", "idle_sleep", "20 # no comment", NULL, NULL);
}

/* CFG-2: every bad value is told, not only the first */
static void
all_bad_values_are_told_in_the_order_of_the_file(void **state)
{
	struct load l;

	(void)state;
	load_parts(&l, &(struct parts){ .dpdk = "idle_sleep=x\nchannel=999\n", .port = "mtu=1\n" }, 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_int_equal(l.msgs.errors, 3);
	assert_int_equal(l.msgs.m[0].line, 2);
	assert_int_equal(l.msgs.m[1].line, 3);
	assert_int_equal(l.msgs.m[2].line, 7);
	unload(&l);
}

static const char *const sections[] = {
	"[dpdk]\nlcore_mask=e\nport_list=0\nprimary_slim=1\ngraceful_reload=1\nmtu_enable=1\nvlan_filter=7\nnb_vdev=1\n",
	"[port0]\naddr=10.1.0.2\nnetmask=255.255.0.0\nbroadcast=10.1.255.255\ngateway=10.1.0.1\nmtu=9000\nlcore_list=2,3\n",
	"[vlan7]\nportid=0\naddr=10.7.0.2\nnetmask=255.255.255.0\nbroadcast=10.7.0.255\ngateway=10.7.0.1\n",
	"[vdev0]\ndriver=net_tap\nargs=iface=dtap0\n",
	"[kni]\nenable=1\nmethod=accept\ntcp_port=22\nowner_proc_id=1\n",
	"[freebsd.sysctl]\nkern.ipc.somaxconn=1024\n",
};

/* CFG-5, CFG-6: sections in any order are the same configuration */
static void
sections_stand_in_any_order(void **state)
{
	struct load first, l;
	char name[64];
	unsigned int n = N(sections);

	(void)state;
	for (unsigned int turn = 0; turn < 2 * n; turn++) {
		char text[2048] = "";
		uint8_t a[CONFIG_DIGEST_LEN], b[CONFIG_DIGEST_LEN];

		for (unsigned int i = 0; i < n; i++) {
			unsigned int k = (turn + i) % n;

			strcat(text, sections[turn < n ? k : n - 1 - k]);
		}
		load_text(turn == 0 ? &first : &l, text, CONFIG_STRICT);
		if (turn == 0) {
			load_show(&first);
			assert_int_equal(first.ret, 0);
			continue;
		}
		if (l.ret != 0) {
			load_show(&l);
			fail_msg("order %u was refused", turn);
		}
		assert_false(config_diff(&first.cfg, &l.cfg, name, sizeof(name)));
		config_device_digest(&first.cfg, a);
		config_device_digest(&l.cfg, b);
		assert_memory_equal(a, b, sizeof(a));
		unload(&l);
	}
	unload(&first);
}

/* CFG-2: a rule between keys is found in either order too */
static void
cross_rules_do_not_depend_on_order(void **state)
{
	struct load l;

	(void)state;
	load_text(&l, "[port0]\nmtu=9000\naddr6=2001:db8::1\n[dpdk]\nlcore_mask=1\nport_list=0\n", 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_true(any_message(&l, true, "t.ini:2: [port0] mtu"));
	unload(&l);
	load_text(&l, "[port0]\nlcore_list=5\naddr6=2001:db8::1\n[dpdk]\nlcore_mask=1\nport_list=0\n", 0);
	assert_int_equal(l.ret, -EINVAL);
	unload(&l);
}

/* CFG-2: what must be given */
static void
missing_masks_ports_and_sections_are_errors(void **state)
{
	struct load l;

	(void)state;
	load_text(&l, "[dpdk]\nport_list=0\n[port0]\naddr6=2001:db8::1\n", 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_true(any_message(&l, true, "lcore_mask"));
	unload(&l);
	load_text(&l, "[dpdk]\nlcore_mask=1\n[port0]\naddr6=2001:db8::1\n", 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_true(any_message(&l, true, "port_list"));
	unload(&l);
	load_text(&l, "[dpdk]\nlcore_mask=1\nport_list=0,1\n[port0]\naddr6=2001:db8::1\n", 0);
	assert_int_equal(l.ret, -EINVAL);
	assert_true(any_message(&l, true, "port1"));
	unload(&l);
	load_text(&l, "", 0);
	assert_int_equal(l.ret, -EINVAL);
	unload(&l);
	load_parts(&l, &(struct parts){ .more = "[vlan5]\nportid=0\naddr6=2001:db8::5\n" }, 0); /* not in vlan_filter */
	assert_int_not_equal(l.msgs.n, 0);
	unload(&l);
}

/* CFG-3: twice the same key */
static void
the_later_of_two_equal_keys_wins_with_a_warning(void **state)
{
	struct load l;

	(void)state;
	load_parts(&l, &(struct parts){ .dpdk = "idle_sleep=5\nidle_sleep=7\n" }, 0);
	assert_int_equal(l.ret, 0);
	assert_int_equal(l.cfg.idle_sleep_us, 7);
	assert_int_equal(l.msgs.n, 1);
	assert_false(l.msgs.m[0].error);
	unload(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_accept_both_ends_of_their_range),
		cmocka_unit_test(numbers_beyond_either_end_are_refused_with_a_whole_message),
		cmocka_unit_test(what_is_no_whole_decimal_number_is_refused),
		cmocka_unit_test(a_value_that_wraps_32_bits_is_refused),
		cmocka_unit_test(drain_ring_size_is_a_power_of_two),
		cmocka_unit_test(switches_take_0_and_1_and_nothing_else),
		cmocka_unit_test(kernel_coexist_also_takes_words),
		cmocka_unit_test(words_are_taken_whole_and_no_others),
		cmocka_unit_test(keys_of_2_0_have_their_defaults),
		cmocka_unit_test(limited_values_are_limited_with_a_warning),
		cmocka_unit_test(lcore_mask_is_hexadecimal_and_not_empty),
		cmocka_unit_test(port_list_takes_numbers_and_ranges_only),
		cmocka_unit_test(addresses_are_whole_and_agree_with_each_other),
		cmocka_unit_test(mtu_above_1500_needs_mtu_enable_and_stays_within_max_mtu),
		cmocka_unit_test(max_mtu_of_mode_large_ends_at_65318),
		cmocka_unit_test(graceful_reload_needs_primary_slim),
		cmocka_unit_test(a_slim_primary_has_a_lcore_of_its_own),
		cmocka_unit_test(kni_with_a_slim_primary_needs_an_owner),
		cmocka_unit_test(ring_and_polling_exclude_each_other),
		cmocka_unit_test(unknown_keys_are_warnings_with_the_nearest_name_or_errors),
		cmocka_unit_test(unknown_sections_are_warnings_with_the_nearest_name_or_errors),
		cmocka_unit_test(lines_that_are_no_ini_are_errors_with_their_number),
		cmocka_unit_test(comments_and_blanks_are_read_as_in_f_stack),
		cmocka_unit_test(all_bad_values_are_told_in_the_order_of_the_file),
		cmocka_unit_test(sections_stand_in_any_order),
		cmocka_unit_test(cross_rules_do_not_depend_on_order),
		cmocka_unit_test(missing_masks_ports_and_sections_are_errors),
		cmocka_unit_test(the_later_of_two_equal_keys_wins_with_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

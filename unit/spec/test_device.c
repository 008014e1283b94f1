/* SPDX-License-Identifier: BSD-3-Clause */
/* The device digest, the command line, virtual ports' EAL arguments, and the arithmetic of MTUs, by their specification. */
#include <errno.h>

#include "cfg.h"
#include "core/mtu/mtu.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
/* A base in which every change below is allowed. */
#define BASE "mtu_enable=1\nprimary_slim=1\n"

static void
digest(const struct parts *p, uint8_t d[CONFIG_DIGEST_LEN])
{
	struct load l;

	load_clean(&l, p);
	config_device_digest(&l.cfg, d);
	unload(&l);
}

static const struct change { struct parts p; const char *name; } device[] = {
	{ { .dpdk = BASE "max_mtu=8000\n", .mask = "e" }, "max_mtu" },
	{ { .dpdk = "primary_slim=1\n", .mask = "e" }, "mtu_enable" },
	{ { .dpdk = BASE "mbuf_mode=scatter\n", .mask = "e" }, "mbuf_mode" },
	{ { .dpdk = BASE, .mask = "1e" }, "lcore_mask" },
	{ { .dpdk = BASE, .mask = "e", .port = "lcore_list=3,2\n" }, "lcore_list" },
	{ { .dpdk = BASE "drain_ring_size=4096\n", .mask = "e" }, "drain_ring_size" },
	{ { .dpdk = BASE "graceful_reload=1\n", .mask = "e" }, "graceful_reload" },
	{ { .dpdk = BASE "tso=1\n", .mask = "e" }, "tso" },
	{ { .dpdk = BASE "lro=1\n", .mask = "e" }, "lro" },
	{ { .dpdk = BASE "promiscuous=0\n", .mask = "e" }, "promiscuous" },
	{ { .dpdk = BASE "symmetric_rss=1\n", .mask = "e" }, "symmetric_rss" },
	{ { .dpdk = BASE "extra_eal_args=--foo\n", .mask = "e" }, "extra_eal_args" },
	{ { .dpdk = BASE "file_prefix=x\n", .mask = "e" }, "file_prefix" },
	{ { .dpdk = BASE, .mask = "e", .more = "[vdev0]\ndriver=net_null\n" }, "vdev" },
	{ { .dpdk = BASE "tx_csum_ip_skip=1\n", .mask = "e" }, "tx_csum_ip_skip" },
	{ { .dpdk = BASE "vlan_filter=5\n", .mask = "e" }, "vlan_filter" },
};

/* CFG-6 */
static void
a_change_of_a_device_key_changes_the_digest_and_is_named(void **state)
{
	const struct parts base = { .dpdk = BASE, .mask = "e" };
	uint8_t a[CONFIG_DIGEST_LEN], b[CONFIG_DIGEST_LEN];
	struct load la, lb;
	char name[80];

	(void)state;
	digest(&base, a);
	for (unsigned int i = 0; i < N(device); i++) {
		digest(&device[i].p, b);
		if (memcmp(a, b, sizeof(a)) == 0)
			fail_msg("%s does not change the digest", device[i].name);
		load_clean(&la, &base);
		load_clean(&lb, &device[i].p);
		assert_true(config_device_diff(&la.cfg, &lb.cfg, name, sizeof(name)));
		if (strstr(name, device[i].name) == NULL && strcmp(device[i].name, "lcore_mask") != 0)
			fail_msg("'%s' was named for %s", name, device[i].name);
		assert_int_equal(name[0], '[');
		unload(&la);
		unload(&lb);
	}
}

static const struct parts process[] = {
	{ .dpdk = BASE "reload_udp_idle_ms=500\n", .mask = "e" },
	{ .dpdk = BASE "reload_heartbeat_timeout_ms=500\n", .mask = "e" },
	{ .dpdk = BASE "reload_port_mode=parity\n", .mask = "e" },
	{ .dpdk = BASE "primary_slim_idle_sleep=5\n", .mask = "e" },
	{ .dpdk = BASE "mbuf_low_watermark=77\n", .mask = "e" },
	{ .dpdk = BASE "idle_sleep=20\n", .mask = "e" },
	{ .dpdk = BASE "pkt_tx_delay=0\n", .mask = "e" },
	{ .dpdk = BASE "fstack_log_level=8\n", .mask = "e" },
	{ .dpdk = BASE, .mask = "e", .port = "mtu=9000\n" },
	{ .dpdk = BASE, .mask = "e", .port = "addr6=2001:db8::1\n" },
	{ .dpdk = BASE, .mask = "e", .port = "if_name=eth7\n" },
	{ .dpdk = BASE, .mask = "e", .more = "[pcap]\nenable=1\n" },
	{ .dpdk = BASE, .mask = "e", .more = "[freebsd.boot]\nhz=1000\ntcp_ecn=1\n" },
	{ .dpdk = BASE, .mask = "e", .more = "[freebsd.sysctl]\nkern.ipc.somaxconn=9\n" },
	{ .dpdk = BASE, .mask = "e", .more = "[stack]\nkernel_coexist=1\n" },
	{ .dpdk = BASE, .mask = "e", .more = "[rss_check]\nrecheck=1\n" },
	/* written otherwise */
	{ .dpdk = "; comment\nprimary_slim = 1\nmtu_enable = 1 ; yes\nmax_mtu=9000\nmbuf_mode=large\n", .mask = "0x0E" },
	{ .dpdk = BASE, .mask = "e", .port = "lcore_list=2-3\nmtu=1500\n" },
};

/* CFG-6 */
static void
process_keys_and_spelling_do_not_change_the_digest(void **state)
{
	uint8_t a[CONFIG_DIGEST_LEN], b[CONFIG_DIGEST_LEN];
	struct load la, lb;
	char name[80];

	(void)state;
	digest(&(struct parts){ .dpdk = BASE, .mask = "e" }, a);
	for (unsigned int i = 0; i < N(process); i++) {
		digest(&process[i], b);
		if (memcmp(a, b, sizeof(a)) != 0)
			fail_msg("process key %u changes the digest", i);
		load_clean(&la, &(struct parts){ .dpdk = BASE, .mask = "e" });
		load_clean(&lb, &process[i]);
		assert_false(config_device_diff(&la.cfg, &lb.cfg, name, sizeof(name)));
		assert_int_equal(config_diff(&la.cfg, &lb.cfg, name, sizeof(name)), i < 16);
		unload(&la);
		unload(&lb);
	}
}

static void
append(void *ctx, const char *text)
{
	strcat(ctx, text);
	strcat(ctx, "\n");
}

/* CFG-7 */
static void
what_is_printed_loads_to_the_same(void **state)
{
	char text[16384] = "", again[16384] = "", name[80];
	struct config_out out = { append, text }, out2 = { append, again };
	struct load a, b;

	(void)state;
	load_clean(&a, &(struct parts){ .dpdk = BASE "graceful_reload=1\nextra_eal_args=\"a b\" c\nvlan_filter=5-7\n"
		"allow=0000:02:00.0\nbase_virtaddr=0x7f0000000000\n", .mask = "e",
		.port = "mtu=9000\nvip_addr=192.168.1.5;192.168.1.6\naddr6=2001:db8::1\ngateway6=fe80::1\n",
		.more = "[vlan6]\nportid=0\naddr6=2001:db8:6::1\n[kni]\nenable=1\nowner_proc_id=2\nudp_port=53,100-200\n"
		"[pcap]\nsavepath=/tmp/x y\n[freebsd.sysctl]\na.b=c d\nz=1\n[vdev0]\ndriver=net_ring\n" });
	config_print(&a.cfg, &out);
	load_text(&b, text, CONFIG_STRICT);
	load_show(&b);
	assert_int_equal(b.ret, 0);
	assert_false(config_diff(&a.cfg, &b.cfg, name, sizeof(name)));
	config_print(&b.cfg, &out2);
	assert_string_equal(text, again);
	unload(&a);
	unload(&b);
}

static int
args(int argc, const char *const *argv, struct config_args *a)
{
	struct config_messages m = { 0 };
	char *v[12];
	int r;

	for (int i = 0; i < argc; i++)
		v[i] = (char *)(uintptr_t)argv[i];
	v[argc] = NULL;
	r = config_args_parse(argc, v, a, &m);
	assert_int_equal(r == -EINVAL, m.errors != 0);
	config_messages_free(&m);
	return r;
}
#define ARGS(a, ...) args((int)N(((const char *[]){ "p", __VA_ARGS__ })), (const char *[]){ "p", __VA_ARGS__ }, a)

/* CFG-1 */
static void
the_command_line_is_f_stacks(void **state)
{
	struct config_args a;

	(void)state;
	assert_int_equal(args(1, (const char *[]){ "p" }, &a), 0);
	assert_string_equal(a.conf, "config.ini");
	assert_int_equal(a.proc_id, -1);
	assert_int_equal(a.proc_type, PROC_AUTO);
	assert_int_equal(a.rest, 1);
	assert_int_equal(ARGS(&a, "--conf", "f", "--proc-type=primary", "--proc-id", "3", "rest", "-c", "x"), 0);
	assert_string_equal(a.conf, "f");
	assert_int_equal(a.proc_id, 3);
	assert_int_equal(a.proc_type, PROC_PRIMARY);
	assert_int_equal(a.rest, 6);
	assert_int_equal(ARGS(&a, "-c", "f", "-p0", "-t", "secondary", "--", "--conf"), 0);
	assert_int_equal(a.proc_id, 0);
	assert_int_equal(a.proc_type, PROC_SECONDARY);
	assert_int_equal(a.rest, 7);
}

/* CFG-1, CFG-2 */
static void
bad_command_lines_are_refused(void **state)
{
	static const char *const ids[] = { "x", "", "-1", "1x", "99999999999", "0x1", "1.0" };
	struct config_args a;

	(void)state;
	for (unsigned int i = 0; i < N(ids); i++)
		if (ARGS(&a, "--proc-id", ids[i]) != -EINVAL)
			fail_msg("--proc-id '%s' was taken", ids[i]);
	assert_int_equal(ARGS(&a, "--proc-type", "prim"), -EINVAL);
	assert_int_equal(ARGS(&a, "--proc-type="), -EINVAL);
	assert_int_equal(ARGS(&a, "--conf"), -EINVAL);
	assert_int_equal(ARGS(&a, "-p"), -EINVAL);
}

/* CFG-1 */
static void
the_process_id_names_a_lcore_of_the_mask(void **state)
{
	struct config_args a;
	struct load l;

	(void)state;
	load_clean(&l, &(struct parts){ .mask = "6" });
	assert_int_equal(ARGS(&a, "-p", "1"), 0);
	assert_int_equal(config_apply_args(&l.cfg, &a, &l.msgs), 0);
	assert_int_equal(l.cfg.proc_id, 1);
	assert_int_equal(ARGS(&a, "-p", "2"), 0);
	assert_int_equal(config_apply_args(&l.cfg, &a, &l.msgs), -EINVAL);
	unload(&l);
}

static int
eal(const struct parts *p, unsigned int id, bool primary, char *out)
{
	struct load l;
	char **v;
	int n, r;

	load_clean(&l, p);
	r = config_eal_args(&l.cfg, "prog", id, primary ? CONFIG_EAL_PRIMARY : CONFIG_EAL_WORKER, &v, &n);
	out[0] = '\0';
	if (r == 0) {
		assert_null(v[n]);
		assert_string_equal(v[0], "prog");
		for (int i = 0; i < n; i++) {
			strcat(out, v[i]);
			strcat(out, "|");
		}
		config_eal_args_free(v);
	}
	unload(&l);
	return r;
}

/* CFG-8 */
static void
virtual_ports_and_extra_arguments_reach_eal(void **state)
{
	static const char *const drv[] = { "virtio_user", "net_tap", "net_ring", "net_null", "net_pcap", "net_af_packet",
		"net_vhost" };
	char more[200], out[4096], want[64];

	(void)state;
	for (unsigned int i = 0; i < N(drv); i++) {
		snprintf(more, sizeof(more), "[vdev0]\ndriver=%s\nargs=k=v,q=/x y\n%s", drv[i],
			i == 0 ? "path=/dev/vhost-net\n" : "");
		assert_int_equal(eal(&(struct parts){ .dpdk = "file_prefix=bed1\n", .more = more }, 0, true, out), 0);
		snprintf(want, sizeof(want), "%s0,", drv[i]);
		if (strstr(out, want) == NULL || strstr(out, "k=v,q=/x y") == NULL)
			fail_msg("%s: %s", drv[i], out);
		assert_non_null(strstr(out, "bed1"));
		assert_non_null(strstr(out, "--no-pci"));
		assert_int_equal(eal(&(struct parts){ .mask = "3", .more = more }, 1, false, out), 0);
		assert_null(strstr(out, "k=v")); /* a secondary finds them */
	}
	assert_int_equal(eal(&(struct parts){ .more = "[vdev0]\npath=/dev/vhost-net\n" }, 0, true, out), 0);
	assert_non_null(strstr(out, "virtio_user0"));
	key_bad("vdev0", "driver", "net_xyz", NULL, NULL);
	assert_int_equal(eal(&(struct parts){ .dpdk = "extra_eal_args=-a \"b c\" 'd  e' --f=g\n" }, 0, true, out), 0);
	assert_string_equal(out + strlen(out) - strlen("|-a|b c|d  e|--f=g|"), "|-a|b c|d  e|--f=g|");
	assert_int_equal(eal(&(struct parts){ .mask = "3" }, 2, true, out), -EINVAL);
}

/* ---- MTU ----------------------------------------------------------------------------------------- */

/* MTU-2 */
static void
data_room_is_headroom_mtu_and_overhead_rounded_up_to_64(void **state)
{
	static const struct { uint16_t mtu, room; } t[] = { { 68, 256 }, { 102, 256 }, { 103, 320 }, { 1500, 1664 },
		{ 9000, 9216 }, { 9062, 9216 }, { 9063, 9280 }, { 9216, 9408 }, { 65318, 65472 } };
	uint16_t room;

	(void)state;
	for (unsigned int i = 0; i < N(t); i++) {
		assert_int_equal(mtu_data_room(MTU_MODE_LARGE, t[i].mtu, &room), 0);
		assert_int_equal(room, t[i].room);
	}
	assert_int_equal(mtu_data_room(MTU_MODE_LARGE, 65319, &room), -ERANGE);
	assert_int_equal(mtu_data_room(MTU_MODE_LARGE, 65535, &room), -ERANGE);
}

/* MTU-3 */
static void
without_mtu_support_and_with_scatter_buffers_are_2176_bytes(void **state)
{
	static const uint16_t t[] = { 68, 1500, 9000, 65318, 65535 };
	uint16_t room;

	(void)state;
	for (unsigned int i = 0; i < N(t); i++) {
		room = 0;
		assert_int_equal(mtu_data_room(MTU_MODE_OFF, t[i], &room), 0);
		assert_int_equal(room, 2176);
		room = 0;
		assert_int_equal(mtu_data_room(MTU_MODE_SCATTER, t[i], &room), 0);
		assert_int_equal(room, 2176);
	}
	assert_int_equal(mtu_frame_len(1500), 1526);
	assert_int_equal(mtu_frame_len(65535), 65561);
}

/* MTU-3 */
static void
requests_end_at_1500_without_mtu_support_and_at_max_mtu_with_it(void **state)
{
	char why[200];

	(void)state;
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 68, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 1500, NULL, 0), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 1501, why, sizeof(why)), -EINVAL);
	assert_true(why[0] != '\0');
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 67, NULL, 0), -EINVAL);
	assert_int_equal(mtu_check_request(MTU_MODE_OFF, 9000, 0, NULL, 0), -EINVAL);
	assert_int_equal(mtu_check_request(MTU_MODE_LARGE, 9000, 9000, NULL, 0), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_LARGE, 9000, 9001, why, sizeof(why)), -EINVAL);
	assert_int_equal(mtu_check_request(MTU_MODE_SCATTER, 65535, 65535, NULL, 0), 0);
	assert_int_equal(mtu_check_request(MTU_MODE_SCATTER, 65535, 65536, NULL, 0), -EINVAL);
	assert_int_equal(mtu_check_request(MTU_MODE_LARGE, 9000, 65536 + 1500, NULL, 0), -EINVAL);
	assert_int_equal(mtu_check_request(MTU_MODE_LARGE, 9000, UINT32_MAX, NULL, 0), -EINVAL);
}

static struct shim_port_info
port_info(void)
{
	struct shim_port_info i = { .driver = "test", .min_mtu = 68, .max_mtu = 9216, .min_rx_bufsize = 1024,
		.max_rx_bufsize = UINT32_MAX, .max_rx_pktlen = 9234, .max_rx_queues = 1, .max_tx_queues = 1 };

	return i;
}

/* MTU-1, MTU-2 */
static void
a_port_must_carry_the_frame_and_the_buffer_hold_it(void **state)
{
	struct shim_port_info i = port_info();
	char why[200];

	(void)state;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9216, 9408, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9217, 9408, why, sizeof(why)), -ERANGE);
	assert_non_null(strstr(why, "9217"));
	assert_non_null(strstr(why, "9216"));
	i.min_mtu = 256;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 255, 9216, why, sizeof(why)), -ERANGE);
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 256, 9216, NULL, 0), 0);
	i = port_info();
	i.max_rx_pktlen = 9017;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), -EMSGSIZE);
	i.max_rx_pktlen = 9018;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), 0);
	i = port_info();
	/* 128 + 9000 + 26 = 9154 */
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9153, why, sizeof(why)), -EMSGSIZE);
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9154, why, sizeof(why)), 0);
	i.max_rx_bufsize = 9025;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), -EMSGSIZE);
	i.max_rx_bufsize = 9026;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_LARGE, 9000, 9216, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_port(&i, MTU_MODE_OFF, 1500, 2176, why, sizeof(why)), 0);
}

/* MTU-2 */
static void
scatter_needs_both_offloads(void **state)
{
	struct shim_port_info i = port_info();

	(void)state;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_SCATTER, 9000, 2176, NULL, 0), -ENOTSUP);
	i.rx_offloads = SHIM_RX_SCATTER;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_SCATTER, 9000, 2176, NULL, 0), -ENOTSUP);
	i.tx_offloads = SHIM_TX_MULTI_SEGS;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_SCATTER, 9000, 2176, NULL, 0), 0);
	i.rx_offloads = 0;
	assert_int_equal(mtu_check_port(&i, MTU_MODE_SCATTER, 9000, 2176, NULL, 0), -ENOTSUP);
}

/* MTU-1 */
static void
three_views_agree_or_start_up_fails(void **state)
{
	char why[200] = "";

	(void)state;
	assert_int_equal(mtu_check_views(1500, 1500, 2176, MTU_MODE_OFF, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_views(9000, 9000, 9216, MTU_MODE_LARGE, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_views(9000, 1500, 9216, MTU_MODE_LARGE, why, sizeof(why)), -EINVAL);
	assert_true(why[0] != '\0');
	assert_int_equal(mtu_check_views(1500, 9000, 9216, MTU_MODE_LARGE, why, sizeof(why)), -EINVAL);
	assert_int_equal(mtu_check_views(9000, 9000, 2176, MTU_MODE_LARGE, why, sizeof(why)), -EINVAL);
	assert_int_equal(mtu_check_views(9000, 9000, 2176, MTU_MODE_SCATTER, why, sizeof(why)), 0);
	assert_int_equal(mtu_check_views(9000, 9000, 9216, MTU_MODE_OFF, NULL, 0), -EINVAL);
}

/* MTU-7 */
static void
errno_is_mapped_in_one_place(void **state)
{
	static const int same[] = { EINVAL, EOPNOTSUPP, EBUSY, ENODEV, EPERM, ENOMEM, ETIMEDOUT, EIO };
	static const int io[] = { ENOENT, EAGAIN, EFAULT, ENOSPC, 9999 };

	(void)state;
	assert_int_equal(mtu_errno(0), 0);
	for (unsigned int i = 0; i < N(same); i++)
		assert_int_equal(mtu_errno(-same[i]), same[i]);
	assert_int_equal(mtu_errno(-ERANGE), EINVAL);
	assert_int_equal(mtu_errno(-EMSGSIZE), EINVAL);
	assert_int_equal(mtu_errno(-ENOTSUP), EOPNOTSUPP);
	assert_int_equal(mtu_errno(-ENOSYS), EOPNOTSUPP);
	for (unsigned int i = 0; i < N(io); i++)
		assert_int_equal(mtu_errno(-io[i]), EIO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_of_a_device_key_changes_the_digest_and_is_named),
		cmocka_unit_test(process_keys_and_spelling_do_not_change_the_digest),
		cmocka_unit_test(what_is_printed_loads_to_the_same),
		cmocka_unit_test(the_command_line_is_f_stacks),
		cmocka_unit_test(bad_command_lines_are_refused),
		cmocka_unit_test(the_process_id_names_a_lcore_of_the_mask),
		cmocka_unit_test(virtual_ports_and_extra_arguments_reach_eal),
		cmocka_unit_test(data_room_is_headroom_mtu_and_overhead_rounded_up_to_64),
		cmocka_unit_test(without_mtu_support_and_with_scatter_buffers_are_2176_bytes),
		cmocka_unit_test(requests_end_at_1500_without_mtu_support_and_at_max_mtu_with_it),
		cmocka_unit_test(a_port_must_carry_the_frame_and_the_buffer_hold_it),
		cmocka_unit_test(scatter_needs_both_offloads),
		cmocka_unit_test(three_views_agree_or_start_up_fails),
		cmocka_unit_test(errno_is_mapped_in_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

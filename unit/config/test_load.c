/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration as a struct: values, strictness, digest and differences, command line, EAL arguments, odd files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config/config.h"
#include "text.h"

#define DPDK "[dpdk]\nlcore_mask=f\nport_list=0\n"
#define PORT "[port0]\naddr=10.1.2.3\nnetmask=255.255.0.0\nbroadcast=10.1.255.255\ngateway=10.1.0.1\n"

/* Two configurations and the messages of the last load. */
struct fixture {
	struct nonic_config a, b;
	struct config_messages ms, mb;
};

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	config_free(&f->a);
	config_free(&f->b);
	config_messages_free(&f->ms);
	config_messages_free(&f->mb);
	free(f);
	return 0;
}

static int
load(struct fixture *f, struct nonic_config *cfg, const char *text, unsigned int flags)
{
	config_free(cfg);
	config_messages_free(&f->ms);
	return config_load_mem("t.ini", text, strlen(text), flags, cfg, &f->ms);
}

/* CFG-1, CFG-4 */
static void
values_and_defaults_reach_the_struct(void **state)
{
	struct fixture *f = *state;
	const struct nonic_config *c = &f->a;
	struct in6_addr a6;

	assert_int_equal(load(f, &f->a, PORT "vip_addr=10.9.0.1;10.9.0.2\naddr6=2001:db8::5\nprefix_len=48\n"
		"gateway6=fe80::1\nlcore_list=3,1-2\nmtu=8000\nslave_port_list=4,5\n"
		"[vlan9]\nportid=0\naddr6=2001:db8:9::1\n"
		"[dpdk]\nlcore_mask=0x0F\nport_list=0\nvlan_filter=9,100-101\nmtu_enable=1\nmbuf_mode=scatter\n"
		"reload_port_mode=parity\nmemory=512\nfstack_log_level=8\nmbuf_low_watermark=300\n"
		"[kni]\nenable=1\nmethod=accept\nkni_action=alltoff\n[pcap]\ntimestamp_precision=1\n"
		"[freebsd.boot]\nphysmem=1073741824\ntcp_ecn=1\n[stack]\nkernel_coexist=yes\npolling_ipc=1\n", 0), 0);
	assert_int_equal(f->ms.n, 1); /* lcore 0 polls nothing */
	assert_int_equal(c->nb_lcores, 4);
	assert_int_equal(c->proc_lcore[3], 3);
	assert_int_equal(c->port[0].a.addr, inet_addr("10.1.2.3"));
	assert_int_equal(c->port[0].a.nb_vips, 2);
	assert_int_equal(c->port[0].a.vip[1], inet_addr("10.9.0.2"));
	assert_int_equal(inet_pton(AF_INET6, "2001:db8::5", &a6), 1);
	assert_memory_equal(&c->port[0].a.addr6, &a6, sizeof(a6));
	assert_true(c->port[0].a.has_v6 && c->port[0].a.has_gateway6);
	assert_int_equal(c->port[0].a.prefix_len, 48);
	assert_int_equal(c->port[0].nb_lcores, 3);
	assert_int_equal(c->port[0].lcore_list[0], 3);
	assert_true(config_lcore_isset(&c->port[0].lcores, 2));
	assert_false(config_lcore_isset(&c->port[0].lcores, 0));
	assert_false(config_lcore_isset(&c->port[0].lcores, CONFIG_MAX_LCORES));
	assert_int_equal(config_port_queue(c, 0, 3), 0);
	assert_int_equal(config_port_queue(c, 0, 2), 2);
	assert_int_equal(config_port_queue(c, 0, 0), -1);
	assert_int_equal(config_port_queue(c, 0, 4), -1);
	assert_int_equal(config_port_queue(c, CONFIG_MAX_PORTS, 0), -1);
	assert_int_equal(c->port[0].mtu, 8000);
	assert_int_equal(c->port[0].nb_slaves, 2);
	assert_int_equal(c->nb_vlans, 1);
	assert_int_equal(c->vlan[0].id, 9);
	assert_int_equal(c->nb_vlan_filter, 3);
	assert_int_equal(c->mbuf_mode, MBUF_SCATTER);
	assert_int_equal(c->reload_port_mode, PORT_PARITY);
	assert_int_equal(c->memory_mb, 512);
	assert_int_equal(c->log_level, 8);
	assert_int_equal(c->mbuf_low_watermark, 300);
	assert_true(c->kni.enable && c->kni.accept && !c->kni.has_owner);
	assert_int_equal(c->kni.action, KNI_ALLTOFF);
	assert_true(c->pcap.precision_ns && c->kernel_coexist && c->polling_ipc && !c->ring_ipc);
	assert_int_equal(c->physmem, 1 << 30);
	assert_int_equal(c->tcp_ecn, 1);
	/* defaults of 2.0 */
	assert_int_equal(c->max_mtu, 9000);
	assert_int_equal(c->reload_udp_idle_ms, 10000);
	assert_int_equal(c->reload_heartbeat_timeout_ms, 1000);
	assert_int_equal(c->drain_ring_size, 2048);
	assert_int_equal(c->primary_slim_idle_sleep_us, 1000);
	assert_false(c->thread_mode || c->graceful_reload || c->primary_slim || c->lro || c->tx_csum_ip_skip);
	assert_true(c->rss_check.thash_adjust && !c->rss_check.recheck);
	assert_int_equal(c->proc_id, -1);
}

/* CFG-5: the slim primary keeps the lowest lcore; workers have the others. */
static void
slim_primary_leaves_its_lcore_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, &f->a, DPDK "primary_slim=1\n" PORT, 0), 0);
	assert_int_equal(f->ms.n, 0);
	assert_int_equal(f->a.port[0].nb_lcores, 3);
	assert_int_equal(f->a.port[0].lcore_list[0], 1);
	assert_int_equal(config_port_queue(&f->a, 0, 0), -1);
	assert_int_equal(config_port_queue(&f->a, 0, 1), 0);
}

/* CFG-5 */
static void
reload_keys_fit_each_other(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, &f->a, DPDK "primary_slim=1\ngraceful_reload=1\n" PORT, 0), 0);
	assert_int_equal(f->ms.n, 0);
	assert_int_equal(f->a.publish_entries, 16384);
	assert_int_equal(f->a.worker_shutdown_timeout_ms, 90000);
	assert_int_equal(load(f, &f->a, DPDK "primary_slim=1\ngraceful_reload=1\nreload_udp_idle_ms=5000\n"
		"worker_shutdown_timeout=5000\n" PORT, 0), 0);
	assert_int_equal(f->ms.n, 1);
	assert_non_null(strstr(f->ms.m[0].text, "reload_udp_idle_ms = 5000 before it is over"));
	/* idle_sleep is in us, the heartbeat in ms */
	assert_int_equal(load(f, &f->a, DPDK "primary_slim=1\ngraceful_reload=1\nreload_heartbeat_timeout_ms=40\nidle_sleep=10001\n"
		PORT, 0), 0);
	assert_int_equal(f->ms.n, 1);
	assert_non_null(strstr(f->ms.m[0].text, "[dpdk] idle_sleep = 10001"));
	assert_non_null(strstr(f->ms.m[0].text, "reload_heartbeat_timeout_ms = 40"));
	assert_int_equal(load(f, &f->a, DPDK "primary_slim=1\ngraceful_reload=1\nreload_heartbeat_timeout_ms=40\nidle_sleep=10000\n"
		PORT, 0), 0);
	assert_int_equal(f->ms.n, 0);
	/* without reloads none of it matters */
	assert_int_equal(load(f, &f->a, DPDK "reload_heartbeat_timeout_ms=10\nidle_sleep=1000000\n" PORT, 0), 0);
	assert_int_equal(f->ms.n, 0);
	assert_int_equal(load(f, &f->a, DPDK "reload_udp_idle_ms=5000\nworker_shutdown_timeout=5000\n" PORT, 0), 0);
	assert_int_equal(f->ms.n, 0);
	assert_int_equal(load(f, &f->a, DPDK "drain_ring_size=64\n" PORT, 0), 0);
	assert_non_null(strstr(f->ms.m[0].text, "so small a ring drops at load"));
	assert_int_equal(load(f, &f->a, DPDK "publish_entries=100\n" PORT, 0), -EINVAL);
	assert_int_equal(load(f, &f->a, DPDK "publish_entries=32\n" PORT, 0), -EINVAL);
}

/* CFG-3 */
static void
strict_makes_errors_of_unknown_names(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {
		DPDK "lcore_msk=1\n" PORT, DPDK PORT "[dpkd]\n", "x=1\n" DPDK PORT, DPDK "mtu=1\n" PORT, DPDK "qqqqqqqq=1\n" PORT,
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(load(f, &f->a, texts[i], 0), 0);
		assert_int_equal(f->ms.n, 1);
		assert_false(f->ms.m[0].error);
		assert_int_equal(load(f, &f->a, texts[i], CONFIG_STRICT), -EINVAL);
		assert_int_equal(f->ms.n, 1);
		assert_true(f->ms.m[0].error);
	}
	assert_int_equal(load(f, &f->a, DPDK "channel=1\nchannel=2\n" PORT, CONFIG_STRICT), 0);
	assert_false(f->ms.m[0].error);
	assert_int_equal(f->a.channel, 2);
}

/* CFG-2 */
static void
all_errors_in_the_order_of_the_file(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	assert_int_equal(load(f, &f->a, "[port0]\nmtu=9\naddr=x\n[dpdk]\nchannel=\x01\x7f\n[port0\n", 0), -EINVAL);
	assert_int_equal(f->ms.errors, f->ms.n);
	assert_string_equal(f->ms.m[0].text, "t.ini:1: [port0] netmask: missing; accepted: addr, netmask, broadcast and "
		"gateway together (gateway = 0.0.0.0: none)");
	assert_string_equal(f->ms.m[3].text, "t.ini:2: [port0] mtu = 9: too small; accepted: a whole number 68..65535 bytes");
	assert_string_equal(f->ms.m[4].text, "t.ini:3: [port0] addr = x: not an IPv4 address; accepted: an IPv4 address such "
		"as 192.168.1.2");
	assert_string_equal(f->ms.m[5].text, "t.ini:5: [dpdk] channel = \\x01\\x7f: not a number; accepted: a whole number "
		"0..64");
	assert_int_equal(f->ms.m[6].line, 6);
	for (i = 7; i < f->ms.n; i++)
		assert_int_equal(f->ms.m[i].line, 0); /* what is missing altogether comes last */
	assert_int_equal(f->ms.n, 9);
}

/* CFG-2: a value that is shown is cut, not its message. */
static void
long_values_are_shown_in_part(void **state)
{
	struct fixture *f = *state;
	char text[1000];

	snprintf(text, sizeof(text), "%s%s=%0400d\n%s", DPDK, "channel", 7, PORT);
	assert_int_equal(load(f, &f->a, text, 0), 0); /* zeros in front are no octal and no error */
	assert_int_equal(f->a.channel, 7);
	snprintf(text, sizeof(text), "%s%s=x%0400d\n%s", DPDK, "channel", 7, PORT);
	assert_int_equal(load(f, &f->a, text, 0), -EINVAL);
	assert_non_null(strstr(f->ms.m[0].text, "000...: not a number; accepted: a whole number 0..64"));
}

/* CFG-2: a hostile file is bounded in messages, entries and lines. */
static void
floods_are_bounded(void **state)
{
	struct fixture *f = *state;
	struct text t = { 0 };
	unsigned int i;

	text_line(&t, "[dpdk]");
	for (i = 0; i < 3000; i++)
		text_line(&t, "channel=x");
	assert_int_equal(load(f, &f->a, t.p, 0), -EINVAL);
	assert_int_equal(f->ms.n, 500);
	assert_true(f->ms.errors >= 300);
	for (i = 0; i < 3000; i++)
		text_line(&t, "[a]");
	assert_int_equal(load(f, &f->a, t.p, 0), -EINVAL);
	for (i = 0; i < f->ms.n && !strstr(f->ms.m[i].text, "entry number 4097; accepted: at most 4096"); i++)
		;
	assert_int_equal(f->ms.n, 500); /* the last place was taken before; the count knows */
	text_free(&t);
	memset(&t, 0, sizeof(t));
	for (i = 0; i < 5000; i++)
		text_line(&t, "[pcap]");
	assert_int_equal(load(f, &f->a, t.p, 0), -EINVAL);
	assert_string_equal(f->ms.m[0].text, "t.ini:4097: entry number 4097; accepted: at most 4096");
	text_free(&t);
}

/* CFG-1: text that no editor writes. */
static void
zero_bytes_and_bare_files(void **state)
{
	static const char zero[] = "[dpdk]\nlcore_mask=1\0f\n";
	struct fixture *f = *state;

	assert_int_equal(config_load_mem("z", zero, sizeof(zero) - 1, 0, &f->a, &f->ms), -EINVAL);
	assert_string_equal(f->ms.m[0].text, "z:2: line with a zero byte; accepted: text");
	assert_int_equal(load(f, &f->a, "", 0), -EINVAL);
	assert_int_equal(f->ms.n, 2);
	assert_string_equal(f->ms.m[0].text, "t.ini: [dpdk] lcore_mask: missing; accepted: a hexadecimal mask of lcores");
	assert_int_equal(load(f, &f->a, "\xef\xbb\xbf[dpdk]\nlcore_mask=1\nport_list=0\n" PORT, 0), 0);
	/* Under a header that can not be read nothing is set, least of all the section before it. */
	assert_int_equal(load(f, &f->a, DPDK PORT "[vlan1\naddr=1.2.3.4\n no separator\n  indented=1\n", 0), -EINVAL);
	assert_int_equal(f->a.port[0].a.addr, inet_addr("10.1.2.3"));
	assert_int_equal(f->ms.errors, 2);
}

/* CFG-2: a file that is none. */
static void
files_that_can_not_be_read(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/nonic-config-XXXXXX", name[64];
	FILE *big;

	assert_int_equal(config_load("/nonexistent/x.ini", 0, &f->a, &f->ms), -ENOENT);
	assert_string_equal(f->ms.m[0].text, "/nonexistent/x.ini: can not be read: No such file or directory; accepted: a "
		"readable file of at most 1 MiB");
	assert_int_equal(f->ms.errors, 1);
	config_messages_free(&f->ms);
	assert_int_equal(config_load("/", 0, &f->a, &f->ms), -EISDIR);
	config_messages_free(&f->ms);
	assert_non_null(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/big.ini", dir);
	big = fopen(name, "w");
	assert_non_null(big);
	assert_int_equal(fseek(big, 1 << 20, SEEK_SET), 0);
	assert_int_equal(fputc('#', big), '#');
	fclose(big);
	assert_int_equal(config_load(name, 0, &f->a, &f->ms), -EFBIG);
	unlink(name);
	config_messages_free(&f->ms);
	assert_int_equal(mkfifo(name, 0600), 0); /* nobody writes to it: no hang */
	assert_int_equal(config_load(name, 0, &f->a, &f->ms), -EINVAL);
	unlink(name);
	rmdir(dir);
}

/* CFG-6 */
static void
digest_covers_device_keys_only(void **state)
{
	struct fixture *f = *state;
	static const char *const device[][2] = {
		{ DPDK "max_mtu=9001\n" PORT, "[dpdk] max_mtu" },
		{ DPDK "mtu_enable=1\n" PORT, "[dpdk] mtu_enable" },
		{ DPDK "mbuf_mode=scatter\n" PORT, "[dpdk] mbuf_mode" },
		{ "[dpdk]\nlcore_mask=7\nport_list=0\n" PORT, "[dpdk] lcore_mask" },
		{ DPDK PORT "lcore_list=0-2\n", "[port0] lcore_list" },
		{ DPDK PORT "lcore_list=3,0-2\n", "[port0] lcore_list" },
		{ DPDK PORT "[vdev0]\ndriver=net_null\n", "[dpdk] nb_vdev" },
		{ DPDK "file_prefix=x\n" PORT, "[dpdk] file_prefix" },
		{ DPDK "drain_ring_size=4096\n" PORT, "[dpdk] drain_ring_size" },
		{ DPDK PORT "[kni]\nenable=1\n", "[kni] enable" },
		{ DPDK PORT "[rss_check]\nthash_adjust=0\n", "[rss_check] thash_adjust" },
	};
	static const char *const process[] = {
		DPDK "reload_udp_idle_ms=500\n" PORT, DPDK "idle_sleep=20\n" PORT, DPDK PORT "mtu=1400\n", DPDK PORT "vip_addr=1.2.3.4\n",
		DPDK PORT "[port5]\nlcore_list=1\n", DPDK PORT "lcore_list=0-3\n", PORT DPDK "max_mtu=9000\n",
		DPDK PORT "[freebsd.sysctl]\na=1\n", DPDK PORT "[pcap]\nenable=1\n", DPDK PORT "[kni]\ntcp_port=80\n",
	};
	uint8_t da[CONFIG_DIGEST_LEN], db[CONFIG_DIGEST_LEN];
	char name[64];
	size_t i;

	assert_int_equal(load(f, &f->a, DPDK PORT, 0), 0);
	config_device_digest(&f->a, da);
	for (i = 0; i < sizeof(device) / sizeof(device[0]); i++) {
		assert_int_equal(load(f, &f->b, device[i][0], 0), 0);
		config_device_digest(&f->b, db);
		assert_memory_not_equal(da, db, sizeof(da));
		assert_true(config_device_diff(&f->a, &f->b, name, sizeof(name)));
		assert_string_equal(name, device[i][1]);
		assert_true(config_device_diff(&f->b, &f->a, name, sizeof(name)));
		assert_string_equal(name, device[i][1]);
	}
	for (i = 0; i < sizeof(process) / sizeof(process[0]); i++) {
		assert_int_equal(load(f, &f->b, process[i], 0), 0);
		config_device_digest(&f->b, db);
		assert_memory_equal(da, db, sizeof(da));
		assert_false(config_device_diff(&f->a, &f->b, name, sizeof(name)));
	}
}

/* CFG-6: of two configurations with the same number of vdevs the vdev's own key is named. */
static void
diff_names_the_key_in_its_section(void **state)
{
	static const char *const other[][2] = {
		{ DPDK PORT "[vdev0]\ndriver=net_null\nargs=copy=1\n[vlan7]\nportid=0\naddr6=2001:db8::1\n", "[vdev0] args" },
		{ DPDK PORT "[vdev0]\ndriver=net_null\n", "[vlan7]" },
		{ DPDK PORT "[vdev0]\ndriver=net_null\n[vlan7]\nportid=0\naddr6=2001:db8::2\n", "[vlan7] addr6" },
		{ DPDK PORT "mtu=1499\n[vdev0]\ndriver=net_null\n[vlan7]\nportid=0\naddr6=2001:db8::1\n", "[port0] mtu" },
		{ DPDK PORT "[vdev0]\ndriver=net_null\n[vlan7]\nportid=0\naddr6=2001:db8::1\n[freebsd.sysctl]\na.b=1\n",
			"[freebsd.sysctl] a.b" },
	};
	static const char *const base = DPDK PORT "[vdev0]\ndriver=net_null\n[vlan7]\nportid=0\naddr6=2001:db8::1\n";
	struct fixture *f = *state;
	struct text t = { 0 };
	char name[64];
	size_t i;

	/* every text above with the filter in front of its first port section */
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		text_line(&t, base);
		text_line(&t, "[dpdk]\nvlan_filter=7\n");
		assert_int_equal(load(f, &f->a, t.p, 0), 0);
		t.n = 0;
		text_line(&t, other[i][0]);
		text_line(&t, "[dpdk]\nvlan_filter=7\n");
		assert_int_equal(load(f, &f->b, t.p, 0), 0);
		t.n = 0;
		assert_false(config_diff(&f->a, &f->a, name, sizeof(name)));
		assert_true(config_diff(&f->a, &f->b, name, sizeof(name)));
		assert_string_equal(name, other[i][1]);
		assert_true(config_diff(&f->b, &f->a, name, sizeof(name)));
		assert_string_equal(name, other[i][1]);
	}
	text_free(&t);
}

static int
args(struct fixture *f, struct config_args *out, const char *const *v)
{
	int n = 0;

	while (v[n])
		n++;
	config_messages_free(&f->ms);
	return config_args_parse(n, (char *const *)(uintptr_t)v, out, &f->ms);
}

/* CFG-1 */
static void
command_line_of_fstack(void **state)
{
	static const char *const forms[][8] = {
		{ "app", "--conf", "x.ini", "--proc-id", "3", "--proc-type", "secondary", NULL },
		{ "app", "--conf=x.ini", "--proc-id=3", "--proc-type=secondary", "-x", "-c", "no", NULL },
		{ "app", "-c", "x.ini", "-p", "3", "-t", "secondary", NULL },
		{ "app", "-cx.ini", "-p3", "-tsecondary", "--", "-p", "4", NULL },
		{ "app", "-c=x.ini", "-p=3", "-t=secondary", "rest", NULL },
	};
	static const int rest[] = { 7, 4, 7, 5, 4 };
	static const char *const none[] = { "app", NULL };
	struct fixture *f = *state;
	struct config_args a;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		assert_int_equal(args(f, &a, forms[i]), 0);
		assert_string_equal(a.conf, "x.ini");
		assert_int_equal(a.proc_id, 3);
		assert_int_equal(a.proc_type, PROC_SECONDARY);
		assert_int_equal(a.rest, rest[i]);
	}
	assert_int_equal(args(f, &a, none), 0);
	assert_string_equal(a.conf, "config.ini");
	assert_int_equal(a.proc_id, -1);
	assert_int_equal(a.proc_type, PROC_AUTO);
	assert_int_equal(a.rest, 1);
}

/* CFG-1, CFG-2 */
static void
command_line_errors(void **state)
{
	static const struct {
		const char *v[4], *text;
	} bad[] = {
		{ { "app", "-p", "x", NULL }, "command line: --proc-id = x: not a number; accepted: a whole number 0..127" },
		{ { "app", "--proc-id=128", NULL }, "command line: --proc-id = 128: too large; accepted: a whole number 0..127" },
		{ { "app", "-p", "-1", NULL }, "command line: --proc-id = -1: negative; accepted: a whole number 0..127" },
		{ { "app", "--proc-type", "third", NULL },
			"command line: --proc-type = third: unknown word; accepted: primary, secondary, auto" },
		{ { "app", "--conf", NULL }, "command line: --conf: its value is missing; accepted: --conf VALUE" },
		{ { "app", "-p", "", NULL }, "command line: -p: its value is missing; accepted: -p VALUE" },
		{ { "app", "-t=", NULL }, "command line: -t=: its value is missing; accepted: -t= VALUE" },
	};
	struct fixture *f = *state;
	struct config_args a;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(args(f, &a, bad[i].v), -EINVAL);
		assert_int_equal(f->ms.n, 1);
		assert_string_equal(f->ms.m[0].text, bad[i].text);
	}
}

/* CFG-1, CFG-5 */
static void
command_line_against_the_file(void **state)
{
	struct config_args a = { .proc_id = 3, .proc_type = PROC_SECONDARY };
	struct fixture *f = *state;

	assert_int_equal(load(f, &f->a, DPDK PORT, 0), 0);
	assert_int_equal(config_apply_args(&f->a, &a, &f->ms), 0);
	assert_int_equal(f->a.proc_id, 3);
	assert_int_equal(f->a.proc_type, PROC_SECONDARY);
	a.proc_id = 4;
	assert_int_equal(config_apply_args(&f->a, &a, &f->ms), -EINVAL);
	assert_string_equal(f->ms.m[0].text, "command line: --proc-id = 4: [dpdk] lcore_mask makes 4 processes; accepted: 0..3");
	assert_int_equal(load(f, &f->a, DPDK "thread_mode=1\n" PORT, 0), 0);
	a.proc_id = 1;
	assert_int_equal(config_apply_args(&f->a, &a, &f->ms), -EINVAL);
	assert_int_equal(f->ms.n, 2);
	assert_non_null(strstr(f->ms.m[0].text, "with thread_mode = 1 makes 1 process; accepted: 0..0"));
	assert_non_null(strstr(f->ms.m[1].text, "--proc-type = secondary: [dpdk] thread_mode = 1 has one process"));
	a.proc_id = -1;
	a.proc_type = PROC_AUTO;
	assert_int_equal(config_apply_args(&f->a, &a, &f->ms), 0);
}

static void
assert_eal(const struct nonic_config *cfg, unsigned int id, enum config_eal_role role, const char *expect)
{
	char text[2048] = "", **v;
	size_t at = 0;
	int n, i;

	assert_int_equal(config_eal_args(cfg, "nonic", id, role, &v, &n), 0);
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s<%s>", i ? " " : "", v[i]);
	assert_null(v[n]);
	assert_string_equal(text, expect);
	config_eal_args_free(v);
}

/* CFG-8 */
static void
eal_arguments(void **state)
{
	struct fixture *f = *state;
	char **v;
	int n;

	assert_int_equal(load(f, &f->a, DPDK "file_prefix=bed1\nmemory=64\nlog_level=8\nchannel=4\n"
		"extra_eal_args=--in-memory  \"a b\"c 'd\"e'\t''\n" PORT
		"[vdev0]\ndriver=net_tap\nargs=iface=dtap0\n[vdev1]\npath=/dev/vhost-net\nmac=02:00:00:00:00:01\niface=v1\ncq=1\n"
		"[bond0]\nslave=net_tap0\nmode=1\nprimary=net_tap0\nmac=02:00:00:00:00:02\nxmit_policy=l34\nsocket_id=1\n"
		"lsc_poll_period_ms=5\nup_delay=6\ndown_delay=7\n", 0), 0);
	assert_eal(&f->a, 0, CONFIG_EAL_PRIMARY, "<nonic> <--lcores=0@0> <-n> <4> <-m> <64> <--single-file-segments> <--proc-type=primary> "
		"<--file-prefix=container-bed1> <--log-level=8> <--no-pci> <--vdev=net_tap0,iface=dtap0> "
		"<--vdev=virtio_user1,path=/dev/vhost-net,queues=1,queue_size=256,iface=v1,mac=02:00:00:00:00:01,cq=1> "
		"<--vdev=net_bonding0,mode=1,slave=net_tap0,socket_id=1,primary=net_tap0,mac=02:00:00:00:00:02,"
		"xmit_policy=l34,lsc_poll_period_ms=5,up_delay=6,down_delay=7> <--in-memory> <a bc> <d\"e> <>");
	assert_eal(&f->a, 2, CONFIG_EAL_WORKER, "<nonic> <--lcores=3@2> <-n> <4> <--proc-type=secondary> "
		"<--file-prefix=container-bed1> <--log-level=8> <--no-pci> <--in-memory> <a bc> <d\"e> <>");
	assert_eal(&f->a, 1, CONFIG_EAL_OBSERVER, "<nonic> <--lcores=127@1> <-n> <4> <--proc-type=secondary> "
		"<--file-prefix=container-bed1> <--log-level=8> <--no-pci> <--in-memory> <a bc> <d\"e> <>");
	/* both generations' workers of one lcore stand on one CPU under ids of their own */
	assert_eal(&f->a, 2, CONFIG_EAL_WORKER_SIDE1, "<nonic> <--lcores=66@2> <-n> <4> <--proc-type=secondary> "
		"<--file-prefix=container-bed1> <--log-level=8> <--no-pci> <--in-memory> <a bc> <d\"e> <>");
	assert_int_equal(config_eal_args(&f->a, "nonic", 4, CONFIG_EAL_WORKER, &v, &n), -EINVAL);
	assert_null(v);
	assert_int_equal(load(f, &f->a, DPDK "thread_mode=1\nno_huge=1\nallow=02:00.0, 0000:03:00.1\n"
		"base_virtaddr=0x7f0000000000\n" PORT, 0), 0);
	assert_eal(&f->a, 0, CONFIG_EAL_PRIMARY, "<nonic> <--lcores=0@0,1@1,2@2,3@3> <--no-huge> <--proc-type=primary> <--base-virtaddr=0x7f0000000000> "
		"<-a> <02:00.0> <-a> <0000:03:00.1>");
}

/* CFG-8: more arguments than a table of fixed size would hold */
static void
eal_arguments_without_a_limit(void **state)
{
	struct fixture *f = *state;
	struct text t = { 0 };
	char **v, line[64];
	int n, i;

	text_line(&t, DPDK PORT);
	for (i = 0; i < CONFIG_MAX_VDEVS; i++) {
		snprintf(line, sizeof(line), "[vdev%d]\ndriver=net_null\nargs=size=%d", i, 64 + i);
		text_line(&t, line);
	}
	assert_int_equal(load(f, &f->a, t.p, 0), 0);
	assert_int_equal(f->a.nb_vdevs, CONFIG_MAX_VDEVS);
	assert_int_equal(config_eal_args(&f->a, "p", 1, CONFIG_EAL_PRIMARY, &v, &n), 0);
	assert_int_equal(n, 4 + CONFIG_MAX_VDEVS);
	assert_string_equal(v[n - 1], "--vdev=net_null31,size=95");
	config_eal_args_free(v);
	config_eal_args_free(NULL);
	text_free(&t);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(values_and_defaults_reach_the_struct), T(slim_primary_leaves_its_lcore_out), T(reload_keys_fit_each_other),
		T(strict_makes_errors_of_unknown_names), T(all_errors_in_the_order_of_the_file),
		T(long_values_are_shown_in_part), T(floods_are_bounded), T(zero_bytes_and_bare_files),
		T(files_that_can_not_be_read), T(digest_covers_device_keys_only), T(diff_names_the_key_in_its_section),
		T(command_line_of_fstack), T(command_line_errors), T(command_line_against_the_file), T(eal_arguments),
		T(eal_arguments_without_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of keys: parsing, defaults, messages, `check-config` and REFERENCE.md come from it. */
#include "keys.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct section_info config_sections[SECT_COUNT] = {
	[SECT_DPDK] = { "dpdk", .help = "Cores, memory, ports and how the main loop runs." },
	[SECT_PCAP] = { "pcap", .help = "Recording of frames to rotating files." },
	[SECT_PORT] = { "port", true, 0, CONFIG_MAX_PORTS - 1,
		.help = "One port of port_list: addresses, MTU, and the lcores that poll it." },
	[SECT_VLAN] = { "vlan", true, 1, 4094, .help = "One VLAN; N is its id and stands in vlan_filter." },
	[SECT_VDEV] = { "vdev", true, 0, CONFIG_MAX_VDEVS - 1, .help = "One virtual port (CFG-8)." },
	[SECT_BOND] = { "bond", true, 0, CONFIG_MAX_BONDS - 1, .help = "One bonded port." },
	[SECT_RSS_CHECK] = { "rss_check", .help = "Choice of source ports so that replies reach their own queue." },
	[SECT_KNI] = { "kni", .help = "Packets that go to the kernel's stack." },
	[SECT_BOOT] = { "freebsd.boot", .pairs = true,
		.help = "Clock, descriptors and memory; any other key is kept as a kernel tunable." },
	[SECT_SYSCTL] = { "freebsd.sysctl", .pairs = true,
		.help = "Any key; applied in the order of the file." },
	[SECT_STACK] = { "stack", .help = "What the stack does beside its own sockets." },
};

static const char *const mbuf_modes[] = { "large", "scatter", NULL };
static const char *const port_modes[] = { "claim", "parity", NULL };
static const char *const vdev_drivers[] = { "virtio_user", "net_tap", "net_ring", "net_null", "net_pcap",
	"net_af_packet", "net_vhost", NULL };
static const char *const kni_methods[] = { "reject", "accept", NULL };
static const char *const kni_actions[] = { "default", "alltokni", "alltoff", NULL };
static const char *const xmit_policies[] = { "l2", "l23", "l34", NULL };

#define FIELD(st, f) .off = offsetof(struct st, f), .size = sizeof(((struct st *)0)->f)
#define G(f) FIELD(nonic_config, f)
#define P(f) FIELD(config_port, f)
#define V(f) FIELD(config_vlan, f)
#define D(f) FIELD(config_vdev, f)
#define B(f) FIELD(config_bond, f)
#define COUNT(st, f) .count_off = offsetof(struct st, f)

#define BOOL(s, n, fl, where, d, h, ...) \
	{ .section = s, .name = n, .type = KEY_BOOL, .flags = fl, where, .max = 1, .def = d, .help = h, __VA_ARGS__ }
#define UINT(s, n, fl, where, lo, hi, d, u, h, ...) \
	{ .section = s, .name = n, .type = KEY_UINT, .flags = fl, where, .min = lo, .max = hi, .def = d, .unit = u, \
		.help = h, __VA_ARGS__ }
#define ENUM(s, n, fl, where, nm, d, h) \
	{ .section = s, .name = n, .type = KEY_ENUM, .flags = fl, where, .names = nm, .def = d, .help = h }
#define TEXT(s, n, t, fl, where, d, h, ...) \
	{ .section = s, .name = n, .type = t, .flags = fl, where, .def = d, .help = h, __VA_ARGS__ }

/* The addresses of [portN] and [vlanN]: F is P or V, S their struct. */
#define ADDRS(s, F, S) \
	TEXT(s, "addr", KEY_IP4, 0, F(a.addr), NULL, "IPv4 address; netmask, broadcast and gateway come with it."), \
	TEXT(s, "netmask", KEY_IP4, 0, F(a.netmask), NULL, "IPv4 netmask, contiguous."), \
	TEXT(s, "broadcast", KEY_IP4, 0, F(a.broadcast), NULL, "IPv4 broadcast address of the subnet."), \
	TEXT(s, "gateway", KEY_IP4, 0, F(a.gateway), NULL, "IPv4 default gateway inside the subnet; 0.0.0.0: none."), \
	TEXT(s, "vip_addr", KEY_VIP4, 0, F(a.vip), NULL, "Further IPv4 addresses.", COUNT(S, a.nb_vips), \
		.cap = CONFIG_MAX_VIPS), \
	TEXT(s, "vip_ifname", KEY_NAME, 0, F(a.vip_ifname), NULL, "Interface that carries the further addresses.", \
		.def_note = "the port's own"), \
	TEXT(s, "addr6", KEY_IP6, 0, F(a.addr6), NULL, "IPv6 address."), \
	UINT(s, "prefix_len", 0, F(a.prefix_len), 1, 128, "64", "bits", "Prefix length of addr6."), \
	TEXT(s, "gateway6", KEY_IP6, 0, F(a.gateway6), NULL, "IPv6 default gateway: link-local or inside the prefix."), \
	TEXT(s, "vip_addr6", KEY_VIP6, 0, F(a.vip6), NULL, "Further IPv6 addresses.", COUNT(S, a.nb_vips6), \
		.cap = CONFIG_MAX_VIPS), \
	UINT(s, "vip_prefix_len", 0, F(a.vip_prefix_len), 1, 128, "64", "bits", "Prefix length of vip_addr6.")

const struct config_key config_keys[] = {
	{ .section = SECT_DPDK, .name = "lcore_mask", .type = KEY_MASK, .flags = KEY_DEVICE, G(lcore_mask),
		.def_note = "none: must be given",
		.help = "Lcores to run on; one process (or thread) for each set bit." },
	UINT(SECT_DPDK, "channel", KEY_DEVICE, G(channel), 0, 64, "0", NULL, "Memory channels; 0: EAL finds out."),
	UINT(SECT_DPDK, "memory", KEY_DEVICE, G(memory_mb), 0, 1 << 24, "0", "MB", "Memory to reserve; 0: EAL's choice."),
	BOOL(SECT_DPDK, "no_huge", KEY_DEVICE, G(no_huge), "0", "Run without hugepages (then one process only)."),
	TEXT(SECT_DPDK, "base_virtaddr", KEY_HEX, KEY_DEVICE, G(base_virtaddr), NULL,
		"Virtual address that EAL maps memory at."),
	TEXT(SECT_DPDK, "file_prefix", KEY_PREFIX, KEY_DEVICE, G(file_prefix), NULL,
		"Name of this test bed's runtime files, so that several share a machine; EAL sees container-NAME."),
	TEXT(SECT_DPDK, "allow", KEY_DEVICES, KEY_DEVICE, G(allow), NULL, "PCI devices to use; all others are left alone.",
		.alias = "pci_whitelist", .def_note = "all"),
	{ .section = SECT_DPDK, .name = "port_list", .type = KEY_LIST, .flags = KEY_DEVICE, G(port_list),
		COUNT(nonic_config, nb_ports), .max = CONFIG_MAX_PORTS - 1, .cap = CONFIG_MAX_PORTS,
		.def_note = "none: must be given", .help = "Ports to use; each has a [portN]." },
	UINT(SECT_DPDK, "nb_vdev", KEY_DEVICE, G(nb_vdevs), 0, CONFIG_MAX_VDEVS, NULL, NULL,
		"Virtual ports, [vdev0] upwards.", .def_note = "the number of [vdevN] sections"),
	UINT(SECT_DPDK, "nb_bond", KEY_DEVICE, G(nb_bonds), 0, CONFIG_MAX_BONDS, NULL, NULL,
		"Bonded ports, [bond0] upwards.", .def_note = "the number of [bondN] sections"),
	BOOL(SECT_DPDK, "promiscuous", KEY_DEVICE, G(promiscuous), "1", "Ports receive frames for any address."),
	BOOL(SECT_DPDK, "numa_on", KEY_DEVICE, G(numa_on), "1", "Pools on the socket of their lcores."),
	BOOL(SECT_DPDK, "tso", KEY_DEVICE, G(tso), "0", "TCP segmentation by the port."),
	BOOL(SECT_DPDK, "lro", KEY_DEVICE | KEY_V2, G(lro), "0", "Large receive by the port, in software without it."),
	BOOL(SECT_DPDK, "tx_csum_offoad_skip", KEY_DEVICE, G(tx_csum_skip), "0",
		"No transmit checksums by the port (the name is spelt as in F-Stack).", .alias = "tx_csum_offload_skip"),
	BOOL(SECT_DPDK, "tx_csum_ip_skip", KEY_DEVICE | KEY_V2, G(tx_csum_ip_skip), "0",
		"No IPv4 header checksum by the port."),
	BOOL(SECT_DPDK, "tx_csum_l4_skip", KEY_DEVICE | KEY_V2, G(tx_csum_l4_skip), "0",
		"No TCP and UDP checksum by the port."),
	BOOL(SECT_DPDK, "vlan_strip", KEY_DEVICE, G(vlan_strip), "0", "The port removes VLAN tags on receive."),
	{ .section = SECT_DPDK, .name = "vlan_filter", .type = KEY_LIST, .flags = KEY_DEVICE, G(vlan_filter),
		COUNT(nonic_config, nb_vlan_filter), .min = 1, .max = 4094, .cap = CONFIG_MAX_VLANS,
		.help = "VLAN ids that are received; each may have a [vlanN]." },
	UINT(SECT_DPDK, "idle_sleep", 0, G(idle_sleep_us), 0, 1000000, "0", "us", "Sleep after an idle turn; 0: never."),
	UINT(SECT_DPDK, "pkt_tx_delay", KEY_CLAMP, G(pkt_tx_delay_us), 0, 100, "100", "us",
		"Longest wait of a packet for company before it is sent; 0: sent at once."),
	BOOL(SECT_DPDK, "symmetric_rss", KEY_DEVICE, G(symmetric_rss), "0",
		"RSS key that brings both directions of a flow to one queue."),
	UINT(SECT_DPDK, "log_level", 0, G(eal_log_level), 0, 8, "0", NULL, "EAL's log level; 0: EAL's own default."),
	UINT(SECT_DPDK, "fstack_log_level", 0, G(log_level), 0, 8, "0", NULL,
		"The stack's log level: 0 none, 1 emergencies ... 8 debug."),
	TEXT(SECT_DPDK, "fstack_log_file_prefix", KEY_STR, 0, G(log_prefix), "./f-stack-",
		"Log file; process number and .log are appended."),
	BOOL(SECT_DPDK, "thread_mode", KEY_DEVICE | KEY_V2, G(thread_mode), "0",
		"One process with one stack instance per lcore, instead of one process each."),
	BOOL(SECT_DPDK, "graceful_reload", KEY_DEVICE | KEY_V2, G(graceful_reload), "0",
		"Two generations of workers may coexist while one replaces the other."),
	BOOL(SECT_DPDK, "primary_slim", KEY_DEVICE | KEY_V2, G(primary_slim), "0",
		"The primary owns the ports and no stack; the lowest lcore is its own."),
	UINT(SECT_DPDK, "primary_slim_idle_sleep", KEY_V2, G(primary_slim_idle_sleep_us), 0, 1000000, "1000", "us",
		"Sleep of such a primary between turns."),
	UINT(SECT_DPDK, "reload_udp_idle_ms", KEY_V2, G(reload_udp_idle_ms), 100, 3600000, "10000", "ms",
		"A UDP flow without packets for so long is over."),
	UINT(SECT_DPDK, "reload_heartbeat_timeout_ms", KEY_V2, G(reload_heartbeat_timeout_ms), 10, 3600000, "1000", "ms",
		"A worker without progress for so long counts as dead."),
	ENUM(SECT_DPDK, "reload_port_mode", KEY_OURS, G(reload_port_mode), port_modes, "claim",
		"How generations share ephemeral ports: claim each tuple, or F-Stack's halves."),
	{ .section = SECT_DPDK, .name = "drain_ring_size", .type = KEY_POW2, .flags = KEY_DEVICE | KEY_V2,
		G(drain_ring_size), .min = 64, .max = 1 << 20, .def = "2048", .unit = "packets",
		.help = "Rings between generations." },
	{ .section = SECT_DPDK, .name = "publish_entries", .type = KEY_POW2, .flags = KEY_DEVICE | KEY_OURS,
		G(publish_entries), .min = 64, .max = 1 << 24, .def = "16384", .unit = "flows",
		.help = "UDP flows that a worker publishes for a reload." },
	UINT(SECT_DPDK, "worker_shutdown_timeout", KEY_OURS, G(worker_shutdown_timeout_ms), 100, 86400000, "90000", "ms",
		"How long workers of the old generation may go on serving their flows in a reload."),
	BOOL(SECT_DPDK, "mtu_enable", KEY_DEVICE | KEY_V2, G(mtu_enable), "0", "MTUs above 1500."),
	UINT(SECT_DPDK, "max_mtu", KEY_DEVICE | KEY_V2, G(max_mtu), 68, 65535, "9000", "bytes",
		"Largest MTU that any port may get; sizes the buffers."),
	ENUM(SECT_DPDK, "mbuf_mode", KEY_DEVICE | KEY_V2, G(mbuf_mode), mbuf_modes, "large",
		"A frame in one large buffer, or scattered over standard ones."),
	UINT(SECT_DPDK, "mbuf_low_watermark", KEY_V2, G(mbuf_low_watermark), 0, 1 << 30, "0", "buffers",
		"Below so many free buffers new work is shed first; 0: off."),
	TEXT(SECT_DPDK, "extra_eal_args", KEY_ARGS, KEY_DEVICE | KEY_V2, G(extra_eal_args), NULL,
		"Appended to EAL's arguments; quotes keep blanks."),

	BOOL(SECT_PCAP, "enable", 0, G(pcap.enable), "0",
		"Record every frame a worker receives or sends, in cpuLCORE_N.pcap."),
	UINT(SECT_PCAP, "snaplen", KEY_CLAMP, G(pcap.snaplen), 94, 65535, "96", "bytes", "Bytes kept of a frame."),
	UINT(SECT_PCAP, "savelen", KEY_CLAMP, G(pcap.savelen), 8388608, UINT32_MAX, "16777216", "bytes",
		"Size at which the next of 10 files begins; then the oldest is overwritten."),
	TEXT(SECT_PCAP, "savepath", KEY_STR, 0, G(pcap.savepath), ".", "Directory of the files; must exist."),
	BOOL(SECT_PCAP, "timestamp_precision", KEY_V2, G(pcap.precision_ns), "0", "Timestamps: 0 in us, 1 in ns."),

	ADDRS(SECT_PORT, P, config_port),
	TEXT(SECT_PORT, "if_name", KEY_NAME, 0, P(if_name), NULL, "Name of the interface.", .def_note = "f-stack-N"),
	UINT(SECT_PORT, "mtu", KEY_V2, P(mtu), 68, 65535, "1500", "bytes",
		"MTU; above 1500 needs mtu_enable=1 and stays within max_mtu."),
	{ .section = SECT_PORT, .name = "lcore_list", .type = KEY_LIST, .flags = KEY_DEVICE, P(lcore_list),
		COUNT(config_port, nb_lcores), .max = CONFIG_MAX_LCORES - 1, .cap = CONFIG_MAX_QUEUES,
		.def_note = "all of lcore_mask (but the slim primary's)",
		.help = "Lcores that poll the port, one queue each, in this order." },
	{ .section = SECT_PORT, .name = "slave_port_list", .type = KEY_LIST, .flags = KEY_DEVICE, P(slave_ports),
		COUNT(config_port, nb_slaves), .max = CONFIG_MAX_PORTS - 1, .cap = CONFIG_MAX_PORTS,
		.help = "Ports under this bonded port." },
	TEXT(SECT_PORT, "ipfw_pr", KEY_STR, KEY_NO_EFFECT, P(ipfw_pr), NULL, "Packet filter rules."),

	{ .section = SECT_VLAN, .name = "portid", .type = KEY_UINT, V(port), .max = CONFIG_MAX_PORTS - 1,
		.def_note = "none: must be given", .help = "The port that carries the VLAN." },
	ADDRS(SECT_VLAN, V, config_vlan),
	TEXT(SECT_VLAN, "ipfw_pr", KEY_STR, KEY_NO_EFFECT, V(ipfw_pr), NULL, "Packet filter rules."),

	ENUM(SECT_VDEV, "driver", KEY_DEVICE | KEY_OURS, D(driver), vdev_drivers, "virtio_user", "The virtual port's driver."),
	TEXT(SECT_VDEV, "args", KEY_STR, KEY_DEVICE | KEY_OURS, D(args), NULL,
		"Driver arguments, passed through (iface=dtap0,...)."),
	TEXT(SECT_VDEV, "iface", KEY_STR, KEY_DEVICE, D(iface), NULL, "Kernel interface behind virtio_user."),
	TEXT(SECT_VDEV, "path", KEY_STR, KEY_DEVICE, D(path), NULL, "Socket or device of virtio_user."),
	UINT(SECT_VDEV, "queues", KEY_DEVICE, D(queues), 1, 256, "1", NULL, "Queue pairs of virtio_user."),
	{ .section = SECT_VDEV, .name = "queue_size", .type = KEY_POW2, .flags = KEY_DEVICE, D(queue_size), .min = 2,
		.max = 32768, .def = "256", .help = "Descriptors of each virtio_user queue." },
	TEXT(SECT_VDEV, "mac", KEY_MAC, KEY_DEVICE, D(mac), NULL, "Ethernet address of virtio_user."),
	BOOL(SECT_VDEV, "cq", KEY_DEVICE, D(cq), "0", "Control queue of virtio_user."),

	UINT(SECT_BOND, "mode", KEY_DEVICE, B(mode), 0, 6, "0", NULL, "Bonding mode; 4 is LACP."),
	TEXT(SECT_BOND, "slave", KEY_STR, KEY_DEVICE, B(slave), NULL,
		"Members: a device, further ones as ,slave=DEVICE behind it.", .def_note = "none: must be given"),
	TEXT(SECT_BOND, "primary", KEY_STR, KEY_DEVICE, B(primary), NULL, "The preferred member."),
	TEXT(SECT_BOND, "mac", KEY_MAC, KEY_DEVICE, B(mac), NULL, "Ethernet address."),
	UINT(SECT_BOND, "socket_id", KEY_DEVICE, B(socket_id), 0, 31, "0", NULL, "NUMA socket."),
	TEXT(SECT_BOND, "xmit_policy", KEY_STR, KEY_DEVICE, B(xmit_policy), NULL, "What is hashed to choose a member.",
		.names = xmit_policies),
	UINT(SECT_BOND, "lsc_poll_period_ms", KEY_DEVICE, B(lsc_poll_period_ms), 0, 3600000, "0", "ms",
		"Polling of members without link interrupts; 0: the driver's own."),
	UINT(SECT_BOND, "up_delay", KEY_DEVICE, B(up_delay), 0, 3600000, "0", "ms", "Wait before a link counts as up."),
	UINT(SECT_BOND, "down_delay", KEY_DEVICE, B(down_delay), 0, 3600000, "0", "ms",
		"Wait before a link counts as down."),

	BOOL(SECT_RSS_CHECK, "enable", 0, G(rss_check.enable), "0", "Look source ports up in a table built at the start."),
	TEXT(SECT_RSS_CHECK, "rss_tbl", KEY_RSS_TBL, 0, G(rss_check.rss_tbl), NULL,
		"Remotes of that table; at most 16 remotes with 4 local addresses each."),
	BOOL(SECT_RSS_CHECK, "recheck", KEY_V2, G(rss_check.recheck), "0", "Check each solved port by the hash again."),
	BOOL(SECT_RSS_CHECK, "thash_adjust", KEY_DEVICE | KEY_V2, G(rss_check.thash_adjust), "1",
		"Solve for the port instead of trying ports."),

	BOOL(SECT_KNI, "enable", KEY_DEVICE, G(kni.enable), "0", "Share the ports with the kernel's stack."),
	ENUM(SECT_KNI, "method", 0, G(kni.accept), kni_methods, "reject",
		"The listed ports go to the kernel (accept), or all but them (reject)."),
	ENUM(SECT_KNI, "kni_action", 0, G(kni.action), kni_actions, "default", "Override of the lists."),
	TEXT(SECT_KNI, "tcp_port", KEY_PORTS, 0, G(kni.tcp_port), NULL, "TCP ports."),
	TEXT(SECT_KNI, "udp_port", KEY_PORTS, 0, G(kni.udp_port), NULL, "UDP ports."),
	UINT(SECT_KNI, "console_packets_ratelimit", 0, G(kni.console_ratelimit), 0, UINT32_MAX, "0", "packets/s",
		"Limit for remote login traffic; 0: none."),
	UINT(SECT_KNI, "general_packets_ratelimit", 0, G(kni.general_ratelimit), 0, UINT32_MAX, "0", "packets/s",
		"Limit for other traffic to the kernel; 0: none."),
	UINT(SECT_KNI, "kernel_packets_ratelimit", 0, G(kni.kernel_ratelimit), 0, UINT32_MAX, "0", "packets/s",
		"Limit for traffic to the kernel altogether; 0: none."),
	UINT(SECT_KNI, "owner_proc_id", KEY_V2, G(kni.owner_proc_id), 0, CONFIG_MAX_LCORES - 1, NULL, NULL,
		"The worker that serves the kernel's interface.", .def_note = "0; must be given with primary_slim=1"),

	UINT(SECT_BOOT, "hz", 0, G(hz), 1, 1000000, "100", "1/s", "Ticks of the stack's clock."),
	UINT(SECT_BOOT, "physmem", 0, G(physmem), 1048576, UINT64_MAX, "268435456", "bytes",
		"Memory that the stack sizes its tables by."),
	UINT(SECT_BOOT, "fd_reserve", 0, G(fd_reserve), 0, 1048576, "0", NULL,
		"Descriptors below this number are never the stack's."),
	UINT(SECT_BOOT, "memsz_MB", 0, G(memsz_mb), 1, 1 << 24, "256", "MB", "Memory of the page array."),
	UINT(SECT_BOOT, "tcp_ecn", KEY_V2, G(tcp_ecn), 0, 1, "0", NULL, "ECN: 0 off, 1 when the peer asks."),

	{ .section = SECT_STACK, .name = "kernel_coexist", .type = KEY_SWITCH, .flags = KEY_V2, G(kernel_coexist),
		.def = "0", .help = "Sockets in the kernel's stack beside the own ones." },
	BOOL(SECT_STACK, "ring_ipc", KEY_OURS, G(ring_ipc), "0",
		"Socket calls of other processes travel over rings; neither: semaphores."),
	BOOL(SECT_STACK, "polling_ipc", KEY_OURS, G(polling_ipc), "0",
		"Socket calls of other processes wait by polling; neither: semaphores."),
};

const unsigned int config_nb_keys = sizeof(config_keys) / sizeof(config_keys[0]);

const struct config_key *
config_key_find(enum key_section s, const char *name)
{
	const struct config_key *k;

	for (k = config_keys; k < config_keys + config_nb_keys; k++)
		if (k->section == s && (strcmp(k->name, name) == 0 || (k->alias && strcmp(k->alias, name) == 0)))
			return k;
	return NULL;
}

void *
config_base(const struct nonic_config *cfg, enum key_section s, unsigned int index)
{
	struct nonic_config *c = (struct nonic_config *)(uintptr_t)cfg;

	switch (s) {
	case SECT_PORT:
		return &c->port[index];
	case SECT_VLAN:
		return &c->vlan[index];
	case SECT_VDEV:
		return &c->vdev[index];
	case SECT_BOND:
		return &c->bond[index];
	default:
		return c;
	}
}

void
config_section_text(enum key_section s, unsigned int index, char *buf, size_t n)
{
	if (config_sections[s].indexed)
		snprintf(buf, n, "%s%u", config_sections[s].name, index);
	else
		snprintf(buf, n, "%s", config_sections[s].name);
}

#define NEAR_MAX 64 /* longer names have no neighbours */

/* Edits (insert, delete, replace, swap of neighbours) between two names, letters' case apart. */
static unsigned int
edit_distance(const char *a, const char *b)
{
	unsigned int d[3][NEAR_MAX + 1], *two = d[0], *one = d[1], *now = d[2], *t, i, j, v;
	size_t na = strlen(a), nb = strlen(b);

	if (na > NEAR_MAX || nb > NEAR_MAX)
		return NEAR_MAX;
	memset(d, 0, sizeof(d));
	for (j = 0; j <= nb; j++)
		one[j] = j;
	for (i = 1; i <= na; i++) {
		now[0] = i;
		for (j = 1; j <= nb; j++) {
			v = one[j - 1] + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);
			v = one[j] + 1 < v ? one[j] + 1 : v;
			v = now[j - 1] + 1 < v ? now[j - 1] + 1 : v;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < v)
				v = two[j - 2] + 1;
			now[j] = v;
		}
		t = two;
		two = one;
		one = now;
		now = t;
	}
	return one[nb];
}

/* Names farther apart than this are strangers. */
static unsigned int
near_enough(const char *name)
{
	size_t n = strlen(name);

	return n <= 3 ? 1 : n <= 8 ? 2 : (unsigned int)(n / 3 < 6 ? n / 3 : 6);
}

const struct config_key *
config_key_nearest(enum key_section s, const char *name)
{
	const struct config_key *k, *best = NULL;
	unsigned int d, least = near_enough(name) + 1;

	for (k = config_keys; k < config_keys + config_nb_keys; k++) {
		if (s != SECT_COUNT && k->section != s)
			continue;
		d = edit_distance(name, k->name);
		if (d < least) {
			least = d;
			best = k;
		}
	}
	return best;
}

const char *
config_section_nearest(const char *name, char *buf, size_t n)
{
	const struct section_info *si, *best = NULL;
	unsigned int d, least = near_enough(name) + 1;
	char bare[NEAR_MAX + 1];
	size_t len = strlen(name);

	/* Digits at the end are an index: [prot0] is near [portN]. */
	while (len > 0 && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	if (len >= sizeof(bare))
		return NULL;
	memcpy(bare, name, len);
	bare[len] = '\0';
	for (si = config_sections; si < config_sections + SECT_COUNT; si++) {
		d = edit_distance(si->indexed ? bare : name, si->name);
		if (d < least) {
			least = d;
			best = si;
		}
	}
	if (!best)
		return NULL;
	snprintf(buf, n, "[%s%s]", best->name, best->indexed ? "N" : "");
	return buf;
}

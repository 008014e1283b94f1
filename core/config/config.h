/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F-Stack's config.ini, read strictly (CFG-1 .. CFG-8). One table of keys (keys.c) drives parsing, defaults,
 * errors, `nonic check-config` and the generated reference page; this struct is what comes out.
 * Owned by the caller; config_free releases what it points at. No globals; any thread.
 */
#ifndef NONIC_CONFIG_CONFIG_H
#define NONIC_CONFIG_CONFIG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_MAX_PORTS 32
#define CONFIG_MAX_LCORES 128
#define CONFIG_MAX_VLANS 128
#define CONFIG_MAX_VDEVS 32
#define CONFIG_MAX_BONDS 16
#define CONFIG_MAX_VIPS 64
#define CONFIG_MAX_QUEUES 64 /* lcores of one port */
#define CONFIG_MAX_LANES 16 /* workers with graceful_reload=1 */

struct config_lcores {
	uint64_t bits[CONFIG_MAX_LCORES / 64];
};

/* Addresses of a [portN] or [vlanN]; present tells which were given. Network order. */
struct config_addrs {
	bool has_v4, has_v6, has_gateway6;
	uint32_t addr, netmask, broadcast, gateway;
	unsigned int nb_vips;
	uint32_t vip[CONFIG_MAX_VIPS];
	char vip_ifname[16];
	struct in6_addr addr6, gateway6;
	uint8_t prefix_len, vip_prefix_len;
	unsigned int nb_vips6;
	struct in6_addr vip6[CONFIG_MAX_VIPS];
};

struct config_port {
	bool present;             /* has a section */
	char if_name[16];         /* default f-stack-N */
	struct config_addrs a;
	uint16_t mtu;             /* default 1500 */
	struct config_lcores lcores; /* that poll it; default all workers */
	uint16_t lcore_list[CONFIG_MAX_QUEUES]; /* the same in order: queue -> lcore */
	unsigned int nb_lcores;   /* = queues of the port */
	uint16_t slave_ports[CONFIG_MAX_PORTS];
	unsigned int nb_slaves;
	char *ipfw_pr;            /* accepted for F-Stack's files; no effect */
};

struct config_vlan {
	uint16_t id, port;
	struct config_addrs a;
	char *ipfw_pr;
};

enum config_vdev_driver {
	VDEV_VIRTIO_USER, /* F-Stack's only one, and the default */
	VDEV_NET_TAP,
	VDEV_NET_RING,
	VDEV_NET_NULL,
	VDEV_NET_PCAP,
	VDEV_NET_AF_PACKET,
	VDEV_NET_VHOST,
};

struct config_vdev {
	bool present;
	enum config_vdev_driver driver;
	char *path, *args, *mac, *iface;
	uint16_t queues, queue_size;
	bool cq;
};

struct config_bond {
	bool present;
	uint8_t mode, socket_id;
	char *slave, *primary, *mac, *xmit_policy;
	uint32_t lsc_poll_period_ms, up_delay, down_delay;
};

enum config_mbuf_mode { MBUF_LARGE, MBUF_SCATTER };
enum config_port_mode { PORT_CLAIM, PORT_PARITY };
enum config_kni_action { KNI_DEFAULT, KNI_ALLTOKNI, KNI_ALLTOFF };

struct nonic_config {
	char *file;               /* as it was named */

	/* [dpdk] */
	struct config_lcores lcore_mask;
	unsigned int nb_lcores;   /* set bits */
	uint16_t proc_lcore[CONFIG_MAX_LCORES]; /* proc id -> lcore, in ascending order */
	uint32_t channel, memory_mb;
	bool no_huge, promiscuous, numa_on, tso, tx_csum_skip, tx_csum_ip_skip, tx_csum_l4_skip, vlan_strip;
	bool symmetric_rss, lro;
	char *base_virtaddr, *file_prefix, *allow, *extra_eal_args;
	uint16_t port_list[CONFIG_MAX_PORTS];
	unsigned int nb_ports;
	uint16_t vlan_filter[CONFIG_MAX_VLANS];
	unsigned int nb_vlan_filter;
	uint32_t idle_sleep_us, pkt_tx_delay_us;
	uint8_t eal_log_level, log_level;
	char *log_prefix;
	/* [dpdk] of 2.0 (CFG-4) */
	bool thread_mode, graceful_reload, primary_slim, mtu_enable;
	uint32_t reload_udp_idle_ms, reload_heartbeat_timeout_ms, drain_ring_size, primary_slim_idle_sleep_us;
	uint32_t mbuf_low_watermark;
	uint32_t publish_entries;            /* slots of a worker's publish table (PUB-1) */
	uint32_t worker_shutdown_timeout_ms; /* how long an old generation may drain (REL-8) */
	uint16_t max_mtu;
	enum config_mbuf_mode mbuf_mode;
	enum config_port_mode reload_port_mode;
	unsigned int nb_vdevs, nb_bonds;

	/* [pcap] */
	struct {
		bool enable, precision_ns;
		uint32_t snaplen, savelen;
		char *savepath;
	} pcap;

	struct config_port port[CONFIG_MAX_PORTS];   /* by port number */
	struct config_vlan vlan[CONFIG_MAX_VLANS];
	unsigned int nb_vlans;
	struct config_vdev vdev[CONFIG_MAX_VDEVS];
	struct config_bond bond[CONFIG_MAX_BONDS];

	/* [rss_check] */
	struct {
		bool enable, recheck, thash_adjust;
		char *rss_tbl;
	} rss_check;

	/* [kni] */
	struct {
		bool enable;
		bool accept;           /* method=accept; else reject */
		enum config_kni_action action;
		char *tcp_port, *udp_port; /* lists such as 80,443,8000-8100 */
		uint32_t console_ratelimit, general_ratelimit, kernel_ratelimit;
		uint16_t owner_proc_id;
		bool has_owner;
	} kni;

	/* [freebsd.boot], [freebsd.sysctl], [stack] */
	uint32_t hz, fd_reserve, memsz_mb;
	uint64_t physmem;
	uint8_t tcp_ecn;
	bool kernel_coexist;
	bool ring_ipc, polling_ipc; /* [stack]: how socket calls travel; neither: semaphores */
	struct config_pair {       /* [freebsd.sysctl] and unlisted [freebsd.boot] keys, in file order */
		char *section, *key, *value;
		int line;
	} *pairs;
	unsigned int nb_pairs;

	/* command line (CFG-1) */
	int proc_id;               /* --proc-id; -1 when not given */
	enum config_proc_type { PROC_AUTO, PROC_PRIMARY, PROC_SECONDARY } proc_type;
};

/* What went wrong, or looks odd. text is one whole message: "FILE:LINE: [section] key: value ...: accepted ...". */
struct config_message {
	bool error;                /* else a warning */
	int line;                  /* 0: of the file as a whole */
	char *text;
};
struct config_messages {
	struct config_message *m;
	unsigned int n, errors;
};

enum config_flags { CONFIG_STRICT = 1 /* unknown sections and keys are errors (CFG-3) */ };

/*
 * Reads file into *cfg (defaults included), runs the cross-field rules (CFG-5), collects every message in file
 * order (those of the file as a whole last). 0; -EINVAL when there was any error (messages say what); -ENOENT,
 * -EACCES, -EISDIR ... for the file (one message); -EFBIG over 1 MiB; -ENOMEM. *cfg and *msgs need no
 * initialisation and are to be freed in every case.
 */
int config_load(const char *file, unsigned int flags, struct nonic_config *cfg, struct config_messages *msgs);
/* The same from memory; name stands for the file in messages. text needs no terminating zero. */
int config_load_mem(const char *name, const char *text, size_t len, unsigned int flags,
	struct nonic_config *cfg, struct config_messages *msgs);
/* Releases what *cfg points at and zeroes it. */
void config_free(struct nonic_config *cfg);
void config_messages_free(struct config_messages *msgs);

/* -c/--conf FILE, -p/--proc-id N, -t/--proc-type primary|secondary|auto, each also as --x=VALUE and -xVALUE. Fills the
 * three and leaves *rest at the first argument that is not ours (behind "--", if that ended them); argv[0] is the program.
 * 0; -EINVAL with a message for a bad value or a missing one; -ENOMEM. *msgs is to be freed in every case. */
struct config_args {
	const char *conf;          /* default "config.ini"; points into argv */
	int proc_id;               /* -1 when not given */
	enum config_proc_type proc_type;
	int rest;
};
int config_args_parse(int argc, char *const argv[], struct config_args *out, struct config_messages *msgs);
/*
 * Stores the command line's process id and type in *cfg and checks them against it: the id names a lcore of lcore_mask,
 * thread_mode has no secondaries. *msgs is what config_load filled (or zeroed); messages are appended.
 * 0, -EINVAL with a message, -ENOMEM.
 */
int config_apply_args(struct nonic_config *cfg, const struct config_args *args, struct config_messages *msgs);

/* With graceful_reload=1 a worker's side is that of its generation (lowest bit); both sides run at once, so their lcore ids differ. */
enum config_eal_role { CONFIG_EAL_WORKER, CONFIG_EAL_PRIMARY, CONFIG_EAL_OBSERVER, CONFIG_EAL_WORKER_SIDE1 };
/*
 * Memory that a primary with graceful_reload=1 takes at its start where [dpdk] memory names none. Only what is taken then stays in
 * the shared heap for good: a worker that starts later finds room in it. More would have to be asked for, and that
 * waits 5 s for the answer of every process, one that stands still included.
 */
#define CONFIG_RESERVE_MB 32u
/*
 * The EAL's argument vector for one process of this configuration: program, lcore(s), channels, memory, process type,
 * --file-prefix, devices (allow list, vdevs and bonds: CFG-8; --no-pci where vdevs are the only ports), log level, and
 * extra_eal_args at the end (split at blanks; "..." and '...' keep blanks). The primary gets vdevs and bonds; a
 * secondary finds them. Pool caches are indexed by lcore id, so every process has an id of its own, whatever its CPU: 0 the
 * primary (0 and following with thread_mode), 1 + proc_id a worker, 64 + proc_id one of side 1, 127 an observer (the master is one),
 * which touches no pool. proc_id as in proc_lcore. 0 with *argv (NULL-terminated; config_eal_args_free) and *argc; -EINVAL
 * (proc_id without a lcore), -ENOMEM.
 */
int config_eal_args(const struct nonic_config *cfg, const char *program, unsigned int proc_id,
	enum config_eal_role role, char ***argv, int *argc);
void config_eal_args_free(char **argv);

/*
 * SHA-256 over the canonical text of the device-side keys (CFG-6): what the primary has made of the configuration and
 * a reload can not change. Equal configurations have equal digests however the file is written.
 */
#define CONFIG_DIGEST_LEN 32
void config_device_digest(const struct nonic_config *cfg, uint8_t digest[CONFIG_DIGEST_LEN]);
/* Does a differ from b in a device-side key? Then true, and name (size n) is the first such key, "[dpdk] max_mtu". */
bool config_device_diff(const struct nonic_config *a, const struct nonic_config *b, char *name, size_t n);
/* The same over every key and pair. */
bool config_diff(const struct nonic_config *a, const struct nonic_config *b, char *name, size_t n);

/* A sink of lines; text has no newline and is valid during the call. */
struct config_out { void (*line)(void *ctx, const char *text); void *ctx; };
/* Prints the effective configuration as an INI file that loads to the same struct (pairs' line numbers apart). */
void config_print(const struct nonic_config *cfg, const struct config_out *out);
/* The reference page (Markdown) from the table of keys. */
void config_reference(const struct config_out *out);

/* Bits of a lcore set. */
static inline bool
config_lcore_isset(const struct config_lcores *l, unsigned int i)
{
	return i < CONFIG_MAX_LCORES && (l->bits[i / 64] >> (i % 64) & 1);
}

/* The queue of port that proc_id's lcore polls, or -1: none. */
static inline int
config_port_queue(const struct nonic_config *cfg, uint16_t port, unsigned int proc_id)
{
	unsigned int i;

	if (port >= CONFIG_MAX_PORTS || proc_id >= cfg->nb_lcores)
		return -1;
	for (i = 0; i < cfg->port[port].nb_lcores; i++)
		if (cfg->port[port].lcore_list[i] == cfg->proc_lcore[proc_id])
			return (int)i;
	return -1;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of nonic doctor. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../runtime/layout.h"

#define MEMBERS 64u /* of one test bed */
#define TAP_FIXED_MAC "00:64:74:61:70:" /* of net_tap's mac=fixed; the last byte counts the ports */

void
doctor_add(struct doctor *d, enum doctor_level level, const char *id, const char *fix, const char *fmt, ...)
{
	struct doctor_finding *f;
	va_list ap;

	if (d->n == DOCTOR_MAX) { /* the last one stands for all that there is no room for, and is as bad as the worst of them */
		f = &d->f[DOCTOR_MAX - 1];
		f->level = level > f->level ? level : f->level;
		f->id = "more";
		snprintf(f->text, sizeof(f->text), "more than %u findings: the rest is not told", DOCTOR_MAX - 1);
		snprintf(f->fix, sizeof(f->fix), "mend these, and ask again");
		return;
	}
	f = &d->f[d->n++];
	f->level = level;
	f->id = id;
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

static void
check_user(struct doctor *d)
{
	if (d->m->is_root)
		doctor_add(d, DOCTOR_OK, "user", "", "running as root");
	else
		doctor_add(d, DOCTOR_WARN, "user", "run it with sudo", "not root: hugepages, TAP ports and devices may "
			"be out of reach");
}

static void
check_hugepages(struct doctor *d, const struct nonic_config *cfg)
{
	struct machine_hugepages h;

	machine_hugepages(d->m, &h);
	if (h.total == 0)
		doctor_add(d, DOCTOR_FAIL, "hugepages", "sysctl -w vm.nr_hugepages=512", "no hugepages are reserved; "
			"primary and workers share memory through them");
	else if (h.free == 0)
		doctor_add(d, DOCTOR_FAIL, "hugepages", "sysctl -w vm.nr_hugepages=1024, or remove stale files from the "
			"hugetlbfs mount", "all %lu hugepages are in use", h.total);
	else if (cfg != NULL && cfg->memory_mb > h.free_mb)
		doctor_add(d, DOCTOR_FAIL, "hugepages", "sysctl -w vm.nr_hugepages=1024, or lower [dpdk] memory",
			"[dpdk] memory=%u, but only %lu MB of hugepages are free", cfg->memory_mb, h.free_mb);
	else
		doctor_add(d, DOCTOR_OK, "hugepages", "", "%lu of %lu free (%lu MB)", h.free, h.total, h.free_mb);
	if (h.mount[0] == '\0')
		doctor_add(d, DOCTOR_FAIL, "hugetlbfs", "mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages",
			"no hugetlbfs is mounted");
	else if (!h.writable)
		doctor_add(d, DOCTOR_FAIL, "hugetlbfs", "run it with sudo", "this user can not write to %s", h.mount);
	else
		doctor_add(d, DOCTOR_OK, "hugetlbfs", "", "mounted at %s", h.mount);
}

static bool
has_vdev(const struct nonic_config *cfg, enum config_vdev_driver driver)
{
	for (unsigned int i = 0; i < CONFIG_MAX_VDEVS; i++)
		if (cfg->vdev[i].present && cfg->vdev[i].driver == driver)
			return true;
	return false;
}

static void
check_tap(struct doctor *d, const struct nonic_config *cfg)
{
	bool wanted = cfg != NULL && has_vdev(cfg, VDEV_NET_TAP);

	if (!machine_has_tun(d->m))
		doctor_add(d, wanted ? DOCTOR_FAIL : DOCTOR_WARN, "tap", "modprobe tun", "/dev/net/tun is missing or closed to "
			"this user: TAP ports can not be made");
	else if (wanted && !d->m->is_root)
		doctor_add(d, DOCTOR_FAIL, "tap", "run it with sudo", "a net_tap port needs root (CAP_NET_ADMIN)");
	else
		doctor_add(d, DOCTOR_OK, "tap", "", "/dev/net/tun is there");
}

/* The value of key in a vdev's args ("iface=dtap0,mac=fixed"), "" when it is not there. */
static void
vdev_arg(const char *args, const char *key, char *out, size_t n)
{
	size_t len = strlen(key);

	out[0] = '\0';
	for (; args != NULL && *args != '\0'; args += strcspn(args, ","), args += *args == ',')
		if (strncmp(args, key, len) == 0 && args[len] == '=')
			snprintf(out, n, "%.*s", (int)strcspn(args + len + 1, ","), args + len + 1);
}

/* net_tap gives its own MAC to the kernel's interface: with one MAC at both ends nothing is answered. */
static void
check_tap_macs(struct doctor *d, const struct nonic_config *cfg)
{
	char name[16], want[32], have[32], fix[256];

	for (unsigned int i = 0; i < CONFIG_MAX_VDEVS; i++) {
		const struct config_vdev *v = &cfg->vdev[i];

		if (!v->present || v->driver != VDEV_NET_TAP)
			continue;
		vdev_arg(v->args, "iface", name, sizeof(name));
		vdev_arg(v->args, "mac", want, sizeof(want));
		if (strcmp(want, "fixed") == 0)
			strcpy(want, TAP_FIXED_MAC);
		if (name[0] == '\0' || want[0] == '\0' || !machine_if_mac(d->m, name, have, sizeof(have)) ||
		    strncasecmp(have, want, strlen(want)) != 0)
			continue;
		snprintf(fix, sizeof(fix), "ip link set %s down; ip link set %s address 02:00:00:00:00:01; ip link set %s up; "
			"then start its workers again", name, name, name);
		doctor_add(d, DOCTOR_WARN, "tap-mac", fix, "the kernel's side of %s has the port's own MAC %s: neither side "
			"hears the other", name, have);
	}
}

/* The EAL makes /tmp/dpdk for its user alone: the second ordinary user of a machine needs another place. */
static bool
check_runtime_dir(struct doctor *d)
{
	char dir[256];

	if (!machine_runtime_closed(d->m, dir, sizeof(dir)))
		return true;
	doctor_add(d, DOCTOR_FAIL, "runtime", "mkdir -p -m 700 ~/.nonic; export XDG_RUNTIME_DIR=~/.nonic", "DPDK's runtime "
		"directory %s belongs to another user", dir);
	return false;
}

/* Adds " PID" of each. */
static void
pids(const struct machine_member *x, unsigned int n, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < n && len + 12 < size; i++)
		len += snprintf(buf + len, size - len, " %d", (int)x[i].pid);
}

/* One test bed: processes without their primary, workers without their master. conf: "" where it is not known. */
static void
check_bed(struct doctor *d, const char *prefix, const char *conf, bool generations)
{
	struct machine_member x[MEMBERS];
	unsigned int n = machine_members(d->m, prefix, x, MEMBERS), masters = 0, workers = 0;
	char list[200], fix[320];
	bool stale;
	pid_t primary = machine_primary(d->m, prefix, &stale);

	for (unsigned int i = 0; i < n; i++) {
		masters += x[i].role == MACHINE_MASTER;
		workers += x[i].role == MACHINE_WORKER;
		generations |= x[i].generation;
		if (x[i].role == MACHINE_WORKER && conf[0] == '\0')
			conf = x[i].conf;
	}
	if (primary == 0 && n > 0) {
		pids(x, n, list, sizeof(list));
		snprintf(fix, sizeof(fix), "nonic stop --conf %.64s, or kill%s; then start anew", conf[0] != '\0' ? conf : "FILE", list);
		doctor_add(d, DOCTOR_WARN, "orphans", fix, "the primary of file prefix %.64s is gone, but %u process%s of it still "
			"run%s: nothing can join them", prefix, n, n == 1 ? "" : "es", n == 1 ? "s" : "");
	} else if (primary != 0 && generations && masters == 0) {
		snprintf(fix, sizeof(fix), "nonic serve --conf %.128s (it takes them over)", conf[0] != '\0' ? conf : "FILE");
		doctor_add(d, DOCTOR_WARN, "master", fix, "file prefix %.64s has no master, and %u worker%s: nobody starts a dead one "
			"again, and no reload can begin", prefix, workers, workers == 1 ? "" : "s");
	} else if (primary != 0 && generations)
		doctor_add(d, DOCTOR_OK, "master", "", "file prefix %.64s has a master and %u worker%s", prefix, workers,
			workers == 1 ? "" : "s");
}

struct beds {
	struct doctor *d;
	const struct nonic_config *cfg;
};

/* What cfg says is known of its own bed only. */
static void
check_prefix(void *ctx, const char *prefix)
{
	const struct beds *b = ctx;
	char own[256] = "";

	if (b->cfg != NULL)
		layout_file_prefix(b->cfg, own, sizeof(own));
	if (strcmp(prefix, own) == 0)
		check_bed(b->d, prefix, b->cfg->file, b->cfg->graceful_reload);
	else
		check_bed(b->d, prefix, "", false);
}

static void
check_pages(struct doctor *d)
{
	char list[1024], mount[128], fix[320];

	machine_stale_pages(d->m, mount, sizeof(mount), list, sizeof(list));
	snprintf(fix, sizeof(fix), "rm %s/PREFIXmap_* (for each prefix named); the next 'nonic primary' does it too", mount);
	if (list[0] != '\0')
		doctor_add(d, DOCTOR_WARN, "pages", fix, "hugepages of test beds that are gone: %s", list);
}

static void
check_runtime(struct doctor *d, const struct nonic_config *cfg)
{
	char stale[256], dir[512], fix[320], prefix[256];
	bool is_stale;
	pid_t pid;

	if (!check_runtime_dir(d))
		return;
	machine_stale(d->m, stale, sizeof(stale));
	machine_runtime_dir(d->m, "PREFIX", dir, sizeof(dir));
	snprintf(fix, sizeof(fix), "rm -r %.200s /dev/hugepages/PREFIXmap_* (for each prefix named)", dir);
	if (stale[0] != '\0')
		doctor_add(d, DOCTOR_WARN, "runtime", fix, "runtime files of primaries that are gone: %s", stale);
	else
		doctor_add(d, DOCTOR_OK, "runtime", "", "no stale runtime files");
	machine_prefixes(d->m, check_prefix, &(struct beds){ d, cfg });
	check_pages(d);
	if (cfg == NULL)
		return;
	layout_file_prefix(cfg, prefix, sizeof(prefix));
	pid = machine_primary(d->m, prefix, &is_stale);
	if (pid > 0)
		doctor_add(d, DOCTOR_OK, "primary", "", "a primary of file prefix %s runs (pid %d)", prefix, (int)pid);
}

static void
check_lcores(struct doctor *d, const struct nonic_config *cfg)
{
	unsigned int have = machine_cpus(d->m);

	if (have == 0)
		return;
	for (unsigned int i = 0; i < cfg->nb_lcores; i++)
		if (!machine_cpu_online(d->m, cfg->proc_lcore[i])) {
			doctor_add(d, DOCTOR_FAIL, "lcores", "edit [dpdk] lcore_mask", "lcore_mask names CPU %u, but the %u CPUs "
				"online do not include it", cfg->proc_lcore[i], have);
			return;
		}
	doctor_add(d, DOCTOR_OK, "lcores", "", "%u worker%s on CPUs that are online", layout_nb_workers(cfg),
		layout_nb_workers(cfg) == 1 ? "" : "s");
}

/* The vdev behind a port: vdevs become ports in their order when there is nothing else. */
static const struct config_vdev *
vdev_of_port(const struct nonic_config *cfg, unsigned int port)
{
	if (cfg->allow != NULL && cfg->allow[0] != '\0')
		return NULL;
	for (unsigned int i = 0; i < CONFIG_MAX_VDEVS; i++)
		if (cfg->vdev[i].present && port-- == 0)
			return &cfg->vdev[i];
	return NULL;
}

static void
check_ports(struct doctor *d, const struct nonic_config *cfg)
{
	for (unsigned int i = 0; i < cfg->nb_ports; i++) {
		unsigned int port = cfg->port_list[i], queues = cfg->port[port].nb_lcores;
		const struct config_port *p = &cfg->port[port];
		const struct config_vdev *v = vdev_of_port(cfg, port);
		bool vlan = false;

		for (unsigned int k = 0; k < cfg->nb_vlans; k++)
			vlan |= cfg->vlan[k].port == port;
		if (!p->a.has_v4 && !p->a.has_v6 && !vlan)
			doctor_add(d, DOCTOR_WARN, "addresses", "set addr and netmask, or addr6, in its [portN] section",
				"port %u has no address: nothing can talk to it", port);
		if (queues == 0)
			doctor_add(d, DOCTOR_FAIL, "queues", "edit its lcore_list", "port %u: its lcore_list names no worker's "
				"lcore", port);
		if (v == NULL || queues < 2)
			continue;
		if (v->driver == VDEV_VIRTIO_USER && v->queues < queues)
			doctor_add(d, DOCTOR_FAIL, "queues", "set queues in its [vdevN] section", "port %u: %u workers poll "
				"it, but its virtio_user device has %u queues", port, queues, v->queues);
		else if (v->driver != VDEV_VIRTIO_USER)
			doctor_add(d, DOCTOR_WARN, "rss", "list one lcore in its lcore_list, or use a packet dispatcher",
				"port %u has no RSS, but %u workers poll it: all of its traffic reaches the first", port,
				queues);
	}
}

static void
check_devices(struct doctor *d, const struct nonic_config *cfg)
{
	char list[2048], *addr, *save, driver[64], fix[128];

	if (cfg->allow == NULL || cfg->allow[0] == '\0') {
		if (cfg->nb_vdevs == 0)
			doctor_add(d, DOCTOR_WARN, "devices", "list PCI addresses in [dpdk] allow, or add [vdev0]",
				"neither allow nor a [vdevN] section: every PCI device bound to a DPDK driver is taken");
		return;
	}
	snprintf(list, sizeof(list), "%s", cfg->allow);
	for (addr = strtok_r(list, ", ", &save); addr != NULL; addr = strtok_r(NULL, ", ", &save)) {
		if (!machine_pci_driver(d->m, addr, driver, sizeof(driver))) {
			doctor_add(d, DOCTOR_FAIL, "devices", "lspci -D lists what is there", "there is no PCI device %s", addr);
			continue;
		}
		snprintf(fix, sizeof(fix), "dpdk-devbind.py --bind=vfio-pci %.64s", addr);
		if (strcmp(driver, "vfio-pci") != 0 && strcmp(driver, "igb_uio") != 0 &&
		    strcmp(driver, "uio_pci_generic") != 0 && strcmp(driver, "mlx5_core") != 0)
			doctor_add(d, DOCTOR_FAIL, "devices", fix, "device %s is bound to %s, not to a DPDK driver", addr,
				driver[0] != '\0' ? driver : "no driver");
		else
			doctor_add(d, DOCTOR_OK, "devices", "", "device %s is bound to %s", addr, driver);
	}
}

/* What only one process can use. */
static void
check_shared(struct doctor *d, const struct nonic_config *cfg)
{
	static const char *const lonely[] = { "--in-memory", "--no-shconf", "--no-huge" };

	for (unsigned int i = 0; cfg->extra_eal_args != NULL && i < sizeof(lonely) / sizeof(lonely[0]); i++)
		if (strstr(cfg->extra_eal_args, lonely[i]) != NULL)
			doctor_add(d, DOCTOR_FAIL, "shared", "remove it from [dpdk] extra_eal_args, or use 'nonic serve --alone'",
				"[dpdk] extra_eal_args has %s: no second process can attach", lonely[i]);
	if (cfg->no_huge)
		doctor_add(d, DOCTOR_FAIL, "no_huge", "remove no_huge=1 from [dpdk], or use 'nonic serve --alone'", "[dpdk] "
			"no_huge=1: without hugepages no second process can attach");
}

static void
check_config(struct doctor *d, const struct nonic_config *cfg)
{
	check_lcores(d, cfg);
	check_devices(d, cfg);
	check_ports(d, cfg);
}

void
doctor_run(struct doctor *d, const struct machine *m, const struct nonic_config *cfg)
{
	d->m = m;
	d->n = 0;
	check_user(d);
	check_hugepages(d, cfg);
	check_tap(d, cfg);
	check_runtime(d, cfg);
	if (cfg == NULL)
		return;
	check_shared(d, cfg);
	check_config(d, cfg);
	check_tap_macs(d, cfg);
}

void
doctor_preflight(struct doctor *d, const struct machine *m, const struct nonic_config *cfg, bool alone)
{
	d->m = m;
	d->n = 0;
	check_runtime_dir(d);
	if (!alone)
		check_shared(d, cfg);
	check_config(d, cfg);
	if (!alone || !cfg->no_huge)
		check_hugepages(d, cfg);
	check_tap(d, cfg);
}

const struct doctor_finding *
doctor_first_failure(const struct doctor *d)
{
	for (unsigned int i = 0; i < d->n; i++)
		if (d->f[i].level == DOCTOR_FAIL)
			return &d->f[i];
	return NULL;
}

bool
doctor_failed(const struct doctor *d)
{
	return doctor_first_failure(d) != NULL;
}

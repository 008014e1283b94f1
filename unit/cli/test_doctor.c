/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor on machines made of files in a directory: each thing that can be missing, and the command that mends it. */
#include "capture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/cli/doctor.h"

#define DPDK "[dpdk]\nlcore_mask=3\nport_list=0\nnb_vdev=1\nfile_prefix=t\n"
#define PORT "[port0]\naddr=192.0.2.2\nnetmask=255.255.255.0\nbroadcast=192.0.2.255\ngateway=192.0.2.1\n"

static char root[64];
static struct machine m;
static struct doctor d;

static void
put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
gone(const char *path)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s%s'", root, path);
	assert_int_equal(system(cmd), 0);
}

/* A machine that has everything. */
static int
setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/nonic-unit-XXXXXX");
	assert_non_null(mkdtemp(root));
	m = (struct machine){ .root = root, .is_root = true };
	put("/proc/mounts", "proc /proc proc rw 0 0\nnodev /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "500\n");
	put("/sys/devices/system/cpu/online", "0-3,8\n");
	put("/dev/net/tun", "");
	put("/dev/hugepages/keep", "");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	gone("");
	return 0;
}

static const struct doctor_finding *
find(const char *id)
{
	for (unsigned int i = 0; i < d.n; i++)
		if (strcmp(d.f[i].id, id) == 0)
			return &d.f[i];
	return NULL;
}

static void
look(const char *text)
{
	struct config_messages msgs;
	struct nonic_config cfg;

	if (text == NULL) {
		doctor_run(&d, &m, NULL);
	} else {
		assert_int_equal(config_load_mem("t.ini", text, strlen(text), 0, &cfg, &msgs), 0);
		doctor_run(&d, &m, &cfg);
		config_messages_free(&msgs);
		config_free(&cfg);
	}
	/* whoever is told what is missing is told what to do */
	for (unsigned int i = 0; i < d.n; i++)
		assert_true((d.f[i].level == DOCTOR_OK) == (d.f[i].fix[0] == '\0'));
}

static void
expect(const char *id, enum doctor_level level, const char *says, const char *fix)
{
	const struct doctor_finding *f = find(id);

	if (f == NULL)
		fail_msg("no finding '%s'", id);
	assert_int_equal(f->level, level);
	if (strstr(f->text, says) == NULL || strstr(f->fix, fix) == NULL)
		fail_msg("%s: '%s' ('%s')", id, f->text, f->fix);
}

/* TST-6 */
static void
test_machine_that_has_everything(void **state)
{
	(void)state;
	look(NULL);
	assert_false(doctor_failed(&d));
	expect("hugepages", DOCTOR_OK, "500 of 512 free (1000 MB)", "");
	expect("hugetlbfs", DOCTOR_OK, "/dev/hugepages", "");
	look(DPDK "[vdev0]\ndriver=net_tap\n" PORT "lcore_list=0\n");
	assert_false(doctor_failed(&d));
	expect("lcores", DOCTOR_OK, "2 workers", "");
}

/* TST-6 */
static void
test_hugepages_missing_used_or_too_few(void **state)
{
	(void)state;
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "0\n");
	look(NULL);
	expect("hugepages", DOCTOR_FAIL, "all 512 hugepages are in use", "sysctl -w vm.nr_hugepages");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
	look(NULL);
	expect("hugepages", DOCTOR_FAIL, "no hugepages are reserved", "sysctl -w vm.nr_hugepages=512");
	gone("/sys/kernel");
	look(NULL);
	expect("hugepages", DOCTOR_FAIL, "no hugepages are reserved", "sysctl");
	setup(state);
	look("[dpdk]\nlcore_mask=1\nport_list=0\nnb_vdev=1\nmemory=2000\n[vdev0]\ndriver=net_null\n" PORT);
	expect("hugepages", DOCTOR_FAIL, "memory=2000, but only 1000 MB", "lower [dpdk] memory");
}

/* TST-6 */
static void
test_mount_missing_or_closed(void **state)
{
	(void)state;
	put("/proc/mounts", "proc /proc proc rw 0 0\n");
	look(NULL);
	expect("hugetlbfs", DOCTOR_FAIL, "no hugetlbfs is mounted", "mount -t hugetlbfs");
	gone("/proc/mounts");
	look(NULL);
	expect("hugetlbfs", DOCTOR_FAIL, "no hugetlbfs", "mount -t hugetlbfs");
	put("/proc/mounts", "nodev /mnt/huge hugetlbfs rw 0 0\n"); /* that directory is not there */
	look(NULL);
	expect("hugetlbfs", DOCTOR_FAIL, "can not write to /mnt/huge", "sudo");
}

/* TST-6 */
static void
test_tap_and_root(void **state)
{
	(void)state;
	m.is_root = false;
	look(DPDK "[vdev0]\ndriver=net_tap\n" PORT "lcore_list=0\n");
	expect("user", DOCTOR_WARN, "not root", "sudo");
	expect("tap", DOCTOR_FAIL, "needs root", "sudo");
	gone("/dev/net");
	look(NULL);
	expect("tap", DOCTOR_WARN, "/dev/net/tun is missing", "modprobe tun");
	m.is_root = true;
	look(DPDK "[vdev0]\ndriver=net_tap\n" PORT "lcore_list=0\n");
	expect("tap", DOCTOR_FAIL, "/dev/net/tun is missing", "modprobe tun");
}

/* TST-6 */
static void
test_tap_with_one_mac_at_both_ends(void **state)
{
	(void)state;
	put("/sys/class/net/dtap0/address", "02:00:00:00:00:aa\n");
	look(DPDK "[vdev0]\ndriver=net_tap\nargs=iface=dtap0,mac=02:00:00:00:00:AA\n" PORT);
	expect("tap-mac", DOCTOR_WARN, "kernel's side of dtap0", "ip link set dtap0 down; ip link set dtap0 address");
	look(DPDK "[vdev0]\ndriver=net_tap\nargs=mac=02:00:00:00:00:bb,iface=dtap0\n" PORT);
	assert_null(find("tap-mac"));
	look(DPDK "[vdev0]\ndriver=net_tap\nargs=iface=dtap0\n" PORT);
	assert_null(find("tap-mac"));
	look(DPDK "[vdev0]\ndriver=net_tap\nargs=iface=dtap1,mac=fixed\n" PORT);
	assert_null(find("tap-mac"));
	look(DPDK "[vdev0]\ndriver=net_tap\nargs=iface=../net/dtap0,mac=02:00:00:00:00:aa\n" PORT);
	assert_null(find("tap-mac"));
	look(DPDK "[vdev0]\ndriver=net_tap\n" PORT);
	assert_null(find("tap-mac"));
	put("/sys/class/net/dtap0/address", "00:64:74:61:70:31\n");
	look(DPDK "[vdev0]\ndriver=net_tap\nargs=iface=dtap0,mac=fixed\n" PORT);
	expect("tap-mac", DOCTOR_WARN, "own MAC 00:64:74:61:70:31", "start its workers again");
	assert_false(doctor_failed(&d));
}

/* TST-6 */
static void
test_eal_arguments_that_keep_others_out(void **state)
{
	(void)state;
	look(DPDK "extra_eal_args=--in-memory\n[vdev0]\ndriver=net_null\n" PORT);
	expect("shared", DOCTOR_FAIL, "extra_eal_args has --in-memory: no second process", "--alone");
	look(DPDK "extra_eal_args=-v --no-shconf\n[vdev0]\ndriver=net_null\n" PORT);
	expect("shared", DOCTOR_FAIL, "has --no-shconf", "extra_eal_args");
	look(DPDK "extra_eal_args=--legacy-mem\n[vdev0]\ndriver=net_null\n" PORT);
	assert_null(find("shared"));
}

/* TST-6 */
static void
test_lcores_queues_rss_addresses(void **state)
{
	(void)state;
	look("[dpdk]\nlcore_mask=11\nport_list=0\nnb_vdev=1\n[vdev0]\ndriver=net_ring\n" PORT);
	expect("lcores", DOCTOR_FAIL, "names CPU 4, but the 5 CPUs", "lcore_mask");
	expect("rss", DOCTOR_WARN, "port 0 has no RSS, but 2 workers", "packet dispatcher");
	put("/sys/devices/system/cpu/online", "0,2\n");
	look(DPDK "[vdev0]\npath=/tmp/x\nqueues=1\n" PORT);
	expect("lcores", DOCTOR_FAIL, "names CPU 1", "lcore_mask");
	expect("queues", DOCTOR_FAIL, "has 1 queues", "[vdevN]");
	gone("/sys/devices/system/cpu/online");
	look("[dpdk]\nlcore_mask=1\nport_list=0\nno_huge=1\n" PORT);
	assert_null(find("lcores"));
	expect("devices", DOCTOR_WARN, "neither allow nor a [vdevN]", "[dpdk] allow");
	expect("no_huge", DOCTOR_FAIL, "no second process can attach", "--alone");
}

/* TST-6 */
static void
test_port_without_address_or_queue(void **state)
{
	const char *text = DPDK "[vdev0]\ndriver=net_ring\n" PORT;
	struct config_messages msgs;
	struct nonic_config cfg;

	(void)state;
	assert_int_equal(config_load_mem("t.ini", text, strlen(text), 0, &cfg, &msgs), 0);
	cfg.port[0].a.has_v4 = false;
	cfg.port[0].nb_lcores = 0;
	doctor_run(&d, &m, &cfg);
	expect("addresses", DOCTOR_WARN, "port 0 has no address", "addr and netmask");
	expect("queues", DOCTOR_FAIL, "names no worker's", "lcore_list");
	config_messages_free(&msgs);
	config_free(&cfg);
}

/* TST-6 */
static void
test_pci_devices(void **state)
{
	char full[256], link[256];

	(void)state;
	look("[dpdk]\nlcore_mask=1\nport_list=0\nallow=0000:01:00.0\n" PORT);
	expect("devices", DOCTOR_FAIL, "no PCI device 0000:01:00.0", "lspci");
	put("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n");
	look("[dpdk]\nlcore_mask=1\nport_list=0\nallow=01:00.0\n" PORT);
	expect("devices", DOCTOR_FAIL, "bound to no driver", "dpdk-devbind.py --bind=vfio-pci 01:00.0");
	snprintf(full, sizeof(full), "%s/sys/bus/pci/devices/0000:01:00.0/driver", root);
	assert_int_equal(symlink("../../drivers/ixgbe", full), 0);
	look("[dpdk]\nlcore_mask=1\nport_list=0\nallow=0000:01:00.0\n" PORT);
	expect("devices", DOCTOR_FAIL, "bound to ixgbe", "dpdk-devbind.py");
	snprintf(link, sizeof(link), "/drivers/vfio-pci");
	unlink(full);
	assert_int_equal(symlink(link, full), 0);
	look("[dpdk]\nlcore_mask=1\nport_list=0\nallow=0000:01:00.0\n" PORT);
	expect("devices", DOCTOR_OK, "bound to vfio-pci", "");
}

/* A child that holds a primary's lock until it is killed. */
static pid_t
lock_holder(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char full[256], go;
	int fd[2];
	pid_t pid;

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (pid == 0) {
		int f = open(full, O_RDWR);

		if (f >= 0 && fcntl(f, F_SETLK, &lock) == 0 && write(fd[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(fd[0], &go, 1), 1);
	close(fd[0]);
	close(fd[1]);
	return pid;
}

/* CFG-8: a suspended process is told by its state, whatever its program's name. */
static void
test_suspended_processes(void **state)
{
	(void)state;
	put("/proc/5/stat", "5 (a) T b) S 1 5 5 0\n");
	put("/proc/6/stat", "6 (nonic-dpdk) T 1 6 6 0\n");
	put("/proc/7/stat", "7 (nonic-dpdk) t 1 7 7 0\n");
	put("/proc/8/stat", "8 nothing");
	assert_false(machine_suspended(&m, 5));
	assert_true(machine_suspended(&m, 6));
	assert_true(machine_suspended(&m, 7));
	assert_false(machine_suspended(&m, 8));
	assert_false(machine_suspended(&m, 9));
	assert_false(machine_suspended(&m, 0));
	assert_false(machine_suspended(&m, -1));
}

/* TST-6, CFG-8 */
static void
test_runtime_files_live_and_stale(void **state)
{
	char path[512];
	bool stale;
	pid_t pid;

	(void)state;
	assert_int_equal(machine_primary(&m, "container-t", &stale), 0);
	assert_false(stale);
	put("/var/run/dpdk/container-t/config", "x");
	put("/var/run/dpdk/container-t/fbarray", "x");
	put("/dev/hugepages/container-tmap_0", "x");
	look(NULL);
	expect("runtime", DOCTOR_WARN, "gone: container-t", "rm -r /var/run/dpdk/PREFIX");
	pid = lock_holder("/var/run/dpdk/container-t/config");
	assert_int_equal(machine_primary(&m, "container-t", &stale), pid);
	look(DPDK "[vdev0]\ndriver=net_null\n" PORT "lcore_list=0\n");
	expect("runtime", DOCTOR_OK, "no stale", "");
	expect("primary", DOCTOR_OK, "file prefix container-t runs", "");
	machine_clean(&m, "container-t"); /* not while it lives */
	assert_int_equal(machine_primary(&m, "container-t", &stale), pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	machine_clean(&m, "container-t");
	assert_int_equal(machine_primary(&m, "container-t", &stale), 0);
	assert_false(stale);
	snprintf(path, sizeof(path), "%s/dev/hugepages/container-tmap_0", root);
	assert_int_not_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/dev/hugepages/keep", root);
	assert_int_equal(access(path, F_OK), 0);
}

/* A live process of prefix container-t, as /proc and its EAL tell; words end with a blank each. */
static void
put_member(int pid, const char *words)
{
	char path[128], text[256], *p;
	int fd;

	snprintf(path, sizeof(path), "/var/run/dpdk/container-t/mp_socket_%d_7f", pid);
	put(path, "");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	put(path, "00400000-0048 r-xp 00000000 08:02 135 /bin/x\n7f00-7f10 rw-s 0 00:18 24 /run/dpdk/container-t/fbarray_memzone\n");
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	put(path, "");
	snprintf(path, sizeof(path), "%s/proc/%d/cmdline", root, pid);
	snprintf(text, sizeof(text), "%s", words);
	for (p = text; *p != '\0'; p++)
		*p = *p == ' ' ? '\0' : *p;
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, text, strlen(words)), (int)strlen(words));
	close(fd);
}

/* TST-6 */
static void
test_processes_whose_primary_is_gone(void **state)
{
	(void)state;
	put("/var/run/dpdk/container-t/config", "");
	put_member(41, "serve -c a.ini ");
	look(NULL);
	expect("orphans", DOCTOR_WARN, "file prefix container-t is gone, but 1 process of it still runs", "nonic stop --conf FILE, or kill 41;");
	put_member(42, "/bin/nonic-dpdk serve --conf a.ini --proc-id 1 --generation 7 ");
	look(NULL);
	expect("orphans", DOCTOR_WARN, "2 processes of it still run:", "42");
	/* a dead one's socket, and one whose pid is another program's now */
	gone("/proc/41");
	put("/proc/42/maps", "00400000-0048 r-xp 00000000 08:02 135 /bin/bash\n");
	look(NULL);
	assert_null(find("orphans"));
	expect("runtime", DOCTOR_WARN, "container-t", "rm -r");
	put("/var/run/dpdk/container-t/mp_socket_x", "");
	put("/var/run/dpdk/container-t/mp_socket", "");
	look(NULL);
	assert_null(find("orphans"));
}

/* TST-6: what dead beds have left does not hide the one that is asked for */
static void
test_many_dead_beds(void **state)
{
	const char *graceful = DPDK "graceful_reload=1\nprimary_slim=1\n[vdev0]\ndriver=net_tap\n" PORT;
	char path[128];
	const char *end;
	pid_t pid;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "/var/run/dpdk/container-a-bed-of-some-time-ago-%03u/config", i);
		put(path, "");
	}
	put("/var/run/dpdk/container-t/config", "");
	pid = lock_holder("/var/run/dpdk/container-t/config");
	look(graceful);
	expect("master", DOCTOR_WARN, "container-t has no master, and 0 workers", "nonic serve --conf t.ini");
	expect("runtime", DOCTOR_WARN, "primaries that are gone: ", "rm -r");
	end = strrchr(find("runtime")->text, ' ');
	assert_string_equal(end, " ...");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* TST-6 */
static void
test_more_findings_than_there_is_room_for(void **state)
{
	(void)state;
	memset(&d, 0, sizeof(d));
	for (unsigned int i = 0; i < DOCTOR_MAX; i++)
		doctor_add(&d, DOCTOR_OK, "x", "", "finding %u", i);
	assert_string_equal(d.f[DOCTOR_MAX - 1].id, "x");
	doctor_add(&d, DOCTOR_FAIL, "y", "do this", "bad");
	doctor_add(&d, DOCTOR_WARN, "z", "do that", "not so bad");
	assert_int_equal(d.n, DOCTOR_MAX);
	assert_string_equal(d.f[DOCTOR_MAX - 1].id, "more");
	assert_non_null(strstr(d.f[DOCTOR_MAX - 1].text, "more than 63 findings"));
	assert_true(doctor_failed(&d));
}

/* TST-6, REL-1 */
static void
test_workers_whose_master_is_gone(void **state)
{
	const char *graceful = DPDK "graceful_reload=1\nprimary_slim=1\n[vdev0]\ndriver=net_tap\n" PORT;
	pid_t pid;

	(void)state;
	put("/var/run/dpdk/container-t/config", "");
	pid = lock_holder("/var/run/dpdk/container-t/config");
	look(NULL);
	assert_null(find("master")); /* nothing says that there should be one */
	look(graceful);
	expect("master", DOCTOR_WARN, "container-t has no master, and 0 workers", "nonic serve --conf t.ini");
	put_member(42, "/bin/nonic-dpdk serve --conf=a.ini --proc-id 1 --generation 7 ");
	look(NULL);
	expect("master", DOCTOR_WARN, "has no master, and 1 worker:", "nonic serve --conf a.ini (it takes them over)");
	put_member(42, "/bin/nonic-dpdk serve -ca.ini -p1 --generation 7 ");
	look(NULL);
	expect("master", DOCTOR_WARN, "has no master", "nonic serve --conf a.ini");
	put_member(42, "/bin/nonic-dpdk serve --generation 7 --proc-id=1 --conf ");
	look(NULL);
	expect("master", DOCTOR_WARN, "has no master", "nonic serve --conf FILE");
	put_member(43, "status ");
	put_member(44, "serve -c b.ini ");
	look(NULL);
	expect("master", DOCTOR_OK, "has a master and 1 worker", "");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* TST-6 */
static void
test_hugepages_that_nobody_uses(void **state)
{
	char path[128];
	int fd;

	(void)state;
	put("/dev/hugepages/container-umap_0", "");
	put("/dev/hugepages/container-umap_1", "");
	put("/dev/hugepages/container-vmap_0", "");
	put("/dev/hugepages/container-tmap_0", "");
	put("/dev/hugepages/map_0", "");
	put("/dev/hugepages/a_map_of", "");
	put("/var/run/dpdk/container-t/config", "");
	snprintf(path, sizeof(path), "%s/dev/hugepages/container-vmap_0", root);
	fd = open(path, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_SH), 0); /* another container's */
	look(NULL);
	expect("pages", DOCTOR_WARN, "gone: container-u", "rm /dev/hugepages/PREFIXmap_*");
	assert_null(strstr(find("pages")->text, "container-v"));
	assert_null(strstr(find("pages")->text, "container-t"));
	assert_null(strstr(find("pages")->text, "a_"));
	close(fd);
	put("/proc/mounts", "");
	look(NULL);
	assert_null(find("pages"));
}

static void
test_runtime_directory_of_an_ordinary_user(void **state)
{
	char path[512];

	(void)state;
	m.is_root = false;
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	machine_runtime_dir(&m, "a", path, sizeof(path));
	assert_string_equal(path, "/run/user/7/dpdk/a");
	unsetenv("XDG_RUNTIME_DIR");
	machine_runtime_dir(&m, "a", path, sizeof(path));
	assert_string_equal(path, "/tmp/dpdk/a");
	assert_false(machine_runtime_closed(&m, path, sizeof(path)));
	put("/tmp/dpdk/a/config", "");
	assert_false(machine_runtime_closed(&m, path, sizeof(path)));
	assert_string_equal(path, "/tmp/dpdk");
}

/* TST-6: nobody is told of a primary that he can not see */
static void
test_runtime_directory_of_somebody_else(void **state)
{
	const char *text = DPDK "[vdev0]\ndriver=net_null\n" PORT;
	struct config_messages msgs;
	struct nonic_config cfg;
	bool stale = true;

	(void)state;
	m.is_root = false;
	unsetenv("XDG_RUNTIME_DIR");
	put("/tmp/dpdk", ""); /* root may enter any directory, but not a file */
	look(text);
	expect("runtime", DOCTOR_FAIL, "runtime directory /tmp/dpdk belongs to another user", "export XDG_RUNTIME_DIR");
	assert_int_equal(machine_primary(&m, "a", &stale), 0);
	assert_false(stale);
	assert_int_equal(config_load_mem("t.ini", text, strlen(text), 0, &cfg, &msgs), 0);
	doctor_preflight(&d, &m, &cfg, true);
	assert_string_equal(doctor_first_failure(&d)->id, "runtime");
	config_messages_free(&msgs);
	config_free(&cfg);
}

static void
test_preflight_of_one_process_needs_no_hugepages(void **state)
{
	const char *text = "[dpdk]\nlcore_mask=1\nport_list=0\nnb_vdev=1\nno_huge=1\n[vdev0]\ndriver=net_null\n" PORT;
	struct config_messages msgs;
	struct nonic_config cfg;

	(void)state;
	gone("/sys/kernel");
	assert_int_equal(config_load_mem("t.ini", text, strlen(text), 0, &cfg, &msgs), 0);
	doctor_preflight(&d, &m, &cfg, true);
	assert_null(doctor_first_failure(&d));
	doctor_preflight(&d, &m, &cfg, false);
	assert_string_equal(doctor_first_failure(&d)->id, "no_huge");
	config_messages_free(&msgs);
	config_free(&cfg);
}

static void
test_more_findings_than_there_is_room(void **state)
{
	(void)state;
	d.n = 0;
	for (unsigned int i = 0; i < DOCTOR_MAX + 5; i++)
		doctor_add(&d, DOCTOR_OK, "x", "", "%u", i);
	assert_int_equal(d.n, DOCTOR_MAX);
}

/* TST-6: the command itself, on this machine, whatever it is. */
static void
test_command(void **state)
{
	static struct capture c;
	char line[256];
	int rc;

	(void)state;
	rc = capture_run(&c, cmd_doctor, "doctor");
	assert_int_equal(rc, strstr(c.out, "missing ") != NULL);
	rc = capture_run(&c, cmd_doctor, "doctor --json");
	assert_non_null(strstr(c.out, rc == 0 ? "{\"ok\":true,\"findings\":[{" : "{\"ok\":false,\"findings\":[{"));
	assert_int_equal(capture_run(&c, cmd_doctor, "doctor -c /no/such/file"), CLI_FAILED);
	assert_non_null(strstr(c.out, "nonic check-config /no/such/file"));
	assert_int_equal(capture_run(&c, cmd_doctor, "doctor x"), CLI_USAGE);
	put("/c.ini", DPDK "[vdev0]\ndriver=net_null\n" PORT "lcore_list=0\n");
	snprintf(line, sizeof(line), "doctor -c %s/c.ini", root);
	capture_run(&c, cmd_doctor, line);
	assert_non_null(strstr(c.out, "lcores"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_machine_that_has_everything), T(test_hugepages_missing_used_or_too_few),
		T(test_mount_missing_or_closed), T(test_tap_and_root), T(test_lcores_queues_rss_addresses),
		T(test_port_without_address_or_queue), T(test_pci_devices), T(test_runtime_files_live_and_stale),
		T(test_processes_whose_primary_is_gone), T(test_many_dead_beds), T(test_more_findings_than_there_is_room_for),
		T(test_workers_whose_master_is_gone),
		T(test_hugepages_that_nobody_uses),
		T(test_suspended_processes), T(test_tap_with_one_mac_at_both_ends), T(test_eal_arguments_that_keep_others_out),
		T(test_runtime_directory_of_an_ordinary_user), T(test_runtime_directory_of_somebody_else),
		T(test_preflight_of_one_process_needs_no_hugepages),
		T(test_more_findings_than_there_is_room), T(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

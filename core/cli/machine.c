/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine has for a test bed, read from /proc, /sys, /dev and the EAL's runtime directory. */
#include "machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
read_file(const struct machine *m, const char *path, char *buf, size_t n)
{
	char full[PATH_MAX];
	ssize_t got;
	int fd;

	snprintf(full, sizeof(full), "%s%s", m->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, buf, n - 1);
	close(fd);
	if (got < 0)
		return false;
	buf[got] = '\0';
	return true;
}

static void
mount_find(const struct machine *m, struct machine_hugepages *h)
{
	char buf[65536], full[PATH_MAX], *line, *save;

	h->mount[0] = '\0';
	h->writable = false;
	if (!read_file(m, "/proc/mounts", buf, sizeof(buf)))
		return;
	for (line = strtok_r(buf, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
		char dir[128], type[32];

		if (sscanf(line, "%*s %127s %31s", dir, type) != 2 || strcmp(type, "hugetlbfs") != 0)
			continue;
		strcpy(h->mount, dir);
		snprintf(full, sizeof(full), "%s%s", m->root, dir);
		h->writable = access(full, W_OK) == 0;
		return;
	}
}

void
machine_hugepages(const struct machine *m, struct machine_hugepages *h)
{
	char path[PATH_MAX], buf[64];
	struct dirent *e;
	DIR *d;

	memset(h, 0, sizeof(*h));
	mount_find(m, h);
	snprintf(path, sizeof(path), "%s/sys/kernel/mm/hugepages", m->root);
	d = opendir(path);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		unsigned long kb, n;

		if (sscanf(e->d_name, "hugepages-%lukB", &kb) != 1)
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/%.64s/nr_hugepages", e->d_name);
		if (read_file(m, path, buf, sizeof(buf)))
			h->total += strtoul(buf, NULL, 10);
		snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/%.64s/free_hugepages", e->d_name);
		if (!read_file(m, path, buf, sizeof(buf)))
			continue;
		n = strtoul(buf, NULL, 10);
		h->free += n;
		h->free_mb += n * kb / 1024;
	}
	closedir(d);
}

static void
runtime_base(const struct machine *m, char *path, size_t n)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");

	if (m->is_root)
		snprintf(path, n, "/var/run/dpdk");
	else
		snprintf(path, n, "%s/dpdk", xdg != NULL ? xdg : "/tmp");
}

void
machine_runtime_dir(const struct machine *m, const char *prefix, char *path, size_t n)
{
	char base[PATH_MAX / 4];

	runtime_base(m, base, sizeof(base));
	if ((size_t)snprintf(path, n, "%s/%s", base, prefix) >= n)
		snprintf(path, n, "/dev/null/name-too-long"); /* a name that no directory can have */
}

bool
machine_runtime_closed(const struct machine *m, char *path, size_t n)
{
	char full[PATH_MAX];
	struct stat st;

	runtime_base(m, path, n);
	snprintf(full, sizeof(full), "%s%s", m->root, path);
	return stat(full, &st) == 0 && (!S_ISDIR(st.st_mode) || access(full, W_OK | X_OK) != 0);
}

pid_t
machine_primary(const struct machine *m, const char *prefix, bool *stale)
{
	char dir[PATH_MAX / 2], path[PATH_MAX];
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd, rc;

	*stale = false;
	if (machine_runtime_closed(m, dir, sizeof(dir)))
		return 0; /* nor can one of ours run then */
	machine_runtime_dir(m, prefix, dir, sizeof(dir));
	if (snprintf(path, sizeof(path), "%s%s/config", m->root, dir) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		*stale = errno != ENOENT && errno != ENOTDIR;
		return errno == EACCES ? -1 : 0;
	}
	/* a primary keeps a write lock on it as long as it lives; a secondary a read lock */
	rc = fcntl(fd, F_GETLK, &lock);
	close(fd);
	if (rc < 0 || lock.l_type == F_UNLCK || lock.l_type == F_RDLCK) {
		*stale = true;
		return 0;
	}
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

bool
machine_suspended(const struct machine *m, pid_t pid)
{
	char path[64], buf[512];
	const char *end;

	if (pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_file(m, path, buf, sizeof(buf)))
		return false;
	end = strrchr(buf, ')'); /* the program's name may hold anything */
	return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

bool
machine_program(const struct machine *m, pid_t pid, char *name, size_t n)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (!read_file(m, path, name, n))
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
}

/* The number behind a key of a file with lines "Key:   123 kB", in MB; 0: not there. */
static unsigned long
read_mb(const struct machine *m, const char *path, const char *key)
{
	char buf[16384];
	const char *at;

	if (!read_file(m, path, buf, sizeof(buf)))
		return 0;
	at = strstr(buf, key);
	return at != NULL ? strtoul(at + strlen(key), NULL, 10) / 1024 : 0;
}

unsigned long
machine_private_mb(const struct machine *m, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return read_mb(m, path, "RssAnon:");
}

unsigned long
machine_free_mb(const struct machine *m)
{
	return read_mb(m, "/proc/meminfo", "MemAvailable:");
}

void
machine_stale(const struct machine *m, char *list, size_t n)
{
	char base[PATH_MAX / 2], path[PATH_MAX];
	struct dirent *e;
	bool stale;
	DIR *d;

	list[0] = '\0';
	runtime_base(m, base, sizeof(base));
	snprintf(path, sizeof(path), "%s%s", m->root, base);
	d = opendir(path);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || machine_primary(m, e->d_name, &stale) != 0 || !stale)
			continue;
		if (!machine_list_add(list, n, e->d_name))
			break;
	}
	closedir(d);
}

static void
remove_in(const char *dir, const char *start)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    strncmp(e->d_name, start, strlen(start)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	closedir(d);
}

void
machine_clean(const struct machine *m, const char *prefix)
{
	char dir[PATH_MAX / 2], path[PATH_MAX], start[256];
	struct machine_hugepages h;
	bool stale;

	if (machine_primary(m, prefix, &stale) != 0)
		return;
	machine_runtime_dir(m, prefix, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s%s", m->root, dir);
	remove_in(path, "");
	rmdir(path);
	machine_hugepages(m, &h);
	if (h.mount[0] == '\0')
		return;
	snprintf(path, sizeof(path), "%s%s", m->root, h.mount);
	/* the EAL's names: PREFIXmap_N, with the prefix as it was given */
	snprintf(start, sizeof(start), "%smap_", prefix);
	remove_in(path, start);
}

bool
machine_has_tun(const struct machine *m)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dev/net/tun", m->root);
	return access(path, R_OK | W_OK) == 0;
}

bool
machine_if_mac(const struct machine *m, const char *name, char *mac, size_t n)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%.32s/address", name);
	if (strchr(name, '/') != NULL || !read_file(m, path, mac, n))
		return false;
	mac[strcspn(mac, "\n")] = '\0';
	return true;
}

/* Walks "0-3,8"; counts, and looks for cpu. */
static unsigned int
online(const struct machine *m, unsigned int cpu, bool *found)
{
	unsigned int n = 0;
	char buf[1024], *item, *save;

	*found = false;
	if (!read_file(m, "/sys/devices/system/cpu/online", buf, sizeof(buf)))
		return 0;
	for (item = strtok_r(buf, ",\n", &save); item != NULL; item = strtok_r(NULL, ",\n", &save)) {
		unsigned int a, b;
		int k = sscanf(item, "%u-%u", &a, &b);

		if (k < 1)
			continue;
		if (k == 1 || b < a)
			b = a;
		n += b - a + 1;
		*found |= cpu >= a && cpu <= b;
	}
	return n;
}

unsigned int
machine_cpus(const struct machine *m)
{
	bool found;

	return online(m, 0, &found);
}

bool
machine_cpu_online(const struct machine *m, unsigned int cpu)
{
	bool found;

	return online(m, cpu, &found) > 0 && found;
}

bool
machine_pci_driver(const struct machine *m, const char *addr, char *driver, size_t n)
{
	char path[PATH_MAX], link[PATH_MAX];
	const char *base;
	ssize_t len;

	driver[0] = '\0';
	/* the short form leaves the domain out */
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s%.64s", m->root, strlen(addr) == 7 ? "0000:" : "", addr);
	if (access(path, F_OK) != 0)
		return false;
	strncat(path, "/driver", sizeof(path) - strlen(path) - 1);
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return true;
	link[len] = '\0';
	base = strrchr(link, '/');
	snprintf(driver, n, "%s", base != NULL ? base + 1 : link);
	return true;
}

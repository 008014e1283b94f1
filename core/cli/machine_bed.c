/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a test bed, and what dead ones left behind: from the EAL's runtime directory, /proc and the hugetlbfs mount. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "machine.h"

/* Does the process have a file of the directory in its memory? Its pid may be another program's by now. */
static bool
maps_from(const struct machine *m, pid_t pid, const char *dir)
{
	char path[PATH_MAX], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%d/maps", m->root, (int)pid);
	f = fopen(path, "re");
	/* /var/run is a link to /run, and the kernel tells the real name */
	if (strncmp(dir, "/var/run/", 9) == 0)
		dir += strlen("/var");
	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, dir) != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

static bool
is_option(const char *word, const char *name, char letter)
{
	size_t n = strlen(name);

	if (word[0] == '-' && word[1] == letter)
		return true;
	return strncmp(word, name, n) == 0 && (word[n] == '\0' || word[n] == '=');
}

/* What it is, from its command line. */
static void
describe(const struct machine *m, struct machine_member *x)
{
	char path[PATH_MAX], buf[4096], *word;
	const char *value;
	bool serve = false, one = false;
	ssize_t n;
	int fd;

	x->role = MACHINE_OTHER;
	x->conf[0] = '\0';
	x->generation = false;
	snprintf(path, sizeof(path), "%s/proc/%d/cmdline", m->root, (int)x->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	for (word = buf; word < buf + n; word += strlen(word) + 1) {
		serve |= strcmp(word, "serve") == 0;
		one |= is_option(word, "--proc-id", 'p') || strcmp(word, "--alone") == 0;
		x->generation |= strcmp(word, "--generation") == 0;
		if (!is_option(word, "--conf", 'c'))
			continue;
		value = strchr(word, '=');
		if (value != NULL)
			value++;
		else if (word[1] != '-' && word[2] != '\0')
			value = word + 2;
		else
			value = word + strlen(word) + 1 < buf + n ? word + strlen(word) + 1 : "";
		snprintf(x->conf, sizeof(x->conf), "%.*s", (int)sizeof(x->conf) - 1, value);
	}
	if (serve)
		x->role = one ? MACHINE_WORKER : MACHINE_MASTER;
}

unsigned int
machine_members(const struct machine *m, const char *prefix, struct machine_member *out, unsigned int most)
{
	static const char socket_name[] = "mp_socket_";
	char dir[PATH_MAX / 4], path[PATH_MAX / 2];
	unsigned int n = 0;
	struct dirent *e;
	DIR *d;

	machine_runtime_dir(m, prefix, dir, sizeof(dir) - 1);
	snprintf(path, sizeof(path), "%s%s", m->root, dir);
	d = opendir(path);
	if (d == NULL)
		return 0;
	strcat(dir, "/");
	while (n < most && (e = readdir(d)) != NULL) {
		/* the EAL of each secondary has one, named by its pid */
		if (strncmp(e->d_name, socket_name, strlen(socket_name)) != 0)
			continue;
		out[n].pid = atoi(e->d_name + strlen(socket_name));
		if (out[n].pid <= 0 || !maps_from(m, out[n].pid, dir))
			continue;
		describe(m, &out[n]);
		n++;
	}
	closedir(d);
	return n;
}

bool
machine_list_add(char *list, size_t n, const char *word)
{
	size_t len = strlen(list), add = strlen(word);

	for (const char *p = list; *p != '\0'; p += strcspn(p, " "), p += *p == ' ')
		if (strncmp(p, word, add) == 0 && (p[add] == ' ' || p[add] == '\0'))
			return true;
	if (len + 1 + add + sizeof(" ...") > n) {
		snprintf(list + len, n - len, " ...");
		return false;
	}
	snprintf(list + len, n - len, "%s%s", len > 0 ? " " : "", word);
	return true;
}

void
machine_prefixes(const struct machine *m, void (*fn)(void *ctx, const char *prefix), void *ctx)
{
	char dir[PATH_MAX / 4], path[PATH_MAX / 2];
	struct dirent *e;
	DIR *d;

	machine_runtime_dir(m, "", dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s%s", m->root, dir);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			fn(ctx, e->d_name);
	if (d != NULL)
		closedir(d);
}

/* The EAL of whoever uses a hugepage file holds a lock on it, in whatever container. */
static bool
in_use(const char *dir, const char *name)
{
	char path[PATH_MAX];
	bool used;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	used = flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	return used;
}

void
machine_stale_pages(const struct machine *m, char *mount, size_t mount_n, char *list, size_t n)
{
	struct machine_hugepages h;
	char dir[PATH_MAX / 4], runtime[PATH_MAX / 4], path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	list[0] = '\0';
	machine_hugepages(m, &h);
	snprintf(mount, mount_n, "%s", h.mount);
	if (h.mount[0] == '\0')
		return;
	snprintf(dir, sizeof(dir), "%s%s", m->root, h.mount);
	d = opendir(dir);
	while (d != NULL && (e = readdir(d)) != NULL) {
		char *end = strstr(e->d_name, "map_");

		if (end == NULL || end == e->d_name || !isdigit((unsigned char)end[4]) || in_use(dir, e->d_name))
			continue;
		*end = '\0';
		/* with a runtime directory it is told there */
		machine_runtime_dir(m, e->d_name, runtime, sizeof(runtime));
		snprintf(path, sizeof(path), "%s%s", m->root, runtime);
		if (access(path, F_OK) != 0 && !machine_list_add(list, n, e->d_name))
			break;
	}
	if (d != NULL)
		closedir(d);
}

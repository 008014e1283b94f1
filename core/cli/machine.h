/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine has for a test bed: hugepages, mounts, TAP, runtime files of primaries. Reads files below a root
 * directory ("" for the real one; a tree of files in tests); changes nothing except by machine_clean.
 */
#ifndef NONIC_CLI_MACHINE_H
#define NONIC_CLI_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct machine {
	const char *root;          /* "" */
	bool is_root;              /* effective user 0 */
};

struct machine_hugepages {
	unsigned long total, free; /* pages, of every size */
	unsigned long free_mb;
	char mount[128];           /* the first hugetlbfs mount, "" when there is none */
	bool writable;             /* may this user make files in it */
};
void machine_hugepages(const struct machine *m, struct machine_hugepages *h);

/* "/var/run/dpdk/PREFIX" (root), or below XDG_RUNTIME_DIR or /tmp, as the EAL chooses it. */
void machine_runtime_dir(const struct machine *m, const char *prefix, char *path, size_t n);
/* Is the directory above these (*path) there, and no directory that this user may write to? Then no EAL of his starts. */
bool machine_runtime_closed(const struct machine *m, char *path, size_t n);
/* The pid of the live primary of prefix; 0: none runs; -1: one runs, but its pid can not be told. *stale: files of a dead one. */
pid_t machine_primary(const struct machine *m, const char *prefix, bool *stale);
/* Is the process suspended (SIGSTOP, a debugger)? It answers nothing then. */
bool machine_suspended(const struct machine *m, pid_t pid);
/* The program's name as the kernel keeps it (at most 15 bytes); false: no such process. */
bool machine_program(const struct machine *m, pid_t pid, char *name, size_t n);
/* Memory of a process that it shares with nobody, and what the machine has left for new ones; 0 when it can not be read. */
unsigned long machine_private_mb(const struct machine *m, pid_t pid);
unsigned long machine_free_mb(const struct machine *m);
/* Adds the word to a list separated by blanks, once. False: no room; the list ends with "..." then. */
bool machine_list_add(char *list, size_t n, const char *word);
/* Prefixes with a runtime directory but no live primary, a list as above. */
void machine_stale(const struct machine *m, char *list, size_t n);
/* Removes the runtime directory and hugepage files of a prefix whose primary is gone. */
void machine_clean(const struct machine *m, const char *prefix);

/* ---- machine_bed.c ---- */

/* A live process, the primary apart, that takes part in a test bed. */
struct machine_member {
	pid_t pid;
	enum machine_role { MACHINE_OTHER, MACHINE_MASTER, MACHINE_WORKER } role;
	bool generation;           /* a worker that a master has started */
	char conf[128];            /* the configuration it was given; "" */
};
/* Those of a prefix, at most so many; who may not be looked at is not counted. */
unsigned int machine_members(const struct machine *m, const char *prefix, struct machine_member *out, unsigned int most);
/* Calls fn for each prefix with a runtime directory. */
void machine_prefixes(const struct machine *m, void (*fn)(void *ctx, const char *prefix), void *ctx);
/* Prefixes with hugepage files in *mount that no process uses, and no runtime directory; a list as above. */
void machine_stale_pages(const struct machine *m, char *mount, size_t mount_n, char *list, size_t n);

bool machine_has_tun(const struct machine *m);
/* The MAC of a kernel interface as text; false: this network namespace has no such interface. */
bool machine_if_mac(const struct machine *m, const char *name, char *mac, size_t n);
/* CPUs online, from /sys/devices/system/cpu/online; 0 when it can not be read. */
unsigned int machine_cpus(const struct machine *m);
bool machine_cpu_online(const struct machine *m, unsigned int cpu);
/* The kernel driver a PCI address is bound to ("vfio-pci"), "" when there is none; false: no such device. */
bool machine_pci_driver(const struct machine *m, const char *addr, char *driver, size_t n);

#endif

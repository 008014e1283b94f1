/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as the bindings see it: clocks, entropy, processes. For shim/ only; core/ asks the door. */
#ifndef NONIC_SHIM_SYS_H
#define NONIC_SHIM_SYS_H

#include <errno.h>
#include <string.h>
#include <time.h>

#include "types.h"

/* 0, -EINVAL (NULL or empty), -ENAMETOOLONG (does not fit SHIM_NAME_MAX with its zero). */
static inline int
sys_name_check(const char *name)
{
	if (name == NULL || name[0] == '\0')
		return -EINVAL;
	return strnlen(name, SHIM_NAME_MAX) == SHIM_NAME_MAX ? -ENAMETOOLONG : 0;
}

/* CLOCK_MONOTONIC in ns: the same count in every process, so that stamps can be compared. */
static inline uint64_t
sys_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint64_t
sys_wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

void sys_sleep_ns(uint64_t ns);
/* The calling thread's sleeps end on time, not up to 50 us late: a worker naps for less while it waits for a lane. */
void sys_timer_slack(void);

/* n zeroed bytes of this process's memory, 64-byte aligned (big ones on huge pages if it can be), or NULL. */
void *sys_malloc(size_t n);

/* Fills buf from getrandom(2). 0 or -EIO. */
int sys_entropy(void *buf, size_t n);

/* This process; proc_id is the caller's. */
struct shim_proc sys_self(uint32_t proc_id);

/*
 * 1: the process runs, or a thread of it, and started at p->start_time; 0: it does not, is nobody's (pid 0), or is a zombie (one that is a
 * child of ours is reaped); -EMFILE, -ENFILE, -ENOMEM: it can not be told.
 */
int sys_proc_alive(const struct shim_proc *p);

/*
 * SIGKILL for exactly this process. 0: it was there; -ESRCH: it is gone (a zombie too); -EPERM; -EINVAL: pid 0, or the caller; -EMFILE, -ENFILE, -ENOMEM.
 */
int sys_proc_kill(const struct shim_proc *p);

/* posix_spawn of argv[0], signals unblocked, no descriptors but the standard ones. 0, or -ENOENT, -EACCES, -EAGAIN, -ENOMEM. */
int sys_proc_spawn(const char *const argv[], struct shim_proc *out);

#endif

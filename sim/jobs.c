/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on several processors; see jobs.h. */
#include "jobs.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 64u
#define LOOK_NS 10000000l

struct counters {
	uint64_t next, done;
	uint32_t stop;
};

void *
jobs_shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void
jobs_shared_free(void *p, size_t n)
{
	if (p != NULL)
		munmap(p, n);
}

unsigned int
jobs_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

uint64_t
jobs_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void
work(const struct jobs *j, struct counters *c, void *shared, bool alone)
{
	while (__atomic_load_n(&c->stop, __ATOMIC_RELAXED) == 0) {
		uint64_t i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);

		if (i >= j->tasks)
			break;
		if (!j->task(j->ctx, i, shared))
			__atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
		jobs_add(&c->done, 1);
		if (alone && j->progress != NULL)
			j->progress(j->ctx, c->done, shared);
	}
}

/* Waits for all; true: every one ended well. */
static bool
wait_all(const struct jobs *j, struct counters *c, void *shared, const pid_t *pid, unsigned int n)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	unsigned int ended = 0;
	bool gone[JOBS_MAX] = { false }, good = true;
	int status;

	while (ended < n) {
		for (unsigned int i = 0; i < n; i++) {
			if (gone[i] || waitpid(pid[i], &status, WNOHANG) == 0)
				continue;
			gone[i] = true;
			ended++;
			if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
				good = false;
				__atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
			}
		}
		if (j->progress != NULL)
			j->progress(j->ctx, __atomic_load_n(&c->done, __ATOMIC_RELAXED), shared);
		if (ended < n)
			nanosleep(&look, NULL);
	}
	return good;
}

int
jobs_run(const struct jobs *j, void *shared)
{
	struct counters *c = jobs_shared(sizeof(*c));
	unsigned int n = j->n > JOBS_MAX ? JOBS_MAX : j->n, started = 0;
	pid_t pid[JOBS_MAX], self = getpid();
	int rc = 0;

	if (c == NULL)
		return -ENOMEM;
	if (n > j->tasks)
		n = (unsigned int)j->tasks;
	if (n <= 1) {
		work(j, c, shared, true);
	} else {
		fflush(NULL);
		for (; started < n; started++) {
			pid[started] = fork();
			if (pid[started] == 0) {
				/* whoever ends the command ends its jobs; it may have gone before this was said */
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				if (getppid() != self)
					_exit(1);
				work(j, c, shared, false);
				fflush(NULL);
				_exit(0);
			}
			if (pid[started] < 0)
				break;
		}
		if (started == 0)
			work(j, c, shared, true); /* no process to be had: here, then */
		else if (!wait_all(j, c, shared, pid, started))
			rc = -ECHILD;
	}
	jobs_shared_free(c, sizeof(*c));
	return rc;
}

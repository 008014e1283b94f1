/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as the bindings see it: sleep, memory, entropy, processes. */
#include "sys.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HUGE_PAGE (2u << 20)

extern char **environ;

void
sys_sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000ull),
		.tv_nsec = (long)(ns % 1000000000ull) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

void
sys_timer_slack(void)
{
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
}

void *
sys_malloc(size_t n)
{
	bool huge = n >= 2 * (size_t)HUGE_PAGE;
	void *p;

	if (n == 0 || posix_memalign(&p, huge ? HUGE_PAGE : 64, n) != 0)
		return NULL;
	if (huge)
		madvise(p, n, MADV_HUGEPAGE);
	memset(p, 0, n);
	return p;
}

int
sys_entropy(void *buf, size_t n)
{
	uint8_t *p = buf;
	ssize_t got;

	while (n > 0) {
		got = getrandom(p, n, 0);
		if (got < 0) {
			if (errno == EINTR)
				continue;
			return -EIO;
		}
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

/* The start time of the process of that pid, field 22 of its stat line. 0, -ESRCH: there is none, or -errno. */
static int
read_start_time(uint32_t pid, uint64_t *start_time)
{
	char path[32], line[1024], *p;
	unsigned long long start;
	int fd, err = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, line, sizeof(line) - 1);
	if (n < 0)
		err = errno;
	close(fd);
	if (n <= 0)
		return n == 0 ? -ESRCH : -err;
	line[n] = '\0';
	p = strrchr(line, ')'); /* the name before it may hold anything */
	if (p == NULL || sscanf(p + 1, " %*c %*u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
	    "%*d %*d %*d %*d %llu", &start) != 1)
		return -EPROTO;
	*start_time = start;
	return 0;
}

struct shim_proc
sys_self(uint32_t proc_id)
{
	struct shim_proc self = { .pid = (uint32_t)getpid(), .proc_id = proc_id };

	read_start_time(self.pid, &self.start_time); /* 0 without /proc: the same for everybody who asks */
	return self;
}

/* A descriptor that names the process, or -ESRCH, -EMFILE, -ENFILE, -ENOMEM. */
static int
pidfd_open(uint32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0u);

	if (fd >= 0)
		return fd;
	return errno == EINVAL ? -ESRCH : -errno; /* EINVAL: a thread's number, not a process's */
}

/* sys_proc_alive of the process that fd names. */
static int
alive(int fd, const struct shim_proc *p)
{
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	uint64_t start_time;
	int rc;

	if (poll(&ended, 1, 0) > 0) {
		waitpid((pid_t)p->pid, NULL, WNOHANG); /* if it is a child of ours */
		return 0;
	}
	rc = read_start_time(p->pid, &start_time);
	if (rc < 0)
		return rc == -ESRCH ? 0 : rc;
	return start_time == p->start_time;
}

/*
 * The descriptor says whether the process has ended, its last thread too; /proc is asked only about one that has not: looking up the
 * directory of a process that is just going can keep Linux 6.18 busy in shrink_dcache_parent for seconds.
 */
int
sys_proc_alive(const struct shim_proc *p)
{
	int fd, rc;

	if (p->pid == 0) /* nobody, whatever start time a damaged word gives it */
		return 0;
	fd = pidfd_open(p->pid);
	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	rc = alive(fd, p);
	close(fd);
	return rc;
}

/* Through a descriptor that names the process itself: its start time is looked at while the pid can not be reused unseen. */
int
sys_proc_kill(const struct shim_proc *p)
{
	int fd, rc;

	if (p->pid == 0 || p->pid == (uint32_t)getpid())
		return -EINVAL;
	fd = pidfd_open(p->pid);
	if (fd < 0)
		return fd;
	rc = alive(fd, p);
	rc = rc == 1 ? 0 : rc == 0 ? -ESRCH : rc;
	if (rc == 0 && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0u) != 0)
		rc = -errno;
	close(fd);
	return rc;
}

int
sys_proc_spawn(const char *const argv[], struct shim_proc *out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int rc;

	if (argv[0] == NULL)
		return -ENOENT;
	if (access(argv[0], X_OK) != 0) /* a plain answer even where posix_spawn can give none */
		return -errno;
	if (posix_spawnattr_init(&attr) != 0)
		return -ENOMEM;
	/* a socket of ours that lives on in the child would look as if we did: the EAL's own are not close-on-exec */
	if (posix_spawn_file_actions_init(&files) != 0) {
		posix_spawnattr_destroy(&attr);
		return -ENOMEM;
	}
	rc = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	if (rc != 0)
		goto out;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	/* posix_spawn takes its strings as char *const[] and does not write to them. */
	rc = posix_spawn(&pid, argv[0], &files, &attr, (char *const *)(uintptr_t)argv, environ);
out:
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (rc != 0)
		return -rc;
	*out = (struct shim_proc){ .pid = (uint32_t)pid };
	read_start_time(out->pid, &out->start_time); /* 0: it is gone already, and stays so for whoever asks */
	return 0;
}

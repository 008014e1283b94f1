/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as the bindings see it: sleep, memory, entropy, processes. */
#include "sys.h"

#include <fcntl.h>
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

/* What /proc says of a process. */
struct stat_facts {
	char state;
	unsigned int ppid;
	long threads;
	uint64_t start_time;
};

/* True if there is a process of that pid; reads fields 3, 4, 20 and 22 of its stat line. */
static bool
read_stat(uint32_t pid, struct stat_facts *f)
{
	char path[32], line[1024], *p;
	unsigned long long start;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	p = strrchr(line, ')'); /* the name before it may hold anything */
	if (p == NULL || sscanf(p + 1, " %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
	    "%*d %*d %ld %*d %llu", &f->state, &f->ppid, &f->threads, &start) != 4)
		return false;
	f->start_time = start;
	return true;
}

struct shim_proc
sys_self(uint32_t proc_id)
{
	struct shim_proc self = { .pid = (uint32_t)getpid(), .proc_id = proc_id };
	struct stat_facts f;

	if (read_stat(self.pid, &f))
		self.start_time = f.start_time;
	return self;
}

int
sys_proc_alive(const struct shim_proc *p)
{
	struct stat_facts f;

	if (p->pid == 0) /* nobody, whatever start time a damaged word gives it */
		return 0;
	if (!read_stat(p->pid, &f) || f.start_time != p->start_time)
		return 0;
	if (f.state == 'Z' && f.ppid == (unsigned int)getpid()) {
		/* its main thread is a zombie while others still end: it lives, and there is nothing to reap yet */
		if (f.threads > 1)
			return 1;
		waitpid((pid_t)p->pid, NULL, WNOHANG);
	}
	return f.state != 'Z' && f.state != 'X';
}

/* Through a descriptor that names the process itself: its start time is looked at while the pid can not be reused unseen. */
int
sys_proc_kill(const struct shim_proc *p)
{
	int fd, rc;

	if (p->pid == 0 || p->pid == (uint32_t)getpid())
		return -EINVAL;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)p->pid, 0u);
	if (fd < 0)
		return errno == EINVAL ? -ESRCH : -errno; /* EINVAL: a thread's number, not a process's */
	rc = sys_proc_alive(p) == 1 ? 0 : -ESRCH;
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
	struct stat_facts f;
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
	if (read_stat(out->pid, &f)) /* it can not vanish before we reap it */
		out->start_time = f.start_time;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The posix backend with real processes: attach, frames across, death and what it leaves (SHM-6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/host/posix/posix.h"
#include "shim/shim.h"

static char bed[32];
static char program[4096]; /* this one; not /proc/self/exe, which is a memory checker under one */

static struct posix_opts
opts(void)
{
	return (struct posix_opts){ .bed = bed, .size = 8 << 20, .pairs = 1, .queues = 2,
		.ring_size = 64 };
}

/* The child's life: port 1's owner, which sends every frame back with its first byte counted up. */
static int
echo_main(const char *name)
{
	struct rte_mbuf *m;
	uint32_t *stop;
	struct shim *s;
	void *zone;

	if (posix_shim_attach(name, SHIM_ROLE_WORKER, 1, &s) != 0 ||
	    shim_zone_lookup(s, "stop", &zone, NULL) != 0)
		return 2;
	stop = zone;
	shim_store32(s, stop + 1, shim_self(s).pid, SHIM_RELEASE);
	while (shim_load32(s, stop, SHIM_ACQUIRE) == 0) {
		if (shim_rx_burst(s, 1, 0, &m, 1) == 0) {
			shim_sleep_ns(s, 100000);
			continue;
		}
		++*shim_buf_data_off(m, uint8_t *, 0);
		if (shim_tx_burst(s, 1, 0, &m, 1) == 0)
			shim_buf_free(s, m);
	}
	posix_shim_close(s);
	return 0;
}

static void
start_ports(struct shim *s, struct shim_pool **p)
{
	struct shim_port_conf c = { .nb_rx_queues = 1, .nb_tx_queues = 1, .mtu = 1500 };
	uint16_t port;

	assert_int_equal(shim_pool_create(s, "pool", 64, 512, p), 0);
	c.pool = *p;
	for (port = 0; port < 2; port++) {
		assert_int_equal(shim_port_configure(s, port, &c), 0);
		assert_int_equal(shim_port_start(s, port), 0);
	}
}

static bool
wait_rx(struct shim *s, struct rte_mbuf **m)
{
	int i;

	for (i = 0; i < 20000; i++) {
		if (shim_rx_burst(s, 0, 0, m, 1) == 1)
			return true;
		shim_sleep_ns(s, 100000);
	}
	return false;
}

/* SHM-6: a frame goes to another process and comes back; its death is seen */
static void
test_two_processes_exchange_frames(void **state)
{
	const char *const argv[] = { program, "echo", bed, NULL };
	struct posix_opts o = opts();
	struct shim_pool *p;
	struct shim_proc child;
	struct rte_mbuf *m;
	struct shim *s;
	uint32_t *stop;
	void *zone;
	int i;

	(void)state;
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	start_ports(s, &p);
	assert_int_equal(shim_zone_reserve(s, "stop", 64, &zone), 0);
	stop = zone;
	assert_int_equal(shim_proc_spawn(s, argv, &child), 0);
	assert_int_equal(shim_proc_alive(s, &child), 1);
	for (i = 0; i < 20; i++) {
		m = shim_buf_alloc(s, p);
		*(uint8_t *)shim_buf_append(m, 60) = (uint8_t)i;
		m->ol_flags = RTE_MBUF_F_TX_IP_CKSUM;
		assert_int_equal(shim_tx_burst(s, 0, 0, &m, 1), 1);
		assert_true(wait_rx(s, &m));
		assert_int_equal(*shim_buf_data_off(m, uint8_t *, 0), i + 1);
		assert_int_equal(m->ol_flags, 0);
		assert_int_equal(m->port, 0);
		shim_buf_free(s, m);
	}
	assert_int_equal(shim_load32(s, stop + 1, SHIM_ACQUIRE), child.pid);
	shim_store32(s, stop, 1, SHIM_RELEASE);
	for (i = 0; i < 20000 && shim_proc_alive(s, &child) == 1; i++)
		shim_sleep_ns(s, 100000);
	assert_int_equal(shim_proc_alive(s, &child), 0);
	assert_int_equal(shim_pool_avail(s, p), 64);
	posix_shim_close(s);
}

static void
noop_free(void *addr, void *opaque)
{
	(void)addr;
	++*(int *)opaque;
}

/* SHM-6: what the sender still holds is copied, and its free function runs on its side */
static void
test_shared_bytes_are_copied_on_the_wire(void **state)
{
	static _Alignas(64) char memory[256];
	struct posix_opts o = opts();
	struct rte_mbuf *m, *got, *all[64];
	struct shim_pool *p;
	struct shim *s;
	int freed = 0;

	(void)state;
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	start_ports(s, &p);
	m = shim_buf_alloc(s, p);
	*(uint8_t *)shim_buf_append(m, 60) = 1;
	shim_buf_ref(s, m, 1);
	assert_int_equal(shim_tx_burst(s, 0, 0, &m, 1), 1);
	assert_int_equal(shim_rx_burst(s, 1, 0, &got, 1), 1);
	assert_ptr_not_equal(m, got);
	assert_int_equal(*shim_buf_data_off(got, uint8_t *, 0), 1);
	shim_buf_free(s, got);
	shim_buf_free(s, m);
	m = shim_buf_alloc(s, p);
	assert_int_equal(shim_buf_attach_ext(s, m, memory, 256, noop_free, &freed), 0);
	shim_buf_append(m, 60);
	/* No buffer for the copy: the frame stays the sender's. */
	assert_int_equal(shim_buf_alloc_bulk(s, p, all, 63), 0);
	assert_int_equal(shim_tx_burst(s, 0, 0, &m, 1), 0);
	shim_buf_free_bulk(s, all, 63);
	assert_int_equal(shim_tx_burst(s, 0, 0, &m, 1), 1);
	assert_int_equal(freed, 1);
	assert_int_equal(shim_rx_burst(s, 1, 0, &got, 1), 1);
	shim_buf_free(s, got);
	assert_int_equal(shim_pool_avail(s, p), 64);
	posix_shim_close(s);
}

/* SHM-6 */
static void
test_arguments_and_limits(void **state)
{
	struct posix_opts o = opts();
	struct shim *s, *other;
	struct shim_pool *p;
	struct rte_ring *r;
	char name[32];
	void *a;
	int i, rc;

	(void)state;
	o.bed = "no/slash";
	assert_int_equal(posix_shim_create(&o, 0, &s), -EINVAL);
	o.bed = "";
	assert_int_equal(posix_shim_create(&o, 0, &s), -EINVAL);
	o.bed = "a2345678901234567890123456789012345678901234567890123456789012345";
	assert_int_equal(posix_shim_create(&o, 0, &s), -ENAMETOOLONG);
	assert_int_equal(posix_shim_attach(NULL, SHIM_ROLE_WORKER, 0, &s), -EINVAL);
	o = opts();
	o.ring_size = 100;
	assert_int_equal(posix_shim_create(&o, 0, &s), -EINVAL);
	o = opts();
	o.size = 4096;
	assert_int_equal(posix_shim_create(&o, 0, &s), -EINVAL);
	o = opts();
	o.ring_size = 1 << 20; /* does not fit: the half-made bed goes away again */
	assert_int_equal(posix_shim_create(&o, 0, &s), -ENOMEM);
	o = opts();
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	assert_int_equal(posix_shim_create(&o, 0, &other), -EEXIST);
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_PRIMARY, 1, &other), -EPERM);
	assert_int_equal(posix_shim_door(s, SHIM_ROLE_PRIMARY, 1, &other), -EPERM);
	/* In this process the region is mapped already: a further door is what one makes. */
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_WORKER, 1, &other), -EADDRINUSE);
	assert_int_equal(shim_pool_create(s, "big", 100000, 2176, &p), -ENOMEM);
	assert_int_equal(shim_ring_create(s, "big", 1 << 24, 0, &r), -ENOMEM);
	assert_int_equal(shim_zone_reserve(s, "big", SIZE_MAX / 2, &a), -ENOMEM);
	for (i = 0, rc = 0; i < 600 && rc == 0; i++) {
		snprintf(name, sizeof(name), "z%d", i);
		rc = shim_zone_reserve(s, name, 8, &a);
	}
	assert_int_equal(rc, -ENOMEM); /* the table is full */
	assert_int_equal(shim_zone_free(s, "z1"), 0);
	assert_int_equal(shim_zone_reserve(s, "again", 8, &a), 0); /* its gap is found */
	posix_shim_close(s);
	posix_shim_close(NULL);
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_WORKER, 1, &other), -ENOENT);
}

/* A child that makes the bed and dies with everything open. */
static void
leave_dead_bed(void)
{
	struct posix_opts o = opts();
	struct shim *s;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(posix_shim_create(&o, 0, &s) == 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* SHM-6: a dead creator's region is seen to be that, and replaced */
static void
test_a_dead_creators_region_is_replaced(void **state)
{
	struct posix_opts o = opts();
	struct shim *s;

	(void)state;
	leave_dead_bed();
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_WORKER, 1, &s), -ESTALE);
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	assert_int_equal(shim_port_count(s), 2);
	posix_shim_close(s);
}

/* SHM-6: what is not a region of ours is refused by attach, and replaced by create */
static void
test_a_foreign_region_is_refused(void **state)
{
	struct posix_opts o = opts();
	struct shim *s;
	char path[64];
	uint32_t layout = 99;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/nonic-%s", bed);
	fd = shm_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_WORKER, 1, &s), -EPROTO); /* empty */
	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_WORKER, 1, &s), -EPROTO); /* zeros */
	close(fd);
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	fd = shm_open(path, O_RDWR, 0600);
	assert_int_equal(pwrite(fd, &layout, 4, 8), 4); /* another version's */
	close(fd);
	assert_int_equal(posix_shim_attach(bed, SHIM_ROLE_WORKER, 1, &s), -EPROTO);
	posix_shim_close(s);
}

/* SHM-6: who dies with the lock of the names in hand does not stop the others */
static void
test_a_dead_holder_of_the_lock(void **state)
{
	struct posix_opts o = opts();
	struct shim *s;
	int status, i;
	void *a;
	pid_t pid;

	(void)state;
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	pid = fork();
	if (pid == 0) {
		for (;;) { /* in the lock nearly all the time */
			shim_zone_reserve(s, "mine", 1 << 20, &a);
			shim_zone_free(s, "mine");
		}
	}
	usleep(20000);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	shim_zone_free(s, "mine"); /* may be there or not */
	for (i = 0; i < 3; i++) {
		assert_int_equal(shim_zone_reserve(s, "mine", 1 << 20, &a), 0);
		assert_int_equal(shim_zone_free(s, "mine"), 0);
	}
	posix_shim_close(s);
}

static void *
outlive(void *arg)
{
	(void)arg;
	usleep(300000);
	_exit(0);
}

/* A process whose main thread has ended and whose other one has not yet. */
static int
leaderless_main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, outlive, NULL) != 0)
		return 1;
	syscall(SYS_exit, 0);
	return 1; /* not reached */
}

/* The state letter of /proc/PID/stat; 0: no such process. */
static char
state_of(uint32_t pid)
{
	char path[64], line[512] = "";
	const char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	p = fgets(line, sizeof(line), f) == NULL ? NULL : strrchr(line, ')');
	fclose(f);
	return p == NULL ? 0 : p[2];
}

/* SHM-6, REL-4: a child lives as long as one of its threads does, and nothing is left of it when it is said to be dead */
static void
test_a_child_is_dead_when_its_last_thread_is_and_is_reaped_then(void **state)
{
	const char *const argv[] = { program, "leaderless", NULL };
	struct posix_opts o = opts();
	struct shim_proc child;
	struct shim *s;
	int i;

	(void)state;
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	assert_int_equal(shim_proc_spawn(s, argv, &child), 0);
	for (i = 0; i < 20000 && state_of(child.pid) != 'Z'; i++)
		usleep(100);
	assert_int_equal(state_of(child.pid), 'Z');
	assert_int_equal(shim_proc_alive(s, &child), 1);
	for (i = 0; i < 20000 && shim_proc_alive(s, &child) == 1; i++)
		usleep(100);
	assert_int_equal(shim_proc_alive(s, &child), 0);
	assert_int_equal(state_of(child.pid), 0);
	assert_int_equal(waitpid((pid_t)child.pid, NULL, WNOHANG), -1);
	posix_shim_close(s);
}

/* SHM-6: without a descriptor to ask with, nobody is called dead, or killed */
static void
test_without_descriptors_nobody_is_dead(void **state)
{
	const char *const argv[] = { program, "leaderless", NULL };
	struct posix_opts o = opts();
	struct rlimit before, none;
	struct shim_proc child;
	struct shim *s;
	int alive, killed;

	(void)state;
	assert_int_equal(posix_shim_create(&o, 0, &s), 0);
	assert_int_equal(shim_proc_spawn(s, argv, &child), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	alive = shim_proc_alive(s, &child);
	killed = shim_proc_kill(s, &child);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(alive, -EMFILE);
	assert_int_equal(killed, -EMFILE);
	assert_int_equal(shim_proc_alive(s, &child), 1);
	assert_int_equal(shim_proc_kill(s, &child), 0);
	for (int i = 0; i < 20000 && shim_proc_alive(s, &child) == 1; i++)
		usleep(100);
	assert_int_equal(shim_proc_alive(s, &child), 0);
	posix_shim_close(s);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_processes_exchange_frames),
		cmocka_unit_test(test_shared_bytes_are_copied_on_the_wire),
		cmocka_unit_test(test_arguments_and_limits),
		cmocka_unit_test(test_a_dead_creators_region_is_replaced),
		cmocka_unit_test(test_a_foreign_region_is_refused),
		cmocka_unit_test(test_a_dead_holder_of_the_lock),
		cmocka_unit_test(test_a_child_is_dead_when_its_last_thread_is_and_is_reaped_then),
		cmocka_unit_test(test_without_descriptors_nobody_is_dead),
	};

	if (argc == 2)
		return leaderless_main();
	if (argc == 3)
		return echo_main(argv[2]);
	if (realpath(argv[0], program) == NULL)
		return 1;
	snprintf(bed, sizeof(bed), "test-%d", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a bed in POSIX shared memory: create, attach, replace what the dead left, close. */
#include "posix.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "priv.h"

#define DEFAULT_SIZE ((size_t)32 << 20)
#define DEFAULT_QUEUES 4
#define DEFAULT_RING 1024
#define BED_STRIDE (UINT64_C(1) << 36)
#define BED_SLOTS 16

static void
posix_vlog(struct shim *s, int level, const char *fmt, va_list ap)
{
	static const char *const names[] = { "EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE" };
	char line[512];

	if (level < SHIM_LOG_EMERG || level > SHIM_LOG_NOTICE)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "%u %s: %s\n", s->self.pid, names[level - 1], line);
}

static void *
posix_malloc(struct shim *s, size_t n)
{
	(void)s;
	return sys_malloc(n);
}

static void
posix_free(struct shim *s, void *p)
{
	(void)s;
	free(p);
}

static uint64_t
posix_cycles_hz(struct shim *s)
{
	(void)s;
	return 1000000000ull;
}

static uint64_t
posix_random(struct shim *s)
{
	return host_random_next(&((struct posix_door *)s)->random_state);
}

static int
posix_entropy(struct shim *s, void *buf, size_t n)
{
	(void)s;
	return sys_entropy(buf, n);
}

static int
posix_proc_alive(struct shim *s, const struct shim_proc *p)
{
	(void)s;
	return sys_proc_alive(p);
}

static int
posix_proc_spawn(struct shim *s, const char *const argv[], struct shim_proc *out)
{
	(void)s;
	return sys_proc_spawn(argv, out);
}

static const struct shim_ops posix_ops = {
	.name = "posix",
	.vlog = posix_vlog,
	.malloc = posix_malloc,
	.free = posix_free,
	.cycles = host_clock_ns,
	.cycles_hz = posix_cycles_hz,
	.clock_ns = host_clock_ns,
	.wall_ns = host_wall_ns,
	.sleep_ns = host_sleep_ns,
	.random = posix_random,
	.entropy = posix_entropy,
	.proc_alive = posix_proc_alive,
	.proc_spawn = posix_proc_spawn,
	.proc_kill = host_proc_kill,
	.zone_reserve = posix_zone_reserve,
	.zone_lookup = posix_zone_lookup,
	.zone_free = posix_zone_free,
	.ring_create = posix_ring_create,
	.ring_lookup = posix_ring_lookup,
	.ring_free = posix_ring_free,
	.ring_enqueue_burst = host_ring_enqueue_burst,
	.ring_dequeue_burst = host_ring_dequeue_burst,
	.ring_take = host_ring_take,
	.ring_count = host_ring_count,
	.ring_capacity = host_ring_capacity,
	.ring_recover = host_ring_recover,
	.ring_put = host_ring_put,
	.ring_get = host_ring_get,
	.pool_create = posix_pool_create,
	.pool_lookup = posix_pool_lookup,
	.pool_free = posix_pool_free,
	.pool_size = posix_pool_size,
	.pool_avail = posix_pool_avail,
	.pool_data_room = posix_pool_data_room,
	.pool_owns = posix_pool_owns,
	.cache_id = posix_cache_id,
	.pool_sweep = posix_pool_sweep,
	.buf_alloc = posix_buf_alloc,
	.buf_release = posix_buf_release,
	.port_count = posix_port_count,
	.port_info = posix_port_info,
	.port_configure = posix_port_configure,
	.port_start = posix_port_start,
	.port_stop = posix_port_stop,
	.port_mtu_get = posix_port_mtu_get,
	.port_mtu_set = posix_port_mtu_set,
	.port_stats = posix_port_stats,
	.port_link = posix_port_link,
	.port_promiscuous_get = posix_port_promiscuous_get,
	.port_promiscuous_set = posix_port_promiscuous_set,
	.port_allmulticast_set = posix_port_allmulticast_set,
	.port_rss_key_get = posix_port_rss_key_get,
	.port_rss_key_set = posix_port_rss_key_set,
	.port_reta_get = posix_port_reta_get,
	.port_reta_set = posix_port_reta_set,
	.rx_burst = posix_rx_burst,
	.tx_burst = posix_tx_burst,
	.load = host_load,
	.store = host_store,
	.cas = host_cas,
	.fetch_add = host_fetch_add,
	.fence = host_fence,
};

/* ---- names and addresses ---- */

/* "/nonic-BED" in path. */
static int
bed_path(const char *bed, char path[64])
{
	const char *c;

	if (bed == NULL || bed[0] == '\0')
		return -EINVAL;
	for (c = bed; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
			return -EINVAL;
	return snprintf(path, 64, "/nonic-%s", bed) < 64 ? 0 : -ENAMETOOLONG;
}

static void *
map_at(int fd, size_t size, uint64_t base)
{
	void *p = mmap((void *)(uintptr_t)base, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	if (p != MAP_FAILED && (uint64_t)(uintptr_t)p != base) { /* a kernel before 4.17 */
		munmap(p, size);
		p = MAP_FAILED;
	}
	return p;
}

/*
 * Somewhere that every process of the bed can map too. The first range is good for plain programs and
 * the sanitizers (their shadow is lower), the second for valgrind (which has no higher one).
 */
static void *
map_anywhere(int fd, size_t size)
{
	static const uint64_t ranges[] = { 0x7ea000000000ull, 0x0a0000000000ull };
	unsigned int i, k;
	void *p;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < BED_SLOTS; k++) {
			p = map_at(fd, size, ranges[i] + k * BED_STRIDE);
			if (p != MAP_FAILED)
				return p;
		}
	}
	return MAP_FAILED;
}

/* ---- doors ---- */

static struct posix_door *
door_new(struct posix_map *map, enum shim_role role, uint32_t proc_id)
{
	struct posix_door *d = sys_malloc(sizeof(*d));

	if (d == NULL)
		return NULL;
	d->shim.ops = &posix_ops;
	d->shim.role = role;
	d->shim.self = sys_self(proc_id);
	d->shim.now_ns = sys_clock_ns();
	d->map = map;
	d->slot = posix_slot_take(map->region, &d->shim.self);
	map->doors++;
	if (sys_entropy(&d->random_state, sizeof(d->random_state)) != 0)
		d->random_state = d->shim.now_ns;
	return d;
}

int
posix_shim_door(struct shim *s, enum shim_role role, uint32_t proc_id, struct shim **out)
{
	struct posix_door *d;

	if (role == SHIM_ROLE_PRIMARY)
		return -EPERM;
	d = door_new(((struct posix_door *)s)->map, role, proc_id);
	if (d == NULL)
		return -ENOMEM;
	*out = &d->shim;
	return 0;
}

void
posix_shim_close(struct shim *s)
{
	struct posix_door *d = (struct posix_door *)s;

	if (d == NULL)
		return;
	posix_slot_leave(d->map->region, d->slot);
	if (d->creator)
		shm_unlink(d->path);
	if (--d->map->doors == 0) {
		munmap(d->map->region, d->map->size);
		free(d->map);
	}
	free(d);
}

/* A map and a first door over a mapped region; on failure the mapping is the caller's still. */
static struct posix_door *
first_door(struct posix_region *r, enum shim_role role, uint32_t proc_id)
{
	struct posix_map *map = sys_malloc(sizeof(*map));
	struct posix_door *d;

	if (map == NULL)
		return NULL;
	map->region = r;
	map->size = r->size;
	d = door_new(map, role, proc_id);
	if (d == NULL)
		free(map);
	return d;
}

/* ---- attach ---- */

/* Reads the region's beginning and says whether it is one of ours whose creator lives. */
static int
region_check(int fd, struct posix_region *head)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < sizeof(*head) ||
	    pread(fd, head, sizeof(*head), 0) != (ssize_t)sizeof(*head))
		return -EPROTO;
	if (head->magic != POSIX_MAGIC || head->layout != POSIX_LAYOUT ||
	    head->size != (uint64_t)st.st_size || head->base == 0 || head->base % 4096 != 0 ||
	    head->n_ports > SHIM_MAX_PORTS || head->queues > POSIX_QUEUES)
		return -EPROTO;
	return sys_proc_alive(&head->creator) == 1 ? 0 : -ESTALE;
}

static int
region_open(const char *path, struct posix_region **out)
{
	struct posix_region *head = sys_malloc(sizeof(*head));
	void *p;
	int fd, rc;

	if (head == NULL)
		return -ENOMEM;
	fd = shm_open(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0) {
		rc = -errno;
		free(head);
		return rc;
	}
	rc = region_check(fd, head);
	if (rc == 0) {
		p = map_at(fd, head->size, head->base);
		if (p == MAP_FAILED)
			rc = -EADDRINUSE;
		else
			*out = p;
	}
	close(fd);
	free(head);
	return rc;
}

int
posix_shim_attach(const char *bed, enum shim_role role, uint32_t proc_id, struct shim **out)
{
	struct posix_region *r = NULL;
	struct posix_door *d;
	char path[64];
	int rc = bed_path(bed, path);

	if (rc != 0)
		return rc;
	if (role == SHIM_ROLE_PRIMARY)
		return -EPERM;
	rc = region_open(path, &r);
	if (rc != 0)
		return rc;
	d = first_door(r, role, proc_id);
	if (d == NULL) {
		munmap(r, r->size);
		return -ENOMEM;
	}
	*out = &d->shim;
	return 0;
}

/* ---- create ---- */

/*
 * Takes away a region nobody lives in: 0, or -EEXIST. One without its magic may be in the making, for
 * which its creator needs far less than the half second it is given here. The lock keeps two that
 * replace the same region from taking each other's new one away.
 */
static int
region_remove_stale(const char *path)
{
	struct posix_region *head = sys_malloc(sizeof(*head));
	struct stat mine, now;
	int fd = shm_open(path, O_RDWR | O_CLOEXEC, 0), again, rc = -EEXIST, tries;

	if (head == NULL || fd < 0)
		goto out;
	for (tries = 0; tries < 50; tries++) {
		rc = region_check(fd, head);
		if (rc != -EPROTO)
			break;
		sys_sleep_ns(10000000);
	}
	if (rc == 0) {
		rc = -EEXIST;
		goto out;
	}
	flock(fd, LOCK_EX);
	again = shm_open(path, O_RDWR | O_CLOEXEC, 0);
	if (again >= 0) {
		if (fstat(fd, &mine) == 0 && fstat(again, &now) == 0 && mine.st_ino == now.st_ino)
			shm_unlink(path);
		close(again);
	}
	rc = 0;
out:
	if (fd >= 0)
		close(fd);
	else if (head != NULL)
		rc = 0; /* it went away by itself */
	free(head);
	return rc;
}

static int
region_fd_new(const char *path, size_t size)
{
	int fd, rc, tries;

	for (tries = 0; tries < 3; tries++) {
		fd = shm_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			break;
		if (errno != EEXIST)
			return -errno;
		rc = region_remove_stale(path);
		if (rc != 0)
			return rc;
	}
	if (fd < 0)
		return -EEXIST;
	/* All of it now: shared memory that runs out later is a signal, not an error. */
	if (posix_fallocate(fd, 0, (off_t)size) != 0) {
		close(fd);
		shm_unlink(path);
		return -ENOMEM;
	}
	return fd;
}

static void
region_init(struct posix_region *r, size_t size)
{
	pthread_mutexattr_t attr;

	r->layout = POSIX_LAYOUT;
	r->size = size;
	r->base = (uint64_t)(uintptr_t)r;
	r->creator = sys_self(0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&r->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static int
opts_check(const struct posix_opts *in, struct posix_opts *o)
{
	*o = *in;
	if (o->size == 0)
		o->size = DEFAULT_SIZE;
	if (o->queues == 0)
		o->queues = DEFAULT_QUEUES;
	if (o->ring_size == 0)
		o->ring_size = DEFAULT_RING;
	o->size = (o->size + 4095) & ~(size_t)4095;
	if (o->pairs > SHIM_MAX_PORTS / 2 || o->queues > POSIX_QUEUES ||
	    o->size < sizeof(struct posix_region) || o->size > BED_STRIDE ||
	    host_ring_check(o->ring_size, SHIM_RING_SP_SC) != 0)
		return -EINVAL;
	return 0;
}

int
posix_shim_create(const struct posix_opts *in, uint32_t proc_id, struct shim **out)
{
	struct posix_door *d;
	struct posix_opts o;
	char path[64];
	void *p;
	int fd, rc = bed_path(in->bed, path);

	if (rc == 0)
		rc = opts_check(in, &o);
	if (rc != 0)
		return rc;
	fd = region_fd_new(path, o.size);
	if (fd < 0)
		return fd;
	p = map_anywhere(fd, o.size);
	close(fd);
	if (p == MAP_FAILED) {
		shm_unlink(path);
		return -EADDRINUSE;
	}
	region_init(p, o.size);
	d = first_door(p, SHIM_ROLE_PRIMARY, proc_id);
	if (d == NULL) {
		shm_unlink(path);
		munmap(p, o.size);
		return -ENOMEM;
	}
	d->creator = true;
	memcpy(d->path, path, sizeof(path));
	rc = posix_ports_init(&d->shim, o.pairs, o.queues, o.ring_size);
	if (rc != 0) {
		posix_shim_close(&d->shim);
		return rc;
	}
	__atomic_store_n(&((struct posix_region *)p)->magic, POSIX_MAGIC, __ATOMIC_RELEASE);
	*out = &d->shim;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The region's layout, and what the posix backend's files share. */
#ifndef NONIC_SHIM_HOST_POSIX_PRIV_H
#define NONIC_SHIM_HOST_POSIX_PRIV_H

#include <pthread.h>

#include "../buf.h"
#include "../common.h"
#include "posix.h"

#define POSIX_MAGIC 0x6e6f6e6963736801ull
#define POSIX_LAYOUT 3u
#define POSIX_ENTRIES 512u
#define POSIX_QUEUES 16u
#define POSIX_SLOTS 128u /* caches of pools: FREELIST_OWNERS */

enum posix_kind { POSIX_FREE = 0, POSIX_ZONE, POSIX_RING, POSIX_POOL };

/* A named piece of the region. kind is written last when it is made and first when it ends. */
struct posix_entry {
	uint32_t kind;
	char name[SHIM_NAME_MAX + 2];
	uint64_t off, size; /* multiples of 64; asked is what the caller wanted */
	uint64_t asked;
};

/* One way of one queue; the counters have one writer, the queue's owner. */
struct posix_counters {
	uint64_t packets, bytes, errors;
} __attribute__((aligned(64)));

struct posix_port {
	uint32_t configured, started, promiscuous, allmulticast;
	uint16_t mtu, nb_rx, nb_tx;
	uint64_t rx_enabled, tx_enabled;
	struct shim_pool *pool;
	struct rte_ring *tx[POSIX_QUEUES]; /* the neighbour's rx */
	struct posix_counters rx_count[POSIX_QUEUES], tx_count[POSIX_QUEUES];
};

/*
 * The beginning of the region. It is mapped at the same address, base, in every process, which is what
 * makes the pointers in rings, buffers and ports good everywhere; zones of core/ hold none all the same.
 */
struct posix_region {
	uint64_t magic; /* written last */
	uint32_t layout, n_ports, queues;
	uint64_t size, base;
	struct shim_proc creator;
	pthread_mutex_t lock; /* of the entries and slots; robust: its holder may die */
	uint32_t next_slot;
	struct shim_proc slot[POSIX_SLOTS]; /* whose cache it is; pid 0: nobody's */
	struct posix_entry entries[POSIX_ENTRIES];
	struct posix_port ports[SHIM_MAX_PORTS];
};

/* A process's mapping, shared by its doors. */
struct posix_map {
	struct posix_region *region;
	size_t size;
	unsigned int doors;
};

struct posix_door {
	struct shim shim;
	struct posix_map *map;
	bool creator;
	uint32_t slot; /* its caches' number */
	char path[64];
	uint64_t random_state;
};

static inline struct posix_region *
posix_region_of(const struct shim *s)
{
	return ((const struct posix_door *)s)->map->region;
}

/* Takes and leaves the lock of the entries; what a dead holder left half-made is no entry. */
void posix_lock(struct posix_region *r);
void posix_unlock(struct posix_region *r);

/* A piece of zeroed memory with a name; init makes of it what it is (NULL: nothing) before anybody can find it. */
int posix_piece_make(struct shim *s, enum posix_kind kind, const char *name, uint64_t size,
	int (*init)(void *piece, void *arg), void *arg, void **addr);
int posix_piece_lookup(struct shim *s, enum posix_kind kind, const char *name, void **addr, size_t *size);
/* Ends a piece by its address; one that is not there is a programming error and is left alone. */
void posix_piece_free(struct shim *s, enum posix_kind kind, const void *addr);
/* fn for every piece of the kind, of size bytes, under the lock. */
void posix_pieces(struct posix_region *r, enum posix_kind kind, void (*fn)(void *piece, uint64_t size, void *arg), void *arg);

/* A number for a process's caches; FREELIST_ANON when there is none left. Leaving it empties them. */
uint32_t posix_slot_take(struct posix_region *r, const struct shim_proc *self);
void posix_slot_leave(struct posix_region *r, uint32_t slot);

int posix_zone_reserve(struct shim *s, const char *name, size_t size, void **addr);
int posix_zone_lookup(struct shim *s, const char *name, void **addr, size_t *size);
int posix_zone_free(struct shim *s, const char *name);
int posix_ring_create(struct shim *s, const char *name, unsigned int count, unsigned int flags,
	struct rte_ring **out);
int posix_ring_lookup(struct shim *s, const char *name, struct rte_ring **out);
void posix_ring_free(struct shim *s, struct rte_ring *r);
int posix_pool_create(struct shim *s, const char *name, unsigned int n, uint16_t data_room,
	struct shim_pool **out);
int posix_pool_lookup(struct shim *s, const char *name, struct shim_pool **out);
void posix_pool_free(struct shim *s, struct shim_pool *p);
unsigned int posix_pool_size(struct shim *s, const struct shim_pool *p);
unsigned int posix_pool_avail(struct shim *s, const struct shim_pool *p);
uint16_t posix_pool_data_room(struct shim *s, const struct shim_pool *p);
bool posix_pool_owns(struct shim *s, const struct shim_pool *p, const void *m);
uint32_t posix_cache_id(const struct shim *s);
unsigned int posix_pool_sweep(struct shim *s, struct shim_pool *p, uint32_t mark, uint32_t cache_id);
struct rte_mbuf *posix_buf_alloc(struct shim *s, struct shim_pool *p);
void posix_buf_release(struct shim *s, struct rte_mbuf *m);

/* Makes the ports' rings; called by the creator before the region's magic is there. */
int posix_ports_init(struct shim *s, unsigned int pairs, unsigned int queues,
	unsigned int ring_size);
unsigned int posix_port_count(struct shim *s);
int posix_port_info(struct shim *s, uint16_t port, struct shim_port_info *info);
int posix_port_configure(struct shim *s, uint16_t port, const struct shim_port_conf *c);
int posix_port_start(struct shim *s, uint16_t port);
int posix_port_stop(struct shim *s, uint16_t port);
int posix_port_mtu_get(struct shim *s, uint16_t port, uint16_t *mtu);
int posix_port_mtu_set(struct shim *s, uint16_t port, uint16_t mtu);
int posix_port_stats(struct shim *s, uint16_t port, struct shim_port_stats *st);
int posix_port_link(struct shim *s, uint16_t port, struct shim_port_link *l);
int posix_port_promiscuous_get(struct shim *s, uint16_t port);
int posix_port_promiscuous_set(struct shim *s, uint16_t port, bool on);
int posix_port_allmulticast_set(struct shim *s, uint16_t port, bool on);
int posix_port_rss_key_get(struct shim *s, uint16_t port, uint8_t *key, uint8_t *len);
int posix_port_rss_key_set(struct shim *s, uint16_t port, const uint8_t *key, uint8_t len);
int posix_port_reta_get(struct shim *s, uint16_t port, uint16_t *queues, uint16_t n);
int posix_port_reta_set(struct shim *s, uint16_t port, const uint16_t *queues, uint16_t n);
uint16_t posix_rx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
	uint16_t n);
uint16_t posix_tx_burst(struct shim *s, uint16_t port, uint16_t queue, struct rte_mbuf **m,
	uint16_t n);

#endif

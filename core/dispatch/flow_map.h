/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow map: the flows that are this worker's own, whatever the other generation publishes (DSP-2, DSP-3, DSP-4).
 * Private memory, one thread. Open addressing in buckets of one cache line that holds 16-bit tags and entry numbers,
 * so that a miss costs one line; full keys are compared on a tag's hit, so an answer is exact. Grows by doubling, a
 * few buckets a call, never all at once.
 */
#ifndef NONIC_DISPATCH_FLOW_MAP_H
#define NONIC_DISPATCH_FLOW_MAP_H

#include "flow.h"

struct flow_map;

struct flow_map_stats {
	uint64_t inserted, present, full, removed, grown, grow_failed;
	uint32_t used, room;
};

/*
 * room: entries it holds at least at first; max: as far as it grows. Both are rounded up to powers of two. -EINVAL,
 * -ENOMEM.
 */
int flow_map_create(struct shim *s, uint32_t room, uint32_t max, const struct siphash_key *secret, struct flow_map **out);
void flow_map_destroy(struct flow_map *m); /* NULL is fine */

/*
 * 0; 1: it was there already; -ENOSPC (at max; counted as full). hash is flow_hash of k by the map's secret, for all
 * four.
 */
int flow_map_insert(struct flow_map *m, const struct flow_key *k, uint64_t hash);
bool flow_map_lookup(const struct flow_map *m, const struct flow_key *k, uint64_t hash);
/* n <= 64 keys; bit i of the result: flow i is there. Prefetches across the burst. */
uint64_t flow_map_lookup_bulk(const struct flow_map *m, const struct flow_key *const *k, const uint64_t *hash,
	unsigned int n);
/* Would a new flow find no place? */
bool flow_map_full(const struct flow_map *m);
/* 0, -ENOENT. Leaves no mark behind. */
int flow_map_remove(struct flow_map *m, const struct flow_key *k, uint64_t hash);
/* Empties it; memory is kept up to the first room. */
void flow_map_clear(struct flow_map *m);
void flow_map_stats(const struct flow_map *m, struct flow_map_stats *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragment owners (DSP-6): the first fragment of a datagram is dispatched by its ports, all others follow it. Those
 * that come before their first fragment wait here, a bounded number for a bounded time. Private memory, one thread,
 * one per lane.
 */
#ifndef NONIC_DISPATCH_FRAG_OWNER_H
#define NONIC_DISPATCH_FRAG_OWNER_H

#include "flow.h"

#define FRAG_OWNERS 1024u        /* datagrams remembered; the oldest of a bucket goes first */
#define FRAG_OWNER_MS 5000u      /* for so long */
#define FRAG_HELD 64u            /* buffers waiting, all datagrams together */
#define FRAG_HELD_MS 2u          /* then they go on without it */

enum frag_owner_to { FRAG_UNKNOWN, FRAG_LOCAL, FRAG_PEER };

struct frag_owners;

int frag_owners_create(struct shim *s, const struct siphash_key *secret, struct frag_owners **out); /* -ENOMEM */
/* Frees what waits. NULL is fine. */
void frag_owners_destroy(struct frag_owners *f);
/* Forgets every owner; what waits goes on waiting. */
void frag_owners_forget(struct frag_owners *f);
/* Remembers where a datagram goes. The first one that is set stays (a forged second first fragment changes nothing). */
enum frag_owner_to frag_owner_set(struct frag_owners *f, const struct flow_frag *key, enum frag_owner_to to, uint32_t now_ms);
enum frag_owner_to frag_owner_get(struct frag_owners *f, const struct flow_frag *key, uint32_t now_ms);
/* Keeps m until its datagram's owner is known. False: no room, m stays the caller's. */
bool frag_owner_hold(struct frag_owners *f, const struct flow_frag *key, struct rte_mbuf *m, uint64_t now_ns);
/* Takes up to n held buffers of the datagram (its owner is known now), in the order they came. */
unsigned int frag_owner_release(struct frag_owners *f, const struct flow_frag *key, struct rte_mbuf **m, unsigned int n);
/* Takes up to n buffers that have waited FRAG_HELD_MS, in the order they came. all: however long. */
unsigned int frag_owner_expire(struct frag_owners *f, uint64_t now_ns, bool all, struct rte_mbuf **m, unsigned int n);
/* When the next one expires; UINT64_MAX: none waits. */
uint64_t frag_owner_next(const struct frag_owners *f);

#endif

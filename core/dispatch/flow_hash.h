/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which eight flow keys are hashed at once; private to flow_hash.c and its test. */
#ifndef NONIC_DISPATCH_FLOW_HASH_H
#define NONIC_DISPATCH_FLOW_HASH_H

#include "flow.h"

#define FLOW_LANES 8u

enum flow_simd { FLOW_BASE, FLOW_AVX2, FLOW_AVX512 };

/* n words (2 or 5, SipHash's last one included) of eight messages; eight hashes. */
typedef void flow_eight_fn(const struct siphash_key *secret, const uint64_t (*w)[FLOW_LANES], unsigned int n, uint64_t *hash);

/* The best way up to level that this processor has. */
flow_eight_fn *flow_eight(enum flow_simd level);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a network card knows of a frame: where its headers are, its checksums, its RSS hash. Flat bytes only. */
#ifndef NONIC_SHIM_HOST_SIM_FRAME_H
#define NONIC_SHIM_HOST_SIM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct sim_frame_info {
	uint8_t family;       /* 4, 6, or 0: neither, or cut short */
	uint8_t proto;        /* of the transport header at l4; 0: none a card looks at */
	bool fragment;
	bool vlan;            /* one 802.1Q tag */
	uint32_t l3, l4, end; /* offsets; end: of the packet (padding excluded) */
};

void sim_frame_parse(const uint8_t *f, uint32_t len, struct sim_frame_info *i);

enum sim_csum { SIM_CSUM_NONE, SIM_CSUM_GOOD, SIM_CSUM_BAD };
/* IPv4 header; TCP, UDP of whole packets. NONE: the card does not look. */
enum sim_csum sim_frame_l3_csum(const uint8_t *f, const struct sim_frame_info *i);
enum sim_csum sim_frame_l4_csum(const uint8_t *f, const struct sim_frame_info *i);

/* One's complement sum of n bytes (big-endian words), not complemented. */
uint16_t sim_sum(const uint8_t *p, uint32_t n, uint32_t start);

/* RSS: addresses, and ports of TCP and UDP that are no fragments. False: not IP, no hash. */
bool sim_frame_rss(const uint8_t *f, const struct sim_frame_info *i, const uint8_t *key, uint32_t *hash);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers, checksums and RSS of flat frames; see frame.h. Written apart from core/, so that each checks the other. */
#include "frame.h"

#include <string.h>

#define PROTO_TCP 6
#define PROTO_UDP 17

static uint32_t
word(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static void
parse4(const uint8_t *f, uint32_t len, struct sim_frame_info *i)
{
	uint32_t ihl, total;

	if (len < i->l3 + 20 || f[i->l3] >> 4 != 4)
		return;
	ihl = (f[i->l3] & 15u) * 4u;
	total = word(f + i->l3 + 2);
	if (ihl < 20 || total < ihl || i->l3 + total > len)
		return;
	i->family = 4;
	i->end = i->l3 + total;
	i->l4 = i->l3 + ihl;
	i->fragment = (word(f + i->l3 + 6) & 0x3fff) != 0;
	i->proto = f[i->l3 + 9];
}

static void
parse6(const uint8_t *f, uint32_t len, struct sim_frame_info *i)
{
	if (len < i->l3 + 40 || f[i->l3] >> 4 != 6 || i->l3 + 40 + word(f + i->l3 + 4) > len)
		return;
	i->family = 6;
	i->end = i->l3 + 40 + word(f + i->l3 + 4);
	i->l4 = i->l3 + 40;
	i->proto = f[i->l3 + 6];
	i->fragment = i->proto == 44;
}

void
sim_frame_parse(const uint8_t *f, uint32_t len, struct sim_frame_info *i)
{
	uint32_t type;

	memset(i, 0, sizeof(*i));
	if (len < 14)
		return;
	i->l3 = 14;
	type = word(f + 12);
	if (type == 0x8100) {
		if (len < 18)
			return;
		i->vlan = true;
		i->l3 = 18;
		type = word(f + 16);
	}
	if (type == 0x0800)
		parse4(f, len, i);
	else if (type == 0x86dd)
		parse6(f, len, i);
	if (i->proto == PROTO_UDP && i->l4 + 8 > i->end)
		i->proto = 0;
	if (i->proto == PROTO_TCP && i->l4 + 20 > i->end)
		i->proto = 0;
	if (i->proto != PROTO_UDP && i->proto != PROTO_TCP)
		i->proto = 0;
}

uint16_t
sim_sum(const uint8_t *p, uint32_t n, uint32_t start)
{
	uint64_t sum = start;

	for (; n > 1; n -= 2, p += 2)
		sum += word(p);
	if (n == 1)
		sum += (uint32_t)p[0] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

enum sim_csum
sim_frame_l3_csum(const uint8_t *f, const struct sim_frame_info *i)
{
	if (i->family != 4)
		return SIM_CSUM_NONE;
	return sim_sum(f + i->l3, i->l4 - i->l3, 0) == 0xffff ? SIM_CSUM_GOOD : SIM_CSUM_BAD;
}

enum sim_csum
sim_frame_l4_csum(const uint8_t *f, const struct sim_frame_info *i)
{
	uint32_t n = i->end - i->l4, pseudo;

	if (i->family == 0 || i->fragment || i->proto == 0)
		return SIM_CSUM_NONE;
	if (i->proto == PROTO_UDP && word(f + i->l4 + 6) == 0)
		return SIM_CSUM_NONE;
	if (i->proto == PROTO_UDP && word(f + i->l4 + 4) != n)
		return SIM_CSUM_NONE;
	pseudo = i->family == 4 ? sim_sum(f + i->l3 + 12, 8, 0) : sim_sum(f + i->l3 + 8, 32, 0);
	return sim_sum(f + i->l4, n, pseudo + i->proto + n) == 0xffff ? SIM_CSUM_GOOD : SIM_CSUM_BAD;
}

/* Toeplitz over n <= 36 bytes; the key has at least n + 4. */
static uint32_t
toeplitz36(const uint8_t *key, const uint8_t *d, uint32_t n)
{
	uint32_t window = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | word(key + 2);
	uint32_t h = 0;

	for (uint32_t i = 0; i < n; i++)
		for (int b = 7; b >= 0; b--) {
			if (d[i] >> b & 1)
				h ^= window;
			window = window << 1 | (key[i + 4] >> b & 1);
		}
	return h;
}

bool
sim_frame_rss(const uint8_t *f, const struct sim_frame_info *i, const uint8_t *key, uint32_t *hash)
{
	uint8_t in[36];
	uint32_t n = i->family == 4 ? 8 : 32;

	if (i->family == 0)
		return false;
	memcpy(in, f + i->l3 + (i->family == 4 ? 12 : 8), n);
	if (i->proto != 0 && !i->fragment) {
		memcpy(in + n, f + i->l4, 4);
		n += 4;
	}
	*hash = toeplitz36(key, in, n);
	return true;
}

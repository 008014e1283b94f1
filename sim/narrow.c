/* SPDX-License-Identifier: BSD-3-Clause */
/* A narrow place in a path; see narrow.h. Untagged frames only: tagged ones pass. */
#include "narrow.h"

#include <string.h>

#include "../core/base/bytes.h"
#include "../shim/host/sim/frame.h"

#define ETH 14u
#define IP4 20u
#define IP6 40u
#define QUOTE4 128u  /* bytes of the packet in an ICMPv4 error */
#define QUOTE6 1184u /* the error stays within 1280 */

static void
back_ethernet(uint8_t *out, const uint8_t *frame)
{
	memcpy(out, frame + 6, 6);
	memcpy(out + 6, frame, 6);
	memcpy(out + 12, frame + 12, 2);
}

static void
csum_at(uint8_t *at, const uint8_t *from, uint32_t n, uint32_t start)
{
	put_be16(at, 0);
	put_be16(at, (uint16_t)~sim_sum(from, n, start));
}

static void
needs_fragmentation(struct sim_narrow *n, struct sim_end *e, const uint8_t *f, const struct sim_frame_info *i)
{
	uint32_t quote = i->end - i->l3 < QUOTE4 ? i->end - i->l3 : QUOTE4;
	uint8_t out[ETH + IP4 + 8 + QUOTE4] = { 0 }, *ip = out + ETH, *icmp = ip + IP4;

	back_ethernet(out, f);
	ip[0] = 0x45;
	put_be16(ip + 2, (uint16_t)(IP4 + 8 + quote));
	ip[8] = 64;
	ip[9] = 1;
	memcpy(ip + 12, &n->router4_be, 4);
	memcpy(ip + 16, f + i->l3 + 12, 4);
	csum_at(ip + 10, ip, IP4, 0);
	icmp[0] = 3;
	icmp[1] = 4;
	put_be16(icmp + 6, n->mtu);
	memcpy(icmp + 8, f + i->l3, quote);
	csum_at(icmp + 2, icmp, 8 + quote, 0);
	n->too_big++;
	sim_send(e, out, ETH + IP4 + 8 + quote);
}

static void
packet_too_big(struct sim_narrow *n, struct sim_end *e, const uint8_t *f, const struct sim_frame_info *i)
{
	uint32_t quote = i->end - i->l3 < QUOTE6 ? i->end - i->l3 : QUOTE6;
	uint8_t out[ETH + IP6 + 8 + QUOTE6] = { 0 }, *ip = out + ETH, *icmp = ip + IP6;

	back_ethernet(out, f);
	ip[0] = 0x60;
	put_be16(ip + 4, (uint16_t)(8 + quote));
	ip[6] = 58;
	ip[7] = 64;
	memcpy(ip + 8, n->router6, 16);
	memcpy(ip + 24, f + i->l3 + 8, 16);
	icmp[0] = 2;
	put_be32(icmp + 4, n->mtu);
	memcpy(icmp + 8, f + i->l3, quote);
	csum_at(icmp + 2, icmp, 8 + quote, sim_sum(ip + 8, 32, 58u + 8u + quote));
	n->too_big++;
	sim_send(e, out, ETH + IP6 + 8 + quote);
}

static void
fragment(struct sim_narrow *n, struct sim_end *to, const uint8_t *f, const struct sim_frame_info *i)
{
	uint32_t hlen = i->l4 - i->l3, step = (n->mtu - hlen) / 8u * 8u, left = i->end - i->l4, at = 0;
	uint16_t was = get_be16(f + i->l3 + 6);
	uint8_t out[65600];

	memcpy(out, f, i->l4);
	while (left > 0) {
		uint32_t k = left < step ? left : step;
		uint16_t off = (uint16_t)((was & 0x1fff) + at / 8);

		left -= k;
		put_be16(out + i->l3 + 2, (uint16_t)(hlen + k));
		put_be16(out + i->l3 + 6, (uint16_t)(off | (left > 0 || (was & 0x2000) != 0 ? 0x2000 : 0)));
		csum_at(out + i->l3 + 10, out + i->l3, hlen, 0);
		memcpy(out + i->l4, f + i->l4 + at, k);
		sim_send(to, out, i->l4 + k);
		at += k;
	}
	n->fragmented++;
}

static void
receive(struct sim_end *e, const uint8_t *f, uint32_t len)
{
	struct sim_narrow *n = e->ctx;
	struct sim_end *to = e == &n->end[0] ? &n->end[1] : &n->end[0];
	struct sim_frame_info i;

	sim_frame_parse(f, len, &i);
	if (i.family == 0 || i.vlan || i.end - i.l3 <= n->mtu) {
		n->passed++;
		sim_send(to, f, len);
	} else if (i.family == 6) {
		packet_too_big(n, e, f, &i);
	} else if ((f[i.l3 + 6] & 0x40) != 0) {
		needs_fragmentation(n, e, f, &i);
	} else {
		fragment(n, to, f, &i);
	}
}

void
sim_narrow_init(struct sim_narrow *n, uint16_t mtu, uint32_t router4_be, const uint8_t router6[16])
{
	*n = (struct sim_narrow){ .mtu = mtu, .router4_be = router4_be };
	memcpy(n->router6, router6, 16);
	n->end[0] = (struct sim_end){ .receive = receive, .ctx = n, .name = "narrow.0" };
	n->end[1] = (struct sim_end){ .receive = receive, .ctx = n, .name = "narrow.1" };
}

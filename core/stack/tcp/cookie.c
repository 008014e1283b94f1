/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SYN cookies (RFC 4987 3.6): a half-open connection kept by its peer. The initial sequence number is 24 bits of a keyed hash over
 * addresses, ports, the peer's sequence number, the time and what follows, then 5 bits of time and 3 that choose an MSS. Window scale, SACK
 * and ECN are in the low 6 bits of the timestamp, when there are timestamps, else they are not used.
 */
#include "tcp_priv.h"

#define OPT_BITS 63u
#define OPT_NO_SCALE 15u
#define OPT_SACK 16u
#define OPT_ECN 32u
#define TICKS_VALID 2 /* the present one and the one before */

static const uint16_t mss_of[8] = { 216, 536, 1024, 1220, 1360, 1440, 1460, 8960 };

static uint32_t
mac(const struct stack *s, const struct tcp_key *k, uint32_t irs, uint64_t tick, uint32_t bits)
{
	struct {
		union ip_addr l, r;
		uint16_t lp, rp;
		uint32_t irs;
		uint64_t tick, bits;
	} in = { k->local, k->remote, k->lport_be, k->rport_be, irs, tick, bits };

	return (uint32_t)(siphash(&s->tcp->cookie_key, &in, sizeof(in)) >> 40);
}

static uint64_t
tick_now(const struct stack *s)
{
	return s->now_ns >> TCP_COOKIE_TICK_SHIFT;
}

uint32_t
tcp_cookie_make(const struct stack *s, const struct tcp_half *h, uint32_t *tsval)
{
	uint64_t tick = tick_now(s);
	uint32_t idx = 7, opts = 0;

	while (idx > 0 && mss_of[idx] > h->peer_mss)
		idx--;
	if (h->ts) {
		opts = (h->wscale ? h->shift : OPT_NO_SCALE) | (h->sack ? OPT_SACK : 0) | (h->ecn ? OPT_ECN : 0);
		/* Not later than now, or the next timestamp could be older. */
		*tsval = ((*tsval & ~OPT_BITS) | opts) - ((*tsval & OPT_BITS) < opts ? OPT_BITS + 1 : 0);
		opts |= OPT_BITS + 1;
	}
	return mac(s, &h->key, h->irs, tick, idx | opts << 3) << 8 | (uint32_t)(tick & 31) << 3 | idx;
}

bool
tcp_cookie_check(const struct stack *s, const struct tcp_seg *g, struct tcp_half *h)
{
	uint32_t cookie = g->ack - 1, idx = cookie & 7, opts = 0;
	uint64_t tick = tick_now(s), age = (tick - (cookie >> 3)) & 31;

	*h = (struct tcp_half){ .irs = g->seq - 1, .iss = cookie, .tries = 1 };
	tcp_key_of(g, &h->key);
	if (age >= TICKS_VALID || age > tick)
		return false;
	if (g->o.ts)
		opts = (g->o.tsecr & OPT_BITS) | (OPT_BITS + 1);
	if (mac(s, &h->key, h->irs, tick - age, idx | opts << 3) != cookie >> 8)
		return false;
	h->peer_mss = mss_of[idx];
	h->wnd = g->wnd;
	if (g->o.ts) {
		h->ts = true;
		h->ts_recent = g->o.tsval;
		h->ts_off = tcp_ts_offset(s, &h->key);
		h->wscale = (opts & 15) != OPT_NO_SCALE;
		h->shift = h->wscale ? opts & 15 : 0;
		h->sack = (opts & OPT_SACK) != 0;
		h->ecn = (opts & OPT_ECN) != 0;
	}
	return true;
}

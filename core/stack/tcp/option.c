/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP options read and written (RFC 9293 3.2, RFC 7323, RFC 2018). */
#include "tcp_priv.h"

enum { OPT_EOL, OPT_NOP, OPT_MSS, OPT_WSCALE, OPT_SACK_OK, OPT_SACK, OPT_TS = 8 };

static void
parse_sack(const uint8_t *b, unsigned int len, struct tcp_opts *o)
{
	if (len < 10 || (len - 2) % 8 != 0)
		return;
	for (unsigned int i = 2; i + 8 <= len && o->nb_sack < TCP_SACK_MAX; i += 8) {
		o->sack[o->nb_sack].start = get_be32(b + i);
		o->sack[o->nb_sack].end = get_be32(b + i + 4);
		o->nb_sack++;
	}
}

static void
parse_one(const uint8_t *b, unsigned int len, bool syn, struct tcp_opts *o)
{
	switch (b[0]) {
	case OPT_MSS:
		if (syn && len == 4) {
			o->mss = true;
			o->mss_val = get_be16(b + 2);
		}
		break;
	case OPT_WSCALE:
		if (syn && len == 3) {
			o->wscale = true;
			o->shift = b[2] > TCP_WSCALE_MAX ? TCP_WSCALE_MAX : b[2];
		}
		break;
	case OPT_SACK_OK:
		if (syn && len == 2)
			o->sack_ok = true;
		break;
	case OPT_SACK:
		if (!syn)
			parse_sack(b, len, o);
		break;
	case OPT_TS:
		if (len == 10) {
			o->ts = true;
			o->tsval = get_be32(b + 2);
			o->tsecr = get_be32(b + 6);
		}
		break;
	}
}

void
tcp_opts_parse(const uint8_t *b, uint32_t n, bool syn, struct tcp_opts *o)
{
	uint32_t i = 0;

	*o = (struct tcp_opts){ 0 };
	/* What nearly every segment has and nothing else: NOP, NOP, timestamps. */
	if (n == TCP_TS_LEN && b[0] == OPT_NOP && b[1] == OPT_NOP && b[2] == OPT_TS && b[3] == 10) {
		o->ts = true;
		o->tsval = get_be32(b + 4);
		o->tsecr = get_be32(b + 8);
		return;
	}
	while (i < n && b[i] != OPT_EOL) {
		if (b[i] == OPT_NOP) {
			i++;
			continue;
		}
		if (i + 1 >= n || b[i + 1] < 2 || b[i + 1] > n - i)
			return;
		parse_one(b + i, b[i + 1], syn, o);
		i += b[i + 1];
	}
}

uint32_t
tcp_emit_ts(uint8_t *b, uint32_t val, uint32_t ecr)
{
	b[0] = b[1] = OPT_NOP;
	b[2] = OPT_TS;
	b[3] = 10;
	put_be32(b + 4, val);
	put_be32(b + 8, ecr);
	return TCP_TS_LEN;
}

static uint32_t
put_scale(uint8_t *b, uint8_t shift)
{
	b[0] = OPT_NOP;
	b[1] = OPT_WSCALE;
	b[2] = 3;
	b[3] = shift;
	return 4;
}

/* SACK permission and timestamps; two bytes of padding go before whichever needs them. */
static uint32_t
put_sack_ts(uint8_t *b, const struct tcp_syn_opts *o)
{
	uint32_t n = 0;

	if (o->sack && o->ts) {
		n = tcp_emit_ts(b, o->tsval, o->tsecr);
		b[0] = OPT_SACK_OK;
		b[1] = 2;
	} else if (o->sack) {
		b[0] = OPT_NOP;
		b[1] = OPT_NOP;
		b[2] = OPT_SACK_OK;
		b[3] = 2;
		n = 4;
	} else if (o->ts) {
		n = tcp_emit_ts(b, o->tsval, o->tsecr);
	}
	return n;
}

uint32_t
tcp_emit_syn(uint8_t *b, const struct tcp_syn_opts *o)
{
	uint32_t n = 4;

	b[0] = OPT_MSS;
	b[1] = 4;
	put_be16(b + 2, o->mss);
	if (o->linux_order) { /* mss, sackOK, TS, nop, wscale; without timestamps mss, nop, nop, sackOK, nop, wscale */
		n += put_sack_ts(b + n, o);
		if (o->wscale)
			n += put_scale(b + n, o->shift);
		return n;
	}
	if (o->wscale)
		n += put_scale(b + n, o->shift);
	if (o->sack && !o->ts) { /* FreeBSD ends with what pads it: mss, (nop, wscale,) sackOK, eol, eol */
		b[n] = OPT_SACK_OK;
		b[n + 1] = 2;
		b[n + 2] = b[n + 3] = OPT_EOL;
		return n + 4;
	}
	return n + put_sack_ts(b + n, o);
}

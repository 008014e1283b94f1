/* SPDX-License-Identifier: BSD-3-Clause */
/* The fault model of a wire; see fault.h. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIRE_OVERHEAD 24u /* preamble 8, FCS 4, gap 12 */
#define QUEUE_DEFAULT (256u * 1024u)
#define ETH_HEADER 14u
#define VLAN_TAG 4u

void
fault_init(struct fault *f, const struct fault_params *p, uint64_t seed, uint64_t tag)
{
	memset(f, 0, sizeof(*f));
	f->p = *p;
	prng_init(&f->rng, seed, tag);
}

static bool
over_mtu(const struct fault *f, const uint8_t *frame, uint32_t len)
{
	uint32_t l2 = ETH_HEADER;

	if (f->p.mtu == 0 || len <= ETH_HEADER)
		return false;
	if (frame[12] == 0x81 && frame[13] == 0x00)
		l2 += VLAN_TAG;
	return len > l2 + f->p.mtu;
}

static uint64_t
serialise_ns(const struct fault *f, uint64_t bytes)
{
	return (uint64_t)(((unsigned __int128)bytes * 8u * 1000000000u + f->p.rate_bps - 1) / f->p.rate_bps);
}

/* Passes the rate limiter: when the frame has left it, or false when its queue is full. */
static bool
rate_limit(struct fault *f, uint64_t now_ns, uint32_t len, uint64_t *left_ns)
{
	uint64_t limit = f->p.queue_bytes != 0 ? f->p.queue_bytes : QUEUE_DEFAULT;
	uint64_t start = f->busy_until_ns > now_ns ? f->busy_until_ns : now_ns;

	*left_ns = now_ns;
	if (f->p.rate_bps == 0)
		return true;
	/* the queue is what is still to be sent, expressed in time */
	if (start - now_ns > serialise_ns(f, limit))
		return false;
	f->busy_until_ns = start + serialise_ns(f, (uint64_t)len + WIRE_OVERHEAD);
	*left_ns = f->busy_until_ns;
	return true;
}

static enum fault_verdict
lose(struct fault *f)
{
	if (f->burst_left > 0) {
		f->burst_left--;
		f->st.burst_dropped++;
		return FAULT_BURST;
	}
	if (f->p.burst_len > 0 && prng_chance(&f->rng, f->p.burst_ppm)) {
		f->burst_left = f->p.burst_len - 1;
		f->st.burst_dropped++;
		return FAULT_BURST;
	}
	if (prng_chance(&f->rng, f->p.drop_ppm)) {
		f->st.dropped++;
		return FAULT_DROP;
	}
	return FAULT_DELIVER;
}

static uint32_t
draw_flip(struct fault *f, uint32_t len)
{
	if (len == 0 || !prng_chance(&f->rng, f->p.corrupt_ppm))
		return FAULT_NO_FLIP;
	f->st.corrupted++;
	return (uint32_t)prng_below(&f->rng, (uint64_t)len * 8);
}

static uint64_t
hold_back(struct fault *f)
{
	return f->p.reorder_ns == 0 ? 0 : prng_range(&f->rng, 1, f->p.reorder_ns);
}

enum fault_verdict
fault_frame(struct fault *f, uint64_t now_ns, const uint8_t *frame, uint32_t len,
	struct fault_delivery out[FAULT_MAX_COPIES], unsigned int *n)
{
	enum fault_verdict v;
	uint64_t at;

	*n = 0;
	f->st.frames++;
	f->st.bytes += len;
	if (over_mtu(f, frame, len)) {
		f->st.mtu_dropped++;
		return FAULT_MTU;
	}
	if (!rate_limit(f, now_ns, len, &at)) {
		f->st.queue_dropped++;
		return FAULT_QUEUE;
	}
	v = lose(f);
	if (v != FAULT_DELIVER)
		return v;

	at += f->p.delay_ns;
	if (f->p.jitter_ns != 0)
		at += prng_below(&f->rng, f->p.jitter_ns + 1);
	if (at < f->last_ns)
		at = f->last_ns; /* jitter alone keeps the order */
	if (prng_chance(&f->rng, f->p.reorder_ppm)) {
		f->st.reordered++;
		out[0].at_ns = at + hold_back(f); /* last_ns stays: what follows may overtake */
	} else {
		out[0].at_ns = f->last_ns = at;
	}
	out[0].flip_bit = draw_flip(f, len);
	*n = 1;
	if (prng_chance(&f->rng, f->p.dup_ppm)) {
		f->st.duplicated++;
		out[1].at_ns = at + hold_back(f);
		out[1].flip_bit = draw_flip(f, len);
		*n = 2;
	}
	f->st.delivered += *n;
	return FAULT_DELIVER;
}

void
fault_flip(uint8_t *frame, uint32_t len, uint32_t bit)
{
	if (bit != FAULT_NO_FLIP && bit / 8 < len)
		frame[bit / 8] ^= (uint8_t)(1u << (bit % 8));
}

const char *
fault_verdict_name(enum fault_verdict v)
{
	switch (v) {
	case FAULT_DELIVER:
		return "deliver";
	case FAULT_DROP:
		return "drop";
	case FAULT_BURST:
		return "drop-burst";
	case FAULT_QUEUE:
		return "drop-queue";
	case FAULT_MTU:
		return "drop-mtu";
	}
	return "?";
}

void
fault_swarm(struct fault_params *p, struct prng *rng)
{
	uint64_t on = prng_next(rng);

	memset(p, 0, sizeof(*p));
	p->delay_ns = prng_range(rng, 1000, 2000000);
	p->reorder_ns = prng_range(rng, 1000, 5000000);
	if (on & 1)
		p->jitter_ns = prng_range(rng, 1000, 1000000);
	if (on & 2)
		p->drop_ppm = (uint32_t)prng_range(rng, 1000, 200000);
	if (on & 4)
		p->dup_ppm = (uint32_t)prng_range(rng, 1000, 200000);
	if (on & 8)
		p->reorder_ppm = (uint32_t)prng_range(rng, 1000, 300000);
	if (on & 16)
		p->corrupt_ppm = (uint32_t)prng_range(rng, 1000, 100000);
	if (on & 32) {
		p->burst_ppm = (uint32_t)prng_range(rng, 100, 5000);
		p->burst_len = (uint32_t)prng_range(rng, 2, 20);
	}
	if (on & 64)
		p->rate_bps = prng_range(rng, 10000000, 1000000000);
}

static void
say(char *buf, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void
say(char *buf, size_t n, const char *fmt, ...)
{
	size_t at = strlen(buf);
	va_list ap;

	if (at + 1 >= n)
		return;
	va_start(ap, fmt);
	vsnprintf(buf + at, n - at, fmt, ap);
	va_end(ap);
}

static void
say_ppm(char *buf, size_t n, const char *what, uint32_t ppm)
{
	if (ppm != 0)
		say(buf, n, " %s %u.%02u%%", what, ppm / 10000, ppm % 10000 / 100);
}

void
fault_describe(const struct fault_params *p, char *buf, size_t n)
{
	if (n == 0)
		return;
	buf[0] = '\0';
	say(buf, n, "delay %lluus", (unsigned long long)(p->delay_ns / 1000));
	if (p->jitter_ns != 0)
		say(buf, n, " jitter %lluus", (unsigned long long)(p->jitter_ns / 1000));
	say_ppm(buf, n, "drop", p->drop_ppm);
	if (p->burst_ppm != 0 && p->burst_len != 0) {
		say_ppm(buf, n, "burst", p->burst_ppm);
		say(buf, n, " of %u", p->burst_len);
	}
	say_ppm(buf, n, "dup", p->dup_ppm);
	say_ppm(buf, n, "reorder", p->reorder_ppm);
	if (p->reorder_ppm != 0 || p->dup_ppm != 0)
		say(buf, n, " by %lluus", (unsigned long long)(p->reorder_ns / 1000));
	say_ppm(buf, n, "corrupt", p->corrupt_ppm);
	if (p->rate_bps != 0)
		say(buf, n, " rate %llukbit", (unsigned long long)(p->rate_bps / 1000));
	if (p->mtu != 0)
		say(buf, n, " mtu %u", p->mtu);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace: a running hash of everything that happens, and the event log. */
#include <inttypes.h>
#include <string.h>

#include "priv.h"

static const char *const kind_names[] = { "?", "start", "exit", "kill", "pause", "resume", "step", "preempt", "send",
	"arrive", "lose", "cut", "call", "log", "fail" };

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

void
sim_trace(struct sim_world *w, enum sim_kind kind, uint32_t who, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = mix(mix(mix(w->hash, w->now_ns), (uint64_t)kind << 32 | who), n), v;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = mix(h, v);
	}
	if (n > 0) {
		v = 0;
		memcpy(&v, p, n);
		h = mix(h, v);
	}
	w->hash = h;
}

void
sim_trace_text(struct sim_world *w, enum sim_kind kind, const char *who, const char *fmt, ...)
{
	va_list ap;

	if (w->trace == NULL)
		return;
	fprintf(w->trace, "%" PRIu64 ".%09" PRIu64 " %s %s ", w->now_ns / 1000000000u, w->now_ns % 1000000000u,
		kind_names[kind], who);
	va_start(ap, fmt);
	vfprintf(w->trace, fmt, ap);
	va_end(ap);
	fputc('\n', w->trace);
}

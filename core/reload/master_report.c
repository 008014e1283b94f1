/* SPDX-License-Identifier: BSD-3-Clause */
/* What the master says about a reload: the completion line, the abort's, the stalled drain's. */
#include <inttypes.h>
#include <stdio.h>

#include "master_priv.h"

/* Relaxed, all of it: counts for people; each is whole by itself. */
static uint64_t
count(const struct reload_master *m, const uint64_t *w)
{
	return shim_load64(m->shim, w, SHIM_RELAXED);
}

static void
add_seat(struct reload_master *m, const struct gen_seat *seat, struct reload_report *r)
{
	uint32_t drain = shim_load32(m->shim, &seat->drain_peak, SHIM_RELAXED);
	uint32_t relay = shim_load32(m->shim, &seat->relay_peak, SHIM_RELAXED);

	r->forwarded += count(m, &seat->forwarded);
	r->relayed += count(m, &seat->relayed);
	r->dropped += count(m, &seat->drain_full) + count(m, &seat->relay_full);
	r->drain_peak = drain > r->drain_peak ? drain : r->drain_peak;
	r->relay_peak = relay > r->relay_peak ? relay : r->relay_peak;
}

/* From the old worker's last poll to the new one's first; 0 where there was no such pair. */
static uint64_t
gap_of(struct reload_master *m, unsigned int lane)
{
	unsigned int side = gen_side(m->active);
	uint64_t parked = count(m, &m->dir->seat[side][lane].parked_at_ns);
	uint64_t took = count(m, &m->dir->seat[side ^ 1][lane].took_at_ns);

	return parked == 0 || parked == master_old(m, lane)->parked_before || took < parked ? 0 : took - parked;
}

uint64_t
master_taken(const struct reload_master *m)
{
	uint64_t n = 0;

	for (unsigned int lane = 0; lane < m->nb_lanes; lane++)
		n += count(m, &m->dir->lane[lane].taken);
	return n;
}

void
master_report(struct reload_master *m, bool complete)
{
	struct reload_report r = { .gen = complete ? m->gen : m->active, .complete = complete, .forced = m->fsm.forced,
		.reason = complete ? NULL : m->fsm.reason, .reclaimed = m->window.state == WINDOW_ROLLBACK,
		.total_ms = master_ms(m) - m->fsm.began_ms, .handover_ms = m->fsm.handover_ms,
		.drain_ms = m->fsm.drain_ms, .taken = master_taken(m) - m->taken_before };

	for (unsigned int lane = 0; lane < m->nb_lanes; lane++) {
		uint64_t gap = complete ? gap_of(m, lane) : 0;

		for (unsigned int side = 0; side < GEN_SIDES; side++)
			add_seat(m, &m->dir->seat[side][lane], &r);
		r.gap_ns = gap > r.gap_ns ? gap : r.gap_ns;
	}
	m->last = r;
}

void
master_trouble(struct reload_master *m, bool aborted, const char *why)
{
	m->trouble = (struct reload_trouble){ .there = true, .aborted = aborted, .at_ms = master_ms(m) };
	snprintf(m->trouble.why, sizeof(m->trouble.why), "%s", why);
}

void
reload_report_text(const struct reload_report *r, char *buf, size_t n)
{
	char dropped[40] = "", gap[40] = "", taken[72] = "";

	if (!r->complete) {
		snprintf(buf, n, "graceful reload aborted: %s (old generation %s)", r->reason != NULL ? r->reason : "?",
			r->reclaimed ? "serving again" : "untouched");
		return;
	}
	if (r->dropped > 0)
		snprintf(dropped, sizeof(dropped), ", dropped %" PRIu64 " pkts", r->dropped);
	if (r->taken > 0)
		snprintf(taken, sizeof(taken), ", %" PRIu64 " lease%s taken from a live owner", r->taken, r->taken == 1 ? "" : "s");
	if (r->gap_ns > 0)
		snprintf(gap, sizeof(gap), ", gap %" PRIu64 " us", (r->gap_ns + 999) / 1000);
	snprintf(buf, n, "graceful reload complete: generation %u now active (took %" PRIu64 " ms: handover %" PRIu64
		" ms, drain %" PRIu64 " ms, drain forwarded %" PRIu64 " / relayed %" PRIu64 " pkts, ring peak rx %u / tx %u)%s%s%s%s",
		r->gen, r->total_ms, r->handover_ms, r->drain_ms, r->forwarded, r->relayed, r->drain_peak, r->relay_peak,
		dropped, gap, taken, r->forced ? " (deadline forced)" : "");
}

void
master_stalled(struct reload_master *m)
{
	const struct drain_counts *l = &m->left;
	uint64_t since = m->fsm.since_ms > m->stall_ms ? m->fsm.since_ms : m->stall_ms;
	char more[48] = "";

	if (m->fsm.state != RELOAD_T3_DRAIN || master_ms(m) - since < MASTER_STALL_MS)
		return;
	m->stall_ms = master_ms(m);
	if (m->unreported > 0)
		snprintf(more, sizeof(more), ", workers without a report %u", m->unreported);
	shim_log(m->shim, SHIM_LOG_WARNING, "graceful reload T3 stalled: tcp %u half-open %u unsent %" PRIu64 " udp %u%s",
		l->tcp, l->half_open, l->unsent, l->udp, more);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending: frames go to the port's queue at once, or wait up to pkt_tx_delay for company. What a full queue does not
 * take waits, in order, in a bounded back-log; only past that is anything dropped, and a frame that the port never takes.
 */
#include "worker_priv.h"

static void
sent(struct worker *w, unsigned int n, uint64_t bytes)
{
	w->tx_packets += n;
	w->tx_bytes += bytes;
	if (n > 0)
		w->dirty = true;
}

/* A port without gather takes single buffers only. NULL: it does not fit one, or there is none; m is freed. */
static struct rte_mbuf *
single(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = NULL;

	if (m->nb_segs == 1)
		return m;
	if (shim_buf_len(m) + SHIM_HEADROOM <= shim_pool_data_room(w->shim, w->pool))
		copy = shim_buf_copy(w->shim, m, w->pool, 0, UINT32_MAX);
	if (copy != NULL) {
		copy->ol_flags = m->ol_flags;
		copy->tx_offload = m->tx_offload;
		copy->vlan_tci = m->vlan_tci;
	}
	shim_buf_free(w->shim, m);
	return copy;
}

static unsigned int
burst(struct worker_port *wp, struct rte_mbuf **m, unsigned int n)
{
	struct worker *w = wp->w;
	uint64_t bytes[WORKER_BURST], total = 0;
	unsigned int done = 0;

	while (done < n) {
		unsigned int k = n - done < WORKER_BURST ? n - done : WORKER_BURST;
		unsigned int took;

		/* lengths first: a sent buffer is the port's */
		for (unsigned int i = 0; i < k; i++)
			bytes[i] = shim_buf_len(m[done + i]);
		if (__builtin_expect(w->capture != NULL, 0))
			capture_stage(w->capture, m + done, k);
		took = shim_tx_burst(w->shim, wp->port, wp->queue, m + done, k);
		if (__builtin_expect(w->capture != NULL, 0))
			capture_commit(w->capture, took);
		for (unsigned int i = 0; i < took; i++)
			total += bytes[i];
		done += took;
		if (took < k)
			break;
	}
	sent(w, done, total);
	return done;
}

static void
backlog_drop(struct worker_port *wp)
{
	shim_buf_free(wp->w->shim, wp->backlog[wp->head]);
	wp->head = (wp->head + 1) % WORKER_BACKLOG;
	wp->count--;
	wp->w->tx_dropped++;
	wp->w->dirty = true;
}

/*
 * The queue took nothing. Full, it will; but some drivers (net_tap) refuse a frame that is longer than the port's MTU, which
 * may have shrunk since, and then nothing behind it leaves either. True: such a frame was taken away, try again.
 */
static bool
unblock(struct worker_port *wp)
{
	struct worker *w = wp->w;
	uint16_t mtu;

	if (shim_port_mtu_get(w->shim, wp->port, &mtu) == 0 &&
	    shim_buf_len(wp->backlog[wp->head]) > mtu_frame_len(mtu)) {
		backlog_drop(wp);
		return true;
	}
	if (wp->stuck_ns == 0) {
		wp->stuck_ns = w->now_ns;
		return false;
	}
	if (w->now_ns - wp->stuck_ns < WORKER_TX_STUCK_NS)
		return false;
	wp->stuck_ns = w->now_ns;
	backlog_drop(wp);
	return true;
}

/* Sends from the back-log until it is empty or the queue is full. */
static unsigned int
backlog_send(struct worker_port *wp)
{
	unsigned int total = 0;

	while (wp->count > 0) {
		unsigned int run = WORKER_BACKLOG - wp->head;
		unsigned int n;

		if (run > wp->count)
			run = wp->count;
		n = burst(wp, wp->backlog + wp->head, run);
		wp->head = (wp->head + n) % WORKER_BACKLOG;
		wp->count -= n;
		total += n;
		if (n > 0)
			wp->stuck_ns = 0;
		if (n < run && (n > 0 || !unblock(wp)))
			break;
	}
	return total;
}

static bool
backlog_put(struct worker_port *wp, struct rte_mbuf *m)
{
	if (wp->count == WORKER_BACKLOG)
		return false;
	if (wp->count == 0)
		wp->oldest_ns = wp->w->now_ns;
	wp->backlog[(wp->head + wp->count++) % WORKER_BACKLOG] = m;
	return true;
}

unsigned int
worker_tx(void *ctx, struct rte_mbuf **m, unsigned int n)
{
	struct worker_port *wp = ctx;
	struct worker *w = wp->w;
	unsigned int i = 0;

	if (!(wp->tx_offloads & SHIM_TX_MULTI_SEGS)) {
		for (i = 0; i < n; i++) {
			struct rte_mbuf *one = single(w, m[i]);

			if (one == NULL)
				w->tx_dropped++;
			else if (!backlog_put(wp, one)) {
				shim_buf_free(w->shim, one);
				w->tx_dropped++;
			}
		}
	} else if (w->tx_delay_ns == 0 && wp->count == 0 && !w->parked) {
		i = burst(wp, m, n);
	}
	while (i < n && backlog_put(wp, m[i]))
		i++;
	if (!w->parked && (w->tx_delay_ns == 0 || wp->count >= WORKER_BURST) && wp->count > 0) {
		backlog_send(wp);
		while (i < n && backlog_put(wp, m[i]))
			i++;
	}
	w->tx_dropped += n - i;
	return i;
}

unsigned int
worker_tx_flush(struct worker *w, bool all)
{
	unsigned int total = 0;

	if (w->parked)
		return 0;
	for (unsigned int i = 0; i < w->nb_ports; i++) {
		struct worker_port *wp = w->port[i];

		if (wp->count > 0 && (all || w->now_ns - wp->oldest_ns >= w->tx_delay_ns))
			total += backlog_send(wp);
	}
	return total;
}

uint64_t
worker_tx_due(const struct worker *w)
{
	uint64_t due = UINT64_MAX;

	for (unsigned int i = 0; i < w->nb_ports; i++)
		if (w->port[i]->count > 0 && w->port[i]->oldest_ns + w->tx_delay_ns < due)
			due = w->port[i]->oldest_ns + w->tx_delay_ns;
	return due;
}

void
worker_tx_free(struct worker *w, struct worker_port *wp)
{
	for (; wp->count > 0; wp->count--) {
		shim_buf_free(w->shim, wp->backlog[wp->head]);
		wp->head = (wp->head + 1) % WORKER_BACKLOG;
	}
}
